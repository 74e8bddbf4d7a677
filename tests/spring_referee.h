/* SPDX-License-Identifier: MIT
 *
 * spring_referee.h: the minimum of a step of springs, computed independently of the library and in long double.
 *
 *     g(q) = sum m/(2 h^2) |q - q_tilde|^2 + sum k/2 (|x1 - x0| - L)^2      (quasistatic: - m gravity . q)
 *
 * Newton's method with each spring's Hessian projected to positive semi-definite and a banded Cholesky factorisation.
 * Stiff springs slow down line searches, so full steps are taken for a while and kept if g is lower in the end.
 */
#ifndef SINEW_SPRING_REFEREE_H
#define SINEW_SPRING_REFEREE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long double wide;

typedef struct springs {
    int32_t n, edge_count;
    const int32_t *edges; /* [edge_count][2] */
    const double *k, *L;  /* [edge_count] */
    const double *m;      /* [n] */
    const uint8_t *held;  /* [n] */
    const wide *q_tilde;  /* [3 * n] */
    double h;             /* 0: quasistatic */
    double gravity[3];
} springs;

static inline wide springs_value(const springs *s, const wide *q)
{
    wide sum = 0;
    for (int32_t i = 0; i < s->n; i++)
        for (int c = 0; c < 3 && !s->held[i]; c++) {
            const wide d = s->h > 0 ? q[3 * i + c] - s->q_tilde[3 * i + c] : 0;
            sum += s->h > 0 ? s->m[i] * d * d / (2 * (wide)s->h * s->h) : -(wide)s->m[i] * s->gravity[c] * q[3 * i + c];
        }
    for (int32_t e = 0; e < s->edge_count; e++) {
        wide square = 0;
        for (int c = 0; c < 3; c++) {
            const wide d = q[3 * s->edges[2 * e + 1] + c] - q[3 * s->edges[2 * e] + c];
            square += d * d;
        }
        const wide C = sqrtl(square) - s->L[e];
        sum += s->k[e] * C * C / 2;
    }
    return sum;
}

/* A [3n][band + 1] lower band by columns: A[j][i - j] */
typedef struct band_matrix {
    int32_t size, band;
    wide *A;
} band_matrix;

static inline void band_add(band_matrix *b, int32_t i, int32_t j, wide x)
{
    if (i >= j)
        b->A[(size_t)j * (size_t)(b->band + 1) + (size_t)(i - j)] += x;
}

static inline void spring_derivatives(const springs *s, int32_t e, const wide *q, wide *gradient, band_matrix *b)
{
    const int32_t *v = s->edges + 2 * e;
    wide d[3], length = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = q[3 * v[1] + c] - q[3 * v[0] + c];
        length += d[c] * d[c];
    }
    length = sqrtl(length);
    const wide pull = s->k[e] * (length - s->L[e]), across = fmaxl(0, pull / length);
    for (int a = 0; a < 3; a++) {
        gradient[3 * v[0] + a] -= pull * d[a] / length;
        gradient[3 * v[1] + a] += pull * d[a] / length;
        for (int c = 0; c < 3; c++) {
            const wide x = (s->k[e] - across) * d[a] * d[c] / (length * length) + (a == c ? across : 0);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    if (!s->held[v[i]] && !s->held[v[j]])
                        band_add(b, 3 * v[i] + a, 3 * v[j] + c, i == j ? x : -x);
        }
    }
}

/* Computes the gradient, zero at pins, and the matrix; returns the norm of the gradient. */
static inline wide springs_linearise(const springs *s, const wide *q, wide *gradient, band_matrix *b)
{
    wide sum = 0, mean = 0;
    memset(gradient, 0, 3 * (size_t)s->n * sizeof *gradient);
    memset(b->A, 0, (size_t)b->size * (size_t)(b->band + 1) * sizeof *b->A);
    for (int32_t e = 0; e < s->edge_count; e++) {
        spring_derivatives(s, e, q, gradient, b);
        mean += s->k[e] / s->edge_count;
    }
    for (int32_t i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) {
            const int32_t at = 3 * i + c;
            const wide inertia = s->h > 0 ? s->m[i] / ((wide)s->h * s->h) : mean * 1e-15L;
            gradient[at] += s->h > 0 ? inertia * (q[at] - s->q_tilde[at]) : -(wide)s->m[i] * s->gravity[c];
            if (s->held[i])
                gradient[at] = 0;
            band_add(b, at, at, s->held[i] ? 1 : inertia);
            sum += gradient[at] * gradient[at];
        }
    return sqrtl(sum);
}

