/* SPDX-License-Identifier: MIT
 *
 * galerkin.c: assembles the Hessian in a coarse space of aggregates. See galerkin.h.
 */
#include "objective/coarse/galerkin.h"

#include <string.h>

#include "base/reduce.h"
#include "base/sort.h"
#include "objective/block_pattern.h"

enum {
    WEIGHTS = SINEW_MODES * SINEW_MODES /* number of products of one basis function each of two aggregates */
};

/* ---- Pattern of the coarse matrix A -------------------------------------------------------------- */

/* Numbers the particle pairs of one task, the higher index first, and maps each 3x3 element block to its pair. */
static bool galerkin_map_task(sinew_galerkin *g, const sinew_objective *o, int32_t t, sinew_block_table *table,
                              sinew_block_list *list)
{
    const sinew_task *task = &o->tasks[t];
    const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
    const int32_t *vertex = task->batch->vertex + (size_t)task->chunk->first_group * n * W;
    const int32_t *particle = task->batch->particle + task->chunk->first_slot, *aggregate = g->space->aggregate;
    int32_t *map = g->map + g->task_map[t];
    for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++)
                for (size_t lane = 0; lane < W; lane++) {
                    const int32_t i = particle[vertex[(group * n + a) * W + lane] / SINEW_POINT];
                    const int32_t j = particle[vertex[(group * n + b) * W + lane] / SINEW_POINT];
                    int32_t entry = -1;
                    if (aggregate[i] >= 0 && aggregate[j] >= 0) {
                        const int64_t key = (int64_t)(i > j ? i : j) << 32 | (i > j ? j : i);
                        const int32_t fine = sinew_block_table_find(&o->allocator, table, list, t, key);
                        if (fine < 0)
                            return false;
                        entry = 2 * fine + (i < j);
                    }
                    *map++ = entry;
                }
    return true;
}

/* Numbers the aggregate pairs of one task, and maps each particle pair to its aggregate pair (a 12x12 block). */
static bool galerkin_map_aggregate_pairs(sinew_galerkin *g, const sinew_objective *o, int32_t t,
                                         const sinew_block_list *fine, sinew_block_table *table,
                                         sinew_block_list *pairs)
{
    const int32_t *aggregate = g->space->aggregate;
    for (int32_t k = g->first_fine[t]; k < g->first_fine[t + 1]; k++) {
        const int32_t i = (int32_t)(fine->keys[k] >> 32), j = (int32_t)(fine->keys[k] & 0xffffffff);
        const int64_t row = aggregate[i] > aggregate[j] ? aggregate[i] : aggregate[j];
        const int64_t column = aggregate[i] > aggregate[j] ? aggregate[j] : aggregate[i];
        const int32_t pair = sinew_block_table_find(&o->allocator, table, pairs, t, row << 32 | column);
        if (pair < 0)
            return false;
        g->fine[k][0] = i;
        g->fine[k][1] = j;
        g->fine[k][2] = 2 * pair + (aggregate[i] < aggregate[j]);
    }
    return true;
}

static bool galerkin_map_tasks(sinew_galerkin *g, const sinew_objective *o, sinew_block_list *fine)
{
    const sinew_allocator *allocator = &o->allocator;
    const size_t tasks = (size_t)g->task_count;
    sinew_block_table table = {0};
    size_t total = 0;
    g->task_map = sinew_allocate(allocator, tasks, sizeof *g->task_map);
    g->first_fine = sinew_allocate_zero(allocator, tasks + 1, sizeof *g->first_fine);
    bool good = g->task_map && g->first_fine &&
                sinew_block_table_create(allocator, sinew_task_entries_max(o, g->task_count), &table);
    for (int32_t t = 0; good && t < g->task_count; t++) {
        g->task_map[t] = total;
        total += sinew_task_entries(&o->tasks[t]);
    }
    good = good && (g->map = sinew_allocate(allocator, total, sizeof *g->map)) != NULL;
    for (int32_t t = 0; good && t < g->task_count; t++) {
        good = galerkin_map_task(g, o, t, &table, fine);
        g->first_fine[t + 1] = fine->count;
        const size_t size = 9 * (size_t)(fine->count - g->first_fine[t]);
        g->scratch_size = size > g->scratch_size ? size : g->scratch_size;
    }
    sinew_block_table_release(allocator, &table);
    return good;
}

