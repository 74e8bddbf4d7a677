/* SPDX-License-Identifier: MIT
 *
 * sap.c: step and project (SAP, Goldenthal et al. 2007; with compliance as in XPBD).
 *
 * First, a linearly implicit step of the other energies gives the start; without such energies this is q_tilde. Then
 * all constraints are projected together, linearised at the last iterate, in the metric of the masses:
 *
 *     (h^2 J M^-1 J^T + alpha) dlambda = -(C + alpha lambda),   dq = h^2 M^-1 J^T dlambda,   lambda += dlambda
 *
 * lambda is in newtons. Each iteration solves one saddle-point system (saddle_system.h), until |C + alpha lambda| is at
 * the tolerance. Particles move by the increment dlambda, not by the total lambda. A Gauss-Seidel sweep over this
 * system, with each constraint linearised again, is one iteration of PBD, or with compliance of XPBD: sap is XPBD
 * solved globally.
 *
 * After the first iteration the metric includes the geometric stiffness of hard edges under tension
 * (geometric_stiffness.c), with the current multipliers. Without it (`geometric` = off, the published method) a fine
 * cloth pinned at two corners does not converge, because the edges between the corners are nearly straight.
 *
 * Contacts are energies psi_c. From the first contact of a step on, the block A is that of all energies that are no
 * constraints, contacts included, and the right-hand side of the particles is their balance with the constraint forces
 * F so far, which keep the directions of their iterates:
 *
 *     (M/h^2 + H + K) dq - J^T dlambda = F - grad g_rest,    J dq = -C,    F += J^T dlambda - K dq
 *
 * H is the Hessian of energies and contacts, K the geometric stiffness. Without contacts the right-hand side is zero.
 *
 * Known limits: constraints are met, but forces J^T lambda have the directions of earlier iterates, so that grad g -
 * J^T lambda is not zero. Geometric stiffness corrects the directions to first order only. The result differs from that
 * of primal-dual at first order in the curvature of C; a step with curved hard constraints reports not_converged. In
 * steps without contact the projection follows the step of the other energies and is not coupled with it.
 */
#include <math.h>
#include <string.h>

#include "solve/kkt/kkt_common.h"
#include "solve/line_search.h"

/* Round-off of the balance of forces in units in the last place; chosen, not measured. */
#define NOISE_UNITS 16
/* Round-off of an objective value, a sum of many terms, relative to its terms; chosen, not measured. */
#define VALUE_NOISE (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)
#define ARMIJO      1e-4
#define TRIALS      20

enum {
    CONSTRAINTS,
    GEOMETRIC,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [CONSTRAINTS] = SINEW_CONSTRAIN_PARAMETER,
    [GEOMETRIC] = SINEW_GEOMETRIC_PARAMETER(
        "on|off", 1, "geometric stiffness of hard edges under tension in the metric; off: masses alone, as published"),
};

typedef struct sap {
    double force; /* norm of the unbalanced force at the start of the step, in N */
    bool tension; /* true: multipliers are known, so the metric includes geometric stiffness */
    /* empty set, for the linear system of the other energies; NULL if there are none */
    sinew_constraints *no_constraints;
    sinew_saddle *rest; /* that linear system; NULL if there are no other energies */
    /* Systems of the projection without contacts; `plain` of sinew_kkt is one of them. `coupled` has the other energies;
     * NULL until contacts or the step filter first act, or if there are no other energies. */
    sinew_saddle *masses, *coupled;
    /* The members below are used in worlds with contact only. */
    double *impressed; /* [free_count][3] constraint forces so far, in the directions of their iterates: F, in N */
    double *product;   /* [free_count][3] (M/h^2 + H) dq of the last solution, in N */
    sinew_real *start; /* [particle_count][4] positions at the start of a line search, in m */
    double balance;    /* norm of F - grad g_rest, in N */
    bool touched;      /* true: contacts or the step filter have acted in this step; false: solved as without contact */
    double scale;      /* scale of `balance` without constraint forces, in N */
} sap;

static bool is_no_constraint(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return false;
}

