/* SPDX-License-Identifier: MIT
 *
 * energy.h: an energy is one table of operations over batches of elements.
 *
 * Data layout. A batch holds all elements of one energy, W at a time (a group), so that one SIMD instruction works on W
 * elements. The data of a group are contiguous:
 *
 *     vertex  [group][vertex_count][W]   the elements' vertices, local to the chunk: offset of each point in x,
 *                                        SINEW_POINT times its number
 *     data    [group][data_count][W]     result of `prepare` from rest shape and parameters; data[0] is the weight
 *     tangent [group][tangent_count][W]  result of `linearise`, input of `product` and `hessian`
 *
 * data[0], the weight, scales value, gradient and Hessian linearly. Fillers (padding lanes of a group) are copies of a
 * real element with weight 0 and must contribute exactly zero, even if the value of that element is infinite.
 *
 * Positions x, directions p and results g are [local vertex][4], the fourth number unused, so that a point is one
 * aligned load. A chunk's vertices are copied to contiguous memory before a kernel runs, and its results are summed
 * into the global vector in a fixed order. Kernels do not depend on threads, pins or the world.
 *
 * To add an energy, write one file <stencil>/<name>.c, one value in sinew_energy_kind, one line in kernels/table.c and
 * one page in docs/reference/energies/. tests/test_energies.c then tests it. An optional operation that is NULL is a
 * missing capability: solvers that need it refuse the energy by name. docs/reference/energies/index.md has the table.
 */
#ifndef SINEW_SRC_ENERGY_ENERGY_H
#define SINEW_SRC_ENERGY_ENERGY_H

#include "math/dense.h"
#include "math/supernode_solve.h"
#include "math/gather_scatter.h"
#include "mesh/topology/stencil.h"
#include "sinew/sinew.h"

#define SINEW_POINT      4 /* reals per stored point: three coordinates and one more, e.g. the inverse mass */
#define SINEW_DATA_MAX   32
#define SINEW_REASON_MAX 160
#define SINEW_VERTEX_SUM 9 /* numbers summed per vertex by vertex kernels: gradient 0 1 2, block 00 11 22 01 02 12 */

/* Consecutive SIMD groups of elements for one kernel call. */
typedef struct sinew_groups {
    int32_t count;
    /* number of leading groups with fans of three, then with fans of two (batch_layout.h); multiples of 3 and of 2 */
    int32_t threes, twos;
    const int32_t *vertex;  /* [count][vertex_count][W] SINEW_POINT times the index of each element's vertices */
    const sinew_real *data; /* [count][data_count][W] prepared data of each element, weight first */
} sinew_groups;

/* The following structs hold inputs and outputs of operations over groups. Pointers that an operation does not use may
 * be NULL. */

/* Input and output of operations that evaluate psi and its derivatives on the groups of one chunk: value, gradient,
 * linearise, product, hessian, determinants. */
typedef struct sinew_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] positions of the chunk's vertices, in m */
    const sinew_real *p; /* [local vertex][4] the vector p of a Hessian product H p */
    sinew_real *g;       /* [local vertex][4] output of gradient and product: the result is added */
    /* [groups.count][tangent_count][W] second derivatives, written by linearise, read by product and hessian */
    sinew_real *tangent;
    sinew_real *blocks; /* [groups.count][block_count][9][W] written by hessian; block_count = n(n+1)/2, pairs
                            (a, b), b <= a, in order (0,0) (1,0) (1,1) (2,0) ...; block row-major */
    /* true: linearise projects the Hessian to a positive semi-definite matrix (projects_terms says to which) */
    bool project;
    /* factor of value, gradient and tangent of energies with global_constraint or potential; unused by others */
    sinew_real multiplier;
} sinew_kernel;

/* Input and output of operations in reduced coordinates z = D x on the groups of one chunk: reduce, stiffness,
 * local_project, local_prox. */
