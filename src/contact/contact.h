/* SPDX-License-Identifier: MIT
 *
 * contact.h: state of contact handling of a world, and the contact stages of a time step.
 *
 *     begin     collision mesh; first detection pass: candidate pairs, step filter, contacts        step.c
 *     filter    after every iteration: truncates displacements that could cause an intersection     step.c
 *     update    multiplier updates; further detection passes (truncation, sliding, penetration)     step.c
 *     finish    filters the end of the step for solvers that are filtered late                      step.c
 *     settle    further multiplier updates on a copy, for the estimate of the position error        settled_copy.c
 *     end       forces, events, restitution and the report                                          report.c
 *
 * The list of contacts is valid from its detection pass until the next pass. So are the candidate pairs, but a measured
 * step replaces them at its end (report.c).
 */
#ifndef SINEW_SRC_CONTACT_CONTACT_H
#define SINEW_SRC_CONTACT_CONTACT_H

#include "collide/filter/step_filter.h"
#include "collide/contact_list.h"
#include "collide/shapes/colliders.h"
#include "contact/restitution.h"
#include "energy/batch_layout.h"
#include "energy/contact_data.h"
#include "mesh/embedded_surface.h"
#include "solve/solver.h"

typedef struct sinew_contact_work sinew_contact_work;

/* Surfaces nearer than this fraction of the offset touch: half the smallest distance that the step filter keeps. */
#define SINEW_CONTACT_TOUCHING 0.5e-2

/* Data of one body that contact handling reads. */
typedef struct sinew_contact_body {
    sinew_mesh *mesh; /* mesh of the body, constant but for its kept surface; NULL: the body was removed */
    /* Number of the body's first particle in the public order (outside number); number of its particles. */
    int32_t first, count;
    int32_t start; /* number of the body's first particle in the world's internal order (inside number) */
    uint32_t generation;
    uint32_t mesh_version; /* number of times that the mesh of the body was replaced */
    sinew_body_contact contact;
    bool rigid; /* true: a rigid body, whose embedded surface or solid collides */
    /* Radius of the body's solid in m, 0: none; number of its different ends; their weights in vertices 0 .. 3. */
    double solid_radius;
    int32_t solid_end_count;
    sinew_real solid_weights[2][4];
    const sinew_skin *skin;       /* embedded surface of the body; NULL: the body has none */
    const int32_t *skin_vertices; /* [4 * vertex_count of the skin] body vertices that embed each skin vertex */
    /* [4 * vertex_count of the skin] interpolation weights of the body vertices in `skin_vertices` */
    const sinew_real *skin_weights;
} sinew_contact_body;

/* The part of a world that contact handling reads and writes. Arrays are borrowed; arrays without const may be
 * written. The world fills the view (world/contact_api/view.c) for one step or one query. */
typedef struct sinew_contact_view {
    sinew_contact_work *contact;
    const sinew_allocator *allocator;
    sinew_objective *objective;
    sinew_solve *solve;
    sinew_error *error;     /* receives errors of contact updates within a step */
    double time, time_step; /* current time and time step h, in s */
    double gravity[3];      /* acceleration of gravity, in m/s^2 */
    bool quasistatic;
    sinew_measure measure;
    int64_t shape_version; /* version of the rest shapes: changes when rest shapes of bodies change */
    int32_t particle_count;
    /* [particle_count][4] positions (m), velocities (m/s), velocities at the start of the last step with contact (NULL
     * before the first such step), inertial predictions (m). */
    sinew_real *q, *v, *v_before, *q_tilde;
    /* [particle_count][4] external forces in N; [particle_count] masses in kg; [particle_count][4] rest shape in m */
    const sinew_real *f_ext, *mass, *rest;
    const uint8_t *pinned; /* [particle_count] 1: the particle is pinned in all directions */
    /* [particle_count] slot of the collider that a pinned particle follows, -1: none; NULL: no pin follows one */
    const int32_t *followed;
    const int32_t *inside, *outside;  /* inside[public particle number] = internal number; outside: the inverse map */
    const sinew_contact_body *bodies; /* [body_count] bodies, indexed by their slot in the world */
    sinew_collider_record *colliders; /* [collider_count] colliders, indexed by their slot in the world */
    int32_t body_count, collider_count;
    /* [transient_count + 2] transient batches of the energies; the last two entries are for contacts */
    sinew_batch **batches;
    int32_t transient_count;
} sinew_contact_view;

