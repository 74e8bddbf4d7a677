/* SPDX-License-Identifier: MIT
 *
 * step.c: one step, stage by stage:
 *
 *     tear      splits or removes edges that the last step stretched too far
 *     targets   moves pins and targets to their positions at t + h
 *     predict   q_tilde = q_n + h exp(-damping h) v_n + h^2 M^-1 f_ext, f_ext growing over the load steps
 *     solve     q = argmin g, from q_n with the pins moved, or from the solver's first guess
 *     velocity  v = (q - q_n) / h        (quasistatic: zero; of the last substep, if the solver has substeps)
 *     contact   before the solve: candidate pairs and contacts; after it: forces, restitution (contact.h)
 *     damping   reduces v by the damping of bodies and energies
 *
 * A step that becomes non-finite, has contradictory constraints, cannot be prepared or is interrupted leaves positions,
 * velocities and time unchanged. Tears remain, and the next attempt does not tear again (torn_step in tear.h).
 *
 * Interruption (base/stop.h): the step polls until the solver has ended, but not afterwards. A discarded step
 * may leave an incomplete solver, which is prepared again. The data that a solver keeps between steps is copied before
 * each step and loaded after that preparation.
 */
#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "base/tasks.h"
#include "contact/contact.h"
#include "world/follow.h"
#include "world/world.h"
#include "world/bodies/tear.h"
#include "world/measure/fields.h"
#include "world/step/prepare.h"

/* ---- Targets and prediction ------------------------------------------------------------------ */

void sinew_world_move_targets(sinew_world *world, double time)
{
    sinew_world_update_shared_data(world, world->q, time);
    for (int32_t i = 0; i < world->energy_count; i++) {
        sinew_energy_record *record = &world->energies[i];
        if (!record->batch || record->targets.count == 0)
            continue;
        sinew_world_move_trajectory(world, &record->targets, time);
        sinew_batch_set_targets(record->batch, record->targets.current);
    }
    for (int32_t i = 0; i < world->pin_count; i++)
        sinew_world_move_trajectory(world, &world->pins[i].trajectory, time);
}

static void move_pins_to_targets(const sinew_world *world, sinew_real *q)
{
    for (int32_t p = 0; p < world->pin_count; p++) {
        const sinew_pin_record *pin = &world->pins[p];
        if (sinew_pin_is_partial(pin))
            sinew_pin_move_to_targets(pin, q);
        for (int32_t i = 0; !sinew_pin_is_partial(pin) && i < pin->count; i++)
            memcpy(q + 4 * (size_t)pin->particles[i], pin->trajectory.current + 3 * (size_t)i, 3 * sizeof *q);
    }
}

double sinew_world_load_fraction(const sinew_world *world, int64_t step)
{
    const int64_t steps = world->def.load_steps;
    return step >= steps ? 1 : (double)step / (double)steps;
}

/* Component c of the external force on particle i, in N; `load`: fraction of gravity and forces that acts. */
static double external_force_on(const sinew_world *world, int32_t i, size_t c, double load)
{
    const double own = (double)world->force[4 * (size_t)i + c] + (double)world->mass[i] * (double)world->def.gravity[c];
    return load * (world->load_force ? own + (double)world->load_force[4 * (size_t)i + c] : own);
}

void sinew_world_external_forces(sinew_world *world, int64_t step)
{
    const double load = sinew_world_load_fraction(world, step);
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 0; c < 3; c++)
            world->f_ext[4 * (size_t)i + c] = (sinew_real)external_force_on(world, i, c, load);
}

void sinew_world_predict(sinew_world *world)
{
    const double h = (double)world->def.time_step, keep = exp(-(double)world->def.damping * h);
    const double load = sinew_world_load_fraction(world, world->step_count + 1);
    sinew_world_move_targets(world, world->time + h);
    sinew_loads_evaluate(world);
    sinew_world_external_forces(world, world->step_count + 1);
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            world->q_tilde[at] = (sinew_real)((double)world->q[at] + h * keep * (double)world->v[at] +
                                              h * h * external_force_on(world, i, c, load) / (double)world->mass[i]);
    move_pins_to_targets(world, world->q_tilde);
    world->objective.step = (sinew_step_inputs){
        .h = h,
        .quasistatic = world->def.quasistatic,
        .rest = world->rest,
        .mass = world->mass,
        .q_tilde = world->q_tilde,
        .v = world->v,
        .v_kept = keep,
        .force = world->f_ext,
        .pinned = world->pinned,
        .filter = world->constrained_count > 0 ? world->filter : NULL,
        .constrained = world->constrained_particles,
        .constrained_count = world->constrained_count,
    };
}

