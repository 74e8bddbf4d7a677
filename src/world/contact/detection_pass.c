/* SPDX-License-Identifier: MIT
 *
 * detection_pass.c: one epoch of contact (contact.h): where vertices would go, which pairs are in reach of each other,
 * the guard over them, and the contacts among them, handed over to the objective and the solver.
 */
#include <math.h>
#include <string.h>

#include "world/contact/contact.h"

#define BALL_SPARE 1.2  /* balls are larger than what inertia asks for beyond the expected way */
#define BALL_EDGES 0.25 /* they have room to be stopped on that way, up to so many edges */
#define MOST_EDGES 1.5  /* balls, and ways beside the mean one, are at most so many edges */
#define MARGIN     0.5  /* of the offset: what is that near gets a contact element */
#define HALVINGS   20   /* of the way of a plane before it stays */

bool sinew_contact_is_guarded(const sinew_contact_work *c)
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

static double length_of(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* m: the way of an object as a whole; `carried`: the first epoch of a step, in which bodies go far. */
static void mean_way(const sinew_contact_work *c, const sinew_touch_object *object, bool carried, double mean[3])
{
    const bool moves = carried && object->vertex_count > 0;
    double sum[3] = {0, 0, 0};
    for (int32_t v = object->first_vertex; moves && v < object->first_vertex + object->vertex_count; v++)
        for (size_t i = 0; i < 3; i++)
            sum[i] += (double)c->wanted[4 * (size_t)v + i] - (double)c->x[4 * (size_t)v + i];
    for (size_t i = 0; i < 3; i++)
        mean[i] = moves ? sum[i] / object->vertex_count : 0;
}

/* m: how far vertex v would go from x + way. */
static double beyond(const sinew_contact_work *c, int32_t v, const sinew_real *there, const double way[3])
{
    double rest[3];
    for (size_t i = 0; i < 3; i++)
        rest[i] = (double)there[i] - (double)c->x[4 * (size_t)v + i] - way[i];
    return length_of(rest);
}

/* Vertices of a collider are expected where its middle goes, in balls that contain where they are. */
static void set_collider_ways(sinew_contact_work *c, int32_t o, const double mean[3])
{
    const sinew_touch_object *object = &c->features.objects[o];
    double most = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
        most = fmax(most, beyond(c, v, c->wanted + 4 * (size_t)v, mean));
    const double ball = fmin(BALL_SPARE * most + object->half, fmax(MOST_EDGES * c->edge[o], object->half));
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *way = c->guard.ways + 4 * (size_t)v;
        for (int i = 0; i < 3; i++)
            way[i] = (sinew_real)mean[i];
        way[3] = (sinew_real)fmax(ball, length_of(mean));
    }
}

/* Vertices of a body are expected where they would go, but not too far from where their body goes: what one asks for in
 * vain would make all others look far. Returns the longest way. */
static double set_body_ways(sinew_contact_work *c, int32_t o, const double mean[3])
{
    const sinew_touch_object *object = &c->features.objects[o];
    const double most = fmax(MOST_EDGES * c->edge[o], object->half);
    double longest = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const sinew_real *wanted = c->wanted + 4 * (size_t)v, *x = c->x + 4 * (size_t)v;
        sinew_real *way = c->guard.ways + 4 * (size_t)v;
        const double own = beyond(c, v, wanted, mean), part = own > most ? most / own : 1;
        double d[3];
        for (int i = 0; i < 3; i++) {
            way[i] = (sinew_real)(mean[i] + part * ((double)wanted[i] - (double)x[i] - mean[i]));
            d[i] = (double)way[i];
        }
        longest = fmax(longest, length_of(d));
    }
    return longest;
}

