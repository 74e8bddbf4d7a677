/* SPDX-License-Identifier: MIT
 *
 * counting_sort.h: sorts elements by their lowest particle index, and shifts particle indices to begin at 0, so that
 * the counts of a sort are few. If particles are numbered along a space-filling curve, elements that are near in the
 * order are near in space.
 */
#ifndef SINEW_SRC_BASE_COUNTING_SORT_H
#define SINEW_SRC_BASE_COUNTING_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Elements are rows of n particle indices, particles [count][n], each index in 0 .. limit-1. order [count] receives the
 * element indices, sorted by the lowest particle of each element; ties keep their order. work [limit + 1]. */
void sinew_order_by_lowest(const int32_t *particles, int32_t count, int32_t n, int32_t limit, int32_t *work,
                           int32_t *order);

/* Subtracts the lowest particle index from all `count` indices and returns it; *span becomes one more than the highest
 * remaining index. Work arrays for one body then have the size of the body, not of the world. */
int32_t sinew_shift_indices_to_zero(int32_t *particles, size_t count, int32_t *span);
/* Adds `first` to all `count` particle indices: undoes sinew_shift_indices_to_zero() if `first` is what it returned. */
void sinew_shift_indices(int32_t *particles, size_t count, int32_t first);

#endif
