/* SPDX-License-Identifier: MIT
 *
 * events.c: contacts that started, continued and ended, and contact forces on particles.
 *
 * A contact with a force at the start of the step was active. It continues if its key is in the list at the end and it
 * still has a force. If its vertex has moved to another feature of the same object, it continues as the contact that
 * received its multipliers (collide/contact_list.h). All other active contacts have ended, including those that are no
 * longer candidates.
 */
#include <math.h>
#include <string.h>

#include "contact/contact.h"

/* ---- Contacts at the start of the step ------------------------------------------------------- */

bool sinew_contact_store_previous(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const size_t n = (size_t)c->contacts.count;
    c->step_start_count = c->ended_count = 0;
    if (!sinew_reserve_spare(view->allocator, &c->step_start_contacts, &c->step_start_capacity, n,
                             sizeof *c->step_start_contacts) ||
        !sinew_reserve_spare(view->allocator, &c->ended, &c->ended_capacity, n, sizeof *c->ended))
        return false;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        sinew_contact_constraint *t = &c->contacts.list[k];
        t->was_active = t->force > 0;
        if (sinew_contact_is_cacheable(t))
            c->step_start_contacts[c->step_start_count++] = *t;
    }
    c->step_start_stored = true;
    return true;
}

void sinew_contact_restore_previous(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (!c->step_start_stored)
        return;
    c->step_start_stored = c->listed = false;
    /* Swaps the two lists of contacts: a copy would need memory, whose lack may be the reason why the step was
     * abandoned. */
    sinew_contact_constraint *list = c->contacts.list;
    const size_t capacity = c->contacts.capacity_bytes;
    c->contacts.list = c->step_start_contacts;
    c->contacts.capacity_bytes = c->step_start_capacity;
    c->contacts.count = c->step_start_count;
    c->step_start_contacts = list;
    c->step_start_capacity = capacity;
    c->step_start_count = c->previous.count = 0;
}

/* Index of the contact with this key in a list of contacts sorted by key; -1: none. */
static int32_t contact_find_key(const sinew_contact_constraint *list, int32_t count, uint64_t key)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = list[middle].key < key ? middle + 1 : low;
        high = list[middle].key < key ? high : middle;
    }
    return low < count && list[low].key == key ? low : -1;
}

static bool contact_has_vertex_first(const sinew_contact_constraint *t)
{
    return t->key >> 60 != SINEW_CONTACT_EDGE_EDGE && t->key >> 60 != SINEW_CONTACT_SKIN_COLLIDER;
}

/* Lists in contacts.work the contacts of the current list that may continue a lost contact, as pairs (first vertex and
 * second object, index), sorted: active contacts of a vertex whose keys are new. Returns their number. contacts.work
 * has room for twice the contacts of candidate pairs since the detection pass; skin contacts are not listed. */
static int32_t contact_list_heirs(sinew_contact_work *c)
{
    sinew_pair *heirs = c->contacts.work;
    int32_t count = 0;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        if (t->was_active && contact_has_vertex_first(t) &&
            contact_find_key(c->step_start_contacts, c->step_start_count, t->key) < 0)
            heirs[count++] = (sinew_pair){sinew_pack(t->v[0], t->second), (uint64_t)k};
    }
    sinew_sort_pairs(heirs, (size_t)count, heirs + count);
    return count;
}

/* True if a contact of the current list continues the lost contact, by vertex and object. A contact continues at most
 * one lost contact, and is marked. heirs [count]: contact_list_heirs(). */
static bool contact_has_match(sinew_contact_work *c, int32_t count, const sinew_contact_constraint *lost)
{
    const sinew_pair *heirs = c->contacts.work;
    const uint64_t wanted = sinew_pack(lost->v[0], lost->second);
    int32_t low = 0, high = count;
    if (!contact_has_vertex_first(lost))
        return false;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = heirs[middle].major < wanted ? middle + 1 : low;
        high = heirs[middle].major < wanted ? high : middle;
    }
    while (low < count && heirs[low].major == wanted && c->contacts.list[heirs[low].minor].matched)
        low++;
    if (low == count || heirs[low].major != wanted)
        return false;
    c->contacts.list[heirs[low].minor].matched = true;
    return true;
}

/* Sets vertices and weights of a contact from its contact key, at positions of the start of the step, because
 * contacts from the cache have only keys. Also sets the normal, except for planes and embedded surfaces. */
