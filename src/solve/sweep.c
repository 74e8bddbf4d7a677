/* SPDX-License-Identifier: MIT
 *
 * sweep.c: lays constraints out by colour and runs over them. See sweep.h.
 */
#include "solve/sweep.h"

#include <string.h>

#include "base/reduce.h"
#include "mesh/topology.h"

/* Groups of one colour below which one thread does them all. */
#define PARALLEL_GROUPS 64

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool allocate_batch(const sinew_allocator *allocator, sinew_sweep_batch *b)
{
    const size_t lanes = (size_t)b->group_count * (size_t)b->width;
    b->vertex = sinew_allocate(allocator, lanes * (size_t)b->ops->info.vertex_count, sizeof *b->vertex);
    b->data = sinew_allocate(allocator, lanes * (size_t)b->ops->data_count, sizeof *b->data);
    b->element = sinew_allocate(allocator, lanes, sizeof *b->element);
    b->lambda = sinew_allocate_zero(allocator, lanes * (size_t)b->ops->constraint_count, sizeof *b->lambda);
    return b->vertex && b->data && b->element && b->lambda;
}

/* Copies the source's numbers of one element into a lane. */
static void copy_data(const sinew_sweep_batch *b, size_t place, int32_t element)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count;
    sinew_real data[SINEW_DATA_MAX];
    sinew_batch_element(b->source, element, data);
    for (size_t d = 0; d < D; d++)
        b->data[(place / W * D + d) * W + place % W] = data[d];
}

/* Puts the elements of each colour into groups; fillers repeat the first element of the colour with weight zero. */
static void fill_batch(sinew_sweep_batch *b, const int32_t *particles, const int32_t *first, const int32_t *order)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count, D = (size_t)b->ops->data_count;
    for (int32_t colour = 0; colour < b->colour_count; colour++)
        for (size_t place = (size_t)b->first_group[colour] * W; place < (size_t)b->first_group[colour + 1] * W;
             place++) {
            int32_t k = first[colour] + (int32_t)(place - (size_t)b->first_group[colour] * W);
            bool filler = k >= first[colour + 1];
            int32_t element = order[filler ? first[colour] : k];
            for (size_t a = 0; a < n; a++)
                b->vertex[(place / W * n + a) * W + place % W] = SINEW_POINT * particles[(size_t)element * n + a];
            copy_data(b, place, element);
            b->element[place] = filler ? -1 : element;
            if (filler)
                b->data[place / W * D * W + place % W] = 0;
        }
}

/* Colours of the elements: all one where the order does not need them. */
static sinew_status colour_batch(const sinew_sweep *sweep, const sinew_sweep_batch *b, const int32_t *particles,
                                 int32_t *colours, int32_t *colour_count, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    if (sweep->order != SINEW_SWEEP_COLOURED) {
        memset(colours, 0, (size_t)b->source->element_count * sizeof *colours);
        *colour_count = 1;
        return SINEW_OK;
    }
    sinew_elements elements = {particles, b->source->element_count, b->ops->info.vertex_count};
    return sinew_colour_elements(&o->allocator, o->particle_count, &elements, colours, colour_count, error);
}

static sinew_status build_batch(const sinew_sweep *sweep, sinew_sweep_batch *b, sinew_error *error)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const size_t count = (size_t)b->source->element_count;
    int32_t *particles = sinew_allocate(allocator, count * (size_t)b->ops->info.vertex_count, sizeof *particles);
    int32_t *colours = sinew_allocate(allocator, count, sizeof *colours);
    int32_t *order = sinew_allocate(allocator, count, sizeof *order), *first = NULL;
    sinew_status status = particles && colours && order ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    if (status == SINEW_OK) {
        sinew_batch_list(b->source, particles);
        status = colour_batch(sweep, b, particles, colours, &b->colour_count, error);
    }
    if (status == SINEW_OK) {
        first = sinew_allocate(allocator, (size_t)b->colour_count + 1, sizeof *first);
        b->first_group = sinew_allocate(allocator, (size_t)b->colour_count + 1, sizeof *b->first_group);
        status = first && b->first_group ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    }
    if (status == SINEW_OK) {
        sinew_colour_groups(colours, (int32_t)count, b->colour_count, first, order);
        for (int32_t c = 0; c < b->colour_count; c++) {
            b->first_group[c] = b->group_count;
            b->group_count += (first[c + 1] - first[c] + b->width - 1) / b->width;
        }
        b->first_group[b->colour_count] = b->group_count;
        status = allocate_batch(allocator, b) ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    }
    if (status == SINEW_OK)
        fill_batch(b, particles, first, order);
    sinew_release(allocator, particles);
    sinew_release(allocator, colours);
    sinew_release(allocator, order);
    sinew_release(allocator, first);
    return status;
}

