/* SPDX-License-Identifier: MIT
 *
 * scd.c: stable constrained dynamics (Tournier, Nesme, Gilles, Faure 2015; slides "Geometric Stiffness"): one Newton
 * step of implicit Euler with constraints, from q_n and the multipliers of the last step.
 *
 *     [ M/h^2 + H - sum_i lambda_n,i d2C_i   J^T   ] [  dq       ]   [ M/h^2 (q_tilde - q_n) - grad psi ]
 *     [ J                                   -alpha ] [ -lambda   ] = [ -C                               ]
 *
 * The sum is the geometric stiffness, the change of constraint forces as their directions rotate with the particles.
 * Without it (`geometric` = off) a rope under tension has no lateral stiffness, and large steps are unstable.
 *
 * The multipliers are part of the state: a world that loads a state continues with the same bits. If all are zero, as
 * in the first step, an additional system without the sum computes them. Otherwise the first step of a rope that starts
 * under tension and not quite straight would be unstable.
 *
 * Under compression the stiffness of an edge is negative, and the matrix may be nearly singular or not definite within
 * the constraints. So the stiffness of edges under compression is left out (`geometric` = exact keeps it), except for
 * the six edges of a rigid body.
 *
 * Known limits: the stiffness of joints and of energies over more vertices is kept with any sign. If the matrix is then
 * not definite, a multiple of the identity is added and the step reports indefinite. Inequalities are active for a
 * whole step, as in kkt.c.
 */
#include <string.h>

#include "solve/kkt/kkt_common.h"

enum {
    CONSTRAINTS,
    GEOMETRIC,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [CONSTRAINTS] = SINEW_CONSTRAIN_PARAMETER,
    [GEOMETRIC] = SINEW_GEOMETRIC_PARAMETER("on|off|exact", 2,
                                            "geometric stiffness, from the multipliers of the last step; exact: also "
                                            "of edges under compression, where it is negative"),
};

static sinew_status scd_prepare(sinew_solve *s, sinew_error *error)
{
    const uint32_t kind = s->def.parameters[GEOMETRIC] != SINEW_GEOMETRIC_OFF ? SINEW_SADDLE_CURVED : 0;
    const size_t start = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    return sinew_kkt_prepare(s, (int)s->def.parameters[CONSTRAINTS], kind, start, error);
}

/* Starts a time step with no constraint marked as redundant. lambda keeps the multipliers of the last step. */
static void scd_begin(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    memset(r->redundant, 0, (size_t)r->constraints->constraint_count);
    r->redundant_count = 0;
}

static bool multipliers_are_zero(const sinew_kkt *r)
{
    for (int32_t i = 0; i < r->constraints->constraint_count; i++)
        if (r->lambda[i] != 0)
            return false;
    return true;
}

/* Solves one saddle-point system at s->q, with the geometric stiffness of the current multipliers if `curved`; moves
 * s->q by dq and replaces the multipliers. Returns SINEW_STEP_ bits. */
static uint32_t scd_solve_system(sinew_solve *s, bool curved)
{
    sinew_kkt *r = s->memory;
    const sinew_saddle_fill fill = {
        .q = s->q, .hessian = true, .project = true, .curvature = curved, .active = r->active};
    if (curved)
        sinew_kkt_second_derivatives(r, s->q, s->def.parameters[GEOMETRIC] == SINEW_GEOMETRIC_ON);
    memset(r->lambda, 0, (size_t)r->constraints->constraint_count * sizeof *r->lambda);
    sinew_kkt_gather(s, s->q, false);
    sinew_kkt_evaluate(r, s->q);
    sinew_kkt_predict_active(s);
    sinew_kkt_gather_constraints(r);
    return sinew_kkt_step(s, &fill);
}

static uint32_t scd_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const bool curved = s->def.parameters[GEOMETRIC] != SINEW_GEOMETRIC_OFF && r->constraints->constraint_count > 0;
    if (!curved || !multipliers_are_zero(r))
        return scd_solve_system(s, curved);
    /* If all multipliers are zero, a system without geometric stiffness computes them, and its motion is discarded. */
    const size_t size = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    memcpy(r->own, s->q, size);
    const uint32_t bits = scd_solve_system(s, false);
    if (bits || multipliers_are_zero(r))
        return bits;
    memcpy(s->q, r->own, size);
    s->converged = false;
    return scd_solve_system(s, true);
}

static size_t scd_state_size(const sinew_solve *s)
{
    const sinew_kkt *r = s->memory;
    return (size_t)r->constraints->constraint_count * sizeof *r->lambda;
}

static void scd_state_save(const sinew_solve *s, void *bytes)
{
    const sinew_kkt *r = s->memory;
    memcpy(bytes, r->lambda, scd_state_size(s));
}

static bool scd_state_load(sinew_solve *s, const void *bytes, size_t size)
{
    sinew_kkt *r = s->memory;
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
    SINEW_KKT_OPS,
    .refreshes = SINEW_KKT_REFRESHES,
    .prepare = scd_prepare,
    .release = sinew_kkt_release,
    .work = {.newtons = 1.25},
    .begin = scd_begin,
    .iterate = scd_iterate,
    .state_size = scd_state_size,
    .state_save = scd_state_save,
    .state_load = scd_state_load,
};
