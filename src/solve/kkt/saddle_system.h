/* SPDX-License-Identifier: MIT
 *
 * saddle_system.h: the linear system of constraints and particles,
 *
 *     [ A   J^T   ] [  dq ]   [ a ]
 *     [ J  -alpha ] [  -y ] = [ b ]          A = M/h^2 (+ second derivatives of the other energies
 *                                                       - sum_i lambda_i d2C_i, the geometric stiffness) + shift
 *
 * thesis (3.21), (3.26), (4.18), (4.22), as one symmetric matrix, factorised by linear/factor/ldl.h.
 *
 * Order (elimination_order.h): hard constraints follow all of their particles, so that their diagonal is not zero when
 * they are eliminated. The matrix is scaled to a diagonal of size one, particles by A, constraints by J diag(A)^-1 J^T
 * + alpha, so that the same floor detects all zero pivots. A hard constraint whose independent component is below about
 * 3e-6 (the square root of the floor; 3e-5 in single precision) is redundant and dropped. A rank check decides about
 * uncertain small pivots (rank_check.h). Large sets of more hard constraints than coordinates are eliminated before
 * their particles (overdetermined.h).
 *
 * Inactive inequalities stay in the pattern with -1 on the diagonal.
 */
#ifndef SINEW_SRC_SOLVE_KKT_SADDLE_SYSTEM_H
#define SINEW_SRC_SOLVE_KKT_SADDLE_SYSTEM_H

#include "linear/factor/ldl.h"
#include "objective/assembly.h"
#include "objective/constraints.h"

/* Kinds of the block A; without bits A is M/h^2 plus second derivatives of the other energies. */
enum {
    SINEW_SADDLE_CURVED =
        1 << 0, /* the block A also includes geometric stiffness (second derivatives of constraints) */
    /* the particle block A is M/h^2 alone (masses); callers set `hessian` in sinew_saddle_fill only after
     * sinew_saddle_take_contacts() */
    SINEW_SADDLE_MASSES = 1 << 1,
    SINEW_SADDLE_TENSION_STIFFNESS = 1 << 2 /* the block A also includes geometric stiffness, but of hard edges only */
};

/* Why a multiplier is eliminated before its particles (elimination_order.h). */
enum {
    SINEW_EARLY_COMPLIANT = 1,
    SINEW_EARLY_OVERDETERMINED
};

typedef struct sinew_saddle {
    sinew_allocator allocator;
    uint32_t kind;                        /* SINEW_SADDLE_ bits */
    sinew_objective *rest;                /* objective of inertia and of energies that are not constraints; borrowed */
    const sinew_constraints *constraints; /* constraints with their Jacobian J and compliance alpha; borrowed */
    sinew_assembly *assembly;             /* sparsity pattern of the Hessian of `rest` */
    bool overdetermined; /* true: some set has more hard constraints than coordinates (overdetermined.h) */
    bool curved;         /* true: the pattern of the particle block A includes second derivatives of some constraints */
    /* number of free particles; number of unknowns, 3 per free particle and 1 per constraint */
    int32_t free_count, count;
    int32_t *particle_unknown;   /* [free_count] index of the first of the three unknowns of each particle */
    int32_t *multiplier_unknown; /* [constraint_count] index of the unknown of each multiplier */
    uint8_t *early; /* [constraint_count] SINEW_EARLY_: the multiplier is eliminated before its particles; 0: after */
    size_t *column; /* [count + 1] index of each column's first entry of the upper triangle in row and values */
    int32_t *row;
    double *values;       /* [column[count]] entries of the matrix of the last sinew_saddle_assemble */
    double *scaled;       /* [column[count]] scaled and shifted matrix that was last factorised */
    double *hessian;      /* [9 * blocks] entries of the assembled Hessian of `rest` */
    int32_t *hessian_at;  /* [9 * blocks] index in `values` of each number of `hessian`; -1: mirror image */
    int32_t *jacobian_at; /* [numbers of constraints->J] index in `values` of each; -1 at pins */
    /* [numbers of constraints->alpha] index in `values` of each; -1: the mirror image is stored */
    int32_t *alpha_at;
    int32_t *block_at; /* [numbers of constraints->blocks] index in `values` of each; -1: pin or mirror image */
    /* [count] each: scaling of the matrix; floor of each pivot (above 0 for hard constraints, below 0 for early ones, 0
     * for other unknowns); scaled right-hand side; solution */
    double *scale, *floors, *right, *solution;
    /* [count] 0: a particle's coordinate; SINEW_EARLY_OVERDETERMINED: a multiplier of an overdetermined set; 1: any
     * other multiplier */
    uint8_t *is_multiplier;
    double *least;      /* [count] work space of overdetermined.h; NULL without such sets */
    int32_t *uncertain; /* [SINEW_RANK_CHECK_MAX] uncertain constraints of the last rank check (rank_check.h) */
    double *left;       /* [SINEW_RANK_CHECK_MAX][SINEW_RANK_CHECK_MAX] dense matrix T = J_D u_D of rank_check.h */
    sinew_ldl *ldl;
    sinew_pivots inertia; /* numbers of positive, negative and dropped pivots of the last factorisation */
    double pivot_min;     /* pivots of hard constraints up to this size count as zero, if above the default floor */
    double mean;          /* mean diagonal entry of the particle block A in the last sinew_saddle_assemble */
    double trace_norm;    /* norm of the traces of all particles' diagonal 3x3 blocks of the particle block A */
} sinew_saddle;

