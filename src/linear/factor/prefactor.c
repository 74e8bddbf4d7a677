/* SPDX-License-Identifier: MIT
 *
 * prefactor.c: factorises (supernodal.h), keeps what factorising again needs, and solves over the tree of parts
 * (solve_tree.h). See prefactor.h.
 */
#include "linear/factor/prefactor.h"

#include <string.h>

#include "base/phases.h"
#include "linear/factor/dense_float.h"
#include "linear/ordering/ordering.h"
#include "linear/factor/prefactor_internal.h"

#define PARALLEL_ROWS 4096 /* below, one thread solves */

/* ---- The factor ------------------------------------------------------------------------------ */

static cholmod_sparse *copy_matrix(int32_t n, const int64_t *column, const int32_t *row, const double *value,
                                   cholmod_common *common)
{
    cholmod_sparse *matrix =
        cholmod_l_allocate_sparse((size_t)n, (size_t)n, (size_t)column[n], 1, 1, -1, CHOLMOD_REAL, common);
    if (!matrix)
        return NULL;
    SuiteSparse_long *p = matrix->p, *i = matrix->i;
    for (int32_t j = 0; j <= n; j++)
        p[j] = column[j];
    for (int64_t k = 0; k < column[n]; k++)
        i[k] = row[k];
    memcpy(matrix->x, value, (size_t)column[n] * sizeof *value);
    return matrix;
}

static sinew_status fail_definite(sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "the system matrix is not positive definite");
}

/* Few zeros are stored: each one costs time in every solve. */
static const sinew_panel_rule panel_rule = {{4, 16, 48}, {0.2, 0.05, 0.02}};

/* A = P S P^T, its panels and its factor; the order goes to f->order. */
static sinew_status factorise(sinew_prefactor *f, cholmod_sparse *matrix, const sinew_real *points,
                              const sinew_dense_kernels *dense, cholmod_common *common, sinew_supernodal *factor,
                              sinew_error *error)
{
    common->supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_factor *analysis = sinew_analyse(&f->allocator, matrix, points, common);
    cholmod_sparse *upper = analysis ? cholmod_l_ptranspose(matrix, 1, analysis->Perm, NULL, 0, common) : NULL;
    cholmod_sparse *lower = upper ? cholmod_l_transpose(upper, 1, common) : NULL;
    sinew_status status = SINEW_OK;
    if (!lower || !sinew_supernodal_create(factor, &f->allocator, dense, &panel_rule, upper, analysis->ColCount))
        status = sinew_fail_memory(error, "the prefactored matrix");
    factor->single = dense == &sinew_dense_single;
    if (status == SINEW_OK && sinew_supernodal_factorise(factor, lower, 0) >= 0)
        status = fail_definite(error);
    for (int32_t k = 0; status == SINEW_OK && k < f->n; k++)
        f->order[k] = (int32_t)((const SuiteSparse_long *)analysis->Perm)[k];
    cholmod_l_free_sparse(&lower, common);
    cholmod_l_free_sparse(&upper, common);
    cholmod_l_free_factor(&analysis, common);
    return status;
}

/* ---- Factorising again ----------------------------------------------------------------------- */

/* The permutation in `f->order` takes entry k of the matrix to where it is in lower: found by permuting the numbers of
 * the entries, which doubles hold exactly. */
static bool keep_pattern(sinew_prefactor *f, cholmod_sparse *matrix, cholmod_common *common)
{
    sinew_kept_factor *kept = f->kept;
    SuiteSparse_long *order = cholmod_l_malloc((size_t)f->n, sizeof *order, common);
    const size_t entries = (size_t)((SuiteSparse_long *)matrix->p)[f->n];
    for (int32_t k = 0; order && k < f->n; k++)
        order[k] = f->order[k];
    for (size_t k = 0; k < entries; k++)
        ((double *)matrix->x)[k] = (double)k;
    cholmod_sparse *upper = order ? cholmod_l_ptranspose(matrix, 1, order, NULL, 0, common) : NULL;
    cholmod_sparse *lower = upper ? cholmod_l_transpose(upper, 1, common) : NULL;
    kept->column = sinew_allocate(&f->allocator, (size_t)f->n + 1, sizeof *kept->column);
    kept->row = sinew_allocate(&f->allocator, entries, sizeof *kept->row);
    kept->value = sinew_allocate(&f->allocator, entries, sizeof *kept->value);
    kept->source = sinew_allocate(&f->allocator, entries, sizeof *kept->source);
    const bool good = lower && kept->column && kept->row && kept->value && kept->source;
    if (good) {
        memcpy(kept->column, lower->p, ((size_t)f->n + 1) * sizeof *kept->column);
        memcpy(kept->row, lower->i, entries * sizeof *kept->row);
        for (size_t k = 0; k < entries; k++)
            kept->source[k] = (size_t)((double *)lower->x)[k];
        kept->lower = *lower;
        kept->lower.p = kept->column;
        kept->lower.i = kept->row;
        kept->lower.x = kept->value;
        kept->lower.nzmax = entries;
    }
    cholmod_l_free_sparse(&lower, common);
    cholmod_l_free_sparse(&upper, common);
    cholmod_l_free((size_t)f->n, sizeof *order, order, common);
    return good;
}

