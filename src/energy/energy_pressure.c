/* SPDX-License-Identifier: MIT
 *
 * energy_pressure.c: pressure in a closed surface.
 *
 *     psi = -p V,   V = sum over triangles of (x0 - c) . ((x1 - c) x (x2 - c)) / 6
 *
 * V does not depend on c where the surface is closed; c is the mean of the corners when a step begins, which keeps the
 * numbers small. The force on each vertex is p times a third of the area vectors around it. A triangle's part of V is
 * linear in each corner, so the vertex block is zero and the Hessian has no diagonal blocks: it is indefinite, and
 * projected element by element (eigen_clamp.c), which costs a stiffness of about p |x - c|. Gas: with V_0 the volume at
 * rest and p_a the pressure outside, p = (p_a + p_0) (V_0 / V)^k - p_a, V as it is when a step begins.
 *
 * Known limits: the gas follows from step to step, not within one (docs/energies/pressure.md has the error); a volume
 * below a thousandth of the one at rest counts as that.
 */
#include <math.h>

#include "base/base.h"
#include "energy/dense_element.h"
#include "energy/visit.h"
#include "mesh/facets.h"

enum {
    DATA_WEIGHT, /* |p| */
    DATA_SIGN,   /* of p */
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

/* Six times the volume under one triangle, from c. */
static double six_volumes(const sinew_real *points, const int32_t *corner, const double c[3])
{
    double x[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            x[a][i] = (double)points[4 * (size_t)corner[a] + (size_t)i] - c[i];
    return x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) + x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
           x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
}

/* The volume inside; centre: the mean of the corners. */
static double volume_of(const sinew_whole *whole, const sinew_real *points, double centre[3])
{
    double sum = 0;
    const size_t corners = 3 * (size_t)whole->count;
    for (int c = 0; c < 3; c++) {
        centre[c] = 0;
        for (size_t i = 0; i < corners; i++)
            centre[c] += (double)points[4 * (size_t)whole->particles[i] + (size_t)c] / (double)corners;
    }
    for (int32_t t = 0; t < whole->count; t++)
        sum += six_volumes(points, whole->particles + 3 * (size_t)t, centre);
    return sum / 6;
}

/* The greatest distance along an axis from the centre. */
static double reach_of(const sinew_whole *whole, const sinew_real *points, const double centre[3])
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)whole->count; i++)
        for (size_t c = 0; c < 3; c++)
            most = fmax(most, fabs((double)points[4 * (size_t)whole->particles[i] + c] - centre[c]));
    return most;
}

typedef struct edge_count {
    const int32_t *triangles;
    int32_t open, turned, crowded; /* edges of one triangle; of two that go the same way along it; of more */
} edge_count;

/* Whether a triangle goes from the lower to the higher vertex of its edge opposite to a corner. */
static bool goes_up(const int32_t *triangles, int64_t use)
{
    const int32_t *t = triangles + use / 3 * 3;
    return t[(use + 1) % 3] < t[(use + 2) % 3];
}

static void count_edge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    edge_count *edges = context;
    edges->open += use_count == 1;
    edges->crowded += use_count > 2;
    edges->turned += use_count == 2 && goes_up(edges->triangles, (int64_t)uses[0].minor) ==
                                           goes_up(edges->triangles, (int64_t)uses[1].minor);
}

