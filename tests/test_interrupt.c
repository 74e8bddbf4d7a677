/* SPDX-License-Identifier: MIT
 *
 * test_interrupt.c: steps that are interrupted, at chosen polls of the flag (base/stop.h) and at random moments by
 * another thread and by signals. An interrupted step leaves the state unchanged, and further steps have the bits of an
 * undisturbed run: for every solver, with contact, hard constraints and bodies that tear, and from saved states.
 *
 * The program wraps sinew_stop_came() (tests/CMakeLists.txt), so that a test can interrupt at the n-th poll of a step.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "base/stop.h"
#include "linear/factor/cholesky.h"
#include "objective/assembly.h"
#include "random_cases.h"
#include "saved_state.h"
#include "sinew/scene.h"
#include "world/world.h"

enum {
    STEPS = 6,    /* steps of each run */
    ATTEMPTS = 3, /* largest number of interruptions of one step */
    LATE = 20     /* s: an interrupted step that takes longer counts as hanging */
};

/* ---- Polls ------------------------------------------------------------------------------------- */

/* Polls so far, and the poll at which `polled` is interrupted; 0: none. Only the thread of the steps polls. */
static int64_t polls, interrupt_at;
static sinew_world *polled;

bool __real_sinew_stop_came(void);
bool __wrap_sinew_stop_came(void);

bool __wrap_sinew_stop_came(void)
{
    if (sinew_stop_flag() && polled && ++polls == interrupt_at)
        sinew_world_interrupt(polled);
    return __real_sinew_stop_came();
}

/* ---- Scenes ------------------------------------------------------------------------------------ */

#define BEAM(energy)                                                                                                   \
    "{\"sinew\": 1, \"time_step\": 0.02, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [5, 2, 2], "     \
    "\"size\": [1.5, 0.5, 0.5]}, \"energies\": [" energy "], \"initial\": {\"velocity\": [0, 1, 0.5]}, \"pins\": "     \
    "[{\"select\": {\"half_space\": {\"point\": [-0.74, 0, 0], \"normal\": [-1, 0, 0]}}}]}]}"

#define PILE(energy)                                                                                                   \
    "{\"sinew\": 1, \"time_step\": 0.02, \"contact\": {\"thickness\": 0.01, \"friction\": 0.4, \"restitution\": "      \
    "0.8}, \"colliders\": "                                                                                            \
    "[{\"shape\": \"plane\"}], \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [3, 2, 2], \"size\": "     \
    "[0.5, 0.4, 0.4]}, \"transform\": {\"translate\": [0, 0.23, 0]}, \"initial\": {\"velocity\": [0, -1, 0]}, "        \
    "\"energies\": [" energy "]}, {\"mesh\": {\"generator\": \"beam\", \"cells\": [2, 2, 2], \"size\": [0.3, 0.3, "    \
    "0.3]}, \"transform\": {\"translate\": [0.1, 0.6, 0.05]}, \"initial\": {\"velocity\": [0, -2, 0]}, \"energies\": " \
    "[" energy "]}]}"

#define CHAIN(energy)                                                                                                  \
    "{\"sinew\": 1, \"time_step\": 0.02, \"bodies\": [{\"mesh\": {\"generator\": \"rope\", \"vertices\": 15, "         \
    "\"from\": [0, 0, 0], \"to\": [1, 0.2, 0]}, \"density\": 0.5, \"energies\": [" energy "], \"initial\": "           \
    "{\"velocity\": [0, 0, 1]}, \"pins\": [{\"select\": {\"indices\": [0]}}]}]}"

#define CLOTH                                                                                                          \
    "{\"sinew\": 1, \"time_step\": 0.02, \"bodies\": [{\"mesh\": {\"generator\": \"cloth\", \"vertices\": [9, 7], "    \
    "\"origin\": [-0.6, 0, 0], \"width\": 1.2, \"length\": 1}, \"density\": 0.2, \"energies\": [{\"energy\": "         \
    "\"spring\", \"stiffness\": 50}], \"tear\": "                                                                      \
    "{\"strain\": 0.1, \"most\": 3}, \"pins\": [{\"select\": {\"half_space\": {\"point\": [-0.59, 0, 0], \"normal\": " \
    "[-1, 0, 0]}}}, {\"select\": {\"half_space\": {\"point\": [0.59, 0, 0], \"normal\": [1, 0, 0]}}, \"motion\": "     \
    "{\"keys\": [{\"time\": 0}, {\"time\": 0.1, \"translate\": [0.5, 0, 0]}]}}]}]}"

