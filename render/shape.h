/* SPDX-License-Identifier: MIT
 *
 * shape.h: triangles that grow: surfaces, tubes, balls, each with normals, values and a paint; and snapshots, which are
 * one finished shape.
 *
 * Allocation failures are remembered in `failed` and asked for once, at the end.
 */
#ifndef SINEW_RENDER_SHAPE_H
#define SINEW_RENDER_SHAPE_H

#include "picture.h"
#include "vector.h"

/* How a triangle looks apart from its value. */
typedef struct shape_paint {
    vec3 front, back; /* linear colours of both sides */
    bool by_value;    /* coloured by its values instead, by the back's colour nowhere */
    bool lined;       /* its edges are drawn, as tets that a cut shows have them */
} shape_paint;

typedef struct shape {
    int32_t vertex_count, vertex_room;
    double *points; /* [3 * vertex_count] m */
    int32_t triangle_count, triangle_room;
    int32_t *triangles; /* [3 * triangle_count] */
    float *normals;     /* [9 * triangle_count] unit, of the corners; the side that is lit as front */
    float *values;      /* [3 * triangle_count] of the corners; not a number: none */
    uint16_t *paints;   /* [triangle_count] */
    int32_t paint_count;
    shape_paint *paint; /* [paint_count] */
    bool failed;        /* out of memory */
} shape;

void shape_free(shape *s);
/* Adds a vertex, a triangle, a paint; gives its number. Normals are the face's until they are set. */
int32_t shape_add_point(shape *s, const double point[3]);
int32_t shape_add_triangle(shape *s, int32_t a, int32_t b, int32_t c, int32_t paint);
int32_t shape_add_paint(shape *s, shape_paint paint);
/* Room for so many more triangles and vertices, so that long lists grow once. */
void shape_reserve(shape *s, int64_t vertices, int64_t triangles);

/* A round tube between two points, open at both ends, with a value at each; a ball with one value. More detail: more
 * triangles; 0 is the coarsest. */
void shape_add_tube(shape *s, const double a[3], const double b[3], double radius, float value_a, float value_b,
                    int32_t detail, int32_t paint);
void shape_add_ball(shape *s, const double centre[3], double radius, float value, int32_t detail, int32_t paint);
/* The most detail for which `count` balls and tubes stay below a few hundred thousand triangles. */
int32_t shape_detail(int64_t count);

/* Normals of triangles first .. last - 1: the mean, by angles, of those around a place whose faces differ by no more
 * than `crease` (radians) from the triangle's own. Vertices in exactly the same place count as one. */
void shape_smooth(shape *s, int32_t first, int32_t last, double crease);

/* ---- Snapshot -------------------------------------------------------------------------------- */

struct sinew_snapshot {
    shape shape;
    sinew_colour_kind colour;
    char label[64], unit[32]; /* for the legend */
    int32_t class_count;      /* SINEW_COLOUR_CLASS: how many there are */
    int64_t left_out;
    double bounds[6];       /* m, of the shape's triangles; min > max: there are none */
    int32_t framed;         /* the first triangles, which a fitted camera shows; large colliders follow them */
    bool floored;           /* a horizontal plane is among the colliders ... */
    double floor;           /* m: ... at this height, the highest of them */
    double beneath;         /* m: the lowest point of what is not framed; infinite: there is nothing */
    bool valued;            /* there are finite values */
    double low, high;       /* 99 in 100 values lie in between */
    double lowest, highest; /* of all values */
};

#endif
