/* SPDX-License-Identifier: MIT
 *
 * second_level.c: groups of aggregates, their matrix R^T A R, and solves with A. See second_level.h.
 */
#include "solve/coarse/second_level.h"

#include <string.h>

#include "base/sort.h"
#include "base/tasks.h"
#include "objective/coarse/aggregates.h"

enum {
    NUMBERS = SINEW_COARSE_NUMBERS,
    WEIGHTS = SINEW_MODES * SINEW_MODES,
    ITERATIONS = 200 /* upper limit of conjugate gradient iterations per coarse solve */
};
#define TOLERANCE 1e-4 /* relative residual at which the conjugate gradients of a coarse solve end */

/* ---- Groups of aggregates that form the second level --------------------------------------------- */

static void list_links(sinew_second_level *u)
{
    const sinew_coarse_matrix *m = &u->lower;
    memset(u->first_link, 0, ((size_t)m->count + 1) * sizeof *u->first_link);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < m->count; j++)
            for (int32_t k = m->column[j]; k < m->column[j + 1]; k++) {
                const int32_t i = m->row[k];
                if (pass == 0) {
                    u->first_link[i + 1]++;
                    u->first_link[j + 1] += i != j;
                    continue;
                }
                u->links[u->first_link[i]++] = (sinew_coarse_link){j, k, false};
                if (i != j)
                    u->links[u->first_link[j]++] = (sinew_coarse_link){i, k, true};
            }
        for (int32_t j = 0; pass == 0 && j < m->count; j++)
            u->first_link[j + 1] += u->first_link[j];
    }
    memmove(u->first_link + 1, u->first_link, (size_t)m->count * sizeof *u->first_link);
    u->first_link[0] = 0;
}

/* The largest group adjacent to aggregate a, other than the group of a; -1: none. */
static int32_t largest_neighbour_group(const sinew_second_level *u, int32_t a, const int32_t *size)
{
    int32_t best = -1;
    for (size_t k = u->first_link[a]; k < u->first_link[a + 1]; k++) {
        const int32_t g = u->group[u->links[k].other];
        if (g >= 0 && g != u->group[a] && (best < 0 || size[g] > size[best]))
            best = g;
    }
    return best;
}

/* Grows a group of aggregates from `seed` breadth-first to at most `width` aggregates. queue [lower.count] receives
 * the aggregates. Returns the group's size. */
static int32_t grow_group(sinew_second_level *u, int32_t seed, int32_t number, int32_t width, int32_t *queue)
{
    int32_t count = 1;
    u->group[seed] = number;
    queue[0] = seed;
    for (int32_t next = 0; next < count; next++)
        for (size_t k = u->first_link[queue[next]]; k < u->first_link[queue[next] + 1] && count < width; k++) {
            const int32_t other = u->links[k].other;
            if (u->group[other] >= 0)
                continue;
            u->group[other] = number;
            queue[count++] = other;
        }
    return count;
}

/* Builds groups of about `width` aggregates, numbered in the order of their first aggregates; groups of less than a
 * quarter of `width` join a neighbour. Returns the number of groups. work [2 * lower.count]. */
static int32_t make_groups(sinew_second_level *u, int32_t width, int32_t *work)
{
    int32_t count = 0, *queue = work, *size = work + u->lower.count;
    memset(u->group, 0xff, (size_t)u->lower.count * sizeof *u->group);
    for (int32_t a = 0; a < u->lower.count; a++) {
        if (u->group[a] >= 0)
            continue;
        size[count] = grow_group(u, a, count, width, queue);
        int32_t into = -1;
        for (int32_t k = 0; size[count] < width / 4 && into < 0 && k < size[count]; k++)
            into = largest_neighbour_group(u, queue[k], size);
        for (int32_t k = 0; into >= 0 && k < size[count]; k++)
            u->group[queue[k]] = into;
        if (into >= 0)
            size[into] += size[count];
        else
            count++;
    }
    return count;
}

