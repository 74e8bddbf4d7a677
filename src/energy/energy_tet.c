/* SPDX-License-Identifier: MIT
 *
 * energy_tet.c: the parts of the energies on tetrahedra that do not depend on the material: rest shape, and product
 * and Hessian blocks from the tangent (tet.h says what it holds).
 *
 * Blocks. With w_a = row a of W (a = 1..3) the block of vertices a, b is K_ab = U K U^T,
 *
 *     K_ik = A_ik w_a[i] w_b[k] + t_ik w_a[k] w_b[i]   (i != k)
 *     K_ii = A_ii w_a[i] w_b[i] + sum_{j != i} s_ij w_a[j] w_b[j]
 *
 * and those of vertex 0 follow from the fact that a translation costs nothing: the rows of H sum to zero.
 */
#include "energy/tet.h"

/* Flatter than this, det Dm / (longest edge)^3, a rest shape has no inverse worth the name. */
#define FLATNESS_BOUND (16 * (double)LANE_EPSILON)

const char *sinew_tet_prepare(const sinew_element *element, double modulus, sinew_real *data)
{
    double D[9], longest = 0; /* columns are edges, as in Ds */
    for (int a = 0; a < 3; a++) {
        double length = 0;
        for (int i = 0; i < 3; i++) {
            D[3 * i + a] = (double)element->rest[3 * (a + 1) + i] - (double)element->rest[i];
            length += D[3 * i + a] * D[3 * i + a];
        }
        longest = fmax(longest, sqrt(length));
    }
    double C[9]; /* cofactors: Dm^-1 = C^T / det */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            C[3 * i + j] = D[3 * i1 + j1] * D[3 * i2 + j2] - D[3 * i1 + j2] * D[3 * i2 + j1];
        }
    const double det = D[0] * C[0] + D[1] * C[1] + D[2] * C[2];
    if (!(fabs(det) > FLATNESS_BOUND * longest * longest * longest) || !isfinite(det))
        return "its rest shape has no volume; repair the mesh (sinew mesh check)";
    data[TET_WEIGHT] = (sinew_real)(modulus * fabs(det) / 6);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            data[TET_REST + 3 * i + j] = (sinew_real)(C[3 * j + i] / det);
    return NULL;
}

/* N = (A, s, t) M */
KERNEL_INLINE void apply(const sinew_real *tangent, const lane M[9], lane N[9])
{
    lane A[6], s[3], t[3];
    load_lanes(tangent + TET_A * LANES, 6, A);
    load_lanes(tangent + TET_S * LANES, 3, s);
    load_lanes(tangent + TET_T * LANES, 3, t);
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

void sinew_tet_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TET_TANGENT_COUNT);
        const int32_t *vertex = group_vertex(kernel, group, 4);
        lane U[9], W[9], D[9], dF[9], M[9], N[9], dP[9];
        load_lanes(tangent + TET_U * LANES, 9, U);
        load_lanes(tangent + TET_W * LANES, 9, W);
        tet_edges(kernel->p, vertex, D);
        multiply3(D, W, dF);
        multiply3_tn(U, dF, M);
        apply(tangent, M, N);
        multiply3(U, N, dP);
        tet_scatter(kernel->g, vertex, dP, W);
    }
}

/* K = the block of the rows wa, wb of W in the frame of U. */
KERNEL_INLINE void block_in_frame(const sinew_real *tangent, const lane *wa, const lane *wb, lane K[9])
{
    lane A[6], s[3], t[3], w[3];
    load_lanes(tangent + TET_A * LANES, 6, A);
    load_lanes(tangent + TET_S * LANES, 3, s);
    load_lanes(tangent + TET_T * LANES, 3, t);
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

/* Diagonal blocks are symmetric to the last bit: the lower triangle repeats the upper. */
KERNEL_INLINE void mirror(lane K[9])
{
    K[3] = K[1];
    K[6] = K[2];
    K[7] = K[5];
}

/* sum += K, or its transpose */
KERNEL_INLINE void add_block(lane sum[9], const lane K[9], bool transposed)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum[3 * i + j] += transposed ? K[3 * j + i] : K[3 * i + j];
}

void sinew_tet_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TET_TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 10);
        lane U[9], W[9], row[4][9]; /* row[a] = sum of K_ab over b = 1..3; row[0] of those */
        load_lanes(tangent + TET_U * LANES, 9, U);
        load_lanes(tangent + TET_W * LANES, 9, W);
        memset(row, 0, sizeof row);
        for (int a = 1; a < 4; a++)
            for (int b = 1; b <= a; b++) {
                lane K[9], UK[9];
                block_in_frame(tangent, W + 3 * (a - 1), W + 3 * (b - 1), K);
                multiply3(U, K, UK);
                multiply3_nt(UK, U, K);
                if (a == b)
                    mirror(K);
                store_lanes(blocks + block_index(a, b) * 9 * LANES, 9, K);
                add_block(row[a], K, false);
                if (a != b)
                    add_block(row[b], K, true);
            }
        for (int a = 1; a < 4; a++) {
            add_block(row[0], row[a], false);
            for (int i = 0; i < 9; i++)
                lane_store(blocks + (block_index(a, 0) * 9 + i) * LANES, -row[a][i]);
        }
        mirror(row[0]);
        store_lanes(blocks, 9, row[0]);
    }
}
