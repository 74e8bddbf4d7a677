/* SPDX-License-Identifier: MIT
 *
 * world.h: the internal data of a sinew_world.
 *
 * A slot is the index of a record in `bodies`, `energies`, `pins`, `loads` or `colliders`. Particles have an internal
 * (inside) order: bodies follow each other by their slots, without holes, and the particles of one body follow a
 * Hilbert curve through its rest shape. In the public (outside) order, a body's vertices are the run first .. first +
 * count - 1 of numbers; removed bodies leave holes in these numbers. `inside` and `outside` map between the two; public
 * functions use outside numbers.
 */
#ifndef SINEW_SRC_WORLD_WORLD_H
#define SINEW_SRC_WORLD_WORLD_H

#include "base/base.h"
#include "base/memory_limit.h"
#include "collide/shapes/colliders.h"
#include <stdatomic.h>

#include "energy/batch.h"
#include "mesh/key_frames.h"
#include "mesh/embedded_surface.h"
#include "objective/objective.h"
#include "solve/solver.h"
#include "world/motion.h"

typedef struct sinew_body_record {
    sinew_mesh *mesh;     /* mesh of the body; NULL: the body was removed */
    int32_t first, count; /* first public (outside) number of the body's particles; number of these particles */
    int32_t reserved;     /* >= count: public numbers reserved for the body, including spare ones */
    int32_t start;        /* internal (inside) number of the body's first particle */
    uint32_t generation;
    uint32_t mesh_version; /* number of times that `mesh` was replaced */
    char *name;            /* name of the body; NULL: it has no name */
    /* True: rigid body of four particles (rigid.c); its surface lies outside their tet. */
    bool rigid;
    sinew_solid solid; /* exact shape of a rigid body, in its rest shape; radius 0: its embedded surface is its shape */
    int32_t solid_end_count;        /* 0: no solid, 1: a sphere, 2: a capsule */
    sinew_real solid_weights[2][4]; /* weights of the ends of `solid` in the particles of vertices 0 .. 3 */
    /* Damping rate of the body in 1/s; fraction of non-rigid velocities that each step removes. */
    sinew_real damping, velocity_filter;
    sinew_body_contact contact;
    /* The embedded surface (embedding.c); all NULL if the body has none. */
    sinew_skin *skin;
    int32_t *skin_vertices; /* [4 * vertex_count of the skin] body vertices that each skin vertex is embedded in */
    /* [4 * vertex_count of the skin] interpolation weights of the body vertices in `skin_vertices` */
    sinew_real *skin_weights;
    struct sinew_tear *tear; /* tearing of the body (tear.h); NULL: the body does not tear */
} sinew_body_record;

/* The elements of an energy, as defined and later changed: all data from which its batch can be rebuilt. Transient
 * energies refill the arrays often, so each has its capacity in bytes. */
typedef struct sinew_energy_store {
    sinew_body body; /* body whose vertices the caller numbers; index -1: the caller numbers the world's particles */
    int32_t count;   /* number of elements of the energy */
    sinew_real parameters[SINEW_PARAMETER_MAX];
    uint32_t by_element; /* bit p: parameter p has a separate value for each element */
    bool normals_given, rest_given, fractions_given, examples_given;
    int32_t *particles; /* [count][vertex_count] particles (internal numbers) of each element, in the caller's order */
    sinew_real *each[SINEW_PARAMETER_MAX]; /* [count] values of parameter p, if bit p of by_element is set */
    sinew_real *weights;   /* [count][8] weights of the vertices of each element, for stencils with weights */
    sinew_real *normals;   /* [count][3] normal of each element, if normals_given */
    sinew_real *rest;      /* [count][vertex_count][3] rest positions in m other than the bodies', if rest_given */
    sinew_real *fractions; /* [count] filled fraction of each tet, if fractions_given */
    /* [count][SINEW_EXAMPLE_MAX][6] stretches of the elements in the example shapes, if examples_given (energy.h) */
    sinew_real *examples;
    double *size; /* [count] size of each rest shape, for energies that keep it (energy.h) */
    size_t size_capacity, particle_bytes, each_capacity[SINEW_PARAMETER_MAX], weight_capacity, normal_capacity,
        rest_capacity, fraction_capacity, example_capacity;
} sinew_energy_store;

