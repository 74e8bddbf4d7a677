/* SPDX-License-Identifier: MIT
 *
 * bench_idle.c: what contact costs where nothing comes near anything: processor time of steps with contact over steps
 * without, of a flag, a filled bean that falls and fifty boxes that fall (tests/idle_scenes.h), by several solvers.
 * Both worlds take their steps in turns, and the smallest time of each step of RUNS runs counts. Printed as well: the
 * number of truncated steps, and of detection passes a step.
 *
 * Usage: bench_idle [SCENE [SOLVER]], from the source folder; all scenes and solvers without arguments.
 */
#include "bench.h"
#include "idle_scenes.h"

enum {
    STEPS = 60,
    RUNS = 3
};

static double step_seconds(sinew_world *world, uint32_t *bits)
{
    const double began = bench_processor_seconds();
    *bits = sinew_world_step(world, NULL);
    return bench_processor_seconds() - began;
}

/* Adds a run of one scene to the smallest times of its steps, without contact and with it. */
static bool run_both(int which, const char *solver, double times[2][STEPS], int *truncated, int *detections)
{
    sinew_error error = {0};
    sinew_scene *scenes[2] = {idle_scene(which, "scenes/meshes", solver, &error),
                              idle_scene(which, "scenes/meshes", solver, &error)};
    bool made = scenes[0] && scenes[1];
    if (!made)
        fprintf(stderr, "%s by %s: %s\n", idle_names[which], solver, error.text);
    for (int w = 0; made && w < 2; w++) {
        sinew_contact_def def = sinew_world_contact(sinew_scene_world(scenes[w]));
        def.on = w == 1;
        made = sinew_world_set_contact(sinew_scene_world(scenes[w]), &def, &error) == SINEW_OK;
    }
    for (int k = 0; made && k < STEPS; k++)
        for (int w = 0; w < 2; w++) {
            uint32_t bits;
            times[w][k] = fmin(times[w][k], step_seconds(sinew_scene_world(scenes[w]), &bits));
            sinew_contact_report report = {0};
            if (w == 1)
                sinew_world_contact_report(sinew_scene_world(scenes[w]), &report, &error);
            *truncated += (bits & SINEW_STEP_TRUNCATED) != 0;
            *detections += report.detections;
        }
    sinew_scene_destroy(scenes[0]);
    sinew_scene_destroy(scenes[1]);
    return made;
}

int main(int argc, char **argv)
{
    const char *const solvers[] = {"xpbd", "pbd", "newton", "pbng"};
    printf("| scene | solver | ms without contact | with | ratio | truncated steps | detections a step |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (int which = 0; which < IDLE_SCENES; which++)
        for (int s = 0; s < 4; s++) {
            double times[2][STEPS], sums[2] = {0, 0};
            int truncated = 0, detections = 0;
            bool made =
                (argc < 2 || strcmp(argv[1], idle_names[which]) == 0) && (argc < 3 || strcmp(argv[2], solvers[s]) == 0);
            for (int k = 0; k < STEPS; k++)
                times[0][k] = times[1][k] = HUGE_VAL;
            for (int r = 0; made && r < RUNS; r++)
                made = run_both(which, solvers[s], times, &truncated, &detections);
            if (!made)
                continue;
            /* The first step prepares the solver and the collision mesh. */
            for (int k = 1; k < STEPS; k++)
                for (int w = 0; w < 2; w++)
                    sums[w] += 1e3 * times[w][k] / (STEPS - 1);
            printf("| %s | %s | %.3f | %.3f | %.2f | %d | %.2f |\n", idle_names[which], solvers[s], sums[0], sums[1],
                   sums[1] / sums[0], truncated / RUNS, (double)detections / RUNS / STEPS);
            fflush(stdout);
        }
    return 0;
}
