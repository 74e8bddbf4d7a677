/* SPDX-License-Identifier: MIT
 *
 * view.c: runs the passes of a panel in order on all threads.
 *
 * Each pass reads the results of earlier passes and each task writes its own pixels only, so no result depends on the
 * scheduling of threads.
 */
#include "view.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "fail.h"

/* A pass over pixels first .. last-1 of row y. */
typedef void span_call(const view *v, int32_t y, int32_t first, int32_t last);

/* s: duration of a part of a pass. The progress callback, which may stop the picture, runs after each part. */
#define PART_SECONDS 0.03
/* A span, the unit of work, is short beside a part: at most SPAN_PIXELS pixels and, where the number of samples is set,
 * about SPAN_SAMPLES samples (0.4 us each). */
#define SPAN_PIXELS  64
#define SPAN_SAMPLES 4096
/* Upper bound of the number of threads if the machine decides. */
#define THREADS_MAX 1024

/* One pass. Threads take spans from a counter until the part has ended. Which spans a part has depends on the clock;
 * pixels of a pass do not depend on each other, so the picture does not. */
typedef struct pass_work {
    const view *v;
    span_call *call;
    int64_t columns, span, per_row, count; /* pixels of a row and of a span; spans of a row and of the pass */
    atomic_int_fast64_t next;              /* the first span that no thread has taken */
    double end;                            /* s: end of the part */
} pass_work;

static double view_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void take_spans(void *context, int32_t member, int64_t first, int64_t last)
{
    pass_work *w = context;
    (void)member;
    (void)first;
    (void)last;
    do {
        const int64_t i = atomic_fetch_add(&w->next, 1);
        if (i >= w->count)
            return;
        const int64_t from = i % w->per_row * w->span, to = from + w->span;
        w->call(w->v, (int32_t)(i / w->per_row), (int32_t)from, (int32_t)(to < w->columns ? to : w->columns));
    } while (view_seconds() < w->end);
}

static int64_t done_spans(pass_work *w)
{
    const int64_t next = atomic_load(&w->next);
    return next < w->count ? next : w->count;
}

/* Runs one pass over rows of `columns` pixels, which is `fraction` of the panel's work. Returns false if the progress
 * callback stops it. */
static bool view_run_pass(view *v, span_call *call, int64_t columns, int64_t rows, double fraction)
{
    const int64_t by_samples = SPAN_SAMPLES / (v->samples > 0 ? v->samples : 1) + 1;
    const int64_t span = by_samples < SPAN_PIXELS ? by_samples : SPAN_PIXELS;
    const int64_t per_row = (columns + span - 1) / span;
    pass_work work = {
        .v = v, .call = call, .columns = columns, .span = span, .per_row = per_row, .count = rows * per_row};
    const double before = v->done_before;
    while (done_spans(&work) < work.count) {
        work.end = view_seconds() + PART_SECONDS;
        sinew_run_range(v->thread_count, v->thread_count > 0 ? v->thread_count : THREADS_MAX, 1, take_spans, &work);
        v->done_before = before + fraction * v->done_fraction * (double)done_spans(&work) / (double)work.count;
        if (v->progress && !v->progress(v->context, v->done_before < 1 ? v->done_before : 1))
            return false;
    }
    return true;
}

static bool run_filter(view *v)
{
    for (v->step = 1; v->step <= 8; v->step *= 2) {
        if (!view_run_pass(v, view_filter_span, v->width, v->height, 0.03))
            return false;
        view_light *filtered = v->spare;
        v->spare = v->light;
        v->light = filtered;
    }
    return true;
}

static bool run_passes(view *v)
{
    if (!view_run_pass(v, view_first_span, v->width + 1, v->height + 1, 0.4) ||
        !view_run_pass(v, view_more_span, v->width, v->height, 0.36))
        return false;
    view_sums *more = v->more;
    v->more = v->sums;
    v->sums = more;
    return view_run_pass(v, view_mean_span, v->width, v->height, 0.02) && run_filter(v) &&
           view_run_pass(v, view_resolve_span, v->width, v->height, 0.1);
}

/* Sets the camera of a panel in single precision, relative to the stage's origin. */
static void set_lens(view *v)
{
    const lens *l = v->lens;
    const double *origin = v->stage->origin;
    const float pixel = (float)(1 / l->scale);
    double corner[3];
    lens_direction(l, 0, 0, corner);
    v->corner = vec_from_double(corner);
    v->eye = vec((float)(l->eye[0] - origin[0]), (float)(l->eye[1] - origin[1]), (float)(l->eye[2] - origin[2]));
    v->forward = vec_from_double(l->forward);
    v->across = vec_scale(vec_from_double(l->right), pixel);
    v->down = vec_scale(vec_from_double(l->up), -pixel);
}

sinew_status view_draw(view *v, sinew_error *error)
{
    set_lens(v);
    const size_t pixels = (size_t)v->width * (size_t)v->height;
    v->centres = malloc(pixels * sizeof *v->centres);
    v->corners = malloc((size_t)(v->width + 1) * (size_t)(v->height + 1) * sizeof *v->corners);
    v->sums = malloc(pixels * sizeof *v->sums);
    v->more = malloc(pixels * sizeof *v->more);
    v->light = malloc(pixels * sizeof *v->light);
    v->spare = malloc(pixels * sizeof *v->spare);
    sinew_status status = SINEW_OK;
    if (!v->centres || !v->corners || !v->sums || !v->more || !v->light || !v->spare)
        status = picture_fail(error, SINEW_ERROR_MEMORY, "out of memory for a picture of %d x %d pixels", v->width,
                              v->height);
    else if (!run_passes(v))
        status = picture_fail(error, SINEW_ERROR_USAGE, "stopped");
    free(v->centres);
    free(v->corners);
    free(v->sums);
    free(v->more);
    free(v->light);
    free(v->spare);
    return status;
}
