/* SPDX-License-Identifier: MIT
 *
 * bench_order.c: entries of L, the work of a factorisation and the time of the analysis, for blocks, a bar, a plate, a
 * cloth and meshes given as arguments.
 *
 * First table, on the graph of the particles: nested dissection by points (linear/ordering/nested_dissection.h),
 * minimum degree (AMD), and METIS as CHOLMOD calls it, which the library does not use; ratios to METIS.
 *
 * Second table, the whole analysis from the matrix to the elimination tree, counts and order, with both orders tried:
 * the library's (linear/ordering/ordering.h), and CHOLMOD's analysis of the same two orders. Both use the library's
 * dissection; the last column is its time.
 */
#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "linear/ordering/ordering.h"
#include "mesh/topology.h"
#include "sinew/sinew.h"

enum {
    REPEATS = 5 /* repetitions; the fastest counts */
};

static sinew_allocator allocator;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct cost {
    double entries, flops, seconds;
} cost;

/* ---- Matrices ---------------------------------------------------------------------------------- */

/* The lower triangle, in CHOLMOD's format and in the library's. */
typedef struct problem {
    cholmod_sparse *lower;
    size_t *column;
    int32_t *row;
    sinew_real *points; /* [n][4] */
} problem;

static problem problem_create(const sinew_mesh *mesh, cholmod_common *common)
{
    const sinew_elements elements[] = {{sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4},
                                       {sinew_mesh_edges(mesh), sinew_mesh_edge_count(mesh), 2}};
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    sinew_adjacency adjacency = {0};
    if (sinew_adjacency_build(&adjacency, &allocator, n, elements, 2, NULL) != SINEW_OK)
        exit(1);
    const size_t entries = (size_t)adjacency.first[n] / 2 + (size_t)n;
    problem p = {cholmod_l_allocate_sparse((size_t)n, (size_t)n, entries, 1, 1, -1, CHOLMOD_PATTERN, common),
                 malloc(((size_t)n + 1) * sizeof *p.column), malloc(entries * sizeof *p.row),
                 calloc(4 * (size_t)n, sizeof *p.points)};
    if (!p.lower || !p.column || !p.row || !p.points)
        exit(1);
    size_t at = 0;
    for (int32_t j = 0; j < n; j++) {
        p.column[j] = at;
        p.row[at++] = j;
        for (int64_t k = adjacency.first[j]; k < adjacency.first[j + 1]; k++)
            if (adjacency.neighbours[k] > j)
                p.row[at++] = adjacency.neighbours[k];
        memcpy(p.points + 4 * (size_t)j, x + 3 * (size_t)j, 3 * sizeof *x);
    }
    p.column[n] = at;
    for (int32_t j = 0; j <= n; j++)
        ((SuiteSparse_long *)p.lower->p)[j] = (SuiteSparse_long)p.column[j];
    for (size_t k = 0; k < at; k++)
        ((SuiteSparse_long *)p.lower->i)[k] = p.row[k];
    sinew_adjacency_free(&adjacency, &allocator);
    return p;
}

static void problem_destroy(problem *p, cholmod_common *common)
{
    cholmod_l_free_sparse(&p->lower, common);
    free(p->column);
    free(p->row);
    free(p->points);
}

/* ---- Costs ------------------------------------------------------------------------------------- */

/* Cost of CHOLMOD's analysis with the order `given`, or with CHOLMOD's `ordering` if it is NULL; `both` also tries AMD.
 *  */
static cost analyse(const problem *p, int ordering, SuiteSparse_long *given, bool both, cholmod_common *common)
{
    common->nmethods = both ? 2 : 1;
    common->method[0].ordering = ordering;
    common->method[1].ordering = CHOLMOD_AMD;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    const double began = processor_seconds();
    cholmod_factor *factor = cholmod_l_analyze_p(p->lower, given, NULL, 0, common);
    const cost c = {common->lnz, common->fl, processor_seconds() - began};
    cholmod_l_free_factor(&factor, common);
    return c;
}

/* The order of nested dissection, which the caller frees; *seconds: time of graph and dissection. */
static SuiteSparse_long *dissect(const problem *p, double *seconds)
{
    const size_t n = p->lower->nrow;
    int32_t *order = malloc(n * sizeof *order);
    SuiteSparse_long *wide = malloc(n * sizeof *wide);
    sinew_graph graph;
    const double began = processor_seconds();
    if (!order || !wide || !sinew_graph_create(&graph, &allocator, (int32_t)n, p->column, p->row) ||
        !sinew_dissection_order(&allocator, &graph, p->points, order))
        exit(1);
    *seconds = processor_seconds() - began;
    for (size_t k = 0; k < n; k++)
        wide[k] = order[k];
    sinew_graph_destroy(&graph, &allocator);
    free(order);
    return wide;
}

