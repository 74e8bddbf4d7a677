/* SPDX-License-Identifier: MIT
 *
 * modes.h: the lowest frequencies of a small body about its rest shape, with lumped masses and with consistent masses
 * of linear tets.
 *
 *   K x = omega^2 M x,   K = -d force / d q by central differences of the world's own forces,
 *   M lumped: rho V / 4 at each vertex of a tet;   consistent: rho V / 20 (1 + delta_ij) between its vertices.
 *
 * The algorithm is dense, for some hundred free vertices: Cholesky of K, inverse iteration, modes M-orthogonal to those
 * found before.
 */
#ifndef SINEW_EXPERIMENTS_MODES_H
#define SINEW_EXPERIMENTS_MODES_H

#include "experiments.h"

/* Computes the lowest `count` frequencies (rad/s) of the body in `world`, for lumped (consistent false) or consistent
 * masses of `density` kg/m3. Vertices with free_vertices[i] == 0 are fixed. Returns false if memory runs out or K is
 * not positive definite. */
bool modes_find(sinew_world *world, const sinew_mesh *mesh, const uint8_t *free_vertices, double density,
                bool consistent, int32_t count, double *omega);

#endif
