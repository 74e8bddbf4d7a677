/* SPDX-License-Identifier: MIT
 *
 * supernodal.h: the factorisation A = L L^T of a sparse symmetric matrix in double, by panels (supernodes.h), each of which
 * takes in what those before it have to say (Ng and Peyton 1993, left-looking). What is dense goes through the kernels
 * of math/dense.h. A matrix that need not be definite is A = L S L^T, S diagonal with 1, -1 or 0, in the order given:
 * pivots are not exchanged (ldl.h says which matrices bear that).
 *
 * CHOLMOD's own numeric factorisation is not used: it calls BLAS, and the one that is fast, OpenBLAS, starts threads
 * when it is loaded, takes large buffers, and waits for ever where memory is short. Nothing here allocates after
 * creation, and the bits depend on the matrix and the instruction set alone.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SUPERNODAL_H
#define SINEW_SRC_LINEAR_FACTOR_SUPERNODAL_H

#include "linear/factor/supernodes.h"
#include "math/dense.h"

typedef struct sinew_supernodal {
    sinew_allocator allocator;
    const sinew_dense_kernels *kernels;
    sinew_panels panels;
    size_t *start;      /* [panels + 1] into values */
    double *values;     /* panels of L, each followed by SINEW_DENSE_PAD fillers */
    int32_t *panel_of;  /* [n] */
    int32_t *place;     /* [n] of a row within the panel at work */
    int32_t *waiting;   /* [panels] first panel that next changes this one, -1: none */
    int32_t *next;      /* [panels] the next of those */
    int32_t *done_rows; /* [panels] rows of a panel that have been applied to later ones */
    int32_t *relative;  /* [most rows of a panel] */
    double *product;    /* products of panels */
    double *work;
    double *sign;  /* [n] S; NULL: A is positive definite, A = L L^T */
    double *pivot; /* [n] of the last factorisation with S */
    bool single;   /* A and its differences with products are rounded to 32 bits, as kernels of dense_float.h do */
} sinew_supernodal;

/* `upper` and `columns` as in supernodes.h. False without memory; destroy in any case. */
bool sinew_supernodal_create(sinew_supernodal *f, const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                             const sinew_panel_rule *rule, const cholmod_sparse *upper,
                             const SuiteSparse_long *columns);
void sinew_supernodal_destroy(sinew_supernodal *f);       /* zeroed is fine */
int64_t sinew_supernodal_size(const sinew_supernodal *f); /* numbers in L */
/* Gives the numbers of L back, and makes room for them again: false without memory. Pattern and work space stay. */
void sinew_supernodal_drop_values(sinew_supernodal *f);
bool sinew_supernodal_need_values(sinew_supernodal *f);

/* L of A + shift I; `lower` is the lower triangle of A in the order of elimination. Returns -1, or the column at which
 * A + shift I is not positive definite. */
int32_t sinew_supernodal_factorise(sinew_supernodal *f, const cholmod_sparse *lower, double shift);
/* The same with S, which is allocated by sinew_supernodal_need_signs: floor [n], |pivot| <= floor counts as none.
 * Returns -1, or the column whose pivot is no number, or 0 with a floor of 0. */
bool sinew_supernodal_need_signs(sinew_supernodal *f); /* false without memory */
int32_t sinew_supernodal_factorise_signed(sinew_supernodal *f, const cholmod_sparse *lower, const double *floor);
/* x = A^-1 x, [n]; unknowns whose pivot was none are 0 */
void sinew_supernodal_solve(const sinew_supernodal *f, double *x);

#endif
