/* SPDX-License-Identifier: MIT
 *
 * rigid_modes.h: the rigid motions of a piece of a body, as an orthonormal basis in the metric of its masses.
 *
 *     phi_k(x) = t_k + w_k x (x - centre),      sum_i m_i phi_j(x_i) . phi_k(x_i) = delta_jk
 *     c_k = sum_i m_i v_i . phi_k(x_i)                           rigid part of a velocity field v
 *     u(P) = sum_k c_k phi_k(P)                                  its velocity at a point P
 *     G(P) = sum_k phi_k(P) phi_k(P)^T                           u changes by G p under an impulse p at P
 *
 * Three translations and the rotations about the principal axes; collinear particles have no rotation about their line.
 * An impulse p at P changes c_k by phi_k(P) . p, and the kinetic energy by p . u + p . G p / 2, without remainder.
 *
 * Pins remove motions: with D_i the projector on the prescribed directions of particle i, modes are the eigenvectors of
 * sum_i phi(x_i)^T D_i phi(x_i). Those with eigenvalue zero are free. The others are *held*: their coordinate follows
 * from the velocities of the pins, and impulses do not change it. So one pin leaves three rotations about it, two pins
 * a hinge, and a body on three pins that are not in line moves as the pins do.
 */
#ifndef SINEW_SRC_CONTACT_RIGID_MODES_H
#define SINEW_SRC_CONTACT_RIGID_MODES_H

#include "contact/contact.h"

typedef struct sinew_rigid_mode {
    double translation[3], rotation[3]; /* t_k and w_k */
    double held;                        /* eigenvalue of the mode under the pins, in 1/kg; 0: the mode is free */
} sinew_rigid_mode;

typedef struct sinew_rigid_modes {
    int32_t piece;       /* piece whose particles move; -1: a collider, which has no modes */
    int32_t first, last; /* particles first .. last - 1 contain the piece: those of its body */
    int32_t count;       /* number of modes */
    double centre[3];
    sinew_rigid_mode modes[6];
} sinew_rigid_modes;

/* Finds the modes of a piece at positions view->q. */
void sinew_rigid_modes_find(const sinew_contact_view *view, int32_t piece, sinew_rigid_modes *modes);
/* Computes the coordinates c [6] of velocities v [particle_count][4]. */
void sinew_rigid_modes_project(const sinew_contact_view *view, const sinew_rigid_modes *modes, const sinew_real *v,
                               double c[6]);
/* Computes the coordinates of the accelerations by the external forces; zero for held modes. */
void sinew_rigid_modes_accelerate(const sinew_contact_view *view, const sinew_rigid_modes *modes, double c[6]);
/* Adds `factor` times the velocity at a point to u [3]. */
void sinew_rigid_modes_add_velocity(const sinew_rigid_modes *modes, const double c[6], const double point[3],
                                    double factor, double u[3]);
/* Adds the response G to impulses at a point (file head) to a row-major 3x3 matrix. */
void sinew_rigid_modes_add_response(const sinew_rigid_modes *modes, const double point[3], double G[9]);
/* Adds to the coordinates c [6] the change by `factor` times an impulse p at a point. */
void sinew_rigid_modes_push(const sinew_rigid_modes *modes, const double point[3], const double p[3], double factor,
                            double c[6]);
/* Adds the velocity field of the coordinates c [6] to the velocities of the piece's particles that are not pinned. */
void sinew_rigid_modes_apply(const sinew_contact_view *view, const sinew_rigid_modes *modes, const double c[6]);
/* Eigenvalues and eigenvectors of a symmetric matrix A [n][n], n <= 6, by Jacobi rotations: A becomes diagonal, row
 * k of Q [n][n] is the eigenvector of A[k][k]. */
void sinew_symmetric_eigen(int n, double *A, double *Q);

#endif
