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
#define GAIN_LEAST     1e-3 /* of the motion that an epoch must allow for another to be worth it */
#define UPDATES_MOST   200  /* renewals of multipliers in a step */
#define ROUND_NEWTON   4    /* iterations of a round */
#define ROUND_SWEEPS   4
#define EPOCH_NEWTON   2 /* iterations between two looks at who is held */
#define EPOCH_SWEEPS   5
#define EPOCH_PATIENCE 3 /* times as many where few are held */
#define HALVINGS       20

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
        const double *carry = c->cells.carry[o];
        const double most = longest_way(world, object, carry);
        c->delta[o] = fmin(DELTA_SPARE * most + object->half, fmax(DELTA_EDGES * c->edge[o], object->half));
        const double length = sqrt(carry[0] * carry[0] + carry[1] * carry[1] + carry[2] * carry[2]);
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
            c->reach[v] = (sinew_real)(object->half * (1 + MARGIN) + c->delta[o] + length);
    }
}

/* Vertices near a plane, as pairs behind the others. */
static bool add_plane_pairs(const sinew_world *world, sinew_contact_work *c, int32_t o)
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
        if ((size_t)(c->pairs.count + 1) * sizeof *c->pairs.list > c->pairs.room) {
            const size_t more = (size_t)c->pairs.count + (size_t)c->pairs.count / 2 + 64;
            sinew_touch_pair *list =
                sinew_reallocate(&world->allocator, c->pairs.list, (size_t)c->pairs.count, more, sizeof *list);
            if (!list)
                return false;
            c->pairs.list = list;
            c->pairs.room = more * sizeof *list;
        }
        sinew_touch_pair *p = &c->pairs.list[c->pairs.count++];
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

static double object_limit(const sinew_contact_work *c, const sinew_touch_object *object, const sinew_real *to)
{
    double part = 1;
    for (int32_t k = 0; k < object->vertex_count; k++)
        part = fmin(part, sinew_cells_limit(&c->cells, object->first_vertex + k, to + 4 * (size_t)k));
    return part;
}

/* A collider goes as far as all of its vertices stay in their cells. */
static void advance_collider(const sinew_world *world, int32_t o)
{
    sinew_contact_work *c = world->contact;
    const sinew_touch_object *object = &c->features.objects[o];
    sinew_real *safe = c->cells.safe + 4 * (size_t)object->first_vertex;
    const size_t bytes = 4 * (size_t)object->vertex_count * sizeof *safe;
    if (c->part[o] >= 1)
        return;
    sinew_contact_place(world, o, 1, c->kinematic);
    double way = 1 - c->part[o];
    if (is_guarded(c))
        way *= object_limit(c, object, c->kinematic);
    for (int k = 0; k < HALVINGS && way > 0 && way < 1 - c->part[o]; k++, way /= 2) {
        sinew_contact_place(world, o, c->part[o] + way, c->kinematic);
        if (object_limit(c, object, c->kinematic) >= 1)
            break;
    }
    c->part[o] = fmin(1, c->part[o] + way);
    sinew_contact_place(world, o, c->part[o], c->kinematic);
    memcpy(safe, c->kinematic, bytes);
}

static void advance_colliders(const sinew_world *world, bool planes)
{
    const sinew_features *f = &world->contact->features;
    for (int32_t o = 0; o < f->object_count; o++)
        if (is_plane(&f->objects[o]) && planes)
            advance_plane(world, o);
        else if (f->objects[o].kinematic && !is_plane(&f->objects[o]) && !planes)
            advance_collider(world, o);
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
    return status;
}

static sinew_status find_contacts(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    const sinew_touch_rule rule = {c->x, c->wanted, MARGIN};
    const sinew_touches swap = c->before;
    c->before = c->touches;
    c->touches = swap;
    if (!sinew_touches_find(&c->touches, &c->features, &c->pairs, &rule) ||
        !sinew_touches_inherit(&c->touches, &c->before, &c->features))
        return sinew_fail_memory(error, "contacts");
    return SINEW_OK;
}

/* Pairs, cells and contacts where the vertices are. */
static sinew_status make_epoch(sinew_world *world, bool first, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    sinew_cells_motion motion = {c->x, c->wanted, c->delta, first && !world->def.quasistatic && is_guarded(c)};
    c->report.epochs++;
    c->cut_count = 0;
    c->limited = false;
    advance_colliders(world, true);
    gather_wanted(world, first);
    if (!sinew_cells_begin(&c->cells, &c->features, &motion))
        return sinew_fail_memory(error, "contacts");
    set_reach(world);
    sinew_status status = find_pairs(world, error);
    if (status == SINEW_OK && !sinew_cells_build(&c->cells, &c->features, &motion, &c->pairs))
        status = sinew_fail_memory(error, "contacts");
    if (status != SINEW_OK)
        return status;
    advance_colliders(world, false);
    status = find_contacts(world, error);
    if (status == SINEW_OK)
        status = sinew_contact_make_elements(world, error);
    return status == SINEW_OK ? hand_over(world, error) : status;
}

