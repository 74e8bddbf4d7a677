/* SPDX-License-Identifier: MIT
 *
 * view.h: one panel from rays to bytes, in passes over its pixels: what the middle of each pixel sees and the light
 * there; more light where it is noisy; a filter; and colours, with more rays where a pixel sees several things.
 */
#ifndef SINEW_RENDER_VIEW_H
#define SINEW_RENDER_VIEW_H

#include "camera.h"
#include "stage.h"

/* The surface seen through one pixel: enough to tell it from its neighbours and to shade it. */
typedef struct view_pixel {
    int32_t paint;
    vec3 point, normal, colour;
} view_pixel;

/* Sums over the samples of a pixel. */
typedef struct view_sums {
    float count;
    float sun; /* each sample is 0 or 1, so this is the sum of squares too */
    vec3 other;
    float other_square; /* of luminance */
} view_sums;

/* The light of a pixel, and the variances of its two parts as they stand (of means, in units of light). */
typedef struct view_light {
    float sun;
    vec3 other;
    float sun_variance, other_variance;
} view_light;

typedef struct view {
    const stage *stage;
    const lens *lens;
    vec3 eye, forward, across, down; /* m from the stage's origin; unit; one pixel to the right, one down */
    vec3 corner;                     /* direction of the panel's upper left corner */
    int32_t width, height;
    int32_t samples; /* paths a pixel; 0: by noise */
    int32_t thread_count;
    uint8_t *rgb;                  /* of the panel's first pixel in the image */
    size_t pitch;                  /* bytes from row to row */
    view_pixel *centres;           /* [width * height] */
    view_pixel *corners;           /* [(width + 1) * (height + 1)] */
    view_sums *sums;               /* [width * height] */
    view_sums *more;               /* [width * height] with the samples that noise asks for */
    view_light *light;             /* [width * height] */
    view_light *spare;             /* [width * height] */
    int32_t step;                  /* of the filter's pass at hand, pixels */
    double done_before, done_part; /* of the whole picture */
    sinew_picture_progress *progress;
    void *context;
} view;

sinew_status view_draw(view *v, sinew_error *error);

/* ---- Light (view_light.c) -------------------------------------------------------------------- */

/* Row by row: the first samples; more samples where the first ones say so; means and variances. */
void view_first_rows(const view *v, int64_t first, int64_t last);
void view_more_rows(const view *v, int64_t first, int64_t last);
void view_mean_rows(const view *v, int64_t first, int64_t last);
/* One pass of the filter from light to spare (view_filter.c). */
void view_filter_rows(const view *v, int64_t first, int64_t last);
/* Colours (view_resolve.c). */
void view_resolve_rows(const view *v, int64_t first, int64_t last);

/* Whether two rays of the eye see the same smooth piece of surface; reach: m between them. */
bool view_same_surface(const view_pixel *a, const view_pixel *b, float reach);
vec3 view_direction(const view *v, float x, float y);
view_pixel view_pixel_of(const stage_hit *hit);
/* The distance on a plane across the view at the point's depth that is one pixel wide. */
float view_footprint(const view *v, vec3 point);
/* A sample of light at a hit, moved by (dx, dy) pixels along its surface. */
stage_light view_sample(const view *v, const stage_hit *at, float x, float y, stage_sample sample);

#endif
