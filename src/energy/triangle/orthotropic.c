/* SPDX-License-Identifier: MIT
 *
 * orthotropic.c: a sheet with different moduli along warp and weft, linear elasticity in Green's strain.
 *
 *     psi = h/2 (Q_uu e_u^2 + 2 Q_uv e_u e_v + Q_vv e_v^2 + G g^2) per rest area
 *     e_u = (u.u - 1)/2,  e_v = (v.v - 1)/2,  g = u.v
 *
 * u and v are the columns of F, the images of unit vectors along warp and weft. Plane stress: Q_uu = E_u / (1 - n),
 * Q_vv = E_v / (1 - n), Q_uv = nu E_v / (1 - n) with n = nu^2 E_v / E_u, nu being the Poisson ratio of a strip in
 * tension along the warp. Projected derivatives clamp the stress, which acts on rotations of the columns; the terms of
 * the moduli are semi-definite.
 */
#include <stdio.h>

#include "energy/triangle/directional.h"
#include "energy/plane_stress.h"

enum {
    DATA_WEFT = TRIANGLE_MATERIAL, /* Q_vv / Q_uu: modulus along the weft over that along the warp */
    DATA_CROSS,                    /* Q_uv / Q_uu: coupling of warp and weft over the warp's modulus */
    DATA_SHEAR,                    /* G / Q_uu: the shear modulus G over the warp's modulus Q_uu */
    DATA_COUNT
};
enum {
    WARP_YOUNG = 0,
    WEFT_YOUNG,
    SHEAR,
    POISSON,
    THICKNESS,
    DIRECTION
}; /* indices of the parameters of the energy orthotropic */

#define MODULUS_PARAMETER(text, value, about)                                                                          \
    {                                                                                                                  \
        .name = text, .unit = "Pa", .minimum = 0, .maximum = INFINITY, .preset = value, .open_minimum = true,          \
        .open_maximum = true, .meaning = about                                                                         \
    }

static const sinew_parameter parameters[] = {
    MODULUS_PARAMETER("warp_young", 1e5, "Young's modulus along the warp; raising it stiffens"),
    MODULUS_PARAMETER("weft_young", 5e4, "Young's modulus across the warp; raising it stiffens"),
    MODULUS_PARAMETER("shear", 1e4, "G, shear modulus of the weave; raising it stiffens"),
    {.name = "poisson",
     .unit = "",
     .minimum = -1,
     .maximum = 1,
     .preset = 0.2,
     .open_minimum = true,
     .open_maximum = true,
     .meaning =
         "how much a strip pulled along the warp gets narrower; its square must be below warp_young / weft_young"},
    PLANE_THICKNESS_PARAMETER,
    DIRECTIONAL_WARP_PARAMETERS,
};

static const char *refuse_poisson(const sinew_element *element, double nu, double bound)
{
    if (!element->reason)
        return "its Poisson's ratio is too large for its moduli; give a smaller one";
    snprintf(element->reason, SINEW_REASON_MAX,
             "poisson = %g is not within +-%g, the root of warp_young / weft_young; give a smaller one", nu, bound);
    return element->reason;
}

static const char *orthotropic_prepare(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters;
    const double warp = (double)p[WARP_YOUNG], weft = (double)p[WEFT_YOUNG], nu = (double)p[POISSON];
    const double left = 1 - nu * nu * weft / warp;
    if (!(left > 0))
        return refuse_poisson(element, nu, sqrt(warp / weft));
    data[DATA_WEFT] = (sinew_real)(weft / warp);
    data[DATA_CROSS] = (sinew_real)(nu * weft / warp);
    data[DATA_SHEAR] = (sinew_real)((double)p[SHEAR] * left / warp);
    return directional_prepare(element, warp / left * (double)p[THICKNESS], DIRECTION, data);
}

/* S = second Piola-Kirchhoff stress of the sheet as uu vv uv, per unit of Q_uu h; returns psi. */
KERNEL_INLINE wide sheet_stress(const wide F[6], const sinew_real *material, wide S[3])
{
    const wide half = wide_set((sinew_real)0.5);
    const wide weft = wide_load(material), cross = wide_load(material + SIMD_WIDTH),
               shear = wide_load(material + 2 * SIMD_WIDTH);
    wide C[3];
    metric32(F, C);
    const wide u = half * (C[0] - 1), v = half * (C[1] - 1);
    S[0] = u + cross * v;
    S[1] = weft * v + cross * u;
    S[2] = shear * C[2];
    return half * (S[0] * u + S[1] * v + S[2] * C[2]);
}

KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    wide S[3];
    const wide psi = sheet_stress(F, material, S);
    const wide M[4] = {S[0], S[2], S[2], S[1]};
    multiply32(F, M, P);
    return psi;
}

KERNEL_INLINE void curvature(const wide F[6], const sinew_real *material, bool project, directional_moduli *m)
{
    sheet_stress(F, material, m->S);
    if (project)
        membrane_lift(m->S);
    m->c[0] = wide_set(1);
    m->c[1] = wide_load(material);
    m->c[2] = wide_load(material + SIMD_WIDTH);
    m->shear = wide_load(material + 2 * SIMD_WIDTH);
}

KERNEL_INLINE void add_cheap_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    const sinew_real *material = v->data + TRIANGLE_MATERIAL * SIMD_WIDTH;
    directional_add_cheap(v, F, b, wide_load(material), wide_load(material + 2 * SIMD_WIDTH), sum);
}

#include "energy/triangle/directional_material.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_orthotropic) = {
    .info = {.name = "orthotropic",
             .summary =
                 "h/2 (Q_uu e_u^2 + 2 Q_uv e_u e_v + Q_vv e_v^2 + G g^2) per area, Green's strain in warp and weft",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    DIRECTIONAL_OPS,
    TRIANGLE_CONSTRAINT_OPS,
    .prepare = orthotropic_prepare,
};
