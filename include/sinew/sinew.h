/* SPDX-License-Identifier: MIT
 *
 * sinew: deformable bodies, every solver taking the same step, each telling how far from the truth it stopped.
 *
 * A step of length h minimises
 *
 *     g(q) = 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j psi_j(q),    q_tilde = q_n + h v_n + h^2 M^-1 f_ext
 *
 * (implicit Euler; quasistatic: no first term, and -f_ext . q). One scene, one objective, one word to choose the
 * solver, and after each step a residual in newtons and a gap in joules. No status bit means solved.
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
 * Does not: share state between worlds (each may live on its own thread; one world is used by one thread at a
 * time), read clocks for anything but reports and time budgets, print, or keep pointers to caller's arrays after
 * a call returns (the hooks of the allocator and of the task system excepted).
 */
#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include "sinew/mesh.h"
#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- World --------------------------------------------------------------------------------- */

typedef struct sinew_world sinew_world;

/* Ids of the small things in a world. index < 0 means none. The place (index) of a removed thing is given to the next
 * one, lowest first, with the next generation (the first has 0): an id of what was removed is refused for ever. */
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
    SINEW_RECORD_NONE = 0,   /* no rows */
    SINEW_RECORD_ITERATIONS, /* one full sinew_iteration per iteration: costs one evaluation each */
    SINEW_RECORD_STEP        /* one row a step, of its end */
} sinew_record;

/* How much is measured of a step after its iterations. Each includes the ones before it; docs/solvers/index.md says
 * what each costs. */
typedef enum sinew_measure {
    SINEW_MEASURE_NOTHING = 0, /* residual, objective and gap are unknown (NaN), unless the solver needed them anyway;
                                  whether the step ended in numbers is still checked */
    SINEW_MEASURE_RESIDUAL,    /* objective and residual: one evaluation */
    SINEW_MEASURE_GAP          /* and how far above the minimum it ended, every gap_every steps */
} sinew_measure;

/* How steps are solved. Stops at the first of: iterations, tolerance reached, time budget spent. */
typedef struct sinew_solver_def {
    uint32_t cookie;
    sinew_solver_kind kind;
    int32_t iterations;   /* at most, >= 0. More: nearer to the minimum */
    sinew_real tolerance; /* on the relative residual, >= 0; 0: runs all iterations. Default 1e-8 (single 1e-4) */
    double time_budget;   /* s of wall clock per step; 0: none. Makes results depend on the machine */
    sinew_record record;
    sinew_measure measure; /* default SINEW_MEASURE_GAP */
    int32_t gap_every;     /* >= 1: the gap is found for every so many-th step of the world, the others get residuals.
                              Default 1 */
    sinew_real parameters[SINEW_PARAMETER_MAX]; /* as sinew_solver_info() describes them */
} sinew_solver_def;

SINEW_API sinew_solver_def sinew_default_solver_def(sinew_solver_kind kind);

typedef struct sinew_world_def {
    uint32_t cookie;
    sinew_allocator allocator;
    sinew_real time_step;  /* h, s, > 0. Default 1/60 */
    bool quasistatic;      /* true: each step finds the equilibrium at its time; masses only weigh gravity */
    sinew_real gravity[3]; /* m/s2. Default 0 -9.81 0 */
    int32_t load_steps; /* >= 0: gravity and forces grow in equal parts over so many first steps, so that each finds its
                           equilibrium near the last one's; 0, the default: all at once */
    sinew_real damping; /* 1/s, >= 0: velocities shrink by exp(-damping h) a step. Default 0 */
    int32_t thread_count;    /* 0: OMP_NUM_THREADS, or one per core. Results do not depend on it */
    sinew_task_system tasks; /* zero-filled, the default: threads of the library; else the program's own, which is asked
                                for thread_count - 1 tasks at a time */
    bool balance; /* true: each step is followed by its energy balance (sinew_world_balance) and keeps residual
                     and reactions (sinew_world_field): 16 numbers a particle, three evaluations more. Default
                     false. Results do not depend on it */
    sinew_solver_def solver;
} sinew_world_def;

SINEW_API sinew_world_def sinew_default_world_def(void);
SINEW_API sinew_world *sinew_world_create(const sinew_world_def *def, sinew_error *error); /* NULL on failure */
SINEW_API void sinew_world_destroy(sinew_world *world);                                    /* NULL is fine */

SINEW_API sinew_real sinew_world_time(const sinew_world *world);    /* s since the start */
SINEW_API int64_t sinew_world_step_count(const sinew_world *world); /* steps taken */
/* How far the numbers of particles go, those without a particle included (below). */
SINEW_API int32_t sinew_world_particle_count(const sinew_world *world);
SINEW_API int32_t sinew_world_thread_count(const sinew_world *world); /* that its steps use */
SINEW_API sinew_status sinew_world_set_solver(sinew_world *world, const sinew_solver_def *def, sinew_error *error);
SINEW_API sinew_status sinew_world_set_time_step(sinew_world *world, sinew_real h, sinew_error *error);

/* ---- Body ---------------------------------------------------------------------------------- */

/* Particles made from a mesh's vertices. Masses are lumped: each cell gives its vertices equal shares. */
typedef struct sinew_body_def {
    uint32_t cookie;
    const sinew_mesh *mesh;       /* rest shape; copied */
    sinew_real density;           /* kg/m3 on tets; without tets kg/m2 on triangles; without both kg/m on edges. > 0.
                                     Default 1000 */
    const sinew_real *masses;     /* kg [vertex_count], in place of density; NULL. A mass is finite and > 0 */
    const sinew_real *positions;  /* m [3 * vertex_count] where it starts; NULL: at rest */
    const sinew_real *velocities; /* m/s [3 * vertex_count]; NULL: zero */
    const char *name;             /* copied; no other body of the world has it. NULL: none */
    int32_t spare;              /* particle numbers kept free behind the body's, for vertices that are added later; 0 */
    sinew_real damping;         /* 1/s, >= 0: velocities shrink by exp(-damping h) after each step: Rayleigh's part in
                                   proportion to mass. Default 0 */
    sinew_real velocity_filter; /* [0, 1]: part of what velocities differ from the body's rigid motion by that is taken
                                   away after each step (Mueller et al. 2007, 3.5); 0, the default: none; 1: the body
                                   moves as if it were rigid */
} sinew_body_def;

SINEW_API sinew_body_def sinew_default_body_def(void);
SINEW_API sinew_body sinew_world_add_body(sinew_world *world, const sinew_body_def *def, sinew_error *error);
/* A rigid body of the shape of def->mesh, tets or a closed surface, filled evenly with def->density (kg/m3): a body of
 * four particles with its mass, centre and inertia, held together by six hard distances, on which the surface rides
 * (sinew/skin.h). The world's solver must take hard energies. Positions, velocities and masses of the def are NULL. */
SINEW_API sinew_body sinew_world_add_rigid(sinew_world *world, const sinew_body_def *def, sinew_error *error);
/* Takes a body out of a running world, together with the energies and pins that are on it alone. Refuses, naming it,
 * where an energy or pins are on other bodies too. Nothing of the others changes: neither ids nor particle numbers. */
