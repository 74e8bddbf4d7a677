/* SPDX-License-Identifier: MIT
 *
 * tet.c: operations of energies on tetrahedra that do not depend on the material: rest shape, and product and Hessian
 * blocks from the tangent (layout in tet.h).
 *
 * Blocks. With w_a = row a of W (a = 1..3) the block of vertices a, b is K_ab = U K U^T,
 *
 *     K_ik = A_ik w_a[i] w_b[k] + t_ik w_a[k] w_b[i]   (i != k)
 *     K_ii = A_ii w_a[i] w_b[i] + sum_{j != i} s_ij w_a[j] w_b[j]
 *
 * The blocks of vertex 0 follow from translation invariance: the rows of H sum to zero.
 */
#include "energy/tet/tet.h"
#include "math/vec3.h"

/* A tet whose |det Dm| at rest is at most this fraction of its longest edge cubed is refused: Dm has no accurate
 * inverse. */
#define FLATNESS_BOUND (2 * (double)WIDE_EPSILON)

/* Normalises a vector: to = a / |a|; returns |a|. */
static double normalise(const double a[3], double to[3])
{
    const double length = vec3_norm(a);
    for (int i = 0; i < 3; i++)
        to[i] = a[i] / length;
    return length;
}

/* Rest frame Q of a tet by Gram-Schmidt from the last edge: row i of q is column i of Q; q[2] along e3, q[1] in the
 * plane of e2 and e3. */
static void rest_frame(double edge[3][3], double q[3][3])
{
    normalise(edge[2], q[2]);
    double rest[3] = {edge[1][0], edge[1][1], edge[1][2]};
    /* Gram-Schmidt runs twice: the result is then orthogonal up to round-off for any two edges */
    for (int pass = 0; pass < 2; pass++) {
        const double along = vec3_dot(q[2], rest);
        for (int i = 0; i < 3; i++)
            rest[i] -= along * q[2][i];
    }
    normalise(rest, q[1]);
    vec3_cross(q[1], q[2], q[0]);
}

/* Length of the longest of a tet's six edges, from its three edge vectors at vertex 0. */
static double longest_edge(double edge[3][3])
{
    double longest = 0;
    for (int a = 0; a < 3; a++) {
        const double *next = edge[(a + 1) % 3];
        const double opposite[3] = {next[0] - edge[a][0], next[1] - edge[a][1], next[2] - edge[a][2]};
        longest = fmax(longest, sqrt(fmax(vec3_dot(edge[a], edge[a]), vec3_dot(opposite, opposite))));
    }
    return longest;
}

const char *sinew_tet_prepare(const sinew_element *element, double modulus, sinew_real *data, double *frame)
{
    double edge[3][3], normal[3], q[3][3];
    if (element->rest_known) {
        data[TET_WEIGHT] = (sinew_real)(modulus * *element->size / 6);
        return NULL;
    }
    for (int a = 0; a < 3; a++)
        vec3_edge(element->rest, element->rest + 3 * (a + 1), edge[a]);
    const double longest = longest_edge(edge);
    vec3_cross(edge[1], edge[2], normal);
    const double det = vec3_dot(edge[0], normal);
    if (!(fabs(det) > FLATNESS_BOUND * longest * longest * longest) || !isfinite(det))
        return "its rest shape has no volume";
    rest_frame(edge, q);
    /* T = Q^T Dm, the rest edges in the axes Q, is lower triangular; l_ij are the entries of its inverse L */
    const double l00 = 1 / vec3_dot(q[0], edge[0]), l11 = 1 / vec3_dot(q[1], edge[1]),
                 l22 = 1 / vec3_dot(q[2], edge[2]);
    const double t10 = vec3_dot(q[1], edge[0]), t20 = vec3_dot(q[2], edge[0]), t21 = vec3_dot(q[2], edge[1]);
    const double l10 = -t10 * l00 * l11, l21 = -t21 * l11 * l22, l20 = -(t20 * l00 + t21 * l10) * l22;
    const double lower[6] = {l00, l10, l11, l20, l21, l22};
    const double filled = fabs(det) * (element->fraction ? (double)*element->fraction : 1);
    data[TET_WEIGHT] = (sinew_real)(modulus * filled / 6);
    for (int i = 0; i < 6; i++)
        data[TET_LOWER + i] = (sinew_real)lower[i];
    for (int i = 0; frame && i < 9; i++)
        frame[i] = q[i % 3][i / 3];
    if (element->size)
        *element->size = filled;
    return NULL;
}

/* N = dP for dF = M: applies the second derivatives A, s, t in the frames U and V (tet.h). */
KERNEL_INLINE void tet_apply_tangent(const sinew_real *tangent, const wide M[9], wide N[9])
{
    wide A[6], s[3], t[3];
    load_wide_array(tangent + TET_A * SIMD_WIDTH, 6, A);
    load_wide_array(tangent + TET_S * SIMD_WIDTH, 3, s);
    load_wide_array(tangent + TET_T * SIMD_WIDTH, 3, t);
    N[0] = A[0] * M[0] + A[3] * M[4] + A[4] * M[8];
    N[4] = A[3] * M[0] + A[1] * M[4] + A[5] * M[8];
    N[8] = A[4] * M[0] + A[5] * M[4] + A[2] * M[8];
    N[1] = s[0] * M[1] + t[0] * M[3];
    N[3] = t[0] * M[1] + s[0] * M[3];
    N[2] = s[1] * M[2] + t[1] * M[6];
    N[6] = t[1] * M[2] + s[1] * M[6];
    N[5] = s[2] * M[5] + t[2] * M[7];
    N[7] = t[2] * M[5] + s[2] * M[7];
}

