/* SPDX-License-Identifier: MIT
 *
 * contact.h: contact of bodies with each other, with themselves, and with kinematic colliders.
 *
 * Contact is off until sinew_world_set_contact(). Then surfaces keep a distance of half the sum of their thicknesses,
 * with Coulomb friction, in every solver that supports contact. By default, surfaces that do not intersect at the start
 * do not intersect later (docs/guides/contact.md states this guarantee and its limits). *Distance* is measured between
 * two surfaces; *clearance* is distance less half of both thicknesses, negative if the surfaces are too near.
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
 * Does not: untangle all surfaces that overlap at the start (each step counts what is left), or model heat, wear and
 * adhesion.
 */
#ifndef SINEW_CONTACT_H
#define SINEW_CONTACT_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Contact settings of a world and of bodies ------------------------------------------------ */

typedef enum sinew_contact_mode {
    SINEW_CONTACT_AUGMENTED = 0, /* contact mode: augmented Lagrangian; no stiffness to choose, static friction */
    /* Contact mode: weak constraints of a given stiffness, PBNG (18), (19); friction by penalty_tangent. */
    SINEW_CONTACT_PENALTY,
    /* Contact mode of PBNG 7.2: vertices inside a collider are projected onto the surface of the collider. */
    SINEW_CONTACT_PROJECTION,
    /* Contact mode of PD, section 6: unilateral planes; friction and restitution change velocities. */
    SINEW_CONTACT_HALF_SPACE,
    SINEW_CONTACT_MODE_COUNT
} sinew_contact_mode;

/* Name of a contact mode in scene files, e.g. "augmented"; NULL: the value is out of range. */
SINEW_API const char *sinew_contact_mode_name(sinew_contact_mode mode);

/* Contact settings of a world: defaults for all bodies and colliders, each of which may override them. */
typedef struct sinew_contact_def {
    uint32_t cookie;
    bool on; /* default true; false: contact is off, as before the first call of sinew_world_set_contact() */
    sinew_contact_mode mode;
    bool self; /* true (default): bodies collide with themselves */
    /* True (default): the step filter prevents new intersections, at any number of iterations; the modes penalty and
     * projection do not support it. */
    bool intersection_free;
    /* True (default): surfaces that overlap when a step begins are moved apart, without a change of velocities. Needs
     * intersection_free. False: overlaps are accepted and counted. */
    bool untangle;
    /* Thickness of a surface in m, >= 0; a pair of surfaces keeps half the sum of both thicknesses as distance. Default
     * 1e-3. */
    sinew_real thickness;
    /* Coefficient of Coulomb friction mu, 0 .. 10; a pair of surfaces has sqrt(mu_1 mu_2). Default 0.3. */
    sinew_real friction;
    /* Coefficient of restitution, 0 .. 1: separation speed over approach speed, of solids as a whole, of cloth, ropes
     * and particles by contact (docs/guides/contact.md, Restitution). A pair has the larger value. Default 0. */
    sinew_real restitution;
    /* Stiffness of contacts in the mode AUGMENTED, > 0: relative to the stiffness of the bodies at the contact, 0.1 ..
     * 1e4, default 10. A larger value needs fewer multiplier updates, but makes the systems between them stiffer. */
    sinew_real stiffness;
    sinew_real penalty;         /* normal stiffness k_n of the modes PENALTY and HALF_SPACE in N/m, > 0. Default 1e8 */
    sinew_real penalty_tangent; /* tangential stiffness k_t of the mode PENALTY in N/m, >= 0. Default 0 */
    /* Number of iterations between two multiplier updates, >= 0; 0 (default): the library's value for the solver. */
    int32_t multiplier_interval;
    int32_t max_detections; /* maximum number of detection passes per step, 1 .. 1000. Default 10 */
    /* Maximum number of candidate pairs, >= 0; more pairs set SINEW_STEP_CONTACT_FULL. Default 0: no maximum. */
    int64_t pair_limit;
} sinew_contact_def;

