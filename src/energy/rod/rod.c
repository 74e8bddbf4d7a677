/* SPDX-License-Identifier: MIT
 *
 * rod.c: a rod that bends and twists where two of its segments meet.
 *
 *     psi = [EI_1 (kappa_1 - kappa_1')^2 + EI_2 (kappa_2 - kappa_2')^2 + GJ (tau - tau')^2] / (2 L)
 *
 * L is half the length of both segments at rest, a prime marks what is measured in the rest shape or zero (`rest`),
 * with the curvature and twist that are asked for on top. Bergou et al., Discrete elastic rods, 2008; the frames are
 * carried by director points, so that they are unknowns like every other point (rod_geometry.h has strains, derivatives
 * and limits). edge_strain adds EA, director keeps the director points at their distance.
 *
 * Projected, the Hessian is clamped by its eigenvalues. As constraints the three strains are one each, with the
 * compliances L/EI_1, L/EI_2 and L/GJ. In reduced coordinates, for qn, bending is the difference of the segments'
 * directions and twist that of their directors, both by their lengths at rest; it is no distance to a set, so there is
 * no projection and no prox.
 */
#include "energy/constrain.h"
#include "energy/dense_element.h"
#include "energy/rod/rod_geometry.h"
#include "energy/vertex_kernel_points.h"

enum {
    DATA_STIFFNESS = 1, /* EI_1 / L, EI_2 / L, GJ / L */
    DATA_REST = DATA_STIFFNESS + ROD_STRAINS,
    DATA_ROWS = DATA_REST + ROD_REST_COUNT, /* factors of the reduced coordinates: segments, then directors */
    DATA_MOST = DATA_ROWS + 4,              /* the largest stiffness */
    DATA_COUNT = DATA_MOST + 1
};

/* data of a visit: as above up to the rest shape, then which of the points the node is */
enum {
    VISIT_NODE = DATA_ROWS,
    VISIT_DATA_COUNT = VISIT_NODE + 1
};

enum {
    BENDING_1,
    BENDING_2,
    TWISTING,
    REST,
    CURVATURE_1,
    CURVATURE_2,
    TWIST
};

#define RIGIDITY(text, about)                                                                                          \
    {                                                                                                                  \
        .name = text, .unit = "N m2", .minimum = 0, .maximum = INFINITY, .preset = 1e-3, .open_maximum = true,         \
        .meaning = about                                                                                               \
    }
#define NATURAL(text, of, about)                                                                                       \
    {                                                                                                                  \
        .name = text, .unit = of, .minimum = -1e6, .maximum = 1e6, .preset = 0, .meaning = about                       \
    }

static const sinew_parameter parameters[] = {
    [BENDING_1] = RIGIDITY("bending_1", "EI of bending towards the directors; raising it stiffens"),
    [BENDING_2] = RIGIDITY("bending_2", "EI of bending across the directors; raising it stiffens"),
    [TWISTING] = RIGIDITY("twisting", "GJ, torque per twist and length; raising it stiffens"),
    [REST] = {.name = "rest",
              .unit = "",
              .choices = "shape|straight",
              .maximum = 1,
              .meaning = "where the rod rests: bent and twisted as in the rest shape, or straight"},
    [CURVATURE_1] = NATURAL("curvature_1", "1/m", "added to the curvature towards the directors at rest"),
    [CURVATURE_2] = NATURAL("curvature_2", "1/m", "added to the curvature across the directors at rest"),
    [TWIST] = NATURAL("twist", "1/m", "added to the twist at rest, radians per length"),
};

/* ---- Rest shape -------------------------------------------------------------------------------- */

/* A segment at rest: its axes, length and how far the director point is from its line. */
typedef struct rest_frame {
    double axis[3][3], l, rho;
} rest_frame;

static double rest_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static const char *rest_measure(const sinew_real *a, const sinew_real *b, const sinew_real *p, rest_frame *f)
{
    double *t = f->axis[0], *d = f->axis[1];
    for (int i = 0; i < 3; i++) {
        t[i] = (double)b[i] - (double)a[i];
        d[i] = (double)p[i] - 0.5 * ((double)a[i] + (double)b[i]);
    }
    f->l = sqrt(rest_dot(t, t));
    if (!(f->l > 0) || !isfinite(f->l))
        return "one of its segments has no length at rest";
    for (int i = 0; i < 3; i++)
        t[i] /= f->l;
    const double mu = rest_dot(t, d), whole = sqrt(rest_dot(d, d));
    for (int i = 0; i < 3; i++)
        d[i] -= mu * t[i];
    f->rho = sqrt(rest_dot(d, d));
    if (!(f->rho > 1e-6 * fmax(f->l, whole)) || !isfinite(f->rho))
        return "a director point lies on the line of its segment at rest; move it aside";
    for (int i = 0; i < 3; i++)
        d[i] /= f->rho;
    for (int i = 0; i < 3; i++)
        f->axis[2][i] = t[(i + 1) % 3] * d[(i + 2) % 3] - t[(i + 2) % 3] * d[(i + 1) % 3];
    return NULL;
}

