/* SPDX-License-Identifier: MIT
 *
 * light.c: irradiance of a surface, and the radiance that the eye receives.
 *
 * Surfaces are matt with a thin gloss. The light on a surface is
 *
 *     sun:    S (n . s) times the visible fraction of the sun's disc
 *     other:  1/pi integral over the hemisphere of L(w) (n . w) dw
 *
 * The sky is L(w) = a + b w_y, whose integral in the open is a + 2/3 b n_y. Samples estimate the difference from this
 * value only: a ray that hits nothing gives exactly zero, so open surfaces have no noise. A ray that hits a surface
 * returns the light of that surface from the sun and, by a second ray, from the sky or a third surface. The third
 * surface has a constant radiance: that of the ground under the open sky, or a grey for bodies. The first bounce is
 * exact, the second is approximate, and later bounces are ignored.
 */
#include "stage.h"

#include "colour.h"

/* Light of the sun (irradiance over pi), chosen so that white ground under sun and sky has light of about 1. */
static const vec3 sun_light = {0.84f, 0.745f, 0.63f};
static const vec3 sky_middle = {0.335f, 0.375f, 0.425f}; /* constant a of the sky's radiance L(w) = a + b w_y */
static const vec3 sky_slope = {0.05f, 0.07f, 0.10f};     /* constant b of the sky's radiance L(w) = a + b w_y */

static vec3 sky_radiance(vec3 direction)
{
    return vec_along(sky_middle, direction.y, sky_slope);
}

static vec3 open_sky(vec3 normal)
{
    return vec_along(sky_middle, normal.y * 2 / 3, sky_slope);
}

/* ---- Directions of light rays ----------------------------------------------------------------- */

void stage_sequences(uint32_t seed, sample_sequence sequences[SAMPLE_PURPOSES])
{
    for (uint32_t i = 0; i < SAMPLE_PURPOSES; i++)
        sequences[i] = sample_sequence_of(hash_pair(seed, i));
}

static vec3 draw_sun(const stage *s, stage_sample sample, uint32_t purpose)
{
    float disc[2];
    sample_disc(&sample.sequences[purpose], sample.index, disc);
    return vec_along(vec_along(s->sun, disc[0], s->sun_across[0]), disc[1], s->sun_across[1]);
}

/* Samples a direction about the surface's normal with cosine density, on the visible side. */
static vec3 draw_sky(const stage_hit *at, stage_sample sample, uint32_t purpose)
{
    float disc[2];
    vec3 a, b;
    sample_disc(&sample.sequences[purpose], sample.index, disc);
    vec_frame(at->normal, &a, &b);
    const float up = sqrtf(fmaxf(0, 1 - disc[0] * disc[0] - disc[1] * disc[1]));
    const vec3 d = vec_along(vec_along(vec_scale(at->normal, up), disc[0], a), disc[1], b);
    const float below = vec_dot(d, at->face);
    return below < 0 ? vec_along(d, -2 * below, at->face) : d;
}

/* ---- Light on a surface ----------------------------------------------------------------------- */

static vec3 ray_start(const stage *s, const stage_hit *at)
{
    return vec_along(at->leave, s->nudge, at->face);
}

static float sample_sun(const stage *s, const stage_hit *at, stage_sample sample, uint32_t purpose)
{
    if (vec_dot(at->normal, s->sun) <= 0)
        return 0;
    const vec3 start = ray_start(s, at), to = draw_sun(s, sample, purpose);
    /* The sun does not light points below the ground. */
    if (s->ground && to.y > 0 && start.y < s->ground_height)
        return 0;
    const sinew_ray ray = {{start.x, start.y, start.z}, {to.x, to.y, to.z}, 0, INFINITY};
    return stage_may_hit(s, start, to) && sinew_tree_ray_any(s->tree, &ray) ? 0 : 1;
}

static vec3 sun_on(const stage *s, vec3 normal, float fraction)
{
    return vec_scale(sun_light, fraction * fmaxf(0, vec_dot(normal, s->sun)));
}

/* Radiance that a ray of the second bounce receives: a constant grey if a body occludes the sky, else the ground under
 * the open sky or the sky. */
