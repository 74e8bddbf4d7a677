/* SPDX-License-Identifier: MIT
 *
 * mesh.c: the mesh object: creation from the caller's arrays, access, destruction.
 *
 * Limits: counts are 32-bit; array sizes in bytes are not (10 million tetrahedra are 160 MB of indices).
 */
#include "mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"

const int32_t sinew_tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
const int32_t sinew_tet_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

double sinew_tet_volume(const sinew_real *positions, const int32_t tet[4])
{
    double e[3][3];
    for (int i = 0; i < 3; i++)
        vec3_edge(positions + 3 * (size_t)tet[0], positions + 3 * (size_t)tet[i + 1], e[i]);
    return vec3_triple(e[2], e[0], e[1]) / 6;
}

void sinew_mesh_elements(const sinew_mesh *mesh, sinew_elements lists[3])
{
    lists[0] = (sinew_elements){mesh->tets, mesh->tet_count, 4};
    lists[1] = (sinew_elements){mesh->triangles, mesh->triangle_count, 3};
    lists[2] = (sinew_elements){mesh->edges, mesh->edge_count, 2};
}

/* ---- Creation of a mesh -------------------------------------------------------------------------- */

static bool count_fits(int64_t count, const char *what, sinew_error *error)
{
    if (count < 0)
        sinew_fail(error, SINEW_ERROR_DATA, "mesh: the number of %s is negative (%lld)", what, (long long)count);
    else if (count > INT32_MAX)
        sinew_fail(error, SINEW_ERROR_DATA,
                   "mesh: %lld %s are more than the %d that 32-bit indices reach; make it coarser", (long long)count,
                   what, INT32_MAX);
    return count >= 0 && count <= INT32_MAX;
}

sinew_mesh *sinew_mesh_allocate(const sinew_allocator *allocator, int64_t vertex_count, int64_t tet_count,
                                int64_t triangle_count, int64_t edge_count, sinew_error *error)
{
    if (!count_fits(vertex_count, "vertices", error) || !count_fits(tet_count, "tetrahedra", error) ||
        !count_fits(triangle_count, "triangles", error) || !count_fits(edge_count, "edges", error))
        return NULL;
    sinew_allocator hooks = sinew_allocator_or_system(allocator);
    sinew_mesh *mesh = sinew_allocate_zero(&hooks, 1, sizeof *mesh);
    if (!mesh) {
        sinew_fail_memory(error, "a mesh");
        return NULL;
    }
    mesh->allocator = hooks;
    mesh->vertex_count = (int32_t)vertex_count;
    mesh->tet_count = (int32_t)tet_count;
    mesh->triangle_count = (int32_t)triangle_count;
    mesh->edge_count = (int32_t)edge_count;
    mesh->positions = sinew_allocate(&hooks, 3 * (size_t)vertex_count, sizeof *mesh->positions);
    mesh->tets = sinew_allocate(&hooks, 4 * (size_t)tet_count, sizeof *mesh->tets);
    mesh->triangles = sinew_allocate(&hooks, 3 * (size_t)triangle_count, sizeof *mesh->triangles);
    mesh->edges = sinew_allocate(&hooks, 2 * (size_t)edge_count, sizeof *mesh->edges);
    if (!mesh->positions || !mesh->tets || !mesh->triangles || !mesh->edges) {
        sinew_mesh_destroy(mesh);
        sinew_fail_memory(error, "the arrays of a mesh");
        return NULL;
    }
    return mesh;
}

void sinew_mesh_destroy(sinew_mesh *mesh)
{
    if (!mesh)
        return;
    sinew_allocator hooks = mesh->allocator;
    sinew_release(&hooks, mesh->positions);
    sinew_release(&hooks, mesh->tets);
    sinew_release(&hooks, mesh->triangles);
    sinew_release(&hooks, mesh->edges);
    sinew_release(&hooks, mesh->directors);
    sinew_release(&hooks, mesh->fractions);
    sinew_release(&hooks, mesh->warnings);
    sinew_mesh_destroy(mesh->surface);
    sinew_release(&hooks, mesh);
}

static sinew_status validate_cells(const char *kind, const int32_t *cells, int32_t cell_count, int32_t size,
                                   int32_t vertex_count, sinew_error *error)
{
    for (size_t i = 0; i < (size_t)cell_count * (size_t)size; i++)
        if (cells[i] < 0 || cells[i] >= vertex_count)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "mesh: %s %zu refers to vertex %d, but there are %d vertices, numbered from 0", kind,
                              i / (size_t)size, cells[i], vertex_count);
    return SINEW_OK;
}

