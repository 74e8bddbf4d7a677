/* SPDX-License-Identifier: MIT
 *
 * low_rank.c: see low_rank.h.
 */
#include "linear/factor/low_rank.h"

#include <math.h>
#include <string.h>

#include "linear/factor/prefactor_internal.h"

/* Rows of D that go through the factor together. */
#define QUAD 4

/* ---- Ways through the factor ----------------------------------------------------------------- */

/* The column that the first row below panel k belongs to, in the order of elimination; -1 where there is none. */
static int32_t row_above(const sinew_part *part, const sinew_panel *panel)
{
    if (panel->row_count == 0)
        return -1;
    const int32_t own = part->last - part->first, row = panel->rows[0];
    return row < own ? part->first + row : part->owed[row - own];
}

static void find_ways(sinew_low_rank *l, const sinew_prefactor *f)
{
    const sinew_part_tree *t = &f->tree;
    for (int32_t k = 0; k < f->n; k++)
        l->rank[f->order[k]] = k;
    for (int32_t p = 0; p < t->part_count; p++) {
        const sinew_part *part = &t->parts[p];
        for (int32_t k = part->panel_first; k < part->panel_first + part->panel_count; k++) {
            l->part_of[k] = p;
            for (int32_t c = 0; c < t->panels[k].column_count; c++)
                l->panel_of[part->first + t->panels[k].first + c] = k;
        }
    }
    for (int32_t k = 0; k < t->panel_count; k++) {
        const int32_t row = row_above(&t->parts[l->part_of[k]], &t->panels[k]);
        l->up[k] = row < 0 ? -1 : l->panel_of[row];
    }
}

static bool make_ways(sinew_low_rank *l, const sinew_prefactor *f)
{
    if (l->rank)
        return true;
    const size_t n = (size_t)f->n, panels = (size_t)f->tree.panel_count;
    const sinew_allocator *a = &f->allocator;
    sinew_low_rank_destroy(l, a); /* half made, without memory */
    l->panel_of = sinew_allocate(a, n, sizeof *l->panel_of);
    l->up = sinew_allocate(a, panels, sizeof *l->up);
    l->part_of = sinew_allocate(a, panels, sizeof *l->part_of);
    l->stamp = sinew_allocate(a, panels, sizeof *l->stamp);
    l->reached = sinew_allocate(a, panels, sizeof *l->reached);
    l->entered = sinew_allocate(a, (size_t)f->tree.part_count, sizeof *l->entered);
    if (!l->panel_of || !l->up || !l->part_of || !l->stamp || !l->reached || !l->entered)
        return false;
    l->rank = sinew_allocate(a, n, sizeof *l->rank);
    if (!l->rank)
        return false;
    find_ways(l, f);
    return true;
}

/* Ascending, by insertion: lists are short, or made of runs that are in order already. */
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

/* Row c of a quad; NULL beyond the last. */
static const sinew_low_row *row_of(const sinew_low_rank *l, const sinew_low_row *rows, int32_t quad, int c)
{
    const int32_t at = QUAD * quad + c;
    return at < l->count ? &rows[l->order[at] & 0xffffffff] : NULL;
}

/* Lists the panels that a quad's rows reach, ascending, in l->reached; returns how many. */
static int32_t reach(sinew_low_rank *l, const sinew_low_row *rows, const int32_t *index, int32_t quad)
{
    int32_t count = 0;
    for (int c = 0; c < QUAD; c++) {
        const sinew_low_row *row = row_of(l, rows, quad, c);
        for (int32_t e = 0; row && e < row->count; e++) {
            int32_t k = l->panel_of[l->rank[index[row->place[e]]]];
            for (; k >= 0 && l->stamp[k] != quad; k = l->up[k]) {
                l->stamp[k] = quad;
                l->reached[count++] = k;
            }
        }
    }
    sort_keys(l->reached, count);
    return count;
}

/* ---- V --------------------------------------------------------------------------------------- */

/* Rows by the first of their columns that is eliminated: neighbours share most of their way. */
static void sort_rows(sinew_low_rank *l, const sinew_low_row *rows, const int32_t *index)
{
    for (int32_t r = 0; r < l->count; r++) {
        int32_t least = INT32_MAX;
        for (int32_t e = 0; e < rows[r].count; e++) {
            const int32_t rank = l->rank[index[rows[r].place[e]]];
            least = rank < least ? rank : least;
        }
        l->order[r] = (int64_t)least << 32 | r;
    }
    sort_keys(l->order, l->taken);
    sort_keys(l->order + l->taken, l->count - l->taken);
}

