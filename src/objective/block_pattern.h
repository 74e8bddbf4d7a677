/* SPDX-License-Identifier: MIT
 *
 * block_pattern.h: the local blocks of chunks: which pairs of rows the elements of one task touch, each pair numbered
 * once. Matrices add element blocks into local blocks first, task by task, and sum those in a fixed order afterwards.
 */
#ifndef SINEW_SRC_OBJECTIVE_BLOCK_PATTERN_H
#define SINEW_SRC_OBJECTIVE_BLOCK_PATTERN_H

#include "objective/objective.h"

/* Open-addressing table from (row, column) to the number of a local block of the current task. */
typedef struct sinew_block_table {
    size_t mask;
    int64_t *keys;   /* row << 32 | column */
    int32_t *locals; /* local block, valid while stamp is the task's */
    int32_t *stamps;
} sinew_block_table;

/* All local blocks found so far. */
typedef struct sinew_block_list {
    int32_t count, capacity;
    int64_t *keys; /* [capacity] row << 32 | column */
} sinew_block_list;

/* Element blocks of a task, fillers included: [group][block][W] of them; and the most over the first task_count. */
size_t sinew_task_entries(const sinew_task *task);
size_t sinew_task_entries_most(const sinew_objective *objective, int32_t task_count);

/* For tasks of at most so many different pairs. False without memory; release in any case. */
bool sinew_block_table_create(const sinew_allocator *allocator, size_t most, sinew_block_table *table);
void sinew_block_table_release(const sinew_allocator *allocator, sinew_block_table *table);
/* The local block of this task for key, made when it is new; -1 without memory. */
int32_t sinew_block_table_find(const sinew_allocator *allocator, sinew_block_table *table, sinew_block_list *list,
                               int32_t task, int64_t key);

#endif
