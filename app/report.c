/* SPDX-License-Identifier: MIT
 *
 * report.c: report.html of `sinew compare`: results, plots, pictures and the command line in one self-contained file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "report.h"
#include "report_style.h"

/* ---- Text of the report ------------------------------------------------------------------------ */

void sinew_put_escaped(FILE *stream, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc(*text, stream);
        }
}

const char *sinew_short(double number, char text[SINEW_SHORT_SIZE])
{
    double size = fabs(number);
    if (!isfinite(number)) {
        snprintf(text, SINEW_SHORT_SIZE, "-");
    } else if (size == 0 || (size >= 1e-3 && size < 99999.5)) {
        snprintf(text, SINEW_SHORT_SIZE, size >= 100 ? "%.0f" : "%.3g", number);
    } else {
        /* Shortens the exponent of a number: "1.0e-07" becomes "1e-7". */
        snprintf(text, SINEW_SHORT_SIZE, "%.1e", number);
        int power = atoi(strchr(text, 'e') + 1);
        char *end = strstr(text, ".0e") ? strstr(text, ".0e") : strchr(text, 'e');
        snprintf(end, SINEW_SHORT_SIZE - (size_t)(end - text), "e%d", power);
    }
    return text;
}

const char *sinew_short_time(double seconds, char text[SINEW_SHORT_SIZE])
{
    static const struct {
        double factor;
        const char *unit;
    } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "&micro;s"}};
    int unit = seconds >= 1 ? 0 : seconds >= 1e-3 ? 1 : 2;
    double number = seconds * units[unit].factor;
    snprintf(text, SINEW_SHORT_SIZE, number >= 100 ? "%.0f %s" : "%.2g %s", number, units[unit].unit);
    return text;
}

/* ---- Order and colours of the methods -------------------------------------------------------- */

/* True if method i precedes method k: in the report: its final error is smaller, or both errors are at round-off level
 * and i is faster. */
static bool report_comes_before(const sinew_comparison *c, int32_t i, int32_t k)
{
    const double noise = sizeof(sinew_real) == 4 ? 1e-5 : 1e-12;
    const sinew_answer *a = sinew_answer_of(c, c->step_count - 1, i), *b = sinew_answer_of(c, c->step_count - 1, k);
    double x = sinew_final_error(a), y = sinew_final_error(b);
    x = isfinite(x) ? fmax(x, noise) : HUGE_VAL;
    y = isfinite(y) ? fmax(y, noise) : HUGE_VAL;
    return x < y || (x == y && a->result.seconds < b->result.seconds);
}

static void sort_methods(sinew_report *r)
{
    for (int32_t i = 1; i < r->c->method_count; i++) {
        int32_t slot = r->order_count++;
        for (; slot > 0 && report_comes_before(r->c, i, r->order[slot - 1]); slot--)
            r->order[slot] = r->order[slot - 1];
        r->order[slot] = i;
    }
}

/* Assigns colours: the first method whose solver has a given colour gets this colour; later methods of the same colour
 * get free ones. */
static void choose_colours(sinew_report *r)
{
    bool taken[SINEW_LINE_COLOUR_COUNT] = {false}, own[SINEW_METHOD_MAX] = {false};
    for (int32_t i = 1; i < r->c->method_count; i++) {
        int32_t colour = (int32_t)r->c->methods[i].def.kind % SINEW_LINE_COLOUR_COUNT;
        own[i] = !taken[colour];
        taken[colour] = true;
        r->colour[i] = colour;
    }
    for (int32_t i = 1, next = 0; i < r->c->method_count; i++) {
        if (own[i])
            continue;
        for (int32_t tries = 0; tries < SINEW_LINE_COLOUR_COUNT && taken[next % SINEW_LINE_COLOUR_COUNT]; tries++)
            next++;
        r->colour[i] = next++ % SINEW_LINE_COLOUR_COUNT;
        taken[r->colour[i]] = true;
    }
}

/* ---- Head of the report ------------------------------------------------------------------------ */

static const sinew_answer *report_last_answer(const sinew_report *r, int32_t method)
{
    return sinew_answer_of(r->c, r->c->step_count - 1, method);
}

static const char *label(const sinew_report *r, int32_t method)
{
    return r->c->methods[method].label;
}

/* Starts a table row with the method's name in the first cell; a long name may break before each option. */
static void begin_row(const sinew_report *r, int32_t method)
{
    fprintf(r->stream, "<tr class=\"s%d\" data-s=\"%d\"><td>", method, method);
    sinew_put_swatch(r->stream, sinew_colours[r->colour[method]], method - 1);
    for (const char *c = label(r, method); *c; c++)
        fprintf(r->stream, *c == ':' ? "<wbr>%c" : "%c", *c);
}

