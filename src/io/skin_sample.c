/* SPDX-License-Identifier: MIT
 *
 * skin_sample.c: the nearest vertices and painted values of a skin, by a search over its vertices or triangles.
 */
#include "io/skin_sample.h"

#include "mesh/nearest.h"

sinew_status sinew_skin_nearest(const sinew_skin *skin, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *points, int32_t *vertices, sinew_error *error)
{
    (void)allocator;
    sinew_search search;
    sinew_status status = sinew_search_begin(&search, sinew_skin_mesh(skin), sinew_skin_positions(skin), true, error);
    for (int32_t i = 0; i < count && status == SINEW_OK; i++)
        vertices[i] = sinew_search_nearest(&search, points + 3 * (size_t)i).vertices[0];
    if (status == SINEW_OK)
        sinew_search_end(&search);
    return status;
}

sinew_status sinew_skin_sample(const sinew_skin *skin, const float *painted, const sinew_allocator *allocator,
                               int32_t count, const sinew_real *points, sinew_real *values, sinew_error *error)
{
    (void)allocator;
    sinew_search search;
    sinew_status status = sinew_search_begin(&search, sinew_skin_mesh(skin), sinew_skin_positions(skin), false, error);
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        const sinew_place place = sinew_search_nearest(&search, points + 3 * (size_t)i);
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += place.weights[k] * (double)painted[place.vertices[k]];
        values[i] = (sinew_real)sum;
    }
    if (status == SINEW_OK)
        sinew_search_end(&search);
    return status;
}
