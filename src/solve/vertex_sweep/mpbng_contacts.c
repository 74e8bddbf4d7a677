/* SPDX-License-Identifier: MIT
 *
 * mpbng_contacts.c: copies the world's contacts to the coarse layers of mpbng. See mpbng_contacts.h.
 */
#include "solve/vertex_sweep/mpbng_contacts.h"

#include <string.h>

#include "solve/vertex_sweep/mpbng_layers.h"

enum {
    VERTICES = SINEW_CONTACT_VERTICES
};

static size_t objective_count_contacts(const sinew_objective *o)
{
    size_t count = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        count += sinew_task_begins_contacts(o, t) ? (size_t)o->tasks[t].batch->element_count : 0;
    return count;
}

static bool layer_contacts_reserve(sinew_layer_contacts *t, const sinew_allocator *a, size_t max)
{
    return sinew_reserve_spare(a, &t->list, &t->list_capacity, max, sizeof *t->list) &&
           sinew_reserve_spare(a, &t->particles, &t->particle_bytes, VERTICES * max, sizeof *t->particles) &&
           sinew_reserve_spare(a, &t->data, &t->data_capacity, SINEW_CONTACT_DATA_COUNT * max, sizeof *t->data);
}

/* Moves a contact to the next coarser layer. Returns false if no vertex of the contact has an owner on that layer. */
static bool layer_contact_lift(const sinew_layers *l, sinew_layer_contact *contact)
{
    bool any = false;
    for (int a = 0; a < VERTICES; a++) {
        contact->own[a] = contact->own[a] < 0 ? -1 : l->owner[contact->own[a]];
        any |= contact->own[a] >= 0;
    }
    return any;
}

/* Appends a contact of a coarse layer; entries without a vertex on this layer repeat another vertex. */
static void layer_contacts_add(sinew_layer_contacts *t, const sinew_layer_contact *contact)
{
    int32_t *particles = t->particles + VERTICES * (size_t)t->count, some = -1;
    for (int a = 0; a < VERTICES; a++)
        some = contact->own[a] >= 0 ? contact->own[a] : some;
    for (int a = 0; a < VERTICES; a++)
        particles[a] = contact->own[a] >= 0 ? contact->own[a] : some;
    t->list[t->count++] = *contact;
}

static void layer_contacts_add_batch(sinew_layer_contacts *t, const sinew_layers *l, const sinew_batch *batch)
{
    for (int32_t e = 0; e < batch->element_count; e++) {
        sinew_layer_contact contact = {.source = batch, .element = e};
        sinew_batch_particles(batch, e, contact.fine);
        memcpy(contact.own, contact.fine, sizeof contact.own);
        for (int32_t level = 1; level < l->count && layer_contact_lift(l, &contact); level++)
            layer_contacts_add(t, &contact);
    }
}

/* Copies the data of the world's contact to its coarse copy, with offset and anchor shifted by d (mpbng_contacts.h).
 * Vertices without an owner on this layer get weight 0. */
static void layer_contact_update(const sinew_layer_contact *t, const sinew_layers *l, sinew_real *data)
{
    double d[3] = {0, 0, 0}, along = 0;
    sinew_batch_element(t->source, t->element, data);
    for (int a = 0; a < VERTICES; a++) {
        const double w = (double)data[SINEW_CONTACT_WEIGHTS + a];
        const sinew_real *fine = l->x_iteration_start + SINEW_POINT * (size_t)t->fine[a];
        const sinew_real *own = t->own[a] < 0 ? NULL : l->x_iteration_start + SINEW_POINT * (size_t)l->fine[t->own[a]];
        for (int i = 0; i < 3; i++)
            d[i] += w * ((double)fine[i] - (own ? (double)own[i] : 0));
        data[SINEW_CONTACT_WEIGHTS + a] = own ? (sinew_real)w : 0;
    }
    for (int i = 0; i < 3; i++) {
        along += (double)data[SINEW_CONTACT_NORMAL + i] * d[i];
        data[SINEW_CONTACT_ANCHOR + i] = (sinew_real)((double)data[SINEW_CONTACT_ANCHOR + i] - d[i]);
    }
    data[SINEW_CONTACT_OFFSET] = (sinew_real)((double)data[SINEW_CONTACT_OFFSET] - along);
}

static bool layer_contacts_fill_batch(sinew_layer_contacts *t, const sinew_layers *l)
{
    const sinew_allocator *a = &l->world->allocator;
    const int32_t particles = l->first[l->count];
    if (!t->batch) {
        t->batch = sinew_batch_create(a, t->list[0].source->ops, l->world->simd->width);
        if (!t->batch)
            return false;
        t->batch->transient = true;
    }
    return sinew_batch_layout_make(&t->layout, a, t->count, VERTICES, particles, false, t->particles) &&
           sinew_batch_fill(t->batch, a, &t->layout, t->particles, t->data, particles, &t->work);
}

bool sinew_layer_contacts_make(sinew_layer_contacts *t, const sinew_layers *l)
{
    const sinew_objective *o = l->world;
    t->count = 0;
    if (l->count == 1 || o->task_count == o->fixed_task_count)
        return true;
    if (!layer_contacts_reserve(t, &o->allocator, (size_t)(l->count - 1) * objective_count_contacts(o)))
        return false;
    for (int32_t task = o->fixed_task_count; task < o->task_count; task++)
        if (sinew_task_begins_contacts(o, task))
            layer_contacts_add_batch(t, l, o->tasks[task].batch);
    for (int32_t k = 0; k < t->count; k++)
        layer_contact_update(&t->list[k], l, t->data + SINEW_CONTACT_DATA_COUNT * (size_t)k);
    return t->count == 0 || layer_contacts_fill_batch(t, l);
}

void sinew_layer_contacts_update_data(sinew_layer_contacts *t, const sinew_layers *l)
{
    for (int32_t k = 0; k < t->count; k++) {
        sinew_real *data = t->data + SINEW_CONTACT_DATA_COUNT * (size_t)k;
        layer_contact_update(&t->list[k], l, data);
        sinew_batch_set_element(t->batch, k, data);
    }
}

void sinew_layer_contacts_destroy(sinew_layer_contacts *t, const sinew_allocator *allocator)
{
    sinew_batch_destroy(allocator, t->batch);
    sinew_batch_layout_release(&t->layout, allocator);
    sinew_batch_work_release(&t->work, allocator);
    sinew_release(allocator, t->list);
    sinew_release(allocator, t->particles);
    sinew_release(allocator, t->data);
    *t = (sinew_layer_contacts){0};
}
