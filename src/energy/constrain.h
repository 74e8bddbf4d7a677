/* SPDX-License-Identifier: MIT
 *
 * constrain.h: energies as compliant constraints, psi = C^2 / (2 alpha), projected group by group (XPBD, PBD).
 *
 *     dlambda = (-C - alpha~ lambda - gamma grad C . (x - x_old)) / ((1 + gamma) sum w |grad C|^2 + alpha~)
 *     x_a += w_a grad_a C dlambda,   lambda += dlambda                            thesis (4.27), (4.28); XPBD (26)
 *
 * with alpha~ = alpha / h^2 and gamma = alpha beta / h. dlambda is multiplied by PBD's stiffness and the Jacobi
 * averaging weight. Particles move by the same dlambda that is added to lambda, so that M (x - q_tilde) = sum lambda
 * grad C holds up to the rotation of gradients, for every sweep order. Zero compliance is PBD. The fourth number of a
 * position is the inverse mass. A constraint whose gradient vanishes moves no particle. Multiplying C by a factor and
 * alpha by its square changes no position, so C is taken per unit of the modulus, and alpha = 1 / weight.
 *
 * C is often a length r with a gradient of the form g / r. With g = r grad C, the weight k, c = 1/h^2 and b = beta/h
 *
 *     dlambda / r = r (-k C - c lambda - (b / r) g . (x - x_old)) / ((k + b) sum w |g|^2 + c r^2)
 *     x_a += w_a g_a (dlambda / r)
 *
 * needs one division, in parallel with the root for r. If it overflows, it is computed again with g / r for g, 1 for r
 * and k, and c / k and b / k for c and b.
 */
#ifndef SINEW_SRC_ENERGY_CONSTRAIN_H
#define SINEW_SRC_ENERGY_CONSTRAIN_H

#include "energy/kernel_loop.h"

#define CONSTRAIN_VERTICES SINEW_STENCIL_MAX

/* The points of one group of constraints, and the constraints' gradients: x[4a ..] are x, y, z and inverse mass of
 * vertex a. */
typedef struct constrained {
    wide x[4 * CONSTRAIN_VERTICES];
    /* r grad C of each vertex: gradient of C times r (see the top of this file) */
    wide gradient[3 * CONSTRAIN_VERTICES];
    wide step; /* dlambda / r: change of the constraint's multiplier over r */
} constrained;

KERNEL_INLINE void constrain_gather(const sinew_real *xw, const int32_t *vertex, int n, constrained *c)
{
    for (int a = 0; a < n; a++)
        wide_gather_four(xw, vertex + a * SIMD_WIDTH, c->x + 4 * a);
}

/* g . (x - x_old): motion along g = r grad C since the start of the step, for damping */
KERNEL_INLINE wide constrain_motion(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                    const constrained *c)
{
    wide sum = wide_set(0);
    for (int a = 0; a < n; a++) {
        wide old[3];
        wide_gather_point(kernel->x_old, vertex + a * SIMD_WIDTH, old);
        for (int i = 0; i < 3; i++)
            sum += c->gradient[3 * a + i] * (c->x[4 * a + i] - old[i]);
    }
    return sum;
}

/* The terms of a constraint except its gradient, in the symbols at the top of constrain.h. */
typedef struct constrain_terms {
    /* compliance is c = 1/h^2 and damping is b = beta/h of the formulas at the top of this file */
    wide C, r, k, compliance, damping;
} constrain_terms;

/* Numerator and denominator of the change of the constraint's multiplier: dlambda / r = top / bottom. */
KERNEL_INLINE void constrain_ratio(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                   const constrain_terms *t, wide multiplier, bool damped, const constrained *c,
                                   wide *top, wide *bottom)
{
    wide sum = wide_set(0), k = t->k;
    *top = t->r * (-t->k * t->C - t->compliance * multiplier);
    for (int a = 0; a < n; a++) {
        const wide *g = c->gradient + 3 * a;
        sum += c->x[4 * a + 3] * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    }
    if (damped) {
        *top -= t->damping * constrain_motion(kernel, vertex, n, c);
        k += t->damping;
    }
    *bottom = k * sum + t->compliance * (t->r * t->r);
}

/* Solves one constraint per element of the group, with r times its gradient in c: updates lambda and writes dlambda / r
 * to c. `weight` is 1 / alpha; weight zero (padding lanes) changes nothing. `hard` ignores compliance and damping. */
