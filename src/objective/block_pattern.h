/* SPDX-License-Identifier: MIT
 *
 * block_pattern.h: the local blocks of chunks: pairs of matrix rows that the elements of one task couple, each numbered
 * once. Matrices add element blocks to local blocks task by task, then sum these in a fixed order.
 */
#ifndef SINEW_SRC_OBJECTIVE_BLOCK_PATTERN_H
#define SINEW_SRC_OBJECTIVE_BLOCK_PATTERN_H

#include "objective/objective.h"

/* Open-addressing hash table from (row, column) to the index of a local block of the current task. */
typedef struct sinew_block_table {
    size_t mask;
    int64_t *keys;   /* [mask + 1] row << 32 | column of the local block in each table entry */
    int32_t *locals; /* [mask + 1] index of each key's local block, valid if the entry's stamp is the current task */
    int32_t *stamps;
} sinew_block_table;

/* All local blocks of the Hessian found so far, task by task. */
typedef struct sinew_block_list {
    int32_t count, capacity;
    int64_t *keys; /* [capacity] row << 32 | column of each local 3x3 block */
} sinew_block_list;

/* Number of 3x3 element blocks [group][block][W] of a task, padding included; and the largest number over the first
 * task_count tasks. */
size_t sinew_task_entries(const sinew_task *task);
size_t sinew_task_entries_max(const sinew_objective *objective, int32_t task_count);

/* Creates a table for tasks with at most `max` distinct pairs (row, column). Returns false if memory runs out; the
 * table must be released in either case. */
bool sinew_block_table_create(const sinew_allocator *allocator, size_t max, sinew_block_table *table);
void sinew_block_table_release(const sinew_allocator *allocator, sinew_block_table *table);
/* Returns the index in `list` of the local block with a key (row << 32 | column) in a task; appends the block if it is
 * new. Returns -1 if memory runs out. */
int32_t sinew_block_table_find(const sinew_allocator *allocator, sinew_block_table *table, sinew_block_list *list,
                               int32_t task, int64_t key);

#endif
