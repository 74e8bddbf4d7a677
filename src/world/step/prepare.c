/* SPDX-License-Identifier: MIT
 *
 * prepare.c: brings the objective and the solver up to date with the changes of a world.
 *
 * The objective is built again if elements of fixed energies changed; the solver refreshes what it can and is prepared
 * again for all other changes. After an interruption, or if memory runs out, the next preparation starts over and loads
 * the data that the solver keeps between steps.
 */
#include <string.h>

#include "base/stop.h"
#include "base/tasks.h"
#include "contact/contact.h"
#include "world/measure/fields.h"
#include "world/step/prepare.h"

/* Updates the data that all elements of one energy share, from positions q [particle_count][4] and a time. */
static void prepare_shared_data_of(const sinew_world *world, const sinew_energy_record *record, const sinew_real *q,
                                   double time)
{
    sinew_real shared[SINEW_SHARED_MAX];
    sinew_global_constraint all = sinew_energy_all_elements(world, &record->store);
    all.q = q;
    all.time = time;
    record->batch->ops->update_shared_data(&all, shared);
    sinew_batch_set_shared(record->batch, shared);
}

bool sinew_world_update_shared_data(const sinew_world *world, const sinew_real *q, double time)
{
    bool any = false;
    for (int32_t i = 0; i < world->energy_count; i++) {
        if (!world->energies[i].batch || !world->energies[i].batch->ops->update_shared_data)
            continue;
        prepare_shared_data_of(world, &world->energies[i], q, time);
        any = true;
    }
    return any;
}

/* Lists all batches of energies, fixed before transient ones; returns their number, and the number of fixed ones in
 * *fixed. */
static int32_t prepare_list_batches(sinew_world *world, int32_t *fixed)
{
    int32_t live = 0;
    for (int layer = 0; layer < 2; layer++) {
        for (int32_t i = 0; i < world->energy_count; i++)
            if (world->energies[i].batch && world->energies[i].batch->transient == (layer == 1))
                world->batches[live++] = world->energies[i].batch;
        *fixed = layer == 0 ? live : *fixed;
    }
    return live;
}

sinew_batch **sinew_world_transient_batches(sinew_world *world, int32_t *count)
{
    int32_t fixed;
    if (!world->batches)
        world->batches = sinew_allocate(&world->allocator, (size_t)world->energy_capacity + 2, sizeof(sinew_batch *));
    if (!world->batches)
        return NULL;
    *count = prepare_list_batches(world, &fixed) - fixed;
    return world->batches + fixed;
}

static sinew_status prepare_objective(sinew_world *world, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    int32_t fixed;
    if (world->objective_changed == 0)
        return SINEW_OK;
    const int32_t live = prepare_list_batches(world, &fixed);
    sinew_balance_forget_constraints(world);
    if (world->objective_changed & SINEW_CHANGED_ELEMENTS) {
        sinew_solve_release(&world->solve);
        world->objective.particle_count = world->particle_count;
        status = sinew_objective_build(&world->objective, world->batches, live, error);
    } else {
        status = sinew_objective_set_transient(&world->objective, world->batches + fixed, live - fixed, error);
    }
    if (status == SINEW_OK)
        world->objective_changed = 0;
    return status;
}

/* Marks all fixed elements as switched on (`all`), or restores their switches. Returns true if some fixed element is
 * switched off. */
static bool prepare_show_all(sinew_world *world, bool all)
{
    bool any = false;
    for (int32_t i = 0; i < world->energy_count; i++) {
        sinew_batch *batch = world->energies[i].batch;
        if (!batch || batch->transient || batch->off_count == 0)
            continue;
        sinew_batch_show_switched_off(batch, all);
        any = true;
    }
    return any;
}

/* Gives batches access to the records of their energies, because solvers that create elements read the parameters of
 * existing ones; removes it afterwards, because records may move. */
static void prepare_show_parameters(sinew_world *world, bool show)
{
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].batch) {
            world->energies[i].batch->parameters_of = show ? sinew_energy_parameters : NULL;
            world->energies[i].batch->origin = show ? &world->energies[i] : NULL;
        }
}

sinew_status sinew_fail_interrupted(sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_INTERRUPTED, "interrupted; the next step or preparation starts over");
}

bool sinew_world_solver_remembers(const sinew_world *world)
{
    const bool pending = world->solver_state_pending;
    const sinew_solver_ops *ops = pending ? sinew_solver_get_ops(world->def.solver.kind) : world->solve.ops;
    if (!ops || !ops->state_size ||
        world->solver_changed & ~(ops->refreshes | SINEW_CHANGED_DEF | (pending ? SINEW_CHANGED_DISCARDED : 0u)))
        return false;
    return pending ? world->solver_state_size > 0 : ops->state_size(&world->solve) > 0;
}