typedef struct sinew_reduced_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] positions of the chunk's vertices, in m */
    sinew_real *g;       /* [local vertex][4] output of local_project and local_prox: the result is added */
    /* [groups.count][reduced_count][vertex_count][W] reduction matrix D of z = D x, written by `reduce` */
    sinew_real *D;
    sinew_real *weights; /* [groups.count][W] output of stiffness: k of each element; input of local_prox: w^2 > 0 */
    sinew_real *u;       /* [groups.count][3 * reduced_count][W] scaled dual variable of ADMM, updated by local_prox */
    /* range of stretches over which the operation `stiffness` fits a quadratic to psi */
    double stretch_low, stretch_high;
} sinew_reduced_kernel;

/* Input and output of the operation `constrain`. Its groups have no fans, and their vertex indices are those of
 * particles. The elements of a group share no vertex, except for fillers, which repeat its first element. */
typedef struct sinew_constrain_kernel {
    sinew_groups groups;
    /* [particle][4] positions, updated in place by the constraints; fourth number: inverse mass (1/kg, 0: pinned) */
    sinew_real *xw;
    sinew_real *dx; /* NULL, or [particle][4]: displacements are added here instead of to xw (Jacobi) */
    /* NULL, or [groups.count][W]: factor of all displacements of an element (Jacobi) */
    const sinew_real *averaging_weight;
    sinew_real *lambda;      /* [groups.count][constraint_count][W] multipliers lambda of the constraints, updated */
    sinew_real compliance;   /* factor of the constraints' compliance alpha: 1/h^2; 0: hard constraints (PBD) */
    sinew_real stiffness;    /* PBD's stiffness k in (0, 1]: factor of all displacements; 1 for XPBD */
    const sinew_real *x_old; /* [particle][4] positions q_n at the start of the step, for damping; NULL: no damping */
    /* beta / h, damping coefficient beta of XPBD (26) in s over the time step; gamma = alpha beta / h */
    sinew_real damping;
    int32_t form; /* form of the constraints into which the energy is written: SINEW_FORM_... */
    /* true: groups share no vertex with each other, or displacements are added to dx, so that a group may be loaded
     * before the previous one is stored */
    bool apart;
} sinew_constrain_kernel;

/* Input and output of the operations `jacobian` and `curvature`, constraints and their derivatives on the groups of one
 * chunk: psi = 1/2 C^T alpha^-1 C (+ const), as in `constrain`. An element of weight zero, and a constraint that the
 * form does not use, have C = 0, a zero Jacobian and compliance 1, so that systems stay regular. */
typedef struct sinew_jacobian_kernel {
    sinew_groups groups;
    const sinew_real *x; /* [local vertex][4] positions of the chunk's vertices, in m */
    int32_t form;        /* form of the constraints into which the energy is written: SINEW_FORM_... */
    bool hard;           /* true: the constraints are hard: C is zero at rest, and all compliances are zero */
    sinew_real *C;       /* [groups.count][constraint_count][W] values C of the constraints */
    /* [groups.count][constraint_count][vertex_count][3][W] Jacobian dC/dx of the constraints */
    sinew_real *jacobian;
    /* [groups.count][constraint_count][constraint_count][W] compliance alpha of each element, a symmetric matrix */
    sinew_real *compliance;
    sinew_real *one_sided; /* NULL, or [groups.count][constraint_count][W] zeros. A hard energy that is free between
                                 limits writes 1 or -1 here and the inequality C >= 0 of the nearer limit; -1: C has
                                 the opposite sign of the energy's C */
    /* [groups.count][constraint_count][W] multipliers, factors of the constraints' second derivatives (curvature) */
    const sinew_real *lambda;
    /* [groups.count][block_count][9][W] second derivatives written by curvature, in the order of `hessian` */
    sinew_real *blocks;
} sinew_jacobian_kernel;

/* Input and output of the operations `vertex` and `vertex_change`. A group is W nodes that share no element (W: SIMD
 * width); an incidence is one node and one of its elements. The incidences of a group are consecutive; a lane
 * without an incidence repeats another one with weight 0. */
