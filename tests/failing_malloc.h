/* SPDX-License-Identifier: MIT
 *
 * failing_malloc.h: makes the n-th allocation of a program fail, and counts the live blocks.
 *
 * Covers allocations of the library's own code (the linker's --wrap; tests/CMakeLists.txt links the tests that include
 * this header into a program of their own), of jansson and of SuiteSparse (by their hooks). Does not cover allocations
 * inside the C library (FILE buffers, qsort).
 *
 * Call failing_malloc_install() first.
 */
#ifndef SINEW_FAILING_MALLOC_H
#define SINEW_FAILING_MALLOC_H

#include <stdatomic.h>
#include <stdbool.h>

struct failing_malloc {
    atomic_llong asked; /* allocations since the last arm or disarm */
    atomic_llong alive; /* blocks allocated and not freed, in total */
    atomic_llong fails; /* refused allocations since the last arm or disarm */
    long long first;    /* number of the first refused allocation, from 1; 0: none */
    bool only_first;    /* false: all later allocations are refused too */
};
extern struct failing_malloc failing_malloc;

/* Routes jansson and SuiteSparse through the same counter. */
void failing_malloc_install(void);

/* Refuses the first-th allocation from now on (0: none), and all later ones unless only_first. */
void failing_malloc_arm(long long first, bool only_first);

#endif
