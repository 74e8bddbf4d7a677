/* SPDX-License-Identifier: MIT
 *
 * admm.c: the alternating direction method of multipliers (Overby et al. 2017; thesis algorithm 9).
 *
 *     min 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j psi_j(z_j)    subject to    w_j (D_j q - z_j) = 0
 *
 *     local    z_j = argmin psi_j(z) + w_j^2/2 |z - (D_j q + u_j)|^2,   u_j <- u_j + D_j q - z_j
 *     global   q <- q + S^-1 (M/h^2 (q_tilde - q) + sum_j w_j^2 D_j^T (z_j - u_j - D_j q))
 *              S = M/h^2 + sum_j w_j^2 D_j^T D_j
 *
 * The local step is exact (a proximal map in singular values), so every energy with a proximal map is accepted. Hard
 * energies, which must be distances to a set, become the set's indicator, thesis (4.76): z_j is the projection of D_j q
 * + u_j on the set. The z_j of hard energies satisfy the constraint in every iteration, q at convergence only; their
 * stiffness affects only their weight. The global step is written for the increment, which keeps the centre of mass in
 * single precision too.
 *
 * The weights decide the speed: w_j^2 = c^2 k_j with k_j the stiffness that PD would use. automatic_factor() chooses c
 * by default, and admm_penalty.h adapts it during iterations. With a new c the multipliers w^2 u stay the same, and S
 * is factorised again in its old pattern.
 *
 * Contacts are not split: the global step minimises over q with contacts included (contact_global_step.h). Split
 * contacts, with isotropic weights and duals that start at zero, resisted sliding: a box moved 4 % of its displacement
 * in 20 iterations, 29 % at best, against 99.9 % without the split.
 *
 * Iterates may have an infinite energy: if an energy has a barrier, the returned positions are moved back towards the
 * last finite iterate. With an automatic weight, non-finite iterates restart at q_n with a larger one, up to six times
 * a step.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/projective/global_system.h"
#include "solve/parameters.h"
#include "solve/solver.h"
#include "solve/projective/spectrum.h"
#include "solve/projective/contact_global_step.h"
#include "solve/projective/admm_penalty.h"

enum {
    WEIGHT,
    STRETCH_LOW,
    STRETCH_HIGH,
    START,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [WEIGHT] = {.name = "weight",
                .unit = "",
                .minimum = 0,
                .maximum = 1e6,
                .preset = 0,
                .meaning = "c in w = c sqrt(k); 0: chosen automatically, and changed where iterations ask for it. 1 is "
                           "Projective Dynamics' own weight"},
    [STRETCH_LOW] = SINEW_STRETCH_LOW_PARAMETER,
    [STRETCH_HIGH] = SINEW_STRETCH_HIGH_PARAMETER,
    [START] = SINEW_START_PARAMETER,
};

typedef struct admm {
    sinew_global global;
    sinew_weight_assignment weight_assignment;
    size_t *first_weight; /* [task_count] index of each task's first entry in `weights` */
    size_t *first_dual;   /* [task_count] index of each task's first entry in `u` */
    size_t dual_count, weight_count;
    sinew_real *weights; /* [weight_count] squared weight w^2 of each element, padding included */
    sinew_real *u;       /* [dual_count] scaled dual variables u_j of all elements */
    sinew_real *b;       /* [particle_count][4] right-hand side of the global step, N */
    sinew_real *dq;      /* [particle_count][4] increment of q, m; the same array as b if the weight is not automatic */
    sinew_contact_global_step touch;
    bool any_hard;
    size_t *first_hard; /* [task_count] offset in `hard` for each task of a hard energy */
    sinew_real *hard;   /* data of hard elements, HARDER times as stiff, so that their proximal map is the projection */

    /* The next fields are used for automatic (adapted) weights only. */
    bool automatic;
    sinew_weight_rule rule;
    int32_t restarts;      /* number of times that this time step restarted with a larger weight */
    sinew_real *stiffness; /* [weight_count] stiffness k of each element, padding included */
    sinew_real *u_before;  /* [dual_count] dual variables u before the local step */
    double *task_moves;    /* [task_count] sum of w^2 |du|^2 over the elements of each task */

    /* The next fields are used if an energy has a barrier only. */
    /* barrier: true if an energy has a barrier; moved: true if the iterate of `admm` is not yet copied to s->q */
    bool barrier, moved;
    sinew_real *q, *last_good; /* [particle_count][4] the iterate; the last positions of finite energy in s->q */

    /* Capacities in bytes of the arrays over tasks, elements and duals. */
    size_t first_weight_capacity, first_dual_capacity, weight_capacity, u_capacity, stiffness_capacity,
        u_before_capacity, move_capacity, first_hard_capacity, hard_capacity;
} admm;

