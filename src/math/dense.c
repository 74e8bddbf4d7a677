/* SPDX-License-Identifier: MIT
 *
 * dense.c: see dense.h. Compiled once per SIMD variant (for its instruction set; the width is always four). A product
 * keeps one tile in registers (Goto and van de Geijn 2008): up to twelve rows by four columns, which fit into sixteen
 * registers of four numbers.
 */
#include "math/dense.h"

#include <math.h>

#include "math/simd.h"

typedef double quad __attribute__((vector_size(32)));
typedef double loose_quad __attribute__((vector_size(32), aligned(8), may_alias));

#ifdef __AVX__
#define TILE 3 /* number of groups of four rows in a tile of the product */
#else
#define TILE 1
#endif

enum {
    BLOCK = SINEW_DENSE_BLOCK,
    DEPTH = SINEW_DENSE_DEPTH,
    DIRECT = 8,           /* products of at most this many columns read matrix A in place, without packing */
    POLL_ROWS = 32 * TILE /* rows of a product between two polls for interruption; smaller products do not poll */
};

static inline quad dense_load_quad(const double *p)
{
    return *(const loose_quad *)p;
}

static inline void store_quad(double *p, quad a)
{
    *(loose_quad *)p = a;
}

/* One tile of a product: t[c][r] = sum over k of rows 4 r .. 4 r + 3 of column a_k times entry c of b_k */
static inline __attribute__((always_inline)) void tile_product(int quads, int32_t depth, const double *a, size_t a_step,
                                                               const double *b, size_t b_step, quad t[4][TILE])
{
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < quads; r++)
            t[c][r] = (quad){0};
    for (int32_t k = 0; k < depth; k++, a += a_step, b += b_step) {
        quad rows[TILE];
        for (int r = 0; r < quads; r++)
            rows[r] = dense_load_quad(a + 4 * r);
        for (int c = 0; c < 4; c++) {
            const quad factor = {b[c], b[c], b[c], b[c]};
            for (int r = 0; r < quads; r++)
                t[c][r] += rows[r] * factor;
        }
    }
}

static inline __attribute__((always_inline)) void put_tile(int quads, quad t[4][TILE], bool add, double *C,
                                                           size_t stride)
{
    for (size_t c = 0; c < 4; c++)
        for (int r = 0; r < quads; r++) {
            double *at = C + c * stride + 4 * r;
            store_quad(at, add ? dense_load_quad(at) + t[c][r] : t[c][r]);
        }
}

/* ---- Product C = A S B^T (dense.h) --------------------------------------------------------------------- */

/* Multiplies one tile of 4 `quads` rows of A by the first `columns` columns of B^T, four columns at a time, into C. */
static inline __attribute__((always_inline)) void row_product(int quads, int32_t columns, int32_t depth,
                                                              const double *a, size_t a_step, const double *b,
                                                              size_t b_step, size_t b_jump, bool add, double *C,
                                                              size_t stride)
{
    quad t[4][TILE];
    for (int32_t j = 0; j < columns; j += 4, b += b_jump) {
        tile_product(quads, depth, a, a_step, b, b_step, t);
        put_tile(quads, t, add, C + (size_t)j * stride, stride);
    }
}

/* Packs one group of four rows of A like pack_rows(), each column times its sign. */
static inline void pack_signed(int32_t depth, const double *A, size_t stride, const double *sign, double *out)
{
    for (int32_t k = 0; k < depth; k++, A += stride, out += 4)
        store_quad(out, sign[k] * dense_load_quad(A));
}

/* Packs `quads` groups of four rows of `depth` columns of A into consecutive memory. */
static inline void pack_rows(int quads, int32_t depth, const double *A, size_t stride, double *out)
{
    for (int32_t k = 0; k < depth; k++, A += stride)
        for (int r = 0; r < quads; r++, out += 4)
            store_quad(out, dense_load_quad(A + 4 * r));
}

typedef struct depth_pass {
    const double *A;
    size_t stride;
    int32_t depth;
    bool direct, add;
    const double *sign; /* [depth] diagonal of the signs S in A S B^T: 1, -1 or 0; NULL: identity */
    double *packed_rows, *packed_columns;
    sinew_dense_poll *poll;
} depth_pass;

