/* SPDX-License-Identifier: MIT
 *
 * sinew: simulation of deformable bodies. Solvers share one objective, and each step reports its error.
 *
 * A step of length h minimises
 *
 *     g(q) = 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j psi_j(q),    q_tilde = q_n + h v_n + h^2 M^-1 f_ext
 *
 * (implicit Euler; quasistatic: no first term, and -f_ext . q). One keyword chooses the solver. Steps report a residual
 * in newtons and, if it is measured, an optimality gap, called gap for short, in joules. No status bit means solved.
 *
 * Hello, world. A rubber bar, held at one end, falls under its own weight for one second:
 *
 *     #include <sinew/sinew.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sinew_error error;
 *         sinew_beam_def beam = sinew_default_beam_def();
 *         sinew_mesh *mesh = sinew_mesh_beam(&beam, &error);
 *
 *         sinew_world_def def = sinew_default_world_def();
 *         sinew_world *world = sinew_world_create(&def, &error);
 *
 *         sinew_body_def body_def = sinew_default_body_def();
 *         body_def.mesh = mesh;
 *         sinew_body body = sinew_world_add_body(world, &body_def, &error);
 *
 *         sinew_energy_def rubber = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
 *         rubber.body = body;
 *         sinew_world_add_energy(world, &rubber, &error);
 *
 *         int32_t held[25];
 *         sinew_region end = {SINEW_REGION_HALF_SPACE, {-1.5f, 0, 0}, {-1, 0, 0}, 0};
 *         sinew_pin_def pin = sinew_default_pin_def();
 *         pin.body = body;
 *         pin.vertices = held;
 *         pin.vertex_count = sinew_region_select(&end, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh),
 *                                                held, 25);
 *         sinew_world_add_pins(world, &pin, &error);
 *
 *         uint32_t bits = 0;
 *         sinew_step_result result;
 *         for (int i = 0; i < 60; i++)
 *             bits |= sinew_world_step(world, &result);
 *         printf("after %g s: residual %g N, relative %g\n", (double)sinew_world_time(world), result.residual,
 *                result.relative_residual);
 *
 *         sinew_world_destroy(world);
 *         sinew_mesh_destroy(mesh);
 *         return bits == 0 ? 0 : 1;
 *     }
 *
 * Does not: share state between worlds (threads may use different worlds; one world is used by one thread at a
 * time), print, or keep pointers to caller's arrays after a call returns (hooks, callbacks and registrations
 * excepted). Clocks affect reports, time budgets and the choice of the thread that works, not the results of a step
 * without a time budget.
 */
#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include "sinew/mesh.h"
#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The world -------------------------------------------------------------------------------- */

typedef struct sinew_world sinew_world;

/* Ids of objects in a world. index < 0: none. The slot (index) of a removed object is reused, lowest first, with the
 * next generation (the first is 0), so that ids of removed objects are rejected. */
typedef struct sinew_body {
    int32_t index;
    uint32_t generation;
} sinew_body;
typedef struct sinew_energy {
    int32_t index;
    uint32_t generation;
} sinew_energy;
typedef struct sinew_pin {
    int32_t index;
    uint32_t generation;
} sinew_pin;
typedef struct sinew_collider { /* id of a collider (sinew/contact.h) */
    int32_t index;              /* index of the collider's slot; < 0: none */
    uint32_t generation;
} sinew_collider;

typedef enum sinew_solver_kind {
    SINEW_SOLVER_NEWTON = 0,
    SINEW_SOLVER_PD,
    SINEW_SOLVER_QN,
    SINEW_SOLVER_ADMM,
    SINEW_SOLVER_XPBD,
    SINEW_SOLVER_PBD,
    SINEW_SOLVER_XPBD_QS,
    SINEW_SOLVER_PBNG,
    SINEW_SOLVER_MPBNG,
    SINEW_SOLVER_EXPLICIT_EULER,
    SINEW_SOLVER_SYMPLECTIC_EULER,
    SINEW_SOLVER_LINEAR_IMPLICIT,
    SINEW_SOLVER_SAP,
    SINEW_SOLVER_PRIMAL_DUAL,
    SINEW_SOLVER_KKT,
    SINEW_SOLVER_SCD,
    SINEW_SOLVER_DAE,
    SINEW_SOLVER_COUNT
} sinew_solver_kind;

#define SINEW_PARAMETER_MAX 16
#define SINEW_EXAMPLE_MAX   3

typedef enum sinew_record {
    SINEW_RECORD_NONE = 0,   /* no iteration is recorded */
    SINEW_RECORD_ITERATIONS, /* one full sinew_iteration record per iteration, at the cost of one evaluation each */
    SINEW_RECORD_STEP        /* one sinew_iteration record per step, at its end */
} sinew_record;

/* Measurements after the iterations of a step; docs/reference/solvers/index.md gives their cost. */
typedef enum sinew_measure {
    SINEW_MEASURE_NOTHING = 0, /* residual, objective and gap are unknown (NaN), unless the solver computed them;
                                  non-finite positions are still detected */
    SINEW_MEASURE_RESIDUAL,    /* objective and residual at the end of the step: one evaluation */
    SINEW_MEASURE_GAP,         /* also optimality gap and position error, in every gap_every-th step */
    /* Measures gap and position error in the first step, and again whenever a tenth of the solver's work since the last
     * measurement, counted in arithmetic and not in seconds, equals the work of the estimates. */
    SINEW_MEASURE_AUTO
} sinew_measure;

/* Solver settings. A step stops at the first of: iterations done, tolerance reached, time budget spent. */
typedef struct sinew_solver_def {
    uint32_t cookie;
    sinew_solver_kind kind;
    int32_t iterations;   /* maximum number of iterations per step, >= 0; more bring the step closer to the minimum */
    sinew_real tolerance; /* relative residual at which iterations stop, >= 0; 0: never. Default 1e-8 (single 1e-4).
                             The status of the step uses it only if it is not the default */
    /* Accuracy, 1e-15 to 1: a step is solved if no body's position error exceeds this fraction of the diagonal of the
     * body's bounding box at rest. Does not change the iterations. Default 1e-4. */
    sinew_real accuracy;
    /* Limit of wall-clock time per step in s, from sinew_world_step() to its return; 0: none. Further detection passes,
     * measurements and iterations that do not fit are left out (docs/reference/solvers/index.md, Time budget). A limit
     * makes results depend on the machine. */
    double time_budget;
    sinew_record record;
    sinew_measure measure; /* measurements at the end of a step; default SINEW_MEASURE_AUTO */
    /* Interval of gap measurements in steps, >= 1: with SINEW_MEASURE_GAP every gap_every-th step of the world computes
     * the gap, every step the residual. Default 1. */
    int32_t gap_every;
    /* Values of the solver's parameters, in the order of sinew_solver_info.parameters. */
    sinew_real parameters[SINEW_PARAMETER_MAX];
} sinew_solver_def;

SINEW_API sinew_solver_def sinew_default_solver_def(sinew_solver_kind kind);

typedef struct sinew_world_def {
    uint32_t cookie;
    sinew_allocator allocator;
    sinew_real time_step;  /* time step h of the world in s, > 0. Default 1/60 */
    bool quasistatic;      /* true: each step finds the equilibrium at its time; masses enter through gravity only */
    sinew_real gravity[3]; /* acceleration of gravity in m/s2. Default 0 -9.81 0 */
    /* Number of load steps, >= 0: gravity and forces grow in equal increments over this number of first steps, so that
     * each equilibrium is near the previous one; 0, the default: full load at once. */
    int32_t load_steps;
    /* Damping rate of all velocities in 1/s, >= 0: they decay by exp(-damping h) per step. Default 0. */
    sinew_real damping;
    int32_t thread_count;    /* number of threads; 0: OMP_NUM_THREADS, or one per core. Results do not depend on it */
    sinew_task_system tasks; /* zero-filled, the default: threads of the library; else the program's task system, which
                                receives thread_count - 1 tasks at a time */
    uint64_t memory_limit;   /* bytes that the world may hold, including what its solver and its contacts allocate; 0,
                                the default: no limit. A call that needs more fails with SINEW_ERROR_MEMORY, a step with
                                SINEW_STEP_UNPREPARED; the world keeps its state and can go on. Meshes, caches and
                                pictures are not counted. Results do not depend on it */
    bool balance;            /* true: each step computes its energy balance (sinew_world_balance) and stores residual
                                and reactions (sinew_world_field), at the cost of memory and evaluations
                                (docs/guides/embedding.md). Default false. Results do not depend on it */
    sinew_solver_def solver;
} sinew_world_def;

SINEW_API sinew_world_def sinew_default_world_def(void);
/* Creates a world; NULL on failure. */
SINEW_API sinew_world *sinew_world_create(const sinew_world_def *def, sinew_error *error);
SINEW_API void sinew_world_destroy(sinew_world *world); /* destroys a world; NULL has no effect */

