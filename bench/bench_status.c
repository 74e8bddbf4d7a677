/* SPDX-License-Identifier: MIT
 *
 * bench_status.c: the status of steps, compared with a referee. Each scene takes steps with its own solver. For every
 * step a second world loads the state before it and solves the step by Newton's method to a relative residual of 1e-12,
 * with up to 2000 iterations and 100 detection passes. Printed per scene: the share of steps with each status bit; the
 * number of `ok` steps; the largest distance of an `ok` step from the referee, relative to the size of each body; `ok`
 * steps farther away than three times the accuracy ("wrong"); and steps whose referee did not converge, which are not
 * compared.
 *
 * Usage: bench_status STEPS SCENE.json ...
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
    int32_t steps, ok, wrong, unsettled;
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

/* Selects Newton's method with tight limits for the referee. */
static bool make_referee(sinew_world *world)
{
    sinew_error error = {0};
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_contact_def contact = sinew_world_contact(world);
    solver.tolerance = (sinew_real)1e-12;
    solver.iterations = ITERATIONS;
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

/* Takes one step in both worlds from the same state. Returns false if no further step is possible. */
static bool take_step(sinew_world *world, sinew_world *referee, double accuracy, tally_of_scene *t, sinew_real *x,
                      sinew_real *y)
{
    sinew_error error = {0};
    sinew_step_result own, tight;
    const size_t size = sinew_world_state_size(world);
    void *blob = malloc(size);
    bool good = blob && sinew_world_state_save(world, blob, size) == SINEW_OK;
    const uint32_t bits = sinew_world_step(world, &own);
    good = good && !(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE | SINEW_STEP_CONTRADICTORY));
    t->steps++;
    t->ok += bits == 0;
    for (int i = 0; i < BITS; i++)
        t->bits[i] += bits >> i & 1;
    const bool loaded = good && sinew_world_state_load(referee, blob, size, &error) == SINEW_OK;
    free(blob);
    if (!loaded)
        return good;
    sinew_world_step(referee, &tight);
    if (!(tight.relative_residual <= 1e-9) || tight.bits & (SINEW_STEP_TRUNCATED | SINEW_STEP_CONTACT)) {
        t->unsettled++;
        return true;
    }
    const double distance = relative_distance(world, referee, x, y);
    if (bits == 0) {
        t->worst = fmax(t->worst, distance);
        t->wrong += distance > 3 * accuracy;
    }
    return true;
}

static void print_scene(const char *name, const tally_of_scene *t)
{
    printf("%-22s %6d %6d %6d %9d %10.2e ", name, t->steps, t->ok, t->wrong, t->unsettled, t->worst);
    for (int i = 0; i < BITS; i++)
        if (t->bits[i] > 0)
            printf(" %s %.3g %%", sinew_step_bit_name(1u << i), 100.0 * t->bits[i] / t->steps);
    printf("\n");
    fflush(stdout);
}

static void run_scene(const char *path, int32_t steps)
{
    sinew_scene *scene = open_scene(path), *second = open_scene(path);
    if (scene && second && make_referee(sinew_scene_world(second))) {
        sinew_world *world = sinew_scene_world(scene);
        /* Tears add particles to a body. */
        const size_t room = 6 * ((size_t)sinew_world_particle_count(world) + 1000);
        sinew_real *x = malloc(room * sizeof *x), *y = malloc(room * sizeof *y);
        tally_of_scene t = {0};
        const double accuracy = (double)sinew_scene_solver(scene).accuracy;
        while (x && y && t.steps < steps && take_step(world, sinew_scene_world(second), accuracy, &t, x, y))
            continue;
        print_scene(sinew_scene_name(scene), &t);
        free(x);
        free(y);
    }
    sinew_scene_destroy(scene);
    sinew_scene_destroy(second);
}

int main(int count, char **arguments)
{
    const int32_t steps = count > 2 ? (int32_t)strtol(arguments[1], NULL, 10) : 0;
    if (steps < 1) {
        fprintf(stderr, "usage: bench_status STEPS SCENE.json ...\n");
        return 2;
    }
    printf("%-22s %6s %6s %6s %9s %10s  bits\n", "scene", "steps", "ok", "wrong", "unsettled", "worst ok");
    for (int i = 2; i < count; i++)
        run_scene(arguments[i], steps);
    return 0;
}
