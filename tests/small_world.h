/* SPDX-License-Identifier: MIT
 *
 * small_world.h: a small falling beam for tests of the public functions, and an assertion hook that counts its calls.
 */
#ifndef SINEW_SMALL_WORLD_H
#define SINEW_SMALL_WORLD_H

#include "make_world.h"

#ifdef SINEW_SINGLE
#define CLOSE 1e-5
#else
#define CLOSE 1e-12
#endif

static int assertions;

static inline void count_assertion(const char *condition, const char *file, int line, void *context)
{
    (void)condition;
    (void)file;
    (void)line;
    (void)context;
    assertions++;
}

static inline int install_hook(void **state)
{
    (void)state;
    sinew_set_assert_handler(count_assertion, NULL);
    return 0;
}

static inline int remove_hook(void **state)
{
    (void)state;
    sinew_set_assert_handler(NULL, NULL);
    return 0;
}

/* Checks that the call failed with this status and a text that contains the words. */
static inline void refused(const sinew_error *error, sinew_status status, const char *words)
{
    if (error->status != status || !strstr(error->text, words))
        fail_msg("expected %s with \"%s\", got %s: %s", sinew_status_name(status), words,
                 sinew_status_name(error->status), error->text);
}

/* ---- A small world --------------------------------------------------------------------------- */

typedef struct scene {
    sinew_world *world;
    sinew_mesh *mesh;
    sinew_body body;
    sinew_energy energy;
    sinew_pin pin;
    int32_t held[16], held_count;
} scene;

/* A falling 2 x 1 x 1 beam of neo-Hookean rubber, held at its left end. */
static inline scene make_scene(const sinew_world_def *given)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    scene s = {.mesh = make_beam(2, 1, 1, 2, 1, 1)};
    s.world = make_world(given ? given : &def);
    s.body = add_mesh(s.world, s.mesh, 1000, NULL, NULL);
    s.energy = add_material(s.world, s.body, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    s.held_count = vertices_at(s.mesh, 0, -1, -1, s.held);
    s.pin = add_pins(s.world, s.body, s.held, s.held_count, NULL);
    return s;
}

static inline void free_scene(scene *s)
{
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->mesh);
}

static inline uint64_t hash_after(sinew_world *world, int steps)
{
    for (int i = 0; i < steps; i++)
        assert_int_equal(sinew_world_step(world, NULL) & ~(uint32_t)(SINEW_STEP_INVERTED | SINEW_STEP_UNMEASURED), 0);
    return sinew_world_state_hash(world);
}

static inline uint64_t plain_hash(int steps)
{
    scene s = make_scene(NULL);
    const uint64_t hash = hash_after(s.world, steps);
    free_scene(&s);
    return hash;
}

#endif
