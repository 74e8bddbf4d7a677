/* SPDX-License-Identifier: MIT
 *
 * schur.c: see schur.h.
 */
#include "solve/kkt/schur.h"

#include <stdlib.h>
#include <string.h>

#include "linear/factor/cholesky.h"

/* One row at one particle. */
typedef struct touch {
    int32_t row;
    size_t J; /* of the three numbers in rows->J */
} touch;

struct sinew_row_schur {
    sinew_allocator allocator;
    const sinew_saddle *saddle;
    int32_t block_count;        /* of three rows */
    int32_t spare_count, spare; /* places without a row, and the first of them */
    int32_t *place;             /* [row_count] scalar place of each row */
    int32_t *first;             /* [free_count + 1] into touches */
    touch *touches;             /* of each particle */
    int32_t *column, *at;       /* pattern of blocks: columns and rows */
    size_t *pair_at;  /* where each pair of touches of a particle adds, in order; both mirror images in a block */
    size_t *alpha_at; /* as rows->alpha */
    double *right;    /* [3 * block_count] */
    sinew_cholesky *cholesky;
};

/* ---- Pattern --------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef void touch_visit(sinew_row_schur *c, int32_t particle, const touch *t, int32_t *next);

static void count_touch(sinew_row_schur *c, int32_t particle, const touch *t, int32_t *next)
{
    (void)t;
    (void)next;
    c->first[particle + 1]++;
}

static void store_touch(sinew_row_schur *c, int32_t particle, const touch *t, int32_t *next)
{
    c->touches[next[particle]++] = *t;
}

static void visit_touches(sinew_row_schur *c, touch_visit *visit, int32_t *next)
{
    const sinew_constraints *rows = c->saddle->rows;
    for (int32_t t = 0; t < rows->set_count; t++) {
        const sinew_row_set *set = &rows->sets[t];
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->constraint_count; i++)
                for (int32_t a = 0; a < set->vertex_count; a++) {
                    const int32_t particle = sinew_row_particles(rows, set, e)[a];
                    const size_t J = (size_t)(sinew_row_jacobian(rows, set, e, i) - rows->J) + 3 * (size_t)a;
                    if (particle >= 0)
                        visit(c, c->saddle->assembly->free_index[particle], &(touch){sinew_row_of(set, e, i), J}, next);
                }
    }
}

static bool list_touches(sinew_row_schur *c)
{
    const size_t n = (size_t)c->saddle->free_count;
    c->first = sinew_allocate_zero(&c->allocator, n + 1, sizeof *c->first);
    int32_t *next = sinew_allocate(&c->allocator, n, sizeof *next);
    if (c->first && next) {
        visit_touches(c, count_touch, NULL);
        for (size_t k = 0; k < n; k++) {
            next[k] = c->first[k];
            c->first[k + 1] += c->first[k];
        }
        c->touches = sinew_allocate(&c->allocator, (size_t)c->first[n], sizeof *c->touches);
        if (c->touches)
            visit_touches(c, store_touch, next);
    }
    sinew_release(&c->allocator, next);
    return c->touches != NULL;
}

/* Pairs of touches, in the order that values are added in; the first is never before the second. */
static size_t count_pairs(const sinew_row_schur *c)
{
    size_t count = 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const size_t n = (size_t)(c->first[k + 1] - c->first[k]);
        count += n * (n + 1) / 2;
    }
    return count;
}

static size_t compliance_count(const sinew_constraints *rows)
{
    size_t count = 0;
    for (int32_t t = 0; t < rows->set_count; t++)
        count += (size_t)rows->sets[t].element_count * (size_t)rows->sets[t].constraint_count *
                 (size_t)rows->sets[t].constraint_count;
    return count;
}

