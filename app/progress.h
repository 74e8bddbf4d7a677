/* SPDX-License-Identifier: MIT
 *
 * progress.h: a bar on a terminal, nothing in a pipe.
 */
#ifndef SINEW_PROGRESS_H
#define SINEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sinew_progress {
    int64_t total;
    double began, last; /* times on a monotonic clock, in s: start, last update of the bar */
    bool shown;         /* false: quiet, or standard error is not a terminal */
} sinew_progress;

void sinew_progress_start(sinew_progress *progress, int64_t total, bool quiet);
void sinew_progress_show(sinew_progress *progress, int64_t done, const char *label);
double sinew_progress_end(sinew_progress *progress); /* removes the bar; returns the s since the start */

#endif
