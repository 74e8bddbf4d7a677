/* SPDX-License-Identifier: MIT
 *
 * bench_tear.c: edges removed from a cloth of 81 x 81 vertices (19 360 edges), by the solver's low-rank correction and
 * by its new factor, compared with CHOLMOD: cholmod_updown() on its own factor, and its new factor. The same matrix,
 * M/h^2 + sum k e e^T, one thread, processor time. The table also has a solve with three right-hand sides, which a step
 * needs in every iteration: a correction makes it slower, an updated factor does not. The last column is the largest
 * relative difference between CHOLMOD's two solutions.
 *
 * CHOLMOD's module Modify is GPL (docs/reference/licences.md): the library does not call it, this program does.
 */
#include <cholmod.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "sinew/sinew.h"

enum {
    SIDE = 81,
    ITERATIONS = 10,
    WARM = 7
};
#define STIFFNESS 500.0
#define H         (1.0 / 30)
#define MASS      (0.2 * 1.5 / (SIDE * SIDE))

static sinew_mesh *make_cloth(void)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = SIDE;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    if (!mesh)
        bench_give_up(&error);
    return mesh;
}

/* Chooses `count` edges, spread over the cloth. */
static void choose(int32_t *gone, int32_t count, int32_t all)
{
    for (int32_t i = 0; i < count; i++)
        gone[i] = (int32_t)((int64_t)i * all / count);
}

/* ---- The library ------------------------------------------------------------------------------- */

typedef struct cost {
    double change, solve; /* s, excess of the first step after the change over a warm step; increase of an iteration */
} cost;

static sinew_world *make_world(const sinew_mesh *mesh, sinew_energy *springs)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)H;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PD);
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = sinew_world_create(&def, &error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.density = (sinew_real)0.2;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.parameters[0] = (sinew_real)STIFFNESS;
    if (world)
        spring.body = sinew_world_add_body(world, &body, &error);
    if (world && spring.body.index >= 0)
        *springs = sinew_world_add_energy(world, &spring, &error);
    if (error.status != SINEW_OK)
        bench_give_up(&error);
    return world;
}

static double step(sinew_world *world)
{
    const double began = bench_processor_seconds();
    sinew_world_step(world, NULL);
    return bench_processor_seconds() - began;
}

static double warm_step(sinew_world *world)
{
    double seconds[WARM];
    for (int i = 0; i < WARM; i++)
        seconds[i] = step(world);
    return bench_middle(seconds, WARM);
}

static cost library_cost(const sinew_mesh *mesh, int32_t count, bool update)
{
    sinew_energy springs = {-1, 0};
    sinew_error error = {0};
    sinew_world *world = make_world(mesh, &springs);
    int32_t *gone = malloc((size_t)count * sizeof *gone);
    step(world);
    const double before = warm_step(world);
    choose(gone, count, sinew_energy_element_count(world, springs));
    if (update)
        sinew_energy_switch(world, springs, gone, count, false, &error);
    else
        sinew_energy_remove_elements(world, springs, gone, count, &error);
    const double first = step(world), after = warm_step(world);
    sinew_world_destroy(world);
    free(gone);
    return (cost){first - after, (after - before) / ITERATIONS};
}

/* ---- CHOLMOD ----------------------------------------------------------------------------------- */

/* The lower triangle of the matrix without the edges in `gone`. */
static cholmod_sparse *make_matrix(const sinew_mesh *mesh, const int32_t *gone, int32_t gone_count,
                                   cholmod_common *common)
{
    const int32_t n = sinew_mesh_vertex_count(mesh), edges = sinew_mesh_edge_count(mesh);
    cholmod_triplet *t =
        cholmod_allocate_triplet((size_t)n, (size_t)n, (size_t)(n + 3 * edges), -1, CHOLMOD_REAL, common);
    int32_t *row = t->i, *column = t->j, at = 0, next = 0;
    double *value = t->x;
    size_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        row[count] = column[count] = i;
        value[count++] = MASS / (H * H);
    }
    for (; at < edges; at++) {
        const int32_t *e = sinew_mesh_edges(mesh) + 2 * (size_t)at;
        if (next < gone_count && gone[next] == at) {
            next++;
            continue;
        }
        const int32_t low = e[0] < e[1] ? e[0] : e[1], high = e[0] < e[1] ? e[1] : e[0];
        const int32_t rows[3] = {low, high, high}, columns[3] = {low, high, low};
        for (int k = 0; k < 3; k++) {
            row[count] = rows[k];
            column[count] = columns[k];
            value[count++] = k == 2 ? -STIFFNESS : STIFFNESS;
        }
    }
    t->nnz = count;
    cholmod_sparse *matrix = cholmod_triplet_to_sparse(t, count, common);
    cholmod_free_triplet(&t, common);
    return matrix;
}

