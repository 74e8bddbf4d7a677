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
 * The last two rotate the triangle out of its plane and are negative under compression: a sheet without bending
 * stiffness buckles. A material computes all of them with the divisions carried out symbolically, so that nothing
 * cancels if singular values coincide. The six are orthonormal up to scale, so clamping at zero gives the nearest
 * semi-definite matrix.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_H
#define SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_H

#include "energy/prox_newton.h"
#include "energy/triangle/triangle.h"

#define MEMBRANE_INTERVALS 128 /* number of intervals of Simpson's rule over the stretches of the stiffness fit */

typedef struct membrane_eigen {
    wide A[3]; /* d2psi/dsigma_i dsigma_j, a symmetric 2x2 matrix stored as A00 A11 A01 */
    wide even, odd;
    wide out[2];
} membrane_eigen;

/* Computes a material's second derivatives at the singular values sigma0 >= sigma1 >= 0. */
typedef void membrane_curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen);

/* If an energy measures the distance to stretched shapes, odd and out are unbounded as a singular value goes to
 * zero, where the nearest shape jumps. Divisors have this lower bound; the effect of rounding in F is then at most
 * about 1e-10 (single 1e-4) of the result. */
#ifdef SINEW_SINGLE
#define MEMBRANE_BOUND 1e-3f
#else
#define MEMBRANE_BOUND 1e-6
#endif

/* 1 / a for a divisor a of second derivatives, with MEMBRANE_BOUND as lower bound of a. */
KERNEL_INLINE wide membrane_inverse(wide a)
{
    return 1 / wide_max(a, wide_set(MEMBRANE_BOUND));
}

/* Sets negative eigenvalues of the symmetric 2x2 matrix A (00 11 01) to zero; a positive definite A stays unchanged to
 * the last bit. */
KERNEL_INLINE void membrane_lift(wide A[3])
{
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0);
    const wide middle = half * (A[0] + A[1]), apart = half * (A[0] - A[1]);
    const wide radius = wide_sqrt(apart * apart + A[2] * A[2]);
    const wide both = wide_max(-(middle + radius), zero), low = wide_max(radius - middle, zero);
    /* The projector onto the eigenvector of the lower eigenvalue of A is (middle + radius - A) / (2 radius). */
    const wide blend = (low - both) / wide_max(2 * radius, wide_set(WIDE_TINY));
    A[0] += both + blend * (radius - apart);
    A[1] += both + blend * (radius + apart);
    A[2] -= blend * A[2];
}

KERNEL_INLINE void membrane_project(membrane_eigen *eigen)
{
    const wide zero = wide_set(0);
    membrane_lift(eigen->A);
    eigen->even = wide_max(eigen->even, zero);
    eigen->odd = wide_max(eigen->odd, zero);
    for (int i = 0; i < 2; i++)
        eigen->out[i] = wide_max(eigen->out[i], zero);
}

/* K = 3x3 Hessian block of two vertices, a and b being their rest gradients times V. */
KERNEL_INLINE void membrane_block(const membrane_eigen *eigen, const wide U[9], const wide a[2], const wide b[2],
                                  wide K[9])
{
    const wide half = wide_set((sinew_real)0.5);
    const wide s = half * (eigen->even + eigen->odd), t = half * (eigen->even - eigen->odd);
    const wide w0 = a[0] * b[0], w1 = a[1] * b[1], c01 = a[0] * b[1], c10 = a[1] * b[0];
    const wide k00 = eigen->A[0] * w0 + s * w1, k11 = s * w0 + eigen->A[1] * w1;
    const wide k22 = eigen->out[0] * w0 + eigen->out[1] * w1;
    const wide k01 = eigen->A[2] * c01 + t * c10, k10 = eigen->A[2] * c10 + t * c01;
    wide UK[9];
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
        wide inverse[4], F[6], U[9], sigma[2], V[4], W[4], near[9], mixed[9], far[9];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        sinew_svd32(F, U, sigma, V);
        membrane_eigen eigen;
        curvature(sigma, data + TRIANGLE_MATERIAL * SIMD_WIDTH, &eigen);
        if (kernel->project)
            membrane_project(&eigen);
        /* W = B V, the inverse rest shape B in the axes V of the singular value decomposition */
        for (int i = 0; i < 4; i++)
            W[i] = inverse[i / 2 * 2] * V[i % 2] + inverse[i / 2 * 2 + 1] * V[2 + i % 2];
        membrane_block(&eigen, U, W, W, near);
        membrane_block(&eigen, U, W + 2, W, mixed);
        membrane_block(&eigen, U, W + 2, W + 2, far);
        triangle_store_tangent(group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT), wide_load(data), near, mixed, far);
    }
}