/* kappa_1, kappa_2 and tau of the rest shape. */
static const char *rest_strains(const rest_frame *a, const rest_frame *b, double strain[ROD_STRAINS])
{
    const double chi = 1 + rest_dot(a->axis[0], b->axis[0]);
    if (!(chi > 1e-3))
        return "its segments are folded back on each other at rest; open the fold, or set rest to straight";
    for (int k = 1; k < 3; k++)
        strain[k - 1] = (rest_dot(a->axis[k], b->axis[0]) - rest_dot(a->axis[0], b->axis[k])) / chi;
    strain[2] = atan2(rest_dot(a->axis[2], b->axis[1]) - rest_dot(a->axis[1], b->axis[2]),
                      rest_dot(a->axis[1], b->axis[1]) + rest_dot(a->axis[2], b->axis[2]));
    return NULL;
}

/* Reduced coordinates are scaled so that the largest stiffness is that of the element: the numbers are factors of
 * t_b - t_a and of d_b - d_a, by the lengths at rest. */
static void prepare_rows(const double stiffness[ROD_STRAINS], const rest_frame f[2], sinew_real *data)
{
    const double bend = fmax(stiffness[0], stiffness[1]), most = fmax(bend, stiffness[2]);
    const double part[2] = {most > 0 ? sqrt(bend / most) : 1, most > 0 ? sqrt(stiffness[2] / most) : 1};
    for (int j = 0; j < 2; j++) {
        data[DATA_ROWS + j] = (sinew_real)(part[0] / f[j].l);
        data[DATA_ROWS + 2 + j] = (sinew_real)(part[1] / f[j].rho);
    }
    data[DATA_MOST] = (sinew_real)most;
}

static const char *rod_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters, *x = element->rest;
    double strain[ROD_STRAINS] = {0, 0, 0}, stiffness[ROD_STRAINS];
    rest_frame f[2];
    const char *flaw = NULL;
    for (int j = 0; j < 2 && !flaw; j++)
        flaw = rest_measure(x + 3 * rod_vertex[j][0], x + 3 * rod_vertex[j][1], x + 3 * rod_vertex[j][2], &f[j]);
    if (!flaw && !(p[REST] > 0))
        flaw = rest_strains(&f[0], &f[1], strain);
    if (flaw)
        return flaw;
    const double L = 0.5 * (f[0].l + f[1].l);
    if (!(fabs((double)p[TWIST]) * L < 3.1))
        return "its twist at rest is more than half a turn from segment to segment; take shorter segments or less "
               "twist";
    data[0] = 1;
    for (int k = 0; k < ROD_STRAINS; k++) {
        stiffness[k] = (double)p[BENDING_1 + k] / L;
        strain[k] += (double)p[CURVATURE_1 + k] * L;
        data[DATA_STIFFNESS + k] = (sinew_real)stiffness[k];
    }
    for (int j = 0; j < 2; j++) {
        data[DATA_REST + ROD_REST_FLOOR + 2 * j] = (sinew_real)(ROD_FLOOR * f[j].l);
        data[DATA_REST + ROD_REST_FLOOR + 2 * j + 1] = (sinew_real)(ROD_FLOOR * f[j].rho);
        data[DATA_REST + ROD_REST_KAPPA + j] = (sinew_real)strain[j];
    }
    data[DATA_REST + ROD_REST_TAU] = (sinew_real)cos(strain[2]);
    data[DATA_REST + ROD_REST_TAU + 1] = (sinew_real)sin(strain[2]);
    prepare_rows(stiffness, f, data);
    return NULL;
}

/* ---- Value and derivatives ---------------------------------------------------------------------- */

KERNEL_INLINE void rod_at(const lane *x, const sinew_real *data, rod_now *s, lane stiffness[ROD_STRAINS])
{
    rod_look(x, data + DATA_REST * LANES, s);
    load_lanes(data + DATA_STIFFNESS * LANES, ROD_STRAINS, stiffness);
}

