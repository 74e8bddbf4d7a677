/* SPDX-License-Identifier: MIT
 *
 * test_decompose.c: the 3x3 decompositions of every SIMD variant that this processor has, on a million random and
 * degenerate matrices, against their definitions (in long double) and against LAPACK.
 *
 * The best variant decomposes all matrices, the others the first tenth. LAPACK, in double, checks every seventh matrix.
 * Requirements, with tolerance = 4e-15 (double) or 5e-7 (single) and Frobenius norms:
 *
 * - SVD: |U diag(sigma) V^T - F| <= tolerance |F|; |U^T U - I|, |V^T V - I| and |det - 1| <= tolerance; sigma is
 *   ordered, and sigma2 has the sign of det F unless it is round-off; sigma equals LAPACK's to tolerance |F|.
 *
 * - polar: R is a rotation to tolerance; tr(R^T F) >= sigma0 + sigma1 + sigma2 - tolerance |F| and |R^T F - F^T R| <=
 *   tolerance |F|, also where R is not unique; |R - R of LAPACK| <= tolerance max(1, 2 |F| / (sigma1 + sigma2)), which
 *   is the condition of R.
 *
 * - 3x2: R^T R = I to tolerance; S = R^T F is symmetric and semi-definite, |R S - F| <= tolerance |F|; |R - R of
 *   LAPACK| <= tolerance max(1, 2 |F| / sigma1).
 *
 * - eigen: |Q diag(w) Q^T - A| <= tolerance |A|; Q is a rotation; w is ordered and equals LAPACK's to tolerance |A|.
 *
 * LAPACK's own error |U diag(s) V^T - F| / |F|, up to 8e-15, is measured on each matrix and added to the tolerance.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "math/small/decompose_batch.h"

#ifdef SINEW_SINGLE
static const double tolerance = 5e-7, decades = 30;
#else
static const double tolerance = 4e-15, decades = 100;
#endif

enum {
    MATRIX_COUNT = 1000000,
    BLOCK = 2048,    /* matrices at a time; a multiple of every width */
    LAPACK_EVERY = 7 /* not a divisor of the number of kinds */
};

typedef long double wide;

/* LAPACK, with Fortran's calling convention: column-major, everything by address. */
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *info);
void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *lwork, int *info);

/* ---- Matrices ---------------------------------------------------------------------------------- */

static uint64_t next_bits(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(next_bits(state) >> 11) * 0x1p-53);
}

static int choice(uint64_t *state, int count)
{
    return (int)(next_bits(state) % (uint64_t)count);
}

