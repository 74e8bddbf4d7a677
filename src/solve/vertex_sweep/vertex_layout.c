/* SPDX-License-Identifier: MIT
 *
 * vertex_layout.c: colours nodes and lays their visits out. See vertex_layout.h.
 */
#include "solve/vertex_sweep/vertex_layout.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/topology/stencil.h"
#include "mesh/topology.h"
#include "solve/vertex_sweep/vertex_layout_internal.h"

/* ---- Sources --------------------------------------------------------------------------------- */

static bool is_coupling(const sinew_energy_ops *ops)
{
    return sinew_get_stencil(ops->info.stencil)->couples;
}

bool sinew_visit_groups_reserve(sinew_visit_groups *g, int32_t count, const sinew_allocator *allocator)
{
    if (g->batches && count <= g->batch_limit)
        return true;
    const int32_t limit = g->batches ? count + count / 2 : count;
    sinew_visit_batch *grown =
        sinew_reallocate(allocator, g->batches, (size_t)g->batch_limit, (size_t)limit, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + g->batch_limit, 0, (size_t)(limit - g->batch_limit) * sizeof *grown);
    g->batches = grown;
    g->batch_limit = limit;
    return true;
}

/* The number of the visits that a batch joins, `first` or later; they begin with it where there are none. */
static int32_t find_visits(sinew_visit_groups *g, int32_t first, const sinew_energy_ops *ops, bool apart)
{
    for (int32_t b = first; !(apart && is_coupling(ops)) && b < g->batch_count; b++)
        if (g->batches[b].ops == ops)
            return b;
    g->batches[g->batch_count].ops = ops;
    g->batches[g->batch_count].source_count = 0;
    return g->batch_count++;
}

static void count_sources(const sinew_visits *v, sinew_visit_groups *g, int32_t begin, int32_t end, bool apart,
                          int32_t *which)
{
    const uint32_t bound = v->exact ? SINEW_BOUND_EXACT : SINEW_BOUND_CHEAP;
    const int32_t first = g->batch_count;
    for (int32_t t = begin; t < end; t++) {
        const sinew_energy_ops *ops = v->objective->tasks[t].batch->ops;
        which[t - begin] = -1;
        if (!sinew_task_begins(v->objective, t))
            continue;
        which[t - begin] = find_visits(g, first, ops, apart);
        g->batches[which[t - begin]].source_count++;
        g->checked |= !(ops->vertex_bounds & bound);
    }
}

/* Hands the lists out to the visit batches from number `first` on, and fills them. */
static void list_sources(const sinew_visits *v, sinew_visit_groups *g, int32_t first, int32_t begin, int32_t end,
                         const sinew_visit_sources *s)
{
    for (int32_t b = first, at = 0; b < g->batch_count; b++) {
        sinew_visit_batch *batch = &g->batches[b];
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
        sinew_visit_batch *b = &g->batches[s->which[t - begin]];
        b->sources[b->source_count] = source;
        b->versions[b->source_count] = source->version;
        b->forms[b->source_count] = source->form_version;
        b->first_element[b->source_count + 1] = b->first_element[b->source_count] + source->element_count;
        b->source_count++;
    }
}

/* Room for the weights of the elements of any of the batches from number `first` on. */
static bool reserve_weights(sinew_visits *v, const sinew_visit_groups *g, int32_t first)
{
    int32_t most = 0;
    for (int32_t b = first; b < g->batch_count; b++) {
        const int32_t count = g->batches[b].first_element[g->batches[b].source_count];
        most = count > most ? count : most;
    }
    return sinew_make_room(&v->objective->allocator, &v->weights, &v->weight_room, (size_t)most, sizeof *v->weights);
}

