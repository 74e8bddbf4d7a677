/* SPDX-License-Identifier: MIT
 *
 * linear.c: linear elasticity.
 *
 *     e = (F + F^T)/2 - 1      psi = mu |e|^2 + lambda/2 (tr e)^2      P = 2 mu e + lambda tr(e) 1
 *
 * PBNG (38), (39). psi is quadratic in the positions, with a constant, positive semi-definite Hessian. It is not
 * invariant under rotation: a rotated element swells. Use it for small displacements, and as a reference for
 * comparisons.
 *
 * Kernels have F Q, Q the frame of the rest shape (tet.h): F = (F Q) Q^T, and the derivative by F Q is P Q.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    RATIO = 0,
    FRAME = 1,
    DATA_COUNT = TET_MATERIAL + FRAME + 9
}; /* the material constants in data: lambda / mu, then the rest frame Q */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *linear_prepare(const sinew_element *element, sinew_real *data)
{
    double frame[9];
    const char *refusal = sinew_tet_prepare(element, lame_mu(element->parameters), data, frame);
    data[TET_MATERIAL + RATIO] = (sinew_real)lame_ratio(element->parameters);
    for (int i = 0; !refusal && !element->rest_known && i < 9; i++)
        data[TET_MATERIAL + FRAME + i] = (sinew_real)frame[i];
    return refusal;
}

KERNEL_INLINE wide stress(const wide FQ[9], const sinew_real *material, wide PQ[9])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    wide Q[9], F[9], P[9];
    load_wide_array(material + FRAME * SIMD_WIDTH, 9, Q);
    multiply3_nt(FQ, Q, F);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = F[3 * i + j] + F[3 * j + i]; /* F + F^T = 2 e + 2, with the small-strain tensor e */
    for (int i = 0; i < 3; i++)
        P[4 * i] -= 2;
    const wide trace = half * (P[0] + P[4] + P[8]);
    const wide psi = half * half * norm3(P) + half * ratio * trace * trace;
    for (int i = 0; i < 3; i++)
        P[4 * i] += ratio * trace;
    multiply3(P, Q, PQ);
    return psi;
}

#include "energy/tet/tet_material.h"

static void linear_linearise(const sinew_kernel *kernel)
{
    const wide zero = wide_set(0), one = wide_set(1);
    const wide identity[9] = {one, zero, zero, zero, one, zero, zero, zero, one};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide ratio = wide_load(data + TET_MATERIAL * SIMD_WIDTH);
        tet_tangent tangent;
        wide lower[6], Q[9], turned[9], W[9];
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        load_wide_array(data + (TET_MATERIAL + FRAME) * SIMD_WIDTH, 9, Q);
        for (int i = 0; i < 9; i++)
            turned[i] = Q[3 * (i % 3) + i / 3];
        lower_multiply3(lower, turned, W);
        for (int i = 0; i < 3; i++) {
            tangent.A[i] = 2 + ratio;
            tangent.A[3 + i] = ratio;
            tangent.s[i] = one;
            tangent.t[i] = one;
        }
        tet_store_tangent(group_tangent(kernel, group, TET_TANGENT_COUNT), wide_load(data), identity, W, &tangent);
    }
}

/* Stiffness of the reduced coordinates: dpsi/dsigma (sigma, 1, 1) = (2 mu + lambda) (sigma - 1) is linear, so no fit is
 * needed. */
static void linear_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide_store(kernel->weights + group * SIMD_WIDTH,
                   (2 + wide_load(data + TET_MATERIAL * SIMD_WIDTH)) * wide_load(data));
    }
}

/* Proximal map: with E = e(Z), D = e(Y) and w = mu V: (2 w + w2) E + (lambda / mu) w tr(E) 1 = w2 D; the skew part of Y
 * is kept. */
static void linear_local_prox(const sinew_reduced_kernel *kernel)
{
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0), one = wide_set(1);
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide ratio = wide_load(data + TET_MATERIAL * SIMD_WIDTH), w = wide_load(data);
        const wide w2 = wide_load(kernel->weights + group * SIMD_WIDTH);
        const wide r = w2 / wide_select(wide_eq(w, zero), one, w), blend = r / (2 + r);
        wide lower[6], Q[9], F[9], YQ[9], Y[9], Z[9], ZQ[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        load_wide_array(data + (TET_MATERIAL + FRAME) * SIMD_WIDTH, 9, Q);
        load_wide_array(group_dual(kernel, group, 9), 9, YQ);
        for (int i = 0; i < 9; i++)
            YQ[i] += F[i];
        multiply3_nt(YQ, Q, Y);
        const wide trace = r * (Y[0] + Y[4] + Y[8] - 3) / (2 + r + 3 * ratio);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const wide even = half * (Y[3 * i + j] + Y[3 * j + i]), odd = half * (Y[3 * i + j] - Y[3 * j + i]);
                Z[3 * i + j] = i == j ? 1 + blend * (even - 1) - ratio * trace / (2 + r) : blend * even + odd;
            }
        multiply3(Z, Q, ZQ);
        tet_prox_finish(kernel, group, data, F, YQ, ZQ, lower);
    }
}

static void linear_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                             int32_t *others)
{
    const sinew_real *Q = data + TET_MATERIAL + FRAME;
    double q[3][3];
    tet_incidence(data, DATA_COUNT, particles, node, out, others, q);
    for (int i = 0; i < 9; i++) {
        const sinew_real *row = Q + i / 3 * 3;
        const double *axis = q[i % 3];
        out[TET_MATERIAL + FRAME + i] =
            (sinew_real)((double)row[0] * axis[0] + (double)row[1] * axis[1] + (double)row[2] * axis[2]);
    }
}

/* Adds gradient and block of one vertex. The block is constant: |b|^2 1 + (1 + lambda/mu) b b^T, where b is the
 * vertex's rest gradient, rotated back by the rest rotation Q (tet.h). */
KERNEL_INLINE void linear_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    const sinew_real *material = v->data + TET_MATERIAL * SIMD_WIDTH;
    const wide weight = wide_load(v->data), ratio = wide_load(material);
    wide F[9], b[3], Q[9], turned[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    load_wide_array(material + FRAME * SIMD_WIDTH, 9, Q);
    apply3(Q, b, turned);
    block_add(sum->A, weight * dot3(b, b), weight * (1 + ratio), turned);
}

static void linear_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, DATA_COUNT, linear_add);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_linear) = {
    .info = {.name = "linear",
             .summary = "mu |e|^2 + lambda/2 (tr e)^2 per volume, e = (F + F^T)/2 - 1",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = linear_prepare,
    .vertex = linear_vertex,
    .rigid_cost = SINEW_COSTS_ROTATION,
    .value = material_value,
    .gradient = material_gradient,
    .linearise = linear_linearise,
    .stiffness = linear_stiffness,
    .local_prox = linear_local_prox,
    .constraint_count = 1,
    .constrain = material_constrain,
    .jacobian = material_jacobian,
    .rooted = true,
    .incidence_data_count = DATA_COUNT,
    .incidence = linear_incidence,
    .vertex_change = material_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
