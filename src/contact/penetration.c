/* SPDX-License-Identifier: MIT
 *
 * penetration.c: pushes vertices that are inside a closed collider out along the shortest path.
 *
 * Distances to triangles are unsigned, so a contact would keep a vertex that is inside a box inside. Therefore vertices
 * within the bounds of a closed triangle collider are tested by the winding number (sinew/tree.h). For a vertex inside,
 * one pair replaces all its pairs with that collider: it has the nearest point of the surface, an outward normal and a
 * negative distance. The step filter ignores such a pair (step_filter.h). Spheres, capsules and planes need no test.
 *
 * Limits: open meshes, hollow boxes and height fields have no inside; vertices inside bodies: untangle.c.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "sinew/tree.h"
#include "contact/contact.h"

#define INSIDE 0.5 /* a point is inside a closed collider if its winding number is above this value */

void sinew_contact_trees_release(sinew_contact_work *c)
{
    for (int32_t o = 0; c->trees && o < c->mesh.object_count; o++)
        sinew_tree_destroy(c->trees[o].tree);
    sinew_release(&c->mesh.allocator, c->trees);
    c->trees = NULL;
}

/* ---- BVHs of objects -------------------------------------------------------------------------- */

/* Finds the triangles of an object among the primitives of the collision mesh: primitives of one object are
 * consecutive, its triangles first. */
static void tree_find_triangles(const sinew_collision_mesh *f, int32_t object, sinew_contact_tree *t)
{
    t->first_primitive = -1;
    t->triangle_count = 0;
    for (int32_t primitive = 0; primitive < f->primitive_count; primitive++) {
        if (f->object[f->primitives[primitive][0]] != object || !(f->flags[primitive] & SINEW_IS_FACE))
            continue;
        t->first_primitive = t->first_primitive < 0 ? primitive : t->first_primitive;
        t->triangle_count++;
    }
}

static void tree_pack_points(const sinew_contact_work *c, const sinew_collision_object *o, sinew_real *packed)
{
    for (int32_t v = 0; v < o->vertex_count; v++)
        memcpy(packed + 3 * (size_t)v, c->x_pass_start + 4 * (size_t)(o->first_vertex + v), 3 * sizeof *packed);
}

static sinew_status tree_build(const sinew_contact_view *view, int32_t object, const sinew_real *packed,
                               sinew_error *error)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_object *o = &c->mesh.objects[object];
    sinew_contact_tree *t = &c->trees[object];
    tree_find_triangles(&c->mesh, object, t);
    int32_t *corners = sinew_allocate(view->allocator, 3 * (size_t)t->triangle_count, sizeof *corners);
    if (!corners)
        return sinew_fail_memory(error, "contacts");
    for (int32_t k = 0; k < 3 * t->triangle_count; k++)
        corners[k] = c->mesh.primitives[t->first_primitive + k / 3][k % 3] - o->first_vertex;
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = *view->allocator;
    def.vertex_count = o->vertex_count;
    def.positions = packed;
    def.cell_count = t->triangle_count;
    def.cells = corners;
    def.thread_count = 1;
    t->tree = sinew_tree_create(&def, error);
    sinew_release(view->allocator, corners);
    return t->tree ? SINEW_OK : SINEW_ERROR_MEMORY;
}

sinew_status sinew_contact_refit_tree(const sinew_contact_view *view, int32_t object, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    if (!c->trees)
        c->trees = sinew_allocate_zero(&c->mesh.allocator, (size_t)c->mesh.object_count, sizeof *c->trees);
    if (!c->trees)
        return sinew_fail_memory(error, "contacts");
    const sinew_collision_object *o = &c->mesh.objects[object];
    if (!sinew_reserve_spare(view->allocator, &c->packed, &c->packed_capacity, 3 * (size_t)o->vertex_count,
                             sizeof *c->packed))
        return sinew_fail_memory(error, "contacts");
    tree_pack_points(c, o, c->packed);
    return c->trees[object].tree ? sinew_tree_refit(c->trees[object].tree, c->packed, error)
                                 : tree_build(view, object, c->packed, error);
}

/* ---- Vertices inside a closed collider --------------------------------------------------------- */

static bool object_has_inside(const sinew_contact_view *view, const sinew_collision_object *o)
{
    return o->kinematic && view->colliders[o->collider].closed && view->colliders[o->collider].triangle_count > 0;
}

/* Lists in `bounded` the body vertices that are within the bounding box of a collider and may collide with it. Returns
 * their number. */
static int32_t list_bounded_vertices(sinew_contact_work *c, int32_t object)
{
    const sinew_collision_mesh *f = &c->mesh;
    const sinew_collision_object *o = &f->objects[object];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    int32_t count = 0;
    for (int32_t v = o->first_vertex; v < o->first_vertex + o->vertex_count; v++)
        for (size_t k = 0; k < 3; k++) {
            low[k] = fmin(low[k], (double)c->x_pass_start[4 * (size_t)v + k]);
            high[k] = fmax(high[k], (double)c->x_pass_start[4 * (size_t)v + k]);
        }
    for (int32_t v = 0; v < f->moved_count; v++) {
        const sinew_real *x = c->x_pass_start + 4 * (size_t)v;
        bool within = true;
        for (int k = 0; within && k < 3; k++)
            within = (double)x[k] > low[k] && (double)x[k] < high[k];
        if (within && sinew_vertex_may_collide(f, v, object) && !sinew_is_frame_vertex(f, v))
            c->bounded[count++] = v;
    }
    return count;
}

