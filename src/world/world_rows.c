/* SPDX-License-Identifier: MIT
 *
 * world_rows.c: elements that cannot be rows of a system of constraints (objective/constraints.h), refused with their
 * numbers where they enter the world, before a step has to say that it cannot be solved.
 *
 *   - A hard row whose gradient vanishes at rest, where it holds: a length of zero has no direction.
 *   - A compliance that is negative or not symmetric: no energy has it. Those of the library have neither, but programs
 *     register energies of their own.
 *   - A hard row of pinned particles alone, which has nothing to move. The distances within a rigid body are excepted,
 *     as pinning all four particles is how it is held. Pins that come after the first step are let in, and the step
 *     says which rows they have made redundant or contradictory.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

enum {
    ROWS_MOST = 8,
    WIDTH_MOST = 16
};

#define SLOPE_LEAST 1e-12 /* of a gradient per unit of C and m; of zero length it is exactly zero */
#define SKEW_MOST   (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)

/* One element at rest, the same in all lanes. */
typedef struct row_numbers {
    _Alignas(SINEW_ALIGNMENT) sinew_real x[4 * SINEW_STENCIL_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real data[SINEW_DATA_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) int32_t vertex[SINEW_STENCIL_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real C[ROWS_MOST * WIDTH_MOST], one_sided[ROWS_MOST * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real J[ROWS_MOST * 3 * SINEW_STENCIL_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real alpha[ROWS_MOST * ROWS_MOST * WIDTH_MOST];
} row_numbers;

static void evaluate_at_rest(const sinew_world *world, const sinew_energy_record *record, int32_t e, row_numbers *out)
{
    const sinew_batch *batch = record->batch;
    const int32_t W = batch->width, n = batch->ops->info.vertex_count;
    sinew_real rest[3 * SINEW_STENCIL_MAX], data[SINEW_DATA_MAX];
    sinew_energy_rest(world, record, e, rest);
    sinew_batch_element(batch, e, data);
    memset(out, 0, sizeof *out);
    for (int32_t a = 0; a < n; a++) {
        memcpy(out->x + 4 * a, rest + 3 * a, 3 * sizeof *rest);
        for (int32_t lane = 0; lane < W; lane++)
            out->vertex[a * W + lane] = SINEW_POINT * a;
    }
    for (int32_t i = 0; i < batch->ops->data_count * W; i++)
        out->data[i] = data[i / W];
    batch->ops->jacobian(&(sinew_jacobian_kernel){.groups = {.count = 1, .vertex = out->vertex, .data = out->data},
                                                  .x = out->x,
                                                  .hard = batch->hard,
                                                  .C = out->C,
                                                  .jacobian = out->J,
                                                  .compliance = out->alpha,
                                                  .one_sided = batch->hard ? out->one_sided : NULL});
}

/* The m x m matrix is symmetric and has no negative eigenvalue: its Cholesky factor exists, rows of zeros allowed. */
static bool is_compliance(const sinew_real *alpha, int32_t m, int32_t W)
{
    double L[ROWS_MOST][ROWS_MOST] = {{0}}, largest = 0;
    for (int32_t i = 0; i < m * m; i++)
        largest = fmax(largest, fabs((double)alpha[i * W]));
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = (double)alpha[(i * m + j) * W];
            if (!(fabs(sum - (double)alpha[(j * m + i) * W]) <= SKEW_MOST * largest))
                return false;
            for (int32_t k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum >= -SKEW_MOST * largest))
                return false;
            if (i != j && L[j][j] == 0 && !(fabs(sum) <= sqrt(SKEW_MOST) * largest))
                return false;
            L[i][j] = i == j ? (sum > SKEW_MOST * largest ? sqrt(sum) : 0) : L[j][j] > 0 ? sum / L[j][j] : 0;
        }
    return true;
}

/* Whether all constraints of the element that it has with its parameters have a gradient, or are inequalities that rest
 * does not reach: a sheet with a limit of bending has none while it is flat. */
static bool has_slopes(const row_numbers *r, const sinew_batch *batch)
{
    const int32_t W = batch->width, m = batch->ops->constraint_count, size = 3 * batch->ops->info.vertex_count;
    for (int32_t i = 0; i < m; i++) {
        double square = 0;
        for (int32_t k = 0; k < size; k++)
            square += pow((double)r->J[(i * size + k) * W], 2);
        /* Compliance 1 marks a constraint that there is not. */
        const bool reached = r->one_sided[i * W] == 0 || !(r->C[i * W] > 0);
        if (!(sqrt(square) > SLOPE_LEAST) && r->alpha[(i * m + i) * W] == 0 && reached)
            return false;
    }
    return true;
}

static bool are_rows(const sinew_world *world, const sinew_energy_record *record)
{
    const sinew_energy_ops *ops = record->batch ? record->batch->ops : NULL;
    return ops && ops->jacobian && !ops->whole_row && ops->constraint_count <= ROWS_MOST &&
           record->batch->width <= WIDTH_MOST && sinew_solver_get_ops(world->def.solver.kind)->conditions;
}

sinew_status sinew_energy_check_rows(const sinew_world *world, const sinew_energy_record *record, sinew_error *error)
{
    row_numbers r;
    if (!are_rows(world, record))
        return SINEW_OK;
    const sinew_batch *batch = record->batch;
    const char *name = batch->ops->info.name;
    for (int32_t e = 0; e < batch->element_count; e++) {
        if (sinew_batch_is_off(batch, e))
            continue;
        evaluate_at_rest(world, record, e, &r);
        if (!is_compliance(r.alpha, batch->ops->constraint_count, batch->width))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s, element %d: its compliance is negative or not symmetric, which that of no energy is",
                              name, e);
        if (batch->hard && !has_slopes(&r, batch))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s, element %d: it is kept hard, and its constraint has no direction at rest (a length "
                              "of zero has none); give it a length, or keep it soft",
                              name, e);
    }
    return SINEW_OK;
}

/* The first element that has pinned particles alone; -1: none. */
static int32_t find_fixed(const sinew_world *world, const sinew_energy_record *record)
{
    const int32_t n = sinew_energy_get_ops(record->kind)->info.vertex_count;
    for (int32_t e = 0; e < record->store.count; e++) {
        int32_t a = 0;
        while (a < n && world->pinned[record->store.particles[e * n + a]])
            a++;
        if (a == n)
            return e;
    }
    return -1;
}

sinew_status sinew_energy_check_fixed(const sinew_world *world, const sinew_energy_record *record, int32_t number,
                                      sinew_error *error)
{
    const int32_t e = are_rows(world, record) && record->batch->hard && !record->rigid ? find_fixed(world, record) : -1;
    if (e < 0)
        return SINEW_OK;
    return sinew_fail(
        error, SINEW_ERROR_DATA,
        "energy %d (%s), element %d: it is kept hard and all its vertices are pinned, so that nothing can "
        "meet it; leave the element out, or keep it soft",
        number, record->batch->ops->info.name, e);
}

sinew_status sinew_world_check_fixed(const sinew_world *world, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; status == SINEW_OK && world->step_count == 0 && i < world->energy_count; i++)
        status = sinew_energy_check_fixed(world, &world->energies[i], i, error);
    return status;
}
