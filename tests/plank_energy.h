/* SPDX-License-Identifier: MIT
 *
 * plank_energy.h: a linear constraint outside the library, so that constraints can be any combination of others:
 *
 *     plank    C = sum_a c_a . x_a - b on four vertices, the twelve c and b parameters; psi = k/2 C^2
 *     skewed   two constraints of the form of plank with compliance matrix [1 s; t 1] / k, where s and t replace the
 *              last two c; valid only for s = t and |s| <= 1
 *
 * Kernels loop over SIMD lanes, as in foreign_simd.h.
 */
#ifndef SINEW_PLANK_ENERGY_H
#define SINEW_PLANK_ENERGY_H

#include "foreign_simd.h"

enum {
    PLANK_STIFFNESS = 0,
    PLANK_SLOPES = 1,
    PLANK_OFFSET = 13,
    PLANK_COUNT = 14, /* number of parameters and of data */
    SKEW_S = 11,
    SKEW_T = 12
};

#define PLANK_NUMBER(text)                                                                                             \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -1e9, .maximum = 1e9, .preset = 0, .meaning = "a coefficient"             \
    }

static const sinew_parameter plank_parameters[PLANK_COUNT] = {
    {.name = "stiffness", .unit = "N/m", .minimum = -INFINITY, .maximum = INFINITY, .preset = 1, .meaning = "k"},
    PLANK_NUMBER("c0"),
    PLANK_NUMBER("c1"),
    PLANK_NUMBER("c2"),
    PLANK_NUMBER("c3"),
    PLANK_NUMBER("c4"),
    PLANK_NUMBER("c5"),
    PLANK_NUMBER("c6"),
    PLANK_NUMBER("c7"),
    PLANK_NUMBER("c8"),
    PLANK_NUMBER("c9"),
    PLANK_NUMBER("c10"),
    PLANK_NUMBER("c11"),
    PLANK_NUMBER("b")};

static const char *plank_prepare(const sinew_element *element, sinew_real *data)
{
    for (int i = 0; i < PLANK_COUNT; i++)
        data[i] = element->parameters[i];
    return NULL;
}

static double plank_number(const sinew_groups *groups, int W, int32_t group, int i, int lane)
{
    return (double)groups->data[foreign_at(W, group, PLANK_COUNT, i, lane)];
}

/* C at x, and its gradient c. */
static double plank_C(const sinew_groups *groups, const sinew_real *x, int W, int32_t group, int lane, double c[4][3])
{
    double points[4][3], C = -plank_number(groups, W, group, PLANK_OFFSET, lane);
    foreign_points(groups, x, W, 4, group, lane, points);
    for (int i = 0; i < 12; i++) {
        c[i / 3][i % 3] = plank_number(groups, W, group, PLANK_SLOPES + i, lane);
        C += c[i / 3][i % 3] * points[i / 3][i % 3];
    }
    return C;
}

static double plank_sum(const sinew_kernel *kernel, int W, bool gradient)
{
    double sum = 0;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double c[4][3];
            const double k = plank_number(&kernel->groups, W, group, 0, lane);
            const double C = plank_C(&kernel->groups, kernel->x, W, group, lane, c);
            sum += 0.5 * k * C * C;
            for (int i = 0; i < 12; i++)
                c[i / 3][i % 3] *= k * C;
            if (gradient)
                foreign_add(&kernel->groups, kernel->g, W, 4, group, lane, c);
        }
    return sum;
}

static double plank_value_any(const sinew_kernel *kernel, int W)
{
    return plank_sum(kernel, W, false);
}

static double plank_gradient_any(const sinew_kernel *kernel, int W)
{
    return plank_sum(kernel, W, true);
}

/* The tangent stores k and the gradient. */
static void plank_linearise_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++)
            for (int i = 0; i < PLANK_OFFSET; i++)
                kernel->tangent[foreign_at(W, group, PLANK_OFFSET, i, lane)] =
                    (sinew_real)plank_number(&kernel->groups, W, group, i, lane);
}

static double plank_tangent(const sinew_kernel *kernel, int W, int32_t group, int lane, double c[4][3])
{
    for (int i = 0; i < 12; i++)
        c[i / 3][i % 3] = (double)kernel->tangent[foreign_at(W, group, PLANK_OFFSET, PLANK_SLOPES + i, lane)];
    return (double)kernel->tangent[foreign_at(W, group, PLANK_OFFSET, 0, lane)];
}

