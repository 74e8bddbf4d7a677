/* SPDX-License-Identifier: MIT
 *
 * test_vertex_layout.c: vertex kernels of every energy, SIMD variant and state: gradient and block against the
 * element's own, differences of the value, and the bounds that blocks declare. Also the layout of incidences: colours
 * against brute force, every node with each of its elements once.
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "energy_batch.h"
#include "mesh/topology.h"
#include "solve/vertex_sweep/vertex_layout.h"

#define NOISE_MAX 1000
#ifdef SINEW_SINGLE
#define TOLERANCE_EXACT 2e-5 /* relative difference of two formulas for the same number */
#define TOLERANCE_FD    2e-3
#define TOLERANCE_BOUND 1e-4
#define STEP            1e-2
#else
#define TOLERANCE_EXACT 1e-11
#define TOLERANCE_FD    1e-7
#define TOLERANCE_BOUND 1e-10
#define STEP            1e-4
#endif

/* ---- One incidence -------------------------------------------------------------------------------- */

/* Vertex `node` of a batch's first element, alone in its group; the other lanes are padding. */
typedef struct single {
    batch b;
    int W, node;
    int32_t first_incidence[2], nodes[16], others[16 * SINEW_STENCIL_MAX];
    sinew_real *data, *sum, *step, *change;
} single;

/* The first number of an incidence is the element's weight, and the others do not depend on it. */
static void assert_weight_apart(const sinew_energy_ops *ops, const sinew_real *data, const int32_t *particles, int node,
                                const sinew_real *out)
{
    sinew_real heavier[SINEW_DATA_MAX], other[SINEW_DATA_MAX] = {0};
    int32_t others[SINEW_STENCIL_MAX];
    memcpy(heavier, data, (size_t)ops->data_count * sizeof *data);
    heavier[0] *= 3;
    ops->incidence(heavier, particles, node, other, others);
    assert_true(out[0] == data[0] && other[0] == heavier[0]);
    assert_memory_equal(out + 1, other + 1, (size_t)(ops->incidence_data_count - 1) * sizeof *out);
}

static single single_make(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const sample *s, int node)
{
    single one = {.b = batch_make(simd, ops, s, 1), .W = simd->width, .node = node, .first_incidence = {0, 1}};
    sinew_real data[SINEW_DATA_MAX], out[SINEW_DATA_MAX] = {0};
    int32_t particles[SINEW_STENCIL_MAX], others[SINEW_STENCIL_MAX];
    const size_t W = (size_t)one.W;
    one.data = batch_array(SINEW_DATA_MAX * W, sizeof(sinew_real));
    one.sum = batch_array(SINEW_VERTEX_SUM * W, sizeof(sinew_real));
    one.step = batch_array(3 * W, sizeof(sinew_real));
    one.change = batch_array(2 * W, sizeof(sinew_real));
    for (int i = 0; i < ops->data_count; i++)
        data[i] = one.b.data[i * one.W];
    for (int a = 0; a < ops->info.vertex_count; a++)
        particles[a] = a;
    ops->incidence(data, particles, node, out, others);
    assert_weight_apart(ops, data, particles, node, out);
    for (int l = 0; l < one.W; l++) {
        one.nodes[l] = SINEW_POINT * node;
        for (int i = 0; i < ops->incidence_data_count; i++)
            one.data[i * one.W + l] = i == 0 && l > 0 ? 0 : out[i];
        for (int i = 0; i < ops->other_count; i++)
            one.others[i * one.W + l] = SINEW_POINT * others[i];
    }
    return one;
}

static void single_free(single *one)
{
    batch_free(&one->b);
    free(one->data);
    free(one->sum);
    free(one->step);
    free(one->change);
}

