/* SPDX-License-Identifier: MIT
 *
 * picture.h: pictures of a world, by tracing paths of light on the processor: no display, no graphics card.
 *
 * A snapshot is one moment of a world, by itself: it stays when the world goes on. A survey looks at all the snapshots
 * of a film (or of several solvers side by side) so that they share one camera and one range of colours. A picture is
 * one row of panels, one snapshot each. The same snapshots and numbers give the same bytes for any number of threads.
 *
 * Uses the public headers, libpng and FreeType only.
 */
#ifndef SINEW_PICTURE_H
#define SINEW_PICTURE_H

#include "sinew/scene.h"
#include "sinew/tree.h"

/* ---- What surfaces are coloured by ---------------------------------------------------------- */

typedef enum sinew_colour_kind {
    SINEW_COLOUR_BODY = 0,      /* a colour a body (materials of a skin where it has any) */
    SINEW_COLOUR_SPEED,         /* m/s */
    SINEW_COLOUR_STRETCH,       /* largest principal stretch */
    SINEW_COLOUR_VON_MISES,     /* Pa */
    SINEW_COLOUR_ENERGY,        /* J/m3 */
    SINEW_COLOUR_RESIDUAL,      /* N */
    SINEW_COLOUR_CONTACT_FORCE, /* N: of the last step's contacts */
    SINEW_COLOUR_CLASS,         /* colour class of a particle in the solver's sweeps: discrete */
    SINEW_COLOUR_GIVEN,         /* the caller's own values (sinew_snapshot_def) */
    SINEW_COLOUR_COUNT
} sinew_colour_kind;
const char *sinew_colour_name(sinew_colour_kind kind);    /* "body" "speed" "stretch" "von_mises" ... */
sinew_colour_kind sinew_colour_by_name(const char *name); /* SINEW_COLOUR_COUNT when unknown */
const char *sinew_colour_unit(sinew_colour_kind kind);
/* The colour of a value: t = 0 at the low end of the range, 1 at the high end. sRGB. */
void sinew_colour_ramp(double t, uint8_t rgb[3]);
/* The colour of a body, by its place in the world. sRGB. */
void sinew_colour_body(int32_t place, uint8_t rgb[3]);

/* ---- A moment ------------------------------------------------------------------------------- */

typedef struct sinew_snapshot sinew_snapshot;

typedef struct sinew_snapshot_def {
    sinew_colour_kind colour;
    const double *values; /* [particle_count] with SINEW_COLOUR_GIVEN: one number a particle; not a number: none */
    const char *values_name, *values_unit; /* of these, for the legend; NULL: none */
    bool cut; /* what lies on the side that cut_normal points to is taken away, whole tets at a time */
    double cut_point[3], cut_normal[3];
    bool pins;                    /* draw them: small balls, and those of position energies. Default true */
    bool springs;                 /* draw pairs and edges between bodies: thin tubes. Default true */
    double crease;                /* radians: edges sharper than this stay sharp. Default 0.8 */
    double rope;                  /* m, radius of tubes for bodies of edges; 0 (default): by their size */
    const sinew_world *colliders; /* whose colliders are drawn; NULL (default): the world's own, as they are now ... */
    double collider_time;         /* s: ... else as they are at this time */
} sinew_snapshot_def;
sinew_snapshot_def sinew_default_snapshot_def(void);
/* The world as it is now. A field that it does not have is SINEW_ERROR_UNSUPPORTED, by name. NULL on failure. */
sinew_snapshot *sinew_snapshot_take(sinew_world *world, const sinew_snapshot_def *def, sinew_error *error);
void sinew_snapshot_destroy(sinew_snapshot *snapshot); /* NULL is fine */
/* Triangles, edges and pins that are left out, as a vertex is not a number or a thousand times the bodies' size away.
 */
int64_t sinew_snapshot_left_out(const sinew_snapshot *snapshot);

/* ---- What all panels and frames share -------------------------------------------------------- */

#define SINEW_SURVEY_EXTREMES 96

