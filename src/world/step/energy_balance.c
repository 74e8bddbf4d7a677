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
 * exerts. From
 * |u|^2 - |w|^2 = 2 u . (u - w) - |u - w|^2 and h u = d follows, in the metric of M,
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
 * Quasistatic: v = u = 0 and w = v_n, without damping; r = grad psi - f.
 *
 * Every line is computed from its own definition: energies by the value kernels, r of the free particles by the
 * objective that the solver minimised, r of pins and grad psi by an evaluation without pins, velocities from the state.
 * The remainder is given as `unaccounted` and is round-off.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "contact/contact.h"
#include "world/world.h"
#include "world/measure/fields.h"

struct sinew_balance_work {
    int32_t capacity;      /* particles that the arrays below hold */
    sinew_real *q, *v;     /* [capacity][4] m, m/s: positions and velocities before the step */
    sinew_real *imbalance; /* [capacity][4] N: residual of the solver; at pins the force of the pin */
    sinew_real *forces;    /* [capacity][4] N: grad psi - f, pins included */
    uint8_t *nobody;       /* [capacity] zeros: no particle is pinned */
    double elastic;        /* J: psi(q_n) with the targets of the step */
    bool known;            /* `balance` belongs to the last step */
    int64_t shape_version; /* shape version of the world at the last step */
    sinew_balance balance;
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release_arrays(const sinew_allocator *allocator, struct sinew_balance_work *w)
{
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

sinew_status sinew_balance_prepare(sinew_world *world, sinew_error *error)
{
    if (!world->def.balance || (world->balance && world->balance->capacity >= world->particle_count))
        return SINEW_OK;
    if (!world->balance)
        world->balance = sinew_allocate_zero(&world->allocator, 1, sizeof *world->balance);
    if (world->balance && balance_make_arrays(&world->allocator, world->particle_capacity, world->balance))
        return SINEW_OK;
    sinew_balance_release(world);
    return sinew_fail_memory(error, "the balance of a step");
}

/* ---- A step ---------------------------------------------------------------------------------- */

static bool has_targets(const sinew_world *world)
{
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].batch && world->energies[i].targets.count > 0)
            return true;
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
    w->elastic = sinew_world_elastic(world);
    w->balance = (sinew_balance){.elastic = {w->elastic, 0}};
}

void sinew_balance_record(sinew_world *world)
{
    struct sinew_balance_work *w = world->balance;
    if (!w || !has_targets(world))
        return;
    w->elastic = sinew_world_elastic(world);
    w->balance.targets = w->elastic - w->balance.elastic[0];
}

/* Sums over the particles, for a step from q_n, v_n to q, v. */
enum {
    SUM_KINETIC_BEFORE, /* m |v_n|^2, v_n = velocity before the step */
    SUM_KINETIC_AFTER,  /* m |v|^2, v = velocity after the step */
    SUM_KINETIC_STEP,   /* m |u|^2, u = (q - q_n) / h */
    SUM_KICK,           /* m |u - w|^2, u = (q - q_n) / h, w = damped v_n */
    SUM_GRAVITY_BEFORE, /* -f_g . q_n, f_g = gravity */
    SUM_GRAVITY_AFTER,  /* -f_g . q, f_g = gravity */
    SUM_FORCES,         /* f_u . d, f_u = forces of the caller and loads, d = q - q_n */
    SUM_ELASTIC,        /* grad psi . d, psi with contact terms, d = q - q_n */
    SUM_PINS,           /* work of the pins: r . d along pinned directions, d = q - q_n */
    SUM_FREE,           /* r . d along free directions, r = residual of the solver */
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
            r[c] = (double)work->imbalance[4 * (size_t)i + c];
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
        }
    }
}

/* Sets w->imbalance: the solver's gradient at free particles, the force of the pin at pins; a particle constrained
 * along some directions has both components. Sets w->forces to grad psi - f. */
static void find_imbalance(sinew_world *world, const step_view *s, struct sinew_balance_work *w)
{
    sinew_world_imbalance(world, w->nobody, w->forces);
    sinew_solve_evaluate(&world->solve);
    for (int32_t i = 0; i < world->particle_count; i++) {
        double r[3], free[3], constrained[3];
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double u = ((double)world->q[at] - (double)w->q[at]) / s->h;
            const double push =
                world->def.quasistatic ? 0 : (double)world->mass[i] * (u - s->kept * (double)w->v[at]) / s->h;
            r[c] = (double)w->forces[at] + push;
        }
        sinew_world_split_force(world, i, r, free, constrained);
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            w->imbalance[at] =
                world->pinned[i] ? (sinew_real)r[c] : (sinew_real)((double)world->solve.gradient[at] + constrained[c]);
        w->imbalance[4 * (size_t)i + 3] = 0;
    }
}

/* Work of contacts; zero without contact. */
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
    b->unaccounted = change - (b->pins + b->forces + b->targets + b->contacts + b->restitution - b->lost_integrator -
                               b->lost_damping - b->lost_solver);
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
    w->balance.elastic[1] = sinew_world_elastic(world);
    sinew_sum(step_terms, &view, world->particle_count, SUM_COUNT, sums, world->objective.thread_count);
    const sinew_contact_energy operations = contact_energy(world);
    fill_balance(sums, w->elastic, kept, world->damping_loss, &operations, world->solve.ops->info.explicit_step,
                 &w->balance);
    w->known = true;
    w->shape_version = world->shape_version;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Fails if the last step of the current world has no balance. */
static sinew_status check_known(const sinew_world *world, const char *what, sinew_error *error)
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
    const sinew_status status = check_known(world, what, error);
    if (status == SINEW_OK)
        *imbalance = world->balance->imbalance;
    return status;
}

sinew_status sinew_world_balance(const sinew_world *world, sinew_balance *balance, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && balance))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_balance needs a world and a struct to fill");
    const sinew_status status = check_known(world, "balance", error);
    if (status == SINEW_OK)
        *balance = world->balance->balance;
    return status;
}
