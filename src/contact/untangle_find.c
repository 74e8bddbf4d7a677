/* SPDX-License-Identifier: MIT
 *
 * untangle_find.c: finds overlaps of surfaces: pairs of primitives that intersect, with the points where edges pass
 * through faces; vertices inside closed objects, by the winding number; and objects behind planes.
 *
 * Crossings give the intersection contour of two surfaces as segments, one for each pair of triangles. Vertices inside
 * also find bodies that lie within others without a crossing.
 */
#include <math.h>
#include <string.h>

#include "base/sort_pairs.h"
#include "base/stop.h"
#include "contact/untangle.h"
#include "math/vec3.h"
#include "sinew/tree.h"

/* Winding number above which a vertex is inside: 0.5 is a point on a flat face, which touches. */
#define INSIDE 0.75

void sinew_tangle_release(sinew_tangle *t, const sinew_allocator *allocator)
{
    void *arrays[] = {t->crossings, t->inside, t->overlaps, t->pairs, t->sort, t->bearings};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *t = (sinew_tangle){0};
}

static void vertex_point(const sinew_contact_work *c, int32_t v, double p[3])
{
    for (size_t k = 0; k < 3; k++)
        p[k] = (double)c->x_pass_start[4 * (size_t)v + k];
}

/* ---- Crossings of two primitives --------------------------------------------------------------- */

/* Computes where the edge passes through the face. False: it does not. */
static bool crossing_compute(const sinew_contact_work *c, const int32_t edge[2], int32_t face, sinew_crossing *crossing)
{
    double p[3], q[3], a[3], b[3], d[3], ab[3], ad[3], n[3], r[3];
    const int32_t *corner = c->mesh.primitives[face];
    vertex_point(c, edge[0], p);
    vertex_point(c, edge[1], q);
    vertex_point(c, corner[0], a);
    vertex_point(c, corner[1], b);
    vertex_point(c, corner[2], d);
    vec3_sub(b, a, ab);
    vec3_sub(d, a, ad);
    vec3_cross(ab, ad, n);
    vec3_sub(p, a, r);
    const double from = vec3_dot(n, r);
    vec3_sub(q, a, r);
    const double to = vec3_dot(n, r), square = vec3_dot(n, n);
    if (!(from * to < 0) || !(square > 0))
        return false;
    const double t = from / (from - to);
    double cross[3];
    for (int k = 0; k < 3; k++) {
        crossing->x[k] = p[k] + t * (q[k] - p[k]);
        r[k] = crossing->x[k] - a[k];
    }
    vec3_cross(r, ad, cross);
    crossing->w[1] = vec3_dot(cross, n) / square;
    vec3_cross(ab, r, cross);
    crossing->w[2] = vec3_dot(cross, n) / square;
    crossing->w[0] = 1 - crossing->w[1] - crossing->w[2];
    crossing->t = t;
    crossing->edge[0] = edge[0];
    crossing->edge[1] = edge[1];
    crossing->face = face;
    crossing->other = -1;
    return crossing->w[0] >= 0 && crossing->w[1] >= 0 && crossing->w[2] >= 0;
}

/* Appends the crossings of the edges of primitive p through the face of primitive q; `first`: p is the first primitive
 * of the pair. */
static void crossings_of_edges(const sinew_contact_work *c, sinew_tangle *t, int32_t p, int32_t q, bool first)
{
    const sinew_collision_mesh *f = &c->mesh;
    const int32_t *v = f->primitives[p];
    const int sides = f->flags[p] & SINEW_IS_FACE ? 3 : v[0] == v[1] ? 0 : 1;
    if (!(f->flags[q] & SINEW_IS_FACE))
        return;
    for (int k = 0; k < sides; k++) {
        const int32_t edge[2] = {v[k], v[(k + 1) % 3]};
        sinew_crossing *crossing = &t->crossings[t->crossing_count];
        if (!crossing_compute(c, edge, q, crossing))
            continue;
        crossing->owner = p;
        crossing->edge_first = first;
        t->crossing_count++;
    }
}

/* Appends the crossings of two primitives; the first two are the ends of their common segment. */
static void crossings_of_pair(const sinew_contact_work *c, sinew_tangle *t, int32_t p, int32_t q)
{
    const int32_t first = t->crossing_count;
    crossings_of_edges(c, t, p, q, true);
    crossings_of_edges(c, t, q, p, false);
    if (t->crossing_count - first >= 2) {
        t->crossings[first].other = first + 1;
        t->crossings[first + 1].other = first;
    }
}

/* ---- Vertices inside closed objects and behind planes ------------------------------------------ */

/* True if all edges of an object have two faces, whose normals point out of a volume. */
static bool surface_is_closed(const sinew_collision_mesh *f, int32_t o)
{
    double volume = 0;
    for (int32_t e = 0; e < f->edge_count; e++)
        if (f->object[f->edges[e][0]] == o && f->opposite_vertices[e][1] < 0)
            return false;
    for (int32_t k = 0; k < f->primitive_count; k++) {
        const int32_t *v = f->primitives[k];
        double p[3][3];
        if (f->object[v[0]] != o)
            continue;
        for (size_t i = 0; i < 9; i++)
            p[i / 3][i % 3] = (double)f->rest[4 * (size_t)v[i / 3] + i % 3];
        volume += vec3_triple(p[0], p[1], p[2]);
    }
    return volume > 0;
}

