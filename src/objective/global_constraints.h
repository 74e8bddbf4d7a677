/* SPDX-License-Identifier: MIT
 *
 * global_constraints.h: energies whose elements form one constraint together (whole_row in energy/energy.h):
 *
 *     psi = C^2 / (2 alpha),   C = sum of the elements' shares      grad psi = (C / alpha) grad C
 *     H = (C / alpha) d2C + grad C grad C^T / alpha
 *
 * C has to be known before any element's part of the gradient is. The first term of H is a sum over elements; the
 * second, of rank one and dense, is kept as grad C: products add it, and who factorises the rest of H takes it in by
 * Woodbury's formula (solve/newton/assembled.c). For the files of this room and for solvers.
 */
#ifndef SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H
#define SINEW_SRC_OBJECTIVE_GLOBAL_CONSTRAINTS_H

#include "objective/objective.h"

/* Tasks of such energies get what their kernels need at q: pull = C, and psi at each row's first. */
void sinew_rows_take(const sinew_objective *objective, const sinew_real *q);
int32_t sinew_rows_count(const sinew_objective *objective);
/* gradient [particle_count][4] = grad C of one row at q, zero at pins and along held directions; returns 1 / alpha. */
double sinew_row_gradient(const sinew_objective *objective, int32_t row, const sinew_real *q, sinew_real *gradient);

#endif
