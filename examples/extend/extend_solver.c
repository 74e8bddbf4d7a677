/* SPDX-License-Identifier: MIT
 *
 * extend_solver.c: a solver that the library does not have, through <sinew/extend.h>: gradient descent on the
 * objective, preconditioned by the diagonal. docs/guides/extending.md walks through this file.
 *
 *     d = -l B^-1 grad g(q),    q <- q + alpha d,    alpha in (0, 1] by line search on g
 *
 * B holds the 3x3 diagonal blocks of the Hessian at the start of the step, with element Hessians projected to positive
 * semi-definite. l is 1 in the first iteration of a step, then the Barzilai-Borwein length of the last one (Barzilai
 * and Borwein 1988); the line search keeps g monotone. The solver needs only the required operations of an energy, and
 * no factorisation.
 *
 * Known limits: convergence is linear, and slower for stiffer and for finer bodies.
 */
#include "extend.h"

#include <math.h>

#define DESCENT_LENGTH_MIN 1e-3
#define DESCENT_LENGTH_MAX 1e3

enum {
    DESCENT_START,
    DESCENT_PARAMETER_COUNT
};

static const sinew_parameter descent_parameters[DESCENT_PARAMETER_COUNT] = {
    [DESCENT_START] = {.name = "start",
                       .unit = "",
                       .choices = "inertia|previous",
                       .maximum = 1,
                       .meaning = "first guess: where inertia alone would lead, or where the particles are"},
};

typedef struct descent {
    double length;  /* l, step length */
    double *blocks; /* [particle_count][9] inverses of the blocks of B */
    sinew_real *d;  /* [particle_count][4] search direction */
} descent;

static sinew_status descent_create(void *context, sinew_problem *problem, void **memory, sinew_error *error)
{
    (void)context;
    const size_t count = (size_t)sinew_problem_particle_count(problem);
    descent *n = *memory = sinew_problem_allocate(problem, 1, sizeof *n);
    if (n) {
        n->blocks = sinew_problem_allocate(problem, 9 * count, sizeof *n->blocks);
        n->d = sinew_problem_allocate(problem, 4 * count, sizeof *n->d);
    }
    if (n && n->blocks && n->d)
        return SINEW_OK;
    if (error)
        *error = (sinew_error){SINEW_ERROR_MEMORY, "descent: out of memory"};
    return SINEW_ERROR_MEMORY;
}

static void descent_destroy(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    descent *n = memory;
    if (!n)
        return;
    sinew_problem_release(problem, n->blocks);
    sinew_problem_release(problem, n->d);
    sinew_problem_release(problem, n);
}

/* Replaces B by its inverse, by cofactors. B is positive definite, because it contains masses or stiffnesses. */
static void descent_invert(double B[9])
{
    double C[9];
    for (int i = 0; i < 9; i++) {
        const int r = (i / 3 + 1) % 3, s = (i / 3 + 2) % 3, c = (i % 3 + 1) % 3, e = (i % 3 + 2) % 3;
        C[i] = B[3 * r + c] * B[3 * s + e] - B[3 * r + e] * B[3 * s + c];
    }
    const double det = B[0] * C[0] + B[1] * C[1] + B[2] * C[2];
    for (int i = 0; i < 9; i++)
        B[i] = det > 0 ? C[3 * (i % 3) + i / 3] / det : (i % 4 == 0 ? 1 : 0);
}

/* Computes all data that depend on elements, pins and h; they are valid for one step. */
static void descent_begin(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    descent *n = memory;
    n->length = 1;
    sinew_problem_start(problem, sinew_problem_parameter(problem, DESCENT_START) == 0);
    sinew_problem_diagonal(problem, sinew_problem_positions(problem), true, n->blocks);
    for (int32_t i = 0; i < sinew_problem_particle_count(problem); i++)
        descent_invert(n->blocks + 9 * i);
}

/* Barzilai-Borwein length s.B s / s.y of the last step s = alpha d, y the change of the gradient. With B d = -l grad g
 * it follows from the slopes before and after alone. */
static double descent_length(double length, double alpha, double before, double after)
{
    const double next = after > before ? alpha * length * before / (before - after) : 2 * length;
    return fmin(fmax(next, DESCENT_LENGTH_MIN), DESCENT_LENGTH_MAX);
}

static uint32_t descent_iterate(void *context, sinew_problem *problem, void *memory)
{
    (void)context;
    descent *n = memory;
    if (!isfinite(sinew_problem_residual(problem)))
        return SINEW_STEP_NOT_FINITE;
    const sinew_real *g = sinew_problem_gradient(problem);
    for (int32_t i = 0; i < 3 * sinew_problem_particle_count(problem); i++) {
        const double *row = n->blocks + 3 * i;
        const sinew_real *at = g + 4 * (i / 3);
        n->d[4 * (i / 3) + i % 3] =
            (sinew_real)(-n->length * (row[0] * (double)at[0] + row[1] * (double)at[1] + row[2] * (double)at[2]));
    }
    const double before = sinew_problem_dot(problem, g, n->d);
    const double alpha = sinew_problem_line_search(problem, n->d);
    if (alpha == 0)
        return SINEW_STEP_STALLED;
    n->length =
        descent_length(n->length, alpha, before, sinew_problem_dot(problem, sinew_problem_gradient(problem), n->d));
    return 0;
}

sinew_solver_extension descent_solver(void)
{
    sinew_solver_extension s = sinew_default_solver_extension();
    s.name = "descent";
    s.summary = "gradient descent, preconditioned by the diagonal blocks of the Hessian, with line search";
    s.parameters = descent_parameters;
    s.parameter_count = DESCENT_PARAMETER_COUNT;
    s.default_iterations = 400;
    s.create = descent_create;
    s.begin = descent_begin;
    s.iterate = descent_iterate;
    s.destroy = descent_destroy;
    return s;
}
