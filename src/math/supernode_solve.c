/* SPDX-License-Identifier: MIT
 *
 * supernode_solve.c: the triangular solves of supernode_solve.h, compiled once per SIMD variant (the instruction set
 * differs, the width is always four).
 */
#include "math/supernode_solve.h"

#include "math/simd.h"

typedef sinew_real vec4 __attribute__((vector_size(4 * sizeof(sinew_real))));

static inline vec4 load4(const sinew_real *p)
{
    vec4 r;
    memcpy(&r, __builtin_assume_aligned(p, sizeof(vec4)), sizeof r);
    return r;
}

static inline void store4(sinew_real *p, vec4 a)
{
    memcpy(__builtin_assume_aligned(p, sizeof(vec4)), &a, sizeof a);
}

/* s = L y for `height` rows of the factor L, whose entries begin at l; returns the end of the entries. The sums of the
 * rows are independent, which hides the latency of additions. */
static inline __attribute__((always_inline)) const sinew_real *
multiply_rows(const sinew_real *l, int height, int32_t columns, const sinew_real *y, vec4 s[SINEW_SUPERNODE_ROWS])
{
    for (int r = 0; r < height; r++)
        s[r] = (vec4){0};
    for (int32_t c = 0; c < columns; c++, l += height) {
        const vec4 yc = load4(y + 4 * (size_t)c);
        for (int r = 0; r < height; r++)
            s[r] += l[r] * yc;
    }
    return l;
}

/* y -= L^T x for `height` rows of the factor L, whose entries begin at l; returns the end of these entries. */
static inline __attribute__((always_inline)) const sinew_real *
subtract_columns(const sinew_real *l, int height, int32_t columns, const vec4 x[SINEW_SUPERNODE_ROWS], sinew_real *y)
{
    for (int32_t c = 0; c < columns; c++, l += height) {
        vec4 even = load4(y + 4 * (size_t)c), odd = {0};
        int r = 0;
        for (; r + 1 < height; r += 2) {
            even -= l[r] * x[r];
            odd -= l[r + 1] * x[r + 1];
        }
        if (r < height)
            even -= l[r] * x[r];
        store4(y + 4 * (size_t)c, even + odd);
    }
    return l;
}

/* Forward substitution in rows first .. first + height - 1 of a supernode's diagonal block: subtracts the products with
 * the earlier columns, then solves with the triangle of these rows. */
static inline __attribute__((always_inline)) const sinew_real *supernode_solve_block(const sinew_real *l, int height,
                                                                                     int32_t first, sinew_real *y)
{
    vec4 s[SINEW_SUPERNODE_ROWS];
    l = multiply_rows(l, height, first, y, s);
    sinew_real *own = y + 4 * (size_t)first;
    for (int r = 0; r < height; r++) {
        vec4 value = load4(own + 4 * r) - s[r];
        for (int c = 0; c < r; c++)
            value -= l[c] * s[c];
        s[r] = value * l[r];
        store4(own + 4 * r, s[r]);
        l += r + 1;
    }
    return l;
}

/* y = D^-1 y, D the lower triangular diagonal block of the supernode */
static inline void solve_diagonal(const sinew_supernode *supernode, sinew_real *y)
{
    const sinew_real *l = supernode->diagonal;
    int32_t first = 0;
    for (; first + SINEW_SUPERNODE_ROWS <= supernode->column_count; first += SINEW_SUPERNODE_ROWS)
        l = supernode_solve_block(l, SINEW_SUPERNODE_ROWS, first, y);
    if (first < supernode->column_count)
        supernode_solve_block(l, supernode->column_count - first, first, y);
}

/* Backward substitution with the transposed rows first .. first + height - 1 of a diagonal block. l points behind the
 * block's entries; returns the pointer to their start. */
static inline __attribute__((always_inline)) const sinew_real *solve_block_transposed(const sinew_real *l, int height,
                                                                                      int32_t first, sinew_real *y)
{
    vec4 x[SINEW_SUPERNODE_ROWS];
    sinew_real *own = y + 4 * (size_t)first;
    for (int r = 0; r < height; r++)
        x[r] = load4(own + 4 * r);
    for (int r = height - 1; r >= 0; r--) {
        l -= r + 1;
        x[r] *= l[r];
        for (int c = 0; c < r; c++)
            x[c] -= l[c] * x[r];
    }
    for (int r = 0; r < height; r++)
        store4(own + 4 * r, x[r]);
    l -= (size_t)height * (size_t)first;
    subtract_columns(l, height, first, x, y);
    return l;
}

