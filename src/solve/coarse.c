/* SPDX-License-Identifier: MIT
 *
 * coarse.c: see coarse.h.
 */
#include "solve/coarse.h"

#include <stdlib.h>
#include <string.h>

#include "base/reduce.h"
#include "objective/aggregates.h"

enum {
    NUMBERS = 3 * SINEW_MODES,           /* unknowns of an aggregate */
    WEIGHTS = SINEW_MODES * SINEW_MODES, /* of one number (r, c) of a block */
    SHIFTS = 3                           /* that are tried on a matrix that is not definite */
};
#define SHIFT_FIRST 1e-10 /* of the mean of the diagonal; the next ones are a thousand times larger each */

/* ---- The factor's pattern ---------------------------------------------------------------------- */

/* A fill-reducing order of the aggregates. */
static sinew_status order_aggregates(sinew_coarse *c, sinew_error *error)
{
    const sinew_allocator *allocator = &c->objective->allocator;
    const int32_t count = c->space.count;
    int32_t *order = sinew_allocate(allocator, (size_t)count, sizeof *order);
    sinew_real *middles = sinew_allocate_zero(allocator, 4 * (size_t)count, sizeof *middles);
    sinew_status status = SINEW_OK;
    if (!order || !middles)
        status = sinew_fail_memory(error, "the order of the aggregates");
    for (int32_t i = 0; status == SINEW_OK && i < c->objective->particle_count; i++) {
        const int32_t a = c->space.aggregate[i];
        for (size_t k = 0; a >= 0 && k < 3; k++)
            middles[4 * (size_t)a + k] += c->objective->rest[4 * (size_t)i + k] /
                                          (sinew_real)(c->space.first_particle[a + 1] - c->space.first_particle[a]);
    }
    if (status == SINEW_OK)
        status =
            sinew_fill_reducing_order(allocator, count, c->galerkin.column, c->galerkin.row, middles, order, error);
    for (int32_t k = 0; status == SINEW_OK && k < count; k++)
        c->position[order[k]] = k;
    sinew_release(allocator, order);
    sinew_release(allocator, middles);
    return status;
}

