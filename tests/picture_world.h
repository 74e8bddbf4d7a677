/* SPDX-License-Identifier: MIT
 *
 * picture_world.h: a small static scene for tests of pictures: a bent and stretched beam, a wavy cloth, a rope, pins
 * and pairs. No step is taken, so that pictures do not depend on a solver.
 */
#ifndef SINEW_PICTURE_WORLD_H
#define SINEW_PICTURE_WORLD_H

#include "make_world.h"
#include "picture.h"

typedef struct still_life {
    sinew_world *world;
    sinew_body beam, cloth, rope;
    sinew_energy material;
} still_life;

/* Moves the vertices of a body by the function `bend`. */
static inline void move_body(sinew_world *world, sinew_body body, void (*bend)(const double from[3], double to[3]))
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *q = make_array(3 * (size_t)count, sizeof *q);
    for (int32_t i = 0; i < count; i++) {
        double from[3], to[3];
        for (int c = 0; c < 3; c++)
            from[c] = (double)sinew_mesh_positions(mesh)[3 * i + c];
        bend(from, to);
        for (int c = 0; c < 3; c++)
            q[3 * i + c] = (sinew_real)to[c];
    }
    assert_int_equal(sinew_world_set_positions(world, sinew_body_first_particle(world, body), count, q), SINEW_OK);
    free(q);
}

static inline void bend_beam(const double from[3], double to[3])
{
    const double stretch = 1 + 0.25 * from[0];
    to[0] = from[0] * 1.2;
    to[1] = from[1] / stretch + 0.25 * from[0] * from[0];
    to[2] = from[2] / stretch;
}

static inline void wave_cloth(const double from[3], double to[3])
{
    to[0] = from[0] - 0.5;
    to[1] = 0.75 + 0.12 * sin(6 * from[0]) * cos(4 * from[1]);
    to[2] = from[1] - 0.5;
}

static inline void hang_rope(const double from[3], double to[3])
{
    to[0] = from[0];
    to[1] = 0.2 + 1.2 * (from[0] + 0.2) * (from[0] + 0.2);
    to[2] = 0.9;
}

static inline void join_beam_and_cloth(still_life *s)
{
    const int32_t beam = sinew_body_first_particle(s->world, s->beam),
                  cloth = sinew_body_first_particle(s->world, s->cloth);
    const int32_t elements[8] = {beam + 40, beam + 41, beam, beam, cloth + 30, cloth + 31, cloth, cloth};
    const sinew_real weights[8] = {0.5f, 0.5f, 0, 0, 0.5f, 0.5f, 0, 0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    def.body.index = -1;
    def.elements = elements;
    def.element_count = 1;
    def.weights = weights;
    add_energy(s->world, &def);
}

static inline still_life make_still_life(void)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    still_life s = {.world = make_world(&def)};
    sinew_mesh *beam = make_beam(8, 3, 3, 1.6, 0.4, 0.4);
    s.beam = add_mesh(s.world, beam, 1000, NULL, NULL);
    s.material = add_material(s.world, s.beam, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    int32_t held[64];
    const int32_t count = vertices_at(beam, 0, -0.8, -0.8, held);
    move_body(s.world, s.beam, bend_beam);
    add_pins(s.world, s.beam, held, count, NULL);
    sinew_error error = {0};
    sinew_cloth_def sheet = sinew_default_cloth_def();
    sinew_mesh *cloth = sinew_mesh_cloth(&sheet, &error);
    must(&error);
    s.cloth = add_mesh(s.world, cloth, 0.2, NULL, NULL);
    add_springs(s.world, s.cloth, 100);
    move_body(s.world, s.cloth, wave_cloth);
    sinew_mesh *rope = make_rope(16, (const double[3]){-0.9, 0, 0}, (const double[3]){0.6, 0, 0});
    s.rope = add_mesh(s.world, rope, 0.1, NULL, NULL);
    add_springs(s.world, s.rope, 100);
    move_body(s.world, s.rope, hang_rope);
    join_beam_and_cloth(&s);
    sinew_mesh_destroy(beam);
    sinew_mesh_destroy(cloth);
    sinew_mesh_destroy(rope);
    return s;
}

static inline sinew_snapshot *take_snapshot(sinew_world *world, const sinew_snapshot_def *def)
{
    sinew_error error = {0};
    sinew_snapshot *snapshot = sinew_snapshot_take(world, def, &error);
    must(&error);
    assert_non_null(snapshot);
    return snapshot;
}

#endif