/* Work space for building the batch of an energy from its store. */
typedef struct sinew_energy_work {
    int32_t *particles; /* [count][vertex_count] particles (internal numbers) of each element, in layout order */
    sinew_real *data;   /* [count][data_count] data of each element for the energy's kernels */
    sinew_batch_layout layout;
    sinew_batch_work batch;
    size_t particle_bytes, data_capacity;
} sinew_energy_work;

typedef struct sinew_energy_record {
    sinew_energy_kind kind;
    sinew_energy_store store;
    sinew_batch *batch;       /* batch of the energy; NULL: the energy was removed */
    sinew_trajectory targets; /* target positions of VERTEX energies; empty for other energies */
    uint32_t motion_digest;   /* CRC-32 of the motion that the energy's definition gave to the targets */
    sinew_real damping;       /* coefficient of stiffness-proportional damping, in s */
    bool rigid;               /* true: the energy keeps a rigid body rigid (rigid.c) */
    /* The next elements of the energy are built here before they replace the current ones; transient energies keep the
     * memory. */
    sinew_energy_store next_store;
    sinew_batch *next_batch;
    sinew_energy_work work;
    uint32_t generation;
} sinew_energy_record;

/* Data of an energy that identify it in the signature of a state. */
typedef struct sinew_energy_origin {
    int32_t body;
    uint32_t by_element; /* bit p: parameter p has a separate value for each element */
    /* CRC-32 of the energy's elements, all their individual data, their on/off switches, `hard`, `pbd_stiffness` and
     * motion. */
    uint32_t digest;
    sinew_real parameters[SINEW_PARAMETER_MAX];
} sinew_energy_origin;

typedef struct sinew_pin_record {
    int32_t count;      /* number of pinned particles; 0: the pins were removed */
    int32_t *particles; /* [count] internal numbers of the pinned particles */
    sinew_trajectory trajectory;
    /* Body whose vertices the pin definition numbered; index -1: the definition numbered the world's particles. */
    sinew_body body;
    uint32_t motion_digest; /* CRC-32 of the motion that the pin definition gave */
    uint32_t generation;
    int32_t direction_count; /* number of constrained directions, 1 .. 3; 3: all (pin_directions.c) */
    double directions[3][3]; /* [direction_count] constrained directions, orthonormal vectors */
    double *along;           /* [count][direction_count][3] vectors a_k of pin_directions.c; NULL until prepared */
    size_t along_capacity;
} sinew_pin_record;

typedef struct sinew_load_record sinew_load_record; /* record of a load; the struct is defined in loads.h */

struct sinew_world {
    sinew_allocator allocator;
    sinew_memory_limit *memory_limit; /* memory limit of the allocator; NULL: no limit */
    sinew_world_def def;
    double time;
    int64_t step_count;

    /* Number of particles: internal numbers are 0 .. particle_count - 1; number that the arrays can hold. */
    int32_t particle_count, particle_capacity;
    /* Arrays over particles follow, in the internal order; the fourth number of a [4] is zero unless stated otherwise.
     * [particle_count][4] positions (m), velocities (m/s) and the caller's forces (N). */
    sinew_real *q, *v, *force;
    sinew_real *rest; /* [particle_count][4] rest positions of all particles, in m */
    /* [particle_count][4] inertial prediction q_tilde (m) and external forces f_ext (N, with gravity) of this step. */
    sinew_real *q_tilde, *f_ext;
    /* Velocities in m/s at the start of the last step with contact, the fourth number 1 if known; NULL before the first
     * such step. */
    sinew_real *v_before;
    sinew_real *mass; /* [particle_count] masses, in kg */
    uint8_t *pinned;  /* [particle_count] 1: the particle is pinned along all directions */
    /* [particle_count][6] filter S of each particle (objective.h); computed when the world is prepared, if particles
     * are constrained along some directions only. Unused if constrained_count is 0. */
    sinew_real *filter;
    int32_t *constrained_particles; /* [constrained_count] particles constrained along some directions, ascending */
    int32_t constrained_count;
    size_t filter_capacity, constrained_capacity;
    int32_t *outside; /* [particle_count] public number of each particle, indexed by internal number */
    /* [number_count] internal number of the particle with each public number; negative: none, SINEW_NUMBER_FREE or
     * SINEW_NUMBER_SPARE */
    int32_t *inside;
    int32_t number_count, number_capacity;
    int32_t hole_count; /* number of public numbers that are free for new particles */
    /* version that increases when particles are added or removed, their arrays move, or a mesh or skin changes */
    int64_t shape_version;
    int64_t q_version;        /* version that increases when positions change and the set of particles does not */
    int64_t collider_version; /* version that increases when colliders are added, removed or posed */

