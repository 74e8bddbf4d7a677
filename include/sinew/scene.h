/* SPDX-License-Identifier: MIT
 *
 * sinew/scene.h: reads scene files, writes and reads caches and state files.
 *
 * A scene is one JSON file (docs/reference/scene.md, docs/reference/scene.schema.json). A cache is a file of frames for
 * other programs: PC2 (Blender's Mesh Cache modifier), an OBJ sequence, VTU + PVD (ParaView), CSV, glTF with morph
 * frames, USD, arrays of NumPy. All but glTF and USD can be read back.
 */
#ifndef SINEW_SCENE_H
#define SINEW_SCENE_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scene files ----------------------------------------------------------------------------- */

typedef struct sinew_scene sinew_scene;

typedef struct sinew_scene_def {
    uint32_t cookie;
    sinew_allocator allocator;   /* memory hooks that allocate the scene, its meshes and its world */
    const char *path;            /* path of the JSON file; mesh paths are relative to its folder. With `text` the file
                                    need not exist: path then gives the scene's name in messages and the folder. NULL:
                                    "scene" in the current folder */
    const char *text;            /* [text_size] the scene as text instead of a file; NULL: the file is read */
    size_t text_size;            /* length of the scene's text in bytes, without a terminating 0 */
    const char *const *settings; /* [setting_count] "key.path=value", which override the file, e.g.
                                    "solver.iterations=20", "bodies.0.energies.0.young=1e6" */
    int32_t setting_count;
} sinew_scene_def;

SINEW_API sinew_scene_def sinew_default_scene_def(void);
/* Reads a scene file. NULL on failure; the error has the file (or the text's path), the line, the mistake and its
 * correction. */
SINEW_API sinew_scene *sinew_scene_read(const sinew_scene_def *def, sinew_error *error);
SINEW_API void sinew_scene_destroy(sinew_scene *scene); /* destroys the scene and its world */

SINEW_API sinew_world *sinew_scene_world(sinew_scene *scene);
/* Returns the body of the scene with this name; index -1: none. Equivalent to sinew_world_body_by_name(). */
SINEW_API sinew_body sinew_scene_body(const sinew_scene *scene, const char *name);
SINEW_API const char *sinew_scene_name(const sinew_scene *scene);
SINEW_API const char *sinew_scene_comment(const sinew_scene *scene); /* description text in the scene file */
/* Warnings of the readers of the scene's meshes. */
SINEW_API const char *sinew_scene_warnings(const sinew_scene *scene);
SINEW_API int32_t sinew_scene_frames(const sinew_scene *scene);
SINEW_API int32_t sinew_scene_steps_per_frame(const sinew_scene *scene);
/* Frame rate of the scene's caches, in frames per second of simulated time. */
SINEW_API double sinew_scene_fps(const sinew_scene *scene);
/* True if caches contain the bodies themselves ("write": "body") instead of their embedded surfaces. */
SINEW_API bool sinew_scene_writes_bodies(const sinew_scene *scene);
SINEW_API sinew_solver_def sinew_scene_solver(const sinew_scene *scene); /* solver settings of the scene */
SINEW_API sinew_real sinew_scene_time_step(const sinew_scene *scene);

/* View of the scene for pictures: its keys `camera` and `picture`. NaN: not given. */
typedef struct sinew_scene_view {
    bool placed;              /* true: the camera is at `eye` and looks at `target`; false: it is fitted to the scene */
    double eye[3], target[3]; /* position of the camera and the point that it looks at, in m */
    /* Camera angles in rad; distance: multiple of the distance at which the scene fits the picture. */
    double azimuth, elevation, distance, angle;
    double orbit;         /* number of turns of the camera about the target in a film; default 0 */
    const char *colour;   /* field that sets the colours of bodies, e.g. "speed", "von_mises"; "": none */
    bool ground;          /* false: the picture has no floor */
    double ground_height; /* height of the picture's floor, in m */
    bool cut;             /* true: the picture omits geometry on the side of cut_normal */
    double cut_point[3], cut_normal[3];
} sinew_scene_view;
/* Returns the scene's view; its texts are owned by the scene. */
SINEW_API sinew_scene_view sinew_scene_get_view(const sinew_scene *scene);