/* Relative errors of objectives that differ by less than this value are equal: objectives are sums of many terms. */
static double round_off_of_errors(const sinew_report *r)
{
    const int32_t last = r->c->step_count - 1;
    const double start = r->c->start[last], lowest = r->c->lowest[last];
    return (sizeof(sinew_real) == 4 ? 1e-6 : 1e-13) * (fabs(start) + fabs(lowest)) / (start - lowest);
}

/* Number of leading methods whose error equals the first one's within round-off. */
static int32_t count_ties(const sinew_report *r)
{
    const double best = sinew_final_error(report_last_answer(r, r->order[0])), noise = round_off_of_errors(r);
    int32_t count = 1;
    while (count < r->order_count && sinew_final_error(report_last_answer(r, r->order[count])) <= best + noise)
        count++;
    return count;
}

static void put_tie(const sinew_report *r, int32_t count)
{
    char error[SINEW_SHORT_SIZE];
    double largest = 0;
    for (int32_t k = 0; k < count; k++) {
        largest = fmax(largest, sinew_final_error(report_last_answer(r, r->order[k])));
        fprintf(r->stream, "%s<b>%s</b>", k == 0 ? "" : k + 1 < count ? ", " : " and ", label(r, r->order[k]));
    }
    fprintf(r->stream, " come nearest, alike within round-off: relative error at most %s. ",
            sinew_short(largest, error));
}

static void put_most_accurate(const sinew_report *r)
{
    char error[SINEW_SHORT_SIZE], time[SINEW_SHORT_SIZE];
    const sinew_answer *best = report_last_answer(r, r->order[0]);
    const int32_t ties = isfinite(sinew_final_error(best)) ? count_ties(r) : 0;
    if (ties > 1)
        put_tie(r, ties);
    else if (ties == 1)
        fprintf(r->stream, "<b>%s</b> comes nearest: relative error %s after %d iterations and %s. ",
                label(r, r->order[0]), sinew_short(sinew_final_error(best), error), best->result.iterations,
                sinew_short_time(best->result.seconds, time));
    else
        fputs("There is nothing to gain in this step: it begins at the minimum. ", r->stream);
}

/* Names the method that reaches a relative error of one per cent in the least time, and the methods that never do. */
static void put_fastest(const sinew_report *r)
{
    int32_t fastest = -1, late = 0;
    double min = HUGE_VAL;
    for (int32_t k = 0; k < r->order_count; k++) {
        const sinew_answer *a = report_last_answer(r, r->order[k]);
        int32_t row = sinew_record_reaching(a, sinew_levels[0]);
        late += row < 0;
        if (row >= 0 && a->records[row].seconds < min) {
            min = a->records[row].seconds;
            fastest = r->order[k];
        }
    }
    if (fastest < 0)
        return;
    char time[SINEW_SHORT_SIZE];
    const sinew_answer *a = report_last_answer(r, fastest);
    int32_t iteration = a->records[sinew_record_reaching(a, sinew_levels[0])].iteration;
    if (iteration == 0)
        fprintf(r->stream, "First at 1&nbsp;%%: <b>%s</b>, with its first guess. ", label(r, fastest));
    else
        fprintf(r->stream, "First at 1&nbsp;%%: <b>%s</b>, iteration %d, %s. ", label(r, fastest), iteration,
                sinew_short_time(min, time));
    if (late == 0)
        return;
    fputs("Not at 1&nbsp;%: ", r->stream);
    for (int32_t k = 0, said = 0; k < r->order_count; k++)
        if (sinew_record_reaching(report_last_answer(r, r->order[k]), sinew_levels[0]) < 0)
            fprintf(r->stream, "%s%s", said++ ? ", " : "", label(r, r->order[k]));
    fputs(". ", r->stream);
}

static void put_inverted(const sinew_report *r)
{
    for (int32_t k = 0, said = 0; k <= r->order_count; k++) {
        if (k == r->order_count) {
            fputs(said ? ". " : "", r->stream);
            break;
        }
        int32_t count = report_last_answer(r, r->order[k])->measures.inverted_count;
        if (count > 0)
            fprintf(r->stream, "%s%s (%d)", said++ ? ", " : "Tets left inverted: ", label(r, r->order[k]), count);
    }
}

