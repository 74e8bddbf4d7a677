/* SPDX-License-Identifier: MIT
 *
 * constraints.h: energies as the rows of one system: C(q), J = dC/dq, the compliance alpha and the second derivatives,
 * for solvers that meet all constraints at once.
 *
 *     f = J^T lambda,    C + alpha lambda = 0        (alpha = 0: hard; inequality: lambda >= 0, C + alpha lambda >= 0)
 *
 * lambda in newtons where C is a length. With psi = 1/2 C^T alpha^-1 C an energy and its rows say the same (thesis 3.22
 * to 3.25).
 *
 * Numbering. Sets follow each other, one a batch, in the order of the objective's tasks; a set's rows are element by
 * element as the caller numbered them, constraint_count each. Elements of an energy with `whole_row` share the rows of
 * one: their C add up, and the compliance is that of the first. Elements are stored densely, vertices as the batch has
 * them; a vertex may be named twice (pairs, padded stencils), and its parts then add up. Columns of pinned particles
 * are left out: their place in `particle` is -1. Inequalities are those of energies that are nothing else (ops->
 * inequalities), and hard elements that are free between limits.
 *
 * Evaluation works chunk by chunk on all threads and allocates nothing; an element writes its own numbers only, so the
 * bits do not depend on threads. Second derivatives are the energy's own (`curvature`), or central differences of its
 * Jacobian, good to about eps^(2/3).
 */
#ifndef SINEW_SRC_OBJECTIVE_CONSTRAINTS_H
#define SINEW_SRC_OBJECTIVE_CONSTRAINTS_H

#include "objective/objective.h"

/* The elements of one batch as rows. */
typedef struct sinew_row_set {
    const sinew_batch *batch;
    int32_t vertex_count, constraint_count;
    int32_t element_count, first_element; /* over all sets */
    int32_t first_row, row_count;
    bool hard, whole;
    bool curved;          /* has room for second derivatives */
    size_t particle_at;   /* [element_count][vertex_count] of this set in `particle` */
    size_t jacobian_at;   /* [element_count][constraint_count][vertex_count][3] in `J` */
    size_t compliance_at; /* [element_count][constraint_count][constraint_count] in `alpha` */
    size_t block_at;      /* [element_count][n (n + 1) / 2][9] in `blocks`, of curved sets */
    size_t value_at;      /* [element_count][constraint_count] in `element_C` */
} sinew_row_set;

typedef struct sinew_row_chunk {
    int32_t set;
    const sinew_chunk *chunk;
} sinew_row_chunk;

typedef struct sinew_constraints {
    sinew_allocator allocator;
    int32_t thread_count, form;
    int32_t set_count, chunk_count, row_count, element_count;
    sinew_row_set *sets;
    sinew_row_chunk *chunks;
    int32_t *particle; /* of each element's vertices; -1 where pinned */
    double *C;         /* [row_count] */
    int8_t *one_sided; /* [row_count] 0: C = 0 is wanted; else C >= 0, and -1: C has the other sign than the energy's */
    double *element_C; /* C element by element: sums over a whole row are of these */
    double *J, *alpha;
    double *blocks;      /* sum_i lambda_i d2C_i of curved sets */
    size_t scratch_size; /* reals of one thread's scratch */
    sinew_real *scratch; /* [thread_count][scratch_size] */
    int32_t *identity;   /* SINEW_POINT times 0, 1, 2 ..: vertices of elements that share none */
} sinew_constraints;

/* The rows of all batches that `chosen` names (of those with a Jacobian), in the order of tasks. There is room for
 * second derivatives of the batches that `curved` names; NULL: of none. Allocates; NULL on failure. */
typedef bool sinew_rows_chosen(const void *context, const sinew_batch *batch);
sinew_constraints *sinew_constraints_create(const sinew_objective *objective, sinew_rows_chosen *chosen,
                                            const void *context, sinew_rows_chosen *curved, sinew_error *error);
void sinew_constraints_destroy(sinew_constraints *constraints); /* NULL is fine */

/* C, J and alpha at q. */
void sinew_constraints_evaluate(sinew_constraints *constraints, const sinew_real *q);
/* blocks = sum_i lambda_i d2C_i at q, lambda [row_count], of curved sets. */
void sinew_constraints_curve(sinew_constraints *constraints, const sinew_real *q, const double *lambda);

/* Row of constraint i of element e of a set. */
static inline int32_t sinew_row_of(const sinew_row_set *set, int32_t element, int32_t i)
{
    return set->first_row + (set->whole ? i : element * set->constraint_count + i);
}

/* The numbers of one element. */
static inline const int32_t *sinew_row_particles(const sinew_constraints *c, const sinew_row_set *set, int32_t element)
{
    return c->particle + set->particle_at + (size_t)element * (size_t)set->vertex_count;
}
/* [vertex_count][3] of constraint i */
static inline const double *sinew_row_jacobian(const sinew_constraints *c, const sinew_row_set *set, int32_t element,
                                               int32_t i)
{
    const size_t at = (size_t)element * (size_t)set->constraint_count + (size_t)i;
    return c->J + set->jacobian_at + at * (size_t)set->vertex_count * 3;
}
static inline double sinew_row_compliance(const sinew_constraints *c, const sinew_row_set *set, int32_t element,
                                          int32_t i, int32_t j)
{
    const size_t m = (size_t)set->constraint_count;
    return c->alpha[set->compliance_at + ((size_t)element * m + (size_t)i) * m + (size_t)j];
}
/* C >= 0 is wanted of the row, where it was last evaluated, and not C = 0. */
static inline bool sinew_row_is_inequality(const sinew_constraints *c, int32_t row)
{
    return c->one_sided[row] != 0;
}

/* The set that a row belongs to; element and constraint of it (element 0 of a whole row). */
const sinew_row_set *sinew_row_owner(const sinew_constraints *constraints, int32_t row, int32_t *element, int32_t *i);
/* out [row_count] = J d, d [particle][4] */
void sinew_constraints_product(const sinew_constraints *constraints, const sinew_real *d, double *out);
/* out [particle][3] += scale J^T lambda, element after element */
void sinew_constraints_add_force(const sinew_constraints *constraints, const double *lambda, double scale, double *out);
/* out [row_count] = alpha lambda */
void sinew_constraints_comply(const sinew_constraints *constraints, const double *lambda, double *out);
/* out [row_count] = |J_i|, the norm of each row over the free particles */
void sinew_constraints_norms(const sinew_constraints *constraints, double *out);

#endif
