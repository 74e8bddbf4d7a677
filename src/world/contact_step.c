/* SPDX-License-Identifier: MIT
 *
 * contact_step.c: contact within a step: epochs, the guard, and rounds of multipliers. See contact.h and
 * docs/contact.md.
 *
 * Multipliers of solvers that follow the gradient wait until the residual is a small part of the weight: k_n times a
 * passing penetration is far above it, and stacks would be blown apart. Sweeps over nodes are not gated: their residual
 * falls slowly, and stacks would sink. What friction bears is renewed in every round.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "world/contact.h"

#define GATE           0.05 /* of the weight */
#define DELTA_SPARE    1.2  /* balls are larger than the motion that is expected */
#define DELTA_EDGES    1.5  /* and at most so many edges */
#define MARGIN         0.5  /* of the offset: what is that near gets a contact element */
#define CUT_PART       0.01 /* of the vertices that may be held without another epoch */
#define CUT_FEW        3
#define UPDATES_MOST   200 /* renewals of multipliers in a step */
#define SETTLED        1e4 /* times the tolerance: multipliers and clearances that are known so well stay */
#define SETTLED_MOST   1e-3
#define ROUND_NEWTON   4 /* iterations of a round */
#define ROUND_SWEEPS   4
#define EPOCH_NEWTON   2 /* iterations between two looks at who is held */
#define EPOCH_SWEEPS   5
#define EPOCH_PATIENCE 3   /* times as many where few are held */
#define STALE          0.5 /* of the offset that sides may slide before contacts are found anew ... */
#define STALE_EPOCHS   4   /* ... as long as there were fewer epochs */
#define HALVINGS       20
#define COLLIDER_TRIES 4 /* shorter ways that a collider asks for before it stays */

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

static bool is_guarded(const sinew_contact_work *c)
{
    return c->def.guard && (c->def.mode == SINEW_CONTACT_AUGMENTED || c->def.mode == SINEW_CONTACT_HALF_SPACE);
}

static bool is_plane(const sinew_touch_object *o)
{
    return o->kinematic && o->vertex_count == 0;
}

/* ---- Epochs ---------------------------------------------------------------------------------- */

/* Where vertices would go: bodies to the solver's first guess or, in later epochs, to where it last asked for;
 * colliders to the end of their way. */
static void gather_wanted(const sinew_world *world, bool first)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const sinew_real *guess = (world->def.quasistatic ? world->q : c->guess) + 4 * (size_t)f->particle[v];
        memcpy(c->wanted + 4 * (size_t)v, first ? guess : c->asked + 4 * (size_t)v, 4 * sizeof *c->wanted);
    }
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_place(world, o, 1, c->wanted + 4 * (size_t)f->objects[o].first_vertex);
}

/* m: the longest way that a vertex of the object may go, beside what its body goes as a whole. */
static double longest_way(const sinew_world *world, const sinew_touch_object *object, const double carry[3])
{
    const sinew_contact_work *c = world->contact;
    const bool inertia = !object->kinematic && !world->def.quasistatic;
    double most = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const sinew_real *x = c->x + 4 * (size_t)v, *wanted = c->wanted + 4 * (size_t)v;
        const sinew_real *tilde = inertia ? world->q_tilde + 4 * (size_t)c->features.particle[v] : wanted;
        double near = 0, far = 0;
        for (size_t i = 0; i < 3; i++) {
            near += pow((double)wanted[i] - (double)x[i] - carry[i], 2);
            far += pow((double)tilde[i] - (double)x[i] - carry[i], 2);
        }
        most = fmax(most, fmax(near, far));
    }
    return sqrt(most);
}

/* Radii of the balls, and with them how far each vertex looks. */
static void set_reach(const sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        const double *carry = c->guard.carry[o];
        const double most = longest_way(world, object, carry);
        c->delta[o] = fmin(DELTA_SPARE * most + object->half, fmax(DELTA_EDGES * c->edge[o], object->half));
        const double length = sqrt(carry[0] * carry[0] + carry[1] * carry[1] + carry[2] * carry[2]);
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
            c->reach[v] = (sinew_real)(object->half * (1 + MARGIN) + fmax(c->delta[o], length) + length);
    }
}

