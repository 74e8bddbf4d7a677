/* SPDX-License-Identifier: MIT
 *
 * counting_sort.h: sorts elements by their lowest particle; particles on a space-filling curve give an order in space.
 */
#ifndef SINEW_SRC_BASE_COUNTING_SORT_H
#define SINEW_SRC_BASE_COUNTING_SORT_H

#include <stddef.h>
#include <stdint.h>

/* particles [count][n], each in 0 .. limit-1. order [count] receives the elements, stable for equal lowest particles.
 * work [limit + 1]. */
void sinew_order_by_lowest(const int32_t *particles, int32_t count, int32_t n, int32_t limit, int32_t *work,
                           int32_t *order);

/* Makes work on one body proportional to the body, not to the world: subtracts the lowest number from all and returns
 * it; *span becomes one more than the highest remaining. */
int32_t sinew_count_from_zero(int32_t *particles, size_t count, int32_t *span);
/* Adds `first` to all numbers: undoes the subtraction. */
void sinew_count_from(int32_t *particles, size_t count, int32_t first);

#endif