SINEW_API sinew_real sinew_world_time(const sinew_world *world);    /* simulated time in s since the start */
SINEW_API int64_t sinew_world_step_count(const sinew_world *world); /* number of steps that the world has taken */
/* Upper bound of particle numbers, including numbers without a particle (see sinew_world_get_positions()). */
SINEW_API int32_t sinew_world_particle_count(const sinew_world *world);
/* Number of threads that the world's steps use. */
SINEW_API int32_t sinew_world_thread_count(const sinew_world *world);
SINEW_API sinew_status sinew_world_set_solver(sinew_world *world, const sinew_solver_def *def, sinew_error *error);
SINEW_API sinew_status sinew_world_set_time_step(sinew_world *world, sinew_real h, sinew_error *error);

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Definition of a body: particles created from a mesh's vertices. Unless masses are given, each cell's mass is
 * lumped equally onto its vertices. */
typedef struct sinew_body_def {
    uint32_t cookie;
    const sinew_mesh *mesh; /* rest shape of the body; copied */
    /* Density, > 0, default 1000: kg/m3 on tets; without tets kg/m2 on triangles; else kg/m on edges. */
    sinew_real density;
    const sinew_real *masses; /* [vertex_count] masses in kg, finite and > 0, instead of density; NULL: use density */
    const sinew_real *positions;  /* [3 * vertex_count] positions in m at the start; NULL: the rest positions */
    const sinew_real *velocities; /* [3 * vertex_count] velocities in m/s at the start; NULL: zero */
    const char *name;             /* name of the body, copied; unique in the world. NULL: none */
    int32_t spare; /* number of particle numbers reserved after the body's own, for vertices added later; default 0 */
    /* Damping rate of the body in 1/s, >= 0: velocities decay by exp(-damping h) after each step (mass-proportional
     * Rayleigh damping). Default 0. */
    sinew_real damping;
    sinew_real velocity_filter; /* [0, 1]: fraction of the velocities' deviation from the body's rigid motion that is
                                   removed after each step (Mueller et al. 2007, 3.5); 0, the default: none; 1: the
                                   body moves as if it were rigid */
    sinew_solid solid; /* sinew_world_add_rigid: the exact shape of the body; radius 0, the default: that of the mesh */
} sinew_body_def;

SINEW_API sinew_body_def sinew_default_body_def(void);
SINEW_API sinew_body sinew_world_add_body(sinew_world *world, const sinew_body_def *def, sinew_error *error);
/* Adds a rigid body in the shape of def->mesh, tets or a closed surface, with uniform def->density (kg/m3): four
 * particles with its mass, centre and inertia, joined by six hard distances, with the mesh's surface embedded
 * (sinew/skin.h). The world's solver must support hard energies. Positions, velocities and masses of the def are
 * NULL. With a radius in def->solid, inertia and contact are those of the sphere or capsule, and the mesh is only
 * embedded; NULL: a tessellation of the solid. */
SINEW_API sinew_body sinew_world_add_rigid(sinew_world *world, const sinew_body_def *def, sinew_error *error);
/* Removes a body from a running world, together with the energies and pins that act on it alone. Fails if an energy or
 * a pin also acts on other bodies, and names it. Ids and particle numbers of all other bodies are unchanged. */
SINEW_API sinew_status sinew_world_remove_body(sinew_world *world, sinew_body body, sinew_error *error);

/* Vertices to append to an existing body: copies of its vertices (for tearing), or new vertices. */
typedef struct sinew_vertices_def {
    uint32_t cookie;
    int32_t count; /* number of vertices to append, >= 1 */
    /* [count] vertices of the body that the new vertices copy, the source of arrays that are NULL; NULL: no
     * originals. */
    const int32_t *copies_of;
    const sinew_real *rest; /* [3 * count] rest positions of the new vertices in m; NULL: those of the originals */
    /* [3 * count] positions of the new vertices in m; NULL: those of the originals, else the rest positions. */
    const sinew_real *positions;
    /* [3 * count] velocities of the new vertices in m/s; NULL: those of the originals, else zero */
    const sinew_real *velocities;
    /* [count] masses of the new vertices in kg; NULL: a vertex and its copies share its mass equally */
    const sinew_real *masses;
} sinew_vertices_def;

SINEW_API sinew_vertices_def sinew_default_vertices_def(void);
/* Appends vertices, without cells, to the body's mesh; *first_vertex (may be NULL) receives the number of the
 * first. Energies and pins keep their elements; the new vertices are free and without forces. A body without enough
 * spare numbers may move to other particle numbers (sinew_body_first_particle()); vertex numbers and ids do not
 * change. */
SINEW_API sinew_status sinew_body_add_vertices(sinew_world *world, sinew_body body, const sinew_vertices_def *def,
                                               int32_t *first_vertex, sinew_error *error);
/* Replaces the cells of a body by the cells of a mesh with the same number of vertices, whose positions are ignored.
 * The new cells are drawn, and new energies without a list of elements act on them. Masses and existing energies are
 * unchanged. */
SINEW_API sinew_status sinew_body_set_mesh(sinew_world *world, sinew_body body, const sinew_mesh *mesh,
                                           sinew_error *error);

/* Number of body slots of the world, including removed bodies, and the body in a slot; index -1: it was removed. */
SINEW_API int32_t sinew_world_body_count(const sinew_world *world);
SINEW_API sinew_body sinew_world_body_at(const sinew_world *world, int32_t index);
/* Returns the world's own copy of the body's mesh. */
SINEW_API const sinew_mesh *sinew_body_mesh(const sinew_world *world, sinew_body body);
/* Returns the particle number `first` of a body: its vertices are the particles first .. first + vertex_count - 1. */
SINEW_API int32_t sinew_body_first_particle(const sinew_world *world, sinew_body body);
/* Returns a version that increases when bodies, their vertices or cells change: derived data (buffers, surfaces) must
 * then be rebuilt. */
SINEW_API int64_t sinew_world_shape_version(const sinew_world *world);

/* Batch access to particles `first` .. `first + count - 1`; arrays of 3 * count, masses of count. Numbers without a
 * particle (of removed bodies until they are reused, and spare numbers) read as zero, and values set there are ignored.
 * External forces (N) act in addition to gravity until they are set again. */
SINEW_API sinew_status sinew_world_get_positions(const sinew_world *world, int32_t first, int32_t count, sinew_real *q);
SINEW_API sinew_status sinew_world_set_positions(sinew_world *world, int32_t first, int32_t count, const sinew_real *q);
SINEW_API sinew_status sinew_world_get_velocities(const sinew_world *world, int32_t first, int32_t count,
                                                  sinew_real *v);
SINEW_API sinew_status sinew_world_set_velocities(sinew_world *world, int32_t first, int32_t count,
                                                  const sinew_real *v);
SINEW_API sinew_status sinew_world_get_masses(const sinew_world *world, int32_t first, int32_t count, sinew_real *m);
SINEW_API sinew_status sinew_world_set_forces(sinew_world *world, int32_t first, int32_t count, const sinew_real *f);

/* ---- Prescribed motions ---------------------------------------------------------------------- */

/* A key-framed rigid motion of a base point X: pivot + R(t) (X - pivot) + T(t). Between keys translation and
 * rotation vector are interpolated linearly; before the first and after the last key they are constant. A rotation
 * vector's length is the angle in radians and may exceed a full turn. Times ascend strictly. */
typedef struct sinew_key {
    sinew_real time;           /* time of the key frame, in s */
    sinew_real translation[3]; /* translation T at the time of the key, in m */
    sinew_real rotation[3];    /* rotation vector at the time of the key, in rad */
} sinew_key;
typedef struct sinew_motion {
    int32_t key_count;
    const sinew_key *keys; /* [key_count] key frames, copied by the call that receives the motion */
    sinew_real pivot[3];   /* pivot of the motion's rotations, in m */
} sinew_motion;

/* Reference that base points of pins and targets follow: a collider of the world, or the frames of a vertex cache. A
 * pinned point that follows a collider, and the edges and triangles that contain it, do not collide with that
 * collider. */
typedef struct sinew_follow {
    sinew_collider collider; /* collider to follow; index -1 (default): the points follow `frames` */
    /* NULL: a point keeps its position relative to the collider: to its frame, or, for a collider with a cache, to the
     * triangle that is nearest when the pins or targets are added (barycentric coordinates and distance along the
     * normal). Point i follows vertex i of the frames. Else [number of points] vertices of the collider's mesh or of
     * the frames: the points are at these vertices. */
    const int32_t *vertices;
    /* Number of frames of the vertex cache, >= 2; this and the other fields of frames are ignored with a collider. */
    int32_t frame_count;
    int32_t frame_vertex_count; /* number of vertices of each frame of the vertex cache */
    const sinew_real *frames;   /* [frame_count][3 * frame_vertex_count] vertex cache: positions in m; copied */
    /* Time between frames of the vertex cache in s, > 0; the first is at time 0. Linear interpolation; constant before
     * the first and after the last frame. Default 1/24. */
    sinew_real frame_time;
} sinew_follow;

SINEW_API sinew_follow sinew_default_follow(void);

/* ---- Energies -------------------------------------------------------------------------------- */

