/* SPDX-License-Identifier: MIT
 *
 * visits.c: colours nodes, lays their visits out, and runs over them. See visits.h.
 */
#include "solve/visits.h"

#include <stdlib.h>
#include <string.h>

#include "base/phases.h"
#include "mesh/topology.h"

/* Groups that one task takes from sums to steps: their sums stay in the first cache. */
enum {
    TILE = 16,
    PARALLEL_TILES = 16, /* in all; below, one thread does them */
    WIDTH_MAX = 8,       /* of all lanes */
    HALVINGS = 10        /* of a step that would not lower the objective */
};

/* ---- Elements -------------------------------------------------------------------------------- */

/* What building the layout needs, all released after. */
typedef struct draft {
    sinew_elements *lists;       /* [batch_count] as their callers numbered them */
    sinew_incidence *incidences; /* [batch_count] */
    int32_t *colours;            /* [particle_count] */
    int32_t *order, *first;      /* [particle_count], [colour_count + 1]: the free nodes by colour */
    int64_t *load;               /* [particle_count] elements at each */
} draft;

static void draft_free(const sinew_visits *v, draft *d)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    for (int32_t b = 0; b < v->batch_count; b++) {
        if (d->lists)
            sinew_release(allocator, (int32_t *)d->lists[b].vertices);
        if (d->incidences)
            sinew_incidence_free(&d->incidences[b], allocator);
    }
    void *arrays[] = {d->lists, d->incidences, d->colours, d->order, d->first, d->load};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
}

static sinew_status draft_elements(const sinew_visits *v, draft *d, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    const size_t particles = (size_t)o->particle_count;
    d->lists = sinew_allocate_zero(&o->allocator, (size_t)v->batch_count, sizeof *d->lists);
    d->incidences = sinew_allocate_zero(&o->allocator, (size_t)v->batch_count, sizeof *d->incidences);
    d->colours = sinew_allocate_zero(&o->allocator, particles, sizeof *d->colours);
    d->order = sinew_allocate(&o->allocator, particles, sizeof *d->order);
    d->load = sinew_allocate_zero(&o->allocator, particles, sizeof *d->load);
    bool good = d->lists && d->incidences && d->colours && d->order && d->load;
    for (int32_t b = 0; good && b < v->batch_count; b++) {
        const sinew_visit_batch *batch = &v->batches[b];
        const int32_t count = batch->first_element[batch->source_count], size = batch->ops->info.vertex_count;
        int32_t *vertices = sinew_allocate(&o->allocator, (size_t)count * (size_t)size, sizeof *vertices);
        d->lists[b] = (sinew_elements){vertices, count, size};
        good = vertices != NULL;
        for (int32_t k = 0; good && k < batch->source_count; k++)
            sinew_batch_list(batch->sources[k], vertices + (size_t)batch->first_element[k] * (size_t)size);
    }
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the visits of nodes");
    for (int32_t b = 0; status == SINEW_OK && b < v->batch_count; b++) {
        status = sinew_incidence_build(&d->incidences[b], &o->allocator, o->particle_count, &d->lists[b], error);
        for (int32_t i = 0; status == SINEW_OK && i < o->particle_count; i++)
            d->load[i] += d->incidences[b].first[i + 1] - d->incidences[b].first[i];
    }
    return status;
}

/* ---- Colours --------------------------------------------------------------------------------- */

static bool is_coupling(const sinew_energy_ops *ops)
{
    return sinew_get_stencil(ops->info.stencil)->couples;
}

/* The lists that are pairs, or those that are not, next to each other; returns how many. */
static int32_t pick_lists(const sinew_visits *v, const draft *d, bool pairs, sinew_elements *out)
{
    int32_t count = 0;
    for (int32_t b = 0; b < v->batch_count; b++)
        if (is_coupling(v->batches[b].ops) == pairs)
            out[count++] = d->lists[b];
    return count;
}