/* Cost of the library's analysis. */
static cost find_elimination(const problem *p)
{
    sinew_graph graph;
    sinew_elimination e = {0};
    const double began = processor_seconds();
    if (!sinew_graph_create(&graph, &allocator, (int32_t)p->lower->nrow, p->column, p->row) ||
        !sinew_find_elimination(&e, &allocator, &graph, p->points))
        exit(1);
    const cost c = {sinew_elimination_fill(&e), sinew_elimination_cost(&e), processor_seconds() - began};
    sinew_elimination_destroy(&e);
    sinew_graph_destroy(&graph, &allocator);
    return c;
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static void print_orders(const char *name, const problem *p, cholmod_common *common)
{
    double seconds;
    SuiteSparse_long *order = dissect(p, &seconds);
    cost own = analyse(p, CHOLMOD_GIVEN, order, false, common);
    own.seconds += seconds;
    const cost amd = analyse(p, CHOLMOD_AMD, NULL, false, common),
               metis = analyse(p, CHOLMOD_METIS, NULL, false, common);
    printf("%-28s %8zu %10.3e %10.3e %7.3f %10.3e %10.3e %7.3f %10.3e %10.3e %7.3f %7.3f %7.3f\n", name, p->lower->nrow,
           own.entries, own.flops, own.seconds, amd.entries, amd.flops, amd.seconds, metis.entries, metis.flops,
           metis.seconds, own.entries / metis.entries, own.flops / metis.flops);
    free(order);
}

static void print_analysis(const char *name, const problem *p, cholmod_common *common)
{
    double own = HUGE_VAL, peer = HUGE_VAL, ordering = HUGE_VAL;
    cost a = {0}, b = {0};
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double seconds;
        a = find_elimination(p);
        SuiteSparse_long *order = dissect(p, &seconds);
        b = analyse(p, CHOLMOD_GIVEN, order, true, common);
        own = fmin(own, a.seconds);
        peer = fmin(peer, seconds + b.seconds);
        ordering = fmin(ordering, seconds);
        free(order);
    }
    printf("%-28s %8zu %10.3e %10.3e %9.2f %9.2f %7.2f %9.2f\n", name, p->lower->nrow, a.entries, b.entries, 1e3 * own,
           1e3 * peer, own / peer, 1e3 * ordering);
}

static void compare(const char *name, sinew_mesh *mesh, bool orders)
{
    if (!mesh) {
        fprintf(stderr, "no mesh: %s\n", name);
        exit(1);
    }
    cholmod_common common;
    cholmod_l_start(&common);
    problem p = problem_create(mesh, &common);
    if (orders)
        print_orders(name, &p, &common);
    else
        print_analysis(name, &p, &common);
    fflush(stdout);
    problem_destroy(&p, &common);
    cholmod_l_finish(&common);
    sinew_mesh_destroy(mesh);
}

static void compare_box(int x, int y, int z, bool orders)
{
    char name[64];
    sinew_box_def box = sinew_default_box_def();
    box.vertices[0] = x;
    box.vertices[1] = y;
    box.vertices[2] = z;
    for (int c = 0; c < 3; c++)
        box.size[c] = (sinew_real)(0.1 * (box.vertices[c] - 1));
    snprintf(name, sizeof name, "box %d x %d x %d", x, y, z);
    compare(name, sinew_mesh_box(&box, NULL), orders);
}

static void compare_all(int argc, char **argv, bool orders)
{
    for (int n = 8; n <= 32; n += n == 16 ? 4 : n == 20 ? 4 : 8)
        compare_box(n, n, n, orders);
    compare_box(121, 13, 13, orders);
    compare_box(2, 60, 60, orders);
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 81;
    compare("cloth 81 x 81", sinew_mesh_cloth(&cloth, NULL), orders);
    for (int i = 1; i < argc; i++)
        compare(argv[i], sinew_mesh_read(argv[i], NULL, NULL), orders);
}

int main(int argc, char **argv)
{
    allocator = sinew_allocator_or_system(NULL);
    printf("%-28s %8s %29s %29s %29s %15s\n", "", "", "by points", "AMD", "METIS", "/ METIS");
    printf("%-28s %8s %10s %10s %7s %10s %10s %7s %10s %10s %7s %7s %7s\n", "mesh", "rows", "nnz(L)", "flops", "s",
           "nnz(L)", "flops", "s", "nnz(L)", "flops", "s", "nnz(L)", "flops");
    compare_all(argc, argv, true);
    printf("\n%-28s %8s %10s %10s %9s %9s %7s %9s\n", "mesh", "rows", "nnz(L)", "CHOLMOD's", "ms", "CHOLMOD", "ratio",
           "ordering");
    compare_all(argc, argv, false);
    return 0;
}
