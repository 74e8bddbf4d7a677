/* SPDX-License-Identifier: MIT
 *
 * bench_change.c: cost of a change of a running world: the first step after the change, and the steps after ten,
 * relative to a warm step of the same world. A block of n^3 vertices (24, or the argument) of strain energy, 10
 * iterations, nothing measured, one thread, processor time; then a cloth whose springs are switched off, and a long run
 * in which some of 10 000 weak pairs change in every step. --quick: fewer repeats, a shorter run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "solve/projective/global_system.h"
#include "tally.h"

enum {
    PAIRS = 100,
    MANY_PAIRS = 10000,
    ITERATIONS = 10
};

static int repeats = 5;

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct column {
    const char *name;
    sinew_solver_kind kind;
    const char *option, *choice;
    double pairs_max; /* limit of the first step with pairs, in warm steps */
} column;

static const column columns[] = {
    {"pd", SINEW_SOLVER_PD, NULL, NULL, 2.5},
    {"admm", SINEW_SOLVER_ADMM, NULL, NULL, 2.5},
    {"qn", SINEW_SOLVER_QN, NULL, NULL, 1.5},
    {"xpbd", SINEW_SOLVER_XPBD, NULL, NULL, 1.3},
    {"pbd", SINEW_SOLVER_PBD, NULL, NULL, 1.3},
    {"pbng", SINEW_SOLVER_PBNG, NULL, NULL, 1.3},
    {"newton cg", SINEW_SOLVER_NEWTON, "linear", "cg", 1.3},
};

static int option_value(sinew_solver_kind kind, int32_t index, const char *word)
{
    const char *at = sinew_get_solver_info(kind)->parameters[index].choices;
    int value = 0;
    for (; strncmp(at, word, strlen(word)) != 0 || (at[strlen(word)] != '|' && at[strlen(word)] != 0); value++)
        at = strchr(at, '|') + 1;
    return value;
}

static sinew_world_def world_def(const column *c, const sinew_allocator *allocator)
{
    sinew_world_def def = sinew_default_world_def();
    def.allocator = *allocator;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(c->kind);
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    if (c->option) {
        const int32_t index = sinew_solver_parameter(c->kind, c->option);
        def.solver.parameters[index] = (sinew_real)option_value(c->kind, index, c->choice);
    }
    return def;
}

static void must(const sinew_error *error)
{
    if (error->status != SINEW_OK)
        bench_give_up(error);
}

static double step(sinew_world *world)
{
    const double began = bench_processor_seconds();
    if (sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED) {
        fprintf(stderr, "%s\n", sinew_world_error(world));
        exit(1);
    }
    return bench_processor_seconds() - began;
}

