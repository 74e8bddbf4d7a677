/* SPDX-License-Identifier: MIT
 *
 * test_many_bodies.c: the cost of a world of many small bodies is proportional to their number, and each body moves as
 * the first.
 *
 * The test measures allocator requests, not time: an array over all particles that is reallocated for each body would
 * show.
 */
#include "make_world.h"

typedef struct meter {
    double bytes; /* total number of bytes requested */
} meter;

static void *meter_allocate(void *context, size_t size, size_t alignment)
{
    ((meter *)context)->bytes += (double)size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void meter_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* A row of cubes, each of five tets with two pinned vertices and an energy of its own. */
static sinew_world *make_row(meter *m, sinew_solver_kind solver, int32_t count)
{
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){meter_allocate, meter_release, m};
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 3;
    def.quasistatic = sinew_get_solver_info(solver)->static_only;
    sinew_world *world = make_world(&def);
    for (int32_t i = 0; i < count; i++) {
        sinew_error error = {0};
        sinew_box_def box = sinew_default_box_def();
        for (int c = 0; c < 3; c++)
            box.vertices[c] = 2;
        box.origin[0] = (sinew_real)(2 * i);
        sinew_mesh *mesh = sinew_mesh_box(&box, &error);
        must(&error);
        sinew_body body = add_mesh(world, mesh, 100, NULL, NULL);
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
        energy.body = body;
        energy.parameters[0] = 20000;
        sinew_world_add_energy(world, &energy, &error);
        must(&error);
        add_pins(world, body, (const int32_t[]){0, 2}, 2, NULL);
        sinew_mesh_destroy(mesh);
    }
    return world;
}

/* Bodies differ only in their positions: their displacements agree to the round-off of positions. */
static void assert_alike(const sinew_world *world, int32_t count)
{
    const int32_t n = sinew_world_particle_count(world) / count;
    sinew_real first[3 * 8], other[3 * 8];
    assert_int_equal(n, 8);
    assert_int_equal(sinew_world_get_positions(world, 0, n, first), SINEW_OK);
    double moved = 0;
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(sinew_world_get_positions(world, n * i, n, other), SINEW_OK);
        for (int k = 0; k < 3 * n; k++) {
            double place = k % 3 == 0 ? 2.0 * i : 0, slack = sizeof(sinew_real) == 4 ? 2e-3 : 1e-9;
            if (fabs(other[k] - place - first[k]) > slack)
                fail_msg("coordinate %d of body %d is off by %g", k, i, other[k] - place - first[k]);
        }
    }
    for (int k = 0; k < n; k++)
        moved = fmax(moved, fabs((double)first[3 * k + 1] - (k / 2 % 2)));
    assert_true(moved > 1e-6);
}

static double cost_of(sinew_solver_kind solver, int32_t count)
{
    meter m = {0};
    sinew_world *world = make_row(&m, solver, count);
    for (int step = 0; step < 2; step++)
        assert_true(!(sinew_world_step(world, NULL) & SINEW_STEP_NOT_FINITE));
    assert_alike(world, count);
    sinew_world_destroy(world);
    return m.bytes;
}

static void cost_is_in_proportion(void **state)
{
    (void)state;
    for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++) {
        if (!sinew_solver_accepts((sinew_solver_kind)solver, SINEW_ENERGY_STRAIN, NULL, 0))
            continue;
        double few = cost_of((sinew_solver_kind)solver, 100), many = cost_of((sinew_solver_kind)solver, 800);
        const char *name = sinew_get_solver_info((sinew_solver_kind)solver)->name;
        printf("%-8s %.1f and %.1f MB for 100 and 800 bodies\n", name, few * 1e-6, many * 1e-6);
        if (many > 1.25 * 8 * few)
            fail_msg("%s: eight times the bodies ask for %.1f times the memory", name, many / few);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cost_is_in_proportion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
