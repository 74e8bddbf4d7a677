/* SPDX-License-Identifier: MIT
 *
 * test_threads.c: every solver gives the same bits with 1, 2 and 3 threads, and so do worlds that step concurrently on
 * threads of their own. The thread sanitizer runs this test (`make verify`).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "long_beam.h"
#include "random_cases.h"
#include "sinew/sinew.h"

enum {
    STEPS = 2,
#ifdef SINEW_SANITIZED
    MIN_THREADS = 2, /* with a single thread nothing runs concurrently */
    DRAWN = 5,       /* number of solvers drawn; sanitizers are ten times slower */
#else
    MIN_THREADS = 1,
    DRAWN = SINEW_SOLVER_COUNT,
#endif
    ITERATIONS = 1,
    WORLDS = 3,
};

typedef struct setup {
    sinew_solver_kind solver;
    const char *parameter; /* a parameter to change, or NULL */
    int value;
    int32_t thread_count;
    const sinew_mesh *mesh;
} setup;

/* A solid held on one side, with springs along all edges: two batches. */
static sinew_world *make_world(const setup *s)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = s->thread_count;
    def.solver = sinew_default_solver_def(s->solver);
    def.quasistatic = sinew_get_solver_info(s->solver)->static_only;
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    def.solver.gap_every = STEPS; /* only in the last step, as the gap takes most of the time */
    if (s->parameter)
        def.solver.parameters[sinew_solver_parameter(s->solver, s->parameter)] = (sinew_real)s->value;
    sinew_world *world = sinew_world_create(&def, NULL);

    const sinew_body body = long_beam_add(world, s->mesh);
    const sinew_energy_kind kinds[] = {SINEW_ENERGY_STRAIN, SINEW_ENERGY_SPRING};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sinew_energy_def energy = sinew_default_energy_def(kinds[i]);
        energy.body = body;
        sinew_world_add_energy(world, &energy, NULL);
    }
    return world;
}

/* A hash of the state and of the gap estimates; zero if the world could not step or did not move. */
static uint64_t hash_after_steps(const setup *s)
{
    sinew_world *world = make_world(s);
    uint64_t before = sinew_world_state_hash(world);
    uint32_t bits = 0;
    uint64_t gaps = 0;
    for (int i = 0; i < STEPS; i++) {
        sinew_step_result result = {0};
        uint64_t gap;
        bits |= sinew_world_step(world, &result);
        memcpy(&gap, &result.gap, sizeof gap);
        gaps = gaps * 31 + gap;
    }
    uint64_t after = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
        return 0;
    return after != before ? after ^ gaps : 0;
}

static void check_thread_counts(setup s)
{
    s.thread_count = MIN_THREADS;
    const uint64_t first = hash_after_steps(&s);
    assert_true(first != 0);
    for (s.thread_count = MIN_THREADS + 1; s.thread_count <= 3; s.thread_count++)
        if (hash_after_steps(&s) != first)
            fail_msg("%s: other bits with %d threads than with %d", sinew_get_solver_info(s.solver)->name,
                     (int)s.thread_count, (int)MIN_THREADS);
}

static void test_every_solver(void **state)
{
    (void)state;
    sinew_mesh *mesh = long_beam_mesh();
    /* test_systems.c covers constraint systems. Here one of them stands for all, since they take long to factorise,
     * without constraints on tets. */
    random_cases draw = random_cases_begin("solvers", DRAWN, SINEW_SOLVER_COUNT);
    const int first = random_index(&draw, SINEW_SOLVER_COUNT);
    for (int i = first; i < first + draw.count; i++) {
        const int kind = i % SINEW_SOLVER_COUNT;
        const bool rows = sinew_solver_parameter((sinew_solver_kind)kind, "constraints") >= 0;
        if (!rows || kind == SINEW_SOLVER_SAP)
            check_thread_counts((setup){
                .solver = (sinew_solver_kind)kind, .parameter = rows ? "constraints" : NULL, .value = 1, .mesh = mesh});
    }
    static const int linear[] = {1, 2, 4}; /* cg, bicgstab, gs; direct is the default, lu runs on one thread */
    for (size_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
        check_thread_counts(
            (setup){.solver = SINEW_SOLVER_NEWTON, .parameter = "linear", .value = linear[i], .mesh = mesh});
    sinew_mesh_destroy(mesh);
}

typedef struct job {
    setup setup;
    uint64_t hash;
} job;

static void *run_job(void *context)
{
    job *j = context;
    j->hash = hash_after_steps(&j->setup);
    return NULL;
}

static void test_worlds_side_by_side(void **state)
{
    (void)state;
    sinew_mesh *mesh = long_beam_mesh();
    const setup s = {.solver = SINEW_SOLVER_NEWTON, .thread_count = 2, .mesh = mesh};
    const uint64_t alone = hash_after_steps(&s);
    assert_true(alone != 0);
    job jobs[WORLDS];
    pthread_t threads[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        jobs[i] = (job){.setup = s};
        assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    }
    for (int i = 0; i < WORLDS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORLDS; i++)
        assert_true(jobs[i].hash == alone);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_solver), cmocka_unit_test(test_worlds_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