/* Keys (column, row) of the lower triangle of blocks of three places; every diagonal block is among them. */
static size_t list_keys(const sinew_row_schur *c, int64_t *keys)
{
    const sinew_constraints *rows = c->saddle->rows;
    size_t count = 0;
    for (int32_t b = 0; b < c->block_count; b++)
        keys[count++] = (int64_t)b << 32 | b;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++) {
                const int32_t x = c->place[c->touches[i].row] / 3, y = c->place[c->touches[j].row] / 3;
                keys[count++] = (int64_t)(x < y ? x : y) << 32 | (x < y ? y : x);
            }
    for (int32_t t = 0; t < rows->set_count; t++)
        for (int32_t e = 0; e < rows->sets[t].element_count; e++)
            for (int32_t i = 0; i < rows->sets[t].constraint_count; i++)
                for (int32_t j = 0; j <= i; j++) {
                    const int32_t x = c->place[sinew_row_of(&rows->sets[t], e, i)] / 3;
                    const int32_t y = c->place[sinew_row_of(&rows->sets[t], e, j)] / 3;
                    keys[count++] = (int64_t)(x < y ? x : y) << 32 | (x < y ? y : x);
                }
    qsort(keys, count, sizeof *keys, compare_keys);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (used == 0 || keys[i] != keys[used - 1])
            keys[used++] = keys[i];
    return used;
}

static void fill_columns(sinew_row_schur *c, const int64_t *keys, size_t count)
{
    memset(c->column, 0, ((size_t)c->block_count + 1) * sizeof *c->column);
    for (size_t k = 0; k < count; k++) {
        c->column[(keys[k] >> 32) + 1]++;
        c->at[k] = (int32_t)(keys[k] & 0xffffffff);
    }
    for (int32_t b = 0; b < c->block_count; b++)
        c->column[b + 1] += c->column[b];
}

/* The pattern, in the order in which it fills in least. */
static sinew_status build_blocks(sinew_row_schur *c, sinew_error *error)
{
    const sinew_allocator *a = &c->allocator;
    const size_t most = (size_t)c->block_count + count_pairs(c) + compliance_count(c->saddle->rows);
    int64_t *keys = sinew_allocate(a, most, sizeof *keys);
    int32_t *order = sinew_allocate(a, (size_t)c->block_count, sizeof *order);
    int32_t *rank = sinew_allocate(a, (size_t)c->block_count, sizeof *rank);
    c->column = sinew_allocate(a, (size_t)c->block_count + 1, sizeof *c->column);
    c->at = sinew_allocate(a, most, sizeof *c->at);
    sinew_status status =
        keys && order && rank && c->column && c->at ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
    if (status == SINEW_OK) {
        fill_columns(c, keys, list_keys(c, keys));
        status = sinew_fill_reducing_order(a, c->block_count, c->column, c->at, NULL, order, error);
    }
    if (status == SINEW_OK) {
        for (int32_t b = 0; b < c->block_count; b++)
            rank[order[b]] = b;
        for (int32_t row = 0; row < c->saddle->rows->row_count; row++)
            c->place[row] = 3 * rank[c->place[row] / 3] + c->place[row] % 3;
        if (c->spare_count > 0)
            c->spare = 3 * rank[c->spare / 3] + c->spare % 3;
        fill_columns(c, keys, list_keys(c, keys));
    }
    sinew_release(a, keys);
    sinew_release(a, order);
    sinew_release(a, rank);
    return status;
}

/* Where the number of two places lies among the values of cholesky.h. */
static size_t entry_of(const sinew_row_schur *c, int32_t x, int32_t y)
{
    const int32_t row = x > y ? x : y, other = x > y ? y : x, j = other / 3;
    const size_t first = (size_t)c->column[j], blocks = (size_t)c->column[j + 1] - first;
    size_t k = 0;
    while (c->at[first + k] != row / 3)
        k++;
    return 9 * first + 3 * blocks * (size_t)(other % 3) + 3 * k + (size_t)(row % 3);
}

