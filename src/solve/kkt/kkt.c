/* SPDX-License-Identifier: MIT
 *
 * kkt.c: constraints at the level of velocities, one linear system a step (thesis 3.21 hard, 3.26 compliant).
 *
 *     [ A   -J^T      ] [ v  ]   [ p + h f  ]       A = M,  or  M - h^2 K, K of the energies that are no rows
 *     [ J   alpha/h^2 ] [ mu ] = [ -C/h, 0  ]       lambda = mu / h, q = q_n + h v, J and C at q_n
 *
 * The right-hand side of compliant rows is -C/h; that of hard rows is zero, as they are differentiated once: J v = 0.
 * (Pins that move add what they do to C.) Hard rows therefore drift, by h^2/2 v^T d2C v a step and for good; the step's
 * violation says how far. Written here for dq = h v, with lambda in newtons, as saddle_system.h has it.
 *
 * `system` = schur eliminates the particles, which M/h^2 being diagonal makes cheap (notes, KKT):
 *     (J M^-1 J^T h^2 + alpha) lambda = b - J h^2 M^-1 a
 *
 * `expansion`: the J that rows and forces have. first: J at q_n, so that C+ is known to first order. The notes write
 *
 *     phi+ = phi + h (J + h dJ/dx v) v+          the Jacobian at the end of the step, by second derivatives
 *
 * (`end`). Taylor's series has half of that term, h^2/2 v^T d2C v: C+ = C + h (J + h/2 dJ/dx v) v+ (`midpoint`). The
 * error of C+ in a step is h^2/2 v^T d2C v of `first`, minus as much of `end`, and O(h^3) of `midpoint`. Forces act
 * along the same J, as implicit ones do, so that the matrix stays symmetric. Pins are moved first, as in C.
 *
 * `stepper` = servin: regularised constraints (Servin, Lacoursiere and Melin 2006; notes [12]). C + tau dC/dt + alpha
 * lambda = 0 is asked of the mean over three steps, and dC/dt is of the step at hand:
 *
 *     (C+ + 2 C + C-) / 4 + tau (C+ - C) / h + alpha lambda = 0,    C+ = C + J dq,   C- = C(q_n - h v_n)
 *
 * with s = 4 tau / h that is J dq + 4 alpha / (1 + s) lambda = -C - ((2 - s) C + C-) / (1 + s). Forces along J at q_n
 * and q = q_n + h v make it symplectic Euler with multipliers: no second derivatives, and a compliant row is stable at
 * every h and loses no energy where tau = 0. Hard rows do not drift: violations go as the roots of (1 + s) z^2 + (2 -
 * s) z + 1, which is 1/3 a step for tau = 2 h.
 *
 * Known limits: inequalities act where the motion without constraints would violate them, and are not let go again
 * within the step. With `matrix` = mass the energies that are no rows act explicitly.
 */
#include <math.h>
#include <string.h>

#include "solve/kkt/schur.h"
#include "solve/kkt/kkt_common.h"

enum {
    ROWS,
    MATRIX,
    SYSTEM,
    STEPPER,
    RELAXATION,
    EXPANSION,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [ROWS] = SINEW_ROWS_PARAMETER,
    [MATRIX] = {.name = "matrix",
                .unit = "",
                .choices = "mass|stiffness",
                .maximum = 1,
                .preset = 1,
                .meaning = "A: the masses alone, or with the stiffness of the energies that are no rows"},
    [SYSTEM] = {.name = "system",
                .unit = "",
                .choices = "full|schur",
                .maximum = 1,
                .preset = 0,
                .meaning = "velocities and multipliers at once, or multipliers first (matrix = mass)"},
    [STEPPER] = {.name = "stepper",
                 .unit = "",
                 .choices = "implicit|servin",
                 .maximum = 1,
                 .preset = 0,
                 .meaning = "C at the end of the step and J v = 0 of hard rows, or the mean of C over three steps"},
    [RELAXATION] = {.name = "relaxation",
                    .unit = "",
                    .minimum = 0,
                    .maximum = 1e6,
                    .preset = 2,
                    .meaning = "servin: time in which violations decay, in steps; 0: compliant rows are not damped"},
    [EXPANSION] = {.name = "expansion",
                   .unit = "",
                   .choices = "first|midpoint|end",
                   .maximum = 2,
                   .preset = 0,
                   .meaning = "J of the rows: at the start, in the middle or at the end of the step, by second "
                              "derivatives along v"},
};

typedef struct kkt {
    sinew_row_schur *schur;
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
                          (s->def.parameters[EXPANSION] > 0 ? SINEW_ROWS_CURVED : 0);
    const sinew_status status = sinew_row_solve_prepare(s, (int)s->def.parameters[ROWS], kind, sizeof(kkt), error);
    if (status != SINEW_OK || !uses_schur(s))
        return status;
    sinew_row_solve *r = s->memory;
    kkt *k = r->own;
    k->schur = sinew_row_schur_create(r->saddle, error);
    return k->schur ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

static void kkt_release(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    if (r && r->own)
        sinew_row_schur_destroy(((kkt *)r->own)->schur);
    sinew_row_solve_release(s);
}

/* right: -C of compliant rows with the pins where they go; of hard ones only what the pins do to C. */
static void gather_velocity_rows(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    sinew_constraints_evaluate(r->rows, s->q);
    memcpy(r->right, r->rows->C, (size_t)r->rows->row_count * sizeof *r->right);
    sinew_row_evaluate(r, s->q_start);
    sinew_row_predict_active(s);
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        for (int32_t k = 0, row = set->first_row; k < set->row_count; k++, row++) {
            const bool drifts = set->hard && !sinew_row_is_inequality(r->rows, row);
            r->right[row] = r->active[row] ? (drifts ? r->rows->C[row] : 0) - r->right[row] : 0;
        }
    }
}

