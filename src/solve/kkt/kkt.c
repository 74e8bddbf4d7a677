/* SPDX-License-Identifier: MIT
 *
 * kkt.c: constraints at the level of velocities, one linear system per step (thesis 3.21 hard, 3.26 compliant).
 *
 *     [ A   -J^T      ] [ v  ]   [ p + h f  ]       A = M,  or  M - h^2 K, K = df/dq of the other energies
 *     [ J   alpha/h^2 ] [ mu ] = [ -C/h, -D ]       p = M v_n, lambda = mu / h, q = q_n + h v, J and C at q_n
 *
 * The right-hand side of compliant constraints is -C/h. Hard constraints C(q, t) are differentiated once:
 *
 *     dC/dt = J v + D = 0        D = (C(q_n, t + h) - C(q_n, t)) / h, the mean of the partial derivative by t
 *
 * D is zero unless a motor or a moving target drives the constraint. (Moving pins add their change of C.) J is that of
 * the targets at t + h, so that C(q_n + h v, t + h) = C(q_n, t) + h^2/2 v^T d2C v: hard constraints drift by the last
 * term per step, without correction; the violation of the step measures the drift. The code solves for dq = h v with
 * lambda in newtons, as in saddle_system.h.
 *
 * `system` = schur eliminates the particles, which is cheap because M/h^2 is diagonal (notes, KKT):
 *     (J M^-1 J^T h^2 + alpha) lambda = b - J h^2 M^-1 a
 *
 * `expansion`: the point at which J is taken. first: J at q_n, so that C+ is predicted to first order. The notes write
 *
 *     phi+ = phi + h (J + h dJ/dx v) v+          the Jacobian at the end of the step, by second derivatives
 *
 * (`end`). Taylor's series has half of this term, h^2/2 v^T d2C v: C+ = C + h (J + h/2 dJ/dx v) v+ (`midpoint`). The
 * error of C+ in a step is h^2/2 v^T d2C v for `first`, minus the same for `end`, and O(h^3) for `midpoint`. Constraint
 * forces act along the same J, so that the matrix stays symmetric. For `midpoint` and `end`, pins move to their targets
 * before J is evaluated.
 *
 * `stepper` = servin: regularised constraints (Servin, Lacoursiere and Melin 2006; notes [12]). The mean over three
 * steps satisfies C + tau dC/dt + alpha lambda = 0, with dC/dt of the current step:
 *
 *     (C+ + 2 C + C-) / 4 + tau (C+ - C) / h + alpha lambda = 0,    C+ = C + J dq,   C- = C(q_n - h v_n)
 *
 * or, with s = 4 tau / h, J dq + 4 alpha / (1 + s) lambda = -C - ((2 - s) C + C-) / (1 + s). Forces along J at q_n and
 * q = q_n + h v make this symplectic Euler with multipliers, without second derivatives. C+, C and C- of driven
 * constraints have the targets of t + h, t and t - h. A compliant constraint is stable at every h and conserves energy
 * if tau = 0. Hard constraints do not drift: violations decay with the roots of (1 + s) z^2 + (2 - s) z + 1, by a
 * factor of 1/3 per step for tau = 2 h.
 *
 * Known limits: a target that a program changes between two steps is a jump of C, which `implicit` keeps like any
 * violation: only the motion of the target within the step counts. Inequalities that the unconstrained motion would
 * violate are active for the whole step. With `matrix` = mass all other energies act explicitly.
 */
#include <math.h>
#include <string.h>

#include "solve/kkt/schur.h"
#include "solve/kkt/kkt_common.h"

enum {
    CONSTRAINTS,
    MATRIX,
    SYSTEM,
    STEPPER,
    RELAXATION,
    EXPANSION,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [CONSTRAINTS] = SINEW_CONSTRAIN_PARAMETER,
    [MATRIX] = {.name = "matrix",
                .expert = true,
                .unit = "",
                .choices = "mass|stiffness",
                .maximum = 1,
                .preset = 1,
                .meaning = "A: the masses alone, or with the stiffness of the energies that are no constraints"},
    [SYSTEM] = {.name = "system",
                .expert = true,
                .unit = "",
                .choices = "full|schur",
                .maximum = 1,
                .preset = 0,
                .meaning = "velocities and multipliers at once, or multipliers first (matrix = mass)"},
    [STEPPER] = {.name = "stepper",
                 .expert = true,
                 .unit = "",
                 .choices = "implicit|servin",
                 .maximum = 1,
                 .preset = 0,
                 .meaning =
                     "C at the end of the step and J v = 0 of hard constraints, or the mean of C over three steps"},
    [RELAXATION] = {.name = "relaxation",
                    .expert = true,
                    .unit = "",
                    .minimum = 0,
                    .maximum = 1e6,
                    .preset = 2,
                    .meaning =
                        "servin: time in which violations decay, in steps; 0: compliant constraints are not damped"},
    [EXPANSION] = {.name = "expansion",
                   .expert = true,
                   .unit = "",
                   .choices = "first|midpoint|end",
                   .maximum = 2,
                   .preset = 0,
                   .meaning = "J of the constraints: at the start, in the middle or at the end of the step, by second "
                              "derivatives along v"},
};

