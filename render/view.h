/* SPDX-License-Identifier: MIT
 *
 * view.h: one panel from rays to bytes in passes over its pixels. The passes trace a ray through each pixel's centre,
 * sample light, add samples to noisy pixels, filter the light and resolve colours. Pixels with several surfaces get
 * more rays.
 */
#ifndef SINEW_RENDER_VIEW_H
#define SINEW_RENDER_VIEW_H

#include "camera.h"
#include "stage.h"

/* The surface visible in one pixel: the data that shading and comparison with neighbours need. */
typedef struct view_pixel {
    int32_t paint;
    vec3 point, normal, colour;
} view_pixel;

/* Sums over the light samples of a pixel. */
typedef struct view_sums {
    float count;
    float sun; /* sum of sun visibilities; each sample is 0 or 1, so this is also the sum of squares */
    vec3 other;
    float other_square; /* sum of the squared luminances of the light other than the sun's */
} view_sums;

/* Light of a pixel (sun and other light), and the variances of the means of its two parts (in units of light). */
typedef struct view_light {
    float sun;
    vec3 other;
    float sun_variance, other_variance;
} view_light;

typedef struct view {
    const stage *stage;
    const lens *lens;
    /* Eye: position in m from the stage's origin; forward: unit vector; across, down: steps of one pixel to the right
     * and down. */
    vec3 eye, forward, across, down;
    vec3 corner; /* direction of the ray through the panel's upper left corner */
    int32_t width, height;
    int32_t samples; /* number of paths per pixel; 0: chosen by the measured noise */
    int32_t thread_count;
    uint8_t *rgb; /* RGB bytes of the whole image, from the panel's first pixel on; rows are `pitch` bytes apart */
    size_t pitch; /* number of bytes from one row of the image to the next */
    /* [width * height] surface that the ray through each pixel's centre hits. */
    view_pixel *centres;
    /* [(width + 1) * (height + 1)] surface that the ray through each pixel corner hits. */
    view_pixel *corners;
    view_sums *sums; /* [width * height] sums over the samples of each pixel */
    view_sums *more; /* [width * height] sums with the additional samples of noisy pixels */
    /* [width * height] light of each pixel; each pass of the noise filter swaps it with `spare` */
    view_light *light;
    /* [width * height] output buffer of a pass of the noise filter, which is swapped with `light` after the pass */
    view_light *spare;
    int32_t step; /* distance in pixels between taps in the current pass of the noise filter */
    /* Completed fraction of the picture before this panel, and this panel's fraction. */
    double done_before, done_fraction;
    sinew_picture_progress *progress;
    void *context;
} view;

sinew_status view_draw(view *v, sinew_error *error);

/* ---- Light of the pixels (view_light.c) -------------------------------------------------------- */

/* Passes, for pixels first .. last-1 of row y: first samples; additional samples for noisy pixels; means and
 * variances. */
void view_first_span(const view *v, int32_t y, int32_t first, int32_t last);
void view_more_span(const view *v, int32_t y, int32_t first, int32_t last);
void view_mean_span(const view *v, int32_t y, int32_t first, int32_t last);
/* One pass of the filter from light to spare (view_filter.c). */
void view_filter_span(const view *v, int32_t y, int32_t first, int32_t last);
/* Computes final colours (view_resolve.c). */
void view_resolve_span(const view *v, int32_t y, int32_t first, int32_t last);

/* True if two rays of the eye hit the same smooth surface: paint, normal and colour are alike, and b lies less
 * than `reach` (m) from the tangent plane of a. */
bool view_same_surface(const view_pixel *a, const view_pixel *b, float reach);
vec3 view_direction(const view *v, float x, float y);
view_pixel view_pixel_of(const stage_hit *hit);
/* Width in m of one pixel on a plane across the view at the point's depth. */
float view_footprint(const view *v, vec3 point);
/* Takes a light sample at the hit of the pixel around (x, y), jittered within the pixel along the hit's surface. */
stage_light view_sample(const view *v, const stage_hit *at, float x, float y, stage_sample sample);

#endif
