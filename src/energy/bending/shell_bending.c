/* SPDX-License-Identifier: MIT
 *
 * shell_bending.c: bending of a triangle whose edges have independent slopes, given by director points
 * (mesh/topology/rod_frames.h).
 *
 *     psi = D A/2 [(1 - nu) |B|^2 + nu (tr B)^2],   B = sum_i (2 d_i / h_i) c_i c_i^T,   d_i = phi_i - phi_i0
 *
 * i runs over the edges of the triangle. c_i is the unit vector perpendicular to edge i in the plane and h_i the height
 * over the edge, both at rest. phi_i is the angle about edge i between the triangle and the plane of the edge and its
 * director. Triangles share the director of their common edge, so slopes are continuous there. For small deflections
 * this is the element of Morley (1968), whose B is the curvature of the quadratic with these slopes at the midpoints of
 * the edges: it converges to the plate with D and nu on every mesh, which hinges do not (Grinspun, Gingold, Reisman,
 * Zorin, Computing discrete shape operators on general meshes, 2006, have the same B).
 *
 * As c and h are constant, psi is the quadratic form 1/2 sum_ij Q_ij d_i d_j of three hinge angles, whose second wing
 * is the director point (hinge_geometry.h). psi depends only on the direction of a director point. A second term,
 *
 *     D/2 sum_i k_i [(|r|^2 - s^2)^2 / (4 s^2) + (r . e - r_0 . e_0)^2 / l^2],   r = p - (x_a + x_b)/2,   e = x_b - x_a
 *
 * keeps each director point p at its rest distance s from the middle of its edge and at its rest place along the edge
 * (of length l at rest). Its stiffness k_i is proportional to the parameter `hold`. A third term,
 *
 *     D/2 sum_i k_i s^2 [b(H / (H_0 / 2)) + b((pi - |d_i|) / (pi / 4))],   b(u) = (1 - u)^3 / u^2 if u < 1, else 0
 *
 * is a barrier at both places where d_i jumps: the height H of the director point over the line of its edge keeps away
 * from zero, and the angle from half a turn relative to rest. b, b' and b'' are zero if H exceeds half of the height
 * H_0 at rest and |d_i| is below 135 degrees. Directors can then reduce the last two terms to zero without a change of
 * the angles, so these terms do not change results.
 *
 * Limits: Q belongs to the rest shape, so stretch does not change the rigidity. Angles change by less than pi from
 * rest.
 */
#include "energy/bending/shell_terms.h"
#include "energy/plate_parameters.h"
#include "energy/vertex_kernel.h"
#include "math/vec3.h"

enum {
    RIGIDITY,
    POISSON,
    REST,
    HOLD,
    WEFT_RATIO,
    WARP_X,
    WARP_Y,
    WARP_Z
};

static const sinew_parameter parameters[] = {
    [RIGIDITY] = PLATE_RIGIDITY(" of thickness h; raising it stiffens"),
    [POISSON] = {.name = "poisson",
                 .unit = "",
                 .minimum = -1,
                 .maximum = 1,
                 .preset = 0.3,
                 .open_minimum = true,
                 .open_maximum = true,
                 .meaning = "nu, how much bending one way wants to bend the other way too"},
    [REST] = {.name = "rest",
              .unit = "",
              .choices = "angle|flat",
              .maximum = 1,
              .meaning = "what it wants to be: as in the rest shape, or flat"},
    [HOLD] = {.name = "hold",
              .unit = "",
              .minimum = 0,
              .maximum = 1e6,
              .preset = 1,
              .open_minimum = true,
              .meaning = "how firmly director points keep their places beside the edges, against their stiffness in "
                         "bending; changes no result"},
    [WEFT_RATIO] = PLATE_WEFT_RATIO,
    [WARP_X] = PLATE_WARP("x", 1),
    [WARP_Y] = PLATE_WARP("y", 0),
    [WARP_Z] = PLATE_WARP("z", 0),
};

/* ---- Rest shape of the triangle and its directors ------------------------------------------------ */

