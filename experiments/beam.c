/* SPDX-License-Identifier: MIT
 *
 * beam.c: the twisted beam and one step from it. See beam.h.
 */
#include "beam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RADIAN (3.14159265358979323846 / 180) /* conversion factor from degrees to radians */

/* ---- The twisted equilibrium of the beam ------------------------------------------------------- */

/* Rotates the end faces of the beam's rest shape about x by `degrees`, in opposite directions. */
static void turn_ends(const beam *b, const sinew_real *rest, double degrees, sinew_real *targets)
{
    for (int32_t i = 0; i < b->end_count; i++) {
        const sinew_real *x = rest + 3 * (size_t)b->ends[i];
        double angle = (x[0] < 0 ? -1 : 1) * degrees * RADIAN;
        targets[3 * i] = x[0];
        targets[3 * i + 1] = (sinew_real)(cos(angle) * (double)x[1] - sin(angle) * (double)x[2]);
        targets[3 * i + 2] = (sinew_real)(sin(angle) * (double)x[1] + cos(angle) * (double)x[2]);
    }
}

/* Rotates every cross section of the beam in proportion to its x: the initial guess of the equilibrium. */
static void turn_all(const beam *b, double degrees, double half_length, sinew_real *q)
{
    const sinew_real *rest = sinew_mesh_positions(b->mesh);
    for (int32_t i = 0; i < b->vertex_count; i++) {
        const sinew_real *x = rest + 3 * (size_t)i;
        double angle = degrees * RADIAN * (double)x[0] / half_length;
        q[3 * i] = x[0];
        q[3 * i + 1] = (sinew_real)(cos(angle) * (double)x[1] - sin(angle) * (double)x[2]);
        q[3 * i + 2] = (sinew_real)(sin(angle) * (double)x[1] + cos(angle) * (double)x[2]);
    }
}

static sinew_energy_def beam_material(bool neo_hookean, double stiffness, double poisson, sinew_body body)
{
    sinew_energy_kind kind = neo_hookean ? SINEW_ENERGY_NEO_HOOKEAN : SINEW_ENERGY_STRAIN;
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.parameters[sinew_energy_parameter(kind, neo_hookean ? "young" : "stiffness")] = (sinew_real)stiffness;
    if (neo_hookean) {
        def.parameters[sinew_energy_parameter(kind, "poisson")] = (sinew_real)(poisson > 0 ? poisson : BEAM_POISSON);
        def.parameters[sinew_energy_parameter(kind, "matched")] = 0;
    }
    return def;
}

/* Creates a world with the beam and its material; NULL on failure. */
static sinew_world *make_world(const beam *b, const sinew_world_def *def, bool neo_hookean, double stiffness,
                               double poisson, const sinew_real *positions, sinew_body *body, sinew_error *error)
{
    sinew_world *world = sinew_world_create(def, error);
    if (!world)
        return NULL;
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = b->mesh;
    body_def.density = (sinew_real)b->density;
    body_def.positions = positions;
    *body = sinew_world_add_body(world, &body_def, error);
    sinew_energy_def energy = beam_material(neo_hookean, stiffness, poisson, *body);
    if (body->index >= 0 && sinew_world_add_energy(world, &energy, error).index >= 0)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Pins the ends of the beam at `targets`. */
static sinew_status pin_ends(const beam *b, sinew_world *world, sinew_body body, const sinew_real *targets,
                             sinew_error *error)
{
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = b->ends;
    pin.vertex_count = b->end_count;
    pin.targets = targets;
    return sinew_world_add_pins(world, &pin, error).index < 0 ? error->status : SINEW_OK;
}

/* Solves for the equilibrium of the beam with the ends at `targets`. Its shape does not depend on the modulus, so
 * 1e5 Pa serves all runs. */
static sinew_status equilibrium(const beam *b, bool neo_hookean, const sinew_real *targets, sinew_real *q,
                                sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.thread_count = 1;
    memset(def.gravity, 0, sizeof def.gravity);
    def.solver = experiment_solver(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 200;
    def.solver.tolerance = sizeof(sinew_real) == 4 ? (sinew_real)1e-5 : (sinew_real)1e-10;
    sinew_body body;
    sinew_world *world = make_world(b, &def, neo_hookean, 1e5, 0, q, &body, error);
    if (!world)
        return error->status;
    sinew_status status = pin_ends(b, world, body, targets, error);
    if (status == SINEW_OK) {
        uint32_t bits = sinew_world_step(world, NULL);
        if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)) {
            snprintf(error->text, sizeof error->text, "the twisted beam: no equilibrium found");
            status = error->status = SINEW_ERROR_NUMERIC;
        } else {
            sinew_world_get_positions(world, 0, b->vertex_count, q);
        }
    }
    sinew_world_destroy(world);
    return status;
}

