/* SPDX-License-Identifier: MIT
 *
 * primal_dual.c: Newton's method on the KKT conditions of the constrained minimum (slides, "exact primal-dual"; thesis
 * 4.18, 4.19; Nocedal and Wright 2006, chapter 18): the reference for solvers with constraints.
 *
 *     min g(q)  subject to  C(q) = 0          grad g - J^T lambda = 0,   C + alpha lambda = 0
 *
 *     [ H - sum_i lambda_i d2C_i   J^T   ] [  dq      ]     [ -(grad g - J^T lambda) ]
 *     [ J                         -alpha ] [ -dlambda ]  =  [ -(C + alpha lambda)    ]
 *
 * Inequalities (lambda >= 0, C >= 0, lambda C = 0) use a semismooth active set (Hintermueller, Ito, Kunisch 2003). The
 * signs of the pivots show whether the matrix is positive definite within the constraints. If it is not, the negative
 * stiffness of edges under compression is left out (geometric_stiffness.c) and energies are projected element by
 * element; then a multiple of the identity is added (inertia correction). Steps are shortened until
 *
 *     g_soft(q) + sum_i mu_i |C_i|,    mu_i >= 1.5 |lambda_i| of hard constraints,
 *
 * decreases. A full step is also accepted if it reduces the KKT residuals clearly, so that curved constraints do not
 * block it (Maratos effect).
 *
 * If steps become short although constraints are violated, the multipliers are far too small: nearly straight edges
 * between pins carry tension, and without its stiffness the linear model prefers zigzags. Then feasibility is restored
 * first, as in sap, with multipliers that accumulate (Nocedal and Wright, 15.4). Then the method continues with new
 * merit weights. If restoration fails, because constraints contradict each other, the method continues from the iterate
 * before restoration.
 *
 * Known limits: finds a local minimum. Constraints whose C is a root of an energy have second derivatives that grow
 * without bound towards rest. `constraints` = hard, the default, keeps such energies in g, with the same minimum.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "solve/kkt/kkt_common.h"
#include "solve/line_search.h"

#define TRIALS 40
#define ARMIJO 1e-4
/* feasibility restoration starts after a step dq that the line search cuts below this fraction */
#define SHORT 0.25
/* largest fraction of the KKT residuals left by a full step that is accepted without decrease of the merit function */
#define CLEAR     0.7
#define BAD_SOLVE 1e-6 /* relative residual above which a linear system counts as not solved */

enum {
    RESTORE_MAX = 60 /* largest number of feasibility restoration moves in a time step */
};

enum {
    CONSTRAINTS,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {[CONSTRAINTS] = SINEW_CONSTRAIN_PARAMETER};

/* Data of the primal-dual solver. The arrays are separate allocations. */
typedef struct primal_dual {
    double shift;    /* diagonal shift that made the last matrix definite, relative to its mean diagonal; 0: none */
    double fraction; /* fraction of the last step dq that the line search accepted */
    bool restoring;  /* true: iterations currently reduce violations only (feasibility restoration) */
    int32_t moves;   /* number of restoration moves in this time step; RESTORE_MAX: restoration has ended */
    double before;   /* KKT residual one iteration earlier, in N */
    /* [constraint_count] multipliers at the start of a line search; weights of the merit function */
    double *lambda, *mu;
    sinew_real *q, *step; /* [particle_count][4] positions at the start of a line search; step dq, both in m */
} primal_dual;

static sinew_status primal_dual_prepare(sinew_solve *s, sinew_error *error)
{
    const int which = (int)s->def.parameters[CONSTRAINTS];
    const size_t size = 4 * (size_t)s->objective->particle_count;
    sinew_status status = sinew_kkt_prepare(s, which, SINEW_SADDLE_CURVED, sizeof(primal_dual), error);
    if (status != SINEW_OK)
        return status;
    sinew_kkt *r = s->memory;
    const sinew_allocator *a = &s->objective->allocator;
    primal_dual *p = r->own;
    p->lambda = sinew_allocate_zero(a, (size_t)r->constraints->constraint_count, sizeof *p->lambda);
    p->mu = sinew_allocate_zero(a, (size_t)r->constraints->constraint_count, sizeof *p->mu);
    p->q = sinew_allocate_zero(a, size, sizeof *p->q);
    p->step = sinew_allocate_zero(a, size, sizeof *p->step);
    return p->lambda && p->mu && p->q && p->step ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
}

static void primal_dual_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r ? r->own : NULL;
    if (p) {
        void *arrays[] = {p->lambda, p->mu, p->q, p->step};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
            sinew_release(&s->objective->allocator, arrays[i]);
    }
    sinew_kkt_release(s);
}

