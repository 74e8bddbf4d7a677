/* SPDX-License-Identifier: MIT
 *
 * memory.c: how much memory there is, so that work that cannot be done is refused before it is begun.
 *
 * The smallest of what the system counts as available, what is left of the control group's limit, and what is left of
 * the limit of the address space.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

/* The number that follows `key` in a file of lines, or the first number of it; INFINITY where there is none ("max"). */
static double number_in(const char *path, const char *key)
{
    char line[256];
    double value = INFINITY;
    FILE *file = fopen(path, "r");
    while (file && isinf(value) && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &value) != 1)
            value = INFINITY;
    if (file)
        fclose(file);
    return value;
}

double sinew_memory_available(void)
{
    struct rlimit limit;
    double there = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    const double most = number_in("/sys/fs/cgroup/memory.max", ""),
                 used = number_in("/sys/fs/cgroup/memory.current", "");
    if (isfinite(most) && isfinite(used))
        there = fmin(there, fmax(0, most - used));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        const double pages = number_in("/proc/self/statm", "");
        const double taken = isfinite(pages) ? pages * (double)sysconf(_SC_PAGESIZE) : 0;
        there = fmin(there, fmax(0, (double)limit.rlim_cur - taken));
    }
    return there;
}
