/* SPDX-License-Identifier: MIT
 *
 * chain.c: a chain of particles as a world, and measures of the chain (chain.h).
 */
#include "chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MAX = 128
};

chain_def chain_default(void)
{
    chain_def def = {.vertices = 2, .to = {1, 0, 0}, .mass = 1, .stiffness = 100, .h = 0.01};
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SYMPLECTIC_EULER);
    def.solver.measure = SINEW_MEASURE_NOTHING;
    return def;
}

static sinew_mesh *chain_mesh(const chain_def *def, sinew_error *error)
{
    sinew_rope_def rope = sinew_default_rope_def();
    rope.vertices = def->vertices;
    for (int c = 0; c < 3; c++) {
        rope.from[c] = 0;
        rope.to[c] = (sinew_real)def->to[c];
    }
    return sinew_mesh_rope(&rope, error);
}

static bool fill_chain(sinew_world *world, const chain_def *def, const sinew_mesh *mesh, sinew_error *error)
{
    const int32_t n = def->vertices;
    sinew_real masses[CHAIN_MAX], start[6] = {0};
    for (int32_t i = 0; i < n; i++)
        masses[i] = (sinew_real)(n > 2 && (i == 0 || i == n - 1) ? def->mass / 2 : def->mass);
    for (int c = 0; def->start && c < 3; c++)
        start[3 + c] = (sinew_real)def->start[c];
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    body.positions = def->start && n == 2 ? start : NULL;
    const sinew_body b = sinew_world_add_body(world, &body, error);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = b;
    spring.parameters[sinew_energy_parameter(SINEW_ENERGY_SPRING, "stiffness")] = (sinew_real)def->stiffness;
    spring.hard = def->hard;
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = b;
    pin.vertices = &(int32_t){0};
    pin.vertex_count = 1;
    return b.index >= 0 && sinew_world_add_energy(world, &spring, error).index >= 0 &&
           sinew_world_add_pins(world, &pin, error).index >= 0;
}

sinew_world *chain_make(const chain_def *def, sinew_error *error)
{
    sinew_world_def world_def = sinew_default_world_def();
    world_def.time_step = (sinew_real)def->h;
    world_def.gravity[1] = (sinew_real)-def->gravity;
    world_def.quasistatic = def->quasistatic;
    world_def.thread_count = 1;
    world_def.solver = def->solver;
    sinew_mesh *mesh = def->vertices <= CHAIN_MAX ? chain_mesh(def, error) : NULL;
    sinew_world *world = mesh ? sinew_world_create(&world_def, error) : NULL;
    if (world && !fill_chain(world, def, mesh, error)) {
        sinew_world_destroy(world);
        world = NULL;
    }
    sinew_mesh_destroy(mesh);
    return world;
}

void chain_end(const sinew_world *world, double q[3], double v[3])
{
    const int32_t last = sinew_world_particle_count(world) - 1;
    sinew_real x[3] = {0}, u[3] = {0};
    sinew_world_get_positions(world, last, 1, x);
    sinew_world_get_velocities(world, last, 1, u);
    for (int c = 0; c < 3; c++) {
        q[c] = (double)x[c];
        v[c] = (double)u[c];
    }
}

double chain_stretch(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    const sinew_real *rest = sinew_mesh_positions(sinew_body_mesh(world, sinew_world_body_at(world, 0)));
    sinew_real q[3 * CHAIN_MAX];
    double max = 0;
    sinew_world_get_positions(world, 0, n, q);
    for (int32_t i = 0; i + 1 < n; i++) {
        double square[2] = {0, 0};
        for (int c = 0; c < 3; c++) {
            const double now = (double)q[3 * i + 3 + c] - (double)q[3 * i + c];
            const double then = (double)rest[3 * i + 3 + c] - (double)rest[3 * i + c];
            square[0] += now * now;
            square[1] += then * then;
        }
        max = fmax(max, fabs(sqrt(square[0] / square[1]) - 1));
    }
    return max;
}

const char *chain_status(uint32_t bits)
{
    static const uint32_t telling[] = {SINEW_STEP_NOT_FINITE, SINEW_STEP_ROUND_OFF, SINEW_STEP_NOT_CONVERGED,
                                       SINEW_STEP_UNMEASURED, SINEW_STEP_EXPLICIT};
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++)
        if (bits & telling[i])
            return sinew_step_bit_name(telling[i]);
    return "solved";
}

bool chain_fail(outcome *o, const sinew_error *error)
{
    snprintf(o->failure, sizeof o->failure, "%.250s", error->text);
    return false;
}
