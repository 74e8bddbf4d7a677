/* SPDX-License-Identifier: MIT
 *
 * contact.h: contact of bodies with each other, with themselves, and with kinematic colliders.
 *
 * Contact is off until sinew_world_set_contact(). Then surfaces keep a distance of half the sum of their thicknesses,
 * with Coulomb friction, in every solver that supports contact. Surfaces that do not intersect at the start never
 * intersect (docs/guides/contact.md states the guarantee and its limits). *Distance* is measured between two
 * surfaces; *clearance* is distance less half of both thicknesses, negative if the surfaces are too near.
 *
 *     sinew_contact_def contact = sinew_default_contact_def();
 *     contact.thickness = 2e-3f;
 *     contact.friction = 0.5f;
 *     sinew_world_set_contact(world, &contact, &error);
 *
 *     sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
 *     sinew_world_add_collider(world, &floor, &error);
 *
 *     sinew_world_step(world, &result);
 *     sinew_contact_report report;
 *     sinew_world_contact_report(world, &report, &error);
 *
 * Does not: untangle surfaces that intersect at the start (each step counts the intersections), or model heat, wear
 * and adhesion.
 */
#ifndef SINEW_CONTACT_H
#define SINEW_CONTACT_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Settings ------------------------------------------------------------------------------- */

typedef enum sinew_contact_mode {
    SINEW_CONTACT_AUGMENTED = 0, /* augmented Lagrangian: no stiffness to choose, static friction */
    SINEW_CONTACT_PENALTY,    /* weak constraints of a given stiffness, PBNG (18), (19); friction by penalty_tangent */
    SINEW_CONTACT_PROJECTION, /* PBNG 7.2: vertices inside colliders are projected onto their surfaces */
    SINEW_CONTACT_HALF_SPACE, /* PD, section 6: unilateral planes; friction and restitution change velocities */
    SINEW_CONTACT_MODE_COUNT
} sinew_contact_mode;

/* The name of a mode in scene files, e.g. "augmented"; NULL: out of range. */
SINEW_API const char *sinew_contact_mode_name(sinew_contact_mode mode);

/* Contact settings of a world: defaults for all bodies and colliders, each of which may override them. */
typedef struct sinew_contact_def {
    uint32_t cookie;
    bool on; /* default true; false: no contact, as before the call */
    sinew_contact_mode mode;
    bool self;              /* true (default): bodies collide with themselves */
    bool intersection_free; /* default true: no new intersections, at any number of iterations; the modes penalty and
                               projection do not support it */
    sinew_real thickness;   /* thickness of a surface in m, >= 0; a pair keeps half the sum of both. Default 1e-3 */
    sinew_real friction;    /* mu, 0 .. 10. A pair has the square root of the product. Default 0.3 */
    sinew_real restitution; /* 0 .. 1: separation speed over approach speed. A pair has the larger value. Default 0 */
    sinew_real stiffness;   /* > 0; augmented: relative to the stiffness of the bodies at the contact, 0.1 .. 1e4,
                               default 10. A larger value needs fewer but harder multiplier updates */
    sinew_real penalty;     /* k_n of SINEW_CONTACT_PENALTY and HALF_SPACE in N/m, > 0. Default 1e8 */
    sinew_real penalty_tangent;  /* k_t of SINEW_CONTACT_PENALTY in N/m, >= 0. Default 0 */
    int32_t multiplier_interval; /* >= 0: iterations between two multiplier updates; 0 (default): depends on solver */
    int32_t max_detections;      /* 1 .. 1000: maximum of detection passes per step. Default 10 */
    int64_t pair_limit;          /* >= 0: maximum of candidate pairs; more set SINEW_STEP_CONTACT_FULL. Default 0:
                                    none */
} sinew_contact_def;

SINEW_API sinew_contact_def sinew_default_contact_def(void);
SINEW_API sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def, sinew_error *error);
SINEW_API sinew_contact_def sinew_world_contact(const sinew_world *world); /* settings; `on` is false if never set */

/* The collision surface of a body. */
typedef enum sinew_contact_surface {
    SINEW_CONTACT_CAGE = 0, /* the body's own surface: triangles, boundary of tets, edges of ropes */
    SINEW_CONTACT_SKIN,     /* the body's embedded surface: collides with colliders only, without the guarantee */
    SINEW_CONTACT_NONE      /* the body has no contact */
} sinew_contact_surface;

