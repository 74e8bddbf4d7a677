/* SPDX-License-Identifier: MIT
 *
 * memory.c: available memory, so that work that does not fit is refused before it starts.
 *
 * Available memory is the minimum of the system's available memory, the remainder of the control group's limit, and the
 * remainder of the limit on address space.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

/* Reads the number that follows `key` at the start of a line of a text file; for an empty key the first number at the
 * start of a line. INFINITY if there is no such number (e.g. "max") or no file. */
static double read_number_in_file(const char *path, const char *key)
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
    double there = 1024 * read_number_in_file("/proc/meminfo", "MemAvailable:");
    const double max = read_number_in_file("/sys/fs/cgroup/memory.max", ""),
                 used = read_number_in_file("/sys/fs/cgroup/memory.current", "");
    if (isfinite(max) && isfinite(used))
        there = fmin(there, fmax(0, max - used));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        const double pages = read_number_in_file("/proc/self/statm", "");
        const double taken = isfinite(pages) ? pages * (double)sysconf(_SC_PAGESIZE) : 0;
        there = fmin(there, fmax(0, (double)limit.rlim_cur - taken));
    }
    return there;
}