typedef struct kkt {
    sinew_schur *schur;
} kkt;

static bool uses_schur(const sinew_solve *s)
{
    return s->def.parameters[SYSTEM] > 0;
}

static sinew_status kkt_prepare(sinew_solve *s, sinew_error *error)
{
    if (uses_schur(s) && s->def.parameters[MATRIX] > 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "kkt: system = schur needs matrix = mass: the inverse of a stiffness matrix is dense");
    if (s->def.parameters[EXPANSION] > 0 && s->def.parameters[STEPPER] > 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "kkt: stepper = servin has the J of the start: use expansion = first, or stepper = implicit");
    const uint32_t kind = (s->def.parameters[MATRIX] > 0 ? 0 : SINEW_SADDLE_MASSES) |
                          (s->def.parameters[EXPANSION] > 0 ? SINEW_CONSTRAIN_CURVED : 0);
    const sinew_status status = sinew_kkt_prepare(s, (int)s->def.parameters[CONSTRAINTS], kind, sizeof(kkt), error);
    if (status != SINEW_OK || !uses_schur(s))
        return status;
    sinew_kkt *r = s->memory;
    kkt *k = r->own;
    k->schur = sinew_schur_create(r->saddle, error);
    return k->schur ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

static void kkt_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    if (r && r->own)
        sinew_schur_destroy(((kkt *)r->own)->schur);
    sinew_kkt_release(s);
}

/* Returns the constraint values C(q_n, t_n) after an evaluation at q_n. If no constraint is driven, C does not
 * depend on time, and the evaluated values are returned. */
static const double *start_values(const sinew_kkt *r)
{
    return r->driven ? r->start : r->constraints->C;
}

/* Right-hand side of the constraint rows: minus the value C of compliant constraints and active inequalities, with
 * pins at their targets; for hard equality constraints minus the change of C by the motion of pins and of targets; 0
 * for inactive inequalities. */
static void gather_velocity_constraints(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_constraints_evaluate(r->constraints, s->q);
    memcpy(r->right, r->constraints->C, (size_t)r->constraints->constraint_count * sizeof *r->right);
    if (r->driven)
        sinew_kkt_values_at(s, s->q_start, 0, r->start);
    sinew_kkt_evaluate(r, s->q_start);
    sinew_kkt_predict_active(s);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0, constraint = set->first_constraint; k < set->constraint_count; k++, constraint++) {
            const bool drifts = set->hard && !sinew_constraint_is_inequality(r->constraints, constraint);
            r->right[constraint] =
                r->active[constraint] ? (drifts ? start_values(r)[constraint] : 0) - r->right[constraint] : 0;
        }
    }
}

/* Extrapolates the gradient of constraint i of one element along the velocities v: J_i += reach dJ_i/dx v, from its
 * second derivatives constraints->blocks = d2C_i; reach is a time (s). */
static void expand_element(const sinew_kkt *r, const sinew_objective *o, const sinew_constraint_set *set,
                           int32_t element, int32_t i, double reach)
{
    const size_t n = (size_t)set->vertex_count;
    const int32_t *particles = sinew_constraint_particles(r->constraints, set, element);
    const double *blocks = r->constraints->blocks + set->block_at + (size_t)element * 9 * (n * (n + 1) / 2);
    double *J = r->constraints->J + (sinew_constraint_jacobian(r->constraints, set, element, i) - r->constraints->J);
    for (size_t k = 0; k < 9 * n * n; k++) {
        const size_t a = k / 9 / n, b = k / 9 % n, row = k / 3 % 3, column = k % 3;
        if (particles[a] < 0 || particles[b] < 0)
            continue;
        const double second = a >= b ? blocks[(a * (a + 1) / 2 + b) * 9 + 3 * row + column]
                                     : blocks[(b * (b + 1) / 2 + a) * 9 + 3 * column + row];
        J[3 * a + row] += reach * second * o->step.v_kept * (double)o->step.v[4 * (size_t)particles[b] + column];
    }
}

/* Moves the Jacobian along v: J += reach dJ/dx v with pins at their targets, until the next evaluation; overwrites
 * r->change. Each pass evaluates the second derivatives of one constraint per element, because the blocks of an element
 * sum over its constraints. */