/* ---- Interruption of a step ------------------------------------------------------------------ */

void sinew_world_interrupt(sinew_world *world)
{
    if (world)
        atomic_store_explicit(&world->interrupted, true, memory_order_relaxed);
}

/* Selects the interrupt flag of the world. Returns the flag of a step of another world that this thread is in, or
 * NULL. */
static const atomic_bool *begin_interruptible(sinew_world *world)
{
    sinew_memory_limit_forget();
    return sinew_stop_use(&world->interrupted);
}

/* Selects the former interrupt flag again. A call that was ended by the world's flag clears it. */
static void end_interruptible(sinew_world *world, const atomic_bool *before, bool ended)
{
    sinew_stop_use(before);
    if (ended)
        atomic_store_explicit(&world->interrupted, false, memory_order_relaxed);
}

sinew_status sinew_world_prepare(sinew_world *world, sinew_error *error)
{
    if (!world || world->stepping)
        return sinew_world_make_ready(world, error);
    const atomic_bool *before = begin_interruptible(world);
    const sinew_status status =
        sinew_stop_came() ? sinew_fail_interrupted(error) : sinew_world_make_ready(world, error);
    end_interruptible(world, before, status == SINEW_ERROR_INTERRUPTED);
    return status;
}

/* ---- Stages of a step ------------------------------------------------------------------------ */

static void step_accept(sinew_world *world, const sinew_real *q, const sinew_real *v)
{
    const double h = (double)world->def.time_step;
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++) {
        world->v[i] = world->def.quasistatic ? 0 : v ? v[i] : (sinew_real)(((double)q[i] - (double)world->q[i]) / h);
        world->q[i] = q[i];
    }
    world->time += h;
    world->step_count++;
    world->q_version++;
}

static uint32_t inversion_bit(sinew_world *world)
{
    double smallest, largest;
    int32_t inverted;
    sinew_objective_determinants(&world->objective, world->q, &smallest, &largest, &inverted);
    return inverted > 0 ? SINEW_STEP_INVERTED : 0;
}

static const sinew_step_result unprepared = {.bits = SINEW_STEP_UNPREPARED,
                                             .gap = NAN,
                                             .gap_reason = "",
                                             .position_error = NAN,
                                             .position_error_rms = NAN,
                                             .position_error_reason = "",
                                             .position_error_relative = NAN,
                                             .violation = NAN,
                                             .stationarity = NAN,
                                             .complementarity = NAN,
                                             .constraints = "",
                                             .budget_left_out = ""};

/* A step that takes longer than this multiple of its time budget sets SINEW_STEP_OVER_BUDGET. */
#define BUDGET_EXCESS 1.2

/* Ends the time budget of a step, and writes it to the result. */
static void end_budget(sinew_world *world, sinew_step_result *out)
{
    sinew_time_budget *b = &world->solve.budget;
    sinew_time_budget_end_stage(b, SINEW_STAGE_END, b->end);
    out->budget_seconds = sinew_time_budget_elapsed(b);
    out->budget_least = b->limit > 0 ? b->least : 0;
    out->budget_left_out = sinew_time_budget_left_out(b);
    out->bits |= out->budget_seconds > BUDGET_EXCESS * b->limit ? SINEW_STEP_OVER_BUDGET : 0;
}

/* Starts contact handling in a step; the objective and the solver receive the first contacts. */
static sinew_status begin_contact(sinew_world *world, sinew_contact_view *view)
{
    if (!sinew_world_allocate_v_before(world))
        return sinew_fail_memory(&world->error, "contacts");
    sinew_status status = sinew_world_contact_view(world, view, &world->error);
    if (status != SINEW_OK)
        return status;
    view->batches = sinew_world_transient_batches(world, &view->transient_count);
    if (!view->batches)
        return sinew_fail_memory(&world->error, "contacts");
    status = sinew_contact_begin(view, &world->error);
    if (status == SINEW_OK && view->contact->separated)
        sinew_balance_move_start(world);
    return status == SINEW_OK ? sinew_solve_take_contacts(&world->solve) : status;
}