/* The JSON Schema (2020-12) of scene files, generated from the tables of the reader. Writes at most `size` bytes
 * including the terminating 0 (text may be NULL if size is 0) and returns the full length without it; 0: out of
 * memory. */
SINEW_API size_t sinew_scene_schema(char *text, size_t size);

/* ---- Caches: files of frames ----------------------------------------------------------------- */

typedef struct sinew_cache sinew_cache;

typedef enum sinew_cache_format {
    /* <name>.pc2 with the positions of all particles, and <name>.obj with the surface at the first frame */
    SINEW_CACHE_PC2 = 0,
    SINEW_CACHE_OBJ,  /* <name>.0000.obj, <name>.0001.obj, ...: one surface per frame */
    SINEW_CACHE_VTU,  /* <name>.0000.vtu, ... and <name>.pvd with their times: all cells, velocities, fields */
    SINEW_CACHE_GLTF, /* <name>.glb: glTF file of the surface, frames as morph targets with an animation */
    SINEW_CACHE_CSV,  /* <name>.csv: table with the columns frame,time,particle,x,y,z,vx,vy,vz, 17 (single: 9) digits */
    /* <name>.positions.npy, .velocities.npy, .time.npy, fields and cells as NumPy arrays; <name>.npy.json is their
     * index. */
    SINEW_CACHE_NPY,
    SINEW_CACHE_USDA, /* <name>.usda: the surface, one prim per body, positions and velocities as time samples */
    SINEW_CACHE_COUNT
} sinew_cache_format;

SINEW_API const char *sinew_cache_format_name(sinew_cache_format format); /* name of a cache format, e.g. "pc2" */
/* Cache format by name; SINEW_CACHE_COUNT: unknown name. */
SINEW_API sinew_cache_format sinew_cache_format_by_name(const char *name);

/* Default fields of caches: von Mises stress, the usual colour of solids. */
#define SINEW_CACHE_USUAL_FIELDS (1u << SINEW_FIELD_VON_MISES)

typedef struct sinew_cache_def {
    uint32_t cookie;
    sinew_allocator allocator;
    sinew_world *world;    /* world whose frames are written; must outlive the cache, which does not change its state */
    const char *directory; /* existing folder for the cache files */
    const char *name;      /* name of the cache files, without ending */
    sinew_cache_format format;
    int32_t frame_count;   /* planned number of frames of the cache; 0: unknown */
    sinew_real frame_time; /* simulated time between two frames, in s */
    int32_t first_frame;   /* number of the first frame, >= 0: in the names of a sequence, in csv, npy.json and usda */
    /* Number of frames to keep. > 0: continues the files of a cache that was closed, dropped or killed, keeps this
     * number of frames and truncates later ones. 0: creates new files. */
    int32_t kept_frames;
    /* True: unfinished files are kept when the cache fails or is dropped, so that a run can be resumed. */
    bool resumable;
    /* True: writes the bodies themselves; false (default): writes the skins of bodies that have one. npy always writes
     * bodies. */
    bool bodies;
    /* Fields in vtu and npy besides velocities, as bits 1 << sinew_field_kind. */
    uint32_t fields; /* required fields of the cache: opening fails if the world lacks one; default none */
    /* Optional fields of the cache: written if the world has them; default SINEW_CACHE_USUAL_FIELDS. */
    uint32_t fields_if_any;
    int32_t morph_frames; /* gltf: maximum number of frames, because viewers support few morph targets; longer runs
                               write every sinew_cache_morph_stride()-th frame. 0: no limit. Default 120 */
} sinew_cache_def;

