/* SPDX-License-Identifier: MIT
 *
 * detect_cases.h: random surfaces for tests of detection: soups, sheets, ropes, particles, spheres and capsules at any
 * scale, and slow independent algorithms for their distances.
 */
#ifndef SINEW_DETECT_CASES_H
#define SINEW_DETECT_CASES_H

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collide/candidates.h"
#include "random_cases.h"

/* Round-off relative to the size of a case. Minimising a squared distance determines the weights of nearly parallel
 * edges only to the root of round-off. */
#ifdef SINEW_SINGLE
#define CASE_ROUND_OFF    2e-6
#define CASE_FLAT_WEIGHTS 1e-5
#else
#define CASE_ROUND_OFF    1e-13
#define CASE_FLAT_WEIGHTS 1e-7
#endif

enum {
    CASE_OBJECTS = 5,
    CASE_VERTICES = 40, /* maximum per object */
    CASE_TRIANGLES = 48
};

typedef enum object_kind {
    OBJECT_SOUP = 0, /* triangles with separate vertices */
    OBJECT_SHEET,    /* a crumpled grid */
    OBJECT_ANYHOW,   /* triangles of random vertices, also duplicates */
    OBJECT_ROPE,
    OBJECT_POINTS,
    OBJECT_KINDS
} object_kind;

typedef struct detect_case {
    int32_t object_count;
    sinew_collision_object objects[CASE_OBJECTS];
    sinew_object_primitives primitives[CASE_OBJECTS];
    bool lone[CASE_OBJECTS];
    int32_t triangles[CASE_OBJECTS][3 * CASE_TRIANGLES];
    int32_t edges[CASE_OBJECTS][2 * CASE_VERTICES];
    double size; /* m: about the largest coordinate */
    sinew_collision_mesh mesh;
    sinew_real *x;                /* [vertex_count][4] */
    sinew_real *inflation_radius; /* [vertex_count] */
    sinew_real *known_predicted;  /* [vertex_count][4] displacements and radii of trust regions */
    sinew_real *predicted;        /* size as above, or NULL: detection without displacements */
    int32_t known_islands[CASE_OBJECTS];
    const int32_t *island; /* known_islands, or NULL: each object has its own lambda */
} detect_case;

/* ---- Random cases -------------------------------------------------------------------------------- */

static inline void add_triangle(detect_case *c, int32_t o, int32_t a, int32_t b, int32_t d)
{
    int32_t *t = c->triangles[o] + 3 * c->primitives[o].triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = d;
}

static inline void add_edge(detect_case *c, int32_t o, int32_t a, int32_t b)
{
    int32_t *e = c->edges[o] + 2 * c->primitives[o].edge_count++;
    e[0] = a;
    e[1] = b;
}

static inline int32_t case_sheet(detect_case *c, int32_t o)
{
    const int32_t n = 5;
    for (int32_t i = 0; i + 1 < n; i++)
        for (int32_t j = 0; j + 1 < n; j++) {
            const int32_t a = n * i + j;
            add_triangle(c, o, a, a + n, a + n + 1);
            add_triangle(c, o, a, a + n + 1, a + 1);
        }
    return n * n;
}

/* Fills the primitives of an object; returns its number of vertices. */
static inline int32_t case_cells(random_cases *r, detect_case *c, int32_t o, object_kind kind)
{
    const int32_t count = 1 + random_index(r, 12);
    if (kind == OBJECT_SOUP)
        for (int32_t i = 0; i < count; i++)
            add_triangle(c, o, 3 * i, 3 * i + 1, 3 * i + 2);
    if (kind == OBJECT_ANYHOW) {
        for (int32_t i = 0; i < 2 * count; i++)
            add_triangle(c, o, random_index(r, count + 3), random_index(r, count + 3), random_index(r, count + 3));
        for (int i = 0; i < 3; i++) /* duplicates the last triangle */
            c->triangles[o][3 * c->primitives[o].triangle_count + i] =
                c->triangles[o][3 * c->primitives[o].triangle_count - 3 + i];
        c->primitives[o].triangle_count++;
    }
    if (kind == OBJECT_ROPE)
        for (int32_t i = 0; i < count; i++)
            add_edge(c, o, i, i + 1);
    const int32_t vertices[OBJECT_KINDS] = {3 * count, 0, count + 3, count + 1, count};
    return kind == OBJECT_SHEET ? case_sheet(c, o) : vertices[kind];
}