static const struct {
    const char *name, *text;
    bool tears, loose; /* loose: parts are not held, so that no equilibrium exists */
} scenes[] = {
    {"beam", BEAM("{\"energy\": \"strain\", \"stiffness\": 2e4}"), false, false},
    {"rubber", BEAM("{\"energy\": \"neo_hookean\", \"young\": 2e4, \"poisson\": 0.4}"), false, false},
    {"pile", PILE("{\"energy\": \"strain\", \"stiffness\": 5e4}"), false, true},
    {"soft chain", CHAIN("{\"energy\": \"spring\", \"stiffness\": 200}"), false, false},
    {"hard chain", CHAIN("{\"energy\": \"spring\", \"hard\": true}"), false, false},
    {"torn cloth", CLOTH, true, true},
};

enum {
    SCENE_COUNT = sizeof scenes / sizeof scenes[0],
    CHOSEN_MAX = 8
};

/* A scene, a solver and settings of its parameters. */
typedef struct setup {
    int scene;
    sinew_solver_kind solver;
    const char *settings[CHOSEN_MAX];
    int setting_count;
} setup;

/* NULL: the solver does not accept the scene. */
static sinew_scene *open_scene(const setup *s)
{
    char solver[64];
    const char *settings[CHOSEN_MAX + 1];
    sinew_error error = {0};
    snprintf(solver, sizeof solver, "solver.name=%s", sinew_get_solver_info(s->solver)->name);
    settings[0] = solver;
    for (int i = 0; i < s->setting_count; i++)
        settings[i + 1] = s->settings[i];
    sinew_scene_def def = sinew_default_scene_def();
    def.text = scenes[s->scene].text;
    def.text_size = strlen(def.text);
    def.settings = settings;
    def.setting_count = s->setting_count + 1;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (scene && sinew_world_prepare(sinew_scene_world(scene), &error) == SINEW_OK)
        return scene;
    if (error.status != SINEW_ERROR_UNSUPPORTED)
        fail_msg("%s", error.text);
    sinew_scene_destroy(scene);
    return NULL;
}

static void draw_settings(random_cases *cases, setup *s)
{
    static const char *const linears[] = {"solver.linear=direct", "solver.linear=cg", "solver.linear=bicgstab",
                                          "solver.linear=gs"};
    if (s->solver == SINEW_SOLVER_NEWTON)
        s->settings[s->setting_count++] = linears[random_index(cases, 4)];
    const int measure = random_index(cases, 4);
    if (measure < 2)
        s->settings[s->setting_count++] = measure ? "solver.measure=residual" : "solver.measure=nothing";
    if (!scenes[s->scene].loose && (s->solver == SINEW_SOLVER_XPBD_QS || random_index(cases, 4) == 0))
        s->settings[s->setting_count++] = "quasistatic=true";
    if (random_index(cases, 2))
        s->settings[s->setting_count++] = "balance=true";
    if (random_index(cases, 2))
        s->settings[s->setting_count++] = "threads=2";
}

/* ---- Undisturbed runs ------------------------------------------------------------------------- */

/* Results of the steps of an undisturbed run. */
typedef struct history {
    uint64_t hash[STEPS + 1]; /* of the state before the first step, and after each step */
    uint32_t bits[STEPS];
    double residual[STEPS];
    int64_t polls[STEPS];
    double seconds; /* s: duration of the longest step */
    int64_t torn;   /* edges at the end */
} history;

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int64_t torn_edges(const sinew_world *world)
{
    sinew_tear_report report;
    assert_int_equal(sinew_body_torn(world, (sinew_body){0, 0}, &report, NULL), SINEW_OK);
    return report.edges + 1000 * report.refused;
}

static bool undisturbed(const setup *s, history *h)
{
    sinew_scene *scene = open_scene(s);
    if (!scene)
        return false;
    sinew_world *world = sinew_scene_world(scene);
    *h = (history){.hash[0] = sinew_world_state_hash(world)};
    polled = world;
    for (int i = 0; i < STEPS; i++) {
        sinew_step_result result;
        const double began = seconds_now();
        polls = interrupt_at = 0;
        h->bits[i] = sinew_world_step(world, &result);
        h->seconds = fmax(h->seconds, seconds_now() - began);
        assert_false(h->bits[i] & (SINEW_STEP_INTERRUPTED | SINEW_STEP_UNPREPARED));
        h->polls[i] = polls;
        h->residual[i] = result.residual;
        h->hash[i + 1] = sinew_world_state_hash(world);
    }
    h->torn = torn_edges(world);
    polled = NULL;
    sinew_scene_destroy(scene);
    return true;
}