enum {
    SINEW_CACHED_RISING = 1 << 2 /* the contact has a growing offset (`rising` of sinew_contact_constraint) */
};

/* A cached contact, with indices that stay valid when the collision mesh is rebuilt: objects by slot and generation,
 * features by vertices of the mesh or collider. States store the bytes before `yield` as they are, so there is no padding,
 * and `yield` in a section of its own (contact_sections.c). */
typedef struct sinew_contact_cache_entry {
    int32_t kind;           /* kind of the contact, a value of sinew_contact_kind */
    int32_t object_slot[2]; /* slots in the world of the first and the second object */
    uint32_t generation[2]; /* generations of the two slots in `object_slot`: a reused slot has another generation */
    uint32_t flags;         /* bit s (0 or 1): object s is a collider, else a body; and the bit SINEW_CACHED_RISING */
    uint32_t sides;         /* bit k: entry k of `vertices` belongs to the second object */
    /* Vertices of the first feature, then of the second; vertices[4]: the contact's first vertex. */
    /* Skin contacts: vertices[0] is a vertex of the embedded surface. */
    int32_t vertices[5];
    /* Copies of the fields of sinew_contact_constraint with the same names, in N. */
    double lambda;
    double lagged_normal_force;
    double tangent[3];
    double force;
    sinew_contact_yield yield;
} sinew_contact_cache_entry;

/* Work of contacts and kinetic energy that they add in one step, for the step's energy balance, in J. */
typedef struct sinew_contact_energy {
    double normal, friction; /* work in J on particles of the normal and the friction forces in the objective */
    /* Kinetic energy in J that changes of velocities after the solve add: velocity friction and untangle_calm.c;
     * restitution. */
    double rubbed, rebound;
    double heat; /* energy in J that friction turns into heat in the step */
} sinew_contact_energy;

/* A vertex of the embedded surface of a body that collides with colliders. */
typedef struct sinew_skin_vertex {
    int32_t object, number; /* object of the body in the collision mesh; index of the vertex in the embedded surface */
    int32_t v[4];           /* vertices of the collision mesh that the skin vertex is embedded in */
    sinew_real w[4];        /* interpolation weights of the four vertices in `v` */
} sinew_skin_vertex;

/* BVH of the triangles of one object: a collider, or a closed body that may overlap others (untangle_find.c). */
typedef struct sinew_contact_tree {
    struct sinew_tree *tree; /* BVH of the object's triangles; NULL until it is first needed */
    /* Index of the first triangle among the mesh's primitives; number of triangles in the BVH, which are consecutive */
    int32_t first_primitive, triangle_count;
} sinew_contact_tree;

struct sinew_contact_work {
    sinew_contact_body *bodies; /* [body_count] copies of the bodies of the last contact view */
    size_t body_capacity;
    int32_t *followed; /* [particle_count] copy of the array `followed` of the last contact view */
    size_t followed_capacity;
    sinew_contact_def def;
    sinew_contact_filter *filter;
    void *filter_context;

    /* Collision mesh (surfaces.c), rebuilt when bodies or colliders change. */
    bool stale; /* true: bodies, colliders or their settings changed, so that the collision mesh must be rebuilt */
    /* value of shape_version of the contact view from which the collision mesh was built, or of a load since then */
    int64_t shape_version;
    sinew_collision_mesh mesh;
    sinew_detector *detector;
    /* [moved_count] objects that pinned vertices follow; `followed` of the collision mesh points here */
    int32_t *vertex_followed;
    size_t vertex_followed_capacity;
    double *mean_edge;        /* [object_count] mean edge length of each object at rest, in m */
    int32_t *vertex_number;   /* [vertex_count] number of each vertex in the mesh of its body or in its collider */
    sinew_skin_vertex *skins; /* [skin_count] vertices of embedded surfaces, in the order of objects */
    int32_t skin_count;
    sinew_contact_tree
        /* [object_count] BVHs of objects with triangles, each built on first use; NULL: no BVH was needed yet */
        *trees;
    /* [cache_count] contacts kept while the collision mesh is rebuilt, or loaded from a state, which warm-start the
     * next step */
    sinew_contact_cache_entry *cache;
    int32_t cache_count;
    bool cached; /* true: the contacts of the last step are in `cache`, and the lists of contacts are empty */

