/* SPDX-License-Identifier: MIT
 *
 * energy.h: an energy is one table of operations over batches of elements.
 *
 * Data layout. A batch holds all elements of one energy, W at a time (a group), so that one SIMD instruction works on W
 * elements. All data that an operation reads are contiguous per group:
 *
 *     vertex  [group][vertex_count][W]   the elements' vertices, local to the chunk: offset of each point in x,
 *                                        SINEW_POINT times its number
 *     data    [group][data_count][W]     result of `prepare` from rest shape and parameters; data[0] is the weight
 *     tangent [group][tangent_count][W]  result of `linearise`, input of `product` and `hessian`
 *
 * data[0], the weight, scales value, gradient and Hessian linearly. Fillers of a group are copies of a real element
 * with weight 0 and must give exactly zero, also where the value is infinite.
 *
 * Positions x, directions p and results g are [local vertex][4], the fourth number unused, so that a point is one
 * aligned load. A chunk's vertices are copied to contiguous memory before a kernel runs, and its results are summed
 * into the global vector in a fixed order. Kernels do not depend on threads, pins or the world.
 *
 * Adding an energy: one file <stencil>/<name>.c, one value in sinew_energy_kind, one line in kernels/table.c, one page
 * in docs/reference/energies/. tests/test_energies.c then tests it. Operations that are NULL are missing capabilities:
 * solvers that need them refuse the energy by name. docs/reference/energies/index.md has the table.
 */
#ifndef SINEW_SRC_ENERGY_ENERGY_H
#define SINEW_SRC_ENERGY_ENERGY_H

#include "math/dense.h"
#include "math/supernode_solve.h"
#include "math/gather_scatter.h"
#include "mesh/topology/stencil.h"
#include "sinew/sinew.h"

#define SINEW_POINT      4 /* count of reals of a point */
#define SINEW_DATA_MAX   32
#define SINEW_REASON_MAX 160
#define SINEW_VERTEX_SUM 9 /* numbers of a node's sum: gradient 0 1 2, block 00 11 22 01 02 12 */

/* Consecutive groups of elements for one kernel call. */
typedef struct sinew_groups {
    int32_t count;
    int32_t threes,
        twos; /* the first of them are fans of three, the next of two (batch_layout.h); multiples of 3 and of 2 */
    const int32_t *vertex;  /* [count][vertex_count][W] */
    const sinew_real *data; /* [count][data_count][W] */
} sinew_groups;

/* An operation takes one struct with its inputs and outputs. Pointers that an operation does not use are NULL. */

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
    bool project; /* linearise: project to a positive semi-definite matrix, no smaller than the exact one; else exact */
    sinew_real
        multiplier; /* energies with global_constraint: factor of value, gradient and tangent; unused by others */
} sinew_kernel;

/* Reduced coordinates z = D x on the groups of one chunk (reduce, stiffness, local_project, local_prox). */
typedef struct sinew_reduced_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] m */
    sinew_real *g;       /* [local vertex][4] accumulated into (local_project, local_prox) */
    sinew_real *D;       /* [groups.count][reduced_count][vertex_count][W] written by reduce */
    sinew_real *weights; /* [groups.count][W] written by stiffness; read by local_prox: w^2 > 0 */
    sinew_real *u;       /* [groups.count][3 * reduced_count][W] local_prox: the scaled dual variable, updated */
    double stretch_low, stretch_high; /* stiffness: the interval that a material is fitted over */
} sinew_reduced_kernel;

/* Constraints (constrain). The groups are without fans, and their vertex numbers are particles. The elements of a group
 * share no vertex, except for fillers, which repeat its first element. */
typedef struct sinew_constrain_kernel {
    sinew_groups groups;
    sinew_real *xw; /* [particle][4] positions, updated in place; the fourth number is the inverse mass (1/kg, 0 at
                       pins) */
    sinew_real *dx; /* NULL, or [particle][4]: changes are added here instead (Jacobi) */
    const sinew_real *averaging_weight; /* NULL, or [groups.count][W]: factor of every change of an element (Jacobi) */
    sinew_real *lambda;                 /* [groups.count][constraint_count][W] multipliers, updated */
    sinew_real compliance;              /* factor of the compliance: 1/h^2; 0: hard constraints (PBD) */
    sinew_real stiffness;               /* PBD's k in (0, 1]: factor of every change; 1 for XPBD */
    const sinew_real *x_old;            /* [particle][4] q_n, for damping; NULL without */
    sinew_real damping;                 /* beta of XPBD (26), s: alpha_tilde beta / h */
    int32_t form;                       /* SINEW_FORM_... */
    bool apart; /* groups share no vertex with each other, or changes are added to dx: prefetching is allowed */
} sinew_constrain_kernel;

