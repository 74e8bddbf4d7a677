/* SPDX-License-Identifier: MIT
 *
 * test_look.c: listing the energies, elements and pins of a world equals the values that they were added with, also
 * after bodies were added and removed.
 */
#include "small_world.h"

static void energies_and_elements_are_those_that_were_added(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    assert_int_equal(sinew_world_energy_count(s.world), 1);
    const sinew_energy found = sinew_world_energy_at(s.world, 0);
    assert_memory_equal(&found, &s.energy, sizeof found);
    assert_int_equal(sinew_energy_kind_of(s.world, found), SINEW_ENERGY_NEO_HOOKEAN);

    const int32_t count = sinew_energy_element_count(s.world, found),
                  first = sinew_body_first_particle(s.world, s.body);
    assert_int_equal(count, sinew_mesh_tet_count(s.mesh));
    int32_t corners[4 * 64];
    assert_true(count > 2 && count <= 64);
    assert_int_equal(sinew_energy_get_elements(s.world, found, 0, count, corners, NULL, NULL), SINEW_OK);
    for (int32_t i = 0; i < 4 * count; i++)
        assert_int_equal(corners[i], first + sinew_mesh_tets(s.mesh)[i]);
    int32_t part[4];
    assert_int_equal(sinew_energy_get_elements(s.world, found, 2, 1, part, NULL, NULL), SINEW_OK);
    assert_memory_equal(part, corners + 8, sizeof part);
    free_scene(&s);
}

static void pairs_have_their_weights(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    const int32_t pair[16] = {0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0};
    const sinew_real weights[16] = {0.25f, 0.25f, 0.25f, 0.25f, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0, 0, 1};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    def.body = s.body;
    def.elements = pair;
    def.element_count = 2;
    def.weights = weights;
    sinew_error error = {0};
    const sinew_energy weak = sinew_world_add_energy(s.world, &def, &error);
    must(&error);
    int32_t particles[16];
    sinew_real found[16];
    assert_int_equal(sinew_energy_get_elements(s.world, weak, 0, 2, particles, found, &error), SINEW_OK);
    assert_memory_equal(found, weights, sizeof found);
    for (int i = 0; i < 16; i++)
        assert_int_equal(particles[i], sinew_body_first_particle(s.world, s.body) + pair[i]);
    free_scene(&s);
}

static void removed_ones_leave_empty_places(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    const sinew_body second = add_mesh(s.world, s.mesh, 1000, NULL, NULL);
    const sinew_energy other = add_material(s.world, second, SINEW_ENERGY_COROTATED, 1e5, 0.3);
    sinew_error error = {0};
    assert_int_equal(sinew_world_remove_body(s.world, s.body, &error), SINEW_OK);
    assert_int_equal(sinew_world_energy_count(s.world), 2);
    assert_int_equal(sinew_world_energy_at(s.world, 0).index, -1);
    assert_int_equal(sinew_world_energy_at(s.world, 1).index, other.index);
    int32_t corners[4];
    assert_int_equal(sinew_energy_get_elements(s.world, other, 0, 1, corners, NULL, &error), SINEW_OK);
    assert_int_equal(corners[0], sinew_body_first_particle(s.world, second) + sinew_mesh_tets(s.mesh)[0]);
    assert_int_equal(sinew_world_pinned(s.world, 0, NULL), 0);
    free_scene(&s);
}

static void pinned_particles_are_listed(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    int32_t found[16];
    assert_int_equal(sinew_world_pinned(s.world, 0, NULL), s.held_count);
    assert_int_equal(sinew_world_pinned(s.world, 16, found), s.held_count);
    for (int32_t i = 0; i < s.held_count; i++)
        assert_int_equal(found[i], sinew_body_first_particle(s.world, s.body) + s.held[i]);
    found[1] = -7;
    assert_int_equal(sinew_world_pinned(s.world, 1, found), s.held_count);
    assert_int_equal(found[1], -7);
    free_scene(&s);
}

static void refusals_name_both_numbers(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_error error;
    int32_t particles[4];
    sinew_real weights[8];
    sinew_energy_get_elements(s.world, s.energy, 9, 99, particles, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "has no elements 9 to 107; it has 10");
    sinew_energy_get_elements(s.world, s.energy, 0, 1, particles, weights, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "no weights");
    const int before = assertions;
    assert_int_equal(sinew_world_energy_at(s.world, 5).index, -1);
    assert_int_equal(sinew_energy_kind_of(s.world, (sinew_energy){3, 0}), SINEW_ENERGY_COUNT);
    assert_int_equal(sinew_world_pinned(NULL, 0, NULL), 0);
    assert_true(assertions >= before + 3);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_and_elements_are_those_that_were_added),
        cmocka_unit_test(pairs_have_their_weights),
        cmocka_unit_test(removed_ones_leave_empty_places),
        cmocka_unit_test(pinned_particles_are_listed),
        cmocka_unit_test(refusals_name_both_numbers),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
