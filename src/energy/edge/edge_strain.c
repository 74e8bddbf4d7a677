/* SPDX-License-Identifier: MIT
 *
 * edge_strain.c: strain of an edge, weighted by its length and free between limits.
 *
 *     psi = k/2 L (l/L - s)^2,  s the number nearest to l/L in [minimum, maximum]
 *
 * Bouaziz et al. 2014, section 5.1 (strain of edges), with the rest length as the measure of the element: k is the
 * force per strain of a rope (EA), in N, so that the stiffness of a net does not depend on the length of its edges.
 * With minimum = maximum = 1 it is a spring of stiffness k/L. edge.h receives the limits minimum L and maximum L of the
 * length.
 */
#include "energy/edge/edge.h"
#include "energy/limits.h"

enum {
    DATA_COUNT = 3
}; /* data of an edge: stiffness k / L, smallest length minimum L, largest length maximum L (L: rest length) */
enum {
    STIFFNESS = 0,
    MINIMUM = 1,
    MAXIMUM = 2
}; /* indices of the parameters of the energy edge_strain */

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "N",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, force per strain beyond the limits (EA of a rope); raising it stiffens"},
    LIMITS_PARAMETER("minimum", "least length over that at rest that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest length over that at rest that costs nothing; not below minimum", 1),
};

static const char *edge_strain_prepare(const sinew_element *element, sinew_real *data)
{
    double length;
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    if (!refusal)
        refusal = edge_rest_length(element, &length);
    if (refusal)
        return refusal;
    if (!(length > 0))
        return "its rest length is zero, and strain is measured by it; use spring, or remove the edge";
    data[0] = (sinew_real)((double)element->parameters[STIFFNESS] / length);
    data[EDGE_LENGTH] = (sinew_real)((double)element->parameters[MINIMUM] * length);
    data[EDGE_GREATEST] = (sinew_real)((double)element->parameters[MAXIMUM] * length);
    return NULL;
}

#define EDGE_LIMITED true
#include "energy/edge/edge_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_edge_strain) = {
    .info = {.name = "edge_strain",
             .summary = "k/2 L (l/L - s)^2, s = l/L clamped to [minimum, maximum]",
             EDGE_ENERGY_INFO},
    EDGE_ENERGY_OPS,
    .prepare = edge_strain_prepare,
};
