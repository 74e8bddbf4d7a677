/* SPDX-License-Identifier: MIT
 *
 * dae.c: hard constraints at the level of accelerations (thesis 3.19, 3.20; notes, DAE):
 *
 *     [ M  -J^T ] [ a      ]   [ f         ]       d2C/dt2 = J a + v^T d2C v = 0   =>   c = -v^T d2C v
 *     [ J   0   ] [ lambda ] = [ c(q, v)   ]
 *
 * then v += h a, q += h v. Constraints are differentiated twice, so errors of C and of dC/dt persist and grow (drift).
 * `stabilisation`: none; baumgarte, c - 2 omega dC/dt - omega^2 C (Baumgarte 1972), with which errors decay;
 * projection, after the step, one Newton step onto C = 0 per iteration in the metric of the masses.
 *
 * A constraint C(q, t) that a motor or a moving target drives has dC/dt = J v + D, with D the partial derivative by t,
 * here its mean over the step, (C(q_n, t + h) - C(q_n, t)) / h. A body at rest whose motor starts has dC/dt = D, an
 * error that the twice differentiated equation keeps for ever: the body would never move. So the step removes dC/dt of
 * driven constraints, by the acceleration of an impulse,
 *
 *     J a = -v^T d2C v - (J v + D) / h    =>    J dq = h J (v + h a) = -h D - h^2 v^T d2C v
 *
 * with J of the targets at t + h, which contains the mixed derivative by q and t.
 *
 * Derivatives of C along v, and along the motion of pins, are central differences of C. All energies that are not hard
 * act explicitly, with the forces at q_n.
 *
 * Known limits: stiff energies need small steps, because they act explicitly. As in kkt.c, inequalities are active for
 * a whole step, and a target that a program changes between two steps is a jump of C. In single precision second
 * differences leave two to three digits of c.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/kkt/kkt_common.h"

enum {
    STABILISATION,
    OMEGA,
    PARAMETER_COUNT
};
enum {
    STABILISE_NONE,
    STABILISE_BAUMGARTE,
    STABILISE_PROJECTION
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [STABILISATION] = {.name = "stabilisation",
                       .expert = true,
                       .unit = "",
                       .choices = "none|baumgarte|projection",
                       .maximum = 2,
                       .preset = STABILISE_NONE,
                       .meaning = "what is done against drift"},
    [OMEGA] = {.name = "omega",
               .expert = true,
               .unit = "1/s",
               .minimum = 0,
               .maximum = 1e6,
               .preset = 20,
               .meaning = "baumgarte: violations decay as exp(-omega t); above 1/h they grow instead"},
};

typedef struct dae {
    bool stepped;      /* true: the time step is taken, and further iterations project onto C = 0 */
    double *rate;      /* [constraint_count] right-hand sides J dq of the acceleration constraints */
    sinew_real *point; /* [particle_count][4] work space: displaced positions at which C is evaluated, m */
} dae;

static sinew_status dae_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_status status = sinew_kkt_prepare(s, SINEW_CONSTRAIN_HARD, SINEW_SADDLE_MASSES, sizeof(dae), error);
    if (status != SINEW_OK)
        return status;
    sinew_kkt *r = s->memory;
    dae *d = r->own;
    d->rate = sinew_allocate_zero(&s->objective->allocator, (size_t)r->constraints->constraint_count, sizeof *d->rate);
    d->point =
        sinew_allocate_zero(&s->objective->allocator, 4 * (size_t)s->objective->particle_count, sizeof *d->point);
    return d->rate && d->point ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
}

static void dae_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    if (r && r->own) {
        sinew_release(&s->objective->allocator, ((dae *)r->own)->rate);
        sinew_release(&s->objective->allocator, ((dae *)r->own)->point);
    }
    sinew_kkt_release(s);
}

static void dae_begin(sinew_solve *s)
{
    sinew_kkt_begin(s);
    ((dae *)((sinew_kkt *)s->memory)->own)->stepped = false;
}

/* Factors of the values C in a sum: `driven` for driven hard constraints (motors, moving targets), `other` for all
 * others. */
typedef struct value_factor {
    double other, driven;
} value_factor;

static bool is_driven(const sinew_constraint_set *set)
{
    return set->hard && set->driven;
}

/* out += factor C(q_n + by w) of all constraints; w = damped velocity v, or with along_pins the displacement of pins to
 * their targets. */
static void add_constraint_values(sinew_solve *s, bool along_pins, double by, value_factor factor, double *out)
{
    sinew_kkt *r = s->memory;
    const sinew_objective *o = s->objective;
    sinew_real *point = ((dae *)r->own)->point;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++) {
        const double way = along_pins ? (double)s->q[i] - (double)s->q_start[i] : o->step.v_kept * (double)o->step.v[i];
        point[i] = (sinew_real)((double)s->q_start[i] + by * way);
    }
    sinew_constraints_evaluate(r->constraints, point);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0, constraint = set->first_constraint; k < set->constraint_count; k++, constraint++)
            out[constraint] += (is_driven(set) ? factor.driven : factor.other) * r->constraints->C[constraint];
    }
}

