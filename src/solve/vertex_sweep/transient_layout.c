/* SPDX-License-Identifier: MIT
 *
 * transient_layout.c: the nodes that transient elements touch: colours them, and moves them with all their visits from the
 * fixed groups to groups of their own. See vertex_layout.h.
 *
 * Fixed groups stay as they are but for the masses of these nodes, which become zero until the next layer is made. All
 * arrays are used again, and those over particles are cleaned only where they were touched.
 */
#include <string.h>

#include "mesh/topology.h"
#include "solve/vertex_sweep/vertex_layout_internal.h"

/* One visit of a touched node by a transient element. */
typedef struct touch {
    int32_t batch, element; /* batch: of the layer's groups */
} touch;

typedef struct sinew_visit_layer {
    sinew_visit_sources sources; /* of the transient batches */
    int32_t *place;              /* [particle_count] where a free node is in the fixed groups, -1: pinned */
    int32_t *colour;             /* [particle_count] of a free node, -1: pinned */
    int32_t *number;             /* [particle_count] of a touched node, -1: not touched */
    int32_t *load;               /* [particle_count] visits of a touched node */
    int32_t touched_count;
    int32_t *touched;         /* [touched_count] free particles in the order of the transient elements */
    int32_t *first;           /* [touched_count + 1] into touches */
    touch *touches;           /* of one node after the other, by batch and element */
    int32_t *particles;       /* of all transient elements, batch by batch */
    size_t *first_entry;      /* [transient visit batches] into particles */
    int32_t *colours, *order; /* [touched_count] */
    int32_t first_of_colour[SINEW_VISIT_COLOURS_MAX + 1];       /* into order */
    size_t touched_room, first_room, touch_room, particle_room; /* bytes */
    size_t entry_room, colour_room, order_room;
} sinew_visit_layer;

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Where every free node is in the fixed groups, and its colour there. */
static void find_places(const sinew_visits *v, sinew_visit_layer *l)
{
    const sinew_visit_groups *g = &v->fixed;
    const int32_t W = v->lanes->width;
    for (int32_t i = 0; i < v->objective->particle_count; i++)
        l->place[i] = l->colour[i] = l->number[i] = -1;
    for (int32_t c = 0; c < g->colour_count; c++)
        for (int32_t place = g->first_group[c] * W; place < g->first_group[c + 1] * W; place++)
            if (g->mass[place] > 0) {
                l->place[g->node[place] / SINEW_POINT] = place;
                l->colour[g->node[place] / SINEW_POINT] = c;
            }
}

static sinew_visit_layer *make_layer(sinew_visits *v)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t count = (size_t)v->objective->particle_count;
    if (v->layer_work)
        return v->layer_work;
    sinew_visit_layer *l = v->layer_work = sinew_allocate_zero(allocator, 1, sizeof *l);
    if (!l)
        return NULL;
    l->place = sinew_allocate(allocator, count, sizeof *l->place);
    l->colour = sinew_allocate(allocator, count, sizeof *l->colour);
    l->number = sinew_allocate(allocator, count, sizeof *l->number);
    l->load = sinew_allocate(allocator, count, sizeof *l->load);
    if (!l->place || !l->colour || !l->number || !l->load)
        return NULL;
    find_places(v, l);
    return l;
}

void sinew_visit_layer_destroy(sinew_visits *v)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    sinew_visit_layer *l = v->layer_work;
    sinew_visit_groups_release(&v->layer, allocator);
    if (!l)
        return;
    sinew_visit_sources_release(&l->sources, allocator);
    void *arrays[] = {l->place,   l->colour,    l->number,      l->load,    l->touched, l->first,
                      l->touches, l->particles, l->first_entry, l->colours, l->order,   l};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    v->layer_work = NULL;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The colour of a place in the fixed groups. */
