/* SPDX-License-Identifier: MIT
 *
 * contact_blocks.h: Hessian blocks of contacts, stored separately from the constant matrix S (global_system.h):
 *
 *     C = sum_c  (w w^T) (x) K_c,   K_c = psi''(z) of contact c at the iterate        (energy/edge/contact.c)
 *
 * z = sum_a w_a x_a is the relative position of the contact's vertices, (x) the Kronecker product. K_c is k n n^T for a
 * contact without friction and k 1 for a sticking one, so S + C is not a scalar matrix. Systems with S + C are solved
 * by conjugate gradients with the unchanged factor of S as preconditioner. Added to S isotropically, like other
 * transient elements, contacts would also resist sliding: measured 610 iterations instead of tens.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_BLOCKS_H
#define SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_BLOCKS_H

#include "energy/contact_data.h"
#include "objective/objective.h"

typedef struct sinew_contact_block {
    int32_t count;                                 /* number of particles: 4, or 8 where a rigid body touches */
    int32_t particle[SINEW_CONTACT_VERTICES_WIDE]; /* particles of the contact; -1: pinned, or the entry is unused */
    double w[SINEW_CONTACT_VERTICES_WIDE]; /* weight of each particle in z, the contact's weighted sum of positions */
    double K[6];                           /* Hessian K_c of the contact energy, entries 00 11 22 01 02 12, in N/m */
} sinew_contact_block;

typedef struct sinew_contact_blocks {
    int32_t count;
    sinew_contact_block *blocks; /* [count] blocks of contacts with a nonzero Hessian K */
    sinew_real *tangent; /* work space: tangents of the contacts of one chunk, then its positions and its gradient */
    size_t block_capacity, tangent_capacity;
} sinew_contact_blocks;

/* Allocates Hessian blocks for all contacts of the objective; returns false if out of memory. */
bool sinew_contact_blocks_reserve(sinew_contact_blocks *blocks, const sinew_objective *objective);
/* Computes the Hessian blocks of all contacts at positions q [particle_count][4]. */
void sinew_contact_blocks_linearise(sinew_contact_blocks *blocks, const sinew_objective *objective,
                                    const sinew_real *q);
/* Energy of the contacts at positions q [particle_count][4], in J. */
double sinew_contact_blocks_value(const sinew_contact_blocks *blocks, const sinew_objective *objective,
                                  const sinew_real *q);
/* Subtracts the gradient of the contact energy at q from gradient [particle_count][4], at free particles. Returns the
 * energy of the contacts. */
double sinew_contact_blocks_subtract_gradient(const sinew_contact_blocks *blocks, const sinew_objective *objective,
                                              const sinew_real *q, sinew_real *gradient);
/* Product with the contact Hessian C: Ax += C x at the free particles; both [particle_count][4]. */
void sinew_contact_blocks_add_product(const sinew_contact_blocks *blocks, const sinew_real *x, sinew_real *Ax);
void sinew_contact_blocks_release(sinew_contact_blocks *blocks, const sinew_objective *objective);

#endif
