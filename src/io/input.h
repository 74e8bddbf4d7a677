/* SPDX-License-Identifier: MIT
 *
 * input.h: reading of untrusted files. sinew_file_read (file.h) and the functions of this header open regular files
 * only. Pipes, devices, sockets and folders are refused at once, because reading them could block forever.
 */
#ifndef SINEW_SRC_IO_INPUT_H
#define SINEW_SRC_IO_INPUT_H

#include <stdio.h>

#include "base/base.h"

/* Opens a file of any size for incremental reading and sets *size to its current size. NULL on failure. */
FILE *sinew_file_stream(const char *path, size_t *size, sinew_error *error);

/* Reads a file whose name comes from another file, as sinew_file_read does. Symbolic links are refused because they may
 * point anywhere. */
char *sinew_file_read_beside(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

/* Estimate of the bytes that parsed JSON takes, computed without parsing: a list of empty objects takes far more than
 * its text. `extra`: bytes that the caller stores for each value. */
size_t sinew_json_cost(const char *text, size_t size, size_t extra);
/* Upper limit, in bytes, that a caller sets for sinew_json_cost of a text of `size` bytes: 32 MiB + 20 * size. Ordinary
 * files with several keys per object take about 12 times their size. */
size_t sinew_json_budget(size_t size);

#endif
