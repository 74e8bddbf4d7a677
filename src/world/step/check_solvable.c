/* SPDX-License-Identifier: MIT
 *
 * check_solvable.c: what cannot be stepped, found before the first step.
 *
 * An equilibrium needs every piece of the world held against moving away as a whole: by a pin, by a position energy, or
 * by an energy that joins it to a piece that is. Otherwise the objective has no minimum, or a force takes it to minus
 * infinity. A piece that is held at one or two points may still turn about them. That is allowed: turning is bounded,
 * so there is a minimum; under gravity it hangs. Where no force settles the angle the Hessian is singular and the step
 * says so (SINEW_STEP_INDEFINITE).
 *
 * Known limits: pieces joined by weak constraints of one stiffness only (the other zero) count as joined, though they
 * may slide.
 */
#include <stdio.h>

#include "objective/connected_components.h"
#include "world/world.h"

/* ---- Held ------------------------------------------------------------------------------------ */

/* held[piece] = 1 where a particle of it is pinned or held along a direction, or an energy costs more as it moves away
 */
static void mark_held(const sinew_world *world, const int32_t *piece, uint8_t *held)
{
    const sinew_objective *o = &world->objective;
    for (int32_t i = 0; i < world->particle_count; i++)
        held[piece[i]] |= world->pinned[i];
    for (int32_t k = 0; k < world->held_count; k++)
        held[piece[world->held[k]]] = 1;
    for (int32_t t = 0; t < o->task_count; t++)
        if (o->tasks[t].batch->ops->rigid_cost & SINEW_COSTS_TRANSLATION)
            for (int32_t i = 0; i < o->tasks[t].chunk->slot_count; i++)
                held[piece[o->tasks[t].batch->particle[o->tasks[t].chunk->first_slot + i]]] = 1;
}

static int32_t body_of(const sinew_world *world, int32_t particle)
{
    int32_t body = 0;
    while (particle >= world->bodies[body].start + world->bodies[body].count)
        body++;
    return body;
}

/* Names the piece by its particle of the lowest outside number, its size and its bodies. */
static sinew_status fail_free(const sinew_world *world, const int32_t *piece, int32_t which, sinew_error *error)
{
    int32_t count = 0, bodies = 0, last = -1, lowest = INT32_MAX, owner = 0;
    for (int32_t i = 0; i < world->particle_count; i++) {
        if (piece[i] != which)
            continue;
        const int32_t body = body_of(world, i);
        bodies += body != last;
        last = body;
        count++;
        if (world->outside[i] < lowest) {
            lowest = world->outside[i];
            owner = body;
        }
    }
    char more[48] = "";
    if (bodies > 1)
        snprintf(more, sizeof more, " and of %d more bod%s", bodies - 1, bodies > 2 ? "ies" : "y");
    return sinew_fail(
        error, SINEW_ERROR_DATA,
        "quasistatic: a piece of body %d%s with %d particles (particle %d, vertex %d of the body, is one) is "
        "held by nothing, so that no equilibrium exists: no pin, no position energy, nothing that joins it to "
        "what is held; pin some of its vertices or add position energies",
        owner, more, count, lowest, lowest - world->bodies[owner].first);
}

static sinew_status check_held(const sinew_world *world, sinew_error *error)
{
    int32_t *piece = sinew_allocate(&world->allocator, (size_t)world->particle_count, sizeof *piece);
    uint8_t *held = sinew_allocate_zero(&world->allocator, (size_t)world->particle_count, 1);
    sinew_status status = piece && held ? SINEW_OK : sinew_fail_memory(error, "the pieces of the world");
    if (status == SINEW_OK) {
        sinew_objective_pieces(&world->objective, world->rest, piece);
        mark_held(world, piece, held);
    }
    for (int32_t i = 0; status == SINEW_OK && i < world->particle_count; i++)
        if (!held[piece[i]])
            status = fail_free(world, piece, piece[i], error);
    sinew_release(&world->allocator, piece);
    sinew_release(&world->allocator, held);
    return status;
}

/* ---- Solver ---------------------------------------------------------------------------------- */

/* Names of the solvers that find equilibria, separated by commas. */
static void list_static(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int kind = 0; kind < SINEW_SOLVER_COUNT && used < size; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info->quasistatic)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", info->name);
    }
}

static sinew_status check_mode(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_ops *ops = sinew_solver_get_ops(world->def.solver.kind);
    const sinew_solver_info *solver = &ops->info;
    char others[128];
    if (world->def.quasistatic && !solver->quasistatic) {
        list_static(others, sizeof others);
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s cannot be quasistatic: without the masses, which an equilibrium leaves out, %s; use one "
                          "of %s, or a dynamic world with damping",
                          solver->name,
                          ops->one_iteration ? "there is no motion to integrate" : "its update divides by zero",
                          others);
    }
    if (!world->def.quasistatic && solver->static_only)
        return sinew_fail(
            error, SINEW_ERROR_UNSUPPORTED,
            "%s finds equilibria only: its time is a pseudo-time; make the world quasistatic, or use xpbd",
            solver->name);
    return SINEW_OK;
}

/* The first pins that hold some directions only; -1: none do. */
static int32_t find_partial(const sinew_world *world)
{
    for (int32_t p = 0; p < world->pin_count; p++)
        if (sinew_pin_is_partial(&world->pins[p]))
            return p;
    return -1;
}

/* A solver whose unknowns are points, each with one mass, cannot hold one of three directions. */
static sinew_status check_directions(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_info *solver = sinew_get_solver_info(world->def.solver.kind);
    const int32_t partial = find_partial(world);
    char others[128] = "";
    size_t used = 0;
    if (partial < 0 || solver->directions)
        return SINEW_OK;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT && used < sizeof others; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info->directions)
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", info->name);
    }
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s cannot hold particles along some directions only, as pins %d do: its update has one mass, or "
                      "one factor, for all three; use one of %s, or hold them in all directions",
                      solver->name, partial, others);
}

/* Contacts come and go within a step: a solver that has to be made anew for them would lose its place. */
sinew_status sinew_world_check_contact(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_ops *ops = sinew_solver_get_ops(world->def.solver.kind);
    if (!sinew_contact_is_on(world) || ops->refreshes & SINEW_CHANGED_TRANSIENT)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s takes no contact: it is set up for the elements that a step begins with, and contacts come "
                      "and go within one; use pbng or another solver, or switch contact off",
                      ops->info.name);
}

sinew_status sinew_world_check(const sinew_world *world, sinew_error *error)
{
    sinew_status status = check_mode(world, error);
    for (int32_t i = 0; status == SINEW_OK && i < world->energy_count; i++)
        if (world->energies[i].batch) {
            status = sinew_solver_check_energy(&world->def.solver, world->energies[i].kind,
                                               world->energies[i].batch->hard, error);
            if (status == SINEW_OK)
                status = sinew_energy_check_rows(world, &world->energies[i], error);
        }
    if (status == SINEW_OK)
        status = check_directions(world, error);
    if (status == SINEW_OK && world->def.quasistatic)
        status = check_held(world, error);
    return status;
}