typedef struct shell_rest {
    hinge_rest hinge[3];
    double area, warp[3], weft[3]; /* area of the triangle in m2; unit vectors along warp and weft in its plane */
    /* r . e of each edge at rest, in m2 (r: offset of its director point, e: the edge) */
    double along[3];
    double offset[3]; /* distance of each director point from the midpoint of its edge at rest, in m */
} shell_rest;

static const char *measure_hinges(const sinew_real *rest, shell_rest *r)
{
    for (int i = 0; i < 3; i++) {
        sinew_real x[12];
        for (int a = 0; a < 4; a++)
            memcpy(x + 3 * a, rest + 3 * corners[i][a], 3 * sizeof *x);
        if (hinge_measure(x, &r->hinge[i]))
            return "it has no area at rest, or a director point lies on its edge; collapse or refine it";
        const double off = (r->hinge[i].t[1] - 0.5) * r->hinge[i].length;
        r->along[i] = off * r->hinge[i].length;
        r->offset[i] = hypot(r->hinge[i].height[1], off);
    }
    r->area = 0.5 * r->hinge[0].length * r->hinge[0].height[0];
    return NULL;
}

/* Warp and weft unit vectors in the triangle's plane. If the rigidity is isotropic, the warp is the first edge. */
static const char *measure_warp(const sinew_real *p, shell_rest *r)
{
    const hinge_rest *first = &r->hinge[0];
    double normal[3], warp[3];
    const bool directed = p[WEFT_RATIO] != 1;
    vec3_cross(first->edge, first->m[0], normal);
    for (int i = 0; i < 3; i++)
        warp[i] = directed ? (double)p[WARP_X + i] : first->edge[i];
    const double off = vec3_dot(warp, normal), total = vec3_dot(warp, warp);
    for (int i = 0; i < 3; i++)
        warp[i] -= off * normal[i];
    const double square = vec3_dot(warp, warp);
    if (!(square > 1e-6 * total))
        return "the warp direction is zero or perpendicular to it; give a direction along the cloth";
    for (int i = 0; i < 3; i++)
        r->warp[i] = warp[i] / sqrt(square);
    vec3_cross(normal, r->warp, r->weft);
    return NULL;
}

/* Entry Q_ij of the element's stiffness matrix over the rigidity D: 4 A / (h_i h_j), with the rest area A and
 * heights h, times the moment that unit curvature along c_i exerts on unit curvature along c_j. Mixed terms of a
 * plate with two rigidities are their geometric means. */
static double plate_entry(const shell_rest *r, int i, int j, double nu, double ratio)
{
    const hinge_rest *one = &r->hinge[i], *two = &r->hinge[j];
    const double a = vec3_dot(one->m[0], r->warp), b = vec3_dot(one->m[0], r->weft);
    const double c = vec3_dot(two->m[0], r->warp), d = vec3_dot(two->m[0], r->weft), mean = sqrt(ratio);
    const double moment = a * a * c * c + ratio * b * b * d * d +
                          mean * (nu * (a * a * d * d + b * b * c * c) + 2 * (1 - nu) * a * b * c * d);
    return 4 * r->area / (one->height[0] * two->height[0]) * moment;
}

static const char *shell_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters;
    shell_rest r;
    const char *flaw = measure_hinges(element->rest, &r);
    if (!flaw)
        flaw = measure_warp(p, &r);
    if (flaw)
        return flaw;
    double floor = INFINITY;
    for (int i = 0; i < 3; i++) {
        const hinge_rest *h = &r.hinge[i];
        const double s2 = r.offset[i] * r.offset[i], anchor_k = (double)p[HOLD] * 2 * h->length / h->height[0] / s2;
        for (int j = 0; j <= i; j++)
            data[DATA_Q + pair[i][j]] = (sinew_real)plate_entry(&r, i, j, (double)p[POISSON], (double)p[WEFT_RATIO]);
        data[DATA_ANGLE + i] = (sinew_real)(p[REST] > 0 ? copysign(acos(0), h->angle) : h->angle);
        data[DATA_SQUARE + i] = (sinew_real)s2;
        data[DATA_LENGTH + i] = (sinew_real)(anchor_k / (4 * s2));
        data[DATA_ACROSS + i] = (sinew_real)(anchor_k / (h->length * h->length));
        data[DATA_ALONG + i] = (sinew_real)r.along[i];
        data[DATA_REACH + i] = (sinew_real)(1 / (BARRIER_HEIGHT * h->height[1]));
        data[DATA_BARRIER + i] = (sinew_real)(anchor_k * s2 / 2);
        floor = fmin(floor, fmin(h->length, fmin(h->height[0], r.offset[i])));
    }
    data[0] = p[RIGIDITY];
    data[DATA_FLOOR] = (sinew_real)(HINGE_FLOOR * floor);
    return NULL;
}

