/* SPDX-License-Identifier: MIT
 *
 * output.h: result files that are written completely or not at all, and their folders.
 */
#ifndef SINEW_OUTPUT_H
#define SINEW_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* An unfinished file: closing renames the temporary file to the final name. Files are created exclusively, and links
 * are not followed. */
typedef struct sinew_output {
    FILE *stream;        /* stream of the open output file; NULL: not open */
    const char *command; /* name of the subcommand, for messages */
    char path[2200], partial[2220];
} sinew_output;

/* Opens a new result file. Returns false, with a message on standard error, if the file cannot be written. */
bool sinew_output_open(sinew_output *output, const char *command, const char *directory, const char *name);
/* Reopens an unfinished result file for reading and writing from the start. Without one, the finished file gets the
 * temporary name again. Returns false, with a message, if neither exists. */
bool sinew_output_reopen(sinew_output *output, const char *command, const char *directory, const char *name);
/* Flushes all data of a result file to the disk; false: failed, with a message. */
bool sinew_output_sync(sinew_output *output);
/* Renames a result file to its final name. After a failure (false, with a message) the temporary file is removed. */
bool sinew_output_close(sinew_output *output);
/* Keeps the unfinished result file, to be reopened; no effect if it is not open. */
void sinew_output_leave(sinew_output *output);
void sinew_output_drop(sinew_output *output); /* removes the unfinished result file; no effect if it is not open */

/* Creates a folder and its parents. Returns false, with a message, on failure. */
bool sinew_make_folders(const char *command, const char *path);
/* Creates a folder and tests that a file can be written there, so that a long run does not fail at its end. */
bool sinew_prepare_folder(const char *command, const char *path);

/* Opens a regular file below 64 MiB to read. Returns NULL for links, pipes, devices and folders, which could block or
 * point elsewhere. */
FILE *sinew_open_plain(const char *path);
/* Reads the summary.json of a folder, which another program may have written. Returns NULL if the folder has none
 * (*found is false; also for a link) or if the file is unreadable: a pipe, or no JSON. */
json_t *sinew_read_summary(const char *directory, bool *found);

#endif
