/* SPDX-License-Identifier: MIT
 *
 * vertex_tags.c: maps vertex numbers of mesh files to indices; the numbers may have gaps, any start and any order.
 */
#include "io/mesh/vertex_tags.h"

#include <stdlib.h>

#include "base/sort.h"

void sinew_tags_open(sinew_tags *tags, const sinew_allocator *allocator)
{
    *tags = (sinew_tags){.allocator = *allocator};
}

void sinew_tags_close(sinew_tags *tags)
{
    sinew_release(&tags->allocator, tags->tags);
    sinew_release(&tags->allocator, tags->direct);
    sinew_release(&tags->allocator, tags->sorted);
    sinew_tags_open(tags, &tags->allocator);
}

sinew_status sinew_tags_reserve(sinew_tags *tags, int64_t count, sinew_error *error)
{
    if (count <= tags->capacity - tags->count)
        return SINEW_OK;
    /* The capacity of the list of vertex numbers grows geometrically, so that many small blocks do not copy all earlier
     * numbers each time. */
    int64_t capacity = tags->count + (count > tags->count / 2 ? count : tags->count / 2);
    int64_t *grown =
        sinew_reallocate(&tags->allocator, tags->tags, (size_t)tags->count, (size_t)capacity, sizeof *grown);
    if (!grown)
        return sinew_fail_memory(error, "the vertex numbers");
    tags->tags = grown;
    tags->capacity = capacity;
    return SINEW_OK;
}

void sinew_tags_add(sinew_tags *tags, int64_t tag)
{
    tags->low = tags->count == 0 || tag < tags->low ? tag : tags->low;
    tags->high = tags->count == 0 || tag > tags->high ? tag : tags->high;
    tags->tags[tags->count++] = tag;
}

static bool tags_are_consecutive(const sinew_tags *tags)
{
    for (int64_t i = 0; i < tags->count; i++)
        if (tags->tags[i] != tags->low + i)
            return false;
    return true;
}

static sinew_status fail_repeated_tag(int64_t tag, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FORMAT, "two vertices have the number %lld", (long long)tag);
}

static sinew_status build_direct_table(sinew_tags *tags, int64_t range, sinew_error *error)
{
    tags->direct = sinew_allocate(&tags->allocator, (size_t)range, sizeof *tags->direct);
    if (!tags->direct)
        return sinew_fail_memory(error, "the vertex numbers");
    for (int64_t i = 0; i < range; i++)
        tags->direct[i] = -1;
    for (int64_t i = 0; i < tags->count; i++) {
        int32_t *slot = &tags->direct[tags->tags[i] - tags->low];
        if (*slot >= 0)
            return fail_repeated_tag(tags->tags[i], error);
        *slot = (int32_t)i;
    }
    return SINEW_OK;
}

static int tags_compare_pairs(const void *left, const void *right)
{
    int64_t a = ((const sinew_tag_pair *)left)->tag, b = ((const sinew_tag_pair *)right)->tag;
    return (a > b) - (a < b);
}

static sinew_status build_sorted_table(sinew_tags *tags, sinew_error *error)
{
    tags->sorted = sinew_allocate(&tags->allocator, (size_t)tags->count, sizeof *tags->sorted);
    if (!tags->sorted)
        return sinew_fail_memory(error, "the vertex numbers");
    for (int64_t i = 0; i < tags->count; i++)
        tags->sorted[i] = (sinew_tag_pair){tags->tags[i], (int32_t)i};
    sinew_sort(tags->sorted, (size_t)tags->count, sizeof *tags->sorted, tags_compare_pairs);
    for (int64_t i = 1; i < tags->count; i++)
        if (tags->sorted[i - 1].tag == tags->sorted[i].tag)
            return fail_repeated_tag(tags->sorted[i].tag, error);
    return SINEW_OK;
}

sinew_status sinew_tags_index(sinew_tags *tags, sinew_error *error)
{
    if (tags->count == 0 || tags_are_consecutive(tags))
        return SINEW_OK;
    int64_t span = tags->high - tags->low;
    return span <= 4 * tags->count ? build_direct_table(tags, span + 1, error) : build_sorted_table(tags, error);
}

int32_t sinew_tags_find(const sinew_tags *tags, int64_t tag)
{
    if (tags->count == 0 || tag < tags->low || tag > tags->high)
        return -1;
    if (tags->direct)
        return tags->direct[tag - tags->low];
    if (!tags->sorted)
        return (int32_t)(tag - tags->low);
    const sinew_tag_pair key = {tag, 0};
    const sinew_tag_pair *found =
        bsearch(&key, tags->sorted, (size_t)tags->count, sizeof *tags->sorted, tags_compare_pairs);
    return found ? found->vertex : -1;
}