/* Lays V out: which panels each quad reaches, and where their numbers are. */
static bool lay_out(sinew_low_rank *l, const sinew_prefactor *f, const sinew_low_row *rows, const int32_t *index)
{
    const sinew_allocator *a = &f->allocator;
    const int32_t quads = quad_count(l);
    size_t values = 0;
    if (!sinew_make_spare_room(a, &l->first, &l->first_room, (size_t)quads + 1, sizeof *l->first))
        return false;
    l->first[0] = 0;
    memset(l->stamp, 0xff, (size_t)f->tree.panel_count * sizeof *l->stamp);
    for (int32_t q = 0; q < quads; q++)
        l->first[q + 1] = l->first[q] + (size_t)reach(l, rows, index, q);
    if (!sinew_make_spare_room(a, &l->panel, &l->panel_room, l->first[quads], sizeof *l->panel) ||
        !sinew_make_spare_room(a, &l->start, &l->start_room, l->first[quads], sizeof *l->start))
        return false;
    memset(l->stamp, 0xff, (size_t)f->tree.panel_count * sizeof *l->stamp);
    for (int32_t q = 0; q < quads; q++) {
        const int32_t count = reach(l, rows, index, q);
        for (int32_t i = 0; i < count; i++) {
            l->panel[l->first[q] + (size_t)i] = (int32_t)l->reached[i];
            l->start[l->first[q] + (size_t)i] = values;
            values += QUAD * (size_t)f->tree.panels[l->reached[i]].column_count;
        }
    }
    return sinew_make_spare_room(a, &l->values, &l->value_room, values, sizeof *l->values);
}

/* A panel's own columns in the vector of its part. */
static sinew_real *vector_of(const sinew_low_rank *l, const sinew_prefactor *f, int32_t panel)
{
    return f->tree.parts[l->part_of[panel]].x + 4 * (size_t)f->tree.panels[panel].first;
}

static sinew_real *owed_of(const sinew_part *part)
{
    return part->x + 4 * (size_t)(part->last - part->first);
}

/* D^T |W|^(1/2) of a quad into the parts' vectors, as far as it reaches. Panels lie part by part. */
static void load_quad(sinew_low_rank *l, const sinew_prefactor *f, const sinew_low_row *rows, const int32_t *index,
                      int32_t quad, double scale)
{
    for (size_t i = l->first[quad]; i < l->first[quad + 1]; i++) {
        const int32_t k = l->panel[i];
        const sinew_part *part = &f->tree.parts[l->part_of[k]];
        memset(vector_of(l, f, k), 0, 4 * (size_t)f->tree.panels[k].column_count * sizeof(sinew_real));
        if (i == l->first[quad] || l->part_of[k] != l->part_of[l->panel[i - 1]])
            memset(owed_of(part), 0, 4 * ((size_t)part->owed_count + 1) * sizeof(sinew_real));
    }
    for (int c = 0; c < QUAD; c++) {
        const sinew_low_row *row = row_of(l, rows, quad, c);
        for (int32_t e = 0; row && e < row->count; e++) {
            const int32_t rank = l->rank[index[row->place[e]]];
            const sinew_part *part = &f->tree.parts[l->part_of[l->panel_of[rank]]];
            part->x[4 * (size_t)(rank - part->first) + (size_t)c] +=
                (sinew_real)(row->value[e] * sqrt(fabs(row->weight) * scale));
        }
    }
}

/* Adds what parts entered before owe to part p. */
static void take_owed(sinew_low_rank *l, const sinew_prefactor *f, int32_t p, int32_t entered)
{
    const sinew_part *own = &f->tree.parts[p];
    for (int32_t i = 0; i < entered; i++) {
        const sinew_part *below = &f->tree.parts[l->entered[i]];
        const sinew_real *from = owed_of(below);
        for (int32_t k = 0; below->parent == p && k < below->owed_count; k++)
            for (size_t c = 0; c < 4; c++)
                own->x[4 * (size_t)below->owed_place[k] + c] += from[4 * (size_t)k + c];
    }
}

/* V of a quad: L^-1 along its panels. Descendants have lower numbers, and own columns of a part follow all of its
 * children's. */
static void forward_quad(sinew_low_rank *l, const sinew_prefactor *f, int32_t quad)
{
    int32_t entered = 0;
    for (size_t i = l->first[quad]; i < l->first[quad + 1]; i++) {
        const int32_t k = l->panel[i], p = l->part_of[k], columns = f->tree.panels[k].column_count;
        if (i == l->first[quad] || p != l->part_of[l->panel[i - 1]]) {
            take_owed(l, f, p, entered);
            l->entered[entered++] = p;
        }
        f->kernels->forward(&f->tree.panels[k], 1, f->tree.parts[p].x);
        memcpy(l->values + l->start[i], vector_of(l, f, k), QUAD * (size_t)columns * sizeof *l->values);
    }
}

