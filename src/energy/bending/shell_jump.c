/* SPDX-License-Identifier: MIT
 *
 * shell_jump.c: penalty on the jump of curvature between two triangles of a shell, which makes shell_bending accurate
 * under point loads.
 *
 *     psi = penalty D/2 l^2 J^2,   J = t . (B_0 - B_1) t,   t . B t = sum_i (2 d_i / h_i) (c_i . t)^2
 *
 * l and t are the length and the direction of the common edge at rest. B_0 and B_1 are the curvatures of both triangles
 * as in shell_bending.c. Edge i with c_i . t = 0 is the common edge, so J is a combination of four hinge angles: those
 * of the other two edges of each triangle. If the rigidity has two directions, D is the rigidity along t.
 *
 * J is zero if the curvature is constant, so patch tests hold. If the deflection w is smooth, J is O(l), so psi is
 * O(l^2) of the bending energy, as is the error of the element of Morley, an equilibrium element, which is too soft.
 * For w = sin(k . x) on equilateral triangles, nu = 0.3, its energy is 1 - 0.206 (k l)^2 times the exact one. With a
 * penalty of 1 the mean of the coefficient over directions of k is 0.006; with 0.5 and 2 it is -0.025 and 0.025. The
 * default was chosen by point loads on a plate and a cylinder (docs/evidence/thin.md); this analysis agrees.
 *
 * Limits: newton and pbng only, and beside shell_bending only: psi has no barrier where angles jump.
 */
#include "energy/bending/hinge_geometry.h"
#include "energy/plate_parameters.h"
#include "energy/vertex_kernel.h"
#include "math/vec3.h"

enum {
    POINTS = 8,
    HINGES = 4
};

enum {
    DATA_FLOOR = 1,
    DATA_ANGLE = 2,  /* theta of each hinge at rest, in rad */
    DATA_FACTOR = 6, /* derivative of l J by each angle, times the root of penalty and of the rigidity along t over D */
    DATA_COUNT = 10,
    INCIDENCE_NODE = DATA_COUNT, /* the node's place in the element: 0, 2, 4 or 5 */
    INCIDENCE_DATA_COUNT
};

enum {
    RIGIDITY,
    PENALTY,
    REST,
    WEFT_RATIO,
    WARP_X,
    WARP_Y,
    WARP_Z
};

static const sinew_parameter parameters[] = {
    [RIGIDITY] = PLATE_RIGIDITY(" of thickness h: that of shell_bending"),
    [PENALTY] = {.name = "penalty",
                 .unit = "",
                 .minimum = 0,
                 .maximum = 1e6,
                 .preset = 1,
                 .meaning = "factor of the energy; 0.5 to 2 change results by little"},
    [REST] = {.name = "rest",
              .unit = "",
              .choices = "angle|flat",
              .maximum = 1,
              .meaning = "as that of shell_bending: curvature relative to the rest shape, or to a flat one"},
    [WEFT_RATIO] = PLATE_WEFT_RATIO,
    [WARP_X] = PLATE_WARP("x", 1),
    [WARP_Y] = PLATE_WARP("y", 0),
    [WARP_Z] = PLATE_WARP("z", 0),
};

/* Points of hinge i: an edge, the triangle's third vertex, the director point. The triangles are 0 1 2 and 1 0 3, so
 * that the angles of both have the same sign if they bend the same way. */
static const int corners[HINGES][4] = {{1, 2, 0, 4}, {2, 0, 1, 5}, {0, 3, 1, 6}, {3, 1, 0, 7}};

/* ---- Rest shape and rigidity of an element ------------------------------------------------------- */

/* *factor = root of the rigidity along the common edge over that along the warp: cos^2 + sqrt(ratio) sin^2 of the angle
 * between edge and warp. Its square is the moment per curvature along t, the direction of the edge, of a plate with two
 * rigidities (shell_bending.c), which does not depend on nu. */
static const char *edge_rigidity(const sinew_real *p, const hinge_rest *pair, double *factor)
{
    const double warp[3] = {(double)p[WARP_X], (double)p[WARP_Y], (double)p[WARP_Z]},
                 mean = sqrt((double)p[WEFT_RATIO]);
    double across = 0;
    *factor = 1;
    if (p[WEFT_RATIO] == 1)
        return NULL;
    const char *flaw = hinge_rigidity_factor(pair, warp, 0, &across);
    *factor = 1 - across + mean * across;
    return flaw;
}

