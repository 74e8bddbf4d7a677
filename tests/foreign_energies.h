/* SPDX-License-Identifier: MIT
 *
 * foreign_energies.h: a stencil and energies outside the library, written against internal headers alone and registered
 * by test_foreign_energy.c.
 *
 *     corner   three consecutive vertices along a rope
 *     bend     k/2 |x0 - 2 x1 + x2|^2 on corners, with every operation: quadratic, so that every converging method
 *              converges to the same step
 *     lean     the energy of bend without reduced coordinates
 *     fold     k/2 ((x1 - x0) . (x2 - x1) - c)^2 on corners, c from the rest shape: only the required operations
 *     ground   k/2 min(y, 0)^2 on vertices, an inequality
 *
 * Kernels loop over SIMD lanes: each is written for any width and wrapped twice, for the width of the process and for
 * one.
 */
#ifndef SINEW_FOREIGN_ENERGIES_H
#define SINEW_FOREIGN_ENERGIES_H

#include "foreign_simd.h"

static const sinew_parameter foreign_parameters[] = {{.name = "stiffness",
                                                      .unit = "N/m",
                                                      .minimum = 0,
                                                      .maximum = INFINITY,
                                                      .preset = 100,
                                                      .open_minimum = true,
                                                      .open_maximum = true,
                                                      .meaning = "k"}};

/* ---- Corner -------------------------------------------------------------------------------------- */

static sinew_status find_corners(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                 int32_t *count, sinew_error *error)
{
    const int32_t vertices = sinew_mesh_vertex_count(mesh);
    *count = vertices > n - 1 ? vertices - (n - 1) : 0;
    *cells = sinew_allocate(allocator, (size_t)*count * (size_t)n, sizeof **cells);
    for (int32_t i = 0; *cells && i < *count * n; i++)
        (*cells)[i] = i / n + i % n;
    return *cells ? SINEW_OK : sinew_fail_memory(error, "corners");
}

static const sinew_stencil_info corner_row = {
    .noun = "corner", .plural = "corners", .vertex_count = 3, .find = find_corners};

/* ---- Bend ---------------------------------------------------------------------------------------- */

static const double bend_d[3] = {1, -2, 1}; /* z = sum d_a x_a */

static const char *bend_prepare(const sinew_element *element, sinew_real *data)
{
    if (element->vertex_count != 3)
        return "a corner has three vertices";
    data[0] = element->parameters[0];
    return NULL;
}

/* z of an element; returns k */
static double bend_z(const sinew_groups *groups, const sinew_real *x, int W, int32_t group, int lane, double z[3])
{
    double points[3][3];
    foreign_points(groups, x, W, 3, group, lane, points);
    for (int c = 0; c < 3; c++)
        z[c] = points[0][c] - 2 * points[1][c] + points[2][c];
    return (double)groups->data[foreign_at(W, group, 1, 0, lane)];
}

/* g_a += d_a f */
static void bend_spread(const sinew_groups *groups, sinew_real *g, int W, int32_t group, int lane, const double f[3])
{
    double forces[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            forces[a][c] = bend_d[a] * f[c];
    foreign_add(groups, g, W, 3, group, lane, forces);
}

static double bend_sum(const sinew_kernel *kernel, int W, bool gradient)
{
    double sum = 0, z[3];
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = bend_z(&kernel->groups, kernel->x, W, group, lane, z);
            sum += 0.5 * k * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
            const double f[3] = {k * z[0], k * z[1], k * z[2]};
            if (gradient)
                bend_spread(&kernel->groups, kernel->g, W, group, lane, f);
        }
    return sum;
}

static double bend_value_any(const sinew_kernel *kernel, int W)
{
    return bend_sum(kernel, W, false);
}

static double bend_gradient_any(const sinew_kernel *kernel, int W)
{
    return bend_sum(kernel, W, true);
}

