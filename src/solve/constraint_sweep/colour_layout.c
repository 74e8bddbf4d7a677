/* SPDX-License-Identifier: MIT
 *
 * colour_layout.c: lays constraints out by colour and updates their data. See sweep.h.
 */
#include <string.h>

#include "base/counting_sort.h"
#include "energy/contact_data.h"
#include "energy/registry.h"
#include "solve/constraint_sweep/sweep.h"

/* ---- Layout of one batch --------------------------------------------------------------------- */

/* The elements of a batch, with particle indices relative to `low`, the lowest particle; indices are below `span`. */
typedef struct listed {
    sinew_elements elements;
    int32_t low, span;
} listed;

/* Grows a buffer of a batch, with spare capacity for transient elements: the number of their SIMD groups varies. */
static bool sweep_layout_reserve_buffers(const sinew_sweep *sweep, const sinew_sweep_batch *b, void *slot,
                                         size_t *capacity, size_t count, size_t size)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    return b->source->transient ? sinew_reserve_spare(allocator, slot, capacity, count, size)
                                : sinew_reserve(allocator, slot, capacity, count, size);
}

static bool reserve_past_multipliers(const sinew_sweep *sweep, sinew_sweep_batch *b)
{
    const size_t count = (size_t)b->group_count * (size_t)b->width * (size_t)b->ops->constraint_count;
    return sweep_layout_reserve_buffers(sweep, b, &b->past[0], &b->past_capacity[0], count, sizeof *b->lambda) &&
           sweep_layout_reserve_buffers(sweep, b, &b->past[1], &b->past_capacity[1], count, sizeof *b->lambda);
}

/* Grows sweep->numbers so that values, Jacobians and compliances of one SIMD group of this batch fit. */
static bool reserve_numbers(sinew_sweep *sweep, const sinew_sweep_batch *b)
{
    const size_t m = (size_t)b->ops->constraint_count, n = (size_t)b->ops->info.vertex_count;
    return sinew_reserve(&sweep->objective->allocator, &sweep->numbers, &sweep->number_capacity,
                         m * (1 + 3 * n + m) * (size_t)b->width, sizeof *sweep->numbers);
}

static bool reserve_batch(sinew_sweep *sweep, sinew_sweep_batch *b)
{
    const size_t padded_count = (size_t)b->group_count * (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    return sweep_layout_reserve_buffers(sweep, b, &b->vertex, &b->vertex_capacity, padded_count * n,
                                        sizeof *b->vertex) &&
           sweep_layout_reserve_buffers(sweep, b, &b->data, &b->data_capacity,
                                        padded_count * (size_t)b->ops->data_count, sizeof *b->data) &&
           sweep_layout_reserve_buffers(sweep, b, &b->element, &b->element_capacity, padded_count,
                                        sizeof *b->element) &&
           sweep_layout_reserve_buffers(sweep, b, &b->lambda, &b->lambda_capacity,
                                        padded_count * (size_t)b->ops->constraint_count, sizeof *b->lambda) &&
           (!sweep->rule.extrapolates || reserve_past_multipliers(sweep, b)) &&
           (!sweep->rule.numbers || reserve_numbers(sweep, b)) &&
           (!b->ops->global_constraint || sinew_sweep_global_capacity(sweep, b));
}

/* Copies the data of all elements from the source batch. Padding lanes of a SIMD group repeat the group's first element
 * with weight zero: kernels write the zero correction of a padding lane, too, and must not write it to a particle that
 * another thread moves. */
static void copy_element_data(sinew_sweep_batch *b)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * W; padded_index++) {
        const bool filler = b->element[padded_index] < 0;
        sinew_real data[SINEW_DATA_MAX], *to = b->data + padded_index / W * D * W + padded_index % W;
        sinew_batch_element(b->source, b->element[filler ? padded_index / W * W : padded_index], data);
        data[0] = filler ? 0 : data[0];
        for (size_t d = 0; d < D; d++)
            to[d * W] = data[d];
    }
    b->version = b->source->version;
    b->form_version = b->source->form_version;
}

/* Copies only the weights of all elements; weights change with the material, and when elements are switched on or
 * off. */
static void copy_element_weights(sinew_sweep_batch *b)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * W; padded_index++)
        if (b->element[padded_index] >= 0)
            b->data[padded_index / W * D * W + padded_index % W] =
                sinew_batch_weight(b->source, b->element[padded_index]);
    b->version = b->source->version;
}

