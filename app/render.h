/* SPDX-License-Identifier: MIT
 *
 * render.h: what the files of `sinew render` share: render.c is the command, render_look.c reads how it is to look,
 * render_scene.c simulates, render_folder.c plays the cache of a run, render_film.c writes films.
 */
#ifndef SINEW_RENDER_H
#define SINEW_RENDER_H

#include "app.h"
#include "compare.h"
#include "picture.h"
#include "run.h"
#include "settings.h"
#include "sinew/skin.h"

/* ---- How it is to look (render_look.c) ------------------------------------------------------- */

typedef struct sinew_look {
    sinew_snapshot_def snapshot;
    sinew_picture_def picture;
    double orbit; /* turns about the target in a film */
} sinew_look;

/* The program's defaults, then what the scene says, then the options. False: said. */
bool sinew_look_read(const sinew_arguments *arguments, const sinew_scene *scene, sinew_look *look);
/* The camera of a frame, `part` (0 .. 1) of the film's way behind its first. One that goes round keeps its distance. */
sinew_camera sinew_look_camera(const sinew_look *look, const sinew_survey *survey, double part);

/* ---- Moments --------------------------------------------------------------------------------- */

enum {
    SINEW_PANEL_MAX = 12,
    SINEW_CAPTION_SIZE = 384
};

/* One panel at one frame. */
typedef struct sinew_shot {
    sinew_snapshot *snapshot;
    char caption[SINEW_CAPTION_SIZE]; /* "": none */
} sinew_shot;

typedef struct sinew_render {
    sinew_arguments arguments;
    sinew_settings settings;
    bool quiet;
    sinew_scene *scene;
    sinew_look look;
    int64_t lowest, highest; /* frames that there are */
    int64_t first, last;     /* frames to draw */
    double frame_time;       /* s between frames */

    sinew_contender contenders[SINEW_PANEL_MAX]; /* --solvers; one without a label: the scene's own */
    int32_t panel_count;
    sinew_shot *shots; /* [frame][panel] of a simulated scene: kept until drawn; NULL: frames come from a cache */
    int64_t shot_frames;

    sinew_run_statistics statistics; /* of the panel that is simulated */
    int64_t failed_step;             /* that became non-finite, 0: none */
    sinew_step_result failed;        /* of that step */

    sinew_cache_reader *cache; /* NULL: simulated */
    bool whole_bodies;         /* the cache holds particles, even where surfaces ride on bodies */
    sinew_world *shell;        /* of the surfaces that the cache holds; NULL: it holds particles */
    sinew_real *q, *v;         /* [3 * points of the cache] */

    sinew_survey survey;
    sinew_error error;
} sinew_render;

/* ---- Sources of frames ----------------------------------------------------------------------- */

/* Opens the scene and reads --solvers. False: said. */
bool sinew_render_open_scene(sinew_render *r, const char *name);
/* Takes the steps up to the last frame and keeps a snapshot of each frame to draw. Returns the exit status so far: a
 * step that became non-finite shortens a film. */
int sinew_render_simulate(sinew_render *r);

bool sinew_is_run_folder(const char *path); /* a folder at all */
/* Opens the scene that summary.json names and the best cache that lies beside it. */
bool sinew_render_open_folder(sinew_render *r, const char *directory);
/* Looks at all frames to draw, so that they share one camera and one range of colours. */
bool sinew_render_survey_folder(sinew_render *r);
/* The snapshot of a frame, to be destroyed; NULL: said. */
sinew_snapshot *sinew_render_take(sinew_render *r, int64_t frame);
void sinew_render_free_sources(sinew_render *r);

/* ---- Films (render_film.c) -------------------------------------------------------------------- */

/* A film under way: frames go down a pipe to ffmpeg, a program of its own. */
typedef struct sinew_film {
    int child, pipe; /* -1: none */
    FILE *log;       /* what ffmpeg says */
    char path[2200], partial[2220];
} sinew_film;

/* Whether a program ffmpeg is in the PATH. */
bool sinew_film_possible(void);
/* `kind` is the ending: "mp4" or "webp". All return false when something went wrong, which has been said. */
bool sinew_film_open(sinew_film *film, const char *path, const char *kind, int32_t width, int32_t height, double fps);
bool sinew_film_frame(sinew_film *film, const sinew_image *image);
bool sinew_film_close(sinew_film *film); /* waits for ffmpeg; the film gets its name */
void sinew_film_drop(sinew_film *film);  /* removes what is unfinished; fine when not open */

#endif
