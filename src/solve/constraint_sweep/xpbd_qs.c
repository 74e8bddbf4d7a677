/* SPDX-License-Identifier: MIT
 *
 * xpbd_qs.c: equilibria by XPBD in pseudo-time (Chentanez et al. 2020; PBNG 6.1, "XPBD-QS").
 *
 * The update of XPBD divides by inertia, which a quasistatic step does not have. So xpbd-qs takes XPBD steps in a
 * pseudo-time, of length t with n sweeps each, until nothing moves:
 *
 *     y = q + t v + t^2 M^-1 f_ext, lambda = 0;  n sweeps from y;  v = (1 - damping) (q_new - q) / t
 *
 * An iteration is one sweep. At rest the constraint forces, summed over sweeps, balance the load. This is the
 * equilibrium only if the sweeps of one pseudo-step converge (n) and gradients of C do not rotate within it (t). Later
 * constraints dominate: if stiff weak constraints and soft materials share vertices, the result depends on their order
 * (PBNG 11.3), which is a parameter.
 *
 * Known limits: the dependence on n, t and order above; the number of pseudo-steps grows with the time that waves take
 * to decay.
 */
#include "solve/parameters.h"
#include "solve/constraint_sweep/pbd_common.h"

enum {
    PSEUDO_STEP,
    SWEEPS,
    FIRST,
    DAMPING,
    ORDER,
    SYMMETRIC,
    NEO_HOOKEAN,
    RELAXATION,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [PSEUDO_STEP] = {.name = "pseudo_step",
                     .unit = "s",
                     .minimum = 0,
                     .maximum = 1e6,
                     .preset = 0.01,
                     .open_minimum = true,
                     .meaning = "length of a pseudo-step; longer: faster, and further from the equilibrium in the end"},
    [SWEEPS] = {.name = "sweeps",
                .unit = "",
                .minimum = 1,
                .maximum = 1e6,
                .preset = 10,
                .meaning = "sweeps of one pseudo-step; more: nearer to the equilibrium in the end, and slower"},
    [FIRST] = {.name = "first",
               .unit = "",
               .choices = "material|weak",
               .maximum = 1,
               .preset = 0,
               .meaning = "which constraints a sweep begins with: all but the weak ones, or the weak ones (flipped)"},
    [DAMPING] = {.name = "damping",
                 .expert = true,
                 .unit = "",
                 .minimum = 0,
                 .maximum = 1,
                 .preset = 0.02,
                 .meaning = "part of the velocity that is lost with each pseudo-step; 1: begins each from rest"},
    [ORDER] = SINEW_ORDER_PARAMETER,
    [SYMMETRIC] = SINEW_SYMMETRIC_PARAMETER,
    [NEO_HOOKEAN] = SINEW_NEO_HOOKEAN_PARAMETER,
    [RELAXATION] = SINEW_RELAXATION_PARAMETER,
};

static sinew_constrain_kernel xpbd_qs_kernel(const sinew_solve *s, sinew_pbd_options *options)
{
    const double t = (double)s->def.parameters[PSEUDO_STEP];
    *options = (sinew_pbd_options){.h = t,
                                   .count = 1,
                                   .sweeps = (int32_t)s->def.parameters[SWEEPS],
                                   .keep = 1 - (double)s->def.parameters[DAMPING]};
    return (sinew_constrain_kernel){.stiffness = 1,
                                    .compliance = (sinew_real)(1 / (t * t)),
                                    .form = sinew_pbd_form((int)s->def.parameters[NEO_HOOKEAN])};
}

static sinew_status xpbd_qs_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_pbd_options options;
    const sinew_constrain_kernel how = xpbd_qs_kernel(s, &options);
    const sinew_status status = sinew_pbd_prepare(s, &how, &options, NULL, error);
    if (status == SINEW_OK)
        sinew_sweep_arrange(&((sinew_pbd *)s->memory)->sweep, s->def.parameters[FIRST] > 0);
    return status;
}

static sinew_status xpbd_qs_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_pbd_options options;
    const sinew_constrain_kernel how = xpbd_qs_kernel(s, &options);
    return sinew_pbd_refresh(s, &how, &options, changed, error);
}

const sinew_solver_ops sinew_solver_xpbd_qs = {
    .info = {.name = "xpbd-qs",
             .summary = "equilibria by extended position based dynamics in pseudo-time",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 1000,
             .needs = SINEW_CAN_CONSTRAINT,
             .quasistatic = true,
             .static_only = true},
    SINEW_PBD_OPS,
    .prepare = xpbd_qs_prepare,
    .refresh = xpbd_qs_refresh,
};
