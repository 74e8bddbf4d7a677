/* SPDX-License-Identifier: MIT
 *
 * rigid_modes.c: finds free components, computes their sums, and moves them. See rigid_modes.h.
 */
#include "solve/vertex_sweep/rigid_modes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "objective/connected_components.h"

/* ---- Free connected components --------------------------------------------------------------- */

/* Bit in `costs`, besides the SINEW_COSTS_ bits: the particle has contacts. */
enum {
    HAS_CONTACTS = 1 << 7
};

/* Adds the SINEW_COSTS_ bits of a chunk's elements to their particles; elements that are switched off are left out. */
static void add_costs(const sinew_task *task, uint8_t *costs)
{
    const sinew_batch *batch = task->batch;
    const uint8_t cost = (uint8_t)(batch->ops->contact ? HAS_CONTACTS : batch->ops->rigid_cost);
    const sinew_chunk *chunk = task->chunk;
    const int32_t *particle = batch->particle + chunk->first_slot;
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const size_t begin = (size_t)chunk->first_group * W, end = begin + (size_t)chunk->group_count * W;
    for (int32_t k = 0; batch->off_count == 0 && k < chunk->slot_count; k++)
        costs[particle[k]] |= cost;
    for (size_t slot = begin; batch->off_count > 0 && slot < end; slot++)
        for (size_t a = 0; batch->element[slot] >= 0 && !batch->off[batch->element[slot]] && a < n; a++)
            costs[particle[batch->vertex[(slot / W * n + a) * W + slot % W] / SINEW_POINT]] |= cost;
}

/* Weight of an element below which its second derivatives may underflow. */
#define WEIGHT_MIN 1e-20

static bool all_have_weights(const sinew_objective *o)
{
    for (int32_t t = 0; t < o->fixed_task_count; t++) {
        const sinew_batch *batch = o->tasks[t].batch;
        const sinew_chunk *chunk = o->tasks[t].chunk;
        const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count;
        const size_t begin = (size_t)chunk->first_group * W, end = begin + (size_t)chunk->group_count * W;
        for (size_t slot = begin; slot < end; slot++)
            if (batch->element[slot] >= 0 && !((double)batch->data[slot / W * D * W + slot % W] > WEIGHT_MIN))
                return false;
    }
    return true;
}

/* Finds the connected components of the fixed elements. Second derivatives are proportional to the weight: while all
 * weights are nonzero and only weights change, components stay the same without an evaluation. */
static void find_fixed_components(sinew_rigid *r, const sinew_real *rest)
{
    const sinew_objective *o = r->objective;
    const bool all_weighted = all_have_weights(o), known = r->all_weighted && all_weighted;
    uint64_t forms = 0;
    for (int32_t t = 0; t < o->fixed_task_count; t++)
        forms += o->tasks[t].batch->form_version;
    if (!(known && forms == r->forms))
        sinew_objective_fixed_components(o, rest, r->fixed_component);
    r->all_weighted = all_weighted;
    r->forms = forms;
}

static void find_fixed_state(sinew_rigid *r, const sinew_real *rest)
{
    const sinew_objective *o = r->objective;
    find_fixed_components(r, rest);
    for (int32_t i = 0; i < o->particle_count; i++)
        r->fixed_costs[i] = o->step.pinned[i] ? SINEW_COSTS_TRANSLATION : 0;
    for (int32_t k = 0; k < o->step.constrained_count; k++)
        r->fixed_costs[o->step.constrained[k]] = SINEW_COSTS_TRANSLATION;
    for (int32_t t = 0; t < o->fixed_task_count; t++)
        add_costs(&o->tasks[t], r->fixed_costs);
}

/* Appends the connected components whose translation costs no energy, with contacts or without; slot[root] becomes the
 * index of each component's first particle in `particle`. Returns the number of components so far. */
static int32_t add_components(sinew_rigid *r, int32_t count, bool contacting)
{
    for (int32_t i = 0; i < r->objective->particle_count; i++) {
        const uint8_t cost = r->costs[i];
        if (cost & SINEW_COSTS_TRANSLATION || ((cost & HAS_CONTACTS) != 0) != contacting)
            continue;
        const int32_t size = r->slot[i];
        r->slot[i] = r->first[count];
        r->turns[count] = !(cost & SINEW_COSTS_ROTATION);
        r->first[++count] = r->slot[i] + size;
    }
    return count;
}

