/* SPDX-License-Identifier: MIT
 *
 * primal_dual.c: Newton's method on the conditions of the constrained minimum (slides, "exact primal-dual";
 * thesis 4.18, 4.19; Nocedal and Wright 2006, chapter 18): the referee of the solvers with constraints.
 *
 *     min g(q)  subject to  C(q) = 0          grad g - J^T lambda = 0,   C + alpha lambda = 0
 *
 *     [ H - sum_i lambda_i d2C_i   J^T   ] [  dq      ]     [ -(grad g - J^T lambda) ]
 *     [ J                         -alpha ] [ -dlambda ]  =  [ -(C + alpha lambda)    ]
 *
 * Inequalities (lambda >= 0, C >= 0, lambda C = 0) by the semismooth choice of those that act (Hintermueller, Ito,
 * Kunisch 2003). The signs of the pivots tell whether the matrix is positive definite within the constraints; where it
 * is not, edges under compression leave their negative stiffness out (geometric_stiffness.c) and energies are made definite
 * element by element; where that is not enough, a multiple of the identity is added (inertia correction). Steps are
 * shortened until
 *
 *     g_soft(q) + sum_i mu_i |C_i|,    mu_i >= 1.5 |lambda_i| of hard rows,
 *
 * falls; a full step is also good where it halves the conditions, so that curved constraints do not stop it (Maratos).
 *
 * Where steps become short although rows are open, the multipliers are far too small: edges that are nearly straight
 * between pins hold by tension, and without its stiffness the linear model prefers zigzags. The rows are then met
 * first, as sap meets them: moves by rows alone, whose multipliers add up (restoration of feasibility; Nocedal and
 * Wright, 15.4). From there the method goes on, with weights of the merit afresh. Rows that are not met so, as they
 * contradict each other, are given up: it goes on from where it was.
 *
 * Known limits: finds a local minimum. Rows whose C is a root of an energy have second derivatives that grow without
 * bound towards rest; `rows` = hard, the default, leaves such energies energies, whose minimum is the same.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/kkt/kkt_common.h"

#define HALVINGS  40
#define ARMIJO    1e-4
#define SHORT     0.25 /* of a step: one that is shorter says that rows are to be met first */
#define CLEAR     0.7  /* of the conditions are left after a step that needs no merit */
#define BAD_SOLVE 1e-6 /* relative residual of a system that was not solved */

enum {
    RESTORE_MOST = 60 /* moves by rows alone in a step */
};

