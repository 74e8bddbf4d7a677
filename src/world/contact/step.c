/* SPDX-License-Identifier: MIT
 *
 * step.c: contact within a step: when an epoch follows another, the guard, and rounds of multipliers. See
 * contact.h and docs/contact.md.
 *
 * Multipliers of solvers that follow the gradient wait until the residual is a small part of the weight: k_n times a
 * passing penetration is far above it, and stacks would be blown apart. Sweeps over nodes are not gated: their residual
 * falls slowly, and stacks would sink. What friction bears is renewed in every round. Where iterates are those of
 * another problem (mpbng's, while layers are bound to each other) forces are not the world's, and both wait.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "world/contact/contact.h"

#define GATE           0.05 /* of the weight */
#define CUT_PART       0.01 /* of the vertices that may be held without another epoch */
#define CUT_FEW        3
#define UPDATES_MOST   200 /* renewals of multipliers in a step */
#define SETTLED        1e4 /* times the tolerance: multipliers and clearances that are known so well stay */
#define SETTLED_MOST   1e-3
#define ROUND_NEWTON   4 /* iterations of a round */
#define ROUND_SWEEPS   4
#define ROUND_LEAST    3    /* iterations that must be left for another one */
#define IDLE_ROUNDS    16   /* rounds that change nothing: ... */
#define IDLE_PART      0.01 /* ... there is as much to settle as before, but for such a part */
#define EPOCH_NEWTON   2    /* iterations between two looks at who is held */
#define EPOCH_SWEEPS   5
#define EPOCH_PATIENCE 3    /* times as many where few are held */
#define STALE          0.5  /* of the offset that sides may slide before contacts are found anew ... */
#define STALE_EPOCHS   4    /* ... as long as there were fewer epochs */
#define NEAR_PART      8e-3 /* of the thickness that settled contacts may be too near by; 1e-2 sets a bit */
#define NEAR_GAIN      0.5  /* of it that is left after an epoch that was worth it */
#define NEAR_TIME      0.3  /* of the iterations of a step: later there are too few to solve it anew */
#define COLLIDER_TRIES 4    /* shorter ways that a collider asks for before it stays */

/* ---- Traits of solvers ----------------------------------------------------------------------- */

static bool follows_gradient(const sinew_solve *s)
{
    return !(s->ops->info.needs & (SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX));
}

static bool has_rounds(const sinew_world *world)
{
    return world->contact->def.mode == SINEW_CONTACT_AUGMENTED &&
           !(world->solve.ops->info.needs & SINEW_CAN_CONSTRAINT);
}

/* ---- The guard ------------------------------------------------------------------------------- */

/* What vertices ask for: particles to be at q, pins and colliders at the end of their way. */
static void ask(sinew_world *world, const sinew_real *q)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        memcpy(c->guard.asked + 4 * (size_t)v, (world->pinned[p] ? world->q_tilde : q) + 4 * (size_t)p,
               4 * sizeof *c->guard.asked);
    }
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_place(world, o, 1, c->guard.asked + 4 * (size_t)f->objects[o].first_vertex);
}

static double collider_tau(const sinew_contact_work *c, int32_t o)
{
    const sinew_touch_object *object = &c->features.objects[o];
    return object->vertex_count > 0 ? (double)c->guard.safe[4 * (size_t)object->first_vertex + 3] : 1;
}

/* Colliders that cannot come all the way ask for a part of it, which is not on a straight line where they turn. `way`
 * [object_count] is where the last ones to ask would be. Returns whether some ask for less than before. */
static bool ask_for_less(sinew_world *world, double *way, bool last)
{
    sinew_contact_work *c = world->contact;
    bool any = false;
    for (int32_t o = 0; o < c->features.object_count; o++) {
        const sinew_touch_object *object = &c->features.objects[o];
        const double tau = collider_tau(c, o);
        if (!object->kinematic || object->vertex_count == 0 || tau >= 1)
            continue;
        way[o] = last ? c->part[o] : c->part[o] + tau * (way[o] - c->part[o]);
        sinew_contact_place(world, o, way[o], c->guard.asked + 4 * (size_t)object->first_vertex);
        any = true;
    }
    return any;
}

