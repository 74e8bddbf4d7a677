/* SPDX-License-Identifier: MIT
 *
 * colour.h: colours of values and bodies; conversion of radiance to display values.
 */
#ifndef SINEW_RENDER_COLOUR_H
#define SINEW_RENDER_COLOUR_H

#include "picture.h"
#include "vector.h"

/* Convert an sRGB value in 0..1 to linear light, and back. */
float srgb_to_linear(float s);
float srgb_from_linear(float x);
/* Linear RGB colour of a value, t in 0..1 along the colour map (clamped; grey if t is not a number). */
vec3 ramp_colour(float t);
/* Linear RGB colours of bodies and of colour classes, pairwise distinct for the first dozen. */
vec3 body_colour(int32_t index);
vec3 class_colour(int32_t index);
/* Converts radiance to display light in 0..1. White paper in the open has radiance 1. */
vec3 tone_map(vec3 radiance);
/* Name of a field for the legend, e.g. "von Mises stress". */
const char *colour_label(sinew_colour_kind kind);

#endif