/* ---- The guard ------------------------------------------------------------------------------- */

/* A pass over vertices and the places that particles ask for. */
typedef struct guard_pass {
    sinew_contact_work *contact;
    const uint8_t *pinned;
    sinew_real *q;
    bool feedback; /* particles that are held go back; else pins alone */
} guard_pass;

/* sums: vertices that are held, particles that were moved */
static void guard_range(const void *context, int32_t first, int32_t last, double *sums)
{
    const guard_pass *g = context;
    sinew_contact_work *c = g->contact;
    for (int32_t v = first; v < last; v++) {
        const int32_t p = c->features.particle[v];
        sinew_real *to = g->q + 4 * (size_t)p, *safe = c->cells.safe + 4 * (size_t)v;
        if (!c->limited)
            memcpy(c->asked + 4 * (size_t)v, to, 4 * sizeof *to);
        const bool limited = c->limited && c->cells.cut[v], cut = sinew_cells_cut(&c->cells, v, to);
        c->cells.cut[v] = cut || limited;
        sums[0] += cut || limited;
        if (!cut || !(g->feedback || g->pinned[p]))
            continue;
        memcpy(to, safe, 3 * sizeof *to);
        sums[1] += 1;
    }
}

static bool hold(sinew_world *world, sinew_real *q, bool feedback)
{
    sinew_contact_work *c = world->contact;
    const guard_pass pass = {c, world->pinned, q, feedback};
    double sums[2] = {0};
    if (!is_guarded(c))
        return false;
    sinew_sum(guard_range, &pass, c->features.moved_count, 2, sums, world->objective.thread_count);
    c->limited = false;
    c->cut_count = (int32_t)sums[0];
    return sums[1] > 0;
}

/* Vertices of a trial are cut where the guard would cut them; cells remember who was. */
static void limit_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const guard_pass *g = context;
    sinew_contact_work *c = g->contact;
    (void)member;
    for (int32_t v = first; v < last; v++) {
        sinew_real *to = g->q + 4 * (size_t)c->features.particle[v];
        const sinew_real *safe = c->cells.safe + 4 * (size_t)v;
        const double part = sinew_cells_limit(&c->cells, v, to);
        c->cells.cut[v] = part < 1;
        memcpy(c->asked + 4 * (size_t)v, to, 4 * sizeof *to);
        for (size_t i = 0; part < 1 && i < 3; i++)
            to[i] = (sinew_real)((double)safe[i] + part * ((double)to[i] - (double)safe[i]));
    }
}

static void limit_hook(void *context, sinew_real *trial)
{
    sinew_world *world = context;
    sinew_contact_work *c = world->contact;
    const guard_pass pass = {c, world->pinned, trial, true};
    if (!is_guarded(c))
        return;
    sinew_over_particles(world->objective.thread_count, c->features.moved_count, limit_range, &pass);
    c->limited = true;
}

/* Where the step began nothing crosses. A first guess there may stay outside of cells that move with their bodies: what
 * touches nothing keeps the bits that it has without contact. */
static bool starts_where_it_was(const sinew_world *world, const sinew_solve *s)
{
    bool same = !world->contact->guarded;
    for (int32_t i = 0; same && i < world->particle_count; i++)
        same = world->pinned[i] || memcmp(s->q + 4 * (size_t)i, world->q + 4 * (size_t)i, 3 * sizeof *s->q) == 0;
    return same;
}

static bool guard_hook(void *context, sinew_solve *s)
{
    sinew_world *world = context;
    const bool feedback = !s->ops->guarded_late && !starts_where_it_was(world, s);
    world->contact->guarded = true;
    return hold(world, s->q, feedback);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static bool gate_is_open(const sinew_world *world, sinew_solve *s)
{
    if (!follows_gradient(s))
        return true;
    sinew_solve_evaluate(s);
    return s->residual <= fmax(world->contact->gate, GATE * s->scale * (world->contact->gate > 0 ? 0 : 1));
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
    const bool open = solved || gate_is_open(world, s);
    renew_multipliers(world, s, open);
    c->last_update = iteration;
    return SINEW_RESUME_NUMBERS;
}

/* ---- Further epochs -------------------------------------------------------------------------- */

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
    if (c->unfinished || c->report.epochs >= c->def.epochs)
        return false;
    return (solved || iteration - c->epoch_began >= wait) && (c->cut_count > 0 || collider_is_held(c));
}

