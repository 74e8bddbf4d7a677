/* SPDX-License-Identifier: MIT
 *
 * energy_batch.h: a few elements in the layout of the kernels, driven without a world. Each element has its own
 * vertices. States: at rest, rotated, stretched, squashed, inverted. For test_energies.c and test_materials.c.
 */
#ifndef SINEW_ENERGY_BATCH_H
#define SINEW_ENERGY_BATCH_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"

enum {
    BATCH_MAX = 16,
    SIZE_MAX3 = 3 * SINEW_STENCIL_MAX
};

/* One element: rest shape, current positions, and the inputs of `prepare`. */
typedef struct sample {
    double rest[SIZE_MAX3], x[SIZE_MAX3];
    double weights[8], normal[3], target[3];
    double parameters[SINEW_PARAMETER_MAX];
    double examples[6 * SINEW_EXAMPLE_MAX]; /* symmetric stretch less identity, 6 each */
} sample;

typedef struct batch {
    const sinew_energy_ops *ops;
    int width, count, group_count, vertex_count, size; /* size: number of unknowns of an element */
    int32_t *vertex;
    sinew_real *data, *x, *p, *g, *tangent, *blocks;
} batch;

static inline void *batch_array(size_t count, size_t size)
{
    void *memory = aligned_alloc(64, (count * size + 64 + 63) / 64 * 64);
    memset(memory, 0, count * size);
    return memory;
}

static inline void batch_free(batch *b)
{
    free(b->vertex);
    free(b->data);
    free(b->x);
    free(b->p);
    free(b->g);
    free(b->tangent);
    free(b->blocks);
}

static inline const char *batch_prepare(const sinew_energy_ops *ops, const sample *s, sinew_real *data)
{
    sinew_real rest[SIZE_MAX3], weights[8], normal[3], target[3], parameters[SINEW_PARAMETER_MAX],
        examples[6 * SINEW_EXAMPLE_MAX];
    for (int i = 0; i < 6 * SINEW_EXAMPLE_MAX; i++)
        examples[i] = (sinew_real)s->examples[i];
    for (int i = 0; i < SIZE_MAX3; i++)
        rest[i] = (sinew_real)s->rest[i];
    for (int i = 0; i < 8; i++)
        weights[i] = (sinew_real)s->weights[i];
    for (int i = 0; i < 3; i++) {
        normal[i] = (sinew_real)s->normal[i];
        target[i] = (sinew_real)s->target[i];
    }
    for (int i = 0; i < SINEW_PARAMETER_MAX; i++)
        parameters[i] = (sinew_real)s->parameters[i];
    const sinew_element element = {.vertex_count = ops->info.vertex_count,
                                   .rest = rest,
                                   .parameters = parameters,
                                   .weights = weights,
                                   .normal = normal,
                                   .target = target,
                                   .examples = examples};
    return ops->prepare(&element, data);
}

/* Elements beyond count copy the first, with weight zero. */
static inline batch batch_make(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const sample *samples,
                               int count)
{
    const int W = simd->width, n = ops->info.vertex_count, groups = (count + W - 1) / W, padded = groups * W;
    batch b = {.ops = ops, .width = W, .count = count, .group_count = groups, .vertex_count = n, .size = 3 * n};
    b.vertex = batch_array((size_t)(padded * n), sizeof(int32_t));
    b.data = batch_array((size_t)(padded * ops->data_count), sizeof(sinew_real));
    b.tangent = batch_array((size_t)(padded * ops->tangent_count), sizeof(sinew_real));
    b.blocks = batch_array((size_t)(padded * 9 * n * (n + 1) / 2), sizeof(sinew_real));
    b.x = batch_array((size_t)(4 * padded * n), sizeof(sinew_real));
    b.p = batch_array((size_t)(4 * padded * n), sizeof(sinew_real));
    b.g = batch_array((size_t)(4 * padded * n), sizeof(sinew_real));
    for (int e = 0; e < padded; e++) {
        const sample *s = &samples[e < count ? e : 0];
        const int group = e / W, l = e % W;
        sinew_real data[SINEW_DATA_MAX];
        const char *refusal = batch_prepare(ops, s, data);
        if (refusal) {
            fprintf(stderr, "%s: %s\n", ops->info.name, refusal);
            abort();
        }
        if (e >= count)
            data[0] = 0;
        for (int i = 0; i < ops->data_count; i++)
            b.data[(group * ops->data_count + i) * W + l] = data[i];
        for (int a = 0; a < n; a++) {
            b.vertex[(group * n + a) * W + l] = SINEW_POINT * (e * n + a);
            for (int i = 0; i < 3; i++)
                b.x[4 * (e * n + a) + i] = (sinew_real)s->x[3 * a + i];
        }
    }
    return b;
}

