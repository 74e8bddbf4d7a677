/* SPDX-License-Identifier: MIT
 *
 * embedded_contacts.c: contacts of the vertices of embedded surfaces (mesh/embedded_surface.h) with colliders.
 *
 * A vertex of an embedded surface is x = sum w q over up to four particles. Its contact with a collider is an element
 * over these particles with the same weights, and with the nearest point of the collider, which moves with the
 * collider. A vertex inside a closed collider is pushed out along the shortest path, as in penetration.c.
 *
 * Limits: the step filter does not cover embedded surfaces, which may pass through thin colliders in a step. Their
 * edges and faces do not collide, and they do not collide with bodies.
 */
#include <math.h>
#include <string.h>

#include "sinew/tree.h"
#include "contact/contact.h"

/* Contacts are created below 1 + MARGIN times the offset; same value as in detection_pass.c. */
#define MARGIN       0.5
#define INSIDE       0.5 /* a point is inside a closed collider if its winding number is above this value */
#define OUT_FRACTION 0.2 /* fraction of the initial penetration that one step resolves, as in collide/contact_list.c */

/* ---- Vertices of embedded surfaces ----------------------------------------------------------- */

/* Finds the vertex of a particle in the collision mesh. Particles of a body ascend. */
static int32_t skin_find_collision_vertex(const sinew_collision_mesh *f, const sinew_collision_object *o,
                                          int32_t particle)
{
    int32_t low = o->first_vertex, high = o->first_vertex + o->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = f->particle[middle] < particle ? middle + 1 : low;
        high = f->particle[middle] < particle ? high : middle;
    }
    return low;
}

static bool object_is_skin(const sinew_contact_view *view, const sinew_collision_object *o)
{
    return !o->kinematic && view->bodies[o->body].contact.surface == SINEW_CONTACT_SKIN;
}

bool sinew_contact_build_skins(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    size_t count = 0;
    for (int32_t o = 0; o < f->object_count; o++)
        if (object_is_skin(view, &f->objects[o]))
            count += (size_t)sinew_skin_vertex_count(view->bodies[f->objects[o].body].skin);
    c->skin_count = 0;
    if (!sinew_reserve(view->allocator, &c->skins, &c->skin_capacity, count, sizeof *c->skins))
        return false;
    for (int32_t o = 0; o < f->object_count; o++) {
        if (!object_is_skin(view, &f->objects[o]))
            continue;
        const sinew_contact_body *body = &view->bodies[f->objects[o].body];
        for (int32_t i = 0; i < sinew_skin_vertex_count(body->skin); i++) {
            sinew_skin_vertex *s = &c->skins[c->skin_count++];
            *s = (sinew_skin_vertex){.object = o, .number = i};
            for (size_t a = 0, at = 4 * (size_t)i; a < 4; a++, at++) {
                s->v[a] =
                    skin_find_collision_vertex(f, &f->objects[o], view->inside[body->first + body->skin_vertices[at]]);
                s->w[a] = body->skin_weights[at];
            }
        }
    }
    return true;
}

static void skin_vertex_position(const sinew_skin_vertex *s, const sinew_real *x, double p[3])
{
    for (size_t i = 0; i < 3; i++) {
        p[i] = 0;
        for (int a = 0; a < 4; a++)
            p[i] += (double)s->w[a] * (double)x[4 * (size_t)s->v[a] + i];
    }
}

void sinew_contact_skin_target(const sinew_contact_work *c, const sinew_contact_constraint *t, const sinew_real *x,
                               double b[3])
{
    for (size_t i = 0; i < 3; i++) {
        b[i] = 0;
        for (int k = 0; t->primitive >= 0 && k < 3; k++)
            b[i] += (double)t->barycentric[k] * (double)x[4 * (size_t)c->mesh.primitives[t->primitive][k] + i];
    }
}

/* ---- Nearest points of colliders ------------------------------------------------------------ */

/* Nearest-point query of one vertex of an embedded surface: its position and its search radius, in m. */
typedef struct skin_search {
    double p[3];
    double limit;
} skin_search;

/* Sets the distance and the unit normal n of a skin vertex's contact, from the collider point b to the vertex; sign
 * -1: the vertex is inside, the distance is negative, and n points outwards. */
static void skin_set_direction(const skin_search *s, const double b[3], double sign, sinew_contact_constraint *t)
{
    double size = 0;
    for (int i = 0; i < 3; i++) {
        t->n[i] = sign * (s->p[i] - b[i]);
        size += t->n[i] * t->n[i];
    }
    size = sqrt(size);
    for (int i = 0; i < 3; i++)
        t->n[i] = size > 0 ? t->n[i] / size : i == 1;
    t->distance = sign * size - t->radius;
}

static bool skin_nearest_on_plane(const sinew_contact_view *view, int32_t o, const skin_search *s,
                                  sinew_contact_constraint *t)
{
    double point[3];
    sinew_contact_plane(view, o, view->contact->fraction[o], point, t->n);
    t->primitive = -1;
    t->distance = 0;
    for (int i = 0; i < 3; i++)
        t->distance += t->n[i] * (s->p[i] - point[i]);
    return t->distance <= s->limit;
}

/* Nearest point of a sphere or a capsule, whose only primitive is a vertex or an edge. True: within the search
 * radius. */
