/* SPDX-License-Identifier: MIT
 *
 * transient_layout.c: colours the nodes of transient elements (coupled nodes), and moves them with all their incidences
 * from fixed to transient groups. See vertex_layout.h.
 *
 * Fixed groups are unchanged except for the masses of coupled nodes, which are zero until the next update. All arrays
 * are reused, and arrays over particles are reset only at coupled nodes.
 */
#include <string.h>

#include "mesh/topology.h"
#include "solve/vertex_sweep/vertex_layout_internal.h"

/* One element of a transient energy at a coupled node. */
typedef struct transient_incidence {
    int32_t batch, element; /* batch: index of the incidence batch in the transient groups; element: index in it */
} transient_incidence;

typedef struct sinew_transient_layout {
    sinew_incidence_sources sources; /* sources of the incidence batches of transient energies */
    int32_t *slot;                   /* [particle_count] index of each free node in fixed.node; -1: pinned */
    int32_t *colour;                 /* [particle_count] colour of each free node; -1: pinned */
    int32_t *number;                 /* [particle_count] index in `coupled` of each node; -1: not coupled */
    int32_t *load; /* [particle_count] number of elements at each coupled node, by which nodes are sorted */
    int32_t coupled_count;
    int32_t *coupled; /* [coupled_count] free particles of transient elements, in the order of these elements */
    int32_t *first;   /* [coupled_count + 1] index in `incidences` of each coupled node's first entry */
    /* [first[coupled_count]] incidences of all coupled nodes, sorted by node, batch and element */
    transient_incidence *incidences;
    int32_t *particles; /* [entries of all transient batches] particles of their elements, batch by batch */
    /* [incidence batches of transient energies] index of each batch's first entry in `particles` */
    size_t *first_entry;
    int32_t *colours, *order; /* [coupled_count] colour of each coupled node; coupled nodes sorted by colour */
    int32_t first_of_colour[SINEW_INCIDENCE_COLOURS_MAX + 1]; /* index in `order` of each colour's first node */
    /* allocated sizes of the arrays of coupled nodes, in bytes */
    size_t coupled_capacity, first_capacity, incidence_capacity, particle_bytes;
    size_t entry_capacity, colour_capacity, order_capacity;
} sinew_transient_layout;

/* ---- Memory of the transient layout ---------------------------------------------------------- */

/* Fills l->slot and l->colour from the fixed groups, with no node coupled. */
static void find_node_slots(const sinew_vertex_layout *v, sinew_transient_layout *l)
{
    const sinew_incidence_groups *g = &v->fixed;
    const int32_t W = v->simd->width;
    for (int32_t i = 0; i < v->objective->particle_count; i++)
        l->slot[i] = l->colour[i] = l->number[i] = -1;
    for (int32_t c = 0; c < g->colour_count; c++)
        for (int32_t slot = g->first_group[c] * W; slot < g->first_group[c + 1] * W; slot++)
            if (g->mass[slot] > 0) {
                l->slot[g->node[slot] / SINEW_POINT] = slot;
                l->colour[g->node[slot] / SINEW_POINT] = c;
            }
}

static sinew_transient_layout *make_transient_layout(sinew_vertex_layout *v)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t count = (size_t)v->objective->particle_count;
    if (v->transient_work)
        return v->transient_work;
    sinew_transient_layout *l = v->transient_work = sinew_allocate_zero(allocator, 1, sizeof *l);
    if (!l)
        return NULL;
    l->slot = sinew_allocate(allocator, count, sizeof *l->slot);
    l->colour = sinew_allocate(allocator, count, sizeof *l->colour);
    l->number = sinew_allocate(allocator, count, sizeof *l->number);
    l->load = sinew_allocate(allocator, count, sizeof *l->load);
    if (!l->slot || !l->colour || !l->number || !l->load)
        return NULL;
    find_node_slots(v, l);
    return l;
}

void sinew_transient_layout_destroy(sinew_vertex_layout *v)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    sinew_transient_layout *l = v->transient_work;
    sinew_incidence_groups_release(&v->transient, allocator);
    if (!l)
        return;
    sinew_incidence_sources_release(&l->sources, allocator);
    void *arrays[] = {l->slot,       l->colour,    l->number,      l->load,    l->coupled, l->first,
                      l->incidences, l->particles, l->first_entry, l->colours, l->order,   l};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    v->transient_work = NULL;
}

/* ---- Coupled nodes: free nodes of transient elements ----------------------------------------- */

