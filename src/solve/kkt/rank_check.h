/* SPDX-License-Identifier: MIT
 *
 * rank_check.h: which hard rows of a saddle point (saddle_system.h) depend on others, where pivots leave it in doubt.
 *
 * The order of elimination is fixed, so a row with little of its own may come before others: behind a pivot d what
 * should be zero comes out as about 1e-16 / d, and behind several small ones as more. A row whose pivot is small, yet
 * not as small as round-off, is in doubt: it may be independent, or depend on others and show round-off alone.
 *
 * The second look asks about J alone. In the scales of the saddle point it factorises
 *
 *     [ I    J_N^T ]          N: hard rows with pivots that are certain, above 1e-2 if that leaves few;
 *     [ J_N   0    ]          D: the others, which are left out
 *
 * and finds of each row d of D that is in doubt the part of its own, u_d = (I - J_N^T (J_N J_N^T)^-1 J_N) J_d^T, by a
 * solution that is refined. T = J_D u_D is the small dense matrix of what is left; it is factorised with exchanges, the
 * largest diagonal entry first, so that none of its pivots is the round-off of another. Rows with a pivot above the
 * floor are kept, all others of D are redundant. Whether A is definite does not matter.
 *
 * Nothing is allocated; systems without small pivots do none of this.
 */
#ifndef SINEW_SRC_SOLVE_KKT_RANK_CHECK_H
#define SINEW_SRC_SOLVE_KKT_RANK_CHECK_H

#include "solve/kkt/saddle_system.h"

enum {
    SINEW_SADDLE_DOUBTS = 64 /* rows in doubt that a second look takes */
};

/* Whether pivots of the last factorisation leave a hard row in doubt: 0 where they do not, or where so many are small
 * that they cannot be looked at; else the size of a pivot that is certain, below which rows are left out at first. */
double sinew_saddle_doubt(const sinew_saddle *saddle);
/* The second look: floors of hard rows become HUGE_VAL where a row is redundant, with pivots up to `floor`, else as
 * good as 0. Uses saddle->scaled. False: more rows are in doubt than it takes, and floors are as they were. */
bool sinew_saddle_look_again(sinew_saddle *saddle, double clear, double floor);

#endif
