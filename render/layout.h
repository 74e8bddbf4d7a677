/* SPDX-License-Identifier: MIT
 *
 * layout.h: where panels, words and the legend are in a picture.
 */
#ifndef SINEW_RENDER_LAYOUT_H
#define SINEW_RENDER_LAYOUT_H

#include "camera.h"
#include "legend.h"

typedef struct layout {
    double text;   /* pixels an em of captions */
    double margin; /* around words */
    int32_t columns, rows;
    int32_t left, top;     /* of the first panel */
    int32_t width, height; /* of each panel */
    int32_t gap;           /* between panels */
    picture_frame frame;   /* of each panel: what words and legend leave */
    double legend_x, legend_y, legend_height;
    double title_height; /* of the line above all panels, 0: none */
} layout;

/* Pixels an em of captions, and how many ticks a legend has room for, in a picture of that size. */
double layout_text(const sinew_picture_def *def);
double layout_ticks(const sinew_picture_def *def);
/* legend: NULL when there is none. */
layout layout_make(const sinew_picture_def *def, const sinew_panel *panels, int32_t count, const legend *l,
                   text_font *font);
void layout_words(const layout *at, const sinew_picture_def *def, const sinew_panel *panels, int32_t count,
                  text_font *font, sinew_image *image);

#endif
