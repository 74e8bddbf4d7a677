/* SPDX-License-Identifier: MIT
 *
 * vertex_layout.c: colours nodes and lays their incidences out. See vertex_layout.h.
 */
#include "solve/vertex_sweep/vertex_layout.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/topology/stencil.h"
#include "mesh/topology.h"
#include "solve/vertex_sweep/vertex_layout_internal.h"

/* ---- Sources of incidence batches ------------------------------------------------------------ */

static bool is_coupling(const sinew_energy_ops *ops)
{
    return sinew_get_stencil(ops->info.stencil)->couples;
}

bool sinew_incidence_groups_reserve(sinew_incidence_groups *g, int32_t count, const sinew_allocator *allocator)
{
    if (g->batches && count <= g->batch_limit)
        return true;
    const int32_t limit = g->batches ? count + count / 2 : count;
    sinew_incidence_batch *grown =
        sinew_reallocate(allocator, g->batches, (size_t)g->batch_limit, (size_t)limit, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + g->batch_limit, 0, (size_t)(limit - g->batch_limit) * sizeof *grown);
    g->batches = grown;
    g->batch_limit = limit;
    return true;
}

/* Index of the incidence batch of an energy, `first` or later; created if there is none. `apart`: one that couples
 * arbitrary points always gets a new batch. */
static int32_t find_incidence_batch(sinew_incidence_groups *g, int32_t first, const sinew_energy_ops *ops, bool apart)
{
    for (int32_t b = first; !(apart && is_coupling(ops)) && b < g->batch_count; b++)
        if (g->batches[b].ops == ops)
            return b;
    g->batches[g->batch_count].ops = ops;
    g->batches[g->batch_count].source_count = 0;
    return g->batch_count++;
}

static void count_sources(const sinew_vertex_layout *v, sinew_incidence_groups *g, int32_t begin, int32_t end,
                          bool apart, int32_t *which)
{
    const uint32_t bound = v->exact ? SINEW_BOUND_EXACT : SINEW_BOUND_CHEAP;
    const int32_t first = g->batch_count;
    for (int32_t t = begin; t < end; t++) {
        const sinew_energy_ops *ops = v->objective->tasks[t].batch->ops;
        which[t - begin] = -1;
        if (!sinew_task_begins(v->objective, t))
            continue;
        which[t - begin] = find_incidence_batch(g, first, ops, apart);
        g->batches[which[t - begin]].source_count++;
        g->checked |= !(ops->vertex_bounds & bound);
    }
}

/* Assigns ranges of the source lists to the incidence batches from `first` on, and fills them. */
static void list_sources(const sinew_vertex_layout *v, sinew_incidence_groups *g, int32_t first, int32_t begin,
                         int32_t end, const sinew_incidence_sources *s)
{
    for (int32_t b = first, at = 0; b < g->batch_count; b++) {
        sinew_incidence_batch *batch = &g->batches[b];
        batch->sources = s->list + at;
        batch->first_element = s->first_element + at + (b - first);
        batch->versions = s->versions + at;
        batch->forms = s->versions + (end - begin) + at;
        batch->first_element[0] = 0;
        at += batch->source_count;
        batch->source_count = 0;
    }
    for (int32_t t = begin; t < end; t++) {
        const sinew_batch *source = v->objective->tasks[t].batch;
        if (s->which[t - begin] < 0)
            continue;
        sinew_incidence_batch *b = &g->batches[s->which[t - begin]];
        b->sources[b->source_count] = source;
        b->versions[b->source_count] = source->version;
        b->forms[b->source_count] = source->form_version;
        b->first_element[b->source_count + 1] = b->first_element[b->source_count] + source->element_count;
        b->source_count++;
    }
}