/* Ends an interrupted step: the world keeps its state from before the step. */
static uint32_t discard_step(sinew_world *world, const sinew_contact_view *view, sinew_step_result *out)
{
    if (view->contact)
        sinew_contact_abandon(view);
    sinew_world_discard_solver(world);
    *out = unprepared;
    return out->bits = SINEW_STEP_INTERRUPTED;
}

/* Ends a step for which memory was short: keeps the state from before the step, returns SINEW_STEP_UNPREPARED, and
 * marks the solver for preparation in the next step, with its data from before this one. */
static uint32_t abandon_step(sinew_world *world, const sinew_contact_view *view, sinew_step_result *out)
{
    if (view->contact)
        sinew_contact_abandon(view);
    sinew_world_discard_solver(world);
    *out = unprepared;
    return out->bits;
}

/* Bits of a step result after which the world keeps the state before the step. */
static const uint32_t last_state_kept =
    SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE | SINEW_STEP_CONTRADICTORY | SINEW_STEP_INTERRUPTED;

/* In a world without contact, colliders complete their motion of the step. */
static void end_collider_motions(sinew_world *world)
{
    for (int32_t k = 0; k < world->collider_count; k++)
        if (world->colliders[k].there)
            sinew_shape_end_step(&world->colliders[k], (double)world->def.time_step, 1);
}

static void move_targets_to(void *context, double time)
{
    sinew_world_move_targets(context, time);
}

/* Diagonal of the body's bounding box at rest, in m. */
static double body_size(const sinew_world *world, const sinew_body_record *body)
{
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int32_t i = body->start; i < body->start + body->count; i++) {
            low = fmin(low, (double)world->rest[4 * (size_t)i + c]);
            high = fmax(high, (double)world->rest[4 * (size_t)i + c]);
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

/* Largest position error of a body's free particles, in m. */
static double body_position_error(const sinew_world *world, const sinew_body_record *body, const sinew_real *error)
{
    double largest = 0;
    for (int32_t i = body->start; i < body->start + body->count; i++)
        if (!world->pinned[i])
            largest = fmax(largest, hypot(hypot((double)error[4 * (size_t)i], (double)error[4 * (size_t)i + 1]),
                                          (double)error[4 * (size_t)i + 2]));
    return largest;
}

/* Relative position error of a step (sinew_error_hook): the largest over bodies, relative to body size, scaled to
 * the largest error `largest`. For a body that is one point, the largest coordinate of the world replaces the size. */
static double relative_error(void *context, const sinew_real *error, double largest)
{
    const sinew_world *world = context;
    double seen = 0, relative = 0, coordinate = 0;
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 0; c < 3; c++)
            coordinate = fmax(coordinate, fabs((double)world->q[4 * (size_t)i + c]));
    for (int32_t b = 0; b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        if (!body->mesh)
            continue;
        const double size = body_size(world, body), own = body_position_error(world, body, error);
        seen = fmax(seen, own);
        if (own > 0)
            relative = fmax(relative, own / (size > 0 ? size : coordinate));
    }
    return seen > 0 ? relative * (largest / seen) : 0;
}