/* tau of all vertices; colliders end at whole places of their way, way [object_count]. Returns how many are held. */
static int32_t find_limits(sinew_world *world, double *way)
{
    sinew_contact_work *c = world->contact;
    int32_t held = 0;
    for (int32_t o = 0; o < c->features.object_count; o++)
        way[o] = 1;
    for (int k = 0; k <= COLLIDER_TRIES; k++) {
        held = sinew_guard_limit(&c->guard, &c->features, world->objective.thread_count);
        if (!ask_for_less(world, way, k + 1 == COLLIDER_TRIES))
            break;
    }
    return held;
}

/* Holds q [particle_count][4] where nothing crosses; particles of `late` solvers but for pins are left where they are.
 * True: q was changed. */
static bool hold(sinew_world *world, sinew_real *q, bool late)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    bool changed = false;
    if (!sinew_contact_is_guarded(c))
        return false;
    ask(world, q);
    if (!c->limited)
        memcpy(c->asked, c->guard.asked, 4 * (size_t)f->moved_count * sizeof *c->asked);
    find_limits(world, c->way);
    c->cut_count = 0;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        sinew_real place[3];
        const bool cut = c->guard.held[v];
        c->cut[v] = cut || (c->limited && c->cut[v]);
        c->cut_count += c->cut[v];
        sinew_guard_place(&c->guard, v, place);
        memcpy(c->guard.safe + 4 * (size_t)v, place, sizeof place);
        if (late && !world->pinned[p])
            continue;
        changed = changed || memcmp(q + 4 * (size_t)p, place, sizeof place) != 0;
        memcpy(q + 4 * (size_t)p, place, sizeof place);
    }
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic && f->objects[o].vertex_count > 0 && collider_tau(c, o) >= 1) {
            c->part[o] = c->way[o];
            sinew_contact_place(world, o, c->part[o], c->guard.safe + 4 * (size_t)f->objects[o].first_vertex);
        }
    sinew_guard_settle(&c->guard, f);
    c->limited = false;
    return changed;
}

/* A trial of a line search is cut where the guard would cut it; who was cut is remembered. */
static void limit_hook(void *context, sinew_real *trial)
{
    sinew_world *world = context;
    sinew_contact_work *c = world->contact;
    if (!sinew_contact_is_guarded(c))
        return;
    ask(world, trial);
    memcpy(c->asked, c->guard.asked, 4 * (size_t)c->features.moved_count * sizeof *c->asked);
    find_limits(world, c->way);
    for (int32_t v = 0; v < c->features.moved_count; v++) {
        const int32_t p = c->features.particle[v];
        c->cut[v] = c->guard.held[v];
        if (c->cut[v] && !world->pinned[p])
            sinew_guard_place(&c->guard, v, trial + 4 * (size_t)p);
    }
    c->limited = true;
}

static bool guard_hook(void *context, sinew_solve *s)
{
    sinew_world *world = context;
    if (world->contact->def.mode == SINEW_CONTACT_PROJECTION)
        return sinew_contact_project(world, s->q);
    return hold(world, s->q, s->ops->guarded_late);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

bool sinew_contact_gate(sinew_world *world)
{
    const double gate = world->contact->gate;
    sinew_solve *s = &world->solve;
    if (!follows_gradient(s))
        return true;
    sinew_solve_evaluate(s);
    return s->residual <= (gate > 0 ? gate : GATE * s->scale);
}

/* How much renewing multipliers would change: clearances beside offsets, what friction bears beside the strongest
 * force.
 */
static double unsettled_part(const sinew_contact_work *c, const sinew_real *q)
{
    double strongest = 0, lag = 0, nearest = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_touch *t = &c->touches.list[c->touch_of[e]];
        double u[3];
        const double force = sinew_contact_normal_force(c, e, q, u);
        strongest = fmax(strongest, force);
        lag = fmax(lag, t->mu > 0 ? fabs(force - t->bears) : 0);
        nearest = fmax(nearest, fabs(force - t->lambda) / (t->kn * t->offset));
    }
    return fmax(nearest, lag > 0 ? lag / strongest : 0);
}