sinew_touch_pair *sinew_contact_add_pair(sinew_world *world)
{
    sinew_touch_pairs *pairs = &world->contact->pairs;
    if ((size_t)(pairs->count + 1) * sizeof *pairs->list > pairs->room) {
        const size_t more = (size_t)pairs->count + (size_t)pairs->count / 2 + 64;
        sinew_touch_pair *list =
            sinew_reallocate(&world->allocator, pairs->list, (size_t)pairs->count, more, sizeof *list);
        if (!list)
            return NULL;
        pairs->list = list;
        pairs->room = more * sizeof *list;
    }
    return &pairs->list[pairs->count++];
}

/* Vertices near a plane, as pairs behind the others. */
static bool add_plane_pairs(sinew_world *world, sinew_contact_work *c, int32_t o)
{
    const sinew_features *f = &c->features;
    double point[3], normal[3];
    sinew_contact_plane(world, o, c->part[o], point, normal);
    for (int32_t v = 0; v < f->moved_count; v++) {
        double distance = -f->objects[f->object[v]].core;
        for (size_t i = 0; i < 3; i++)
            distance += normal[i] * ((double)c->x[4 * (size_t)v + i] - point[i]);
        if (!sinew_may_touch(f, f->object[v], o) || distance > (double)c->reach[v] + f->objects[o].half * (1 + MARGIN))
            continue;
        sinew_touch_pair *p = sinew_contact_add_pair(world);
        if (!p)
            return false;
        *p = (sinew_touch_pair){.v = {v, v, v, v}, .first = v, .second = o, .w = {1}, .kind = SINEW_PAIR_PLANE};
        for (int i = 0; i < 3; i++)
            p->n[i] = (sinew_real)normal[i];
        p->distance = (sinew_real)distance;
    }
    return true;
}

static sinew_status find_pairs(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    const double began = sinew_seconds();
    sinew_status status = sinew_detect(c->detector, c->x, c->reach, c->def.pair_limit, &c->pairs, error);
    for (int32_t o = 0; status == SINEW_OK && o < c->features.object_count; o++)
        if (is_plane(&c->features.objects[o]) && !add_plane_pairs(world, c, o))
            status = sinew_fail_memory(error, "contacts");
    if (status == SINEW_OK)
        status = sinew_contact_lead_out(world, error);
    c->report.seconds += sinew_seconds() - began;
    c->report.pairs = c->pairs.count > c->report.pairs ? c->pairs.count : c->report.pairs;
    c->report.dropped += c->pairs.dropped;
    return status;
}

/* ---- Colliders ------------------------------------------------------------------------------- */

/* Whether a plane at some part of its way has all vertices that it has now, and not much nearer. */
static bool plane_is_open(const sinew_world *world, int32_t o, double part)
{
    const sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    double from[3], n_from[3], to[3], n_to[3];
    sinew_contact_plane(world, o, c->part[o], from, n_from);
    sinew_contact_plane(world, o, part, to, n_to);
    for (int32_t v = 0; v < f->moved_count; v++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < 3; i++) {
            before += n_from[i] * ((double)c->x[4 * (size_t)v + i] - from[i]);
            after += n_to[i] * ((double)c->x[4 * (size_t)v + i] - to[i]);
        }
        if (before > 0 && after < 0.2 * before && sinew_may_touch(f, f->object[v], o))
            return false;
    }
    return true;
}

static void advance_plane(const sinew_world *world, int32_t o)
{
    sinew_contact_work *c = world->contact;
    double way = 1 - c->part[o];
    for (int k = 0; way > 0 && k < HALVINGS && !plane_is_open(world, o, c->part[o] + way); k++)
        way /= 2;
    if (is_guarded(c) && way > 0 && !plane_is_open(world, o, c->part[o] + way))
        way = 0;
    c->part[o] = is_guarded(c) ? c->part[o] + way : 1;
}

static void advance_planes(const sinew_world *world)
{
    const sinew_features *f = &world->contact->features;
    for (int32_t o = 0; o < f->object_count; o++)
        if (is_plane(&f->objects[o]))
            advance_plane(world, o);
}

/* ---- One epoch ------------------------------------------------------------------------------- */

/* The objective's layer and the solver take over the contacts; q stays. */
static sinew_status hand_over(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    sinew_solve *s = &world->solve;
    if (c->element_count == 0 && !c->layered)
        return SINEW_OK;
    c->layered = c->element_count > 0;
    s->resuming = true;
    sinew_status status = sinew_world_layer(world, error);
    if (status == SINEW_OK)
        status = sinew_solve_refresh(s, &world->def.solver, SINEW_CHANGED_TRANSIENT, error);
    s->resuming = false;
    if (status != SINEW_OK)
        sinew_world_note_change(world, SINEW_CHANGED_SOLVER | SINEW_CHANGED_TRANSIENT);
    return status;
}

