/* SPDX-License-Identifier: MIT
 *
 * rigid_world.h: worlds of rigid bodies that several tests build.
 */
#ifndef SINEW_RIGID_WORLD_H
#define SINEW_RIGID_WORLD_H

#include "make_world.h"

static inline sinew_world *make_rigid_world(double h, const char *solver, double gravity)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)-gravity;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(sinew_solver_by_name(solver));
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_error error;
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    return world;
}

static inline sinew_body add_rigid(sinew_world *world, sinew_mesh *shape, double density)
{
    sinew_error error;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = shape;
    def.density = (sinew_real)density;
    const sinew_body body = sinew_world_add_rigid(world, &def, &error);
    if (body.index < 0)
        fail_msg("%s", error.text);
    return body;
}

#endif