enum {
    ROWS,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {[ROWS] = SINEW_ROWS_PARAMETER};

/* Followed by the arrays that it points to. */
typedef struct primal_dual {
    double shift;         /* that the last system needed */
    double part;          /* of the last step that the search took */
    bool restoring;       /* rows are being met */
    int32_t moves;        /* to meet them; RESTORE_MOST: given up in this step */
    double before;        /* N: residual one iteration ago */
    double *lambda, *mu;  /* [row_count] where a search begins; weights of its merit */
    sinew_real *q, *step; /* [particle_count][4] where it begins, and dq */
} primal_dual;

static sinew_status primal_dual_prepare(sinew_solve *s, sinew_error *error)
{
    const int which = (int)s->def.parameters[ROWS];
    const size_t size = 4 * (size_t)s->objective->particle_count;
    sinew_status status = sinew_row_solve_prepare(s, which, SINEW_SADDLE_CURVED, sizeof(primal_dual), error);
    if (status != SINEW_OK)
        return status;
    sinew_row_solve *r = s->memory;
    const sinew_allocator *a = &s->objective->allocator;
    primal_dual *p = r->own;
    p->lambda = sinew_allocate_zero(a, (size_t)r->rows->row_count, sizeof *p->lambda);
    p->mu = sinew_allocate_zero(a, (size_t)r->rows->row_count, sizeof *p->mu);
    p->q = sinew_allocate_zero(a, size, sizeof *p->q);
    p->step = sinew_allocate_zero(a, size, sizeof *p->step);
    return p->lambda && p->mu && p->q && p->step ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
}

static void primal_dual_release(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r ? r->own : NULL;
    if (p) {
        void *arrays[] = {p->lambda, p->mu, p->q, p->step};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
            sinew_release(&s->objective->allocator, arrays[i]);
    }
    sinew_row_solve_release(s);
}

/* The search begins anew. */
static void go_on(primal_dual *p, int32_t row_count)
{
    memset(p->mu, 0, (size_t)row_count * sizeof *p->mu);
    p->part = 1;
    p->restoring = false;
    p->before = HUGE_VAL;
}

static void primal_dual_begin(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    sinew_row_begin(s);
    p->shift = 0;
    p->moves = 0;
    go_on(p, r->rows->row_count);
    sinew_solve_start(s, 1);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* N: what forces count against. */
static double force_scale(const sinew_solve *s)
{
    return fmax(fmax(s->start_residual, sinew_row_force(s->memory)), 1e-300);
}

/* Brings gradient, rows and their forces up to date with q and lambda. */
static void evaluate(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    s->gradient_known = false;
    sinew_row_evaluate(r, s->q);
    sinew_row_choose_active(r, force_scale(s), NULL);
    sinew_solve_evaluate(s);
}

/* Size of what is left of both conditions. */
static double conditions_left(const sinew_solve *s, double scale)
{
    return s->residual / scale + sinew_row_open(s->memory, false);
}

/* Conditions hold, or hold as well as round-off lets them; without hard rows the driver looks. */
static bool is_solved(sinew_solve *s, double scale)
{
    const sinew_row_solve *r = s->memory;
    const double tolerance = (double)s->def.tolerance, before = ((primal_dual *)r->own)->before;
    if (!s->conditioned || tolerance == 0 || sinew_row_open(r, false) > tolerance)
        return false;
    return s->residual <= tolerance * scale || (s->residual <= s->noise && s->residual > 0.5 * before);
}

/* ---- Direction ------------------------------------------------------------------------------- */

static void assemble(sinew_solve *s, bool definite)
{
    sinew_row_solve *r = s->memory;
    sinew_row_curve(r, s->q, definite);
    sinew_saddle_assemble(
        r->saddle,
        &(sinew_saddle_fill){
            .q = s->q, .hessian = true, .project = definite, .curvature = r->saddle->curved, .active = r->active});
}

/* dq and dlambda of pull and right. Where the matrix is not definite within the constraints it is made so, and then
 * gets as much of the identity as that still takes. */
static bool solve_system(sinew_solve *s, bool definite)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    const double again = p->shift > 4 * SINEW_SHIFT_MIN ? p->shift / 4 : SINEW_SHIFT_MIN;
    assemble(s, definite);
    for (double shift = 0; shift < SINEW_SHIFT_MAX;) {
        if (sinew_saddle_factorise(r->saddle, shift)) {
            s->linear_iterations++;
            if (sinew_saddle_solve(r->saddle, r->pull, r->right, r->move, r->change) <= BAD_SOLVE) {
                p->shift = shift;
                sinew_row_note_redundant(r);
                return true;
            }
        }
        if (definite)
            shift = shift > 0 ? 8 * shift : again;
        else
            assemble(s, definite = true);
    }
    return false;
}

static bool find_direction(sinew_solve *s)
{
    sinew_row_gather(s, s->q, true);
    sinew_row_gather_rows(s->memory);
    return solve_system(s, false);
}

/* dq as points; returns how much of it energies that have no value everywhere allow. */
static double find_step(sinew_solve *s)
{
    primal_dual *p = ((sinew_row_solve *)s->memory)->own;
    memset(p->step, 0, 4 * (size_t)s->objective->particle_count * sizeof *p->step);
    sinew_row_move(s, 1, p->step);
    const double limit = sinew_objective_step_limit(s->judged, s->q, p->step, 1);
    return limit < 1 ? 0.99 * limit : 1;
}

/* ---- Rows alone ------------------------------------------------------------------------------ */

/* Whether rows are to be met first. */
static bool is_to_restore(const sinew_solve *s)
{
    const sinew_row_solve *r = s->memory;
    const primal_dual *p = r->own;
    return (p->restoring || p->part < SHORT) && p->moves < RESTORE_MOST &&
           sinew_row_open(r, false) > sinew_row_tolerance(s);
}

static void keep_place(sinew_solve *s)
{
    const sinew_row_solve *r = s->memory;
    const primal_dual *p = r->own;
    memcpy(p->q, s->q, 4 * (size_t)s->objective->particle_count * sizeof *p->q);
    memcpy(p->lambda, r->lambda, (size_t)r->rows->row_count * sizeof *p->lambda);
}

/* Back to where the moves began, for good. */
static void give_up(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    memcpy(s->q, p->q, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    memcpy(r->lambda, p->lambda, (size_t)r->rows->row_count * sizeof *r->lambda);
    p->moves = RESTORE_MOST;
    evaluate(s);
}

/* One move by rows alone; what it pulls with adds to the multipliers. */
static bool restore(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    if (!p->restoring)
        keep_place(s);
    p->restoring = true;
    p->moves++;
    memset(r->pull, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->pull);
    sinew_row_gather_rows(r);
    if (!solve_system(s, true))
        return false;
    sinew_row_move(s, find_step(s), s->q);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->lambda[row] += r->change[row];
    return true;
}

/* ---- Merit ----------------------------------------------------------------------------------- */

/* sum_i mu_i |C_i| of hard rows; of inequalities what is below zero. */
static double weighted_violation(const sinew_row_solve *r)
{
    const primal_dual *p = r->own;
    double sum = 0;
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        for (int32_t k = 0; k < set->row_count && set->hard; k++) {
            const double C = r->rows->C[set->first_row + k];
            const bool one_sided = sinew_row_is_inequality(r->rows, set->first_row + k);
            sum += p->mu[set->first_row + k] * (one_sided ? fmax(-C, 0) : fabs(C));
        }
    }
    return sum;
}

/* Weights that the multipliers at hand ask for, and how fast the merit then falls along p->step: grad g_soft . dq less
 * the violation, which a full step takes away to first order. */
static double find_slope(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    double pulled = 0;
    sinew_constraints_product(r->rows, p->step, r->right);
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        for (int32_t k = 0, row = set->first_row; k < set->row_count && set->hard; k++, row++) {
            p->mu[row] = fmax(p->mu[row], 1.5 * fabs(r->lambda[row] + r->change[row]));
            pulled += r->lambda[row] * r->right[row];
        }
    }
    return sinew_dot(s->gradient, p->step, s->objective->particle_count, s->objective->thread_count) + pulled -
           weighted_violation(r);
}

