/* SPDX-License-Identifier: MIT
 *
 * membrane.h: isotropic energies on triangles, psi(F) = psi(sigma0, sigma1) with F = [u0 u1] diag(sigma) V^T: second
 * derivatives exact or projected, the stiffness of reduced coordinates and the proximal map.
 *
 * With psi_i = dpsi/dsigma_i and the normal n = u0 x u1 the six eigenvectors of dP/dF are known in closed form:
 *
 *     [u0 u1] diag(d) V^T                    the eigenvectors d of the 2x2 matrix A_ij = d2psi/dsigma_i dsigma_j
 *     [u0 u1] (e0 e1^T + e1 e0^T) V^T        even = (psi_0 - psi_1) / (sigma0 - sigma1)
 *     [u0 u1] (e0 e1^T - e1 e0^T) V^T        odd  = (psi_0 + psi_1) / (sigma0 + sigma1)
 *     n e_i^T V^T                            out_i = psi_i / sigma_i
 *
 * The last two turn the triangle out of its plane and are negative under compression: a sheet without stiffness against
 * bending buckles. A material gives all of these with the divisions carried out on paper, so that nothing cancels where
 * singular values meet. The six are orthonormal up to scale: clamping at zero is the nearest semi-definite matrix.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_H
#define SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_H

#include "energy/triangle/triangle.h"

#define MEMBRANE_ITERATIONS 40 /* Newton's method of the proximal map */
#define MEMBRANE_HALVINGS   30
#define MEMBRANE_INTERVALS  128 /* Simpson's rule */

typedef struct membrane_eigen {
    lane A[3]; /* A00 A11 A01 */
    lane even, odd;
    lane out[2];
} membrane_eigen;

/* The material's second derivatives at sigma0 >= sigma1 >= 0. */
typedef void membrane_curvature(const lane sigma[2], const sinew_real *material, membrane_eigen *eigen);

/* Where an energy measures the distance to stretched shapes, odd and out grow without bound as a singular value goes to
 * zero: the nearest shape jumps there. Divisors count as no less than this; rounding in F is then at most about 1e-10
 * (single 1e-4) of the result. */
#ifdef SINEW_SINGLE
#define MEMBRANE_BOUND 1e-3f
#else
#define MEMBRANE_BOUND 1e-6
#endif

/* 1 / a, bounded as above. */
KERNEL_INLINE lane membrane_inverse(lane a)
{
    return 1 / lane_max(a, lane_set(MEMBRANE_BOUND));
}

/* Lifts the negative eigenvalues of the symmetric matrix A (00 11 01) to zero; a semi-definite one keeps its bits. */
KERNEL_INLINE void membrane_lift(lane A[3])
{
    const lane half = lane_set((sinew_real)0.5), zero = lane_set(0);
    const lane middle = half * (A[0] + A[1]), apart = half * (A[0] - A[1]);
    const lane radius = lane_sqrt(apart * apart + A[2] * A[2]);
    const lane both = lane_max(-(middle + radius), zero), low = lane_max(radius - middle, zero);
    /* The projector onto the lower eigenvector is (middle + radius - A) / (2 radius). */
    const lane share = (low - both) / lane_max(2 * radius, lane_set(LANE_TINY));
    A[0] += both + share * (radius - apart);
    A[1] += both + share * (radius + apart);
    A[2] -= share * A[2];
}

KERNEL_INLINE void membrane_project(membrane_eigen *eigen)
{
    const lane zero = lane_set(0);
    membrane_lift(eigen->A);
    eigen->even = lane_max(eigen->even, zero);
    eigen->odd = lane_max(eigen->odd, zero);
    for (int i = 0; i < 2; i++)
        eigen->out[i] = lane_max(eigen->out[i], zero);
}

/* K = the block of d2psi for two vertices whose rest gradients times V are a and b. */
KERNEL_INLINE void membrane_block(const membrane_eigen *eigen, const lane U[9], const lane a[2], const lane b[2],
                                  lane K[9])
{
    const lane half = lane_set((sinew_real)0.5);
    const lane s = half * (eigen->even + eigen->odd), t = half * (eigen->even - eigen->odd);
    const lane w0 = a[0] * b[0], w1 = a[1] * b[1], c01 = a[0] * b[1], c10 = a[1] * b[0];
    const lane k00 = eigen->A[0] * w0 + s * w1, k11 = s * w0 + eigen->A[1] * w1;
    const lane k22 = eigen->out[0] * w0 + eigen->out[1] * w1;
    const lane k01 = eigen->A[2] * c01 + t * c10, k10 = eigen->A[2] * c10 + t * c01;
    lane UK[9];
    for (int i = 0; i < 3; i++) {
        UK[3 * i] = U[3 * i] * k00 + U[3 * i + 1] * k10;
        UK[3 * i + 1] = U[3 * i] * k01 + U[3 * i + 1] * k11;
        UK[3 * i + 2] = U[3 * i + 2] * k22;
    }
    multiply3_nt(UK, U, K);
}