static void depth_product(const depth_pass *p, int32_t rows, int32_t columns, double *C)
{
    const size_t height = sinew_dense_round((size_t)rows);
    const bool direct_columns = p->direct && !p->sign;
    for (int32_t j = 0; !direct_columns && j < columns; j += 4)
        if (p->sign)
            pack_signed(p->depth, p->A + j, p->stride, p->sign, p->packed_columns + (size_t)j * (size_t)p->depth);
        else
            pack_rows(1, p->depth, p->A + j, p->stride, p->packed_columns + (size_t)j * (size_t)p->depth);
    for (int32_t i = 0; i < rows; i += 4 * TILE) {
        if (i % POLL_ROWS == 0 && i > 0 && p->poll && p->poll())
            return;
        const int32_t left = (rows - i + 3) / 4;
        const int quads = left < TILE ? (int)left : TILE;
        const int32_t reach = i + 4 * quads < columns ? i + 4 * quads : columns;
        const double *a = p->direct ? p->A + i : p->packed_rows, *b = direct_columns ? p->A : p->packed_columns;
        const size_t a_step = p->direct ? p->stride : 4 * (size_t)quads, b_step = direct_columns ? p->stride : 4;
        const size_t jump = direct_columns ? 4 : 4 * (size_t)p->depth;
        if (!p->direct)
            pack_rows(quads, p->depth, p->A + i, p->stride, p->packed_rows);
        if (quads == TILE)
            row_product(TILE, reach, p->depth, a, a_step, b, b_step, jump, p->add, C + i, height);
        else if (quads == 2)
            row_product(TILE > 1 ? 2 : 1, reach, p->depth, a, a_step, b, b_step, jump, p->add, C + i, height);
        else
            row_product(1, reach, p->depth, a, a_step, b, b_step, jump, p->add, C + i, height);
    }
}

static void dense_product(int32_t rows, int32_t columns, int32_t depth, const double *A, size_t stride,
                          const double *sign, double *C, double *work, sinew_dense_poll *poll)
{
    for (int32_t k = 0; k < depth; k += DEPTH)
        depth_product(&(depth_pass){.A = A + (size_t)k * stride,
                                    .stride = stride,
                                    .depth = depth - k < DEPTH ? depth - k : DEPTH,
                                    .direct = columns <= DIRECT,
                                    .add = k > 0,
                                    .sign = sign ? sign + k : NULL,
                                    .packed_rows = work,
                                    .packed_columns = work + (size_t)(4 * TILE) * DEPTH,
                                    .poll = poll},
                      rows, columns, C);
}

/* ---- Factorisation of a supernode ------------------------------------------------------------ */

/* Diagonal block D of a supernode with up to BLOCK columns: entry (i, j) is stored in D[j][i], with zeros beyond its
 * size. */
typedef double square[BLOCK][BLOCK];

/* Subtracts the earlier columns of a diagonal block from its column j, up to sixteen rows at a time: D_j -= sum over k
 * < j of B_kj D_k. */
static inline __attribute__((always_inline)) void subtract_earlier_columns(int32_t n, int32_t j, square D, square B)
{
    for (int32_t i = j / 4 * 4; i < n; i += 16) {
        const int quads = n - i > 12 ? 4 : (int)((n - i + 3) / 4);
        quad s[4];
        for (int r = 0; r < quads; r++)
            s[r] = dense_load_quad(&D[j][i + 4 * r]);
        for (int32_t k = 0; k < j; k++)
            for (int r = 0; r < quads; r++)
                s[r] -= B[k][j] * dense_load_quad(&D[k][i + 4 * r]);
        for (int r = 0; r < quads; r++)
            store_quad(&D[j][i + 4 * r], s[r]);
    }
}

static int32_t factorise_square(int32_t n, square D)
{
    for (int32_t j = 0; j < n; j++) {
        subtract_earlier_columns(n, j, D, D);
        if (!(D[j][j] > 0) || !(D[j][j] < HUGE_VAL))
            return j;
        const double root = sqrt(D[j][j]), inverse = 1 / root;
        D[j][j] = root;
        for (int32_t i = j + 1; i < n; i++)
            D[j][i] *= inverse;
    }
    return -1;
}

