/* SPDX-License-Identifier: MIT
 *
 * director.c: keeps a director point p at its rest distance from the midpoint of its edge, and at its rest place along
 * the edge.
 *
 *     e = x1 - x0,  l = |e|,  t = e / l,  m = p - (x0 + x1) / 2
 *     psi = B/(2 L s^2) [(|m| - s)^2 + (m . t - c)^2]      L, s, c: l, |m|, m . t at rest (c = 0 if m is normal to e)
 *
 * Rods use only the direction of a director point perpendicular to the edge (rod_geometry.h), and their forces act in
 * the one direction that psi leaves free: around the edge. Both terms can be zero for any edge, so in equilibrium psi
 * is zero and B does not change results. psi keeps a point from crossing its edge: with B as large as the rod's GJ, a
 * crossing costs more energy than the twist that it would release.
 *
 *     C_1 = |m| - s:      grad_m = m / |m|,                   H_mm = (1 - m m^T / |m|^2) / |m|
 *     C_2 = m . t - c:    grad_m = t,  grad_e = w / l,        H_me = (1 - t t^T) / l,
 *                         H_ee = -(t w^T + w t^T + (m . t) (1 - t t^T)) / l^2,   w = m - (m . t) t
 *
 * Lengths l and |m| have the lower bound LENGTH_BOUND times their rest values. The Hessian is projected by clamping its
 * eigenvalues. As t rotates, psi is no distance to a set in fixed coordinates: there is no projection and no prox.
 */
#include "energy/constrain.h"
#include "energy/dense_element.h"
#include "energy/vertex_kernel_points.h"
#include "math/small/jacobi.h"

enum {
    DATA_DISTANCE = 1, /* rest distance s of the director point, in m */
    DATA_ALONG = 2,    /* rest offset c of the director point along the edge, in m */
    DATA_FLOOR = 3,    /* lower bounds of |m| and of the edge length l, in m */
    DATA_COUNT = 5,
    /* data of a vertex-element incidence: the element's data, then the index of the node in the element */
    INCIDENCE_NODE = DATA_COUNT
};

enum {
    POINTS = 3,
    SIZE = 3 * POINTS,
    TERMS = 2
};

#define LENGTH_BOUND 1e-6

static const sinew_parameter parameters[] = {
    {.name = "rigidity",
     .unit = "N m2",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1e-3,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "B, as large as the rod's twisting or bending; no equilibrium depends on it"},
};

static const char *director_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *x = element->rest;
    double length = 0, distance = 0, along = 0;
    for (int i = 0; i < 3; i++) {
        const double e = (double)x[3 + i] - (double)x[i];
        const double m = (double)x[6 + i] - 0.5 * ((double)x[i] + (double)x[3 + i]);
        length += e * e;
        distance += m * m;
        along += e * m;
    }
    length = sqrt(length);
    distance = sqrt(distance);
    if (!isfinite(length + distance))
        return "its rest shape is not finite";
    if (!(length > 0))
        return "its edge has no length at rest";
    along /= length;
    if (!(distance * distance - along * along > 1e-12 * (distance * distance + length * length)))
        return "its director point lies on the line of its edge at rest; move it aside";
    data[0] = (sinew_real)((double)element->parameters[0] / (length * distance * distance));
    data[DATA_DISTANCE] = (sinew_real)distance;
    data[DATA_ALONG] = (sinew_real)along;
    data[DATA_FLOOR] = (sinew_real)(LENGTH_BOUND * distance);
    data[DATA_FLOOR + 1] = (sinew_real)(LENGTH_BOUND * length);
    return NULL;
}

/* Geometry of a director point p: unit vectors along m and e, w / l, lengths |m| and l, m . t, and both constraints
 * C. */
typedef struct director_now {
    wide u[3], t[3], w[3], C[TERMS];
    wide distance, l, along;
} director_now;

