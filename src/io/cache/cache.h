/* SPDX-License-Identifier: MIT
 *
 * cache.h: declarations that the cache formats share: the cache itself, the points and the shape of its world, checked
 * writing.
 *
 * Each format is one file with one table of operations. The common part (cache.c) fetches the state, counts frames,
 * records the first failure and frees everything; a format only lays out bytes.
 *
 * A cache writes points. If no body has a skin, the points are the world's particles by number, including removed
 * numbers. If a body has a skin, the points follow the order of bodies: the vertices of a body's skin, or its own
 * vertices if it has none.
 */
#ifndef SINEW_SRC_IO_CACHE_CACHE_H
#define SINEW_SRC_IO_CACHE_CACHE_H

#include "io/file.h"
#include "mesh/embedded_surface.h"
#include "sinew/scene.h"

typedef struct sinew_cache_ops {
    const char *name; /* as on the command line */
    size_t own_size;  /* bytes of the format's own part, zeroed before open */
    bool bodies;      /* writes bodies themselves, also where they have skins */
    /* Any of them may fail. open finds cache->kept frames in the files and goes on behind them. After a failure drop is
     * called at once and nothing else. */
    sinew_status (*open)(sinew_cache *cache, sinew_error *error);
    sinew_status (*frame)(sinew_cache *cache, sinew_error *error); /* lays out cache->q and cache->v */
    /* Lays out what depends on the world's shape anew; NULL: frames of this format all have the same shape. */
    sinew_status (*reshape)(sinew_cache *cache, sinew_error *error);
    sinew_status (*sync)(sinew_cache *cache, sinew_error *error);  /* brings the frames so far to the disk */
    sinew_status (*close)(sinew_cache *cache, sinew_error *error); /* puts the files in place */
    /* Lets go of unfinished files and frees the own part's memory. Called exactly once, also after close. */
    void (*drop)(sinew_cache *cache);
} sinew_cache_ops;

extern const sinew_cache_ops sinew_cache_pc2;
extern const sinew_cache_ops sinew_cache_obj;
extern const sinew_cache_ops sinew_cache_vtu;
extern const sinew_cache_ops sinew_cache_gltf;
extern const sinew_cache_ops sinew_cache_csv;
extern const sinew_cache_ops sinew_cache_npy;
extern const sinew_cache_ops sinew_cache_usda;

/* The shape that viewers draw, in numbers of points: the faces of every body that has any (of its skin, else of its
 * surface), and the edges of the bodies that have nothing else. Names and texture coordinates are those of skins, of
 * all bodies in one list. */
typedef struct sinew_cache_shape {
    int64_t face_count;
    int32_t *starts;      /* [face_count + 1] */
    int32_t *corners;     /* [starts[face_count]] points */
    int32_t *face_bodies; /* [face_count] place of the body */
    int64_t triangle_count;
    int32_t *triangles;        /* [3 * triangle_count] points: the faces cut, in their order */
    int32_t *triangle_corners; /* [3 * triangle_count] entries of `corners` */
    int32_t *triangle_faces;   /* [triangle_count] */
    int64_t edge_count;
    int32_t *edges; /* [2 * edge_count] points */
    int64_t uv_count;
    float *uvs;                                  /* [2 * uv_count], NULL: no body has any */
    int32_t *corner_uvs;                         /* [starts[face_count]] entries of `uvs` or -1; NULL with uvs */
    sinew_name_list names[SINEW_SKIN_SET_COUNT]; /* groups, materials */
    int32_t *face_names[SINEW_SKIN_SET_COUNT];   /* [face_count] -1: none; NULL: no face has one */
    sinew_name_list libraries;                   /* files with the materials */
} sinew_cache_shape;

/* A body's points; the place of one that was removed has none. */
typedef struct sinew_cache_body {
    sinew_body body;
    int32_t first_point, point_count;
    const sinew_skin *skin; /* that its points are the vertices of; NULL: they are the body's own */
} sinew_cache_body;

struct sinew_cache {
    const sinew_cache_ops *ops;
    void *own; /* [ops->own_size] the format's own part */
    sinew_allocator allocator;
    sinew_world *world;
    char stem[960];      /* directory/name */
    const char *name;    /* the part of `stem` after the directory */
    int32_t expected;    /* frames in the end, 0: not known */
    int32_t first;       /* number of the first frame */
    int32_t kept;        /* frames that were in the files already */
    bool resumable;      /* unfinished files stay */
    int32_t frame_count; /* frames so far, kept ones included: the coming one is number first + frame_count */
    int32_t synced;      /* frames on the disk */
    double frame_time;   /* s between frames */
    uint32_t fields, fields_if_any; /* as the def says */
    int32_t morph_frames;           /* of glTF at most, 0: all */
    int32_t body_count;
    sinew_cache_body *bodies; /* [body_count] */
    bool whole_bodies;        /* bodies themselves are written, also where they have skins */
    bool skinned;             /* some body's points are a skin's */
    bool by_body;             /* points are numbered body by body without gaps; else by the numbers of particles */
    const char *noun;         /* what points are, in messages: "particle", "point" */
    int32_t point_count;
    int32_t particle_count; /* of the world when it was opened, or has changed its shape since */
    int64_t shape_version;  /* likewise */
    double time;            /* s, of the world at this frame */
    sinew_real *q;          /* [3 * point_count] m, of this frame */
    sinew_real *v;          /* [3 * point_count] m/s */
    sinew_error failure;    /* the first; SINEW_OK while all is well */
};