    int32_t body_count, body_capacity;
    sinew_body_record *bodies;
    int32_t energy_count, energy_capacity;
    sinew_energy_record *energies;
    int32_t pin_count, pin_capacity;
    sinew_pin_record *pins;
    int32_t load_count, load_capacity;
    sinew_load_record *loads;
    sinew_real
        *load_force; /* [particle_capacity][4] sum of all loads in the current step, in N; NULL before the first load */
    /* [particle_capacity][4] acceleration of each particle in the last step by all forces other than wind, m/s^2;
     * fourth number: 1 if known. NULL before the first wind. */
    sinew_real *acceleration;
    /* [particle_capacity][4] damped velocity of each particle at the start of the step over h, plus its acceleration by
     * wind, m/s^2. NULL before the first wind. */
    sinew_real *wind_start;
    int32_t collider_count, collider_capacity;
    sinew_collider_record *colliders;
    struct sinew_query_work *query;     /* work space of queries (queries.c); NULL before the first query */
    struct sinew_contact_work *contact; /* work space of contact (contact/contact.h); NULL: contact was never set */
    /* Hints for free slots: every slot with an index below the hint of its kind is in use. */
    int32_t body_hint, energy_hint, pin_hint, collider_hint;

    sinew_batch *
        *batches; /* [energy_capacity + 2] batches of the objective: those of existing energies, then two of contacts */
    sinew_objective objective;
    sinew_solve solve;
    /* Bits SINEW_CHANGED_ELEMENTS and SINEW_CHANGED_TRANSIENT: changes since the objective was laid out. */
    uint32_t objective_changed;
    uint32_t solver_changed; /* bits SINEW_CHANGED_...: changes since the solver was prepared or refreshed */
    char *signature;   /* signature before the first tear, to match a torn world with its states; NULL: nothing tore */
    char *comment;     /* comment that the caller set, saved with the state; NULL: no comment */
    sinew_error error; /* error of the last step whose preparation failed */
    sinew_gap_kind position_error_kind; /* kind of the position error that the last step measured */
    /* Value of q_version after the step that measured the position error: a change of positions ends its validity. */
    int64_t position_error_version;
    bool stepping;           /* true: a step is in progress, and callbacks may read the world but not change it */
    atomic_bool interrupted; /* true: sinew_world_interrupt() was called; the step that it ends clears the flag */
    /* Data of the solver at the start of the current step (state_save of solver.h), to restore it after an
     * interruption. */
    void *solver_state;
    /* Sizes in bytes of solver_state and of its memory; size 0: the solver keeps no data between steps. */
    size_t solver_state_size, solver_state_capacity;
    bool solver_state_pending;          /* true: a step was interrupted, and the next preparation loads solver_state */
    struct sinew_damping_work *damping; /* work space of damping by energies; NULL until used */
    double damping_loss; /* energy in J that damping of bodies and energies dissipated after the last step */
    struct sinew_balance_work *balance; /* work space of the energy balance; NULL until enabled */
};

/* Reserves memory for one more record of `size` bytes in an array of the world; true on success. */
bool sinew_grow(const sinew_allocator *allocator, void **array, int32_t count, int32_t *capacity, size_t size);
/* Tests whether the world may change. False while a step is in progress, with an error that names `call`: contact
 * filters and kernels of extensions run there, and the arrays of the step would not survive a change. True without a
 * world: the caller reports that. */
bool sinew_world_may_change(const sinew_world *world, const char *call, sinew_error *error);
/* Returns the position error q* - q of the last step, [particle_count][4] in the internal order, in m; NULL if it is
 * unknown or positions have changed since. */
