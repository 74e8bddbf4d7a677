/* SPDX-License-Identifier: MIT
 *
 * global_system.c: keeps the factor of S and what is beside it up to date, and solves with both. See global_system.h.
 */
#include "solve/projective/global_system.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "objective/connected_components.h"
#include "solve/solver.h"

/* ---- The factor ------------------------------------------------------------------------------ */

static void count_factorisation(const sinew_global *g)
{
    if (g->rule.factorisations)
        ++*g->rule.factorisations;
}

/* Numbers of the factor anew, in its pattern. */
static sinew_status refactor(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    count_factorisation(g);
    sinew_global_matrix_sum(&g->matrix, o, g->scale, g->folded ? g->weights : NULL);
    return sinew_prefactor_refactor(g->factor, g->matrix.value, error);
}

/* Takes over weights of all elements, switched on. */
static sinew_status weigh(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    sinew_weigh(o, 0, g->matrix.task_count, &g->rule.weighing, g->weights);
    sinew_global_matrix_weigh(&g->matrix, o, g->weights);
    if (g->rule.position && !sinew_coupling_find(&g->coupling, &g->matrix, o, g->weights))
        return sinew_fail_memory(error, "the global matrix");
    return SINEW_OK;
}

/* Whether every piece that fixed elements make is held by a pin or by one of them: else S is singular without inertia.
 */
static sinew_status find_held(const sinew_objective *o, bool *all, sinew_error *error)
{
    const size_t n = (size_t)o->particle_count;
    int32_t *piece = sinew_allocate(&o->allocator, n, sizeof *piece);
    uint8_t *held = sinew_allocate_zero(&o->allocator, n, sizeof *held);
    const sinew_status status = piece && held ? SINEW_OK : sinew_fail_memory(error, "the global matrix");
    if (status == SINEW_OK) {
        sinew_objective_fixed_pieces(o, o->rest, piece);
        for (size_t i = 0; i < n; i++)
            held[piece[i]] |= o->pinned[i];
        for (int32_t t = 0; t < o->fixed_task_count; t++) {
            const sinew_task *task = &o->tasks[t];
            if (task->batch->ops->rigid_cost & SINEW_COSTS_TRANSLATION)
                for (int32_t i = 0; i < task->chunk->slot_count; i++)
                    held[piece[task->batch->particle[task->chunk->first_slot + i]]] = 1;
        }
        *all = true;
        for (size_t i = 0; i < n; i++)
            *all = *all && held[piece[i]];
    }
    sinew_release(&o->allocator, piece);
    sinew_release(&o->allocator, held);
    return status;
}

/* As many rows as cost low_rank.h about as much as they would cost conjugate gradients in a step: the former grows with
 * their cube, the latter are some hundred solves, whatever their number. */
static int32_t count_few(int64_t factor_size)
{
    const double most = 1024, solves = 3000;
    return (int32_t)fmin(cbrt(solves * (double)factor_size), most);
}

static sinew_status factorise(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const sinew_prefactor_kernels kernels = {sinew_lanes()->panels, sinew_lanes()->dense, g->rule.single};
    const sinew_global_matrix *d = &g->matrix;
    sinew_error local = {0};
    sinew_real *places = sinew_assembly_places(d->pattern, o);
    if (!places)
        return sinew_fail_memory(error, "the elimination order");
    count_factorisation(g);
    sinew_global_matrix_sum(&g->matrix, o, g->scale, NULL);
    g->factor = sinew_prefactor_create_kept(&o->allocator, &kernels, o->thread_count, g->free_count, d->column,
                                            d->pattern->row, d->value, places, &local);
    sinew_release(&o->allocator, places);
    if (!g->factor)
        return sinew_fail(error, local.status, "%s", local.text);
    g->few = count_few(sinew_prefactor_size(g->factor));
    if (!g->rule.rescaled)
        sinew_prefactor_slim(g->factor);
    return SINEW_OK;
}

/* ---- Beside the factor ----------------------------------------------------------------------- */

static sinew_status need_iteration(sinew_global *g, const sinew_objective *o, sinew_error *error)
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

/* Rows that low_rank.h is to take: those switched off, unless the factor is without them; the transient ones, if they
 * are few. */
