/* SPDX-License-Identifier: MIT
 *
 * thread_count.h: the number of threads of this process.
 */
#ifndef SINEW_THREAD_COUNT_H
#define SINEW_THREAD_COUNT_H

#include <dirent.h>
#include <time.h>

static inline int thread_count(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* Waits until there are at most `max` threads: a joined thread may still be listed for a moment. */
static inline int thread_count_settled(int max)
{
    for (int i = 0; i < 1000 && thread_count() > max; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return thread_count();
}

#endif
