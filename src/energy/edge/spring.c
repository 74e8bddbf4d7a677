/* SPDX-License-Identifier: MIT
 *
 * spring.c: a spring along an edge.
 *
 *     psi = k/2 (l - L)^2,  l = |x1 - x0|
 *
 * L is the rest length times rest_scale. edge.h has the derivatives, constraints and incidences of all energies of an
 * edge's length.
 */
#include "energy/edge/edge.h"

enum {
    DATA_COUNT = 2
}; /* data of a spring: stiffness k in N/m, rest length L in m */

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, force per change of length; raising it stiffens"},
    {.name = "rest_scale",
     .unit = "",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1,
     .open_maximum = true,
     .meaning = "rest length as a multiple of the edge's length at rest; below 1 the spring pulls"},
};

static const char *spring_prepare(const sinew_element *element, sinew_real *data)
{
    double length;
    const char *refusal = edge_rest_length(element, &length);
    data[0] = element->parameters[0];
    data[EDGE_LENGTH] = (sinew_real)(length * (double)element->parameters[1]);
    return refusal;
}

#define EDGE_LIMITED false
#include "energy/edge/edge_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_spring) = {
    .info = {.name = "spring", .summary = "k/2 (|x1 - x0| - L)^2", EDGE_ENERGY_INFO},
    EDGE_ENERGY_OPS,
    .prepare = spring_prepare,
};
