/* SPDX-License-Identifier: MIT
 *
 * check_hard.c: elements that cannot be rows of a system of constraints (objective/constraints.h), refused with their
 * numbers where they enter the world, before a step has to say that it cannot be solved.
 *
 *   - A hard row whose gradient vanishes at rest, where it holds, or turns as soon as anything moves: a length of zero
 *     has no direction, and one of round-off has any. Gradients are compared where all vertices were moved a little
 *     along x, along y and along z.
 *   - A compliance that is negative or not symmetric: no energy has it. Those of the library have neither, but programs
 *     register energies of their own.
 *   - A hard row of pinned particles alone, which has nothing to move. The distances within a rigid body are excepted,
 *     as pinning all four particles is how it is held. Pins that come after the first step are let in, and the step
 *     says which rows they have made redundant or contradictory.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "world/world.h"

enum {
    ROWS_MOST = 8,
    WIDTH_MOST = 16
};

#define SLOPE_LEAST 1e-12 /* of a gradient per unit of C and m; of zero length it is exactly zero */
#define SKEW_MOST   (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)
#define ALIKE_LEAST 0.5 /* cosine between the gradients of a row at places that are near each other */
#define ROUND_OFF   (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON)

/* One element at rest, the same in all lanes. */
typedef struct row_numbers {
    _Alignas(SINEW_ALIGNMENT) sinew_real x[4 * SINEW_STENCIL_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real data[SINEW_DATA_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) int32_t vertex[SINEW_STENCIL_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real C[ROWS_MOST * WIDTH_MOST], one_sided[ROWS_MOST * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real J[ROWS_MOST * 3 * SINEW_STENCIL_MAX * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real alpha[ROWS_MOST * ROWS_MOST * WIDTH_MOST];
} row_numbers;

static void evaluate(const sinew_batch *batch, row_numbers *r)
{
    batch->ops->jacobian(&(sinew_jacobian_kernel){.groups = {.count = 1, .vertex = r->vertex, .data = r->data},
                                                  .x = r->x,
                                                  .hard = batch->hard,
                                                  .C = r->C,
                                                  .jacobian = r->J,
                                                  .compliance = r->alpha,
                                                  .one_sided = batch->hard ? r->one_sided : NULL});
}

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
    evaluate(batch, out);
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

/* ---- Directions ---------------------------------------------------------------------------------- */

/* Whether a constraint of the element must have a direction where it rests. One whose compliance is 1 is not there, and
 * inequalities that rest does not reach wait: a sheet with a limit of bending has no direction while flat. */
static bool needs_slope(const row_numbers *r, int32_t i, int32_t m, int32_t W)
{
    return r->alpha[(i * m + i) * W] == 0 && (r->one_sided[i * W] == 0 || !(r->C[i * W] > 0));
}

/* m by which vertices are moved: small beside the element, and beyond the round-off of its coordinates. */
static double small_way(const row_numbers *r, int32_t n)
{
    double largest = 0, size = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t c = 0; c < 3; c++) {
            largest = fmax(largest, fabs((double)r->x[4 * a + c]));
            size = fmax(size, fabs((double)r->x[4 * a + c] - (double)r->x[c]));
        }
    return sqrt(ROUND_OFF) * size + 64 * ROUND_OFF * largest;
}

/* slopes [m][size] where every vertex is moved along one axis, by parts of the way that differ from vertex to vertex.
 * The vertices go back; the numbers of rows do not. */
static void slopes_beside(row_numbers *r, const sinew_batch *batch, int32_t axis, double way, double *slopes)
{
    const int32_t n = batch->ops->info.vertex_count, count = batch->ops->constraint_count * 3 * n;
    sinew_real kept[SINEW_STENCIL_MAX];
    for (int32_t a = 0; a < n; a++) {
        kept[a] = r->x[4 * a + axis];
        r->x[4 * a + axis] += (sinew_real)(way * (2 * fmod(0.618 * (a + 1), 1) - 1));
    }
    evaluate(batch, r);
    for (int32_t a = 0; a < n; a++)
        r->x[4 * a + axis] = kept[a];
    for (int32_t k = 0; k < count; k++)
        slopes[k] = (double)r->J[k * batch->width];
}

static double product(const double *a, const double *b, int32_t size)
{
    double sum = 0;
    for (int32_t k = 0; k < size; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Whether a row has the same gradient, up to its sign, in three places: the distance to the nearer of two limits
 * changes its sign between them. */
static bool are_alike(const double *a, const double *b, const double *c, int32_t size)
{
    const double *list[4] = {a, b, c, a};
    bool alike = true;
    for (int k = 0; k < 3; k++)
        alike &= fabs(product(list[k], list[k + 1], size)) >=
                 ALIKE_LEAST * sqrt(product(list[k], list[k], size) * product(list[k + 1], list[k + 1], size));
    return alike;
}

/* Whether all constraints that need one have a direction. `r`, at rest, is used up. */
static bool has_slopes(row_numbers *r, const sinew_batch *batch)
{
    const int32_t W = batch->width, m = batch->ops->constraint_count, size = 3 * batch->ops->info.vertex_count;
    const double way = small_way(r, batch->ops->info.vertex_count);
    double beside[3][ROWS_MOST * 3 * SINEW_STENCIL_MAX];
    bool needed[ROWS_MOST];
    for (int32_t i = 0; i < m; i++) {
        double square = 0;
        for (int32_t k = 0; k < size; k++)
            square += pow((double)r->J[(i * size + k) * W], 2);
        needed[i] = needs_slope(r, i, m, W);
        if (needed[i] && !(sqrt(square) > SLOPE_LEAST))
            return false;
    }
    for (int32_t axis = 0; axis < 3; axis++)
        slopes_beside(r, batch, axis, way, beside[axis]);
    for (int32_t i = 0; i < m; i++)
        if (needed[i] && !are_alike(beside[0] + i * size, beside[1] + i * size, beside[2] + i * size, size))
            return false;
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
                              "or curvature of zero has none); give it one, or keep it soft",
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
