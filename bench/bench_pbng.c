/* SPDX-License-Identifier: MIT
 *
 * bench_pbng.c: cost of an iteration of pbng on the block of the paper, n^3 vertices and 5 (n-1)^3 tets: nanoseconds
 * per tet (all four of its visits) of the plain sweep, with one thread (median, processor time; minimum, wall clock)
 * and two (minimum, wall clock), the memory of the layout, and milliseconds next to table 1 of the paper (its own
 * machine, eight threads, corotated). "sor" adds the cost of its safeguard, one gradient.
 *
 * Usage: bench_pbng [n ...]; 32 by default. bench_pbng 32 64 128 shows linear growth if nanoseconds per tet are
 * constant.
 */
#include <stdio.h>

#include "bench.h"
#include "block.h"
#include "solve/solver.h"
#include "tally.h"

typedef struct scene {
    tally memory;
    sinew_world *world;
    size_t bytes; /* bytes allocated by the solver */
} scene;

static double tets_of(int n)
{
    return 5.0 * (n - 1) * (n - 1) * (n - 1);
}

/* A block of one energy with slightly displaced particles, prepared to iterate. */
static void make_scene(scene *s, int n, sinew_energy_kind kind, int exact, int sor, int32_t threads)
{
    sinew_error error = {0};
    *s = (scene){0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &s->memory};
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.solver.tolerance = 0;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBNG, "hessian")] = (sinew_real)exact;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBNG, "acceleration")] = (sinew_real)sor;
    sinew_world *world = s->world = bench_block(&def, n, kind);
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        bench_give_up(&error);
    const size_t with = s->memory.held;
    sinew_world_predict(world);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        world->solve.q[i] = world->q[i] + bench_shift(n, i);
    world->solve.ops->release(&world->solve);
    s->bytes = with - s->memory.held;
    if (world->solve.ops->prepare(&world->solve, &error) != SINEW_OK)
        bench_give_up(&error);
    world->solve.q_start = world->q;
    world->solve.ops->begin(&world->solve);
}

static void iterate(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    solve->ops->iterate(solve);
}

/* Seconds per iteration: the median with one thread, the minima with one and with two; and the bytes of the solver. */
static void measure(int n, sinew_energy_kind kind, int exact, int sor, double *median, double min[2], double *bytes)
{
    const int runs = n <= 40 ? 21 : n <= 80 ? 9 : 5;
    for (int32_t threads = 1; threads <= 2; threads++) {
        scene s;
        make_scene(&s, n, kind, exact, sor, threads);
        if (threads == 1)
            *median = bench_median_cpu(iterate, &s, runs);
        min[threads - 1] = bench_min(iterate, &s, 0.7);
        *bytes = (double)s.bytes;
        sinew_world_destroy(s.world);
    }
}

/* Milliseconds per iteration in table 1 of the paper; 0: not published. */
static double published(int n)
{
    return n == 32 ? 28 : n == 64 ? 65 : n == 128 ? 1520 : 0;
}

static void row(int n, sinew_energy_kind kind, int exact, int sor)
{
    double median, min[2], bytes;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", sinew_get_energy_info(kind)->name, exact ? ", exact" : "",
             sor ? ", sor" : "");
    measure(n, kind, exact, sor, &median, min, &bytes);
    printf("%-28s %8.1f ns %8.1f ns %8.1f ns %6.2fx %9.2f ms %7.0f B %7.0f B", name, 1e9 * median / tets_of(n),
           1e9 * min[0] / tets_of(n), 1e9 * min[1] / tets_of(n), min[0] / min[1], 1e3 * median, bytes / tets_of(n),
           bytes / ((double)n * n * n));
    if (published(n) > 0 && kind == SINEW_ENERGY_COROTATED && !exact && !sor)
        printf("   paper, 8 threads: %.0f ms", published(n));
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_STABLE_NEO_HOOKEAN,
                                              SINEW_ENERGY_COROTATED, SINEW_ENERGY_STRAIN};
    for (int a = 1; a < argc || a == 1; a++) {
        const int n = argc > 1 ? atoi(argv[a]) : 32;
        if (n < 2 || n > 256) {
            fprintf(stderr, "bench_pbng: n is %d, must be in [2, 256]\n", n);
            return 2;
        }
        printf("n = %d block, %.0f tets, " SINEW_PRECISION ", lanes %s; an iteration of pbng and its memory\n", n,
               tets_of(n), sinew_simd_name());
        printf("%-28s %11s %11s %11s %7s %12s %9s %9s\n", "", "median", "least", "2 threads", "ratio", "median", "tet",
               "vertex");
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            row(n, kinds[k], 0, 0);
        if (n > 40) /* the other rows are measured for small blocks only */
            continue;
        row(n, SINEW_ENERGY_NEO_HOOKEAN, 1, 0);
        row(n, SINEW_ENERGY_COROTATED, 1, 0);
        row(n, SINEW_ENERGY_COROTATED, 0, 1);
    }
    return 0;
}
