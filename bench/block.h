/* SPDX-License-Identifier: MIT
 *
 * block.h: the standard problem of benches: a block of n^3 vertices of one energy.
 */
#ifndef SINEW_BENCH_BLOCK_H
#define SINEW_BENCH_BLOCK_H

#include <stdio.h>
#include <stdlib.h>

#include "world/world.h"

static inline void bench_give_up(const sinew_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

/* A world with the block as its only body. */
static inline sinew_world *bench_block(const sinew_world_def *def, int n, sinew_energy_kind kind)
{
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = n;
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    sinew_world *world = mesh ? sinew_world_create(def, &error) : NULL;
    if (!world)
        bench_give_up(&error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = sinew_world_add_body(world, &body, &error);
    if (sinew_world_add_energy(world, &energy, &error).index < 0)
        bench_give_up(&error);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Displacement of coordinate i, up to a twentieth of an edge, so that no element is at rest. */
static inline sinew_real bench_shift(int n, size_t i)
{
    return i % 4 == 3 ? 0 : (sinew_real)(0.1 / n * ((double)(i * 2654435761u % 1000) / 1000 - 0.5));
}

#endif