static int32_t colour_at(const sinew_visits *v, int32_t place)
{
    const int32_t group = place / v->lanes->width;
    int32_t low = 0, high = v->fixed.colour_count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (v->fixed.first_group[middle] <= group)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The touched nodes go back to the fixed groups. */
static void put_back(sinew_visits *v)
{
    sinew_visit_layer *l = v->layer_work;
    for (int32_t t = 0; l && t < l->touched_count; t++) {
        const int32_t node = l->touched[t];
        v->fixed.mass[l->place[node]] = v->objective->mass[node];
        l->colour[node] = colour_at(v, l->place[node]);
        l->number[node] = -1;
    }
    if (l)
        l->touched_count = 0;
    v->layer.batch_count = v->layer.group_count = v->layer.colour_count = 0;
    v->layer.checked = v->fixed.checked;
    v->colour_count = v->fixed.colour_count;
}

/* Batches of the layer: copies of the fixed ones, whose sources they share, then the transient ones. */
static bool find_batches(sinew_visits *v, sinew_visit_layer *l)
{
    sinew_visit_groups *g = &v->layer;
    const int32_t fixed = v->fixed.batch_count;
    if (!sinew_visit_groups_reserve(g, fixed, &v->objective->allocator))
        return false;
    for (int32_t b = 0; b < fixed; b++) {
        sinew_visit_batch *copy = &g->batches[b];
        const sinew_visit_batch *from = &v->fixed.batches[b];
        copy->ops = from->ops;
        copy->source_count = from->source_count;
        copy->sources = from->sources;
        copy->first_element = from->first_element;
        copy->versions = from->versions;
        copy->forms = from->forms;
    }
    g->batch_count = fixed;
    return sinew_visit_sources_find(v, g, v->objective->fixed_task_count, v->objective->task_count, false, &l->sources);
}

/* Particles of all transient elements; *count: how many entries there are. */
static bool list_elements(const sinew_visits *v, sinew_visit_layer *l, size_t *count)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const int32_t fixed = v->fixed.batch_count, batches = v->layer.batch_count - fixed;
    *count = 0;
    if (!sinew_make_spare_room(allocator, &l->first_entry, &l->entry_room, (size_t)batches, sizeof *l->first_entry))
        return false;
    for (int32_t i = 0; i < batches; i++) {
        const sinew_visit_batch *b = &v->layer.batches[fixed + i];
        l->first_entry[i] = *count;
        *count += (size_t)b->first_element[b->source_count] * (size_t)b->ops->info.vertex_count;
    }
    if (!sinew_make_spare_room(allocator, &l->particles, &l->particle_room, *count, sizeof *l->particles))
        return false;
    for (int32_t i = 0; i < batches; i++) {
        const sinew_visit_batch *b = &v->layer.batches[fixed + i];
        for (int32_t k = 0; k < b->source_count; k++)
            sinew_batch_list(b->sources[k], l->particles + l->first_entry[i] +
                                                (size_t)b->first_element[k] * (size_t)b->ops->info.vertex_count);
    }
    return true;
}

static const int32_t *particles_of(const sinew_visits *v, const sinew_visit_layer *l, touch t)
{
    const size_t n = (size_t)v->layer.batches[t.batch].ops->info.vertex_count;
    return l->particles + l->first_entry[t.batch - v->fixed.batch_count] + n * (size_t)t.element;
}

/* An element may name a vertex more than once, and visits it once. */
static bool is_repeat(const int32_t *particles, int32_t a)
{
    for (int32_t i = 0; i < a; i++)
        if (particles[i] == particles[a])
            return true;
    return false;
}

typedef void touch_do(sinew_visit_layer *l, int32_t node, touch t);

/* Every free node of every transient element, in their order. */
static void for_touches(const sinew_visits *v, sinew_visit_layer *l, touch_do *act)
{
    for (int32_t b = v->fixed.batch_count; b < v->layer.batch_count; b++) {
        const sinew_visit_batch *batch = &v->layer.batches[b];
        for (int32_t e = 0; e < batch->first_element[batch->source_count]; e++) {
            const touch t = {b, e};
            const int32_t *particles = particles_of(v, l, t);
            for (int32_t a = 0; a < batch->ops->info.vertex_count; a++)
                if (l->place[particles[a]] >= 0 && !is_repeat(particles, a))
                    act(l, particles[a], t);
        }
    }
}

/* Numbers a node, and counts its touches where the next one's will begin. */
static void count_touch(sinew_visit_layer *l, int32_t node, touch t)
{
    (void)t;
    if (l->number[node] < 0) {
        l->number[node] = l->touched_count;
        l->touched[l->touched_count++] = node;
        l->first[l->touched_count] = 0;
    }
    l->first[l->number[node] + 1]++;
}

static void write_touch(sinew_visit_layer *l, int32_t node, touch t)
{
    l->touches[l->first[l->number[node]]++] = t;
}

