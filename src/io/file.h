/* SPDX-License-Identifier: MIT
 *
 * file.h: files that are read completely, and written completely or not at all.
 *
 * A writer fills <path>.partial, and commit renames that file to <path>. abandon removes the partial file unless the
 * keep flag is set; reopen continues a kept file. sync and commit report failed writes, so a full disk or a read-only
 * folder is an error with the path and the system's reason. open creates files exclusively; neither open nor reopen
 * follows a symbolic link at <path>.partial.
 */
#ifndef SINEW_SRC_IO_FILE_H
#define SINEW_SRC_IO_FILE_H

#include <stdio.h>

#include "base/base.h"

typedef struct sinew_writer {
    FILE *stream; /* stream of <path>.partial, to which callers write; commit reports its errors */
    /* true: <path>.partial is not removed on failure, nor by abandon; open and reopen clear the flag */
    bool keep;
    char path[1024];    /* final path of the file, after commit */
    char partial[1040]; /* <path>.partial, the name of the file until commit */
} sinew_writer;

sinew_status sinew_writer_open(sinew_writer *writer, const char *path, sinew_error *error);
/* Continues <path>.partial for reading and writing from the start. Without a partial file, <path> is renamed to it. */
sinew_status sinew_writer_reopen(sinew_writer *writer, const char *path, sinew_error *error);
/* truncates the file under construction to `size` bytes */
sinew_status sinew_writer_cut(sinew_writer *writer, int64_t size, sinew_error *error);
/* flushes the file under construction to the disk */
sinew_status sinew_writer_sync(sinew_writer *writer, sinew_error *error);
/* Writes buffered bytes out, without a rename, and fails as a commit would. Called for each of several files before the
 * first of them is committed. */
sinew_status sinew_writer_flush(sinew_writer *writer, sinew_error *error);
/* Closes the stream and renames <path>.partial to <path>. On failure <path>.partial is removed unless keep is set. */
sinew_status sinew_writer_commit(sinew_writer *writer, sinew_error *error);
/* Like sinew_writer_commit(), but flushes the content to the disk before the rename and the folder after it, so that a
 * checkpoint survives a crash. */
sinew_status sinew_writer_commit_durable(sinew_writer *writer, sinew_error *error);
/* Closes the stream and removes <path>.partial unless keep is set. No effect if the stream is NULL (already closed). */
void sinew_writer_abandon(sinew_writer *writer);

/* sinew_file_sync flushes the file at `path` to the disk, sinew_folder_sync the entries of the folder that contains
 * it. */
sinew_status sinew_file_sync(const char *path, sinew_error *error);
sinew_status sinew_folder_sync(const char *path, sinew_error *error);

/* Reads the whole file into one block and appends a 0 byte, which *size does not count; release with sinew_release.
 * Returns NULL on failure, also if the path is not a regular file or the file is larger than 8 GiB. */
char *sinew_file_read(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

#endif
