/* SPDX-License-Identifier: MIT
 *
 * sap.c: step and project (SAP, Goldenthal et al. 2007; with compliance as in XPBD).
 *
 * First, a linearly implicit step of the other energies gives the start; without such energies this is q_tilde. Then
 * all constraints are projected together, linearised at the last iterate, in the metric of the masses:
 *
 *     (h^2 J M^-1 J^T + alpha) dlambda = -(C + alpha lambda),   dq = h^2 M^-1 J^T dlambda,   lambda += dlambda
 *
 * lambda is in newtons. Each iteration solves one saddle-point system (saddle_system.h), until |C + alpha lambda| is at
 * the tolerance. Particles move by the increment dlambda, not by the total lambda. A Gauss-Seidel sweep over this
 * system, with each constraint linearised again, is one iteration of PBD, or with compliance of XPBD: sap is XPBD
 * solved globally.
 *
 * After the first iteration the metric includes the geometric stiffness of hard edges under tension
 * (geometric_stiffness.c), with the current multipliers. Without it (`geometric` = off, the published method) a fine
 * cloth pinned at two corners does not converge, because the edges between the corners are nearly straight.
 *
 * Known limits: constraints are met, but forces J^T lambda have the directions of earlier iterates, so that grad g -
 * J^T lambda is not zero. Geometric stiffness corrects the directions to first order only. The result differs from that
 * of primal-dual at first order in the curvature of C; a step with curved hard constraints reports not_converged. The
 * projection follows the step of the other energies and is not coupled with it.
 */
#include <math.h>
#include <string.h>

#include "solve/kkt/kkt_common.h"

enum {
    CONSTRAINTS,
    GEOMETRIC,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [CONSTRAINTS] = SINEW_CONSTRAIN_PARAMETER,
    [GEOMETRIC] = SINEW_GEOMETRIC_PARAMETER(
        "on|off", 1, "geometric stiffness of hard edges under tension in the metric; off: masses alone, as published"),
};

typedef struct sap {
    double force; /* norm of the unbalanced force at the start of the step, in N */
    bool tension; /* true: multipliers are known, so the metric includes geometric stiffness */
    /* empty set, for the linear system of the other energies; NULL if there are none */
    sinew_constraints *no_constraints;
    sinew_saddle *rest;
} sap;

static bool is_no_constraint(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return false;
}

/* Prepares step and project. The matrix of the projection has masses alone, so the other energies need a separate
 * linear system. */
static sinew_status sap_prepare(sinew_solve *s, sinew_error *error)
{
    const uint32_t kind =
        SINEW_SADDLE_MASSES | (s->def.parameters[GEOMETRIC] == SINEW_GEOMETRIC_ON ? SINEW_SADDLE_TENSION_STIFFNESS : 0);
    const sinew_status status = sinew_kkt_prepare(s, (int)s->def.parameters[CONSTRAINTS], kind, sizeof(sap), error);
    sinew_kkt *r = s->memory;
    if (status != SINEW_OK || r->rest.task_count == 0)
        return status;
    sap *p = r->own;
    p->no_constraints = sinew_constraints_create(s->objective, is_no_constraint, NULL, NULL, error);
    p->rest = p->no_constraints ? sinew_saddle_create(&r->rest, p->no_constraints, 0, error) : NULL;
    return p->rest ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

static void sap_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    if (r && r->own) {
        sinew_saddle_destroy(((sap *)r->own)->rest);
        sinew_constraints_destroy(((sap *)r->own)->no_constraints);
    }
    sinew_kkt_release(s);
}

static bool is_met(const sinew_solve *s, const sinew_kkt *r)
{
    return s->def.tolerance > 0 && sinew_kkt_violation(r, false) <= (double)s->def.tolerance;
}

/* Moves s->q from q_n by one Newton step of the other energies, H dq = -grad g. If H is not definite, s->q stays and
 * the step is marked indefinite. */
static void step_rest(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_saddle *rest = ((sap *)r->own)->rest;
    sinew_saddle_assemble(rest, &(sinew_saddle_fill){.q = s->q, .hessian = true, .project = true});
    if (!sinew_saddle_factorise(rest, 0)) {
        s->warnings |= SINEW_STEP_INDEFINITE;
        return;
    }
    sinew_saddle_solve(rest, r->particle_rhs, r->right, r->move, r->change);
    sinew_kkt_move(s, 1, s->q);
}

/* Evaluates the constraints at the iterate s->q and chooses the active ones; forces of released constraints are removed
 * through particle_rhs. Sets s->converged if the constraints hold. */
static void sap_evaluate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    memset(r->particle_rhs, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->particle_rhs);
    sinew_kkt_evaluate(r, s->q);
    sinew_kkt_choose_active(r, ((sap *)r->own)->force, r->particle_rhs);
    s->converged = is_met(s, r);
}

static void sap_begin(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    double sum = 0;
    sinew_kkt_begin(s);
    sinew_kkt_gather(s, s->q, false);
    for (int32_t k = 0; k < 3 * r->saddle->free_count; k++)
        sum += r->particle_rhs[k] * r->particle_rhs[k];
    ((sap *)r->own)->force = sqrt(sum);
    ((sap *)r->own)->tension = false;
    if (r->rest.task_count > 0)
        step_rest(s);
    else
        sinew_solve_start(s, 0);
    s->gradient_known = false;
    sap_evaluate(s);
}

/* Factorises the matrix of the projection; with masses alone if the geometric stiffness of rigid bodies is
 * indefinite. */
static bool sap_factorise(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_saddle_fill fill = {.q = s->q, .curvature = ((sap *)r->own)->tension, .active = r->active};
    if (fill.curvature) {
        sinew_kkt_curve(r, s->q, true);
        sinew_saddle_assemble(r->saddle, &fill);
        if (sinew_saddle_factorise(r->saddle, 0))
            return true;
    }
    fill.curvature = false;
    sinew_saddle_assemble(r->saddle, &fill);
    return sinew_saddle_factorise(r->saddle, 0);
}

static uint32_t sap_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_kkt_gather_constraints(r);
    if (!sap_factorise(s))
        return SINEW_STEP_STALLED;
    sinew_kkt_mark_redundant(r);
    sinew_saddle_solve(r->saddle, r->particle_rhs, r->right, r->move, r->change);
    sinew_kkt_move(s, 1, s->q);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->lambda[constraint] += r->change[constraint];
    ((sap *)r->own)->tension = r->saddle->curved;
    s->linear_iterations++;
    s->gradient_known = false;
    sap_evaluate(s);
    return 0;
}

const sinew_solver_ops sinew_solver_sap = {
    .info = {.name = "sap",
             .summary = "step and project: all constraints as one system, linearised again; compliant: XPBD globally",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 30,
             .needs = 0},
    SINEW_KKT_OPS,
    .prepare = sap_prepare,
    .release = sap_release,
    .work = {.gradients = 11},
    .begin = sap_begin,
    .iterate = sap_iterate,
};