/* y = D^-T y, D the lower triangular diagonal block of the supernode */
static inline void solve_diagonal_transposed(const sinew_supernode *supernode, sinew_real *y)
{
    const int32_t rest = supernode->column_count % SINEW_SUPERNODE_ROWS;
    const sinew_real *l =
        supernode->diagonal + (size_t)supernode->column_count * ((size_t)supernode->column_count + 1) / 2;
    int32_t first = supernode->column_count - rest;
    if (rest > 0)
        l = solve_block_transposed(l, rest, first, y);
    for (first -= SINEW_SUPERNODE_ROWS; first >= 0; first -= SINEW_SUPERNODE_ROWS)
        l = solve_block_transposed(l, SINEW_SUPERNODE_ROWS, first, y);
}

/* x[rows] -= L y for `height` rows of the factor L below the diagonal block, whose entries begin at l; returns the
 * end of these entries. */
static inline __attribute__((always_inline)) const sinew_real *
subtract_rows(const sinew_real *l, const int32_t *rows, int height, int32_t columns, const sinew_real *y, sinew_real *x)
{
    vec4 s[SINEW_SUPERNODE_ROWS];
    l = multiply_rows(l, height, columns, y, s);
    for (int r = 0; r < height; r++) {
        sinew_real *xr = x + 4 * (size_t)rows[r];
        store4(xr, load4(xr) - s[r]);
    }
    return l;
}

static void supernode_forward(const sinew_supernode *supernodes, int32_t count, sinew_real *x)
{
    for (int32_t k = 0; k < count; k++) {
        const sinew_supernode *supernode = &supernodes[k];
        sinew_real *y = x + 4 * (size_t)supernode->first;
        solve_diagonal(supernode, y);
        const sinew_real *l = supernode->below;
        int32_t i = 0;
        for (; i + SINEW_SUPERNODE_ROWS <= supernode->row_count; i += SINEW_SUPERNODE_ROWS)
            l = subtract_rows(l, supernode->rows + i, SINEW_SUPERNODE_ROWS, supernode->column_count, y, x);
        if (i < supernode->row_count)
            subtract_rows(l, supernode->rows + i, 4, supernode->column_count, y, x);
    }
}

/* y -= L^T x[rows] for `height` rows of the factor L below the diagonal block, whose entries begin at l; returns the
 * end of these entries. */
static inline __attribute__((always_inline)) const sinew_real *subtract_from_rows(const sinew_real *l,
                                                                                  const int32_t *rows, int height,
                                                                                  int32_t columns, const sinew_real *x,
                                                                                  sinew_real *y)
{
    vec4 xr[SINEW_SUPERNODE_ROWS];
    for (int r = 0; r < height; r++)
        xr[r] = load4(x + 4 * (size_t)rows[r]);
    return subtract_columns(l, height, columns, xr, y);
}

static void supernode_backward(const sinew_supernode *supernodes, int32_t count, sinew_real *x)
{
    for (int32_t k = count - 1; k >= 0; k--) {
        const sinew_supernode *supernode = &supernodes[k];
        sinew_real *y = x + 4 * (size_t)supernode->first;
        const sinew_real *l = supernode->below;
        int32_t i = 0;
        for (; i + SINEW_SUPERNODE_ROWS <= supernode->row_count; i += SINEW_SUPERNODE_ROWS)
            l = subtract_from_rows(l, supernode->rows + i, SINEW_SUPERNODE_ROWS, supernode->column_count, x, y);
        if (i < supernode->row_count)
            subtract_from_rows(l, supernode->rows + i, 4, supernode->column_count, x, y);
        solve_diagonal_transposed(supernode, y);
    }
}

static void supernode_gather(const sinew_real *V, int32_t rows, const sinew_real *y, sinew_real *sums)
{
    vec4 s[SINEW_SUPERNODE_ROWS];
    multiply_rows(V, 4, rows, y, s);
    for (int r = 0; r < 4; r++)
        store4(sums + 4 * r, s[r]);
}

static void supernode_spread(const sinew_real *V, int32_t rows, const sinew_real *a, sinew_real *y)
{
    vec4 x[SINEW_SUPERNODE_ROWS];
    for (int r = 0; r < 4; r++)
        x[r] = load4(a + 4 * r);
    subtract_columns(V, 4, rows, x, y);
}

extern const sinew_supernode_kernels SINEW_SIMD_SYMBOL(sinew_supernode_kernels);
const sinew_supernode_kernels SINEW_SIMD_SYMBOL(sinew_supernode_kernels) = {.forward = supernode_forward,
                                                                            .backward = supernode_backward,
                                                                            .gather = supernode_gather,
                                                                            .spread = supernode_spread};
