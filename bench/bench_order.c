/* SPDX-License-Identifier: MIT
 *
 * bench_order.c: entries of L, the work of a factorisation and the time of ordering, for blocks, a bar and meshes given
 * as arguments: nested dissection by places (linear/ordering/nested_dissection.h), minimum degree (AMD), and METIS as CHOLMOD calls it,
 * which the library does not. All on the graph of the particles; the last columns are ratios to METIS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "linear/ordering/ordering.h"
#include "mesh/topology.h"
#include "sinew/sinew.h"

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct cost {
    double entries, flops, seconds;
} cost;

static cholmod_sparse *lower_triangle(const sinew_mesh *mesh, cholmod_common *common)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_elements tets = {sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4};
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_adjacency adjacency = {0};
    if (sinew_adjacency_build(&adjacency, &allocator, n, &tets, 1, NULL) != SINEW_OK)
        exit(1);
    const size_t entries = (size_t)adjacency.first[n] / 2 + (size_t)n;
    cholmod_sparse *lower = cholmod_l_allocate_sparse((size_t)n, (size_t)n, entries, 1, 1, -1, CHOLMOD_PATTERN, common);
    SuiteSparse_long *p = lower->p, *i = lower->i, at = 0;
    for (int32_t j = 0; j < n; j++) {
        p[j] = at;
        i[at++] = j;
        for (int64_t k = adjacency.first[j]; k < adjacency.first[j + 1]; k++)
            if (adjacency.neighbours[k] > j)
                i[at++] = adjacency.neighbours[k];
    }
    p[n] = at;
    sinew_adjacency_free(&adjacency, &allocator);
    return lower;
}

static cost analyse(cholmod_sparse *lower, int ordering, SuiteSparse_long *given, cholmod_common *common)
{
    common->nmethods = 1;
    common->method[0].ordering = ordering;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    const double began = processor_seconds();
    cholmod_factor *factor = cholmod_l_analyze_p(lower, given, NULL, 0, common);
    const cost c = {common->lnz, common->fl, processor_seconds() - began};
    cholmod_l_free_factor(&factor, common);
    return c;
}

static cost dissect(cholmod_sparse *lower, const sinew_mesh *mesh, cholmod_common *common)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_real *x = sinew_mesh_positions(mesh);
    sinew_real *points = malloc(4 * lower->nrow * sizeof *points);
    SuiteSparse_long *order = malloc(lower->nrow * sizeof *order);
    if (!points || !order)
        exit(1);
    for (size_t i = 0; i < lower->nrow; i++)
        for (size_t c = 0; c < 4; c++)
            points[4 * i + c] = c < 3 ? x[3 * i + c] : 0;
    const double began = processor_seconds();
    if (sinew_dissection_order(&allocator, lower, points, order) != SINEW_OK)
        exit(1);
    const double seconds = processor_seconds() - began;
    cost c = analyse(lower, CHOLMOD_GIVEN, order, common);
    c.seconds += seconds;
    free(points);
    free(order);
    return c;
}

static void compare(const char *name, sinew_mesh *mesh)
{
    if (!mesh) {
        fprintf(stderr, "no mesh: %s\n", name);
        exit(1);
    }
    cholmod_common common;
    cholmod_l_start(&common);
    cholmod_sparse *lower = lower_triangle(mesh, &common);
    const cost own = dissect(lower, mesh, &common);
    const cost amd = analyse(lower, CHOLMOD_AMD, NULL, &common), metis = analyse(lower, CHOLMOD_METIS, NULL, &common);
    printf("%-28s %8zu %10.3e %10.3e %7.3f %10.3e %10.3e %7.3f %10.3e %10.3e %7.3f %7.3f %7.3f\n", name, lower->nrow,
           own.entries, own.flops, own.seconds, amd.entries, amd.flops, amd.seconds, metis.entries, metis.flops,
           metis.seconds, own.entries / metis.entries, own.flops / metis.flops);
    fflush(stdout);
    cholmod_l_free_sparse(&lower, &common);
    cholmod_l_finish(&common);
    sinew_mesh_destroy(mesh);
}

static void compare_box(int x, int y, int z)
{
    char name[64];
    sinew_box_def box = sinew_default_box_def();
    box.vertices[0] = x;
    box.vertices[1] = y;
    box.vertices[2] = z;
    for (int c = 0; c < 3; c++)
        box.size[c] = (sinew_real)(0.1 * (box.vertices[c] - 1));
    snprintf(name, sizeof name, "box %d x %d x %d", x, y, z);
    compare(name, sinew_mesh_box(&box, NULL));
}

int main(int argc, char **argv)
{
    printf("%-28s %8s %29s %29s %29s %15s\n", "", "", "by places", "AMD", "METIS", "/ METIS");
    printf("%-28s %8s %10s %10s %7s %10s %10s %7s %10s %10s %7s %7s %7s\n", "mesh", "rows", "nnz(L)", "flops", "s",
           "nnz(L)", "flops", "s", "nnz(L)", "flops", "s", "nnz(L)", "flops");
    for (int n = 8; n <= 32; n += 8)
        compare_box(n, n, n);
    compare_box(121, 13, 13);
    compare_box(2, 60, 60);
    for (int i = 1; i < argc; i++)
        compare(argv[i], sinew_mesh_read(argv[i], NULL, NULL));
    return 0;
}
