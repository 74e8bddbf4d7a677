/* SPDX-License-Identifier: MIT
 *
 * bench_gap.c: cost of measuring a step (sinew_measure). For each solver, on one thread and in processor time:
 * milliseconds of one iteration; of whole steps of ten iterations for each measure, as multiples of ten iterations; and
 * of the gap in iterations; Newton steps and conjugate gradient iterations of the gap; and its bytes per vertex.
 *
 * Usage: bench_gap [n ...]; blocks of n^3 vertices and 5 (n-1)^3 tets held at one side, n = 24 unless given.
 */
#include <stdio.h>

#include "bench.h"
#include "block.h"
#include "tally.h"

enum {
    ITERATIONS = 10
};

typedef struct scene {
    tally memory;
    sinew_world *world;
    sinew_step_result result; /* result of the last step */
} scene;

static void pin_side(sinew_world *world, sinew_body body, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    int32_t count = 0, *side = malloc((size_t)n * sizeof *side);
    for (int32_t i = 0; i < n; i++)
        if (X[3 * i] == X[0])
            side[count++] = i;
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = body;
    pins.vertices = side;
    pins.vertex_count = count;
    sinew_world_add_pins(world, &pins, error);
    free(side);
}

static void make_scene(scene *s, int n, sinew_solver_kind kind)
{
    sinew_error error = {0};
    *s = (scene){.memory = {0}};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &s->memory};
    def.thread_count = 1;
    def.quasistatic = sinew_get_solver_info(kind)->static_only;
    s->world = bench_block(&def, n, SINEW_ENERGY_STRAIN);
    pin_side(s->world, (sinew_body){.index = 0}, &error);
}

/* Prepares the world and returns the bytes that it holds. */
static size_t prepare(scene *s, sinew_solver_kind kind, sinew_measure measure)
{
    sinew_error error = {0};
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = ITERATIONS;
    def.tolerance = 0;
    def.measure = measure;
    if (sinew_world_set_solver(s->world, &def, &error) != SINEW_OK || sinew_world_prepare(s->world, &error) != SINEW_OK)
        bench_give_up(&error);
    return s->memory.held;
}

static void iterate(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    for (int i = 0; i < ITERATIONS; i++)
        solve->ops->iterate(solve);
}

static void step(void *context)
{
    scene *s = context;
    sinew_world_step(s->world, &s->result);
}

static void row(int n, sinew_solver_kind kind)
{
    scene s;
    double steps[SINEW_MEASURE_GAP + 1];
    size_t held[SINEW_MEASURE_GAP + 1];
    const int runs = n <= 40 ? 7 : 3;
    make_scene(&s, n, kind);
    for (int measure = SINEW_MEASURE_NOTHING; measure <= SINEW_MEASURE_GAP; measure++) {
        held[measure] = prepare(&s, kind, (sinew_measure)measure);
        steps[measure] = bench_median_cpu(step, &s, runs);
    }
    prepare(&s, kind, SINEW_MEASURE_NOTHING);
    step(&s);
    const double ten = bench_median_cpu(iterate, &s, runs);
    static const char *const kinds[] = {"none", "estimate", "below", "unknown"};
    prepare(&s, kind, SINEW_MEASURE_GAP);
    step(&s);
    printf("%-8s %8.2f ms %8.2f %9.2f %9.2f %11.1f %8s %6d %6d %7.0f B\n", sinew_get_solver_info(kind)->name,
           1e3 * ten / ITERATIONS, steps[0] / ten, steps[1] / ten, steps[2] / ten,
           ITERATIONS * (steps[2] - steps[1]) / ten, kinds[s.result.gap_kind], (int)s.result.gap_steps,
           (int)s.result.gap_linear_iterations, (double)(held[2] - held[1]) / ((double)n * n * n));
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
        printf("n = %d block, " SINEW_PRECISION ", lanes %s; steps of %d iterations, in multiples of the iterations\n",
               n, sinew_simd_name(), ITERATIONS);
        printf("%-8s %11s %8s %9s %9s %11s %8s %6s %6s %9s\n", "", "iteration", "nothing", "residual", "gap",
               "gap alone", "it is", "steps", "linear", "a vertex");
        for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
            /* Ten iterations of newton take long on a large block; integrators have no optimality gap. */
            if ((kind != SINEW_SOLVER_NEWTON || n <= 24) &&
                sinew_get_solver_info((sinew_solver_kind)kind)->default_iterations > 1 &&
                !sinew_get_solver_info((sinew_solver_kind)kind)->explicit_step)
                row(n, (sinew_solver_kind)kind);
    }
    return 0;
}