typedef struct sinew_vertex_kernel {
    int32_t group_count;
    const int32_t *first_incidence; /* [group_count + 1] index of the first incidence of each group of nodes */
    const int32_t *node;            /* [group_count][W] SINEW_POINT times the particle index of each node */
    const int32_t *others;          /* [incidence][other_count][W] from incidence 0: SINEW_POINT times the other
                                       particles of the element */
    const sinew_real *data;         /* [incidence][incidence_data_count][W] data of all incidences, weight first */
    const sinew_real *x;            /* [particle][4] positions of all particles, in m */
    /* true: the block is the projected exact Hessian block of the node; false: its approximation */
    bool exact;
    /* [group_count][SINEW_VERTEX_SUM][W] gradient and block of each node, to which `vertex` adds */
    sinew_real *sum;
    const sinew_real *step; /* [group_count][3][W] displacement of each node in m, read by vertex_change */
    /* [group_count][2][W] change of psi and its round-off (J) per node, to which vertex_change adds */
    sinew_real *change;
} sinew_vertex_kernel;

/* Bits of vertex_bounds: the 3x3 block of a node is an upper bound, i.e. at any x its quadratic model bounds the energy
 * from above while the node moves. The model's minimum then does not increase the energy and needs no check. CHEAP: the
 * approximate block is such a bound. EXACT: the exact block is. */
enum {
    SINEW_BOUND_CHEAP = 1 << 0,
    SINEW_BOUND_EXACT = 1 << 1
};

/* Bits of rigid_cost: rigid motions of an element that change its energy. */
enum {
    SINEW_COSTS_TRANSLATION = 1 << 0,
    SINEW_COSTS_ROTATION = 1 << 1
};

/* Form of the constraints into which an energy is written. */
enum {
    SINEW_FORM_ROOT = 0, /* C = sqrt(2 psi alpha): one constraint per element */
    /* neo-Hookean: deviatoric and hydrostatic constraint, thesis (4.34), (4.35); other energies: root */
    SINEW_FORM_SPLIT,
    SINEW_FORM_INCOMPRESSIBLE, /* like SINEW_FORM_SPLIT, with det F = 1 as a hard constraint */
    SINEW_FORM_ENERGY,         /* C = psi itself, thesis 4.1.4 (PBD only) */
    /* neo-Hookean: root of psi + const, a sum of squares, thesis (4.32); other energies: root */
    SINEW_FORM_COMBINED,
    SINEW_FORM_COUNT
};

/* Input of `prepare`, which runs in scalar code when an element is created and when its parameters change. */
typedef struct sinew_element {
    /* number of distinct vertices of the element; further entries repeat the first vertex (padded stencils) */
    int32_t vertex_count;
    const sinew_real *rest; /* [vertex_count of the energy][3] rest positions of the element's vertices, in m */
    /* [parameter_count] parameter values in the order of the energy's info, each in its range */
    const sinew_real *parameters;
    /* PAIR elements: [8] signed weights: four of the first point, then minus the four of the second */
    const sinew_real *weights;
    const sinew_real *normal;   /* PAIR elements: [3] unit normal of the attachment */
    const sinew_real *target;   /* VERTEX elements: [3] target position, in m */
    const sinew_real *fraction; /* TET elements: NULL, or the filled fraction of the tet's rest volume, in (0, 1] */
    const sinew_real *examples; /* TET: NULL, or [SINEW_EXAMPLE_MAX][6] symmetric stretches of the examples minus 1:
                                     00 11 22 01 02 12; zero: no such example */
    char *reason;               /* NULL, or [SINEW_REASON_MAX] buffer for a refusal text that contains numbers */
    double *size;               /* NULL, or output of energies with `keeps_size`: rest area, or 6 x filled volume */
    /* true: data hold the result of an earlier `prepare` for the same rest shape, which is not given. Only the
     * parameters are new, and *size is an input. */
    bool rest_known;
} sinew_element;

