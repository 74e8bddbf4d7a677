/* SPDX-License-Identifier: MIT
 *
 * stage.h: a snapshot with its BVH, the ground, the sun and the sky; intersection of rays, and light at the hits.
 *
 * Light is irradiance over pi: a white surface under light 1 has radiance 1, and the picture shows it as white.
 */
#ifndef SINEW_RENDER_STAGE_H
#define SINEW_RENDER_STAGE_H

#include "sample.h"
#include "shape.h"

#define STAGE_RAMP 512

typedef struct stage {
    const sinew_snapshot *snapshot;
    sinew_tree *tree;   /* BVH of the snapshot's triangles; NULL: there are none */
    sinew_real *points; /* [3 * vertex_count] coordinates of the vertices in m, relative to `origin` */
    /* Bounding box of the triangles in m, slightly enlarged: rays that miss the box skip the BVH. */
    float box[6];
    double origin[3]; /* centre of the survey's bounds in m; coordinates of the stage are relative to it */
    float size;       /* diagonal of the survey's bounds, in m */
    float nudge;      /* offset of a secondary ray's start from its surface, in m */
    bool ground;
    float ground_height;       /* height of the ground in m, relative to `origin` */
    float low, scale;          /* offset and factor that map values to the colour map: t = (value - low) * scale */
    vec3 ramp[STAGE_RAMP + 1]; /* equidistant colours of the colour map */
    vec3 sun;                  /* unit vector towards the sun */
    vec3 sun_across[2];        /* directions across the sun's disc; their length is the tangent of its radius */
} stage;

/* The end of a ray: a triangle, the ground or the sky. */
typedef struct stage_hit {
    int32_t paint; /* index of the triangle's paint, or STAGE_GROUND, STAGE_SKY */
    int32_t cell;  /* index of the triangle that the ray hit */
    float u, v;    /* barycentric coordinates of the hit in its triangle */
    float t;       /* the hit is at origin + t direction of its ray; sky: infinite */
    vec3 point;    /* hit point in m, relative to the stage's origin; sky: the direction */
    vec3 leave;    /* point on the smooth surface, where secondary rays start */
    vec3 face;     /* unit normal of the triangle, towards the visible side */
    vec3 normal;   /* interpolated unit normal, towards the visible side */
    vec3 colour;   /* linear RGB colour of the surface at the hit */
} stage_hit;

enum {
    STAGE_SKY = -2,
    STAGE_GROUND = -1
};

/* Light at a surface point: the visible fraction of the sun, and the difference from the light of the open sky. */
typedef struct stage_light {
    float sun;  /* visible fraction of the sun's disc, 0 .. 1 */
    vec3 other; /* occluded light of the sky (negative) plus light from surfaces (positive) */
} stage_light;

/* Purposes of random numbers; each purpose has its own sequence. */
enum {
    SAMPLE_PIXEL, /* sequence of random positions within the pixel */
    SAMPLE_SUN,
    SAMPLE_SKY,
    /* Sequence of random directions to the sun at the surface that a bounced ray hits; the next: to the sky there. */
    SAMPLE_SUN_AGAIN,
    SAMPLE_SKY_AGAIN,
    SAMPLE_PURPOSES
};

typedef struct stage_sample {
    uint32_t index;                   /* index of the random point in its sequence */
    const sample_sequence *sequences; /* [SAMPLE_PURPOSES] random sequence of each purpose */
} stage_sample;

void stage_sequences(uint32_t seed, sample_sequence sequences[SAMPLE_PURPOSES]);

sinew_status stage_make(const sinew_picture_def *def, const sinew_survey *survey, const sinew_snapshot *snapshot,
                        stage *s, sinew_error *error);
void stage_free(stage *s);

/* True if a ray passes the bounding box of the triangles. */
bool stage_may_hit(const stage *s, vec3 origin, vec3 direction);
void stage_trace(const stage *s, vec3 origin, vec3 direction, stage_hit *hit);
/* Moves a ray's hit along its surface by `shift`, but not out of its triangle, because the surface may rise there. */
stage_hit stage_moved(const stage *s, const stage_hit *at, vec3 shift);
/* Takes one sample of the light on a surface. */
stage_light stage_sample_light(const stage *s, const stage_hit *at, stage_sample sample);
/* Radiance towards the eye of a surface under that light, and of the sky. `view` is the unit direction from the eye. */
vec3 stage_shade(const stage *s, const stage_hit *at, vec3 view, stage_light light);

#endif
