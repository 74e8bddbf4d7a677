/* SPDX-License-Identifier: MIT
 *
 * test_spawn.c: bodies that are added to a running world with contact. The search for overlaps visits the pairs of the
 * new body only, and finds what a search of all pairs finds, also if the new body overlaps others. Steps that a world
 * has taken before allocate nothing, contact included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "contact/contact.h"
#include "sinew/contact.h"
#include "sinew/sinew.h"
#include "world/world.h"

enum {
    WARM = 12, /* steps before the addition */
    AFTER = 12
};

typedef struct counter {
    int64_t calls;
} counter;

static void *count_allocate(void *context, size_t size, size_t alignment)
{
    counter *c = context;
    c->calls++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void add_box(sinew_world *world, double x, double y)
{
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    for (int k = 0; k < 3; k++) {
        box.size[k] = (sinew_real)0.2;
        box.vertices[k] = 4;
    }
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    assert_non_null(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *q = calloc(3 * (size_t)n, sizeof *q);
    assert_non_null(q);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(i % 3 == 0 ? x : i % 3 == 1 ? y : 0);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.positions = q;
    def.density = 500;
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    energy.body = sinew_world_add_body(world, &def, &error);
    assert_true(energy.body.index >= 0);
    assert_int_equal(sinew_energy_def_set(&energy, "stiffness", 20000, &error), SINEW_OK);
    assert_true(sinew_world_add_energy(world, &energy, &error).index >= 0);
    free(q);
    sinew_mesh_destroy(mesh);
}

static sinew_world *make_world(sinew_solver_kind solver, counter *calls)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = (sinew_allocator){count_allocate, count_release, calls};
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 8;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)4e-3;
    assert_int_equal(sinew_world_set_contact(world, &contact, &error), SINEW_OK);
    sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    floor.position[1] = (sinew_real)-0.11;
    assert_true(sinew_world_add_collider(world, &floor, &error).index >= 0);
    add_box(world, 0, 0);
    add_box(world, 0.05, 0.22);
    return world;
}

/* Adds a box at (x, y) after some steps; `whole`: the search for overlaps must visit all pairs. overlaps [AFTER]: counts
 * of the reports. Returns the hash of the state at the end. */
static uint64_t run_with_box(sinew_solver_kind solver, double x, double y, bool whole, int32_t *overlaps)
{
    counter calls = {0};
    sinew_world *world = make_world(solver, &calls);
    for (int k = 0; k < WARM; k++)
        assert_false(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED);
    assert_true(world->contact->free_known);
    add_box(world, x, y);
    if (whole)
        world->contact->free_known = false;
    for (int k = 0; k < AFTER; k++) {
        sinew_error error = {0};
        sinew_contact_report report;
        assert_false(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED);
        assert_int_equal(sinew_world_contact_report(world, &report, &error), SINEW_OK);
        overlaps[k] = report.overlaps;
    }
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return hash;
}

static void test_overlaps(void **state)
{
    (void)state;
    const double places[][2] = {{1, 0.1}, {0.03, 0.3}, {0.1, 0.02}, {0, -0.15}};
    bool found = false;
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        int32_t of_new[AFTER], of_all[AFTER];
        const uint64_t hash = run_with_box(SINEW_SOLVER_XPBD, places[p][0], places[p][1], false, of_new);
        assert_true(hash == run_with_box(SINEW_SOLVER_XPBD, places[p][0], places[p][1], true, of_all));
        assert_memory_equal(of_new, of_all, sizeof of_new);
        found = found || of_new[0] > 0;
        assert_true(p > 0 || of_new[0] == 0);
    }
    assert_true(found);
}

/* Sweeps only: newton allocates the symbolic factor of each new set of contacts. */
static void test_no_allocation(void **state)
{
    (void)state;
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD, SINEW_SOLVER_PBNG};
    for (int s = 0; s < 3; s++) {
        counter calls = {0};
        sinew_error error = {0};
        sinew_world *world = make_world(solvers[s], &calls);
        assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
        const size_t size = sinew_world_state_size(world);
        void *bytes = malloc(size);
        assert_int_equal(sinew_world_state_save(world, bytes, size), SINEW_OK);
        int64_t steps_with_calls = 0, contacts = 0;
        uint64_t hash[2];
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < 40; k++) {
                const int64_t before = calls.calls;
                assert_false(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED);
                /* The first step after a load builds the collision mesh again. */
                if (pass == 1 && k > 0 && calls.calls != before)
                    steps_with_calls++;
                contacts += world->contact->contacts.count;
            }
            hash[pass] = sinew_world_state_hash(world);
            if (pass == 0)
                assert_int_equal(sinew_world_state_load(world, bytes, size, &error), SINEW_OK);
        }
        print_message("%s: %lld of 39 steps allocate\n", sinew_get_solver_info(solvers[s])->name,
                      (long long)steps_with_calls);
        assert_true(contacts > 0);
        assert_true(hash[0] == hash[1]);
        assert_int_equal(steps_with_calls, 0);
        free(bytes);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