/* Contact settings of one body. NaN: the value of the world. */
typedef struct sinew_body_contact {
    uint32_t cookie;
    sinew_contact_surface surface;
    sinew_real thickness, friction, restitution; /* as in sinew_contact_def; default NaN */
    bool self;                                   /* self-collision, if it is on in the world. Default true */
    uint32_t group,
        mask; /* two objects collide if the group of each shares a bit with the other's mask. Default 1 and all bits */
} sinew_body_contact;

SINEW_API sinew_body_contact sinew_default_body_contact(void);
SINEW_API sinew_status sinew_body_set_contact(sinew_world *world, sinew_body body, const sinew_body_contact *contact,
                                              sinew_error *error);
SINEW_API sinew_body_contact sinew_body_get_contact(const sinew_world *world, sinew_body body);

typedef struct sinew_contact_object {
    sinew_body body;         /* index -1: the object is a collider */
    sinew_collider collider; /* index -1: the object is a body */
} sinew_contact_object;
/* Returns whether two objects may collide. Called from one thread for both orders of each pair that groups and masks
 * allow, at the start of the first step and of each step after a change of bodies, colliders or contact settings (this
 * filter included), and not in between: set the filter again if its results change. */
typedef bool sinew_contact_filter(void *context, const sinew_contact_object *a, const sinew_contact_object *b);
/* NULL: groups and masks alone decide. The world keeps both pointers; states do not contain them. */
SINEW_API void sinew_world_set_contact_filter(sinew_world *world, sinew_contact_filter *filter, void *context);

/* ---- Colliders ------------------------------------------------------------------------------ */

typedef enum sinew_shape_kind {
    SINEW_SHAPE_PLANE = 0,    /* the half-space y <= 0 is solid */
    SINEW_SHAPE_BOX,          /* size, around the origin; hollow: walls only, which collide on both sides */
    SINEW_SHAPE_SPHERE,       /* a ball of `radius` around the origin */
    SINEW_SHAPE_CAPSULE,      /* radius, size[1] long between the centres of the ends, along y */
    SINEW_SHAPE_CYLINDER,     /* radius, size[1] long, along y; a prism of `segments` sides outside the circle */
    SINEW_SHAPE_HEIGHT_FIELD, /* over size[0] x size[2] around the origin; its triangles collide on both sides */
    SINEW_SHAPE_MESH,         /* triangles; a closed mesh is solid inside, an open mesh collides on both sides */
    SINEW_SHAPE_COUNT
} sinew_shape_kind;

SINEW_API const char *sinew_shape_name(sinew_shape_kind kind);    /* e.g. "height_field"; NULL: out of range */
SINEW_API sinew_shape_kind sinew_shape_by_name(const char *name); /* SINEW_SHAPE_COUNT: unknown name */

/* A kinematic obstacle. Position and rotation place the frame of the shape; `motion` or sinew_collider_set_pose() moves
 * the frame; a cache may move the vertices of a mesh instead. */
typedef struct sinew_collider_def {
    uint32_t cookie;
    sinew_shape_kind kind;
    sinew_real size[3];         /* full side lengths in m, > 0. Default 1 1 1 */
    sinew_real radius;          /* radius of the shape in m, > 0. Default 0.5 */
    bool hollow;                /* true for a BOX of walls only */
    int32_t segments;           /* CYLINDER: sides of the prism, 3 .. 4096. Default 64 */
    int32_t columns, rows;      /* HEIGHT_FIELD: number of samples along x and along z, >= 2 */
    const sinew_real *heights;  /* HEIGHT_FIELD: [rows * columns] heights in m, x fastest; copied */
    const sinew_mesh *mesh;     /* MESH: triangles, or boundary of the tets, of this mesh; copied */
    sinew_real position[3];     /* position of the shape's frame, in m. Default 0 0 0 */
    sinew_real rotation[3];     /* rotation vector of the shape's frame, in rad. Default 0 0 0 */
    const sinew_motion *motion; /* motion of the frame; NULL: static. Keys are copied */
    int32_t frame_count;        /* MESH: >= 2 frames of a vertex cache in place of a motion; 0: none */
    const sinew_real *frames;   /* [frame_count][3 * vertices of the mesh] in m, in the mesh's frame; copied */
    sinew_real frame_time;      /* time between frames in s, > 0; linear interpolation; constant after the last */
    sinew_real thickness, friction, restitution; /* as in sinew_contact_def; NaN: the value of the world */
    uint32_t group, mask;                        /* collision group and mask, as in sinew_body_contact */
    const char *name;                            /* name of the collider, copied; NULL: none */
} sinew_collider_def;

