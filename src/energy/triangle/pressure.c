/* SPDX-License-Identifier: MIT
 *
 * pressure.c: pressure in a closed surface.
 *
 *     psi = -p V,   V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6
 *
 * V does not depend on c if the surface is closed; c is the mean of the corners at the start of a step, which keeps the
 * numbers small. The force on each vertex is p times a third of the area vectors around it. The term of a triangle is
 * linear in each corner, so the vertex block is zero and the Hessian has no diagonal blocks. It is indefinite and
 * projected element by element (psd_projection.c), which adds a stiffness of about p |x - c|.
 *
 * Ideal gas: with the rest volume V_0, the absolute pressure P = p_a + p_0 there and the pressure outside p_a,
 *
 *     psi(V) = integral from V_0 to V of -p,   p = P (V_0 / V)^k - p_a,   +inf for V <= 0
 *
 * All triangles are coupled through V: see `potential` in energy/energy.h. psi'' = k P V_0^k / V^(k + 1) >= 0.
 */
#include <math.h>

#include "energy/triangle/closed_surface.h"
#include "energy/triangle/corner_volume.h"
#include "energy/vertex_kernel.h"

enum {
    POINTS = 3
};

enum {
    DATA_WEIGHT, /* weight of a triangle: |p| for a constant pressure, 1 for an ideal gas */
    DATA_SIGN,   /* sign of a constant pressure p; 0 for an ideal gas */
    DATA_CENTRE,
    /* number of data that a vertex-triangle incidence copies; a gas has no incidences */
    DATA_VERTEX_COUNT = DATA_CENTRE + 3,
    /* The following data exist for an ideal gas only. */
    DATA_INSIDE = DATA_VERTEX_COUNT, /* absolute pressure P of the gas at the rest volume, in Pa */
    DATA_OUTSIDE,                    /* pressure p_a outside the surface, in Pa */
    DATA_EXPONENT,                   /* exponent k of the gas law p = P (V_0 / V)^k - p_a, with the volume V */
    DATA_REST_VOLUME,                /* rest volume V_0 of the surface, in m3 */
    DATA_COUNT
};

enum {
    PRESSURE_GAUGE,
    PRESSURE_GAS,
    PRESSURE_AMBIENT,
    PRESSURE_EXPONENT
};

static const sinew_parameter parameters[] = {
    [PRESSURE_GAUGE] = {.name = "pressure",
                        .unit = "Pa",
                        .minimum = -1e12,
                        .maximum = 1e12,
                        .preset = 1000,
                        .meaning = "above that outside, at the volume at rest; raising it blows the surface up"},
    [PRESSURE_GAS] = {.name = "gas",
                      .unit = "",
                      .choices = "constant|ideal",
                      .maximum = 1,
                      .preset = 0,
                      .meaning = "constant: the pressure stays; ideal: it falls as the volume grows, within the step"},
    [PRESSURE_AMBIENT] = {.name = "ambient",
                          .unit = "Pa",
                          .maximum = 1e12,
                          .preset = 101325,
                          .meaning = "ideal: pressure outside; raising it makes the gas stiffer"},
    [PRESSURE_EXPONENT] = {.name = "exponent",
                           .unit = "",
                           .maximum = 10,
                           .preset = 1,
                           .open_minimum = true,
                           .meaning = "ideal: 1 at a constant temperature, 1.4 in air that keeps its heat"},
};

static bool pressure_is_gas(const sinew_real *given)
{
    return given[PRESSURE_GAS] > 0;
}

static const char *pressure_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *given = element->parameters, p = given[PRESSURE_GAUGE];
    const bool gas = pressure_is_gas(given);
    data[DATA_WEIGHT] = gas ? 1 : (sinew_real)fabs((double)p);
    data[DATA_SIGN] = gas ? 0 : p < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        data[DATA_CENTRE + i] = 0;
    data[DATA_INSIDE] = (sinew_real)((double)given[PRESSURE_AMBIENT] + (double)p);
    data[DATA_OUTSIDE] = given[PRESSURE_AMBIENT];
    data[DATA_EXPONENT] = given[PRESSURE_EXPONENT];
    data[DATA_REST_VOLUME] = 0;
    return NULL;
}