/* Computes the 4x4 block of the prolongation R from groups to aggregates, for each aggregate. The aggregate's basis
 * functions are orthonormal, so the entries of R are their inner products with the group's basis functions. */
static void compute_prolongation(sinew_second_level *u)
{
    const sinew_coarse_space *low = u->lower_space;
    for (int32_t a = 0; a < low->count; a++) {
        double *R = u->transfer + WEIGHTS * (size_t)a;
        memset(R, 0, WEIGHTS * sizeof *R);
        for (int32_t k = low->first_particle[a]; k < low->first_particle[a + 1]; k++)
            for (size_t e = 0; e < WEIGHTS; e++)
                R[e] += (double)low->basis[SINEW_MODES * (size_t)low->particle[k] + e / SINEW_MODES] *
                        (double)u->space.basis[SINEW_MODES * (size_t)low->particle[k] + e % SINEW_MODES];
    }
}

/* ---- Pattern of the second-level matrix ---------------------------------------------------------- */

typedef struct group_pair {
    int32_t column, row, member;
} group_pair;

static int second_level_compare_pairs(const void *a, const void *b)
{
    const group_pair *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static void second_level_fill_pattern(sinew_second_level *u, group_pair *list)
{
    const sinew_coarse_matrix *m = &u->lower;
    const int32_t count = m->column[m->count];
    int32_t block = 0, column = 0;
    for (int32_t j = 0; j < m->count; j++)
        for (int32_t k = m->column[j]; k < m->column[j + 1]; k++) {
            const int32_t a = u->group[m->row[k]], b = u->group[j];
            list[k] = (group_pair){a > b ? b : a, a > b ? a : b, 2 * k + (a < b)};
        }
    sinew_sort(list, (size_t)count, sizeof *list, second_level_compare_pairs);
    for (int32_t k = 0; k < count; k++) {
        if (k == 0 || list[k].column != list[k - 1].column || list[k].row != list[k - 1].row) {
            while (column <= list[k].column)
                u->column[column++] = block;
            u->row[block] = list[k].row;
            u->first_member[block++] = k;
        }
        u->members[k] = list[k].member;
    }
    u->column[u->space.count] = block;
    u->first_member[block] = count;
}

static bool make_pattern(sinew_second_level *u, const sinew_allocator *a)
{
    const size_t pairs = (size_t)u->lower.column[u->lower.count], count = (size_t)u->space.count;
    group_pair *list = sinew_allocate(a, pairs, sizeof *list);
    u->column = sinew_allocate(a, count + 1, sizeof *u->column);
    u->row = sinew_allocate(a, pairs, sizeof *u->row);
    u->first_member = sinew_allocate(a, pairs + 1, sizeof *u->first_member);
    u->members = sinew_allocate(a, pairs, sizeof *u->members);
    bool good = list && u->column && u->row && u->first_member && u->members;
    if (good) {
        second_level_fill_pattern(u, list);
        u->values = sinew_allocate(a, SINEW_PAIR_NUMBERS * (size_t)u->column[count], sizeof *u->values);
        u->second_x = sinew_allocate(a, NUMBERS * count, sizeof *u->second_x);
        good = u->values && u->second_x;
        u->matrix = (sinew_coarse_matrix){u->space.count, u->column, u->row, u->values};
    }
    sinew_release(a, list);
    return good;
}

sinew_status sinew_second_level_create(sinew_second_level *u, const sinew_objective *o,
                                       const sinew_coarse_matrix *lower, const sinew_coarse_space *lower_space,
                                       int32_t width, sinew_error *error)
{
    const sinew_allocator *a = &o->allocator;
    const size_t n = (size_t)lower->count, pairs = (size_t)lower->column[n];
    int32_t *work = sinew_allocate(a, 2 * n, sizeof *work);
    *u = (sinew_second_level){.lower = *lower, .lower_space = lower_space, .thread_count = o->thread_count};
    u->first_link = sinew_allocate(a, n + 1, sizeof *u->first_link);
    u->links = sinew_allocate(a, 2 * pairs, sizeof *u->links);
    u->group = sinew_allocate(a, n, sizeof *u->group);
    u->transfer = sinew_allocate(a, WEIGHTS * n, sizeof *u->transfer);
    u->inverse = sinew_allocate(a, NUMBERS * NUMBERS * n, sizeof *u->inverse);
    u->b = sinew_allocate(a, NUMBERS * n, sizeof *u->b);
    u->x = sinew_allocate(a, NUMBERS * n, sizeof *u->x);
    const bool good = work && u->first_link && u->links && u->group && u->transfer && u->inverse && u->b && u->x;
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the coarse levels");
    if (good) {
        list_links(u);
        const int32_t groups = make_groups(u, width, work);
        u->stuck = (int64_t)groups * width > 4 * (int64_t)n;
        status = sinew_aggregates_join(&u->space, o, lower_space, u->group, groups, error);
    }
    sinew_release(a, work);
    if (status == SINEW_OK)
        compute_prolongation(u);
    if (status == SINEW_OK && !make_pattern(u, a))
        status = sinew_fail_memory(error, "the coarse levels");
    /* sinew_pcg_create() takes a count of points with four numbers each; the twelve unknowns of an aggregate are three
     * points. */
    return status == SINEW_OK ? sinew_pcg_create(a, &u->pcg, NUMBERS / 4 * lower->count, o->thread_count, error)
                              : status;
}

void sinew_second_level_destroy(sinew_second_level *u, const sinew_objective *o)
{
    const sinew_allocator *a = &o->allocator;
    void *arrays[] = {u->first_link,   u->links,   u->group,  u->transfer, u->inverse, u->column,  u->row,
                      u->first_member, u->members, u->values, u->b,        u->x,       u->second_x};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    sinew_aggregates_destroy(&u->space, o);
    sinew_pcg_destroy(a, &u->pcg);
    *u = (sinew_second_level){0};
}

/* ---- Values of the second-level matrix ------------------------------------------------------------- */

/* out += A^T X B with three 4x4 matrices; transposed: out += (A^T X B)^T. */
static void second_level_add_product(const double *A, const double *X, const double *B, bool transposed, double *out)
{
    double XB[WEIGHTS];
    for (size_t i = 0; i < SINEW_MODES; i++)
        for (size_t j = 0; j < SINEW_MODES; j++) {
            XB[SINEW_MODES * i + j] = 0;
            for (size_t k = 0; k < SINEW_MODES; k++)
                XB[SINEW_MODES * i + j] += X[SINEW_MODES * i + k] * B[SINEW_MODES * k + j];
        }
    for (size_t i = 0; i < SINEW_MODES; i++)
        for (size_t j = 0; j < SINEW_MODES; j++)
            for (size_t k = 0; k < SINEW_MODES; k++)
                out[transposed ? SINEW_MODES * j + i : SINEW_MODES * i + j] +=
                    A[SINEW_MODES * k + i] * XB[SINEW_MODES * k + j];
}

/* Adds R_i^T A_ij R_j, transposed if needed, to a block of the second-level matrix: A_ij is a block of the
 * first-level matrix, R_i the prolongation from its group to aggregate i. */
static void add_member_block(const sinew_second_level *u, int32_t pair, int32_t i, int32_t j, bool transposed,
                             double *out)
{
    const double *X = u->lower.values + SINEW_PAIR_NUMBERS * (size_t)pair;
    for (size_t e = 0; e < 9; e++)
        second_level_add_product(u->transfer + WEIGHTS * (size_t)i, X + WEIGHTS * e, u->transfer + WEIGHTS * (size_t)j,
                                 transposed, out + WEIGHTS * (transposed ? e % 3 * 3 + e / 3 : e));
}

static int32_t second_level_column_of(const sinew_coarse_matrix *m, int32_t pair)
{
    int32_t low = 0, high = m->count;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (m->column[middle] <= pair)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void second_level_fill_columns(const void *context, int32_t member, int32_t first, int32_t last)
{
    const sinew_second_level *u = context;
    (void)member;
    for (int32_t g = first; g < last; g++)
        for (int32_t block = u->column[g]; block < u->column[g + 1]; block++) {
            double *out = u->values + SINEW_PAIR_NUMBERS * (size_t)block;
            memset(out, 0, SINEW_PAIR_NUMBERS * sizeof *out);
            for (int32_t k = u->first_member[block]; k < u->first_member[block + 1]; k++) {
                const int32_t pair = u->members[k] / 2, i = u->lower.row[pair],
                              j = second_level_column_of(&u->lower, pair);
                add_member_block(u, pair, i, j, u->members[k] & 1, out);
                if (u->row[block] == g && i != j)
                    add_member_block(u, pair, i, j, true, out);
            }
            for (size_t f = u->space.mode_count[g]; u->row[block] == g && f < SINEW_MODES; f++)
                for (size_t e = 0; e < 9; e += 4)
                    out[WEIGHTS * e + SINEW_MODES * f + f] = 1;
        }
}

/* inverse = D^-1 of a symmetric positive definite matrix [12][12], by elimination without pivoting. */
static void second_level_invert(const double *D, double *inverse)
{
    memcpy(inverse, D, NUMBERS * NUMBERS * sizeof *D);
    for (size_t p = 0; p < NUMBERS; p++) {
        double *row = inverse + NUMBERS * p;
        const double pivot = row[p] > 0 ? 1 / row[p] : 0;
        row[p] = 1;
        for (size_t j = 0; j < NUMBERS; j++)
            row[j] *= pivot;
        for (size_t i = 0; i < NUMBERS; i++) {
            const double factor = inverse[NUMBERS * i + p];
            if (i == p)
                continue;
            inverse[NUMBERS * i + p] = 0;
            for (size_t j = 0; j < NUMBERS; j++)
                inverse[NUMBERS * i + j] -= factor * row[j];
        }
    }
}

static void invert_rows(const void *context, int32_t member, int32_t first, int32_t last)
{
    const sinew_second_level *u = context;
    (void)member;
    for (int32_t a = first; a < last; a++) {
        const double *X = u->lower.values + SINEW_PAIR_NUMBERS * (size_t)u->lower.column[a];
        double D[NUMBERS * NUMBERS];
        for (size_t e = 0; e < SINEW_PAIR_NUMBERS; e++) {
            const size_t r = e / WEIGHTS / 3, c = e / WEIGHTS % 3, k = e % WEIGHTS / SINEW_MODES, l = e % SINEW_MODES;
            D[NUMBERS * (3 * k + r) + 3 * l + c] = X[e];
        }
        second_level_invert(D, u->inverse + NUMBERS * NUMBERS * (size_t)a);
    }
}

void sinew_second_level_fill(sinew_second_level *u)
{
    sinew_tasks_for(u->thread_count, u->space.count, 1, second_level_fill_columns, u);
    sinew_tasks_for(u->thread_count, u->lower.count, 16, invert_rows, u);
}

/* ---- Solves of the first-level system ---------------------------------------------------------------- */

typedef struct vector_pass {
    const sinew_second_level *level;
    const sinew_real *from;
    sinew_real *to;
} vector_pass;

/* to = A from, A the first-level matrix, for its block rows first .. last - 1 */
static void multiply_rows(const void *context, int32_t member, int32_t first, int32_t last)
{
    const vector_pass *p = context;
    const sinew_second_level *u = p->level;
    (void)member;
    for (int32_t a = first; a < last; a++) {
        double sum[NUMBERS] = {0};
        for (size_t n = u->first_link[a]; n < u->first_link[a + 1]; n++) {
            const sinew_coarse_link *link = &u->links[n];
            const double *X = u->lower.values + SINEW_PAIR_NUMBERS * (size_t)link->pair;
            const sinew_real *x = p->from + NUMBERS * (size_t)link->other;
            for (size_t e = 0; e < SINEW_PAIR_NUMBERS; e++) {
                const size_t row = 3 * (e % WEIGHTS / SINEW_MODES) + e / WEIGHTS / 3;
                const size_t column = 3 * (e % SINEW_MODES) + e / WEIGHTS % 3;
                sum[link->transposed ? column : row] += X[e] * (double)x[link->transposed ? row : column];
            }
        }
        for (size_t k = 0; k < NUMBERS; k++)
            p->to[NUMBERS * (size_t)a + k] = (sinew_real)sum[k];
    }
}

static void second_level_multiply(void *context, const sinew_real *x, sinew_real *Ax)
{
    const sinew_second_level *u = context;
    sinew_tasks_for(u->thread_count, u->lower.count, 16, multiply_rows, &(vector_pass){u, x, Ax});
}

/* Restricts a residual r of the first level to the groups: second_x = R^T r, R the prolongation from groups to
 * aggregates. */
static void restrict_rows(const sinew_second_level *u, const sinew_real *r)
{
    memset(u->second_x, 0, NUMBERS * (size_t)u->space.count * sizeof *u->second_x);
    for (int32_t a = 0; a < u->lower.count; a++)
        for (size_t k = 0; k < SINEW_MODES; k++)
            for (size_t i = 0; i < NUMBERS; i++)
                u->second_x[NUMBERS * (size_t)u->group[a] + i] +=
                    u->transfer[WEIGHTS * (size_t)a + SINEW_MODES * k + i / 3] *
                    (double)r[NUMBERS * (size_t)a + 3 * k + i % 3];
}

/* Preconditioner of the first level, to = D^-1 from + R second_x: inverse diagonal blocks, plus the correction by
 * groups, for block rows first .. last - 1. */
static void precondition_rows(const void *context, int32_t member, int32_t first, int32_t last)
{
    const vector_pass *p = context;
    const sinew_second_level *u = p->level;
    (void)member;
    for (int32_t a = first; a < last; a++) {
        const double *inverse = u->inverse + NUMBERS * NUMBERS * (size_t)a;
        const double *up = u->second_x + NUMBERS * (size_t)u->group[a], *R = u->transfer + WEIGHTS * (size_t)a;
        for (size_t i = 0; i < NUMBERS; i++) {
            double sum = 0;
            for (size_t j = 0; j < NUMBERS; j++)
                sum += inverse[NUMBERS * i + j] * (double)p->from[NUMBERS * (size_t)a + j];
            for (size_t l = 0; l < SINEW_MODES; l++)
                sum += R[SINEW_MODES * (i / 3) + l] * up[3 * l + i % 3];
            p->to[NUMBERS * (size_t)a + i] = (sinew_real)sum;
        }
    }
}

static void second_level_precondition(void *context, const sinew_real *r, sinew_real *z)
{
    const sinew_second_level *u = context;
    restrict_rows(u, r);
    sinew_coarse_system_solve(u->system, u->second_x);
    sinew_tasks_for(u->thread_count, u->lower.count, 16, precondition_rows, &(vector_pass){u, r, z});
}

void sinew_second_level_solve(sinew_second_level *u, const sinew_coarse_system *system, double *x)
{
    const size_t size = NUMBERS * (size_t)u->lower.count;
    u->system = system;
    for (size_t i = 0; i < size; i++)
        u->b[i] = (sinew_real)x[i];
    sinew_pcg_solve(&u->pcg, (sinew_linear_map){second_level_multiply, u},
                    (sinew_linear_map){second_level_precondition, u}, u->b, u->x, TOLERANCE, ITERATIONS);
    for (size_t i = 0; i < size; i++)
        x[i] = (double)u->x[i];
}