/* ---- Shares of a Jacobi sweep ---------------------------------------------------------------- */

/* crowd[i] += elements at particle i */
static void count_elements(const sinew_sweep_batch *b, int32_t *crowd)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++)
        for (size_t a = 0; b->element[place] >= 0 && a < n; a++)
            crowd[b->vertex[(place / W * n + a) * W + place % W] / SINEW_POINT]++;
}

static void fill_shares(const sinew_sweep_batch *b, const int32_t *crowd, const uint8_t *pinned)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++) {
        int32_t most = 1;
        for (size_t a = 0; a < n; a++) {
            int32_t particle = b->vertex[(place / W * n + a) * W + place % W] / SINEW_POINT;
            if (!pinned[particle] && crowd[particle] > most)
                most = crowd[particle];
        }
        b->share[place] = (sinew_real)1 / (sinew_real)most;
    }
}

static sinew_status share_out(sinew_sweep *sweep, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    int32_t *crowd = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *crowd);
    bool good = crowd != NULL;
    for (int32_t k = 0; good && k < sweep->batch_count; k++) {
        sinew_sweep_batch *b = &sweep->batches[k];
        b->share = sinew_allocate(&o->allocator, (size_t)b->group_count * (size_t)b->width, sizeof *b->share);
        good = b->share != NULL;
        count_elements(b, crowd);
    }
    for (int32_t k = 0; good && k < sweep->batch_count; k++)
        fill_shares(&sweep->batches[k], crowd, o->pinned);
    sinew_release(&o->allocator, crowd);
    return good ? SINEW_OK : sinew_fail_memory(error, "the constraints");
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* Mesh order goes element by element, so it takes the kernels of width one. */
static const sinew_energy_ops *choose_ops(const sinew_batch *batch, sinew_sweep_order order, int32_t *width)
{
    int32_t count;
    const sinew_lane_variant *const *variants = sinew_lane_variants(&count);
    *width = batch->width;
    for (int32_t v = 0; order == SINEW_SWEEP_MESH && v < count; v++)
        for (int32_t kind = 0; variants[v]->width == 1 && kind < SINEW_ENERGY_COUNT; kind++)
            if (strcmp(variants[v]->energies[kind]->info.name, batch->ops->info.name) == 0) {
                *width = 1;
                return variants[v]->energies[kind];
            }
    return batch->ops;
}

sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *o, sinew_sweep_order order,
                                sinew_error *error)
{
    *sweep = (sinew_sweep){.objective = o, .order = order};
    const size_t size = 4 * (size_t)o->particle_count;
    sweep->batches = sinew_allocate_zero(&o->allocator, (size_t)o->task_count, sizeof *sweep->batches);
    sweep->xw = sinew_allocate_zero(&o->allocator, size, sizeof *sweep->xw);
    if (order == SINEW_SWEEP_JACOBI)
        sweep->dx = sinew_allocate_zero(&o->allocator, size, sizeof *sweep->dx);
    bool good = sweep->batches && sweep->xw && (order != SINEW_SWEEP_JACOBI || sweep->dx);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    for (int32_t t = 0; status == SINEW_OK && t < o->task_count; t++) {
        const sinew_batch *source = o->tasks[t].batch;
        if (t > 0 && source == o->tasks[t - 1].batch)
            continue;
        sinew_sweep_batch *b = &sweep->batches[sweep->batch_count++];
        b->source = source;
        b->ops = choose_ops(source, order, &b->width);
        status = build_batch(sweep, b, error);
    }
    if (status == SINEW_OK && order == SINEW_SWEEP_JACOBI)
        status = share_out(sweep, error);
    if (status != SINEW_OK)
        sinew_sweep_destroy(sweep);
    return status;
}