static sinew_status set_low_rank(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    const sinew_global_rows *r = &g->rows;
    const int32_t first = g->folded ? r->taken : 0, taken = r->taken - first;
    g->iterates = r->count - first > g->few && r->count > r->taken;
    g->touches = g->rule.beside && !g->whole && sinew_beside_any(o);
    g->beside.count = 0;
    if (g->touches && !sinew_beside_reserve(&g->beside, o))
        return sinew_fail_memory(error, "contacts beside the global matrix");
    const int32_t count = g->iterates ? taken : r->count - first;
    const sinew_status status = g->iterates || g->touches ? need_iteration(g, o, error) : SINEW_OK;
    return status != SINEW_OK ? status
                              : sinew_low_rank_set(&g->low_rank, g->factor, r->rows + first, taken, count,
                                                   g->matrix.pattern->free_index, g->scale, error);
}

/* Brings the factor and the rows beside it up to date with who is switched off. `stale`: the factor's numbers are not
 * those of `folded`, the scale and h. */
static sinew_status settle(sinew_global *g, const sinew_objective *o, bool stale, sinew_error *error)
{
    const bool was_folded = g->folded;
    sinew_status status = SINEW_ERROR_NUMERIC;
    if (g->rows.taken <= g->few) {
        g->folded = false;
        status = stale || was_folded ? refactor(g, o, error) : SINEW_OK;
        if (status != SINEW_OK)
            return status;
        status = set_low_rank(g, o, error);
    }
    if (status != SINEW_ERROR_NUMERIC)
        return status;
    g->folded = true;
    sinew_error_clear(error);
    status = refactor(g, o, error);
    return status == SINEW_OK ? set_low_rank(g, o, error) : status;
}

static sinew_status list_rows(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    return sinew_global_rows_list(&g->rows, o, g->matrix.task_count, g->off_known, !g->rule.beside, g->weights,
                                  &g->rule.weighing)
               ? SINEW_OK
               : sinew_fail_memory(error, "elements beside the global matrix");
}

/* ---- Create, refresh ------------------------------------------------------------------------- */

static sinew_status create(sinew_global *g, const sinew_objective *o, sinew_error *error)
{
    bool held = true;
    sinew_status status = o->quasistatic ? find_held(o, &held, error) : SINEW_OK;
    g->whole = !held;
    if (status == SINEW_OK)
        status = sinew_global_matrix_create(&g->matrix, o, held ? o->fixed_task_count : o->task_count, error);
    if (status != SINEW_OK)
        return status;
    g->free_count = g->matrix.pattern->free_count;
    g->weights = sinew_allocate(&o->allocator, sinew_lanes_between(o, 0, g->matrix.task_count), sizeof *g->weights);
    status = g->weights ? weigh(g, o, error) : sinew_fail_memory(error, "the global matrix");
    if (status == SINEW_OK)
        status = factorise(g, o, error);
    if (status == SINEW_OK)
        status = list_rows(g, o, error);
    return status == SINEW_OK ? set_low_rank(g, o, error) : status;
}

sinew_status sinew_global_create(sinew_global *g, const sinew_objective *o, const sinew_global_rule *rule,
                                 sinew_error *error)
{
    *g = (sinew_global){.rule = *rule, .scale = 1};
    const sinew_status status = create(g, o, error);
    if (status != SINEW_OK)
        sinew_global_destroy(g, o);
    return status;
}

/* Transient elements are in the factor. */
static sinew_status create_anew(sinew_global *g, const sinew_objective *o, sinew_error *error)
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
    status = list_rows(g, o, error);
    return status == SINEW_OK ? settle(g, o, true, error) : status;
}

sinew_status sinew_global_refresh(sinew_global *g, const sinew_objective *o, uint32_t changed, sinew_error *error)
{
    const bool data = changed & SINEW_CHANGED_DATA, step = changed & SINEW_CHANGED_TIME_STEP && !o->quasistatic;
    if (g->whole && changed & SINEW_CHANGED_TRANSIENT)
        return create_anew(g, o, error);
    sinew_status status = data ? weigh(g, o, error) : SINEW_OK;
    g->off_known = (g->off_known || changed & SINEW_CHANGED_SWITCHED) && !data;
    if (status == SINEW_OK)
        status = list_rows(g, o, error);
    if (status != SINEW_OK)
        return status;
    if (changed == SINEW_CHANGED_TRANSIENT)
        return set_low_rank(g, o, error);
    return settle(g, o, data || step, error);
}

void sinew_global_destroy(sinew_global *g, const sinew_objective *o)
{
    sinew_prefactor_destroy(g->factor);
    sinew_low_rank_destroy(&g->low_rank, &o->allocator);
    sinew_global_rows_release(&g->rows, o);
    sinew_global_matrix_release(&g->matrix, o);
    sinew_coupling_release(&g->coupling, o);
    sinew_pcg_destroy(&o->allocator, &g->pcg);
    sinew_beside_release(&g->beside, o);
    sinew_release(&o->allocator, g->weights);
    sinew_release(&o->allocator, g->b);
    sinew_release(&o->allocator, g->x);
    *g = (sinew_global){0};
}