/* All elements of an energy together, for energies that are not a sum over elements (e.g. gas enclosed by a
 * surface). */
typedef struct sinew_global_constraint {
    int32_t count;
    const int32_t *particles;     /* [count][vertex_count] particle indices of each element */
    const sinew_real *q, *rest;   /* [particle][4] current and rest positions of all particles, in m */
    const sinew_real *parameters; /* [parameter_count] values of the energy's parameters, in range */
    uint32_t by_element;          /* bit p is set if parameter p differs between elements */
    double time;                  /* simulated time at the end of the step, in s */
} sinew_global_constraint;

enum {
    SINEW_SHARED_MAX = 12
};

typedef struct sinew_energy_ops {
    sinew_energy_info info;
    int32_t data_count;
    int32_t tangent_count;
    /* data[target_slot .. target_slot + 2] is the target position of a VERTEX element; -1: no target */
    int32_t target_slot;
    uint32_t rigid_cost; /* SINEW_COSTS_...; 0: psi is invariant under all rigid motions */
    bool barrier;        /* true: psi is +inf at some finite positions x */
    /* true: a projected tangent is the sum of projected terms of psi. False: it comes from the semi-definite matrix
     * nearest to the exact second derivatives by the variable of psi (such as F), and is bit for bit the exact tangent
     * if these are definite. */
    bool projects_terms;
    bool is_surface; /* true: elements are triangles, and z = D x (`reduce`) is their 3x2 deformation gradient */
    /* true: the energy is one-sided and may change in every iteration (edge/contact.c), so it is part of no constant
     * matrix. Solvers with constant matrices iterate (solve/projective/contact_blocks.h). */
    bool contact;
    /* true: psi is the potential of a load on all elements together: not zero at rest, without a lower bound. Only its
     * sum is invariant under rigid motions. */
    bool load;
    bool global_constraint; /* all elements of one energy form one constraint, C = sum of their C, with one multiplier
                               and the common compliance alpha = 1 / data[0]: psi = C^2 / (2 alpha) is no sum over
                               elements. `jacobian` writes the contribution of each element to C and its gradient;
                               systems have one constraint for the sum. value, gradient and linearise return those of
                               multiplier C / alpha: with multiplier = C, the gradient of psi, and its Hessian
                               without grad C grad C^T / alpha (objective/global_constraints.h). `constrain` is NULL:
                               sweeps project the sum (solve/constraint_sweep/global_constraint.c) */
    /* true: with new parameters only, `prepare` reads the size of the rest shape (*size) instead of the shape */
    bool keeps_size;

    /* The following six operations are required of every energy. */

    /* Fills data[data_count] of one element. Returns NULL, or a reason to refuse the element ("zero volume"), to
     * which the caller adds the element's index. */
    const char *(*prepare)(const sinew_element *element, sinew_real *data);
    /* Returns the sum of psi (J) over the elements of the groups; +inf if psi is undefined. */
    double (*value)(const sinew_kernel *kernel);
    /* Returns the sum of psi (J) over the elements of the groups and adds grad psi to g. */
    double (*gradient)(const sinew_kernel *kernel);
    /* tangent = second derivatives of psi at x, exact or projected to a semi-definite matrix. */
    void (*linearise)(const sinew_kernel *kernel);
    /* g += H p, with the Hessian H of psi taken from the tangent. */
    void (*product)(const sinew_kernel *kernel);
    /* blocks = the 3x3 blocks of the Hessian of psi, from the tangent. */
    void (*hessian)(const sinew_kernel *kernel);

    /* Optional operations of an energy: NULL, with counts of zero, if the energy lacks them. */

    /* Checks all elements of an energy together before they are added. Returns SINEW_OK, or an error with the
     * reason. */
    sinew_status (*check_elements)(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                   sinew_error *error);
    /* update_shared_data: shared [shared_count] = the first shared_count numbers of the data of every element, for the
     * step that begins at q. */
    int32_t shared_count;
    bool follows_time; /* true: the shared data depend on the time t at the end of the step: C(q, t) */
    void (*update_shared_data)(const sinew_global_constraint *all, sinew_real *shared);
    /* An energy that is a function of the sum over all elements, psi = f(C) (the gas in a surface), with parameters for
     * which `couples` returns true; all of the data are shared then. value, gradient and linearise return the value and
     * derivatives of multiplier C times the weight, as with global_constraint; C has no Jacobian and no multiplier of
     * its own. potential: f[3] = psi and its first and second derivative by C, the second >= 0; false: C is outside of
     * the domain and psi = +inf. coupled_with: names these parameters in error messages. */
    bool (*couples)(const sinew_real *parameters);
    bool (*potential)(const sinew_real *data, double C, double f[3]);
    const char *coupled_with;
    /* Returns the largest t <= max such that psi is defined on [0, t) along x + t p; max if no barrier is reached.
     * Elements whose psi is undefined at x, and elements of weight zero, are skipped. */
    double (*step_limit)(const sinew_kernel *kernel, double max);
    /* TET only: smallest and largest det F, and the number of elements with det F <= 0, among the kernel's elements
     * of positive weight; +inf, -inf and 0 if there are none. Callers merge the results of several kernels. */
    void (*determinants)(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted);

    /* SINEW_CAN_REDUCE (reduced_count, reduce, stiffness; needed by local_project and local_prox): reduced
     * coordinates of projective methods. z = D x has reduced_count 3-vectors, vector r being sum_a D[r][a] x_a. For
     * a tet, z are the columns of F Q, Q a rotation of its rest shape (tet/tet.h); for an edge, the difference of
     * its ends. */
    int32_t reduced_count; /* number of 3-vectors of reduced coordinates z; 0: none */
    /* operation that writes the matrix D of reduced coordinates z = D x */
    void (*reduce)(const sinew_reduced_kernel *kernel);
    /* Writes weights = k such that psi = k/2 |z - proj z|^2 if the energy can project; else the k whose quadratic fits
     * psi best over the stretches low .. high, thesis (4.64). Rest volume included: N m per unit of z squared. For a
     * projecting energy a bound is enough: psi(y) <= psi(z) + psi'(z) (y - z) + k/2 |y - z|^2, proj z = z - psi'(z) /
     * k. */
    void (*stiffness)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROJECT: g += k D^T proj(D x), with the reduction matrix D and with k and proj as for `stiffness`. */
    void (*local_project)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_PROX: with v = D x + u: z = argmin psi(z) + w^2/2 |z - v|^2, u = v - z, g += w^2 D^T (z - u - D x).
     * Outputs are u and g; psi is the element's energy, rest volume included. */
    void (*local_prox)(const sinew_reduced_kernel *kernel);
    /* SINEW_CAN_CONSTRAINT: projects each element in turn. C satisfies psi = C^2 / (2 alpha) (+ const), thesis
     * (4.27), (4.28):
     *     dlambda = stiffness (-C - alpha~ lambda) / (sum w |grad C|^2 + alpha~)
     *     x += w grad C dlambda,  lambda += dlambda */
    int32_t constraint_count; /* largest number of constraints, i.e. multipliers, per element over all forms; 0: none */
    void (*constrain)(const sinew_constrain_kernel *kernel);
    /* SINEW_CAN_JACOBIAN: constraint values C, their Jacobian and the compliance, for KKT systems. `constrain`
     * applies (4.27) and (4.28) with the same values. */
    void (*jacobian)(const sinew_jacobian_kernel *kernel);
    /* Exact second derivatives of the constraints, blocks = sum_i lambda_i d2C_i/dx2: the geometric stiffness in KKT
     * systems. NULL: difference quotients of `jacobian` replace them. */
    void (*curvature)(const sinew_jacobian_kernel *kernel);
    uint32_t inequalities; /* bit i: constraint i of an element is an inequality C_i >= 0, without energy if it holds */
    /* true: C is the root of psi: never negative, and without a gradient at zero. Sweeps accept it as hard. KKT systems
     * refuse it, because its multiplier is undefined at zero. */
    bool rooted;

    /* SINEW_CAN_VERTEX: the next members evaluate an element as a function of one of its vertices, the node. */
    int32_t other_count; /* number of vertices of an element minus one, the node */
    /* number of reals of an incidence's data; the first is the weight data[0], 0 for padding lanes */
    int32_t incidence_data_count;
    /* Fills the data `out` of the incidence of an element and its vertex `node`, and the other particles. Scalar code,
     * runs once per incidence. */
    void (*incidence)(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others);
    /* sum += gradient of psi by the node, and its positive semi-definite 3x3 block of second derivatives,
     * approximate or exact. */
    void (*vertex)(const sinew_vertex_kernel *kernel);
    /* change += psi with the node displaced by `step`, minus psi at the current position. */
    void (*vertex_change)(const sinew_vertex_kernel *kernel);
    uint32_t vertex_bounds; /* bits SINEW_BOUND_...: which Hessian blocks of a node are upper bounds */
} sinew_energy_ops;

