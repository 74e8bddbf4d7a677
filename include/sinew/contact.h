/* SPDX-License-Identifier: MIT
 *
 * contact.h: bodies that touch: each other, themselves, and colliders that move as they are told.
 *
 * Contact is off until sinew_world_set_contact(). From then on surfaces keep apart by half the sum of their
 * thicknesses, with Coulomb friction, in every solver, and what was not crossed at the start is never crossed
 * (docs/contact.md says what is guaranteed and what is not). Words: *distance* is that between two surfaces,
 * *clearance* is distance less half of both thicknesses, negative where they are too near.
 *
 *     sinew_contact_def touch = sinew_default_contact_def();
 *     touch.thickness = 2e-3f;
 *     touch.friction = 0.5f;
 *     sinew_world_set_contact(world, &touch, &error);
 *
 *     sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
 *     sinew_world_add_collider(world, &floor, &error);
 *
 *     sinew_world_step(world, &result);
 *     sinew_contact_report report;
 *     sinew_world_contact_report(world, &report, &error);
 *
 * Does not: untangle surfaces that cross at the start (they are counted every step), heat, wear or glue.
 */
#ifndef SINEW_CONTACT_H
#define SINEW_CONTACT_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- How bodies touch ----------------------------------------------------------------------- */

typedef enum sinew_contact_mode {
    SINEW_CONTACT_AUGMENTED = 0, /* augmented Lagrangian: no stiffness to choose, friction sticks */
    SINEW_CONTACT_PENALTY,       /* weak constraints of a given stiffness, PBNG (18), (19); without friction */
    SINEW_CONTACT_PROJECTION,    /* PBNG 7.2: vertices inside colliders are put on their surfaces and slide there */
    SINEW_CONTACT_HALF_SPACE,    /* PD, section 6: unilateral planes; friction and restitution change velocities */
    SINEW_CONTACT_MODE_COUNT
} sinew_contact_mode;

/* The word of a mode in scene files, e.g. "augmented"; NULL out of range. */
SINEW_API const char *sinew_contact_mode_name(sinew_contact_mode mode);

/* Defaults for all bodies and colliders of a world; each may have its own. */
typedef struct sinew_contact_def {
    uint32_t cookie;
    bool on; /* true; false: nothing touches, as before the call */
    sinew_contact_mode mode;
    bool self;              /* bodies touch themselves, too. Default true */
    bool guard;             /* true, the default: nothing crosses, at any number of iterations; penalty and projection
                               have none */
    sinew_real thickness;   /* m, >= 0. Default 1e-3 */
    sinew_real friction;    /* mu, 0 .. 10. Of two that touch the root of the product. Default 0.3 */
    sinew_real restitution; /* 0 .. 1: speed of separation over speed of approach. Of two the larger. Default 0 */
    sinew_real stiffness;   /* > 0; augmented: in units of the stiffness of the bodies where they touch, default 10:
                               raising it needs fewer outer iterations, each harder; 0.1 .. 1e4 */
    sinew_real penalty;     /* N/m, > 0: k_n of SINEW_CONTACT_PENALTY and HALF_SPACE. Default 1e8 */
    sinew_real penalty_tangent; /* N/m, >= 0: k_t of SINEW_CONTACT_PENALTY. Default 0 */
    int32_t rounds;             /* >= 0: iterations between two updates of multipliers; 0, the default: as many as suit
                                   the solver */
    int32_t epochs;             /* 1 .. 1000: detections a step, at most. Default 10 */
    int64_t pair_limit; /* >= 0: pairs in reach that are kept, at most; reaching it sets SINEW_STEP_CONTACT_FULL. 0, the
                           default: as many as there are */
} sinew_contact_def;

SINEW_API sinew_contact_def sinew_default_contact_def(void);
SINEW_API sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def, sinew_error *error);
SINEW_API sinew_contact_def sinew_world_contact(const sinew_world *world); /* `on` is false before it was set */

