/* SPDX-License-Identifier: MIT
 *
 * element_projection.h: the point p of the set C(p) = 0 of one element that is nearest to x, for any energy (Bouaziz et
 * al. 2014, section 6: "if no closed-form solutions exist, ... sequential quadratic programming").
 *
 *     min over p of w/2 |A (x - p)|^2        such that psi(p) = 0
 *
 * The set is where the energy is zero. Each step solves the quadratic program with the constraint linearised,
 *
 *     min over d of w/2 |A (x - p - d)|^2    such that H d = -grad psi,
 *
 * H the second derivatives of psi at p. If psi = C^T C / (2 alpha) with a C of full rank, the constraint is J d = -C:
 * the step of the paper. Sets without such a C, such as the rotations of a tetrahedron, are treated in the same way.
 * The constraint has the weight rho instead of a multiplier: the distance of p from the set is about 1/rho of its
 * distance from x. rho grows from one to its last value, so that p moves from x to the nearest point of the set.
 *
 * Known limits: the result is a local minimum; another part of the set may be nearer. rho ends at 1e7, in single
 * precision at 1e3, where round-off in grad psi begins to matter.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_ELEMENT_PROJECTION_H
#define SINEW_SRC_SOLVE_PROJECTIVE_ELEMENT_PROJECTION_H

#include "objective/chunk_derivatives.h"

#define SINEW_SQP_CAPACITY (3 * SINEW_STENCIL_MAX) /* largest number of coordinates of an element, 3 per vertex */

/* Input of the projection of one element onto its constraint set. */
typedef struct sinew_sqp {
    sinew_element_view element;
    const double *metric; /* [point_count][point_count] matrix A^T A of the squared distance |A (x - p)|^2 */
    double weight;        /* weight w of the squared distance |A (x - p)|^2, in N/m if A has no unit */
    const double *x;      /* [point_count][3] positions to be projected, in m */
} sinew_sqp;

/* w/2 |A (x - p)|^2, the weighted squared distance between x and p [point_count][3], in J */
double sinew_sqp_distance(const sinew_sqp *element, const double *p);
/* Writes the nearest point of the constraint set to p [point_count][3]. If `known`, p is a point of the set on entry,
 * and is kept unless a nearer one is found. Returns false if no point of the set was found: p is then the last iterate
 * if its energy is below that of x, else x. */
bool sinew_sqp_project(const sinew_sqp *element, bool known, double *p);

#endif
