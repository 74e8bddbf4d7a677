/* SPDX-License-Identifier: MIT
 *
 * schur.c: assembles and solves the Schur complement S of the multipliers. See schur.h.
 */
#include "solve/kkt/schur.h"

#include <string.h>

#include "base/sort.h"
#include "linear/factor/cholesky.h"
#include "math/vec3.h"

/* One vertex of a constraint: its particle's three entries of the Jacobian row. */
typedef struct incidence {
    int32_t constraint;
    size_t J; /* offset in constraints->J of the three entries of this vertex */
} incidence;

struct sinew_schur {
    sinew_allocator allocator;
    const sinew_saddle *saddle;
    int32_t block_count;        /* number of block rows of the Schur complement S, three constraints each */
    int32_t spare_count, spare; /* number of padding rows of the Schur complement S, and the first of them */
    int32_t *slot;              /* [constraint_count] row of each constraint in the Schur complement S */
    int32_t *first;             /* [free_count + 1] index of each particle's first entry in incidences */
    incidence *incidences;      /* [first[free_count]] vertices of constraints, sorted by particle */
    /* pattern of the Schur complement: [block_count + 1] index of each block column's first block;
     * [column[block_count]] block row of each block */
    int32_t *column, *at;
    /* index in the values of the Schur complement S of each pair of incidences at a particle, in the order of
     * summation */
    size_t *pair_at;
    size_t *alpha_at; /* [numbers of constraints->alpha] index of each in the values of the Schur complement S */
    /* [3 * block_count] right-hand side, then solution, of the system with the Schur complement S */
    double *right;
    sinew_cholesky *cholesky;
};

/* ---- Pattern of the Schur complement S ------------------------------------------------------- */

static int schur_compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef void incidence_visitor(sinew_schur *c, int32_t particle, const incidence *t, int32_t *next);

static void count_incidence(sinew_schur *c, int32_t particle, const incidence *t, int32_t *next)
{
    (void)t;
    (void)next;
    c->first[particle + 1]++;
}

static void store_incidence(sinew_schur *c, int32_t particle, const incidence *t, int32_t *next)
{
    c->incidences[next[particle]++] = *t;
}

static void visit_incidences(sinew_schur *c, incidence_visitor *visit, int32_t *next)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    for (int32_t t = 0; t < constraints->set_count; t++) {
        const sinew_constraint_set *set = &constraints->sets[t];
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->per_element; i++)
                for (int32_t a = 0; a < set->vertex_count; a++) {
                    const int32_t particle = sinew_constraint_particles(constraints, set, e)[a];
                    const size_t J =
                        (size_t)(sinew_constraint_jacobian(constraints, set, e, i) - constraints->J) + 3 * (size_t)a;
                    if (particle >= 0)
                        visit(c, c->saddle->assembly->free_index[particle],
                              &(incidence){sinew_constraint_index(set, e, i), J}, next);
                }
    }
}

static bool list_incidences(sinew_schur *c)
{
    const size_t n = (size_t)c->saddle->free_count;
    c->first = sinew_allocate_zero(&c->allocator, n + 1, sizeof *c->first);
    int32_t *next = sinew_allocate(&c->allocator, n, sizeof *next);
    if (c->first && next) {
        visit_incidences(c, count_incidence, NULL);
        for (size_t k = 0; k < n; k++) {
            next[k] = c->first[k];
            c->first[k + 1] += c->first[k];
        }
        c->incidences = sinew_allocate(&c->allocator, (size_t)c->first[n], sizeof *c->incidences);
        if (c->incidences)
            visit_incidences(c, store_incidence, next);
    }
    sinew_release(&c->allocator, next);
    return c->incidences != NULL;
}

/* Number of pairs of incidences (i, j) with j <= i at the same particle, over all particles. */
static size_t count_pairs(const sinew_schur *c)
{
    size_t count = 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const size_t n = (size_t)(c->first[k + 1] - c->first[k]);
        count += n * (n + 1) / 2;
    }
    return count;
}

static size_t compliance_count(const sinew_constraints *constraints)
{
    size_t count = 0;
    for (int32_t t = 0; t < constraints->set_count; t++)
        count += (size_t)constraints->sets[t].element_count * (size_t)constraints->sets[t].per_element *
                 (size_t)constraints->sets[t].per_element;
    return count;
}

