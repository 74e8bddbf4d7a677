/* SPDX-License-Identifier: MIT
 *
 * figure_internal.h: declarations that curves (figure.c) and shapes (figure_shape.c) share.
 */
#ifndef SINEW_FIGURE_INTERNAL_H
#define SINEW_FIGURE_INTERNAL_H

#include <stdio.h>

#include "experiments.h"
#include "report.h"

const char *sinew_figure_colour(const figure *f, int32_t index); /* colour of a curve or shape, as "#rrggbb" */
size_t sinew_text_length(const char *text);                      /* number of characters of a UTF-8 text */
void sinew_begin_figure(FILE *stream, const figure *f, int width, int height);
bool sinew_put_shape_figure(FILE *stream, const figure *f, const sinew_mesh *surface);

#endif
