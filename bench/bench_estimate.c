/* SPDX-License-Identifier: MIT
 *
 * bench_estimate.c: cost of one estimate of gap and position error, in Newton iterations of the same world, for ten
 * scenes and eight solvers with their default iterations. Each entry is the median over the steps: by the model of work
 * (solve/work.h), then by processor time over that of one Newton iteration, from the steps of newton. A letter after an entry tells that some
 * estimate is unknown (u: of the gap, p: of the position error alone). "-": the solver does not take the scene.
 *
 * Usage: bench_estimate [steps [scene.json ...]]; 6 steps of the ten scenes unless given; run from the source folder.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sinew/scene.h"
#include "solve/driver/newton_decrement.h"
#include "solve/driver/objective_gap.h"
#include "world/world.h"

enum {
    STEPS_MAX = 60
};

static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PD,  SINEW_SOLVER_QN,   SINEW_SOLVER_ADMM,
                                          SINEW_SOLVER_XPBD,   SINEW_SOLVER_PBD, SINEW_SOLVER_PBNG, SINEW_SOLVER_MPBNG};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* Work and seconds of the estimates of a run, and what was unknown. */
typedef struct run {
    double work[STEPS_MAX], seconds[STEPS_MAX];
    double solver_work, iteration_seconds; /* of all steps; of one iteration */
    int32_t count, unknown, position_unknown;
} run;

/* Repeats the estimate of the last step, which has no contact hooks any more: the descent for the position error with
 * contact is not in this time. */
static double time_estimate(sinew_solve *s)
{
    const double began = bench_processor_seconds();
    sinew_gap_find(s);
    return bench_processor_seconds() - began;
}

static void take_steps(sinew_world *world, int32_t steps, run *r)
{
    double seconds = 0;
    int32_t iterations = 0;
    for (int32_t i = 0; i < steps; i++) {
        sinew_step_result result;
        const double began = bench_processor_seconds();
        sinew_world_step(world, &result);
        seconds += (bench_processor_seconds() - began) * result.seconds / (result.seconds + result.gap_seconds);
        iterations += result.iterations;
        r->solver_work += sinew_solve_work(&world->solve);
        if (result.gap_kind == SINEW_GAP_NONE || !world->solve.gap)
            continue;
        const sinew_gap *gap = world->solve.gap;
        r->work[r->count] = gap->work / gap->model.newton;
        r->seconds[r->count++] = time_estimate(&world->solve);
        r->unknown += result.gap_kind == SINEW_GAP_UNKNOWN;
        r->position_unknown += result.position_error_kind == SINEW_GAP_UNKNOWN;
    }
    r->iteration_seconds = iterations > 0 ? seconds / iterations : 0;
}

/* Runs a scene by a solver; false if the solver does not take the scene. */
static bool run_scene(const char *path, sinew_solver_kind kind, int32_t steps, run *r)
{
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    const char *threads = "threads=1";
    def.settings = &threads;
    def.setting_count = 1;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    sinew_world *world = sinew_scene_world(scene);
    sinew_solver_def solver = sinew_default_solver_def(kind);
    *r = (run){.count = 0};
    const bool taken =
        sinew_world_set_solver(world, &solver, &error) == SINEW_OK && sinew_world_prepare(world, &error) == SINEW_OK;
    if (taken)
        take_steps(world, steps, r);
    sinew_scene_destroy(scene);
    return taken;
}

/* All medians of work, for the last line. */
typedef struct medians {
    double work[1024];
    int count;
} medians;

static void print_scene(const char *path, int32_t steps, medians *all)
{
    run r;
    double newton_seconds = 0;
    const char *slash = strrchr(path, '/');
    printf("%-22s", slash ? slash + 1 : path);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        if (!run_scene(path, kinds[k], steps, &r) || r.count == 0) {
            printf(" %14s", "-");
            continue;
        }
        if (k == 0)
            newton_seconds = r.iteration_seconds;
        const double work = bench_middle(r.work, r.count), seconds = bench_middle(r.seconds, r.count);
        printf(" %6.2f %6.2f%c", work, seconds / newton_seconds, r.unknown ? 'u' : r.position_unknown ? 'p' : ' ');
        if (all->count < 1024)
            all->work[all->count++] = work;
        fflush(stdout);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const char *const scenes[] = {"scenes/bracket.json",      "scenes/cantilever.json",    "scenes/drop.json",
                                         "scenes/flag.json",         "scenes/hanging_cloth.json", "scenes/jelly.json",
                                         "scenes/spring_bed.json",   "scenes/swinging_rope.json", "scenes/torus.json",
                                         "scenes/twist_release.json"};
    const int32_t steps = argc > 1 ? atoi(argv[1]) : 6;
    if (steps < 1 || steps > STEPS_MAX) {
        fprintf(stderr, "bench_estimate: steps is %s, must be in [1, %d]\n", argv[1], STEPS_MAX);
        return 2;
    }
    medians all = {.count = 0};
    printf("one estimate in Newton iterations, by work and by time, " SINEW_PRECISION ", %d steps\n%-22s", (int)steps,
           "");
    for (size_t k = 0; k < KIND_COUNT; k++)
        printf(" %14s", sinew_get_solver_info(kinds[k])->name);
    printf("\n");
    if (argc > 2)
        for (int a = 2; a < argc; a++)
            print_scene(argv[a], steps, &all);
    else
        for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
            print_scene(scenes[i], steps, &all);
    printf("median over all entries: %.2f Newton iterations; %d entries\n", bench_middle(all.work, all.count),
           all.count);
    return 0;
}
