/* SPDX-License-Identifier: MIT
 *
 * baraff_witkin.c: stretch along warp and weft, and shear, as conditions.
 *
 *     psi = k_u/2 (|u| - 1)^2 + k_v/2 (|v| - 1)^2 + k_s/2 (u.v)^2 per rest area
 *
 * Baraff and Witkin 1998, section 4.2. u and v are the columns of F: the images of unit vectors along warp and weft.
 * The paper scales the conditions by the area, so that stiffness depends on the size of triangles; here psi is per
 * area. In xpbd and pbd each condition is one constraint.
 *
 * Perpendicular to a shortened column the modulus 1 - 1/|u| is negative, and shear has the moduli +-k_s u.v of
 * rotation: projected derivatives clamp each condition separately. If |u| = 0, the direction is undefined: the gradient
 * is zero, and lengths in second derivatives have the lower bound LENGTH_BOUND.
 */
#include "energy/curvature.h"
#include "energy/triangle/directional.h"

enum {
    DATA_WEFT = TRIANGLE_MATERIAL, /* k_v / k_u: stiffness of the weft over that of the warp */
    DATA_SHEAR,                    /* k_s / k_u: stiffness of shear over that of the warp */
    DATA_COUNT,
    CONSTRAINT_COUNT = 3
};
enum {
    STRETCH_WARP = 0,
    STRETCH_WEFT,
    SHEAR,
    DIRECTION
}; /* indices of the parameters of the energy baraff_witkin */

#define LENGTH_BOUND ((sinew_real)MEMBRANE_BOUND)

static const sinew_parameter parameters[] = {
    {.name = "stretch_warp",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k_u, tension per strain along the warp; raising it stiffens"},
    {.name = "stretch_weft",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_maximum = true,
     .meaning = "k_v, tension per strain across the warp; raising it stiffens"},
    {.name = "shear",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 100,
     .open_maximum = true,
     .meaning = "k_s, tension per shear of the weave; raising it stiffens"},
    DIRECTIONAL_WARP_PARAMETERS,
};

static const char *weave_prepare(const sinew_element *element, sinew_real *data)
{
    const double warp = (double)element->parameters[STRETCH_WARP];
    data[DATA_WEFT] = (sinew_real)((double)element->parameters[STRETCH_WEFT] / warp);
    data[DATA_SHEAR] = (sinew_real)((double)element->parameters[SHEAR] / warp);
    return directional_prepare(element, warp, DIRECTION, data);
}

/* Lengths |u|, |v| of the columns u and v of the deformation gradient F, and their dot product. */
KERNEL_INLINE void column_lengths(const wide F[6], wide l[2], wide *product)
{
    wide C[3];
    metric32(F, C);
    l[0] = wide_sqrt(C[0]);
    l[1] = wide_sqrt(C[1]);
    *product = C[2];
}

KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    const wide half = wide_set((sinew_real)0.5), tiny = wide_set(WIDE_ROOT_TINY);
    const wide weft = wide_load(material), shear = wide_load(material + SIMD_WIDTH);
    wide l[2], c;
    column_lengths(F, l, &c);
    const wide u = l[0] - 1, v = l[1] - 1;
    const wide tension_u = u / wide_max(l[0], tiny), tension_v = weft * v / wide_max(l[1], tiny), turn = shear * c;
    for (int i = 0; i < 3; i++) {
        P[2 * i] = tension_u * F[2 * i] + turn * F[2 * i + 1];
        P[2 * i + 1] = tension_v * F[2 * i + 1] + turn * F[2 * i];
    }
    return half * (u * u + weft * v * v + shear * c * c);
}

/* Second derivatives by F. The projection treats the three conditions separately: [0 c; c 0] becomes |c|/2 [1 +-1; +-1
 * 1]. */
KERNEL_INLINE void curvature(const wide F[6], const sinew_real *material, bool project, directional_moduli *m)
{
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0);
    const wide moduli[2] = {wide_set(1), wide_load(material)};
    wide l[2], c;
    column_lengths(F, l, &c);
    m->shear = wide_load(material + SIMD_WIDTH);
    c *= m->shear;
    for (int i = 0; i < 2; i++) {
        const wide safe = wide_max(l[i], wide_set(LENGTH_BOUND));
        wide across = 1 - 1 / safe;
        if (project)
            across = wide_max(across, zero);
        m->S[i] = moduli[i] * across + (project ? half * wide_abs(c) : zero);
        m->c[i] = moduli[i] * (1 - across) / (safe * safe);
    }
    m->S[2] = project ? half * c : c;
    m->c[2] = zero;
}

KERNEL_INLINE void add_cheap_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    const sinew_real *material = v->data + TRIANGLE_MATERIAL * SIMD_WIDTH;
    directional_add_cheap(v, F, b, wide_load(material), wide_load(material + SIMD_WIDTH), sum);
}

#include "energy/triangle/directional_material.h"

/* ---- The three conditions as constraints, for PBD, XPBD and KKT systems -------------------------- */

/* Condition i (stretch of warp, of weft, shear) at the points in c: returns C and writes r, the weight 1 / alpha, and r
 * times the gradient to c. */