KERNEL_INLINE void product_fan(const sinew_kernel *kernel, int32_t first, int fan)
{
    const int32_t *vertex = group_vertex(&kernel->groups, first, 4);
    wide D[SINEW_FAN][9];
    tet_gather_fan(kernel->p, vertex, fan, D);
#pragma GCC unroll 3
    for (int k = 0; k < fan; k++) {
        const sinew_real *tangent = group_tangent(kernel, first + k, TET_TANGENT_COUNT);
        wide U[9], W[9], dF[9], M[9], N[9], dP[9];
        load_wide_array(tangent + TET_U * SIMD_WIDTH, 9, U);
        load_wide_array(tangent + TET_W * SIMD_WIDTH, 9, W);
        multiply3(D[k], W, dF);
        multiply3_tn(U, dF, M);
        tet_apply_tangent(tangent, M, N);
        multiply3(U, N, dP);
        multiply3_nt(dP, W, D[k]);
    }
    tet_scatter_fan(kernel->g, vertex, fan, (const wide(*)[9])D);
}

void sinew_tet_product(const sinew_kernel *kernel)
{
    int32_t group = 0;
    for (; group < kernel->groups.threes; group += 3)
        product_fan(kernel, group, 3);
    for (; group < kernel->groups.threes + kernel->groups.twos; group += 2)
        product_fan(kernel, group, 2);
    for (; group < kernel->groups.count; group++)
        product_fan(kernel, group, 1);
}

/* K = 3x3 Hessian block of the vertices with rows wa and wb of W = L V, in the frame of U (tet.h). */
KERNEL_INLINE void block_in_frame(const sinew_real *tangent, const wide *wa, const wide *wb, wide K[9])
{
    wide A[6], s[3], t[3], w[3];
    load_wide_array(tangent + TET_A * SIMD_WIDTH, 6, A);
    load_wide_array(tangent + TET_S * SIMD_WIDTH, 3, s);
    load_wide_array(tangent + TET_T * SIMD_WIDTH, 3, t);
    for (int i = 0; i < 3; i++)
        w[i] = wa[i] * wb[i];
    K[0] = A[0] * w[0] + s[0] * w[1] + s[1] * w[2];
    K[4] = s[0] * w[0] + A[1] * w[1] + s[2] * w[2];
    K[8] = s[1] * w[0] + s[2] * w[1] + A[2] * w[2];
    K[1] = A[3] * wa[0] * wb[1] + t[0] * wa[1] * wb[0];
    K[3] = A[3] * wa[1] * wb[0] + t[0] * wa[0] * wb[1];
    K[2] = A[4] * wa[0] * wb[2] + t[1] * wa[2] * wb[0];
    K[6] = A[4] * wa[2] * wb[0] + t[1] * wa[0] * wb[2];
    K[5] = A[5] * wa[1] * wb[2] + t[2] * wa[2] * wb[1];
    K[7] = A[5] * wa[2] * wb[1] + t[2] * wa[1] * wb[2];
}

/* Makes a diagonal block symmetric to the last bit: the lower triangle repeats the upper. */
KERNEL_INLINE void tet_mirror(wide K[9])
{
    K[3] = K[1];
    K[6] = K[2];
    K[7] = K[5];
}

/* Adds a 3x3 block K to sum, or K^T if `transposed`. */
KERNEL_INLINE void tet_add_block(wide sum[9], const wide K[9], bool transposed)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum[3 * i + j] += transposed ? K[3 * j + i] : K[3 * i + j];
}

void sinew_tet_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TET_TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 10);
        /* U, W: frames of the tangent; row[a] = sum of the Hessian blocks K_ab over b = 1..3; row[0] = sum of
         * row[1..3] */
        wide U[9], W[9], row[4][9];
        load_wide_array(tangent + TET_U * SIMD_WIDTH, 9, U);
        load_wide_array(tangent + TET_W * SIMD_WIDTH, 9, W);
        memset(row, 0, sizeof row);
        for (int a = 1; a < 4; a++)
            for (int b = 1; b <= a; b++) {
                wide K[9], UK[9];
                block_in_frame(tangent, W + 3 * (a - 1), W + 3 * (b - 1), K);
                multiply3(U, K, UK);
                multiply3_nt(UK, U, K);
                if (a == b)
                    tet_mirror(K);
                store_wide_array(blocks + block_index(a, b) * 9 * SIMD_WIDTH, 9, K);
                tet_add_block(row[a], K, false);
                if (a != b)
                    tet_add_block(row[b], K, true);
            }
        for (int a = 1; a < 4; a++) {
            tet_add_block(row[0], row[a], false);
            for (int i = 0; i < 9; i++)
                wide_store(blocks + (block_index(a, 0) * 9 + i) * SIMD_WIDTH, -row[a][i]);
        }
        tet_mirror(row[0]);
        store_wide_array(blocks, 9, row[0]);
    }
}
