/* SPDX-License-Identifier: MIT
 *
 * st_venant_kirchhoff.c: linear elasticity in Green's strain.
 *
 *     E = (F^T F - 1)/2      psi = mu |E|^2 + lambda/2 (tr E)^2      P = F (2 mu E + lambda tr(E) 1)
 *
 * psi is a polynomial, defined for every F. It does not depend on orientation, so an inverted element may be at rest. A
 * bar compressed beyond sigma = 0.577 softens and collapses. Use it for small strains and large rotations.
 */
#include "energy/tet/stvk_law.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_st_venant_kirchhoff) = {
    .info = {.name = "st_venant_kirchhoff",
             .summary = "mu |E|^2 + lambda/2 (tr E)^2 per volume, E = (F^T F - 1)/2",
             STVK_INFO},
    STVK_OPS,
    .constraint_count = 1,
    .constrain = material_constrain,
    .jacobian = material_jacobian,
    .rooted = true,
};
