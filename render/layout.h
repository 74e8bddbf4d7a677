/* SPDX-License-Identifier: MIT
 *
 * layout.h: positions of panels, text and legend in a picture.
 */
#ifndef SINEW_RENDER_LAYOUT_H
#define SINEW_RENDER_LAYOUT_H

#include "camera.h"
#include "legend.h"

typedef struct layout {
    double text;   /* em size of captions, pixels */
    double margin; /* margin around text, pixels */
    int32_t columns, rows;
    int32_t left, top;                        /* pixels, upper left corner of the first panel */
    int32_t width, height;                    /* pixels of each panel */
    int32_t gap;                              /* pixels between panels */
    picture_frame frame;                      /* part of each panel without text and legend */
    double legend_x, legend_y, legend_height; /* pixels: upper left corner and height of the legend */
    double title_height;                      /* pixels of the title line above all panels; 0: no line */
} layout;

/* Em size of captions in pixels, and the number of legend ticks that fit, for a picture of that size. */
double layout_text(const sinew_picture_def *def);
double layout_ticks(const sinew_picture_def *def);
/* Places the panels; `l` is NULL if the picture has no legend. */
layout layout_make(const sinew_picture_def *def, const sinew_panel *panels, int32_t count, const legend *l,
                   text_font *font);
void layout_names(const layout *at, const sinew_picture_def *def, const sinew_panel *panels, int32_t count,
                  text_font *font, sinew_image *image);

#endif