/* ---- Energy, gradient and Hessian of the element ------------------------------------------------- */

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    shell_now s;
    wide psi = shell_geometry(x, data, &s);
    for (int i = 0; g && i < 18; i++)
        g[i] = wide_set(0);
    for (int i = 0; i < 3; i++) {
        anchor h;
        const barrier b = height_barrier(&s.hinge[i], data, i);
        psi += anchor_geometry(x, data, i, &h) + b.value + s.angle[i].value;
        const wide moment = s.m[i] + s.angle[i].first;
        for (int a = 0; g && a < 4; a++) {
            wide bend[3], pulled[3];
            hinge_slope(&s.hinge[i], a, bend);
            anchor_slope(&h, a, pulled);
            height_slope(&b, &s.hinge[i], a, pulled);
            for (int c = 0; c < 3; c++)
                g[3 * corners[i][a] + c] += moment * bend[c] + pulled[c];
        }
    }
    return psi;
}

/* slope[i][18] = derivatives of hinge angle i by the 18 coordinates of the element's six points. */
KERNEL_INLINE void shell_slopes(const shell_now *s, wide slope[3][18])
{
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 18; c++)
            slope[i][c] = wide_set(0);
        for (int a = 0; a < 4; a++)
            hinge_slope(&s->hinge[i], a, slope[i] + 3 * corners[i][a]);
    }
}

/* Adds to the Hessian H the second derivatives of the angle of hinge i, times its moment, and of the terms of its
 * director. */
KERNEL_INLINE void shell_curve(const shell_now *s, const anchor *h, const barrier *director, int i, wide *H)
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const int A = corners[i][a], B = corners[i][b];
            if (B > A)
                continue;
            wide K[9];
            for (int c = 0; c < 9; c++)
                K[c] = wide_set(0);
            hinge_curve(&s->hinge[i], 0, a, b, K);
            hinge_curve(&s->hinge[i], 1, a, b, K);
            for (int c = 0; c < 9; c++)
                K[c] *= s->m[i] + s->angle[i].first;
            height_curve(director, &s->hinge[i], a, b, K);
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < (A == B ? c + 1 : 3); d++)
                    H[dense_at(3 * A + c, 3 * B + d)] += K[3 * c + d] + anchor_curve(h, a, b, c, d);
        }
}

/* Hessian of an element, H = sum_ij Q_ij g_i g_j^T + sum_i (Q d)_i K_i: g_i and K_i are the gradient and second
 * derivatives of angle i. Q and Q d include the barriers of the angles; the terms of the directors are added. */
static void element_second(const wide *x, const sinew_real *data, wide *H)
{
    shell_now s;
    wide slope[3][18];
    shell_geometry(x, data, &s);
    shell_slopes(&s, slope);
    for (int row = 0; row < 18; row++) {
        wide moment[3];
        for (int i = 0; i < 3; i++)
            moment[i] = hinge_number(data, DATA_Q + pair[i][0]) * slope[0][row] +
                        hinge_number(data, DATA_Q + pair[i][1]) * slope[1][row] +
                        hinge_number(data, DATA_Q + pair[i][2]) * slope[2][row] + s.angle[i].second * slope[i][row];
        for (int column = 0; column <= row; column++)
            H[dense_at(row, column)] =
                moment[0] * slope[0][column] + moment[1] * slope[1][column] + moment[2] * slope[2][column];
    }
    for (int i = 0; i < 3; i++) {
        anchor h;
        const barrier b = height_barrier(&s.hinge[i], data, i);
        anchor_geometry(x, data, i, &h);
        shell_curve(&s, &h, &b, i, H);
    }
}