static void report_put_head(const sinew_report *r)
{
    const sinew_comparison *c = r->c;
    FILE *stream = r->stream;
    char number[SINEW_SHORT_SIZE];
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\">\n<title>",
          stream);
    sinew_put_escaped(stream, sinew_scene_name(c->scene));
    fprintf(stream, ": solvers compared</title>\n<style>\n%s%s%s", page_style, sinew_chart_style, report_style);
    for (int32_t i = 0; i < c->method_count; i++)
        fprintf(stream, ".s%d{--c:%s}\n", i, i == SINEW_REFERENCE ? "var(--soft)" : sinew_colours[r->colour[i]]);
    fputs("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>", stream);
    sinew_put_escaped(stream, sinew_scene_name(c->scene));
    fprintf(stream, ": %d solver%s, the same %s</h1>\n<p class=\"lead\">", r->order_count,
            r->order_count == 1 ? "" : "s", c->step_count == 1 ? "step" : "steps");
    put_most_accurate(r);
    put_fastest(r);
    put_inverted(r);
    fputs("</p>\n<p class=\"soft\">", stream);
    sinew_put_escaped(stream, sinew_scene_comment(c->scene));
    fprintf(stream, "</p>\n<p class=\"facts\"><b>%d</b> particles &middot; h = <b>%s s</b> &middot; <b>%d</b> step%s",
            sinew_world_particle_count(c->world), sinew_short((double)sinew_scene_time_step(c->scene), number),
            c->step_count, c->step_count == 1 ? "" : "s");
    fprintf(stream,
            " &middot; at most <b>%d</b> iterations &middot; <b>%s</b> precision, %s SIMD of width %d, %d thread%s "
            "&middot; "
            "sinew %s</p>\n</header>\n",
            c->iterations, SINEW_PRECISION, sinew_simd_name(), sinew_simd_width(), sinew_world_thread_count(c->world),
            sinew_world_thread_count(c->world) == 1 ? "" : "s", SINEW_VERSION);
}

/* ---- Tables of the report ---------------------------------------------------------------------- */

/* Starts a table cell with the name of its column; a narrow screen shows the table as cards, with the name above the
 * cell. */
static void begin_cell(FILE *stream, const char *name, const char *kind, bool known)
{
    fprintf(stream, "<td data-n=\"%s\" class=\"%s%s\">", name, kind, known ? "" : " none");
}

static void report_put_cell(FILE *stream, const char *name, const char *kind, double number)
{
    char text[SINEW_SHORT_SIZE];
    begin_cell(stream, name, kind, isfinite(number));
    fprintf(stream, "%s</td>", sinew_short(number, text));
}

static void put_time_cell(FILE *stream, const char *name, const char *kind, double seconds)
{
    char text[SINEW_SHORT_SIZE];
    begin_cell(stream, name, kind, true);
    fprintf(stream, "%s</td>", sinew_short_time(seconds, text));
}

/* Prints the optimality gap with its kind: an estimate, a bound, or "unknown" with the reason as a tooltip. */
static void put_gap(FILE *stream, const sinew_step_result *result)
{
    char text[SINEW_SHORT_SIZE];
    const bool known = result->gap_kind != SINEW_GAP_UNKNOWN && isfinite(result->gap);
    begin_cell(stream, "gap, J", "more", known);
    if (result->gap_kind == SINEW_GAP_UNKNOWN)
        fprintf(stream, "<span title=\"%s\">unknown</span></td>", result->gap_reason);
    else
        fprintf(stream, "%s%s</td>", result->gap_kind == SINEW_GAP_BELOW ? "&lt;&nbsp;" : "",
                sinew_short(result->gap, text));
}

/* Writes the momentum drift of a method. If a solver conserves momenta, their error is round-off and is shown as 0. */
static void put_drift(FILE *stream, const char *name, const char *kind, double drift, double scale)
{
    const double noise = sizeof(sinew_real) == 4 ? 1e-5 : 1e-10;
    const double share = scale > 0 ? drift / scale : NAN;
    char text[SINEW_SHORT_SIZE], kinds[64];
    snprintf(kinds, sizeof kinds, "%s%s", kind, share > 0.01 ? " warn" : "");
    begin_cell(stream, name, kinds, !isnan(share));
    if (isnan(share))
        fputs("-</td>", stream);
    else
        fprintf(stream, "<span title=\"%.3g\">%s&nbsp;%%</span></td>", drift,
                sinew_short(share < noise ? 0 : 100 * share, text));
}

