/* SPDX-License-Identifier: MIT
 *
 * element_projection.h: the point p of the set C(p) = 0 of one element that is nearest to x, for any energy (Bouaziz et al. 2014,
 * section 6: "if no closed-form solutions exist, ... sequential quadratic programming").
 *
 *     min over p of w/2 |A (x - p)|^2        such that psi(p) = 0
 *
 * The set is where the energy is zero. Each step solves the quadratic program with the constraint linearised,
 *
 *     min over d of w/2 |A (x - p - d)|^2    such that H d = -grad psi,
 *
 * H the second derivatives of psi at p. Where psi = C^T C / (2 alpha) with a C of full rank, that is J d = -C: the step
 * of the paper. Sets without such a C, the rotations of a tetrahedron among them, are taken in the same way. The
 * constraint has the weight rho in place of a multiplier: p is off the set by 1/rho of its distance from x. rho grows
 * from one to its last value, which leads from x itself to the nearest point and not to one far off.
 *
 * Known limits: another part of the set may be nearer; the result is then a minimum among its neighbours. rho ends at
 * 1e7, in single precision at 1e3, where round-off in grad psi begins to matter.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_ELEMENT_PROJECTION_H
#define SINEW_SRC_SOLVE_PROJECTIVE_ELEMENT_PROJECTION_H

#include "energy/energy.h"

#define SINEW_SQP_ROOM (3 * SINEW_STENCIL_MAX) /* numbers of all points of an element */

/* One element. */
typedef struct sinew_sqp {
    const sinew_energy_ops *ops;  /* of width one */
    const sinew_real *data;       /* [data_count], weight not zero */
    int32_t point_count;          /* vertices that differ from each other */
    const int32_t *vertex;        /* [vertex_count] SINEW_POINT times the number of the point */
    const double *metric;         /* [point_count][point_count] A^T A */
    double weight;                /* w */
    const double *x;              /* [point_count][3] m */
    sinew_real *tangent, *blocks; /* work space: [tangent_count], [vertex_count (vertex_count + 1) / 2][9] */
} sinew_sqp;

/* w/2 |A (x - p)|^2 */
double sinew_sqp_distance(const sinew_sqp *element, const double *p);
/* p [point_count][3]: in, when `known`, a point of the set to begin with, which stays unless a nearer one is found;
 * out, the nearest point. False where none was found: p is then as near to the set as it got. */
bool sinew_sqp_project(const sinew_sqp *element, bool known, double *p);
/* H [3 point_count][3 point_count] at p, exact or projected */
void sinew_sqp_hessian(const sinew_sqp *element, const double *p, bool project, double *H);

#endif
