/* SPDX-License-Identifier: MIT
 *
 * chart.h: curves over two axes as one <svg> element, for pages and for separate files.
 *
 * Colour (safe for the colour-blind), dashes and marks distinguish a curve; its name stands beside its end if there is
 * space. The box of each text is computed with the widths of a wide font, so texts neither overlap nor leave the
 * picture. The picture is narrow and its letters are large, so the picture is readable on a phone.
 */
#ifndef SINEW_CHART_H
#define SINEW_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SINEW_CURVE_MAX = 24,
    SINEW_TICK_MAX = 40,
    SINEW_TICK_SIZE = 24,
    SINEW_LINE_COLOUR_COUNT = 12
};

/* Colours that are distinct for most kinds of colour blindness. A solver's kind selects its colour, so that it usually
 * is the same in every report. */
extern const char *const sinew_colours[SINEW_LINE_COLOUR_COUNT];
/* CSS style sheet of charts. A page includes the style sheet once; a separate chart file includes its own copy. */
extern const char sinew_chart_style[];

/* ---- Axes of charts (chart_axis.c) ------------------------------------------------------------- */

typedef enum sinew_scale {
    SINEW_SCALE_LINEAR,
    SINEW_SCALE_LOG,
    SINEW_SCALE_COUNT /* axis scale log(1 + x), for counts that start at 0 */
} sinew_scale;

typedef struct sinew_axis {
    sinew_scale scale;
    double low, high; /* values at the two ends of the chart's axis */
    double from, to;  /* pixel coordinates of the two ends of the chart's axis */
    bool fine;        /* true: a logarithmic axis over few decades, which also has ticks at 2 and 5 times a decade */
    bool whole;       /* true: a linear axis with ticks at whole numbers only */
} sinew_axis;

/* Range of the values that a chart draws; lowest_positive: smallest value above 0, for logarithmic axes. */
typedef struct sinew_range {
    double low, high, lowest_positive;
} sinew_range;

typedef struct sinew_tick {
    double at; /* position of the tick along the axis, pixels */
    char text[SINEW_TICK_SIZE];
} sinew_tick;

sinew_range sinew_range_empty(void);
void sinew_range_widen(sinew_range *r, double value);
/* Sets a linear axis between two round numbers, limited by `cap` if there are values below it. */
void sinew_axis_set_linear(sinew_axis *a, const sinew_range *r, double cap);
/* Sets a logarithmic axis from the least positive value (at least `floor_value`) to the greatest (at most `cap`). */
void sinew_axis_set_log(sinew_axis *a, const sinew_range *r, double floor_value, double cap);
/* Sets a logarithmic axis if the values allow it, else a linear axis. */
void sinew_axis_choose(sinew_axis *a, const sinew_range *r, double floor_value, double cap);
double sinew_axis_position(const sinew_axis *a, double value); /* position of a value along the axis, in pixels */
/* Computes the ticks of an axis, thinned until their labels do not touch; `upright` for the y axis. Returns the number
 * of ticks; 0: none fit. */
int32_t sinew_axis_ticks(const sinew_axis *a, bool upright, sinew_tick ticks[SINEW_TICK_MAX]);
/* Upper bound of the width of a chart's text in pixels; `size` is the size of its letters. */
double sinew_text_width(const char *text, double size);

/* ---- Charts (chart.c) ------------------------------------------------------------------------ */

typedef struct sinew_curve {
    const char *name, *colour;
    int32_t style; /* number of the curve's style: dashes and marks */
    int32_t group; /* value of the attribute data-s of the curve's elements, for the page's script */
    int32_t count; /* number of points of the curve */
    const void *data;
    /* Sets the coordinates of a point of the curve; where they are not finite, the line has a gap. */
    void (*point)(const void *data, int32_t index, double *x, double *y);
} sinew_curve;

typedef struct sinew_chart {
    const char *title;           /* title above the chart; "": none */
    const char *x_name, *y_name; /* names of the x and y axes; "": none */
    const char *message;         /* text in the middle of an empty chart; "": no text */
    bool legend;                 /* true: a legend above the plot has the names of all curves */
    bool alone;                  /* true: the chart is a separate file, with style sheet and background */
    double level;                /* y value of a dashed line across the plot; NaN: none */
    sinew_axis x, y;             /* the chart's axes, whose pixel coordinates the drawing function sets */
    int32_t curve_count;         /* number of curves of the chart, at most SINEW_CURVE_MAX */
    const sinew_curve *curves;   /* [curve_count] curves of the chart; the last is drawn on top */
} sinew_chart;

void sinew_put_chart(FILE *stream, sinew_chart *chart);
/* Draws a short sample of a curve's line, for legends of the page. */
void sinew_put_swatch(FILE *stream, const char *colour, int32_t style);

#endif