static bool galerkin_map_all_aggregate_pairs(sinew_galerkin *g, const sinew_objective *o, const sinew_block_list *fine,
                                             sinew_block_list *pairs)
{
    const sinew_allocator *allocator = &o->allocator;
    sinew_block_table table = {0};
    g->first_pair = sinew_allocate_zero(allocator, (size_t)g->task_count + 1, sizeof *g->first_pair);
    g->fine = sinew_allocate(allocator, (size_t)fine->count, sizeof *g->fine);
    bool good = g->first_pair && g->fine && sinew_block_table_create(allocator, g->scratch_size / 9, &table);
    for (int32_t t = 0; good && t < g->task_count; t++) {
        good = galerkin_map_aggregate_pairs(g, o, t, fine, &table, pairs);
        g->first_pair[t + 1] = pairs->count;
    }
    sinew_block_table_release(allocator, &table);
    return good;
}

/* Contribution of one task to a 12x12 block of the coarse matrix A. Entries are sorted by column, row and task: the
 * diagonal block of a column comes first. */
typedef struct pair_entry {
    /* local: index of the task's aggregate pair; < 0: the diagonal block, which every column stores */
    int32_t column, row, local;
} pair_entry;

static int galerkin_compare_pairs(const void *a, const void *b)
{
    const pair_entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->local > y->local) - (x->local < y->local);
}

static void merge_pairs(sinew_galerkin *g, const pair_entry *entries, int32_t entry_count)
{
    int32_t block = 0, used = 0, column = 0;
    for (int32_t k = 0; k < entry_count; k++) {
        if (k == 0 || entries[k].column != entries[k - 1].column || entries[k].row != entries[k - 1].row) {
            while (column <= entries[k].column)
                g->column[column++] = block;
            g->row[block] = entries[k].row;
            g->first_local[block++] = used;
        }
        if (entries[k].local >= 0)
            g->locals[used++] = entries[k].local;
    }
    g->column[g->space->count] = block;
    g->first_local[block] = used;
}

static bool galerkin_build_pattern(sinew_galerkin *g, const sinew_objective *o, const sinew_block_list *pairs)
{
    const sinew_allocator *allocator = &o->allocator;
    const int32_t count = g->space->count, total = pairs->count + count;
    pair_entry *entries = sinew_allocate(allocator, (size_t)total, sizeof *entries);
    g->column = sinew_allocate(allocator, (size_t)count + 1, sizeof *g->column);
    g->row = sinew_allocate(allocator, (size_t)total, sizeof *g->row);
    g->first_local = sinew_allocate(allocator, (size_t)total + 1, sizeof *g->first_local);
    g->locals = sinew_allocate(allocator, (size_t)pairs->count, sizeof *g->locals);
    g->pair_values = sinew_allocate(allocator, SINEW_PAIR_NUMBERS * (size_t)pairs->count, sizeof *g->pair_values);
    bool good = entries && g->column && g->row && g->first_local && g->locals && g->pair_values;
    if (good) {
        for (int32_t k = 0; k < pairs->count; k++)
            entries[k] = (pair_entry){(int32_t)(pairs->keys[k] & 0xffffffff), (int32_t)(pairs->keys[k] >> 32), k};
        for (int32_t k = 0; k < count; k++)
            entries[pairs->count + k] = (pair_entry){k, k, -1};
        sinew_sort(entries, (size_t)total, sizeof *entries, galerkin_compare_pairs);
        merge_pairs(g, entries, total);
        g->values = sinew_allocate(allocator, SINEW_PAIR_NUMBERS * (size_t)g->column[count], sizeof *g->values);
        g->scratch = sinew_allocate(allocator, (size_t)o->thread_count * g->scratch_size, sizeof *g->scratch);
        good = g->values && g->scratch;
    }
    sinew_release(allocator, entries);
    return good;
}

