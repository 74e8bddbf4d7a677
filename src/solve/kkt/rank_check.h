/* SPDX-License-Identifier: MIT
 *
 * rank_check.h: finds dependent hard constraints of a saddle-point system (saddle_system.h) where pivots are
 * inconclusive.
 *
 * The elimination order is fixed, so a nearly dependent constraint may precede others: after a pivot d, round-off turns
 * a zero pivot into about 1e-16 / d, and into more after several small pivots. A constraint with a small pivot above
 * round-off is uncertain: it may be independent, or dependent with a pivot of round-off.
 *
 * The rank check uses J alone. In the scaling of the saddle-point system the check factorises
 *
 *     [ I    J_N^T ]          N: hard constraints with certain pivots: above 1e-2, or less if D were too large;
 *     [ J_N   0    ]          D: the other hard constraints, which are dropped
 *
 * and computes for each uncertain constraint d of D its independent component u_d = (I - J_N^T (J_N J_N^T)^-1 J_N)
 * J_d^T, with iterative refinement. T = J_D u_D is a small dense matrix, factorised with pivoting (largest diagonal
 * entry first), so that no pivot is the round-off of another. Constraints with a pivot above the floor are kept; all
 * others of D are redundant. A need not be definite.
 *
 * The rank check allocates nothing; systems without small pivots skip it.
 */
#ifndef SINEW_SRC_SOLVE_KKT_RANK_CHECK_H
#define SINEW_SRC_SOLVE_KKT_RANK_CHECK_H

#include "solve/kkt/saddle_system.h"

enum {
    SINEW_RANK_CHECK_MAX = 64 /* largest number of uncertain constraints that one rank check handles */
};

/* Returns the pivot size below which the rank check first drops constraints. 0: no pivot of the last factorisation is
 * uncertain, or too many are. */
double sinew_saddle_certain_pivot(const sinew_saddle *saddle);
/* Runs the rank check: the floors of redundant hard constraints, with pivots up to `floor`, become HUGE_VAL, those of
 * independent ones DBL_MIN. clear: the result of sinew_saddle_certain_pivot(). Overwrites saddle->scaled. Returns
 * false, with all floors of hard constraints set to `floor`, if too many constraints are uncertain or the factorisation
 * fails. */
bool sinew_saddle_check_rank(sinew_saddle *saddle, double clear, double floor);

#endif
