/* SPDX-License-Identifier: MIT
 *
 * view_light.c: samples of light for each pixel.
 *
 * Samples lie on the surface at the centre of the pixel and are jittered within the pixel along the surface's plane, so
 * that shadow edges are smooth. Pixels take points of one sequence, four at a time (sample.h).
 */
#include "view.h"

/* Number of light samples per pixel in one batch. */
#define ROUND 4
/* Maximum number of light samples per pixel if the measured noise decides. */
#define SAMPLES_MAX 12
/* Number of pixels that the noise filter averages in even light, as measured on noise of known variance. */
#define FILTER_GAIN 14
/* Standard deviation of a pixel's filtered light (white paper has light 1) below which no samples are added. */
#define NOISE_TARGET 0.015f

vec3 view_direction(const view *v, float x, float y)
{
    return vec_along(vec_along(v->corner, x, v->across), y, v->down);
}

view_pixel view_pixel_of(const stage_hit *hit)
{
    return (view_pixel){hit->paint, hit->point, hit->normal, hit->colour};
}

float view_footprint(const view *v, vec3 point)
{
    return vec_dot(vec_sub(point, v->eye), v->forward) / (float)v->lens->scale;
}

stage_light view_sample(const view *v, const stage_hit *at, float x, float y, stage_sample sample)
{
    float offset[2];
    sample_square(&sample.sequences[SAMPLE_PIXEL], sample.index, offset);
    const vec3 eye = v->eye, direction = view_direction(v, x - 0.5f + offset[0], y - 0.5f + offset[1]);
    const float along = vec_dot(direction, at->face), t = vec_dot(vec_sub(at->point, eye), at->face) / along;
    /* At grazing angles a pixel covers a long part of the surface, so samples are not jittered. */
    if (fabsf(along) < 0.02f * vec_length(direction))
        return stage_sample_light(v->stage, at, sample);
    const stage_hit moved = stage_moved(v->stage, at, vec_sub(vec_along(eye, t, direction), at->point));
    return stage_sample_light(v->stage, &moved, sample);
}

static void add_round(const view *v, const stage_hit *hit, int32_t x, int32_t y, uint32_t round, int32_t count,
                      view_sums *sums)
{
    const uint32_t first = ROUND * curve_index((uint32_t)x, (uint32_t)y);
    sample_sequence sequences[SAMPLE_PURPOSES];
    stage_sequences(round, sequences);
    for (int32_t k = 0; k < count; k++) {
        const stage_sample sample = {first + (uint32_t)k, sequences};
        const stage_light light = view_sample(v, hit, (float)x + 0.5f, (float)y + 0.5f, sample);
        const float luminance = vec_luminance(light.other);
        sums->count += 1;
        sums->sun += light.sun;
        sums->other = vec_add(sums->other, light.other);
        sums->other_square += luminance * luminance;
    }
}

static void trace_centre(const view *v, int32_t x, int32_t y, stage_hit *hit)
{
    stage_trace(v->stage, v->eye, view_direction(v, (float)x + 0.5f, (float)y + 0.5f), hit);
}

void view_first_span(const view *v, int32_t y, int32_t first, int32_t last)
{
    const int32_t count = v->samples > 0 && v->samples < ROUND ? v->samples : ROUND;
    for (int32_t x = first; x < last; x++) {
        stage_hit hit;
        stage_trace(v->stage, v->eye, view_direction(v, (float)x, (float)y), &hit);
        v->corners[(size_t)y * ((size_t)v->width + 1) + (size_t)x] = view_pixel_of(&hit);
        if (x == v->width || y == v->height)
            continue;
        trace_centre(v, x, y, &hit);
        const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
        v->centres[at] = view_pixel_of(&hit);
        v->sums[at] = (view_sums){0};
        if (hit.paint != STAGE_SKY)
            add_round(v, &hit, x, y, 0, count, &v->sums[at]);
    }
}

/* ---- Noise of the light and the number of samples it requires -------------------------------- */

/* Variances of one light sample, of the sun and of other light, each averaged over nearby pixels with a similar
 * surface. */
static void find_variances(const view *v, int32_t x, int32_t y, float variances[2])
{
    const view_pixel *own = &v->centres[(size_t)y * (size_t)v->width + (size_t)x];
    float sum[2] = {0, 0}, count = 0;
    for (int32_t j = y > 2 ? y - 2 : 0; j <= y + 2 && j < v->height; j++)
        for (int32_t i = x > 2 ? x - 2 : 0; i <= x + 2 && i < v->width; i++) {
            const size_t at = (size_t)j * (size_t)v->width + (size_t)i;
            const view_sums *s = &v->sums[at];
            if ((v->centres[at].paint < 0) != (own->paint < 0) || s->count < 2)
                continue;
            const float sun = s->sun / s->count, other = vec_luminance(s->other) / s->count;
            sum[0] += fmaxf(0, sun - sun * sun);
            sum[1] += fmaxf(0, s->other_square / s->count - other * other);
            count += (s->count - 1) / s->count;
        }
    variances[0] = count > 0 ? sum[0] / count : 0;
    variances[1] = count > 0 ? sum[1] / count : 0;
}

/* Number of light samples that a pixel needs, by the setting or by its noise. */
static int32_t view_light_wanted(const view *v, int32_t x, int32_t y)
{
    if (v->samples > 0)
        return v->samples;
    float variances[2];
    find_variances(v, x, y, variances);
    const float worst = fmaxf(0.4f * variances[0], variances[1]);
    const float count = worst / (NOISE_TARGET * NOISE_TARGET * FILTER_GAIN);
    return count < SAMPLES_MAX ? (int32_t)count : SAMPLES_MAX;
}

void view_more_span(const view *v, int32_t y, int32_t first, int32_t last)
{
    for (int32_t x = first; x < last; x++) {
        const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
        /* Neighbours read the old sums during this pass, so new sums go to a separate array. */
        view_sums *sums = &v->more[at];
        *sums = v->sums[at];
        const int32_t need = v->centres[at].paint != STAGE_SKY ? view_light_wanted(v, x, y) : 0;
        stage_hit hit;
        if (need > ROUND)
            trace_centre(v, x, y, &hit);
        for (int32_t k = ROUND; k < need; k += ROUND)
            add_round(v, &hit, x, y, (uint32_t)(k / ROUND), need - k < ROUND ? need - k : ROUND, sums);
    }
}

void view_mean_span(const view *v, int32_t y, int32_t first, int32_t last)
{
    for (int32_t x = first; x < last; x++) {
        const size_t at = (size_t)y * (size_t)v->width + (size_t)x;
        const view_sums *s = &v->sums[at];
        view_light *light = &v->light[at];
        *light = (view_light){0};
        if (s->count == 0)
            continue;
        float variances[2];
        find_variances(v, x, y, variances);
        light->sun = s->sun / s->count;
        light->other = vec_scale(s->other, 1 / s->count);
        light->sun_variance = variances[0] / s->count;
        light->other_variance = variances[1] / s->count;
    }
}
