/* SPDX-License-Identifier: MIT
 *
 * global_constraints.h: energies that are a function of a sum over their elements (energy/energy.h):
 *
 *     psi = f(C),   C = sum over elements       grad psi = f' grad C,   H = f' d2C + f'' grad C grad C^T
 *
 * with f = C^2 / (2 alpha) for one constraint of all elements (global_constraint), or the energy's own f (potential).
 * C must be known before the gradient of any element. The first term of H is a sum over elements. The second, of rank
 * one and dense, is stored as grad C: products add it, and factorisations use Woodbury's formula
 * (solve/newton/rank_one_terms.h).
 */
#ifndef SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H
#define SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H

#include "objective/objective.h"

/* Sets multiplier = f' / weight of all tasks of global constraints at q, and psi at the first task of each. */
void sinew_global_constraints_evaluate(const sinew_objective *objective, const sinew_real *q);
int32_t sinew_global_constraints_count(const sinew_objective *objective);
/* gradient [particle_count][4] = grad C of one constraint at q, zero at pins and along constrained directions; returns
 * f''. Zero f'' comes with a zero gradient. */
double sinew_global_constraint_gradient(const sinew_objective *objective, int32_t constraint, const sinew_real *q,
                                        sinew_real *gradient);
/* An upper bound of the change of the particles' forces, summed over particles, per length |d| of a displacement d of
 * all particles, due to the term f'' grad C grad C^T of soft global constraints at q, in N/m: the sum of
 * f'' |grad C| sum_i |grad_i C|. gradient [particle_count][4]: work space. */
double sinew_global_constraints_stiffness(const sinew_objective *objective, const sinew_real *q, sinew_real *gradient);

#endif