static sinew_status find_contacts(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    const sinew_touch_rule rule = {c->x, c->wanted, MARGIN};
    const sinew_touches swap = c->before;
    c->before = c->touches;
    c->touches = swap;
    if (!sinew_touches_find(&c->touches, &c->features, &c->pairs, &rule))
        return sinew_fail_memory(error, "contacts");
    const sinew_status status = sinew_contact_add_skins(world, error);
    if (status == SINEW_OK && !sinew_touches_inherit(&c->touches, &c->before, &c->features))
        return sinew_fail_memory(error, "contacts");
    return status;
}

/* Without a guard colliders come all the way. */
static void bring_colliders(const sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    for (int32_t o = 0; o < c->features.object_count; o++)
        if (c->features.objects[o].kinematic) {
            c->part[o] = 1;
            sinew_contact_place(world, o, 1, c->guard.safe + 4 * (size_t)c->features.objects[o].first_vertex);
        }
}

/* Pairs, cells and contacts where the vertices are. */
static sinew_status make_epoch(sinew_world *world, bool first, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    sinew_guard_motion motion = {c->x, c->wanted, c->delta, first && !world->def.quasistatic && is_guarded(c)};
    c->report.epochs++;
    c->cut_count = 0;
    c->limited = false;
    memset(c->cut, 0, (size_t)c->features.vertex_count);
    advance_planes(world);
    gather_wanted(world, first);
    if (!sinew_guard_begin(&c->guard, &c->features, &motion))
        return sinew_fail_memory(error, "contacts");
    set_reach(world);
    sinew_status status = find_pairs(world, error);
    if (status == SINEW_OK && !sinew_guard_build(&c->guard, &c->features, &motion, &c->pairs))
        status = sinew_fail_memory(error, "contacts");
    if (status != SINEW_OK)
        return status;
    if (!is_guarded(c))
        bring_colliders(world);
    for (int32_t v = 0; v < c->features.vertex_count; v++)
        c->guard.fixed[v] = v >= c->features.moved_count || world->pinned[c->features.particle[v]];
    status = find_contacts(world, error);
    if (status == SINEW_OK)
        status = sinew_contact_make_elements(world, error);
    return status == SINEW_OK ? hand_over(world, error) : status;
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
    if (!is_guarded(c))
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
    c->limited = false;
    return changed;
}

/* A trial of a line search is cut where the guard would cut it; who was cut is remembered. */
static void limit_hook(void *context, sinew_real *trial)
{
    sinew_world *world = context;
    sinew_contact_work *c = world->contact;
    if (!is_guarded(c))
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

/* Whether renewing would change nothing that matters: clearances and what friction bears are known well enough beside
 * offsets and forces. `part`: how well. */
static bool is_settled(const sinew_contact_work *c, const sinew_real *q, double part)
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
    return nearest <= part && lag <= part * strongest;
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
    if (!has_rounds(world) || c->element_count == 0 || c->report.updates >= UPDATES_MOST)
        return 0;
    /* Solved again with no iteration since: the last renewal changed nothing that matters. */
    if (solved ? iteration == c->last_update : iteration - fmax(c->last_update, c->epoch_began) < round_of(world))
        return 0;
    const double tolerance = (double)s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
    if (solved && is_settled(c, s->q, fmin(SETTLED * tolerance, SETTLED_MOST)))
        return 0;
    const bool open = sinew_contact_gate(world);
    renew_multipliers(world, s, open);
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
    if (make_epoch(world, false, &world->error) != SINEW_OK) {
        c->failed = s->lost = true;
        return 0;
    }
    c->epoch_began = iteration;
    hold(world, s->q, s->ops->guarded_late);
    return SINEW_RESUME_ELEMENTS | SINEW_RESUME_MOVED;
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
    return renew_round(world, s, iteration, solved);
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
    c->reported = c->crossings_known = c->failed = false;
    c->epoch_began = 0;
    c->last_update = -1;
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
    if (crossings < 0)
        c->report.crossings_before = (int32_t)sinew_detect_crossings(c->detector, c->x, NULL, 0);
    status = make_epoch(world, true, error);
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
