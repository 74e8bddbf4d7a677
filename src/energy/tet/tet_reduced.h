/* SPDX-License-Identifier: MIT
 *
 * tet_reduced.h: tetrahedra in the reduced coordinates of projective methods: z = D x is the deformation gradient F,
 * whose three columns are the three vectors of z (energy/energy.h).
 *
 *     stiffness   k w, the slope of the line through (1, 0) that fits dpsi/dsigma(sigma, 1, 1) best over an interval,
 *                 k = int (s - 1) psi'(s) ds / int (s - 1)^2 ds                                    thesis (4.64)
 *     prox        Z = argmin w psi(Z) + w2/2 |Z - Y|^2, Y = F + u                                  thesis (4.74)
 *
 * Z of an isotropic energy has the singular vectors of Y (von Neumann's trace inequality), so only three singular
 * values are unknown. Newton's method finds them, with the exact Hessian if it is positive definite, else the projected
 * one, and a line search. Iterations end when all lanes have converged, or after PROX_ITERATIONS.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_REDUCED_H
#define SINEW_SRC_ENERGY_TET_TET_REDUCED_H

#include "energy/prox_newton.h"
#include "energy/tet/isotropic.h"

#define FIT_INTERVALS 32 /* number of intervals of Simpson's rule over the stretches of the stiffness fit */

/* Writes the reduction matrix D of z = D x: column r of F is F e_r = sum_a D[r][a] x_a with D[r][a] = L[a-1][r], L
 * the inverse rest shape, and D[r][0] = -sum of the others. */
KERNEL_INLINE void tet_reduce(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        sinew_real *rows = kernel->D + (size_t)group * 12 * SIMD_WIDTH;
        wide l[6];
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, l);
        for (int r = 0; r < 3; r++) {
            wide sum = wide_set(0);
            for (int a = 0; a < 3; a++) {
                const wide entry = a < r ? wide_set(0) : l[a * (a + 1) / 2 + r];
                wide_store(rows + (4 * r + a + 1) * SIMD_WIDTH, entry);
                sum += entry;
            }
            wide_store(rows + (4 * r) * SIMD_WIDTH, -sum);
        }
    }
}

/* Stiffness of energies that are w/2 times a squared distance: the weight w of each tet. */
KERNEL_INLINE void tet_weight_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, data_count)));
}

KERNEL_INLINE void diagonal_matrix(const wide sigma[3], wide F[9])
{
    for (int i = 0; i < 9; i++)
        F[i] = i % 4 == 0 ? sigma[i / 4] : wide_set(0);
}

KERNEL_INLINE void tet_fit_stiffness(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress)
{
    const double low = kernel->stretch_low, step = (kernel->stretch_high - low) / FIT_INTERVALS;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide top = wide_set(0), bottom = wide_set(0);
        for (int i = 0; i <= FIT_INTERVALS; i++) {
            const sinew_real stretch = (sinew_real)(low + step * i);
            const sinew_real simpson = i == 0 || i == FIT_INTERVALS ? 1 : i % 2 ? 4 : 2;
            const wide sigma[3] = {wide_set(stretch), wide_set(1), wide_set(1)};
            wide F[9], P[9];
            diagonal_matrix(sigma, F);
            stress(F, data + TET_MATERIAL * SIMD_WIDTH, P);
            top += simpson * (stretch - 1) * P[0];
            bottom += wide_set(simpson * (stretch - 1) * (stretch - 1));
        }
        /* The fitted stiffness of all materials is positive; the lower bound is for extreme ranges of stretches. */
        const wide k = wide_max(top / bottom, wide_set((sinew_real)0.01));
        wide_store(kernel->weights + group * SIMD_WIDTH, k * wide_load(data));
    }
}

/* ---- Proximal map of isotropic materials, for ADMM ----------------------------------------------- */

/* Solves (A + shift 1) d = -g for a symmetric 3x3 matrix A by Cholesky; returns the mask of lanes with a positive
 * definite matrix. */
