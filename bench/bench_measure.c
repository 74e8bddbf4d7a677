/* SPDX-License-Identifier: MIT
 *
 * bench_measure.c: processor time of runs that measure residuals, and gaps as far as `auto` pays for them, over runs
 * that measure nothing, for ten scenes with their own solvers. Three worlds of a scene take steps in turn, and the runs
 * are repeated: steps have the same bits in each repetition, so a run is the sum of the smallest times of its steps.
 * Preparation is counted too, as it includes that of estimates.
 *
 * Usage: bench_measure [seconds [scene.json ...]]; runs end after `seconds` (1 unless given) of processor time with
 * nothing measured; run from the source folder.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sinew/scene.h"
#include "world/world.h"

enum {
    STEPS_MAX = 4000,
    REPETITIONS = 3,
    WAYS = 3
};

static const char *const ways[WAYS] = {"solver.measure=nothing", "solver.measure=residual", "solver.measure=auto"};

/* Smallest seconds of the preparation [0] and of each step, and steps with an estimate. */
typedef struct timing {
    double seconds[STEPS_MAX + 1];
    int32_t estimates;
} timing;

static sinew_scene *read_scene(const char *path, const char *way)
{
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    const char *settings[] = {"threads=1", way};
    def.path = path;
    def.settings = settings;
    def.setting_count = 2;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return scene;
}

static void take_in(timing *t, int32_t at, int repetition, double seconds)
{
    t->seconds[at] = repetition == 0 ? seconds : fmin(t->seconds[at], seconds);
}

/* Takes steps in turn: `steps` of them, or until the seconds are used up. Returns the number of steps. */
static int32_t run_in_turn(const char *path, int repetition, int32_t steps, double seconds_max, timing t[WAYS])
{
    sinew_scene *scenes[WAYS];
    double used = 0;
    int32_t step = 0;
    for (int w = 0; w < WAYS; w++) {
        scenes[w] = read_scene(path, ways[w]);
        const double began = bench_processor_seconds();
        sinew_world_prepare(sinew_scene_world(scenes[w]), NULL);
        take_in(&t[w], 0, repetition, bench_processor_seconds() - began);
        t[w].estimates = 0;
    }
    while (step < steps && used < seconds_max) {
        step++;
        for (int w = 0; w < WAYS; w++) {
            sinew_step_result result;
            const double began = bench_processor_seconds();
            sinew_world_step(sinew_scene_world(scenes[w]), &result);
            const double seconds = bench_processor_seconds() - began;
            take_in(&t[w], step, repetition, seconds);
            t[w].estimates += result.gap_kind != SINEW_GAP_NONE;
            used += w == 0 ? seconds : 0;
        }
    }
    for (int w = 0; w < WAYS; w++)
        sinew_scene_destroy(scenes[w]);
    return step;
}

static double print_scene(const char *path, double seconds_max)
{
    static timing t[WAYS];
    double sum[WAYS] = {0};
    int32_t steps = run_in_turn(path, 0, STEPS_MAX, seconds_max, t);
    for (int r = 1; r < REPETITIONS; r++)
        run_in_turn(path, r, steps, HUGE_VAL, t);
    for (int w = 0; w < WAYS; w++)
        for (int32_t i = 0; i <= steps; i++)
            sum[w] += t[w].seconds[i];
    const char *slash = strrchr(path, '/');
    printf("%-24s %6d %8.2f %9.3f %9.3f %9d\n", slash ? slash + 1 : path, (int)steps, sum[0], sum[1] / sum[0],
           sum[2] / sum[0], (int)t[2].estimates);
    fflush(stdout);
    return sum[2] / sum[0];
}

int main(int argc, char **argv)
{
    static const char *const scenes[] = {"scenes/bracket.json",      "scenes/cantilever.json",    "scenes/drop.json",
                                         "scenes/flag.json",         "scenes/hanging_cloth.json", "scenes/jelly.json",
                                         "scenes/spring_bed.json",   "scenes/swinging_rope.json", "scenes/torus.json",
                                         "scenes/twist_release.json"};
    enum {
        SCENE_COUNT = sizeof scenes / sizeof scenes[0]
    };
    const double seconds_max = argc > 1 ? atof(argv[1]) : 1;
    const int count = argc > 2 ? argc - 2 : SCENE_COUNT;
    double *ratios = malloc((size_t)count * sizeof *ratios);
    if (!ratios || !(seconds_max > 0))
        return 2;
    printf("processor time over that with nothing measured, " SINEW_PRECISION "\n%-24s %6s %8s %9s %9s %9s\n", "scene",
           "steps", "nothing", "residual", "auto", "estimates");
    for (int i = 0; i < count; i++)
        ratios[i] = print_scene(argc > 2 ? argv[i + 2] : scenes[i], seconds_max);
    printf("auto: median %.3f", bench_middle(ratios, count));
    printf(", largest %.3f\n", ratios[count - 1]);
    free(ratios);
    return 0;
}
