/* SPDX-License-Identifier: MIT
 *
 * colliders.h: the shapes of colliders as vertices, triangles and lone edges in their own frame, and their motion.
 */
#ifndef SINEW_SRC_COLLIDE_SHAPES_COLLIDERS_H
#define SINEW_SRC_COLLIDE_SHAPES_COLLIDERS_H

#include "base/base.h"
#include "sinew/contact.h"

typedef struct sinew_collider_record {
    bool there; /* true: the collider exists; false: it was removed */
    uint32_t generation;
    char *name; /* name of the collider; NULL: it has no name */
    sinew_shape_kind kind;
    sinew_real thickness, friction, restitution; /* contact settings of the collider; NaN: the world's value applies */
    uint32_t group, mask;
    double radius; /* solid radius of spheres and capsules, whose vertices are centres, in m */
    bool closed;   /* true: the shape encloses a volume, or is a half-space */
    /* Sizes of the geometry arrays of the collider; all 0 for planes. */
    int32_t vertex_count, triangle_count, edge_count;
    sinew_real *vertices; /* [3 * vertex_count] vertex positions in the frame of the collider, in m */
    int32_t *triangles;   /* [3 * triangle_count] vertices of each triangle, oriented outwards */
    int32_t *edges;       /* [2 * edge_count] vertices of the edges that belong to no triangle */
    /* Number of vertices of the mesh in the collider's definition; 0 for shapes other than meshes. */
    int32_t mesh_vertex_count;
    /* [vertex_count] vertex numbers in the definition's mesh, ascending; NULL for shapes other than meshes */
    int32_t *mesh_vertices;
    /* Frame of the shape before its motion: position in m; rotation vector in rad. */
    sinew_real position[3], rotation[3];
    int32_t key_count;
    sinew_key *keys;     /* [key_count] key frames of the collider's motion */
    sinew_real pivot[3]; /* pivot of the rotations of the key-framed motion, in m */
    int32_t frame_count;
    sinew_real frame_time; /* time between two frames of the vertex cache, in s */
    sinew_real *frames;    /* [frame_count][3 * vertex_count] vertex cache: positions of each frame, in m */
    uint32_t digest;       /* CRC-32 of geometry, placement, motion and contact settings, for states */
    /* The fields below are the collider's state, which steps change. */
    double behind; /* delay of the collider relative to its motion, caused by truncated steps, in s */
    bool posed;    /* true: sinew_collider_set_pose() has replaced the key-framed motion */
    /* Position (m) and rotation vector (rad) at the start [0] and at the end [1] of the next step. */
    sinew_real pose[2][6];
    /* Sum of contact forces (N) and of their torques (N m) on the collider in the last step. */
    double force[3], torque[3];
} sinew_collider_record;

/* Checks the definition of a collider and creates the geometry of its record. On failure everything is freed. For a
 * mesh that is open, or closed and self-intersecting, the error holds a warning with status SINEW_OK. */
sinew_status sinew_shape_create(sinew_collider_record *record, const sinew_allocator *allocator,
                                const sinew_collider_def *def, sinew_error *error);
void sinew_shape_destroy(sinew_collider_record *record, const sinew_allocator *allocator);
/* Computes the frame of a collider at a time, x = R X + p: rotation R and position p for points X of the collider;
 * if `posed`, at `fraction` 0 .. 1 between its two poses. */
void sinew_shape_frame(const sinew_collider_record *record, double time, double fraction, double R[9], double p[3]);
/* Computes x [vertex_count][4], m: vertices of a collider at a time, or at a fraction between its two poses. */
void sinew_shape_positions(const sinew_collider_record *record, double time, double fraction, sinew_real *x);
void sinew_shape_positions_packed(const sinew_collider_record *record, double time, double fraction,
                                  sinew_real *x); /* writes collider positions x [vertex_count][3], m */
/* Computes x [count][3], m: the given vertices of a collider at a time or fraction, in double precision. */
void sinew_shape_some_positions(const sinew_collider_record *record, double time, double fraction, int32_t count,
                                const int32_t *vertices, double (*x)[3]);
/* Ends a step of h s in which the collider took `fraction` of its motion: sets its delay and the first of its poses. */
void sinew_shape_end_step(sinew_collider_record *record, double h, double fraction);
/* Computes a point (m) and the outward unit normal of a plane collider, at a time or fraction. */
void sinew_shape_plane(const sinew_collider_record *record, double time, double fraction, double point[3],
                       double normal[3]);
/* Checks contact coefficients: fails for thickness, friction and restitution out of range; messages name `owner`. NaN
 * (the value of the world) is valid. */
sinew_status sinew_contact_coefficients_check(const char *owner, sinew_real thickness, sinew_real friction,
                                              sinew_real restitution, sinew_error *error);

/* The surface of a collider at a time, for drawing: triangles unchanged, spheres and capsules tessellated, planes as
 * squares of `extent` m around their point. sinew_shape_drawing_counts returns the counts, sinew_shape_draw_points
 * writes positions [3 * vertex_count] in m, sinew_shape_draw_triangles writes triangles [3 * triangle_count]. */
void sinew_shape_drawing_counts(const sinew_collider_record *record, int32_t *vertex_count, int32_t *triangle_count);
void sinew_shape_draw_points(const sinew_collider_record *record, double time, double extent, sinew_real *positions);
void sinew_shape_draw_triangles(const sinew_collider_record *record, int32_t *triangles);

#endif
