/* SPDX-License-Identifier: MIT
 *
 * global_system.c: updates the factor of S and its low-rank terms, and solves with both. See global_system.h.
 */
#include "solve/projective/global_system.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "objective/connected_components.h"
#include "solve/solver.h"

/* ---- Factorisation of the global matrix S ---------------------------------------------------- */

static void count_factorisation(const sinew_global *g)
{
    if (g->rule.factorisations)
        ++*g->rule.factorisations;
}

/* Recomputes the values of the factor in its existing sparsity pattern. */
static sinew_status refactor_global(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    count_factorisation(g);
    sinew_global_matrix_sum(&g->matrix, o, g->scale, g->folded ? g->weights : NULL);
    return sinew_factored_system_refactor(g->factor, g->matrix.value, error);
}

/* Computes the weights of all elements, as if switched on, and the entries of the global matrix that depend on them. */
static sinew_status global_set_weights(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    sinew_element_weights(o, 0, g->matrix.task_count, &g->rule.weight_assignment, g->weights);
    sinew_global_matrix_assign_weights(&g->matrix, o, g->weights);
    if (g->rule.position && !sinew_coupling_find(&g->coupling, &g->matrix, o, g->weights))
        return sinew_fail_memory(error, "the global matrix");
    return SINEW_OK;
}

/* Sets *all to true if every connected component of the fixed elements has a pin or an element that fixes its
 * translation. Otherwise S is singular without inertia. */
static sinew_status check_all_constrained(const sinew_objective *o, bool *all, sinew_error *error)
{
    const size_t n = (size_t)o->particle_count;
    int32_t *component = sinew_allocate(&o->allocator, n, sizeof *component);
    uint8_t *constrained = sinew_allocate_zero(&o->allocator, n, sizeof *constrained);
    const sinew_status status = component && constrained ? SINEW_OK : sinew_fail_memory(error, "the global matrix");
    if (status == SINEW_OK) {
        sinew_objective_fixed_components(o, o->step.rest, component);
        for (size_t i = 0; i < n; i++)
            constrained[component[i]] |= o->step.pinned[i];
        for (int32_t t = 0; t < o->fixed_task_count; t++) {
            const sinew_task *task = &o->tasks[t];
            if (task->batch->ops->rigid_cost & SINEW_COSTS_TRANSLATION)
                for (int32_t i = 0; i < task->chunk->slot_count; i++)
                    constrained[component[task->batch->particle[task->chunk->first_slot + i]]] = 1;
        }
        *all = true;
        for (size_t i = 0; i < n; i++)
            *all = *all && constrained[component[i]];
    }
    sinew_release(&o->allocator, component);
    sinew_release(&o->allocator, constrained);
    return status;
}

/* Number of rank-one terms, at most 1024, for which low_rank.h costs about as much per step as conjugate gradients. The
 * cost of low_rank.h grows with the cube of this number; conjugate gradients need several hundred solves, counted as
 * 3000 multiply-adds per entry of the factor. */
static int32_t max_low_rank_terms(int64_t factor_size)
{
    const double max = 1024, solves = 3000;
    return (int32_t)fmin(cbrt(solves * (double)factor_size), max);
}

static sinew_status global_factorise(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const sinew_factored_system_kernels kernels = {sinew_simd()->supernodes, sinew_simd()->dense, g->rule.single};
    const sinew_global_matrix *d = &g->matrix;
    sinew_error local = {0};
    sinew_real *positions = sinew_assembly_rest_positions(d->pattern, o);
    if (!positions)
        return sinew_fail_memory(error, "the elimination order");
    count_factorisation(g);
    sinew_global_matrix_sum(&g->matrix, o, g->scale, NULL);
    g->factor = sinew_factored_system_create_kept(&o->allocator, &kernels, o->thread_count, g->free_count, d->column,
                                                  d->pattern->row, d->value, positions, &local);
    sinew_release(&o->allocator, positions);
    if (!g->factor)
        return sinew_fail(error, local.status, "%s", local.text);
    g->few = max_low_rank_terms(sinew_factored_system_size(g->factor));
    if (!g->rule.rescaled)
        sinew_factored_system_drop_double_factor(g->factor);
    return SINEW_OK;
}

