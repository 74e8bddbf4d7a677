/* SPDX-License-Identifier: MIT
 *
 * solver.h: a solver is one table of operations, run by one driver (driver/driver.c).
 *
 * Before a step the world sets the objective (q_tilde, forces, targets) and the starting guess in q, with pins at their
 * targets. The driver calls begin, then iterate until the step stops; q is the result. prepare runs before the first
 * step and after changes that `refresh` cannot apply. In prepare q is the rest shape and all elements are switched on.
 * prepare must not depend on the state: a world that loads a state continues with the same bits. A refreshed solver
 * equals a freshly prepared one; solvers that factorise may differ by round-off.
 *
 * Adding a solver: one file <family>/<name>.c, one value in sinew_solver_kind, one line in driver/solver_table.c, one
 * page in docs/reference/solvers/ and its line in index.md there, which lists the properties that tests check. prepare,
 * release, begin and iterate are required; all other operations are optional.
 */
#ifndef SINEW_SRC_SOLVE_SOLVER_H
#define SINEW_SRC_SOLVE_SOLVER_H

#include "objective/objective.h"
#include "sinew/sinew.h"
#include "solve/time_budget.h"
#include "solve/work.h"

/* Default tolerance of a step: residual relative to the residual at its start. */
#define SINEW_DEFAULT_TOLERANCE (sizeof(sinew_real) == 4 ? 1e-4 : 1e-8)

typedef struct sinew_solve sinew_solve;

/* Bits for the changes of a world since its solver was last prepared or refreshed. */
enum {
    SINEW_CHANGED_DEF = 1 << 0,       /* iterations, tolerance, time budget, measurement or recording changed */
    SINEW_CHANGED_SOLVER = 1 << 1,    /* kind or parameters of the solver changed: prepare always runs again */
    SINEW_CHANGED_DATA = 1 << 2,      /* materials or rest shapes of fixed elements changed */
    SINEW_CHANGED_SWITCHED = 1 << 3,  /* fixed elements were switched on or off */
    SINEW_CHANGED_TIME_STEP = 1 << 4, /* the length h of the time step changed */
    SINEW_CHANGED_PINS = 1 << 5,      /* the set of pinned particles changed */
    SINEW_CHANGED_TRANSIENT = 1 << 6, /* elements or data of transient energies changed */
    SINEW_CHANGED_ELEMENTS = 1 << 7,  /* particles or fixed elements changed: prepare always runs again */
    SINEW_CHANGED_ALL = (1 << 8) - 1,
    SINEW_CHANGED_IN_STEP =
        1 << 8, /* with TRANSIENT: contacts change within a step; q and duals of fixed elements are kept */
    /* a step was discarded: the solver is always prepared again, then its saved state is loaded */
    SINEW_CHANGED_DISCARDED = 1 << 9
};

/* Bits of the changes that an update of contacts made between two iterations of a step. */
enum {
    SINEW_UPDATE_POSITIONS = 1 << 0, /* the step filter moved the iterate s->q */
    SINEW_UPDATE_NUMBERS = 1 << 1,   /* contact data changed: multipliers, lagged normal forces */
    /* the set of contacts changed: the driver updates the objective's transient elements */
    SINEW_UPDATE_ELEMENTS = 1 << 2,
    SINEW_UPDATE_ITERATE = 1 << 4, /* another iteration is needed even if the residual is below the tolerance */
    SINEW_UPDATE_FAILED = 1 << 3   /* collision detection failed: the step is abandoned */
};

/* Operations of contact between iterations (src/contact/step.c). The driver calls them, except `limit`, which line
 * searches and other trial steps of solvers call. */
