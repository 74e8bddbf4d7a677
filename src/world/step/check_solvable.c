/* SPDX-License-Identifier: MIT
 *
 * check_solvable.c: refuses worlds that cannot be stepped, before the first step.
 *
 * An equilibrium requires that every connected component of the world is supported against translation: by a pin, by a
 * position energy, or by an energy that joins it to a supported component. Otherwise the objective has no minimum, or a
 * force drives it to minus infinity. A component supported at one or two points may still rotate about them. This is
 * allowed, because rotation is bounded and a minimum exists. If no force determines the angle, the Hessian is
 * singular and the step reports SINEW_STEP_INDEFINITE.
 *
 * Known limit: components joined by weak constraints with one zero stiffness count as joined, although they may
 * slide.
 */
#include <math.h>
#include <stdio.h>

#include "contact/modes.h"
#include "objective/connected_components.h"
#include "sinew/extend.h"
#include "sinew/skin.h"
#include "world/world.h"

/* ---- Support of connected components ----------------------------------------------------------- */

/* Sets constrained[component] = 1 if a particle of the component is pinned or constrained along a direction, or an
 * energy penalises its translation. */
static void mark_supported(const sinew_world *world, const int32_t *component, uint8_t *constrained)
{
    const sinew_objective *o = &world->objective;
    for (int32_t i = 0; i < world->particle_count; i++)
        constrained[component[i]] |= world->pinned[i];
    for (int32_t k = 0; k < world->constrained_count; k++)
        constrained[component[world->constrained_particles[k]]] = 1;
    for (int32_t t = 0; t < o->task_count; t++)
        if (o->tasks[t].batch->ops->rigid_cost & SINEW_COSTS_TRANSLATION)
            for (int32_t i = 0; i < o->tasks[t].chunk->slot_count; i++)
                constrained[component[o->tasks[t].batch->particle[o->tasks[t].chunk->first_slot + i]]] = 1;
}

static int32_t body_of(const sinew_world *world, int32_t particle)
{
    int32_t body = 0;
    while (particle >= world->bodies[body].start + world->bodies[body].count)
        body++;
    return body;
}

/* Fails for an unsupported component; the message has its size, its number of bodies, and its first particle in the
 * public order. */
static sinew_status fail_free(const sinew_world *world, const int32_t *component, int32_t which, sinew_error *error)
{
    int32_t count = 0, bodies = 0, last = -1, lowest = INT32_MAX, owner = 0;
    for (int32_t i = 0; i < world->particle_count; i++) {
        if (component[i] != which)
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
        "quasistatic: a component of body %d%s with %d particles (particle %d, vertex %d of the body, is one) is "
        "held by nothing, so that no equilibrium exists: no pin, no position energy, nothing that joins it to "
        "what is held; pin some of its vertices or add position energies",
        owner, more, count, lowest, lowest - world->bodies[owner].first);
}

static sinew_status check_supported(const sinew_world *world, sinew_error *error)
{
    int32_t *component = sinew_allocate(&world->allocator, (size_t)world->particle_count, sizeof *component);
    uint8_t *constrained = sinew_allocate_zero(&world->allocator, (size_t)world->particle_count, 1);
    sinew_status status = component && constrained ? SINEW_OK : sinew_fail_memory(error, "the pieces of the world");
    if (status == SINEW_OK) {
        sinew_objective_components(&world->objective, world->rest, component);
        mark_supported(world, component, constrained);
    }
    for (int32_t i = 0; status == SINEW_OK && i < world->particle_count; i++)
        if (!constrained[component[i]])
            status = fail_free(world, component, component[i], error);
    sinew_release(&world->allocator, component);
    sinew_release(&world->allocator, constrained);
    return status;
}

/* ---- Capabilities of the solver -------------------------------------------------------------- */

/* Writes the names of all solvers that find equilibria, separated by commas. */
static void list_quasistatic_solvers(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int32_t kind = 0, end = sinew_solver_kind_end(); kind < end && used < size; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && info->quasistatic)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", info->name);
    }
}

/* Returns the reason, for an error message, why the world's solver finds no equilibria. For a solver registered by a
 * program only the missing flag is known. */
static const char *reason_not_quasistatic(const sinew_world *world)
{
    if (world->def.solver.kind > SINEW_SOLVER_COUNT)
        return "it was registered without the flag `quasistatic`";
    return sinew_solver_get_ops(world->def.solver.kind)->one_iteration
               ? "without the masses, which an equilibrium leaves out, there is no motion to integrate"
               : "without the masses, which an equilibrium leaves out, its update divides by zero";
}

static sinew_status check_mode(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_info *solver = sinew_get_solver_info(world->def.solver.kind);
    char others[128];
    if (world->def.quasistatic && !solver->quasistatic) {
        list_quasistatic_solvers(others, sizeof others);
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s cannot be quasistatic: %s; use one of %s, or a dynamic world with damping", solver->name,
                          reason_not_quasistatic(world), others);
    }
    if (!world->def.quasistatic && solver->static_only)
        return sinew_fail(
            error, SINEW_ERROR_UNSUPPORTED,
            "%s finds equilibria only: its time is a pseudo-time; make the world quasistatic, or use xpbd",
            solver->name);
    return SINEW_OK;
}

