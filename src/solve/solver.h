/* SPDX-License-Identifier: MIT
 *
 * solver.h: what a solver is: one table of operations, run by the one driver (driver.c).
 *
 * A step: the world fills the objective (q_tilde, forces, targets) and q with the starting guess, pins already at
 * their places. The driver calls begin, then iterate until a stop, then end; q is the result. prepare runs before the
 * first step and again when something changed that `refresh` cannot take over. It finds the rest shape in q and all
 * elements switched on, and must not depend on the state: a world that loads a state goes on with the same bits. Nor
 * may a refreshed solver depend on what was before: it is what a freshly prepared one would be, or, where it solves
 * systems by factors, one that gives the same answers but for round-off.
 *
 * Adding a solver: one file solve_<name>.c, one value in sinew_solver_kind, one line in solver_table.c, one page in
 * docs/solvers/ and its line in index.md there, which says what the tests will ask of it. prepare, release, begin and
 * iterate are required, all other operations may be left out.
 */
#ifndef SINEW_SRC_SOLVE_SOLVER_H
#define SINEW_SRC_SOLVE_SOLVER_H

#include "objective/objective.h"
#include "sinew/sinew.h"

/* On the relative residual. */
#define SINEW_DEFAULT_TOLERANCE (sizeof(sinew_real) == 4 ? 1e-4 : 1e-8)

typedef struct sinew_solve sinew_solve;

/* Changes of a world since its solver was prepared. */
enum {
    SINEW_CHANGED_DEF = 1 << 0,       /* iterations, tolerance, time budget, what is measured and recorded */
    SINEW_CHANGED_SOLVER = 1 << 1,    /* its kind or its parameters: always prepared anew */
    SINEW_CHANGED_DATA = 1 << 2,      /* materials, rest shapes of fixed elements */
    SINEW_CHANGED_SWITCHED = 1 << 3,  /* fixed elements switched on or off */
    SINEW_CHANGED_TIME_STEP = 1 << 4, /* h */
    SINEW_CHANGED_PINS = 1 << 5,      /* which particles are pinned */
    SINEW_CHANGED_TRANSIENT = 1 << 6, /* anything about transient elements */
    SINEW_CHANGED_ELEMENTS = 1 << 7,  /* particles or fixed elements: always prepared anew */
    SINEW_CHANGED_ALL = (1 << 8) - 1
};

/* What has happened to a solver between two iterations of a step (resume). */
enum {
    SINEW_RESUME_MOVED = 1 << 0,   /* s->q was moved by the guard */
    SINEW_RESUME_NUMBERS = 1 << 1, /* numbers of contacts changed: multipliers, what friction bears */
    SINEW_RESUME_ELEMENTS = 1 << 2 /* contacts changed, and refresh (TRANSIENT) has been called */
};

/* What the owner of contacts does between iterations (src/world/contact/step.c). The driver calls it; solvers do not
 * know. */
typedef struct sinew_contact_hooks {
    void *context;
    /* Cuts the ways from s->q to the points of a trial [particle_count][4] where the guard would, without going there:
     * line searches look only where steps can end. */
    void (*limit)(void *context, sinew_real *trial);
    /* Holds the vertices of s->q within what is known to be free of crossings; true: s->q was changed. */
    bool (*guard)(void *context, sinew_solve *s);
    /* After `iteration` iterations: renews multipliers, or detects anew. `solved`: these contacts with these numbers
     * are solved, or get no further. Returns SINEW_RESUME_ bits of what it changed; s->q is kept. */
    uint32_t (*renew)(void *context, sinew_solve *s, int32_t iteration, bool solved);
    /* The iterations are over: s->q becomes where the step ends. */
    void (*finish)(void *context, sinew_solve *s);
} sinew_contact_hooks;

/* How well the conditions of a step with hard constraints hold where it ended: g is that of the energies that are not
 * hard, and forces of constraints are J^T lambda. */
typedef struct sinew_conditions {
    double violation;       /* largest |C| of hard rows (inequalities: of -C), in the unit of each C */
    double stationarity;    /* N: |grad g - J^T lambda| over the free particles */
    double complementarity; /* J: largest |lambda C| of inequalities, and of what pulls where it may only push */
    double force;           /* N: norm of what single rows pull with, which forces count against */
    bool met;               /* constraints hold to the tolerance */
    bool contradictory;     /* some that depend on each other cannot be met together; s->note names them */
} sinew_conditions;