static inline sinew_kernel batch_kernel(batch *b, bool project)
{
    return (sinew_kernel){.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                          .x = b->x,
                          .p = b->p,
                          .g = b->g,
                          .tangent = b->tangent,
                          .blocks = b->blocks,
                          .project = project,
                          .multiplier = 1};
}

static inline double batch_value(batch *b)
{
    const sinew_kernel kernel = batch_kernel(b, false);
    return b->ops->value(&kernel);
}

static inline double batch_gradient(batch *b)
{
    const sinew_kernel kernel = batch_kernel(b, false);
    memset(b->g, 0, sizeof(sinew_real) * (size_t)(4 * b->group_count * b->width * b->vertex_count));
    return b->ops->gradient(&kernel);
}

static inline void batch_linearise(batch *b, bool project)
{
    const sinew_kernel kernel = batch_kernel(b, project);
    b->ops->linearise(&kernel);
    b->ops->hessian(&kernel);
}

/* Unknown i of element e in x, p or g. */
static inline sinew_real *batch_at(const batch *b, sinew_real *array, int e, int i)
{
    return &array[4 * (e * b->vertex_count + i / 3) + i % 3];
}

/* H[size][size] of element e from the blocks. */
static inline void batch_hessian(const batch *b, int e, double *H)
{
    const int n = b->vertex_count, pairs = n * (n + 1) / 2, group = e / b->width, l = e % b->width;
    for (int row = 0; row < 3 * n; row++)
        for (int column = 0; column < 3 * n; column++) {
            const bool lower = row / 3 >= column / 3;
            const int i = lower ? row : column, j = lower ? column : row;
            const int block = (i / 3) * (i / 3 + 1) / 2 + j / 3, entry = 3 * (i % 3) + j % 3;
            H[row * b->size + column] = (double)b->blocks[((group * pairs + block) * 9 + entry) * b->width + l];
        }
}

/* H of element e by `product` with all unit vectors p. */
static inline void batch_product(batch *b, int e, double *H)
{
    const sinew_kernel kernel = batch_kernel(b, false);
    const size_t bytes = sizeof(sinew_real) * (size_t)(4 * b->group_count * b->width * b->vertex_count);
    for (int column = 0; column < b->size; column++) {
        memset(b->g, 0, bytes);
        memset(b->p, 0, bytes);
        *batch_at(b, b->p, e, column) = 1;
        b->ops->product(&kernel);
        for (int row = 0; row < b->size; row++)
            H[row * b->size + column] = (double)*batch_at(b, b->g, e, row);
    }
}

/* ---- Samples ------------------------------------------------------------------------------------ */

static uint64_t random_state; /* seed of the sequence */

static inline double random_in(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

/* The rotation about an axis (not of unit length) by an angle. */
static inline void rotation(const double axis[3], double angle, double R[9])
{
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double x = axis[0] / length, y = axis[1] / length, z = axis[2] / length, c = cos(angle), s = sin(angle);
    const double M[9] = {c + x * x * (1 - c),     x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
                         y * x * (1 - c) + z * s, c + y * y * (1 - c),     y * z * (1 - c) - x * s,
                         z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)};
    memcpy(R, M, sizeof M);
}

