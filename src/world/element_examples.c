/* SPDX-License-Identifier: MIT
 *
 * element_examples.c: what example shapes mean to the elements of an energy (energy_examples.c): the stretch of each
 * tet from its rest shape to the example, without the rotation, S = R^T G of the polar decomposition G = R S, less 1.
 * Six numbers in the axes of the rest shape, which do not depend on the order of an element's vertices.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

enum {
    POLAR_ITERATIONS = 60
};

static double determinant(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* C = det A A^-T */
static void cofactor(const double A[9], double C[9])
{
    for (int i = 0; i < 9; i++) {
        const int r1 = 3 * ((i / 3 + 1) % 3), r2 = 3 * ((i / 3 + 2) % 3), c1 = (i + 1) % 3, c2 = (i + 2) % 3;
        C[i] = A[r1 + c1] * A[r2 + c2] - A[r1 + c2] * A[r2 + c1];
    }
}

/* The rotation nearest to G, det G > 0: R <- (R + R^-T) / 2. */
static void nearest_rotation(const double G[9], double R[9])
{
    memcpy(R, G, 9 * sizeof *R);
    for (int k = 0; k < POLAR_ITERATIONS; k++) {
        double C[9], change = 0;
        const double det = determinant(R);
        cofactor(R, C);
        for (int i = 0; i < 9; i++) {
            const double next = 0.5 * (R[i] + C[i] / det);
            change = fmax(change, fabs(next - R[i]));
            R[i] = next;
        }
        if (change < 1e-15)
            break;
    }
}

/* Edges of a tet as columns. */
static void edges_of(const sinew_real *points, double D[9])
{
    for (int i = 0; i < 9; i++)
        D[i] = (double)points[3 * (i % 3 + 1) + i / 3] - (double)points[i / 3];
}

/* E = S - 1 of one tet; false when the example has no volume, or one of the other sign. */
static bool stretch_of(const sinew_real rest[12], const sinew_real shape[12], sinew_real E[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double Dm[9], Ds[9], C[9], G[9], R[9];
    edges_of(rest, Dm);
    edges_of(shape, Ds);
    cofactor(Dm, C);
    const double det = determinant(Dm);
    for (int i = 0; i < 9; i++) {
        G[i] = 0;
        for (int k = 0; k < 3; k++)
            G[i] += Ds[3 * (i / 3) + k] * C[3 * (i % 3) + k] / det;
    }
    if (!(determinant(G) > 1e-9))
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
    if (!sinew_make_room(&world->allocator, &store->examples, &store->example_room, each * (size_t)store->count,
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
            if (!stretch_of(rest, shape, store->examples + each * (size_t)e + 6 * (size_t)k))
                return sinew_fail(error, SINEW_ERROR_DATA,
                                  "%s, element %d: in example %d it has no volume or is inside out; mend that shape",
                                  name, e, k);
        }
    return SINEW_OK;
}
