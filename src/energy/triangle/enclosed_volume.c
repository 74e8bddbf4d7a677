/* SPDX-License-Identifier: MIT
 *
 * enclosed_volume.c: the volume that a closed surface encloses, as one constraint of all its triangles.
 *
 *     C = V(x) - f V_0,   V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6      psi = C^2 / (2 alpha)
 *
 * with alpha = V_0 / k, V_0 the volume at rest, f the pressure factor (Mueller et al. 2007, "Position based dynamics",
 * 4.4): k is a bulk modulus, and -k C / V_0 the pressure. V is linear in each corner; c is the mean of the corners when
 * a step begins, as V does not depend on it (closed_surface.h).
 *
 * Every triangle sees every other, so psi is no sum over elements: `whole_row` in energy.h says what kernels do.
 *
 * Known limits: one volume, also where the surface is in several pieces; a particle on the surface sees no curvature
 * of V alone.
 */
#include <math.h>

#include "energy/triangle/closed_surface.h"
#include "energy/constrain.h"
#include "energy/triangle/corner_volume.h"
#include "energy/curvature.h"

enum {
    DATA_WEIGHT, /* 1 / alpha */
    DATA_CENTRE,
    DATA_SHARE = DATA_CENTRE + 3, /* of a triangle in f V_0 */
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

/* All numbers are shared: they come with the whole surface, when a step begins or the state is looked at. */
static const char *enclosed_prepare(const sinew_element *element, sinew_real *data)
{
    data[DATA_WEIGHT] = element->parameters[STIFFNESS];
    for (int i = DATA_CENTRE; i < DATA_COUNT; i++)
        data[i] = 0;
    return NULL;
}

static sinew_status enclosed_check_whole(const sinew_whole *whole, const sinew_allocator *allocator, sinew_error *error)
{
    double volume;
    const sinew_status status = closed_check(whole, "enclosed_volume", "", &volume, allocator, error);
    if (status == SINEW_OK && volume == 0)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "enclosed_volume: the surface is flat at rest, so that there is no volume to keep; use a rest "
            "shape that holds some, or pressure");
    return status;
}

static void enclosed_share(const sinew_whole *whole, sinew_real *shared)
{
    double centre[3], unused[3];
    const double rest = closed_volume(whole, whole->rest, unused);
    closed_volume(whole, whole->q, centre);
    shared[DATA_WEIGHT] = (sinew_real)((double)whole->parameters[STIFFNESS] / rest);
    shared[DATA_SHARE] = (sinew_real)((double)whole->parameters[FACTOR] * rest / whole->count);
    for (int c = 0; c < 3; c++)
        shared[DATA_CENTRE + c] = (sinew_real)centre[c];
}

/* ---- Elements --------------------------------------------------------------------------------- */

/* Corners from c on. */
KERNEL_INLINE void from_centre(const lane *x, const sinew_real *data, lane r[9])
{
    for (int i = 0; i < 9; i++)
        r[i] = x[i] - lane_load(data + (DATA_CENTRE + i % 3) * LANES);
}

/* A triangle's share of C. */
KERNEL_INLINE lane enclosed_first(const lane *x, const sinew_real *data, lane *g)
{
    lane r[9];
    from_centre(x, data, r);
    return corner_volume(lane_set((sinew_real)(1.0 / 6)), r, g) - lane_load(data + DATA_SHARE * LANES);
}

static double enclosed_value(const sinew_kernel *kernel)
{
    return (double)kernel->pull * dense_value(kernel, 3, DATA_COUNT, enclosed_first);
}

static double enclosed_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        const lane weight = lane_load(data);
        lane x[9], g[9];
        dense_gather(kernel->x, vertex, 3, x);
        value_add(&sum, weight, enclosed_first(x, data, g));
        for (int i = 0; i < 9; i++)
            g[i] = dense_weigh(weight, kernel->pull * g[i]);
        dense_scatter(kernel->g, vertex, 3, g);
    }
    return (double)kernel->pull * value_total(&sum);
}

static void enclosed_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane x[9], r[9], H[DENSE_COUNT(3)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        from_centre(x, data, r);
        corner_volume_second(lane_set(kernel->pull * (sinew_real)(1.0 / 6)), r, H);
        if (kernel->project)
            sinew_eigen_clamp(H, 9);
        for (int i = 0; i < DENSE_COUNT(3); i++)
            H[i] = dense_weigh(lane_load(data), H[i]);
        store_lanes(group_tangent(kernel, group, DENSE_COUNT(3)), DENSE_COUNT(3), H);
    }
}

static void enclosed_product(const sinew_kernel *kernel)
{
    dense_product(kernel, 3);
}

static void enclosed_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, 3);
}

/* ---- Its share of the row --------------------------------------------------------------------- */

static void enclosed_jacobian(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        lane x[9];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        const lane C = enclosed_first(x, data, c.gradient);
        jacobian_write(kernel, group, 0, 1, 3, C, lane_set(1), lane_load(data), false, &c);
    }
}

static void enclosed_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane lambda = curvature_factor(kernel, group, 0, 1, lane_load(data));
        lane x[9], r[9], H[DENSE_COUNT(3)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, x);
        from_centre(x, data, r);
        corner_volume_second((sinew_real)(1.0 / 6) * lambda, r, H);
        dense_blocks(H, 3, curvature_blocks(kernel, group, 3));
    }
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_enclosed_volume) = {
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
    .whole_row = true,
    .prepare = enclosed_prepare,
    .value = enclosed_value,
    .gradient = enclosed_gradient,
    .linearise = enclosed_linearise,
    .product = enclosed_product,
    .hessian = enclosed_hessian,
    .check_whole = enclosed_check_whole,
    .shared_count = DATA_COUNT,
    .share = enclosed_share,
    .constraint_count = 1,
    .jacobian = enclosed_jacobian,
    .curvature = enclosed_curvature,
};
