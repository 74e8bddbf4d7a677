/* SPDX-License-Identifier: MIT
 *
 * test_determinism.c: results have the same bits for any number of threads, from run to run, and after a state is saved
 * and loaded. Damaged states are refused. A step after warm-up makes no heap call.
 */
#include <SuiteSparse_config.h>

#include "failing_malloc.h"
#include "make_world.h"

#include "failing_allocator.h"
#include "world/world.h"

enum {
    DIRECT,
    CG
};

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct build {
    const char *name;
    int cells[3];
    sinew_energy_kind kind;
    int linear;
    bool quasistatic, springs;
} build;

static const build builds[] = {
    {"neo-Hookean, Cholesky", {16, 6, 6}, SINEW_ENERGY_NEO_HOOKEAN, DIRECT, false, false},
    {"corotated and springs, Cholesky, quasistatic", {12, 6, 6}, SINEW_ENERGY_COROTATED, DIRECT, true, true},
#ifdef SINEW_SANITIZED /* sanitizers: test_threads.c runs the large case */
    {"stable neo-Hookean, conjugate gradients", {16, 6, 6}, SINEW_ENERGY_STABLE_NEO_HOOKEAN, CG, false, false},
#else
    {"stable neo-Hookean, conjugate gradients", {24, 12, 12}, SINEW_ENERGY_STABLE_NEO_HOOKEAN, CG, false, false},
#endif
    {"strain and springs, conjugate gradients, quasistatic", {16, 6, 6}, SINEW_ENERGY_STRAIN, CG, true, true},
};
enum {
    BUILD_COUNT = sizeof builds / sizeof builds[0]
};

/* A bar held at the left. Key frames turn its right end, a target pulls its middle, and forces push it. */
static sinew_world *make(const build *b, int threads, const sinew_allocator *allocator, sinew_pin *left)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.quasistatic = b->quasistatic;
    def.damping = (sinew_real)0.1;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")] = (sinew_real)b->linear;
    if (allocator)
        def.allocator = *allocator;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(b->cells[0], b->cells[1], b->cells[2], 3, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_material(world, body, b->kind, 2e5, 0.4);
    if (b->springs)
        add_springs(world, body, 500);
    int32_t *face = make_array((size_t)n, sizeof *face);
    *left = add_pins(world, body, face, vertices_at(mesh, 0, -1.5, -1.5, face), NULL);

    const sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)0.2, .rotation = {(sinew_real)0.9, 0, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_pin_def right = sinew_default_pin_def();
    right.body = body;
    right.vertices = face;
    right.vertex_count = vertices_at(mesh, 0, 1.5, 1.5, face);
    right.motion = &motion;
    sinew_world_add_pins(world, &right, &error);
    must(&error);
    sinew_energy_def anchor = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    anchor.body = body;
    anchor.elements = face;
    face[0] = n / 2;
    anchor.element_count = 1;
    anchor.motion = &motion;
    add_energy(world, &anchor);
    const sinew_real push[3] = {0, 20, 5};
    assert_int_equal(sinew_world_set_forces(world, n / 3, 1, push), SINEW_OK);
    free(face);
    sinew_mesh_destroy(mesh);
    return world;
}

static void run(sinew_world *world, int steps)
{
    for (int i = 0; i < steps; i++)
        assert_int_equal(sinew_world_step(world, NULL) & ~(uint32_t)(SINEW_STEP_INVERTED | SINEW_STEP_UNMEASURED), 0);
}

static uint64_t hash_of(const build *b, int threads, int steps)
{
    sinew_pin left;
    sinew_world *world = make(b, threads, NULL, &left);
    run(world, steps);
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return hash;
}

/* ---- Threads and runs ------------------------------------------------------------------------ */

static void test_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int i = 0; i < BUILD_COUNT; i++) {
        const uint64_t one = hash_of(&builds[i], 1, 2);
        printf("%s, %d x %d x %d cells, two steps: %016llx", builds[i].name, builds[i].cells[0], builds[i].cells[1],
               builds[i].cells[2], (unsigned long long)one);
        for (int threads = 2; threads <= 4; threads++)
            assert_true(hash_of(&builds[i], threads, 2) == one);
        assert_true(hash_of(&builds[i], 2, 2) == one);
        printf(" for 1, 2, 3 and 4 threads and again\n");
    }
}

/* The hash changes if one coordinate changes by one unit in the last place. */
static void test_hash_sees_a_bit(void **state)
{
    (void)state;
    sinew_pin left;
    sinew_world *world = make(&builds[0], 1, NULL, &left);
    const uint64_t before = sinew_world_state_hash(world);
    sinew_real q[3];
    sinew_world_get_positions(world, 7, 1, q);
    q[1] = sizeof(sinew_real) == 4 ? (sinew_real)nextafterf((float)q[1], 9) : (sinew_real)nextafter((double)q[1], 9);
    sinew_world_set_positions(world, 7, 1, q);
    assert_true(sinew_world_state_hash(world) != before);
    sinew_world_destroy(world);
}

/* ---- Save and load --------------------------------------------------------------------------- */

static void *save(const sinew_world *world, size_t *size)
{
    *size = sinew_world_state_size(world);
    void *blob = make_array(*size, 1);
    assert_int_equal(sinew_world_state_save(world, blob, *size), SINEW_OK);
    return blob;
}

