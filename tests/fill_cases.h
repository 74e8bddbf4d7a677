/* SPDX-License-Identifier: MIT
 *
 * fill_cases.h: generated surfaces with generated damage: holes, duplicated and flipped triangles, noise, intersecting
 * components, thin walls, several components.
 */
#ifndef SINEW_FILL_CASES_H
#define SINEW_FILL_CASES_H

#include "make_world.h"
#include "random_cases.h"

/* A growing list of triangles. */
typedef struct soup {
    sinew_real *x; /* [3 * vertex_count] */
    int32_t *triangles;
    int32_t vertex_count, count;
} soup;

static inline void soup_add(soup *s, const sinew_mesh *mesh, const double shift[3])
{
    sinew_error error = {0};
    sinew_mesh *surface = sinew_mesh_surface(mesh, &error);
    must(&error);
    const int32_t vertices = sinew_mesh_vertex_count(surface), count = sinew_mesh_triangle_count(surface);
    s->x = realloc(s->x, 3 * (size_t)(s->vertex_count + vertices) * sizeof *s->x);
    /* doubled capacity: some triangles are duplicated later */
    s->triangles = realloc(s->triangles, 6 * (size_t)(s->count + count) * sizeof *s->triangles);
    assert_true(s->x && s->triangles);
    for (int32_t i = 0; i < 3 * vertices; i++)
        s->x[3 * s->vertex_count + i] = sinew_mesh_positions(surface)[i] + (sinew_real)shift[i % 3];
    for (int32_t i = 0; i < 3 * count; i++)
        s->triangles[3 * s->count + i] = sinew_mesh_triangles(surface)[i] + s->vertex_count;
    s->vertex_count += vertices;
    s->count += count;
    sinew_mesh_destroy(surface);
}

static inline sinew_mesh *soup_mesh(const soup *s)
{
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = s->vertex_count;
    def.positions = s->x;
    def.triangle_count = s->count;
    def.triangles = s->triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    return mesh;
}

static inline void soup_free(soup *s)
{
    free(s->x);
    free(s->triangles);
    *s = (soup){0};
}

/* A random one of five shapes, about one metre wide. */
static inline sinew_mesh *some_shape(random_cases *r)
{
    sinew_error error = {0};
    sinew_round_def round = sinew_default_round_def();
    sinew_box_def box = sinew_default_box_def();
    static sinew_mesh *(*const makers[4])(const sinew_round_def *, sinew_error *) = {
        sinew_mesh_ball, sinew_mesh_torus, sinew_mesh_tube, sinew_mesh_cylinder};
    const int which = random_index(r, 5);
    for (int c = 0; c < 3; c++)
        box.vertices[c] = 2 + random_index(r, 4);
    sinew_mesh *mesh = which < 4 ? makers[which](&round, &error) : sinew_mesh_box(&box, &error);
    must(&error);
    return mesh;
}

static inline void cut_holes(soup *s, random_cases *r)
{
    for (int32_t n = 1 + random_index(r, 1 + s->count / 8); n > 0 && s->count > 4; n--) {
        const int32_t gone = random_index(r, s->count--);
        memmove(s->triangles + 3 * gone, s->triangles + 3 * s->count, 3 * sizeof *s->triangles);
    }
}

static inline void double_some(soup *s, random_cases *r)
{
    const int32_t count = s->count;
    for (int32_t n = 1 + random_index(r, count); n > 0; n--)
        memcpy(s->triangles + 3 * s->count++, s->triangles + 3 * random_index(r, count), 3 * sizeof *s->triangles);
}

static inline void turn_some(soup *s, random_cases *r)
{
    for (int32_t n = 1 + random_index(r, s->count); n > 0; n--) {
        int32_t *t = s->triangles + 3 * random_index(r, s->count), swap = t[1];
        t[1] = t[2];
        t[2] = swap;
    }
}

static inline void add_noise(soup *s, random_cases *r)
{
    const double size = random_magnitude(r, 1e-4, 0.1);
    for (int32_t i = 0; i < 3 * s->vertex_count; i++)
        s->x[i] += (sinew_real)random_between(r, -size, size);
}

static inline void add_part(soup *s, random_cases *r)
{
    sinew_mesh *more = some_shape(r);
    const double far = random_index(r, 2) ? 0.6 : 1.2;
    const double shift[3] = {random_between(r, -far, far), random_between(r, -far, far), random_between(r, -far, far)};
    soup_add(s, more, shift);
    sinew_mesh_destroy(more);
}

static inline void make_thin(soup *s, random_cases *r)
{
    const double factor = random_magnitude(r, 1e-3, 0.2);
    const int axis = random_index(r, 3);
    for (int32_t v = 0; v < s->vertex_count; v++)
        s->x[3 * v + axis] *= (sinew_real)factor;
}

/* A shape with up to three kinds of damage. */
static inline sinew_mesh *damaged_surface(random_cases *r)
{
    static void (*const damages[6])(soup *, random_cases *) = {cut_holes, double_some, turn_some,
                                                               add_noise, add_part,    make_thin};
    soup s = {0};
    sinew_mesh *shape = some_shape(r);
    soup_add(&s, shape, (const double[3]){0, 0, 0});
    sinew_mesh_destroy(shape);
    bool doubled = false;
    for (int n = random_index(r, 4); n > 0; n--) {
        const int which = random_index(r, 6);
        if (which == 1 && doubled)
            continue;
        doubled = doubled || which == 1;
        damages[which](&s, r);
    }
    sinew_mesh *mesh = soup_mesh(&s);
    soup_free(&s);
    return mesh;
}

#endif
