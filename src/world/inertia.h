/* SPDX-License-Identifier: MIT
 *
 * inertia.h: the tensor of inertia of some particles, J = trace(S) 1 - S with S = sum m r r^T, r from their centre of
 * mass; also where they lie on a line, about which nothing turns.
 */
#ifndef SINEW_SRC_WORLD_INERTIA_H
#define SINEW_SRC_WORLD_INERTIA_H

#include <stdbool.h>

/* The direction of the line on which the particles lie; false where they do not lie on one. */
bool sinew_inertia_line(const double spread[9], double line[3]);
/* out = J^-1 M; on a line without what is along it, and zero where all are in one place. */
void sinew_inertia_solve(const double spread[9], const double M[3], double out[3]);

#endif