static int compare_places(const void *a, const void *b)
{
    const sinew_coarse_place *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Blocks of the Galerkin matrix by column in the order of elimination. */
static void place_blocks(sinew_coarse *c)
{
    const sinew_galerkin *g = &c->galerkin;
    int32_t *first = c->first_place;
    memset(first, 0, ((size_t)c->space.count + 1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < c->space.count; j++)
            for (int32_t b = g->column[j]; b < g->column[j + 1]; b++) {
                const int32_t row = c->position[g->row[b]], column = c->position[j];
                const bool transposed = row < column;
                if (pass == 0)
                    first[(transposed ? row : column) + 1]++;
                else
                    c->places[first[transposed ? row : column]++] =
                        (sinew_coarse_place){transposed ? column : row, b, transposed};
            }
        for (int32_t j = 0; pass == 0 && j < c->space.count; j++)
            first[j + 1] += first[j];
    }
    memmove(first + 1, first, (size_t)c->space.count * sizeof *first);
    first[0] = 0;
    for (int32_t j = 0; j < c->space.count; j++)
        qsort(c->places + first[j], (size_t)(first[j + 1] - first[j]), sizeof *c->places, compare_places);
}

/* Rows of the factor's pattern: a row for every function of every aggregate, the lower triangle. */
static void fill_pattern(const sinew_coarse *c, int32_t *row)
{
    int32_t at = 0;
    for (int32_t j = 0; j < c->space.count; j++)
        for (int32_t f = 0; f < SINEW_MODES; f++) {
            c->column[SINEW_MODES * j + f] = at;
            for (int32_t k = c->first_place[j]; k < c->first_place[j + 1]; k++)
                for (int32_t i = c->places[k].row == j ? f : 0; i < SINEW_MODES; i++)
                    row[at++] = SINEW_MODES * c->places[k].row + i;
        }
    c->column[SINEW_MODES * c->space.count] = at;
}

static sinew_status make_factor(sinew_coarse *c, sinew_error *error)
{
    const sinew_allocator *allocator = &c->objective->allocator;
    const size_t count = (size_t)c->space.count, pairs = (size_t)c->galerkin.column[count];
    c->position = sinew_allocate(allocator, count, sizeof *c->position);
    c->first_place = sinew_allocate(allocator, count + 1, sizeof *c->first_place);
    c->places = sinew_allocate(allocator, pairs, sizeof *c->places);
    c->column = sinew_allocate(allocator, SINEW_MODES * count + 1, sizeof *c->column);
    c->right = sinew_allocate(allocator, NUMBERS * count, sizeof *c->right);
    int32_t *row = sinew_allocate(allocator, WEIGHTS * pairs, sizeof *row);
    sinew_status status = SINEW_OK;
    if (!c->position || !c->first_place || !c->places || !c->column || !c->right || !row)
        status = sinew_fail_memory(error, "the coarse system");
    if (status == SINEW_OK)
        status = order_aggregates(c, error);
    if (status == SINEW_OK) {
        place_blocks(c);
        fill_pattern(c, row);
        c->factor = sinew_cholesky_create(allocator, c->objective->lanes->dense, SINEW_MODES * c->space.count,
                                          c->column, row, error);
        status = c->factor ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    sinew_release(allocator, row);
    return status;
}

static void release_factor(sinew_coarse *c)
{
    void *arrays[] = {c->position, c->first_place, c->places, c->column, c->right};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&c->objective->allocator, arrays[i]);
    sinew_cholesky_destroy(c->factor);
    c->position = c->first_place = c->column = NULL;
    c->places = NULL;
    c->right = NULL;
    c->factor = NULL;
    c->ready = false;
}

/* Needs the aggregates alone. */
static sinew_status lay_out(sinew_coarse *c, sinew_error *error)
{
    if (c->space.count == 0)
        return SINEW_OK;
    const sinew_status status = sinew_galerkin_create(&c->galerkin, c->objective, &c->space, error);
    return status == SINEW_OK ? make_factor(c, error) : status;
}

sinew_status sinew_coarse_create(sinew_coarse *c, sinew_objective *o, int32_t size, sinew_error *error)
{
    *c = (sinew_coarse){.objective = o};
    const sinew_status status = sinew_aggregates_create(&c->space, o, size, error);
    return status == SINEW_OK ? lay_out(c, error) : status;
}

void sinew_coarse_destroy(sinew_coarse *c)
{
    if (!c->objective)
        return;
    release_factor(c);
    sinew_galerkin_destroy(&c->galerkin, c->objective);
    sinew_aggregates_destroy(&c->space, c->objective);
    *c = (sinew_coarse){0};
}

sinew_status sinew_coarse_refresh(sinew_coarse *c, sinew_error *error)
{
    release_factor(c);
    sinew_galerkin_destroy(&c->galerkin, c->objective);
    return lay_out(c, error);
}

/* ---- Numbers ----------------------------------------------------------------------------------- */

/* Copies block columns into the factor's layout (objective/assembly.h): three scalar columns for each function. */
static void copy_columns(const void *context, int32_t member, int32_t first, int32_t last)
{
    const sinew_coarse *c = context;
    double *values = sinew_cholesky_values(c->factor);
    (void)member;
    for (int32_t j = first; j < last; j++)
        for (size_t f = 0; f < SINEW_MODES; f++) {
            const int32_t *column = c->column + SINEW_MODES * j + (int32_t)f;
            const size_t stride = 3 * (size_t)(column[1] - column[0]);
            double *out = values + 9 * (size_t)column[0];
            for (int32_t k = c->first_place[j]; k < c->first_place[j + 1]; k++) {
                const sinew_coarse_place *p = &c->places[k];
                const double *block = c->galerkin.values + SINEW_PAIR_NUMBERS * (size_t)p->pair;
                for (size_t i = p->row == j ? f : 0; i < SINEW_MODES; i++, out += 3)
                    for (size_t e = 0; e < 9; e++)
                        out[stride * (e % 3) + e / 3] = p->transposed
                                                            ? block[WEIGHTS * (e % 3 * 3 + e / 3) + f * SINEW_MODES + i]
                                                            : block[WEIGHTS * e + i * SINEW_MODES + f];
            }
        }
}

static double mean_diagonal(const sinew_coarse *c)
{
    const double *values = sinew_cholesky_values(c->factor);
    const int32_t count = SINEW_MODES * c->space.count;
    double sum = 0;
    for (int32_t j = 0; j < count; j++) {
        const size_t at = 9 * (size_t)c->column[j], stride = 3 * (size_t)(c->column[j + 1] - c->column[j]);
        for (size_t k = 0; k < 3; k++)
            sum += values[at + stride * k + k];
    }
    return sum / (3.0 * count);
}

bool sinew_coarse_fill(sinew_coarse *c, const sinew_real *q)
{
    c->ready = false;
    if (c->space.count == 0)
        return false;
    sinew_galerkin_fill(&c->galerkin, c->objective, q);
    sinew_tasks_for(c->objective->thread_count, c->space.count, 16, copy_columns, c);
    double shift = 0;
    for (int k = 0; k <= SHIFTS && !c->ready; k++) {
        c->ready = sinew_cholesky_factorise(c->factor, shift, NULL) == SINEW_OK;
        shift = k == 0 ? SHIFT_FIRST * mean_diagonal(c) : 1e3 * shift;
    }
    return c->ready;
}

/* ---- Solves ------------------------------------------------------------------------------------ */

typedef struct transfer {
    const sinew_coarse *coarse;
    const sinew_real *r;
    sinew_real *z;
    double s;
    bool add;
} transfer;

/* right = P^T r */
static void restrict_aggregates(const void *context, int32_t member, int32_t first, int32_t last)
{
    const transfer *t = context;
    const sinew_coarse_space *space = &t->coarse->space;
    (void)member;
    for (int32_t a = first; a < last; a++) {
        double sum[NUMBERS] = {0};
        for (int32_t k = space->first_particle[a]; k < space->first_particle[a + 1]; k++) {
            const sinew_real *phi = space->basis + SINEW_MODES * (size_t)space->particle[k];
            const sinew_real *r = t->r + 4 * (size_t)space->particle[k];
            for (size_t i = 0; i < NUMBERS; i++)
                sum[i] += (double)phi[i / 3] * (double)r[i % 3];
        }
        memcpy(t->coarse->right + NUMBERS * (size_t)t->coarse->position[a], sum, sizeof sum);
    }
}

/* z = s P x, or z += that */
static void prolong_particles(const void *context, int32_t member, int32_t first, int32_t last)
{
    const transfer *t = context;
    const sinew_coarse_space *space = &t->coarse->space;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        sinew_real *z = t->z + 4 * (size_t)i;
        double sum[3] = {0};
        if (space->aggregate[i] >= 0) {
            const double *x = t->coarse->right + NUMBERS * (size_t)t->coarse->position[space->aggregate[i]];
            const sinew_real *phi = space->basis + SINEW_MODES * (size_t)i;
            for (size_t k = 0; k < NUMBERS; k++)
                sum[k % 3] += (double)phi[k / 3] * x[k];
        }
        for (size_t k = 0; k < 3; k++)
            z[k] = (sinew_real)(t->s * sum[k] + (t->add ? (double)z[k] : 0));
        z[3] = 0;
    }
}

void sinew_coarse_solve(sinew_coarse *c, double s, const sinew_real *r, bool add, sinew_real *z)
{
    const sinew_objective *o = c->objective;
    const transfer work = {c, r, z, s, add};
    sinew_tasks_for(o->particle_count < SINEW_PARALLEL_PARTICLES ? 1 : o->thread_count, c->space.count, 16,
                    restrict_aggregates, &work);
    sinew_cholesky_solve(c->factor, c->right, c->right);
    sinew_over_particles(o->thread_count, o->particle_count, prolong_particles, &work);
}