/* Fills first, particle and turns from `component` and `costs`; overwrites `costs` and `slot`. */
static void list_components(sinew_rigid *r)
{
    const int32_t count = r->objective->particle_count, *root = r->component;
    int32_t *slot = r->slot;
    uint8_t *costs = r->costs;
    memset(slot, 0, (size_t)count * sizeof *slot);
    for (int32_t i = 0; i < count; i++) {
        slot[root[i]]++;
        costs[root[i]] |= costs[i];
    }
    for (int32_t i = 0; i < count; i++)
        costs[i] |= slot[i] > 1 ? 0 : SINEW_COSTS_TRANSLATION;
    r->first[0] = 0;
    r->component_count = add_components(r, 0, false);
    r->contacting_count = add_components(r, r->component_count, true) - r->component_count;
    for (int32_t i = 0; i < count; i++)
        slot[i] = costs[i] & SINEW_COSTS_TRANSLATION ? -1 : slot[i];
    for (int32_t i = 0, others = r->first[r->component_count + r->contacting_count]; i < count; i++)
        r->particle[slot[root[i]] >= 0 ? slot[root[i]]++ : others++] = i;
}

/* Lists the contacts of the free components that are in contact. */
static sinew_status list_contacts(sinew_rigid *r, sinew_error *error)
{
    const sinew_objective *o = r->objective;
    int32_t *body_of = r->slot;
    for (int32_t i = 0; i < o->particle_count; i++)
        body_of[i] = -1;
    for (int32_t b = 0; b < r->contacting_count; b++)
        for (int32_t k = r->first[r->component_count + b]; k < r->first[r->component_count + b + 1]; k++)
            body_of[r->particle[k]] = b;
    return sinew_rigid_contacts_list(&r->contacts, o, r->contacting_count, body_of)
               ? SINEW_OK
               : sinew_fail_memory(error, "the free components");
}

sinew_status sinew_rigid_refresh(sinew_rigid *r, const sinew_real *rest, bool fixed, sinew_error *error)
{
    const sinew_objective *o = r->objective;
    if (o->step.quasistatic)
        return SINEW_OK;
    if (fixed)
        find_fixed_state(r, rest);
    memcpy(r->component, r->fixed_component, (size_t)o->particle_count * sizeof *r->component);
    memcpy(r->costs, r->fixed_costs, (size_t)o->particle_count * sizeof *r->costs);
    sinew_objective_join_transient(o, rest, r->component);
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        add_costs(&o->tasks[t], r->costs);
    list_components(r);
    return list_contacts(r, error);
}

sinew_status sinew_rigid_create(sinew_rigid *r, const sinew_objective *o, const sinew_real *rest, sinew_error *error)
{
    const sinew_allocator *allocator = &o->allocator;
    const size_t count = (size_t)o->particle_count;
    *r = (sinew_rigid){.objective = o};
    if (o->step.quasistatic)
        return SINEW_OK;
    int32_t **numbers[] = {&r->particle, &r->fixed_component, &r->component, &r->slot};
    uint8_t **bytes[] = {&r->turns, &r->fixed_costs, &r->costs};
    r->first = sinew_allocate_zero(allocator, count / 2 + 1, sizeof *r->first);
    bool good = r->first != NULL;
    for (int k = 0; good && k < 4; k++)
        good = (*numbers[k] = sinew_allocate(allocator, count, sizeof **numbers[k])) != NULL;
    for (int k = 0; good && k < 3; k++)
        good = (*bytes[k] = sinew_allocate_zero(allocator, count, 1)) != NULL;
    if (!good) {
        sinew_rigid_destroy(r);
        return sinew_fail_memory(error, "the free components");
    }
    return sinew_rigid_refresh(r, rest, true, error);
}

void sinew_rigid_destroy(sinew_rigid *r)
{
    if (!r->objective)
        return;
    sinew_rigid_contacts_destroy(&r->contacts, &r->objective->allocator);
    void *arrays[] = {r->first,     r->particle, r->turns,       r->fixed_component,
                      r->component, r->slot,     r->fixed_costs, r->costs};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(&r->objective->allocator, arrays[k]);
    *r = (sinew_rigid){0};
}

