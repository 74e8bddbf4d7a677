/* SPDX-License-Identifier: MIT
 *
 * sinew/skin.h: embedded surfaces (skins): polygons, texture coordinates, groups, materials and painted values, in the
 * order of the user's file, embedded in a body.
 *
 * A skin is immutable. The embedding gives each skin vertex up to four vertices of the body, with weights that sum to
 * 1: barycentric in the tetrahedron that contains it, or in the nearest tetrahedron (weights may then be negative).
 * In a body without tetrahedra the weights are those of the nearest point on a triangle, an edge or a vertex;
 * offsets from a cloth are dropped. A skin does not affect steps, except in contact with SINEW_CONTACT_SKIN;
 * programs draw and write it, and select vertices with it.
 *
 * Does not: follow a tear. Weights are unchanged when the body gets vertices or other cells (vertex numbers do not
 * change); set the skin again to embed it in the new cells. A skin is removed with its body.
 */
#ifndef SINEW_SKIN_H
#define SINEW_SKIN_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_skin sinew_skin;

/* Kinds of names that faces of a skin have. */
typedef enum sinew_skin_set {
    SINEW_SKIN_GROUP = 0, /* group names (OBJ: the last g or o, all names on its line; glTF: names of meshes) */
    SINEW_SKIN_MATERIAL,  /* material names (OBJ: usemtl; glTF: materials) */
    SINEW_SKIN_SET_COUNT
} sinew_skin_set;

/* Options for reading a skin from a file. The ending selects the format, as in sinew_mesh_read(). Properties that a
 * format lacks are empty. Coincident vertices are not merged: count and order are those of the file. `up` ("x" "y"
 * "z" "-x" ...: the file's axis that becomes y; NULL: y) and `scale` (m per unit of the file; 1) are applied on
 * reading. */
typedef struct sinew_skin_def {
    uint32_t cookie;
    sinew_allocator allocator;
    const char *path;
    const char *up;
    double scale;
} sinew_skin_def;
SINEW_API sinew_skin_def sinew_default_skin_def(void);
/* Reads a skin from a file; NULL on failure. */
SINEW_API sinew_skin *sinew_skin_read(const sinew_skin_def *def, sinew_error *error);
/* Creates a skin from the triangles of a mesh, or from the boundary of its tets. */
SINEW_API sinew_skin *sinew_skin_of_mesh(const sinew_mesh *mesh, sinew_error *error);
SINEW_API void sinew_skin_destroy(sinew_skin *skin); /* destroys a skin; NULL has no effect */

SINEW_API int32_t sinew_skin_vertex_count(const sinew_skin *skin);
/* Returns undeformed positions of the skin, [3 * vertex_count] in m, after all transforms on reading (`up`, `scale`,
 * transform of a scene). */
SINEW_API const sinew_real *sinew_skin_positions(const sinew_skin *skin);
/* Returns the number of faces of a skin. Faces have three or more corners: face f has corners[starts[f]] ..
 * corners[starts[f + 1] - 1]. */
SINEW_API int32_t sinew_skin_face_count(const sinew_skin *skin);
/* Returns [face_count + 1] indices of each face's first corner. */
SINEW_API const int32_t *sinew_skin_face_starts(const sinew_skin *skin);
/* Returns [starts[face_count]] vertices, one for each corner of the faces. */
SINEW_API const int32_t *sinew_skin_corners(const sinew_skin *skin);
/* Returns [2 * count] texture coordinates u, v; NULL: none. */
SINEW_API const float *sinew_skin_uvs(const sinew_skin *skin, int32_t *count);
/* Returns [starts[face_count]] indices of each corner's texture coordinates, -1: none; NULL: the skin has no texture
 * coordinates. */
SINEW_API const int32_t *sinew_skin_corner_uvs(const sinew_skin *skin);
/* Names of groups and materials of a skin; sinew_skin_face_names has the index of each face's name (-1: none). */
SINEW_API int32_t sinew_skin_name_count(const sinew_skin *skin, sinew_skin_set set);
SINEW_API const char *sinew_skin_name(const sinew_skin *skin, sinew_skin_set set, int32_t index);
/* Returns [face_count] indices of each face's group or material name; NULL: no face has a name. */
SINEW_API const int32_t *sinew_skin_face_names(const sinew_skin *skin, sinew_skin_set set);
/* Painted values: named arrays of one number per vertex. Sources: OBJ: red, green, blue after the coordinates; PLY:
 * scalars of vertices; glTF: COLOR_0 and attributes that start with _. */
SINEW_API int32_t sinew_skin_attribute_count(const sinew_skin *skin);
SINEW_API const char *sinew_skin_attribute_name(const sinew_skin *skin, int32_t index);
/* Returns [vertex_count] values of one attribute (painted value) of the skin. */
SINEW_API const float *sinew_skin_attribute(const sinew_skin *skin, int32_t index);
/* Returns the triangulated faces of a skin over the same vertices, in the order of the faces, for trees, pictures and
 * filling. */
SINEW_API const sinew_mesh *sinew_skin_mesh(const sinew_skin *skin);
SINEW_API const int32_t *
sinew_skin_triangle_faces(const sinew_skin *skin); /* returns [triangles of the mesh] face of each triangle */
/* Returns [3 * triangles of the mesh] indices in `corners` of each triangle corner of the triangulated skin. */
SINEW_API const int32_t *sinew_skin_triangle_corners(const sinew_skin *skin);
/* Path of the material library that an OBJ refers to (mtllib), which is not read; "": none. */
SINEW_API const char *sinew_skin_material_library(const sinew_skin *skin);
SINEW_API const char *sinew_skin_warnings(const sinew_skin *skin);

/* ---- Embedding in a body --------------------------------------------------------------------- */

typedef struct sinew_embedding_def {
    uint32_t cookie;
    const sinew_skin *skin; /* skin to embed in the body; copied; NULL removes the skin of the body */
    /* [3 * vertex_count of the skin] positions of the skin vertices in m, in the frame of the body's rest positions;
     * NULL: the skin's own positions. */
    const sinew_real *positions;
    /* Largest allowed distance in m of a skin vertex from the body at rest, else an error. 0: no limit. */
    sinew_real farthest;
} sinew_embedding_def;
SINEW_API sinew_embedding_def sinew_default_embedding_def(void);
SINEW_API sinew_status sinew_body_set_skin(sinew_world *world, sinew_body body, const sinew_embedding_def *def,
                                           sinew_error *error);
/* Returns the skin of a body, owned by the world; NULL: none. */
SINEW_API const sinew_skin *sinew_body_skin(const sinew_world *world, sinew_body body);
/* Return the embedding of each skin vertex: vertices of the body [4 * count] and weights [4 * count]. Both are valid
 * until the skin or the body's shape changes. NULL: no skin. */
SINEW_API const int32_t *sinew_body_skin_vertices(const sinew_world *world, sinew_body body);
SINEW_API const sinew_real *sinew_body_skin_weights(const sinew_world *world, sinew_body body);
/* Return the current positions q (m) and velocities v (m/s) of the skin's vertices: [3 * vertex_count of the skin]. */
SINEW_API sinew_status sinew_body_skin_positions(const sinew_world *world, sinew_body body, sinew_real *q);
SINEW_API sinew_status sinew_body_skin_velocities(const sinew_world *world, sinew_body body, sinew_real *v);

#ifdef __cplusplus
}
#endif
#endif
