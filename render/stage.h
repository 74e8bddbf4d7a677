/* SPDX-License-Identifier: MIT
 *
 * stage.h: a snapshot with its tree, the ground, the sun and the sky: what a ray hits, and how much light is there.
 *
 * Light is irradiance over pi: a white surface under light 1 sends radiance 1 to the eye, which is shown as white.
 */
#ifndef SINEW_RENDER_STAGE_H
#define SINEW_RENDER_STAGE_H

#include "sample.h"
#include "shape.h"

#define STAGE_RAMP 512

typedef struct stage {
    const sinew_snapshot *snapshot;
    sinew_tree *tree;   /* NULL: there are no triangles */
    sinew_real *points; /* [3 * vertex_count] m, from the origin */
    float box[6];       /* m, around the triangles, a little larger: rays that miss it need not ask the tree */
    double origin[3];   /* m: middle of the survey, from which everything inside is counted */
    float size;         /* m: diagonal of the survey's bounds */
    float nudge;        /* m: how far rays begin from the surface that they leave */
    bool ground;
    float ground_height;       /* m, from the origin */
    float low, scale;          /* of values: t = (value - low) * scale */
    vec3 ramp[STAGE_RAMP + 1]; /* colours of values at equal distances */
    vec3 sun;                  /* direction towards it */
    vec3 sun_across[2];        /* directions across its disc, as long as the tangent of its radius */
} stage;

/* The place where a ray ends: a triangle, the ground or the sky. */
typedef struct stage_hit {
    int32_t paint; /* of the triangle; STAGE_GROUND, STAGE_SKY */
    int32_t cell;  /* the triangle */
    float u, v;    /* place in it */
    float t;
    vec3 point;
    vec3 leave;  /* on the smooth surface that the triangle stands for: rays begin here */
    vec3 face;   /* unit normals, towards the side that is seen */
    vec3 normal; /* smooth */
    vec3 colour; /* linear */
} stage_hit;

enum {
    STAGE_SKY = -2,
    STAGE_GROUND = -1
};

/* Light at a place: how much of the sun is seen, and what else differs from the open sky. */
typedef struct stage_light {
    float sun;  /* 0 .. 1 */
    vec3 other; /* light of the sky that is hidden (negative) and light from surfaces (positive) */
} stage_light;

/* Purposes of random numbers: each has a sequence of its own. */
enum {
    SAMPLE_PLACE, /* within the pixel */
    SAMPLE_SUN,
    SAMPLE_SKY,
    SAMPLE_SUN_AGAIN, /* from the surface that is seen */
    SAMPLE_SKY_AGAIN,
    SAMPLE_PURPOSES
};

typedef struct stage_sample {
    uint32_t index;                   /* of the point in its sequence */
    const sample_sequence *sequences; /* [SAMPLE_PURPOSES] */
} stage_sample;

void stage_sequences(uint32_t seed, sample_sequence sequences[SAMPLE_PURPOSES]);

sinew_status stage_make(const sinew_picture_def *def, const sinew_survey *survey, const sinew_snapshot *snapshot,
                        stage *s, sinew_error *error);
void stage_free(stage *s);

/* Whether a ray comes near the triangles. */
bool stage_may_hit(const stage *s, vec3 origin, vec3 direction);
void stage_trace(const stage *s, vec3 origin, vec3 direction, stage_hit *hit);
/* The hit moved along its surface by `shift`, as far as the triangle goes: beyond it the surface may rise. */
stage_hit stage_moved(const stage *s, const stage_hit *at, vec3 shift);
/* One sample of the light on a surface. */
stage_light stage_sample_light(const stage *s, const stage_hit *at, stage_sample sample);
/* Radiance towards the eye, `view` being the unit direction from it, of a surface under that light; of the sky. */
vec3 stage_shade(const stage *s, const stage_hit *at, vec3 view, stage_light light);

#endif
