/* SPDX-License-Identifier: MIT
 *
 * saddle_system.h: the linear system of constraints and particles,
 *
 *     [ A   J^T   ] [  dq ]   [ a ]
 *     [ J  -alpha ] [  -y ] = [ b ]          A = M/h^2 (+ second derivatives of the energies that are no rows
 *                                                       - sum_i lambda_i d2C_i, the geometric stiffness) + shift
 *
 * thesis (3.21), (3.26), (4.18), (4.22), as one symmetric matrix, factorised by linear/factor/ldl.h.
 *
 * Order (elimination_order.h): hard rows follow all of their particles, so that something stands on their diagonal when they
 * are eliminated. The matrix is scaled to a diagonal of size one, particles by A, rows by J
 * diag(A)^-1 J^T + alpha, so that one number tells a pivot that is none: a hard row of which less than about 3e-6 (the
 * square root of the floor) points in a direction of its own is redundant, and is left out. Where small pivots leave
 * that in doubt rows get a second look (rank_check.h).
 *
 * Rows that are switched off (inequalities that do not act) stay in the pattern as -1 on the diagonal.
 */
#ifndef SINEW_SRC_SOLVE_KKT_SADDLE_SYSTEM_H
#define SINEW_SRC_SOLVE_KKT_SADDLE_SYSTEM_H

#include "linear/factor/ldl.h"
#include "objective/assembly.h"
#include "objective/constraints.h"

/* Parts that A may hold besides M/h^2 and the second derivatives of the energies that are no rows. */
enum {
    SINEW_SADDLE_CURVED = 1 << 0, /* geometric stiffness too */
    SINEW_SADDLE_MASSES = 1 << 1, /* M/h^2: no matrix has `hessian` */
    SINEW_SADDLE_TAUT = 1 << 2    /* geometric stiffness of hard edges alone */
};

typedef struct sinew_saddle {
    sinew_allocator allocator;
    sinew_objective *rest;         /* borrowed: inertia and the energies that are no rows */
    const sinew_constraints *rows; /* borrowed */
    sinew_assembly *assembly;      /* of rest */
    bool curved;                   /* the pattern has room for second derivatives of some rows */
    int32_t free_count, count;     /* particles; unknowns in all */
    int32_t *particle_place;       /* [free_count] where the three unknowns of each begin */
    int32_t *row_place;            /* [row_count] */
    uint8_t *early;                /* [row_count] rows that come before their particles */
    size_t *column;                /* [count + 1] upper triangle */
    int32_t *row;
    double *values;                            /* as filled */
    double *scaled;                            /* as factorised */
    double *hessian;                           /* [9 * blocks] of the assembly */
    int32_t *hessian_at;                       /* [9 * blocks] where each number goes; -1: its mirror image does */
    int32_t *jacobian_at;                      /* as rows->J; -1 at pins */
    int32_t *alpha_at;                         /* as rows->alpha; -1: mirror image */
    int32_t *block_at;                         /* as rows->blocks */
    double *scale, *floors, *right, *solution; /* [count] */
    uint8_t *is_row;                           /* [count] 1 where an unknown is a multiplier */
    int32_t *doubtful;                         /* [SINEW_SADDLE_DOUBTS] of rank_check.h */
    double *left;                              /* [SINEW_SADDLE_DOUBTS][SINEW_SADDLE_DOUBTS] of rank_check.h */
    sinew_ldl *ldl;
    sinew_pivots inertia; /* of the last factorisation */
    double doubt;         /* pivots of hard rows up to this are none, too: round-off of small ones before them */
    double mean;          /* mean diagonal of A, of the last fill */
    double trace_norm;    /* of its particles' traces */
} sinew_saddle;

/* Which matrix. */
typedef struct sinew_saddle_fill {
    const sinew_real *q;   /* [particle][4] where second derivatives are of */
    bool hessian;          /* with those of the energies; else M/h^2 alone */
    bool project;          /* made definite element by element */
    bool curvature;        /* less rows->blocks, which are known */
    const uint8_t *active; /* [row_count] 0: the row is switched off; NULL: all are on */
} sinew_saddle_fill;

/* kind: SINEW_SADDLE_ bits. Allocates; NULL on failure. The rows have been evaluated once: which of them
 * are compliant matters. */
sinew_saddle *sinew_saddle_create(sinew_objective *rest, const sinew_constraints *rows, uint32_t kind,
                                  sinew_error *error);
void sinew_saddle_destroy(sinew_saddle *saddle); /* NULL is fine */

/* The matrix at hand: J and alpha as the rows have them. */
void sinew_saddle_assemble(sinew_saddle *saddle, const sinew_saddle_fill *fill);
/* Factors of it, with `shift` times the mean diagonal of A added to A. False where A, as far as it acts within the
 * constraints, is not positive definite, or where numbers fail. */
bool sinew_saddle_factorise(sinew_saddle *saddle, double shift);
/* Whether a row was found redundant. */
bool sinew_saddle_dropped(const sinew_saddle *saddle, int32_t row);
/* dq [free_count][3] and y [row_count] of a [free_count][3] and b [row_count]; the assembly numbers particles. y is
 * zero in rows that were dropped or switched off. Returns the relative residual. */
double sinew_saddle_solve(sinew_saddle *saddle, const double *a, const double *b, double *dq, double *y);

#endif
