/* SPDX-License-Identifier: MIT
 *
 * elimination_order.h: in which order the unknowns of a saddle point (saddle_system.h) are eliminated.
 *
 * Hard rows have nothing on their diagonal, so each follows the last of its particles. Compliant ones need not wait: a
 * row of compliance alpha that comes before its particles leaves J^T alpha^-1 J among them, which is the Hessian of its
 * energy to first order, with the fill of Newton's matrix; after them a block of tets fills in eight times as much.
 * That costs digits as alpha goes to zero, so the factors have at least a billionth of J diag(A)^-1 J^T in its place,
 * and refinement, against the matrix as it is, takes the difference out: by a factor of a billion over the least
 * eigenvalue of the rows' system a round, and what rows say twice it need not find.
 *
 * Two orders. By particles: as sparse Cholesky would take them, in the graph in which a row joins its particles. Rows
 * last, where A is diagonal: all particles, then rows as sparse Cholesky would take J A^-1 J^T. A hard cloth fills in
 * less with the second, a hub of many rods with the first: the one that costs less is taken (ldl.h).
 */
#ifndef SINEW_SRC_SOLVE_KKT_ELIMINATION_ORDER_H
#define SINEW_SRC_SOLVE_KKT_ELIMINATION_ORDER_H

#include "solve/kkt/saddle_system.h"

/* Sorts and leaves each key once; returns how many. */
size_t sinew_saddle_sort_keys(int64_t *keys, size_t count);
/* The row of a vertex's particle in the assembly; -1 at pins. */
static inline int32_t sinew_saddle_free_of(const sinew_saddle *s, int32_t particle)
{
    return particle < 0 ? -1 : s->assembly->free_index[particle];
}

/* Decides which rows come early: those that have a compliance when the system is made. */
void sinew_saddle_choose_early(sinew_saddle *saddle);
/* Both write particle_place and row_place. */
sinew_status sinew_saddle_order_particles(sinew_saddle *saddle, sinew_error *error);
sinew_status sinew_saddle_order_rows(sinew_saddle *saddle, sinew_error *error);
/* Whether the second is worth a look: A is diagonal, and the pairs of rows that share a particle are not too many. */
bool sinew_saddle_rows_can_be_last(const sinew_saddle *saddle);

#endif
