/* SPDX-License-Identifier: MIT
 *
 * projection_mode.c: the mode `projection`: colliders as hard constraints of vertices, PBNG 7.2.
 *
 * When a step begins each vertex that is at or below the surface of a collider (half thicknesses included) is put on
 * it; after each iteration displacements since then lose what of them is into the collider:
 *
 *     dx.n < 0   =>   dx <- (I - n n^T) dx
 *
 * so that vertices slide without friction and may leave. The paper takes each iteration's own dx, vertex by vertex
 * within a sweep: a vertex that went out too far in one iteration could not come back in the next, and bodies would
 * hover. Here it is done between sweeps, and a stiff unilateral spring (elements.c) tells the sweep itself,
 * which would else move the neighbours of a vertex after it, into the collider. The spring begins SPARE of the offset
 * above the surface, where vertices then rest. Its force and what the objective's gradient leaves at vertices that were
 * projected are the force of a contact.
 *
 * Limits: between bodies nothing happens; colliders are where they were when the step began; only sweeps over nodes
 * take it, whose iterates may be moved.
 */
#include <math.h>
#include <string.h>

#include "world/contact/contact.h"

#define AT_SURFACE                                                                                                     \
    (sizeof(sinew_real) == 4 ? 2e-2                                                                                    \
                             : 1e-3) /* of the offset: what is that near is held, too, else it would go in and out */
#define SPARE (AT_SURFACE / 2)       /* of the offset */

sinew_status sinew_contact_check_mode(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_info *info = &world->solve.ops->info;
    if (world->contact->def.mode != SINEW_CONTACT_PROJECTION ||
        (info->needs & SINEW_CAN_VERTEX && !world->solve.ops->guarded_late))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "contact: mode projection is for pbng, whose iterations move vertices one by one; %s takes "
                      "augmented, penalty or half_space",
                      info->name);
}

bool sinew_contact_is_held(const sinew_contact_work *c, const sinew_touch *t)
{
    return c->features.objects[t->second].kinematic && t->key >> 60 != SINEW_TOUCH_EDGES &&
           t->v[0] < c->features.moved_count && t->w[0] == 1 && t->distance - t->offset <= AT_SURFACE * t->offset;
}

double sinew_contact_spare(const sinew_contact_work *c, const sinew_touch *t)
{
    return c->def.mode == SINEW_CONTACT_PROJECTION ? SPARE * t->offset : 0;
}

/* Moves a particle where the step begins, and with it all that was predicted from there. */
static void shift(sinew_world *world, int32_t particle, const double n[3], double by)
{
    sinew_contact_work *c = world->contact;
    for (size_t i = 0; i < 3; i++) {
        const size_t at = 4 * (size_t)particle + i;
        world->q[at] = (sinew_real)((double)world->q[at] + by * n[i]);
        world->q_tilde[at] = (sinew_real)((double)world->q_tilde[at] + by * n[i]);
        c->guess[at] = (sinew_real)((double)c->guess[at] + by * n[i]);
    }
}

sinew_status sinew_contact_projection_begin(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    const sinew_allocator *m = &world->allocator;
    const size_t n = 4 * (size_t)world->particle_count;
    if (!sinew_make_room(m, &c->held, &c->held_room, n, sizeof *c->held) ||
        !sinew_make_room(m, &c->start, &c->start_room, n, sizeof *c->start))
        return sinew_fail_memory(error, "contacts");
    memcpy(c->start, world->q, n * sizeof *c->start);
    c->shifted = true;
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        if (!sinew_contact_is_held(c, t))
            continue;
        const int32_t p = c->features.particle[t->v[0]];
        /* Another contact of the same vertex may have moved it. */
        double moved = 0;
        for (size_t i = 0; i < 3; i++)
            moved += t->n[i] * ((double)world->q[4 * (size_t)p + i] - (double)c->start[4 * (size_t)p + i]);
        const double deep = t->offset - t->distance - moved;
        if (deep > 0 && !world->pinned[p])
            shift(world, p, t->n, deep);
    }
    memcpy(c->held, world->q, n * sizeof *c->held);
    return SINEW_OK;
}

void sinew_contact_projection_undo(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    if (c->shifted)
        memcpy(world->q, c->start, 4 * (size_t)world->particle_count * sizeof *world->q);
    c->shifted = false;
}

bool sinew_contact_project(sinew_world *world, sinew_real *q)
{
    sinew_contact_work *c = world->contact;
    bool changed = false;
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        const size_t at = 4 * (size_t)(t->v[0] < c->features.moved_count ? c->features.particle[t->v[0]] : 0);
        double along = 0;
        if (!sinew_contact_is_held(c, t) || world->pinned[at / 4])
            continue;
        for (size_t i = 0; i < 3; i++)
            along += t->n[i] * ((double)q[at + i] - (double)c->held[at + i]);
        for (size_t i = 0; along < 0 && i < 3; i++)
            q[at + i] = (sinew_real)((double)q[at + i] - along * t->n[i]);
        changed = changed || along < 0;
    }
    return changed;
}

double sinew_contact_projected_force(const sinew_world *world, const sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    double along = 0, way = 0;
    if (c->def.mode != SINEW_CONTACT_PROJECTION || !sinew_contact_is_held(c, t) || !world->solve.gradient_known)
        return 0;
    const size_t at = 4 * (size_t)c->features.particle[t->v[0]];
    for (size_t i = 0; i < 3; i++) {
        along += t->n[i] * (double)world->solve.gradient[at + i];
        way += t->n[i] * ((double)world->q[at + i] - (double)c->held[at + i]);
    }
    return way <= SPARE * t->offset ? fmax(0, along) : 0;
}