static void test_save_load_go_on(void **state)
{
    (void)state;
    for (int i = 0; i < BUILD_COUNT; i++) {
        sinew_pin pin, other_pin;
        sinew_error error = {0};
        sinew_world *world = make(&builds[i], 2, NULL, &pin);
        run(world, 1);
        /* The left pins move before the state is saved: the state must contain their positions. */
        const int32_t held = (builds[i].cells[1] + 1) * (builds[i].cells[2] + 1);
        sinew_real *targets = make_array(3 * (size_t)held, sizeof *targets);
        memcpy(targets, world->pins[pin.index].trajectory.base, 3 * (size_t)held * sizeof *targets);
        for (int32_t k = 0; k < held; k++)
            targets[3 * k] -= (sinew_real)0.05;
        assert_int_equal(sinew_pin_set_targets(world, pin, targets, NULL), SINEW_OK);
        size_t size;
        void *blob = save(world, &size);
        const uint64_t saved = sinew_world_state_hash(world);
        run(world, 1);

        /* The state is loaded into a new world, and into one with another history. */
        for (int used = 0; used < 2; used++) {
            sinew_world *other = make(&builds[i], 1, NULL, &other_pin);
            run(other, used);
            assert_int_equal(sinew_world_state_load(other, blob, size, &error), SINEW_OK);
            assert_true(sinew_world_state_hash(other) == saved);
            assert_int_equal(sinew_world_step_count(other), 1);
            run(other, 1);
            assert_true(sinew_world_state_hash(other) == sinew_world_state_hash(world));
            sinew_world_destroy(other);
        }
        printf("%s: saved after a step (%zu bytes), loaded, one more: same bits\n", builds[i].name, size);
        free(blob);
        free(targets);
        sinew_world_destroy(world);
    }
}

static void refuse(sinew_world *world, const void *blob, size_t size, const char *what)
{
    sinew_error error = {0};
    const uint64_t before = sinew_world_state_hash(world);
    if (sinew_world_state_load(world, blob, size, &error) != SINEW_ERROR_FORMAT || error.text[0] == '\0')
        fail_msg("a state with %s was not refused", what);
    assert_true(sinew_world_state_hash(world) == before);
}

static void test_damaged_states(void **state)
{
    (void)state;
    const build small = {"small", {2, 1, 1}, SINEW_ENERGY_NEO_HOOKEAN, DIRECT, false, false};
    sinew_pin pin;
    sinew_error error = {0};
    sinew_world *world = make(&small, 1, NULL, &pin), *other = make(&builds[0], 1, NULL, &pin);
    run(world, 1);
    size_t size, other_size;
    unsigned char *blob = save(world, &size), *other_blob = save(other, &other_size);
    unsigned char *bad = make_array(size + 8, 1);
    /* Blocks truncated at any byte, or with extra bytes, are refused. */
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *exact = make_array(cut, 1); /* an exact size lets a sanitizer detect reads past the end */
        memcpy(exact, blob, cut);
        refuse(world, exact, cut, "its end missing");
        free(exact);
    }
    memcpy(bad, blob, size);
    refuse(world, bad, size + 8, "something behind it");
    /* Any changed bit of the identifying header is refused: magic, version, precision, counts of particles, guides,
     * points. */
    for (size_t bit = 0; bit < 24 * 8; bit++) {
        memcpy(bad, blob, size);
        bad[bit / 8] ^= (unsigned char)(1u << bit % 8);
        refuse(world, bad, size, "a damaged header");
    }
    /* A NaN in any number is refused; all bits set are a NaN for every real and for time. */
    const size_t header = 40, reals = (size - header) / sizeof(sinew_real);
    for (size_t i = 0; i < reals; i++) {
        memcpy(bad, blob, size);
        memset(bad + header + i * sizeof(sinew_real), 0xff, sizeof(sinew_real));
        refuse(world, bad, size, "a number that is none");
    }
    memcpy(bad, blob, size);
    memset(bad + 24, 0xff, 8);
    refuse(world, bad, size, "a negative step count");
    memcpy(bad, blob, size);
    memset(bad + 32, 0xff, 8);
    refuse(world, bad, size, "no time");
    refuse(world, other_blob, other_size, "another world's sizes");
    /* The unchanged block still loads. */
    assert_int_equal(sinew_world_state_load(world, blob, size, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_save(world, blob, size - 1), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_state_save(world, NULL, size), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_state_load(world, NULL, size, &error), SINEW_ERROR_USAGE);
    printf("%zu cuts, %d header bits, %zu numbers: all refused, state kept\n", size, 24 * 8, reals);
    free(blob);
    free(other_blob);
    free(bad);
    sinew_world_destroy(world);
    sinew_world_destroy(other);
}

/* ---- Heap ------------------------------------------------------------------------------------ */

/* A step allocates neither through the world's allocator nor through malloc. */
static void test_no_heap_calls_in_a_step(void **state)
{
    (void)state;
    for (int i = 0; i < BUILD_COUNT; i++) {
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory);
        sinew_pin left;
        sinew_world *world = make(&builds[i], 1, &hooks, &left);
        sinew_step_result result;
        run(world, 2);
        memory.calls = 0;
        failing_malloc_arm(0, false);
        sinew_world_step(world, &result);
        const long long all = atomic_load(&failing_malloc.asked);
        printf("%s, third step, %d iterations: %lld calls of our allocator, %lld of malloc\n", builds[i].name,
               result.iterations, (long long)memory.calls, all);
        assert_int_equal(memory.calls, 0);
        assert_int_equal(all, 0);
        sinew_world_destroy(world);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    failing_malloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_for_any_threads), cmocka_unit_test(test_hash_sees_a_bit),
        cmocka_unit_test(test_save_load_go_on),           cmocka_unit_test(test_damaged_states),
        cmocka_unit_test(test_no_heap_calls_in_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
