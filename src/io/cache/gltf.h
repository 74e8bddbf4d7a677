/* SPDX-License-Identifier: MIT
 *
 * gltf.h: declarations that the files of the glTF cache share: gltf_vertices.c chooses vertices and primitives,
 * gltf_normals.c computes normals, gltf.c streams frames and lays out the file, gltf_json.c describes it.
 */
#ifndef SINEW_SRC_IO_CACHE_GLTF_H
#define SINEW_SRC_IO_CACHE_GLTF_H

#include <jansson.h>

#include "io/cache/cache.h"

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
    int32_t *points;           /* [vertex_count] point of each vertex */
    float *uvs;                /* [2 * vertex_count] as glTF has them; NULL: none */
    int32_t primitive_count;   /* primitives of triangles: one a material, and one of faces without, which is last */
    int64_t *primitive_starts; /* [part_count + 1] the first triangle of each; empty ones are not written */
    int32_t group_count;       /* of corners that share a normal */
    int32_t *groups;           /* [vertex_count] -1: the vertex has no triangle */
    double *sums;              /* [3 * group_count] for normals */
    int32_t every;             /* stride of frames in the file; set in close */
    float *base;               /* [3 * vertex_count] the first frame */
    unsigned char *bytes;      /* [12 * vertex_count] one frame as it is in the file */
    float *moved, *normals, *base_normals; /* [3 * vertex_count] of one frame, in close */
    float *bounds; /* [6 * bounds_capacity] min and max of each frame's array; NaN: the frame is omitted */
    int32_t bounds_capacity;
} sinew_gltf;

/* groups[corner] of the triangles [3 * triangle_count], while these are points; sets group_count. */
sinew_status sinew_gltf_groups(const sinew_cache *cache, sinew_gltf *own, int32_t *groups, sinew_error *error);
/* Unit normals of the vertices at these positions, both [3 * vertex_count]. */
void sinew_gltf_normals(sinew_gltf *own, const float *positions, float *normals);
/* Sets vertex_count, points, uvs, groups and parts; the shape's triangles and edges are vertices from then on. */
sinew_status sinew_gltf_vertices(const sinew_cache *cache, sinew_gltf *own, sinew_error *error);
/* The whole JSON part of a file with so many frames, every own->every-th of those that came; *size receives the bytes
 * of the binary part. NULL: out of memory. */
json_t *sinew_gltf_json(const sinew_cache *cache, int frames, json_int_t *size);
/* Time at which the frame-th frame of the file is shown, s. */
float sinew_gltf_time(const sinew_cache *cache, int frame);

#endif