/* What the driver asks of a solver that keeps energies hard (kkt_common.h). */
typedef struct sinew_condition_ops {
    void (*take_step)(sinew_solve *s);                             /* h, q_tilde, .. are those of a new step */
    void (*subtract_forces)(sinew_solve *s);                       /* gradient -= J^T lambda at s->q */
    void (*conditions)(sinew_solve *s, sinew_conditions *outcome); /* at s->q, whose gradient is known */
} sinew_condition_ops;

#define SINEW_NOTE_MAX 512

typedef struct sinew_solver_ops {
    sinew_solver_info info;
    /* Of a solver that takes hard energies as rows of one system; NULL: of others. */
    const sinew_condition_ops *conditions;
    /* Sets up s->memory for s->objective and s->def; called with s->memory NULL. */
    sinew_status (*prepare)(sinew_solve *s, sinew_error *error);
    /* Frees s->memory (may be NULL: a prepare that failed half-way). */
    void (*release)(sinew_solve *s);
    /* Changes (SINEW_CHANGED_...) that `refresh` takes over; all others make the driver release and prepare. Limits
     * (DEF) are the driver's own; a solver whose set-up looks at them names DEF to hear of them. */
    uint32_t refreshes;
    /* Takes over the changes in `changed`, a part of `refreshes`, at a cost in proportion to them. NULL: they need
     * nothing, as data are read when a step begins. With DATA all elements show as switched on; who is off shows with
     * SWITCHED, which comes after every prepare and every DATA where some are off. On failure the solver is released.
     */
    sinew_status (*refresh)(sinew_solve *s, uint32_t changed, sinew_error *error);
    /* Every iteration needs the gradient at q anyway: looking at the residual costs such a solver nothing. */
    bool needs_gradient;
    /* Iterations look at s->value_noise. */
    bool needs_noise;
    /* SINEW_CAN_... that an energy needs to be kept hard; 0: none is. */
    uint32_t hard;
    /* A step is one iteration, which is made whatever the residual; more are not made where they are allowed. */
    bool one_iteration;
    void (*begin)(sinew_solve *s);
    /* One iteration: moves s->q. Returns SINEW_STEP_ bits that end the step, or 0. */
    uint32_t (*iterate)(sinew_solve *s);
    /* Optional, of a solver that keeps copies of q or of elements' numbers through a step: takes over what happened
     * (SINEW_RESUME_...) and goes on from s->q. */
    void (*resume)(sinew_solve *s, uint32_t what);
    /* The guard does not move the iterates of such a solver, only what it ends with: its multipliers belong to where
     * they have brought the particles. */
    bool guarded_late;
    /* Optional, of a solver whose iterations move a copy of its own: brings s->q up to date. Called before q is read.
     */
    void (*settle)(sinew_solve *s);
    /* Optional: z = A^-1 r with the matrix A that the solver has at hand, an approximation of the Hessian: it
     * preconditions the estimate of the energy gap (objective_gap.h). z may be r. False: could not. */
    bool (*precondition)(sinew_solve *s, const sinew_real *r, sinew_real *z);
    /* Optional: SINEW_CAN_... that energies need with these parameters; NULL: info.needs with all. */
    uint32_t (*needs)(const sinew_solver_def *def);
    /* Optional: J, at q, with s->terms known there: the function that the iterations go down on, where parameters make
     * it another than g. NULL: g. */
    double (*own_objective)(sinew_solve *s);
    /* Optional: values[element_count][constraint_count] = lambda / h^2 of a batch after a step; false: not one of its
     * batches. */
    bool (*multipliers)(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);
    /* Optional: how many colours an iteration goes through, one after the other. colours (may be NULL)
     * [particle_count]: colours[outside[p]] is set for particles p that have one. */
    int32_t (*colours)(const sinew_solve *s, const int32_t *outside, int32_t *colours);
    /* Optional, both or neither, of explicit integrators: the factor by which a small motion of frequency omega (1/s)
     * grows in a step of h, velocities shrinking by exp(-damping h) before it; and the h (s) below which it does not.
     */
    double (*growth)(double omega, double h, double damping);
    double (*stable_step)(double omega, double damping);
    /* Optional, all three or none: what a prepared solver remembers from one step to the next (weights, the age of a
     * factor), so that a loaded state goes on with the same bits. state_size is called before each save and may say 0:
     * nothing that a fresh prepare would not give. state_save writes exactly that many bytes. state_load comes after
     * prepare; the bytes are untrusted: it returns false, and has changed nothing, when they are not its own. A state
     * without these bytes makes the world prepare the solver anew. */
    size_t (*state_size)(const sinew_solve *s);
    void (*state_save)(const sinew_solve *s, void *bytes);
    bool (*state_load)(sinew_solve *s, const void *bytes, size_t size);
} sinew_solver_ops;

