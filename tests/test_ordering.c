/* SPDX-License-Identifier: MIT
 *
 * test_ordering.c: orders of elimination: each is a permutation, the same every time; fill against minimum degree and
 * against METIS, which CHOLMOD can call and the library does not; factors of random matrices against their products.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "energy/energy.h"
#include "linear/ordering/ordering.h"
#include "linear/factor/supernodal.h"
#include "mesh/topology.h"
#include "random_cases.h"

typedef struct problem {
    int32_t count;
    sinew_real *points; /* [count][4], or NULL */
    cholmod_sparse *lower;
    cholmod_common common;
} problem;

/* Pairs (higher, lower) of vertices, each once; the diagonal comes by itself. */
static problem from_pairs(int32_t count, const int32_t *pairs, size_t pair_count)
{
    problem p = {.count = count};
    cholmod_l_start(&p.common);
    p.common.supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_triplet *t = cholmod_l_allocate_triplet((size_t)count, (size_t)count, pair_count + (size_t)count, -1,
                                                    CHOLMOD_REAL, &p.common);
    for (size_t k = 0; k < pair_count + (size_t)count; k++) {
        const size_t diagonal = k - pair_count;
        const int32_t a = k < pair_count ? pairs[2 * k] : (int32_t)diagonal;
        const int32_t b = k < pair_count ? pairs[2 * k + 1] : (int32_t)diagonal;
        ((SuiteSparse_long *)t->i)[k] = a > b ? a : b;
        ((SuiteSparse_long *)t->j)[k] = a > b ? b : a;
        ((double *)t->x)[k] = 1;
    }
    t->nnz = pair_count + (size_t)count;
    p.lower = cholmod_l_triplet_to_sparse(t, 0, &p.common);
    cholmod_l_free_triplet(&t, &p.common);
    assert_non_null(p.lower);
    return p;
}

static problem from_mesh(sinew_mesh *mesh)
{
    assert_non_null(mesh);
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_elements tets = {sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4};
    sinew_adjacency adjacency = {0};
    assert_int_equal(sinew_adjacency_build(&adjacency, &allocator, n, &tets, 1, NULL), SINEW_OK);
    int32_t *pairs = malloc(2 * (size_t)adjacency.first[n] * sizeof *pairs);
    size_t count = 0;
    for (int32_t j = 0; j < n; j++)
        for (int64_t k = adjacency.first[j]; k < adjacency.first[j + 1]; k++)
            if (adjacency.neighbours[k] > j) {
                pairs[2 * count] = adjacency.neighbours[k];
                pairs[2 * count++ + 1] = j;
            }
    problem p = from_pairs(n, pairs, count);
    p.points = calloc(4 * (size_t)n, sizeof *p.points);
    for (size_t i = 0; i < (size_t)n; i++)
        memcpy(p.points + 4 * i, sinew_mesh_positions(mesh) + 3 * i, 3 * sizeof *p.points);
    free(pairs);
    sinew_adjacency_free(&adjacency, &allocator);
    sinew_mesh_destroy(mesh);
    return p;
}

static problem from_box(int x, int y, int z, double stretch)
{
    sinew_box_def box = sinew_default_box_def();
    const int vertices[] = {x, y, z};
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = vertices[c];
        box.size[c] = (sinew_real)((c == 1 ? stretch : 1) * (vertices[c] - 1));
    }
    return from_mesh(sinew_mesh_box(&box, NULL));
}

static void release(problem *p)
{
    free(p->points);
    cholmod_l_free_sparse(&p->lower, &p->common);
    cholmod_l_finish(&p->common);
}

/* ---- Fill -------------------------------------------------------------------------------------- */

static double fill_of(problem *p, int ordering, SuiteSparse_long *given)
{
    p->common.nmethods = 1;
    p->common.method[0].ordering = ordering;
    cholmod_factor *factor = cholmod_l_analyze_p(p->lower, given, NULL, 0, &p->common);
    assert_non_null(factor);
    const double fill = p->common.lnz;
    cholmod_l_free_factor(&factor, &p->common);
    return fill;
}

static SuiteSparse_long *order_of(const problem *p, const sinew_real *points)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    SuiteSparse_long *order = malloc(((size_t)p->count + 1) * sizeof *order);
    uint8_t *seen = calloc((size_t)p->count + 1, 1);
    assert_int_equal(sinew_dissection_order(&allocator, p->lower, points, order), SINEW_OK);
    for (int32_t k = 0; k < p->count; k++) {
        assert_in_range(order[k], 0, p->count - 1);
        assert_int_equal(seen[order[k]]++, 0);
    }
    free(seen);
    return order;
}

/* CHOLMOD compares with AMD's own estimate of its fill, which is a little above what it is. */
#define ESTIMATE 1.02

/* Entries of L as the library would have it: dissection or minimum degree, whichever has less. */
static double own_fill(problem *p)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    cholmod_factor *factor = sinew_analyse(&allocator, p->lower, p->points, &p->common);
    assert_non_null(factor);
    const double fill = p->common.lnz;
    cholmod_l_free_factor(&factor, &p->common);
    return fill;
}