static sinew_vertex_kernel single_kernel(single *one, bool exact)
{
    return (sinew_vertex_kernel){.group_count = 1,
                                 .others = one->others,
                                 .data = one->data,
                                 .x = one->b.x,
                                 .first_incidence = one->first_incidence,
                                 .node = one->nodes,
                                 .exact = exact,
                                 .sum = one->sum,
                                 .step = one->step,
                                 .change = one->change};
}

/* Gradient g[3] and block A[9] of the vertex; padding must add nothing. */
static void single_sum(single *one, bool exact, double g[3], double A[9])
{
    static const int entry[9] = {3, 6, 7, 6, 4, 8, 7, 8, 5};
    const sinew_vertex_kernel kernel = single_kernel(one, exact);
    memset(one->sum, 0, sizeof(sinew_real) * (size_t)(SINEW_VERTEX_SUM * one->W));
    one->b.ops->vertex(&kernel);
    for (int i = 0; i < 3; i++)
        g[i] = (double)one->sum[i * one->W];
    for (int i = 0; i < 9; i++)
        A[i] = (double)one->sum[entry[i] * one->W];
    for (int i = 0; i < SINEW_VERTEX_SUM; i++)
        for (int l = 1; l < one->W; l++)
            assert_true(one->sum[i * one->W + l] == 0);
}

/* psi with the vertex moved by d, less psi, by `vertex_change`. */
static double single_change(single *one, const double d[3], double *noise)
{
    const sinew_vertex_kernel kernel = single_kernel(one, false);
    memset(one->change, 0, sizeof(sinew_real) * (size_t)(2 * one->W));
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < one->W; l++)
            one->step[i * one->W + l] = (sinew_real)d[i];
    one->b.ops->vertex_change(&kernel);
    for (int l = 1; l < one->W; l++)
        assert_true(one->change[l] == 0 && one->change[one->W + l] == 0);
    *noise = (double)one->change[one->W];
    return (double)one->change[0];
}

static void single_move(single *one, const double d[3], double sign)
{
    for (int i = 0; i < 3; i++)
        one->b.x[4 * one->node + i] += (sinew_real)(sign * d[i]);
}

/* ---- Every energy, every variant, every state, every vertex ------------------------------------- */

typedef void single_check(single *one, const state *s, double *worst);

static void for_all(const char *what, double tolerance, single_check *check)
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    double worst = 0;
    int checked = 0;
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
            for (int i = 0; i < STATE_COUNT; i++) {
                const sinew_energy_ops *ops = variants[v]->energies[kind];
                if (!(ops->info.capabilities & SINEW_CAN_VERTEX) || undefined_at(&ops->info, &states[i]))
                    continue;
                for (int node = 0; node < ops->info.vertex_count; node++) {
                    random_state = (uint64_t)(kind * STATE_COUNT + i) + 1;
                    const sample s = sample_make(&ops->info, &states[i]);
                    single one = single_make(variants[v], ops, &s, node);
                    double error = 0;
                    check(&one, &states[i], &error);
                    if (!(error <= tolerance))
                        fail_msg("%s: %s, %s, %s, vertex %d: error %g > %g", what, variants[v]->name, ops->info.name,
                                 states[i].name, node, error, tolerance);
                    worst = fmax(worst, error);
                    checked++;
                    single_free(&one);
                }
            }
    print_message("%-34s %4d cases, worst error %.1e (bound %.0e)\n", what, checked, worst, tolerance);
}

static double size_of(const double *a, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* LAPACK, from OpenBLAS: eigenvalues and eigenvectors of a symmetric matrix. */
extern void dsyev_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *w,
                   double *work, const int *lwork, int *info);

/* out = A with negative eigenvalues set to zero */
static void clamp_block(const double A[9], double out[9])
{
    const int n = 3, capacity = 64;
    double Q[9], w[3], work[64];
    int info;
    memcpy(Q, A, sizeof Q);
    dsyev_("V", "U", &n, Q, &n, w, work, &capacity, &info);
    assert_int_equal(info, 0);
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++)
            out[i] += fmax(w[k], 0) * Q[3 * k + i / 3] * Q[3 * k + i % 3];
    }
}

