/* SPDX-License-Identifier: MIT
 *
 * low_rank.c: computes V and C of low-rank terms and solves with S'. See low_rank.h.
 */
#include "linear/factor/low_rank.h"

#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "linear/factor/factored_system_internal.h"

/* Number of rank-one terms (rows of the matrix D) whose columns of V = L^-1 D^T |W|^(1/2) are computed together: a
 * quad. */
#define QUAD 4

/* ---- Paths through the elimination tree ------------------------------------------------------ */

/* The matrix column, in elimination order, of the first row below a supernode's diagonal block; -1: none. */
static int32_t first_row_below(const sinew_solve_subtree *subtree, const sinew_supernode *supernode)
{
    if (supernode->row_count == 0)
        return -1;
    const int32_t own = subtree->last - subtree->first, row = supernode->rows[0];
    return row < own ? subtree->first + row : subtree->ancestors[row - own];
}

static void find_tree_paths(sinew_low_rank *l, const sinew_factored_system *f)
{
    const sinew_solve_tree *t = &f->tree;
    for (int32_t k = 0; k < f->n; k++)
        l->rank[f->order[k]] = k;
    for (int32_t p = 0; p < t->subtree_count; p++) {
        const sinew_solve_subtree *subtree = &t->subtrees[p];
        for (int32_t k = subtree->supernode_first; k < subtree->supernode_first + subtree->supernode_count; k++) {
            l->subtree_of[k] = p;
            for (int32_t c = 0; c < t->supernodes[k].column_count; c++)
                l->supernode_of[subtree->first + t->supernodes[k].first + c] = k;
        }
    }
    for (int32_t k = 0; k < t->supernode_count; k++) {
        const int32_t row = first_row_below(&t->subtrees[l->subtree_of[k]], &t->supernodes[k]);
        l->up[k] = row < 0 ? -1 : l->supernode_of[row];
    }
}

static bool prepare_tree_paths(sinew_low_rank *l, const sinew_factored_system *f)
{
    if (l->rank)
        return true;
    const size_t n = (size_t)f->n, supernodes = (size_t)f->tree.supernode_count;
    const sinew_allocator *a = &f->allocator;
    sinew_low_rank_destroy(l, a); /* frees the buffers of an earlier call that ran out of memory */
    l->supernode_of = sinew_allocate(a, n, sizeof *l->supernode_of);
    l->up = sinew_allocate(a, supernodes, sizeof *l->up);
    l->subtree_of = sinew_allocate(a, supernodes, sizeof *l->subtree_of);
    l->stamp = sinew_allocate(a, supernodes, sizeof *l->stamp);
    l->reached = sinew_allocate(a, supernodes, sizeof *l->reached);
    l->entered = sinew_allocate(a, (size_t)f->tree.subtree_count, sizeof *l->entered);
    if (!l->supernode_of || !l->up || !l->subtree_of || !l->stamp || !l->reached || !l->entered)
        return false;
    l->rank = sinew_allocate(a, n, sizeof *l->rank);
    if (!l->rank)
        return false;
    find_tree_paths(l, f);
    return true;
}