/* ---- C --------------------------------------------------------------------------------------- */

/* sums [4][4] = V_a^T V_b of two quads, over the panels that both reach */
static void multiply_quads(const sinew_low_rank *l, const sinew_prefactor *f, int32_t a, int32_t b, double sums[16])
{
    size_t i = l->first[a], j = l->first[b];
    memset(sums, 0, 16 * sizeof *sums);
    while (i < l->first[a + 1] && j < l->first[b + 1]) {
        if (l->panel[i] != l->panel[j]) {
            if (l->panel[i] < l->panel[j])
                i++;
            else
                j++;
            continue;
        }
        _Alignas(32) sinew_real part[16];
        f->kernels->gather(l->values + l->start[i++], f->tree.panels[l->panel[j]].column_count, l->values + l->start[j],
                           part);
        j++;
        for (int k = 0; k < 16; k++)
            sums[k] += (double)part[k];
    }
}

/* Entry (r, c), r >= c, of C: to the part of it that is made definite by a minus where both rows are taken away. */
static void put_entry(sinew_low_rank *l, int32_t r, int32_t c, double product)
{
    const size_t count = (size_t)l->count, added = (size_t)(l->count - l->taken), R = (size_t)r, C = (size_t)c;
    const double one = r == c ? 1 : 0;
    if (r < l->taken)
        l->taken_part[C * count + R] = one - product;
    else if (c < l->taken)
        l->taken_part[C * count + R] = product;
    else
        l->added_part[(C - (size_t)l->taken) * added + R - (size_t)l->taken] = one + product;
}

static void fill_products(sinew_low_rank *l, const sinew_prefactor *f)
{
    for (int32_t a = 0; a < quad_count(l); a++)
        for (int32_t b = 0; b <= a; b++) {
            double sums[16];
            multiply_quads(l, f, a, b, sums);
            for (int32_t k = 0; k < 16; k++) {
                const int32_t r = QUAD * a + k / 4, c = QUAD * b + k % 4;
                if (r < l->count && c <= r)
                    put_entry(l, r, c, sums[k]);
            }
        }
}

static bool make_small_room(sinew_low_rank *l, const sinew_allocator *a)
{
    const size_t count = (size_t)l->count, taken = (size_t)l->taken, added = count - taken;
    const size_t most = sinew_dense_round(count), wide = most > SINEW_DENSE_BLOCK ? most : SINEW_DENSE_BLOCK;
    return sinew_make_spare_room(a, &l->taken_part, &l->taken_room, taken * count + SINEW_DENSE_PAD, sizeof(double)) &&
           sinew_make_spare_room(a, &l->added_part, &l->added_room, added * added + SINEW_DENSE_PAD, sizeof(double)) &&
           sinew_make_spare_room(a, &l->product, &l->product_room, most * (taken > 0 ? wide : SINEW_DENSE_BLOCK),
                                 sizeof(double)) &&
           sinew_make_spare_room(a, &l->work, &l->work_room, sinew_dense_work(wide), sizeof(double)) &&
           sinew_make_spare_room(a, &l->sums, &l->sum_room, 3 * (most + QUAD), sizeof(double));
}

/* Whether enough is left of every pivot, which were 1 before anything was taken away. */
static bool enough_left(const sinew_low_rank *l)
{
    const double least = sizeof(sinew_real) == 4 ? 1e-3 : 1e-8;
    for (size_t j = 0; j < (size_t)l->taken; j++) {
        const double pivot = l->taken_part[j * (size_t)l->count + j];
        if (!(pivot * pivot >= least))
            return false;
    }
    return true;
}

/* C = [-N X^T; X P] with N = L1 L1^T, X = L2 L1^T, P + L2 L2^T = L3 L3^T. */
static bool factorise_small(sinew_low_rank *l, const sinew_dense_kernels *dense)
{
    const int32_t added = l->count - l->taken;
    if (l->taken > 0) {
        if (dense->factorise(l->count, l->taken, l->taken_part, NULL, l->product, l->work) >= 0 || !enough_left(l))
            return false;
        dense->product(added, added, l->taken, l->taken_part + l->taken, (size_t)l->count, NULL, l->product, l->work);
        const size_t stride = sinew_dense_round((size_t)added);
        for (size_t c = 0; c < (size_t)added; c++)
            for (size_t r = c; r < (size_t)added; r++)
                l->added_part[c * (size_t)added + r] += l->product[c * stride + r];
    }
    return dense->factorise(added, added, l->added_part, NULL, l->product, l->work) < 0;
}

