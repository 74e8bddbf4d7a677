/* SPDX-License-Identifier: MIT
 *
 * surface.c: makes meshes of the boundary triangles of tetrahedra, and of the unique edges of all cells.
 *
 * A face is on the boundary if exactly one tetrahedron has it. Triangles follow the order of their tetrahedra, then of
 * the faces of each. They point outwards even if a tetrahedron is inverted. Tetrahedra that contain a vertex twice
 * contribute no faces, and no edge joins a vertex to itself.
 */
#include "mesh/topology/facets.h"
#include "mesh/mesh.h"
#include "base/sort_pairs.h"

#include <string.h>

typedef struct boundary {
    uint8_t *faces; /* [tet_count] bit i: face i of the tet is on the boundary */
    int64_t count;
} boundary;

static void mark_boundary(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    boundary *b = context;
    if (use_count != 1)
        return;
    b->faces[uses[0].minor / 4] |= (uint8_t)(1 << uses[0].minor % 4);
    b->count++;
}

/* Writes the boundary triangles of the tets; owners [count], unless NULL, receives the tetrahedron of each triangle. */
static void write_boundary(const sinew_mesh *mesh, const boundary *b, int32_t *triangles, int32_t *owners)
{
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *tet = mesh->tets + 4 * (size_t)t;
        bool inverted = b->faces[t] && sinew_tet_volume(mesh->positions, tet) < 0;
        for (int i = 0; i < 4; i++) {
            if (!(b->faces[t] >> i & 1))
                continue;
            triangles[0] = tet[sinew_tet_faces[i][0]];
            triangles[1] = tet[sinew_tet_faces[i][inverted ? 2 : 1]];
            triangles[2] = tet[sinew_tet_faces[i][inverted ? 1 : 2]];
            triangles += 3;
            if (owners)
                *owners++ = t;
        }
    }
}

static sinew_mesh *surface_allocate(const sinew_mesh *mesh, int64_t triangle_count, sinew_error *error)
{
    sinew_mesh *surface =
        sinew_mesh_allocate(&mesh->allocator, mesh->vertex_count, 0, triangle_count, mesh->edge_count, error);
    if (!surface)
        return NULL;
    memcpy(surface->positions, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *mesh->positions);
    memcpy(surface->edges, mesh->edges, 2 * (size_t)mesh->edge_count * sizeof *mesh->edges);
    if (sinew_mesh_set_directors(surface, mesh->directors, mesh->director_count, error) != SINEW_OK) {
        sinew_mesh_destroy(surface);
        surface = NULL;
    }
    return surface;
}

static bool allocate_owners(const sinew_mesh *mesh, int64_t count, int32_t **owners, sinew_error *error)
{
    *owners = sinew_allocate(&mesh->allocator, (size_t)count, sizeof **owners);
    if (!*owners)
        sinew_fail_memory(error, "the surface of a mesh");
    return *owners != NULL;
}

static sinew_mesh *boundary_of_tets(const sinew_mesh *mesh, int32_t **owners, sinew_error *error)
{
    boundary b = {.faces = sinew_allocate_zero(&mesh->allocator, (size_t)mesh->tet_count, 1)};
    if (!b.faces) {
        sinew_fail_memory(error, "the surface of a mesh");
        return NULL;
    }
    sinew_mesh *surface = NULL;
    sinew_elements tets = {mesh->tets, mesh->tet_count, 4};
    if (sinew_visit_facets(&mesh->allocator, mesh->vertex_count, &tets, mark_boundary, &b, error) == SINEW_OK)
        surface = surface_allocate(mesh, b.count, error);
    if (surface && owners && !allocate_owners(mesh, b.count, owners, error)) {
        sinew_mesh_destroy(surface);
        surface = NULL;
    }
    if (surface)
        write_boundary(mesh, &b, surface->triangles, owners ? *owners : NULL);
    sinew_release(&mesh->allocator, b.faces);
    return surface;
}

sinew_mesh *sinew_mesh_surface(const sinew_mesh *mesh, sinew_error *error)
{
    return sinew_mesh_surface_owned(mesh, NULL, error);
}

const sinew_mesh *sinew_mesh_kept_surface(sinew_mesh *mesh, sinew_error *error)
{
    if (!mesh->surface)
        mesh->surface = sinew_mesh_surface(mesh, error);
    return mesh->surface;
}

sinew_mesh *sinew_mesh_surface_owned(const sinew_mesh *mesh, int32_t **owners, sinew_error *error)
{
    sinew_error_clear(error);
    if (owners)
        *owners = NULL;
    if (!SINEW_ASSERT(mesh)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: the surface of no mesh");
        return NULL;
    }
    if (mesh->tet_count > 0)
        return boundary_of_tets(mesh, owners, error);
    sinew_mesh *surface = surface_allocate(mesh, mesh->triangle_count, error);
    if (surface)
        memcpy(surface->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
    return surface;
}

sinew_mesh *sinew_mesh_skeleton(const sinew_mesh *mesh, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: the skeleton of no mesh");
        return NULL;
    }
    sinew_elements lists[3];
    sinew_mesh_elements(mesh, lists);
    int32_t *edges = NULL;
    int32_t edge_count = 0;
    if (sinew_unique_edges(&mesh->allocator, mesh->vertex_count, lists, 3, &edges, &edge_count, error) != SINEW_OK)
        return NULL;
    sinew_mesh *skeleton = sinew_mesh_allocate(&mesh->allocator, mesh->vertex_count, 0, 0, edge_count, error);
    if (skeleton) {
        memcpy(skeleton->positions, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *mesh->positions);
        memcpy(skeleton->edges, edges, 2 * (size_t)edge_count * sizeof *edges);
    }
    sinew_release(&mesh->allocator, edges);
    return skeleton;
}
