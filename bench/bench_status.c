/* SPDX-License-Identifier: MIT
 *
 * bench_status.c: the status of steps, compared with a referee. Each scene takes the steps of its run with its own
 * solver. At up to STEPS of them, spread evenly over the run, a second world loads the state before the step and solves
 * it by Newton's method to a relative residual of 1e-12, with up to 2000 iterations and 100 detection passes. The
 * referee of solvers with constraints is primal-dual, Newton's method on the KKT conditions, to the same tolerance: hard
 * constraints have no minimum of g. A scene ends after SECONDS of processor time; a step of the referee that takes longer than an eighth of SECONDS is given up. Printed per scene:
 * the number of steps taken and of those of the whole run; the number of `ok` steps; the number of judged steps and of
 * judged `ok` steps; `ok` steps farther from the referee than three times the accuracy ("wrong"); steps whose referee
 * did not converge, which are not compared; the largest distance of an `ok` step from the referee, relative to the size
 * of each body; and the share of steps with each status bit. The last line has the sums.
 *
 * Usage: bench_status STEPS SECONDS SCENE.json ...
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sinew/contact.h"
#include "sinew/scene.h"

enum {
    BITS = 16,
    DETECTIONS = 100,
    ITERATIONS = 2000
};

typedef struct tally_of_scene {
    int32_t steps, all; /* number of steps taken, and of those of the whole run */
    int32_t ok, judged, judged_ok, wrong, unsettled;
    int32_t bits[BITS];
    double worst; /* largest relative distance of an `ok` step */
} tally_of_scene;

static sinew_scene *open_scene(const char *path)
{
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        fprintf(stderr, "%s: %s\n", path, error.text);
    return scene;
}

static bool has_constraints(sinew_solver_kind kind)
{
    return sinew_solver_parameter(kind, "constraints") >= 0;
}

/* Selects the method of the referee with tight limits. */
static bool make_referee(sinew_world *world, double seconds)
{
    sinew_error error = {0};
    const sinew_solver_def own = sinew_world_solver(world);
    sinew_solver_def solver =
        sinew_default_solver_def(has_constraints(own.kind) ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_NEWTON);
    if (has_constraints(own.kind))
        solver.parameters[sinew_solver_parameter(solver.kind, "constraints")] =
            own.parameters[sinew_solver_parameter(own.kind, "constraints")];
    sinew_contact_def contact = sinew_world_contact(world);
    solver.tolerance = (sinew_real)1e-12;
    solver.iterations = ITERATIONS;
    solver.time_budget = seconds;
    solver.measure = SINEW_MEASURE_RESIDUAL;
    contact.max_detections = DETECTIONS;
    return sinew_world_set_solver(world, &solver, &error) == SINEW_OK &&
           (!contact.on || sinew_world_set_contact(world, &contact, &error) == SINEW_OK);
}

/* The distance of two worlds' positions, relative to the size of each body: the largest of all bodies. */
static double relative_distance(const sinew_world *a, const sinew_world *b, sinew_real *x, sinew_real *y)
{
    double worst = 0;
    for (int32_t i = 0; i < sinew_world_body_count(a); i++) {
        const sinew_body body = sinew_world_body_at(a, i);
        const sinew_mesh *mesh = sinew_body_mesh(a, body);
        const int32_t first = sinew_body_first_particle(a, body), count = mesh ? sinew_mesh_vertex_count(mesh) : 0;
        double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, far = 0, size = 0;
        if (count == 0 || sinew_world_get_positions(a, first, count, x) != SINEW_OK ||
            sinew_world_get_positions(b, first, count, y) != SINEW_OK)
            continue;
        for (int32_t k = 0; k < 3 * count; k++) {
            low[k % 3] = fmin(low[k % 3], (double)sinew_mesh_positions(mesh)[k]);
            high[k % 3] = fmax(high[k % 3], (double)sinew_mesh_positions(mesh)[k]);
        }
        for (int32_t k = 0; k < 3 * count; k += 3) {
            double square = 0;
            for (int32_t c = k; c < k + 3; c++)
                square += pow((double)x[c] - (double)y[c], 2);
            far = fmax(far, sqrt(square));
        }
        for (int c = 0; c < 3; c++)
            size += pow(high[c] - low[c], 2);
        worst = fmax(worst, size > 0 ? far / sqrt(size) : 0);
    }
    return worst;
}

