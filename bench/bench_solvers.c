/* SPDX-License-Identifier: MIT
 *
 * bench_solvers.c: what an iteration of each solver costs on the n = 32 block (32 768 vertices, 148 955 tets), beside
 * public codes on the same problem in the same run, and how much memory each solver holds.
 *
 * One thread is timed in the processor's own time, which a busy machine does not stretch, on each of two cores; two
 * threads on the wall clock. They go by turns over some seconds, and a ratio is the median of the ratios of the turns.
 * A machine may have less than two cores to give, for instance where a neighbour shares one: the column "machine" is
 * what two threads gain, in the same turns, on arithmetic that needs no memory, and "trip" how long a cache line takes
 * to the other core and back.
 *
 * Usage: bench_solvers [WORDS]  only rows whose names begin so, and no other codes
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "peers.h"
#include "solve/global_step.h"
#include "solve/solver.h"
#include "solve/sweep.h"
#include "tally.h"

enum {
    N = 32,
    TURNS = 31, /* at most, and at least TURNS_LEAST however long a turn takes */
    TURNS_LEAST = 9,
    RUNS = 5, /* a turn */
    ROW_SECONDS = 3
};

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct scene {
    tally memory;
    sinew_world *world;
    int32_t element_count;
    size_t before;               /* bytes held before the solver was prepared */
    size_t *first_lane;          /* [tasks] what ADMM's local step needs, the solver's own being its own */
    sinew_real *weights, *duals; /* [lanes], [lanes * 9] */
} scene;

/* A block of one energy, its particles a little out of place, ready to iterate. */
static void make_scene(scene *s, sinew_energy_kind kind, sinew_solver_kind solver, const char *option, int32_t choice,
                       int32_t threads)
{
    sinew_error error = {0};
    *s = (scene){0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &s->memory};
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(solver);
    def.solver.tolerance = 0;
    if (option)
        def.solver.parameters[sinew_solver_parameter(solver, option)] = (sinew_real)choice;
    s->world = bench_block(&def, N, kind);
    s->element_count = s->world->energies[0].batch->element_count;
    sinew_world_predict(s->world);
    s->before = s->memory.held;
    for (size_t i = 0; i < 4 * (size_t)s->world->particle_count; i++)
        s->world->q[i] += bench_shift(N, i);
    if (sinew_world_prepare(s->world, &error) != SINEW_OK)
        bench_give_up(&error);
    sinew_world_predict(s->world);
    memcpy(s->world->solve.q, s->world->q, 4 * (size_t)s->world->particle_count * sizeof(sinew_real));
    s->world->solve.ops->begin(&s->world->solve);
}

/* Weights and duals of ADMM's local step, for energies of nine rows an element. */
static void make_local(scene *s)
{
    const sinew_objective *o = &s->world->objective;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const size_t lanes = sinew_global_weight_count(o);
    s->first_lane = sinew_allocate(&allocator, (size_t)o->task_count, sizeof *s->first_lane);
    s->weights = sinew_allocate(&allocator, lanes, sizeof *s->weights);
    s->duals = sinew_allocate_zero(&allocator, 9 * lanes, sizeof *s->duals);
    if (!s->first_lane || !s->weights || !s->duals)
        exit(1);
    sinew_global_stiffness(o, 0.5, 1.5, s->weights);
    for (int32_t t = 0; t < o->task_count; t++)
        s->first_lane[t] = t == 0 ? 0
                                  : s->first_lane[t - 1] + (size_t)o->tasks[t - 1].chunk->group_count *
                                                               (size_t)o->tasks[t - 1].batch->width;
}

static void release_scene(scene *s)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    void *arrays[] = {s->first_lane, s->weights, s->duals};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    sinew_world_destroy(s->world);
}

static void prox_task(void *context, int32_t task, sinew_kernel *kernel)
{
    const scene *s = context;
    kernel->weights = s->weights + s->first_lane[task];
    kernel->u = s->duals + 9 * s->first_lane[task];
    s->world->objective.tasks[task].batch->ops->local_prox(kernel);
}

static void prox_step(void *context)
{
    sinew_world *world = ((scene *)context)->world;
    sinew_objective_local(&world->objective, world->solve.q, prox_task, context, world->solve.velocity);
}

static void iterate(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    solve->ops->iterate(solve);
}

static void local_step(void *context)
{
    sinew_world *world = ((scene *)context)->world;
    sinew_objective_gradient(&world->objective, world->solve.q, world->solve.gradient, NULL);
}

static void global_step(void *context)
{
    sinew_solve *solve = &((scene *)context)->world->solve;
    solve->ops->precondition(solve, solve->velocity);
}

/* Seconds at one thread (processor time) and two (wall clock): the medians of the turns, and the least. */
typedef struct timing {
    double one, two, ratio, one_least, two_least;
    double machine, trip; /* what two threads gain on plain arithmetic, and how far apart they are, in the same turns */
} timing;

