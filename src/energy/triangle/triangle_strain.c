/* SPDX-License-Identifier: MIT
 *
 * triangle_strain.c: the squared distance of F to stretches within limits.
 *
 *     psi = k/2 |F - T|^2 = k/2 sum (sigma_i - s_i)^2 per rest area,  s_i = sigma_i clamped to [minimum, maximum]
 *
 * Bouaziz et al. 2014, (16), with the limits of (22), (23). With both limits 1 the set is that of isometries, and at
 * rest psi is that of a sheet with mu h = k/2 and lambda = 0. Between the limits psi is zero: two of these energies
 * give a weak strain and a limit. P jumps where a singular value is zero and the lower limit is not (membrane.h).
 */
#include "energy/limits.h"
#include "energy/triangle/membrane.h"

enum {
    DATA_LOW = TRIANGLE_MATERIAL,
    DATA_HIGH,
    DATA_COUNT
};
enum {
    STIFFNESS = 0,
    MINIMUM = 1,
    MAXIMUM = 2
}; /* indices of the parameters of the energy triangle_strain */

/* s_i = singular value sigma_i clamped to [minimum, maximum]. */
KERNEL_INLINE void nearest(const wide sigma[2], const sinew_real *material, wide s[2])
{
    const wide low = wide_load(material), high = wide_load(material + SIMD_WIDTH);
    for (int i = 0; i < 2; i++)
        s[i] = wide_min(wide_max(sigma[i], low), high);
}

/* Second derivatives by singular values: psi_i = sigma_i - s_i has slope 1 beyond the limits and 0 between them. */
KERNEL_INLINE void curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    const wide zero = wide_set(0), one = wide_set(1);
    const wide low = wide_load(material), high = wide_load(material + SIMD_WIDTH);
    wide s[2], apart[2];
    nearest(sigma, material, s);
    for (int i = 0; i < 2; i++) {
        const wide_mask inside = wide_lt(low, sigma[i]) & wide_lt(sigma[i], high);
        apart[i] = sigma[i] - s[i];
        eigen->A[i] = wide_select(inside, zero, one);
        eigen->out[i] = apart[i] * membrane_inverse(sigma[i]);
    }
    eigen->A[2] = zero;
    /* even = 1 - (s0 - s1)/(sigma0 - sigma1): the quotient is exactly 1 if both are within the limits, and 0 if both
     * are beyond one. */
    const wide difference = sigma[0] - sigma[1];
    const wide_mask equal = wide_eq(difference, zero);
    eigen->even = wide_select(equal, eigen->A[0], 1 - (s[0] - s[1]) / wide_select(equal, one, difference));
    eigen->odd = (apart[0] + apart[1]) * membrane_inverse(sigma[0] + sigma[1]);
}

#include "energy/triangle/membrane_distance.h"

static const sinew_parameter parameters[] = {
    TRIANGLE_SET_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least principal stretch that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest principal stretch that costs nothing; not below minimum", 1),
};

static const char *triangle_strain_prepare(const sinew_element *element, sinew_real *data)
{
    data[DATA_LOW] = element->parameters[MINIMUM];
    data[DATA_HIGH] = element->parameters[MAXIMUM];
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    return refusal ? refusal : sinew_triangle_prepare(element, (double)element->parameters[STIFFNESS], NULL, data);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_triangle_strain) = {
    .info = {.name = "triangle_strain",
             .summary = "k/2 sum (sigma_i - s_i)^2 per area, s_i in [minimum, maximum]",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES | SINEW_CAN_PROJECT},
    MEMBRANE_SET_OPS,
    .prepare = triangle_strain_prepare,
};
