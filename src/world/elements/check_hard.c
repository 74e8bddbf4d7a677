/* SPDX-License-Identifier: MIT
 *
 * check_hard.c: rejects elements that cannot be constraints of a KKT system (objective/constraints.h). The check
 * runs when elements are added, so that the error names them; a step could not.
 *
 * - A hard constraint whose gradient vanishes at rest, where it is satisfied, or rotates under any small motion: a
 * length of zero has no direction. Gradients are compared after small displacements of all vertices along x, y and z.
 * - A compliance that is negative or not symmetric. No energy of the library has such a compliance, but programs can
 *   register energies.
 * - A hard constraint on pinned particles alone. Distances within a rigid body are exempt, because pinning all four
 * particles fixes it. Pins added after the first step are accepted, and the step reports the constraints that they make
 * redundant or contradictory.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "world/world.h"

enum {
    CONSTRAINTS_MAX = 8,
    WIDTH_MAX = 16
};

/* Smallest norm of the gradient of a constraint C, in the unit of C per m, that counts as nonzero; a zero length has
 * a gradient of exactly zero. */
#define SLOPE_MIN 1e-12
/* Largest asymmetry or negative pivot of a compliance that counts as round-off, relative to its largest entry. */
#define SKEW_MAX  (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)
#define ALIKE_MIN 0.5 /* smallest cosine between the gradients of a constraint at nearby positions */
#define ROUND_OFF (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON)

/* The constraints of one element at rest, repeated in all SIMD lanes. */
typedef struct constraint_numbers {
    _Alignas(SINEW_ALIGNMENT) sinew_real x[4 * SINEW_STENCIL_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real data[SINEW_DATA_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) int32_t vertex[SINEW_STENCIL_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real C[CONSTRAINTS_MAX * WIDTH_MAX], one_sided[CONSTRAINTS_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real J[CONSTRAINTS_MAX * 3 * SINEW_STENCIL_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real alpha[CONSTRAINTS_MAX * CONSTRAINTS_MAX * WIDTH_MAX];
} constraint_numbers;

static void evaluate_element_constraints(const sinew_batch *batch, constraint_numbers *r)
{
    batch->ops->jacobian(&(sinew_jacobian_kernel){.groups = {.count = 1, .vertex = r->vertex, .data = r->data},
                                                  .x = r->x,
                                                  .hard = batch->hard,
                                                  .C = r->C,
                                                  .jacobian = r->J,
                                                  .compliance = r->alpha,
                                                  .one_sided = batch->hard ? r->one_sided : NULL});
}

static void evaluate_constraints_at_rest(const sinew_world *world, const sinew_energy_record *record, int32_t e,
                                         constraint_numbers *out)
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
    evaluate_element_constraints(batch, out);
}

/* True if the m x m matrix is symmetric positive semi-definite: its Cholesky factor exists, zero rows allowed. */
static bool is_valid_compliance(const sinew_real *alpha, int32_t m, int32_t W)
{
    double L[CONSTRAINTS_MAX][CONSTRAINTS_MAX] = {{0}}, largest = 0;
    for (int32_t i = 0; i < m * m; i++)
        largest = fmax(largest, fabs((double)alpha[i * W]));
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = (double)alpha[(i * m + j) * W];
            if (!(fabs(sum - (double)alpha[(j * m + i) * W]) <= SKEW_MAX * largest))
                return false;
            for (int32_t k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum >= -SKEW_MAX * largest))
                return false;
            if (i != j && L[j][j] == 0 && !(fabs(sum) <= sqrt(SKEW_MAX) * largest))
                return false;
            L[i][j] = i == j ? (sum > SKEW_MAX * largest ? sqrt(sum) : 0) : L[j][j] > 0 ? sum / L[j][j] : 0;
        }
    return true;
}

/* ---- Comparison of directions of hard constraints ------------------------------------------------ */

/* True if a constraint of the element must have a nonzero gradient at rest. Compliance 1 marks an absent constraint.
 * Inequalities that are inactive at rest are exempt: a flat sheet with a bending limit has no gradient. */
static bool must_have_gradient(const constraint_numbers *r, int32_t i, int32_t m, int32_t W)
{
    return r->alpha[(i * m + i) * W] == 0 && (r->one_sided[i * W] == 0 || !(r->C[i * W] > 0));
}

/* Displacement of an element's vertices for the gradient test: small relative to the element and above the round-off of
 * its coordinates, in m. */
static double small_displacement(const constraint_numbers *r, int32_t n)
{
    double largest = 0, size = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t c = 0; c < 3; c++) {
            largest = fmax(largest, fabs((double)r->x[4 * a + c]));
            size = fmax(size, fabs((double)r->x[4 * a + c] - (double)r->x[c]));
        }
    return sqrt(ROUND_OFF) * size + 64 * ROUND_OFF * largest;
}

