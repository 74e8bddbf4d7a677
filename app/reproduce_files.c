/* SPDX-License-Identifier: MIT
 *
 * reproduce_files.c: results of an experiment as a table on the terminal, and as summary.json, report.html, .svg and
 * .csv files. Results of the program of the other precision are read back from these files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "figure.h"
#include "figure_internal.h"
#include "output.h"
#include "report_style.h"
#include "reproduce.h"

/* ---- Table on the terminal --------------------------------------------------------------------- */

void sinew_print_outcome(const experiment *e, const outcome *o, double seconds)
{
    printf("%s (%s): %s\n", e->name, e->source, e->title);
    for (int32_t i = 0; i < o->claim_count; i++) {
        const claim *c = &o->claims[i];
        printf("  %s\n    published  %s\n    measured   %s\n    holds?     %s%s%s\n", c->what, c->published,
               c->measured, result_name(c->holds), *c->cause ? ": " : "", c->cause);
    }
    printf("  holds altogether: %s (%d claims, %.1f s, %s precision)\n\n", result_name(outcome_result(o)),
           o->claim_count, seconds, SINEW_PRECISION);
}

/* ---- summary.json of an experiment ------------------------------------------------------------ */

static void put_string(FILE *stream, const char *name, const char *text, const char *after)
{
    fprintf(stream, "\"%s\": \"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', stream);
        fputc((unsigned char)*text < 32 ? ' ' : *text, stream);
    }
    fprintf(stream, "\"%s", after);
}

static void reproduce_put_number(FILE *stream, double value)
{
    if (isfinite(value))
        fprintf(stream, "%.10g", value);
    else
        fputs("null", stream);
}

static void put_result(FILE *stream, claim_result v, const char *after)
{
    if (v == NOT_MEASURED)
        fprintf(stream, "\"holds\": null%s", after);
    else
        put_string(stream, "holds", result_name(v), after);
}

static void put_claims(FILE *stream, const outcome *o)
{
    fputs("  \"claims\": [", stream);
    for (int32_t i = 0; i < o->claim_count; i++) {
        const claim *c = &o->claims[i];
        fputs(i ? ",\n    {" : "\n    {", stream);
        put_string(stream, "what", c->what, ", ");
        put_string(stream, "published", c->published, ", ");
        put_string(stream, "measured", c->measured, ", ");
        put_result(stream, c->holds, ", ");
        put_string(stream, "cause", c->cause, "}");
    }
    fputs("\n  ],\n", stream);
}

static void put_figures(FILE *stream, const outcome *o)
{
    fputs("  \"figures\": [", stream);
    for (int32_t i = 0; i < o->figure_count; i++) {
        fputs(i ? ",\n    {" : "\n    {", stream);
        put_string(stream, "name", o->figures[i].name, ", ");
        put_string(stream, "title", o->figures[i].title, ", ");
        fprintf(stream, "\"shapes\": %s}", o->figures[i].shapes ? "true" : "false");
    }
    fputs("\n  ],\n", stream);
}

static void put_summary(FILE *stream, const experiment *e, const setting *s, const outcome *o, double seconds)
{
    fputs("{\n  ", stream);
    put_string(stream, "experiment", e->name, ",\n  ");
    put_string(stream, "source", e->source, ",\n  ");
    put_string(stream, "title", e->title, ",\n  ");
    put_string(stream, "precision", SINEW_PRECISION, ",\n  ");
    put_string(stream, "version", SINEW_VERSION, ",\n  ");
    put_result(stream, outcome_result(o), ",\n");
    fprintf(stream, "  \"quick\": %s,\n  \"seconds\": %.3f,\n  ", s->quick ? "true" : "false", seconds);
    if (e->needs_beam)
        fprintf(stream, "\"beam\": {\"vertices\": %d, \"tets\": %d, \"density\": %.10g},\n", s->beam->vertex_count,
                sinew_mesh_tet_count(s->beam->mesh), s->beam->density);
    else
        put_string(stream, "setup", o->setup, ",\n");
    put_claims(stream, o);
    put_figures(stream, o);
    fputs("  \"numbers\": {", stream);
    for (int32_t i = 0; i < o->number_count; i++) {
        fprintf(stream, "%s\n    \"%s\": ", i ? "," : "", o->numbers[i].name);
        reproduce_put_number(stream, o->numbers[i].value);
    }
    fputs("\n  }\n}\n", stream);
}