/* The surface that a body touches others with. */
typedef enum sinew_contact_surface {
    SINEW_CONTACT_CAGE = 0, /* its own surface: triangles, boundary of tets, edges of ropes */
    SINEW_CONTACT_SKIN,     /* the surface that rides on it, against colliders only, without the guarantee */
    SINEW_CONTACT_NONE      /* touches nothing */
} sinew_contact_surface;

/* A body's own numbers. NaN: the world's. */
typedef struct sinew_body_contact {
    uint32_t cookie;
    sinew_contact_surface surface;
    sinew_real thickness, friction, restitution; /* as above; NaN */
    bool self;                                   /* touches itself, where the world's bodies do. Default true */
    uint32_t group, mask; /* two touch if each one's group has a bit of the other's mask. Default 1 and all */
} sinew_body_contact;

SINEW_API sinew_body_contact sinew_default_body_contact(void);
SINEW_API sinew_status sinew_body_set_contact(sinew_world *world, sinew_body body, const sinew_body_contact *contact,
                                              sinew_error *error);
SINEW_API sinew_body_contact sinew_body_get_contact(const sinew_world *world, sinew_body body);

/* Whether two objects may touch, asked once for each pair of bodies and colliders when a step begins, in no fixed order
 * and from one thread; a collider is named where the body's index is -1. */
typedef struct sinew_collider {
    int32_t index;
    uint32_t generation;
} sinew_collider;
typedef struct sinew_contact_party {
    sinew_body body;         /* index -1: it is a collider */
    sinew_collider collider; /* index -1: it is a body */
} sinew_contact_party;
typedef bool sinew_contact_filter(void *context, const sinew_contact_party *a, const sinew_contact_party *b);
/* NULL: groups and masks alone decide. The pointers are kept. Not a part of states. */
SINEW_API void sinew_world_set_contact_filter(sinew_world *world, sinew_contact_filter *filter, void *context);

/* ---- Colliders ------------------------------------------------------------------------------ */

typedef enum sinew_shape_kind {
    SINEW_SHAPE_PLANE = 0,    /* y <= 0 is solid, without end */
    SINEW_SHAPE_BOX,          /* size, around the origin; hollow: its walls, seen from inside and outside */
    SINEW_SHAPE_SPHERE,       /* radius */
    SINEW_SHAPE_CAPSULE,      /* radius, size[1] long between the centres of its ends, along y */
    SINEW_SHAPE_CYLINDER,     /* radius, size[1] long, along y; a prism of `segments` sides outside the circle */
    SINEW_SHAPE_HEIGHT_FIELD, /* over size[0] x size[2] around the origin; solid below */
    SINEW_SHAPE_MESH,         /* triangles; closed: solid inside; open: both sides */
    SINEW_SHAPE_COUNT
} sinew_shape_kind;

SINEW_API const char *sinew_shape_name(sinew_shape_kind kind);    /* "height_field"; NULL out of range */
SINEW_API sinew_shape_kind sinew_shape_by_name(const char *name); /* SINEW_SHAPE_COUNT when unknown */

/* Something that bodies cannot enter and that moves as it is told. Its own frame is placed by position and rotation,
 * then moved by `motion`, or by sinew_collider_set_pose(); vertices of a mesh are moved by a cache instead. */
typedef struct sinew_collider_def {
    uint32_t cookie;
    sinew_shape_kind kind;
    sinew_real size[3];         /* m, > 0: whole lengths. Default 1 1 1 */
    sinew_real radius;          /* m, > 0. Default 0.5 */
    bool hollow;                /* BOX */
    int32_t segments;           /* CYLINDER: 3 .. 4096. Default 64 */
    int32_t columns, rows;      /* HEIGHT_FIELD: >= 2 samples along x and z */
    const sinew_real *heights;  /* m [rows * columns], x fastest; copied */
    const sinew_mesh *mesh;     /* MESH: its triangles, or the boundary of its tets; copied */
    sinew_real position[3];     /* m. Default 0 0 0 */
    sinew_real rotation[3];     /* rad, rotation vector. Default 0 0 0 */
    const sinew_motion *motion; /* NULL: it stands still. Keys are copied */
    int32_t frame_count;        /* MESH: >= 2 frames of a vertex cache in place of a motion; 0: none */
    const sinew_real *frames;   /* m [frame_count][3 * vertices of the mesh] in the mesh's frame; copied */
    sinew_real frame_time;      /* s between frames, > 0; in between they are interpolated, after the last held */
    sinew_real thickness, friction, restitution; /* NaN: the world's */
    uint32_t group, mask;                        /* as of bodies */
    const char *name;                            /* copied; NULL: none */
} sinew_collider_def;

