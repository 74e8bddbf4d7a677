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

int32_t sinew_world_inverted(const sinew_world *world, int32_t capacity, sinew_energy *energies, int32_t *elements)
{
    if (!SINEW_ASSERT(world && (capacity == 0 || (energies && elements))))
        return 0;
    int32_t count = 0;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_batch *batch = world->energies[i].batch;
        for (int32_t e = 0; batch && batch->ops->determinants && e < batch->element_count; e++) {
            int32_t corners[4];
            sinew_batch_particles(batch, e, corners);
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
