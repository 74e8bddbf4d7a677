/* SPDX-License-Identifier: MIT
 *
 * newton_decrement.h: Newton's direction for the estimate of the gap (objective_gap.h), by a factor or by conjugate
 * gradients.
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_NEWTON_DECREMENT_H
#define SINEW_SRC_SOLVE_DRIVER_NEWTON_DECREMENT_H

#include "linear/krylov/block_jacobi.h"
#include "linear/krylov/pcg.h"
#include "solve/newton/newton.h"

/* Vectors of Newton's method on a copy of the step's positions, [particle_count][4] each. */
typedef struct sinew_gap_vectors {
    sinew_real *q, *gradient;           /* iterate of the copy, and grad g there */
    sinew_real *d, *right;              /* Newton's direction; right-hand side of its system */
    sinew_real *trial, *trial_gradient; /* work space of steps and line searches */
    sinew_real *kept_q, *kept_gradient; /* start of a sequence of unchecked full steps */
    sinew_real *error;                  /* m: estimate of q* - q */
} sinew_gap_vectors;

/* Newton's method on a copy of the step's positions. sinew_newton needs the vectors of a sinew_solve: `copy` and
 * `newton` point to `vectors`, the owner of all arrays. */
typedef struct sinew_gap {
    sinew_gap_vectors vectors;
    sinew_solve *solver; /* solver of the measured step; its matrix may serve as preconditioner */
    sinew_solve copy;    /* solver state of the copy; members that Newton's method does not use are zero */
    sinew_newton newton; /* Newton's method on the copy; `memory` holds the factor, NULL in large worlds */
    sinew_pcg pcg;       /* pcg, blocks, diagonal: for large worlds */
    sinew_block_inverse blocks;
    double *diagonal; /* [particle_count][9] */
    bool exact;       /* the last direction came from the exact Hessian */
    bool current;     /* newton.d is the direction at copy.q */
    int32_t linear_iterations, linear_max;
    sinew_work_model model; /* set at the start of an estimate */
    double work;            /* multiply-adds of the estimate so far (solve/work.h) */
} sinew_gap;

sinew_status sinew_gap_direction_create(sinew_gap *gap, sinew_error *error);
void sinew_gap_direction_destroy(sinew_gap *gap);

/* newton.d = -H^-1 gradient at copy.q, with the exact Hessian if it is definite, else the projected one. Returns false
 * if neither system could be solved. */
bool sinew_gap_direction(sinew_gap *gap);
/* Whether the exact Hessian at copy.q is positive definite up to its own round-off; false in large worlds, which have
 * no factor. Overwrites newton.d. */
bool sinew_gap_definite(sinew_gap *gap);

#endif