/* x = A^-1 x by Cholesky in place; false if A is not positive definite */
static inline bool band_solve(band_matrix *b, wide *x)
{
    const int32_t n = b->size, w = b->band;
    const size_t column = (size_t)w + 1;
    for (int32_t j = 0; j < n; j++) {
        wide *L = b->A + (size_t)j * column;
        if (!(L[0] > 0))
            return false;
        L[0] = sqrtl(L[0]);
        const int32_t last = j + w < n ? w : n - 1 - j;
        for (int32_t i = 1; i <= last; i++)
            L[i] /= L[0];
        for (int32_t k = 1; k <= last; k++)
            for (int32_t i = k; L[k] != 0 && i <= last; i++)
                b->A[(size_t)(j + k) * column + (size_t)(i - k)] -= L[i] * L[k];
        x[j] /= L[0];
        for (int32_t i = 1; i <= last; i++)
            x[j + i] -= L[i] * x[j];
    }
    for (int32_t j = n - 1; j >= 0; j--) {
        const wide *L = b->A + (size_t)j * column;
        const int32_t last = j + w < n ? w : n - 1 - j;
        for (int32_t i = 1; i <= last; i++)
            x[j] -= L[i] * x[j + i];
        x[j] /= L[0];
    }
    return true;
}

/* Moves q to the local minimum below it. Returns g there; *solved: the gradient vanished, or g stopped decreasing. */
static inline wide springs_minimise(const springs *s, wide *q, bool *solved)
{
    const int32_t size = 3 * s->n;
    const size_t bytes = (size_t)size * sizeof *q;
    band_matrix b = {.size = size};
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t apart = abs(s->edges[2 * e] - s->edges[2 * e + 1]);
        b.band = 3 * apart + 2 > b.band ? 3 * apart + 2 : b.band;
    }
    b.A = malloc((size_t)size * (size_t)(b.band + 1) * sizeof *b.A);
    wide *d = malloc(bytes), *best = malloc(bytes), *at = malloc(bytes);
    const wide top = springs_value(s, q);
    wide low = top, first = 0;
    int bold = 0;
    memcpy(best, q, bytes);
    memcpy(at, q, bytes);
    *solved = false;
    for (int k = 0; k < 4000 && !*solved; k++) {
        const wide norm = springs_linearise(s, at, d, &b);
        first = k == 0 ? norm : first;
        wide slope = 0;
        memcpy(q, d, bytes); /* q holds the gradient while d becomes the step */
        if (!band_solve(&b, d))
            break;
        for (int32_t i = 0; i < size; i++)
            slope += q[i] * d[i];
        /* The best point is solved if Newton's decrement is negligible beside the total decrease. */
        *solved = bold == 0 && (slope / 2 <= 1e-6L * (top - low) || norm <= 1e-16L * first);
        wide value = 0, alpha = 1;
        for (; alpha > 1e-12L; alpha /= 4) {
            for (int32_t i = 0; i < size; i++)
                q[i] = at[i] - alpha * d[i];
            value = springs_value(s, q);
            /* Up to eight full steps from the best point may increase g. */
            if (value < low - 1e-4L * alpha * slope || bold < 8)
                break;
        }
        if (value < low) {
            low = value;
            memcpy(best, q, bytes);
            memcpy(at, q, bytes);
            bold = bold > 8 ? bold - 1 : 0;
        } else if (bold < 8) {
            memcpy(at, q, bytes);
            if (++bold == 8)
                memcpy(at, best, bytes);
        } else {
            *solved = true; /* no decrease along the direction: round-off */
        }
        if (bold == 8)
            bold = 24; /* sixteen steps with line search follow before full steps are tried again */
    }
    memcpy(q, best, bytes);
    free(b.A);
    free(d);
    free(best);
    free(at);
    return low;
}

#endif
