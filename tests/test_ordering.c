/* SPDX-License-Identifier: MIT
 *
 * test_ordering.c: elimination orders. Each is a permutation and reproducible. The fill of nested dissection and of
 * minimum degree are compared with each other (bench/bench_order.c adds METIS). Factors of random matrices are checked
 * by their products.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/stop.h"
#include "energy/energy.h"
#include "linear/factor/supernodal.h"
#include "linear/ordering/ordering.h"
#include "mesh/topology.h"
#include "random_cases.h"

static sinew_allocator allocator;

typedef struct problem {
    int32_t count;
    sinew_real *points; /* [count][4], or NULL */
    size_t *column;     /* [count + 1] lower triangle */
    int32_t *row;       /* [column[count]] ascending, diagonal first */
    sinew_graph graph;
} problem;

static int compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A graph from pairs of vertices, in any order and with duplicates; adds the diagonal. */
static problem from_pairs(int32_t count, const int32_t *pairs, size_t pair_count)
{
    problem p = {.count = count};
    const size_t n = (size_t)count, total = pair_count + n;
    int64_t *keys = malloc(total * sizeof *keys);
    for (size_t k = 0; k < total; k++) {
        const int32_t a = k < pair_count ? pairs[2 * k] : (int32_t)(k - pair_count);
        const int32_t b = k < pair_count ? pairs[2 * k + 1] : a;
        keys[k] = (int64_t)(a > b ? b : a) * count + (a > b ? a : b);
    }
    qsort(keys, total, sizeof *keys, compare_keys);
    p.column = calloc(n + 1, sizeof *p.column);
    p.row = malloc(total * sizeof *p.row);
    size_t at = 0;
    for (size_t k = 0; k < total; k++)
        if (k == 0 || keys[k] != keys[k - 1]) {
            p.row[at++] = (int32_t)(keys[k] % count);
            p.column[keys[k] / count + 1] = at;
        }
    free(keys);
    assert_true(sinew_graph_create(&p.graph, &allocator, count, p.column, p.row));
    return p;
}

static problem from_mesh(sinew_mesh *mesh)
{
    assert_non_null(mesh);
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
    free(p->column);
    free(p->row);
    sinew_graph_destroy(&p->graph, &allocator);
}

/* ---- Fill -------------------------------------------------------------------------------------- */

/* The number of entries of L in an order; frees the order. */
static double fill_of(const problem *p, int32_t *order)
{
    sinew_elimination e;
    assert_true(sinew_elimination_create(&e, &allocator, &p->graph, order));
    const double fill = sinew_elimination_fill(&e);
    sinew_elimination_destroy(&e);
    free(order);
    return fill;
}

static void expect_permutation(const int32_t *order, int32_t count)
{
    uint8_t *seen = calloc((size_t)count + 1, 1);
    for (int32_t k = 0; k < count; k++) {
        assert_in_range(order[k], 0, count - 1);
        assert_int_equal(seen[order[k]]++, 0);
    }
    free(seen);
}

static int32_t *dissect(const problem *p, const sinew_real *points)
{
    int32_t *order = malloc(((size_t)p->count + 1) * sizeof *order);
    assert_true(sinew_dissection_order(&allocator, &p->graph, points, order));
    expect_permutation(order, p->count);
    return order;
}

/* The fill of minimum degree alone; AMD's own estimate is an upper bound. */
static double minimum_degree_fill(const problem *p)
{
    double estimate;
    int32_t *order = malloc(((size_t)p->count + 1) * sizeof *order);
    assert_true(sinew_minimum_degree_order(&allocator, &p->graph, order, &estimate));
    expect_permutation(order, p->count);
    const double fill = fill_of(p, order);
    assert_true(fill <= estimate);
    return fill;
}

/* The library compares both orders by AMD's estimate of its fill, which is slightly above the fill. */
#define ESTIMATE 1.02

/* The number of entries of L in the library's order: nested dissection or minimum degree. */
static double own_fill(const problem *p)
{
    sinew_elimination e;
    assert_true(sinew_find_elimination(&e, &allocator, &p->graph, p->points));
    expect_permutation(e.order, p->count);
    const double fill = sinew_elimination_fill(&e);
    sinew_elimination_destroy(&e);
    return fill;
}

/* to_amd, blind_to_amd: bounds of the fill of nested dissection over that of minimum degree, with and without points.
 * They are 5 % above the printed values; the library's fill is then within 1.2 of METIS's for all
 * (bench/bench_order.c). */
static void expect_fill(const char *name, problem p, double to_amd, double blind_to_amd)
{
    int32_t *order = dissect(&p, p.points), *again = dissect(&p, p.points);
    assert_memory_equal(order, again, (size_t)p.count * sizeof *order);
    free(again);
    const double dissected = fill_of(&p, order), blind = fill_of(&p, dissect(&p, NULL));
    const double amd = minimum_degree_fill(&p), own = own_fill(&p);
    print_message("%-24s %6d rows, fill / minimum degree's: dissection %.3f (without points %.3f), taken %.3f\n", name,
                  (int)p.count, dissected / amd, blind / amd, own / amd);
    assert_true(own <= ESTIMATE * fmin(dissected, amd));
    assert_true(dissected <= to_amd * amd);
    assert_true(blind <= blind_to_amd * amd);
    release(&p);
}

