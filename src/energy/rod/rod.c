/* SPDX-License-Identifier: MIT
 *
 * rod.c: bending and twist of a rod at the vertex between two segments.
 *
 *     psi = [EI_1 (kappa_1 - kappa_1')^2 + EI_2 (kappa_2 - kappa_2')^2 + GJ (tau - tau')^2] / (2 L)
 *
 * L is half the sum of both segments' rest lengths. A prime marks values of the rest shape or zero (`rest`), plus the
 * given curvature and twist. Bergou et al., Discrete elastic rods, 2008. Director points carry the frames, so frames
 * are unknowns like every other point (rod_geometry.h has strains, derivatives and limits). The energy edge_strain adds
 * EA, the energy director keeps the director points at their distance.
 *
 * The Hessian is projected by clamping its eigenvalues. Each of the three strains is one constraint, with the
 * compliances L/EI_1, L/EI_2 and L/GJ. In reduced coordinates, for qn, bending is the difference of the segments'
 * directions and twist the difference of their directors, both divided by rest lengths. psi is no distance to a set:
 * there is no projection and no prox.
 */
#include "energy/constrain.h"
#include "energy/dense_element.h"
#include "energy/rod/rod_geometry.h"
#include "energy/vertex_kernel_points.h"
#include "math/vec3.h"

enum {
    DATA_STIFFNESS = 1, /* bending stiffnesses EI_1 / L and EI_2 / L, twisting stiffness GJ / L, in N m */
    DATA_REST = DATA_STIFFNESS + ROD_STRAINS,
    /* factors of the reduced coordinates: two for the segments, two for the directors */
    DATA_REDUCED = DATA_REST + ROD_REST_COUNT,
    DATA_MAX = DATA_REDUCED + 4, /* the largest of the element's three stiffnesses, in N m */
    DATA_COUNT = DATA_MAX + 1
};

/* data of a vertex-rod incidence: data of the element up to the rest shape, then the index of the node */
enum {
    INCIDENCE_NODE = DATA_REDUCED
};

enum {
    POINTS = ROD_POINTS,
    TERMS = ROD_STRAINS
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

/* ---- Rest shape of the two segments -------------------------------------------------------------- */

/* A rod segment at rest: its three axes, its length l, and the distance rho of the director point from its line. */
typedef struct rest_frame {
    double axis[3][3], l, rho;
} rest_frame;

static const char *measure_rest_segment(const sinew_real *a, const sinew_real *b, const sinew_real *p, rest_frame *f)
{
    double *t = f->axis[0], *d = f->axis[1];
    for (int i = 0; i < 3; i++) {
        t[i] = (double)b[i] - (double)a[i];
        d[i] = (double)p[i] - 0.5 * ((double)a[i] + (double)b[i]);
    }
    f->l = vec3_norm(t);
    if (!(f->l > 0) || !isfinite(f->l))
        return "one of its segments has no length at rest";
    for (int i = 0; i < 3; i++)
        t[i] /= f->l;
    const double mu = vec3_dot(t, d), total = vec3_norm(d);
    for (int i = 0; i < 3; i++)
        d[i] -= mu * t[i];
    f->rho = vec3_norm(d);
    if (!(f->rho > 1e-6 * fmax(f->l, total)) || !isfinite(f->rho))
        return "a director point lies on the line of its segment at rest; move it aside";
    for (int i = 0; i < 3; i++)
        d[i] /= f->rho;
    vec3_cross(t, d, f->axis[2]);
    return NULL;
}

/* Computes the curvatures kappa_1, kappa_2 and the twist tau of a rod's rest shape. Returns NULL, or a reason to refuse
 * it. */
static const char *measure_rest_strains(const rest_frame *a, const rest_frame *b, double strain[ROD_STRAINS])
{
    const double chi = 1 + vec3_dot(a->axis[0], b->axis[0]);
    if (!(chi > 1e-3))
        return "its segments are folded back on each other at rest; open the fold, or set rest to straight";
    for (int k = 1; k < 3; k++)
        strain[k - 1] = (vec3_dot(a->axis[k], b->axis[0]) - vec3_dot(a->axis[0], b->axis[k])) / chi;
    strain[2] = atan2(vec3_dot(a->axis[2], b->axis[1]) - vec3_dot(a->axis[1], b->axis[2]),
                      vec3_dot(a->axis[1], b->axis[1]) + vec3_dot(a->axis[2], b->axis[2]));
    return NULL;
}

/* Factors of the reduced coordinates t_b - t_a and d_b - d_a (edge directions and directors of the segments a and b),
 * including the division by rest lengths, for the largest of the element's stiffnesses as the common stiffness. */
static void rod_prepare_reduced(const double stiffness[ROD_STRAINS], const rest_frame f[2], sinew_real *data)
{
    const double bend = fmax(stiffness[0], stiffness[1]), max = fmax(bend, stiffness[2]);
    const double ratio[2] = {max > 0 ? sqrt(bend / max) : 1, max > 0 ? sqrt(stiffness[2] / max) : 1};
    for (int j = 0; j < 2; j++) {
        data[DATA_REDUCED + j] = (sinew_real)(ratio[0] / f[j].l);
        data[DATA_REDUCED + 2 + j] = (sinew_real)(ratio[1] / f[j].rho);
    }
    data[DATA_MAX] = (sinew_real)max;
}

static const char *rod_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters, *x = element->rest;
    double strain[ROD_STRAINS] = {0, 0, 0}, stiffness[ROD_STRAINS];
    rest_frame f[2];
    const char *flaw = NULL;
    for (int j = 0; j < 2 && !flaw; j++)
        flaw =
            measure_rest_segment(x + 3 * rod_vertex[j][0], x + 3 * rod_vertex[j][1], x + 3 * rod_vertex[j][2], &f[j]);
    if (!flaw && !(p[REST] > 0))
        flaw = measure_rest_strains(&f[0], &f[1], strain);
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
    rod_prepare_reduced(stiffness, f, data);
    return NULL;
}

