/* SPDX-License-Identifier: MIT
 *
 * test_foreign_hands.c: the library leaves the process state of its host program unchanged. While worlds of every
 * solver are prepared and stepped, no signal handler changes, even temporarily, and the sequence of rand() is
 * undisturbed. No library thread exists before the first work or after the last world.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sinew/sinew.h"
#include "thread_count.h"

enum {
#ifdef SINEW_SANITIZED
    SIDE = 8,
#else
    SIDE = 14, /* large enough that ordering takes some ten milliseconds */
#endif
    DRAWS = 5
};

static void handler(int number)
{
    (void)number;
}

/* ---- Polling of signal handlers ---------------------------------------------------------------- */

typedef struct watch {
    pthread_t thread;
    _Atomic bool over;
    _Atomic int changed; /* the signal whose handler changed, 0: none */
    _Atomic long looks;
} watch;

static const int watched[] = {SIGTERM, SIGABRT, SIGINT, SIGUSR1};

static void look(watch *w)
{
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        struct sigaction now;
        sigaction(watched[i], NULL, &now);
        if (now.sa_handler != handler)
            atomic_store(&w->changed, watched[i]);
    }
    atomic_fetch_add(&w->looks, 1);
}

static void *keep_looking(void *argument)
{
    watch *w = argument;
    while (!atomic_load(&w->over)) {
        look(w);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return NULL;
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

static sinew_world *make_world(sinew_solver_kind kind, const char *linear)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 2;
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = 1;
    def.quasistatic = sinew_get_solver_info(kind)->static_only;
    if (linear) {
        const int32_t parameter = sinew_solver_parameter(kind, "linear");
        const char *words = sinew_get_solver_info(kind)->parameters[parameter].choices;
        int choice = 0; /* index of `linear` among the choices */
        for (const char *c = words; c < strstr(words, linear); c++)
            choice += *c == '|';
        def.solver.parameters[parameter] = (sinew_real)choice;
    }
    sinew_world *world = sinew_world_create(&def, NULL);
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++)
        box.vertices[c] = linear ? 6 : SIDE;
    sinew_mesh *mesh = sinew_mesh_box(&box, NULL);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    sinew_pin_def pin = sinew_default_pin_def();
    const int32_t held[] = {0, 1, 2, 100};
    pin.vertices = held;
    pin.vertex_count = 4;
    energy.body = pin.body = sinew_world_add_body(world, &body, NULL);
    sinew_world_add_energy(world, &energy, NULL);
    sinew_world_add_pins(world, &pin, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static void prepare_and_step(sinew_solver_kind kind, const char *linear)
{
    sinew_error error = {0};
    sinew_world *world = make_world(kind, linear);
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        fail_msg("%s: %s", sinew_get_solver_info(kind)->name, error.text);
    sinew_world_step(world, NULL);
    sinew_world_destroy(world);
}

static void all_worlds(void)
{
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        prepare_and_step((sinew_solver_kind)kind, NULL);
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void no_thread_stays(void **state)
{
    (void)state;
    const int before = thread_count();
#ifndef SINEW_SANITIZED /* sanitizers may start a thread of their own */
    assert_int_equal(before, 1);
#endif
    prepare_and_step(SINEW_SOLVER_PD, NULL);
    assert_int_equal(thread_count_settled(before), before);
}

static void handlers_stay(void **state)
{
    (void)state;
    struct sigaction before[sizeof watched / sizeof watched[0]];
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        const struct sigaction own = {.sa_handler = handler};
        sigaction(watched[i], &own, &before[i]);
    }
    static watch w;
    assert_int_equal(pthread_create(&w.thread, NULL, keep_looking, &w), 0);
    all_worlds();
    atomic_store(&w.over, true);
    pthread_join(w.thread, NULL);
    look(&w);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaction(watched[i], &before[i], NULL);
    print_message("%ld looks at the handlers\n", atomic_load(&w.looks));
    assert_int_equal(atomic_load(&w.changed), 0);
}

static void rand_goes_on(void **state)
{
    (void)state;
    int expected[DRAWS], drawn[DRAWS];
    srand(4711);
    for (int i = 0; i < DRAWS; i++)
        expected[i] = rand();
    srand(4711);
    drawn[0] = rand();
    all_worlds();
    for (int i = 1; i < DRAWS; i++)
        drawn[i] = rand();
    for (int i = 0; i < DRAWS; i++)
        assert_int_equal(drawn[i], expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_stays),
        cmocka_unit_test(handlers_stay),
        cmocka_unit_test(rand_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
