/* SPDX-License-Identifier: MIT
 *
 * picture.h: pictures of a world by path tracing on the CPU, without a display or a graphics card.
 *
 * A snapshot is a copy of one state of a world; later steps do not change the snapshot. A survey collects bounds and
 * ranges of all snapshots of a film (or of several solvers side by side), which then share one camera and one range of
 * colours. A picture is a grid of panels with one snapshot each. The same snapshots and numbers give the same bytes for
 * any number of threads.
 *
 * The files of render/ use the public headers, libpng and FreeType only.
 */
#ifndef SINEW_PICTURE_H
#define SINEW_PICTURE_H

#include "sinew/scene.h"
#include "sinew/tree.h"

/* ---- Fields that set colours ------------------------------------------------------------------ */

typedef enum sinew_colour_kind {
    SINEW_COLOUR_BODY = 0,      /* colours by body: one colour for each body (or for each material of its skin) */
    SINEW_COLOUR_SPEED,         /* colours by speed of particles, in m/s */
    SINEW_COLOUR_STRETCH,       /* colours by the largest principal stretch of tets or triangles */
    SINEW_COLOUR_VON_MISES,     /* colours by von Mises stress of tets, in Pa */
    SINEW_COLOUR_ENERGY,        /* colours by elastic energy density, in J/m3 */
    SINEW_COLOUR_RESIDUAL,      /* colours by residual force on particles, in N */
    SINEW_COLOUR_CONTACT_FORCE, /* colours by contact force on particles in the last step, in N */
    /* Colours by position error: estimated distance in m of particles from the minimum of the last step. */
    SINEW_COLOUR_POSITION_ERROR,
    SINEW_COLOUR_CLASS, /* colours by colour class of a particle in the solver's sweeps: discrete */
    SINEW_COLOUR_GIVEN, /* colours by values that the caller gives (sinew_snapshot_def) */
    SINEW_COLOUR_COUNT
} sinew_colour_kind;
/* Name of a colour kind: "body" "speed" "stretch" "von_mises" ... */
const char *sinew_colour_name(sinew_colour_kind kind);
sinew_colour_kind sinew_colour_by_name(const char *name); /* colour kind by name; SINEW_COLOUR_COUNT: unknown name */
const char *sinew_colour_unit(sinew_colour_kind kind);
/* True for residuals, contact forces and position errors: a state without a preceding step has none. */
bool sinew_colour_is_of_steps(sinew_colour_kind kind);
/* Computes the sRGB colour of a value: t = 0 at the low end of the range, 1 at the high end. */
void sinew_colour_ramp(double t, uint8_t rgb[3]);
/* Computes the sRGB colour of a body by its index in the world. */
void sinew_colour_body(int32_t index, uint8_t rgb[3]);

/* ---- Snapshot of a world ---------------------------------------------------------------------- */

typedef struct sinew_snapshot sinew_snapshot;

typedef struct sinew_snapshot_def {
    sinew_colour_kind colour;
    const double *values;                  /* [particle_count] values for SINEW_COLOUR_GIVEN; NaN: no value */
    const char *values_name, *values_unit; /* name and unit of the caller's values, for the legend; NULL: none */
    bool cut; /* true: omits tets, other cells and marks whose centre is on the side that cut_normal points to */
    double cut_point[3], cut_normal[3];
    bool pins;     /* true (default): draws pins and targets of position energies as small balls */
    bool springs;  /* true (default): draws pairs and edges between bodies as thin tubes */
    double crease; /* angle in radians between faces above which their edge is drawn sharp. Default 0.8 */
    double rope;   /* radius in m of tubes along edges; 0 (default): derived from the body's size */
    /* world whose colliders are drawn; NULL (default): the current colliders of the drawn world */
    const sinew_world *colliders;
    double collider_time; /* time at which colliders of another world are drawn, in s */
} sinew_snapshot_def;
sinew_snapshot_def sinew_default_snapshot_def(void);
/* Takes a snapshot of the current state of a world. Fails with SINEW_ERROR_UNSUPPORTED, which names the field, if
 * the world lacks the field. NULL on failure. */
sinew_snapshot *sinew_snapshot_take(sinew_world *world, const sinew_snapshot_def *def, sinew_error *error);
void sinew_snapshot_destroy(sinew_snapshot *snapshot); /* frees the snapshot; NULL has no effect */
/* Number of omitted triangles, edges and pins: a vertex is not finite, or is a thousand body sizes away. */
int64_t sinew_snapshot_left_out(const sinew_snapshot *snapshot);

/* ---- Survey of all panels and frames of a film ------------------------------------------------- */

#define SINEW_SURVEY_EXTREMES 96