/* Takes one step of the referee from the state before it and compares the ends. */
static void judge_step(sinew_world *world, sinew_world *referee, uint32_t bits, double accuracy, tally_of_scene *t,
                       sinew_real *x, sinew_real *y)
{
    sinew_step_result tight;
    sinew_world_step(referee, &tight);
    const uint32_t open = SINEW_STEP_NOT_CONVERGED | SINEW_STEP_CONSTRAINTS | SINEW_STEP_CONTRADICTORY;
    const bool balanced =
        has_constraints(sinew_world_solver(world).kind) ? !(tight.bits & open) : tight.relative_residual <= 1e-9;
    if (!balanced || tight.bits & (SINEW_STEP_TRUNCATED | SINEW_STEP_CONTACT)) {
        t->unsettled++;
        return;
    }
    const double distance = relative_distance(world, referee, x, y);
    t->judged++;
    t->judged_ok += bits == 0;
    t->worst = bits == 0 ? fmax(t->worst, distance) : t->worst;
    t->wrong += bits == 0 && distance > 3 * accuracy;
}

/* Takes one step, with the referee if `judged`. Returns false if no further step is possible. */
static bool take_step(sinew_world *world, sinew_world *referee, bool judged, double accuracy, tally_of_scene *t,
                      sinew_real *x, sinew_real *y)
{
    sinew_error error = {0};
    const size_t size = judged ? sinew_world_state_size(world) : 0;
    void *blob = malloc(size + 1);
    const bool saved = judged && blob && sinew_world_state_save(world, blob, size) == SINEW_OK;
    const uint32_t bits = sinew_world_step(world, NULL);
    const bool good = !(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE | SINEW_STEP_CONTRADICTORY));
    t->steps++;
    t->ok += bits == 0;
    for (int i = 0; i < BITS; i++)
        t->bits[i] += bits >> i & 1;
    if (good && saved && sinew_world_state_load(referee, blob, size, &error) == SINEW_OK)
        judge_step(world, referee, bits, accuracy, t, x, y);
    free(blob);
    return good;
}

static void print_tally(const char *name, const tally_of_scene *t)
{
    printf("%-20s %6d %6d %6d %6d %9d %6d %9d %9.1e ", name, t->steps, t->all, t->ok, t->judged, t->judged_ok, t->wrong,
           t->unsettled, t->worst);
    for (int i = 0; i < BITS; i++)
        if (t->bits[i] > 0)
            printf(" %s %.3g %%", sinew_step_bit_name(1u << i), 100.0 * t->bits[i] / t->steps);
    printf("\n");
    fflush(stdout);
}

static void add_tally(const tally_of_scene *t, tally_of_scene *sum)
{
    sum->steps += t->steps;
    sum->all += t->all;
    sum->ok += t->ok;
    sum->judged += t->judged;
    sum->judged_ok += t->judged_ok;
    sum->wrong += t->wrong;
    sum->unsettled += t->unsettled;
    sum->worst = fmax(sum->worst, t->worst);
    for (int i = 0; i < BITS; i++)
        sum->bits[i] += t->bits[i];
}

static void run_scene(const char *path, int32_t steps, double seconds, tally_of_scene *sum)
{
    const double end = bench_processor_seconds() + seconds;
    sinew_scene *scene = open_scene(path), *second = open_scene(path);
    if (scene && second && make_referee(sinew_scene_world(second), seconds / 8)) {
        sinew_world *world = sinew_scene_world(scene);
        /* Tears add particles to a body. */
        const size_t room = 6 * ((size_t)sinew_world_particle_count(world) + 1000);
        sinew_real *x = malloc(room * sizeof *x), *y = malloc(room * sizeof *y);
        tally_of_scene t = {.all = sinew_scene_frames(scene) * sinew_scene_steps_per_frame(scene)};
        const double accuracy = (double)sinew_scene_solver(scene).accuracy;
        const int32_t every = t.all > steps ? t.all / steps : 1;
        while (x && y && t.steps < t.all && bench_processor_seconds() < end &&
               take_step(world, sinew_scene_world(second), t.steps % every == every / 2, accuracy, &t, x, y))
            continue;
        print_tally(sinew_scene_name(scene), &t);
        add_tally(&t, sum);
        free(x);
        free(y);
    }
    sinew_scene_destroy(scene);
    sinew_scene_destroy(second);
}

int main(int count, char **arguments)
{
    tally_of_scene sum = {0};
    const int32_t steps = count > 3 ? (int32_t)strtol(arguments[1], NULL, 10) : 0;
    const double seconds = count > 3 ? strtod(arguments[2], NULL) : 0;
    if (steps < 1 || !(seconds > 0)) {
        fprintf(stderr, "usage: bench_status STEPS SECONDS SCENE.json ...\n");
        return 2;
    }
    printf("%-20s %6s %6s %6s %6s %9s %6s %9s %9s  bits\n", "scene", "steps", "of", "ok", "judged", "judged ok",
           "wrong", "unsettled", "worst ok");
    for (int i = 3; i < count; i++)
        run_scene(arguments[i], steps, seconds, &sum);
    print_tally("all", &sum);
    return 0;
}
