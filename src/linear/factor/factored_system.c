/* SPDX-License-Identifier: MIT
 *
 * factored_system.c: see factored_system.h. Factorises (supernodal.h), keeps the matrix and factor for new values, and
 * solves over the tree of subtrees (solve_tree.h).
 */
#include "linear/factor/factored_system.h"

#include <string.h>

#include "base/phases.h"
#include "linear/factor/dense_float.h"
#include "linear/ordering/ordering.h"
#include "linear/factor/factored_system_internal.h"

#define PARALLEL_ROWS 4096 /* number of matrix rows below which one thread solves */

/* The lower triangle of the matrix S by columns and the rest positions of its rows, as the caller gives them
 * (factored_system.h). */
typedef struct sinew_factored_system_matrix {
    const size_t *column;
    const int32_t *row;
    const double *value;
    const sinew_real *points;
} sinew_factored_system_matrix;

/* ---- Symbolic analysis of S ------------------------------------------------------------------ */

static sinew_status factored_fail_definite(sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "the system matrix is not positive definite");
}

/* Rule for merging supernodes. It stores fewer explicit zeros than the rule of cholesky.c, because each one costs time
 * in every solve. */
static const sinew_amalgamation amalgamation = {{4, 16, 48}, {0.2, 0.05, 0.02}};

/* Finds the elimination order, the supernodes, and the pattern of P S P^T, where P is the permutation of the matrix
 * S to the order. */
static bool factored_analyse(sinew_factored_system *f, const sinew_factored_system_matrix *S,
                             const sinew_dense_kernels *dense, sinew_kept_factor *made)
{
    sinew_graph graph;
    sinew_elimination elimination = {0};
    const bool good =
        sinew_graph_create(&graph, &f->allocator, f->n, S->column, S->row) &&
        sinew_find_elimination(&elimination, &f->allocator, &graph, S->points) &&
        sinew_supernodal_create(&made->factor, &f->allocator, dense, &amalgamation, &elimination, 1) &&
        sinew_reordered_matrix_create(&made->matrix, &f->allocator, f->n, S->column, S->row, elimination.index);
    if (good)
        memcpy(f->order, elimination.order, (size_t)f->n * sizeof *f->order);
    sinew_elimination_destroy(&elimination);
    sinew_graph_destroy(&graph, &f->allocator);
    return good;
}

/* ---- Factorisation of new values ------------------------------------------------------------- */

void sinew_factored_system_drop_double_factor(sinew_factored_system *f)
{
    sinew_supernodal_drop_values(&f->kept->factor);
}

sinew_status sinew_factored_system_refactor(sinew_factored_system *f, const double *value, sinew_error *error)
{
    sinew_kept_factor *kept = f->kept;
    sinew_reordered_matrix_set(&kept->matrix, value);
    if (!sinew_supernodal_need_values(&kept->factor))
        return sinew_fail_memory(error, "the factored system");
    const bool good = sinew_supernodal_factorise(&kept->factor, &kept->matrix.lower, 0) < 0;
    if (good)
        sinew_solve_tree_refill(&f->tree, &kept->factor);
    return good ? SINEW_OK : factored_fail_definite(error);
}

static void factored_drop_kept(const sinew_allocator *allocator, sinew_kept_factor *kept)
{
    sinew_supernodal_destroy(&kept->factor);
    sinew_reordered_matrix_destroy(&kept->matrix, allocator);
}

/* ---- Creation of a factored system ----------------------------------------------------------- */

static sinew_status factored_factorise(sinew_factored_system *f, const sinew_factored_system_matrix *S,
                                       const sinew_dense_kernels *dense, sinew_kept_factor *made, sinew_error *error)
{
    made->factor.allocator = f->allocator;
    if (!factored_analyse(f, S, dense, made))
        return sinew_fail_memory(error, "the factored system");
    made->factor.single = dense == &sinew_dense_single;
    sinew_reordered_matrix_set(&made->matrix, S->value);
    if (sinew_supernodal_factorise(&made->factor, &made->matrix.lower, 0) >= 0)
        return factored_fail_definite(error);
    const bool good = sinew_solve_tree_create(&f->tree, &f->allocator, &made->factor);
    return good ? SINEW_OK : sinew_fail_memory(error, "the factored system");
}