/* Whether a round would change nothing that matters: round things are at their closest points, and multipliers are
 * known well enough. Where more contacts than needed bear a force, theirs may drift from one to the other for many
 * rounds: that is waited for only where a small tolerance asks for it. */
static bool is_settled(sinew_world *world, const sinew_solve *s)
{
    sinew_contact_work *c = world->contact;
    const double tolerance = (double)s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
    const double most = fmin(SETTLED * tolerance, SETTLED_MOST), part = unsettled_part(c, s->q);
    c->idle_rounds = fabs(part - c->unsettled) < IDLE_PART * part ? c->idle_rounds + 1 : 0;
    c->unsettled = part;
    const bool idle = c->idle_rounds >= IDLE_ROUNDS && most >= SETTLED_MOST;
    return (part <= most || idle) && sinew_contact_follow(world, s->q, false) <= most;
}

/* Multipliers become the forces that the contacts bear now; what friction bears in any case. */
static void renew_multipliers(sinew_world *world, const sinew_solve *s, bool open)
{
    sinew_contact_work *c = world->contact;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_touch *t = &c->touches.list[c->touch_of[e]];
        double u[3];
        const double force = sinew_contact_normal_force(c, e, s->q, u);
        t->bears = force;
        if (open)
            t->lambda = force;
    }
    sinew_contact_write_numbers(c);
    c->report.updates++;
}

static int32_t round_of(const sinew_world *world)
{
    const sinew_contact_def *def = &world->contact->def;
    return def->rounds > 0 ? def->rounds : follows_gradient(&world->solve) ? ROUND_NEWTON : ROUND_SWEEPS;
}

static uint32_t renew_round(sinew_world *world, sinew_solve *s, int32_t iteration, bool solved)
{
    sinew_contact_work *c = world->contact;
    if (!has_rounds(world) || s->bound || c->element_count == 0 || c->report.updates >= UPDATES_MOST)
        return 0;
    /* Solved again with no iteration since: the last renewal changed nothing that matters. */
    if (solved ? iteration == c->last_update : iteration - fmax(c->last_update, c->epoch_began) < round_of(world))
        return 0;
    /* A round that could not be solved any more would leave a step worse than it is. */
    if (solved && (s->def.iterations - iteration < ROUND_LEAST || is_settled(world, s)))
        return 0;
    const bool open = sinew_contact_gate(world);
    renew_multipliers(world, s, open);
    if (sinew_contact_follow(world, s->q, true) > 0)
        sinew_contact_write_numbers(c);
    c->last_update = iteration;
    return SINEW_RESUME_NUMBERS;
}

/* ---- Further epochs -------------------------------------------------------------------------- */

/* Whether some contact that bears a force is no longer where it was found: its sides have slid along each other, and
 * its direction may be another by now. Planes have one direction. */
static bool is_stale(const sinew_contact_work *c, const sinew_real *q)
{
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_touch *t = &c->touches.list[c->touch_of[e]];
        double u[3], slid[3] = {0, 0, 0}, along = 0, square = 0;
        if (c->features.objects[t->second].vertex_count == 0 || !(sinew_contact_normal_force(c, e, q, u) > 0))
            continue;
        for (size_t i = 0; i < 3; i++) {
            for (int a = 0; a < 4; a++)
                slid[i] += (double)t->w[a] * ((double)c->guard.safe[4 * (size_t)t->v[a] + i] -
                                              (double)c->guard.begun[4 * (size_t)t->v[a] + i]);
            along += slid[i] * t->n[i];
        }
        for (int i = 0; i < 3; i++)
            square += pow(slid[i] - along * t->n[i], 2);
        if (square > STALE * STALE * t->offset * t->offset)
            return true;
    }
    return false;
}

static bool collider_is_held(const sinew_contact_work *c)
{
    for (int32_t o = 0; o < c->features.object_count; o++)
        if (c->features.objects[o].kinematic && c->part[o] < 1)
            return true;
    return false;
}

