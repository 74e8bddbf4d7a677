/* SPDX-License-Identifier: MIT
 *
 * tet_reduced.h: tetrahedra in the reduced coordinates of projective methods: z = D x is the deformation gradient F, its
 * three columns the three rows of D (energy.h).
 *
 *     stiffness   k w, the slope of the line through (1, 0) that fits dpsi/dsigma(sigma, 1, 1) best over an interval,
 *                 k = int (s - 1) psi'(s) ds / int (s - 1)^2 ds                                    thesis (4.64)
 *     prox        Z = argmin w psi(Z) + w2/2 |Z - Y|^2, Y = F + u                                  thesis (4.74)
 *
 * An isotropic energy's Z has the singular vectors of Y (von Neumann's trace inequality), so that three singular values
 * are left: Newton's method on them, with the exact Hessian where that is positive definite, else the projected one,
 * and a line search; all lanes go on until every one is done.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_REDUCED_H
#define SINEW_SRC_ENERGY_TET_TET_REDUCED_H

#include "energy/tet/isotropic.h"

#define PROX_ITERATIONS 40
#define PROX_HALVINGS   30
#define FIT_INTERVALS   32 /* Simpson's rule */

/* rows[r][a]: F e_r = sum_a d[r][a] x_a with d[r][a] = L[a-1][r], d[r][0] = -sum */
KERNEL_INLINE void tet_reduce(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        sinew_real *rows = kernel->rows + (size_t)group * 12 * LANES;
        lane l[6];
        load_lanes(data + TET_LOWER * LANES, 6, l);
        for (int r = 0; r < 3; r++) {
            lane sum = lane_set(0);
            for (int a = 0; a < 3; a++) {
                const lane entry = a < r ? lane_set(0) : l[a * (a + 1) / 2 + r];
                lane_store(rows + (4 * r + a + 1) * LANES, entry);
                sum += entry;
            }
            lane_store(rows + (4 * r) * LANES, -sum);
        }
    }
}

/* weights = w: psi is w/2 times a squared distance */
KERNEL_INLINE void tet_weight_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, data_count)));
}

KERNEL_INLINE void diagonal_matrix(const lane sigma[3], lane F[9])
{
    for (int i = 0; i < 9; i++)
        F[i] = i % 4 == 0 ? sigma[i / 4] : lane_set(0);
}

KERNEL_INLINE void tet_fit_stiffness(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress)
{
    const double low = kernel->stretch_low, step = (kernel->stretch_high - low) / FIT_INTERVALS;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane top = lane_set(0), bottom = lane_set(0);
        for (int i = 0; i <= FIT_INTERVALS; i++) {
            const sinew_real stretch = (sinew_real)(low + step * i);
            const sinew_real share = i == 0 || i == FIT_INTERVALS ? 1 : i % 2 ? 4 : 2;
            const lane sigma[3] = {lane_set(stretch), lane_set(1), lane_set(1)};
            lane F[9], P[9];
            diagonal_matrix(sigma, F);
            stress(F, data + TET_MATERIAL * LANES, P);
            top += share * (stretch - 1) * P[0];
            bottom += lane_set(share * (stretch - 1) * (stretch - 1));
        }
        /* No material of the table pulls inwards on average; the bound keeps a wild interval usable. */
        const lane k = lane_max(top / bottom, lane_set((sinew_real)0.01));
        lane_store(kernel->weights + group * LANES, k * lane_load(data));
    }
}

/* ---- Proximal map ---------------------------------------------------------------------------- */

