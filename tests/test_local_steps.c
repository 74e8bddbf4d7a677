/* SPDX-License-Identifier: MIT
 *
 * test_local_steps.c: operations of energies for projective and constraint methods, one element at a time.
 *
 * Covers every energy with the capability, every SIMD variant of this processor, and a different element in every SIMD
 * lane. The reference is the energy's own value and gradient: for any z there are positions x with D x = z (least norm,
 * through the Gram matrix of D), so psi and its derivative are known at any reduced coordinate.
 *
 *     reduce      D x against columns of F, differences of ends, ... computed here from the rest shape
 *     stiffness   exact where the energy is a distance; else against quadrature with 4000 intervals
 *     project     psi = k/2 |z - p|^2, grad psi = k D^T (z - p), no point of the set nearer, psi bounded from above
 *     prox        stationary, lower than v, not undercut by neighbours, inverted and degenerate v included
 *     constrain   thesis (4.27), (4.28) by hand from psi = C^2 / (2 alpha), also twice, damped, hard, shared, pinned
 */
#include "make_world.h"

#include "energy/energy.h"
#include "reference_material.h"

#ifdef SINEW_SINGLE
#define EXACT      2e-5 /* relative error of a few operations */
#define STATIONARY 2e-4
#define LOWER      1e-5
#else
#define EXACT      1e-12
#define STATIONARY 1e-9
#define LOWER      1e-12
#endif

/* Kernels load whole SIMD vectors. */
#define ALIGNED _Alignas(64)

enum {
    WIDTH_MAX = 16,
    VERTEX_MAX = SINEW_STENCIL_MAX,
    CONSTRAINT_MAX = 6,
    Z_MAX = 9
};

/* ---- Elements -------------------------------------------------------------------------------- */

/* One group: W elements, each with its own vertices. */
typedef struct sample {
    const sinew_energy_ops *ops;
    sinew_energy_kind kind;
    int W, n, R;     /* R = reduced_count */
    bool is_surface; /* triangles: z is the deformation gradient, 3x2 */
    int32_t vertex[VERTEX_MAX * WIDTH_MAX];
    ALIGNED sinew_real data[SINEW_DATA_MAX * WIDTH_MAX];
    sinew_real parameters[WIDTH_MAX][SINEW_PARAMETER_MAX];
    double rest[WIDTH_MAX][3 * VERTEX_MAX];
    double pair[WIDTH_MAX][8], target[WIDTH_MAX][3];
    double volume[WIDTH_MAX];           /* volume of tets; area of triangles */
    double D[WIDTH_MAX][3][VERTEX_MAX]; /* result of `reduce` */
    double gram[WIDTH_MAX][9];          /* inverse of D D^T, identity beyond R */
    double k[WIDTH_MAX];                /* result of `stiffness` */
    ALIGNED sinew_real x[4 * VERTEX_MAX * WIDTH_MAX];
} sample;

static void make_rest(sample *s, int lane, uint32_t *seed)
{
    static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const bool solid = s->n == 4 || s->is_surface;
    for (int i = 0; i < 3 * s->n; i++)
        s->rest[lane][i] = (solid ? corner[i] : 0) + (solid ? 0.15 : 1.0) * next_random(seed);
    double sum[2] = {0, 0};
    for (int a = 0; a < 8; a++)
        sum[a / 4] += s->pair[lane][a] = 0.1 + fabs(next_random(seed));
    for (int a = 0; a < 8; a++)
        s->pair[lane][a] *= (a < 4 ? 1 : -1) / sum[a / 4];
    for (int c = 0; c < 3; c++)
        s->target[lane][c] = next_random(seed);
}

static void make_parameters(sample *s, int lane)
{
    const sinew_energy_info *info = &s->ops->info;
    for (int32_t p = 0; p < info->parameter_count; p++)
        s->parameters[lane][p] = (sinew_real)info->parameters[p].preset;
    s->parameters[lane][0] *= (sinew_real)(1 + 0.3 * lane);
    const int32_t poisson = sinew_energy_parameter(s->kind, "poisson");
    if (poisson >= 0)
        s->parameters[lane][poisson] = (sinew_real)(0.1 + 0.35 * lane / WIDTH_MAX);
}

static double area_of(const double *x)
{
    double a[3], b[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        a[i] = x[3 + i] - x[i];
        b[i] = x[6 + i] - x[i];
    }
    for (int i = 0; i < 3; i++) {
        const double normal = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        sum += normal * normal;
    }
    return sqrt(sum) / 2;
}

static void prepare_wide(sample *s, int lane)
{
    const double norm = 1 / sqrt(14.0);
    const sinew_real normal[3] = {(sinew_real)norm, (sinew_real)(2 * norm), (sinew_real)(3 * norm)};
    sinew_real rest[3 * VERTEX_MAX], pair[8], target[3], data[SINEW_DATA_MAX];
    for (int i = 0; i < 3 * s->n; i++)
        rest[i] = (sinew_real)s->rest[lane][i];
    for (int a = 0; a < 8; a++)
        pair[a] = (sinew_real)s->pair[lane][a];
    for (int c = 0; c < 3; c++)
        target[c] = (sinew_real)s->target[lane][c];
    const sinew_element element = {.vertex_count = s->n,
                                   .rest = rest,
                                   .parameters = s->parameters[lane],
                                   .weights = pair,
                                   .normal = normal,
                                   .target = target};
    assert_null(s->ops->prepare(&element, data));
    for (int d = 0; d < s->ops->data_count; d++)
        s->data[d * s->W + lane] = data[d];
    for (int a = 0; a < s->n; a++)
        s->vertex[a * s->W + lane] = SINEW_POINT * (lane * s->n + a);
    double Dm[9];
    for (int i = 0; s->n == 4 && i < 9; i++)
        Dm[i] = s->rest[lane][3 * (i % 3 + 1) + i / 3] - s->rest[lane][i / 3];
    s->volume[lane] = s->n == 4 ? fabs(reference_det(Dm)) / 6 : s->is_surface ? area_of(s->rest[lane]) : 1;
}

static sinew_groups groups_of(const sample *s)
{
    return (sinew_groups){.count = 1, .vertex = s->vertex, .data = s->data};
}

