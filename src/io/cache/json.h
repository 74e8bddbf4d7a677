/* SPDX-License-Identifier: MIT
 *
 * json.h: JSON in cache files (glTF, the index of NumPy arrays).
 */
#ifndef SINEW_SRC_IO_CACHE_JSON_H
#define SINEW_SRC_IO_CACHE_JSON_H

#include <jansson.h>

#include "io/cache/cache.h"

bool sinew_is_utf8(const char *text);
/* Writes the JSON document with a decimal point in every locale; flags are those of json_dumpf(). */
sinew_status sinew_cache_put_json(sinew_writer *writer, const json_t *root, size_t flags, sinew_error *error);

#endif