SINEW_API sinew_status sinew_world_remove_body(sinew_world *world, sinew_body body, sinew_error *error);

/* Vertices for a body that is in the world already: copies of its own, as tearing needs them, or others. */
typedef struct sinew_vertices_def {
    uint32_t cookie;
    int32_t count;                /* >= 1 */
    const int32_t *copies_of;     /* [count] vertices of the body, in place of what is NULL below; NULL: no copies */
    const sinew_real *rest;       /* m [3 * count]; NULL: as the original */
    const sinew_real *positions;  /* m [3 * count]; NULL: as the original, else at rest */
    const sinew_real *velocities; /* m/s [3 * count]; NULL: as the original, else zero */
    const sinew_real *masses;     /* kg [count]; NULL: a vertex and its copies get equal parts of its mass */
} sinew_vertices_def;

SINEW_API sinew_vertices_def sinew_default_vertices_def(void);
/* The body's mesh gets them behind its others, the first being *first_vertex (may be NULL), and no cells that use them;
 * energies and pins keep their elements. They are free and without forces. A body that has no spare numbers, and others
 * behind it, moves to other particle numbers: sinew_body_first_particle() tells. Everything inside follows, vertex
 * numbers and ids stay. */
SINEW_API sinew_status sinew_body_add_vertices(sinew_world *world, sinew_body body, const sinew_vertices_def *def,
                                               int32_t *first_vertex, sinew_error *error);
/* Other cells for a body: those of a mesh of as many vertices, whose positions are not looked at. What is drawn and
 * what energies without a list of elements act on from now on; masses and the energies that are there stay. */
SINEW_API sinew_status sinew_body_set_mesh(sinew_world *world, sinew_body body, const sinew_mesh *mesh,
                                           sinew_error *error);

/* Places of bodies, those of removed ones included; which body is at one of them, index -1: its body was removed. */
SINEW_API int32_t sinew_world_body_count(const sinew_world *world);
SINEW_API sinew_body sinew_world_body_at(const sinew_world *world, int32_t place);
SINEW_API const sinew_mesh *sinew_body_mesh(const sinew_world *world, sinew_body body); /* the world's copy */
/* A body's vertices are the particles first .. first + vertex_count - 1. */
SINEW_API int32_t sinew_body_first_particle(const sinew_world *world, sinew_body body);
/* Goes up whenever bodies, their vertices or cells change: what was made of them (buffers, surfaces) is to be made
 * anew. */
SINEW_API int64_t sinew_world_shape_version(const sinew_world *world);

/* Batch access to particles `first` .. `first + count - 1`; arrays of 3 * count, masses of count. Numbers without a
 * particle, which are left where bodies were removed and given to the next that fits, and spare ones, read as zero, and
 * what is set there is ignored.
 * External forces (N) act besides gravity until set again. */
SINEW_API sinew_status sinew_world_get_positions(const sinew_world *world, int32_t first, int32_t count, sinew_real *q);
SINEW_API sinew_status sinew_world_set_positions(sinew_world *world, int32_t first, int32_t count, const sinew_real *q);
SINEW_API sinew_status sinew_world_get_velocities(const sinew_world *world, int32_t first, int32_t count,
                                                  sinew_real *v);
SINEW_API sinew_status sinew_world_set_velocities(sinew_world *world, int32_t first, int32_t count,
                                                  const sinew_real *v);
SINEW_API sinew_status sinew_world_get_masses(const sinew_world *world, int32_t first, int32_t count, sinew_real *m);
SINEW_API sinew_status sinew_world_set_forces(sinew_world *world, int32_t first, int32_t count, const sinew_real *f);

/* ---- Motions ------------------------------------------------------------------------------- */

/* A key-framed rigid motion of a base point X: pivot + R(t) (X - pivot) + T(t). Between keys translation and
 * rotation vector are interpolated linearly, before the first and after the last key they are held. A rotation
 * vector's length is the angle in radians and may exceed a full turn. Times ascend strictly. */
typedef struct sinew_key {
    sinew_real time;           /* s */
    sinew_real translation[3]; /* m */
    sinew_real rotation[3];    /* rad, rotation vector */
} sinew_key;
typedef struct sinew_motion {
    int32_t key_count;
    const sinew_key *keys; /* [key_count], copied by the call that takes the motion */
    sinew_real pivot[3];   /* m */
} sinew_motion;

/* ---- Energy -------------------------------------------------------------------------------- */

typedef enum sinew_energy_kind {
    SINEW_ENERGY_STRAIN = 0,          /* tets:  k/2 |F - R|^2 V               thesis (3.13)               */
    SINEW_ENERGY_COROTATED,           /* tets:  mu |F - R|^2 + lambda/2 (J-1)^2   PBNG (7)                */
    SINEW_ENERGY_NEO_HOOKEAN,         /* tets:  matched Lame parameters       PBNG (8)                    */
    SINEW_ENERGY_NEO_HOOKEAN_LOG,     /* tets:  with log J                    thesis (3.14)               */
    SINEW_ENERGY_STABLE_NEO_HOOKEAN,  /* tets:  Smith et al. 2018, re-parametrised  PBNG (10)             */
    SINEW_ENERGY_ST_VENANT_KIRCHHOFF, /* tets                                                            */
    SINEW_ENERGY_LINEAR,              /* tets:  small strain, not rotation invariant  PBNG (38)           */
    SINEW_ENERGY_SPRING,              /* edges: k/2 (|x1-x0| - L)^2                                       */
    SINEW_ENERGY_POSITION,            /* vertices: k/2 |x - target|^2, moving targets                     */
    SINEW_ENERGY_WEAK,                /* pairs of weighted points: 1/2 C^T K C    PBNG (18), (19)         */
    /* more on tets */
    SINEW_ENERGY_STRAIN_LIMIT,          /* strain, free between limits       Bouaziz et al. 2014, (22), (23) */
    SINEW_ENERGY_FIBRE_STRAIN,          /* strain along a direction, with limits                             */
    SINEW_ENERGY_VOLUME,                /* det F between bounds              Bouaziz et al. 2014, (24)-(26)  */
    SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC, /* shape and volume apart            NEO HOOKE of CalculiX, Abaqus   */
    SINEW_ENERGY_EXAMPLES,              /* strain from a blend of examples   Bouaziz et al. 2014, (17), (18) */
    SINEW_ENERGY_REINFORCED,            /* neo_hookean with fibres           Bonet and Burton 1998           */
    /* more on edges */
    SINEW_ENERGY_EDGE_STRAIN, /* k/2 L (l/L - s)^2, s = l/L clamped to limits   Bouaziz et al. 2014, 5.1 */
    /* on triangles: membranes and sets */
    SINEW_ENERGY_TRIANGLE_STRAIN,      /* triangles: distance to stretches within limits   PD (16)       */
    SINEW_ENERGY_WOVEN_STRAIN,         /* triangles: limits along warp and weft                           */
    SINEW_ENERGY_AREA,                 /* triangles: distance to areas within bounds       PD (24)       */
    SINEW_ENERGY_MEMBRANE_COROTATED,   /* triangles: mu |F - R|^2 + lambda/2 (J-1)^2       PBNG (36)     */
    SINEW_ENERGY_MEMBRANE_STVK,        /* triangles: h (mu |E|^2 + lambda/2 (tr E)^2) A                   */
    SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, /* triangles: incompressible rubber, plane stress                  */
    SINEW_ENERGY_BARAFF_WITKIN,        /* triangles: stretch and shear as conditions                      */
    SINEW_ENERGY_ORTHOTROPIC,          /* triangles: moduli along warp, weft and for shear                */
    /* on hinges and rings: bending */
    SINEW_ENERGY_HINGE,          /* hinges: D/2 |e|^2/A (theta - theta_0)^2           PBNG (35)           */
    SINEW_ENERGY_ISOMETRIC,      /* hinges: the same in small angles, quadratic       Bergou et al. 2006  */
    SINEW_ENERGY_MEAN_CURVATURE, /* wheels: D A/2 (|z| - L)^2, z the mean curvature   PD (20), (21)       */
    /* on shells: triangles with a slope at each edge */
    SINEW_ENERGY_SHELL_BENDING, /* shells: a plate's bending, Morley 1968; converges on every mesh          */
    /* on rods: edges with a frame */
    SINEW_ENERGY_ROD,      /* two segments: bending and twist, EI_1, EI_2, GJ     Bergou et al. 2008          */
    SINEW_ENERGY_DIRECTOR, /* director points: kept across their edge, at their distance                     */
    /* loads with a potential */
    SINEW_ENERGY_PRESSURE, /* triangles of a closed surface: -p V, p constant or of a gas */
    /* vector constraints, and constraints of a whole surface */
    SINEW_ENERGY_GREEN_STRAIN,    /* tets: st_venant_kirchhoff, six strains with a matrix of compliances */
    SINEW_ENERGY_ENCLOSED_VOLUME, /* triangles of a closed surface: k/(2 V_0) (V - f V_0)^2, one constraint */
    /* between two frames of four vertices each: rigid bodies, or tets */
    SINEW_ENERGY_JOINT,       /* k/2 sum C_i^2: ball, universal, hinge, cylinder, slider, fixed              */
    SINEW_ENERGY_JOINT_LIMIT, /* the same, one-sided: between which angles or places a joint may go          */
    SINEW_ENERGY_MOTOR,       /* drives a joint's angle or place to a moving target                          */
    SINEW_ENERGY_COUNT
} sinew_energy_kind;

