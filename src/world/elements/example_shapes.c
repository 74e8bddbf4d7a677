/* SPDX-License-Identifier: MIT
 *
 * example_shapes.c: example shapes of the energy `examples` (examples.c): the stretch of each tet from its rest shape
 * to the example, without the rotation, S = R^T G of the polar decomposition G = R S, less 1. The six numbers are in
 * the axes of the rest shape, so they do not depend on the order of an element's vertices.
 *
 * The file also fits one blend for the whole body (sinew/blend.h): for rotations R_e, w solves
 *
 *     sum_j (sum_e k V E_i : E_j) w_j = sum_e k V E_i : (R^T F - 1)
 *
 * and R_e is the rotation of the polar decomposition of F_e H(w), H(w) = 1 + sum_i w_i E_i. E_i is the stretch of
 * example i in the element, less 1, k its stiffness, V its volume. No alternation raises the sum of squares.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "energy/example_shapes.h"
#include "math/small/decompose_batch.h"
#include "sinew/blend.h"
#include "world/world.h"

enum {
    POLAR_ITERATIONS = 60
};

static double example_determinant(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* Computes C = det(A) A^-T, the cofactor matrix of the 3x3 matrix A. */
static void cofactor_matrix(const double A[9], double C[9])
{
    for (int i = 0; i < 9; i++) {
        const int r1 = 3 * ((i / 3 + 1) % 3), r2 = 3 * ((i / 3 + 2) % 3), c1 = (i + 1) % 3, c2 = (i + 2) % 3;
        C[i] = A[r1 + c1] * A[r2 + c2] - A[r1 + c2] * A[r2 + c1];
    }
}

/* Newton's iteration for the rotation nearest to G, det G > 0: R <- (R + R^-T) / 2. */
static void nearest_rotation(const double G[9], double R[9])
{
    memcpy(R, G, 9 * sizeof *R);
    for (int k = 0; k < POLAR_ITERATIONS; k++) {
        double C[9], change = 0;
        const double det = example_determinant(R);
        cofactor_matrix(R, C);
        for (int i = 0; i < 9; i++) {
            const double next = 0.5 * (R[i] + C[i] / det);
            change = fmax(change, fabs(next - R[i]));
            R[i] = next;
        }
        if (change < 1e-15)
            break;
    }
}

/* Computes the columns of the 3x3 matrix D: the edges from the first vertex of a tet to the others. */
static void find_tet_edges(const sinew_real *points, double D[9])
{
    for (int i = 0; i < 9; i++)
        D[i] = (double)points[3 * (i % 3 + 1) + i / 3] - (double)points[i / 3];
}

/* Computes G = Ds Dm^-1, the deformation gradient of a tet from `rest` (edges Dm) to `shape` (edges Ds); returns det
 * Dm. */
static double deformation_of(const sinew_real rest[12], const sinew_real shape[12], double G[9])
{
    double Dm[9], Ds[9], C[9];
    find_tet_edges(rest, Dm);
    find_tet_edges(shape, Ds);
    cofactor_matrix(Dm, C);
    const double det = example_determinant(Dm);
    for (int i = 0; i < 9; i++) {
        G[i] = 0;
        for (int k = 0; k < 3; k++)
            G[i] += Ds[3 * (i / 3) + k] * C[3 * (i % 3) + k] / det;
    }
    return det;
}

/* Computes E = S - 1 of one tet, S its stretch from `rest` to `shape`: xx, yy, zz, xy, xz, yz. False if the shape is
 * flat or inverted. */
static bool example_stretch_of(const sinew_real rest[12], const sinew_real shape[12], sinew_real E[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double G[9], R[9];
    deformation_of(rest, shape, G);
    if (!(example_determinant(G) > 1e-9))
        return false;
    nearest_rotation(G, R);
    for (int k = 0; k < 6; k++) {
        double sum = row[k] == column[k] ? -1 : 0;
        for (int i = 0; i < 3; i++)
            sum += 0.5 * (R[3 * i + row[k]] * G[3 * i + column[k]] + R[3 * i + column[k]] * G[3 * i + row[k]]);
        E[k] = (sinew_real)sum;
    }
    return true;
}

static sinew_status check_examples(const sinew_world *world, const sinew_energy_def *def, const char *name,
                                   sinew_error *error)
{
    const int32_t expected = def->body.index >= 0 ? sinew_mesh_vertex_count(sinew_body_mesh(world, def->body))
                                                  : sinew_world_particle_count(world);
    if (def->example_count > SINEW_EXAMPLE_MAX)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: %d examples, at most %d can be taken", name, def->example_count,
                          SINEW_EXAMPLE_MAX);
    if (def->example_vertex_count != expected)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "%s: its examples have %d vertices and the body %d; examples are the same mesh in other shapes", name,
            def->example_vertex_count, expected);
    for (int32_t k = 0; k < def->example_count; k++)
        if (!def->examples[k])
            return sinew_fail(error, SINEW_ERROR_USAGE, "%s: example %d is NULL", name, k);
    return SINEW_OK;
}

