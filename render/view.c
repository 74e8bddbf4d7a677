/* SPDX-License-Identifier: MIT
 *
 * view.c: runs the passes of a panel in order on all threads.
 *
 * Each pass reads the results of earlier passes and each task writes its own pixels only, so no result depends on the
 * scheduling of threads.
 */
#include "view.h"

#include <stdlib.h>
#include <time.h>

#include "fail.h"

typedef void row_call(const view *v, int64_t first, int64_t last);

/* Number of pixel rows in one task of a pass. */
#define ROW_BLOCK 2
/* Intended duration in s of a part of a pass over the pixels. The progress callback, which may stop the picture,
 * runs after each part; rows do not depend on each other, so the picture does not depend on the parts. */
#define PART_SECONDS 0.03

typedef struct row_work {
    const view *v;
    row_call *call;
    int64_t first; /* image row of the first row of this part */
} row_work;

static void run_block(void *context, int32_t member, int64_t first, int64_t last)
{
    const row_work *work = context;
    (void)member;
    work->call(work->v, work->first + first, work->first + last);
}

static double view_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs one pass over `rows` rows of pixels, which is `fraction` of the panel's work. Returns false if the progress
 * callback stops the picture. */
static bool view_run_pass(view *v, row_call *call, int64_t rows, double fraction)
{
    int64_t count = ROW_BLOCK * (int64_t)(v->thread_count > 0 ? v->thread_count : 1);
    for (int64_t first = 0, last; first < rows; first = last) {
        row_work work = {v, call, first};
        const double began = view_seconds();
        last = rows - first < count ? rows : first + count;
        sinew_run_range(v->thread_count, last - first, ROW_BLOCK, run_block, &work);
        count = view_seconds() - began < PART_SECONDS / 2 ? 2 * count : count;
        v->done_before += fraction * (double)(last - first) / (double)rows * v->done_fraction;
        if (v->progress && !v->progress(v->context, v->done_before < 1 ? v->done_before : 1))
            return false;
    }
    return true;
}

static bool run_filter(view *v)
{
    for (v->step = 1; v->step <= 8; v->step *= 2) {
        if (!view_run_pass(v, view_filter_rows, v->height, 0.03))
            return false;
        view_light *filtered = v->spare;
        v->spare = v->light;
        v->light = filtered;
    }
    return true;
}

static bool run_passes(view *v)
{
    if (!view_run_pass(v, view_first_rows, v->height + 1, 0.4) || !view_run_pass(v, view_more_rows, v->height, 0.36))
        return false;
    view_sums *more = v->more;
    v->more = v->sums;
    v->sums = more;
    return view_run_pass(v, view_mean_rows, v->height, 0.02) && run_filter(v) &&
           view_run_pass(v, view_resolve_rows, v->height, 0.1);
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