    /* Positions, search radii and contacts of the current detection pass. */
    sinew_real *x_pass_start; /* [vertex_count][4] positions at the start of the detection pass, in m */
    sinew_real *x_predicted;  /* [vertex_count][4] predicted positions at the end of the step, in m */
    sinew_real *x_inertial;   /* [moved_count][4] inertial positions q_tilde of the vertices of bodies, in m */
    sinew_real *x_requested;  /* [vertex_count][4] positions that the solver last requested, before truncation, in m */
    sinew_real *x_step_start; /* [vertex_count][4] positions at the start of the step, in m */
    sinew_real *kinematic;    /* [vertices of one collider][4] work space: positions of one collider */
    sinew_real *inflation_radius; /* [vertex_count] inflation radius of each vertex, in m */
    /* [object_count] fraction 0 .. 1 of its prescribed motion in this step that each collider has completed */
    double *fraction;
    double *progress; /* [object_count] work space: trial values of `fraction`, 0 .. 1, of each collider */
    sinew_candidates pairs;
    /* [vertices of one object][3] work space: the object's vertex positions without the fourth number, in m */
    sinew_real *packed;
    int32_t *bounded;   /* [moved_count] work space: body vertices within the bounding box of a closed collider */
    uint8_t *is_inside; /* [moved_count] work space, 1: the body vertex is inside the closed collider under test */
    sinew_step_filter step_filter;
    uint8_t *truncated;      /* [vertex_count] 1: the step filter truncated the vertex in the last iteration */
    int32_t *contact_counts; /* [vertex_count] work space: truncated contacts (step.c) or first link (no_room.c) */
    /* [step_start_count] contacts at the start of the step that have forces or multipliers, sorted by key */
    sinew_contact_constraint *step_start_contacts;
    /* [ended_count] contacts of step_start_contacts that have ended, sorted by contact key */
    sinew_contact_constraint *ended;
    int32_t step_start_count, ended_count;
    sinew_contact_list contacts; /* contacts found by the current detection pass */
    sinew_contact_list previous; /* contacts of the previous detection pass, or of the last step, for the warm start */

    /* Contacts as elements of two transient batches of the objective: number of all elements; number of the elements of
     * up to four particles, which come before those of up to eight (contacts of rigid bodies). */
    int32_t element_count, narrow_count;
    /* [vertex_count] largest difference between the offset of a contact of the vertex and the distance it keeps, in
     * m */
    sinew_real *offset_reduction;
    size_t offset_reduction_capacity;
    /* [contacts.count][2] 1: the first or second side of the contact cannot retreat (no_room.c); [contacts.count][4]
     * work space: next link 4 k + a of the same vertex, for vertex a of contact k; -1: last */
    uint8_t *backed;
    int32_t *next_support;
    size_t backed_capacity, next_support_capacity;
    bool backed_known; /* true: `backed` belongs to the current multiplier update */
    /* [contacts.count] index of the element of each contact, -1: none of the contact's particles can move */
    int32_t *element_of;
    int32_t *contact_of; /* [element_count] index in `contacts` of the contact of each element */
    int32_t *particles;  /* [element_count][4 or 8] particles of each contact element */
    sinew_real *data;    /* [element_count][data of 4 or 8 vertices] parameters of the contact energy of each element */
    sinew_real *solver_multipliers; /* [element_count][4] multipliers of solvers that keep their own (XPBD) */
    sinew_batch *batch;             /* transient batch of the contact elements; NULL until the first contact */
    /* transient batch of the contact elements of five to eight particles (rigid bodies); NULL until the first such
     * contact */
    sinew_batch *wide_batch;
    sinew_batch_layout layout, wide_layout;
    sinew_batch_work batch_work, wide_batch_work;