/* (D D^T)^-1, padded with the identity */
static void invert_gram(sample *s, int lane)
{
    double G[9] = {0}, C[9];
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            for (int a = 0; r < s->R && q < s->R && a < s->n; a++)
                G[3 * r + q] += s->D[lane][r][a] * s->D[lane][q][a];
            if (r == q && r >= s->R)
                G[3 * r + q] = 1;
        }
    reference_cofactor(G, C);
    for (int i = 0; i < 9; i++)
        s->gram[lane][i] = C[i] / reference_det(G);
}

static void make_sample(sample *s, const sinew_simd_variant *variant, int kind, uint32_t *seed)
{
    ALIGNED sinew_real D[3 * VERTEX_MAX * WIDTH_MAX], k[WIDTH_MAX];
    *s = (sample){.ops = variant->energies[kind], .kind = (sinew_energy_kind)kind, .W = variant->width};
    s->n = s->ops->info.vertex_count;
    s->R = s->ops->reduced_count;
    s->is_surface = s->ops->is_surface;
    assert_true(s->W <= WIDTH_MAX);
    for (int lane = 0; lane < s->W; lane++) {
        make_rest(s, lane, seed);
        make_parameters(s, lane);
        prepare_wide(s, lane);
    }
    if (!(s->ops->info.capabilities & SINEW_CAN_REDUCE))
        return;
    sinew_reduced_kernel kernel = {.groups = groups_of(s), .x = s->x};
    kernel.D = D;
    s->ops->reduce(&kernel);
    kernel.weights = k;
    kernel.stretch_low = 0.5;
    kernel.stretch_high = 1.5;
    s->ops->stiffness(&kernel);
    for (int lane = 0; lane < s->W; lane++) {
        for (int r = 0; r < s->R; r++)
            for (int a = 0; a < s->n; a++)
                s->D[lane][r][a] = (double)D[(r * s->n + a) * s->W + lane];
        s->k[lane] = (double)k[lane];
        invert_gram(s, lane);
    }
}

/* x of one lane such that D x = z */
static void set_reduced(sample *s, int lane, const double *z)
{
    for (int a = 0; a < s->n; a++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int r = 0; r < s->R; r++)
                for (int q = 0; q < s->R; q++)
                    sum += s->D[lane][r][a] * s->gram[lane][3 * r + q] * z[3 * q + c];
            s->x[4 * (lane * s->n + a) + c] = (sinew_real)sum;
        }
}

/* z = D x in the library's precision */
static void get_reduced(const sample *s, int lane, double *z)
{
    for (int r = 0; r < s->R; r++)
        for (int c = 0; c < 3; c++) {
            z[3 * r + c] = 0;
            for (int a = 0; a < s->n; a++)
                z[3 * r + c] += s->D[lane][r][a] * (double)s->x[4 * (lane * s->n + a) + c];
        }
}

/* out = (D D^T)^-1 D g: the reduced vector whose image under D^T is g */
static void lift(const sample *s, int lane, const sinew_real *g, double *out)
{
    double Dg[Z_MAX] = {0};
    for (int r = 0; r < s->R; r++)
        for (int c = 0; c < 3; c++)
            for (int a = 0; a < s->n; a++)
                Dg[3 * r + c] += s->D[lane][r][a] * (double)g[4 * (lane * s->n + a) + c];
    for (int r = 0; r < s->R; r++)
        for (int c = 0; c < 3; c++) {
            out[3 * r + c] = 0;
            for (int q = 0; q < s->R; q++)
                out[3 * r + c] += s->gram[lane][3 * r + q] * Dg[3 * q + c];
        }
}

/* psi at z of one lane, with the weights of the other lanes set to zero; `gradient` over z may be NULL */
static double psi_at(sample *s, int lane, const double *z, double *gradient)
{
    ALIGNED sinew_real kept[WIDTH_MAX], g[4 * VERTEX_MAX * WIDTH_MAX] = {0};
    memcpy(kept, s->data, sizeof kept[0] * (size_t)s->W);
    for (int other = 0; other < s->W; other++)
        s->data[other] = other == lane ? kept[lane] : 0;
    set_reduced(s, lane, z);
    sinew_kernel kernel = {.groups = groups_of(s), .x = s->x};
    kernel.g = g;
    const double value = s->ops->gradient(&kernel);
    if (gradient)
        lift(s, lane, g, gradient);
    memcpy(s->data, kept, sizeof kept[0] * (size_t)s->W);
    return value;
}

/* ---- States ---------------------------------------------------------------------------------- */

typedef enum state {
    NEAR_REST,
    RANDOM,
    TURNED,
    SQUASHED,
    FLAT,
    POINT,
    INVERTED,
    STRETCHED,
    STATE_COUNT
} state;
static const char *const state_names[STATE_COUNT] = {"near rest", "random", "turned",   "squashed",
                                                     "flat",      "point",  "inverted", "stretched"};

static void turn(uint32_t *seed, double R[9])
{
    double A[9];
    do
        for (int i = 0; i < 9; i++)
            A[i] = next_random(seed);
    while (reference_det(A) < 0.1);
    reference_rotation(A, R);
}

/* z of a state: F column by column for tets, one vector for the others */
static void make_z(const sample *s, state which, uint32_t *seed, double *z)
{
    static const double stretches[STATE_COUNT][3] = {{1.02, 0.99, 1.01}, {0, 0, 0}, {1.3, 0.8, 1.1},  {1.2, 0.9, 1e-3},
                                                     {1.2, 0.9, 0},      {0, 0, 0}, {1.1, 0.9, -0.7}, {4, 3, 0.2}};
    double U[9], V[9];
    turn(seed, U);
    turn(seed, V);
    if (which == NEAR_REST)
        memcpy(V, U, sizeof V);
    for (int r = 0; r < s->R; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int m = 0; m < 3; m++)
                sum += U[3 * c + m] * stretches[which][m] * V[3 * r + m];
            z[3 * r + c] = which == RANDOM ? 1.5 * next_random(seed) : which == POINT && s->n != 4 ? 0 : sum;
        }
}

static double norm_of(const double *a, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* Calls `check` for every energy with the capability in every usable SIMD variant. References cover five stencils. */
static void for_samples(uint32_t capability, void (*check)(sample *s, uint32_t *seed))
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    static sample s;
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
            uint32_t seed = 17u + (uint32_t)kind;
            const sinew_energy_ops *ops = variants[v]->energies[kind];
            const bool known = ops->is_surface || ops->info.stencil <= SINEW_STENCIL_PAIR;
            if ((ops->info.capabilities & capability) != capability || !known)
                continue;
            make_sample(&s, variants[v], kind, &seed);
            check(&s, &seed);
        }
}

