/* SPDX-License-Identifier: MIT
 *
 * violation.h: the violation of the constraints of hard energies.
 */
#ifndef SINEW_SRC_OBJECTIVE_VIOLATION_H
#define SINEW_SRC_OBJECTIVE_VIOLATION_H

#include "objective/objective.h"

/* Whether any energy is a hard constraint. g is then infinite almost everywhere, and measurements use the energy's
 * finite stiffness. */
bool sinew_objective_is_hard(const sinew_objective *objective);
/* The largest |C| of hard energies at q (inequalities C >= 0: the largest -C), in the unit of each C; 0 without hard
 * energies; NaN if a hard energy has no Jacobian operation or more than 8 constraints per element. `work`
 * [particle_count][4] is overwritten. */
double sinew_objective_violation(sinew_objective *objective, const sinew_real *q, sinew_real *work);

#endif