static void expect_fill(const char *name, problem p, double to_metis)
{
    SuiteSparse_long *order = order_of(&p, p.points), *again = order_of(&p, p.points), *blind = order_of(&p, NULL);
    assert_memory_equal(order, again, (size_t)p.count * sizeof *order);
    const double dissected = fill_of(&p, CHOLMOD_GIVEN, order), without = fill_of(&p, CHOLMOD_GIVEN, blind);
    const double own = own_fill(&p), amd = fill_of(&p, CHOLMOD_AMD, NULL), metis = fill_of(&p, CHOLMOD_METIS, NULL);
    print_message("%-24s %6d rows, fill / METIS's: dissection %.3f (without places %.3f), AMD %.3f, taken %.3f\n", name,
                  (int)p.count, dissected / metis, without / metis, amd / metis, own / metis);
    assert_true(own <= ESTIMATE * fmin(dissected, amd));
    assert_true(own <= to_metis * metis);
    assert_true(without <= 1.5 * metis);
    free(order);
    free(again);
    free(blind);
    release(&p);
}

static void fill_is_near_that_of_metis(void **state)
{
    (void)state;
    expect_fill("block of 10^3", from_box(10, 10, 10, 1), 1.2);
    expect_fill("block of 16^3", from_box(16, 16, 16, 1), 1.0);
    expect_fill("block of 20^3, stretched", from_box(20, 20, 20, 3.7), 1.0);
    expect_fill("bar", from_box(61, 7, 7, 1), 1.2);
    expect_fill("plate", from_box(40, 2, 40, 1), 1.2);
    expect_fill("bracket", from_mesh(sinew_mesh_read(SINEW_SOURCE_DIR "/scenes/meshes/bracket.msh", NULL, NULL)), 1.2);
    sinew_round_def ball = sinew_default_round_def();
    ball.segments = 12;
    expect_fill("ball", from_mesh(sinew_mesh_ball(&ball, NULL)), 1.2);
}

/* Points anywhere, some of them in the same place or all on one line, joined to near ones and to a few far away. */
static problem random_problem(random_cases *r)
{
    const int32_t count = 1 + random_index(r, 900), shape = random_index(r, 4);
    sinew_real *points = calloc(4 * (size_t)count, sizeof *points);
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t c = 0; c < 3; c++)
            points[4 * i + c] = (sinew_real)(shape == 0                ? 1
                                             : shape == 1 && c > 0     ? 0
                                             : shape == 2 && i % 7 > 2 ? 0.5
                                                                       : random_between(r, -1, 1));
    const size_t most = 6 * (size_t)count;
    int32_t *pairs = malloc(2 * most * sizeof *pairs);
    size_t pair_count = 0;
    for (size_t k = 0; k < most; k++) {
        const int32_t a = random_index(r, count), step = 1 + random_index(r, random_index(r, 60) ? 12 : count);
        const int32_t b = (a + step) % count;
        if (a != b) {
            pairs[2 * pair_count] = a;
            pairs[2 * pair_count++ + 1] = b;
        }
    }
    problem p = from_pairs(count, pairs, pair_count);
    p.points = points;
    free(pairs);
    return p;
}

static void any_graph_is_ordered(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("graphs", 60, 3000);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        problem p = random_problem(&r);
        SuiteSparse_long *order = order_of(&p, p.points);
        const double own = own_fill(&p), amd = fill_of(&p, CHOLMOD_AMD, NULL);
        if (own > ESTIMATE * amd)
            fail_msg("%d rows: own %.17g, AMD %.17g, dissection %.17g", p.count, own, amd,
                     fill_of(&p, CHOLMOD_GIVEN, order));
        worst = fmax(worst, fill_of(&p, CHOLMOD_GIVEN, order) / amd);
        free(order);
        release(&p);
    }
    print_message("dissection alone against minimum degree on random graphs: at most %.2f of its fill\n", worst);
    assert_true(worst < 3);
}

/* ---- Factors ----------------------------------------------------------------------------------- */

static const sinew_panel_rule rule = {{4, 16, 48}, {0.8, 0.1, 0.05}};

/* The matrix in the order of elimination, with random numbers and a diagonal that outweighs them. */
static cholmod_factor *reorder(problem *p, random_cases *r, cholmod_sparse **upper, cholmod_sparse **lower)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const SuiteSparse_long *column = p->lower->p, *row = p->lower->i;
    for (int32_t j = 0; j < p->count; j++)
        for (SuiteSparse_long e = column[j]; e < column[j + 1]; e++)
            ((double *)p->lower->x)[e] = row[e] == j ? 40 : random_between(r, -1, 1);
    cholmod_factor *analysis = sinew_analyse(&allocator, p->lower, p->points, &p->common);
    *upper = cholmod_l_ptranspose(p->lower, 1, analysis->Perm, NULL, 0, &p->common);
    *lower = cholmod_l_transpose(*upper, 1, &p->common);
    return analysis;
}

