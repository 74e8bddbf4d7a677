/* SPDX-License-Identifier: MIT
 *
 * pbng.c: position-based nonlinear Gauss-Seidel (Chen et al. 2024, "PBNG"; with `hessian` = exact the vertex block
 * descent of Chen et al. 2024, SIGGRAPH).
 *
 *     for every free node in turn   x_i += A_i^-1 (-grad_i g(x)),   A_i about the 3x3 block of the Hessian    PBNG (30)
 *
 * with the current positions. The approximate block, PBNG (32), bounds the objective from above as the node moves
 * (energy/tet/tet_vertex_kernel.h), so that no step increases it; if a block is no bound, each step is checked and
 * halved (run.c). Acceleration over sweeps, PBNG section 7.3:
 *
 *     sor        x^{l+1} = omega (x_swept - x^{l-1}) + x^{l-1}                        the two-term form of Vivace
 *     sor_node   x_i += omega dx_i inside the sweep; does not increase the objective for omega < 2
 *     chebyshev  x^{l+1} = w_{l+1} (gamma (x_swept - x^l) + x^l - x^{l-1}) + x^{l-1},  w = 1, 2/(2 - rho^2), then
 *                4/(4 - rho^2 w); the first sweep is plain
 *
 * The paper over-relaxes the first sweep too, w = 1, 1, ... A soft body in motion nearly converges after one or two
 * plain sweeps, and over-relaxation disturbs it. The same holds later: if a sweep moves the nodes by less than QUICK
 * times the sweep before, plain sweeps already converge fast, and chebyshev keeps the plain sweep.
 *
 * A result of sor or chebyshev is rejected if its objective exceeds the previous one by more than round-off, or equals
 * it within round-off with a higher residual. Then the plain sweep is kept, and the acceleration restarts. `safeguard`
 * = no omits these rules: the recurrences as printed, x^{-1} = x^0, w = 1, 1, 2/(2 - rho^2) and so on.
 *
 * Unless `coarse` = none, every free component moves rigidly towards the minimum over its rigid motions after each
 * sweep (rigid_modes.h), at a few operations per node. Up to round-off, the motion conserves linear momentum and does
 * not increase the objective. For components in contact the minimum includes contact energy, over whole clusters
 * (rigid_modes_contacts.h).
 */
#include <string.h>

#include "base/reduce.h"
#include "solve/coarse/coarse_correction.h"
#include "solve/line_search.h"
#include "solve/vertex_sweep/rigid_modes.h"
#include "solve/parameters.h"
#include "solve/solver.h"
#include "solve/vertex_sweep/vertex_layout.h"

enum {
    HESSIAN,
    ACCELERATION,
    OMEGA,
    RHO,
    GAMMA,
    SYMMETRIC,
    COARSE,
    START,
    AGGREGATE,
    INNER,
    SAFEGUARD,
    PARAMETER_COUNT
};

typedef enum acceleration {
    PLAIN,
    SOR,
    SOR_NODE,
    CHEBYSHEV
} acceleration;

/* Kind of coarse correction: none; rigid motions of free components after each sweep; or also affine motions of
 * aggregates before it. */
typedef enum coarse_kind {
    NO_COARSE,
    RIGID,
    AGGREGATES
} coarse_kind;

/* chebyshev does not accelerate a sweep that moves nodes less than this fraction of the previous sweep. 0.1 to 0.3 give
 * similar results. */
#define QUICK 0.2

enum {
    /* number of trial lengths of the coarse correction: the first and six halvings, until the objective falls */
    TRIALS = 7
};