typedef enum sinew_stencil {
    SINEW_STENCIL_TET = 0,  /* 4 vertices */
    SINEW_STENCIL_EDGE,     /* 2 */
    SINEW_STENCIL_VERTEX,   /* 1 */
    SINEW_STENCIL_PAIR,     /* 8: two points of up to four weighted vertices each */
    SINEW_STENCIL_TRIANGLE, /* 3 */
    SINEW_STENCIL_HINGE,    /* 4: an edge between two triangles, then the vertices opposite to it */
    SINEW_STENCIL_RING,     /* a vertex, then its neighbours; places that are left over repeat the vertex */
    SINEW_STENCIL_WHEEL,    /* the same for a vertex inside a surface, neighbours in order around it */
    SINEW_STENCIL_SHELL,    /* 6: a triangle, then the director points of the edges opposite to its vertices */
    SINEW_STENCIL_ROD,      /* 5: x0 x1 x2 of two edges that meet at x1, then the director points of both */
    SINEW_STENCIL_DIRECTOR, /* 3: an edge, then its director point */
    SINEW_STENCIL_FRAMES,   /* 8: the four vertices of one frame, then those of another */
    SINEW_STENCIL_COUNT
} sinew_stencil;

/* The name of elements of the stencil, in the plural: "tets"; NULL out of range. */
SINEW_API const char *sinew_stencil_name(sinew_stencil stencil);

/* One number that a user may set on an energy or a solver. */
typedef struct sinew_parameter {
    const char *name;    /* as in scene files, e.g. "young" */
    const char *unit;    /* SI, e.g. "Pa"; "" for a pure number */
    const char *choices; /* NULL, or words separated by '|' whose index is the value: "direct|cg" */
    double minimum;      /* range, both ends included unless `open` */
    double maximum;
    double preset;       /* the default */
    bool open_minimum;   /* true: the value must be greater than minimum */
    bool open_maximum;   /* true: the value must be less than maximum */
    const char *meaning; /* one line: what it is, what raising it does */
} sinew_parameter;

/* Capabilities that a solver may ask of an energy beyond value, gradient and Hessian. */
enum {
    SINEW_CAN_CONSTRAINT = 1 << 0, /* moves its vertices as a compliant constraint does (PBD, XPBD) */
    SINEW_CAN_PROJECT = 1 << 1,    /* a distance to a constraint set (PD) */
    SINEW_CAN_PROX = 1 << 2,       /* proximal map (ADMM) */
    SINEW_CAN_VERTEX = 1 << 3,     /* gradient and block of one vertex (PBNG) */
    SINEW_CAN_REDUCE = 1 << 4,     /* reduced coordinates and a stiffness in them (quasi-Newton, PD, ADMM) */
    SINEW_CAN_JACOBIAN = 1 << 5    /* C, its Jacobian and the compliance, as numbers */
};

typedef struct sinew_energy_info {
    const char *name;    /* as in scene files, e.g. "neo_hookean" */
    const char *summary; /* one line with the formula */
    sinew_stencil stencil;
    int32_t vertex_count; /* of one element */
    const sinew_parameter *parameters;
    int32_t parameter_count;
    uint32_t capabilities; /* SINEW_CAN_... */
} sinew_energy_info;

SINEW_API const sinew_energy_info *sinew_get_energy_info(sinew_energy_kind kind); /* NULL out of range */
SINEW_API sinew_energy_kind sinew_energy_by_name(const char *name);               /* SINEW_ENERGY_COUNT when unknown */
/* Index of a named parameter of the energy, -1 when it has none of that name. */
SINEW_API int32_t sinew_energy_parameter(sinew_energy_kind kind, const char *name);

