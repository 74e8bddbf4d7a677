/* SPDX-License-Identifier: MIT
 *
 * curvature.h: second derivatives of constraints (operation `curvature` of energy.h): the geometric stiffness in
 * systems of constraints.
 *
 * Most constraints depend on one combination of their vertices, z = sum_a c_a x_a. Then
 *
 *     block (a, b) = lambda c_a c_b K,    K = d2C/dz2
 *     C = |z| - p:         K = (1 - u u^T) / |z|,  u = z / |z|
 *     C = (|z| - p)^2 / 2: K = 1 - p/|z| (1 - u u^T)               the energy as a constraint (SINEW_FORM_ENERGY)
 *
 * If |z| = 0, the direction u is undefined; the terms of u are then zero, like the gradient.
 */
#ifndef SINEW_SRC_ENERGY_CURVATURE_H
#define SINEW_SRC_ENERGY_CURVATURE_H

#include "energy/kernel_loop.h"
#include "energy/vertex_kernel.h"

/* Multiplier lambda of constraint i of the m constraints of each element; zero for padding lanes. */
KERNEL_INLINE wide curvature_factor(const sinew_jacobian_kernel *kernel, int32_t group, int i, int m, wide weight)
{
    const wide lambda = wide_load(kernel->lambda + ((size_t)group * (size_t)m + (size_t)i) * SIMD_WIDTH);
    return wide_select(wide_lt(wide_set(0), weight), lambda, wide_set(0));
}

/* Output array of the 3x3 blocks of one group whose elements have n vertices. */
KERNEL_INLINE sinew_real *curvature_blocks(const sinew_jacobian_kernel *kernel, int32_t group, int n)
{
    return kernel->blocks + (size_t)group * (size_t)(n * (n + 1) / 2 * 9 * SIMD_WIDTH);
}

/* Adds to K lambda times the second derivatives of |z| - p or, with `as_energy`, of (|z| - p)^2 / 2. K stores
 * entries 00 11 22 01 02 12 of a symmetric 3x3 matrix; l is |z|. */
KERNEL_INLINE void curvature_length(wide lambda, bool as_energy, wide l, wide p, const wide z[3], wide K[6])
{
    const wide zero = wide_set(0), tiny = wide_set(WIDE_ROOT_TINY);
    const wide inverse = wide_select(wide_lt(tiny, l), 1 / wide_max(l, tiny), zero);
    const wide u[3] = {inverse * z[0], inverse * z[1], inverse * z[2]};
    const wide across = as_energy ? 1 - p * inverse : inverse, along = as_energy ? p * inverse : -inverse;
    block_add(K, lambda * across, lambda * along, u);
}

/* Writes the second derivatives of a group's constraints as 3x3 blocks (a, b) = c_a c_b K, b <= a. K is the second
 * derivative by the vector z = sum c_a x_a. */
KERNEL_INLINE void curvature_write(const sinew_jacobian_kernel *kernel, int32_t group, int n, const wide *c,
                                   const wide K[6])
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    sinew_real *blocks = curvature_blocks(kernel, group, n);
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            for (int i = 0; i < 9; i++)
                wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH, c[a] * c[b] * K[entry[i]]);
}

/* Writes lambda times the second derivatives of one constraint C = |z| - p per element, as 3x3 blocks of a group. */
KERNEL_INLINE void curvature_of_length(const sinew_jacobian_kernel *kernel, int32_t group, int n, wide lambda, wide p,
                                       const wide z[3], const wide *c)
{
    const wide zero = wide_set(0);
    wide K[6] = {zero, zero, zero, zero, zero, zero};
    curvature_length(lambda, kernel->form == SINEW_FORM_ENERGY, wide_sqrt(dot3(z, z)), p, z, K);
    curvature_write(kernel, group, n, c, K);
}

#endif
