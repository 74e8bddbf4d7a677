/* SPDX-License-Identifier: MIT
 *
 * reinforced.c: rubber with a family of fibres: muscle, tendon, tyres, belts.
 *
 *     psi = mu/2 (|F|^2 - 3) - mu (J - 1) + l/2 (J - 1)^2 + k/8 (I4 - 1)^2,   l = lambda + mu,  I4 = |F a|^2
 *     P   = mu F + (l (J - 1) - mu) cof F + k/2 (I4 - 1) (F a) a^T
 *
 * The matrix is neo_hookean (PBNG (8)). The fibres, along the unit vector a of the rest shape, have the anisotropic St.
 * Venant-Kirchhoff energy (Bonet and Burton 1998; Kim, De Goes, Iben 2019). k is their contribution to Young's modulus
 * along a. `compress` = no ignores shortened fibres, as thin fibres buckle; the stiffness then jumps at I4 = 1. Fibres
 * that resist compression lose their stiffness below a stretch of 0.577.
 *
 * psi is defined for every F. It is not isotropic: kernels have F Q (tet.h) and Q^T a, so that F a = (F Q) (Q^T a).
 * dP = ... + (K dF a) a^T with K = k ((I4 - 1)/2 1 + (F a)(F a)^T); matrix and fibres are projected separately.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/direction.h"
#include "energy/lame.h"
#include "energy/tet/neo_hookean_law.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"
#include "math/vec3.h"

/* Indices of the material constants in data: l / mu and k / mu of the law, the lower bound of I4 - 1, fibre
 * direction Q^T a. */
enum {
    RATIO = 0,
    STRENGTH = 1,
    SLACK = 2, /* index of the lower bound of I4 - 1: -1, or 0 for fibres that do not resist compression */
    AXIS = 3,
    DATA_COUNT = TET_MATERIAL + AXIS + 3
};
enum {
    FIBRE = LAME_PARAMETER_COUNT,
    COMPRESS,
    DIRECTION
}; /* indices of the parameters of the energy reinforced */
/* Layout of the tangent: that of the rubber matrix, then the fibre's vertex factors L Q^T a and the weighted 3x3
 * Hessian K of the fibres. */
enum {
    TANGENT_REACH = TET_TANGENT_COUNT,
    TANGENT_K = TANGENT_REACH + 3,
    TANGENT_COUNT = TANGENT_K + 6
};

static const sinew_parameter parameters[] = {
    LAME_YOUNG_PARAMETER,
    LAME_POISSON_POSITIVE_PARAMETER,
    {.name = "fibre",
     .unit = "Pa",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1e6,
     .open_maximum = true,
     .meaning = "what the fibres add to Young's modulus along them; 0: plain rubber"},
    {.name = "compress",
     .unit = "",
     .choices = "no|yes",
     .minimum = 0,
     .maximum = 1,
     .preset = 1,
     .meaning = "yes: fibres push back when shortened; no: they only pull"},
    DIRECTION_PARAMETERS,
};

static const char *reinforced_prepare(const sinew_element *element, sinew_real *data)
{
    const double mu = lame_mu(element->parameters);
    double Q[9], a[3], turned[3];
    const char *refusal = direction_of(element, DIRECTION, a);
    if (!refusal)
        refusal = sinew_tet_prepare(element, mu, data, Q);
    if (refusal)
        return refusal;
    direction_turn(Q, a, turned);
    data[TET_MATERIAL + RATIO] = (sinew_real)(lame_ratio(element->parameters) + 1);
    data[TET_MATERIAL + STRENGTH] = (sinew_real)((double)element->parameters[FIBRE] / mu);
    data[TET_MATERIAL + SLACK] = element->parameters[COMPRESS] > 0 ? -1 : 0;
    for (int i = 0; i < 3; i++)
        data[TET_MATERIAL + AXIS + i] = (sinew_real)turned[i];
    return NULL;
}

/* Adds the stress P of the fibres and returns their energy density psi. */
KERNEL_INLINE wide fibre_stress(const wide F[9], const wide a[3], const sinew_real *material, wide P[9])
{
    const wide k = wide_load(material + STRENGTH * SIMD_WIDTH), slack = wide_load(material + SLACK * SIMD_WIDTH);
    wide Fa[3];
    apply3(F, a, Fa);
    const wide excess = wide_max(dot3(Fa, Fa) - 1, slack), tension = (sinew_real)0.5 * k * excess;
    for (int i = 0; i < 9; i++)
        P[i] += tension * Fa[i / 3] * a[i % 3];
    return (sinew_real)0.25 * tension * excess;
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    wide a[3];
    load_wide_array(material + AXIS * SIMD_WIDTH, 3, a);
    const wide psi = neo_hookean_stress(F, wide_load(material), P);
    return psi + fibre_stress(F, a, material, P);
}

