/* SPDX-License-Identifier: MIT
 *
 * qn.c: L-BFGS whose initial Hessian is the constant matrix of Projective Dynamics (Liu, Bouaziz, Kavan 2017; thesis
 * algorithms 6 to 8).
 *
 *     d = -H_k grad g(q),   H_k: two-loop recursion over the last few (s, y) pairs around S^-1
 *     q <- q + alpha d,     alpha by line search on g
 *
 * S = M/h^2 + sum w_j D_j^T D_j as in PD. The weight of an energy that is not a squared distance is the stiffness of
 * the best quadratic fit over an interval of stretches, thesis (4.64). A diagonal can replace S (`first`), for
 * comparison only. All energies with reduced coordinates are accepted. Without pairs and with alpha = 1 an iteration
 * equals an iteration of PD.
 *
 * With contacts, pairs approximate the elastic part alone, and the blocks C of contacts at the iterate
 * (contact_blocks.h) are added: d = -(H_k^-1 + C)^-1 grad g by conjugate gradients. Contacts open and close within one
 * iteration, so pairs that include contact forces are misleading: with them a sliding box lagged by 10 %.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/projective/global_system.h"
#include "solve/line_search.h"
#include "solve/parameters.h"
#include "solve/solver.h"

enum {
    WINDOW,
    SEARCH,
    STRETCH_LOW,
    STRETCH_HIGH,
    START,
    FIRST,
    SHRINK,
    LEAST,
    PARAMETER_COUNT
};
#define WINDOW_MAX 32

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [WINDOW] = {.name = "window",
                .expert = true,
                .unit = "",
                .minimum = 0,
                .maximum = WINDOW_MAX,
                .preset = 5,
                .meaning = "pairs of past steps remembered; 0: the constant matrix alone"},
    [SEARCH] = {.name = "search",
                .expert = true,
                .unit = "",
                .choices = "backtracking|wolfe|none",
                .maximum = 2,
                .preset = 0,
                .meaning = "line search: enough decrease, that and enough curvature, or full steps"},
    [STRETCH_LOW] = SINEW_STRETCH_LOW_PARAMETER,
    [STRETCH_HIGH] = SINEW_STRETCH_HIGH_PARAMETER,
    [START] = SINEW_START_PARAMETER,
    [FIRST] = {.name = "first",
               .unit = "",
               .choices = "pd|diagonal|identity",
               .maximum = 2,
               .preset = 0,
               .meaning =
                   "the matrix that pairs are added to: that of PD, the mean stiffness of each particle at rest, "
                   "or a multiple of the identity"},
    [SHRINK] = {.name = "shrink",
                .expert = true,
                .unit = "",
                .minimum = 0,
                .maximum = 1,
                .preset = 0,
                .open_maximum = true,
                .meaning = "backtracking: beta, what a step is shortened by; 0: where a parabola is lowest"},
    [LEAST] = {.name = "least",
               .expert = true,
               .unit = "",
               .minimum = 0,
               .maximum = 1,
               .preset = 0,
               .open_maximum = true,
               .meaning = "backtracking: t, a step shorter than this is taken as it is; 0: no step is, the pairs are "
                          "dropped"},
};

typedef struct qn {
    int32_t window, count, newest; /* number of L-BFGS pairs: largest, current; index of the newest pair */
    int search;
    sinew_global global;
    /* With contacts: true if old_q is the start of the last iteration of this time step, and old_gradient the gradient
     * there without contacts. */
    bool old_known;
    /* [particle_count][4] direction d; trial positions and their gradient in the line search; gradient at the last
     * iterate */
    sinew_real *d, *trial, *trial_gradient, *old_gradient;
    /* [particle_count][4] positions at the start of the last iteration, m; NULL before the first contact */
    sinew_real *old_q;
    /* [window][2][particle_count][4] pairs of L-BFGS: s, change of q (m), and y, change of the gradient (N) */
    sinew_real *pairs;
    double rho[WINDOW_MAX]; /* 1 / (s . y) of each L-BFGS pair */
    double scale;           /* initial inverse Hessian as a multiple of the identity, in m/N */
} qn;

/* x = B0^-1 x with the initial Hessian B0 of L-BFGS; `alone`: without contacts and transient terms left to conjugate
 * gradients. */
typedef void first_matrix(const sinew_solve *s, qn *n, bool alone, sinew_real *x);

/* ---- Preparation of the quasi-Newton method -------------------------------------------------- */

static sinew_status qn_allocate_vectors(sinew_objective *o, qn *n, sinew_error *error)
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

static sinew_status allocate_old_positions(const sinew_objective *o, qn *n, sinew_error *error)
{
    if (n->global.has_contacts && !n->old_q)
        n->old_q = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *n->old_q);
    return !n->global.has_contacts || n->old_q ? SINEW_OK : sinew_fail_memory(error, "the quasi-Newton method");
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
        .contacts_by_blocks = true,
        .factorisations = &s->factorisations,
        .weight_assignment = {(double)s->def.parameters[STRETCH_LOW], (double)s->def.parameters[STRETCH_HIGH], 1}};
    sinew_status status = qn_allocate_vectors(o, n, error);
    if (status == SINEW_OK)
        status = sinew_global_create(&n->global, o, &rule, error);
    return status == SINEW_OK ? allocate_old_positions(o, n, error) : status;
}

