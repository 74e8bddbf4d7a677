/* SPDX-License-Identifier: MIT
 *
 * layout.h: positions of panels, text and legend in a picture.
 */
#ifndef SINEW_RENDER_LAYOUT_H
#define SINEW_RENDER_LAYOUT_H

#include "camera.h"
#include "legend.h"

typedef struct layout {
    double text;   /* letter size (em) of captions, in pixels */
    double margin; /* margin around text of the picture, in pixels */
    int32_t columns, rows;
    int32_t left, top;                        /* upper left corner of the first panel, in pixels */
    int32_t width, height;                    /* size of each panel, in pixels */
    int32_t gap;                              /* distance between panels, in pixels */
    picture_frame frame;                      /* part of each panel without text and legend */
    double legend_x, legend_y, legend_height; /* upper left corner and height of the legend, in pixels */
    double title_height;                      /* height of the title line above all panels, in pixels; 0: no line */
} layout;

/* Em size of captions in pixels, and the number of legend ticks that fit, for a picture of the definition's size. */
double layout_text(const sinew_picture_def *def);
double layout_ticks(const sinew_picture_def *def);
/* Places the panels; `l` is NULL if the picture has no legend. */
layout layout_make(const sinew_picture_def *def, const sinew_panel *panels, int32_t count, const legend *l,
                   text_font *font);
void layout_names(const layout *at, const sinew_picture_def *def, const sinew_panel *panels, int32_t count,
                  text_font *font, sinew_image *image);

#endif
