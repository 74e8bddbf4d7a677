/* SPDX-License-Identifier: MIT
 *
 * energy_balance.c: the energy budget of a step.
 *
 * A step takes q_n, v_n to q, v. With h, the damped velocity w = k v_n, k = exp(-damping h), the velocity of the step
 * u = (q - q_n) / h, d = q - q_n, the external force f = f_g + f_u (gravity, the caller's and the loads') and
 *
 *     r = M (u - w) / h + grad psi(q) - f        at every particle,
 *
 * r is grad g at the free particles, zero if the step is solved exactly; at pins it is the force that the pin
 * exerts. From |u|^2 - |w|^2 = 2 u . (u - w) - |u - w|^2 and h u = d follows, in the metric of M,
 *
 *     1/2 |u|^2 - 1/2 |w|^2 = d . (r - grad psi(q) + f) - 1/2 |u - w|^2
 *
 * and with the Bregman distance D = psi(q_n) - psi(q) - grad psi(q) . (q_n - q), never negative where psi is convex,
 * the energy E = 1/2 |v|^2 + psi - f_g . q changes by
 *
 *     E - E_n =   r . d over pins              work of the pins
 *               + f_u . d                      work of the forces
 *               + psi(q_n) - psi_n(q_n)        work of moving targets (psi_n: with the old ones)
 *               - 1/2 |u - w|^2 - D            lost by implicit Euler, also if solved exactly
 *               - (1 - k^2) 1/2 |v_n|^2        lost by damping
 *               + r . d over free particles    minus the loss of the solver, whose r is not zero
 *               - 1/2 |u|^2 + 1/2 |v|^2        loss of solvers whose final velocity is not u, without
 *                                              the change by damping of bodies and energies, which is lost by damping
 *
 * An explicit step has no objective, so its r is not an error of the solver: the sum of the lines of implicit Euler
 * and of the solver is the loss of the integrator (explicit Euler: a gain).
 *
 * With contact, g also has contact terms psi_c, which E excludes: r contains grad psi_c = -F_c, so that
 *
 *               + F_c . d                      work of contacts, normal forces and friction
 *
 * and the work of restitution and friction on velocities after the step are separate lines (report.c).
 *
 * Hard constraints C(q, t) = 0 (>= 0) store no energy: psi and E leave out hard energies, and their force is
 * F = J^T lambda, with the solver's multipliers lambda and J = dC/dq at q and t + h, columns of pins included:
 *
 *     r = M (u - w) / h + grad psi(q) - f - F,        E - E_n has one more line,
 *
 *               + F . d                        work of constraints
 *
 * To second order J d = C(q, t + h) - C(q_n, t + h) + 1/2 d^T d2C d. With C(q, t + h) = C(q_n, t) = 0 the work is
 *
 *     lambda (C(q_n, t) - C(q_n, t + h)) + 1/2 lambda d^T d2C d
 *
 * The first term is the work of the drive, zero unless C depends on time: torque times angle of a motor. The second is
 * the limit of -D for a stiff energy in place of the constraint: the loss of implicit Euler in a pendulum's rod. The
 * identity holds for every F: with substeps lambda is that of the last one and the other substeps' work is part of the
 * solver's line. admm has no multipliers: F is minus the gradient of its hard energies.
 *
 * Quasistatic: v = u = 0 and w = v_n, without damping; r = grad psi - f.
 *
 * Every line is computed from its own definition: energies by the value kernels, r of the free particles by the
 * objective that the solver minimised, r of pins and grad psi by an evaluation without pins, F by the Jacobians of the
 * constraints, velocities from the state. Sweeps minimise an objective without multipliers; in a world with hard
 * constraints their r is that of the equation above.
 * The remainder is given as `unaccounted` and is round-off.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "contact/contact.h"
#include "objective/constraints.h"
#include "objective/violation.h"
#include "world/world.h"
#include "world/measure/fields.h"

/* Work space of the energy balance for hard constraints; all NULL and false if the world has none. */
typedef struct hard_work {
    bool any;
    /* Hard constraints of all energies; their Jacobian J includes the columns of pinned particles. */
    sinew_constraints *constraints;
    double *lambda;     /* [constraint_count] multipliers of the step, in N if the constraint C is a length */
    sinew_real *values; /* [multipliers of the largest batch] work space: multipliers of one batch */
    double *force;      /* [capacity][3] constraint forces F = J^T lambda (Jacobian J), in N */
    double *r;          /* [capacity][3] residual r of the step, with constraint forces subtracted, in N */
} hard_work;