static sinew_status sap_prepare_rest(sinew_solve *s, sap *p, sinew_error *error)
{
    sinew_kkt *r = s->memory;
    p->no_constraints = sinew_constraints_create(s->objective, is_no_constraint, NULL, NULL, error);
    p->rest = p->no_constraints ? sinew_saddle_create(&r->rest, p->no_constraints, 0, error) : NULL;
    return p->rest ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

/* Prepares step and project. Before the first contact the matrix of the projection has masses alone, so the other
 * energies need a separate linear system. */
static sinew_status sap_prepare(sinew_solve *s, sinew_error *error)
{
    const uint32_t kind =
        SINEW_SADDLE_MASSES | (s->def.parameters[GEOMETRIC] == SINEW_GEOMETRIC_ON ? SINEW_SADDLE_TENSION_STIFFNESS : 0);
    const sinew_status status = sinew_kkt_prepare(s, (int)s->def.parameters[CONSTRAINTS], kind, sizeof(sap), error);
    sinew_kkt *r = s->memory;
    if (status != SINEW_OK)
        return status;
    const sinew_allocator *a = &s->objective->allocator;
    sap *p = r->own;
    p->masses = r->plain;
    p->impressed = sinew_allocate_zero(a, 3 * (size_t)s->objective->particle_count, sizeof *p->impressed);
    p->product = sinew_allocate_zero(a, 3 * (size_t)s->objective->particle_count, sizeof *p->product);
    p->start = sinew_allocate_zero(a, 4 * (size_t)s->objective->particle_count, sizeof *p->start);
    if (!p->impressed || !p->product || !p->start)
        return sinew_fail_memory(error, "the system of constraints");
    return r->rest.task_count > 0 ? sap_prepare_rest(s, p, error) : SINEW_OK;
}

/* The system of the projection becomes `plain`, which is p->masses or p->coupled. */
static void sap_use(sinew_kkt *r, sinew_saddle *plain)
{
    if (r->saddle != r->plain)
        sinew_saddle_destroy(r->saddle);
    r->saddle = r->plain = plain;
}

/* Replaces the system of masses by the one with the other energies. A step in which nothing touches starts with masses
 * again (sap_begin), so that results do not depend on contacts of earlier steps. */
static sinew_status sap_couple(sinew_solve *s, sinew_error *error)
{
    sinew_kkt *r = s->memory;
    sap *p = r->own;
    if (!p->rest || r->plain != p->masses)
        return SINEW_OK;
    if (!p->coupled)
        p->coupled =
            sinew_saddle_create(&r->rest, r->constraints, p->masses->kind & ~(uint32_t)SINEW_SADDLE_MASSES, error);
    if (!p->coupled)
        return error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
    sap_use(r, p->coupled);
    return SINEW_OK;
}

static sinew_status sap_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    const sinew_status status = changed & SINEW_CHANGED_IN_STEP ? sap_couple(s, error) : SINEW_OK;
    return status == SINEW_OK ? sinew_kkt_refresh(s, changed, error) : status;
}

static void sap_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    if (r && r->own) {
        sap *p = r->own;
        sinew_saddle_destroy(p->rest);
        sinew_saddle_destroy(r->plain == p->masses ? p->coupled : p->masses);
        sinew_constraints_destroy(p->no_constraints);
        void *arrays[] = {p->impressed, p->product, p->start};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
            sinew_release(&s->objective->allocator, arrays[i]);
    }
    sinew_kkt_release(s);
}

/* ---- Balance of forces in worlds with contact ------------------------------------------------- */

/* p->impressed += sign times the right-hand side of the particle rows. */
static void add_impressed_force(sap *p, const sinew_kkt *r, double sign)
{
    for (int32_t k = 0; k < 3 * r->saddle->free_count; k++)
        p->impressed[k] += sign * r->particle_rhs[k];
}

/* particle_rhs = F - grad g_rest at s->q, and its norm in p->balance. */
static void sap_balance(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sap *p = r->own;
    const sinew_assembly *as = r->saddle->assembly;
    double sum = 0;
    sinew_objective_gradient(&r->rest, s->q, r->gradient, NULL);
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++) {
            const double g = (double)r->gradient[4 * (size_t)as->particle[k] + (size_t)c];
            r->particle_rhs[3 * k + c] = p->impressed[3 * k + c] - g;
            sum += r->particle_rhs[3 * k + c] * r->particle_rhs[3 * k + c];
        }
    p->balance = sqrt(sum);
}

/* ---- Line search on contacts ------------------------------------------------------------------ */

/* One line search along the last solution dq, for
 *
 *     phi(q) = g_rest(q) - F . q
 *
 * Its quadratic model is that of the system, phi(0) + alpha slope + alpha^2 D / 2: without other energies exact but
 * for contacts that begin, end or slide. A step is accepted if phi is above the model by less than (1/2 - delta)
 * alpha D: without constraints, where slope = -D, that is Armijo's condition for a full step. Constraints may raise
 * phi as the model says. */
