/* SPDX-License-Identifier: MIT
 *
 * metrics.h: metrics.csv, one row an iteration, the same in every subcommand; contact.csv, one row a step; and the
 * words for status bits.
 */
#ifndef SINEW_METRICS_H
#define SINEW_METRICS_H

#include <stdio.h>

#include "sinew/contact.h"

void sinew_metrics_head(FILE *stream);
/* `relative_error` as in thesis (5.5); NaN where no minimum is known: the field is left empty. */
void sinew_metrics_row(FILE *stream, const char *solver, int64_t step, const sinew_iteration *row,
                       double relative_error);

/* contact.csv, one row a step: the error row of contact. */
void sinew_contact_head(FILE *stream);
void sinew_contact_row(FILE *stream, int64_t step, const sinew_contact_report *report);

double sinew_length(const double v[3]);

/* The names of the set bits, separated by '|'; "ok" when there are none. */
void sinew_bits_text(uint32_t bits, char *text, size_t size);
/* The way out after a step that became non-finite, the world's last one; `result` is that of it, or NULL where its
 * iterations were recorded. */
const char *sinew_not_finite_advice(const sinew_world *world, const sinew_step_result *result);

#endif
