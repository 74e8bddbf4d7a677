/* SPDX-License-Identifier: MIT
 *
 * world_step.c: one step, stage by stage:
 *
 *     targets   pins and anchors go to where they are at t + h
 *     predict   q_tilde = q_n + h exp(-damping h) v_n + h^2 M^-1 f_ext
 *     solve     q = argmin g, from q_n with the pins moved
 *     velocity  v = (q - q_n) / h        (quasistatic: zero; of the last substep where the solver makes some)
 *
 * A step that becomes non-finite, or that cannot be prepared, leaves the state as it was.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

/* ---- Targets and prediction ------------------------------------------------------------------ */

static void move_targets(sinew_world *world)
{
    const double time = world->time + (double)world->def.time_step;
    for (int32_t i = 0; i < world->energy_count; i++) {
        sinew_energy_record *record = &world->energies[i];
        if (!record->batch || record->targets.count == 0)
            continue;
        sinew_guide_move(&record->targets, time);
        sinew_batch_set_targets(record->batch, record->targets.current);
    }
    for (int32_t i = 0; i < world->pin_count; i++)
        sinew_guide_move(&world->pins[i].guide, time);
}

static void place_pins(const sinew_world *world, sinew_real *q)
{
    for (int32_t p = 0; p < world->pin_count; p++) {
        const sinew_pin_record *pin = &world->pins[p];
        for (int32_t i = 0; i < pin->count; i++)
            memcpy(q + 4 * (size_t)pin->particles[i], pin->guide.current + 3 * (size_t)i, 3 * sizeof *q);
    }
}

void sinew_world_predict(sinew_world *world)
{
    const double h = (double)world->def.time_step, keep = exp(-(double)world->def.damping * h);
    sinew_objective *o = &world->objective;
    move_targets(world);
    for (int32_t i = 0; i < world->particle_count; i++) {
        const double m = (double)world->mass[i];
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            double f = (double)world->force[at] + m * (double)world->def.gravity[c];
            world->f_ext[at] = (sinew_real)f;
            world->q_tilde[at] = (sinew_real)((double)world->q[at] + h * keep * (double)world->v[at] + h * h * f / m);
        }
    }
    place_pins(world, world->q_tilde);
    o->h = h;
    o->quasistatic = world->def.quasistatic;
    o->mass = world->mass;
    o->q_tilde = world->q_tilde;
    o->force = world->f_ext;
    o->pinned = world->pinned;
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins the particles of each element of a chunk. */
static void join_elements(const sinew_task *task, int32_t *parent)
{
    const sinew_batch *batch = task->batch;
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const int32_t *particle = batch->particle + task->chunk->first_slot;
    const int32_t *vertex = batch->vertex + (size_t)task->chunk->first_group * n * W;
    for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
        for (size_t lane = 0; lane < W; lane++)
            for (size_t a = 1; a < n; a++) {
                int32_t i = find_root(parent, particle[vertex[group * n * W + lane]]);
                int32_t j = find_root(parent, particle[vertex[(group * n + a) * W + lane]]);
                parent[i > j ? i : j] = i > j ? j : i;
            }
}

/* Every piece must be held by a pin or a target, or its equilibrium is nowhere. */
static sinew_status check_held(const sinew_world *world, sinew_error *error)
{
    const sinew_objective *o = &world->objective;
    int32_t *parent = sinew_allocate(&world->allocator, (size_t)world->particle_count, sizeof *parent);
    uint8_t *held = sinew_allocate_zero(&world->allocator, (size_t)world->particle_count, 1);
    sinew_status status = parent && held ? SINEW_OK : sinew_fail_memory(error, "the pieces of the world");
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < world->particle_count; i++)
            parent[i] = i;
        for (int32_t t = 0; t < o->task_count; t++)
            join_elements(&o->tasks[t], parent);
        for (int32_t i = 0; i < world->particle_count; i++)
            held[find_root(parent, i)] |= world->pinned[i];
        for (int32_t t = 0; t < o->task_count; t++)
            if (o->tasks[t].batch->ops->info.stencil == SINEW_STENCIL_VERTEX)
                for (int32_t i = 0; i < o->tasks[t].chunk->slot_count; i++)
                    held[find_root(parent, o->tasks[t].batch->particle[o->tasks[t].chunk->first_slot + i])] = 1;
    }
    for (int32_t i = 0; status == SINEW_OK && i < world->particle_count; i++)
        if (!held[find_root(parent, i)])
            status = sinew_fail(
                error, SINEW_ERROR_DATA,
                "quasistatic: the piece with particle %d is held by nothing: pin some of its vertices or add "
                "position energies",
                world->outside[i]);
    sinew_release(&world->allocator, parent);
    sinew_release(&world->allocator, held);
    return status;
}