typedef enum sinew_energy_kind {
    SINEW_ENERGY_STRAIN = 0, /* tets: k/2 |F - R|^2 V, R the rotation of F; Ledwon's thesis (3.13) */
    SINEW_ENERGY_COROTATED,  /* tets: corotated, mu |F - R|^2 + lambda/2 (J - 1)^2; PBNG (7) */
    /* Tets: neo-Hookean, mu/2 (|F|^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2; PBNG (8). */
    SINEW_ENERGY_NEO_HOOKEAN,
    SINEW_ENERGY_NEO_HOOKEAN_LOG,     /* tets: neo-Hookean with log J; Ledwon's thesis (3.14) */
    SINEW_ENERGY_STABLE_NEO_HOOKEAN,  /* tets: stable neo-Hookean, Smith et al. 2018, re-parametrised; PBNG (10) */
    SINEW_ENERGY_ST_VENANT_KIRCHHOFF, /* tets: mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - 1)/2 */
    SINEW_ENERGY_LINEAR,              /* tets: linear elasticity for small strain, not rotation invariant; PBNG (38) */
    SINEW_ENERGY_SPRING,              /* edges: springs, k/2 (|x1 - x0| - L)^2 */
    SINEW_ENERGY_POSITION,            /* vertices: k/2 |x - target|^2, with targets that may move */
    SINEW_ENERGY_WEAK,                /* pairs of weighted points: soft attachment 1/2 C^T K C; PBNG (18), (19) */
    /* Further energies on tets. */
    /* Tets: k/2 |F - T|^2, T: F with singular values clamped to limits; Bouaziz et al. 2014, (22), (23). */
    SINEW_ENERGY_STRAIN_LIMIT,
    SINEW_ENERGY_FIBRE_STRAIN, /* tets: strain along a fibre direction, zero between two limits */
    SINEW_ENERGY_VOLUME,       /* tets: distance of F to matrices of bounded determinant; Bouaziz et al. 2014, (24) */
    /* Tets: neo-Hookean with shape and volume separated; NEO HOOKE of CalculiX and Abaqus. */
    SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC,
    SINEW_ENERGY_EXAMPLES,   /* tets: strain relative to a blend of example shapes; Bouaziz et al. 2014, (17), (18) */
    SINEW_ENERGY_REINFORCED, /* tets: neo-Hookean reinforced by fibres; Bonet and Burton 1998 */
    /* Further energies on edges. */
    SINEW_ENERGY_EDGE_STRAIN, /* edges: k/2 L (l/L - s)^2, s = l/L clamped to limits; Bouaziz et al. 2014, 5.1 */
    /* Energies on triangles: membranes and projection sets. */
    SINEW_ENERGY_TRIANGLE_STRAIN,    /* triangles: distance of the stretches to stretches within limits; PD (16) */
    SINEW_ENERGY_WOVEN_STRAIN,       /* triangles: distance of warp and weft lengths to limits */
    SINEW_ENERGY_AREA,               /* triangles: distance of the stretches to stretches of bounded area; PD (24) */
    SINEW_ENERGY_MEMBRANE_COROTATED, /* triangles: corotated membrane, mu |F - R|^2 + lambda/2 (J - 1)^2; PBNG (36) */
    /* Triangles: St. Venant-Kirchhoff membrane of thickness h, h (mu |E|^2 + lambda/2 (tr E)^2) A. */
    SINEW_ENERGY_MEMBRANE_STVK,
    SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, /* triangles: membrane of incompressible rubber in plane stress */
    SINEW_ENERGY_BARAFF_WITKIN,        /* triangles: stretch and shear conditions of Baraff and Witkin 1998 */
    SINEW_ENERGY_ORTHOTROPIC,          /* triangles: orthotropic membrane with moduli along warp, weft and for shear */
    /* Bending energies on hinges and wheels; D: bending rigidity, e: edge, A: area of the element. */
    SINEW_ENERGY_HINGE,          /* hinges: D/2 |e|^2/A (theta - theta_0)^2, theta the dihedral angle; PBNG (35) */
    SINEW_ENERGY_ISOMETRIC,      /* hinges: quadratic bending for small angles; Bergou et al. 2006 */
    SINEW_ENERGY_MEAN_CURVATURE, /* wheels: D A/2 (|z| - L)^2, z the mean-curvature vector; PD (20), (21) */
    /* Energies on shells: triangles with a slope at each edge. */
    SINEW_ENERGY_SHELL_BENDING, /* shells: bending of a plate, with the element of Morley 1968 */
    /* Energies on rods: edges with a frame. */
    SINEW_ENERGY_ROD,      /* two rod segments: bending and twist, EI_1, EI_2, GJ; Bergou et al. 2008 */
    SINEW_ENERGY_DIRECTOR, /* director points: stay perpendicular to their edge, at their distance from it */
    /* Loads that have a potential. */
    SINEW_ENERGY_PRESSURE, /* triangles of a closed surface: -p V, with a constant pressure p or that of a gas */
    /* Vector constraints, and constraints of a whole surface. */
    SINEW_ENERGY_GREEN_STRAIN,    /* tets: st_venant_kirchhoff as six strain constraints with a compliance matrix */
    SINEW_ENERGY_ENCLOSED_VOLUME, /* triangles of a closed surface: k/(2 V_0) (V - f V_0)^2, one constraint */
    /* Energies between two frames of four vertices each: rigid bodies, or tets. */
    SINEW_ENERGY_JOINT, /* joint between two frames, k/2 sum C_i^2: ball, universal, hinge, cylinder, slider, fixed */
    SINEW_ENERGY_JOINT_LIMIT, /* one-sided constraints that limit the angle or displacement of a joint */
    SINEW_ENERGY_MOTOR,       /* motor that drives a joint's angle or displacement to a moving target */
    /* Energies on pairs of shells, beside shell_bending. */
    SINEW_ENERGY_SHELL_JUMP, /* pairs of shells: D/2 l^2 J^2, J the jump of curvature at an edge; for point loads */
    SINEW_ENERGY_COUNT
} sinew_energy_kind;

typedef enum sinew_stencil {
    SINEW_STENCIL_TET = 0,  /* stencil of four vertices: a tet */
    SINEW_STENCIL_EDGE,     /* stencil of two vertices: an edge */
    SINEW_STENCIL_VERTEX,   /* stencil of one vertex */
    SINEW_STENCIL_PAIR,     /* stencil of 8 vertices: two points of up to four weighted vertices each */
    SINEW_STENCIL_TRIANGLE, /* stencil of three vertices: a triangle */
    /* Stencil of 4 vertices: an edge between two triangles, then the two vertices opposite to it. */
    SINEW_STENCIL_HINGE,
    SINEW_STENCIL_RING,  /* stencil of a vertex, then its neighbours; unused entries repeat the vertex */
    SINEW_STENCIL_WHEEL, /* stencil of an interior vertex of a surface, then its neighbours in order around it */
    /* Stencil of 6 vertices: a triangle, then the director points of the edges opposite to its vertices. */
    SINEW_STENCIL_SHELL,
    /* Stencil of 5 vertices: x0 x1 x2 of two edges that meet at x1, then the director points of both edges. */
    SINEW_STENCIL_ROD,
    SINEW_STENCIL_DIRECTOR, /* stencil of 3 vertices: an edge, then its director point */
    SINEW_STENCIL_FRAMES,   /* stencil of 8 vertices: the four vertices of one frame, then those of another */
    /* Stencil of 8 vertices: a b c d of triangles a b c and b a d, then directors of the edges b c, c a, a d, d b. */
    SINEW_STENCIL_SHELL_PAIR,
    SINEW_STENCIL_COUNT
} sinew_stencil;

/* Returns the plural name of a stencil's elements, e.g. "tets"; NULL: out of range. */
SINEW_API const char *sinew_stencil_name(sinew_stencil stencil);

/* Descriptor of one number that a user may set on an energy or a solver. */
typedef struct sinew_parameter {
    const char *name; /* name of the parameter in scene files, e.g. "young": letters, digits, '_' and '-' */
    const char *unit; /* SI unit of the parameter's values, e.g. "Pa"; "" for dimensionless numbers */
    /* NULL, or keywords separated by '|' whose index is the parameter's value: "direct|cg". */
    const char *choices;
    double minimum; /* smallest and largest value, both included unless open_minimum or open_maximum */
    double maximum;
    double preset;       /* default value of the parameter */
    bool open_minimum;   /* true: the parameter's value must be greater than minimum */
    bool open_maximum;   /* true: the parameter's value must be less than maximum */
    const char *meaning; /* one line: meaning of the parameter, effect of raising it */
    /* True: no scene and at most one experiment of the library sets the parameter; lists omit it by default. */
    bool expert;
} sinew_parameter;

/* Capabilities that a solver may require of an energy beyond value, gradient and Hessian. */
enum {
    /* Energy is a compliant constraint whose projection moves the vertices (PBD, XPBD). */
    SINEW_CAN_CONSTRAINT = 1 << 0,
    SINEW_CAN_PROJECT = 1 << 1, /* energy is a distance to a constraint set, with a projection (PD) */
    SINEW_CAN_PROX = 1 << 2,    /* energy has a proximal map (ADMM) */
    SINEW_CAN_VERTEX = 1 << 3,  /* energy provides gradient and 3x3 Hessian block of one vertex (PBNG) */
    SINEW_CAN_REDUCE = 1 << 4,  /* energy has reduced coordinates and a stiffness in them (quasi-Newton, PD, ADMM) */
    SINEW_CAN_JACOBIAN = 1 << 5 /* energy provides constraint values C, their Jacobian and the compliance */
};