#define FACTOR_PARAMETER(word, text)                                                                                   \
    {                                                                                                                  \
        .expert = true, .name = word, .unit = "", .minimum = 0, .maximum = 2, .preset = 1.7, .open_minimum = true,     \
        .open_maximum = true, .meaning = text                                                                          \
    }

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [HESSIAN] = {.name = "hessian",
                 .unit = "",
                 .choices = "cheap|exact",
                 .maximum = 1,
                 .preset = 0,
                 .meaning = "block of each node: a cheap bound, PBNG (32), or the second derivatives made definite"},
    [ACCELERATION] = {.name = "acceleration",
                      .unit = "",
                      .choices = "none|sor|sor_node|chebyshev",
                      .maximum = 3,
                      .preset = CHEBYSHEV,
                      .meaning = "over-relaxation of whole sweeps, of each node's step, or Chebyshev's iteration"},
    [OMEGA] = FACTOR_PARAMETER("omega", "factor of sor and sor_node; 1 is the plain sweep, raising it reaches further"),
    [RHO] = SINEW_RHO_PARAMETER,
    [GAMMA] = FACTOR_PARAMETER("gamma", "chebyshev: factor of a sweep's change"),
    [SYMMETRIC] = SINEW_SYMMETRIC_PARAMETER,
    [COARSE] = {.name = "coarse",
                .unit = "",
                .choices = "none|rigid|aggregates",
                .maximum = AGGREGATES,
                .preset = RIGID,
                .meaning =
                    "rigid: after each sweep free components move rigidly; aggregates: and before, subsets of them"},
    [START] = SINEW_START_PARAMETER,
    [AGGREGATE] = SINEW_AGGREGATE_PARAMETER,
    [INNER] = {.name = "inner",
               .unit = "",
               .minimum = 1,
               .maximum = 1000,
               .preset = 1,
               .meaning = "steps of a node before the next one has its turn"},
    [SAFEGUARD] = {.name = "safeguard",
                   .expert = true,
                   .unit = "",
                   .choices = "no|yes",
                   .maximum = 1,
                   .preset = 1,
                   .meaning = "sor, chebyshev: a sweep that they make worse stands as it was; no: the recurrences as "
                              "printed, from the first sweep on, without a check"},
};

typedef struct memory {
    sinew_vertex_layout layout;
    sinew_rigid rigid;
    acceleration kind;
    double omega, rho, gamma;
    bool symmetric, safeguard;
    coarse_kind coarse;
    sinew_coarse aggregates;
    sinew_real *direction,
        *trial; /* [particle_count][4] work space of the correction by aggregates; NULL without correction */
    sinew_real *last, *before; /* [particle_count][4] iterates x^l and x^{l-1}; NULL without sor or chebyshev */
    double weight;             /* weight w_l of Chebyshev's recurrence in the last sweep */
    double movement;           /* norm of the change of all nodes in the last sweep, in m */
    int32_t streak;            /* number of sweeps since the acceleration started */
    /* [particle_count][4] velocities at the end of the step; NULL in double precision, where (q - q_n) / h is accurate
     * enough, in quasistatic worlds, and without rigid motions. */
    sinew_real *v;
} memory;

static sinew_status prepare_components(sinew_solve *s, memory *m, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const sinew_status status = sinew_rigid_create(&m->rigid, o, s->q, error);
    if (status != SINEW_OK || o->step.quasistatic || sizeof(sinew_real) > 4)
        return status;
    m->v = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *m->v);
    return m->v ? SINEW_OK : sinew_fail_memory(error, "the solver");
}

static sinew_status prepare_aggregates(sinew_solve *s, memory *m, sinew_error *error)
{
    sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    m->direction = sinew_allocate_zero(&o->allocator, size, sizeof *m->direction);
    m->trial = sinew_allocate_zero(&o->allocator, size, sizeof *m->trial);
    if (!m->direction || !m->trial)
        return sinew_fail_memory(error, "the solver");
    return sinew_coarse_create(&m->aggregates, o, (int32_t)s->def.parameters[AGGREGATE], 0, error);
}

