/* SPDX-License-Identifier: MIT
 *
 * no_room.c: finds contacts without room: neither of their sides can retreat.
 *
 * A contact pushes its first side along n and its second side along -n. A side is backed if it cannot follow the push:
 *
 *     - its vertices are prescribed (colliders, pins), or
 *     - another contact with a force pushes them the opposite way, and the other side of that contact is backed.
 *
 * So a sheet between two pads is backed on both sides, also in several layers. A sheet under a box is not: the box may
 * rise. Vertices of deformable solids are backed only by pins, because a solid can be compressed; a rigid body is one
 * vertex. Without this test contacts that only converge slowly, such as of a heavy box on a light sheet, would yield
 * (test_yield).
 */
#include <string.h>

#include "contact/modes.h"
#include "math/vec3.h"

#define OPPOSITE   -0.7 /* largest cosine between the pushes of two contacts that oppose each other */
#define BACKED     0.5  /* fraction of a side's weights that must be backed */
#define LAYERS_MAX 32   /* largest number of passes; each backs at least one further layer between prescribed sides */

/* Vertex that stands for vertex v: the first one of a rigid body. */
static int32_t room_representative(const sinew_contact_work *c, int32_t v)
{
    const sinew_collision_object *o = &c->mesh.objects[c->mesh.object[v]];
    return o->rigid ? o->first_vertex : v;
}

static bool room_is_compressible(const sinew_contact_view *view, int32_t v)
{
    const sinew_collision_object *o = &view->contact->mesh.objects[view->contact->mesh.object[v]];
    return !o->rigid && sinew_mesh_tet_count(view->bodies[o->body].mesh) > 0;
}

static bool room_reserve(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const size_t n = (size_t)c->contacts.count;
    return sinew_reserve_spare(view->allocator, &c->backed, &c->backed_capacity, 2 * n, sizeof *c->backed) &&
           sinew_reserve_spare(view->allocator, &c->next_support, &c->next_support_capacity, 4 * n,
                               sizeof *c->next_support);
}

/* Links the contacts with a force at each vertex: contact_counts holds the first link 4 k + a of each vertex, for
 * vertex a of contact k; -1: none. */
static void room_link_supports(const sinew_contact_view *view, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    for (int32_t v = 0; v < c->mesh.vertex_count; v++)
        c->contact_counts[v] = -1;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        double u[3];
        if (c->element_of[k] < 0 || !(sinew_contact_normal_force(c, c->element_of[k], q, u) > 0))
            continue;
        for (int32_t a = 0; a < 4; a++) {
            if ((double)t->w[a] == 0)
                continue;
            const int32_t v = room_representative(c, t->v[a]);
            c->next_support[4 * (size_t)k + (size_t)a] = c->contact_counts[v];
            c->contact_counts[v] = 4 * k + a;
        }
    }
}

/* True if a contact other than k pushes vertex v against the push of side `side` of contact k, from a backed side. */
static bool vertex_is_backed(const sinew_contact_work *c, int32_t v, int32_t k, int side)
{
    const sinew_contact_constraint *t = &c->contacts.list[k];
    for (int32_t link = c->contact_counts[v]; link >= 0; link = c->next_support[link]) {
        const sinew_contact_constraint *other = &c->contacts.list[link / 4];
        const int other_side = (double)other->w[link % 4] > 0 ? 0 : 1;
        const double along = (side == other_side ? 1 : -1) * vec3_dot(t->n, other->n);
        if (link / 4 != k && along < OPPOSITE && c->backed[2 * (size_t)(link / 4) + (size_t)(1 - other_side)])
            return true;
    }
    return false;
}

static bool side_is_backed(const sinew_contact_view *view, int32_t k, int side)
{
    const sinew_contact_work *c = view->contact;
    const sinew_contact_constraint *t = &c->contacts.list[k];
    double whole = 0, backed = 0;
    for (int a = 0; a < 4; a++) {
        const double weight = side == 0 ? (double)t->w[a] : -(double)t->w[a];
        if (!(weight > 0))
            continue;
        const bool prescribed = t->v[a] >= c->mesh.moved_count || c->step_filter.fixed[t->v[a]];
        whole += weight;
        if (prescribed ||
            (!room_is_compressible(view, t->v[a]) && vertex_is_backed(c, room_representative(c, t->v[a]), k, side)))
            backed += weight;
    }
    return backed >= BACKED * whole; /* a plane has no vertices */
}

bool sinew_contact_find_backed(const sinew_contact_view *view, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    if (!room_reserve(view))
        return false;
    room_link_supports(view, q);
    memset(c->backed, 0, 2 * (size_t)c->contacts.count);
    bool changed = true;
    for (int layer = 0; layer < LAYERS_MAX && changed; layer++) {
        changed = false;
        for (int32_t k = 0; k < c->contacts.count; k++)
            for (int side = 0; side < 2; side++) {
                uint8_t *backed = &c->backed[2 * (size_t)k + (size_t)side];
                if (*backed || c->element_of[k] < 0 || !side_is_backed(view, k, side))
                    continue;
                *backed = changed = true;
            }
    }
    return true;
}