static const char *jump_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters;
    hinge_rest pair;
    double factor = 1;
    const char *flaw = hinge_measure(element->rest, &pair);
    if (!flaw)
        flaw = edge_rigidity(p, &pair, &factor);
    double floor = pair.length;
    for (int i = 0; i < HINGES && !flaw; i++) {
        sinew_real x[12];
        hinge_rest h;
        for (int a = 0; a < 4; a++)
            memcpy(x + 3 * a, element->rest + 3 * corners[i][a], 3 * sizeof *x);
        if (hinge_measure(x, &h))
            return "one of its triangles has no area at rest, or a director point lies on its edge; collapse or refine "
                   "it";
        const double across = vec3_dot(h.m[0], pair.edge), unit = pair.length * sqrt((double)p[PENALTY]) * factor;
        data[DATA_ANGLE + i] = (sinew_real)(p[REST] > 0 ? copysign(acos(0), h.angle) : h.angle);
        data[DATA_FACTOR + i] = (sinew_real)((i < 2 ? 2 : -2) / h.height[0] * across * across * unit);
        floor = fmin(floor, fmin(h.length, fmin(h.height[0], h.height[1])));
    }
    data[0] = p[RIGIDITY];
    data[DATA_FLOOR] = (sinew_real)(HINGE_FLOOR * floor);
    return flaw;
}

/* ---- The jump of curvature and its gradient -------------------------------------------------------- */

typedef struct jump_now {
    hinge_now hinge[HINGES];
    wide J, magnitude; /* l J with the factors of the data, and the sum of its absolute terms */
} jump_now;

KERNEL_INLINE void jump_geometry(const wide *x, const sinew_real *data, jump_now *s)
{
    s->J = s->magnitude = wide_set(0);
    for (int i = 0; i < HINGES; i++) {
        wide points[12];
        for (int a = 0; a < 12; a++)
            points[a] = x[3 * corners[i][a / 3] + a % 3];
        hinge_geometry(points, hinge_number(data, DATA_FLOOR), &s->hinge[i]);
        const wide factor = hinge_number(data, DATA_FACTOR + i);
        const wide d = hinge_wrapped_angle(s->hinge[i].theta - hinge_number(data, DATA_ANGLE + i));
        s->J += factor * d;
        s->magnitude += wide_abs(factor) * (1 + wide_abs(d));
    }
}

/* slope[24] = derivatives of J by the coordinates of the eight points. */
KERNEL_INLINE void jump_slope(const jump_now *s, const sinew_real *data, wide slope[3 * POINTS])
{
    for (int c = 0; c < 3 * POINTS; c++)
        slope[c] = wide_set(0);
    for (int i = 0; i < HINGES; i++)
        for (int a = 0; a < 4; a++) {
            wide bend[3];
            hinge_slope(&s->hinge[i], a, bend);
            for (int c = 0; c < 3; c++)
                slope[3 * corners[i][a] + c] += hinge_number(data, DATA_FACTOR + i) * bend[c];
        }
}

/* ---- Value, gradient and Hessian of an element ----------------------------------------------------- */

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    jump_now s;
    jump_geometry(x, data, &s);
    if (g)
        jump_slope(&s, data, g);
    for (int c = 0; g && c < 3 * POINTS; c++)
        g[c] *= s.J;
    return (sinew_real)0.5 * s.J * s.J;
}

/* Adds to the Hessian H k times the second derivatives of the angle of hinge i. */
KERNEL_INLINE void jump_curve(const hinge_now *s, wide k, int i, wide *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const int A = corners[i][a], B = corners[i][b];
            if (B > A)
                continue;
            wide K[9];
            for (int c = 0; c < 9; c++)
                K[c] = wide_set(0);
            hinge_curve(s, 0, a, b, K);
            hinge_curve(s, 1, a, b, K);
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < (A == B ? c + 1 : 3); d++)
                    H[dense_at(3 * A + c, 3 * B + d)] += k * K[3 * c + d];
        }
}

/* Hessian of an element, H = g g^T + J sum_i factor_i K_i: g is the gradient of the jump J, K_i the second
 * derivatives of angle i. */
static void element_second(const wide *x, const sinew_real *data, wide *H)
{
    jump_now s;
    wide slope[3 * POINTS];
    jump_geometry(x, data, &s);
    jump_slope(&s, data, slope);
    for (int row = 0; row < 3 * POINTS; row++)
        for (int column = 0; column <= row; column++)
            H[dense_at(row, column)] = slope[row] * slope[column];
    for (int i = 0; i < HINGES; i++)
        jump_curve(&s.hinge[i], s.J * hinge_number(data, DATA_FACTOR + i), i, H);
}

#include "energy/dense_energy.h"

/* ---- Derivatives by one vertex ----------------------------------------------------------------------- */

/* The node's place in an element that is turned by half a turn if necessary: 0 an end of the common edge, 2 a wing, 4
 * and 5 director points. */
enum {
    NODE_PLACES = 4
};
static const int places[NODE_PLACES] = {0, 2, 4, 5};
/* Point i of the element turned by half a turn, which swaps the triangles. */
static const int half_turn[POINTS] = {1, 0, 3, 2, 6, 7, 4, 5};

static void jump_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    const bool turn = node == 1 || node == 3 || node > 5;
    memcpy(out, data, DATA_COUNT * sizeof *out);
    for (int i = 0; i < HINGES && turn; i++) {
        out[DATA_ANGLE + i] = data[DATA_ANGLE + (i + 2) % HINGES];
        out[DATA_FACTOR + i] = data[DATA_FACTOR + (i + 2) % HINGES];
    }
    out[INCIDENCE_NODE] = (sinew_real)(turn ? half_turn[node] : node);
    int count = 0;
    for (int i = 0; i < POINTS; i++) {
        const int point = turn ? half_turn[i] : i;
        if (point != node)
            others[count++] = particles[point];
    }
}