/* Factor of the stiffness of hard elements in the local step: large enough that z = (k p + w^2 y) / (k + w^2) rounds to
 * p, and far from overflow. */
#define HARDER (sizeof(sinew_real) == 4 ? 1e12 : 1e20)

/* ---- Factor c of the weights ----------------------------------------------------------------- */

/* Factor c of the weights. For curvatures between a and b along local coordinates, ADMM contracts fastest with w^2 =
 * sqrt(a b): smaller weights let stiff directions oscillate, larger weights slow down soft directions (Ghadimi et al.
 * 2015, "Optimal parameter selection for the alternating direction method of multipliers: quadratic problems", section
 * III). In units of k the curvatures are the eigenvalues of S^-1 H at the rest shape (spectrum.h): 1 for pure strain,
 * more if k is below the stiffness of a change of volume, and down to about (width / length)^2 for a beam's bending and
 * twisting. Both matrices include inertia, so that both extreme eigenvalues tend to 1, and c to PD's own weight, as h^2
 * k goes to zero.
 *
 * ADMM diverges with too small weights and is only slow with too large ones, so c is a fifth above the optimum, but not
 * above the root of the largest curvature (or 1). The minimum, 0.3, prevents divergence for sheets of springs, which
 * have modes without stiffness. */
static double automatic_factor(const sinew_spectrum *spectrum)
{
    const double above = 1.2, min = 0.3;
    return fmax(fmin(above * pow(spectrum->low * spectrum->high, 0.25), fmax(1, sqrt(spectrum->high))), min);
}

/* Applies the weight rule's factor c to the global matrix S and the local steps; the multipliers w^2 u are kept.
 * Returns false, with the old c restored, if S cannot be factorised. */
static bool set_factor(sinew_solve *s, double c_before)
{
    const sinew_objective *o = s->objective;
    admm *a = s->memory;
    const double c = a->rule.memory.c, keep = c_before * c_before / (c * c);
    if (!sinew_global_rescale(&a->global, o, c * c)) {
        a->rule.memory.c = c_before;
        return false;
    }
    for (size_t i = 0; i < a->weight_count; i++)
        a->weights[i] = (sinew_real)(c * c * (double)a->stiffness[i]);
    for (size_t i = 0; i < a->dual_count; i++)
        a->u[i] = (sinew_real)(keep * (double)a->u[i]);
    return true;
}

/* ---- Arrays and copies of elements for ADMM -------------------------------------------------- */

static bool reserve_task_arrays(const sinew_objective *o, admm *a)
{
    const sinew_allocator *m = &o->allocator;
    const size_t tasks = (size_t)o->task_count;
    return sinew_reserve(m, &a->first_weight, &a->first_weight_capacity, tasks, sizeof *a->first_weight) &&
           sinew_reserve(m, &a->first_dual, &a->first_dual_capacity, tasks, sizeof *a->first_dual) &&
           sinew_reserve(m, &a->first_hard, &a->first_hard_capacity, tasks, sizeof *a->first_hard) &&
           (!a->automatic || sinew_reserve(m, &a->task_moves, &a->move_capacity, tasks, sizeof *a->task_moves));
}

static bool reserve_element_arrays(const sinew_objective *o, admm *a)
{
    const sinew_allocator *m = &o->allocator;
    return sinew_reserve(m, &a->weights, &a->weight_capacity, a->weight_count, sizeof *a->weights) &&
           (!a->automatic ||
            (sinew_reserve(m, &a->stiffness, &a->stiffness_capacity, a->weight_count, sizeof *a->stiffness) &&
             sinew_reserve(m, &a->u_before, &a->u_before_capacity, a->dual_count, sizeof *a->u_before)));
}

/* Allocates the iterate and a copy of its last finite positions if an energy has a barrier. Returns false if out of
 * memory. */
