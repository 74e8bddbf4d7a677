/* SPDX-License-Identifier: MIT
 *
 * render.h: declarations that the files of `sinew render` share: render.c is the command, render_style.c reads the
 * style, render_scene.c simulates, render_folder.c plays the cache of a run, render_film.c writes films.
 */
#ifndef SINEW_RENDER_H
#define SINEW_RENDER_H

#include "app.h"
#include "compare.h"
#include "picture.h"
#include "run.h"
#include "settings.h"
#include "sinew/skin.h"

/* ---- Style of pictures (render_style.c) -------------------------------------------------------- */

typedef struct sinew_style {
    sinew_snapshot_def snapshot;
    sinew_picture_def picture;
    double orbit; /* number of turns of the camera about the target in a film */
} sinew_style;

/* Reads the style of pictures: the program's defaults, then the scene's keys, then the options. Returns false, with a
 * message, on errors. */
bool sinew_style_read(const sinew_arguments *arguments, const sinew_scene *scene, sinew_style *style);
/* Returns the camera of the frame at `fraction` (0 .. 1) of the film. An orbiting camera keeps its distance. */
sinew_camera sinew_style_camera(const sinew_style *style, const sinew_survey *survey, double fraction);

/* ---- Frames and panels ------------------------------------------------------------------------ */

enum {
    SINEW_PANEL_MAX = 12,
    SINEW_CAPTION_SIZE = 384
};

/* One panel of the picture at one frame. */
typedef struct sinew_shot {
    sinew_snapshot *snapshot;
    char caption[SINEW_CAPTION_SIZE]; /* caption below the panel; "": none */
} sinew_shot;

typedef struct sinew_render {
    sinew_arguments arguments;
    sinew_settings settings;
    bool quiet;
    sinew_scene *scene;
    sinew_style style;
    int64_t lowest, highest; /* first and last available frame of the source */
    int64_t first, last;     /* first and last frame that the command draws */
    double frame_time;       /* simulated time between frames, in s */

    /* Methods of --solvers, one per panel; a method without a label is the scene's solver. */
    sinew_method methods[SINEW_PANEL_MAX];
    int32_t panel_count;
    /* [frame][panel] snapshots of a simulated scene, kept until drawn; NULL: a cache provides the frames. */
    sinew_shot *shots;
    int64_t shot_frames;

    sinew_run_statistics statistics; /* statistics of the panel that is being simulated; reset for each panel */
    int64_t failed_step;             /* number of the step that became non-finite; 0: none */
    sinew_step_result failed;        /* result of the step that became non-finite */

    sinew_cache_reader *cache; /* cache of a run that provides the frames; NULL: the scene is simulated */
    bool whole_bodies;         /* true: the cache holds particles, even of bodies with embedded surfaces */
    sinew_world *shell;        /* world of the surfaces that the cache holds; NULL: the cache holds particles */
    sinew_real *q, *v;         /* [3 * points of the cache] positions (m) and velocities (m/s) of the current frame */

    sinew_survey survey;
    sinew_error error;
} sinew_render;

/* ---- Sources of frames: scene or run folder ---------------------------------------------------- */

/* Opens the scene to render and reads --solvers. Returns false, with a message, on errors. */
bool sinew_render_open_scene(sinew_render *r, const char *name);
/* Takes the steps up to the last frame and keeps a snapshot of each frame to draw. Returns the exit status so far.
 * Without --solvers, a non-finite step shortens the film. */
int sinew_render_simulate(sinew_render *r);

bool sinew_is_run_folder(const char *path); /* true if the path is a folder, which may hold a run */
/* Opens the scene that summary.json names and the most exact cache in the same folder. */
bool sinew_render_open_folder(sinew_render *r, const char *directory);
/* Computes the bounds and the colour range of all frames to draw, so that they share one camera and one range. */
bool sinew_render_survey_folder(sinew_render *r);
/* Returns the snapshot of a frame, which the caller destroys; NULL, with a message, on failure. */
sinew_snapshot *sinew_render_take(sinew_render *r, int64_t frame);
void sinew_render_free_sources(sinew_render *r);

/* ---- Films (render_film.c) -------------------------------------------------------------------- */

/* An unfinished film: frames go through a pipe to a process of ffmpeg. */
typedef struct sinew_film {
    /* Process ID of ffmpeg, and file descriptor of the write end of the pipe to ffmpeg; -1: none. */
    int child, pipe;
    FILE *log; /* temporary file with the messages of ffmpeg */
    char path[2200], partial[2220];
} sinew_film;

/* True if the PATH has a program ffmpeg. */
bool sinew_film_possible(void);
/* Functions that write a film. `kind` is the ending: "mp4" or "webp". The functions return false, with a message, on
 * errors. */
bool sinew_film_open(sinew_film *film, const char *path, const char *kind, int32_t width, int32_t height, double fps);
bool sinew_film_frame(sinew_film *film, const sinew_image *image);
bool sinew_film_close(sinew_film *film); /* waits for ffmpeg and renames the film to its final name */
void sinew_film_drop(sinew_film *film);  /* removes the unfinished film; no effect if not open */

#endif
