/* SPDX-License-Identifier: MIT
 *
 * assembly.c: assembles element Hessians to one sparse matrix. See assembly.h.
 */
#include "objective/assembly.h"

#include <string.h>

#include "base/reduce.h"
#include "base/sort.h"
#include "base/stop.h"
#include "objective/block_pattern.h"
#include "objective/global_constraints.h"

/* ---- Local blocks: the sums of element blocks of one chunk --------------------------------------- */

/* Maps each element block of task t to a local block of the chunk, in as->map. Returns false if memory runs out. */
static bool assembly_map_task(const sinew_allocator *allocator, const sinew_objective *o, sinew_assembly *as, int32_t t,
                              sinew_block_table *table, sinew_block_list *list)
{
    const sinew_task *task = &o->tasks[t];
    const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
    const int32_t *vertex = task->batch->vertex + (size_t)task->chunk->first_group * n * W;
    const int32_t *particle = task->batch->particle + task->chunk->first_slot;
    int32_t *map = as->map + as->task_map[t];
    for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++)
                for (size_t lane = 0; lane < W; lane++) {
                    int32_t i = as->free_index[particle[vertex[(group * n + a) * W + lane] / SINEW_POINT]];
                    int32_t j = as->free_index[particle[vertex[(group * n + b) * W + lane] / SINEW_POINT]];
                    int32_t entry = -1;
                    if (i >= 0 && j >= 0) {
                        int64_t row = i > j ? i : j, column = i > j ? j : i;
                        int32_t local = sinew_block_table_find(allocator, table, list, t, row << 32 | column);
                        if (local < 0)
                            return false;
                        entry = 2 * local + (i < j);
                    }
                    *map++ = entry;
                }
    return true;
}

static bool assembly_map_tasks(const sinew_objective *o, sinew_assembly *as, sinew_block_list *list)
{
    const sinew_allocator *allocator = &o->allocator;
    sinew_block_table table = {0};
    size_t total = 0;
    as->task_map = sinew_allocate(allocator, (size_t)as->task_count, sizeof *as->task_map);
    as->task_local = sinew_allocate(allocator, (size_t)as->task_count + 1, sizeof *as->task_local);
    bool good = as->task_map && as->task_local &&
                sinew_block_table_create(allocator, sinew_task_entries_max(o, as->task_count), &table);
    for (int32_t t = 0; good && t < as->task_count; t++) {
        as->task_map[t] = total;
        total += sinew_task_entries(&o->tasks[t]);
    }
    if (good)
        as->map = sinew_allocate(allocator, total, sizeof *as->map);
    good = good && as->map;
    for (int32_t t = 0; good && t < as->task_count; t++) {
        as->task_local[t] = list->count;
        good = !sinew_stop_came() && assembly_map_task(allocator, o, as, t, &table, list);
    }
    if (good)
        as->task_local[as->task_count] = as->local_count = list->count;
    sinew_block_table_release(allocator, &table);
    return good;
}

/* ---- Matrix blocks: the union of all local blocks --------------------------------------------- */

typedef struct entry {
    int32_t row, local; /* local: index of a local 3x3 block; < 0: the diagonal block, which every column stores */
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->local > y->local) - (x->local < y->local);
}

/* Sorts the entries of each column and merges the entries of one row into one matrix block. Returns false if the
 * step is interrupted. */
static bool merge_columns(sinew_assembly *as, const int32_t *start, entry *entries)
{
    int32_t block = 0, used = 0;
    for (int32_t j = 0; j < as->free_count && !sinew_stop_came_in(j); j++) {
        as->column[j] = block;
        sinew_sort(entries + start[j], (size_t)(start[j + 1] - start[j]), sizeof *entries, compare_entries);
        for (int32_t k = start[j]; k < start[j + 1]; k++) {
            if (k == start[j] || entries[k].row != entries[k - 1].row) {
                as->row[block] = entries[k].row;
                as->first_local[block++] = used;
            }
            if (entries[k].local >= 0)
                as->locals[used++] = entries[k].local;
        }
    }
    as->column[as->free_count] = block;
    as->first_local[block] = used;
    return !sinew_stop_came();
}