struct sinew_balance_work {
    int32_t capacity;      /* number of particles for which the arrays of the energy balance have memory */
    sinew_real *q, *v;     /* [capacity][4] positions (m) and velocities (m/s) before the step */
    sinew_real *imbalance; /* [capacity][4] residual r of the solver, in N; at pins the force of the pin */
    sinew_real *forces;    /* [capacity][4] grad psi - f at all particles, pinned ones included, in N */
    uint8_t *nobody;       /* [capacity] all 0: replaces `pinned` of the objective to evaluate forces at pins */
    hard_work hard;
    double elastic;        /* elastic energy psi(q_n), with the targets of this step, in J */
    bool known;            /* true: `balance` holds the energy balance of the last step */
    int64_t shape_version; /* value of the world's shape_version at the last step */
    sinew_balance balance;
};

/* ---- Memory of the energy balance -------------------------------------------------------------- */

static void release_hard(const sinew_allocator *allocator, hard_work *hard)
{
    void *arrays[] = {hard->lambda, hard->values, hard->force, hard->r};
    sinew_constraints_destroy(hard->constraints);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *hard = (hard_work){0};
}

static void release_arrays(const sinew_allocator *allocator, struct sinew_balance_work *w)
{
    release_hard(allocator, &w->hard);
    void *arrays[] = {w->q, w->v, w->imbalance, w->forces, w->nobody};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *w = (struct sinew_balance_work){0};
}

void sinew_balance_release(sinew_world *world)
{
    if (!world->balance)
        return;
    release_arrays(&world->allocator, world->balance);
    sinew_release(&world->allocator, world->balance);
    world->balance = NULL;
}

static bool balance_make_arrays(const sinew_allocator *allocator, int32_t capacity, struct sinew_balance_work *w)
{
    const size_t count = (size_t)capacity;
    release_arrays(allocator, w);
    w->q = sinew_allocate(allocator, 4 * count, sizeof *w->q);
    w->v = sinew_allocate(allocator, 4 * count, sizeof *w->v);
    w->imbalance = sinew_allocate(allocator, 4 * count, sizeof *w->imbalance);
    w->forces = sinew_allocate(allocator, 4 * count, sizeof *w->forces);
    w->nobody = sinew_allocate_zero(allocator, count, 1);
    w->capacity = capacity;
    return w->q && w->v && w->imbalance && w->forces && w->nobody;
}

static bool is_hard_batch(const void *context, const sinew_batch *batch)
{
    (void)context;
    return batch->hard;
}

/* Largest number of multipliers of one batch of hard constraints. */
static size_t count_hard_values(const sinew_constraints *constraints)
{
    size_t max = 0;
    for (int32_t t = 0; t < constraints->set_count; t++) {
        const sinew_constraint_set *set = &constraints->sets[t];
        const size_t count = (size_t)set->element_count * (size_t)set->per_element;
        max = count > max ? count : max;
    }
    return max;
}

/* Collects the hard constraints of the world's objective, if it has some. */
static bool collect_hard(const sinew_world *world, struct sinew_balance_work *w)
{
    const sinew_allocator *allocator = &world->allocator;
    hard_work *hard = &w->hard;
    if (hard->any || !sinew_objective_is_hard(&world->objective))
        return true;
    sinew_objective view = world->objective;
    view.step.pinned = w->nobody;
    hard->constraints = sinew_constraints_create(&view, is_hard_batch, NULL, NULL, NULL);
    if (!hard->constraints)
        return false;
    hard->lambda = sinew_allocate(allocator, (size_t)hard->constraints->constraint_count, sizeof *hard->lambda);
    hard->values = sinew_allocate(allocator, count_hard_values(hard->constraints), sizeof *hard->values);
    hard->force = sinew_allocate_zero(allocator, 3 * (size_t)w->capacity, sizeof *hard->force);
    hard->r = sinew_allocate_zero(allocator, 3 * (size_t)w->capacity, sizeof *hard->r);
    hard->any = hard->lambda && hard->values && hard->force && hard->r;
    return hard->any;
}