SINEW_API sinew_contact_def sinew_default_contact_def(void);
SINEW_API sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def, sinew_error *error);
/* Returns the contact settings; `on` is false if they were never set. */
SINEW_API sinew_contact_def sinew_world_contact(const sinew_world *world);

/* Kinds of surface with which a body collides. */
typedef enum sinew_contact_surface {
    SINEW_CONTACT_CAGE = 0, /* the body's own surface: triangles, boundary of tets, edges of ropes */
    /* The body's embedded surface (skin): collides with colliders only, without the intersection-free guarantee. */
    SINEW_CONTACT_SKIN,
    SINEW_CONTACT_NONE /* the body does not collide */
} sinew_contact_surface;

/* Contact settings of one body. NaN: the value of the world applies. */
typedef struct sinew_body_contact {
    uint32_t cookie;
    sinew_contact_surface surface;
    /* Thickness (m), friction and restitution of the body, as in sinew_contact_def; default NaN: the world's values. */
    sinew_real thickness, friction, restitution;
    bool self; /* true (default): the body collides with itself, if self-collision is on in the world */
    uint32_t group,
        mask; /* two objects collide if the group of each shares a bit with the other's mask. Default 1 and all bits */
} sinew_body_contact;

SINEW_API sinew_body_contact sinew_default_body_contact(void);
SINEW_API sinew_status sinew_body_set_contact(sinew_world *world, sinew_body body, const sinew_body_contact *contact,
                                              sinew_error *error);
SINEW_API sinew_body_contact sinew_body_get_contact(const sinew_world *world, sinew_body body);

typedef struct sinew_contact_object {
    sinew_body body;         /* id of the body; index -1: the object is a collider */
    sinew_collider collider; /* id of the collider; index -1: the object is a body */
} sinew_contact_object;
/* Callback that returns whether two objects may collide. Called from one thread for both orders of each pair that
 * groups and masks allow, at the start of the first step and of each step after a change of bodies, colliders or
 * contact settings (this filter included), and not in between: set the filter again if its results change. */
typedef bool sinew_contact_filter(void *context, const sinew_contact_object *a, const sinew_contact_object *b);
/* Sets the callback that filters pairs of objects; NULL: groups and masks alone decide. The world keeps both pointers;
 * states do not contain them. */
SINEW_API void sinew_world_set_contact_filter(sinew_world *world, sinew_contact_filter *filter, void *context);

/* ---- Kinematic colliders --------------------------------------------------------------------- */

typedef enum sinew_shape_kind {
    SINEW_SHAPE_PLANE = 0, /* plane: the half-space y <= 0 is solid */
    /* Box with side lengths `size` around the origin; hollow: walls only, which collide on both sides. */
    SINEW_SHAPE_BOX,
    SINEW_SHAPE_SPHERE,  /* sphere: a ball of `radius` around the origin */
    SINEW_SHAPE_CAPSULE, /* capsule along y: `radius`, size[1] long between the centres of its ends */
    /* Cylinder along y: `radius`, size[1] long; a prism of `segments` sides outside the circle. */
    SINEW_SHAPE_CYLINDER,
    /* Height field over size[0] x size[2] around the origin; its triangles collide on both sides. */
    SINEW_SHAPE_HEIGHT_FIELD,
    SINEW_SHAPE_MESH, /* triangle mesh; a closed mesh is solid inside, an open mesh collides on both sides */
    SINEW_SHAPE_COUNT
} sinew_shape_kind;

/* Name of a shape, e.g. "height_field"; NULL: the value is out of range. */
SINEW_API const char *sinew_shape_name(sinew_shape_kind kind);
/* Kind of a named shape; SINEW_SHAPE_COUNT: unknown name. */
SINEW_API sinew_shape_kind sinew_shape_by_name(const char *name);

/* A kinematic obstacle. Position and rotation place the frame of the shape; `motion` or sinew_collider_set_pose() moves
 * the frame; a cache may move the vertices of a mesh instead. */