static inline void random_rotation(double low, double high, double R[9])
{
    const double axis[3] = {random_in(-1, 1), random_in(-1, 1), random_in(0.1, 1)};
    rotation(axis, random_in(low, high), R);
}

/* A state is a random rotation times a stretch along random axes. */
typedef struct state {
    const char *name;
    double angle;
    double sigma[3];
    double noise; /* perturbation of F */
} state;

static const state states[] = {
    {"rest", 0, {1, 1, 1}, 0},
    {"random", 0.3, {1, 1, 1}, 0.3},
    {"rotated", 1, {1, 1, 1}, 0},
    {"strongly rotated", 3, {1.2, 1.1, 0.9}, 0},
    {"stretched", 2, {2, 1.1, 0.8}, 0},
    {"equal stretch", 1, {1.3, 1.3, 1.3}, 0},
    {"squashed", 1, {1.1, 0.9, 0.2}, 0},
    {"squashed twice", 1, {1.6, 0.3, 0.2}, 0},
    {"inverted", 1, {1.2, 0.9, -0.4}, 0},
    {"mirrored", 2, {1.4, 1.2, -1}, 0},
};
enum {
    STATE_COUNT = sizeof states / sizeof states[0]
};

static inline void state_deformation(const state *s, double F[9])
{
    double R[9], Q[9];
    random_rotation(s->angle, s->angle, R);
    random_rotation(0, 3, Q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0; /* R Q diag(sigma) Q^T */
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    sum += R[3 * i + l] * Q[3 * l + k] * s->sigma[k] * Q[3 * j + k];
            F[3 * i + j] = sum + (s->noise > 0 ? random_in(-s->noise, s->noise) : 0);
        }
}

static inline void sample_move(sample *s, const double F[9], const double t[3])
{
    for (int a = 0; a < SINEW_STENCIL_MAX; a++)
        for (int i = 0; i < 3; i++)
            s->x[3 * a + i] = F[3 * i] * s->rest[3 * a] + F[3 * i + 1] * s->rest[3 * a + 1] +
                              F[3 * i + 2] * s->rest[3 * a + 2] + t[i];
}

/* Neighbours in order around the first vertex, on a dome. */
static inline void wheel_rest(int vertex_count, double *rest)
{
    for (int a = 0; a < vertex_count; a++) {
        const double angle = 2 * M_PI * (a - 1 + random_in(-0.1, 0.1)) / (vertex_count - 1), r = random_in(0.9, 1.1);
        rest[3 * a] = a == 0 ? random_in(-0.1, 0.1) : r * cos(angle);
        rest[3 * a + 1] = a == 0 ? random_in(-0.1, 0.1) : r * sin(angle);
        rest[3 * a + 2] = (a == 0 ? 0.5 : 0) + random_in(-0.1, 0.1);
    }
}

/* Two segments with an angle of about 40 degrees, and director points beside their middles. */
static inline void rod_rest_points(double *rest)
{
    static const double points[15] = {0, 0, 0, 1, 0, 0, 1.8, 0.6, 0, 0.5, 0, 0.5, 1.4, 0.3, 0.5};
    for (int i = 0; i < 15; i++)
        rest[i] = points[i] + random_in(-0.1, 0.1);
}

/* Director points above the middles of the edges opposite to a triangle's vertices. */
static inline void shell_rest_points(double *rest)
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            rest[9 + 3 * a + i] = (rest[3 * ((a + 1) % 3) + i] + rest[3 * ((a + 2) % 3) + i]) / 2 + (i == 2 ? 0.5 : 0) +
                                  random_in(-0.1, 0.1);
}

/* Points of a pair of shells: two triangles with a common edge and the directors of their other four edges. */
static const int pair_edges[4][2] = {{1, 2}, {2, 0}, {0, 3}, {3, 1}};
static inline void shell_pair_rest_points(double *rest)
{
    static const double flat[8] = {0, 0, 1, 0, 0.5, 0.8, 0.4, -0.9};
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++)
            rest[3 * a + i] = (i < 2 ? flat[2 * a + i] : 0) + random_in(-0.15, 0.15);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++)
            rest[12 + 3 * a + i] = (rest[3 * pair_edges[a][0] + i] + rest[3 * pair_edges[a][1] + i]) / 2 +
                                   (i == 2 ? 0.5 : 0) + random_in(-0.1, 0.1);
}

