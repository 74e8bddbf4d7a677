/* SPDX-License-Identifier: MIT
 *
 * sinew/extend.h: energies and solvers that a program adds; scenes and calls use them by name like built-in energies
 * and solvers.
 *
 * A program fills a struct with a name, descriptors of its parameters and plain functions of one element (an energy) or
 * of one step (a solver), and registers it before it creates its first world or reads its first scene:
 *
 *     sinew_error error;
 *     sinew_energy_extension yeoh = sinew_default_energy_extension();
 *     yeoh.name = "yeoh";
 *     ...
 *     sinew_energy_kind kind = sinew_register_energy(&yeoh, &error);
 *     if (kind == SINEW_ENERGY_COUNT)
 *         fprintf(stderr, "%s\n", error.text);
 *
 * From then on sinew_energy_by_name("yeoh"), scene files, sinew_get_energy_info() and the solvers of this process
 * accept the energy: newton and all other solvers that use derivatives, pbng (the library derives the one-vertex form
 * from the element), and, with the optional operations, pbd, xpbd, qn, pd and admm. docs/guides/extending.md has two
 * examples.
 *
 * Registration is one of the few process-wide settings and lasts until the process ends. Calls from several threads
 * are serialised. After the first sinew_world_create() registration fails, so that the tables never change while a
 * world exists. The library copies the struct; names, descriptors and the context are borrowed and must stay valid
 * until the process ends. The error of a failure names the energy or solver and the mistake; a failed registration
 * changes nothing.
 *
 * Functions of an extension are called by any thread of the library, several at a time: they may read their context
 * and must write only to their output arguments. They must return the same numbers for the same input, must not
 * allocate while a step runs, and must neither throw nor call longjmp. Numbers are double in both precisions of the
 * library: the single build converts positions and data.
 *
 * Does not: load code from files, check derivatives at registration (use sinew_check_energy_extension()), or
 * vectorise: a built-in energy is 5 to 200 times faster than a registered energy (docs/guides/extending.md).
 */
#ifndef SINEW_EXTEND_H
#define SINEW_EXTEND_H

#include <string.h>

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SINEW_EXTENSION_COOKIE     0x45585453u
#define SINEW_EXTENSION_VERTEX_MAX 16 /* maximum number of vertices of an element of a registered energy */
#define SINEW_EXTENSION_DATA_MAX   29 /* maximum number of reals stored per element of a registered energy */
/* Maximum number of reduced coordinates, and of constraints, per element of a registered energy. */
#define SINEW_EXTENSION_ROW_MAX     16
#define SINEW_EXTENSION_REASON_MAX  160 /* size in characters of the buffer for the reason why an element is invalid */
#define SINEW_REGISTERED_ENERGY_MAX 32
#define SINEW_REGISTERED_SOLVER_MAX 32

/* ---- Energies that a program registers --------------------------------------------------------- */

/* Input of `prepare` of a registered energy: one element. The order of its vertices may differ from the mesh's (a
 * tet may be mirrored, with a negative volume); every function gets the same order. */
typedef struct sinew_extension_element {
    int32_t vertex_count; /* number n of vertices of the element */
    const double *rest;   /* [n][3] rest positions of the element's vertices, in m */
    /* [parameter_count] values of the energy's parameters, in the order of the descriptors and within their ranges */
    const double *parameters;
    const double *weights; /* SINEW_STENCIL_PAIR: [8] signed weights of the vertices; else NULL */
    const double *normal;  /* SINEW_STENCIL_PAIR: [3] unit normal of the pair; else NULL */
    char *reason;          /* [SINEW_EXTENSION_REASON_MAX] buffer for the reason why the element is invalid */
} sinew_extension_element;

/* An energy: a sum over elements of psi (J), a function of the positions x [n][3] (m) of n vertices. `data` are the
 * numbers that `prepare` computes from the element's rest shape and parameters. Matrices are row-major. */