static sinew_status qn_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    qn *n = s->memory;
    const sinew_status status = sinew_global_refresh(&n->global, s->objective, changed, error);
    return status == SINEW_OK ? allocate_old_positions(s->objective, n, error) : status;
}

static void qn_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    qn *n = s->memory;
    if (!n)
        return;
    sinew_global_destroy(&n->global, o);
    void *arrays[] = {n->d, n->trial, n->trial_gradient, n->old_gradient, n->old_q, n->pairs, n};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- Quasi-Newton direction by L-BFGS -------------------------------------------------------- */

static sinew_real *pair_vector(const sinew_solve *s, const qn *n, int32_t age, int which)
{
    int32_t pair = (n->newest - age + n->window) % n->window;
    return n->pairs + (2 * (size_t)pair + (size_t)which) * 4 * (size_t)s->objective->particle_count;
}

static double rho_of(const qn *n, int32_t age)
{
    return n->rho[(n->newest - age + n->window) % n->window];
}

static void divide_by_first_matrix(const sinew_solve *s, qn *n, bool alone, sinew_real *x)
{
    if (alone)
        sinew_global_solve_factor(&n->global, s->objective, x, x);
    else
        sinew_global_solve(&n->global, s->objective, x, x);
}

/* x = B0^-1 x, the initial Hessian B0 a third of the trace of each particle's Hessian block at rest, times the
 * identity; zero at pins, where stiffness_of is zero. */
static void divide_by_first_diagonal(const sinew_solve *s, qn *n, bool alone, sinew_real *x)
{
    (void)n;
    (void)alone;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        x[i] = s->stiffness_of[i / 4] > 0 ? (sinew_real)(3 * (double)x[i] / s->stiffness_of[i / 4]) : 0;
}

static void divide_by_first_identity(const sinew_solve *s, qn *n, bool alone, sinew_real *x)
{
    (void)alone;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        x[i] = (sinew_real)(n->scale * (double)x[i]);
}

/* Initial inverse Hessian as a multiple of the identity, in m/N: the reciprocal of the largest mean diagonal entry of a
 * particle's Hessian block at rest. Later the factor is s.y / y.y of the last pair (Nocedal and Wright 2006, 7.20). */
static double initial_scale(const sinew_solve *s)
{
    double max = 0;
    for (int32_t i = 0; i < s->objective->particle_count; i++)
        max = fmax(max, s->stiffness_of[i]);
    return max > 0 ? 3 / max : 1;
}

/* d <- H d, H the inverse Hessian of L-BFGS, by the two-loop recursion, thesis algorithm 7, with B0^-1 between the
 * loops. */
static void two_loop_recursion(const sinew_solve *s, qn *n, bool alone, sinew_real *d)
{
    static first_matrix *const firsts[] = {divide_by_first_matrix, divide_by_first_diagonal, divide_by_first_identity};
    const int32_t count = s->objective->particle_count, threads = s->objective->thread_count;
    double xi[WINDOW_MAX];
    for (int32_t age = 0; age < n->count; age++) {
        xi[age] = rho_of(n, age) * sinew_dot(pair_vector(s, n, age, 0), d, count, threads);
        sinew_add_scaled(d, (sinew_real)-xi[age], pair_vector(s, n, age, 1), count, threads);
    }
    firsts[(int)s->def.parameters[FIRST]](s, n, alone, d);
    for (int32_t age = n->count - 1; age >= 0; age--) {
        double eta = rho_of(n, age) * sinew_dot(pair_vector(s, n, age, 1), d, count, threads);
        sinew_add_scaled(d, (sinew_real)(xi[age] - eta), pair_vector(s, n, age, 0), count, threads);
    }
}

/* z = H r: applies the L-BFGS approximation H of the inverse Hessian, without contacts. */
static void apply_inverse_hessian(void *context, const sinew_real *r, sinew_real *z)
{
    const sinew_solve *s = context;
    memcpy(z, r, 4 * (size_t)s->objective->particle_count * sizeof *z);
    two_loop_recursion(s, s->memory, true, z);
}

/* Computes the direction d = -H grad g, H the inverse Hessian of L-BFGS. With contact blocks C: d = -(H^-1 + C)^-1 grad
 * g. */
static void qn_find_direction(sinew_solve *s, qn *n)
{
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        n->d[i] = -s->gradient[i];
    if (n->global.has_contacts)
        sinew_global_solve_with_contacts(&n->global, s->objective, (sinew_linear_map){apply_inverse_hessian, s}, n->d,
                                         n->d);
    else
        two_loop_recursion(s, n, false, n->d);
}

