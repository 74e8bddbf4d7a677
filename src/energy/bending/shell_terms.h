/* SPDX-License-Identifier: MIT
 *
 * shell_terms.h: terms of the energy of one shell element (shell_bending.c): the three hinge angles, their barriers,
 * and the terms that keep director points beside their edges, with first and second derivatives.
 */
#ifndef SINEW_SRC_ENERGY_BENDING_SHELL_TERMS_H
#define SINEW_SRC_ENERGY_BENDING_SHELL_TERMS_H

#include "energy/bending/hinge_geometry.h"

enum {
    POINTS = 6
};

enum {
    DATA_FLOOR = 1,
    DATA_Q = 2, /* quadratic form of the three hinge angles: Q_00 Q_11 Q_22 Q_01 Q_02 Q_12 */
    DATA_ANGLE = 8,
    DATA_SQUARE = 11, /* squared offset s^2 of each director point, in m2 */
    DATA_LENGTH = 14, /* k / (4 s^2): stiffness against changes of a director point's offset s */
    DATA_ACROSS = 17, /* k / l^2: stiffness of the directors' motion along the edges */
    DATA_ALONG = 20,  /* r . e of each edge at rest, in m2 (r: offset of its director point, e: the edge) */
    /* 1 / (H_0 / 2), in 1/m: inverse of the height over its edge below which a director point's barrier acts */
    DATA_REACH = 23,
    DATA_BARRIER = 26, /* k s^2 / 2: stiffness of the angle and height barriers of each hinge */
    DATA_COUNT = 29,
    INCIDENCE_DIRECTOR = DATA_COUNT, /* 1: the incidence's node is a director point, 0: a vertex */
    INCIDENCE_DATA_COUNT
};

/* height of a director point below which its barrier acts, as a fraction of the height at rest */
#define BARRIER_HEIGHT 0.5
#define BARRIER_ANGLE  0.25 /* the angle barrier acts if pi - |d_i| is below this fraction of pi */
#define BARRIER_FLOOR  1e-3 /* lower bound of the argument u of the barrier b(u), so that b stays finite */

