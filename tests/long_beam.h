/* SPDX-License-Identifier: MIT
 *
 * long_beam.h: a beam for tests of threads: large enough that every loop runs in parallel (SINEW_PARALLEL_PARTICLES,
 * SINEW_PARALLEL_TASKS), and so thin that factorisations are cheap.
 */
#ifndef SINEW_LONG_BEAM_H
#define SINEW_LONG_BEAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sinew/sinew.h"

enum {
    LONG_BEAM_LENGTH = 145, /* vertices along the beam */
    LONG_BEAM_WIDTH = 8     /* vertices along its other edges */
};

static inline sinew_mesh *long_beam_mesh(void)
{
    sinew_box_def def = sinew_default_box_def();
    def.vertices[0] = LONG_BEAM_LENGTH;
    def.vertices[1] = def.vertices[2] = LONG_BEAM_WIDTH;
    def.size[0] = 20;
    sinew_mesh *mesh = sinew_mesh_box(&def, NULL);
    assert_non_null(mesh);
    return mesh;
}

/* Adds the beam to the world, held on one side. */
static inline sinew_body long_beam_add(sinew_world *world, const sinew_mesh *mesh)
{
    int32_t held[LONG_BEAM_WIDTH * LONG_BEAM_WIDTH];
    const sinew_region side = {SINEW_REGION_HALF_SPACE, {0, 0, 0}, {-1, 0, 0}, 0};
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = sinew_world_add_body(world, &def, NULL);
    pins.vertices = held;
    pins.vertex_count = sinew_region_select(&side, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), held,
                                            LONG_BEAM_WIDTH * LONG_BEAM_WIDTH);
    assert_true(sinew_world_add_pins(world, &pins, NULL).index >= 0);
    return pins.body;
}

#endif
