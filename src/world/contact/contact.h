/* SPDX-License-Identifier: MIT
 *
 * contact.h: contact of a world: what it remembers, and the stages of a step.
 *
 *     begin     surfaces as they are; first epoch: pairs, guard, contacts                     step.c
 *     guard     after every iteration: nothing comes through anything                        step.c
 *     renew     multipliers after a round of iterations; another epoch where many are held    step.c
 *     finish    the step ends where the guard lets it                                         step.c
 *     end       forces, events and the error row; restitution                                 report.c
 *
 * An epoch is the time between two detections: pairs and the list of contacts are those of its beginning.
 */
#ifndef SINEW_SRC_WORLD_CONTACT_CONTACT_H
#define SINEW_SRC_WORLD_CONTACT_CONTACT_H

#include "collide/filter/step_filter.h"
#include "collide/contact_list.h"
#include "world/world.h"

/* What is remembered of a contact, by names that outlive features: objects by place and generation, features by the
 * vertices of their mesh or collider. It is also how states hold it, so it has no gaps. */
typedef struct sinew_touch_note {
    int32_t kind;                     /* sinew_touch_kind */
    int32_t place[2];                 /* of the first and the second object */
    uint32_t generation[2];           /* likewise */
    uint32_t colliders;               /* bit s: object s is a collider */
    uint32_t sides;                   /* bit k: vertex k is the second object's */
    int32_t vertices[5];              /* of the first feature, then of the second; last the contact's first vertex */
    double lambda, bears, tangent[3]; /* as of sinew_touch */
    double force;
} sinew_touch_note;

/* J: what contacts did in a step, for its balance. */
typedef struct sinew_contact_deeds {
    double normal, friction; /* work of the forces on particles, as the objective has them */
    double rubbed, rebound;  /* what friction took from velocities after the step, and what bouncing gave */
    double heat;             /* of friction */
} sinew_contact_deeds;

/* A vertex of a surface that rides on a body and touches colliders. */
typedef struct sinew_skin_vertex {
    int32_t object, number; /* of its body; which vertex of the skin */
    int32_t v[4];           /* feature vertices that carry it */
    sinew_real w[4];
} sinew_skin_vertex;

/* The surface of a closed collider as a tree. */
typedef struct sinew_contact_tree {
    struct sinew_tree *tree; /* NULL: not needed yet */
    int32_t first_cell, triangle_count;
} sinew_contact_tree;

struct sinew_contact_work {
    sinew_contact_def def;
    sinew_contact_filter *filter;
    void *filter_context;

    /* Surfaces (surfaces.c), made anew when bodies or colliders change. */
    bool stale;
    int64_t shape_version;
    sinew_features features;
    sinew_detector *detector;
    double *edge;             /* [object_count] m: mean length of edges */
    int32_t *number;          /* [vertex_count] of a vertex in its body's mesh or in its collider */
    sinew_skin_vertex *skins; /* [skin_count] in the order of objects */
    int32_t skin_count;
    sinew_contact_tree *trees; /* [object_count] of closed colliders, once something was near; NULL until then */
    /* What contacts bore before surfaces were made anew, or in a loaded state, until the next step finds them. */
    sinew_touch_note *notes;
    int32_t note_count;
    bool noted; /* notes stand for the list of contacts */

    /* The epoch at hand. */
    sinew_real *x, *wanted; /* [vertex_count][4] m: where vertices are, and where they would go */
    sinew_real *asked;      /* [vertex_count][4] m: where the solver last wanted to go, cut or not */
    sinew_real *begun;      /* [vertex_count][4] m: where they were when the step began */
    sinew_real *kinematic;  /* [vertices of one collider][4] work space */
    sinew_real *reach;      /* [vertex_count] m */
    double *way;            /* [object_count] of work space: where colliders would come */
    double *part;           /* [object_count] how far each collider has come in this step, 0 .. 1 */
    sinew_touch_pairs pairs;
    sinew_real *packed; /* [vertices of one collider][3] work space */
    int32_t *bounded;   /* [moved_count] likewise: vertices within its bounds */
    uint8_t *inside;    /* [moved_count] 1: inside it */
    sinew_guard guard;
    uint8_t *cut;       /* [vertex_count] 1 where the guard held a vertex back in the last iteration */
    sinew_touch *past;  /* [past_count] that were noted when the step began, by key */
    sinew_touch *ended; /* [ended_count] of these that are no more, by key */
    int32_t past_count, ended_count;
    sinew_touches touches, before; /* of this epoch; of the one before, or of the last step */

