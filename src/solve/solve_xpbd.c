/* SPDX-License-Identifier: MIT
 *
 * solve_xpbd.c: extended position based dynamics (Macklin, Mueller, Chentanez 2016; thesis algorithm 3).
 *
 *     q = q_tilde, lambda = 0; then for every constraint in turn
 *     dlambda = (-C - alpha/h^2 lambda) / (sum w |grad C|^2 + alpha/h^2),  q += w grad C dlambda,  lambda += dlambda
 *
 * Each energy is a compliant constraint, psi = C^2 / (2 alpha). The update leaves out the residual of the momentum
 * equation and the second derivatives of C, so that it converges to something near, but not at, the minimum of g: the
 * residual stalls. Options: Gauss-Seidel by colours or in mesh order, symmetric sweeps, Jacobi; damping; neo-Hookean
 * combined, split, or split with hard incompressibility.
 */
#include <string.h>

#include "solve/shared_parameters.h"
#include "solve/solver.h"
#include "solve/sweep.h"

enum {
    ORDER,
    SYMMETRIC,
    NEO_HOOKEAN,
    DAMPING,
    RELAXATION,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [ORDER] = SINEW_ORDER_PARAMETER,
    [SYMMETRIC] = SINEW_SYMMETRIC_PARAMETER,
    [NEO_HOOKEAN] =
        {.name = "neo_hookean",
         .unit = "",
         .choices = "combined|split|incompressible",
         .maximum = 2,
         .preset = 0,
         .meaning = "one constraint a tet (4.32), deviatoric and hydrostatic apart (4.34, 4.35), or with det F = 1"},
    [DAMPING] = {.name = "damping",
                 .unit = "s",
                 .minimum = 0,
                 .maximum = 1e6,
                 .preset = 0,
                 .meaning =
                     "beta / stiffness of each constraint, XPBD (26); raising it slows the motion of constraints"},
    [RELAXATION] = SINEW_RELAXATION_PARAMETER,
};

typedef struct xpbd {
    sinew_sweep sweep;
    sinew_kernel how;
    bool symmetric;
} xpbd;

static sinew_status xpbd_prepare(sinew_solve *s, sinew_error *error)
{
    static const int32_t forms[] = {SINEW_FORM_ROOT, SINEW_FORM_SPLIT, SINEW_FORM_INCOMPRESSIBLE};
    sinew_objective *o = s->objective;
    xpbd *x = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *x);
    if (!x)
        return sinew_fail_memory(error, "XPBD");
    x->symmetric = s->def.parameters[SYMMETRIC] > 0;
    x->how = (sinew_kernel){.stiffness = 1,
                            .compliance = (sinew_real)(1 / (o->h * o->h)),
                            .damping = (sinew_real)((double)s->def.parameters[DAMPING] / o->h),
                            .form = forms[(int)s->def.parameters[NEO_HOOKEAN]]};
    return sinew_sweep_create(&x->sweep, o, (sinew_sweep_order)s->def.parameters[ORDER], error);
}

static void xpbd_release(sinew_solve *s)
{
    xpbd *x = s->memory;
    if (!x)
        return;
    sinew_sweep_destroy(&x->sweep);
    sinew_release(&s->objective->allocator, x);
    s->memory = NULL;
}

static void xpbd_begin(sinew_solve *s)
{
    xpbd *x = s->memory;
    sinew_solve_start(s, 0);
    x->how.x_old = s->def.parameters[DAMPING] > 0 ? s->q_start : NULL;
    sinew_sweep_begin(&x->sweep, s->q);
}

static uint32_t xpbd_iterate(sinew_solve *s)
{
    xpbd *x = s->memory;
    const double relaxation = (double)s->def.parameters[RELAXATION];
    sinew_sweep_run(&x->sweep, &x->how, false, relaxation);
    if (x->symmetric)
        sinew_sweep_run(&x->sweep, &x->how, true, relaxation);
    sinew_sweep_positions(&x->sweep, s->q);
    s->gradient_known = false;
    return 0;
}

const sinew_solver_ops sinew_solver_xpbd = {
    .info = {.name = "xpbd",
             .summary = "extended position based dynamics: compliant constraints one after the other",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_CONSTRAINT,
             .quasistatic = false},
    .prepare = xpbd_prepare,
    .release = xpbd_release,
    .begin = xpbd_begin,
    .iterate = xpbd_iterate,
};
