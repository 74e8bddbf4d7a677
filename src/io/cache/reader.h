/* SPDX-License-Identifier: MIT
 *
 * reader.h: declarations that the readers of cache formats share. Each format has one table. The common part (reader.c)
 * checks frame numbers, computes velocities by differences if the format has none, and frees everything.
 */
#ifndef SINEW_SRC_IO_CACHE_READER_H
#define SINEW_SRC_IO_CACHE_READER_H

#include "base/base.h"
#include "sinew/scene.h"

typedef struct sinew_cache_reader_ops {
    size_t own_size; /* size in bytes of the format's own data, which are zeroed before open */
    bool velocities; /* true: the operation `frame` of the format fills the velocities v */
    /* Operations of the format: open sets path, frame_count and point_count. frame reads frame `index`, counted from 0,
     * to q and v (NULL: not wanted), both [3 * point_count]. close is called exactly once, also after a failed open. */
    sinew_status (*open)(sinew_cache_reader *reader, sinew_error *error);
    sinew_status (*frame)(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v, sinew_error *error);
    void (*close)(sinew_cache_reader *reader);
} sinew_cache_reader_ops;

extern const sinew_cache_reader_ops sinew_cache_reader_pc2;
extern const sinew_cache_reader_ops sinew_cache_reader_csv;
extern const sinew_cache_reader_ops sinew_cache_reader_npy;
extern const sinew_cache_reader_ops sinew_cache_reader_obj;
extern const sinew_cache_reader_ops sinew_cache_reader_vtu;

struct sinew_cache_reader {
    const sinew_cache_reader_ops *ops;
    void *own; /* [ops->own_size] data that belong to the reader's format */
    sinew_allocator allocator;
    char stem[960];      /* directory/name of the cache that is read, without ending */
    char path[1024];     /* path of the cache's file, or of the first file of a sequence */
    int32_t first;       /* number of the cache's first frame */
    int32_t frame_count; /* number of frames in the cache's files */
    int32_t point_count;
    bool unfinished;   /* true: the files are still being written; only frames that are complete at open count */
    double frame_time; /* simulated time between frames of the cache, in s */
    sinew_real *other; /* [3 * point_count] positions of a neighbouring frame in m, for velocities; NULL until needed */
};

#endif
