/* SPDX-License-Identifier: MIT
 *
 * view_resolve.c: converts surfaces and light to the bytes of a panel.
 *
 * If the centre, the corners and the neighbours of a pixel show one smooth surface, the pixel has the colour of its
 * centre. Other pixels are edges and get EDGE_RAYS rays. Each ray takes the light of neighbouring pixels with the same
 * surface; if there is none, the ray samples light. Edges are therefore smooth, and most pixels compute light once.
 */
#include "colour.h"
#include "view.h"

/* Number of rays for a pixel that shows an edge between surfaces. */
#define EDGE_RAYS 32
/* Number of light samples for a ray whose surface no neighbouring pixel shows. */
#define LONE_SAMPLES 8

bool view_same_surface(const view_pixel *a, const view_pixel *b, float reach)
{
    if (a->paint != b->paint)
        return false;
    if (a->paint < 0)
        return true;
    const vec3 apart = vec_sub(a->point, b->point), colours = vec_sub(a->colour, b->colour);
    return vec_dot(a->normal, b->normal) > 0.97f && fabsf(vec_dot(a->normal, apart)) < reach &&
           vec_dot(colours, colours) < 0.0009f;
}

/* True if a pixel shows more than one surface. */
static bool is_edge(const view *v, int32_t x, int32_t y)
{
    const size_t w = (size_t)v->width, at = (size_t)y * w + (size_t)x, corner = at + (size_t)y;
    const view_pixel *own = &v->centres[at];
    const view_pixel *others[8] = {&v->corners[corner],         &v->corners[corner + 1],
                                   &v->corners[corner + w + 1], &v->corners[corner + w + 2],
                                   x > 0 ? own - 1 : own,       x + 1 < v->width ? own + 1 : own,
                                   y > 0 ? own - w : own,       y + 1 < v->height ? own + w : own};
    const float reach = own->paint == STAGE_SKY ? 0 : 1.5f * view_footprint(v, own->point);
    for (int i = 0; i < 8; i++)
        if (!view_same_surface(own, others[i], reach))
            return true;
    return false;
}

/* ---- Colours of pixels at edges of objects ---------------------------------------------------- */

/* Takes the light for a ray at (x, y) from neighbouring pixels; false if none of them shows the ray's surface. */
static bool borrow_light(const view *v, const view_pixel *seen, float x, float y, stage_light *light)
{
    const int32_t px = (int32_t)x, py = (int32_t)y;
    const float reach = 2 * view_footprint(v, seen->point);
    float weights = 0;
    *light = (stage_light){0};
    for (int32_t j = py > 0 ? py - 1 : 0; j <= py + 1 && j < v->height; j++)
        for (int32_t i = px > 0 ? px - 1 : 0; i <= px + 1 && i < v->width; i++) {
            const size_t at = (size_t)j * (size_t)v->width + (size_t)i;
            const view_pixel *pixel = &v->centres[at];
            const float facing = vec_dot(pixel->normal, seen->normal);
            if ((pixel->paint < 0) != (seen->paint < 0) || pixel->paint == STAGE_SKY || facing < 0.7f ||
                fabsf(vec_dot(seen->normal, vec_sub(pixel->point, seen->point))) > reach)
                continue;
            const float dx = (float)i + 0.5f - x, dy = (float)j + 0.5f - y;
            const float weight = (facing - 0.69f) / (0.2f + dx * dx + dy * dy);
            weights += weight;
            light->sun += weight * v->light[at].sun;
            light->other = vec_along(light->other, weight, v->light[at].other);
        }
    if (!(weights > 0))
        return false;
    light->sun /= weights;
    light->other = vec_scale(light->other, 1 / weights);
    return true;
}

static stage_light own_light(const view *v, const stage_hit *hit, float x, float y, uint32_t seed)
{
    stage_light sum = {0};
    sample_sequence sequences[SAMPLE_PURPOSES];
    stage_sequences(seed, sequences);
    for (uint32_t k = 0; k < LONE_SAMPLES; k++) {
        const stage_light light = view_sample(v, hit, x, y, (stage_sample){k, sequences});
        sum.sun += light.sun / LONE_SAMPLES;
        sum.other = vec_along(sum.other, 1.0f / LONE_SAMPLES, light.other);
    }
    return sum;
}

static vec3 edge_colour(const view *v, int32_t px, int32_t py)
{
    vec3 sum = {0, 0, 0};
    const uint32_t seed = hash_pair((uint32_t)px, (uint32_t)py);
    const sample_sequence pixel_offsets = sample_sequence_of(seed);
    for (uint32_t k = 0; k < EDGE_RAYS; k++) {
        float offset[2];
        sample_square(&pixel_offsets, k, offset);
        const float x = (float)px + offset[0], y = (float)py + offset[1];
        const vec3 direction = view_direction(v, x, y);
        stage_hit hit;
        stage_trace(v->stage, v->eye, direction, &hit);
        const view_pixel seen = view_pixel_of(&hit);
        stage_light light = {0};
        if (hit.paint != STAGE_SKY && !borrow_light(v, &seen, x, y, &light))
            light = own_light(v, &hit, x, y, hash_pair(seed, k + 1));
        sum = vec_add(sum, tone_map(stage_shade(v->stage, &hit, vec_unit(direction), light)));
    }
    return vec_scale(sum, 1.0f / EDGE_RAYS);
}

/* ---- Bytes of the panel ----------------------------------------------------------------------- */

static vec3 plain_colour(const view *v, int32_t x, int32_t y)
{
    const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
    const view_pixel *p = &v->centres[at];
    const stage_hit hit = {.paint = p->paint, .point = p->point, .normal = p->normal, .colour = p->colour};
    const stage_light light = {v->light[at].sun, v->light[at].other};
    const vec3 unit = vec_unit(view_direction(v, (float)x + 0.5f, (float)y + 0.5f));
    return tone_map(stage_shade(v->stage, &hit, unit, light));
}

/* Writes the bytes of a pixel with ordered dithering, equal for all three colours: slow gradients have no bands, and
 * the PNG compresses well. */
static void put_bytes(vec3 colour, int32_t x, int32_t y, uint8_t rgb[3])
{
    static const uint8_t order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    const float threshold = ((float)order[y & 3][x & 3] + 0.5f) / 16;
    const float channels[3] = {colour.x, colour.y, colour.z};
    for (int c = 0; c < 3; c++) {
        const float value = 255 * srgb_from_linear(clamp_unit(channels[c])) + threshold;
        rgb[c] = value >= 255 ? 255 : value > 0 ? (uint8_t)value : 0; /* clamps to 0 .. 255; also replaces NaN by 0 */
    }
}

void view_resolve_span(const view *v, int32_t y, int32_t first, int32_t last)
{
    for (int32_t x = first; x < last; x++) {
        const vec3 colour = is_edge(v, x, y) ? edge_colour(v, x, y) : plain_colour(v, x, y);
        put_bytes(colour, x, y, v->rgb + (size_t)y * v->pitch + 3 * (size_t)x);
    }
}
