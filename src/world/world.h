/* SPDX-License-Identifier: MIT
 *
 * world.h: what is inside a sinew_world.
 *
 * Particles are kept in an order of their own: bodies follow each other by their places, without holes, and the
 * particles of one follow a Hilbert curve through its rest shape. Outside a body's vertices are the run first .. first
 * + count - 1 of numbers that have holes where bodies were removed. `inside` and `outside` map between the two; every
 * public function takes and gives outside numbers.
 */
#ifndef SINEW_SRC_WORLD_WORLD_H
#define SINEW_SRC_WORLD_WORLD_H

#include "base/base.h"
#include "collide/shapes/colliders.h"
#include "energy/batch.h"
#include "mesh/key_frames.h"
#include "mesh/embedded_surface.h"
#include "objective/objective.h"
#include "solve/solver.h"
#include "world/motion.h"

typedef struct sinew_body_record {
    sinew_mesh *mesh;     /* NULL when removed */
    int32_t first, count; /* its run of outside numbers; its particles */
    int32_t room;         /* >= count: numbers that the run has */
    int32_t start;        /* inside number of its first particle */
    uint32_t generation;
    char *name; /* NULL: none */
    bool rigid; /* four particles that hard distances hold (rigid.c): places outside their tet are its own, too */
    sinew_real damping, velocity_filter;
    sinew_body_contact contact;
    /* The surface that rides on it (embedding.c); all NULL without one. */
    sinew_skin *skin;
    int32_t *skin_vertices;   /* [4 * its vertex_count] vertices of the body */
    sinew_real *skin_weights; /* [4 * its vertex_count] */
    struct sinew_tear *tear;  /* where and how it tears (tear.h); NULL: it does not */
} sinew_body_record;

/* The elements of an energy, as its def said and as they were changed since: everything that its batch can be made
 * from again. Arrays are filled anew again and again in transient energies, so each has its room in bytes. */
typedef struct sinew_energy_store {
    sinew_body body; /* whose vertices the caller numbers; -1: elements number the world's particles */
    int32_t count;   /* elements */
    sinew_real parameters[SINEW_PARAMETER_MAX];
    uint32_t by_element; /* bit p: parameter p differs from element to element */
    bool normals_given, rest_given, fractions_given, examples_given;
    int32_t *particles;                    /* [count][vertex_count] inside numbers, in the caller's order */
    sinew_real *each[SINEW_PARAMETER_MAX]; /* [count] where by_element says so */
    sinew_real *weights;                   /* [count][8] as given, where the stencil takes them */
    sinew_real *normals;                   /* [count][3] as given, where normals_given */
    sinew_real *rest;                      /* [count][vertex_count][3] m in place of the bodies', where rest_given */
    sinew_real *fractions;                 /* [count] filled parts of tets, where fractions_given */
    sinew_real *examples;                  /* [count][SINEW_EXAMPLE_MAX][6] where examples_given (energy.h) */
    double *size;                          /* [count] of the rest shapes, where the energy keeps them (energy.h) */
    size_t size_room, particle_room, each_room[SINEW_PARAMETER_MAX], weight_room, normal_room, rest_room, fraction_room,
        example_room;
} sinew_energy_store;

/* Work space for making a batch from a store. */
typedef struct sinew_energy_work {
    int32_t *particles; /* [count][vertex_count] as the plan has them */
    sinew_real *data;   /* [count][data_count] */
    sinew_plan plan;
    sinew_batch_work batch;
    size_t particle_room, data_room;
} sinew_energy_work;

typedef struct sinew_energy_record {
    sinew_energy_kind kind;
    sinew_energy_store store;
    sinew_batch *batch;     /* NULL when removed */
    sinew_guide targets;    /* VERTEX energies; else empty */
    uint32_t motion_digest; /* of the targets' motion as it was given */
    sinew_real damping;     /* s */
    bool rigid;             /* the distances within a rigid body */
    /* Transient energies, whose elements change often: what the next ones are made in. */
    sinew_energy_store next_store;
    sinew_batch *next_batch;
    sinew_energy_work work;
    uint32_t generation;
} sinew_energy_record;

/* An energy as the signature of a state describes it. */
typedef struct sinew_energy_origin {
    int32_t body;
    uint32_t by_element; /* bit p: parameter p differs from element to element */
    uint32_t digest;     /* of elements, parameters by element, weights, normals, rest shapes, motion */
    sinew_real parameters[SINEW_PARAMETER_MAX];
} sinew_energy_origin;