/* Creates bodies first, then colliders; positions are drawn later. */
static inline void case_objects(random_cases *r, detect_case *c)
{
    int32_t first = 0;
    c->object_count = 1 + random_index(r, CASE_OBJECTS);
    const int32_t bodies = 1 + random_index(r, c->object_count);
    for (int32_t o = 0; o < c->object_count; o++) {
        const object_kind kind = random_index(r, OBJECT_KINDS);
        c->primitives[o] = (sinew_object_primitives){.triangles = c->triangles[o], .edges = c->edges[o]};
        c->lone[o] = kind == OBJECT_POINTS || random_index(r, 2);
        const int32_t count = case_cells(r, c, o, kind);
        const bool core = kind >= OBJECT_ROPE && random_index(r, 2);
        c->objects[o] = (sinew_collision_object){.body = o < bodies ? o : -1,
                                                 .collider = o < bodies ? -1 : o,
                                                 .first_vertex = first,
                                                 .vertex_count = count,
                                                 .radius = core ? random_between(r, 0, 0.2) : 0,
                                                 .kinematic = o >= bodies};
        first += count;
    }
}

/* Positions: random, on a coarse lattice (so that many coincide), or almost or exactly in planes. */
static inline void case_points(random_cases *r, detect_case *c)
{
    const int how = random_index(r, 4);
    const double max = random_magnitude(r, 1e-3, 0.3);
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        const int32_t o = c->mesh.object[v];
        for (int k = 0; k < 3; k++) {
            double at = random_between(r, -1, 1);
            if (how == 1)
                at = floor(3 * at) / 3;
            if (how >= 2 && k == 2)
                at = 0.05 * o + (how == 3 ? random_between(r, -1e-9, 1e-9) : 0);
            c->x[4 * v + k] = (sinew_real)at;
        }
        c->x[4 * v + 3] = 0;
        c->inflation_radius[v] = (sinew_real)random_between(r, 0, max);
    }
}

/* Points of a sheet lie near a wavy plane, so that its triangles have an area. */
static inline void case_waves(random_cases *r, detect_case *c)
{
    for (int32_t o = 0; o < c->object_count; o++) {
        if (c->primitives[o].triangle_count != 32 || c->objects[o].vertex_count != 25)
            continue;
        const double height = random_between(r, -1, 1), wave = random_between(r, 0, 0.5);
        for (int32_t i = 0; i < 25; i++) {
            sinew_real *x = c->x + 4 * (c->objects[o].first_vertex + i);
            x[0] = (sinew_real)(0.3 * (i % 5) - 0.6);
            x[1] = (sinew_real)(height + wave * sin(2.0 * (i % 5) + i / 5));
            x[2] = (sinew_real)(0.3 * (i / 5) - 0.6);
        }
    }
}

static inline void case_scale(random_cases *r, detect_case *c)
{
    const double scale = random_magnitude(r, 1e-6, 1e6), shift = random_index(r, 2) ? random_between(r, -3, 3) : 0;
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] = (sinew_real)(scale * ((double)c->x[4 * v + k] + shift));
        c->inflation_radius[v] = (sinew_real)(scale * (double)c->inflation_radius[v]);
    }
    for (int32_t o = 0; o < c->object_count; o++)
        c->mesh.objects[o].radius *= scale;
    c->size = scale * (1 + fabs(shift));
}

/* Predicted displacements: objects fall, spin and shrink, or their vertices move at random. Some objects do not move.
 */
static inline void case_ways(random_cases *r, detect_case *c)
{
    for (int32_t o = 0; o < c->object_count; o++) {
        const sinew_collision_object *object = &c->objects[o];
        const int how = random_index(r, 4);
        const double far = c->size * random_magnitude(r, 1e-3, 1), spin = how == 1 ? random_between(r, -1, 1) : 0;
        const double shrink = how == 2 ? random_between(r, -0.5, 0.5) : 0, rough = how == 3 ? 0.3 * c->size : 0;
        double fall[3];
        for (int k = 0; k < 3; k++)
            fall[k] = how ? far * random_between(r, -1, 1) : 0;
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
            const sinew_real *x = c->x + 4 * v;
            for (int k = 0; k < 3; k++)
                c->known_predicted[4 * v + k] =
                    (sinew_real)(fall[k] + spin * (double)x[(k + 1) % 3] - spin * (double)x[(k + 2) % 3] -
                                 shrink * (double)x[k] + random_between(r, -rough, rough));
        }
    }
}