sinew_status sinew_energy_store_examples(sinew_energy_store *store, const sinew_world *world,
                                         const sinew_energy_def *def, const int32_t *numbers, sinew_error *error)
{
    const char *name = sinew_get_energy_info(def->kind)->name;
    const size_t each = 6 * SINEW_EXAMPLE_MAX;
    store->examples_given = def->kind == SINEW_ENERGY_EXAMPLES && def->example_count > 0;
    if (!store->examples_given)
        return SINEW_OK;
    const sinew_status status = check_examples(world, def, name, error);
    if (status != SINEW_OK)
        return status;
    if (!sinew_reserve(&world->allocator, &store->examples, &store->example_capacity, each * (size_t)store->count,
                       sizeof *store->examples))
        return sinew_fail_memory(error, "the examples of an energy");
    memset(store->examples, 0, each * (size_t)store->count * sizeof *store->examples);
    for (int32_t e = 0; e < store->count; e++)
        for (int32_t k = 0; k < def->example_count; k++) {
            sinew_real rest[12], shape[12];
            sinew_world_points(world->rest, store->particles + 4 * (size_t)e, 4, rest);
            for (int a = 0; a < 4; a++)
                memcpy(shape + 3 * a, def->examples[k] + 3 * (size_t)numbers[4 * (size_t)e + (size_t)a],
                       3 * sizeof *shape);
            if (!example_stretch_of(rest, shape, store->examples + each * (size_t)e + 6 * (size_t)k))
                return sinew_fail(error, SINEW_ERROR_DATA,
                                  "%s, element %d: in example %d it has no volume or is inside out; mend that shape",
                                  name, e, k);
        }
    return SINEW_OK;
}

/* ---- One blend of examples for all elements ---------------------------------------------------- */

enum {
    BLEND_TURNS = 500,
    GRAM = 0, /* first of the sums over elements: E_i : E_j row by row, then E_i : (R^T F - 1), then |R^T F - 1|^2 */
    SLOPE = SINEW_EXAMPLE_MAX * SINEW_EXAMPLE_MAX,
    SQUARE = SLOPE + SINEW_EXAMPLE_MAX,
    SUMS
};

typedef struct blend_fit {
    const sinew_world *world;
    const sinew_energy_record *record;
    int32_t stiffness; /* index of the parameter `stiffness` among the energy's parameters */
    double w[SINEW_EXAMPLE_MAX];
} blend_fit;

/* Computes A = R^T F - 1, its symmetric part as six numbers, R the rotation nearest to F (1 + sum_i w_i E_i). Returns
 * |A|^2. */
static double remaining_strain(const double F[9], double E[SINEW_EXAMPLE_MAX][6], const double *w, double A[6])
{
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2}, row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    _Alignas(SINEW_ALIGNMENT) sinew_real M[9], R[9];
    double H[9], left[9], square = 0;
    for (int i = 0; i < 9; i++) {
        H[i] = i % 4 == 0;
        for (int k = 0; k < SINEW_EXAMPLE_MAX; k++)
            H[i] += w[k] * E[k][at[i]];
    }
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += F[i / 3 * 3 + k] * H[3 * k + i % 3];
        M[i] = (sinew_real)sum;
    }
    sinew_decompose_batch_scalar.polar3(1, M, R);
    for (int i = 0; i < 9; i++) {
        left[i] = i % 4 == 0 ? -1 : 0;
        for (int k = 0; k < 3; k++)
            left[i] += (double)R[3 * k + i / 3] * F[3 * k + i % 3];
        square += left[i] * left[i];
    }
    for (int k = 0; k < 6; k++)
        A[k] = 0.5 * (left[3 * row[k] + column[k]] + left[3 * column[k] + row[k]]);
    return square;
}

static void blend_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const blend_fit *fit = context;
    const sinew_energy_store *store = &fit->record->store;
    for (int32_t e = first; e < last; e++) {
        sinew_real rest[12], now[12], parameters[SINEW_PARAMETER_MAX];
        int32_t particles[SINEW_STENCIL_MAX];
        double F[9], A[6], E[SINEW_EXAMPLE_MAX][6];
        if (sinew_batch_is_off(fit->record->batch, e))
            continue;
        sinew_energy_rest(fit->world, fit->record, e, rest);
        sinew_energy_parameters(fit->record, e, parameters);
        sinew_batch_particles(fit->record->batch, e, particles);
        sinew_world_points(fit->world->q, particles, 4, now);
        const double volume = fabs(deformation_of(rest, now, F)) / 6;
        const double filled = store->fractions_given ? (double)store->fractions[e] : 1;
        const double weight = (double)parameters[fit->stiffness] * volume * filled;
        for (int k = 0; k < 6 * SINEW_EXAMPLE_MAX; k++)
            E[k / 6][k % 6] = (double)store->examples[6 * SINEW_EXAMPLE_MAX * (size_t)e + (size_t)k];
        example_drop_dependent(E);
        sums[SQUARE] += weight * remaining_strain(F, E, fit->w, A);
        for (int i = 0; i < SINEW_EXAMPLE_MAX; i++) {
            sums[SLOPE + i] += weight * example_dot(E[i], A);
            for (int j = 0; j < SINEW_EXAMPLE_MAX; j++)
                sums[GRAM + SINEW_EXAMPLE_MAX * i + j] += weight * example_dot(E[i], E[j]);
        }
    }
}

