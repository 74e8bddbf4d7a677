/* SPDX-License-Identifier: MIT
 *
 * test_inverted.c: sinew_world_inverted() lists the tets whose signed volume has changed its sign, as many as the
 * measures count, in random states of two bodies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random_cases.h"
#include "sinew/sinew.h"

static double volume(const sinew_real *x, const int32_t *tet)
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = (double)x[3 * tet[a + 1] + c] - (double)x[3 * tet[0] + c];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static sinew_world *make_world(sinew_mesh *mesh)
{
    sinew_error error;
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = sinew_world_create(&def, &error);
    const sinew_energy_kind kinds[] = {SINEW_ENERGY_STABLE_NEO_HOOKEAN, SINEW_ENERGY_STRAIN};
    for (int i = 0; i < 2; i++) {
        sinew_body_def body = sinew_default_body_def();
        body.mesh = mesh;
        sinew_energy_def energy = sinew_default_energy_def(kinds[i]);
        energy.body = sinew_world_add_body(world, &body, &error);
        assert_true(sinew_world_add_energy(world, &energy, &error).index == i);
    }
    return world;
}

static void test_which_tets(void **state)
{
    (void)state;
    enum {
        CAPACITY = 4096
    };
    static sinew_energy energies[CAPACITY];
    static int32_t elements[CAPACITY];
    sinew_error error;
    random_cases cases = random_cases_begin("inverted tets", 20, 500);
    sinew_beam_def beam = sinew_default_beam_def();
    sinew_mesh *mesh = sinew_mesh_beam(&beam, &error);
    assert_non_null(mesh);
    sinew_world *world = make_world(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh), tets = sinew_mesh_tet_count(mesh);
    sinew_real *q = calloc(6 * (size_t)n, sizeof *q);
    for (int32_t k = 0; k < cases.count; k++) {
        const double size = random_magnitude(&cases, 1e-3, 1);
        sinew_measures measures;
        int32_t at = 0;
        for (int32_t i = 0; i < 6 * n; i++)
            q[i] = sinew_mesh_positions(mesh)[i % (3 * n)] + (sinew_real)random_between(&cases, -size, size);
        assert_int_equal(sinew_world_set_positions(world, 0, 2 * n, q), SINEW_OK);
        assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
        const int32_t count = sinew_world_inverted(world, CAPACITY, energies, elements);
        assert_int_equal(count, measures.inverted_count);
        assert_int_equal(sinew_world_inverted(world, 0, NULL, NULL), count);
        /* The list is sorted and complete, without other tets. */
        for (int32_t body = 0; body < 2; body++)
            for (int32_t t = 0; t < tets; t++) {
                const int32_t *tet = sinew_mesh_tets(mesh) + 4 * t;
                const bool listed = at < count && energies[at].index == body && elements[at] == t;
                assert_int_equal(listed, volume(q + 3 * body * n, tet) * volume(sinew_mesh_positions(mesh), tet) <= 0);
                at += listed;
            }
        assert_int_equal(at, count);
    }
    free(q);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_tets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