static timing time_body(bench_body *body, sinew_energy_kind kind, sinew_solver_kind solver, const char *option,
                        int32_t choice, int32_t *element_count, double *bytes)
{
    scene scenes[2]; /* with one thread and with two */
    double one[TURNS], two[TURNS], ratio[TURNS], machine[TURNS], trip[TURNS];
    for (int32_t i = 0; i < 2; i++) {
        make_scene(&scenes[i], kind, solver, option, choice, i + 1);
        sinew_solve_evaluate(&scenes[i].world->solve);
        make_local(&scenes[i]);
    }
    const double began = sinew_seconds();
    int turn = 0;
    for (; turn < TURNS && (turn < TURNS_LEAST || sinew_seconds() - began < ROW_SECONDS); turn++) {
        one[turn] = bench_one_thread(body, &scenes[0], RUNS);
        two[turn] = bench_two_threads(body, &scenes[1], RUNS);
        ratio[turn] = one[turn] / two[turn];
        machine[turn] = bench_machine();
        trip[turn] = bench_round_trip();
    }
    if (element_count)
        *element_count = scenes[0].element_count;
    if (bytes)
        *bytes = (double)(scenes[0].memory.held - scenes[0].before);
    for (int32_t i = 0; i < 2; i++)
        release_scene(&scenes[i]);
    turn -= 1 - turn % 2; /* a number of turns that has a middle */
    timing t = {.one = bench_middle(one, turn), .two = bench_middle(two, turn), .ratio = bench_middle(ratio, turn)};
    t.one_least = one[0]; /* sorted now */
    t.two_least = two[0];
    t.machine = bench_middle(machine, turn);
    t.trip = bench_middle(trip, turn);
    return t;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *wanted = ""; /* how the names of rows begin */

static bool skips(const char *what)
{
    return strncmp(what, wanted, strlen(wanted)) != 0;
}

static void per_element(const char *what, bench_body *body, sinew_energy_kind kind, sinew_solver_kind solver,
                        const char *option, int32_t choice)
{
    int32_t count;
    double bytes;
    if (skips(what))
        return;
    timing t = time_body(body, kind, solver, option, choice, &count, &bytes);
    printf("%-38s %7.1f ns %7.1f ns %6.2fx %7.1f ns %7.1f ns %6.2fx %6.2fx %4.0f ns %6.0f B %6.0f B\n", what,
           1e9 * t.one / count, 1e9 * t.two / count, t.ratio, 1e9 * t.one_least / count, 1e9 * t.two_least / count,
           t.one_least / t.two_least, t.machine, 1e9 * t.trip, bytes / count, bytes / (N * N * N));
}

static void global_row(void)
{
    const char *what = "global step, three right-hand sides";
    if (skips(what))
        return;
    timing t = time_body(global_step, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PD, NULL, 0, NULL, NULL);
    printf("%-38s %7.2f ms %7.2f ms %6.2fx %7.2f ms %7.2f ms %6.2fx %6.2fx %4.0f ns\n", what, 1e3 * t.one, 1e3 * t.two,
           t.ratio, 1e3 * t.one_least, 1e3 * t.two_least, t.one_least / t.two_least, t.machine, 1e9 * t.trip);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted = argv[1];
    printf("n = %d block, " SINEW_PRECISION
           ", lanes %s; time per element, solver's memory per element and per vertex\n",
           N, sinew_lanes_name());
    printf("%-38s %10s %10s %7s %10s %10s %7s %7s %7s %8s %8s\n", "median, then the least turn", "1 thread",
           "2 threads", "ratio", "1 thread", "2 threads", "ratio", "machine", "trip", "element", "vertex");
    per_element("pd, local step (strain)", local_step, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PD, NULL, 0);
    global_row();
    per_element("pd, whole iteration", iterate, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PD, NULL, 0);
    per_element("qn, whole iteration (strain)", iterate, SINEW_ENERGY_STRAIN, SINEW_SOLVER_QN, NULL, 0);
    per_element("qn, whole iteration (neo_hookean)", iterate, SINEW_ENERGY_NEO_HOOKEAN, SINEW_SOLVER_QN, NULL, 0);
    per_element("admm, local step (strain)", prox_step, SINEW_ENERGY_STRAIN, SINEW_SOLVER_ADMM, NULL, 0);
    per_element("admm, local step (neo_hookean)", prox_step, SINEW_ENERGY_NEO_HOOKEAN, SINEW_SOLVER_ADMM, NULL, 0);
    per_element("admm, whole iteration (strain)", iterate, SINEW_ENERGY_STRAIN, SINEW_SOLVER_ADMM, NULL, 0);
    per_element("admm, whole iteration (neo_hookean)", iterate, SINEW_ENERGY_NEO_HOOKEAN, SINEW_SOLVER_ADMM, NULL, 0);
    per_element("xpbd, strain", iterate, SINEW_ENERGY_STRAIN, SINEW_SOLVER_XPBD, NULL, 0);
    per_element("xpbd, neo_hookean combined", iterate, SINEW_ENERGY_NEO_HOOKEAN, SINEW_SOLVER_XPBD, "neo_hookean", 0);
    per_element("xpbd, neo_hookean split", iterate, SINEW_ENERGY_NEO_HOOKEAN, SINEW_SOLVER_XPBD, "neo_hookean", 1);
    per_element("xpbd, distance constraints", iterate, SINEW_ENERGY_SPRING, SINEW_SOLVER_XPBD, NULL, 0);
    if (argc < 2)
        bench_peers(N, bench_pin);
    return 0;
}