bool sinew_visit_sources_find(sinew_visits *v, sinew_visit_groups *g, int32_t begin, int32_t end, bool apart,
                              sinew_visit_sources *s)
{
    const sinew_allocator *a = &v->objective->allocator;
    const size_t tasks = (size_t)(end - begin);
    const int32_t first = g->batch_count;
    if (!sinew_visit_groups_reserve(g, first + end - begin, a) ||
        !sinew_make_room(a, &s->list, &s->list_room, tasks, sizeof *s->list) ||
        !sinew_make_room(a, &s->first_element, &s->first_room, 2 * tasks, sizeof *s->first_element) ||
        !sinew_make_room(a, &s->versions, &s->version_room, 2 * tasks, sizeof *s->versions) ||
        !sinew_make_room(a, &s->which, &s->which_room, tasks, sizeof *s->which))
        return false;
    count_sources(v, g, begin, end, apart, s->which);
    list_sources(v, g, first, begin, end, s);
    return reserve_weights(v, g, first);
}

void sinew_visit_sources_release(sinew_visit_sources *s, const sinew_allocator *allocator)
{
    sinew_release(allocator, s->list);
    sinew_release(allocator, s->first_element);
    sinew_release(allocator, s->versions);
    sinew_release(allocator, s->which);
    *s = (sinew_visit_sources){0};
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* Work space for laying out the fixed groups, all released after. */
typedef struct fixed_work {
    sinew_elements *lists;       /* [batch_count] as their callers numbered them */
    sinew_incidence *incidences; /* [batch_count] */
    int32_t *colours;            /* [particle_count] */
    int32_t *order, *first;      /* [particle_count], [colour_count + 1]: the free nodes by colour */
    int32_t *load;               /* [particle_count] elements at each */
} fixed_work;

static void release_work(const sinew_visits *v, fixed_work *w)
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

static bool list_elements(const sinew_visits *v, fixed_work *w)
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
        const sinew_visit_batch *batch = &v->fixed.batches[b];
        const int32_t count = batch->first_element[batch->source_count], size = batch->ops->info.vertex_count;
        int32_t *vertices = sinew_allocate(allocator, (size_t)count * (size_t)size, sizeof *vertices);
        w->lists[b] = (sinew_elements){vertices, count, size};
        good = vertices != NULL;
        for (int32_t k = 0; good && k < batch->source_count; k++)
            sinew_batch_list(batch->sources[k], vertices + (size_t)batch->first_element[k] * (size_t)size);
    }
    return good;
}

static sinew_status find_incidences(const sinew_visits *v, fixed_work *w, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    sinew_status status = list_elements(v, w) ? SINEW_OK : sinew_fail_memory(error, "the visits of nodes");
    for (int32_t b = 0; status == SINEW_OK && b < v->fixed.batch_count; b++) {
        status = sinew_incidence_build(&w->incidences[b], &o->allocator, o->particle_count, &w->lists[b], error);
        for (int32_t i = 0; status == SINEW_OK && i < o->particle_count; i++)
            w->load[i] += (int32_t)(w->incidences[b].first[i + 1] - w->incidences[b].first[i]);
    }
    return status;
}

/* ---- Colours --------------------------------------------------------------------------------- */

/* The lists that couple, or those that do not, next to each other; returns how many. */
static int32_t pick_lists(const sinew_visits *v, const fixed_work *w, bool couplings, sinew_elements *out)
{
    int32_t count = 0;
    for (int32_t b = 0; b < v->fixed.batch_count; b++)
        if (is_coupling(v->fixed.batches[b].ops) == couplings)
            out[count++] = w->lists[b];
    return count;
}

sinew_status sinew_visit_fail_colours(int32_t count, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "the particles need %d colours, as some element joins a particle to very many others, and "
                      "there may be %d; use newton or qn, or remove elements",
                      count, SINEW_VISIT_COLOURS_MAX);
}

