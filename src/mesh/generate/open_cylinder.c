/* SPDX-License-Identifier: MIT
 *
 * open_cylinder.c: the lateral surface of a cylinder around the z axis, in triangles, open at both ends.
 *
 * There are n segments around and l layers up. Each row of vertices is rotated by half a segment against the previous
 * one, so that triangles are symmetric. Vertex i of row j has index i + n j; triangles face outwards. Exact counts:
 *     vertices n (l + 1)      triangles 2 n l
 */
#include <math.h>

#include "mesh/mesh.h"

#define TURN 6.28318530717958647693

static bool check_can_def(const sinew_round_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_ROUND))
        sinew_fail(error, SINEW_ERROR_USAGE, "can: start from sinew_default_round_def()");
    else if (!isfinite(def->radius) || !isfinite(def->height) || !(def->radius > 0) || !(def->height > 0))
        sinew_fail(error, SINEW_ERROR_DATA, "can: radius is %g m and height %g m; they must be finite and above 0",
                   (double)def->radius, (double)def->height);
    else if ((def->segments != 0 && def->segments < 3) || def->layers < 1)
        sinew_fail(error, SINEW_ERROR_DATA, "can: %d segments around and %d layers; at least 3 and 1 are needed",
                   def->segments, def->layers);
    else
        return true;
    return false;
}

static void place_can(const sinew_round_def *def, int32_t n, sinew_real *position)
{
    for (int32_t j = 0; j <= def->layers; j++)
        for (int32_t i = 0; i < n; i++) {
            const double angle = TURN * (i + 0.5 * (j % 2)) / n;
            *position++ = (sinew_real)((double)def->radius * cos(angle));
            *position++ = (sinew_real)((double)def->radius * sin(angle));
            *position++ = (sinew_real)((double)def->height * ((double)j / def->layers - 0.5));
        }
}

static void cover_can(const sinew_round_def *def, int32_t n, int32_t *triangle)
{
    for (int32_t j = 0; j < def->layers; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = i + n * j, b = (i + 1) % n + n * j, c = a + n, d = b + n;
            const int32_t two[6] = {a, b, j % 2 ? d : c, j % 2 ? a : b, d, c};
            for (int k = 0; k < 6; k++)
                *triangle++ = two[k];
        }
}

sinew_mesh *sinew_mesh_can(const sinew_round_def *def, sinew_error *error)
{
    if (!check_can_def(def, error))
        return NULL;
    const int32_t n = def->segments == 0 ? 24 : def->segments;
    const int64_t rows = (int64_t)def->layers + 1;
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, n * rows, 0, 2 * (n * (rows - 1)), 0, error);
    if (!mesh)
        return NULL;
    place_can(def, n, mesh->positions);
    cover_can(def, n, mesh->triangles);
    if (sinew_mesh_validate(mesh, error) == SINEW_OK)
        return mesh;
    sinew_mesh_destroy(mesh);
    return NULL;
}
