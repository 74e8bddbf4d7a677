/* SPDX-License-Identifier: MIT
 *
 * energy.h: what an energy is: one table of operations over batches of elements.
 *
 * Data layout. A batch holds all elements of one energy, W at a time (a group), so that one lane instruction works on
 * W elements. Per group everything an operation reads lies together:
 *
 *     vertex  [group][vertex_count][W]   the elements' vertices, local to the chunk: where each point begins in x,
 *                                        SINEW_POINT times its number
 *     data    [group][data_count][W]     what `prepare` made of rest shape and parameters; data[0] is the weight
 *     tangent [group][tangent_count][W]  what `linearise` leaves for `product` and `hessian`
 *
 * data[0], the weight, scales value, gradient and Hessian linearly; elements that only fill up a group are copies of
 * a real one with weight 0, and must then give exactly zero (also where the value is infinite).
 *
 * Positions x, directions p and results g are [local vertex][4], the fourth number unused, so that a point is one
 * aligned load. A chunk's vertices are copied next to each other before a kernel runs and its results are summed into
 * the global vector in a fixed order after: kernels know nothing of threads, pins or the world.
 *
 * Adding an energy: one file energy_<name>.c, one value in sinew_energy_kind, one line in table.c, one page in
 * docs/energies/. tests/test_energies.c then tests it. Slots that it leaves NULL are capabilities that it does not
 * have: solvers that need them refuse it by name, and everything else works. docs/energies/index.md has the table.
 */
#ifndef SINEW_SRC_ENERGY_ENERGY_H
#define SINEW_SRC_ENERGY_ENERGY_H

#include "math/dense.h"
#include "math/panel_solve.h"
#include "math/gather_scatter.h"
#include "mesh/topology/stencil.h"
#include "sinew/sinew.h"

#define SINEW_POINT      4 /* reals of a point */
#define SINEW_DATA_MAX   32
#define SINEW_REASON_MAX 160
#define SINEW_VISIT_SUM  9 /* numbers of a node's sum: gradient 0 1 2, block 00 11 22 01 02 12 */

/* A run of groups that lie one after the other: which elements a kernel works on. */
typedef struct sinew_groups {
    int32_t count;
    int32_t threes, twos;   /* the first of them are fans of three, the next of two (batch_layout.h); multiples of 3 and of 2 */
    const int32_t *vertex;  /* [count][vertex_count][W] */
    const sinew_real *data; /* [count][data_count][W] */
} sinew_groups;

/* An operation takes one struct, that of its protocol: what it reads and where it leaves what it found. Pointers that
 * an operation does not name are NULL. */

/* Evaluating: psi and its derivatives on the groups of one chunk (value, gradient, linearise, product, hessian,
 * determinants). */
typedef struct sinew_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] m */
    const sinew_real *p; /* [local vertex][4] a direction (product) */
    sinew_real *g;       /* [local vertex][4] accumulated into (gradient, product) */
    sinew_real *tangent; /* [groups.count][tangent_count][W] written by linearise, read by product, hessian */
    sinew_real *blocks;  /* [groups.count][block_count][9][W] written by hessian; block_count = n(n+1)/2, pairs
                            (a, b), b <= a, in order (0,0) (1,0) (1,1) (2,0) ...; block row-major */
    bool project;        /* linearise: to a positive semi-definite matrix, no smaller than the exact one; else exact */
    sinew_real pull;     /* energies with whole_row: factor of value, gradient and tangent; others do not look at it */
} sinew_kernel;

/* Reduced coordinates z = D x on the groups of one chunk (reduce, stiffness, local_project, local_prox). */
typedef struct sinew_reduced_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] m */
    sinew_real *g;       /* [local vertex][4] accumulated into (local_project, local_prox) */
    sinew_real *rows;    /* [groups.count][row_count][vertex_count][W] written by reduce */
    sinew_real *weights; /* [groups.count][W] written by stiffness; read by local_prox: w^2 > 0 */
    sinew_real *u;       /* [groups.count][3 * row_count][W] local_prox: the scaled dual variable, updated */
    double stretch_low, stretch_high; /* stiffness: the interval that a material is fitted over */
} sinew_reduced_kernel;

