/* SPDX-License-Identifier: MIT
 *
 * directional.h: energies on triangles with warp and weft directions, whose images are the columns u and v of F. Their
 * second derivatives have the form
 *
 *     H_uu = S_uu 1 + c_uu u u^T + s v v^T      H_vv = S_vv 1 + c_vv v v^T + s u u^T
 *     H_uv = S_uv 1 + c_uv u v^T + s v u^T
 *
 * S is the in-plane stress (second Piola-Kirchhoff), which acts on rotations of the columns. c and s are moduli; s
 * belongs to shear, whose strain u.v has the gradient (v, u).
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_H

#include "energy/triangle/membrane.h"

typedef struct directional_moduli {
    wide S[3]; /* in-plane stresses S_uu S_vv S_uv along warp (u) and weft (v) */
    wide c[3]; /* moduli c_uu c_vv c_uv of the stretches along warp (u) and weft (v) */
    wide shear;
} directional_moduli;

/* Computes the moduli S, c and s at F, exact or projected so that d2psi/dF2 is semi-definite. */
typedef void directional_curvature(const wide F[6], const sinew_real *material, bool project, directional_moduli *m);

/* ---- Parameters of the warp direction ------------------------------------------------------------ */

#define DIRECTIONAL_WARP_PARAMETER(text, axis, value)                                                                  \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -INFINITY, .maximum = INFINITY, .preset = value, .open_minimum = true,    \
        .open_maximum = true,                                                                                          \
        .meaning = axis " of the warp's direction at rest; its part in the triangle's plane counts"                    \
    }
#define DIRECTIONAL_WARP_PARAMETERS                                                                                    \
    DIRECTIONAL_WARP_PARAMETER("warp_x", "x", 1), DIRECTIONAL_WARP_PARAMETER("warp_y", "y", 0),                        \
        DIRECTIONAL_WARP_PARAMETER("warp_z", "z", 0)

/* Prepares a triangle with the warp direction in parameters first .. first + 2 (sinew_triangle_prepare()). */
static inline const char *directional_prepare(const sinew_element *element, double modulus, int first, sinew_real *data)
{
    const sinew_real *p = element->parameters + first;
    const double along[3] = {(double)p[0], (double)p[1], (double)p[2]};
    return sinew_triangle_prepare(element, modulus, along, data);
}

/* ---- Second derivatives as Hessian blocks -------------------------------------------------------- */

/* K = a_u b_u H_uu + a_v b_v H_vv + ..., the 3x3 Hessian block of two vertices with rest gradients a and b. */
KERNEL_INLINE void directional_block(const directional_moduli *m, const wide F[6], const wide a[2], const wide b[2],
                                     wide K[9])
{
    const wide uu = a[0] * b[0], vv = a[1] * b[1], uv = a[0] * b[1], vu = a[1] * b[0];
    const wide diagonal = uu * m->S[0] + vv * m->S[1] + (uv + vu) * m->S[2];
    const wide along_u = uu * m->c[0] + vv * m->shear, along_v = vv * m->c[1] + uu * m->shear;
    const wide forth = uv * m->c[2] + vu * m->shear, back = vu * m->c[2] + uv * m->shear;
    for (int i = 0; i < 3; i++) {
        const wide left = along_u * F[2 * i] + back * F[2 * i + 1], right = forth * F[2 * i] + along_v * F[2 * i + 1];
        for (int j = 0; j < 3; j++)
            K[3 * i + j] = left * F[2 * j] + right * F[2 * j + 1] + (i == j ? diagonal : wide_set(0));
    }
}

KERNEL_INLINE void directional_linearise(const sinew_kernel *kernel, int data_count, directional_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide inverse[4], F[6], near[9], mixed[9], far[9];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        directional_moduli m;
        curvature(F, data + TRIANGLE_MATERIAL * SIMD_WIDTH, kernel->project, &m);
        directional_block(&m, F, inverse, inverse, near);
        directional_block(&m, F, inverse + 2, inverse, mixed);
        directional_block(&m, F, inverse + 2, inverse + 2, far);
        triangle_store_tangent(group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT), wide_load(data), near, mixed, far);
    }
}

/* Adds the 3x3 Hessian block of the incidence's node, made semi-definite. */
KERNEL_INLINE void directional_add_projected(const incidence *v, const wide F[6], const wide b[2],
                                             directional_curvature *curvature, incidence_sum *sum)
{
    directional_moduli m;
    wide K[9];
    curvature(F, v->data + TRIANGLE_MATERIAL * SIMD_WIDTH, true, &m);
    directional_block(&m, F, b, b, K);
    triangle_incidence_block(v, K, sum);
}

/* Adds an approximate Hessian block of one vertex: the moduli of warp, weft and shear in every direction of space, and
 * the square of the gradient of the shear strain. */
KERNEL_INLINE void directional_add_cheap(const incidence *v, const wide F[6], const wide b[2], wide weft, wide shear,
                                         incidence_sum *sum)
{
    const wide weight = wide_load(v->data), uu = b[0] * b[0], vv = b[1] * b[1];
    const wide turned[2] = {b[1], b[0]};
    wide c[3];
    apply32(F, turned, c);
    block_add(sum->A, weight * (uu + weft * vv + shear * (uu + vv)), weight * shear, c);
}

/* ---- Proximal map, for ADMM ---------------------------------------------------------------------- */

