/* SPDX-License-Identifier: MIT
 *
 * trial.c: takes the frames of a scene and records the cost and the remaining residual of each. See trial.h.
 */
#include "trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "side_by_side.h"

sinew_solver_def trial_solver(sinew_solver_kind kind, int32_t iterations, ...)
{
    sinew_solver_def def = experiment_solver(kind);
    def.iterations = iterations;
    def.tolerance = 0;
    va_list arguments;
    va_start(arguments, iterations);
    for (const char *name; (name = va_arg(arguments, const char *));) {
        const double value = va_arg(arguments, double);
        const int32_t index = sinew_solver_parameter(kind, name);
        if (index >= 0)
            def.parameters[index] = (sinew_real)value;
    }
    va_end(arguments);
    return def;
}

/* ---- Frames of one trial ---------------------------------------------------------------------- */

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool find_surface(trial *t, const sinew_world *world)
{
    sinew_surface surface = {0};
    for (int32_t i = 0; i < sinew_world_body_count(world); i++)
        t->tet_count += sinew_mesh_tet_count(sinew_body_mesh(world, sinew_world_body_at(world, i)));
    if (sinew_world_surface(world, &surface, NULL) != SINEW_OK)
        return false;
    t->triangle_count = surface.triangle_count;
    t->triangles = surface.triangles = malloc(3 * ((size_t)surface.triangle_count + 1) * sizeof *t->triangles);
    return t->triangles && sinew_world_surface(world, &surface, NULL) == SINEW_OK;
}

static bool trial_reserve(trial *t, const sinew_world *world)
{
    const size_t frames = (size_t)t->frames + 1;
    t->particle_count = sinew_world_particle_count(world);
    t->q = malloc(3 * (size_t)t->particle_count * sizeof *t->q);
    t->rest = malloc(3 * (size_t)t->particle_count * sizeof *t->rest);
    t->residual = calloc(frames, sizeof *t->residual);
    t->relative = calloc(frames, sizeof *t->relative);
    t->seconds = calloc(frames, sizeof *t->seconds);
    t->inverted = calloc(frames, sizeof *t->inverted);
    return t->q && t->rest && t->residual && t->relative && t->seconds && t->inverted && find_surface(t, world);
}

static void take_frame(trial *t, sinew_world *world, int32_t frame)
{
    sinew_step_result result;
    sinew_measures measures;
    const double began = processor_time();
    const uint32_t bits = sinew_world_step(world, &result);
    t->seconds[frame] = processor_time() - began;
    t->residual[frame] = result.residual;
    t->relative[frame] = result.relative_residual;
    t->lost += (bits & SINEW_STEP_NOT_FINITE) != 0;
    if (sinew_world_measure(world, &measures) == SINEW_OK)
        t->inverted[frame] = measures.inverted_count;
}

static bool warm_up(const trial *t, sinew_world *world, sinew_error *error)
{
    sinew_solver_def newton = experiment_solver(SINEW_SOLVER_NEWTON);
    if (t->warm_up == 0)
        return true;
    bool good = sinew_world_set_solver(world, &newton, error) == SINEW_OK;
    for (int32_t i = 0; good && i < t->warm_up; i++)
        good = (sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)) == 0;
    return good && sinew_world_set_solver(world, &t->solver, error) == SINEW_OK;
}

static void keep_rows(trial *t, const sinew_world *world)
{
    int32_t count = 0;
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    t->records = count > 0 ? malloc((size_t)count * sizeof *records) : NULL;
    t->record_count = t->records ? count : 0;
    if (t->records)
        memcpy(t->records, records, (size_t)count * sizeof *records);
}

static bool trial_take(trial *t)
{
    sinew_error error = {SINEW_OK, "out of memory"};
    sinew_world *world = t->build(t, &error);
    const bool good =
        world && trial_reserve(t, world) && warm_up(t, world, &error) && sinew_world_prepare(world, &error) == SINEW_OK;
    if (good) {
        sinew_world_get_positions(world, 0, t->particle_count, t->rest);
        for (int32_t i = 0; i < t->frames; i++)
            take_frame(t, world, i);
        sinew_world_get_positions(world, 0, t->particle_count, t->q);
        keep_rows(t, world);
    } else {
        snprintf(t->error, sizeof t->error, "%.255s", error.text);
    }
    sinew_world_destroy(world);
    return good;
}

/* ---- Frames of all trials --------------------------------------------------------------------- */

static bool take_trial(void *context, int32_t i)
{
    return trial_take((trial *)context + i);
}

static const char *trial_failure(void *context, int32_t i)
{
    return ((const trial *)context)[i].error;
}

bool trials_take(const setting *s, trial *trials, int32_t count, const char *label, outcome *o)
{
    bool aside = true;
    for (int32_t i = 0; i < count; i++)
        aside = aside && trials[i].side_by_side;
    return side_by_side_run(&(side_by_side){take_trial, trial_failure, trials}, count, aside, s, label, o);
}