/* Many held vertices are worth a look soon, few ones later: they too would hang in the air for good. */
static bool wants_epoch(const sinew_world *world, int32_t iteration, bool solved)
{
    const sinew_contact_work *c = world->contact;
    const bool many = c->cut_count > fmax(CUT_PART * c->features.moved_count, CUT_FEW);
    const int32_t wait = (follows_gradient(&world->solve) ? EPOCH_NEWTON : EPOCH_SWEEPS) * (many ? 1 : EPOCH_PATIENCE);
    if (c->report.epochs >= c->def.epochs)
        return false;
    if (c->report.epochs < STALE_EPOCHS && (iteration == 0 || iteration - c->epoch_began >= wait) &&
        is_stale(c, world->solve.q))
        return true;
    return (solved || iteration - c->epoch_began >= wait) && (c->cut_count > 0 || collider_is_held(c));
}

/* Contacts go on with the multipliers that a solver of its own ones has found so far: they have pushed particles to
 * where they are, and only who knows of a push can take it back. */
static void keep_multipliers(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    if (c->element_count == 0 || !sinew_contact_own_forces(world, c->own))
        return;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_touch *t = &c->touches.list[c->touch_of[e]];
        t->lambda = (double)c->own[4 * (size_t)e];
        for (size_t i = 0; i < 3; i++)
            t->tangent[i] = -(double)c->own[4 * (size_t)e + 1 + i];
    }
}

static uint32_t another_epoch(sinew_world *world, sinew_solve *s, int32_t iteration)
{
    sinew_contact_work *c = world->contact;
    keep_multipliers(world);
    memcpy(c->x, c->guard.safe, 4 * (size_t)c->features.vertex_count * sizeof *c->x);
    for (int32_t i = 0; i < world->particle_count; i++)
        if (world->pinned[i])
            memcpy(s->q + 4 * (size_t)i, world->q_tilde + 4 * (size_t)i, 3 * sizeof *s->q);
    if (sinew_contact_make_epoch(world, false, &world->error) != SINEW_OK) {
        c->failed = s->lost = true;
        return 0;
    }
    c->epoch_began = iteration;
    hold(world, s->q, s->ops->guarded_late);
    return SINEW_RESUME_ELEMENTS | SINEW_RESUME_MOVED;
}

/* Contacts are flat: a force that acts at one point, along one direction. Where features have turned or slid, others
 * are too near by now though these are settled; pairs that are not in reach cannot be. */
static bool is_too_near(sinew_contact_work *c)
{
    const double part = sinew_touches_nearness(&c->features, &c->pairs, c->guard.begun, c->guard.safe).part;
    const bool worth = part > NEAR_PART && part < NEAR_GAIN * c->nearest;
    c->nearest = worth ? part : c->nearest;
    return worth;
}

static uint32_t renew_hook(void *context, sinew_solve *s, int32_t iteration, bool solved)
{
    sinew_world *world = context;
    if (world->contact->failed)
        return 0;
    if (wants_epoch(world, iteration, solved)) {
        const uint32_t what = another_epoch(world, s, iteration);
        if (what)
            return what;
    }
    const uint32_t what = renew_round(world, s, iteration, solved);
    if (what || !solved || !has_rounds(world) || world->contact->report.epochs >= world->contact->def.epochs ||
        iteration > NEAR_TIME * s->def.iterations)
        return what;
    return is_too_near(world->contact) ? another_epoch(world, s, iteration) : 0;
}

