/* SPDX-License-Identifier: MIT
 *
 * skin_read.h: a skin from memory, for sinew_skin_read and for fuzzing.
 */
#ifndef SINEW_SKIN_READ_H
#define SINEW_SKIN_READ_H

#include "io/mesh_file.h"
#include "sinew/skin.h"

/* The skin as the file has it, neither turned nor scaled. NULL on failure. */
sinew_skin *sinew_skin_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error);

#endif