typedef struct sinew_pin_record {
    int32_t count;      /* 0 when removed */
    int32_t *particles; /* [count] inside numbers */
    sinew_guide guide;
    sinew_body body;        /* whose vertices were numbered, as given; index -1: the world's particles */
    uint32_t motion_digest; /* of the motion as it was given */
    uint32_t generation;
    int32_t direction_count; /* 3: held in all directions; else (pin_directions.c) along these: */
    double directions[3][3]; /* unit vectors, normal to each other */
    double *along;           /* [count][direction_count][3] a_k; NULL until prepared */
    size_t along_room;
} sinew_pin_record;

typedef struct sinew_load_record sinew_load_record; /* loads.h */

struct sinew_world {
    sinew_allocator allocator;
    sinew_world_def def;
    double time;
    int64_t step_count;

    /* Particles, [particle_count] or [particle_count][4] with a zero fourth number, inside order. */
    int32_t particle_count, particle_capacity; /* without holes */
    sinew_real *q, *v, *force;                 /* force: the caller's, without gravity */
    sinew_real *rest;                          /* rest positions */
    sinew_real *q_tilde, *f_ext;               /* of the step at hand; f_ext: gravity included */
    sinew_real *v_before; /* m/s: velocities when the last step with contact began, the fourth number 1 where they are
                             known; NULL until there was one */
    sinew_real *mass;
    uint8_t *pinned;
    sinew_real *filter; /* [particle_count][6] S of particles that are held along some directions (objective.h); NULL
                           until there was one. Made, as the next two, when the world is prepared */
    int32_t *held;      /* [held_count] these particles, ascending */
    int32_t held_count;
    size_t filter_room, held_room;
    int32_t *outside; /* [particle_count] outside number of an inside one */
    int32_t *inside;  /* [number_count] and back; negative: SINEW_NUMBER_... */
    int32_t number_count, number_capacity;
    int32_t hole_count;       /* of numbers that are free */
    int64_t shape_version;    /* goes up when particles or meshes change */
    int64_t q_version;        /* goes up when positions change and particles do not */
    int64_t collider_version; /* goes up when colliders come, go or are posed */

    int32_t body_count, body_capacity;
    sinew_body_record *bodies;
    int32_t energy_count, energy_capacity;
    sinew_energy_record *energies;
    int32_t pin_count, pin_capacity;
    sinew_pin_record *pins;
    int32_t load_count, load_capacity;
    sinew_load_record *loads;
    sinew_real *load_force; /* [particle_capacity][4] N of all loads in the step at hand; NULL until there is one */
    int32_t collider_count, collider_capacity;
    sinew_collider_record *colliders;
    struct sinew_query_work *query;     /* what questions about the world need (queries.c); NULL until asked */
    struct sinew_contact_work *contact; /* what contact needs (settings.c); NULL: nothing touches */
    int32_t body_hint, energy_hint, pin_hint, collider_hint; /* all places below are taken */

    sinew_batch **batches; /* [energy_capacity + 1] the live ones, contacts last, as the objective sees them */
    sinew_objective objective;
    sinew_solve solve;
    uint32_t objective_changed; /* SINEW_CHANGED_ELEMENTS, SINEW_CHANGED_TRANSIENT since the objective was laid out */
    uint32_t solver_changed;    /* SINEW_CHANGED_... since the solver was prepared or refreshed */
    char *signature;            /* as it was before the first tear, whose traces it must not show; NULL: untorn */
    char *note;                 /* the caller's text that goes with the state; NULL: none */
    sinew_error error;          /* of the last step that could not be prepared */
    struct sinew_damping_work *damping; /* what damping of energies needs; NULL until one has some */
    double damping_loss;                /* J that damping of bodies and energies took after the last step */
    struct sinew_balance_work *balance; /* what the balance of a step needs; NULL until the def asks for it */
};

