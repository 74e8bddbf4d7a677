/* SPDX-License-Identifier: MIT
 *
 * test_own_tasks.c: worlds on the task system of the host program. The host may run its tasks by a pool, by fresh
 * threads, serially before or after the caller's part, backwards, or not at all: every solver gives the same bits
 * as on the library's threads. No library thread is started. Tasks go to the task system of their own world, also when
 * another world steps on the same thread meanwhile. Threads with another rounding mode do not change results. The
 * thread sanitizer runs this program.
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "long_beam.h"
#include "random_cases.h"
#include "sinew/sinew.h"
#include "thread_count.h"

enum {
    STEPS = 1,
    MEMBERS_MAX = 8,
    POOL = 2,
#ifdef SINEW_SANITIZED
    SANITIZED = 1,
#else
    SANITIZED = 0,
#endif
};

/* ---- Task systems ---------------------------------------------------------------------------- */

typedef struct call {
    sinew_task_call *task;
    void *data;
    int32_t count;
} call;

/* State of all task systems below. Only one `start` is open at a time. */
typedef struct program {
    int32_t starts, finishes, bad; /* bad: calls that violate the header's contract */
    call open;
    pthread_t threads[MEMBERS_MAX];
    pthread_mutex_t mutex; /* protects the members below, of the pool */
    pthread_cond_t changed;
    int32_t next, running;
    bool over;
    sinew_world *other; /* stepped by step_other_finish */
} program;

static void note_start(program *p, sinew_task_call *task, void *data, int32_t count)
{
    p->bad += p->starts++ != p->finishes || count < 2 || count > MEMBERS_MAX;
    p->open = (call){task, data, count};
}

static void note_finish(program *p, const void *handle)
{
    p->bad += p->starts != ++p->finishes || handle != p;
}

/* Runs all tasks before the caller's own part. */
static void *at_once_start(void *context, sinew_task_call *task, void *data, int32_t count)
{
    note_start(context, task, data, count);
    for (int32_t member = 1; member < count; member++)
        task(data, member);
    return context;
}

static void only_note_finish(void *context, void *handle)
{
    note_finish(context, handle);
}

static void *only_note_start(void *context, sinew_task_call *task, void *data, int32_t count)
{
    note_start(context, task, data, count);
    return context;
}

/* Runs all tasks after the caller's own part, in reverse order. */
static void backwards_finish(void *context, void *handle)
{
    program *p = context;
    for (int32_t member = p->open.count - 1; member > 0; member--)
        p->open.task(p->open.data, member);
    note_finish(p, handle);
}

/* Steps another world before the tasks are done, as engines do whose threads help while they wait. */
static void step_other_finish(void *context, void *handle)
{
    program *p = context;
    const call own = p->open;
    if (p->other)
        sinew_world_step(p->other, NULL);
    own.task(own.data, 1);
    note_finish(p, handle);
}

typedef struct fresh {
    call call;
    int32_t member;
} fresh;

static void *run_fresh(void *argument)
{
    const fresh f = *(fresh *)argument;
    free(argument);
    f.call.task(f.call.data, f.member);
    return NULL;
}

static void *fresh_start(void *context, sinew_task_call *task, void *data, int32_t count)
{
    program *p = context;
    note_start(p, task, data, count);
    for (int32_t member = 1; member < count; member++) {
        fresh *f = malloc(sizeof *f);
        *f = (fresh){p->open, member};
        p->bad += pthread_create(&p->threads[member], NULL, run_fresh, f) != 0;
    }
    return p;
}

static void fresh_finish(void *context, void *handle)
{
    program *p = context;
    for (int32_t member = 1; member < p->open.count; member++)
        pthread_join(p->threads[member], NULL);
    note_finish(p, handle);
}

