/* SPDX-License-Identifier: MIT
 *
 * cache.h: declarations that the cache formats share: the cache itself, the points and the shape of its world, checked
 * writing.
 *
 * Each format is one file with one table of operations. The common part (cache.c) fetches the state, counts frames,
 * records the first failure and frees everything; a format only lays out bytes.
 *
 * A cache writes points. If no body is written as its skin and none may tear, the points are the world's particles by
 * number, including removed numbers. Otherwise the points follow the order of bodies: the vertices of a body's skin, or
 * its own vertices if it has none.
 */
#ifndef SINEW_SRC_IO_CACHE_CACHE_H
#define SINEW_SRC_IO_CACHE_CACHE_H

#include "io/file.h"
#include "mesh/embedded_surface.h"
#include "sinew/scene.h"

typedef struct sinew_cache_ops {
    const char *name; /* name of the cache format on the command line */
    size_t own_size;  /* size in bytes of the format's own data, which are zeroed before open */
    bool bodies;      /* true: the format writes the simulated bodies, not their skins */
    /* Operations of the format. After a failure only drop is called. open validates the cache->kept frames in the files
     * and appends after them. */
    sinew_status (*open)(sinew_cache *cache, sinew_error *error);
    /* appends a frame with the positions cache->q and velocities cache->v */
    sinew_status (*frame)(sinew_cache *cache, sinew_error *error);
    /* Rebuilds the format's data that depend on the topology of the world; NULL: all frames of this format share one
     * topology. */
    sinew_status (*reshape)(sinew_cache *cache, sinew_error *error);
    /* flushes all frames of the cache written so far to the disk */
    sinew_status (*sync)(sinew_cache *cache, sinew_error *error);
    /* Completes the files of the cache and renames them to their final names. */
    sinew_status (*close)(sinew_cache *cache, sinew_error *error);
    /* Removes unfinished files and frees the memory of the format's own data. Called exactly once after open, also if
     * open failed or close succeeded. */
    void (*drop)(sinew_cache *cache);
} sinew_cache_ops;

extern const sinew_cache_ops sinew_cache_pc2;
extern const sinew_cache_ops sinew_cache_obj;
extern const sinew_cache_ops sinew_cache_vtu;
extern const sinew_cache_ops sinew_cache_gltf;
extern const sinew_cache_ops sinew_cache_csv;
extern const sinew_cache_ops sinew_cache_npy;
extern const sinew_cache_ops sinew_cache_usda;

/* The drawable shape of a cache, in point indices: the faces of each body (of its skin, else of its surface), and
 * the edges of bodies that consist of edges only. Names and texture coordinates come from skins; all bodies share
 * one list. */
typedef struct sinew_cache_shape {
    int64_t face_count;
    /* [face_count + 1] start of each face in `corners`: face f has corners[starts[f]] to corners[starts[f + 1] - 1] */
    int32_t *starts;
    int32_t *corners;     /* [starts[face_count]] index of the point at each corner */
    int32_t *face_bodies; /* [face_count] index of each face's body in cache->bodies */
    int64_t triangle_count;
    /* [3 * triangle_count] points of each triangle: the triangulated faces, in the order of the faces */
    int32_t *triangles;
    int32_t *triangle_corners; /* [3 * triangle_count] index in `corners` of each triangle corner */
    int32_t *triangle_faces;   /* [triangle_count] index of the face that contains each triangle */
    int64_t edge_count;
    int32_t *edges; /* [2 * edge_count] indices of the two points of each edge */
    int64_t uv_count;
    /* [2 * uv_count] texture coordinates u, v; NULL: no body has texture coordinates */
    float *uvs;
    /* [starts[face_count]] index in `uvs` of each corner's texture coordinates, -1: none; may be NULL */
    int32_t *corner_uvs;
    sinew_name_list names[SINEW_SKIN_SET_COUNT]; /* different names of face groups and of materials */
    int32_t *face_names[SINEW_SKIN_SET_COUNT];   /* [face_count] index of each face's name, -1: none; may be NULL */
    sinew_name_list libraries;                   /* names of the files that define the materials */
} sinew_cache_shape;

/* The points of one body in a cache; the entry of a removed body has no points. */
typedef struct sinew_cache_body {
    sinew_body body;
    int32_t first_point, point_count;
    /* skin whose vertices are the body's points; NULL: the points are the body's own vertices */
    const sinew_skin *skin;
} sinew_cache_body;

struct sinew_cache {
    const sinew_cache_ops *ops;
    void *own; /* [ops->own_size] data that belong to the cache's format */
    sinew_allocator allocator;
    sinew_world *world;
    char stem[960];   /* directory/name of the cache, without ending */
    const char *name; /* the part of `stem` after the directory: the cache's name */
    int32_t expected; /* final number of frames that the caller announces, 0: unknown */
    int32_t first;    /* number of the cache's first frame */
    int32_t kept;     /* number of frames that an earlier run left in the files */
    bool resumable;   /* true: unfinished files are not deleted after a failure */
    /* number of frames so far, including kept frames: the next frame has the number first + frame_count */
    int32_t frame_count;
    int32_t synced;    /* number of frames of the cache that are flushed to the disk */
    double frame_time; /* simulated time between frames, in s */
    /* bits 1 << sinew_field_kind of mandatory fields, and of fields that are written if the world has them */
    uint32_t fields, fields_if_any;
    int32_t morph_frames; /* maximum number of morph targets of glTF, 0: unlimited */
    int32_t body_count;
    sinew_cache_body *bodies; /* [body_count] bodies of the world with their points in the cache */
    bool whole_bodies;        /* true: simulated bodies are written, not their skins */
    bool skinned;             /* true: the points of at least one body are vertices of a skin */
    bool by_body;             /* true: points are numbered body by body without gaps; false: by particle number */
    const char *noun;         /* noun for a point in error messages: "particle", "point" */
    int32_t point_count;
    int32_t particle_count; /* number of particles of the world at open or at the last topology change */
    int64_t shape_version;  /* sinew_world_shape_version at open or at the last topology change */
    double time;            /* simulated time of the current frame, in s */
    sinew_real *q;          /* [3 * point_count] positions of the cache's points in the current frame, in m */
    sinew_real *v;          /* [3 * point_count] velocities of the cache's points in the current frame, in m/s */
    sinew_error failure;    /* the first failure of a call on this cache; SINEW_OK: none */
};

