/* SPDX-License-Identifier: MIT
 *
 * newton.c: Newton's method on the objective: the reference for every other solver.
 *
 *     H d = -grad g(q),    q <- q + alpha d,    alpha by line search on g
 *
 * H is the exact Hessian if its Cholesky factorisation shows that it is positive definite, else the sum of projected
 * element Hessians (Teran et al. 2005), which is definite with M/h^2 or enough pins. The first iteration of a step, and
 * some iterations after an indefinite exact Hessian, use the projected one without this test. If the projected Hessian
 * is not definite, a multiple of the identity is added, with a warning. The linear solver is a parameter (newton.h):
 * sparse Cholesky, LU or QR, conjugate or biconjugate gradients with the inverse 3x3 diagonal blocks as preconditioner,
 * or Gauss-Seidel sweeps. All but Cholesky also serve the comparisons of PBNG (sections 11.1.3, 11.1.4): a few inner
 * iterations, no line search, the exact Hessian always.
 *
 * Known limits: finds a local minimum, which depends on the start. Full steps along directions of an indefinite Hessian
 * may diverge; a non-finite step leaves the state unchanged.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/line_search.h"
#include "solve/newton/newton.h"
#include "solve/parameters.h"

enum {
    LINEAR,
    HESSIAN,
    LINE_SEARCH,
    CG_ITERATIONS,
    CG_TOLERANCE,
    INNER,
    OMEGA,
    PRECONDITIONER,
    AGGREGATE,
    PARAMETER_COUNT
};

/* Linear solvers, in the order of the choices of the parameter `linear`. */
static const sinew_newton_linear *const linears[] = {&sinew_newton_direct, &sinew_newton_cg, &sinew_newton_bicgstab,
                                                     &sinew_newton_lu,     &sinew_newton_gs, &sinew_newton_qr};

/* Largest number of iterations with the projected Hessian between two attempts with the exact Hessian. */
#define PATIENCE_MAX 16

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [LINEAR] =
        {.name = "linear",
         .unit = "",
         .choices = "direct|cg|bicgstab|lu|gs|qr",
         .maximum = 5,
         .preset = 0,
         .meaning =
             "sparse Cholesky, (bi)conjugate gradients without a matrix, sparse LU, Gauss-Seidel sweeps, sparse QR; lu "
             "and qr in sinew-reproduce alone"},
    [HESSIAN] = {.name = "hessian",
                 .unit = "",
                 .choices = "auto|projected|exact",
                 .maximum = 2,
                 .preset = SINEW_NEWTON_AUTO,
                 .meaning = "auto: exact where that is definite, else projected element by element"},
    [LINE_SEARCH] = {.name = "line_search",
                     .unit = "",
                     .choices = "on|off",
                     .maximum = 1,
                     .preset = 0,
                     .meaning = "off: full steps without a check of the objective"},
    [CG_ITERATIONS] = {.name = "cg_iterations",
                       .expert = true,
                       .unit = "",
                       .minimum = 1,
                       .maximum = 1e6,
                       .preset = 2000,
                       .meaning = "cg, bicgstab, gs: most inner iterations of one outer one"},
    [CG_TOLERANCE] = {.name = "cg_tolerance",
                      .expert = true,
                      .unit = "",
                      .minimum = 0,
                      .maximum = 1,
                      .preset = 0.1,
                      .open_maximum = true,
                      .meaning = "loosest relative tolerance of the inner iteration; lower: fewer outer ones"},
    [INNER] = {.name = "inner",
               .unit = "",
               .minimum = 0,
               .maximum = 1e6,
               .preset = 0,
               .meaning = "cg, bicgstab, gs: exactly so many inner iterations; 0: as many as the tolerance wants"},
    [OMEGA] = {.name = "omega",
               .expert = true,
               .unit = "",
               .minimum = 0,
               .maximum = 2,
               .preset = 1,
               .open_minimum = true,
               .open_maximum = true,
               .meaning = "gs: relaxation; above 1 goes further with each row, faster or less stable"},
    [PRECONDITIONER] = {.name = "preconditioner",
                        .expert = true,
                        .unit = "",
                        .choices = "blocks|coarse",
                        .maximum = 1,
                        .preset = 0,
                        .meaning = "cg: the diagonal blocks, or also a small system over aggregates of particles"},
    [AGGREGATE] = SINEW_AGGREGATE_PARAMETER,
};