/* Solves G w = b for the blend weights w by elimination; linearly dependent examples get weight 0. */
static void solve_weights(const double *G, const double *b, double *w)
{
    double L[SINEW_EXAMPLE_MAX][SINEW_EXAMPLE_MAX] = {{0}}, y[SINEW_EXAMPLE_MAX];
    for (int i = 0; i < SINEW_EXAMPLE_MAX; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = G[SINEW_EXAMPLE_MAX * i + j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            const bool none = sum <= EXAMPLE_SAME * G[SINEW_EXAMPLE_MAX * i + i];
            L[i][j] = i == j ? (none ? 0 : sqrt(sum)) : L[j][j] > 0 ? sum / L[j][j] : 0;
        }
        double sum = b[i];
        for (int k = 0; k < i; k++)
            sum -= L[i][k] * y[k];
        y[i] = L[i][i] > 0 ? sum / L[i][i] : 0;
    }
    for (int i = SINEW_EXAMPLE_MAX - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < SINEW_EXAMPLE_MAX; k++)
            sum -= L[k][i] * w[k];
        w[i] = L[i][i] > 0 ? sum / L[i][i] : 0;
    }
}

/* One iteration of the blend from fit->w: rotations, then the weights w for them; returns the remaining sum of
 * squares. */
static double blend_iteration(const blend_fit *fit, double *w)
{
    double sums[SUMS] = {0};
    sinew_sum(blend_terms, fit, fit->record->store.count, SUMS, sums, fit->world->objective.thread_count);
    solve_weights(sums + GRAM, sums + SLOPE, w);
    double left = sums[SQUARE];
    for (int i = 0; i < SINEW_EXAMPLE_MAX; i++)
        left -= w[i] * sums[SLOPE + i];
    return left;
}

/* Iterates until the blend weights converge, at most BLEND_TURNS times, starting from the best of: the rest shape, each
 * example, and its negative. */
static void fit_weights(blend_fit *fit, double *weights)
{
    double min = HUGE_VAL, w[SINEW_EXAMPLE_MAX], best[SINEW_EXAMPLE_MAX] = {0};
    for (int start = 0; start <= 2 * SINEW_EXAMPLE_MAX; start++) {
        for (int i = 0; i < SINEW_EXAMPLE_MAX; i++)
            fit->w[i] = start == 0 || (start - 1) / 2 != i ? 0 : start % 2 ? 1 : -1;
        const double left = blend_iteration(fit, w);
        if (left < min) {
            min = left;
            memcpy(best, w, sizeof best);
        }
    }
    memcpy(fit->w, best, sizeof best);
    double change = HUGE_VAL;
    const double settled = sizeof(sinew_real) == 4 ? 1e-7 : 1e-14;
    for (int turn = 0; turn < BLEND_TURNS && change > settled; turn++) {
        change = 0;
        blend_iteration(fit, w);
        for (int i = 0; i < SINEW_EXAMPLE_MAX; i++)
            change = fmax(change, fabs(w[i] - fit->w[i]) / fmax(1, fabs(w[i])));
        memcpy(fit->w, w, sizeof w);
    }
    memcpy(weights, fit->w, sizeof fit->w);
}

sinew_status sinew_energy_fit_blend(const sinew_world *world, sinew_energy energy, double *weights, sinew_error *error)
{
    if (!SINEW_ASSERT(world && weights))
        return SINEW_ERROR_USAGE;
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!record->store.examples_given)
        return sinew_fail(error, SINEW_ERROR_USAGE, "energy %d is %s, without example shapes to blend", energy.index,
                          record->batch->ops->info.name);
    blend_fit fit = {.world = world, .record = record, .stiffness = sinew_energy_parameter(record->kind, "stiffness")};
    fit_weights(&fit, weights);
    return SINEW_OK;
}

sinew_status sinew_energy_follow_blend(sinew_world *world, sinew_energy energy, double *weights, sinew_error *error)
{
    static const char *const names[SINEW_EXAMPLE_MAX] = {"weight_1", "weight_2", "weight_3"};
    double w[SINEW_EXAMPLE_MAX];
    sinew_status status = sinew_energy_fit_blend(world, energy, w, error);
    if (status != SINEW_OK)
        return status;
    const sinew_energy_store *store = &sinew_world_find_energy(world, energy, error)->store;
    if (!(store->parameters[sinew_energy_parameter(SINEW_ENERGY_EXAMPLES, "weights")] > 0))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "energy %d finds a blend in each element; set its weights to given before it follows one",
                          energy.index);
    for (int i = 0; status == SINEW_OK && i < SINEW_EXAMPLE_MAX; i++)
        status = sinew_energy_set_parameter(world, energy, names[i], (sinew_real)w[i], error);
    if (status == SINEW_OK && weights)
        memcpy(weights, w, sizeof w);
    return status;
}
