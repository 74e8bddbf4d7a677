/* SPDX-License-Identifier: MIT
 *
 * colour.h: colours of values and bodies; conversion of light to bytes.
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
vec3 body_colour(int32_t index);
vec3 class_colour(int32_t index);
/* Converts radiance to display light in 0..1. White paper in the open has radiance 1. */
vec3 tone_map(vec3 radiance);
/* Name of a field for the legend, e.g. "von Mises stress". */
const char *colour_label(sinew_colour_kind kind);

#endif
