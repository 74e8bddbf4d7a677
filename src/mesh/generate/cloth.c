/* SPDX-License-Identifier: MIT
 *
 * cloth.c: rectangles of cloth and straight ropes.
 *
 * Cloth of nx x ny vertices, number i + nx j; triangles face +z. Exact counts:
 *     triangles 2 (nx - 1)(ny - 1)
 *     edges     (nx - 1) ny + nx (ny - 1) + d (nx - 1)(ny - 1), d = 1, or 2 for SINEW_DIAGONALS_CROSS
 * Edges along x come first, then those along y, then the diagonals. Rope: n vertices, n - 1 edges.
 */
#include "mesh/mesh.h"

#include <math.h>

static bool cloth_finite3(const sinew_real x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static sinew_mesh *validated_mesh(sinew_mesh *mesh, sinew_error *error)
{
    if (sinew_mesh_validate(mesh, error) == SINEW_OK)
        return mesh;
    sinew_mesh_destroy(mesh);
    return NULL;
}

/* ---- Meshes of rectangular cloth ----------------------------------------------------------------- */

sinew_cloth_def sinew_default_cloth_def(void)
{
    return (sinew_cloth_def){
        .cookie = SINEW_COOKIE_CLOTH, .vertices = {16, 16}, .size = {1, 1}, .diagonals = SINEW_DIAGONALS_FORWARD};
}

static bool check_cloth_def(const sinew_cloth_def *def, sinew_error *error)
{
    for (int k = 0; k < 2; k++) {
        if (def->vertices[k] < 2)
            sinew_fail(error, SINEW_ERROR_DATA, "cloth: %d vertices along %c; at least 2 are needed", def->vertices[k],
                       "xy"[k]);
        else if (!isfinite(def->size[k]) || !(def->size[k] > 0))
            sinew_fail(error, SINEW_ERROR_DATA, "cloth: size along %c is %g m; it must be finite and greater than 0",
                       "xy"[k], (double)def -> size[k]);
        else
            continue;
        return false;
    }
    if (!cloth_finite3(def->origin))
        sinew_fail(error, SINEW_ERROR_DATA, "cloth: the origin (%g, %g, %g) must be finite", (double)def->origin[0],
                   (double)def->origin[1], (double)def->origin[2]);
    else if ((int)def->diagonals < 0 || def->diagonals > SINEW_DIAGONALS_CROSS)
        sinew_fail(error, SINEW_ERROR_DATA, "cloth: there is no choice of diagonals number %d", (int)def->diagonals);
    else
        return true;
    return false;
}

static bool is_forward_diagonal(sinew_diagonals diagonals, int32_t i, int32_t j)
{
    if (diagonals == SINEW_DIAGONALS_ALTERNATING)
        return ((i ^ j) & 1) == 0;
    return diagonals != SINEW_DIAGONALS_BACKWARD;
}

static void place_cloth(const sinew_cloth_def *def, sinew_real *positions)
{
    for (int32_t j = 0; j < def->vertices[1]; j++)
        for (int32_t i = 0; i < def->vertices[0]; i++) {
            double u = (double)i / (def->vertices[0] - 1), v = (double)j / (def->vertices[1] - 1);
            *positions++ = (sinew_real)((double)def->origin[0] + u * (double)def->size[0]);
            *positions++ = (sinew_real)((double)def->origin[1] + v * (double)def->size[1]);
            *positions++ = def->origin[2];
        }
}

static void write_triangles(const sinew_cloth_def *def, int32_t *triangles)
{
    int32_t nx = def->vertices[0], ny = def->vertices[1];
    for (int32_t j = 0; j + 1 < ny; j++)
        for (int32_t i = 0; i + 1 < nx; i++, triangles += 6) {
            /* Corners a b c d of a cell are anticlockwise, starting at the first end of its diagonal. */
            int32_t at = i + nx * j;
            bool forward = is_forward_diagonal(def->diagonals, i, j);
            int32_t a = forward ? at : at + 1, b = forward ? at + 1 : at + 1 + nx;
            int32_t c = forward ? at + 1 + nx : at + nx, d = forward ? at + nx : at;
            const int32_t both[6] = {a, b, c, a, c, d};
            for (int n = 0; n < 6; n++)
                triangles[n] = both[n];
        }
}

static int32_t *write_edge(int32_t *edges, int32_t a, int32_t b)
{
    edges[0] = a;
    edges[1] = b;
    return edges + 2;
}

static void write_edges(const sinew_cloth_def *def, int32_t *edges)
{
    int32_t nx = def->vertices[0], ny = def->vertices[1];
    for (int32_t j = 0; j < ny; j++)
        for (int32_t i = 0; i + 1 < nx; i++)
            edges = write_edge(edges, i + nx * j, i + 1 + nx * j);
    for (int32_t j = 0; j + 1 < ny; j++)
        for (int32_t i = 0; i < nx; i++)
            edges = write_edge(edges, i + nx * j, i + nx * (j + 1));
    bool cross = def->diagonals == SINEW_DIAGONALS_CROSS;
    for (int32_t j = 0; j + 1 < ny; j++)
        for (int32_t i = 0; i + 1 < nx; i++) {
            int32_t at = i + nx * j;
            bool forward = is_forward_diagonal(def->diagonals, i, j);
            if (forward)
                edges = write_edge(edges, at, at + 1 + nx);
            if (!forward || cross)
                edges = write_edge(edges, at + 1, at + nx);
        }
}

sinew_mesh *sinew_mesh_cloth(const sinew_cloth_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_CLOTH)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "cloth: start from sinew_default_cloth_def()");
        return NULL;
    }
    if (!check_cloth_def(def, error))
        return NULL;
    /* sinew_mesh_allocate() refuses more than INT32_MAX vertices; the number of cells is set to 0 in this case, so that
     * no count overflows. */
    int64_t nx = def->vertices[0], ny = def->vertices[1], cells = nx * ny > INT32_MAX ? 0 : (nx - 1) * (ny - 1);
    int64_t diagonals = def->diagonals == SINEW_DIAGONALS_CROSS ? 2 * cells : cells;
    int64_t edge_count = cells ? (nx - 1) * ny + nx * (ny - 1) + diagonals : 0;
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, nx * ny, 0, 2 * cells, edge_count, error);
    if (!mesh)
        return NULL;
    place_cloth(def, mesh->positions);
    write_triangles(def, mesh->triangles);
    write_edges(def, mesh->edges);
    return validated_mesh(mesh, error);
}

