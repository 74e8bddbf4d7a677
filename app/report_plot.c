/* SPDX-License-Identifier: MIT
 *
 * report_plot.c: curves over iterations, time and steps as inline SVG. Axes are logarithmic with ticks at decades, and
 * linear where values are negative or span too little for a decade. Curves are thinned to about one point a pixel.
 */
#include <math.h>

#include "metrics.h"
#include "report.h"

enum {
    WIDTH = 620,
    HEIGHT = 330,
    LEFT = 62,
    RIGHT = 14,
    TOP = 10,
    BOTTOM = 42
};

/* ---- Axes ----------------------------------------------------------------------------------- */

typedef enum axis_kind {
    AXIS_LINEAR,
    AXIS_LOG,
    AXIS_COUNT /* log(1 + x), for counts that begin at 0 */
} axis_kind;

typedef struct axis {
    axis_kind kind;
    double low, high; /* values at its ends */
    double from, to;  /* pixels */
    bool fine;        /* logarithmic: has ticks at 2 and 5 times a decade as well */
    bool whole;       /* linear: has ticks at whole numbers only */
} axis;

static double warp(const axis *a, double value)
{
    if (a->kind == AXIS_LOG)
        return log10(fmax(value, a->low));
    return a->kind == AXIS_COUNT ? log10(1 + value) : value;
}

static double place(const axis *a, double value)
{
    double low = warp(a, a->low), high = warp(a, a->high);
    return a->from + (a->to - a->from) * (warp(a, value) - low) / (high - low);
}

/* Range of what is drawn. */
typedef struct range {
    double low, high, lowest_positive;
} range;

static void widen(range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
    if (value > 0)
        r->lowest_positive = fmin(r->lowest_positive, value);
}

