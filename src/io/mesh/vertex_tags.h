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

/* The vertex numbers (tags) of a mesh file. Consecutive ascending numbers need no table, numbers whose range is at most
 * four times their count use a direct table, and others use binary search. */
typedef struct sinew_tags {
    sinew_allocator allocator;
    int64_t *tags; /* [capacity] number of each vertex in the file */
    int64_t count;
    int64_t capacity;
    int64_t low, high; /* smallest and largest vertex number of the file */
    int32_t *direct;   /* [high - low + 1] index of the vertex with the number low + i, -1: none; or NULL */
    /* [count] vertex numbers and their indices, sorted by number; NULL: no binary search is needed */
    sinew_tag_pair *sorted;
} sinew_tags;

void sinew_tags_open(sinew_tags *tags, const sinew_allocator *allocator);
void sinew_tags_close(sinew_tags *tags);
/* Reserves capacity for `count` more vertex numbers; SINEW_ERROR_MEMORY if memory runs out. */
sinew_status sinew_tags_reserve(sinew_tags *tags, int64_t count, sinew_error *error);
/* adds the file's number of the next vertex, >= 0, within the reserved capacity */
void sinew_tags_add(sinew_tags *tags, int64_t tag);
/* Builds the lookup of vertex numbers after the last add. Fails if two vertices share a number; the caller adds the
 * location to the error. */
sinew_status sinew_tags_index(sinew_tags *tags, sinew_error *error);
/* Returns the index of the vertex with this number in the file, -1: none. */
int32_t sinew_tags_find(const sinew_tags *tags, int64_t tag);

#endif