typedef struct sinew_contact_hooks {
    void *context;
    /* Truncates the displacements from the last filtered positions to the points of a trial [particle_count][4] like
     * the step filter, without a change of s->q: line searches evaluate only points that a step can reach. */
    void (*limit)(void *context, sinew_real *trial);
    /* Step filter: truncates displacements of s->q that could cause an intersection. Returns true if s->q changed. */
    bool (*filter)(void *context, sinew_solve *s);
    /* Contact update after `iteration` iterations: updates multipliers, or runs a detection pass. `solved`: the step
     * has converged or stalled with the current contacts. Returns SINEW_UPDATE_ bits. */
    uint32_t (*update)(void *context, sinew_solve *s, int32_t iteration, bool solved);
    /* Called after the last iteration. For solvers with `filtered_late` it filters s->q with all vertices, and lets
     * truncated vertices continue towards their requested positions; for others s->q is unchanged. */
    void (*finish)(void *context, sinew_solve *s);
    /* For the estimate of the position error after the last iteration (driver/objective_gap.h). settle_begin saves the
     * data of contacts, or returns the reason why the position error is unknown; *multipliers: contacts have
     * multipliers that settle_update sets to the normal forces at q, as `update` does; *adopted: settle_begin has
     * replaced these multipliers by the solver's own (XPBD). settle_end restores the data, bit by bit; it is called
     * only if *multipliers is true. */
    const char *(*settle_begin)(void *context, bool *multipliers, bool *adopted);
    void (*settle_update)(void *context, const sinew_real *q);
    void (*settle_end)(void *context);
    /* The transient batches of the world, contacts last; valid after an update that returns SINEW_UPDATE_ELEMENTS. */
    sinew_batch *const *batches;
    int32_t batch_count;
    bool truncated;     /* the last filtering truncated a vertex: a violated constraint is then no contradiction */
    double seconds;     /* time in this step spent in sinew_solve_take_contacts(), in s */
    sinew_error *error; /* receives the error message of a failed contact update */
} sinew_contact_hooks;

/* The targets of energies (motors, position energies) as a function of time. The world sets it before every step; the
 * targets of a step are those of its end. A solver that needs the targets at another time moves them, and then moves
 * them back. */
typedef struct sinew_target_hook {
    void *context;
    void (*move)(void *context, double time); /* moves the targets to those at `time`; NULL: they do not move */
    double time;                              /* time t_n at the start of the step, in s */
} sinew_target_hook;

/* KKT residuals at the end of a step with hard constraints. g is the objective of the energies that are not hard;
 * constraint forces are J^T lambda. */
typedef struct sinew_kkt_residuals {
    double violation; /* largest |C| of hard constraints (inequalities: of -C), in the unit of each C */
    /* stationarity error |grad g - J^T lambda| over the free particles, in N; J: Jacobian of the hard constraints */
    double stationarity;
    double complementarity; /* largest |lambda C| of inequalities, wrong signs of lambda included, in J */
    double force;           /* norm of the forces of single constraints, the scale of the force balance, in N */
    bool met;               /* true: all hard constraints hold to the tolerance */
    bool contradictory;     /* true: dependent constraints contradict each other; s->constraint_message names them */
} sinew_kkt_residuals;

/* Operations of a solver with hard constraints that the driver calls (kkt/kkt_common.h). */
typedef struct sinew_kkt_residual_table {
    void (*take_step)(sinew_solve *s); /* copies h, q_tilde and the other inputs of a new step */
    /* subtracts constraint forces: s->gradient -= J^T lambda at s->q, J the Jacobian of the hard constraints */
    void (*subtract_forces)(sinew_solve *s);
    void (*measure)(sinew_solve *s,
                    sinew_kkt_residuals *outcome); /* computes the KKT residuals at s->q, whose gradient is known */
} sinew_kkt_residual_table;

#define SINEW_MESSAGE_MAX 512

