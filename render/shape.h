/* SPDX-License-Identifier: MIT
 *
 * shape.h: growing lists of triangles (surfaces, tubes, balls) with normals, values and paints; and snapshots, which
 * hold one finished shape.
 *
 * Allocation failures set `failed`; the caller checks the flag once, at the end.
 */
#ifndef SINEW_RENDER_SHAPE_H
#define SINEW_RENDER_SHAPE_H

#include "picture.h"
#include "vector.h"

/* Appearance of a triangle, except for its value. */
typedef struct shape_paint {
    vec3 front, back; /* linear RGB colours of the triangle's two sides */
    bool by_value;    /* true: the triangle's values set its colour; the colour `back` is unused */
    bool lined;       /* true: the triangle's edges are drawn, as for tets that a cut exposes */
} shape_paint;

typedef struct shape {
    int32_t vertex_count, vertex_capacity;
    double *points; /* [3 * vertex_count] coordinates of the shape's vertices, in m */
    int32_t triangle_count, triangle_capacity;
    int32_t *triangles; /* [3 * triangle_count] vertices of each triangle */
    float *normals;     /* [9 * triangle_count] unit normals of the corners, on the side that is lit as the front */
    float *values;      /* [3 * triangle_count] values at the corners of each triangle; NaN: none */
    uint16_t *paints;   /* [triangle_count] index of each triangle's paint in the array `paint` */
    int32_t paint_count;
    shape_paint *paint; /* [paint_count] paints of the triangles */
    bool failed;        /* true: an allocation for the shape failed */
} shape;

void shape_free(shape *s);
/* Adds a vertex, a triangle or a paint and returns its index; returns 0 and adds nothing if `failed`. A new triangle
 * has the face's normal at its corners. */
int32_t shape_add_point(shape *s, const double point[3]);
int32_t shape_add_triangle(shape *s, int32_t a, int32_t b, int32_t c, int32_t paint);
int32_t shape_add_paint(shape *s, shape_paint paint);
/* Reserves capacity for the given numbers of further vertices and triangles, so that long lists are reallocated
 * once. */
void shape_reserve(shape *s, int64_t vertices, int64_t triangles);

/* Adds a round tube between two points, open at both ends, with one value at each end; or a ball with one value. A
 * larger detail gives more triangles; 0 is the coarsest. */
void shape_add_tube(shape *s, const double a[3], const double b[3], double radius, float value_a, float value_b,
                    int32_t detail, int32_t paint);
void shape_add_ball(shape *s, const double centre[3], double radius, float value, int32_t detail, int32_t paint);
/* Largest level of detail for which `count` balls and tubes stay below a few hundred thousand triangles. */
int32_t shape_detail(int64_t count);

/* Computes smooth normals of triangles first .. last - 1: the angle-weighted mean over faces at the same position whose
 * normals differ from the triangle's by at most `crease` (radians). Vertices at exactly the same position count as
 * one. */
void shape_smooth(shape *s, int32_t first, int32_t last, double crease);

/* ---- Snapshot as a struct --------------------------------------------------------------------- */

struct sinew_snapshot {
    shape shape;
    sinew_colour_kind colour;
    char label[64], unit[32]; /* name of the colour field and its unit, for the legend */
    int32_t class_count;      /* number of classes of SINEW_COLOUR_CLASS */
    int64_t left_out;         /* number of omitted triangles, edges and pins, see sinew_snapshot_left_out() */
    double bounds[6];         /* bounds of the shape's triangles in m; min > max: there are none */
    int32_t framed;           /* number of leading triangles that a fitted camera frames; large colliders follow them */
    bool floored;             /* true: the colliders include a horizontal plane */
    double floor;             /* height of the highest horizontal plane among the colliders, in m */
    double beneath;           /* lowest point in m of triangles that are not framed; infinite: there are none */
    bool valued;              /* true: the snapshot has finite values */
    double low, high;         /* range that contains 99 % of the snapshot's values */
    double lowest, highest;   /* smallest and largest of the snapshot's values */
};

#endif
