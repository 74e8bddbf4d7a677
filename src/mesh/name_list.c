/* SPDX-License-Identifier: MIT
 *
 * name_list.c: different names in the order of their first use. A hash (FNV-1a) finds a name, so that the mean time per
 * line of a file does not grow with the number of names.
 */
#include <string.h>

#include "mesh/embedded_surface.h"

static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

const char *sinew_names_get(const sinew_name_list *list, int32_t index)
{
    return list->text + list->starts[index];
}

/* Index of the hash table entry that contains the name, or of the free entry for it. */
static uint32_t name_list_find_slot(const sinew_name_list *list, const char *name, size_t length)
{
    const uint32_t mask = (uint32_t)list->table_size - 1;
    uint32_t slot = hash_name(name, length) & mask;
    for (; list->table[slot]; slot = (slot + 1) & mask) {
        const char *other = sinew_names_get(list, list->table[slot] - 1);
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            break;
    }
    return slot;
}

static bool name_list_grow_table(const sinew_allocator *allocator, sinew_name_list *list)
{
    if (2 * (list->count + 1) <= list->table_size)
        return true;
    const int32_t size = list->table_size ? 2 * list->table_size : 16;
    int32_t *table = sinew_allocate_zero(allocator, (size_t)size, sizeof *table);
    if (!table)
        return false;
    sinew_release(allocator, list->table);
    list->table = table;
    list->table_size = size;
    for (int32_t i = 0; i < list->count; i++) {
        const char *name = sinew_names_get(list, i);
        table[name_list_find_slot(list, name, strlen(name))] = i + 1;
    }
    return true;
}

static bool name_list_grow_arrays(const sinew_allocator *allocator, sinew_name_list *list, size_t length)
{
    if (list->used + length + 1 > list->text_capacity) {
        const size_t text_capacity = 2 * list->text_capacity + length + 64;
        char *text =
            text_capacity < INT32_MAX ? sinew_reallocate(allocator, list->text, list->used, text_capacity, 1) : NULL;
        if (!text)
            return false;
        list->text = text;
        list->text_capacity = text_capacity;
    }
    if (list->count == list->capacity) {
        const int32_t capacity = 2 * list->capacity + 8;
        int32_t *starts =
            sinew_reallocate(allocator, list->starts, (size_t)list->count, (size_t)capacity, sizeof *starts);
        if (!starts)
            return false;
        list->starts = starts;
        list->capacity = capacity;
    }
    return true;
}

int32_t sinew_names_add(const sinew_allocator *allocator, sinew_name_list *list, const char *name, size_t length)
{
    if (list->count == 0 && !name_list_grow_table(allocator, list))
        return -1;
    const uint32_t slot = name_list_find_slot(list, name, length);
    if (list->table[slot])
        return list->table[slot] - 1;
    if (list->count == SINEW_NAMES_MAX || !name_list_grow_arrays(allocator, list, length))
        return -1;
    const int32_t index = list->count;
    memcpy(list->text + list->used, name, length);
    list->text[list->used + length] = '\0';
    list->starts[index] = (int32_t)list->used;
    if (!name_list_grow_table(allocator, list))
        return -1;
    list->used += length + 1;
    list->count++;
    list->table[name_list_find_slot(list, name, length)] = index + 1;
    return index;
}

bool sinew_names_copy(const sinew_allocator *allocator, const sinew_name_list *from, sinew_name_list *to)
{
    for (int32_t i = 0; i < from->count; i++) {
        const char *name = sinew_names_get(from, i);
        if (sinew_names_add(allocator, to, name, strlen(name)) != i)
            return false;
    }
    return true;
}

void sinew_names_release(const sinew_allocator *allocator, sinew_name_list *list)
{
    sinew_release(allocator, list->text);
    sinew_release(allocator, list->starts);
    sinew_release(allocator, list->table);
    *list = (sinew_name_list){0};
}
