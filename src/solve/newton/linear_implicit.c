/* SPDX-License-Identifier: MIT
 *
 * linear_implicit.c: linearly implicit Euler integration (Baraff and Witkin 1998; thesis (3.8), (3.9)):
 *
 *     (M - h^2 K) v+ = M v_n + h f(q_n),    q+ = q_n + h v+,    K = grad f(q_n)
 *
 * Forces at the end of the step are replaced by their first-order expansion at its start: one linear system per step.
 * With H = M/h^2 - K the system is H (q+ - q_n) = -grad g(q_n): one iteration of newton.c from q_n, with the exact
 * Hessian and without line search.
 *
 * Known limits: first-order in h, with the numerical damping of implicit Euler, but stable only while the expansion
 * holds: a step with large rotation or stretch overshoots. If H is not definite, Cholesky adds a multiple of the
 * identity and the step is marked `indefinite`; LU and QR solve the indefinite system, and g may increase.
 */
#include "solve/newton/newton.h"

enum {
    LINEAR,
    PARAMETER_COUNT
};

/* Linear solvers, in the order of the choices of the parameter `linear`. */
static const sinew_newton_linear *const linears[] = {&sinew_newton_direct, &sinew_newton_lu, &sinew_newton_qr};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [LINEAR] = {.name = "linear",
                .unit = "",
                .choices = "direct|lu|qr",
                .maximum = 2,
                .preset = 0,
                .meaning =
                    "sparse Cholesky, sparse LU, sparse QR; the latter two take matrices that are not definite, in "
                    "sinew-reproduce alone"},
};

static sinew_status linear_implicit_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_newton settings = {.linear = linears[(int)s->def.parameters[LINEAR]], .hessian = SINEW_NEWTON_EXACT};
    return sinew_newton_create(s, &settings, error);
}

const sinew_solver_ops sinew_solver_linear_implicit = {
    .info = {.name = "linear-implicit",
             .summary = "linearly implicit Euler: forces linearised where the step begins, one linear system",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 1,
             .directions = true},
    .prepare = linear_implicit_prepare,
    .release = sinew_newton_release,
    /* SINEW_CHANGED_TRANSIENT is excluded: contacts change between iterations, and a linearly implicit step has only
     * one. */
    .refreshes = SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS,
    .refresh = sinew_newton_refresh,
    .needs_gradient = true,
    .coupled = true,
    .one_iteration = true,
    .work = {.newtons = 1},
    .begin = sinew_newton_begin,
    .iterate = sinew_newton_iterate,
    .precondition = sinew_newton_precondition,
};