/* Constraints as numbers (jacobian), on the groups of one chunk: psi = 1/2 C^T alpha^-1 C (+ const), as in `constrain`.
 * An element of weight zero, and a constraint that the form does not use, has C = 0, a zero Jacobian and compliance 1,
 * so that systems stay regular. */
typedef struct sinew_jacobian_kernel {
    sinew_groups groups;
    const sinew_real *x;      /* [local vertex][4] m */
    int32_t form;             /* SINEW_FORM_... */
    bool hard;                /* constraints of PBD: C is zero at rest, and all compliances are zero */
    sinew_real *C;            /* [groups.count][constraint_count][W] */
    sinew_real *jacobian;     /* [groups.count][constraint_count][vertex_count][3][W] dC/dx */
    sinew_real *compliance;   /* [groups.count][constraint_count][constraint_count][W] alpha, a symmetric matrix */
    sinew_real *one_sided;    /* NULL, or [groups.count][constraint_count][W] zeros: an energy that is free between
                                 limits (hard) writes 1 or -1, and C >= 0 is then the distance to the nearer limit, also
                                 where it is not reached; -1: of the other sign than without */
    const sinew_real *lambda; /* [groups.count][constraint_count][W] factors of the second derivatives (curvature) */
    sinew_real *blocks; /* [groups.count][block_count][9][W] written by curvature, laid out as `hessian` writes them */
} sinew_jacobian_kernel;

/* Incidences (vertex, vertex_change). A group is W nodes that share no element, an incidence one node and one of its
 * elements. The incidences of a group follow each other; lanes without an incidence repeat another one with weight
 * 0. */
typedef struct sinew_vertex_kernel {
    int32_t group_count;
    const int32_t *first_incidence; /* [group_count + 1] first incidence of each group */
    const int32_t *node;            /* [group_count][W] SINEW_POINT times the particle */
    const int32_t *others;          /* [incidence][other_count][W] from incidence 0: the element's other particles,
                                       also times SINEW_POINT */
    const sinew_real *data;         /* [incidence][incidence_data_count][W] from incidence 0 */
    const sinew_real *x;            /* [particle][4] m */
    bool exact;                     /* block: projected second derivatives; else the approximate block */
    sinew_real *sum;                /* [group_count][SINEW_VERTEX_SUM][W] vertex adds gradient and block */
    const sinew_real *step;         /* [group_count][3][W] vertex_change: displacement of each node, m */
    sinew_real *change;             /* [group_count][2][W] vertex_change adds: the change of psi, J; its round-off */
} sinew_vertex_kernel;

/* Blocks of one node whose quadratic model at any x bounds the energy from above as that node moves: its minimum is no
 * higher than x, without a check. */
enum {
    SINEW_BOUND_CHEAP = 1 << 0,
    SINEW_BOUND_EXACT = 1 << 1
};

/* Rigid motions of all vertices of an element that change its energy. */
enum {
    SINEW_COSTS_TRANSLATION = 1 << 0,
    SINEW_COSTS_ROTATION = 1 << 1
};

/* Form of the constraints of an energy. */
enum {
    SINEW_FORM_ROOT = 0,       /* C = sqrt(2 psi alpha): one constraint an element */
    SINEW_FORM_SPLIT,          /* neo-Hookean: deviatoric and hydrostatic apart, thesis (4.34), (4.35); else as root */
    SINEW_FORM_INCOMPRESSIBLE, /* split, with det F = 1 as a hard constraint */
    SINEW_FORM_ENERGY,         /* C = psi itself, thesis 4.1.4 (PBD only) */
    SINEW_FORM_COMBINED, /* neo-Hookean: root of psi and a constant, a sum of squares, thesis (4.32); else as root */
    SINEW_FORM_COUNT
};

/* Input of `prepare` for one element: scalar code, run once. */
typedef struct sinew_element {
    int32_t vertex_count;   /* number of distinct vertices; further entries repeat the first vertex (padded stencils) */
    const sinew_real *rest; /* [vertex_count of the energy][3] m rest positions */
    const sinew_real *parameters; /* [parameter_count] as the info describes them, in range */
    const sinew_real *weights;    /* PAIR: [8] signed: first point's weights, then minus the second point's */
    const sinew_real *normal;     /* PAIR: unit vector */
    const sinew_real *target;     /* VERTEX: [3] m */
    const sinew_real *fraction;   /* TET: NULL, or how much of its rest volume is filled, in (0, 1] */
    const sinew_real *examples;   /* TET: NULL, or [SINEW_EXAMPLE_MAX][6] stretches of examples less 1, symmetric: 00 11
                                     22 01 02 12; zero: there is no such example */
    char *reason;                 /* NULL, or [SINEW_REASON_MAX] buffer for a reason with numbers, to be returned */
    double *size;                 /* NULL, or output of energies with `keeps_size`: a number of the rest shape ... */
    bool rest_known; /* ... and input: data hold the result of an earlier `prepare` for the same rest shape, which is
                        not given; only the parameters are new */
} sinew_element;

