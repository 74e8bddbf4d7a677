/* SPDX-License-Identifier: MIT
 *
 * bench_gap.c: what the estimate of the energy gap after a step costs (src/solve/gap.h): milliseconds of one iteration
 * and of one estimate of each solver on one thread (median, processor time), their ratio, and the bytes a vertex that
 * the estimate takes: two vectors, and a matrix where the solver has none.
 *
 * Usage: bench_gap [n ...]; blocks of n^3 vertices and 5 (n-1)^3 tets pinned at one side, n = 24 unless given.
 */
#include <stdio.h>

#include "bench.h"
#include "block.h"
#include "solve/gap.h"
#include "tally.h"

typedef struct scene {
    tally memory;
    sinew_world *world;
    size_t bytes; /* of the estimate */
} scene;

static void pin_side(sinew_world *world, sinew_body body, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    int32_t count = 0, *side = malloc((size_t)n * sizeof *side);
    sinew_real low = X[0];
    for (int32_t i = 0; i < n; i++)
        low = X[3 * i] < low ? X[3 * i] : low;
    for (int32_t i = 0; i < n; i++)
        if (X[3 * i] == low)
            side[count++] = i;
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = body;
    pins.vertices = side;
    pins.vertex_count = count;
    sinew_world_add_pins(world, &pins, error);
    free(side);
}

/* A block a little out of place, ready to iterate. */
static void make_scene(scene *s, int n, sinew_solver_kind kind)
{
    sinew_error error = {0};
    *s = (scene){0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &s->memory};
    def.thread_count = 1;
    def.quasistatic = sinew_get_solver_info(kind)->static_only;
    def.solver = sinew_default_solver_def(kind);
    def.solver.tolerance = 0;
    sinew_world *world = s->world = bench_block(&def, n, SINEW_ENERGY_STRAIN);
    pin_side(world, (sinew_body){0}, &error);
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        bench_give_up(&error);
    const size_t with = s->memory.held;
    sinew_gap_destroy(&world->solve);
    s->bytes = with - s->memory.held;
    if (sinew_gap_create(&world->solve, &error) != SINEW_OK)
        bench_give_up(&error);
    sinew_world_predict(world);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        if (!world->objective.pinned[i / 4])
            world->solve.q[i] = world->q[i] + bench_shift(n, i);
    world->solve.q_start = world->q;
    world->solve.ops->begin(&world->solve);
    sinew_solve_evaluate(&world->solve);
    world->solve.scale = world->solve.residual;
}

static void iterate(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    solve->ops->iterate(solve);
}

static void estimate(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    sinew_solve_evaluate(solve);
    sinew_gap_find(solve);
}

static void row(int n, sinew_solver_kind kind)
{
    scene s;
    const int runs = n <= 40 ? 9 : 3;
    make_scene(&s, n, kind);
    const double iteration = bench_median_cpu(iterate, &s, runs), gap = bench_median_cpu(estimate, &s, runs);
    printf("%-10s %10.2f ms %10.2f ms %8.2f %9.0f B\n", sinew_get_solver_info(kind)->name, 1e3 * iteration, 1e3 * gap,
           gap / iteration, (double)s.bytes / ((double)n * n * n));
    fflush(stdout);
    sinew_world_destroy(s.world);
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc || a == 1; a++) {
        const int n = argc > 1 ? atoi(argv[a]) : 24;
        if (n < 2 || n > 256) {
            fprintf(stderr, "bench_gap: n is %d, must be in [2, 256]\n", n);
            return 2;
        }
        printf("n = %d block, " SINEW_PRECISION ", lanes %s; the estimate of the gap\n", n, sinew_lanes_name());
        printf("%-10s %13s %13s %8s %11s\n", "", "an iteration", "the estimate", "ratio", "a vertex");
        for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
            if (kind != SINEW_SOLVER_NEWTON || n <= 32) /* whose factor grows much faster than all else */
                row(n, (sinew_solver_kind)kind);
    }
    return 0;
}
