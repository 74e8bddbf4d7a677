/* SPDX-License-Identifier: MIT
 *
 * pd_general.h: Projective Dynamics with a choice of A and B (Bouaziz et al. 2014, sections 3.3, 4.2 and 6): every
 * element has a copy p of its vertices S_j q on its zero-energy set, and
 *
 *     Phi(q) = 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j w_j/2 |A_j (S_j q - p_j)|^2
 *     local    p_j = the nearest point of the set (element_projection.h), never farther than the previous p_j
 *     global   (M/h^2 + sum w A^T A) dq = -grad Phi
 *
 *     identity   A = 1, absolute positions: a diagonal matrix
 *     mean       points relative to their mean
 *     vertex     points relative to the first point
 *     mass       A = M_j^(1/2), the masses of the element's particles (14): Jacobi with momentum, a diagonal matrix
 *     reduced    the energy's own D (energy.h)
 *
 * Energies that change under translation (position) use identity instead of mean and vertex.
 *
 * Weights. w is chosen so that w A^T A and the energy's own k D^T D have the same trace. Translations are left out of
 * the traces, because the nearest p follows them. For edges, single vertices and regular tetrahedra (of equal masses,
 * for `mass`, and not for `vertex`) Phi is then the objective g itself in all coordinates. For other shapes Phi differs
 * from g: copies are nearest in the metric of A, not of D. An energy without D uses the curvature of its rest shape
 * instead of k.
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

/* Creates projected copies and the matrix S for the elements that are switched on; any change of the world needs a new
 * object. Returns NULL on failure. */
sinew_pd_general *sinew_pd_general_create(const sinew_objective *objective, sinew_coordinates coordinates,
                                          sinew_error *error);
void sinew_pd_general_destroy(sinew_pd_general *general, const sinew_objective *objective);
/* Discards the projected copies of elements at the start of a step. */
void sinew_pd_general_begin(sinew_pd_general *general);
/* Local step: projects all elements at q; b = -grad Phi(q), zero at pins. */
void sinew_pd_general_local(sinew_pd_general *general, sinew_objective *objective, const sinew_real *q, sinew_real *b);
/* Global step x = S^-1 b, S = M/h^2 + sum w A^T A (masses, and weighted metrics of the elements), zero at pins; both
 * [particle_count][4], b may be x. */
void sinew_pd_general_solve(const sinew_pd_general *general, const sinew_objective *objective, const sinew_real *b,
                            sinew_real *x);
/* Returns the sum over elements of the squared distances to their projected copies, the second term of Phi, at q, in
 * J. work [particle_count][4]. */
double sinew_pd_general_value(sinew_pd_general *general, sinew_objective *objective, const sinew_real *q,
                              sinew_real *work);

#endif