static sinew_status check_closed(const sinew_whole *whole, const sinew_allocator *allocator, sinew_error *error)
{
    const sinew_elements elements = {whole->particles, whole->count, 3};
    edge_count edges = {.triangles = whole->particles};
    int32_t highest = 0;
    for (size_t i = 0; i < 3 * (size_t)whole->count; i++)
        highest = whole->particles[i] > highest ? whole->particles[i] : highest;
    const sinew_status status = sinew_visit_facets(allocator, highest + 1, &elements, count_edge, &edges, error);
    if (status != SINEW_OK)
        return status;
    if (edges.open > 0 || edges.crowded > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: the surface is not closed: %d edges have one triangle and %d more than two; close "
                          "it (sinew mesh fix), or use the load traction, which needs no inside",
                          edges.open, edges.crowded);
    if (edges.turned > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: at %d edges the two triangles do not face the same side; turn them (sinew mesh "
                          "fix)",
                          edges.turned);
    return SINEW_OK;
}

static sinew_status pressure_check_whole(const sinew_whole *whole, const sinew_allocator *allocator, sinew_error *error)
{
    double centre[3];
    if (whole->by_element)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: its parameters hold for the whole surface, not by element");
    const sinew_status status = check_closed(whole, allocator, error);
    if (status != SINEW_OK)
        return status;
    const double volume = volume_of(whole, whole->rest, centre), reach = reach_of(whole, whole->rest, centre);
    const bool flat = fabs(volume) <= 64 * (double)LANE_EPSILON * reach * reach * reach;
    if (flat && whole->parameters[PRESSURE_GAS] > 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "pressure: the surface is flat at rest, so that a gas has no volume there; use gas constant, "
                          "or a rest shape that holds some");
    if (!flat && volume < 0)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "pressure: the surface holds %g m3 at rest: its triangles face inwards; turn them (sinew mesh "
            "fix)",
            volume);
    return SINEW_OK;
}

static void pressure_share(const sinew_whole *whole, sinew_real *shared)
{
    const sinew_real *given = whole->parameters;
    double centre[3], unused[3], p = (double)given[PRESSURE_GAUGE];
    const double volume = volume_of(whole, whole->q, centre);
    if (given[PRESSURE_GAS] > 0) {
        const double rest = volume_of(whole, whole->rest, unused), outside = (double)given[PRESSURE_AMBIENT];
        p = (outside + p) * pow(rest / fmax(volume, 1e-3 * rest), (double)given[PRESSURE_EXPONENT]) - outside;
    }
    shared[DATA_WEIGHT] = (sinew_real)fabs(p);
    shared[DATA_SIGN] = p < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++)
        shared[DATA_CENTRE + c] = (sinew_real)centre[c];
}

/* ---- Elements --------------------------------------------------------------------------------- */

/* out = s a x b */
KERNEL_INLINE void cross(lane s, const lane a[3], const lane b[3], lane out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = s * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

/* -sign / 6, and the corners from c on. */
KERNEL_INLINE lane from_centre(const lane *x, const sinew_real *data, lane r[9])
{
    for (int i = 0; i < 9; i++)
        r[i] = x[i] - lane_load(data + (DATA_CENTRE + i % 3) * LANES);
    return lane_load(data + DATA_SIGN * LANES) * (sinew_real)(-1.0 / 6);
}

KERNEL_INLINE lane pressure_first(const lane *x, const sinew_real *data, lane *g)
{
    lane r[9], up[3];
    const lane s = from_centre(x, data, r);
    cross(s, r + 3, r + 6, up);
    const lane psi = dot3(up, r);
    if (g)
        for (int a = 0; a < 3; a++)
            cross(s, r + 3 * ((a + 1) % 3), r + 3 * ((a + 2) % 3), g + 3 * a);
    return psi;
}

/* d2 psi / dx_a dx_b = -s [x_c]x for (a, b, c) in cyclic order: psi = s x_a . (x_b x x_c). */
KERNEL_INLINE void pressure_second(const lane *x, const sinew_real *data, lane *H)
{
    lane r[9];
    const lane s = from_centre(x, data, r);
    for (int i = 0; i < DENSE_COUNT(3); i++)
        H[i] = lane_set(0);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        for (int i = 0; i < 3; i++) {
            /* psi = s x_a . (x_b x x_c): the entry of x_a[i] and x_b[j] is s eps_ijk x_c[k] */
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const int row = 3 * a + i, up = 3 * b + j, down = 3 * b + k;
            H[row > up ? dense_at(row, up) : dense_at(up, row)] = s * r[3 * c + k];
            H[row > down ? dense_at(row, down) : dense_at(down, row)] = -s * r[3 * c + j];
        }
    }
}

