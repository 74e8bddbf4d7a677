/* SPDX-License-Identifier: MIT
 *
 * woven_strain.c: limits of the stretch along warp and weft, each its own.
 *
 *     psi = k/2 (|u - p_u|^2 + |v - p_v|^2) per rest area
 *
 * u and v are the columns of F, what unit vectors along warp and weft become, p_u and p_v the nearest vectors whose
 * lengths are within the limits of the direction: Bouaziz et al. 2014, (16), for a set that leaves shear free, as woven
 * cloth nearly does. Both columns are projected by themselves, so that this is exact. P jumps where a column vanishes
 * and its lower limit does not.
 */
#include "energy/triangle/directional.h"
#include "energy/limits.h"

enum {
    DATA_LIMITS = TRIANGLE_MATERIAL, /* warp: least and greatest, weft: the same */
    DATA_COUNT = TRIANGLE_MATERIAL + 4
};
enum {
    STIFFNESS = 0,
    WARP_MINIMUM = 1,
    WARP_MAXIMUM,
    WEFT_MINIMUM,
    WEFT_MAXIMUM,
    DIRECTION
}; /* parameters */

/* Lengths count as no less than this in second derivatives. */
#define LENGTH_BOUND ((sinew_real)MEMBRANE_BOUND)

/* The length of column c, and that which it should have. */
KERNEL_INLINE lane column_length(const lane F[6], int c, const sinew_real *material, lane *wanted)
{
    const lane low = lane_load(material + 2 * c * LANES), high = lane_load(material + (2 * c + 1) * LANES);
    const lane l = lane_sqrt(F[c] * F[c] + F[2 + c] * F[2 + c] + F[4 + c] * F[4 + c]);
    *wanted = lane_min(lane_max(l, low), high);
    return l;
}

KERNEL_INLINE lane stress(const lane F[6], const sinew_real *material, lane P[6])
{
    lane psi = lane_set(0);
    for (int c = 0; c < 2; c++) {
        lane wanted;
        const lane l = column_length(F, c, material, &wanted), apart = l - wanted;
        /* A column of no length has any direction: one of the nearest vectors is along x. */
        const lane_mask nowhere = lane_le(l, lane_set(LANE_ROOT_TINY));
        const lane pull = apart / lane_select(nowhere, lane_set(1), l);
        for (int i = 0; i < 3; i++)
            P[2 * i + c] = lane_select(nowhere, lane_set(0), pull * F[2 * i + c]);
        P[c] = lane_select(nowhere, apart, P[c]);
        psi += (sinew_real)0.5 * apart * apart;
    }
    return psi;
}

/* Along a column the modulus is 1 beyond its limits, 0 between; across it is (l - wanted) / l. */
KERNEL_INLINE void curvature(const lane F[6], const sinew_real *material, bool project, directional_moduli *m)
{
    const lane zero = lane_set(0), one = lane_set(1);
    for (int c = 0; c < 2; c++) {
        const lane low = lane_load(material + 2 * c * LANES), high = lane_load(material + (2 * c + 1) * LANES);
        lane wanted;
        const lane l = column_length(F, c, material, &wanted), safe = lane_max(l, lane_set(LENGTH_BOUND));
        const lane_mask inside = lane_lt(low, l) & lane_lt(l, high);
        const lane across = (l - wanted) / safe;
        m->S[c] = project ? lane_max(across, zero) : across;
        m->c[c] = (lane_select(inside, zero, one) - m->S[c]) / (safe * safe);
    }
    m->S[2] = m->c[2] = m->shear = zero;
}

KERNEL_INLINE void projected(const visit *v, const lane F[6], const lane b[2], visit_sum *sum)
{
    directional_visit(v, F, b, curvature, sum);
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

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_woven_strain) = {
    .info = {.name = "woven_strain",
             .summary = "k/2 (|u - p_u|^2 + |v - p_v|^2) per area: lengths along warp and weft within limits",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES | SINEW_CAN_PROJECT},
    TRIANGLE_SET_OPS,
    .prepare = woven_prepare,
    .linearise = woven_linearise,
};
