/* SPDX-License-Identifier: MIT
 *
 * crossings_geometry.c: predicates and distances of the check.
 *
 * The signs of volumes decide intersections. A sign is computed in double precision with an error bound and, if the
 * bound is inconclusive, exactly: the determinant is a sum of 24 products of three coordinates, each of which is a sum
 * of four doubles without an error (Dekker 1971; Shewchuk 1997, sections 2.2 to 2.4). Only touching gives zero. Limits:
 * products of coordinates must neither overflow nor underflow, so readers refuse coordinates above 1e90.
 */
#include "crossings.h"

#include <float.h>
#include <math.h>

enum {
    TERMS = 96
};

/* h [n + 1] = e [n] + b without an error, components ascending. */
static int grow(int n, double *e, double b)
{
    int count = 0;
    double q = b;
    for (int i = 0; i < n; i++) {
        const double sum = q + e[i], added = sum - q;
        const double error = (q - (sum - added)) + (e[i] - added);
        if (error != 0)
            e[count++] = error;
        q = sum;
    }
    if (q != 0)
        e[count++] = q;
    return count;
}

/* a b c as four doubles, the sum of which has no error. */
static void triple(double a, double b, double c, double out[4])
{
    const double high = a * b, low = fma(a, b, -high);
    out[0] = high * c;
    out[1] = fma(high, c, -out[0]);
    out[2] = low * c;
    out[3] = fma(low, c, -out[2]);
}

static int exact_orient(const double *const p[4])
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    double sum[TERMS + 1];
    int count = 0;
    /* Expansion of the determinant of rows (x y z 1) by its last column: rows without `left`, in all orders of axes. */
    for (int left = 0; left < 4; left++) {
        const double *rows[3];
        for (int i = 0, k = 0; i < 4; i++)
            if (i != left)
                rows[k++] = p[i];
        for (int o = 0; o < 6; o++) {
            double terms[4];
            triple(rows[0][orders[o][0]], rows[1][orders[o][1]], rows[2][orders[o][2]], terms);
            const double sign = (o < 3 ? 1 : -1) * (left % 2 == 0 ? 1 : -1);
            for (int k = 0; k < 4; k++)
                count = grow(count, sum, sign * terms[k]);
        }
    }
    return count == 0 ? 0 : sum[count - 1] > 0 ? 1 : -1;
}

static void subtract(const double *a, const double *b, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = a[c] - b[c];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

int orient(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    subtract(b, a, u);
    subtract(c, a, v);
    subtract(d, a, w);
    double value = 0, size = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        value += w[i] * (u[j] * v[k] - u[k] * v[j]);
        size += fabs(w[i]) * (fabs(u[j] * v[k]) + fabs(u[k] * v[j]));
    }
    if (size == 0)
        return 0;
    /* Each product has eight roundings; twice that is a safe bound. */
    if (fabs(value) > 16 * DBL_EPSILON * size && size > 1e-250)
        return value > 0 ? 1 : -1;
    return exact_orient((const double *const[]){a, b, c, d});
}

bool edge_pierces(const double *const e[2], const double *const t[3])
{
    if (orient(t[0], t[1], t[2], e[0]) * orient(t[0], t[1], t[2], e[1]) >= 0)
        return false;
    const int first = orient(e[0], e[1], t[0], t[1]);
    return first != 0 && orient(e[0], e[1], t[1], t[2]) == first && orient(e[0], e[1], t[2], t[0]) == first;
}

/* Rotates `t` so that its first corner is alone on its side of the plane of `other`, and orients `other` so that this
 * side is positive. Returns false if `t` does not have corners on both sides. */
static bool put_alone(const double *t[3], const double *other[3])
{
    int side[3], lowest = 1, highest = -1;
    for (int i = 0; i < 3; i++) {
        side[i] = orient(other[0], other[1], other[2], t[i]);
        lowest = side[i] < lowest ? side[i] : lowest;
        highest = side[i] > highest ? side[i] : highest;
    }
    if (lowest >= 0 || highest <= 0)
        return false;
    int alone = 0;
    while (side[alone] == 0 || side[alone] == side[(alone + 1) % 3] || side[alone] == side[(alone + 2) % 3])
        alone++;
    const double *turned[3] = {t[alone], t[(alone + 1) % 3], t[(alone + 2) % 3]};
    for (int i = 0; i < 3; i++)
        t[i] = turned[i];
    if (side[alone] < 0) {
        const double *swap = other[1];
        other[1] = other[2];
        other[2] = swap;
    }
    return true;
}

bool triangles_cross(const double *const first[3], const double *const second[3])
{
    const double *a[3] = {first[0], first[1], first[2]}, *b[3] = {second[0], second[1], second[2]};
    if (!put_alone(a, b) || !put_alone(b, a))
        return false;
    /* Both triangles intersect the common line of their planes in intervals; two signs compare the ends (Devillers and
     * Guigue 2002). */
    return orient(a[0], a[1], b[0], b[1]) < 0 && orient(a[0], a[2], b[2], b[0]) < 0;
}

double point_segment(const double *p, const double *a, const double *b)
{
    double ab[3], ap[3], away[3];
    subtract(b, a, ab);
    subtract(p, a, ap);
    const double length = dot(ab, ab);
    const double t = length > 0 ? fmin(1, fmax(0, dot(ap, ab) / length)) : 0;
    for (int c = 0; c < 3; c++)
        away[c] = ap[c] - t * ab[c];
    return sqrt(dot(away, away));
}

double point_triangle(const double *p, const double *a, const double *b, const double *c)
{
    double u[3], v[3], w[3], n[3], nu[3], nv[3];
    subtract(b, a, u);
    subtract(c, a, v);
    subtract(p, a, w);
    cross(u, v, n);
    cross(v, n, nv);
    cross(n, u, nu);
    const double area = dot(n, n), s = dot(w, nv), t = dot(w, nu);
    if (area > 0 && s >= 0 && t >= 0 && s + t <= area)
        return fabs(dot(w, n)) / sqrt(area);
    return fmin(point_segment(p, a, b), fmin(point_segment(p, b, c), point_segment(p, c, a)));
}

double segment_segment(const double *a, const double *b, const double *c, const double *d)
{
    double nearest = fmin(fmin(point_segment(a, c, d), point_segment(b, c, d)),
                          fmin(point_segment(c, a, b), point_segment(d, a, b)));
    double u[3], v[3], w[3], away[3];
    subtract(b, a, u);
    subtract(d, c, v);
    subtract(a, c, w);
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
    const double size = uu * vv - uv * uv;
    if (size <= 0)
        return nearest;
    const double s = (uv * vw - vv * uw) / size, t = (uu * vw - uv * uw) / size;
    if (s <= 0 || s >= 1 || t <= 0 || t >= 1)
        return nearest;
    for (int k = 0; k < 3; k++)
        away[k] = w[k] + s * u[k] - t * v[k];
    return fmin(nearest, sqrt(dot(away, away)));
}

double winding(const double *p, const double *a, const double *b, const double *c)
{
    double u[3], v[3], w[3], n[3];
    subtract(a, p, u);
    subtract(b, p, v);
    subtract(c, p, w);
    cross(v, w, n);
    const double lu = sqrt(dot(u, u)), lv = sqrt(dot(v, v)), lw = sqrt(dot(w, w));
    /* Van Oosterom and Strackee 1983, (8). */
    const double below = lu * lv * lw + dot(u, v) * lw + dot(v, w) * lu + dot(w, u) * lv;
    return atan2(dot(u, n), below) / (2 * acos(-1.0));
}
