/* SPDX-License-Identifier: MIT
 *
 * triangulate.c: Delaunay's triangulation by inserting one point after the other (Bowyer 1981, Watson 1981).
 *
 * All triangles whose circumcircle holds the new point go, and the hole is joined to it. Three points far outside begin
 * it and go at the end. Time O(n^2): every point looks at every triangle.
 */
#include "triangulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR  1e4  /* of the extent of the points */
#define FLAT 1e-7 /* twice the area over the longest side squared, below which a triangle is none */

typedef struct patch {
    const double *points;
    int32_t count; /* of points; the three that follow are far outside */
    double far[6];
    int32_t *triangles; /* [3 * triangle_count] */
    int32_t triangle_count, triangle_room;
    int32_t *rim; /* [2 * rim_count] edges of the hole */
    int32_t rim_count, rim_room;
} patch;

static const double *point(const patch *p, int32_t i)
{
    return i < p->count ? p->points + 2 * i : p->far + 2 * (i - p->count);
}

static bool add(int32_t **list, int32_t *count, int32_t *room, const int32_t *entry, int32_t size)
{
    if (*count == *room) {
        const int32_t more = *room > 0 ? 2 * *room : 64;
        int32_t *grown = realloc(*list, (size_t)(size * more) * sizeof *grown);
        if (!grown)
            return false;
        *list = grown;
        *room = more;
    }
    memcpy(*list + size * *count, entry, (size_t)size * sizeof *entry);
    ++*count;
    return true;
}

/* Twice the area. */
static double area(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool in_circle(const patch *p, const int32_t *t, const double *x)
{
    double r[3][3];
    for (int i = 0; i < 3; i++) {
        const double *v = point(p, t[i]);
        r[i][0] = v[0] - x[0];
        r[i][1] = v[1] - x[1];
        r[i][2] = r[i][0] * r[i][0] + r[i][1] * r[i][1];
    }
    return r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
               r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]) >
           0;
}

/* An edge that two triangles of the hole share is inside it. */
static bool add_rim(patch *p, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < p->rim_count; i++)
        if (p->rim[2 * i] == b && p->rim[2 * i + 1] == a) {
            memcpy(p->rim + 2 * i, p->rim + 2 * --p->rim_count, 2 * sizeof *p->rim);
            return true;
        }
    return add(&p->rim, &p->rim_count, &p->rim_room, (const int32_t[2]){a, b}, 2);
}

static bool insert(patch *p, int32_t number)
{
    bool good = true;
    p->rim_count = 0;
    for (int32_t i = 0; good && i < p->triangle_count;) {
        int32_t *t = p->triangles + 3 * i;
        if (!in_circle(p, t, point(p, number))) {
            i++;
            continue;
        }
        for (int k = 0; good && k < 3; k++)
            good = add_rim(p, t[k], t[(k + 1) % 3]);
        memcpy(t, p->triangles + 3 * --p->triangle_count, 3 * sizeof *t);
    }
    for (int32_t i = 0; good && i < p->rim_count; i++)
        good = add(&p->triangles, &p->triangle_count, &p->triangle_room,
                   (const int32_t[3]){p->rim[2 * i], p->rim[2 * i + 1], number}, 3);
    return good;
}

static void place_far(patch *p)
{
    double extent = 0;
    for (int32_t i = 0; i < 2 * p->count; i++)
        extent = fmax(extent, fabs(p->points[i] - p->points[i % 2]));
    const double r = FAR * extent, corner[6] = {-r, -r, 2 * r, -0.3 * r, -0.4 * r, 2 * r};
    for (int i = 0; i < 6; i++)
        p->far[i] = p->points[i % 2] + corner[i];
}

static bool is_flat(const patch *p, const int32_t *t)
{
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        const double *a = point(p, t[k]), *b = point(p, t[(k + 1) % 3]);
        longest = fmax(longest, (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
    }
    return area(point(p, t[0]), point(p, t[1]), point(p, t[2])) < FLAT * longest;
}

bool triangulate(const double *points, int32_t count, int32_t **triangles, int32_t *triangle_count)
{
    patch p = {.points = points, .count = count};
    *triangles = NULL;
    *triangle_count = 0;
    if (count < 3)
        return false;
    place_far(&p);
    bool good =
        add(&p.triangles, &p.triangle_count, &p.triangle_room, (const int32_t[3]){count, count + 1, count + 2}, 3);
    for (int32_t i = 0; good && i < count; i++)
        good = insert(&p, i);
    int32_t kept = 0;
    for (int32_t i = 0; good && i < p.triangle_count; i++) {
        const int32_t *t = p.triangles + 3 * i;
        if (t[0] < count && t[1] < count && t[2] < count && !is_flat(&p, t))
            memmove(p.triangles + 3 * kept++, t, 3 * sizeof *t);
    }
    free(p.rim);
    if (good) {
        *triangles = p.triangles;
        *triangle_count = kept;
    } else {
        free(p.triangles);
    }
    return good;
}