static sinew_status pbng_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    memory *m = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *m);
    if (!m)
        return sinew_fail_memory(error, "the solver");
    m->kind = (acceleration)s->def.parameters[ACCELERATION];
    m->omega = (double)s->def.parameters[OMEGA];
    m->rho = (double)s->def.parameters[RHO];
    m->gamma = (double)s->def.parameters[GAMMA];
    m->symmetric = s->def.parameters[SYMMETRIC] > 0;
    m->safeguard = s->def.parameters[SAFEGUARD] > 0;
    m->coarse = (coarse_kind)s->def.parameters[COARSE];
    if (m->kind == SOR || m->kind == CHEBYSHEV) {
        m->last = sinew_allocate_zero(&o->allocator, size, sizeof *m->last);
        m->before = sinew_allocate_zero(&o->allocator, size, sizeof *m->before);
        if (!m->last || !m->before)
            return sinew_fail_memory(error, "the solver");
    }
    sinew_status status = m->coarse ? prepare_components(s, m, error) : SINEW_OK;
    if (status == SINEW_OK && m->coarse == AGGREGATES)
        status = prepare_aggregates(s, m, error);
    if (status != SINEW_OK)
        return status;
    status = sinew_vertex_layout_create(&m->layout, o, sinew_simd(), s->def.parameters[HESSIAN] > 0, error);
    m->layout.inner = (int32_t)s->def.parameters[INNER];
    return status;
}

static void pbng_release(sinew_solve *s)
{
    memory *m = s->memory;
    if (!m)
        return;
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_vertex_layout_destroy(&m->layout);
    sinew_rigid_destroy(&m->rigid);
    sinew_coarse_destroy(&m->aggregates);
    sinew_release(allocator, m->direction);
    sinew_release(allocator, m->trial);
    sinew_release(allocator, m->last);
    sinew_release(allocator, m->before);
    sinew_release(allocator, m->v);
    sinew_release(allocator, m);
    s->memory = NULL;
}

static sinew_status pbng_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    const uint32_t fixed = SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED;
    memory *m = s->memory;
    sinew_status status = SINEW_OK;
    if (m->coarse && changed & (fixed | SINEW_CHANGED_TRANSIENT))
        status = sinew_rigid_refresh(&m->rigid, s->q, changed & fixed, error);
    if (status != SINEW_OK || !(changed & SINEW_CHANGED_TRANSIENT))
        return status;
    if (m->coarse == AGGREGATES)
        status = sinew_coarse_refresh(&m->aggregates, error);
    return status == SINEW_OK ? sinew_vertex_layout_refresh(&m->layout, error) : status;
}

static void pbng_flush(sinew_solve *s)
{
    const memory *m = s->memory;
    if (m->v && m->rigid.component_count > 0)
        sinew_rigid_velocities(&m->rigid, s->q_start, s->q, m->v);
}

static void pbng_begin(sinew_solve *s)
{
    memory *m = s->memory;
    m->streak = 0;
    m->movement = 0;
    sinew_solve_start(s, (int)s->def.parameters[START]);
    sinew_vertex_layout_begin(&m->layout);
    s->v_end = m->rigid.component_count > 0 ? m->v : NULL;
    if (m->coarse == AGGREGATES)
        sinew_coarse_fill(&m->aggregates, s->q);
    pbng_flush(s);
}

/* Copies changed contact data. New contacts also restart the acceleration of sweeps, and may change the number of free
 * components. */
static void pbng_contacts_changed(sinew_solve *s, uint32_t what)
{
    memory *m = s->memory;
    if (what & (SINEW_UPDATE_NUMBERS | SINEW_UPDATE_ELEMENTS))
        sinew_vertex_layout_begin(&m->layout);
    if (!(what & SINEW_UPDATE_ELEMENTS))
        return;
    m->streak = 0;
    s->v_end = m->rigid.component_count > 0 ? m->v : NULL;
}

/* Trial of the correction by aggregates: m->trial = q + alpha m->direction. *change: change of the objective, J.
 * Returns true if it is negative. */
