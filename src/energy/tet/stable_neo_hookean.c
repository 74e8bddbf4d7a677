/* SPDX-License-Identifier: MIT
 *
 * stable_neo_hookean.c: the Neo-Hookean energy of Smith, De Goes, Kim 2018, stable at rest and in collapse.
 *
 *     psi = m/2 (I - 3) + l/2 (J - 1 - 3m/4l)^2 - m/2 log(1 + I) - const,   I = |F|^2
 *         = m/2 (I - 3) - m/2 log((1 + I)/4) - 3m/4 (J - 1) + l/2 (J - 1)^2
 *     P   = m I/(1 + I) F + (l (J - 1) - 3m/4) cof F
 *
 * PBNG (10), with the factor l/2 that is missing there. m = 4mu/3 and l = lambda + 5mu/6 make it linear elasticity at
 * rest. psi is smooth and defined for every F. With the logarithm the first term of P vanishes faster than the second
 * as F goes to zero, so that an element does not stay collapsed at a point.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: l / mu, l the factor of (J - 1)^2 / 2 in psi */

/* m / mu = 4/3, the factor of the shear terms */
#define SHEAR ((sinew_real)(4.0 / 3.0))

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *stable_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)(lame_ratio(element->parameters) + 5.0 / 6.0);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5), shear = wide_set(SHEAR);
    wide C[9];
    const wide growth = cofactor3(F, C) - 1, I = norm3(F);
    const wide pressure = ratio * growth - 1, scale = shear * I / (I + 1);
    for (int i = 0; i < 9; i++)
        P[i] = scale * F[i] + pressure * C[i];
    const wide stretch = I - 3 - wide_log(wide_set((sinew_real)0.25) * (I + 1));
    return half * shear * stretch + growth * (half * ratio * growth - 1);
}

KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material), shear = wide_set(SHEAR);
    const wide growth = sigma[0] * sigma[1] * sigma[2] - 1;
    const wide I = sigma[0] * sigma[0] + sigma[1] * sigma[1] + sigma[2] * sigma[2];
    const wide inverse = 1 / (I + 1);
    isotropic_volume_form(sigma, shear * I * inverse, ratio * growth - 1, ratio, eigen);
    /* Adds to A_ij the product of sigma_i and the derivative by sigma_j of the factor m I/(1 + I) of F. */
    const wide extra = 2 * shear * inverse * inverse;
    for (int i = 0; i < 3; i++)
        eigen->A[i] += extra * sigma[i] * sigma[i];
    eigen->A[3] += extra * sigma[0] * sigma[1];
    eigen->A[4] += extra * sigma[0] * sigma[2];
    eigen->A[5] += extra * sigma[1] * sigma[2];
}

#include "energy/tet/isotropic_material.h"

static void stable_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                             int32_t *others)
{
    volume_incidence(data, particles, node, true, out, others);
}

/* Adds gradient and block of one vertex with rest gradient b. The exact block is semi-definite. It adds 2m/(1 + I)^2
 * F b (F b)^T, the derivative of the factor I/(1 + I), I = |F|^2. The terms with m are at most 9/8 m = 3/2 mu, below
 * the 2 mu of the approximate block. */
KERNEL_INLINE void stable_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH), shear = wide_set(SHEAR), zero = wide_set(0);
    volume_state s;
    volume_geometry(v, true, &s);
    const wide inverse = 1 / (s.norm + 1), scale = shear * s.norm * inverse;
    volume_add(v, &s, scale, ratio * (s.J - 1) - 1, exact ? scale : wide_set(2), ratio, sum);
    if (exact)
        block_add(sum->A, zero, wide_load(v->data) * 2 * shear * inverse * inverse, s.fb);
}

KERNEL_INLINE wide stable_difference(const incidence *v, const wide d[3], wide *noise)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH), half = wide_set((sinew_real)0.5);
    volume_state s;
    wide norm, J;
    volume_geometry(v, true, &s);
    volume_changes(&s, d, &norm, &J);
    const wide pressed = J * (ratio * (s.J - 1) - 1), squared = half * ratio * J * J;
    *noise = 4 * WIDE_EPSILON * (1 + wide_abs(norm) + wide_abs(pressed) + squared);
    return half * SHEAR * (norm - wide_log(1 + norm / (s.norm + 1))) + pressed + squared;
}

static void stable_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, VOLUME_NORM_DATA_COUNT, stable_add);
}

static void stable_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, VOLUME_NORM_DATA_COUNT, stable_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_stable_neo_hookean) = {
    .info = {.name = "stable_neo_hookean",
             .summary = "m/2 (|F|^2 - 3) - m/2 log((|F|^2 + 1)/4) - 3m/4 (J - 1) + l/2 (J - 1)^2 per volume; m = "
                        "4mu/3, l = lambda + 5mu/6",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = stable_prepare,
    .vertex = stable_vertex,
    ISOTROPIC_MATERIAL_OPS,
    .constraint_count = 1,
    .constrain = material_constrain,
    .jacobian = material_jacobian,
    .rooted = true,
    .incidence_data_count = VOLUME_NORM_DATA_COUNT,
    .incidence = stable_incidence,
    .vertex_change = stable_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
