/* SPDX-License-Identifier: MIT
 *
 * cg.h: one iteration of preconditioned conjugate gradients for A x = b, on vectors that the caller stores.
 *
 *     alpha = r.z / p.A p      x += alpha p      r -= alpha A p      z = P r
 *     beta = (r.z)' / r.z      p = z + beta p
 *
 * Hestenes and Stiefel 1952, in the notation of Nocedal and Wright, algorithm 5.3.
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_CG_H
#define SINEW_SRC_LINEAR_KRYLOV_CG_H

#include <stdbool.h>

typedef struct sinew_cg_vectors {
    double (*multiply)(void *context); /* computes A p; returns p . A p */
    /* x += alpha p, r -= alpha A p, z = P r with the preconditioner P; returns r . z */
    double (*advance)(void *context, double alpha);
    void (*turn)(void *context, double beta); /* p = z + beta p: the next search direction */
    void *context;
} sinew_cg_vectors;

typedef struct sinew_cg {
    double rz;          /* r . z, inner product of residual and preconditioned residual */
    double alpha, beta; /* CG coefficients of the last iteration: step length and direction factor */
} sinew_cg;

/* One CG iteration. Returns false, with all vectors except A p unchanged, if the curvature p . A p is not positive. */
static inline bool sinew_cg_iterate(sinew_cg *cg, const sinew_cg_vectors *v)
{
    const double curvature = v->multiply(v->context);
    if (!(curvature > 0))
        return false;
    cg->alpha = cg->rz / curvature;
    const double next = v->advance(v->context, cg->alpha);
    cg->beta = next / cg->rz;
    v->turn(v->context, cg->beta);
    cg->rz = next;
    return true;
}

#endif