static void fail_setup(const setup *s, int step, const char *what)
{
    char text[256] = "";
    for (int i = 0; i < s->setting_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", s->settings[i]);
    fail_msg("%s, %s%s, step %d: %s", scenes[s->scene].name, sinew_get_solver_info(s->solver)->name, text, step + 1,
             what);
}

/* Checks a step against the undisturbed run; the bit is set exactly if the step was discarded. Returns true if the step
 * was interrupted. */
static bool check_step(const setup *s, const history *h, int step, const sinew_world *world,
                       const sinew_step_result *result)
{
    const bool interrupted = result->bits & SINEW_STEP_INTERRUPTED;
    const int64_t steps = sinew_world_step_count(world);
    if (steps != step + !interrupted)
        fail_setup(s, step, "the bit and the number of steps disagree");
    if (interrupted && result->bits != SINEW_STEP_INTERRUPTED)
        fail_setup(s, step, "an interrupted step has other bits");
    if (!(interrupted && scenes[s->scene].tears) && sinew_world_state_hash(world) != h->hash[steps])
        fail_setup(s, step, interrupted ? "an interrupted step changed the state" : "other bits after an interruption");
    if (interrupted)
        return true;
    if (result->bits != h->bits[step])
        fail_setup(s, step, "another status after an interruption");
    if (memcmp(&result->residual, &h->residual[step], sizeof result->residual) != 0)
        fail_setup(s, step, "another residual after an interruption");
    return false;
}

/* Continues in a new world from the state after an interruption. */
static sinew_scene *reload(const setup *s, sinew_scene *scene)
{
    const saved state = save(sinew_scene_world(scene));
    sinew_error error = {0};
    sinew_scene_destroy(scene);
    scene = open_scene(s);
    assert_non_null(scene);
    sinew_world_state_load(sinew_scene_world(scene), state.bytes, state.size, &error);
    must(&error);
    free(state.bytes);
    return scene;
}

/* ---- Interruption at polls ---------------------------------------------------------------------- */

/* Interrupts every step at up to ATTEMPTS polls. Returns the number of interrupted steps. */
static int interrupt_at_polls(const setup *s, const history *h, random_cases *cases)
{
    sinew_scene *scene = open_scene(s);
    assert_non_null(scene);
    int count = 0;
    for (int step = 0; step < STEPS; step++) {
        bool interrupted = true;
        for (int attempt = 0; interrupted; attempt++) {
            sinew_step_result result;
            polled = sinew_scene_world(scene);
            polls = 0;
            /* Preparation after an interruption polls too. */
            const double range = (double)h->polls[step] * (attempt > 0 ? 2 : 1);
            interrupt_at = attempt < ATTEMPTS ? 1 + (int64_t)random_between(cases, 0, range) : 0;
            sinew_world_step(polled, &result);
            interrupted = check_step(s, h, step, polled, &result);
            count += interrupted;
            /* A poll of a step that is not interrupted comes too late: the request remains for the next step. */
            polled = NULL;
            if (interrupted && random_index(cases, 4) == 0)
                scene = reload(s, scene);
        }
    }
    assert_int_equal(torn_edges(sinew_scene_world(scene)), h->torn);
    sinew_scene_destroy(scene);
    return count;
}

static void test_polls(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("interruption at polls", 1, 20);
    int worlds = 0, count = 0, torn = 0;
    for (int round = 0; round < cases.count; round++)
        for (int i = 0; i < SCENE_COUNT * SINEW_SOLVER_COUNT; i++) {
            history h;
            setup s = {.scene = i / SINEW_SOLVER_COUNT, .solver = (sinew_solver_kind)(i % SINEW_SOLVER_COUNT)};
            draw_settings(&cases, &s);
            if (!undisturbed(&s, &h))
                continue;
            count += interrupt_at_polls(&s, &h, &cases);
            torn += h.torn % 1000 > 0;
            worlds++;
        }
    printf("%d interruptions in %d worlds, %d of them torn\n", count, worlds, torn);
    assert_true(worlds > 30 * cases.count && count > 3 * worlds && torn > 0);
}

/* ---- Interruption at random moments ------------------------------------------------------------- */

static _Atomic(sinew_world *) running; /* the world that threads and signals interrupt */

typedef struct interrupter {
    double delay; /* s */
    double at;    /* s: time of the interruption */
} interrupter;

static void *interrupt_later(void *context)
{
    interrupter *t = context;
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * t->delay)}, NULL);
    t->at = seconds_now();
    sinew_world_interrupt(running);
    return NULL;
}

static void on_alarm(int number)
{
    (void)number;
    sinew_world_interrupt(running);
}