KERNEL_INLINE wide weave_condition(const sinew_real *data, int i, constrained *c, wide *r, wide *weight)
{
    const wide zero = wide_set(0);
    wide inverse[4], F[6], P[6], l[2], product;
    load_wide_array(data + TRIANGLE_INVERSE * SIMD_WIDTH, 4, inverse);
    triangle_constrained(c, inverse, F);
    column_lengths(F, l, &product);
    for (int k = 0; k < 6; k++)
        P[k] = i == 2 ? F[k ^ 1] : k % 2 == i ? F[k] : zero;
    triangle_constrained_gradient(P, inverse, c);
    *weight = wide_load(data);
    if (i > 0)
        *weight *= wide_load(data + (DATA_WEFT + i - 1) * SIMD_WIDTH);
    *r = i == 2 ? wide_set(1) : wide_max(l[i % 2], wide_set(WIDE_ROOT_TINY));
    return i == 2 ? product : l[i % 2] - 1;
}

static void weave_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        sinew_real *lambda = group_lambda(kernel, group, CONSTRAINT_COUNT);
        constrained c;
        wide r, weight;
        constrain_gather(kernel->xw, vertex, 3, &c);
        if (kernel->form == SINEW_FORM_ENERGY) {
            const wide psi = triangle_constraint(data, true, stress, &c, &r, &weight);
            constrain_apply(kernel, group, vertex, 3, psi, r, weight, false, lambda, &c);
            continue;
        }
        for (int i = 0; i < CONSTRAINT_COUNT; i++) {
            const wide C = weave_condition(data, i, &c, &r, &weight);
            constrain_apply(kernel, group, vertex, 3, C, r, weight, false, lambda + i * SIMD_WIDTH, &c);
            constrain_follow(3, &c);
        }
    }
}

/* Writes values C, gradients and compliances of the three conditions of each triangle at x. */
static void weave_jacobian(const sinew_jacobian_kernel *kernel)
{
    const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        wide r, weight;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 3), 3, &c);
        for (int i = 0; i < CONSTRAINT_COUNT; i++) {
            const wide C = as_energy ? triangle_constraint(data, true, stress, &c, &r, &weight)
                                     : weave_condition(data, i, &c, &r, &weight);
            jacobian_write(kernel, group, i, CONSTRAINT_COUNT, 3, C, r, as_energy && i > 0 ? wide_set(0) : weight,
                           false, &c);
        }
    }
}

/* Terms of the conditions' second derivatives: the 3x3 blocks K by u and by v, the columns of F; the factor of the
 * block [0 1; 1 0] of shear between u and v; and, for SINEW_FORM_ENERGY, the factor of the square of the shear
 * gradient. */
typedef struct weave_second {
    wide K[2][6], mixed, square;
} weave_second;

KERNEL_INLINE void weave_factors(const sinew_jacobian_kernel *kernel, int32_t group, const sinew_real *data,
                                 const wide F[6], weave_second *s)
{
    const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
    const wide zero = wide_set(0), one = wide_set(1), weight = wide_load(data);
    wide l[2], product, lambda[CONSTRAINT_COUNT];
    column_lengths(F, l, &product);
    for (int i = 0; i < CONSTRAINT_COUNT; i++) {
        const wide modulus = i > 0 ? wide_load(data + (DATA_WEFT + i - 1) * SIMD_WIDTH) : one;
        lambda[i] = as_energy ? modulus * curvature_factor(kernel, group, 0, CONSTRAINT_COUNT, weight)
                              : curvature_factor(kernel, group, i, CONSTRAINT_COUNT, weight * modulus);
    }
    for (int i = 0; i < 2; i++) {
        const wide column[3] = {F[i], F[2 + i], F[4 + i]};
        for (int k = 0; k < 6; k++)
            s->K[i][k] = zero;
        curvature_length(lambda[i], as_energy, l[i], one, column, s->K[i]);
    }
    s->mixed = as_energy ? lambda[2] * product : lambda[2];
    s->square = as_energy ? lambda[2] : zero;
}

/* Second derivatives of the conditions, times their multipliers: block (a, b) = c_a c_b K_u + d_a d_b K_v + (c_a d_b +
 * d_a c_b) mixed 1 + square g_a g_b^T, g_a = c_a v + d_a u, with u = sum c_a x_a and v = sum d_a x_a */
static void weave_curvature(const sinew_jacobian_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *blocks = curvature_blocks(kernel, group, 3);
        weave_second s;
        wide B[4], F[6], g[9];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, B, F);
        weave_factors(kernel, group, data, F, &s);
        const wide c[3] = {-(B[0] + B[2]), B[0], B[2]}, d[3] = {-(B[1] + B[3]), B[1], B[3]};
        for (int i = 0; i < 9; i++)
            g[i] = c[i / 3] * F[2 * (i % 3) + 1] + d[i / 3] * F[2 * (i % 3)];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++) {
                    const wide turn = i % 4 == 0 ? (c[a] * d[b] + d[a] * c[b]) * s.mixed : wide_set(0);
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH,
                               c[a] * c[b] * s.K[0][entry[i]] + d[a] * d[b] * s.K[1][entry[i]] + turn +
                                   s.square * g[3 * a + i / 3] * g[3 * b + i % 3]);
                }
    }
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_baraff_witkin) = {
    .info = {.name = "baraff_witkin",
             .summary = "k_u/2 (|u| - 1)^2 + k_v/2 (|v| - 1)^2 + k_s/2 (u.v)^2 per area, u and v warp and weft",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    DIRECTIONAL_OPS,
    .prepare = weave_prepare,
    .constraint_count = CONSTRAINT_COUNT,
    .constrain = weave_constrain,
    .jacobian = weave_jacobian,
    .curvature = weave_curvature,
};
