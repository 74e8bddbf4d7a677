/* SPDX-License-Identifier: MIT
 *
 * events.c: contacts that began, stayed and ended, and what contacts do to each particle.
 *
 * A contact that bore a force when the step began is *old*. One whose key is in the list at the end is judged there.
 * Where a vertex has gone on to another feature of the same object, what it bore was handed over (collide/contact_list.h),
 * and the contact that took it over stands for it. All others have ended, also those that are not in reach any more.
 */
#include <math.h>
#include <string.h>

#include "world/contact/contact.h"

/* ---- Old ones -------------------------------------------------------------------------------- */

bool sinew_contact_note_old(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const size_t n = (size_t)c->touches.count;
    c->past_count = c->ended_count = 0;
    if (!sinew_make_spare_room(&world->allocator, &c->past, &c->past_room, n, sizeof *c->past) ||
        !sinew_make_spare_room(&world->allocator, &c->ended, &c->ended_room, n, sizeof *c->ended))
        return false;
    for (int32_t k = 0; k < c->touches.count; k++) {
        sinew_touch *t = &c->touches.list[k];
        t->old = t->force > 0;
        if (sinew_contact_is_noted(t))
            c->past[c->past_count++] = *t;
    }
    c->noted_past = true;
    return true;
}

void sinew_contact_restore_past(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const size_t n = (size_t)c->past_count;
    if (!c->noted_past)
        return;
    c->noted_past = c->listed = false;
    c->touches.count = c->before.count = 0;
    if (!sinew_make_spare_room(&world->allocator, &c->touches.list, &c->touches.room, n, sizeof *c->touches.list))
        return;
    if (n > 0)
        memcpy(c->touches.list, c->past, n * sizeof *c->past);
    c->touches.count = c->past_count;
}

/* The contact of that key in a list by keys; -1: none. */
static int32_t find_key(const sinew_touch *list, int32_t count, uint64_t key)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = list[middle].key < key ? middle + 1 : low;
        high = list[middle].key < key ? high : middle;
    }
    return low < count && list[low].key == key ? low : -1;
}

/* Whether a contact took over what another, now gone, bore: by vertex and object. It does so once: `old` of the heir
 * is set to stay, and the heir is marked. */
static bool has_heir(sinew_contact_work *c, const sinew_touch *gone)
{
    if (gone->key >> 60 == SINEW_TOUCH_EDGES || gone->key >> 60 == SINEW_TOUCH_SKIN)
        return false;
    for (int32_t k = 0; k < c->touches.count; k++) {
        sinew_touch *t = &c->touches.list[k];
        if (!t->old || t->heir || t->v[0] != gone->v[0] || t->second != gone->second ||
            t->key >> 60 == SINEW_TOUCH_EDGES || find_key(c->past, c->past_count, t->key) >= 0)
            continue;
        t->heir = true;
        return true;
    }
    return false;
}

/* Vertices and weights of a contact that is known by its key alone, as those from states are. */
static void find_weights(const sinew_contact_work *c, sinew_touch *t)
{
    const sinew_features *f = &c->features;
    int32_t a, b;
    const sinew_touch_kind kind = sinew_touch_read_key(t->key, &a, &b);
    sinew_touch_pair p = {.kind = kind == SINEW_TOUCH_EDGES ? SINEW_PAIR_EDGES : SINEW_PAIR_FACE};
    if (kind == SINEW_TOUCH_PLANE) {
        t->w[0] = 1;
        return;
    }
    if (kind == SINEW_TOUCH_SKIN) {
        memcpy(t->v, c->skins[a].v, sizeof t->v);
        memcpy(t->w, c->skins[a].w, sizeof t->w);
        return;
    }
    for (int k = 0; k < 4; k++)
        p.v[k] = kind == SINEW_TOUCH_EDGES  ? f->edges[k < 2 ? a : b][k % 2]
                 : k == 0                   ? a
                 : kind == SINEW_TOUCH_FACE ? f->cells[b][k - 1]
                 : kind == SINEW_TOUCH_SIDE ? f->edges[b][k > 1]
                                            : b;
    sinew_pair_closest(&p, c->begun);
    const sinew_real sign = f->object[p.v[0]] == t->first ? 1 : -1;
    for (int k = 0; k < 4; k++) {
        t->v[k] = p.v[k];
        t->w[k] = sign * p.w[k];
    }
    for (int k = 0; k < 3; k++)
        t->n[k] = (double)(sign * p.n[k]);
}

/* ---- The end --------------------------------------------------------------------------------- */

double sinew_contact_clearance(const sinew_world *world, const sinew_touch *t, const sinew_real *x)
{
    const sinew_contact_work *c = world->contact;
    const sinew_touch_object *second = &c->features.objects[t->second];
    double point[3] = {0, 0, 0}, normal[3], height = -t->offset - t->core - t->sunk;
    if (second->kinematic && second->vertex_count == 0)
        sinew_contact_plane(world, t->second, c->part[t->second], point, normal);
    else if (t->key >> 60 == SINEW_TOUCH_SKIN)
        sinew_contact_skin_place(c, t, x, point);
    for (size_t i = 0; i < 3; i++) {
        height -= t->n[i] * point[i];
        for (int a = 0; a < 4; a++)
            height += t->n[i] * (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
    }
    return height;
}

void sinew_contact_find_ended(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    for (int32_t k = 0; k < c->touches.count; k++) {
        sinew_touch *t = &c->touches.list[k];
        t->heir = false;
        t->clearance = sinew_contact_clearance(world, t, x);
    }
    for (int32_t k = 0; k < c->past_count; k++) {
        sinew_touch *gone = &c->past[k];
        if (!gone->old || find_key(c->touches.list, c->touches.count, gone->key) >= 0 || has_heir(c, gone))
            continue;
        if (gone->w[0] == 0 && gone->w[1] == 0 && gone->w[2] == 0 && gone->w[3] == 0)
            find_weights(c, gone);
        gone->force = 0;
        memset(gone->friction, 0, sizeof gone->friction);
        gone->clearance = sinew_contact_clearance(world, gone, x);
        c->ended[c->ended_count++] = *gone;
    }
    c->report.ended += c->ended_count;
}

const sinew_touch *sinew_contact_next_listed(const sinew_contact_work *c, int32_t *touch, int32_t *ended)
{
    while (*touch < c->touches.count && !(c->touches.list[*touch].force > 0) && !c->touches.list[*touch].old)
        ++*touch;
    const bool more = *touch < c->touches.count, other = *ended < c->ended_count;
    if (more && (!other || c->touches.list[*touch].key < c->ended[*ended].key))
        return &c->touches.list[(*touch)++];
    return other ? &c->ended[(*ended)++] : NULL;
}

/* ---- Particles ------------------------------------------------------------------------------- */

sinew_status sinew_contact_particle_forces(const sinew_world *world, int32_t first, int32_t count, sinew_real *out,
                                           sinew_error *error)
{
    sinew_status status = sinew_contact_check_listed(world, error);
    if (status != SINEW_OK)
        return status;
    const sinew_contact_work *c = world->contact;
    memset(out, 0, 3 * (size_t)count * sizeof *out);
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        for (int a = 0; t->force > 0 && a < 4; a++) {
            const int32_t at =
                t->v[a] < c->features.moved_count ? world->outside[c->features.particle[t->v[a]]] - first : -1;
            for (int i = 0; at >= 0 && at < count && i < 3; i++)
                out[3 * (size_t)at + (size_t)i] +=
                    (sinew_real)((double)t->w[a] * (t->force * t->n[i] + t->friction[i]));
        }
    }
    return SINEW_OK;
}