/* Constraints (constrain). The groups are without fans, and their vertex numbers are particles. The elements of a group
 * share no vertex, but for fillers, which repeat its first. */
typedef struct sinew_constrain_kernel {
    sinew_groups groups;
    sinew_real *xw; /* [particle][4] positions, updated in place; the fourth number is the inverse mass (1/kg, 0 at
                       pins) */
    sinew_real *dx; /* NULL, or [particle][4]: changes are added here instead (Jacobi) */
    const sinew_real *share; /* NULL, or [groups.count][W]: factor of every change of an element (Jacobi) */
    sinew_real *lambda;      /* [groups.count][constraint_count][W] multipliers, updated */
    sinew_real compliance;   /* factor of the compliance: 1/h^2; 0: hard constraints (PBD) */
    sinew_real stiffness;    /* PBD's k in (0, 1]: factor of every change; 1 for XPBD */
    const sinew_real *x_old; /* [particle][4] q_n, for damping; NULL without */
    sinew_real damping;      /* beta of XPBD (26), s: alpha_tilde beta / h */
    int32_t form;            /* SINEW_FORM_... */
    bool apart;              /* groups share no vertex with each other, or changes go to dx: they may be read ahead */
} sinew_constrain_kernel;

/* Constraints as numbers (jacobian), on the groups of one chunk: psi = 1/2 C^T alpha^-1 C (+ const), as `constrain` has
 * it. An element of weight zero, and a constraint that the form does not use, has C = 0, no Jacobian and compliance 1:
 * nothing to solve for, and nothing to divide by. */
typedef struct sinew_jacobian_kernel {
    sinew_groups groups;
    const sinew_real *x;      /* [local vertex][4] m */
    int32_t form;             /* SINEW_FORM_... */
    bool hard;                /* as PBD takes them: C is zero at rest, and all compliances are */
    sinew_real *C;            /* [groups.count][constraint_count][W] */
    sinew_real *jacobian;     /* [groups.count][constraint_count][vertex_count][3][W] dC/dx */
    sinew_real *compliance;   /* [groups.count][constraint_count][constraint_count][W] alpha, a symmetric matrix */
    sinew_real *one_sided;    /* NULL, or [groups.count][constraint_count][W] zeros: an energy that is free between
                                 limits (hard) writes 1 or -1, and C >= 0 is then the distance to the nearer limit, also
                                 where it is not reached; -1: of the other sign than without */
    const sinew_real *lambda; /* [groups.count][constraint_count][W] factors of the second derivatives (curvature) */
    sinew_real *blocks; /* [groups.count][block_count][9][W] written by curvature, laid out as `hessian` writes them */
} sinew_jacobian_kernel;

/* Visits (vertex, vertex_change). A group is W nodes that share no element, a visit one node and one of its elements.
 * The visits of a group follow each other; lanes without one repeat another with weight 0. */
typedef struct sinew_vertex_kernel {
    int32_t group_count;
    const int32_t *first_visit; /* [group_count + 1] */
    const int32_t *node;        /* [group_count][W] SINEW_POINT times the particle */
    const int32_t *others;      /* [visit][other_count][W] from visit 0: the element's other particles, likewise */
    const sinew_real *data;     /* [visit][visit_data_count][W] from visit 0 */
    const sinew_real *x;        /* [particle][4] m */
    bool exact;                 /* block: second derivatives, made definite; else the cheap bound */
    sinew_real *sum;            /* [group_count][SINEW_VISIT_SUM][W] vertex adds gradient and block */
    const sinew_real *step;     /* [group_count][3][W] vertex_change: how far each node would go, m */
    sinew_real *change;         /* [group_count][2][W] vertex_change adds: the change of psi, J; its round-off */
} sinew_vertex_kernel;

