/* SPDX-License-Identifier: MIT
 *
 * directional.h: energies on triangles that know the directions of warp and weft: the columns u and v of F are what
 * these become. With w_u, w_v the columns d2psi is, for all of them,
 *
 *     H_uu = S_uu 1 + c_uu u u^T + s v v^T      H_vv = S_vv 1 + c_vv v v^T + s u u^T
 *     H_uv = S_uv 1 + c_uv u v^T + s v u^T
 *
 * S is the stress along the sheet (second Piola-Kirchhoff), which turns columns, c and s are moduli: s that of shear,
 * whose strain u.v has the gradient (v, u).
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_H

#include "energy/triangle/membrane.h"

#define DIRECTIONAL_ITERATIONS 40 /* Newton's method of the proximal map */
#define DIRECTIONAL_HALVINGS   30

typedef struct directional_moduli {
    lane S[3]; /* uu vv uv */
    lane c[3]; /* uu vv uv */
    lane shear;
} directional_moduli;

/* The moduli at F, exact or such that d2psi is semi-definite. */
typedef void directional_curvature(const lane F[6], const sinew_real *material, bool project, directional_moduli *m);

/* ---- Parameters ----------------------------------------------------------------------------------- */

#define DIRECTIONAL_WARP_PARAMETER(text, axis, value)                                                                  \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -INFINITY, .maximum = INFINITY, .preset = value, .open_minimum = true,    \
        .open_maximum = true,                                                                                          \
        .meaning = axis " of the warp's direction at rest; its part in the triangle's plane counts"                    \
    }
#define DIRECTIONAL_WARP_PARAMETERS                                                                                    \
    DIRECTIONAL_WARP_PARAMETER("warp_x", "x", 1), DIRECTIONAL_WARP_PARAMETER("warp_y", "y", 0),                        \
        DIRECTIONAL_WARP_PARAMETER("warp_z", "z", 0)

/* The same as sinew_triangle_prepare with the direction that begins at parameter number `first`. */
static inline const char *directional_prepare(const sinew_element *element, double modulus, int first, sinew_real *data)
{
    const sinew_real *p = element->parameters + first;
    const double along[3] = {(double)p[0], (double)p[1], (double)p[2]};
    return sinew_triangle_prepare(element, modulus, along, data);
}

/* ---- Second derivatives --------------------------------------------------------------------------- */

/* K += scale H_uu + ... : the block of two vertices with rest gradients a and b. */
KERNEL_INLINE void directional_block(const directional_moduli *m, const lane F[6], const lane a[2], const lane b[2],
                                     lane K[9])
{
    const lane uu = a[0] * b[0], vv = a[1] * b[1], uv = a[0] * b[1], vu = a[1] * b[0];
    const lane diagonal = uu * m->S[0] + vv * m->S[1] + (uv + vu) * m->S[2];
    const lane along_u = uu * m->c[0] + vv * m->shear, along_v = vv * m->c[1] + uu * m->shear;
    const lane forth = uv * m->c[2] + vu * m->shear, back = vu * m->c[2] + uv * m->shear;
    for (int i = 0; i < 3; i++) {
        const lane left = along_u * F[2 * i] + back * F[2 * i + 1], right = forth * F[2 * i] + along_v * F[2 * i + 1];
        for (int j = 0; j < 3; j++)
            K[3 * i + j] = left * F[2 * j] + right * F[2 * j + 1] + (i == j ? diagonal : lane_set(0));
    }
}

KERNEL_INLINE void directional_linearise(const sinew_kernel *kernel, int data_count, directional_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane inverse[4], F[6], near[9], mixed[9], far[9];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        directional_moduli m;
        curvature(F, data + TRIANGLE_MATERIAL * LANES, kernel->project, &m);
        directional_block(&m, F, inverse, inverse, near);
        directional_block(&m, F, inverse + 2, inverse, mixed);
        directional_block(&m, F, inverse + 2, inverse + 2, far);
        triangle_store_tangent(group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT), lane_load(data), near, mixed, far);
    }
}