typedef struct sinew_collider_def {
    uint32_t cookie;
    sinew_shape_kind kind;
    sinew_real size[3];         /* full side lengths of the shape in m, > 0. Default 1 1 1 */
    sinew_real radius;          /* radius of a sphere, capsule or cylinder in m, > 0. Default 0.5 */
    bool hollow;                /* BOX: true for walls only, without a solid inside */
    int32_t segments;           /* CYLINDER: number of sides of the prism, 3 .. 4096. Default 64 */
    int32_t columns, rows;      /* HEIGHT_FIELD: number of samples along x and along z, >= 2 */
    const sinew_real *heights;  /* HEIGHT_FIELD: [rows * columns] heights in m, x fastest; copied */
    const sinew_mesh *mesh;     /* MESH: triangles, or boundary of the tets, of this mesh; copied */
    sinew_real position[3];     /* position of the shape's frame, in m. Default 0 0 0 */
    sinew_real rotation[3];     /* rotation vector of the shape's frame, in rad. Default 0 0 0 */
    const sinew_motion *motion; /* motion of the frame; NULL: static. Keys are copied */
    int32_t frame_count;        /* MESH: number of frames of a vertex cache in place of a motion, >= 2; 0: none */
    /* MESH: [frame_count][3 * vertices of the mesh] vertex cache: positions in m, in the mesh's frame; copied. */
    const sinew_real *frames;
    /* Time between frames of the vertex cache in s, > 0; linear interpolation; constant after the last frame. */
    sinew_real frame_time;
    /* Contact settings of the collider, as in sinew_contact_def; NaN: the world's values. */
    sinew_real thickness, friction, restitution;
    uint32_t group, mask; /* collision group and mask, as in sinew_body_contact */
    const char *name;     /* name of the collider, copied; NULL: none */
} sinew_collider_def;

SINEW_API sinew_collider_def sinew_default_collider_def(sinew_shape_kind kind);
/* Adds a collider and returns its id; index -1 on failure. For a mesh that is open, or intersects itself, the error
 * holds a warning. */
SINEW_API sinew_collider sinew_world_add_collider(sinew_world *world, const sinew_collider_def *def,
                                                  sinew_error *error);
/* Removes a collider. Fails if pins or targets follow it (sinew_follow). */
SINEW_API sinew_status sinew_world_remove_collider(sinew_world *world, sinew_collider collider, sinew_error *error);
SINEW_API int32_t
sinew_world_collider_count(const sinew_world *world); /* number of collider slots, including removed colliders */
/* Collider in a slot; index -1: it was removed. */
SINEW_API sinew_collider sinew_world_collider_at(const sinew_world *world, int32_t index);
/* Sets the pose of a collider at the end of the next step and from then on, for programs that move colliders, such as
 * rigid-body engines. Replaces the motion of the collider. */
SINEW_API sinew_status sinew_collider_set_pose(sinew_world *world, sinew_collider collider,
                                               const sinew_real position[3], const sinew_real rotation[3],
                                               sinew_error *error);
/* The current surface of a collider, for drawing: returns the counts if the arrays are NULL; positions [3 *
 * vertex_count], triangles [3 * triangle_count]. Planes are drawn as a square of `extent` m. */
SINEW_API sinew_status sinew_collider_surface(const sinew_world *world, sinew_collider collider, sinew_real extent,
                                              int32_t *vertex_count, sinew_real *positions, int32_t *triangle_count,
                                              int32_t *triangles, sinew_error *error);
/* Like sinew_collider_surface(), at another time, for playback of caches; a collider with a set pose keeps its current
 * pose. */
SINEW_API sinew_status sinew_collider_surface_at(const sinew_world *world, sinew_collider collider, double time,
                                                 sinew_real extent, int32_t *vertex_count, sinew_real *positions,
                                                 int32_t *triangle_count, int32_t *triangles, sinew_error *error);
/* The kind of a collider (SINEW_SHAPE_COUNT for an unknown id), its name ("": none), and whether it encloses a volume:
 * open meshes, height fields and hollow boxes do not. */