/* ---- Mass sums over a component -------------------------------------------------------------- */

/* Offsets in the sums over a component, whose positions are relative to one of its particles: no loss of digits far
 * from the origin. */
enum {
    SUM_MASS,
    SUM_Q,          /* offset of the sum of m q over the particles, three numbers */
    SUM_TARGET = 4, /* offset of the sum of m q_tilde over the particles, three numbers */
    SUM_A = 7,      /* offset of the sum of the matrices m q_tilde q^T, nine numbers, row-major */
    SUM_COUNT = 16
};

typedef struct component {
    const sinew_objective *objective;
    const int32_t *particle; /* [count] particle indices of the connected component */
    int32_t count;
    bool turns;
    const sinew_real *q_start, *q;
    const sinew_real *origin; /* [3] position q of the component's first particle */
} component;

static void add_position_sums(const void *context, int32_t first, int32_t last, double *sums)
{
    const component *p = context;
    const sinew_objective *o = p->objective;
    const double origin[3] = {(double)p->origin[0], (double)p->origin[1], (double)p->origin[2]};
    double s[SUM_COUNT] = {0};
    for (int32_t k = first; k < last; k++) {
        const sinew_real *q = p->q + SINEW_POINT * (size_t)p->particle[k];
        const sinew_real *target = o->step.q_tilde + SINEW_POINT * (size_t)p->particle[k];
        const double m = (double)o->step.mass[p->particle[k]];
        double x[3], y[3];
        for (int c = 0; c < 3; c++) {
            x[c] = (double)q[c] - origin[c];
            y[c] = m * ((double)target[c] - origin[c]);
            s[SUM_Q + c] += m * x[c];
            s[SUM_TARGET + c] += y[c];
        }
        for (int c = 0; c < 9; c++)
            s[SUM_A + c] += y[c / 3] * x[c % 3];
        s[SUM_MASS] += m;
    }
    for (int c = 0; c < SUM_COUNT; c++)
        sums[c] += s[c];
}

/* ---- Rotation of a component ----------------------------------------------------------------- */

/* Solves the symmetric 3x3 system K w = b for a rotation vector w by Cramer's rule; returns false if K is not clearly
 * positive definite. */
static bool solve_rotation(const double K[9], const double b[3], double w[3])
{
    const double cross[9] = {K[4] * K[8] - K[5] * K[7], K[5] * K[6] - K[3] * K[8], K[3] * K[7] - K[4] * K[6],
                             K[2] * K[7] - K[1] * K[8], K[0] * K[8] - K[2] * K[6], K[1] * K[6] - K[0] * K[7],
                             K[1] * K[5] - K[2] * K[4], K[2] * K[3] - K[0] * K[5], K[0] * K[4] - K[1] * K[3]};
    const double determinant = K[0] * cross[0] + K[1] * cross[1] + K[2] * cross[2];
    const double scale = K[0] + K[4] + K[8];
    if (!(K[0] > 0 && cross[8] > 0 && determinant > 1e-9 * scale * scale * scale))
        return false;
    for (int i = 0; i < 3; i++)
        w[i] = (cross[i] * b[0] + cross[3 + i] * b[1] + cross[6 + i] * b[2]) / determinant;
    return true;
}

static double rigid_modes_inner(const double a[9], const double b[9])
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One step of Newton's method for the rotation R that maximises tr(R^T A), from R = 1, with the moment matrix A:
 * sweeps rotate a component by little, so one step per sweep is enough. D = R - 1, zero if the step gains nothing. */
static void best_rotation_step(const double A[9], double D[9])
{
    const double trace = A[0] + A[4] + A[8];
    const double b[3] = {A[7] - A[5], A[2] - A[6], A[3] - A[1]};
    double K[9], w[3];
    for (int i = 0; i < 9; i++)
        K[i] = (i % 4 == 0 ? trace : 0) - (A[i] + A[i % 3 * 3 + i / 3]) / 2;
    memset(D, 0, 9 * sizeof *D);
    if (!solve_rotation(K, b, w))
        return;
    sinew_turn_less_one(w, D);
    if (!(rigid_modes_inner(D, A) > 0))
        memset(D, 0, 9 * sizeof *D);
}

/* ---- Rigid moves of components --------------------------------------------------------------- */

