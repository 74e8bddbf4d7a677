/* SPDX-License-Identifier: MIT
 *
 * bench_coarse.c: effect of `coarse` on pbng and on Newton's conjugate gradients for finer meshes.
 *
 * A bar of 4 x 1 x 1 m (4n x n x n cells of five tets, neo-Hookean, 1 MPa, 0.45, 1000 kg/m3) starts twisted by half a
 * turn, held at one end; one step of 10 ms, one thread. The table has the iterations until the objective's excess
 * over its minimum is 1e-2 and 1e-6 of the initial excess, and processor times: set-up, and the step to 1e-6. Then the
 * conjugate gradient iterations of four Newton iterations, with and without the coarse preconditioner.
 *
 * Usage: bench_coarse [all | n ...]; n = 8 and 16 unless given; all: 8, 16, 24, 39 (10k to 1.2 M tets; minutes, 6 GB).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "solve/solver.h"

static sinew_world *make_bar(int n, const sinew_solver_def *solver)
{
    sinew_error error = {0};
    sinew_beam_def beam = sinew_default_beam_def();
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.solver = *solver;
    def.gravity[1] = 0;
    for (int i = 0; i < 3; i++) {
        beam.cells[i] = i == 0 ? 4 * n : n;
        beam.size[i] = i == 0 ? 4 : 1;
    }
    sinew_mesh *mesh = sinew_mesh_beam(&beam, &error);
    sinew_world *world = mesh ? sinew_world_create(&def, &error) : NULL;
    if (!world)
        bench_give_up(&error);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = malloc(3 * (size_t)count * sizeof *x);
    int32_t *held = malloc((size_t)count * sizeof *held), held_count = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        const double angle = acos(-1) * ((double)X[0] / 4 + 0.5), c = cos(angle), s = sin(angle);
        x[3 * i] = X[0];
        x[3 * i + 1] = (sinew_real)(c * (double)X[1] - s * (double)X[2]);
        x[3 * i + 2] = (sinew_real)(s * (double)X[1] + c * (double)X[2]);
        if (X[0] < -2 + 1e-4)
            held[held_count++] = i;
    }
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.positions = x;
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    energy.body = sinew_world_add_body(world, &body, &error);
    energy.parameters[0] = (sinew_real)1e6;
    energy.parameters[1] = (sinew_real)0.45;
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = energy.body;
    pin.vertices = held;
    pin.vertex_count = held_count;
    if (sinew_world_add_energy(world, &energy, &error).index < 0 || sinew_world_add_pins(world, &pin, &error).index < 0)
        bench_give_up(&error);
    free(x);
    free(held);
    sinew_mesh_destroy(mesh);
    return world;
}
static void set(sinew_solver_def *def, const char *name, double value)
{
    def->parameters[sinew_solver_parameter(def->kind, name)] = (sinew_real)value;
}

/* ---- One step ---------------------------------------------------------------------------------- */

typedef struct timing {
    double setup, step; /* s of processor time */
    int32_t linear_iterations;
} timing;

static timing take_step(sinew_world *world)
{
    sinew_error error = {0};
    sinew_step_result result;
    const double began = bench_processor_seconds();
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        bench_give_up(&error);
    const double prepared = bench_processor_seconds();
    sinew_world_step(world, &result);
    return (timing){prepared - began, bench_processor_seconds() - prepared, result.linear_iterations};
}

static sinew_solver_def solver_of(sinew_solver_kind kind, int32_t iterations)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    def.tolerance = 0;
    def.measure = SINEW_MEASURE_NOTHING;
    return def;
}

/* Objective at the initial guess, and the lowest one that qn finds in 200 iterations. */
typedef struct ends {
    double start, lowest;
} ends;

static ends find_ends(int n)
{
    sinew_solver_def qn = solver_of(SINEW_SOLVER_QN, 200);
    qn.record = SINEW_RECORD_ITERATIONS;
    sinew_world *world = make_bar(n, &qn);
    int32_t count;
    take_step(world);
    const sinew_iteration *rows = sinew_world_iterations(world, &count);
    const ends found = {rows[0].objective, rows[count - 1].objective};
    sinew_world_destroy(world);
    return found;
}

/* Iterations after which the excess stays below 1e-2 and 1e-6 of the initial one; -1: not reached. */
static void count_iterations(int n, const sinew_solver_def *solver, ends e, int32_t count[2])
{
    static const double fraction[2] = {1e-2, 1e-6};
    sinew_solver_def def = *solver;
    def.record = SINEW_RECORD_ITERATIONS;
    sinew_world *world = make_bar(n, &def);
    int32_t rows;
    take_step(world);
    const sinew_iteration *row = sinew_world_iterations(world, &rows);
    for (int k = 0; k < 2; k++) {
        count[k] = -1;
        for (int32_t i = rows - 1; i >= 0 && row[i].objective - e.lowest <= fraction[k] * (e.start - e.lowest); i--)
            count[k] = i;
    }
    sinew_world_destroy(world);
}

static void print_count(int32_t count)
{
    if (count < 0)
        printf("%9s", "-");
    else
        printf("%9d", count);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static void row(int n, const char *name, sinew_solver_def *solver, ends e)
{
    int32_t count[2];
    count_iterations(n, solver, e, count);
    printf("  %-22s", name);
    print_count(count[0]);
    print_count(count[1]);
    if (count[1] > 0) {
        solver->iterations = count[1];
        sinew_world *world = make_bar(n, solver);
        const timing t = take_step(world);
        printf(" %9.3f s %9.3f s %9.3f s", t.setup, t.step, t.setup + t.step);
        sinew_world_destroy(world);
    }
    printf("\n");
    fflush(stdout);
}

static void table(int n)
{
    const ends e = find_ends(n);
    sinew_solver_def qn = solver_of(SINEW_SOLVER_QN, 100), plain = solver_of(SINEW_SOLVER_PBNG, 200),
                     coarse = solver_of(SINEW_SOLVER_PBNG, 100), tuned;
    set(&coarse, "coarse", 2);
    tuned = coarse;
    set(&tuned, "rho", 0.9);
    printf("n = %d, %d tets\n  %-22s%9s%9s %11s %11s %11s\n", n, 20 * n * n * n, "", "1e-2", "1e-6", "set-up", "step",
           "both");
    row(n, "qn", &qn, e);
    row(n, "pbng", &plain, e);
    row(n, "pbng, coarse", &coarse, e);
    row(n, "pbng, coarse, rho 0.9", &tuned, e);
    for (int k = 0; k < 2; k++) {
        sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 4);
        set(&newton, "linear", 1);
        set(&newton, "cg_tolerance", 0.01);
        set(&newton, "preconditioner", k);
        sinew_world *world = make_bar(n, &newton);
        const timing t = take_step(world);
        printf("  newton, cg, %-6s: %d linear iterations in 4, %.3f s\n", k ? "coarse" : "blocks", t.linear_iterations,
               t.setup + t.step);
        sinew_world_destroy(world);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int all[] = {8, 16, 24, 39};
    const bool every = argc == 2 && strcmp(argv[1], "all") == 0;
    printf("a twisted bar is let go, " SINEW_PRECISION ", lanes %s; iterations and processor time\n",
           sinew_simd_name());
    for (int k = 0; k < 4 && (every || (argc == 1 && k < 2)); k++)
        table(all[k]);
    for (int a = 1; a < argc && !every; a++) {
        const int n = atoi(argv[a]);
        if (n < 2 || n > 64) {
            fprintf(stderr, "bench_coarse: n is %d, must be in [2, 64]\n", n);
            return 2;
        }
        table(n);
    }
    return 0;
}
