/* SPDX-License-Identifier: MIT
 *
 * gltf.h: declarations that the files of the glTF cache share: gltf_vertices.c chooses vertices and primitives,
 * gltf_normals.c computes normals, gltf.c streams frames and lays out the file, gltf_json.c describes it.
 */
#ifndef SINEW_SRC_IO_CACHE_GLTF_H
#define SINEW_SRC_IO_CACHE_GLTF_H

#include <jansson.h>

#include "io/cache/cache.h"

/* Numeric codes of the glTF 2.0 specification. */
enum {
    type_float = 5126,
    type_uint = 5125,
    target_vertices = 34962,
    target_indices = 34963,
    mode_lines = 1,
    mode_triangles = 4,
    glb_magic = 0x46546c67,
    chunk_json = 0x4e4f534a,
    chunk_bin = 0x004e4942,
    glb_header = 12,
    chunk_header = 8,
};

typedef struct sinew_gltf {
    /* side file: positions of the first frame, then displacements of the others; never renamed to a final name */
    sinew_writer side;
    sinew_writer glb;
    sinew_cache_shape shape; /* drawable shape; its triangles and edges refer to vertices of the GLB file */
    int32_t vertex_count;
    int32_t *points; /* [vertex_count] point of the cache of each GLB vertex */
    float *uvs;      /* [2 * vertex_count] texture coordinates with glTF's v axis (downwards); NULL: none */
    /* number of triangle primitives: one per material, then one for faces without a material */
    int32_t primitive_count;
    /* [primitive_count + 1] index of the first triangle of each primitive; empty primitives are not written */
    int64_t *primitive_starts;
    int32_t group_count;  /* number of groups of triangle corners that share a normal */
    int32_t *groups;      /* [vertex_count] normal group of each vertex, -1: the vertex has no triangle */
    double *sums;         /* [3 * group_count] sums of triangle normals of each group */
    int32_t every;        /* stride of the run's frames that the GLB file stores; set in close */
    float *base;          /* [3 * vertex_count] positions of the first frame, in m */
    unsigned char *bytes; /* [12 * vertex_count] bytes of one frame in the side file */
    /* [3 * vertex_count] positions and normals of one frame, and normals of the first frame; used in close */
    float *moved, *normals, *base_normals;
    /* [6 * bounds_capacity] minimum and maximum of each frame's positions or displacements; NaN: the frame is
     * omitted */
    float *bounds;
    int32_t bounds_capacity;
} sinew_gltf;

/* Fills groups[3 * triangle_count], the normal group of each triangle corner, and sets group_count. Triangles must
 * refer to points, not yet to GLB vertices. */
sinew_status sinew_gltf_find_normal_groups(const sinew_cache *cache, sinew_gltf *own, int32_t *groups,
                                           sinew_error *error);
/* Computes unit normals of the GLB vertices for these positions, both [3 * vertex_count]. */
void sinew_gltf_compute_normals(sinew_gltf *own, const float *positions, float *normals);
/* Sets vertex_count, points, uvs, groups and primitives; afterwards the shape's triangles and edges refer to GLB
 * vertices. */
sinew_status sinew_gltf_choose_vertices(const sinew_cache *cache, sinew_gltf *own, sinew_error *error);
/* Returns the JSON of a GLB file with `frames` frames, every own->every-th frame of the run; *size receives the bytes
 * of the binary chunk. NULL: memory runs out. */
json_t *sinew_gltf_make_json(const sinew_cache *cache, int frames, json_int_t *size);
/* Time at which frame number `frame` of the GLB file is shown, in s. */
float sinew_gltf_time(const sinew_cache *cache, int frame);

#endif