typedef struct sinew_solver_ops {
    sinew_solver_info info;
    /* Set by solvers that treat hard energies as constraints of one system; NULL for others. */
    const sinew_kkt_residual_table *kkt;
    /* Sets up s->memory for s->objective and s->def; called with s->memory NULL. */
    sinew_status (*prepare)(sinew_solve *s, sinew_error *error);
    /* Frees s->memory, which may be NULL or incomplete after a failed prepare. */
    void (*release)(sinew_solve *s);
    /* Changes (SINEW_CHANGED_...) that `refresh` applies; after all others the driver releases and prepares the
     * solver. A solver supports contact if it lists TRANSIENT or IN_STEP. With IN_STEP alone, `refresh` applies
     * TRANSIENT changes only within a step, where only contacts change. The driver handles changes of limits (DEF)
     * itself; a solver whose set-up reads limits lists DEF. */
    uint32_t refreshes;
    /* Applies the changes in `changed`, a subset of `refreshes`, at a cost in proportion to them. NULL: data are read
     * when a step begins. With DATA all elements are switched on; a call with SWITCHED follows every prepare and every
     * DATA if some elements are off. On failure the solver is released. */
    sinew_status (*refresh)(sinew_solve *s, uint32_t changed, sinew_error *error);
    /* True if every iteration evaluates the gradient at q, so that the residual costs nothing extra. */
    bool needs_gradient;
    /* True if iterations of the solver read s->value_noise. */
    bool needs_noise;
    /* True if the solver accepts energies with parameters that make psi a function of a sum over all elements
     * (`couples` in energy/energy.h): the solver then reads only the value, gradient, Hessian products and Newton
     * systems of g. */
    bool coupled;
    /* SINEW_CAN_ bits that an energy needs so that the solver can keep it hard; 0: no energy can be hard. */
    uint32_t hard;
    /* True if a step is at most one iteration, independent of the residual. */
    bool one_iteration;
    void (*begin)(sinew_solve *s);
    /* One iteration: moves s->q. Returns SINEW_STEP_ bits that end the step, or 0. */
    uint32_t (*iterate)(sinew_solve *s);
    /* Optional, for solvers that copy q or element data during a step. Refreshes the copies after a contact update
     * (SINEW_UPDATE_ bits); the next iteration starts from s->q. With SINEW_UPDATE_ELEMENTS the driver calls `refresh`
     * first, with SINEW_CHANGED_TRANSIENT | SINEW_CHANGED_IN_STEP. */
    void (*contacts_changed)(sinew_solve *s, uint32_t what);
    /* True: the step filter truncates only the end of the step, not the iterates, because the solver's multipliers
     * belong to the positions of its iterates. */
    bool filtered_late;
    /* True: rigid bodies are affine bodies of an elastic energy that is far stiffer than inertia
     * (world/bodies/rigid.c). False: their distances are hard constraints, which the solver takes or refuses as any
     * others. */
    bool affine_bodies;
    /* Optional: the residual in N at s->q that must be small before multipliers are updated (contact/step.c), for
     * solvers whose iterations do not balance the forces of g. NULL: the residual of the step. */
    double (*contact_residual)(sinew_solve *s);
    /* True: few iterations correct a contact multiplier that is too large, so that multipliers may take over the force
     * with which the step filter holds truncated vertices (contact/step.c). */
    bool corrects_forces;
    /* Optional, for solvers whose iterations move a copy of the positions: writes the copy to s->q. Called before q is
     * read. */
    void (*flush)(sinew_solve *s);
    /* Optional: z = A^-1 r with the solver's current matrix A, an approximation of the Hessian, for use as
     * preconditioner of the optimality gap's estimate (driver/objective_gap.h). z may be r. Returns false on
     * failure. */
    bool (*precondition)(sinew_solve *s, const sinew_real *r, sinew_real *z);
    /* Work of one solver iteration, measured on blocks of tets; all zero counts as one gradient. step_work, optional:
     * the mean over the last step's iterations, if it depends on parameters. */
    sinew_iteration_work work;
    sinew_iteration_work (*step_work)(const sinew_solve *s);
    /* Optional: SINEW_CAN_ bits that energies need with these parameters; NULL: info.needs for all parameters. */
    uint32_t (*needs)(const sinew_solver_def *def);
    /* Optional: returns NULL if contacts are supported with the parameters of this def, else a text for the user that
     * names the parameters that support them. */
    const char *(*contact_refused_by)(const sinew_solver_def *def);
    /* Optional: the function that iterations decrease, in J, at q with s->terms known, if parameters make it different
     * from g. NULL: g. */
    double (*own_objective)(sinew_solve *s);
    /* Optional: values[element_count][constraint_count] = multipliers of a batch after a step, in newtons if C is a
     * length (sweeps: lambda / h^2). Returns false if the batch is not part of the solver. */
    bool (*multipliers)(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);
    /* Optional: returns the number of colours that an iteration processes in sequence. outside [particle_count]: the
     * public number of each particle. colours may be NULL; else colours[outside[p]] is set for particles p that have a
     * colour. */
    int32_t (*colours)(const sinew_solve *s, const int32_t *outside, int32_t *colours);
    /* Optional, both or neither, for explicit integrators. growth: the factor by which a small motion of frequency
     * omega (1/s) grows in a step of h, with velocities first multiplied by exp(-damping h). stable_step: the h (s)
     * below which the motion does not grow. */
    double (*growth)(double omega, double h, double damping);
    double (*stable_step)(double omega, double damping);
    /* Optional, all three or none: state of a prepared solver between steps (weights, the age of a factor), so that a
     * loaded state continues with the same bits. state_size is called before each save; 0 means that a fresh prepare
     * gives the same state. state_save writes exactly state_size bytes. state_load follows prepare; it validates the
     * bytes and returns false, with nothing changed, if they do not match. If a saved world has no such bytes, the
     * world prepares the solver again. */
    size_t (*state_size)(const sinew_solve *s);
    void (*state_save)(const sinew_solve *s, void *bytes);
    bool (*state_load)(sinew_solve *s, const void *bytes, size_t size);
} sinew_solver_ops;