/* Threads of a pool, rounding upwards, that take tasks one by one; `next` is beyond the last task if none is open. */
static void *serve_pool(void *context)
{
    program *p = context;
    fesetround(FE_UPWARD);
    pthread_mutex_lock(&p->mutex);
    while (!p->over) {
        if (p->next >= p->open.count) {
            pthread_cond_wait(&p->changed, &p->mutex);
            continue;
        }
        const call own = p->open;
        const int32_t member = p->next++;
        p->running++;
        pthread_mutex_unlock(&p->mutex);
        own.task(own.data, member);
        pthread_mutex_lock(&p->mutex);
        p->bad += fegetround() != FE_UPWARD;
        p->running--;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void *pool_start(void *context, sinew_task_call *task, void *data, int32_t count)
{
    program *p = context;
    pthread_mutex_lock(&p->mutex);
    note_start(p, task, data, count);
    p->next = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    return p;
}

/* Tasks that no thread has begun are cancelled. */
static void pool_finish(void *context, void *handle)
{
    program *p = context;
    pthread_mutex_lock(&p->mutex);
    p->open.count = 0;
    while (p->running > 0)
        pthread_cond_wait(&p->changed, &p->mutex);
    note_finish(p, handle);
    pthread_mutex_unlock(&p->mutex);
}

typedef struct variant {
    const char *name;
    void *(*start)(void *context, sinew_task_call *task, void *data, int32_t count);
    void (*finish)(void *context, void *handle);
    int32_t thread_count, pool;
    bool at_the_same_time; /* tasks run concurrently; other variants need no thread sanitizer */
} variant;

static const variant variants[] = {
    {"a pool", pool_start, pool_finish, 3, POOL, true},
    {"at once, in start", at_once_start, only_note_finish, 3, 0, false},
    {"backwards, in finish", only_note_start, backwards_finish, 4, 0, false},
    {"fresh threads", fresh_start, fresh_finish, 3, 0, true},
    {"never", only_note_start, only_note_finish, 2, 0, false},
};

static void program_begin(program *p, int32_t pool)
{
    *p = (program){0};
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (int32_t i = 0; i < pool; i++)
        assert_int_equal(pthread_create(&p->threads[i], NULL, serve_pool, p), 0);
}

static void program_end(program *p, int32_t pool)
{
    pthread_mutex_lock(&p->mutex);
    p->over = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    for (int32_t i = 0; i < pool; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    assert_int_equal(p->bad, 0);
    assert_int_equal(p->starts, p->finishes);
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef struct setup {
    const sinew_mesh *mesh;
    sinew_solver_kind solver;
    bool quasistatic, krylov;
    int32_t thread_count;
    sinew_task_system tasks;
} setup;

static sinew_world *make_world(const setup *s)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = s->thread_count;
    def.tasks = s->tasks;
    def.quasistatic = s->quasistatic;
    def.solver = sinew_default_solver_def(s->solver);
    def.solver.iterations = 1;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    if (s->krylov)
        def.solver.parameters[sinew_solver_parameter(s->solver, "linear")] = 1;
    /* Constraint systems: factorising all tets as constraints takes long, so the tets remain an energy. */
    if (sinew_solver_parameter(s->solver, "constraints") >= 0)
        def.solver.parameters[sinew_solver_parameter(s->solver, "constraints")] = 1;
    sinew_world *world = sinew_world_create(&def, NULL);
    assert_non_null(world);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    energy.body = long_beam_add(world, s->mesh);
    assert_true(sinew_world_add_energy(world, &energy, NULL).index >= 0);
    return world;
}

/* A hash of the state, the residuals and the energies; zero if a step failed. */
static uint64_t hash_of_steps(sinew_world *world)
{
    uint64_t hash = 0;
    uint32_t bits = 0;
    for (int i = 0; i < STEPS; i++) {
        sinew_step_result result = {0};
        sinew_measures measures = {0};
        uint64_t numbers[2];
        bits |= sinew_world_step(world, &result);
        assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
        memcpy(&numbers[0], &result.residual, sizeof numbers[0]);
        memcpy(&numbers[1], &measures.elastic, sizeof numbers[1]);
        hash = (hash * 31 + numbers[0]) * 31 + numbers[1];
    }
    hash ^= sinew_world_state_hash(world);
    return bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE) ? 0 : hash;
}

static uint64_t hash_of(const setup *s)
{
    sinew_world *world = make_world(s);
    const uint64_t hash = hash_of_steps(world);
    sinew_world_destroy(world);
    return hash;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_variants(setup s)
{
    s.thread_count = SANITIZED ? 3 : 1;
    const uint64_t first = hash_of(&s);
    const char *name = sinew_get_solver_info(s.solver)->name;
    assert_true(first != 0);
    for (s.thread_count++; s.thread_count <= 3; s.thread_count++)
        if (hash_of(&s) != first)
            fail_msg("%s: other bits with %d threads", name, (int)s.thread_count);
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        const variant *v = &variants[i];
        program p;
        if (SANITIZED && !v->at_the_same_time)
            continue;
        program_begin(&p, v->pool);
        const int threads = thread_count_settled(1 + v->pool);
        s.tasks = (sinew_task_system){v->start, v->finish, &p};
        s.thread_count = v->thread_count;
        if (hash_of(&s) != first)
            fail_msg("%s%s, tasks run by %s: other bits than on threads of the library", name,
                     s.quasistatic ? ", quasistatic" : "", v->name);
        assert_true(p.starts > 0);
        if (!SANITIZED)
            assert_int_equal(thread_count_settled(threads), threads);
        program_end(&p, v->pool);
    }
}

static void test_every_solver(void **state)
{
    (void)state;
    sinew_mesh *mesh = long_beam_mesh();
    random_cases draw = random_cases_begin("solvers", 3, SINEW_SOLVER_COUNT);
    const int first = random_index(&draw, SINEW_SOLVER_COUNT);
    for (int i = first; i < first + draw.count; i++) {
        const int kind = i % SINEW_SOLVER_COUNT;
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        setup s = {.mesh = mesh, .solver = (sinew_solver_kind)kind, .krylov = kind == SINEW_SOLVER_NEWTON};
        /* One constraint system stands for all: their parallel code is shared, and their factorisation on one thread is
         * slow. */
        if (sinew_solver_parameter(s.solver, "constraints") >= 0 && kind != SINEW_SOLVER_SAP)
            continue;
        if (!info->static_only)
            check_variants(s);
        s.quasistatic = true;
        if (info->quasistatic && (info->static_only || !SANITIZED))
            check_variants(s);
    }
    sinew_mesh_destroy(mesh);
}

/* Two worlds with their own task systems and a third without one step in turns on one thread. */
static void test_each_world_its_own(void **state)
{
    (void)state;
    sinew_mesh *mesh = long_beam_mesh();
    program p[2];
    setup s = {.mesh = mesh, .solver = SINEW_SOLVER_PBNG, .thread_count = 2};
    sinew_world *worlds[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        s.tasks = (sinew_task_system){0};
        if (i < 2) {
            program_begin(&p[i], 0);
            s.tasks = (sinew_task_system){at_once_start, only_note_finish, &p[i]};
        }
        worlds[i] = make_world(&s);
    }
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 3; i++) {
            const int32_t before[2] = {p[0].starts, p[1].starts};
            sinew_world_step(worlds[i], NULL);
            for (int k = 0; k < 2; k++)
                assert_true((p[k].starts > before[k]) == (k == i));
        }
    assert_true(sinew_world_state_hash(worlds[0]) == sinew_world_state_hash(worlds[2]));
    assert_true(sinew_world_state_hash(worlds[1]) == sinew_world_state_hash(worlds[2]));
    for (int i = 0; i < 3; i++)
        sinew_world_destroy(worlds[i]);
    for (int i = 0; i < 2; i++)
        program_end(&p[i], 0);
    sinew_mesh_destroy(mesh);
}

/* Steps a world that waits for its tasks by stepping `other` (NULL: none). Returns the number of its task requests. */
static int32_t starts_around(setup s, sinew_world *other, uint64_t *hash)
{
    program p;
    program_begin(&p, 0);
    p.other = other;
    s.tasks = (sinew_task_system){only_note_start, step_other_finish, &p};
    *hash = hash_of(&s);
    program_end(&p, 0);
    return p.starts;
}

/* The other world has a task system or none: in both cases all tasks of the first go to its own. */
static void test_worlds_within_each_other(void **state)
{
    (void)state;
    sinew_mesh *mesh = long_beam_mesh();
    setup s = {.mesh = mesh, .solver = SINEW_SOLVER_XPBD, .thread_count = 2};
    const uint64_t expected = hash_of(&s);
    uint64_t hash;
    const int32_t starts = starts_around(s, NULL, &hash);
    assert_true(hash == expected && starts > 1);
    for (int with = 0; with < 2; with++) {
        program p;
        setup inner = s;
        program_begin(&p, 0);
        if (with)
            inner.tasks = (sinew_task_system){at_once_start, only_note_finish, &p};
        sinew_world *other = make_world(&inner);
        assert_int_equal(starts_around(s, other, &hash), starts);
        assert_true(hash == expected);
        assert_true((p.starts > 0) == (with == 1));
        sinew_world_destroy(other);
        program_end(&p, 0);
    }
    sinew_mesh_destroy(mesh);
}

static void test_half_a_system_is_refused(void **state)
{
    (void)state;
    sinew_error error;
    sinew_world_def def = sinew_default_world_def();
    def.tasks.start = only_note_start;
    assert_null(sinew_world_create(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "finish"));
    def.tasks = (sinew_task_system){.finish = only_note_finish};
    assert_null(sinew_world_create(&def, &error));
    assert_non_null(strstr(error.text, "tasks has no start"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_solver),
        cmocka_unit_test(test_each_world_its_own),
        cmocka_unit_test(test_worlds_within_each_other),
        cmocka_unit_test(test_half_a_system_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