typedef struct sinew_energy_def {
    uint32_t cookie;
    sinew_energy_kind kind;
    sinew_body body; /* whose vertices `elements` number; index -1: elements hold particle indices of the world */
    sinew_real parameters[SINEW_PARAMETER_MAX];                /* for every element, as sinew_energy_info says */
    const sinew_real *element_parameters[SINEW_PARAMETER_MAX]; /* [element_count] each in place of the above, or NULL */
    int32_t element_count;                                     /* of `elements`; ignored when that is NULL */
    const int32_t *elements;    /* [element_count * vertex_count]; NULL: every cell of the energy's stencil that
                                   the body has. Edges: the mesh's own, or of all cells when it has none; triangles
                                   and hinges: its own, or of the surface of its tets. PAIR needs it */
    const sinew_real *weights;  /* PAIR [8 * element_count]: four for each point, of sum 1, >= 0 but in rigid bodies */
    const sinew_real *normals;  /* PAIR [3 * element_count]: direction of normal_stiffness; NULL: z */
    const sinew_real *targets;  /* VERTEX [3 * element_count] m; NULL: where the particles are now */
    const sinew_motion *motion; /* VERTEX: moves the targets; NULL: they stand still */
    int32_t example_count;      /* 0 .. SINEW_EXAMPLE_MAX shapes for the energy `examples`; ignored by others */
    int32_t example_vertex_count; /* vertices of each: as many as the body has (index -1: as the world has particles) */
    const sinew_real *examples[SINEW_EXAMPLE_MAX]; /* [3 * example_vertex_count] m each: where the vertices are in it */
    bool transient; /* true: its elements come and go, as often as every step, at a cost in proportion to their number;
                       they are in no factor, so that many of them that stay cost pd, qn and admm more than fixed ones.
                       Default true for energies over pairs, false for others */
    /* How constraint solvers take the energy; other energies of the world may be taken otherwise.
     * Hard: xpbd and xpbd-qs give it no compliance, as pbd does with every energy; admm projects on its set; sap,
     * primal-dual, kkt, scd and dae meet its rows as one system (docs/constraints.md), and objective and residual are
     * then of the other energies; others refuse. In xpbd, pbd and admm residual and objective stay those of the energy
     * with its parameters. Gaps are unknown (hard.h). */
    bool hard;
    sinew_real damping; /* s, >= 0: Rayleigh's part in proportion to stiffness; motions of frequency omega (1/s) are
                           damped by damping omega / 2 of critical, rigid ones not at all (docs/loads.md). Not
                           for loads, nor quasistatic. Default 0 */
    sinew_real pbd_stiffness; /* pbd: how much of each correction is made, in (0, 1]; 0: as the solver says */
} sinew_energy_def;

SINEW_API sinew_energy_def sinew_default_energy_def(sinew_energy_kind kind);
SINEW_API sinew_energy sinew_world_add_energy(sinew_world *world, const sinew_energy_def *def, sinew_error *error);
SINEW_API int32_t sinew_energy_element_count(const sinew_world *world, sinew_energy energy);
/* Places of energies, those of removed ones included; which energy is at one of them, index -1: it was removed. */
SINEW_API int32_t sinew_world_energy_count(const sinew_world *world);
SINEW_API sinew_energy sinew_world_energy_at(const sinew_world *world, int32_t place);
SINEW_API sinew_energy_kind sinew_energy_kind_of(const sinew_world *world, sinew_energy energy); /* COUNT: bad id */
/* The vertices of elements first .. first + count - 1: particles of the world [count * vertex_count], in the order of
 * the def, and where they have weights these [count * 8]; either may be NULL. */
SINEW_API sinew_status sinew_energy_get_elements(const sinew_world *world, sinew_energy energy, int32_t first,
                                                 int32_t count, int32_t *particles, sinew_real *weights,
                                                 sinew_error *error);

/* Changes of an energy while the world runs. Each takes effect with the next step, costs no more than it must
 * (docs/embedding.md), and a refusal names the energy and leaves the world as it was. The changed world steps as one
 * would that was made so from the start; only what a solver remembers from step to step (the state holds it) is kept.
 *
 * New elements in place of all that it has, with everything that belongs to them, as `def` says; of the same kind and
 * as transient or fixed as it is. `hard` and `pbd_stiffness` stay as it was added with. */
SINEW_API sinew_status sinew_energy_set_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                                 sinew_error *error);
/* Adds elements behind those that it has, as `def` says; *first (may be NULL) is the number of the first of them. Takes
 * elements out, each listed once; those behind close up. Both cost what the whole list costs, and are not for energies
 * with targets. */
SINEW_API sinew_status sinew_energy_add_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                                 int32_t *first, sinew_error *error);
SINEW_API sinew_status sinew_energy_remove_elements(sinew_world *world, sinew_energy energy, const int32_t *elements,
                                                    int32_t count, sinew_error *error);
/* Switches elements off, or on again: `elements` [count], each once, or NULL for all of them. One that is off does
 * nothing and keeps its number and place. */
SINEW_API sinew_status sinew_energy_switch(sinew_world *world, sinew_energy energy, const int32_t *elements,
                                           int32_t count, bool on, sinew_error *error);
SINEW_API bool sinew_energy_is_on(const sinew_world *world, sinew_energy energy, int32_t element);
/* A parameter by its name, e.g. "young": one value for all elements, or values [element_count]. */
SINEW_API sinew_status sinew_energy_set_parameter(sinew_world *world, sinew_energy energy, const char *name,
                                                  sinew_real value, sinew_error *error);
SINEW_API sinew_status sinew_energy_set_element_parameters(sinew_world *world, sinew_energy energy, const char *name,
                                                           const sinew_real *values, sinew_error *error);
SINEW_API sinew_status sinew_energy_get_parameter(const sinew_world *world, sinew_energy energy, const char *name,
                                                  int32_t element, sinew_real *value, sinew_error *error);
/* Rest shapes of elements first .. first + count - 1 in place of the bodies' (creep, growth): rest
 * [count * vertex_count * 3] m, the vertices as the def numbered them. Masses stay. */
SINEW_API sinew_status sinew_energy_set_rest(sinew_world *world, sinew_energy energy, int32_t first, int32_t count,
                                             const sinew_real *rest, sinew_error *error);
/* New targets of a VERTEX energy, [3 * element_count] m. Replaces its motion. */
SINEW_API sinew_status sinew_energy_set_targets(sinew_world *world, sinew_energy energy, const sinew_real *targets,
                                                sinew_error *error);
/* The multipliers: what each constraint pulled with in the last step (xpbd, xpbd-qs, pbd, and sap, primal-dual, kkt,
 * scd and dae, of the energies that are rows of their system): values[element][constraint], as many constraints an
 * element as *count / element_count (neo_hookean: 2, the second for its split form). The force on a particle is the
 * value times the gradient of C: N for springs, position and weak energies, whose C is a length, J for tets, whose C is
 * a pure number; negative pulls C down. *count says how many there are, also when `capacity` is too small
 * (SINEW_ERROR_DATA); SINEW_ERROR_UNSUPPORTED where there are none. */
SINEW_API sinew_status sinew_energy_multipliers(const sinew_world *world, sinew_energy energy, int32_t capacity,
                                                sinew_real *values, int32_t *count, sinew_error *error);
SINEW_API sinew_status sinew_world_remove_energy(sinew_world *world, sinew_energy energy, sinew_error *error);

/* ---- Tearing ------------------------------------------------------------------------------- */

/* A body that tears where its edges are stretched too far. Before each step but the first the edges of its cells are
 * looked at; those longer than 1 + limit of their rest length tear, the most stretched first. */
typedef struct sinew_tear_def {
    uint32_t cookie;
    sinew_body body;
    sinew_real limit; /* strain, > 0. Default 0.5 */
    bool split; /* true (default): the mesh opens at an end of the edge that no pin holds: the vertex gets copies, each
                   side of the tear its own, which share its mass; elements follow their cells, and bending across
                   the tear ends. false: the edge goes: elements that have both its ends as neighbours are switched
                   off, and cells that have it are drawn no more */
    int32_t most; /* edges a step, >= 1. Default 16 */
} sinew_tear_def;

