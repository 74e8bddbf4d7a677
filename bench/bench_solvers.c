/* SPDX-License-Identifier: MIT
 *
 * bench_solvers.c: cost of an iteration of each solver on the n = 32 block (32 768 vertices, 148 955 tets), compared
 * with public codes on the same problem in the same run, and the memory of each solver.
 *
 * One thread is timed in processor time, which other processes do not increase, on each of two cores; two threads on
 * the wall clock. They take turns over some seconds, and a ratio is the median of the ratios of the turns. Because the
 * machine may be shared and have less than two free cores, each turn ends with arithmetic without memory traffic
 * (bench_machine). Turns in which the arithmetic is slow, or gains little from two threads, do not count, unless fewer
 * than TURNS_MIN others remain; the column "turns" has the counted and the total number. The column "machine" is the
 * speed-up of two threads on this arithmetic, and "trip" the round-trip time of a cache line to the other core, both
 * over all turns. Other codes are timed in the same way.
 *
 * Usage: bench_solvers [WORDS]; only rows whose names begin with WORDS, without the other codes
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "peers.h"
#include "solve/projective/global_system.h"
#include "solve/solver.h"
#include "solve/constraint_sweep/sweep.h"
#include "tally.h"

enum {
    N = 32,
    TURNS_MAX = 93,
    TURNS_MIN = 9, /* fewest counted turns for which uncounted ones are ignored */
    TURNS = 31,    /* largest number of counted turns */
    RUNS = 5,      /* calls per turn */
    CLOTH = 81,    /* vertices along a side */
    CLOTH_TURNS = 31,
    CLOTH_RUNS = 21,
    ROW_SECONDS = 3,
    ROW_SECONDS_MAX = 12 /* s, limit of a row with fewer than TURNS_MIN counted turns */
};

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct scene {
    tally memory;
    sinew_world *world;
    int32_t element_count;
    size_t before;               /* bytes held before the solver was prepared */
    size_t *first_wide;          /* [tasks] input of ADMM's local step, separate from the solver's */
    sinew_real *weights, *duals; /* [padded_count], [9 * padded_count] of make_local() */
} scene;

/* Displaces the particles slightly and prepares the world to iterate; n: cells along a side. */
static void start_scene(scene *s, int n)
{
    sinew_error error = {0};
    s->element_count = s->world->energies[0].batch->element_count;
    sinew_world_predict(s->world);
    s->before = s->memory.held;
    for (size_t i = 0; i < 4 * (size_t)s->world->particle_count; i++)
        s->world->q[i] += bench_shift(n, i);
    if (sinew_world_prepare(s->world, &error) != SINEW_OK)
        bench_give_up(&error);
    sinew_world_predict(s->world);
    memcpy(s->world->solve.q, s->world->q, 4 * (size_t)s->world->particle_count * sizeof(sinew_real));
    s->world->solve.ops->begin(&s->world->solve);
}

/* A block of one energy, prepared to iterate. */
static void make_scene(scene *s, sinew_energy_kind kind, sinew_solver_kind solver, const char *option, int32_t choice,
                       int32_t threads)
{
    *s = (scene){0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){tally_allocate, tally_release, &s->memory};
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(solver);
    def.solver.tolerance = 0;
    if (option)
        def.solver.parameters[sinew_solver_parameter(solver, option)] = (sinew_real)choice;
    s->world = bench_block(&def, N, kind);
    start_scene(s, N);
}

/* Weights and duals of ADMM's local step, for energies with nine reduced coordinates per element. */
static void make_local(scene *s)
{
    const sinew_objective *o = &s->world->objective;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const size_t padded_count = sinew_tasks_padded_count(o, 0, o->task_count);
    s->first_wide = sinew_allocate(&allocator, (size_t)o->task_count, sizeof *s->first_wide);
    s->weights = sinew_allocate(&allocator, padded_count, sizeof *s->weights);
    s->duals = sinew_allocate_zero(&allocator, 9 * padded_count, sizeof *s->duals);
    if (!s->first_wide || !s->weights || !s->duals)
        exit(1);
    sinew_element_weights(o, 0, o->task_count, &(sinew_weight_assignment){0.5, 1.5, 1}, s->weights);
    for (int32_t t = 0; t < o->task_count; t++)
        s->first_wide[t] = t == 0 ? 0
                                  : s->first_wide[t - 1] + (size_t)o->tasks[t - 1].chunk->group_count *
                                                               (size_t)o->tasks[t - 1].batch->width;
}