#define NAME(s)           ((s)->ops->info.name)
#define HOLDS(s, lane, c) hold(c, #c, NAME(s), (s)->W, lane, __LINE__)
static void hold(bool condition, const char *text, const char *name, int width, int lane, int line)
{
    if (!condition)
        fail_msg("%s (width %d, lane %d, line %d): %s", name, width, lane, line, text);
}

/* ---- Reduce and stiffness -------------------------------------------------------------------- */

/* z from positions and rest shape alone */
static void reference_reduced(const sample *s, int lane, double *z)
{
    double x[3 * VERTEX_MAX], Dm[9], Ds[9], C[9];
    for (int a = 0; a < s->n; a++)
        for (int c = 0; c < 3; c++)
            x[3 * a + c] = (double)s->x[4 * (lane * s->n + a) + c];
    for (int c = 0; c < 3; c++)
        z[c] = s->n == 1 ? x[c] : s->n == 2 ? x[3 + c] - x[c] : 0;
    for (int a = 0; s->n == 8 && a < 8; a++)
        for (int c = 0; c < 3; c++)
            z[c] += s->pair[lane][a] * x[3 * a + c];
    if (s->n != 4)
        return;
    for (int i = 0; i < 9; i++) {
        Dm[i] = s->rest[lane][3 * (i % 3 + 1) + i / 3] - s->rest[lane][i / 3];
        Ds[i] = x[3 * (i % 3 + 1) + i / 3] - x[i / 3];
    }
    reference_cofactor(Dm, C);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) { /* F_ir = sum_a Ds_ia (Dm^-1)_ar */
            z[3 * r + i] = 0;
            for (int a = 0; a < 3; a++)
                z[3 * r + i] += Ds[3 * i + a] * C[3 * r + a] / reference_det(Dm);
        }
}

/* The rotation Q of a tet's rest shape with z = F Q: z at rest, column-major. */
static void frame_of(sample *s, int lane, double *Q)
{
    for (int a = 0; a < s->n; a++)
        for (int c = 0; c < 3; c++)
            s->x[4 * (lane * s->n + a) + c] = (sinew_real)s->rest[lane][3 * a + c];
    get_reduced(s, lane, Q);
}

/* zQ = z Q, both column-major */
static void turn_frame(const double *z, const double *Q, double *zQ)
{
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++) {
            zQ[3 * r + i] = 0;
            for (int k = 0; k < 3; k++)
                zQ[3 * r + i] += z[3 * k + i] * Q[3 * r + k];
        }
}

static void check_frame(const sample *s, int lane, const double *Q)
{
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            const double dot = Q[3 * r] * Q[3 * q] + Q[3 * r + 1] * Q[3 * q + 1] + Q[3 * r + 2] * Q[3 * q + 2];
            HOLDS(s, lane, fabs(dot - (r == q)) <= 40 * EXACT);
        }
    HOLDS(s, lane, reference_det(Q) > 0);
}

/* z of a tet is all of F, or its first column for fibres along x. */
static bool has_whole_F(const sample *s)
{
    return s->n == 4 && s->R == 3;
}

/* The reduction D of a triangle is translation invariant and maps the rest shape to two unit vectors in its plane. This
 * determines D up to a rotation in the plane. */
static void check_sheet_rows(sample *s)
{
    for (int lane = 0; lane < s->W; lane++) {
        double Q[Z_MAX];
        frame_of(s, lane, Q);
        for (int r = 0; r < 2; r++) {
            const double *d = s->D[lane][r];
            HOLDS(s, lane, fabs(d[0] + d[1] + d[2]) <= 10 * EXACT);
            for (int q = 0; q < 2; q++) {
                const double dot = Q[3 * r] * Q[3 * q] + Q[3 * r + 1] * Q[3 * q + 1] + Q[3 * r + 2] * Q[3 * q + 2];
                HOLDS(s, lane, fabs(dot - (r == q)) <= 40 * EXACT);
            }
        }
    }
}

static void check_reduce(sample *s, uint32_t *seed)
{
    if (s->is_surface) {
        check_sheet_rows(s);
        return;
    }
    for (int lane = 0; lane < s->W; lane++) {
        double z[Z_MAX], expected[Z_MAX], Q[Z_MAX], F[Z_MAX];
        if (has_whole_F(s)) {
            frame_of(s, lane, Q);
            check_frame(s, lane, Q);
        }
        for (int i = 0; i < 4 * s->n; i++)
            s->x[4 * lane * s->n + i] = (sinew_real)(i % 4 < 3 ? next_random(seed) : 0);
        get_reduced(s, lane, z);
        reference_reduced(s, lane, has_whole_F(s) ? F : expected);
        if (has_whole_F(s))
            turn_frame(F, Q, expected);
        for (int i = 0; i < 3 * s->R; i++)
            HOLDS(s, lane, fabs(z[i] - expected[i]) <= 10 * EXACT * (1 + norm_of(expected, 3 * s->R)));
    }
}

static void reduction_is_linear_map_of_rest_shape(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_REDUCE, check_reduce);
}

/* dE/ds at F = diag(s, 1, 1); for triangles at diag(s, 1) or diag(1, s). */
static double slope_at(sample *s, int lane, double stretch, int axis)
{
    if (s->is_surface) {
        double z[Z_MAX] = {1, 0, 0, 0, 1, 0}, gradient[Z_MAX];
        z[4 * axis] = stretch;
        psi_at(s, lane, z, gradient);
        return gradient[4 * axis];
    }
    const double F[Z_MAX] = {stretch, 0, 0, 0, 1, 0, 0, 0, 1};
    double Q[Z_MAX], z[Z_MAX], gradient[Z_MAX];
    frame_of(s, lane, Q);
    turn_frame(F, Q, z);
    psi_at(s, lane, z, gradient);
    return gradient[0] * Q[0] + gradient[3] * Q[3] + gradient[6] * Q[6];
}

/* Midpoint rule, since the library's Simpson rule uses other points. */
static double fitted_along(sample *s, int lane, double low, double high, int axis)
{
    const int count = 4000;
    double top = 0, bottom = 0;
    for (int i = 0; i < count; i++) {
        const double stretch = low + (high - low) * (i + 0.5) / count;
        top += (stretch - 1) * slope_at(s, lane, stretch, axis);
        bottom += (stretch - 1) * (stretch - 1);
    }
    return top / bottom;
}