static sinew_status draft_colours(sinew_visits *v, draft *d, sinew_error *error)
{
    const sinew_objective *o = v->objective;
    sinew_elements *lists = sinew_allocate(&o->allocator, (size_t)v->batch_count, sizeof *lists);
    if (!lists)
        return sinew_fail_memory(error, "the visits of nodes");
    const int32_t plain = pick_lists(v, d, false, lists), pairs = pick_lists(v, d, true, lists + plain);
    sinew_status status =
        sinew_colour_vertices(&o->allocator, o->particle_count, lists, plain, d->colours, &v->colour_count, error);
    for (int32_t k = 0; status == SINEW_OK && k < pairs; k++)
        status = sinew_recolour_vertices(&o->allocator, o->particle_count, lists, plain + k, &lists[plain + k],
                                         d->colours, &v->colour_count, error);
    sinew_release(&o->allocator, lists);
    if (status == SINEW_OK && v->colour_count > SINEW_VISIT_COLOURS_MAX)
        status = sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                            "the particles need %d colours, as some element joins a particle to very many others, and "
                            "there may be %d; use newton or qn, or remove elements",
                            v->colour_count, SINEW_VISIT_COLOURS_MAX);
    return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Leaves the free nodes in the order by colour, then sorts each window by load, stably: an insertion sort, as runs of
 * equal loads are long. */
static void order_nodes(const sinew_visits *v, draft *d)
{
    const uint8_t *pinned = v->objective->pinned;
    int32_t kept = 0;
    for (int32_t c = 0, at = 0; c < v->colour_count; c++) {
        const int32_t end = d->first[c + 1], start = kept;
        for (; at < end; at++)
            if (!pinned[d->order[at]])
                d->order[kept++] = d->order[at];
        d->first[c] = start;
    }
    d->first[v->colour_count] = kept;
    for (int32_t c = 0; c < v->colour_count; c++)
        for (int32_t i = d->first[c]; i < d->first[c + 1]; i++) {
            const int32_t window = d->first[c] + (i - d->first[c]) / SINEW_VISIT_WINDOW * SINEW_VISIT_WINDOW;
            const int32_t node = d->order[i];
            int32_t k = i;
            for (; k > window && d->load[d->order[k - 1]] < d->load[node]; k--)
                d->order[k] = d->order[k - 1];
            d->order[k] = node;
        }
}

static void fill_nodes(sinew_visits *v, const draft *d)
{
    const int32_t W = v->lanes->width;
    for (int32_t c = 0; c < v->colour_count; c++)
        for (int32_t place = v->first_group[c] * W; place < v->first_group[c + 1] * W; place++) {
            const int32_t k = d->first[c] + (place - v->first_group[c] * W);
            const bool filler = k >= d->first[c + 1];
            v->node[place] = filler ? v->node[place / W * W] : SINEW_POINT * d->order[k];
            v->mass[place] = filler ? 0 : v->objective->mass[v->node[place] / SINEW_POINT];
        }
}

static sinew_status build_groups(sinew_visits *v, draft *d, sinew_error *error)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t colours = (size_t)v->colour_count + 1;
    d->first = sinew_allocate(allocator, colours, sizeof *d->first);
    v->first_group = sinew_allocate_zero(allocator, colours, sizeof *v->first_group);
    if (!d->first || !v->first_group)
        return sinew_fail_memory(error, "the visits of nodes");
    sinew_colour_groups(d->colours, v->objective->particle_count, v->colour_count, d->first, d->order);
    order_nodes(v, d);
    for (int32_t c = 0; c < v->colour_count; c++)
        v->first_group[c + 1] =
            v->first_group[c] + (d->first[c + 1] - d->first[c] + v->lanes->width - 1) / v->lanes->width;
    v->group_count = v->first_group[v->colour_count];
    const size_t lanes = (size_t)v->group_count * (size_t)v->lanes->width;
    v->node = sinew_allocate(allocator, lanes, sizeof *v->node);
    v->mass = sinew_allocate(allocator, lanes, sizeof *v->mass);
    if (!v->node || !v->mass)
        return sinew_fail_memory(error, "the visits of nodes");
    fill_nodes(v, d);
    return SINEW_OK;
}

/* ---- Visits ---------------------------------------------------------------------------------- */

/* Visits of the node in a lane; none where it only fills up its group. */
static int32_t visits_at(const sinew_visits *v, const sinew_incidence *incidence, size_t place)
{
    const int32_t node = v->node[place] / SINEW_POINT;
    return v->mass[place] > 0 ? (int32_t)(incidence->first[node + 1] - incidence->first[node]) : 0;
}