double sinew_newton_forcing(const sinew_solve *s, const sinew_newton *n)
{
    const double relative = s->scale > 0 ? s->residual / s->scale : 0;
    return n->inner > 0 ? 0 : fmin(n->inner_tolerance, sqrt(relative));
}

int32_t sinew_newton_inner(const sinew_newton *n)
{
    return n->inner > 0 ? n->inner : n->inner_max;
}

/* ---- Preparation of Newton's method ---------------------------------------------------------- */

sinew_status sinew_newton_create(sinew_solve *s, const sinew_newton *settings, sinew_error *error)
{
    sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    sinew_newton *n = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *n);
    if (!n)
        return sinew_fail_memory(error, "Newton's method");
    *n = *settings;
    n->d = sinew_allocate_zero(&o->allocator, size, sizeof *n->d);
    n->trial = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial);
    n->trial_gradient = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial_gradient);
    if (!n->d || !n->trial || !n->trial_gradient)
        return sinew_fail_memory(error, "Newton's method");
    return n->linear->prepare(s, n, error);
}

static sinew_status newton_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_real *p = s->def.parameters;
    sinew_newton settings = {.linear = linears[(int)p[LINEAR]],
                             .hessian = (sinew_newton_hessian)p[HESSIAN],
                             .search = p[LINE_SEARCH] == 0,
                             .inner = (int32_t)p[INNER],
                             .inner_max = (int32_t)p[CG_ITERATIONS],
                             .inner_tolerance = (double)p[CG_TOLERANCE],
                             .omega = (double)p[OMEGA]};
    if (settings.linear == &sinew_newton_cg && p[PRECONDITIONER] > 0)
        settings.aggregate = (int32_t)p[AGGREGATE];
    return sinew_newton_create(s, &settings, error);
}

sinew_status sinew_newton_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_newton *n = s->memory;
    n->linearised = s->exact_matrix = false;
    /* Newton's direction must be zero at pins, including pins that were free before. */
    memset(n->d, 0, 4 * (size_t)s->objective->particle_count * sizeof *n->d);
    if (!(n->linear->assembled || n->aggregate > 0) || !(changed & (SINEW_CHANGED_PINS | SINEW_CHANGED_TRANSIENT)))
        return SINEW_OK;
    if (n->linear->update_contacts && changed & SINEW_CHANGED_IN_STEP && !(changed & SINEW_CHANGED_PINS))
        return n->linear->update_contacts(s, n, error);
    n->linear->release(s, n);
    return n->linear->prepare(s, n, error);
}

