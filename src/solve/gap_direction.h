/* SPDX-License-Identifier: MIT
 *
 * gap_direction.h: Newton's direction for the estimate of the gap (gap.h), by a factor or by conjugate gradients.
 */
#ifndef SINEW_GAP_DIRECTION_H
#define SINEW_GAP_DIRECTION_H

#include "linear/block_inverse.h"
#include "linear/pcg.h"
#include "solve/newton.h"

/* The copy that goes downhill, and what finds its directions. */
typedef struct sinew_gap {
    sinew_solve *solver; /* whose step is judged: its matrix may precondition */
    sinew_solve copy;    /* q, gradient, terms and residual of its own; the rest is the solver's */
    sinew_newton newton; /* d, trial, trial_gradient; `memory` is the factor's, NULL in large worlds */
    sinew_pcg pcg;       /* large worlds: all three */
    sinew_block_inverse blocks;
    double *diagonal;                 /* [particle_count][9] */
    sinew_real *kept, *kept_gradient; /* [particle_count][4] where a bold step began */
    bool exact;                       /* the last direction came from the exact Hessian */
    int32_t linear_iterations, linear_most;
} sinew_gap;

sinew_status sinew_gap_direction_create(sinew_gap *gap, sinew_error *error);
void sinew_gap_direction_destroy(sinew_gap *gap);

/* newton.d = -H^-1 gradient at copy.q, exact Hessian where that is definite. False: there is none. */
bool sinew_gap_direction(sinew_gap *gap);
/* Whether the exact Hessian at copy.q is positive definite up to its own round-off. Overwrites newton.d. */
bool sinew_gap_definite(sinew_gap *gap);

#endif