static void bend_linearise_any(const sinew_kernel *kernel, int W)
{
    memcpy(kernel->tangent, kernel->groups.data, (size_t)kernel->groups.count * (size_t)W * sizeof *kernel->tangent);
}

static void bend_product_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double f[3];
            bend_z(&kernel->groups, kernel->p, W, group, lane, f);
            for (int c = 0; c < 3; c++)
                f[c] *= (double)kernel->tangent[foreign_at(W, group, 1, 0, lane)];
            bend_spread(&kernel->groups, kernel->g, W, group, lane, f);
        }
}

static void bend_hessian_any(const sinew_kernel *kernel, int W)
{
    const double none[3] = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++)
            for (int a = 0, block = 0; a < 3; a++)
                for (int b = 0; b <= a; b++, block++) {
                    const double k = (double)kernel->tangent[foreign_at(W, group, 1, 0, lane)];
                    foreign_block(kernel->blocks, W, 6, group, lane, block, k * bend_d[a] * bend_d[b], none, none);
                }
}

static void bend_reduce_any(const sinew_reduced_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < 3; a++)
            for (int lane = 0; lane < W; lane++)
                kernel->D[foreign_at(W, group, 3, a, lane)] = (sinew_real)bend_d[a];
}

static void bend_stiffness_any(const sinew_reduced_kernel *kernel, int W)
{
    memcpy(kernel->weights, kernel->groups.data, (size_t)kernel->groups.count * (size_t)W * sizeof *kernel->weights);
}

/* The nearest z without energy is zero, which adds nothing. */
static void bend_project_any(const sinew_reduced_kernel *kernel, int W)
{
    (void)kernel;
    (void)W;
}

static void bend_prox_any(const sinew_reduced_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double Dx[3], f[3];
            const double k = bend_z(&kernel->groups, kernel->x, W, group, lane, Dx);
            const double w2 = k > 0 ? (double)kernel->weights[foreign_at(W, group, 1, 0, lane)] : 0;
            for (int c = 0; c < 3; c++) {
                sinew_real *u = &kernel->u[foreign_at(W, group, 3, c, lane)];
                const double v = Dx[c] + (double)*u, z = k > 0 ? w2 * v / (k + w2) : 0;
                *u = (sinew_real)(v - z);
                f[c] = w2 * (z - (v - z) - Dx[c]);
            }
            bend_spread(&kernel->groups, kernel->g, W, group, lane, f);
        }
}

/* Three constraints, the components of z. They share no unknown, so that a sequential update equals a joint one. */
static void bend_constrain_wide(const sinew_constrain_kernel *kernel, int W, int32_t group, int lane)
{
    double z[3], w[3], mass = 0;
    const double k = bend_z(&kernel->groups, kernel->xw, W, group, lane, z);
    const double tilde = (double)kernel->compliance / k;
    const double share =
        (double)kernel->stiffness *
        (kernel->averaging_weight ? (double)kernel->averaging_weight[foreign_at(W, group, 1, 0, lane)] : 1);
    const int32_t *vertex = kernel->groups.vertex;
    for (int a = 0; a < 3; a++) {
        w[a] = (double)kernel->xw[vertex[foreign_at(W, group, 3, a, lane)] + 3];
        mass += w[a] * bend_d[a] * bend_d[a];
    }
    for (int c = 0; c < 3 && mass + tilde > 0; c++) {
        sinew_real *lambda = &kernel->lambda[foreign_at(W, group, 3, c, lane)];
        const double change = share * (-z[c] - tilde * (double)*lambda) / (mass + tilde);
        *lambda = (sinew_real)((double)*lambda + change);
        for (int a = 0; a < 3; a++)
            (kernel->dx ? kernel->dx : kernel->xw)[vertex[foreign_at(W, group, 3, a, lane)] + c] +=
                (sinew_real)(w[a] * bend_d[a] * change);
    }
}

