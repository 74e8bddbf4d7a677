/* SPDX-License-Identifier: MIT
 *
 * camera.h: where the eye is and which way each pixel of a panel looks.
 */
#ifndef SINEW_RENDER_CAMERA_H
#define SINEW_RENDER_CAMERA_H

#include "picture.h"

/* Part of a panel in pixels: what the camera is fitted to. */
typedef struct picture_frame {
    double x, y, width, height; /* within the panel */
} picture_frame;

typedef struct lens {
    double eye[3], right[3], up[3], forward[3]; /* m; unit vectors */
    double centre[2];                           /* pixel of the panel that looks forward */
    double scale;                               /* pixels for one unit of the tangent */
} lens;

/* Refuses a camera that looks nowhere (eye = target, numbers that are not finite, an angle out of range). */
sinew_status lens_make(const sinew_camera *camera, const sinew_survey *survey, const picture_frame *frame, lens *made,
                       sinew_error *error);
/* The direction, of any length, of the place (x, y) of a panel. */
void lens_direction(const lens *l, double x, double y, double direction[3]);
/* Whether any of the points [3 * count] is in front of the eye and within a panel of that size. */
bool lens_sees(const lens *l, const double *points, int64_t count, int32_t width, int32_t height);

#endif