static bool allocate_barrier_copies(const sinew_objective *o, admm *a)
{
    const size_t size = 4 * (size_t)o->particle_count;
    if (!a->barrier || a->last_good)
        return true;
    sinew_release(&o->allocator, a->q); /* releases memory left over from a call that ran out of memory */
    a->q = sinew_allocate_zero(&o->allocator, size, sizeof *a->q);
    a->last_good = a->q ? sinew_allocate_zero(&o->allocator, size, sizeof *a->last_good) : NULL;
    return a->last_good;
}

/* Allocates the dual variables u. After a change of elements, duals of transient elements are reset; the first `kept`
 * duals, of fixed elements, are kept within a step. */
static bool reserve_dual(const sinew_objective *o, admm *a, size_t kept)
{
    if (a->u_capacity < a->dual_count * sizeof *a->u) {
        const size_t spare = a->dual_count + a->dual_count / 2;
        sinew_real *u = sinew_reallocate(&o->allocator, a->u, kept, spare, sizeof *u);
        if (!u)
            return false;
        a->u = u;
        a->u_capacity = spare * sizeof *u;
    }
    if (a->dual_count > kept) /* u may be NULL if no element has duals */
        memset(a->u + kept, 0, (a->dual_count - kept) * sizeof *a->u);
    return true;
}

static size_t count_hard_data(const sinew_task *task)
{
    return task->batch->hard ? sinew_task_padded_count(task) * (size_t)task->batch->ops->data_count : 0;
}

static bool reserve_hard(const sinew_objective *o, admm *a)
{
    size_t count = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        a->first_hard[t] = count;
        count += count_hard_data(&o->tasks[t]);
    }
    a->any_hard = count > 0;
    return !a->any_hard || sinew_reserve_spare(&o->allocator, &a->hard, &a->hard_capacity, count, sizeof *a->hard);
}

/* Copies the current data of hard elements, which change: targets move, and elements are switched on and off. */
static void copy_hard_data(const sinew_objective *o, admm *a)
{
    for (int32_t t = 0; a->any_hard && t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t W = (size_t)task->batch->width, D = (size_t)task->batch->ops->data_count;
        const size_t count = count_hard_data(task);
        sinew_real *data = a->hard + a->first_hard[t];
        if (count > 0)
            memcpy(data, sinew_batch_groups(task->batch, task->chunk).data, count * sizeof *data);
        for (size_t group = 0; group * D * W < count; group++)
            for (size_t lane = 0; lane < W; lane++)
                data[group * D * W + lane] *= (sinew_real)HARDER;
    }
}

/* Computes the offsets of the objective's tasks in the arrays over elements and duals. Weights and stiffness of fixed
 * elements keep their offsets; arrays that grow lose their content. Returns false if out of memory. */
static bool admm_lay_out(const sinew_objective *o, admm *a, bool in_step)
{
    if (!reserve_task_arrays(o, a))
        return false;
    size_t kept = 0;
    a->weight_count = a->dual_count = 0;
    a->barrier = false;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t padded_count = sinew_task_padded_count(task);
        a->first_weight[t] = a->weight_count;
        a->first_dual[t] = a->dual_count;
        a->weight_count += padded_count;
        a->dual_count += padded_count * 3 * (size_t)task->batch->ops->reduced_count;
        a->barrier = a->barrier || task->batch->ops->barrier;
        kept = in_step && t < o->fixed_task_count ? a->dual_count : kept;
    }
    return reserve_element_arrays(o, a) && allocate_barrier_copies(o, a) && reserve_dual(o, a, kept) &&
           reserve_hard(o, a);
}

/* Sets the weights of the elements of tasks first .. last - 1 for their current state and the current factor c. */
static void admm_set_weights(sinew_solve *s, int32_t first, int32_t last)
{
    admm *a = s->memory;
    const size_t from = first < last ? a->first_weight[first] : 0;
    const size_t count = sinew_tasks_padded_count(s->objective, first, last);
    sinew_element_weights(s->objective, first, last, &a->weight_assignment, a->weights + from);
    if (!a->automatic)
        return;
    const double c = a->rule.memory.c;
    memcpy(a->stiffness + from, a->weights + from, count * sizeof *a->weights);
    for (size_t i = from; i < from + count; i++)
        a->weights[i] = (sinew_real)(c * c * (double)a->stiffness[i]);
}