struct sinew_solve {
    sinew_objective *objective;
    const sinew_solver_ops *ops;
    sinew_solver_def def;
    void *memory; /* the solver's own */

    /* What steps are judged by: the objective, or the solver's own of all energies that are not hard. Set by its
     * prepare, together with `conditioned`: there are hard rows, so that g alone does not tell. */
    sinew_objective *judged;
    bool conditioned;
    bool done;                 /* set by an iteration after which there is nothing more to do */
    char note[SINEW_NOTE_MAX]; /* about constraints: which are redundant, which contradict each other; "" */

    sinew_real *q;             /* [particle_count][4] the iterate */
    sinew_real *gradient;      /* [particle_count][4] of g at q, when gradient_known */
    sinew_real *velocity;      /* [particle_count][4] work space of the records */
    const sinew_real *q_start; /* [particle_count][4] q_n, pins where they were: for records */
    const sinew_real *v_end;   /* [particle_count][4] velocities, set by begin where the solver makes its own; NULL:
                                  (q - q_n) / h */
    sinew_terms terms;         /* of g at q, when gradient_known */
    bool gradient_known;       /* a solver that moves q without them clears this */
    double residual;           /* |gradient|, when gradient_known */
    bool start_known;          /* the next three are: with the first evaluation of the step */
    double scale;              /* |gradient| at the starting guess, at least noise */
    double start_residual;     /* |gradient| there */
    sinew_terms start_terms;   /* J: g there */
    double noise;              /* N: the residual's round-off */
    double value_noise;        /* J: the round-off of a sum of energies near the rest shape */
    const sinew_contact_hooks *contact; /* NULL: nothing touches */
    const sinew_real *first_guess;      /* [particle_count][4] where inertia begins in place of q_tilde; NULL: there */
    bool resuming;                      /* contacts alone have changed: refresh and begin leave q where it is */
    bool bound;                         /* the iterate is that of another problem: multipliers of contacts wait */
    bool lost;                          /* an epoch failed: the step ends, and the solver is to be prepared anew */
    uint32_t notes;                     /* SINEW_STEP_ bits that do not end a step */
    int32_t linear_iterations;
    int64_t factorisations; /* of constant matrices, in all: contacts cost none */
    int64_t step;           /* number of the step at hand, the first is 1 */

    /* Found by the first step that needs it after a change. */
    double stiffness;     /* noise per unit of position round-off */
    double *stiffness_of; /* [particle_count] traces of the diagonal blocks at rest, N/m, 0 at pins */
    double *elastic_of;   /* [particle_count] the same of the fixed elements alone, without inertia, at pins too */
    bool stiffness_known, elastic_known;
    struct sinew_gap *gap; /* what the estimate of the gap needs */
    sinew_iteration *rows; /* [row_capacity] */
    int32_t row_count, row_capacity;
};

const sinew_solver_ops *sinew_solver_get_ops(sinew_solver_kind kind);

/* Checks the def against its solver's descriptors. */
sinew_status sinew_solver_check(const sinew_solver_def *def, sinew_error *error);
/* Refuses an energy that the solver cannot take with these parameters, or cannot take as hard constraints, and says who
 * can. */
sinew_status sinew_solver_check_energy(const sinew_solver_def *solver, sinew_energy_kind energy, bool hard,
                                       sinew_error *error);
sinew_real sinew_solve_parameter(const sinew_solve *s, const char *name);

/* The driver. prepare allocates; run does not. */
sinew_status sinew_solve_prepare(sinew_solve *s, sinew_error *error);
/* Takes over a def and changes (SINEW_CHANGED_...); prepares anew where the solver cannot. Elements show as `refresh`
 * wants them. On failure the solver is released. */
sinew_status sinew_solve_refresh(sinew_solve *s, const sinew_solver_def *def, uint32_t changed, sinew_error *error);
void sinew_solve_release(sinew_solve *s);
/* Brings elastic_of and stiffness_of up to date. */
void sinew_solve_stiffness(sinew_solve *s);
uint32_t sinew_solve_run(sinew_solve *s, sinew_step_result *result);
/* Moves the iterate to the first guess: 0 inertia, 1 previous (SINEW_START_PARAMETER); to the other of the two where
 * g is infinite there and finite at the other. */
void sinew_solve_start(sinew_solve *s, int start);
/* Brings gradient, terms and residual up to date with q. */
void sinew_solve_evaluate(sinew_solve *s);

#endif