/* ---- Points and shape of the world (points.c, surface.c) ---------------------------- */

/* Whether some body may tear: its vertices then move to other numbers of particles as it grows. */
bool sinew_cache_tears(const sinew_world *world);
/* Finds the points of all bodies, also anew: sets bodies, skinned, by_body, noun and point_count. */
sinew_status sinew_cache_points_open(sinew_cache *cache, sinew_error *error);
/* q and v as the world is now. */
sinew_status sinew_cache_points_fetch(sinew_cache *cache);
sinew_status sinew_cache_shape_make(const sinew_cache *cache, sinew_cache_shape *shape, sinew_error *error);
void sinew_cache_shape_free(const sinew_cache *cache, sinew_cache_shape *shape); /* zeroed is fine */
/* used[i] = 1 for each point that a face or edge of the shape names, 0 for the others. */
void sinew_cache_shape_used(const sinew_cache *cache, const sinew_cache_shape *shape, uint8_t *used);

/* ---- Checked writing (put.c) ------------------------------------------------------------ */

/* Each reports the path and the system's reason at once, while errno still tells it. */
sinew_status sinew_cache_create(const sinew_cache *cache, sinew_writer *writer, const char *ending, sinew_error *error);
/* A file that grows with the frames: created, or reopened where frames are kept. A resumable cache's is kept. */
sinew_status sinew_cache_stream(const sinew_cache *cache, sinew_writer *writer, const char *ending, sinew_error *error);
/* Cuts a reopened text behind so many lines, or a file behind so many bytes; refuses one that has fewer. */
sinew_status sinew_cache_cut_lines(sinew_writer *writer, int64_t lines, sinew_error *error);
sinew_status sinew_cache_cut_bytes(sinew_writer *writer, int64_t size, sinew_error *error);
sinew_status sinew_cache_put(sinew_writer *writer, const void *data, size_t size, sinew_error *error);
sinew_status sinew_cache_print(sinew_writer *writer, sinew_error *error, const char *format, ...) SINEW_PRINTF(3, 4);
sinew_status sinew_cache_flush(sinew_writer *writer, sinew_error *error);
sinew_status sinew_cache_seek(sinew_writer *writer, int64_t offset, sinew_error *error); /* from the start */

/* Frames a second; a rate that is a multiple of 1/1000 but for the rounding of the frame time is that multiple. */
double sinew_cache_fps(const sinew_cache *cache);

/* ".0012.obj" for the frame that is `frame` behind the first, of a sequence with that suffix. */
void sinew_cache_ending(const sinew_cache *cache, int32_t frame, const char *suffix, char ending[32]);
/* Removes the files of frames behind the kept ones, which a killed run may have left; refuses where a kept one is
 * missing. */
sinew_status sinew_cache_cut_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error);
sinew_status sinew_cache_sync_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error);

#define SINEW_CACHE_NUMBER 32 /* bytes that hold any number as text */
/* As many digits as bring back the same bits, and a point in every locale. Returns the length. */
int sinew_cache_number(char *text, sinew_real value);
int sinew_cache_number_float(char *text, float value);
int sinew_cache_number_digits(char *text, double value, int digits); /* so many, for what need not come back */

/* Little-endian, on any machine. */
void sinew_cache_store32(unsigned char *bytes, uint32_t value);
void sinew_cache_store_float(unsigned char *bytes, float value);
uint32_t sinew_cache_load32(const unsigned char *bytes);
float sinew_cache_load_float(const unsigned char *bytes);

/* Refuses positions that a 32-bit float cannot hold. */
sinew_status sinew_cache_check_float(const sinew_cache *cache, sinew_error *error);

/* ---- OBJ text, shared by the OBJ sequence and PC2 (obj.c) -------------------------------- */

/* Vertices: cache->q of every point in order. Elements: the shape's, with texture coordinates, groups, materials. */
sinew_status sinew_cache_obj_vertices(const sinew_cache *cache, const sinew_cache_shape *shape, sinew_writer *writer,
                                      sinew_error *error);
sinew_status sinew_cache_obj_elements(const sinew_cache_shape *shape, sinew_writer *writer, sinew_error *error);

#endif