/* Factorises the diagonal block D = L S L^T in place. B [k] = sign of column k times D [k]; inverse [j] = sign of
 * column j over its diagonal entry. Returns -1, or the column of a bad pivot. */
static int32_t factorise_signed(int32_t n, square D, square B, const sinew_dense_signs *signs, double *inverse)
{
    for (int32_t j = 0; j < n; j++) {
        subtract_earlier_columns(n, j, D, B);
        const double d = D[j][j], size = fabs(d);
        if (!(size < HUGE_VAL) || (size == 0 && signs->floor[j] == 0))
            return j;
        const double sign = size <= signs->floor[j] ? 0 : d > 0 ? 1 : -1, root = sign != 0 ? sqrt(size) : 1;
        signs->sign[j] = sign;
        signs->pivot[j] = d;
        inverse[j] = sign / root;
        D[j][j] = root;
        B[j][j] = sign * root;
        for (int32_t i = j + 1; i < n; i++) {
            D[j][i] = sign != 0 ? D[j][i] * inverse[j] : 0;
            B[j][i] = sign * D[j][i];
        }
    }
    return -1;
}

/* X = X D^-T for `quads` groups of four rows below the diagonal block D; X [n][4 quads] */
static inline __attribute__((always_inline)) void solve_rows(int quads, int32_t n, square D, const double *inverse,
                                                             double *X)
{
    const size_t height = 4 * (size_t)quads;
    for (int32_t j = 0; j < n; j += 4) {
        quad t[4][TILE];
        tile_product(quads, j, X, height, &D[0][j], BLOCK, t);
        for (int32_t c = 0; c < 4 && j + c < n; c++)
            for (int r = 0; r < quads; r++) {
                double *x = X + (size_t)(j + c) * height + 4 * r;
                quad value = dense_load_quad(x) - t[c][r];
                for (int32_t k = 0; k < c; k++)
                    value -= D[j + k][j + c] * dense_load_quad(X + (size_t)(j + k) * height + 4 * r);
                store_quad(x, value * inverse[j + c]);
            }
    }
}

/* Solves for the rows of a supernode below its diagonal block, one tile at a time, in a buffer of whole groups of four
 * rows. */
static void solve_below(int32_t rows, int32_t n, square D, const double *inverse, double *below, size_t stride)
{
    double X[BLOCK * 4 * TILE];
    for (int32_t i = 0; i < rows; i += 4 * TILE) {
        const int32_t count = rows - i < 4 * TILE ? rows - i : 4 * TILE;
        const int quads = (int)((count + 3) / 4);
        const size_t height = 4 * (size_t)quads;
        for (int32_t j = 0; j < n; j++)
            for (int r = 0; r < quads; r++)
                store_quad(X + (size_t)j * height + 4 * r, dense_load_quad(below + (size_t)j * stride + i + 4 * r));
        if (quads == TILE)
            solve_rows(TILE, n, D, inverse, X);
        else if (quads == 2)
            solve_rows(TILE > 1 ? 2 : 1, n, D, inverse, X);
        else
            solve_rows(1, n, D, inverse, X);
        for (int32_t j = 0; j < n; j++)
            memcpy(below + (size_t)j * stride + i, X + (size_t)j * height, (size_t)count * sizeof *X);
    }
}

/* Factorises columns first .. first + n - 1 of the supernode, from which all earlier columns have been subtracted.
 * Returns -1, or the column of a pivot that is not positive and finite (with signs: not finite, or zero without a
 * floor). */
