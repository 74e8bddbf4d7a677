/* SPDX-License-Identifier: MIT
 *
 * contact_scene.c: worlds, cubes and floors of the contact experiments (contact_scene.h).
 */
#include "contact_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const sinew_solver_kind contact_solvers[CONTACT_SOLVERS] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,   SINEW_SOLVER_ADMM,
                                                            SINEW_SOLVER_PD,     SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD,
                                                            SINEW_SOLVER_PBD};

const char *contact_name(sinew_solver_kind kind)
{
    return sinew_get_solver_info(kind)->name;
}

sinew_world *contact_world(const contact_world_def *given, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(given->kind);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.quasistatic = given->quasistatic;
    if (given->iterations > 0)
        def.solver.iterations = given->iterations;
    if (given->h > 0)
        def.time_step = (sinew_real)given->h;
    if (given->tolerance > 0)
        def.solver.tolerance = (sinew_real)given->tolerance;
    if (given->weightless)
        def.gravity[1] = 0;
    sinew_world *world = sinew_world_create(&def, error);
    if (!world || !(given->thickness > 0))
        return world;
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = (sinew_real)given->friction;
    contact.restitution = (sinew_real)given->restitution;
    contact.thickness = (sinew_real)given->thickness;
    contact.max_detections = given->detections > 0 ? given->detections : contact.max_detections;
    if (sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Rotates a rest position X of a box about z, then about x, and translates it to the box's centre. */
static void contact_scene_place_point(const contact_box *box, const sinew_real *X, sinew_real *x)
{
    const double a = (double)X[0], b = (double)X[1], c = (double)X[2];
    const double p[3] = {cos(box->turn[0]) * a - sin(box->turn[0]) * b, sin(box->turn[0]) * a + cos(box->turn[0]) * b,
                         c};
    x[0] = (sinew_real)(box->centre[0] + p[0]);
    x[1] = (sinew_real)(box->centre[1] + cos(box->turn[1]) * p[1] - sin(box->turn[1]) * p[2]);
    x[2] = (sinew_real)(box->centre[2] + sin(box->turn[1]) * p[1] + cos(box->turn[1]) * p[2]);
}

static sinew_body contact_scene_add_body(sinew_world *world, const contact_box *box, const sinew_mesh *mesh,
                                         sinew_error *error)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_body body = {.index = -1};
    sinew_real *x = malloc(6 * (size_t)n * sizeof *x);
    if (!x)
        return body;
    for (int32_t i = 0; i < n; i++) {
        contact_scene_place_point(box, sinew_mesh_positions(mesh) + 3 * (size_t)i, x + 3 * (size_t)i);
        for (int c = 0; c < 3; c++)
            x[3 * (size_t)(n + i) + (size_t)c] = (sinew_real)box->velocity[c];
    }
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = (sinew_real)(box->density > 0 ? box->density : 1000);
    def.positions = x;
    def.velocities = x + 3 * (size_t)n;
    body = sinew_world_add_body(world, &def, error);
    free(x);
    return body;
}

sinew_body contact_add_box(sinew_world *world, const contact_box *box, sinew_error *error)
{
    sinew_beam_def cells = sinew_default_beam_def();
    sinew_body body = {.index = -1};
    for (int c = 0; c < 3; c++) {
        cells.cells[c] = box->cells[c];
        cells.size[c] = (sinew_real)box->size[c];
    }
    sinew_mesh *mesh = sinew_mesh_beam(&cells, error);
    if (!mesh)
        return body;
    body = contact_scene_add_body(world, box, mesh, error);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    energy.body = body;
    energy.parameters[0] = (sinew_real)box->young;
    if (body.index >= 0 && sinew_world_add_energy(world, &energy, error).index < 0)
        body.index = -1;
    sinew_mesh_destroy(mesh);
    return body;
}

sinew_collider contact_add_floor(sinew_world *world, sinew_error *error)
{
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    return sinew_world_add_collider(world, &def, error);
}

bool contact_step(sinew_world *world, uint32_t *bits_of, sinew_error *error)
{
    const uint32_t bits = sinew_world_step(world, NULL);
    if (bits_of)
        *bits_of = bits;
    if (!(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE)))
        return true;
    snprintf(error->text, sizeof error->text, "%s",
             bits & SINEW_STEP_UNPREPARED ? sinew_world_error(world) : "a step became non-finite");
    return false;
}

bool contact_centre(const sinew_world *world, sinew_body body, double centre[3], double *kinetic)
{
    const int32_t n = sinew_mesh_vertex_count(sinew_body_mesh(world, body)),
                  first = sinew_body_first_particle(world, body);
    sinew_real *x = malloc(7 * (size_t)n * sizeof *x);
    if (!x)
        return false;
    sinew_real *v = x + 3 * (size_t)n, *m = v + 3 * (size_t)n;
    sinew_world_get_positions(world, first, n, x);
    sinew_world_get_velocities(world, first, n, v);
    sinew_world_get_masses(world, first, n, m);
    double sum[5] = {0};
    for (size_t i = 0; i < (size_t)n; i++) {
        sum[3] += (double)m[i];
        for (size_t c = 0; c < 3; c++) {
            sum[c] += (double)m[i] * (double)x[3 * i + c];
            sum[4] += 0.5 * (double)m[i] * (double)v[3 * i + c] * (double)v[3 * i + c];
        }
    }
    for (int c = 0; c < 3; c++)
        centre[c] = sum[c] / sum[3];
    if (kinetic)
        *kinetic = sum[4];
    free(x);
    return true;
}