/* Chooses the factor c from the spectrum of S^-1 H, with the Hessian H and the global matrix S for the weights of
 * PD; then scales S by c^2. */
static sinew_status choose_weight(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    sinew_spectrum spectrum;
    const sinew_status status = sinew_spectrum_find(o, &a->global, s->q, &spectrum, error);
    if (status != SINEW_OK)
        return status;
    sinew_weight_start(&a->rule, automatic_factor(&spectrum));
    set_factor(s, 1);
    return SINEW_OK;
}

static sinew_status admm_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *a);
    const double factor = (double)s->def.parameters[WEIGHT];
    if (!a)
        return sinew_fail_memory(error, "ADMM");
    a->automatic = factor == 0;
    a->rule.memory.c = 1;
    a->weight_assignment =
        (sinew_weight_assignment){(double)s->def.parameters[STRETCH_LOW], (double)s->def.parameters[STRETCH_HIGH],
                                  a->automatic ? 1 : (sinew_real)(factor * factor)};
    a->b = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *a->b);
    a->dq = a->automatic ? sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *a->dq) : a->b;
    if (!a->b || !a->dq || !admm_lay_out(o, a, false))
        return sinew_fail_memory(error, "ADMM");
    admm_set_weights(s, 0, o->task_count);
    const sinew_global_rule rule = {.weight_assignment = a->weight_assignment,
                                    .rescaled = a->automatic,
                                    .contacts_by_blocks = true,
                                    .factorisations = &s->factorisations};
    sinew_status status = sinew_global_create(&a->global, o, &rule, error);
    if (status == SINEW_OK && !sinew_contact_global_step_reserve(&a->touch, &a->global, o))
        status = sinew_fail_memory(error, "ADMM");
    return status == SINEW_OK && a->automatic ? choose_weight(s, error) : status;
}

/* Applies changes of elements and data to weights, duals and S. The adapted factor c is kept. */
static sinew_status admm_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    const bool grown = changed & SINEW_CHANGED_TRANSIENT, data = changed & SINEW_CHANGED_DATA;
    const size_t capacity = a->weight_capacity + a->stiffness_capacity;
    if (grown && !admm_lay_out(o, a, (changed & SINEW_CHANGED_IN_STEP) != 0))
        return sinew_fail_memory(error, "ADMM");
    for (int32_t t = 0; t < o->fixed_task_count; t++)
        if (data || capacity != a->weight_capacity + a->stiffness_capacity ||
            (changed & SINEW_CHANGED_SWITCHED && o->tasks[t].batch->switchable))
            admm_set_weights(s, t, t + 1);
    admm_set_weights(s, o->fixed_task_count, o->task_count);
    copy_hard_data(o, a);
    const sinew_status status = sinew_global_refresh(&a->global, o, changed, error);
    return status != SINEW_OK || sinew_contact_global_step_reserve(&a->touch, &a->global, o)
               ? status
               : sinew_fail_memory(error, "ADMM");
}

static void admm_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    if (!a)
        return;
    sinew_global_destroy(&a->global, o);
    sinew_contact_global_step_release(&a->touch, o);
    void *arrays[] = {
        a->first_weight, a->first_dual, a->first_hard, a->hard, a->weights,   a->u, a->dq == a->b ? NULL : a->dq, a->b,
        a->stiffness,    a->u_before,   a->task_moves, a->q,    a->last_good, a};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- One ADMM iteration: local step, dual update, global step -------------------------------- */

static sinew_real *iterate_of(sinew_solve *s)
{
    const admm *a = s->memory;
    return a->barrier ? a->q : s->q;
}

/* Sets all duals u to zero; u may be NULL if no element has duals. */
static void reset_duals(admm *a)
{
    if (a->dual_count > 0)
        memset(a->u, 0, a->dual_count * sizeof *a->u);
}

static void admm_begin(sinew_solve *s)
{
    admm *a = s->memory;
    const double c_before = a->rule.memory.c;
    const size_t bytes = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    reset_duals(a);
    if (a->automatic && sinew_weight_begin(&a->rule))
        set_factor(s, c_before);
    a->restarts = 0;
    a->global.solves = 0;
    a->moved = false;
    copy_hard_data(s->objective, a);
    sinew_solve_start(s, (int)s->def.parameters[START]);
    if (a->barrier) {
        memcpy(a->q, s->q, bytes);
        memcpy(a->last_good, s->q, bytes);
    }
}