    /* Data of contact handling that live for one time step. */
    sinew_contact_view view; /* copy of the contact view of the world in this step */
    sinew_contact_hooks hooks;
    double time; /* simulated time at the start of the step, in s */
    /* [particle_count][9] Hessian blocks of the fixed elements at the start of the step, in N/m, of the particles whose
     * entry of block_known is 1. Computed lazily: only contacts need them. */
    double *blocks;
    uint8_t *block_known;
    uint8_t *block_wanted;  /* [particle_count] work space, 1: contacts of this pass need a block that is not known */
    int64_t stiffness_work; /* number of SIMD groups of elements whose Hessian this step evaluated for `blocks` */
    sinew_real *guess;      /* [particle_count][4] initial guess for solvers that would start from q_tilde, in m */
    sinew_real *x_projected_start; /* [particle_count][4] mode `projection`: positions at step start, projected, m */
    sinew_real
        *x_unprojected_start; /* [particle_count][4] positions at step start before `projection` or separation, m */
    /* [particle_count][4] velocities at the start of the step, in m/s; the end of the step copies them to v_before */
    sinew_real *v_step_start;
    bool step_start_stored; /* true: step_start_contacts holds contacts of this step, not of an earlier one */
    bool first_pass;        /* the current detection pass is the first of the step */
    /* The positions at the start of the step are in x_unprojected_start: touching.c or untangle.c may have moved q. */
    bool separated;
    bool untangled;              /* surfaces overlapped at the start of the step (untangle.c) */
    bool patched;                /* vertices of overlapping surfaces were moved, which deforms their bodies */
    bool overlapping;            /* surfaces still overlap after untangling, and their candidate pairs are dropped */
    bool projected;              /* true: the contact mode `projection` has moved particles at the start of the step */
    double residual_gate;        /* multipliers are updated only if the residual is below this force, in N */
    int32_t detection_iteration; /* number of iterations of the step before the last detection pass */
    int32_t last_update;         /* number of iterations of the step before the last multiplier update; -1: none yet */
    int32_t truncated_count;
    bool trial_filtered; /* true: a line search has already filtered its trial positions and set `truncated` */
    /* Relative change of multipliers that an update would make, at the last convergence test. */
    double multiplier_change;
    int32_t idle_updates;        /* number of consecutive convergence tests that found multiplier_change unchanged */
    double redetect_penetration; /* smallest relative penetration that caused a pass in this step; HUGE_VAL: none */
    /* Largest error of friction at the end of the step, and largest normal force there or at the last update, in N. */
    double friction_error, friction_scale;
    bool too_near; /* true: at the end of the step, surfaces are nearer than the contact tolerance allows */
    sinew_contact_report report;
    sinew_contact_energy energy;
    sinew_restitution restitution;
    /* Contact data saved while settled_copy.c estimates the position error of the step. */
    sinew_contact_constraint *saved_list; /* [contacts.count] saved copy of the list of contacts */
    sinew_real *saved_data; /* saved copy of the parameters of contact elements, then of the data of their batches */
    /* saved values of version and form_version of the two contact batches */
    uint32_t saved_version[2], saved_form_version[2];
    bool listed;              /* true: the list of contacts holds the contacts at the end of the last step */
    bool intersections_known; /* true: report.intersections was computed at the current positions */
    bool free_known;          /* true: no surfaces overlap at the current positions; the step filter keeps it so */
    bool free_loaded;         /* true: a state was loaded that was saved with free_known, and nothing changed since */
    /* [object_count][object_count] 1: the two objects did not overlap before the collision mesh was rebuilt, and both
     * are unchanged. Valid until the next search for overlaps (untangle.c), if parted_known. */
    uint8_t *parted;
    size_t parted_capacity;
    bool parted_known;
    struct sinew_untangle *untangle; /* NULL: no overlap was sought yet (untangle.h) */

    size_t mean_edge_capacity, x_pass_start_capacity, x_predicted_capacity, x_step_start_capacity, x_requested_capacity,
        x_inertial_capacity, truncated_capacity, contact_count_capacity, kinematic_capacity, inflation_radius_capacity,
        progress_capacity, fraction_capacity, element_capacity, contact_of_capacity, particle_bytes, data_capacity,
        solver_multiplier_capacity, block_capacity, block_known_capacity, block_wanted_capacity, guess_capacity;
    size_t saved_list_capacity, saved_data_capacity;
    size_t v_capacity, skin_capacity, x_projected_start_capacity, x_unprojected_start_capacity, step_start_capacity,
        ended_capacity, vertex_number_capacity, cache_capacity, packed_capacity, bounded_capacity, is_inside_capacity;
};

