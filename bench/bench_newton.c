/* SPDX-License-Identifier: MIT
 *
 * bench_newton.c: one step of Newton's method on a falling bar, neo-Hookean, 1 MPa, poisson 0.45, for meshes of four
 * sizes: set-up, one iteration with sparse Cholesky, a step with either linear solver to a relative residual of 1e-8.
 * Processor time of one thread, which other processes disturb less.
 */
#include <stdio.h>
#include <time.h>

#include "sinew/sinew.h"

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct cost {
    double prepare, step; /* s */
    int iterations, linear_iterations;
} cost;

/* Measures the third step: caches are warm, and the bar has begun to bend. */
static cost measure(const sinew_mesh *mesh, int linear, int size)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-4 : 1e-8);
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")] = (sinew_real)linear;
    sinew_world *world = sinew_world_create(&def, NULL);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def rubber = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    rubber.body = sinew_world_add_body(world, &body, NULL);
    rubber.parameters[0] = (sinew_real)1e6;
    sinew_world_add_energy(world, &rubber, NULL);
    int32_t held[1024];
    const sinew_region end = {SINEW_REGION_HALF_SPACE, {(sinew_real)-1.4999, 0, 0}, {-1, 0, 0}, 0};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = rubber.body;
    pin.vertices = held;
    pin.vertex_count = sinew_region_select(&end, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), held, 1024);
    sinew_world_add_pins(world, &pin, NULL);
    cost c;
    double began = processor_seconds();
    sinew_world_prepare(world, NULL);
    c.prepare = processor_seconds() - began;
    sinew_step_result result;
    for (int i = 0; i < 3; i++) {
        began = processor_seconds();
        if (sinew_world_step(world, &result) & SINEW_STEP_NOT_CONVERGED)
            printf("(size %d did not converge) ", size);
        c.step = processor_seconds() - began;
    }
    c.iterations = result.iterations;
    c.linear_iterations = result.linear_iterations;
    sinew_world_destroy(world);
    return c;
}

int main(void)
{
    printf("Newton, %s precision, one thread, processor time\n", SINEW_PRECISION);
    printf(
        "vertices   tets   set-up ms | Cholesky: iterations  ms each  ms a step | cg: iterations  inner  ms a step\n");
    for (int size = 1; size <= 4; size++) {
        sinew_beam_def beam = sinew_default_beam_def();
        for (int c = 0; c < 3; c++)
            beam.cells[c] *= size;
        sinew_mesh *mesh = sinew_mesh_beam(&beam, NULL);
        if (!mesh)
            return 1;
        const cost direct = measure(mesh, 0, size), cg = measure(mesh, 1, size);
        printf("%8d %6d %11.1f | %20d %8.1f %10.1f | %14d %6d %10.1f\n", sinew_mesh_vertex_count(mesh),
               sinew_mesh_tet_count(mesh), 1e3 * direct.prepare, direct.iterations,
               1e3 * direct.step / direct.iterations, 1e3 * direct.step, cg.iterations, cg.linear_iterations,
               1e3 * cg.step);
        sinew_mesh_destroy(mesh);
    }
    return 0;
}