typedef struct sinew_energy_extension {
    uint32_t cookie, size; /* identifies the struct; set by sinew_default_energy_extension() */
    const char *name;      /* name of the energy in scene files: lower-case letters, digits and '_' */
    const char *summary;   /* one line of description with the formula of the energy */
    void *context;         /* pointer passed to every function of the energy; may be NULL */

    /* The elements of the energy: all cells of this stencil in a body, or the elements of the energy's def. Rings and
     * wheels, whose cells differ in size, are not supported. SINEW_STENCIL_COUNT: only the def lists elements, with
     * vertex_count vertices each. Default SINEW_STENCIL_TET. */
    sinew_stencil stencil;
    /* Number of vertices of an element. With SINEW_STENCIL_COUNT: 1 .. SINEW_EXTENSION_VERTEX_MAX; else 0 or the
     * stencil's number. */
    int32_t vertex_count;

    const sinew_parameter *parameters; /* [parameter_count] descriptors of the energy's parameters */
    int32_t parameter_count;           /* number of parameters of the energy, 0 .. SINEW_PARAMETER_MAX */
    int32_t data_count;                /* number of reals stored per element, 0 .. SINEW_EXTENSION_DATA_MAX */

    /* True: psi is not defined at every x (log J). `value` returns INFINITY there, and a step whose initial guess is
     * such an x starts at the current positions instead. */
    bool barrier;
    bool costs_translation; /* true: psi changes when all vertices are translated together */
    bool costs_rotation;    /* true: psi changes when all vertices are rotated together */

    /* The next four operations of an energy are required. */

    /* Computes data [data_count] of an element. Returns NULL, or the reason why the element is invalid: static text, or
     * `reason`. */
    const char *(*prepare)(void *context, const sinew_extension_element *element, double *data);
    /* Returns the energy psi of one element, in J. */
    double (*value)(void *context, const double *data, const double *x);
    /* Computes gradient [n][3] = d psi / dx of one element, in N; every entry is written. */
    void (*gradient)(void *context, const double *data, const double *x, double *gradient);
    /* Computes hessian [3n][3n] = d2 psi / dx2 of one element, in N/m, symmetric and exact; every entry is written.
     * The library projects it to positive semi-definite for solvers that need this. */
    void (*hessian)(void *context, const double *data, const double *x, double *hessian);

    /* Optional: SINEW_CAN_CONSTRAINT and SINEW_CAN_JACOBIAN, for pbd, xpbd, xpbd-qs and for hard energies; sap,
     * primal-dual, kkt and scd use it with constraints = all, and else take the energy as a force.
     * psi = sum_i C_i^2 / (2 alpha_i) (+ a constant): C [constraint_count], gradient [constraint_count][n][3] = dC/dx,
     * alpha [constraint_count] > 0. Every psi >= 0 has the form C = sqrt(2 psi), alpha = 1, dC/dx = (d psi / dx) / C
     * and 0 where C = 0; it is `rooted`. */
    /* Number of constraints of an element, 1 .. SINEW_EXTENSION_ROW_MAX; 0 without `constraint`. */
    int32_t constraint_count;
    void (*constraint)(void *context, const double *data, const double *x, double *C, double *gradient, double *alpha);
    /* True: C is a root, >= 0, and has no gradient at zero. Solvers with a KKT system reject it as a hard energy. */
    bool rooted;

    /* Optional, both or neither: SINEW_CAN_REDUCE, for qn. Reduced coordinates z = D x, z_r = sum_a D[r][a] x_a:
     * reduce writes D [reduced_count][n]; stiffness returns k (N m) > 0 such that k/2 |z - z'|^2 fits psi best over
     * the stretches low .. high, or, with `project`, psi = k/2 |z - project(z)|^2 exactly. */
    /* Number of reduced vectors of an element, 1 .. SINEW_EXTENSION_ROW_MAX; 0 without `reduce`. */
    int32_t reduced_count;
    void (*reduce)(void *context, const double *data, double *D);
    double (*stiffness)(void *context, const double *data, double low, double high);
    /* Optional, with `reduce` and `stiffness`: SINEW_CAN_PROJECT and SINEW_CAN_PROX, for pd and admm. nearest
     * [reduced_count][3] = the point without energy that is nearest to z [reduced_count][3]. */
    void (*project)(void *context, const double *data, const double *z, double *nearest);
} sinew_energy_extension;

static inline sinew_energy_extension sinew_default_energy_extension(void)
{
    sinew_energy_extension extension;
    memset(&extension, 0, sizeof extension);
    extension.cookie = SINEW_EXTENSION_COOKIE;
    extension.size = (uint32_t)sizeof extension;
    extension.stencil = SINEW_STENCIL_TET;
    return extension;
}

/* Registers the energy and returns its kind, above SINEW_ENERGY_COUNT. Returns SINEW_ENERGY_COUNT, with the reason in
 * error, if an operation is missing, a count is out of range, the name is taken, a world was created, or
 * SINEW_REGISTERED_ENERGY_MAX energies are registered. */
SINEW_API sinew_energy_kind sinew_register_energy(const sinew_energy_extension *extension, sinew_error *error);

/* Consistency errors of an energy's functions on one element, each the largest error relative to the largest entry:
 * below 1e-8 is right, above 1e-4 is a mistake. Finite differences are central, of fourth order. x must have forces:
 * at rest `gradient`, and `jacobian` of a rooted constraint, compare round-off with zero and are about 1. */
