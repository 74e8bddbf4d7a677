/* SPDX-License-Identifier: MIT
 *
 * triangle_crossing.c: tests whether triangles intersect: an edge of one through the face of the other.
 *
 * The signed volume of four points counts if it exceeds 1e-12 (single: 1e-6) of the product of the lengths of the edges
 * at the first point. Smaller volumes count as touching, not as intersecting. Limits: triangles that overlap in one
 * plane are not found.
 */
#include "bvh/triangle_crossing.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

#ifdef SINEW_SINGLE
static const double slack = 1e-6;
#else
static const double slack = 1e-12;
#endif

static const sinew_real *vertex_position(const sinew_real *positions, int32_t v)
{
    return positions + 3 * (size_t)v;
}

/* 1 or -1: the side of the plane through p, q, r on which x lies; 0: x is in the plane up to round-off. */
static int plane_side_of(const sinew_real *p, const sinew_real *q, const sinew_real *r, const sinew_real *x)
{
    double e[3][3], size = 1;
    const sinew_real *ends[3] = {q, r, x};
    for (int i = 0; i < 3; i++) {
        vec3_edge(p, ends[i], e[i]);
        size *= vec3_norm(e[i]);
    }
    const double volume = vec3_triple(e[2], e[0], e[1]);
    return volume > slack * size ? 1 : volume < -slack * size ? -1 : 0;
}

static bool edge_passes_triangle(const sinew_real *p, const sinew_real *q, const sinew_real *const t[3])
{
    const int from = plane_side_of(t[0], t[1], t[2], p), to = plane_side_of(t[0], t[1], t[2], q);
    if (from * to >= 0)
        return false;
    const int first = plane_side_of(p, q, t[0], t[1]);
    return first != 0 && plane_side_of(p, q, t[1], t[2]) == first && plane_side_of(p, q, t[2], t[0]) == first;
}

static bool triangle_corners_coincide(const sinew_real *p, const sinew_real *q)
{
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

bool sinew_triangles_cross(const sinew_real *positions, const int32_t a[3], const int32_t b[3])
{
    const sinew_real *u[3], *v[3];
    int common = 0, mine = -1, others = -1;
    for (int i = 0; i < 3; i++) {
        u[i] = vertex_position(positions, a[i]);
        v[i] = vertex_position(positions, b[i]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (triangle_corners_coincide(u[i], v[j])) {
                common++;
                mine = i;
                others = j;
            }
    if (common > 1)
        return false;
    if (common == 1)
        return edge_passes_triangle(u[(mine + 1) % 3], u[(mine + 2) % 3], v) ||
               edge_passes_triangle(v[(others + 1) % 3], v[(others + 2) % 3], u);
    for (int i = 0; i < 3; i++)
        if (edge_passes_triangle(u[i], u[(i + 1) % 3], v) || edge_passes_triangle(v[i], v[(i + 1) % 3], u))
            return true;
    return false;
}

static void crossing_box_of(const sinew_real *positions, const int32_t triangle[3], sinew_real box[6])
{
    for (int c = 0; c < 3; c++) {
        box[c] = box[3 + c] = vertex_position(positions, triangle[0])[c];
        for (int i = 1; i < 3; i++) {
            const sinew_real x = vertex_position(positions, triangle[i])[c];
            box[c] = x < box[c] ? x : box[c];
            box[3 + c] = x > box[3 + c] ? x : box[3 + c];
        }
    }
}

sinew_status sinew_visit_crossings(const sinew_tree *tree, const sinew_allocator *allocator,
                                   const sinew_real *positions, const int32_t *triangles, int32_t count,
                                   sinew_cross_visitor *visit, void *context, sinew_error *error)
{
    int64_t capacity = 256;
    int32_t *met = sinew_allocate(allocator, (size_t)capacity, sizeof *met);
    for (int32_t t = 0; met && t < count; t++) {
        sinew_real box[6];
        crossing_box_of(positions, triangles + 3 * (size_t)t, box);
        int64_t found = sinew_tree_overlaps(tree, box, met, capacity);
        if (found > capacity) {
            sinew_release(allocator, met);
            capacity = 2 * found;
            met = sinew_allocate(allocator, (size_t)capacity, sizeof *met);
            found = met ? sinew_tree_overlaps(tree, box, met, capacity) : 0;
        }
        for (int64_t i = 0; i < found; i++)
            if (met[i] > t &&
                sinew_triangles_cross(positions, triangles + 3 * (size_t)t, triangles + 3 * (size_t)met[i]))
                visit(context, t, met[i]);
    }
    const bool good = met != NULL;
    sinew_release(allocator, met);
    return good ? SINEW_OK : sinew_fail_memory(error, "a search for crossings");
}
