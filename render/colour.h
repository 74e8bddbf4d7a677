/* SPDX-License-Identifier: MIT
 *
 * colour.h: from numbers and bodies to colours, and from light to bytes.
 */
#ifndef SINEW_RENDER_COLOUR_H
#define SINEW_RENDER_COLOUR_H

#include "picture.h"
#include "vector.h"

/* Linear light of an sRGB value in 0..1, and back. */
float srgb_to_linear(float s);
float srgb_from_linear(float x);
/* Linear colour of a value, t in 0..1 along the ramp (clamped; grey where t is not a number). */
vec3 ramp_colour(float t);
/* Linear colours of bodies and of classes, pairwise distinct for the first dozen. */
vec3 body_colour(int32_t place);
vec3 class_colour(int32_t index);
/* From radiance, 1 being white paper in the open, to display light in 0..1. */
vec3 tone_map(vec3 radiance);
/* Words for a legend, e.g. "von Mises stress". */
const char *colour_label(sinew_colour_kind kind);

#endif