KERNEL_INLINE void membrane_linearise(const sinew_kernel *kernel, int data_count, membrane_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane inverse[4], F[6], U[9], sigma[2], V[4], W[4], near[9], mixed[9], far[9];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        sinew_svd32(F, U, sigma, V);
        membrane_eigen eigen;
        curvature(sigma, data + TRIANGLE_MATERIAL * LANES, &eigen);
        if (kernel->project)
            membrane_project(&eigen);
        for (int i = 0; i < 4; i++) /* W = B V */
            W[i] = inverse[i / 2 * 2] * V[i % 2] + inverse[i / 2 * 2 + 1] * V[2 + i % 2];
        membrane_block(&eigen, U, W, W, near);
        membrane_block(&eigen, U, W + 2, W, mixed);
        membrane_block(&eigen, U, W + 2, W + 2, far);
        triangle_store_tangent(group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT), lane_load(data), near, mixed, far);
    }
}

/* sum += the block of the second derivatives, their negative eigenvalues in F set to zero. */
KERNEL_INLINE void membrane_visit_projected(const visit *v, const lane F[6], const lane b[2],
                                            membrane_curvature *curvature, visit_sum *sum)
{
    lane U[9], sigma[2], V[4], K[9];
    sinew_svd32(F, U, sigma, V);
    membrane_eigen eigen;
    curvature(sigma, v->data + TRIANGLE_MATERIAL * LANES, &eigen);
    membrane_project(&eigen);
    const lane a[2] = {V[0] * b[0] + V[2] * b[1], V[1] * b[0] + V[3] * b[1]};
    membrane_block(&eigen, U, a, a, K);
    triangle_visit_block(v, K, sum);
}

/* ---- Reduced coordinates ------------------------------------------------------------------------ */

/* weights = k w, the slope of the line through (1, 0) that fits dpsi/ds at F = diag(s, 1) best, thesis (4.64); where
 * `both`, the larger of that and of diag(1, s). */
KERNEL_INLINE void triangle_fit_stiffness(const sinew_reduced_kernel *kernel, int data_count, bool both,
                                          triangle_stress *stress)
{
    const double low = kernel->stretch_low, step = (kernel->stretch_high - low) / MEMBRANE_INTERVALS;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        /* The bound keeps a wild interval usable: no material pulls inwards on average. */
        lane best = lane_set((sinew_real)0.01);
        for (int axis = 0; axis < (both ? 2 : 1); axis++) {
            lane top = lane_set(0), bottom = lane_set(0);
            for (int i = 0; i <= MEMBRANE_INTERVALS; i++) {
                const sinew_real stretch = (sinew_real)(low + step * i);
                const sinew_real share = i == 0 || i == MEMBRANE_INTERVALS ? 1 : i % 2 ? 4 : 2;
                const lane s[2] = {lane_set(axis == 0 ? stretch : 1), lane_set(axis == 0 ? 1 : stretch)};
                lane F[6], P[6];
                stretch32(s, F);
                stress(F, data + TRIANGLE_MATERIAL * LANES, P);
                top += share * (stretch - 1) * P[3 * axis];
                bottom += lane_set(share * (stretch - 1) * (stretch - 1));
            }
            best = lane_max(best, top / bottom);
        }
        lane_store(kernel->weights + group * LANES, best * lane_load(data));
    }
}

/* psi + r/2 |s - s0|^2 and its gradient, r = w2 / w */
KERNEL_INLINE lane membrane_prox_value(const lane s[2], const lane s0[2], lane r, const sinew_real *material,
                                       triangle_stress *stress, lane g[2])
{
    const lane d[2] = {s[0] - s0[0], s[1] - s0[1]};
    lane F[6], P[6];
    stretch32(s, F);
    const lane psi = stress(F, material, P);
    g[0] = P[0] + r * d[0];
    g[1] = P[3] + r * d[1];
    return psi + lane_set((sinew_real)0.5) * r * (d[0] * d[0] + d[1] * d[1]);
}

/* Solves (A + r 1) d = -g with A as it is where that is positive definite, else lifted. */
KERNEL_INLINE void membrane_prox_direction(lane A[3], lane r, const lane g[2], lane d[2])
{
    const lane zero = lane_set(0);
    const lane det = (A[0] + r) * (A[1] + r) - A[2] * A[2];
    const lane_mask definite = lane_lt(zero, A[0] + r) & lane_lt(zero, det);
    lane lifted[3] = {A[0], A[1], A[2]};
    membrane_lift(lifted);
    for (int i = 0; i < 3; i++)
        A[i] = lane_select(definite, A[i], lifted[i]) + (i < 2 ? r : zero);
    const lane bottom = 1 / (A[0] * A[1] - A[2] * A[2]);
    d[0] = (A[2] * g[1] - A[1] * g[0]) * bottom;
    d[1] = (A[2] * g[0] - A[0] * g[1]) * bottom;
}