/* Terms that sinew_saddle_assemble() adds to the matrix. */
typedef struct sinew_saddle_fill {
    const sinew_real *q; /* [particle_count][4] positions at which second derivatives are taken */
    /* true: the particle block A includes second derivatives of the energies; false: A is M/h^2 (masses),
     * which is 0 in quasistatic worlds */
    bool hessian;
    bool project;          /* true: element Hessians are projected to positive semi-definite matrices */
    bool curvature;        /* true: constraints->blocks, which must be set, are subtracted from the particle block A */
    const uint8_t *active; /* [constraint_count] 0: the constraint is inactive; NULL: all are active */
} sinew_saddle_fill;

/* Creates the saddle-point system; kind: SINEW_SADDLE_ bits. Allocates; returns NULL on failure. The constraints must
 * have been evaluated once, because the order depends on which constraints are compliant. */
sinew_saddle *sinew_saddle_create(sinew_objective *rest, const sinew_constraints *constraints, uint32_t kind,
                                  sinew_error *error);
void sinew_saddle_destroy(sinew_saddle *saddle); /* frees the saddle-point system, which may be NULL */

/* After a change of the contacts of `rest`: *in_use, which is `plain` or a system of earlier contacts, becomes a system
 * whose pattern has the present contacts. That is `plain`, the system without contacts, if its pattern contains them:
 * contacts of a vertex with a collider, and of faces whose vertices are coupled anyway. Otherwise *in_use becomes a new
 * system with its own elimination order. So the result does not depend on earlier contacts. In both, A has second
 * derivatives, also if `plain` was created with SINEW_SADDLE_MASSES. On failure *in_use is NULL or `plain`. */
sinew_status sinew_saddle_take_contacts(sinew_saddle *plain, sinew_saddle **in_use, sinew_error *error);
/* out [free_count][3] += B p, B the assembled Hessian of `rest` of the last sinew_saddle_assemble() with `hessian`,
 * inertia included; p [free_count][3]. Uses the work space of solutions. */
void sinew_saddle_add_product(sinew_saddle *saddle, const double *p, double *out);

/* Assembles the saddle-point matrix with the current J and alpha of the constraints. */
void sinew_saddle_assemble(sinew_saddle *saddle, const sinew_saddle_fill *fill);
/* Factorises the saddle-point matrix, with `shift` times the mean diagonal of A added to A. Returns false if A is not
 * positive definite within the constraints, or if numbers are not finite. */
bool sinew_saddle_factorise(sinew_saddle *saddle, double shift);
/* True if the last factorisation dropped this constraint as redundant. */
bool sinew_saddle_dropped(const sinew_saddle *saddle, int32_t constraint);
/* Solves the saddle-point system for dq [free_count][3] and y [constraint_count]; a [free_count][3] and b
 * [constraint_count] are the right-hand sides. Particles are in the order of the assembly. y is zero for dropped and
 * inactive constraints. Returns the relative residual. */
double sinew_saddle_solve(sinew_saddle *saddle, const double *a, const double *b, double *dq, double *y);

#endif
