/* SPDX-License-Identifier: MIT
 *
 * kkt_common.h: common code of solvers that solve all constraints as one system (sap, primal-dual, kkt, scd, dae).
 *
 * Energies form three groups. Constraints: energies with a Jacobian that the parameter `constraints` selects (all, or
 * the hard ones), and all global constraints. `rest`: the objective of inertia and all other energies. `soft`: the
 * objective of inertia and all energies that are not hard; it is the error objective of a step. Contacts are energies
 * of both objectives (docs/reference/contact.md); only solvers with SINEW_KKT_CONTACT_REFRESHES support contact.
 *
 *     min g_soft(q)  subject to  C(q) = 0 of the hard constraints (>= 0 of inequalities)
 *     grad g_soft = J^T lambda,   C = 0        (inequalities: lambda >= 0, C >= 0, lambda C = 0)
 *
 * A compliant constraint and its energy are equivalent, so without hard energies the conditions are grad g = 0.
 *
 * Natural scales. A constraint is met if |C| <= tolerance |J| l, with |J| the norm of its gradient over the free
 * particles and l the diagonal of the rest shape's box (|C| <= tolerance if it has no gradient). Forces balance if
 * |grad g_soft - J^T lambda| <= tolerance max(|grad g_soft(q_n)|, f), or its round-off, with f = (sum_i |J_i|^2
 * lambda_i^2)^1/2 the norm of the forces of single constraints. Nearly dependent constraints have large multipliers of
 * opposite sign; only the sum of their forces is well determined.
 */
#ifndef SINEW_SRC_SOLVE_KKT_KKT_COMMON_H
#define SINEW_SRC_SOLVE_KKT_KKT_COMMON_H

#include "solve/kkt/saddle_system.h"
#include "solve/solver.h"

/* Values of the parameter `constraints`: which energies with a Jacobian become constraints. */
enum {
    SINEW_CONSTRAIN_ALL,
    SINEW_CONSTRAIN_HARD
};

/* Option bit of sinew_kkt_prepare(), besides SINEW_SADDLE_ bits: second derivatives of constraints are available, but
 * not part of the matrix. */
#define SINEW_CONSTRAIN_CURVED (UINT32_C(1) << 16)

/* Descriptor of the solver parameter `constraints`. By default only hard energies are constraints: soft energies have a
 * Hessian, which gives the same minimum with a matrix no larger than Newton's. With `all` the matrix has one row or
 * more for every element; a tet mesh has four to five times as many tets as vertices. */
#define SINEW_CONSTRAIN_PARAMETER                                                                                      \
    {                                                                                                                  \
        .name = "constraints", .unit = "", .choices = "all|hard", .maximum = 1, .preset = SINEW_CONSTRAIN_HARD,        \
        .meaning =                                                                                                     \
            "which energies become constraints: all with a Jacobian, by their compliance, or only those kept hard"     \
    }

/* Values of the parameter `geometric`: geometric stiffness of hard edges on, off, or exact (also under compression). */
enum {
    SINEW_GEOMETRIC_ON,
    SINEW_GEOMETRIC_OFF,
    SINEW_GEOMETRIC_EXACT
};
#define SINEW_GEOMETRIC_PARAMETER(words, max, text)                                                                    \
    {                                                                                                                  \
        .name = "geometric", .unit = "", .choices = words, .maximum = max, .preset = SINEW_GEOMETRIC_ON,               \
        .meaning = text                                                                                                \
    }

typedef struct sinew_kkt {
    sinew_objective rest, soft;
    int which; /* SINEW_CONSTRAIN_ALL or SINEW_CONSTRAIN_HARD */
    /* true: rest and soft have the same energies, so `soft` is not built, and `rest` takes its place */
    bool soft_is_rest;
    sinew_constraints *constraints;
    sinew_saddle *plain;  /* system without contacts */
    sinew_saddle *saddle; /* system with the present contacts; it may be `plain` */
    double size;          /* diagonal of the bounding box of the rest shape, in m */
    double *lambda;       /* [constraint_count] multipliers; N if C is a length */
    double *change;       /* [constraint_count] change of lambda in one iteration; N if C is a length */
    double *right;        /* [constraint_count] right-hand sides of the constraint rows */
    double *comply;       /* [constraint_count] alpha lambda (compliance times multiplier) at the last evaluation */
    double *norm;         /* [constraint_count] |J_i|, norm of the gradient of each constraint */
    /* [constraint_count] constraint values C(q_n, t_n) at the start of the step, if a hard constraint is driven */
    double *start;
    bool driven;                 /* true: some hard constraints depend on time explicitly (motors, moving targets) */
    uint8_t *active;             /* [constraint_count] 1: equality or active inequality; 0: inactive inequality */
    uint8_t *redundant;          /* [constraint_count] 1: the last factorisation dropped the constraint as redundant */
    double *force;               /* [particle_count][3] constraint forces J^T lambda (Jacobian J), in N */
    double *particle_rhs, *move; /* [free_count][3] right-hand side of the particle rows, N; displacements dq, m */
    sinew_real *gradient;        /* [particle_count][4] gradient of the objective `rest`, N; also work space */
    int32_t redundant_count;
    void *own; /* data of the particular KKT solver (kkt, sap, ...), in one allocation */
} sinew_kkt;

/* Builds constraints, objectives and system into s->memory. which: SINEW_CONSTRAIN_ALL or SINEW_CONSTRAIN_HARD; kind:
 * SINEW_SADDLE_ bits and SINEW_CONSTRAIN_CURVED; own_size: number of zeroed bytes that `own` gets. Sets
 * s->error_objective and s->has_hard. */
