/* SPDX-License-Identifier: MIT
 *
 * shape.c: growing arrays of triangles that are drawn, and triangulated tubes and balls.
 *
 * Balls are icosahedra whose triangles are divided by four `detail` times. Their normals are those of the exact ball,
 * so only the outline deviates from a circle.
 */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

/* ---- Arrays of a shape ------------------------------------------------------------------------ */

void shape_free(shape *s)
{
    free(s->points);
    free(s->triangles);
    free(s->normals);
    free(s->values);
    free(s->paints);
    free(s->paint);
    *s = (shape){0};
}

/* Grows `array` to `capacity` items of `size` bytes. Returns false and keeps the array if memory is short. */
static bool resize(void **array, int64_t capacity, size_t size)
{
    void *larger = realloc(*array, (size_t)capacity * size);
    if (larger)
        *array = larger;
    return larger != NULL;
}

void shape_reserve(shape *s, int64_t vertices, int64_t triangles)
{
    const int64_t v = s->vertex_count + vertices, t = s->triangle_count + triangles;
    if (v > INT32_MAX / 3 || t > INT32_MAX / 9)
        s->failed = true;
    if (!s->failed && v > s->vertex_capacity) {
        const int64_t capacity = v + v / 2 + 16;
        s->failed = !resize((void **)&s->points, 3 * capacity, sizeof *s->points);
        s->vertex_capacity = s->failed ? s->vertex_capacity : (int32_t)capacity;
    }
    if (!s->failed && t > s->triangle_capacity) {
        const int64_t capacity = t + t / 2 + 16;
        s->failed = !(resize((void **)&s->triangles, 3 * capacity, sizeof *s->triangles) &&
                      resize((void **)&s->normals, 9 * capacity, sizeof *s->normals) &&
                      resize((void **)&s->values, 3 * capacity, sizeof *s->values) &&
                      resize((void **)&s->paints, capacity, sizeof *s->paints));
        s->triangle_capacity = s->failed ? s->triangle_capacity : (int32_t)capacity;
    }
}

int32_t shape_add_point(shape *s, const double point[3])
{
    shape_reserve(s, 1, 0);
    if (s->failed)
        return 0;
    memcpy(s->points + 3 * (size_t)s->vertex_count, point, 3 * sizeof *point);
    return s->vertex_count++;
}

int32_t shape_add_paint(shape *s, shape_paint paint)
{
    if (s->failed || !resize((void **)&s->paint, s->paint_count + 1, sizeof *s->paint)) {
        s->failed = true;
        return 0;
    }
    s->paint[s->paint_count] = paint;
    return s->paint_count++;
}

/* Unit normal of a triangle's face; zero for a triangle without area. */
static vec3 face_normal(const shape *s, const int32_t corners[3])
{
    double e[2][3], n[3];
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            e[i][c] = s->points[3 * (size_t)corners[i + 1] + (size_t)c] - s->points[3 * (size_t)corners[0] + (size_t)c];
    double length = 0;
    for (int c = 0; c < 3; c++) {
        n[c] = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
        length += n[c] * n[c];
    }
    length = sqrt(length);
    return length > 0 ? vec((float)(n[0] / length), (float)(n[1] / length), (float)(n[2] / length)) : vec(0, 0, 0);
}

static void set_normal(shape *s, int32_t triangle, int corner, vec3 n)
{
    float *at = s->normals + 9 * (size_t)triangle + 3 * corner;
    at[0] = n.x;
    at[1] = n.y;
    at[2] = n.z;
}

int32_t shape_add_triangle(shape *s, int32_t a, int32_t b, int32_t c, int32_t paint)
{
    shape_reserve(s, 0, 1);
    if (s->failed)
        return 0;
    const int32_t t = s->triangle_count++, corners[3] = {a, b, c};
    memcpy(s->triangles + 3 * (size_t)t, corners, sizeof corners);
    const vec3 n = face_normal(s, corners);
    for (int i = 0; i < 3; i++) {
        set_normal(s, t, i, n);
        s->values[3 * (size_t)t + (size_t)i] = NAN;
    }
    s->paints[t] = (uint16_t)paint;
    return t;
}

/* ---- Tubes made of triangles ------------------------------------------------------------------ */

int32_t shape_detail(int64_t count)
{
    return count <= 300 ? 2 : count <= 2500 ? 1 : 0;
}

/* Number of sides of a tube for each level of detail; at the finest, its outline deviates from the circle by 1/100
 * of the radius. */
static const int32_t tube_sides[3] = {6, 12, 24};