/* Makes room for one more record of `size` bytes; true on success. */
bool sinew_grow(const sinew_allocator *allocator, void **array, int32_t count, int32_t *capacity, size_t size);
/* The record that an id names; NULL, and a text that says what became of it, for one that names nothing (now). */
sinew_body_record *sinew_world_find_body(const sinew_world *world, sinew_body body, sinew_error *error);
sinew_energy_record *sinew_world_find_energy(const sinew_world *world, sinew_energy energy, sinew_error *error);
sinew_pin_record *sinew_world_find_pin(const sinew_world *world, sinew_pin pin, sinew_error *error);
sinew_collider_record *sinew_world_find_collider(const sinew_world *world, sinew_collider collider, sinew_error *error);
/* The place that the next one gets: the lowest that is free, the count where none is. */
int32_t sinew_world_body_place(const sinew_world *world);
int32_t sinew_world_energy_place(const sinew_world *world);
int32_t sinew_world_pin_place(const sinew_world *world);
int32_t sinew_world_collider_place(const sinew_world *world);
/* A place is free again; hint: the world's own for that kind. */
void sinew_world_free_place(int32_t *hint, int32_t place);
/* Puts the record there, for which there is room, as the next generation of that place; gives its id. */
sinew_body sinew_world_put_body(sinew_world *world, int32_t place, sinew_body_record record);
sinew_energy sinew_world_put_energy(sinew_world *world, int32_t place, sinew_energy_record record);
sinew_pin sinew_world_put_pin(sinew_world *world, int32_t place, sinew_pin_record record);
sinew_collider sinew_world_put_collider(sinew_world *world, int32_t place, sinew_collider_record record);
/* Outside numbers without a particle: of nobody, and of a body's spare room. */
enum {
    SINEW_NUMBER_FREE = -1,
    SINEW_NUMBER_SPARE = -2
};
/* Room for so many particles, and outside numbers, more; false without memory. */
bool sinew_particles_reserve(sinew_world *world, int32_t count);
bool sinew_numbers_reserve(sinew_world *world, int32_t count);
/* Makes place for particles, all zero, before the inside number `at`, for which there is room; takes some out. All that
 * holds inside numbers follows. */
void sinew_particles_insert(sinew_world *world, int32_t at, int32_t count);
void sinew_particles_erase(sinew_world *world, int32_t at, int32_t count);
/* Puts particles in another order: the i-th after inside number `start` is the from[i]-th that was there, to[from[i]] =
 * i. All that holds inside numbers follows, but for the maps between inside and outside, which are left to the caller.
 * scratch [count][4]. */
void sinew_particles_permute(sinew_world *world, int32_t start, int32_t count, const int32_t *from, const int32_t *to,
                             sinew_real *scratch);
/* Whether an energy touches a body: 0 no, 1 it is on that alone, -1 on others too. */
int sinew_energy_on(const sinew_body_record *body, const sinew_energy_record *energy);
/* Refuses points [count][3] that are not finite; NULL is fine. */
sinew_status sinew_points_check(const sinew_real *points, int32_t count, const char *what, sinew_error *error);
/* The cells of a mesh on other points [vertex_count][3]; NULL, with the reason, where that cannot be. */
sinew_mesh *sinew_mesh_with_points(const sinew_world *world, const sinew_mesh *mesh, int32_t vertex_count,
                                   const sinew_real *points, sinew_error *error);
/* Where a run of so many outside numbers fits first; whether nobody has these; takes a run as spare room; gives one
 * back. */
bool sinew_numbers_are_free(const sinew_world *world, int32_t first, int32_t count);
int32_t sinew_numbers_find(const sinew_world *world, int32_t count);
void sinew_numbers_take(sinew_world *world, int32_t first, int32_t count);
void sinew_numbers_give(sinew_world *world, int32_t first, int32_t count);
/* Turns vertex numbers of a body (or, body.index < 0, particle numbers) into inside numbers. */
sinew_status sinew_world_resolve(const sinew_world *world, sinew_body body, const int32_t *numbers, int32_t count,
                                 const char *owner, int32_t *particles, sinew_error *error);
sinew_status sinew_gravity_check(const sinew_real gravity[3], sinew_error *error);
sinew_status sinew_damping_check(sinew_real damping, sinew_error *error);
/* out[i] = the points of the particles in `from` ([..][4]); out [count][3]. */
void sinew_world_points(const sinew_real *from, const int32_t *particles, int32_t count, sinew_real *out);
/* The same for outside numbers first .. first + count - 1, zero where there is no particle. */
void sinew_world_outside_points(const sinew_world *world, const sinew_real *from, int32_t first, int32_t count,
                                sinew_real *out);
/* Whether the outside numbers first .. first + count - 1 are the world's, and there is an array for them. */
bool sinew_world_has_range(const sinew_world *world, int32_t first, int32_t count, const void *array);
/* Frees the skin of a body and its weights; fine without one. */
void sinew_body_drop_skin(const sinew_allocator *allocator, sinew_body_record *record);
void sinew_body_record_destroy(const sinew_allocator *allocator, sinew_body_record *record);
void sinew_energy_record_destroy(const sinew_allocator *allocator, sinew_energy_record *record);
sinew_energy_origin sinew_energy_describe(const sinew_world *world, const sinew_energy_record *record);
/* Notes changes (SINEW_CHANGED_...) that the next step has to take over. */
void sinew_world_note_change(sinew_world *world, uint32_t changed);

