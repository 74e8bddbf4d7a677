/* SPDX-License-Identifier: MIT
 *
 * strain_limit.c: strain of tets that costs nothing between limits.
 *
 *     psi = k/2 |F - T|^2,  T = U diag(s) V^T,  s_i = sigma_i clamped to [minimum, maximum]
 *
 * Bouaziz et al. 2014, (16), (22), (23). Singular values are signed, the last one negative where det F < 0, so that an
 * inverted element is pulled back through zero, as appendix A asks. With minimum = maximum = 1 it is strain. P jumps
 * where sigma1 + sigma2 = 0 (isotropic.h).
 */
#include "energy/limits.h"
#include "energy/tet/tet_distance.h"

enum {
    LEAST = 0,
    GREATEST = 1,
    DATA_COUNT = TET_MATERIAL + 2
};
enum {
    STIFFNESS = 0,
    MINIMUM = 1,
    MAXIMUM = 2
}; /* parameters */

static const sinew_parameter parameters[] = {
    LIMITS_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least stretch that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest stretch that costs nothing; not below minimum", 1),
};

static const char *strain_limit_prepare(const sinew_element *element, sinew_real *data)
{
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    data[TET_MATERIAL + LEAST] = element->parameters[MINIMUM];
    data[TET_MATERIAL + GREATEST] = element->parameters[MAXIMUM];
    return refusal ? refusal : sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, NULL);
}

KERNEL_INLINE void clamped(const lane sigma[3], const sinew_real *material, lane s[3])
{
    const lane least = lane_load(material), greatest = lane_load(material + GREATEST * LANES);
    for (int i = 0; i < 3; i++)
        s[i] = lane_min(lane_max(sigma[i], least), greatest);
}

/* Not inlined: the decomposition is a call anyway. */
static __attribute__((noinline)) lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    return tet_set_stress(F, material, clamped, P);
}

/* At a limit the derivative is that of beyond it. */
KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const lane zero = lane_set(0), one = lane_set(1), least = lane_load(material),
               greatest = lane_load(material + GREATEST * LANES);
    lane s[3], term[3];
    lane_mask inside[3];
    clamped(sigma, material, s);
    isotropic_rotation_term(sigma, term);
    for (int i = 0; i < 3; i++) {
        inside[i] = lane_lt(least, sigma[i]) & lane_lt(sigma[i], greatest);
        eigen->A[i] = lane_select(inside[i], zero, one);
        eigen->A[3 + i] = zero;
    }
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const lane apart = sigma[i] - sigma[j], slope = (s[i] - s[j]) / lane_select(lane_lt(zero, apart), apart, one);
        eigen->even[pair] = lane_select(inside[i] & inside[j], zero, 1 - slope);
        eigen->odd[pair] = lane_select(inside[i] & inside[j], zero, 1 - (sinew_real)0.5 * term[pair] * (s[i] + s[j]));
    }
}

#include "energy/tet/isotropic_material.h"
#include "energy/tet/tet_distance_energy.h"

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_strain_limit) = {
    .info = {.name = "strain_limit",
             .summary = "k/2 |F - T|^2 per volume, T with the singular values of F clamped to [minimum, maximum]",
             TET_MATERIAL_INFO,
             .capabilities = TET_SET_CAPABILITIES},
    TET_MATERIAL_OPS,
    TET_SET_OPS,
    .prepare = strain_limit_prepare,
    TET_SET_ISOTROPIC_OPS,
};
