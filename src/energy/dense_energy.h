/* SPDX-License-Identifier: MIT
 *
 * dense_energy.h: the required operations of an energy of dense elements (dense_element.h).
 *
 * This header is a template: the file of an energy includes it once, after defining POINTS (vertices of an element),
 * DATA_COUNT, element_first() and element_second(). The table of the energy contains the operations as DENSE_OPS.
 */
#ifndef SINEW_SRC_ENERGY_DENSE_ENERGY_H
#define SINEW_SRC_ENERGY_DENSE_ENERGY_H

#include "energy/dense_element.h"

static double element_value(const sinew_kernel *kernel)
{
    return dense_value(kernel, POINTS, DATA_COUNT, element_first);
}

static double element_gradient(const sinew_kernel *kernel)
{
    return dense_gradient(kernel, POINTS, DATA_COUNT, element_first);
}

static void element_linearise(const sinew_kernel *kernel)
{
    dense_linearise(kernel, POINTS, DATA_COUNT, element_second);
}

static void element_product(const sinew_kernel *kernel)
{
    element_dense_product(kernel, POINTS);
}

static void element_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, POINTS);
}

#define DENSE_OPS                                                                                                      \
    .data_count = DATA_COUNT, .tangent_count = DENSE_COUNT(POINTS), .target_slot = -1, .value = element_value,         \
    .gradient = element_gradient, .linearise = element_linearise, .product = element_product,                          \
    .hessian = element_hessian

#endif
