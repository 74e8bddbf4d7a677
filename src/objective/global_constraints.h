/* SPDX-License-Identifier: MIT
 *
 * global_constraints.h: energies whose elements form one constraint together (global_constraint in energy/energy.h):
 *
 *     psi = C^2 / (2 alpha),   C = sum over elements      grad psi = (C / alpha) grad C
 *     H = (C / alpha) d2C + grad C grad C^T / alpha
 *
 * C must be known before the gradient of any element. The first term of H is a sum over elements. The second, of rank
 * one and dense, is stored as grad C: products add it, and factorisations use Woodbury's formula
 * (solve/newton/rank_one_terms.h).
 */
#ifndef SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H
#define SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H

#include "objective/objective.h"

/* Sets multiplier = C of all tasks of global constraints at q, and psi at the first task of each. */
void sinew_global_constraints_evaluate(const sinew_objective *objective, const sinew_real *q);
int32_t sinew_global_constraints_count(const sinew_objective *objective);
/* gradient [particle_count][4] = grad C of one constraint at q, zero at pins and along constrained directions; returns
 * 1 / alpha. */
double sinew_global_constraint_gradient(const sinew_objective *objective, int32_t constraint, const sinew_real *q,
                                        sinew_real *gradient);

#endif