/* Rebuilds the collision mesh if bodies or colliders have changed, and lists what pinned vertices follow
 * (surfaces.c). */
sinew_status sinew_contact_update_surfaces(const sinew_contact_view *view, sinew_error *error);
/* Separates pairs of the first pass that touch, by moving q, q_tilde and the first guess (touching.c). *moved: some
 * pairs touched, and the pass must be repeated. */
sinew_status sinew_contact_separate_touching(const sinew_contact_view *view, bool *moved, sinew_error *error);
/* Stores the positions at the start of the step before they are moved, once a step, and sets `separated`. False: out of
 * memory. */
bool sinew_contact_store_positions(const sinew_contact_view *view);
/* Restores the positions of a discarded step that moved surfaces apart. */
void sinew_contact_undo_separation(const sinew_contact_view *view);
/* Moves overlapping surfaces apart before the first detection pass, by moving q, q_tilde and the first guess
 * (untangle.c). */
sinew_status sinew_contact_untangle(const sinew_contact_view *view, sinew_error *error);
/* Removes candidate pairs of overlapping surfaces, and adds pairs that keep their present distance (untangle.c). */
sinew_status sinew_contact_drop_overlaps(const sinew_contact_view *view, sinew_error *error);
/* Bounds the kinetic energy of all bodies at the end of a step that displaced vertices of patches (untangle_calm.c). */
void sinew_contact_calm_patches(const sinew_contact_view *view);
void sinew_contact_untangle_release(sinew_contact_work *c, const sinew_allocator *allocator);
/* Refuses a thickness (m) that does not fit the mesh of the body in this slot (thickness.c). */
sinew_status sinew_contact_check_thickness(const sinew_contact_work *c, int32_t slot, const sinew_mesh *mesh,
                                           double thickness, sinew_error *error);
void sinew_contact_surfaces_release(sinew_contact_work *c, const sinew_allocator *allocator);
/* Gathers positions of collision vertices into x [vertex_count][4], m: particles at q, vertices of colliders at the
 * completed fraction of their motion. */
void sinew_contact_gather(const sinew_contact_view *view, const sinew_real *q, sinew_real *x);
/* Gathers positions of body vertices into x [vertex_count][4], m: particles at q, and surface vertices of rigid
 * bodies from their frame vertices. Vertices of colliders are unchanged. */
void sinew_contact_gather_bodies(const sinew_contact_work *c, const sinew_real *q, sinew_real *x);
/* Computes x [vertices of the collider][4], m: vertices of a collider at `fraction` 0 .. 1 of its motion in this
 * step. */
void sinew_contact_collider_positions(const sinew_contact_view *view, int32_t object, double fraction, sinew_real *x);
/* Computes a point (m) and the unit normal of a plane collider at `fraction` 0 .. 1 of its motion in this step. */
void sinew_contact_plane(const sinew_contact_view *view, int32_t object, double fraction, double point[3],
                         double normal[3]);

/* Makes the rigid bodies of the collision mesh rigid at q [particle_count][4] (rigid_frames.c). */
void sinew_contact_straighten_rigid(const sinew_contact_view *view, sinew_real *q);

/* The contact cache (warm_start_cache.c): moves the listed contacts to the cache before the collision mesh is rebuilt,
 * and restores contacts whose features still exist. False: out of memory. */
bool sinew_contact_cache_store(const sinew_contact_view *view);
bool sinew_contact_cache_restore(const sinew_contact_view *view);
/* Finds the collision object of a body or collider by slot; -1: none, or the slot has another generation. */
int32_t sinew_contact_find_object(const sinew_collision_mesh *mesh, bool collider, int32_t slot, uint32_t generation);
/* True if a contact has multipliers, forces or a limited offset to cache; builds the cache entry of a contact. */
bool sinew_contact_is_cacheable(const sinew_contact_constraint *contact);
sinew_contact_cache_entry sinew_contact_cache_entry_of(const sinew_contact_work *c,
                                                       const sinew_contact_constraint *contact);