const sinew_real *sinew_world_position_error(const sinew_world *world);
/* Returns the record of an id; NULL, with an error, if the object was removed or never existed. */
sinew_body_record *sinew_world_find_body(const sinew_world *world, sinew_body body, sinew_error *error);
sinew_energy_record *sinew_world_find_energy(const sinew_world *world, sinew_energy energy, sinew_error *error);
sinew_pin_record *sinew_world_find_pin(const sinew_world *world, sinew_pin pin, sinew_error *error);
sinew_collider_record *sinew_world_find_collider(const sinew_world *world, sinew_collider collider, sinew_error *error);
/* Slot of the next body, energy, pin or collider: the lowest free one, or the count if none is free. */
int32_t sinew_world_body_slot(const sinew_world *world);
int32_t sinew_world_energy_slot(const sinew_world *world);
int32_t sinew_world_pin_slot(const sinew_world *world);
int32_t sinew_world_collider_slot(const sinew_world *world);
/* Marks a slot of the world as free; `hint` is the world's hint for that kind of object. */
void sinew_world_release_slot(int32_t *hint, int32_t slot);
/* Stores the record in a reserved slot, as the next generation of the slot; returns the id. */
sinew_body sinew_world_put_body(sinew_world *world, int32_t slot, sinew_body_record record);
sinew_energy sinew_world_put_energy(sinew_world *world, int32_t slot, sinew_energy_record record);
sinew_pin sinew_world_put_pin(sinew_world *world, int32_t slot, sinew_pin_record record);
sinew_collider sinew_world_put_collider(sinew_world *world, int32_t slot, sinew_collider_record record);
/* Values of `inside` for public numbers without a particle: free numbers, and spare numbers of a body. */
enum {
    SINEW_NUMBER_FREE = -1,
    SINEW_NUMBER_SPARE = -2
};
/* Reserves memory for `count` more particles or public numbers; false: out of memory. */
bool sinew_particles_reserve(sinew_world *world, int32_t count);
bool sinew_numbers_reserve(sinew_world *world, int32_t count);
/* Inserts `count` reserved particles before the internal number `at`, whose mass and public number the caller sets
 * (their other data are zero); erases `count` particles from `at` on. Both update the internal numbers that bodies,
 * energies, pins and `inside` store. */
void sinew_particles_insert(sinew_world *world, int32_t at, int32_t count);
void sinew_particles_erase(sinew_world *world, int32_t at, int32_t count);
/* Permutes particles: the i-th particle after internal number `start` is the former from[i]-th; to[from[i]] = i.
 * Updates the internal numbers that energies and pins store; the caller updates the maps `inside` and `outside`.
 * scratch [count][4]: work space. */
void sinew_particles_permute(sinew_world *world, int32_t start, int32_t count, const int32_t *from, const int32_t *to,
                             sinew_real *scratch);
/* Tests whether an energy acts on a body. 0: no; 1: on this body alone; -1: also on other bodies. */
int sinew_energy_acts_on(const sinew_body_record *body, const sinew_energy_record *energy);
/* Fails for points [count][3] that are not finite; accepts NULL. */
sinew_status sinew_points_check(const sinew_real *points, int32_t count, const char *what, sinew_error *error);
/* Creates a mesh with the same cells and other points [vertex_count][3], m; NULL, with an error, on failure. */
sinew_mesh *sinew_mesh_with_points(const sinew_world *world, const sinew_mesh *mesh, int32_t vertex_count,
                                   const sinew_real *points, sinew_error *error);
/* Runs of public particle numbers: test whether a run is free, find the first free run that fits, mark a run as spare,
 * mark a run as free. */
bool sinew_numbers_are_free(const sinew_world *world, int32_t first, int32_t count);
int32_t sinew_numbers_find(const sinew_world *world, int32_t count);
void sinew_numbers_mark_spare(sinew_world *world, int32_t first, int32_t count);
void sinew_numbers_mark_free(sinew_world *world, int32_t first, int32_t count);
/* Converts vertex numbers of a body (or, if body.index < 0, public particle numbers) into internal particle numbers. */
sinew_status sinew_world_resolve(const sinew_world *world, sinew_body body, const int32_t *numbers, int32_t count,
                                 const char *owner, int32_t *particles, sinew_error *error);