/* ---- Volume and pressure of the whole surface ---------------------------------------------------- */

static sinew_status pressure_check_elements(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                            sinew_error *error)
{
    double volume;
    const sinew_status status =
        closed_check(all, "pressure", ", or use the load traction, which needs no inside", &volume, allocator, error);
    if (status != SINEW_OK || !pressure_is_gas(all->parameters))
        return status;
    const double inside = (double)all->parameters[PRESSURE_AMBIENT] + (double)all->parameters[PRESSURE_GAUGE];
    if (volume == 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: the surface is flat at rest, so that a gas has no volume there; use gas constant, "
                          "or a rest shape that holds some");
    if (inside < 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: ambient + pressure is %g Pa at rest, and no gas has less than 0; raise either, or "
                          "use gas constant",
                          inside);
    return SINEW_OK;
}

static void pressure_update_shared_data(const sinew_global_constraint *all, sinew_real *shared)
{
    const sinew_element element = {.parameters = all->parameters};
    double centre[3], unused[3];
    closed_volume(all, all->q, centre);
    pressure_prepare(&element, shared);
    shared[DATA_REST_VOLUME] = (sinew_real)closed_volume(all, all->rest, unused);
    for (int c = 0; c < 3; c++)
        shared[DATA_CENTRE + c] = (sinew_real)centre[c];
}

/* f = psi, dpsi/dV = -p and d2psi/dV2 = -dp/dV of the gas at volume V. log1p and expm1 keep the digits of psi near
 * V_0. */
static bool pressure_potential(const sinew_real *data, double V, double f[3])
{
    const double outside = (double)data[DATA_OUTSIDE], inside = (double)data[DATA_INSIDE];
    const double k = (double)data[DATA_EXPONENT], rest = (double)data[DATA_REST_VOLUME], growth = (V - rest) / rest;
    if (!(V > 0))
        return false;
    const double L = log1p(growth), ratio = exp(-k * L);
    f[0] = rest * (outside * growth + inside * (k == 1 ? -L : expm1((1 - k) * L) / (k - 1)));
    f[1] = outside - inside * ratio;
    f[2] = k * inside * ratio / V;
    return true;
}

/* ---- Contribution of each triangle to the pressure's energy and derivatives ---------------------- */

/* r = corners of the triangles relative to the centre c of the surface; returns the factor of r0 . (r1 x r2) per unit
 * of weight: -sign(p) / 6, in a gas a sixth of the multiplier. */
KERNEL_INLINE wide pressure_from_centre(const sinew_kernel *kernel, const wide *x, const sinew_real *data, wide r[9])
{
    const wide sign = wide_load(data + DATA_SIGN * SIMD_WIDTH);
    for (int i = 0; i < 9; i++)
        r[i] = x[i] - wide_load(data + (DATA_CENTRE + i % 3) * SIMD_WIDTH);
    return wide_select(wide_eq(sign, wide_set(0)), wide_set(kernel->multiplier), -sign) * (sinew_real)(1.0 / 6);
}

static double pressure_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide x[9], r[9];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, POINTS), POINTS, x);
        const wide s = pressure_from_centre(kernel, x, data, r);
        value_add(&sum, wide_load(data), corner_volume(s, r, NULL));
    }
    return value_total(&sum);
}

static double pressure_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, POINTS);
        const wide weight = wide_load(data);
        wide x[9], r[9], g[9];
        dense_gather(kernel->x, vertex, POINTS, x);
        const wide s = pressure_from_centre(kernel, x, data, r);
        value_add(&sum, weight, corner_volume(s, r, g));
        for (int i = 0; i < 9; i++)
            g[i] = dense_weight_of(weight, g[i]);
        dense_scatter(kernel->g, vertex, POINTS, g);
    }
    return value_total(&sum);
}