static void release_scene(scene *s)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    void *arrays[] = {s->first_wide, s->weights, s->duals};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    sinew_world_destroy(s->world);
}

static void prox_task(void *context, int32_t task, sinew_reduced_kernel *kernel)
{
    const scene *s = context;
    kernel->weights = s->weights + s->first_wide[task];
    kernel->u = s->duals + 9 * s->first_wide[task];
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
    solve->ops->precondition(solve, solve->gradient, solve->velocity);
}

/* One turn. one, two: seconds with one thread (processor time) and with two (wall clock); ratio: one / two; machine:
 * speed-up of two threads on arithmetic; trip: round trip of a cache line; counts: the turn counts. */
typedef struct turn {
    double one, two, ratio, machine, trip;
    bool counts;
} turn;

/* Medians of the counted turns, and the smallest seconds; machine and trip are medians of all turns. */
typedef struct timing {
    turn middle;
    double one_min, two_min;
    int counted, all;
} timing;

/* context[0] is the body's context with one thread, context[1] that with two; NULL: one thread only. */
static turn take_turn(bench_body *body, void *const context[2])
{
    turn t = {.one = bench_one_thread(body, context[0], RUNS)};
    t.two = context[1] ? bench_two_threads(body, context[1], RUNS) : t.one;
    t.ratio = t.one / t.two;
    const bench_machine machine = bench_machine_now();
    t.machine = machine.gain;
    t.trip = bench_round_trip();
    t.counts = bench_is_ours(machine);
    return t;
}

/* Median of the field at `offset` over all turns, or over the counted ones; *min: its smallest value. */
static double middle_of(const turn *turns, int count, bool counting, size_t offset, double *min)
{
    double values[TURNS_MAX];
    int found = 0;
    for (int i = 0; i < count; i++)
        if (turns[i].counts || !counting)
            memcpy(&values[found++], (const char *)&turns[i] + offset, sizeof values[0]);
    const double middle = bench_middle(values, found);
    if (min)
        *min = values[0]; /* bench_middle() has sorted the values */
    return middle;
}

static timing time_turns(bench_body *body, void *const context[2])
{
    turn turns[TURNS_MAX];
    const double began = sinew_seconds();
    int all = 0, counted = 0;
    while (all < TURNS_MIN || (all < TURNS_MAX && counted < TURNS &&
                               sinew_seconds() - began < (counted < TURNS_MIN ? ROW_SECONDS_MAX : ROW_SECONDS))) {
        turns[all] = take_turn(body, context);
        counted += turns[all++].counts;
    }
    const bool counting = counted >= TURNS_MIN;
    timing t = {.counted = counted, .all = all};
    t.middle.one = middle_of(turns, all, counting, offsetof(turn, one), &t.one_min);
    t.middle.two = middle_of(turns, all, counting, offsetof(turn, two), &t.two_min);
    t.middle.ratio = middle_of(turns, all, counting, offsetof(turn, ratio), NULL);
    t.middle.machine = middle_of(turns, all, false, offsetof(turn, machine), NULL);
    t.middle.trip = middle_of(turns, all, false, offsetof(turn, trip), NULL);
    return t;
}

static timing time_body(bench_body *body, sinew_energy_kind kind, sinew_solver_kind solver, const char *option,
                        int32_t choice, int32_t *element_count, double *bytes)
{
    scene scenes[2]; /* scenes with one thread and with two */
    for (int32_t i = 0; i < 2; i++) {
        make_scene(&scenes[i], kind, solver, option, choice, i + 1);
        sinew_solve_evaluate(&scenes[i].world->solve);
        make_local(&scenes[i]);
    }
    const timing t = time_turns(body, (void *const[2]){&scenes[0], &scenes[1]});
    if (element_count)
        *element_count = scenes[0].element_count;
    if (bytes)
        *bytes = (double)(scenes[0].memory.held - scenes[0].before);
    for (int32_t i = 0; i < 2; i++)
        release_scene(&scenes[i]);
    return t;
}

static double time_peer(bench_body *body, void *context)
{
    return time_turns(body, (void *const[2]){context, NULL}).middle.one;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *wanted = ""; /* beginning of the names of selected rows */

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
    printf("%-38s %7.1f ns %7.1f ns %6.2fx %7.1f ns %7.1f ns %6.2fx %6.2fx %4.0f ns %3d/%-3d %6.0f B %6.0f B\n", what,
           1e9 * t.middle.one / count, 1e9 * t.middle.two / count, t.middle.ratio, 1e9 * t.one_min / count,
           1e9 * t.two_min / count, t.one_min / t.two_min, t.middle.machine, 1e9 * t.middle.trip, t.counted, t.all,
           bytes / count, bytes / (N * N * N));
}