/* Touched nodes and their touches; of `count` entries each may be a node of its own. */
static bool find_touched(const sinew_visits *v, sinew_visit_layer *l, size_t count)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t limit = (size_t)v->objective->particle_count, most = count < limit ? count : limit;
    if (!sinew_make_spare_room(allocator, &l->touched, &l->touched_room, most, sizeof *l->touched) ||
        !sinew_make_spare_room(allocator, &l->first, &l->first_room, most + 1, sizeof *l->first) ||
        !sinew_make_spare_room(allocator, &l->colours, &l->colour_room, most, sizeof *l->colours) ||
        !sinew_make_spare_room(allocator, &l->order, &l->order_room, most, sizeof *l->order) ||
        !sinew_make_spare_room(allocator, &l->touches, &l->touch_room, count, sizeof *l->touches))
        return false;
    l->first[0] = 0;
    for_touches(v, l, count_touch);
    for (int32_t t = 0; t < l->touched_count; t++)
        l->first[t + 1] += l->first[t];
    for_touches(v, l, write_touch);
    /* Writing moved every start to its successor's. */
    memmove(l->first + 1, l->first, (size_t)l->touched_count * sizeof *l->first);
    l->first[0] = 0;
    return true;
}

/* ---- Colours --------------------------------------------------------------------------------- */

typedef struct colour_set {
    uint64_t bits[SINEW_VISIT_COLOURS_MAX / 64];
} colour_set;

static bool has_colour(const colour_set *set, int32_t colour)
{
    return set->bits[colour / 64] >> colour % 64 & 1;
}

static void add_colour(colour_set *set, int32_t colour)
{
    if (colour >= 0)
        set->bits[colour / 64] |= (uint64_t)1 << colour % 64;
}

/* Real visits of a node in a fixed batch: they come before the fillers of its lane. */
static int32_t count_copies(const sinew_visits *v, const sinew_visit_batch *b, int32_t place)
{
    const int32_t W = v->lanes->width, group = place / W;
    int32_t k = b->first_visit[group];
    while (k < b->first_visit[group + 1] && b->element[(size_t)k * (size_t)W + (size_t)(place % W)] >= 0)
        k++;
    return k - b->first_visit[group];
}

/* Colours of the nodes that share an element with node number t. */
static colour_set colours_around(const sinew_visits *v, const sinew_visit_layer *l, int32_t t)
{
    const int32_t node = l->touched[t], place = l->place[node];
    const size_t W = (size_t)v->lanes->width, lane = (size_t)place % W;
    colour_set around = {0};
    for (int32_t i = 0; i < v->fixed.batch_count; i++) {
        const sinew_visit_batch *b = &v->fixed.batches[i];
        const size_t O = (size_t)b->ops->other_count, first = (size_t)b->first_visit[(size_t)place / W];
        for (size_t k = first; k < first + (size_t)count_copies(v, b, place); k++)
            for (size_t o = 0; o < O; o++) {
                const int32_t other = b->others[(k * O + o) * W + lane] / SINEW_POINT;
                add_colour(&around, other == node ? -1 : l->colour[other]);
            }
    }
    for (int32_t k = l->first[t]; k < l->first[t + 1]; k++) {
        const int32_t *particles = particles_of(v, l, l->touches[k]);
        for (int32_t a = 0; a < v->layer.batches[l->touches[k].batch].ops->info.vertex_count; a++)
            add_colour(&around, particles[a] == node ? -1 : l->colour[particles[a]]);
    }
    return around;
}

