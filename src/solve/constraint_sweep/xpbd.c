/* SPDX-License-Identifier: MIT
 *
 * xpbd.c: extended position based dynamics (Macklin, Mueller, Chentanez 2016; thesis algorithm 3).
 *
 *     q = q_tilde, lambda = 0; then for every constraint in turn
 *     dlambda = (-C - alpha/h^2 lambda) / (sum w |grad C|^2 + alpha/h^2),  q += w grad C dlambda,  lambda += dlambda
 *
 * with the inverse masses w. Each energy is a compliant constraint, psi = C^2 / (2 alpha). The update drops the
 * residual of the momentum equation and the second derivatives of C. It converges near, but not to, the minimum of g:
 * the residual stalls. (`residual` = yes keeps the momentum residual: chebyshev.c.) The error is small if C vanishes at
 * rest. In the thesis' neo-Hookean forms C does not, and XPBD is unstable on stiff bodies. Options: Gauss-Seidel by
 * colours or in mesh order, symmetric sweeps, Jacobi; damping; neo-Hookean as sqrt(2 psi), combined, split, or split
 * with hard incompressibility.
 */
#include "solve/parameters.h"
#include "solve/constraint_sweep/pbd_common.h"

enum {
    ORDER,
    SYMMETRIC,
    NEO_HOOKEAN,
    DAMPING,
    COMPLIANCE,
    SUBSTEPS,
    RELAXATION,
    ACCELERATION,
    RHO,
    RESIDUAL,
    FIRST,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [ORDER] = SINEW_ORDER_PARAMETER,
    [SYMMETRIC] = SINEW_SYMMETRIC_PARAMETER,
    [NEO_HOOKEAN] = SINEW_NEO_HOOKEAN_PARAMETER,
    [DAMPING] = {.name = "damping",
                 .expert = true,
                 .unit = "s",
                 .minimum = 0,
                 .maximum = 1e6,
                 .preset = 0,
                 .meaning =
                     "beta / stiffness of each constraint, XPBD (26); raising it slows the motion of constraints"},
    [COMPLIANCE] = {.name = "compliance",
                    .expert = true,
                    .unit = "",
                    .minimum = 0,
                    .maximum = 1e6,
                    .preset = 1,
                    .meaning = "factor of every compliance; 0 makes all constraints hard: PBD"},
    [SUBSTEPS] = {.name = "substeps",
                  .expert = true,
                  .unit = "",
                  .minimum = 1,
                  .maximum = 10000,
                  .preset = 1,
                  .meaning =
                      "substeps of a step, each with its share of the iterations; as many as iterations: small steps"},
    [RELAXATION] = SINEW_RELAXATION_PARAMETER,
    [ACCELERATION] = SINEW_ACCELERATION_PARAMETER,
    [RHO] = SINEW_RHO_PARAMETER,
    [RESIDUAL] = {.name = "residual",
                  .unit = "",
                  .choices = "no|yes",
                  .maximum = 1,
                  .preset = 0,
                  .meaning = "yes: sweeps take the residual of the momentum equation along, which XPBD leaves out; "
                             "unstable on stiff bodies"},
    [FIRST] = {.name = "first",
               .unit = "",
               .choices = "zero|guess",
               .maximum = 1,
               .preset = 0,
               .meaning = "multipliers that a step begins with: zero, or -C / alpha~ (thesis 4.1.6), of which nothing "
                          "comes without `residual`"},
};

static sinew_constrain_kernel xpbd_kernel(const sinew_solve *s, sinew_pbd_options *options)
{
    const int32_t substeps = (int32_t)s->def.parameters[SUBSTEPS];
    const double h = s->objective->step.h / substeps;
    *options = (sinew_pbd_options){.count = substeps};
    return (sinew_constrain_kernel){.stiffness = 1,
                                    .compliance = (sinew_real)((double)s->def.parameters[COMPLIANCE] / (h * h)),
                                    .damping = (sinew_real)((double)s->def.parameters[DAMPING] / h),
                                    .form = sinew_pbd_form((int)s->def.parameters[NEO_HOOKEAN])};
}

static sinew_status xpbd_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_pbd_options options;
    const sinew_constrain_kernel how = xpbd_kernel(s, &options);
    const sinew_pbd_extras extras = {.chebyshev = s->def.parameters[ACCELERATION] > 0,
                                     .rho = (double)s->def.parameters[RHO],
                                     .residual = s->def.parameters[RESIDUAL] > 0,
                                     .guess = s->def.parameters[FIRST] > 0};
    return sinew_pbd_prepare(s, &how, &options, &extras, error);
}

static sinew_status xpbd_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_pbd_options options;
    const sinew_constrain_kernel how = xpbd_kernel(s, &options);
    return sinew_pbd_refresh(s, &how, &options, changed, error);
}

static uint32_t xpbd_needs(const sinew_solver_def *def)
{
    const bool numbers = def->parameters[RESIDUAL] > 0 || def->parameters[FIRST] > 0;
    return SINEW_CAN_CONSTRAINT | (numbers ? SINEW_CAN_JACOBIAN : 0);
}

const sinew_solver_ops sinew_solver_xpbd = {
    .info = {.name = "xpbd",
             .summary = "extended position based dynamics: compliant constraints one after the other",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_CONSTRAINT,
             .quasistatic = false},
    SINEW_PBD_OPS,
    .prepare = xpbd_prepare,
    .refresh = xpbd_refresh,
    .needs = xpbd_needs,
};
