/* SPDX-License-Identifier: MIT
 *
 * objective.h: the objective g of a step, whose minimum over the free particles is the result that solvers approach:
 *
 *     g(q) = 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 + sum_j psi_j(q)          dynamic, thesis (3.7)
 *     g(q) = sum_j psi_j(q) - f_ext . q                                    quasistatic, PBNG (17)
 *
 * its gradient, its Hessian (as a product, as diagonal blocks, as a sparse matrix) and the residual |grad g| over the
 * free particles. Pinned particles are no unknowns: their entries of gradients and products are zero.
 *
 * Vectors over particles are [particle_count][4] reals with a zero fourth number (base/reduce.h). Elements are
 * processed chunk by chunk (energy/batch.h): a thread copies a chunk's positions into its scratch, runs the kernel, and
 * writes the result to the chunk's slots. Then each particle adds its slots in a fixed order. Functions allocate only
 * if their comment states it.
 *
 * Energies are fixed or transient (energy/batch.h). Tasks of fixed energies come first, and each particle has a list of
 * their slots. Transient elements may change in every step, at a cost in proportion to their number: their slots are
 * added after the fixed ones, in the order of tasks.
 */
#ifndef SINEW_SRC_OBJECTIVE_OBJECTIVE_H
#define SINEW_SRC_OBJECTIVE_OBJECTIVE_H

#include "base/base.h"
#include "energy/batch.h"

typedef struct sinew_terms {
    double inertia; /* inertia term of g, its first term, in J; 0 in quasistatic steps */
    double elastic; /* all other terms of g, in J: energies, and in quasistatic steps -f_ext . q */
} sinew_terms;

/* One chunk of one batch, the unit of parallel work; tasks are independent of each other. */
typedef struct sinew_task {
    const sinew_batch *batch;
    const sinew_chunk *chunk;
    int32_t first_slot;    /* index of the chunk's first output slot, counted over all batches */
    size_t first_tangent;  /* offset in the objective's `tangents` of the chunk's second derivatives, in reals */
    sinew_real multiplier; /* multiplier of a global constraint at its last evaluation (global_constraints.h) */
    double psi;            /* energy of a global constraint in J, stored at its first task; 0 at its other tasks */
} sinew_task;

/* Input of a step, set by its prediction (world/step/step.c) before a solver runs; arrays are borrowed. */
typedef struct sinew_step_inputs {
    double h;
    bool quasistatic;
    const sinew_real *rest;    /* [particle_count][4] rest positions in m, which elimination orders use */
    const sinew_real *mass;    /* [particle_count] mass of each particle, in kg */
    const sinew_real *q_tilde; /* [particle_count][4] predicted positions q_tilde of dynamic steps, in m */
    /* [particle_count][4] start-of-step velocities v_n in m/s (dynamic steps); damping keeps the fraction v_kept */
    const sinew_real *v;
    double v_kept;
    const sinew_real *force; /* [particle_count][4] sum of all external forces on each particle, in N */
    const uint8_t *pinned;   /* [particle_count] 1: the particle is pinned, i.e. its motion is prescribed */
    /* Particles constrained along one or two directions (Baraff and Witkin 1998, 5.1). Displacements are S dq, where S
     * = 1 - sum n n^T over the constrained directions n. Gradients are S grad g, and assembled Hessians S H S plus a
     * positive multiple of 1 - S: descent directions computed from both have no component along a constrained
     * direction. */
    /* [particle_count][6] filter S of each particle as 00 11 22 01 02 12; NULL: no particle has constrained
     * directions */
    const sinew_real *filter;
    /* [constrained_count] indices of particles whose S is not 1, ascending, none of them pinned */
    const int32_t *constrained;
    int32_t constrained_count;
} sinew_step_inputs;

