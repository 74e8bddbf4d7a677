/* SPDX-License-Identifier: MIT
 *
 * area.c: the squared distance of F to shapes whose area is within bounds.
 *
 *     psi = k/2 |F - T|^2 = k/2 sum (sigma_i - s_i)^2 per rest area
 *     s: the point nearest to sigma with s0 s1 in [minimum, maximum]
 *
 * Bouaziz et al. 2014, (24) to (26) in the plane: c is the bound that sigma0 sigma1 violates. With s1 = c / s0 the
 * distance is stationary where
 *
 *     q(x) = x^4 - sigma0 x^3 + c sigma1 x - c^2 = 0,  x = s0
 *
 * For sigma0 >= sigma1 the nearest point has x >= sqrt(c), where q has one root besides sqrt(c), which is a root only
 * if sigma0 = sigma1. q is convex from sigma0/2 on, q(sigma0/2) <= 0 and q(sigma0 + sqrt(c)) >= 0: Newton's method from
 * there converges to the root without overshooting. l is the multiplier of s0 s1 = c: sigma0 = x + l y, sigma1 = y + l
 * x with y = s1, so that sigma0 - sigma1 = (1 - l)(x - y) and sigma0 + sigma1 = (1 + l)(x + y).
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
}; /* indices of the parameters of the energy area */

/* Largest number of Newton steps. Convergence is quadratic except near the triple root x = y = sigma0/2, where each
 * step removes a third of the error. */
#define AREA_ITERATIONS 60

/* Mask of triangles whose area is beyond a bound, or whose bounds are equal. *c = the violated bound; 1 for other
 * triangles. */
KERNEL_INLINE wide_mask is_out_of_bounds(const wide sigma[2], const sinew_real *material, wide *c)
{
    const wide low = wide_load(material), high = wide_load(material + SIMD_WIDTH), area = sigma[0] * sigma[1];
    const wide_mask small = wide_lt(area, low), outside = small | wide_lt(high, area) | wide_eq(low, high);
    *c = wide_select(outside, wide_select(small, low, high), wide_set(1));
    return outside;
}

/* The largest root of q(x) = x^3 (x - sigma_0) + c (sigma_1 x - c); *slope = q' there. */
KERNEL_INLINE wide largest_root(const wide sigma[2], wide c, wide *slope)
{
    wide x = sigma[0] + wide_sqrt(c);
    for (int k = 0; k < AREA_ITERATIONS; k++) {
        const wide x2 = x * x, value = x2 * x * (x - sigma[0]) + c * (sigma[1] * x - c);
        *slope = x2 * (4 * x - 3 * sigma[0]) + c * sigma[1];
        const wide step = value / wide_max(*slope, wide_set(WIDE_ROOT_TINY));
        const wide_mask moves = wide_lt(WIDE_EPSILON * x, step);
        if (!wide_any(moves))
            break;
        x -= wide_select(moves, step, wide_set(0));
    }
    return x;
}

KERNEL_INLINE void nearest(const wide sigma[2], const sinew_real *material, wide s[2])
{
    wide c, slope;
    const wide_mask outside = is_out_of_bounds(sigma, material, &c);
    const wide x = largest_root(sigma, c, &slope);
    s[0] = wide_select(outside, x, sigma[0]);
    s[1] = wide_select(outside, c / x, sigma[1]);
}

/* Second derivatives by singular values: psi_0 = sigma0 - x = l y, psi_1 = l x; dx follows from q = 0. */
KERNEL_INLINE void curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    const wide zero = wide_set(0);
    wide c, slope;
    const wide_mask outside = is_out_of_bounds(sigma, material, &c);
    const wide x = largest_root(sigma, c, &slope), y = c / x, l = (sigma[1] - y) / x;
    const wide bend = 1 / wide_max(slope, MEMBRANE_BOUND * x * x * x);
    eigen->A[0] = wide_select(outside, 1 - x * x * x * bend, zero);
    eigen->A[1] = wide_select(outside, 1 - c * y * bend, zero);
    eigen->A[2] = wide_select(outside, c * x * bend, zero);
    eigen->even = wide_select(outside, -l * membrane_inverse(1 - l), zero);
    eigen->odd = wide_select(outside, l * membrane_inverse(1 + l), zero);
    eigen->out[0] = wide_select(outside, l * y * membrane_inverse(sigma[0]), zero);
    eigen->out[1] = wide_select(outside, l * x * membrane_inverse(sigma[1]), zero);
}

#include "energy/triangle/membrane_distance.h"

static const sinew_parameter parameters[] = {
    TRIANGLE_SET_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least area over that at rest that costs nothing; not above maximum", 1),
    {.name = "maximum",
     .unit = "",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "greatest area over that at rest that costs nothing; not below minimum"},
};

static const char *area_prepare(const sinew_element *element, sinew_real *data)
{
    data[DATA_LOW] = element->parameters[MINIMUM];
    data[DATA_HIGH] = element->parameters[MAXIMUM];
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    return refusal ? refusal : sinew_triangle_prepare(element, (double)element->parameters[STIFFNESS], NULL, data);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_area) = {
    .info = {.name = "area",
             .summary = "k/2 sum (sigma_i - s_i)^2 per area, s_0 s_1 in [minimum, maximum]",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES | SINEW_CAN_PROJECT},
    MEMBRANE_SET_OPS,
    .prepare = area_prepare,
};