KERNEL_INLINE lane rod_first(const lane *x, const sinew_real *data, lane *g)
{
    const lane zero = lane_set(0);
    rod_now s;
    lane k[ROD_STRAINS], torque[3] = {zero, zero, zero}, psi = zero;
    rod_at(x, data, &s, k);
    for (int i = 0; i < ROD_STRAINS; i++) {
        const lane force = k[i] * s.strain[i];
        psi += force * s.strain[i];
        for (int c = 0; c < 3; c++)
            torque[c] += force * s.slope[i][c];
    }
    if (g)
        rod_gradient(&s, torque, g);
    return (sinew_real)0.5 * psi;
}

/* Every pair of slots whose first vertex is not before its second adds to that block. */
static void rod_second(const lane *x, const sinew_real *data, lane *H)
{
    rod_now s;
    rod_curve c;
    lane k[ROD_STRAINS];
    rod_at(x, data, &s, k);
    rod_curve_look(&s, k, &c);
    for (int i = 0; i < DENSE_COUNT(ROD_POINTS); i++)
        H[i] = lane_set(0);
    for (int pair = 0; pair < 4 * ROD_SLOTS * ROD_SLOTS; pair++) {
        const int j = pair / (2 * ROD_SLOTS * ROD_SLOTS), m = pair / (ROD_SLOTS * ROD_SLOTS) % 2;
        const int row = pair / ROD_SLOTS % ROD_SLOTS, column = pair % ROD_SLOTS;
        const int a = rod_vertex[j][row], b = rod_vertex[m][column];
        if (a < b)
            continue;
        lane B[9] = {0};
        rod_block(&s, &c, j, rod_share_of(&s.f[j], row), m, rod_share_of(&s.f[m], column), B);
        for (int i = 0; i < 9; i++)
            if (3 * a + i / 3 >= 3 * b + i % 3)
                H[dense_at(3 * a + i / 3, 3 * b + i % 3)] += B[i];
    }
}

static double rod_value(const sinew_kernel *kernel)
{
    return dense_value(kernel, ROD_POINTS, DATA_COUNT, rod_first);
}

static double rod_energy_gradient(const sinew_kernel *kernel)
{
    return dense_gradient(kernel, ROD_POINTS, DATA_COUNT, rod_first);
}

static void rod_linearise(const sinew_kernel *kernel)
{
    dense_linearise(kernel, ROD_POINTS, DATA_COUNT, rod_second);
}

static void rod_product(const sinew_kernel *kernel)
{
    dense_product(kernel, ROD_POINTS);
}

static void rod_hessian(const sinew_kernel *kernel)
{
    dense_hessian(kernel, ROD_POINTS);
}

/* ---- Reduced coordinates ------------------------------------------------------------------------ */

/* Rows: t_b - t_a and d_b - d_a with lengths at rest, factors included. */
static void rod_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane f[4];
        load_lanes(data + DATA_ROWS * LANES, 4, f);
        const lane half = lane_set((sinew_real)0.5), zero = lane_set(0);
        const lane row[2 * ROD_POINTS] = {f[0],        -f[0] - f[1],         f[1],         zero,  zero,
                                          half * f[2], half * (f[2] - f[3]), -half * f[3], -f[2], f[3]};
        store_lanes(kernel->rows + (size_t)group * (2 * ROD_POINTS * LANES), 2 * ROD_POINTS, row);
    }
}

static void rod_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane_store(kernel->weights + group * LANES, lane_load(data) * lane_load(data + DATA_MOST * LANES));
    }
}

/* ---- Constraints --------------------------------------------------------------------------------- */

/* C = strain number i, alpha = 1 / stiffness */
KERNEL_INLINE lane strain_of(const sinew_real *data, int i, bool whole, constrained *c, lane *weight)
{
    rod_now s;
    lane x[ROD_SIZE], k[ROD_STRAINS];
    for (int a = 0; a < ROD_SIZE; a++)
        x[a] = c->x[4 * (a / 3) + a % 3];
    rod_at(x, data, &s, k);
    const lane C = s.strain[i];
    const lane torque[3] = {whole ? C * s.slope[i][0] : s.slope[i][0], whole ? C * s.slope[i][1] : s.slope[i][1],
                            whole ? C * s.slope[i][2] : s.slope[i][2]};
    rod_gradient(&s, torque, c->gradient);
    *weight = lane_load(data) * k[i];
    return whole ? (sinew_real)0.5 * C * C : C;
}

static void rod_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        several_constrain(kernel, group, DATA_COUNT, ROD_POINTS, ROD_STRAINS, strain_of);
}

static void rod_jacobian(const sinew_jacobian_kernel *kernel)
{
    several_jacobian(kernel, DATA_COUNT, ROD_POINTS, ROD_STRAINS, strain_of);
}