typedef struct sinew_objective {
    sinew_allocator allocator;
    int32_t thread_count;
    int32_t particle_count;
    const sinew_simd_variant *simd; /* SIMD kernels in use, chosen by sinew_objective_build */

    sinew_step_inputs step;
    /* true in a view of the objective whose value, elastic energy and gradient leave out hard energies */
    bool omit_hard;

    /* Layout of tasks and slots, constant between calls of sinew_objective_build() and
     * sinew_objective_set_transient(). */
    int32_t fixed_task_count, task_count;
    /* number of output slots of fixed tasks; the slot with this index is always zero, slots of transient tasks
     * follow */
    int32_t fixed_slot_count;
    sinew_task *tasks; /* [task_count] tasks of fixed batches, then of transient ones */
    /* [particle_count] indices of the first two slots of each particle; fixed_slot_count: no slot */
    int32_t (*slots)[2];
    int32_t *first_more; /* [particle_count + 1] index in `more` of each particle's first further slot */
    /* [fixed_slot_count] pairs of a particle and one of its slots beyond the first two, sorted by particle */
    int32_t (*more)[2];
    int32_t *chosen_tasks;           /* [fixed_task_count] work space: fixed tasks of a pass over some particles */
    size_t fixed_tangent_total;      /* number of reals in the tangents (second derivatives) of fixed tasks */
    size_t tangent_total;            /* number of reals in the tangents (second derivatives) of all tasks */
    int32_t global_constraint_count; /* number of global constraints (global_constraints.h) with allocated gradients */
    size_t fixed_scratch_size;       /* value of scratch_size for the fixed tasks alone */
    size_t scratch_size;             /* number of reals in the scratch memory of one thread */

    /* Work space of the objective; its capacities are in bytes. */
    /* [fixed_slot_count + 1 + slots of transient tasks][4] gradient or Hessian product in each output slot, in N */
    sinew_real *slot_values;
    /* [task_count] value of each task, in J; other passes over tasks use it as work space */
    double *task_values;
    sinew_real *scratch; /* [thread_count][scratch_size] scratch memory of each thread for one task */
    /* [tangent_total] second derivatives of all elements; NULL until sinew_objective_need_tangents() */
    sinew_real *tangents;
    /* [global_constraint_count][particle_count][4] grad C of each global constraint at the last linearisation; NULL
     * without global constraints */
    sinew_real *constraint_gradients;
    /* [global_constraint_count] f'' of each global constraint at the last linearisation; 1 / alpha without a
     * potential */
    double *constraint_weights;
    size_t task_capacity, slot_capacity, value_capacity, scratch_capacity, tangent_capacity;
} sinew_objective;

/* Lays out tasks and slots of the objective for the batches; fixed batches must precede transient ones. Allocates; on
 * failure nothing stays allocated. */
sinew_status sinew_objective_build(sinew_objective *objective, sinew_batch *const *batches, int32_t batch_count,
                                   sinew_error *error);
/* Replaces all transient batches and keeps the fixed ones. Allocates only to grow the work space. On failure there are
 * no transient batches. */
sinew_status sinew_objective_set_transient(sinew_objective *objective, sinew_batch *const *batches, int32_t batch_count,
                                           sinew_error *error);
void sinew_objective_clear(sinew_objective *objective); /* frees all arrays of the objective, tangents included */
/* Allocates the tangents on the first call; later calls of sinew_objective_set_transient() grow them. */
sinew_status sinew_objective_need_tangents(sinew_objective *objective, sinew_error *error);
void sinew_objective_drop_tangents(sinew_objective *objective); /* frees the array of second derivatives, `tangents` */

/* Returns the objective g(q) in J and, unless `terms` is NULL, its terms. */
double sinew_objective_value(sinew_objective *objective, const sinew_real *q, sinew_terms *terms);
/* Returns g(q), and sets gradient [particle_count][4] = S grad g(q), zero at pinned particles; S: filter of
 * constrained directions. */
double sinew_objective_gradient(sinew_objective *objective, const sinew_real *q, sinew_real *gradient,
                                sinew_terms *terms);
/* Computes second derivatives of all energies at q and stores them in the tangents, exact or projected element by
 * element. */
void sinew_objective_linearise(sinew_objective *objective, const sinew_real *q, bool project);
/* out = S (M/h^2 + sum H_j) p: the Hessian of g at the last linearisation, with masses M, element Hessians H_j and
 * direction filter S, times p; without M/h^2 in quasistatic steps. p must be zero at pinned particles; out is zero
 * there. */
void sinew_objective_product(sinew_objective *objective, const sinew_real *p, sinew_real *out);
/* blocks[i] = the 3x3 diagonal Hessian block of particle i at q, row-major [particle_count][9], identity at pinned
 * particles. */