void trials_release(trial *trials, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        trial *t = &trials[i];
        void *arrays[] = {t->bonds,    t->triangles, t->rest,     t->q,      t->residual,
                          t->relative, t->seconds,   t->inverted, t->records};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            free(arrays[k]);
        t->bonds = t->triangles = t->inverted = NULL;
        t->rest = t->q = NULL;
        t->residual = t->relative = t->seconds = NULL;
        t->records = NULL;
    }
}

/* ---- Measures of a trial ---------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double trial_seconds(const trial *t)
{
    double *sorted = malloc(((size_t)t->frames + 1) * sizeof *sorted), median = NAN;
    if (sorted && t->frames > 0) {
        memcpy(sorted, t->seconds, (size_t)t->frames * sizeof *sorted);
        qsort(sorted, (size_t)t->frames, sizeof *sorted, by_value);
        median = sorted[t->frames / 2];
    }
    free(sorted);
    return median;
}

double trial_residual(const trial *t)
{
    double sum = 0;
    for (int32_t i = 0; i < t->frames; i++)
        sum += log(t->residual[i]);
    return t->lost == 0 && t->frames > 0 ? exp(sum / t->frames) : HUGE_VAL;
}

int32_t trial_inverted(const trial *t)
{
    int32_t max = 0;
    for (int32_t i = 0; i < t->frames; i++)
        max = t->inverted[i] > max ? t->inverted[i] : max;
    return max;
}

double trial_distance(const trial *t, const trial *truth)
{
    double farthest = 0;
    for (int32_t i = 0; i < t->particle_count; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)t->q[3 * i + c] - (double)truth->q[3 * i + c];
            square += d * d;
        }
        farthest = fmax(farthest, square);
    }
    return sqrt(farthest);
}

double trial_gap(const trial *t)
{
    double widest = 0;
    for (int32_t i = 0; i < t->bond_count; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)t->q[3 * t->bonds[2 * i] + c] - (double)t->q[3 * t->bonds[2 * i + 1] + c];
            square += d * d;
        }
        widest = fmax(widest, square);
    }
    return sqrt(widest);
}

/* Measures the processor time in s of the fastest of three frames of a trial with `iterations` iterations. */
static bool trial_fastest(const setting *s, const trial *t, int32_t iterations, double *seconds, outcome *o)
{
    trial short_one = {.build = t->build,
                       .n = t->n,
                       .scene = t->scene,
                       .material = t->material,
                       .six = t->six,
                       .loose = t->loose,
                       .bond = t->bond,
                       .size = t->size,
                       .speed = t->speed,
                       .solver = t->solver,
                       .frames = 3};
    short_one.solver.iterations = iterations;
    short_one.solver.record = SINEW_RECORD_NONE;
    setting quiet = *s;
    quiet.progress = NULL;
    const bool good = trials_take(&quiet, &short_one, 1, "", o);
    *seconds = HUGE_VAL;
    for (int32_t i = 0; good && i < short_one.frames; i++)
        *seconds = fmin(*seconds, short_one.seconds[i]);
    trials_release(&short_one, 1);
    return good;
}

bool trial_cost(const setting *s, const trial *t, double *fixed, double *each, outcome *o)
{
    double few, many;
    if (!trial_fastest(s, t, 2, &few, o) || !trial_fastest(s, t, 7, &many, o))
        return false;
    *each = fmax((many - few) / 5, 1e-9);
    *fixed = fmax(few - 2 * *each, 0);
    return true;
}

bool trial_fit(const setting *s, trial *t, const trial *other, outcome *o)
{
    double fixed, each, other_fixed, other_each;
    if (!trial_cost(s, other, &other_fixed, &other_each, o) || !trial_cost(s, t, &fixed, &each, o))
        return false;
    const double fit = floor((other_fixed + other->solver.iterations * other_each - fixed) / each);
    t->solver.iterations = fit > 1 ? (int32_t)fit : 1;
    return true;
}

void trial_curve(figure *f, const trial *t, const char *name, int32_t variant, const double *values)
{
    if (!figure_series(f, name, t->solver.kind, variant, t->frames))
        return;
    series *s = &f->series[f->series_count - 1];
    for (int32_t i = 0; i < t->frames; i++) {
        s->x[i] = i + 1;
        s->y[i] = values[i];
    }
}

void trial_records(figure *f, const trial *t, const char *name, int32_t variant, record_value *value)
{
    if (!figure_series(f, name, t->solver.kind, variant, t->record_count))
        return;
    series *s = &f->series[f->series_count - 1];
    for (int32_t i = 0; i < t->record_count; i++) {
        s->x[i] = t->records[i].iteration;
        s->y[i] = value(&t->records[i]);
    }
}

void trial_shape(figure *f, const trial *t, const char *name, const sinew_real *q)
{
    figure_shape(f, name, t->solver.kind, q, t->particle_count);
    figure_surface(f, t->triangles, t->triangle_count);
}
