/* SPDX-License-Identifier: MIT
 *
 * volume.c: preservation of volume: the squared distance of F to the matrices whose determinant is between
 * bounds.
 *
 *     psi = k/2 |F - T|^2,  T = U diag(s) V^T,  s = argmin |s - sigma|^2  with  s0 s1 s2 in [minimum, maximum]
 *
 * Bouaziz et al. 2014, (24)-(26); the bound that is met is chosen by the determinant of F, not of T as (25) has it. On
 * its own it resists no change of shape; strain beside it does.
 *
 * With c the bound, stationary s have s_i (s_i - sigma_i) = nu for one number nu (Lagrange), so
 *
 *     s_i = (sigma_i + r_i) / 2,  r_i = sqrt(sigma_i^2 + 4 nu),  nu = t (t - sigma2),  t = s2
 *
 * and one equation t s0(t) s1(t) = c is left. From t = sigma2/2 upwards its left side is convex and grows, so that
 * Newton's method from the right of the root (t^3 <= c) comes down to it without a step too far; (26) would also get
 * there in most cases, but not from everywhere. Where a tet's volume is more than twice the bound, another branch has
 * to be looked at, r2 = 2 t - sigma2 < 0: it may be nearer to flatten the smallest stretch than to shorten all three.
 * There T jumps, as it does where sigma1 + sigma2 = 0 (isotropic.h).
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

#define NEWTON_ITERATIONS 60
#define FLAT_SAMPLES      32
#define FLAT_BISECTIONS   60

static const sinew_parameter parameters[] = {
    LIMITS_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least volume over that at rest that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest volume over that at rest that costs nothing; not below minimum", 1),
};

static const char *volume_prepare(const sinew_element *element, sinew_real *data)
{
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    data[TET_MATERIAL + LEAST] = element->parameters[MINIMUM];
    data[TET_MATERIAL + GREATEST] = element->parameters[MAXIMUM];
    return refusal ? refusal : sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, NULL);
}

/* The other two of s for s2 = t, and r. */
KERNEL_INLINE void others_at(const lane sigma[3], lane t, lane s[3], lane r[3])
{
    r[2] = 2 * t - sigma[2];
    s[2] = t;
    for (int i = 0; i < 2; i++) {
        /* sigma_i^2 + 4 nu, of which both terms are squares or products of what is not negative */
        r[i] = lane_sqrt(r[2] * r[2] + (sigma[i] - sigma[2]) * (sigma[i] + sigma[2]));
        s[i] = (sinew_real)0.5 * (sigma[i] + r[i]);
    }
}

/* The root of t s0 s1 = c on the branch r2 >= 0, from `start`, which is above it. */
KERNEL_INLINE lane newton_root(const lane sigma[3], lane c, lane start)
{
    const lane zero = lane_set(0), one = lane_set(1), tiny = lane_set(LANE_TINY);
    const lane floor = lane_max((sinew_real)0.5 * sigma[2], zero);
    lane t = start, s[3], r[3];
    lane_mask busy = lane_eq(zero, zero);
    for (int k = 0; k < NEWTON_ITERATIONS && lane_any(busy); k++) {
        others_at(sigma, t, s, r);
        const lane excess = t * s[0] * s[1] - c;
        const lane grow0 = r[2] / lane_max(r[0], tiny), grow1 = r[2] / lane_max(r[1], tiny);
        const lane slope = s[0] * s[1] + t * (grow0 * s[1] + s[0] * grow1);
        const lane_mask sloped = lane_lt(zero, slope);
        const lane step = lane_select(sloped, excess / lane_select(sloped, slope, one), zero);
        busy &= lane_lt(LANE_EPSILON * t, step);
        t = lane_max(t - lane_select(busy | lane_lt(step, zero), step, zero), floor);
    }
    return t;
}

KERNEL_INLINE lane distance_at(const lane sigma[3], lane t)
{
    lane s[3], r[3], sum = lane_set(0);
    others_at(sigma, t, s, r);
    for (int i = 0; i < 3; i++)
        sum += (s[i] - sigma[i]) * (s[i] - sigma[i]);
    return sum;
}

KERNEL_INLINE lane excess_at(const lane sigma[3], lane c, lane t)
{
    lane s[3], r[3];
    others_at(sigma, t, s, r);
    return t * s[0] * s[1] - c;
}

KERNEL_INLINE lane bisected_root(const lane sigma[3], lane c, lane low, lane high)
{
    for (int k = 0; k < FLAT_BISECTIONS; k++) {
        const lane middle = (sinew_real)0.5 * (low + high);
        const lane_mask above = lane_le(lane_set(0), excess_at(sigma, c, middle));
        high = lane_select(above, middle, high);
        low = lane_select(above, low, middle);
    }
    return high;
}