/* Sheets with warp and weft take the stiffer direction; for others both are equal. */
static double fitted_stiffness(sample *s, int lane, double low, double high)
{
    const double first = fitted_along(s, lane, low, high, 0);
    return s->is_surface ? fmax(first, fitted_along(s, lane, low, high, 1)) : first;
}

static double length_of(const sample *s, int lane)
{
    double d[3];
    for (int c = 0; c < 3; c++)
        d[c] = s->rest[lane][3 + c] - s->rest[lane][c];
    return norm_of(d, 3);
}

/* The factor of the stiffness: rest volume; for edge strain, whose z is a length, one over the rest length. */
static double measure_of(const sample *s, int lane)
{
    return s->kind == SINEW_ENERGY_EDGE_STRAIN ? 1 / length_of(s, lane) : s->volume[lane];
}

static void check_stiffness(sample *s, uint32_t *seed)
{
    const double ends[][2] = {{0.5, 1.5}, {0.3, 2}, {0.7 + 0.2 * next_random(seed), 1.5 + 0.4 * next_random(seed)}};
    if ((s->n != 4 && !s->is_surface) || s->ops->info.capabilities & SINEW_CAN_PROJECT) {
        for (int lane = 0; lane < s->W; lane++) {
            const double k = (double)s->parameters[lane][0] * measure_of(s, lane);
            const double max = s->n == 8 ? fmax(k, (double)s->parameters[lane][1]) : k;
            HOLDS(s, lane, fabs(s->k[lane] - max) <= EXACT * max);
        }
        return;
    }
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
        ALIGNED sinew_real k[WIDTH_MAX];
        sinew_reduced_kernel kernel = {.groups = groups_of(s), .x = s->x};
        kernel.weights = k;
        kernel.stretch_low = ends[e][0];
        kernel.stretch_high = ends[e][1];
        s->ops->stiffness(&kernel);
        for (int lane = 0; lane<s->W; lane += s->W> 1 ? s->W - 1 : 1) {
            const double expected = fitted_stiffness(s, lane, ends[e][0], ends[e][1]);
            HOLDS(s, lane, fabs((double)k[lane] - expected) <= 2e-4 * expected);
        }
    }
}

static void stiffness_is_exact_or_fitted(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_REDUCE, check_stiffness);
}

/* ---- Project --------------------------------------------------------------------------------- */

/* Brute force: no random member of the set is nearer than p. */
static void check_nearest(const sample *s, int lane, const double *z, const double *p, uint32_t *seed)
{
    double apart[Z_MAX], other[Z_MAX];
    for (int i = 0; i < 3 * s->R; i++)
        apart[i] = z[i] - p[i];
    const bool turns = has_whole_F(s) || s->is_surface; /* these sets contain the rotations */
    const double nearest = norm_of(apart, 3 * s->R), length = norm_of(p, 3);
    if (!turns && s->n != 2) /* test_set_energies.c covers further sets */
        return;
    for (int trial = 0; trial < 200; trial++) {
        if (turns)
            turn(seed, other);
        else
            for (int c = 0; c < 3; c++)
                other[c] = next_random(seed);
        const double scale = s->n == 2 ? length / norm_of(other, 3) : 1;
        for (int i = 0; i < 3 * s->R; i++)
            apart[i] = z[i] - scale * other[i];
        HOLDS(s, lane, norm_of(apart, 3 * s->R) >= nearest * (1 - 10 * EXACT));
    }
    if (s->n == 2)
        HOLDS(s, lane, fabs(length - length_of(s, lane)) <= 10 * EXACT * length);
    if (s->kind == SINEW_ENERGY_STRAIN || s->kind == SINEW_ENERGY_STRAIN_LIMIT) {
        double C[9]; /* a rotation is its own cofactor matrix */
        reference_cofactor(p, C);
        for (int i = 0; i < 9; i++)
            HOLDS(s, lane, fabs(C[i] - p[i]) <= 20 * EXACT);
    }
}

static void check_project_state(sample *s, state which, uint32_t *seed)
{
    double z[WIDTH_MAX][Z_MAX], p[Z_MAX], slope[Z_MAX], y[Z_MAX];
    ALIGNED sinew_real g[4 * VERTEX_MAX * WIDTH_MAX] = {0};
    for (int lane = 0; lane < s->W; lane++) {
        make_z(s, which, seed, z[lane]);
        set_reduced(s, lane, z[lane]);
    }
    sinew_reduced_kernel kernel = {.groups = groups_of(s), .x = s->x};
    kernel.g = g;
    s->ops->local_project(&kernel);
    for (int lane = 0; lane < s->W; lane++) {
        const int m = 3 * s->R;
        const double k = s->k[lane];
        double apart[Z_MAX];
        lift(s, lane, g, p);
        for (int i = 0; i < m; i++) {
            p[i] /= k;
            apart[i] = z[lane][i] - p[i];
        }
        const double psi = psi_at(s, lane, z[lane], slope), scale = k * (1 + norm_of(z[lane], m));
        for (int i = 0; i < m; i++)
            HOLDS(s, lane, fabs(slope[i] - k * apart[i]) <= 20 * EXACT * scale);
        if (s->kind != SINEW_ENERGY_WEAK) {
            HOLDS(s, lane, fabs(psi - k / 2 * norm_of(apart, m) * norm_of(apart, m)) <= 20 * EXACT * scale);
            if (s->kind != SINEW_ENERGY_POSITION)
                check_nearest(s, lane, z[lane], p, seed);
            else
                HOLDS(s, lane, norm_of(p, 3) > 0 && fabs(p[0] - s->target[lane][0]) <= EXACT);
        }
        /* psi(y) <= psi(z) + psi'(z) (y - z) + k/2 |y - z|^2: therefore PD never increases the objective */
        for (int trial = 0; trial < 100; trial++) {
            double bound = psi;
            for (int i = 0; i < m; i++) {
                const double d = next_random(seed) * (trial % 2 ? 1 : 0.1);
                y[i] = z[lane][i] + d;
                bound += k * apart[i] * d + k / 2 * d * d;
            }
            HOLDS(s, lane, psi_at(s, lane, y, NULL) <= bound + 20 * EXACT * scale);
        }
    }
}

