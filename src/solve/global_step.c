/* SPDX-License-Identifier: MIT
 *
 * global_step.c: assembles S once and hands it to the prefactored solver. See global_step.h.
 */
#include "solve/global_step.h"

#include <string.h>

#include "objective/assembly.h"

static size_t task_lanes(const sinew_task *task)
{
    return (size_t)task->chunk->group_count * (size_t)task->batch->width;
}

size_t sinew_global_weight_count(const sinew_objective *o)
{
    size_t count = 0;
    for (int32_t t = 0; t < o->task_count; t++)
        count += task_lanes(&o->tasks[t]);
    return count;
}

void sinew_global_stiffness(const sinew_objective *o, double low, double high, sinew_real *weights)
{
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
        kernel.weights = weights;
        kernel.stretch_low = low;
        kernel.stretch_high = high;
        task->batch->ops->stiffness(&kernel);
        weights += task_lanes(task);
    }
}

/* ---- Assembly -------------------------------------------------------------------------------- */

void sinew_global_matrix_release(sinew_global_matrix *d, const sinew_objective *o)
{
    sinew_assembly_destroy(o, d->pattern);
    sinew_release(&o->allocator, d->locals);
    sinew_release(&o->allocator, d->value);
    sinew_release(&o->allocator, d->column);
    sinew_release(&o->allocator, d->rows);
}

/* Room for the rows of any one task's D. */
static size_t row_count(const sinew_objective *o)
{
    size_t most = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_energy_ops *ops = o->tasks[t].batch->ops;
        size_t size = task_lanes(&o->tasks[t]) * (size_t)ops->row_count * (size_t)ops->info.vertex_count;
        most = size > most ? size : most;
    }
    return most;
}

/* w sum_r d_ra d_rb of the element in one lane */
static double element_entry(const sinew_energy_ops *ops, const sinew_real *rows, size_t W, size_t group, size_t lane,
                            size_t a, size_t b, double weight)
{
    const size_t n = (size_t)ops->info.vertex_count, R = (size_t)ops->row_count;
    double sum = 0;
    for (size_t r = 0; r < R; r++)
        sum += (double)rows[((group * R + r) * n + a) * W + lane] * (double)rows[((group * R + r) * n + b) * W + lane];
    return weight * sum;
}

/* Called for each entry in a pass over those of all elements. */
typedef void entry_visitor(void *context, int32_t row_particle, int32_t column_particle, int32_t map, double value);

static void visit_entries(const sinew_objective *o, const sinew_global_matrix *d, const sinew_real *weights,
                          entry_visitor *visit, void *context)
{
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
        const int32_t *vertex = task->batch->vertex + (size_t)task->chunk->first_group * n * W;
        const int32_t *particle = task->batch->particle + task->chunk->first_slot;
        const int32_t *map = d->pattern->map + d->pattern->task_map[t];
        sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
        kernel.rows = d->rows;
        task->batch->ops->reduce(&kernel);
        for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b <= a; b++)
                    for (size_t lane = 0; lane < W; lane++, map++) {
                        bool filler = task->batch->element[((size_t)task->chunk->first_group + group) * W + lane] < 0;
                        double weight = filler ? 0 : (double)weights[group * W + lane];
                        visit(context, particle[vertex[(group * n + a) * W + lane] / SINEW_POINT],
                              particle[vertex[(group * n + b) * W + lane] / SINEW_POINT], *map,
                              element_entry(task->batch->ops, d->rows, W, group, lane, a, b, weight));
                    }
        weights += task_lanes(task);
    }
}

static void add_local(void *context, int32_t i, int32_t j, int32_t map, double value)
{
    (void)i;
    (void)j;
    if (map >= 0)
        ((sinew_global_matrix *)context)->locals[map / 2] += value;
}

/* M/h^2 */
static double inertia_of(const sinew_objective *o, int32_t particle)
{
    return o->quasistatic ? 0 : (double)o->mass[particle] / (o->h * o->h);
}