/* Appends a candidate pair to the list, which the caller then fills. Returns NULL if out of memory. */
sinew_candidate *sinew_contact_add_pair(const sinew_contact_view *view);
/* Replaces candidate pairs of vertices inside closed colliders by pairs that push them out (penetration.c). */
sinew_status sinew_contact_resolve_penetration(const sinew_contact_view *view, sinew_error *error);
void sinew_contact_trees_release(sinew_contact_work *c);
/* Fits the BVH of an object's triangles to the positions x_pass_start; the first call builds the BVH. */
sinew_status sinew_contact_refit_tree(const sinew_contact_view *view, int32_t object, sinew_error *error);
/* Embedded surfaces (embedded_contacts.c): list the vertices of skins when the collision mesh is built; append their
 * contacts to the list; compute b [3] m, the point of the collider in a contact of a skin vertex. */
bool sinew_contact_build_skins(const sinew_contact_view *view);
sinew_status sinew_contact_add_skins(const sinew_contact_view *view, sinew_error *error);
void sinew_contact_skin_target(const sinew_contact_work *c, const sinew_contact_constraint *contact,
                               const sinew_real *x, double b[3]);

/* Body or collider of the world that an object of the collision mesh represents. */
sinew_contact_object sinew_contact_object_of(const sinew_contact_work *c, int32_t object);

/* Stages of contact in a step. sinew_contact_begin runs the first detection pass, after the objective, the solver and
 * q_tilde are prepared. */
sinew_status sinew_contact_begin(const sinew_contact_view *view, sinew_error *error);
/* sinew_contact_abandon, after a step that failed or ended with values that are not finite: restores the list of
 * contacts, and the positions that the mode `projection` moved, and detaches contact from the solver. */
void sinew_contact_abandon(const sinew_contact_view *view);
void sinew_contact_end(const sinew_contact_view *view, sinew_step_result *result);

/* Restores the positions at the start of the step that the contact mode `projection` has moved (projection_mode.c). */
void sinew_contact_projection_undo(const sinew_contact_view *view);

/* Contact events (events.c): contacts that started, continued or ended. sinew_contact_store_previous stores the
 * contacts at the start of the step; false: out of memory. */
bool sinew_contact_store_previous(const sinew_contact_view *view);
/* Restores the list of contacts from the start of the step, after a step that failed. */
void sinew_contact_restore_previous(const sinew_contact_view *view);
/* Computes the clearances of contacts and finds ended contacts, at the end of the step with positions x
 * [vertex_count][4], m. */
void sinew_contact_find_ended(const sinew_contact_view *view, const sinew_real *x);
double sinew_contact_clearance(const sinew_contact_view *view, const sinew_contact_constraint *contact,
                               const sinew_real *x);
/* Returns the next active or ended contact in the order of contact keys; NULL: no more. *next and *ended index the two
 * lists, start at 0 and are advanced. */
const sinew_contact_constraint *sinew_contact_next_listed(const sinew_contact_work *c, int32_t *next, int32_t *ended);
/* Computes out [3 * count], N: contact forces on particles first .. first + count - 1 of the public order. */
void sinew_contact_particle_forces(const sinew_contact_view *view, int32_t first, int32_t count, sinew_real *out);

/* Restitution (restitution.h). Impacts with an approach speed below this value times g h do not rebound. Chosen, not
 * measured. */
#define SINEW_REBOUND_SPEED 2.0
/* Stages of restitution in a step, in the order of the calls: prepare finds pieces and allocates; reserve allocates
 * for the contacts of a pass; begin stores the energy at the start; the losses are found before velocities change;
 * impulses on colliders are added to the forces of the step. */
sinew_status sinew_restitution_prepare(const sinew_contact_view *view, sinew_error *error);
sinew_status sinew_restitution_reserve(const sinew_contact_view *view, sinew_error *error);
void sinew_restitution_begin(const sinew_contact_view *view);
void sinew_restitution_find_losses(const sinew_contact_view *view, const sinew_real *x);
void sinew_restitution_apply(const sinew_contact_view *view, const sinew_real *x);
void sinew_restitution_add_collider_forces(const sinew_contact_view *view);
/* Allocates for `count` impacts; those in progress stay. False: out of memory. */
bool sinew_restitution_reserve_impacts(sinew_restitution *restitution, const sinew_allocator *allocator, size_t count);
void sinew_restitution_release(sinew_restitution *restitution, const sinew_allocator *allocator);
/* True if restitution acts on rigid motions of both objects; else it acts on the vertices of the contact. */
bool sinew_contact_is_at_body_level(const sinew_contact_view *view, const sinew_contact_constraint *contact);
/* Finds the pieces of all bodies after a change of their meshes (pieces.c). False: out of memory. */
bool sinew_contact_find_pieces(const sinew_contact_view *view);
/* The energy that islands lose in a step (energy_budget.c), by three calls: allocate; store the energy at the start
 * of the step; compute `loss` and `island`. */
