/* SPDX-License-Identifier: MIT
 *
 * pd_general.h: Projective Dynamics with A and B as one chooses them (Bouaziz et al. 2014, sections 3.3, 4.2 and 6): every
 * element has a copy p of its own vertices, on the set where its energy is zero, and
 *
 *     Phi(q) = 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j w_j/2 |A_j (S_j q - p_j)|^2
 *     local    p_j: the nearest of the set (element_projection.h), never farther than the one before
 *     global   (M/h^2 + sum w A^T A) dq = -grad Phi
 *
 *     identity   A = 1, all points of an element as they are: a diagonal matrix
 *     mean       the mean of its points subtracted
 *     vertex     its first point subtracted
 *     mass       A = M_j^(1/2), the masses of its particles (14): Jacobi with momentum, a diagonal matrix
 *     reduced    the energy's own D (energy.h)
 *
 * An energy that translations change (position) is held by identity in place of mean and vertex.
 *
 * Weights. w makes w |A (x - p)|^2 as large as the energy's own k |D (x - p)|^2 by their traces, translations taken out
 * of both, as the nearest p is free to follow them. For edges, single vertices and regular tetrahedra (of equal masses,
 * for `mass`, and not for `vertex`) Phi is then the objective g itself in all coordinates. For other shapes it is not:
 * the copies are as near as A measures, not as D does. An energy without D has the curvature of its rest shape in place
 * of k.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_H
#define SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_H

#include "objective/objective.h"

typedef enum sinew_coordinates {
    SINEW_COORDINATES_REDUCED = 0,
    SINEW_COORDINATES_IDENTITY,
    SINEW_COORDINATES_MEAN,
    SINEW_COORDINATES_VERTEX,
    SINEW_COORDINATES_MASS
} sinew_coordinates;

typedef struct sinew_sets sinew_sets;

/* Makes the sets of all elements as they are now switched; anything that changes makes a new one necessary. NULL on
 * failure. */
sinew_sets *sinew_sets_create(const sinew_objective *objective, sinew_coordinates coordinates, sinew_error *error);
void sinew_sets_destroy(sinew_sets *sets, const sinew_objective *objective); /* NULL is fine */
/* Forgets the copies: a step begins. */
void sinew_sets_begin(sinew_sets *sets);
/* Projects at q; b = -grad Phi there, zero at pins. */
void sinew_sets_local(sinew_sets *sets, sinew_objective *objective, const sinew_real *q, sinew_real *b);
/* x = S^-1 b, zero at pins; b may be x. */
void sinew_sets_solve(const sinew_sets *sets, const sinew_objective *objective, const sinew_real *b, sinew_real *x);
/* J: the second sum of Phi at q with the copies as they are. work [particle_count][4]. */
double sinew_sets_value(sinew_sets *sets, sinew_objective *objective, const sinew_real *q, sinew_real *work);

#endif
