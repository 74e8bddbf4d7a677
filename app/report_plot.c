/* SPDX-License-Identifier: MIT
 *
 * report_plot.c: curves of `sinew compare` over iterations, time and steps. Axes are logarithmic, but linear if values
 * are negative or differ by less than a factor of 3.
 */
#include <math.h>
#include <string.h>

#include "metrics.h"
#include "report.h"

/* ---- Curves of the report --------------------------------------------------------------------- */

typedef double pick(const sinew_answer *answer, int32_t row);

typedef struct plot {
    const char *title, *caption, *x_name;
    pick *x, *y;
    sinew_scale x_scale;
    double floor_value, cap; /* smallest and largest value on a logarithmic y axis of the plot */
    bool reference;          /* true: the reference's last value is a dashed line */
} plot;

/* Data source of a curve of the report. */
typedef struct curve_source {
    const sinew_report *r;
    const plot *p;
    int32_t method;
} curve_source;

static double pick_iteration(const sinew_answer *a, int32_t row)
{
    return a->records[row].iteration;
}

static double pick_seconds(const sinew_answer *a, int32_t row)
{
    return a->records[row].seconds;
}

static double pick_error(const sinew_answer *a, int32_t row)
{
    return a->relative_error[row];
}

static double pick_objective(const sinew_answer *a, int32_t row)
{
    return a->records[row].objective;
}

static double pick_inertia(const sinew_answer *a, int32_t row)
{
    return a->records[row].inertia;
}

static double pick_elastic(const sinew_answer *a, int32_t row)
{
    return a->records[row].elastic;
}

static double pick_residual(const sinew_answer *a, int32_t row)
{
    return a->records[row].residual;
}

static double pick_linear(const sinew_answer *a, int32_t row)
{
    return sinew_length(a->records[row].linear_momentum);
}

static double pick_angular(const sinew_answer *a, int32_t row)
{
    return sinew_length(a->records[row].angular_momentum);
}

static const sinew_answer *report_plot_last_answer(const sinew_report *r, int32_t method)
{
    return sinew_answer_of(r->c, r->c->step_count - 1, method);
}

static void point_of_step(const void *data, int32_t row, double *x, double *y)
{
    const curve_source *s = data;
    const sinew_answer *a = report_plot_last_answer(s->r, s->method);
    *x = s->p->x(a, row);
    *y = s->p->y(a, row);
}

/* Computes a point of a curve over steps: the final relative error of a step. */
static void point_of_steps(const void *data, int32_t step, double *x, double *y)
{
    const curve_source *s = data;
    *x = step + 1;
    *y = sinew_final_error(sinew_answer_of(s->r->c, step, s->method));
}

/* Fills sources and curves [order_count] of a plot; p = NULL: the plot of final errors over steps. Methods with the
 * smallest errors are drawn last, on top. */
static void make_curves(const sinew_report *r, const plot *p, curve_source *sources, sinew_curve *curves)
{
    for (int32_t k = 0; k < r->order_count; k++) {
        const int32_t i = r->order[r->order_count - 1 - k];
        sources[k] = (curve_source){r, p, i};
        curves[k] = (sinew_curve){.name = r->c->methods[i].label,
                                  .colour = sinew_colours[r->colour[i]],
                                  .style = i - 1,
                                  .group = i,
                                  .count = p ? report_plot_last_answer(r, i)->record_count : r->c->step_count,
                                  .data = &sources[k],
                                  .point = p ? point_of_step : point_of_steps};
    }
}

/* ---- Plots of the report ---------------------------------------------------------------------- */

/* Upper limit of a plot's y axis. A diverging solver would compress all other curves into a line. The limit is a
 * million times the value at the start of the step or at the reference's end. For values that are not positive, it
 * is ten times as far above the start as the lowest value is below. Plots with a floor, which may start in
 * round-off, set their own limit. */