/* Insertion sort of 64-bit keys, ascending: the lists are short, or consist of sorted runs. */
static void sort_keys(int64_t *keys, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        const int64_t key = keys[i];
        int32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static int32_t quad_count(const sinew_low_rank *l)
{
    return (l->count + QUAD - 1) / QUAD;
}

/* Rank-one term c (0 .. 3) of a group of four terms (a quad); NULL after the last term. */
static const sinew_rank_one_term *term_of(const sinew_low_rank *l, const sinew_rank_one_term *rows, int32_t quad, int c)
{
    const int32_t at = QUAD * quad + c;
    return at < l->count ? &rows[l->order[at] & 0xffffffff] : NULL;
}

/* Lists the supernodes on the elimination-tree paths of a quad's terms, ascending, in l->reached; returns their
 * number. */
static int32_t list_reached_supernodes(sinew_low_rank *l, const sinew_rank_one_term *rows, const int32_t *index,
                                       int32_t quad)
{
    int32_t count = 0;
    for (int c = 0; c < QUAD; c++) {
        const sinew_rank_one_term *row = term_of(l, rows, quad, c);
        for (int32_t e = 0; row && e < row->count; e++) {
            int32_t k = l->supernode_of[l->rank[index[row->index[e]]]];
            for (; k >= 0 && l->stamp[k] != quad; k = l->up[k]) {
                l->stamp[k] = quad;
                l->reached[count++] = k;
            }
        }
    }
    sort_keys(l->reached, count);
    return count;
}

/* ---- V = L^-1 D^T |W|^(1/2) ------------------------------------------------------------------ */

/* Sorts the rank-one terms by their column that is eliminated first: neighbours then share most of their path to the
 * root. */
static void low_rank_sort_terms(sinew_low_rank *l, const sinew_rank_one_term *rows, const int32_t *index)
{
    for (int32_t r = 0; r < l->count; r++) {
        int32_t min = INT32_MAX;
        for (int32_t e = 0; e < rows[r].count; e++) {
            const int32_t rank = l->rank[index[rows[r].index[e]]];
            min = rank < min ? rank : min;
        }
        l->order[r] = (int64_t)min << 32 | r;
    }
    sort_keys(l->order, l->taken);
    sort_keys(l->order + l->taken, l->count - l->taken);
}

/* Computes the sparse layout of V: the supernodes that each group of four terms reaches, and their offsets in
 * l->values. */
static bool lay_out_columns(sinew_low_rank *l, const sinew_factored_system *f, const sinew_rank_one_term *rows,
                            const int32_t *index)
{
    const sinew_allocator *a = &f->allocator;
    const int32_t quads = quad_count(l);
    size_t values = 0;
    if (!sinew_reserve_spare(a, &l->first, &l->first_capacity, (size_t)quads + 1, sizeof *l->first))
        return false;
    l->first[0] = 0;
    memset(l->stamp, 0xff, (size_t)f->tree.supernode_count * sizeof *l->stamp);
    for (int32_t q = 0; q < quads; q++)
        l->first[q + 1] = l->first[q] + (size_t)list_reached_supernodes(l, rows, index, q);
    if (!sinew_reserve_spare(a, &l->supernode, &l->supernode_capacity, l->first[quads], sizeof *l->supernode) ||
        !sinew_reserve_spare(a, &l->start, &l->start_capacity, l->first[quads], sizeof *l->start))
        return false;
    memset(l->stamp, 0xff, (size_t)f->tree.supernode_count * sizeof *l->stamp);
    for (int32_t q = 0; q < quads; q++) {
        const int32_t count = list_reached_supernodes(l, rows, index, q);
        for (int32_t i = 0; i < count; i++) {
            l->supernode[l->first[q] + (size_t)i] = (int32_t)l->reached[i];
            l->start[l->first[q] + (size_t)i] = values;
            values += QUAD * (size_t)f->tree.supernodes[l->reached[i]].column_count;
        }
    }
    return sinew_reserve_spare(a, &l->values, &l->value_capacity, values, sizeof *l->values);
}

/* The supernode's own columns in the work vector of its subtree, [columns][4]. */
static sinew_real *supernode_vector(const sinew_low_rank *l, const sinew_factored_system *f, int32_t supernode)
{
    return f->tree.subtrees[l->subtree_of[supernode]].x + 4 * (size_t)f->tree.supernodes[supernode].first;
}

static sinew_real *ancestor_rows(const sinew_solve_subtree *subtree)
{
    return subtree->x + 4 * (size_t)(subtree->last - subtree->first);
}

/* Writes the columns of D^T |W|^(1/2) (weighted rank-one terms) of a quad, i.e. four terms, into the subtrees' work
 * vectors. The supernodes of a subtree are contiguous. */
static void load_quad(sinew_low_rank *l, const sinew_factored_system *f, const sinew_rank_one_term *rows,
                      const int32_t *index, int32_t quad, double scale)
{
    for (size_t i = l->first[quad]; i < l->first[quad + 1]; i++) {
        const int32_t k = l->supernode[i];
        const sinew_solve_subtree *subtree = &f->tree.subtrees[l->subtree_of[k]];
        memset(supernode_vector(l, f, k), 0, 4 * (size_t)f->tree.supernodes[k].column_count * sizeof(sinew_real));
        if (i == l->first[quad] || l->subtree_of[k] != l->subtree_of[l->supernode[i - 1]])
            memset(ancestor_rows(subtree), 0, 4 * ((size_t)subtree->ancestor_count + 1) * sizeof(sinew_real));
    }
    for (int c = 0; c < QUAD; c++) {
        const sinew_rank_one_term *row = term_of(l, rows, quad, c);
        for (int32_t e = 0; row && e < row->count; e++) {
            const int32_t rank = l->rank[index[row->index[e]]];
            const sinew_solve_subtree *subtree = &f->tree.subtrees[l->subtree_of[l->supernode_of[rank]]];
            subtree->x[4 * (size_t)(rank - subtree->first) + (size_t)c] +=
                (sinew_real)(row->value[e] * sqrt(fabs(row->weight) * scale));
        }
    }
}

/* Adds to the work vector of subtree p the contributions of those of its children that this quad has entered. */
static void add_descendants(sinew_low_rank *l, const sinew_factored_system *f, int32_t p, int32_t entered)
{
    const sinew_solve_subtree *own = &f->tree.subtrees[p];
    for (int32_t i = 0; i < entered; i++) {
        const sinew_solve_subtree *below = &f->tree.subtrees[l->entered[i]];
        const sinew_real *from = ancestor_rows(below);
        for (int32_t k = 0; below->parent == p && k < below->ancestor_count; k++)
            for (size_t c = 0; c < 4; c++)
                own->x[4 * (size_t)below->ancestor_index[k] + c] += from[4 * (size_t)k + c];
    }
}

/* Computes the four columns of V (low-rank terms after forward substitution) of a quad: applies L^-1 along the
 * supernodes that the quad reaches. Descendants have lower indices, and the own columns of a subtree follow those of
 * its children. */
static void forward_quad(sinew_low_rank *l, const sinew_factored_system *f, int32_t quad)
{
    int32_t entered = 0;
    for (size_t i = l->first[quad]; i < l->first[quad + 1]; i++) {
        const int32_t k = l->supernode[i], p = l->subtree_of[k], columns = f->tree.supernodes[k].column_count;
        if (i == l->first[quad] || p != l->subtree_of[l->supernode[i - 1]]) {
            add_descendants(l, f, p, entered);
            l->entered[entered++] = p;
        }
        f->kernels->forward(&f->tree.supernodes[k], 1, f->tree.subtrees[p].x);
        memcpy(l->values + l->start[i], supernode_vector(l, f, k), QUAD * (size_t)columns * sizeof *l->values);
    }
}

/* ---- C = sign(W) + V^T V --------------------------------------------------------------------- */

/* sums [4][4] = V_a^T V_b for the columns of V of two quads, over the supernodes that both quads reach */
static void multiply_quads(const sinew_low_rank *l, const sinew_factored_system *f, int32_t a, int32_t b,
                           double sums[16])
{
    size_t i = l->first[a], j = l->first[b];
    memset(sums, 0, 16 * sizeof *sums);
    while (i < l->first[a + 1] && j < l->first[b + 1]) {
        if (l->supernode[i] != l->supernode[j]) {
            if (l->supernode[i] < l->supernode[j])
                i++;
            else
                j++;
            continue;
        }
        _Alignas(32) sinew_real product[16];
        f->kernels->gather(l->values + l->start[i++], f->tree.supernodes[l->supernode[j]].column_count,
                           l->values + l->start[j], product);
        j++;
        for (int k = 0; k < 16; k++)
            sums[k] += (double)product[k];
    }
}

/* Sets entry (r, c), r >= c, of the small matrix C = sign(W) + V^T V. The block of the removed terms is stored
 * negated: it is then positive definite. */
static void put_small_entry(sinew_low_rank *l, int32_t r, int32_t c, double product)
{
    const size_t count = (size_t)l->count, added = (size_t)(l->count - l->taken), R = (size_t)r, C = (size_t)c;
    const double one = r == c ? 1 : 0;
    if (r < l->taken)
        l->taken_block[C * count + R] = one - product;
    else if (c < l->taken)
        l->taken_block[C * count + R] = product;
    else
        l->added_block[(C - (size_t)l->taken) * added + R - (size_t)l->taken] = one + product;
}

static void fill_products(sinew_low_rank *l, const sinew_factored_system *f)
{
    for (int32_t a = 0; a < quad_count(l) && !sinew_stop_came(); a++)
        for (int32_t b = 0; b <= a; b++) {
            double sums[16];
            multiply_quads(l, f, a, b, sums);
            for (int32_t k = 0; k < 16; k++) {
                const int32_t r = QUAD * a + k / 4, c = QUAD * b + k % 4;
                if (r < l->count && c <= r)
                    put_small_entry(l, r, c, sums[k]);
            }
        }
}

static bool reserve_small(sinew_low_rank *l, const sinew_allocator *a)
{
    const size_t count = (size_t)l->count, taken = (size_t)l->taken, added = count - taken;
    const size_t max = sinew_dense_round(count), wide = max > SINEW_DENSE_BLOCK ? max : SINEW_DENSE_BLOCK;
    return sinew_reserve_spare(a, &l->taken_block, &l->taken_capacity, taken * count + SINEW_DENSE_PAD,
                               sizeof(double)) &&
           sinew_reserve_spare(a, &l->added_block, &l->added_capacity, added * added + SINEW_DENSE_PAD,
                               sizeof(double)) &&
           sinew_reserve_spare(a, &l->product, &l->product_capacity, max * (taken > 0 ? wide : SINEW_DENSE_BLOCK),
                               sizeof(double)) &&
           sinew_reserve_spare(a, &l->work, &l->work_capacity, sinew_dense_work(wide), sizeof(double)) &&
           sinew_reserve_spare(a, &l->sums, &l->sum_capacity, 3 * (max + QUAD), sizeof(double));
}

/* True if every pivot of I - V1^T V1, V1 the columns of the removed terms, is far from zero; a pivot is 1 if nothing is
 * removed. */
static bool pivots_are_safe(const sinew_low_rank *l)
{
    const double min = sizeof(sinew_real) == 4 ? 1e-3 : 1e-8;
    for (size_t j = 0; j < (size_t)l->taken; j++) {
        const double pivot = l->taken_block[j * (size_t)l->count + j];
        if (!(pivot * pivot >= min))
            return false;
    }
    return true;
}

/* Factorises C = [-N X^T; X P], the removed terms first: N = L1 L1^T, X = L2 L1^T, Schur complement P + L2 L2^T = L3
 * L3^T. */
static bool factorise_small(sinew_low_rank *l, const sinew_dense_kernels *dense)
{
    const int32_t added = l->count - l->taken;
    if (l->taken > 0) {
        if (dense->factorise(l->count, l->taken, l->taken_block, NULL, l->product, l->work, sinew_stop_came) >= 0 ||
            !pivots_are_safe(l))
            return false;
        dense->product(added, added, l->taken, l->taken_block + l->taken, (size_t)l->count, NULL, l->product, l->work,
                       sinew_stop_came);
        const size_t stride = sinew_dense_round((size_t)added);
        for (size_t c = 0; c < (size_t)added; c++)
            for (size_t r = c; r < (size_t)added; r++)
                l->added_block[c * (size_t)added + r] += l->product[c * stride + r];
    }
    return dense->factorise(added, added, l->added_block, NULL, l->product, l->work, sinew_stop_came) < 0;
}

/* Solves with the small dense matrix C of low_rank.h by its factors: w = C^-1 w. */
static void solve_small(const sinew_low_rank *l, const sinew_dense_kernels *dense, double *w)
{
    const int32_t taken = l->taken, added = l->count - taken;
    for (int32_t i = 0; i < taken; i++)
        w[i] = -w[i];
    dense->forward(l->count, taken, l->taken_block, w);
    dense->forward(added, added, l->added_block, w + taken);
    dense->backward(added, added, l->added_block, w + taken);
    if (taken == 0)
        return;
    for (int32_t i = taken; i < l->count; i++)
        w[i] = -w[i];
    dense->backward(l->count, taken, l->taken_block, w);
    for (int32_t i = taken; i < l->count; i++)
        w[i] = -w[i];
}

/* ---- Setting the terms and solving with S' --------------------------------------------------- */

sinew_status sinew_low_rank_set(sinew_low_rank *l, sinew_factored_system *f, const sinew_rank_one_term *rows,
                                int32_t taken, int32_t count, const int32_t *index, double scale, sinew_error *error)
{
    l->taken = l->count = 0;
    if (count == 0)
        return SINEW_OK;
    if (!prepare_tree_paths(l, f))
        return sinew_fail_memory(error, "changes of the factored system");
    sinew_status status = SINEW_ERROR_MEMORY;
    l->taken = taken;
    l->count = count;
    if (sinew_reserve_spare(&f->allocator, &l->order, &l->order_capacity, (size_t)count, sizeof *l->order) &&
        reserve_small(l, &f->allocator)) {
        low_rank_sort_terms(l, rows, index);
        status = lay_out_columns(l, f, rows, index) ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    for (int32_t q = 0; status == SINEW_OK && q < quad_count(l) && !sinew_stop_came(); q++) {
        load_quad(l, f, rows, index, q, scale);
        forward_quad(l, f, q);
    }
    if (status == SINEW_OK) {
        fill_products(l, f);
        status = !sinew_stop_came() && factorise_small(l, f->dense) ? SINEW_OK : SINEW_ERROR_NUMERIC;
    }
    if (status == SINEW_OK)
        return SINEW_OK;
    l->taken = l->count = 0;
    return status == SINEW_ERROR_MEMORY
               ? sinew_fail_memory(error, "changes of the factored system")
               : sinew_fail(error, status, "the system matrix, less what was taken away, is not positive definite");
}

/* sums [3][count] = V^T y for three right-hand sides; y = L^-1 P b lies in the subtrees' work vectors */
static void gather_sums(const sinew_low_rank *l, const sinew_factored_system *f)
{
    for (int32_t q = 0; q < quad_count(l); q++) {
        double sums[16] = {0};
        for (size_t i = l->first[q]; i < l->first[q + 1]; i++) {
            _Alignas(32) sinew_real product[16];
            f->kernels->gather(l->values + l->start[i], f->tree.supernodes[l->supernode[i]].column_count,
                               supernode_vector(l, f, l->supernode[i]), product);
            for (int k = 0; k < 16; k++)
                sums[k] += (double)product[k];
        }
        for (int32_t r = QUAD * q; r < QUAD * (q + 1) && r < l->count; r++)
            for (int32_t c = 0; c < 3; c++)
                l->sums[c * l->count + r] = sums[4 * (r % QUAD) + c];
    }
}

/* y -= V sums for three right-hand sides; y lies in the subtrees' work vectors, sums are [3][count] */
static void spread_sums(const sinew_low_rank *l, const sinew_factored_system *f)
{
    for (int32_t q = 0; q < quad_count(l); q++) {
        _Alignas(32) sinew_real a[16] = {0};
        for (int32_t r = QUAD * q; r < QUAD * (q + 1) && r < l->count; r++)
            for (int32_t c = 0; c < 3; c++)
                a[4 * (r % QUAD) + c] = (sinew_real)l->sums[c * l->count + r];
        for (size_t i = l->first[q]; i < l->first[q + 1]; i++)
            f->kernels->spread(l->values + l->start[i], f->tree.supernodes[l->supernode[i]].column_count, a,
                               supernode_vector(l, f, l->supernode[i]));
    }
}

void sinew_low_rank_solve(sinew_low_rank *l, sinew_factored_system *f, const int32_t *index, const sinew_real *b,
                          sinew_real *x)
{
    if (l->count == 0) {
        sinew_factored_system_solve(f, index, b, x);
        return;
    }
    sinew_factored_system_forward(f, index, b);
    gather_sums(l, f);
    for (int32_t c = 0; c < 3; c++)
        solve_small(l, f->dense, l->sums + c * l->count);
    spread_sums(l, f);
    sinew_factored_system_backward(f, index, x);
}

void sinew_low_rank_destroy(sinew_low_rank *l, const sinew_allocator *allocator)
{
    void *arrays[] = {l->rank,        l->supernode_of, l->up,      l->subtree_of, l->stamp, l->reached,
                      l->entered,     l->order,        l->first,   l->supernode,  l->start, l->values,
                      l->taken_block, l->added_block,  l->product, l->work,       l->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *l = (sinew_low_rank){0};
}