void sinew_prefactor_slim(sinew_prefactor *f)
{
    sinew_supernodal_drop_values(&f->kept->factor);
}

sinew_status sinew_prefactor_refactor(sinew_prefactor *f, const double *value, sinew_error *error)
{
    sinew_kept_factor *kept = f->kept;
    for (SuiteSparse_long k = 0; k < kept->column[f->n]; k++)
        kept->value[k] = value[kept->source[k]];
    if (!sinew_supernodal_need_values(&kept->factor))
        return sinew_fail_memory(error, "the prefactored matrix");
    const bool good = sinew_supernodal_factorise(&kept->factor, &kept->lower, 0) < 0;
    if (good)
        sinew_part_tree_refill(&f->tree, &kept->factor);
    return good ? SINEW_OK : fail_definite(error);
}

static void drop_kept(const sinew_allocator *allocator, sinew_kept_factor *kept)
{
    if (!kept)
        return;
    sinew_supernodal_destroy(&kept->factor);
    void *arrays[] = {kept->column, kept->row, kept->value, kept->source, kept};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
}

/* ---- Create ---------------------------------------------------------------------------------- */

static sinew_status make(sinew_prefactor *f, cholmod_sparse *matrix, const sinew_real *points,
                         const sinew_dense_kernels *dense, cholmod_common *common, bool keep, sinew_error *error)
{
    sinew_supernodal once = {.allocator = f->allocator};
    f->order = sinew_allocate(&f->allocator, (size_t)f->n, sizeof *f->order);
    f->kept = keep ? sinew_allocate_zero(&f->allocator, 1, sizeof *f->kept) : NULL;
    if (!f->order || !matrix || (keep && !f->kept))
        return sinew_fail_memory(error, "the prefactored matrix");
    sinew_supernodal *factor = keep ? &f->kept->factor : &once;
    factor->allocator = f->allocator;
    sinew_status status = factorise(f, matrix, points, dense, common, factor, error);
    if (status == SINEW_OK &&
        (!sinew_part_tree_create(&f->tree, &f->allocator, factor) || (keep && !keep_pattern(f, matrix, common))))
        status = sinew_fail_memory(error, "the prefactored matrix");
    sinew_supernodal_destroy(&once);
    return status;
}

static sinew_prefactor *create(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                               int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                               const double *value, const sinew_real *points, bool keep, sinew_error *error)
{
    sinew_prefactor *f = sinew_allocate_zero(allocator, 1, sizeof *f);
    if (!f) {
        sinew_fail_memory(error, "the prefactored matrix");
        return NULL;
    }
    f->allocator = *allocator;
    f->kernels = kernels->panels;
    f->dense = kernels->dense;
    f->thread_count = thread_count;
    f->n = n;
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    cholmod_sparse *matrix = copy_matrix(n, column, row, value, &common);
    const sinew_status status =
        make(f, matrix, points, kernels->single ? &sinew_dense_single : kernels->dense, &common, keep, error);
    cholmod_l_free_sparse(&matrix, &common);
    cholmod_l_finish(&common);
    if (status == SINEW_OK)
        return f;
    sinew_prefactor_destroy(f);
    return NULL;
}

sinew_prefactor *sinew_prefactor_create(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                        int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                        const double *value, const sinew_real *points, sinew_error *error)
{
    return create(allocator, kernels, thread_count, n, column, row, value, points, false, error);
}

sinew_prefactor *sinew_prefactor_create_kept(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                             int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                             const double *value, const sinew_real *points, sinew_error *error)
{
    return create(allocator, kernels, thread_count, n, column, row, value, points, true, error);
}

void sinew_prefactor_destroy(sinew_prefactor *f)
{
    if (!f)
        return;
    const sinew_allocator a = f->allocator;
    drop_kept(&a, f->kept);
    sinew_part_tree_destroy(&f->tree);
    sinew_release(&a, f->order);
    sinew_release(&a, f);
}

/* ---- Solve ----------------------------------------------------------------------------------- */

