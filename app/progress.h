/* SPDX-License-Identifier: MIT
 *
 * progress.h: progress bar of a command on a terminal; no output to a pipe.
 */
#ifndef SINEW_PROGRESS_H
#define SINEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sinew_progress {
    int64_t total;
    double began, last; /* times on a monotonic clock, in s: start of the command, last update of the bar */
    bool shown;         /* false: the bar is not shown, because --quiet is set or standard error is not a terminal */
} sinew_progress;

void sinew_progress_start(sinew_progress *progress, int64_t total, bool quiet);
void sinew_progress_show(sinew_progress *progress, int64_t done, const char *label);
/* Removes the progress bar; returns the time since the start, in s. */
double sinew_progress_end(sinew_progress *progress);

#endif
