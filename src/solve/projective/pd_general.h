/* SPDX-License-Identifier: MIT
 *
 * pd_general.h: Projective Dynamics with a choice of A and B (Bouaziz et al. 2014, sections 3.3, 4.2 and 6): every
 * element has a copy p of its vertices on its zero-energy set, and
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
 * Energies that translations change (position) use identity instead of mean and vertex.
 *
 * Weights. w makes w |A (x - p)|^2 as large as the energy's own k |D (x - p)|^2 by their traces, without translations,
 * which the nearest p follows. For edges, single vertices and regular tetrahedra (of equal masses, for `mass`, and not
 * for `vertex`) Phi is then the objective g itself in all coordinates. For other shapes it is not: copies are nearest
 * in the metric of A, not of D. An energy without D uses the curvature of its rest shape instead of k.
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

typedef struct sinew_pd_general sinew_pd_general;

/* Creates copies and matrix for the elements that are switched on; any change needs a new object. NULL on failure. */
sinew_pd_general *sinew_pd_general_create(const sinew_objective *objective, sinew_coordinates coordinates,
                                          sinew_error *error);
void sinew_pd_general_destroy(sinew_pd_general *general, const sinew_objective *objective); /* accepts NULL */
/* Discards the copies at the start of a step. */
void sinew_pd_general_begin(sinew_pd_general *general);
/* Projects all elements at q; b = -grad Phi(q), zero at pins. */
void sinew_pd_general_local(sinew_pd_general *general, sinew_objective *objective, const sinew_real *q, sinew_real *b);
/* x = S^-1 b, zero at pins; b may be x. */
void sinew_pd_general_solve(const sinew_pd_general *general, const sinew_objective *objective, const sinew_real *b,
                            sinew_real *x);
/* J: the second sum of Phi at q with the current copies. work [particle_count][4]. */
double sinew_pd_general_value(sinew_pd_general *general, sinew_objective *objective, const sinew_real *q,
                              sinew_real *work);

#endif
