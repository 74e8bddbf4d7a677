/* SPDX-License-Identifier: MIT
 *
 * inertia.h: the tensor of inertia of some particles, J = trace(S) 1 - S with S = sum m r r^T, r from their centre of
 * mass. Collinear particles are supported: they have no inertia about their line.
 */
#ifndef SINEW_SRC_WORLD_INERTIA_H
#define SINEW_SRC_WORLD_INERTIA_H

#include <stdbool.h>

/* Tests whether particles with spread = S (row-major) are collinear. `line` receives the unit direction of their line
 * (zero for coincident particles). */
bool sinew_inertia_is_line(const double spread[9], double line[3]);
/* Computes out = J^-1 M for a moment M, with the tensor of inertia J of the second moment `spread`; for collinear
 * particles without the component of M along their line, for coincident particles zero. */
void sinew_inertia_solve(const double spread[9], const double M[3], double out[3]);

#endif