static void check_project(sample *s, uint32_t *seed)
{
    for (int which = 0; which < STATE_COUNT; which++)
        if (s->n != 8 && which == POINT)
            continue; /* the nearest member of the set is not unique */
        else
            check_project_state(s, (state)which, seed);
}

static void projection_is_nearest_point(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_PROJECT, check_project);
}

/* ---- Prox ------------------------------------------------------------------------------------ */

/* psi(z) + w2/2 |z - v|^2 */
static double prox_objective(sample *s, int lane, const double *z, const double *v, double w2, double *gradient)
{
    double slope[Z_MAX], distance = 0;
    const double psi = psi_at(s, lane, z, slope);
    for (int i = 0; i < 3 * s->R; i++) {
        distance += (z[i] - v[i]) * (z[i] - v[i]);
        if (gradient)
            gradient[i] = slope[i] + w2 * (z[i] - v[i]);
    }
    return psi + w2 / 2 * distance;
}

static void check_prox_wide(sample *s, int lane, state which, const double *z, const double *v, double w2,
                            uint32_t *seed)
{
    const int m = 3 * s->R;
    double gradient[Z_MAX], y[Z_MAX];
    const double value = prox_objective(s, lane, z, v, w2, gradient);
    const double size = 1 + norm_of(v, m), force = (w2 + s->k[lane]) * size, scale = force * size;
    if (!(norm_of(gradient, m) <= STATIONARY * force))
        fail_msg("%s, %s (width %d, lane %d): gradient %g of %g", NAME(s), state_names[which], s->W, lane,
                 norm_of(gradient, m), force);
    if (s->kind == SINEW_ENERGY_NEO_HOOKEAN_LOG)
        HOLDS(s, lane, reference_det(z) > 0);
    HOLDS(s, lane, !(prox_objective(s, lane, v, v, w2, NULL) < value - LOWER * scale));
    for (int trial = 0; trial < 60; trial++) {
        const double reach = pow(10, -4 + trial % 3) * size; /* small, since two minima may be further apart */
        for (int i = 0; i < m; i++)
            y[i] = z[i] + reach * next_random(seed);
        if (prox_objective(s, lane, y, v, w2, NULL) < value - LOWER * scale)
            fail_msg("%s, %s (width %d, lane %d): lower by %g at a distance of %g", NAME(s), state_names[which], s->W,
                     lane, (value - prox_objective(s, lane, y, v, w2, NULL)) / scale, reach);
    }
}

/* The index in u of coordinate i of z: u stores F row-major, z column-major. */
static int dual_of(const sample *s, int i)
{
    return s->R * (i % 3) + i / 3;
}

static void check_prox_state(sample *s, state which, double factor, uint32_t *seed)
{
    const int m = 3 * s->R;
    double v[WIDTH_MAX][Z_MAX], Dx[WIDTH_MAX][Z_MAX], z[Z_MAX], out[Z_MAX];
    ALIGNED sinew_real w2[WIDTH_MAX], u[Z_MAX * WIDTH_MAX], g[4 * VERTEX_MAX * WIDTH_MAX] = {0};
    for (int lane = 0; lane < s->W; lane++) {
        double start[Z_MAX];
        make_z(s, TURNED, seed, start);
        make_z(s, which, seed, v[lane]);
        set_reduced(s, lane, start);
        get_reduced(s, lane, Dx[lane]);
        w2[lane] = (sinew_real)(factor * s->k[lane]);
        for (int i = 0; i < m; i++)
            u[dual_of(s, i) * s->W + lane] = (sinew_real)(v[lane][i] - Dx[lane][i]);
    }
    sinew_reduced_kernel kernel = {.groups = groups_of(s), .x = s->x};
    kernel.weights = w2;
    kernel.u = u;
    kernel.g = g;
    s->ops->local_prox(&kernel);
    for (int lane = 0; lane < s->W; lane++) {
        lift(s, lane, g, out);
        for (int i = 0; i < m; i++) {
            const double dual = (double)u[dual_of(s, i) * s->W + lane];
            z[i] = v[lane][i] - dual;
            /* g = w2 D^T (z - u - D x) */
            const double expected = (double)w2[lane] * (z[i] - dual - Dx[lane][i]);
            HOLDS(s, lane, fabs(out[i] - expected) <= 20 * EXACT * (double)w2[lane] * (2 + norm_of(v[lane], m)));
        }
        check_prox_wide(s, lane, which, z, v[lane], (double)w2[lane], seed);
    }
}

/* Rubber with a volume term that stays finite at J = 0 has no stationary point there: the minimum is at the boundary.
 */
static bool has_prox(const sample *s, int which)
{
    return which != POINT || s->kind != SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC;
}

static void check_prox(sample *s, uint32_t *seed)
{
    for (int which = 0; which < STATE_COUNT; which++)
        for (double factor = 0.1; factor < 20 && has_prox(s, which); factor *= 10)
            check_prox_state(s, (state)which, factor, seed);
}

static void prox_is_minimal(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_PROX, check_prox);
}

/* ---- Constrain ------------------------------------------------------------------------------- */

/* C = sqrt(2 alpha (psi + offset)) and its gradient over the vertices of one lane, computed from psi. Springs are
 * stretched. */
typedef struct constraint {
    double C, alpha;
    double gradient[3 * VERTEX_MAX];
} constraint;

static double alpha_of(const sample *s, int lane)
{
    if (s->n == 8)
        return 1 / fmax((double)s->parameters[lane][0], (double)s->parameters[lane][1]);
    return 1 / (double)s->data[lane];
}

/* The term under the root of soft, combined constraints: thesis (4.32) with l = lambda + mu, J. */
static double offset_of(const sample *s, int lane)
{
    if (s->kind != SINEW_ENERGY_NEO_HOOKEAN)
        return 0;
    const double E = (double)s->parameters[lane][0], nu = (double)s->parameters[lane][1];
    const double mu = E / (2 * (1 + nu)), l = E * nu / ((1 + nu) * (1 - 2 * nu)) + mu;
    return s->volume[lane] * (1.5 * mu + mu * mu / (2 * l));
}