/* Median of a few steps. */
static double steps(sinew_world *world, int count)
{
    double seconds[64];
    for (int i = 0; i < count; i++)
        seconds[i] = step(world);
    return bench_middle(seconds, count);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

typedef struct pairs {
    sinew_energy_def def;
    int32_t *elements;
    sinew_real *weights;
} pairs;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Chooses random points in two tets of the whole block, or of its first fiftieth. */
static void draw_pair(const sinew_world *world, bool patch, uint32_t *state, int32_t *elements, sinew_real *weights)
{
    const sinew_batch *batch = world->energies[0].batch;
    const uint32_t span = (uint32_t)batch->element_count / (patch ? 50 : 1);
    for (int point = 0; point < 2; point++) {
        sinew_real sum = 0;
        sinew_batch_particles(batch, (int32_t)(next_random(state) % span), elements + 4 * point);
        for (int a = 0; a < 4; a++)
            sum += weights[4 * point + a] = (sinew_real)(1 + next_random(state) % 1000);
        for (int a = 0; a < 4; a++)
            weights[4 * point + a] /= sum;
    }
}

/* Makes `count` weak pairs; `stiffness` is relative to the mean diagonal entry of the block's stiffness. */
static pairs make_pairs(const sinew_world *world, int32_t count, bool patch, double stiffness, uint32_t seed)
{
    pairs p = {.def = sinew_default_energy_def(SINEW_ENERGY_WEAK)};
    double diagonal = 0;
    for (int32_t i = 0; i < world->particle_count; i++)
        diagonal += world->solve.stiffness_of[i] / 3 / world->particle_count;
    p.elements = calloc((size_t)count * 8, sizeof *p.elements);
    p.weights = calloc((size_t)count * 8, sizeof *p.weights);
    if (!p.elements || !p.weights)
        exit(1);
    for (int32_t i = 0; i < count; i++)
        draw_pair(world, patch, &seed, p.elements + 8 * (size_t)i, p.weights + 8 * (size_t)i);
    p.def.body.index = -1;
    p.def.element_count = count;
    p.def.elements = p.elements;
    p.def.weights = p.weights;
    p.def.parameters[0] = p.def.parameters[1] = (sinew_real)(stiffness * diagonal);
    return p;
}

static void free_pairs(pairs *p)
{
    free(p->elements);
    free(p->weights);
}

/* Processor time of the first step with the pairs, of a step ten steps later, and of the first step without them,
 * relative to a warm step. */
static void measure_pairs(sinew_world *world, bool patch, double stiffness, double ratios[3])
{
    double seconds[3][16], warm[16];
    for (int r = 0; r < repeats; r++) {
        sinew_error error = {0};
        warm[r] = steps(world, 3);
        pairs p = make_pairs(world, PAIRS, patch, stiffness, (uint32_t)r + 1);
        const sinew_energy energy = sinew_world_add_energy(world, &p.def, &error);
        must(&error);
        seconds[0][r] = step(world);
        steps(world, 8);
        seconds[1][r] = steps(world, 3);
        sinew_world_remove_energy(world, energy, &error);
        must(&error);
        seconds[2][r] = step(world);
        free_pairs(&p);
    }
    const double unit = bench_middle(warm, repeats);
    for (int k = 0; k < 3; k++)
        ratios[k] = bench_middle(seconds[k], repeats) / unit;
}

/* ---- Other changes --------------------------------------------------------------------------- */

typedef enum change {
    CHANGE_ITERATIONS,
    CHANGE_TOLERANCE,
    CHANGE_YOUNG,
    CHANGE_TIME_STEP,
    CHANGE_COUNT
} change;

static void apply(sinew_world *world, change what, int r)
{
    sinew_solver_def def = world->def.solver;
    sinew_error error = {0};
    const sinew_energy first = {.index = 0, .generation = world->energies[0].generation};
    if (what == CHANGE_ITERATIONS)
        def.iterations = ITERATIONS + r % 2;
    if (what == CHANGE_TOLERANCE)
        def.tolerance = (sinew_real)(r % 2 ? 0 : 1e-30);
    if (what == CHANGE_ITERATIONS || what == CHANGE_TOLERANCE)
        sinew_world_set_solver(world, &def, &error);
    else if (what == CHANGE_YOUNG)
        sinew_energy_set_parameter(world, first, "stiffness", (sinew_real)(1e5 * (1 + 0.1 * (r % 3))), &error);
    else
        sinew_world_set_time_step(world, (sinew_real)(1.0 / (60 + r % 3)), &error);
    must(&error);
}

/* Seconds of the first step after a change; *unit: seconds of a warm step. Both are scaled to ITERATIONS iterations. */
static double measure_change(sinew_world *world, change what, double *unit)
{
    double seconds[16], warm[16];
    for (int r = 0; r < repeats; r++) {
        apply(world, what, r + 1);
        seconds[r] = step(world);
        warm[r] = steps(world, 3);
        if (what == CHANGE_ITERATIONS)
            seconds[r] *= (double)ITERATIONS / world->def.solver.iterations,
                warm[r] *= (double)ITERATIONS / world->def.solver.iterations;
    }
    *unit = bench_middle(warm, repeats);
    return bench_middle(seconds, repeats);
}

/* Seconds of a numeric factorisation of the global matrix S. */
static double factorisation(sinew_world *world)
{
    sinew_global global;
    sinew_error error = {0};
    const sinew_global_rule rule = {.weight_assignment = {1, 1, 1}, .rescaled = true};
    double seconds[16];
    sinew_global_create(&global, &world->objective, &rule, &error);
    must(&error);
    for (int r = 0; r < repeats; r++) {
        const double began = bench_processor_seconds();
        sinew_factored_system_refactor(global.factor, global.matrix.value, &error);
        seconds[r] = bench_processor_seconds() - began;
    }
    printf("factor: %.1f MB, with L in double for new numbers %.1f MB more\n",
           1e-6 * ((double)sinew_factored_system_memory(global.factor) -
                   8e0 * (double)sinew_factored_system_size(global.factor)),
           8e-6 * (double)sinew_factored_system_size(global.factor));
    sinew_global_destroy(&global, &world->objective);
    return bench_middle(seconds, repeats);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void measure_solver(const column *c, int n, double factor)
{
    static const double stiffness[3] = {0.01, 1, 100};
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_world_def def = world_def(c, &allocator);
    sinew_world *world = bench_block(&def, n, SINEW_ENERGY_STRAIN);
    double unit, young_unit;
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        world->q[i] += bench_shift(n, i);
    steps(world, 3);
    const double warm = steps(world, 5), more = measure_change(world, CHANGE_ITERATIONS, &unit) / unit;
    const double tolerance = measure_change(world, CHANGE_TOLERANCE, &unit) / unit;
    const double young = measure_change(world, CHANGE_YOUNG, &young_unit);
    const double step_size = measure_change(world, CHANGE_TIME_STEP, &unit) / unit;
    printf("%-9s warm %6.1f ms  iterations %.2f  tolerance %.2f  new h %.2f  young %.2f", c->name, 1e3 * warm, more,
           tolerance, step_size, young / young_unit);
    if (factor > 0)
        printf(" = %.2f of (factorisation + 1.1 steps)", young / (factor + 1.1 * young_unit));
    printf("\n");
    for (int k = 0; k < 6; k++) {
        double ratios[3];
        measure_pairs(world, k >= 3, stiffness[k % 3], ratios);
        printf("          %6g x diagonal, %-9s +%d pairs %.2f (%.1f allowed)  ten steps later %.2f  -%d pairs %.2f\n",
               stiffness[k % 3], k >= 3 ? "one patch" : "scattered", PAIRS, ratios[0], c->pairs_max, ratios[1], PAIRS,
               ratios[2]);
    }
    fflush(stdout);
    sinew_world_destroy(world);
}

/* ---- Cloth ----------------------------------------------------------------------------------- */

static void measure_cloth(void)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 81;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    sinew_world_def def = world_def(&columns[0], &allocator);
    def.solver.iterations = 1;
    sinew_world *world = sinew_world_create(&def, &error);
    must(&error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def springs = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    springs.body = sinew_world_add_body(world, &body, &error);
    const sinew_energy energy = sinew_world_add_energy(world, &springs, &error);
    must(&error);
    const int32_t count = sinew_energy_element_count(world, energy);
    double warm[16], seconds[16];
    steps(world, 10);
    for (int32_t r = 0; r < 15; r++) {
        const int32_t element = (int32_t)((int64_t)count * (r + 1) / 17);
        warm[r] = steps(world, 5);
        sinew_energy_switch(world, energy, &element, 1, false, &error);
        must(&error);
        seconds[r] = step(world);
    }
    const double unit = bench_middle(warm, 15), first = bench_middle(seconds, 15);
    printf(
        "cloth of 81 x 81, %d springs, pd, one iteration: %.2f ms; one spring off: %.2f ms, %.2f times (3 allowed)\n",
        count, 1e3 * unit, 1e3 * first, first / unit);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

/* ---- A long run ------------------------------------------------------------------------------ */

static void long_run(const column *c, int n, int step_count)
{
    tally memory = {0};
    const sinew_allocator allocator = {tally_allocate, tally_release, &memory};
    const sinew_world_def def = world_def(c, &allocator);
    sinew_world *world = bench_block(&def, n, SINEW_ENERGY_STRAIN);
    sinew_error error = {0};
    steps(world, 1);
    pairs p = make_pairs(world, MANY_PAIRS, false, 1, 1);
    const sinew_energy energy = sinew_world_add_energy(world, &p.def, &error);
    must(&error);
    uint32_t state = 7;
    int64_t calls = 0;
    size_t held = 0;
    double seconds[2][64] = {{0}};
    for (int s = 0; s < step_count; s++) {
        const double began = bench_processor_seconds();
        for (int k = 0; k < MANY_PAIRS / 100; k++) {
            const size_t i = next_random(&state) % MANY_PAIRS;
            draw_pair(world, false, &state, p.elements + 8 * i, p.weights + 8 * i);
        }
        sinew_energy_set_elements(world, energy, &p.def, &error);
        must(&error);
        step(world);
        if (s == 49) {
            calls = memory.calls;
            held = memory.held;
        }
        if (s >= 50 && s < 70)
            seconds[0][s - 50] = bench_processor_seconds() - began;
        if (s >= step_count - 20)
            seconds[1][s - step_count + 20] = bench_processor_seconds() - began;
    }
    printf("%-9s 1 %% of %d pairs new in each of %d steps, n = %d: %lld calls for memory after 50 steps, memory %+lld "
           "bytes of %zu, step %.1f ms at first, %.1f ms at last\n",
           c->name, MANY_PAIRS, step_count, n, (long long)(memory.calls - calls),
           (long long)memory.held - (long long)held, memory.held, 1e3 * bench_middle(seconds[0], 20),
           1e3 * bench_middle(seconds[1], 20));
    fflush(stdout);
    free_pairs(&p);
    sinew_world_destroy(world);
}

int main(int count, char **words)
{
    int n = 24, only = -1;
    bool quick = false;
    for (int i = 1; i < count; i++) {
        quick = quick || strcmp(words[i], "--quick") == 0;
        n = atoi(words[i]) > 1 ? atoi(words[i]) : n;
        for (int k = 0; k < (int)(sizeof columns / sizeof columns[0]); k++)
            only = strcmp(words[i], columns[k].name) == 0 ? k : only;
    }
    repeats = quick ? 3 : 5;
    printf("changes of a running world, %s precision, n = %d, in units of a warm step\n", SINEW_PRECISION, n);
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_world_def def = world_def(&columns[0], &allocator);
    sinew_world *world = bench_block(&def, n, SINEW_ENERGY_STRAIN);
    steps(world, 1);
    const double factor = factorisation(world);
    sinew_world_destroy(world);
    printf("numeric factorisation %.1f ms\n", 1e3 * factor);
    for (int k = 0; k < (int)(sizeof columns / sizeof columns[0]); k++)
        if (only < 0 || only == k)
            measure_solver(&columns[k], n, k < 3 ? factor : 0);
    measure_cloth();
    for (int k = 0; k < (int)(sizeof columns / sizeof columns[0]); k++)
        if (only < 0 || only == k)
            long_run(&columns[k], quick ? 8 : 16, quick ? 100 : 1000);
    return 0;
}