KERNEL_INLINE void constrain_step(const sinew_constrain_kernel *kernel, int32_t group, const int32_t *vertex, int n,
                                  wide C, wide r, wide weight, bool hard, sinew_real *lambda, constrained *c)
{
    const wide zero = wide_set(0), one = wide_set(1), huge = wide_set(WIDE_HUGE), multiplier = wide_load(lambda);
    const wide averaging = kernel->averaging_weight ? wide_load(kernel->averaging_weight + group * SIMD_WIDTH) : one;
    const bool damped = kernel->x_old && !hard;
    const wide_mask real = wide_lt(zero, weight);
    constrain_terms t = {C, r, weight, wide_set(hard ? 0 : kernel->compliance), wide_set(kernel->damping)};
    wide top, bottom;
    constrain_ratio(kernel, vertex, n, &t, multiplier, damped, c, &top, &bottom);
    if (__builtin_expect(wide_any(~(wide_le(wide_abs(top), huge) & wide_le(bottom, huge))), 0)) {
        const wide alpha = 1 / wide_select(real, weight, one), inverse = 1 / r;
        for (int i = 0; i < 3 * n; i++)
            c->gradient[i] *= inverse;
        t = (constrain_terms){C, one, one, t.compliance * alpha, t.damping * alpha};
        constrain_ratio(kernel, vertex, n, &t, multiplier, damped, c, &top, &bottom);
    }
    const wide_mask acts = real & wide_lt(zero, bottom);
    c->step = kernel->stiffness * averaging * wide_select(acts, top / wide_select(acts, bottom, one), zero);
    wide_store(lambda, multiplier + c->step * t.r);
}

/* dx = displacement of vertex a by the projection of constraint C: w_a grad_a C dlambda, with the inverse mass w_a. */
KERNEL_INLINE void constrain_change(const constrained *c, int a, wide dx[3])
{
    const wide scale = c->step * c->x[4 * a + 3];
    for (int i = 0; i < 3; i++)
        dx[i] = scale * c->gradient[3 * a + i];
}

/* Moves the constrained particles: writes their new positions to kernel->xw, or adds the displacements to kernel->dx if
 * it is not NULL. */
KERNEL_INLINE void constrain_move(const sinew_constrain_kernel *kernel, const int32_t *vertex, int n,
                                  const constrained *c)
{
    /* Positions are overwritten. Stencils with more than four vertices may contain a vertex twice, so displacements are
     * added there. */
    const bool full_points = !kernel->dx && n <= 4;
    for (int a = 0; a < n; a++) {
        const wide *x = c->x + 4 * a;
        wide dx[3];
        constrain_change(c, a, dx);
        const wide moved[4] = {x[0] + dx[0], x[1] + dx[1], x[2] + dx[2], x[3]};
        if (full_points)
            wide_store_four(kernel->xw, vertex + a * SIMD_WIDTH, moved);
        else
            wide_scatter_point(kernel->dx ? kernel->dx : kernel->xw, vertex + a * SIMD_WIDTH, dx);
    }
}

/* Adds the displacements of the last projected constraint to c->x, for the next constraint of the same elements. */
KERNEL_INLINE void constrain_follow(int n, constrained *c)
{
    for (int a = 0; a < n; a++) {
        wide dx[3];
        constrain_change(c, a, dx);
        for (int i = 0; i < 3; i++)
            c->x[4 * a + i] += dx[i];
    }
}

/* Projects one constraint per element of a group: computes the multiplier's change, then moves the particles. */
KERNEL_INLINE void constrain_apply(const sinew_constrain_kernel *kernel, int32_t group, const int32_t *vertex, int n,
                                   wide C, wide r, wide weight, bool hard, sinew_real *lambda, constrained *c)
{
    constrain_step(kernel, group, vertex, n, C, r, weight, hard, lambda, c);
    constrain_move(kernel, vertex, n, c);
}

/* Writes constraint i of the m constraints of each element: its value C, its gradient (c holds r times the gradient)
 * and its compliance alpha = 1 / weight. A constraint of weight zero counts as absent. */