void sinew_balance_forget_constraints(sinew_world *world)
{
    if (world->balance)
        release_hard(&world->allocator, &world->balance->hard);
}

sinew_status sinew_balance_prepare(sinew_world *world, sinew_error *error)
{
    struct sinew_balance_work *w = world->balance;
    if (!world->def.balance)
        return SINEW_OK;
    if (!w)
        w = world->balance = sinew_allocate_zero(&world->allocator, 1, sizeof *w);
    bool good = w != NULL;
    if (good && w->capacity < world->particle_count)
        good = balance_make_arrays(&world->allocator, world->particle_capacity, w);
    if (good && collect_hard(world, w))
        return SINEW_OK;
    sinew_balance_release(world);
    return sinew_fail_memory(error, "the balance of a step");
}

/* ---- The energy balance during a step ---------------------------------------------------------- */

static bool has_targets(const sinew_world *world)
{
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        if (record->batch && (record->targets.count > 0 || record->batch->ops->follows_time))
            return true;
    }
    return false;
}

void sinew_balance_begin(sinew_world *world)
{
    struct sinew_balance_work *w = world->balance;
    if (!w)
        return;
    const size_t bytes = 4 * (size_t)world->particle_count * sizeof *w->q;
    w->known = false;
    memcpy(w->q, world->q, bytes);
    memcpy(w->v, world->v, bytes);
    sinew_world_move_targets(world, world->time);
    w->elastic = sinew_world_elastic_energy(world, false);
    w->balance = (sinew_balance){.elastic = {w->elastic, 0}};
}

void sinew_balance_record(sinew_world *world)
{
    struct sinew_balance_work *w = world->balance;
    if (!w || !has_targets(world))
        return;
    w->elastic = sinew_world_elastic_energy(world, false);
    w->balance.targets = w->elastic - w->balance.elastic[0];
}

void sinew_balance_move_start(sinew_world *world)
{
    struct sinew_balance_work *w = world->balance;
    if (!w)
        return;
    memcpy(w->q, world->q, 4 * (size_t)world->particle_count * sizeof *w->q);
    const double before = w->elastic;
    w->elastic = sinew_world_elastic_energy(world, false);
    w->balance.elastic[0] += w->elastic - before;
}

/* Indices of sums over the particles for the energy balance of a step from q_n, v_n to q, v. */
enum {
    SUM_KINETIC_BEFORE, /* sum of m |v_n|^2, v_n = velocity before the step */
    SUM_KINETIC_AFTER,  /* sum of m |v|^2, v = velocity after the step */
    SUM_KINETIC_STEP,   /* sum of m |u|^2, u = (q - q_n) / h */
    SUM_KICK,           /* sum of m |u - w|^2, u = (q - q_n) / h, w = damped v_n */
    SUM_GRAVITY_BEFORE, /* sum of -f_g . q_n, f_g = weight of the particle */
    SUM_GRAVITY_AFTER,  /* sum of -f_g . q, f_g = weight of the particle */
    SUM_FORCES,         /* sum of f_u . d, f_u = forces of the caller and loads, d = q - q_n */
    SUM_ELASTIC,        /* sum of grad psi . d, psi with contact terms, d = q - q_n */
    SUM_PINS,           /* work of the pins: r . d along pinned directions, d = q - q_n */
    SUM_FREE,           /* sum of r . d along free directions, r = residual of the solver, d = q - q_n */
    SUM_CONSTRAINTS,    /* sum of F . d, F = forces of hard constraints, d = q - q_n */
    SUM_COUNT
};

typedef struct step_view {
    const sinew_world *world;
    const struct sinew_balance_work *work;
    double h, kept, load;
} step_view;

