/* SPDX-License-Identifier: MIT
 *
 * examples.c: strain relative to a rest shape that is a blend of example shapes.
 *
 *     psi = k/2 |F - R H(w)|^2,  H(w) = 1 + sum_i w_i E_i,  E_i = R_i G_i - 1
 *
 * Bouaziz et al. 2014, (17), (18), (27). G_i is the deformation gradient of example i. R_i aligns it with the rest
 * shape: the transpose of the rotation of its polar decomposition. So 1 + E_i is its stretch, a symmetric matrix of six
 * numbers. R is any rotation; the weights w are free in each element, or given. Deformations that are a blend of the
 * examples have no energy. Without examples psi is that of the energy strain.
 *
 * psi is the squared distance to the set of all R H(w) (tet_distance.h). R and w are computed alternately, as in (27):
 * R by the polar decomposition of F H, w by a linear system, from the best of a few starts. The result is a local
 * minimum; far from all examples another one may be nearer. P jumps where the nearest rotation jumps.
 *
 * Second derivatives, with F' = R^T F: dP/dF = R (1 - t M^-1 t^T) R^T. t are the tangents of the set, [e_a] H for
 * rotations and E_i for weights. M is t^T t minus the curvature term of the set: tr(S) 1 - S, S = F' H, for rotations,
 * E_i : E_j for weights, and ax(E_i H - D E_i), D = F' - H, between them.
 */
#include "energy/example_shapes.h"
#include "energy/tet/tet_distance.h"

enum {
    EXAMPLES = SINEW_EXAMPLE_MAX,
    STRETCH = 0, /* index of the stretches E_i, each 00 11 22 01 02 12, in the frame of the rest shape */
    GIVEN = 6 * EXAMPLES,
    WEIGHTS = GIVEN + 1,
    DATA_COUNT = TET_MATERIAL + WEIGHTS + EXAMPLES,
    UNKNOWNS = 3 + EXAMPLES,
    PACKED = 45, /* entries in the lower triangle of a symmetric 9x9 matrix */
    TANGENT_ROTATION = PACKED,
    TANGENT_COUNT = PACKED + 9
};
enum {
    STIFFNESS = 0,
    MODE = 1,
    WEIGHT = 2
}; /* indices of the parameters of the energy examples */

#define TURNS_MAX 200

#define WEIGHT_PARAMETER(text, which)                                                                                  \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -10, .maximum = 10, .preset = 0,                                          \
        .meaning = "weight of the " which " example where weights are given; 1: its shape is the rest shape"           \
    }

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "Pa",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1e5,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, energy per volume and squared distance to the examples; raising it stiffens"},
    {.name = "weights",
     .unit = "",
     .choices = "element|given",
     .minimum = 0,
     .maximum = 1,
     .preset = 0,
     .meaning = "element: each finds its own blend; given: weight_1, weight_2, weight_3 for all"},
    WEIGHT_PARAMETER("weight_1", "first"),
    WEIGHT_PARAMETER("weight_2", "second"),
    WEIGHT_PARAMETER("weight_3", "third"),
};

static const int symmetric_at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

/* out = Q^T E Q of a symmetric E stored as 00 11 22 01 02 12; axis[i] is column i of Q */
static void rotate_symmetric(const double E[6], double axis[3][3], double out[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        out[k] = 0;
        for (int i = 0; i < 9; i++)
            out[k] += axis[row[k]][i / 3] * E[symmetric_at[i]] * axis[column[k]][i % 3];
    }
}

