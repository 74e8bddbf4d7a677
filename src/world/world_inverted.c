/* SPDX-License-Identifier: MIT
 *
 * world_inverted.c: which tets are turned inside out: det F = V(q) / V(rest) <= 0, V being the signed volumes.
 */
#include "world/world.h"

/* Six times the signed volume of the tet of four particles, in double. */
static double volume(const sinew_real *points, const int32_t particles[4])
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (size_t c = 0; c < 3; c++)
            e[a][c] = (double)points[4 * (size_t)particles[a + 1] + c] - (double)points[4 * (size_t)particles[0] + c];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* The chunk that holds a group; chunks follow each other. */
static const sinew_chunk *chunk_of(const sinew_batch *batch, int32_t group)
{
    int32_t low = 0, high = batch->chunk_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (batch->chunks[middle].first_group <= group)
            low = middle;
        else
            high = middle - 1;
    }
    return &batch->chunks[low];
}

static void corners_of(const sinew_batch *batch, int32_t element, int32_t particles[4])
{
    const size_t W = (size_t)batch->width, place = (size_t)batch->place[element], group = place / W;
    const sinew_chunk *chunk = chunk_of(batch, (int32_t)group);
    for (size_t a = 0; a < 4; a++)
        particles[a] =
            batch->particle[chunk->first_slot + batch->vertex[(group * 4 + a) * W + place % W] / SINEW_POINT];
}

int32_t sinew_world_inverted(const sinew_world *world, int32_t capacity, sinew_energy *energies, int32_t *elements)
{
    if (!SINEW_ASSERT(world && (capacity == 0 || (energies && elements))))
        return 0;
    int32_t count = 0;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_batch *batch = world->energies[i].batch;
        for (int32_t e = 0; batch && batch->ops->determinants && e < batch->element_count; e++) {
            int32_t corners[4];
            corners_of(batch, e, corners);
            if (volume(world->q, corners) * volume(world->rest, corners) > 0)
                continue;
            if (count < capacity) {
                energies[count] = (sinew_energy){i, world->energies[i].generation};
                elements[count] = e;
            }
            count++;
        }
    }
    return count;
}
