/* SPDX-License-Identifier: MIT
 *
 * embed.h: pictures inside HTML pages, so that a page is one file.
 */
#ifndef SINEW_EMBED_H
#define SINEW_EMBED_H

#include <stdio.h>

#include "picture.h"

/* Writes an image as "data:image/png;base64,..." for an HTML attribute. Returns false if memory is short. */
bool sinew_put_data_uri(FILE *stream, const sinew_image *image);

#endif