/* Blocks of one node with which the quadratic at any x is nowhere below the energy as that node moves: then its minimum
 * is no higher than x, and nothing has to be checked. */
enum {
    SINEW_BOUND_CHEAP = 1 << 0,
    SINEW_BOUND_EXACT = 1 << 1
};

/* Rigid motions of all its vertices that change an energy. */
enum {
    SINEW_COSTS_TRANSLATION = 1 << 0,
    SINEW_COSTS_ROTATION = 1 << 1
};

/* How an energy is turned into constraints. */
enum {
    SINEW_FORM_ROOT = 0,       /* C = sqrt(2 psi alpha): one constraint an element */
    SINEW_FORM_SPLIT,          /* neo-Hookean: deviatoric and hydrostatic apart, thesis (4.34), (4.35); else as root */
    SINEW_FORM_INCOMPRESSIBLE, /* split, with det F = 1 as a hard constraint */
    SINEW_FORM_ENERGY,         /* C = psi itself, thesis 4.1.4 (PBD only) */
    SINEW_FORM_COMBINED, /* neo-Hookean: root of psi and a constant, a sum of squares, thesis (4.32); else as root */
    SINEW_FORM_COUNT
};

/* One element as `prepare` sees it: scalar code, run once. */
typedef struct sinew_element {
    int32_t vertex_count;         /* its own: the places behind them repeat the first (padded stencils) */
    const sinew_real *rest;       /* [vertex_count of the energy][3] m rest positions */
    const sinew_real *parameters; /* [parameter_count] as the info describes them, in range */
    const sinew_real *weights;    /* PAIR: [8] signed: first point's weights, then minus the second point's */
    const sinew_real *normal;     /* PAIR: unit vector */
    const sinew_real *target;     /* VERTEX: [3] m */
    const sinew_real *fraction;   /* TET: NULL, or how much of its rest volume is filled, in (0, 1] */
    const sinew_real *examples;   /* TET: NULL, or [SINEW_EXAMPLE_MAX][6] stretches of examples less 1, symmetric: 00 11
                                     22 01 02 12; zero: there is no such example */
    char *reason;                 /* NULL, or [SINEW_REASON_MAX] room for a refusal with numbers, to be returned */
    double *size;                 /* NULL, or where energies with `keeps_size` leave a number of the rest shape ... */
    bool rest_known; /* ... and find it again: data hold what an earlier `prepare` made of the rest shape, which is not
                        given; only the parameters are new */
} sinew_element;

/* All elements of an energy together, for those that are more than the sum of their elements (the gas in a surface). */
typedef struct sinew_whole {
    int32_t count;
    const int32_t *particles;     /* [count][vertex_count] as the caller numbered them */
    const sinew_real *q, *rest;   /* [particle][4] m */
    const sinew_real *parameters; /* of the energy, in range */
    uint32_t by_element;          /* bit p: parameter p differs from element to element */
    double time;                  /* s, at the end of the step */
} sinew_whole;

enum {
    SINEW_SHARED_MAX = 8
};