bool sinew_global_rescale(sinew_global *g, const sinew_objective *o, double scale)
{
    const double before = g->scale;
    g->scale = scale;
    if (settle(g, o, true, NULL) == SINEW_OK)
        return true;
    g->scale = before;
    settle(g, o, true, NULL);
    return false;
}

/* ---- Solve ----------------------------------------------------------------------------------- */

typedef struct solve_context {
    sinew_global *global;
    const sinew_objective *objective;
} solve_context;

/* z = S^-1 r but for transient rows that are left to the iteration */
static void solve_direct(void *context, const sinew_real *r, sinew_real *z)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    g->solves++;
    sinew_low_rank_solve(&g->low_rank, g->factor, g->matrix.pattern->particle, r, z);
    for (int32_t i = 0; i < c->objective->particle_count; i++)
        if (c->objective->pinned[i])
            memset(z + 4 * (size_t)i, 0, 4 * sizeof *z);
}

static void multiply(void *context, const sinew_real *x, sinew_real *Ax)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    sinew_global_matrix_multiply(&g->matrix, c->objective, x, Ax);
    sinew_global_rows_add(&g->rows, g->folded ? g->rows.taken : 0, g->scale, x, Ax);
}

/* Ax = what solve_direct leaves out: contacts, and transient rows where they are left to the iteration. */
static void multiply_beside(void *context, const sinew_real *x, sinew_real *Ax)
{
    const solve_context *c = context;
    sinew_global *g = c->global;
    memset(Ax, 0, 4 * (size_t)c->objective->particle_count * sizeof *Ax);
    if (g->iterates)
        sinew_global_rows_add(&g->rows, g->rows.taken, g->scale, x, Ax);
    sinew_beside_add(&g->beside, x, Ax);
}

enum {
    ITERATIONS = 500
};
/* Iterations that take a step along the solution need two digits of it: with more they get no further. */
#define STEP_DIGITS 1e-2

static void solve_by_iteration(solve_context *c, const sinew_real *b, sinew_real *x)
{
    sinew_global *g = c->global;
    const size_t bytes = 4 * (size_t)c->objective->particle_count * sizeof *x;
    const double finest = sizeof(sinew_real) == 4 ? 10 * (double)FLT_EPSILON : 100 * DBL_EPSILON;
    memcpy(g->b, b, bytes);
    sinew_pcg_solve(&g->pcg, (sinew_linear_map){multiply, c}, (sinew_linear_map){solve_direct, c}, g->b, g->x,
                    g->rule.position ? finest : STEP_DIGITS, ITERATIONS);
    memcpy(x, g->x, bytes);
}

void sinew_global_solve_factor(sinew_global *g, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    solve_direct(&(solve_context){g, o}, b, x);
}

void sinew_global_solve_beside(sinew_global *g, const sinew_objective *o, sinew_linear_map H, const sinew_real *b,
                               sinew_real *x)
{
    solve_context context = {g, o};
    const size_t bytes = 4 * (size_t)o->particle_count * sizeof *x;
    memcpy(g->b, b, bytes);
    sinew_pcg_solve_beside(&g->pcg, (sinew_linear_map){multiply_beside, &context}, H, g->b, g->x, STEP_DIGITS,
                           ITERATIONS);
    memcpy(x, g->x, bytes);
}

void sinew_global_solve(sinew_global *g, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    solve_context context = {g, o};
    if (g->beside.count > 0)
        sinew_global_solve_beside(g, o, (sinew_linear_map){solve_direct, &context}, b, x);
    else if (g->iterates)
        solve_by_iteration(&context, b, x);
    else
        solve_direct(&context, b, x);
}

void sinew_global_multiply(sinew_global *g, const sinew_objective *o, const sinew_real *x, sinew_real *Sx)
{
    multiply(&(solve_context){g, o}, x, Sx);
}

void sinew_global_linearise(sinew_global *g, const sinew_objective *o, const sinew_real *q)
{
    if (g->touches)
        sinew_beside_linearise(&g->beside, o, q);
}

void sinew_global_move_pins(const sinew_global *g, const sinew_real *q, sinew_real *b)
{
    sinew_coupling_move(&g->coupling, g->scale, q, b);
    sinew_global_rows_move_pins(&g->rows, g->scale, q, b);
}