/* ---- Low-rank terms outside the factor ------------------------------------------------------- */

static sinew_status allocate_conjugate_gradients(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const size_t size = 4 * (size_t)o->particle_count;
    if (g->x)
        return SINEW_OK;
    g->b = g->b ? g->b : sinew_allocate_zero(&o->allocator, size, sizeof *g->b);
    if (!g->b)
        return sinew_fail_memory(error, "conjugate gradients");
    const sinew_status status = sinew_pcg_create(&o->allocator, &g->pcg, o->particle_count, o->thread_count, error);
    if (status != SINEW_OK)
        return status;
    g->x = sinew_allocate_zero(&o->allocator, size, sizeof *g->x);
    if (g->x)
        return SINEW_OK;
    sinew_pcg_destroy(&o->allocator, &g->pcg);
    return sinew_fail_memory(error, "conjugate gradients");
}

/* Decides whether solves with S use conjugate gradients (g->iterates, g->has_contacts), and passes rank-one terms to
 * low_rank.h: switched-off elements, unless the factor excludes them, and transient elements if few. */
static sinew_status set_low_rank(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const sinew_low_rank_terms *r = &g->terms;
    const int32_t first = g->folded ? r->taken : 0, taken = r->taken - first;
    g->iterates = r->count - first > g->few && r->count > r->taken;
    g->has_contacts = g->rule.contacts_by_blocks && !g->transient_in_factor && sinew_objective_has_contacts(o);
    g->contact_blocks.count = 0;
    if (g->has_contacts && !sinew_contact_blocks_reserve(&g->contact_blocks, o))
        return sinew_fail_memory(error, "contacts beside the global matrix");
    const int32_t count = g->iterates ? taken : r->count - first;
    const sinew_status status = g->iterates || g->has_contacts ? allocate_conjugate_gradients(g, o, error) : SINEW_OK;
    return status != SINEW_OK ? status
                              : sinew_low_rank_set(&g->low_rank, g->factor, r->terms + first, taken, count,
                                                   g->matrix.pattern->free_index, g->scale, error);
}

/* Updates the factor and the low-rank terms to the elements that are switched off: they become low-rank terms if few,
 * else the factor is computed without them. `stale`: the factor does not match the weights, the scale or h. */
static sinew_status update_factor(sinew_global *g, const sinew_objective *o, bool stale, sinew_error *error)
{
    const bool was_folded = g->folded;
    sinew_status status = SINEW_ERROR_NUMERIC;
    if (g->terms.taken <= g->few) {
        g->folded = false;
        status = stale || was_folded ? refactor_global(g, o, error) : SINEW_OK;
        if (status != SINEW_OK)
            return status;
        status = set_low_rank(g, o, error);
    }
    if (status != SINEW_ERROR_NUMERIC)
        return status;
    g->folded = true;
    sinew_error_clear(error);
    status = refactor_global(g, o, error);
    return status == SINEW_OK ? set_low_rank(g, o, error) : status;
}

static sinew_status list_low_rank_terms(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    return sinew_low_rank_terms_list(&g->terms, o, g->matrix.task_count, g->off_known, !g->rule.contacts_by_blocks,
                                     g->weights, &g->rule.weight_assignment)
               ? SINEW_OK
               : sinew_fail_memory(error, "elements beside the global matrix");
}

/* ---- Creation and refresh of the global system ----------------------------------------------- */

