/* SPDX-License-Identifier: MIT
 *
 * file.h: files read whole and written whole or not at all.
 *
 * A writer fills <path>.partial and commit renames it over <path>; abandon removes it. Every write is checked, so a
 * full disk or a read-only folder is an error with the path and the system's reason, and leaves nothing behind.
 */
#ifndef SINEW_FILE_H
#define SINEW_FILE_H

#include <stdio.h>

#include "base/base.h"

typedef struct sinew_writer {
    FILE *stream;       /* write to it freely; errors stick and show in commit */
    char path[1024];    /* where it is to end up */
    char partial[1040]; /* where it is now */
} sinew_writer;

sinew_status sinew_writer_open(sinew_writer *writer, const char *path, sinew_error *error);
sinew_status sinew_writer_commit(sinew_writer *writer, sinew_error *error); /* abandons on failure */
void sinew_writer_abandon(sinew_writer *writer);                            /* after open; twice is fine */

/* The whole file in one block, a 0 byte after it; release with sinew_release. Refuses what is not a regular
 * file, and files over 8 GiB. */
char *sinew_file_read(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

#endif