/* Computes slopes [constraints][3 * vertices], the gradients of an element's constraints with every vertex displaced
 * along one axis, by fractions of `displacement` (m) that differ between vertices. Restores r->x, but not C, J and
 * alpha. */
static void gradients_near_rest(constraint_numbers *r, const sinew_batch *batch, int32_t axis, double displacement,
                                double *slopes)
{
    const int32_t n = batch->ops->info.vertex_count, count = batch->ops->constraint_count * 3 * n;
    sinew_real kept[SINEW_STENCIL_MAX];
    for (int32_t a = 0; a < n; a++) {
        kept[a] = r->x[4 * a + axis];
        r->x[4 * a + axis] += (sinew_real)(displacement * (2 * fmod(0.618 * (a + 1), 1) - 1));
    }
    evaluate_element_constraints(batch, r);
    for (int32_t a = 0; a < n; a++)
        r->x[4 * a + axis] = kept[a];
    for (int32_t k = 0; k < count; k++)
        slopes[k] = (double)r->J[k * batch->width];
}

static double gradient_dot(const double *a, const double *b, int32_t size)
{
    double sum = 0;
    for (int32_t k = 0; k < size; k++)
        sum += a[k] * b[k];
    return sum;
}

/* True if a constraint has the same gradient, up to its sign, at three positions. The sign may differ, because the
 * distance to the nearer of two limits changes sign between the limits. */
static bool gradients_are_alike(const double *a, const double *b, const double *c, int32_t size)
{
    const double *list[4] = {a, b, c, a};
    bool alike = true;
    for (int k = 0; k < 3; k++)
        alike &= fabs(gradient_dot(list[k], list[k + 1], size)) >=
                 ALIKE_MIN * sqrt(gradient_dot(list[k], list[k], size) * gradient_dot(list[k + 1], list[k + 1], size));
    return alike;
}

/* True if all constraints of an element that need a gradient at rest have one. `r` must be evaluated at rest and is
 * overwritten. */
static bool has_gradients_at_rest(constraint_numbers *r, const sinew_batch *batch)
{
    const int32_t W = batch->width, m = batch->ops->constraint_count, size = 3 * batch->ops->info.vertex_count;
    const double displacement = small_displacement(r, batch->ops->info.vertex_count);
    double nearby[3][CONSTRAINTS_MAX * 3 * SINEW_STENCIL_MAX];
    bool needed[CONSTRAINTS_MAX];
    for (int32_t i = 0; i < m; i++) {
        double square = 0;
        for (int32_t k = 0; k < size; k++)
            square += pow((double)r->J[(i * size + k) * W], 2);
        needed[i] = must_have_gradient(r, i, m, W);
        if (needed[i] && !(sqrt(square) > SLOPE_MIN))
            return false;
    }
    for (int32_t axis = 0; axis < 3; axis++)
        gradients_near_rest(r, batch, axis, displacement, nearby[axis]);
    for (int32_t i = 0; i < m; i++)
        if (needed[i] && !gradients_are_alike(nearby[0] + i * size, nearby[1] + i * size, nearby[2] + i * size, size))
            return false;
    return true;
}

static bool energy_is_kkt_constraint(const sinew_world *world, const sinew_energy_record *record)
{
    const sinew_energy_ops *ops = record->batch ? record->batch->ops : NULL;
    return ops && ops->jacobian && !ops->global_constraint && ops->constraint_count <= CONSTRAINTS_MAX &&
           record->batch->width <= WIDTH_MAX && sinew_solver_get_ops(world->def.solver.kind)->kkt;
}

sinew_status sinew_energy_check_hard(const sinew_world *world, const sinew_energy_record *record, sinew_error *error)
{
    constraint_numbers r;
    if (!energy_is_kkt_constraint(world, record))
        return SINEW_OK;
    const sinew_batch *batch = record->batch;
    const char *name = batch->ops->info.name;
    for (int32_t e = 0; e < batch->element_count; e++) {
        if (sinew_batch_is_off(batch, e))
            continue;
        evaluate_constraints_at_rest(world, record, e, &r);
        if (!is_valid_compliance(r.alpha, batch->ops->constraint_count, batch->width))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s, element %d: its compliance is negative or not symmetric, which that of no energy is",
                              name, e);
        if (batch->hard && !has_gradients_at_rest(&r, batch))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s, element %d: it is kept hard, and its constraint has no direction at rest (a length "
                              "or curvature of zero has none); give it one, or keep it soft",
                              name, e);
    }
    return SINEW_OK;
}

/* Number of the first element of an energy whose particles are all pinned; -1: none. */
static int32_t find_fully_pinned_element(const sinew_world *world, const sinew_energy_record *record)
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
    const int32_t e = energy_is_kkt_constraint(world, record) && record->batch->hard && !record->rigid
                          ? find_fully_pinned_element(world, record)
                          : -1;
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