static sinew_status validate_positions(const sinew_real *positions, int32_t vertex_count, sinew_error *error)
{
    for (size_t i = 0; i < 3 * (size_t)vertex_count; i++)
        if (!isfinite(positions[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "mesh: vertex %zu has %c = %g; positions must be finite", i / 3,
                              "xyz"[i % 3], (double)positions[i]);
    return SINEW_OK;
}

sinew_status sinew_mesh_validate(const sinew_mesh *mesh, sinew_error *error)
{
    sinew_status status = validate_positions(mesh->positions, mesh->vertex_count, error);
    if (status == SINEW_OK)
        status = validate_cells("tet", mesh->tets, mesh->tet_count, 4, mesh->vertex_count, error);
    if (status == SINEW_OK)
        status = validate_cells("triangle", mesh->triangles, mesh->triangle_count, 3, mesh->vertex_count, error);
    if (status == SINEW_OK)
        status = validate_cells("edge", mesh->edges, mesh->edge_count, 2, mesh->vertex_count, error);
    return status;
}

sinew_status sinew_mesh_set_fractions(sinew_mesh *mesh, const sinew_real *fractions, sinew_error *error)
{
    const size_t count = (size_t)mesh->tet_count;
    sinew_real *own = NULL;
    for (size_t t = 0; fractions && t < count; t++)
        if (!(fractions[t] > 0 && fractions[t] <= 1))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "mesh: %g of tet %zu is filled; fractions are above 0, at most 1", (double)fractions[t],
                              t);
    if (fractions) {
        own = sinew_allocate(&mesh->allocator, count, sizeof *own);
        if (!own)
            return sinew_fail_memory(error, "the filled fractions of a mesh");
        memcpy(own, fractions, count * sizeof *own);
    }
    sinew_release(&mesh->allocator, mesh->fractions);
    mesh->fractions = own;
    return SINEW_OK;
}

/* Checks one director of a mesh: edge a b and director point p. used[v] is 1 if a cell or an earlier director uses
 * vertex v. */
static sinew_status check_director(const int32_t *director, int32_t number, uint8_t *used, sinew_error *error)
{
    const int32_t p = director[2];
    if (director[0] == director[1] || director[0] == p || director[1] == p)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "mesh: director %d is (%d, %d, %d); its edge and its point need three different vertices",
                          number, director[0], director[1], p);
    if (used[p])
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "mesh: director %d has the point %d, which a cell or another director uses; give it a vertex "
                          "of its own",
                          number, p);
    used[p] = 1;
    return SINEW_OK;
}

static sinew_status check_directors(const sinew_mesh *mesh, const int32_t *directors, int32_t count, sinew_error *error)
{
    if (!count_fits(count, "directors", error))
        return SINEW_ERROR_DATA;
    if (count == 0)
        return SINEW_OK;
    sinew_elements lists[3];
    sinew_status status = validate_cells("director", directors, count, 3, mesh->vertex_count, error);
    uint8_t *used = sinew_allocate_zero(&mesh->allocator, (size_t)mesh->vertex_count, 1);
    if (!used)
        return sinew_fail_memory(error, "the directors of a mesh");
    sinew_mesh_elements(mesh, lists);
    for (int l = 0; l < 3; l++)
        for (size_t i = 0; i < (size_t)lists[l].count * (size_t)lists[l].size; i++)
            used[lists[l].vertices[i]] = 1;
    for (int32_t i = 0; i < count && status == SINEW_OK; i++)
        status = check_director(directors + 3 * (size_t)i, i, used, error);
    sinew_release(&mesh->allocator, used);
    return status;
}

sinew_status sinew_mesh_set_directors(sinew_mesh *mesh, const int32_t *directors, int32_t count, sinew_error *error)
{
    if (count == 0)
        return SINEW_OK;
    int32_t *own = sinew_allocate(&mesh->allocator, 3 * (size_t)count, sizeof *own);
    if (!own)
        return sinew_fail_memory(error, "the directors of a mesh");
    memcpy(own, directors, 3 * (size_t)count * sizeof *own);
    sinew_release(&mesh->allocator, mesh->directors);
    mesh->directors = own;
    mesh->director_count = count;
    return SINEW_OK;
}

sinew_mesh_def sinew_default_mesh_def(void)
{
    return (sinew_mesh_def){.cookie = SINEW_COOKIE_MESH};
}

/* Whether every positive count of a mesh definition has its array; a missing array is the caller's error. */
static bool arrays_present(const sinew_mesh_def *def)
{
    return (def->vertex_count <= 0 || def->positions) && (def->tet_count <= 0 || def->tets) &&
           (def->triangle_count <= 0 || def->triangles) && (def->edge_count <= 0 || def->edges) &&
           (def->director_count <= 0 || def->directors);
}

