/* SPDX-License-Identifier: MIT
 *
 * stability.c: stability of an explicit integrator: the fastest small motion about the current state
 * (solve/explicit/stability.h), and its growth with the world's solver and time step. The result holds for the current
 * state only.
 */
#include <math.h>

#include "solve/explicit/stability.h"
#include "world/world.h"

sinew_status sinew_world_stability(sinew_world *world, sinew_stability *stability, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && stability))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_stability needs a world and a place for the answer");
    *stability = (sinew_stability){.growth = NAN, .time_step_max = HUGE_VAL};
    sinew_status status = sinew_world_prepare(world, error);
    if (status != SINEW_OK)
        return status;
    sinew_fastest fastest;
    sinew_world_predict(world);
    status = sinew_fastest_find(&world->objective, world->q, &fastest, error);
    if (status != SINEW_OK)
        return status;
    const sinew_solver_ops *ops = world->solve.ops;
    const double h = (double)world->def.time_step, damping = (double)world->def.damping, omega = sqrt(fastest.square);
    stability->omega_max = omega;
    stability->products = fastest.products;
    if (!ops->growth)
        return SINEW_OK;
    stability->growth = ops->growth(omega, h, damping);
    stability->time_step_max = omega > 0 ? ops->stable_step(omega, damping) : HUGE_VAL;
    return SINEW_OK;
}