#include "energy/dense_energy.h"

/* ---- Vertex kernel: gradient and Hessian block of one vertex or director point ------------------- */

/* Data of one vertex-element incidence: the triangle's corners are rotated, so that the node becomes vertex 0 or
 * director point 0. */
static void shell_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                            int32_t *others)
{
    static const int rows[7] = {DATA_ANGLE, DATA_SQUARE, DATA_LENGTH, DATA_ACROSS,
                                DATA_ALONG, DATA_REACH,  DATA_BARRIER};
    const int turn = node % 3;
    memcpy(out, data, DATA_COUNT * sizeof *out);
    for (int i = 0; i < 3; i++) {
        const int from = (i + turn) % 3;
        for (int row = 0; row < 7; row++)
            out[rows[row] + i] = data[rows[row] + from];
        for (int j = 0; j < 3; j++)
            out[DATA_Q + pair[i][j]] = data[DATA_Q + pair[from][(j + turn) % 3]];
    }
    out[INCIDENCE_DIRECTOR] = node > 2;
    int count = 0;
    for (int i = 0; i < 6; i++) {
        const int corner = i / 3 * 3 + (i + turn) % 3;
        if (corner != node)
            others[count++] = particles[corner];
    }
}

/* Gathers the six points x[18] of each element with the current node in its place; returns the mask of nodes that are
 * director points. */
KERNEL_INLINE wide_mask shell_incidence_points(const incidence *v, wide x[18])
{
    const wide_mask director = wide_lt(wide_set(0), hinge_number(v->data, INCIDENCE_DIRECTOR));
    wide other[5][3];
    for (int a = 0; a < 5; a++)
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, other[a]);
    /* The gathered other points of vertex 0 are points 1 2 3 4 5; the other points of director point 3 are 0 1 2 4
     * 5. */
    for (int c = 0; c < 3; c++) {
        x[c] = wide_select(director, other[0][c], v->x[c]);
        x[3 + c] = wide_select(director, other[1][c], other[0][c]);
        x[6 + c] = wide_select(director, other[2][c], other[1][c]);
        x[9 + c] = wide_select(director, v->x[c], other[2][c]);
        x[12 + c] = other[3][c];
        x[15 + c] = other[4][c];
    }
    return director;
}

/* Gradient and 3x3 Hessian block of point `node` (0: vertex, 3: director point) of the element per unit of weight. The
 * block includes the second derivatives of angles only if `exact`. */
KERNEL_INLINE void corner_add(const shell_now *s, const anchor h[3], const sinew_real *data, int node, bool exact,
                              wide g[3], wide A[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    wide slope[3][3], pulled[3];
    for (int c = 0; c < 6; c++)
        A[c] = wide_set(0);
    for (int c = 0; c < 3; c++)
        g[c] = wide_set(0);
    for (int i = 0; i < 3; i++) {
        int a = 0;
        while (a < 4 && corners[i][a] != node)
            a++;
        for (int c = 0; c < 3; c++)
            slope[i][c] = wide_set(0);
        if (a == 4)
            continue;
        const barrier b = height_barrier(&s->hinge[i], data, i);
        wide K[9];
        for (int c = 0; c < 9; c++)
            K[c] = wide_set(0);
        hinge_slope(&s->hinge[i], a, slope[i]);
        anchor_slope(&h[i], a, pulled);
        height_slope(&b, &s->hinge[i], a, pulled);
        if (exact) {
            hinge_curve(&s->hinge[i], 0, a, a, K);
            hinge_curve(&s->hinge[i], 1, a, a, K);
        }
        const wide moment = s->m[i] + s->angle[i].first;
        for (int c = 0; c < 9; c++)
            K[c] *= moment;
        height_curve(&b, &s->hinge[i], a, a, K);
        for (int c = 0; c < 3; c++)
            g[c] += moment * slope[i][c] + pulled[c];
        for (int c = 0; c < 6; c++)
            A[c] += anchor_curve(&h[i], a, a, row[c], column[c]) + K[3 * row[c] + column[c]] +
                    s->angle[i].second * slope[i][row[c]] * slope[i][column[c]];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int c = 0; c < 6; c++)
                A[c] += hinge_number(data, DATA_Q + pair[i][j]) * slope[i][row[c]] * slope[j][column[c]];
}

KERNEL_INLINE void shell_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide k = wide_load(v->data);
    shell_now s;
    anchor h[3];
    wide x[18], g[2][3], A[2][6];
    const wide_mask director = shell_incidence_points(v, x);
    shell_geometry(x, v->data, &s);
    for (int i = 0; i < 3; i++)
        anchor_geometry(x, v->data, i, &h[i]);
    corner_add(&s, h, v->data, 0, exact, g[0], A[0]);
    corner_add(&s, h, v->data, 3, exact, g[1], A[1]);
    for (int i = 0; i < 3; i++)
        sum->g[i] += dense_weight_of(k, wide_select(director, g[1][i], g[0][i]));
    for (int i = 0; i < 6; i++)
        A[0][i] = wide_select(director, A[1][i], A[0][i]);
    hinge_clamp_block(A[0]);
    for (int i = 0; i < 6; i++)
        sum->A[i] += dense_weight_of(k, A[0][i]);
}