typedef struct sinew_extension_report {
    double gradient; /* error of `gradient` against differences of `value` */
    double hessian;  /* error of `hessian` against differences of `gradient`: large also if only `gradient` is wrong */
    double symmetry; /* largest asymmetry of the matrix `hessian` */
    /* Error of sum C^2 / (2 alpha), the energy of the constraints C, against `value`, both less their values at
     * rest; 0 without `constraint`. */
    double constraint;
    /* error of the gradient of `constraint` against differences of its values C; 0 without `constraint` */
    double jacobian;
    double translation; /* net force on the element relative to its forces; 0 with costs_translation */
    double rotation;    /* net moment about the element's first vertex, over force times size; 0 with costs_rotation */
    /* |gradient| at rest over |hessian| at rest times element size; 0 if the rest shape has no force. */
    double rest_gradient;
} sinew_extension_report;

/* Evaluates the extension, which need not be registered, on one element: rest and x [n][3] m, parameters
 * [parameter_count], NULL: their defaults. A pair element joins two single vertices. Does not allocate.
 * SINEW_ERROR_DATA: a parameter is out of its range, `prepare` rejects the element, or psi is not finite near x. */
SINEW_API sinew_status sinew_check_energy_extension(const sinew_energy_extension *extension, const double *parameters,
                                                    const double *rest, const double *x, sinew_extension_report *report,
                                                    sinew_error *error);

/* ---- Solvers that a program registers ---------------------------------------------------------- */

/* The objective of the step, g(q) of sinew.h, and the iterate. Valid during the call that passes it.
 *
 * Vectors over particles are [particle_count][4] reals whose fourth number is unused and zero. Particles have the
 * internal order of the world, which differs from the order of body vertices and of sinew_world_get_positions(). */
typedef struct sinew_solve sinew_problem;

typedef struct sinew_solver_extension {
    uint32_t cookie, size; /* identifies the struct; set by sinew_default_solver_extension() */
    const char *name;      /* name of the solver in scene files: lower-case letters, digits, '_' and '-' */
    const char *summary;   /* one line of description of the solver */
    void *context;         /* pointer passed to every function of the solver; may be NULL */

    const sinew_parameter *parameters; /* [parameter_count] descriptors of the solver's parameters */
    int32_t parameter_count;           /* number of parameters of the solver, 0 .. SINEW_PARAMETER_MAX */
    int32_t default_iterations;        /* default number of iterations per step, >= 1. Default 100 */
    uint32_t needs;   /* capabilities SINEW_CAN_... that every energy in the world must have; 0: none */
    bool quasistatic; /* true (default): the solver finds equilibria, where g has no inertia term */
    /* True: steps are sums of gradients and products, so that the solver supports pins that constrain only some
     * directions, which a world refuses otherwise. Default false. */
    bool directions;
    /* True: the solver calls sinew_problem_linearise() and sinew_problem_product(). Default false. */
    bool products;
    /* true: `create` reads elements, masses, pins or h. The solver is destroyed and created again when these change,
     * and does not support contact. false, the default: `create` reads particle_count and parameters only; `begin` may
     * read the other data. */
    bool set_up_by_elements;

    /* The next four operations of a solver are required. A solver keeps its data in *memory, which the other
     * functions receive. Results must not depend on data of earlier steps: a world that loads a state must continue
     * with the same bits. */

    /* Creates the solver's data with sinew_problem_allocate(). On failure `destroy` is called with the current
     * *memory, the step has SINEW_STEP_UNPREPARED, and sinew_world_error() is the text of error, which is not NULL. */
    sinew_status (*create)(void *context, sinew_problem *problem, void **memory, sinew_error *error);
    /* Called at the start of a step. The iterate is the result of the last step; sinew_problem_start() moves it to an
     * initial guess. */
    void (*begin)(void *context, sinew_problem *problem, void *memory);
    /* Performs one iteration: moves the iterate. Returns 0, or SINEW_STEP_... bits that end the step, e.g.
     * SINEW_STEP_STALLED. With contact both the iterate and g change between two calls: iterates, values and gradients
     * of earlier calls are invalid. */
    uint32_t (*iterate)(void *context, sinew_problem *problem, void *memory);
    /* Releases the solver's memory, which may be NULL. */
    void (*destroy)(void *context, sinew_problem *problem, void *memory);
} sinew_solver_extension;

static inline sinew_solver_extension sinew_default_solver_extension(void)
{
    sinew_solver_extension extension;
    memset(&extension, 0, sizeof extension);
    extension.cookie = SINEW_EXTENSION_COOKIE;
    extension.size = (uint32_t)sizeof extension;
    extension.default_iterations = 100;
    extension.quasistatic = true;
    return extension;
}

/* Registers the solver and returns its kind, above SINEW_SOLVER_COUNT. Returns SINEW_SOLVER_COUNT on failure, for the
 * same reasons as sinew_register_energy(). */
