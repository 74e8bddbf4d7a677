/* SPDX-License-Identifier: MIT
 *
 * membrane_neo_hookean.c: a sheet of incompressible rubber, which becomes thinner when stretched.
 *
 *     psi = h mu/2 (|F|^2 + 1/J^2 - 3) per rest area,  J = sigma0 sigma1        P = h mu (F - F cof(F^T F) / J^4)
 *
 * The Neo-Hookean energy of a solid in plane stress: the third stretch 1/J preserves the volume, and there is no stress
 * across the sheet. mu = E/3. psi is infinite without area: value and gradient return +inf, the element adds nothing to
 * g and its tangent is zero. Such shapes are rare: a triangle has no area only while it inverts within its plane.
 */
#include "energy/triangle/membrane.h"
#include "energy/plane_stress.h"
#include "math/vec3.h"

enum {
    DATA_COUNT = TRIANGLE_MATERIAL,
    RUBBER_YOUNG = 0,
    RUBBER_THICKNESS = 1
};

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, PLANE_THICKNESS_PARAMETER};

static const char *rubber_prepare(const sinew_element *element, sinew_real *data)
{
    const double mu = (double)element->parameters[RUBBER_YOUNG] / 3;
    return sinew_triangle_prepare(element, mu * (double)element->parameters[RUBBER_THICKNESS], NULL, data);
}

/* Lower bound of J^2, the squared ratio of areas; smaller values have no finite 1/J^4. */
#define SQUARE_BOUND WIDE_ROOT_TINY

/* The stress of the sheet. Near rest psi is computed without cancellation, because its root, a constraint, would
 * magnify round-off: with E = (F^T F - 1)/2, d = 2 tr E + 4 det E and J^2 = 1 + d, psi is half of
 * d^2 / (1 + d) - 4 det E. */
KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    (void)material;
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0), one = wide_set(1);
    wide C[3], n[3];
    metric32(F, C);
    normal32(F, n);
    const wide square = dot3(n, n);
    const wide_mask defined = wide_lt(wide_set(SQUARE_BOUND), square);
    const wide inverse = 1 / wide_select(defined, square, one), inverse_square = inverse * inverse;
    const wide S[4] = {1 - inverse_square * C[1], inverse_square * C[2], inverse_square * C[2],
                       1 - inverse_square * C[0]};
    multiply32(F, S, P);
    for (int i = 0; i < 6; i++)
        P[i] = wide_select(defined, P[i], zero);
    const wide e0 = C[0] - 1, e1 = C[1] - 1, det = e0 * e1 - C[2] * C[2], growth = e0 + e1 + det;
    const wide_mask near = wide_lt(wide_abs(growth), half);
    const wide psi = wide_select(near, growth * growth * inverse - det, (C[0] + C[1] - 3) + inverse);
    return wide_select(defined, half * psi, wide_set((sinew_real)INFINITY));
}

/* Second derivatives of psi, with dpsi/dsigma_i = sigma_i - q / sigma_i and q = 1/J^2. */
KERNEL_INLINE void curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    (void)material;
    const wide zero = wide_set(0), one = wide_set(1), J = sigma[0] * sigma[1];
    const wide_mask defined = wide_lt(wide_set(SQUARE_BOUND), J * J);
    const wide root = 1 / wide_select(defined, J, one), q = root * root;
    for (int i = 0; i < 2; i++) {
        const wide own = 1 / wide_select(defined, sigma[i], one), ratio = q * (own * own);
        eigen->A[i] = wide_select(defined, 1 + 3 * ratio, zero);
        eigen->out[i] = wide_select(defined, 1 - ratio, zero);
    }
    eigen->A[2] = wide_select(defined, 2 * q * root, zero);
    eigen->even = wide_select(defined, 1 + q * root, zero);
    eigen->odd = wide_select(defined, 1 - q * root, zero);
}

/* Adds the approximate Hessian block of one vertex. As one vertex moves, J is a distance, which is convex, and 1/(2
 * J^2) decreases with J: the omitted term is negative. The block is no upper bound, as 1/J^2 is unbounded. */
KERNEL_INLINE void add_cheap_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    wide n[3];
    normal32(F, n);
    const wide square = dot3(n, n);
    const wide_mask defined = wide_lt(wide_set(SQUARE_BOUND), square);
    const wide inverse = 1 / wide_select(defined, square, wide_set(1));
    triangle_incidence_bound(v, F, b, wide_set(1), wide_select(defined, 3 * inverse * inverse, wide_set(0)), sum);
}

#include "energy/triangle/membrane_material.h"

/* ---- Step length at which a triangle has no area ------------------------------------------------- */

/* Coefficients of the triangle's normal along a step: c[0] + c[1] t + c[2] t^2 is the cross product of the columns of F
 * + t D. */
static void normal_along(const double F[2][3], const double D[2][3], double c[3][3])
{
    memset(c, 0, 9 * sizeof c[0][0]);
    vec3_add_cross(F[0], F[1], 1, c[0]);
    vec3_add_cross(F[0], D[1], 1, c[1]);
    vec3_add_cross(D[0], F[1], 1, c[1]);
    vec3_add_cross(D[0], D[1], 1, c[2]);
}

/* Whether the triangle's normal at the step length t is only round-off. */
static bool normal_vanishes(const double c[3][3], double t)
{
    double size = 0, scale = 0;
    for (int i = 0; i < 3; i++) {
        size = fmax(size, fabs(c[0][i] + t * (c[1][i] + t * c[2][i])));
        scale = fmax(scale, fabs(c[0][i]) + t * (fabs(c[1][i]) + t * fabs(c[2][i])));
    }
    return size <= 64 * (double)WIDE_EPSILON * scale;
}

/* The first step length t <= max at which a triangle's area is zero: a root of the component of the normal along the
 * normal at t = 0. */
static double first_step_without_area(const double c[3][3], double max)
{
    double q[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            q[k] += c[k][i] * c[0][i];
    const double under = q[1] * q[1] - 4 * q[2] * q[0];
    /* Round-off may lose a double root of the quadratic: the position of its minimum replaces the root. */
    const double half = -0.5 * (q[1] + copysign(sqrt(fmax(under, 0)), q[1]));
    const double roots[2] = {half / q[2], q[0] / half};
    for (int i = 0; i < 2; i++)
        if (roots[i] > 0 && roots[i] < max && normal_vanishes(c, roots[i]))
            max = roots[i];
    return max;
}

static double rubber_step_limit(const sinew_kernel *kernel, double max)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        wide inverse[4], F[6], D[6];
        triangle_deformation(kernel->x, vertex, data, inverse, F);
        triangle_deformation(kernel->p, vertex, data, inverse, D);
        for (int i = 0; i < SIMD_WIDTH; i++) {
            double f[2][3], d[2][3], c[3][3];
            for (int k = 0; k < 6; k++) {
                f[k % 2][k / 2] = (double)wide_get(F[k], i);
                d[k % 2][k / 2] = (double)wide_get(D[k], i);
            }
            normal_along((const double(*)[3])f, (const double(*)[3])d, c);
            if (data[TRIANGLE_WEIGHT * SIMD_WIDTH + i] > 0)
                max = first_step_without_area((const double(*)[3])c, max);
        }
    }
    return max;
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_membrane_neo_hookean) = {
    .info = {.name = "membrane_neo_hookean",
             .summary = "h mu/2 (|F|^2 + 1/J^2 - 3) per area: incompressible rubber in plane stress",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    MEMBRANE_OPS,
    .prepare = rubber_prepare,
    .barrier = true,
    .step_limit = rubber_step_limit,
    .vertex_bounds = 0,
};
