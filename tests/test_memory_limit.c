/* SPDX-License-Identifier: MIT
 *
 * test_memory_limit.c: memory_limit of worlds. Two boxes fall on each other and on a floor under random limits, from
 * less than the world itself to more than it ever needs. Hooks below the limit count the bytes that are really held:
 * these never exceed the limit. A call that needs more fails with SINEW_ERROR_MEMORY and a text that names the limit;
 * the state before it is kept, and an unlimited world goes on from it with the bits of an undisturbed run. Also:
 * sinew_sort, which replaces qsort because qsort allocates, against qsort.
 */
#include <stdatomic.h>

#include "base/sort.h"
#include "contact_worlds.h"
#include "random_cases.h"

enum {
    STEPS = 14
};

/* ---- Hooks that count bytes -------------------------------------------------------------------- */

typedef struct counted {
    _Atomic int64_t live, peak;
} counted;

static void *counted_allocate(void *context, size_t size, size_t alignment)
{
    counted *c = context;
    char *block = aligned_alloc(alignment, alignment + (size + alignment - 1) / alignment * alignment);
    assert_non_null(block);
    *(size_t *)(void *)block = size;
    const int64_t live = atomic_fetch_add(&c->live, (int64_t)size) + (int64_t)size;
    if (live > atomic_load(&c->peak))
        atomic_store(&c->peak, live);
    return block + alignment;
}

static void counted_release(void *context, void *memory)
{
    counted *c = context;
    char *block = (char *)memory - 64;
    atomic_fetch_sub(&c->live, (int64_t) * (size_t *)(void *)block);
    free(block);
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

static bool add_falling_box(sinew_world *world, sinew_solver_kind solver, int cells, double height, sinew_error *error)
{
    const bool strain = solver == SINEW_SOLVER_PD || solver == SINEW_SOLVER_PBD || solver == SINEW_SOLVER_XPBD;
    sinew_mesh *mesh = make_beam(cells, cells, cells, 0.4, 0.4, 0.4);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x), *v = make_array(3 * (size_t)count, sizeof *v);
    for (int32_t i = 0; i < 3 * count; i++) {
        x[i] = sinew_mesh_positions(mesh)[i] + (i % 3 == 1 ? (sinew_real)height : 0);
        v[i] = i % 3 == 1 ? -2 : 0;
    }
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.positions = x;
    body.velocities = v;
    sinew_energy_def energy = sinew_default_energy_def(strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED);
    energy.body = sinew_world_add_body(world, &body, error);
    const bool good = energy.body.index >= 0 && sinew_world_add_energy(world, &energy, error).index >= 0;
    sinew_mesh_destroy(mesh);
    free(x);
    free(v);
    return good;
}

