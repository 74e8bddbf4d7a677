/* SPDX-License-Identifier: MIT
 *
 * colour.c: colours of values, bodies and classes; tone curve from radiance to display values.
 *
 * Values: the colour map viridis of S. van der Walt and N. Smith (matplotlib, 2015, public domain by CC0). The table
 * holds ten equidistant colours; OKLab coordinates (B. Ottosson, 2020) are interpolated linearly in between. Lightness
 * increases evenly, so equal steps of the value look equal, also to colour-blind readers and in print.
 *
 * Bodies: OKLCh colours of equal chroma. Successive hues differ by the golden angle, which spreads any number of hues
 * evenly.
 */
#include "colour.h"

#include <string.h>

/* ---- Names of colour kinds --------------------------------------------------------------------- */

static const struct {
    const char *name, *unit, *label;
} kinds[SINEW_COLOUR_COUNT] = {
    [SINEW_COLOUR_BODY] = {"body", "", ""},
    [SINEW_COLOUR_SPEED] = {"speed", "m/s", "speed"},
    [SINEW_COLOUR_STRETCH] = {"stretch", "", "largest stretch"},
    [SINEW_COLOUR_VON_MISES] = {"von_mises", "Pa", "von Mises stress"},
    [SINEW_COLOUR_ENERGY] = {"energy", "J/m\u00b3", "energy density"},
    [SINEW_COLOUR_RESIDUAL] = {"residual", "N", "residual"},
    [SINEW_COLOUR_CONTACT_FORCE] = {"contact_force", "N", "contact force"},
    [SINEW_COLOUR_POSITION_ERROR] = {"position_error", "m", "position error"},
    [SINEW_COLOUR_CLASS] = {"class", "", "colour class"},
    [SINEW_COLOUR_GIVEN] = {"given", "", ""},
};

const char *sinew_colour_name(sinew_colour_kind kind)
{
    return (unsigned)kind < SINEW_COLOUR_COUNT ? kinds[kind].name : NULL;
}

bool sinew_colour_is_of_steps(sinew_colour_kind kind)
{
    return kind == SINEW_COLOUR_RESIDUAL || kind == SINEW_COLOUR_CONTACT_FORCE || kind == SINEW_COLOUR_POSITION_ERROR;
}

const char *sinew_colour_unit(sinew_colour_kind kind)
{
    return (unsigned)kind < SINEW_COLOUR_COUNT ? kinds[kind].unit : NULL;
}

const char *colour_label(sinew_colour_kind kind)
{
    return (unsigned)kind < SINEW_COLOUR_COUNT ? kinds[kind].label : "";
}

sinew_colour_kind sinew_colour_by_name(const char *name)
{
    for (int kind = 0; name && kind < SINEW_COLOUR_COUNT; kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return (sinew_colour_kind)kind;
    return SINEW_COLOUR_COUNT;
}

/* ---- Conversions between sRGB, linear light and OKLab ---------------------------------------- */

float srgb_to_linear(float s)
{
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

float srgb_from_linear(float x)
{
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

static vec3 lab_to_linear(vec3 lab)
{
    float l = lab.x + 0.3963377774f * lab.y + 0.2158037573f * lab.z;
    float m = lab.x - 0.1055613458f * lab.y - 0.0638541728f * lab.z;
    float s = lab.x - 0.0894841775f * lab.y - 1.2914855480f * lab.z;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return vec(clamp_unit(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s),
               clamp_unit(-1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s),
               clamp_unit(-0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s));
}

static vec3 linear_to_lab(vec3 c)
{
    const float l = cbrtf(0.4122214708f * c.x + 0.5363325363f * c.y + 0.0514459929f * c.z);
    const float m = cbrtf(0.2119034982f * c.x + 0.6806995451f * c.y + 0.1073969566f * c.z);
    const float s = cbrtf(0.0883024619f * c.x + 0.2817188376f * c.y + 0.6299787005f * c.z);
    return vec(0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
               1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
               0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s);
}

static vec3 hex_to_linear(uint32_t hex)
{
    return vec(srgb_to_linear((float)(hex >> 16 & 255) / 255), srgb_to_linear((float)(hex >> 8 & 255) / 255),
               srgb_to_linear((float)(hex & 255) / 255));
}

/* ---- Colours of values and bodies ------------------------------------------------------------- */

vec3 ramp_colour(float t)
{
    static const uint32_t stops[10] = {0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E,
                                       0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725};
    if (t != t)
        return vec(0.42f, 0.42f, 0.43f);
    const float index = 9 * clamp_unit(t);
    const int low = index >= 9 ? 8 : (int)index;
    const vec3 a = linear_to_lab(hex_to_linear(stops[low])), b = linear_to_lab(hex_to_linear(stops[low + 1]));
    return lab_to_linear(vec_mix(a, b, index - (float)low));
}

static vec3 hue_colour(float lightness, float chroma, float hue)
{
    return lab_to_linear(vec(lightness, chroma * cosf(hue), chroma * sinf(hue)));
}

vec3 body_colour(int32_t index)
{
    /* The last eight of every sixteen body colours are a little darker, because their hues lie close to those of the
     * first eight. */
    const float hue = 0.87f + 2.39996323f * (float)(index % 64);
    return hue_colour(index % 16 < 8 ? 0.70f : 0.60f, 0.125f, hue);
}

vec3 class_colour(int32_t index)
{
    const float hue = 4.5f + 2.39996323f * (float)(index % 64);
    return hue_colour(index % 2 ? 0.78f : 0.62f, 0.14f, hue);
}

static void to_bytes(vec3 colour, uint8_t rgb[3])
{
    rgb[0] = (uint8_t)(255 * srgb_from_linear(colour.x) + 0.5f);
    rgb[1] = (uint8_t)(255 * srgb_from_linear(colour.y) + 0.5f);
    rgb[2] = (uint8_t)(255 * srgb_from_linear(colour.z) + 0.5f);
}

void sinew_colour_ramp(double t, uint8_t rgb[3])
{
    to_bytes(ramp_colour((float)t), rgb);
}

void sinew_colour_body(int32_t index, uint8_t rgb[3])
{
    to_bytes(body_colour(index), rgb);
}

/* ---- Tone curve of bright light --------------------------------------------------------------- */

/* Tone curve of radiance: linear up to the knee, then approaching 1, the upper limit of the display. */
static float shoulder(float x)
{
    const float knee = 0.75f, capacity = 1 - knee;
    if (x <= knee)
        return x;
    const float over = (x - knee) / capacity;
    return knee + capacity * (over / (1 + over));
}

vec3 tone_map(vec3 radiance)
{
    return vec(shoulder(radiance.x), shoulder(radiance.y), shoulder(radiance.z));
}
