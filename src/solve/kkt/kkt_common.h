/* SPDX-License-Identifier: MIT
 *
 * kkt_common.h: what all solvers share that meet constraints as one system (sap, primal-dual, kkt, scd, dae).
 *
 * Energies are split in three. Rows: those with a Jacobian that the parameter `rows` chooses (all of them, or the hard
 * ones); `rest`: the objective of inertia and the energies that are no rows; `soft`: that of inertia and all energies
 * that are not hard, which is what a step is judged by:
 *
 *     min g_soft(q)  subject to  C(q) = 0 of the hard rows (>= 0 of inequalities)
 *     grad g_soft = J^T lambda,   C = 0        (inequalities: lambda >= 0, C >= 0, lambda C = 0)
 *
 * A compliant row and its energy say the same, so for worlds without hard energies that is grad g = 0.
 *
 * Natural scales. A row is met where |C| <= tolerance |J| l, |J| the norm of its gradient over the free particles and l
 * the diagonal of the rest shape's box (C itself <= tolerance where it has no gradient). Forces balance where
 * |grad g_soft - J^T lambda| <= tolerance max(|grad g_soft(q_n)|, f), or its round-off, f = (sum_i |J_i|^2
 * lambda_i^2)^1/2 the norm of what single rows pull with: where rows nearly say the same they pull against each other,
 * and only their sum is known.
 */
#ifndef SINEW_SRC_SOLVE_KKT_KKT_COMMON_H
#define SINEW_SRC_SOLVE_KKT_KKT_COMMON_H

#include "solve/kkt/saddle_system.h"
#include "solve/solver.h"

enum {
    SINEW_ROWS_ALL,
    SINEW_ROWS_HARD
};

/* Beside the SINEW_SADDLE_ bits: rows with second derivatives that the matrix has no room for. */
#define SINEW_ROWS_CURVED (UINT32_C(1) << 16)

/* Descriptor of `rows`. Only energies that the user calls hard are rows unless asked otherwise: what is soft has a
 * Hessian, with which the minimum is the same and the matrix no larger than Newton's. With `all` the matrix has a row
 * or more for every element beside the particles; a tet mesh has four to five times as many tets as vertices. */
#define SINEW_ROWS_PARAMETER                                                                                           \
    {                                                                                                                  \
        .name = "rows", .unit = "", .choices = "all|hard", .maximum = 1, .preset = SINEW_ROWS_HARD,                    \
        .meaning = "which energies become rows: all with a Jacobian, by their compliance, or only those kept hard"     \
    }

typedef struct sinew_row_solve {
    sinew_objective rest, soft;
    bool soft_is_rest; /* no compliant rows: `soft` is not built */
    sinew_constraints *rows;
    sinew_saddle *saddle;
    double size;          /* m: diagonal of the rest shape's box */
    double *lambda;       /* [row_count] */
    double *change;       /* [row_count] of lambda */
    double *right;        /* [row_count] */
    double *comply;       /* [row_count] alpha lambda */
    double *norm;         /* [row_count] |J_i| */
    uint8_t *active;      /* [row_count] */
    uint8_t *redundant;   /* [row_count] as the last factorisation said */
    double *force;        /* [particle_count][3] J^T lambda */
    double *pull, *move;  /* [free_count][3] right-hand side of particles, and dq */
    sinew_real *gradient; /* [particle_count][4] of rest */
    int32_t redundant_count;
    void *own; /* the solver's own, one block */
} sinew_row_solve;

/* Builds rows, objectives and system into s->memory; kind: SINEW_SADDLE_ bits and SINEW_ROWS_CURVED. `own_size` bytes,
 * zeroed, for the solver. Sets s->judged and s->conditioned. */
sinew_status sinew_row_solve_prepare(sinew_solve *s, int which, uint32_t kind, size_t own_size, sinew_error *error);
void sinew_row_solve_release(sinew_solve *s);
extern const sinew_condition_ops sinew_row_conditions;
bool sinew_row_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);

/* What a change needs: elements and transient elements make the solver anew. */
#define SINEW_ROW_REFRESHES (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP)

/* The slots in which they do not differ. */
#define SINEW_ROW_OPS                                                                                                  \
    .hard = SINEW_CAN_JACOBIAN, .conditions = &sinew_row_conditions, .refreshes = SINEW_ROW_REFRESHES,                 \
    .multipliers = sinew_row_multipliers

/* Shifts of the matrix where it is not definite within the constraints, in units of its mean diagonal. */
#define SINEW_SHIFT_MIN 1e-6
#define SINEW_SHIFT_MAX 1e12

/* How far a row that was left out as redundant may be open, in its natural scale: rows that depend on each other only
 * where they hold do so to first order, and what is left is of the size of the pivot that counts as none. Rows that are
 * open by more than the second number exclude each other. */
#define SINEW_REDUNDANT_OPEN 1e-9
#define SINEW_CONTRADICTION  1e-8

/* For solvers: rows at q, with |J_i| and alpha lambda. */
void sinew_row_evaluate(sinew_row_solve *r, const sinew_real *q);
/* Which inequalities act: lambda pushes, or C + alpha lambda < 0, each in its natural scale; force: N. Others lose
 * their lambda; what they pushed with is taken out of `pull` where that is not NULL. */
void sinew_row_choose_active(sinew_row_solve *r, double force, double *pull);
/* pull = -(grad g_rest) at q (+ J^T lambda where `lambda`), over the free particles */
void sinew_row_gather(sinew_solve *s, const sinew_real *q, bool lambda);
/* right = -(C + alpha lambda), zero in rows that do not act */
void sinew_row_gather_rows(sinew_row_solve *r);
/* q += scale move */
void sinew_row_move(const sinew_solve *s, double scale, sinew_real *q);
/* Largest (C + alpha lambda) of rows that act, and of dropped ones where `all`, in its natural scale. */
double sinew_row_open(const sinew_row_solve *r, bool all);
/* Notes which rows the last factorisation dropped. */
void sinew_row_note_redundant(sinew_row_solve *r);
double sinew_row_tolerance(const sinew_solve *s);
double sinew_row_force(const sinew_row_solve *r); /* N: the norm of what single rows pull with */

/* Second derivatives of the rows times lambda, at q. `definite`: edges under compression leave theirs out
 * (geometric_stiffness.c). */
void sinew_row_curve(sinew_row_solve *r, const sinew_real *q, bool definite);

/* Of solvers with one system a step. A step begins: no multipliers, nothing redundant. */
void sinew_row_begin(sinew_solve *s);
/* Which inequalities act: where the motion without constraints, to q_tilde, would violate them to first order. Uses
 * `change` and `gradient`. */
void sinew_row_predict_active(sinew_solve *s);
/* Solves the system of `fill` for pull and right, shifted until it is definite within the constraints (the step then
 * says so), and accepts. Returns SINEW_STEP_ bits. */
uint32_t sinew_row_step(sinew_solve *s, const sinew_saddle_fill *fill);
/* q += move, lambda += change; the step is done. */
void sinew_row_accept(sinew_solve *s);
/* Adds to s->note. */
void sinew_row_say(sinew_solve *s, const char *text);

/* Writes s->note: redundant rows by energy and element, and where some are violated the smallest set that they depend
 * on; true then: they contradict each other. Rows are evaluated at s->q (name_dependent.c). */
bool sinew_row_describe(sinew_solve *s, double tolerance);

#endif