static void put_near_cell(FILE *stream, double error)
{
    char text[SINEW_SHORT_SIZE];
    /* The bar of a relative error spans twelve decades. */
    double width = isfinite(error) ? fmin(100, fmax(0, -100 * log10(fmax(error, 1e-12)) / 12)) : 0;
    fprintf(stream, "<td data-n=\"relative error\" class=\"near first%s\" style=\"--n:%.0f%%\">%s</td>",
            isfinite(error) ? "" : " none", width, sinew_short(error, text));
}

/* Writes the status bits, except `inverted`, as words beside the solver's name. */
static void put_status(FILE *stream, uint32_t bits)
{
    char text[128];
    sinew_bits_text(bits & ~(uint32_t)SINEW_STEP_INVERTED, text, sizeof text);
    for (char *c = text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    fputs(bits & SINEW_STEP_NOT_FINITE ? " <small class=\"warn\">" : " <small>", stream);
    for (const char *c = text; *c; c++)
        fputs(*c == '|' ? ", " : (char[2]){*c, '\0'}, stream);
    fputs("</small></td>", stream);
}

static void report_put_levels(FILE *stream, const sinew_answer *a)
{
    for (int level = 0; level < SINEW_LEVEL_COUNT; level++) {
        const int32_t row = sinew_record_reaching(a, sinew_levels[level]);
        char name[16], text[SINEW_SHORT_SIZE];
        snprintf(name, sizeof name, "to 1e%d", (int)lround(log10(sinew_levels[level])));
        begin_cell(stream, name, level == 0 ? "level first" : "level more", row >= 0);
        if (row < 0)
            fputs("-</td>", stream);
        else
            fprintf(stream, "%d <small>%s</small></td>", a->records[row].iteration,
                    sinew_short_time(a->records[row].seconds, text));
    }
}

static double worst_error(const sinew_report *r, int32_t method)
{
    double worst = 0;
    for (int32_t step = 0; step < r->c->step_count; step++)
        worst = fmax(worst, sinew_final_error(sinew_answer_of(r->c, step, method)));
    return worst;
}

static void put_row(const sinew_report *r, int32_t i)
{
    const sinew_comparison *c = r->c;
    const sinew_answer *a = report_last_answer(r, i);
    FILE *stream = r->stream;
    begin_row(r, i);
    put_status(stream, a->result.bits);
    put_near_cell(stream, sinew_final_error(a));
    if (c->step_count > 1)
        report_put_cell(stream, "worst step", "more", worst_error(r, i));
    report_put_cell(stream, "residual, N", "more", a->result.residual);
    put_gap(stream, &a->result);
    report_put_cell(stream, "iterations", "first", a->result.iterations);
    put_time_cell(stream, "time", "", a->result.seconds);
    put_time_cell(stream, "set-up", "more", a->set_up);
    report_put_levels(stream, a);
    report_put_cell(stream, "inverted tets", a->measures.inverted_count > 0 ? "first warn" : "first",
                    a->measures.inverted_count);
    put_drift(stream, "linear momentum", "more", a->linear_drift, c->linear_scale);
    put_drift(stream, "angular momentum", "more", a->angular_drift, c->angular_scale);
    report_put_cell(stream, "farthest, m", "", a->distance);
    fputs("</tr>\n", stream);
}

static void report_put_table(const sinew_report *r)
{
    bool several = r->c->step_count > 1;
    fprintf(r->stream,
            "<section>\n<h2>Who came how near%s</h2>\n<div class=\"panel\"><table class=\"cards\">\n<thead><tr "
            "class=\"groups\"><th></th>"
            "<th class=\"first\" colspan=\"%d\">how near</th><th class=\"first\" colspan=\"3\">how long</th>"
            "<th class=\"first\" colspan=\"3\">iteration, time to</th>"
            "<th class=\"first\" colspan=\"4\">artefacts</th></tr>\n<tr><th>solver</th>"
            "<th class=\"first\">relative error</th>%s<th>residual, N</th><th>gap, J</th>"
            "<th class=\"first\">iterations</th><th>time</th><th>set-up</th>",
            several ? ", in the last step" : "", several ? 4 : 3, several ? "<th>worst step</th>" : "");
    for (int level = 0; level < SINEW_LEVEL_COUNT; level++)
        fprintf(r->stream, "<th%s>1e%d</th>", level == 0 ? " class=\"first\"" : "",
                (int)lround(log10(sinew_levels[level])));
    fputs("<th class=\"first\">inverted tets</th><th>linear momen&shy;tum</th><th>angular momen&shy;tum</th>"
          "<th>farthest, m</th></tr></thead>\n<tbody>\n",
          r->stream);
    for (int32_t k = 0; k < r->order_count; k++)
        put_row(r, r->order[k]);
    fputs("</tbody></table></div>\n", r->stream);
}

static void put_samples(const sinew_report *r)
{
    int32_t longest = 0, count = 0;
    for (int32_t k = 0; k < r->order_count; k++) {
        int32_t rows = report_last_answer(r, r->order[k])->record_count;
        longest = rows > longest ? rows : longest;
    }
    while (count < SINEW_SAMPLE_COUNT && sinew_samples[count] < longest)
        count++;
    fputs("<h2>Relative error after so many iterations</h2>\n<div class=\"panel\"><table class=\"cards\">\n<thead><tr>"
          "<th>iteration</th>",
          r->stream);
    for (int i = 0; i < count; i++)
        fprintf(r->stream, "<th>%d</th>", sinew_samples[i]);
    fputs("</tr></thead>\n<tbody>\n", r->stream);
    for (int32_t k = 0; k < r->order_count; k++) {
        const sinew_answer *a = report_last_answer(r, r->order[k]);
        begin_row(r, r->order[k]);
        fputs("</td>", r->stream);
        for (int i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "after %d", sinew_samples[i]);
            report_put_cell(r->stream, name, sinew_samples[i] < a->record_count ? "" : "none",
                            sinew_error_at(a, sinew_samples[i]));
        }
        fputs("</tr>\n", r->stream);
    }
    fputs("</tbody></table></div>\n<p class=\"soft\">Pale: the solver had stopped before.</p>\n</section>\n",
          r->stream);
}