static bool try_correction(void *context, double alpha, double *change)
{
    const sinew_solve *s = context;
    const memory *m = s->memory;
    sinew_objective *o = s->objective;
    sinew_combine(m->trial, s->q, (sinew_real)alpha, m->direction, o->particle_count, o->thread_count);
    *change = sinew_objective_value(o, m->trial, NULL) - (s->terms.inertia + s->terms.elastic);
    return *change < 0;
}

/* Applies the correction by aggregates, or a fraction of it, if the objective decreases. */
static void correct_by_aggregates(sinew_solve *s, const memory *m)
{
    sinew_objective *o = s->objective;
    const int32_t n = o->particle_count, threads = o->thread_count;
    if (!m->aggregates.ready)
        return;
    sinew_solve_evaluate(s);
    sinew_coarse_solve((sinew_coarse *)&m->aggregates, -1, s->gradient, false, m->direction);
    sinew_filter(s->objective, m->direction);
    if (!(sinew_dot(s->gradient, m->direction, n, threads) < 0))
        return;
    const sinew_backtracking lengths = {
        .first = 0.99 * sinew_objective_step_limit(o, s->q, m->direction, 1 / 0.99), .factor = 0.5, .trials = TRIALS};
    if (!sinew_backtrack(&lengths, try_correction, s))
        return;
    memcpy(s->q, m->trial, 4 * (size_t)n * sizeof *s->q);
    s->gradient_known = false;
}

static void sweep_nodes(sinew_solve *s, const memory *m)
{
    const double relaxation = m->kind == SOR_NODE ? m->omega : 1;
    sinew_vertex_layout_run(&m->layout, relaxation, false, s->q);
    if (m->symmetric)
        sinew_vertex_layout_run(&m->layout, relaxation, true, s->q);
}

/* Moves free components rigidly, because vertex sweeps hardly reduce the error of rigid motions. */
static void move_components(sinew_solve *s, const memory *m)
{
    if (m->coarse)
        sinew_rigid_move(&m->rigid, s->q);
    s->gradient_known = false;
}

/* ---- Acceleration of sweeps: extrapolation with a merit check -------------------------------- */

/* True if the sweep from `last` to q moved the nodes so much less than the previous sweep that acceleration is not
 * needed. Updates m->movement. */
static bool is_quick_sweep(sinew_solve *s, memory *m)
{
    const int32_t count = s->objective->particle_count, threads = s->objective->thread_count;
    const double before = m->movement;
    sinew_combine(s->velocity, s->q, -1, m->last, count, threads);
    m->movement = sinew_norm(s->velocity, count, threads);
    return m->movement < QUICK * before;
}

/* Sets the factors of the extrapolation x^{l+1} = x_swept + a (x_swept - x^l) + b (x_swept - x^{l-1}); a = b = 0 is the
 * plain sweep. */
static void choose_extrapolation(sinew_solve *s, memory *m, double *a, double *b)
{
    *a = *b = 0;
    if (m->safeguard && m->kind == CHEBYSHEV && is_quick_sweep(s, m))
        m->streak = 0;
    if (m->safeguard && m->streak == 0)
        return;
    if (m->kind == SOR) {
        *b = m->omega - 1;
        return;
    }
    const double square = m->rho * m->rho;
    m->weight = m->streak <= 1 ? 1 : m->streak == 2 ? 2 / (2 - square) : 4 / (4 - square * m->weight);
    *a = m->weight * (m->gamma - 1);
    *b = m->weight - 1;
}

/* Arguments of an extrapolation. On entry q = x_swept, last = x^l, before = x^{l-1}; on return q = x^{l+1}, last =
 * x_swept, before = x^l. */
typedef struct extrapolation_pass {
    sinew_real *q, *last, *before;
    sinew_real a, b;
} extrapolation_pass;

