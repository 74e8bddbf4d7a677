/* SPDX-License-Identifier: MIT
 *
 * colliders.h: the shapes of colliders as vertices, triangles and lone edges in their own frame, and where they are.
 */
#ifndef SINEW_SRC_COLLIDE_SHAPES_COLLIDERS_H
#define SINEW_SRC_COLLIDE_SHAPES_COLLIDERS_H

#include "base/base.h"
#include "sinew/contact.h"

typedef struct sinew_collider_record {
    bool there; /* false: removed */
    uint32_t generation;
    char *name; /* NULL: none */
    sinew_shape_kind kind;
    sinew_real thickness, friction, restitution; /* NaN: the world's */
    uint32_t group, mask;
    double core; /* m: radius of spheres and capsules, whose vertices are centres */
    bool closed; /* has an inside */
    int32_t vertex_count, triangle_count, edge_count; /* planes have none */
    sinew_real *vertices;                             /* [3 * vertex_count] m, own frame */
    int32_t *triangles;                               /* [3 * triangle_count] outward */
    int32_t *edges;                                   /* [2 * edge_count] that belong to no triangle */
    sinew_real position[3], rotation[3];
    int32_t key_count;
    sinew_key *keys; /* [key_count] */
    sinew_real pivot[3];
    int32_t frame_count;
    sinew_real frame_time;
    sinew_real *frames; /* [frame_count][3 * vertex_count] */
    uint32_t digest;    /* of all that does not change while stepping, for states */
    /* While stepping. */
    double behind;              /* s: the guard has held it back, it is where its motion was so long ago */
    bool posed;                 /* sinew_collider_set_pose() has taken the place of its motion ... */
    sinew_real pose[2][6];      /* ... position and rotation where the next step begins and where it ends */
    double force[3], torque[3]; /* N, N m in the last step */
} sinew_collider_record;

/* Checks the def and makes the record's geometry. Nothing is held on failure. Where a mesh is open, or closed and
 * crossing itself, the error says so with status SINEW_OK. */
sinew_status sinew_shape_create(sinew_collider_record *record, const sinew_allocator *allocator,
                                const sinew_collider_def *def, sinew_error *error);
void sinew_shape_destroy(sinew_collider_record *record, const sinew_allocator *allocator);
/* Where its own frame is at a time, x = R X + p; with `posed`, part 0 .. 1 of the way between the two poses. */
void sinew_shape_frame(const sinew_collider_record *record, double time, double part, double R[9], double p[3]);
/* x [vertex_count][4] = where its vertices are, likewise. */
void sinew_shape_place(const sinew_collider_record *record, double time, double part, sinew_real *x);
void sinew_shape_place_packed(const sinew_collider_record *record, double time, double part,
                              sinew_real *x); /* [..][3] */
/* A step of h s is over, in which it came that part of its way. */
void sinew_shape_settle(sinew_collider_record *record, double h, double part);
/* A plane's point and outward normal, likewise. */
void sinew_shape_plane(const sinew_collider_record *record, double time, double part, double point[3],
                       double normal[3]);
/* Refuses thickness, friction and restitution out of range, naming `owner`; NaN, the world's, is fine. */
sinew_status sinew_touch_numbers_check(const char *owner, sinew_real thickness, sinew_real friction,
                                       sinew_real restitution, sinew_error *error);

/* Its surface for drawing, where it is at a time: triangles as they are, spheres and capsules rounded, planes as
 * squares of `extent` m around their point. First the counts, then positions [3 * vertex_count], triangles [3 * count].
 */
void sinew_shape_drawing_counts(const sinew_collider_record *record, int32_t *vertex_count, int32_t *triangle_count);
void sinew_shape_draw_points(const sinew_collider_record *record, double time, double extent, sinew_real *positions);
void sinew_shape_draw_triangles(const sinew_collider_record *record, int32_t *triangles);

#endif