static constraint by_hand(sample *s, int lane, const sinew_real *xw, bool combined)
{
    constraint c = {.alpha = alpha_of(s, lane)};
    ALIGNED sinew_real kept[WIDTH_MAX], g[4 * VERTEX_MAX * WIDTH_MAX] = {0};
    memcpy(kept, s->data, sizeof kept[0] * (size_t)s->W);
    for (int other = 0; other < s->W; other++)
        s->data[other] = other == lane ? kept[lane] : 0;
    sinew_kernel kernel = {.groups = groups_of(s), .x = s->x};
    kernel.x = xw;
    kernel.g = g;
    const double psi = s->ops->gradient(&kernel);
    memcpy(s->data, kept, sizeof kept[0] * (size_t)s->W);
    c.C = sqrt(fmax(2 * c.alpha * (psi + (combined ? offset_of(s, lane) : 0)), 0));
    for (int a = 0; a < s->n; a++)
        for (int i = 0; i < 3; i++)
            c.gradient[3 * a + i] = c.alpha * (double)g[4 * (lane * s->n + a) + i] / c.C;
    return c;
}

/* The options of an update. */
typedef struct projection {
    const char *name;
    double compliance, stiffness, damping, share;
    int passes;
    bool pinned; /* whether the first vertex is pinned */
    bool far;    /* so far from rest that squared forces overflow */
    bool combined;
} projection;

#ifdef SINEW_SINGLE
#define FAR       3e4
#define UNDEFINED 1e30
#else
#define FAR       1e40
#define UNDEFINED 1e200
#endif

static const projection projections[] = {
    {"hard", 0, 1, 0, 1, 1, false, false, false},
    {"hard, half", 0, 0.5, 0, 1, 1, false, false, false},
    {"soft", 3e3, 1, 0, 1, 1, false, false, false},
    {"soft twice", 3e3, 1, 0, 1, 2, false, false, false},
    {"soft, damped", 3e3, 1, 40, 1, 2, false, false, false},
    {"soft, a share", 3e3, 1, 0, 0.25, 2, false, false, false},
    {"soft, pinned", 3e3, 1, 0, 1, 2, true, false, false},
    {"hard, far", 0, 1, 0, 1, 1, false, true, false},
    {"soft, far", 3e3, 1, 0, 1, 1, false, true, false},
    {"soft, damped, far", 3e3, 1, 40, 1, 1, false, true, false},
    {"soft, combined", 3e3, 1, 0, 1, 2, false, false, true},
    {"soft, damped, far, combined", 3e3, 1, 40, 1, 1, false, true, true},
};

/* Thesis (4.27), (4.28), XPBD (26), on one lane of xw. */
static void project_by_hand(sample *s, const projection *how, int lane, const sinew_real *x_old, double *lambda,
                            sinew_real *xw)
{
    const constraint c = by_hand(s, lane, xw, how->combined && how->compliance > 0);
    const double tilde = c.alpha * how->compliance, gamma = c.alpha * how->damping;
    double S = 0, motion = 0;
    for (int a = 0; a < s->n; a++)
        for (int i = 0; i < 3; i++) {
            const size_t at = 4 * (size_t)(lane * s->n + a);
            S += (double)xw[at + 3] * c.gradient[3 * a + i] * c.gradient[3 * a + i];
            motion += c.gradient[3 * a + i] * ((double)xw[at + (size_t)i] - (double)x_old[at + (size_t)i]);
        }
    const double change =
        how->stiffness * how->share * (-c.C - tilde * *lambda - gamma * motion) / ((1 + gamma) * S + tilde);
    *lambda += change;
    for (int a = 0; a < s->n; a++)
        for (int i = 0; i < 3; i++) {
            const size_t at = 4 * (size_t)(lane * s->n + a);
            xw[at + (size_t)i] =
                (sinew_real)((double)xw[at + (size_t)i] + (double)xw[at + 3] * c.gradient[3 * a + i] * change);
        }
}

static void make_constrained(sample *s, uint32_t *seed, sinew_real *xw, bool pinned, double scale)
{
    static const double corner[12] = {0, 0, 0, 1.3, 0, 0, 0, 1.1, 0, 0, 0, 0.9};
    scale *= s->n == 4 && s->R == 1 ? 3 : 1; /* fibres are stretched like springs */
    for (int lane = 0; lane < s->W; lane++)
        for (int a = 0; a < s->n; a++) {
            const size_t at = 4 * (size_t)(lane * s->n + a);
            for (int i = 0; i < 3; i++)
                xw[at + (size_t)i] = (sinew_real)(scale * ((s->n == 4 || s->is_surface ? corner[3 * a + i]
                                                            : s->n == 2                ? (a ? 3 : 0)
                                                                                       : 0) +
                                                           0.2 * next_random(seed)));
            xw[at + 3] = pinned && a == 0 ? 0 : (sinew_real)(1e-3 * (1.5 + next_random(seed)));
        }
}

static void check_projection(sample *s, const projection *how, uint32_t *seed)
{
    enum {
        SIZE = 4 * VERTEX_MAX * WIDTH_MAX
    };
    ALIGNED sinew_real xw[SIZE], hand[SIZE], x_old[SIZE], dx[SIZE] = {0}, lambda[CONSTRAINT_MAX * WIDTH_MAX] = {0},
                                                          share[WIDTH_MAX];
    double multiplier[WIDTH_MAX] = {0};
    const double scale = how->far ? FAR : 1;
    if (how->pinned && s->n == 1)
        return;
    make_constrained(s, seed, xw, how->pinned, scale);
    memcpy(hand, xw, sizeof hand);
    for (int i = 0; i < SIZE; i++)
        x_old[i] = i < 4 * s->n * s->W ? xw[i] - (sinew_real)(scale * 0.01 * (i % 3)) : 0;
    for (int lane = 0; lane < s->W; lane++)
        share[lane] = (sinew_real)how->share;
    sinew_constrain_kernel kernel = {.groups = groups_of(s)};
    kernel.xw = xw;
    kernel.lambda = lambda;
    kernel.form = how->combined ? SINEW_FORM_COMBINED : SINEW_FORM_ROOT;
    kernel.compliance = (sinew_real)how->compliance;
    kernel.stiffness = (sinew_real)how->stiffness;
    kernel.damping = (sinew_real)how->damping;
    kernel.x_old = how->damping > 0 ? x_old : NULL;
    kernel.averaging_weight = how->share < 1 ? share : NULL;
    kernel.dx = how->share < 1 ? dx : NULL;
    for (int pass = 0; pass < how->passes; pass++) {
        s->ops->constrain(&kernel);
        for (int i = 0; kernel.dx && i < 4 * s->n * s->W; i++) {
            xw[i] += dx[i];
            dx[i] = 0;
        }
        for (int lane = 0; lane < s->W; lane++)
            project_by_hand(s, how, lane, x_old, &multiplier[lane], hand);
    }
    for (int lane = 0; lane < s->W; lane++) {
        for (int i = 4 * s->n * lane; i < 4 * s->n * (lane + 1); i++)
            if (!(fabs((double)xw[i] - (double)hand[i]) <= 100 * scale * EXACT))
                fail_msg("%s, %s (width %d, lane %d): %g and not %g", NAME(s), how->name, s->W, lane, (double)xw[i],
                         (double)hand[i]);
        const double got = (double)lambda[lane];
        HOLDS(s, lane, fabs(got - multiplier[lane]) <= 1000 * EXACT * fabs(multiplier[lane]));
    }
}