/* ---- Energy, gradient and Hessian of a rod element ----------------------------------------------- */

KERNEL_INLINE void rod_at(const wide *x, const sinew_real *data, rod_now *s, wide stiffness[ROD_STRAINS])
{
    rod_geometry(x, data + DATA_REST * SIMD_WIDTH, s);
    load_wide_array(data + DATA_STIFFNESS * SIMD_WIDTH, ROD_STRAINS, stiffness);
}

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    const wide zero = wide_set(0);
    rod_now s;
    wide k[ROD_STRAINS], torque[3] = {zero, zero, zero}, psi = zero;
    rod_at(x, data, &s, k);
    for (int i = 0; i < ROD_STRAINS; i++) {
        const wide force = k[i] * s.strain[i];
        psi += force * s.strain[i];
        for (int c = 0; c < 3; c++)
            torque[c] += force * s.slope[i][c];
    }
    if (g)
        rod_gradient(&s, torque, g);
    return (sinew_real)0.5 * psi;
}

/* H = lower triangle of the rod element's Hessian: the sum of the 3x3 blocks of any two points of the segments (ends
 * and director points). */
static void element_second(const wide *x, const sinew_real *data, wide *H)
{
    rod_now s;
    rod_curve c;
    wide k[ROD_STRAINS];
    rod_at(x, data, &s, k);
    rod_curve_geometry(&s, k, &c);
    for (int i = 0; i < DENSE_COUNT(ROD_POINTS); i++)
        H[i] = wide_set(0);
    for (int pair = 0; pair < 4 * ROD_SLOTS * ROD_SLOTS; pair++) {
        const int j = pair / (2 * ROD_SLOTS * ROD_SLOTS), m = pair / (ROD_SLOTS * ROD_SLOTS) % 2;
        const int row = pair / ROD_SLOTS % ROD_SLOTS, column = pair % ROD_SLOTS;
        const int a = rod_vertex[j][row], b = rod_vertex[m][column];
        if (a < b)
            continue;
        wide B[9] = {0};
        rod_block(&s, &c, j, rod_weights_of(&s.f[j], row), m, rod_weights_of(&s.f[m], column), B);
        for (int i = 0; i < 9; i++)
            if (3 * a + i / 3 >= 3 * b + i % 3)
                H[dense_at(3 * a + i / 3, 3 * b + i % 3)] += B[i];
    }
}

/* ---- Rods in reduced coordinates, for qn --------------------------------------------------------- */

/* Writes the reduction matrix D of the coordinates D x: the differences t_b - t_a of edge directions and d_b - d_a
 * of directors of the two segments, formed with rest lengths, times their factors. */
static void rod_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide f[4];
        load_wide_array(data + DATA_REDUCED * SIMD_WIDTH, 4, f);
        const wide half = wide_set((sinew_real)0.5), zero = wide_set(0);
        const wide row[2 * ROD_POINTS] = {f[0],        -f[0] - f[1],         f[1],         zero,  zero,
                                          half * f[2], half * (f[2] - f[3]), -half * f[3], -f[2], f[3]};
        store_wide_array(kernel->D + (size_t)group * (2 * ROD_POINTS * SIMD_WIDTH), 2 * ROD_POINTS, row);
    }
}

static void rod_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(data) * wide_load(data + DATA_MAX * SIMD_WIDTH));
    }
}

/* ---- Strains as constraints, for PBD, XPBD and KKT systems --------------------------------------- */