/* Reserves v->weights for the incidence batch with most elements, from batch `first` on. */
static bool reserve_weights(sinew_vertex_layout *v, const sinew_incidence_groups *g, int32_t first)
{
    int32_t max = 0;
    for (int32_t b = first; b < g->batch_count; b++) {
        const int32_t count = g->batches[b].first_element[g->batches[b].source_count];
        max = count > max ? count : max;
    }
    return sinew_reserve(&v->objective->allocator, &v->weights, &v->weight_capacity, (size_t)max, sizeof *v->weights);
}

bool sinew_incidence_sources_find(sinew_vertex_layout *v, sinew_incidence_groups *g, int32_t begin, int32_t end,
                                  bool apart, sinew_incidence_sources *s)
{
    const sinew_allocator *a = &v->objective->allocator;
    const size_t tasks = (size_t)(end - begin);
    const int32_t first = g->batch_count;
    if (!sinew_incidence_groups_reserve(g, first + end - begin, a) ||
        !sinew_reserve(a, &s->list, &s->list_capacity, tasks, sizeof *s->list) ||
        !sinew_reserve(a, &s->first_element, &s->first_capacity, 2 * tasks, sizeof *s->first_element) ||
        !sinew_reserve(a, &s->versions, &s->version_capacity, 2 * tasks, sizeof *s->versions) ||
        !sinew_reserve(a, &s->which, &s->which_capacity, tasks, sizeof *s->which))
        return false;
    count_sources(v, g, begin, end, apart, s->which);
    list_sources(v, g, first, begin, end, s);
    return reserve_weights(v, g, first);
}

void sinew_incidence_sources_release(sinew_incidence_sources *s, const sinew_allocator *allocator)
{
    sinew_release(allocator, s->list);
    sinew_release(allocator, s->first_element);
    sinew_release(allocator, s->versions);
    sinew_release(allocator, s->which);
    *s = (sinew_incidence_sources){0};
}

/* ---- Elements of the incidence batches ------------------------------------------------------- */

/* Work space for laying out the fixed groups of nodes; released afterwards. */
typedef struct fixed_work {
    sinew_elements *lists;       /* [batch_count] elements of each incidence batch, in the order of its sources */
    sinew_incidence *incidences; /* [batch_count] incidences (elements at each node) of each batch */
    int32_t *colours;            /* [particle_count] colour of each particle (node) for the sweep */
    /* [particle_count] free nodes sorted by colour; [colour_count + 1] index of each colour's first node */
    int32_t *order, *first;
    int32_t *load; /* [particle_count] number of elements that contain each particle */
} fixed_work;

static void vertex_layout_release_work(const sinew_vertex_layout *v, fixed_work *w)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    for (int32_t b = 0; b < v->fixed.batch_count; b++) {
        if (w->lists)
            sinew_release(allocator, (int32_t *)w->lists[b].vertices);
        if (w->incidences)
            sinew_incidence_free(&w->incidences[b], allocator);
    }
    void *arrays[] = {w->lists, w->incidences, w->colours, w->order, w->first, w->load};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
}

static bool vertex_layout_list_elements(const sinew_vertex_layout *v, fixed_work *w)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t particles = (size_t)v->objective->particle_count;
    w->lists = sinew_allocate_zero(allocator, (size_t)v->fixed.batch_count, sizeof *w->lists);
    w->incidences = sinew_allocate_zero(allocator, (size_t)v->fixed.batch_count, sizeof *w->incidences);
    w->colours = sinew_allocate_zero(allocator, particles, sizeof *w->colours);
    w->order = sinew_allocate(allocator, particles, sizeof *w->order);
    w->load = sinew_allocate_zero(allocator, particles, sizeof *w->load);
    bool good = w->lists && w->incidences && w->colours && w->order && w->load;
    for (int32_t b = 0; good && b < v->fixed.batch_count; b++) {
        const sinew_incidence_batch *batch = &v->fixed.batches[b];
        const int32_t count = batch->first_element[batch->source_count], size = batch->ops->info.vertex_count;
        int32_t *vertices = sinew_allocate(allocator, (size_t)count * (size_t)size, sizeof *vertices);
        w->lists[b] = (sinew_elements){vertices, count, size};
        good = vertices != NULL;
        for (int32_t k = 0; good && k < batch->source_count; k++)
            sinew_batch_list_particles(batch->sources[k], vertices + (size_t)batch->first_element[k] * (size_t)size);
    }
    return good;
}