static sinew_status check_pairs(const sinew_world *world, sinew_error *error)
{
    char why[sizeof error->text];
    const sinew_solver_info *solver = sinew_get_solver_info(world->def.solver.kind);
    if (world->def.quasistatic && !solver->quasistatic)
        return sinew_fail(
            error, SINEW_ERROR_UNSUPPORTED,
            "%s cannot be quasistatic: its update divides by the inertia, which is left out; use newton, qn, "
            "admm or pd, or a dynamic world with damping",
            solver->name);
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].batch &&
            !sinew_solver_accepts(world->def.solver.kind, world->energies[i].kind, why, sizeof why))
            return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s", why);
    return SINEW_OK;
}

static sinew_status prepare_objective(sinew_world *world, sinew_error *error)
{
    int32_t live = 0;
    sinew_solve_release(&world->solve);
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].batch)
            world->batches[live++] = world->energies[i].batch;
    world->objective.particle_count = world->particle_count;
    return sinew_objective_build(&world->objective, world->batches, live, error);
}

sinew_status sinew_world_prepare(sinew_world *world, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_prepare needs a world");
    sinew_status status = SINEW_OK;
    if (!world->objective_ready) {
        status = prepare_objective(world, error);
        world->objective_ready = status == SINEW_OK;
        world->solver_ready = false;
    }
    if (status != SINEW_OK || world->solver_ready)
        return status;
    sinew_world_predict(world);
    status = check_pairs(world, error);
    if (status == SINEW_OK && world->def.quasistatic)
        status = check_held(world, error);
    if (status == SINEW_OK) {
        /* Release with the old def's operations before the new def takes over. */
        sinew_solve_release(&world->solve);
        world->solve.def = world->def.solver;
        /* What is prepared depends on the rest shape alone, so that a loaded state goes on with the same bits. */
        world->solve.q_start = world->rest;
        status = sinew_solve_prepare(&world->solve, error);
    }
    world->solver_ready = status == SINEW_OK;
    return status;
}

/* ---- Step ------------------------------------------------------------------------------------ */

static void accept(sinew_world *world, const sinew_real *q, const sinew_real *v)
{
    const double h = (double)world->def.time_step;
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++) {
        world->v[i] = world->def.quasistatic ? 0 : v ? v[i] : (sinew_real)(((double)q[i] - (double)world->q[i]) / h);
        world->q[i] = q[i];
    }
    world->time += h;
    world->step_count++;
}

static uint32_t inversion_bit(sinew_world *world)
{
    double smallest, largest;
    int32_t inverted;
    sinew_objective_determinants(&world->objective, world->q, &smallest, &largest, &inverted);
    return inverted > 0 ? SINEW_STEP_INVERTED : 0;
}

uint32_t sinew_world_step(sinew_world *world, sinew_step_result *result)
{
    sinew_step_result own;
    sinew_step_result *out = result ? result : &own;
    *out = (sinew_step_result){.bits = SINEW_STEP_UNPREPARED};
    if (!SINEW_ASSERT(world) || sinew_world_prepare(world, &world->error) != SINEW_OK)
        return out->bits;
    sinew_solve *solve = &world->solve;
    sinew_world_predict(world);
    memcpy(solve->q, world->q, 4 * (size_t)world->particle_count * sizeof *solve->q);
    place_pins(world, solve->q);
    solve->q_start = world->q;
    sinew_solve_run(solve, out);
    if (!(out->bits & SINEW_STEP_NOT_FINITE)) {
        accept(world, solve->q, solve->v_end);
        out->bits |= inversion_bit(world);
    }
    return out->bits;
}

const sinew_iteration *sinew_world_iterations(const sinew_world *world, int32_t *count)
{
    if (!SINEW_ASSERT(world && count))
        return NULL;
    *count = world->solve.row_count;
    return world->solve.rows;
}

const char *sinew_world_error(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->error.text : "";
}

const char *sinew_step_bit_name(uint32_t bit)
{
    static const char *const names[] = {"not_converged", "not_finite", "inverted",
                                        "indefinite",    "stalled",    "unprepared"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bit == 1u << i)
            return names[i];
    return "";
}
