/* SPDX-License-Identifier: MIT
 *
 * sort.h: sorts items in place, without allocating memory. qsort is not used, because the C library's qsort may call
 * malloc and bypass the allocator.
 */
#ifndef SINEW_SRC_BASE_SORT_H
#define SINEW_SRC_BASE_SORT_H

#include <stddef.h>

enum {
    SINEW_SORT_ITEM_MAX = 256 /* largest item size that sinew_sort() accepts, in bytes */
};

/* The parameters are those of qsort; size <= SINEW_SORT_ITEM_MAX. O(count log count) in the worst case. The order of
 * items that compare as equal is unspecified, but the same in every run: compare decides all ties that matter. */
void sinew_sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b));

#endif