/* q and lambda a part of the way from where the search began. */
static void place_trial(sinew_solve *s, double part)
{
    sinew_row_solve *r = s->memory;
    const primal_dual *p = r->own;
    memcpy(s->q, p->q, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    sinew_row_move(s, part, s->q);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->lambda[row] = p->lambda[row] + part * r->change[row];
    s->gradient_known = false;
}

static double merit_at(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const double g = sinew_objective_value(s->judged, s->q, NULL);
    sinew_constraints_evaluate(r->rows, s->q);
    return g + weighted_violation(r);
}

/* Moves q and lambda; false, with both where they were, when no step is good. */
static bool search(sinew_solve *s, double scale)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    double part = find_step(s);
    const double left = conditions_left(s, scale), slope = find_slope(s);
    keep_place(s);
    const double merit = merit_at(s), noise = 1e-14 * fabs(merit);
    for (int k = 0; k < HALVINGS; k++, part /= 2) {
        place_trial(s, p->part = part);
        const double now = merit_at(s);
        if (isfinite(now) && slope < 0 && now <= merit + ARMIJO * part * slope + noise)
            return true;
        if (k > 0 || !isfinite(now))
            continue;
        evaluate(s);
        if (conditions_left(s, scale) <= CLEAR * left)
            return true;
    }
    place_trial(s, 0);
    return false;
}

static uint32_t primal_dual_iterate(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    primal_dual *p = r->own;
    evaluate(s);
    if (p->restoring && (p->moves >= RESTORE_MOST || !isfinite(s->residual)) &&
        !(sinew_row_open(r, false) <= sinew_row_tolerance(s)))
        give_up(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    const double scale = force_scale(s);
    if (is_solved(s, scale)) {
        if (p->shift > 0)
            s->notes |= SINEW_STEP_INDEFINITE;
        s->done = true;
        return 0;
    }
    if (is_to_restore(s))
        return restore(s) ? 0 : SINEW_STEP_STALLED;
    if (p->restoring)
        go_on(p, r->rows->row_count);
    p->before = s->residual;
    if (!find_direction(s))
        return SINEW_STEP_STALLED | SINEW_STEP_INDEFINITE;
    return search(s, scale) ? 0 : SINEW_STEP_STALLED;
}

const sinew_solver_ops sinew_solver_primal_dual = {
    .info = {.name = "primal-dual",
             .summary = "Newton's method on the conditions of the minimum under constraints: the referee of systems",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = 0,
             .quasistatic = true},
    SINEW_ROW_OPS,
    .prepare = primal_dual_prepare,
    .release = primal_dual_release,
    .needs_gradient = true,
    .begin = primal_dual_begin,
    .iterate = primal_dual_iterate,
};