/* sum += 3x3 Hessian block of a vertex, from the second derivatives by F with negative eigenvalues set to zero. */
KERNEL_INLINE void membrane_incidence_projected(const incidence *v, const wide F[6], const wide b[2],
                                                membrane_curvature *curvature, incidence_sum *sum)
{
    wide U[9], sigma[2], V[4], K[9];
    sinew_svd32(F, U, sigma, V);
    membrane_eigen eigen;
    curvature(sigma, v->data + TRIANGLE_MATERIAL * SIMD_WIDTH, &eigen);
    membrane_project(&eigen);
    const wide a[2] = {V[0] * b[0] + V[2] * b[1], V[1] * b[0] + V[3] * b[1]};
    membrane_block(&eigen, U, a, a, K);
    triangle_incidence_block(v, K, sum);
}

/* ---- Membranes in reduced coordinates, for PD and ADMM ------------------------------------------- */

/* Stiffness of reduced coordinates: weights = k w, k the slope of the line through (1, 0) that fits dpsi/ds at F =
 * diag(s, 1) best, thesis (4.64). If `both`, k is the larger of the slopes for diag(s, 1) and diag(1, s). */
KERNEL_INLINE void triangle_fit_stiffness(const sinew_reduced_kernel *kernel, int data_count, bool both,
                                          triangle_stress *stress)
{
    const double low = kernel->stretch_low, step = (kernel->stretch_high - low) / MEMBRANE_INTERVALS;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        /* The fitted stiffness of every material is positive; the lower bound is for extreme ranges of stretches. */
        wide best = wide_set((sinew_real)0.01);
        for (int axis = 0; axis < (both ? 2 : 1); axis++) {
            wide top = wide_set(0), bottom = wide_set(0);
            for (int i = 0; i <= MEMBRANE_INTERVALS; i++) {
                const sinew_real stretch = (sinew_real)(low + step * i);
                const sinew_real simpson = i == 0 || i == MEMBRANE_INTERVALS ? 1 : i % 2 ? 4 : 2;
                const wide s[2] = {wide_set(axis == 0 ? stretch : 1), wide_set(axis == 0 ? 1 : stretch)};
                wide F[6], P[6];
                stretch32(s, F);
                stress(F, data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
                top += simpson * (stretch - 1) * P[3 * axis];
                bottom += wide_set(simpson * (stretch - 1) * (stretch - 1));
            }
            best = wide_max(best, top / bottom);
        }
        wide_store(kernel->weights + group * SIMD_WIDTH, best * wide_load(data));
    }
}

/* Objective of the proximal map over singular values: psi + r/2 |s - s0|^2 and its gradient, r =
 * ADMM's squared weight over the energy's weight */
KERNEL_INLINE wide membrane_prox_value(const wide s[2], const wide s0[2], wide r, const sinew_real *material,
                                       triangle_stress *stress, wide g[2])
{
    const wide d[2] = {s[0] - s0[0], s[1] - s0[1]};
    wide F[6], P[6];
    stretch32(s, F);
    const wide psi = stress(F, material, P);
    g[0] = P[0] + r * d[0];
    g[1] = P[3] + r * d[1];
    return psi + wide_set((sinew_real)0.5) * r * (d[0] * d[0] + d[1] * d[1]);
}

/* Newton direction of the proximal map: solves (A + r 1) d = -g, with the exact A if A + r 1 is positive definite, else
 * with negative eigenvalues of A set to zero. */