static void dissection_fills_in_little(void **state)
{
    (void)state;
    expect_fill("block of 10^3", from_box(10, 10, 10, 1), 0.91, 1.03);
    expect_fill("block of 16^3", from_box(16, 16, 16, 1), 0.78, 1.01);
    expect_fill("block of 20^3, stretched", from_box(20, 20, 20, 3.7), 0.73, 1.02);
    expect_fill("bar", from_box(61, 7, 7, 1), 1.33, 1.40);
    expect_fill("plate", from_box(40, 2, 40, 1), 1.15, 1.15);
    expect_fill("bracket", from_mesh(sinew_mesh_read(SINEW_SOURCE_DIR "/scenes/meshes/bracket.msh", NULL, NULL)), 1.10,
                1.10);
    sinew_round_def ball = sinew_default_round_def();
    ball.segments = 12;
    expect_fill("ball", from_mesh(sinew_mesh_ball(&ball, NULL)), 0.88, 0.87);
}

/* Random points, some of them coincident or all collinear, joined to near ones and to a few distant ones. */
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
    const size_t max = 6 * (size_t)count;
    int32_t *pairs = malloc(2 * max * sizeof *pairs);
    size_t pair_count = 0;
    for (size_t k = 0; k < max; k++) {
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
        const double own = own_fill(&p), amd = minimum_degree_fill(&p), dissected = fill_of(&p, dissect(&p, p.points));
        if (own > ESTIMATE * amd)
            fail_msg("%d rows: own %.17g, AMD %.17g, dissection %.17g", p.count, own, amd, dissected);
        worst = fmax(worst, dissected / amd);
        release(&p);
    }
    print_message("dissection alone against minimum degree on random graphs: at most %.2f of its fill\n", worst);
    assert_true(worst < 3);
}

/* ---- Factors ----------------------------------------------------------------------------------- */

static const sinew_amalgamation rule = {{4, 16, 48}, {0.8, 0.1, 0.05}};

/* The matrix in elimination order, with random entries and a dominant diagonal. */
static sinew_reordered_matrix reorder(const problem *p, random_cases *r, const int32_t *index)
{
    sinew_reordered_matrix matrix;
    double *value = malloc(p->column[p->count] * sizeof *value);
    for (int32_t j = 0; j < p->count; j++)
        for (size_t e = p->column[j]; e < p->column[j + 1]; e++)
            value[e] = p->row[e] == j ? 40 : random_between(r, -1, 1);
    assert_true(sinew_reordered_matrix_create(&matrix, &allocator, p->count, p->column, p->row, index));
    sinew_reordered_matrix_set(&matrix, value);
    free(value);
    return matrix;
}

/* max |A x - b| for A given by its lower triangle */
static double residual_of(const sinew_lower_triangle *A, const double *x, const double *b)
{
    double *y = calloc((size_t)A->n, sizeof *y), worst = 0;
    for (int32_t j = 0; j < A->n; j++)
        for (size_t e = A->column[j]; e < A->column[j + 1]; e++) {
            y[A->row[e]] += A->value[e] * x[j];
            y[j] += A->row[e] != j ? A->value[e] * x[A->row[e]] : 0;
        }
    for (int32_t i = 0; i < A->n; i++)
        worst = fmax(worst, fabs(y[i] - b[i]));
    free(y);
    return worst;
}

/* A diagonal entry far below zero is detected in its own column at the latest. */
static void expect_indefinite(sinew_supernodal *factor, const sinew_lower_triangle *A, int32_t at)
{
    assert_in_range(sinew_supernodal_factorise(factor, A, -1000), 0, 0);
    for (size_t e = A->column[at]; e < A->column[at + 1]; e++)
        if (A->row[e] == at)
            A->value[e] = -5;
    assert_in_range(sinew_supernodal_factorise(factor, A, 0), 0, at);
}

static double solve_random(const problem *p, random_cases *r, const sinew_simd_variant *simd)
{
    sinew_elimination e;
    sinew_supernodal factor;
    assert_true(sinew_find_elimination(&e, &allocator, &p->graph, p->points));
    sinew_reordered_matrix matrix = reorder(p, r, e.index);
    assert_true(sinew_supernodal_create(&factor, &allocator, simd->dense, &rule, &e, 1));
    assert_true(sinew_supernodal_size(&factor) >= (int64_t)sinew_elimination_fill(&e));
    double *b = malloc((size_t)p->count * sizeof *b), *x = malloc((size_t)p->count * sizeof *x);
    for (int32_t i = 0; i < p->count; i++)
        b[i] = x[i] = random_between(r, -1, 1);
    assert_int_equal(sinew_supernodal_factorise(&factor, &matrix.lower, 0), -1);
    sinew_supernodal_solve(&factor, x);
    const double worst = residual_of(&matrix.lower, x, b);
    expect_indefinite(&factor, &matrix.lower, random_index(r, p->count));
    sinew_supernodal_destroy(&factor);
    sinew_reordered_matrix_destroy(&matrix, &allocator);
    sinew_elimination_destroy(&e);
    free(b);
    free(x);
    return worst;
}

