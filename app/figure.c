/* SPDX-License-Identifier: MIT
 *
 * figure.c: curves of an experiment as charts. An axis is linear or logarithmic (log(1 + x) for counts). Shapes are
 * drawn in figure_shape.c.
 */
#include "figure.h"

#include <math.h>

#include "figure_internal.h"

/* Returns the colour of a curve or shape. A solver has the same colour in every report, except in figures of three
 * or more curves that all belong to one solver or are marked as distinct: their colours follow the order of the
 * curves. */
const char *sinew_figure_colour(const figure *f, int32_t index)
{
    const series *s = &f->series[index];
    bool alike = true;
    for (int32_t i = 1; i < f->series_count; i++)
        alike = alike && f->series[i].kind == f->series[0].kind;
    if ((alike || f->distinct) && f->series_count > 2)
        return sinew_colours[index % SINEW_LINE_COLOUR_COUNT];
    return sinew_colours[(int32_t)s->kind % SINEW_LINE_COLOUR_COUNT];
}

void sinew_begin_figure(FILE *stream, const figure *f, int width, int height)
{
    fprintf(
        stream,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"system-ui,"
        "Segoe UI,Roboto,sans-serif\" font-size=\"12\">\n<style>.sf-p{fill:#fff}.sf-t{fill:#1b1f24}.sf-s{fill:#646c76}"
        ".sf-g{stroke:#e9ebee;fill:none}.sf-l{fill:none;stroke-width:2;stroke-linejoin:round}"
        "@media(prefers-color-scheme:dark){.sf-p{fill:#1d2126}.sf-t{fill:#e6e8eb}.sf-s{fill:#98a1ab}"
        ".sf-g{stroke:#2b3037}}</style>\n<rect class=\"sf-p\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n"
        "<text class=\"sf-t\" x=\"14\" y=\"22\" font-size=\"14\" font-weight=\"600\">",
        width, height, width, height);
    sinew_put_escaped(stream, f->title);
    fputs("</text>\n", stream);
}

/* ---- Curves of a figure ------------------------------------------------------------------------ */

/* Data source of a figure's curve. */
typedef struct curve_source {
    const series *s;
    bool positive; /* true: omits values that a logarithmic axis cannot show */
} curve_source;

static void point_of_series(const void *data, int32_t index, double *x, double *y)
{
    const curve_source *c = data;
    *x = c->s->x[index];
    *y = c->positive && c->s->y[index] <= 0 ? NAN : c->s->y[index];
}

static void choose_axes(const figure *f, sinew_axis *x, sinew_axis *y)
{
    sinew_range across = sinew_range_empty(), up = sinew_range_empty();
    for (int32_t i = 0; i < f->series_count; i++)
        for (int32_t k = 0; k < f->series[i].count; k++) {
            const double u = f->series[i].x[k], v = f->series[i].y[k];
            if (!isfinite(u) || !isfinite(v))
                continue;
            sinew_range_widen(&across, u);
            if (!f->log_y || v > 0)
                sinew_range_widen(&up, v);
        }
    if (across.low > across.high)
        across = (sinew_range){1, 2, 1};
    if (up.low > up.high)
        up = (sinew_range){1, 2, 1};
    if (f->log_x && across.low == 0)
        *x = (sinew_axis){.scale = SINEW_SCALE_COUNT, .high = fmax(across.high, 1)};
    else if (f->log_x)
        sinew_axis_set_log(x, &across, 0, HUGE_VAL);
    else
        sinew_axis_set_linear(x, &across, HUGE_VAL);
    up.low = f->log_y ? up.low : fmin(up.low, 0);
    /* The range of a logarithmic axis omits values more than fourteen decades below the largest: they are round-off. */
    if (f->log_y)
        sinew_axis_set_log(y, &up, 1e-14 * up.high, HUGE_VAL);
    else
        sinew_axis_set_linear(y, &up, HUGE_VAL);
}

static void figure_put_plot(FILE *stream, const figure *f)
{
    curve_source sources[SERIES_MAX];
    sinew_curve curves[SERIES_MAX];
    for (int32_t i = 0; i < f->series_count; i++) {
        const series *s = &f->series[i];
        sources[i] = (curve_source){s, f->log_y};
        curves[i] = (sinew_curve){.name = s->name,
                                  .colour = sinew_figure_colour(f, i),
                                  .style = i,
                                  .group = i,
                                  .count = s->count,
                                  .data = &sources[i],
                                  .point = point_of_series};
    }
    sinew_chart chart = {.title = f->title,
                         .x_name = f->x_label,
                         .y_name = f->y_label,
                         .message = "",
                         .legend = true,
                         .alone = true,
                         .level = NAN,
                         .curve_count = f->series_count,
                         .curves = curves};
    choose_axes(f, &chart.x, &chart.y);
    sinew_put_chart(stream, &chart);
}

size_t sinew_text_length(const char *text)
{
    size_t length = 0;
    for (; *text; text++)
        length += ((unsigned char)*text & 0xc0) != 0x80;
    return length;
}

bool sinew_put_figure(FILE *stream, const figure *f, const sinew_mesh *surface)
{
    if (f->shapes)
        return sinew_put_shape_figure(stream, f, surface);
    figure_put_plot(stream, f);
    return true;
}