/* Colour of the node that has index `slot` in fixed.node. */
static int32_t colour_at(const sinew_vertex_layout *v, int32_t slot)
{
    const int32_t group = slot / v->simd->width;
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

/* Returns all coupled nodes from the transient groups to the fixed groups. */
static void return_coupled_nodes(sinew_vertex_layout *v)
{
    sinew_transient_layout *l = v->transient_work;
    for (int32_t t = 0; l && t < l->coupled_count; t++) {
        const int32_t node = l->coupled[t];
        v->fixed.mass[l->slot[node]] = v->objective->step.mass[node];
        l->colour[node] = colour_at(v, l->slot[node]);
        l->number[node] = -1;
    }
    if (l)
        l->coupled_count = 0;
    v->transient.batch_count = v->transient.group_count = v->transient.colour_count = 0;
    v->transient.checked = v->fixed.checked;
    v->colour_count = v->fixed.colour_count;
}

/* Creates the incidence batches of the transient groups: copies of the fixed ones, with the same sources, then those of
 * transient energies. */
static bool create_transient_batches(sinew_vertex_layout *v, sinew_transient_layout *l)
{
    sinew_incidence_groups *g = &v->transient;
    const int32_t fixed = v->fixed.batch_count;
    if (!sinew_incidence_groups_reserve(g, fixed, &v->objective->allocator))
        return false;
    for (int32_t b = 0; b < fixed; b++) {
        sinew_incidence_batch *copy = &g->batches[b];
        const sinew_incidence_batch *from = &v->fixed.batches[b];
        copy->ops = from->ops;
        copy->source_count = from->source_count;
        copy->sources = from->sources;
        copy->first_element = from->first_element;
        copy->versions = from->versions;
        copy->forms = from->forms;
    }
    g->batch_count = fixed;
    return sinew_incidence_sources_find(v, g, v->objective->fixed_task_count, v->objective->task_count, false,
                                        &l->sources);
}

/* Lists the particles of all transient elements; *count: number of listed particles. */
static bool transient_list_elements(const sinew_vertex_layout *v, sinew_transient_layout *l, size_t *count)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const int32_t fixed = v->fixed.batch_count, batches = v->transient.batch_count - fixed;
    *count = 0;
    if (!sinew_reserve_spare(allocator, &l->first_entry, &l->entry_capacity, (size_t)batches, sizeof *l->first_entry))
        return false;
    for (int32_t i = 0; i < batches; i++) {
        const sinew_incidence_batch *b = &v->transient.batches[fixed + i];
        l->first_entry[i] = *count;
        *count += (size_t)b->first_element[b->source_count] * (size_t)b->ops->info.vertex_count;
    }
    if (!sinew_reserve_spare(allocator, &l->particles, &l->particle_bytes, *count, sizeof *l->particles))
        return false;
    for (int32_t i = 0; i < batches; i++) {
        const sinew_incidence_batch *b = &v->transient.batches[fixed + i];
        for (int32_t k = 0; k < b->source_count; k++)
            sinew_batch_list_particles(b->sources[k],
                                       l->particles + l->first_entry[i] +
                                           (size_t)b->first_element[k] * (size_t)b->ops->info.vertex_count);
    }
    return true;
}

static const int32_t *particles_of(const sinew_vertex_layout *v, const sinew_transient_layout *l, transient_incidence t)
{
    const size_t n = (size_t)v->transient.batches[t.batch].ops->info.vertex_count;
    return l->particles + l->first_entry[t.batch - v->fixed.batch_count] + n * (size_t)t.element;
}

/* True if vertex a repeats an earlier vertex: an element may contain a particle more than once, but has one incidence
 * with it. */
static bool is_repeat(const int32_t *particles, int32_t a)
{
    for (int32_t i = 0; i < a; i++)
        if (particles[i] == particles[a])
            return true;
    return false;
}

typedef void transient_visitor(sinew_transient_layout *l, int32_t node, transient_incidence t);

/* Calls `act` for every free node of every transient element, in the order of elements. */
static void visit_transient(const sinew_vertex_layout *v, sinew_transient_layout *l, transient_visitor *act)
{
    for (int32_t b = v->fixed.batch_count; b < v->transient.batch_count; b++) {
        const sinew_incidence_batch *batch = &v->transient.batches[b];
        for (int32_t e = 0; e < batch->first_element[batch->source_count]; e++) {
            const transient_incidence t = {b, e};
            const int32_t *particles = particles_of(v, l, t);
            for (int32_t a = 0; a < batch->ops->info.vertex_count; a++)
                if (l->slot[particles[a]] >= 0 && !is_repeat(particles, a))
                    act(l, particles[a], t);
        }
    }
}

/* Adds a node to `coupled` at its first visit, and counts its incidences in `first` of the next node. */
static void count_transient_incidence(sinew_transient_layout *l, int32_t node, transient_incidence t)
{
    (void)t;
    if (l->number[node] < 0) {
        l->number[node] = l->coupled_count;
        l->coupled[l->coupled_count++] = node;
        l->first[l->coupled_count] = 0;
    }
    l->first[l->number[node] + 1]++;
}