static void step_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const step_view *s = context;
    const sinew_world *world = s->world;
    const struct sinew_balance_work *work = s->work;
    for (int32_t i = first; i < last; i++) {
        const double m = (double)world->mass[i];
        double r[3], free[3], constrained[3];
        for (size_t c = 0; c < 3; c++)
            r[c] = work->hard.any ? work->hard.r[3 * (size_t)i + c] : (double)work->imbalance[4 * (size_t)i + c];
        sinew_world_split_force(world, i, r, free, constrained);
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double d = (double)world->q[at] - (double)work->q[at], v_n = (double)work->v[at];
            const double v = (double)world->v[at], u = world->def.quasistatic ? 0 : d / s->h, kick = u - s->kept * v_n;
            const double weight = s->load * m * (double)world->def.gravity[c];
            sums[SUM_KINETIC_BEFORE] += m * v_n * v_n;
            sums[SUM_KINETIC_AFTER] += m * v * v;
            sums[SUM_KINETIC_STEP] += m * u * u;
            sums[SUM_KICK] += m * kick * kick;
            sums[SUM_GRAVITY_BEFORE] -= weight * (double)work->q[at];
            sums[SUM_GRAVITY_AFTER] -= weight * (double)world->q[at];
            const double push = (double)world->force[at] + (world->load_force ? (double)world->load_force[at] : 0);
            sums[SUM_FORCES] += s->load * push * d;
            sums[SUM_ELASTIC] += ((double)work->forces[at] + (double)world->f_ext[at]) * d;
            sums[SUM_PINS] += constrained[c] * d;
            sums[SUM_FREE] += free[c] * d;
            sums[SUM_CONSTRAINTS] += work->hard.any ? work->hard.force[3 * (size_t)i + c] * d : 0;
        }
    }
}

/* Sets lambda to the solver's multipliers of one batch; constraints whose C has the opposite sign of the energy's C
 * also have the opposite multiplier. Zero if the solver does not know the batch. */
static void balance_take_multipliers(const sinew_world *world, hard_work *hard, const sinew_constraint_set *set)
{
    const bool known = world->solve.ops->multipliers(&world->solve, set->batch, hard->values);
    for (int32_t e = 0; e < set->element_count; e++)
        for (int32_t i = 0; i < set->per_element; i++) {
            const int32_t constraint = sinew_constraint_index(set, e, i);
            const double value = known ? (double)hard->values[e * set->per_element + i] : 0;
            hard->lambda[constraint] = hard->constraints->one_sided[constraint] < 0 ? -value : value;
        }
}

/* Computes the forces F of hard constraints after grad psi is known; uses w->imbalance as work space. */
static void find_constraint_forces(sinew_world *world, struct sinew_balance_work *w)
{
    hard_work *hard = &w->hard;
    if (!hard->any)
        return;
    memset(hard->force, 0, 3 * (size_t)world->particle_count * sizeof *hard->force);
    if (world->solve.ops->multipliers) {
        sinew_constraints_evaluate(hard->constraints, world->q);
        for (int32_t t = 0; t < hard->constraints->set_count; t++)
            balance_take_multipliers(world, hard, &hard->constraints->sets[t]);
        sinew_constraints_add_force(hard->constraints, hard->lambda, 1, hard->force);
        return;
    }
    sinew_world_imbalance(world, w->nobody, true, w->imbalance);
    for (size_t i = 0; i < (size_t)world->particle_count; i++)
        for (size_t c = 0; c < 3; c++)
            hard->force[3 * i + c] = (double)w->forces[4 * i + c] - (double)w->imbalance[4 * i + c];
}

/* Sets w->imbalance: the solver's gradient at free particles, the force of the pin at pins; a particle constrained
 * along some directions has both components. Sets w->forces to grad psi - f. */
static void find_imbalance(sinew_world *world, const step_view *s, struct sinew_balance_work *w)
{
    hard_work *hard = &w->hard;
    sinew_world_imbalance(world, w->nobody, false, w->forces);
    sinew_solve_evaluate(&world->solve);
    find_constraint_forces(world, w);
    for (int32_t i = 0; i < world->particle_count; i++) {
        double r[3], free[3], constrained[3];
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double u = ((double)world->q[at] - (double)w->q[at]) / s->h;
            const double push =
                world->def.quasistatic ? 0 : (double)world->mass[i] * (u - s->kept * (double)w->v[at]) / s->h;
            r[c] = (double)w->forces[at] + push - (hard->any ? hard->force[3 * (size_t)i + c] : 0);
        }
        sinew_world_split_force(world, i, r, free, constrained);
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            w->imbalance[at] =
                world->pinned[i] ? (sinew_real)r[c] : (sinew_real)((double)world->solve.gradient[at] + constrained[c]);
        w->imbalance[4 * (size_t)i + 3] = 0;
        for (size_t c = 0; hard->any && c < 3; c++)
            hard->r[3 * (size_t)i + c] = world->solve.has_hard ? (double)w->imbalance[4 * (size_t)i + c] : r[c];
    }
}