KERNEL_INLINE void membrane_prox_direction(wide A[3], wide r, const wide g[2], wide d[2])
{
    const wide zero = wide_set(0);
    const wide det = (A[0] + r) * (A[1] + r) - A[2] * A[2];
    const wide_mask definite = wide_lt(zero, A[0] + r) & wide_lt(zero, det);
    wide lifted[3] = {A[0], A[1], A[2]};
    membrane_lift(lifted);
    for (int i = 0; i < 3; i++)
        A[i] = wide_select(definite, A[i], lifted[i]) + (i < 2 ? r : zero);
    const wide bottom = 1 / (A[0] * A[1] - A[2] * A[2]);
    d[0] = (A[2] * g[1] - A[1] * g[0]) * bottom;
    d[1] = (A[2] * g[0] - A[0] * g[1]) * bottom;
}

/* Sorts the singular values s0 >= s1 >= 0. The energy is invariant under permutations and sign changes, and the sorted
 * point is nearest to Y, whose singular values are sorted. */
KERNEL_INLINE void membrane_prox_canonical(wide s[2])
{
    const wide a = wide_abs(s[0]), b = wide_abs(s[1]);
    s[0] = wide_max(a, b);
    s[1] = wide_min(a, b);
}

/* Newton's method for the proximal map starts at s0. The nearest point well inside the domain replaces s0 if its value
 * is lower, or if the shape nearest to s0 is not unique (s1 = 0). */
KERNEL_INLINE void membrane_prox_start(const prox_problem *p, prox_iterate *at)
{
    const wide bound = wide_set((sinew_real)0.25), *s0 = p->y;
    const wide inner[2] = {wide_max(s0[0], bound), wide_max(s0[1], bound)};
    prox_start(p, inner, wide_lt(wide_set((sinew_real)1e-3), s0[1]), at);
}

/* Proximal map over the singular values: s = argmin psi(s) + r/2 |s - s0|^2 */
KERNEL_INLINE void membrane_prox_solve(const wide s0[2], wide r, const sinew_real *material, triangle_stress *stress,
                                       membrane_curvature *curvature, wide s[2])
{
    const prox_problem p = {2, s0, r, material, stress, membrane_prox_value, membrane_prox_canonical};
    prox_iterate at;
    wide d[2];
    membrane_prox_start(&p, &at);
    for (int k = 0; k < PROX_ITERATIONS && wide_any(at.busy); k++) {
        membrane_eigen eigen;
        curvature(at.s, material, &eigen);
        membrane_prox_direction(eigen.A, r, at.g, d);
        at.busy &= wide_lt(2 * WIDE_EPSILON * (at.s[0] + at.s[1]), wide_abs(d[0]) + wide_abs(d[1]));
        prox_step(&p, d, &at);
    }
    for (int i = 0; i < 2; i++)
        s[i] = at.s[i];
}

/* Z = [u0 u1] diag(s) V^T, the 3x2 matrix with singular values s */
KERNEL_INLINE void membrane_compose(const wide U[9], const wide s[2], const wide V[4], wide Z[6])
{
    for (int i = 0; i < 3; i++) {
        const wide a = U[3 * i] * s[0], b = U[3 * i + 1] * s[1];
        Z[2 * i] = a * V[0] + b * V[1];
        Z[2 * i + 1] = a * V[2] + b * V[3];
    }
}

/* Proximal map of a membrane: Z = argmin w psi(Z) + w2/2 |Z - Y|^2 has the singular vectors of Y (von Neumann's trace
 * inequality). */
KERNEL_INLINE void membrane_prox(const sinew_reduced_kernel *kernel, int data_count, triangle_stress *stress,
                                 membrane_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide inverse[4], F[6], Y[6], Z[6], U[9], V[4], s0[2], s[2];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        triangle_shifted(kernel, group, F, Y);
        sinew_svd32(Y, U, s0, V);
        const wide w = wide_load(data), safe = wide_select(wide_eq(w, wide_set(0)), wide_set(1), w);
        membrane_prox_solve(s0, wide_load(kernel->weights + group * SIMD_WIDTH) / safe,
                            data + TRIANGLE_MATERIAL * SIMD_WIDTH, stress, curvature, s);
        membrane_compose(U, s, V, Z);
        triangle_prox_finish(kernel, group, data, F, Y, Z, inverse);
    }
}

#endif
