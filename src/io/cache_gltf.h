/* SPDX-License-Identifier: MIT
 *
 * cache_gltf.h: what the files of the glTF cache share: cache_gltf_vertices.c chooses vertices and primitives,
 * cache_gltf.c streams frames and lays out the file, cache_gltf_json.c describes it.
 */
#ifndef SINEW_CACHE_GLTF_H
#define SINEW_CACHE_GLTF_H

#include <jansson.h>

#include "io/cache.h"

/* Numbers of the glTF specification. */
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
    sinew_writer side; /* positions, then displacements, frame by frame; never committed */
    sinew_writer glb;
    sinew_cache_shape shape; /* in numbers of the file's vertices */
    int32_t vertex_count;
    int32_t *points;      /* [vertex_count] which point a vertex is */
    float *uvs;           /* [2 * vertex_count] as glTF has them; NULL: none */
    int32_t part_count;   /* primitives of triangles: one a material, and one of faces without, which is last */
    int64_t *part_starts; /* [part_count + 1] the first triangle of each; empty ones are not written */
    float *base;          /* [3 * vertex_count] the first frame */
    unsigned char *bytes; /* [12 * vertex_count] one frame as it is in the file */
    float *bounds;        /* [6 * bounds_capacity] min and max of each frame's array */
    int32_t bounds_capacity;
} sinew_gltf;

/* Sets vertex_count, points, uvs and parts; the shape's triangles and edges are vertices from then on. */
sinew_status sinew_gltf_vertices(const sinew_cache *cache, sinew_gltf *own, sinew_error *error);
/* The whole JSON part; *size receives the bytes of the binary part. NULL: out of memory. */
json_t *sinew_gltf_json(const sinew_cache *cache, int frames, json_int_t *size);
/* When a frame is shown, s. */
float sinew_gltf_time(const sinew_cache *cache, int frame);

#endif
