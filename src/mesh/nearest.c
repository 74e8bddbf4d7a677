/* SPDX-License-Identifier: MIT
 *
 * nearest.c: the nearest place of a body. See nearest.h.
 *
 * Every cell is tried, with a box around it first. The nearest point of a triangle follows C. Ericson, Real-Time
 * Collision Detection (2005), 5.1.5, which walks its Voronoi regions.
 */
#include "mesh/nearest.h"

#include <math.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const sinew_real *a, const sinew_real *b, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)a[k] - (double)b[k];
}

static void set_weights(double weights[3], double a, double b, double c)
{
    weights[0] = a;
    weights[1] = b;
    weights[2] = c;
}

/* Weights of the point of the segment ab nearest to p. */
static void nearest_on_edge(const sinew_real *p, const sinew_real *a, const sinew_real *b, double weights[3])
{
    double ab[3], ap[3];
    subtract(b, a, ab);
    subtract(p, a, ap);
    double length = dot(ab, ab);
    double t = length > 0 ? fmin(fmax(dot(ap, ab) / length, 0), 1) : 0;
    set_weights(weights, 1 - t, t, 0);
}

/* Weights of the point of the triangle abc nearest to p. */
static void nearest_on_triangle(const sinew_real *p, const sinew_real *a, const sinew_real *b, const sinew_real *c,
                                double weights[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    subtract(b, a, ab);
    subtract(c, a, ac);
    subtract(p, a, ap);
    subtract(p, b, bp);
    subtract(p, c, cp);
    double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
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

/* ---- The nearest place ---------------------------------------------------------------------- */

sinew_status sinew_search_begin(sinew_search *s, const sinew_mesh *mesh, const sinew_real *positions, bool vertices,
                                sinew_error *error)
{
    *s = (sinew_search){positions, NULL, sinew_mesh_vertex_count(mesh), 1, NULL};
    if (vertices)
        return SINEW_OK;
    s->surface = sinew_mesh_surface(mesh, error);
    if (!s->surface)
        return SINEW_ERROR_MEMORY;
    if (sinew_mesh_triangle_count(s->surface) > 0) {
        s->cells = sinew_mesh_triangles(s->surface);
        s->count = sinew_mesh_triangle_count(s->surface);
        s->width = 3;
    } else if (sinew_mesh_edge_count(mesh) > 0) {
        s->cells = sinew_mesh_edges(mesh);
        s->count = sinew_mesh_edge_count(mesh);
        s->width = 2;
    }
    return SINEW_OK;
}

void sinew_search_end(sinew_search *s)
{
    sinew_mesh_destroy(s->surface);
    *s = (sinew_search){0};
}

/* Squared distance from p to the box around a cell: never more than to the cell. */
static double box_distance(const sinew_search *s, const int32_t *cell, const sinew_real *p)
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

static void place_on_cell(const sinew_search *s, const int32_t *cell, const sinew_real *p, sinew_place *result)
{
    const sinew_real *corner[3];
    for (int32_t i = 0; i < 3; i++)
        corner[i] = s->positions + 3 * (size_t)cell[i < s->width ? i : 0];
    *result = (sinew_place){.weights = {1}};
    if (s->width == 3)
        nearest_on_triangle(p, corner[0], corner[1], corner[2], result->weights);
    else if (s->width == 2)
        nearest_on_edge(p, corner[0], corner[1], result->weights);
    for (int32_t i = 0; i < 4; i++)
        result->vertices[i] = cell[i < s->width ? i : 0];
    for (int k = 0; k < 3; k++) {
        double x = -(double)p[k];
        for (int i = 0; i < s->width; i++)
            x += result->weights[i] * corner[i][k];
        result->distance += x * x;
    }
}

sinew_place sinew_search_nearest(const sinew_search *s, const sinew_real *p)
{
    sinew_place best = {.distance = INFINITY};
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t *cell = s->cells ? s->cells + (size_t)i * (size_t)s->width : &i;
        if (box_distance(s, cell, p) >= best.distance)
            continue;
        sinew_place found;
        place_on_cell(s, cell, p, &found);
        if (found.distance < best.distance)
            best = found;
    }
    return best;
}