static const char *examples_prepare(const sinew_element *element, sinew_real *data)
{
    double Q[9], axis[3][3], E[EXAMPLES][6] = {{0}}, turned[6];
    const char *refusal = sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, Q);
    if (refusal)
        return refusal;
    for (int i = 0; element->examples && i < 6 * EXAMPLES; i++)
        E[i / 6][i % 6] = (double)element->examples[i];
    example_drop_dependent(E);
    for (int i = 0; i < 9; i++)
        axis[i % 3][i / 3] = Q[i];
    sinew_real *material = data + TET_MATERIAL;
    for (int e = 0; e < EXAMPLES; e++) {
        rotate_symmetric(E[e], axis, turned);
        for (int k = 0; k < 6; k++)
            material[STRETCH + 6 * e + k] = (sinew_real)turned[k];
        material[WEIGHTS + e] = element->parameters[WEIGHT + e];
    }
    material[GIVEN] = element->parameters[MODE];
    return NULL;
}

/* ---- Nearest point of the set of rotated blends -------------------------------------------------- */

typedef struct blend {
    wide E[EXAMPLES][9], H[9], R[9], w[EXAMPLES];
    wide_mask given;
} blend;

/* H = 1 + sum w E, the stretch of the blended rest shape */
KERNEL_INLINE void blend_shape(blend *b)
{
    for (int i = 0; i < 9; i++) {
        b->H[i] = wide_set(i % 4 == 0);
        for (int e = 0; e < EXAMPLES; e++)
            b->H[i] += b->w[e] * b->E[e][i];
    }
}

KERNEL_INLINE wide matrix_dot(const wide A[9], const wide B[9])
{
    wide sum = A[0] * B[0];
    for (int i = 1; i < 9; i++)
        sum += A[i] * B[i];
    return sum;
}

/* The best blending weights for the rotation R: sum_j (E_i : E_j) w_j = E_i : (R^T F - 1). */
KERNEL_INLINE void blend_weights(const blend *b, const wide F[9], wide w[EXAMPLES])
{
    wide apart[9], gram[6], slope[EXAMPLES];
    multiply3_tn(b->R, F, apart);
    for (int i = 0; i < 3; i++)
        apart[4 * i] -= 1;
    for (int e = 0; e < EXAMPLES; e++) {
        slope[e] = -matrix_dot(b->E[e], apart);
        gram[e] = matrix_dot(b->E[e], b->E[e]);
    }
    gram[3] = matrix_dot(b->E[0], b->E[1]);
    gram[4] = matrix_dot(b->E[0], b->E[2]);
    gram[5] = matrix_dot(b->E[1], b->E[2]);
    solve_definite(gram, wide_set(0), slope, w);
}

/* One alternation of the fit: rotation R for the blending weights of b, then weights w for this R. Returns the
 * squared distance of F from the blend. */
KERNEL_INLINE wide blend_turn(blend *b, const wide F[9], wide w[EXAMPLES])
{
    wide M[9], left[9];
    blend_shape(b);
    multiply3(F, b->H, M);
    sinew_polar3(M, b->R);
    blend_weights(b, F, w);
    multiply3_tn(b->R, F, left);
    for (int i = 0; i < 9; i++) {
        left[i] -= wide_set(i % 4 == 0);
        for (int e = 0; e < EXAMPLES; e++)
            left[i] -= w[e] * b->E[e][i];
    }
    return norm3(left);
}

/* Initial blending weights: the best of one alternation from the rest shape, from each example and from its
 * opposite. */
KERNEL_INLINE void blend_start(blend *b, const wide F[9])
{
    const wide zero = wide_set(0);
    wide best[EXAMPLES] = {zero, zero, zero}, w[EXAMPLES], min = wide_set(WIDE_HUGE);
    for (int start = 0; start <= 2 * EXAMPLES; start++) {
        for (int e = 0; e < EXAMPLES; e++)
            b->w[e] = start == 0 || (start - 1) / 2 != e ? zero : wide_set(start % 2 ? 1 : -1);
        const wide distance = blend_turn(b, F, w);
        const wide_mask nearer = wide_lt(distance, min * (1 - 8 * WIDE_EPSILON));
        min = wide_select(nearer, distance, min);
        for (int e = 0; e < EXAMPLES; e++)
            best[e] = wide_select(nearer, w[e], best[e]);
    }
    for (int e = 0; e < EXAMPLES; e++)
        b->w[e] = best[e];
}

