/* SPDX-License-Identifier: MIT
 *
 * global_matrix.c: assembles S and its coupling to pins from elements. See global_matrix.h.
 */
#include "solve/projective/global_matrix.h"

#include <string.h>

/* Capacity of buffers over the lanes of a SIMD group: at least the width of every SIMD variant. */
#define SIMD_WIDTH_MAX 64

size_t sinew_task_padded_count(const sinew_task *task)
{
    return (size_t)task->chunk->group_count * (size_t)task->batch->width;
}

size_t sinew_tasks_padded_count(const sinew_objective *o, int32_t first, int32_t last)
{
    size_t count = 0;
    for (int32_t t = first; t < last; t++)
        count += sinew_task_padded_count(&o->tasks[t]);
    return count;
}

/* ---- Entries of S from elements -------------------------------------------------------------- */

/* Number of reals of a task's reduction matrices D, for the task that needs most. */
static size_t reduction_size(const sinew_objective *o, int32_t task_count)
{
    size_t max = 0;
    for (int32_t t = 0; t < task_count; t++) {
        const sinew_energy_ops *ops = o->tasks[t].batch->ops;
        size_t size =
            sinew_task_padded_count(&o->tasks[t]) * (size_t)ops->reduced_count * (size_t)ops->info.vertex_count;
        max = size > max ? size : max;
    }
    return max;
}

/* Entries of the global matrix S from one SIMD group's elements at their vertices a and b: w sum_r d_ra d_rb, with
 * the weights w and reduction matrices d. */
static inline __attribute__((always_inline)) void group_entries(const sinew_energy_ops *ops, const sinew_real *D,
                                                                size_t W, size_t a, size_t b, const double *weights,
                                                                double *entries)
{
    const size_t n = (size_t)ops->info.vertex_count, R = (size_t)ops->reduced_count;
    for (size_t lane = 0; lane < W; lane++)
        entries[lane] = 0;
    for (size_t r = 0; r < R; r++)
        for (size_t lane = 0; lane < W; lane++)
            entries[lane] += (double)D[(r * n + a) * W + lane] * (double)D[(r * n + b) * W + lane];
    for (size_t lane = 0; lane < W; lane++)
        entries[lane] *= weights[lane];
}

/* Called for each entry of the global matrix S that an element adds to. */
typedef void entry_visitor(void *context, int32_t row_particle, int32_t column_particle, int32_t map, double value);

/* Visits the entries of the global matrix S from one SIMD group of elements; returns the start of the next group in
 * map. */
static inline __attribute__((always_inline)) const int32_t *
visit_global_group(const sinew_task *task, size_t W, size_t group, const sinew_real *D, const double *weights,
                   const int32_t *map, entry_visitor *visit, void *context)
{
    const size_t n = (size_t)task->batch->ops->info.vertex_count;
    const int32_t *vertex = task->batch->vertex + ((size_t)task->chunk->first_group + group) * n * W;
    const int32_t *particle = task->batch->particle + task->chunk->first_slot;
    double entries[SIMD_WIDTH_MAX];
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++, map += W) {
            group_entries(task->batch->ops, D + group * (size_t)task->batch->ops->reduced_count * n * W, W, a, b,
                          weights, entries);
            for (size_t lane = 0; lane < W; lane++)
                visit(context, particle[vertex[a * W + lane] / SINEW_POINT],
                      particle[vertex[b * W + lane] / SINEW_POINT], map[lane], entries[lane]);
        }
    return map;
}

/* Visits the entries of the global matrix S from all elements. `switched`: elements that are switched off have the
 * value zero. */
static inline __attribute__((always_inline)) void visit_global_entries(const sinew_objective *o,
                                                                       const sinew_global_matrix *d,
                                                                       const sinew_real *weights, bool switched,
                                                                       entry_visitor *visit, void *context)
{
    for (int32_t t = 0; t < d->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t W = (size_t)task->batch->width;
        const int32_t *map = d->pattern->map + d->pattern->task_map[t];
        const int32_t *element = task->batch->element + (size_t)task->chunk->first_group * W;
        sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
        kernel.D = d->D;
        task->batch->ops->reduce(&kernel);
        for (size_t group = 0; group < (size_t)task->chunk->group_count; group++, element += W, weights += W) {
            double own[SIMD_WIDTH_MAX];
            for (size_t lane = 0; lane < W; lane++)
                own[lane] = element[lane] < 0 || (switched && sinew_batch_is_off(task->batch, element[lane]))
                                ? 0
                                : (double)weights[lane];
            /* With a constant SIMD width the compiler unrolls the loops over the lanes of a group. */
            map = W == 4   ? visit_global_group(task, 4, group, d->D, own, map, visit, context)
                  : W == 8 ? visit_global_group(task, 8, group, d->D, own, map, visit, context)
                           : visit_global_group(task, W, group, d->D, own, map, visit, context);
        }
    }
}

/* ---- Assembly of the global matrix S --------------------------------------------------------- */

sinew_status sinew_global_matrix_create(sinew_global_matrix *d, const sinew_objective *o, int32_t task_count,
                                        sinew_error *error)
{
    *d = (sinew_global_matrix){.task_count = task_count, .pattern = sinew_assembly_create(o, task_count, NULL, error)};
    if (!d->pattern)
        return SINEW_ERROR_MEMORY;
    sinew_assembly_drop_values(o, d->pattern);
    const size_t n = (size_t)d->pattern->free_count, entries = (size_t)d->pattern->column[n];
    d->locals = sinew_allocate(&o->allocator, (size_t)d->pattern->local_count, sizeof *d->locals);
    d->elastic = sinew_allocate(&o->allocator, entries, sizeof *d->elastic);
    d->value = sinew_allocate(&o->allocator, entries, sizeof *d->value);
    d->column = sinew_allocate(&o->allocator, n + 1, sizeof *d->column);
    d->D = sinew_allocate(&o->allocator, reduction_size(o, task_count), sizeof *d->D);
    if (!d->locals || !d->elastic || !d->value || !d->column || !d->D)
        return sinew_fail_memory(error, "the global matrix");
    for (size_t j = 0; j <= n; j++)
        d->column[j] = (size_t)d->pattern->column[j];
    return SINEW_OK;
}

