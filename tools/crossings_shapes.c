/* SPDX-License-Identifier: MIT
 *
 * crossings_shapes.c: distances of triangles and edges from spheres, half spaces and boxes that options give by
 * numbers.
 *
 * Distances outside are exact. Inside a box the depth is the smallest overlap along the 13 directions of the
 * separating-axis theorem, which also decides between inside and outside.
 */
#include "crossings.h"

#include <float.h>
#include <math.h>

static const double *point_of(const mesh *m, int v)
{
    return m->x + 3 * (size_t)v;
}

static int corners_of(const primitive *p)
{
    return p->v[2] < 0 ? 2 : 3;
}

static double sphere_distance(const shape *s, const mesh *m, const primitive *p)
{
    const double *a = point_of(m, p->v[0]), *b = point_of(m, p->v[1]);
    const double away =
        p->v[2] < 0 ? point_segment(s->numbers, a, b) : point_triangle(s->numbers, a, b, point_of(m, p->v[2]));
    return away - s->numbers[3];
}

static double plane_distance(const shape *s, const mesh *m, const primitive *p)
{
    double min = INFINITY;
    for (int i = 0; i < corners_of(p); i++) {
        const double *x = point_of(m, p->v[i]);
        double height = 0;
        for (int c = 0; c < 3; c++)
            height += (x[c] - s->numbers[c]) * s->numbers[3 + c];
        min = fmin(min, height);
    }
    return min;
}

/* Overlap of a box [-half, half] with points along a direction; negative: they are separated. INFINITY for a zero
 * direction. */
static double overlap_along(const double d[3], const double half[3], int count, double (*x)[3])
{
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double size = fmax(half[0], fmax(half[1], half[2]));
    if (length <= 1e-12 * size)
        return INFINITY;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
        const double at = (x[i][0] * d[0] + x[i][1] * d[1] + x[i][2] * d[2]) / length;
        low = fmin(low, at);
        high = fmax(high, at);
    }
    const double wide = (fabs(d[0]) * half[0] + fabs(d[1]) * half[1] + fabs(d[2]) * half[2]) / length;
    return fmin(wide - low, high + wide);
}

/* The smallest overlap over all directions that can separate a box from a triangle or an edge. */
static double min_overlap(const double half[3], int count, double (*x)[3])
{
    double min = INFINITY;
    const int edges = count == 3 ? 3 : 1;
    double edge[3][3];
    for (int i = 0; i < edges; i++)
        for (int c = 0; c < 3; c++)
            edge[i][c] = x[(i + 1) % count][c] - x[i][c];
    for (int axis = 0; axis < 3; axis++) {
        const double unit[3] = {axis == 0, axis == 1, axis == 2};
        min = fmin(min, overlap_along(unit, half, count, x));
        for (int i = 0; i < edges; i++) {
            const int j = (axis + 1) % 3, k = (axis + 2) % 3;
            double d[3] = {0};
            d[j] = -edge[i][k];
            d[k] = edge[i][j];
            min = fmin(min, overlap_along(d, half, count, x));
        }
    }
    if (count == 3) {
        double n[3];
        for (int c = 0; c < 3; c++) {
            const int j = (c + 1) % 3, k = (c + 2) % 3;
            n[c] = edge[0][j] * edge[1][k] - edge[0][k] * edge[1][j];
        }
        /* The length of this normal is an area, so the normal is scaled to length 1 before it measures overlaps. */
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int c = 0; c < 3 && length > 0; c++)
            n[c] *= half[0] / length;
        min = fmin(min, overlap_along(n, half, count, x));
    }
    return min;
}

static double nearest_of_edges(const double *p, const double *q, int count, double (*x)[3])
{
    double nearest = INFINITY;
    for (int i = 0; i < (count == 3 ? 3 : 1); i++)
        nearest = fmin(nearest, segment_segment(p, q, x[i], x[(i + 1) % count]));
    return nearest;
}

/* Distance of a separated primitive: its corners to the solid box, and the box's edges and corners to the triangle. */
static double outside_distance(const double half[3], int count, double (*x)[3])
{
    double nearest = INFINITY;
    for (int i = 0; i < count; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double out = fmax(0, fabs(x[i][c]) - half[c]);
            square += out * out;
        }
        nearest = fmin(nearest, sqrt(square));
    }
    for (int corner = 0; corner < 8; corner++) {
        double p[3];
        for (int c = 0; c < 3; c++)
            p[c] = corner >> c & 1 ? half[c] : -half[c];
        if (count == 3)
            nearest = fmin(nearest, point_triangle(p, x[0], x[1], x[2]));
        for (int c = 0; c < 3; c++) {
            if (corner >> c & 1)
                continue;
            double q[3] = {p[0], p[1], p[2]};
            q[c] = half[c];
            nearest = fmin(nearest, nearest_of_edges(p, q, count, x));
        }
    }
    return nearest;
}

static double box_distance(const shape *s, const mesh *m, const primitive *p)
{
    const int count = corners_of(p);
    double x[3][3], size = 0;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            x[i][c] = point_of(m, p->v[i])[c] - s->numbers[c];
            size = fmax(size, fabs(x[i][c]));
        }
    const double overlap = min_overlap(s->numbers + 3, count, x);
    return overlap > 16 * DBL_EPSILON * size ? -overlap : outside_distance(s->numbers + 3, count, x);
}

double shape_distance(const shape *s, const mesh *m, const primitive *p)
{
    static double (*const distances[])(const shape *, const mesh *, const primitive *) = {sphere_distance,
                                                                                          plane_distance, box_distance};
    return distances[s->kind](s, m, p);
}