typedef struct sinew_energy_info {
    const char *name;    /* name of the energy in scene files, e.g. "neo_hookean" */
    const char *summary; /* one line of description with the formula of the energy */
    sinew_stencil stencil;
    int32_t vertex_count; /* number of vertices of one element of the energy */
    const sinew_parameter *parameters;
    int32_t parameter_count;
    uint32_t capabilities; /* capabilities of the energy: a set of bits SINEW_CAN_... */
} sinew_energy_info;

/* Returns the description of an energy kind; NULL: out of range. */
SINEW_API const sinew_energy_info *sinew_get_energy_info(sinew_energy_kind kind);
/* Kind of a named energy; SINEW_ENERGY_COUNT: unknown name. */
SINEW_API sinew_energy_kind sinew_energy_by_name(const char *name);
/* Index of a named parameter of the energy, -1 if it has no such parameter. */
SINEW_API int32_t sinew_energy_parameter(sinew_energy_kind kind, const char *name);

typedef struct sinew_energy_def {
    uint32_t cookie;
    sinew_energy_kind kind;
    /* Body whose vertices `elements` refer to; index -1: `elements` are particles of the world. */
    sinew_body body;
    /* Values of the energy's parameters for all elements, in the order of sinew_energy_info.parameters. */
    sinew_real parameters[SINEW_PARAMETER_MAX];
    /* [element_count] values of a parameter per element, in place of `parameters`; NULL: the same value for all
     * elements. */
    const sinew_real *element_parameters[SINEW_PARAMETER_MAX];
    int32_t element_count; /* number of `elements`; ignored if `elements` is NULL */
    /* [element_count * vertex_count] vertices of the elements; NULL: every cell of the body that fits the energy's
     * stencil. Edges: the mesh's edges, or the edges of all cells if it has none; triangles and hinges: its triangles,
     * or the surface of its tets. Required for PAIR. */
    const int32_t *elements;
    /* PAIR: [8 * element_count] weights of the vertices, four per point with sum 1, >= 0 except in rigid bodies. */
    const sinew_real *weights;
    const sinew_real *normals;  /* PAIR: [3 * element_count] direction of normal_stiffness of each pair; NULL: z */
    const sinew_real *targets;  /* VERTEX [3 * element_count] target positions in m; NULL: the current positions */
    const sinew_motion *motion; /* VERTEX: motion of the targets; NULL: constant targets */
    /* VERTEX: collider or cache that the targets follow in place of a motion; NULL: none */
    const sinew_follow *follow;
    /* Number of example shapes for the energy `examples`, 0 .. SINEW_EXAMPLE_MAX; ignored by other energies. */
    int32_t example_count;
    /* Number of vertices of each example shape: as many as the body (index -1: the world) has. */
    int32_t example_vertex_count;
    /* [3 * example_vertex_count] vertex positions of each example shape, in m */
    const sinew_real *examples[SINEW_EXAMPLE_MAX];
    /* True: the energy's elements may change in every step, at a cost proportional to their number. The factors that
     * pd, qn and admm keep contain no transient elements, unless nothing else constrains a body of a quasistatic world;
     * so many permanent elements cost these solvers more than with `transient` false. Default true for energies over
     * pairs, false for others. */
    bool transient;
    /* Treatment by constraint solvers, independent of other energies. Hard: xpbd and xpbd-qs use zero compliance, as
     * pbd does for every energy; admm projects onto the constraint set; sap, primal-dual, kkt, scd and dae satisfy its
     * constraints as one system (docs/guides/constraints.md), and objective and residual then exclude it; other
     * solvers do not support it. In xpbd, pbd and admm, residual and objective include the energy with its
     * parameters. Optimality gaps are unknown (hard.h). */
    bool hard;
    /* Stiffness-proportional Rayleigh damping in s, >= 0: a motion of angular frequency omega (1/s) has the damping
     * ratio damping omega / 2, a rigid motion has none (docs/guides/loads.md). Not for loads or quasistatic worlds.
     * Default 0. */
    sinew_real damping;
    /* pbd: stiffness, the fraction of each correction that is applied, in (0, 1]; 0: value of the solver */
    sinew_real pbd_stiffness;
} sinew_energy_def;

SINEW_API sinew_energy_def sinew_default_energy_def(sinew_energy_kind kind);
SINEW_API sinew_energy sinew_world_add_energy(sinew_world *world, const sinew_energy_def *def, sinew_error *error);
SINEW_API int32_t sinew_energy_element_count(const sinew_world *world, sinew_energy energy);
/* Number of energy slots, including removed energies, and the energy in a slot; index -1: it was removed. */
SINEW_API int32_t sinew_world_energy_count(const sinew_world *world);
SINEW_API sinew_energy sinew_world_energy_at(const sinew_world *world, int32_t index);
/* Returns the kind of an energy; SINEW_ENERGY_COUNT if the id is invalid. */
SINEW_API sinew_energy_kind sinew_energy_kind_of(const sinew_world *world, sinew_energy energy);
/* Returns the vertices of an energy's elements first .. first + count - 1: particles of the world [count *
 * vertex_count], in the order of the def, and weights [count * 8] if the elements have weights; either may be NULL. */
SINEW_API sinew_status sinew_energy_get_elements(const sinew_world *world, sinew_energy energy, int32_t first,
                                                 int32_t count, int32_t *particles, sinew_real *weights,
                                                 sinew_error *error);

/* Changes of an energy in a running world. Each change takes effect with the next step, which sets up again only the
 * data that depend on it (docs/guides/embedding.md). The error of a failed change names the energy, and the world is unchanged. The
 * changed world steps like a world built with the new data; only the data that the solver keeps between steps, which
 * the state contains, is kept.
 *
 * Replaces all elements, with all their data, by the elements of `def`, which must have the same kind and
 * `transient`. `hard`, `pbd_stiffness` and `damping` are unchanged. */
SINEW_API sinew_status sinew_energy_set_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                                 sinew_error *error);
/* Appends the elements of `def` to an energy; *first (may be NULL) is the number of the first. Removal takes a list
 * of distinct numbers; later elements get lower numbers. The cost of both calls is proportional to the whole list.
 * Energies with targets support neither. */
SINEW_API sinew_status sinew_energy_add_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                                 int32_t *first, sinew_error *error);
SINEW_API sinew_status sinew_energy_remove_elements(sinew_world *world, sinew_energy energy, const int32_t *elements,
                                                    int32_t count, sinew_error *error);
/* Switches elements off or on: `elements` [count], all distinct, or NULL for all. An element that is off has no effect
 * and keeps its number. */
SINEW_API sinew_status sinew_energy_switch(sinew_world *world, sinew_energy energy, const int32_t *elements,
                                           int32_t count, bool on, sinew_error *error);
SINEW_API bool sinew_energy_is_on(const sinew_world *world, sinew_energy energy, int32_t element);
/* Sets a parameter of an energy by name, e.g. "young": one value for all elements, or values [element_count]. */
SINEW_API sinew_status sinew_energy_set_parameter(sinew_world *world, sinew_energy energy, const char *name,
                                                  sinew_real value, sinew_error *error);
SINEW_API sinew_status sinew_energy_set_element_parameters(sinew_world *world, sinew_energy energy, const char *name,
                                                           const sinew_real *values, sinew_error *error);
SINEW_API sinew_status sinew_energy_get_parameter(const sinew_world *world, sinew_energy energy, const char *name,
                                                  int32_t element, sinew_real *value, sinew_error *error);
/* Replaces the rest shapes of elements first .. first + count - 1, which the bodies define initially (creep, growth):
 * rest [count * vertex_count * 3] m, in the order of the def's vertices. Masses are unchanged. */
SINEW_API sinew_status sinew_energy_set_rest(sinew_world *world, sinew_energy energy, int32_t first, int32_t count,
                                             const sinew_real *rest, sinew_error *error);
/* Sets new targets of a VERTEX energy, [3 * element_count] in m. They replace its motion and its `follow`. */
SINEW_API sinew_status sinew_energy_set_targets(sinew_world *world, sinew_energy energy, const sinew_real *targets,
                                                sinew_error *error);
/* Returns the multipliers of an energy's constraints in the last step, of xpbd, xpbd-qs and pbd, and of the hard
 * energies of sap, primal-dual, kkt, scd and dae: values[element][constraint], with *count / element_count
 * constraints per element (neo_hookean: 2, the second for its split form). The force on a particle is the value
 * times the gradient of C. Units: N for springs, position and weak energies, whose C is a length; J for tets, whose
 * C is dimensionless. A negative value reduces C. *count is the number of values, also if `capacity` is too small
 * (SINEW_ERROR_DATA). SINEW_ERROR_UNSUPPORTED: no multipliers exist. */
SINEW_API sinew_status sinew_energy_multipliers(const sinew_world *world, sinew_energy energy, int32_t capacity,
                                                sinew_real *values, int32_t *count, sinew_error *error);
SINEW_API sinew_status sinew_world_remove_energy(sinew_world *world, sinew_energy energy, sinew_error *error);

/* ---- Tearing of bodies ------------------------------------------------------------------------- */

/* Tearing of a body at overstretched edges. Each step but the first starts with a test of the edges of its cells. Edges
 * longer than 1 + limit times their rest length tear, the most stretched first. */
