/* SPDX-License-Identifier: MIT
 *
 * hinge.c: bending by the angle between two triangles that share an edge.
 *
 *     psi = k/2 (theta - theta_0)^2,   k = D |e|^2 / A_e     weight = area: A_e the sum of both areas at rest
 *                                      k = D                 weight = none: PBNG (35)
 *
 * D is the rigidity of a plate in cylindrical bending on a mesh of equilateral triangles; on other meshes it is off by
 * a factor that no refinement removes (docs/reference/energies/hinge.md). hinge_geometry.h has theta and its
 * derivatives. theta lies in [-pi, pi] and jumps where the triangles overlap; psi grows with |theta - theta_0| up to
 * this jump.
 *
 * The Hessian (theta - theta_0) d^2 theta + d theta d theta^T is projected by clamping its eigenvalues. The reduced
 * coordinates, which give qn a constant matrix, use the quadratic energy of isometric.c.
 */
#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/bending/hinge_geometry.h"
#include "energy/plate_parameters.h"
#include "energy/vertex_kernel.h"

enum {
    POINTS = 4
};

enum {
    DATA_ANGLE = 1,
    DATA_FLOOR = 2,
    DATA_COEFFICIENT = 3,
    DATA_COUNT = 7
};

/* Data of a vertex-hinge incidence: weight, rest angle, floor of lengths, 1 if the vertex is a wing. */
enum {
    INCIDENCE_WING = 3,
    INCIDENCE_DATA_COUNT = 4
};

enum {
    RIGIDITY,
    WEIGHT,
    REST,
    WEFT_RATIO,
    WARP_X,
    WARP_Y,
    WARP_Z
};

static const sinew_parameter parameters[] = {
    [RIGIDITY] = PLATE_RIGIDITY("; raising it stiffens. Moment per angle where weight is none"),
    [WEIGHT] = {.name = "weight",
                .unit = "",
                .choices = "area|none",
                .maximum = 1,
                .meaning = "area: |e|^2 over the area, the same plate at every resolution; none: the same stiffness "
                           "at every edge"},
    [REST] = {.name = "rest",
              .unit = "",
              .choices = "angle|flat",
              .maximum = 1,
              .meaning = "what the hinge wants to be: as in the rest shape, or flat"},
    [WEFT_RATIO] = PLATE_WEFT_RATIO,
    [WARP_X] = PLATE_WARP("x", 1),
    [WARP_Y] = PLATE_WARP("y", 0),
    [WARP_Z] = PLATE_WARP("z", 0),
};

static const char *hinge_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters;
    const double warp[3] = {(double)p[WARP_X], (double)p[WARP_Y], (double)p[WARP_Z]};
    hinge_rest r;
    double factor;
    const char *flaw = hinge_measure(element->rest, &r);
    if (!flaw)
        flaw = hinge_rigidity_factor(&r, warp, (double)p[WEFT_RATIO], &factor);
    if (flaw)
        return flaw;
    const bool flat = p[REST] > 0, plain = p[WEIGHT] > 0;
    if (!flat && fabs(r.angle) > 3.13)
        return "its triangles lie on each other at rest, where the angle jumps; set rest to flat or open it a little";
    data[0] = (sinew_real)((double)p[RIGIDITY] * factor * (plain ? 1 : hinge_area_weight(&r)));
    data[DATA_ANGLE] = (sinew_real)(flat ? 0 : r.angle);
    data[DATA_FLOOR] = (sinew_real)(HINGE_FLOOR * fmin(r.length, fmin(r.height[0], r.height[1])));
    for (int a = 0; a < 4; a++)
        data[DATA_COEFFICIENT + a] = (sinew_real)r.coefficient[a];
    return NULL;
}

/* Returns the bending angle theta - theta_0 (rad) of one hinge per SIMD lane at the points x; s receives their
 * geometry. */
