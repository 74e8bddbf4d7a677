/* SPDX-License-Identifier: MIT
 *
 * info_run.h: functions of `sinew info run DIR` and `sinew info formats`.
 */
#ifndef SINEW_INFO_RUN_H
#define SINEW_INFO_RUN_H

int sinew_info_run(const char *directory); /* prints the summary of a run; returns the exit status */
/* Prints the formats of caches and their fields (run_formats.c). Returns the exit status. */
int sinew_info_formats(void);

#endif