/* The element's points that form hinge i: two ends of the edge, the triangle's third vertex, the director point. */
static const int corners[3][4] = {{1, 2, 0, 3}, {2, 0, 1, 4}, {0, 1, 2, 5}};
/* Index of entry (i, j) of the symmetric 3x3 matrix Q among its six stored numbers at DATA_Q. */
static const int pair[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

/* ---- Hinge angles and their barriers ------------------------------------------------------------- */

/* Value, first and second derivative of a barrier function b of one variable. */
typedef struct barrier {
    wide value, first, second;
} barrier;

typedef struct shell_now {
    hinge_now hinge[3];
    wide d[3], m[3];  /* hinge angles relative to rest in rad, and their moments Q d per unit of weight */
    barrier angle[3]; /* barrier of each hinge angle, with derivatives by that angle */
} shell_now;

/* The barrier b(u) = (1 - u)^3 / u^2 for u < 1, else 0, with its derivatives by u. */
KERNEL_INLINE barrier barrier_at(wide distance)
{
    const wide u = wide_min(distance, wide_set(1)), inverse = 1 / u, gap = 1 - u, square = inverse * inverse;
    return (barrier){square * gap * gap * gap, -square * inverse * gap * gap * (u + 2), 6 * square * square * gap};
}

/* Barrier k b and its derivatives by x, if the argument of b changes by `rate` per unit of x. */
KERNEL_INLINE barrier barrier_scaled(barrier b, wide k, wide rate)
{
    return (barrier){k * b.value, k * rate * b.first, k * rate * rate * b.second};
}

KERNEL_INLINE wide shell_angle(const wide *x, const sinew_real *data, int i, hinge_now *s)
{
    wide points[12];
    for (int a = 0; a < 12; a++)
        points[a] = x[3 * corners[i][a / 3] + a % 3];
    hinge_geometry(points, hinge_number(data, DATA_FLOOR), s);
    return hinge_wrapped_angle(s->theta - hinge_number(data, DATA_ANGLE + i));
}

/* Barrier of hinge angle i, with derivatives by d, the angle relative to rest. */
KERNEL_INLINE barrier angle_barrier(wide d, const sinew_real *data, int i)
{
    const sinew_real rate = 1 / ((sinew_real)BARRIER_ANGLE * HINGE_HALF_TURN);
    const wide u = wide_max(rate * (HINGE_HALF_TURN - wide_abs(d)), wide_set((sinew_real)BARRIER_FLOOR));
    const wide toward = wide_select(wide_lt(d, wide_set(0)), wide_set(rate), wide_set(-rate));
    return barrier_scaled(barrier_at(u), hinge_number(data, DATA_BARRIER + i), toward);
}

/* Computes the hinge angles d relative to rest and their moments Q d, where Q is the stiffness matrix of the
 * element; returns 1/2 d^T Q d. */
KERNEL_INLINE wide shell_geometry(const wide *x, const sinew_real *data, shell_now *s)
{
    wide psi = wide_set(0);
    for (int i = 0; i < 3; i++)
        s->d[i] = shell_angle(x, data, i, &s->hinge[i]);
    for (int i = 0; i < 3; i++) {
        s->m[i] = wide_set(0);
        for (int j = 0; j < 3; j++)
            s->m[i] += hinge_number(data, DATA_Q + pair[i][j]) * s->d[j];
        psi += (sinew_real)0.5 * s->m[i] * s->d[i];
        s->angle[i] = angle_barrier(s->d[i], data, i);
    }
    return psi;
}

/* Director point i relative to its edge: r is the vector from the edge's midpoint to the director point, e the edge. */
typedef struct anchor {
    /* r: vector from the edge's midpoint to the director point; e: the edge; longer and along: |r|^2 and r . e minus
     * their rest values; k and q: stiffness of `longer` and of `along` */
    wide r[3], e[3], longer, along, k, q;
} anchor;

KERNEL_INLINE wide anchor_geometry(const wide *x, const sinew_real *data, int i, anchor *h)
{
    const wide *a = x + 3 * corners[i][0], *b = x + 3 * corners[i][1], *p = x + 3 * corners[i][3];
    for (int c = 0; c < 3; c++) {
        h->r[c] = p[c] - (sinew_real)0.5 * (a[c] + b[c]);
        h->e[c] = b[c] - a[c];
    }
    h->longer = jacobi_dot(h->r, h->r) - hinge_number(data, DATA_SQUARE + i);
    h->along = jacobi_dot(h->r, h->e) - hinge_number(data, DATA_ALONG + i);
    h->k = hinge_number(data, DATA_LENGTH + i);
    h->q = hinge_number(data, DATA_ACROSS + i);
    return (sinew_real)0.5 * (h->k * h->longer * h->longer + h->q * h->along * h->along);
}

/* Coefficients of point a of hinge i in r (middle) and in e (edge): two ends of the edge, third vertex (0), director
 * point. */
static const sinew_real middle_coefficient[4] = {(sinew_real)-0.5, (sinew_real)-0.5, 0, 1};
static const sinew_real edge_coefficient[4] = {-1, 1, 0, 0};

KERNEL_INLINE void anchor_slope(const anchor *h, int a, wide g[3])
{
    for (int c = 0; c < 3; c++)
        g[c] = 2 * middle_coefficient[a] * h->k * h->longer * h->r[c] +
               h->q * h->along * (middle_coefficient[a] * h->e[c] + edge_coefficient[a] * h->r[c]);
}

/* Entry (i, j) of the 3x3 Hessian block of points a and b for the term that keeps a director point at its offset. */
KERNEL_INLINE wide anchor_curve(const anchor *h, int a, int b, int i, int j)
{
    const sinew_real middle = middle_coefficient[a] * middle_coefficient[b];
    const sinew_real mixed = middle_coefficient[a] * edge_coefficient[b] + edge_coefficient[a] * middle_coefficient[b];
    const wide u = middle_coefficient[a] * h->e[i] + edge_coefficient[a] * h->r[i];
    const wide v = middle_coefficient[b] * h->e[j] + edge_coefficient[b] * h->r[j];
    wide sum = 4 * middle * h->k * h->r[i] * h->r[j] + h->q * u * v;
    if (i == j)
        sum += 2 * middle * h->k * h->longer + mixed * h->q * h->along;
    return sum;
}

/* Barrier against a zero height of director point i over its edge. */
KERNEL_INLINE barrier height_barrier(const hinge_now *s, const sinew_real *data, int i)
{
    const wide reach = hinge_number(data, DATA_REACH + i);
    const wide u = wide_max(s->h[1] * reach, wide_set((sinew_real)BARRIER_FLOOR));
    return barrier_scaled(barrier_at(u), hinge_number(data, DATA_BARRIER + i), reach);
}

KERNEL_INLINE void height_slope(const barrier *b, const hinge_now *s, int a, wide g[3])
{
    const wide first = b->first * hinge_coefficient(s, 1, a);
    for (int c = 0; c < 3; c++)
        g[c] += first * s->m[1][c];
}

/* K += 3x3 Hessian block (a, b) of the barrier of a director point's height over its edge, row-major:
 *
 *     b'' (m.y)^2 + b' [(n.y)^2 / H - H (m.z)^2 - 2 (e.y)(m.z)],   y and z as in hinge_geometry.h */
KERNEL_INLINE void height_curve(const barrier *wall, const hinge_now *s, int a, int b, wide K[9])
{
    const wide *m = s->m[1], *n = s->n[1], *e = s->e, zero = wide_set(0);
    const wide ya = hinge_coefficient(s, 1, a), yb = hinge_coefficient(s, 1, b);
    const wide za = a > 1 ? zero : (sinew_real)(2 * a - 1) / s->l, zb = b > 1 ? zero : (sinew_real)(2 * b - 1) / s->l;
    const wide across = wall->second * ya * yb - wall->first * s->h[1] * za * zb;
    const wide around = wall->first * ya * yb / s->h[1];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[3 * i + j] += across * m[i] * m[j] + around * n[i] * n[j] -
                            wall->first * (ya * zb * e[i] * m[j] + za * yb * m[i] * e[j]);
}

#endif
