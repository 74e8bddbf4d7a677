/* SPDX-License-Identifier: MIT
 *
 * solve_qn.c: L-BFGS whose first Hessian is the constant matrix of Projective Dynamics (Liu, Bouaziz, Kavan 2017;
 * thesis algorithms 6 to 8).
 *
 *     d = -H_k grad g(q),   H_k: two-loop recursion over the last few (s, y) pairs around S^-1
 *     q <- q + alpha d,     alpha by line search on g
 *
 * S = M/h^2 + sum w_j D_j^T D_j as in PD; where an energy is not a distance to a set, its weight is the stiffness of
 * the quadratic that fits the material best over an interval of stretches, thesis (4.64). Takes every energy that has
 * reduced coordinates; with no pairs and alpha = 1 an iteration is one of PD.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/global_step.h"
#include "solve/line_search.h"
#include "solve/shared_parameters.h"
#include "solve/solver.h"

enum {
    WINDOW,
    SEARCH,
    STRETCH_LOW,
    STRETCH_HIGH,
    START,
    PARAMETER_COUNT
};
#define WINDOW_MOST 32

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [WINDOW] = {.name = "window",
                .unit = "",
                .minimum = 0,
                .maximum = WINDOW_MOST,
                .preset = 5,
                .meaning = "pairs of past steps remembered; 0: the constant matrix alone"},
    [SEARCH] = {.name = "search",
                .unit = "",
                .choices = "backtracking|wolfe|none",
                .maximum = 2,
                .preset = 0,
                .meaning = "line search: enough decrease, that and enough curvature, or full steps"},
    [STRETCH_LOW] = SINEW_STRETCH_LOW_PARAMETER,
    [STRETCH_HIGH] = SINEW_STRETCH_HIGH_PARAMETER,
    [START] = SINEW_START_PARAMETER,
};

typedef struct qn {
    int32_t window, count, newest; /* pairs kept at most, kept now, place of the last */
    int search;
    sinew_global global;
    sinew_real *d, *trial, *trial_gradient, *old_gradient; /* [particle_count][4] */
    sinew_real *pairs;                                     /* [window][2][particle_count][4]: s and y */
    double rho[WINDOW_MOST];
} qn;

/* ---- Prepare --------------------------------------------------------------------------------- */

static sinew_status allocate_vectors(sinew_objective *o, qn *n, sinew_error *error)
{
    const size_t size = 4 * (size_t)o->particle_count;
    n->d = sinew_allocate_zero(&o->allocator, size, sizeof *n->d);
    n->trial = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial);
    n->trial_gradient = sinew_allocate_zero(&o->allocator, size, sizeof *n->trial_gradient);
    n->old_gradient = sinew_allocate_zero(&o->allocator, size, sizeof *n->old_gradient);
    n->pairs = sinew_allocate_zero(&o->allocator, 2 * size * (size_t)n->window, sizeof *n->pairs);
    bool good = n->d && n->trial && n->trial_gradient && n->old_gradient && n->pairs;
    return good ? SINEW_OK : sinew_fail_memory(error, "the quasi-Newton method");
}

static sinew_status qn_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    qn *n = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *n);
    if (!n)
        return sinew_fail_memory(error, "the quasi-Newton method");
    n->window = (int32_t)s->def.parameters[WINDOW];
    n->search = (int)s->def.parameters[SEARCH];
    const sinew_global_rule rule = {
        .beside = true,
        .weighing = {(double)s->def.parameters[STRETCH_LOW], (double)s->def.parameters[STRETCH_HIGH], 1}};
    const sinew_status status = allocate_vectors(o, n, error);
    return status == SINEW_OK ? sinew_global_create(&n->global, o, &rule, error) : status;
}

static sinew_status qn_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    qn *n = s->memory;
    return sinew_global_refresh(&n->global, s->objective, changed, error);
}

static void qn_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    qn *n = s->memory;
    if (!n)
        return;
    sinew_global_destroy(&n->global, o);
    void *arrays[] = {n->d, n->trial, n->trial_gradient, n->old_gradient, n->pairs, n};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- Direction ------------------------------------------------------------------------------- */

