/* SPDX-License-Identifier: MIT
 *
 * assembled.c: Newton's linear systems with the assembled sparse Hessian: Cholesky, LU, QR, Gauss-Seidel sweeps.
 *
 * Cholesky detects a matrix that is not positive definite, which is then shifted by a multiple of the identity. LU and
 * QR solve any regular matrix. LU, QR and Gauss-Seidel sweeps may return a direction that is not a descent direction.
 */
#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "linear/factor/cholesky.h"
#include "linear/krylov/cg.h"
#include "linear/krylov/gauss_seidel.h"
#include "linear/factor/indefinite_solver.h"
#include "mesh/topology.h"
#include "objective/assembly.h"
#include "solve/newton/newton.h"
#include "solve/newton/rank_one_terms.h"

/* Gauss-Seidel sweeps between two checks of the linear residual: a check costs as much as a sweep. */
#define SWEEPS_PER_CHECK 8

/* Memory of a linear solver with assembled Hessian. Only the factor of the chosen solver is set; the others are
 * empty. */
typedef struct assembled {
    sinew_assembly *assembly;
    sinew_cholesky *cholesky;
    sinew_indefinite_solver *indefinite;
    sinew_gauss_seidel gs;
    double *right, *solution; /* [3 * free_count] right-hand side and solution of the linear system */
    /* [4][3 * free_count] vectors r, z, p and A p of conjugate gradients in sinew_newton_refine; NULL: none */
    double *krylov;
    int32_t *order;                /* [free_count] elimination order of free particles; NULL: ascending */
    int64_t plain_size;            /* number of entries of the Cholesky factor without contacts */
    sinew_rank_one_terms rank_one; /* rank-one Hessian terms of global constraints, for factorising solvers */
} assembled;

static sinew_status failure_status(const sinew_error *error)
{
    return error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

/* ---- Shared by all linear solvers: elimination order, buffers, gather and scatter ------------------------ */

/* Returns a fill-reducing elimination order of the Hessian of the objective's first task_count tasks, released by the
 * caller; NULL on failure. */
static int32_t *find_elimination_order(const sinew_objective *o, int32_t task_count, sinew_error *error)
{
    sinew_assembly *first = sinew_assembly_create(o, task_count, NULL, error);
    if (!first)
        return NULL;
    int32_t *order = sinew_allocate(&o->allocator, (size_t)first->free_count, sizeof *order);
    sinew_real *positions = sinew_assembly_rest_positions(first, o);
    sinew_status status = order && positions ? SINEW_OK : sinew_fail_memory(error, "the elimination order");
    if (status == SINEW_OK)
        status = sinew_fill_reducing_order(&o->allocator, first->free_count, first->column, first->row, positions,
                                           order, error);
    sinew_release(&o->allocator, positions);
    sinew_assembly_destroy(o, first);
    if (status == SINEW_OK)
        return order;
    sinew_release(&o->allocator, order);
    return NULL;
}

/* Sets up n->memory with the Hessian pattern of the objective's first task_count tasks, in a fill-reducing order if
 * `reorder`, else in the order of particles. Returns NULL on failure. */
static assembled *assembled_prepare_common(sinew_solve *s, sinew_newton *n, int32_t task_count, bool reorder,
                                           sinew_error *error)
{
    const sinew_objective *o = s->objective;
    assembled *a = n->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *a);
    if (!a) {
        sinew_fail_memory(error, "Newton's matrix");
        return NULL;
    }
    if (reorder)
        a->order = find_elimination_order(o, task_count, error);
    if (!reorder || a->order)
        a->assembly = sinew_assembly_create(o, task_count, a->order, error);
    if (!a->assembly)
        return NULL;
    a->right = sinew_allocate(&o->allocator, 3 * (size_t)a->assembly->free_count, sizeof *a->right);
    a->solution = sinew_allocate_zero(&o->allocator, 3 * (size_t)a->assembly->free_count, sizeof *a->solution);
    if (a->right && a->solution)
        return a;
    sinew_fail_memory(error, "the right-hand side");
    return NULL;
}

static void assembled_release(sinew_solve *s, sinew_newton *n)
{
    const sinew_objective *o = s->objective;
    assembled *a = n->memory;
    if (!a)
        return;
    sinew_cholesky_destroy(a->cholesky);
    sinew_indefinite_solver_destroy(a->indefinite);
    sinew_gauss_seidel_destroy(&a->gs);
    sinew_rank_one_terms_destroy(&a->rank_one, o);
    sinew_assembly_destroy(o, a->assembly);
    sinew_release(&o->allocator, a->order);
    sinew_release(&o->allocator, a->right);
    sinew_release(&o->allocator, a->solution);
    sinew_release(&o->allocator, a->krylov);
    sinew_release(&o->allocator, a);
    n->memory = NULL;
}