void sinew_newton_release(sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    sinew_newton *n = s->memory;
    if (!n)
        return;
    n->linear->release(s, n);
    void *arrays[] = {n->d, n->trial, n->trial_gradient, n};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- Newton direction ------------------------------------------------------------------------ */

/* Updates n->wait after a solve; exact: the exact Hessian was definite. After an indefinite Hessian the next one is
 * often indefinite, too, so retries are spaced at growing intervals. */
static void schedule_exact_hessian(sinew_newton *n, bool exact)
{
    if (exact)
        n->wait = n->patience = 0;
    else if (n->try_exact)
        n->wait = n->patience = n->patience < 1 ? 1 : n->patience < PATIENCE_MAX ? 2 * n->patience : PATIENCE_MAX;
    else if (n->wait > 0)
        n->wait--;
}

static bool direction_descends(const sinew_solve *s, const sinew_newton *n)
{
    const sinew_objective *o = s->objective;
    return sinew_dot(s->gradient, n->d, o->particle_count, o->thread_count) <= 0;
}

/* Computes Newton's direction d from the exact Hessian if requested and definite, else from the projected one. For
 * linear solvers that do not detect an indefinite matrix, the slope of the direction decides. Returns false if no
 * direction was found. */
static bool newton_find_direction(sinew_solve *s, sinew_newton *n)
{
    const sinew_newton_linear *linear = n->linear;
    sinew_newton_outcome outcome = linear->solve(s, n, !n->try_exact);
    bool good = outcome == SINEW_NEWTON_SOLVED && (linear->tells || direction_descends(s, n));
    schedule_exact_hessian(n, n->try_exact && good);
    s->exact_matrix = n->try_exact && good && linear == &sinew_newton_direct;
    if (!good && n->try_exact && n->hessian == SINEW_NEWTON_AUTO) {
        outcome = linear->solve(s, n, true);
        good = outcome == SINEW_NEWTON_SOLVED;
    }
    if (!good)
        s->warnings |= SINEW_STEP_INDEFINITE;
    n->linearised =
        outcome == SINEW_NEWTON_INDEFINITE && linear->rescue ? linear->rescue(s, n) : outcome != SINEW_NEWTON_FAILED;
    return n->linearised;
}

/* ---- One Newton iteration -------------------------------------------------------------------- */

void sinew_newton_begin(sinew_solve *s)
{
    sinew_newton *n = s->memory;
    n->wait = 1;
    n->patience = 0;
    n->linearised = s->exact_matrix = false;
    sinew_solve_start(s, 1);
}

uint32_t sinew_newton_iterate(sinew_solve *s)
{
    sinew_newton *n = s->memory;
    sinew_solve_evaluate(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    const double before = s->residual;
    n->try_exact = n->hessian == SINEW_NEWTON_EXACT || (n->hessian == SINEW_NEWTON_AUTO && n->wait == 0);
    if (!newton_find_direction(s, n))
        return SINEW_STEP_STALLED;
    double alpha = (n->search ? sinew_line_search : sinew_full_step)(s, n->d, n->trial, n->trial_gradient);
    /* Near the minimum steps are full and residuals decrease: the exact Hessian then converges quadratically. */
    if (alpha == 1 && s->residual < 0.5 * before)
        n->wait = 0;
    if (alpha > 0)
        return 0;
    /* After a failed line search with the exact Hessian, the next iteration tries the projected Hessian before the step
     * stalls. */
    n->wait = 1;
    return n->try_exact && n->hessian == SINEW_NEWTON_AUTO ? 0 : SINEW_STEP_STALLED;
}

/* Preconditioner z = H^-1 r with the factor of the last Hessian H of this step; returns false if there is none.
 * Overwrites n->d. */
bool sinew_newton_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z)
{
    sinew_newton *n = s->memory;
    if (!n->linearised || n->linear != &sinew_newton_direct)
        return false;
    sinew_solve right = *s;
    right.gradient = (sinew_real *)r;
    if (!n->linear->resolve(&right, n))
        return false;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        z[i] = -n->d[i];
    return true;
}

/* Work of one Newton iteration. A matrix-free iteration needs the tangents, about ten gradients, and for each linear
 * iteration a product and block solves, about two gradients; a Gauss-Seidel sweep costs as much. */
static sinew_iteration_work newton_step_work(const sinew_solve *s)
{
    const sinew_newton *n = s->memory;
    if (n->linear == &sinew_newton_direct || n->linear == &sinew_newton_lu || n->linear == &sinew_newton_qr)
        return (sinew_iteration_work){.newtons = 1};
    return (sinew_iteration_work){.gradients =
                                      12 + 2.0 * s->linear_iterations / (s->iterations > 0 ? s->iterations : 1)};
}

const sinew_solver_ops sinew_solver_newton = {
    .info = {.name = "newton",
             .summary = "Newton's method with line search: exact where the Hessian is definite, else projected",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = 0,
             .quasistatic = true,
             .directions = true},
    .affine_bodies = true,
    .prepare = newton_prepare,
    .release = sinew_newton_release,
    .refreshes = SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS |
                 SINEW_CHANGED_TRANSIENT,
    .refresh = sinew_newton_refresh,
    .needs_gradient = true,
    .corrects_forces = true,
    .step_work = newton_step_work,
    .coupled = true,
    .begin = sinew_newton_begin,
    .iterate = sinew_newton_iterate,
    .precondition = sinew_newton_precondition,
};