/* Resets the weights of the merit function and the state of restoration. */
static void reset_search(primal_dual *p, int32_t constraint_count)
{
    memset(p->mu, 0, (size_t)constraint_count * sizeof *p->mu);
    p->fraction = 1;
    p->restoring = false;
    p->before = HUGE_VAL;
}

static void primal_dual_begin(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    sinew_kkt_begin(s);
    p->shift = 0;
    p->moves = 0;
    reset_search(p, r->constraints->constraint_count);
    sinew_solve_start(s, 1);
}

/* ---- Evaluation of the KKT conditions -------------------------------------------------------- */

/* Scale of forces, in N: the larger of the residual at the start of the step and the norm of constraint forces. */
static double force_scale(const sinew_solve *s)
{
    return fmax(fmax(s->start_residual, sinew_kkt_force(s->memory)), 1e-300);
}

/* Evaluates constraints at s->q, chooses the active set, and evaluates gradient and residual with the forces of
 * lambda. */
static void evaluate_kkt(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    s->gradient_known = false;
    sinew_kkt_evaluate(r, s->q);
    sinew_kkt_choose_active(r, force_scale(s), NULL);
    sinew_solve_evaluate(s);
}

/* KKT residual without unit: relative force residual plus the largest relative violation. */
static double kkt_residuals_left(const sinew_solve *s, double scale)
{
    return s->residual / scale + sinew_kkt_violation(s->memory, false);
}

/* True if the KKT conditions hold, to tolerance or round-off. Without hard constraints the driver decides. */
static bool kkt_is_solved(sinew_solve *s, double scale)
{
    const sinew_kkt *r = s->memory;
    const double tolerance = (double)s->def.tolerance, before = ((primal_dual *)r->own)->before;
    if (!s->has_hard || tolerance == 0 || sinew_kkt_violation(r, false) > tolerance)
        return false;
    return s->residual <= tolerance * scale || (s->residual <= s->noise && s->residual > 0.5 * before);
}

/* ---- Newton direction of the KKT conditions -------------------------------------------------- */

static void assemble_matrix(sinew_solve *s, bool definite)
{
    sinew_kkt *r = s->memory;
    sinew_kkt_second_derivatives(r, s->q, definite);
    sinew_saddle_assemble(
        r->saddle,
        &(sinew_saddle_fill){
            .q = s->q, .hessian = true, .project = definite, .curvature = r->saddle->curved, .active = r->active});
}

/* Solves the KKT system for dq and dlambda. If the matrix is not definite within the constraints or the solution is
 * inaccurate, the matrix is projected, then shifted by multiples of the identity. `definite`: the first matrix is the
 * projected one. Returns false if no shift up to SINEW_SHIFT_MAX suffices, or if interrupted. */
static bool solve_kkt_system(sinew_solve *s, bool definite)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    const double again = p->shift > 4 * SINEW_SHIFT_MIN ? p->shift / 4 : SINEW_SHIFT_MIN;
    assemble_matrix(s, definite);
    for (double shift = 0; shift < SINEW_SHIFT_MAX;) {
        if (sinew_saddle_factorise(r->saddle, shift)) {
            s->linear_iterations++;
            if (sinew_saddle_solve(r->saddle, r->particle_rhs, r->right, r->move, r->change) <= BAD_SOLVE) {
                p->shift = shift;
                sinew_kkt_mark_redundant(r);
                return true;
            }
        }
        if (sinew_stop_came())
            return false;
        if (definite)
            shift = shift > 0 ? 8 * shift : again;
        else
            assemble_matrix(s, definite = true);
    }
    return false;
}

static bool primal_dual_find_direction(sinew_solve *s)
{
    sinew_kkt_gather(s, s->q, true);
    sinew_kkt_gather_constraints(s->memory);
    return solve_kkt_system(s, false);
}