    /* Contacts as elements. */
    int32_t element_count;
    int32_t *element;   /* [touches.count] number of its element, -1: nothing of it can move */
    int32_t *touch_of;  /* [element_count] and back */
    int32_t *particles; /* [element_count][4] */
    sinew_real *data;   /* [element_count][SINEW_CONTACT_DATA_COUNT] */
    sinew_real *own;    /* [element_count][4] multipliers of solvers that have their own */
    sinew_batch *batch; /* NULL until there were some */
    sinew_plan plan;
    sinew_batch_work batch_work;
    bool layered; /* the objective's layer has the batch */

    /* The step at hand. */
    sinew_contact_hooks hooks;
    double time;       /* s: when it began */
    double *blocks;    /* [particle_count][9] N/m of the fixed elements, where it began */
    sinew_real *guess; /* [particle_count][4] m: where solvers begin that begin with inertia */
    sinew_real *held,
        *start;          /* [particle_count][4] m: projection: where the step begins; where particles were before */
    sinew_real *v_begun; /* [particle_count][4] m/s: velocities when it began, as v_before of the world will be */
    bool noted_past;     /* past is that of the step at hand */
    bool shifted;        /* particles were moved from start */
    double gate;         /* N: multipliers wait until the residual is below */
    int32_t epoch_began; /* iterations when the last one was made */
    int32_t last_update; /* iterations at the last renewal of multipliers, -1: none yet */
    int32_t cut_count;
    bool limited;        /* a line search has noted who it cut */
    double unsettled;    /* what the last round had to change, as a part of offsets and forces */
    int32_t idle_rounds; /* that found as much to change as the one before */
    double nearest;      /* the smallest part of the thickness that an epoch of this step was made for */
    bool failed;         /* an epoch could not be made: out of memory */
    bool too_near;       /* where the step ended surfaces are nearer than counts as touching */
    sinew_contact_report report;
    sinew_contact_deeds deeds;
    bool listed;          /* the list of contacts is that of the last step's end */
    bool crossings_known; /* report.crossings are those of the positions as they are */

    size_t edge_room, x_room, wanted_room, begun_room, asked_room, cut_room, kinematic_room, reach_room, way_room,
        part_room, element_room, touch_room, particle_room, data_room, own_room, block_room, guess_room;
    size_t v_room, skin_room, held_room, start_room, past_room, ended_room, number_room, note_room, packed_room,
        bounded_room, inside_room;
};

/* Surfaces of bodies and colliders where they have changed (surfaces.c). */
sinew_status sinew_contact_surfaces(sinew_world *world, sinew_error *error);
void sinew_contact_surfaces_release(sinew_contact_work *c, const sinew_allocator *allocator);
/* x [vertex_count][4] of particles q; vertices of colliders at their part of the way. */
void sinew_contact_gather(const sinew_world *world, const sinew_real *q, sinew_real *x);
/* Vertices of an object that is a collider, at part 0 .. 1 of its way in this step. */
void sinew_contact_place(const sinew_world *world, int32_t object, double part, sinew_real *x);
/* A collider that is a plane: a point of it and its normal, likewise. */
void sinew_contact_plane(const sinew_world *world, int32_t object, double part, double point[3], double normal[3]);

/* Contacts by lasting names (persistence.c): keeps those of the list before features go, and finds them again among
 * the features that there are. */
bool sinew_contact_keep_notes(sinew_world *world);
bool sinew_contact_use_notes(sinew_world *world);
/* Room for velocities before the step, unknown at first; false without memory. */
bool sinew_contact_need_v_before(sinew_world *world);
/* Whether there is something to remember of a contact; its note. */
bool sinew_contact_is_noted(const sinew_touch *touch);
sinew_touch_note sinew_contact_note(const sinew_world *world, const sinew_touch *touch);

/* One more pair behind the others, to be filled; NULL without memory. */
sinew_touch_pair *sinew_contact_add_pair(sinew_world *world);
/* Pairs of vertices that are inside closed colliders lead out of them (penetration.c). */
sinew_status sinew_contact_lead_out(sinew_world *world, sinew_error *error);
void sinew_contact_trees_release(sinew_contact_work *c);
/* Brings the tree of a collider's triangles to where it is in this epoch. */
sinew_status sinew_contact_tend_tree(sinew_world *world, int32_t object, sinew_error *error);
/* Skins (embedded_contacts.c): lists their vertices when features are made; adds their contacts behind the others; the place
 * of a collider that a contact of a skin is with. */
