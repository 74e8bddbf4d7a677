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
    /* [particle_count][4] iterate of Newton's method, which starts at a copy of q; grad g at this iterate */
    sinew_real *q, *gradient;
    sinew_real *d, *right; /* [particle_count][4] Newton's direction d; right-hand side of the system for d */
    /* [particle_count][4] work space of Newton steps and line searches: trial positions and grad g there */
    sinew_real *trial, *trial_gradient;
    /* [particle_count][4] iterate and its gradient at the start of a sequence of unchecked full steps */
    sinew_real *kept_q, *kept_gradient;
    sinew_real *error; /* [particle_count][4] estimate of q* - q, minimiser minus the step's positions, in m */
    /* [particle_count][4] positions of the copy at its last update of contact multipliers, in m */
    sinew_real *settled;
} sinew_gap_vectors;

/* Newton's method on a copy of the step's positions. sinew_newton needs the vectors of a sinew_solve: `copy` and
 * `newton` point to `vectors`, the owner of all arrays. */
typedef struct sinew_gap {
    sinew_gap_vectors vectors;
    sinew_solve *solver; /* solver of the measured step; its matrix may serve as preconditioner */
    sinew_solve copy;    /* solver state of the copy; members that Newton's method does not read are zero */
    sinew_newton newton; /* Newton's method on the copy; `memory` holds the factor, NULL in large worlds */
    sinew_pcg pcg;       /* pcg, blocks and diagonal: conjugate gradients, in large worlds only */
    sinew_block_inverse blocks;
    double *diagonal;       /* [particle_count][9] diagonal 3x3 blocks of the Hessian */
    bool exact;             /* true: the last direction came from the exact Hessian, at this or an earlier iterate */
    bool current;           /* true: newton.d is Newton's direction at the iterate copy.q */
    bool factored;          /* true: `newton` holds a factor that this estimate computed */
    bool factored_exact;    /* true: the factor in `newton` belongs to the exact Hessian, not to the projected one */
    bool borrowed;          /* true: the solver's own factor serves until the first factor of this estimate */
    bool chord;             /* true: the last direction came from a factor at an earlier iterate */
    bool stale;             /* true: contacts changed, so the matrix of `newton` needs a new layout */
    int32_t wait, patience; /* number of directions until the exact Hessian is tried again; last waiting time */
    int32_t linear_iterations, linear_max;
    sinew_work_model model; /* cost model of the world's Newton iteration, set at the start of an estimate */
    double work;            /* multiply-adds of the estimate so far (solve/work.h) */
} sinew_gap;

sinew_status sinew_gap_direction_create(sinew_gap *gap, sinew_error *error);
void sinew_gap_direction_destroy(sinew_gap *gap);

/* newton.d = -H^-1 gradient at copy.q, with the exact Hessian if it is definite, else the projected one, else (small
 * worlds) the projected one plus a multiple of the identity. After indefinite Hessians the exact one is tried at
 * growing intervals only. Returns false if no system could be solved. */
bool sinew_gap_direction(sinew_gap *gap);
/* Replaces the projected direction by that of the exact Hessian. Returns false, with newton.d unchanged, if the exact
 * Hessian is not definite, and in large worlds, which have no factor. */
bool sinew_gap_make_exact(sinew_gap *gap);
/* newton.d = -H^-1 gradient at copy.q with the exact Hessian there, by conjugate gradients whose preconditioner is the
 * last exact factor of this estimate, or of the solver. Returns false if there is no such factor or the iterations do
 * not converge. */
bool sinew_gap_refine(sinew_gap *gap);
/* newton.d = -H^-1 gradient at copy.q, with the Hessian of the last factor of this estimate, or of the solver. Returns
 * false if there is no factor. */
bool sinew_gap_chord(sinew_gap *gap);
/* True if the exact Hessian at copy.q is positive definite up to its own round-off; false in large worlds, which have
 * no factor. Overwrites newton.d. */
bool sinew_gap_definite(sinew_gap *gap);

#endif
