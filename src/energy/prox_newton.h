/* SPDX-License-Identifier: MIT
 *
 * prox_newton.h: start, line search and end of the Newton steps of a proximal map
 *
 *     s = argmin psi(s) + r/2 |s - y|^2                                                            thesis (4.74)
 *
 * The unknowns are the singular values of a deformation gradient, or its entries. Energies differ in the direction d
 * and in the test of convergence, which they compute themselves. All lanes iterate until the last one has converged or
 * PROX_ITERATIONS are done; lanes that have converged take steps of length zero.
 */
#ifndef SINEW_SRC_ENERGY_PROX_NEWTON_H
#define SINEW_SRC_ENERGY_PROX_NEWTON_H

#include "energy/kernel_loop.h"

#define PROX_ITERATIONS 40 /* largest number of Newton iterations of the proximal map */
#define PROX_HALVINGS   30
#define PROX_SIZE_MAX   6

/* Material function: returns the energy density psi at the deformation gradient F, per unit of the weight, and sets
 * the stress P = dpsi/dF. */
typedef wide prox_stress(const wide *F, const sinew_real *material, wide *P);

/* Objective of the proximal map: returns psi(s) + r/2 |s - y|^2 and sets its gradient g. */
typedef wide prox_value(const wide *s, const wide *y, wide r, const sinew_real *material, prox_stress *stress, wide *g);

/* Replaces s by the equivalent point that is nearest to y: sorts singular values, as those of y are sorted. Does
 * nothing if no other point is equivalent. */
typedef void prox_canonical(wide *s);

typedef struct prox_problem {
    int size;      /* number of unknowns s of the proximal map, at most PROX_SIZE_MAX */
    const wide *y; /* [size] the point y whose proximal map is computed */
    wide r;        /* ADMM's w^2 over the element's weight: the factor r of |s - y|^2 / 2 */
    const sinew_real *material;
    prox_stress *stress;
    prox_value *value;
    prox_canonical *canonical;
} prox_problem;

typedef struct prox_iterate {
    wide s[PROX_SIZE_MAX], g[PROX_SIZE_MAX], value;
    wide_mask busy; /* mask of SIMD lanes that have not converged */
} prox_iterate;

/* Starts Newton's method at y in lanes of `allowed` where the objective is finite and no higher than at `inner`, else
 * at `inner`. */
KERNEL_INLINE void prox_start(const prox_problem *p, const wide *inner, wide_mask allowed, prox_iterate *at)
{
    const wide outside = p->value(p->y, p->y, p->r, p->material, p->stress, at->g);
    const wide inside = p->value(inner, p->y, p->r, p->material, p->stress, at->g);
    const wide_mask stay = allowed & wide_le(outside, wide_set(WIDE_HUGE)) & wide_le(outside, inside);
    for (int i = 0; i < p->size; i++)
        at->s[i] = wide_select(stay, p->y[i], inner[i]);
    at->value = p->value(at->s, p->y, p->r, p->material, p->stress, at->g);
    at->busy = wide_eq(wide_set(0), wide_set(0));
}

/* Sets t = s + alpha d in canonical form and returns the objective of the proximal map at t. */
KERNEL_INLINE wide prox_try(const prox_problem *p, const wide *s, wide alpha, const wide *d, wide *t, wide *g)
{
    for (int i = 0; i < p->size; i++)
        t[i] = s[i] + alpha * d[i];
    p->canonical(t);
    return p->value(t, p->y, p->r, p->material, p->stress, g);
}

/* Steps along the Newton direction d with backtracking: halves alpha until the decrease is a fraction of the predicted
 * one (Armijo), at most PROX_HALVINGS times; the last step is taken in either case. */
KERNEL_INLINE void prox_step(const prox_problem *p, const wide *d, prox_iterate *at)
{
    wide slope = at->g[0] * d[0];
    for (int i = 1; i < p->size; i++)
        slope += at->g[i] * d[i];
    wide alpha = wide_select(at->busy, wide_set(1), wide_set(0)), t[PROX_SIZE_MAX], g[PROX_SIZE_MAX], value;
    value = prox_try(p, at->s, alpha, d, t, g);
    for (int half = 0; half < PROX_HALVINGS; half++) {
        /* Round-off of the objective's values must not reject a step along a negative slope. */
        const wide slack = 8 * WIDE_EPSILON * (wide_abs(at->value) + 1);
        const wide_mask poor = ~wide_le(value, at->value + (sinew_real)1e-4 * alpha * slope + slack);
        if (!wide_any(poor))
            break;
        alpha = wide_select(poor, (sinew_real)0.5 * alpha, alpha);
        value = prox_try(p, at->s, alpha, d, t, g);
    }
    for (int i = 0; i < p->size; i++) {
        at->s[i] = t[i];
        at->g[i] = g[i];
    }
    at->value = value;
}

#endif