static void contact_find_weights(const sinew_contact_work *c, sinew_contact_constraint *t)
{
    const sinew_collision_mesh *f = &c->mesh;
    int32_t a, b;
    const sinew_contact_kind kind = sinew_contact_key_read(t->key, &a, &b);
    sinew_candidate p = {.kind =
                             kind == SINEW_CONTACT_EDGE_EDGE ? SINEW_CANDIDATE_EDGE_EDGE : SINEW_CANDIDATE_VERTEX_FACE};
    if (kind == SINEW_CONTACT_VERTEX_PLANE) {
        t->w[0] = 1;
        return;
    }
    if (kind == SINEW_CONTACT_SKIN_COLLIDER) {
        memcpy(t->v, c->skins[a].v, sizeof t->v);
        memcpy(t->w, c->skins[a].w, sizeof t->w);
        return;
    }
    for (int k = 0; k < 4; k++)
        p.v[k] = kind == SINEW_CONTACT_EDGE_EDGE     ? f->edges[k < 2 ? a : b][k % 2]
                 : k == 0                            ? a
                 : kind == SINEW_CONTACT_VERTEX_FACE ? f->primitives[b][k - 1]
                 : kind == SINEW_CONTACT_VERTEX_EDGE ? f->edges[b][k > 1]
                                                     : b;
    sinew_candidate_closest(&p, c->x_step_start);
    const sinew_real sign = f->object[p.v[0]] == t->first ? 1 : -1;
    for (int k = 0; k < 4; k++) {
        t->v[k] = p.v[k];
        t->w[k] = sign * p.w[k];
    }
    for (int k = 0; k < 3; k++)
        t->n[k] = (double)(sign * p.n[k]);
}

/* ---- Contacts at the end of the step --------------------------------------------------------- */

double sinew_contact_clearance(const sinew_contact_view *view, const sinew_contact_constraint *t, const sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_object *second = &c->mesh.objects[t->second];
    double point[3] = {0, 0, 0}, normal[3], height = -t->offset - t->radius - t->initial_penetration;
    if (second->kinematic && second->vertex_count == 0)
        sinew_contact_plane(view, t->second, c->fraction[t->second], point, normal);
    else if (t->key >> 60 == SINEW_CONTACT_SKIN_COLLIDER)
        sinew_contact_skin_target(c, t, x, point);
    for (size_t i = 0; i < 3; i++) {
        height -= t->n[i] * point[i];
        for (int a = 0; a < 4; a++)
            height += t->n[i] * (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
    }
    return height;
}

void sinew_contact_find_ended(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        sinew_contact_constraint *t = &c->contacts.list[k];
        t->matched = false;
        t->clearance = sinew_contact_clearance(view, t, x);
    }
    const int32_t heir_count = contact_list_heirs(c);
    for (int32_t k = 0; k < c->step_start_count; k++) {
        sinew_contact_constraint *lost = &c->step_start_contacts[k];
        if (!lost->was_active || contact_find_key(c->contacts.list, c->contacts.count, lost->key) >= 0 ||
            contact_has_match(c, heir_count, lost))
            continue;
        if (lost->w[0] == 0 && lost->w[1] == 0 && lost->w[2] == 0 && lost->w[3] == 0)
            contact_find_weights(c, lost);
        lost->force = 0;
        memset(lost->friction, 0, sizeof lost->friction);
        lost->clearance = sinew_contact_clearance(view, lost, x);
        c->ended[c->ended_count++] = *lost;
    }
    c->report.ended += c->ended_count;
}

const sinew_contact_constraint *sinew_contact_next_listed(const sinew_contact_work *c, int32_t *next, int32_t *ended)
{
    while (*next < c->contacts.count && !(c->contacts.list[*next].force > 0) && !c->contacts.list[*next].was_active)
        ++*next;
    const bool more = *next < c->contacts.count, other = *ended < c->ended_count;
    if (more && (!other || c->contacts.list[*next].key < c->ended[*ended].key))
        return &c->contacts.list[(*next)++];
    return other ? &c->ended[(*ended)++] : NULL;
}

/* ---- Contact forces on particles -------------------------------------------------------------- */

void sinew_contact_particle_forces(const sinew_contact_view *view, int32_t first, int32_t count, sinew_real *out)
{
    const sinew_contact_work *c = view->contact;
    memset(out, 0, 3 * (size_t)count * sizeof *out);
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const sinew_contact_support s = sinew_contact_support_of(c, t);
        for (int a = 0; t->force > 0 && a < s.count; a++) {
            const int32_t at = view->outside[s.particle[a]] - first;
            for (int i = 0; at >= 0 && at < count && i < 3; i++)
                out[3 * (size_t)at + (size_t)i] +=
                    (sinew_real)(s.weight[a] * (t->force * t->n[i] + t->friction[i]) + s.lever[a] * t->friction[i]);
        }
    }
}