static double top_of(const sinew_report *r, const plot *p, double low)
{
    const sinew_answer *reference = report_plot_last_answer(r, SINEW_REFERENCE);
    double min = HUGE_VAL, max = fmax(0, p->y(reference, reference->record_count - 1));
    if (p->floor_value > 0)
        return p->cap;
    for (int32_t i = 1; i < r->c->method_count; i++) {
        const sinew_answer *a = report_plot_last_answer(r, i);
        const double first = a->record_count > 0 ? p->y(a, 0) : NAN;
        if (isfinite(first)) {
            min = fmin(min, first);
            max = fmax(max, first);
        }
    }
    if (low >= 0 && max > 0)
        return fmin(p->cap, 1e6 * max);
    return min > low && isfinite(min) ? fmin(p->cap, min + 10 * (min - low)) : p->cap;
}

/* Writes the names of the methods whose curves end above the top of the plot. */
static void put_gone(const sinew_report *r, const plot *p, const sinew_axis *y)
{
    int gone = 0;
    for (int32_t k = 0; k < r->order_count; k++) {
        const sinew_answer *a = report_plot_last_answer(r, r->order[k]);
        const double last = a->record_count > 0 ? p->y(a, a->record_count - 1) : 0;
        if (!(last > y->high))
            continue;
        fputs(gone++ == 0 ? "<figcaption>above: " : ", ", r->stream);
        sinew_put_escaped(r->stream, r->c->methods[r->order[k]].label);
    }
    if (gone > 0)
        fputs("</figcaption>\n", r->stream);
}

static void begin_plot(const sinew_report *r, const char *title, const char *caption)
{
    fprintf(r->stream, "<figure>\n<h3>%s</h3>\n<figcaption>%s</figcaption>\n", title, caption);
}

static void report_plot_put_plot(const sinew_report *r, const plot *p)
{
    curve_source sources[SINEW_METHOD_MAX];
    sinew_curve curves[SINEW_METHOD_MAX];
    sinew_range ranges[2] = {sinew_range_empty(), sinew_range_empty()};
    for (int32_t i = 1; i < r->c->method_count; i++) {
        const sinew_answer *a = report_plot_last_answer(r, i);
        for (int32_t row = 0; row < a->record_count; row++) {
            sinew_range_widen(&ranges[0], p->x(a, row));
            sinew_range_widen(&ranges[1], p->y(a, row));
        }
    }
    make_curves(r, p, sources, curves);
    sinew_chart chart = {.title = "", .x_name = p->x_name, .y_name = "", .message = "", .level = NAN};
    chart.curves = curves;
    chart.curve_count = r->order_count;
    if (p->x_scale == SINEW_SCALE_COUNT)
        chart.x = (sinew_axis){.scale = SINEW_SCALE_COUNT, .high = fmax(ranges[0].high, 1)};
    else
        sinew_axis_choose(&chart.x, &ranges[0], ranges[0].high * 1e-6, HUGE_VAL);
    const double top = top_of(r, p, ranges[1].low);
    sinew_axis_choose(&chart.y, &ranges[1], fmax(p->floor_value, fmin(ranges[1].high, top) * 1e-24), top);
    if (ranges[1].high <= p->floor_value)
        chart.message = "nothing but round-off";
    const sinew_answer *reference = report_plot_last_answer(r, SINEW_REFERENCE);
    if (p->reference)
        chart.level = p->y(reference, reference->record_count - 1);
    begin_plot(r, p->title, p->caption);
    sinew_put_chart(r->stream, &chart);
    put_gone(r, p, &chart.y);
    fputs("</figure>\n", r->stream);
}

/* Plots the final error of each method over the steps. */
static void put_step_plot(const sinew_report *r)
{
    const sinew_comparison *c = r->c;
    curve_source sources[SINEW_METHOD_MAX];
    sinew_curve curves[SINEW_METHOD_MAX];
    sinew_range errors = sinew_range_empty();
    for (int32_t step = 0; step < c->step_count; step++)
        for (int32_t i = 1; i < c->method_count; i++)
            sinew_range_widen(&errors, sinew_final_error(sinew_answer_of(c, step, i)));
    make_curves(r, NULL, sources, curves);
    sinew_chart chart = {.title = "", .x_name = "step", .y_name = "", .message = "", .level = NAN};
    chart.curves = curves;
    chart.curve_count = r->order_count;
    chart.x = (sinew_axis){.low = 1, .high = c->step_count, .whole = true};
    sinew_axis_choose(&chart.y, &errors, 1e-16, 1e3);
    begin_plot(r, "Relative error at the end of each step", "each step begins where the reference was");
    sinew_put_chart(r->stream, &chart);
    fputs("</figure>\n", r->stream);
}

