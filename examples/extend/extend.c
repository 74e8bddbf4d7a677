/* SPDX-License-Identifier: MIT
 *
 * extend.c: registers the energy and the solver of this folder, compares the energy's derivatives with finite
 * differences, and solves a scene with both, and with solvers of the library.
 *
 *     cc -O2 extend.c extend_energy.c extend_solver.c $(pkg-config --cflags --libs sinew) -lm -o extend
 *     ./extend fibre.json newton descent qn pbng
 *
 * Exit status 0: derivatives agree, and every solver solved every step.
 */
#include "extend.h"

#include <stdio.h>

#include <sinew/scene.h>

static int fail(const sinew_error *error)
{
    fprintf(stderr, "extend: %s\n", error->text);
    return 1;
}

/* Checks the derivatives of the energy on a stretched, sheared and rotated tet. Returns 0 if they agree. */
static int check(const sinew_energy_extension *energy)
{
    static const double rest[12] = {0, 0, 0, 1, 0, 0, 0.2, 1.1, 0, 0.1, 0.3, 0.9};
    static const double x[12] = {0.1, 0, -0.2, 0.4, 1.2, 0.1, -0.9, 0.5, 0.3, 0.2, 0.1, 1.3};
    sinew_extension_report r;
    sinew_error error;
    if (sinew_check_energy_extension(energy, NULL, rest, x, &r, &error) != SINEW_OK)
        return fail(&error);
    printf("%s: gradient %.1e, hessian %.1e, symmetry %.1e, net force %.1e, moment %.1e, force at rest %.1e\n",
           energy->name, r.gradient, r.hessian, r.symmetry, r.translation, r.rotation, r.rest_gradient);
    return r.gradient < 1e-8 && r.hessian < 1e-8 && r.symmetry < 1e-12 && r.translation < 1e-12 && r.rotation < 1e-12 &&
                   r.rest_gradient < 1e-12
               ? 0
               : 1;
}

/* Takes all steps of the scene by one solver. */
static int solve(const char *path, const char *solver)
{
    char setting[64];
    const char *const settings[] = {setting, "solver.iterations=1000"};
    sinew_error error;
    sinew_step_result result = {0};
    uint32_t bits = 0;
    int32_t iterations = 0;
    snprintf(setting, sizeof setting, "solver.name=%s", solver);
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.settings = settings;
    def.setting_count = 2;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        return fail(&error);
    for (int32_t i = 0; i < sinew_scene_frames(scene) * sinew_scene_steps_per_frame(scene); i++) {
        bits |= sinew_world_step(sinew_scene_world(scene), &result);
        iterations += result.iterations;
    }
    printf("%-10s %4d iterations, relative residual %.2e, gap %s %.2e J, bits %x\n", solver, (int)iterations,
           result.relative_residual, result.gap_kind == SINEW_GAP_BELOW ? "below" : "about", result.gap,
           (unsigned)bits);
    if (bits & SINEW_STEP_UNPREPARED)
        fprintf(stderr, "extend: %s\n", sinew_world_error(sinew_scene_world(scene)));
    sinew_scene_destroy(scene);
    return bits == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const sinew_energy_extension energy = fibre_energy();
    const sinew_solver_extension solver = descent_solver();
    sinew_error error;
    if (sinew_register_energy(&energy, &error) == SINEW_ENERGY_COUNT ||
        sinew_register_solver(&solver, &error) == SINEW_SOLVER_COUNT)
        return fail(&error);
    int status = check(&energy);
    for (int i = 2; i < argc; i++)
        status |= solve(argv[1], argv[i]);
    return status;
}