bool sinew_budget_reserve(const sinew_contact_view *view);
void sinew_budget_begin(const sinew_contact_view *view);
void sinew_budget_find_losses(const sinew_contact_view *view, const sinew_real *x);
/* Largest s in 0 .. 1 for which the energy linear s + square s^2 is at most max(0, budget). */
double sinew_budget_scale(double linear, double square, double budget);
/* Weighted displacements in the step of the body vertices and of the collider vertices of a contact, in m. Their sum is
 * the displacement of the first side relative to the second. Valid until the step of the colliders ends. */
void sinew_contact_displacements(const sinew_contact_view *view, const sinew_contact_constraint *contact,
                                 const sinew_real *x, double body[3], double collider[3]);
/* Changes of velocities contact by contact (vertex_impulses.c). */
void sinew_contact_vertex_restitution(const sinew_contact_view *view, const sinew_real *x);
void sinew_contact_velocity_friction(const sinew_contact_view *view, const sinew_real *x);
/* Adds to the report the angular impulse over `time` of a contact force f on the first side and -f on the second; it
 * is not zero because the contact points are apart. */
void sinew_contact_add_couple(sinew_contact_work *c, const sinew_contact_constraint *contact, const sinew_real *x,
                              const double f[3], double time);
bool sinew_contact_is_between_bodies(const sinew_contact_work *c, const sinew_contact_constraint *contact);

/* One detection pass at x_pass_start (detection_pass.c): candidate pairs, step filter and contacts. `first`: the first
 * pass of the step. */
sinew_status sinew_contact_detect(const sinew_contact_view *view, bool first, sinew_error *error);
/* Replaces candidate pairs and step filter by those at x_pass_start with the prediction x_requested; the list of
 * contacts does not change. */
sinew_status sinew_contact_rebuild_filter(const sinew_contact_view *view, sinew_error *error);
/* True if the step filter is on: intersection_free, in a mode that supports it. */
bool sinew_contact_is_filtered(const sinew_contact_work *c);

/* Contacts as elements of the objective (elements.c): sets stiffness, friction anchor and friction limit of the
 * contacts of this detection pass. */
sinew_status sinew_contact_make_elements(const sinew_contact_view *view, sinew_error *error);
/* Contacts that keep less than their offset (offset_limits.c): sets all of offset_reduction to zero, false: out of
 * memory; limits the offset of a contact of this detection pass. */
bool sinew_contact_clear_reductions(const sinew_contact_view *view);
void sinew_contact_limit_offset(const sinew_contact_view *view, sinew_contact_constraint *contact);
/* Counts a multiplier update of a contact element to the normal force `force` at q [particle_count][4]. If the
 * violation does not fall and there is no room, the offset yields to the distance. Returns the new multiplier. */
double sinew_contact_follow_yield(const sinew_contact_view *view, int32_t element, double force, const sinew_real *q);
/* Counts the step as one multiplier update of each contact with a force, for solvers whose updates are not counted. */
void sinew_contact_follow_step(const sinew_contact_view *view);
/* Sets `backed` of all contacts at q (no_room.c); false: out of memory. */
bool sinew_contact_find_backed(const sinew_contact_view *view, const sinew_real *q);
/* Counts yielded contacts in the report. */
void sinew_contact_report_yields(sinew_contact_work *c);
/* Writes the multipliers and friction limits of all contacts into the parameters of the contact elements. */
void sinew_contact_write_numbers(sinew_contact_work *c);
/* If `move`, relaxes contacts with spheres and capsules towards their closest points at q; the caller then calls
 * sinew_contact_write_numbers. Returns the largest penetration that the current contact points miss, as a fraction of
 * the offset. */