static __attribute__((noinline)) void find_blend(const wide F[9], const sinew_real *material, blend *b)
{
    const wide zero = wide_set(0);
    wide w[EXAMPLES];
    b->given = wide_lt(zero, wide_load(material + GIVEN * SIMD_WIDTH));
    for (int e = 0; e < EXAMPLES; e++)
        for (int i = 0; i < 9; i++)
            b->E[e][i] = wide_load(material + (STRETCH + 6 * e + symmetric_at[i]) * SIMD_WIDTH);
    blend_start(b, F);
    for (int e = 0; e < EXAMPLES; e++)
        b->w[e] = wide_select(b->given, wide_load(material + (WEIGHTS + e) * SIMD_WIDTH), b->w[e]);
    wide_mask busy = wide_eq(zero, zero);
    for (int turn = 0; turn < TURNS_MAX && wide_any(busy); turn++) {
        blend_turn(b, F, w);
        wide change = zero, size = wide_set(1);
        for (int e = 0; e < EXAMPLES; e++) {
            /* A converged SIMD lane no longer changes, so its result does not depend on the other lanes. */
            const wide next = wide_select(b->given, b->w[e], wide_select(busy, w[e], b->w[e]));
            change = wide_max(change, wide_abs(next - b->w[e]));
            size = wide_max(size, wide_abs(next));
            b->w[e] = next;
        }
        busy = wide_lt(2 * WIDE_EPSILON * size, change);
    }
    blend_turn(b, F, w); /* computes the rotation R for the final blending weights */
    blend_shape(b);
}

static __attribute__((noinline)) wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    blend b;
    wide T[9];
    find_blend(F, material, &b);
    multiply3(b.R, b.H, T);
    for (int i = 0; i < 9; i++)
        P[i] = F[i] - T[i];
    return (sinew_real)0.5 * norm3(P);
}

/* ---- Second derivatives of the squared distance -------------------------------------------------- */

/* Tangents of the set of rotated blends in the frame of R: t[a] = [e_a] H, t[3 + i] = E_i. Given weights have no
 * tangents. */
KERNEL_INLINE void blend_tangents(const blend *b, wide t[UNKNOWNS][9])
{
    for (int a = 0; a < 3; a++)
        for (int j = 0; j < 3; j++) {
            const int u = (a + 1) % 3, v = (a + 2) % 3;
            t[a][3 * a + j] = wide_set(0);
            t[a][3 * u + j] = -b->H[3 * v + j];
            t[a][3 * v + j] = b->H[3 * u + j];
        }
    for (int e = 0; e < EXAMPLES; e++)
        for (int i = 0; i < 9; i++)
            t[3 + e][i] = wide_select(b->given, wide_set(0), b->E[e][i]);
}

/* out[a] = A : [e_a], the axial vector of A, where [e_a] is the cross-product matrix of axis a */
KERNEL_INLINE void axial(const wide A[9], wide out[3])
{
    out[0] = A[7] - A[5];
    out[1] = A[2] - A[6];
    out[2] = A[3] - A[1];
}