KERNEL_INLINE wide_mask solve_definite(const wide A[6], wide shift, const wide g[3], wide d[3])
{
    const wide one = wide_set(1), zero = wide_set(0);
    const wide p0 = A[0] + shift;
    const wide_mask good0 = wide_lt(zero, p0);
    const wide i0 = 1 / wide_select(good0, p0, one), l10 = A[3] * i0, l20 = A[4] * i0;
    const wide p1 = A[1] + shift - l10 * A[3];
    const wide_mask good1 = wide_lt(zero, p1);
    const wide c21 = A[5] - l20 * A[3], i1 = 1 / wide_select(good1, p1, one), l21 = c21 * i1;
    const wide p2 = A[2] + shift - l20 * A[4] - l21 * c21;
    const wide_mask good2 = wide_lt(zero, p2);
    const wide y0 = -g[0], y1 = -g[1] - l10 * y0, y2 = -g[2] - l20 * y0 - l21 * y1;
    d[2] = y2 / wide_select(good2, p2, one);
    d[1] = y1 * i1 - l21 * d[2];
    d[0] = y0 * i0 - l10 * d[1] - l20 * d[2];
    return good0 & good1 & good2;
}

/* Objective of the proximal map over singular values: psi + r/2 |s - s0|^2 and its gradient, r =
 * ADMM's squared weight over the energy's weight */
KERNEL_INLINE wide isotropic_prox_value(const wide s[3], const wide s0[3], wide r, const sinew_real *material,
                                        tet_stress *stress, wide g[3])
{
    wide F[9], P[9], distance = wide_set(0);
    diagonal_matrix(s, F);
    const wide psi = stress(F, material, P);
    for (int i = 0; i < 3; i++) {
        const wide d = s[i] - s0[i];
        g[i] = P[4 * i] + r * d;
        distance += d * d;
    }
    return psi + wide_set((sinew_real)0.5) * r * distance;
}

KERNEL_INLINE void isotropic_prox_direction(const wide s[3], wide r, const sinew_real *material,
                                            isotropic_curvature *curvature, const wide g[3], wide d[3])
{
    isotropic_eigen eigen;
    curvature(s, material, &eigen);
    const wide_mask definite = solve_definite(eigen.A, r, g, d);
    if (!wide_any(~definite))
        return;
    wide safe[3];
    isotropic_project(&eigen);
    solve_definite(eigen.A, r, g, safe);
    for (int i = 0; i < 3; i++)
        d[i] = wide_select(definite, d[i], safe[i]);
}

KERNEL_INLINE void isotropic_prox_sort(wide s[3], int i, int j)
{
    const wide low = wide_min(s[i], s[j]);
    s[i] = wide_max(s[i], s[j]);
    s[j] = low;
}

/* Sorts the singular values s0 >= s1 >= |s2|. The energy is invariant under permutations and two sign changes, and the
 * sorted point is nearest to Y, whose singular values are sorted. A minimum in another order is a saddle point over
 * rotations of Z. */
KERNEL_INLINE void isotropic_prox_canonical(wide s[3])
{
    for (int pass = 0; pass < 2; pass++) {
        isotropic_prox_sort(s, 0, 1);
        isotropic_prox_sort(s, 1, 2);
        isotropic_prox_sort(s, 0, 1);
        const wide_mask mirrored = wide_lt(s[1] + s[2], wide_set(0));
        const wide middle = wide_select(mirrored, -s[2], s[1]);
        s[2] = wide_select(mirrored, -s[1], s[2]);
        s[1] = middle;
    }
}

/* Newton's method for the proximal map starts at s0. The nearest point well inside the domain replaces s0 if its value
 * is lower, or if the rotation nearest to s0 is not unique (s1 + s2 = 0). */