static sinew_status find_incidences(const sinew_vertex_layout *v, fixed_work *w, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    sinew_status status =
        vertex_layout_list_elements(v, w) ? SINEW_OK : sinew_fail_memory(error, "the incidences of nodes");
    for (int32_t b = 0; status == SINEW_OK && b < v->fixed.batch_count; b++) {
        status = sinew_incidence_build(&w->incidences[b], &o->allocator, o->particle_count, &w->lists[b], error);
        for (int32_t i = 0; status == SINEW_OK && i < o->particle_count; i++)
            w->load[i] += (int32_t)(w->incidences[b].first[i + 1] - w->incidences[b].first[i]);
    }
    return status;
}

/* ---- Colours of nodes for parallel sweeps ---------------------------------------------------- */

/* Collects the element lists of coupling energies, or of all others; returns their number. */
static int32_t pick_lists(const sinew_vertex_layout *v, const fixed_work *w, bool couplings, sinew_elements *out)
{
    int32_t count = 0;
    for (int32_t b = 0; b < v->fixed.batch_count; b++)
        if (is_coupling(v->fixed.batches[b].ops) == couplings)
            out[count++] = w->lists[b];
    return count;
}

sinew_status sinew_incidence_fail_colours(int32_t count, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "the particles need %d colours, as some element joins a particle to very many others, and "
                      "there may be %d; use newton or qn, or remove elements",
                      count, SINEW_INCIDENCE_COLOURS_MAX);
}

static sinew_status find_colours(sinew_vertex_layout *v, fixed_work *w, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    int32_t *count = &v->fixed.colour_count;
    sinew_elements *lists = sinew_allocate(&o->allocator, (size_t)v->fixed.batch_count, sizeof *lists);
    if (!lists)
        return sinew_fail_memory(error, "the incidences of nodes");
    const int32_t plain = pick_lists(v, w, false, lists), couplings = pick_lists(v, w, true, lists + plain);
    sinew_status status =
        sinew_colour_vertices(&o->allocator, o->particle_count, lists, plain, w->colours, count, error);
    for (int32_t k = 0; status == SINEW_OK && k < couplings; k++)
        status = sinew_recolour_vertices(&o->allocator, o->particle_count, lists, plain + k, &lists[plain + k],
                                         w->colours, count, error);
    sinew_release(&o->allocator, lists);
    return status == SINEW_OK && *count > SINEW_INCIDENCE_COLOURS_MAX ? sinew_incidence_fail_colours(*count, error)
                                                                      : status;
}

/* ---- SIMD groups of nodes by colour ---------------------------------------------------------- */

/* Sorts the nodes of each window by descending number of elements, stably: an insertion sort, as runs of equal numbers
 * are long. */
static void sort_windows(int32_t *order, int32_t begin, int32_t end, const int32_t *load)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t window = begin + (i - begin) / SINEW_INCIDENCE_WINDOW * SINEW_INCIDENCE_WINDOW, node = order[i];
        int32_t k = i;
        for (; k > window && load[order[k - 1]] < load[node]; k--)
            order[k] = order[k - 1];
        order[k] = node;
    }
}

static void fill_nodes(const sinew_vertex_layout *v, sinew_incidence_groups *g, const int32_t *order,
                       const int32_t *first)
{
    const int32_t W = v->simd->width;
    for (int32_t c = 0; c < g->colour_count; c++)
        for (int32_t padded_index = g->first_group[c] * W; padded_index < g->first_group[c + 1] * W; padded_index++) {
            const int32_t k = first[c] + (padded_index - g->first_group[c] * W);
            const bool filler = k >= first[c + 1];
            g->node[padded_index] = filler ? g->node[padded_index / W * W] : SINEW_POINT * order[k];
            g->mass[padded_index] = filler ? 0 : v->objective->step.mass[g->node[padded_index] / SINEW_POINT];
        }
}

