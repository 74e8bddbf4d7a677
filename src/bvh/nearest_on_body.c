/* SPDX-License-Identifier: MIT
 *
 * nearest_on_body.c: finds the nearest point on a body. See nearest_on_body.h.
 *
 * Cells at the smallest distance, up to round-off, are tested in ascending order, each by its box first. The nearest
 * point of a triangle follows C. Ericson, Real-Time Collision Detection (2005), 5.1.5, by Voronoi regions.
 */
#include "bvh/nearest_on_body.h"

#include <float.h>
#include <math.h>

#include "math/vec3.h"
#include "mesh/mesh.h"
#include "bvh/tree.h"

static void set_weights(double weights[3], double a, double b, double c)
{
    weights[0] = a;
    weights[1] = b;
    weights[2] = c;
}

/* Barycentric weights of the point of the segment ab nearest to p. */
static void nearest_on_edge(const sinew_real *p, const sinew_real *a, const sinew_real *b, double weights[3])
{
    double ab[3], ap[3];
    vec3_edge(a, b, ab);
    vec3_edge(a, p, ap);
    double length = vec3_dot(ab, ab);
    double t = length > 0 ? fmin(fmax(vec3_dot(ap, ab) / length, 0), 1) : 0;
    set_weights(weights, 1 - t, t, 0);
}

/* Squared distance from p to the point of the cell with the given barycentric weights, in m2. */
static double cell_point_distance2(const sinew_real *p, const sinew_real *const corner[3], int width,
                                   const double *weights)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double x = -(double)p[k];
        for (int i = 0; i < width; i++)
            x += weights[i] * (double)corner[i][k];
        sum += x * x;
    }
    return sum;
}

/* Barycentric weights of the nearest point on the three sides of the triangle abc. */
static void nearest_on_sides(const sinew_real *p, const sinew_real *a, const sinew_real *b, const sinew_real *c,
                             double weights[3])
{
    const sinew_real *const corner[3] = {a, b, c};
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        double side[3], turned[3] = {0, 0, 0};
        nearest_on_edge(p, corner[i], corner[j], side);
        turned[i] = side[0];
        turned[j] = side[1];
        const double distance = cell_point_distance2(p, corner, 3, turned);
        if (distance < best) {
            best = distance;
            set_weights(weights, turned[0], turned[1], turned[2]);
        }
    }
}

/* Barycentric weights of the point of the triangle abc nearest to p. */
static void nearest_on_triangle(const sinew_real *p, const sinew_real *a, const sinew_real *b, const sinew_real *c,
                                double weights[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    vec3_edge(a, b, ab);
    vec3_edge(a, c, ac);
    vec3_edge(a, p, ap);
    vec3_edge(b, p, bp);
    vec3_edge(c, p, cp);
    double d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap), d3 = vec3_dot(ab, bp), d4 = vec3_dot(ac, bp),
           d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (d1 <= 0 && d2 <= 0) {
        set_weights(weights, 1, 0, 0);
    } else if (d3 >= 0 && d4 <= d3) {
        set_weights(weights, 0, 1, 0);
    } else if (d6 >= 0 && d5 <= d6) {
        set_weights(weights, 0, 0, 1);
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        set_weights(weights, 1 - d1 / (d1 - d3), d1 / (d1 - d3), 0);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        set_weights(weights, 1 - d2 / (d2 - d6), 0, d2 / (d2 - d6));
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        set_weights(weights, 0, 1 - t, t);
    } else {
        double sum = va + vb + vc;
        set_weights(weights, va / sum, vb / sum, vc / sum);
    }
}

/* ---- Search for the nearest point ---------------------------------------------------------------- */

/* Builds the BVH over the search's cells, and allocates a buffer of candidates for all cells. */
static sinew_status body_search_make_tree(sinew_body_search *s, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = s->allocator;
    def.vertex_count = mesh->vertex_count;
    def.positions = s->positions;
    def.cell_count = s->count;
    def.width = s->width;
    def.cells = s->cells;
    def.winding = false;
    def.thread_count = 1;
    s->tree = sinew_tree_create(&def, error);
    if (!s->tree)
        return error ? error->status : SINEW_ERROR_MEMORY;
    s->candidates = sinew_allocate(&s->allocator, (size_t)s->count, sizeof *s->candidates);
    if (!s->candidates)
        return sinew_fail_memory(error, "a search");
    double radius = 0;
    for (int k = 0; k < 3; k++)
        radius = fmax(radius, fabs(s->tree->origin[k]) + s->tree->half[k]);
    s->slack = (64 * SINEW_TREE_EPSILON * s->tree->largest + 64 * DBL_EPSILON * radius) / s->tree->scale;
    return SINEW_OK;
}

