/* SPDX-License-Identifier: MIT
 *
 * constrain.h: energies as compliant constraints, psi = C^2 / (2 alpha), projected one group after the other.
 *
 *     dlambda = (-C - alpha~ lambda - gamma grad C . (x - x_old)) / ((1 + gamma) sum w |grad C|^2 + alpha~)
 *     x_a += w_a grad_a C dlambda,   lambda += dlambda                            thesis (4.27), (4.28); XPBD (26)
 *
 * with alpha~ = alpha / h^2 and gamma = alpha beta / h, dlambda times PBD's stiffness and the Jacobi sweep's share:
 * what moves particles is what lambda gains, so that M (x - q_tilde) = sum lambda grad C holds up to the turning of
 * gradients, in every order of sweep. Zero compliance is PBD. Positions carry the inverse mass as
 * their fourth number. A constraint whose gradient vanishes does nothing. Multiplying C by a factor and alpha by its
 * square changes nothing, so C is taken per unit of the modulus and alpha = 1 / weight.
 *
 * C is often a length r, whose gradient is something divided by it. With that something, g = r grad C, with k the
 * weight, c = 1/h^2 and b = beta/h
 *
 *     dlambda / r = r (-k C - c lambda - (b / r) g . (x - x_old)) / ((k + b) sum w |g|^2 + c r^2)
 *     x_a += w_a g_a (dlambda / r)
 *
 * takes one division, beside which the root for r is found. Where that leaves the range of numbers it is done again
 * with g / r for g, and k for one.
 */
#ifndef SINEW_SRC_ENERGY_CONSTRAIN_H
#define SINEW_SRC_ENERGY_CONSTRAIN_H

#include "energy/kernel_loop.h"

#define CONSTRAIN_VERTICES SINEW_STENCIL_MAX

/* The points of one element group: x, y, z and inverse mass. */
typedef struct constrained {
    lane x[4 * CONSTRAIN_VERTICES];
    lane gradient[3 * CONSTRAIN_VERTICES]; /* times r */
    lane step;                             /* dlambda / r */
} constrained;

KERNEL_INLINE void constrain_gather(const sinew_real *xw, const int32_t *vertex, int n, constrained *c)
{
    for (int a = 0; a < n; a++)
        lane_gather_four(xw, vertex + a * LANES, c->x + 4 * a);
}

/* g . (x - x_old) */
KERNEL_INLINE lane constrain_motion(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                    const constrained *c)
{
    lane sum = lane_set(0);
    for (int a = 0; a < n; a++) {
        lane old[3];
        lane_gather_point(kernel->x_old, vertex + a * LANES, old);
        for (int i = 0; i < 3; i++)
            sum += c->gradient[3 * a + i] * (c->x[4 * a + i] - old[i]);
    }
    return sum;
}

/* The numbers of a constraint beside its gradient. */
typedef struct constrain_terms {
    lane C, r, k, compliance, damping; /* compliance and damping: c and b */
} constrain_terms;

