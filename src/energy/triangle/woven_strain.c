/* SPDX-License-Identifier: MIT
 *
 * woven_strain.c: separate limits of the stretch along warp and weft.
 *
 *     psi = k/2 (|u - p_u|^2 + |v - p_v|^2) per rest area
 *
 * u and v are the columns of F, the images of unit vectors along warp and weft. p_u and p_v are the nearest vectors
 * with lengths within the limits of their direction: Bouaziz et al. 2014, (16), for a set that leaves shear free, as
 * woven cloth nearly does. The columns are projected independently, so the projection is exact. P jumps where a column
 * is zero and its lower limit is not.
 */
#include "energy/triangle/directional.h"
#include "energy/limits.h"

enum {
    /* index in data of the stretch limits: minimum and maximum of warp, then of weft */
    DATA_LIMITS = TRIANGLE_MATERIAL,
    DATA_COUNT = TRIANGLE_MATERIAL + 4
};
enum {
    STIFFNESS = 0,
    WARP_MINIMUM = 1,
    WARP_MAXIMUM,
    WEFT_MINIMUM,
    WEFT_MAXIMUM,
    DIRECTION
}; /* indices of the parameters of the energy woven_strain */

/* Lower bound of the lengths of F's columns in second derivatives. */
#define LENGTH_BOUND ((sinew_real)MEMBRANE_BOUND)

/* Returns the length of column c of F (0: warp, 1: weft) and sets its target length, the length clamped to the
 * limits. */
KERNEL_INLINE wide column_length(const wide F[6], int c, const sinew_real *material, wide *wanted)
{
    const wide low = wide_load(material + 2 * c * SIMD_WIDTH), high = wide_load(material + (2 * c + 1) * SIMD_WIDTH);
    const wide l = wide_sqrt(F[c] * F[c] + F[2 + c] * F[2 + c] + F[4 + c] * F[4 + c]);
    *wanted = wide_min(wide_max(l, low), high);
    return l;
}

KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    wide psi = wide_set(0);
    for (int c = 0; c < 2; c++) {
        wide wanted;
        const wide l = column_length(F, c, material, &wanted), apart = l - wanted;
        /* A zero column of F has no unique nearest vector within the limits; the one along the x axis is used. */
        const wide_mask nowhere = wide_le(l, wide_set(WIDE_ROOT_TINY));
        const wide force_density = apart / wide_select(nowhere, wide_set(1), l);
        for (int i = 0; i < 3; i++)
            P[2 * i + c] = wide_select(nowhere, wide_set(0), force_density * F[2 * i + c]);
        P[c] = wide_select(nowhere, apart, P[c]);
        psi += (sinew_real)0.5 * apart * apart;
    }
    return psi;
}

/* Second derivatives by F: along a column the modulus is 1 beyond its limits and 0 between them; perpendicular to it,
 * (l - wanted) / l, l the column's length and `wanted` its target. */
KERNEL_INLINE void curvature(const wide F[6], const sinew_real *material, bool project, directional_moduli *m)
{
    const wide zero = wide_set(0), one = wide_set(1);
    for (int c = 0; c < 2; c++) {
        const wide low = wide_load(material + 2 * c * SIMD_WIDTH),
                   high = wide_load(material + (2 * c + 1) * SIMD_WIDTH);
        wide wanted;
        const wide l = column_length(F, c, material, &wanted), safe = wide_max(l, wide_set(LENGTH_BOUND));
        const wide_mask inside = wide_lt(low, l) & wide_lt(l, high);
        const wide across = (l - wanted) / safe;
        m->S[c] = project ? wide_max(across, zero) : across;
        m->c[c] = (wide_select(inside, zero, one) - m->S[c]) / (safe * safe);
    }
    m->S[2] = m->c[2] = m->shear = zero;
}

KERNEL_INLINE void add_projected_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    directional_add_projected(v, F, b, curvature, sum);
}

#include "energy/triangle/triangle_distance.h"

static const sinew_parameter parameters[] = {
    TRIANGLE_SET_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("warp_minimum", "least stretch along the warp that costs nothing; not above warp_maximum", 1),
    LIMITS_PARAMETER("warp_maximum", "greatest stretch along the warp that costs nothing", 1),
    LIMITS_PARAMETER("weft_minimum", "least stretch across the warp that costs nothing; not above weft_maximum", 1),
    LIMITS_PARAMETER("weft_maximum", "greatest stretch across the warp that costs nothing", 1),
    DIRECTIONAL_WARP_PARAMETERS,
};

static const char *woven_prepare(const sinew_element *element, sinew_real *data)
{
    for (int i = 0; i < 4; i++)
        data[DATA_LIMITS + i] = element->parameters[WARP_MINIMUM + i];
    const char *refusal = limits_refusal(element, parameters, WARP_MINIMUM, WARP_MAXIMUM);
    if (!refusal)
        refusal = limits_refusal(element, parameters, WEFT_MINIMUM, WEFT_MAXIMUM);
    return refusal ? refusal : directional_prepare(element, (double)element->parameters[STIFFNESS], DIRECTION, data);
}

static void woven_linearise(const sinew_kernel *kernel)
{
    directional_linearise(kernel, DATA_COUNT, curvature);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_woven_strain) = {
    .info = {.name = "woven_strain",
             .summary = "k/2 (|u - p_u|^2 + |v - p_v|^2) per area: lengths along warp and weft within limits",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES | SINEW_CAN_PROJECT},
    TRIANGLE_SET_OPS,
    .prepare = woven_prepare,
    .linearise = woven_linearise,
};
