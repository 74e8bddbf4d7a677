/* SPDX-License-Identifier: MIT
 *
 * closed_surface.h: the triangles of an energy as one closed surface: its volume, and the check that it is closed.
 *
 *     V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6
 *
 * V does not depend on c if the surface is closed; c is the mean of the corners, which keeps the numbers small. Scalar
 * code over sinew_global_constraint (energy.h), for energies that are not a sum over elements.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_CLOSED_SURFACE_H
#define SINEW_SRC_ENERGY_TRIANGLE_CLOSED_SURFACE_H

#include <math.h>

#include "base/base.h"
#include "energy/energy.h"
#include "math/simd.h"
#include "mesh/topology/facets.h"

/* Six times the signed volume of the tetrahedron that one triangle forms with the point c. */
static inline double closed_six_volumes(const sinew_real *points, const int32_t *corner, const double c[3])
{
    double x[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            x[a][i] = (double)points[4 * (size_t)corner[a] + (size_t)i] - c[i];
    return x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) + x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
           x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
}

/* Returns the volume that all triangles enclose; sets centre to the mean of their corners. */
static inline double closed_volume(const sinew_global_constraint *all, const sinew_real *points, double centre[3])
{
    double sum = 0;
    const size_t corners = 3 * (size_t)all->count;
    for (int c = 0; c < 3; c++) {
        centre[c] = 0;
        for (size_t i = 0; i < corners; i++)
            centre[c] += (double)points[4 * (size_t)all->particles[i] + (size_t)c] / (double)corners;
    }
    for (int32_t t = 0; t < all->count; t++)
        sum += closed_six_volumes(points, all->particles + 3 * (size_t)t, centre);
    return sum / 6;
}

/* The largest distance of a corner of the surface from the centre along a coordinate axis, in m. */
static inline double closed_reach(const sinew_global_constraint *all, const sinew_real *points, const double centre[3])
{
    double max = 0;
    for (size_t i = 0; i < 3 * (size_t)all->count; i++)
        for (size_t c = 0; c < 3; c++)
            max = fmax(max, fabs((double)points[4 * (size_t)all->particles[i] + c] - centre[c]));
    return max;
}

typedef struct closed_edges {
    const int32_t *triangles;
    /* numbers of edges with one triangle; with two triangles of inconsistent orientation; with more than two */
    int32_t open, turned, crowded;
} closed_edges;

/* Whether a triangle traverses one of its edges from the lower to the higher vertex index. use = 3 * triangle + corner
 * opposite to the edge. */
static inline bool closed_goes_up(const int32_t *triangles, int64_t use)
{
    const int32_t *t = triangles + use / 3 * 3;
    return t[(use + 1) % 3] < t[(use + 2) % 3];
}

static inline void closed_count_edge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    closed_edges *edges = context;
    edges->open += use_count == 1;
    edges->crowded += use_count > 2;
    edges->turned += use_count == 2 && closed_goes_up(edges->triangles, (int64_t)uses[0].minor) ==
                                           closed_goes_up(edges->triangles, (int64_t)uses[1].minor);
}

static inline sinew_status closed_check_edges(const sinew_global_constraint *all, const char *name, const char *instead,
                                              const sinew_allocator *allocator, sinew_error *error)
{
    const sinew_elements elements = {all->particles, all->count, 3};
    closed_edges edges = {.triangles = all->particles};
    int32_t highest = 0;
    for (size_t i = 0; i < 3 * (size_t)all->count; i++)
        highest = all->particles[i] > highest ? all->particles[i] : highest;
    const sinew_status status = sinew_visit_facets(allocator, highest + 1, &elements, closed_count_edge, &edges, error);
    if (status != SINEW_OK)
        return status;
    if (edges.open > 0 || edges.crowded > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: the surface is not closed: %d edges have one triangle and %d more than two; close it "
                          "(sinew mesh fix)%s",
                          name, edges.open, edges.crowded, instead);
    if (edges.turned > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: at %d edges the two triangles do not face the same side; turn them (sinew mesh fix)",
                          name, edges.turned);
    return SINEW_OK;
}

/* Checks that the surface is closed, that all triangles have the same parameters, and that triangles face outwards at
 * rest. *volume = rest volume, 0 if the surface is flat. instead: advice in the error message for surfaces that enclose
 * no volume. */
static inline sinew_status closed_check(const sinew_global_constraint *all, const char *name, const char *instead,
                                        double *volume, const sinew_allocator *allocator, sinew_error *error)
{
    double centre[3];
    *volume = 0;
    if (all->by_element)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: its parameters hold for the whole surface, not by element",
                          name);
    const sinew_status status = closed_check_edges(all, name, instead, allocator, error);
    if (status != SINEW_OK)
        return status;
    *volume = closed_volume(all, all->rest, centre);
    const double reach = closed_reach(all, all->rest, centre);
    if (fabs(*volume) <= 64 * (double)WIDE_EPSILON * reach * reach * reach)
        *volume = 0;
    if (*volume < 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: the surface holds %g m3 at rest: its triangles face inwards; turn them (sinew mesh fix)",
                          name, *volume);
    return SINEW_OK;
}

#endif