/* One node after the other keeps its colour, or takes the lowest free one. */
static sinew_status recolour(sinew_visits *v, sinew_visit_layer *l, sinew_error *error)
{
    for (int32_t t = 0; t < l->touched_count; t++) {
        int32_t *colour = &l->colour[l->touched[t]];
        const colour_set around = colours_around(v, l, t);
        if (has_colour(&around, *colour))
            for (*colour = 0; *colour < SINEW_VISIT_COLOURS_MAX && has_colour(&around, *colour);)
                ++*colour;
        if (*colour == SINEW_VISIT_COLOURS_MAX)
            return sinew_visit_fail_colours(SINEW_VISIT_COLOURS_MAX + 1, error);
        l->colours[t] = *colour;
        v->layer.colour_count = *colour + 1 > v->layer.colour_count ? *colour + 1 : v->layer.colour_count;
    }
    if (v->layer.colour_count > v->colour_count)
        v->colour_count = v->layer.colour_count;
    return SINEW_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Visits of the layer's groups, of one of its batches. */
typedef struct layer_supply {
    const sinew_visits *visits;
    const sinew_visit_layer *layer;
    int32_t batch;
} layer_supply;

static int32_t count_fixed(const void *context, int32_t node)
{
    const layer_supply *s = context;
    return count_copies(s->visits, &s->visits->fixed.batches[s->batch], s->layer->place[node]);
}

static void copy_fixed(const void *context, const sinew_visit_batch *to, size_t k, size_t lane, int32_t node,
                       int32_t which, bool real)
{
    const layer_supply *s = context;
    const sinew_visit_batch *from = &s->visits->fixed.batches[s->batch];
    const size_t W = (size_t)s->visits->lanes->width, D = (size_t)to->ops->visit_data_count;
    const size_t O = (size_t)to->ops->other_count, place = (size_t)s->layer->place[node], there = place % W;
    const size_t visit = (size_t)(from->first_visit[place / W] + which);
    for (size_t i = 0; i < D; i++)
        to->data[(k * D + i) * W + lane] = from->data[(visit * D + i) * W + there];
    for (size_t i = 0; i < O; i++)
        to->others[(k * O + i) * W + lane] = from->others[(visit * O + i) * W + there];
    to->element[k * W + lane] = real ? from->element[visit * W + there] : -1;
    if (!real)
        to->data[k * D * W + lane] = 0;
}

/* A node's touches by elements of one batch: they follow each other. */
static int32_t first_touch(const layer_supply *s, int32_t node, int32_t *end)
{
    const sinew_visit_layer *l = s->layer;
    const int32_t t = l->number[node];
    int32_t k = l->first[t];
    while (k < l->first[t + 1] && l->touches[k].batch < s->batch)
        k++;
    for (*end = k; *end < l->first[t + 1] && l->touches[*end].batch == s->batch;)
        ++*end;
    return k;
}

static int32_t count_transient(const void *context, int32_t node)
{
    int32_t end;
    const int32_t first = first_touch(context, node, &end);
    return end - first;
}

static void write_transient(const void *context, const sinew_visit_batch *to, size_t k, size_t lane, int32_t node,
                            int32_t which, bool real)
{
    const layer_supply *s = context;
    int32_t end;
    const touch t = s->layer->touches[first_touch(s, node, &end) + which];
    sinew_visit_write(s->visits, to, particles_of(s->visits, s->layer, t), t.element, node, real, k, lane);
}

static bool fill_batches(sinew_visits *v, const sinew_visit_layer *l)
{
    bool good = true;
    for (int32_t b = 0; good && b < v->layer.batch_count; b++) {
        const layer_supply from = {v, l, b};
        const bool copied = b < v->fixed.batch_count;
        const sinew_visit_supply supply = {&from, copied ? count_fixed : count_transient,
                                           copied ? copy_fixed : write_transient};
        good = sinew_visit_batch_fill(v, &v->layer, &v->layer.batches[b], &supply);
    }
    return good;
}

/* Takes the touched nodes out of the fixed groups and puts them, by colour, into those of the layer. */
static bool fill_groups(sinew_visits *v, sinew_visit_layer *l)
{
    for (int32_t t = 0; t < l->touched_count; t++) {
        const int32_t node = l->touched[t];
        l->load[node] = l->first[t + 1] - l->first[t];
        for (int32_t b = 0; b < v->fixed.batch_count; b++)
            l->load[node] += count_copies(v, &v->fixed.batches[b], l->place[node]);
        v->fixed.mass[l->place[node]] = 0;
    }
    sinew_colour_groups(l->colours, l->touched_count, v->layer.colour_count, l->first_of_colour, l->order);
    for (int32_t t = 0; t < l->touched_count; t++)
        l->order[t] = l->touched[l->order[t]];
    return sinew_visit_groups_fill(v, &v->layer, l->order, l->first_of_colour, l->load) && fill_batches(v, l);
}

sinew_status sinew_visits_refresh(sinew_visits *v, sinew_error *error)
{
    size_t count;
    put_back(v);
    if (v->objective->task_count == v->objective->fixed_task_count)
        return SINEW_OK;
    sinew_visit_layer *l = make_layer(v);
    if (!l || !find_batches(v, l) || !list_elements(v, l, &count) || !find_touched(v, l, count))
        return sinew_fail_memory(error, "the visits of nodes");
    const sinew_status status = recolour(v, l, error);
    if (status != SINEW_OK)
        return status;
    return fill_groups(v, l) ? SINEW_OK : sinew_fail_memory(error, "the visits of nodes");
}