typedef struct sinew_tear_def {
    uint32_t cookie;
    sinew_body body;
    sinew_real limit; /* strain of an edge at which it tears, > 0. Default 0.5 */
    bool split;  /* true (default): the mesh opens at an unpinned end of the edge: each side of the tear gets a copy of
                    the vertex, and the copies share its mass; elements follow their cells, and bending across the tear
                    ends. false: the edge breaks: elements in which its ends are neighbours are switched off, and cells
                    that contain it are no longer drawn */
    int32_t max; /* maximum number of torn edges per step, >= 1. Default 16 */
} sinew_tear_def;

typedef struct sinew_tear_report {
    int64_t edges;    /* number of torn edges of the body */
    int64_t vertices; /* number of copies of vertices that tearing has added */
    /* Number of times that an edge above the limit could not tear: both ends are pinned, or the mesh cannot open
     * there. */
    int64_t refused;
} sinew_tear_report;

SINEW_API sinew_tear_def sinew_default_tear_def(void);
/* Sets tearing from the next step on and replaces an earlier setting. Fails for a body with a skin or director points,
 * and for elements that cannot tear (shells, rods, pressure); the error names them. sinew_world_shape_version()
 * increases in a step that starts with a tear. States contain the tears; a state loads into a world that was built the
 * same way and whose tears are a prefix of the state's. */
SINEW_API sinew_status sinew_body_set_tear(sinew_world *world, const sinew_tear_def *def, sinew_error *error);
/* True if tearing is set for the body. */
SINEW_API bool sinew_body_tears(const sinew_world *world, sinew_body body);
/* Returns the tearing totals of a body since it was added; zeros without tearing. */
SINEW_API sinew_status sinew_body_torn(const sinew_world *world, sinew_body body, sinew_tear_report *report,
                                       sinew_error *error);

/* ---- Pins and clamps -------------------------------------------------------------------------- */

/* Particles with prescribed motion. Pins are exact in every solver, because pinned particles are not unknowns; only the
 * step filter of contact may delay them (motion_lag of sinew/contact.h). Pins that constrain only some directions, like
 * rails and rollers, need a solver that supports them
 * (sinew_solver_info.directions). Several such pins may constrain one particle if their directions are linearly
 * independent. */
typedef struct sinew_pin_def {
    uint32_t cookie;
    /* Body whose vertices are pinned; index -1: `vertices` are particles of the world. */
    sinew_body body;
    int32_t vertex_count; /* number of pinned vertices, >= 1 */
    /* [vertex_count] pinned vertices; a particle pinned in all directions may be in one pin only. */
    const int32_t *vertices;
    const sinew_real *targets;    /* [3 * vertex_count] base points of the pins in m; NULL: the current positions */
    const sinew_motion *motion;   /* motion of the pins' base points; NULL: they are constant */
    const sinew_follow *follow;   /* collider or cache that the base points follow in place of a motion; NULL: none */
    int32_t direction_count;      /* number of constrained directions, 1, 2 or 3; ignored if `directions` is NULL */
    const sinew_real *directions; /* [3 * direction_count] fixed in space, of any length and angle: along each direction
                                     n the particles follow the base points, n.x = n.t, and their velocities along n
                                     follow; they are free otherwise. NULL, the default: all directions */
} sinew_pin_def;

SINEW_API sinew_pin_def sinew_default_pin_def(void);
SINEW_API sinew_pin sinew_world_add_pins(sinew_world *world, const sinew_pin_def *def, sinew_error *error);
/* Sets the positions of the pinned particles at the end of the next step, [3 * vertex_count]. They replace the motion
 * and the `follow` of the pins. */
SINEW_API sinew_status sinew_pin_set_targets(sinew_world *world, sinew_pin pin, const sinew_real *targets,
                                             sinew_error *error);
/* Replaces the key frames of the pins' base points (of the def, or last set); NULL: constant points. Also ends the
 * pins' `follow`. */
SINEW_API sinew_status sinew_pin_set_motion(sinew_world *world, sinew_pin pin, const sinew_motion *motion,
                                            sinew_error *error);
SINEW_API sinew_status sinew_world_remove_pins(sinew_world *world, sinew_pin pin, sinew_error *error);
/* A clamp fixes position and tangent of a shell or rod exactly at vertices (docs/reference/energies/rod.md). Errors of
 * a clamped rod or strip fall with the square of the edge length.
 *
 * Shells: the vertices and the director points of the edges between two of them are pinned. Rods: each vertex is an
 * end, which has one edge. The clamp appends two pinned points to the body, a segment that fixes tangent and frame, and
 * an element to the body's rod energies, which must exist. Director points in the list are ignored. The mesh has
 * directors. */
typedef struct sinew_clamp_def {
    uint32_t cookie;
    sinew_body body;
    int32_t vertex_count;       /* number of clamped vertices, >= 1 */
    const int32_t *vertices;    /* [vertex_count] vertices of the body that are clamped */
    const sinew_real *tangent;  /* rods: [3] direction of the rod away from its clamped ends, of any length; NULL, the
                                   default: the current direction of the edge of each end */
    const sinew_motion *motion; /* motion that moves and rotates the clamp; NULL: the clamp does not move */
} sinew_clamp_def;

SINEW_API sinew_clamp_def sinew_default_clamp_def(void);
/* Returns the pins of all points of the clamp: the vertices, ascending, then director points (shells), or the end and
 * the director point of the added segment of each vertex (rods). sinew_pin_set_motion() moves the clamp. index -1 on
 * failure; if memory is short, added points stay in the body. */
SINEW_API sinew_pin sinew_world_add_clamp(sinew_world *world, const sinew_clamp_def *def, sinew_error *error);
/* Frees the vertices of a clamp and removes its elements. Points that it added to a rod stay in the body, pinned. */
SINEW_API sinew_status sinew_world_remove_clamp(sinew_world *world, sinew_pin clamp, sinew_error *error);
/* Lists the pinned particles of the world, ascending. Writes at most `capacity` of them and returns their total
 * number. */
SINEW_API int32_t sinew_world_pinned(const sinew_world *world, int32_t capacity, int32_t *particles);

/* ---- Solvers ----------------------------------------------------------------------------------- */

typedef struct sinew_solver_info {
    const char *name; /* name of the solver in scene files, e.g. "newton" */
    const char *summary;
    const sinew_parameter *parameters;
    int32_t parameter_count;
    int32_t default_iterations;
    uint32_t needs;   /* capabilities SINEW_CAN_... that every energy in the world must have */
    bool quasistatic; /* true: the solver can find equilibria */
    bool static_only; /* true: the solver cannot take steps with inertia */
    /* True: the solver uses the forces at the start of a step and has no objective: no gap, and SINEW_STEP_EXPLICIT
     * instead of other bits. */
    bool explicit_step;
    bool directions; /* true: the solver supports pins that constrain only some directions */
} sinew_solver_info;

SINEW_API const sinew_solver_info *sinew_get_solver_info(sinew_solver_kind kind);
/* Kind of a named solver; SINEW_SOLVER_COUNT: unknown name. */
SINEW_API sinew_solver_kind sinew_solver_by_name(const char *name);
SINEW_API int32_t sinew_solver_parameter(sinew_solver_kind kind, const char *name);
/* True if the solver supports the energy. If not, `why` (may be NULL) receives the reason and the remedy. */
SINEW_API bool sinew_solver_accepts(sinew_solver_kind solver, sinew_energy_kind energy, char *why, size_t size);

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Status bits of a step; 0: the step is solved. The comment of a bit gives its meaning and, if there is one, the
 * remedy. */
enum {
    SINEW_STEP_NOT_CONVERGED = 1 << 0, /* the position error exceeds `accuracy`, or it is unknown and iterations or time
                                          ended above the tolerance: raise iterations, or `accuracy` */
    SINEW_STEP_NOT_FINITE = 1 << 1,    /* a value became non-finite: the last good state is kept; lower h */
    SINEW_STEP_INVERTED = 1 << 2,      /* some tet has det F <= 0: refine, lower h, or use an energy that recovers */
    SINEW_STEP_INDEFINITE = 1 << 3, /* a Hessian was not positive definite (direct: and was shifted): use projection */
    /* The objective decreases no further above round-off, and the tolerance is not reached. */
    SINEW_STEP_STALLED = 1 << 4,
    SINEW_STEP_UNPREPARED = 1 << 5, /* the set-up failed (memory, singular system): see sinew_world_error() */
    SINEW_STEP_ROUND_OFF = 1 << 6,  /* forces are below round-off, which is too coarse to show that the step is solved:
                                       use softer materials, a smaller h or double precision, or measure the gap */
    SINEW_STEP_UNMEASURED = 1 << 7, /* whether the step is solved is unknown: its position error was not measured or
                                       could not be found (position_error_reason), and the residual, compared with the
                                       last step whose error was found, does not show it */
    /* Only contact (sinew/contact.h) sets CONTACT, TRUNCATED, CONTACT_FULL and INTERSECTING;
     * sinew_world_contact_report() has the values. */
    SINEW_STEP_CONTACT = 1 << 8,   /* surfaces are too near, or friction lags: raise iterations */
    SINEW_STEP_TRUNCATED = 1 << 9, /* the step filter truncated vertices, pins or colliders: raise iterations or
                                          max_detections, or lower h */
    /* The pair_limit of contact was reached: some pairs have neither step filter nor contact force. */
    SINEW_STEP_CONTACT_FULL = 1 << 10,
    /* Surfaces have intersected since the start: move them apart. */
    SINEW_STEP_INTERSECTING = 1 << 11,
    SINEW_STEP_EXPLICIT = 1 << 12, /* an explicit integrator took the step, which is not a minimum: objective and
                                          residual belong to implicit Euler's step at the same positions and are not
                                          errors; sinew_world_stability() gives the limits of the time step */
    /* CONSTRAINTS and CONTRADICTORY concern hard constraints (docs/guides/constraints.md); result->constraints names
     * them. */
    SINEW_STEP_CONSTRAINTS = 1 << 13,   /* hard constraints exceed the tolerance: raise iterations, lower h */
    SINEW_STEP_CONTRADICTORY = 1 << 14, /* hard constraints contradict each other; the last good state is kept */
    SINEW_STEP_INTERRUPTED = 1 << 15,   /* sinew_world_interrupt() ended the step: the state before it is kept, and the
                                           next step can be taken; no other bit is set */
    SINEW_STEP_OVER_BUDGET = 1 << 16    /* the step took more than 1.2 times its time budget; budget_seconds and
                                           budget_least of the result give its time and the smallest budget */
};
/* Name of one SINEW_STEP_... bit, e.g. "not_converged"; "" if `bit` is not one known bit. */
SINEW_API const char *sinew_step_bit_name(uint32_t bit);