static void global_row(void)
{
    const char *what = "global step, three right-hand sides";
    if (skips(what))
        return;
    timing t = time_body(global_step, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PD, NULL, 0, NULL, NULL);
    printf("%-38s %7.2f ms %7.2f ms %6.2fx %7.2f ms %7.2f ms %6.2fx %6.2fx %4.0f ns %3d/%-3d\n", what,
           1e3 * t.middle.one, 1e3 * t.middle.two, t.middle.ratio, 1e3 * t.one_min, 1e3 * t.two_min,
           t.one_min / t.two_min, t.middle.machine, 1e9 * t.middle.trip, t.counted, t.all);
}

/* ---- Cloth ----------------------------------------------------------------------------------- */

static sinew_mesh *cloth_mesh(void)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = CLOTH;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    if (!mesh)
        bench_give_up(&error);
    return mesh;
}

/* A cloth of springs by xpbd with slightly displaced particles, prepared to iterate. */
static void make_cloth(scene *s, const sinew_mesh *mesh, int32_t threads)
{
    sinew_error error = {0};
    *s = (scene){0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    s->world = sinew_world_create(&def, &error);
    if (!s->world)
        bench_give_up(&error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    energy.body = sinew_world_add_body(s->world, &body, &error);
    if (sinew_world_add_energy(s->world, &energy, &error).index < 0)
        bench_give_up(&error);
    start_scene(s, CLOTH);
}

/* xpbd and Bullet take turns; the ratios are medians of the ratios of the turns. */
static void cloth_row(void)
{
    const char *what = "xpbd, cloth of 81 x 81";
    if (skips(what))
        return;
    sinew_mesh *mesh = cloth_mesh();
    scene scenes[2];
    void *links = bench_links(mesh);
    double one[CLOTH_TURNS], two[CLOTH_TURNS], peer[CLOTH_TURNS], ratio[CLOTH_TURNS], ratio_two[CLOTH_TURNS];
    for (int32_t i = 0; i < 2; i++)
        make_cloth(&scenes[i], mesh, i + 1);
    for (int i = 0; i < CLOTH_TURNS; i++) {
        one[i] = bench_one_thread(iterate, &scenes[0], CLOTH_RUNS);
        peer[i] = links ? bench_one_thread(bench_links_solve, links, CLOTH_RUNS) : NAN;
        two[i] = bench_two_threads(iterate, &scenes[1], CLOTH_RUNS);
        ratio[i] = peer[i] / one[i];
        ratio_two[i] = peer[i] / two[i];
    }
    const double each = 1e9 / sinew_mesh_edge_count(mesh);
    printf("%-38s %7.2f ns %7.2f ns   an edge, 1 and 2 threads\n", what, each * bench_middle(one, CLOTH_TURNS),
           each * bench_middle(two, CLOTH_TURNS));
    if (links)
        printf("%-38s %7.2f ns   an edge, %d-bit reals: %.1f and %.1f times\n", "peer: Bullet PSolve_Links",
               each * bench_middle(peer, CLOTH_TURNS), bench_links_bits(), bench_middle(ratio, CLOTH_TURNS),
               bench_middle(ratio_two, CLOTH_TURNS));
    bench_links_destroy(links);
    for (int i = 0; i < 2; i++)
        release_scene(&scenes[i]);
    sinew_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted = argv[1];
    for (int i = 0; i < TURNS; i++) /* warm-up: finds the best speed of the machine */
        bench_machine_now();
    printf("n = %d block, " SINEW_PRECISION
           ", lanes %s; time per element, solver's memory per element and per vertex\n",
           N, sinew_simd_name());
    printf("%-38s %10s %10s %7s %10s %10s %7s %7s %7s %7s %8s %8s\n", "median, then the least turn", "1 thread",
           "2 threads", "ratio", "1 thread", "2 threads", "ratio", "machine", "trip", "turns", "element", "vertex");
    per_element("pd, local step (strain)", local_step, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PD, NULL, 0);
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
    per_element("pbd, strain", iterate, SINEW_ENERGY_STRAIN, SINEW_SOLVER_PBD, NULL, 0);
    cloth_row();
    global_row(); /* next to the rows that it is compared with: the speed of the machine varies */
    if (argc < 2)
        bench_peers(N, time_peer);
    return 0;
}