/* Grows a buffer of the layout, with spare capacity for transient groups: their size varies. */
static bool vertex_layout_reserve_buffers(const sinew_vertex_layout *v, const sinew_incidence_groups *g, void *slot,
                                          size_t *capacity, size_t count, size_t size)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    return g == &v->transient ? sinew_reserve_spare(allocator, slot, capacity, count, size)
                              : sinew_reserve(allocator, slot, capacity, count, size);
}

bool sinew_incidence_groups_fill(const sinew_vertex_layout *v, sinew_incidence_groups *g, int32_t *order,
                                 const int32_t *first, const int32_t *load)
{
    const int32_t W = v->simd->width;
    if (!vertex_layout_reserve_buffers(v, g, &g->first_group, &g->first_capacity, (size_t)g->colour_count + 1,
                                       sizeof *g->first_group))
        return false;
    g->first_group[0] = 0;
    for (int32_t c = 0; c < g->colour_count; c++) {
        sort_windows(order, first[c], first[c + 1], load);
        g->first_group[c + 1] = g->first_group[c] + (first[c + 1] - first[c] + W - 1) / W;
    }
    g->group_count = g->first_group[g->colour_count];
    const size_t padded_count = (size_t)g->group_count * (size_t)W;
    if (!vertex_layout_reserve_buffers(v, g, &g->node, &g->node_capacity, padded_count, sizeof *g->node) ||
        !vertex_layout_reserve_buffers(v, g, &g->mass, &g->mass_capacity, padded_count, sizeof *g->mass))
        return false;
    fill_nodes(v, g, order, first);
    return true;
}

/* Removes pinned nodes from the list of nodes sorted by colour. */
static void drop_pinned(const sinew_vertex_layout *v, fixed_work *w)
{
    const uint8_t *pinned = v->objective->step.pinned;
    int32_t kept = 0;
    for (int32_t c = 0, at = 0; c < v->fixed.colour_count; c++) {
        const int32_t end = w->first[c + 1], start = kept;
        for (; at < end; at++)
            if (!pinned[w->order[at]])
                w->order[kept++] = w->order[at];
        w->first[c] = start;
    }
    w->first[v->fixed.colour_count] = kept;
}

static sinew_status build_groups(sinew_vertex_layout *v, fixed_work *w, sinew_error *error)
{
    const int32_t colours = v->fixed.colour_count;
    w->first = sinew_allocate(&v->objective->allocator, (size_t)colours + 1, sizeof *w->first);
    if (!w->first)
        return sinew_fail_memory(error, "the incidences of nodes");
    sinew_colour_groups(w->colours, v->objective->particle_count, colours, w->first, w->order);
    drop_pinned(v, w);
    return sinew_incidence_groups_fill(v, &v->fixed, w->order, w->first, w->load)
               ? SINEW_OK
               : sinew_fail_memory(error, "the incidences of nodes");
}

/* ---- Incidences: elements at each node ----------------------------------------------------------- */

