/* SPDX-License-Identifier: MIT
 *
 * embed.h: pictures inside pages, so that a page is one file.
 */
#ifndef SINEW_EMBED_H
#define SINEW_EMBED_H

#include <stdio.h>

#include "picture.h"

/* Writes "data:image/png;base64,..." for an attribute. Returns false if memory is short. */
bool sinew_put_data_uri(FILE *stream, const sinew_image *image);

#endif
