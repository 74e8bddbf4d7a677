/* SPDX-License-Identifier: MIT
 *
 * file.h: files that are read completely, and written completely or not at all.
 *
 * A writer fills <path>.partial, and commit renames that file to <path>. abandon removes the partial file unless the
 * keep flag is set; reopen continues a kept file. Every write is checked, so a full disk or a read-only folder is an
 * error with the path and the system's reason, and leaves nothing behind. Files are created exclusively and links are
 * not followed.
 */
#ifndef SINEW_SRC_IO_FILE_H
#define SINEW_SRC_IO_FILE_H

#include <stdio.h>

#include "base/base.h"

typedef struct sinew_writer {
    FILE *stream;       /* callers write to the stream; commit reports its errors */
    bool keep;          /* <path>.partial is not removed on failure, nor by abandon; open and reopen clear it */
    char path[1024];    /* final path */
    char partial[1040]; /* current path */
} sinew_writer;

sinew_status sinew_writer_open(sinew_writer *writer, const char *path, sinew_error *error);
/* Continues <path>.partial for reading and writing from the start. Without a partial file, <path> is renamed to it. */
sinew_status sinew_writer_reopen(sinew_writer *writer, const char *path, sinew_error *error);
sinew_status sinew_writer_cut(sinew_writer *writer, int64_t size, sinew_error *error); /* truncates at `size` */
sinew_status sinew_writer_sync(sinew_writer *writer, sinew_error *error);              /* flushes to the disk */
sinew_status sinew_writer_commit(sinew_writer *writer, sinew_error *error);            /* abandons on failure */
/* Flushes the content before the rename and the folder after it, so that a checkpoint survives a crash. */
sinew_status sinew_writer_commit_durable(sinew_writer *writer, sinew_error *error);
void sinew_writer_abandon(sinew_writer *writer); /* valid after open; may be called twice */

/* Flushes a file, or the entries of its folder, to the disk. */
sinew_status sinew_file_sync(const char *path, sinew_error *error);
sinew_status sinew_folder_sync(const char *path, sinew_error *error);

/* Reads the whole file into one block with a terminating 0 byte; release with sinew_release. Fails if it is not a
 * regular file or is larger than 8 GiB. */
char *sinew_file_read(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

#endif
