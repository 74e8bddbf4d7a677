/* SPDX-License-Identifier: MIT
 *
 * embedded_read.h: reads a skin from memory, for sinew_skin_read() and for fuzzing.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_READ_H
#define SINEW_SRC_IO_MESH_EMBEDDED_READ_H

#include "io/mesh/file_formats.h"
#include "sinew/skin.h"

/* Reads a skin in the file's coordinates, neither rotated nor scaled. NULL on failure. */
sinew_skin *sinew_skin_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error);

#endif