/* dlambda / r is top / bottom. */
KERNEL_INLINE void constrain_ratio(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                   const constrain_terms *t, lane multiplier, bool damped, const constrained *c,
                                   lane *top, lane *bottom)
{
    lane sum = lane_set(0), k = t->k;
    *top = t->r * (-t->k * t->C - t->compliance * multiplier);
    for (int a = 0; a < n; a++) {
        const lane *g = c->gradient + 3 * a;
        sum += c->x[4 * a + 3] * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    if (damped) {
        *top -= t->damping * constrain_motion(kernel, vertex, n, c);
        k += t->damping;
    }
    *bottom = k * sum + t->compliance * (t->r * t->r);
}

/* One constraint of the group, r times its gradient in c: moves lambda, and leaves dlambda / r in c. `weight` is 1 /
 * alpha; where it is zero (fillers) nothing happens; `hard` ignores the compliance. */
KERNEL_INLINE void constrain_step(const sinew_constrain_kernel *kernel, int32_t group, const int32_t *vertex, int n,
                                  lane C, lane r, lane weight, bool hard, sinew_real *lambda, constrained *c)
{
    const lane zero = lane_set(0), one = lane_set(1), huge = lane_set(LANE_HUGE), multiplier = lane_load(lambda);
    const lane share = kernel->share ? lane_load(kernel->share + group * LANES) : one;
    const bool damped = kernel->x_old && !hard;
    const lane_mask real = lane_lt(zero, weight);
    constrain_terms t = {C, r, weight, lane_set(hard ? 0 : kernel->compliance), lane_set(kernel->damping)};
    lane top, bottom;
    constrain_ratio(kernel, vertex, n, &t, multiplier, damped, c, &top, &bottom);
    if (__builtin_expect(lane_any(~(lane_le(lane_abs(top), huge) & lane_le(bottom, huge))), 0)) {
        const lane alpha = 1 / lane_select(real, weight, one), inverse = 1 / r;
        for (int i = 0; i < 3 * n; i++)
            c->gradient[i] *= inverse;
        t = (constrain_terms){C, one, one, t.compliance * alpha, t.damping * alpha};
        constrain_ratio(kernel, vertex, n, &t, multiplier, damped, c, &top, &bottom);
    }
    const lane_mask acts = real & lane_lt(zero, bottom);
    c->step = kernel->stiffness * share * lane_select(acts, top / lane_select(acts, bottom, one), zero);
    lane_store(lambda, multiplier + c->step * t.r);
}

/* The step of vertex a. */
KERNEL_INLINE void constrain_change(const constrained *c, int a, lane dx[3])
{
    const lane scale = c->step * c->x[4 * a + 3];
    for (int i = 0; i < 3; i++)
        dx[i] = scale * c->gradient[3 * a + i];
}

/* Writes the particles where the step brings them. */
KERNEL_INLINE void constrain_move(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                  const constrained *c)
{
    /* Points are written whole, but not by pairs, which may name a vertex twice. */
    const bool whole = !kernel->dx && n <= 4;
    for (int a = 0; a < n; a++) {
        const lane *x = c->x + 4 * a;
        lane dx[3];
        constrain_change(c, a, dx);
        const lane moved[4] = {x[0] + dx[0], x[1] + dx[1], x[2] + dx[2], x[3]};
        if (whole)
            lane_store_four(kernel->xw, vertex + a * LANES, moved);
        else
            lane_scatter_point(kernel->dx ? kernel->dx : kernel->xw, vertex + a * LANES, dx);
    }
}

/* Brings c->x there, too, for the next constraint of the same group. */
KERNEL_INLINE void constrain_follow(int n, constrained *c)
{
    for (int a = 0; a < n; a++) {
        lane dx[3];
        constrain_change(c, a, dx);
        for (int i = 0; i < 3; i++)
            c->x[4 * a + i] += dx[i];
    }
}

/* A constraint by itself: its step, then the move. */
KERNEL_INLINE void constrain_apply(const sinew_constrain_kernel *kernel, int32_t group, const int32_t *vertex, int n,
                                   lane C, lane r, lane weight, bool hard, sinew_real *lambda, constrained *c)
{
    constrain_step(kernel, group, vertex, n, C, r, weight, hard, lambda, c);
    constrain_move(kernel, vertex, n, c);
}

/* Constraint number i of m as numbers: C, its gradient, of which c has r times as much, and alpha = 1 / weight. A
 * weight of zero writes that there is no such constraint. */
KERNEL_INLINE void jacobian_write(const sinew_jacobian_kernel *kernel, int32_t group, int i, int m, int n, lane C,
                                  lane r, lane weight, bool hard, const constrained *c)
{
    const lane zero = lane_set(0), one = lane_set(1), inverse = 1 / r;
    const lane_mask real = lane_lt(zero, weight);
    const size_t at = (size_t)group * (size_t)m + (size_t)i;
    const lane alpha = hard || kernel->hard ? zero : 1 / lane_select(real, weight, one);
    lane_store(kernel->C + at * LANES, lane_select(real, C, zero));
    for (int k = 0; k < 3 * n; k++)
        lane_store(kernel->jacobian + (at * (size_t)(3 * n) + (size_t)k) * LANES,
                   lane_select(real, c->gradient[k] * inverse, zero));
    for (int j = 0; j < m; j++)
        lane_store(kernel->compliance + (at * (size_t)m + (size_t)j) * LANES,
                   j == i ? lane_select(real, alpha, one) : zero);
}

KERNEL_INLINE sinew_real *group_lambda(const sinew_constrain_kernel *kernel, int32_t group, int count)
{
    return kernel->lambda + (size_t)group * (size_t)(count * LANES);
}

/* An energy of one constraint an element, at the points in c: returns C, leaves r, the weight 1 / alpha, and
 * r times the gradient in c. `whole`: C = psi per unit of weight, in place of its root. */
typedef lane single_constraint(const sinew_real *data, bool whole, constrained *c, lane *r, lane *weight);

/* One group of such an energy, with everything that a sweep may ask for. */
KERNEL_INLINE void single_constrain(const sinew_constrain_kernel *kernel, int32_t group, int data_count, int n,
                                    single_constraint *constraint)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, n);
    constrained c;
    lane r, weight;
    constrain_gather(kernel->xw, vertex, n, &c);
    const lane C =
        constraint(group_data(&kernel->groups, group, data_count), kernel->form == SINEW_FORM_ENERGY, &c, &r, &weight);
    constrain_apply(kernel, group, vertex, n, C, r, weight, false, group_lambda(kernel, group, 1), &c);
}