/* Location that a status bit of the last step comes from, in one body. */
typedef struct sinew_step_place {
    sinew_body body;
    int32_t vertex;      /* vertex of the body with the worst value */
    sinew_energy energy; /* SINEW_STEP_INVERTED: energy of the worst tet; else index -1 */
    int32_t element;     /* SINEW_STEP_INVERTED: number of that tet among the energy's elements; else -1 */
    double value;        /* worst value of the body, in the unit that sinew_step_place_unit() returns */
} sinew_step_place;

/* Lists the bodies from which a status bit of the last step comes, the worst first. Writes at most `capacity` places
 * and returns their total number; 0: unknown. Values and units: not_converged, stalled and round_off: residual of a
 * vertex, "N", of bodies with at least a tenth of the largest one; inverted: smallest determinant, "det F"; contact:
 * largest negative clearance of a contact with a force, "m"; truncated: number of truncated "vertices";
 * intersecting: number of intersecting "pairs". Other bits have no places and the unit "". */
SINEW_API int32_t sinew_world_step_places(const sinew_world *world, uint32_t bit, int32_t capacity,
                                          sinew_step_place *places);
SINEW_API const char *sinew_step_place_unit(uint32_t bit);

/* Measurements after one iteration. SINEW_RECORD_ITERATIONS: record 0 is the starting guess, record i follows iteration
 * i. SINEW_RECORD_STEP: one record, after the last iteration. */
typedef struct sinew_iteration {
    int32_t iteration;
    double seconds; /* wall-clock time since the start of the step, in s */
    /* Objective g and its two terms inertia and elastic energy, in J (quasistatic: elastic includes -f.q). */
    double objective, inertia, elastic;
    double residual;            /* residual |grad g| over the free particles, in N */
    double linear_momentum[3];  /* linear momentum in kg m/s, from velocities (q - q_n)/h */
    double angular_momentum[3]; /* angular momentum in kg m2/s about the origin, from the same velocities */
    /* Value in J of the function that the solver's iterations decrease, if its parameters select another function (pd
     * with other coordinates or projection sets); else the objective. */
    double own_objective;
} sinew_iteration;

/* How well the optimality gap is known. The gap refers to the local minimum downhill from the end of the step; a lower
 * minimum elsewhere cannot be detected. */
typedef enum sinew_gap_kind {
    SINEW_GAP_NONE = 0, /* the optimality gap was not measured in this step; gap is NaN */
    SINEW_GAP_ESTIMATE, /* the optimality gap is an estimate, by minimisation on a copy of the positions */
    SINEW_GAP_BELOW,    /* round-off hides the optimality gap; `gap` is an estimate of its upper bound */
    SINEW_GAP_UNKNOWN   /* the optimality gap was not found; gap is +inf, and gap_reason gives the reason */
} sinew_gap_kind;

typedef struct sinew_step_result {
    uint32_t bits; /* status of the step: a set of bits SINEW_STEP_... */
    int32_t iterations;
    double seconds; /* wall-clock time in s of the solver, without prediction, set-up and gap */
    /* Objective g and its two terms in J, at the positions at which `residual` is measured. */
    double objective, inertia, elastic;
    /* Residual |grad g| in N at the end of the step; after not_finite: at the start, whose state is kept. */
    double residual;
    double relative_residual; /* residual over |grad g| at the start of the step, which counts as at least its
                                           round-off; NaN if the start was not measured */
    sinew_gap_kind gap_kind;  /* how well the optimality gap `gap` is known */
    double gap;               /* optimality gap in J: g(q) less the minimum downhill from q; see gap_kind */
    const char *gap_reason;   /* reason why the optimality gap is unknown, static text; "" otherwise */
    double gap_seconds;       /* wall-clock time in s spent on the optimality gap and on the position error */
    int32_t gap_steps;        /* number of Newton steps on a copy of the positions to find the gap */
    /* Number of CG iterations in the Newton steps of the gap; 0 in small worlds, whose systems are factorised. */
    int32_t gap_linear_iterations;
    sinew_gap_kind position_error_kind; /* how well position_error is known; measured together with the gap */
    double position_error;              /* largest distance in m of a particle from q*, the minimum downhill from q */
    double position_error_rms;          /* root mean square over the free particles of their distances from q*, in m */
    const char *position_error_reason;  /* reason why the position error is unknown, static text; "" otherwise */
    /* Largest position error of a body relative to the body's size, comparable with `accuracy`. */
    double position_error_relative;
    /* Number of iterations of inner linear solvers in the step; pd, qn and admm: number of solves with the factor. */
    int32_t linear_iterations;
    /* Errors of hard constraints in a solver that treats them as a system; NaN otherwise. Objective, residual and
     * stationarity then exclude hard energies, whose force is J^T lambda. */
    double violation; /* largest violation |C| of hard constraints, in the unit of C (m for lengths) */
    /* stationarity error |grad g - J^T lambda| in N (J: Jacobian of the hard constraints), which is the residual */
    double stationarity;
    double complementarity;  /* complementarity error: largest |lambda C| of inequalities, in J; 0: no inequalities */
    const char *constraints; /* redundant, violated or contradictory hard constraints; "": none. Valid until the next
                                step */
    double budget_seconds;   /* wall-clock time of the whole step in s; 0 without a time budget */
    /* Time in s of what the step could not leave out: preparation, one detection pass, one iteration, and its end. A
     * smaller time budget cannot be kept. 0 without a time budget. */
    double budget_least;
    const char *budget_left_out; /* what the time budget left out, static text, e.g. "iterations"; "": nothing */
} sinew_step_result;

/* Takes one step of the world. Returns the status bits, which are also in result (may be NULL). After the first
 * steps a step does not allocate, except when contacts or tears change, and with `linear` = lu and qr of newton,
 * whose libraries allocate each factor. */
SINEW_API uint32_t sinew_world_step(sinew_world *world, sinew_step_result *result);
/* Ends the step in progress, or else the next step, as soon as possible with SINEW_STEP_INTERRUPTED. The world keeps
 * the state before the step, and the next step has the same result as if the interrupted one had not been tried; its
 * measurements (records, contacts, balance) are lost, and the solver is prepared again: if pins, switches or materials
 * have changed since it was prepared, solvers that factorise may differ by round-off. Bodies that tear may already have
 * torn; the next step does not tear them again. Also ends sinew_world_prepare() (SINEW_ERROR_INTERRUPTED). The
 * call that was ended clears the request. May be called from any thread and from a signal handler while the world
 * exists; does nothing without a world. */
SINEW_API void sinew_world_interrupt(sinew_world *world);
/* Largest and root mean square position error (m) of a body in the last step. Either pointer may be NULL. Returns
 * false, with NaN, if the step has none (position_error_kind) or the world has changed since. */
SINEW_API bool sinew_body_position_error(const sinew_world *world, sinew_body body, double *max, double *rms);
/* Returns the iteration records of the last step, as selected by `record` of the solver; valid until the next step. */
SINEW_API const sinew_iteration *sinew_world_iterations(const sinew_world *world, int32_t *count);
/* Returns the error text of a step with SINEW_STEP_UNPREPARED; "" otherwise. */
SINEW_API const char *sinew_world_error(const sinew_world *world);
/* Performs the set-up of the first step in advance: ordering, factorisation. Fails for worlds that cannot step.
 * SINEW_ERROR_INTERRUPTED: sinew_world_interrupt() ended it; the next step prepares again. */
SINEW_API sinew_status sinew_world_prepare(sinew_world *world, sinew_error *error);

/* ---- Measures of the state -------------------------------------------------------------------- */

/* Measures of the current state of a world. */
typedef struct sinew_measures {
    double kinetic;   /* kinetic energy of all particles, in J */
    double elastic;   /* sum of all elastic energies, in J */
    double potential; /* potential of gravity and external forces in J, zero at the origin */
    double residual;  /* norm of the net force (elastic + external) on the free particles, in N */
    double mass;      /* total mass of all particles, in kg */
    double centre_of_mass[3];
    double linear_momentum[3];
    double angular_momentum[3];
    /* smallest and largest det F (volume over rest volume, signed) over the tets; both 1 without tets */
    double det_min, det_max;
    int32_t inverted_count; /* number of inverted tets, det F <= 0 */
} sinew_measures;