typedef struct contact_search {
    sinew_solve *s;
    double value;    /* phi at the start of the search, without F . q, in J */
    double slope, D; /* slope of phi, and dq . (M/h^2 + H) dq, in J */
    double pull;     /* F . dq, in J */
    double fraction; /* alpha of the last trial */
} contact_search;

static bool try_contacts(void *context, double alpha, double *change)
{
    contact_search *t = context;
    sinew_solve *s = t->s;
    sinew_kkt *r = s->memory;
    memcpy(s->q, ((sap *)r->own)->start, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    sinew_kkt_move(s, t->fraction = alpha, s->q);
    const double value = sinew_objective_value(&r->rest, s->q, NULL);
    *change = value - t->value - alpha * t->pull;
    const double noise = VALUE_NOISE * (fabs(value) + fabs(t->value) + fabs(alpha * t->pull));
    return *change <= alpha * t->slope + (alpha / 2 + 0.5 - ARMIJO) * alpha * t->D + noise;
}

/* p->product = (M/h^2 + H) dq; before the first contact without H. */
static void multiply_metric(const sinew_solve *s)
{
    const sinew_kkt *r = s->memory;
    sap *p = r->own;
    const sinew_step_inputs *step = &s->objective->step;
    for (int32_t k = 0; k < 3 * r->saddle->free_count; k++)
        p->product[k] =
            p->touched ? 0
                       : (double)step->mass[r->saddle->assembly->particle[k / 3]] / (step->h * step->h) * r->move[k];
    if (p->touched)
        sinew_saddle_add_product(r->saddle, r->move, p->product);
}

/* Moves s->q along the last solution dq, with contacts by a line search. Returns the fraction of dq taken, and adds to
 * F this fraction of the constraint forces: J^T dlambda less the geometric stiffness times dq, which is (M/h^2 + H) dq
 * less the right-hand side of the particles. */
static double sap_search(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sap *p = r->own;
    const int32_t count = 3 * r->saddle->free_count;
    const sinew_backtracking lengths = {.first = 1, .factor = 0.5, .trials = TRIALS};
    contact_search t = {.s = s, .fraction = 1, .value = sinew_objective_value(&r->rest, s->q, NULL)};
    multiply_metric(s);
    for (int32_t k = 0; k < count; k++) {
        t.slope -= r->particle_rhs[k] * r->move[k];
        t.D += p->product[k] * r->move[k];
        t.pull += p->impressed[k] * r->move[k];
    }
    memcpy(p->start, s->q, 4 * (size_t)s->objective->particle_count * sizeof *p->start);
    if (p->touched)
        sinew_backtrack(&lengths, try_contacts, &t);
    else
        sinew_kkt_move(s, t.fraction, s->q);
    for (int32_t k = 0; k < count; k++)
        p->impressed[k] += t.fraction * (p->product[k] - r->particle_rhs[k]);
    return t.fraction;
}

/* Round-off of the balance, in N: the diagonal of A times the spacing of positions. */
static double balance_noise(const sinew_solve *s)
{
    const sinew_kkt *r = s->memory;
    return NOISE_UNITS * r->saddle->trace_norm * sinew_objective_round_off(&r->rest, s->q);
}

static double sap_contact_residual(sinew_solve *s)
{
    return ((sap *)((sinew_kkt *)s->memory)->own)->balance;
}

static bool sap_has_converged(const sinew_solve *s, const sinew_kkt *r)
{
    const sap *p = r->own;
    const double tolerance = (double)s->def.tolerance;
    if (!(tolerance > 0 && sinew_kkt_violation(r, false) <= tolerance))
        return false;
    return !p->touched || p->balance <= fmax(tolerance * fmax(p->scale, sinew_kkt_force(r)), balance_noise(s));
}

/* ---- Step of the other energies, and projection ------------------------------------------------ */

/* Moves s->q from q_n by one Newton step of the other energies, H dq = -grad g. If H is not definite, s->q stays and
 * the step is marked indefinite. */
static void step_rest(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_saddle *rest = ((sap *)r->own)->rest;
    sinew_saddle_assemble(rest, &(sinew_saddle_fill){.q = s->q, .hessian = true, .project = true});
    if (!sinew_saddle_factorise(rest, 0)) {
        s->warnings |= SINEW_STEP_INDEFINITE;
        return;
    }
    sinew_saddle_solve(rest, r->particle_rhs, r->right, r->move, r->change);
    sinew_kkt_move(s, 1, s->q);
}

/* Evaluates the constraints at the iterate s->q and chooses the active ones; forces of released constraints are removed
 * through particle_rhs. Sets s->converged if the constraints hold and, in worlds with contact, forces balance. */
static void sap_evaluate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    memset(r->particle_rhs, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->particle_rhs);
    sinew_kkt_evaluate(r, s->q);
    sinew_kkt_choose_active(r, ((sap *)r->own)->force, r->particle_rhs);
    if (s->contact)
        add_impressed_force(r->own, r, 1);
    if (((sap *)r->own)->touched)
        sap_balance(s);
    s->converged = sap_has_converged(s, r);
}

