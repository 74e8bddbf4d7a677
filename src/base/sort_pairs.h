/* SPDX-License-Identifier: MIT
 *
 * sort_pairs.h: sorts pairs of 64-bit keys. It does not use qsort, because the C library's qsort may call malloc and
 * bypass the allocator.
 */
#ifndef SINEW_SRC_BASE_SORT_PAIRS_H
#define SINEW_SRC_BASE_SORT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

/* A 128-bit sort key in two halves: major is compared first, then minor. Callers that store an index in minor get
 * distinct keys, and so a stable order. */
typedef struct sinew_pair {
    uint64_t major;
    uint64_t minor;
} sinew_pair;

/* Sorts pairs [count] in ascending order in O(count log count). scratch [count] is overwritten. */
void sinew_sort_pairs(sinew_pair *pairs, size_t count, sinew_pair *scratch);

/* Packs two indices >= 0 into one 64-bit key that sorts by `high`, then by `low`. */
static inline uint64_t sinew_pack(int32_t high, int32_t low)
{
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

#endif