/* Sets the right-hand side of the linear system: a->right = -gradient over the free particles. */
static void assembled_gather_right(const sinew_solve *s, const assembled *a)
{
    for (int32_t k = 0; k < a->assembly->free_count; k++)
        for (size_t c = 0; c < 3; c++)
            a->right[3 * (size_t)k + c] = -(double)s->gradient[4 * (size_t)a->assembly->particle[k] + c];
}

static void scatter_direction(const assembled *a, sinew_real *d)
{
    for (int32_t k = 0; k < a->assembly->free_count; k++)
        for (size_t c = 0; c < 3; c++)
            d[4 * (size_t)a->assembly->particle[k] + c] = (sinew_real)a->solution[3 * (size_t)k + c];
}

/* ---- Linear solver `direct`: sparse Cholesky ------------------------------------------------- */

/* Number of the objective's tasks that are not contacts; contacts come last. */
static int32_t count_tasks_without_contacts(const sinew_objective *o)
{
    int32_t count = o->task_count;
    while (count > o->fixed_task_count && o->tasks[count - 1].batch->ops->contact)
        count--;
    return count;
}

static sinew_status assembled_analyse(const sinew_objective *o, sinew_newton *n, sinew_error *error)
{
    assembled *a = n->memory;
    const sinew_assembly *as = a->assembly;
    a->cholesky = sinew_cholesky_create(&o->allocator, sinew_simd()->dense, as->free_count, as->column, as->row, error);
    if (!a->cholesky)
        return failure_status(error);
    n->size = (sinew_factor_size){.cost = sinew_cholesky_factor_cost(a->cholesky),
                                  .entries = (double)sinew_cholesky_factor_size(a->cholesky)};
    return SINEW_OK;
}

/* Replaces the matrix by the Hessian pattern of all tasks, in the given elimination order. */
static sinew_status assembled_lay_out(const sinew_objective *o, sinew_newton *n, const int32_t *order,
                                      sinew_error *error)
{
    assembled *a = n->memory;
    sinew_cholesky_destroy(a->cholesky);
    a->cholesky = NULL;
    sinew_assembly_destroy(o, a->assembly);
    a->assembly = sinew_assembly_create(o, o->task_count, order, error);
    return a->assembly ? assembled_analyse(o, n, error) : failure_status(error);
}

/* Rebuilds the patterns of the matrix and its factor for the current contacts, in the elimination order without
 * contacts: contacts with colliders or between neighbours do not change them. A new order is computed only if contacts
 * increase the number of entries of the factor by more than 30 %. */
static sinew_status direct_update_contacts(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    const double max = 1.3;
    const sinew_objective *o = s->objective;
    assembled *a = n->memory;
    const sinew_status status = assembled_lay_out(o, n, a->order, error);
    if (status != SINEW_OK || (double)sinew_cholesky_factor_size(a->cholesky) <= max * (double)a->plain_size)
        return status;
    int32_t *order = find_elimination_order(o, o->task_count, error);
    const sinew_status again = order ? assembled_lay_out(o, n, order, error) : failure_status(error);
    sinew_release(&o->allocator, order);
    return again;
}

static sinew_status prepare_direct(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const int32_t plain = count_tasks_without_contacts(o);
    assembled *a = assembled_prepare_common(s, n, plain, true, error);
    if (!a)
        return failure_status(error);
    const sinew_status status = assembled_analyse(o, n, error);
    if (status != SINEW_OK)
        return status;
    a->plain_size = sinew_cholesky_factor_size(a->cholesky);
    if (n->refines) {
        a->krylov = sinew_allocate_zero(&o->allocator, 12 * (size_t)a->assembly->free_count, sizeof *a->krylov);
        if (!a->krylov)
            return sinew_fail_memory(error, "conjugate gradients");
    }
    const sinew_status terms = sinew_rank_one_terms_create(&a->rank_one, o, a->assembly, error);
    if (terms != SINEW_OK)
        return terms;
    return plain < o->task_count ? direct_update_contacts(s, n, error) : SINEW_OK;
}