/* Turns the director point p about its edge a b by an angle. */
static inline void turn_director(const double *a, const double *b, double angle, double *p)
{
    double e[3], R[9], w[3], along = 0, square = 0;
    for (int c = 0; c < 3; c++) {
        e[c] = b[c] - a[c];
        square += e[c] * e[c];
        along += e[c] * (p[c] - a[c]);
    }
    if (square == 0)
        return;
    rotation(e, angle, R);
    for (int c = 0; c < 3; c++)
        w[c] = p[c] - a[c] - along / square * e[c];
    for (int c = 0; c < 3; c++)
        p[c] = a[c] + along / square * e[c] + R[3 * c] * w[0] + R[3 * c + 1] * w[1] + R[3 * c + 2] * w[2];
}

/* Turns the director points of a shell about their edges by at most 150 degrees, into the range of the barriers. */
static inline void turn_directors(sample *s)
{
    for (int i = 0; i < 3; i++)
        turn_director(s->x + 3 * ((i + 1) % 3), s->x + 3 * ((i + 2) % 3), random_in(-2.6, 2.6), s->x + 9 + 3 * i);
}

/* Turns the director points of a pair of shells by at most 60 degrees: its energy has no barriers. */
static inline void turn_pair_directors(sample *s)
{
    for (int i = 0; i < 4; i++)
        turn_director(s->x + 3 * pair_edges[i][0], s->x + 3 * pair_edges[i][1], random_in(-1, 1), s->x + 12 + 3 * i);
}

/* Rotates the second of two frames about the first joint axis, z, and translates it: joints open, limits are exceeded.
 */
static inline void turn_second_frame(sample *s)
{
    const double axis[3] = {0.1, -0.1, 1};
    double R[9], x[3];
    rotation(axis, 0.9, R);
    for (int a = 4; a < 8; a++) {
        memcpy(x, s->x + 3 * a, sizeof x);
        for (int i = 0; i < 3; i++)
            s->x[3 * a + i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2] + 0.1 * (i + 1);
    }
}

/* Moduli and lengths near 1, so that absolute errors are relative ones. */
static inline double sample_parameter(const sinew_parameter *p)
{
    const bool thin = strcmp(p->name, "thickness") == 0 || strncmp(p->unit, "N m", 3) == 0;
    return p->preset > 10 || strcmp(p->name, "rigidity") == 0 ? random_in(1, 3) : thin ? random_in(0.5, 2) : p->preset;
}

/* True: sample_make() draws all parameters. False: those that are not moduli have their defaults, where limits
 * coincide, directions are axes, and terms vanish. */
static bool sample_draws_all;

static inline int choice_count(const char *choices)
{
    int count = 1;
    for (; *choices; choices++)
        count += *choices == '|';
    return count;
}

/* A parameter near its default; least and greatest values leave an interval between them. */
static inline double drawn_parameter(const sinew_parameter *p)
{
    const size_t length = strlen(p->name);
    if (p->choices)
        return (int)random_in(0, choice_count(p->choices) - 1e-9);
    if (strstr(p->name, "minimum") || strcmp(p->name, "low") == 0)
        return p->preset - random_in(0.05, 0.2);
    if (strstr(p->name, "maximum") || strcmp(p->name, "high") == 0)
        return p->preset + random_in(0.05, 0.2);
    if (length > 2 && p->name[length - 2] == '_' && strchr("xyz", p->name[length - 1]))
        return p->preset + random_in(-0.4, 0.4);
    if (strcmp(p->name, "poisson") == 0)
        return random_in(0.2, 0.45);
    return p->preset == 0 || p->preset == 1 ? p->preset + random_in(0, 0.3) : sample_parameter(p);
}