/* Index of the source batch that contains an element of an incidence batch, by binary search. */
static int32_t source_of(const sinew_incidence_batch *b, int32_t element)
{
    int32_t low = 0, high = b->source_count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (b->first_element[middle] <= element)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Computes the data and the other particles of the incidence of an element with `node`. */
static void gather_incidence(const sinew_incidence_batch *b, int32_t source, int32_t element, const int32_t *particles,
                             int32_t node, sinew_real *out, int32_t *others)
{
    sinew_real data[SINEW_DATA_MAX];
    int own = 0;
    for (int a = 0; a < b->ops->info.vertex_count; a++)
        if (particles[a] == node)
            own = a;
    sinew_batch_element(b->sources[source], element - b->first_element[source], data);
    b->ops->incidence(data, particles, own, out, others);
}

void sinew_incidence_write(const sinew_vertex_layout *v, const sinew_incidence_batch *b, const int32_t *particles,
                           int32_t element, int32_t node, bool real, size_t k, size_t lane)
{
    const size_t W = (size_t)v->simd->width, D = (size_t)b->ops->incidence_data_count, O = (size_t)b->ops->other_count;
    sinew_real out[SINEW_DATA_MAX];
    int32_t others[SINEW_STENCIL_MAX];
    gather_incidence(b, source_of(b, element), element, particles, node, out, others);
    out[0] = real ? out[0] : 0;
    for (size_t i = 0; i < D; i++)
        b->data[(k * D + i) * W + lane] = out[i];
    for (size_t i = 0; i < O; i++)
        b->others[(k * O + i) * W + lane] = SINEW_POINT * others[i];
    b->element[k * W + lane] = real ? element : -1;
}

/* Number of incidences of the node in a lane of a SIMD group; 0 for padding. */
static int32_t incidences_at(const sinew_incidence_groups *g, const sinew_incidence_supply *supply, size_t padded_index)
{
    return g->mass[padded_index] > 0 ? supply->count(supply->context, g->node[padded_index] / SINEW_POINT) : 0;
}

/* Writes the incidences of one SIMD group of nodes. A lane with fewer incidences repeats its first one with weight
 * zero; a lane without incidences repeats that of another lane. */
static void fill_group(const sinew_vertex_layout *v, const sinew_incidence_groups *g, const sinew_incidence_batch *b,
                       const sinew_incidence_supply *supply, int32_t group)
{
    const size_t W = (size_t)v->simd->width, base = (size_t)group * W;
    size_t some = 0;
    while (some < W && incidences_at(g, supply, base + some) == 0)
        some++;
    for (size_t lane = 0; some < W && lane < W; lane++) {
        const int32_t count = incidences_at(g, supply, base + lane), first = b->first_incidence[group];
        const int32_t node = g->node[base + (count > 0 ? lane : some)] / SINEW_POINT;
        for (int32_t k = first; k < b->first_incidence[group + 1]; k++)
            supply->write(supply->context, b, (size_t)k, lane, node, k - first < count ? k - first : 0,
                          k - first < count);
    }
}

bool sinew_incidence_batch_fill(const sinew_vertex_layout *v, const sinew_incidence_groups *g, sinew_incidence_batch *b,
                                const sinew_incidence_supply *supply)
{
    const size_t W = (size_t)v->simd->width;
    if (!vertex_layout_reserve_buffers(v, g, &b->first_incidence, &b->first_capacity, (size_t)g->group_count + 1,
                                       sizeof *b->first_incidence))
        return false;
    b->first_incidence[0] = 0;
    for (int32_t group = 0; group < g->group_count; group++) {
        int32_t max = 0;
        for (size_t lane = 0; lane < W; lane++) {
            const int32_t own = incidences_at(g, supply, (size_t)group * W + lane);
            max = own > max ? own : max;
        }
        b->first_incidence[group + 1] = b->first_incidence[group] + max;
    }
    b->incidence_count = b->first_incidence[g->group_count];
    const size_t padded_count = (size_t)b->incidence_count * W;
    if (!vertex_layout_reserve_buffers(v, g, &b->others, &b->other_capacity, padded_count * (size_t)b->ops->other_count,
                                       sizeof *b->others) ||
        !vertex_layout_reserve_buffers(v, g, &b->data, &b->data_capacity,
                                       padded_count * (size_t)b->ops->incidence_data_count, sizeof *b->data) ||
        !vertex_layout_reserve_buffers(v, g, &b->element, &b->element_capacity, padded_count, sizeof *b->element))
        return false;
    for (int32_t group = 0; group < g->group_count; group++)
        fill_group(v, g, b, supply, group);
    return true;
}

/* Arguments that give the incidences of fixed groups: the elements at each node. */
typedef struct fixed_supply {
    const sinew_vertex_layout *layout;
    const sinew_elements *list;
    const sinew_incidence *incidence;
} fixed_supply;

static int32_t vertex_layout_count_fixed(const void *context, int32_t node)
{
    const sinew_incidence *incidence = ((const fixed_supply *)context)->incidence;
    return (int32_t)(incidence->first[node + 1] - incidence->first[node]);
}

static void write_fixed(const void *context, const sinew_incidence_batch *b, size_t k, size_t lane, int32_t node,
                        int32_t which, bool real)
{
    const fixed_supply *s = context;
    const int32_t element = s->incidence->elements[s->incidence->first[node] + which];
    sinew_incidence_write(s->layout, b, s->list->vertices + (size_t)element * (size_t)s->list->size, element, node,
                          real, k, lane);
}

/* ---- Creation of the vertex layout ----------------------------------------------------------- */

static sinew_status build_fixed(sinew_vertex_layout *v, fixed_work *w, sinew_error *error)
{
    const int32_t tasks = v->objective->fixed_task_count;
    if (!sinew_incidence_sources_find(v, &v->fixed, 0, tasks, true, &v->sources))
        return sinew_fail_memory(error, "the incidences of nodes");
    sinew_status status = find_incidences(v, w, error);
    if (status == SINEW_OK)
        status = find_colours(v, w, error);
    if (status == SINEW_OK)
        status = build_groups(v, w, error);
    for (int32_t b = 0; status == SINEW_OK && b < v->fixed.batch_count; b++) {
        const fixed_supply from = {v, &w->lists[b], &w->incidences[b]};
        const sinew_incidence_supply supply = {&from, vertex_layout_count_fixed, write_fixed};
        if (!sinew_incidence_batch_fill(v, &v->fixed, &v->fixed.batches[b], &supply))
            status = sinew_fail_memory(error, "the incidences of nodes");
    }
    return status;
}

sinew_status sinew_vertex_layout_create(sinew_vertex_layout *v, const sinew_objective *o,
                                        const sinew_simd_variant *simd, bool exact, sinew_error *error)
{
    *v = (sinew_vertex_layout){.objective = o, .simd = simd, .exact = exact};
    fixed_work w = {0};
    sinew_status status = build_fixed(v, &w, error);
    vertex_layout_release_work(v, &w);
    if (status == SINEW_OK)
        status = sinew_vertex_layout_refresh(v, error);
    if (status != SINEW_OK)
        sinew_vertex_layout_destroy(v);
    return status;
}

void sinew_incidence_groups_release(sinew_incidence_groups *g, const sinew_allocator *allocator)
{
    for (int32_t i = 0; i < g->batch_limit; i++) {
        sinew_incidence_batch *b = &g->batches[i];
        void *arrays[] = {b->first_incidence, b->others, b->data, b->element};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    void *arrays[] = {g->batches, g->first_group, g->node, g->mass};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *g = (sinew_incidence_groups){0};
}

void sinew_vertex_layout_destroy(sinew_vertex_layout *v)
{
    if (!v->objective)
        return;
    const sinew_allocator *allocator = &v->objective->allocator;
    sinew_transient_layout_destroy(v);
    sinew_incidence_groups_release(&v->fixed, allocator);
    sinew_incidence_sources_release(&v->sources, allocator);
    sinew_release(allocator, v->weights);
    *v = (sinew_vertex_layout){0};
}

/* ---- Updates of changed element data --------------------------------------------------------- */

/* Refills the data of incidence k of a lane if the form of its element has changed. */
static void refill_incidence(const sinew_vertex_layout *v, const sinew_incidence_batch *b, size_t k, size_t lane,
                             int32_t node, int32_t element, bool real)
{
    const size_t W = (size_t)v->simd->width, D = (size_t)b->ops->incidence_data_count;
    const int32_t source = source_of(b, element);
    sinew_real out[SINEW_DATA_MAX];
    int32_t particles[SINEW_STENCIL_MAX], others[SINEW_STENCIL_MAX];
    if (b->forms[source] == b->sources[source]->form_version)
        return;
    sinew_batch_particles(b->sources[source], element - b->first_element[source], particles);
    gather_incidence(b, source, element, particles, node, out, others);
    out[0] = real ? out[0] : 0;
    for (size_t i = 0; i < D; i++)
        b->data[(k * D + i) * W + lane] = out[i];
}

/* Refills the data of all incidences of a batch, with padding as in fill_group(). */
static void refill_batch(const sinew_vertex_layout *v, const sinew_incidence_groups *g, const sinew_incidence_batch *b)
{
    const size_t W = (size_t)v->simd->width;
    for (int32_t group = 0; group < g->group_count; group++) {
        const size_t first = (size_t)b->first_incidence[group], last = (size_t)b->first_incidence[group + 1];
        const int32_t *own = b->element + first * W;
        size_t some = 0;
        while (first < last && some < W && own[some] < 0)
            some++;
        for (size_t k = first; k < last; k++)
            for (size_t lane = 0; lane < W; lane++) {
                const size_t seen = own[lane] >= 0 ? lane : some;
                const int32_t element = b->element[k * W + lane];
                refill_incidence(v, b, k, lane, g->node[(size_t)group * W + seen] / SINEW_POINT,
                                 element >= 0 ? element : own[seen], element >= 0);
            }
    }
}

/* Gathers the weights of all elements of a batch. Weights change with the material, and when elements are switched on
 * or off. An element has several incidences, and element data are scattered, so weights are gathered first. */
static void list_weights(sinew_vertex_layout *v, const sinew_incidence_batch *b)
{
    for (int32_t k = 0; k < b->source_count; k++)
        for (int32_t e = 0; e < b->sources[k]->element_count; e++)
            v->weights[b->first_element[k] + e] = sinew_batch_weight(b->sources[k], e);
}

static void refill_weights(const sinew_vertex_layout *v, const sinew_incidence_batch *b)
{
    const size_t W = (size_t)v->simd->width, D = (size_t)b->ops->incidence_data_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->incidence_count * W; padded_index++)
        if (b->element[padded_index] >= 0)
            b->data[padded_index / W * D * W + padded_index % W] = v->weights[b->element[padded_index]];
}

static void update_batch(const sinew_vertex_layout *v, const sinew_incidence_groups *g, const sinew_incidence_batch *b,
                         bool form)
{
    if (form)
        refill_batch(v, g, b);
    refill_weights(v, b);
}

void sinew_vertex_layout_begin(sinew_vertex_layout *v)
{
    const int32_t fixed = v->fixed.batch_count, all = v->transient.group_count > 0 ? v->transient.batch_count : fixed;
    for (int32_t i = 0; i < all; i++) {
        const sinew_incidence_batch *b = i < fixed ? &v->fixed.batches[i] : &v->transient.batches[i];
        bool stale = false, form = false;
        for (int32_t k = 0; k < b->source_count; k++) {
            stale |= b->versions[k] != b->sources[k]->version;
            form |= b->forms[k] != b->sources[k]->form_version;
        }
        if (stale)
            list_weights(v, b);
        if (stale && i < fixed)
            update_batch(v, &v->fixed, b, form);
        if (stale && v->transient.group_count > 0)
            update_batch(v, &v->transient, &v->transient.batches[i], form);
        for (int32_t k = 0; stale && k < b->source_count; k++) {
            b->versions[k] = b->sources[k]->version;
            b->forms[k] = b->sources[k]->form_version;
        }
    }
}
