/* SPDX-License-Identifier: MIT
 *
 * global_system.h: the constant matrix of projective methods and its prefactored solves:
 *
 *     S = M/h^2 + scale sum_j w_j D_j^T D_j          thesis (4.50), (4.60), (4.71)
 *
 * D_j maps positions to the reduced coordinates of element j (energy/energy.h). It is the same for x, y and z, so that
 * S is one scalar matrix over the free particles. Pinned particles are no unknowns; their coupling with free particles
 * is stored separately for solvers that solve for positions.
 *
 * The factor includes all fixed elements as switched on, so that elements can change and be switched without a new
 * factor. Solves use the current S:
 *
 *     few low-rank terms (low_rank_terms.h)        low_rank.h
 *     many transient terms                         conjugate gradients; the preconditioner is the factor with the
 *                                                  terms of switched-off elements
 *     contacts (rule.contacts_by_blocks)           conjugate gradients with contact blocks (contact_blocks.h)
 *     many switched-off elements, or a numerical   the factor is recomputed without these elements
 *     failure of low_rank.h
 *
 * The choice depends on the current elements only.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_SYSTEM_H
#define SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_SYSTEM_H

#include "linear/factor/low_rank.h"
#include "linear/krylov/pcg.h"
#include "solve/projective/contact_blocks.h"
#include "solve/projective/global_matrix.h"
#include "solve/projective/low_rank_terms.h"

/* Options of a projective solver for its global matrix S. */
typedef struct sinew_global_rule {
    sinew_weight_assignment weight_assignment;
    bool rescaled; /* true: `scale` changes during steps, so the factor is kept in double precision */
    /* true: contacts are not in the global matrix S; their Hessian blocks are evaluated at the iterate */
    bool contacts_by_blocks;
    int64_t *factorisations; /* counter, incremented at each factorisation of the global matrix; may be NULL */
    bool single;             /* true: the global matrix and its factor are rounded to 32-bit floats */
    bool position; /* true: the unknowns are positions, so pins are coupled, and solves converge to round-off */
} sinew_global_rule;

typedef struct sinew_global {
    sinew_global_rule rule;
    int32_t free_count;
    sinew_global_matrix matrix;
    sinew_real *weights; /* [elements of the matrix's tasks, padding included] weights with all elements switched on */
    sinew_coupling coupling;
    double scale;
    sinew_factored_system *factor;
    int32_t few; /* largest number of low-rank terms solved by low_rank.h instead of iterations */
    /* True in quasistatic worlds if some component has no fixed element that constrains it: the factor includes
     * transient elements, or it would be singular. */
    bool transient_in_factor;
    bool off_known;    /* true: `terms` lists the elements that are switched off */
    bool folded;       /* true: the factor was computed without the elements that are switched off */
    bool iterates;     /* true: conjugate gradients solve for the transient terms */
    bool has_contacts; /* true: there are contacts, and they are not in the global matrix S */
    sinew_contact_blocks contact_blocks;
    int32_t solves; /* number of solves with the factor of the global matrix in this time step */
    sinew_low_rank_terms terms;
    sinew_low_rank low_rank;
    sinew_pcg pcg;
    /* [particle_count][4] right-hand side and solution of conjugate gradients; NULL before their first use */
    sinew_real *b, *x;
} sinew_global;

/* Creates the global matrix S with scale 1 and all fixed elements switched on, and its factor. Allocates; on failure
 * nothing stays allocated. */
sinew_status sinew_global_create(sinew_global *global, const sinew_objective *objective, const sinew_global_rule *rule,
                                 sinew_error *error);
/* Updates the global matrix after changes of the world (SINEW_GLOBAL_REFRESHES), like `refresh` of solver.h. Must be
 * destroyed after failure. */
#define SINEW_GLOBAL_REFRESHES                                                                                         \
    (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_TRANSIENT)
sinew_status sinew_global_refresh(sinew_global *global, const sinew_objective *objective, uint32_t changed,
                                  sinew_error *error);
void sinew_global_destroy(sinew_global *global, const sinew_objective *objective);

/* Changes the scale of S without allocation; needs rule.rescaled. Returns false, with the old scale, if S is not
 * positive definite. */
bool sinew_global_rescale(sinew_global *global, const sinew_objective *objective, double scale);

/* Evaluates the Hessian blocks of contacts at q (with rule.contacts_by_blocks); does nothing without contacts. */
void sinew_global_linearise(sinew_global *global, const sinew_objective *objective, const sinew_real *q);
/* x = S^-1 b with the global matrix S at the free particles, zero at pins; both [particle_count][4], b may be x.
 * With contacts: x = (S + C)^-1 b, C the contact blocks of the last sinew_global_linearise(). */
void sinew_global_solve(sinew_global *global, const sinew_objective *objective, const sinew_real *b, sinew_real *x);
/* Solves with the factor of the global matrix alone, without contacts and without the transient terms that conjugate
 * gradients handle. */
void sinew_global_solve_factor(sinew_global *global, const sinew_objective *objective, const sinew_real *b,
                               sinew_real *x);
/* Solve with contacts: x = (H^-1 + C)^-1 b, C the contact blocks, H an approximate inverse Hessian that is better than
 * S^-1 and built on sinew_global_solve_factor. */
void sinew_global_solve_with_contacts(sinew_global *global, const sinew_objective *objective, sinew_linear_map H,
                                      const sinew_real *b, sinew_real *x);
/* Sx = S x with the global matrix S, without contacts; both [particle_count][4]. x must be zero at pins; Sx is zero
 * there. */
void sinew_global_multiply(sinew_global *global, const sinew_objective *objective, const sinew_real *x, sinew_real *Sx);
/* Moves the terms of pinned particles to the right-hand side: b -= S q_pins with the global matrix S; q and b
 * [particle_count][4]. */
void sinew_global_move_pins(const sinew_global *global, const sinew_real *q, sinew_real *b);

#endif