static sinew_status twist(beam *b, double half_length, sinew_error *error)
{
    sinew_real *targets = malloc(3 * (size_t)b->end_count * sizeof *targets);
    sinew_status status = SINEW_OK;
    if (!targets)
        return error->status = SINEW_ERROR_MEMORY;
    turn_ends(b, sinew_mesh_positions(b->mesh), BEAM_TWIST, targets);
    for (int m = 0; m < 2 && status == SINEW_OK; m++) {
        turn_all(b, BEAM_TWIST, half_length, b->twisted[m]);
        status = equilibrium(b, m == 1, targets, b->twisted[m], error);
    }
    free(targets);
    return status;
}

sinew_status beam_create(beam *b, bool quick, sinew_error *error)
{
    *b = (beam){.density = BEAM_DENSITY};
    sinew_beam_def def = sinew_default_beam_def();
    def.cells[0] = quick ? 25 : 30;
    def.cells[1] = def.cells[2] = def.cells[0] / 5;
    def.size[0] = 5;
    b->mesh = sinew_mesh_beam(&def, error);
    if (!b->mesh)
        return error->status;
    b->vertex_count = sinew_mesh_vertex_count(b->mesh);
    const size_t n = 3 * (size_t)b->vertex_count;
    const sinew_real half = def.size[0] / 2, *rest = sinew_mesh_positions(b->mesh);
    b->ends = malloc((size_t)b->vertex_count * sizeof *b->ends);
    b->anchors = malloc(n * sizeof *b->anchors);
    b->twisted[0] = malloc(n * sizeof(sinew_real));
    b->twisted[1] = malloc(n * sizeof(sinew_real));
    if (!b->ends || !b->anchors || !b->twisted[0] || !b->twisted[1]) {
        beam_destroy(b);
        snprintf(error->text, sizeof error->text, "the twisted beam: out of memory");
        return error->status = SINEW_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < b->vertex_count; i++)
        if (fabs((double)rest[3 * i]) > 0.999 * (double)half)
            b->ends[b->end_count++] = i;
    turn_ends(b, rest, BEAM_TWIST + BEAM_FURTHER, b->anchors);
    sinew_status status = twist(b, (double)half, error);
    if (status != SINEW_OK)
        beam_destroy(b);
    return status;
}

void beam_destroy(beam *b)
{
    sinew_mesh_destroy(b->mesh);
    free(b->ends);
    free(b->anchors);
    free(b->twisted[0]);
    free(b->twisted[1]);
    *b = (beam){0};
}

/* ---- One step of the beam ---------------------------------------------------------------------- */

static sinew_solver_def solver_def(const beam_run *run)
{
    sinew_solver_def def = experiment_solver(run->solver);
    def.iterations = run->iterations;
    def.tolerance = 0;
    def.record = run->unrecorded ? SINEW_RECORD_NONE : SINEW_RECORD_ITERATIONS;
    for (int i = 0; i < BEAM_PARAMETERS; i++) {
        int32_t index = run->parameters[i] ? sinew_solver_parameter(run->solver, run->parameters[i]) : -1;
        if (index >= 0)
            def.parameters[index] = (sinew_real)run->values[i];
    }
    return def;
}