SINEW_API sinew_collider_def sinew_default_collider_def(sinew_shape_kind kind);
/* index -1 on failure. A mesh that is open, or crosses itself where that leaves its inside in doubt, is said so. */
SINEW_API sinew_collider sinew_world_add_collider(sinew_world *world, const sinew_collider_def *def,
                                                  sinew_error *error);
SINEW_API sinew_status sinew_world_remove_collider(sinew_world *world, sinew_collider collider, sinew_error *error);
SINEW_API int32_t sinew_world_collider_count(const sinew_world *world); /* places, those of removed ones included */
SINEW_API sinew_collider sinew_world_collider_at(const sinew_world *world, int32_t place); /* index -1: removed */
/* Where it is to be at the end of the next step, and from then on: for programs that move it, as rigid-body engines do.
 * Replaces its motion. */
SINEW_API sinew_status sinew_collider_set_pose(sinew_world *world, sinew_collider collider,
                                               const sinew_real position[3], const sinew_real rotation[3],
                                               sinew_error *error);
/* Its surface as it is now, for drawing: counts with NULL arrays; positions [3 * vertex_count], triangles
 * [3 * triangle_count]. Planes are drawn as a square of `extent` m. */
SINEW_API sinew_status sinew_collider_surface(const sinew_world *world, sinew_collider collider, sinew_real extent,
                                              int32_t *vertex_count, sinew_real *positions, int32_t *triangle_count,
                                              int32_t *triangles, sinew_error *error);
/* The same at another time, for those who play the caches of a run; one whose pose was set is where it is now. */
SINEW_API sinew_status sinew_collider_surface_at(const sinew_world *world, sinew_collider collider, double time,
                                                 sinew_real extent, int32_t *vertex_count, sinew_real *positions,
                                                 int32_t *triangle_count, int32_t *triangles, sinew_error *error);
/* A collider's kind (SINEW_SHAPE_COUNT for an id that names nothing), its name ("": none), and whether it has an
 * inside: open meshes, height fields and hollow boxes have none. */
SINEW_API sinew_shape_kind sinew_collider_kind(const sinew_world *world, sinew_collider collider);
SINEW_API const char *sinew_collider_name(const sinew_world *world, sinew_collider collider);
SINEW_API bool sinew_collider_closed(const sinew_world *world, sinew_collider collider);
/* Force (N) and torque (N m, about its position now) of all contacts on it in the last step. */
SINEW_API sinew_status sinew_collider_force(const sinew_world *world, sinew_collider collider, double force[3],
                                            double torque[3], sinew_error *error);

/* ---- What happened in the last step ---------------------------------------------------------- */

/* The error row of contact: a step is solved when all of it is small; bits of the step say what is not. */
typedef struct sinew_contact_report {
    int32_t contacts;         /* that bear a force */
    int32_t began, ended;     /* contacts that bear one and did not before the step; that did, and do not */
    int64_t pairs;            /* in reach of each other, the most in one epoch */
    int64_t dropped;          /* pairs over pair_limit */
    int32_t epochs;           /* detections of the step */
    int32_t updates;          /* of multipliers */
    double stationarity;      /* N: the residual, forces of contact included */
    double violation;         /* m: largest negative clearance; NaN with SINEW_MEASURE_NOTHING */
    double complementarity;   /* J: sum of force times |clearance| of contacts that bear a force */
    double cone;              /* N: largest |friction| - mu normal force */
    double lag;               /* N: largest change of mu times normal force since friction was last told of it */
    int32_t clamped;          /* vertices that the guard held back at the end */
    double hidden;            /* N: residual of these vertices, which the guard bears */
    int32_t crossings;        /* pairs of triangles that cross; -1 with SINEW_MEASURE_NOTHING: not known */
    int32_t crossings_before; /* when the step began: those have no guard; -1 likewise */
    double held_back;         /* m: how far pins and colliders are from where they should be */
    double friction_heat;     /* J */
    double restitution_work;  /* J: energy that restitution gave back, against coming to rest */
    double couple[3];         /* N m s: angular momentum from contact forces whose two ends are apart */
    double seconds;           /* of detection */
    double handover;          /* s: of contacts to the solver: colours, layers, factors */
} sinew_contact_report;