/* Solves (A + shift 1) d = -g for symmetric A by Cholesky; returns where that is positive definite. */
KERNEL_INLINE lane_mask solve_definite(const lane A[6], lane shift, const lane g[3], lane d[3])
{
    const lane one = lane_set(1), zero = lane_set(0);
    const lane p0 = A[0] + shift;
    const lane_mask good0 = lane_lt(zero, p0);
    const lane i0 = 1 / lane_select(good0, p0, one), l10 = A[3] * i0, l20 = A[4] * i0;
    const lane p1 = A[1] + shift - l10 * A[3];
    const lane_mask good1 = lane_lt(zero, p1);
    const lane c21 = A[5] - l20 * A[3], i1 = 1 / lane_select(good1, p1, one), l21 = c21 * i1;
    const lane p2 = A[2] + shift - l20 * A[4] - l21 * c21;
    const lane_mask good2 = lane_lt(zero, p2);
    const lane y0 = -g[0], y1 = -g[1] - l10 * y0, y2 = -g[2] - l20 * y0 - l21 * y1;
    d[2] = y2 / lane_select(good2, p2, one);
    d[1] = y1 * i1 - l21 * d[2];
    d[0] = y0 * i0 - l10 * d[1] - l20 * d[2];
    return good0 & good1 & good2;
}

/* psi + r/2 |s - s0|^2 and its gradient, r = w2 / w */
KERNEL_INLINE lane prox_value(const lane s[3], const lane s0[3], lane r, const sinew_real *material, tet_stress *stress,
                              lane g[3])
{
    lane F[9], P[9], distance = lane_set(0);
    diagonal_matrix(s, F);
    const lane psi = stress(F, material, P);
    for (int i = 0; i < 3; i++) {
        const lane d = s[i] - s0[i];
        g[i] = P[4 * i] + r * d;
        distance += d * d;
    }
    return psi + lane_set((sinew_real)0.5) * r * distance;
}

KERNEL_INLINE void prox_direction(const lane s[3], lane r, const sinew_real *material, isotropic_curvature *curvature,
                                  const lane g[3], lane d[3])
{
    isotropic_eigen eigen;
    curvature(s, material, &eigen);
    const lane_mask definite = solve_definite(eigen.A, r, g, d);
    if (!lane_any(~definite))
        return;
    lane safe[3];
    isotropic_project(&eigen);
    solve_definite(eigen.A, r, g, safe);
    for (int i = 0; i < 3; i++)
        d[i] = lane_select(definite, d[i], safe[i]);
}

KERNEL_INLINE void prox_sort(lane s[3], int i, int j)
{
    const lane low = lane_min(s[i], s[j]);
    s[i] = lane_max(s[i], s[j]);
    s[j] = low;
}

/* s0 >= s1 >= |s2|: the energy is the same in any order and with two signs changed, and of all these points this one
 * is nearest to Y, whose singular values are so. What is lowest elsewhere is a saddle between rotations of Z. */
KERNEL_INLINE void prox_order(lane s[3])
{
    for (int pass = 0; pass < 2; pass++) {
        prox_sort(s, 0, 1);
        prox_sort(s, 1, 2);
        prox_sort(s, 0, 1);
        const lane_mask mirrored = lane_lt(s[1] + s[2], lane_set(0));
        const lane middle = lane_select(mirrored, -s[2], s[1]);
        s[2] = lane_select(mirrored, -s[1], s[2]);
        s[1] = middle;
    }
}

/* Where the iteration begins: at s0, or at the nearest point that is well inside where that is lower, where the energy
 * is infinite or next to it at s0, and where the rotation nearest to s0 is not unique (s1 + s2 = 0). */
KERNEL_INLINE lane prox_start(const lane s0[3], lane r, const sinew_real *material, tet_stress *stress, lane s[3],
                              lane g[3])
{
    const lane bound = lane_set((sinew_real)0.25), huge = lane_set(LANE_HUGE);
    lane inner[3];
    for (int i = 0; i < 3; i++)
        inner[i] = lane_max(s0[i], bound);
    const lane outside = prox_value(s0, s0, r, material, stress, g);
    const lane inside = prox_value(inner, s0, r, material, stress, g);
    const lane_mask apart = lane_lt(lane_set((sinew_real)1e-3), s0[1] + s0[2]);
    const lane_mask stay = lane_le(outside, huge) & lane_le(outside, inside) & apart;
    for (int i = 0; i < 3; i++)
        s[i] = lane_select(stay, s0[i], inner[i]);
    return prox_value(s, s0, r, material, stress, g);
}