sinew_status sinew_gravity_check(const sinew_real gravity[3], sinew_error *error);
sinew_status sinew_damping_check(sinew_real damping, sinew_error *error);
/* Copies out[i] = the point of particles[i] in `from` [particle_count][4]; out [count][3]. */
void sinew_world_points(const sinew_real *from, const int32_t *particles, int32_t count, sinew_real *out);
/* Copies the points of the particles with public numbers first .. first + count - 1 to out [count][3]; zero where there
 * is no particle. */
void sinew_world_outside_points(const sinew_world *world, const sinew_real *from, int32_t first, int32_t count,
                                sinew_real *out);
/* True if first .. first + count - 1 are public numbers of the world, holes included, and `array` is not NULL; with
 * count 0 it may be NULL. */
bool sinew_world_has_range(const sinew_world *world, int32_t first, int32_t count, const void *array);
/* Frees the skin of a body and its weights; does nothing without a skin. */
void sinew_body_drop_skin(const sinew_allocator *allocator, sinew_body_record *record);
void sinew_body_record_destroy(const sinew_allocator *allocator, sinew_body_record *record);
void sinew_energy_record_destroy(const sinew_allocator *allocator, sinew_energy_record *record);
sinew_energy_origin sinew_energy_get_origin(const sinew_world *world, const sinew_energy_record *record);
/* Prepares the world like sinew_world_prepare(), which alone can be interrupted outside of steps. */
sinew_status sinew_world_make_ready(sinew_world *world, sinew_error *error);
/* True if the solver has data from earlier steps for the next one. Pending changes that the solver can refresh keep the
 * data; other changes reset it. */
bool sinew_world_solver_remembers(const sinew_world *world);
/* Records changes (SINEW_CHANGED_...) that the preparation of the next step applies. */
void sinew_world_mark_changed(sinew_world *world, uint32_t changed);

/* Fills the store of an energy, zeroed or filled before, with copies of the definition's data (store.c). */
sinew_status sinew_energy_store_fill(sinew_energy_store *store, const sinew_world *world, const sinew_energy_def *def,
                                     sinew_error *error);
/* Computes the stretches of the elements in the example shapes of the energy definition; `numbers` are vertices in its
 * numbering. */
sinew_status sinew_energy_store_examples(sinew_energy_store *store, const sinew_world *world,
                                         const sinew_energy_def *def, const int32_t *numbers, sinew_error *error);
/* Copies the filled fraction of each tet of an energy from its body (fill_fractions.c). */
sinew_status sinew_energy_store_fractions(sinew_energy_store *store, const sinew_world *world,
                                          const sinew_energy_info *info, sinew_error *error);
/* Checks the values [count] of one parameter of an energy, one per element. */
sinew_status sinew_energy_check_parameter(sinew_energy_kind kind, int32_t parameter, const sinew_real *values,
                                          int32_t count, sinew_error *error);
void sinew_energy_store_release(sinew_energy_store *store, const sinew_allocator *allocator);
/* Fills the batch of an energy from its store; targets [count][3] or NULL. After a failure the batch is undefined
 * until it is filled again. */
sinew_status sinew_energy_build(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store,
                                const sinew_real *targets, sinew_energy_work *work, sinew_batch *batch,
                                sinew_error *error);
/* View of all elements of an energy in the current state, for functions that take all elements together. */
sinew_global_constraint sinew_energy_all_elements(const sinew_world *world, const sinew_energy_store *store);
/* Computes the rest positions [vertex_count][3], m, of an element, vertices in the order of the batch. */
void sinew_energy_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element, sinew_real *rest);
/* Fails for elements that cannot be hard constraints of a KKT system (check_hard.c). */
sinew_status sinew_energy_check_hard(const sinew_world *world, const sinew_energy_record *record, sinew_error *error);
/* Fails for hard elements whose particles are all pinned: in one energy (`number` is its slot), or in all energies
 * before the first step. */
sinew_status sinew_energy_check_fixed(const sinew_world *world, const sinew_energy_record *record, int32_t number,
                                      sinew_error *error);
sinew_status sinew_world_check_fixed(const sinew_world *world, sinew_error *error);
/* Computes the parameters of an element: the function `parameters_of` of a batch (energy/batch.h); origin: the energy's
 * record. */
void sinew_energy_parameters(const void *origin, int32_t element, sinew_real *parameters);
/* Prepares the kernel data of one element of a batch again from its store; the batch is unchanged on failure. */
sinew_status sinew_energy_prepare_again(const sinew_world *world, sinew_energy_record *record, int32_t element,
                                        sinew_error *error);
