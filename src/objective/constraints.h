/* SPDX-License-Identifier: MIT
 *
 * constraints.h: energies as constraints of one system: C(q), J = dC/dq, the compliance alpha and second derivatives,
 * for solvers that meet all constraints together.
 *
 *     f = J^T lambda,    C + alpha lambda = 0        (alpha = 0: hard; inequality: lambda >= 0, C + alpha lambda >= 0)
 *
 * lambda is in N if C is a length. With psi = 1/2 C^T alpha^-1 C an energy and its constraints are equivalent (thesis
 * 3.22 to 3.25).
 *
 * Numbering. Each batch is one set, in the order of the objective's tasks. The constraints of a set are in the order of
 * element indices (energy/batch.h), per_element each. Elements of an energy with `global_constraint` share those of one
 * element: their C add up, and the compliance is that of the first element. Elements are stored densely, vertices in
 * the order of the batch. A vertex may occur twice (pairs, padded stencils); its contributions add up. Columns of
 * pinned particles are left out: their entry of `particle` is -1. Inequalities come from energies with
 * ops->inequalities and from hard elements with a slack between limits.
 *
 * Evaluation works chunk by chunk, on several threads if there are many chunks, and allocates nothing. An element
 * writes its own numbers only, so the bits do not depend on threads. Second derivatives come from the energy's
 * `curvature` operation, or from central differences of its Jacobian, with a relative error of about eps^(2/3).
 */
#ifndef SINEW_SRC_OBJECTIVE_CONSTRAINTS_H
#define SINEW_SRC_OBJECTIVE_CONSTRAINTS_H

#include "objective/objective.h"

/* The elements of one batch in their role as constraints C. */
typedef struct sinew_constraint_set {
    const sinew_batch *batch;
    int32_t vertex_count, per_element; /* number of vertices per element; number of constraints per element */
    /* number of elements; index of the set's first element, counted over all sets */
    int32_t element_count, first_element;
    int32_t first_constraint, constraint_count;
    bool hard, global;
    bool driven;          /* true: the constraint values depend on time explicitly, through motors or moving targets */
    bool curved;          /* true: second derivatives of this set have memory in `blocks` */
    size_t particle_at;   /* offset in `particle` of this set's particle indices [element_count][vertex_count] */
    size_t jacobian_at;   /* offset in `J` of this set's gradients [element_count][per_element][vertex_count][3] */
    size_t compliance_at; /* offset in `alpha` of this set's compliances [element_count][per_element][per_element] */
    /* offset in `blocks` of this set's second derivatives [element_count][n (n + 1) / 2][9], n = vertex_count, for
     * curved sets */
    size_t block_at;
    size_t value_at; /* offset in `element_C` of this set's constraint values [element_count][per_element] */
} sinew_constraint_set;

typedef struct sinew_constraint_chunk {
    int32_t set;
    const sinew_chunk *chunk;
} sinew_constraint_chunk;

typedef struct sinew_constraints {
    sinew_allocator allocator;
    int32_t thread_count, form;
    int32_t set_count, chunk_count, constraint_count, element_count;
    sinew_constraint_set *sets;
    sinew_constraint_chunk *chunks;
    /* [vertices of the elements of all sets] particle index of each vertex of each element, set by set; -1: pinned */
    int32_t *particle;
    double *C; /* [constraint_count] value C of each constraint */
    /* [constraint_count] 0: equality C = 0; 1 or -1: inequality C >= 0; -1: C has the opposite sign of the energy's
     * C */
    int8_t *one_sided;
    double *element_C; /* value C of each element, set by set; a global constraint is the sum of its elements' C */
    double *J, *alpha;
    double *blocks;      /* [blocks of all curved sets][9] 3x3 blocks of sum_i lambda_i d2C_i / dq2 of each element */
    size_t scratch_size; /* number of reals in the scratch memory of one thread, for constraints */
    sinew_real *scratch; /* [thread_count][scratch_size] scratch memory of each thread for one chunk of constraints */
    /* SINEW_POINT times 0, 1, 2, ..: vertex indices of elements that share no point in scratch memory */
    int32_t *identity;
} sinew_constraints;

