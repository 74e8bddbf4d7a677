/* SPDX-License-Identifier: MIT
 *
 * world.c: creates and destroys worlds.
 */
#include "world/world.h"

#include <math.h>
#include <string.h>

#include "base/registration.h"
#include "base/tasks.h"
#include "world/forces/loads.h"
#include "world/measure/fields.h"

/* ---- Creation of a world --------------------------------------------------------------------- */

sinew_world_def sinew_default_world_def(void)
{
    return (sinew_world_def){.cookie = SINEW_COOKIE_WORLD,
                             .time_step = (sinew_real)(1.0 / 60),
                             .gravity = {0, (sinew_real)-9.81, 0},
                             .solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON)};
}

static sinew_status check_time_step(sinew_real h, sinew_error *error)
{
    if (isfinite(h) && h > 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "time_step is %g s, must be finite and greater than 0", (double)h);
}

static sinew_status check_world_def(const sinew_world_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_WORLD))
        return sinew_fail(error, SINEW_ERROR_USAGE, "the world def was not made by sinew_default_world_def()");
    sinew_status status = check_time_step(def->time_step, error);
    if (status == SINEW_OK)
        status = sinew_gravity_check(def->gravity, error);
    if (status == SINEW_OK)
        status = sinew_damping_check(def->damping, error);
    if (status != SINEW_OK)
        return status;
    if (def->load_steps < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "load_steps is %d, must be at least 0", def->load_steps);
    if (def->thread_count < 0 || def->thread_count > 1024)
        return sinew_fail(error, SINEW_ERROR_DATA, "thread_count is %d, must be in [0, 1024]", def->thread_count);
    if (!def->tasks.start != !def->tasks.finish)
        return sinew_fail(error, SINEW_ERROR_DATA, "tasks has no %s: set start and finish, or neither",
                          def->tasks.start ? "finish" : "start");
    return sinew_solver_check(&def->solver, error);
}

sinew_world *sinew_world_create(const sinew_world_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (check_world_def(def, error) != SINEW_OK)
        return NULL;
    sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    sinew_memory_limit_forget();
    sinew_memory_limit *limit = def->memory_limit > 0 ? sinew_memory_limit_open(&allocator, def->memory_limit) : NULL;
    sinew_world *world = limit || def->memory_limit == 0 ? sinew_allocate_zero(&allocator, 1, sizeof *world) : NULL;
    if (!world) {
        sinew_fail_memory(error, "a world");
        sinew_memory_limit_close(limit);
        return NULL;
    }
    world->memory_limit = limit;
    sinew_registration_close();
    sinew_tasks_open();
    world->allocator = allocator;
    world->def = *def;
    world->objective.allocator = allocator;
    world->objective.thread_count = def->thread_count ? def->thread_count : sinew_tasks_default_count();
    world->solve.objective = &world->objective;
    world->solve.def = def->solver;
    sinew_world_mark_changed(world, SINEW_CHANGED_ALL);
    /* Reserves one particle, so that an empty world has arrays that are not NULL. */
    if (!sinew_particles_reserve(world, 1) || !sinew_numbers_reserve(world, 1)) {
        sinew_fail_memory(error, "a world");
        sinew_world_destroy(world);
        return NULL;
    }
    return world;
}

void sinew_world_destroy(sinew_world *world)
{
    if (!world || !SINEW_ASSERT(!world->stepping))
        return;
    const sinew_allocator allocator = world->allocator;
    sinew_memory_limit *limit = world->memory_limit;
    sinew_contact_release(world);
    sinew_query_release(world);
    sinew_balance_release(world);
    sinew_damping_release(world);
    sinew_solve_release(&world->solve);
    sinew_release(&allocator, world->solver_state);
    sinew_objective_clear(&world->objective);
    for (int32_t i = 0; i < world->energy_count; i++)
        sinew_energy_record_destroy(&allocator, &world->energies[i]);
    for (int32_t i = 0; i < world->pin_count; i++)
        sinew_pin_record_destroy(&allocator, &world->pins[i]);
    for (int32_t i = 0; i < world->load_count; i++)
        sinew_load_record_destroy(&allocator, &world->loads[i]);
    for (int32_t i = 0; i < world->collider_count; i++)
        sinew_shape_destroy(&world->colliders[i], &allocator);
    for (int32_t i = 0; i < world->body_count; i++)
        sinew_body_record_destroy(&allocator, &world->bodies[i]);
    sinew_world_release_constrained(world);
    void *arrays[] = {world->q,
                      world->v,
                      world->force,
                      world->rest,
                      world->q_tilde,
                      world->f_ext,
                      world->mass,
                      world->pinned,
                      world->inside,
                      world->outside,
                      world->bodies,
                      world->energies,
                      world->pins,
                      world->batches,
                      world->comment,
                      world->loads,
                      world->load_force,
                      world->signature,
                      world->colliders,
                      world->v_before,
                      world->acceleration,
                      world->wind_start,
                      world};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    sinew_memory_limit_close(limit);
    /* Resets the task system: the program may end its own after its last world. */
    sinew_tasks_use(&(sinew_task_system){0});
    sinew_tasks_close();
}

sinew_real sinew_world_time(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? (sinew_real)world->time : 0;
}

int64_t sinew_world_step_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->step_count : 0;
}

int32_t sinew_world_thread_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->objective.thread_count : 0;
}

sinew_status sinew_world_set_solver(sinew_world *world, const sinew_solver_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && def))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_solver needs a world and a def");
    sinew_status status = sinew_solver_check(def, error);
    if (status != SINEW_OK)
        return status;
    const sinew_solver_def *old = &world->def.solver;
    const bool same = old->kind == def->kind && memcmp(old->parameters, def->parameters, sizeof old->parameters) == 0;
    world->def.solver = *def;
    sinew_world_mark_changed(world, same ? SINEW_CHANGED_DEF : SINEW_CHANGED_DEF | SINEW_CHANGED_SOLVER);
    return sinew_world_fit_rigid(world, error);
}

sinew_status sinew_world_set_time_step(sinew_world *world, sinew_real h, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_time_step needs a world");
    sinew_status status = check_time_step(h, error);
    if (status != SINEW_OK)
        return status;
    if (h != world->def.time_step)
        sinew_world_mark_changed(world, SINEW_CHANGED_TIME_STEP);
    world->def.time_step = h;
    return sinew_world_fit_rigid(world, error);
}

void sinew_world_mark_changed(sinew_world *world, uint32_t changed)
{
    world->solver_changed |= changed;
    world->objective_changed |= changed & (SINEW_CHANGED_ELEMENTS | SINEW_CHANGED_TRANSIENT);
    /* With other elements, the known ratio of position error to force is no longer valid. */
    if (changed & (SINEW_CHANGED_ELEMENTS | SINEW_CHANGED_DATA))
        world->solve.history.error_per_force = 0;
}

bool sinew_grow(const sinew_allocator *allocator, void **array, int32_t count, int32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    int32_t larger = *capacity < 8 ? 8 : 2 * *capacity;
    void *grown = sinew_reallocate(allocator, *array, (size_t)count, (size_t)larger, size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = larger;
    return true;
}