/* SINEW_ERROR_UNSUPPORTED without contact, SINEW_ERROR_DATA before the first step. */
SINEW_API sinew_status sinew_world_contact_report(const sinew_world *world, sinew_contact_report *report,
                                                  sinew_error *error);

typedef enum sinew_contact_event {
    SINEW_CONTACT_STAYED = 0,
    SINEW_CONTACT_BEGAN,
    SINEW_CONTACT_ENDED /* bears no force any more */
} sinew_contact_event;

typedef struct sinew_contact {
    sinew_contact_party a, b; /* a is a body; b the other, which may be the same */
    int32_t particles[4];     /* of a, then of b; -1: not used, or a collider's */
    sinew_real weights[4];    /* positive those of a, negative those of b */
    sinew_real point[3];      /* m: on a */
    sinew_real normal[3];     /* from b to a */
    sinew_real clearance;     /* m */
    double force;             /* N, >= 0, along the normal on a */
    double friction[3];       /* N, on a */
    sinew_contact_event event;
} sinew_contact;

/* Contacts that bear a force, and contacts that ended, sorted by their features; *count says how many there are, also
 * when `capacity` is too small (SINEW_ERROR_DATA). */
SINEW_API sinew_status sinew_world_contacts(const sinew_world *world, int32_t capacity, sinew_contact *contacts,
                                            int32_t *count, sinew_error *error);

/* ---- Questions about the world as it is now --------------------------------------------------- */

typedef struct sinew_world_hit {
    sinew_contact_party party;
    int32_t particles[3]; /* of the triangle; -1 for colliders */
    sinew_real weights[3];
    sinew_real point[3];  /* m */
    sinew_real normal[3]; /* unit, of the surface, to the side that the ray or the point comes from */
    sinew_real t;         /* along the ray, at origin + t direction, or the distance (m) */
} sinew_world_hit;

/* Whether there is one: the first triangle of a body or collider along a ray, t <= longest; the nearest place within
 * `limit` (m). Spheres, capsules and planes are met as they are, from both sides; ropes have no triangles. False with
 * an error where a number is not one. They do not need contact to be on. */
SINEW_API bool sinew_world_ray(sinew_world *world, const sinew_real origin[3], const sinew_real direction[3],
                               sinew_real longest, sinew_world_hit *hit, sinew_error *error);
SINEW_API bool sinew_world_nearest(sinew_world *world, const sinew_real point[3], sinew_real limit,
                                   sinew_world_hit *hit, sinew_error *error);
/* Bodies and colliders with a triangle whose box meets the box, and planes whose solid side does; *count as above. */
SINEW_API sinew_status sinew_world_overlaps(sinew_world *world, const sinew_real low[3], const sinew_real high[3],
                                            int32_t capacity, sinew_contact_party *parties, int32_t *count,
                                            sinew_error *error);

/* Two triangles (or an edge of a rope and a triangle) that cross. */
typedef struct sinew_crossing {
    sinew_contact_party a, b;
    int32_t particles_a[3], particles_b[3]; /* -1 for colliders */
} sinew_crossing;
/* Crossings that there are now among surfaces that may touch, in the order of features: what overlaps at the start is
 * accepted, counted in every step, and listed here. SINEW_ERROR_UNSUPPORTED without contact; *count as above. */
SINEW_API sinew_status sinew_world_crossings(sinew_world *world, int32_t capacity, sinew_crossing *crossings,
                                             int32_t *count, sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