static void bend_constrain_any(const sinew_constrain_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++)
            if (kernel->groups.data[foreign_at(W, group, 1, 0, lane)] > 0)
                bend_constrain_wide(kernel, W, group, lane);
}

static void bend_jacobian_any(const sinew_jacobian_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double z[3];
            const double k = bend_z(&kernel->groups, kernel->x, W, group, lane, z);
            for (int c = 0; c < 3; c++)
                kernel->C[foreign_at(W, group, 3, c, lane)] = (sinew_real)(k > 0 ? z[c] : 0);
            for (int i = 0; i < 27; i++) /* index: constraint, vertex, coordinate */
                kernel->jacobian[foreign_at(W, group, 27, i, lane)] =
                    (sinew_real)(k > 0 && i / 9 == i % 3 ? bend_d[i / 3 % 3] : 0);
            for (int i = 0; i < 9; i++)
                kernel->compliance[foreign_at(W, group, 9, i, lane)] = (sinew_real)(i % 4 != 0 ? 0
                                                                                    : k > 0 ? (kernel->hard ? 0 : 1 / k)
                                                                                            : 1);
        }
}

/* Data of an incidence: k, the node's own d, those of the others. */
static void bend_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    out[0] = data[0];
    out[1] = (sinew_real)bend_d[node];
    for (int a = 0, o = 0; a < 3; a++)
        if (a != node) {
            others[o] = particles[a];
            out[2 + o++] = (sinew_real)bend_d[a];
        }
}

/* z for the node of incidence v; returns k, *d receives the node's own d. */
static double bend_look(const sinew_vertex_kernel *kernel, int W, int32_t group, int32_t v, int lane, double z[3],
                        double *d)
{
    *d = (double)kernel->data[foreign_at(W, v, 4, 1, lane)];
    for (int c = 0; c < 3; c++) {
        z[c] = *d * (double)kernel->x[kernel->node[foreign_at(W, group, 1, 0, lane)] + c];
        for (int o = 0; o < 2; o++)
            z[c] += (double)kernel->data[foreign_at(W, v, 4, 2 + o, lane)] *
                    (double)kernel->x[kernel->others[foreign_at(W, v, 2, o, lane)] + c];
    }
    return (double)kernel->data[foreign_at(W, v, 4, 0, lane)];
}

static void bend_vertex_any(const sinew_vertex_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->group_count; group++)
        for (int32_t v = kernel->first_incidence[group]; v < kernel->first_incidence[group + 1]; v++)
            for (int lane = 0; lane < W; lane++) {
                double z[3], d;
                const double k = bend_look(kernel, W, group, v, lane, z, &d);
                for (int c = 0; c < 3; c++) {
                    kernel->sum[foreign_at(W, group, SINEW_VERTEX_SUM, c, lane)] += (sinew_real)(k * d * z[c]);
                    kernel->sum[foreign_at(W, group, SINEW_VERTEX_SUM, 3 + c, lane)] += (sinew_real)(k * d * d);
                }
            }
}

static void bend_change_any(const sinew_vertex_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->group_count; group++)
        for (int32_t v = kernel->first_incidence[group]; v < kernel->first_incidence[group + 1]; v++)
            for (int lane = 0; lane < W; lane++) {
                double z[3], d, change = 0;
                const double k = bend_look(kernel, W, group, v, lane, z, &d);
                for (int c = 0; c < 3; c++) {
                    const double step = d * (double)kernel->step[foreign_at(W, group, 3, c, lane)];
                    change += k * step * (z[c] + 0.5 * step);
                }
                kernel->change[foreign_at(W, group, 2, 0, lane)] += (sinew_real)change;
            }
}