/* Writes keys (column, row) of the lower triangle of the Schur complement S in blocks of three rows, with all
 * diagonal blocks. Returns the number of distinct keys. */
static size_t list_keys(const sinew_schur *c, int64_t *keys)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    size_t count = 0;
    for (int32_t b = 0; b < c->block_count; b++)
        keys[count++] = (int64_t)b << 32 | b;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++) {
                const int32_t x = c->slot[c->incidences[i].constraint] / 3,
                              y = c->slot[c->incidences[j].constraint] / 3;
                keys[count++] = (int64_t)(x < y ? x : y) << 32 | (x < y ? y : x);
            }
    for (int32_t t = 0; t < constraints->set_count; t++)
        for (int32_t e = 0; e < constraints->sets[t].element_count; e++)
            for (int32_t i = 0; i < constraints->sets[t].per_element; i++)
                for (int32_t j = 0; j <= i; j++) {
                    const int32_t x = c->slot[sinew_constraint_index(&constraints->sets[t], e, i)] / 3;
                    const int32_t y = c->slot[sinew_constraint_index(&constraints->sets[t], e, j)] / 3;
                    keys[count++] = (int64_t)(x < y ? x : y) << 32 | (x < y ? y : x);
                }
    sinew_sort(keys, count, sizeof *keys, schur_compare_keys);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (used == 0 || keys[i] != keys[used - 1])
            keys[used++] = keys[i];
    return used;
}

static void schur_fill_columns(sinew_schur *c, const int64_t *keys, size_t count)
{
    memset(c->column, 0, ((size_t)c->block_count + 1) * sizeof *c->column);
    for (size_t k = 0; k < count; k++) {
        c->column[(keys[k] >> 32) + 1]++;
        c->at[k] = (int32_t)(keys[k] & 0xffffffff);
    }
    for (int32_t b = 0; b < c->block_count; b++)
        c->column[b + 1] += c->column[b];
}

/* Builds the pattern of the Schur complement S in a fill-reducing order of its 3x3 blocks. */
static sinew_status build_blocks(sinew_schur *c, sinew_error *error)
{
    const sinew_allocator *a = &c->allocator;
    const size_t max = (size_t)c->block_count + count_pairs(c) + compliance_count(c->saddle->constraints);
    int64_t *keys = sinew_allocate(a, max, sizeof *keys);
    int32_t *order = sinew_allocate(a, (size_t)c->block_count, sizeof *order);
    int32_t *rank = sinew_allocate(a, (size_t)c->block_count, sizeof *rank);
    c->column = sinew_allocate(a, (size_t)c->block_count + 1, sizeof *c->column);
    c->at = sinew_allocate(a, max, sizeof *c->at);
    sinew_status status =
        keys && order && rank && c->column && c->at ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
    if (status == SINEW_OK) {
        schur_fill_columns(c, keys, list_keys(c, keys));
        status = sinew_fill_reducing_order(a, c->block_count, c->column, c->at, NULL, order, error);
    }
    if (status == SINEW_OK) {
        for (int32_t b = 0; b < c->block_count; b++)
            rank[order[b]] = b;
        for (int32_t constraint = 0; constraint < c->saddle->constraints->constraint_count; constraint++)
            c->slot[constraint] = 3 * rank[c->slot[constraint] / 3] + c->slot[constraint] % 3;
        if (c->spare_count > 0)
            c->spare = 3 * rank[c->spare / 3] + c->spare % 3;
        schur_fill_columns(c, keys, list_keys(c, keys));
    }
    sinew_release(a, keys);
    sinew_release(a, order);
    sinew_release(a, rank);
    return status;
}

/* Index of entry (x, y) of the Schur complement S in the values of linear/factor/cholesky.h. */
static size_t entry_of(const sinew_schur *c, int32_t x, int32_t y)
{
    const int32_t row = x > y ? x : y, other = x > y ? y : x, j = other / 3;
    const size_t first = (size_t)c->column[j], blocks = (size_t)c->column[j + 1] - first;
    size_t k = 0;
    while (c->at[first + k] != row / 3)
        k++;
    return 9 * first + 3 * blocks * (size_t)(other % 3) + 3 * k + (size_t)(row % 3);
}