/* Stress of rubber and fibres with psi computed without cancellation, so that its root is as accurate as psi; for
 * constraints. */
KERNEL_INLINE wide reinforced_stress_near_rest(const wide F[9], const sinew_real *material, wide P[9])
{
    wide a[3];
    load_wide_array(material + AXIS * SIMD_WIDTH, 3, a);
    const wide ratio = wide_load(material), plain = neo_hookean_stress(F, ratio, P);
    return neo_hookean_near_rest(F, ratio, plain) + fibre_stress(F, a, material, P);
}

/* Second derivatives of the rubber matrix by singular values, without fibres. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material), growth = sigma[0] * sigma[1] * sigma[2] - 1;
    isotropic_volume_form(sigma, wide_set(1), ratio * growth - 1, ratio, eigen);
}

#include "energy/tet/tet_material.h"

/* Adds to K scale times the second derivatives of the fibres by the fibre vector F a: (I4 - 1)/2 in all directions,
 * and I4 more along F a, I4 = |F a|^2. If projected, no eigenvalue is negative. Fibres without compression have no
 * stiffness while they are slack. */
KERNEL_INLINE void add_fibres(const wide F[9], const sinew_real *material, wide scale, bool project, wide K[6])
{
    const wide zero = wide_set(0), one = wide_set(1), third = wide_set((sinew_real)(1.0 / 3));
    wide a[3], Fa[3];
    load_wide_array(material + AXIS * SIMD_WIDTH, 3, a);
    apply3(F, a, Fa);
    const wide I4 = dot3(Fa, Fa);
    const wide_mask in_tension = wide_le(wide_load(material + SLACK * SIMD_WIDTH), I4 - 1);
    wide across = (sinew_real)0.5 * (I4 - 1), along = one;
    if (project) {
        along = wide_max((sinew_real)1.5 * (I4 - third), zero) / wide_max(I4, third);
        along = wide_select(wide_le(one, I4), one, along);
        across = wide_max(across, zero);
    }
    const wide strength = wide_select(in_tension, scale * wide_load(material + STRENGTH * SIMD_WIDTH), zero);
    block_add(K, strength * across, strength * along, Fa);
}

/* The kernel call restricted to one group; its tangent starts with the tangent of the rubber matrix. */
KERNEL_INLINE sinew_kernel one_group(const sinew_kernel *kernel, int32_t group)
{
    sinew_kernel one = *kernel;
    one.groups = (sinew_groups){.count = 1,
                                .vertex = group_vertex(&kernel->groups, group, 4),
                                .data = group_data(&kernel->groups, group, DATA_COUNT)};
    one.tangent = group_tangent(kernel, group, TANGENT_COUNT);
    return one;
}

static void reinforced_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_kernel one = one_group(kernel, group);
        const sinew_real *material = one.groups.data + TET_MATERIAL * SIMD_WIDTH;
        wide L[6], F[9], a[3], K[6];
        memset(K, 0, sizeof K);
        isotropic_linearise(&one, DATA_COUNT, curvature);
        tet_deformation(one.x, one.groups.vertex, one.groups.data, L, F);
        load_wide_array(material + AXIS * SIMD_WIDTH, 3, a);
        add_fibres(F, material, wide_load(one.groups.data), kernel->project, K);
        const wide reach[3] = {L[0] * a[0], L[1] * a[0] + L[2] * a[1], L[3] * a[0] + L[4] * a[1] + L[5] * a[2]};
        store_wide_array(one.tangent + TANGENT_REACH * SIMD_WIDTH, 3, reach);
        store_wide_array(one.tangent + TANGENT_K * SIMD_WIDTH, 6, K);
    }
}

/* The fibres' 3x3 Hessian K as nine numbers, and the factors `reach` of the fibre vector's derivatives by vertices 1
 * to 3. */