/* Keeps the vertices of `bounded` [count] that are inside the collider by their winding number, and marks them in
 * `is_inside`. Returns their number. */
static int32_t keep_inside_vertices(sinew_contact_work *c, const sinew_tree *tree, int32_t count)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < count; k++) {
        sinew_real winding;
        sinew_tree_winding(tree, 1, c->x_pass_start + 4 * (size_t)c->bounded[k], &winding);
        if (winding > (sinew_real)INSIDE)
            c->bounded[kept++] = c->bounded[k];
    }
    for (int32_t k = 0; k < kept; k++)
        c->is_inside[c->bounded[k]] = 1;
    return kept;
}

/* ---- Candidate pairs of vertices inside a collider ---------------------------------------------- */

/* True if a candidate pair contains the collider and a vertex inside it, so that one outward pair replaces it. */
static bool candidate_is_replaced(const sinew_contact_work *c, const sinew_candidate *p, int32_t object)
{
    bool own = false, inside = false;
    for (int a = 0; a < 4 && p->kind != SINEW_CANDIDATE_VERTEX_PLANE; a++) {
        own = own || c->mesh.object[p->v[a]] == object;
        inside = inside || (p->v[a] < c->mesh.moved_count && c->is_inside[p->v[a]]);
    }
    return own && inside;
}

static void drop_replaced_candidates(sinew_contact_work *c, int32_t object)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < c->pairs.count; k++)
        if (!candidate_is_replaced(c, &c->pairs.list[k], object))
            c->pairs.list[kept++] = c->pairs.list[k];
    c->pairs.count = kept;
}

/* Creates the candidate pair of a vertex inside a collider and the nearest point of the collider's surface. */
static void candidate_make_outward(const sinew_contact_work *c, int32_t object, int32_t v, sinew_candidate *p)
{
    const sinew_contact_tree *t = &c->trees[object];
    const sinew_real *x = c->x_pass_start + 4 * (size_t)v;
    sinew_tree_point nearest;
    sinew_tree_nearest(t->tree, 1, x, NULL, &nearest);
    const int32_t primitive = t->first_primitive + nearest.cell, *corners = c->mesh.primitives[primitive];
    double e[2][3], n[3], size = 0;
    *p = (sinew_candidate){.v = {v, corners[0], corners[1], corners[2]}, .first = v, .second = primitive, .w = {1}};
    p->kind = SINEW_CANDIDATE_VERTEX_FACE;
    p->inside = SINEW_CANDIDATE_INSIDE;
    for (size_t a = 0; a < 3; a++) {
        p->w[1 + a] = -nearest.weights[a];
        n[a] = (double)nearest.point[a] - (double)x[a];
        size += n[a] * n[a];
        for (size_t s = 0; s < 2; s++)
            e[s][a] = (double)c->x_pass_start[4 * (size_t)corners[s + 1] + a] -
                      (double)c->x_pass_start[4 * (size_t)corners[0] + a];
    }
    p->distance = (sinew_real)-sqrt(size);
    /* At distance zero from the surface, the normal of the triangle is the outward direction. */
    for (int a = 0; size == 0 && a < 3; a++)
        n[a] = e[0][(a + 1) % 3] * e[1][(a + 2) % 3] - e[0][(a + 2) % 3] * e[1][(a + 1) % 3];
    const double length = vec3_norm(n);
    for (int a = 0; a < 3; a++)
        p->n[a] = length > 0 ? (sinew_real)(n[a] / length) : a == 1;
}

static sinew_status collider_push_vertices_out(const sinew_contact_view *view, int32_t object, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    int32_t count = list_bounded_vertices(c, object);
    if (count == 0)
        return SINEW_OK;
    const sinew_status status = sinew_contact_refit_tree(view, object, error);
    if (status != SINEW_OK)
        return status;
    count = keep_inside_vertices(c, c->trees[object].tree, count);
    if (count == 0)
        return SINEW_OK;
    drop_replaced_candidates(c, object);
    for (int32_t k = 0; k < count; k++) {
        sinew_candidate *pair = sinew_contact_add_pair(view);
        if (!pair)
            return sinew_fail_memory(error, "contacts");
        candidate_make_outward(c, object, c->bounded[k], pair);
        c->is_inside[c->bounded[k]] = 0;
    }
    return SINEW_OK;
}

sinew_status sinew_contact_resolve_penetration(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    const sinew_allocator *m = view->allocator;
    bool any = false;
    for (int32_t o = 0; o < f->object_count; o++)
        any = any || object_has_inside(view, &f->objects[o]);
    if (!any)
        return SINEW_OK;
    if (!sinew_reserve(m, &c->bounded, &c->bounded_capacity, (size_t)f->moved_count, sizeof *c->bounded) ||
        !sinew_reserve(m, &c->is_inside, &c->is_inside_capacity, (size_t)f->moved_count, sizeof *c->is_inside))
        return sinew_fail_memory(error, "contacts");
    memset(c->is_inside, 0, (size_t)f->moved_count);
    sinew_status status = SINEW_OK;
    for (int32_t o = 0; o < f->object_count && status == SINEW_OK; o++)
        if (object_has_inside(view, &f->objects[o]))
            status = collider_push_vertices_out(view, o, error);
    return status;
}
