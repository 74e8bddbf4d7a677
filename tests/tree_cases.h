/* SPDX-License-Identifier: MIT
 *
 * tree_cases.h: random primitives for tests of the BVH: soups, surfaces, slivers, coincident primitives, of all sizes
 * and positions; and difficult query points and rays: at corners, on edges, far away, along axes.
 */
#ifndef SINEW_TREE_CASES_H
#define SINEW_TREE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_cases.h"
#include "sinew/tree.h"

typedef struct tree_case {
    int32_t vertex_count, cell_count, width;
    sinew_real *positions;
    int32_t *cells;
    double size, offset[3]; /* positions are offset plus about size */
} tree_case;

enum {
    CASE_SOUP,     /* small primitives at random positions */
    CASE_SHARED,   /* primitives over few vertices: shared edges, repeated corners */
    CASE_SURFACE,  /* a bumpy ball */
    CASE_LATTICE,  /* corners at few integer coordinates: many ties */
    CASE_SLIVERS,  /* corners almost or exactly collinear */
    CASE_ONE_SPOT, /* all coincident */
    CASE_SCALES,   /* sizes over many orders of magnitude */
    CASE_LARGE,    /* primitives as large as the whole case */
    CASE_KINDS
};

static inline double case_normal(random_cases *r)
{
    return random_between(r, -1, 1) + random_between(r, -1, 1) + random_between(r, -1, 1);
}

