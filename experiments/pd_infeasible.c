/* SPDX-License-Identifier: MIT
 *
 * pd_infeasible.c: Projective Dynamics fig 3: two constraint sets without a common point. A particle hangs on two pins,
 * 3 m apart, by springs with a rest length of 1 m: two spheres with a gap of 1 m between them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum {
    STEPS = 40, /* number of projections of Gauss-Seidel, and of iterations of the other methods */
    MESH_ORDER = 1,
    JACOBI_ORDER = 2,
    MASS = 4 /* value of pd's parameter `coordinates` that selects mass-weighted coordinates */
};

typedef enum method {
    GAUSS_SEIDEL,
    JACOBI,
    MOMENTUM,
    REDUCED,
    METHODS
} method;
static const char *const names[METHODS] = {"PBD, Gauss-Seidel", "PBD, Jacobi", "PD, mass-weighted (14)",
                                           "PD, differential"};

/* Settings of a method with `steps` iterations; Gauss-Seidel takes one sweep over a list of `steps` projections. */
static sinew_solver_def infeasible_solver_of(method m, int32_t steps)
{
    static const char *const parameters[METHODS] = {"order", "order", "coordinates", "coordinates"};
    static const double values[METHODS] = {MESH_ORDER, JACOBI_ORDER, MASS, 0};
    return trial_solver(m < MOMENTUM ? SINEW_SOLVER_PBD : SINEW_SOLVER_PD, m == GAUSS_SEIDEL ? 1 : steps, parameters[m],
                        values[m], (char *)NULL);
}

static bool infeasible_add_energies(sinew_world *world, const sinew_mesh *rope, method m, int32_t steps,
                                    sinew_error *error)
{
    const sinew_real start[9] = {-1.5, 0, 0, (sinew_real)0.2, (sinew_real)0.6, 0, 1.5, 0, 0};
    const int32_t ends[2] = {0, 2}, count = m == GAUSS_SEIDEL ? steps : 2;
    sinew_body_def body = sinew_default_body_def();
    body.mesh = rope;
    body.positions = start;
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = sinew_world_add_body(world, &body, error);
    pin.vertices = ends;
    pin.vertex_count = 2;
    int32_t *edges = malloc(2 * (size_t)count * sizeof *edges);
    /* An odd number of projections ends within a sweep, so the edges of Gauss-Seidel list every single projection. */
    for (int32_t i = 0; edges && i < count; i++) {
        edges[2 * i] = i % 2 ? 2 : 0;
        edges[2 * i + 1] = 1;
    }
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.elements = edges;
    spring.element_count = count;
    const bool good = edges && pin.body.index >= 0 && sinew_world_add_energy(world, &spring, error).index >= 0 &&
                      sinew_world_add_pins(world, &pin, error).index >= 0;
    free(edges);
    return good;
}

/* Computes the position of the particle after `steps` projections or iterations; NAN on failure, with the reason in
 * o. */
static double position_after(method m, int32_t steps, double position[3], outcome *o)
{
    sinew_error error = {SINEW_OK, "out of memory"};
    sinew_rope_def def = sinew_default_rope_def();
    sinew_world_def world_def = sinew_default_world_def();
    def.vertices = 3;
    def.from[0] = -1;
    def.to[0] = 1;
    world_def.quasistatic = true;
    world_def.thread_count = 1;
    world_def.gravity[1] = 0;
    world_def.solver = infeasible_solver_of(m, steps);
    sinew_mesh *rope = sinew_mesh_rope(&def, &error);
    sinew_world *world = rope ? sinew_world_create(&world_def, &error) : NULL;
    sinew_real q[9] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (world && infeasible_add_energies(world, rope, m, steps, &error) &&
        sinew_world_prepare(world, &error) == SINEW_OK) {
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 0, 3, q);
    } else {
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    }
    for (int c = 0; c < 3; c++)
        position[c] = (double)q[3 + c];
    sinew_world_destroy(world);
    sinew_mesh_destroy(rope);
    return position[0];
}

static double infeasible_apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

void experiment_infeasible(const setting *s, outcome *o)
{
    figure *f = outcome_figure(o, "places", "The particle's place between the pins (fig 3)", "projection or iteration",
                               "m from the middle");
    f->distinct = true;
    snprintf(o->setup, sizeof o->setup,
             "One particle, two pins 3 m apart, springs of 1 m: the sets have a gap of 1 m between them. Quasistatic.");
    for (int m = 0; m < METHODS && !o->failure[0]; m++) {
        double position[STEPS + 1][3] = {{0.2, 0.6, 0}};
        if (s->progress)
            s->progress(s->context, m, METHODS, "infeasible");
        for (int32_t i = 1; i <= STEPS; i++)
            position_after((method)m, i, position[i], o);
        const double last = infeasible_apart(position[STEPS], position[STEPS - 1]);
        const double middle = infeasible_apart(position[STEPS], (const double[3]){0, 0, 0});
        claim *c = outcome_claim(o, names[m],
                                 m == GAUSS_SEIDEL ? "oscillates between two points"
                                 : m == REDUCED    ? "Jacobi converges to one point"
                                                   : "converges to one point");
        claim_measured(c, "last two of %d places %.3g m apart, the last one %.3g m from the middle", STEPS, last,
                       middle);
        if (m == GAUSS_SEIDEL)
            claim_holds(c, fabs(last - 1) < 1e-3 ? HOLDS_YES : last > 0.1 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        else
            claim_holds(c, last < 1e-3 && middle < 1e-2 ? HOLDS_YES : last < 1e-2 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        outcome_number(o, last, "last_move_%d", m);
        outcome_number(o, middle, "from_middle_%d", m);
        if (figure_series(f, names[m], m < MOMENTUM ? SINEW_SOLVER_PBD : SINEW_SOLVER_PD, m, STEPS + 1))
            for (int32_t i = 0; i <= STEPS; i++) {
                f->series[f->series_count - 1].x[i] = i;
                f->series[f->series_count - 1].y[i] = position[i][0];
            }
    }
}