static void random_rotation(uint64_t *state, double R[9])
{
    double w, x, y, z, n;
    do {
        w = uniform(state, -1, 1), x = uniform(state, -1, 1), y = uniform(state, -1, 1), z = uniform(state, -1, 1);
        n = w * w + x * x + y * y + z * z;
    } while (n > 1 || n < 0.01);
    double s = 2 / n;
    double rows[9] = {1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
                      s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
                      s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
    memcpy(R, rows, sizeof rows);
}

/* F = U diag(a, b, c) V^T with random rotations */
static void compose(uint64_t *state, double a, double b, double c, double F[9])
{
    double U[9], V[9];
    random_rotation(state, U);
    random_rotation(state, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            F[3 * i + j] = U[3 * i] * a * V[3 * j] + U[3 * i + 1] * b * V[3 * j + 1] + U[3 * i + 2] * c * V[3 * j + 2];
}

static void make_random(uint64_t *state, double F[9])
{
    for (int i = 0; i < 9; i++)
        F[i] = uniform(state, -1, 1);
}

static void make_near_rest(uint64_t *state, double F[9])
{
    double size = pow(10, uniform(state, -17, -1));
    for (int i = 0; i < 9; i++)
        F[i] = (i % 4 == 0) + size * uniform(state, -1, 1);
}

static void make_zero(uint64_t *state, double F[9])
{
    double zero = choice(state, 2) ? 0.0 : -0.0;
    for (int i = 0; i < 9; i++)
        F[i] = zero;
}

static void make_rank_1(uint64_t *state, double F[9])
{
    double a[6];
    for (int i = 0; i < 6; i++)
        a[i] = choice(state, 4) ? uniform(state, -1, 1) : 0;
    for (int i = 0; i < 9; i++)
        F[i] = a[i / 3] * a[3 + i % 3];
}

static void make_rank_2(uint64_t *state, double F[9])
{
    double G[9], small = choice(state, 2) ? 1 : pow(10, uniform(state, -16, 0));
    make_rank_1(state, F);
    make_rank_1(state, G);
    for (int i = 0; i < 9; i++)
        F[i] += small * G[i];
}

static void make_two_equal(uint64_t *state, double F[9])
{
    double a = uniform(state, 0.1, 2), b = choice(state, 2) ? uniform(state, -2, 2) : 0;
    compose(state, a, a, b, F);
}

static void make_three_equal(uint64_t *state, double F[9])
{
    double a = uniform(state, 0.1, 2);
    compose(state, a, a, a, F);
}

static void make_reflection(uint64_t *state, double F[9])
{
    double a = choice(state, 2) ? 1 : uniform(state, 0.1, 2);
    random_rotation(state, F);
    for (int i = 0; i < 9; i++)
        F[i] *= -a;
}

/* A near reflection: sigma1 + sigma2 ranges from zero to large. */
static void make_near_reflection(uint64_t *state, double F[9])
{
    double b = uniform(state, 0.01, 1), gap = pow(10, uniform(state, -18, 0));
    compose(state, choice(state, 2) ? 1 : b, b, -b * (1 - gap), F);
}

static void make_graded(uint64_t *state, double F[9])
{
    double sign = choice(state, 2) ? 1 : -1;
    compose(state, 1, pow(10, uniform(state, -16, 0)), sign * pow(10, uniform(state, -16, 0)), F);
}

static void make_permutation(uint64_t *state, double F[9])
{
    int first = choice(state, 3), second = (first + 1 + choice(state, 2)) % 3,
        columns[3] = {first, second, 3 - first - second};
    memset(F, 0, 9 * sizeof *F);
    for (int i = 0; i < 3; i++)
        F[3 * i + columns[i]] = choice(state, 2) ? 1 : -1;
}

static void make_diagonal(uint64_t *state, double F[9])
{
    make_permutation(state, F);
    for (int i = 0; i < 9; i++)
        F[i] *= choice(state, 4) ? uniform(state, -1, 1) : 1;
}

/* Small integers: many exact ties and rank deficiencies. */
static void make_integers(uint64_t *state, double F[9])
{
    for (int i = 0; i < 9; i++)
        F[i] = choice(state, 3) - 1;
}

static void make_scaled(uint64_t *state, double F[9])
{
    double size = pow(10, uniform(state, -decades, decades));
    make_random(state, F);
    for (int i = 0; i < 9; i++)
        F[i] *= size;
}

static void make_mixed_scales(uint64_t *state, double F[9])
{
    double range = choice(state, 2) ? decades : 17;
    for (int i = 0; i < 9; i++)
        F[i] = uniform(state, -1, 1) * pow(10, uniform(state, -range, range));
}

typedef struct matrix_kind {
    const char *name;
    void (*make)(uint64_t *state, double F[9]);
} matrix_kind;

static const matrix_kind kinds[] = {
    {"random", make_random},
    {"near rest", make_near_rest},
    {"zero", make_zero},
    {"rank 1", make_rank_1},
    {"rank 2", make_rank_2},
    {"two equal", make_two_equal},
    {"three equal", make_three_equal},
    {"rotation", random_rotation},
    {"reflection", make_reflection},
    {"near reflection", make_near_reflection},
    {"graded", make_graded},
    {"permutation", make_permutation},
    {"diagonal", make_diagonal},
    {"integers", make_integers},
    {"scaled", make_scaled},
    {"mixed scales", make_mixed_scales},
};
enum {
    KIND_COUNT = sizeof kinds / sizeof kinds[0]
};

static void make_matrix(size_t number, sinew_real F[9])
{
    uint64_t state = number * 0x2545f4914f6cdd1du + 1;
    double G[9];
    kinds[number % KIND_COUNT].make(&state, G);
    for (int i = 0; i < 9; i++)
        F[i] = (sinew_real)G[i];
}

/* ---- Decompositions of one block of matrices ----------------------------------------------------- */

/* Inputs and results. F, U, V, R, Q [BLOCK][9], F32, R32, A [BLOCK][6], sigma, w [BLOCK][3]. */
typedef struct results {
    sinew_real F[BLOCK * 9], U[BLOCK * 9], sigma[BLOCK * 3], V[BLOCK * 9], R[BLOCK * 9];
    sinew_real F32[BLOCK * 6], R32[BLOCK * 6], U32[BLOCK * 9], sigma32[BLOCK * 2], V32[BLOCK * 4];
    sinew_real A[BLOCK * 6], w[BLOCK * 3], Q[BLOCK * 9];
} results;

typedef struct grouped {
    _Alignas(SINEW_ALIGNMENT) sinew_real in[BLOCK * 9], a[BLOCK * 9], b[BLOCK * 9], c[BLOCK * 9];
} grouped;

static void pack(const sinew_real *from, sinew_real *to, int entries, int width)
{
    for (int m = 0; m < BLOCK; m++)
        for (int i = 0; i < entries; i++)
            to[(m / width * entries + i) * width + m % width] = from[m * entries + i];
}

static void unpack(const sinew_real *from, sinew_real *to, int entries, int width)
{
    for (int m = 0; m < BLOCK; m++)
        for (int i = 0; i < entries; i++)
            to[m * entries + i] = from[(m / width * entries + i) * width + m % width];
}

/* The 3x2 input has two columns of F; the symmetric input is the symmetric part of F. */
static void derive_inputs(results *r)
{
    for (int m = 0; m < BLOCK; m++) {
        const sinew_real *F = r->F + 9 * m;
        const sinew_real half = (sinew_real)0.5;
        const sinew_real two_columns[6] = {F[0], F[1], F[3], F[4], F[6], F[7]};
        const sinew_real symmetric[6] = {
            F[0], F[4], F[8], half * (F[1] + F[3]), half * (F[2] + F[6]), half * (F[5] + F[7])};
        memcpy(r->F32 + 6 * m, two_columns, sizeof two_columns);
        memcpy(r->A + 6 * m, symmetric, sizeof symmetric);
    }
}

static void decompose(const sinew_decompose_batch *variant, results *r, grouped *g)
{
    const int width = variant->width;
    const size_t groups = BLOCK / (size_t)width;
    pack(r->F, g->in, 9, width);
    variant->svd3(groups, g->in, g->a, g->b, g->c);
    unpack(g->a, r->U, 9, width);
    unpack(g->b, r->sigma, 3, width);
    unpack(g->c, r->V, 9, width);
    variant->polar3(groups, g->in, g->a);
    unpack(g->a, r->R, 9, width);
    pack(r->F32, g->in, 6, width);
    variant->polar32(groups, g->in, g->a);
    unpack(g->a, r->R32, 6, width);
    variant->svd32(groups, g->in, g->a, g->b, g->c);
    unpack(g->a, r->U32, 9, width);
    unpack(g->b, r->sigma32, 2, width);
    unpack(g->c, r->V32, 4, width);
    pack(r->A, g->in, 6, width);
    variant->eigen3(groups, g->in, g->a, g->b);
    unpack(g->a, r->w, 3, width);
    unpack(g->b, r->Q, 9, width);
}

/* ---- Measures ------------------------------------------------------------------------------------ */

/* Kinds of errors. A tally keeps the largest error of each, in units of its bound, and the kind of matrix that caused
 * it. */
typedef enum measure {
    SVD_RESIDUAL,
    SVD_U,
    SVD_V,
    SVD_ORDER, /* 0 or 1 */
    SVD_SIGN,  /* 0 or 1 */
    SVD_LAPACK,
    POLAR_ROTATION,
    POLAR_TRACE,
    POLAR_SYMMETRIC,
    POLAR_LAPACK,
    POLAR32_COLUMNS,
    POLAR32_RESIDUAL,
    POLAR32_SEMIDEFINITE,
    POLAR32_LAPACK,
    SVD32_RESIDUAL,
    SVD32_ROTATIONS,
    SVD32_ORDER, /* 0 or 1 */
    EIGEN_RESIDUAL,
    EIGEN_Q,
    EIGEN_ORDER, /* 0 or 1 */
    EIGEN_LAPACK,
    MEASURE_COUNT
} measure;

static const char *const measure_names[MEASURE_COUNT] = {"svd residual",      "svd U",         "svd V",
                                                         "svd order",         "svd sign",      "svd lapack",
                                                         "polar rotation",    "polar trace",   "polar symmetric",
                                                         "polar lapack",      "3x2 columns",   "3x2 residual",
                                                         "3x2 semidefinite",  "3x2 lapack",    "3x2 svd residual",
                                                         "3x2 svd rotations", "3x2 svd order", "eigen residual",
                                                         "eigen Q",           "eigen order",   "eigen lapack"};

typedef struct tally {
    double worst[MEASURE_COUNT];
    const char *kind[MEASURE_COUNT];
    const char *current;
} tally;

static void note(tally *t, measure what, wide error)
{
    if (!(error <= t->worst[what])) { /* true for NaN as well */
        t->worst[what] = isnan(error) ? INFINITY : (double)error;
        t->kind[what] = t->current;
    }
}

static wide norm(const sinew_real *a, int count)
{
    wide sum = 0;
    for (int i = 0; i < count; i++)
        sum += (wide)a[i] * a[i];
    return sqrtl(sum);
}

/* |A^T A - I| for A with three rows */
static wide not_orthonormal(const sinew_real *A, int columns)
{
    wide sum = 0;
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < columns; j++) {
            wide dot = -(wide)(i == j);
            for (int k = 0; k < 3; k++)
                dot += (wide)A[columns * k + i] * A[columns * k + j];
            sum += dot * dot;
        }
    return sqrtl(sum);
}

static wide determinant3(const double F[9])
{
    wide a = (wide)F[4] * F[8] - (wide)F[5] * F[7], b = (wide)F[5] * F[6] - (wide)F[3] * F[8];
    wide c = (wide)F[3] * F[7] - (wide)F[4] * F[6];
    return F[0] * a + F[1] * b + F[2] * c;
}

static wide determinant(const sinew_real F[9])
{
    const double G[9] = {F[0], F[1], F[2], F[3], F[4], F[5], F[6], F[7], F[8]};
    return determinant3(G);
}

static wide not_rotation(const sinew_real R[9])
{
    return fmaxl(not_orthonormal(R, 3), fabsl(determinant(R) - 1));
}

/* |U diag(s) V^T - F| */
static wide residual(const sinew_real U[9], const sinew_real s[3], const sinew_real V[9], const sinew_real F[9])
{
    wide sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            wide difference = -(wide)F[3 * i + j];
            for (int k = 0; k < 3; k++)
                difference += (wide)U[3 * i + k] * s[k] * V[3 * j + k];
            sum += difference * difference;
        }
    return sqrtl(sum);
}

