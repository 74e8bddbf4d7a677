/* SPDX-License-Identifier: MIT
 *
 * figure.h: the figures of an experiment as self-contained SVG, for pages and files. Charts are white; figures of
 * shapes follow the reader's light or dark colour scheme.
 */
#ifndef SINEW_FIGURE_H
#define SINEW_FIGURE_H

#include <stdio.h>

#include "experiments.h"

/* Writes a figure as one <svg> element. `surface` holds the triangles of figures of shapes. Returns false if memory is
 * short. */
bool sinew_put_figure(FILE *stream, const figure *f, const sinew_mesh *surface);

#endif