static component component_of(const sinew_rigid *r, int32_t k, const sinew_real *q_start, const sinew_real *q)
{
    return (component){.objective = r->objective,
                       .particle = r->particle + r->first[k],
                       .count = r->first[k + 1] - r->first[k],
                       .turns = r->turns[k],
                       .q_start = q_start,
                       .q = q,
                       .origin = q + SINEW_POINT * (size_t)r->particle[r->first[k]]};
}

/* A rigid motion of a component: q <- q + D (q - middle) + shift, D = R - 1 with the rotation R. */
typedef struct movement {
    const component *component;
    double D[9], middle[3], shift[3];
    sinew_real *q;
} movement;

static void move_particles(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const movement *m = context;
    const double *D = m->D;
    for (int32_t k = first; k < last; k++) {
        sinew_real *own = m->q + SINEW_POINT * (size_t)m->component->particle[k];
        double x[3];
        for (size_t c = 0; c < 3; c++)
            x[c] = (double)own[c] - m->middle[c];
        for (size_t c = 0; c < 3; c++)
            own[c] = (sinew_real)((double)own[c] + m->shift[c] + D[3 * c] * x[0] + D[3 * c + 1] * x[1] +
                                  D[3 * c + 2] * x[2]);
    }
}

/* Computes the sums of a component, with the moment matrix A relative to both centres of mass. centre: centre of mass
 * of q, relative to p->origin. */
static void sum_component(const component *p, int32_t threads, double sums[SUM_COUNT], double centre[3])
{
    sinew_sum(add_position_sums, p, p->count, SUM_COUNT, sums, threads);
    for (int c = 0; c < 3; c++)
        centre[c] = sums[SUM_Q + c] / sums[SUM_MASS];
    for (int i = 0; i < 9; i++)
        sums[SUM_A + i] -= sums[SUM_TARGET + i / 3] * centre[i % 3];
}

static void move_free_components(const sinew_rigid *r, sinew_real *q)
{
    const int32_t threads = r->objective->thread_count;
    for (int32_t k = 0; k < r->component_count; k++) {
        const component p = component_of(r, k, NULL, q);
        movement m = {.component = &p, .q = q};
        double sums[SUM_COUNT], centre[3];
        sum_component(&p, threads, sums, centre);
        for (int c = 0; c < 3; c++) {
            m.middle[c] = (double)p.origin[c] + centre[c];
            m.shift[c] = sums[SUM_TARGET + c] / sums[SUM_MASS] - centre[c];
        }
        if (p.turns)
            best_rotation_step(sums + SUM_A, m.D);
        sinew_over_particles(threads, p.count, move_particles, &m);
    }
}

static void move_contacting_components(const sinew_rigid *r, sinew_real *q)
{
    const int32_t threads = r->objective->thread_count;
    sinew_rigid_body *bodies = r->contacts.bodies;
    for (int32_t k = 0; k < r->contacting_count; k++) {
        const component p = component_of(r, r->component_count + k, NULL, q);
        sinew_rigid_body *b = &bodies[k];
        double sums[SUM_COUNT], centre[3];
        sum_component(&p, threads, sums, centre);
        b->turns = p.turns;
        b->mass = sums[SUM_MASS];
        memcpy(b->A, sums + SUM_A, sizeof b->A);
        for (int c = 0; c < 3; c++) {
            b->centre[c] = (double)p.origin[c] + centre[c];
            b->to_target[c] = sums[SUM_TARGET + c] / sums[SUM_MASS] - centre[c];
        }
    }
    sinew_rigid_contacts_solve(&r->contacts, q);
    for (int32_t k = 0; k < r->contacting_count; k++) {
        const component p = component_of(r, r->component_count + k, NULL, q);
        movement m = {.component = &p, .q = q};
        memcpy(m.D, bodies[k].turn, sizeof m.D);
        memcpy(m.middle, bodies[k].centre, sizeof m.middle);
        memcpy(m.shift, bodies[k].shift, sizeof m.shift);
        sinew_over_particles(threads, p.count, move_particles, &m);
    }
}

void sinew_rigid_move(const sinew_rigid *r, sinew_real *q)
{
    move_free_components(r, q);
    if (r->contacting_count > 0)
        move_contacting_components(r, q);
}