SINEW_API sinew_solver_kind sinew_register_solver(const sinew_solver_extension *extension, sinew_error *error);

SINEW_API int32_t sinew_problem_particle_count(const sinew_problem *problem);
/* Returns [particle_count] masses in kg. */
SINEW_API const sinew_real *sinew_problem_masses(const sinew_problem *problem);
/* Returns [particle_count] flags; 1: the particle is pinned and not an unknown. */
SINEW_API const uint8_t *sinew_problem_pinned(const sinew_problem *problem);
SINEW_API double sinew_problem_time_step(const sinew_problem *problem); /* time step h of the step to solve, in s */
SINEW_API bool sinew_problem_quasistatic(const sinew_problem *problem);
/* Returns the value of a solver parameter by its index in the descriptors. Ranges do not exclude fractions: round a
 * count. */
SINEW_API double sinew_problem_parameter(const sinew_problem *problem, int32_t parameter);
/* Allocates zeroed, aligned memory with the world's allocator; NULL on failure. May be called in `create` only. */
SINEW_API void *sinew_problem_allocate(sinew_problem *problem, size_t count, size_t size);
/* Releases memory of sinew_problem_allocate(); NULL has no effect. */
SINEW_API void sinew_problem_release(sinew_problem *problem, void *memory);

/* Returns the iterate, positions [particle_count][4] in m. A solver that writes to it calls sinew_problem_moved()
 * afterwards: without this call value, gradient and residual remain those of the old iterate. The solver must not write
 * coordinates of pinned particles: the library does not restore them. */
SINEW_API sinew_real *sinew_problem_positions(sinew_problem *problem);
SINEW_API void sinew_problem_moved(sinew_problem *problem);
/* Returns q_tilde [particle_count][4] in m, the inertial positions of a dynamic step. */
SINEW_API const sinew_real *sinew_problem_inertial(const sinew_problem *problem);
/* Moves the iterate to the initial guess, with pins at their targets: q_tilde if `inertial`, else the positions at the
 * start of the step; with contact, the positions near which contacts were detected. If g is infinite there and finite
 * at the other guess, the iterate moves to the other guess. In quasistatic steps the iterate stays. */
SINEW_API void sinew_problem_start(sinew_problem *problem, bool inertial);

/* Return the objective g at the iterate, J, and its gradient [particle_count][4], N, zero at pins; computed once per
 * iterate. g is +inf where an energy is undefined. */
SINEW_API double sinew_problem_evaluate(sinew_problem *problem);
SINEW_API const sinew_real *sinew_problem_gradient(sinew_problem *problem);
SINEW_API double sinew_problem_residual(sinew_problem *problem); /* norm of the gradient of g at the iterate, in N */
/* Returns the objective g (J) and computes its gradient (N) at any positions q; gradient [particle_count][4] may be
 * NULL. */
SINEW_API double sinew_problem_evaluate_at(sinew_problem *problem, const sinew_real *q, sinew_real *gradient);
/* Linearises g at q: second derivatives H, exact or with the Hessian of each element projected to positive
 * semi-definite; sinew_problem_product computes out = H p. p must be zero at pins, and out is zero there. For solvers
 * with `products`. */
SINEW_API void sinew_problem_linearise(sinew_problem *problem, const sinew_real *q, bool project);
SINEW_API void sinew_problem_product(sinew_problem *problem, const sinew_real *p, sinew_real *out);
/* Computes blocks [particle_count][9]: the 3x3 diagonal blocks of the Hessian H at q, N/m; the identity at pins. */
SINEW_API void sinew_problem_diagonal(sinew_problem *problem, const sinew_real *q, bool project, double *blocks);
/* Dot product a . b of vectors over particles, summed in a fixed order, so that the bits do not depend on the number of
 * threads. */
SINEW_API double sinew_problem_dot(const sinew_problem *problem, const sinew_real *a, const sinew_real *b);
/* Moves the iterate to q + alpha d, alpha in (0, 1], such that g decreases sufficiently (Armijo; d is a descent
 * direction, zero at pins), and evaluates it there: the array of sinew_problem_gradient() is overwritten. With contact
 * the new iterate may differ from q + alpha d. Returns alpha; 0: no decrease was found, the iterate is unchanged. */
SINEW_API double sinew_problem_line_search(sinew_problem *problem, const sinew_real *d);

/* ---- Kinds of registered energies and solvers -------------------------------------------------- */

/* One more than the largest kind of an energy, or of a solver, in this process. Smaller integers that are not kinds,
 * such as SINEW_ENERGY_COUNT and SINEW_SOLVER_COUNT, have no info. */
SINEW_API int32_t sinew_energy_kind_end(void);
SINEW_API int32_t sinew_solver_kind_end(void);

#ifdef __cplusplus
}
#endif
#endif
