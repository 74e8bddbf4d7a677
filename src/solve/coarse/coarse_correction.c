/* SPDX-License-Identifier: MIT
 *
 * coarse_correction.c: builds one or two coarse levels and applies their correction. See coarse_correction.h.
 */
#include "solve/coarse/coarse_correction.h"

#include <string.h>

#include "base/reduce.h"
#include "objective/coarse/aggregates.h"

enum {
    NUMBERS = SINEW_COARSE_NUMBERS,
    SMALL = 1000000,
    WIDTH = 8 /* aggregates per group of the second level in the first attempt; each retry has WIDTH times as many */
};

/* ---- Choice of one or two levels --------------------------------------------------------------- */

/* Mean rest positions of the particles of each aggregate, m, [count][4]; NULL: out of memory. */
static sinew_real *mean_rest_positions(const sinew_coarse_space *space, const sinew_objective *o)
{
    sinew_real *middles = sinew_allocate_zero(&o->allocator, 4 * (size_t)space->count, sizeof *middles);
    for (int32_t a = 0; middles && a < space->count; a++) {
        const int32_t first = space->first_particle[a], last = space->first_particle[a + 1];
        for (int32_t k = first; k < last; k++)
            for (size_t c = 0; c < 3; c++)
                middles[4 * (size_t)a + c] +=
                    o->step.rest[4 * (size_t)space->particle[k] + c] / (sinew_real)(last - first);
    }
    return middles;
}

/* Creates the Cholesky factor of a coarse matrix whose block rows are the aggregates of a space. */
static sinew_status create_coarse_system(sinew_coarse *c, const sinew_coarse_space *space,
                                         const sinew_coarse_matrix *matrix, sinew_error *error)
{
    sinew_real *middles = mean_rest_positions(space, c->objective);
    const sinew_status status = middles ? sinew_coarse_system_create(&c->system, c->objective, matrix, middles, error)
                                        : sinew_fail_memory(error, "the coarse system");
    sinew_release(&c->objective->allocator, middles);
    return status;
}

/* Largest accepted number of entries of the coarse factor: c->max, or the size of the fine matrix, with particle pairs
 * counted chunk by chunk. In the second case factors of up to SMALL entries are always accepted. */
static int64_t max_factor_entries(const sinew_coarse *c)
{
    const int64_t fine = 9 * (int64_t)c->galerkin.first_fine[c->galerkin.task_count];
    return c->max > 0 ? c->max : fine > SMALL ? fine : SMALL;
}

/* Uses one coarse level if its factor is small enough, else a second level whose groups grow until the factor is small
 * enough, one group is left, or no connected groups are left to join. */
static sinew_status choose_levels(sinew_coarse *c, sinew_error *error)
{
    const sinew_allocator *allocator = &c->objective->allocator;
    const sinew_coarse_matrix matrix = {c->space.count, c->galerkin.column, c->galerkin.row, c->galerkin.values};
    sinew_status status = create_coarse_system(c, &c->space, &matrix, error);
    for (int32_t width = WIDTH;
         status == SINEW_OK && sinew_cholesky_factor_size(c->system.factor) > max_factor_entries(c) &&
         c->system.matrix.count > 1;
         width *= WIDTH) {
        sinew_coarse_system_destroy(&c->system, allocator);
        sinew_second_level_destroy(&c->second_level, c->objective);
        status = sinew_second_level_create(&c->second_level, c->objective, &matrix, &c->space, width, error);
        if (status == SINEW_OK)
            status = create_coarse_system(c, &c->second_level.space, &c->second_level.matrix, error);
        if (c->second_level.stuck)
            break;
    }
    return status;
}

/* Builds the pattern of the coarse matrix P^T H P (P: basis functions of the aggregates, H: Hessian) and of its
 * factor. */
static sinew_status coarse_lay_out(sinew_coarse *c, sinew_error *error)
{
    if (c->space.count == 0)
        return SINEW_OK;
    const sinew_status status = sinew_galerkin_create(&c->galerkin, c->objective, &c->space, error);
    if (status != SINEW_OK)
        return status;
    c->x = sinew_allocate(&c->objective->allocator, NUMBERS * (size_t)c->space.count, sizeof *c->x);
    return c->x ? choose_levels(c, error) : sinew_fail_memory(error, "the coarse system");
}

static void coarse_clear(sinew_coarse *c)
{
    const sinew_allocator *allocator = &c->objective->allocator;
    sinew_coarse_system_destroy(&c->system, allocator);
    sinew_second_level_destroy(&c->second_level, c->objective);
    sinew_galerkin_destroy(&c->galerkin, c->objective);
    sinew_release(allocator, c->x);
    c->x = NULL;
    c->ready = false;
}

sinew_status sinew_coarse_create(sinew_coarse *c, sinew_objective *o, int32_t size, int64_t max, sinew_error *error)
{
    *c = (sinew_coarse){.objective = o, .max = max};
    const sinew_status status = sinew_aggregates_create(&c->space, o, size, error);
    return status == SINEW_OK ? coarse_lay_out(c, error) : status;
}

void sinew_coarse_destroy(sinew_coarse *c)
{
    if (!c->objective)
        return;
    coarse_clear(c);
    sinew_aggregates_destroy(&c->space, c->objective);
    *c = (sinew_coarse){0};
}

sinew_status sinew_coarse_refresh(sinew_coarse *c, sinew_error *error)
{
    coarse_clear(c);
    return coarse_lay_out(c, error);
}

bool sinew_coarse_fill(sinew_coarse *c, const sinew_real *q)
{
    c->ready = false;
    if (c->space.count == 0)
        return false;
    sinew_galerkin_fill(&c->galerkin, c->objective, q);
    if (c->second_level.group)
        sinew_second_level_fill(&c->second_level);
    c->ready = sinew_coarse_system_factorise(&c->system, c->objective->thread_count);
    return c->ready;
}

/* ---- Coarse solves: restriction, solve, prolongation ------------------------------------------- */

typedef struct transfer {
    const sinew_coarse *coarse;
    const sinew_real *r;
    sinew_real *z;
    double s;
    bool add;
} transfer;

/* Restriction x = P^T r of a vector over particles to the basis functions P of aggregates first .. last - 1. */
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
        memcpy(t->coarse->x + NUMBERS * (size_t)a, sum, sizeof sum);
    }
}

/* Prolongation z = s P x, or with `add` z += s P x, of coefficients x of the aggregates' basis functions P to
 * particles first .. last - 1. */
static void prolong_particles(const void *context, int32_t member, int32_t first, int32_t last)
{
    const transfer *t = context;
    const sinew_coarse_space *space = &t->coarse->space;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        sinew_real *z = t->z + 4 * (size_t)i;
        double sum[3] = {0};
        if (space->aggregate[i] >= 0) {
            const double *x = t->coarse->x + NUMBERS * (size_t)space->aggregate[i];
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
    if (c->second_level.group)
        sinew_second_level_solve(&c->second_level, &c->system, c->x);
    else
        sinew_coarse_system_solve(&c->system, c->x);
    sinew_over_particles(o->thread_count, o->particle_count, prolong_particles, &work);
}