static void factors_solve(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("factors", 60, 3000);
    int32_t variants;
    const sinew_simd_variant *const *simd = sinew_simd_variants(&variants);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        const sinew_simd_variant *own = simd[random_index(&r, variants)];
        problem p = i % 10 == 9 ? from_box(9, 9, 9, 1) : random_problem(&r);
        worst = fmax(worst, solve_random(&p, &r, own));
        release(&p);
    }
    print_message("|A x - b|, |b| at most 1: %.1e\n", worst);
    assert_true(worst < 1e-13);
}

/* ---- Dense kernels ----------------------------------------------------------------------------- */

/* A supernode with square block L0 L0^T and rows X L0^T below must factorise to L0 and X. */
static double panel_error(const sinew_dense_kernels *k, int32_t rows, int32_t columns, random_cases *r)
{
    const size_t height = (size_t)rows, size = height * (size_t)columns;
    const size_t capacity = (height + 4) * (size_t)(columns > SINEW_DENSE_BLOCK ? columns + 4 : SINEW_DENSE_BLOCK);
    double *L = calloc(size, sizeof *L), *A = calloc(size + SINEW_DENSE_PAD, sizeof *A);
    double *C = malloc(capacity * sizeof *C), *work = malloc(sinew_dense_work((size_t)columns + 48) * sizeof *work);
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            L[j * height + i] = i == j ? random_between(r, 1, 2) : random_between(r, -1, 1) / columns;
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            for (size_t c = 0; c <= j; c++)
                A[j * height + i] += L[c * height + i] * L[c * height + j];
    double worst = 0;
    assert_int_equal(k->factorise(rows, columns, A, NULL, C, work, NULL), -1);
    for (size_t j = 0; j < (size_t)columns; j++)
        for (size_t i = j; i < height; i++)
            worst = fmax(worst, fabs(A[j * height + i] - L[j * height + i]));
    for (size_t i = 0; i < SINEW_DENSE_PAD; i++)
        assert_true(A[size + i] == 0); /* the kernel leaves this entry unwritten */
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
    const sinew_simd_variant *const *simd = sinew_simd_variants(&variants);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        const sinew_simd_variant *own = simd[random_index(&r, variants)];
        const int32_t columns = 1 + random_index(&r, i % 8 ? 60 : 320), rows = columns + random_index(&r, 90);
        worst = fmax(worst, panel_error(own->dense, rows, columns, &r));
    }
    print_message("panels: off by %.1e\n", worst);
    assert_true(worst < 1e-13);
}

/* ---- Interruption ------------------------------------------------------------------------------ */

/* Memory that contains indices out of every range. */
static void *allocate_poisoned(void *context, size_t size, size_t alignment)
{
    (void)context;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory)
        memset(memory, 0x5a, size);
    return memory;
}

static void release_poisoned(void *context, void *memory)
{
    (void)context;
    free(memory);
}

typedef struct alarm_clock {
    atomic_bool *flag;
    double seconds; /* s until the flag is set */
} alarm_clock;

static void *set_flag_later(void *context)
{
    const alarm_clock *a = context;
    const double end = sinew_seconds() + a->seconds;
    while (sinew_seconds() < end)
        continue;
    atomic_store(a->flag, true);
    return NULL;
}

/* A dissection that ends at any moment stays within its arrays: a wrong index would be far outside. */
static void interrupted_dissections_stay_inside(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("interruptions", 150, 1500);
    const sinew_allocator poisoned = {allocate_poisoned, release_poisoned, NULL};
    problem p = from_box(14, 14, 14, 1);
    int32_t *order = malloc((size_t)p.count * sizeof *order), ended = 0;
    const double began = sinew_seconds();
    assert_true(sinew_dissection_order(&poisoned, &p.graph, p.points, order));
    const double whole = sinew_seconds() - began;
    for (int32_t i = 0; i < r.count; i++) {
        atomic_bool flag = false;
        alarm_clock a = {&flag, random_between(&r, 0, whole)};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, set_flag_later, &a), 0);
        const atomic_bool *before = sinew_stop_use(&flag);
        ended += !sinew_dissection_order(&poisoned, &p.graph, p.points, order);
        sinew_stop_use(before);
        pthread_join(thread, NULL);
    }
    assert_true(ended > 0);
    free(order);
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dissection_fills_in_little),
        cmocka_unit_test(any_graph_is_ordered),
        cmocka_unit_test(factors_solve),
        cmocka_unit_test(dense_panels_factorise),
        cmocka_unit_test(interrupted_dissections_stay_inside),
    };
    allocator = sinew_allocator_or_system(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