static void expand_constraints(sinew_solve *s, double reach)
{
    sinew_kkt *r = s->memory;
    int32_t max = 0;
    for (int32_t t = 0; t < r->constraints->set_count; t++)
        max = r->constraints->sets[t].per_element > max ? r->constraints->sets[t].per_element : max;
    sinew_kkt_evaluate(r, s->q);
    for (int32_t i = 0; i < max; i++) {
        for (int32_t t = 0; t < r->constraints->set_count; t++)
            for (int32_t k = 0; k < r->constraints->sets[t].constraint_count; k++)
                r->change[r->constraints->sets[t].first_constraint + k] = k % r->constraints->sets[t].per_element == i;
        sinew_constraints_evaluate_second(r->constraints, s->q, r->change);
        for (int32_t t = 0; t < r->constraints->set_count; t++)
            for (int32_t e = 0; i < r->constraints->sets[t].per_element && e < r->constraints->sets[t].element_count;
                 e++)
                expand_element(r, s->objective, &r->constraints->sets[t], e, i, reach);
    }
}

/* Scales the compliances of all equality constraints, alpha <- factor alpha, until the next evaluation. */
static void scale_compliance(sinew_constraints *constraints, double factor)
{
    for (int32_t t = 0; t < constraints->set_count; t++) {
        const sinew_constraint_set *set = &constraints->sets[t];
        const int32_t m = set->per_element;
        for (int32_t k = 0; k < set->element_count * m * m; k++)
            if (!sinew_constraint_is_inequality(constraints, sinew_constraint_index(set, k / (m * m), k / m % m)) &&
                !sinew_constraint_is_inequality(constraints, sinew_constraint_index(set, k / (m * m), k % m)))
                constraints->alpha[set->compliance_at + (size_t)k] *= factor;
    }
}

/* before = C(q_n - h v_n), the constraint values at the start of the last step; overwrites r->gradient. */
static void evaluate_constraints_before(sinew_solve *s, double *before)
{
    sinew_kkt *r = s->memory;
    const sinew_objective *o = s->objective;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        r->gradient[i] = (sinew_real)((double)s->q_start[i] - o->step.h * (double)o->step.v[i]);
    sinew_kkt_values_at(s, r->gradient, -1, before);
}

/* Sets the right-hand side and the compliance alpha of the constraint rows for Servin's stepper; its values C+ have
 * pins at their targets. Inequalities are met at the end of the step. */
static void gather_servin_constraints(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const double four = 4 * (double)s->def.parameters[RELAXATION];
    double *const before = r->change;
    evaluate_constraints_before(s, before);
    if (r->driven)
        sinew_kkt_values_at(s, s->q_start, 0, r->start);
    sinew_constraints_evaluate(r->constraints, s->q);
    memcpy(r->right, r->constraints->C, (size_t)r->constraints->constraint_count * sizeof *r->right);
    sinew_kkt_evaluate(r, s->q_start);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0, constraint = set->first_constraint; k < set->constraint_count; k++, constraint++) {
            const double past = ((2 - four) * start_values(r)[constraint] + before[constraint]) / (1 + four);
            r->right[constraint] =
                -r->right[constraint] - (sinew_constraint_is_inequality(r->constraints, constraint) ? 0 : past);
        }
    }
    sinew_kkt_predict_active(s);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->right[constraint] = r->active[constraint] ? r->right[constraint] : 0;
    scale_compliance(r->constraints, 4 / (1 + four));
}

static uint32_t kkt_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const bool stiff = s->def.parameters[MATRIX] > 0;
    const sinew_saddle_fill fill = {.q = s->q, .hessian = stiff, .active = r->active};
    sinew_kkt_gather(s, s->q, false);
    (s->def.parameters[STEPPER] > 0 ? gather_servin_constraints : gather_velocity_constraints)(s);
    if (s->def.parameters[EXPANSION] > 0)
        expand_constraints(s, (double)s->def.parameters[EXPANSION] / 2 * s->objective->step.h);
    if (!uses_schur(s))
        return sinew_kkt_step(s, &fill);
    if (!sinew_schur_solve(((kkt *)r->own)->schur, r->active, r->particle_rhs, r->right, r->move, r->change)) {
        sinew_kkt_add_message(s, "system = schur needs constraints that do not depend on each other; use full");
        return SINEW_STEP_STALLED;
    }
    sinew_kkt_accept(s);
    return 0;
}

const sinew_solver_ops sinew_solver_kkt = {
    .info = {.name = "kkt",
             .summary = "constraints on velocities, one linear system a step; hard ones drift",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 1,
             .needs = 0},
    SINEW_KKT_OPS,
    .refreshes = SINEW_KKT_REFRESHES,
    .prepare = kkt_prepare,
    .release = kkt_release,
    .work = {.newtons = 1.25},
    .begin = sinew_kkt_begin,
    .iterate = kkt_iterate,
};