/* error / size, where a zero size allows no error */
static wide relative(wide error, wide size)
{
    return error == 0 ? 0 : error / size;
}

static void measure_svd(tally *t, const sinew_real F[9], const sinew_real U[9], const sinew_real s[3],
                        const sinew_real V[9])
{
    wide size = norm(F, 9), det = determinant(F);
    note(t, SVD_RESIDUAL, relative(residual(U, s, V, F), size));
    note(t, SVD_U, not_rotation(U));
    note(t, SVD_V, not_rotation(V));
    note(t, SVD_ORDER, !(s[0] >= s[1] && s[1] >= (sinew_real)fabs((double)s[2])));
    /* The sign of sigma2 is defined only if sigma2 exceeds the round-off of F and det F exceeds its own. */
    bool meaningful = fabsl((wide)s[2]) > tolerance * size && fabsl(det) > 1e-18L * size * size * size;
    note(t, SVD_SIGN, meaningful && (s[2] < 0) != (det < 0));
}

static void measure_polar(tally *t, const sinew_real F[9], const sinew_real s[3], const sinew_real R[9])
{
    wide trace = 0;
    for (int i = 0; i < 9; i++)
        trace += (wide)R[i] * F[i];
    wide skew = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            wide difference = 0;
            for (int k = 0; k < 3; k++)
                difference += (wide)R[3 * k + i] * F[3 * k + j] - (wide)R[3 * k + j] * F[3 * k + i];
            skew += difference * difference;
        }
    note(t, POLAR_ROTATION, not_rotation(R));
    note(t, POLAR_SYMMETRIC, relative(sqrtl(skew), norm(F, 9)));
    note(t, POLAR_TRACE, relative(fmaxl(0, (wide)s[0] + s[1] + s[2] - trace), norm(F, 9)));
}