KERNEL_INLINE void director_geometry(const wide *x, const sinew_real *data, director_now *s)
{
    const wide half = wide_set((sinew_real)0.5), tiny = wide_set(WIDE_ROOT_TINY);
    wide m[3];
    for (int i = 0; i < 3; i++) {
        s->t[i] = x[3 + i] - x[i];
        m[i] = x[6 + i] - half * (x[i] + x[3 + i]);
    }
    const wide l = wide_sqrt(jacobi_dot(s->t, s->t)), distance = wide_sqrt(jacobi_dot(m, m));
    for (int i = 0; i < 3; i++) {
        s->t[i] /= wide_max(l, tiny);
        s->u[i] = m[i] / wide_max(distance, tiny);
    }
    s->distance = wide_max(distance, wide_load(data + DATA_FLOOR * SIMD_WIDTH));
    s->l = wide_max(l, wide_load(data + (DATA_FLOOR + 1) * SIMD_WIDTH));
    s->along = jacobi_dot(m, s->t);
    for (int i = 0; i < 3; i++)
        s->w[i] = (m[i] - s->along * s->t[i]) / s->l;
    s->C[0] = distance - wide_load(data + DATA_DISTANCE * SIMD_WIDTH);
    s->C[1] = s->along - wide_load(data + DATA_ALONG * SIMD_WIDTH);
}

/* Derivatives of m and e by a vertex: dm = weights.m dx, de = weights.e dx. */
typedef struct director_weights {
    wide m, e;
} director_weights;

KERNEL_INLINE director_weights director_weights_of(int vertex)
{
    return (director_weights){wide_set(vertex == 2 ? 1 : (sinew_real)-0.5), wide_set((sinew_real)(vertex == 0   ? -1
                                                                                                  : vertex == 1 ? 1
                                                                                                                : 0))};
}

/* g = gradient of constraint C_1 (term 0) or C_2 (term 1) by a vertex. */
KERNEL_INLINE void term_slope(const director_now *s, int term, director_weights weights, wide g[3])
{
    for (int i = 0; i < 3; i++)
        g[i] = term == 0 ? weights.m * s->u[i] : weights.m * s->t[i] + weights.e * s->w[i];
}

/* B = 3x3 Hessian block of the vertices with weights a and b per unit of stiffness, row-major. */
KERNEL_INLINE void director_block(const director_now *s, director_weights a, director_weights b, wide B[9])
{
    const wide first = s->C[0] / s->distance, second = s->C[1] / s->l, mm = a.m * b.m * first;
    const wide me = (a.m * b.e + a.e * b.m) * second, ee = a.e * b.e * second;
    wide g[TERMS][2][3];
    for (int k = 0; k < TERMS; k++) {
        term_slope(s, k, a, g[k][0]);
        term_slope(s, k, b, g[k][1]);
    }
    for (int n = 0; n < 9; n++) {
        const int i = n / 3, j = n % 3;
        const wide one = wide_set((sinew_real)(i == j)), across = one - s->t[i] * s->t[j];
        B[n] = g[0][0][i] * g[0][1][j] + g[1][0][i] * g[1][1][j] + mm * (one - s->u[i] * s->u[j]) + me * across -
               ee * (s->t[i] * s->w[j] + s->w[i] * s->t[j] + s->along / s->l * across);
    }
}

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    director_now s;
    director_geometry(x, data, &s);
    for (int a = 0; g && a < POINTS; a++) {
        wide term[TERMS][3];
        for (int k = 0; k < TERMS; k++)
            term_slope(&s, k, director_weights_of(a), term[k]);
        for (int i = 0; i < 3; i++)
            g[3 * a + i] = s.C[0] * term[0][i] + s.C[1] * term[1][i];
    }
    return (sinew_real)0.5 * (s.C[0] * s.C[0] + s.C[1] * s.C[1]);
}

static void element_second(const wide *x, const sinew_real *data, wide *H)
{
    director_now s;
    director_geometry(x, data, &s);
    for (int a = 0; a < POINTS; a++)
        for (int b = 0; b <= a; b++) {
            wide B[9];
            director_block(&s, director_weights_of(a), director_weights_of(b), B);
            for (int i = 0; i < 9; i++)
                if (3 * a + i / 3 >= 3 * b + i % 3)
                    H[dense_at(3 * a + i / 3, 3 * b + i % 3)] = B[i];
        }
}