static bool hold_ends(const beam *b, const beam_run *run, sinew_world *world, sinew_body body, sinew_error *error)
{
    if (run->hold == HOLD_PINNED)
        return pin_ends(b, world, body, b->anchors, error) == SINEW_OK;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    spring.body = body;
    spring.hard = run->hold == HOLD_HARD;
    spring.parameters[sinew_energy_parameter(SINEW_ENERGY_POSITION, "stiffness")] =
        (sinew_real)(run->stiffness * (run->hold_factor > 0 ? run->hold_factor : 1));
    spring.elements = b->ends;
    spring.element_count = b->end_count;
    spring.targets = b->anchors;
    return sinew_world_add_energy(world, &spring, error).index >= 0;
}

static void keep_results(const beam *b, beam_run *run, const sinew_world *world)
{
    int32_t count = 0;
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    run->q = malloc(3 * (size_t)b->vertex_count * sizeof *run->q);
    run->records = malloc(((size_t)count + 1) * sizeof *run->records);
    if (!run->q || !run->records) {
        run->status = SINEW_ERROR_MEMORY;
        return;
    }
    run->record_count = count;
    if (count > 0)
        memcpy(run->records, records, (size_t)count * sizeof *records);
    sinew_world_get_positions(world, 0, b->vertex_count, run->q);
}

bool beam_step(const beam *b, beam_run *run)
{
    sinew_error error = {SINEW_OK, ""};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)run->h;
    def.thread_count = 1;
    memset(def.gravity, 0, sizeof def.gravity);
    def.solver = solver_def(run);
    sinew_body body;
    sinew_world *world = make_world(b, &def, run->neo_hookean, run->stiffness, run->poisson,
                                    b->twisted[run->neo_hookean], &body, &error);
    if (world && (!run->twist || hold_ends(b, run, world, body, &error)) &&
        sinew_world_prepare(world, &error) == SINEW_OK) {
        sinew_step_result result;
        run->bits = sinew_world_step(world, &result);
        run->seconds = result.seconds;
        run->done = result.iterations;
        keep_results(b, run, world);
    } else {
        run->status = error.status;
        snprintf(run->error, sizeof run->error, "%.255s", error.text);
    }
    sinew_world_destroy(world);
    return run->status == SINEW_OK;
}

void beam_run_release(beam_run *run)
{
    free(run->records);
    free(run->q);
    run->records = NULL;
    run->q = NULL;
}

double beam_objective(const beam_run *run, int32_t iteration)
{
    if (run->record_count == 0)
        return HUGE_VAL;
    return run->records[iteration < run->record_count ? iteration : run->record_count - 1].objective;
}

/* ---- Calibration of the density ---------------------------------------------------------------- */

/* Relative error (5.5) of PD after 40 iterations, in per cent; QN's objective after 80 iterations replaces the
 * minimum. */
static double pd_error(beam *b, double density)
{
    beam_run pd = {.stiffness = 1e8, .h = 1e-2, .solver = SINEW_SOLVER_PD, .iterations = 40};
    beam_run qn = {.stiffness = 1e8, .h = 1e-2, .solver = SINEW_SOLVER_QN, .iterations = 80};
    b->density = density;
    double error = NAN;
    if (beam_step(b, &pd) && beam_step(b, &qn)) {
        const double first = beam_objective(&qn, 0), lowest = beam_objective(&qn, 80);
        error = 100 * (beam_objective(&pd, 40) - lowest) / (first - lowest);
    }
    beam_run_release(&pd);
    beam_run_release(&qn);
    return error;
}

/* Finds the beam's density by bisection. This is valid because PD converges faster with larger masses: the error falls
 * as the density grows. */
double beam_calibrate(beam *b, double per_cent)
{
    const double before = b->density;
    double light = 30, heavy = 30000;
    bool between = pd_error(b, light) >= per_cent && pd_error(b, heavy) <= per_cent;
    while (between && heavy / light > 1.001) {
        const double middle = sqrt(light * heavy);
        if (pd_error(b, middle) > per_cent)
            light = middle;
        else
            heavy = middle;
    }
    b->density = before;
    return between ? sqrt(light * heavy) : -1;
}