static bool map_entries(sinew_row_schur *c)
{
    const sinew_constraints *rows = c->saddle->rows;
    c->pair_at = sinew_allocate(&c->allocator, count_pairs(c), sizeof *c->pair_at);
    c->alpha_at = sinew_allocate(&c->allocator, compliance_count(rows), sizeof *c->alpha_at);
    c->right = sinew_allocate_zero(&c->allocator, 3 * (size_t)c->block_count, sizeof *c->right);
    if (!c->pair_at || !c->alpha_at || !c->right)
        return false;
    size_t *at = c->pair_at;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++)
                *at++ = entry_of(c, c->place[c->touches[i].row], c->place[c->touches[j].row]);
    for (int32_t t = 0; t < rows->set_count; t++) {
        const sinew_row_set *set = &rows->sets[t];
        const int32_t m = set->constraint_count;
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < m * m; i++)
                c->alpha_at[set->compliance_at + (size_t)(e * m * m + i)] =
                    entry_of(c, c->place[sinew_row_of(set, e, i / m)], c->place[sinew_row_of(set, e, i % m)]);
    }
    return true;
}

/* Rows by the places that the saddle gives them: neighbours share blocks. */
static bool place_rows(sinew_row_schur *c)
{
    const int32_t count = c->saddle->rows->row_count;
    int64_t *keys = sinew_allocate(&c->allocator, (size_t)count, sizeof *keys);
    c->place = sinew_allocate(&c->allocator, (size_t)count, sizeof *c->place);
    if (keys && c->place) {
        for (int32_t r = 0; r < count; r++)
            keys[r] = (int64_t)c->saddle->row_place[r] << 32 | r;
        qsort(keys, (size_t)count, sizeof *keys, compare_keys);
        for (int32_t k = 0; k < count; k++)
            c->place[keys[k] & 0xffffffff] = k;
    }
    sinew_release(&c->allocator, keys);
    return keys && c->place;
}

sinew_row_schur *sinew_row_schur_create(const sinew_saddle *saddle, sinew_error *error)
{
    sinew_row_schur *c = sinew_allocate_zero(&saddle->allocator, 1, sizeof *c);
    if (!c) {
        sinew_fail_memory(error, "the Schur complement");
        return NULL;
    }
    c->allocator = saddle->allocator;
    c->saddle = saddle;
    c->block_count = (saddle->rows->row_count + 2) / 3;
    c->spare = saddle->rows->row_count;
    c->spare_count = 3 * c->block_count - c->spare;
    sinew_status status =
        place_rows(c) && list_touches(c) ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
    if (status == SINEW_OK && c->block_count > 0)
        status = build_blocks(c, error);
    if (status == SINEW_OK && c->block_count > 0) {
        status = map_entries(c) ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
        if (status == SINEW_OK)
            c->cholesky =
                sinew_cholesky_create(&c->allocator, sinew_lanes()->dense, c->block_count, c->column, c->at, error);
    }
    if (status == SINEW_OK && (c->cholesky || c->block_count == 0))
        return c;
    sinew_row_schur_destroy(c);
    return NULL;
}

void sinew_row_schur_destroy(sinew_row_schur *c)
{
    if (!c)
        return;
    const sinew_allocator allocator = c->allocator;
    sinew_cholesky_destroy(c->cholesky);
    void *arrays[] = {c->place, c->first, c->touches, c->column, c->at, c->pair_at, c->alpha_at, c->right, c};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* h^2 / m of a free particle. */
static double inverse_of(const sinew_row_schur *c, int32_t k)
{
    const sinew_objective *o = c->saddle->rest;
    return o->h * o->h / (double)o->mass[c->saddle->assembly->particle[k]];
}

/* Diagonal blocks hold both mirror images. */
static void add_entry(const sinew_row_schur *c, double *values, size_t at, int32_t x, int32_t y, double v)
{
    values[at] += v;
    if (x / 3 != y / 3 || x == y)
        return;
    const size_t first = (size_t)c->column[x / 3], stride = 3 * ((size_t)c->column[x / 3 + 1] - first);
    const size_t high = (size_t)(x > y ? x : y) % 3, low = (size_t)(x > y ? y : x) % 3;
    values[9 * first + stride * high + low] += v;
}

static void add_masses(const sinew_row_schur *c, const uint8_t *active, double *values)
{
    const double *J = c->saddle->rows->J;
    const size_t *at = c->pair_at;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const double inverse = inverse_of(c, k);
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++, at++) {
                const touch *x = &c->touches[i], *y = &c->touches[j];
                const double *a = J + x->J, *b = J + y->J;
                /* A particle that one row has twice stands for both orders of its two touches. */
                const double twice = i != j && x->row == y->row ? 2 : 1;
                if (active[x->row] && active[y->row])
                    add_entry(c, values, *at, c->place[x->row], c->place[y->row],
                              twice * inverse * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
            }
    }
}