static void write_transient_incidence(sinew_transient_layout *l, int32_t node, transient_incidence t)
{
    l->incidences[l->first[l->number[node]]++] = t;
}

/* Finds the free nodes of transient elements, at most `count`, and their incidences. */
static bool find_coupled_nodes(const sinew_vertex_layout *v, sinew_transient_layout *l, size_t count)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t limit = (size_t)v->objective->particle_count, max = count < limit ? count : limit;
    if (!sinew_reserve_spare(allocator, &l->coupled, &l->coupled_capacity, max, sizeof *l->coupled) ||
        !sinew_reserve_spare(allocator, &l->first, &l->first_capacity, max + 1, sizeof *l->first) ||
        !sinew_reserve_spare(allocator, &l->colours, &l->colour_capacity, max, sizeof *l->colours) ||
        !sinew_reserve_spare(allocator, &l->order, &l->order_capacity, max, sizeof *l->order) ||
        !sinew_reserve_spare(allocator, &l->incidences, &l->incidence_capacity, count, sizeof *l->incidences))
        return false;
    l->first[0] = 0;
    visit_transient(v, l, count_transient_incidence);
    for (int32_t t = 0; t < l->coupled_count; t++)
        l->first[t + 1] += l->first[t];
    visit_transient(v, l, write_transient_incidence);
    /* The second visit has advanced the start of each node to that of the next node; the shift restores the starts. */
    memmove(l->first + 1, l->first, (size_t)l->coupled_count * sizeof *l->first);
    l->first[0] = 0;
    return true;
}

/* ---- Colours of coupled nodes ---------------------------------------------------------------- */