static sinew_status global_create(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    bool constrained = true;
    sinew_status status = o->step.quasistatic ? check_all_constrained(o, &constrained, error) : SINEW_OK;
    g->transient_in_factor = !constrained;
    if (status == SINEW_OK)
        status = sinew_global_matrix_create(&g->matrix, o, constrained ? o->fixed_task_count : o->task_count, error);
    if (status != SINEW_OK)
        return status;
    g->free_count = g->matrix.pattern->free_count;
    g->weights =
        sinew_allocate(&o->allocator, sinew_tasks_padded_count(o, 0, g->matrix.task_count), sizeof *g->weights);
    status = g->weights ? global_set_weights(g, o, error) : sinew_fail_memory(error, "the global matrix");
    if (status == SINEW_OK)
        status = global_factorise(g, o, error);
    if (status == SINEW_OK)
        status = list_low_rank_terms(g, o, error);
    return status == SINEW_OK ? set_low_rank(g, o, error) : status;
}

sinew_status sinew_global_create(sinew_global *g, const sinew_objective *o, const sinew_global_rule *rule,
                                 sinew_error *error)
{
    *g = (sinew_global){.rule = *rule, .scale = 1};
    const sinew_status status = global_create(g, o, error);
    if (status != SINEW_OK)
        sinew_global_destroy(g, o);
    return status;
}

/* Recreates the global matrix S after a change of transient elements that its factor includes. */
static sinew_status recreate_global(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const sinew_global_rule rule = g->rule;
    const double scale = g->scale;
    const bool off_known = g->off_known;
    const int32_t solves = g->solves;
    sinew_global_destroy(g, o);
    sinew_status status = sinew_global_create(g, o, &rule, error);
    if (status != SINEW_OK)
        return status;
    g->scale = scale;
    g->off_known = off_known;
    g->solves = solves;
    status = list_low_rank_terms(g, o, error);
    return status == SINEW_OK ? update_factor(g, o, true, error) : status;
}

sinew_status sinew_global_refresh(sinew_global *g, const sinew_objective *o, uint32_t changed, sinew_error *error)
{
    const bool data = changed & SINEW_CHANGED_DATA, step = changed & SINEW_CHANGED_TIME_STEP && !o->step.quasistatic;
    if (g->transient_in_factor && changed & SINEW_CHANGED_TRANSIENT)
        return recreate_global(g, o, error);
    sinew_status status = data ? global_set_weights(g, o, error) : SINEW_OK;
    g->off_known = (g->off_known || changed & SINEW_CHANGED_SWITCHED) && !data;
    if (status == SINEW_OK)
        status = list_low_rank_terms(g, o, error);
    if (status != SINEW_OK)
        return status;
    if (changed == SINEW_CHANGED_TRANSIENT)
        return set_low_rank(g, o, error);
    return update_factor(g, o, data || step, error);
}

void sinew_global_destroy(sinew_global *g, const sinew_objective *o)
{
    sinew_factored_system_destroy(g->factor);
    sinew_low_rank_destroy(&g->low_rank, &o->allocator);
    sinew_low_rank_terms_release(&g->terms, o);
    sinew_global_matrix_release(&g->matrix, o);
    sinew_coupling_release(&g->coupling, o);
    sinew_pcg_destroy(&o->allocator, &g->pcg);
    sinew_contact_blocks_release(&g->contact_blocks, o);
    sinew_release(&o->allocator, g->weights);
    sinew_release(&o->allocator, g->b);
    sinew_release(&o->allocator, g->x);
    *g = (sinew_global){0};
}

bool sinew_global_rescale(sinew_global *g, const sinew_objective *o, double scale)
{
    const double before = g->scale;
    g->scale = scale;
    if (update_factor(g, o, true, NULL) == SINEW_OK)
        return true;
    g->scale = before;
    update_factor(g, o, true, NULL);
    return false;
}

/* ---- Solves with the global matrix S --------------------------------------------------------- */

typedef struct solve_context {
    sinew_global *global;
    const sinew_objective *objective;
} solve_context;

/* z = S^-1 r with the factor of the global matrix, without contacts and without transient terms that conjugate
 * gradients handle; zero at pins. */
