/* SPDX-License-Identifier: MIT
 *
 * solve_admm.c: the alternating direction method of multipliers (Overby et al. 2017; thesis algorithm 9).
 *
 *     min 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j psi_j(z_j)    subject to    w_j (D_j q - z_j) = 0
 *
 *     local    z_j = argmin psi_j(z) + w_j^2/2 |z - (D_j q + u_j)|^2,   u_j <- u_j + D_j q - z_j
 *     global   q <- q + S^-1 (M/h^2 (q_tilde - q) + sum_j w_j^2 D_j^T (z_j - u_j - D_j q)),   S = M/h^2 + sum w_j^2
 * D_j^T D_j
 *
 * The local step is exact (a proximal map in singular values), so every energy that has one is taken, hard sets
 * included. The global step is written for the increment, which keeps the centre of mass in single precision too.
 *
 * The weights decide the speed: w_j^2 = c^2 k_j with k_j the stiffness that PD would use. See automatic_factor() for
 * how c is chosen when the user does not.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/global_step.h"
#include "solve/shared_parameters.h"
#include "solve/solver.h"
#include "solve/spectrum.h"

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
                .meaning = "c in w = c sqrt(k); 0: chosen automatically. 1 is Projective Dynamics' own weight"},
    [STRETCH_LOW] = SINEW_STRETCH_LOW_PARAMETER,
    [STRETCH_HIGH] = SINEW_STRETCH_HIGH_PARAMETER,
    [START] = SINEW_START_PARAMETER,
};

typedef struct admm {
    sinew_global global;
    size_t *first_weight; /* [task_count] offset of each task in weights */
    size_t *first_dual;   /* [task_count] offset in u */
    size_t dual_count;
    sinew_real *weights; /* w^2 of each element lane */
    sinew_real *u;       /* [dual_count] */
    sinew_real *b;       /* [particle_count][4] */
} admm;

/* ---- Weights --------------------------------------------------------------------------------- */

/* How the weight is chosen. Iterations of this kind, on a function whose curvature along its local coordinates lies
 * between a and b, contract fastest with w^2 = sqrt(a b): smaller weights leave stiff directions swinging, larger ones
 * make soft ones crawl (Ghadimi et al. 2015, "Optimal parameter selection for the alternating direction method of
 * multipliers: quadratic problems", section III). In units of k the curvatures are the eigenvalues of S^-1 H at the
 * rest shape (spectrum.h): 1 for pure strain, more where k is below the stiffness of a change of volume, and down to
 * about (width / length)^2 for a beam's bending and twisting. Inertia is in both matrices, so that both ends go to 1,
 * and c to PD's own weight, as h^2 k goes to zero.
 *
 * Weights that are too small fail where ones too large are only slow, so c is taken a fifth above the optimum. The
 * least: below it iterates swing too far to come back, and sheets of springs have modes without any stiffness. */
static double automatic_factor(const sinew_spectrum *spectrum)
{
    const double above = 1.2, least = 0.3;
    return fmax(fmin(above * pow(spectrum->low * spectrum->high, 0.25), fmax(1, sqrt(spectrum->high))), least);
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static bool lay_out(sinew_objective *o, admm *a)
{
    size_t weight = 0;
    a->first_weight = sinew_allocate(&o->allocator, (size_t)o->task_count, sizeof *a->first_weight);
    a->first_dual = sinew_allocate(&o->allocator, (size_t)o->task_count, sizeof *a->first_dual);
    if (!a->first_weight || !a->first_dual)
        return false;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        size_t lanes = (size_t)task->chunk->group_count * (size_t)task->batch->width;
        a->first_weight[t] = weight;
        a->first_dual[t] = a->dual_count;
        weight += lanes;
        a->dual_count += lanes * 3 * (size_t)task->batch->ops->row_count;
    }
    a->weights = sinew_allocate(&o->allocator, weight, sizeof *a->weights);
    a->u = sinew_allocate_zero(&o->allocator, a->dual_count, sizeof *a->u);
    a->b = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *a->b);
    return a->weights && a->u && a->b;
}

static sinew_status admm_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *a);
    if (!a || !lay_out(o, a))
        return sinew_fail_memory(error, "ADMM");
    sinew_global_stiffness(o, (double)s->def.parameters[STRETCH_LOW], (double)s->def.parameters[STRETCH_HIGH],
                           a->weights);
    double factor = (double)s->def.parameters[WEIGHT];
    if (factor == 0) {
        sinew_spectrum spectrum;
        sinew_status status = sinew_global_create(&a->global, o, a->weights, error);
        if (status == SINEW_OK)
            status = sinew_spectrum_find(o, &a->global, s->q, &spectrum, error);
        sinew_global_destroy(&a->global, o);
        if (status != SINEW_OK)
            return status;
        factor = automatic_factor(&spectrum);
    }
    for (size_t i = 0; i < sinew_global_weight_count(o); i++)
        a->weights[i] *= (sinew_real)(factor * factor);
    return sinew_global_create(&a->global, o, a->weights, error);
}

static void admm_release(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    if (!a)
        return;
    sinew_global_destroy(&a->global, o);
    void *arrays[] = {a->first_weight, a->first_dual, a->weights, a->u, a->b, a};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    s->memory = NULL;
}

/* ---- Iterate --------------------------------------------------------------------------------- */

static void admm_begin(sinew_solve *s)
{
    admm *a = s->memory;
    memset(a->u, 0, a->dual_count * sizeof *a->u);
    sinew_solve_start(s, (int)s->def.parameters[START]);
}

static void local_step(void *context, int32_t task, sinew_kernel *kernel)
{
    sinew_solve *s = context;
    const admm *a = s->memory;
    kernel->weights = a->weights + a->first_weight[task];
    kernel->u = a->u + a->first_dual[task];
    s->objective->tasks[task].batch->ops->local_prox(kernel);
}

static uint32_t admm_iterate(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    admm *a = s->memory;
    sinew_objective_local(o, s->q, local_step, s, a->b);
    sinew_objective_add_inertia(o, 1, s->q, a->b);
    sinew_global_solve(&a->global, o, a->b, a->b);
    sinew_add_scaled(s->q, 1, a->b, o->particle_count, o->thread_count);
    s->gradient_known = false;
    return 0;
}

static bool admm_precondition(sinew_solve *s, const sinew_real *r, sinew_real *z)
{
    const admm *a = s->memory;
    sinew_global_solve(&a->global, s->objective, r, z);
    return true;
}

const sinew_solver_ops sinew_solver_admm = {
    .info = {.name = "admm",
             .summary = "alternating direction method of multipliers: exact local solves, one prefactored matrix",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 20,
             .needs = SINEW_CAN_PROX,
             .quasistatic = true},
    .prepare = admm_prepare,
    .release = admm_release,
    .begin = admm_begin,
    .iterate = admm_iterate,
    .precondition = admm_precondition,
};