typedef struct sinew_energy_ops {
    sinew_energy_info info;
    int32_t data_count;
    int32_t tangent_count;
    int32_t target_slot; /* data[target_slot .. +2] is the target (VERTEX), or -1 */
    uint32_t rigid_cost; /* SINEW_COSTS_...; 0: psi is the same after every rigid motion */
    bool barrier;        /* psi is +inf at some finite x */
    bool projects_terms; /* a projected tangent is a sum of projected terms of psi; else the semi-definite matrix
                            nearest to the exact one, with its bits where that is definite */
    bool sheet;          /* elements are triangles, and z = D x (see below) their deformation gradient, 3x2 */
    bool contact;        /* one-sided and made anew as often as every iteration (contact.c): in no matrix that
                            is kept; solvers with such matrices iterate (solve/projective/contact_blocks.h) */
    bool load;           /* psi is the potential of a load on all elements together: not zero at rest, without a lower
                            bound, and the same after a rigid motion as a sum only */
    bool whole_row;      /* all elements of one record are one constraint, C = sum of their C, with one multiplier and
                            the compliance alpha = 1 / data[0] that all have: psi = C^2 / (2 alpha) is no sum over
                            elements. `jacobian` gives each element's share of C and of its gradient; systems make one
                            row of the sum. value, gradient and linearise are those of pull C / alpha: with pull = C
                            they give psi's gradient, and its Hessian but for grad C grad C^T / alpha
                            (objective/global_constraints.h).      `constrain` is NULL: sweeps project the row at once
                            (solve/constraint_sweep/global_constraint.c)
                          */
    bool keeps_size;     /* new parameters alone are prepared with the size of the rest shape in place of the shape */

    /* Required. */

    /* Fills data[data_count] of one element. NULL, or a reason to refuse it ("zero volume") to which the caller adds
     * the element's number. */
    const char *(*prepare)(const sinew_element *element, sinew_real *data);
    /* sum of psi (J) over the groups; +inf where it is not defined */
    double (*value)(const sinew_kernel *kernel);
    /* the same, and g += grad psi */
    double (*gradient)(const sinew_kernel *kernel);
    /* tangent = second derivatives at x, exact or projected */
    void (*linearise)(const sinew_kernel *kernel);
    /* g += H p with the tangent */
    void (*product)(const sinew_kernel *kernel);
    /* blocks = H with the tangent */
    void (*hessian)(const sinew_kernel *kernel);

    /* Optional from here on: NULL, and counts zero. */

    /* Looks at all elements together before they are taken; SINEW_OK, or why they are refused. */
    sinew_status (*check_whole)(const sinew_whole *whole, const sinew_allocator *allocator, sinew_error *error);
    /* shared [shared_count] = the numbers data[0] .. of every element in the step that begins at q. */
    int32_t shared_count;
    void (*share)(const sinew_whole *whole, sinew_real *shared);
    /* The largest t <= most such that psi is defined on [0, t) along x + t p; `most` where nothing ends before.
     * Elements whose psi is not defined at x, and those of weight zero, are left out. */
    double (*step_limit)(const sinew_kernel *kernel, double most);
    /* TET only, of this kernel alone: smallest and largest det F and the number of elements with det F <= 0 among
     * weights > 0; +inf, -inf and 0 when there are none. Callers merge the results of their kernels. */
    void (*determinants)(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted);

    /* SINEW_CAN_REDUCE (row_count, reduce, stiffness; needed by local_project and local_prox): reduced coordinates, for
     * projective methods and their relatives: z = D x has row_count rows, row r being the 3-vector sum_a d[r][a] x_a. A
     * tet's rows are the columns of F Q, Q a rotation of its rest shape (tet.h), an edge's the one difference of its
     * ends. */
    int32_t row_count;                                  /* 0: none */
    void (*reduce)(const sinew_reduced_kernel *kernel); /* rows = d */
    /* weights = k such that psi = k/2 |z - proj z|^2 where the energy can project, else the k whose quadratic fits it
     * best over the stretches low .. high, thesis (4.64). Rest volume included: N m per unit of z squared. A projecting
     * energy may also only be bounded: psi(y) <= psi(z) + psi'(z) (y - z) + k/2 |y - z|^2, proj z = z - psi'(z) / k. */
    void (*stiffness)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROJECT: g += k D^T proj(D x) */
    void (*local_project)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROX: with v = D x + u: z = argmin psi(z) + w^2/2 |z - v|^2, u = v - z, g += w^2 D^T (z - u - D x).
     * Returns nothing to the caller but u and g; psi is the element's whole energy, rest volume included. */
    void (*local_prox)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_CONSTRAINT: for each element in turn, C with psi = C^2 / (2 alpha) (+ const) and, thesis (4.27),
     * (4.28), dlambda = (-C - alpha~ lambda) / (sum w |grad C|^2 + alpha~),  x += stiffness w grad C dlambda,  lambda
     * += dlambda */
    int32_t constraint_count; /* multipliers of one element, the most over all forms; 0: none */
    void (*constrain)(const sinew_constrain_kernel *kernel);
    /* SINEW_CAN_JACOBIAN: C, its Jacobian and the compliance, for whoever puts a system of constraints together.
     * `constrain` does what (4.27) and (4.28) make of these numbers. */
    void (*jacobian)(const sinew_jacobian_kernel *kernel);
    /* Second derivatives of the constraints, blocks = sum_i lambda_i d2C_i/dx2, exact: the geometric stiffness of
     * systems of constraints. NULL: they take differences of `jacobian`. */
    void (*curvature)(const sinew_jacobian_kernel *kernel);
    uint32_t inequalities; /* bit i: constraint i need only be at least zero, and costs nothing where it is */
    bool rooted; /* C is the root of psi: never negative, and without a gradient where it is zero. Sweeps keep it hard
                    all the same; a system of constraints has no multipliers there, and refuses it */

    /* SINEW_CAN_VERTEX: what an element means to one of its vertices. */
    int32_t other_count;      /* vertices of an element but one */
    int32_t visit_data_count; /* numbers of a visit; the first is the weight, data[0], which the others do not depend
                                 on: zero makes the visit nothing */
    /* Scalar code, run once a visit: out and others of the vertex number `node` of an element. */
    void (*visit)(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others);
    /* sum += gradient of psi by the node, and its 3x3 block of second derivatives, cheap or exact; semi-definite */
    void (*vertex)(const sinew_vertex_kernel *kernel);
    /* change += psi with the node moved by step, less psi */
    void (*vertex_change)(const sinew_vertex_kernel *kernel);
    uint32_t vertex_bounds; /* SINEW_BOUND_... */
} sinew_energy_ops;