sinew_status sinew_body_search_begin(sinew_body_search *s, const sinew_mesh *mesh, const sinew_real *positions,
                                     bool vertices, sinew_error *error)
{
    *s = (sinew_body_search){.positions = positions, .count = mesh->vertex_count, .width = 1};
    s->allocator = mesh->allocator;
    if (!vertices) {
        s->surface = sinew_mesh_surface(mesh, error);
        if (!s->surface)
            return SINEW_ERROR_MEMORY;
    }
    if (s->surface && sinew_mesh_triangle_count(s->surface) > 0) {
        s->cells = sinew_mesh_triangles(s->surface);
        s->count = sinew_mesh_triangle_count(s->surface);
        s->width = 3;
    } else if (s->surface && sinew_mesh_edge_count(mesh) > 0) {
        s->cells = sinew_mesh_edges(mesh);
        s->count = sinew_mesh_edge_count(mesh);
        s->width = 2;
    }
    return body_search_make_tree(s, mesh, error);
}

void sinew_body_search_end(sinew_body_search *s)
{
    sinew_tree_destroy(s->tree);
    if (s->candidates) /* a zeroed search was never begun and has no allocator */
        sinew_release(&s->allocator, s->candidates);
    sinew_mesh_destroy(s->surface);
    *s = (sinew_body_search){0};
}

/* Squared distance from p to the bounding box of a cell: a lower bound of the squared distance to the cell. */
static double box_distance2(const sinew_body_search *s, const int32_t *cell, const sinew_real *p)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t corner = 0; corner < s->width; corner++) {
            double x = s->positions[3 * (size_t)cell[corner] + (size_t)k];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        double gap = fmax(fmax(low - p[k], p[k] - high), 0);
        sum += gap * gap;
    }
    return sum;
}

static void nearest_point_on_cell(const sinew_body_search *s, const int32_t *cell, const sinew_real *p,
                                  sinew_surface_point *result)
{
    const sinew_real *corner[3];
    for (int32_t i = 0; i < 3; i++)
        corner[i] = s->positions + 3 * (size_t)cell[i < s->width ? i : 0];
    *result = (sinew_surface_point){.weights = {1}};
    if (s->width == 3)
        nearest_on_triangle(p, corner[0], corner[1], corner[2], result->weights);
    else if (s->width == 2)
        nearest_on_edge(p, corner[0], corner[1], result->weights);
    for (int32_t i = 0; i < 4; i++)
        result->vertices[i] = cell[i < s->width ? i : 0];
    result->distance2 = cell_point_distance2(p, corner, s->width, result->weights);
    /* for a triangle with collinear corners the formula divides zero by zero; its sides are searched instead */
    if (s->width == 3 && !isfinite(result->distance2)) {
        nearest_on_sides(p, corner[0], corner[1], corner[2], result->weights);
        result->distance2 = cell_point_distance2(p, corner, 3, result->weights);
    }
}

sinew_surface_point sinew_body_search_nearest(const sinew_body_search *s, const sinew_real *p)
{
    sinew_tree_point nearest;
    sinew_surface_point best = {.distance2 = INFINITY};
    sinew_tree_nearest(s->tree, 1, p, NULL, &nearest);
    if (nearest.cell < 0)
        return best;
    const double size = fmax(fmax(fabs((double)p[0]), fabs((double)p[1])), fabs((double)p[2]));
    const double radius =
        (double)nearest.distance * (1 + 256 * SINEW_TREE_EPSILON) + s->slack + 64 * DBL_EPSILON * size;
    const int64_t count = sinew_tree_within(s->tree, p, (sinew_real)radius, s->candidates, s->count);
    for (int64_t i = 0; i < count; i++) {
        const int32_t *cell = s->candidates + i;
        if (s->cells)
            cell = s->cells + (size_t)*cell * (size_t)s->width;
        if (box_distance2(s, cell, p) >= best.distance2)
            continue;
        sinew_surface_point found;
        nearest_point_on_cell(s, cell, p, &found);
        if (found.distance2 < best.distance2)
            best = found;
    }
    return best;
}
