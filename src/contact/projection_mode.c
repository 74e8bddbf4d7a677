/* SPDX-License-Identifier: MIT
 *
 * projection_mode.c: the contact mode `projection`: colliders as hard constraints of vertices, PBNG 7.2.
 *
 * At the start of a step each vertex at or below the surface of a collider (half thicknesses included) is moved onto
 * the surface. After each iteration the inward normal component of each displacement since the start is removed:
 *
 *     dx.n < 0   =>   dx <- (I - n n^T) dx
 *
 * So vertices slide without friction and may leave. The paper projects the dx of each iteration, vertex by vertex
 * within a sweep; a vertex that moves out too far in one iteration cannot return in the next, and bodies hover. Here
 * the projection runs between sweeps. A stiff unilateral spring (elements.c) acts within the sweep, which would
 * otherwise move the neighbours of a vertex into the collider. The spring starts SPRING_START of the offset above
 * the surface, where vertices then rest. The force of a contact is the spring force plus the remaining gradient at
 * projected vertices.
 *
 * Projection and springs use colliders at the end of their motion in the step; normals are those of its start.
 *
 * Limits: bodies do not collide with each other; rigid bodies and bodies that collide with their skin are refused; only
 * vertex sweeps that are filtered after each iteration support the mode.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"

/* Vertices within this fraction of the contact offset above the surface are also projected, so that resting vertices do
 * not alternate between free and projected. Single precision needs a wider band (test_contact_modes). */
#define SURFACE_TOLERANCE (sizeof(sinew_real) == 4 ? 2e-2 : 1e-3)
/* Contact springs act up to this fraction of the contact offset above the surface. */
#define SPRING_START (SURFACE_TOLERANCE / 2)

sinew_status sinew_projection_check(const sinew_solver_ops *ops, sinew_error *error)
{
    if (ops->info.needs & SINEW_CAN_VERTEX && !ops->filtered_late)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "contact: mode projection is for pbng, whose iterations move vertices one by one; %s takes "
                      "augmented, penalty or half_space",
                      ops->info.name);
}

/* Distance in m of a contact vertex from its collider at the end of the collider's motion; for a plane, t->distance is
 * already measured there. */
static double projection_distance(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    double from[3], to[3], distance = t->distance;
    if (c->mesh.objects[t->second].vertex_count == 0)
        return distance;
    sinew_contact_collider_point(c, t, c->x_pass_start, from);
    sinew_contact_collider_point(c, t, c->x_predicted, to);
    for (int i = 0; i < 3; i++)
        distance -= t->n[i] * (to[i] - from[i]);
    return distance;
}

bool sinew_projection_takes(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    return c->mesh.objects[t->second].kinematic && t->key >> 60 != SINEW_CONTACT_EDGE_EDGE &&
           t->v[0] < c->mesh.moved_count && c->mesh.particle[t->v[0]] >= 0 && t->w[0] == 1 &&
           projection_distance(c, t) - t->offset <= SURFACE_TOLERANCE * t->offset;
}

double sinew_projection_spring_start(const sinew_contact_constraint *t)
{
    return SPRING_START * t->offset;
}

/* Moves a particle at the start of the step by `by` m along n, and shifts its q_tilde and initial guess by the same
 * vector. */
static void shift_particle(const sinew_contact_view *view, int32_t particle, const double n[3], double by)
{
    sinew_contact_work *c = view->contact;
    for (size_t i = 0; i < 3; i++) {
        const size_t at = 4 * (size_t)particle + i;
        view->q[at] = (sinew_real)((double)view->q[at] + by * n[i]);
        view->q_tilde[at] = (sinew_real)((double)view->q_tilde[at] + by * n[i]);
        c->guess[at] = (sinew_real)((double)c->guess[at] + by * n[i]);
    }
}

sinew_status sinew_projection_begin(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const sinew_allocator *m = view->allocator;
    const size_t n = 4 * (size_t)view->particle_count;
    if (!sinew_reserve(m, &c->x_projected_start, &c->x_projected_start_capacity, n, sizeof *c->x_projected_start) ||
        !sinew_reserve(m, &c->x_unprojected_start, &c->x_unprojected_start_capacity, n, sizeof *c->x_unprojected_start))
        return sinew_fail_memory(error, "contacts");
    memcpy(c->x_unprojected_start, view->q, n * sizeof *c->x_unprojected_start);
    c->projected = true;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        if (!sinew_projection_takes(c, t))
            continue;
        const int32_t p = c->mesh.particle[t->v[0]];
        /* Another contact of the vertex may already have moved it along this normal. */
        double moved = 0;
        for (size_t i = 0; i < 3; i++)
            moved += t->n[i] * ((double)view->q[4 * (size_t)p + i] - (double)c->x_unprojected_start[4 * (size_t)p + i]);
        const double depth = t->offset - projection_distance(c, t) - moved;
        if (depth > 0 && !view->pinned[p])
            shift_particle(view, p, t->n, depth);
    }
    memcpy(c->x_projected_start, view->q, n * sizeof *c->x_projected_start);
    return SINEW_OK;
}

void sinew_contact_projection_undo(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (c->projected)
        memcpy(view->q, c->x_unprojected_start, 4 * (size_t)view->particle_count * sizeof *view->q);
    c->projected = false;
}

bool sinew_projection_filter(const sinew_contact_view *view, sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    bool changed = false;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const size_t at = 4 * (size_t)(sinew_projection_takes(c, t) ? c->mesh.particle[t->v[0]] : 0);
        double along = 0;
        if (!sinew_projection_takes(c, t) || view->pinned[at / 4])
            continue;
        for (size_t i = 0; i < 3; i++)
            along += t->n[i] * ((double)q[at + i] - (double)c->x_projected_start[at + i]);
        for (size_t i = 0; along < 0 && i < 3; i++)
            q[at + i] = (sinew_real)((double)q[at + i] - along * t->n[i]);
        changed = changed || along < 0;
    }
    return changed;
}

double sinew_projection_force(const sinew_contact_view *view, const sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    double along = 0, displacement = 0;
    if (!sinew_projection_takes(c, t) || !view->solve->gradient_known)
        return 0;
    const size_t at = 4 * (size_t)c->mesh.particle[t->v[0]];
    for (size_t i = 0; i < 3; i++) {
        along += t->n[i] * (double)view->solve->gradient[at + i];
        displacement += t->n[i] * ((double)view->q[at + i] - (double)c->x_projected_start[at + i]);
    }
    return displacement <= SPRING_START * t->offset ? fmax(0, along) : 0;
}