static void measure_polar32(tally *t, const sinew_real F[6], const sinew_real R[6])
{
    wide S[4] = {0}, size = norm(F, 6), sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++)
                S[2 * i + j] += (wide)R[2 * k + i] * F[2 * k + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            wide difference = R[2 * i] * S[j] + R[2 * i + 1] * S[2 + j] - F[2 * i + j];
            sum += difference * difference;
        }
    wide off = (S[1] + S[2]) / 2, skew = fabsl(S[1] - S[2]);
    wide smallest = (S[0] + S[3]) / 2 - hypotl((S[0] - S[3]) / 2, off);
    note(t, POLAR32_COLUMNS, not_orthonormal(R, 2));
    note(t, POLAR32_RESIDUAL, relative(sqrtl(sum) + skew, size));
    note(t, POLAR32_SEMIDEFINITE, relative(fmaxl(0, -smallest), size));
}

static void measure_svd32(tally *t, const sinew_real F[6], const sinew_real U[9], const sinew_real s[2],
                          const sinew_real V[4])
{
    wide sum = 0;
    for (int i = 0; i < 6; i++) {
        wide difference = -(wide)F[i];
        for (int k = 0; k < 2; k++)
            difference += (wide)U[3 * (i / 2) + k] * s[k] * V[2 * (i % 2) + k];
        sum += difference * difference;
    }
    const wide unit = (wide)V[0] * V[0] + (wide)V[2] * V[2] - 1;
    note(t, SVD32_RESIDUAL, relative(sqrtl(sum), norm(F, 6)));
    note(t, SVD32_ROTATIONS, fmaxl(not_rotation(U), fabsl(unit)));
    note(t, SVD32_ORDER, !(s[0] >= s[1] && s[1] >= 0 && V[0] == V[3] && V[1] == -V[2]));
}

