/* SPDX-License-Identifier: MIT
 *
 * sort.c: introspective sort: quicksort by the median of three, insertion sort for short ranges, heapsort where the
 * partitions stay unequal.
 */
#include "base/sort.h"

#include <string.h>

#include "base/base.h"

#define SHORT_RANGE 24

typedef int compare_function(const void *a, const void *b);

static void swap_items(char *a, char *b, size_t size)
{
    char item[SINEW_SORT_ITEM_MAX];
    if (a == b)
        return;
    memcpy(item, a, size);
    memcpy(a, b, size);
    memcpy(b, item, size);
}

static void sort_by_insertion(char *items, size_t count, size_t size, compare_function *compare)
{
    char moving[SINEW_SORT_ITEM_MAX];
    for (size_t i = 1; i < count; i++) {
        size_t j = i;
        while (j > 0 && compare(items + i * size, items + (j - 1) * size) < 0)
            j--;
        if (j == i)
            continue;
        memcpy(moving, items + i * size, size);
        memmove(items + (j + 1) * size, items + j * size, (i - j) * size);
        memcpy(items + j * size, moving, size);
    }
}

/* Restores the max-heap order of items [count] in the subtree below index `root`. */
static void sift_down(char *items, size_t root, size_t count, size_t size, compare_function *compare)
{
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0)
            child++;
        if (compare(items + root * size, items + child * size) >= 0)
            return;
        swap_items(items + root * size, items + child * size, size);
        root = child;
    }
}

static void sort_by_heap(char *items, size_t count, size_t size, compare_function *compare)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(items, i, count, size, compare);
    for (size_t last = count; last-- > 1;) {
        swap_items(items, items + last * size, size);
        sift_down(items, 0, last, size, compare);
    }
}

/* Moves the median of the first, middle and last item to the front. */
static void choose_pivot(char *items, size_t count, size_t size, compare_function *compare)
{
    char *a = items, *b = items + count / 2 * size, *c = items + (count - 1) * size;
    char *low = compare(a, b) < 0 ? a : b, *high = low == a ? b : a;
    char *median = compare(c, low) < 0 ? low : compare(c, high) < 0 ? c : high;
    swap_items(items, median, size);
}

/* Quicksort partition around the first item (the pivot, a median of three). Returns the pivot's final index. */
static size_t partition(char *items, size_t count, size_t size, compare_function *compare)
{
    size_t low = 1, high = count - 1;
    while (true) {
        while (low <= high && compare(items + low * size, items) < 0)
            low++;
        while (low <= high && compare(items + high * size, items) > 0)
            high--;
        if (low >= high)
            break;
        swap_items(items + low++ * size, items + high-- * size, size);
    }
    /* If low == high, the item at this index compares equal to the pivot. */
    swap_items(items, items + high * size, size);
    return high;
}

void sinew_sort(void *items, size_t count, size_t size, compare_function *compare)
{
    char *rest = items;
    int depth = 2;
    if (!SINEW_ASSERT(size <= SINEW_SORT_ITEM_MAX))
        return;
    for (size_t k = count; k > 1; k /= 2)
        depth += 2;
    /* Recursion on the shorter part bounds the stack depth; the loop continues with the longer part. */
    while (count > SHORT_RANGE && depth-- > 0) {
        choose_pivot(rest, count, size, compare);
        const size_t middle = partition(rest, count, size, compare), after = count - middle - 1;
        char *behind = rest + (middle + 1) * size;
        if (middle < after) {
            sinew_sort(rest, middle, size, compare);
            rest = behind;
            count = after;
        } else {
            sinew_sort(behind, after, size, compare);
            count = middle;
        }
    }
    if (count <= SHORT_RANGE)
        sort_by_insertion(rest, count, size, compare);
    else
        sort_by_heap(rest, count, size, compare);
}