/* Takes a step that is interrupted after `delay`, by a signal or by another thread. Returns the time from the
 * interruption to the end of the step; negative: the step ended before. */
static double step_with_interruption(sinew_world *world, double delay, bool by_signal, sinew_step_result *result)
{
    const double began = seconds_now();
    running = world;
    if (by_signal) {
        const struct itimerval timer = {.it_value.tv_usec = 1 + (suseconds_t)(1e6 * delay)};
        setitimer(ITIMER_REAL, &timer, NULL);
        sinew_world_step(world, result);
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        return seconds_now() - began - delay;
    }
    pthread_t thread;
    interrupter t = {.delay = delay};
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &t), 0);
    sinew_world_step(world, result);
    const double ended = seconds_now();
    pthread_join(thread, NULL);
    return ended - t.at;
}

static void test_moments(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("interruption at random moments", 40, 2000);
    int count = 0;
    double longest = 0;
    const struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction before;
    sigaction(SIGALRM, &action, &before);
    for (int i = 0; i < cases.count; i++) {
        history h;
        setup s = {.scene = random_index(&cases, SCENE_COUNT),
                   .solver = (sinew_solver_kind)random_index(&cases, SINEW_SOLVER_COUNT)};
        draw_settings(&cases, &s);
        if (!undisturbed(&s, &h))
            continue;
        sinew_scene *scene = open_scene(&s);
        for (int step = 0, attempt = 0; step < STEPS; attempt++) {
            sinew_step_result result;
            const double delay = fmin(h.seconds * random_between(&cases, 0, attempt < 50 ? 1.2 : 100), 0.5);
            const double late =
                step_with_interruption(sinew_scene_world(scene), delay, random_index(&cases, 2), &result);
            const bool interrupted = check_step(&s, &h, step, sinew_scene_world(scene), &result);
            longest = interrupted ? fmax(longest, late) : longest;
            count += interrupted;
            step += !interrupted;
        }
        sinew_scene_destroy(scene);
    }
    sigaction(SIGALRM, &before, NULL);
    printf("%d interruptions; the longest time from an interruption to the end of its step is %.2g ms\n", count,
           1e3 * longest);
    assert_true(longest < LATE);
}

/* ---- Requests ----------------------------------------------------------------------------------- */

static void test_request_before_a_step(void **state)
{
    (void)state;
    const setup s = {.scene = 1, .solver = SINEW_SOLVER_NEWTON};
    sinew_scene *scene = open_scene(&s);
    sinew_world *world = sinew_scene_world(scene);
    sinew_step_result result;
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_interrupt(NULL);
    sinew_world_interrupt(world);
    sinew_world_interrupt(world);
    /* Measurements are not interrupted, and leave the request to the step. */
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    assert_int_equal(sinew_world_step(world, &result), SINEW_STEP_INTERRUPTED);
    assert_int_equal(result.bits, SINEW_STEP_INTERRUPTED);
    assert_string_equal(sinew_world_error(world), "");
    assert_true(sinew_world_state_hash(world) == hash && sinew_world_time(world) == 0);
    assert_false(sinew_world_step(world, &result) & SINEW_STEP_INTERRUPTED);
    assert_int_equal(sinew_world_step_count(world), 1);
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_INTERRUPTED), "interrupted");
    assert_string_equal(sinew_status_name(SINEW_ERROR_INTERRUPTED), "interrupted");
    sinew_scene_destroy(scene);
}

/* Preparation is interrupted at each of its polls; a step afterwards has the same bits. */
static void test_preparation(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        history h;
        const setup s = {.scene = 0, .solver = (sinew_solver_kind)kind};
        if (!undisturbed(&s, &h))
            continue;
        sinew_scene *scene = open_scene(&s);
        sinew_world *world = sinew_scene_world(scene);
        sinew_error error = {0};
        sinew_solver_def solver = sinew_scene_solver(scene), other = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        polled = world;
        int64_t last = 1;
        for (int64_t at = 1; at <= last; at += 1 + last / 16) {
            /* Another solver in between, so that the first one is prepared again. */
            other.kind = kind == SINEW_SOLVER_NEWTON ? SINEW_SOLVER_PBNG : SINEW_SOLVER_NEWTON;
            other = sinew_default_solver_def(other.kind);
            assert_int_equal(sinew_world_set_solver(world, &other, &error), SINEW_OK);
            assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
            assert_int_equal(sinew_world_set_solver(world, &solver, &error), SINEW_OK);
            polls = interrupt_at = 0;
            if (at == 1) {
                assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
                last = polls;
                continue;
            }
            interrupt_at = at;
            const sinew_status status = sinew_world_prepare(world, &error);
            if (status != SINEW_ERROR_INTERRUPTED)
                fail_setup(&s, -1, "preparation was not interrupted");
            assert_string_equal(error.text, "interrupted; the next step or preparation starts over");
        }
        polled = NULL;
        sinew_step_result result;
        sinew_world_step(world, &result);
        assert_false(check_step(&s, &h, 0, world, &result));
        sinew_scene_destroy(scene);
    }
}