static double pressure_value(const sinew_kernel *kernel)
{
    return dense_value(kernel, 3, DATA_COUNT, pressure_first);
}

static double pressure_gradient(const sinew_kernel *kernel)
{
    return dense_gradient(kernel, 3, DATA_COUNT, pressure_first);
}

static void pressure_linearise(const sinew_kernel *kernel)
{
    dense_linearise(kernel, 3, DATA_COUNT, pressure_second);
}

static void pressure_product(const sinew_kernel *kernel)
{
    dense_product(kernel, 3);
}

static void pressure_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, 3);
}

/* ---- Reduced coordinates ---------------------------------------------------------------------- */

/* Both edges from the first corner. The load has no stiffness of its own: qn leaves it to what it learns. */
static void pressure_reduce(const sinew_reduced_kernel *kernel)
{
    static const int rows[6] = {-1, 1, 0, -1, 0, 1};
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int i = 0; i < 6; i++)
            lane_store(kernel->rows + (6 * (size_t)group + (size_t)i) * LANES, lane_set((sinew_real)rows[i]));
}

static void pressure_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_set(0));
}

/* ---- One vertex ------------------------------------------------------------------------------- */

static void pressure_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    memcpy(out, data, DATA_COUNT * sizeof *out);
    others[0] = particles[(node + 1) % 3];
    others[1] = particles[(node + 2) % 3];
}

/* dpsi/dx of one corner, which does not depend on that corner, per unit of weight */
KERNEL_INLINE void corner_force(const visit *v, lane g[3])
{
    lane r[2][3];
    for (int a = 0; a < 2; a++) {
        lane_gather_point(v->q, v->others + a * LANES, r[a]);
        for (int i = 0; i < 3; i++)
            r[a][i] -= lane_load(v->data + (DATA_CENTRE + i) * LANES);
    }
    cross(lane_load(v->data + DATA_SIGN * LANES) * (sinew_real)(-1.0 / 6), r[0], r[1], g);
}

KERNEL_INLINE void pressure_add(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    lane g[3];
    corner_force(v, g);
    for (int i = 0; i < 3; i++)
        sum->g[i] += lane_load(v->data) * g[i];
}

KERNEL_INLINE lane pressure_difference(const visit *v, const lane step[3], lane *noise)
{
    lane g[3];
    corner_force(v, g);
    const lane change = dot3(g, step);
    *noise = 8 * LANE_EPSILON * lane_abs(change);
    return change;
}

static void pressure_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 2, DATA_COUNT, pressure_add);
}

static void pressure_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 2, DATA_COUNT, pressure_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_pressure) = {
    .info = {.name = "pressure",
             .summary = "-p V of a closed surface, p constant or of a gas",
             .stencil = SINEW_STENCIL_TRIANGLE,
             .vertex_count = 3,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_VERTEX | SINEW_CAN_REDUCE},
    .data_count = DATA_COUNT,
    .tangent_count = DENSE_COUNT(3),
    .target_slot = -1,
    .load = true,
    .prepare = pressure_prepare,
    .value = pressure_value,
    .gradient = pressure_gradient,
    .linearise = pressure_linearise,
    .product = pressure_product,
    .hessian = pressure_hessian,
    .check_whole = pressure_check_whole,
    .shared_count = DATA_COUNT,
    .share = pressure_share,
    .row_count = 2,
    .reduce = pressure_reduce,
    .stiffness = pressure_stiffness,
    .other_count = 2,
    .visit_data_count = DATA_COUNT,
    .visit = pressure_visit,
    .vertex = pressure_vertex,
    .vertex_change = pressure_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
