/* SPDX-License-Identifier: MIT
 *
 * pressure.c: pressure in a closed surface.
 *
 *     psi = -p V,   V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6
 *
 * V does not depend on c if the surface is closed; c is the mean of the corners at the start of a step, which keeps the
 * numbers small. The force on each vertex is p times a third of the area vectors around it. The term of a triangle is
 * linear in each corner, so the vertex block is zero and the Hessian has no diagonal blocks. It is indefinite and
 * projected element by element (psd_projection.c), which adds a stiffness of about p |x - c|. Gas: with the rest volume
 * V_0 and the ambient pressure p_a, p = (p_a + p_0) (V_0 / V)^k - p_a, V being the volume at the start of a step.
 *
 * Known limits: the pressure of the gas changes between steps, not within a step (docs/reference/energies/pressure.md
 * has the error); V has the lower bound V_0 / 1000.
 */
#include <math.h>

#include "energy/triangle/closed_surface.h"
#include "energy/triangle/corner_volume.h"
#include "energy/vertex_kernel.h"

enum {
    POINTS = 3
};

enum {
    DATA_WEIGHT, /* |p| */
    DATA_SIGN,   /* sign of p */
    DATA_CENTRE,
    DATA_COUNT = DATA_CENTRE + 3
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
                      .meaning = "constant: the pressure stays; ideal: it falls as the volume grows"},
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

static const char *pressure_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real p = element->parameters[PRESSURE_GAUGE];
    data[DATA_WEIGHT] = (sinew_real)fabs((double)p);
    data[DATA_SIGN] = p < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        data[DATA_CENTRE + i] = 0;
    return NULL;
}

/* ---- The whole surface ------------------------------------------------------------------------ */

static sinew_status pressure_check_elements(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                            sinew_error *error)
{
    double volume;
    const sinew_status status =
        closed_check(all, "pressure", ", or use the load traction, which needs no inside", &volume, allocator, error);
    if (status == SINEW_OK && volume == 0 && all->parameters[PRESSURE_GAS] > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: the surface is flat at rest, so that a gas has no volume there; use gas constant, "
                          "or a rest shape that holds some");
    return status;
}

static void pressure_update_shared_data(const sinew_global_constraint *all, sinew_real *shared)
{
    const sinew_real *given = all->parameters;
    double centre[3], unused[3], p = (double)given[PRESSURE_GAUGE];
    const double volume = closed_volume(all, all->q, centre);
    if (given[PRESSURE_GAS] > 0) {
        const double rest = closed_volume(all, all->rest, unused), outside = (double)given[PRESSURE_AMBIENT];
        p = (outside + p) * pow(rest / fmax(volume, 1e-3 * rest), (double)given[PRESSURE_EXPONENT]) - outside;
    }
    shared[DATA_WEIGHT] = (sinew_real)fabs(p);
    shared[DATA_SIGN] = p < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++)
        shared[DATA_CENTRE + c] = (sinew_real)centre[c];
}

/* ---- Elements --------------------------------------------------------------------------------- */

/* r = corners of the triangles relative to the centre c of the surface; returns -sign(p) / 6. */
KERNEL_INLINE wide pressure_from_centre(const wide *x, const sinew_real *data, wide r[9])
{
    for (int i = 0; i < 9; i++)
        r[i] = x[i] - wide_load(data + (DATA_CENTRE + i % 3) * SIMD_WIDTH);
    return wide_load(data + DATA_SIGN * SIMD_WIDTH) * (sinew_real)(-1.0 / 6);
}

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    wide r[9];
    const wide s = pressure_from_centre(x, data, r);
    return corner_volume(s, r, g);
}

KERNEL_INLINE void element_second(const wide *x, const sinew_real *data, wide *H)
{
    wide r[9];
    const wide s = pressure_from_centre(x, data, r);
    corner_volume_second(s, r, H);
}

#include "energy/dense_energy.h"

/* ---- Reduced coordinates ---------------------------------------------------------------------- */

/* D has both edges from the first corner. Its stiffness is zero: in qn only the L-BFGS pairs include the stiffness
 * of the load. */
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

/* ---- One vertex ------------------------------------------------------------------------------- */

static void pressure_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                               int32_t *others)
{
    memcpy(out, data, DATA_COUNT * sizeof *out);
    others[0] = particles[(node + 1) % 3];
    others[1] = particles[(node + 2) % 3];
}

/* dpsi/dx of one corner per unit of weight; it does not depend on this corner. */
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
    incidence_vertex(kernel, 2, DATA_COUNT, pressure_add);
}

static void pressure_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 2, DATA_COUNT, pressure_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_pressure) = {
    .info = {.name = "pressure",
             .summary = "-p V of a closed surface, p constant or of a gas",
             .stencil = SINEW_STENCIL_TRIANGLE,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_VERTEX | SINEW_CAN_REDUCE},
    DENSE_OPS,
    .load = true,
    .prepare = pressure_prepare,
    .check_elements = pressure_check_elements,
    .shared_count = DATA_COUNT,
    .update_shared_data = pressure_update_shared_data,
    .reduced_count = 2,
    .reduce = pressure_reduce,
    .stiffness = pressure_stiffness,
    .other_count = 2,
    .incidence_data_count = DATA_COUNT,
    .incidence = pressure_incidence,
    .vertex = pressure_vertex,
    .vertex_change = pressure_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
