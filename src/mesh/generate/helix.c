/* SPDX-License-Identifier: MIT
 *
 * helix.c: curved ropes: helices and closed rings around the z axis.
 *
 * A coil of n vertices: (r cos a, r sin a, pitch a / 2 pi) at n angles a from 0 to 2 pi turns, n - 1 edges. A ring of n
 * vertices: the regular n-gon of radius r, n edges, the last from vertex n - 1 to vertex 0.
 */
#include <math.h>

#include "mesh/mesh.h"

#define VERTICES_A_TURN 24

static const double full_turn = 6.283185307179586;

sinew_coil_def sinew_default_coil_def(void)
{
    return (sinew_coil_def){
        .cookie = SINEW_COOKIE_COIL, .radius = (sinew_real)0.5, .pitch = (sinew_real)0.2, .turns = 5};
}

static bool check_coil_def(const char *noun, const sinew_coil_def *def, double vertices, int32_t min,
                           sinew_error *error)
{
    if (!(def->radius > 0) || !isfinite(def->radius))
        sinew_fail(error, SINEW_ERROR_DATA, "%s: the radius is %g m; it must be finite and greater than 0", noun,
                   (double)def->radius);
    else if (!isfinite(def->pitch))
        sinew_fail(error, SINEW_ERROR_DATA, "%s: the pitch is %g m; it must be finite", noun, (double)def->pitch);
    else if (!(def->turns > 0) || !isfinite(def->turns))
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %g turns; the number must be finite and greater than 0", noun,
                   (double)def->turns);
    else if (!(vertices >= min) || vertices > INT32_MAX)
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %.10g vertices; at least %d are needed, and 32-bit indices must reach",
                   noun, vertices, min);
    else
        return true;
    return false;
}

/* Makes a rope of n vertices; the last is `turns` turns after the first, unless the loop is closed. NULL on failure. */
static sinew_mesh *make_coil(const sinew_coil_def *def, int32_t n, double turns, double pitch, bool closed,
                             sinew_error *error)
{
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, n, 0, 0, closed ? n : n - 1, error);
    if (!mesh)
        return NULL;
    for (int32_t i = 0; i < n; i++) {
        const double turned = turns * i / (closed ? n : n - 1), angle = full_turn * turned, r = (double)def->radius;
        const double x[3] = {r * cos(angle), r * sin(angle), pitch * turned};
        for (int k = 0; k < 3; k++)
            mesh->positions[3 * (size_t)i + (size_t)k] = (sinew_real)x[k];
    }
    for (int32_t i = 0; i < mesh->edge_count; i++) {
        mesh->edges[2 * (size_t)i] = i;
        mesh->edges[2 * (size_t)i + 1] = (i + 1) % n;
    }
    if (sinew_mesh_validate(mesh, error) == SINEW_OK)
        return mesh;
    sinew_mesh_destroy(mesh);
    return NULL;
}

static bool coil_def_is_given(const char *noun, const sinew_coil_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_COIL))
        return true;
    sinew_fail(error, SINEW_ERROR_USAGE, "%s: start from sinew_default_coil_def()", noun);
    return false;
}

sinew_mesh *sinew_mesh_coil(const sinew_coil_def *def, sinew_error *error)
{
    if (!coil_def_is_given("coil", def, error))
        return NULL;
    const double turns = (double)def->turns, n = def->vertices ? def->vertices : ceil(VERTICES_A_TURN * turns) + 1;
    if (!check_coil_def("coil", def, n, 2, error))
        return NULL;
    return make_coil(def, (int32_t)n, turns, (double)def->pitch, false, error);
}

sinew_mesh *sinew_mesh_ring(const sinew_coil_def *def, sinew_error *error)
{
    if (!coil_def_is_given("ring", def, error))
        return NULL;
    const double n = def->vertices ? def->vertices : VERTICES_A_TURN;
    return check_coil_def("ring", def, n, 3, error) ? make_coil(def, (int32_t)n, 1, 0, true, error) : NULL;
}