SINEW_API sinew_collider_def sinew_default_collider_def(sinew_shape_kind kind);
/* Returns index -1 on failure. For a mesh that is open, or intersects itself, the error holds a warning. */
SINEW_API sinew_collider sinew_world_add_collider(sinew_world *world, const sinew_collider_def *def,
                                                  sinew_error *error);
/* Fails for a collider that pins or targets follow (sinew_follow). */
SINEW_API sinew_status sinew_world_remove_collider(sinew_world *world, sinew_collider collider, sinew_error *error);
SINEW_API int32_t
sinew_world_collider_count(const sinew_world *world); /* number of slots, including removed colliders */
SINEW_API sinew_collider sinew_world_collider_at(const sinew_world *world, int32_t index); /* index -1: removed */
/* Sets the pose of a collider at the end of the next step and from then on, for programs that move colliders, such as
 * rigid-body engines. Replaces the motion of the collider. */
SINEW_API sinew_status sinew_collider_set_pose(sinew_world *world, sinew_collider collider,
                                               const sinew_real position[3], const sinew_real rotation[3],
                                               sinew_error *error);
/* The current surface of a collider, for drawing: counts with NULL arrays; positions [3 * vertex_count], triangles
 * [3 * triangle_count]. Planes are drawn as a square of `extent` m. */
SINEW_API sinew_status sinew_collider_surface(const sinew_world *world, sinew_collider collider, sinew_real extent,
                                              int32_t *vertex_count, sinew_real *positions, int32_t *triangle_count,
                                              int32_t *triangles, sinew_error *error);
/* The surface of a collider at another time, for playback of caches; a collider with a set pose keeps its current
 * pose. */
SINEW_API sinew_status sinew_collider_surface_at(const sinew_world *world, sinew_collider collider, double time,
                                                 sinew_real extent, int32_t *vertex_count, sinew_real *positions,
                                                 int32_t *triangle_count, int32_t *triangles, sinew_error *error);
/* The kind of a collider (SINEW_SHAPE_COUNT for an unknown id), its name ("": none), and whether it encloses a volume:
 * open meshes, height fields and hollow boxes do not. */
SINEW_API sinew_shape_kind sinew_collider_kind(const sinew_world *world, sinew_collider collider);
SINEW_API const char *sinew_collider_name(const sinew_world *world, sinew_collider collider);
SINEW_API bool sinew_collider_closed(const sinew_world *world, sinew_collider collider);
/* Number of vertices of the mesh that the collider was made of, by which sinew_follow numbers them; 0 for other shapes. */
SINEW_API int32_t sinew_collider_vertex_count(const sinew_world *world, sinew_collider collider);
/* Force (N) and torque (N m, about its current position) of all contacts on a collider in the last step. */
SINEW_API sinew_status sinew_collider_force(const sinew_world *world, sinew_collider collider, double force[3],
                                            double torque[3], sinew_error *error);

/* ---- Results of the last step ---------------------------------------------------------------- */

/* The contact report of a step. A step is solved if all its errors are small; status bits name the large errors. */
typedef struct sinew_contact_report {
    int32_t contacts;                 /* number of active contacts (contacts with a force) */
    int32_t began, ended;             /* number of contacts that became active in the step, and inactive */
    int64_t pairs;                    /* number of candidate pairs in the largest detection pass */
    int64_t dropped;                  /* number of candidate pairs beyond pair_limit */
    int32_t detections;               /* number of detection passes */
    int32_t updates;                  /* number of multiplier updates */
    double stationarity;              /* residual of the step in N, including contact forces */
    double violation;                 /* largest negative clearance in m; NaN with SINEW_MEASURE_NOTHING */
    double complementarity;           /* sum of force times |clearance| of active contacts, in J */
    double cone_violation;            /* largest |friction| - mu normal force, in N */
    double friction_lag;              /* largest difference in N between mu N now and the lagged mu N of friction */
    int32_t filtered_vertices;        /* vertices that the step filter truncated at the end of the step */
    double filtered_residual;         /* residual in N of the truncated vertices, which the step filter hides */
    int32_t intersections;            /* number of intersecting pairs of triangles; -1 with SINEW_MEASURE_NOTHING */
    int32_t intersections_before;     /* pairs at the start of the step, which the filter ignores; -1: unknown */
    double motion_lag;                /* largest distance in m of pins and colliders from their prescribed positions */
    double friction_heat;             /* friction force times slip, in J */
    double restitution_work;          /* energy in J that restitution added, relative to a perfectly inelastic impact */
    double angular_momentum_error[3]; /* N m s: caused by contact forces whose two points are apart */
    double detection_seconds;         /* time in s of the detection passes */
    double solver_update_seconds;     /* s spent to update the solver for new contacts: colours, layouts, factors */
} sinew_contact_report;