/* Copies dq to p->step. Returns the fraction of dq that stays short of the barrier of an energy; 1 without one. */
static double primal_dual_find_step(sinew_solve *s)
{
    primal_dual *p = ((sinew_kkt *)s->memory)->own;
    memset(p->step, 0, 4 * (size_t)s->objective->particle_count * sizeof *p->step);
    sinew_kkt_move(s, 1, p->step);
    const double limit = sinew_objective_step_limit(s->error_objective, s->q, p->step, 1);
    return limit < 1 ? 0.99 * limit : 1;
}

/* ---- Feasibility restoration ----------------------------------------------------------------- */

/* True during feasibility restoration, which starts when the line search has accepted less than the fraction SHORT of a
 * step, and ends when the constraints hold or after RESTORE_MAX moves. */
static bool needs_feasibility_restoration(const sinew_solve *s)
{
    const sinew_kkt *r = s->memory;
    const primal_dual *p = r->own;
    return (p->restoring || p->fraction < SHORT) && p->moves < RESTORE_MAX &&
           sinew_kkt_violation(r, false) > sinew_kkt_tolerance(s);
}

static void save_iterate(sinew_solve *s)
{
    const sinew_kkt *r = s->memory;
    const primal_dual *p = r->own;
    memcpy(p->q, s->q, 4 * (size_t)s->objective->particle_count * sizeof *p->q);
    memcpy(p->lambda, r->lambda, (size_t)r->constraints->constraint_count * sizeof *p->lambda);
}

/* Returns to the iterate before feasibility restoration, which is then over for this time step. */
static void abandon_restoration(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    memcpy(s->q, p->q, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    memcpy(r->lambda, p->lambda, (size_t)r->constraints->constraint_count * sizeof *r->lambda);
    p->moves = RESTORE_MAX;
    evaluate_kkt(s);
}

/* Makes one feasibility restoration move and adds its multipliers. Returns false if the system cannot be solved. */
static bool primal_dual_restore(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    if (!p->restoring)
        save_iterate(s);
    p->restoring = true;
    p->moves++;
    memset(r->particle_rhs, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->particle_rhs);
    sinew_kkt_gather_constraints(r);
    if (!solve_kkt_system(s, true))
        return false;
    sinew_kkt_move(s, primal_dual_find_step(s), s->q);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->lambda[constraint] += r->change[constraint];
    s->gradient_known = false;
    return true;
}

/* ---- Line search on the merit function ------------------------------------------------------- */

/* Violation term (J) of the merit function: sum_i mu_i |C_i| of hard constraints; mu_i max(-C_i, 0) of inequalities. */
static double weighted_violation(const sinew_kkt *r)
{
    const primal_dual *p = r->own;
    double sum = 0;
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0; k < set->constraint_count && set->hard; k++) {
            const double C = r->constraints->C[set->first_constraint + k];
            const bool one_sided = sinew_constraint_is_inequality(r->constraints, set->first_constraint + k);
            sum += p->mu[set->first_constraint + k] * (one_sided ? fmax(-C, 0) : fabs(C));
        }
    }
    return sum;
}

/* Sets merit weights for the current multipliers. Returns the slope of the merit along p->step: grad g_soft . dq minus
 * the weighted violation, which a full step removes to first order. */
static double find_merit_slope(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    double pulled = 0;
    sinew_constraints_product(r->constraints, p->step, r->right);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0, constraint = set->first_constraint; k < set->constraint_count && set->hard;
             k++, constraint++) {
            p->mu[constraint] = fmax(p->mu[constraint], 1.5 * fabs(r->lambda[constraint] + r->change[constraint]));
            pulled += r->lambda[constraint] * r->right[constraint];
        }
    }
    return sinew_dot(s->gradient, p->step, s->objective->particle_count, s->objective->thread_count) + pulled -
           weighted_violation(r);
}

/* Moves q and lambda to a fraction of the step from the start of the line search; the step filter truncates the
 * displacement of q. */