FOREIGN_SUM(bend_value)
FOREIGN_SUM(bend_gradient)
FOREIGN_WORK(bend_linearise, sinew_kernel)
FOREIGN_WORK(bend_product, sinew_kernel)
FOREIGN_WORK(bend_hessian, sinew_kernel)
FOREIGN_WORK(bend_reduce, sinew_reduced_kernel)
FOREIGN_WORK(bend_stiffness, sinew_reduced_kernel)
FOREIGN_WORK(bend_project, sinew_reduced_kernel)
FOREIGN_WORK(bend_prox, sinew_reduced_kernel)
FOREIGN_WORK(bend_constrain, sinew_constrain_kernel)
FOREIGN_WORK(bend_jacobian, sinew_jacobian_kernel)
FOREIGN_WORK(bend_vertex, sinew_vertex_kernel)
FOREIGN_WORK(bend_change, sinew_vertex_kernel)

/* ---- Fold ---------------------------------------------------------------------------------------- */

enum {
    FOLD_DATA = 2,    /* k, c */
    FOLD_TANGENT = 11 /* k, k s, the gradient of s */
};

/* The second derivatives of s = (x1 - x0) . (x2 - x1), as multiples of the unit matrix. */
static const double fold_M[3][3] = {{0, 1, -1}, {1, -2, 1}, {-1, 1, 0}};

/* (x1 - x0) . (x2 - x1) and its gradient */
static double fold_s(double x[3][3], double gradient[3][3])
{
    double s = 0;
    for (int c = 0; c < 3; c++) {
        const double u = x[1][c] - x[0][c], v = x[2][c] - x[1][c];
        s += u * v;
        gradient[0][c] = -v;
        gradient[1][c] = v - u;
        gradient[2][c] = u;
    }
    return s;
}

static const char *fold_prepare(const sinew_element *element, sinew_real *data)
{
    double x[3][3], gradient[3][3];
    for (int i = 0; i < 9; i++)
        x[i / 3][i % 3] = (double)element->rest[i];
    data[0] = element->parameters[0];
    data[1] = (sinew_real)fold_s(x, gradient);
    return NULL;
}

static double fold_sum(const sinew_kernel *kernel, int W, bool gradient)
{
    double sum = 0, x[3][3], f[3][3];
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = (double)kernel->groups.data[foreign_at(W, group, FOLD_DATA, 0, lane)];
            foreign_points(&kernel->groups, kernel->x, W, 3, group, lane, x);
            const double s = fold_s(x, f) - (double)kernel->groups.data[foreign_at(W, group, FOLD_DATA, 1, lane)];
            sum += 0.5 * k * s * s;
            for (int i = 0; i < 9; i++)
                f[i / 3][i % 3] *= k * s;
            if (gradient)
                foreign_add(&kernel->groups, kernel->g, W, 3, group, lane, f);
        }
    return sum;
}

static double fold_value_any(const sinew_kernel *kernel, int W)
{
    return fold_sum(kernel, W, false);
}

static double fold_gradient_any(const sinew_kernel *kernel, int W)
{
    return fold_sum(kernel, W, true);
}

/* The projection drops the curvature of s, which is semi-definite but not the nearest matrix. */
static void fold_linearise_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double x[3][3], f[3][3];
            const double k = (double)kernel->groups.data[foreign_at(W, group, FOLD_DATA, 0, lane)];
            foreign_points(&kernel->groups, kernel->x, W, 3, group, lane, x);
            const double s = fold_s(x, f) - (double)kernel->groups.data[foreign_at(W, group, FOLD_DATA, 1, lane)];
            kernel->tangent[foreign_at(W, group, FOLD_TANGENT, 0, lane)] = (sinew_real)k;
            kernel->tangent[foreign_at(W, group, FOLD_TANGENT, 1, lane)] = (sinew_real)(kernel->project ? 0 : k * s);
            for (int i = 0; i < 9; i++)
                kernel->tangent[foreign_at(W, group, FOLD_TANGENT, 2 + i, lane)] = (sinew_real)f[i / 3][i % 3];
        }
}

