/* SPDX-License-Identifier: MIT
 *
 * npy.h: declarations that the files of the NumPy cache share: npy.c writes the arrays, npy_index.c lists them.
 */
#ifndef SINEW_SRC_IO_CACHE_NPY_H
#define SINEW_SRC_IO_CACHE_NPY_H

#include "io/cache/fields.h"

enum {
    SINEW_NPY_STATES = 3, /* number of arrays of the state: positions, velocities, time */
    /* number of constant arrays: tets, material, triangles, edges, skin_vertices, skin_weights */
    SINEW_NPY_CONSTANTS = 6,
    /* upper bound of the number of arrays of a cache */
    SINEW_NPY_ARRAYS = SINEW_NPY_STATES + SINEW_FIELD_COUNT + SINEW_NPY_CONSTANTS
};

typedef struct sinew_npy_array {
    sinew_writer writer;
    const char *name; /* the array's file is <cache>.<name>.npy */
    const char *type; /* NumPy's type string, for example "<f8" */
    const char *unit; /* SI unit of the array's numbers; "" for indices */
    int32_t rank;
    /* [rank] dimensions of the array; the first is the number of frames if the array grows by frames */
    int64_t shape[3];
    const void *data; /* the data of a constant array; NULL: the array gets one row per frame */
    bool moves;       /* true: the array gets one row per frame */
} sinew_npy_array;

typedef struct sinew_npy {
    sinew_cache_fields fields;
    int32_t array_count, moving_count;
    /* [array_count] arrays of the cache; arrays with one row per frame come first */
    sinew_npy_array arrays[SINEW_NPY_ARRAYS];
    /* [moving_count] data of the next frame for each array with one row per frame */
    const void *frame_data[SINEW_NPY_ARRAYS];
    int32_t *triangles, *edges; /* particles of the triangles and edges of all bodies */
    int64_t skin_count;         /* number of vertices of all skins of the world */
    int32_t *skin_vertices;     /* [4 * skin_count] particles of the cell in which each skin vertex is embedded */
    sinew_real *skin_weights;   /* [4 * skin_count] weights of these particles */
    sinew_writer index;
} sinew_npy;

/* Fails if the name of the cache is not UTF-8, which the JSON index requires. */
sinew_status sinew_npy_check_names(const sinew_cache *cache, sinew_error *error);
/* Writes own->index, the JSON list of the arrays; it gets its final name after all arrays have theirs. */
sinew_status sinew_npy_write_index(const sinew_cache *cache, sinew_npy *own, sinew_error *error);

#endif