KERNEL_INLINE wide hinge_bending_angle(const wide *x, const sinew_real *data, hinge_now *s)
{
    hinge_geometry(x, wide_load(data + DATA_FLOOR * SIMD_WIDTH), s);
    return s->theta - wide_load(data + DATA_ANGLE * SIMD_WIDTH);
}

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    hinge_now s;
    const wide d = hinge_bending_angle(x, data, &s);
    for (int a = 0; g && a < 4; a++) {
        hinge_slope(&s, a, g + 3 * a);
        for (int i = 0; i < 3; i++)
            g[3 * a + i] *= d;
    }
    return (sinew_real)0.5 * d * d;
}

/* Lower triangle of the 12x12 Hessian of one hinge per SIMD lane: H = scale d^2 theta + square d theta d theta^T. */
KERNEL_INLINE void hinge_curves(const hinge_now *now, wide scale, wide square, wide *H)
{
    wide g[12];
    for (int a = 0; a < 4; a++)
        hinge_slope(now, a, g + 3 * a);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++) {
            wide K[9];
            for (int i = 0; i < 9; i++)
                K[i] = wide_set(0);
            for (int wing = 0; wing < 2; wing++)
                hinge_curve(now, wing, a, b, K);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < (a == b ? i + 1 : 3); j++)
                    H[dense_at(3 * a + i, 3 * b + j)] = scale * K[3 * i + j] + square * g[3 * a + i] * g[3 * b + j];
        }
}

/* H = (theta - theta_0) d^2 theta + d theta d theta^T: Hessian of psi per unit of stiffness k */
KERNEL_INLINE void element_second(const wide *x, const sinew_real *data, wide *H)
{
    hinge_now s;
    const wide d = hinge_bending_angle(x, data, &s);
    hinge_curves(&s, d, wide_set(1), H);
}

#include "energy/dense_energy.h"

/* Reduced coordinates z = sum_a coefficient_a x_a of a hinge; |z| = 2 sin(theta / 2) if it bends without stretch. */
static void hinge_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < 4; a++)
            wide_store(kernel->D + (4 * (size_t)group + (size_t)a) * SIMD_WIDTH,
                       wide_load(group_data(&kernel->groups, group, DATA_COUNT) + (DATA_COEFFICIENT + a) * SIMD_WIDTH));
}

static void hinge_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

/* The bending angle as a constraint: C = theta - theta_0, alpha = 1/k */
KERNEL_INLINE wide angle_constraint(const sinew_real *data, bool as_energy, constrained *c, wide *r, wide *weight)
{
    hinge_now s;
    wide x[12];
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++)
            x[3 * a + i] = c->x[4 * a + i];
    const wide d = hinge_bending_angle(x, data, &s);
    for (int a = 0; a < 4; a++) {
        hinge_slope(&s, a, c->gradient + 3 * a);
        for (int i = 0; as_energy && i < 3; i++)
            c->gradient[3 * a + i] *= d;
    }
    *weight = wide_load(data);
    *r = wide_set(1);
    return as_energy ? (sinew_real)0.5 * d * d : d;
}

static void hinge_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 4, angle_constraint);
}

static void hinge_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 4, angle_constraint);
}

static void hinge_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide lambda = curvature_factor(kernel, group, 0, 1, wide_load(data)), zero = wide_set(0);
        const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
        hinge_now s;
        wide x[12], H[DENSE_COUNT(4)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, x);
        const wide d = hinge_bending_angle(x, data, &s);
        hinge_curves(&s, as_energy ? lambda * d : lambda, as_energy ? lambda : zero, H);
        dense_blocks(H, 4, curvature_blocks(kernel, group, 4));
    }
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

/* Data of one vertex-hinge incidence. theta is invariant under a swap of both ends and both wings, so every node can be
 * vertex 0 or vertex 2. */
static void hinge_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                            int32_t *others)
{
    static const int order[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {1, 0, 2}};
    memcpy(out, data, INCIDENCE_WING * sizeof *out);
    out[INCIDENCE_WING] = node > 1;
    for (int i = 0; i < 3; i++)
        others[i] = particles[order[node][i]];
}

/* Gathers the four points of each hinge, with the current node in its place; returns the mask of nodes that are
 * wings. */
