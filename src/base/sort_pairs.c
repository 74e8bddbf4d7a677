/* SPDX-License-Identifier: MIT
 *
 * sort_pairs.c: bottom-up merge sort of pairs: runs of 16 by insertion sort, then merges that double the run length.
 */
#include "base/sort_pairs.h"

#include <stdbool.h>
#include <string.h>

#define RUN 16

static inline bool pair_comes_before(sinew_pair a, sinew_pair b)
{
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

static void insertion_sort(sinew_pair *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        sinew_pair moving = pairs[i];
        size_t j = i;
        for (; j > 0 && pair_comes_before(moving, pairs[j - 1]); j--)
            pairs[j] = pairs[j - 1];
        pairs[j] = moving;
    }
}

/* Merges two adjacent sorted runs, from[begin, middle) and from[middle, end), into to[begin, end). */
static void merge(const sinew_pair *from, sinew_pair *to, size_t begin, size_t middle, size_t end)
{
    size_t left = begin, right = middle;
    for (size_t out = begin; out < end; out++) {
        bool take_right = left == middle || (right < end && pair_comes_before(from[right], from[left]));
        to[out] = take_right ? from[right++] : from[left++];
    }
}

void sinew_sort_pairs(sinew_pair *pairs, size_t count, sinew_pair *scratch)
{
    for (size_t begin = 0; begin < count; begin += RUN)
        insertion_sort(pairs + begin, count - begin < RUN ? count - begin : RUN);
    sinew_pair *from = pairs, *to = scratch;
    for (size_t run = RUN; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t middle = count - begin < run ? count : begin + run;
            size_t end = count - begin < 2 * run ? count : begin + 2 * run;
            merge(from, to, begin, middle, end);
        }
        sinew_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs)
        memcpy(pairs, from, count * sizeof *pairs);
}