/* Energies with several constraints that add up to psi; test_jacobian.c has their formulas. */
static bool has_parts(const sample *s)
{
    return s->ops->constraint_count > 2;
}

static void check_constrain(sample *s, uint32_t *seed)
{
    if (has_parts(s))
        return;
    for (size_t i = 0; i < sizeof projections / sizeof projections[0]; i++)
        check_projection(s, &projections[i], seed);
}

static void constraints_follow_the_formula(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_CONSTRAINT, check_constrain);
}

/* Hard: one projection of a spring gives its rest length, of a position its target. C = psi: (4.5) with C = E. */
static void check_hard(sample *s, uint32_t *seed)
{
    ALIGNED sinew_real xw[4 * VERTEX_MAX * WIDTH_MAX] = {0}, hand[4 * VERTEX_MAX * WIDTH_MAX],
                                           lambda[CONSTRAINT_MAX * WIDTH_MAX] = {0};
    if (has_parts(s))
        return;
    sinew_constrain_kernel kernel = {.groups = groups_of(s)};
    kernel.xw = xw;
    kernel.lambda = lambda;
    kernel.stiffness = 1;
    make_constrained(s, seed, xw, false, 1);
    s->ops->constrain(&kernel);
    for (int lane = 0; lane < s->W && s->n <= 2; lane++)
        HOLDS(s, lane, by_hand(s, lane, xw, false).C <= 1e3 * EXACT);
    make_constrained(s, seed, xw, false, 1);
    memcpy(hand, xw, sizeof hand);
    kernel.form = SINEW_FORM_ENERGY;
    s->ops->constrain(&kernel);
    for (int lane = 0; lane < s->W; lane++) {
        /* grad psi = C grad C / alpha, so dx = -w psi grad psi / sum w |grad psi|^2 */
        const constraint c = by_hand(s, lane, hand, false);
        double S = 0;
        for (int i = 0; i < 3 * s->n; i++)
            S += (double)hand[4 * (lane * s->n + i / 3) + 3] * c.C * c.C * c.gradient[i] * c.gradient[i];
        for (int i = 0; i < 3 * s->n; i++) {
            const size_t at = 4 * (size_t)(lane * s->n + i / 3);
            const double dx = -(double)hand[at + 3] * c.C * c.C / 2 * c.C * c.gradient[i] / S;
            HOLDS(s, lane,
                  fabs((double)xw[at + (size_t)(i % 3)] - (double)hand[at + (size_t)(i % 3)] - dx) <= 100 * EXACT);
        }
    }
}

static void hard_constraints_are_met(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_CONSTRAINT, check_hard);
}

/* Thesis (4.34), (4.35): C_D^2 / (2 alpha_D) + C_H^2 / (2 alpha_H) = psi + offset, one after the other. */
static void split_wide(const sample *s, int lane, bool hard, double compliance, double lambda[2], double *x,
                       const double *w)
{
    const double E = (double)s->parameters[lane][0], nu = (double)s->parameters[lane][1];
    const double mu = E / (2 * (1 + nu)), l = E * nu / ((1 + nu) * (1 - 2 * nu)) + mu;
    for (int part = 0; part < 2; part++) {
        double F[9], P[9], z[9] = {0}, gradient[12] = {0}, S = 0;
        for (int r = 0; r < 3; r++)
            for (int a = 0; a < 4; a++)
                for (int c = 0; c < 3; c++)
                    z[3 * c + r] += s->D[lane][r][a] * x[3 * a + c];
        memcpy(F, z, sizeof F);
        const double size = sqrt(reference_norm2(F)), J = reference_det(F);
        reference_cofactor(F, P);
        for (int i = 0; part == 0 && i < 9; i++)
            P[i] = F[i] / size;
        const double C = part == 0 ? size : J - 1 - (hard ? 0 : mu / l);
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 3; c++) {
                for (int r = 0; r < 3; r++)
                    gradient[3 * a + c] += P[3 * c + r] * s->D[lane][r][a];
                S += w[a] * gradient[3 * a + c] * gradient[3 * a + c];
            }
        const double tilde = part && hard ? 0 : compliance / ((part ? l : mu) * s->volume[lane]);
        const double change = (-C - tilde * lambda[part]) / (S + tilde);
        lambda[part] += change;
        for (int i = 0; i < 12; i++)
            x[i] += w[i / 3] * gradient[i] * change;
    }
}

static void check_split(sample *s, uint32_t *seed)
{
    if (s->kind != SINEW_ENERGY_NEO_HOOKEAN)
        return;
    for (int hard = 0; hard < 2; hard++) {
        ALIGNED sinew_real xw[4 * VERTEX_MAX * WIDTH_MAX] = {0}, lambda[CONSTRAINT_MAX * WIDTH_MAX] = {0};
        double x[WIDTH_MAX][12], w[WIDTH_MAX][4], expected[WIDTH_MAX][2] = {{0}};
        make_constrained(s, seed, xw, false, 1);
        for (int lane = 0; lane < s->W; lane++)
            for (int i = 0; i < 12; i++) {
                x[lane][i] = (double)xw[4 * (4 * lane + i / 3) + i % 3];
                w[lane][i / 3] = (double)xw[4 * (4 * lane + i / 3) + 3];
            }
        sinew_constrain_kernel kernel = {.groups = groups_of(s)};
        kernel.xw = xw;
        kernel.lambda = lambda;
        kernel.stiffness = 1;
        kernel.compliance = 3000;
        kernel.form = hard ? SINEW_FORM_INCOMPRESSIBLE : SINEW_FORM_SPLIT;
        for (int pass = 0; pass < 2; pass++) {
            s->ops->constrain(&kernel);
            for (int lane = 0; lane < s->W; lane++)
                split_wide(s, lane, hard, 3000, expected[lane], x[lane], w[lane]);
        }
        for (int lane = 0; lane < s->W; lane++)
            for (int i = 0; i < 12; i++)
                HOLDS(s, lane, fabs((double)xw[4 * (4 * lane + i / 3) + i % 3] - x[lane][i]) <= 100 * EXACT);
    }
}

