/* SPDX-License-Identifier: MIT
 *
 * embedded_contacts.c: surfaces that ride on bodies (embedding.c) and touch colliders with their own vertices.
 *
 * A vertex of a skin is x = sum w q over up to four particles, so its contact is an element over these with the weights
 * as they are; what it touches is the nearest place of each collider, which moves with that. A vertex inside a closed
 * collider is led out the shortest way (penetration.c).
 *
 * Limits: nothing guards skins, which may pass through thin colliders in a step; edges and faces of a skin touch
 * nothing; nor do skins touch bodies.
 */
#include <math.h>
#include <string.h>

#include "sinew/tree.h"
#include "world/contact/contact.h"

#define MARGIN   0.5 /* of the offset: what is that near gets a contact element */
#define INSIDE   0.5 /* winding number */
#define OUT_PART 0.2 /* of its depth that what is inside is led out in a step */

/* ---- Vertices -------------------------------------------------------------------------------- */

/* The feature vertex of each particle of an object; -1: none. Particles of a body are in ascending order. */
static int32_t vertex_of(const sinew_features *f, const sinew_touch_object *o, int32_t particle)
{
    int32_t low = o->first_vertex, high = o->first_vertex + o->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = f->particle[middle] < particle ? middle + 1 : low;
        high = f->particle[middle] < particle ? high : middle;
    }
    return low;
}

static bool is_skin(const sinew_world *world, const sinew_touch_object *o)
{
    return !o->kinematic && world->bodies[o->body].contact.surface == SINEW_CONTACT_SKIN;
}

bool sinew_contact_list_skins(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    size_t count = 0;
    for (int32_t o = 0; o < f->object_count; o++)
        if (is_skin(world, &f->objects[o]))
            count += (size_t)sinew_skin_vertex_count(world->bodies[f->objects[o].body].skin);
    c->skin_count = 0;
    if (!sinew_make_room(&world->allocator, &c->skins, &c->skin_room, count, sizeof *c->skins))
        return false;
    for (int32_t o = 0; o < f->object_count; o++) {
        if (!is_skin(world, &f->objects[o]))
            continue;
        const sinew_body_record *body = &world->bodies[f->objects[o].body];
        for (int32_t i = 0; i < sinew_skin_vertex_count(body->skin); i++) {
            sinew_skin_vertex *s = &c->skins[c->skin_count++];
            *s = (sinew_skin_vertex){.object = o, .number = i};
            for (size_t a = 0, at = 4 * (size_t)i; a < 4; a++, at++) {
                s->v[a] = vertex_of(f, &f->objects[o], world->inside[body->first + body->skin_vertices[at]]);
                s->w[a] = body->skin_weights[at];
            }
        }
    }
    return true;
}

static void skin_point(const sinew_skin_vertex *s, const sinew_real *x, double p[3])
{
    for (size_t i = 0; i < 3; i++) {
        p[i] = 0;
        for (int a = 0; a < 4; a++)
            p[i] += (double)s->w[a] * (double)x[4 * (size_t)s->v[a] + i];
    }
}

void sinew_contact_skin_place(const sinew_contact_work *c, const sinew_touch *t, const sinew_real *x, double b[3])
{
    for (size_t i = 0; i < 3; i++) {
        b[i] = 0;
        for (int k = 0; t->cell >= 0 && k < 3; k++)
            b[i] += (double)t->place[k] * (double)x[4 * (size_t)c->features.cells[t->cell][k] + i];
    }
}

/* ---- Nearest places -------------------------------------------------------------------------- */

/* A search of one vertex: where it is, and how far it looks. */
typedef struct skin_search {
    double p[3];
    double limit;
} skin_search;

/* From the place b of a collider to the vertex; sign -1: the vertex is inside, and n leads out. */
static void set_direction(const skin_search *s, const double b[3], double sign, sinew_touch *t)
{
    double size = 0;
    for (int i = 0; i < 3; i++) {
        t->n[i] = sign * (s->p[i] - b[i]);
        size += t->n[i] * t->n[i];
    }
    size = sqrt(size);
    for (int i = 0; i < 3; i++)
        t->n[i] = size > 0 ? t->n[i] / size : i == 1;
    t->distance = sign * size - t->core;
}

static bool near_plane(const sinew_world *world, int32_t o, const skin_search *s, sinew_touch *t)
{
    double point[3];
    sinew_contact_plane(world, o, world->contact->part[o], point, t->n);
    t->cell = -1;
    t->distance = 0;
    for (int i = 0; i < 3; i++)
        t->distance += t->n[i] * (s->p[i] - point[i]);
    return t->distance <= s->limit;
}