/* s = argmin psi(s) + r/2 |s - s0|^2 */
KERNEL_INLINE void prox_solve(const lane s0[3], lane r, const sinew_real *material, tet_stress *stress,
                              isotropic_curvature *curvature, lane s[3])
{
    const lane zero = lane_set(0);
    lane g[3], d[3];
    lane value = prox_start(s0, r, material, stress, s, g);
    lane_mask busy = lane_eq(zero, zero);
    for (int k = 0; k < PROX_ITERATIONS && lane_any(busy); k++) {
        prox_direction(s, r, material, curvature, g, d);
        const lane slope = g[0] * d[0] + g[1] * d[1] + g[2] * d[2];
        const lane size = lane_abs(d[0]) + lane_abs(d[1]) + lane_abs(d[2]);
        const lane reach = lane_abs(s[0]) + lane_abs(s[1]) + lane_abs(s[2]);
        busy &= lane_lt(2 * LANE_EPSILON * reach, size);
        lane alpha = lane_select(busy, lane_set(1), zero), t[3], tg[3], tv;
        for (int i = 0; i < 3; i++)
            t[i] = s[i] + alpha * d[i];
        prox_order(t);
        tv = prox_value(t, s0, r, material, stress, tg);
        for (int half = 0; half < PROX_HALVINGS; half++) {
            /* Round-off of the values must not stop a step that the slope wants. */
            const lane slack = 8 * LANE_EPSILON * (lane_abs(value) + 1);
            const lane_mask poor = ~lane_le(tv, value + (sinew_real)1e-4 * alpha * slope + slack);
            if (!lane_any(poor))
                break;
            alpha = lane_select(poor, (sinew_real)0.5 * alpha, alpha);
            for (int i = 0; i < 3; i++)
                t[i] = s[i] + alpha * d[i];
            prox_order(t);
            tv = prox_value(t, s0, r, material, stress, tg);
        }
        for (int i = 0; i < 3; i++) {
            s[i] = t[i];
            g[i] = tg[i];
        }
        value = tv;
    }
}

KERNEL_INLINE sinew_real *group_dual(const sinew_reduced_kernel *kernel, int32_t group, int count)
{
    return kernel->u + (size_t)group * (size_t)(count * LANES);
}

/* u = Y - Z, P = w2 (Z - u - F); zero for elements that only fill up a group. P may be F. */
KERNEL_INLINE void tet_prox_dual(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                 const lane F[9], const lane Y[9], const lane Z[9], lane P[9])
{
    const lane zero = lane_set(0), w2 = lane_load(kernel->weights + group * LANES);
    /* A filler's local problem has no weight and may run off to infinity, which times zero is not zero. */
    const lane_mask filler = lane_eq(lane_load(data), zero);
    lane u[9];
    for (int i = 0; i < 9; i++) {
        u[i] = lane_select(filler, zero, Y[i] - Z[i]);
        P[i] = lane_select(filler, zero, w2 * (Z[i] - u[i] - F[i]));
    }
    store_lanes(group_dual(kernel, group, 9), 9, u);
}

/* The same, and g += D^T P. */
KERNEL_INLINE void tet_prox_finish(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                   const lane F[9], const lane Y[9], const lane Z[9], const lane lower[6])
{
    lane P[9];
    tet_prox_dual(kernel, group, data, F, Y, Z, P);
    tet_scatter(kernel->g, group_vertex(&kernel->groups, group, 4), P, lower);
}

KERNEL_INLINE void isotropic_prox(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress,
                                  isotropic_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane lower[6], F[9], Y[9], Z[9], U[9], V[9], s0[3], s[3];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        load_lanes(group_dual(kernel, group, 9), 9, Y);
        for (int i = 0; i < 9; i++)
            Y[i] += F[i];
        sinew_svd3(Y, U, s0, V);
        const lane w = lane_load(data);
        const lane safe = lane_select(lane_eq(w, lane_set(0)), lane_set(1), w);
        prox_solve(s0, lane_load(kernel->weights + group * LANES) / safe, data + TET_MATERIAL * LANES, stress,
                   curvature, s);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                U[3 * i + j] *= s[j];
        multiply3_nt(U, V, Z);
        tet_prox_finish(kernel, group, data, F, Y, Z, lower);
    }
}

#endif
