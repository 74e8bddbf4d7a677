/* SPDX-License-Identifier: MIT
 *
 * orthotropic.c: a sheet with different moduli along warp and weft, linear elasticity in Green's strain.
 *
 *     psi = h/2 (Q_uu e_u^2 + 2 Q_uv e_u e_v + Q_vv e_v^2 + G g^2) per rest area
 *     e_u = (u.u - 1)/2,  e_v = (v.v - 1)/2,  g = u.v
 *
 * u and v are the columns of F, what unit vectors along warp and weft become. Plane stress: Q_uu = E_u / (1 - n), Q_vv
 * = E_v / (1 - n), Q_uv = nu E_v / (1 - n) with n = nu^2 E_v / E_u, nu being how much a strip pulled along the warp
 * gets narrower. Projected derivatives clamp the stress, which turns columns; what the moduli add is semi-definite.
 */
#include <stdio.h>

#include "energy/triangle/directional.h"
#include "energy/plane_stress.h"

enum {
    DATA_WEFT = TRIANGLE_MATERIAL, /* Q_vv / Q_uu */
    DATA_CROSS,                    /* Q_uv / Q_uu */
    DATA_SHEAR,                    /* G / Q_uu */
    DATA_COUNT
};
enum {
    WARP_YOUNG = 0,
    WEFT_YOUNG,
    SHEAR,
    POISSON,
    THICKNESS,
    DIRECTION
}; /* parameters */

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

/* The stress as uu vv uv, per unit of Q_uu; returns psi. */
KERNEL_INLINE lane sheet_stress(const lane F[6], const sinew_real *material, lane S[3])
{
    const lane half = lane_set((sinew_real)0.5);
    const lane weft = lane_load(material), cross = lane_load(material + LANES), shear = lane_load(material + 2 * LANES);
    lane C[3];
    metric32(F, C);
    const lane u = half * (C[0] - 1), v = half * (C[1] - 1);
    S[0] = u + cross * v;
    S[1] = weft * v + cross * u;
    S[2] = shear * C[2];
    return half * (S[0] * u + S[1] * v + S[2] * C[2]);
}

KERNEL_INLINE lane stress(const lane F[6], const sinew_real *material, lane P[6])
{
    lane S[3];
    const lane psi = sheet_stress(F, material, S);
    const lane M[4] = {S[0], S[2], S[2], S[1]};
    multiply32(F, M, P);
    return psi;
}

KERNEL_INLINE void curvature(const lane F[6], const sinew_real *material, bool project, directional_moduli *m)
{
    sheet_stress(F, material, m->S);
    if (project)
        membrane_lift(m->S);
    m->c[0] = lane_set(1);
    m->c[1] = lane_load(material);
    m->c[2] = lane_load(material + LANES);
    m->shear = lane_load(material + 2 * LANES);
}

KERNEL_INLINE void cheap(const visit *v, const lane F[6], const lane b[2], visit_sum *sum)
{
    const sinew_real *material = v->data + TRIANGLE_MATERIAL * LANES;
    directional_cheap(v, F, b, lane_load(material), lane_load(material + 2 * LANES), sum);
}

#include "energy/triangle/directional_material.h"

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_orthotropic) = {
    .info = {.name = "orthotropic",
             .summary =
                 "h/2 (Q_uu e_u^2 + 2 Q_uv e_u e_v + Q_vv e_v^2 + G g^2) per area, Green's strain in warp and weft",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    DIRECTIONAL_OPS,
    TRIANGLE_CONSTRAINT_OPS,
    .prepare = orthotropic_prepare,
};
