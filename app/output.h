/* SPDX-License-Identifier: MIT
 *
 * output.h: result files that appear whole or not at all, and the folders that hold them.
 */
#ifndef SINEW_OUTPUT_H
#define SINEW_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* A file under way: it has its own name only once it is closed. Files are created exclusively, links not followed. */
typedef struct sinew_output {
    FILE *stream;        /* NULL: not open */
    const char *command; /* for messages */
    char path[2200], partial[2220];
} sinew_output;

/* False when it cannot be written (already said on standard error). */
bool sinew_output_open(sinew_output *output, const char *command, const char *directory, const char *name);
/* Goes on with an unfinished file or, where there is none, with the finished one; reads and writes, from the start. */
bool sinew_output_reopen(sinew_output *output, const char *command, const char *directory, const char *name);
bool sinew_output_sync(sinew_output *output);  /* all so far is on the disk; false: said */
bool sinew_output_close(sinew_output *output); /* false: said, and nothing is left behind */
void sinew_output_leave(sinew_output *output); /* unfinished, to go on from; fine when not open */
void sinew_output_drop(sinew_output *output);  /* removes what is unfinished; fine when not open */

/* Makes a folder and those above it. False when it cannot (said). */
bool sinew_make_folders(const char *command, const char *path);
/* The same, and whether a file can be written there: known before hours of work, not after. */
bool sinew_prepare_folder(const char *command, const char *path);

/* Opens a plain file to read; NULL for links, pipes, devices and folders, which would wait or lead elsewhere. */
FILE *sinew_open_plain(const char *path);
/* The summary.json of a folder, whoever wrote it. NULL when there is none (*found is false; so for a link) or when it
 * cannot be read: a pipe, no JSON. */
json_t *sinew_read_summary(const char *directory, bool *found);

#endif