void sinew_put_plots(const sinew_report *r)
{
    /* Conserved momenta differ by round-off of the sums; differences below this fraction carry no information. */
    const double relative_floor = sizeof(sinew_real) == 4 ? 1e-5 : 1e-10;
    const double linear_floor = relative_floor * r->c->linear_scale,
                 angular_floor = relative_floor * r->c->angular_scale;
    char number[SINEW_SHORT_SIZE], linear[128], angular[128];
    snprintf(linear, sizeof linear, "kg m/s, length; dashed: the reference. Up to about %s is round-off",
             sinew_short(linear_floor, number));
    snprintf(angular, sizeof angular,
             "kg m&sup2;/s about the origin; dashed: the reference. Up to about %s is round-off",
             sinew_short(angular_floor, number));
    const plot plots[] = {
        {"Relative error over iterations", "1: where the step begins; lower is nearer to the minimum", "iteration",
         pick_iteration, pick_error, SINEW_SCALE_COUNT, 1e-16, 1e3, false},
        {"Relative error over time", "without set-up and without recording", "seconds", pick_seconds, pick_error,
         SINEW_SCALE_LOG, 1e-16, 1e3, false},
        {"Objective g", "J; dashed: the reference", "iteration", pick_iteration, pick_objective, SINEW_SCALE_COUNT, 0,
         HUGE_VAL, true},
        {"Residual", "N, length of the gradient of g", "iteration", pick_iteration, pick_residual, SINEW_SCALE_COUNT, 0,
         HUGE_VAL, false},
        {"Elastic term", "J; dashed: the reference", "iteration", pick_iteration, pick_elastic, SINEW_SCALE_COUNT, 0,
         HUGE_VAL, true},
        {"Inertia term", "J; dashed: the reference", "iteration", pick_iteration, pick_inertia, SINEW_SCALE_COUNT, 0,
         HUGE_VAL, true},
        {"Linear momentum", linear, "iteration", pick_iteration, pick_linear, SINEW_SCALE_COUNT, linear_floor, HUGE_VAL,
         true},
        {"Angular momentum", angular, "iteration", pick_iteration, pick_angular, SINEW_SCALE_COUNT, angular_floor,
         HUGE_VAL, true},
    };
    fprintf(r->stream,
            "<section>\n<h2>On the way there</h2>\n<p class=\"soft\">The step iteration by iteration%s; a curve "
            "ends where its solver stopped.</p>\n<div class=\"legend\">",
            r->c->step_count > 1 ? " (the last of the steps)" : "");
    for (int32_t k = 0; k < r->order_count; k++) {
        const int32_t i = r->order[k];
        fprintf(r->stream, "<span data-s=\"%d\">", i);
        sinew_put_swatch(r->stream, sinew_colours[r->colour[i]], i - 1);
        fprintf(r->stream, " %s</span>", r->c->methods[i].label);
    }
    fputs("<span data-s=\"0\"><i class=\"chip dash s0\"></i>reference</span></div>\n<div class=\"plots\">\n",
          r->stream);
    /* The last two plots, of momenta, are omitted if momenta have no scale: quasistatic steps, or no motion. */
    int count = (int)(sizeof plots / sizeof plots[0]) - (r->c->linear_scale > 0 ? 0 : 2);
    for (int i = 0; i < count; i++)
        report_plot_put_plot(r, &plots[i]);
    if (r->c->step_count > 1)
        put_step_plot(r);
    fputs("</div>\n</section>\n", r->stream);
}