/* Applies changed parameters of an energy's store to all elements; all other data of the store is unchanged. If it
 * fails for an element, the caller restores the old parameters and calls this function again. */
sinew_status sinew_energy_reparametrise(const sinew_world *world, sinew_energy_record *record, sinew_error *error);
void sinew_energy_work_release(sinew_energy_work *work, const sinew_allocator *allocator);
/* The next batch of an energy: sinew_energy_build_next builds it from the store beside the current batch, for
 * example after a renumbering; sinew_energy_take_next replaces the current batch; sinew_energy_drop_next releases
 * the next batch, complete or not (a transient energy keeps it for reuse). */
sinew_status sinew_energy_build_next(const sinew_world *world, sinew_energy_record *record, sinew_error *error);
/* Replaces the energy that keeps a rigid body rigid; the new record has the same id. */
sinew_status sinew_energy_replace_rigid(sinew_world *world, sinew_energy_record *record, const sinew_energy_def *def,
                                        sinew_error *error);
/* Gives all rigid bodies the energy that the solver and the time step of the world need (rigid.c). */
sinew_status sinew_world_fit_rigid(sinew_world *world, sinew_error *error);
void sinew_energy_take_next(sinew_world *world, sinew_energy_record *record);
void sinew_energy_drop_next(sinew_world *world, sinew_energy_record *record);
/* Builds the next batch of an energy from a store, without targets; then replaces store and batch by the next ones. */
sinew_status sinew_energy_build_from(const sinew_world *world, sinew_energy_record *record, sinew_energy_store *store,
                                     sinew_error *error);
void sinew_energy_take_next_store(sinew_world *world, sinew_energy_record *record);
/* Returns the record of an energy that accepts the elements of the definition; NULL, with an error, otherwise. */
sinew_energy_record *sinew_energy_check_elements_def(const sinew_world *world, sinew_energy energy,
                                                     const sinew_energy_def *def, sinew_error *error);
/* Replaces all elements of an energy by the elements kept [count], which may repeat, on other particles
 * [count][vertex_count]; all other data is kept. */
sinew_status sinew_energy_reselect(sinew_world *world, sinew_energy_record *record, const int32_t *kept, int32_t count,
                                   const int32_t *particles, sinew_error *error);
/* Fails for a list of elements of an energy that do not exist or are repeated. */
sinew_status sinew_energy_check_list(const sinew_world *world, const sinew_energy_record *record, int32_t energy,
                                     const int32_t *elements, int32_t count, sinew_error *error);
/* Gives the elements of a store individual rest shapes, initially those of the bodies; false: out of memory. */
bool sinew_energy_own_rest(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store);
/* Pins that constrain some directions only (pin_directions.c): copy the directions of a def; test whether a pin is
 * partial; check that directions are independent of those of existing pins at the same particles. */
sinew_status sinew_pin_take_directions(const sinew_pin_def *def, sinew_pin_record *record, sinew_error *error);
bool sinew_pin_is_partial(const sinew_pin_record *pin);
sinew_status sinew_pin_check_directions(const sinew_world *world, const sinew_pin_def *def,
                                        const sinew_pin_record *record, sinew_error *error);
/* Computes the filters S of all particles, the list of constrained particles, and which particles are pinned by three
 * directions. Allocates. */
sinew_status sinew_world_find_constrained(sinew_world *world, sinew_error *error);
void sinew_world_release_constrained(sinew_world *world);
/* Moves the particles of a partial pin to its targets, along the constrained directions. */
void sinew_pin_move_to_targets(const sinew_pin_record *pin, sinew_real *q);
/* Splits a force r = free + constrained: the component of a force that accelerates a particle, and the component that
 * its pins exert. */
void sinew_world_split_force(const sinew_world *world, int32_t particle, const double r[3], double free[3],
                             double constrained[3]);
