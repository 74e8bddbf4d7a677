/* SPDX-License-Identifier: MIT
 *
 * connected_components.c: connected components of particles. See connected_components.h. Union-find with path halving
 * (Tarjan and van Leeuwen 1984).
 */
#include "objective/connected_components.h"

int32_t sinew_find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Whether the element in `lane` of a group has second derivatives by its vertex a: the diagonal 3x3 block is not
 * zero. */
static bool has_diagonal_block(const sinew_real *blocks, size_t a, size_t lane, size_t W)
{
    for (size_t k = 0; k < 9; k++)
        if (blocks[((a * (a + 1) / 2 + a) * 9 + k) * W + lane] != 0)
            return true;
    return false;
}

static void join_elements(const sinew_task *task, const sinew_real *blocks, int32_t *parent)
{
    const sinew_batch *batch = task->batch;
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const int32_t *particle = batch->particle + task->chunk->first_slot;
    const int32_t *vertex = batch->vertex + (size_t)task->chunk->first_group * n * W;
    for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
        for (size_t lane = 0; lane < W; lane++) {
            const sinew_real *own = blocks + group * (n * (n + 1) / 2) * 9 * W;
            int32_t first = -1;
            for (size_t a = 0; a < n; a++) {
                if (!has_diagonal_block(own, a, lane, W))
                    continue;
                const int32_t i = sinew_find_root(parent, particle[vertex[(group * n + a) * W + lane] / SINEW_POINT]);
                const int32_t j = first < 0 ? i : sinew_find_root(parent, first);
                parent[i > j ? i : j] = first = i > j ? j : i;
            }
        }
}

/* Joins components by the elements of tasks first .. last - 1, contacts excepted. component: parents of a union-find
 * forest. */
static void components_join_tasks(const sinew_objective *o, int32_t first, int32_t last, const sinew_real *q,
                                  int32_t *component)
{
    for (int32_t t = first; t < last; t++)
        if (!o->tasks[t].batch->ops->contact)
            join_elements(&o->tasks[t], sinew_task_blocks(o, 0, &o->tasks[t], q, true), component);
    for (int32_t i = 0; i < o->particle_count; i++)
        component[i] = sinew_find_root(component, i);
}

void sinew_objective_fixed_components(const sinew_objective *o, const sinew_real *q, int32_t *component)
{
    for (int32_t i = 0; i < o->particle_count; i++)
        component[i] = i;
    components_join_tasks(o, 0, o->fixed_task_count, q, component);
}

void sinew_objective_join_transient(const sinew_objective *o, const sinew_real *q, int32_t *component)
{
    components_join_tasks(o, o->fixed_task_count, o->task_count, q, component);
}

void sinew_objective_components(const sinew_objective *o, const sinew_real *q, int32_t *component)
{
    sinew_objective_fixed_components(o, q, component);
    sinew_objective_join_transient(o, q, component);
}
