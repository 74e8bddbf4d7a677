/* SPDX-License-Identifier: MIT
 *
 * chunk_derivatives.h: value, gradient and Hessian of the elements of one chunk, or of one element, without the sums
 * over chunks of objective.h. Damping, contact blocks and projections of single elements use them. No other folder
 * calls the energies' value, gradient and Hessian kernels, except world/measure/fields.c for one element.
 *
 * Local vectors are [chunk->slot_count][4] reals, one entry for each particle of the chunk.
 */
#ifndef SINEW_SRC_OBJECTIVE_CHUNK_DERIVATIVES_H
#define SINEW_SRC_OBJECTIVE_CHUNK_DERIVATIVES_H

#include "energy/batch.h"

/* Number of reals that store the tangents (second derivatives) of a chunk. */
size_t sinew_chunk_tangent_count(const sinew_batch *batch, const sinew_chunk *chunk);
/* local = the entries of the chunk's particles in `vector`, which has one entry per particle of the world. */
void sinew_chunk_gather(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *vector,
                        sinew_real *local);
/* Returns the sum of psi over the chunk's elements at local positions x, in J. */
double sinew_chunk_value(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x);
/* Returns the sum of psi over the chunk's elements at local positions x, in J, and adds its gradient to g. */
double sinew_chunk_gradient(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x, sinew_real *g);
/* tangent [sinew_chunk_tangent_count()] = second derivatives of the chunk's elements at x, projected to positive
 * semi-definite matrices. */
void sinew_chunk_linearise(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x,
                           sinew_real *tangent);
/* g += H p with the tangents of sinew_chunk_linearise(); p and g are local vectors of the chunk. */
void sinew_chunk_product(const sinew_batch *batch, const sinew_chunk *chunk, sinew_real *tangent, const sinew_real *p,
                         sinew_real *g);

/* One element of an energy with its data and work space, evaluated without a batch. */
typedef struct sinew_element_view {
    const sinew_energy_ops *ops; /* operations of the energy for SIMD width one */
    const sinew_real *data;      /* [data_count] data of the energy; the first number, the weight, is not zero */
    int32_t point_count;         /* number of distinct vertices of the element */
    const int32_t *vertex;       /* [vertex_count] SINEW_POINT times the index of each vertex's point */
    /* work space: [tangent_count] tangent of the element; [vertex_count (vertex_count + 1) / 2][9] Hessian blocks */
    sinew_real *tangent, *blocks;
} sinew_element_view;

/* Energy psi of one element at positions p [point_count][3], in J. */
double sinew_element_value(const sinew_element_view *element, const double *p);
/* gradient [point_count][3] = gradient of the element's energy psi at p. */
void sinew_element_gradient(const sinew_element_view *element, const double *p, double *gradient);
/* H [3 point_count][3 point_count] = Hessian of psi at p, exact or projected to a positive semi-definite matrix. */
void sinew_element_hessian(const sinew_element_view *element, const double *p, bool project, double *H);

#endif