/* k, k s and the gradient of s from the tangent. */
static void fold_tangent(const sinew_kernel *kernel, int W, int32_t group, int lane, double t[FOLD_TANGENT])
{
    for (int i = 0; i < FOLD_TANGENT; i++)
        t[i] = (double)kernel->tangent[foreign_at(W, group, FOLD_TANGENT, i, lane)];
}

static void fold_product_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double t[FOLD_TANGENT], p[3][3], f[3][3], along = 0;
            fold_tangent(kernel, W, group, lane, t);
            foreign_points(&kernel->groups, kernel->p, W, 3, group, lane, p);
            for (int i = 0; i < 9; i++)
                along += t[2 + i] * p[i / 3][i % 3];
            for (int i = 0; i < 9; i++) {
                f[i / 3][i % 3] = t[0] * along * t[2 + i];
                for (int b = 0; b < 3; b++)
                    f[i / 3][i % 3] += t[1] * fold_M[i / 3][b] * p[b][i % 3];
            }
            foreign_add(&kernel->groups, kernel->g, W, 3, group, lane, f);
        }
}

static void fold_hessian_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double t[FOLD_TANGENT];
            fold_tangent(kernel, W, group, lane, t);
            for (int a = 0, block = 0; a < 3; a++)
                for (int b = 0; b <= a; b++, block++) {
                    const double *v = t + 2 + 3 * a;
                    const double u[3] = {t[0] * v[0], t[0] * v[1], t[0] * v[2]};
                    foreign_block(kernel->blocks, W, 6, group, lane, block, t[1] * fold_M[a][b], u, t + 2 + 3 * b);
                }
        }
}

FOREIGN_SUM(fold_value)
FOREIGN_SUM(fold_gradient)
FOREIGN_WORK(fold_linearise, sinew_kernel)
FOREIGN_WORK(fold_product, sinew_kernel)
FOREIGN_WORK(fold_hessian, sinew_kernel)

/* ---- Ground -------------------------------------------------------------------------------------- */

static const char *ground_prepare(const sinew_element *element, sinew_real *data)
{
    data[0] = element->parameters[0];
    return NULL;
}

/* The depth of the vertex below ground, 0 above; returns k */
static double ground_depth(const sinew_groups *groups, const sinew_real *x, int W, int32_t group, int lane, double *y)
{
    *y = fmin((double)x[groups->vertex[foreign_at(W, group, 1, 0, lane)] + 1], 0);
    return (double)groups->data[foreign_at(W, group, 1, 0, lane)];
}

static double ground_sum(const sinew_kernel *kernel, int W, bool gradient)
{
    double sum = 0, y;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = ground_depth(&kernel->groups, kernel->x, W, group, lane, &y);
            double f[1][3] = {{0, k * y, 0}};
            sum += 0.5 * k * y * y;
            if (gradient)
                foreign_add(&kernel->groups, kernel->g, W, 1, group, lane, f);
        }
    return sum;
}

static double ground_value_any(const sinew_kernel *kernel, int W)
{
    return ground_sum(kernel, W, false);
}

static double ground_gradient_any(const sinew_kernel *kernel, int W)
{
    return ground_sum(kernel, W, true);
}

static void ground_linearise_any(const sinew_kernel *kernel, int W)
{
    double y;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = ground_depth(&kernel->groups, kernel->x, W, group, lane, &y);
            kernel->tangent[foreign_at(W, group, 1, 0, lane)] = (sinew_real)(y < 0 ? k : 0);
        }
}

static void ground_product_any(const sinew_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double p = (double)kernel->p[kernel->groups.vertex[foreign_at(W, group, 1, 0, lane)] + 1];
            double f[1][3] = {{0, (double)kernel->tangent[foreign_at(W, group, 1, 0, lane)] * p, 0}};
            foreign_add(&kernel->groups, kernel->g, W, 1, group, lane, f);
        }
}

static void ground_hessian_any(const sinew_kernel *kernel, int W)
{
    const double up[3] = {0, 1, 0};
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = (double)kernel->tangent[foreign_at(W, group, 1, 0, lane)], u[3] = {0, k, 0};
            foreign_block(kernel->blocks, W, 1, group, lane, 0, 0, u, up);
        }
}