/* J_i += reach dJ_i/dx v of one element, from blocks = d2C_i. */
static void expand_element(const sinew_row_solve *r, const sinew_objective *o, const sinew_row_set *set,
                           int32_t element, int32_t i, double reach)
{
    const size_t n = (size_t)set->vertex_count;
    const int32_t *particles = sinew_row_particles(r->rows, set, element);
    const double *blocks = r->rows->blocks + set->block_at + (size_t)element * 9 * (n * (n + 1) / 2);
    double *J = r->rows->J + (sinew_row_jacobian(r->rows, set, element, i) - r->rows->J);
    for (size_t k = 0; k < 9 * n * n; k++) {
        const size_t a = k / 9 / n, b = k / 9 % n, row = k / 3 % 3, column = k % 3;
        if (particles[a] < 0 || particles[b] < 0)
            continue;
        const double second = a >= b ? blocks[(a * (a + 1) / 2 + b) * 9 + 3 * row + column]
                                     : blocks[(b * (b + 1) / 2 + a) * 9 + 3 * column + row];
        J[3 * a + row] += reach * second * o->v_kept * (double)o->v[4 * (size_t)particles[b] + column];
    }
}

/* J += reach dJ/dx v from where the pins go, until the rows are evaluated again; uses `change`. Second derivatives are
 * asked for constraint by constraint, because an element's add up. */
static void expand_rows(sinew_solve *s, double reach)
{
    sinew_row_solve *r = s->memory;
    int32_t most = 0;
    for (int32_t t = 0; t < r->rows->set_count; t++)
        most = r->rows->sets[t].constraint_count > most ? r->rows->sets[t].constraint_count : most;
    sinew_row_evaluate(r, s->q);
    for (int32_t i = 0; i < most; i++) {
        for (int32_t t = 0; t < r->rows->set_count; t++)
            for (int32_t k = 0; k < r->rows->sets[t].row_count; k++)
                r->change[r->rows->sets[t].first_row + k] = k % r->rows->sets[t].constraint_count == i;
        sinew_constraints_curve(r->rows, s->q, r->change);
        for (int32_t t = 0; t < r->rows->set_count; t++)
            for (int32_t e = 0; i < r->rows->sets[t].constraint_count && e < r->rows->sets[t].element_count; e++)
                expand_element(r, s->objective, &r->rows->sets[t], e, i, reach);
    }
}

/* alpha <- factor alpha of the rows that are no inequalities, until they are evaluated again. */
static void scale_compliance(sinew_constraints *rows, double factor)
{
    for (int32_t t = 0; t < rows->set_count; t++) {
        const sinew_row_set *set = &rows->sets[t];
        const int32_t m = set->constraint_count;
        for (int32_t k = 0; k < set->element_count * m * m; k++)
            if (!sinew_row_is_inequality(rows, sinew_row_of(set, k / (m * m), k / m % m)) &&
                !sinew_row_is_inequality(rows, sinew_row_of(set, k / (m * m), k % m)))
                rows->alpha[set->compliance_at + (size_t)k] *= factor;
    }
}

/* C at q_n - h v_n, where the last step began; uses `gradient`. */
static void evaluate_before(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const sinew_objective *o = s->objective;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        r->gradient[i] = (sinew_real)((double)s->q_start[i] - o->h * (double)o->v[i]);
    sinew_constraints_evaluate(r->rows, r->gradient);
}

/* right and alpha of Servin's stepper; C+ begins with the pins where they go. Inequalities are met at the end. */
static void gather_servin_rows(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const double four = 4 * (double)s->def.parameters[RELAXATION];
    double *const before = r->change;
    evaluate_before(s);
    memcpy(before, r->rows->C, (size_t)r->rows->row_count * sizeof *before);
    sinew_constraints_evaluate(r->rows, s->q);
    memcpy(r->right, r->rows->C, (size_t)r->rows->row_count * sizeof *r->right);
    sinew_row_evaluate(r, s->q_start);
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        for (int32_t k = 0, row = set->first_row; k < set->row_count; k++, row++) {
            const double past = ((2 - four) * r->rows->C[row] + before[row]) / (1 + four);
            r->right[row] = -r->right[row] - (sinew_row_is_inequality(r->rows, row) ? 0 : past);
        }
    }
    sinew_row_predict_active(s);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->right[row] = r->active[row] ? r->right[row] : 0;
    scale_compliance(r->rows, 4 / (1 + four));
}

static uint32_t kkt_iterate(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const bool stiff = s->def.parameters[MATRIX] > 0;
    const sinew_saddle_fill fill = {.q = s->q, .hessian = stiff, .active = r->active};
    sinew_row_gather(s, s->q, false);
    (s->def.parameters[STEPPER] > 0 ? gather_servin_rows : gather_velocity_rows)(s);
    if (s->def.parameters[EXPANSION] > 0)
        expand_rows(s, (double)s->def.parameters[EXPANSION] / 2 * s->objective->h);
    if (!uses_schur(s))
        return sinew_row_step(s, &fill);
    if (!sinew_row_schur_solve(((kkt *)r->own)->schur, r->active, r->pull, r->right, r->move, r->change)) {
        sinew_row_say(s, "system = schur needs rows that do not depend on each other; use full");
        return SINEW_STEP_STALLED;
    }
    sinew_row_accept(s);
    return 0;
}

const sinew_solver_ops sinew_solver_kkt = {
    .info = {.name = "kkt",
             .summary = "constraints on velocities, one linear system a step; hard ones drift",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 1,
             .needs = 0},
    SINEW_ROW_OPS,
    .prepare = kkt_prepare,
    .release = kkt_release,
    .begin = sinew_row_begin,
    .iterate = kkt_iterate,
};
