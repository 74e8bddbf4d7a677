/* SPDX-License-Identifier: MIT
 *
 * solve_newton.c: Newton's method on the objective: the referee for every other solver.
 *
 *     H d = -grad g(q),    q <- q + alpha d,    alpha by line search on g
 *
 * H is the exact Hessian where that is positive definite (its Cholesky factorisation tells), else the sum of element
 * Hessians projected to positive semi-definite (Teran et al. 2005), which with M/h^2 or enough pins is definite; should
 * even that fail, a multiple of the identity is added and the step says so. H is factorised by sparse Cholesky (direct)
 * or applied matrix-free in conjugate gradients with the inverse 3x3 diagonal blocks as preconditioner (cg), to a
 * tolerance that tightens as the residual falls (Eisenstat and Walker 1996), so that the end is superlinear.
 *
 * Known limits: finds a local minimum; the one it finds depends on where it starts.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "linear/cholesky.h"
#include "linear/pcg.h"
#include "objective/assembly.h"
#include "solve/line_search.h"
#include "solve/solver.h"

enum {
    LINEAR,
    HESSIAN,
    LINE_SEARCH,
    CG_ITERATIONS,
    CG_TOLERANCE,
    PARAMETER_COUNT
};
enum {
    LINEAR_DIRECT,
    LINEAR_CG
};
enum {
    HESSIAN_AUTO,
    HESSIAN_PROJECTED,
    HESSIAN_EXACT
};

#define PATIENCE_MOST 16

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [LINEAR] = {.name = "linear",
                .unit = "",
                .choices = "direct|cg",
                .maximum = 1,
                .preset = LINEAR_DIRECT,
                .meaning = "sparse Cholesky, or matrix-free conjugate gradients (less memory)"},
    [HESSIAN] = {.name = "hessian",
                 .unit = "",
                 .choices = "auto|projected|exact",
                 .maximum = 2,
                 .preset = HESSIAN_AUTO,
                 .meaning = "auto: exact where that is definite, else projected element by element"},
    [LINE_SEARCH] = {.name = "line_search",
                     .unit = "",
                     .choices = "on|off",
                     .maximum = 1,
                     .preset = 0,
                     .meaning = "off: full steps whatever the objective does"},
    [CG_ITERATIONS] = {.name = "cg_iterations",
                       .unit = "",
                       .minimum = 1,
                       .maximum = 1e6,
                       .preset = 2000,
                       .meaning = "most inner iterations of one outer one"},
    [CG_TOLERANCE] = {.name = "cg_tolerance",
                      .unit = "",
                      .minimum = 0,
                      .maximum = 1,
                      .preset = 0.1,
                      .open_maximum = true,
                      .meaning = "loosest relative tolerance of the inner iteration; lower: fewer outer ones"},
};

typedef struct newton {
    int linear, hessian;
    bool search;
    bool try_exact;         /* in this iteration */
    int32_t wait, patience; /* auto: iterations until the exact Hessian is tried again, and after the next refusal */
    sinew_real *d, *trial, *trial_gradient; /* [particle_count][4] */
    /* direct */
    sinew_assembly *assembly;
    sinew_cholesky *cholesky;
    double *right; /* [3 * free_count] */
    /* cg */
    sinew_pcg pcg;
    double *diagonal; /* [particle_count][9] */
} newton;

/* ---- Prepare --------------------------------------------------------------------------------- */