/* w = C^-1 w */
static void solve_small(const sinew_low_rank *l, const sinew_dense_kernels *dense, double *w)
{
    const int32_t taken = l->taken, added = l->count - taken;
    for (int32_t i = 0; i < taken; i++)
        w[i] = -w[i];
    dense->forward(l->count, taken, l->taken_part, w);
    dense->forward(added, added, l->added_part, w + taken);
    dense->backward(added, added, l->added_part, w + taken);
    if (taken == 0)
        return;
    for (int32_t i = taken; i < l->count; i++)
        w[i] = -w[i];
    dense->backward(l->count, taken, l->taken_part, w);
    for (int32_t i = taken; i < l->count; i++)
        w[i] = -w[i];
}

/* ---- Set and solve --------------------------------------------------------------------------- */

sinew_status sinew_low_rank_set(sinew_low_rank *l, sinew_prefactor *f, const sinew_low_row *rows, int32_t taken,
                                int32_t count, const int32_t *index, double scale, sinew_error *error)
{
    l->taken = l->count = 0;
    if (count == 0)
        return SINEW_OK;
    if (!make_ways(l, f))
        return sinew_fail_memory(error, "changes of the prefactored matrix");
    sinew_status status = SINEW_ERROR_MEMORY;
    l->taken = taken;
    l->count = count;
    if (sinew_make_spare_room(&f->allocator, &l->order, &l->order_room, (size_t)count, sizeof *l->order) &&
        make_small_room(l, &f->allocator)) {
        sort_rows(l, rows, index);
        status = lay_out(l, f, rows, index) ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    for (int32_t q = 0; status == SINEW_OK && q < quad_count(l); q++) {
        load_quad(l, f, rows, index, q, scale);
        forward_quad(l, f, q);
    }
    if (status == SINEW_OK) {
        fill_products(l, f);
        status = factorise_small(l, f->dense) ? SINEW_OK : SINEW_ERROR_NUMERIC;
    }
    if (status == SINEW_OK)
        return SINEW_OK;
    l->taken = l->count = 0;
    return status == SINEW_ERROR_MEMORY
               ? sinew_fail_memory(error, "changes of the prefactored matrix")
               : sinew_fail(error, status, "the system matrix, less what was taken away, is not positive definite");
}

/* sums [3][count] = V^T y, y in the parts' vectors */
static void gather_sums(const sinew_low_rank *l, const sinew_prefactor *f)
{
    for (int32_t q = 0; q < quad_count(l); q++) {
        double sums[16] = {0};
        for (size_t i = l->first[q]; i < l->first[q + 1]; i++) {
            _Alignas(32) sinew_real part[16];
            f->kernels->gather(l->values + l->start[i], f->tree.panels[l->panel[i]].column_count,
                               vector_of(l, f, l->panel[i]), part);
            for (int k = 0; k < 16; k++)
                sums[k] += (double)part[k];
        }
        for (int32_t r = QUAD * q; r < QUAD * (q + 1) && r < l->count; r++)
            for (int32_t c = 0; c < 3; c++)
                l->sums[c * l->count + r] = sums[4 * (r % QUAD) + c];
    }
}

/* y -= V sums */
static void spread_sums(const sinew_low_rank *l, const sinew_prefactor *f)
{
    for (int32_t q = 0; q < quad_count(l); q++) {
        _Alignas(32) sinew_real a[16] = {0};
        for (int32_t r = QUAD * q; r < QUAD * (q + 1) && r < l->count; r++)
            for (int32_t c = 0; c < 3; c++)
                a[4 * (r % QUAD) + c] = (sinew_real)l->sums[c * l->count + r];
        for (size_t i = l->first[q]; i < l->first[q + 1]; i++)
            f->kernels->spread(l->values + l->start[i], f->tree.panels[l->panel[i]].column_count, a,
                               vector_of(l, f, l->panel[i]));
    }
}

void sinew_low_rank_solve(sinew_low_rank *l, sinew_prefactor *f, const int32_t *place, const sinew_real *b,
                          sinew_real *x)
{
    if (l->count == 0) {
        sinew_prefactor_solve(f, place, b, x);
        return;
    }
    sinew_prefactor_forward(f, place, b);
    gather_sums(l, f);
    for (int32_t c = 0; c < 3; c++)
        solve_small(l, f->dense, l->sums + c * l->count);
    spread_sums(l, f);
    sinew_prefactor_backward(f, place, x);
}

void sinew_low_rank_destroy(sinew_low_rank *l, const sinew_allocator *allocator)
{
    void *arrays[] = {l->rank,       l->panel_of,   l->up,      l->part_of, l->stamp, l->reached,
                      l->entered,    l->order,      l->first,   l->panel,   l->start, l->values,
                      l->taken_part, l->added_part, l->product, l->work,    l->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *l = (sinew_low_rank){0};
}