sinew_status sinew_galerkin_create(sinew_galerkin *g, const sinew_objective *o, const sinew_coarse_space *space,
                                   sinew_error *error)
{
    sinew_block_list fine = {0}, pairs = {0};
    *g = (sinew_galerkin){.space = space, .task_count = o->task_count};
    const bool good = galerkin_map_tasks(g, o, &fine) && galerkin_map_all_aggregate_pairs(g, o, &fine, &pairs) &&
                      galerkin_build_pattern(g, o, &pairs);
    sinew_release(&o->allocator, fine.keys);
    sinew_release(&o->allocator, pairs.keys);
    return good ? SINEW_OK : sinew_fail_memory(error, "the coarse matrix");
}

void sinew_galerkin_destroy(sinew_galerkin *g, const sinew_objective *o)
{
    void *arrays[] = {g->column, g->row,        g->values,      g->task_map,    g->map,    g->first_fine,
                      g->fine,   g->first_pair, g->pair_values, g->first_local, g->locals, g->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    *g = (sinew_galerkin){0};
}

/* ---- Values of the coarse matrix A --------------------------------------------------------------- */

/* Adds the 3x3 element blocks of a task to the blocks of its particle pairs. */
static void sum_fine_blocks(const sinew_galerkin *g, const sinew_objective *o, int32_t t, const sinew_real *blocks,
                            sinew_real *fine)
{
    const size_t W = (size_t)o->tasks[t].batch->width, entries = sinew_task_entries(&o->tasks[t]);
    const int32_t *map = g->map + g->task_map[t];
    memset(fine, 0, 9 * (size_t)(g->first_fine[t + 1] - g->first_fine[t]) * sizeof *fine);
    for (size_t e = 0; e < entries; e++) {
        if (map[e] < 0)
            continue;
        const sinew_real *block = blocks + e / W * 9 * W + e % W;
        sinew_real *own = fine + 9 * (size_t)(map[e] / 2 - g->first_fine[t]);
        const bool transposed = map[e] & 1;
        for (size_t k = 0; k < 9; k++)
            own[k] += block[(transposed ? k % 3 * 3 + k / 3 : k) * W];
    }
}

/* Adds the 3x3 block H of one particle pair to the 12x12 block of its aggregate pair: out[r, c] += phi_i phi_j^T H[r,
 * c]. Within one aggregate only one of the pairs (i, j) and (j, i) is added, and half of (i, i); galerkin_mirror adds
 * the mirror image. */
static void add_fine_block(const sinew_galerkin *g, const int32_t fine[3], const sinew_real *H, double *out)
{
    const bool transposed = fine[2] & 1;
    const sinew_real *row = g->space->basis + SINEW_MODES * (size_t)fine[transposed];
    const sinew_real *column = g->space->basis + SINEW_MODES * (size_t)fine[!transposed];
    const double factor = fine[0] == fine[1] ? 0.5 : 1;
    double weight[WEIGHTS];
    for (size_t k = 0; k < WEIGHTS; k++)
        weight[k] = factor * (double)row[k / SINEW_MODES] * (double)column[k % SINEW_MODES];
    for (size_t e = 0; e < 9; e++) {
        const double h = (double)H[transposed ? e % 3 * 3 + e / 3 : e];
        for (size_t k = 0; k < WEIGHTS; k++)
            out[WEIGHTS * e + k] += h * weight[k];
    }
}

typedef struct fill_pass {
    const sinew_galerkin *galerkin;
    const sinew_objective *objective;
    const sinew_real *q;
} fill_pass;

static void galerkin_fill_tasks(const void *context, int32_t thread, int32_t first, int32_t last)
{
    const fill_pass *f = context;
    const sinew_galerkin *g = f->galerkin;
    const sinew_objective *o = f->objective;
    sinew_real *fine = g->scratch + (size_t)thread * g->scratch_size;
    for (int32_t t = first; t < last; t++) {
        sum_fine_blocks(g, o, t, sinew_task_blocks(o, thread, &o->tasks[t], f->q, true), fine);
        memset(g->pair_values + SINEW_PAIR_NUMBERS * (size_t)g->first_pair[t], 0,
               SINEW_PAIR_NUMBERS * (size_t)(g->first_pair[t + 1] - g->first_pair[t]) * sizeof *g->pair_values);
        for (int32_t k = g->first_fine[t]; k < g->first_fine[t + 1]; k++)
            add_fine_block(g, g->fine[k], fine + 9 * (size_t)(k - g->first_fine[t]),
                           g->pair_values + SINEW_PAIR_NUMBERS * (size_t)(g->fine[k][2] / 2));
    }
}

/* Adds the mass term P^T M/h^2 P of an aggregate (dynamic steps; P: its basis functions) to its diagonal 12x12
 * block, and sets a one on the diagonal for each unused basis function. */
static void galerkin_add_masses(const sinew_coarse_space *space, const sinew_objective *o, int32_t aggregate,
                                double *block)
{
    const double scale = o->step.quasistatic ? 0 : 1 / (o->step.h * o->step.h);
    double sums[WEIGHTS] = {0};
    for (int32_t k = space->first_particle[aggregate]; k < space->first_particle[aggregate + 1]; k++) {
        const sinew_real *phi = space->basis + SINEW_MODES * (size_t)space->particle[k];
        const double m = scale * (double)o->step.mass[space->particle[k]];
        for (size_t i = 0; i < WEIGHTS; i++)
            sums[i] += m * (double)phi[i / SINEW_MODES] * (double)phi[i % SINEW_MODES];
    }
    for (size_t i = space->mode_count[aggregate]; i < SINEW_MODES; i++)
        sums[i * SINEW_MODES + i] = 1;
    for (size_t e = 0; e < 9; e += 4)
        for (size_t i = 0; i < WEIGHTS; i++)
            block[WEIGHTS * e + i] += sums[i];
}

/* Adds the mirror image to a diagonal block of the coarse matrix A, of which only one half was summed. */
static void galerkin_mirror(double *block)
{
    double half[SINEW_PAIR_NUMBERS];
    memcpy(half, block, sizeof half);
    for (size_t e = 0; e < 9; e++)
        for (size_t i = 0; i < WEIGHTS; i++)
            block[WEIGHTS * e + i] +=
                half[WEIGHTS * (e % 3 * 3 + e / 3) + i % SINEW_MODES * SINEW_MODES + i / SINEW_MODES];
}

static void galerkin_fill_columns(const void *context, int32_t member, int32_t first, int32_t last)
{
    const fill_pass *f = context;
    const sinew_galerkin *g = f->galerkin;
    (void)member;
    for (int32_t j = first; j < last; j++)
        for (int32_t b = g->column[j]; b < g->column[j + 1]; b++) {
            double *block = g->values + SINEW_PAIR_NUMBERS * (size_t)b;
            memset(block, 0, SINEW_PAIR_NUMBERS * sizeof *block);
            for (int32_t l = g->first_local[b]; l < g->first_local[b + 1]; l++)
                for (size_t e = 0; e < SINEW_PAIR_NUMBERS; e++)
                    block[e] += g->pair_values[SINEW_PAIR_NUMBERS * (size_t)g->locals[l] + e];
            if (g->row[b] == j) {
                galerkin_mirror(block);
                galerkin_add_masses(g->space, f->objective, j, block);
            }
        }
}

void sinew_galerkin_fill(sinew_galerkin *g, const sinew_objective *o, const sinew_real *q)
{
    const fill_pass pass = {g, o, q};
    sinew_tasks_for(sinew_task_threads(o), g->task_count, 1, galerkin_fill_tasks, &pass);
    sinew_tasks_for(sinew_task_threads(o), g->space->count, 1, galerkin_fill_columns, &pass);
}