typedef struct sinew_survey {
    bool any;         /* false: no snapshot with triangles was added yet */
    double bounds[6]; /* bounding box in m, min x y z, max x y z, of all drawn objects that the camera frames */
    /* Farthest points in m of all drawn objects along a fixed set of directions, for fitted cameras. */
    double extremes[SINEW_SURVEY_EXTREMES][3];
    bool valued;            /* true: snapshots have values; false: low, high, lowest and highest are 0 */
    double low, high;       /* range that contains 99 % of the values of each snapshot */
    double lowest, highest; /* smallest and largest of all values of all snapshots */
} sinew_survey;
/* Extends the bounds and ranges of a survey by a snapshot. The caller starts with a zeroed survey. */
void sinew_survey_add(sinew_survey *survey, const sinew_snapshot *snapshot);

/* ---- Camera of a picture ---------------------------------------------------------------------- */

/* Camera of a picture; y is up. The definition gives eye and target, or the camera is fitted. A fitted camera looks
 * along a given direction; with distance >= 1 all extremes of the survey are inside the frame, centred horizontally
 * and vertically. The frame is the part of a panel without titles, captions and legend. */
typedef struct sinew_camera {
    bool given; /* true: the camera has the given eye and target; false: it is fitted */
    double eye[3], target[3];
    double azimuth;   /* fitted camera: angle about y from +z towards +x in radians. Default 0.6 */
    double elevation; /* fitted camera: angle above the horizon in radians. Default 0.3 */
    double distance;  /* multiple of the smallest camera distance at which all drawn objects fit. Default 1.15 */
    double angle; /* Vertical field of view of the frame, the part of a panel without text, in radians. Default 0.6. */
} sinew_camera;
sinew_camera sinew_default_camera(void);

/* ---- Pictures --------------------------------------------------------------------------------- */

typedef struct sinew_image {
    int32_t width, height;
    uint8_t *pixels;    /* [3 * width * height] sRGB bytes, first row on top; allocated by malloc */
    char warnings[256]; /* warnings about parts that could not be drawn, e.g. text without a font; "": none */
} sinew_image;
void sinew_image_free(sinew_image *image);
/* Writes an image as a PNG file; after a failure the path is unchanged. */
sinew_status sinew_image_write(const sinew_image *image, const char *path, sinew_error *error);
/* Encodes an image as PNG in memory: *bytes [*size], which the caller frees. */
sinew_status sinew_image_encode(const sinew_image *image, unsigned char **bytes, size_t *size, sinew_error *error);
/* Writes the bytes of an encoded PNG; after a failure the path is unchanged. */
sinew_status sinew_image_store(const unsigned char *bytes, size_t size, const char *path, sinew_error *error);

typedef struct sinew_panel {
    const sinew_snapshot *snapshot;
    const char *title;   /* title of a few words above the panel; NULL: none */
    const char *caption; /* caption of one or two lines ('
') below the panel; NULL: none */
} sinew_panel;

typedef enum sinew_ground {
    SINEW_GROUND_BELOW = 0, /* default: the horizontal plane among the colliders, or else a floor just below the
                               survey's bounds, that catches shadows */
    SINEW_GROUND_NONE,
    SINEW_GROUND_AT /* the ground is the plane y = ground_height */
} sinew_ground;

typedef struct sinew_picture_def {
    int32_t width, height; /* size of the whole picture in pixels; default 1280 720 */
    int32_t samples;       /* number of paths per pixel; 0 (default): chosen by the measured noise */
    sinew_camera camera;
    sinew_ground ground;
    double ground_height;
    const char *title;    /* title of the whole picture, top left; NULL: none */
    bool legend;          /* true (default): draws a legend for colours by a value */
    double low, high;     /* range of values of the colours; low >= high (default): the survey's range */
    double sun_azimuth;   /* angle of the sun about y in radians, measured as the camera's azimuth. Default -0.4 */
    double sun_elevation; /* angle of the sun above the horizon in radians. Default 0.9 */
    int32_t thread_count; /* number of threads that draw the picture; 0: all cores */
} sinew_picture_def;
sinew_picture_def sinew_default_picture_def(void);

/* Draws a picture: panels side by side in rows; all snapshots have the same colour field. If a camera sees no body
 * in any panel, the call fails with SINEW_ERROR_DATA and reports the positions of camera and bodies. The call
 * allocates the pixels of image. progress (may be NULL) is called from the calling thread with the completed
 * fraction; false stops the call: SINEW_ERROR_USAGE "stopped". */
typedef bool sinew_picture_progress(void *context, double done);
sinew_status sinew_picture_draw(const sinew_picture_def *def, const sinew_survey *survey, const sinew_panel *panels,
                                int32_t panel_count, sinew_image *image, sinew_picture_progress *progress,
                                void *context, sinew_error *error);

#endif