static bool map_entries(sinew_schur *c)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    c->pair_at = sinew_allocate(&c->allocator, count_pairs(c), sizeof *c->pair_at);
    c->alpha_at = sinew_allocate(&c->allocator, compliance_count(constraints), sizeof *c->alpha_at);
    c->right = sinew_allocate_zero(&c->allocator, 3 * (size_t)c->block_count, sizeof *c->right);
    if (!c->pair_at || !c->alpha_at || !c->right)
        return false;
    size_t *at = c->pair_at;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++)
                *at++ = entry_of(c, c->slot[c->incidences[i].constraint], c->slot[c->incidences[j].constraint]);
    for (int32_t t = 0; t < constraints->set_count; t++) {
        const sinew_constraint_set *set = &constraints->sets[t];
        const int32_t m = set->per_element;
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < m * m; i++)
                c->alpha_at[set->compliance_at + (size_t)(e * m * m + i)] = entry_of(
                    c, c->slot[sinew_constraint_index(set, e, i / m)], c->slot[sinew_constraint_index(set, e, i % m)]);
    }
    return true;
}

/* Assigns rows of the Schur complement S to constraints in the elimination order of the saddle-point system, so that
 * neighbours share 3x3 blocks. */
static bool assign_slots(sinew_schur *c)
{
    const int32_t count = c->saddle->constraints->constraint_count;
    int64_t *keys = sinew_allocate(&c->allocator, (size_t)count, sizeof *keys);
    c->slot = sinew_allocate(&c->allocator, (size_t)count, sizeof *c->slot);
    if (keys && c->slot) {
        for (int32_t r = 0; r < count; r++)
            keys[r] = (int64_t)c->saddle->multiplier_unknown[r] << 32 | r;
        sinew_sort(keys, (size_t)count, sizeof *keys, schur_compare_keys);
        for (int32_t k = 0; k < count; k++)
            c->slot[keys[k] & 0xffffffff] = k;
    }
    sinew_release(&c->allocator, keys);
    return keys && c->slot;
}

sinew_schur *sinew_schur_create(const sinew_saddle *saddle, sinew_error *error)
{
    sinew_schur *c = sinew_allocate_zero(&saddle->allocator, 1, sizeof *c);
    if (!c) {
        sinew_fail_memory(error, "the Schur complement");
        return NULL;
    }
    c->allocator = saddle->allocator;
    c->saddle = saddle;
    c->block_count = (saddle->constraints->constraint_count + 2) / 3;
    c->spare = saddle->constraints->constraint_count;
    c->spare_count = 3 * c->block_count - c->spare;
    sinew_status status =
        assign_slots(c) && list_incidences(c) ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
    if (status == SINEW_OK && c->block_count > 0)
        status = build_blocks(c, error);
    if (status == SINEW_OK && c->block_count > 0) {
        status = map_entries(c) ? SINEW_OK : sinew_fail_memory(error, "the Schur complement");
        if (status == SINEW_OK)
            c->cholesky =
                sinew_cholesky_create(&c->allocator, sinew_simd()->dense, c->block_count, c->column, c->at, error);
    }
    if (status == SINEW_OK && (c->cholesky || c->block_count == 0))
        return c;
    sinew_schur_destroy(c);
    return NULL;
}

void sinew_schur_destroy(sinew_schur *c)
{
    if (!c)
        return;
    const sinew_allocator allocator = c->allocator;
    sinew_cholesky_destroy(c->cholesky);
    void *arrays[] = {c->slot, c->first, c->incidences, c->column, c->at, c->pair_at, c->alpha_at, c->right, c};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

/* ---- Values of the Schur complement S -------------------------------------------------------- */

/* h^2 / m of free particle k: its diagonal entry of A^-1. */
static double inverse_mass(const sinew_schur *c, int32_t k)
{
    const sinew_objective *o = c->saddle->rest;
    return o->step.h * o->step.h / (double)o->step.mass[c->saddle->assembly->particle[k]];
}

/* Adds v to entry (x, y) of the Schur complement S, whose index in the values is `at`; diagonal blocks also store
 * the mirror image. */
static void add_entry(const sinew_schur *c, double *values, size_t at, int32_t x, int32_t y, double v)
{
    values[at] += v;
    if (x / 3 != y / 3 || x == y)
        return;
    const size_t first = (size_t)c->column[x / 3], stride = 3 * ((size_t)c->column[x / 3 + 1] - first);
    const size_t high = (size_t)(x > y ? x : y) % 3, low = (size_t)(x > y ? y : x) % 3;
    values[9 * first + stride * high + low] += v;
}

static void schur_add_masses(const sinew_schur *c, const uint8_t *active, double *values)
{
    const double *J = c->saddle->constraints->J;
    const size_t *at = c->pair_at;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const double inverse = inverse_mass(c, k);
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
            for (int32_t j = c->first[k]; j <= i; j++, at++) {
                const incidence *x = &c->incidences[i], *y = &c->incidences[j];
                const double *a = J + x->J, *b = J + y->J;
                /* A particle that occurs twice in a constraint contributes both orders of its two incidences. */
                const double twice = i != j && x->constraint == y->constraint ? 2 : 1;
                if (active[x->constraint] && active[y->constraint])
                    add_entry(c, values, *at, c->slot[x->constraint], c->slot[y->constraint],
                              twice * inverse * vec3_dot(a, b));
            }
    }
}