/* Callback that relates the position error to body sizes: returns the largest error of a body over its size. error: q*
 * - q [particle_count][4], q* the minimiser; `largest`: the reported largest length, which may exceed that of `error`
 * if it is a bound. */
typedef struct sinew_error_hook {
    void *context; /* first argument that the driver passes to `relative` */
    double (*relative)(void *context, const sinew_real *error, double largest);
} sinew_error_hook;

/* Measurements of earlier steps of the world; part of its saved state. */
typedef struct sinew_measure_history {
    double error_per_force; /* relative position error over residual, in 1/N, in the last step with both; 0: none */
    double residual;        /* residual of the step that set error_per_force, in N */
    double credit; /* work that gap estimates may still cost, in Newton iterations; negative after a costly one */
    double cost;   /* work of the last gap estimate, in Newton iterations */
    sinew_factor_size factor_size; /* size of the Hessian's Cholesky factor in the last gap estimate */
} sinew_measure_history;

struct sinew_solve {
    sinew_objective *objective;
    const sinew_solver_ops *ops;
    sinew_solver_def def;
    void *memory; /* private data of the solver, allocated by its prepare */

    /* Objective that measures the error of steps: the world's, or the solver's own objective of all energies that are
     * not hard. prepare sets it together with `has_hard`: hard constraints exist, so g alone does not measure the
     * error. */
    sinew_objective *error_objective;
    bool has_hard;
    bool must_iterate; /* true: a contact update requires an iteration before the step may end */
    bool converged;    /* set by an iteration that has converged: the step ends */
    /* text that names redundant and contradictory constraints; "" if there are none */
    char constraint_message[SINEW_MESSAGE_MAX];

    sinew_real *q;             /* [particle_count][4] positions of the current iterate */
    sinew_real *gradient;      /* [particle_count][4] gradient of g at q, valid if gradient_known */
    sinew_real *velocity;      /* [particle_count][4] work space, also for iteration records */
    const sinew_real *q_start; /* [particle_count][4] positions q_n at the start of the step, pins included */
    const sinew_real
        *v_end;          /* [particle_count][4] end velocities, if the solver sets them in begin; NULL: (q - q_n) / h */
    sinew_terms terms;   /* terms of g at q, valid if gradient_known */
    bool gradient_known; /* true: gradient, terms and residual belong to q; a solver that moves q clears it */
    double residual;     /* norm of `gradient` in N, valid if gradient_known */
    bool start_known;    /* true: scale, start_residual and start_terms are set, by the first evaluation of the step */
    double scale;        /* |gradient| at the starting guess, but not below `noise`; in N */
    double start_residual;        /* |gradient| at the starting guess, in N */
    sinew_terms start_terms;      /* terms of g at the starting guess, in J */
    double noise;                 /* round-off of the residual |gradient|, in N */
    double value_noise;           /* round-off of the objective g near the rest shape, in J */
    sinew_contact_hooks *contact; /* contact operations that the driver calls; NULL: the world has no contact */
    sinew_target_hook targets;
    sinew_error_hook error_hook;
    sinew_measure_history history;
    sinew_time_budget budget;      /* time budget of the current step; the world begins and ends it */
    const sinew_real *first_guess; /* [particle_count][4] initial guess that replaces q_tilde; NULL: q_tilde is used */
    bool in_subproblem;            /* q is the iterate of an auxiliary problem (mpbng's bound layers): contact
                                      multipliers are not updated */
    uint32_t warnings;             /* SINEW_STEP_ bits of this step that do not end it */
    int32_t iterations;            /* number of solver iterations in the last step */
    int32_t linear_iterations;
    /* number of factorisations of constant matrices, over all steps; contacts cause none, except in quasistatic worlds
     * with a component that nothing else constrains (projective/global_system.h) */
    int64_t factorisations;
    int64_t step; /* index of the current step, counted from 1 */