bool sinew_object_is_closed(const sinew_contact_view *view, int32_t o)
{
    const sinew_collision_object *object = &view->contact->mesh.objects[o];
    if (object->kinematic)
        return view->colliders[object->collider].closed && view->colliders[object->collider].triangle_count > 0;
    const sinew_mesh *mesh = view->bodies[object->body].mesh;
    if (object->rigid)
        return surface_is_closed(&view->contact->mesh, o);
    return mesh && sinew_mesh_tet_count(mesh) > 0 && view->bodies[object->body].contact.surface == SINEW_CONTACT_CAGE;
}

static void object_bounds(const sinew_contact_work *c, const sinew_collision_object *o, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = HUGE_VAL;
        high[k] = -HUGE_VAL;
    }
    for (int32_t v = o->first_vertex; v < o->first_vertex + o->vertex_count; v++)
        for (size_t k = 0; !sinew_is_frame_vertex(&c->mesh, v) && k < 3; k++) {
            low[k] = fmin(low[k], (double)c->x_pass_start[4 * (size_t)v + k]);
            high[k] = fmax(high[k], (double)c->x_pass_start[4 * (size_t)v + k]);
        }
}

/* Appends to `sort` an entry (a vertex by its index, or a pair of primitives) for the overlap of objects a and b.
 * False: out of memory. */
static bool add_overlap_entry(const sinew_contact_view *view, int32_t *count, int32_t a, int32_t b, int32_t value)
{
    sinew_tangle *t = &view->contact->untangle->tangle;
    if ((size_t)(*count + 1) * sizeof *t->sort > t->sort_capacity) {
        const size_t more = (size_t)*count + (size_t)*count / 2 + 64;
        sinew_pair *sort = sinew_reallocate(view->allocator, t->sort, (size_t)*count, more, sizeof *sort);
        if (!sort)
            return false;
        t->sort = sort;
        t->sort_capacity = more * sizeof *sort;
    }
    t->sort[(*count)++] = (sinew_pair){a < b ? sinew_pack(a, b) : sinew_pack(b, a), (uint64_t)value};
    return true;
}

/* Lists the vertices of other objects that are inside a closed object. */
static sinew_status list_inside(const sinew_contact_view *view, int32_t o, int32_t *count, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    double low[3], high[3];
    bool refitted = false;
    object_bounds(c, &f->objects[o], low, high);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const sinew_real *x = c->x_pass_start + 4 * (size_t)v;
        bool within = f->object[v] != o && sinew_may_collide(f, f->object[v], o) &&
                      !sinew_feature_follows(f, &v, 1, o) && !sinew_is_frame_vertex(f, v);
        for (int k = 0; within && k < 3; k++)
            within = (double)x[k] > low[k] && (double)x[k] < high[k];
        if (!within)
            continue;
        const sinew_status status = refitted ? SINEW_OK : sinew_contact_refit_tree(view, o, error);
        if (status != SINEW_OK)
            return status;
        refitted = true;
        sinew_real winding;
        sinew_tree_winding(c->trees[o].tree, 1, x, &winding);
        if (winding > (sinew_real)INSIDE && !add_overlap_entry(view, count, f->object[v], o, v))
            return sinew_fail_memory(error, "overlapping surfaces");
    }
    return SINEW_OK;
}

/* Depth below which a vertex behind a plane touches it (touching.c), in m. */
static double plane_tolerance(const sinew_collision_mesh *f, int32_t v, int32_t plane)
{
    return SINEW_CONTACT_TOUCHING * (f->objects[f->object[v]].half_thickness + f->objects[plane].half_thickness);
}

static sinew_status list_behind_plane(const sinew_contact_view *view, int32_t o, int32_t *count, sinew_error *error)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    double point[3], normal[3];
    sinew_contact_plane(view, o, c->fraction[o], point, normal);
    for (int32_t v = 0; v < f->moved_count; v++) {
        double distance = -f->objects[f->object[v]].radius;
        for (size_t k = 0; k < 3; k++)
            distance += normal[k] * ((double)c->x_pass_start[4 * (size_t)v + k] - point[k]);
        if (distance < -plane_tolerance(f, v, o) && sinew_vertex_may_collide(f, v, o) && !sinew_is_frame_vertex(f, v) &&
            !add_overlap_entry(view, count, f->object[v], o, v))
            return sinew_fail_memory(error, "overlapping surfaces");
    }
    return SINEW_OK;
}

/* ---- Overlaps of objects ----------------------------------------------------------------------- */

static sinew_overlap *overlap_add(sinew_tangle *t, uint64_t objects)
{
    sinew_overlap *overlap = &t->overlaps[t->overlap_count++];
    *overlap = (sinew_overlap){.a = (int32_t)(objects >> 32),
                               .b = (int32_t)(uint32_t)objects,
                               .first_crossing = t->crossing_count,
                               .first_inside = t->inside_count};
    return overlap;
}