void sinew_global_matrix_release(sinew_global_matrix *d, const sinew_objective *o)
{
    sinew_assembly_destroy(o, d->pattern);
    void *arrays[] = {d->locals, d->elastic, d->value, d->column, d->D};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    *d = (sinew_global_matrix){0};
}

static void add_local(void *context, int32_t i, int32_t j, int32_t map, double value)
{
    (void)i;
    (void)j;
    if (map >= 0)
        ((sinew_global_matrix *)context)->locals[map / 2] += value;
}

/* Computes the elastic part of the global matrix S: entries of the pattern = sum over elements of w D^T D, with
 * weight w and reduction matrix D. */
static void fill_entries(sinew_global_matrix *d, const sinew_objective *o, const sinew_real *weights, bool switched,
                         double *entries)
{
    const sinew_assembly *as = d->pattern;
    memset(d->locals, 0, (size_t)as->local_count * sizeof *d->locals);
    visit_global_entries(o, d, weights, switched, add_local, d);
    for (int32_t k = 0; k < as->column[as->free_count]; k++) {
        double sum = 0;
        for (int32_t l = as->first_local[k]; l < as->first_local[k + 1]; l++)
            sum += d->locals[as->locals[l]];
        entries[k] = sum;
    }
}

void sinew_global_matrix_assign_weights(sinew_global_matrix *d, const sinew_objective *o, const sinew_real *weights)
{
    fill_entries(d, o, weights, false, d->elastic);
}

void sinew_global_matrix_sum(sinew_global_matrix *d, const sinew_objective *o, double scale, const sinew_real *weights)
{
    const sinew_assembly *as = d->pattern;
    const double *elastic = weights ? d->value : d->elastic;
    if (weights)
        fill_entries(d, o, weights, true, d->value);
    for (int32_t k = 0; k < as->column[as->free_count]; k++)
        d->value[k] = scale * elastic[k];
    for (int32_t j = 0; j < as->free_count && !o->step.quasistatic; j++)
        d->value[as->column[j]] += (double)o->step.mass[as->particle[j]] / (o->step.h * o->step.h);
}

void sinew_global_matrix_multiply(const sinew_global_matrix *d, const sinew_objective *o, const sinew_real *x,
                                  sinew_real *Ax)
{
    const sinew_assembly *as = d->pattern;
    memset(Ax, 0, 4 * (size_t)o->particle_count * sizeof *Ax);
    for (int32_t j = 0; j < as->free_count; j++) {
        const size_t own = 4 * (size_t)as->particle[j];
        double sum[3] = {0};
        for (int32_t k = as->column[j]; k < as->column[j + 1]; k++) {
            const size_t other = 4 * (size_t)as->particle[as->row[k]];
            for (size_t c = 0; c < 3; c++) {
                sum[c] += d->value[k] * (double)x[other + c];
                Ax[other + c] += k == as->column[j] ? 0 : (sinew_real)(d->value[k] * (double)x[own + c]);
            }
        }
        for (size_t c = 0; c < 3; c++)
            Ax[own + c] += (sinew_real)sum[c];
    }
}

/* ---- Coupling of free particles to pins ------------------------------------------------------ */

typedef struct coupling_pass {
    const sinew_objective *objective;
    sinew_coupling *coupling;
    bool fill;
} coupling_pass;

static void add_coupling(void *context, int32_t i, int32_t j, int32_t map, double value)
{
    const coupling_pass *pass = context;
    const uint8_t *pinned = pass->objective->step.pinned;
    sinew_coupling *c = pass->coupling;
    (void)map;
    if (pinned[i] == pinned[j] || value == 0)
        return;
    if (pass->fill) {
        c->row[c->count] = pinned[i] ? j : i;
        c->pin[c->count] = pinned[i] ? i : j;
        c->value[c->count] = value;
    }
    c->count++;
}

bool sinew_coupling_find(sinew_coupling *c, sinew_global_matrix *d, const sinew_objective *o, const sinew_real *weights)
{
    coupling_pass pass = {o, c, false};
    c->count = 0;
    visit_global_entries(o, d, weights, false, add_coupling, &pass);
    const size_t count = (size_t)c->count;
    if (!sinew_reserve(&o->allocator, &c->row, &c->row_capacity, count, sizeof *c->row) ||
        !sinew_reserve(&o->allocator, &c->pin, &c->pin_capacity, count, sizeof *c->pin) ||
        !sinew_reserve(&o->allocator, &c->value, &c->value_capacity, count, sizeof *c->value))
        return false;
    c->count = 0;
    pass.fill = true;
    visit_global_entries(o, d, weights, false, add_coupling, &pass);
    return true;
}

void sinew_coupling_move(const sinew_coupling *c, double scale, const sinew_real *q, sinew_real *b)
{
    for (int32_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < 3; i++)
            b[4 * (size_t)c->row[k] + i] -= (sinew_real)(scale * c->value[k] * (double)q[4 * (size_t)c->pin[k] + i]);
}

void sinew_coupling_release(sinew_coupling *c, const sinew_objective *o)
{
    sinew_release(&o->allocator, c->row);
    sinew_release(&o->allocator, c->pin);
    sinew_release(&o->allocator, c->value);
    *c = (sinew_coupling){0};
}