void sinew_objective_diagonal(sinew_objective *objective, const sinew_real *q, bool project, double *blocks);
/* blocks[i] = the 3x3 diagonal Hessian block of particle i due to fixed elements, projected, without inertia, at pinned
 * particles too. Only of particles whose entry of wanted [particle_count] is 1; other blocks do not change. Evaluates
 * the chunks of elements that have a wanted particle, and returns the number of their SIMD groups. */
int64_t sinew_objective_fixed_diagonal(const sinew_objective *objective, const sinew_real *q, const uint8_t *wanted,
                                       double *blocks);
/* traces [particle_count] += the traces of the elements' diagonal blocks at q, projected, without inertia, at pinned
 * particles too. Only fixed or only transient elements are counted. */
void sinew_objective_traces(const sinew_objective *objective, const sinew_real *q, bool transient, double *traces);
/* Spacing of floating-point numbers at the largest coordinate of q, in m. Round-off in the gradient is about this
 * distance times the norm of the free particles' traces, inertia included (N/m). */
double sinew_objective_round_off(const sinew_objective *objective, const sinew_real *q);

/* Linear (kg m/s) and angular (kg m2/s, about the origin) momentum of positions q [][4] and velocities v [][4]. */
void sinew_objective_momenta(const sinew_objective *objective, const sinew_real *q, const sinew_real *v,
                             double linear[3], double angular[3]);

/* Returns the sum of all energies psi at q, without inertia and external forces, in J. */
double sinew_objective_elastic(sinew_objective *objective, const sinew_real *q);
/* The largest t <= max such that every energy is defined on [0, t) along q + t d; `max` without barriers. Energies that
 * are undefined at q itself are ignored. */
double sinew_objective_step_limit(sinew_objective *objective, const sinew_real *q, const sinew_real *d, double max);
/* Smallest and largest det F over all tets (both 1 without tets), and the number of tets with det F <= 0. */
void sinew_objective_determinants(sinew_objective *objective, const sinew_real *q, double *smallest, double *largest,
                                  int32_t *inverted);

/* Runs a local step of a projective method. `step` gets the kernel of each task, with x and g set and g zeroed, and may
 * run any operation on it. out = sum of g over tasks, zero at pinned particles. Tasks run in parallel. */
typedef void sinew_local_step(void *context, int32_t task, sinew_reduced_kernel *kernel);
void sinew_objective_local(sinew_objective *objective, const sinew_real *x, sinew_local_step *step, void *context,
                           sinew_real *out);
/* out += M/h^2 (q_tilde - s q) (dynamic) or f_ext (quasistatic) at the free particles. */
void sinew_objective_add_inertia(const sinew_objective *objective, double s, const sinew_real *q, sinew_real *out);

/* x_i = S_i x_i at particles with constrained directions; x [particle_count][4] is a displacement or a gradient. */
void sinew_filter(const sinew_objective *objective, sinew_real *x);
/* x = S_i x: removes the components along the constrained directions of one particle i. */
void sinew_filter_point(const sinew_objective *objective, int32_t particle, double x[3]);
/* Moves q to q_tilde along the constrained directions of each particle. */
void sinew_project_constrained(const sinew_objective *objective, sinew_real *q);
/* block = S_i block S_j, row-major 3x3, with the filters S of two particles; if i = j, (1 - S) times the mean
 * diagonal of the block is added. */
void sinew_filter_block(const sinew_objective *objective, int32_t i, int32_t j, double block[9]);

/* For files of src/objective: returns the Hessian blocks of one chunk at q, [group_count][block_count][9][W]
 * (energy/energy.h), in the scratch of `thread` (0 .. thread_count-1). */
const sinew_real *sinew_task_blocks(const sinew_objective *objective, int32_t thread, const sinew_task *task,
                                    const sinew_real *q, bool project);
/* True if task t of the objective is the first task of its batch. */
static inline bool sinew_task_begins(const sinew_objective *objective, int32_t t)
{
    return t == 0 || objective->tasks[t].batch != objective->tasks[t - 1].batch;
}
/* True if task t of the objective is the first task of a batch of contacts. */
static inline bool sinew_task_begins_contacts(const sinew_objective *objective, int32_t t)
{
    return objective->tasks[t].batch->ops->contact && sinew_task_begins(objective, t);
}
/* True if the objective's transient elements include contacts. */
bool sinew_objective_has_contacts(const sinew_objective *objective);
/* number of threads for the objective's tasks: one if there are few tasks */
int32_t sinew_task_threads(const sinew_objective *objective);

#endif
