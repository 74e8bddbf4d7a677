/* SPDX-License-Identifier: MIT
 *
 * triangle_distance.h: squared distances of F to a set of 3x2 matrices, psi = 1/2 |F - T|^2 with T the member nearest
 * to F (Bouaziz et al. 2014, section 5 and appendix A). T is stationary, so P = F - T.
 *
 * The squared distance to any closed set has the proximal map Z = (w T + w2 Y) / (w + w2), T nearest to Y: this Z is
 * optimal for a given T, and leaves |T - Y|^2 times a constant. psi never exceeds 1/2 |F - T0|^2 for any T0 of the set,
 * so the unit matrix bounds its second derivatives, and w |b|^2 1 bounds the block of a vertex.
 *
 * This header is a template on top of triangle_material.h; it needs the file's DATA_COUNT, stress and
 * add_projected_block(), which adds the exact block of an incidence. The file provides linearise.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_DISTANCE_H
#define SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_DISTANCE_H

#include "energy/triangle/triangle_material.h"

#define TRIANGLE_SET_OPS                                                                                               \
    TRIANGLE_OPS, TRIANGLE_CONSTRAINT_OPS, .stiffness = distance_set_stiffness, .local_project = distance_set_project, \
                                           .local_prox = distance_set_prox, .vertex = distance_set_vertex,             \
                                           .vertex_bounds = SINEW_BOUND_CHEAP

#define TRIANGLE_SET_STIFFNESS_PARAMETER                                                                               \
    {                                                                                                                  \
        .name = "stiffness", .unit = "N/m", .minimum = 0, .maximum = INFINITY, .preset = 1000, .open_minimum = true,   \
        .open_maximum = true,                                                                                          \
        .meaning = "k, energy per rest area and squared distance to the limits; raising it stiffens"                   \
    }

static void distance_set_stiffness(const sinew_reduced_kernel *kernel)
{
    triangle_weight_stiffness(kernel, DATA_COUNT);
}

/* PD's projection: g += w D^T T, with the weight w, the reduction matrix D of z = D x, and the matrix T of the set
 * nearest to F. */
static void distance_set_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        wide inverse[4], F[6], P[6];
        triangle_deformation(kernel->x, vertex, data, inverse, F);
        stress(F, data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
        for (int i = 0; i < 6; i++)
            P[i] = F[i] - P[i];
        triangle_scatter(kernel->g, vertex, wide_load(data), P, inverse);
    }
}

static void distance_set_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide inverse[4], F[6], Y[6], Z[6];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        triangle_shifted(kernel, group, F, Y);
        stress(Y, data + TRIANGLE_MATERIAL * SIMD_WIDTH, Z);
        const wide w = wide_load(data), blend = w / (w + wide_load(kernel->weights + group * SIMD_WIDTH));
        for (int i = 0; i < 6; i++)
            Z[i] = Y[i] - blend * Z[i];
        triangle_prox_finish(kernel, group, data, F, Y, Z, inverse);
    }
}

/* Adds the gradient of one vertex and a Hessian block: the second derivatives projected to semi-definite, or their
 * upper bound. */
KERNEL_INLINE void distance_set_add(const incidence *v, bool exact, incidence_sum *sum)
{
    wide F[6], b[2], P[6];
    triangle_incidence_deformation(v, F, b);
    stress(F, v->data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
    triangle_incidence_gradient(v, P, b, sum);
    if (exact) {
        add_projected_block(v, F, b, sum);
        return;
    }
    const wide diagonal = wide_load(v->data) * (b[0] * b[0] + b[1] * b[1]);
    for (int i = 0; i < 3; i++)
        sum->A[i] += diagonal;
}

static void distance_set_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 2, DATA_COUNT, distance_set_add);
}

#endif
