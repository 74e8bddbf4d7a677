/* SPDX-License-Identifier: MIT
 *
 * program.h: declarations that `sinew`, `sinew-reproduce` and their single-precision variants share.
 */
#ifndef SINEW_PROGRAM_H
#define SINEW_PROGRAM_H

#include "sinew/types.h"

/* Suffix of the names of programs built in this precision. */
#ifdef SINEW_SINGLE
#define SINEW_PROGRAM_SUFFIX       "-single"
#define SINEW_PROGRAM_OTHER_SUFFIX ""
#else
#define SINEW_PROGRAM_SUFFIX       ""
#define SINEW_PROGRAM_OTHER_SUFFIX "-single"
#endif

/* Removes --precision from the command line, at any position before "--". *precision is the value if another program
 * implements it, else NULL. Returns false, with a message, for a wrong value. */
bool sinew_take_precision(int *argc, char **argv, const char **precision);
/* Finds the path of another program of the product: beside this program, or in ../libexec/sinew or ../bin relative to
 * it. Returns false if there is none. */
bool sinew_find_program(const char *name, char *path, size_t size);
/* Replaces this process by the program `name` with the arguments argv, so that signals and the exit status are those
 * of that program. Returns only on failure: prints a message that begins with `command`, and returns
 * SINEW_EXIT_USAGE. */
int sinew_become(const char *command, const char *name, char **argv);
/* Returns the exit status at the end of a program. Output lost to a full disk or a closed pipe turns success into
 * failure. */
int sinew_end_output(int status);

#endif