/* ---- report.html of an experiment ------------------------------------------------------------- */

static const char style[] =
    "p{color:var(--soft);max-width:90ch}th,td{padding:9px 12px;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line)}tr:last-child td{border-bottom:0}table{font-size:14px}"
    "td small{display:block;color:var(--soft);max-width:44ch}b{font-weight:620}.plots{align-items:start}"
    ".plots>div{border:1px solid var(--line);border-radius:10px;overflow:hidden;background:var(--panel);"
    "padding:6px;min-width:0}.plots>div>svg,.plots>div>img{display:block;width:100%;height:auto}"
    "@media(max-width:760px){thead{display:none}table,tbody,tr,td{display:block}tr{padding:10px 14px;"
    "border-bottom:1px solid var(--line)}tr:last-child{border-bottom:0}td{border:0;padding:3px 0}"
    "td:first-child{font-weight:620}td+td::before{content:attr(data-n) \": \";color:var(--soft)}"
    "td small{max-width:none}}";

static void reproduce_put_cell(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "<td data-n=\"%s\">", name);
    sinew_put_escaped(stream, text);
    fputs("</td>", stream);
}

static void reproduce_put_table(FILE *stream, const outcome *o)
{
    fputs("<div class=\"panel\"><table><thead><tr><th>statement</th><th>published</th><th>measured</th><th>holds?</th>"
          "</tr></thead><tbody>\n",
          stream);
    for (int32_t i = 0; i < o->claim_count; i++) {
        const claim *c = &o->claims[i];
        fputs("<tr>", stream);
        reproduce_put_cell(stream, "statement", c->what);
        reproduce_put_cell(stream, "published", c->published);
        reproduce_put_cell(stream, "measured", c->measured);
        fprintf(stream, "<td data-n=\"holds?\"><b class=\"%s\">%s</b><small>", result_name(c->holds),
                result_name(c->holds));
        sinew_put_escaped(stream, c->cause);
        fputs("</small></td></tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
}

/* Writes the relative path from an experiment's folder to that of the index: "../../" for "thesis/twist". */
static const char *up_from(const char *name, char up[64])
{
    snprintf(up, 64, "../");
    for (const char *c = name; *c && strlen(up) < 60; c++)
        if (*c == '/')
            strcat(up, "../");
    return up;
}

static bool put_page(FILE *stream, const experiment *e, const setting *s, const outcome *o, const sinew_mesh *surface)
{
    const char *v = result_name(outcome_result(o));
    char up[64];
    bool good = true;
    fprintf(stream,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width,initial-scale=1\"><title>%s"
            "</title><style>%s%s</style></head><body><main>\n<p><a href=\"%sindex.html\">all reproductions</a></p>\n"
            "<h1>%s</h1>\n<p>%s. Holds altogether: <b class=\"%s\">%s</b>.</p>\n<p>%s precision%s. ",
            e->name, page_style, style, up_from(e->name, up), e->title, e->source, v, v, SINEW_PRECISION,
            s->quick ? ", quick version" : "");
    if (e->needs_beam)
        fprintf(stream, "Beam of %d tets, %g kg/m<sup>3</sup>, one step from a twisted equilibrium.",
                sinew_mesh_tet_count(s->beam->mesh), s->beam->density);
    else
        sinew_put_escaped(stream, o->setup);
    fprintf(stream, " <code>sinew reproduce %s%s</code></p>\n", e->name, s->quick ? " --quick" : "");
    reproduce_put_table(stream, o);
    fputs("<div class=\"plots\">\n", stream);
    for (int32_t i = 0; i < o->figure_count && good; i++) {
        fputs("<div>", stream);
        good = sinew_put_figure(stream, &o->figures[i], surface);
        fputs("</div>\n", stream);
    }
    fputs("</div>\n</main></body></html>\n", stream);
    return good;
}

/* ---- Writing of an experiment's results and curves -------------------------------------------- */

static void put_curves(FILE *stream, const figure *f)
{
    fputs("series,kind,variant,x,y\n", stream);
    for (int32_t i = 0; i < f->series_count; i++)
        for (int32_t k = 0; k < f->series[i].count; k++)
            fprintf(stream, "\"%s\",%d,%d,%.10g,%.10g\n", f->series[i].name, (int)f->series[i].kind,
                    (int)f->series[i].variant, f->series[i].x[k], f->series[i].y[k]);
}

static bool write_figure(const char *folder, const figure *f, const sinew_mesh *surface)
{
    sinew_output out;
    char name[64];
    snprintf(name, sizeof name, "%s.svg", f->name);
    if (!sinew_output_open(&out, "reproduce", folder, name))
        return false;
    if (!sinew_put_figure(out.stream, f, surface)) {
        sinew_output_drop(&out);
        sinew_usage_error("reproduce", "out of memory");
        return false;
    }
    if (!sinew_output_close(&out) || f->shapes)
        return f->shapes;
    snprintf(name, sizeof name, "%s.csv", f->name);
    if (!sinew_output_open(&out, "reproduce", folder, name))
        return false;
    put_curves(out.stream, f);
    return sinew_output_close(&out);
}

bool sinew_write_outcome(const char *folder, const experiment *e, const setting *s, const outcome *o, double seconds)
{
    sinew_error error = {SINEW_OK, ""};
    sinew_output out;
    sinew_mesh *surface = e->needs_beam ? sinew_mesh_surface(s->beam->mesh, &error) : NULL;
    bool good = (surface || !e->needs_beam) && sinew_make_folders("reproduce", folder);
    if (!surface && e->needs_beam)
        sinew_usage_error("reproduce", "%s", error.text);
    for (int32_t i = 0; i < o->figure_count && good; i++)
        good = write_figure(folder, &o->figures[i], surface);
    good = good && sinew_output_open(&out, "reproduce", folder, "report.html");
    if (good) {
        good = put_page(out.stream, e, s, o, surface);
        if (good)
            good = sinew_output_close(&out);
        else
            sinew_output_drop(&out);
    }
    good = good && sinew_output_open(&out, "reproduce", folder, "summary.json");
    if (good) {
        put_summary(out.stream, e, s, o, seconds);
        good = sinew_output_close(&out);
    }
    sinew_mesh_destroy(surface);
    return good;
}

/* ---- Reading of written results --------------------------------------------------------------- */

static FILE *open_in(const char *folder, const char *name, const char *ending)
{
    char path[2200];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    return fopen(path, "r");
}

/* Reads the lines after "numbers" of this command's summary.json: one `"name": value` each. */
static bool reproduce_read_numbers(const char *folder, outcome *o)
{
    char line[4096], name[64];
    double value;
    bool inside = false;
    FILE *file = open_in(folder, "summary", ".json");
    while (file && fgets(line, sizeof line, file)) {
        if (inside && sscanf(line, " \"%63[^\"]\": %lf", name, &value) == 2)
            outcome_number(o, value, "%s", name);
        inside = inside || strstr(line, "\"numbers\"");
    }
    if (file)
        fclose(file);
    return inside;
}

/* Reads the series of a figure's .csv file in two passes: the first counts the points of each series, the second fills
 * the series. */
static bool read_series(FILE *file, figure *f)
{
    char line[512], name[56] = "", current[56];
    int kind, variant, last_kind = 0, last_variant = 0;
    double x, y;
    int32_t counts[SERIES_MAX] = {0}, index = -1;
    for (int pass = 0; pass < 2; pass++) {
        rewind(file);
        index = -1;
        name[0] = '\0';
        int32_t filled = 0;
        while (fgets(line, sizeof line, file)) {
            if (sscanf(line, "\"%55[^\"]\",%d,%d,%lf,%lf", current, &kind, &variant, &x, &y) != 5)
                continue;
            if (index < 0 || strcmp(current, name) != 0 || kind != last_kind || variant != last_variant) {
                if (++index == SERIES_MAX)
                    return false;
                snprintf(name, sizeof name, "%s", current);
                last_kind = kind;
                last_variant = variant;
                filled = 0;
                if (pass == 1 && !figure_series(f, name, (sinew_solver_kind)kind, variant, counts[index]))
                    return false;
            }
            if (pass == 0) {
                counts[index]++;
            } else {
                f->series[index].x[filled] = x;
                f->series[index].y[filled++] = y;
            }
        }
    }
    return index >= 0;
}

bool sinew_read_outcome(const char *folder, const char *figure_name, outcome *o)
{
    if (!reproduce_read_numbers(folder, o))
        return false;
    FILE *file = open_in(folder, figure_name, ".csv");
    bool good = file && read_series(file, outcome_figure(o, figure_name, "", "", ""));
    if (file)
        fclose(file);
    return good;
}