typedef struct sinew_survey {
    bool any;
    double bounds[6];                          /* m: min x y z, max x y z of all that is drawn and to be framed */
    double extremes[SINEW_SURVEY_EXTREMES][3]; /* m: the farthest points in so many directions, for fitted cameras */
    bool valued;                               /* there are values that are coloured by; else the next four are 0 */
    double low, high;                          /* range of 99 in 100 values of each snapshot */
    double lowest, highest;                    /* of all values */
} sinew_survey;
void sinew_survey_add(sinew_survey *survey, const sinew_snapshot *snapshot); /* begins with a zeroed one */

/* ---- Camera ----------------------------------------------------------------------------------- */

/* y is up. Either eye and target are given, or it is fitted: looks from a direction so that all extremes of the survey
 * are inside the frame, with equal room left and right, above and below. The frame is what titles, captions and the
 * legend leave of a panel. */
typedef struct sinew_camera {
    bool given; /* eye and target as they stand */
    double eye[3], target[3];
    double azimuth;   /* radians about y from +z towards +x; fitted. Default 0.6 */
    double elevation; /* radians above the horizon; fitted. Default 0.3 */
    double distance;  /* times the distance that just fits all. Default 1.15 */
    double angle;     /* radians, vertical field of view of the frame. Default 0.6 */
} sinew_camera;
sinew_camera sinew_default_camera(void);

/* ---- Picture --------------------------------------------------------------------------------- */

typedef struct sinew_image {
    int32_t width, height;
    uint8_t *pixels; /* [3 * width * height] sRGB, first row on top; by malloc */
    char notes[256]; /* what could not be drawn, e.g. words without a font; "" when nothing */
} sinew_image;
void sinew_image_free(sinew_image *image);
sinew_status sinew_image_write(const sinew_image *image, const char *path, sinew_error *error); /* PNG, whole or not */
/* The PNG in memory, by malloc. */
sinew_status sinew_image_encode(const sinew_image *image, unsigned char **bytes, size_t *size, sinew_error *error);

typedef struct sinew_panel {
    const sinew_snapshot *snapshot;
    const char *title;   /* a few words above; NULL: none */
    const char *caption; /* one or two lines ('\n') below; NULL: none */
} sinew_panel;

typedef enum sinew_ground {
    SINEW_GROUND_BELOW = 0, /* default: the horizontal plane among the colliders, or else a floor just below the
                               survey's bounds, that catches shadows */
    SINEW_GROUND_NONE,
    SINEW_GROUND_AT /* y = ground_height */
} sinew_ground;

typedef struct sinew_picture_def {
    int32_t width, height; /* pixels of the whole picture; default 1280 720 */
    int32_t samples;       /* paths a pixel, 0 (default): as many as it takes to look finished */
    sinew_camera camera;
    sinew_ground ground;
    double ground_height;
    const char *title;    /* of the whole picture, top left; NULL */
    bool legend;          /* for colours by a value; default true */
    double low, high;     /* range of colours; low >= high (default): the survey's */
    double sun_azimuth;   /* radians, as a camera's. Default -0.4 */
    double sun_elevation; /* radians above the horizon. Default 0.9 */
    int32_t thread_count; /* 0: all */
} sinew_picture_def;
sinew_picture_def sinew_default_picture_def(void);

/* Panels side by side in rows, snapshots of the same colour. A camera that sees nothing of any panel is
 * SINEW_ERROR_DATA, with where it is and where the bodies are. image is filled (pixels allocated). progress (may be
 * NULL) is called now and then from the calling thread with the part that is done; false stops: SINEW_ERROR_USAGE
 * "stopped". */
typedef bool sinew_picture_progress(void *context, double done);
sinew_status sinew_picture_draw(const sinew_picture_def *def, const sinew_survey *survey, const sinew_panel *panels,
                                int32_t panel_count, sinew_image *image, sinew_picture_progress *progress,
                                void *context, sinew_error *error);

#endif
