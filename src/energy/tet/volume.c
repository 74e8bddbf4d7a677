/* SPDX-License-Identifier: MIT
 *
 * volume.c: preservation of volume: the squared distance of F to the matrices whose determinant is between bounds.
 *
 *     psi = k/2 |F - T|^2,  T = U diag(s) V^T,  s = argmin |s - sigma|^2  with  s0 s1 s2 in [minimum, maximum]
 *
 * Bouaziz et al. 2014, (24)-(26). The determinant of F selects the bound, not the determinant of T as in (25). The
 * energy does not resist changes of shape; combine it with strain.
 *
 * With c the bound, stationary s satisfy s_i (s_i - sigma_i) = nu for one number nu (Lagrange), so
 *
 *     s_i = (sigma_i + r_i) / 2,  r_i = sqrt(sigma_i^2 + 4 nu),  nu = t (t - sigma2),  t = s2
 *
 * and one equation t s0(t) s1(t) = c remains. From t = sigma2/2 upwards its left side is convex and increasing, so
 * Newton's method from the right of the root (t^3 <= c) converges monotonically; iteration (26) need not converge. If
 * the volume of a tet is more than twice the bound, the branch r2 = 2 t - sigma2 < 0 must be checked, too: flattening
 * the smallest stretch may be nearer than shortening all three. T jumps between the branches, and where
 * sigma1 + sigma2 = 0 (isotropic.h).
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
}; /* indices of the parameters of the energy volume */

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
    data[TET_MATERIAL + MINIMUM_SLOT] = element->parameters[MINIMUM];
    data[TET_MATERIAL + GREATEST] = element->parameters[MAXIMUM];
    return refusal ? refusal : sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, NULL);
}

/* Computes the stationary point s of the distance with s2 = t, and r_i = 2 s_i - sigma_i. */
KERNEL_INLINE void stationary_point_at(const wide sigma[3], wide t, wide s[3], wide r[3])
{
    r[2] = 2 * t - sigma[2];
    s[2] = t;
    for (int i = 0; i < 2; i++) {
        /* r_i^2 = sigma_i^2 + 4 nu, from squares and products of nonnegative numbers */
        r[i] = wide_sqrt(r[2] * r[2] + (sigma[i] - sigma[2]) * (sigma[i] + sigma[2]));
        s[i] = (sinew_real)0.5 * (sigma[i] + r[i]);
    }
}

/* The root of t s0 s1 = c on the branch r2 >= 0. `start` is above the root. */
KERNEL_INLINE wide newton_root(const wide sigma[3], wide c, wide start)
{
    const wide zero = wide_set(0), one = wide_set(1), tiny = wide_set(WIDE_TINY);
    const wide floor = wide_max((sinew_real)0.5 * sigma[2], zero);
    wide t = start, s[3], r[3];
    wide_mask busy = wide_eq(zero, zero);
    for (int k = 0; k < NEWTON_ITERATIONS && wide_any(busy); k++) {
        stationary_point_at(sigma, t, s, r);
        const wide excess = t * s[0] * s[1] - c;
        const wide grow0 = r[2] / wide_max(r[0], tiny), grow1 = r[2] / wide_max(r[1], tiny);
        const wide slope = s[0] * s[1] + t * (grow0 * s[1] + s[0] * grow1);
        const wide_mask sloped = wide_lt(zero, slope);
        const wide step = wide_select(sloped, excess / wide_select(sloped, slope, one), zero);
        busy &= wide_lt(WIDE_EPSILON * t, step);
        t = wide_max(t - wide_select(busy | wide_lt(step, zero), step, zero), floor);
    }
    return t;
}

KERNEL_INLINE wide distance_at(const wide sigma[3], wide t)
{
    wide s[3], r[3], sum = wide_set(0);
    stationary_point_at(sigma, t, s, r);
    for (int i = 0; i < 3; i++)
        sum += (s[i] - sigma[i]) * (s[i] - sigma[i]);
    return sum;
}

KERNEL_INLINE wide excess_at(const wide sigma[3], wide c, wide t)
{
    wide s[3], r[3];
    stationary_point_at(sigma, t, s, r);
    return t * s[0] * s[1] - c;
}

KERNEL_INLINE wide bisected_root(const wide sigma[3], wide c, wide low, wide high)
{
    for (int k = 0; k < FLAT_BISECTIONS; k++) {
        const wide middle = (sinew_real)0.5 * (low + high);
        const wide_mask above = wide_le(wide_set(0), excess_at(sigma, c, middle));
        high = wide_select(above, middle, high);
        low = wide_select(above, low, middle);
    }
    return high;
}

/* For J > 2 c, c the volume bound: the first and the last root t of t s0(t) s1(t) = c in (0, sigma2] are minima of |s -
 * sigma|. Returns the root with the smaller distance. FLAT_SAMPLES samples bracket the roots; two roots between
 * neighbouring samples are not found. */