/* The weight of an element whose Hessian H is zero: within its limits an energy is constant, beyond them it has this
 * scale. */
static double weight_within(const single *one, const double *H)
{
    return size_of(H, one->b.size * one->b.size) == 0 ? fabs((double)one->data[0]) : 0;
}

/* Gradient and exact block equal the element's own; the block as it is or projected to semi-definite. */
static void check_sums(single *one, const state *s, double *worst)
{
    (void)s;
    const sinew_energy_info *info = &one->b.ops->info;
    double g[3], A[9], H[SIZE_MAX3 * SIZE_MAX3], blocks[2][9], all[SIZE_MAX3];
    batch_gradient(&one->b);
    for (int project = 0; project < 2; project++) {
        batch_linearise(&one->b, project);
        batch_hessian(&one->b, 0, H);
        for (int i = 0; i < 9; i++)
            blocks[project][i] = H[(3 * one->node + i / 3) * one->b.size + 3 * one->node + i % 3];
    }
    const double *own = blocks[1];
    for (int i = 0; i < one->b.size; i++)
        all[i] = (double)*batch_at(&one->b, one->b.g, 0, i);
    /* A vertex of small weight has the round-off of the forces whose difference it gets. */
    /* A projected block that is nearly zero has the round-off of the exact one. */
    const double scale = size_of(own, 9) + 0.01 * size_of(blocks[0], 9),
                 force = size_of(all, one->b.size) + size_of(H, one->b.size * one->b.size);
    /* Within its limits an energy is constant; a block may still be a bound. */
    if (force == 0) {
        single_sum(one, true, g, A);
        *worst = fmax(*worst, size_of(g, 3));
        return;
    }
    /* The second pass tests the exact block. */
    for (int exact = 0; exact < 2; exact++) {
        single_sum(one, exact, g, A);
        for (int i = 0; i < 3; i++)
            *worst = fmax(*worst, fabs(g[i] - all[3 * one->node + i]) / force);
    }
    /* A compressed spring's block has a floor; check_bound() tests it. */
    if (info->stencil == SINEW_STENCIL_EDGE)
        return;
    /* Energies whose element Hessians are projected may project the vertex block alone. */
    double apart[3] = {0, 0, 0}, alone[9];
    clamp_block(blocks[0], alone);
    for (int i = 0; i < 18; i++)
        apart[i / 9] = fmax(apart[i / 9], fabs(A[i % 9] - blocks[i / 9][i % 9]) / scale);
    for (int i = 0; i < 9; i++)
        apart[2] = fmax(apart[2], fabs(A[i] - alone[i]) / scale);
    *worst = fmax(*worst, fmin(apart[0], fmin(apart[1], apart[2])));
}

static void sums_are_the_elements_own(void **unused)
{
    (void)unused;
    for_all("gradient and block", TOLERANCE_EXACT, check_sums);
}

/* Differences of psi by vertex_change equal those of `value`, and their slope is the gradient. */
static void check_change(single *one, const state *s, double *worst)
{
    double g[3], A[9], noise;
    double H[SIZE_MAX3 * SIZE_MAX3];
    single_sum(one, true, g, A);
    batch_linearise(&one->b, true);
    batch_hessian(&one->b, 0, H);
    const double before = batch_value(&one->b);
    const double scale = fabs(before) + size_of(g, 3) + size_of(H, one->b.size * one->b.size) + weight_within(one, H);
    for (int k = 0; k < 4; k++) {
        double d[3];
        for (int i = 0; i < 3; i++)
            d[i] = random_in(-0.2, 0.2) * (s->sigma[2] < 0.5 ? 0.2 : 1);
        const double change = single_change(one, d, &noise);
        single_move(one, d, 1);
        const double after = batch_value(&one->b);
        single_move(one, d, -1);
        if (isfinite(after))
            *worst = fmax(*worst, fabs(change - (after - before)) / scale);
    }
    for (int i = 0; i < 3; i++) {
        double f[2];
        for (int side = 0; side < 2; side++) {
            double d[3] = {0, 0, 0};
            d[i] = side ? STEP : -STEP;
            f[side] = single_change(one, d, &noise);
        }
        *worst = fmax(*worst, TOLERANCE_EXACT / TOLERANCE_FD * fabs((f[1] - f[0]) / (2 * STEP) - g[i]) / scale);
    }
}

