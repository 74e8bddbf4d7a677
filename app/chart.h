/* SPDX-License-Identifier: MIT
 *
 * chart.h: curves over two axes as one <svg> element, for pages and for files that stand alone.
 *
 * A curve is told from the others by three things at once: its colour (safe for the colour-blind), its dashes and its
 * marks; its name stands beside its end where there is room. Every text has a box that is computed before it is placed,
 * with the widths of a wide font, so that no two texts overlap and none leaves the picture. The picture is narrow and
 * its letters are large: scaled down to a phone it can still be read.
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

/* Colours that hold for most kinds of colour blindness; a solver has the same in every report. */
extern const char *const sinew_colours[SINEW_LINE_COLOUR_COUNT];
/* The style sheet of charts. A page holds it once; a chart that stands alone carries it. */
extern const char sinew_chart_style[];

/* ---- Axes (chart_axis.c) --------------------------------------------------------------------- */

typedef enum sinew_scale {
    SINEW_SCALE_LINEAR,
    SINEW_SCALE_LOG,
    SINEW_SCALE_COUNT /* log(1 + x), for counts that begin at 0 */
} sinew_scale;

typedef struct sinew_axis {
    sinew_scale scale;
    double low, high; /* values at its ends */
    double from, to;  /* pixels of its ends */
    bool fine;        /* logarithmic over few decades: ticks at 2 and 5 times a decade as well */
    bool whole;       /* linear: ticks at whole numbers only */
} sinew_axis;

/* Range of the values that are drawn. */
typedef struct sinew_range {
    double low, high, lowest_positive;
} sinew_range;

typedef struct sinew_tick {
    double at; /* pixels */
    char text[SINEW_TICK_SIZE];
} sinew_tick;

sinew_range sinew_range_empty(void);
void sinew_range_widen(sinew_range *r, double value);
/* Linear, from one round number to another, no higher than `cap` if there is something below it. */
void sinew_axis_set_linear(sinew_axis *a, const sinew_range *r, double cap);
/* From the least positive value (not below `floor_value`) to the greatest (not above `cap`). */
void sinew_axis_set_log(sinew_axis *a, const sinew_range *r, double floor_value, double cap);
/* Logarithmic where the values allow it, else linear. */
void sinew_axis_choose(sinew_axis *a, const sinew_range *r, double floor_value, double cap);
double sinew_axis_place(const sinew_axis *a, double value); /* pixels */
/* Ticks whose labels do not touch, thinned until that holds; `upright` for the y axis. Returns their number. */
int32_t sinew_axis_ticks(const sinew_axis *a, bool upright, sinew_tick ticks[SINEW_TICK_MAX]);
/* Pixels that a text takes at most, `size` being that of its letters. */
double sinew_text_width(const char *text, double size);

/* ---- Charts (chart.c) ------------------------------------------------------------------------ */

typedef struct sinew_curve {
    const char *name, *colour;
    int32_t style; /* chooses dashes and marks */
    int32_t group; /* data-s of its elements, for the page's script */
    int32_t count; /* points */
    const void *data;
    void (*point)(const void *data, int32_t index, double *x, double *y); /* not finite: the line is interrupted */
} sinew_curve;

typedef struct sinew_chart {
    const char *title;           /* "": none */
    const char *x_name, *y_name; /* "": none */
    const char *note;            /* a word in the middle of a chart that has nothing to show; "": none */
    bool legend;                 /* names of all curves above them */
    bool alone;                  /* a file of its own: carries style sheet and background */
    double level;                /* y of a dashed line across; NaN: none */
    sinew_axis x, y;             /* pixels are filled in */
    int32_t curve_count;         /* at most SINEW_CURVE_MAX */
    const sinew_curve *curves;   /* the last is drawn on top */
} sinew_chart;

void sinew_put_chart(FILE *stream, sinew_chart *chart);
/* A piece of a line as the curve is drawn, for legends of the page. */
void sinew_put_swatch(FILE *stream, const char *colour, int32_t style);

#endif
