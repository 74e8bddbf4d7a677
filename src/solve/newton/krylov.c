/* SPDX-License-Identifier: MIT
 *
 * krylov.c: Newton's linear systems without a matrix: the Hessian is applied element by element. Conjugate gradients
 * need a positive definite Hessian and detect negative curvature; biconjugate gradients accept any Hessian.
 */
#include "linear/krylov/bicgstab.h"
#include "linear/krylov/pcg.h"
#include "solve/coarse/coarse_correction.h"
#include "solve/newton/newton.h"

/* Memory of a matrix-free linear solver. Only the arrays of the chosen method are allocated; the others are NULL. */
typedef struct krylov {
    sinew_pcg pcg;
    sinew_block_inverse blocks; /* inverses of the diagonal blocks: preconditioner of conjugate gradients */
    sinew_coarse coarse;        /* coarse-grid preconditioner of conjugate gradients, if requested */
    sinew_bicgstab bicgstab;
    double *diagonal; /* [particle_count][9] diagonal 3x3 blocks of the Hessian */
} krylov;

static krylov *krylov_prepare_common(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    sinew_objective *o = s->objective;
    krylov *k = n->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *k);
    if (k)
        k->diagonal = sinew_allocate(&o->allocator, 9 * (size_t)o->particle_count, sizeof *k->diagonal);
    if (!k || !k->diagonal) {
        sinew_fail_memory(error, "the preconditioner");
        return NULL;
    }
    return sinew_objective_need_tangents(o, error) == SINEW_OK ? k : NULL;
}

static void krylov_release(sinew_solve *s, sinew_newton *n)
{
    const sinew_allocator *allocator = &s->objective->allocator;
    krylov *k = n->memory;
    if (!k)
        return;
    sinew_pcg_destroy(allocator, &k->pcg);
    sinew_block_inverse_destroy(allocator, &k->blocks);
    sinew_coarse_destroy(&k->coarse);
    sinew_bicgstab_destroy(allocator, &k->bicgstab);
    sinew_release(allocator, k->diagonal);
    sinew_release(allocator, k);
    n->memory = NULL;
}

/* Prepares products with the Hessian at s->q, and inverts its diagonal blocks in `precondition`. */
static void krylov_linearise(sinew_solve *s, sinew_newton *n, bool project, sinew_block_inverse *precondition)
{
    sinew_objective *o = s->objective;
    const krylov *k = n->memory;
    sinew_objective_diagonal(o, s->q, project, k->diagonal);
    sinew_block_inverse_set(precondition, k->diagonal);
    sinew_objective_linearise(o, s->q, project);
}

/* Sets the right-hand side of the linear system: n->trial = -gradient. */
static void krylov_set_right(const sinew_solve *s, sinew_newton *n)
{
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        n->trial[i] = -s->gradient[i];
}

/* Relative tolerance of `resolve`, which reuses an older Hessian: the largest tolerance of inner solves; 0 if the
 * number of inner iterations is fixed. */
static double loosest_tolerance(const sinew_newton *n)
{
    return n->inner > 0 ? 0 : n->inner_tolerance;
}

static void krylov_multiply(void *context, const sinew_real *x, sinew_real *Ax)
{
    sinew_objective_product(context, x, Ax);
}

/* ---- Linear solver `cg`: conjugate gradients, matrix-free ------------------------------------ */

static sinew_status prepare_cg(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    sinew_objective *o = s->objective;
    krylov *k = krylov_prepare_common(s, n, error);
    if (!k)
        return SINEW_ERROR_MEMORY;
    sinew_status status =
        sinew_block_inverse_create(&o->allocator, &k->blocks, o->particle_count, o->thread_count, error);
    if (status == SINEW_OK && n->aggregate > 0)
        status = sinew_coarse_create(&k->coarse, o, n->aggregate, 0, error);
    return status == SINEW_OK ? sinew_pcg_create(&o->allocator, &k->pcg, o->particle_count, o->thread_count, error)
                              : status;
}

/* Preconditioner z = B^-1 r, B the diagonal blocks; with a coarse matrix A over aggregates, for long wavelengths,
 * z = B^-1 r + P A^-1 P^T r (coarse/coarse_correction.h). */
static void krylov_precondition(void *context, const sinew_real *r, sinew_real *z)
{
    krylov *k = context;
    sinew_block_inverse_apply(&k->blocks, r, z);
    if (k->coarse.ready)
        sinew_coarse_solve(&k->coarse, 1, r, true, z);
    if (k->coarse.ready)
        sinew_filter(k->coarse.objective, z);
}

static bool krylov_run_cg(sinew_solve *s, sinew_newton *n, double tolerance)
{
    krylov *k = n->memory;
    krylov_set_right(s, n);
    const sinew_pcg_result result =
        sinew_pcg_solve(&k->pcg, (sinew_linear_map){krylov_multiply, s->objective},
                        (sinew_linear_map){krylov_precondition, k}, n->trial, n->d, tolerance, sinew_newton_inner(n));
    s->linear_iterations += result.iterations;
    return !result.indefinite;
}

/* Solves with the last Hessian by conjugate gradients, which stop at negative curvature; the direction found so far is
 * used. */
static bool resolve_cg(sinew_solve *s, sinew_newton *n)
{
    krylov_run_cg(s, n, loosest_tolerance(n));
    return true;
}

static sinew_newton_outcome krylov_solve_cg(sinew_solve *s, sinew_newton *n, bool project)
{
    krylov *k = n->memory;
    krylov_linearise(s, n, project, &k->blocks);
    if (n->aggregate > 0)
        sinew_coarse_fill(&k->coarse, s->q);
    return krylov_run_cg(s, n, sinew_newton_forcing(s, n)) ? SINEW_NEWTON_SOLVED : SINEW_NEWTON_INDEFINITE;
}

const sinew_newton_linear sinew_newton_cg = {
    .prepare = prepare_cg,
    .release = krylov_release,
    .solve = krylov_solve_cg,
    .resolve = resolve_cg,
    .tells = true,
};

/* ---- Linear solver `bicgstab`: biconjugate gradients, matrix-free ---------------------------- */

static sinew_status prepare_bicgstab(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    krylov *k = krylov_prepare_common(s, n, error);
    return k ? sinew_bicgstab_create(&o->allocator, &k->bicgstab, o->particle_count, o->thread_count, error)
             : SINEW_ERROR_MEMORY;
}

static void run_bicgstab(sinew_solve *s, sinew_newton *n, double tolerance)
{
    krylov *k = n->memory;
    krylov_set_right(s, n);
    const sinew_bicgstab_result result = sinew_bicgstab_solve(&k->bicgstab, krylov_multiply, s->objective, n->trial,
                                                              n->d, tolerance, sinew_newton_inner(n));
    s->linear_iterations += result.iterations;
}

/* Solves H d = -gradient, the gradient at a new q and H of the last solve, to inner_tolerance (newton.h). */
static bool resolve_bicgstab(sinew_solve *s, sinew_newton *n)
{
    run_bicgstab(s, n, loosest_tolerance(n));
    return true;
}

static sinew_newton_outcome solve_bicgstab(sinew_solve *s, sinew_newton *n, bool project)
{
    krylov *k = n->memory;
    krylov_linearise(s, n, project, &k->bicgstab.precondition);
    run_bicgstab(s, n, sinew_newton_forcing(s, n));
    return SINEW_NEWTON_SOLVED;
}

const sinew_newton_linear sinew_newton_bicgstab = {
    .prepare = prepare_bicgstab,
    .release = krylov_release,
    .solve = solve_bicgstab,
    .resolve = resolve_bicgstab,
};
