/* SPDX-License-Identifier: MIT
 *
 * file_limit.h: a limit on the size of files, which stands for a disk that fills.
 */
#ifndef SINEW_FILE_LIMIT_H
#define SINEW_FILE_LIMIT_H

#include <signal.h>
#include <sys/resource.h>

/* Limits the size of files, as a disk that fills does. Returns the previous limit. */
static inline struct rlimit limit_files(rlim_t largest)
{
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = largest;
    setrlimit(RLIMIT_FSIZE, &small);
    return before;
}

#endif