static void add_compliances(const sinew_row_schur *c, const uint8_t *active, double *values)
{
    const sinew_constraints *rows = c->saddle->rows;
    for (int32_t t = 0; t < rows->set_count; t++) {
        const sinew_row_set *set = &rows->sets[t];
        const int32_t m = set->constraint_count;
        for (int32_t e = 0; e < (set->whole ? set->element_count > 0 : set->element_count); e++)
            for (int32_t i = 0; i < m; i++)
                for (int32_t j = 0; j <= i; j++) {
                    const int32_t x = sinew_row_of(set, e, i), y = sinew_row_of(set, e, j);
                    const double alpha = active[x] && active[y] ? sinew_row_compliance(rows, set, e, i, j) : i == j;
                    add_entry(c, values, c->alpha_at[set->compliance_at + (size_t)((e * m + i) * m + j)], c->place[x],
                              c->place[y], alpha);
                }
    }
}

static void fill_schur(const sinew_row_schur *c, const uint8_t *active)
{
    double *values = sinew_cholesky_values(c->cholesky);
    memset(values, 0, 9 * (size_t)c->column[c->block_count] * sizeof *values);
    add_masses(c, active, values);
    add_compliances(c, active, values);
    /* Places without a row, to fill up the last block, are unknowns by themselves. */
    for (int32_t k = 0; k < c->spare_count; k++)
        values[entry_of(c, c->spare + k, c->spare + k)] = 1;
}

/* right = b - J A^-1 a, zero in rows that are left out */
static void gather_right(const sinew_row_schur *c, const uint8_t *active, const double *a, const double *b)
{
    const sinew_constraints *rows = c->saddle->rows;
    memset(c->right, 0, 3 * (size_t)c->block_count * sizeof *c->right);
    for (int32_t r = 0; r < rows->row_count; r++)
        c->right[c->place[r]] = active[r] ? b[r] : 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const double inverse = inverse_of(c, k);
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++) {
            const touch *t = &c->touches[i];
            for (size_t e = 0; e < 3 && active[t->row]; e++)
                c->right[c->place[t->row]] -= inverse * rows->J[t->J + e] * a[3 * (size_t)k + e];
        }
    }
}

bool sinew_row_schur_solve(sinew_row_schur *c, const uint8_t *active, const double *a, const double *b, double *dq,
                           double *y)
{
    const sinew_constraints *rows = c->saddle->rows;
    if (c->block_count > 0) {
        fill_schur(c, active);
        if (sinew_cholesky_factorise(c->cholesky, 0, NULL) != SINEW_OK)
            return false;
        gather_right(c, active, a, b);
        sinew_cholesky_solve(c->cholesky, c->right, c->right);
    }
    for (int32_t r = 0; r < rows->row_count; r++)
        y[r] = active[r] ? c->right[c->place[r]] : 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (size_t e = 0; e < 3; e++) {
            double sum = a[3 * (size_t)k + e];
            for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
                sum += rows->J[c->touches[i].J + e] * y[c->touches[i].row];
            dq[3 * (size_t)k + e] = inverse_of(c, k) * sum;
        }
    return true;
}