/* SINEW_ERROR_UNSUPPORTED: contact is off; SINEW_ERROR_DATA: no step was taken. */
SINEW_API sinew_status sinew_world_contact_report(const sinew_world *world, sinew_contact_report *report,
                                                  sinew_error *error);

typedef enum sinew_contact_event {
    SINEW_CONTACT_STAYED = 0,
    SINEW_CONTACT_BEGAN,
    SINEW_CONTACT_ENDED /* the contact had a force in the last step and has none now */
} sinew_contact_event;

typedef struct sinew_contact {
    sinew_contact_object a, b; /* a is a body; b is a body, possibly the same, or a collider */
    int32_t particles[4];      /* particles of a, then of b; -1: unused entry, or a vertex of a collider */
    sinew_real weights[4];     /* weights of the particles: positive for a, negative for b */
    sinew_real point[3];       /* contact point on a, in m */
    sinew_real normal[3];      /* unit vector from b to a */
    sinew_real clearance;      /* clearance of the contact, in m */
    double force;              /* normal force on a in N, >= 0 */
    double friction[3];        /* friction force on a, in N */
    sinew_contact_event event;
} sinew_contact;

/* Lists active and ended contacts, sorted by kind (vertex-face, edge-edge, ...), then by both features. *count is their
 * number, also if `capacity` is too small (SINEW_ERROR_DATA). */
SINEW_API sinew_status sinew_world_contacts(const sinew_world *world, int32_t capacity, sinew_contact *contacts,
                                            int32_t *count, sinew_error *error);

/* ---- Queries of the current world ------------------------------------------------------------- */

typedef struct sinew_world_hit {
    sinew_contact_object object;
    int32_t particles[3]; /* vertices of the triangle that was hit; -1 for colliders */
    sinew_real weights[3];
    sinew_real point[3];  /* point that was hit, in m */
    sinew_real normal[3]; /* unit normal of the surface, towards the origin of the ray or the query point */
    sinew_real t;         /* ray: the hit is at origin + t direction; nearest point: distance (m) */
} sinew_world_hit;

/* Finds the first triangle of a body or collider along a ray, t <= longest, or the nearest point within `limit` (m).
 * Spheres, capsules and planes are exact and have two sides; ropes have no triangles. False: no hit, or an error if a
 * number is not finite. Queries do not require contact to be on. */
SINEW_API bool sinew_world_ray(sinew_world *world, const sinew_real origin[3], const sinew_real direction[3],
                               sinew_real longest, sinew_world_hit *hit, sinew_error *error);
SINEW_API bool sinew_world_nearest(sinew_world *world, const sinew_real point[3], sinew_real limit,
                                   sinew_world_hit *hit, sinew_error *error);
/* Bodies and colliders with a triangle whose bounds overlap the box, and planes whose solid side overlaps the box.
 * *count is their number, also if `capacity` is too small (SINEW_ERROR_DATA). */
SINEW_API sinew_status sinew_world_overlaps(sinew_world *world, const sinew_real low[3], const sinew_real high[3],
                                            int32_t capacity, sinew_contact_object *objects, int32_t *count,
                                            sinew_error *error);

/* Two triangles (or an edge of a rope and a triangle) that intersect. */
typedef struct sinew_intersection {
    sinew_contact_object a, b;
    int32_t particles_a[3], particles_b[3]; /* vertices of the two triangles; -1 for colliders */
} sinew_intersection;
/* Lists the current intersections between surfaces that may collide, in an order that does not depend on the number of
 * threads. Intersections at the start are accepted, counted in every step, and listed here. *count is their number,
 * also if `capacity` is too small (SINEW_ERROR_DATA). SINEW_ERROR_UNSUPPORTED without contact. */
SINEW_API sinew_status sinew_world_intersections(sinew_world *world, int32_t capacity,
                                                 sinew_intersection *intersections, int32_t *count, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
