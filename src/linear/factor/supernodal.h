/* SPDX-License-Identifier: MIT
 *
 * supernodal.h: the factorisation A = L L^T of a sparse symmetric matrix in double, by supernodes (supernodes.h),
 * left-looking: each supernode subtracts the products of its descendants before it is factorised (Ng and Peyton 1993).
 * Dense work is done by the kernels of math/dense.h. An indefinite matrix is A = L S L^T, S diagonal with 1, -1 or 0,
 * in the given order, without pivoting (ldl.h states which matrices allow this).
 *
 * CHOLMOD's numeric factorisation is not used: it contains GPL code and calls BLAS. OpenBLAS starts threads when it
 * is loaded, allocates large buffers, and blocks forever if memory is short. Factorisations and solves of this file do
 * not allocate, and results depend on the matrix and the instruction set alone.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SUPERNODAL_H
#define SINEW_SRC_LINEAR_FACTOR_SUPERNODAL_H

#include "linear/symbolic/reordered_matrix.h"
#include "linear/symbolic/supernodes.h"
#include "math/dense.h"

typedef struct sinew_supernodal {
    sinew_allocator allocator;
    const sinew_dense_kernels *kernels;
    sinew_supernodes supernodes;
    size_t *start; /* [supernodes + 1] offset of each supernode's entries in values */
    /* [start[supernodes]] entries of the factor L by supernodes, each supernode followed by SINEW_DENSE_PAD zeros */
    double *values;
    int32_t *supernode_of; /* [n] index of the supernode that contains each column of the factor L */
    int32_t *row_index;    /* [n] index of each matrix row within the current supernode */
    int32_t *pending; /* [supernodes] first supernode in the list of descendants that update this one next; -1: none */
    int32_t *next;    /* [supernodes] supernode after each one in the list `pending` that contains it; -1: none */
    /* [supernodes] number of leading rows of each supernode whose updates of ancestors are done */
    int32_t *applied_rows;
    int32_t *relative; /* [largest row count of a supernode] rows of a descendant as indices in the current supernode */
    /* work space, as large as the largest update: dense product of a descendant supernode's rows with themselves */
    double *product;
    double *work;
    double *sign;  /* [n] diagonal S of signs in A = L S L^T: 1, -1 or 0; NULL: Cholesky, A = L L^T */
    double *pivot; /* [n] pivot of each column in the last factorisation A = L S L^T */
    bool single;   /* true: A and the updated supernodes are rounded to 32 bits (dense_float.h) */
} sinew_supernodal;

/* Analyses supernodes and allocates L; `elimination`, which is not kept, and `block` as in supernodes.h. False: out of
 * memory; call destroy in any case. */
bool sinew_supernodal_create(sinew_supernodal *f, const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                             const sinew_amalgamation *rule, const sinew_elimination *elimination, int32_t block);
void sinew_supernodal_destroy(sinew_supernodal *f); /* frees the factor's arrays; accepts a zeroed struct */
/* number of entries of the factor L, with the zeros that supernodes store */
int64_t sinew_supernodal_size(const sinew_supernodal *f);
/* The first function frees the values of L, the second allocates them again (false: out of memory). Pattern and work
 * space are kept. */
void sinew_supernodal_drop_values(sinew_supernodal *f);
bool sinew_supernodal_need_values(sinew_supernodal *f);

/* Computes the Cholesky factor L of A + shift I; `lower` is the lower triangle of A in the order of elimination.
 * Returns -1, or the column at which A + shift I is not positive definite or the step was interrupted (base/stop.h). */
int32_t sinew_supernodal_factorise(sinew_supernodal *f, const sinew_lower_triangle *lower, double shift);
/* Factorises A = L S L^T with a diagonal S of signs; sinew_supernodal_need_signs allocates S. floor [n]: a pivot
 * with |pivot| <= floor counts as zero. Returns -1, or the column whose pivot is not finite, or is zero with a floor
 * of 0. */
bool sinew_supernodal_need_signs(sinew_supernodal *f); /* allocates S and the pivots; false: out of memory */
int32_t sinew_supernodal_factorise_signed(sinew_supernodal *f, const sinew_lower_triangle *lower, const double *floor);
/* x = A^-1 x in place, x [n]; x is 0 for unknowns whose pivot counted as zero */
void sinew_supernodal_solve(const sinew_supernodal *f, double *x);

#endif
