/* SPDX-License-Identifier: MIT
 *
 * newton_decrement.c: computes Newton's direction for estimates of the optimality gap. See newton_decrement.h.
 *
 * Worlds of up to DIRECT_MAX free particles factorise H, which handles stiffness contrasts of many orders of magnitude.
 * A factor of the exact Hessian preconditions the systems of later iterates, which in most worlds costs less than
 * another factor.
 * Larger worlds use conjugate gradients on H, which stop when the decrease of the quadratic model and the length of the
 * direction have stalled (linear/krylov/pcg.h). The preconditioner is the solver's own matrix, or the inverse diagonal
 * blocks.
 */
#include "solve/driver/newton_decrement.h"

#include <float.h>

#include "base/reduce.h"
#include "base/stop.h"

/* Largest number of free particles for a direct factorisation; at this size, factorising a solid takes about as long as
 * conjugate gradients. */
#define DIRECT_MAX 6000
/* Conjugate gradients have converged if the last third of the iterations adds at most this fraction of the decrease. */
#define CONVERGED_FRACTION 0.05

static int32_t count_free(const sinew_objective *o)
{
    int32_t count = 0;
    for (int32_t i = 0; i < o->particle_count; i++)
        count += !o->step.pinned[i];
    return count;
}

static sinew_status create_krylov(sinew_gap *gap, sinew_error *error)
{
    sinew_objective *o = gap->copy.objective;
    const int32_t n = o->particle_count;
    gap->diagonal = sinew_allocate(&o->allocator, 9 * (size_t)n, sizeof *gap->diagonal);
    if (!gap->diagonal)
        return sinew_fail_memory(error, "the estimate of the gap");
    sinew_status status = sinew_block_inverse_create(&o->allocator, &gap->blocks, n, o->thread_count, error);
    if (status == SINEW_OK)
        status = sinew_pcg_create(&o->allocator, &gap->pcg, n, o->thread_count, error);
    return status == SINEW_OK ? sinew_objective_need_tangents(o, error) : status;
}

sinew_status sinew_gap_direction_create(sinew_gap *gap, sinew_error *error)
{
    gap->newton.linear = &sinew_newton_direct;
    gap->newton.refines = true;
    if (count_free(gap->copy.objective) <= DIRECT_MAX)
        return sinew_newton_direct.prepare(&gap->copy, &gap->newton, error);
    return create_krylov(gap, error);
}

void sinew_gap_direction_destroy(sinew_gap *gap)
{
    const sinew_allocator *allocator = &gap->copy.objective->allocator;
    if (gap->newton.linear)
        gap->newton.linear->release(&gap->copy, &gap->newton);
    sinew_pcg_destroy(allocator, &gap->pcg);
    sinew_block_inverse_destroy(allocator, &gap->blocks);
    sinew_release(allocator, gap->diagonal);
}

/* ---- Direction by conjugate gradients -------------------------------------------------------- */

static void decrement_multiply(void *context, const sinew_real *x, sinew_real *Hx)
{
    sinew_objective_product(context, x, Hx);
}

static void decrement_precondition(void *context, const sinew_real *r, sinew_real *z)
{
    sinew_gap *gap = context;
    sinew_solve *s = gap->solver;
    if (!s->ops->precondition || !s->ops->precondition(s, r, z))
        sinew_block_inverse_apply(&gap->blocks, r, z);
}

/* Writes Newton's direction -H^-1 gradient (H: Hessian) to newton.d by conjugate gradients. Returns false if H has
 * negative curvature or the decrease does not converge. */
static bool decrement_run_cg(sinew_gap *gap)
{
    sinew_solve *copy = &gap->copy;
    sinew_real *right = gap->vectors.right;
    for (size_t i = 0; i < 4 * (size_t)copy->objective->particle_count; i++)
        right[i] = -copy->gradient[i];
    const sinew_pcg_result result =
        sinew_pcg_solve_until_stalled(&gap->pcg, (sinew_linear_map){decrement_multiply, copy->objective},
                                      (sinew_linear_map){decrement_precondition, gap}, right, gap->newton.d,
                                      CONVERGED_FRACTION, gap->linear_max - gap->linear_iterations);
    gap->linear_iterations += result.iterations;
    gap->work += gap->model.tangents + result.iterations * (gap->model.product + gap->model.gradient);
    return result.stalled && !result.indefinite;
}