/* Whether vertices went a noticeable part of their way in this epoch. */
static bool gained(const sinew_contact_work *c)
{
    double went = 0, way = 0;
    for (size_t k = 0; k < 4 * (size_t)c->features.moved_count; k++) {
        went += fabs((double)c->cells.safe[k] - (double)c->x[k]);
        way += fabs((double)c->wanted[k] - (double)c->x[k]);
    }
    return went > GAIN_LEAST * way;
}

static uint32_t another_epoch(sinew_world *world, sinew_solve *s, int32_t iteration)
{
    sinew_contact_work *c = world->contact;
    if (!gained(c)) {
        c->unfinished = true;
        return 0;
    }
    memcpy(c->x, c->cells.safe, 4 * (size_t)c->features.vertex_count * sizeof *c->x);
    for (int32_t i = 0; i < world->particle_count; i++)
        if (world->pinned[i])
            memcpy(s->q + 4 * (size_t)i, world->q_tilde + 4 * (size_t)i, 3 * sizeof *s->q);
    for (int32_t v = 0; v < c->features.moved_count; v++)
        if (world->pinned[c->features.particle[v]])
            memcpy(c->asked + 4 * (size_t)v, world->q_tilde + 4 * (size_t)c->features.particle[v],
                   4 * sizeof *c->asked);
    if (make_epoch(world, false, &world->error) != SINEW_OK) {
        c->failed = true;
        return 0;
    }
    c->epoch_began = iteration;
    hold(world, s->q, !s->ops->guarded_late);
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
        hold(world, s->q, true);
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
            along += push * ((double)world->v[at] - (double)c->v_before[at]) / h;
        }
        const double part = !c->v_known || !touched ? 1 : square > 0 ? fmax(0, fmin(1, along / square)) : 0;
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

static bool make_vectors(const sinew_world *world, sinew_contact_work *c)
{
    const sinew_allocator *m = &world->allocator;
    const size_t size = 4 * (size_t)world->particle_count, had = c->v_room;
    const bool good =
        sinew_make_room(m, &c->guess, &c->guess_room, size, sizeof *c->guess) &&
        sinew_make_room(m, &c->blocks, &c->block_room, 9 * (size_t)world->particle_count, sizeof *c->blocks) &&
        sinew_make_room(m, &c->v_before, &c->v_room, size, sizeof *c->v_before);
    c->v_known = c->v_known && had == c->v_room;
    return good;
}

/* Before the first step all contacts are new ones. */
static void note_old(sinew_contact_work *c)
{
    for (int32_t k = 0; k < c->touches.count; k++)
        c->touches.list[k].old = c->touches.list[k].force > 0;
}

sinew_status sinew_contact_begin(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    c->time = world->time;
    sinew_status status = sinew_contact_surfaces(world, error);
    if (status != SINEW_OK)
        return status;
    if (!make_vectors(world, c))
        return sinew_fail_memory(error, "contacts");
    const int32_t crossings = c->reported ? c->report.crossings : -1;
    c->report = (sinew_contact_report){.crossings_before = crossings};
    c->reported = c->unfinished = c->failed = c->guarded = false;
    c->epoch_began = 0;
    c->last_update = -1;
    c->gate = GATE * find_weight(world);
    c->hooks = (sinew_contact_hooks){world, limit_hook, guard_hook, renew_hook, finish_hook};
    world->solve.contact = &c->hooks;
    world->solve.first_guess = c->guess;
    sinew_objective_fixed_diagonal(&world->objective, world->q, c->blocks);
    note_old(c);
    guess_start(world);
    memcpy(c->v_before, world->v, 4 * (size_t)world->particle_count * sizeof *c->v_before);
    c->v_known = true;
    for (int32_t o = 0; o < c->features.object_count; o++)
        c->part[o] = 0;
    sinew_contact_gather(world, world->q, c->begun);
    memcpy(c->x, c->begun, 4 * (size_t)c->features.vertex_count * sizeof *c->x);
    if (crossings < 0)
        c->report.crossings_before = (int32_t)sinew_detect_crossings(c->detector, c->x, NULL, 0);
    return make_epoch(world, true, error);
}

void sinew_contact_abandon(sinew_world *world)
{
    world->solve.contact = NULL;
    world->solve.first_guess = NULL;
}