static sinew_status find_colours(sinew_visits *v, fixed_work *w, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    int32_t *count = &v->fixed.colour_count;
    sinew_elements *lists = sinew_allocate(&o->allocator, (size_t)v->fixed.batch_count, sizeof *lists);
    if (!lists)
        return sinew_fail_memory(error, "the visits of nodes");
    const int32_t plain = pick_lists(v, w, false, lists), couplings = pick_lists(v, w, true, lists + plain);
    sinew_status status =
        sinew_colour_vertices(&o->allocator, o->particle_count, lists, plain, w->colours, count, error);
    for (int32_t k = 0; status == SINEW_OK && k < couplings; k++)
        status = sinew_recolour_vertices(&o->allocator, o->particle_count, lists, plain + k, &lists[plain + k],
                                         w->colours, count, error);
    sinew_release(&o->allocator, lists);
    return status == SINEW_OK && *count > SINEW_VISIT_COLOURS_MAX ? sinew_visit_fail_colours(*count, error) : status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Sorts each window by load, stably: an insertion sort, as runs of equal loads are long. */
static void sort_windows(int32_t *order, int32_t begin, int32_t end, const int32_t *load)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t window = begin + (i - begin) / SINEW_VISIT_WINDOW * SINEW_VISIT_WINDOW, node = order[i];
        int32_t k = i;
        for (; k > window && load[order[k - 1]] < load[node]; k--)
            order[k] = order[k - 1];
        order[k] = node;
    }
}

static void fill_nodes(const sinew_visits *v, sinew_visit_groups *g, const int32_t *order, const int32_t *first)
{
    const int32_t W = v->lanes->width;
    for (int32_t c = 0; c < g->colour_count; c++)
        for (int32_t place = g->first_group[c] * W; place < g->first_group[c + 1] * W; place++) {
            const int32_t k = first[c] + (place - g->first_group[c] * W);
            const bool filler = k >= first[c + 1];
            g->node[place] = filler ? g->node[place / W * W] : SINEW_POINT * order[k];
            g->mass[place] = filler ? 0 : v->objective->mass[g->node[place] / SINEW_POINT];
        }
}

/* The layer's size goes up and down. */
static bool make_room(const sinew_visits *v, const sinew_visit_groups *g, void *slot, size_t *room, size_t count,
                      size_t size)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    return g == &v->layer ? sinew_make_spare_room(allocator, slot, room, count, size)
                          : sinew_make_room(allocator, slot, room, count, size);
}

bool sinew_visit_groups_fill(const sinew_visits *v, sinew_visit_groups *g, int32_t *order, const int32_t *first,
                             const int32_t *load)
{
    const int32_t W = v->lanes->width;
    if (!make_room(v, g, &g->first_group, &g->first_room, (size_t)g->colour_count + 1, sizeof *g->first_group))
        return false;
    g->first_group[0] = 0;
    for (int32_t c = 0; c < g->colour_count; c++) {
        sort_windows(order, first[c], first[c + 1], load);
        g->first_group[c + 1] = g->first_group[c] + (first[c + 1] - first[c] + W - 1) / W;
    }
    g->group_count = g->first_group[g->colour_count];
    const size_t lanes = (size_t)g->group_count * (size_t)W;
    if (!make_room(v, g, &g->node, &g->node_room, lanes, sizeof *g->node) ||
        !make_room(v, g, &g->mass, &g->mass_room, lanes, sizeof *g->mass))
        return false;
    fill_nodes(v, g, order, first);
    return true;
}