/* Strain i of a rod (two bending strains, twist) as a constraint with the compliance alpha = 1 / stiffness. */
KERNEL_INLINE wide strain_of(const sinew_real *data, int i, bool as_energy, constrained *c, wide *weight)
{
    rod_now s;
    wide x[ROD_SIZE], k[ROD_STRAINS];
    for (int a = 0; a < ROD_SIZE; a++)
        x[a] = c->x[4 * (a / 3) + a % 3];
    rod_at(x, data, &s, k);
    const wide C = s.strain[i];
    const wide torque[3] = {as_energy ? C * s.slope[i][0] : s.slope[i][0],
                            as_energy ? C * s.slope[i][1] : s.slope[i][1],
                            as_energy ? C * s.slope[i][2] : s.slope[i][2]};
    rod_gradient(&s, torque, c->gradient);
    *weight = wide_load(data) * k[i];
    return as_energy ? (sinew_real)0.5 * C * C : C;
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

/* Derivative of the frame of segment j by the position of the incidence's node. */
KERNEL_INLINE rod_weights rod_incidence_weights(const rod_now *s, int j, const wide is[ROD_POINTS])
{
    rod_weights sum = {wide_set(0), wide_set(0)};
    for (int slot = 0; slot < ROD_SLOTS; slot++) {
        const rod_weights weights = rod_weights_of(&s->f[j], slot);
        sum.e += is[rod_vertex[j][slot]] * weights.e;
        sum.q += is[rod_vertex[j][slot]] * weights.q;
    }
    return sum;
}

/* Adds the exact 3x3 Hessian block of the incidence's node, projected, to A. Not inlined, because it is large. */
static __attribute__((noinline)) void rod_incidence_block(const rod_now *s, const wide *stiffness,
                                                          const rod_weights weights[2], wide weight, wide A[6])
{
    rod_curve c;
    wide B[9] = {0};
    rod_curve_geometry(s, stiffness, &c);
    for (int j = 0; j < 4; j++)
        rod_block(s, &c, j / 2, weights[j / 2], j % 2, weights[j % 2], B);
    incidence_add_definite(B, weight, A);
}

/* Adds gradient and block of one vertex. The approximate block is the sum of k g g^T over the strains' gradients g and
 * stiffnesses k (Gauss-Newton). */
KERNEL_INLINE void strain_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide weight = wide_load(v->data), zero = wide_set(0);
    rod_now s;
    wide x[ROD_SIZE], is[ROD_POINTS], k[ROD_STRAINS];
    incidence_points_of(v, ROD_POINTS, INCIDENCE_NODE, NULL, x, is);
    rod_at(x, v->data, &s, k);
    const rod_weights weights[2] = {rod_incidence_weights(&s, 0, is), rod_incidence_weights(&s, 1, is)};
    for (int i = 0; i < ROD_STRAINS; i++) {
        const wide back[3] = {-s.slope[i][0], -s.slope[i][1], -s.slope[i][2]};
        wide g[3] = {zero, zero, zero};
        rod_force(&s.f[0], weights[0], s.slope[i], g);
        rod_force(&s.f[1], weights[1], back, g);
        for (int c = 0; c < 3; c++)
            sum->g[c] += dense_weight_of(weight, k[i] * s.strain[i] * g[c]);
        if (!exact)
            block_add(sum->A, zero, dense_weight_of(weight, k[i]), g);
    }
    if (exact)
        rod_incidence_block(&s, k, weights, weight, sum->A);
}

KERNEL_INLINE wide strain_change(const incidence *v, const wide step[3], wide *noise)
{
    const wide zero = wide_set(0);
    rod_now before, after;
    wide x[ROD_SIZE], is[ROD_POINTS], k[ROD_STRAINS], change = zero;
    incidence_points_of(v, ROD_POINTS, INCIDENCE_NODE, NULL, x, is);
    rod_at(x, v->data, &before, k);
    incidence_points_of(v, ROD_POINTS, INCIDENCE_NODE, step, x, is);
    rod_at(x, v->data, &after, k);
    *noise = zero;
    for (int i = 0; i < ROD_STRAINS; i++) {
        const wide sum = before.strain[i] + after.strain[i];
        change += (sinew_real)0.5 * k[i] * (after.strain[i] - before.strain[i]) * sum;
        /* The rounding errors of rod strains are a few epsilons, more if the rod is folded. */
        *noise += 16 * WIDE_EPSILON * k[i] * wide_abs(sum) / wide_min(after.chi, before.chi);
    }
    return change;
}

#include "energy/rod/strain_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_rod) = {
    .info = {.name = "rod",
             .summary = "bending and twist where two segments meet, EI_1, EI_2 and GJ",
             .stencil = SINEW_STENCIL_ROD,
             .vertex_count = ROD_POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    STRAIN_OPS,
    .prepare = rod_prepare,
    .reduced_count = 2,
    .reduce = rod_reduce,
    .stiffness = rod_stiffness,
};