SINEW_API sinew_status sinew_world_measure(sinew_world *world, sinew_measures *measures);
/* Lists the tets with det F <= 0 by their energies and their element numbers in these energies. Writes at most
 * `capacity` tets and returns their total number. */
SINEW_API int32_t sinew_world_inverted(const sinew_world *world, int32_t capacity, sinew_energy *energies,
                                       int32_t *elements);
/* Computes the objective g of the next step at any positions q [3 * particle_count]: value (J) and, if gradient is
 * not NULL, grad g [3 * particle_count] (N, zero at pins). */
SINEW_API sinew_status sinew_world_objective(sinew_world *world, const sinew_real *q, double *value,
                                             sinew_real *gradient);

/* Stability of an explicit integrator at the current state, determined by the fastest small motion about it. Includes
 * damping of the world, but not damping of bodies and energies. */
typedef struct sinew_stability {
    /* Highest angular frequency in 1/s: the square root of the largest eigenvalue of M^-1 K, K the second derivatives
     * of all energies over the free particles; 0: nothing oscillates. */
    double omega_max;
    double growth; /* growth factor of this motion in a step with the world's solver and time step, 1: it neither
                             grows nor decays; NaN: the solver is not explicit */
    /* Largest stable time step in s: every smaller h is stable; 0: no h is stable; infinite: every h is stable. */
    double time_step_max;
    int32_t products; /* number of products of the Hessian K with a vector that computing omega_max took */
} sinew_stability;

/* Computes the stability of an explicit integrator. Allocates work space and releases it on return; the world is
 * unchanged. */
SINEW_API sinew_status sinew_world_stability(sinew_world *world, sinew_stability *stability, sinew_error *error);

/* Graph colouring of the world's solver. A sweep runs through *colour_count colours one after another, of particles
 * (pbng) or of constraints (pbd, xpbd, xpbd-qs: of all energies together); members of one colour are updated in
 * parallel. 0: the solver has no colours. In a large world, each region first processes the colours of its own
 * constraints; the constraints between regions follow. colours (may be NULL) [particle_count] receives the colour of
 * each particle, -1 for none. */
SINEW_API sinew_status sinew_world_colours(sinew_world *world, int32_t *colour_count, int32_t *colours);

/* ---- Names of bodies ------------------------------------------------------------------------- */

/* Returns the body with this name; index -1: no such body. */
SINEW_API sinew_body sinew_world_body_by_name(const sinew_world *world, const char *name);
/* Name of a body; "": no name; valid until the body is removed. */
SINEW_API const char *sinew_body_name(const sinew_world *world, sinew_body body);

/* ---- Settings of a running world ------------------------------------------------------------ */

/* Setters and getters of settings that the world definition initialised. Setters fail for values that the def does
 * not allow, and then leave the world unchanged. Gravity, damping and forces take effect with the next step and need
 * no set-up; after a new time step or solver the next step sets up dependent data. */
SINEW_API sinew_status sinew_world_set_gravity(sinew_world *world, const sinew_real gravity[3], sinew_error *error);
/* Gets the acceleration of gravity, in m/s2. */
SINEW_API sinew_status sinew_world_get_gravity(const sinew_world *world, sinew_real gravity[3]);
SINEW_API sinew_status sinew_world_set_damping(sinew_world *world, sinew_real damping, sinew_error *error);
SINEW_API sinew_real sinew_world_damping(const sinew_world *world);   /* damping rate of the world in 1/s */
SINEW_API sinew_real sinew_world_time_step(const sinew_world *world); /* time step h of the world in s */
/* True: the world is quasistatic; set at creation only. */
SINEW_API bool sinew_world_quasistatic(const sinew_world *world);
/* Number of load steps of the world; set at creation only. */
SINEW_API int32_t sinew_world_load_steps(const sinew_world *world);
/* Returns a copy of the solver settings, for sinew_world_set_solver(). */
SINEW_API sinew_solver_def sinew_world_solver(const sinew_world *world);
/* Returns the external forces (N) that were set on particles `first` .. `first + count - 1`; f [3 * count]. */
SINEW_API sinew_status sinew_world_get_forces(const sinew_world *world, int32_t first, int32_t count, sinew_real *f);

/* Sets parameters of a def by the names of scene files, e.g. "young", "linear". SINEW_ERROR_DATA: the name is unknown
 * (the text gives the most similar name) or the value is out of range; the def is unchanged. Solvers also accept
 * "iterations", "tolerance", "time_budget", "gap_every", "measure" and "record". A keyword sets a parameter with
 * choices: "cg" of "direct|cg". */
SINEW_API sinew_status sinew_energy_def_set(sinew_energy_def *def, const char *name, double value, sinew_error *error);
SINEW_API sinew_status sinew_energy_def_set_keyword(sinew_energy_def *def, const char *name, const char *word,
                                                    sinew_error *error);
SINEW_API sinew_status sinew_solver_def_set(sinew_solver_def *def, const char *name, double value, sinew_error *error);
SINEW_API sinew_status sinew_solver_def_set_keyword(sinew_solver_def *def, const char *name, const char *word,
                                                    sinew_error *error);

/* Positions without a copy, in the world's internal order: coordinate c of particle i is q[stride * inside[i] + c]. The
 * pointers are valid until sinew_world_shape_version() changes or the world is destroyed; the coordinates change with
 * every step and every call that sets positions. */
typedef struct sinew_positions_view {
    const sinew_real *q;   /* positions in the internal order, `stride` reals per particle, in m */
    int32_t stride;        /* number of reals from one particle's point to the next */
    const int32_t *inside; /* [particle_count] index of each particle's point in q; negative: no particle */
    int32_t particle_count;
} sinew_positions_view;

SINEW_API sinew_positions_view sinew_world_positions_view(const sinew_world *world);

/* ---- Attachment of bodies --------------------------------------------------------------------- */

/* Joins vertices of one body to the nearest points of another within a distance: on its surface (its skin if it has
 * one; else triangles; without triangles edges; without edges vertices), or at its vertices. The scene key is
 * "within". */
typedef struct sinew_attach_def {
    uint32_t cookie;
    /* Bodies to join: vertices of `from` are joined to points of `to`; may be the same body. */
    sinew_body from, to;
    int32_t vertex_count;    /* number of entries of `vertices`, which are attached */
    const int32_t *vertices; /* [vertex_count] vertices of the body `from` to join; NULL: all */
    double distance;         /* largest distance of a joined pair in m, >= 0 */
    bool from_skin;          /* true: `vertices` are skin vertices of `from`, joined with their weights; a vertex
                                outside its cell (negative weights) is joined at the cell's border */
    bool to_vertices;        /* true: vertices are joined only to vertices of `to`, not to its surface */
    bool now;                /* true: distances are measured at the current positions; false: in the rest shapes */
    sinew_real normal[3];    /* direction of normal_stiffness of all joined pairs; zero: z */
    sinew_energy_def energy; /* an energy over pairs with parameters; the call sets elements, weights and normals */
} sinew_attach_def;

/* Definition of an attachment; the default energy is `weak`. */
SINEW_API sinew_attach_def sinew_default_attach_def(void);
/* Attaches two bodies by one energy over all pairs. Fails if there is no pair; the error has the smallest distance. */
SINEW_API sinew_energy sinew_world_attach_within(sinew_world *world, const sinew_attach_def *def, sinew_error *error);

/* ---- Drawable surface ------------------------------------------------------------------------ */

/* The shape that viewers draw, in particle numbers: the boundary of the tetrahedra, or the triangles of bodies without
 * tetrahedra, outward if they have an outside; and the edges of bodies that have neither. Bodies are in their order,
 * each in the order of sinew_mesh_surface(). The surface depends on meshes and energies, not on positions. It is valid
 * until sinew_world_shape_version() changes or an energy is added or removed. */
typedef struct sinew_surface {
    int32_t triangle_count;  /* capacity of the triangle arrays before the call, number of triangles after it */
    int32_t *triangles;      /* [3 * triangle_count] particles of each surface triangle, or NULL */
    sinew_body *bodies;      /* [triangle_count] body of each surface triangle, or NULL */
    sinew_energy *materials; /* [triangle_count] or NULL: the first energy over the tetrahedron behind each triangle;
                                index -1: no energy, or no tetrahedron */
    int32_t edge_count;
    int32_t *edges;          /* [2 * edge_count] particles of each surface edge, or NULL */
    sinew_body *edge_bodies; /* [edge_count] body of each surface edge, or NULL */
} sinew_surface;

/* Fills the surface of the world. A zeroed struct only counts; arrays of the counted sizes are filled.
 * SINEW_ERROR_DATA: the capacity is too small; the counts give the required capacity. */
SINEW_API sinew_status sinew_world_surface(const sinew_world *world, sinew_surface *surface, sinew_error *error);

/* ---- Fields over particles and elements ------------------------------------------------------ */