/* Minor keys of `sort` from this value on are indices of pairs of primitives plus this value; those below are
 * vertices. */
#define PAIR_ENTRY ((uint64_t)1 << 32)

static bool tangle_reserve(const sinew_contact_view *view, sinew_tangle *t, int32_t count)
{
    const sinew_allocator *m = view->allocator;
    const size_t n = (size_t)count + 1;
    return sinew_reserve_spare(m, &t->crossings, &t->crossing_capacity, 6 * ((size_t)t->pair_count + 1),
                               sizeof *t->crossings) &&
           sinew_reserve_spare(m, &t->inside, &t->inside_capacity, n, sizeof *t->inside) &&
           sinew_reserve_spare(m, &t->overlaps, &t->overlap_capacity, n, sizeof *t->overlaps);
}

/* Builds overlaps from the sorted entries of `sort` [count]. */
static void overlaps_build(const sinew_contact_view *view, int32_t count)
{
    sinew_tangle *t = &view->contact->untangle->tangle;
    sinew_overlap *overlap = NULL;
    t->crossing_count = t->inside_count = t->overlap_count = 0;
    for (int32_t k = 0; k < count; k++) {
        if (k == 0 || t->sort[k].major != t->sort[k - 1].major)
            overlap = overlap_add(t, t->sort[k].major);
        if (t->sort[k].minor >= PAIR_ENTRY) {
            const int32_t *pair = t->pairs[t->sort[k].minor - PAIR_ENTRY];
            crossings_of_pair(view->contact, t, pair[0], pair[1]);
        } else {
            t->inside[t->inside_count++] = (int32_t)t->sort[k].minor;
        }
        overlap->crossing_count = t->crossing_count - overlap->first_crossing;
        overlap->inside_count = t->inside_count - overlap->first_inside;
    }
}

/* Lists the pairs of primitives that intersect. */
static sinew_status list_pairs(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_tangle *t = &c->untangle->tangle;
    int64_t capacity = (int64_t)(t->pair_capacity / sizeof *t->pairs);
    int64_t count = sinew_detect_intersections(c->detector, c->x_pass_start, t->pairs, capacity);
    if (count > capacity) {
        if (count > INT32_MAX / 8 ||
            !sinew_reserve_spare(view->allocator, &t->pairs, &t->pair_capacity, (size_t)count, sizeof *t->pairs))
            return sinew_fail_memory(error, "overlapping surfaces");
        count = sinew_detect_intersections(c->detector, c->x_pass_start, t->pairs, count);
    }
    if (sinew_stop_came())
        return SINEW_ERROR_INTERRUPTED;
    if (count < 0)
        return sinew_fail_memory(error, "overlapping surfaces");
    t->pair_count = (int32_t)count;
    return SINEW_OK;
}

/* True if two objects overlap by so little that they touch: touching.c separates them, with all others that touch. */
static bool overlap_touches(const sinew_collision_mesh *f, const sinew_overlap *o)
{
    const double offset = sinew_overlap_offset(f, o);
    return o->a != o->b && o->depth < SINEW_CONTACT_TOUCHING * offset;
}

sinew_status sinew_tangle_find(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    sinew_tangle *t = &c->untangle->tangle;
    int32_t count = 0;
    sinew_status status = list_pairs(view, error);
    for (int32_t o = 0; status == SINEW_OK && o < f->object_count; o++) {
        if (sinew_object_is_plane(&f->objects[o]))
            status = list_behind_plane(view, o, &count, error);
        else if (sinew_object_is_closed(view, o))
            status = list_inside(view, o, &count, error);
    }
    for (int32_t k = 0; status == SINEW_OK && k < t->pair_count; k++) {
        const int32_t a = f->object[f->primitives[t->pairs[k][0]][0]], b = f->object[f->primitives[t->pairs[k][1]][0]];
        if (!add_overlap_entry(view, &count, a, b, 0))
            return sinew_fail_memory(error, "overlapping surfaces");
        t->sort[count - 1].minor = PAIR_ENTRY + (uint64_t)k;
    }
    t->overlap_count = t->crossing_count = t->inside_count = 0;
    if (status != SINEW_OK || count == 0)
        return status;
    sinew_pair *scratch = sinew_allocate(view->allocator, (size_t)count, sizeof *scratch);
    if (!scratch || !tangle_reserve(view, t, count)) {
        sinew_release(view->allocator, scratch);
        return sinew_fail_memory(error, "overlapping surfaces");
    }
    sinew_sort_pairs(t->sort, (size_t)count, scratch);
    sinew_release(view->allocator, scratch);
    overlaps_build(view, count);
    status = sinew_untangle_group(view, error);
    int32_t kept = 0;
    for (int32_t k = 0; status == SINEW_OK && k < t->overlap_count; k++) {
        sinew_overlap_choose_way(view, &t->overlaps[k]);
        if (!overlap_touches(f, &t->overlaps[k]))
            t->overlaps[kept++] = t->overlaps[k];
    }
    t->overlap_count = kept;
    return status;
}