/* Thicknesses, radii of trust regions, islands of bodies, and shapes at rest: the present ones, scaled, or none. */
static inline void case_freedom(random_cases *r, detect_case *c)
{
    const double ball = c->size * random_magnitude(r, 1e-3, 0.3) * random_index(r, 3);
    const double scale = random_index(r, 3) * random_between(r, 0.3, 1.2);
    for (int32_t o = 0; o < c->object_count; o++) {
        c->mesh.objects[o].half_thickness = random_index(r, 4) ? c->size * random_magnitude(r, 1e-3, 0.2) : 0;
        c->known_islands[o] = o;
        if (o > 0 && !c->objects[o].kinematic && random_index(r, 2))
            c->known_islands[o] = c->known_islands[random_index(r, o)];
    }
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        c->known_predicted[4 * v + 3] = (sinew_real)random_between(r, 0, ball);
        for (int k = 0; k < 3; k++)
            c->mesh.rest[4 * v + k] = (sinew_real)(scale * (double)c->x[4 * v + k]);
    }
    c->island = random_index(r, 2) ? c->known_islands : NULL;
}

static inline detect_case *detect_case_make(random_cases *r)
{
    detect_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    case_objects(r, c);
    sinew_error error;
    assert_int_equal(
        sinew_collision_mesh_create(&c->mesh, NULL, c->objects, c->primitives, c->lone, c->object_count, &error),
        SINEW_OK);
    for (int32_t a = 0; a < c->object_count; a++)
        for (int32_t b = 0; b <= a; b++) {
            const uint8_t may = random_index(r, 4) > 0;
            c->mesh.may_collide[a * c->object_count + b] = c->mesh.may_collide[b * c->object_count + a] = may;
        }
    c->x = calloc(4 * (size_t)c->mesh.vertex_count + 4, sizeof *c->x);
    c->inflation_radius = calloc((size_t)c->mesh.vertex_count + 1, sizeof *c->inflation_radius);
    c->known_predicted = calloc(4 * (size_t)c->mesh.vertex_count + 4, sizeof *c->known_predicted);
    assert_true(c->x && c->inflation_radius && c->known_predicted);
    case_points(r, c);
    case_waves(r, c);
    case_scale(r, c);
    case_ways(r, c);
    case_freedom(r, c);
    c->predicted = random_index(r, 3) ? c->known_predicted : NULL;
    return c;
}

static inline void detect_case_release(detect_case *c)
{
    sinew_collision_mesh_destroy(&c->mesh);
    free(c->x);
    free(c->inflation_radius);
    free(c->known_predicted);
    free(c);
}

static inline sinew_detector *case_detector(const detect_case *c, int32_t threads)
{
    sinew_detector *detector;
    sinew_error error;
    assert_int_equal(sinew_detector_create(&detector, &c->mesh, threads, &error), SINEW_OK);
    return detector;
}

static inline bool has_vertex(const int32_t *primitive, int32_t v)
{
    return primitive[0] == v || primitive[1] == v || primitive[2] == v;
}

/* ---- Reference distances ------------------------------------------------------------------------- */

/* Normal equations of nearly parallel directions need twice the digits. */
#if defined(__x86_64__)
__extension__ typedef __float128 real;
#else
typedef long double real;
#endif

static inline real referee_lower(real a, real b)
{
    return a < b ? a : b;
}

static inline real referee_higher(real a, real b)
{
    return a < b ? b : a;
}

static inline real referee_root(real a)
{
    return (real)sqrtl((long double)a);
}

