/* SPDX-License-Identifier: MIT
 *
 * npy.h: what the files of the NumPy cache share: npy.c writes the arrays, npy_index.c lists them.
 */
#ifndef SINEW_SRC_IO_CACHE_NPY_H
#define SINEW_SRC_IO_CACHE_NPY_H

#include "io/cache/fields.h"

enum {
    SINEW_NPY_ARRAYS = 16 /* at most: three, the fields, and six that do not move */
};

typedef struct sinew_npy_array {
    sinew_writer writer;
    const char *name; /* <cache>.<name>.npy */
    const char *type; /* as numpy spells it: "<f8" */
    const char *unit; /* SI; "" for numbers without one */
    int32_t rank;
    int64_t shape[3]; /* [rank]; the first is the number of frames where it moves */
    const void *data; /* all of it, where it does not move; NULL: one row comes with each frame */
    bool moves;
} sinew_npy_array;

typedef struct sinew_npy {
    sinew_cache_fields fields;
    int32_t array_count, moving_count;
    sinew_npy_array arrays[SINEW_NPY_ARRAYS]; /* [array_count], those that move first */
    const void *frame_data[SINEW_NPY_ARRAYS]; /* [moving_count] their next rows */
    int32_t *triangles, *edges;
    int64_t skin_count;     /* vertices of all skins */
    int32_t *skin_vertices; /* [4 * skin_count] particles */
    sinew_real *skin_weights;
    sinew_writer index;
} sinew_npy;

/* Names in the index must be UTF-8. */
sinew_status sinew_npy_check_names(const sinew_cache *cache, sinew_error *error);
/* Fills own->index; it gets its name when all arrays have theirs. */
sinew_status sinew_npy_write_index(const sinew_cache *cache, sinew_npy *own, sinew_error *error);

#endif