/* Own rows of b come in; what the children owe is added in their order; L^-1. */
static void part_forward(const sinew_prefactor *f, int32_t p, const int32_t *place, const sinew_real *b)
{
    const sinew_part *own = &f->tree.parts[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(own->x + 4 * k, b + 4 * (size_t)(place ? place[row] : row), 4 * sizeof *b);
    }
    memset(own->x + 4 * columns, 0, 4 * ((size_t)own->owed_count + 1) * sizeof *own->x);
    for (int32_t child = 0; own->level > 0 && child < f->tree.level_first[own->level]; child++) {
        const sinew_part *below = &f->tree.parts[child];
        const sinew_real *from = below->x + 4 * (size_t)(below->last - below->first);
        for (int32_t i = 0; below->parent == p && i < below->owed_count; i++)
            for (size_t c = 0; c < 4; c++)
                own->x[4 * (size_t)below->owed_place[i] + c] += from[4 * (size_t)i + c];
    }
    f->kernels->forward(f->tree.panels + own->panel_first, own->panel_count, own->x);
}

/* The ancestors' rows come from the parent, which is done; L^-T; own rows go out. */
static void part_backward(const sinew_prefactor *f, int32_t p, const int32_t *place, sinew_real *x)
{
    const sinew_part *own = &f->tree.parts[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (int32_t i = 0; i < own->owed_count; i++)
        memcpy(own->x + 4 * (columns + (size_t)i), f->tree.parts[own->parent].x + 4 * (size_t)own->owed_place[i],
               4 * sizeof *x);
    memset(own->x + 4 * (columns + (size_t)own->owed_count), 0, 4 * sizeof *x);
    f->kernels->backward(f->tree.panels + own->panel_first, own->panel_count, own->x);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(x + 4 * (size_t)(place ? place[row] : row), own->x + 4 * k, 4 * sizeof *x);
    }
}

/* Up the levels of the tree, down again, or both. */
typedef struct solve_pass {
    const sinew_prefactor *f;
    const int32_t *place;
    const sinew_real *b; /* NULL: down alone */
    sinew_real *x;
} solve_pass;

/* Phases that go down follow those that go up. */
static bool goes_up(const solve_pass *pass, int32_t phase)
{
    return pass->b && phase < pass->f->tree.level_count;
}

static int32_t phase_level(const solve_pass *pass, int32_t phase)
{
    const int32_t levels = pass->f->tree.level_count;
    return goes_up(pass, phase) ? phase : (pass->b ? 2 : 1) * levels - 1 - phase;
}

static int32_t count_parts(const void *context, int32_t phase)
{
    const solve_pass *pass = context;
    const int32_t level = phase_level(pass, phase);
    return pass->f->tree.level_first[level + 1] - pass->f->tree.level_first[level];
}

static void run_part(const void *context, int32_t phase, int32_t item)
{
    const solve_pass *pass = context;
    const int32_t p = pass->f->tree.level_first[phase_level(pass, phase)] + item;
    if (goes_up(pass, phase))
        part_forward(pass->f, p, pass->place, pass->b);
    else
        part_backward(pass->f, p, pass->place, pass->x);
}

static void run_phases(const sinew_prefactor *f, const solve_pass *pass, int32_t count)
{
    const sinew_phases work = {count, count_parts, run_part, pass};
    sinew_phases_run(&work, f->n >= PARALLEL_ROWS ? f->thread_count : 1);
}

void sinew_prefactor_solve(sinew_prefactor *f, const int32_t *place, const sinew_real *b, sinew_real *x)
{
    run_phases(f, &(solve_pass){f, place, b, x}, 2 * f->tree.level_count);
}

void sinew_prefactor_forward(sinew_prefactor *f, const int32_t *place, const sinew_real *b)
{
    run_phases(f, &(solve_pass){f, place, b, NULL}, f->tree.level_count);
}

void sinew_prefactor_backward(sinew_prefactor *f, const int32_t *place, sinew_real *x)
{
    run_phases(f, &(solve_pass){f, place, NULL, x}, f->tree.level_count);
}

int64_t sinew_prefactor_size(const sinew_prefactor *f)
{
    return (int64_t)f->tree.value_total;
}

int64_t sinew_prefactor_memory(const sinew_prefactor *f)
{
    int64_t bytes = (int64_t)(sizeof *f + (size_t)f->n * sizeof *f->order) + sinew_part_tree_memory(&f->tree);
    if (f->kept)
        bytes += (f->kept->factor.values ? sinew_supernodal_size(&f->kept->factor) * (int64_t)sizeof(double) : 0) +
                 f->kept->column[f->n] * (int64_t)(sizeof *f->kept->row + sizeof *f->kept->value + sizeof(size_t));
    return bytes;
}
