/* SPDX-License-Identifier: MIT
 *
 * mesh.h: the members of a sinew_mesh, for code that creates meshes.
 *
 * The creating code calls sinew_mesh_allocate() and fills the arrays; afterwards the mesh is constant.
 */
#ifndef SINEW_SRC_MESH_MESH_H
#define SINEW_SRC_MESH_MESH_H

#include "base/base.h"
#include "mesh/topology.h"
#include "sinew/mesh.h"

struct sinew_mesh {
    sinew_allocator allocator;
    int32_t vertex_count;
    int32_t tet_count;
    int32_t triangle_count;
    int32_t edge_count;
    int32_t director_count;
    sinew_real *positions; /* [3 * vertex_count] vertex coordinates, in m */
    int32_t *tets;         /* [4 * tet_count] vertex indices of each tet */
    int32_t *triangles;    /* [3 * triangle_count] vertex indices of each triangle */
    int32_t *edges;        /* [2 * edge_count] vertex indices of each edge */
    /* [3 * director_count] per director: edge a b, director point p (rod_frames.h); NULL: none */
    int32_t *directors;
    sinew_real *fractions;  /* [tet_count] filled fraction of each tet's volume, in (0, 1]; NULL: every tet is filled */
    char *warnings;         /* warnings about the mesh, lines separated by line feeds; NULL: none */
    size_t warnings_length; /* length of `warnings` without the final 0 */
    /* Surface of the mesh (sinew_mesh_kept_surface()), whose positions are unused; NULL: not computed yet */
    sinew_mesh *surface;
};

/* Returns a mesh with arrays of these sizes, contents undefined. The allocator is copied; NULL or zero-filled means the
 * system's. Counts over INT32_MAX are refused, so callers can compute counts in 64 bits. NULL on failure. */
sinew_mesh *sinew_mesh_allocate(const sinew_allocator *allocator, int64_t vertex_count, int64_t tet_count,
                                int64_t triangle_count, int64_t edge_count, sinew_error *error);

/* Stores a copy of the tets' filled fractions [tet_count], all in (0, 1], in the mesh; NULL: none. On failure the mesh
 * is unchanged. */
sinew_status sinew_mesh_set_fractions(sinew_mesh *mesh, const sinew_real *fractions, sinew_error *error);

/* Stores a copy of directors [3 * count] in the mesh without checking them: sinew_mesh_create() has checked them in
 * a mesh with the same vertices. On failure the mesh is unchanged. */
sinew_status sinew_mesh_set_directors(sinew_mesh *mesh, const int32_t *directors, int32_t count, sinew_error *error);

/* Returns a def that refers to the mesh's arrays, for a copy that replaces some of them. */
sinew_mesh_def sinew_mesh_get_def(const sinew_mesh *mesh);

/* Refuses indices out of range and non-finite positions; the error names the element. */
sinew_status sinew_mesh_validate(const sinew_mesh *mesh, sinew_error *error);

/* Appends a line to the warnings of a mesh. On SINEW_ERROR_MEMORY the warnings are unchanged. */
sinew_status sinew_mesh_add_warning(sinew_mesh *mesh, const char *format, ...) SINEW_PRINTF(2, 3);

/* The vertices of the four faces of an oriented tetrahedron (a b c d) as corner indices 0 .. 3, counter-clockwise seen
 * from outside; face i lies opposite to vertex i. */
extern const int32_t sinew_tet_faces[4][3];
/* The six edges of a tetrahedron as corner indices 0 .. 3. */
extern const int32_t sinew_tet_edges[6][2];

/* The tetrahedra, triangles and edges of a mesh, in this order, as lists for topology.h. */
void sinew_mesh_elements(const sinew_mesh *mesh, sinew_elements lists[3]);

/* Like sinew_mesh_surface(), with the tetrahedron that each triangle bounds: *owners [triangle_count], which the
 * caller releases with the mesh's allocator. *owners is NULL on failure or if the mesh has no tetrahedra. owners may
 * be NULL. */
sinew_mesh *sinew_mesh_surface_owned(const sinew_mesh *mesh, int32_t **owners, sinew_error *error);

/* sinew_mesh_surface() of a mesh that no other thread uses, computed by the first call; the mesh owns it. Bodies keep
 * the surfaces of their meshes, because each change of a world's bodies needs all of them. NULL on failure. */
const sinew_mesh *sinew_mesh_kept_surface(sinew_mesh *mesh, sinew_error *error);

/* Signed volume (b-a) x (c-a) . (d-a) / 6 of a tet (a b c d) in m3. */
double sinew_tet_volume(const sinew_real *positions, const int32_t tet[4]);

/* Creates the tet of four equal point masses with this inertia; NULL on failure. */
sinew_mesh *sinew_inertia_frame(const sinew_inertia *inertia, const sinew_allocator *allocator, sinew_error *error);

#endif