SINEW_API sinew_shape_kind sinew_collider_kind(const sinew_world *world, sinew_collider collider);
SINEW_API const char *sinew_collider_name(const sinew_world *world, sinew_collider collider);
SINEW_API bool sinew_collider_closed(const sinew_world *world, sinew_collider collider);
/* Number of vertices of the mesh from which the collider was made, by which sinew_follow numbers them; 0 for other
 * shapes. */
SINEW_API int32_t sinew_collider_vertex_count(const sinew_world *world, sinew_collider collider);
/* Force (N) and torque (N m, about its current position) of all contacts on a collider in the last step. */
SINEW_API sinew_status sinew_collider_force(const sinew_world *world, sinew_collider collider, double force[3],
                                            double torque[3], sinew_error *error);

/* ---- Contact results of the last step --------------------------------------------------------- */

/* The contact report of a step. A step is solved if all its errors are small; status bits name the large errors. */
typedef struct sinew_contact_report {
    int32_t contacts; /* number of active contacts (contacts with a force) */
    /* Number of contacts that became active in the step; number of contacts that became inactive. */
    int32_t began, ended;
    int64_t pairs;       /* number of candidate pairs in the largest detection pass */
    int64_t dropped;     /* number of candidate pairs beyond pair_limit, which were dropped */
    int32_t detections;  /* number of detection passes in the step */
    int32_t updates;     /* number of multiplier updates in the step */
    double stationarity; /* residual of the step in N: norm of the objective's gradient, including contact forces */
    /* Largest violation of the thickness (negative clearance) in m; NaN with SINEW_MEASURE_NOTHING. */
    double violation;
    /* Number of contacts with a force that have yielded because there is no space for their offset (half the sum of
     * both thicknesses); largest difference between the offset of a yielded contact and the distance that it keeps, in
     * m. `violation` does not contain it. */
    int32_t yielded;
    double yield_depth;
    double complementarity; /* sum of force times |clearance| of active contacts, in J */
    double cone_violation;  /* largest violation of the friction cone, |friction| - mu normal force, in N */
    /* Largest difference in N between mu times the current normal force and mu times the lagged one that friction
     * used. */
    double friction_lag;
    int32_t filtered_vertices; /* number of vertices that the step filter truncated at the end of the step */
    double filtered_residual;  /* residual in N of the truncated vertices: the force that the step filter bears */
    int32_t intersections;     /* number of intersecting pairs of triangles; -1 with SINEW_MEASURE_NOTHING */
    /* Number of intersecting pairs at the start of the step, which the step filter ignores; -1: unknown. */
    int32_t intersections_before;
    /* Number of pairs of objects that overlap in the step (an object that intersects itself counts as one pair), after
     * this step's untangling; the largest displacement in m that one of them still needs. */
    int32_t overlaps;
    double overlap_depth;
    double motion_lag;       /* largest distance in m of pins and colliders from their prescribed positions */
    double friction_heat;    /* heat of friction in the step, friction force times slip, in J */
    double restitution_work; /* energy in J that restitution added in the step, in the frame of moving colliders */
    /* [3] change of angular momentum in N m s that contact forces cause because their two points are apart. */
    double angular_momentum_error[3];
    double detection_seconds; /* wall-clock time of the detection passes of the step, in s */
    /* Wall-clock time in s to update the solver for new contacts: colours, layouts, factors. */
    double solver_update_seconds;
} sinew_contact_report;

/* Returns the contact report of the last step. SINEW_ERROR_UNSUPPORTED: contact is off; SINEW_ERROR_DATA: no step was
 * taken. */
SINEW_API sinew_status sinew_world_contact_report(const sinew_world *world, sinew_contact_report *report,
                                                  sinew_error *error);

typedef enum sinew_contact_event {
    SINEW_CONTACT_STAYED = 0,
    SINEW_CONTACT_BEGAN,
    SINEW_CONTACT_ENDED /* contact event: the contact had a force in the last step and has none now */
} sinew_contact_event;