void sinew_sweep_destroy(sinew_sweep *sweep)
{
    if (!sweep->objective)
        return;
    const sinew_allocator *allocator = &sweep->objective->allocator;
    for (int32_t i = 0; sweep->batches && i < sweep->batch_count; i++) {
        sinew_sweep_batch *b = &sweep->batches[i];
        void *arrays[] = {b->first_group, b->vertex, b->data, b->element, b->lambda, b->share};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    sinew_release(allocator, sweep->batches);
    sinew_release(allocator, sweep->xw);
    sinew_release(allocator, sweep->dx);
    *sweep = (sinew_sweep){0};
}

/* Insertion sort by whether a batch is of the stencil: there are few batches. */
void sinew_sweep_arrange(sinew_sweep *sweep, sinew_stencil stencil, bool first)
{
    for (int32_t k = 1; k < sweep->batch_count; k++) {
        const sinew_sweep_batch moved = sweep->batches[k];
        const bool early = (moved.ops->info.stencil == stencil) == first;
        int32_t at = k;
        while (early && at > 0 && (sweep->batches[at - 1].ops->info.stencil == stencil) != first) {
            sweep->batches[at] = sweep->batches[at - 1];
            at--;
        }
        sweep->batches[at] = moved;
    }
}

/* ---- Run ------------------------------------------------------------------------------------- */

void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    for (int32_t i = 0; i < o->particle_count; i++) {
        memcpy(sweep->xw + 4 * (size_t)i, q + 4 * (size_t)i, 3 * sizeof *q);
        sweep->xw[4 * (size_t)i + 3] = o->pinned[i] ? 0 : 1 / o->mass[i];
    }
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        const sinew_sweep_batch *b = &sweep->batches[k];
        const size_t lanes = (size_t)b->group_count * (size_t)b->width;
        memset(b->lambda, 0, lanes * (size_t)b->ops->constraint_count * sizeof *b->lambda);
        for (size_t place = 0; b->ops->target_slot >= 0 && place < lanes; place++)
            if (b->element[place] >= 0)
                copy_data(b, place, b->element[place]);
    }
}

/* Groups first .. last-1 of a batch. */
static void run_groups(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_kernel *how, int32_t first,
                       int32_t last)
{
    const size_t lanes = (size_t)first * (size_t)b->width;
    sinew_kernel kernel = *how;
    kernel.group_count = last - first;
    kernel.vertex = b->vertex + lanes * (size_t)b->ops->info.vertex_count;
    kernel.data = b->data + lanes * (size_t)b->ops->data_count;
    kernel.lambda = b->lambda + lanes * (size_t)b->ops->constraint_count;
    kernel.xw = sweep->xw;
    kernel.dx = sweep->dx;
    kernel.apart = sweep->order != SINEW_SWEEP_MESH;
    kernel.share = b->share ? b->share + lanes : NULL;
    b->ops->constrain(&kernel);
}

/* The groups of one colour write to different particles: any split among threads gives the same bits. */
static void run_colour(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_kernel *how, int32_t colour)
{
    const int32_t first = b->first_group[colour], count = b->first_group[colour + 1] - first;
    const int32_t threads = sweep->objective->thread_count;
    const bool parallel = sweep->order == SINEW_SWEEP_COLOURED && count >= PARALLEL_GROUPS && threads > 1;
    if (!parallel) {
        run_groups(sweep, b, how, first, first + count);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int32_t part = 0; part < threads; part++)
        run_groups(sweep, b, how, first + (int32_t)((int64_t)count * part / threads),
                   first + (int32_t)((int64_t)count * (part + 1) / threads));
}

static void run_batch(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_kernel *how, bool backward)
{
    if (sweep->order == SINEW_SWEEP_MESH && backward) {
        for (int32_t group = b->group_count - 1; group >= 0; group--)
            run_groups(sweep, b, how, group, group + 1);
        return;
    }
    for (int32_t c = 0; c < b->colour_count; c++)
        run_colour(sweep, b, how, backward ? b->colour_count - 1 - c : c);
}

/* x += the changes */
static void move(sinew_sweep *sweep)
{
    const size_t size = 4 * (size_t)sweep->objective->particle_count;
    for (size_t i = 0; i < size; i++)
        sweep->xw[i] += sweep->dx[i];
    memset(sweep->dx, 0, size * sizeof *sweep->dx);
}

void sinew_sweep_run(sinew_sweep *sweep, const sinew_kernel *how, bool backward, double relaxation)
{
    sinew_kernel kernel = *how;
    if (sweep->dx)
        kernel.stiffness *= (sinew_real)relaxation;
    for (int32_t k = 0; k < sweep->batch_count; k++)
        run_batch(sweep, &sweep->batches[backward ? sweep->batch_count - 1 - k : k], &kernel, backward);
    if (sweep->dx)
        move(sweep);
}

void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    for (int32_t i = 0; i < o->particle_count; i++)
        memcpy(q + 4 * (size_t)i, sweep->xw + 4 * (size_t)i, 3 * sizeof *q);
}

void sinew_sweep_multipliers(const sinew_sweep_batch *b, double factor, sinew_real *values)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->constraint_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++)
        for (size_t c = 0; b->element[place] >= 0 && c < n; c++)
            values[(size_t)b->element[place] * n + c] =
                (sinew_real)(factor * (double)b->lambda[(place / W * n + c) * W + place % W]);
}
