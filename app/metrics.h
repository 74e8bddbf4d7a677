/* SPDX-License-Identifier: MIT
 *
 * metrics.h: metrics.csv, with equal columns in every subcommand and one row per iteration, or one per step in `sinew
 * run` without --record; contact.csv, with one row per step; names of status bits.
 */
#ifndef SINEW_METRICS_H
#define SINEW_METRICS_H

#include <stdio.h>

#include "sinew/contact.h"

void sinew_metrics_head(FILE *stream);
/* Writes one row of metrics.csv. `relative_error` is that of Ledwon's thesis (5.5); NaN (no minimum is known) leaves
 * its column empty. `result`: of the step that ends with this row; NULL leaves gap, position error and status empty. */
void sinew_metrics_record(FILE *stream, const char *solver, int64_t step, const sinew_iteration *record,
                          double relative_error, const sinew_step_result *result);

/* Functions that write contact.csv: one row of contact errors per step. */
void sinew_contact_head(FILE *stream);
void sinew_contact_record(FILE *stream, int64_t step, const sinew_contact_report *report);

double sinew_length(const double v[3]);
double sinew_distance(const double a[3], const double b[3]);

/* Writes the names of the set status bits, separated by '|'; "ok" if none is set. */
void sinew_bits_text(uint32_t bits, char *text, size_t size);
/* Returns advice for the user after the world's last step became non-finite. `result` is the result of that step, or
 * NULL if its iterations were recorded. */
const char *sinew_not_finite_advice(const sinew_world *world, const sinew_step_result *result);

#endif