/* Leaves the free nodes in the order by colour. */
static void drop_pinned(const sinew_visits *v, fixed_work *w)
{
    const uint8_t *pinned = v->objective->pinned;
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

static sinew_status build_groups(sinew_visits *v, fixed_work *w, sinew_error *error)
{
    const int32_t colours = v->fixed.colour_count;
    w->first = sinew_allocate(&v->objective->allocator, (size_t)colours + 1, sizeof *w->first);
    if (!w->first)
        return sinew_fail_memory(error, "the visits of nodes");
    sinew_colour_groups(w->colours, v->objective->particle_count, colours, w->first, w->order);
    drop_pinned(v, w);
    return sinew_visit_groups_fill(v, &v->fixed, w->order, w->first, w->load)
               ? SINEW_OK
               : sinew_fail_memory(error, "the visits of nodes");
}

/* ---- Visits ---------------------------------------------------------------------------------- */

/* The source of an element. */
static int32_t source_of(const sinew_visit_batch *b, int32_t element)
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

/* The numbers of a visit and its other particles, as the energy sees an element from `node`. */
static void see_element(const sinew_visit_batch *b, int32_t source, int32_t element, const int32_t *particles,
                        int32_t node, sinew_real *out, int32_t *others)
{
    sinew_real data[SINEW_DATA_MAX];
    int own = 0;
    for (int a = 0; a < b->ops->info.vertex_count; a++)
        if (particles[a] == node)
            own = a;
    sinew_batch_element(b->sources[source], element - b->first_element[source], data);
    b->ops->visit(data, particles, own, out, others);
}

void sinew_visit_write(const sinew_visits *v, const sinew_visit_batch *b, const int32_t *particles, int32_t element,
                       int32_t node, bool real, size_t k, size_t lane)
{
    const size_t W = (size_t)v->lanes->width, D = (size_t)b->ops->visit_data_count, O = (size_t)b->ops->other_count;
    sinew_real out[SINEW_DATA_MAX];
    int32_t others[SINEW_STENCIL_MAX];
    see_element(b, source_of(b, element), element, particles, node, out, others);
    out[0] = real ? out[0] : 0;
    for (size_t i = 0; i < D; i++)
        b->data[(k * D + i) * W + lane] = out[i];
    for (size_t i = 0; i < O; i++)
        b->others[(k * O + i) * W + lane] = SINEW_POINT * others[i];
    b->element[k * W + lane] = real ? element : -1;
}

/* Visits of the node in a lane; none where it only fills up its group. */
static int32_t visits_at(const sinew_visit_groups *g, const sinew_visit_supply *supply, size_t place)
{
    return g->mass[place] > 0 ? supply->count(supply->context, g->node[place] / SINEW_POINT) : 0;
}

/* The visits of one group. A lane that has run out repeats its first visit; one that has none, another lane's. */
static void fill_group(const sinew_visits *v, const sinew_visit_groups *g, const sinew_visit_batch *b,
                       const sinew_visit_supply *supply, int32_t group)
{
    const size_t W = (size_t)v->lanes->width, base = (size_t)group * W;
    size_t some = 0;
    while (some < W && visits_at(g, supply, base + some) == 0)
        some++;
    for (size_t lane = 0; some < W && lane < W; lane++) {
        const int32_t count = visits_at(g, supply, base + lane), first = b->first_visit[group];
        const int32_t node = g->node[base + (count > 0 ? lane : some)] / SINEW_POINT;
        for (int32_t k = first; k < b->first_visit[group + 1]; k++)
            supply->write(supply->context, b, (size_t)k, lane, node, k - first < count ? k - first : 0,
                          k - first < count);
    }
}

bool sinew_visit_batch_fill(const sinew_visits *v, const sinew_visit_groups *g, sinew_visit_batch *b,
                            const sinew_visit_supply *supply)
{
    const size_t W = (size_t)v->lanes->width;
    if (!make_room(v, g, &b->first_visit, &b->first_room, (size_t)g->group_count + 1, sizeof *b->first_visit))
        return false;
    b->first_visit[0] = 0;
    for (int32_t group = 0; group < g->group_count; group++) {
        int32_t most = 0;
        for (size_t lane = 0; lane < W; lane++) {
            const int32_t own = visits_at(g, supply, (size_t)group * W + lane);
            most = own > most ? own : most;
        }
        b->first_visit[group + 1] = b->first_visit[group] + most;
    }
    b->visit_count = b->first_visit[g->group_count];
    const size_t lanes = (size_t)b->visit_count * W;
    if (!make_room(v, g, &b->others, &b->other_room, lanes * (size_t)b->ops->other_count, sizeof *b->others) ||
        !make_room(v, g, &b->data, &b->data_room, lanes * (size_t)b->ops->visit_data_count, sizeof *b->data) ||
        !make_room(v, g, &b->element, &b->element_room, lanes, sizeof *b->element))
        return false;
    for (int32_t group = 0; group < g->group_count; group++)
        fill_group(v, g, b, supply, group);
    return true;
}

/* The visits of fixed groups come from the elements at each node. */
typedef struct fixed_supply {
    const sinew_visits *visits;
    const sinew_elements *list;
    const sinew_incidence *incidence;
} fixed_supply;

static int32_t count_fixed(const void *context, int32_t node)
{
    const sinew_incidence *incidence = ((const fixed_supply *)context)->incidence;
    return (int32_t)(incidence->first[node + 1] - incidence->first[node]);
}

static void write_fixed(const void *context, const sinew_visit_batch *b, size_t k, size_t lane, int32_t node,
                        int32_t which, bool real)
{
    const fixed_supply *s = context;
    const int32_t element = s->incidence->elements[s->incidence->first[node] + which];
    sinew_visit_write(s->visits, b, s->list->vertices + (size_t)element * (size_t)s->list->size, element, node, real, k,
                      lane);
}

/* ---- Create ---------------------------------------------------------------------------------- */

static sinew_status build_fixed(sinew_visits *v, fixed_work *w, sinew_error *error)
{
    const int32_t tasks = v->objective->fixed_task_count;
    if (!sinew_visit_sources_find(v, &v->fixed, 0, tasks, true, &v->sources))
        return sinew_fail_memory(error, "the visits of nodes");
    sinew_status status = find_incidences(v, w, error);
    if (status == SINEW_OK)
        status = find_colours(v, w, error);
    if (status == SINEW_OK)
        status = build_groups(v, w, error);
    for (int32_t b = 0; status == SINEW_OK && b < v->fixed.batch_count; b++) {
        const fixed_supply from = {v, &w->lists[b], &w->incidences[b]};
        const sinew_visit_supply supply = {&from, count_fixed, write_fixed};
        if (!sinew_visit_batch_fill(v, &v->fixed, &v->fixed.batches[b], &supply))
            status = sinew_fail_memory(error, "the visits of nodes");
    }
    return status;
}

sinew_status sinew_visits_create(sinew_visits *v, const sinew_objective *o, const sinew_lane_variant *lanes, bool exact,
                                 sinew_error *error)
{
    *v = (sinew_visits){.objective = o, .lanes = lanes, .exact = exact};
    fixed_work w = {0};
    sinew_status status = build_fixed(v, &w, error);
    release_work(v, &w);
    if (status == SINEW_OK)
        status = sinew_visits_refresh(v, error);
    if (status != SINEW_OK)
        sinew_visits_destroy(v);
    return status;
}

void sinew_visit_groups_release(sinew_visit_groups *g, const sinew_allocator *allocator)
{
    for (int32_t i = 0; i < g->batch_limit; i++) {
        sinew_visit_batch *b = &g->batches[i];
        void *arrays[] = {b->first_visit, b->others, b->data, b->element};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    void *arrays[] = {g->batches, g->first_group, g->node, g->mass};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *g = (sinew_visit_groups){0};
}

void sinew_visits_destroy(sinew_visits *v)
{
    if (!v->objective)
        return;
    const sinew_allocator *allocator = &v->objective->allocator;
    sinew_visit_layer_destroy(v);
    sinew_visit_groups_release(&v->fixed, allocator);
    sinew_visit_sources_release(&v->sources, allocator);
    sinew_release(allocator, v->weights);
    *v = (sinew_visits){0};
}

/* ---- New numbers ----------------------------------------------------------------------------- */

/* Fills visit k of a lane anew, where its element has another form. */
static void refill_visit(const sinew_visits *v, const sinew_visit_batch *b, size_t k, size_t lane, int32_t node,
                         int32_t element, bool real)
{
    const size_t W = (size_t)v->lanes->width, D = (size_t)b->ops->visit_data_count;
    const int32_t source = source_of(b, element);
    sinew_real out[SINEW_DATA_MAX];
    int32_t particles[SINEW_STENCIL_MAX], others[SINEW_STENCIL_MAX];
    if (b->forms[source] == b->sources[source]->form_version)
        return;
    sinew_batch_particles(b->sources[source], element - b->first_element[source], particles);
    see_element(b, source, element, particles, node, out, others);
    out[0] = real ? out[0] : 0;
    for (size_t i = 0; i < D; i++)
        b->data[(k * D + i) * W + lane] = out[i];
}

/* All visits of a batch, fillers as fill_group made them. */
static void refill(const sinew_visits *v, const sinew_visit_groups *g, const sinew_visit_batch *b)
{
    const size_t W = (size_t)v->lanes->width;
    for (int32_t group = 0; group < g->group_count; group++) {
        const size_t first = (size_t)b->first_visit[group], last = (size_t)b->first_visit[group + 1];
        const int32_t *own = b->element + first * W;
        size_t some = 0;
        while (first < last && some < W && own[some] < 0)
            some++;
        for (size_t k = first; k < last; k++)
            for (size_t lane = 0; lane < W; lane++) {
                const size_t seen = own[lane] >= 0 ? lane : some;
                const int32_t element = b->element[k * W + lane];
                refill_visit(v, b, k, lane, g->node[(size_t)group * W + seen] / SINEW_POINT,
                             element >= 0 ? element : own[seen], element >= 0);
            }
    }
}

/* Weights alone: of materials that change, and of elements that are switched. Visits meet an element several times, and
 * the elements' own numbers lie far apart: their weights are brought together first. */
static void list_weights(sinew_visits *v, const sinew_visit_batch *b)
{
    for (int32_t k = 0; k < b->source_count; k++)
        for (int32_t e = 0; e < b->sources[k]->element_count; e++)
            v->weights[b->first_element[k] + e] = sinew_batch_weight(b->sources[k], e);
}

static void refill_weights(const sinew_visits *v, const sinew_visit_batch *b)
{
    const size_t W = (size_t)v->lanes->width, D = (size_t)b->ops->visit_data_count;
    for (size_t place = 0; place < (size_t)b->visit_count * W; place++)
        if (b->element[place] >= 0)
            b->data[place / W * D * W + place % W] = v->weights[b->element[place]];
}

static void take_over(const sinew_visits *v, const sinew_visit_groups *g, const sinew_visit_batch *b, bool form)
{
    if (form)
        refill(v, g, b);
    refill_weights(v, b);
}

void sinew_visits_begin(sinew_visits *v)
{
    const int32_t fixed = v->fixed.batch_count, all = v->layer.group_count > 0 ? v->layer.batch_count : fixed;
    for (int32_t i = 0; i < all; i++) {
        const sinew_visit_batch *b = i < fixed ? &v->fixed.batches[i] : &v->layer.batches[i];
        bool stale = false, form = false;
        for (int32_t k = 0; k < b->source_count; k++) {
            stale |= b->versions[k] != b->sources[k]->version;
            form |= b->forms[k] != b->sources[k]->form_version;
        }
        if (stale)
            list_weights(v, b);
        if (stale && i < fixed)
            take_over(v, &v->fixed, b, form);
        if (stale && v->layer.group_count > 0)
            take_over(v, &v->layer, &v->layer.batches[i], form);
        for (int32_t k = 0; stale && k < b->source_count; k++) {
            b->versions[k] = b->sources[k]->version;
            b->forms[k] = b->sources[k]->form_version;
        }
    }
}