/* Mask of SIMD lanes whose node has this place (0, 2, 4 or 5) in the element. */
KERNEL_INLINE wide_mask node_at(const incidence *v, int place)
{
    return wide_eq(hinge_number(v->data, INCIDENCE_NODE), wide_set((sinew_real)place));
}

/* Gathers x[24] with the node at its place among the others. */
KERNEL_INLINE void jump_incidence_points(const incidence *v, wide x[3 * POINTS])
{
    wide other[POINTS - 1][3];
    for (int a = 0; a < POINTS - 1; a++)
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, other[a]);
    for (int c = 0; c < 3 * POINTS; c++)
        x[c] = wide_set(0);
    for (int k = 0; k < NODE_PLACES; k++) {
        const wide_mask here = node_at(v, places[k]);
        for (int p = 0; p < POINTS; p++)
            for (int c = 0; c < 3; c++) {
                const wide from = p == places[k] ? v->x[c] : other[p < places[k] ? p : p - 1][c];
                x[3 * p + c] = wide_select(here, from, x[3 * p + c]);
            }
    }
}

/* Gradient g of J and its second derivatives A, stored as 00 11 22 01 02 12, by point `place` of the element. */
KERNEL_INLINE void jump_place(const jump_now *s, const sinew_real *data, int place, wide g[3], wide A[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int c = 0; c < 6; c++)
        A[c] = wide_set(0);
    for (int c = 0; c < 3; c++)
        g[c] = wide_set(0);
    for (int i = 0; i < HINGES; i++)
        for (int a = 0; a < 4; a++) {
            if (corners[i][a] != place)
                continue;
            const wide factor = hinge_number(data, DATA_FACTOR + i);
            wide bend[3], K[9];
            for (int c = 0; c < 9; c++)
                K[c] = wide_set(0);
            hinge_slope(&s->hinge[i], a, bend);
            hinge_curve(&s->hinge[i], 0, a, a, K);
            hinge_curve(&s->hinge[i], 1, a, a, K);
            for (int c = 0; c < 3; c++)
                g[c] += factor * bend[c];
            for (int c = 0; c < 6; c++)
                A[c] += factor * K[3 * row[c] + column[c]];
        }
}

KERNEL_INLINE void jump_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide k = wide_load(v->data), zero = wide_set(0);
    jump_now s;
    wide x[3 * POINTS], g[3] = {zero, zero, zero}, A[6];
    jump_incidence_points(v, x);
    jump_geometry(x, v->data, &s);
    for (int i = 0; i < 6; i++)
        A[i] = zero;
    for (int place = 0; place < NODE_PLACES; place++) {
        const wide_mask here = node_at(v, places[place]);
        wide slope[3], curve[6];
        jump_place(&s, v->data, places[place], slope, curve);
        for (int i = 0; i < 3; i++)
            g[i] = wide_select(here, slope[i], g[i]);
        for (int i = 0; i < 6 && exact; i++)
            A[i] = wide_select(here, s.J * curve[i], A[i]);
    }
    block_add(A, zero, wide_set(1), g);
    hinge_clamp_block(A);
    for (int i = 0; i < 3; i++)
        sum->g[i] += dense_weight_of(k, s.J * g[i]);
    for (int i = 0; i < 6; i++)
        sum->A[i] += dense_weight_of(k, A[i]);
}

KERNEL_INLINE wide jump_difference(const incidence *v, const wide step[3], wide *noise)
{
    jump_now before, after;
    wide x[3 * POINTS], y[3 * POINTS];
    const wide zero = wide_set(0);
    jump_incidence_points(v, x);
    for (int i = 0; i < 3 * POINTS; i++)
        y[i] = x[i];
    for (int k = 0; k < NODE_PLACES; k++)
        for (int c = 0; c < 3; c++)
            y[3 * places[k] + c] += wide_select(node_at(v, places[k]), step[c], zero);
    jump_geometry(x, v->data, &before);
    jump_geometry(y, v->data, &after);
    /* The errors of angles are a few epsilons. */
    *noise = 16 * WIDE_EPSILON * (before.magnitude + after.magnitude) * (wide_abs(before.J) + wide_abs(after.J));
    return (sinew_real)0.5 * (after.J - before.J) * (after.J + before.J);
}

static void jump_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, POINTS - 1, INCIDENCE_DATA_COUNT, jump_add);
}

static void jump_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, POINTS - 1, INCIDENCE_DATA_COUNT, jump_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_shell_jump) = {
    .info = {.name = "shell_jump",
             .summary = "D/2 l^2 J^2, J the jump of curvature along an edge between two triangles; for shell_bending",
             .stencil = SINEW_STENCIL_SHELL_PAIR,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_VERTEX},
    DENSE_OPS,
    .prepare = jump_prepare,
    .other_count = POINTS - 1,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = jump_incidence,
    .vertex = jump_vertex,
    .vertex_change = jump_vertex_change,
};
