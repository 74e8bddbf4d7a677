/* SPDX-License-Identifier: MIT
 *
 * triangulate.c: Delaunay triangulation by incremental insertion (Bowyer 1981, Watson 1981).
 *
 * A new point removes all triangles whose circumcircle contains it and is joined to the rim of the hole. Three points
 * far outside form the first triangle and are removed at the end. Cocircular or collinear points make the result
 * ambiguous, so all points are perturbed at random during the insertion. Time O(n^2): every point tests every triangle.
 */
#include "triangulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVE 1e-6 /* random perturbation relative to the extent of the points */
#define FAR  1e4  /* distance of the three outer points relative to the extent of the points */
#define FLAT 1e-7 /* bound of twice the area over the longest side squared, below which a triangle is degenerate */

typedef struct patch {
    const double *points;
    double *moved; /* [2 * count] perturbed points of the plane */
    int32_t count; /* number of points; indices count .. count + 2 are the three outer points */
    double far[6];
    int32_t *triangles; /* [3 * triangle_count] vertices of the current triangles */
    int32_t triangle_count, triangle_capacity;
    int32_t *rim; /* [2 * rim_count] edges of the hole that a new point opens */
    int32_t rim_count, rim_capacity;
} patch;

static const double *point(const patch *p, int32_t i)
{
    return i < p->count ? p->moved + 2 * i : p->far + 2 * (i - p->count);
}

static bool triangulate_add(int32_t **list, int32_t *count, int32_t *capacity, const int32_t *entry, int32_t size)
{
    if (*count == *capacity) {
        const int32_t more = *capacity > 0 ? 2 * *capacity : 64;
        int32_t *grown = realloc(*list, (size_t)(size * more) * sizeof *grown);
        if (!grown)
            return false;
        *list = grown;
        *capacity = more;
    }
    memcpy(*list + size * *count, entry, (size_t)size * sizeof *entry);
    ++*count;
    return true;
}

/* Twice the signed area of a triangle of the plane. */
static double area(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool triangulate_in_circle(const patch *p, const int32_t *t, const double *x)
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

/* Adds an edge to the rim of the hole; an edge of two triangles of the hole lies inside it and is removed. */
static bool add_rim(patch *p, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < p->rim_count; i++)
        if (p->rim[2 * i] == b && p->rim[2 * i + 1] == a) {
            memcpy(p->rim + 2 * i, p->rim + 2 * --p->rim_count, 2 * sizeof *p->rim);
            return true;
        }
    return triangulate_add(&p->rim, &p->rim_count, &p->rim_capacity, (const int32_t[2]){a, b}, 2);
}

static bool insert(patch *p, int32_t number)
{
    bool good = true;
    p->rim_count = 0;
    for (int32_t i = 0; good && i < p->triangle_count;) {
        int32_t *t = p->triangles + 3 * i;
        if (!triangulate_in_circle(p, t, point(p, number))) {
            i++;
            continue;
        }
        for (int k = 0; good && k < 3; k++)
            good = add_rim(p, t[k], t[(k + 1) % 3]);
        memcpy(t, p->triangles + 3 * --p->triangle_count, 3 * sizeof *t);
    }
    for (int32_t i = 0; good && i < p->rim_count; i++)
        good = triangulate_add(&p->triangles, &p->triangle_count, &p->triangle_capacity,
                               (const int32_t[3]){p->rim[2 * i], p->rim[2 * i + 1], number}, 3);
    return good;
}

static bool triangulate_move_points(patch *p)
{
    uint32_t state = 1;
    double extent = 0;
    for (int32_t i = 0; i < 2 * p->count; i++)
        extent = fmax(extent, fabs(p->points[i] - p->points[i % 2]));
    const double r = FAR * extent, corner[6] = {-r, -r, 2 * r, -0.3 * r, -0.4 * r, 2 * r};
    for (int i = 0; i < 6; i++)
        p->far[i] = p->points[i % 2] + corner[i];
    p->moved = malloc(2 * (size_t)p->count * sizeof *p->moved);
    for (int32_t i = 0; p->moved && i < 2 * p->count; i++) {
        /* next pseudo-random number, by the generator of Park and Miller 1988 */
        state = (uint32_t)((uint64_t)state * 48271u % 2147483647u);
        p->moved[i] = p->points[i] + MOVE * extent * ((double)state / 2147483647.0 - 0.5);
    }
    return p->moved != NULL;
}

static bool is_flat(const patch *p, const int32_t *t)
{
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        const double *a = p->points + 2 * t[k], *b = p->points + 2 * t[(k + 1) % 3];
        longest = fmax(longest, (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
    }
    return area(p->points + 2 * t[0], p->points + 2 * t[1], p->points + 2 * t[2]) < FLAT * longest;
}

bool triangulate(const double *points, int32_t count, int32_t **triangles, int32_t *triangle_count)
{
    patch p = {.points = points, .count = count};
    *triangles = NULL;
    *triangle_count = 0;
    if (count < 3)
        return false;
    bool good = triangulate_move_points(&p) && triangulate_add(&p.triangles, &p.triangle_count, &p.triangle_capacity,
                                                               (const int32_t[3]){count, count + 1, count + 2}, 3);
    for (int32_t i = 0; good && i < count; i++)
        good = insert(&p, i);
    int32_t kept = 0;
    for (int32_t i = 0; good && i < p.triangle_count; i++) {
        const int32_t *t = p.triangles + 3 * i;
        if (t[0] < count && t[1] < count && t[2] < count && !is_flat(&p, t))
            memmove(p.triangles + 3 * kept++, t, 3 * sizeof *t);
    }
    free(p.rim);
    free(p.moved);
    if (good) {
        *triangles = p.triangles;
        *triangle_count = kept;
    } else {
        free(p.triangles);
    }
    return good;
}