/* One column sqrt(k) (e_a - e_b) per edge, in the order of the factor. */
static cholmod_sparse *make_columns(const sinew_mesh *mesh, const int32_t *gone, int32_t count,
                                    const cholmod_factor *factor, cholmod_common *common)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    cholmod_sparse *c =
        cholmod_allocate_sparse((size_t)n, (size_t)count, 2 * (size_t)count, 1, 1, 0, CHOLMOD_REAL, common);
    int32_t *inverse = malloc((size_t)n * sizeof *inverse), *p = c->p, *i = c->i;
    double *x = c->x;
    for (int32_t k = 0; k < n; k++)
        inverse[((const int32_t *)factor->Perm)[k]] = k;
    for (int32_t k = 0; k < count; k++) {
        const int32_t *e = sinew_mesh_edges(mesh) + 2 * (size_t)gone[k];
        const int32_t a = inverse[e[0]], b = inverse[e[1]];
        p[k] = 2 * k;
        i[2 * k] = a < b ? a : b;
        i[2 * k + 1] = a < b ? b : a;
        x[2 * k] = a < b ? sqrt(STIFFNESS) : -sqrt(STIFFNESS);
        x[2 * k + 1] = -x[2 * k];
    }
    p[count] = 2 * count;
    free(inverse);
    return c;
}

typedef struct peer_cost {
    double update, refactor, solve, difference;
} peer_cost;

static cholmod_dense *timed_solve(cholmod_factor *factor, cholmod_dense *b, double *seconds, cholmod_common *common)
{
    double min = HUGE_VAL;
    cholmod_dense *x = NULL;
    for (int i = 0; i < WARM; i++) {
        cholmod_free_dense(&x, common);
        const double began = bench_processor_seconds();
        x = cholmod_solve(CHOLMOD_A, factor, b, common);
        min = fmin(min, bench_processor_seconds() - began);
    }
    *seconds = min;
    return x;
}

static peer_cost cholmod_cost(const sinew_mesh *mesh, int32_t count, cholmod_common *common)
{
    peer_cost found = {0};
    int32_t *gone = malloc((size_t)count * sizeof *gone);
    choose(gone, count, sinew_mesh_edge_count(mesh));
    cholmod_sparse *whole = make_matrix(mesh, NULL, 0, common), *left = make_matrix(mesh, gone, count, common);
    cholmod_dense *b = cholmod_ones(whole->nrow, 3, CHOLMOD_REAL, common);
    for (size_t i = 0; i < 3 * whole->nrow; i++)
        ((double *)b->x)[i] = (double)(i * 7919 % 1000) / 1000;
    cholmod_factor *factor = cholmod_analyze(whole, common), *anew = NULL;
    cholmod_factorize(whole, factor, common);
    cholmod_change_factor(CHOLMOD_REAL, 0, 0, 1, 1, factor, common); /* LDL^T, which updates require */
    cholmod_sparse *columns = make_columns(mesh, gone, count, factor, common);
    double began = bench_processor_seconds();
    cholmod_updown(0, columns, factor, common);
    found.update = bench_processor_seconds() - began;
    began = bench_processor_seconds();
    anew = cholmod_analyze(left, common);
    cholmod_factorize(left, anew, common);
    found.refactor = bench_processor_seconds() - began;
    double ignored;
    cholmod_dense *x = timed_solve(factor, b, &found.solve, common), *y = timed_solve(anew, b, &ignored, common);
    double largest = 0, apart = 0;
    for (size_t i = 0; i < 3 * whole->nrow; i++) {
        largest = fmax(largest, fabs(((double *)y->x)[i]));
        apart = fmax(apart, fabs(((double *)x->x)[i] - ((double *)y->x)[i]));
    }
    found.difference = apart / largest;
    cholmod_free_dense(&x, common);
    cholmod_free_dense(&y, common);
    cholmod_free_dense(&b, common);
    cholmod_free_factor(&factor, common);
    cholmod_free_factor(&anew, common);
    cholmod_free_sparse(&columns, common);
    cholmod_free_sparse(&whole, common);
    cholmod_free_sparse(&left, common);
    free(gone);
    return found;
}

int main(void)
{
    sinew_mesh *mesh = make_cloth();
    cholmod_common common;
    cholmod_start(&common);
    common.final_ll = 0;
    printf("%d vertices, %d edges, %d-bit reals; ms\n", SIDE * SIDE, sinew_mesh_edge_count(mesh),
           (int)(8 * sizeof(sinew_real)));
    printf("%6s | %27s | %19s | %28s | %s\n", "edges", "sinew: update, per solve", "new factor",
           "cholmod: updown, anew", "its solve, difference");
    for (int32_t count = 1; count <= 1024; count *= 4) {
        const cost updated = library_cost(mesh, count, true), anew = library_cost(mesh, count, false);
        const peer_cost peer = cholmod_cost(mesh, count, &common);
        printf("%6d | %13.2f %+13.3f | %19.2f | %13.2f %14.2f | %.2f %.1e\n", (int)count, 1e3 * updated.change,
               1e3 * updated.solve, 1e3 * anew.change, 1e3 * peer.update, 1e3 * peer.refactor, 1e3 * peer.solve,
               peer.difference);
    }
    cholmod_finish(&common);
    sinew_mesh_destroy(mesh);
    return 0;
}