SINEW_API sinew_cache_def sinew_default_cache_def(void);
/* A glTF cache of frame_count frames contains the frames 0, n, 2 n ...; returns n, the smallest power of two that
 * leaves at most `max` frames. */
SINEW_API int32_t sinew_cache_morph_stride(int32_t frame_count, int32_t max);
/* Opens a cache for writing. Files get their final names on close or, for sequences, when each frame is complete. A
 * cache that fails or is dropped leaves no incomplete file, except with `resumable`. NULL on failure. */
SINEW_API sinew_cache *sinew_cache_open(const sinew_cache_def *def, sinew_error *error);
/* Appends the current state of the world as a frame. */
SINEW_API sinew_status sinew_cache_frame(sinew_cache *cache, sinew_error *error);
/* Flushes all frames so far to the disk, so that a run with kept_frames finds them even after a power failure. */
SINEW_API sinew_status sinew_cache_sync(sinew_cache *cache, sinew_error *error);
/* Finishes the files of a cache and frees the cache, also on failure. */
SINEW_API sinew_status sinew_cache_close(sinew_cache *cache, sinew_error *error);
/* Frees the cache and removes unfinished files, which `resumable` keeps. */
SINEW_API void sinew_cache_drop(sinew_cache *cache);

/* ---- Reading caches ---------------------------------------------------------------------------- */

typedef struct sinew_cache_reader sinew_cache_reader;

typedef struct sinew_cache_reader_def {
    uint32_t cookie;
    sinew_allocator allocator;
    const char *directory;
    const char *name;          /* name of the cache files, without ending */
    sinew_cache_format format; /* format of the cache: pc2, csv, npy, obj or vtu; other formats cannot be read */
    sinew_real frame_time;     /* time between frames in s, for velocities of formats without velocities */
    int32_t first_frame;       /* number that the first frame had when the cache was written */
    bool unfinished;           /* true: reads the complete frames of files that are still being written (*.partial). The
                                  number of frames is that at open. Default false */
} sinew_cache_reader_def;

SINEW_API sinew_cache_reader_def sinew_default_cache_reader_def(void);
/* Opens the files of a cache and counts frames; NULL on failure. The error for irregular, damaged or truncated files
 * has the location. */
SINEW_API sinew_cache_reader *sinew_cache_reader_open(const sinew_cache_reader_def *def, sinew_error *error);
SINEW_API void sinew_cache_reader_close(sinew_cache_reader *reader); /* closes a cache reader; NULL has no effect */
SINEW_API int32_t sinew_cache_reader_frame_count(const sinew_cache_reader *reader);
/* Number of points in each frame of the cache. */
SINEW_API int32_t sinew_cache_reader_point_count(const sinew_cache_reader *reader);
/* Path of the first file of the cache. */
SINEW_API const char *sinew_cache_reader_path(const sinew_cache_reader *reader);
/* Reads positions q and velocities v, [3 * point_count], of the frame with this number; v may be NULL. For formats
 * without velocities, v is the difference from the previous frame; at the first frame, to the next frame. */
SINEW_API sinew_status sinew_cache_reader_frame(sinew_cache_reader *reader, int32_t frame, sinew_real *q, sinew_real *v,
                                                sinew_error *error);

/* ---- State files --------------------------------------------------------------------------- */

/* Writes the state of a world, the blob of sinew_world_state_save(), to a file, completely or not at all, and flushes
 * it to the disk. */
SINEW_API sinew_status sinew_state_write(const sinew_world *world, const char *path, sinew_error *error);
/* Reads a state file into a world. Fails for the state of another scene and names the difference
 * (sinew_world_state_check); the forced version accepts it if its sizes match. */
SINEW_API sinew_status sinew_state_read(sinew_world *world, const char *path, sinew_error *error);
SINEW_API sinew_status sinew_state_read_forced(sinew_world *world, const char *path, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