static void finish_hook(void *context, sinew_solve *s)
{
    sinew_world *world = context;
    if (s->ops->guarded_late)
        hold(world, s->q, false);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Where solvers begin that begin with inertia: x + h v + h^2 a, a as much of gravity as was seen last time. From
 * q_tilde what rests would be pushed into what it rests on, from q_n what falls would hang. Where nothing touched in
 * the last step they begin with inertia, as without contact. */
static void guess_start(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    bool touched = false;
    for (int32_t k = 0; k < c->touches.count; k++)
        touched |= c->touches.list[k].old;
    for (int32_t i = 0; i < world->particle_count; i++) {
        double square = 0, along = 0;
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)i + k;
            const double push = (double)world->f_ext[at] / (double)world->mass[i];
            square += push * push;
            along += push * ((double)world->v[at] - (double)world->v_before[at]) / h;
        }
        const bool known = touched && world->v_before[4 * (size_t)i + 3] > 0;
        const double part = !known ? 1 : square > 0 ? fmax(0, fmin(1, along / square)) : 0;
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)i + k;
            const double push = h * h * (double)world->f_ext[at] / (double)world->mass[i];
            c->guess[at] = (sinew_real)((double)world->q_tilde[at] - (world->pinned[i] ? 0 : (1 - part) * push));
        }
        c->guess[4 * (size_t)i + 3] = 0;
    }
}

static double find_weight(const sinew_world *world)
{
    double sum[3] = {0, 0, 0};
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t k = 0; !world->pinned[i] && k < 3; k++)
            sum[k] += fabs((double)world->f_ext[4 * (size_t)i + k]);
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

static bool make_vectors(sinew_world *world, sinew_contact_work *c)
{
    const sinew_allocator *m = &world->allocator;
    const size_t size = 4 * (size_t)world->particle_count;
    return sinew_contact_need_v_before(world) &&
           sinew_make_room(m, &c->v_begun, &c->v_room, size, sizeof *c->v_begun) &&
           sinew_make_room(m, &c->guess, &c->guess_room, size, sizeof *c->guess) &&
           sinew_make_room(m, &c->blocks, &c->block_room, 9 * (size_t)world->particle_count, sizeof *c->blocks);
}

static void note_velocities(sinew_world *world)
{
    sinew_real *v = world->contact->v_begun;
    memcpy(v, world->v, 4 * (size_t)world->particle_count * sizeof *v);
    for (int32_t i = 0; i < world->particle_count; i++)
        v[4 * (size_t)i + 3] = 1;
}

sinew_status sinew_contact_begin(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    c->time = world->time;
    sinew_status status = sinew_contact_check_mode(world, error);
    if (status == SINEW_OK)
        status = sinew_contact_surfaces(world, error);
    if (status != SINEW_OK)
        return status;
    if (!make_vectors(world, c) || !sinew_contact_note_old(world))
        return sinew_fail_memory(error, "contacts");
    const int32_t crossings = c->crossings_known ? c->report.crossings : -1;
    c->report = (sinew_contact_report){.crossings_before = crossings};
    c->crossings_known = c->failed = false;
    c->epoch_began = 0;
    c->last_update = -1;
    c->nearest = c->unsettled = HUGE_VAL;
    c->idle_rounds = 0;
    c->gate = GATE * find_weight(world);
    c->hooks = (sinew_contact_hooks){world, limit_hook, guard_hook, renew_hook, finish_hook};
    world->solve.contact = &c->hooks;
    sinew_objective_fixed_diagonal(&world->objective, world->q, c->blocks);
    guess_start(world);
    note_velocities(world);
    for (int32_t o = 0; o < c->features.object_count; o++)
        c->part[o] = 0;
    sinew_contact_gather(world, world->q, c->begun);
    memcpy(c->x, c->begun, 4 * (size_t)c->features.vertex_count * sizeof *c->x);
    if (crossings < 0 && world->def.solver.measure != SINEW_MEASURE_NOTHING)
        c->report.crossings_before = (int32_t)sinew_detect_crossings(c->detector, c->x, NULL, 0);
    status = sinew_contact_make_epoch(world, true, error);
    /* What touches nothing begins as it would without contact. */
    world->solve.first_guess = status == SINEW_OK && c->element_count > 0 ? c->guess : NULL;
    return status == SINEW_OK && c->def.mode == SINEW_CONTACT_PROJECTION ? sinew_contact_projection_begin(world, error)
                                                                         : status;
}

void sinew_contact_abandon(sinew_world *world)
{
    sinew_contact_projection_undo(world);
    sinew_contact_restore_past(world);
    world->solve.contact = NULL;
    world->solve.first_guess = NULL;
}