/* ---- Points and shape of the world (points.c, surface.c) ---------------------------- */

/* True if some body may tear: its vertices then get other particle numbers as it grows. */
bool sinew_cache_tears(const sinew_world *world);
/* Finds the points that a cache writes for all bodies; may be called again after a topology change. Sets bodies,
 * body_count, skinned, by_body, noun, point_count, particle_count and shape_version. */
sinew_status sinew_cache_points_open(sinew_cache *cache, sinew_error *error);
/* Copies the current positions and velocities of the world's points to cache->q and cache->v. */
sinew_status sinew_cache_points_fetch(sinew_cache *cache);
/* Builds the shape of the world's bodies; the caller frees it with sinew_cache_shape_free(). */
sinew_status sinew_cache_shape_make(const sinew_cache *cache, sinew_cache_shape *shape, sinew_error *error);
/* frees the arrays of the shape; accepts a zeroed shape */
void sinew_cache_shape_free(const sinew_cache *cache, sinew_cache_shape *shape);
/* Sets used[i] = 1 for each point that a face or an edge of the shape refers to, else 0. */
void sinew_cache_shape_used(const sinew_cache *cache, const sinew_cache_shape *shape, uint8_t *used);

/* ---- Writing to files with checks of each write (put.c) ------------------------------------------ */

/* Functions that write a cache file, whose path is the cache's stem and `ending`. Each reports the path and the reason
 * of the system immediately, while errno is valid. */
sinew_status sinew_cache_create_file(const sinew_cache *cache, sinew_writer *writer, const char *ending,
                                     sinew_error *error);
/* Opens a file that grows with the frames: creates it, or reopens it if frames are kept. A resumable cache does not
 * delete it after a failure. */
sinew_status sinew_cache_open_stream(const sinew_cache *cache, sinew_writer *writer, const char *ending,
                                     sinew_error *error);
/* Truncate a reopened file after `lines` lines or `size` bytes; fail if the file is shorter. */
sinew_status sinew_cache_cut_lines(sinew_writer *writer, int64_t lines, sinew_error *error);
sinew_status sinew_cache_cut_bytes(sinew_writer *writer, int64_t size, sinew_error *error);
sinew_status sinew_cache_put(sinew_writer *writer, const void *data, size_t size, sinew_error *error);
sinew_status sinew_cache_print(sinew_writer *writer, sinew_error *error, const char *format, ...) SINEW_PRINTF(3, 4);
sinew_status sinew_cache_flush(sinew_writer *writer, sinew_error *error);
sinew_status sinew_cache_seek(sinew_writer *writer, int64_t offset,
                              sinew_error *error); /* sets the file position; offset: bytes from the file's start */

/* Frames per second of the cache. The rate is rounded to a multiple of 1/1000 if it differs only by the rounding of the
 * frame time. */
double sinew_cache_fps(const sinew_cache *cache);

/* File name ending of frame number `frame`, counted from the first, for example ".0012.obj" for the suffix "obj". */
void sinew_cache_ending(const sinew_cache *cache, int32_t frame, const char *suffix, char ending[32]);
/* For a resumed cache with one file per frame: removes the files of later frames, which a killed run may have left.
 * Fails if the file of a kept frame is missing. */
sinew_status sinew_cache_cut_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error);
sinew_status sinew_cache_sync_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error);

#define SINEW_CACHE_NUMBER 32 /* size in bytes of a buffer that holds any number as text */
/* Writes a number as text with enough digits to restore the same bits, with a decimal point in every locale. Returns
 * the length. */
int sinew_cache_format_number(char *text, sinew_real value);
int sinew_cache_format_float(char *text, float value);
/* writes a number with the given count of digits, for values that need not be exact */
int sinew_cache_format_digits(char *text, double value, int digits);

/* Store and load values in cache files: little-endian on every machine. */
void sinew_cache_store32(unsigned char *bytes, uint32_t value);
void sinew_cache_store_float(unsigned char *bytes, float value);
uint32_t sinew_cache_load32(const unsigned char *bytes);
float sinew_cache_load_float(const unsigned char *bytes);

/* Fails if a coordinate in cache->q is beyond the range of 32-bit floats. */
sinew_status sinew_cache_check_float(const sinew_cache *cache, sinew_error *error);

/* ---- OBJ text, shared by the OBJ sequence and PC2 (obj.c) -------------------------------- */

/* Vertices: writes the names of material libraries, cache->q of every point in order, and texture coordinates.
 * Elements: writes faces with their groups and materials, and edges of the shape. */
sinew_status sinew_cache_obj_vertices(const sinew_cache *cache, const sinew_cache_shape *shape, sinew_writer *writer,
                                      sinew_error *error);
sinew_status sinew_cache_obj_elements(const sinew_cache_shape *shape, sinew_writer *writer, sinew_error *error);

#endif