void sinew_pin_record_destroy(const sinew_allocator *allocator, sinew_pin_record *record);
/* Sets q_tilde, f_ext, targets and the objective for the next step; changes no current positions or velocities. */
void sinew_world_predict(sinew_world *world);
/* Moves targets of energies and pins to their positions at `time`. */
void sinew_world_move_targets(sinew_world *world, double time);
/* Fraction of gravity and forces that acts in a step (load_steps); steps are numbered from 1. */
double sinew_world_load_fraction(const sinew_world *world, int64_t step);
/* Damping of bodies and energies after a step (damping.c): prepare allocates; apply changes v of the world and sets
 * damping_loss. */
sinew_status sinew_damping_prepare(sinew_world *world, sinew_error *error);
void sinew_damping_apply(sinew_world *world);
void sinew_damping_release(sinew_world *world);
sinew_status sinew_energy_damping_check(const sinew_energy_def *def, sinew_error *error);
sinew_status sinew_body_damping_check(const sinew_body_def *def, sinew_error *error);
/* Rebuilds the elements of all loads if bodies have changed. */
sinew_status sinew_loads_prepare(sinew_world *world, sinew_error *error);
/* Computes load_force, the sum of all loads, for the next step. */
void sinew_loads_evaluate(sinew_world *world);
/* Sets the world's `acceleration` (of wind loads) from the velocities at the end of a step. */
void sinew_loads_end_step(sinew_world *world);
void sinew_loads_remove_body(sinew_world *world, sinew_body body);
void sinew_load_record_destroy(const sinew_allocator *allocator, sinew_load_record *record);
/* CRC-32 of a load: its vector, parameters, key frames and given elements, if any. */
uint32_t sinew_load_digest(const sinew_load_record *record);
/* Computes f_ext = gravity, forces and loads times sinew_world_load_fraction(); steps are numbered from 1. */
void sinew_world_external_forces(sinew_world *world, int64_t step);
/* Marks colliders as added, removed or moved: contact rebuilds its data before the next step. */
void sinew_contact_changed(sinew_world *world);
void sinew_contact_release(sinew_world *world);
void sinew_query_release(sinew_world *world);
/* Called when positions are set: marks what is known about intersections and overlaps as out of date. */
void sinew_contact_moved(sinew_world *world);
/* Ends impacts of bodies some of whose particles first .. first + count - 1 were given other positions. */
void sinew_contact_forget_impacts(sinew_world *world, int32_t first, int32_t count);
/* Removes contacts from the objective until the next step, so that the solver is not prepared with old contacts. */
void sinew_contact_detach(sinew_world *world);
bool sinew_contact_is_on(const sinew_world *world);
/* Returns the transient batches of the energies, in an array with capacity for two more (contacts); NULL: out of
 * memory. */
sinew_batch **sinew_world_transient_batches(sinew_world *world, int32_t *count);
typedef struct sinew_contact_work sinew_contact_work;
/* Fills the contact view of a world (contact_api/view.c). Fails if memory is short. */
struct sinew_contact_view;
sinew_status sinew_world_contact_view(const sinew_world *world, struct sinew_contact_view *view, sinew_error *error);
/* Allocates v_before of the world, with all velocities unknown, if it does not exist yet; false: out of memory. */
bool sinew_world_allocate_v_before(sinew_world *world);
/* Fails if the last step did not keep a list of contacts. */
sinew_status sinew_contact_check_listed(const sinew_world *world, sinew_error *error);
/* Calls `line` with each name and value of a world's composition (not of its state), counts before members. */
typedef void sinew_signature_line(void *context, const char *name, const char *value);
void sinew_world_signature(const sinew_world *world, sinew_signature_line *line, void *context);
/* Stores the current signature before the first tear of a body; false: out of memory. */
bool sinew_world_keep_signature(sinew_world *world);
/* Compares the text of a signature, "name=value" lines, with the signature of the world: SINEW_ERROR_DATA names the
 * first difference. */
sinew_status sinew_world_signature_check(const sinew_world *world, const char *text, size_t size, sinew_error *error);
/* CRC-32 of the vertices of pins and of their motion. */
uint32_t sinew_pin_digest(const sinew_world *world, const sinew_pin_record *pin);
/* Fails for worlds that cannot be stepped: a solver that does not support the energies or the mode, or unsupported
 * components. */
sinew_status sinew_world_check_solvable(const sinew_world *world, sinew_error *error);
/* Fails if contact is on and the solver does not support elements that change within a step. */
sinew_status sinew_world_check_contact(const sinew_world *world, sinew_error *error);

#endif