/* A step of 1, 2 or 5 times a power of ten that cuts the span into about four. */
static double nice_step(double span)
{
    double power = pow(10, floor(log10(span / 4))), rest = span / 4 / power;
    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

/* 1, 2 or 5 times a power of ten, at or below (above) a positive value. */
static double round_tick(double value, bool up)
{
    double power = pow(10, floor(log10(value) + 1e-9)), rest = value / power;
    if (up)
        return power * (rest <= 1.0001 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

/* From the least positive value (not below `floor_value`) to the greatest (not above `cap`): whole decades, or when
 * there are few of them also 2 and 5 times a decade. */
static void set_log(axis *a, const range *r, double floor_value, double cap)
{
    double low = fmax(r->lowest_positive, floor_value), high = fmin(fmax(r->high, low), cap);
    a->kind = AXIS_LOG;
    a->fine = high < 300 * low;
    a->low = a->fine ? round_tick(low, false) : pow(10, floor(log10(low) + 1e-9));
    a->high = a->fine ? round_tick(high, true) : pow(10, ceil(log10(high) - 1e-9));
    if (a->high <= a->low)
        a->high = 10 * a->low;
}

static void set_linear(axis *a, const range *r, double cap)
{
    double top = fmax(fmin(r->high, cap), r->low), span = top > r->low ? top - r->low : fmax(fabs(top), 1);
    double step = nice_step(span);
    a->kind = AXIS_LINEAR;
    a->low = step * floor(r->low / step);
    a->high = step * ceil(top / step);
    if (a->high <= a->low)
        a->high = a->low + step;
}

static void choose_axis(axis *a, const range *r, double floor_value, double cap)
{
    bool none = r->low > r->high, logarithmic = r->low >= 0 && r->lowest_positive < HUGE_VAL;
    /* Within half a decade a logarithmic axis would have no tick. */
    if (none)
        set_log(a, &(range){1, 1, 1}, 0, HUGE_VAL);
    else if (logarithmic && (r->low == 0 || r->high > 3 * r->lowest_positive))
        set_log(a, r, floor_value, cap);
    else
        set_linear(a, r, cap);
}

/* ---- Frame ---------------------------------------------------------------------------------- */

/* "0.01", "200", "5e6": powers of ten beyond three digits are written as such. */
static void write_tick(double value, char text[SINEW_SHORT_SIZE])
{
    double size = fabs(value);
    if (size > 0 && (size < 0.999e-2 || size > 9999)) {
        int power = (int)floor(log10(size) + 1e-9);
        snprintf(text, SINEW_SHORT_SIZE, "%.3ge%d", value / pow(10, power), power);
    } else {
        snprintf(text, SINEW_SHORT_SIZE, "%.4g", value);
    }
}

static void put_tick(FILE *stream, const axis *a, double value, bool upright, bool named)
{
    double at = place(a, value);
    char text[SINEW_SHORT_SIZE];
    if (upright)
        fprintf(stream, "<path class=\"g\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
    else
        fprintf(stream, "<path class=\"g\" d=\"M%.1f %dV%d\"/>", at, TOP, HEIGHT - BOTTOM);
    if (!named)
        return;
    write_tick(fabs(value) < 1e-12 * (fabs(a->low) + fabs(a->high)) && a->kind != AXIS_LOG ? 0 : value, text);
    if (upright)
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 7, at + 4, text);
    else
        fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at, HEIGHT - BOTTOM + 17, text);
}

static void put_ticks(FILE *stream, const axis *a, bool upright)
{
    if (a->kind == AXIS_LOG) {
        int low = (int)floor(log10(a->low) + 1e-9), high = (int)ceil(log10(a->high) - 1e-9);
        int stride = 1 + (high - low) / 9;
        for (int power = low; power <= high; power++)
            for (int k = 0; k < (a->fine ? 3 : 1); k++) {
                double value = pow(10, power) * (k == 0 ? 1 : k == 1 ? 2 : 5);
                if (value > 0.999 * a->low && value < 1.001 * a->high)
                    put_tick(stream, a, value, upright, (power - low) % stride == 0);
            }
    } else if (a->kind == AXIS_COUNT) {
        static const double counts[] = {0, 1, 3, 10, 30, 100, 300, 1000, 3000, 1e4, 3e4, 1e5, 3e5, 1e6};
        for (int i = 0; i < (int)(sizeof counts / sizeof counts[0]) && counts[i] <= a->high; i++)
            put_tick(stream, a, counts[i], upright, true);
    } else {
        double step = fmax(nice_step(a->high - a->low), a->whole ? 1 : 0);
        double first = a->whole ? step * ceil(a->low / step) : a->low;
        for (double value = first; value <= a->high + 0.01 * step; value += step)
            put_tick(stream, a, value, upright, true);
    }
}

/* ---- Curves --------------------------------------------------------------------------------- */

typedef double pick(const sinew_answer *answer, int32_t row);

typedef struct plot {
    const char *title, *note, *x_name;
    pick *x, *y;
    axis_kind x_kind;
    double floor_value, cap; /* of a logarithmic y axis */
    bool reference;          /* draws the reference's last value as a dashed line */
} plot;

static double pick_iteration(const sinew_answer *a, int32_t row)
{
    return a->rows[row].iteration;
}

static double pick_seconds(const sinew_answer *a, int32_t row)
{
    return a->rows[row].seconds;
}

static double pick_error(const sinew_answer *a, int32_t row)
{
    return a->relative_error[row];
}

static double pick_objective(const sinew_answer *a, int32_t row)
{
    return a->rows[row].objective;
}

static double pick_inertia(const sinew_answer *a, int32_t row)
{
    return a->rows[row].inertia;
}

static double pick_elastic(const sinew_answer *a, int32_t row)
{
    return a->rows[row].elastic;
}

static double pick_residual(const sinew_answer *a, int32_t row)
{
    return a->rows[row].residual;
}

static double pick_linear(const sinew_answer *a, int32_t row)
{
    return sinew_length(a->rows[row].linear_momentum);
}

static double pick_angular(const sinew_answer *a, int32_t row)
{
    return sinew_length(a->rows[row].angular_momentum);
}

static const sinew_answer *last_answer(const sinew_report *r, int32_t contender)
{
    return sinew_answer_of(r->c, r->c->step_count - 1, contender);
}

static void put_curve(const sinew_report *r, const plot *p, int32_t contender, const axis *x, const axis *y)
{
    const sinew_answer *a = last_answer(r, contender);
    double last_x = -HUGE_VAL, end_x = NAN, end_y = NAN;
    bool drawing = false;
    fprintf(r->stream, "<path class=\"line s%d\" data-s=\"%d\" d=\"", contender, contender);
    for (int32_t row = 0; row < a->row_count; row++) {
        double u = p->x(a, row), v = p->y(a, row);
        if (!isfinite(v)) {
            drawing = false;
            continue;
        }
        end_x = place(x, u);
        end_y = place(y, v);
        if (end_x - last_x < 0.8 && drawing && row + 1 < a->row_count)
            continue;
        fprintf(r->stream, "%c%.1f %.1f", drawing ? 'L' : 'M', end_x, fmax(-999, end_y));
        drawing = true;
        last_x = end_x;
    }
    fprintf(r->stream, "\"><title>%s</title></path>", r->c->contenders[contender].label);
    if (isfinite(end_x) && end_y >= TOP)
        fprintf(r->stream, "<circle class=\"end s%d\" data-s=\"%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", contender,
                contender, end_x, end_y);
}

static void put_frame(FILE *stream, const char *title, const char *note, const char *x_name, const axis *x,
                      const axis *y)
{
    fprintf(stream, "<figure>\n<h3>%s</h3>\n<figcaption>%s</figcaption>\n", title, note);
    fprintf(stream, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over %s\">\n", WIDTH, HEIGHT, title,
            x_name);
    put_ticks(stream, x, false);
    put_ticks(stream, y, true);
    fprintf(stream, "<path class=\"a\" d=\"M%d %dV%dH%d\"/>", LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
    fprintf(stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 6, x_name);
}

/* Where curves are cut off. One solver that blows up would push all others into a line: no more than a million times
 * where the step begins or the reference ends or, where values are not positive, ten times as far above the beginning
 * as the lowest is below. Plots with a floor of their own, which may begin in round-off, have a cap of their own. */
static double top_of(const sinew_report *r, const plot *p, double low)
{
    const sinew_answer *reference = last_answer(r, SINEW_REFERENCE);
    double least = HUGE_VAL, most = fmax(0, p->y(reference, reference->row_count - 1));
    if (p->floor_value > 0)
        return p->cap;
    for (int32_t i = 1; i < r->c->contender_count; i++) {
        const sinew_answer *a = last_answer(r, i);
        const double first = a->row_count > 0 ? p->y(a, 0) : NAN;
        if (isfinite(first)) {
            least = fmin(least, first);
            most = fmax(most, first);
        }
    }
    if (low >= 0 && most > 0)
        return fmin(p->cap, 1e6 * most);
    return least > low && isfinite(least) ? fmin(p->cap, least + 10 * (least - low)) : p->cap;
}

/* Names the curves that end above the top. */
static void put_gone(const sinew_report *r, const plot *p, const axis *y)
{
    int gone = 0;
    for (int32_t k = 0; k < r->order_count; k++) {
        const sinew_answer *a = last_answer(r, r->order[k]);
        const double last = a->row_count > 0 ? p->y(a, a->row_count - 1) : 0;
        if (!(last > y->high))
            continue;
        if (gone++ == 0)
            fprintf(r->stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">above: ", WIDTH - RIGHT - 4, TOP + 12);
        fprintf(r->stream, "%s%s", gone == 1 ? "" : ", ", r->c->contenders[r->order[k]].label);
    }
    if (gone > 0)
        fputs("</text>\n", r->stream);
}

/* A nested svg of the plot's area, in the same coordinates: what leaves it is cut off. */
static void begin_area(FILE *stream)
{
    fprintf(stream, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\">\n", LEFT, TOP - 5,
            WIDTH - LEFT, HEIGHT - TOP - BOTTOM + 10, LEFT, TOP - 5, WIDTH - LEFT, HEIGHT - TOP - BOTTOM + 10);
}

static void put_plot(const sinew_report *r, const plot *p)
{
    range ranges[2] = {{HUGE_VAL, -HUGE_VAL, HUGE_VAL}, {HUGE_VAL, -HUGE_VAL, HUGE_VAL}};
    for (int32_t i = 1; i < r->c->contender_count; i++) {
        const sinew_answer *a = last_answer(r, i);
        for (int32_t row = 0; row < a->row_count; row++) {
            widen(&ranges[0], p->x(a, row));
            widen(&ranges[1], p->y(a, row));
        }
    }
    axis x = {.from = LEFT, .to = WIDTH - RIGHT}, y = {.from = HEIGHT - BOTTOM, .to = TOP};
    if (p->x_kind == AXIS_COUNT) {
        x.kind = AXIS_COUNT;
        x.high = fmax(ranges[0].high, 1);
    } else {
        choose_axis(&x, &ranges[0], ranges[0].high * 1e-6, HUGE_VAL);
    }
    const double top = top_of(r, p, ranges[1].low);
    choose_axis(&y, &ranges[1], fmax(p->floor_value, fmin(ranges[1].high, top) * 1e-24), top);
    put_frame(r->stream, p->title, p->note, p->x_name, &x, &y);
    begin_area(r->stream);
    if (ranges[1].high <= p->floor_value)
        fprintf(r->stream, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">nothing but round-off</text>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT / 2);
    const sinew_answer *reference = last_answer(r, SINEW_REFERENCE);
    double level = p->y(reference, reference->row_count - 1);
    if (p->reference && isfinite(level))
        fprintf(r->stream,
                "<path class=\"line dash s0\" data-s=\"0\" d=\"M%d %.1fH%d\"><title>reference</title></path>\n", LEFT,
                place(&y, level), WIDTH - RIGHT);
    /* The nearest are drawn last, on top. */
    for (int32_t k = r->order_count - 1; k >= 0; k--)
        put_curve(r, p, r->order[k], &x, &y);
    put_gone(r, p, &y);
    fputs("</svg>\n</svg>\n</figure>\n", r->stream);
}

/* Final errors over the steps. */
static void put_step_plot(const sinew_report *r)
{
    const sinew_comparison *c = r->c;
    range errors = {HUGE_VAL, -HUGE_VAL, HUGE_VAL};
    for (int32_t step = 0; step < c->step_count; step++)
        for (int32_t i = 1; i < c->contender_count; i++)
            widen(&errors, sinew_final_error(sinew_answer_of(c, step, i)));
    axis x = {.low = 1, .high = c->step_count, .from = LEFT, .to = WIDTH - RIGHT, .whole = true};
    axis y = {.from = HEIGHT - BOTTOM, .to = TOP};
    choose_axis(&y, &errors, 1e-16, 1e3);
    put_frame(r->stream, "Relative error at the end of each step", "each step begins where the reference was", "step",
              &x, &y);
    begin_area(r->stream);
    for (int32_t i = 1; i < c->contender_count; i++) {
        bool drawing = false;
        fprintf(r->stream, "<path class=\"line s%d\" data-s=\"%d\" d=\"", i, i);
        for (int32_t step = 0; step < c->step_count; step++) {
            double error = sinew_final_error(sinew_answer_of(c, step, i));
            if (isfinite(error))
                fprintf(r->stream, "%c%.1f %.1f", drawing ? 'L' : 'M', place(&x, step + 1), place(&y, error));
            drawing = isfinite(error);
        }
        fprintf(r->stream, "\"><title>%s</title></path>\n", c->contenders[i].label);
    }
    fputs("</svg>\n</svg>\n</figure>\n", r->stream);
}

void sinew_put_plots(const sinew_report *r)
{
    /* Momenta that are kept are round-off of the sums: below this they say nothing. */
    const double part = sizeof(sinew_real) == 4 ? 1e-5 : 1e-10;
    const double linear_floor = part * r->c->linear_scale, angular_floor = part * r->c->angular_scale;
    char number[SINEW_SHORT_SIZE], linear[128], angular[128];
    snprintf(linear, sizeof linear, "kg m/s, length; dashed: the reference. Up to about %s is round-off",
             sinew_short(linear_floor, number));
    snprintf(angular, sizeof angular,
             "kg m&sup2;/s about the origin; dashed: the reference. Up to about %s is round-off",
             sinew_short(angular_floor, number));
    const plot plots[] = {
        {"Relative error over iterations", "1: where the step begins; lower is nearer to the minimum", "iteration",
         pick_iteration, pick_error, AXIS_COUNT, 1e-16, 1e3, false},
        {"Relative error over time", "without set-up and without recording", "seconds", pick_seconds, pick_error,
         AXIS_LOG, 1e-16, 1e3, false},
        {"Objective g", "J; dashed: the reference", "iteration", pick_iteration, pick_objective, AXIS_COUNT, 0,
         HUGE_VAL, true},
        {"Residual", "N, length of the gradient of g", "iteration", pick_iteration, pick_residual, AXIS_COUNT, 0,
         HUGE_VAL, false},
        {"Elastic term", "J; dashed: the reference", "iteration", pick_iteration, pick_elastic, AXIS_COUNT, 0, HUGE_VAL,
         true},
        {"Inertia term", "J; dashed: the reference", "iteration", pick_iteration, pick_inertia, AXIS_COUNT, 0, HUGE_VAL,
         true},
        {"Linear momentum", linear, "iteration", pick_iteration, pick_linear, AXIS_COUNT, linear_floor, HUGE_VAL, true},
        {"Angular momentum", angular, "iteration", pick_iteration, pick_angular, AXIS_COUNT, angular_floor, HUGE_VAL,
         true},
    };
    fprintf(r->stream,
            "<section>\n<h2>On the way there</h2>\n<p class=\"soft\">The step iteration by iteration%s; a dot "
            "marks where a solver stopped.</p>\n<div class=\"legend\">",
            r->c->step_count > 1 ? " (the last of the steps)" : "");
    for (int32_t k = 0; k < r->order_count; k++)
        fprintf(r->stream, "<span class=\"s%d\" data-s=\"%d\"><i class=\"chip\"></i>%s</span>", r->order[k],
                r->order[k], r->c->contenders[r->order[k]].label);
    fputs("<span class=\"s0\" data-s=\"0\"><i class=\"chip dash\"></i>reference</span></div>\n<div class=\"plots\">\n",
          r->stream);
    /* Quasistatic steps have no momenta. */
    int count = (int)(sizeof plots / sizeof plots[0]) - (r->c->linear_scale > 0 ? 0 : 2);
    for (int i = 0; i < count; i++)
        put_plot(r, &plots[i]);
    if (r->c->step_count > 1)
        put_step_plot(r);
    fputs("</div>\n</section>\n", r->stream);
}
