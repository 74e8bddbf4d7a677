/* SPDX-License-Identifier: MIT
 *
 * penetration.c: vertices that are inside a closed collider: they are led out the shortest way.
 *
 * Distances have no sign: a vertex inside a box would be kept from its surface, inside. So vertices within the bounds
 * of a closed collider of triangles ask for its winding number (tree.h), and for those inside all pairs with that
 * collider give way to one with the nearest place of its surface, the normal outward and the distance negative. Such a
 * pair has no guard (step_filter.h). Spheres, capsules and planes know their inside by themselves.
 *
 * Limits: open meshes, hollow boxes and height fields have no inside; nor have bodies.
 */
#include <math.h>
#include <string.h>

#include "sinew/tree.h"
#include "world/contact/contact.h"

#define INSIDE 0.5 /* winding number */

void sinew_contact_trees_release(sinew_contact_work *c)
{
    for (int32_t o = 0; c->trees && o < c->features.object_count; o++)
        sinew_tree_destroy(c->trees[o].tree);
    sinew_release(&c->features.allocator, c->trees);
    c->trees = NULL;
}

/* ---- Trees of colliders ---------------------------------------------------------------------- */

/* The triangles of an object are the first of its cells, which follow each other. */
static void find_triangles(const sinew_features *f, int32_t object, sinew_contact_tree *t)
{
    t->first_cell = -1;
    t->triangle_count = 0;
    for (int32_t cell = 0; cell < f->cell_count; cell++) {
        if (f->object[f->cells[cell][0]] != object || !(f->flags[cell] & SINEW_IS_FACE))
            continue;
        t->first_cell = t->first_cell < 0 ? cell : t->first_cell;
        t->triangle_count++;
    }
}

static void pack_points(const sinew_contact_work *c, const sinew_touch_object *o, sinew_real *packed)
{
    for (int32_t v = 0; v < o->vertex_count; v++)
        memcpy(packed + 3 * (size_t)v, c->x + 4 * (size_t)(o->first_vertex + v), 3 * sizeof *packed);
}

static sinew_status plant(const sinew_world *world, int32_t object, const sinew_real *packed, sinew_error *error)
{
    const sinew_contact_work *c = world->contact;
    const sinew_touch_object *o = &c->features.objects[object];
    sinew_contact_tree *t = &c->trees[object];
    find_triangles(&c->features, object, t);
    int32_t *corners = sinew_allocate(&world->allocator, 3 * (size_t)t->triangle_count, sizeof *corners);
    if (!corners)
        return sinew_fail_memory(error, "contacts");
    for (int32_t k = 0; k < 3 * t->triangle_count; k++)
        corners[k] = c->features.cells[t->first_cell + k / 3][k % 3] - o->first_vertex;
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = world->allocator;
    def.vertex_count = o->vertex_count;
    def.positions = packed;
    def.cell_count = t->triangle_count;
    def.cells = corners;
    def.thread_count = 1;
    t->tree = sinew_tree_create(&def, error);
    sinew_release(&world->allocator, corners);
    return t->tree ? SINEW_OK : SINEW_ERROR_MEMORY;
}

sinew_status sinew_contact_tend_tree(sinew_world *world, int32_t object, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    if (!c->trees)
        c->trees = sinew_allocate_zero(&c->features.allocator, (size_t)c->features.object_count, sizeof *c->trees);
    if (!c->trees)
        return sinew_fail_memory(error, "contacts");
    const sinew_touch_object *o = &c->features.objects[object];
    if (!sinew_make_spare_room(&world->allocator, &c->packed, &c->packed_room, 3 * (size_t)o->vertex_count,
                               sizeof *c->packed))
        return sinew_fail_memory(error, "contacts");
    pack_points(c, o, c->packed);
    return c->trees[object].tree ? sinew_tree_refit(c->trees[object].tree, c->packed, error)
                                 : plant(world, object, c->packed, error);
}

/* ---- Who is inside --------------------------------------------------------------------------- */

static bool has_inside(const sinew_world *world, const sinew_touch_object *o)
{
    return o->kinematic && world->colliders[o->collider].closed && world->colliders[o->collider].triangle_count > 0;
}

/* Lists the particles' vertices within the bounds of a collider, with which they may touch. */
static int32_t list_bounded(sinew_contact_work *c, int32_t object)
{
    const sinew_features *f = &c->features;
    const sinew_touch_object *o = &f->objects[object];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    int32_t count = 0;
    for (int32_t v = o->first_vertex; v < o->first_vertex + o->vertex_count; v++)
        for (size_t k = 0; k < 3; k++) {
            low[k] = fmin(low[k], (double)c->x[4 * (size_t)v + k]);
            high[k] = fmax(high[k], (double)c->x[4 * (size_t)v + k]);
        }
    for (int32_t v = 0; v < f->moved_count; v++) {
        const sinew_real *x = c->x + 4 * (size_t)v;
        bool within = true;
        for (int k = 0; within && k < 3; k++)
            within = (double)x[k] > low[k] && (double)x[k] < high[k];
        if (within && sinew_may_touch(f, f->object[v], object))
            c->bounded[count++] = v;
    }
    return count;
}