/* Reduced coordinates z = m, the offset of the director point. At rest and with m normal to the edge, the Hessian of
 * psi by p is data[0] times the identity, except in the direction around the edge. */
static void director_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < POINTS; a++)
            wide_store(kernel->D + (POINTS * (size_t)group + (size_t)a) * SIMD_WIDTH, director_weights_of(a).m);
}

static void director_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

/* Term i (0 or 1) of the director's psi as a constraint C with the compliance alpha = L s^2 / B, in the symbols of the
 * file head. */
KERNEL_INLINE wide strain_of(const sinew_real *data, int i, bool as_energy, constrained *c, wide *weight)
{
    director_now s;
    wide x[SIZE];
    for (int a = 0; a < SIZE; a++)
        x[a] = c->x[4 * (a / 3) + a % 3];
    director_geometry(x, data, &s);
    const wide C = s.C[i];
    for (int a = 0; a < POINTS; a++) {
        term_slope(&s, i, director_weights_of(a), c->gradient + 3 * a);
        for (int n = 0; as_energy && n < 3; n++)
            c->gradient[3 * a + n] *= C;
    }
    *weight = wide_load(data);
    return as_energy ? (sinew_real)0.5 * C * C : C;
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex or director point ------------------- */

KERNEL_INLINE director_weights director_incidence_weights(const wide is[POINTS])
{
    return (director_weights){is[2] - (sinew_real)0.5 * (is[0] + is[1]), is[1] - is[0]};
}

/* Adds gradient and block of one vertex. The approximate block is the weight times the sum of g g^T over the gradients
 * g of both constraints (Gauss-Newton). */
KERNEL_INLINE void strain_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide weight = wide_load(v->data);
    director_now s;
    wide x[SIZE], is[POINTS];
    incidence_points_of(v, POINTS, INCIDENCE_NODE, NULL, x, is);
    director_geometry(x, v->data, &s);
    const director_weights weights = director_incidence_weights(is);
    for (int k = 0; k < TERMS; k++) {
        wide g[3];
        term_slope(&s, k, weights, g);
        for (int i = 0; i < 3; i++)
            sum->g[i] += weight * s.C[k] * g[i];
        if (!exact)
            block_add(sum->A, wide_set(0), weight, g);
    }
    if (!exact)
        return;
    wide B[9];
    director_block(&s, weights, weights, B);
    incidence_add_definite(B, weight, sum->A);
}

KERNEL_INLINE wide strain_change(const incidence *v, const wide step[3], wide *noise)
{
    director_now before, after;
    wide x[SIZE], is[POINTS], change = wide_set(0);
    incidence_points_of(v, POINTS, INCIDENCE_NODE, NULL, x, is);
    director_geometry(x, v->data, &before);
    incidence_points_of(v, POINTS, INCIDENCE_NODE, step, x, is);
    director_geometry(x, v->data, &after);
    *noise = wide_set(0);
    for (int k = 0; k < TERMS; k++) {
        const wide sum = before.C[k] + after.C[k];
        change += (sinew_real)0.5 * (after.C[k] - before.C[k]) * sum;
        *noise += 8 * WIDE_EPSILON * wide_abs(sum) * (after.distance + before.distance + after.l);
    }
    return change;
}

#include "energy/rod/strain_energy.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_director) = {
    .info = {.name = "director",
             .summary = "B/(2 L s^2) [(|m| - s)^2 + (m . t)^2], m from the middle of an edge to its director point",
             .stencil = SINEW_STENCIL_DIRECTOR,
             .vertex_count = POINTS,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    STRAIN_OPS,
    .prepare = director_prepare,
    .reduced_count = 1,
    .reduce = director_reduce,
    .stiffness = director_stiffness,
};