static void admm_contacts_changed(sinew_solve *s, uint32_t what)
{
    admm *a = s->memory;
    const size_t bytes = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    if (a->automatic && what != 0)
        sinew_weight_disturb(&a->rule);
    if (!a->barrier)
        return;
    memcpy(a->q, s->q, bytes);
    memcpy(a->last_good, s->q, bytes);
    a->moved = false;
}

/* w^2 |du|^2, the change of the duals in the last local step, summed over the elements of task t, in J */
static double dual_change_of_task(const sinew_solve *s, int32_t t)
{
    const admm *a = s->memory;
    const sinew_task *task = &s->objective->tasks[t];
    const size_t W = (size_t)task->batch->width, rows = 3 * (size_t)task->batch->ops->reduced_count;
    const sinew_real *u = a->u + a->first_dual[t], *before = a->u_before + a->first_dual[t];
    const int32_t *element = task->batch->element + (size_t)task->chunk->first_group * W;
    double sum = 0;
    for (size_t lane = 0; lane < (size_t)task->chunk->group_count * W; lane++) {
        double square = 0;
        for (size_t r = 0; element[lane] >= 0 && r < rows; r++) {
            const size_t at = (lane / W * rows + r) * W + lane % W;
            const double change = (double)u[at] - (double)before[at];
            square += change * change;
        }
        sum += element[lane] >= 0 ? (double)a->weights[a->first_weight[t] + lane] * square : 0;
    }
    return sum;
}

static void admm_local_step(void *context, int32_t task, sinew_reduced_kernel *kernel)
{
    sinew_solve *s = context;
    const admm *a = s->memory;
    const sinew_task *of = &s->objective->tasks[task];
    kernel->weights = a->weights + a->first_weight[task];
    kernel->u = a->u + a->first_dual[task];
    if (a->automatic)
        a->task_moves[task] = 0;
    if (of->batch->ops->contact && a->global.has_contacts)
        return;
    if (a->automatic)
        memcpy(a->u_before + a->first_dual[task], kernel->u,
               (size_t)of->chunk->group_count * (size_t)of->batch->width * 3 * (size_t)of->batch->ops->reduced_count *
                   sizeof *a->u);
    if (of->batch->hard)
        kernel->groups.data = a->hard + a->first_hard[task];
    of->batch->ops->local_prox(kernel);
    if (a->automatic)
        a->task_moves[task] = dual_change_of_task(s, task);
}

static void sum_inertia_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const sinew_solve *s = context;
    const sinew_real *dq = ((const admm *)s->memory)->dq;
    const sinew_objective *o = s->objective;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0; c < 3; c++) {
            const double move = (double)dq[4 * (size_t)i + c];
            sums[0] += (double)o->step.mass[i] / (o->step.h * o->step.h) * move * move;
        }
}

/* Moves the iterate back to q_n, sets the duals u to zero and increases the weight. */
static void admm_restart(sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    admm *a = s->memory;
    sinew_real *q = iterate_of(s);
    const double c_before = a->rule.memory.c;
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        memcpy(q + 4 * i, (o->step.pinned[i] ? o->step.q_tilde : s->q_start) + 4 * i, 4 * sizeof *q);
    reset_duals(a);
    sinew_weight_restart(&a->rule);
    set_factor(s, c_before);
    a->restarts++;
}

/* Smallest meaningful size (admm_penalty.h) of the change in an iteration, in J^(1/2); smaller changes are round-off of
 * positions. */
static double round_off_size(const sinew_solve *s)
{
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    return 3 * sqrt(s->value_noise * epsilon);
}

/* Measures size and residual ratio of an iteration (admm_penalty.h) and adapts the weight; restarts if the size is not
 * finite. |dq|_S^2 is the sum of an inertia term and w^2 |D dq|^2. */