/* ---- One vertex ---------------------------------------------------------------------------------- */

static void rod_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    visit_write(data, VISIT_NODE, particles, ROD_POINTS, node, out, others);
}

/* How the node moves frame j. */
KERNEL_INLINE rod_share visit_share(const rod_now *s, int j, const lane is[ROD_POINTS])
{
    rod_share sum = {lane_set(0), lane_set(0)};
    for (int slot = 0; slot < ROD_SLOTS; slot++) {
        const rod_share share = rod_share_of(&s->f[j], slot);
        sum.e += is[rod_vertex[j][slot]] * share.e;
        sum.q += is[rod_vertex[j][slot]] * share.q;
    }
    return sum;
}

/* The exact block of the node, made definite. A call of its own: it is large. */
static __attribute__((noinline)) void visit_block(const rod_now *s, const lane *stiffness, const rod_share share[2],
                                                  lane weight, lane A[6])
{
    rod_curve c;
    lane B[9] = {0};
    rod_curve_look(s, stiffness, &c);
    for (int j = 0; j < 4; j++)
        rod_block(s, &c, j / 2, share[j / 2], j % 2, share[j % 2], B);
    visit_add_definite(B, weight, A);
}

/* The cheap block is the sum of the slopes' squares (Gauss-Newton). */
KERNEL_INLINE void rod_add(const visit *v, bool exact, visit_sum *sum)
{
    const lane weight = lane_load(v->data), zero = lane_set(0);
    rod_now s;
    lane x[ROD_SIZE], is[ROD_POINTS], k[ROD_STRAINS];
    visit_place(v, ROD_POINTS, VISIT_NODE, NULL, x, is);
    rod_at(x, v->data, &s, k);
    const rod_share share[2] = {visit_share(&s, 0, is), visit_share(&s, 1, is)};
    for (int i = 0; i < ROD_STRAINS; i++) {
        const lane back[3] = {-s.slope[i][0], -s.slope[i][1], -s.slope[i][2]};
        lane g[3] = {zero, zero, zero};
        rod_force(&s.f[0], share[0], s.slope[i], g);
        rod_force(&s.f[1], share[1], back, g);
        for (int c = 0; c < 3; c++)
            sum->g[c] += dense_weigh(weight, k[i] * s.strain[i] * g[c]);
        if (!exact)
            block_add(sum->A, zero, dense_weigh(weight, k[i]), g);
    }
    if (exact)
        visit_block(&s, k, share, weight, sum->A);
}

KERNEL_INLINE lane rod_difference(const visit *v, const lane step[3], lane *noise)
{
    const lane zero = lane_set(0);
    rod_now before, after;
    lane x[ROD_SIZE], is[ROD_POINTS], k[ROD_STRAINS], change = zero;
    visit_place(v, ROD_POINTS, VISIT_NODE, NULL, x, is);
    rod_at(x, v->data, &before, k);
    visit_place(v, ROD_POINTS, VISIT_NODE, step, x, is);
    rod_at(x, v->data, &after, k);
    *noise = zero;
    for (int i = 0; i < ROD_STRAINS; i++) {
        const lane sum = before.strain[i] + after.strain[i];
        change += (sinew_real)0.5 * k[i] * (after.strain[i] - before.strain[i]) * sum;
        /* Strains have an error of some epsilons, more where the rod is folded. */
        *noise += 16 * LANE_EPSILON * k[i] * lane_abs(sum) / lane_min(after.chi, before.chi);
    }
    return change;
}

static void rod_vertex_add(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, ROD_POINTS - 1, VISIT_DATA_COUNT, rod_add);
}

static void rod_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, ROD_POINTS - 1, VISIT_DATA_COUNT, rod_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_rod) = {
    .info = {.name = "rod",
             .summary = "bending and twist where two segments meet, EI_1, EI_2 and GJ",
             .stencil = SINEW_STENCIL_ROD,
             .vertex_count = ROD_POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = DENSE_COUNT(ROD_POINTS),
    .target_slot = -1,
    .prepare = rod_prepare,
    .value = rod_value,
    .gradient = rod_energy_gradient,
    .linearise = rod_linearise,
    .product = rod_product,
    .hessian = rod_hessian,
    .row_count = 2,
    .reduce = rod_reduce,
    .stiffness = rod_stiffness,
    .constraint_count = ROD_STRAINS,
    .constrain = rod_constrain,
    .jacobian = rod_jacobian,
    .other_count = ROD_POINTS - 1,
    .visit_data_count = VISIT_DATA_COUNT,
    .visit = rod_visit,
    .vertex = rod_vertex_add,
    .vertex_change = rod_vertex_change,
};