/* Spheres and capsules are their first cell, a vertex or an edge. */
static bool near_round(const sinew_contact_work *c, int32_t o, const skin_search *s, sinew_touch *t)
{
    const int32_t first = c->features.objects[o].first_vertex;
    const bool edge = c->features.objects[o].vertex_count > 1;
    const sinew_real *a = c->x + 4 * (size_t)first, *b = a + (edge ? 4 : 0);
    double along[3], length = 0, part = 0, at[3];
    for (int i = 0; i < 3; i++) {
        along[i] = (double)b[i] - (double)a[i];
        length += along[i] * along[i];
        part += along[i] * (s->p[i] - (double)a[i]);
    }
    part = length > 0 ? fmin(1, fmax(0, part / length)) : 0;
    for (int i = 0; i < 3; i++)
        at[i] = (double)a[i] + part * along[i];
    for (int32_t cell = 0; cell < c->features.cell_count && t->cell < 0; cell++)
        t->cell = c->features.cells[cell][0] == first ? cell : -1;
    t->place[0] = (sinew_real)(1 - part);
    t->place[1] = (sinew_real)part;
    set_direction(s, at, 1, t);
    return t->distance <= s->limit;
}

static bool near_triangles(const sinew_world *world, int32_t o, const skin_search *s, sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    const sinew_contact_tree *tree = &c->trees[o];
    const sinew_real p[3] = {(sinew_real)s->p[0], (sinew_real)s->p[1], (sinew_real)s->p[2]};
    sinew_real winding = 0;
    sinew_tree_place place;
    if (world->colliders[c->features.objects[o].collider].closed)
        sinew_tree_winding(tree->tree, 1, p, &winding);
    const bool inside = (double)winding > INSIDE;
    const sinew_real limit = (sinew_real)s->limit;
    sinew_tree_nearest(tree->tree, 1, p, inside ? NULL : &limit, &place);
    if (place.cell < 0)
        return false;
    const double b[3] = {(double)place.point[0], (double)place.point[1], (double)place.point[2]};
    t->cell = tree->first_cell + place.cell;
    memcpy(t->place, place.weights, sizeof t->place);
    set_direction(s, b, inside ? -1 : 1, t);
    return true;
}

/* The contact of a vertex with a collider; false: it is not near. */
static bool touch_collider(const sinew_world *world, int32_t skin, int32_t o, sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    const sinew_skin_vertex *v = &c->skins[skin];
    const sinew_touch_object *first = &c->features.objects[v->object], *second = &c->features.objects[o];
    skin_search s;
    double to[3], way = 0;
    *t = (sinew_touch){.key = sinew_touch_key(SINEW_TOUCH_SKIN, skin, o), .first = v->object, .second = o, .cell = -1};
    t->offset = first->half + second->half;
    t->core = second->core;
    t->mu = sqrt(first->friction * second->friction);
    memcpy(t->v, v->v, sizeof t->v);
    memcpy(t->w, v->w, sizeof t->w);
    skin_point(v, c->x, s.p);
    skin_point(v, c->wanted, to);
    for (int i = 0; i < 3; i++)
        way += (to[i] - s.p[i]) * (to[i] - s.p[i]);
    s.limit = (1 + MARGIN) * t->offset + sqrt(way);
    const bool near = second->vertex_count == 0 ? near_plane(world, o, &s, t)
                      : second->core > 0        ? near_round(c, o, &s, t)
                                                : near_triangles(world, o, &s, t);
    if (near && t->distance < 0 && second->vertex_count > 0) {
        t->sunk = -(1 - OUT_PART) * t->distance;
        t->offset -= t->sunk;
    }
    return near;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

static sinew_status tend_trees(sinew_world *world, sinew_error *error)
{
    const sinew_contact_work *c = world->contact;
    sinew_status status = SINEW_OK;
    for (int32_t o = 0; o < c->features.object_count && status == SINEW_OK; o++) {
        const sinew_touch_object *object = &c->features.objects[o];
        if (object->kinematic && world->colliders[object->collider].triangle_count > 0)
            status = sinew_contact_tend_tree(world, o, error);
    }
    return status;
}

sinew_status sinew_contact_add_skins(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    sinew_touches *list = &c->touches;
    if (c->skin_count == 0)
        return SINEW_OK;
    sinew_status status = tend_trees(world, error);
    for (int32_t k = 0; k < c->skin_count && status == SINEW_OK; k++)
        for (int32_t o = 0; o < c->features.object_count && status == SINEW_OK; o++) {
            sinew_touch t;
            if (!c->features.objects[o].kinematic || !sinew_may_touch(&c->features, c->skins[k].object, o) ||
                !touch_collider(world, k, o, &t))
                continue;
            if ((size_t)(list->count + 1) * sizeof t > list->room) {
                const size_t more = 2 * (size_t)list->count + 64;
                sinew_touch *grown =
                    sinew_reallocate(&world->allocator, list->list, (size_t)list->count, more, sizeof t);
                if (!grown)
                    return sinew_fail_memory(error, "contacts");
                list->list = grown;
                list->room = more * sizeof t;
            }
            list->list[list->count++] = t;
        }
    return status;
}
