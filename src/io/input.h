/* SPDX-License-Identifier: MIT
 *
 * input.h: files that somebody else wrote. sinew_file_read (file.h) and everything here opens regular files only: a
 * pipe, a device, a socket or a folder is refused at once, where reading it would hang or never end.
 */
#ifndef SINEW_SRC_IO_INPUT_H
#define SINEW_SRC_IO_INPUT_H

#include <stdio.h>

#include "base/base.h"

/* A file of any size that is read piece by piece, and its size now. NULL on failure. */
FILE *sinew_file_stream(const char *path, size_t *size, sinew_error *error);

/* As sinew_file_read, for a file that another file names: a symbolic link is refused too, as it may lead anywhere. */
char *sinew_file_read_beside(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error);

/* JSON takes many times its text once it is parsed ("{}," 77 times). About so many bytes, found without parsing;
 * `extra` are those that the caller will take for each value besides. */
size_t sinew_json_cost(const char *text, size_t size, size_t extra);
/* The most that a text of this size may cost: a real one of objects with some keys takes 12 times its size. */
size_t sinew_json_budget(size_t size);

#endif
