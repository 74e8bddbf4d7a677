/* SPDX-License-Identifier: MIT
 *
 * test_changing_memory.c: allocation failures while a running world changes. Each change runs while its n-th allocation
 * fails, for n = 1, 2, ... until it succeeds. A failed change reports that memory ran out, leaks no block and leaves
 * the world unchanged.
 */
#include "failing_malloc.h"
#include "make_world.h"

typedef struct parts {
    sinew_world *world;
    sinew_body block, rope;
    sinew_pin pin;
    sinew_mesh *mesh;
    char *state;
    size_t size;
} parts;

/* A block and a rope, joined by a weak constraint, after two steps; a third body was removed. */
static parts make_parts(void)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    parts p = {.world = make_world(&def), .mesh = make_beam(2, 1, 1, 2, 1, 1)};
    sinew_mesh *rope = make_rope(5, (const double[]){0, 2, 0}, (const double[]){1, 2, 0});
    sinew_body gone = add_mesh(p.world, rope, 1, NULL, NULL);
    p.block = add_mesh(p.world, p.mesh, 1000, NULL, NULL);
    p.rope = add_mesh(p.world, rope, 1, NULL, NULL);
    add_material(p.world, p.block, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    add_springs(p.world, p.rope, 1000);
    p.pin = add_pins(p.world, p.rope, (const int32_t[]){0}, 1, NULL);
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.element_count = 1;
    weak.elements = (const int32_t[]){5, 6, 7, 8, 17, 18, 19, 20};
    weak.weights = (const sinew_real[]){1, 0, 0, 0, 1, 0, 0, 0};
    add_energy(p.world, &weak);
    sinew_world_step(p.world, NULL);
    p.size = sinew_world_state_size(p.world);
    p.state = make_array(p.size, 1);
    assert_int_equal(sinew_world_state_save(p.world, p.state, p.size), SINEW_OK);
    assert_int_equal(sinew_world_remove_body(p.world, gone, NULL), SINEW_OK);
    sinew_world_step(p.world, NULL);
    sinew_mesh_destroy(rope);
    return p;
}

static void free_parts(parts *p)
{
    sinew_world_destroy(p->world);
    sinew_mesh_destroy(p->mesh);
    free(p->state);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static sinew_status enter(parts *p, sinew_error *error)
{
    sinew_body_def def = sinew_default_body_def();
    def.mesh = p->mesh;
    def.spare = 40;
    return sinew_world_add_body(p->world, &def, error).index < 0 ? error->status : SINEW_OK;
}

/* Adds vertices that change the order of the existing ones. */
static sinew_status grow(parts *p, sinew_error *error)
{
    sinew_vertices_def def = sinew_default_vertices_def();
    def.count = 3;
    def.rest = (const sinew_real[]){9, 1, 1, -5, 3, 3, 1, -7, 0};
    def.masses = (const sinew_real[]){1, 2, 3};
    return sinew_body_add_vertices(p->world, p->block, &def, NULL, error);
}

static sinew_status copy(parts *p, sinew_error *error)
{
    sinew_vertices_def def = sinew_default_vertices_def();
    def.count = 2;
    def.copies_of = (const int32_t[]){3, 4};
    return sinew_body_add_vertices(p->world, p->block, &def, NULL, error);
}

static sinew_status other_cells(parts *p, sinew_error *error)
{
    return sinew_body_set_mesh(p->world, p->block, p->mesh, error);
}

static sinew_status hold(parts *p, sinew_error *error)
{
    sinew_pin_def def = sinew_default_pin_def();
    def.body = p->block;
    def.vertex_count = 2;
    def.vertices = (const int32_t[]){0, 1};
    return sinew_world_add_pins(p->world, &def, error).index < 0 ? error->status : SINEW_OK;
}

static sinew_status move(parts *p, sinew_error *error)
{
    const sinew_key keys[] = {{.time = 0}, {.time = 1, .translation = {1, 0, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    return sinew_pin_set_motion(p->world, p->pin, &motion, error);
}

static sinew_status restore(parts *p, sinew_error *error)
{
    return sinew_world_state_restore(p->world, p->state, p->size, NULL, error);
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

/* Makes one change while its n-th allocation fails; returns whether the change succeeded. */
static bool fail_one(sinew_status (*change)(parts *, sinew_error *), long long n, uint64_t untouched)
{
    const long long alive = atomic_load(&failing_malloc.alive);
    parts p = make_parts();
    sinew_error error = {0};
    const uint64_t before = sinew_world_state_hash(p.world);
    failing_malloc_arm(n, true);
    const sinew_status status = change(&p, &error);
    failing_malloc_arm(0, true);
    if (status != SINEW_OK) {
        assert_int_equal(status, SINEW_ERROR_MEMORY);
        assert_non_null(strstr(error.text, "memory"));
        assert_true(sinew_world_state_hash(p.world) == before);
        sinew_world_step(p.world, NULL);
        assert_true(sinew_world_state_hash(p.world) == untouched);
        error = (sinew_error){0};
        change(&p, &error);
        must(&error);
    }
    assert_int_equal(sinew_world_step(p.world, NULL) & SINEW_STEP_UNPREPARED, 0);
    free_parts(&p);
    assert_true(atomic_load(&failing_malloc.alive) == alive);
    return status == SINEW_OK;
}

static void sweep(sinew_status (*change)(parts *, sinew_error *), int fewest)
{
    parts p = make_parts();
    sinew_world_step(p.world, NULL);
    const uint64_t untouched = sinew_world_state_hash(p.world);
    free_parts(&p);
    long long n = 1;
    while (!fail_one(change, n, untouched))
        n++;
    assert_true(n > fewest);
}

static void every_change(void **state)
{
    (void)state;
    sweep(enter, 4);
    sweep(grow, 10);
    sweep(copy, 6);
    sweep(other_cells, 1);
    sweep(hold, 4);
    sweep(move, 2);
    sweep(restore, 0);
}

/* Takes the first step after a change while its n-th allocation fails: it is refused, and succeeds when repeated. */
static void step_after(sinew_status (*change)(parts *, sinew_error *))
{
    uint64_t undisturbed = 0;
    bool reached = true;
    for (long long n = 0; reached || n <= 1; n++) {
        const long long alive = atomic_load(&failing_malloc.alive);
        parts p = make_parts();
        sinew_error error = {0};
        change(&p, &error);
        must(&error);
        const uint64_t before = sinew_world_state_hash(p.world);
        failing_malloc_arm(n, true);
        const bool refused = (sinew_world_step(p.world, NULL) & SINEW_STEP_UNPREPARED) != 0;
        reached = atomic_load(&failing_malloc.fails) > 0;
        failing_malloc_arm(0, true);
        assert_true(reached || !refused);
        if (refused) {
            assert_true(sinew_world_state_hash(p.world) == before);
            assert_non_null(strstr(sinew_world_error(p.world), "memory"));
            assert_int_equal(sinew_world_step(p.world, NULL) & SINEW_STEP_UNPREPARED, 0);
        }
        undisturbed = n == 0 ? sinew_world_state_hash(p.world) : undisturbed;
        assert_true(sinew_world_state_hash(p.world) == undisturbed);
        free_parts(&p);
        assert_true(atomic_load(&failing_malloc.alive) == alive);
    }
}

static void steps_after_changes(void **state)
{
    (void)state;
    step_after(enter);
    step_after(grow);
    step_after(copy);
    step_after(hold);
    step_after(restore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_change), cmocka_unit_test(steps_after_changes)};
    failing_malloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