/* Entry k of sum w D^T D */
static double elastic_entry(const sinew_global_matrix *d, int32_t k)
{
    double sum = 0;
    for (int32_t l = d->pattern->first_local[k]; l < d->pattern->first_local[k + 1]; l++)
        sum += d->locals[d->pattern->locals[l]];
    return sum;
}

static void fill_matrix(const sinew_objective *o, sinew_global_matrix *d)
{
    const sinew_assembly *as = d->pattern;
    for (int32_t j = 0; j < as->free_count; j++) {
        d->column[j] = as->column[j];
        for (int32_t k = as->column[j]; k < as->column[j + 1]; k++)
            d->value[k] = elastic_entry(d, k) + (k == as->column[j] ? inertia_of(o, as->particle[j]) : 0);
    }
    d->column[as->free_count] = as->column[as->free_count];
}

/* ---- Coupling to pins ------------------------------------------------------------------------ */

typedef struct coupling_pass {
    const sinew_objective *objective;
    sinew_global *global;
} coupling_pass;

static void add_coupling(void *context, int32_t i, int32_t j, int32_t map, double value)
{
    const coupling_pass *pass = context;
    const uint8_t *pinned = pass->objective->pinned;
    sinew_global *g = pass->global;
    (void)map;
    if (pinned[i] == pinned[j] || value == 0)
        return;
    if (g->coupling_row) {
        g->coupling_row[g->coupling_count] = pinned[i] ? j : i;
        g->coupling_pin[g->coupling_count] = pinned[i] ? i : j;
        g->coupling_value[g->coupling_count] = value;
    }
    g->coupling_count++;
}

static bool find_coupling(const sinew_objective *o, sinew_global *g, const sinew_global_matrix *d,
                          const sinew_real *weights)
{
    coupling_pass pass = {o, g};
    visit_entries(o, d, weights, add_coupling, &pass);
    size_t count = (size_t)g->coupling_count;
    int32_t *row = sinew_allocate(&o->allocator, count, sizeof *row);
    g->coupling_pin = sinew_allocate(&o->allocator, count, sizeof *g->coupling_pin);
    g->coupling_value = sinew_allocate(&o->allocator, count, sizeof *g->coupling_value);
    g->coupling_row = row;
    if (!row || !g->coupling_pin || !g->coupling_value)
        return false;
    g->coupling_count = 0;
    visit_entries(o, d, weights, add_coupling, &pass);
    return true;
}

/* ---- Create, solve --------------------------------------------------------------------------- */

sinew_status sinew_global_assemble(sinew_global_matrix *d, const sinew_objective *o, const sinew_real *weights,
                                   sinew_error *error)
{
    sinew_error local = {0};
    *d = (sinew_global_matrix){.pattern = sinew_assembly_create(o, NULL, &local)};
    if (!d->pattern)
        return sinew_fail(error, local.status, "%s", local.text);
    size_t entries = (size_t)d->pattern->column[d->pattern->free_count];
    d->locals = sinew_allocate_zero(&o->allocator, (size_t)d->pattern->local_count, sizeof *d->locals);
    d->value = sinew_allocate(&o->allocator, entries, sizeof *d->value);
    d->column = sinew_allocate(&o->allocator, (size_t)d->pattern->free_count + 1, sizeof *d->column);
    d->rows = sinew_allocate(&o->allocator, row_count(o), sizeof *d->rows);
    if (!d->locals || !d->value || !d->column || !d->rows)
        return sinew_fail_memory(error, "the global matrix");
    visit_entries(o, d, weights, add_local, d);
    fill_matrix(o, d);
    return SINEW_OK;
}

static sinew_status factorise(sinew_global *g, const sinew_objective *o, const sinew_global_matrix *d, bool scalable,
                              sinew_error *error)
{
    const sinew_prefactor_kernels kernels = {sinew_lanes()->panels, sinew_lanes()->dense};
    sinew_real *places = sinew_assembly_places(d->pattern, o);
    if (!places)
        return sinew_fail_memory(error, "the elimination order");
    memcpy(g->particle, d->pattern->particle, (size_t)g->free_count * sizeof *g->particle);
    g->factor = (scalable ? sinew_prefactor_create_kept : sinew_prefactor_create)(
        &o->allocator, &kernels, o->thread_count, g->free_count, d->column, d->pattern->row, d->value, places, error);
    sinew_release(&o->allocator, places);
    return g->factor ? SINEW_OK : error->status;
}