KERNEL_INLINE wide_mask hinge_incidence_points(const incidence *v, wide x[12])
{
    const wide_mask wing = wide_lt(wide_set(0), wide_load(v->data + INCIDENCE_WING * SIMD_WIDTH));
    wide other[3][3];
    for (int a = 0; a < 3; a++)
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, other[a]);
    for (int i = 0; i < 3; i++) {
        x[i] = wide_select(wing, other[0][i], v->x[i]);
        x[3 + i] = wide_select(wing, other[1][i], other[0][i]);
        x[6 + i] = wide_select(wing, v->x[i], other[1][i]);
        x[9 + i] = other[2][i];
    }
    return wing;
}

/* 3x3 block A = (theta - theta_0) K + g g^T of the node, negative eigenvalues set to zero. K = d^2 theta, g = d
 * theta. */
KERNEL_INLINE void incidence_curve(const hinge_now *s, wide_mask wing, wide d, const wide g[3], wide A[6])
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5}, row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    wide K[2][9], w[3], Q[9];
    for (int i = 0; i < 18; i++)
        K[i / 9][i % 9] = wide_set(0);
    hinge_curve(s, 0, 0, 0, K[0]);
    hinge_curve(s, 1, 0, 0, K[0]);
    hinge_curve(s, 0, 2, 2, K[1]);
    for (int i = 0; i < 6; i++)
        A[i] = d * wide_select(wing, K[1][entry[i]], K[0][entry[i]]) + g[row[i]] * g[column[i]];
    sinew_eigen3(A, w, Q);
    for (int k = 0; k < 3; k++) {
        const wide added = wide_max(-w[k], wide_set(0));
        for (int i = 0; i < 6; i++)
            A[i] += added * Q[3 * row[i] + k] * Q[3 * column[i] + k];
    }
}

/* Adds the gradient and 3x3 block of one hinge by the node, in each SIMD lane. The approximate block is g g^T with the
 * gradient g of theta, PBNG (37). */
KERNEL_INLINE void hinge_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide k = wide_load(v->data);
    hinge_now s;
    wide x[12], g[3], ends[3];
    const wide_mask wing = hinge_incidence_points(v, x);
    const wide d = hinge_bending_angle(x, v->data, &s);
    hinge_slope(&s, 0, ends);
    hinge_slope(&s, 2, g);
    for (int i = 0; i < 3; i++) {
        g[i] = wide_select(wing, g[i], ends[i]);
        sum->g[i] += dense_weight_of(k, d * g[i]);
    }
    if (!exact) {
        block_add(sum->A, wide_set(0), k, g);
        return;
    }
    wide A[6];
    incidence_curve(&s, wing, d, g, A);
    for (int i = 0; i < 6; i++)
        sum->A[i] += dense_weight_of(k, A[i]);
}

KERNEL_INLINE wide hinge_difference(const incidence *v, const wide step[3], wide *noise)
{
    hinge_now s;
    wide x[12];
    const wide_mask wing = hinge_incidence_points(v, x);
    const wide before = hinge_bending_angle(x, v->data, &s), zero = wide_set(0);
    for (int i = 0; i < 3; i++) {
        x[i] += wide_select(wing, zero, step[i]);
        x[6 + i] += wide_select(wing, step[i], zero);
    }
    const wide after = hinge_bending_angle(x, v->data, &s), sum = before + after;
    /* The rounding error of a hinge angle is epsilon times lengths over heights: a few epsilons. */
    *noise = 16 * WIDE_EPSILON * wide_abs(sum);
    return (sinew_real)0.5 * (after - before) * sum;
}

static void hinge_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, INCIDENCE_DATA_COUNT, hinge_add);
}

static void hinge_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, INCIDENCE_DATA_COUNT, hinge_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_hinge) = {
    .info = {.name = "hinge",
             .summary = "D/2 |e|^2/A (theta - theta_0)^2, theta between two triangles",
             .stencil = SINEW_STENCIL_HINGE,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    DENSE_OPS,
    .prepare = hinge_prepare,
    .reduced_count = 1,
    .reduce = hinge_reduce,
    .stiffness = hinge_stiffness,
    .constraint_count = 1,
    .constrain = hinge_constrain,
    .jacobian = hinge_jacobian,
    .curvature = hinge_curvature,
    .other_count = 3,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = hinge_incidence,
    .vertex = hinge_vertex,
    .vertex_change = hinge_vertex_change,
};