static vec3 second_sky(const stage *s, vec3 start, vec3 direction)
{
    const bool down = s->ground && direction.y < 0 && start.y > s->ground_height;
    const sinew_ray ray = {{start.x, start.y, start.z}, {direction.x, direction.y, direction.z}, 0, INFINITY};
    if (stage_may_hit(s, start, direction) && sinew_tree_ray_any(s->tree, &ray))
        return vec_scale(sky_middle, 0.5f);
    return down ? vec_scale(open_sky(vec(0, 1, 0)), 0.8f) : sky_radiance(direction);
}

/* Light of a surface that a bounced ray hits: one ray for its sun and one for its sky. */
static vec3 second_light(const stage *s, const stage_hit *at, stage_sample sample)
{
    const vec3 sun = sun_on(s, at->normal, sample_sun(s, at, sample, SAMPLE_SUN_AGAIN));
    return vec_add(sun, second_sky(s, ray_start(s, at), draw_sky(at, sample, SAMPLE_SKY_AGAIN)));
}

stage_light stage_sample_light(const stage *s, const stage_hit *at, stage_sample sample)
{
    stage_light light = {.sun = sample_sun(s, at, sample, SAMPLE_SUN), .other = {0, 0, 0}};
    const vec3 direction = draw_sky(at, sample, SAMPLE_SKY);
    stage_hit hit;
    stage_trace(s, ray_start(s, at), direction, &hit);
    if (hit.paint == STAGE_SKY)
        return light;
    const vec3 arriving = vec_times(hit.colour, second_light(s, &hit, sample));
    light.other = vec_sub(arriving, sky_radiance(direction));
    return light;
}

/* ---- Radiance towards the eye ---------------------------------------------------------------- */

/* Radiance of the backdrop at a distance `far` of 0 .. 1: bright around the bodies, darker and bluer up to the
 * horizon. */
static vec3 backdrop(float far)
{
    return vec_mix(vec(0.86f, 0.86f, 0.86f), vec(0.56f, 0.60f, 0.66f), far);
}

static vec3 shade_ground(const stage *s, const stage_hit *at, stage_light light)
{
    const vec3 open = vec_add(sun_on(s, at->normal, 1), open_sky(at->normal));
    const vec3 here = vec_add(vec_add(sun_on(s, at->normal, light.sun), open_sky(at->normal)), light.other);
    const float away = vec_dot(at->point, at->point) / (9 * s->size * s->size);
    const vec3 fraction = vec(here.x / open.x, here.y / open.y, here.z / open.z);
    return vec_times(backdrop(away / (1 + away)), fraction);
}

/* Radiance of the gloss: a thin clear coat reflects the sun with some spread and, at grazing angles, the sky. */
static vec3 gloss(const stage *s, const stage_hit *at, vec3 view, stage_light light)
{
    const float facing = fmaxf(0, -vec_dot(at->normal, view));
    const vec3 half = vec_unit(vec_sub(s->sun, view)), mirrored = vec_along(view, 2 * facing, at->normal);
    const float lobe = powf(fmaxf(0, vec_dot(at->normal, half)), 40) * 0.21f * light.sun;
    const float grazing = (1 - facing) * (1 - facing), rim = 0.15f * grazing * grazing;
    const float open = clamp_unit(1 + light.other.y / sky_middle.y);
    return vec_along(vec_scale(sky_radiance(mirrored), rim * open), lobe * fmaxf(0, vec_dot(at->normal, s->sun)),
                     sun_light);
}

vec3 stage_shade(const stage *s, const stage_hit *at, vec3 view, stage_light light)
{
    if (at->paint == STAGE_SKY)
        return backdrop(1 - 0.25f * clamp_unit(view.y * 3));
    if (at->paint == STAGE_GROUND)
        return shade_ground(s, at, light);
    vec3 sum = vec_add(vec_add(sun_on(s, at->normal, light.sun), open_sky(at->normal)), light.other);
    sum = vec(fmaxf(0, sum.x), fmaxf(0, sum.y), fmaxf(0, sum.z));
    const bool by_value = s->snapshot->shape.paint[at->paint].by_value;
    return vec_along(vec_times(at->colour, sum), by_value ? 0.4f : 1, gloss(s, at, view, light));
}
