/* SPDX-License-Identifier: MIT
 *
 * vertex_tags.h: maps a file's vertex numbers to indices of the mesh.
 */
#ifndef SINEW_SRC_IO_MESH_VERTEX_TAGS_H
#define SINEW_SRC_IO_MESH_VERTEX_TAGS_H

#include "base/base.h"

typedef struct sinew_tag_pair {
    int64_t tag;
    int32_t vertex;
} sinew_tag_pair;

/* Consecutive numbers need no table, numbers with moderate gaps use a direct table, and others use binary search. */
typedef struct sinew_tags {
    sinew_allocator allocator;
    int64_t *tags; /* [capacity] the file's number of each vertex */
    int64_t count;
    int64_t capacity;
    int64_t low, high;      /* smallest and largest of the tags */
    int32_t *direct;        /* [high - low + 1] vertex with the tag low + i, -1: none; or NULL */
    sinew_tag_pair *sorted; /* [count] tags and their vertices, sorted by tag; NULL: no binary search is needed */
} sinew_tags;

void sinew_tags_open(sinew_tags *tags, const sinew_allocator *allocator);
void sinew_tags_close(sinew_tags *tags);
/* Reserves capacity for `count` more tags; SINEW_ERROR_MEMORY if memory is short. */
sinew_status sinew_tags_reserve(sinew_tags *tags, int64_t count, sinew_error *error);
void sinew_tags_add(sinew_tags *tags, int64_t tag); /* number of the next vertex, >= 0, within the reserved capacity */
/* Builds the lookup after the last add. Fails if two vertices share a number; the caller adds the location to the
 * error. */
sinew_status sinew_tags_index(sinew_tags *tags, sinew_error *error);
/* The vertex with this number in the file, -1: none. */
int32_t sinew_tags_find(const sinew_tags *tags, int64_t tag);

#endif