/* The lower triangle of the matrix M at the top of this file. Directions without a tangent have 1 on the diagonal. */
KERNEL_INLINE void blend_metric(const blend *b, const wide F[9], wide t[UNKNOWNS][9], wide M[UNKNOWNS][UNKNOWNS])
{
    const wide zero = wide_set(0), one = wide_set(1), half = wide_set((sinew_real)0.5);
    wide turned[9], S[9], D[9];
    multiply3_tn(b->R, F, turned);
    multiply3(turned, b->H, S);
    for (int i = 0; i < 9; i++)
        D[i] = turned[i] - b->H[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            M[i][j] = (i == j ? S[0] + S[4] + S[8] : zero) - half * (S[3 * i + j] + S[3 * j + i]);
    for (int e = 0; e < EXAMPLES; e++) {
        wide first[9], second[9];
        const wide *E = t[3 + e];
        multiply3(E, b->H, first);
        multiply3(D, E, second);
        for (int i = 0; i < 9; i++)
            first[i] -= second[i];
        axial(first, M[3 + e]);
        for (int j = 0; j <= e; j++)
            M[3 + e][3 + j] = matrix_dot(E, t[3 + j]);
        M[3 + e][3 + e] = wide_select(wide_lt(zero, M[3 + e][3 + e]), M[3 + e][3 + e], one);
    }
}

/* Replaces the tangents by t = L^-1 t with M = L L^T. Pivots have a lower bound, because a zero pivot means that the
 * nearest rotation is not unique. */
KERNEL_INLINE void blend_reduce(wide M[UNKNOWNS][UNKNOWNS], wide t[UNKNOWNS][9])
{
    const wide bound = wide_set(ISOTROPIC_SUM_BOUND);
    for (int j = 0; j < UNKNOWNS; j++) {
        for (int k = 0; k < j; k++)
            M[j][j] -= M[j][k] * M[j][k];
        const wide inverse = 1 / wide_sqrt(wide_max(M[j][j], bound * bound));
        for (int i = j + 1; i < UNKNOWNS; i++) {
            for (int k = 0; k < j; k++)
                M[i][j] -= M[i][k] * M[j][k];
            M[i][j] *= inverse;
        }
        for (int c = 0; c < 9; c++) {
            for (int k = 0; k < j; k++)
                t[j][c] -= M[j][k] * t[k][c];
            t[j][c] *= inverse;
        }
    }
}

/* H9 = 1 - t M^-1 t^T in the frame of R, as packed lower triangle of a 9x9 matrix; exact, or the nearest semi-definite
 * matrix. */
static __attribute__((noinline)) void blend_curvature(const wide F[9], const sinew_real *material, bool exact,
                                                      wide R[9], wide H9[PACKED])
{
    blend b;
    wide t[UNKNOWNS][9], M[UNKNOWNS][UNKNOWNS];
    find_blend(F, material, &b);
    blend_tangents(&b, t);
    blend_metric(&b, F, t, M);
    blend_reduce(M, t);
    for (int i = 0, at = 0; i < 9; i++)
        for (int j = 0; j <= i; j++, at++) {
            H9[at] = wide_set(i == j);
            for (int k = 0; k < UNKNOWNS; k++)
                H9[at] -= t[k][i] * t[k][j];
        }
    if (!exact)
        sinew_eigen_clamp(H9, 9);
    for (int i = 0; i < 9; i++)
        R[i] = b.R[i];
}

KERNEL_INLINE wide packed_at(const wide H9[PACKED], int i, int j)
{
    return i >= j ? H9[i * (i + 1) / 2 + j] : H9[j * (j + 1) / 2 + i];
}

#include "energy/tet/tet_distance_energy.h"

static void examples_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        wide lower[6], F[9], R[9], H9[PACKED];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        blend_curvature(F, data + TET_MATERIAL * SIMD_WIDTH, !kernel->project, R, H9);
        for (int i = 0; i < PACKED; i++)
            H9[i] *= wide_load(data);
        store_wide_array(tangent, PACKED, H9);
        store_wide_array(tangent + TANGENT_ROTATION * SIMD_WIDTH, 9, R);
    }
}

static void examples_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        wide lower[6], dF[9], R[9], H9[PACKED], turned[9], N[9];
        tet_deformation(kernel->p, vertex, group_data(&kernel->groups, group, DATA_COUNT), lower, dF);
        load_wide_array(tangent, PACKED, H9);
        load_wide_array(tangent + TANGENT_ROTATION * SIMD_WIDTH, 9, R);
        multiply3_tn(R, dF, turned);
        for (int i = 0; i < 9; i++) {
            N[i] = wide_set(0);
            for (int j = 0; j < 9; j++)
                N[i] += packed_at(H9, i, j) * turned[j];
        }
        multiply3(R, N, dF);
        tet_scatter(kernel->g, vertex, dF, lower);
    }
}