typedef struct sinew_tear_report {
    int64_t edges;    /* that tore */
    int64_t vertices; /* copies that were made */
    int64_t
        refused; /* times that an edge was over the limit and stayed: both ends are pinned, or nothing opens there */
} sinew_tear_report;

SINEW_API sinew_tear_def sinew_default_tear_def(void);
/* Tearing by this def from the next step on, in place of what was said before. Refuses a body with a skin or with
 * director points, and elements that cannot tear (shells, rods, pressure), by name. sinew_world_shape_version() goes up
 * in a step that begins with a tear. States carry the tears: they load into a world that was built the same way and is
 * torn no further. */
SINEW_API sinew_status sinew_body_set_tear(sinew_world *world, const sinew_tear_def *def, sinew_error *error);
/* Whether a body may tear. */
SINEW_API bool sinew_body_tears(const sinew_world *world, sinew_body body);
/* Since the body was added; zeros without tearing. */
SINEW_API sinew_status sinew_body_torn(const sinew_world *world, sinew_body body, sinew_tear_report *report,
                                       sinew_error *error);

/* ---- Pins ---------------------------------------------------------------------------------- */

/* Particles whose motion is prescribed. Exact in every solver: removed from the unknowns. Pins that hold some
 * directions only, as rails and rollers do, are for solvers that take them (sinew_solver_info.directions); others
 * refuse them by name. Several such pins may hold one particle, as long as each of their directions adds something. */
typedef struct sinew_pin_def {
    uint32_t cookie;
    sinew_body body;              /* whose vertices are numbered; index -1: particle indices of the world */
    int32_t vertex_count;         /* >= 1 */
    const int32_t *vertices;      /* [vertex_count]; a particle that is held in all directions may be in one pin only */
    const sinew_real *targets;    /* [3 * vertex_count] m base points; NULL: where the particles are now */
    const sinew_motion *motion;   /* moves the base points; NULL: they stand still */
    int32_t direction_count;      /* 1, 2 or 3 directions; not looked at without */
    const sinew_real *directions; /* [3 * direction_count] fixed in space, of any length, in any frame: along these n
                                     the particles are where the base points are, n.x = n.t, and free otherwise; their
                                     velocities along n follow. NULL, the default: held in all directions */
} sinew_pin_def;

SINEW_API sinew_pin_def sinew_default_pin_def(void);
SINEW_API sinew_pin sinew_world_add_pins(sinew_world *world, const sinew_pin_def *def, sinew_error *error);
/* Where the pinned particles are at the end of the coming step, [3 * vertex_count]. Replaces its motion. */
SINEW_API sinew_status sinew_pin_set_targets(sinew_world *world, sinew_pin pin, const sinew_real *targets,
                                             sinew_error *error);
/* Other key frames for its base points (those of the def, or last set); NULL: they stand still there. */
SINEW_API sinew_status sinew_pin_set_motion(sinew_world *world, sinew_pin pin, const sinew_motion *motion,
                                            sinew_error *error);
SINEW_API sinew_status sinew_world_remove_pins(sinew_world *world, sinew_pin pin, sinew_error *error);
/* The particles that are pinned, ascending; at most `capacity` are written, how many there are is returned. */
SINEW_API int32_t sinew_world_pinned(const sinew_world *world, int32_t capacity, int32_t *particles);

/* ---- Solver -------------------------------------------------------------------------------- */

typedef struct sinew_solver_info {
    const char *name; /* as in scene files, e.g. "newton" */
    const char *summary;
    const sinew_parameter *parameters;
    int32_t parameter_count;
    int32_t default_iterations;
    uint32_t needs;     /* SINEW_CAN_... of every energy in the world */
    bool quasistatic;   /* can it find an equilibrium */
    bool static_only;   /* and nothing else: no steps with inertia */
    bool explicit_step; /* it takes the forces that a step begins with and minimises nothing: no gap, and
                           SINEW_STEP_EXPLICIT in place of a verdict */
    bool directions;    /* takes pins that hold some directions only */
} sinew_solver_info;

SINEW_API const sinew_solver_info *sinew_get_solver_info(sinew_solver_kind kind);
SINEW_API sinew_solver_kind sinew_solver_by_name(const char *name); /* SINEW_SOLVER_COUNT when unknown */
SINEW_API int32_t sinew_solver_parameter(sinew_solver_kind kind, const char *name);
/* Whether the pair works. When not, `why` (may be NULL) receives the reason and the way out. */
SINEW_API bool sinew_solver_accepts(sinew_solver_kind solver, sinew_energy_kind energy, char *why, size_t size);

/* ---- Step ---------------------------------------------------------------------------------- */

/* Status bits of a step: each names something that went not quite right; 0: the step is solved. */
enum {
    SINEW_STEP_NOT_CONVERGED = 1 << 0, /* stopped on iterations or time above the tolerance (default where that is 0):
                                          raise iterations, or accept the residual; usual for xpbd and pbd */
    SINEW_STEP_NOT_FINITE = 1 << 1,    /* a value became non-finite: the last good state is kept; lower h */
    SINEW_STEP_INVERTED = 1 << 2,      /* some tet has det F <= 0: refine, lower h, or use an energy that recovers */
    SINEW_STEP_INDEFINITE = 1 << 3, /* a Hessian was not positive definite (direct: and was shifted): use projection */
    SINEW_STEP_STALLED = 1 << 4,    /* no further decrease above round-off, tolerance not reached */
    SINEW_STEP_UNPREPARED = 1 << 5, /* could not set up (memory, singular system): see sinew_world_error() */
    SINEW_STEP_ROUND_OFF = 1 << 6,  /* forces are within round-off, but that is too coarse to tell the step solved:
                                       softer materials, smaller h, double precision, or measure the gap */
    SINEW_STEP_UNMEASURED = 1 << 7, /* nothing was measured (SINEW_MEASURE_NOTHING): whether it is solved is unknown */
    /* The next four are set by contact alone (sinew/contact.h); sinew_world_contact_report() has the figures. */
    SINEW_STEP_CONTACT = 1 << 8,   /* surfaces are too near, or friction is not what they bear: raise iterations */
    SINEW_STEP_HELD_BACK = 1 << 9, /* the guard held vertices, pins or colliders: raise iterations or epochs, lower h */
    SINEW_STEP_CONTACT_FULL = 1 << 10, /* pair_limit was reached: some pairs have neither guard nor force */
    SINEW_STEP_CROSSED = 1 << 11,      /* surfaces cross, as they did when the world began: move them apart */
    SINEW_STEP_EXPLICIT = 1 << 12,     /* an explicit integrator made the step, which is what it should be and no
                                          minimum: objective and residual are those of implicit Euler's step at the same
                                          place, and no error of this one; sinew_world_stability() tells its limits */
    /* The next two are of hard constraints (docs/constraints.md); result->constraints names them. */
    SINEW_STEP_CONSTRAINTS = 1 << 13,  /* hard constraints are not met to the tolerance: raise iterations, lower h */
    SINEW_STEP_CONTRADICTORY = 1 << 14 /* and cannot be: some of them exclude each other; the last good state is kept */
};
/* Writes the names of set bits, separated by '|', e.g. "not_converged|inverted". */
SINEW_API const char *sinew_step_bit_name(uint32_t bit);

