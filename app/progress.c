/* SPDX-License-Identifier: MIT
 *
 * progress.c: progress bar of a command on a terminal; no output to a pipe.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

static double progress_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void sinew_progress_start(sinew_progress *progress, int64_t total, bool quiet)
{
    *progress = (sinew_progress){.total = total, .began = progress_now(), .shown = !quiet && isatty(STDERR_FILENO)};
}

void sinew_progress_show(sinew_progress *progress, int64_t done, const char *label)
{
    double time = progress_now();
    /* The progress bar is updated at most ten times per second. */
    if (!progress->shown || (done < progress->total && time - progress->last < 0.1))
        return;
    progress->last = time;
    char bar[31];
    int filled = progress->total > 0 ? (int)(30 * done / progress->total) : 30;
    memset(bar, ' ', 30);
    memset(bar, '#', (size_t)filled);
    bar[30] = '\0';
    double left = done > 0 ? (time - progress->began) * (double)(progress->total - done) / (double)done : 0;
    fprintf(stderr, "\r[%s] %lld/%lld  %.0f s left  %s\x1b[K", bar, (long long)done, (long long)progress->total, left,
            label);
}

double sinew_progress_end(sinew_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\x1b[K");
    progress->shown = false;
    return progress_now() - progress->began;
}