/* The pattern first in any order, then again in the order that fills in least. */
static sinew_status prepare_direct(sinew_solve *s, newton *n, sinew_error *error)
{
    sinew_objective *o = s->objective;
    sinew_assembly *first = sinew_assembly_create(o, NULL, error);
    if (!first)
        return SINEW_ERROR_MEMORY;
    sinew_status status = SINEW_OK;
    int32_t *order = sinew_allocate(&o->allocator, (size_t)first->free_count, sizeof *order);
    if (!order)
        status = sinew_fail_memory(error, "the elimination order");
    if (status == SINEW_OK)
        status = sinew_fill_reducing_order(first->free_count, first->column, first->row, order, error);
    sinew_assembly_destroy(o, first);
    if (status == SINEW_OK) {
        n->assembly = sinew_assembly_create(o, order, error);
        status = n->assembly ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    sinew_release(&o->allocator, order);
    if (status != SINEW_OK)
        return status;
    n->right = sinew_allocate(&o->allocator, 3 * (size_t)n->assembly->free_count, sizeof *n->right);
    if (!n->right)
        return sinew_fail_memory(error, "the right-hand side");
    n->cholesky =
        sinew_cholesky_create(&o->allocator, n->assembly->free_count, n->assembly->column, n->assembly->row, error);
    return n->cholesky ? SINEW_OK : (error ? error->status : SINEW_ERROR_MEMORY);
}

static sinew_status prepare_cg(sinew_solve *s, newton *n, sinew_error *error)
{
    sinew_objective *o = s->objective;
    sinew_status status = sinew_objective_need_tangents(o, error);
    if (status == SINEW_OK)
        status = sinew_pcg_create(&o->allocator, &n->pcg, o->particle_count, o->thread_count, error);
    if (status != SINEW_OK)
        return status;
    n->diagonal = sinew_allocate(&o->allocator, 9 * (size_t)o->particle_count, sizeof *n->diagonal);
    return n->diagonal ? SINEW_OK : sinew_fail_memory(error, "the preconditioner");
}

static sinew_status newton_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    newton *n = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *n);
    if (!n)
        return sinew_fail_memory(error, "Newton's method");
    n->linear = (int)s->def.parameters[LINEAR];
    n->hessian = (int)s->def.parameters[HESSIAN];
    n->search = s->def.parameters[LINE_SEARCH] == 0;
    n->d = sinew_allocate_zero(&o->allocator, size, sizeof *n->d);
    n->trial = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial);
    n->trial_gradient = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial_gradient);
    if (!n->d || !n->trial || !n->trial_gradient)
        return sinew_fail_memory(error, "Newton's method");
    return n->linear == LINEAR_DIRECT ? prepare_direct(s, n, error) : prepare_cg(s, n, error);
}

static void newton_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    newton *n = s->memory;
    if (!n)
        return;
    sinew_cholesky_destroy(n->cholesky);
    sinew_assembly_destroy(o, n->assembly);
    sinew_pcg_destroy(&o->allocator, &n->pcg);
    void *arrays[] = {n->d, n->trial, n->trial_gradient, n->right, n->diagonal, n};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- Direction ------------------------------------------------------------------------------- */

static bool factorise(sinew_solve *s, newton *n, bool project)
{
    sinew_assembly_fill(n->assembly, s->objective, s->q, project, sinew_cholesky_values(n->cholesky));
    return sinew_cholesky_factorise(n->cholesky, 0, NULL) == SINEW_OK;
}

/* The Hessian that was just refused, plus ever more of the identity. */
static bool factorise_shifted(sinew_solve *s, newton *n)
{
    double mean = s->stiffness / sqrt(3.0 * fmax(1, n->assembly->free_count));
    s->notes |= SINEW_STEP_INDEFINITE;
    for (double shift = 1e-10 * mean; shift < 1e3 * mean; shift *= 100)
        if (sinew_cholesky_factorise(n->cholesky, shift, NULL) == SINEW_OK)
            return true;
    return false;
}

/* Where the exact Hessian was not definite it is rarely so in the next iteration: waits ever longer. */
static void note_exact(newton *n, bool exact)
{
    if (exact)
        n->wait = n->patience = 0;
    else if (n->try_exact)
        n->wait = n->patience = n->patience < 1 ? 1 : n->patience < PATIENCE_MOST ? 2 * n->patience : PATIENCE_MOST;
    else if (n->wait > 0)
        n->wait--;
}

