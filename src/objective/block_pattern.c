/* SPDX-License-Identifier: MIT
 *
 * block_pattern.c: the hash table of local 3x3 blocks, pairs of matrix rows that one task couples. See block_pattern.h.
 */
#include "objective/block_pattern.h"

#include <string.h>

size_t sinew_task_entries(const sinew_task *task)
{
    const size_t n = (size_t)task->batch->ops->info.vertex_count;
    return (size_t)task->chunk->group_count * (size_t)task->batch->width * (n * (n + 1) / 2);
}

size_t sinew_task_entries_max(const sinew_objective *o, int32_t task_count)
{
    size_t max = 0;
    for (int32_t t = 0; t < task_count; t++) {
        const size_t entries = sinew_task_entries(&o->tasks[t]);
        max = entries > max ? entries : max;
    }
    return max;
}

bool sinew_block_table_create(const sinew_allocator *allocator, size_t max, sinew_block_table *table)
{
    size_t size = 16;
    while (size < 2 * max)
        size *= 2;
    table->mask = size - 1;
    table->keys = sinew_allocate(allocator, size, sizeof *table->keys);
    table->locals = sinew_allocate(allocator, size, sizeof *table->locals);
    table->stamps = sinew_allocate(allocator, size, sizeof *table->stamps);
    if (!table->keys || !table->locals || !table->stamps)
        return false;
    memset(table->stamps, 0xff, size * sizeof *table->stamps);
    return true;
}

void sinew_block_table_release(const sinew_allocator *allocator, sinew_block_table *table)
{
    sinew_release(allocator, table->keys);
    sinew_release(allocator, table->locals);
    sinew_release(allocator, table->stamps);
}

int32_t sinew_block_table_find(const sinew_allocator *allocator, sinew_block_table *table, sinew_block_list *list,
                               int32_t task, int64_t key)
{
    size_t at = ((uint64_t)key * 0x9e3779b97f4a7c15u >> 20) & table->mask;
    while (table->stamps[at] == task && table->keys[at] != key)
        at = (at + 1) & table->mask;
    if (table->stamps[at] == task)
        return table->locals[at];
    if (list->count == list->capacity) {
        size_t capacity = 2 * (size_t)list->capacity + 1024;
        int64_t *keys = capacity > INT32_MAX / 2 ? NULL
                                                 : sinew_reallocate(allocator, list->keys, (size_t)list->count,
                                                                    capacity, sizeof *list->keys);
        if (!keys)
            return -1;
        list->keys = keys;
        list->capacity = (int32_t)capacity;
    }
    table->stamps[at] = task;
    table->keys[at] = key;
    table->locals[at] = list->count;
    list->keys[list->count] = key;
    return list->count++;
}