/* ---- Stages of Newton's method with the flag set -------------------------------------------------- */

/* 3x3 blocks of a path: 4 I on the diagonal, -I below. The caller destroys it. */
static sinew_cholesky *path_factor(const sinew_allocator *allocator, int32_t count)
{
    int32_t *column = malloc(((size_t)count + 1) * sizeof *column), *row = malloc(2 * (size_t)count * sizeof *row);
    for (int32_t j = 0; j < count; j++) {
        column[j] = 2 * j;
        row[2 * j] = j;
        row[2 * j + 1] = j + 1;
    }
    column[count] = 2 * count - 1;
    sinew_error error = {0};
    sinew_cholesky *c = sinew_cholesky_create(allocator, sinew_simd()->dense, count, column, row, &error);
    for (int32_t j = 0; c && j < count; j++) {
        const size_t height = j + 1 < count ? 6 : 3;
        for (size_t s = 0; s < 3; s++) {
            sinew_cholesky_values(c)[9 * (size_t)column[j] + height * s + s] = 4;
            if (height == 6)
                sinew_cholesky_values(c)[9 * (size_t)column[j] + height * s + 3 + s] = -1;
        }
    }
    free(column);
    free(row);
    return c;
}

/* Symbolic analysis fails, solves return at once, factorisations poll in each column that they load. */
static void test_factor_with_the_flag(void **state)
{
    (void)state;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    enum {
        COUNT = 1500
    };
    static double b[3 * COUNT], x[3 * COUNT];
    atomic_bool flag = true;
    sinew_stop_use(&flag);
    assert_null(path_factor(&allocator, COUNT));
    atomic_store(&flag, false);
    sinew_cholesky *c = path_factor(&allocator, COUNT);
    assert_non_null(c);
    const setup any = {.scene = 0, .solver = SINEW_SOLVER_NEWTON};
    sinew_scene *scene = open_scene(&any);
    polled = sinew_scene_world(scene);
    polls = interrupt_at = 0;
    assert_int_equal(sinew_cholesky_factorise(c, 0, NULL), SINEW_OK);
    polled = NULL;
    assert_true(polls > 3 * COUNT);
    for (size_t i = 0; i < 3 * COUNT; i++)
        b[i] = 1 + (double)(i % 7);
    sinew_cholesky_solve(c, b, x);
    assert_true(memcmp(b, x, sizeof b) != 0);
    atomic_store(&flag, true);
    sinew_cholesky_solve(c, b, x);
    assert_memory_equal(b, x, sizeof b);
    sinew_stop_use(NULL);
    sinew_cholesky_destroy(c);
    sinew_scene_destroy(scene);
}

/* The pattern of the matrix is not built, and its values are not filled. */
static void test_assembly_with_the_flag(void **state)
{
    (void)state;
    sinew_error error = {0};
    const setup s = {.scene = 0, .solver = SINEW_SOLVER_NEWTON};
    sinew_scene *scene = open_scene(&s);
    assert_non_null(scene);
    sinew_world *world = sinew_scene_world(scene);
    sinew_objective *o = &world->objective;
    atomic_bool flag = true;
    sinew_stop_use(&flag);
    assert_null(sinew_assembly_create(o, o->task_count, NULL, &error));
    atomic_store(&flag, false);
    sinew_assembly *as = sinew_assembly_create(o, o->task_count, NULL, &error);
    assert_non_null(as);
    const size_t size = 9 * (size_t)as->column[as->free_count];
    double *values = calloc(size, sizeof *values), *zeros = calloc(size, sizeof *zeros);
    atomic_store(&flag, true);
    sinew_assembly_fill(as, o, world->q, false, values);
    assert_memory_equal(values, zeros, size * sizeof *values);
    atomic_store(&flag, false);
    sinew_assembly_fill(as, o, world->q, false, values);
    assert_memory_not_equal(values, zeros, size * sizeof *values);
    sinew_stop_use(NULL);
    free(values);
    free(zeros);
    sinew_assembly_destroy(o, as);
    sinew_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polls),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_request_before_a_step),
        cmocka_unit_test(test_preparation),
        cmocka_unit_test(test_factor_with_the_flag),
        cmocka_unit_test(test_assembly_with_the_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