double sinew_contact_relax_round(const sinew_contact_view *view, const sinew_real *q, bool move);
/* Evaluates the gradient residual of the objective; true if it is small enough for a multiplier update. Solvers that
 * sweep over constraints or vertices evaluate nothing: always true. */
bool sinew_contact_gate(const sinew_contact_view *view);
/* Data of one contact element, in c->data. */
sinew_real *sinew_contact_element_data(const sinew_contact_work *c, int32_t element);
/* Returns the normal force (N) and the slip u (m) of a contact element at positions q. */
double sinew_contact_normal_force(const sinew_contact_work *c, int32_t element, const sinew_real *q, double u[3]);
/* Error of friction of a contact in N (report.c): friction of size `friction`, limited to `limit`, against Coulomb's
 * law with the normal force `force`. Friction below its limit sticks and is correct up to mu times the force;
 * friction at its limit slides, and must equal mu times the force. */
double sinew_contact_friction_error(const sinew_contact_constraint *contact, double friction, double limit,
                                    double force);
/* Computes values [element_count][4], N: multipliers of a solver that keeps its own (XPBD): the normal force, then
 * the tangential force on the first side. False: the solver keeps none. */
bool sinew_contact_own_forces(const sinew_contact_view *view, sinew_real *values);
/* Hooks of the estimate of the position error (settled_copy.c; sinew_contact_hooks). */
const char *sinew_contact_settle_begin(void *context, bool *multipliers, bool *adopted);
void sinew_contact_settle_update(void *context, const sinew_real *q);
void sinew_contact_settle_end(void *context);
/* Particles of a contact with their weights in the relative position z (elements.c): one entry for each vertex of a
 * body, and one for each of the four particles of a rigid body. */
typedef struct sinew_contact_support {
    int32_t count;
    int32_t particle[SINEW_CONTACT_VERTICES_WIDE];
    double weight[SINEW_CONTACT_VERTICES_WIDE];
    double lever[SINEW_CONTACT_VERTICES_WIDE]; /* levers of rigid spheres and capsules (levers.c); else 0 */
    bool rigid[SINEW_CONTACT_VERTICES_WIDE];   /* true: the particle belongs to a rigid body */
} sinew_contact_support;

sinew_contact_support sinew_contact_support_of(const sinew_contact_work *c, const sinew_contact_constraint *contact);
/* Adds to z [3] the weighted sum over the particles, sum w q, of any field q [particle_count][4]. */
void sinew_contact_support_add(const sinew_contact_support *support, const sinew_real *q, double z[3]);
/* Adds to z [3] the sum over the particles with their levers, sum d q, across the normal n. */
void sinew_contact_support_slide(const sinew_contact_support *support, const double n[3], const sinew_real *q,
                                 double z[3]);

/* The points at which rigid spheres and capsules touch (levers.c). True if one of the objects is such a body. */
bool sinew_contact_has_levers(const sinew_contact_work *c, const sinew_contact_constraint *contact);
/* Sets the levers of a contact from its normal and the predicted positions. */
void sinew_contact_set_levers(const sinew_contact_work *c, sinew_contact_constraint *contact);
/* Adds to sum [3] `factor` times the lever of one side of a contact, in m, at x [vertex_count][4]; or times the lever
 * of the first side less that of the second. */
void sinew_contact_add_side_lever(const sinew_contact_work *c, const sinew_contact_constraint *contact, int side,
                                  const sinew_real *x, double factor, double sum[3]);
void sinew_contact_add_levers(const sinew_contact_work *c, const sinew_contact_constraint *contact, const sinew_real *x,
                              double factor, double sum[3]);

/* Computes the position of a collision vertex: of a body at q [particle_count][4] (any field of the particles may stand
 * for q), of a collider at the end of its motion. */
void sinew_contact_vertex_position(const sinew_contact_work *c, int32_t v, const sinew_real *q, sinew_real x[4]);

/* Computes b (m) of a contact: minus the weighted sum of its collider vertices at x; zero if both sides are bodies. */
void sinew_contact_collider_point(const sinew_contact_work *c, const sinew_contact_constraint *contact,
                                  const sinew_real *x, double b[3]);

#endif
