/* SPDX-License-Identifier: MIT
 *
 * counting_sort.h: elements in the order of their lowest particle, which is an order in space where particles have one.
 */
#ifndef SINEW_SRC_BASE_COUNTING_SORT_H
#define SINEW_SRC_BASE_COUNTING_SORT_H

#include <stddef.h>
#include <stdint.h>

/* particles [count][n], each in 0 .. limit-1. order [count] gets the elements; those with the same lowest particle stay
 * in their order. work [limit + 1]. */
void sinew_order_by_lowest(const int32_t *particles, int32_t count, int32_t n, int32_t limit, int32_t *work,
                           int32_t *order);

/* Work on the particles of one body should cost what the body costs, not the world: subtracts the lowest number from
 * all of them and returns it; *span becomes one more than the highest that is left. */
int32_t sinew_count_from_zero(int32_t *particles, size_t count, int32_t *span);
/* Adds `first` to all: undoes the former. */
void sinew_count_from(int32_t *particles, size_t count, int32_t first);

#endif
