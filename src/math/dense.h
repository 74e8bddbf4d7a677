/* SPDX-License-Identifier: MIT
 *
 * dense.h: the dense kernels of a sparse Cholesky factorisation A = L L^T, and of A = L S L^T for a possibly indefinite
 * A: S is diagonal with entries 1 or -1, or 0 for a pivot that counts as zero. They use double in both precisions of
 * the library.
 *
 * Matrices are stored by columns. A supernode is a range of columns of L with the same rows: [rows][columns], its own
 * rows first. Kernels read whole groups of four rows and may read up to SINEW_DENSE_PAD numbers beyond the end of a
 * supernode, which must exist; they write nothing beyond.
 */
#ifndef SINEW_SRC_MATH_DENSE_H
#define SINEW_SRC_MATH_DENSE_H

#include "sinew/types.h"

enum {
    SINEW_DENSE_PAD = 12,
    SINEW_DENSE_DEPTH = 256, /* inner dimension (columns of A) that a product processes at a time */
    SINEW_DENSE_BLOCK = 48   /* columns of a supernode that are factorised at a time */
};

/* Diagonal S of signs of a supernode in A = L S L^T, and its pivots. A pivot d with |d| <= floor counts as zero: its
 * sign is 0, and its column of L is zero except for 1 on the diagonal. */
typedef struct sinew_dense_signs {
    double *sign;        /* [columns] diagonal of S: 1, -1 or 0 */
    const double *floor; /* [columns] largest |pivot| that counts as zero */
    double *pivot;       /* [columns] pivots d, including pivots that count as zero */
} sinew_dense_signs;

/* Interruption poll of long products and factorisations; if it returns true, they return early with incomplete results.
 * NULL: no poll. */
typedef bool sinew_dense_poll(void);

typedef struct sinew_dense_kernels {
    /* C = A S B^T at and below the diagonal. S is the identity if sign [depth] is NULL. A [rows][depth] has `stride`
     * numbers from column to column; B is its first `columns` rows. C [rows][columns] is stored with both sizes
     * rounded up to multiples of four. work [sinew_dense_work(columns)]. */
    void (*product)(int32_t rows, int32_t columns, int32_t depth, const double *A, size_t stride, const double *sign,
                    double *C, double *work, sinew_dense_poll *poll);
    /* Replaces a supernode [rows][columns] of A by the supernode of its factor L, and sets the signs if `signs` is
     * not NULL. Returns -1, or a column: without signs where A is not positive definite; with signs where the pivot
     * is not finite, or is zero with a floor of 0; any column after an early return. C is the result buffer of a
     * product of SINEW_DENSE_BLOCK columns. */
    int32_t (*factorise)(int32_t rows, int32_t columns, double *supernode, const sinew_dense_signs *signs, double *C,
                         double *work, sinew_dense_poll *poll);
    /* Forward substitution with the supernode (L11; L21), L11 its first `columns` rows, and w [rows] = (w1; w2): w1
     * becomes L11^-1 w1, then w2 becomes w2 - L21 w1. */
    void (*forward)(int32_t rows, int32_t columns, const double *supernode, double *w);
    /* Backward substitution with the supernode (L11; L21), L11 its first `columns` rows, and w [rows] = (w1; w2): w1
     * becomes L11^-T (w1 - L21^T w2). */
    void (*backward)(int32_t rows, int32_t columns, const double *supernode, double *w);
} sinew_dense_kernels;

/* Size of the work space, in doubles, that products of up to `columns` columns need. */
static inline size_t sinew_dense_work(size_t columns)
{
    return ((columns + 3) / 4 * 4 + 16) * SINEW_DENSE_DEPTH;
}

/* `count` rounded up to a multiple of four. */
static inline size_t sinew_dense_round(size_t count)
{
    return (count + 3) / 4 * 4;
}

#endif
