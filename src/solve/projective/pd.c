/* SPDX-License-Identifier: MIT
 *
 * pd.c: Projective Dynamics (Bouaziz et al. 2014; thesis algorithm 4): local projections, one constant global matrix.
 *
 *     local    p_j = proj_j(D_j q)                              every element by itself
 *     global   S q = M/h^2 q_tilde + sum_j k_j D_j^T p_j,       S = M/h^2 + sum_j k_j D_j^T D_j, factorised once
 *
 * For energies k/2 dist(D q, set)^2 the gradient of g is M/h^2 (q - q_tilde) + sum k D^T (D q - p). The same iteration
 * is thus q <- q - S^-1 grad g(q): a quasi-Newton step of length one (thesis algorithm 5). Both forms are available and
 * equal in exact arithmetic. With round-off they differ: the position form subtracts large numbers if k h^2 is large
 * compared with the masses, and in single precision the centre of mass jumps. The increment form, the default, has only
 * the round-off of the gradient.
 *
 * Contacts are not part of S (contact_blocks.h). With contacts a line search on g sets the step length, because
 * contacts that close during the iteration have no block.
 *
 * Up to round-off the method never increases g. It converges linearly, more slowly for larger h^2 k / m. Known limits:
 * only energies that are a squared distance to a set.
 *
 * All this holds for `coordinates` = reduced, where the paper's A and B are the energy's own D. With other coordinates,
 * or `sets` = any, elements have copies of their vertices, and Phi of pd_general.h is minimised instead of g. Phi does
 * not increase either.
 */
#include <string.h>

#include "base/reduce.h"
#include "solve/projective/global_system.h"
#include "solve/line_search.h"
#include "solve/projective/pd_general.h"
#include "solve/parameters.h"
#include "solve/solver.h"

enum {
    FORM,
    START,
    COORDINATES,
    SETS,
    FACTOR,
    PARAMETER_COUNT
};
enum {
    FORM_INCREMENT,
    FORM_POSITION
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [FORM] = {.name = "form",
              .expert = true,
              .unit = "",
              .choices = "increment|position",
              .maximum = 1,
              .preset = FORM_INCREMENT,
              .meaning =
                  "what the global step solves for; position is the published form and drifts in single precision"},
    [START] = SINEW_START_PARAMETER,
    [COORDINATES] = {.name = "coordinates",
                     .unit = "",
                     .choices = "reduced|identity|mean|vertex|mass",
                     .maximum = 4,
                     .preset = SINEW_COORDINATES_REDUCED,
                     .meaning = "A and B of the paper: each energy's own; points as they are, less their mean, less "
                                "one; Jacobi with momentum (14)"},
    [SETS] = {.name = "sets",
              .expert = true,
              .unit = "",
              .choices = "own|any",
              .maximum = 1,
              .preset = 0,
              .meaning = "any: every energy as k/2 times the squared distance to where it is zero, by SQP; another "
                         "energy than its own"},
    [FACTOR] = {.name = "factor",
                .expert = true,
                .unit = "",
                .choices = "double|single",
                .maximum = 1,
                .preset = 0,
                .meaning = "arithmetic that the matrix is factorised in; single, as publications do, loses the centre "
                           "of mass where h^2 k is large (coordinates = reduced, sets = own)"},
};

typedef struct pd {
    bool position;
    sinew_global global; /* constant global matrix of energies with reduced coordinates */
    /* global step with copies of vertices (pd_general.h); used instead of `global` if not NULL */
    sinew_pd_general *general;
    sinew_real *b;    /* [particle_count][4] right-hand side, then solution, of the global step */
    sinew_real *work; /* [particle_count][4] work space of pd_general.h; else NULL */
    sinew_real *trial,
        *trial_gradient; /* [particle_count][4] work space of line searches; NULL before the first contact */
} pd;

static bool has_copies(const sinew_solver_def *def)
{
    return def->parameters[COORDINATES] != SINEW_COORDINATES_REDUCED || def->parameters[SETS] != 0;
}