/* A random well-shaped rest element. */
static inline sample sample_make(const sinew_energy_info *info, const state *s)
{
    static const double corner[SIZE_MAX3] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
    sample result = {0};
    for (int i = 0; i < SIZE_MAX3; i++)
        result.rest[i] = corner[i] + random_in(-0.2, 0.2);
    if (info->stencil == SINEW_STENCIL_WHEEL)
        wheel_rest(info->vertex_count, result.rest);
    if (info->stencil == SINEW_STENCIL_ROD)
        rod_rest_points(result.rest);
    if (info->stencil == SINEW_STENCIL_SHELL)
        shell_rest_points(result.rest);
    if (info->stencil == SINEW_STENCIL_SHELL_PAIR)
        shell_pair_rest_points(result.rest);
    for (int i = 0; i < info->parameter_count; i++)
        result.parameters[i] =
            sample_draws_all ? drawn_parameter(&info->parameters[i]) : sample_parameter(&info->parameters[i]);
    /* A function of all elements together has no elements to compare (test_gas.c). */
    const sinew_energy_ops *ops = (const sinew_energy_ops *)info;
    sinew_real values[SINEW_PARAMETER_MAX] = {0};
    for (int i = 0; i < info->parameter_count; i++)
        values[i] = (sinew_real)result.parameters[i];
    for (int i = 0; i < info->parameter_count && ops->couples && ops->couples(values); i++)
        result.parameters[i] = sample_parameter(&info->parameters[i]);
    for (int i = 0; i < 6 * SINEW_EXAMPLE_MAX; i++) /* distinct shapes; the last one is left out */
        result.examples[i] = i < 12 ? 0.2 * sin(1 + 5.0 * i) : 0;
    double sums[2] = {0, 0}, length = 0;
    for (int a = 0; a < 8; a++)
        sums[a / 4] += result.weights[a] = random_in(0.1, 1);
    for (int a = 0; a < 8; a++)
        result.weights[a] /= a < 4 ? sums[0] : -sums[1];
    for (int i = 0; i < 3; i++) {
        result.normal[i] = random_in(0.1, 1);
        length += result.normal[i] * result.normal[i];
        result.target[i] = result.rest[i];
    }
    for (int i = 0; i < 3; i++)
        result.normal[i] /= sqrt(length);
    double F[9];
    const double t[3] = {0, 0, 0};
    state_deformation(s, F);
    sample_move(&result, F, t);
    if (info->stencil == SINEW_STENCIL_FRAMES && s != states)
        turn_second_frame(&result);
    if (info->stencil == SINEW_STENCIL_SHELL && s != states)
        turn_directors(&result);
    if (info->stencil == SINEW_STENCIL_SHELL_PAIR && s != states)
        turn_pair_directors(&result);
    return result;
}

/* Whether an energy is undefined in a state. */
static inline bool undefined_at(const sinew_energy_info *info, const state *s)
{
    const sinew_energy_ops *ops = (const sinew_energy_ops *)info; /* the info is the first member of the ops */
    /* A mirrored shell has its directors on the other side: angles change by pi, where they jump. */
    const bool jumps = info->stencil == SINEW_STENCIL_SHELL || info->stencil == SINEW_STENCIL_SHELL_PAIR;
    /* With drawn parameters, energies without compression have the jump of their second derivatives at rest. */
    const bool kinked = sample_draws_all && s->noise == 0 && s->sigma[0] == 1 && s->sigma[1] == 1 && s->sigma[2] == 1;
    return kinked || ((ops->barrier || jumps) && s->sigma[0] * s->sigma[1] * s->sigma[2] <= 0);
}

static inline bool is_tet(const sinew_energy_info *info)
{
    return info->stencil == SINEW_STENCIL_TET;
}

/* Tets and sheet triangles: their energy depends on a deformation gradient. */
static inline bool has_gradient(const sinew_energy_info *info)
{
    return is_tet(info) || ((const sinew_energy_ops *)info)->is_surface;
}

#endif