static void changes_are_differences_of_the_value(void **unused)
{
    (void)unused;
    for_all("change of psi", TOLERANCE_EXACT, check_change);
}

/* The noise of a change is an estimate of round-off: not negative, and at most NOISE_MAX roundings of the numbers that
 * the change is computed from. A larger one would accept steps that raise psi. */
static void check_noise(single *one, const state *s, double *worst)
{
    double g[3], A[9], H[SIZE_MAX3 * SIZE_MAX3];
    single_sum(one, true, g, A);
    batch_linearise(&one->b, true);
    batch_hessian(&one->b, 0, H);
    const double before = batch_value(&one->b), epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    const double scale = fabs(before) + size_of(g, 3) + size_of(H, one->b.size * one->b.size) + weight_within(one, H);
    for (int k = 0; k < 8; k++) {
        double d[3], noise;
        for (int i = 0; i < 3; i++)
            d[i] = random_in(-0.2, 0.2) * (s->sigma[2] < 0.5 ? 0.2 : 1);
        const double change = single_change(one, d, &noise);
        if (!isfinite(change))
            continue;
        assert_true(noise >= 0);
        *worst = fmax(*worst, noise / (epsilon * (scale + fabs(change))));
    }
}

static void noise_is_round_off(void **unused)
{
    (void)unused;
    for_all("noise of a change, in roundings", NOISE_MAX, check_noise);
}

/* psi(x + d) <= psi(x) + g . d + 1/2 d^T A d for steps of every size if the energy declares this bound; and every block
 * is positive semi-definite. */
static void check_bound(single *one, const state *s, double *worst)
{
    (void)s;
    for (int exact = 0; exact < 2; exact++) {
        const bool bound = one->b.ops->vertex_bounds & (exact ? SINEW_BOUND_EXACT : SINEW_BOUND_CHEAP);
        double g[3], A[9];
        single_sum(one, exact, g, A);
        /* No block: linear in the vertex, or constant within limits. */
        const double linear_scale = size_of(g, 3) > 0 ? size_of(g, 3) : fabs((double)one->data[0]);
        const double scale = size_of(A, 9) > 0 ? size_of(A, 9) : linear_scale;
        for (int k = 0; k < 24; k++) {
            const double length = pow(10, -2 + k % 4); /* elements are about 1 m large */
            double d[3], noise, linear = 0, square = 0;
            for (int i = 0; i < 3; i++)
                d[i] = random_in(-length, length);
            for (int i = 0; i < 9; i++)
                square += 0.5 * d[i / 3] * A[i] * d[i % 3];
            for (int i = 0; i < 3; i++)
                linear += g[i] * d[i];
            const double size = scale * (1 + length * length);
            *worst = fmax(*worst, -square / size);
            if (bound)
                *worst = fmax(*worst, (single_change(one, d, &noise) - linear - square) / size);
        }
    }
}

static void bounds_are_bounds(void **unused)
{
    (void)unused;
    for_all("bounds", TOLERANCE_BOUND, check_bound);
}

/* The same checks with parameters that are not the defaults, except bounds: they are divided by the block, which is
 * mere round-off where a membrane is squashed. */
static void parameters_are_used(void **unused)
{
    (void)unused;
    sample_draws_all = true;
    for_all("drawn: gradient and block", TOLERANCE_EXACT, check_sums);
    for_all("drawn: change of psi", TOLERANCE_EXACT, check_change);
    for_all("drawn: noise", NOISE_MAX, check_noise);
    sample_draws_all = false;
}