KERNEL_INLINE wide shell_difference(const incidence *v, const wide step[3], wide *noise)
{
    shell_now before, after;
    anchor h, moved;
    wide x[18], y[18], change = wide_set(0), zero = wide_set(0), sum = zero;
    const wide_mask director = shell_incidence_points(v, x);
    for (int i = 0; i < 18; i++)
        y[i] = x[i];
    for (int c = 0; c < 3; c++) {
        y[c] += wide_select(director, zero, step[c]);
        y[9 + c] += wide_select(director, step[c], zero);
    }
    shell_geometry(x, v->data, &before);
    shell_geometry(y, v->data, &after);
    for (int i = 0; i < 3; i++) {
        change += (sinew_real)0.5 * (after.d[i] - before.d[i]) * (after.m[i] + before.m[i]);
        sum += wide_abs(after.m[i]) + wide_abs(before.m[i]);
        anchor_geometry(x, v->data, i, &h);
        anchor_geometry(y, v->data, i, &moved);
        change += (sinew_real)0.5 * (h.k * (moved.longer - h.longer) * (moved.longer + h.longer) +
                                     h.q * (moved.along - h.along) * (moved.along + h.along));
        const wide square = hinge_number(v->data, DATA_SQUARE + i);
        sum += square * h.k * (wide_abs(moved.longer) + wide_abs(h.longer)) +
               h.q * wide_sqrt(square * jacobi_dot(h.e, h.e)) * (wide_abs(moved.along) + wide_abs(h.along));
        const barrier b = height_barrier(&before.hinge[i], v->data, i);
        const barrier c = height_barrier(&after.hinge[i], v->data, i);
        change += c.value - b.value + after.angle[i].value - before.angle[i].value;
        sum += c.value + b.value - c.first * after.hinge[i].h[1] - b.first * before.hinge[i].h[1];
        sum += after.angle[i].value + before.angle[i].value + wide_abs(after.angle[i].first) +
               wide_abs(before.angle[i].first);
    }
    /* The rounding errors of the element's angles and distances are a few epsilons. */
    *noise = 16 * WIDE_EPSILON * sum;
    return change;
}

static void shell_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 5, INCIDENCE_DATA_COUNT, shell_add);
}

static void shell_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 5, INCIDENCE_DATA_COUNT, shell_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_shell_bending) = {
    .info = {.name = "shell_bending",
             .summary = "D A/2 [(1 - nu) |B|^2 + nu (tr B)^2], B the curvature of slopes at the edges",
             .stencil = SINEW_STENCIL_SHELL,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_VERTEX},
    DENSE_OPS,
    .prepare = shell_prepare,
    .other_count = 5,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = shell_incidence,
    .vertex = shell_vertex,
    .vertex_change = shell_vertex_change,
};