/* Takes one step of a world that is prepared. */
static uint32_t take_step(sinew_world *world, sinew_step_result *out)
{
    sinew_solve *solve = &world->solve;
    sinew_balance_begin(world);
    sinew_world_predict(world);
    sinew_balance_record(world);
    solve->q_start = world->q;
    solve->step = world->step_count + 1;
    solve->targets = (sinew_target_hook){world, move_targets_to, world->time};
    solve->error_hook = (sinew_error_hook){world, relative_error};
    const sinew_measure_history history = solve->history;
    const bool contact = sinew_contact_is_on(world);
    sinew_contact_view view = {0};
    const sinew_stage_start stage = sinew_time_budget_begin_stage(&solve->budget);
    if (contact && begin_contact(world, &view) != SINEW_OK)
        return (sinew_stop_came() ? discard_step : abandon_step)(world, &view, out);
    if (contact)
        sinew_time_budget_end_stage(&solve->budget, SINEW_STAGE_DETECTION, stage);
    memcpy(solve->q, world->q, 4 * (size_t)world->particle_count * sizeof *solve->q);
    move_pins_to_targets(world, solve->q);
    sinew_solve_run(solve, out);
    const bool stopped = sinew_stop_came();
    if (stopped || out->bits & last_state_kept)
        solve->history = history;
    if (stopped)
        return discard_step(world, &view, out);
    /* From here on the step is not interrupted. */
    sinew_stop_use(NULL);
    if (out->bits & SINEW_STEP_UNPREPARED)
        return abandon_step(world, &view, out);
    const bool kept = (out->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_CONTRADICTORY)) != 0;
    if (!kept) {
        step_accept(world, solve->q, solve->v_end);
        world->position_error_kind = out->position_error_kind;
        world->position_error_version = world->q_version;
        view.time = world->time;
        if (contact)
            sinew_contact_end(&view, out);
        else
            end_collider_motions(world);
        sinew_damping_apply(world);
        sinew_loads_end_step(world);
        if (solve->def.measure != SINEW_MEASURE_NOTHING)
            out->bits |= inversion_bit(world);
    } else if (contact)
        sinew_contact_abandon(&view);
    sinew_balance_end(world, !kept);
    end_budget(world, out);
    return out->bits;
}

bool sinew_world_may_change(const sinew_world *world, const char *call, sinew_error *error)
{
    if (!world || !world->stepping)
        return true;
    sinew_fail(error, SINEW_ERROR_USAGE,
               "%s: the world takes a step; a callback may read it, changes wait until the "
               "step has ended",
               call);
    return false;
}

/* Prepares the world and takes a step. Polls for interruption before and after tearing, where nothing needs to be
 * discarded. */
static uint32_t prepare_and_step(sinew_world *world, sinew_step_result *out)
{
    const bool ready = !sinew_stop_came() && sinew_world_tear(world, &world->error) == SINEW_OK && !sinew_stop_came() &&
                       sinew_world_make_ready(world, &world->error) == SINEW_OK &&
                       sinew_world_keep_solver_state(world, &world->error) == SINEW_OK &&
                       sinew_balance_prepare(world, &world->error) == SINEW_OK;
    if (sinew_stop_came()) {
        sinew_error_clear(&world->error);
        return out->bits = SINEW_STEP_INTERRUPTED;
    }
    if (!ready)
        return out->bits;
    world->stepping = true;
    const uint32_t bits = take_step(world, out);
    world->stepping = false;
    return bits;
}

uint32_t sinew_world_step(sinew_world *world, sinew_step_result *result)
{
    sinew_step_result own;
    sinew_step_result *out = result ? result : &own;
    *out = unprepared;
    if (!SINEW_ASSERT(world) || !sinew_world_may_change(world, __func__, &world->error))
        return out->bits;
    const atomic_bool *before = begin_interruptible(world);
    sinew_time_budget_begin(&world->solve.budget, world->def.solver.time_budget);
    const uint32_t bits = prepare_and_step(world, out);
    end_interruptible(world, before, bits & SINEW_STEP_INTERRUPTED);
    return bits;
}

const sinew_real *sinew_world_position_error(const sinew_world *world)
{
    const bool known =
        world->position_error_kind == SINEW_GAP_ESTIMATE || world->position_error_kind == SINEW_GAP_BELOW;
    return known && world->solve.gap && !world->objective_changed && world->q_version == world->position_error_version
               ? sinew_solve_position_error(&world->solve)
               : NULL;
}

const sinew_iteration *sinew_world_iterations(const sinew_world *world, int32_t *count)
{
    if (!SINEW_ASSERT(world && count))
        return NULL;
    *count = world->solve.record_count;
    return world->solve.records;
}

const char *sinew_world_error(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->error.text : "";
}

const char *sinew_step_bit_name(uint32_t bit)
{
    static const char *const names[] = {"not_converged", "not_finite",   "inverted",   "indefinite",  "stalled",
                                        "unprepared",    "round_off",    "unmeasured", "contact",     "truncated",
                                        "contact_full",  "intersecting", "explicit",   "constraints", "contradictory",
                                        "interrupted",   "over_budget"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bit == 1u << i)
            return names[i];
    return "";
}