/* ---- Recolouring -------------------------------------------------------------------------------- */

static const sinew_allocator hooks = {0};

static void assert_no_conflict(const sinew_elements *list, const int32_t *colours)
{
    for (int32_t e = 0; e < list->count; e++)
        for (int32_t i = 0; i < list->size; i++)
            for (int32_t j = 0; j < i; j++) {
                const int32_t a = list->vertices[e * list->size + i], b = list->vertices[e * list->size + j];
                assert_true(a == b || colours[a] != colours[b]);
            }
}

/* The block keeps four colours in any numbering; pairs between distant vertices change only the colours of their own
 * vertices, and only if necessary. */
static void recolouring_touches_only_what_changed(void **unused)
{
    (void)unused;
    enum {
        PAIRS = 40
    };
    const sinew_allocator system = sinew_allocator_or_system(&hooks);
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = 9;
    sinew_mesh *mesh = sinew_mesh_box(&box, NULL);
    const int32_t n = sinew_mesh_vertex_count(mesh), tets = sinew_mesh_tet_count(mesh);
    int32_t *shuffled = malloc((size_t)tets * 4 * sizeof *shuffled), *number = malloc((size_t)n * sizeof *number);
    int32_t *before = malloc((size_t)n * sizeof *before), *after = malloc((size_t)n * sizeof *after);
    random_state = 7;
    for (int32_t i = 0; i < n; i++)
        number[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        const int32_t j = (int32_t)random_in(0, i + 1), kept = number[i];
        number[i] = number[j];
        number[j] = kept;
    }
    for (int32_t i = 0; i < 4 * tets; i++)
        shuffled[i] = number[sinew_mesh_tets(mesh)[i]];
    const sinew_elements list = {shuffled, tets, 4};
    int32_t count, pairs[8 * PAIRS], changed = 0, kept = 0;
    assert_int_equal(sinew_colour_vertices(&system, n, &list, 1, before, &count, NULL), SINEW_OK);
    assert_int_equal(count, 4);
    assert_no_conflict(&list, before);
    bool *touched = calloc((size_t)n, sizeof *touched);
    for (int i = 0; i < 8 * PAIRS; i++) {
        pairs[i] = (int32_t)random_in(0, n);
        touched[pairs[i]] = true;
    }
    const sinew_elements added = {pairs, PAIRS, 8};
    memcpy(after, before, (size_t)n * sizeof *after);
    assert_int_equal(sinew_recolour_vertices(&system, n, &list, 1, &added, after, &count, NULL), SINEW_OK);
    assert_no_conflict(&list, after);
    assert_no_conflict(&added, after);
    for (int32_t i = 0; i < n; i++) {
        assert_true(touched[i] || after[i] == before[i]);
        assert_in_range(after[i], 0, count - 1);
        changed += after[i] != before[i];
        kept += touched[i] && after[i] == before[i];
    }
    print_message("recolouring: %d pairs, %d of %d vertices changed, %d touched ones kept theirs, %d colours\n", PAIRS,
                  changed, n, kept, count);
    assert_true(kept > 0 && changed > 0);
    /* A second recolouring changes nothing. */
    memcpy(before, after, (size_t)n * sizeof *after);
    assert_int_equal(sinew_recolour_vertices(&system, n, &list, 1, &added, after, &count, NULL), SINEW_OK);
    assert_memory_equal(before, after, (size_t)n * sizeof *after);
    free(shuffled);
    free(number);
    free(before);
    free(after);
    free(touched);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_elements_own), cmocka_unit_test(changes_are_differences_of_the_value),
        cmocka_unit_test(bounds_are_bounds),         cmocka_unit_test(noise_is_round_off),
        cmocka_unit_test(parameters_are_used),       cmocka_unit_test(recolouring_touches_only_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