/* Keeps those of the list that are inside; marks them. */
static int32_t keep_inside(sinew_contact_work *c, const sinew_tree *tree, int32_t count)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < count; k++) {
        sinew_real winding;
        sinew_tree_winding(tree, 1, c->x + 4 * (size_t)c->bounded[k], &winding);
        if (winding > (sinew_real)INSIDE)
            c->bounded[kept++] = c->bounded[k];
    }
    for (int32_t k = 0; k < kept; k++)
        c->inside[c->bounded[k]] = 1;
    return kept;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether a pair is one of the collider and a vertex that is inside. */
static bool is_lost(const sinew_contact_work *c, const sinew_touch_pair *p, int32_t object)
{
    bool own = false, inside = false;
    for (int a = 0; a < 4 && p->kind != SINEW_PAIR_PLANE; a++) {
        own = own || c->features.object[p->v[a]] == object;
        inside = inside || (p->v[a] < c->features.moved_count && c->inside[p->v[a]]);
    }
    return own && inside;
}

static void drop_lost(sinew_contact_work *c, int32_t object)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < c->pairs.count; k++)
        if (!is_lost(c, &c->pairs.list[k], object))
            c->pairs.list[kept++] = c->pairs.list[k];
    c->pairs.count = kept;
}

/* From the nearest place of the surface outward to it. */
static void describe_pair(const sinew_contact_work *c, int32_t object, int32_t v, sinew_touch_pair *p)
{
    const sinew_contact_tree *t = &c->trees[object];
    const sinew_real *x = c->x + 4 * (size_t)v;
    sinew_tree_place place;
    sinew_tree_nearest(t->tree, 1, x, NULL, &place);
    const int32_t cell = t->first_cell + place.cell, *corners = c->features.cells[cell];
    double e[2][3], n[3], size = 0;
    *p = (sinew_touch_pair){.v = {v, corners[0], corners[1], corners[2]}, .first = v, .second = cell, .w = {1}};
    p->kind = SINEW_PAIR_FACE;
    p->inside = 1;
    for (size_t a = 0; a < 3; a++) {
        p->w[1 + a] = -place.weights[a];
        n[a] = (double)place.point[a] - (double)x[a];
        size += n[a] * n[a];
        for (size_t s = 0; s < 2; s++)
            e[s][a] = (double)c->x[4 * (size_t)corners[s + 1] + a] - (double)c->x[4 * (size_t)corners[0] + a];
    }
    p->distance = (sinew_real)-sqrt(size);
    /* On the surface itself its triangle says where outside is. */
    for (int a = 0; size == 0 && a < 3; a++)
        n[a] = e[0][(a + 1) % 3] * e[1][(a + 2) % 3] - e[0][(a + 2) % 3] * e[1][(a + 1) % 3];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++)
        p->n[a] = length > 0 ? (sinew_real)(n[a] / length) : a == 1;
}

static sinew_status lead_out(sinew_world *world, int32_t object, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    int32_t count = list_bounded(c, object);
    if (count == 0)
        return SINEW_OK;
    const sinew_status status = sinew_contact_tend_tree(world, object, error);
    if (status != SINEW_OK)
        return status;
    count = keep_inside(c, c->trees[object].tree, count);
    if (count == 0)
        return SINEW_OK;
    drop_lost(c, object);
    for (int32_t k = 0; k < count; k++) {
        sinew_touch_pair *pair = sinew_contact_add_pair(world);
        if (!pair)
            return sinew_fail_memory(error, "contacts");
        describe_pair(c, object, c->bounded[k], pair);
        c->inside[c->bounded[k]] = 0;
    }
    return SINEW_OK;
}

sinew_status sinew_contact_lead_out(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    const sinew_allocator *m = &world->allocator;
    bool any = false;
    for (int32_t o = 0; o < f->object_count; o++)
        any = any || has_inside(world, &f->objects[o]);
    if (!any)
        return SINEW_OK;
    if (!sinew_make_room(m, &c->bounded, &c->bounded_room, (size_t)f->moved_count, sizeof *c->bounded) ||
        !sinew_make_room(m, &c->inside, &c->inside_room, (size_t)f->moved_count, sizeof *c->inside))
        return sinew_fail_memory(error, "contacts");
    memset(c->inside, 0, (size_t)f->moved_count);
    sinew_status status = SINEW_OK;
    for (int32_t o = 0; o < f->object_count && status == SINEW_OK; o++)
        if (has_inside(world, &f->objects[o]))
            status = lead_out(world, o, error);
    return status;
}
