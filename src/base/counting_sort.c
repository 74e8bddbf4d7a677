/* SPDX-License-Identifier: MIT
 *
 * counting_sort.c: a counting sort of elements, and shifts of particle indices. See counting_sort.h.
 */
#include "base/counting_sort.h"

#include <string.h>

static int32_t counting_sort_lowest(const int32_t *particles, int32_t n)
{
    int32_t min = particles[0];
    for (int32_t a = 1; a < n; a++)
        min = particles[a] < min ? particles[a] : min;
    return min;
}

void sinew_order_by_lowest(const int32_t *particles, int32_t count, int32_t n, int32_t limit, int32_t *work,
                           int32_t *order)
{
    memset(work, 0, ((size_t)limit + 1) * sizeof *work);
    for (int32_t e = 0; e < count; e++)
        work[counting_sort_lowest(particles + (size_t)e * (size_t)n, n) + 1]++;
    for (int32_t i = 0; i < limit; i++)
        work[i + 1] += work[i];
    for (int32_t e = 0; e < count; e++)
        order[work[counting_sort_lowest(particles + (size_t)e * (size_t)n, n)]++] = e;
}

void sinew_shift_indices(int32_t *particles, size_t count, int32_t first)
{
    for (size_t i = 0; i < count; i++)
        particles[i] += first;
}

int32_t sinew_shift_indices_to_zero(int32_t *particles, size_t count, int32_t *span)
{
    int32_t low = count > 0 ? particles[0] : 0, high = low;
    for (size_t i = 1; i < count; i++) {
        low = particles[i] < low ? particles[i] : low;
        high = particles[i] > high ? particles[i] : high;
    }
    sinew_shift_indices(particles, count, -low);
    *span = high - low + 1;
    return low;
}
