/* SPDX-License-Identifier: MIT
 *
 * supernodes.h: the panels of a sparse Cholesky factor: runs of columns of L with the same rows below (Liu, Ng and Peyton
 * 1993), where small ones are joined with their parents though that stores some zeros (Ashcraft and Grimes 1989; the
 * rule is CHOLMOD's).
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SUPERNODES_H
#define SINEW_SRC_LINEAR_FACTOR_SUPERNODES_H

#include <cholmod.h>

#include "base/base.h"

/* When two panels become one: always up to columns[0] columns; up to columns[1] where fewer than the share zeros[0] of
 * its numbers are zeros, up to columns[2] below zeros[1], and below zeros[2] whatever the size. */
typedef struct sinew_panel_rule {
    int32_t columns[3];
    double zeros[3];
} sinew_panel_rule;

typedef struct sinew_panels {
    int32_t n, count;
    int32_t *column;   /* [count + 1] first column of each panel */
    size_t *row_first; /* [count + 1] into rows */
    int32_t *rows;     /* rows of each panel, ascending, its own columns first */
} sinew_panels;

/* `upper` is the upper triangle of the matrix in a postordered order of elimination, columns [n] the entries of each
 * column of L. False without memory; destroy in any case. */
bool sinew_panels_create(sinew_panels *panels, const sinew_allocator *allocator, const sinew_panel_rule *rule,
                         const cholmod_sparse *upper, const SuiteSparse_long *columns);
void sinew_panels_destroy(sinew_panels *panels, const sinew_allocator *allocator);

#endif
