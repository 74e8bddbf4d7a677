/* SPDX-License-Identifier: MIT
 *
 * reproduce.h: interface between `sinew reproduce` (reproduce.c) and its files (reproduce_files.c, reproduce_index.c).
 */
#ifndef SINEW_REPRODUCE_H
#define SINEW_REPRODUCE_H

#include "experiments.h"

/* Runs `sinew reproduce`; argv[0] is ignored. Returns the exit status. */
int sinew_command_reproduce(int argc, char **argv);

/* Prints the result table of an experiment on standard output. */
void sinew_print_outcome(const experiment *e, const outcome *o, double seconds);
/* Writes the results of an experiment to `folder`: summary.json, report.html, and for each figure an .svg and
 * (curves) a .csv. Returns false, with a message, on errors. */
bool sinew_write_outcome(const char *folder, const experiment *e, const setting *s, const outcome *o, double seconds);
/* Reads results of an experiment: adds numbers and the curves of one figure, as an earlier process wrote them to
 * `folder`, to the outcome. Returns false if a file is missing or wrong. */
bool sinew_read_outcome(const char *folder, const char *figure_name, outcome *o);

/* Writes index.html in the folder `out`, a page over all experiments below it (reproduce_index.c). Returns false, with
 * a message, on errors. */
bool sinew_write_index(const char *out);
/* True if the folder has no index.html, or one that `sinew reproduce` wrote; else false, with a message. */
bool sinew_index_is_ours(const char *out);

#endif