static sinew_status factored_make(sinew_factored_system *f, const sinew_factored_system_matrix *S,
                                  const sinew_dense_kernels *dense, bool keep, sinew_error *error)
{
    sinew_kept_factor once = {0};
    f->order = sinew_allocate(&f->allocator, (size_t)f->n, sizeof *f->order);
    f->kept = keep ? sinew_allocate_zero(&f->allocator, 1, sizeof *f->kept) : NULL;
    if (!f->order || (keep && !f->kept))
        return sinew_fail_memory(error, "the factored system");
    const sinew_status status = factored_factorise(f, S, dense, keep ? f->kept : &once, error);
    factored_drop_kept(&f->allocator, &once);
    return status;
}

static sinew_factored_system *factored_create(const sinew_allocator *allocator,
                                              const sinew_factored_system_kernels *kernels, int32_t thread_count,
                                              int32_t n, const sinew_factored_system_matrix *S, bool keep,
                                              sinew_error *error)
{
    sinew_factored_system *f = sinew_allocate_zero(allocator, 1, sizeof *f);
    if (!f) {
        sinew_fail_memory(error, "the factored system");
        return NULL;
    }
    f->allocator = *allocator;
    f->kernels = kernels->supernodes;
    f->dense = kernels->dense;
    f->thread_count = thread_count;
    f->n = n;
    if (factored_make(f, S, kernels->single ? &sinew_dense_single : kernels->dense, keep, error) == SINEW_OK)
        return f;
    sinew_factored_system_destroy(f);
    return NULL;
}

sinew_factored_system *sinew_factored_system_create(const sinew_allocator *allocator,
                                                    const sinew_factored_system_kernels *kernels, int32_t thread_count,
                                                    int32_t n, const size_t *column, const int32_t *row,
                                                    const double *value, const sinew_real *points, sinew_error *error)
{
    return factored_create(allocator, kernels, thread_count, n,
                           &(sinew_factored_system_matrix){column, row, value, points}, false, error);
}

sinew_factored_system *sinew_factored_system_create_kept(const sinew_allocator *allocator,
                                                         const sinew_factored_system_kernels *kernels,
                                                         int32_t thread_count, int32_t n, const size_t *column,
                                                         const int32_t *row, const double *value,
                                                         const sinew_real *points, sinew_error *error)
{
    return factored_create(allocator, kernels, thread_count, n,
                           &(sinew_factored_system_matrix){column, row, value, points}, true, error);
}

void sinew_factored_system_destroy(sinew_factored_system *f)
{
    if (!f)
        return;
    const sinew_allocator a = f->allocator;
    if (f->kept)
        factored_drop_kept(&a, f->kept);
    sinew_release(&a, f->kept);
    sinew_solve_tree_destroy(&f->tree);
    sinew_release(&a, f->order);
    sinew_release(&a, f);
}

/* ---- Solves with S by forward and backward substitution -------------------------------------- */

/* Forward substitution x = L^-1 (P b) in one subtree (factor L, permutation P): copies its own rows of b, adds the
 * contributions of its children in their order, and solves. */
static void subtree_forward(const sinew_factored_system *f, int32_t p, const int32_t *index, const sinew_real *b)
{
    const sinew_solve_subtree *own = &f->tree.subtrees[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(own->x + 4 * k, b + 4 * (size_t)(index ? index[row] : row), 4 * sizeof *b);
    }
    memset(own->x + 4 * columns, 0, 4 * ((size_t)own->ancestor_count + 1) * sizeof *own->x);
    for (int32_t child = 0; own->level > 0 && child < f->tree.level_first[own->level]; child++) {
        const sinew_solve_subtree *below = &f->tree.subtrees[child];
        const sinew_real *from = below->x + 4 * (size_t)(below->last - below->first);
        for (int32_t i = 0; below->parent == p && i < below->ancestor_count; i++)
            for (size_t c = 0; c < 4; c++)
                own->x[4 * (size_t)below->ancestor_index[i] + c] += from[4 * (size_t)i + c];
    }
    f->kernels->forward(f->tree.supernodes + own->supernode_first, own->supernode_count, own->x);
}