/* right -= h D + h^2 b C(q_n, t_n) of driven constraints, with their rate D = (C(q_n, t + h) - C(q_n, t)) / h, values C
 * and Baumgarte's factor b (omega^2, or 0). Overwrites r->start, and values, Jacobian and compliances of the
 * constraints. */
static void add_drive_rates(sinew_solve *s, double b, double *right)
{
    sinew_kkt *r = s->memory;
    const double h = s->objective->step.h;
    sinew_kkt_values_at(s, s->q_start, 0, r->start);
    add_constraint_values(s, false, 0, (value_factor){0, -1}, right);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0; is_driven(set) && k < set->constraint_count; k++)
            right[set->first_constraint + k] += (1 - h * h * b) * r->start[set->first_constraint + k];
    }
}

/* Step size of difference quotients of the constraint values C along a velocity or displacement whose largest
 * coordinate is `speed`. */
static double difference_step(const sinew_kkt *r, double speed)
{
    return (sizeof(sinew_real) == 4 ? 5e-3 : 1e-4) * r->size / speed;
}

/* Largest coordinate of the damped velocity (m/s), or with along_pins of the displacement of pins (m). */
static double largest_coordinate(const sinew_solve *s, bool along_pins)
{
    double max = 0;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        max = fmax(max, fabs(along_pins ? (double)s->q[i] - (double)s->q_start[i]
                                        : s->objective->step.v_kept * (double)s->objective->step.v[i]));
    return max;
}

/* Right-hand sides of the acceleration constraints, J dq over the free particles: h^2 c + h dC/dt minus the change of C
 * by the motion of pins; of driven constraints: h^2 c minus the changes of C by the motion of targets and of pins. */
static void gather_accelerations(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const double h = s->objective->step.h, omega = (double)s->def.parameters[OMEGA];
    const bool baumgarte = s->def.parameters[STABILISATION] == STABILISE_BAUMGARTE;
    const double a = baumgarte ? 2 * omega : 0, b = baumgarte ? omega * omega : 0;
    double *const right = ((dae *)r->own)->rate;
    memset(right, 0, (size_t)r->constraints->constraint_count * sizeof *right);
    add_constraint_values(s, false, 0, (value_factor){-h * h * b, 0}, right);
    const double speed = largest_coordinate(s, false), way = largest_coordinate(s, true);
    if (speed > 0) {
        const double e = difference_step(r, speed), first = (h - h * h * a) / (2 * e), second = -h * h / (e * e);
        add_constraint_values(s, false, e, (value_factor){first + second, second}, right);
        add_constraint_values(s, false, -e, (value_factor){second - first, second}, right);
        add_constraint_values(s, false, 0, (value_factor){-2 * second, -2 * second}, right);
    }
    if (way > 0) {
        const double e = difference_step(r, way);
        add_constraint_values(s, true, e, (value_factor){-1 / (2 * e), -1 / (2 * e)}, right);
        add_constraint_values(s, true, -e, (value_factor){1 / (2 * e), 1 / (2 * e)}, right);
    }
    if (r->driven)
        add_drive_rates(s, b, right);
    sinew_kkt_evaluate(r, s->q_start);
    sinew_kkt_predict_active(s);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->right[constraint] = r->active[constraint] ? right[constraint] : 0;
}

static uint32_t dae_step(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const bool projects = s->def.parameters[STABILISATION] == STABILISE_PROJECTION;
    const sinew_saddle_fill fill = {.q = s->q, .active = r->active};
    sinew_kkt_gather(s, s->q, false);
    gather_accelerations(s);
    const uint32_t bits = sinew_kkt_step(s, &fill);
    ((dae *)r->own)->stepped = true;
    s->converged = !projects;
    return bits;
}

/* Projection stabilisation: moves s->q by one Newton step onto C = 0; sets s->converged if the constraints already
 * hold. */
static uint32_t dae_project(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const sinew_saddle_fill fill = {.q = s->q, .active = r->active};
    sinew_kkt_evaluate(r, s->q);
    if (sinew_kkt_violation(r, false) <= sinew_kkt_tolerance(s)) {
        s->converged = true;
        return 0;
    }
    memset(r->particle_rhs, 0, 3 * (size_t)r->saddle->free_count * sizeof *r->particle_rhs);
    sinew_kkt_gather_constraints(r);
    const uint32_t bits = sinew_kkt_step(s, &fill);
    s->converged = false;
    return bits;
}

static uint32_t dae_iterate(sinew_solve *s)
{
    return ((dae *)((sinew_kkt *)s->memory)->own)->stepped ? dae_project(s) : dae_step(s);
}

const sinew_solver_ops sinew_solver_dae = {
    .info = {.name = "dae",
             .summary = "hard constraints on accelerations, explicit; drifts unless stabilised",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 10,
             .needs = 0,
             .explicit_step = true},
    SINEW_KKT_OPS,
    .refreshes = SINEW_KKT_REFRESHES,
    .prepare = dae_prepare,
    .release = dae_release,
    .work = {.newtons = 1.25},
    .begin = dae_begin,
    .iterate = dae_iterate,
};