static void measure_eigen(tally *t, const sinew_real a[6], const sinew_real w[3], const sinew_real Q[9])
{
    const sinew_real A[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
    note(t, EIGEN_RESIDUAL, relative(residual(Q, w, Q, A), norm(A, 9)));
    note(t, EIGEN_Q, not_rotation(Q));
    note(t, EIGEN_ORDER, !(w[0] >= w[1] && w[1] >= w[2]));
}

/* ---- LAPACK ---------------------------------------------------------------------------------------- */

/* s and R = U V^T of F = U diag(s) V^T, 3 x columns; the signs of s[2] and R make a square R a rotation. Returns
 * LAPACK's own error |U diag(s) V^T - F| / |F|. */
static wide lapack_polar(const sinew_real *F, int columns, double s[3], double R[9])
{
    const int rows = 3, lwork = 64;
    double a[9], v[9], u[9], work[64]; /* V_ic = v[c * columns + i], U_jc = u[j * columns + c] */
    int info;
    /* Row-major F is column-major F^T = V diag(s) U^T. */
    for (int i = 0; i < 3 * columns; i++)
        a[i] = (double)F[i];
    dgesvd_("S", "S", &columns, &rows, a, &columns, s, v, &columns, u, &columns, work, &lwork, &info);
    assert_int_equal(info, 0);
    wide sum = 0;
    double sign = columns == 3 && determinant3(u) * determinant3(v) < 0 ? -1 : 1;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < columns; i++) {
            wide entry = 0, difference = -(wide)F[columns * j + i];
            for (int c = 0; c < columns; c++) {
                wide product = (wide)u[j * columns + c] * v[c * columns + i];
                entry += c == 2 ? sign * product : product;
                difference += product * s[c];
            }
            R[columns * j + i] = (double)entry;
            sum += difference * difference;
        }
    if (columns == 3)
        s[2] *= sign;
    return relative(sqrtl(sum), norm(F, 3 * columns));
}

static wide distance(const sinew_real *a, const double *b, int count)
{
    wide sum = 0;
    for (int i = 0; i < count; i++)
        sum += ((wide)a[i] - b[i]) * ((wide)a[i] - b[i]);
    return sqrtl(sum);
}