KERNEL_INLINE void isotropic_prox_start(const prox_problem *p, prox_iterate *at)
{
    const wide bound = wide_set((sinew_real)0.25), *s0 = p->y;
    const wide inner[3] = {wide_max(s0[0], bound), wide_max(s0[1], bound), wide_max(s0[2], bound)};
    prox_start(p, inner, wide_lt(wide_set((sinew_real)1e-3), s0[1] + s0[2]), at);
}

/* Proximal map over the singular values: s = argmin psi(s) + r/2 |s - s0|^2 */
KERNEL_INLINE void isotropic_prox_solve(const wide s0[3], wide r, const sinew_real *material, tet_stress *stress,
                                        isotropic_curvature *curvature, wide s[3])
{
    const prox_problem p = {3, s0, r, material, stress, isotropic_prox_value, isotropic_prox_canonical};
    prox_iterate at;
    wide d[3];
    isotropic_prox_start(&p, &at);
    for (int k = 0; k < PROX_ITERATIONS && wide_any(at.busy); k++) {
        isotropic_prox_direction(at.s, r, material, curvature, at.g, d);
        const wide size = wide_abs(d[0]) + wide_abs(d[1]) + wide_abs(d[2]);
        const wide reach = wide_abs(at.s[0]) + wide_abs(at.s[1]) + wide_abs(at.s[2]);
        at.busy &= wide_lt(2 * WIDE_EPSILON * reach, size);
        prox_step(&p, d, &at);
    }
    for (int i = 0; i < 3; i++)
        s[i] = at.s[i];
}

KERNEL_INLINE sinew_real *group_dual(const sinew_reduced_kernel *kernel, int32_t group, int count)
{
    return kernel->u + (size_t)group * (size_t)(count * SIMD_WIDTH);
}

/* Updates ADMM's dual variable u = Y - Z, with the argument Y and the result Z of the proximal map, and sets P = w2
 * (Z - u - F). Both are zero for padding lanes. P may be F. */
KERNEL_INLINE void tet_prox_dual(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                 const wide F[9], const wide Y[9], const wide Z[9], wide P[9])
{
    const wide zero = wide_set(0), w2 = wide_load(kernel->weights + group * SIMD_WIDTH);
    /* The local problem of a padding lane has no weight and may diverge, and infinity times zero is not zero. */
    const wide_mask filler = wide_eq(wide_load(data), zero);
    wide u[9];
    for (int i = 0; i < 9; i++) {
        u[i] = wide_select(filler, zero, Y[i] - Z[i]);
        P[i] = wide_select(filler, zero, w2 * (Z[i] - u[i] - F[i]));
    }
    store_wide_array(group_dual(kernel, group, 9), 9, u);
}

/* Updates ADMM's dual variable u like tet_prox_dual() and adds its force: g += D^T P with the reduction matrix D. */
KERNEL_INLINE void tet_prox_finish(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                   const wide F[9], const wide Y[9], const wide Z[9], const wide lower[6])
{
    wide P[9];
    tet_prox_dual(kernel, group, data, F, Y, Z, P);
    tet_scatter(kernel->g, group_vertex(&kernel->groups, group, 4), P, lower);
}

KERNEL_INLINE void isotropic_prox(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress,
                                  isotropic_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide lower[6], F[9], Y[9], Z[9], U[9], V[9], s0[3], s[3];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        load_wide_array(group_dual(kernel, group, 9), 9, Y);
        for (int i = 0; i < 9; i++)
            Y[i] += F[i];
        sinew_svd3(Y, U, s0, V);
        const wide w = wide_load(data);
        const wide safe = wide_select(wide_eq(w, wide_set(0)), wide_set(1), w);
        isotropic_prox_solve(s0, wide_load(kernel->weights + group * SIMD_WIDTH) / safe,
                             data + TET_MATERIAL * SIMD_WIDTH, stress, curvature, s);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                U[3 * i + j] *= s[j];
        multiply3_nt(U, V, Z);
        tet_prox_finish(kernel, group, data, F, Y, Z, lower);
    }
}

#endif
