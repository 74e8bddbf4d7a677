/* SPDX-License-Identifier: MIT
 *
 * make_world.h: worlds that several tests build; a failed call fails the test with the library's message.
 */
#ifndef SINEW_MAKE_WORLD_H
#define SINEW_MAKE_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sinew/sinew.h"

#define MAKE_PI 3.14159265358979323846

/* Fails the test with the error's text if the error is set. */
static inline void must(const sinew_error *error)
{
    if (error->status != SINEW_OK)
        fail_msg("%s: %s", sinew_status_name(error->status), error->text);
}

static inline sinew_world *make_world(const sinew_world_def *def)
{
    sinew_error error = {0};
    sinew_world *world = sinew_world_create(def, &error);
    must(&error);
    return world;
}

static inline sinew_mesh *make_beam(int nx, int ny, int nz, double lx, double ly, double lz)
{
    sinew_error error = {0};
    sinew_beam_def def = sinew_default_beam_def();
    const int32_t cells[3] = {nx, ny, nz};
    const double size[3] = {lx, ly, lz};
    for (int c = 0; c < 3; c++) {
        def.cells[c] = cells[c];
        def.size[c] = (sinew_real)size[c];
    }
    sinew_mesh *mesh = sinew_mesh_beam(&def, &error);
    must(&error);
    return mesh;
}

static inline sinew_mesh *make_rope(int32_t vertices, const double from[3], const double to[3])
{
    sinew_error error = {0};
    sinew_rope_def def = sinew_default_rope_def();
    def.vertices = vertices;
    for (int c = 0; c < 3; c++) {
        def.from[c] = (sinew_real)from[c];
        def.to[c] = (sinew_real)to[c];
    }
    sinew_mesh *mesh = sinew_mesh_rope(&def, &error);
    must(&error);
    return mesh;
}

static inline sinew_body add_body(sinew_world *world, const sinew_body_def *def)
{
    sinew_error error = {0};
    sinew_body body = sinew_world_add_body(world, def, &error);
    must(&error);
    return body;
}

/* Adds a body of a mesh; positions and velocities may be NULL. */
static inline sinew_body add_mesh(sinew_world *world, const sinew_mesh *mesh, double density,
                                  const sinew_real *positions, const sinew_real *velocities)
{
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = (sinew_real)density;
    def.positions = positions;
    def.velocities = velocities;
    return add_body(world, &def);
}

static inline sinew_energy add_energy(sinew_world *world, const sinew_energy_def *def)
{
    sinew_error error = {0};
    sinew_energy energy = sinew_world_add_energy(world, def, &error);
    must(&error);
    return energy;
}

/* Adds a material on all tets of a body. The strain energy has no Poisson's ratio: its stiffness is E. */
static inline sinew_energy add_material(sinew_world *world, sinew_body body, sinew_energy_kind kind, double E,
                                        double nu)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.parameters[0] = (sinew_real)E;
    if (kind != SINEW_ENERGY_STRAIN)
        def.parameters[1] = (sinew_real)nu;
    return add_energy(world, &def);
}

static inline sinew_energy add_springs(sinew_world *world, sinew_body body, double stiffness)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.body = body;
    def.parameters[0] = (sinew_real)stiffness;
    return add_energy(world, &def);
}

static inline sinew_pin add_pins(sinew_world *world, sinew_body body, const int32_t *vertices, int32_t count,
                                 const sinew_real *targets)
{
    sinew_error error = {0};
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = vertices;
    def.vertex_count = count;
    def.targets = targets;
    sinew_pin pin = sinew_world_add_pins(world, &def, &error);
    must(&error);
    return pin;
}

/* Writes the vertices whose coordinate `axis` is within 1e-6 of one of two values; returns their number. */
static inline int32_t vertices_at(const sinew_mesh *mesh, int axis, double first, double second, int32_t *vertices)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
        double x = (double)X[3 * i + axis];
        if (fabs(x - first) < 1e-6 || fabs(x - second) < 1e-6)
            vertices[count++] = i;
    }
    return count;
}

static inline void *make_array(size_t count, size_t size)
{
    void *array = calloc(count ? count : 1, size);
    assert_non_null(array);
    return array;
}

static inline sinew_real *positions_of(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, 0, n, q), SINEW_OK);
    return q;
}

/* Random numbers in [-1, 1] that are the same on every machine (Park and Miller 1988). */
static inline double next_random(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * 48271u % 2147483647u);
    return 2.0 * (double)*state / 2147483647.0 - 1.0;
}

/* Whether a solver is an integrator: these do not iterate to convergence, so their steps end elsewhere, and may be
 * unstable. */
static inline bool is_integrator(const sinew_solver_info *info)
{
    return info->explicit_step || info->default_iterations == 1;
}

#endif