static void extrapolate_range(const void *context, int32_t member, int32_t first, int32_t end)
{
    const extrapolation_pass *e = context;
    (void)member;
    for (int32_t p = first; p < end; p++)
        for (size_t i = 4 * (size_t)p; i < 4 * (size_t)p + 3; i++) {
            const sinew_real swept = e->q[i], last = e->last[i], before = e->before[i];
            e->q[i] = swept + e->a * (swept - last) + e->b * (swept - before);
            e->last[i] = swept;
            e->before[i] = last;
        }
}

static void extrapolate_iterate(sinew_solve *s, memory *m, double a, double b)
{
    const extrapolation_pass pass = {s->q, m->last, m->before, (sinew_real)a, (sinew_real)b};
    sinew_over_particles(s->objective->thread_count, s->objective->particle_count, extrapolate_range, &pass);
}

typedef struct merit {
    double objective, residual;
} merit;

static merit merit_of(sinew_solve *s)
{
    sinew_solve_evaluate(s);
    return (merit){s->terms.inertia + s->terms.elastic, s->residual};
}

/* True if the objective decreased by more than `noise`, or changed by at most `noise` without an increase of the
 * residual. A NaN objective counts as no progress. */
static bool made_progress(merit before, merit after, double noise)
{
    return after.objective < before.objective - noise ||
           (after.objective <= before.objective + noise && after.residual <= before.residual);
}

static void sweep_accelerated(sinew_solve *s, memory *m)
{
    const size_t bytes = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    /* The first sweep of an accelerated sequence is always kept, so its merit is not needed. */
    const merit before = m->safeguard && m->streak > 0 ? merit_of(s) : (merit){0};
    double a, b;
    memcpy(m->last, s->q, bytes);
    if (m->streak == 0)
        memcpy(m->before, s->q, bytes);
    correct_by_aggregates(s, m);
    sweep_nodes(s, m);
    choose_extrapolation(s, m, &a, &b);
    extrapolate_iterate(s, m, a, b);
    move_components(s, m);
    m->streak++;
    if (m->safeguard && (a != 0 || b != 0) && !made_progress(before, merit_of(s), s->value_noise)) {
        memcpy(s->q, m->last, bytes);
        move_components(s, m);
        m->streak = 0;
    }
}

static uint32_t pbng_iterate(sinew_solve *s)
{
    memory *m = s->memory;
    if (m->last) {
        sweep_accelerated(s, m);
    } else {
        correct_by_aggregates(s, m);
        sweep_nodes(s, m);
        move_components(s, m);
    }
    return 0;
}

static int32_t pbng_colours(const sinew_solve *s, const int32_t *outside, int32_t *colours)
{
    const sinew_vertex_layout *v = &((const memory *)s->memory)->layout;
    const sinew_incidence_groups *both[] = {&v->fixed, &v->transient};
    const size_t width = (size_t)v->simd->width;
    for (int k = 0; colours && k < 2; k++)
        for (int32_t c = 0; c < both[k]->colour_count; c++)
            for (size_t i = width * (size_t)both[k]->first_group[c]; i < width * (size_t)both[k]->first_group[c + 1];
                 i++)
                if (both[k]->mass[i] > 0)
                    colours[outside[both[k]->node[i] / SINEW_POINT]] = c;
    return v->colour_count;
}

const sinew_solver_ops sinew_solver_pbng = {
    .info = {.name = "pbng",
             .summary = "nonlinear Gauss-Seidel over nodes: each goes to its minimum while the others stand",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = SINEW_CAN_VERTEX,
             .quasistatic = true,
             .directions = true},
    .affine_bodies = true,
    .prepare = pbng_prepare,
    .refreshes = SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_TRANSIENT,
    .refresh = pbng_refresh,
    .release = pbng_release,
    .needs_noise = true,
    .work = {.gradients = 4},
    .begin = pbng_begin,
    .iterate = pbng_iterate,
    .contacts_changed = pbng_contacts_changed,
    .flush = pbng_flush,
    .corrects_forces = true,
    .colours = pbng_colours,
};