KERNEL_INLINE void jacobian_write(const sinew_jacobian_kernel *kernel, int32_t group, int i, int m, int n, wide C,
                                  wide r, wide weight, bool hard, const constrained *c)
{
    const wide zero = wide_set(0), one = wide_set(1), inverse = 1 / r;
    const wide_mask real = wide_lt(zero, weight);
    const size_t at = (size_t)group * (size_t)m + (size_t)i;
    const wide alpha = hard || kernel->hard ? zero : 1 / wide_select(real, weight, one);
    wide_store(kernel->C + at * SIMD_WIDTH, wide_select(real, C, zero));
    for (int k = 0; k < 3 * n; k++)
        wide_store(kernel->jacobian + (at * (size_t)(3 * n) + (size_t)k) * SIMD_WIDTH,
                   wide_select(real, c->gradient[k] * inverse, zero));
    for (int j = 0; j < m; j++)
        wide_store(kernel->compliance + (at * (size_t)m + (size_t)j) * SIMD_WIDTH,
                   j == i ? wide_select(real, alpha, one) : zero);
}

KERNEL_INLINE sinew_real *group_lambda(const sinew_constrain_kernel *kernel, int32_t group, int count)
{
    return kernel->lambda + (size_t)group * (size_t)(count * SIMD_WIDTH);
}

/* One constraint per element, at the points in c: returns C and writes r, the weight 1 / alpha, and r times the
 * gradient to c. `as_energy`: C is psi per unit of weight instead of its root. */
typedef wide single_constraint(const sinew_real *data, bool as_energy, constrained *c, wide *r, wide *weight);

/* Projects the constraints of one group of an energy with one constraint per element. */
KERNEL_INLINE void single_constrain(const sinew_constrain_kernel *kernel, int32_t group, int data_count, int n,
                                    single_constraint *constraint)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, n);
    constrained c;
    wide r, weight;
    constrain_gather(kernel->xw, vertex, n, &c);
    const wide C =
        constraint(group_data(&kernel->groups, group, data_count), kernel->form == SINEW_FORM_ENERGY, &c, &r, &weight);
    constrain_apply(kernel, group, vertex, n, C, r, weight, false, group_lambda(kernel, group, 1), &c);
}

/* Writes value C, gradient and compliance of the constraints of all groups, for energies of one constraint per
 * element. */
KERNEL_INLINE void single_jacobian(const sinew_jacobian_kernel *kernel, int data_count, int n,
                                   single_constraint *constraint)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        constrained c;
        wide r, weight;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, &c);
        const wide C = constraint(group_data(&kernel->groups, group, data_count), kernel->form == SINEW_FORM_ENERGY, &c,
                                  &r, &weight);
        jacobian_write(kernel, group, 0, 1, n, C, r, weight, false, &c);
    }
}

/* Constraint i of several per element, at the points in c: returns C and writes its gradient to c and the weight
 * 1 / alpha. `as_energy`: C is psi of this constraint per unit of weight instead of its root. */
typedef wide several_constraint(const sinew_real *data, int i, bool as_energy, constrained *c, wide *weight);

/* Projects the m constraints of each element in turn, each at the positions that the previous one has set. */
KERNEL_INLINE void several_constrain(const sinew_constrain_kernel *kernel, int32_t group, int data_count, int n, int m,
                                     several_constraint *constraint)
{
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const int32_t *vertex = group_vertex(&kernel->groups, group, n);
    sinew_real *lambda = group_lambda(kernel, group, m);
    constrained c;
    constrain_gather(kernel->xw, vertex, n, &c);
    for (int i = 0; i < m; i++) {
        wide weight;
        const wide C = constraint(data, i, kernel->form == SINEW_FORM_ENERGY, &c, &weight);
        constrain_apply(kernel, group, vertex, n, C, wide_set(1), weight, false, lambda + i * SIMD_WIDTH, &c);
        constrain_follow(n, &c);
    }
}

/* Writes value C, gradient and compliance of each of an element's m constraints, all evaluated at x. */
KERNEL_INLINE void several_jacobian(const sinew_jacobian_kernel *kernel, int data_count, int n, int m,
                                    several_constraint *constraint)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        constrained c;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, &c);
        for (int i = 0; i < m; i++) {
            wide weight;
            const wide C = constraint(data, i, kernel->form == SINEW_FORM_ENERGY, &c, &weight);
            jacobian_write(kernel, group, i, m, n, C, wide_set(1), weight, false, &c);
        }
    }
}

#endif