/* All elements of an energy, for energies that are not a sum over elements (the gas in a surface). */
typedef struct sinew_global_constraint {
    int32_t count;
    const int32_t *particles;     /* [count][vertex_count] as the caller numbered them */
    const sinew_real *q, *rest;   /* [particle][4] m */
    const sinew_real *parameters; /* parameters of the energy, in range */
    uint32_t by_element;          /* bit p: parameter p differs from element to element */
    double time;                  /* s, at the end of the step */
} sinew_global_constraint;

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
    bool is_surface;     /* elements are triangles, and z = D x (see below) their deformation gradient, 3x2 */
    bool contact;        /* one-sided, and may change in every iteration (edge/contact.c): in no constant matrix;
                            solvers with such matrices iterate (solve/projective/contact_blocks.h) */
    bool load;           /* psi is the potential of a load on all elements together: not zero at rest, without a lower
                            bound, and the same after a rigid motion as a sum only */
    bool global_constraint; /* all elements of one record are one constraint, C = sum of their C, with one multiplier
                               and the common compliance alpha = 1 / data[0]: psi = C^2 / (2 alpha) is no sum over
                               elements. `jacobian` gives the contribution of each element to C and its gradient;
                               systems have one constraint for the sum. value, gradient and linearise are those of
                               multiplier C / alpha: with multiplier = C they give psi's gradient, and its Hessian
                               but for grad C grad C^T / alpha (objective/global_constraints.h). `constrain` is NULL:
                               sweeps project the sum (solve/constraint_sweep/global_constraint.c) */
    bool keeps_size; /* `prepare` for new parameters alone reads the size of the rest shape instead of the shape */

    /* Required. */

    /* Fills data[data_count] of one element. NULL, or a reason to refuse it ("zero volume") to which the caller adds
     * the element's number. */
    const char *(*prepare)(const sinew_element *element, sinew_real *data);
    /* sum of psi (J) over the groups; +inf where it is not defined */
    double (*value)(const sinew_kernel *kernel);
    /* sum of psi (J) over the groups, and g += grad psi */
    double (*gradient)(const sinew_kernel *kernel);
    /* tangent = second derivatives at x, exact or projected */
    void (*linearise)(const sinew_kernel *kernel);
    /* g += H p with the tangent */
    void (*product)(const sinew_kernel *kernel);
    /* blocks = H with the tangent */
    void (*hessian)(const sinew_kernel *kernel);

    /* Optional from here on: NULL, and counts zero. */

    /* Checks all elements together before they are added; SINEW_OK, or an error with the reason. */
    sinew_status (*check_elements)(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                   sinew_error *error);
    /* shared [shared_count] = the numbers data[0] .. of every element in the step that begins at q. */
    int32_t shared_count;
    void (*update_shared_data)(const sinew_global_constraint *all, sinew_real *shared);
    /* The largest t <= max such that psi is defined on [0, t) along x + t p; `max` without a barrier before. Elements
     * whose psi is not defined at x, and those of weight zero, are left out. */
    double (*step_limit)(const sinew_kernel *kernel, double max);
    /* TET only, of this kernel alone: smallest and largest det F and the number of elements with det F <= 0 among
     * weights > 0; +inf, -inf and 0 when there are none. Callers merge the results of their kernels. */
    void (*determinants)(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted);

    /* SINEW_CAN_REDUCE (reduced_count, reduce, stiffness; needed by local_project and local_prox): reduced coordinates
     * of projective methods. z = D x has reduced_count 3-vectors, vector r being sum_a D[r][a] x_a. A tet has the
     * columns of F Q, Q a rotation of its rest shape (tet/tet.h), an edge the difference of its ends. */
    int32_t reduced_count;                              /* 0: none */
    void (*reduce)(const sinew_reduced_kernel *kernel); /* D */
    /* weights = k such that psi = k/2 |z - proj z|^2 where the energy can project, else the k whose quadratic fits it
     * best over the stretches low .. high, thesis (4.64). Rest volume included: N m per unit of z squared. For a
     * projecting energy a bound is enough: psi(y) <= psi(z) + psi'(z) (y - z) + k/2 |y - z|^2, proj z = z - psi'(z) /
     * k. */
    void (*stiffness)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROJECT: g += k D^T proj(D x) */
    void (*local_project)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROX: with v = D x + u: z = argmin psi(z) + w^2/2 |z - v|^2, u = v - z, g += w^2 D^T (z - u - D x).
     * Outputs are u and g; psi is the element's energy, rest volume included. */
    void (*local_prox)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_CONSTRAINT: for each element in turn, C with psi = C^2 / (2 alpha) (+ const) and, thesis (4.27),
     * (4.28), dlambda = (-C - alpha~ lambda) / (sum w |grad C|^2 + alpha~),  x += stiffness w grad C dlambda,  lambda
     * += dlambda */
    int32_t constraint_count; /* multipliers of one element, the most over all forms; 0: none */
    void (*constrain)(const sinew_constrain_kernel *kernel);
    /* SINEW_CAN_JACOBIAN: C, its Jacobian and the compliance, for systems of constraints. `constrain` applies (4.27)
     * and (4.28) to the same numbers. */
    void (*jacobian)(const sinew_jacobian_kernel *kernel);
    /* Second derivatives of the constraints, blocks = sum_i lambda_i d2C_i/dx2, exact: the geometric stiffness of
     * systems of constraints. NULL: difference quotients of `jacobian` are used. */
    void (*curvature)(const sinew_jacobian_kernel *kernel);
    uint32_t inequalities; /* bit i: constraint i is an inequality C_i >= 0, without energy where it holds */
    bool rooted; /* C is the root of psi: never negative, and without a gradient where it is zero. Sweeps accept it
                    as hard; systems of constraints refuse it, as it has no multipliers there */

    /* SINEW_CAN_VERTEX: an element as a function of one of its vertices. */
    int32_t other_count; /* number of vertices of an element minus one */
    int32_t
        incidence_data_count; /* count of numbers of an incidence; number 0 is the weight data[0], and 0 disables it */
    /* Scalar code, run once per incidence: data `out` and other particles of vertex `node` of an element. */
    void (*incidence)(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others);
    /* sum += gradient of psi by the node, and its 3x3 block of second derivatives, approximate or exact;
     * semi-definite */
    void (*vertex)(const sinew_vertex_kernel *kernel);
    /* change += psi after the displacement of the node by step, minus psi before */
    void (*vertex_change)(const sinew_vertex_kernel *kernel);
    uint32_t vertex_bounds; /* SINEW_BOUND_... */
} sinew_energy_ops;

