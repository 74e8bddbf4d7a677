/* SPDX-License-Identifier: MIT
 *
 * camera.h: position of the eye and viewing direction of each pixel of a panel.
 */
#ifndef SINEW_RENDER_CAMERA_H
#define SINEW_RENDER_CAMERA_H

#include "picture.h"

/* Part of a panel, in pixels, that the camera is fitted to. */
typedef struct picture_frame {
    double x, y, width, height; /* x, y, width and height of a rectangle within the panel, in pixels */
} picture_frame;

typedef struct lens {
    double eye[3], right[3], up[3], forward[3]; /* position of the camera in m; unit vectors of its axes */
    double centre[2];                           /* pixel of the panel whose ray has the forward direction */
    double scale;                               /* pixels per unit of tan(angle to the forward direction) */
} lens;

/* Computes the lens of a panel: from eye and target of the camera, or fitted, so that at a distance of 1 or more
 * `frame` contains all extremes of the survey. SINEW_ERROR_DATA: eye = target, numbers that are not finite, or an
 * angle or distance out of range. */
sinew_status lens_make(const sinew_camera *camera, const sinew_survey *survey, const picture_frame *frame, lens *made,
                       sinew_error *error);
/* Computes the direction (not normalised) of the ray through the point (x, y) of a panel, in pixels. */
void lens_direction(const lens *l, double x, double y, double direction[3]);
/* True if one of the points [3 * count] is in front of the eye and within a panel of width x height pixels. */
bool lens_sees(const lens *l, const double *points, int64_t count, int32_t width, int32_t height);

#endif
