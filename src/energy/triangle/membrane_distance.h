/* SPDX-License-Identifier: MIT
 *
 * membrane_distance.h: squared distances to sets of 3x2 matrices described by singular values: T = [u0 u1] diag(s) V^T,
 * s the point of the set nearest to sigma. No other T with these singular values is nearer (von Neumann's trace
 * inequality).
 *
 * This header is a template on top of triangle_distance.h; it needs the file's DATA_COUNT, `nearest` and `curvature`.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_DISTANCE_H
#define SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_DISTANCE_H

/* Returns psi and sets P = [u0 u1] diag(sigma - s) V^T; P is zero to the last bit if `nearest` returns s = sigma. */
KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    wide U[9], sigma[2], V[4], s[2];
    sinew_svd32(F, U, sigma, V);
    nearest(sigma, material, s);
    const wide apart[2] = {sigma[0] - s[0], sigma[1] - s[1]};
    membrane_compose(U, apart, V, P);
    return (sinew_real)0.5 * (apart[0] * apart[0] + apart[1] * apart[1]);
}

KERNEL_INLINE void add_projected_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    membrane_incidence_projected(v, F, b, curvature, sum);
}

#include "energy/triangle/triangle_distance.h"

#define MEMBRANE_SET_OPS TRIANGLE_SET_OPS, .keeps_size = true, .linearise = distance_set_linearise

static void distance_set_linearise(const sinew_kernel *kernel)
{
    membrane_linearise(kernel, DATA_COUNT, curvature);
}

#endif
