/* SPDX-License-Identifier: MIT
 *
 * crossing_count.h: a search of the tests' own for intersections of surfaces: edges that pass through triangles, over
 * all pairs.
 */
#ifndef SINEW_CROSSING_COUNT_H
#define SINEW_CROSSING_COUNT_H

#include "contact_worlds.h"

static inline double crossing_volume(const sinew_real *a, const sinew_real *b, const sinew_real *c, const sinew_real *d)
{
    double e[3][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)b[k] - (double)a[k];
        e[1][k] = (double)c[k] - (double)a[k];
        e[2][k] = (double)d[k] - (double)a[k];
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Six times the volume of a tet whose vertices are rounded: faces that were rotated are flat only to round-off. */
static inline double crossing_round_off(const sinew_real *a, const sinew_real *b, const sinew_real *c,
                                        const sinew_real *d)
{
    const sinew_real *corners[4] = {a, b, c, d};
    double largest = 0, longest = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            largest = fmax(largest, fabs((double)corners[i][k]));
            longest = fmax(longest, fabs((double)corners[i][k] - (double)a[k]));
        }
    return (sizeof(sinew_real) == 4 ? 1.2e-7 : 2.2e-16) * 16 * largest * longest * longest;
}

/* True if the open segment pq passes through the inside of the triangle abc. */
static inline bool segment_crosses(const sinew_real *p, const sinew_real *q, const sinew_real *a, const sinew_real *b,
                                   const sinew_real *c)
{
    const double from = crossing_volume(p, a, b, c), to = crossing_volume(q, a, b, c);
    if (!(from * to < 0) || fabs(from) < crossing_round_off(p, a, b, c) || fabs(to) < crossing_round_off(q, a, b, c))
        return false;
    const double u = crossing_volume(p, q, a, b), v = crossing_volume(p, q, b, c), w = crossing_volume(p, q, c, a);
    return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

/* All triangles of a world: of bodies and of colliders that stand still. */
typedef struct crossing_surface {
    sinew_real *x;                                        /* [3 * vertex_count] */
    int32_t *triangles;                                   /* [3 * triangle_count] */
    int32_t vertex_count, triangle_count, body_triangles; /* triangles of bodies come first */
} crossing_surface;

static inline void crossing_surface_release(crossing_surface *s)
{
    free(s->x);
    free(s->triangles);
}

/* Gathers the surfaces. Colliders without triangles (planes) and round ones are omitted. */
static inline crossing_surface crossing_surface_of(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_surface s = {0};
    assert_int_equal(sinew_world_surface(world, &s, &error), SINEW_OK);
    s.triangles = make_array(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    s.edge_count = 0;
    assert_int_equal(sinew_world_surface(world, &s, &error), SINEW_OK);
    crossing_surface all = {.x = positions_of(world),
                            .triangles = s.triangles,
                            .vertex_count = sinew_world_particle_count(world),
                            .triangle_count = s.triangle_count,
                            .body_triangles = s.triangle_count};
    for (int32_t k = 0; k < sinew_world_collider_count(world); k++) {
        const sinew_collider collider = sinew_world_collider_at(world, k);
        const sinew_shape_kind kind = sinew_collider_kind(world, collider);
        int32_t vertices = 0, triangles = 0;
        if (kind == SINEW_SHAPE_PLANE || kind == SINEW_SHAPE_SPHERE || kind == SINEW_SHAPE_CAPSULE)
            continue;
        sinew_collider_surface(world, collider, 1, &vertices, NULL, &triangles, NULL, &error);
        all.x = realloc(all.x, 3 * (size_t)(all.vertex_count + vertices) * sizeof *all.x);
        all.triangles = realloc(all.triangles, 3 * (size_t)(all.triangle_count + triangles) * sizeof *all.triangles);
        sinew_collider_surface(world, collider, 1, &vertices, all.x + 3 * (size_t)all.vertex_count, &triangles,
                               all.triangles + 3 * (size_t)all.triangle_count, &error);
        for (int32_t i = 3 * all.triangle_count; i < 3 * (all.triangle_count + triangles); i++)
            all.triangles[i] += all.vertex_count;
        all.vertex_count += vertices;
        all.triangle_count += triangles;
    }
    return all;
}

/* Number of edges that pass through a triangle; edges and triangles of colliders among themselves do not count. */
static inline int32_t crossings_of_surface(const crossing_surface *s)
{
    int32_t crossings = 0;
    for (int32_t t = 0; t < s->triangle_count; t++)
        for (int32_t k = 0; k < 3 * s->triangle_count; k++) {
            const int32_t *face = s->triangles + 3 * (size_t)t;
            const int32_t p = s->triangles[k], q = s->triangles[k % 3 == 2 ? k - 2 : k + 1];
            if ((t >= s->body_triangles && k >= 3 * s->body_triangles) || p == face[0] || p == face[1] ||
                p == face[2] || q == face[0] || q == face[1] || q == face[2])
                continue;
            crossings += segment_crosses(s->x + 3 * (size_t)p, s->x + 3 * (size_t)q, s->x + 3 * (size_t)face[0],
                                         s->x + 3 * (size_t)face[1], s->x + 3 * (size_t)face[2]);
        }
    return crossings;
}

/* Number of edges of the world's surface that pass through one of its triangles. */
static inline int32_t count_crossings(const sinew_world *world)
{
    crossing_surface s = crossing_surface_of(world);
    const int32_t crossings = crossings_of_surface(&s);
    crossing_surface_release(&s);
    return crossings;
}

#endif
