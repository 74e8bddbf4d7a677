/* SPDX-License-Identifier: MIT
 *
 * low_rank_terms.h: low-rank updates of a constant matrix (global_system.h), one weighted term w d d^T per row d of an
 * element's D. Transient elements are added; fixed elements that are switched off are subtracted, with negative
 * weights.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_LOW_RANK_TERMS_H
#define SINEW_SRC_SOLVE_PROJECTIVE_LOW_RANK_TERMS_H

#include "linear/factor/low_rank.h"
#include "objective/objective.h"

/* Rule for the weights of elements: the stiffness of the energy (energy/energy.h) times a factor. The stiffness is
 * fitted over the stretches low .. high if psi is not a squared distance. */
typedef struct sinew_weight_assignment {
    double low, high;
    sinew_real factor;
} sinew_weight_assignment;

typedef struct sinew_low_rank_terms {
    int32_t taken, count;       /* number of terms of switched-off elements, which come first; number of all terms */
    sinew_rank_one_term *terms; /* [count] rank-one terms, indexed by particles; pins are the known entries */
    /* work space, as large as the largest task needs: weights and reduction matrices D of the elements of one task */
    sinew_real *weights, *reduced;
    size_t term_capacity, weight_capacity, reduced_capacity;
} sinew_low_rank_terms;

/* Weights of elements, [elements of tasks first .. last - 1, padding included] = stiffness of each element times the
 * factor. */
void sinew_element_weights(const sinew_objective *objective, int32_t first, int32_t last,
                           const sinew_weight_assignment *weight_assignment, sinew_real *weights);

/* Lists the rank-one terms. With `off`: the switched-off elements of the first task_count tasks, with their weights
 * [elements of these tasks, padding included] while switched on. Then the elements of all later tasks; contacts only if
 * `contacts`. Allocates only to grow; returns false if out of memory. */
bool sinew_low_rank_terms_list(sinew_low_rank_terms *terms, const sinew_objective *objective, int32_t task_count,
                               bool off, bool contacts, const sinew_real *weights,
                               const sinew_weight_assignment *weight_assignment);
void sinew_low_rank_terms_release(sinew_low_rank_terms *terms, const sinew_objective *objective);

/* Ax += scale sum w d d^T x over rank-one terms first .. count - 1, at the free particles; x and Ax
 * [particle_count][4] */
void sinew_low_rank_terms_add(const sinew_low_rank_terms *terms, int32_t first, double scale, const sinew_real *x,
                              sinew_real *Ax);
/* Moves the terms of pinned particles to the right-hand side: b -= scale sum w d d^T q_pins at the free particles. */
void sinew_low_rank_terms_move_pins(const sinew_low_rank_terms *terms, double scale, const sinew_real *q,
                                    sinew_real *b);

#endif