/* ---- Meshes of straight ropes -------------------------------------------------------------------- */

sinew_rope_def sinew_default_rope_def(void)
{
    return (sinew_rope_def){.cookie = SINEW_COOKIE_ROPE, .vertices = 16, .to = {1, 0, 0}};
}

sinew_mesh *sinew_mesh_rope(const sinew_rope_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_ROPE)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "rope: start from sinew_default_rope_def()");
        return NULL;
    }
    if (def->vertices < 2) {
        sinew_fail(error, SINEW_ERROR_DATA, "rope: %d vertices; at least 2 are needed", def->vertices);
        return NULL;
    }
    if (!cloth_finite3(def->from) || !cloth_finite3(def->to) ||
        (def->from[0] == def->to[0] && def->from[1] == def->to[1] && def->from[2] == def->to[2])) {
        sinew_fail(error, SINEW_ERROR_DATA, "rope: its ends must be finite and two different points");
        return NULL;
    }
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, def->vertices, 0, 0, def->vertices - 1, error);
    if (!mesh)
        return NULL;
    for (int32_t i = 0; i < def->vertices; i++)
        for (int k = 0; k < 3; k++) {
            /* Positions are weighted means of `from` and `to` with both weights, so that the last vertex is exactly
             * `to`. */
            double t = (double)i / (def->vertices - 1);
            mesh->positions[3 * (size_t)i + (size_t)k] =
                (sinew_real)((1 - t) * (double)def->from[k] + t * (double)def->to[k]);
        }
    for (int32_t i = 0; i + 1 < def->vertices; i++)
        write_edge(mesh->edges + 2 * (size_t)i, i, i + 1);
    return validated_mesh(mesh, error);
}