/* The data of an element, from the batch that it belongs to. */
static void element_data(const sinew_visit_batch *b, int32_t element, sinew_real *data)
{
    int32_t low = 0, high = b->source_count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (b->first_element[middle] <= element)
            low = middle;
        else
            high = middle - 1;
    }
    sinew_batch_element(b->sources[low], element - b->first_element[low], data);
}

/* Writes element `element` as the node of `place` sees it into visit k; `real` false: with weight zero. */
static void write_visit(const sinew_visits *v, const sinew_visit_batch *b, const sinew_elements *list, size_t k,
                        size_t lane, int32_t node, int32_t element, bool real)
{
    const sinew_energy_ops *ops = b->ops;
    const size_t W = (size_t)v->lanes->width, D = (size_t)ops->visit_data_count, O = (size_t)ops->other_count;
    const int32_t *particles = list->vertices + (size_t)element * (size_t)list->size;
    sinew_real data[SINEW_DATA_MAX], out[SINEW_DATA_MAX];
    int32_t others[SINEW_STENCIL_MAX];
    int own = 0;
    for (int a = 0; a < list->size; a++)
        if (particles[a] == node)
            own = a;
    element_data(b, element, data);
    ops->visit(data, particles, own, out, others);
    if (!real)
        out[0] = 0;
    for (size_t i = 0; i < D; i++)
        b->data[(k * D + i) * W + lane] = out[i];
    for (size_t i = 0; i < O; i++)
        b->others[(k * O + i) * W + lane] = SINEW_POINT * others[i];
    if (b->element)
        b->element[k * W + lane] = real ? element : -1;
}

/* The visits of one group. A lane that has run out repeats its first visit; one that has none, another lane's. */
static void fill_group(const sinew_visits *v, const sinew_visit_batch *b, const sinew_elements *list,
                       const sinew_incidence *incidence, int32_t group)
{
    const size_t W = (size_t)v->lanes->width, base = (size_t)group * W;
    size_t some = 0;
    while (some < W && visits_at(v, incidence, base + some) == 0)
        some++;
    for (size_t lane = 0; some < W && lane < W; lane++) {
        const int32_t count = visits_at(v, incidence, base + lane);
        const int32_t node = v->node[base + (count > 0 ? lane : some)] / SINEW_POINT;
        const int32_t *elements = incidence->elements + incidence->first[node];
        for (int32_t k = b->first_visit[group]; k < b->first_visit[group + 1]; k++) {
            const int32_t own = k - b->first_visit[group];
            write_visit(v, b, list, (size_t)k, lane, node, elements[own < count ? own : 0], own < count);
        }
    }
}

static sinew_status build_batch(const sinew_visits *v, sinew_visit_batch *b, const sinew_elements *list,
                                const sinew_incidence *incidence, sinew_error *error)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const sinew_energy_ops *ops = b->ops;
    const size_t W = (size_t)v->lanes->width;
    b->first_visit = sinew_allocate_zero(allocator, (size_t)v->group_count + 1, sizeof *b->first_visit);
    if (!b->first_visit)
        return sinew_fail_memory(error, "the visits of nodes");
    for (int32_t group = 0; group < v->group_count; group++) {
        int32_t most = 0;
        for (size_t lane = 0; lane < W; lane++) {
            const int32_t own = visits_at(v, incidence, (size_t)group * W + lane);
            most = own > most ? own : most;
        }
        b->first_visit[group + 1] = b->first_visit[group] + most;
    }
    b->visit_count = b->first_visit[v->group_count];
    const size_t lanes = (size_t)b->visit_count * W;
    b->others = sinew_allocate(allocator, lanes * (size_t)ops->other_count, sizeof *b->others);
    b->data = sinew_allocate(allocator, lanes * (size_t)ops->visit_data_count, sizeof *b->data);
    if (ops->target_slot >= 0)
        b->element = sinew_allocate(allocator, lanes, sizeof *b->element);
    if (!b->others || !b->data || (ops->target_slot >= 0 && !b->element))
        return sinew_fail_memory(error, "the visits of nodes");
    for (int32_t group = 0; group < v->group_count; group++)
        fill_group(v, b, list, incidence, group);
    return SINEW_OK;
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* The number of the visits that a batch joins; they begin with it where there are none. */
static int32_t find_visits(sinew_visits *v, const sinew_energy_ops *ops)
{
    for (int32_t b = 0; !is_coupling(ops) && b < v->batch_count; b++)
        if (v->batches[b].ops == ops)
            return b;
    v->batches[v->batch_count].ops = ops;
    return v->batch_count++;
}