/* Input and output of the displacements of nodes from their summed gradients and blocks (kernels/vertex_step.c). node,
 * sum, step and change are those of sinew_vertex_kernel. */
typedef struct sinew_vertex_move {
    int32_t group_count;
    const int32_t *node;
    const sinew_real *mass; /* [group_count][W] mass of each node in kg; 0: padding lane */
    const sinew_real *sum;
    sinew_real *step, *change;
    sinew_real *x;            /* [particle][4] positions of all particles, in m */
    const sinew_real *target; /* [particle][4] predicted position q_tilde in m; quasistatic: external force in N */
    sinew_real inertia;       /* 1/h^2, the factor of the masses in the inertia term; 0: quasistatic */
    sinew_real relaxation;    /* factor of every node's Newton step */
} sinew_vertex_move;

typedef struct sinew_vertex_step_kernels {
    /* step = -relaxation A^-1 g for each node, with gradient g and 3x3 block A of the whole objective. */
    void (*step)(const sinew_vertex_move *move);
    /* Halves steps of nodes that would increase the objective, i.e. psi plus the inertia term or the work of external
     * forces (`last`: sets such steps to zero). Returns whether any step was changed. */
    bool (*shorten)(const sinew_vertex_move *move, bool last);
    /* Adds the step of each node to its position: x += step. */
    void (*move)(const sinew_vertex_move *move);
} sinew_vertex_step_kernels;

/* A SIMD variant of all kernels; one is chosen per process (math/variant.c). */
typedef struct sinew_simd_variant {
    const char *name;
    int32_t width;
    const sinew_energy_ops *const *energies; /* [SINEW_ENERGY_COUNT] table of operations of each energy */
    /* operations of the contact energy, not in the table: its elements come from contact detection */
    const sinew_energy_ops *contact;
    const sinew_energy_ops *contact_wide;          /* contacts over up to eight particles */
    const sinew_supernode_kernels *supernodes;     /* dense kernels of supernodes in triangular solves */
    const sinew_dense_kernels *dense;              /* dense kernels of matrix factorisations */
    const sinew_slot_kernels *slots;               /* kernels that copy vectors between particles and chunks */
    const sinew_vertex_step_kernels *vertex_steps; /* kernels that compute the displacement of each node */
} sinew_simd_variant;

const sinew_simd_variant *sinew_simd(void); /* the SIMD variant chosen for this process */
/* The variants of this build that the processor supports, best first. */
const sinew_simd_variant *const *sinew_simd_variants(int32_t *count);

const sinew_energy_ops *
sinew_energy_get_ops(sinew_energy_kind kind); /* operations of an energy in the SIMD variant chosen for this process */

#endif