static uint32_t pd_needs(const sinew_solver_def *def)
{
    if (def->parameters[SETS] == 0)
        return SINEW_CAN_PROJECT | SINEW_CAN_REDUCE;
    return def->parameters[COORDINATES] == SINEW_COORDINATES_REDUCED ? SINEW_CAN_REDUCE : 0;
}

/* Contacts need coordinates = reduced and sets = own: copies of vertices are made only for the elements at the start of
 * a step, and contacts are no squared distances to sets. */
static const char *pd_contact_refused_by(const sinew_solver_def *def)
{
    return has_copies(def) ? "coordinates = reduced and sets = own" : NULL;
}

/* Rebuilds the copies, weights and matrix of pd_general.h; the old ones are released also on failure. */
static sinew_status rebuild_pd_general(sinew_solve *s, pd *p, sinew_error *error)
{
    const sinew_coordinates coordinates = (sinew_coordinates)s->def.parameters[COORDINATES];
    sinew_error local = {0};
    sinew_pd_general_destroy(p->general, s->objective);
    p->general = sinew_pd_general_create(s->objective, coordinates, &local);
    return p->general ? SINEW_OK : sinew_fail(error, local.status, "%s", local.text);
}

static sinew_status allocate_search(sinew_solve *s, pd *p, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    if (!p->global.has_contacts || p->trial_gradient)
        return SINEW_OK;
    sinew_release(&o->allocator, p->trial); /* releases memory left over from a call that ran out of memory */
    p->trial = sinew_allocate_zero(&o->allocator, size, sizeof *p->trial);
    p->trial_gradient = p->trial ? sinew_allocate_zero(&o->allocator, size, sizeof *p->trial_gradient) : NULL;
    return p->trial_gradient ? SINEW_OK : sinew_fail_memory(error, "projective dynamics");
}

static sinew_status pd_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    pd *p = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *p);
    if (!p)
        return sinew_fail_memory(error, "projective dynamics");
    p->position = s->def.parameters[FORM] == FORM_POSITION;
    p->b = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *p->b);
    const sinew_global_rule rule = {.weight_assignment = {1, 1, 1},
                                    .factorisations = &s->factorisations,
                                    .contacts_by_blocks = !p->position,
                                    .position = p->position,
                                    .single = s->def.parameters[FACTOR] > 0};
    if (!p->b)
        return sinew_fail_memory(error, "projective dynamics");
    if (!has_copies(&s->def)) {
        const sinew_status status = sinew_global_create(&p->global, o, &rule, error);
        return status == SINEW_OK ? allocate_search(s, p, error) : status;
    }
    if (p->position)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "pd: form = position goes with coordinates = reduced and sets = own; use form = increment");
    p->work = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *p->work);
    return p->work ? rebuild_pd_general(s, p, error) : sinew_fail_memory(error, "projective dynamics");
}

static sinew_status pd_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    pd *p = s->memory;
    if (has_copies(&s->def))
        return rebuild_pd_general(s, p, error);
    const sinew_status status = sinew_global_refresh(&p->global, s->objective, changed, error);
    return status == SINEW_OK ? allocate_search(s, p, error) : status;
}

static void pd_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    pd *p = s->memory;
    if (!p)
        return;
    sinew_global_destroy(&p->global, o);
    sinew_pd_general_destroy(p->general, o);
    sinew_release(&o->allocator, p->b);
    sinew_release(&o->allocator, p->work);
    sinew_release(&o->allocator, p->trial);
    sinew_release(&o->allocator, p->trial_gradient);
    sinew_release(&o->allocator, p);
    s->memory = NULL;
}

static void pd_begin(sinew_solve *s)
{
    pd *p = s->memory;
    p->global.solves = 0;
    sinew_solve_start(s, (int)s->def.parameters[START]);
    if (p->general)
        sinew_pd_general_begin(p->general);
}