/* which [task_count] becomes the visits of the batch that begins with a task, -1 where none begins. */
static void count_sources(sinew_visits *v, int32_t *which)
{
    const sinew_objective *o = v->objective;
    const uint32_t bound = v->exact ? SINEW_BOUND_EXACT : SINEW_BOUND_CHEAP;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_batch *batch = o->tasks[t].batch;
        which[t] = -1;
        if (t > 0 && batch == o->tasks[t - 1].batch)
            continue;
        which[t] = find_visits(v, batch->ops);
        v->batches[which[t]].source_count++;
        v->checked |= !(batch->ops->vertex_bounds & bound);
    }
}

static void list_sources(sinew_visits *v, const int32_t *which)
{
    const sinew_objective *o = v->objective;
    for (int32_t b = 0, at = 0; b < v->batch_count; b++) {
        v->batches[b].sources = v->sources + at;
        v->batches[b].first_element = v->first_elements + at + b;
        at += v->batches[b].source_count;
        v->batches[b].source_count = 0;
    }
    for (int32_t t = 0; t < o->task_count; t++) {
        if (which[t] < 0)
            continue;
        sinew_visit_batch *b = &v->batches[which[t]];
        b->sources[b->source_count] = o->tasks[t].batch;
        b->first_element[b->source_count + 1] = b->first_element[b->source_count] + o->tasks[t].batch->element_count;
        b->source_count++;
    }
}

static sinew_status find_batches(sinew_visits *v, sinew_error *error)
{
    const sinew_allocator *allocator = &v->objective->allocator;
    const size_t tasks = (size_t)v->objective->task_count;
    v->batches = sinew_allocate_zero(allocator, tasks, sizeof *v->batches);
    v->sources = sinew_allocate(allocator, tasks, sizeof *v->sources);
    v->first_elements = sinew_allocate_zero(allocator, 2 * tasks, sizeof *v->first_elements);
    int32_t *which = sinew_allocate(allocator, tasks, sizeof *which);
    const bool good = v->batches && v->sources && v->first_elements && which;
    if (good) {
        count_sources(v, which);
        list_sources(v, which);
    }
    sinew_release(allocator, which);
    return good ? SINEW_OK : sinew_fail_memory(error, "the visits of nodes");
}

sinew_status sinew_visits_create(sinew_visits *v, const sinew_objective *o, const sinew_lane_variant *lanes, bool exact,
                                 sinew_error *error)
{
    *v = (sinew_visits){.objective = o, .lanes = lanes, .exact = exact};
    draft d = {0};
    sinew_status status = find_batches(v, error);
    if (status == SINEW_OK)
        status = draft_elements(v, &d, error);
    if (status == SINEW_OK)
        status = draft_colours(v, &d, error);
    if (status == SINEW_OK)
        status = build_groups(v, &d, error);
    for (int32_t b = 0; status == SINEW_OK && b < v->batch_count; b++)
        status = build_batch(v, &v->batches[b], &d.lists[b], &d.incidences[b], error);
    draft_free(v, &d);
    if (status != SINEW_OK)
        sinew_visits_destroy(v);
    return status;
}