/* C = y above and below ground: callers treat it as an inequality. */
static void ground_jacobian_any(const sinew_jacobian_kernel *kernel, int W)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const double k = (double)kernel->groups.data[foreign_at(W, group, 1, 0, lane)];
            const sinew_real *x = kernel->x + kernel->groups.vertex[foreign_at(W, group, 1, 0, lane)];
            kernel->C[foreign_at(W, group, 1, 0, lane)] = k > 0 ? x[1] : 0;
            for (int c = 0; c < 3; c++)
                kernel->jacobian[foreign_at(W, group, 3, c, lane)] = k > 0 && c == 1;
            kernel->compliance[foreign_at(W, group, 1, 0, lane)] = (sinew_real)(k > 0 ? (kernel->hard ? 0 : 1 / k) : 1);
        }
}

FOREIGN_SUM(ground_value)
FOREIGN_SUM(ground_gradient)
FOREIGN_WORK(ground_linearise, sinew_kernel)
FOREIGN_WORK(ground_product, sinew_kernel)
FOREIGN_WORK(ground_hessian, sinew_kernel)
FOREIGN_WORK(ground_jacobian, sinew_jacobian_kernel)

/* ---- Tables -------------------------------------------------------------------------------------- */

#define FOREIGN_INFO(text, what, cells, vertices)                                                                      \
    .name = text, .summary = what, .stencil = cells, .vertex_count = vertices, .parameters = foreign_parameters,       \
    .parameter_count = 1

#define BEND_PARTS(width)                                                                                              \
    .constraint_count = 3, .constrain = bend_constrain##width, .jacobian = bend_jacobian##width, .other_count = 2,     \
    .incidence_data_count = 4, .incidence = bend_incidence, .vertex = bend_vertex##width,                              \
    .vertex_change = bend_change##width, .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT

#define BEND_OPS(corner, width)                                                                                        \
    {                                                                                                                  \
        .info = {FOREIGN_INFO("bend", "k/2 |x0 - 2 x1 + x2|^2", corner, 3),                                            \
                 .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |        \
                                 SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},                                               \
        .data_count = 1, .tangent_count = 1, FOREIGN_REQUIRED(bend, width), .reduced_count = 1,                        \
        .reduce = bend_reduce##width, .stiffness = bend_stiffness##width, .local_project = bend_project##width,        \
        .local_prox = bend_prox##width, BEND_PARTS(width)                                                              \
    }

#define LEAN_OPS(corner, width)                                                                                        \
    {                                                                                                                  \
        .info = {FOREIGN_INFO("lean", "bend without reduced coordinates", corner, 3),                                  \
                 .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX | SINEW_CAN_JACOBIAN},                        \
        .data_count = 1, .tangent_count = 1, FOREIGN_REQUIRED(bend, width), BEND_PARTS(width)                          \
    }

#define FOLD_OPS(corner, width)                                                                                        \
    {                                                                                                                  \
        .info = {FOREIGN_INFO("fold", "k/2 ((x1 - x0) . (x2 - x1) - c)^2", corner, 3)}, .data_count = FOLD_DATA,       \
        .tangent_count = FOLD_TANGENT, FOREIGN_REQUIRED(fold, width)                                                   \
    }

#define GROUND_OPS(width)                                                                                              \
    {                                                                                                                  \
        .info = {FOREIGN_INFO("ground", "k/2 min(y, 0)^2", SINEW_STENCIL_VERTEX, 1),                                   \
                 .capabilities = SINEW_CAN_JACOBIAN},                                                                  \
        .data_count = 1, .tangent_count = 1, .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION,             \
        FOREIGN_REQUIRED(ground, width), .constraint_count = 1, .jacobian = ground_jacobian##width, .inequalities = 1  \
    }

#endif