static bool direction_direct(sinew_solve *s, newton *n)
{
    bool exact = n->try_exact && factorise(s, n, false);
    note_exact(n, exact);
    if (!exact &&
        !(n->hessian == HESSIAN_EXACT ? factorise_shifted(s, n) : factorise(s, n, true) || factorise_shifted(s, n)))
        return false;
    const sinew_assembly *as = n->assembly;
    for (int32_t k = 0; k < as->free_count; k++)
        for (size_t c = 0; c < 3; c++)
            n->right[3 * (size_t)k + c] = -(double)s->gradient[4 * (size_t)as->particle[k] + c];
    if (sinew_cholesky_solve(n->cholesky, n->right, n->right, NULL) != SINEW_OK)
        return false;
    for (int32_t k = 0; k < as->free_count; k++)
        for (size_t c = 0; c < 3; c++)
            n->d[4 * (size_t)as->particle[k] + c] = (sinew_real)n->right[3 * (size_t)k + c];
    return true;
}

static void multiply(void *context, const sinew_real *x, sinew_real *Ax)
{
    sinew_objective_product(context, x, Ax);
}

static bool direction_cg(sinew_solve *s, newton *n)
{
    sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    const double relative = s->scale > 0 ? s->residual / s->scale : 0;
    const double forcing = fmin((double)s->def.parameters[CG_TOLERANCE], sqrt(relative));
    const int32_t most = (int32_t)s->def.parameters[CG_ITERATIONS];
    bool project = !n->try_exact;
    for (size_t i = 0; i < size; i++)
        n->trial[i] = -s->gradient[i];
    for (;;) {
        sinew_objective_diagonal(o, s->q, project, n->diagonal);
        sinew_pcg_set_diagonal(&n->pcg, n->diagonal);
        sinew_objective_linearise(o, s->q, project);
        sinew_pcg_result result = sinew_pcg_solve(&n->pcg, multiply, o, n->trial, n->d, forcing, most);
        s->linear_iterations += result.iterations;
        if (!project || !n->try_exact)
            note_exact(n, !project && !result.indefinite);
        if (!result.indefinite)
            return true;
        if (project || n->hessian == HESSIAN_EXACT) {
            s->notes |= SINEW_STEP_INDEFINITE;
            return true;
        }
        project = true;
    }
}

/* ---- Iterate --------------------------------------------------------------------------------- */

static void newton_begin(sinew_solve *s)
{
    newton *n = s->memory;
    n->wait = 1;
    n->patience = 0;
}

static uint32_t newton_iterate(sinew_solve *s)
{
    newton *n = s->memory;
    sinew_solve_evaluate(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    const double before = s->residual;
    n->try_exact = n->hessian == HESSIAN_EXACT || (n->hessian == HESSIAN_AUTO && n->wait == 0);
    bool good = n->linear == LINEAR_DIRECT ? direction_direct(s, n) : direction_cg(s, n);
    if (!good)
        return SINEW_STEP_STALLED;
    double alpha = (n->search ? sinew_line_search : sinew_full_step)(s, n->d, n->trial, n->trial_gradient);
    /* Near the minimum steps are full and residuals fall: the exact Hessian then makes them fall quadratically. */
    if (alpha == 1 && s->residual < 0.5 * before)
        n->wait = 0;
    if (alpha > 0)
        return 0;
    /* Once more with the other Hessian before giving up. */
    n->wait = 1;
    return n->try_exact && n->hessian == HESSIAN_AUTO ? 0 : SINEW_STEP_STALLED;
}

const sinew_solver_ops sinew_solver_newton = {
    .info = {.name = "newton",
             .summary = "Newton's method with line search: exact where the Hessian is definite, else projected",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = 0,
             .quasistatic = true},
    .prepare = newton_prepare,
    .release = newton_release,
    .begin = newton_begin,
    .iterate = newton_iterate,
};