static int32_t class_count(const sinew_sweep_batch *b)
{
    return b->domains.level_count > 0 ? sinew_domain_count(&b->domains) * b->colour_count : b->colour_count;
}

/* Puts the elements of each class (a colour, or a colour of a domain) into SIMD groups. */
static void fill_batch(sinew_sweep_batch *b, const listed *list, const int32_t *first, const int32_t *order)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (int32_t c = 0; c < class_count(b); c++)
        for (size_t padded_index = (size_t)b->first_group[c] * W; padded_index < (size_t)b->first_group[c + 1] * W;
             padded_index++) {
            const int32_t k = first[c] + (int32_t)(padded_index - (size_t)b->first_group[c] * W);
            const bool filler = k >= first[c + 1];
            const int32_t element = order[filler ? k - (int32_t)(padded_index % W) : k];
            for (size_t a = 0; a < n; a++)
                b->vertex[(padded_index / W * n + a) * W + padded_index % W] =
                    SINEW_POINT * (list->low + list->elements.vertices[(size_t)element * n + a]);
            b->element[padded_index] = filler ? -1 : element;
        }
    copy_element_data(b);
}

/* Finds the class of each element: its colour, or its domain and colour. There is one class if the order of the sweep
 * needs no colours, or the batch is a global constraint. Transient elements are not divided into domains, as they are
 * few and change often. */
static sinew_status find_classes(const sinew_sweep *sweep, sinew_sweep_batch *b, const listed *list,
                                 sinew_sweep_work *work, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    if (sweep->order != SINEW_SWEEP_COLOURED || b->ops->global_constraint) {
        memset(work->classes, 0, (size_t)list->elements.count * sizeof *work->classes);
        b->colour_count = 1;
        return SINEW_OK;
    }
    const int32_t limit = b->source->transient ? o->particle_count : list->span;
    const sinew_status status = sinew_colour_elements_again(&work->colours, &o->allocator, limit, &list->elements,
                                                            work->classes, &b->colour_count, error);
    if (status == SINEW_OK && !b->source->transient)
        sinew_domains_divide(&b->domains, o->particle_count, list->low, &list->elements, b->colour_count,
                             work->classes);
    return status;
}

/* Sorts elements by class. Within a class of a coloured sweep, fixed elements follow the order of particles, so that a
 * thread's elements of each colour lie in about the same region of the body. This order affects caching only. */
static bool order_elements(const sinew_sweep *sweep, const sinew_sweep_batch *b, const listed *list,
                           sinew_sweep_work *work)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const int32_t count = list->elements.count, limit = list->span;
    if (sweep->order != SINEW_SWEEP_COLOURED || b->source->transient) {
        sinew_colour_groups(work->classes, count, class_count(b), work->first, work->order);
        return true;
    }
    if (!sinew_reserve(allocator, &work->along, &work->along_capacity, (size_t)count, sizeof *work->along) ||
        !sinew_reserve(allocator, &work->sorted, &work->sorted_capacity, (size_t)(limit > count ? limit : count) + 1,
                       sizeof *work->sorted))
        return false;
    sinew_order_by_lowest(list->elements.vertices, count, list->elements.size, limit, work->sorted, work->along);
    for (int32_t i = 0; i < count; i++)
        work->sorted[i] = work->classes[work->along[i]];
    sinew_colour_groups(work->sorted, count, class_count(b), work->first, work->order);
    for (int32_t i = 0; i < count; i++)
        work->order[i] = work->along[work->order[i]];
    return true;
}

static void zero_multipliers(sinew_sweep_batch *b)
{
    const size_t padded_count = (size_t)b->group_count * (size_t)b->width;
    memset(b->lambda, 0, padded_count * (size_t)b->ops->constraint_count * sizeof *b->lambda);
}