/* Adds one side of a tube: two triangles between the cross directions n0 and n1. */
static void add_side(shape *s, const int32_t corner[4], vec3 n0, vec3 n1, const float values[2], int32_t paint)
{
    static const int order[2][3] = {{0, 1, 2}, {1, 3, 2}};
    for (int half = 0; half < 2 && !s->failed; half++) {
        const int *o = order[half];
        const int32_t t = shape_add_triangle(s, corner[o[0]], corner[o[1]], corner[o[2]], paint);
        for (int i = 0; i < 3 && !s->failed; i++) {
            set_normal(s, t, i, o[i] % 2 ? n1 : n0);
            s->values[3 * (size_t)t + (size_t)i] = values[o[i] / 2];
        }
    }
}

void shape_add_tube(shape *s, const double a[3], const double b[3], double radius, float value_a, float value_b,
                    int32_t detail, int32_t paint)
{
    const double axis[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(length > 0) || !(radius > 0))
        return;
    const int32_t sides = tube_sides[detail], first = s->vertex_count;
    const float values[2] = {value_a, value_b};
    vec3 u, v;
    vec_frame(vec((float)(axis[0] / length), (float)(axis[1] / length), (float)(axis[2] / length)), &u, &v);
    vec3 around[24];
    for (int32_t i = 0; i < sides; i++) {
        const float angle = 6.2831853f * (float)i / (float)sides;
        around[i] = vec_along(vec_scale(u, cosf(angle)), sinf(angle), v);
        const double d[3] = {around[i].x, around[i].y, around[i].z};
        for (int end = 0; end < 2; end++) {
            const double *at = end ? b : a;
            shape_add_point(s, (const double[3]){at[0] + radius * d[0], at[1] + radius * d[1], at[2] + radius * d[2]});
        }
    }
    for (int32_t i = 0; i < sides && !s->failed; i++) {
        const int32_t next = (i + 1) % sides;
        const int32_t corner[4] = {first + 2 * i, first + 2 * next, first + 2 * i + 1, first + 2 * next + 1};
        add_side(s, corner, around[i], around[next], values, paint);
    }
}

/* ---- Balls made of triangles ------------------------------------------------------------------ */

typedef struct ball {
    shape *s;
    const double *centre;
    double radius;
    float value;
    int32_t paint;
} ball;

static void add_ball_triangle(const ball *b, const vec3 corner[3])
{
    int32_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = shape_add_point(b->s, (const double[3]){b->centre[0] + b->radius * (double)corner[i].x,
                                                        b->centre[1] + b->radius * (double)corner[i].y,
                                                        b->centre[2] + b->radius * (double)corner[i].z});
    const int32_t t = shape_add_triangle(b->s, at[0], at[1], at[2], b->paint);
    for (int i = 0; i < 3 && !b->s->failed; i++) {
        set_normal(b->s, t, i, corner[i]);
        b->s->values[3 * (size_t)t + (size_t)i] = b->value;
    }
}

/* Divides a triangle on the unit ball by four, recursively, `depth` times. */
static void divide_ball(const ball *b, const vec3 corner[3], int32_t depth)
{
    if (depth == 0) {
        add_ball_triangle(b, corner);
        return;
    }
    vec3 middle[3];
    for (int i = 0; i < 3; i++)
        middle[i] = vec_unit(vec_add(corner[i], corner[(i + 1) % 3]));
    for (int i = 0; i < 3; i++)
        divide_ball(b, (const vec3[3]){corner[i], middle[i], middle[(i + 2) % 3]}, depth - 1);
    divide_ball(b, middle, depth - 1);
}

void shape_add_ball(shape *s, const double centre[3], double radius, float value, int32_t detail, int32_t paint)
{
    static const float x = 0.525731112f, z = 0.850650808f;
    const vec3 corners[12] = {{-x, 0, z}, {x, 0, z},   {-x, 0, -z}, {x, 0, -z}, {0, z, x},  {0, z, -x},
                              {0, -z, x}, {0, -z, -x}, {z, x, 0},   {-z, x, 0}, {z, -x, 0}, {-z, -x, 0}};
    static const uint8_t faces[20][3] = {{0, 1, 4},  {0, 4, 9},  {9, 4, 5},  {4, 8, 5},  {4, 1, 8},
                                         {8, 1, 10}, {8, 10, 3}, {5, 8, 3},  {5, 3, 2},  {2, 3, 7},
                                         {7, 3, 10}, {7, 10, 6}, {7, 6, 11}, {11, 6, 0}, {0, 6, 1},
                                         {6, 10, 1}, {9, 11, 0}, {9, 2, 11}, {9, 5, 2},  {7, 11, 2}};
    const ball b = {s, centre, radius, value, paint};
    for (int f = 0; f < 20 && !s->failed; f++)
        divide_ball(&b, (const vec3[3]){corners[faces[f][0]], corners[faces[f][1]], corners[faces[f][2]]}, detail);
}
