/* SPDX-License-Identifier: MIT
 *
 * xpbd_qs.c: equilibria by XPBD in pseudo-time (Chentanez et al. 2020; PBNG 6.1, "XPBD-QS").
 *
 * The update of XPBD divides by inertia, which a quasistatic step does not have. So it takes steps of XPBD in a time of
 * its own, of length t and with n sweeps each, until nothing moves any more:
 *
 *     y = q + t v + t^2 M^-1 f_ext, lambda = 0;  n sweeps from y;  v = (1 - damping) (q_new - q) / t
 *
 * An iteration is one sweep. Where it comes to rest the forces of the constraints, as its sweeps sum them up, hold the
 * load; that is the equilibrium only so far as the sweeps of one pseudo-step converge (n) and as the gradients of C do
 * not turn within it (t). Constraints that have their turn later get their way: where stiff weak constraints and soft
 * materials share vertices the result depends on which come first (PBNG 11.3), and so that is a parameter.
 *
 * Known limits: as above; needs one pseudo-step after the other for as long as waves take to die out.
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

static sinew_constrain_kernel xpbd_qs_kernel(const sinew_solve *s, sinew_sweeping_parts *parts)
{
    const double t = (double)s->def.parameters[PSEUDO_STEP];
    *parts = (sinew_sweeping_parts){.h = t,
                                    .count = 1,
                                    .sweeps = (int32_t)s->def.parameters[SWEEPS],
                                    .keep = 1 - (double)s->def.parameters[DAMPING]};
    return (sinew_constrain_kernel){.stiffness = 1,
                                    .compliance = (sinew_real)(1 / (t * t)),
                                    .form = sinew_sweeping_form((int)s->def.parameters[NEO_HOOKEAN])};
}

static sinew_status xpbd_qs_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_sweeping_parts parts;
    const sinew_constrain_kernel how = xpbd_qs_kernel(s, &parts);
    const sinew_status status = sinew_sweeping_prepare(s, &how, &parts, NULL, error);
    if (status == SINEW_OK)
        sinew_sweep_arrange(&((sinew_sweeping *)s->memory)->sweep, s->def.parameters[FIRST] > 0);
    return status;
}

static sinew_status xpbd_qs_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_sweeping_parts parts;
    const sinew_constrain_kernel how = xpbd_qs_kernel(s, &parts);
    return sinew_sweeping_refresh(s, &how, &parts, changed, error);
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
    .prepare = xpbd_qs_prepare,
    .refreshes = SINEW_SWEEPING_REFRESHES,
    .refresh = xpbd_qs_refresh,
    .release = sinew_sweeping_release,
    .begin = sinew_sweeping_begin,
    .iterate = sinew_sweeping_iterate,
    .settle = sinew_sweeping_settle,
    .resume = sinew_sweeping_resume,
    .guarded_late = true,
    .hard = SINEW_CAN_CONSTRAINT,
    .multipliers = sinew_sweeping_multipliers,
    .colours = sinew_sweeping_colours,
};