static int32_t factorise_block(int32_t rows, int32_t first, int32_t n, double *supernode,
                               const sinew_dense_signs *signs)
{
    const size_t stride = (size_t)rows;
    double *top = supernode + (size_t)first * stride + first, inverse[BLOCK];
    square D, B;
    for (int32_t j = 0; j < BLOCK; j++)
        for (int32_t i = 0; i < BLOCK; i++)
            D[j][i] = i >= j && i < n && j < n ? top[(size_t)j * stride + (size_t)i] : 0;
    for (int32_t j = 0; signs && j < n; j++)
        memset(B[j], 0, sizeof B[j]);
    const sinew_dense_signs own =
        signs ? (sinew_dense_signs){signs->sign + first, signs->floor + first, signs->pivot + first}
              : (sinew_dense_signs){0};
    const int32_t bad = signs ? factorise_signed(n, D, B, &own, inverse) : factorise_square(n, D);
    if (bad >= 0)
        return first + bad;
    for (int32_t j = 0; j < n; j++) {
        memcpy(top + (size_t)j * stride + j, &D[j][j], (size_t)(n - j) * sizeof D[0][0]);
        inverse[j] = signs ? inverse[j] : 1 / D[j][j];
    }
    solve_below(rows - first - n, n, signs ? B : D, inverse, top + n, stride);
    return -1;
}

static int32_t dense_factorise(int32_t rows, int32_t columns, double *supernode, const sinew_dense_signs *signs,
                               double *C, double *work, sinew_dense_poll *poll)
{
    const size_t stride = (size_t)rows;
    for (int32_t first = 0; first < columns; first += BLOCK) {
        const int32_t n = columns - first < BLOCK ? columns - first : BLOCK, below = rows - first;
        if (first > 0) {
            if (poll && poll())
                return first;
            const size_t height = sinew_dense_round((size_t)below);
            dense_product(below, n, first, supernode + first, stride, signs ? signs->sign : NULL, C, work, poll);
            for (int32_t j = 0; j < n; j++) {
                double *out = supernode + (size_t)(first + j) * stride + first;
                const double *c = C + (size_t)j * height;
                for (int32_t i = j; i < below; i++)
                    out[i] -= c[i];
            }
        }
        const int32_t bad = factorise_block(rows, first, n, supernode, signs);
        if (bad >= 0)
            return bad;
    }
    return -1;
}

/* ---- Solves with one right-hand side --------------------------------------------------------- */

static void dense_forward(int32_t rows, int32_t columns, const double *supernode, double *w)
{
    const size_t stride = (size_t)rows;
    int32_t j = 0;
    for (; j + 1 < columns; j += 2) {
        const double *l0 = supernode + (size_t)j * stride, *l1 = l0 + stride;
        const double w0 = w[j] / l0[j], w1 = (w[j + 1] - w0 * l0[j + 1]) / l1[j + 1];
        w[j] = w0;
        w[j + 1] = w1;
        for (int32_t i = j + 2; i < rows; i++)
            w[i] -= l0[i] * w0 + l1[i] * w1;
    }
    if (j < columns) {
        const double *l = supernode + (size_t)j * stride, own = w[j] /= l[j];
        for (int32_t i = j + 1; i < rows; i++)
            w[i] -= l[i] * own;
    }
}

/* Inner product: sum of l_i w_i over first .. last-1, in sixteen partial sums */
static double dot_range(const double *l, const double *w, int32_t first, int32_t last)
{
    quad s[4] = {{0}, {0}, {0}, {0}};
    double rest = 0;
    int32_t i = first;
    for (; i + 16 <= last; i += 16)
        for (int r = 0; r < 4; r++)
            s[r] += dense_load_quad(l + i + 4 * r) * dense_load_quad(w + i + 4 * r);
    for (; i < last; i++)
        rest += l[i] * w[i];
    const quad all = (s[0] + s[1]) + (s[2] + s[3]);
    return ((all[0] + all[1]) + (all[2] + all[3])) + rest;
}

static void dense_backward(int32_t rows, int32_t columns, const double *supernode, double *w)
{
    for (int32_t j = columns - 1; j >= 0; j--) {
        const double *l = supernode + (size_t)j * (size_t)rows;
        w[j] = (w[j] - dot_range(l, w, j + 1, rows)) / l[j];
    }
}

extern const sinew_dense_kernels SINEW_SIMD_SYMBOL(sinew_dense_kernels);
const sinew_dense_kernels SINEW_SIMD_SYMBOL(sinew_dense_kernels) = {
    .product = dense_product,
    .factorise = dense_factorise,
    .forward = dense_forward,
    .backward = dense_backward,
};