/* Sorts the listed elements by their known classes and puts them into SIMD groups. Returns false if out of memory. */
static bool group_elements(sinew_sweep *sweep, sinew_sweep_batch *b, const listed *list, sinew_sweep_work *work)
{
    const int32_t classes = class_count(b);
    const size_t starts = (size_t)classes + 1;
    if (!sweep_layout_reserve_buffers(sweep, b, &work->first, &work->first_capacity, starts, sizeof *work->first) ||
        !sweep_layout_reserve_buffers(sweep, b, &b->first_group, &b->first_capacity, starts, sizeof *b->first_group) ||
        !order_elements(sweep, b, list, work))
        return false;
    b->group_count = 0;
    for (int32_t c = 0; c < classes; c++) {
        b->first_group[c] = b->group_count;
        b->group_count += (work->first[c + 1] - work->first[c] + b->width - 1) / b->width;
    }
    b->first_group[classes] = b->group_count;
    if (!reserve_batch(sweep, b))
        return false;
    fill_batch(b, list, work->first, work->order);
    zero_multipliers(b); /* zero: contacts may read multipliers before the first sweep */
    return true;
}

/* Mesh order processes single elements, so it uses kernels of SIMD width one. */
static const sinew_energy_ops *choose_ops(const sinew_batch *batch, sinew_sweep_order order, int32_t *width)
{
    const sinew_energy_ops *scalar = order == SINEW_SWEEP_MESH ? sinew_energy_scalar(batch->ops) : NULL;
    *width = scalar ? 1 : batch->width;
    return scalar ? scalar : batch->ops;
}

static sinew_status build_batch(sinew_sweep *sweep, sinew_sweep_batch *b, const sinew_batch *source,
                                sinew_sweep_work *work, sinew_error *error)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const size_t count = (size_t)source->element_count, entries = count * (size_t)source->ops->info.vertex_count;
    b->source = source;
    b->ops = choose_ops(source, sweep->order, &b->width);
    b->domains = (sinew_domains){0};
    if (!sinew_reserve(allocator, &work->particles, &work->particle_bytes, entries, sizeof *work->particles) ||
        !sinew_reserve(allocator, &work->classes, &work->class_capacity, count, sizeof *work->classes) ||
        !sinew_reserve(allocator, &work->order, &work->order_capacity, count, sizeof *work->order))
        return sinew_fail_memory(error, "the constraints");
    listed list = {.elements = {work->particles, source->element_count, source->ops->info.vertex_count}};
    sinew_batch_list_particles(source, work->particles);
    list.low = sinew_shift_indices_to_zero(work->particles, entries, &list.span);
    const sinew_status status = find_classes(sweep, b, &list, work, error);
    if (status == SINEW_OK && !group_elements(sweep, b, &list, work))
        return sinew_fail_memory(error, "the constraints");
    return status;
}

static void sweep_layout_release_work(sinew_sweep_work *work, const sinew_allocator *allocator)
{
    void *arrays[] = {work->particles, work->classes, work->order, work->along, work->sorted, work->first};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    sinew_colour_work_release(&work->colours, allocator);
    *work = (sinew_sweep_work){0};
}

/* ---- Averaging weights of a Jacobi sweep ----------------------------------------------------- */

/* Counts elements per particle: crowd[i] += `by` for every element of the batch that contains particle i. */
static void count_elements(const sinew_sweep_batch *b, int32_t by, int32_t *crowd)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * W; padded_index++)
        for (size_t a = 0; b->element[padded_index] >= 0 && a < n; a++)
            crowd[b->vertex[(padded_index / W * n + a) * W + padded_index % W] / SINEW_POINT] += by;
}

static void fill_averaging_weights(const sinew_sweep_batch *b, const int32_t *crowd, const uint8_t *pinned)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * W; padded_index++) {
        int32_t max = 1;
        for (size_t a = 0; a < n; a++) {
            int32_t particle = b->vertex[(padded_index / W * n + a) * W + padded_index % W] / SINEW_POINT;
            if (!pinned[particle] && crowd[particle] > max)
                max = crowd[particle];
        }
        b->averaging_weight[padded_index] = (sinew_real)1 / (sinew_real)max;
    }
}

/* Computes the averaging weights of all batches. sweep->crowd counts fixed elements per particle; transient ones are
 * added only while averaging weights are computed. */