typedef struct colour_set {
    uint64_t bits[SINEW_INCIDENCE_COLOURS_MAX / 64];
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

/* Number of real incidences of a node in a fixed incidence batch; padding follows them in the lane of the node. */
static int32_t count_fixed_incidences(const sinew_vertex_layout *v, const sinew_incidence_batch *b, int32_t slot)
{
    const int32_t W = v->simd->width, group = slot / W;
    int32_t k = b->first_incidence[group];
    while (k < b->first_incidence[group + 1] && b->element[(size_t)k * (size_t)W + (size_t)(slot % W)] >= 0)
        k++;
    return k - b->first_incidence[group];
}

/* Colours of the nodes that share an element with coupled node t. */
static colour_set neighbour_colours(const sinew_vertex_layout *v, const sinew_transient_layout *l, int32_t t)
{
    const int32_t node = l->coupled[t], slot = l->slot[node];
    const size_t W = (size_t)v->simd->width, lane = (size_t)slot % W;
    colour_set around = {0};
    for (int32_t i = 0; i < v->fixed.batch_count; i++) {
        const sinew_incidence_batch *b = &v->fixed.batches[i];
        const size_t O = (size_t)b->ops->other_count, first = (size_t)b->first_incidence[(size_t)slot / W];
        for (size_t k = first; k < first + (size_t)count_fixed_incidences(v, b, slot); k++)
            for (size_t o = 0; o < O; o++) {
                const int32_t other = b->others[(k * O + o) * W + lane] / SINEW_POINT;
                add_colour(&around, other == node ? -1 : l->colour[other]);
            }
    }
    for (int32_t k = l->first[t]; k < l->first[t + 1]; k++) {
        const int32_t *particles = particles_of(v, l, l->incidences[k]);
        for (int32_t a = 0; a < v->transient.batches[l->incidences[k].batch].ops->info.vertex_count; a++)
            add_colour(&around, particles[a] == node ? -1 : l->colour[particles[a]]);
    }
    return around;
}

/* Each coupled node keeps its colour if no neighbour has it, else takes the lowest free colour. */
static sinew_status recolour_coupled(sinew_vertex_layout *v, sinew_transient_layout *l, sinew_error *error)
{
    for (int32_t t = 0; t < l->coupled_count; t++) {
        int32_t *colour = &l->colour[l->coupled[t]];
        const colour_set around = neighbour_colours(v, l, t);
        if (has_colour(&around, *colour))
            for (*colour = 0; *colour < SINEW_INCIDENCE_COLOURS_MAX && has_colour(&around, *colour);)
                ++*colour;
        if (*colour == SINEW_INCIDENCE_COLOURS_MAX)
            return sinew_incidence_fail_colours(SINEW_INCIDENCE_COLOURS_MAX + 1, error);
        l->colours[t] = *colour;
        v->transient.colour_count = *colour + 1 > v->transient.colour_count ? *colour + 1 : v->transient.colour_count;
    }
    if (v->transient.colour_count > v->colour_count)
        v->colour_count = v->transient.colour_count;
    return SINEW_OK;
}

/* ---- Groups of coupled nodes ----------------------------------------------------------------- */

/* Arguments that give the incidences of one incidence batch of the transient groups. */
typedef struct transient_supply {
    const sinew_vertex_layout *layout;
    const sinew_transient_layout *work;
    int32_t batch;
} transient_supply;

static int32_t transient_count_fixed(const void *context, int32_t node)
{
    const transient_supply *s = context;
    return count_fixed_incidences(s->layout, &s->layout->fixed.batches[s->batch], s->work->slot[node]);
}

static void copy_fixed_incidence(const void *context, const sinew_incidence_batch *to, size_t k, size_t lane,
                                 int32_t node, int32_t which, bool real)
{
    const transient_supply *s = context;
    const sinew_incidence_batch *from = &s->layout->fixed.batches[s->batch];
    const size_t W = (size_t)s->layout->simd->width, D = (size_t)to->ops->incidence_data_count;
    const size_t O = (size_t)to->ops->other_count, slot = (size_t)s->work->slot[node], there = slot % W;
    const size_t incidence = (size_t)(from->first_incidence[slot / W] + which);
    for (size_t i = 0; i < D; i++)
        to->data[(k * D + i) * W + lane] = from->data[(incidence * D + i) * W + there];
    for (size_t i = 0; i < O; i++)
        to->others[(k * O + i) * W + lane] = from->others[(incidence * O + i) * W + there];
    to->element[k * W + lane] = real ? from->element[incidence * W + there] : -1;
    if (!real)
        to->data[k * D * W + lane] = 0;
}

/* Returns the index of a node's first incidence in an incidence batch, and writes the end of these incidences, which
 * are contiguous. */
static int32_t first_transient_incidence(const transient_supply *s, int32_t node, int32_t *end)
{
    const sinew_transient_layout *l = s->work;
    const int32_t t = l->number[node];
    int32_t k = l->first[t];
    while (k < l->first[t + 1] && l->incidences[k].batch < s->batch)
        k++;
    for (*end = k; *end < l->first[t + 1] && l->incidences[*end].batch == s->batch;)
        ++*end;
    return k;
}

static int32_t count_transient(const void *context, int32_t node)
{
    int32_t end;
    const int32_t first = first_transient_incidence(context, node, &end);
    return end - first;
}

static void write_transient(const void *context, const sinew_incidence_batch *to, size_t k, size_t lane, int32_t node,
                            int32_t which, bool real)
{
    const transient_supply *s = context;
    int32_t end;
    const transient_incidence t = s->work->incidences[first_transient_incidence(s, node, &end) + which];
    sinew_incidence_write(s->layout, to, particles_of(s->layout, s->work, t), t.element, node, real, k, lane);
}

static bool fill_batches(sinew_vertex_layout *v, const sinew_transient_layout *l)
{
    bool good = true;
    for (int32_t b = 0; good && b < v->transient.batch_count; b++) {
        const transient_supply from = {v, l, b};
        const bool copied = b < v->fixed.batch_count;
        const sinew_incidence_supply supply = {&from, copied ? transient_count_fixed : count_transient,
                                               copied ? copy_fixed_incidence : write_transient};
        good = sinew_incidence_batch_fill(v, &v->transient, &v->transient.batches[b], &supply);
    }
    return good;
}

/* Moves the coupled nodes from the fixed groups to the transient groups, by colour. */
static bool fill_groups(sinew_vertex_layout *v, sinew_transient_layout *l)
{
    for (int32_t t = 0; t < l->coupled_count; t++) {
        const int32_t node = l->coupled[t];
        l->load[node] = l->first[t + 1] - l->first[t];
        for (int32_t b = 0; b < v->fixed.batch_count; b++)
            l->load[node] += count_fixed_incidences(v, &v->fixed.batches[b], l->slot[node]);
        v->fixed.mass[l->slot[node]] = 0;
    }
    sinew_colour_groups(l->colours, l->coupled_count, v->transient.colour_count, l->first_of_colour, l->order);
    for (int32_t t = 0; t < l->coupled_count; t++)
        l->order[t] = l->coupled[l->order[t]];
    return sinew_incidence_groups_fill(v, &v->transient, l->order, l->first_of_colour, l->load) && fill_batches(v, l);
}

sinew_status sinew_vertex_layout_refresh(sinew_vertex_layout *v, sinew_error *error)
{
    size_t count;
    return_coupled_nodes(v);
    if (v->objective->task_count == v->objective->fixed_task_count)
        return SINEW_OK;
    sinew_transient_layout *l = make_transient_layout(v);
    if (!l || !create_transient_batches(v, l) || !transient_list_elements(v, l, &count) ||
        !find_coupled_nodes(v, l, count))
        return sinew_fail_memory(error, "the incidences of nodes");
    const sinew_status status = recolour_coupled(v, l, error);
    if (status != SINEW_OK)
        return status;
    return fill_groups(v, l) ? SINEW_OK : sinew_fail_memory(error, "the incidences of nodes");
}
