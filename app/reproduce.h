/* SPDX-License-Identifier: MIT
 *
 * reproduce.h: between `sinew reproduce` (reproduce.c) and what it writes and reads (reproduce_files.c).
 */
#ifndef SINEW_REPRODUCE_H
#define SINEW_REPRODUCE_H

#include "experiments.h"

/* The table for a person, on standard output. */
void sinew_print_outcome(const experiment *e, const outcome *o, double seconds);
/* summary.json, report.html, and of every figure an .svg and (curves) a .csv, in `folder`. False when one cannot be
 * written (said). */
bool sinew_write_outcome(const char *folder, const experiment *e, const setting *s, const outcome *o, double seconds);
/* Numbers and one figure's curves of an outcome that was written to `folder`. */
bool sinew_read_outcome(const char *folder, const char *figure_name, outcome *o);

/* index.html of the folder above: all experiments that lie there (reproduce_index.c). False when it cannot be written
 * (said). */
bool sinew_write_index(const char *out);
/* Whether the folder has no index.html yet, or one of ours; false: said. */
bool sinew_index_is_ours(const char *out);

#endif
