/* SPDX-License-Identifier: MIT
 *
 * settings.c: sets gravity and damping of a running world; returns its settings, its forces, and a view of the
 * positions in their internal order.
 *
 * Gravity and damping enter a step through q_tilde and f_ext, which every step recomputes, so changes need no
 * preparation of the solver.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

sinew_status sinew_gravity_check(const sinew_real gravity[3], sinew_error *error)
{
    if (isfinite(gravity[0]) && isfinite(gravity[1]) && isfinite(gravity[2]))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "gravity is %g %g %g m/s2, must be finite", (double)gravity[0],
                      (double)gravity[1], (double)gravity[2]);
}

sinew_status sinew_damping_check(sinew_real damping, sinew_error *error)
{
    if (isfinite(damping) && damping >= 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "damping is %g 1/s, must be finite and at least 0", (double)damping);
}

sinew_status sinew_world_set_gravity(sinew_world *world, const sinew_real gravity[3], sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && gravity))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_gravity needs a world and a vector");
    const sinew_status status = sinew_gravity_check(gravity, error);
    if (status == SINEW_OK)
        memcpy(world->def.gravity, gravity, sizeof world->def.gravity);
    return status;
}

sinew_status sinew_world_set_damping(sinew_world *world, sinew_real damping, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_damping needs a world");
    const sinew_status status = sinew_damping_check(damping, error);
    if (status == SINEW_OK)
        world->def.damping = damping;
    return status;
}

sinew_status sinew_world_get_gravity(const sinew_world *world, sinew_real gravity[3])
{
    if (!SINEW_ASSERT(world && gravity))
        return SINEW_ERROR_USAGE;
    memcpy(gravity, world->def.gravity, sizeof world->def.gravity);
    return SINEW_OK;
}

sinew_real sinew_world_damping(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->def.damping : 0;
}

sinew_real sinew_world_time_step(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->def.time_step : 0;
}

bool sinew_world_quasistatic(const sinew_world *world)
{
    return SINEW_ASSERT(world) && world->def.quasistatic;
}

int32_t sinew_world_load_steps(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->def.load_steps : 0;
}

sinew_solver_def sinew_world_solver(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->def.solver : sinew_default_solver_def(SINEW_SOLVER_NEWTON);
}

sinew_status sinew_world_get_forces(const sinew_world *world, int32_t first, int32_t count, sinew_real *f)
{
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, f)))
        return SINEW_ERROR_USAGE;
    sinew_world_outside_points(world, world->force, first, count, f);
    return SINEW_OK;
}

sinew_positions_view sinew_world_positions_view(const sinew_world *world)
{
    if (!SINEW_ASSERT(world))
        return (sinew_positions_view){0};
    return (sinew_positions_view){world->q, SINEW_POINT, world->inside, world->number_count};
}
