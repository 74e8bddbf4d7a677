/* SPDX-License-Identifier: MIT
 *
 * strain_limit.c: strain of tets, with zero energy between limits.
 *
 *     psi = k/2 |F - T|^2,  T = U diag(s) V^T,  s_i = sigma_i clamped to [minimum, maximum]
 *
 * Bouaziz et al. 2014, (16), (22), (23). Singular values are signed, the last one negative if det F < 0, so that an
 * inverted element returns through zero, as in appendix A. With minimum = maximum = 1 it is the energy strain. P jumps
 * where sigma1 + sigma2 = 0 (isotropic.h).
 */
#include "energy/limits.h"
#include "energy/tet/tet_distance.h"

enum {
    MINIMUM_SLOT = 0,
    GREATEST = 1,
    DATA_COUNT = TET_MATERIAL + 2
};
enum {
    STIFFNESS = 0,
    MINIMUM = 1,
    MAXIMUM = 2
}; /* indices of the parameters of the energy strain_limit */

static const sinew_parameter parameters[] = {
    LIMITS_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least stretch that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest stretch that costs nothing; not below minimum", 1),
};

static const char *strain_limit_prepare(const sinew_element *element, sinew_real *data)
{
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    data[TET_MATERIAL + MINIMUM_SLOT] = element->parameters[MINIMUM];
    data[TET_MATERIAL + GREATEST] = element->parameters[MAXIMUM];
    return refusal ? refusal : sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, NULL);
}

KERNEL_INLINE void clamp_singular_values(const wide sigma[3], const sinew_real *material, wide s[3])
{
    const wide min = wide_load(material), greatest = wide_load(material + GREATEST * SIMD_WIDTH);
    for (int i = 0; i < 3; i++)
        s[i] = wide_min(wide_max(sigma[i], min), greatest);
}

/* The stress function is not inlined, because the singular value decomposition is a call in any case. */
static __attribute__((noinline)) wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    return tet_set_stress(F, material, clamp_singular_values, P);
}

/* Second derivatives by singular values. At a limit the derivative is the one beyond the limit. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const wide zero = wide_set(0), one = wide_set(1), min = wide_load(material),
               greatest = wide_load(material + GREATEST * SIMD_WIDTH);
    wide s[3], term[3];
    wide_mask inside[3];
    clamp_singular_values(sigma, material, s);
    isotropic_rotation_term(sigma, term);
    for (int i = 0; i < 3; i++) {
        inside[i] = wide_lt(min, sigma[i]) & wide_lt(sigma[i], greatest);
        eigen->A[i] = wide_select(inside[i], zero, one);
        eigen->A[3 + i] = zero;
    }
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const wide apart = sigma[i] - sigma[j], slope = (s[i] - s[j]) / wide_select(wide_lt(zero, apart), apart, one);
        eigen->even[pair] = wide_select(inside[i] & inside[j], zero, 1 - slope);
        eigen->odd[pair] = wide_select(inside[i] & inside[j], zero, 1 - (sinew_real)0.5 * term[pair] * (s[i] + s[j]));
    }
}

#include "energy/tet/isotropic_material.h"
#include "energy/tet/tet_distance_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_strain_limit) = {
    .info = {.name = "strain_limit",
             .summary = "k/2 |F - T|^2 per volume, T with the singular values of F clamped to [minimum, maximum]",
             TET_MATERIAL_INFO,
             .capabilities = TET_SET_CAPABILITIES},
    TET_MATERIAL_OPS,
    TET_SET_OPS,
    .prepare = strain_limit_prepare,
    TET_SET_ISOTROPIC_OPS,
};