static void add_compliances(const sinew_schur *c, const uint8_t *active, double *values)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    for (int32_t t = 0; t < constraints->set_count; t++) {
        const sinew_constraint_set *set = &constraints->sets[t];
        const int32_t m = set->per_element;
        for (int32_t e = 0; e < (set->global ? set->element_count > 0 : set->element_count); e++)
            for (int32_t i = 0; i < m; i++)
                for (int32_t j = 0; j <= i; j++) {
                    const int32_t x = sinew_constraint_index(set, e, i), y = sinew_constraint_index(set, e, j);
                    const double alpha =
                        active[x] && active[y] ? sinew_constraint_compliance(constraints, set, e, i, j) : i == j;
                    add_entry(c, values, c->alpha_at[set->compliance_at + (size_t)((e * m + i) * m + j)], c->slot[x],
                              c->slot[y], alpha);
                }
    }
}

static void fill_schur(const sinew_schur *c, const uint8_t *active)
{
    double *values = sinew_cholesky_values(c->cholesky);
    memset(values, 0, 9 * (size_t)c->column[c->block_count] * sizeof *values);
    schur_add_masses(c, active, values);
    add_compliances(c, active, values);
    /* Padding rows of the Schur complement, which complete the last block of three constraints, have a unit
     * diagonal. */
    for (int32_t k = 0; k < c->spare_count; k++)
        values[entry_of(c, c->spare + k, c->spare + k)] = 1;
}

/* Right-hand side of the multipliers: c->right = b - J A^-1 a, from the right-hand sides a of particles and b of
 * constraints (Jacobian J, particle block A); zero for inactive constraints. */
static void schur_gather_right(const sinew_schur *c, const uint8_t *active, const double *a, const double *b)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    memset(c->right, 0, 3 * (size_t)c->block_count * sizeof *c->right);
    for (int32_t r = 0; r < constraints->constraint_count; r++)
        c->right[c->slot[r]] = active[r] ? b[r] : 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++) {
        const double inverse = inverse_mass(c, k);
        for (int32_t i = c->first[k]; i < c->first[k + 1]; i++) {
            const incidence *t = &c->incidences[i];
            for (size_t e = 0; e < 3 && active[t->constraint]; e++)
                c->right[c->slot[t->constraint]] -= inverse * constraints->J[t->J + e] * a[3 * (size_t)k + e];
        }
    }
}

bool sinew_schur_solve(sinew_schur *c, const uint8_t *active, const double *a, const double *b, double *dq, double *y)
{
    const sinew_constraints *constraints = c->saddle->constraints;
    if (c->block_count > 0) {
        fill_schur(c, active);
        if (sinew_cholesky_factorise(c->cholesky, 0, NULL) != SINEW_OK)
            return false;
        schur_gather_right(c, active, a, b);
        sinew_cholesky_solve(c->cholesky, c->right, c->right);
    }
    for (int32_t r = 0; r < constraints->constraint_count; r++)
        y[r] = active[r] ? c->right[c->slot[r]] : 0;
    for (int32_t k = 0; k < c->saddle->free_count; k++)
        for (size_t e = 0; e < 3; e++) {
            double sum = a[3 * (size_t)k + e];
            for (int32_t i = c->first[k]; i < c->first[k + 1]; i++)
                sum += constraints->J[c->incidences[i].J + e] * y[c->incidences[i].constraint];
            dq[3 * (size_t)k + e] = inverse_mass(c, k) * sum;
        }
    return true;
}
