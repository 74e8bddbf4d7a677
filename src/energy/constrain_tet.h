/* SPDX-License-Identifier: MIT
 *
 * constrain_tet.h: tetrahedra as constraints: C = sqrt(2 (psi + offset)), one an element, for any energy bounded from
 * below.
 *
 * The strain energy's C is |F - R|; neo-Hookean's with its offset is the combined constraint of thesis (4.32). The
 * offset matters: adding a constant to psi changes no force, but it changes C, and with it what XPBD leaves out. Hard
 * constraints (PBD) use no offset, so that C is zero at rest.
 */
#ifndef SINEW_CONSTRAIN_TET_H
#define SINEW_CONSTRAIN_TET_H

#include "energy/constrain.h"
#include "energy/tet.h"

/* F of the group's points in c. */
KERNEL_INLINE void constrain_deformation(const constrained *c, const lane rest[9], lane F[9])
{
    lane Ds[9];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            Ds[3 * i + a] = c->x[4 * (a + 1) + i] - c->x[i];
    multiply3(Ds, rest, F);
}

/* The gradient of C over the vertices from dC/dF. */
KERNEL_INLINE void constrain_gradient(const lane P[9], const lane rest[9], constrained *c)
{
    lane f[9];
    multiply3_nt(P, rest, f);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = -(f[3 * i] + f[3 * i + 1] + f[3 * i + 2]);
        for (int a = 0; a < 3; a++)
            c->gradient[3 * (a + 1) + i] = f[3 * i + a];
    }
}

/* A constant to add to psi under the root, per unit of the modulus. */
typedef lane tet_offset(const sinew_real *material);

KERNEL_INLINE lane no_offset(const sinew_real *material)
{
    (void)material;
    return lane_set(0);
}

KERNEL_INLINE void tet_constrain(const sinew_kernel *kernel, int data_count, int constraint_count, tet_stress *stress,
                                 tet_offset *offset)
{
    const lane zero = lane_set(0), tiny = lane_set(LANE_EPSILON * LANE_EPSILON), huge = lane_set(LANE_HUGE);
    const bool soft = kernel->compliance > 0;
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *data = group_data(kernel, group, data_count);
        const int32_t *vertex = group_vertex(kernel, group, 4);
        constrained c;
        lane rest[9], F[9], P[9];
        constrain_gather(kernel->xw, vertex, 4, &c);
        load_lanes(data + TET_REST * LANES, 9, rest);
        constrain_deformation(&c, rest, F);
        const lane psi = stress(F, data + TET_MATERIAL * LANES, P), weight = lane_load(data);
        /* Where the energy is not defined there is no constraint to go by. */
        const lane_mask defined = lane_le(psi, huge);
        const lane shift = soft ? offset(data + TET_MATERIAL * LANES) : zero;
        const lane root = lane_sqrt(lane_max(2 * (psi + shift), zero));
        const bool whole = kernel->form == SINEW_FORM_ENERGY;
        const lane C = lane_select(defined, whole ? psi : root, zero);
        const lane scale = whole ? lane_set(1) : 1 / lane_max(root, tiny);
        for (int i = 0; i < 9; i++)
            P[i] = lane_select(defined, scale * P[i], zero);
        constrain_gradient(P, rest, &c);
        constrain_apply(kernel, group, vertex, 4, C, weight, false, group_lambda(kernel, group, constraint_count), &c);
    }
}

#endif