    /* true: ops->precondition solves with the exact, positive definite Hessian at an earlier iterate of this step */
    bool exact_matrix;

    /* Stiffness members: computed lazily by the first step that needs them after a change. */
    double stiffness;     /* change of the residual per change of positions, in N/m: sets `noise` */
    double *stiffness_of; /* [particle_count] traces of the Hessian's diagonal 3x3 blocks at rest, N/m; 0 at pins */
    /* [particle_count] traces of the diagonal blocks of fixed elements at rest, N/m, without inertia */
    double *elastic_of;
    bool stiffness_known, elastic_known;
    struct sinew_gap *gap;    /* work space for estimating the optimality gap; NULL: no estimates */
    sinew_iteration *records; /* [record_capacity] records of the iterations of a step */
    int32_t record_count, record_capacity;
};

const sinew_solver_ops *sinew_solver_get_ops(sinew_solver_kind kind);

/* Checks the parameters and limits of a def against the solver's descriptors. */
sinew_status sinew_solver_check(const sinew_solver_def *def, sinew_error *error);
/* Fails if the energy's parameters couple all its elements and the solver does not accept that. */
sinew_status sinew_solver_check_coupled(const sinew_solver_def *solver, sinew_energy_kind energy,
                                        const sinew_real *parameters, sinew_error *error);
/* Fails for an energy that the solver cannot handle with these parameters, or not as hard constraints; the error names
 * solvers that can. */
sinew_status sinew_solver_check_energy(const sinew_solver_def *solver, sinew_energy_kind energy, bool hard,
                                       sinew_error *error);
sinew_real sinew_solve_parameter(const sinew_solve *s, const char *name);

/* Prepares the solver s->def.kind for s->objective (driver/driver.c). Allocates; on failure the solver is released. */
sinew_status sinew_solve_prepare(sinew_solve *s, sinew_error *error);
/* Applies a def and changes (SINEW_CHANGED_...); prepares the solver again if it cannot refresh. Elements are switched
 * as `refresh` requires. On failure the solver is released. */
sinew_status sinew_solve_refresh(sinew_solve *s, const sinew_solver_def *def, uint32_t changed, sinew_error *error);
/* Passes the contacts of s->contact to the objective's transient elements, then to the solver, which must be able to
 * refresh transient elements. On failure the solver must be prepared again. */
sinew_status sinew_solve_take_contacts(sinew_solve *s);
/* The position error q* - q [particle_count][4] of the last step (driver/objective_gap.h), in m; valid if the step's
 * position error is known. Needs s->gap. */
const sinew_real *sinew_solve_position_error(const sinew_solve *s);
void sinew_solve_release(sinew_solve *s);
/* Work of the last step's iterations, without measurements, in Newton iterations of this world (solve/work.h): the unit
 * of sinew_gap_estimate.work. */
double sinew_solve_work(const sinew_solve *s);
/* Computes elastic_of, stiffness_of and stiffness if a change has made them invalid. */
void sinew_solve_stiffness(sinew_solve *s);
/* Runs one step from s->q. Writes the result and returns its SINEW_STEP_ bits. Allocates only in worlds with contact,
 * and with linear solvers that allocate their factors (lu, qr of newton). */
uint32_t sinew_solve_run(sinew_solve *s, sinew_step_result *result);
/* Moves s->q, which is at q_n with pins at their targets, to the first guess of a dynamic step: 0 inertia
 * (s->first_guess, or q_tilde if NULL), 1 previous (q_n; inertia if s->first_guess is set). If g is infinite there and
 * finite at the other guess, s->q moves to the other guess. Quasistatic steps keep s->q. */
void sinew_solve_start(sinew_solve *s, int start);
/* Evaluates gradient, terms and residual at s->q unless they are known. The first evaluation of a step also sets scale,
 * start_residual and start_terms. */
void sinew_solve_evaluate(sinew_solve *s);

#endif