/* Energies from defs to batches (store.c, build.c). */
/* Fills a store, used before or zeroed, with copies of what the def says. */
sinew_status sinew_energy_store_fill(sinew_energy_store *store, const sinew_world *world, const sinew_energy_def *def,
                                     sinew_error *error);
/* Stretches of the elements in the def's examples; `numbers` are their vertices as the def numbers them. */
sinew_status sinew_energy_store_examples(sinew_energy_store *store, const sinew_world *world,
                                         const sinew_energy_def *def, const int32_t *numbers, sinew_error *error);
/* Takes over how much of each tet its body says is filled (fill_fractions.c). */
sinew_status sinew_energy_store_fractions(sinew_energy_store *store, const sinew_world *world,
                                          const sinew_energy_info *info, sinew_error *error);
/* Checks one parameter of every element, values [count]. */
sinew_status sinew_energy_check_parameter(sinew_energy_kind kind, int32_t parameter, const sinew_real *values,
                                          int32_t count, sinew_error *error);
void sinew_energy_store_release(sinew_energy_store *store, const sinew_allocator *allocator);
/* Fills the batch from the store; targets [count][3] or NULL. On failure the batch is to be filled again. */
sinew_status sinew_energy_build(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store,
                                const sinew_real *targets, sinew_energy_work *work, sinew_batch *batch,
                                sinew_error *error);
/* All elements of an energy together, as the state is now. */
sinew_whole sinew_energy_whole(const sinew_world *world, const sinew_energy_store *store);
/* rest [vertex_count][3] of an element, its vertices as its batch has them. */
void sinew_energy_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element, sinew_real *rest);
/* Refuses elements that cannot be rows, by a solver that makes rows of them (check_hard.c). */
sinew_status sinew_energy_check_rows(const sinew_world *world, const sinew_energy_record *record, sinew_error *error);
/* Refuses hard elements with pinned particles alone, of one energy with its number, or of all before the first step. */
sinew_status sinew_energy_check_fixed(const sinew_world *world, const sinew_energy_record *record, int32_t number,
                                      sinew_error *error);
sinew_status sinew_world_check_fixed(const sinew_world *world, sinew_error *error);
/* parameters_of of a batch (energy/batch.h); origin: its record. */
void sinew_energy_parameters(const void *origin, int32_t element, sinew_real *parameters);
/* Prepares the numbers of one element of a batch anew from its store; the batch is left alone on failure. */
sinew_status sinew_energy_prepare_again(const sinew_world *world, sinew_energy_record *record, int32_t element,
                                        sinew_error *error);
/* Takes over the parameters in the store, nothing else having changed, in all elements. Where one refuses, the old
 * parameters are to be put back and this called again. */
sinew_status sinew_energy_reparametrise(const sinew_world *world, sinew_energy_record *record, sinew_error *error);
void sinew_energy_work_release(sinew_energy_work *work, const sinew_allocator *allocator);
/* Makes the batch of an energy anew from its store, beside the one it has, for example after its particles got other
 * numbers; puts it in the place of that one; or lets it go, also one that could not be made. */
sinew_status sinew_energy_build_next(const sinew_world *world, sinew_energy_record *record, sinew_error *error);
void sinew_energy_take_next(sinew_world *world, sinew_energy_record *record);
void sinew_energy_drop_next(sinew_world *world, sinew_energy_record *record);
/* Makes the next batch from a store, without targets; then puts the next store and the next batch in their places. */
sinew_status sinew_energy_build_from(const sinew_world *world, sinew_energy_record *record, sinew_energy_store *store,
                                     sinew_error *error);
void sinew_energy_take_next_store(sinew_world *world, sinew_energy_record *record);
/* The record of an energy that takes elements as the def describes them; NULL, with the reason, when it does not. */
sinew_energy_record *sinew_energy_check_elements_def(const sinew_world *world, sinew_energy energy,
                                                     const sinew_energy_def *def, sinew_error *error);
/* Elements kept [count] of an energy in place of all, some of them more than once, on other particles
 * [count][vertex_count]; everything else about them stays. */
sinew_status sinew_energy_reselect(sinew_world *world, sinew_energy_record *record, const int32_t *kept, int32_t count,
                                   const int32_t *particles, sinew_error *error);
/* Refuses elements that are not there or come twice. */
sinew_status sinew_energy_check_list(const sinew_world *world, const sinew_energy_record *record, int32_t energy,
                                     const int32_t *elements, int32_t count, sinew_error *error);