bool sinew_contact_list_skins(sinew_world *world);
sinew_status sinew_contact_add_skins(sinew_world *world, sinew_error *error);
void sinew_contact_skin_place(const sinew_contact_work *c, const sinew_touch *touch, const sinew_real *x, double b[3]);

/* The body or collider of an object. */
sinew_contact_party sinew_contact_party_of(const sinew_world *world, int32_t object);

/* Stages. begin makes the first epoch; the world's objective and solver are prepared, q_tilde is known. */
sinew_status sinew_contact_begin(sinew_world *world, sinew_error *error);
/* A step that could not be made, or whose end is no number. */
void sinew_contact_abandon(sinew_world *world);
void sinew_contact_end(sinew_world *world, sinew_step_result *result);

/* The mode `projection` (projection_mode.c): refuses solvers that cannot take a mode; puts vertices on colliders when the
 * contacts of a step are known, and back where it fails; holds them there in each iteration, true: q was changed. */
sinew_status sinew_contact_check_mode(const sinew_world *world, sinew_error *error);
sinew_status sinew_contact_projection_begin(sinew_world *world, sinew_error *error);
void sinew_contact_projection_undo(sinew_world *world);
bool sinew_contact_project(sinew_world *world, sinew_real *q);
/* Whether a contact is one of a vertex at or below the surface of a collider; m: where its spring begins above it. */
bool sinew_contact_is_held(const sinew_contact_work *c, const sinew_touch *touch);
double sinew_contact_spare(const sinew_contact_work *c, const sinew_touch *touch);
/* N: what the projection bore of a contact where the step ended, besides its spring. */
double sinew_contact_projected_force(const sinew_world *world, const sinew_touch *touch);

/* Contacts that began, stayed or ended (events.c). Before the first epoch: who is old; false without memory. */
bool sinew_contact_note_old(sinew_world *world);
/* A step that was not made: the list is what it was. */
void sinew_contact_restore_past(sinew_world *world);
/* Clearances, and contacts that are no more, where the step ended: x [vertex_count][4]. */
void sinew_contact_find_ended(sinew_world *world, const sinew_real *x);
double sinew_contact_clearance(const sinew_world *world, const sinew_touch *touch, const sinew_real *x);
/* The next contact that bears a force, or has ended, in the order of keys, from both counts at 0 on; NULL: no more. */
const sinew_touch *sinew_contact_next_listed(const sinew_contact_work *c, int32_t *touch, int32_t *ended);
/* Refuses where there is no list of the last step. */
sinew_status sinew_contact_check_listed(const sinew_world *world, sinew_error *error);
/* N: what contacts do to particles first .. first + count - 1, out [3 * count]. */
sinew_status sinew_contact_particle_forces(const sinew_world *world, int32_t first, int32_t count, sinew_real *out,
                                           sinew_error *error);

/* One epoch (detection_pass.c): pairs, guard and contacts where the vertices are; the first of a step, or a later one.
 */
sinew_status sinew_contact_make_epoch(sinew_world *world, bool first, sinew_error *error);
/* Whether nothing may cross: modes of the papers do without. */
bool sinew_contact_is_guarded(const sinew_contact_work *c);

/* Contacts as elements (elements.c). Stiffness, anchors and friction of the contacts of this epoch. */
sinew_status sinew_contact_make_elements(sinew_world *world, sinew_error *error);
/* Writes multipliers and what friction bears into the elements. */
void sinew_contact_write_numbers(sinew_contact_work *c);
/* Contacts with spheres and capsules go a share of the way to where features are closest at q; numbers are to be
 * written then. Returns the largest part of its offset that features are nearer than their contact knew. */
double sinew_contact_follow(sinew_world *world, const sinew_real *q, bool go);
/* Whether the residual is small enough for multipliers to move. */
bool sinew_contact_gate(sinew_world *world);
/* Normal force (N) and slip u (m) of a contact where the particles are. */
double sinew_contact_normal_force(const sinew_contact_work *c, int32_t element, const sinew_real *q, double u[3]);
/* values [element_count][4] N: multipliers of a solver that has its own: normal, then three of the tangent, on the
 * first side. False: it has none. */
bool sinew_contact_own_forces(const sinew_world *world, sinew_real *values);
/* The point of the second side that is a collider's, now and when the step began; zero where both are bodies'. */
void sinew_contact_fixed_part(const sinew_contact_work *c, const sinew_touch *touch, const sinew_real *x, double b[3]);

#endif