static sinew_status set_averaging_weights(sinew_sweep *sweep, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        sinew_sweep_batch *b = &sweep->batches[k];
        if (!sweep_layout_reserve_buffers(sweep, b, &b->averaging_weight, &b->averaging_capacity,
                                          (size_t)b->group_count * (size_t)b->width, sizeof *b->averaging_weight))
            return sinew_fail_memory(error, "the constraints");
    }
    for (int32_t k = sweep->fixed_count; k < sweep->batch_count; k++)
        count_elements(&sweep->batches[k], 1, sweep->crowd);
    for (int32_t k = 0; k < sweep->batch_count; k++)
        fill_averaging_weights(&sweep->batches[k], sweep->crowd, o->step.pinned);
    for (int32_t k = sweep->fixed_count; k < sweep->batch_count; k++)
        count_elements(&sweep->batches[k], -1, sweep->crowd);
    return SINEW_OK;
}

/* ---- All batches of a sweep ------------------------------------------------------------------ */

/* Reserves memory for `count` batches of the sweep; existing batches are kept. */
static bool reserve_batches(sinew_sweep *sweep, int32_t count)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    if (!sinew_reserve(allocator, &sweep->turn, &sweep->turn_capacity, (size_t)count, sizeof *sweep->turn))
        return false;
    if (sweep->batches && count <= sweep->batch_limit)
        return true;
    const int32_t limit = sweep->batches ? count + count / 2 : count;
    sinew_sweep_batch *grown =
        sinew_reallocate(allocator, sweep->batches, (size_t)sweep->batch_limit, (size_t)limit, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + sweep->batch_limit, 0, (size_t)(limit - sweep->batch_limit) * sizeof *grown);
    sweep->batches = grown;
    sweep->batch_limit = limit;
    return true;
}

/* Appends the batches that begin in the objective's tasks first .. last - 1 to the sweep. */
static sinew_status add_batches(sinew_sweep *sweep, int32_t first, int32_t last, sinew_sweep_work *work,
                                sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    int32_t count = sweep->batch_count;
    for (int32_t t = first; t < last; t++)
        count += sinew_task_begins(o, t);
    sinew_status status = reserve_batches(sweep, count) ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    for (int32_t t = first; status == SINEW_OK && t < last; t++)
        if (sinew_task_begins(o, t))
            status = build_batch(sweep, &sweep->batches[sweep->batch_count++], o->tasks[t].batch, work, error);
    return status;
}

static bool batch_is_coupling(const sinew_sweep_batch *b)
{
    return sinew_get_stencil(b->ops->info.stencil)->couples;
}

/* Sets the order of batches in a sweep: the objective's order; after sinew_sweep_arrange() with coupling energies
 * before or after all others. Coupling energies join arbitrary points, not neighbours of a mesh (`couples` of their
 * stencil). */
static void set_batch_order(sinew_sweep *sweep)
{
    int32_t at = 0;
    for (int pass = 0; pass < (sweep->arranged ? 2 : 1); pass++)
        for (int32_t k = 0; k < sweep->batch_count; k++)
            if (!sweep->arranged || batch_is_coupling(&sweep->batches[k]) == (sweep->couplings_first == (pass == 0)))
                sweep->turn[at++] = k;
}

void sinew_sweep_arrange(sinew_sweep *sweep, bool first)
{
    sweep->arranged = true;
    sweep->couplings_first = first;
    set_batch_order(sweep);
}

/* Rebuilds the batches of transient elements of the sweep. */
static sinew_status build_transient_batches(sinew_sweep *sweep, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    sweep->batch_count = sweep->fixed_count;
    sinew_status status = add_batches(sweep, o->fixed_task_count, o->task_count, &sweep->work, error);
    if (status == SINEW_OK)
        set_batch_order(sweep);
    return status == SINEW_OK && sweep->crowd ? set_averaging_weights(sweep, error) : status;
}

static bool allocate_points(sinew_sweep *sweep)
{
    const sinew_objective *o = sweep->objective;
    const size_t count = (size_t)o->particle_count;
    const bool jacobi = sweep->order == SINEW_SWEEP_JACOBI;
    sweep->xw = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *sweep->xw);
    if (jacobi) {
        sweep->dx = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *sweep->dx);
        sweep->crowd = sinew_allocate_zero(&o->allocator, count, sizeof *sweep->crowd);
    }
    for (int i = 0; sweep->rule.extrapolates && i < 2; i++)
        sweep->past[i] = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *sweep->past[i]);
    if (sweep->rule.numbers) {
        sweep->start = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *sweep->start);
        sweep->balanced = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *sweep->balanced);
    }
    return sweep->xw && (!jacobi || (sweep->dx && sweep->crowd)) &&
           (!sweep->rule.extrapolates || (sweep->past[0] && sweep->past[1])) &&
           (!sweep->rule.numbers || (sweep->start && sweep->balanced));
}

sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *o, const sinew_sweep_rule *rule,
                                sinew_error *error)
{
    sinew_sweep_work work = {0};
    *sweep = (sinew_sweep){.objective = o, .order = rule->order, .rule = *rule};
    sinew_status status = allocate_points(sweep) ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    if (status == SINEW_OK)
        status = add_batches(sweep, 0, o->fixed_task_count, &work, error);
    sweep_layout_release_work(&work, &o->allocator);
    sweep->fixed_count = sweep->batch_count;
    for (int32_t k = 0; status == SINEW_OK && sweep->crowd && k < sweep->fixed_count; k++)
        count_elements(&sweep->batches[k], 1, sweep->crowd);
    if (status == SINEW_OK)
        status = build_transient_batches(sweep, error);
    if (status != SINEW_OK)
        sinew_sweep_destroy(sweep);
    return status;
}

sinew_status sinew_sweep_refresh(sinew_sweep *sweep, bool transient, bool pins, sinew_error *error)
{
    if (transient)
        return build_transient_batches(sweep, error);
    return pins && sweep->crowd ? set_averaging_weights(sweep, error) : SINEW_OK;
}

void sinew_sweep_destroy(sinew_sweep *sweep)
{
    if (!sweep->objective)
        return;
    const sinew_allocator *allocator = &sweep->objective->allocator;
    for (int32_t i = 0; i < sweep->batch_limit; i++) {
        sinew_sweep_batch *b = &sweep->batches[i];
        void *arrays[] = {b->first_group,      b->vertex,  b->data,  b->element, b->lambda,
                          b->averaging_weight, b->numbers, b->slope, b->past[0], b->past[1]};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    sweep_layout_release_work(&sweep->work, allocator);
    void *arrays[] = {sweep->batches, sweep->turn,    sweep->xw,    sweep->dx,       sweep->crowd,
                      sweep->past[0], sweep->past[1], sweep->start, sweep->balanced, sweep->numbers};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *sweep = (sinew_sweep){0};
}

static void update_batch_data(sinew_sweep_batch *b)
{
    if (b->form_version != b->source->form_version)
        copy_element_data(b);
    else if (b->version != b->source->version)
        copy_element_weights(b);
}

void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    for (int32_t i = 0; i < o->particle_count; i++) {
        memcpy(sweep->xw + 4 * (size_t)i, q + 4 * (size_t)i, 3 * sizeof *q);
        sweep->xw[4 * (size_t)i + 3] = o->step.pinned[i] ? 0 : 1 / o->step.mass[i];
    }
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        zero_multipliers(&sweep->batches[k]);
        update_batch_data(&sweep->batches[k]);
    }
    if (sweep->start)
        memcpy(sweep->start, sweep->xw, 4 * (size_t)o->particle_count * sizeof *sweep->start);
}

/* Sets the multipliers of contacts to `unit` times the forces in their data, so that contacts keep them: only the same
 * constraint can undo the impulses that positions already include. */
static void set_contact_multipliers(sinew_sweep_batch *b, double unit)
{
    static const int from[] = {SINEW_CONTACT_LAMBDA, SINEW_CONTACT_STICK_FORCE, SINEW_CONTACT_STICK_FORCE + 1,
                               SINEW_CONTACT_STICK_FORCE + 2};
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count, n = (size_t)b->ops->constraint_count;
    for (size_t padded_index = 0; b->ops->contact && padded_index < (size_t)b->group_count * W; padded_index++)
        for (size_t c = 0; b->element[padded_index] >= 0 && c < n; c++)
            b->lambda[(padded_index / W * n + c) * W + padded_index % W] =
                (sinew_real)(unit * (double)b->data[(padded_index / W * D + (size_t)from[c]) * W + padded_index % W]);
}

void sinew_sweep_contacts_changed(sinew_sweep *sweep, double unit)
{
    for (int32_t k = sweep->fixed_count; k < sweep->batch_count; k++) {
        zero_multipliers(&sweep->batches[k]);
        update_batch_data(&sweep->batches[k]);
        set_contact_multipliers(&sweep->batches[k], unit);
    }
}