static bool assembly_build_pattern(const sinew_objective *o, sinew_assembly *as, const sinew_block_list *list)
{
    const sinew_allocator *allocator = &o->allocator;
    const size_t n = (size_t)as->free_count, total = (size_t)list->count + n;
    int32_t *start = sinew_allocate_zero(allocator, n + 2, sizeof *start);
    entry *entries = sinew_allocate(allocator, total, sizeof *entries);
    as->column = sinew_allocate(allocator, n + 1, sizeof *as->column);
    as->row = sinew_allocate(allocator, total, sizeof *as->row);
    as->first_local = sinew_allocate(allocator, total + 1, sizeof *as->first_local);
    as->locals = sinew_allocate(allocator, (size_t)list->count, sizeof *as->locals);
    as->local_values = sinew_allocate(allocator, 9 * (size_t)list->count, sizeof *as->local_values);
    bool good = start && entries && as->column && as->row && as->first_local && as->locals && as->local_values;
    if (good) {
        /* Counting sort by column. Counts are shifted by one column, so that start[j] ends as the first entry of column
         * j. */
        for (int32_t k = 0; k < list->count; k++)
            start[(list->keys[k] & 0xffffffff) + 2]++;
        for (size_t j = 0; j < n; j++)
            start[j + 2] += start[j + 1] + 1;
        for (size_t j = 0; j < n; j++)
            entries[start[j + 1]++] = (entry){(int32_t)j, -1};
        for (int32_t k = 0; k < list->count; k++)
            entries[start[(list->keys[k] & 0xffffffff) + 1]++] = (entry){(int32_t)(list->keys[k] >> 32), k};
        good = merge_columns(as, start, entries);
    }
    sinew_release(allocator, start);
    sinew_release(allocator, entries);
    return good;
}

/* ---- Creation and filling of the sparse matrix --------------------------------------------------- */

static bool assembly_number_particles(const sinew_objective *o, sinew_assembly *as, const int32_t *order)
{
    const sinew_allocator *allocator = &o->allocator;
    int32_t count = 0;
    as->free_index = sinew_allocate(allocator, (size_t)o->particle_count, sizeof *as->free_index);
    int32_t *ascending = sinew_allocate(allocator, (size_t)o->particle_count, sizeof *ascending);
    as->particle = sinew_allocate(allocator, (size_t)o->particle_count, sizeof *as->particle);
    bool good = as->free_index && ascending && as->particle;
    for (int32_t i = 0; good && i < o->particle_count; i++) {
        as->free_index[i] = -1;
        if (!o->step.pinned[i])
            ascending[count++] = i;
    }
    for (int32_t k = 0; good && k < count; k++) {
        as->particle[k] = ascending[order ? order[k] : k];
        as->free_index[as->particle[k]] = k;
    }
    as->free_count = count;
    sinew_release(allocator, ascending);
    return good;
}

sinew_assembly *sinew_assembly_create(const sinew_objective *o, int32_t task_count, const int32_t *order,
                                      sinew_error *error)
{
    sinew_assembly *as = sinew_allocate_zero(&o->allocator, 1, sizeof *as);
    sinew_block_list list = {0};
    if (as)
        as->task_count = task_count;
    bool good = as && assembly_number_particles(o, as, order) && assembly_map_tasks(o, as, &list) &&
                assembly_build_pattern(o, as, &list);
    sinew_release(&o->allocator, list.keys);
    if (good)
        return as;
    sinew_assembly_destroy(o, as);
    sinew_fail_memory(error, "the sparse Hessian");
    return NULL;
}

void sinew_assembly_destroy(const sinew_objective *o, sinew_assembly *as)
{
    if (!as)
        return;
    void *arrays[] = {as->free_index, as->particle, as->column,      as->row,    as->task_local,
                      as->task_map,   as->map,      as->first_local, as->locals, as->local_values};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    sinew_release(&o->allocator, as);
}

void sinew_assembly_drop_values(const sinew_objective *o, sinew_assembly *as)
{
    sinew_release(&o->allocator, as->local_values);
    as->local_values = NULL;
}