/* Backward substitution x = L^-T x with the factor L in one subtree: copies the ancestors' rows from the parent,
 * which is already solved, solves, and writes its own rows. */
static void subtree_backward(const sinew_factored_system *f, int32_t p, const int32_t *index, sinew_real *x)
{
    const sinew_solve_subtree *own = &f->tree.subtrees[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (int32_t i = 0; i < own->ancestor_count; i++)
        memcpy(own->x + 4 * (columns + (size_t)i), f->tree.subtrees[own->parent].x + 4 * (size_t)own->ancestor_index[i],
               4 * sizeof *x);
    memset(own->x + 4 * (columns + (size_t)own->ancestor_count), 0, 4 * sizeof *x);
    f->kernels->backward(f->tree.supernodes + own->supernode_first, own->supernode_count, own->x);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(x + 4 * (size_t)(index ? index[row] : row), own->x + 4 * k, 4 * sizeof *x);
    }
}

/* Arguments of a solve: forward substitution from the leaves to the roots, backward substitution from the roots to the
 * leaves, or both. */
typedef struct solve_pass {
    const sinew_factored_system *f;
    const int32_t *index;
    const sinew_real *b; /* right-hand side; NULL: backward substitution only */
    sinew_real *x;
} solve_pass;

/* True for a phase (one level of the tree) of forward substitution, from the leaves up. Phases of backward
 * substitution, from the roots down, follow. */
static bool is_forward_phase(const solve_pass *pass, int32_t phase)
{
    return pass->b && phase < pass->f->tree.level_count;
}

static int32_t phase_level(const solve_pass *pass, int32_t phase)
{
    const int32_t levels = pass->f->tree.level_count;
    return is_forward_phase(pass, phase) ? phase : (pass->b ? 2 : 1) * levels - 1 - phase;
}

static int32_t count_subtrees(const void *context, int32_t phase)
{
    const solve_pass *pass = context;
    const int32_t level = phase_level(pass, phase);
    return pass->f->tree.level_first[level + 1] - pass->f->tree.level_first[level];
}

static void run_subtree(const void *context, int32_t phase, int32_t item)
{
    const solve_pass *pass = context;
    const int32_t p = pass->f->tree.level_first[phase_level(pass, phase)] + item;
    if (is_forward_phase(pass, phase))
        subtree_forward(pass->f, p, pass->index, pass->b);
    else
        subtree_backward(pass->f, p, pass->index, pass->x);
}

static void run_phases(const sinew_factored_system *f, const solve_pass *pass, int32_t count)
{
    const sinew_phases work = {count, count_subtrees, run_subtree, pass};
    sinew_phases_run(&work, f->n >= PARALLEL_ROWS ? f->thread_count : 1);
}

void sinew_factored_system_solve(sinew_factored_system *f, const int32_t *index, const sinew_real *b, sinew_real *x)
{
    run_phases(f, &(solve_pass){f, index, b, x}, 2 * f->tree.level_count);
}

void sinew_factored_system_forward(sinew_factored_system *f, const int32_t *index, const sinew_real *b)
{
    run_phases(f, &(solve_pass){f, index, b, NULL}, f->tree.level_count);
}

void sinew_factored_system_backward(sinew_factored_system *f, const int32_t *index, sinew_real *x)
{
    run_phases(f, &(solve_pass){f, index, NULL, x}, f->tree.level_count);
}

int64_t sinew_factored_system_size(const sinew_factored_system *f)
{
    return (int64_t)f->tree.value_total;
}

int64_t sinew_factored_system_memory(const sinew_factored_system *f)
{
    int64_t bytes = (int64_t)(sizeof *f + (size_t)f->n * sizeof *f->order) + sinew_solve_tree_memory(&f->tree);
    if (f->kept)
        bytes += (f->kept->factor.values ? sinew_supernodal_size(&f->kept->factor) * (int64_t)sizeof(double) : 0) +
                 (int64_t)(f->kept->matrix.lower.column[f->n] * (sizeof(int32_t) + sizeof(double) + sizeof(size_t)));
    return bytes;
}
