/* SPDX-License-Identifier: MIT
 *
 * pbng_worlds.h: the configuration of pbng in its tests, a block with inverted tets, and the largest increase of g in a
 * step's iterations.
 */
#ifndef SINEW_PBNG_WORLDS_H
#define SINEW_PBNG_WORLDS_H

#include "solver_scenes.h"

#include "world/world.h"

#define INVERTED_THROW 0.24 /* m */

enum {
    NONE,
    SOR,
    SOR_NODE,
    CHEBYSHEV
};

static inline sinew_solver_def pbng(int iterations, int acceleration, int exact)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_PBNG, iterations);
    set(&def, "acceleration", acceleration);
    set(&def, "hessian", exact);
    def.record = SINEW_RECORD_NONE;
    return def;
}

static inline const char *name_of(sinew_energy_kind kind)
{
    return sinew_get_energy_info(kind)->name;
}

/* ---- A block with inverted tets ---------------------------------------------------------------- */

enum {
    INVERTED_CELLS = 3,
    INVERTED_TETS = 5 * INVERTED_CELLS * INVERTED_CELLS * INVERTED_CELLS
};

/* A cube of 1 m with one face pinned and all other vertices displaced by up to a quarter of a cell: about a tenth of
 * the tets are inverted. h = 0: quasistatic. */
static inline sinew_world *inverted_world(sinew_energy_kind kind, double E, double h, const sinew_solver_def *solver)
{
    sinew_mesh *mesh = make_beam(INVERTED_CELLS, INVERTED_CELLS, INVERTED_CELLS, 1, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *start = make_array(3 * (size_t)n, sizeof *start);
    int32_t fixed[64];
    uint32_t random = 12345;
    for (int32_t i = 0; i < 3 * n; i++)
        start[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(INVERTED_THROW * next_random(&random));
    const int32_t count = vertices_at(mesh, 0, -0.5, -0.5, fixed);
    for (int32_t i = 0; i < count; i++)
        memcpy(start + 3 * fixed[i], sinew_mesh_positions(mesh) + 3 * fixed[i], 3 * sizeof *start);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.quasistatic = h == 0;
    if (h > 0)
        def.time_step = (sinew_real)h;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, start, NULL);
    add_material(world, body, kind, E, 0.3);
    add_pins(world, body, fixed, count, NULL);
    free(start);
    sinew_mesh_destroy(mesh);
    return world;
}

/* The largest increase of g by an iteration of a step, in units of its round-off. */
static inline double largest_rise(sinew_world *world)
{
    int32_t count;
    double max = 0;
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    for (int32_t k = 1; k < count; k++) {
        /* value_noise is the round-off at the rest shape; a strongly deformed body has more. */
        const double noise = fmax(world->solve.value_noise, (IS_SINGLE ? 1e-6 : 1e-14) * fabs(records[k].objective));
        max = fmax(max, (records[k].objective - records[k - 1].objective) / noise);
    }
    return max;
}

#endif