KERNEL_INLINE void load_fibres(const sinew_kernel *one, wide reach[3], wide full[9])
{
    static const int padded_index[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    wide K[6];
    load_wide_array(one->tangent + TANGENT_REACH * SIMD_WIDTH, 3, reach);
    load_wide_array(one->tangent + TANGENT_K * SIMD_WIDTH, 6, K);
    for (int i = 0; i < 9; i++)
        full[i] = K[padded_index[i]];
}

static void reinforced_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_kernel one = one_group(kernel, group);
        wide D[1][9], reach[3], K[9], dFa[3], KdFa[3];
        sinew_tet_product(&one);
        load_fibres(&one, reach, K);
        tet_gather_fan(one.p, one.groups.vertex, 1, D);
        apply3(D[0], reach, dFa);
        apply3(K, dFa, KdFa);
        for (int i = 0; i < 9; i++)
            D[0][i] = KdFa[i / 3] * reach[i % 3];
        tet_scatter_fan(one.g, one.groups.vertex, 1, (const wide(*)[9])D);
    }
}

static void reinforced_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_kernel one = one_group(kernel, group);
        wide reach[4], K[9];
        one.blocks = group_blocks(kernel, group, 10);
        sinew_tet_hessian(&one);
        load_fibres(&one, reach + 1, K);
        reach[0] = -(reach[1] + reach[2] + reach[3]);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                sinew_real *block = one.blocks + block_index(a, b) * 9 * SIMD_WIDTH;
                for (int i = 0; i < 9; i++)
                    wide_store(block + i * SIMD_WIDTH, wide_load(block + i * SIMD_WIDTH) + reach[a] * reach[b] * K[i]);
            }
    }
}

/* psi and stress with fibres along the first axis, along which tet_fit_stiffness() stretches. The stiffness along the
 * fibres, which is the largest, then serves for all directions. */
KERNEL_INLINE wide stress_along(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide zero = wide_set(0), a[3] = {wide_set(1), zero, zero};
    const wide psi = neo_hookean_stress(F, wide_load(material), P);
    return psi + fibre_stress(F, a, material, P);
}

static void reinforced_stiffness(const sinew_reduced_kernel *kernel)
{
    tet_fit_stiffness(kernel, DATA_COUNT, stress_along);
}

static void reinforced_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, reinforced_stress_near_rest, no_offset);
}

static void reinforced_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, reinforced_stress_near_rest, no_offset);
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

static void reinforced_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                 int32_t *others)
{
    const sinew_real *a = data + TET_MATERIAL + AXIS;
    const double direction[3] = {(double)a[0], (double)a[1], (double)a[2]};
    double q[3][3];
    tet_incidence(data, DATA_COUNT, particles, node, out, others, q);
    for (int i = 0; i < 3; i++)
        out[TET_MATERIAL + AXIS + i] = (sinew_real)vec3_dot(q[i], direction);
}

/* Adds gradient and block of one vertex. As a vertex moves, psi of the rubber is quadratic and psi of the fibres
 * quartic, so the block is no upper bound. */
KERNEL_INLINE void reinforced_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const sinew_real *material = v->data + TET_MATERIAL * SIMD_WIDTH;
    wide F[9], b[3], a[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    if (exact)
        tet_incidence_projected(v, F, b, curvature, sum);
    else
        tet_incidence_bound(v, F, b, wide_set(2), wide_load(material), sum);
    load_wide_array(material + AXIS * SIMD_WIDTH, 3, a);
    const wide reach = dot3(a, b);
    add_fibres(F, material, wide_load(v->data) * reach * reach, true, sum->A);
}

static void reinforced_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, DATA_COUNT, reinforced_add);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_reinforced) = {
    .info = {.name = "reinforced",
             .summary = "neo_hookean + k/8 (|F a|^2 - 1)^2 per volume, fibres along a, pulling only or both ways",
             TET_MATERIAL_INFO,
             .capabilities = SINEW_CAN_REDUCE | SINEW_CAN_VERTEX | SINEW_CAN_CONSTRAINT | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .projects_terms = true,
    .prepare = reinforced_prepare,
    .value = material_value,
    .gradient = material_gradient,
    .linearise = reinforced_linearise,
    .product = reinforced_product,
    .hessian = reinforced_hessian,
    .determinants = material_determinants,
    .reduced_count = 3,
    .reduce = material_reduce,
    .stiffness = reinforced_stiffness,
    .constraint_count = 1,
    .constrain = reinforced_constrain,
    .jacobian = reinforced_jacobian,
    .rooted = true,
    .other_count = 3,
    .incidence_data_count = DATA_COUNT,
    .incidence = reinforced_incidence,
    .vertex = reinforced_vertex,
    .vertex_change = material_change,
};