/* NULL: the limit is too low for the world, its bodies or its contact. */
static sinew_world *open_world(sinew_solver_kind solver, uint64_t limit, counted *below, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(solver);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.thread_count = 1;
    def.memory_limit = limit;
    def.allocator = (sinew_allocator){counted_allocate, counted_release, below};
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)0.01;
    const sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    if (world && add_falling_box(world, solver, 3, 0.22, error) && add_falling_box(world, solver, 2, 0.66, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK &&
        sinew_world_add_collider(world, &floor, error).index >= 0)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Positions after each step of an undisturbed run, and its memory. */
typedef struct undisturbed {
    sinew_real *q[STEPS + 1];
    size_t size; /* of each */
    int64_t built, peak;
} undisturbed;

static undisturbed run_undisturbed(sinew_solver_kind solver)
{
    undisturbed u = {0};
    counted below = {0};
    sinew_error error = {0};
    sinew_world *world = open_world(solver, 0, &below, &error);
    must(&error);
    u.built = atomic_load(&below.live);
    u.size = 3 * (size_t)sinew_world_particle_count(world) * sizeof(sinew_real);
    for (int i = 0; i <= STEPS; i++) {
        u.q[i] = positions_of(world);
        if (i < STEPS)
            assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    }
    u.peak = atomic_load(&below.peak);
    sinew_world_destroy(world);
    assert_int_equal(atomic_load(&below.live), 0);
    return u;
}

/* ---- Limits ------------------------------------------------------------------------------------ */

static void assert_named(const char *text, uint64_t limit)
{
    char name[80];
    snprintf(name, sizeof name, "memory_limit of %llu bytes", (unsigned long long)limit);
    if (!strstr(text, name))
        fail_msg("\"%s\" does not name the %s", text, name);
}

/* The state of a world that ran out of memory: an unlimited world goes on from it. */
static void assert_goes_on(sinew_solver_kind solver, const sinew_world *world, const undisturbed *u, int step)
{
    counted below = {0};
    sinew_error error = {0};
    size_t size = sinew_world_state_size(world);
    void *state = malloc(size);
    assert_int_equal(sinew_world_state_save(world, state, size), SINEW_OK);
    sinew_world *larger = open_world(solver, 0, &below, &error);
    must(&error);
    sinew_world_state_load(larger, state, size, &error);
    must(&error);
    free(state);
    for (int i = step; i < STEPS; i++)
        sinew_world_step(larger, NULL);
    sinew_real *q = positions_of(larger);
    if (memcmp(q, u->q[STEPS], u->size) != 0)
        fail_msg("%s, out of memory in step %d: goes on with other bits", sinew_get_solver_info(solver)->name,
                 step + 1);
    free(q);
    sinew_world_destroy(larger);
}

/* Steps until the limit is reached. Returns the number of steps. */
static int step_to_limit(sinew_solver_kind solver, sinew_world *world, uint64_t limit, const undisturbed *u)
{
    int step = 0;
    for (; step < STEPS; step++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        if (bits & SINEW_STEP_UNPREPARED)
            break;
    }
    sinew_real *q = positions_of(world);
    assert_int_equal(sinew_world_step_count(world), step);
    assert_memory_equal(q, u->q[step], u->size);
    free(q);
    if (step == STEPS)
        return step;
    assert_named(sinew_world_error(world), limit);
    assert_goes_on(solver, world, u, step);
    /* The world stays usable: it refuses again, or goes on with what was released. */
    sinew_world_step(world, NULL);
    assert_in_range(sinew_world_step_count(world), step, step + 1);
    return step;
}

static void random_limits(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("memory limits", 24, 500);
    int ends[3] = {0};
    for (int k = 0; k < TOUCH_SOLVERS; k++) {
        const undisturbed u = run_undisturbed(touch_solvers[k]);
        for (int i = k; i < cases.count; i += TOUCH_SOLVERS) {
            /* Below the bodies alone, below what the steps need, above it. */
            const double built = (double)u.built, peak = (double)u.peak;
            const double bounds[] = {1, built, peak, 1.2 * peak, 1.5 * peak};
            const int part = i / TOUCH_SOLVERS % 3, first = part + (part == 2);
            const uint64_t limit = (uint64_t)random_between(&cases, bounds[first], bounds[first + 1]);
            counted below = {0};
            sinew_error error = {0};
            sinew_world *world = open_world(touch_solvers[k], limit, &below, &error);
            if (!world) {
                assert_int_equal(error.status, SINEW_ERROR_MEMORY);
                assert_named(error.text, limit);
                ends[0]++;
            } else {
                ends[step_to_limit(touch_solvers[k], world, limit, &u) == STEPS ? 2 : 1]++;
            }
            assert_true(atomic_load(&below.peak) <= (int64_t)limit + 64); /* 64: a refused world has its record */
            sinew_world_destroy(world);
            assert_int_equal(atomic_load(&below.live), 0);
        }
        for (int i = 0; i <= STEPS; i++)
            free(u.q[i]);
    }
    print_message("%d worlds: %d refused, %d ran out of memory in a step, %d took all steps\n", (int)cases.count,
                  ends[0], ends[1], ends[2]);
    assert_true(ends[0] > 0 && ends[1] > 0 && ends[2] > 0);
}

/* A limit below the world's own size is refused by name; a limit in a scene is blamed on its key. */
static void too_low_limits(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit < 2000; limit = 2 * limit + 1) {
        counted below = {0};
        sinew_error error = {0};
        assert_null(open_world(SINEW_SOLVER_NEWTON, limit, &below, &error));
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_named(error.text, limit);
        assert_int_equal(atomic_load(&below.live), 0);
    }
}

/* ---- Sorting ----------------------------------------------------------------------------------- */

typedef struct item {
    int32_t key;
    unsigned char rest[36];
} item;

static int compare_items(const void *a, const void *b)
{
    const int32_t x = ((const item *)a)->key, y = ((const item *)b)->key;
    return (x > y) - (x < y);
}

static int compare_integers(const void *a, const void *b)
{
    return compare_items(a, b);
}

/* Random, sorted, reversed, constant and few-valued keys; an item carries its key, so that items stay whole. */
static void sorts(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("sorted lists", 300, 20000);
    for (int i = 0; i < cases.count; i++) {
        const int count = (int)random_magnitude(&cases, 1, 3000) - 1, kind = random_index(&cases, 5);
        item *items = make_array((size_t)count + 1, sizeof *items);
        int32_t *keys = make_array((size_t)count + 1, sizeof *keys);
        for (int k = 0; k < count; k++) {
            const int32_t drawn = (int32_t)random_bits(&cases);
            keys[k] = kind == 0 ? drawn : kind == 1 ? k : kind == 2 ? -k : kind == 3 ? 7 : drawn % 5;
            items[k].key = keys[k];
            memset(items[k].rest, keys[k] & 0xff, sizeof items[k].rest);
        }
        sinew_sort(items, (size_t)count, sizeof *items, compare_items);
        qsort(keys, (size_t)count, sizeof *keys, compare_integers);
        for (int k = 0; k < count; k++) {
            assert_int_equal(items[k].key, keys[k]);
            assert_int_equal(items[k].rest[35], keys[k] & 0xff);
        }
        free(items);
        free(keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_limits),
        cmocka_unit_test(too_low_limits),
        cmocka_unit_test(sorts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