static bool resolve_direct(sinew_solve *s, sinew_newton *n)
{
    const assembled *a = n->memory;
    assembled_gather_right(s, a);
    sinew_cholesky_solve(a->cholesky, a->right, a->solution);
    sinew_rank_one_terms_correct(&a->rank_one, a->solution);
    scatter_direction(a, n->d);
    return true;
}

static bool back_solve_direct(void *context, const double *b, double *x)
{
    sinew_cholesky_solve(context, b, x);
    return true;
}

/* Factorises the Hessian plus a multiple of the identity, and updates the rank-one terms of global constraints. */
static bool factorise_direct(const sinew_solve *s, assembled *a, double shift)
{
    return sinew_cholesky_factorise(a->cholesky, shift, NULL) == SINEW_OK &&
           sinew_rank_one_terms_update(&a->rank_one, s->objective, a->assembly, s->q, back_solve_direct, a->cholesky);
}

static sinew_newton_outcome assembled_solve_direct(sinew_solve *s, sinew_newton *n, bool project)
{
    assembled *a = n->memory;
    sinew_assembly_fill(a->assembly, s->objective, s->q, project, sinew_cholesky_values(a->cholesky));
    if (!factorise_direct(s, a, 0))
        return SINEW_NEWTON_INDEFINITE;
    return resolve_direct(s, n) ? SINEW_NEWTON_SOLVED : SINEW_NEWTON_FAILED;
}

/* Factorises the indefinite Hessian plus growing multiples of the identity, and solves for d. Returns false if none of
 * the tried sums is definite. */
static bool rescue_by_shift(sinew_solve *s, sinew_newton *n)
{
    assembled *a = n->memory;
    const double mean = s->stiffness / sqrt(3.0 * fmax(1, a->assembly->free_count));
    for (n->shift = 1e-10; n->shift < 1e3 && !sinew_stop_came(); n->shift *= 100)
        if (factorise_direct(s, a, n->shift * mean))
            return resolve_direct(s, n);
    return false;
}

const sinew_newton_linear sinew_newton_direct = {
    .prepare = prepare_direct,
    .update_contacts = direct_update_contacts,
    .assembled = true,
    .release = assembled_release,
    .solve = assembled_solve_direct,
    .resolve = resolve_direct,
    .rescue = rescue_by_shift,
    .tells = true,
};

/* ---- Conjugate gradients preconditioned by an earlier factor ------------------------------------ */

/* Conjugate gradients end at this fraction of the first r . P r (residual r, preconditioner P). The energy left in a
 * mode whose stiffness fell to 1e-4 of that in the factor is then at most 1e-4 of the first r . P r. */
#define REFINED 1e-8
/* Number of conjugate gradient iterations after which their rate decides whether to continue. */
#define REFINE_TRIAL 4

typedef struct refinement {
    const assembled *a;     /* memory of the linear solver, with the matrix A at the current iterate */
    sinew_cholesky *factor; /* Cholesky factor at an earlier iterate, the preconditioner */
    /* [size] vectors of conjugate gradients: solution, residual, preconditioned residual, direction, w = A p */
    double *x, *r, *z, *p, *w;
    size_t size;
} refinement;

static double refine_dot(const double *a, const double *b, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Product with one 3x3 block of the lower triangle: w_i += A_ij p_j, and w_j += A_ij^T p_i off the diagonal; the
 * block's columns are `stride` apart. */
static void multiply_block(const double *block, size_t stride, bool diagonal, const double *p_i, const double *p_j,
                           double *w_i, double *w_j)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t r = diagonal ? c : 0; r < 3; r++) {
            const double value = block[stride * c + r];
            w_i[r] += value * p_j[c];
            if (!diagonal || r > c)
                w_j[c] += value * p_i[r];
        }
}

static double refine_multiply(void *context)
{
    const refinement *f = context;
    const sinew_assembly *as = f->a->assembly;
    const double *values = sinew_cholesky_values(f->a->cholesky);
    memset(f->w, 0, f->size * sizeof *f->w);
    for (int32_t j = 0; j < as->free_count; j++) {
        const int32_t first = as->column[j], count = as->column[j + 1] - first;
        for (int32_t k = 0; k < count; k++) {
            const size_t i = 3 * (size_t)as->row[first + k], at = 3 * (size_t)j;
            multiply_block(values + 9 * (size_t)first + 3 * (size_t)k, 3 * (size_t)count, k == 0, f->p + i, f->p + at,
                           f->w + i, f->w + at);
        }
    }
    return refine_dot(f->p, f->w, f->size);
}