/* Radii of a body's balls: what inertia asks for beyond the way, and room to be stopped on it. */
static void set_body_balls(const sinew_world *world, int32_t o, double longest)
{
    sinew_contact_work *c = world->contact;
    const sinew_touch_object *object = &c->features.objects[o];
    const double most = fmax(MOST_EDGES * c->edge[o], object->half);
    const double room = fmin(longest, BALL_EDGES * c->edge[o]);
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *way = c->guard.ways + 4 * (size_t)v;
        const double d[3] = {(double)way[0], (double)way[1], (double)way[2]};
        const sinew_real *there =
            world->def.quasistatic ? c->wanted + 4 * (size_t)v : world->q_tilde + 4 * (size_t)c->features.particle[v];
        way[3] = (sinew_real)fmin(fmax(BALL_SPARE * beyond(c, v, there, d), room) + object->half, most);
    }
}

/* Ways and balls of the guard (collide/filter/trust_region.h), and with them how far each vertex looks. */
static void set_reach(const sinew_world *world, bool carried)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t o = 0; o < f->object_count; o++) {
        double mean[3];
        mean_way(c, &f->objects[o], carried, mean);
        if (f->objects[o].kinematic)
            set_collider_ways(c, o, mean);
        else
            set_body_balls(world, o, set_body_ways(c, o, mean));
    }
    for (int32_t v = 0; v < f->vertex_count; v++)
        c->reach[v] = (sinew_real)(f->objects[f->object[v]].half * (1 + MARGIN) + (double)c->guard.ways[4 * v + 3]);
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
        const sinew_real *way = c->guard.ways + 4 * (size_t)v;
        const double d[3] = {(double)way[0], (double)way[1], (double)way[2]};
        double distance = -f->objects[f->object[v]].core;
        for (size_t i = 0; i < 3; i++)
            distance += normal[i] * ((double)c->x[4 * (size_t)v + i] - point[i]);
        if (!sinew_may_touch(f, f->object[v], o) ||
            distance > (double)c->reach[v] + length_of(d) + f->objects[o].half * (1 + MARGIN))
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
    const sinew_detect_places places = {c->x, c->reach, c->guard.ways};
    sinew_status status = sinew_detect(c->detector, &places, c->def.pair_limit, &c->pairs, error);
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
    if (sinew_contact_is_guarded(c) && way > 0 && !plane_is_open(world, o, c->part[o] + way))
        way = 0;
    c->part[o] = sinew_contact_is_guarded(c) ? c->part[o] + way : 1;
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
    const double began = sinew_seconds();
    c->layered = c->element_count > 0;
    s->resuming = true;
    sinew_status status = sinew_world_layer(world, error);
    if (status == SINEW_OK)
        status = sinew_solve_refresh(s, &world->def.solver, SINEW_CHANGED_TRANSIENT, error);
    s->resuming = false;
    c->report.handover += sinew_seconds() - began;
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

sinew_status sinew_contact_make_epoch(sinew_world *world, bool first, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    c->report.epochs++;
    c->cut_count = 0;
    c->limited = false;
    memset(c->cut, 0, (size_t)c->features.vertex_count);
    advance_planes(world);
    gather_wanted(world, first);
    if (!sinew_guard_begin(&c->guard, &c->features))
        return sinew_fail_memory(error, "contacts");
    set_reach(world, first && !world->def.quasistatic && sinew_contact_is_guarded(c));
    sinew_status status = find_pairs(world, error);
    if (status == SINEW_OK && !sinew_guard_build(&c->guard, &c->features, c->x, &c->pairs))
        status = sinew_fail_memory(error, "contacts");
    if (status != SINEW_OK)
        return status;
    if (!sinew_contact_is_guarded(c))
        bring_colliders(world);
    for (int32_t v = 0; v < c->features.vertex_count; v++)
        c->guard.fixed[v] = v >= c->features.moved_count || world->pinned[c->features.particle[v]];
    status = find_contacts(world, error);
    if (status == SINEW_OK)
        status = sinew_contact_make_elements(world, error);
    return status == SINEW_OK ? hand_over(world, error) : status;
}