static sinew_real *pair_of(const sinew_solve *s, const qn *n, int32_t age, int which)
{
    int32_t place = (n->newest - age + n->window) % n->window;
    return n->pairs + (2 * (size_t)place + (size_t)which) * 4 * (size_t)s->objective->particle_count;
}

static double rho_of(const qn *n, int32_t age)
{
    return n->rho[(n->newest - age + n->window) % n->window];
}

/* d = -H grad g, thesis algorithm 7 */
static void two_loops(sinew_solve *s, qn *n)
{
    const int32_t count = s->objective->particle_count, threads = s->objective->thread_count;
    double xi[WINDOW_MOST];
    for (size_t i = 0; i < 4 * (size_t)count; i++)
        n->d[i] = -s->gradient[i];
    for (int32_t age = 0; age < n->count; age++) {
        xi[age] = rho_of(n, age) * sinew_dot(pair_of(s, n, age, 0), n->d, count, threads);
        sinew_add_scaled(n->d, (sinew_real)-xi[age], pair_of(s, n, age, 1), count, threads);
    }
    sinew_global_solve(&n->global, s->objective, n->d, n->d);
    for (int32_t age = n->count - 1; age >= 0; age--) {
        double eta = rho_of(n, age) * sinew_dot(pair_of(s, n, age, 1), n->d, count, threads);
        sinew_add_scaled(n->d, (sinew_real)(xi[age] - eta), pair_of(s, n, age, 0), count, threads);
    }
}

/* Keeps s = q - q_old (alpha d) and y = gradient - old gradient when they show positive curvature. */
static void remember(sinew_solve *s, qn *n, double alpha)
{
    const int32_t count = s->objective->particle_count, threads = s->objective->thread_count;
    if (n->window == 0)
        return;
    int32_t place = (n->newest + 1) % n->window;
    sinew_real *step = n->pairs + 2 * (size_t)place * 4 * (size_t)count, *change = step + 4 * (size_t)count;
    for (size_t i = 0; i < 4 * (size_t)count; i++) {
        step[i] = (sinew_real)alpha * n->d[i];
        change[i] = s->gradient[i] - n->old_gradient[i];
    }
    double curvature = sinew_dot(step, change, count, threads);
    double size = sinew_norm(step, count, threads) * sinew_norm(change, count, threads);
    if (!(curvature > 1e-10 * size))
        return;
    n->rho[place] = 1 / curvature;
    n->newest = place;
    n->count = n->count < n->window ? n->count + 1 : n->window;
}

/* ---- Iterate --------------------------------------------------------------------------------- */

static void qn_begin(sinew_solve *s)
{
    qn *n = s->memory;
    n->count = n->newest = 0;
    sinew_solve_start(s, (int)s->def.parameters[START]);
}

static double advance(sinew_solve *s, qn *n)
{
    static sinew_search *const searches[] = {sinew_line_search, sinew_line_search_wolfe, sinew_full_step};
    memcpy(n->old_gradient, s->gradient, 4 * (size_t)s->objective->particle_count * sizeof *s->gradient);
    return searches[n->search](s, n->d, n->trial, n->trial_gradient);
}

static uint32_t qn_iterate(sinew_solve *s)
{
    qn *n = s->memory;
    sinew_solve_evaluate(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    sinew_global_linearise(&n->global, s->objective, s->q);
    two_loops(s, n);
    double alpha = advance(s, n);
    if (alpha == 0 && n->count > 0) {
        /* The past misleads: forget it and go by the constant matrix alone. */
        n->count = 0;
        two_loops(s, n);
        alpha = advance(s, n);
    }
    if (alpha == 0)
        return SINEW_STEP_STALLED;
    remember(s, n, alpha);
    return 0;
}

static bool qn_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z)
{
    qn *n = s->memory;
    sinew_global_solve(&n->global, s->objective, r, z);
    return true;
}

const sinew_solver_ops sinew_solver_qn = {
    .info = {.name = "qn",
             .summary = "quasi-Newton: L-BFGS around the prefactored matrix of Projective Dynamics",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_REDUCE,
             .quasistatic = true},
    .prepare = qn_prepare,
    .release = qn_release,
    .refreshes = SINEW_GLOBAL_REFRESHES,
    .refresh = qn_refresh,
    .needs_gradient = true,
    .begin = qn_begin,
    .iterate = qn_iterate,
    .precondition = qn_precondition,
};
