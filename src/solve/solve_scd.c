/* SPDX-License-Identifier: MIT
 *
 * solve_scd.c: stable constrained dynamics (Tournier, Nesme, Gilles, Faure 2015; slides "Geometric Stiffness"): one
 * Newton step of implicit Euler with constraints, from q_n and the multipliers of the last step.
 *
 *     [ M/h^2 + H - sum_i lambda_n,i d2C_i   J^T   ] [  dq       ]   [ M/h^2 (q_tilde - q_n) - grad psi ]
 *     [ J                                   -alpha ] [ -lambda   ] = [ -C                               ]
 *
 * The sum is the geometric stiffness: how the directions of constraint forces turn as particles move. Without it
 * (`geometric` = off) a rope under tension has nothing against moving across itself, and large steps blow up.
 *
 * The multipliers are part of the state: a world that loads a state goes on with the same bits.
 *
 * Known limits: under compression the geometric stiffness is negative; where the matrix is then not definite within the
 * constraints, a multiple of the identity is added and the step says indefinite. Inequalities as in kkt.
 */
#include <string.h>

#include "solve/row_solve.h"

enum {
    ROWS,
    GEOMETRIC,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [ROWS] = SINEW_ROWS_PARAMETER,
    [GEOMETRIC] = {.name = "geometric",
                   .unit = "",
                   .choices = "on|off",
                   .maximum = 1,
                   .preset = 0,
                   .meaning = "geometric stiffness, from the multipliers of the last step"},
};

static sinew_status scd_prepare(sinew_solve *s, sinew_error *error)
{
    return sinew_row_solve_prepare(s, (int)s->def.parameters[ROWS], s->def.parameters[GEOMETRIC] == 0, 0, error);
}

/* lambda stays: it is the last step's. */
static void scd_begin(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    memset(r->redundant, 0, (size_t)r->rows->row_count);
    r->redundant_count = 0;
}

static uint32_t scd_iterate(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const bool curved = s->def.parameters[GEOMETRIC] == 0 && r->rows->row_count > 0;
    const sinew_saddle_fill fill = {
        .q = s->q, .hessian = true, .project = true, .curvature = curved, .active = r->active};
    if (curved)
        sinew_constraints_curve(r->rows, s->q, r->lambda);
    memset(r->lambda, 0, (size_t)r->rows->row_count * sizeof *r->lambda);
    sinew_row_gather(s, s->q, false);
    sinew_row_evaluate(r, s->q);
    sinew_row_predict_active(s);
    sinew_row_gather_rows(r);
    return sinew_row_step(s, &fill);
}

static size_t scd_state_size(const sinew_solve *s)
{
    const sinew_row_solve *r = s->memory;
    return (size_t)r->rows->row_count * sizeof *r->lambda;
}

static void scd_state_save(const sinew_solve *s, void *bytes)
{
    const sinew_row_solve *r = s->memory;
    memcpy(bytes, r->lambda, scd_state_size(s));
}

static bool scd_state_load(sinew_solve *s, const void *bytes, size_t size)
{
    sinew_row_solve *r = s->memory;
    if (size != scd_state_size(s))
        return false;
    memcpy(r->lambda, bytes, size);
    return true;
}

const sinew_solver_ops sinew_solver_scd = {
    .info = {.name = "scd",
             .summary = "stable constrained dynamics: one linear system a step, with geometric stiffness",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 1,
             .needs = 0},
    SINEW_ROW_OPS,
    .prepare = scd_prepare,
    .release = sinew_row_solve_release,
    .begin = scd_begin,
    .iterate = scd_iterate,
    .state_size = scd_state_size,
    .state_save = scd_state_save,
    .state_load = scd_state_load,
};