sinew_status sinew_kkt_prepare(sinew_solve *s, int which, uint32_t kind, size_t own_size, sinew_error *error);
void sinew_kkt_release(sinew_solve *s);
/* Passes the contacts that changed within a step to the objectives and the linear system. */
sinew_status sinew_kkt_refresh(sinew_solve *s, uint32_t changed, sinew_error *error);
extern const sinew_kkt_residual_table sinew_kkt_residual_ops;
bool sinew_kkt_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);

/* Changes of the world after which KKT solvers need no new preparation. Changes of pins and of fixed or transient
 * elements need one. */
#define SINEW_KKT_REFRESHES (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP)
/* Changes after which KKT solvers that take contacts need no new preparation: also changes of contacts within a
 * step. Other transient elements need a preparation. */
#define SINEW_KKT_CONTACT_REFRESHES (SINEW_KKT_REFRESHES | SINEW_CHANGED_IN_STEP)

/* Solver operations that all KKT solvers share. */
#define SINEW_KKT_OPS .hard = SINEW_CAN_JACOBIAN, .kkt = &sinew_kkt_residual_ops, .multipliers = sinew_kkt_multipliers

/* Smallest and largest diagonal shift that makes the matrix definite within the constraints, relative to its mean
 * diagonal. */
#define SINEW_SHIFT_MIN 1e-6
#define SINEW_SHIFT_MAX 1e12

/* SINEW_REDUNDANT_OPEN: largest accepted violation of a redundant constraint, in its natural scale: constraints that
 * depend on each other at C = 0 may depend on each other only approximately at the iterate. SINEW_CONTRADICTION:
 * redundant constraints with a larger violation contradict the others. */
#define SINEW_REDUNDANT_OPEN 1e-9
#define SINEW_CONTRADICTION  1e-8

/* Evaluates values C, Jacobian J and compliances alpha of the constraints at q, the norms |J_i| (r->norm) and alpha
 * lambda (r->comply). */
void sinew_kkt_evaluate(sinew_kkt *r, const sinew_real *q);
/* values [constraint_count] = C(q, t_n + steps h): the constraint values with the targets of another time than the
 * end of the step. Leaves the targets at the end of the step, and values, Jacobian and compliances those of q with
 * the other targets. */
void sinew_kkt_values_at(sinew_solve *s, const sinew_real *q, double steps, double *values);
/* Marks the active inequalities, by the multiplier lambda and C + alpha lambda in their natural scales; force (N) is
 * the scale of lambda. Inactive inequalities get lambda = 0; their forces are removed from particle_rhs unless it is
 * NULL. Overwrites `change` and `force`. */
void sinew_kkt_choose_active(sinew_kkt *r, double force, double *particle_rhs);
/* Right-hand side of the particle rows: r->particle_rhs = -(grad g_rest) at q, plus the constraint forces J^T lambda
 * if `lambda`, over the free particles. */
void sinew_kkt_gather(sinew_solve *s, const sinew_real *q, bool lambda);
/* Right-hand side of the constraint rows: r->right = -(C + alpha lambda), with the values C, compliances alpha and
 * multipliers lambda; zero for inactive constraints. */
void sinew_kkt_gather_constraints(sinew_kkt *r);
/* Moves the free particles: q [particle_count][4] += scale * r->move. */
void sinew_kkt_move(const sinew_solve *s, double scale, sinew_real *q);
/* Largest |C + alpha lambda| of active constraints, in the natural scale; `all`: redundant constraints included. */
double sinew_kkt_violation(const sinew_kkt *r, bool all);
/* Marks in r->redundant the constraints that the last factorisation dropped, and counts them. */
void sinew_kkt_mark_redundant(sinew_kkt *r);
/* Tolerance of constraints in their natural scale: the def's tolerance, or the default if that is 0. */
double sinew_kkt_tolerance(const sinew_solve *s);
/* f = (sum_i |J_i|^2 lambda_i^2)^1/2, norm of the forces of single constraints, in N */
double sinew_kkt_force(const sinew_kkt *r);

/* Minus the geometric stiffness: constraints->blocks = sum_i lambda_i d2C_i at q. `definite`: edges under compression
 * are left out (geometric_stiffness.c). */
void sinew_kkt_second_derivatives(sinew_kkt *r, const sinew_real *q, bool definite);

/* For solvers with one system per step: sets multipliers to zero and marks no constraint redundant. */
void sinew_kkt_begin(sinew_solve *s);
/* Marks equalities as active, and the inequalities that the unconstrained motion to q_tilde would violate to first
 * order. Overwrites `change` and `gradient`. */
void sinew_kkt_predict_active(sinew_solve *s);
/* Solves the system of `fill` for particle_rhs and right, and accepts the solution. The matrix is shifted until it is
 * definite within the constraints, with a warning. Returns SINEW_STEP_ bits. */
uint32_t sinew_kkt_step(sinew_solve *s, const sinew_saddle_fill *fill);
/* Applies the solution of the linear system: s->q += move, lambda += change; marks the step as converged. */
void sinew_kkt_accept(sinew_solve *s);
/* Appends `text` to s->constraint_message. */
void sinew_kkt_add_message(sinew_solve *s, const char *text);

/* Appends to s->constraint_message the redundant constraints, by energy and element. If one is violated above the
 * tolerance (natural scale), names a minimal contradictory set instead and returns true. Constraints must have been
 * evaluated at s->q (name_dependent.c). */
bool sinew_kkt_describe(sinew_solve *s, double tolerance);

#endif
