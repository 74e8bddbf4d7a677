/* SPDX-License-Identifier: MIT
 *
 * newton.h: Newton's method (newton.c), the interface of its linear solvers, and the linear solvers:
 *
 *     direct     sparse Cholesky of the assembled matrix                      assembled.c
 *     lu         sparse LU with pivoting, registered (sinew/linear.h)         assembled.c
 *     qr         sparse QR, registered; costs more than LU                    assembled.c
 *     gs         over-relaxed Gauss-Seidel sweeps over the assembled matrix   assembled.c
 *     cg         conjugate gradients, matrix-free                             krylov.c
 *     bicgstab   stabilised biconjugate gradients, matrix-free                krylov.c
 */
#ifndef SINEW_SRC_SOLVE_NEWTON_NEWTON_H
#define SINEW_SRC_SOLVE_NEWTON_NEWTON_H

#include "solve/solver.h"

typedef enum sinew_newton_outcome {
    SINEW_NEWTON_SOLVED,
    SINEW_NEWTON_INDEFINITE, /* the Hessian H is not positive definite; the caller calls `rescue` unless it is NULL */
    SINEW_NEWTON_FAILED      /* the linear solver found no direction d */
} sinew_newton_outcome;

/* Choice of the Hessian for Newton's direction, in the order of the choices of the parameter `hessian`. */
typedef enum sinew_newton_hessian {
    SINEW_NEWTON_AUTO, /* the exact Hessian if positive definite, else the projected one */
    SINEW_NEWTON_PROJECTED,
    SINEW_NEWTON_EXACT
} sinew_newton_hessian;

typedef struct sinew_newton sinew_newton;

typedef struct sinew_newton_linear {
    /* Allocates the linear solver's memory n->memory, which is NULL before the call. */
    sinew_status (*prepare)(sinew_solve *s, sinew_newton *n, sinew_error *error);
    /* Updates the Hessian's pattern after a change of contacts alone. NULL: release and prepare are called instead. */
    sinew_status (*update_contacts)(sinew_solve *s, sinew_newton *n, sinew_error *error);
    void (*release)(sinew_solve *s, sinew_newton *n); /* frees n->memory, which may be NULL or incomplete */
    /* Computes the direction d = -H^-1 gradient, H the exact or (`project`) projected Hessian at s->q. */
    sinew_newton_outcome (*solve)(sinew_solve *s, sinew_newton *n, bool project);
    /* Computes d = -H^-1 gradient at a new q, with the Hessian H of the last solve or rescue; returns false on
     * failure. */
    bool (*resolve)(sinew_solve *s, sinew_newton *n);
    /* Computes a descent direction d by a diagonal shift of H, after SINEW_NEWTON_INDEFINITE; returns false on failure.
     * NULL: d already is a descent direction. */
    bool (*rescue)(sinew_solve *s, sinew_newton *n);
    bool tells;     /* true: `solve` detects whether H is positive definite */
    bool assembled; /* true: `prepare` lays out a matrix, whose pattern depends on pins and all elements */
} sinew_newton_linear;

extern const sinew_newton_linear sinew_newton_direct, sinew_newton_lu, sinew_newton_qr, sinew_newton_gs,
    sinew_newton_cg, sinew_newton_bicgstab;

struct sinew_newton {
    const sinew_newton_linear *linear;
    sinew_newton_hessian hessian;
    bool search;     /* true: steps use a line search; false: full steps */
    bool try_exact;  /* true: this iteration first tries the exact Hessian */
    bool linearised; /* true: the Hessian was computed in this time step, so `resolve` can use it */
    /* hessian = auto: iterations until the exact Hessian is tried again; last waiting time, doubled by each failure */
    int32_t wait, patience;
    /* [particle_count][4] Newton's direction d; trial positions and their gradient in the line search */
    sinew_real *d, *trial, *trial_gradient;
    void *memory;           /* private data of the linear solver (matrix, factor, work space) */
    int32_t inner;          /* fixed number of iterations of an inner linear solve; 0: iterate to a tolerance */
    int32_t inner_max;      /* largest number of inner iterations, used if `inner` is 0 */
    double inner_tolerance; /* largest relative tolerance of inner solves, used if `inner` is 0 */
    double omega;           /* over-relaxation factor of Gauss-Seidel sweeps */
    /* cg: number of particles per aggregate of the coarse preconditioner; 0: no coarse preconditioner */
    int32_t aggregate;
    double shift;           /* diagonal shift of the last rescue, in units of the mean stiffness */
    sinew_factor_size size; /* linear solver `direct`: size of its Cholesky factor; others: zero */
    bool refines;           /* linear solver `direct`: true: prepare also allocates work space of sinew_newton_refine */
};

/* Relative tolerance, and largest number of iterations, of the current inner linear solve. The tolerance tightens
 * with the residual (Eisenstat and Walker 1996) for superlinear convergence; it is 0 if the number of iterations is
 * fixed. */
double sinew_newton_forcing(const sinew_solve *s, const sinew_newton *n);
int32_t sinew_newton_inner(const sinew_newton *n);

/* Operations of Newton's method, shared with solvers that take one Newton iteration (linear_implicit.c).
 * sinew_newton_create sets up s->memory with the linear solver, Hessian and search of `settings`, whose arrays are
 * ignored. */
sinew_status sinew_newton_create(sinew_solve *s, const sinew_newton *settings, sinew_error *error);
sinew_status sinew_newton_refresh(sinew_solve *s, uint32_t changed, sinew_error *error);
void sinew_newton_release(sinew_solve *s);
void sinew_newton_begin(sinew_solve *s);
uint32_t sinew_newton_iterate(sinew_solve *s);
bool sinew_newton_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z);

/* Refinement for the linear solver `direct` with n->refines: d = -H^-1 gradient, H the exact Hessian at s->q, by at
 * most `iterations` conjugate gradient iterations in double, preconditioned by the last factor of `factor`: `n` itself
 * or a direct solver of the same world. Returns the number of iterations, or -1 minus this number if they do not
 * converge, if H is not positive definite along a direction, if the layouts of `n` and `factor` differ, or if H has
 * rank-one terms (rank_one_terms.h). */
int32_t sinew_newton_refine(sinew_solve *s, sinew_newton *n, const sinew_newton *factor, int32_t iterations);

#endif