static void plank_product_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double c[4][3], p[4][3], along = 0;
            const double k = plank_tangent(kernel, W, group, lane, c);
            foreign_points(&kernel->groups, kernel->p, W, 4, group, lane, p);
            for (int i = 0; i < 12; i++)
                along += c[i / 3][i % 3] * p[i / 3][i % 3];
            for (int i = 0; i < 12; i++)
                c[i / 3][i % 3] *= k * along;
            foreign_add(&kernel->groups, kernel->g, W, 4, group, lane, c);
        }
}

static void plank_hessian_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double c[4][3];
            const double k = plank_tangent(kernel, W, group, lane, c);
            for (int a = 0, block = 0; a < 4; a++)
                for (int b = 0; b <= a; b++, block++) {
                    const double u[3] = {k * c[a][0], k * c[a][1], k * c[a][2]};
                    foreign_block(kernel->blocks, W, 10, group, lane, block, 0, u, c[b]);
                }
        }
}

/* `m` equal constraints; the compliance is [1 s; t 1] / k for two of them. */
static void plank_rows(const sinew_jacobian_kernel *kernel, int W, int m)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double c[4][3];
            const double k = plank_number(&kernel->groups, W, group, 0, lane);
            const double C = plank_C(&kernel->groups, kernel->x, W, group, lane, c);
            for (int i = 0; i < m; i++) {
                kernel->C[foreign_at(W, group, m, i, lane)] = (sinew_real)(k != 0 ? C : 0);
                for (int j = 0; j < 12; j++)
                    kernel->jacobian[foreign_at(W, group, 12 * m, 12 * i + j, lane)] =
                        (sinew_real)(k != 0 ? c[j / 3][j % 3] : 0);
                for (int j = 0; j < m; j++) {
                    const double entry =
                        i == j ? 1 : plank_number(&kernel->groups, W, group, i < j ? SKEW_S : SKEW_T, lane);
                    kernel->compliance[foreign_at(W, group, m * m, i * m + j, lane)] =
                        (sinew_real)(k == 0         ? i == j
                                     : kernel->hard ? 0
                                                    : entry / k);
                }
            }
        }
}

static void plank_jacobian_any(const sinew_jacobian_kernel *kernel, int W)
{
    plank_rows(kernel, W, 1);
}

static void skewed_jacobian_any(const sinew_jacobian_kernel *kernel, int W)
{
    plank_rows(kernel, W, 2);
}

FOREIGN_SUM(plank_value)
FOREIGN_SUM(plank_gradient)
FOREIGN_WORK(plank_linearise, sinew_kernel)
FOREIGN_WORK(plank_product, sinew_kernel)
FOREIGN_WORK(plank_hessian, sinew_kernel)
FOREIGN_WORK(plank_jacobian, sinew_jacobian_kernel)
FOREIGN_WORK(skewed_jacobian, sinew_jacobian_kernel)

#define PLANK_OPS(text, rows, count, width)                                                                            \
    {                                                                                                                  \
        .info = {.name = text,                                                                                         \
                 .summary = "k/2 (sum c.x - b)^2",                                                                     \
                 .stencil = SINEW_STENCIL_HINGE,                                                                       \
                 .vertex_count = 4,                                                                                    \
                 .parameters = plank_parameters,                                                                       \
                 .parameter_count = PLANK_COUNT,                                                                       \
                 .capabilities = SINEW_CAN_JACOBIAN},                                                                  \
        .data_count = PLANK_COUNT, .tangent_count = PLANK_OFFSET,                                                      \
        .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION, FOREIGN_REQUIRED(plank, width),                  \
        .constraint_count = count, .jacobian = rows##_jacobian##width                                                  \
    }

static const sinew_energy_ops plank_wide[2] = {PLANK_OPS("plank", plank, 1, ), PLANK_OPS("skewed", skewed, 2, )};
static const sinew_energy_ops plank_scalar[2] = {PLANK_OPS("plank", plank, 1, _one),
                                                 PLANK_OPS("skewed", skewed, 2, _one)};

#endif
