/* SPDX-License-Identifier: MIT
 *
 * sinew/skin.h: the user's own surface: polygons, texture coordinates, groups, materials, painted values, in the order
 * of her file; and how it rides on a body.
 *
 * A skin is immutable. On a body each of its vertices follows up to four of the body's by weights that sum to 1:
 * barycentric in the tetrahedron around it, or in the nearest one (then weights may be negative); in the nearest
 * triangle, edge or vertex of bodies without tetrahedra (no offset: what stands off a cloth is drawn on it). A skin
 * changes no step: it is only drawn, written and selected with.
 *
 * Does not: follow a tear. A skin keeps its weights when the body gets vertices or other cells (vertex numbers stay);
 * set it again to have it carried by the new cells. It goes with its body.
 */
#ifndef SINEW_SKIN_H
#define SINEW_SKIN_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_skin sinew_skin;

/* Kinds of names that faces and vertices have. */
typedef enum sinew_skin_set {
    SINEW_SKIN_GROUP = 0, /* OBJ: the last g or o, all names of its line; glTF: names of meshes */
    SINEW_SKIN_MATERIAL,  /* OBJ: usemtl; glTF: materials */
    SINEW_SKIN_SET_COUNT
} sinew_skin_set;

/* By the ending, as sinew_mesh_read(); what a format cannot say is empty. Vertices that share a place in the file stay
 * what they are: the count and the order are the file's. Up ("x" "y" "z" "-x" ...: the file's axis that becomes y;
 * NULL: y) and scale (m for one unit of the file; 1) are applied on reading. */
typedef struct sinew_skin_def {
    uint32_t cookie;
    sinew_allocator allocator;
    const char *path;
    const char *up;
    double scale;
} sinew_skin_def;
SINEW_API sinew_skin_def sinew_default_skin_def(void);
SINEW_API sinew_skin *sinew_skin_read(const sinew_skin_def *def, sinew_error *error); /* NULL on failure */
/* The triangles (or boundary) of a mesh as a skin. */
SINEW_API sinew_skin *sinew_skin_of_mesh(const sinew_mesh *mesh, sinew_error *error);
SINEW_API void sinew_skin_destroy(sinew_skin *skin); /* NULL is fine */

SINEW_API int32_t sinew_skin_vertex_count(const sinew_skin *skin);
SINEW_API const sinew_real *sinew_skin_positions(const sinew_skin *skin); /* [3 * vertex_count] m, where it was read */
/* Faces of three and more corners: those of face f are starts[f] .. starts[f + 1] - 1 of corners. */
SINEW_API int32_t sinew_skin_face_count(const sinew_skin *skin);
SINEW_API const int32_t *sinew_skin_face_starts(const sinew_skin *skin);       /* [face_count + 1] */
SINEW_API const int32_t *sinew_skin_corners(const sinew_skin *skin);           /* [starts[face_count]] vertices */
SINEW_API const float *sinew_skin_uvs(const sinew_skin *skin, int32_t *count); /* [2 * count], NULL: none */
SINEW_API const int32_t *sinew_skin_corner_uvs(const sinew_skin *skin); /* [starts[face_count]] uv or -1; NULL: none */
/* Names of groups and materials, and which each face has (-1: none). */
SINEW_API int32_t sinew_skin_name_count(const sinew_skin *skin, sinew_skin_set set);
SINEW_API const char *sinew_skin_name(const sinew_skin *skin, sinew_skin_set set, int32_t index);
SINEW_API const int32_t *sinew_skin_face_names(const sinew_skin *skin, sinew_skin_set set); /* [face_count] or NULL */
/* Painted values: one number a vertex by name (OBJ: red, green, blue behind the places; PLY and VTU: scalars; glTF:
 * COLOR_0 and attributes that begin with _). */
SINEW_API int32_t sinew_skin_attribute_count(const sinew_skin *skin);
SINEW_API const char *sinew_skin_attribute_name(const sinew_skin *skin, int32_t index);
SINEW_API const float *sinew_skin_attribute(const sinew_skin *skin, int32_t index); /* [vertex_count] */
/* Its faces cut into triangles over the same vertices, the order of faces kept: for trees, pictures, filling. */
SINEW_API const sinew_mesh *sinew_skin_mesh(const sinew_skin *skin);
SINEW_API const int32_t *
sinew_skin_triangle_faces(const sinew_skin *skin); /* [triangles of the mesh] the face of each */
/* [3 * triangles of the mesh] the entry of corners that each corner of a triangle is. */
SINEW_API const int32_t *sinew_skin_triangle_corners(const sinew_skin *skin);
/* The file of materials that an OBJ names (mtllib); "" without one. It is not read. */
SINEW_API const char *sinew_skin_material_library(const sinew_skin *skin);
SINEW_API const char *sinew_skin_notes(const sinew_skin *skin);

/* ---- Riding on a body ---------------------------------------------------------------------- */

typedef struct sinew_ride_def {
    uint32_t cookie;
    const sinew_skin *skin;      /* copied; NULL takes the body's away */
    const sinew_real *positions; /* [3 * its vertex_count] m beside the body's rest positions; NULL: the skin's own */
    sinew_real farthest;         /* m; refused, by number, when a vertex is farther from the body at rest; 0: any */
} sinew_ride_def;
SINEW_API sinew_ride_def sinew_default_ride_def(void);
SINEW_API sinew_status sinew_body_set_skin(sinew_world *world, sinew_body body, const sinew_ride_def *def,
                                           sinew_error *error);
SINEW_API const sinew_skin *sinew_body_skin(const sinew_world *world, sinew_body body); /* the world's; NULL: none */
/* The carriers of each skin vertex: vertices of the body [4 * count] and weights [4 * count]; both valid until the skin
 * or the body's shape changes. NULL without a skin. */
SINEW_API const int32_t *sinew_body_skin_vertices(const sinew_world *world, sinew_body body);
SINEW_API const sinew_real *sinew_body_skin_weights(const sinew_world *world, sinew_body body);
/* Where the skin's vertices are, and how fast, as the world is now: [3 * vertex_count]. */
SINEW_API sinew_status sinew_body_skin_positions(const sinew_world *world, sinew_body body, sinew_real *q);
SINEW_API sinew_status sinew_body_skin_velocities(const sinew_world *world, sinew_body body, sinew_real *v);

#ifdef __cplusplus
}
#endif
#endif