void sinew_visits_destroy(sinew_visits *v)
{
    if (!v->objective)
        return;
    const sinew_allocator *allocator = &v->objective->allocator;
    for (int32_t i = 0; i < v->batch_count; i++) {
        sinew_visit_batch *b = &v->batches[i];
        void *arrays[] = {b->first_visit, b->others, b->data, b->element};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    void *arrays[] = {v->batches, v->sources, v->first_elements, v->first_group, v->node, v->mass};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *v = (sinew_visits){0};
}

void sinew_visits_begin(sinew_visits *v)
{
    const size_t W = (size_t)v->lanes->width;
    for (int32_t i = 0; i < v->batch_count; i++) {
        const sinew_visit_batch *b = &v->batches[i];
        const sinew_energy_ops *ops = b->ops;
        const size_t D = (size_t)ops->visit_data_count, slot = (size_t)ops->target_slot;
        for (size_t place = 0; b->element && place < (size_t)b->visit_count * W; place++) {
            sinew_real data[SINEW_DATA_MAX];
            if (b->element[place] < 0)
                continue;
            element_data(b, b->element[place], data);
            for (size_t c = 0; c < 3; c++)
                b->data[(place / W * D + slot + c) * W + place % W] = data[slot + c];
        }
    }
}

/* ---- Run ------------------------------------------------------------------------------------- */

/* The kernels of all energies over groups first .. first + count - 1. */
static void run_energies(const sinew_visits *v, int32_t first, const sinew_visit_move *move, sinew_real *sum,
                         bool change)
{
    sinew_vertex_kernel kernel = {.group_count = move->group_count,
                                  .node = move->node,
                                  .x = move->x,
                                  .exact = v->exact,
                                  .sum = sum,
                                  .step = move->step,
                                  .change = move->change};
    for (int32_t i = 0; i < v->batch_count; i++) {
        const sinew_visit_batch *b = &v->batches[i];
        kernel.first_visit = b->first_visit + first;
        kernel.others = b->others;
        kernel.data = b->data;
        if (b->first_visit[first] == b->first_visit[first + move->group_count])
            continue;
        if (change)
            b->ops->vertex_change(&kernel);
        else
            b->ops->vertex(&kernel);
    }
}

static void run_tile(const sinew_visits *v, int32_t first, int32_t count, double relaxation, sinew_real *q)
{
    _Alignas(SINEW_ALIGNMENT) sinew_real sum[TILE * SINEW_VISIT_SUM * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real step[TILE * 3 * WIDTH_MAX], change[TILE * 2 * WIDTH_MAX];
    const sinew_objective *o = v->objective;
    const size_t W = (size_t)v->lanes->width;
    const sinew_visit_move move = {.group_count = count,
                                   .node = v->node + (size_t)first * W,
                                   .mass = v->mass + (size_t)first * W,
                                   .sum = sum,
                                   .step = step,
                                   .change = change,
                                   .x = q,
                                   .target = o->quasistatic ? o->force : o->q_tilde,
                                   .inertia = (sinew_real)(o->quasistatic ? 0 : 1 / (o->h * o->h)),
                                   .relaxation = (sinew_real)relaxation};
    memset(sum, 0, (size_t)count * SINEW_VISIT_SUM * W * sizeof *sum);
    run_energies(v, first, &move, sum, false);
    v->lanes->visits->step(&move);
    for (int k = 0; v->checked && k <= HALVINGS; k++) {
        memset(change, 0, (size_t)count * 2 * W * sizeof *change);
        run_energies(v, first, &move, sum, true);
        if (!v->lanes->visits->shorten(&move, k == HALVINGS))
            break;
    }
    v->lanes->visits->move(&move);
}

/* The nodes of one colour do not see each other: its tiles are the pieces of a phase. */
typedef struct visit_pass {
    const sinew_visits *visits;
    double relaxation;
    bool backward;
    sinew_real *q;
} visit_pass;

static int32_t phase_colour(const visit_pass *pass, int32_t phase)
{
    return pass->backward ? pass->visits->colour_count - 1 - phase : phase;
}

static int32_t count_tiles(const void *context, int32_t phase)
{
    const visit_pass *pass = context;
    const int32_t *first = pass->visits->first_group + phase_colour(pass, phase);
    return (first[1] - first[0] + TILE - 1) / TILE;
}

static void run_piece(const void *context, int32_t phase, int32_t piece)
{
    const visit_pass *pass = context;
    const int32_t *first = pass->visits->first_group + phase_colour(pass, phase), begin = first[0] + piece * TILE;
    const int32_t left = first[1] - begin;
    run_tile(pass->visits, begin, left < TILE ? left : TILE, pass->relaxation, pass->q);
}

void sinew_visits_run(const sinew_visits *v, double relaxation, bool backward, sinew_real *q)
{
    const visit_pass pass = {v, relaxation, backward, q};
    const sinew_phases work = {v->colour_count, count_tiles, run_piece, &pass};
    const int32_t groups = v->colour_count > 0 ? v->first_group[v->colour_count] : 0;
    sinew_phases_run(&work, groups >= PARALLEL_TILES * TILE ? v->objective->thread_count : 1);
}