/* K = R (sum_mn a_m b_n H9[(., m), (., n)]) R^T: the 3x3 Hessian block from H9 for two vertices with rest gradients a
 * and b. */
KERNEL_INLINE void vertex_block(const wide H9[PACKED], const wide R[9], const wide a[3], const wide b[3], wide K[9])
{
    wide inner[9], half[9];
    for (int i = 0; i < 9; i++) {
        inner[i] = wide_set(0);
        for (int k = 0; k < 9; k++)
            inner[i] += a[k / 3] * b[k % 3] * packed_at(H9, 3 * (i / 3) + k / 3, 3 * (i % 3) + k % 3);
    }
    multiply3(R, inner, half);
    multiply3_nt(half, R, K);
}

static void examples_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 10);
        wide L[6], R[9], H9[PACKED], K[9];
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, L);
        load_wide_array(tangent, PACKED, H9);
        load_wide_array(tangent + TANGENT_ROTATION * SIMD_WIDTH, 9, R);
        const wide zero = wide_set(0), gradient[4][3] = {{-(L[0] + L[1] + L[3]), -(L[2] + L[4]), -L[5]},
                                                         {L[0], zero, zero},
                                                         {L[1], L[2], zero},
                                                         {L[3], L[4], L[5]}};
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                vertex_block(H9, R, gradient[a], gradient[b], K);
                for (int i = 0; i < 9; i++) /* makes diagonal 3x3 blocks symmetric to the last bit */
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH,
                               K[a == b && i % 3 < i / 3 ? 3 * (i % 3) + i / 3 : i]);
            }
    }
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

static void examples_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                               int32_t *others)
{
    double q[3][3], E[6], turned[6];
    tet_incidence(data, DATA_COUNT, particles, node, out, others, q);
    for (int e = 0; e < EXAMPLES; e++) {
        for (int k = 0; k < 6; k++)
            E[k] = (double)data[TET_MATERIAL + STRETCH + 6 * e + k];
        rotate_symmetric(E, q, turned);
        for (int k = 0; k < 6; k++)
            out[TET_MATERIAL + STRETCH + 6 * e + k] = (sinew_real)turned[k];
    }
}

KERNEL_INLINE void examples_add_exact(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    wide F[9], b[3], R[9], H9[PACKED], K[9];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    blend_curvature(F, v->data + TET_MATERIAL * SIMD_WIDTH, false, R, H9);
    vertex_block(H9, R, b, b, K);
    for (int i = 0; i < 6; i++)
        sum->A[i] += wide_load(v->data) * K[entry[i]];
}

static void examples_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        incidence_run(kernel, 3, DATA_COUNT, true, examples_add_exact);
    else
        incidence_run(kernel, 3, DATA_COUNT, false, distance_add_cheap);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_examples) = {
    .info = {.name = "examples",
             .summary = "k/2 |F - R (1 + sum w_i E_i)|^2 per volume, E_i the stretches of example shapes",
             TET_MATERIAL_INFO,
             .capabilities = TET_SET_CAPABILITIES},
    TET_SET_OPS,
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .prepare = examples_prepare,
    .linearise = examples_linearise,
    .product = examples_product,
    .hessian = examples_hessian,
    .determinants = material_determinants,
    .reduced_count = 3,
    .reduce = material_reduce,
    .other_count = 3,
    .incidence_data_count = DATA_COUNT,
    .incidence = examples_incidence,
    .vertex = examples_vertex,
    .vertex_change = material_change,
    /* no block is an upper bound: after a long step the alternation may end in another minimum than the nearest */
    .vertex_bounds = 0,
};