sinew_status sinew_world_keep_solver_state(sinew_world *world, sinew_error *error)
{
    if (world->solver_state_pending)
        return SINEW_OK;
    world->solver_state_size = 0;
    if (!sinew_world_solver_remembers(world))
        return SINEW_OK;
    const size_t size = world->solve.ops->state_size(&world->solve);
    if (!sinew_reserve(&world->allocator, &world->solver_state, &world->solver_state_capacity, size, 1))
        return sinew_fail_memory(error, "the state of the solver");
    world->solve.ops->state_save(&world->solve, world->solver_state);
    world->solver_state_size = size;
    return SINEW_OK;
}

void sinew_world_discard_solver(sinew_world *world)
{
    world->solver_state_pending = true;
    sinew_world_mark_changed(world, SINEW_CHANGED_DISCARDED |
                                        (sinew_contact_is_on(world) ? (uint32_t)SINEW_CHANGED_TRANSIENT : 0u));
}

/* Loads the solver's data from before an interrupted step into the solver that was prepared again. */
static void prepare_restore_solver_state(sinew_world *world, bool remembers)
{
    if (remembers)
        world->solve.ops->state_load(&world->solve, world->solver_state, world->solver_state_size);
    if (!sinew_stop_came())
        world->solver_state_pending = false;
}

/* Prepares or refreshes the solver for the pending changes. Preparation uses the rest shape, the shared data of
 * energies there and all elements, including those that are off, so that a loaded state continues with the same bits;
 * the solver then gets the switches. */
static sinew_status prepare_solver(sinew_world *world, sinew_error *error)
{
    const uint32_t all = SINEW_CHANGED_ELEMENTS | SINEW_CHANGED_SOLVER | SINEW_CHANGED_DATA;
    uint32_t changed = world->solver_changed & ~(uint32_t)SINEW_CHANGED_SWITCHED;
    const uint32_t refreshes = world->solve.ops ? world->solve.ops->refreshes | SINEW_CHANGED_DEF : 0;
    const bool rebuild = changed & all || changed & ~refreshes;
    bool off = (world->solver_changed & SINEW_CHANGED_SWITCHED) != 0;
    const bool pending = world->solver_state_pending, remembers = pending && sinew_world_solver_remembers(world);
    sinew_status status = SINEW_OK;
    const bool shares = sinew_world_update_shared_data(world, world->rest, 0);
    /* The preparation may reallocate the gap estimate: the position error of the last step is no longer valid. */
    world->position_error_kind = SINEW_GAP_NONE;
    if (changed) {
        if (rebuild)
            off |= prepare_show_all(world, true);
        prepare_show_parameters(world, true);
        status = sinew_solve_refresh(&world->solve, &world->def.solver, changed, error);
        prepare_show_parameters(world, false);
        if (rebuild)
            prepare_show_all(world, false);
    }
    if (status == SINEW_OK && off)
        status = sinew_solve_refresh(&world->solve, &world->def.solver, SINEW_CHANGED_SWITCHED, error);
    if (shares) {
        if (status == SINEW_OK)
            /* Stiffness at the rest shape; steps would compute it with the shared data of their start. */
            sinew_solve_stiffness(&world->solve);
        sinew_world_update_shared_data(world, world->q, world->time + (double)world->def.time_step);
    }
    if (status == SINEW_OK && pending)
        prepare_restore_solver_state(world, remembers);
    if (sinew_stop_came()) {
        sinew_world_discard_solver(world);
        return sinew_fail_interrupted(error);
    }
    if (status == SINEW_ERROR_MEMORY) {
        sinew_world_discard_solver(world);
        return status;
    }
    world->solver_state_pending &= status == SINEW_OK;
    if (status == SINEW_OK)
        world->solver_changed = 0;
    else
        world->solver_changed |= SINEW_CHANGED_SOLVER;
    return status;
}

sinew_status sinew_world_make_ready(sinew_world *world, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, "sinew_world_prepare", error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_prepare needs a world");
    /* Selects the task system of the world: functions with multi-threaded work prepare the world first, except those
     * that select the task system themselves (contact_api/overlaps.c). */
    sinew_tasks_use(&world->def.tasks);
    if (world->objective_changed | world->solver_changed)
        sinew_contact_detach(world);
    sinew_status status = sinew_world_check_contact(world, error);
    if (status == SINEW_OK && world->solver_changed & (SINEW_CHANGED_PINS | SINEW_CHANGED_ELEMENTS))
        status = sinew_world_find_constrained(world, error);
    if (status == SINEW_OK)
        status = prepare_objective(world, error);
    if (status == SINEW_OK)
        status = sinew_loads_prepare(world, error);
    if (status == SINEW_OK)
        status = sinew_damping_prepare(world, error);
    if (status != SINEW_OK || world->solver_changed == 0)
        return status;
    status = sinew_world_keep_solver_state(world, error);
    if (status != SINEW_OK)
        return status;
    sinew_world_predict(world);
    status = world->solver_changed == SINEW_CHANGED_DEF ? SINEW_OK : sinew_world_check_solvable(world, error);
    return status == SINEW_OK ? prepare_solver(world, error) : status;
}