static void split_neo_hookean_follows_the_formula(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_CONSTRAINT, check_split);
}

static void constrain_softly(sample *s, sinew_real *xw, sinew_real *lambda)
{
    sinew_constrain_kernel kernel = {.groups = groups_of(s)};
    kernel.xw = xw;
    kernel.lambda = lambda;
    kernel.stiffness = 1;
    kernel.compliance = 100;
    s->ops->constrain(&kernel);
}

/* Padding elements of a group do nothing, for any positions. */
static void check_filler(sample *s, uint32_t *seed)
{
    ALIGNED sinew_real xw[4 * VERTEX_MAX * WIDTH_MAX] = {0}, before[4 * VERTEX_MAX * WIDTH_MAX],
                                           lambda[CONSTRAINT_MAX * WIDTH_MAX] = {0};
    make_constrained(s, seed, xw, false, 1);
    memcpy(before, xw, sizeof before);
    for (int lane = 0; lane < s->W; lane++)
        s->data[lane] = 0;
    constrain_softly(s, xw, lambda);
    assert_memory_equal(xw, before, sizeof xw);
}

/* Padding elements that repeat the first element do not change its motion. */
static void check_repeated(sample *s, uint32_t *seed)
{
    ALIGNED sinew_real alone[4 * VERTEX_MAX * WIDTH_MAX] = {0}, xw[4 * VERTEX_MAX * WIDTH_MAX],
                                              lambda[2][CONSTRAINT_MAX * WIDTH_MAX] = {0};
    make_constrained(s, seed, alone, false, 1);
    memcpy(xw, alone, sizeof xw);
    constrain_softly(s, alone, lambda[0]);
    for (int row = 0; row < s->n; row++)
        for (int lane = 1; lane < s->W; lane++)
            s->vertex[row * s->W + lane] = s->vertex[row * s->W];
    for (int row = 0; row < s->ops->data_count; row++)
        for (int lane = 1; lane < s->W; lane++)
            s->data[row * s->W + lane] = row == 0 ? 0 : s->data[row * s->W];
    sinew_real before[4];
    memcpy(before, xw + s->vertex[0], sizeof before);
    constrain_softly(s, xw, lambda[1]);
    assert_memory_not_equal(xw + s->vertex[0], before, sizeof before);
    for (int a = 0; a < s->n; a++)
        assert_memory_equal(xw + s->vertex[a * s->W], alone + s->vertex[a * s->W], 4 * sizeof xw[0]);
    HOLDS(s, 0, lambda[0][0] == lambda[1][0]);
}

/* A constraint whose energy is NaN does nothing and has no force; nor does a satisfied one. */
static void check_nothing(sample *s, uint32_t *seed)
{
    ALIGNED sinew_real xw[4 * VERTEX_MAX * WIDTH_MAX] = {0}, before[4 * VERTEX_MAX * WIDTH_MAX],
                                           lambda[CONSTRAINT_MAX * WIDTH_MAX] = {0};
    if (s->n != 4 && s->kind != SINEW_ENERGY_POSITION)
        return;
    make_constrained(s, seed, xw, false, UNDEFINED);
    for (int lane = 0; lane < s->W; lane++) {
        for (int i = 0; i < 3 && s->n == 1; i++)
            xw[4 * lane + i] = s->data[(s->ops->target_slot + i) * s->W + lane];
        lambda[lane] = 5;
    }
    memcpy(before, xw, sizeof before);
    constrain_softly(s, xw, lambda);
    assert_memory_equal(xw, before, sizeof xw);
    for (int lane = 0; lane < s->W; lane++)
        HOLDS(s, lane, lambda[lane] == 0);
}

static void nothing_to_go_by_is_no_force(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_CONSTRAINT, check_nothing);
}

static void fillers_do_nothing(void **unused)
{
    (void)unused;
    for_samples(SINEW_CAN_CONSTRAINT, check_filler);
    for_samples(SINEW_CAN_CONSTRAINT, check_repeated);
}

/* ---- A correction to the thesis -------------------------------------------------------------------- */

/* Section 4.1.6 calls the energy with logarithms (3.14) unbounded from below and therefore unfit for XPBD. It is
 * bounded for lambda >= 0: |F|^2 >= 3 J^(2/3) >= 3 + 2 log J gives mu/2 (|F|^2 - 3) - mu log J >= 0, with equality at
 * rotations only. */
static void log_energy_is_bounded_from_below(void **unused)
{
    (void)unused;
    uint32_t seed = 3;
    static sample s;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    double min = HUGE_VAL;
    make_sample(&s, variants[0], SINEW_ENERGY_NEO_HOOKEAN_LOG, &seed);
    for (int trial = 0; trial < 20000; trial++) {
        double F[9];
        const double size = pow(10, 3 * next_random(&seed));
        for (int i = 0; i < 9; i++)
            F[i] = size * next_random(&seed) + (trial % 2 && i % 4 == 0 ? 1 : 0);
        if (reference_det(F) <= 0)
            continue;
        min = fmin(min, psi_at(&s, trial % s.W, F, NULL) / s.k[trial % s.W]);
    }
    assert_true(min >= 0);
    const double rest[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int lane = 0; lane < s.W; lane++)
        assert_true(fabs(psi_at(&s, lane, rest, NULL)) <= EXACT * s.k[lane]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduction_is_linear_map_of_rest_shape), cmocka_unit_test(stiffness_is_exact_or_fitted),
        cmocka_unit_test(projection_is_nearest_point),           cmocka_unit_test(prox_is_minimal),
        cmocka_unit_test(constraints_follow_the_formula),        cmocka_unit_test(hard_constraints_are_met),
        cmocka_unit_test(split_neo_hookean_follows_the_formula), cmocka_unit_test(fillers_do_nothing),
        cmocka_unit_test(nothing_to_go_by_is_no_force),          cmocka_unit_test(log_energy_is_bounded_from_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