/* sum += the block of the second derivatives, made semi-definite. */
KERNEL_INLINE void directional_visit(const visit *v, const lane F[6], const lane b[2], directional_curvature *curvature,
                                     visit_sum *sum)
{
    directional_moduli m;
    lane K[9];
    curvature(F, v->data + TRIANGLE_MATERIAL * LANES, true, &m);
    directional_block(&m, F, b, b, K);
    triangle_visit_block(v, K, sum);
}

/* A cheap block: moduli that do not depend on F, those of warp, weft and shear at rest, in every direction of space. */
KERNEL_INLINE void directional_cheap(const visit *v, const lane F[6], const lane b[2], lane weft, lane shear,
                                     visit_sum *sum)
{
    const lane weight = lane_load(v->data), uu = b[0] * b[0], vv = b[1] * b[1];
    const lane turned[2] = {b[1], b[0]};
    lane c[3];
    apply32(F, turned, c);
    block_add(sum->A, weight * (uu + weft * vv + shear * (uu + vv)), weight * shear, c);
}

/* ---- Proximal map --------------------------------------------------------------------------------- */

/* M = d2psi + r 1 over the six numbers of F, row by row. */
KERNEL_INLINE void directional_matrix(const directional_moduli *m, const lane F[6], lane r, lane M[36])
{
    const lane zero = lane_set(0), one = lane_set(1);
    const lane unit[2][2] = {{one, zero}, {zero, one}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            lane K[9];
            directional_block(m, F, unit[a], unit[b], K);
            for (int i = 0; i < 9; i++)
                M[(2 * (i / 3) + a) * 6 + 2 * (i % 3) + b] = K[i] + (a == b && i % 4 == 0 ? r : zero);
        }
}

/* Solves M d = -g by Cholesky, which overwrites M, positive definite. */
KERNEL_INLINE void directional_solve(lane M[36], const lane g[6], lane d[6])
{
    lane inverse[6];
    for (int j = 0; j < 6; j++) {
        inverse[j] = 1 / lane_max(M[7 * j], lane_set(LANE_ROOT_TINY));
        for (int i = j + 1; i < 6; i++) {
            const lane l = M[6 * i + j] * inverse[j];
            for (int k = j + 1; k <= i; k++)
                M[6 * i + k] -= l * M[6 * k + j];
        }
    }
    /* M holds L D below and on the diagonal. */
    for (int i = 0; i < 6; i++) {
        d[i] = -g[i];
        for (int k = 0; k < i; k++)
            d[i] -= M[6 * i + k] * inverse[k] * d[k];
    }
    for (int i = 5; i >= 0; i--) {
        d[i] *= inverse[i];
        for (int k = i + 1; k < 6; k++)
            d[i] -= M[6 * k + i] * inverse[i] * d[k];
    }
}

/* psi + r/2 |Z - Y|^2 and its gradient, r = w2 / w */
KERNEL_INLINE lane directional_prox_value(const lane Z[6], const lane Y[6], lane r, const sinew_real *material,
                                          triangle_stress *stress, lane g[6])
{
    lane apart[6];
    const lane psi = stress(Z, material, g);
    for (int i = 0; i < 6; i++) {
        apart[i] = Z[i] - Y[i];
        g[i] += r * apart[i];
    }
    return psi + lane_set((sinew_real)0.5) * r * norm32(apart);
}

/* Newton's direction. Beside S the moduli are semi-definite, and at a minimum S is no less than -r, as nothing else
 * holds the columns out of the plane: so S + 0.999 r is lifted to semi-definite, which changes next to nothing there.
 */
KERNEL_INLINE void directional_prox_direction(const lane Z[6], lane r, const sinew_real *material,
                                              directional_curvature *curvature, const lane g[6], lane d[6])
{
    const lane most = (sinew_real)0.999 * r;
    directional_moduli m;
    lane M[36];
    curvature(Z, material, false, &m);
    m.S[0] += most;
    m.S[1] += most;
    membrane_lift(m.S);
    directional_matrix(&m, Z, r - most, M);
    directional_solve(M, g, d);
}