/* The step of W nodes from their sums (kernels/vertex_step.c). Arrays [group_count][..][W]. */
typedef struct sinew_vertex_move {
    int32_t group_count;
    const int32_t *node;
    const sinew_real *mass; /* kg; 0: filler */
    const sinew_real *sum;
    sinew_real *step, *change;
    sinew_real *x;            /* [particle][4] m */
    const sinew_real *target; /* [particle][4] m: q_tilde; quasistatic: N, the external force */
    sinew_real inertia;       /* 1/h^2; 0: quasistatic */
    sinew_real relaxation;    /* factor of the step */
} sinew_vertex_move;

typedef struct sinew_vertex_step_kernels {
    /* step = -relaxation A^-1 g with g and A of the whole objective */
    void (*step)(const sinew_vertex_move *move);
    /* adds the change of the inertia term and halves steps that would increase the objective (`last`: sets these steps
     * to zero); returns whether any step was changed */
    bool (*shorten)(const sinew_vertex_move *move, bool last);
    /* x += step */
    void (*move)(const sinew_vertex_move *move);
} sinew_vertex_step_kernels;

/* A SIMD variant of all kernels; one is chosen per process (math/variant.c). */
typedef struct sinew_simd_variant {
    const char *name;
    int32_t width;
    const sinew_energy_ops *const *energies; /* [SINEW_ENERGY_COUNT] */
    const sinew_energy_ops *contact; /* contact energy, not in the table: its elements come from contact detection */
    const sinew_supernode_kernels *supernodes;     /* kernels of triangular solves */
    const sinew_dense_kernels *dense;              /* kernels of factorisations */
    const sinew_slot_kernels *slots;               /* kernels that copy between particles and chunks */
    const sinew_vertex_step_kernels *vertex_steps; /* kernels of node steps */
} sinew_simd_variant;

const sinew_simd_variant *sinew_simd(void); /* the variant chosen for this process */
/* The variants of this build that the processor has, best first. */
const sinew_simd_variant *const *sinew_simd_variants(int32_t *count);

const sinew_energy_ops *
sinew_energy_get_ops(sinew_energy_kind kind); /* operations of an energy in the chosen variant */

#endif