static bool decrement_solve_cg(sinew_gap *gap, bool project)
{
    sinew_objective *o = gap->copy.objective;
    sinew_objective_diagonal(o, gap->copy.q, project, gap->diagonal);
    sinew_block_inverse_set(&gap->blocks, gap->diagonal);
    sinew_objective_linearise(o, gap->copy.q, project);
    return decrement_run_cg(gap);
}

/* ---- Newton's direction by factor or conjugate gradients ------------------------------------- */

static bool decrement_solve(sinew_gap *gap, bool project)
{
    if (gap->pcg.r)
        return decrement_solve_cg(gap, project);
    gap->work += gap->model.hessian + gap->model.factor + gap->model.solve;
    return gap->newton.linear->solve(&gap->copy, &gap->newton, project) == SINEW_NEWTON_SOLVED;
}

/* Largest number of directions with the projected Hessian between two attempts with the exact Hessian. */
#define PATIENCE_MAX 8

static bool try_exact_direction(sinew_gap *gap)
{
    if (gap->wait > 0) {
        gap->wait--;
        return false;
    }
    gap->exact = decrement_solve(gap, false);
    gap->patience = gap->exact                     ? 0
                    : gap->patience < 1            ? 1
                    : gap->patience < PATIENCE_MAX ? 2 * gap->patience
                                                   : PATIENCE_MAX;
    gap->wait = gap->patience;
    return gap->exact;
}

bool sinew_gap_direction(sinew_gap *gap)
{
    gap->exact = gap->chord = gap->borrowed = false;
    gap->factored = !gap->pcg.r;
    gap->factored_exact = try_exact_direction(gap);
    if (gap->exact || sinew_stop_came() || decrement_solve(gap, true))
        return true;
    gap->work += gap->model.factor;
    /* The Hessian may be singular: a rope without tension has no lateral stiffness, and a quasistatic step has no
     * inertia. */
    return !gap->pcg.r && gap->newton.linear->rescue(&gap->copy, &gap->newton);
}

bool sinew_gap_make_exact(sinew_gap *gap)
{
    if (gap->pcg.r)
        return false;
    gap->exact = gap->factored = gap->factored_exact = decrement_solve(gap, false);
    if (gap->exact)
        gap->wait = gap->patience = 0;
    return gap->exact;
}

/* Limit of the conjugate gradient iterations that refine a direction: their work is at most this fraction of a
 * factorisation's, but the limit is at least REFINE_MIN and at most REFINE_MAX. */
#define REFINE_WORK 0.7
#define REFINE_MIN  6
#define REFINE_MAX  24

bool sinew_gap_refine(sinew_gap *gap)
{
    const sinew_work_model *m = &gap->model;
    const sinew_newton *factor = gap->factored ? &gap->newton : gap->solver->memory;
    if (gap->pcg.r || !(gap->factored ? gap->factored_exact : gap->borrowed))
        return false;
    const double one = m->solve + m->product, max = REFINE_WORK * m->factor / one;
    const int32_t most = max < REFINE_MIN ? REFINE_MIN : max > REFINE_MAX ? REFINE_MAX : (int32_t)max;
    const int32_t count = sinew_newton_refine(&gap->copy, &gap->newton, factor, most);
    gap->work += m->hessian + (count >= 0 ? count : -1 - count) * one + m->solve;
    gap->chord = false;
    gap->exact = count >= 0;
    return gap->exact;
}

bool sinew_gap_chord(sinew_gap *gap)
{
    sinew_solve *s = gap->solver;
    const sinew_real *r = gap->copy.gradient;
    sinew_real *d = gap->newton.d;
    if (!gap->factored && !gap->borrowed)
        return false;
    gap->work += gap->model.solve;
    gap->chord = true;
    gap->exact = gap->borrowed || gap->factored_exact;
    if (gap->factored)
        return gap->newton.linear->resolve(&gap->copy, &gap->newton);
    if (!s->ops->precondition(s, r, d))
        return false;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        d[i] = -d[i];
    return true;
}

/* Round-off in the length of a stiff spring causes a small force. Its geometric stiffness changes the Hessian by up to
 * this number of units of round-off. */
#define ROUND_OFF_UNITS 64

bool sinew_gap_definite(sinew_gap *gap)
{
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    sinew_newton *n = &gap->newton;
    if (gap->pcg.r)
        return false;
    gap->factored = gap->factored_exact = false;
    gap->work += gap->model.hessian + gap->model.factor;
    if (n->linear->solve(&gap->copy, n, false) == SINEW_NEWTON_SOLVED)
        return true;
    return n->linear->rescue(&gap->copy, n) && n->shift <= ROUND_OFF_UNITS * epsilon;
}
