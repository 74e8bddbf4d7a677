/* SPDX-License-Identifier: MIT
 *
 * enclosed_volume.c: the volume that a closed surface encloses, as one constraint of all its triangles.
 *
 *     C = V(x) - f V_0,   V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6      psi = C^2 / (2 alpha)
 *
 * with alpha = V_0 / k, V_0 the rest volume, f the pressure factor (Mueller et al. 2007, "Position based dynamics",
 * 4.4): k is a bulk modulus, and -k C / V_0 the pressure. V is linear in each corner. c is the mean of the corners at
 * the start of a step; V does not depend on it (closed_surface.h).
 *
 * All triangles are coupled, so psi is no sum over elements: see `global_constraint` in energy/energy.h.
 *
 * Known limits: all components of the surface have one common volume; the diagonal block of a particle lacks the
 * curvature of V.
 */
#include <math.h>

#include "energy/triangle/closed_surface.h"
#include "energy/constrain.h"
#include "energy/triangle/corner_volume.h"
#include "energy/curvature.h"

enum {
    DATA_WEIGHT, /* 1 / alpha, the inverse compliance k / V_0 of the volume constraint */
    DATA_CENTRE,
    DATA_REST_VOLUME = DATA_CENTRE + 3, /* the triangle's contribution to the target volume f V_0, in m3 */
    DATA_COUNT
};

enum {
    STIFFNESS,
    FACTOR
};

static const sinew_parameter parameters[] = {
    [STIFFNESS] = {.name = "stiffness",
                   .unit = "Pa",
                   .minimum = 0,
                   .maximum = INFINITY,
                   .preset = 1e5,
                   .open_minimum = true,
                   .open_maximum = true,
                   .meaning = "k, pressure per relative change of volume; raising it stiffens"},
    [FACTOR] = {.name = "pressure_factor",
                .unit = "",
                .minimum = 0,
                .maximum = 1e6,
                .preset = 1,
                .meaning = "f, the volume that is wanted over that at rest; above 1 it blows the surface up"},
};

/* All triangles share their data, which are computed for the whole surface when a step begins or the state is
 * measured. */
static const char *enclosed_prepare(const sinew_element *element, sinew_real *data)
{
    data[DATA_WEIGHT] = element->parameters[STIFFNESS];
    for (int i = DATA_CENTRE; i < DATA_COUNT; i++)
        data[i] = 0;
    return NULL;
}

static sinew_status enclosed_check_elements(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                            sinew_error *error)
{
    double volume;
    const sinew_status status = closed_check(all, "enclosed_volume", "", &volume, allocator, error);
    if (status == SINEW_OK && volume == 0)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "enclosed_volume: the surface is flat at rest, so that there is no volume to keep; use a rest "
            "shape that holds some, or pressure");
    return status;
}

static void enclosed_update_shared_data(const sinew_global_constraint *all, sinew_real *shared)
{
    double centre[3], unused[3];
    const double rest = closed_volume(all, all->rest, unused);
    closed_volume(all, all->q, centre);
    shared[DATA_WEIGHT] = (sinew_real)((double)all->parameters[STIFFNESS] / rest);
    shared[DATA_REST_VOLUME] = (sinew_real)((double)all->parameters[FACTOR] * rest / all->count);
    for (int c = 0; c < 3; c++)
        shared[DATA_CENTRE + c] = (sinew_real)centre[c];
}

/* ---- Contribution of each triangle to the volume constraint and its derivatives ------------------ */

/* r = corners of the triangles relative to the centre c of the surface */
KERNEL_INLINE void enclosed_from_centre(const wide *x, const sinew_real *data, wide r[9])
{
    for (int i = 0; i < 9; i++)
        r[i] = x[i] - wide_load(data + (DATA_CENTRE + i % 3) * SIMD_WIDTH);
}

/* Contribution of a triangle to the volume constraint C = V - f V_0: enclosed volume V, rest volume V_0, its factor
 * f. */
KERNEL_INLINE wide enclosed_first(const wide *x, const sinew_real *data, wide *g)
{
    wide r[9];
    enclosed_from_centre(x, data, r);
    return corner_volume(wide_set((sinew_real)(1.0 / 6)), r, g) - wide_load(data + DATA_REST_VOLUME * SIMD_WIDTH);
}

static double enclosed_value(const sinew_kernel *kernel)
{
    return (double)kernel->multiplier * dense_value(kernel, 3, DATA_COUNT, enclosed_first);
}

static double enclosed_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        const wide weight = wide_load(data);
        wide x[9], g[9];
        dense_gather(kernel->x, vertex, 3, x);
        value_add(&sum, weight, enclosed_first(x, data, g));
        for (int i = 0; i < 9; i++)
            g[i] = dense_weight_of(weight, kernel->multiplier * g[i]);
        dense_scatter(kernel->g, vertex, 3, g);
    }
    return (double)kernel->multiplier * value_total(&sum);
}

static void enclosed_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide x[9], r[9], H[DENSE_COUNT(3)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        enclosed_from_centre(x, data, r);
        corner_volume_second(wide_set(kernel->multiplier * (sinew_real)(1.0 / 6)), r, H);
        if (kernel->project)
            sinew_eigen_clamp(H, 9);
        for (int i = 0; i < DENSE_COUNT(3); i++)
            H[i] = dense_weight_of(wide_load(data), H[i]);
        store_wide_array(group_tangent(kernel, group, DENSE_COUNT(3)), DENSE_COUNT(3), H);
    }
}

static void enclosed_product(const sinew_kernel *kernel)
{
    element_dense_product(kernel, 3);
}

static void enclosed_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, 3);
}

/* ---- Contribution of each triangle to the Jacobian of the volume constraint ---------------------- */

static void enclosed_jacobian(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        wide x[9];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        const wide C = enclosed_first(x, data, c.gradient);
        jacobian_write(kernel, group, 0, 1, 3, C, wide_set(1), wide_load(data), false, &c);
    }
}

static void enclosed_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide lambda = curvature_factor(kernel, group, 0, 1, wide_load(data));
        wide x[9], r[9], H[DENSE_COUNT(3)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        enclosed_from_centre(x, data, r);
        corner_volume_second((sinew_real)(1.0 / 6) * lambda, r, H);
        dense_blocks(H, 3, curvature_blocks(kernel, group, 3));
    }
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_enclosed_volume) = {
    .info = {.name = "enclosed_volume",
             .summary = "k/(2 V_0) (V - f V_0)^2, V the volume that a closed surface encloses; one constraint",
             .stencil = SINEW_STENCIL_TRIANGLE,
             .vertex_count = 3,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = DENSE_COUNT(3),
    .target_slot = -1,
    .load = true,
    .global_constraint = true,
    .prepare = enclosed_prepare,
    .value = enclosed_value,
    .gradient = enclosed_gradient,
    .linearise = enclosed_linearise,
    .product = enclosed_product,
    .hessian = enclosed_hessian,
    .check_elements = enclosed_check_elements,
    .shared_count = DATA_COUNT,
    .update_shared_data = enclosed_update_shared_data,
    .constraint_count = 1,
    .jacobian = enclosed_jacobian,
    .curvature = enclosed_curvature,
};