/* One row per iteration; row 0 is the starting guess. */
typedef struct sinew_iteration {
    int32_t iteration;
    double seconds;                     /* since the step began */
    double objective, inertia, elastic; /* J: g and its two terms (elastic holds -f.q when quasistatic) */
    double residual;                    /* N: |grad g| over the free particles */
    double linear_momentum[3];          /* kg m/s of (q - q_n)/h */
    double angular_momentum[3];         /* kg m2/s about the origin */
    double own_objective; /* J: what the solver's iterations go down on where its parameters make that another function
                             (pd with coordinates or sets of its own); else the objective */
} sinew_iteration;

/* How well the energy above the minimum is known. The minimum is the one that lies downhill from where the step ended;
 * another valley may be lower, which cannot be told from there. */
typedef enum sinew_gap_kind {
    SINEW_GAP_NONE = 0, /* not asked for; gap is NaN */
    SINEW_GAP_ESTIMATE, /* gap is the estimate, checked by going there on a copy */
    SINEW_GAP_BELOW,    /* the true gap is less than `gap`, which is the round-off of g */
    SINEW_GAP_UNKNOWN   /* could not be had; gap is +inf, gap_reason says why */
} sinew_gap_kind;

typedef struct sinew_step_result {
    uint32_t bits; /* SINEW_STEP_... */
    int32_t iterations;
    double seconds;                     /* of the solver: without predicting, set-up and the estimate of the gap */
    double objective, inertia, elastic; /* J where the residual is of */
    double residual;                    /* N at the end; after not_finite at the start, whose state is kept */
    double relative_residual;           /* residual / (|grad g| at the start of the step), at least round-off; NaN
                                           where that start was not measured */
    sinew_gap_kind gap_kind;            /* what `gap` is */
    double gap;                         /* J: g(q) less the minimum that lies downhill from q; see gap_kind */
    const char *gap_reason;             /* why the gap is unknown, static text; "" otherwise */
    double gap_seconds;                 /* that finding the gap took */
    int32_t gap_steps;                  /* of Newton's method, on a copy, that the gap took */
    int32_t gap_linear_iterations;      /* of conjugate gradients in them; 0 in small worlds, which factorise */
    int32_t linear_iterations; /* of inner linear solvers, summed; of pd, qn and admm: solves with the factor */
    /* How hard constraints are met, by a solver that takes them as a system; NaN otherwise. Objective, residual and
     * stationarity are then of the energies that are not hard, and constraints pull with J^T lambda. */
    double violation;        /* largest |C| of hard constraints, in the unit of C (m for lengths) */
    double stationarity;     /* N: |grad g - J^T lambda|, which is the residual */
    double complementarity;  /* J: largest |lambda C| of inequalities, 0 without any */
    const char *constraints; /* which hard constraints are redundant, violated or contradictory; "": nothing to say.
                                Valid until the next step */
} sinew_step_result;

/* Takes one step. Returns the bits, also in result (may be NULL). Once warmed up it makes no heap call (`linear` = lu
 * and qr of newton excepted, whose libraries allocate each factor). */
SINEW_API uint32_t sinew_world_step(sinew_world *world, sinew_step_result *result);
/* Rows of the last step, as many as `record` of its solver asks for; valid until the next. */
SINEW_API const sinew_iteration *sinew_world_iterations(const sinew_world *world, int32_t *count);
/* The text behind SINEW_STEP_UNPREPARED; "" otherwise. */
SINEW_API const char *sinew_world_error(const sinew_world *world);
/* Does now what the first step would do: ordering, factorisation. Refuses what cannot be stepped. */
SINEW_API sinew_status sinew_world_prepare(sinew_world *world, sinew_error *error);

/* ---- Measures ------------------------------------------------------------------------------ */

/* Measures of the state as it is now. */
typedef struct sinew_measures {
    double kinetic;   /* J */
    double elastic;   /* J, all energies */
    double potential; /* J, gravity and external forces, zero at the origin */
    double residual;  /* N: net force on the free particles (elastic + external) */
    double mass;      /* kg */
    double centre_of_mass[3];
    double linear_momentum[3];
    double angular_momentum[3];
    double det_min, det_max; /* of F over the tets; both 1 without tets */
    int32_t inverted_count;  /* tets with det F <= 0 */
} sinew_measures;

SINEW_API sinew_status sinew_world_measure(sinew_world *world, sinew_measures *measures);
/* Which tets have det F <= 0: the energies they belong to and their numbers among its elements, at most `capacity` of
 * them. Returns how many there are. */
SINEW_API int32_t sinew_world_inverted(const sinew_world *world, int32_t capacity, sinew_energy *energies,
                                       int32_t *elements);
/* The step's objective at any positions q [3 * particle_count], for the step that would come next:
 * value (J) and, when gradient is not NULL, grad g [3 * particle_count] (N, zero at pins). */
SINEW_API sinew_status sinew_world_objective(sinew_world *world, const sinew_real *q, double *value,
                                             sinew_real *gradient);

/* Whether an explicit integrator will explode, found before the first step or at any other moment. Of all small motions
 * about the present state the fastest is the one that decides. Damping of the world is counted in, that of bodies and
 * energies is not. */
typedef struct sinew_stability {
    double omega_max;      /* 1/s: its frequency, the root of the largest eigenvalue of M^-1 K, K the second derivatives
                              of all energies over the free particles; 0 where nothing swings */
    double growth;         /* by which it grows in a step of the world's solver and time step, beside 1 where it neither
                              grows nor is damped; NaN: that solver is not explicit */
    double time_step_most; /* s: with h below it it does not grow; 0: there is no such h; infinite: with every h */
    int32_t products;      /* of K with a vector that finding omega_max took */
} sinew_stability;

/* Allocates, and gives all back; the world stays as it is. */
SINEW_API sinew_status sinew_world_stability(sinew_world *world, sinew_stability *stability, sinew_error *error);

/* How a sweep of the world's solver runs: through *colour_count colours, one after the other, of particles (pbng) or of
 * constraints (pbd, xpbd, xpbd-qs: of all energies together); the members of one move side by side. 0: it has none.
 * In a large world parts of it go through the colours of their constraints by themselves, before those between parts.
 * colours (may be NULL) [particle_count] receives the colour of each particle, -1 where it has none. */
SINEW_API sinew_status sinew_world_colours(sinew_world *world, int32_t *colour_count, int32_t *colours);

/* ---- Names ---------------------------------------------------------------------------------- */

SINEW_API sinew_body sinew_world_body_by_name(const sinew_world *world, const char *name); /* index -1: none has it */
SINEW_API const char *sinew_body_name(const sinew_world *world, sinew_body body); /* "" without one; until removed */

/* ---- Settings of a running world ------------------------------------------------------------ */

