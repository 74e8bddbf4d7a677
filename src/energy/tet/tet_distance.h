/* SPDX-License-Identifier: MIT
 *
 * tet_distance.h: squared distances of F to sets of matrices that are described by signed singular values (Bouaziz et
 * al. 2014, (16), appendix A).
 *
 *     psi = 1/2 |F - T|^2 = 1/2 sum (sigma_i - s_i)^2        P = F - T,  T = U diag(s) V^T
 *
 * s is the point of the set nearest to sigma. U and V are rotations and sigma2 has the sign of det F, so that T is the
 * nearest of all matrices with the singular values s (von Neumann's trace inequality). T is stationary, so it does not
 * contribute to P. Second derivatives have A = 1 - ds/dsigma, even_ij = 1 - (s_i - s_j)/(sigma_i - sigma_j) and
 * odd_ij = 1 - (s_i + s_j)/(sigma_i + sigma_j) (isotropic.h).
 *
 * The squared distance to any closed set has the proximal map Z = (w T + w2 Y) / (w + w2), T nearest to Y: this Z is
 * optimal for a given T, and leaves |T - Y|^2 times a constant. The squared distance never exceeds |F - T0|^2 for any
 * T0 of the set, so the unit matrix bounds the second derivatives of psi.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_DISTANCE_H
#define SINEW_SRC_ENERGY_TET_TET_DISTANCE_H

#include "energy/tet/tet_constraint.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

/* Computes s, the point of the set nearest to the singular values sigma (sigma0 >= sigma1 >= |sigma2|), sorted in the
 * same way. */
typedef void tet_set_nearest(const wide sigma[3], const sinew_real *material, wide s[3]);

/* Returns psi and sets P = U diag(sigma - s) V^T, with the nearest singular values s of the set; P is zero to the
 * last bit if `nearest` returns s = sigma. */
KERNEL_INLINE wide tet_set_stress(const wide F[9], const sinew_real *material, tet_set_nearest *nearest, wide P[9])
{
    wide U[9], sigma[3], V[9], s[3], psi = wide_set(0);
    sinew_svd3(F, U, sigma, V);
    nearest(sigma, material, s);
    for (int j = 0; j < 3; j++) {
        const wide apart = sigma[j] - s[j];
        psi += (sinew_real)0.5 * apart * apart;
        for (int i = 0; i < 3; i++)
            U[3 * i + j] *= apart;
    }
    multiply3_nt(U, V, P);
    return psi;
}

/* PD's projection: g += w D^T T, with the weight w, the reduction matrix D of z = D x, and the matrix T of the set
 * nearest to F. */
KERNEL_INLINE void tet_set_project(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        const wide weight = wide_load(data);
        wide lower[6], F[9], P[9];
        tet_deformation(kernel->x, vertex, data, lower, F);
        stress(F, data + TET_MATERIAL * SIMD_WIDTH, P);
        for (int i = 0; i < 9; i++)
            P[i] = weight * (F[i] - P[i]);
        tet_scatter(kernel->g, vertex, P, lower);
    }
}

KERNEL_INLINE void tet_set_prox(const sinew_reduced_kernel *kernel, int data_count, tet_stress *stress)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide lower[6], F[9], Y[9], Z[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        load_wide_array(group_dual(kernel, group, 9), 9, Y);
        for (int i = 0; i < 9; i++)
            Y[i] += F[i];
        stress(Y, data + TET_MATERIAL * SIMD_WIDTH, Z);
        const wide w = wide_load(data), blend = w / (w + wide_load(kernel->weights + group * SIMD_WIDTH));
        for (int i = 0; i < 9; i++)
            Z[i] = Y[i] - blend * Z[i];
        tet_prox_finish(kernel, group, data, F, Y, Z, lower);
    }
}

/* Adds the gradient by one vertex and the approximate Hessian block w |b|^2 1, b the rest gradient of the vertex. */
KERNEL_INLINE void tet_set_add(const incidence *v, tet_stress *stress, incidence_sum *sum)
{
    wide F[9], b[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    block_add(sum->A, wide_load(v->data) * dot3(b, b), wide_set(0), b);
}

#endif
