/* SPDX-License-Identifier: MIT
 *
 * isotropic.h: the second derivatives of an isotropic energy, exact or projected, from its singular values.
 *
 * psi(F) = psi(sigma0, sigma1, sigma2) with F = U diag(sigma) V^T, U and V rotations. With psi_i = dpsi/dsigma_i the
 * eigenvectors of dP/dF are known in closed form (Stomakhin et al. 2012, "Energetically consistent invertible
 * elasticity", section 6; Smith, De Goes, Kim 2019, "Analytic eigensystems for isotropic distortion energies"):
 *
 *     U diag(d) V^T                    the eigenvectors d of the 3x3 matrix A_ij = d2psi/dsigma_i dsigma_j
 *     U (e_i e_j^T + e_j e_i^T) V^T    even_ij = (psi_i - psi_j) / (sigma_i - sigma_j)
 *     U (e_i e_j^T - e_j e_i^T) V^T    odd_ij  = (psi_i + psi_j) / (sigma_i + sigma_j)
 *
 * A material computes A, even and odd with the divisions carried out symbolically, so that nothing cancels if singular
 * values coincide. These nine directions are orthonormal up to scale, so clamping their eigenvalues at zero gives the
 * positive semi-definite matrix nearest to dP/dF in the Frobenius norm.
 */
#ifndef SINEW_SRC_ENERGY_TET_ISOTROPIC_H
#define SINEW_SRC_ENERGY_TET_ISOTROPIC_H

#include "energy/tet/tet.h"
#include "math/small/decompose.h"

/* Second derivatives of a material by singular values. Pairs are in the order 01 02 12. */
typedef struct isotropic_eigen {
    wide A[6]; /* d2psi/dsigma_i dsigma_j, a symmetric 3x3 matrix stored as A00 A11 A22 A01 A02 A12 */
    wide even[3];
    wide odd[3];
} isotropic_eigen;

/* The material's second derivatives at the signed singular values sigma (sigma0 >= sigma1 >= |sigma2|). */
typedef void isotropic_curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen);

/* If an energy measures the distance to the nearest rotation, odd_ij is unbounded as sigma_i + sigma_j goes to zero,
 * where the nearest rotation jumps. The sum has this lower bound; the effect of rounding in F is then at most about
 * 1e-10 (single 1e-4) of the result. */
#ifdef SINEW_SINGLE
#define ISOTROPIC_SUM_BOUND 1e-3f
#else
#define ISOTROPIC_SUM_BOUND 1e-6
#endif

/* 2 / (sigma_i + sigma_j) for the pairs 01, 02, 12 of singular values, with ISOTROPIC_SUM_BOUND as lower bound of the
 * sums. */
KERNEL_INLINE void isotropic_rotation_term(const wide sigma[3], wide term[3])
{
    const wide bound = wide_set(ISOTROPIC_SUM_BOUND);
    term[0] = 2 / wide_max(sigma[0] + sigma[1], bound);
    term[1] = 2 / wide_max(sigma[0] + sigma[2], bound);
    term[2] = 2 / wide_max(sigma[1] + sigma[2], bound);
}

/* A, even and odd of a psi with psi_i = a sigma_i + b cof_i, cof = (s1 s2, s0 s2, s0 s1):
 * A = a 1 + b d(cof)/dsigma + c cof cof^T. All energies of |F|^2 and J have this form, up to further terms in A. */
KERNEL_INLINE void isotropic_volume_form(const wide sigma[3], wide a, wide b, wide c, isotropic_eigen *eigen)
{
    const wide cof[3] = {sigma[1] * sigma[2], sigma[0] * sigma[2], sigma[0] * sigma[1]};
    for (int i = 0; i < 3; i++)
        eigen->A[i] = a + c * cof[i] * cof[i];
    eigen->A[3] = c * cof[0] * cof[1] + b * sigma[2];
    eigen->A[4] = c * cof[0] * cof[2] + b * sigma[1];
    eigen->A[5] = c * cof[1] * cof[2] + b * sigma[0];
    for (int pair = 0; pair < 3; pair++) {
        eigen->even[pair] = a - b * sigma[2 - pair];
        eigen->odd[pair] = a + b * sigma[2 - pair];
    }
}

/* Sets negative eigenvalues of A, even and odd to zero; a positive definite A stays unchanged to the last bit. */
KERNEL_INLINE void isotropic_project(isotropic_eigen *eigen)
{
    const wide zero = wide_set(0);
    wide w[3], Q[9];
    sinew_eigen3(eigen->A, w, Q);
    for (int k = 0; k < 3; k++) {
        const wide lift = wide_max(-w[k], zero);
        for (int i = 0; i < 3; i++)
            eigen->A[i] += lift * Q[3 * i + k] * Q[3 * i + k];
        eigen->A[3] += lift * Q[k] * Q[3 + k];
        eigen->A[4] += lift * Q[k] * Q[6 + k];
        eigen->A[5] += lift * Q[3 + k] * Q[6 + k];
        eigen->even[k] = wide_max(eigen->even[k], zero);
        eigen->odd[k] = wide_max(eigen->odd[k], zero);
    }
}

KERNEL_INLINE void isotropic_linearise(const sinew_kernel *kernel, int data_count, isotropic_curvature *curvature)
{
    const wide half = wide_set((sinew_real)0.5);
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide lower[6], F[9], U[9], sigma[3], V[9], W[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        sinew_svd3(F, U, sigma, V);
        isotropic_eigen eigen;
        curvature(sigma, data + TET_MATERIAL * SIMD_WIDTH, &eigen);
        if (kernel->project)
            isotropic_project(&eigen);
        tet_tangent tangent;
        for (int i = 0; i < 6; i++)
            tangent.A[i] = eigen.A[i];
        for (int pair = 0; pair < 3; pair++) {
            tangent.s[pair] = half * (eigen.even[pair] + eigen.odd[pair]);
            tangent.t[pair] = half * (eigen.even[pair] - eigen.odd[pair]);
        }
        lower_multiply3(lower, V, W);
        tet_store_tangent(group_tangent(kernel, group, TET_TANGENT_COUNT), wide_load(data), U, W, &tangent);
    }
}

#endif
