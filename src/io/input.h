/* SPDX-License-Identifier: MIT
 *
 * input.h: untrusted files. sinew_file_read (file.h) and the functions of this header open regular files only. Pipes,
 * devices, sockets and folders are refused at once, because reading them could block forever.
 */
#ifndef SINEW_SRC_IO_INPUT_H
#define SINEW_SRC_IO_INPUT_H

#include <stdio.h>

#include "base/base.h"

/* A file of any size that is read piece by piece, and its size now. NULL on failure. */
FILE *sinew_file_stream(const char *path, size_t *size, sinew_error *error);

/* As sinew_file_read, for a file that another file names: symbolic links are also refused, because they may point
 * anywhere. */
char *sinew_file_read_beside(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

/* Estimate of the memory of parsed JSON, in bytes, computed without parsing ("{}," takes 77 times its text). `extra` is
 * the caller's memory per value. */
size_t sinew_json_cost(const char *text, size_t size, size_t extra);
/* Upper limit of the memory for a text of this size; real texts with several keys per object take 12 times their
 * size. */
size_t sinew_json_budget(size_t size);

#endif
