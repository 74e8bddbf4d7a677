/* SPDX-License-Identifier: MIT
 *
 * legend.h: key of the colours: a bar with ticks, or a list of classes.
 */
#ifndef SINEW_RENDER_LEGEND_H
#define SINEW_RENDER_LEGEND_H

#include "shape.h"
#include "text.h"

typedef struct legend {
    sinew_colour_kind colour;
    int32_t class_count;
    char label[64];
    char unit[40];    /* unit of the legend with its prefix, e.g. "kPa" */
    double low, high; /* values at the ends of the colour bar, in the legend's unit */
    double highest;   /* largest value of the field, in the legend's unit */
    double step;      /* distance of ticks, in the legend's unit */
    int32_t digits;   /* digits after the decimal point of tick labels */
    double factor;    /* base units of the values in one unit of the legend, e.g. 1000 for kPa */
} legend;

/* Creates a legend with ticks at round numbers for values low < high; `max` is the approximate maximum number of
 * ticks. */
legend legend_make(const sinew_snapshot *snapshot, double low, double high, double highest, double max);
/* Width of the legend in pixels at a text size. */
double legend_width(const legend *l, text_font *font, double size);
/* Draws the legend with its upper left corner at (x, y), `height` pixels high. */
void legend_draw(const legend *l, text_font *font, sinew_image *image, double x, double y, double height, double size);

#endif
