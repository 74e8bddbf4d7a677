/* SPDX-License-Identifier: MIT
 *
 * figure.c: curves of an experiment as SVG. An axis is linear or logarithmic (log(1 + x) for counts). Curves are
 * thinned to about a point a pixel; every point that a pixel hides is kept by its highest and lowest. Shapes are drawn
 * in figure_shape.c.
 */
#include "figure.h"

#include <math.h>

#include "figure_parts.h"

enum {
    WIDTH = 720,
    HEIGHT = 380,
    LEFT = 66,
    RIGHT = 16,
    BOTTOM = 46,
    LEGEND_LINE = 18
};

/* A solver has the same colour in every report; curves of one solver are told apart by colours of their own. */
const char *sinew_figure_colour(const figure *f, int32_t index)
{
    const series *s = &f->series[index];
    bool alike = true;
    for (int32_t i = 1; i < f->series_count; i++)
        alike = alike && f->series[i].kind == f->series[0].kind;
    if ((alike || f->distinct) && f->series_count > 2)
        return sinew_colours[index % SINEW_COLOUR_COUNT];
    return sinew_colours[(int32_t)s->kind % SINEW_COLOUR_COUNT];
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

/* ---- Axes ------------------------------------------------------------------------------------- */

typedef struct axis {
    bool logarithmic, counts; /* counts: log(1 + x) */
    double low, high, from, to;
} axis;

static double warp(const axis *a, double value)
{
    if (a->counts)
        return log10(1 + fmax(value, 0));
    return a->logarithmic ? log10(fmax(value, a->low)) : value;
}

static double place(const axis *a, double value)
{
    const double low = warp(a, a->low), high = warp(a, a->high);
    const double share = (warp(a, value) - low) / (high - low);
    return a->from + (a->to - a->from) * fmin(fmax(share, -0.02), 1.02);
}

static double nice_step(double span)
{
    const double power = pow(10, floor(log10(span / 5))), rest = span / 5 / power;
    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

/* Rounds the ends outwards: to decades, or to a step of 1, 2 or 5. */
static void round_ends(axis *a)
{
    if (a->counts)
        return;
    if (a->logarithmic) {
        a->low = pow(10, floor(log10(a->low) + 1e-9));
        a->high = pow(10, ceil(log10(a->high) - 1e-9));
        a->high = a->high > a->low ? a->high : 10 * a->low;
        return;
    }
    const double span = a->high > a->low ? a->high - a->low : fmax(fabs(a->high), 1), step = nice_step(span);
    a->low = step * floor(a->low / step + 1e-9);
    a->high = step * ceil(a->high / step - 1e-9);
    a->high = a->high > a->low ? a->high : a->low + step;
}

static void measure(const figure *f, axis *x, axis *y)
{
    x->low = y->low = HUGE_VAL;
    x->high = y->high = -HUGE_VAL;
    for (int32_t i = 0; i < f->series_count; i++)
        for (int32_t k = 0; k < f->series[i].count; k++) {
            const double u = f->series[i].x[k], v = f->series[i].y[k];
            if (!isfinite(u) || !isfinite(v))
                continue;
            x->low = fmin(x->low, u);
            x->high = fmax(x->high, u);
            if (f->log_y && v <= 0)
                continue;
            y->low = fmin(y->low, v);
            y->high = fmax(y->high, v);
        }
    if (x->low > x->high)
        x->low = 1, x->high = 2;
    if (y->low > y->high)
        y->low = 1, y->high = 2;
    if (!f->log_y)
        y->low = fmin(y->low, 0);
    /* More than fourteen decades are round-off. */
    if (f->log_y)
        y->low = fmax(y->low, 1e-14 * y->high);
    x->logarithmic = f->log_x;
    x->counts = f->log_x && x->low == 0;
    y->logarithmic = f->log_y;
    round_ends(x);
    round_ends(y);
}

static void put_tick(FILE *stream, const axis *a, double value, bool upright, double top)
{
    char text[32];
    const double at = place(a, value), size = fabs(value);
    if (upright)
        fprintf(stream, "<path class=\"sf-g\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
    else
        fprintf(stream, "<path class=\"sf-g\" d=\"M%.1f %.1fV%d\"/>", at, top, HEIGHT - BOTTOM);
    snprintf(text, sizeof text, size > 0 && (size >= 1e5 || size < 1e-2) ? "%.2g" : "%g", value);
    if (upright)
        fprintf(stream, "<text class=\"sf-s\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 6, at + 4,
                text);
    else
        fprintf(stream, "<text class=\"sf-s\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at,
                HEIGHT - BOTTOM + 16, text);
}

static void put_ticks(FILE *stream, const axis *a, bool upright, double top)
{
    if (a->logarithmic) {
        if (a->counts)
            put_tick(stream, a, 0, upright, top);
        const double decades = log10(a->high) - log10(fmax(a->low, 1e-300));
        const double stride = a->counts || decades < 9 ? 1 : 2;
        for (double e = a->counts ? 0 : log10(a->low); e < log10(a->high) + 1e-9; e += stride)
            put_tick(stream, a, pow(10, e), upright, top);
        return;
    }
    const double step = nice_step(a->high - a->low);
    for (int i = 0; a->low + i * step < a->high + 0.5 * step; i++)
        put_tick(stream, a, a->low + i * step, upright, top);
}

/* ---- Curves ----------------------------------------------------------------------------------- */

/* Within one pixel column the first point and the extremes are drawn. */
static void put_curve(FILE *stream, const figure *f, int32_t index, const axis *x, const axis *y)
{
    const series *s = &f->series[index];
    fprintf(stream, "<path class=\"sf-l\" stroke=\"%s\"%s d=\"", sinew_figure_colour(f, index),
            s->variant == 1   ? " stroke-dasharray=\"6 4\""
            : s->variant == 2 ? " stroke-dasharray=\"2 3\""
                              : "");
    bool begun = false;
    for (int32_t i = 0; i < s->count;) {
        const double column = floor(place(x, s->x[i]));
        double low = HUGE_VAL, high = -HUGE_VAL, first = NAN;
        for (; i < s->count && floor(place(x, s->x[i])) == column; i++) {
            if (!isfinite(s->y[i]) || (f->log_y && s->y[i] <= 0))
                continue;
            const double v = place(y, s->y[i]);
            first = isnan(first) ? v : first;
            low = fmin(low, v);
            high = fmax(high, v);
        }
        if (isnan(first))
            continue;
        fprintf(stream, "%c%.0f %.1f", begun ? 'L' : 'M', column, first);
        begun = true;
        if (high - low > 1)
            fprintf(stream, "V%.1fV%.1f", low, high);
    }
    fputs("\"/>\n", stream);
}

/* Returns the pixel below which the plot begins. */
static double put_legend(FILE *stream, const figure *f)
{
    double x = 14, y = 42;
    for (int32_t i = 0; i < f->series_count; i++) {
        const double width = 38 + 6.6 * (double)sinew_text_length(f->series[i].name);
        if (x + width > WIDTH - RIGHT && x > 14) {
            x = 14;
            y += LEGEND_LINE;
        }
        fprintf(stream,
                "<path stroke=\"%s\" stroke-width=\"3\"%s d=\"M%.0f %.0fh20\"/><text class=\"sf-t\" x=\"%.0f\" "
                "y=\"%.0f\">",
                sinew_figure_colour(f, i),
                f->series[i].variant == 1   ? " stroke-dasharray=\"6 3\""
                : f->series[i].variant == 2 ? " stroke-dasharray=\"2 3\""
                                            : "",
                x, y - 4, x + 25, y);
        sinew_put_escaped(stream, f->series[i].name);
        fputs("</text>\n", stream);
        x += width;
    }
    return y + 12;
}

static void put_plot(FILE *stream, const figure *f)
{
    axis x = {.from = LEFT, .to = WIDTH - RIGHT}, y = {.from = HEIGHT - BOTTOM};
    sinew_begin_figure(stream, f, WIDTH, HEIGHT);
    const double top = put_legend(stream, f);
    y.to = top;
    measure(f, &x, &y);
    put_ticks(stream, &x, false, top);
    put_ticks(stream, &y, true, top);
    fprintf(stream, "<text class=\"sf-s\" x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDTH - RIGHT, HEIGHT - 10);
    sinew_put_escaped(stream, f->x_label);
    fprintf(stream,
            "</text>\n<text class=\"sf-s\" transform=\"translate(15 %.0f) rotate(-90)\" text-anchor=\"middle\">",
            (top + HEIGHT - BOTTOM) / 2);
    sinew_put_escaped(stream, f->y_label);
    fputs("</text>\n", stream);
    for (int32_t i = 0; i < f->series_count; i++)
        put_curve(stream, f, i, &x, &y);
    fputs("</svg>\n", stream);
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
    put_plot(stream, f);
    return true;
}
