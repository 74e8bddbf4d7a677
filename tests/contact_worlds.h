/* SPDX-License-Identifier: MIT
 *
 * contact_worlds.h: small worlds with contact, for the tests of contact.
 */
#ifndef SINEW_CONTACT_WORLDS_H
#define SINEW_CONTACT_WORLDS_H

#include "make_world.h"
#include "sinew/contact.h"

/* Solvers whose states are compared, and a material that each supports. */
static const sinew_solver_kind touch_solvers[] = {
    SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,  SINEW_SOLVER_PD,    SINEW_SOLVER_ADMM,        SINEW_SOLVER_PBNG,
    SINEW_SOLVER_XPBD,   SINEW_SOLVER_PBD, SINEW_SOLVER_MPBNG, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP};
enum {
    TOUCH_SOLVERS = sizeof touch_solvers / sizeof touch_solvers[0]
};

static inline sinew_world *make_touching_world(sinew_solver_kind solver, int threads)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(solver);
    return make_world(&def);
}

static inline void set_touch(sinew_world *world, double thickness, double friction)
{
    sinew_error error = {0};
    sinew_contact_def def = sinew_default_contact_def();
    def.thickness = (sinew_real)thickness;
    def.friction = (sinew_real)friction;
    sinew_world_set_contact(world, &def, &error);
    must(&error);
}

static inline sinew_collider add_collider(sinew_world *world, const sinew_collider_def *def)
{
    sinew_error error = {0};
    const sinew_collider collider = sinew_world_add_collider(world, def, &error);
    must(&error);
    return collider;
}

static inline sinew_collider add_floor(sinew_world *world)
{
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    return add_collider(world, &def);
}

/* A box of tets around `middle`, n cells along each side, of a material that the solver supports. */
static inline sinew_body add_box(sinew_world *world, sinew_solver_kind solver, int n, double size,
                                 const double middle[3], double young)
{
    sinew_mesh *mesh = make_beam(n, n, n, size, size, size);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t i = 0; i < 3 * count; i++)
        x[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)middle[i % 3];
    const sinew_body body = add_mesh(world, mesh, 1000, x, NULL);
    const bool strain = solver == SINEW_SOLVER_PD || solver == SINEW_SOLVER_PBD || solver == SINEW_SOLVER_XPBD;
    add_material(world, body, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED, young, 0.3);
    sinew_mesh_destroy(mesh);
    free(x);
    return body;
}

#endif