static __attribute__((noinline)) wide flat_root(const wide sigma[3], wide c)
{
    const wide zero = wide_set(0), step = sigma[2] / (sinew_real)FLAT_SAMPLES;
    wide first = sigma[2], last = sigma[2], below = -c;
    wide_mask found = wide_lt(zero, zero);
    for (int k = 1; k <= FLAT_SAMPLES; k++) {
        const wide t = k == FLAT_SAMPLES ? sigma[2] : step * (sinew_real)k, excess = excess_at(sigma, c, t);
        const wide_mask crossed = wide_le(below, zero) & wide_lt(zero, excess);
        first = wide_select(crossed & ~found, t, first);
        last = wide_select(crossed, t, last);
        found |= crossed;
        below = excess;
    }
    const wide a = bisected_root(sigma, c, first - step, first), b = bisected_root(sigma, c, last - step, last);
    return wide_select(wide_lt(distance_at(sigma, a), distance_at(sigma, b)), a, b);
}

/* Returns the bound of the determinant that J violates, and the mask of violations. A value at a bound counts as
 * violated. */
KERNEL_INLINE wide violated_bound(const wide sigma[3], const sinew_real *material, wide_mask *passed)
{
    const wide J = sigma[0] * sigma[1] * sigma[2], min = wide_load(material),
               greatest = wide_load(material + GREATEST * SIMD_WIDTH);
    *passed = ~(wide_lt(min, J) & wide_lt(J, greatest));
    return wide_select(wide_le(J, min), min, greatest);
}

static __attribute__((noinline)) void nearest_with_volume(const wide sigma[3], const sinew_real *material, wide s[3])
{
    wide_mask passed;
    const wide zero = wide_set(0), half = wide_set((sinew_real)0.5), c = violated_bound(sigma, material, &passed);
    const wide J = sigma[0] * sigma[1] * sigma[2], root = wide_cbrt(c);
    const wide_mask large = passed & wide_lt(c, J), far = large & wide_lt(c, half * J);
    const wide start = wide_select(large & wide_lt(sigma[2], root), sigma[2], root);
    wide t = newton_root(sigma, c, start), r[3];
    if (__builtin_expect(wide_any(far), 0))
        t = wide_select(far, flat_root(sigma, c), t);
    stationary_point_at(sigma, t, s, r);
    for (int i = 0; i < 3; i++)
        s[i] = wide_select(passed, wide_max(s[i], zero), sigma[i]);
}

/* The stress function is not inlined, because the singular value decomposition is a call in any case. */
static __attribute__((noinline)) wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    return tet_set_stress(F, material, nearest_with_volume, P);
}

/* Second derivatives by singular values: r ds = s dsigma + dnu and sum ds/s = 0 give ds_i/dsigma_j = s_i/r_i delta_ij -
 * 1/(r_i r_j K), K = sum 1/(s_i r_i). 1/r_i and 1/s_i have upper bounds, because they are infinite where T jumps or is
 * flat. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const wide zero = wide_set(0), one = wide_set(1), bound = wide_set(ISOTROPIC_SUM_BOUND);
    wide_mask passed;
    wide s[3], e[3], r[3], term[3], K = zero;
    violated_bound(sigma, material, &passed);
    nearest_with_volume(sigma, material, s);
    isotropic_rotation_term(sigma, term);
    for (int i = 0; i < 3; i++) {
        r[i] = 2 * s[i] - sigma[i];
        r[i] = wide_select(wide_lt(wide_abs(r[i]), bound), bound, r[i]);
        e[i] = 1 / r[i];
        K += e[i] / wide_max(s[i], bound);
    }
    const wide inverse = 1 / wide_select(wide_lt(wide_abs(K), bound), bound, K);
    for (int i = 0; i < 3; i++)
        eigen->A[i] = wide_select(passed, 1 - s[i] * e[i] + e[i] * e[i] * inverse, zero);
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const wide sum = r[i] + r[j];
        eigen->A[3 + pair] = wide_select(passed, e[i] * e[j] * inverse, zero);
        eigen->even[pair] =
            wide_select(passed, 1 - (s[i] + s[j]) / wide_select(wide_lt(wide_abs(sum), bound), bound, sum), zero);
        eigen->odd[pair] = wide_select(passed, one - (sinew_real)0.5 * term[pair] * (s[i] + s[j]), zero);
    }
}

#include "energy/tet/isotropic_material.h"
#include "energy/tet/tet_distance_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_volume) = {
    .info = {.name = "volume",
             .summary = "k/2 |F - T|^2 per volume, T the nearest with det T in [minimum, maximum]",
             TET_MATERIAL_INFO,
             .capabilities = TET_SET_CAPABILITIES},
    TET_MATERIAL_OPS,
    TET_SET_OPS,
    .prepare = volume_prepare,
    TET_SET_ISOTROPIC_OPS,
};
