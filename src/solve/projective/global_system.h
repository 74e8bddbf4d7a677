/* SPDX-License-Identifier: MIT
 *
 * global_system.h: the constant matrix of projective methods and its prefactored solves:
 *
 *     S = M/h^2 + scale sum_j w_j D_j^T D_j          thesis (4.50), (4.60), (4.71)
 *
 * D_j maps positions to the reduced coordinates of element j (energy.h), acting on x, y and z alike, so that S is one
 * scalar matrix over the free particles for all three. Pinned particles are no unknowns; what couples them to the free
 * ones is kept apart for solvers that solve for positions instead of increments.
 *
 * The factor holds the fixed elements, all of them switched on, so that elements can come and go and be switched
 * without a new one. Solves are with S as it is all the same:
 *
 *     few rows beside the factor (low_rank_rows.h)   low_rank.h
 *     many transient ones                          conjugate gradients, with the factor and the rows switched off, as
 *                                                  few, for preconditioner
 *     contacts, where the rule says so             conjugate gradients, with their own blocks (contact_blocks.h)
 *     many switched off, or some whose absence     numbers of the factor are made anew without them
 *     leaves too little
 *
 * Which of them depends on the elements that there are, and on nothing else.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_SYSTEM_H
#define SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_SYSTEM_H

#include "linear/factor/low_rank.h"
#include "linear/krylov/pcg.h"
#include "solve/projective/contact_blocks.h"
#include "solve/projective/global_matrix.h"
#include "solve/projective/low_rank_rows.h"

/* A solver's wishes for S. */
typedef struct sinew_global_rule {
    sinew_weighing weighing;
    bool rescaled;           /* the scale changes during steps: L stays at hand in double */
    bool beside;             /* contacts are beside the matrix, as their blocks are where the iterate is */
    int64_t *factorisations; /* counts them; may be NULL */
    bool single;             /* S and its factor are made in 32 bits */
    bool position;           /* it solves for positions: pins are coupled, and solves go down to round-off */
} sinew_global_rule;

typedef struct sinew_global {
    sinew_global_rule rule;
    int32_t free_count;
    sinew_global_matrix matrix;
    sinew_real *weights; /* [lanes of the matrix's tasks] all switched on */
    sinew_coupling coupling;
    double scale;
    sinew_prefactor *factor;
    int32_t few;    /* rows beside the factor that count as few */
    bool whole;     /* nothing fixed holds some piece of a world without inertia: transient ones are in the factor */
    bool off_known; /* elements show as they are switched */
    bool folded;    /* the factor is without those switched off */
    bool iterates;  /* transient rows are left to conjugate gradients */
    bool touches;   /* there are contacts beside it */
    sinew_beside beside;
    int32_t solves; /* with the factor, in this step: who begins one clears it */
    sinew_global_rows rows;
    sinew_low_rank low_rank;
    sinew_pcg pcg;
    sinew_real *b, *x; /* [particle_count][4] of conjugate gradients; NULL until they are needed */
} sinew_global;

/* With scale 1, fixed elements showing as switched on. Allocates. */
sinew_status sinew_global_create(sinew_global *global, const sinew_objective *objective, const sinew_global_rule *rule,
                                 sinew_error *error);
/* Takes over changes (SINEW_GLOBAL_REFRESHES; solver.h, as `refresh` there). After a failure it is to be destroyed. */
#define SINEW_GLOBAL_REFRESHES                                                                                         \
    (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_TRANSIENT)
sinew_status sinew_global_refresh(sinew_global *global, const sinew_objective *objective, uint32_t changed,
                                  sinew_error *error);
void sinew_global_destroy(sinew_global *global, const sinew_objective *objective);

/* Another scale: numeric work only, nothing is allocated (rule: rescaled). False where S is not positive definite: the
 * old one stays. */
bool sinew_global_rescale(sinew_global *global, const sinew_objective *objective, double scale);

/* Takes over the blocks of contacts (rule: beside) where q is; without contacts nothing is done. */
void sinew_global_linearise(sinew_global *global, const sinew_objective *objective, const sinew_real *q);
/* x = S^-1 b at the free particles, zero at pins; both [particle_count][4], b may be x. */
void sinew_global_solve(sinew_global *global, const sinew_objective *objective, const sinew_real *b, sinew_real *x);
/* The same without contacts and transient rows that are left to conjugate gradients: one solve with the factor. */
void sinew_global_solve_factor(sinew_global *global, const sinew_objective *objective, const sinew_real *b,
                               sinew_real *x);
/* x = (H^-1 + C)^-1 b where something touches, C the contacts' blocks, H a better S^-1 that is made with
 * sinew_global_solve_factor. */
void sinew_global_solve_beside(sinew_global *global, const sinew_objective *objective, sinew_linear_map H,
                               const sinew_real *b, sinew_real *x);
/* Sx = S x without contacts; x is zero at pins, Sx is; both [particle_count][4] */
void sinew_global_multiply(sinew_global *global, const sinew_objective *objective, const sinew_real *x, sinew_real *Sx);
/* b -= S q_pins */
void sinew_global_move_pins(const sinew_global *global, const sinew_real *q, sinew_real *b);

#endif