/* Gives the elements of a store rest shapes of their own, at first those of the bodies; false without memory. */
bool sinew_energy_own_rest(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store);
/* Pins that hold some directions only (pin_directions.c). Directions of a def; whether a record has such; whether its
 * particles can be held along these beside what holds them already. */
sinew_status sinew_pin_take_directions(const sinew_pin_def *def, sinew_pin_record *record, sinew_error *error);
bool sinew_pin_is_partial(const sinew_pin_record *pin);
sinew_status sinew_pin_check_held(const sinew_world *world, const sinew_pin_def *def, const sinew_pin_record *record,
                                  sinew_error *error);
/* Filters of all particles, and which of them are held or, along three directions, pinned. Allocates. */
sinew_status sinew_world_find_held(sinew_world *world, sinew_error *error);
void sinew_world_release_held(sinew_world *world);
/* Brings particles of such a pin to where it holds them. */
void sinew_pin_place(const sinew_pin_record *pin, sinew_real *q);
/* r = free + held: what of a force on a particle moves it, and what its pins bear. */
void sinew_world_split_force(const sinew_world *world, int32_t particle, const double r[3], double free[3],
                             double held[3]);
void sinew_pin_record_destroy(const sinew_allocator *allocator, sinew_pin_record *record);
/* Sets q_tilde, f_ext, targets and the objective for the step that comes next, without moving anything else. */
void sinew_world_predict(sinew_world *world);
/* Brings targets and pins' places to where they are at a time. */
void sinew_world_move_targets(sinew_world *world, double time);
/* How much of gravity and forces acts in a step, the first being 1. */
double sinew_world_load_part(const sinew_world *world, int64_t step);
/* Damping of bodies and energies after a step (damping.c): memory; v of the world changed, loss noted. */
sinew_status sinew_damping_prepare(sinew_world *world, sinew_error *error);
void sinew_damping_apply(sinew_world *world);
void sinew_damping_release(sinew_world *world);
sinew_status sinew_energy_damping_check(const sinew_energy_def *def, sinew_error *error);
sinew_status sinew_body_damping_check(const sinew_body_def *def, sinew_error *error);
/* Makes what loads act on anew where bodies have changed; sets load_force for the step that comes next. */
sinew_status sinew_loads_prepare(sinew_world *world, sinew_error *error);
void sinew_loads_evaluate(sinew_world *world);
void sinew_loads_remove_body(sinew_world *world, sinew_body body);
void sinew_load_record_destroy(const sinew_allocator *allocator, sinew_load_record *record);
/* CRC-32 of vector, parameters, keys and what it acts on, where that was given. */
uint32_t sinew_load_digest(const sinew_load_record *record);
/* f_ext = gravity and forces as far as they have grown in a step, the first being 1. */
void sinew_world_load(sinew_world *world, int64_t step);
/* Colliders came, went, or are elsewhere: what contact keeps from step to step is to be made anew (settings.c). */
void sinew_contact_changed(sinew_world *world);
void sinew_contact_release(sinew_world *world);
void sinew_query_release(sinew_world *world);
/* Positions were set from outside: what was counted where they were does not count. */
void sinew_contact_moved(sinew_world *world);
/* Takes contacts out of the objective until the next step, so that nothing is prepared with those of the last. */
void sinew_contact_unlayer(sinew_world *world);
bool sinew_contact_is_on(const sinew_world *world);
/* Makes the layer of transient energies and contacts of the objective anew. */
sinew_status sinew_world_layer(sinew_world *world, sinew_error *error);
typedef struct sinew_contact_work sinew_contact_work;
/* Calls `line` with each name and value of what a world is made of (not of its state), counts before members. */
typedef void sinew_signature_line(void *context, const char *name, const char *value);
void sinew_world_signature(const sinew_world *world, sinew_signature_line *line, void *context);
/* Keeps the signature as it is, before a body tears for the first time; false without memory. */
bool sinew_world_keep_signature(sinew_world *world);
/* The text of a signature, "name=value" lines, against the world's own: SINEW_ERROR_DATA names what differs. */
sinew_status sinew_world_signature_check(const sinew_world *world, const char *text, size_t size, sinew_error *error);
/* CRC-32 of the vertices of pins and of their motion. */
uint32_t sinew_pin_digest(const sinew_world *world, const sinew_pin_record *pin);
/* Refuses what cannot be stepped: a solver that does not take the energies or the mode, pieces that nothing holds. */
sinew_status sinew_world_check(const sinew_world *world, sinew_error *error);
/* Refuses a solver that cannot take elements which change within a step, where contact is on. */
sinew_status sinew_world_check_contact(const sinew_world *world, sinew_error *error);

#endif