static void observe_iteration(sinew_solve *s)
{
    enum {
        MAX_RESTARTS = 6
    };
    const sinew_objective *o = s->objective;
    admm *a = s->memory;
    const double c_before = a->rule.memory.c;
    const double global = sinew_dot(a->b, a->dq, o->particle_count, o->thread_count);
    double inertia = 0, local = 0;
    if (!o->step.quasistatic)
        sinew_sum(sum_inertia_terms, s, o->particle_count, 1, &inertia, o->thread_count);
    for (int32_t t = 0; t < o->task_count; t++)
        local += a->task_moves[t];
    const double size = sqrt(fmax(global, 0) + local), elastic = fmax(global - inertia, 0);
    if (!isfinite(size)) {
        if (a->restarts < MAX_RESTARTS)
            admm_restart(s);
    } else if (size > round_off_size(s) && sinew_weight_observe(&a->rule, size, sqrt(local / fmax(elastic, DBL_MIN))))
        set_factor(s, c_before);
}

static uint32_t admm_iterate(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    sinew_real *q = iterate_of(s);
    sinew_objective_local(o, q, admm_local_step, s, a->b);
    sinew_objective_add_inertia(o, 1, q, a->b);
    if (a->global.has_contacts)
        sinew_contact_global_step_solve(&a->touch, &a->global, o, q, a->b, a->dq);
    else
        sinew_global_solve(&a->global, o, a->b, a->dq);
    sinew_add_scaled(q, 1, a->dq, o->particle_count, o->thread_count);
    s->gradient_known = false;
    a->moved = true;
    if (a->automatic)
        observe_iteration(s);
    s->linear_iterations = a->global.solves;
    return 0;
}

/* Copies the iterate to s->q. While its energy is infinite, s->q moves halfway towards the last finite iterate, at most
 * 40 times; then s->q becomes that iterate. */
static void admm_flush(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    const size_t bytes = 4 * (size_t)o->particle_count * sizeof *s->q;
    if (!a || !a->barrier || !a->moved)
        return;
    a->moved = false;
    memcpy(s->q, a->q, bytes);
    for (int half = 0; half < 40 && !isfinite(sinew_objective_value(o, s->q, NULL)); half++)
        for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
            s->q[i] = a->last_good[i] + (s->q[i] - a->last_good[i]) / 2;
    if (isfinite(sinew_objective_value(o, s->q, NULL)))
        memcpy(a->last_good, s->q, bytes);
    else
        memcpy(s->q, a->last_good, bytes);
}

static bool admm_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z)
{
    admm *a = s->memory;
    sinew_global_solve(&a->global, s->objective, r, z);
    return true;
}

/* ---- State of the weight rule between steps -------------------------------------------------- */

static size_t admm_state_size(const sinew_solve *s)
{
    const admm *a = s->memory;
    return a->automatic ? sizeof a->rule.memory : 0;
}

static void admm_state_save(const sinew_solve *s, void *bytes)
{
    const admm *a = s->memory;
    memcpy(bytes, &a->rule.memory, sizeof a->rule.memory);
}

static bool admm_state_load(sinew_solve *s, const void *bytes, size_t size)
{
    admm *a = s->memory;
    sinew_weight_memory memory;
    if (!a->automatic || size != sizeof memory)
        return false;
    memcpy(&memory, bytes, sizeof memory);
    if (!sinew_weight_sane(&memory))
        return false;
    const sinew_weight_memory before = a->rule.memory;
    a->rule.memory = memory;
    if (set_factor(s, before.c))
        return true;
    a->rule.memory = before;
    return false;
}

const sinew_solver_ops sinew_solver_admm = {
    .info = {.name = "admm",
             .summary = "alternating direction method of multipliers: exact local solves, one prefactored matrix",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_PROX | SINEW_CAN_REDUCE,
             .quasistatic = true},
    .prepare = admm_prepare,
    .release = admm_release,
    .refreshes = SINEW_GLOBAL_REFRESHES,
    .refresh = admm_refresh,
    .needs_noise = true,
    .hard = SINEW_CAN_PROJECT,
    .work = {.gradients = 5, .solves = 0.1},
    .begin = admm_begin,
    .iterate = admm_iterate,
    .contacts_changed = admm_contacts_changed,
    .flush = admm_flush,
    .precondition = admm_precondition,
    .state_size = admm_state_size,
    .state_save = admm_state_save,
    .state_load = admm_state_load,
};