/* A volume of more than twice the bound: of the roots in (0, sigma2] the first and the last are minima, and the nearer
 * one is taken. Samples bracket both. */
static __attribute__((noinline)) lane flat_root(const lane sigma[3], lane c)
{
    const lane zero = lane_set(0), step = sigma[2] / (sinew_real)FLAT_SAMPLES;
    lane first = sigma[2], last = sigma[2], below = -c;
    lane_mask found = lane_lt(zero, zero);
    for (int k = 1; k <= FLAT_SAMPLES; k++) {
        const lane t = k == FLAT_SAMPLES ? sigma[2] : step * (sinew_real)k, excess = excess_at(sigma, c, t);
        const lane_mask crossed = lane_le(below, zero) & lane_lt(zero, excess);
        first = lane_select(crossed & ~found, t, first);
        last = lane_select(crossed, t, last);
        found |= crossed;
        below = excess;
    }
    const lane a = bisected_root(sigma, c, first - step, first), b = bisected_root(sigma, c, last - step, last);
    return lane_select(lane_lt(distance_at(sigma, a), distance_at(sigma, b)), a, b);
}

/* The bound that is passed, and whether one is. At a bound counts as beyond it. */
KERNEL_INLINE lane bound_of(const lane sigma[3], const sinew_real *material, lane_mask *passed)
{
    const lane J = sigma[0] * sigma[1] * sigma[2], least = lane_load(material),
               greatest = lane_load(material + GREATEST * LANES);
    *passed = ~(lane_lt(least, J) & lane_lt(J, greatest));
    return lane_select(lane_le(J, least), least, greatest);
}

static __attribute__((noinline)) void nearest(const lane sigma[3], const sinew_real *material, lane s[3])
{
    lane_mask passed;
    const lane zero = lane_set(0), half = lane_set((sinew_real)0.5), c = bound_of(sigma, material, &passed);
    const lane J = sigma[0] * sigma[1] * sigma[2], root = lane_cbrt(c);
    const lane_mask large = passed & lane_lt(c, J), far = large & lane_lt(c, half * J);
    const lane start = lane_select(large & lane_lt(sigma[2], root), sigma[2], root);
    lane t = newton_root(sigma, c, start), r[3];
    if (__builtin_expect(lane_any(far), 0))
        t = lane_select(far, flat_root(sigma, c), t);
    others_at(sigma, t, s, r);
    for (int i = 0; i < 3; i++)
        s[i] = lane_select(passed, lane_max(s[i], zero), sigma[i]);
}

/* Not inlined: the decomposition is a call anyway. */
static __attribute__((noinline)) lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    return tet_set_stress(F, material, nearest, P);
}

/* r ds = s dsigma + dnu, and sum ds/s = 0: ds_i/dsigma_j = s_i/r_i delta_ij - 1/(r_i r_j K), K = sum 1/(s_i r_i). With
 * e_i = 1/r_i, f_i = 1/s_i bounded away from infinity, which they reach where T jumps or is flat. */
KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const lane zero = lane_set(0), one = lane_set(1), bound = lane_set(ISOTROPIC_SUM_BOUND);
    lane_mask passed;
    lane s[3], e[3], r[3], term[3], K = zero;
    bound_of(sigma, material, &passed);
    nearest(sigma, material, s);
    isotropic_rotation_term(sigma, term);
    for (int i = 0; i < 3; i++) {
        r[i] = 2 * s[i] - sigma[i];
        r[i] = lane_select(lane_lt(lane_abs(r[i]), bound), bound, r[i]);
        e[i] = 1 / r[i];
        K += e[i] / lane_max(s[i], bound);
    }
    const lane inverse = 1 / lane_select(lane_lt(lane_abs(K), bound), bound, K);
    for (int i = 0; i < 3; i++)
        eigen->A[i] = lane_select(passed, 1 - s[i] * e[i] + e[i] * e[i] * inverse, zero);
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const lane sum = r[i] + r[j];
        eigen->A[3 + pair] = lane_select(passed, e[i] * e[j] * inverse, zero);
        eigen->even[pair] =
            lane_select(passed, 1 - (s[i] + s[j]) / lane_select(lane_lt(lane_abs(sum), bound), bound, sum), zero);
        eigen->odd[pair] = lane_select(passed, one - (sinew_real)0.5 * term[pair] * (s[i] + s[j]), zero);
    }
}

#include "energy/tet/isotropic_material.h"
#include "energy/tet/tet_distance_energy.h"

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_volume) = {
    .info = {.name = "volume",
             .summary = "k/2 |F - T|^2 per volume, T the nearest with det T in [minimum, maximum]",
             TET_MATERIAL_INFO,
             .capabilities = TET_SET_CAPABILITIES},
    TET_MATERIAL_OPS,
    TET_SET_OPS,
    .prepare = volume_prepare,
    TET_SET_ISOTROPIC_OPS,
};