/* Tells whether a batch is chosen; `context` is the argument of sinew_constraints_create(). */
typedef bool sinew_batch_predicate(const void *context, const sinew_batch *batch);
/* Creates the constraints of all batches for which `chosen` returns true, in the order of tasks; contacts and energies
 * without a Jacobian are left out. Second derivatives are allocated for batches for which `curved` returns true; NULL:
 * for none. Allocates; returns NULL on failure. */
sinew_constraints *sinew_constraints_create(const sinew_objective *objective, sinew_batch_predicate *chosen,
                                            const void *context, sinew_batch_predicate *curved, sinew_error *error);
/* frees all memory of the constraints, which may be NULL */
void sinew_constraints_destroy(sinew_constraints *constraints);

/* Evaluates constraints C, Jacobian J and compliance alpha at positions q. */
void sinew_constraints_evaluate(sinew_constraints *constraints, const sinew_real *q);
/* Computes the blocks of sum_i lambda_i d2C_i/dq2 at q for all elements of curved sets; lambda [constraint_count]. */
void sinew_constraints_evaluate_second(sinew_constraints *constraints, const sinew_real *q, const double *lambda);

/* Index, among all constraints, of constraint i of one element of a set. */
static inline int32_t sinew_constraint_index(const sinew_constraint_set *set, int32_t element, int32_t i)
{
    return set->first_constraint + (set->global ? i : element * set->per_element + i);
}

/* Particle indices [vertex_count] of one element of a constraint set; -1: pinned. */
static inline const int32_t *sinew_constraint_particles(const sinew_constraints *c, const sinew_constraint_set *set,
                                                        int32_t element)
{
    return c->particle + set->particle_at + (size_t)element * (size_t)set->vertex_count;
}
/* Gradient [vertex_count][3] of constraint i of an element, zero at pinned vertices. */
static inline const double *sinew_constraint_jacobian(const sinew_constraints *c, const sinew_constraint_set *set,
                                                      int32_t element, int32_t i)
{
    const size_t at = (size_t)element * (size_t)set->per_element + (size_t)i;
    return c->J + set->jacobian_at + at * (size_t)set->vertex_count * 3;
}
static inline double sinew_constraint_compliance(const sinew_constraints *c, const sinew_constraint_set *set,
                                                 int32_t element, int32_t i, int32_t j)
{
    const size_t m = (size_t)set->per_element;
    return c->alpha[set->compliance_at + ((size_t)element * m + (size_t)i) * m + (size_t)j];
}
/* Whether a constraint was an inequality C >= 0 at the last evaluation. */
static inline bool sinew_constraint_is_inequality(const sinew_constraints *c, int32_t constraint)
{
    return c->one_sided[constraint] != 0;
}

/* Returns the set of a constraint, and writes its element (0 for a global constraint) and its index within the
 * element. */
const sinew_constraint_set *sinew_constraint_owner(const sinew_constraints *constraints, int32_t constraint,
                                                   int32_t *element, int32_t *i);
/* out [constraint_count] = J d: the linearised change of the constraint values by displacements d
 * [particle_count][4], J their Jacobian */
void sinew_constraints_product(const sinew_constraints *constraints, const sinew_real *d, double *out);
/* out [particle][3] += scale J^T lambda: the constraint forces, J the constraints' Jacobian; summed in the order of
 * elements */
void sinew_constraints_add_force(const sinew_constraints *constraints, const double *lambda, double scale, double *out);
/* out [constraint_count] = alpha lambda, compliance times multipliers */
void sinew_constraints_apply_compliance(const sinew_constraints *constraints, const double *lambda, double *out);
/* out [constraint_count] = |J_i|, the norm of each constraint's gradient over the free particles; approximate for
 * global constraints */
void sinew_constraints_norms(const sinew_constraints *constraints, double *out);

#endif