static void pressure_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide x[9], r[9], H[DENSE_COUNT(POINTS)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, POINTS), POINTS, x);
        const wide s = pressure_from_centre(kernel, x, data, r);
        corner_volume_second(s, r, H);
        if (kernel->project)
            sinew_eigen_clamp(H, 9);
        for (int i = 0; i < DENSE_COUNT(POINTS); i++)
            H[i] = dense_weight_of(wide_load(data), H[i]);
        store_wide_array(group_tangent(kernel, group, DENSE_COUNT(POINTS)), DENSE_COUNT(POINTS), H);
    }
}

static void pressure_product(const sinew_kernel *kernel)
{
    element_dense_product(kernel, POINTS);
}

static void pressure_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, POINTS);
}

/* ---- Pressure in reduced coordinates, for qn ----------------------------------------------------- */

/* The reduced coordinates of a triangle are both edges from its first corner. Their stiffness is zero: in qn only the
 * L-BFGS pairs include the stiffness of the load. */
static void pressure_reduce(const sinew_reduced_kernel *kernel)
{
    static const int rows[6] = {-1, 1, 0, -1, 0, 1};
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int i = 0; i < 6; i++)
            wide_store(kernel->D + (6 * (size_t)group + (size_t)i) * SIMD_WIDTH, wide_set((sinew_real)rows[i]));
}

static void pressure_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_set(0));
}

/* ---- Vertex kernel: gradient of one vertex ------------------------------------------------------- */

static void pressure_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                               int32_t *others)
{
    memcpy(out, data, DATA_VERTEX_COUNT * sizeof *out);
    others[0] = particles[(node + 1) % 3];
    others[1] = particles[(node + 2) % 3];
}

/* Gradient dpsi/dx of one corner of a triangle per unit of weight; it does not depend on the position of this
 * corner. */
KERNEL_INLINE void corner_force(const incidence *v, wide g[3])
{
    wide r[2][3];
    for (int a = 0; a < 2; a++) {
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, r[a]);
        for (int i = 0; i < 3; i++)
            r[a][i] -= wide_load(v->data + (DATA_CENTRE + i) * SIMD_WIDTH);
    }
    corner_cross(wide_load(v->data + DATA_SIGN * SIMD_WIDTH) * (sinew_real)(-1.0 / 6), r[0], r[1], g);
}

KERNEL_INLINE void pressure_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    wide g[3];
    corner_force(v, g);
    for (int i = 0; i < 3; i++)
        sum->g[i] += wide_load(v->data) * g[i];
}

KERNEL_INLINE wide pressure_difference(const incidence *v, const wide step[3], wide *noise)
{
    wide g[3];
    corner_force(v, g);
    const wide change = dot3(g, step);
    *noise = 8 * WIDE_EPSILON * wide_abs(change);
    return change;
}

static void pressure_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 2, DATA_VERTEX_COUNT, pressure_add);
}

static void pressure_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 2, DATA_VERTEX_COUNT, pressure_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_pressure) = {
    .info = {.name = "pressure",
             .summary = "-p V of a closed surface, p constant or of a gas",
             .stencil = SINEW_STENCIL_TRIANGLE,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_VERTEX | SINEW_CAN_REDUCE},
    .data_count = DATA_COUNT,
    .tangent_count = DENSE_COUNT(POINTS),
    .target_slot = -1,
    .load = true,
    .prepare = pressure_prepare,
    .value = pressure_value,
    .gradient = pressure_gradient,
    .linearise = pressure_linearise,
    .product = pressure_product,
    .hessian = pressure_hessian,
    .check_elements = pressure_check_elements,
    .couples = pressure_is_gas,
    .coupled_with = "gas ideal",
    .potential = pressure_potential,
    .shared_count = DATA_COUNT,
    .update_shared_data = pressure_update_shared_data,
    .reduced_count = 2,
    .reduce = pressure_reduce,
    .stiffness = pressure_stiffness,
    .other_count = 2,
    .incidence_data_count = DATA_VERTEX_COUNT,
    .incidence = pressure_incidence,
    .vertex = pressure_vertex,
    .vertex_change = pressure_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