static double refine_advance(void *context, double alpha)
{
    const refinement *f = context;
    for (size_t i = 0; i < f->size; i++) {
        f->x[i] += alpha * f->p[i];
        f->r[i] -= alpha * f->w[i];
    }
    sinew_cholesky_solve(f->factor, f->r, f->z);
    return refine_dot(f->r, f->z, f->size);
}

static void refine_update_direction(void *context, double beta)
{
    const refinement *f = context;
    for (size_t i = 0; i < f->size; i++)
        f->p[i] = f->z[i] + beta * f->p[i];
}

static bool same_layout(const sinew_assembly *a, const sinew_assembly *b)
{
    return a == b || (a->free_count == b->free_count &&
                      memcmp(a->particle, b->particle, (size_t)a->free_count * sizeof *a->particle) == 0);
}

/* True if the rate of the first k conjugate gradient iterations would not reach REFINED within `iterations`. */
static bool refine_is_slow(const sinew_cg *cg, double first, int32_t k, int32_t iterations)
{
    return k >= REFINE_TRIAL && pow(cg->rz / first, (double)iterations / k) > REFINED;
}

int32_t sinew_newton_refine(sinew_solve *s, sinew_newton *n, const sinew_newton *factor, int32_t iterations)
{
    assembled *a = n->memory;
    const assembled *other = factor->memory;
    const size_t size = 3 * (size_t)a->assembly->free_count;
    refinement f = {
        a, other->cholesky, a->solution, a->krylov, a->krylov + size, a->krylov + 2 * size, a->krylov + 3 * size, size};
    const sinew_cg_vectors vectors = {refine_multiply, refine_advance, refine_update_direction, &f};
    if (a->rank_one.count > 0 || !same_layout(a->assembly, other->assembly))
        return -1;
    sinew_assembly_fill(a->assembly, s->objective, s->q, false, sinew_cholesky_values(a->cholesky));
    assembled_gather_right(s, a);
    memset(f.x, 0, size * sizeof *f.x);
    memcpy(f.r, a->right, size * sizeof *f.r);
    sinew_cholesky_solve(f.factor, f.r, f.z);
    memcpy(f.p, f.z, size * sizeof *f.p);
    sinew_cg cg = {.rz = refine_dot(f.r, f.z, size)};
    const double first = cg.rz, enough = REFINED * first;
    int32_t k = 0;
    while (!(cg.rz <= enough) && k < iterations && !refine_is_slow(&cg, first, k, iterations)) {
        if (sinew_stop_came() || !sinew_cg_iterate(&cg, &vectors))
            return -k - 1;
        k++;
    }
    if (!(cg.rz <= enough))
        return -k - 1;
    scatter_direction(a, n->d);
    return k;
}

/* ---- Sparse LU and QR ------------------------------------------------------------------------ */

static sinew_status prepare_indefinite(sinew_solve *s, sinew_newton *n, const char *method, sinew_error *error)
{
    assembled *a = assembled_prepare_common(s, n, s->objective->task_count, true, error);
    if (!a)
        return failure_status(error);
    const sinew_assembly *as = a->assembly;
    a->indefinite =
        sinew_indefinite_solver_create(&s->objective->allocator, method, as->free_count, as->column, as->row, error);
    return a->indefinite ? sinew_rank_one_terms_create(&a->rank_one, s->objective, as, error) : failure_status(error);
}

static sinew_status prepare_lu(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    return prepare_indefinite(s, n, "lu", error);
}

static sinew_status prepare_qr(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    return prepare_indefinite(s, n, "qr", error);
}

static bool resolve_indefinite(sinew_solve *s, sinew_newton *n)
{
    const assembled *a = n->memory;
    assembled_gather_right(s, a);
    if (sinew_indefinite_solver_solve(a->indefinite, a->right, a->solution, NULL) != SINEW_OK)
        return false;
    sinew_rank_one_terms_correct(&a->rank_one, a->solution);
    scatter_direction(a, n->d);
    return true;
}

static bool back_solve_indefinite(void *context, const double *b, double *x)
{
    return sinew_indefinite_solver_solve(context, b, x, NULL) == SINEW_OK;
}

