/* SPDX-License-Identifier: MIT
 *
 * layout.c: a balanced grid of panels. A single panel fills the picture, and text is drawn on its backdrop. Several
 * panels have equal sizes; title and legend lie beside them.
 */
#include "layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t ink[3] = {24, 28, 36};
static const uint8_t pale_ink[3] = {62, 68, 78};

/* Number of lines of a text; 0 for an empty text. */
static int32_t count_lines(const char *text)
{
    int32_t lines = text && *text ? 1 : 0;
    for (; lines > 0 && *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Number of columns of panels for which panels are nearest to 5:4; empty cells of the grid are penalised. */
static int32_t choose_columns(double width, double height, int32_t count)
{
    int32_t best = 1;
    double min = INFINITY;
    for (int32_t columns = 1; columns <= count; columns++) {
        const int32_t rows = (count + columns - 1) / columns;
        const double aspect = width / columns / (height / rows);
        const double cost = fabs(log(aspect / 1.25)) + 0.3 * (columns * rows - count);
        if (cost < min) {
            min = cost;
            best = columns;
        }
    }
    return best;
}

static double title_size(const layout *at)
{
    return 1.25 * at->text;
}

/* Sets the frame of a layout: the part of each panel that text does not cover. */
static void place_frame(layout *at, const sinew_panel *panels, int32_t count, double above, double right)
{
    bool titled = false;
    int32_t lines = 0;
    for (int32_t i = 0; i < count; i++) {
        titled = titled || count_lines(panels[i].title) > 0;
        lines = count_lines(panels[i].caption) > lines ? count_lines(panels[i].caption) : lines;
    }
    const double head = above + (titled ? 2.0 * title_size(at) : 0),
                 foot = lines > 0 ? (lines * 1.45 + 1.0) * at->text : 0;
    const double side = fmax(0.02 * at->width, 2), capacity = fmax(0.02 * at->height, 2);
    at->frame =
        (picture_frame){side, head + capacity, at->width - 2 * side - right, at->height - head - foot - 2 * capacity};
    /* If a picture is too small for its text, the frame is the whole panel. */
    if (at->frame.width < 0.3 * at->width || at->frame.height < 0.3 * at->height)
        at->frame = (picture_frame){0, 0, at->width, at->height};
}

double layout_text(const sinew_picture_def *def)
{
    return fmax(8, 0.0225 * def->height);
}

double layout_ticks(const sinew_picture_def *def)
{
    return (0.5 * def->height / layout_text(def) - 3.2) / 1.7;
}

layout layout_make(const sinew_picture_def *def, const sinew_panel *panels, int32_t count, const legend *l,
                   text_font *font)
{
    layout at = {.text = layout_text(def)};
    at.margin = 1.1 * at.text;
    at.title_height = count_lines(def->title) > 0 ? 2.2 * title_size(&at) : 0;
    const double beside = l ? legend_width(l, font, at.text) + 2.2 * at.margin : 0;
    const bool alone = count == 1;
    at.gap = alone ? 0 : 2 + def->width / 400;
    const double capacity[2] = {alone ? def->width : def->width - beside,
                                alone ? def->height : def->height - at.title_height};
    at.columns = choose_columns(capacity[0], capacity[1], count);
    at.rows = (count + at.columns - 1) / at.columns;
    at.top = (int32_t)(def->height - capacity[1]);
    at.width = (int32_t)((capacity[0] - at.gap * (at.columns - 1)) / at.columns);
    at.height = (int32_t)((capacity[1] - at.gap * (at.rows - 1)) / at.rows);
    at.width = at.width < 1 ? 1 : at.width;
    at.height = at.height < 1 ? 1 : at.height;
    place_frame(&at, panels, count, alone ? at.title_height : 0, alone ? beside : 0);
    at.legend_height = 0.5 * capacity[1];
    at.legend_x = def->width - beside + at.margin;
    at.legend_y = at.top + 0.22 * capacity[1];
    return at;
}

/* ---- Text of panels --------------------------------------------------------------------------- */

/* Draws one line of text. If it is wider than `capacity` pixels, its letter size is reduced, at most to 60 %. */
static void draw_line(text_font *font, sinew_image *image, double x, double y, double size, double capacity,
                      const uint8_t rgb[3], const char *line)
{
    const double width = text_width(font, size, line);
    text_draw(font, image, x, y, width > capacity ? fmax(0.6 * size, size * capacity / width) : size, rgb, line);
}

/* Draws the lines of a caption; the baseline of the last line lies 0.8 margins above the panel's lower edge
 * `bottom`. */
static void draw_caption(const layout *at, text_font *font, sinew_image *image, const char *caption, double x,
                         double bottom)
{
    char *copy = strdup(caption), *rest = copy;
    const int32_t lines = count_lines(caption);
    for (int32_t i = 0; copy && i < lines; i++) {
        char *end = strchr(rest, '\n');
        if (end)
            *end = 0;
        draw_line(font, image, x, bottom - 0.8 * at->margin - 1.45 * at->text * (lines - 1 - i), at->text,
                  at->width - 2 * at->margin, i == 0 ? ink : pale_ink, rest);
        rest = end ? end + 1 : rest;
    }
    free(copy);
}

void layout_names(const layout *at, const sinew_picture_def *def, const sinew_panel *panels, int32_t count,
                  text_font *font, sinew_image *image)
{
    if (at->title_height > 0)
        draw_line(font, image, at->margin, 0.68 * at->title_height, 1.15 * title_size(at), def->width - 2 * at->margin,
                  ink, def->title);
    for (int32_t i = 0; i < count; i++) {
        const double x = at->left + (i % at->columns) * (at->width + at->gap) + at->margin,
                     y = at->top + (i / at->columns) * (at->height + at->gap);
        const double head = count == 1 ? at->title_height : 0;
        if (count_lines(panels[i].title) > 0)
            draw_line(font, image, x, y + head + 1.5 * title_size(at), title_size(at), at->width - 2 * at->margin, ink,
                      panels[i].title);
        if (count_lines(panels[i].caption) > 0)
            draw_caption(at, font, image, panels[i].caption, x, y + at->height);
    }
}
