/* SPDX-License-Identifier: MIT
 *
 * newton.h: what Newton's method (newton.c) asks of a linear solver, and the linear solvers it can choose from.
 *
 *     direct     sparse Cholesky of the assembled matrix                      assembled.c
 *     lu         sparse LU with pivoting: matrices of any definiteness        assembled.c
 *     qr         sparse QR: the same, at a higher price                        assembled.c
 *     gs         over-relaxed Gauss-Seidel sweeps over the assembled matrix   assembled.c
 *     cg         conjugate gradients, matrix-free                             krylov.c
 *     bicgstab   stabilised biconjugate gradients, matrix-free                krylov.c
 */
#ifndef SINEW_SRC_SOLVE_NEWTON_NEWTON_H
#define SINEW_SRC_SOLVE_NEWTON_NEWTON_H

#include "solve/solver.h"

typedef enum sinew_newton_outcome {
    SINEW_NEWTON_SOLVED,
    SINEW_NEWTON_INDEFINITE, /* H is not positive definite; d as `rescue` says */
    SINEW_NEWTON_FAILED      /* no direction */
} sinew_newton_outcome;

/* Which Hessian a direction is from; in the order of the choices of newton's parameter. */
typedef enum sinew_newton_hessian {
    SINEW_NEWTON_AUTO, /* exact where that is definite, else projected */
    SINEW_NEWTON_PROJECTED,
    SINEW_NEWTON_EXACT
} sinew_newton_hessian;

typedef struct sinew_newton sinew_newton;

typedef struct sinew_newton_linear {
    /* Sets n->memory up; called with it NULL. */
    sinew_status (*prepare)(sinew_solve *s, sinew_newton *n, sinew_error *error);
    /* Takes over other contacts, all else being as it was. NULL: release and prepare. */
    sinew_status (*layer)(sinew_solve *s, sinew_newton *n, sinew_error *error);
    void (*release)(sinew_solve *s, sinew_newton *n); /* frees n->memory, which may be NULL or half made */
    /* d = -H^-1 gradient, H exact or projected at s->q */
    sinew_newton_outcome (*solve)(sinew_solve *s, sinew_newton *n, bool project);
    /* d = -H^-1 gradient once more, at a new q but with the H of the last solve or rescue; false: cannot */
    bool (*resolve)(sinew_solve *s, sinew_newton *n);
    /* After INDEFINITE: makes a direction all the same. NULL: d is one already. */
    bool (*rescue)(sinew_solve *s, sinew_newton *n);
    bool tells;     /* notices where H is not positive definite */
    bool assembled; /* prepare lays out a matrix, which depends on pins and on all elements */
} sinew_newton_linear;

extern const sinew_newton_linear sinew_newton_direct, sinew_newton_lu, sinew_newton_qr, sinew_newton_gs,
    sinew_newton_cg, sinew_newton_bicgstab;

struct sinew_newton {
    const sinew_newton_linear *linear;
    sinew_newton_hessian hessian;
    bool search;            /* line search; else full steps */
    bool try_exact;         /* in this iteration */
    bool linearised;        /* there is an H of this step that resolve can use */
    int32_t wait, patience; /* auto: iterations until the exact Hessian is tried again, and after the next refusal */
    sinew_real *d, *trial, *trial_gradient; /* [particle_count][4] */
    void *memory;                           /* the linear solver's own */
    int32_t inner;                          /* iterations of an inner iteration: exactly these, or 0: to a tolerance */
    int32_t inner_most;                     /* at most, when inner is 0 */
    double inner_tolerance;                 /* loosest, when inner is 0 */
    double omega;                           /* of Gauss-Seidel sweeps */
    int32_t aggregate;                      /* cg: particles of an aggregate of its coarse preconditioner; 0: none */
    double shift;                           /* of the last rescue, in units of the mean stiffness */
};

/* Relative tolerance and most iterations of the inner iteration at hand: it tightens as the residual falls (Eisenstat
 * and Walker 1996), so that the end is superlinear; 0 where their number is given. */
double sinew_newton_forcing(const sinew_solve *s, const sinew_newton *n);
int32_t sinew_newton_inner(const sinew_newton *n);

/* Newton's own operations, for solvers that are one of its iterations (linear_implicit.c). create sets s->memory
 * up with what `settings` says of the linear solver, the Hessian and the search; its arrays are ignored. */
sinew_status sinew_newton_create(sinew_solve *s, const sinew_newton *settings, sinew_error *error);
sinew_status sinew_newton_refresh(sinew_solve *s, uint32_t changed, sinew_error *error);
void sinew_newton_release(sinew_solve *s);
void sinew_newton_begin(sinew_solve *s);
uint32_t sinew_newton_iterate(sinew_solve *s);
bool sinew_newton_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z);

#endif