/* Values that the def began with, as they are now. The setters refuse what the def would be refused for, and the world
 * stays as it was. Gravity, damping and forces take effect with the next step and need no set-up; a new time step or
 * solver makes the next step set up what depends on it. */
SINEW_API sinew_status sinew_world_set_gravity(sinew_world *world, const sinew_real gravity[3], sinew_error *error);
SINEW_API sinew_status sinew_world_get_gravity(const sinew_world *world, sinew_real gravity[3]); /* m/s2 */
SINEW_API sinew_status sinew_world_set_damping(sinew_world *world, sinew_real damping, sinew_error *error);
SINEW_API sinew_real sinew_world_damping(const sinew_world *world);      /* 1/s */
SINEW_API sinew_real sinew_world_time_step(const sinew_world *world);    /* h, s */
SINEW_API bool sinew_world_quasistatic(const sinew_world *world);        /* cannot be changed */
SINEW_API int32_t sinew_world_load_steps(const sinew_world *world);      /* cannot be changed */
SINEW_API sinew_solver_def sinew_world_solver(const sinew_world *world); /* to change and to set again */
/* External forces (N) of particles `first` .. `first + count - 1`, as they were set; f [3 * count]. */
SINEW_API sinew_status sinew_world_get_forces(const sinew_world *world, int32_t first, int32_t count, sinew_real *f);

/* Parameters of a def by the names that scene files use: "young", "linear". A name that the energy or solver does not
 * have (the text names the nearest) or a value out of its range is SINEW_ERROR_DATA, and the def stays as it was.
 * Solvers also take "iterations", "tolerance", "time_budget", "gap_every", "measure" and "record". A word sets the
 * parameters that have choices: "cg" of "direct|cg". */
SINEW_API sinew_status sinew_energy_def_set(sinew_energy_def *def, const char *name, double value, sinew_error *error);
SINEW_API sinew_status sinew_energy_def_set_word(sinew_energy_def *def, const char *name, const char *word,
                                                 sinew_error *error);
SINEW_API sinew_status sinew_solver_def_set(sinew_solver_def *def, const char *name, double value, sinew_error *error);
SINEW_API sinew_status sinew_solver_def_set_word(sinew_solver_def *def, const char *name, const char *word,
                                                 sinew_error *error);

/* Positions without a copy. They lie in an order of the world's own: coordinate c of particle i is
 * q[stride * inside[i] + c]. The pointers are valid as long as sinew_world_shape_version() stays the same and
 * the world is not destroyed; the coordinates change with every step and every call that sets positions. */
typedef struct sinew_positions_view {
    const sinew_real *q;   /* m */
    int32_t stride;        /* reals from one point to the next */
    const int32_t *inside; /* [particle_count] where each particle's point is; negative: there is no particle */
    int32_t particle_count;
} sinew_positions_view;

SINEW_API sinew_positions_view sinew_world_positions_view(const sinew_world *world);

/* ---- Attach --------------------------------------------------------------------------------- */

/* Vertices of one body joined to the nearest places of another, where these are near enough: on its surface (of its
 * skin, where it has one; else triangles; without them edges; without both vertices), or at its vertices. What scenes
 * have as "within". */
typedef struct sinew_attach_def {
    uint32_t cookie;
    sinew_body from, to;     /* vertices of `from` go to places of `to`; may be the same */
    int32_t vertex_count;    /* of `vertices` */
    const int32_t *vertices; /* [vertex_count] of `from`; NULL: all */
    double distance;         /* m, >= 0: farther ones are not joined */
    bool from_skin;          /* true: `vertices` are those of the skin of `from`, joined with their weights; one
                                outside its cell (negative weights) is joined at the cell's border */
    bool to_vertices;        /* true: only vertices of `to` are places */
    bool now;                /* true: distances are those of the bodies as they are; else of their rest shapes */
    sinew_real normal[3];    /* direction of normal_stiffness of all pairs; zero: z */
    sinew_energy_def energy; /* over pairs, with its parameters; elements, weights and normals are the call's */
} sinew_attach_def;

SINEW_API sinew_attach_def sinew_default_attach_def(void); /* energy: weak */
/* Makes one energy of all pairs. Refuses, with the smallest distance, when none is near enough. */
SINEW_API sinew_energy sinew_world_attach_within(sinew_world *world, const sinew_attach_def *def, sinew_error *error);

/* ---- Surface -------------------------------------------------------------------------------- */

/* The shape that viewers draw, in particle numbers: the boundary of the tetrahedra, or the triangles of bodies without
 * tetrahedra, outward where they have an outside; and the edges of bodies that have neither. Body after body, each in
 * the order of sinew_mesh_surface(). It depends on meshes and energies, not on positions: it stays the same as
 * long as sinew_world_shape_version() does and no energy is added or removed. */
typedef struct sinew_surface {
    int32_t triangle_count;  /* room in the arrays before the call, how many there are after it */
    int32_t *triangles;      /* [3 * triangle_count] particles, or NULL */
    sinew_body *bodies;      /* [triangle_count] or NULL */
    sinew_energy *materials; /* [triangle_count] or NULL: the first energy over the tetrahedron behind each; index -1:
                                none acts on it, or there is no tetrahedron */
    int32_t edge_count;
    int32_t *edges;          /* [2 * edge_count] particles, or NULL */
    sinew_body *edge_bodies; /* [edge_count] or NULL */
} sinew_surface;

/* With a zeroed struct it only counts; with arrays of those sizes it fills them. SINEW_ERROR_DATA: there is too little
 * room; the counts then say how much it takes. */
SINEW_API sinew_status sinew_world_surface(const sinew_world *world, sinew_surface *surface, sinew_error *error);

/* ---- Fields --------------------------------------------------------------------------------- */

/* Numbers of each particle, or of each element of an energy. */
typedef enum sinew_field_kind {
    /* Fields of particles, 3 numbers each (sinew_world_field). */
    SINEW_FIELD_FORCE = 0, /* N: elastic and external force as the state is now, at pins too */
    SINEW_FIELD_RESIDUAL,  /* N: grad g of the last step where it ended, as sinew_world_objective() would give it for
                              that step: zero where forces and inertia balance. Its norm is the step's residual. Zero
                              at pins. Quasistatic: minus the force as the state is now */
    SINEW_FIELD_REACTION,  /* N: force that its pin exerted on each particle in the last step, so that it moved as
                              prescribed: M (u - w) / h - elastic - external force, u being its velocity over the step
                              and w the damped one before. Quasistatic: minus the force as the state is now. Zero
                              where nothing is pinned */
    /* Fields of elements (sinew_energy_field). */
    SINEW_FIELD_DETERMINANT, /* 1 number a tet, det F: how many times its rest volume it has; <= 0: inside out */
    SINEW_FIELD_STRETCHES,   /* 3 numbers a tet: singular values of F, descending, the last with the sign of det F; of a
                                sheet's triangle its two, descending, then 0 */
    SINEW_FIELD_VON_MISES,   /* 1 number a tet, Pa: sqrt(3/2 s : s) of the deviator s of the Cauchy stress; +inf where
                                det F is 0, not a number where the energy is infinite */
    SINEW_FIELD_ENERGY,      /* 1 number an element: J/m3 of rest volume for tets, J for all others */
    /* A field of particles again, 3 numbers each. */
    SINEW_FIELD_CONTACT_FORCE, /* N: what contacts did to each particle in the last step, normal forces and friction */
    SINEW_FIELD_COUNT
} sinew_field_kind;