/* Norm of the inertial force at q_n, M/h^2 (q_n - q_tilde), in N. */
static double inertial_force(const sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    double sum = 0;
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 4 * (size_t)i; c < 4 * (size_t)i + 3 && !o->step.pinned[i]; c++)
            sum += pow((double)o->step.mass[i] * ((double)s->q_start[c] - (double)o->step.q_tilde[c]), 2);
    return sqrt(sum) / (o->step.h * o->step.h);
}

static void sap_begin(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sap *p = r->own;
    double sum = 0;
    p->touched = s->contact && sinew_objective_has_contacts(&r->rest);
    if (!p->touched && r->plain != p->masses)
        sap_use(r, p->masses);
    sinew_kkt_begin(s);
    sinew_kkt_gather(s, s->q, false);
    for (int32_t k = 0; k < 3 * r->saddle->free_count; k++)
        sum += r->particle_rhs[k] * r->particle_rhs[k];
    p->force = sqrt(sum);
    p->tension = false;
    p->balance = 0;
    memset(p->impressed, 0, 3 * (size_t)r->saddle->free_count * sizeof *p->impressed);
    if (s->contact)
        p->force = p->scale = fmax(p->force, inertial_force(s));
    if (p->rest && !p->touched)
        step_rest(s);
    else
        sinew_solve_start(s, 0);
    s->gradient_known = false;
    sap_evaluate(s);
}

/* Factorises the matrix of the projection; without geometric stiffness if the matrix with it is not definite, as it may
 * be for rigid bodies. */
static bool sap_factorise(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_saddle_fill fill = {.q = s->q,
                              .hessian = ((sap *)r->own)->touched,
                              .project = true,
                              .curvature = ((sap *)r->own)->tension,
                              .active = r->active};
    if (fill.curvature) {
        sinew_kkt_second_derivatives(r, s->q, true);
        sinew_saddle_assemble(r->saddle, &fill);
        if (sinew_saddle_factorise(r->saddle, 0))
            return true;
    }
    fill.curvature = false;
    sinew_saddle_assemble(r->saddle, &fill);
    return sinew_saddle_factorise(r->saddle, 0);
}

static uint32_t sap_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_kkt_gather_constraints(r);
    if (!sap_factorise(s))
        return SINEW_STEP_STALLED;
    sinew_kkt_mark_redundant(r);
    sinew_saddle_solve(r->saddle, r->particle_rhs, r->right, r->move, r->change);
    double fraction = 1;
    if (s->contact)
        fraction = sap_search(s);
    else
        sinew_kkt_move(s, 1, s->q);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->lambda[constraint] += fraction * r->change[constraint];
    ((sap *)r->own)->tension = r->saddle->curved;
    s->linear_iterations++;
    s->gradient_known = false;
    sap_evaluate(s);
    return 0;
}

static void sap_contacts_changed(sinew_solve *s, uint32_t what)
{
    (void)what;
    ((sap *)((sinew_kkt *)s->memory)->own)->touched = true;
    /* If memory is short, the system of masses stays. */
    (void)sap_couple(s, NULL);
    sap_evaluate(s);
}

const sinew_solver_ops sinew_solver_sap = {
    .info = {.name = "sap",
             .summary = "step and project: all constraints as one system, linearised again; compliant: XPBD globally",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 30,
             .needs = 0},
    SINEW_KKT_OPS,
    .refreshes = SINEW_KKT_CONTACT_REFRESHES,
    .refresh = sap_refresh,
    .prepare = sap_prepare,
    .release = sap_release,
    .work = {.gradients = 11},
    .begin = sap_begin,
    .iterate = sap_iterate,
    .contacts_changed = sap_contacts_changed,
    .contact_residual = sap_contact_residual,
};