/* Where the iteration begins: at Y, or with columns of no less than a quarter of their length at rest where that is
 * lower, or Y has a column that has shrunk to nothing, which would not know where to grow. */
KERNEL_INLINE lane directional_prox_start(const lane Y[6], lane r, const sinew_real *material, triangle_stress *stress,
                                          lane Z[6], lane g[6])
{
    const lane least = lane_set((sinew_real)0.25), tiny = lane_set((sinew_real)1e-6), zero = lane_set(0);
    lane_mask apart = lane_eq(zero, zero);
    lane inner[6];
    for (int c = 0; c < 2; c++) {
        const lane l = lane_sqrt(Y[c] * Y[c] + Y[2 + c] * Y[2 + c] + Y[4 + c] * Y[4 + c]);
        const lane_mask some = lane_lt(tiny, l);
        const lane scale = lane_max(least / lane_select(some, l, least), lane_set(1));
        apart &= lane_lt(lane_set((sinew_real)1e-3), l);
        for (int i = 0; i < 3; i++)
            inner[2 * i + c] = lane_select(some, scale * Y[2 * i + c], i == c ? least : zero);
    }
    const lane outside = directional_prox_value(Y, Y, r, material, stress, g);
    const lane inside = directional_prox_value(inner, Y, r, material, stress, g);
    const lane_mask stay = apart & lane_le(outside, inside);
    for (int i = 0; i < 6; i++)
        Z[i] = lane_select(stay, Y[i], inner[i]);
    return directional_prox_value(Z, Y, r, material, stress, g);
}

/* Z = argmin psi(Z) + r/2 |Z - Y|^2, by Newton's method and a line search; all lanes go on until every one is done. */
KERNEL_INLINE void directional_prox_solve(const lane Y[6], lane r, const sinew_real *material, triangle_stress *stress,
                                          directional_curvature *curvature, lane Z[6])
{
    const lane zero = lane_set(0);
    lane g[6], d[6], value = directional_prox_start(Y, r, material, stress, Z, g);
    lane_mask busy = lane_eq(zero, zero);
    for (int k = 0; k < DIRECTIONAL_ITERATIONS && lane_any(busy); k++) {
        directional_prox_direction(Z, r, material, curvature, g, d);
        lane slope = zero;
        for (int i = 0; i < 6; i++)
            slope += g[i] * d[i];
        busy &= lane_lt((4 * LANE_EPSILON * LANE_EPSILON) * norm32(Z), norm32(d));
        lane alpha = lane_select(busy, lane_set(1), zero), T[6], tg[6], tv;
        for (int half = 0;; half++) {
            for (int i = 0; i < 6; i++)
                T[i] = Z[i] + alpha * d[i];
            tv = directional_prox_value(T, Y, r, material, stress, tg);
            /* Round-off of the values must not stop a step that the slope wants. */
            const lane slack = 8 * LANE_EPSILON * (lane_abs(value) + 1);
            const lane_mask poor = ~lane_le(tv, value + (sinew_real)1e-4 * alpha * slope + slack);
            if (half == DIRECTIONAL_HALVINGS || !lane_any(poor))
                break;
            alpha = lane_select(poor, (sinew_real)0.5 * alpha, alpha);
        }
        for (int i = 0; i < 6; i++) {
            Z[i] = T[i];
            g[i] = tg[i];
        }
        value = tv;
    }
}

KERNEL_INLINE void directional_prox(const sinew_reduced_kernel *kernel, int data_count, triangle_stress *stress,
                                    directional_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane inverse[4], F[6], Y[6], Z[6];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        triangle_shifted(kernel, group, F, Y);
        const lane w = lane_load(data), safe = lane_select(lane_eq(w, lane_set(0)), lane_set(1), w);
        directional_prox_solve(Y, lane_load(kernel->weights + group * LANES) / safe, data + TRIANGLE_MATERIAL * LANES,
                               stress, curvature, Z);
        triangle_prox_finish(kernel, group, data, F, Y, Z, inverse);
    }
}

#endif
