/* SPDX-License-Identifier: MIT
 *
 * pbd.c: position based dynamics (Mueller et al. 2006; thesis algorithm 2).
 *
 *     q = q_tilde; then for every constraint in turn    q -= k w grad C  C / sum w |grad C|^2,   w inverse masses
 *
 * Energies become constraints: C = sqrt(2 psi) per unit of stiffness, zero at rest, or psi itself (thesis 4.1.4). Their
 * own stiffness is not used: only k is (of the energy, or else of the solver), directly or as k' = 1 - (1 - k)^(1/n)
 * for n iterations. The result depends on the number of iterations and on h, and does not approximate the minimum of g,
 * as the residual shows. Quasistatic steps do the same with v_n = 0: forces enter through q_tilde alone, and their
 * effect vanishes with the number of sweeps (PBNG 6.1).
 */
#include <math.h>

#include "solve/parameters.h"
#include "solve/constraint_sweep/pbd_common.h"

enum {
    STIFFNESS,
    RULE,
    CONSTRAINT,
    ORDER,
    SYMMETRIC,
    RELAXATION,
    ACCELERATION,
    RHO,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [STIFFNESS] = {.name = "stiffness",
                   .unit = "",
                   .minimum = 0,
                   .maximum = 1,
                   .preset = 1,
                   .open_minimum = true,
                   .meaning = "k: how much of each correction is made"},
    [RULE] = {.name = "rule",
              .expert = true,
              .unit = "",
              .choices = "direct|iterations",
              .maximum = 1,
              .preset = 0,
              .meaning = "k as it is, or 1 - (1 - k)^(1/n), whose effect depends less on the number n of iterations"},
    [CONSTRAINT] = {.name = "constraint",
                    .expert = true,
                    .unit = "",
                    .choices = "root|energy",
                    .maximum = 1,
                    .preset = 0,
                    .meaning = "C = sqrt(2 psi), as XPBD at zero compliance, or C = psi (thesis 4.1.4)"},
    [ORDER] = SINEW_ORDER_PARAMETER,
    [SYMMETRIC] = SINEW_SYMMETRIC_PARAMETER,
    [RELAXATION] = SINEW_RELAXATION_PARAMETER,
    [ACCELERATION] = SINEW_ACCELERATION_PARAMETER,
    [RHO] = SINEW_RHO_PARAMETER,
};

static const sinew_pbd_options one_step = {.count = 1};

/* The exponent e of PBD's stiffness rule: a sweep applies the fraction 1 - (1 - k)^e of each correction, k the
 * stiffness. */
static double pbd_exponent(const sinew_solve *s)
{
    return s->def.parameters[RULE] > 0 && s->def.iterations > 0 ? 1.0 / s->def.iterations : 1;
}

static sinew_constrain_kernel pbd_kernel(const sinew_solve *s)
{
    const double exponent = pbd_exponent(s);
    double k = (double)s->def.parameters[STIFFNESS];
    if (s->def.parameters[RULE] > 0 && s->def.iterations > 0)
        k = 1 - pow(1 - k, exponent);
    return (sinew_constrain_kernel){.stiffness = (sinew_real)k,
                                    .form = s->def.parameters[CONSTRAINT] > 0 ? SINEW_FORM_ENERGY : SINEW_FORM_ROOT};
}

static void set_stiffness_exponent(sinew_solve *s)
{
    ((sinew_pbd *)s->memory)->sweep.stiffness_exponent = pbd_exponent(s);
}

static sinew_status pbd_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_constrain_kernel how = pbd_kernel(s);
    const sinew_pbd_extras extras = {.chebyshev = s->def.parameters[ACCELERATION] > 0,
                                     .rho = (double)s->def.parameters[RHO]};
    const sinew_status status = sinew_pbd_prepare(s, &how, &one_step, &extras, error);
    if (status == SINEW_OK)
        set_stiffness_exponent(s);
    return status;
}

static sinew_status pbd_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    const sinew_constrain_kernel how = pbd_kernel(s);
    const sinew_status status = sinew_pbd_refresh(s, &how, &one_step, changed, error);
    if (status == SINEW_OK)
        set_stiffness_exponent(s);
    return status;
}

const sinew_solver_ops sinew_solver_pbd = {
    .info = {.name = "pbd",
             .summary = "position based dynamics: hard constraints one after the other, independent of the stiffness",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_CONSTRAINT,
             .quasistatic = true},
    SINEW_PBD_OPS,
    .prepare = pbd_prepare,
    .refresh = pbd_refresh,
};