/* ---- Foot of the report ------------------------------------------------------------------------ */

static void put_explanations(const sinew_report *r)
{
    const sinew_comparison *c = r->c;
    const sinew_answer *reference = report_last_answer(r, SINEW_REFERENCE);
    char residual[SINEW_SHORT_SIZE], error[SINEW_SHORT_SIZE];
    fprintf(r->stream,
            "<section>\n<h2>How to read it</h2>\n<ul>\n"
            "<li>Every solver minimises the same objective g (inertia + elastic energy) from the same state%s.</li>\n"
            "<li>Relative error: (g &minus; g*) / (g<sub>0</sub> &minus; g*), with g<sub>0</sub> where the step begins "
            "and g* the lowest that anyone reached. 1: nothing gained; above 1: worse than standing still.</li>\n",
            c->step_count > 1 ? "; each step begins where the reference ended the one before" : "");
    fprintf(r->stream, "<li>Reference: Newton, %d iterations to a residual of %s N (relative %.1e)%s.</li>\n",
            reference->result.iterations, sinew_short(reference->result.residual, residual),
            reference->result.relative_residual,
            reference->result.bits & SINEW_STEP_NOT_CONVERGED ? ", where round-off or the iteration limit ended it"
                                                              : "");
    if (sinew_final_error(reference) > 1e-6)
        fprintf(
            r->stream,
            "<li><b>A solver found a lower objective than the reference</b> (whose relative error is %s): this step "
            "has more than one minimum.</li>\n",
            sinew_short(sinew_final_error(reference), error));
    fputs(
        "<li>Gap: an estimate of g &minus; min g from the step alone, without the reference. Residual: length of the "
        "gradient of g.</li>\n"
        "<li>Momenta: distance from the reference's, as a share of the sum of m&nbsp;|v| (m&nbsp;r&nbsp;|v|) of its "
        "particles. Farthest: the particle farthest from where the reference has it.</li>\n"
        "<li>Times are of a run without recording. Set-up (ordering, factorisation, colouring) is done once, not every "
        "step.</li>\n",
        r->stream);
    for (int32_t i = 0; i < c->refusal_count; i++) {
        fputs("<li>Left out: ", r->stream);
        sinew_put_escaped(r->stream, c->refusals[i].why);
        fputs(".</li>\n", r->stream);
    }
    fputs("</ul>\n<h2>Made by</h2>\n<pre>", r->stream);
    sinew_put_escaped(r->stream, c->command_line);
    fprintf(r->stream, "</pre>\n</section>\n</main>\n<script>%s</script>\n</body>\n</html>\n", report_script);
}

bool sinew_write_report(const sinew_comparison *c, FILE *stream)
{
    sinew_report r = {.c = c, .stream = stream};
    sort_methods(&r);
    choose_colours(&r);
    report_put_head(&r);
    report_put_table(&r);
    put_samples(&r);
    sinew_put_plots(&r);
    bool good = sinew_put_shapes(&r);
    put_explanations(&r);
    return good;
}
