/* SPDX-License-Identifier: MIT
 *
 * dense.h: the dense parts of a sparse Cholesky factorisation, A = L L^T, in double whatever the library's precision;
 * and of A = L S L^T, where A need not be definite: S is diagonal, 1 or -1, or 0 where a pivot counts as none.
 *
 * Matrices lie by columns. A panel is a run of columns of L with the same rows: [rows][columns], its own rows first.
 * Kernels read whole groups of four rows and may read up to SINEW_DENSE_PAD numbers beyond the end of a panel, which
 * must be there; they write nothing beyond.
 */
#ifndef SINEW_SRC_MATH_DENSE_H
#define SINEW_SRC_MATH_DENSE_H

#include "sinew/types.h"

enum {
    SINEW_DENSE_PAD = 12,
    SINEW_DENSE_DEPTH = 256, /* columns that a product takes at a time */
    SINEW_DENSE_BLOCK = 48   /* columns that are factorised at a time */
};

/* S of a panel. A pivot d with |d| <= floor is none: its sign is 0, its column of L zero but for 1 on the diagonal. */
typedef struct sinew_dense_signs {
    double *sign;        /* [columns] */
    const double *floor; /* [columns] */
    double *pivot;       /* [columns] d as it was found, also where it is none */
} sinew_dense_signs;

typedef struct sinew_dense_kernels {
    /* C = A S B^T, S the identity where sign [depth] is NULL, at and below the diagonal, A [rows][depth], B its first
     * `columns` rows, `stride` numbers from column to column of A. C [rows][columns], both rounded up to multiples of
     * four in its strides. work: sinew_dense_work. */
    void (*product)(int32_t rows, int32_t columns, int32_t depth, const double *A, size_t stride, const double *sign,
                    double *C, double *work);
    /* Panel [rows][columns] of A in, of L out; S as well where `signs` is not NULL. Returns -1, or the column at which
     * A is not positive definite; with signs, at which the pivot is no number, or 0 with a floor of 0. C as that of a
     * product of SINEW_DENSE_BLOCK columns. */
    int32_t (*factorise)(int32_t rows, int32_t columns, double *panel, const sinew_dense_signs *signs, double *C,
                         double *work);
    /* w [rows]: the first `columns` become L11^-1 w1, the others w2 - L21 w1. */
    void (*forward)(int32_t rows, int32_t columns, const double *panel, double *w);
    /* w1 = L11^-T (w1 - L21^T w2) */
    void (*backward)(int32_t rows, int32_t columns, const double *panel, double *w);
} sinew_dense_kernels;

/* Numbers of work space for products of up to so many columns. */
static inline size_t sinew_dense_work(size_t columns)
{
    return ((columns + 3) / 4 * 4 + 16) * SINEW_DENSE_DEPTH;
}

static inline size_t sinew_dense_round(size_t count)
{
    return (count + 3) / 4 * 4;
}

#endif