static bool skin_nearest_on_round(const sinew_contact_work *c, int32_t o, const skin_search *s,
                                  sinew_contact_constraint *t)
{
    const int32_t first = c->mesh.objects[o].first_vertex;
    const bool edge = c->mesh.objects[o].vertex_count > 1;
    const sinew_real *a = c->x_pass_start + 4 * (size_t)first, *b = a + (edge ? 4 : 0);
    double along[3], length = 0, fraction = 0, at[3];
    for (int i = 0; i < 3; i++) {
        along[i] = (double)b[i] - (double)a[i];
        length += along[i] * along[i];
        fraction += along[i] * (s->p[i] - (double)a[i]);
    }
    fraction = length > 0 ? fmin(1, fmax(0, fraction / length)) : 0;
    for (int i = 0; i < 3; i++)
        at[i] = (double)a[i] + fraction * along[i];
    for (int32_t primitive = 0; primitive < c->mesh.primitive_count && t->primitive < 0; primitive++)
        t->primitive = c->mesh.primitives[primitive][0] == first ? primitive : -1;
    t->barycentric[0] = (sinew_real)(1 - fraction);
    t->barycentric[1] = (sinew_real)fraction;
    skin_set_direction(s, at, 1, t);
    return t->distance <= s->limit;
}

static bool skin_nearest_on_triangles(const sinew_contact_view *view, int32_t o, const skin_search *s,
                                      sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const sinew_contact_tree *tree = &c->trees[o];
    const sinew_real p[3] = {(sinew_real)s->p[0], (sinew_real)s->p[1], (sinew_real)s->p[2]};
    sinew_real winding = 0;
    sinew_tree_point nearest;
    if (view->colliders[c->mesh.objects[o].collider].closed)
        sinew_tree_winding(tree->tree, 1, p, &winding);
    const bool inside = (double)winding > INSIDE;
    const sinew_real limit = (sinew_real)s->limit;
    sinew_tree_nearest(tree->tree, 1, p, inside ? NULL : &limit, &nearest);
    if (nearest.cell < 0)
        return false;
    const double b[3] = {(double)nearest.point[0], (double)nearest.point[1], (double)nearest.point[2]};
    t->primitive = tree->first_primitive + nearest.cell;
    memcpy(t->barycentric, nearest.weights, sizeof t->barycentric);
    skin_set_direction(s, b, inside ? -1 : 1, t);
    return true;
}

/* Sets t to the contact of a skin vertex with the collider o; false: the vertex and the collider are too far apart. */
static bool skin_find_contact(const sinew_contact_view *view, int32_t skin, int32_t o, sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const sinew_skin_vertex *v = &c->skins[skin];
    const sinew_collision_object *first = &c->mesh.objects[v->object], *second = &c->mesh.objects[o];
    skin_search s;
    double to[3], displacement = 0;
    *t = (sinew_contact_constraint){.key = sinew_contact_key(SINEW_CONTACT_SKIN_COLLIDER, skin, o),
                                    .first = v->object,
                                    .second = o,
                                    .primitive = -1};
    t->offset = first->half_thickness + second->half_thickness;
    t->radius = second->radius;
    t->mu = sqrt(first->friction * second->friction);
    memcpy(t->v, v->v, sizeof t->v);
    memcpy(t->w, v->w, sizeof t->w);
    skin_vertex_position(v, c->x_pass_start, s.p);
    skin_vertex_position(v, c->x_predicted, to);
    for (int i = 0; i < 3; i++)
        displacement += (to[i] - s.p[i]) * (to[i] - s.p[i]);
    s.limit = (1 + MARGIN) * t->offset + sqrt(displacement);
    const bool near = second->vertex_count == 0 ? skin_nearest_on_plane(view, o, &s, t)
                      : second->radius > 0      ? skin_nearest_on_round(c, o, &s, t)
                                                : skin_nearest_on_triangles(view, o, &s, t);
    if (near && t->distance < 0 && second->vertex_count > 0) {
        t->initial_penetration = -(1 - OUT_FRACTION) * t->distance;
        t->offset -= t->initial_penetration;
    }
    return near;
}

/* ---- Contacts of embedded surfaces ----------------------------------------------------------- */

static sinew_status refit_trees(const sinew_contact_view *view, sinew_error *error)
{
    const sinew_contact_work *c = view->contact;
    sinew_status status = SINEW_OK;
    for (int32_t o = 0; o < c->mesh.object_count && status == SINEW_OK; o++) {
        const sinew_collision_object *object = &c->mesh.objects[o];
        if (object->kinematic && view->colliders[object->collider].triangle_count > 0)
            status = sinew_contact_refit_tree(view, o, error);
    }
    return status;
}

sinew_status sinew_contact_add_skins(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_contact_list *list = &c->contacts;
    if (c->skin_count == 0)
        return SINEW_OK;
    sinew_status status = refit_trees(view, error);
    for (int32_t k = 0; k < c->skin_count && status == SINEW_OK; k++)
        for (int32_t o = 0; o < c->mesh.object_count && status == SINEW_OK; o++) {
            sinew_contact_constraint t;
            if (!c->mesh.objects[o].kinematic || !sinew_may_collide(&c->mesh, c->skins[k].object, o) ||
                sinew_feature_follows(&c->mesh, c->skins[k].v, 4, o) || !skin_find_contact(view, k, o, &t))
                continue;
            if ((size_t)(list->count + 1) * sizeof t > list->capacity_bytes) {
                const size_t more = 2 * (size_t)list->count + 64;
                sinew_contact_constraint *grown =
                    sinew_reallocate(view->allocator, list->list, (size_t)list->count, more, sizeof t);
                if (!grown)
                    return sinew_fail_memory(error, "contacts");
                list->list = grown;
                list->capacity_bytes = more * sizeof t;
            }
            list->list[list->count++] = t;
        }
    return status;
}