static sinew_newton_outcome solve_indefinite(sinew_solve *s, sinew_newton *n, bool project)
{
    assembled *a = n->memory;
    sinew_assembly_fill(a->assembly, s->objective, s->q, project, sinew_indefinite_solver_values(a->indefinite));
    if (sinew_indefinite_solver_factorise(a->indefinite, NULL) != SINEW_OK ||
        !sinew_rank_one_terms_update(&a->rank_one, s->objective, a->assembly, s->q, back_solve_indefinite,
                                     a->indefinite))
        return SINEW_NEWTON_FAILED;
    return resolve_indefinite(s, n) ? SINEW_NEWTON_SOLVED : SINEW_NEWTON_FAILED;
}

const sinew_newton_linear sinew_newton_lu = {
    .prepare = prepare_lu,
    .assembled = true,
    .release = assembled_release,
    .solve = solve_indefinite,
    .resolve = resolve_indefinite,
};

const sinew_newton_linear sinew_newton_qr = {
    .prepare = prepare_qr,
    .assembled = true,
    .release = assembled_release,
    .solve = solve_indefinite,
    .resolve = resolve_indefinite,
};

/* ---- Linear solver `gs`: Gauss-Seidel sweeps ------------------------------------------------- */

/* Colours the matrix rows: two rows that a block couples have different colours. */
static sinew_status colour_matrix_rows(const sinew_objective *o, const sinew_assembly *as, int32_t *colours,
                                       int32_t *colour_count, sinew_error *error)
{
    const int32_t blocks = as->column[as->free_count];
    int32_t *pairs = sinew_allocate(&o->allocator, 2 * (size_t)blocks, sizeof *pairs);
    if (!pairs)
        return sinew_fail_memory(error, "the colours of the matrix");
    for (int32_t j = 0; j < as->free_count; j++)
        for (int32_t k = as->column[j]; k < as->column[j + 1]; k++) {
            pairs[2 * (size_t)k] = j;
            pairs[2 * (size_t)k + 1] = as->row[k];
        }
    const sinew_elements list = {pairs, blocks, 2};
    const sinew_status status =
        sinew_colour_vertices(&o->allocator, as->free_count, &list, 1, colours, colour_count, error);
    sinew_release(&o->allocator, pairs);
    return status;
}

static sinew_status prepare_gs(sinew_solve *s, sinew_newton *n, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    assembled *a = assembled_prepare_common(s, n, o->task_count, false, error);
    if (!a)
        return failure_status(error);
    const sinew_assembly *as = a->assembly;
    int32_t colour_count = 0, *colours = sinew_allocate(&o->allocator, (size_t)as->free_count, sizeof *colours);
    sinew_status status = colours ? SINEW_OK : sinew_fail_memory(error, "the colours of the matrix");
    if (status == SINEW_OK)
        status = colour_matrix_rows(o, as, colours, &colour_count, error);
    if (status == SINEW_OK)
        status = sinew_gauss_seidel_create(&o->allocator, &a->gs, o->thread_count, as->free_count, as->column, as->row,
                                           colours, colour_count, error);
    sinew_release(&o->allocator, colours);
    return status;
}

static void gs_sweep_to(sinew_solve *s, sinew_newton *n, double target)
{
    const assembled *a = n->memory;
    const int32_t max = sinew_newton_inner(n);
    assembled_gather_right(s, a);
    memset(a->solution, 0, 3 * (size_t)a->assembly->free_count * sizeof *a->solution);
    for (int32_t sweep = 1; sweep <= max && !sinew_stop_came(); sweep++) {
        sinew_gauss_seidel_sweep(&a->gs, n->omega, a->right, a->solution);
        s->linear_iterations++;
        if (target > 0 && sweep % SWEEPS_PER_CHECK == 0 &&
            !(sinew_gauss_seidel_residual(&a->gs, a->right, a->solution) > target))
            break;
    }
    scatter_direction(a, n->d);
}

static bool resolve_gs(sinew_solve *s, sinew_newton *n)
{
    gs_sweep_to(s, n, (n->inner > 0 ? 0 : n->inner_tolerance) * s->residual);
    return true;
}

static sinew_newton_outcome solve_gs(sinew_solve *s, sinew_newton *n, bool project)
{
    assembled *a = n->memory;
    sinew_assembly_fill(a->assembly, s->objective, s->q, project, a->gs.values);
    sinew_gauss_seidel_invert(&a->gs);
    gs_sweep_to(s, n, sinew_newton_forcing(s, n) * s->residual);
    return SINEW_NEWTON_SOLVED;
}

const sinew_newton_linear sinew_newton_gs = {
    .prepare = prepare_gs,
    .assembled = true,
    .release = assembled_release,
    .solve = solve_gs,
    .resolve = resolve_gs,
};