/* The same as numbers, all groups. */
KERNEL_INLINE void single_jacobian(const sinew_jacobian_kernel *kernel, int data_count, int n,
                                   single_constraint *constraint)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        constrained c;
        lane r, weight;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, &c);
        const lane C = constraint(group_data(&kernel->groups, group, data_count), kernel->form == SINEW_FORM_ENERGY, &c,
                                  &r, &weight);
        jacobian_write(kernel, group, 0, 1, n, C, r, weight, false, &c);
    }
}

/* An energy of several constraints an element: number i at the points in c, its gradient there; returns C, leaves the
 * weight 1 / alpha. `whole`: C = psi of this constraint per unit of weight, in place of its root. */
typedef lane several_constraint(const sinew_real *data, int i, bool whole, constrained *c, lane *weight);

/* One group: each constraint in turn, where the one before has led. */
KERNEL_INLINE void several_constrain(const sinew_constrain_kernel *kernel, int32_t group, int data_count, int n, int m,
                                     several_constraint *constraint)
{
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const int32_t *vertex = group_vertex(&kernel->groups, group, n);
    sinew_real *lambda = group_lambda(kernel, group, m);
    constrained c;
    constrain_gather(kernel->xw, vertex, n, &c);
    for (int i = 0; i < m; i++) {
        lane weight;
        const lane C = constraint(data, i, kernel->form == SINEW_FORM_ENERGY, &c, &weight);
        constrain_apply(kernel, group, vertex, n, C, lane_set(1), weight, false, lambda + i * LANES, &c);
        constrain_follow(n, &c);
    }
}

/* The same as numbers, all of them at x, all groups. */
KERNEL_INLINE void several_jacobian(const sinew_jacobian_kernel *kernel, int data_count, int n, int m,
                                    several_constraint *constraint)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        constrained c;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, &c);
        for (int i = 0; i < m; i++) {
            lane weight;
            const lane C = constraint(data, i, kernel->form == SINEW_FORM_ENERGY, &c, &weight);
            jacobian_write(kernel, group, i, m, n, C, lane_set(1), weight, false, &c);
        }
    }
}

#endif