/* Makes the vectors at index `pair` of n->pairs the newest L-BFGS pair if their curvature s . y is positive. */
static void accept_pair(const sinew_solve *s, qn *n, int32_t pair)
{
    const int32_t count = s->objective->particle_count, threads = s->objective->thread_count;
    const sinew_real *step = n->pairs + 2 * (size_t)pair * 4 * (size_t)count, *change = step + 4 * (size_t)count;
    double curvature = sinew_dot(step, change, count, threads);
    double size = sinew_norm(step, count, threads) * sinew_norm(change, count, threads);
    if (!(curvature > 1e-10 * size))
        return;
    n->rho[pair] = 1 / curvature;
    n->scale = curvature / sinew_dot(change, change, count, threads);
    n->newest = pair;
    n->count = n->count < n->window ? n->count + 1 : n->window;
}

/* Stores the L-BFGS pair s = alpha d, y = gradient - old gradient, of an iteration without contacts. */
static void store_pair(const sinew_solve *s, qn *n, double alpha)
{
    const size_t size = 4 * (size_t)s->objective->particle_count;
    if (n->window == 0)
        return;
    int32_t pair = (n->newest + 1) % n->window;
    sinew_real *step = n->pairs + 2 * (size_t)pair * size, *change = step + size;
    for (size_t i = 0; i < size; i++) {
        step[i] = (sinew_real)alpha * n->d[i];
        change[i] = s->gradient[i] - n->old_gradient[i];
    }
    accept_pair(s, n, pair);
}

/* Stores the L-BFGS pair s = q - q_old, y = change of the gradient without contacts, between two iterations with
 * contacts. q is the filtered iterate, so truncation by the step filter does not affect the pair. */
static void store_elastic_pair(const sinew_solve *s, qn *n)
{
    const size_t size = 4 * (size_t)s->objective->particle_count;
    sinew_real *elastic = n->trial_gradient;
    if (n->window == 0 || n->global.iterates) {
        n->old_known = false;
        return;
    }
    memcpy(elastic, s->gradient, size * sizeof *elastic);
    sinew_contact_blocks_subtract_gradient(&n->global.contact_blocks, s->objective, s->q, elastic);
    if (n->old_known) {
        const int32_t pair = (n->newest + 1) % n->window;
        sinew_real *step = n->pairs + 2 * (size_t)pair * size, *change = step + size;
        for (size_t i = 0; i < size; i++) {
            step[i] = s->q[i] - n->old_q[i];
            change[i] = elastic[i] - n->old_gradient[i];
        }
        accept_pair(s, n, pair);
    }
    memcpy(n->old_q, s->q, size * sizeof *n->old_q);
    memcpy(n->old_gradient, elastic, size * sizeof *elastic);
    n->old_known = true;
}

/* ---- Operations of the solver ---------------------------------------------------------------- */

static void qn_begin(sinew_solve *s)
{
    qn *n = s->memory;
    n->count = n->newest = 0;
    n->old_known = false;
    n->global.solves = 0;
    n->scale = initial_scale(s);
    sinew_solve_start(s, (int)s->def.parameters[START]);
}

static double qn_line_search(sinew_solve *s, qn *n)
{
    static sinew_search *const searches[] = {sinew_line_search, sinew_line_search_wolfe, sinew_full_step};
    const double beta = (double)s->def.parameters[SHRINK], min = (double)s->def.parameters[LEAST];
    if (n->search == 0 && (beta > 0 || min > 0))
        return sinew_line_search_by(s, n->d, beta, min, n->trial, n->trial_gradient);
    return searches[n->search](s, n->d, n->trial, n->trial_gradient);
}

static uint32_t qn_step(sinew_solve *s, qn *n)
{
    sinew_solve_evaluate(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    const bool has_contacts = n->global.has_contacts;
    sinew_global_linearise(&n->global, s->objective, s->q);
    if (has_contacts) {
        store_elastic_pair(s, n);
    } else {
        memcpy(n->old_gradient, s->gradient, 4 * (size_t)s->objective->particle_count * sizeof *s->gradient);
        n->old_known = false;
    }
    qn_find_direction(s, n);
    double alpha = qn_line_search(s, n);
    if (alpha == 0 && n->count > 0) {
        /* The L-BFGS pairs gave no descent direction: they are dropped, and the constant matrix alone is used. */
        n->count = 0;
        qn_find_direction(s, n);
        alpha = qn_line_search(s, n);
    }
    if (alpha == 0)
        return SINEW_STEP_STALLED;
    if (!has_contacts)
        store_pair(s, n, alpha);
    return 0;
}

static uint32_t qn_iterate(sinew_solve *s)
{
    qn *n = s->memory;
    const uint32_t bits = qn_step(s, n);
    s->linear_iterations = n->global.solves;
    return bits;
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
    .work = {.gradients = 4, .solves = 0.1},
    .coupled = true,
    .begin = qn_begin,
    .iterate = qn_iterate,
    .precondition = qn_precondition,
};