/* Kinds of fields: numbers per particle, or per element of an energy. */
typedef enum sinew_field_kind {
    /* Fields of particles, 3 numbers each (sinew_world_field). */
    /* Force field: elastic and external force in N on each particle, in the current state, also at pins. */
    SINEW_FIELD_FORCE = 0,
    /* Residual in N of each particle: grad g at the end of the last step, as sinew_world_objective() would return it
     * for that step: zero where forces and inertia balance. Its norm is the residual of the step. Zero at pins.
     * Quasistatic: minus the current force. */
    SINEW_FIELD_RESIDUAL,
    /* Reaction in N: force of the pin on each particle in the last step, M (u - w) / h - elastic - external force, with
     * u the velocity of the step and w the damped velocity before it. Quasistatic: minus the current force. Zero at
     * free particles. */
    SINEW_FIELD_REACTION,
    /* Fields of elements (sinew_energy_field). */
    /* Determinant, 1 number per tet: det F, the ratio of its volume to its rest volume; <= 0: inverted. */
    SINEW_FIELD_DETERMINANT,
    /* Stretches, 3 numbers per tet: singular values of F, descending, the last with the sign of det F; for triangles of
     * sheets the two singular values, descending, then 0. */
    SINEW_FIELD_STRETCHES,
    /* Von Mises stress in Pa, 1 number per tet: sqrt(3/2 s : s) of the deviator s of the Cauchy stress; +inf if det F
     * is 0, NaN if the energy is infinite. */
    SINEW_FIELD_VON_MISES,
    SINEW_FIELD_ENERGY, /* energy density, 1 number per element: J/m3 of rest volume for tets, J for all others */
    /* Further fields of particles, 3 numbers each. */
    SINEW_FIELD_CONTACT_FORCE, /* contact force in N on each particle in the last step, normal forces and friction */
    /* Position error in m of each particle: q* - q at the end of the last step, an estimate
     * (sinew_step_result.position_error); NaN if it is unknown. */
    SINEW_FIELD_POSITION_ERROR,
    SINEW_FIELD_COUNT
} sinew_field_kind;

typedef struct sinew_field_info {
    const char *name; /* name of the field in scene files and caches, e.g. "von_mises" */
    const char *unit;
    const char *summary;     /* one line of description of the field */
    int32_t component_count; /* number of components per particle or element */
    bool of_elements;        /* true: field of elements; false: field of particles */
} sinew_field_info;

/* Returns the description of a field; NULL: out of range. */
SINEW_API const sinew_field_info *sinew_get_field_info(sinew_field_kind field);
/* Kind of a named field; SINEW_FIELD_COUNT: unknown name. */
SINEW_API sinew_field_kind sinew_field_by_name(const char *name);

/* Computes a field of the particles `first` .. `first + count - 1`, out [3 * count]. Residual and reaction of a
 * dynamic world need `balance` of its def (else SINEW_ERROR_UNSUPPORTED) and a step (else SINEW_ERROR_DATA); contact
 * forces need contact and a step. SINEW_ERROR_UNSUPPORTED: a field of elements. May allocate; load steps and targets
 * are as in sinew_world_measure(). */
SINEW_API sinew_status sinew_world_field(sinew_world *world, sinew_field_kind field, int32_t first, int32_t count,
                                         sinew_real *out, sinew_error *error);
/* Computes a field of the elements of an energy in the current state: values[element][component]. *count is the
 * number of values, also if `capacity` is too small (SINEW_ERROR_DATA). SINEW_ERROR_UNSUPPORTED: the energy's
 * elements do not have the field. */
SINEW_API sinew_status sinew_energy_field(sinew_world *world, sinew_energy energy, sinew_field_kind field,
                                          int32_t capacity, sinew_real *values, int32_t *count, sinew_error *error);

/* ---- Energy balance of a step ----------------------------------------------------------------- */

/* Energy budget of the last step, J. With E = kinetic + elastic + gravity
 *
 *     E after - E before = pins + forces + targets + constraints + contacts + restitution
 *                          - lost_integrator - lost_damping - lost_solver + unaccounted
 *
 * Each term is computed independently; unaccounted is the remainder, which is round-off. Changes between two steps
 * (parameters, new targets, gravity) belong to neither step: E before may differ from E after of the previous step. */
typedef struct sinew_balance {
    double kinetic[2]; /* kinetic energy before and after the step, in J */
    /* Sum of all energies that are not hard, with the targets before and after the step, in J. */
    double elastic[2];
    /* Gravitational potential before and after the step in J, zero at the origin; with load_steps, of the gravity in
     * this step. */
    double gravity[2];
    double pins;        /* work of the pins on the particles, reaction times displacement, in J */
    double forces;      /* work of the forces that the caller set, and of loads, in J */
    double targets;     /* work in J of moving targets of position energies and of motors that are not hard, done at
                               the start of the step */
    double constraints; /* work of the forces of hard constraints on the particles, pins included, multiplier times
                               the gradient of C at the end of the step times displacement: work of hard motors and
                               moving targets, less the loss of implicit Euler where C is curved (a pendulum: < 0).
                               Solvers without multipliers (admm): of the energy's stiffness */
    /* Work in J of contact forces on the particles, normal and friction: work of moving colliders, less friction_heat
     * and energy absorbed by compliant contacts. */
    double contacts;
    double friction_heat; /* heat of friction in J, included in `contacts`, >= 0 */
    double restitution;   /* energy in J that restitution added to velocities after the step */
    /* Energy in J dissipated by implicit Euler, also if solved exactly: 1/2 |u - w|^2 in the metric of the masses, u
     * the velocity of the step and w the damped velocity before it, plus the deviation of the elastic energy from its
     * tangent at the end of the step, >= 0 if convex. Explicit integrators: the whole loss, < 0: a gain. */
    double lost_integrator;
    double lost_damping; /* energy in J dissipated by the damping of the world, of bodies and of energies */
    /* Energy in J dissipated by the solver, whose residual is not zero: minus residual times displacement; for solvers
     * with substeps also the kinetic energy that their velocities lack. < 0: a gain. */
    double lost_solver;
    double unaccounted; /* remainder of the energy balance in J, which is round-off */
} sinew_balance;

/* Returns the energy balance of the last step. SINEW_ERROR_UNSUPPORTED: the world's def does not enable `balance`.
 * SINEW_ERROR_DATA: before the first step, after a failed step, or after bodies were added or removed. */
SINEW_API sinew_status sinew_world_balance(const sinew_world *world, sinew_balance *balance, sinew_error *error);

/* ---- Saved states ---------------------------------------------------------------------------- */

/* A state is all data that stepping changes: positions, velocities, forces, targets, time, the data that the solver
 * keeps between steps, and the comment. A world built the same way that loads a state continues with the same bits.
 * The blob has tagged sections with checksums (docs/reference/run-files.md) and may come from an untrusted source.
 * Loading fails if the blob is damaged, of another version or precision, or if number, slots or sizes of its bodies,
 * targets or pins differ from the world's; the world is then unchanged. Generations of ids are not compared, because
 * a rebuilt world has other generations. */
SINEW_API size_t sinew_world_state_size(const sinew_world *world);
SINEW_API sinew_status sinew_world_state_save(const sinew_world *world, void *blob, size_t size);
SINEW_API sinew_status sinew_world_state_load(sinew_world *world, const void *blob, size_t size, sinew_error *error);
/* Outcome of restoring the bodies, the energies with targets, or the pins. */
typedef struct sinew_restored {
    int32_t taken;   /* number of objects that were restored from the state */
    int32_t kept;    /* number of objects left unchanged: not in the state, or with another number of points */
    int32_t dropped; /* number of objects in the state that are not in the world or have another number of points */
} sinew_restored;
typedef struct sinew_restore_report {
    sinew_restored bodies, targets, pins;
} sinew_restore_report;

/* Restores a state in a changed world (undo): objects that still exist (by id) with the same number of vertices
 * return to the state. All other objects are unchanged, and report (may be NULL) counts them. Time and step count
 * return to the state, because targets move with time; the comment is unchanged. The data that the solver keeps
 * between steps is restored if all objects match, otherwise reset. Fails for a damaged state and leaves the world
 * unchanged. */
SINEW_API sinew_status sinew_world_state_restore(sinew_world *world, const void *blob, size_t size,
                                                 sinew_restore_report *report, sinew_error *error);
/* Checks that the state belongs to a world like this one: SINEW_ERROR_DATA names the first difference in time step,
 * gravity, solver, meshes, energies, pins ("energies.0.neo_hookean.young was 100000, is 1e+06").
 * sinew_world_state_load() does not check this. */
SINEW_API sinew_status sinew_world_state_check(const sinew_world *world, const void *blob, size_t size,
                                               sinew_error *error);
/* Hash of positions, velocities and time of the world. */
SINEW_API uint64_t sinew_world_state_hash(const sinew_world *world);
/* Sets a text of the caller that is saved and loaded with the state; copied. NULL: none. */
SINEW_API sinew_status sinew_world_set_comment(sinew_world *world, const char *text);
/* Comment of the world; "": no comment; valid until it changes. */
SINEW_API const char *sinew_world_comment(const sinew_world *world);

/* ---- Build of the library -------------------------------------------------------------------- */

/* Returns the SIMD kernels in use: "avx2", "generic" or "scalar" (width 1). Chosen once per process, from the
 * processor and the environment variable SINEW_SIMD (one of these names), which tests and benchmarks set. */
SINEW_API const char *sinew_simd_name(void);
SINEW_API int32_t sinew_simd_width(void);

#ifdef __cplusplus
}
#endif
#endif