/* max |A x - b| for A of which the lower triangle is given */
static double residual_of(const cholmod_sparse *lower, const double *x, const double *b)
{
    const SuiteSparse_long *column = lower->p, *row = lower->i;
    const double *value = lower->x;
    double *y = calloc(lower->nrow, sizeof *y), worst = 0;
    for (size_t j = 0; j < lower->nrow; j++)
        for (SuiteSparse_long e = column[j]; e < column[j + 1]; e++) {
            y[row[e]] += value[e] * x[j];
            y[j] += row[e] != (SuiteSparse_long)j ? value[e] * x[row[e]] : 0;
        }
    for (size_t i = 0; i < lower->nrow; i++)
        worst = fmax(worst, fabs(y[i] - b[i]));
    free(y);
    return worst;
}

static double solve_random(problem *p, random_cases *r, const sinew_lane_variant *lanes)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    cholmod_sparse *upper, *lower;
    cholmod_factor *analysis = reorder(p, r, &upper, &lower);
    sinew_supernodal factor;
    assert_true(sinew_supernodal_create(&factor, &allocator, lanes->dense, &rule, upper, analysis->ColCount));
    double *b = malloc((size_t)p->count * sizeof *b), *x = malloc((size_t)p->count * sizeof *x);
    for (int32_t i = 0; i < p->count; i++)
        b[i] = x[i] = random_between(r, -1, 1);
    assert_int_equal(sinew_supernodal_factorise(&factor, lower, 0), -1);
    sinew_supernodal_solve(&factor, x);
    const double worst = residual_of(lower, x, b);
    /* A diagonal far below zero is found, at the latest, in its own column. */
    assert_in_range(sinew_supernodal_factorise(&factor, lower, -1000), 0, 0);
    const int32_t at = random_index(r, p->count);
    ((double *)lower->x)[((const SuiteSparse_long *)lower->p)[at]] = -5;
    assert_in_range(sinew_supernodal_factorise(&factor, lower, 0), 0, at);
    assert_true(sinew_supernodal_size(&factor) >= (int64_t)p->common.lnz);
    sinew_supernodal_destroy(&factor);
    cholmod_l_free_factor(&analysis, &p->common);
    cholmod_l_free_sparse(&upper, &p->common);
    cholmod_l_free_sparse(&lower, &p->common);
    free(b);
    free(x);
    return worst;
}

static void factors_solve(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("factors", 60, 3000);
    int32_t variants;
    const sinew_lane_variant *const *lanes = sinew_lane_variants(&variants);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        const sinew_lane_variant *own = lanes[random_index(&r, variants)];
        problem p = i % 10 == 9 ? from_box(9, 9, 9, 1) : random_problem(&r);
        if (own->usable())
            worst = fmax(worst, solve_random(&p, &r, own));
        release(&p);
    }
    print_message("|A x - b|, |b| at most 1: %.1e\n", worst);
    assert_true(worst < 1e-13);
}

/* ---- Dense kernels ----------------------------------------------------------------------------- */

/* A panel whose square block is L0 L0^T and whose rows below are X L0^T gives back L0 and X. */
static double panel_error(const sinew_dense_kernels *k, int32_t rows, int32_t columns, random_cases *r)
{
    const size_t height = (size_t)rows, size = height * (size_t)columns;
    const size_t room = (height + 4) * (size_t)(columns > SINEW_DENSE_BLOCK ? columns + 4 : SINEW_DENSE_BLOCK);
    double *L = calloc(size, sizeof *L), *A = calloc(size + SINEW_DENSE_PAD, sizeof *A);
    double *C = malloc(room * sizeof *C), *work = malloc(sinew_dense_work((size_t)columns + 48) * sizeof *work);
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            L[j * height + i] = i == j ? random_between(r, 1, 2) : random_between(r, -1, 1) / columns;
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            for (size_t c = 0; c <= j; c++)
                A[j * height + i] += L[c * height + i] * L[c * height + j];
    double worst = 0;
    assert_int_equal(k->factorise(rows, columns, A, NULL, C, work), -1);
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            worst = fmax(worst, fabs(A[j * height + i] - L[j * height + i]));
    for (size_t i = 0; i < SINEW_DENSE_PAD; i++)
        assert_true(A[size + i] == 0); /* not written to */
    free(L);
    free(A);
    free(C);
    free(work);
    return worst;
}

static void dense_panels_factorise(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("panels", 80, 2000);
    int32_t variants;
    const sinew_lane_variant *const *lanes = sinew_lane_variants(&variants);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        const sinew_lane_variant *own = lanes[random_index(&r, variants)];
        const int32_t columns = 1 + random_index(&r, i % 8 ? 60 : 320), rows = columns + random_index(&r, 90);
        if (own->usable())
            worst = fmax(worst, panel_error(own->dense, rows, columns, &r));
    }
    print_message("panels: off by %.1e\n", worst);
    assert_true(worst < 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_is_near_that_of_metis),
        cmocka_unit_test(any_graph_is_ordered),
        cmocka_unit_test(factors_solve),
        cmocka_unit_test(dense_panels_factorise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