enum {
    SINEW_CONTACT_PARTICLES_MAX = 8 /* largest number of particles of a contact: four for each of two rigid bodies */
};

typedef struct sinew_contact {
    /* The two objects in contact: a is a body; b is a body, possibly the same, or a collider. */
    sinew_contact_object a, b;
    /* Particles of object a, then of b; -1: unused entry, or a vertex of a collider. The four particles of a rigid body
     * are listed together. */
    int32_t particles[SINEW_CONTACT_PARTICLES_MAX];
    /* Weights of the particles at the contact points, of a solid on its axis: the sum is 1 for a and -1 for b. Positive
     * for a and negative for b, except in rigid bodies, whose surface lies outside the tet of their particles. */
    sinew_real weights[SINEW_CONTACT_PARTICLES_MAX];
    sinew_real point[3];  /* contact point on object a, in m */
    sinew_real normal[3]; /* unit normal of the contact, from object b to object a */
    sinew_real clearance; /* clearance of the contact: distance less half of both thicknesses, in m */
    double force;         /* normal contact force on object a in N, >= 0 */
    double friction[3];   /* friction force of the contact on object a, in N */
    sinew_contact_event event;
} sinew_contact;

/* Lists active and ended contacts, sorted by kind (vertex-face, edge-edge, ...), then by both features. *count is their
 * number, also if `capacity` is too small (SINEW_ERROR_DATA). */
SINEW_API sinew_status sinew_world_contacts(const sinew_world *world, int32_t capacity, sinew_contact *contacts,
                                            int32_t *count, sinew_error *error);

/* ---- Queries of the current world ------------------------------------------------------------- */

typedef struct sinew_world_hit {
    sinew_contact_object object;
    int32_t particles[3]; /* particles of the triangle that was hit; -1 for colliders */
    sinew_real weights[3];
    sinew_real point[3];  /* point of the surface that was hit, in m */
    sinew_real normal[3]; /* unit normal of the surface, towards the origin of the ray or the query point */
    sinew_real t;         /* ray: the hit is at origin + t direction; nearest-point query: the distance in m */
} sinew_world_hit;

/* Finds the first triangle of a body or collider along a ray, t <= longest, or the nearest point within `limit` (m).
 * Spheres, capsules and planes are exact and have two sides; ropes have no triangles. False: no hit, or an error if a
 * number is not finite. Queries do not require contact to be on. */
SINEW_API bool sinew_world_ray(sinew_world *world, const sinew_real origin[3], const sinew_real direction[3],
                               sinew_real longest, sinew_world_hit *hit, sinew_error *error);
SINEW_API bool sinew_world_nearest(sinew_world *world, const sinew_real point[3], sinew_real limit,
                                   sinew_world_hit *hit, sinew_error *error);
/* Lists the bodies and colliders with a triangle whose bounds overlap the box, and planes whose solid side overlaps
 * the box. *count is the number of objects, also if `capacity` is too small (SINEW_ERROR_DATA). */
SINEW_API sinew_status sinew_world_overlaps(sinew_world *world, const sinew_real low[3], const sinew_real high[3],
                                            int32_t capacity, sinew_contact_object *objects, int32_t *count,
                                            sinew_error *error);

/* Two triangles (or an edge of a rope and a triangle) that intersect. */
typedef struct sinew_intersection {
    sinew_contact_object a, b;
    int32_t particles_a[3], particles_b[3]; /* particles of the vertices of the two triangles; -1 for colliders;
                                               rigid bodies: three of their four particles */
} sinew_intersection;
/* Lists the current intersections between surfaces that may collide, in an order that does not depend on the number of
 * threads. Intersections at the start are accepted, counted in every step, and listed here. *count is the number of
 * intersections, also if `capacity` is too small (SINEW_ERROR_DATA). SINEW_ERROR_UNSUPPORTED without contact. */
SINEW_API sinew_status sinew_world_intersections(sinew_world *world, int32_t capacity,
                                                 sinew_intersection *intersections, int32_t *count, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