/* W nodes at a time, what a sweep over nodes does with their sums (vertex_step.c). Arrays [group_count][..][W].
 */
typedef struct sinew_visit_move {
    int32_t group_count;
    const int32_t *node;
    const sinew_real *mass; /* kg; 0: only fills up a group */
    const sinew_real *sum;
    sinew_real *step, *change;
    sinew_real *x;            /* [particle][4] m */
    const sinew_real *target; /* [particle][4] m: q_tilde; quasistatic: N, the external force */
    sinew_real inertia;       /* 1/h^2; 0: quasistatic */
    sinew_real relaxation;    /* factor of the step */
} sinew_visit_move;

typedef struct sinew_visit_kernels {
    /* step = -relaxation A^-1 g with g and A of the whole objective */
    void (*step)(const sinew_visit_move *move);
    /* adds the inertia's change, halves the steps after which the objective would be higher (`last`: makes them zero);
     * returns whether there were any */
    bool (*shorten)(const sinew_visit_move *move, bool last);
    /* x += step */
    void (*move)(const sinew_visit_move *move);
} sinew_visit_kernels;

/* The lane variant chosen for this process (choose_variant.c). */
typedef struct sinew_lane_variant {
    const char *name;
    int32_t width;
    const sinew_energy_ops *const *energies; /* [SINEW_ENERGY_COUNT] */
    const sinew_energy_ops *contact;         /* beside them: its elements come from detection alone */
    const sinew_panel_kernels *panels;       /* triangular solves */
    const sinew_dense_kernels *dense;        /* factorisations */
    const sinew_slot_kernels *slots;         /* between particles and chunks */
    const sinew_visit_kernels *visits;       /* steps of nodes */
    bool (*usable)(void);                    /* does this processor have it */
} sinew_lane_variant;

const sinew_lane_variant *sinew_lanes(void);
/* All variants of this build, best first; for tests and benchmarks. */
const sinew_lane_variant *const *sinew_lane_variants(int32_t *count);

const sinew_energy_ops *sinew_energy_get_ops(sinew_energy_kind kind); /* of the chosen variant */

#endif