static void global_solve_direct(void *context, const sinew_real *r, sinew_real *z)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    g->solves++;
    sinew_low_rank_solve(&g->low_rank, g->factor, g->matrix.pattern->particle, r, z);
    for (int32_t i = 0; i < c->objective->particle_count; i++)
        if (c->objective->step.pinned[i])
            memset(z + 4 * (size_t)i, 0, 4 * sizeof *z);
}

static void global_multiply(void *context, const sinew_real *x, sinew_real *Ax)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    sinew_global_matrix_multiply(&g->matrix, c->objective, x, Ax);
    sinew_low_rank_terms_add(&g->terms, g->folded ? g->terms.taken : 0, g->scale, x, Ax);
}

/* Ax = the terms that global_solve_direct() leaves out, times x: contacts, and transient terms left to conjugate
 * gradients. */
static void multiply_contact_blocks(void *context, const sinew_real *x, sinew_real *Ax)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    memset(Ax, 0, 4 * (size_t)c->objective->particle_count * sizeof *Ax);
    if (g->iterates)
        sinew_low_rank_terms_add(&g->terms, g->terms.taken, g->scale, x, Ax);
    sinew_contact_blocks_add_product(&g->contact_blocks, x, Ax);
}

enum {
    ITERATIONS = 500
};
/* Relative residual of conjugate gradients: outer iterations with a line search need two digits of the solution; more
 * do not help. */
#define STEP_DIGITS 1e-2

static void solve_by_iteration(solve_context *c, const sinew_real *b, sinew_real *x)
{
    sinew_global *g = c->global;
    const size_t bytes = 4 * (size_t)c->objective->particle_count * sizeof *x;
    const double finest = sizeof(sinew_real) == 4 ? 10 * (double)FLT_EPSILON : 100 * DBL_EPSILON;
    memcpy(g->b, b, bytes);
    sinew_pcg_solve(&g->pcg, (sinew_linear_map){global_multiply, c}, (sinew_linear_map){global_solve_direct, c}, g->b,
                    g->x, g->rule.position ? finest : STEP_DIGITS, ITERATIONS);
    memcpy(x, g->x, bytes);
}

void sinew_global_solve_factor(sinew_global *g, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    global_solve_direct(&(solve_context){g, o}, b, x);
}

void sinew_global_solve_with_contacts(sinew_global *g, const sinew_objective *o, sinew_linear_map H,
                                      const sinew_real *b, sinew_real *x)
{
    solve_context context = {g, o};
    const size_t bytes = 4 * (size_t)o->particle_count * sizeof *x;
    memcpy(g->b, b, bytes);
    sinew_pcg_solve_with_term(&g->pcg, (sinew_linear_map){multiply_contact_blocks, &context}, H, g->b, g->x,
                              STEP_DIGITS, ITERATIONS);
    memcpy(x, g->x, bytes);
}

void sinew_global_solve(sinew_global *g, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    solve_context context = {g, o};
    if (g->contact_blocks.count > 0)
        sinew_global_solve_with_contacts(g, o, (sinew_linear_map){global_solve_direct, &context}, b, x);
    else if (g->iterates)
        solve_by_iteration(&context, b, x);
    else
        global_solve_direct(&context, b, x);
}

void sinew_global_multiply(sinew_global *g, const sinew_objective *o, const sinew_real *x, sinew_real *Sx)
{
    global_multiply(&(solve_context){g, o}, x, Sx);
}

void sinew_global_linearise(sinew_global *g, const sinew_objective *o, const sinew_real *q)
{
    if (g->has_contacts)
        sinew_contact_blocks_linearise(&g->contact_blocks, o, q);
}

void sinew_global_move_pins(const sinew_global *g, const sinew_real *q, sinew_real *b)
{
    sinew_coupling_move(&g->coupling, g->scale, q, b);
    sinew_low_rank_terms_move_pins(&g->terms, g->scale, q, b);
}