static inline real referee_dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* min |z + sum s_i e_i| over s >= 0, sum s <= 1 (triangle), or 0 <= s_i <= 1 (not): over all active sets. `n` <= 2. */
static inline real referee_min(const real z[3], real (*e)[3], int n, bool triangle)
{
    if (n == 0)
        return referee_root(referee_dot(z, z));
    real best = (real)HUGE_VALL, moved[3], rest[1][3];
    /* One coordinate is fixed at a bound. */
    for (int i = 0; i < n; i++)
        for (int at = 0; at < 2; at++) {
            if (triangle && at == 1)
                continue;
            for (int k = 0; k < 3; k++) {
                moved[k] = z[k] + (real)at * e[i][k];
                rest[0][k] = n == 2 ? e[1 - i][k] : 0;
            }
            best = referee_lower(best, referee_min(moved, rest, n - 1, false));
        }
    if (triangle) { /* the side on which the sum is 1 */
        for (int k = 0; k < 3; k++) {
            moved[k] = z[k] + e[0][k];
            rest[0][k] = e[1][k] - e[0][k];
        }
        best = referee_lower(best, referee_min(moved, rest, 1, false));
    }
    /* No active bound: normal equations. */
    const real a = referee_dot(e[0], e[0]), b = n == 2 ? referee_dot(e[0], e[1]) : 0;
    const real d = n == 2 ? referee_dot(e[1], e[1]) : 1, f = -referee_dot(e[0], z);
    const real g = n == 2 ? -referee_dot(e[1], z) : 0, det = a * d - b * b;
    const real s = (f * d - g * b) / det, t = (a * g - b * f) / det;
    if (det > 0 && s > 0 && s < 1 && (n == 1 || (t > 0 && t < 1 && (!triangle || s + t < 1)))) {
        for (int k = 0; k < 3; k++)
            moved[k] = z[k] + s * e[0][k] + (n == 2 ? t * e[1][k] : 0);
        /* One step of refinement reduces the errors along nearly parallel directions. */
        const real more = n == 2 ? -referee_dot(e[1], moved) / d : 0;
        for (int k = 0; k < 3 && n == 2 && t + more > 0 && (triangle ? s : 0) + t + more < 1; k++)
            moved[k] += more * e[1][k];
        best = referee_lower(best, referee_root(referee_dot(moved, moved)));
    }
    return best;
}

/* The distance of a pair, from its vertices v and its kind. */
static inline real referee_distance(const int32_t v[4], int kind, const sinew_real *x)
{
    real z[3], e[2][3];
    for (int k = 0; k < 3; k++) {
        real p[4];
        for (int a = 0; a < 4; a++)
            p[a] = (real)x[4 * v[a] + k];
        z[k] = kind == SINEW_CANDIDATE_EDGE_EDGE ? p[0] - p[2] : p[0] - p[1];
        e[0][k] = kind == SINEW_CANDIDATE_EDGE_EDGE ? p[1] - p[0] : p[1] - p[2];
        e[1][k] = kind == SINEW_CANDIDATE_EDGE_EDGE ? p[2] - p[3] : p[1] - p[3];
    }
    return referee_min(z, e, 2, kind == SINEW_CANDIDATE_VERTEX_FACE);
}

/* The exact distance lies between that of the weighted points and the separation along n, for any weights. Checks that
 * both agree. An error of z rotates n by that error over |z|, which changes the separation. Borders (a weight is zero)
 * are selected by |z|^2, whose error of 8 DBL_EPSILON leaves an error of |z| sqrt(8 DBL_EPSILON) in z. */
static inline bool referee_agrees(const sinew_candidate *pair, const sinew_real *x, double size, double round_off)
{
    real z[3] = {0}, first = (real)HUGE_VALL, second = -(real)HUGE_VALL;
    bool border = false;
    for (int a = 0; a < 4; a++) {
        real along = 0;
        for (int k = 0; k < 3; k++) {
            z[k] += (real)pair->w[a] * (real)x[4 * pair->v[a] + k];
            along += (real)pair->n[k] * (real)x[4 * pair->v[a] + k];
        }
        const bool of_first = pair->kind == SINEW_CANDIDATE_EDGE_EDGE ? a < 2 : a < 1;
        border = border || pair->w[a] == 0;
        first = of_first ? referee_lower(first, along) : first;
        second = of_first ? second : referee_higher(second, along);
    }
    const real distance = referee_root(referee_dot(z, z)), slack = distance - referee_higher(first - second, 0);
    const real error = (real)(round_off * size), choice = border ? distance * (real)sqrt(8 * DBL_EPSILON) : 0;
    return slack * distance <= referee_higher(error, choice) * (distance + (real)size);
}

#endif