/* Slot of the first pin that constrains only some directions; -1: none. */
static int32_t find_partial_pin(const sinew_world *world)
{
    for (int32_t p = 0; p < world->pin_count; p++)
        if (sinew_pin_is_partial(&world->pins[p]))
            return p;
    return -1;
}

/* Fails if a pin constrains some directions only and the solver does not support this, because its update has one mass
 * or factor for all three coordinates of a particle. For a solver registered by a program only the missing flag is
 * known. */
static sinew_status check_directions(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_info *solver = sinew_get_solver_info(world->def.solver.kind);
    const int32_t partial = find_partial_pin(world);
    char others[128] = "";
    size_t used = 0;
    if (partial < 0 || solver->directions)
        return SINEW_OK;
    for (int32_t kind = 0, end = sinew_solver_kind_end(); kind < end && used < sizeof others; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && info->directions)
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", info->name);
    }
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s cannot hold particles along some directions only, as pins %d do: %s; use one of %s, or hold "
                      "them in all directions",
                      solver->name, partial,
                      world->def.solver.kind > SINEW_SOLVER_COUNT
                          ? "it was registered without the flag `directions`"
                          : "its update has one mass, or one factor, for all three",
                      others);
}

/* Checks the thickness of every body that collides; does nothing if collision surfaces are up to date. */
static sinew_status check_thickness(const sinew_world *world, sinew_error *error)
{
    const sinew_contact_work *c = world->contact;
    sinew_status status = SINEW_OK;
    for (int32_t b = 0; c->stale && b < world->body_count && status == SINEW_OK; b++) {
        const sinew_body_record *body = &world->bodies[b];
        const double own = (double)body->contact.thickness;
        const sinew_mesh *mesh = body->rigid && body->skin ? sinew_skin_mesh(body->skin) : body->mesh;
        if (body->mesh && body->contact.mask != 0)
            status = sinew_contact_check_thickness(c, b, mesh, isnan(own) ? (double)c->def.thickness : own, error);
    }
    return status;
}

/* Contact modes that act on the vertices of a body's own mesh refuse bodies that collide with another surface. */
static sinew_status check_own_vertices(const sinew_world *world, const sinew_contact_mode_ops *mode, sinew_error *error)
{
    for (int32_t b = 0; mode->own_vertices_only && b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        const sinew_contact_surface surface = body->contact.surface;
        const bool collides = body->mesh && body->contact.mask != 0 && surface != SINEW_CONTACT_NONE;
        if (collides && (body->rigid || surface == SINEW_CONTACT_SKIN))
            return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                              "contact: mode %s is for vertices of a body's own mesh; body %d %s: use another mode, or "
                              "switch its contact off",
                              mode->name, b, body->rigid ? "is rigid" : "collides with its skin");
    }
    return SINEW_OK;
}

/* Contacts change within a step, so a solver that must be prepared again after each change is rejected. */
sinew_status sinew_world_check_contact(const sinew_world *world, sinew_error *error)
{
    const sinew_solver_ops *ops = sinew_solver_get_ops(world->def.solver.kind);
    if (!sinew_contact_is_on(world))
        return SINEW_OK;
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(world->contact->def.mode);
    const char *needed = ops->contact_refused_by ? ops->contact_refused_by(&world->def.solver) : NULL;
    if (needed)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s takes contact only with %s: set these, use another solver, or switch contact off",
                          ops->info.name, needed);
    if (ops->refreshes & (SINEW_CHANGED_TRANSIENT | SINEW_CHANGED_IN_STEP)) {
        sinew_status status = mode->check ? mode->check(ops, error) : SINEW_OK;
        if (status == SINEW_OK)
            status = check_own_vertices(world, mode, error);
        return status == SINEW_OK ? check_thickness(world, error) : status;
    }
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s takes no contact: it is set up for the elements that a step begins with, and contacts come "
                      "and go within one; use %s, or switch contact off",
                      ops->info.name, ops->kkt ? "primal-dual or sap" : "pbng or another solver");
}

sinew_status sinew_world_check_solvable(const sinew_world *world, sinew_error *error)
{
    sinew_status status = check_mode(world, error);
    for (int32_t i = 0; status == SINEW_OK && i < world->energy_count; i++)
        if (world->energies[i].batch) {
            status = sinew_solver_check_energy(&world->def.solver, world->energies[i].kind,
                                               world->energies[i].batch->hard, error);
            if (status == SINEW_OK)
                status = sinew_solver_check_coupled(&world->def.solver, world->energies[i].kind,
                                                    world->energies[i].store.parameters, error);
            if (status == SINEW_OK)
                status = sinew_energy_check_hard(world, &world->energies[i], error);
        }
    if (status == SINEW_OK)
        status = check_directions(world, error);
    if (status == SINEW_OK && world->def.quasistatic)
        status = check_supported(world, error);
    return status;
}