/* M = d2psi/dF2 + r 1, the 6x6 matrix of Newton's method for the proximal map over the six entries of F, row-major. */
KERNEL_INLINE void directional_matrix(const directional_moduli *m, const wide F[6], wide r, wide M[36])
{
    const wide zero = wide_set(0), one = wide_set(1);
    const wide unit[2][2] = {{one, zero}, {zero, one}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            wide K[9];
            directional_block(m, F, unit[a], unit[b], K);
            for (int i = 0; i < 9; i++)
                M[(2 * (i / 3) + a) * 6 + 2 * (i % 3) + b] = K[i] + (a == b && i % 4 == 0 ? r : zero);
        }
}

/* Solves the 6x6 system M d = -g for a positive definite M by L D L^T, which overwrites M. */
KERNEL_INLINE void directional_solve(wide M[36], const wide g[6], wide d[6])
{
    wide inverse[6];
    for (int j = 0; j < 6; j++) {
        inverse[j] = 1 / wide_max(M[7 * j], wide_set(WIDE_ROOT_TINY));
        for (int i = j + 1; i < 6; i++) {
            const wide l = M[6 * i + j] * inverse[j];
            for (int k = j + 1; k <= i; k++)
                M[6 * i + k] -= l * M[6 * k + j];
        }
    }
    /* M = L D L^T is factorised: M holds L D below and on the diagonal. */
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

/* Objective of the proximal map over the entries of F: psi + r/2 |Z - Y|^2 and its gradient, r =
 * ADMM's squared weight over the energy's weight */
KERNEL_INLINE wide directional_prox_value(const wide Z[6], const wide Y[6], wide r, const sinew_real *material,
                                          triangle_stress *stress, wide g[6])
{
    wide apart[6];
    const wide psi = stress(Z, material, g);
    for (int i = 0; i < 6; i++) {
        apart[i] = Z[i] - Y[i];
        g[i] += r * apart[i];
    }
    return psi + wide_set((sinew_real)0.5) * r * norm32(apart);
}

/* The Newton direction of the proximal map. The moduli are semi-definite, and at a minimum S >= -r, because only S and
 * r resist motion of the columns out of the plane. S + 0.999 r is therefore projected to semi-definite, which hardly
 * changes it at a minimum. */
KERNEL_INLINE void directional_prox_direction(const wide Z[6], wide r, const sinew_real *material,
                                              directional_curvature *curvature, const wide g[6], wide d[6])
{
    const wide max = (sinew_real)0.999 * r;
    directional_moduli m;
    wide M[36];
    curvature(Z, material, false, &m);
    m.S[0] += max;
    m.S[1] += max;
    membrane_lift(m.S);
    directional_matrix(&m, Z, r - max, M);
    directional_solve(M, g, d);
}

/* The canonical form of F for the proximal map is F itself: warp and weft distinguish the columns, so no other F is
 * equivalent. */
KERNEL_INLINE void directional_prox_canonical(wide *Z)
{
    (void)Z;
}

/* Newton's method for the proximal map starts at Y. Columns of at least a quarter of their rest length replace Y if the
 * value is lower, or if a column of Y is nearly zero and has no direction. */
KERNEL_INLINE void directional_prox_start(const prox_problem *p, prox_iterate *at)
{
    const wide min = wide_set((sinew_real)0.25), tiny = wide_set((sinew_real)1e-6), zero = wide_set(0), *Y = p->y;
    wide_mask apart = wide_eq(zero, zero);
    wide inner[6];
    for (int c = 0; c < 2; c++) {
        const wide l = wide_sqrt(Y[c] * Y[c] + Y[2 + c] * Y[2 + c] + Y[4 + c] * Y[4 + c]);
        const wide_mask some = wide_lt(tiny, l);
        const wide scale = wide_max(min / wide_select(some, l, min), wide_set(1));
        apart &= wide_lt(wide_set((sinew_real)1e-3), l);
        for (int i = 0; i < 3; i++)
            inner[2 * i + c] = wide_select(some, scale * Y[2 * i + c], i == c ? min : zero);
    }
    prox_start(p, inner, apart, at);
}

/* Proximal map over the entries of F: Z = argmin psi(Z) + r/2 |Z - Y|^2 */
KERNEL_INLINE void directional_prox_solve(const wide Y[6], wide r, const sinew_real *material, triangle_stress *stress,
                                          directional_curvature *curvature, wide Z[6])
{
    const prox_problem p = {6, Y, r, material, stress, directional_prox_value, directional_prox_canonical};
    prox_iterate at;
    wide d[6];
    directional_prox_start(&p, &at);
    for (int k = 0; k < PROX_ITERATIONS && wide_any(at.busy); k++) {
        directional_prox_direction(at.s, r, material, curvature, at.g, d);
        at.busy &= wide_lt((4 * WIDE_EPSILON * WIDE_EPSILON) * norm32(at.s), norm32(d));
        prox_step(&p, d, &at);
    }
    for (int i = 0; i < 6; i++)
        Z[i] = at.s[i];
}

KERNEL_INLINE void directional_prox(const sinew_reduced_kernel *kernel, int data_count, triangle_stress *stress,
                                    directional_curvature *curvature)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide inverse[4], F[6], Y[6], Z[6];
        triangle_deformation(kernel->x, group_vertex(&kernel->groups, group, 3), data, inverse, F);
        triangle_shifted(kernel, group, F, Y);
        const wide w = wide_load(data), safe = wide_select(wide_eq(w, wide_set(0)), wide_set(1), w);
        directional_prox_solve(Y, wide_load(kernel->weights + group * SIMD_WIDTH) / safe,
                               data + TRIANGLE_MATERIAL * SIMD_WIDTH, stress, curvature, Z);
        triangle_prox_finish(kernel, group, data, F, Y, Z, inverse);
    }
}

#endif