sinew_real *sinew_assembly_rest_positions(const sinew_assembly *as, const sinew_objective *o)
{
    sinew_real *positions = sinew_allocate(&o->allocator, 4 * (size_t)as->free_count, sizeof *positions);
    for (int32_t k = 0; positions && k < as->free_count; k++)
        memcpy(positions + 4 * (size_t)k, o->step.rest + 4 * (size_t)as->particle[k], 4 * sizeof *positions);
    return positions;
}

/* Sets the local blocks of task t to the sums of its 3x3 element blocks. */
static void fill_local_blocks(sinew_assembly *as, const sinew_objective *o, int32_t t, const sinew_real *blocks)
{
    const size_t W = (size_t)o->tasks[t].batch->width;
    const int32_t *map = as->map + as->task_map[t];
    size_t entries = sinew_task_entries(&o->tasks[t]);
    memset(as->local_values + 9 * (size_t)as->task_local[t], 0,
           9 * (size_t)(as->task_local[t + 1] - as->task_local[t]) * sizeof *as->local_values);
    for (size_t e = 0; e < entries; e++) {
        if (map[e] < 0)
            continue;
        const sinew_real *block = blocks + e / W * 9 * W + e % W;
        sinew_real *local = as->local_values + 9 * (size_t)(map[e] / 2);
        bool transposed = map[e] & 1;
        for (size_t r = 0; r < 3; r++)
            for (size_t c = 0; c < 3; c++)
                local[3 * r + c] += block[(transposed ? 3 * c + r : 3 * r + c) * W];
    }
}

/* values of one block column of the Hessian = sum of local blocks, plus m/h^2 on the diagonal; filtered by S, the
 * projection to free directions */
static void fill_block_column(const sinew_assembly *as, const sinew_objective *o, int32_t j, double *values)
{
    const size_t blocks = (size_t)(as->column[j + 1] - as->column[j]);
    double *out = values + 9 * (size_t)as->column[j];
    double inertia = o->step.quasistatic ? 0 : (double)o->step.mass[as->particle[j]] / (o->step.h * o->step.h);
    for (size_t k = 0; k < blocks; k++) {
        size_t block = (size_t)as->column[j] + k;
        double sum[9] = {0};
        for (int32_t l = as->first_local[block]; l < as->first_local[block + 1]; l++)
            for (size_t e = 0; e < 9; e++)
                sum[e] += (double)as->local_values[9 * (size_t)as->locals[l] + e];
        for (size_t r = 0; k == 0 && r < 3; r++)
            sum[4 * r] += inertia;
        if (o->step.filter)
            sinew_filter_block(o, as->particle[as->row[block]], as->particle[j], sum);
        for (size_t c = 0; c < 3; c++)
            for (size_t r = 0; r < 3; r++)
                out[3 * blocks * c + 3 * k + r] = sum[3 * r + c];
    }
}

typedef struct fill_pass {
    sinew_assembly *assembly;
    const sinew_objective *objective;
    const sinew_real *q;
    bool project;
    double *values;
    const atomic_bool *stop; /* see base/stop.h: an interrupted step discards the values */
} fill_pass;

static void fill_task_range(const void *context, int32_t thread, int32_t first, int32_t last)
{
    const fill_pass *f = context;
    const sinew_objective *o = f->objective;
    for (int32_t t = first; t < last && !sinew_stop_is_set(f->stop); t++)
        fill_local_blocks(f->assembly, o, t, sinew_task_blocks(o, thread, &o->tasks[t], f->q, f->project));
}

static void fill_column_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const fill_pass *f = context;
    (void)member;
    for (int32_t j = first; j < last && !sinew_stop_is_set(f->stop); j++)
        fill_block_column(f->assembly, f->objective, j, f->values);
}

void sinew_assembly_fill(sinew_assembly *as, sinew_objective *o, const sinew_real *q, bool project, double *values)
{
    const fill_pass pass = {as, o, q, project, values, sinew_stop_flag()};
    sinew_global_constraints_evaluate(o, q);
    sinew_tasks_for(sinew_task_threads(o), as->task_count, 1, fill_task_range, &pass);
    sinew_over_particles(o->thread_count, as->free_count, fill_column_range, &pass);
}