/* The error of a polar factor over its condition number, less LAPACK's own error. */
static wide has_hard(wide error, wide size, wide gap, wide own)
{
    wide condition = fmaxl(1, 2 * size / fmaxl(gap, 1e-30L * size));
    return size > 0 ? fmaxl(0, error / condition - own) : 0;
}

static void compare_with_lapack(tally *t, const results *r, int m)
{
    const int n = 3, lwork = 64;
    double s[3], R[9], work[64];
    int info;
    wide size = norm(r->F + 9 * m, 9);
    wide own = lapack_polar(r->F + 9 * m, 3, s, R);
    note(t, POLAR_LAPACK, has_hard(distance(r->R + 9 * m, R, 9), size, (wide)s[1] + s[2], own));
    s[2] = copysign(s[2], (double)r->sigma[3 * m + 2]); /* where det F is round-off its sign is arbitrary */
    note(t, SVD_LAPACK, fmaxl(0, relative(distance(r->sigma + 3 * m, s, 3), size) - own));

    wide size32 = norm(r->F32 + 6 * m, 6);
    own = lapack_polar(r->F32 + 6 * m, 2, s, R);
    note(t, POLAR32_LAPACK, has_hard(distance(r->R32 + 6 * m, R, 6), size32, s[1], own));

    const sinew_real *a = r->A + 6 * m;
    double A[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
    dsyev_("V", "U", &n, A, &n, s, work, &lwork, &info);
    assert_int_equal(info, 0);
    const double descending[3] = {s[2], s[1], s[0]};
    wide size_A = hypotl(norm(a, 6), norm(a + 3, 3));
    note(t, EIGEN_LAPACK, relative(distance(r->w + 3 * m, descending, 3), size_A));
}

/* ---- Tests ----------------------------------------------------------------------------------------- */

static void run_variant(const sinew_decompose_batch *variant, size_t matrix_count, tally *t)
{
    results *r = malloc(sizeof *r);
    grouped *g = aligned_alloc(SINEW_ALIGNMENT, sizeof *g);
    assert_non_null(r);
    assert_non_null(g);
    for (size_t first = 0; first < matrix_count; first += BLOCK) {
        for (size_t m = 0; m < BLOCK; m++)
            make_matrix(first + m, r->F + 9 * m);
        derive_inputs(r);
        decompose(variant, r, g);
        for (int m = 0; m < BLOCK; m++) {
            t->current = kinds[(first + (size_t)m) % KIND_COUNT].name;
            measure_svd(t, r->F + 9 * m, r->U + 9 * m, r->sigma + 3 * m, r->V + 9 * m);
            measure_polar(t, r->F + 9 * m, r->sigma + 3 * m, r->R + 9 * m);
            measure_polar32(t, r->F32 + 6 * m, r->R32 + 6 * m);
            measure_svd32(t, r->F32 + 6 * m, r->U32 + 9 * m, r->sigma32 + 2 * m, r->V32 + 4 * m);
            measure_eigen(t, r->A + 6 * m, r->w + 3 * m, r->Q + 9 * m);
            if (m % LAPACK_EVERY == 0)
                compare_with_lapack(t, r, m);
        }
    }
    free(r);
    free(g);
}

static void holds_for_a_million_matrices(void **state)
{
    (void)state;
    int32_t count, failures = 0;
    const sinew_decompose_batch *const *variants = sinew_decompose_variants(&count);
    assert_true(count >= 1);
    for (int32_t i = 0; i < count; i++) {
        tally t = {0};
        run_variant(variants[i], i == 0 ? MATRIX_COUNT : MATRIX_COUNT / 10, &t);
        for (int what = 0; what < MEASURE_COUNT; what++) {
            bool good = t.worst[what] <= tolerance;
            failures += !good;
            print_message("%-6s %-16s %.2e%s%s%s\n", variants[i]->name, measure_names[what], t.worst[what],
                          t.kind[what] ? " at " : "", t.kind[what] ? t.kind[what] : "", good ? "" : "  TOO LARGE");
        }
    }
    assert_int_equal(failures, 0);
}

/* The largest and smallest representable numbers: bases stay orthonormal, and no intermediate result overflows. */
static void holds_at_the_ends_of_the_range(void **state)
{
    (void)state;
#ifdef SINEW_SINGLE
    static const double sizes[] = {0x1p-149, 0x1p-140, 0x1p-126, 0x1p100, 0x1p125};
#else
    static const double sizes[] = {0x1p-1074, 0x1p-1060, 0x1p-1022, 0x1p900, 0x1p1021};
#endif
    int32_t count;
    const sinew_decompose_batch *const *variants = sinew_decompose_variants(&count);
    results *r = malloc(sizeof *r);
    grouped *g = aligned_alloc(SINEW_ALIGNMENT, sizeof *g);
    assert_non_null(r);
    assert_non_null(g);
    for (int m = 0; m < BLOCK; m++) {
        uint64_t bits = (uint64_t)m;
        for (int i = 0; i < 9; i++)
            r->F[9 * m + i] = (sinew_real)(uniform(&bits, -1, 1) * sizes[m % 5]);
    }
    derive_inputs(r);
    for (int32_t i = 0; i < count; i++) {
        tally t = {0};
        decompose(variants[i], r, g);
        for (int m = 0; m < BLOCK; m++) {
            note(&t, SVD_U, not_rotation(r->U + 9 * m));
            note(&t, SVD_V, not_rotation(r->V + 9 * m));
            note(&t, POLAR_ROTATION, not_rotation(r->R + 9 * m));
            note(&t, POLAR32_COLUMNS, not_orthonormal(r->R32 + 6 * m, 2));
            note(&t, EIGEN_Q, not_rotation(r->Q + 9 * m));
            assert_true(isfinite(r->sigma[3 * m]) && isfinite(r->w[3 * m]));
        }
        for (int what = 0; what < MEASURE_COUNT; what++)
            assert_true(t.worst[what] <= tolerance);
    }
    free(r);
    free(g);
}

static void assert_same(const sinew_real *a, const sinew_real *b, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(a[i] == b[i]);
}

/* The shuffled index of matrix m. */
static size_t shuffled(size_t m)
{
    return m * 1237 % BLOCK;
}

/* Groups matrices by kind: a SIMD vector of ordinary matrices then has no degenerate neighbours. */
_Static_assert(BLOCK % KIND_COUNT == 0, "kinds have the same number of matrices");
static size_t by_kind(size_t m)
{
    return m % KIND_COUNT * (BLOCK / KIND_COUNT) + m / KIND_COUNT;
}

/* The result of a matrix depends neither on its index nor on its neighbours, except for the sign of zero. */
static void check_places(size_t (*place)(size_t m))
{
    int32_t count;
    const sinew_decompose_batch *const *variants = sinew_decompose_variants(&count);
    results *r = malloc(sizeof *r), *moved = malloc(sizeof *moved);
    grouped *g = aligned_alloc(SINEW_ALIGNMENT, sizeof *g);
    assert_non_null(r);
    assert_non_null(moved);
    assert_non_null(g);
    for (size_t m = 0; m < BLOCK; m++) {
        make_matrix(m, r->F + 9 * m);
        make_matrix(m, moved->F + 9 * place(m));
    }
    derive_inputs(r);
    derive_inputs(moved);
    for (int32_t i = 0; i < count; i++) {
        decompose(variants[i], r, g);
        decompose(variants[i], moved, g);
        for (size_t m = 0; m < BLOCK; m++) {
            size_t k = place(m);
            assert_same(r->U + 9 * m, moved->U + 9 * k, 9);
            assert_same(r->sigma + 3 * m, moved->sigma + 3 * k, 3);
            assert_same(r->V + 9 * m, moved->V + 9 * k, 9);
            assert_same(r->R + 9 * m, moved->R + 9 * k, 9);
            assert_same(r->R32 + 6 * m, moved->R32 + 6 * k, 6);
            assert_same(r->U32 + 9 * m, moved->U32 + 9 * k, 9);
            assert_same(r->w + 3 * m, moved->w + 3 * k, 3);
            assert_same(r->Q + 9 * m, moved->Q + 9 * k, 9);
        }
    }
    free(r);
    free(moved);
    free(g);
}

static void does_not_depend_on_neighbours(void **state)
{
    (void)state;
    check_places(shuffled);
    check_places(by_kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_for_a_million_matrices),
        cmocka_unit_test(holds_at_the_ends_of_the_range),
        cmocka_unit_test(does_not_depend_on_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