/* s0 >= s1 >= 0: the energy is the same in any order and with any signs, and of all these points this one is nearest to
 * Y, whose singular values are so. */
KERNEL_INLINE void membrane_prox_step(const lane s[2], lane alpha, const lane d[2], lane t[2])
{
    const lane a = lane_abs(s[0] + alpha * d[0]), b = lane_abs(s[1] + alpha * d[1]);
    t[0] = lane_max(a, b);
    t[1] = lane_min(a, b);
}

/* Where the iteration begins: at s0, or at the nearest point that is well inside where that is lower, where the energy
 * is infinite or next to it at s0, and where the shape nearest to s0 is not unique (s1 = 0). */
KERNEL_INLINE lane membrane_prox_start(const lane s0[2], lane r, const sinew_real *material, triangle_stress *stress,
                                       lane s[2], lane g[2])
{
    const lane bound = lane_set((sinew_real)0.25);
    const lane inner[2] = {lane_max(s0[0], bound), lane_max(s0[1], bound)};
    const lane outside = membrane_prox_value(s0, s0, r, material, stress, g);
    const lane inside = membrane_prox_value(inner, s0, r, material, stress, g);
    const lane_mask stay =
        lane_le(outside, lane_set(LANE_HUGE)) & lane_le(outside, inside) & lane_lt(lane_set((sinew_real)1e-3), s0[1]);
    for (int i = 0; i < 2; i++)
        s[i] = lane_select(stay, s0[i], inner[i]);
    return membrane_prox_value(s, s0, r, material, stress, g);
}

/* s = argmin psi(s) + r/2 |s - s0|^2, by Newton's method and a line search; all lanes go on until every one is done. */
KERNEL_INLINE void membrane_prox_solve(const lane s0[2], lane r, const sinew_real *material, triangle_stress *stress,
                                       membrane_curvature *curvature, lane s[2])
{
    const lane zero = lane_set(0);
    lane g[2], d[2], value = membrane_prox_start(s0, r, material, stress, s, g);
    lane_mask busy = lane_eq(zero, zero);
    for (int k = 0; k < MEMBRANE_ITERATIONS && lane_any(busy); k++) {
        membrane_eigen eigen;
        curvature(s, material, &eigen);
        membrane_prox_direction(eigen.A, r, g, d);
        const lane slope = g[0] * d[0] + g[1] * d[1];
        busy &= lane_lt(2 * LANE_EPSILON * (s[0] + s[1]), lane_abs(d[0]) + lane_abs(d[1]));
        lane alpha = lane_select(busy, lane_set(1), zero), t[2], tg[2], tv;
        for (int half = 0;; half++) {
            membrane_prox_step(s, alpha, d, t);
            tv = membrane_prox_value(t, s0, r, material, stress, tg);
            /* Round-off of the values must not stop a step that the slope wants. */
            const lane slack = 8 * LANE_EPSILON * (lane_abs(value) + 1);
            const lane_mask poor = ~lane_le(tv, value + (sinew_real)1e-4 * alpha * slope + slack);
            if (half == MEMBRANE_HALVINGS || !lane_any(poor))
                break;
            alpha = lane_select(poor, (sinew_real)0.5 * alpha, alpha);
        }
        for (int i = 0; i < 2; i++) {
            s[i] = t[i];
            g[i] = tg[i];
        }
        value = tv;
    }
}

/* Z = [u0 u1] diag(s) V^T */
KERNEL_INLINE void membrane_compose(const lane U[9], const lane s[2], const lane V[4], lane Z[6])
{
    for (int i = 0; i < 3; i++) {
        const lane a = U[3 * i] * s[0], b = U[3 * i + 1] * s[1];
        Z[2 * i] = a * V[0] + b * V[1];
        Z[2 * i + 1] = a * V[2] + b * V[3];
    }
}

/* Z = argmin w psi(Z) + w2/2 |Z - Y|^2 has the singular vectors of Y (von Neumann's trace inequality). */
KERNEL_INLINE void membrane_prox(const sinew_reduced_kernel *kernel, int data_count, triangle_stress *stress,
                                 membrane_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane inverse[4], F[6], Y[6], Z[6], U[9], V[4], s0[2], s[2];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        triangle_shifted(kernel, group, F, Y);
        sinew_svd32(Y, U, s0, V);
        const lane w = lane_load(data), safe = lane_select(lane_eq(w, lane_set(0)), lane_set(1), w);
        membrane_prox_solve(s0, lane_load(kernel->weights + group * LANES) / safe, data + TRIANGLE_MATERIAL * LANES,
                            stress, curvature, s);
        membrane_compose(U, s, V, Z);
        triangle_prox_finish(kernel, group, data, F, Y, Z, inverse);
    }
}

#endif
