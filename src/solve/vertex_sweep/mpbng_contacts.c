/* SPDX-License-Identifier: MIT
 *
 * mpbng_contacts.c: see mpbng_contacts.h.
 */
#include "solve/vertex_sweep/mpbng_contacts.h"

#include <string.h>

#include "solve/vertex_sweep/mpbng_layers.h"

enum {
    VERTICES = SINEW_CONTACT_VERTICES
};

static size_t count_contacts(const sinew_objective *o)
{
    size_t count = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        count += sinew_task_begins_contacts(o, t) ? (size_t)o->tasks[t].batch->element_count : 0;
    return count;
}

static bool make_rooms(sinew_layer_touches *t, const sinew_allocator *a, size_t most)
{
    return sinew_make_spare_room(a, &t->list, &t->list_room, most, sizeof *t->list) &&
           sinew_make_spare_room(a, &t->particles, &t->particle_room, VERTICES * most, sizeof *t->particles) &&
           sinew_make_spare_room(a, &t->data, &t->data_room, SINEW_CONTACT_DATA_COUNT * most, sizeof *t->data);
}

/* Goes one layer up; false: none of the contact's vertices is there. */
static bool lift_touch(const sinew_layers *l, sinew_layer_touch *touch)
{
    bool any = false;
    for (int a = 0; a < VERTICES; a++) {
        touch->own[a] = touch->own[a] < 0 ? -1 : l->owner[touch->own[a]];
        any |= touch->own[a] >= 0;
    }
    return any;
}

/* Places without a vertex repeat one that is there. */
static void add_touch(sinew_layer_touches *t, const sinew_layer_touch *touch)
{
    int32_t *particles = t->particles + VERTICES * (size_t)t->count, some = -1;
    for (int a = 0; a < VERTICES; a++)
        some = touch->own[a] >= 0 ? touch->own[a] : some;
    for (int a = 0; a < VERTICES; a++)
        particles[a] = touch->own[a] >= 0 ? touch->own[a] : some;
    t->list[t->count++] = *touch;
}

static void add_contacts(sinew_layer_touches *t, const sinew_layers *l, const sinew_batch *batch)
{
    for (int32_t e = 0; e < batch->element_count; e++) {
        sinew_layer_touch touch = {.source = batch, .element = e};
        sinew_batch_particles(batch, e, touch.fine);
        memcpy(touch.own, touch.fine, sizeof touch.own);
        for (int32_t level = 1; level < l->count && lift_touch(l, &touch); level++)
            add_touch(t, &touch);
    }
}

/* The numbers of the world's contact, moved by d; places without an own have no weight. */
static void number_touch(const sinew_layer_touch *t, const sinew_layers *l, sinew_real *data)
{
    double d[3] = {0, 0, 0}, along = 0;
    sinew_batch_element(t->source, t->element, data);
    for (int a = 0; a < VERTICES; a++) {
        const double w = (double)data[SINEW_CONTACT_WEIGHTS + a];
        const sinew_real *fine = l->begun + SINEW_POINT * (size_t)t->fine[a];
        const sinew_real *own = t->own[a] < 0 ? NULL : l->begun + SINEW_POINT * (size_t)l->fine[t->own[a]];
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

static bool fill_batch(sinew_layer_touches *t, const sinew_layers *l)
{
    const sinew_allocator *a = &l->world->allocator;
    const int32_t particles = l->first[l->count];
    if (!t->batch) {
        t->batch = sinew_batch_create(a, t->list[0].source->ops, l->world->lanes->width);
        if (!t->batch)
            return false;
        t->batch->transient = true;
    }
    return sinew_plan_make(&t->plan, a, t->count, VERTICES, particles, false, t->particles) &&
           sinew_batch_fill(t->batch, a, &t->plan, t->particles, t->data, particles, &t->work);
}

bool sinew_layer_touches_make(sinew_layer_touches *t, const sinew_layers *l)
{
    const sinew_objective *o = l->world;
    t->count = 0;
    if (l->count == 1 || o->task_count == o->fixed_task_count)
        return true;
    if (!make_rooms(t, &o->allocator, (size_t)(l->count - 1) * count_contacts(o)))
        return false;
    for (int32_t task = o->fixed_task_count; task < o->task_count; task++)
        if (sinew_task_begins_contacts(o, task))
            add_contacts(t, l, o->tasks[task].batch);
    for (int32_t k = 0; k < t->count; k++)
        number_touch(&t->list[k], l, t->data + SINEW_CONTACT_DATA_COUNT * (size_t)k);
    return t->count == 0 || fill_batch(t, l);
}

void sinew_layer_touches_number(sinew_layer_touches *t, const sinew_layers *l)
{
    for (int32_t k = 0; k < t->count; k++) {
        sinew_real *data = t->data + SINEW_CONTACT_DATA_COUNT * (size_t)k;
        number_touch(&t->list[k], l, data);
        sinew_batch_set_element(t->batch, k, data);
    }
}

void sinew_layer_touches_destroy(sinew_layer_touches *t, const sinew_allocator *allocator)
{
    sinew_batch_destroy(allocator, t->batch);
    sinew_plan_release(&t->plan, allocator);
    sinew_batch_work_release(&t->work, allocator);
    sinew_release(allocator, t->list);
    sinew_release(allocator, t->particles);
    sinew_release(allocator, t->data);
    *t = (sinew_layer_touches){0};
}