static bool keep_entries(sinew_global *g, const sinew_objective *o, const sinew_global_matrix *d)
{
    const int32_t *column = d->pattern->column;
    const size_t entries = (size_t)column[g->free_count];
    g->elastic = sinew_allocate(&o->allocator, entries, sizeof *g->elastic);
    g->value = sinew_allocate(&o->allocator, entries, sizeof *g->value);
    g->diagonal = sinew_allocate(&o->allocator, (size_t)g->free_count + 1, sizeof *g->diagonal);
    if (!g->elastic || !g->value || !g->diagonal)
        return false;
    memcpy(g->diagonal, column, ((size_t)g->free_count + 1) * sizeof *g->diagonal);
    for (int32_t k = 0; k < column[g->free_count]; k++)
        g->elastic[k] = elastic_entry(d, k);
    return true;
}

static sinew_status create(sinew_global *g, const sinew_objective *o, const sinew_real *weights, bool scalable,
                           sinew_error *error)
{
    sinew_global_matrix d;
    sinew_error local = {0};
    *g = (sinew_global){0};
    sinew_status status = sinew_global_assemble(&d, o, weights, &local);
    if (status == SINEW_OK) {
        g->free_count = d.pattern->free_count;
        g->particle = sinew_allocate(&o->allocator, (size_t)g->free_count, sizeof *g->particle);
        if (!g->particle || !find_coupling(o, g, &d, weights) || (scalable && !keep_entries(g, o, &d)))
            status = sinew_fail_memory(&local, "the global matrix");
    }
    if (status == SINEW_OK)
        status = factorise(g, o, &d, scalable, &local);
    sinew_global_matrix_release(&d, o);
    if (status == SINEW_OK)
        return SINEW_OK;
    sinew_global_destroy(g, o);
    return sinew_fail(error, local.status, "%s", local.text);
}

sinew_status sinew_global_create(sinew_global *g, const sinew_objective *o, const sinew_real *weights,
                                 sinew_error *error)
{
    return create(g, o, weights, false, error);
}

sinew_status sinew_global_create_scalable(sinew_global *g, const sinew_objective *o, const sinew_real *weights,
                                          sinew_error *error)
{
    return create(g, o, weights, true, error);
}

bool sinew_global_rescale(sinew_global *g, const sinew_objective *o, double scale)
{
    for (int32_t k = 0; k < g->diagonal[g->free_count]; k++)
        g->value[k] = scale * g->elastic[k];
    for (int32_t j = 0; j < g->free_count; j++)
        g->value[g->diagonal[j]] += inertia_of(o, g->particle[j]);
    return sinew_prefactor_refactor(g->factor, g->value);
}

void sinew_global_destroy(sinew_global *g, const sinew_objective *o)
{
    sinew_prefactor_destroy(g->factor);
    sinew_release(&o->allocator, g->particle);
    sinew_release(&o->allocator, g->coupling_row);
    sinew_release(&o->allocator, g->coupling_pin);
    sinew_release(&o->allocator, g->coupling_value);
    sinew_release(&o->allocator, g->elastic);
    sinew_release(&o->allocator, g->value);
    sinew_release(&o->allocator, g->diagonal);
    *g = (sinew_global){0};
}

void sinew_global_solve(const sinew_global *g, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    sinew_prefactor_solve(g->factor, g->particle, b, x);
    for (int32_t i = 0; i < o->particle_count; i++)
        if (o->pinned[i])
            memset(x + 4 * (size_t)i, 0, 4 * sizeof *x);
}

void sinew_global_move_pins(const sinew_global *g, const sinew_real *q, sinew_real *b)
{
    for (int32_t k = 0; k < g->coupling_count; k++)
        for (size_t c = 0; c < 3; c++)
            b[4 * (size_t)g->coupling_row[k] + c] -=
                (sinew_real)(g->coupling_value[k] * (double)q[4 * (size_t)g->coupling_pin[k] + c]);
}