static void move_to_trial(sinew_solve *s, double fraction)
{
    sinew_kkt *r = s->memory;
    const primal_dual *p = r->own;
    memcpy(s->q, p->q, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    sinew_kkt_move(s, fraction, s->q);
    if (s->contact && fraction > 0)
        s->contact->limit(s->contact->context, s->q);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->lambda[constraint] = p->lambda[constraint] + fraction * r->change[constraint];
    s->gradient_known = false;
}

static double merit_of_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const double g = sinew_objective_value(s->error_objective, s->q, NULL);
    sinew_constraints_evaluate(r->constraints, s->q);
    return g + weighted_violation(r);
}

typedef struct merit_trial {
    sinew_solve *s;
    /* scale of forces, N; KKT residual, slope and value of the merit function at the start */
    double scale, left, slope, merit;
    bool first; /* true: the line search has not tried any step yet */
} merit_trial;

static bool try_merit(void *context, double fraction, double *change)
{
    merit_trial *t = context;
    primal_dual *p = ((sinew_kkt *)t->s->memory)->own;
    const bool first = t->first;
    t->first = false;
    move_to_trial(t->s, p->fraction = fraction);
    const double now = merit_of_iterate(t->s), noise = 1e-14 * fabs(t->merit);
    *change = now - t->merit;
    if (isfinite(now) && t->slope < 0 && now <= t->merit + ARMIJO * fraction * t->slope + noise)
        return true;
    if (!first || !isfinite(now))
        return false;
    evaluate_kkt(t->s);
    return kkt_residuals_left(t->s, t->scale) <= CLEAR * t->left;
}

/* Line search: moves q and lambda by a fraction of the step. Returns false, with both restored, if no fraction is
 * acceptable. */
static bool search_merit(sinew_solve *s, double scale)
{
    const sinew_backtracking lengths = {.first = primal_dual_find_step(s), .factor = 0.5, .trials = TRIALS};
    merit_trial t = {.s = s, .scale = scale, .left = kkt_residuals_left(s, scale), .first = true};
    t.slope = find_merit_slope(s);
    save_iterate(s);
    t.merit = merit_of_iterate(s);
    if (sinew_backtrack(&lengths, try_merit, &t))
        return true;
    move_to_trial(s, 0);
    return false;
}

static uint32_t primal_dual_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    primal_dual *p = r->own;
    evaluate_kkt(s);
    if (p->restoring && (p->moves >= RESTORE_MAX || !isfinite(s->residual)) &&
        !(sinew_kkt_violation(r, false) <= sinew_kkt_tolerance(s)))
        abandon_restoration(s);
    if (!isfinite(s->residual))
        return SINEW_STEP_NOT_FINITE;
    const double scale = force_scale(s);
    if (kkt_is_solved(s, scale)) {
        if (p->shift > 0)
            s->warnings |= SINEW_STEP_INDEFINITE;
        s->converged = true;
        return 0;
    }
    if (needs_feasibility_restoration(s))
        return primal_dual_restore(s) ? 0 : SINEW_STEP_STALLED;
    if (p->restoring)
        reset_search(p, r->constraints->constraint_count);
    p->before = s->residual;
    if (!primal_dual_find_direction(s))
        return SINEW_STEP_STALLED | SINEW_STEP_INDEFINITE;
    return search_merit(s, scale) ? 0 : SINEW_STEP_STALLED;
}

/* New contacts change the objective, so weights of the merit function and a restoration in progress are dropped. */
static void primal_dual_contacts_changed(sinew_solve *s, uint32_t what)
{
    sinew_kkt *r = s->memory;
    if (what & SINEW_UPDATE_ELEMENTS)
        reset_search(r->own, r->constraints->constraint_count);
    ((primal_dual *)r->own)->before = HUGE_VAL;
}

const sinew_solver_ops sinew_solver_primal_dual = {
    .info = {.name = "primal-dual",
             .summary = "Newton's method on the KKT conditions: the reference for constraint solvers",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = 0,
             .quasistatic = true},
    SINEW_KKT_OPS,
    .refreshes = SINEW_KKT_CONTACT_REFRESHES,
    .refresh = sinew_kkt_refresh,
    .prepare = primal_dual_prepare,
    .release = primal_dual_release,
    .needs_gradient = true,
    .work = {.newtons = 1.6},
    .begin = primal_dual_begin,
    .iterate = primal_dual_iterate,
    .contacts_changed = primal_dual_contacts_changed,
    .corrects_forces = true,
};
