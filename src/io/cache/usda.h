/* SPDX-License-Identifier: MIT
 *
 * usda.h: declarations that the files of the USD cache share: usda_prims.c builds the prims, usda.c streams frames,
 * usda_text.c writes the file.
 */
#ifndef SINEW_SRC_IO_CACHE_USDA_H
#define SINEW_SRC_IO_CACHE_USDA_H

#include "io/cache/cache.h"

#define SINEW_USDA_SCOPE "materials" /* name of the USD prim that contains the materials */

/* One body in USD: a Mesh, or BasisCurves if the body has edges only. */
typedef struct sinew_usda_prim {
    int32_t name; /* index in sinew_usda.names of the prim's name */
    bool curves;
    int32_t first_vertex, vertex_count; /* range of the prim's vertices in sinew_usda.points */
    int64_t first_face, face_count;     /* range of the shape's faces; for curves: range of entries of curve_counts */
    double width;                       /* diameter of curves, in m; 0 for a Mesh */
} sinew_usda_prim;

typedef struct sinew_usda {
    sinew_writer side; /* side file: positions and velocities, frame by frame; never renamed to a final name */
    sinew_writer text;
    sinew_cache_shape shape; /* drawable shape whose corners are vertex indices within their prim */
    int32_t prim_count;
    sinew_usda_prim *prims; /* [prim_count] USD prims of the file */
    sinew_name_list names;  /* valid and distinct names of the USD prims */
    int32_t *materials;     /* [number of materials of the shape] indices of their names in `material_names` */
    sinew_name_list material_names;
    int32_t root; /* index of the root prim's name in `material_names` */
    int64_t vertex_count;
    int32_t *points; /* [vertex_count] point of the cache of each USD vertex */
    int64_t curve_count;
    int32_t *curve_counts; /* [curve_count] number of vertices of each USD curve */
    unsigned char *bytes;  /* [12 * vertex_count] positions or velocities of one frame, as 32-bit floats */
} sinew_usda;

/* Arrays of each frame in the side file, in this order. */
enum {
    SINEW_USDA_POINTS,
    SINEW_USDA_VELOCITIES,
    SINEW_USDA_ARRAYS
};

/* Sets prims, names, points and curves of a USD cache; afterwards the shape's corners are vertices of their prim. */
sinew_status sinew_usda_build_prims(const sinew_cache *cache, sinew_usda *own, sinew_error *error);
/* Adds a valid USD name (letters, digits, _) that resembles `wanted` (if empty: `otherwise`) and is not in the list
 * yet. Returns its index; -1: memory runs out. */
int32_t sinew_usda_add_name(const sinew_cache *cache, sinew_name_list *list, const char *wanted, const char *otherwise);
/* Byte offset in the side file of one array of one frame (0: first), at the vertex `first_vertex`. */
int64_t sinew_usda_offset(const sinew_usda *own, int64_t frame, int array, int32_t first_vertex);
/* Writes the whole USDA file to own->text from the side file `side`. `frames` 0: the values in the side file have no
 * time. */
sinew_status sinew_usda_write(const sinew_cache *cache, sinew_usda *own, FILE *side, int32_t frames,
                              sinew_error *error);

#endif
