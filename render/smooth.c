/* SPDX-License-Identifier: MIT
 *
 * smooth.c: smooth vertex normals with creases.
 *
 * The normal of a corner is the sum of the adjacent faces' normals, each weighted by the face's angle at that point (G.
 * Thürmer and C. Wüthrich, Computing vertex normals from polygonal facets, 1998). Faces that differ by more than the
 * crease angle from the corner's own face are excluded. The result does not depend on how flat faces are triangulated.
 */
#include "shape.h"

#include <stdlib.h>

/* Corners of some triangles of a shape, sorted by position. */
typedef struct corner_list {
    const shape *s;
    int32_t first, count; /* first triangle in the shape, and number of triangles */
    int32_t *order;       /* [3 * count] corner indices, sorted by position */
    vec3 *faces;          /* [count] unit normal of each triangle */
    float *angles;        /* [3 * count] angle of each triangle at each of its corners, in rad */
} corner_list;

static const double *corner_point(const corner_list *list, int32_t corner)
{
    return list->s->points + 3 * (size_t)list->s->triangles[3 * (size_t)list->first + (size_t)corner];
}

/* Compares positions of corners, then corner indices, so that the sorted order is unique. */
static int compare_corners(const void *a, const void *b, void *context)
{
    const corner_list *list = context;
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const double *p = corner_point(list, i), *q = corner_point(list, j);
    for (int c = 0; c < 3; c++)
        if (p[c] != q[c])
            return p[c] < q[c] ? -1 : 1;
    return i < j ? -1 : i > j;
}

static bool corners_coincide(const corner_list *list, int32_t a, int32_t b)
{
    const double *p = corner_point(list, a), *q = corner_point(list, b);
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static float corner_angle(const corner_list *list, int32_t corner)
{
    const int32_t t = corner / 3, k = corner % 3;
    const double *p = corner_point(list, corner), *q = corner_point(list, 3 * t + (k + 1) % 3),
                 *r = corner_point(list, 3 * t + (k + 2) % 3);
    double uv = 0, uu = 0, vv = 0;
    for (int c = 0; c < 3; c++) {
        uv += (q[c] - p[c]) * (r[c] - p[c]);
        uu += (q[c] - p[c]) * (q[c] - p[c]);
        vv += (r[c] - p[c]) * (r[c] - p[c]);
    }
    const double cosine = uu > 0 && vv > 0 ? uv / sqrt(uu * vv) : 1;
    return (float)acos(cosine < -1 ? -1 : cosine > 1 ? 1 : cosine);
}

/* Sets the smooth normals of the corners order[begin .. end), which share one position. */
static void smooth_vertex(shape *s, const corner_list *list, int32_t begin, int32_t end, float limit)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t corner = list->order[i];
        const vec3 own = list->faces[corner / 3];
        vec3 sum = {0, 0, 0};
        for (int32_t j = begin; j < end; j++) {
            const vec3 other = list->faces[list->order[j] / 3];
            if (vec_dot(own, other) >= limit)
                sum = vec_along(sum, list->angles[list->order[j]], other);
        }
        const vec3 n = vec_dot(sum, sum) > 0 ? vec_unit(sum) : own;
        float *at = s->normals + 9 * (size_t)list->first + 3 * (size_t)corner;
        at[0] = n.x;
        at[1] = n.y;
        at[2] = n.z;
    }
}

void shape_smooth(shape *s, int32_t first, int32_t last, double crease)
{
    corner_list list = {.s = s, .first = first, .count = last - first};
    if (s->failed || list.count <= 0)
        return;
    const size_t corners = 3 * (size_t)list.count;
    list.order = malloc(corners * sizeof *list.order);
    list.faces = malloc((size_t)list.count * sizeof *list.faces);
    list.angles = malloc(corners * sizeof *list.angles);
    s->failed = !list.order || !list.faces || !list.angles;
    for (size_t i = 0; i < corners && !s->failed; i++) {
        list.order[i] = (int32_t)i;
        list.angles[i] = corner_angle(&list, (int32_t)i);
        if (i % 3 == 0)
            list.faces[i / 3] = vec_from(s->normals + 9 * ((size_t)first + i / 3));
    }
    if (!s->failed)
        qsort_r(list.order, corners, sizeof *list.order, compare_corners, &list);
    for (int32_t begin = 0, end = 0; begin < (int32_t)corners && !s->failed; begin = end) {
        for (end = begin + 1; end < (int32_t)corners && corners_coincide(&list, list.order[begin], list.order[end]);
             end++)
            continue;
        smooth_vertex(s, &list, begin, end, (float)cos(crease) - 1e-6f);
    }
    free(list.order);
    free(list.faces);
    free(list.angles);
}