static inline void case_set(const tree_case *c, int32_t vertex, double x, double y, double z)
{
    const double unit[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        c->positions[3 * (size_t)vertex + (size_t)k] = (sinew_real)(c->offset[k] + c->size * unit[k]);
}

/* Separate corners of primitive `cell`, near each other. */
static inline void case_cell(random_cases *r, const tree_case *c, int32_t cell, double spread)
{
    double x[3] = {random_between(r, -1, 1), random_between(r, -1, 1), random_between(r, -1, 1)};
    for (int32_t i = 0; i < c->width; i++) {
        const int32_t vertex = c->width * cell + i;
        case_set(c, vertex, x[0] + spread * case_normal(r), x[1] + spread * case_normal(r),
                 x[2] + spread * case_normal(r));
        c->cells[(size_t)vertex] = vertex;
    }
}

/* Third corners on the line of the other two, up to rounding. */
static inline void case_sliver(random_cases *r, const tree_case *c, int32_t cell)
{
    case_cell(r, c, cell, 0.5);
    const double t = random_index(r, 4) ? random_between(r, -1, 2) : (double)random_index(r, 3);
    sinew_real *x = c->positions + 3 * (size_t)(c->width * cell);
    for (int k = 0; k < 3 && c->width == 3; k++)
        x[6 + k] = (sinew_real)((double)x[k] + t * ((double)x[3 + k] - (double)x[k]));
}

static inline void case_surface(random_cases *r, const tree_case *c)
{
    const double bumps = random_between(r, 0, 0.3);
    for (int32_t i = 0; i < c->vertex_count; i++) {
        const double z = random_between(r, -1, 1), turn = random_between(r, 0, 6.2831853), flat = sqrt(1 - z * z);
        const double radius = 1 + bumps * sin(5 * z) * cos(3 * turn);
        case_set(c, i, radius * flat * cos(turn), radius * flat * sin(turn), radius * z);
    }
}

static inline void case_positions(random_cases *r, const tree_case *c, int kind)
{
    for (int32_t i = 0; i < c->cell_count; i++) {
        if (kind == CASE_SOUP)
            case_cell(r, c, i, 0.1);
        else if (kind == CASE_LARGE)
            case_cell(r, c, i, 1);
        else if (kind == CASE_SLIVERS)
            case_sliver(r, c, i);
        else if (kind == CASE_SCALES)
            case_cell(r, c, i, random_magnitude(r, 1e-12, 10));
    }
    for (int32_t i = 0; i < c->vertex_count; i++) {
        if (kind == CASE_ONE_SPOT)
            case_set(c, i, 0.3, -0.2, 0.1);
        else if (kind == CASE_LATTICE)
            case_set(c, i, random_index(r, 4), random_index(r, 4), random_index(r, 3));
        else if (kind == CASE_SHARED)
            case_set(c, i, case_normal(r), case_normal(r), case_normal(r));
    }
    if (kind == CASE_SURFACE)
        case_surface(r, c);
}

/* A case of up to `max` primitives of `width` corners, sometimes with extreme sizes and positions. */
static inline tree_case case_make(random_cases *r, int kind, int32_t width, int32_t max)
{
    tree_case c = {.width = width, .size = 1};
    const double limit = sizeof(sinew_real) == sizeof(float) ? 1e15 : 1e30;
    c.cell_count = random_index(r, 8) ? 1 + random_index(r, max) : 1 + random_index(r, 9);
    const bool shared = kind == CASE_SHARED || kind == CASE_SURFACE || kind == CASE_LATTICE;
    c.vertex_count = shared ? 3 + random_index(r, c.cell_count) : c.cell_count * width;
    c.positions = malloc(3 * (size_t)c.vertex_count * sizeof *c.positions);
    c.cells = malloc((size_t)(width * c.cell_count) * sizeof *c.cells);
    assert_true(c.positions && c.cells);
    if (random_index(r, 3) == 0)
        c.size = random_magnitude(r, 1 / limit, limit);
    for (int k = 0; k < 3 && random_index(r, 3) == 0; k++)
        c.offset[k] = c.size * random_between(r, -1, 1) * random_magnitude(r, 1, 1e5);
    for (int32_t i = 0; i < width * c.cell_count; i++)
        c.cells[i] = shared ? random_index(r, c.vertex_count) : i;
    case_positions(r, &c, kind);
    return c;
}

static inline void case_release(tree_case *c)
{
    free(c->positions);
    free(c->cells);
}

static inline sinew_tree_def case_def(const tree_case *c)
{
    sinew_tree_def def = sinew_default_tree_def();
    def.vertex_count = c->vertex_count;
    def.positions = c->positions;
    def.cell_count = c->cell_count;
    def.width = c->width;
    def.cells = c->cells;
    def.thread_count = 1;
    return def;
}

static inline sinew_tree *case_tree(const tree_case *c)
{
    const sinew_tree_def def = case_def(c);
    sinew_error error;
    sinew_tree *tree = sinew_tree_create(&def, &error);
    if (!tree)
        fail_msg("%s", error.text);
    return tree;
}

/* A point of a primitive: at a corner, on an edge or inside. */
static inline void case_point_on(random_cases *r, const tree_case *c, double x[3])
{
    const int32_t cell = random_index(r, c->cell_count), how = random_index(r, 4);
    double weights[3] = {1, 0, 0};
    if (how > 0 && c->width > 1)
        weights[0] = 1 - (weights[1] = how == 1 ? 0.5 : random_between(r, 0, 1));
    if (how == 3 && c->width > 2)
        weights[0] -= weights[2] = weights[0] * random_between(r, 0, 1);
    for (int k = 0; k < 3; k++) {
        x[k] = 0;
        for (int32_t i = 0; i < c->width; i++)
            x[k] += weights[i] * (double)c->positions[3 * (size_t)c->cells[c->width * cell + i] + (size_t)k];
    }
}

/* A query point: on a primitive, near one, around all, or far away. */
static inline void case_point(random_cases *r, const tree_case *c, sinew_real p[3])
{
    const int how = random_index(r, 6);
    const double away = how == 1   ? c->size * random_magnitude(r, 1e-8, 1)
                        : how == 2 ? c->size * random_magnitude(r, 1, 1e12)
                                   : 0;
    double x[3];
    case_point_on(r, c, x);
    for (int k = 0; k < 3; k++) {
        if (how >= 3)
            x[k] =
                c->offset[k] + c->size * (how == 3 ? (double)(random_index(r, 9) - 2) / 2 : random_between(r, -2, 2));
        p[k] = (sinew_real)(x[k] + away * case_normal(r));
    }
}

#endif
