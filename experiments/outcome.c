/* SPDX-License-Identifier: MIT
 *
 * outcome.c: results of an experiment: claims, numbers, figures as data.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments.h"

claim *outcome_claim(outcome *o, const char *what, const char *published)
{
    claim *c = &o->claims[o->claim_count < CLAIM_MAX ? o->claim_count++ : CLAIM_MAX - 1];
    *c = (claim){.holds = HOLDS_NO};
    snprintf(c->what, sizeof c->what, "%s", what);
    snprintf(c->published, sizeof c->published, "%s", published);
    return c;
}

void claim_measured(claim *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->measured, sizeof c->measured, format, arguments);
    va_end(arguments);
}

void claim_holds(claim *c, claim_result holds, const char *cause, ...)
{
    va_list arguments;
    va_start(arguments, cause);
    vsnprintf(c->cause, sizeof c->cause, cause, arguments);
    va_end(arguments);
    c->holds = holds;
}

void claim_timed(claim *c, const char *remark)
{
    claim_holds(c, NOT_JUDGED, "a time, on this machine%s%s", *remark ? ": " : "", remark);
}

const char *count_text(int32_t count, char text[COUNT_SIZE])
{
    if (count < 0)
        return "not yet";
    snprintf(text, COUNT_SIZE, "%d", count);
    return text;
}

void outcome_number(outcome *o, double value, const char *name, ...)
{
    if (o->number_count == NUMBER_MAX)
        return;
    number *n = &o->numbers[o->number_count++];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(n->name, sizeof n->name, name, arguments);
    va_end(arguments);
    n->value = value;
}

bool outcome_find(const outcome *o, const char *name, double *value)
{
    for (int32_t i = 0; i < o->number_count; i++)
        if (strcmp(o->numbers[i].name, name) == 0) {
            *value = o->numbers[i].value;
            return true;
        }
    return false;
}

figure *outcome_figure(outcome *o, const char *name, const char *title, const char *x_label, const char *y_label)
{
    figure *f = &o->figures[o->figure_count < FIGURE_MAX ? o->figure_count++ : FIGURE_MAX - 1];
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->title, sizeof f->title, "%s", title);
    snprintf(f->x_label, sizeof f->x_label, "%s", x_label);
    snprintf(f->y_label, sizeof f->y_label, "%s", y_label);
    return f;
}

static series *new_series(figure *f, const char *name, sinew_solver_kind kind)
{
    if (f->series_count == SERIES_MAX)
        return NULL;
    series *s = &f->series[f->series_count++];
    *s = (series){.kind = kind};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

bool figure_series(figure *f, const char *name, sinew_solver_kind kind, int32_t variant, int32_t count)
{
    series *s = count > 0 ? new_series(f, name, kind) : NULL;
    if (!s)
        return false;
    s->variant = variant;
    s->x = malloc((size_t)count * sizeof *s->x);
    s->y = malloc((size_t)count * sizeof *s->y);
    s->count = s->x && s->y ? count : 0;
    return s->count > 0;
}

void figure_shape(figure *f, const char *name, sinew_solver_kind kind, const sinew_real *q, int32_t count)
{
    f->shapes = true;
    series *s = q && count > 0 ? new_series(f, name, kind) : NULL;
    if (!s)
        return;
    s->body = malloc(3 * (size_t)count * sizeof *s->body);
    s->count = s->body ? count : 0;
    if (s->body)
        memcpy(s->body, q, 3 * (size_t)count * sizeof *q);
}

void figure_surface(figure *f, const int32_t *triangles, int32_t count)
{
    series *s = f->series_count > 0 ? &f->series[f->series_count - 1] : NULL;
    if (!s || !s->body || s->triangles)
        return;
    s->triangles = malloc(3 * ((size_t)count + 1) * sizeof *s->triangles);
    s->triangle_count = s->triangles ? count : 0;
    if (s->triangles && count > 0)
        memcpy(s->triangles, triangles, 3 * (size_t)count * sizeof *triangles);
}

claim_result outcome_result(const outcome *o)
{
    claim_result worst = NOT_MEASURED;
    for (int32_t i = 0; i < o->claim_count; i++)
        worst = o->claims[i].holds > worst ? o->claims[i].holds : worst;
    return worst;
}

const char *result_name(claim_result v)
{
    static const char *const names[] = {"not measured", "not judged", "yes", "partly", "no"};
    return names[v];
}

void outcome_release(outcome *o)
{
    for (int32_t i = 0; i < o->figure_count; i++)
        for (int32_t j = 0; j < o->figures[i].series_count; j++) {
            free(o->figures[i].series[j].x);
            free(o->figures[i].series[j].y);
            free(o->figures[i].series[j].body);
            free(o->figures[i].series[j].triangles);
        }
    memset(o, 0, sizeof *o);
}