static void project_task(void *context, int32_t task, sinew_reduced_kernel *kernel)
{
    const sinew_objective *o = context;
    o->tasks[task].batch->ops->local_project(kernel);
}

/* Global step in the position form: S q = M/h^2 q_tilde + sum k D^T p, with the global matrix S, masses M, reduction
 * matrices D and projections p. Terms of pins are on the right-hand side. */
static void solve_position(sinew_solve *s, pd *p)
{
    sinew_objective *o = s->objective;
    sinew_objective_local(o, s->q, project_task, o, p->b);
    sinew_objective_add_inertia(o, 0, s->q, p->b);
    sinew_global_move_pins(&p->global, s->q, p->b);
    sinew_global_solve(&p->global, o, p->b, p->b);
    for (int32_t i = 0; i < o->particle_count; i++)
        if (!o->step.pinned[i])
            memcpy(s->q + 4 * (size_t)i, p->b + 4 * (size_t)i, 4 * sizeof *s->q);
}

static uint32_t pd_iterate_contacts(sinew_solve *s, pd *p)
{
    sinew_objective *o = s->objective;
    sinew_solve_evaluate(s);
    sinew_global_linearise(&p->global, o, s->q);
    sinew_global_solve(&p->global, o, s->gradient, p->b);
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        p->b[i] = -p->b[i];
    return sinew_line_search(s, p->b, p->trial, p->trial_gradient) > 0 ? 0 : SINEW_STEP_STALLED;
}

static uint32_t pd_local_global(sinew_solve *s, pd *p)
{
    sinew_objective *o = s->objective;
    if (!p->general && p->global.has_contacts)
        return pd_iterate_contacts(s, p);
    if (p->general) {
        sinew_pd_general_local(p->general, o, s->q, p->b);
        sinew_pd_general_solve(p->general, o, p->b, p->b);
        sinew_add_scaled(s->q, 1, p->b, o->particle_count, o->thread_count);
    } else if (p->position) {
        solve_position(s, p);
    } else {
        sinew_solve_evaluate(s);
        sinew_global_solve(&p->global, o, s->gradient, p->b);
        sinew_add_scaled(s->q, -1, p->b, o->particle_count, o->thread_count);
    }
    s->gradient_known = false;
    return 0;
}

static uint32_t pd_iterate(sinew_solve *s)
{
    pd *p = s->memory;
    const uint32_t bits = pd_local_global(s, p);
    s->linear_iterations = p->global.solves;
    return bits;
}

static bool pd_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z)
{
    pd *p = s->memory;
    if (p->general)
        sinew_pd_general_solve(p->general, s->objective, r, z);
    else
        sinew_global_solve(&p->global, s->objective, r, z);
    return true;
}

/* The objective that pd minimises, Phi of pd_general.h or g, in J. In quasistatic steps `elastic` includes the work of
 * external forces. */
static double pd_own_objective(sinew_solve *s)
{
    const pd *p = s->memory;
    const double forces = s->objective->step.quasistatic && p->general
                              ? s->terms.elastic - sinew_objective_elastic(s->objective, s->q)
                              : 0;
    return s->terms.inertia + forces +
           (p->general ? sinew_pd_general_value(p->general, s->objective, s->q, p->work) : s->terms.elastic);
}

const sinew_solver_ops sinew_solver_pd = {
    .info = {.name = "pd",
             .summary = "Projective Dynamics: parallel projections and one prefactored matrix",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_PROJECT | SINEW_CAN_REDUCE,
             .quasistatic = true},
    .prepare = pd_prepare,
    .release = pd_release,
    .refreshes = SINEW_GLOBAL_REFRESHES,
    .refresh = pd_refresh,
    .needs_gradient = true,
    .work = {.gradients = 1.5, .solves = 0.1},
    .begin = pd_begin,
    .iterate = pd_iterate,
    .precondition = pd_precondition,
    .needs = pd_needs,
    .own_objective = pd_own_objective,
    .contact_refused_by = pd_contact_refused_by,
};