/* Work of contact forces and of contact velocity changes in the step; zero in a world without contact. */
static sinew_contact_energy contact_energy(const sinew_world *world)
{
    return sinew_contact_is_on(world) ? world->contact->energy : (sinew_contact_energy){0};
}

static void fill_balance(const double sums[SUM_COUNT], double psi_before, double kept, double damped,
                         const sinew_contact_energy *operations, bool explicit_step, sinew_balance *b)
{
    /* Work of contacts: SUM_ELASTIC also contains the gradient of contact terms. */
    const double touched = operations->normal + operations->friction;
    const double bregman = psi_before - b->elastic[1] + sums[SUM_ELASTIC] + touched;
    b->kinetic[0] = sums[SUM_KINETIC_BEFORE] / 2;
    b->kinetic[1] = sums[SUM_KINETIC_AFTER] / 2;
    b->gravity[0] = sums[SUM_GRAVITY_BEFORE];
    b->gravity[1] = sums[SUM_GRAVITY_AFTER];
    b->pins = sums[SUM_PINS];
    b->forces = sums[SUM_FORCES];
    b->constraints = sums[SUM_CONSTRAINTS];
    b->lost_integrator = sums[SUM_KICK] / 2 + bregman;
    b->lost_damping = (1 - kept * kept) * b->kinetic[0] + damped;
    b->contacts = touched + operations->rubbed;
    b->friction_heat = operations->heat;
    b->restitution = operations->rebound;
    b->lost_solver = -sums[SUM_FREE] + (sums[SUM_KINETIC_STEP] - sums[SUM_KINETIC_AFTER]) / 2 - damped +
                     operations->rubbed + operations->rebound;
    if (explicit_step) {
        b->lost_integrator += b->lost_solver;
        b->lost_solver = 0;
    }
    const double change = b->kinetic[1] - b->kinetic[0] + b->elastic[1] - b->elastic[0] + b->gravity[1] - b->gravity[0];
    const double work = b->pins + b->forces + b->targets + b->constraints + b->contacts + b->restitution;
    b->unaccounted = change - (work - b->lost_integrator - b->lost_damping - b->lost_solver);
}

void sinew_balance_end(sinew_world *world, bool good)
{
    struct sinew_balance_work *w = world->balance;
    if (!w || !good)
        return;
    const double h = (double)world->def.time_step;
    const double kept = world->def.quasistatic ? 1 : exp(-(double)world->def.damping * h);
    const step_view view = {world, w, h, kept, sinew_world_load_fraction(world, world->step_count)};
    double sums[SUM_COUNT];
    find_imbalance(world, &view, w);
    w->balance.elastic[1] = sinew_world_elastic_energy(world, false);
    sinew_sum(step_terms, &view, world->particle_count, SUM_COUNT, sums, world->objective.thread_count);
    const sinew_contact_energy operations = contact_energy(world);
    fill_balance(sums, w->elastic, kept, world->damping_loss, &operations, world->solve.ops->info.explicit_step,
                 &w->balance);
    w->known = true;
    w->shape_version = world->shape_version;
}

/* ---- Results of the energy balance ------------------------------------------------------------- */

/* Fails if the last step of the current world has no energy balance. */
static sinew_status check_balance_known(const sinew_world *world, const char *what, sinew_error *error)
{
    if (!world->def.balance)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "the %s of a step is kept only where the world's def has balance = true", what);
    if (!world->balance || !world->balance->known)
        return sinew_fail(error, SINEW_ERROR_DATA, "there is no %s: no step was taken, or the last one failed", what);
    if (world->balance->shape_version != world->shape_version)
        return sinew_fail(error, SINEW_ERROR_DATA, "there is no %s: bodies came or went since the last step", what);
    return SINEW_OK;
}

sinew_status sinew_balance_imbalance(const sinew_world *world, const char *what, const sinew_real **imbalance,
                                     sinew_error *error)
{
    const sinew_status status = check_balance_known(world, what, error);
    if (status == SINEW_OK)
        *imbalance = world->balance->imbalance;
    return status;
}

sinew_status sinew_world_balance(const sinew_world *world, sinew_balance *balance, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && balance))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_balance needs a world and a struct to fill");
    const sinew_status status = check_balance_known(world, "balance", error);
    if (status == SINEW_OK)
        *balance = world->balance->balance;
    return status;
}