/* ---- Velocities of components ---------------------------------------------------------------- */

/* Excess momentum of a component times h: sums[0..2] += m (q - q_n - h v) - h^2 f with the damped velocity v; sums[3]
 * += m. */
static void add_excess_momentum(const void *context, int32_t first, int32_t last, double *sums)
{
    const component *p = context;
    const sinew_objective *o = p->objective;
    const double step = o->step.h * o->step.v_kept, square = o->step.h * o->step.h;
    double s[4] = {0};
    for (int32_t k = first; k < last; k++) {
        const size_t at = SINEW_POINT * (size_t)p->particle[k];
        const double m = (double)o->step.mass[p->particle[k]];
        for (size_t c = 0; c < 3; c++)
            s[c] += m * ((double)p->q[at + c] - (double)p->q_start[at + c] - step * (double)o->step.v[at + c]) -
                    square * (double)o->step.force[at + c];
        s[3] += m;
    }
    for (int c = 0; c < 4; c++)
        sums[c] += s[c];
}

/* Particles per block of velocity rounding with error diffusion: a fixed size, so that bits do not depend on
 * threads. */
enum {
    BLOCK = 2048
};

typedef struct rounding {
    const component *component;
    double excess[3]; /* position of the centre of mass minus that which conserves momentum, in m */
    sinew_real *v;
} rounding;

/* Computes velocities of particles first .. last - 1 of a component, from positions minus `excess`. The rounding error
 * of one particle is added to the next, so that rounding errors cancel in the sum of m v. The addition is limited to
 * one rounding, so that a heavy particle does not disturb a light one; the remainder goes to later particles. */
static void round_velocities(const rounding *r, int32_t first, int32_t last)
{
    const component *p = r->component;
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON, rate = 1 / p->objective->step.h;
    double dropped[3] = {0};
    for (int32_t k = first; k < last; k++) {
        const size_t at = SINEW_POINT * (size_t)p->particle[k];
        const double m = (double)p->objective->step.mass[p->particle[k]], inverse = 1 / m;
        for (size_t c = 0; c < 3; c++) {
            const double exact = ((double)p->q[at + c] - (double)p->q_start[at + c] - r->excess[c]) * rate;
            const double reach = epsilon * fabs(exact), wish = dropped[c] * inverse;
            const double more = wish > reach ? reach : wish < -reach ? -reach : wish;
            r->v[at + c] = (sinew_real)(exact + more);
            dropped[c] += m * (exact - (double)r->v[at + c]);
        }
    }
}

static void round_blocks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const rounding *r = context;
    for (int32_t block = first; block < last; block++) {
        const int32_t begin = BLOCK * block,
                      end = r->component->count - begin > BLOCK ? begin + BLOCK : r->component->count;
        round_velocities(r, begin, end);
    }
}

/* Arguments for the velocities of the particles that belong to no free component. */
typedef struct others {
    const sinew_rigid *rigid;
    const sinew_real *q_start, *q;
    sinew_real *v;
} others;

static void velocities_of_others(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const others *o = context;
    const int32_t *particle = o->rigid->particle + o->rigid->first[o->rigid->component_count];
    for (int32_t k = first; k < last; k++)
        for (size_t c = 0, at = SINEW_POINT * (size_t)particle[k]; c < 3; c++, at++)
            o->v[at] = (sinew_real)(((double)o->q[at] - (double)o->q_start[at]) / o->rigid->objective->step.h);
}

void sinew_rigid_velocities(const sinew_rigid *r, const sinew_real *q_start, const sinew_real *q, sinew_real *v)
{
    const sinew_objective *o = r->objective;
    sinew_over_particles(o->thread_count, o->particle_count - r->first[r->component_count], velocities_of_others,
                         &(others){r, q_start, q, v});
    for (int32_t k = 0; k < r->component_count; k++) {
        const component p = component_of(r, k, q_start, q);
        double sums[4];
        sinew_sum(add_excess_momentum, &p, p.count, 4, sums, o->thread_count);
        const rounding work = {&p, {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]}, v};
        sinew_tasks_for(p.count < SINEW_PARALLEL_PARTICLES ? 1 : o->thread_count, (p.count + BLOCK - 1) / BLOCK, 1,
                        round_blocks, &work);
    }
}