static void mesh_copy_array(void *to, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy(to, from, count * size);
}

sinew_mesh *sinew_mesh_create(const sinew_mesh_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_MESH)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: start from sinew_default_mesh_def()");
        return NULL;
    }
    if (!SINEW_ASSERT(arrays_present(def))) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: a count is positive but its array is NULL");
        return NULL;
    }
    sinew_mesh *mesh = sinew_mesh_allocate(&def->allocator, def->vertex_count, def->tet_count, def->triangle_count,
                                           def->edge_count, error);
    if (!mesh)
        return NULL;
    mesh_copy_array(mesh->positions, def->positions, 3 * (size_t)def->vertex_count, sizeof *mesh->positions);
    mesh_copy_array(mesh->tets, def->tets, 4 * (size_t)def->tet_count, sizeof *mesh->tets);
    mesh_copy_array(mesh->triangles, def->triangles, 3 * (size_t)def->triangle_count, sizeof *mesh->triangles);
    mesh_copy_array(mesh->edges, def->edges, 2 * (size_t)def->edge_count, sizeof *mesh->edges);
    if (sinew_mesh_validate(mesh, error) != SINEW_OK ||
        sinew_mesh_set_fractions(mesh, def->fractions, error) != SINEW_OK ||
        check_directors(mesh, def->directors, def->director_count, error) != SINEW_OK ||
        sinew_mesh_set_directors(mesh, def->directors, def->director_count, error) != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

sinew_mesh_def sinew_mesh_get_def(const sinew_mesh *mesh)
{
    return (sinew_mesh_def){.cookie = SINEW_COOKIE_MESH,
                            .allocator = mesh->allocator,
                            .vertex_count = mesh->vertex_count,
                            .positions = mesh->positions,
                            .tet_count = mesh->tet_count,
                            .tets = mesh->tets,
                            .triangle_count = mesh->triangle_count,
                            .triangles = mesh->triangles,
                            .edge_count = mesh->edge_count,
                            .edges = mesh->edges,
                            .fractions = mesh->fractions,
                            .director_count = mesh->director_count,
                            .directors = mesh->directors};
}

sinew_mesh *sinew_mesh_moved(const sinew_mesh *mesh, const sinew_real *positions, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh && positions)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: a moved copy needs a mesh and positions");
        return NULL;
    }
    sinew_mesh_def def = sinew_mesh_get_def(mesh);
    def.positions = positions;
    return sinew_mesh_create(&def, error);
}

/* ---- Warnings about a mesh ----------------------------------------------------------------------- */

sinew_status sinew_mesh_add_warning(sinew_mesh *mesh, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return SINEW_ERROR_USAGE;
    size_t start = mesh->warnings_length ? mesh->warnings_length + 1 : 0;
    size_t size = start + (size_t)length + 1;
    char *warnings = sinew_reallocate(&mesh->allocator, mesh->warnings, mesh->warnings_length, size, 1);
    if (!warnings)
        return SINEW_ERROR_MEMORY;
    if (start)
        warnings[start - 1] = '\n';
    va_start(arguments, format);
    vsnprintf(warnings + start, (size_t)length + 1, format, arguments);
    va_end(arguments);
    mesh->warnings = warnings;
    mesh->warnings_length = size - 1;
    return SINEW_OK;
}

const char *sinew_mesh_warnings(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) && mesh->warnings ? mesh->warnings : "";
}

/* ---- Access to a mesh's arrays ------------------------------------------------------------------- */

int32_t sinew_mesh_vertex_count(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->vertex_count : 0;
}

int32_t sinew_mesh_tet_count(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->tet_count : 0;
}

int32_t sinew_mesh_triangle_count(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->triangle_count : 0;
}

int32_t sinew_mesh_edge_count(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->edge_count : 0;
}

int32_t sinew_mesh_director_count(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->director_count : 0;
}

const sinew_real *sinew_mesh_positions(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->positions : NULL;
}

const int32_t *sinew_mesh_tets(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->tets : NULL;
}

const sinew_real *sinew_mesh_fractions(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->fractions : NULL;
}

const int32_t *sinew_mesh_triangles(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->triangles : NULL;
}

const int32_t *sinew_mesh_edges(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->edges : NULL;
}

const int32_t *sinew_mesh_directors(const sinew_mesh *mesh)
{
    return SINEW_ASSERT(mesh) ? mesh->directors : NULL;
}