typedef struct sinew_field_info {
    const char *name; /* e.g. "von_mises" */
    const char *unit;
    const char *summary;     /* one line */
    int32_t component_count; /* numbers for each particle or element */
    bool of_elements;        /* of elements; else of particles */
} sinew_field_info;

SINEW_API const sinew_field_info *sinew_get_field_info(sinew_field_kind field); /* NULL out of range */
SINEW_API sinew_field_kind sinew_field_by_name(const char *name);               /* SINEW_FIELD_COUNT when unknown */

/* A field of the particles `first` .. `first + count - 1`, out [3 * count]. Residual and reaction of a dynamic world
 * need `balance` of its def (SINEW_ERROR_UNSUPPORTED without) and a step (SINEW_ERROR_DATA); forces of contacts need
 * contact and a step. A field of elements is
 * SINEW_ERROR_UNSUPPORTED. May allocate; load steps and targets are those of sinew_world_measure(). */
SINEW_API sinew_status sinew_world_field(sinew_world *world, sinew_field_kind field, int32_t first, int32_t count,
                                         sinew_real *out, sinew_error *error);
/* A field of the elements of an energy as the state is now: values[element][component]. *count says how many numbers
 * there are, also when `capacity` is too small (SINEW_ERROR_DATA); SINEW_ERROR_UNSUPPORTED for fields that its elements
 * do not have. */
SINEW_API sinew_status sinew_energy_field(sinew_world *world, sinew_energy energy, sinew_field_kind field,
                                          int32_t capacity, sinew_real *values, int32_t *count, sinew_error *error);

/* ---- Balance of a step ---------------------------------------------------------------------- */

/* Where the energy of the last step came from and went, J. In the energy E = kinetic + elastic + gravity
 *
 *     E after - E before = pins + forces + targets + contacts + restitution
 *                          - lost_integrator - lost_damping - lost_solver + unaccounted
 *
 * Each number is computed by itself; unaccounted is what is then left over: round-off. What is changed between two
 * steps (parameters, targets that are set, gravity) belongs to neither: E before is not E after of the step before. */
typedef struct sinew_balance {
    double kinetic[2];      /* before and after the step */
    double elastic[2];      /* all energies, targets where they were and where they are */
    double gravity[2];      /* potential, zero at the origin; with load_steps of the part that acts in this step */
    double pins;            /* work of the pins on the particles: reaction times way */
    double forces;          /* work of the forces that were set */
    double targets;         /* work of targets of position energies that a motion moved, done at the step's start */
    double contacts;        /* work of the forces of contacts on the particles, normal and friction: what moving
                               colliders do, less friction_heat and what contacts that give way take */
    double friction_heat;   /* heat of friction, a part of the above, >= 0 */
    double restitution;     /* what bouncing gave to velocities after the step */
    double lost_integrator; /* by implicit Euler, also when solved exactly: 1/2 |u - w|^2 in the metric of the masses, u
                               the velocity of the step and w the (damped) one before, and the part of the elastic
                               energy that its tangent at the end of the step does not see, >= 0 where it is convex;
                               of an explicit integrator all that it lost, < 0: it gained */
    double lost_damping;    /* by the damping of the world, of bodies and of energies */
    double lost_solver;     /* because it stopped before the residual was zero: minus residual times way; and, where it
                               gives velocities of its own (substeps), what these hold less than the step's. < 0: it put
                               energy in */
    double unaccounted;     /* round-off */
} sinew_balance;

/* SINEW_ERROR_UNSUPPORTED without `balance` of the world's def, SINEW_ERROR_DATA before the first step, after one that
 * failed, or when bodies came or went since. */
SINEW_API sinew_status sinew_world_balance(const sinew_world *world, sinew_balance *balance, sinew_error *error);

/* ---- State --------------------------------------------------------------------------------- */

/* Everything that changes while stepping: positions, velocities, forces, targets, time, what the solver remembers from
 * step to step, and the note. A world built the same way that loads it goes on with the same bits. The blob is made of
 * tagged sections with checksums (docs/runs.md) and may come from anywhere: one that is damaged, of another version or
 * precision, or whose bodies, targets or pins are not as many, at the same places and as large as the world's is
 * refused, and the world stays as it was. Generations of ids are not asked for, as a world that is built again has its
 * own. */
SINEW_API size_t sinew_world_state_size(const sinew_world *world);
SINEW_API sinew_status sinew_world_state_save(const sinew_world *world, void *blob, size_t size);
SINEW_API sinew_status sinew_world_state_load(sinew_world *world, const void *blob, size_t size, sinew_error *error);
/* How it went with the bodies, the energies that have targets, or the pins of a world and a state. */
typedef struct sinew_restored {
    int32_t taken;   /* are as they were in the state */
    int32_t kept;    /* are not in the state, or had another number of points: left as they are */
    int32_t dropped; /* of the state that are not in the world any more, or not with that number of points */
} sinew_restored;
typedef struct sinew_restore_report {
    sinew_restored bodies, targets, pins;
} sinew_restore_report;

/* Undo in a world that has changed: what is still there, by id, and has as many vertices goes back to where it was in
 * the state; the rest of the world is left alone, and report (may be NULL) tells how many of each. The time and the
 * count of steps are the state's, as targets move with time; the note is left alone; what the solver remembers is taken
 * where all fits, otherwise it begins anew. Refuses a state that is damaged, and the world stays as it was. */
SINEW_API sinew_status sinew_world_state_restore(sinew_world *world, const void *blob, size_t size,
                                                 sinew_restore_report *report, sinew_error *error);
/* Whether the state belongs to a world like this one: SINEW_ERROR_DATA names the first difference in time step,
 * gravity, solver, meshes, energies, pins ("energies.0.neo_hookean.young was 100000, is 1e+06"). load does not ask. */
SINEW_API sinew_status sinew_world_state_check(const sinew_world *world, const void *blob, size_t size,
                                               sinew_error *error);
SINEW_API uint64_t sinew_world_state_hash(const sinew_world *world); /* of positions, velocities and time */
/* A text of the caller's own that is saved and loaded with the state; copied, NULL: none. */
SINEW_API sinew_status sinew_world_set_note(sinew_world *world, const char *text);
SINEW_API const char *sinew_world_note(const sinew_world *world); /* "" when there is none; valid until it changes */

/* ---- Build --------------------------------------------------------------------------------- */

/* The lane kernels in use: "avx2", "sse2", "generic" or "scalar" (width 1). Chosen once, from the processor and
 * the environment variable SINEW_LANES (one of those words), which tests and benchmarks set. */
SINEW_API const char *sinew_lanes_name(void);
SINEW_API int32_t sinew_lanes_width(void);

#ifdef __cplusplus
}
#endif
#endif
