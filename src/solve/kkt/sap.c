/* SPDX-License-Identifier: MIT
 *
 * sap.c: step and project (Goldenthal et al. 2007; slides "Step and Project"; compliant: thesis 4.22, 4.25).
 *
 * The energies that are no rows step first, once, linearly implicit; without any that is q_tilde. Then all rows at
 * once, linearised where the last iteration ended, in the metric of the masses:
 *
 *     (J M^-1 J^T + alpha / h^2) dlambda = -(C + alpha lambda),   dq = h^2 M^-1 J^T dlambda,   lambda += dlambda
 *
 * lambda in newtons; solved as one saddle point (saddle_system.h), until |C + alpha lambda| is at the tolerance. What moves is
 * the increment: with the total every iteration would be a time step of its own. A Gauss-Seidel sweep over this system,
 * each row linearised anew, is one iteration of PBD, with compliance of XPBD: this is XPBD solved globally.
 *
 * The metric has the geometric stiffness of hard edges under tension too (geometric_stiffness.c), of the multipliers so far, where
 * it counts: after the first iteration, which is that of the masses alone. Without it (`geometric` = off: the published
 * method) a fine cloth that is held by two corners is not met: the edges between them are nearly straight.
 *
 * Known limits: rows are met, but forces J^T lambda have the directions of the iterates that they were found at, so
 * that grad g - J^T lambda is left over; geometric stiffness turns them along, to first order, but what is left is not
 * corrected. The result differs from primal-dual's at first order in the curvature of C; a step with curved hard rows
 * says not_converged. The projection comes after the other energies and not with them: it is a filter.
 */
#include <math.h>
#include <string.h>

#include "solve/kkt/kkt_common.h"

enum {
    ROWS,
    GEOMETRIC,
    PARAMETER_COUNT
};

enum {
    GEOMETRIC_ON,
    GEOMETRIC_OFF
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [ROWS] = SINEW_ROWS_PARAMETER,
    [GEOMETRIC] = {.name = "geometric",
                   .unit = "",
                   .choices = "on|off",
                   .maximum = 1,
                   .preset = GEOMETRIC_ON,
                   .meaning = "geometric stiffness of hard edges under tension in the metric; off: masses alone, as "
                              "published"},
};

typedef struct sap {
    double force;               /* N: natural size of forces in this step */
    bool taut;                  /* there are multipliers, and rows whose stiffness counts */
    sinew_constraints *no_rows; /* of the system of the energies that are no rows; NULL: there are none */
    sinew_saddle *rest;
} sap;

static bool is_no_row(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return false;
}

/* The projection's matrix has the masses alone: what the other energies need is a system of its own. */
static sinew_status sap_prepare(sinew_solve *s, sinew_error *error)
{
    const uint32_t kind = SINEW_SADDLE_MASSES | (s->def.parameters[GEOMETRIC] == GEOMETRIC_ON ? SINEW_SADDLE_TAUT : 0);
    const sinew_status status = sinew_row_solve_prepare(s, (int)s->def.parameters[ROWS], kind, sizeof(sap), error);
    sinew_row_solve *r = s->memory;
    if (status != SINEW_OK || r->rest.task_count == 0)
        return status;
    sap *p = r->own;
    p->no_rows = sinew_constraints_create(s->objective, is_no_row, NULL, NULL, error);
    p->rest = p->no_rows ? sinew_saddle_create(&r->rest, p->no_rows, 0, error) : NULL;
    return p->rest ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

static void sap_release(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    if (r && r->own) {
        sinew_saddle_destroy(((sap *)r->own)->rest);
        sinew_constraints_destroy(((sap *)r->own)->no_rows);
    }
    sinew_row_solve_release(s);
}

static bool is_met(const sinew_solve *s, const sinew_row_solve *r)
{
    return s->def.tolerance > 0 && sinew_row_open(r, false) <= (double)s->def.tolerance;
}

/* One step of the energies that are no rows, from q_n: H dq = -grad g. */
static void step_rest(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    sinew_saddle *rest = ((sap *)r->own)->rest;
    sinew_saddle_assemble(rest, &(sinew_saddle_fill){.q = s->q, .hessian = true, .project = true});
    if (!sinew_saddle_factorise(rest, 0)) {
        s->notes |= SINEW_STEP_INDEFINITE;
        return;
    }
    sinew_saddle_solve(rest, r->pull, r->right, r->move, r->change);
    sinew_row_move(s, 1, s->q);
}

/* Rows where the iterate is, and which of them act; what others pushed with goes into pull. */
static void look(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    memset(r->pull, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->pull);
    sinew_row_evaluate(r, s->q);
    sinew_row_choose_active(r, ((sap *)r->own)->force, r->pull);
    s->done = is_met(s, r);
}

static void sap_begin(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    double sum = 0;
    sinew_row_begin(s);
    sinew_row_gather(s, s->q, false);
    for (int32_t k = 0; k < 3 * r->saddle->free_count; k++)
        sum += r->pull[k] * r->pull[k];
    ((sap *)r->own)->force = sqrt(sum);
    ((sap *)r->own)->taut = false;
    if (r->rest.task_count > 0)
        step_rest(s);
    else
        sinew_solve_start(s, 0);
    s->gradient_known = false;
    look(s);
}

/* Factors of the projection; with the masses alone where rigid bodies make their stiffness indefinite. */
static bool factorise(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    sinew_saddle_fill fill = {.q = s->q, .curvature = ((sap *)r->own)->taut, .active = r->active};
    if (fill.curvature) {
        sinew_row_curve(r, s->q, true);
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
    sinew_row_solve *r = s->memory;
    sinew_row_gather_rows(r);
    if (!factorise(s))
        return SINEW_STEP_STALLED;
    sinew_row_note_redundant(r);
    sinew_saddle_solve(r->saddle, r->pull, r->right, r->move, r->change);
    sinew_row_move(s, 1, s->q);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->lambda[row] += r->change[row];
    ((sap *)r->own)->taut = r->saddle->curved;
    s->linear_iterations++;
    s->gradient_known = false;
    look(s);
    return 0;
}

const sinew_solver_ops sinew_solver_sap = {
    .info = {.name = "sap",
             .summary = "step and project: all constraints as one system, linearised anew; compliant: XPBD globally",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 30,
             .needs = 0},
    SINEW_ROW_OPS,
    .prepare = sap_prepare,
    .release = sap_release,
    .begin = sap_begin,
    .iterate = sap_iterate,
};
