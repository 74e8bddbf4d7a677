/* SPDX-License-Identifier: MIT
 *
 * figure.h: the figures of an experiment as SVG that stands alone: in a page, in a document, by itself, light or dark.
 */
#ifndef SINEW_FIGURE_H
#define SINEW_FIGURE_H

#include <stdio.h>

#include "experiments.h"

/* One <svg> element. `surface` holds the triangles of figures of shapes. False when out of memory. */
bool sinew_put_figure(FILE *stream, const figure *f, const sinew_mesh *surface);

#endif
