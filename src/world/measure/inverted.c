/* SPDX-License-Identifier: MIT
 *
 * inverted.c: finds inverted tets: det F = V(q) / V(rest) <= 0, with signed volumes V. Ignores elements that are off.
 */
#include "math/vec3.h"
#include "world/measure/fields.h"

/* Six times the signed volume of the tet with vertices x; negative: inverted. */
static double six_signed_volumes(double (*x)[3])
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = x[a + 1][c] - x[0][c];
    return vec3_triple(e[0], e[1], e[2]);
}

double sinew_element_determinant(const sinew_world *world, const sinew_energy_record *record, int32_t element)
{
    double x[4][3], rest[4][3];
    const int32_t *corners = record->store.particles + 4 * (size_t)element;
    for (int a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++)
            x[a][c] = (double)world->q[4 * (size_t)corners[a] + c];
    sinew_element_rest(world, record, element, rest);
    return six_signed_volumes(x) / six_signed_volumes(rest);
}

/* True if an element is on and inverted. A determinant that is not a number, of a tet without volume at rest, counts as
 * inverted. */
static bool is_inverted(const sinew_world *world, const sinew_energy_record *record, int32_t element)
{
    return !sinew_batch_is_off(record->batch, element) && !(sinew_element_determinant(world, record, element) > 0);
}

int32_t sinew_world_inverted(const sinew_world *world, int32_t capacity, sinew_energy *energies, int32_t *elements)
{
    if (!SINEW_ASSERT(world && (capacity == 0 || (energies && elements))))
        return 0;
    int32_t count = 0;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        for (int32_t e = 0; record->batch && record->batch->ops->determinants && e < record->batch->element_count;
             e++) {
            if (!is_inverted(world, record, e))
                continue;
            if (count < capacity) {
                energies[count] = (sinew_energy){i, record->generation};
                elements[count] = e;
            }
            count++;
        }
    }
    return count;
}
