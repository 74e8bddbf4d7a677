/* SPDX-License-Identifier: MIT
 *
 * area.c: the squared distance of F to shapes whose area is within bounds.
 *
 *     psi = k/2 |F - T|^2 = k/2 sum (sigma_i - s_i)^2 per rest area,  s nearest to sigma with s0 s1 in [minimum,
 * maximum]
 *
 * Bouaziz et al. 2014, (24) to (26) in the plane: the bound c to be met is that which the current sigma0 sigma1 is
 * beyond. With s1 = c / s0 the distance is stationary where
 *
 *     q(x) = x^4 - sigma0 x^3 + c sigma1 x - c^2 = 0,  x = s0
 *
 * For sigma0 >= sigma1 the nearest point has x >= sqrt(c), and there q has one root beside sqrt(c) itself, which is one
 * where sigma0 = sigma1. q is convex from sigma0/2 on, q(sigma0/2) <= 0 and q(sigma0 + sqrt(c)) >= 0: Newton's method
 * from there comes down to the root without overshooting. The multiplier l of s0 s1 = c gives the rest: sigma0 = x + l
 * y, sigma1 = y + l x with y = s1, so that sigma0 - sigma1 = (1 - l)(x - y) and sigma0 + sigma1 = (1 + l)(x + y).
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
}; /* parameters */

/* Newton's steps: quadratic but next to the triple root x = y = sigma0/2, where each is a third of what is left. */
#define AREA_ITERATIONS 60

/* Where the area is beyond a bound or the bounds leave no room, and that bound; elsewhere 1. */
KERNEL_INLINE lane_mask beyond(const lane sigma[2], const sinew_real *material, lane *c)
{
    const lane low = lane_load(material), high = lane_load(material + LANES), area = sigma[0] * sigma[1];
    const lane_mask small = lane_lt(area, low), outside = small | lane_lt(high, area) | lane_eq(low, high);
    *c = lane_select(outside, lane_select(small, low, high), lane_set(1));
    return outside;
}

/* The largest root of q, its slope there in *slope. */
KERNEL_INLINE lane largest_root(const lane sigma[2], lane c, lane *slope)
{
    lane x = sigma[0] + lane_sqrt(c);
    for (int k = 0; k < AREA_ITERATIONS; k++) {
        const lane x2 = x * x, value = x2 * x * (x - sigma[0]) + c * (sigma[1] * x - c);
        *slope = x2 * (4 * x - 3 * sigma[0]) + c * sigma[1];
        const lane step = value / lane_max(*slope, lane_set(LANE_ROOT_TINY));
        const lane_mask moves = lane_lt(LANE_EPSILON * x, step);
        if (!lane_any(moves))
            break;
        x -= lane_select(moves, step, lane_set(0));
    }
    return x;
}

KERNEL_INLINE void nearest(const lane sigma[2], const sinew_real *material, lane s[2])
{
    lane c, slope;
    const lane_mask outside = beyond(sigma, material, &c);
    const lane x = largest_root(sigma, c, &slope);
    s[0] = lane_select(outside, x, sigma[0]);
    s[1] = lane_select(outside, c / x, sigma[1]);
}

/* psi_0 = sigma0 - x = l y, psi_1 = l x, and dx from q = 0. */
KERNEL_INLINE void curvature(const lane sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    const lane zero = lane_set(0);
    lane c, slope;
    const lane_mask outside = beyond(sigma, material, &c);
    const lane x = largest_root(sigma, c, &slope), y = c / x, l = (sigma[1] - y) / x;
    const lane bend = 1 / lane_max(slope, MEMBRANE_BOUND * x * x * x);
    eigen->A[0] = lane_select(outside, 1 - x * x * x * bend, zero);
    eigen->A[1] = lane_select(outside, 1 - c * y * bend, zero);
    eigen->A[2] = lane_select(outside, c * x * bend, zero);
    eigen->even = lane_select(outside, -l * membrane_inverse(1 - l), zero);
    eigen->odd = lane_select(outside, l * membrane_inverse(1 + l), zero);
    eigen->out[0] = lane_select(outside, l * y * membrane_inverse(sigma[0]), zero);
    eigen->out[1] = lane_select(outside, l * x * membrane_inverse(sigma[1]), zero);
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

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_area) = {
    .info = {.name = "area",
             .summary = "k/2 sum (sigma_i - s_i)^2 per area, s_0 s_1 in [minimum, maximum]",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES | SINEW_CAN_PROJECT},
    MEMBRANE_SET_OPS,
    .prepare = area_prepare,
};
