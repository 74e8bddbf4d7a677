/* SPDX-License-Identifier: MIT
 *
 * tet_constraint.h: tetrahedra as constraints C = sqrt(2 (psi + offset)), one per element, for any energy that is
 * bounded from below.
 *
 * For the energy strain, C is |F - R|; for neo-Hookean, an offset gives the combined constraint of thesis (4.32). The
 * offset matters: a constant added to psi changes no force, but it changes C and thereby the error of XPBD. Hard
 * constraints (PBD) use no offset, so that C is zero at rest.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_CONSTRAINT_H
#define SINEW_SRC_ENERGY_TET_TET_CONSTRAINT_H

#include "energy/constrain.h"
#include "energy/tet/tet.h"

/* Deformation gradients F of a group of tets at the points in c. */
KERNEL_INLINE void constrain_deformation(const constrained *c, const wide lower[6], wide F[9])
{
    wide Ds[9];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            Ds[3 * i + a] = c->x[4 * (a + 1) + i] - c->x[i];
    multiply3_lower(Ds, lower, F);
}

/* Converts the derivative P of a tet's constraint by the deformation gradient F to the gradient by its vertices, in
 * c->gradient. */
KERNEL_INLINE void constrain_gradient(const wide P[9], const wide lower[6], constrained *c)
{
    wide f[9];
    multiply3_lower_t(P, lower, f);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = -(f[3 * i] + f[3 * i + 1] + f[3 * i + 2]);
        for (int a = 0; a < 3; a++)
            c->gradient[3 * (a + 1) + i] = f[3 * i + a];
    }
}

/* A constant that is added to psi under the root of the constraint, per unit of the modulus. */
typedef wide tet_offset(const sinew_real *material);

KERNEL_INLINE wide no_offset(const sinew_real *material)
{
    (void)material;
    return wide_set(0);
}

/* The constraint C and r (constrain.h) of one group of tets, with psi and P = dpsi/dF per unit of the modulus at the
 * points in c; writes r times the gradient to c. `as_energy`: C = psi. */
KERNEL_INLINE void tet_constraint(const sinew_real *data, bool as_energy, wide psi, wide P[9], wide shift,
                                  constrained *c, wide *C, wide *r)
{
    const wide zero = wide_set(0), tiny = wide_set(WIDE_EPSILON * WIDE_EPSILON), huge = wide_set(WIDE_HUGE);
    /* If the energy of a tet is undefined, C and its gradient are zero. */
    const wide_mask defined = wide_le(psi, huge);
    if (wide_any(~defined)) {
        psi = wide_select(defined, psi, zero);
        shift = wide_select(defined, shift, zero);
        for (int i = 0; i < 9; i++)
            P[i] = wide_select(defined, P[i], zero);
    }
    const wide root = wide_sqrt(wide_max(2 * (psi + shift), zero));
    wide lower[6];
    load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
    constrain_gradient(P, lower, c);
    *C = as_energy ? psi : root;
    *r = as_energy ? wide_set(1) : wide_max(root, tiny);
}

KERNEL_INLINE void tet_constrain_step(const sinew_constrain_kernel *kernel, int32_t group, int constraint_count,
                                      const sinew_real *data, wide psi, wide P[9], wide shift, constrained *c)
{
    wide C, r;
    tet_constraint(data, kernel->form == SINEW_FORM_ENERGY, psi, P, shift, c, &C, &r);
    constrain_step(kernel, group, group_vertex(&kernel->groups, group, 4), 4, C, r, wide_load(data), false,
                   group_lambda(kernel, group, constraint_count), c);
}

/* Projects one constraint per tet. Groups that share no vertex are processed in tiles, as in tet_evaluate(). rotated:
 * NULL, or the material function used instead of `stress`. */
KERNEL_INLINE void tet_any_constrain(const sinew_constrain_kernel *kernel, int data_count, int constraint_count,
                                     tet_stress *stress, tet_rotated_stress *rotated, tet_offset *offset)
{
    const bool soft = kernel->compliance > 0;
    const int32_t step = kernel->apart ? TET_TILE : 1;
    constrained c[TET_TILE];
    wide F[TET_TILE][9], R[TET_TILE][9];
    for (int32_t first = 0; first < kernel->groups.count; first += step) {
        const int32_t left = kernel->groups.count - first, count = left < step ? left : step;
        for (int32_t k = 0; k < count; k++) {
            wide lower[6];
            constrain_gather(kernel->xw, group_vertex(&kernel->groups, first + k, 4), 4, &c[k]);
            load_wide_array(group_data(&kernel->groups, first + k, data_count) + TET_LOWER * SIMD_WIDTH, 6, lower);
            constrain_deformation(&c[k], lower, F[k]);
        }
        if (rotated)
            sinew_polar3_tile(count, (const wide(*)[9])F, R);
        for (int32_t k = 0; k < count; k++) {
            const sinew_real *data = group_data(&kernel->groups, first + k, data_count),
                             *material = data + TET_MATERIAL * SIMD_WIDTH;
            wide P[9];
            const wide psi = rotated ? rotated(F[k], R[k], material, P) : stress(F[k], material, P);
            tet_constrain_step(kernel, first + k, constraint_count, data, psi, P, soft ? offset(material) : wide_set(0),
                               &c[k]);
        }
        for (int32_t k = 0; k < count; k++)
            constrain_move(kernel, group_vertex(&kernel->groups, first + k, 4), 4, &c[k]);
    }
}

KERNEL_INLINE void tet_constrain(const sinew_constrain_kernel *kernel, int data_count, int constraint_count,
                                 tet_stress *stress, tet_offset *offset)
{
    tet_any_constrain(kernel, data_count, constraint_count, stress, NULL, offset);
}

KERNEL_INLINE void tet_rotated_constrain(const sinew_constrain_kernel *kernel, int data_count, int constraint_count,
                                         tet_stress *stress, tet_rotated_stress *rotated, tet_offset *offset)
{
    tet_any_constrain(kernel, data_count, constraint_count, stress, rotated, offset);
}

/* Writes value C, gradient and compliance of a tet's constraint as the first of constraint_count constraints; the
 * others are absent. */
KERNEL_INLINE void tet_jacobian(const sinew_jacobian_kernel *kernel, int data_count, int constraint_count,
                                tet_stress *stress, tet_offset *offset)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count),
                         *material = data + TET_MATERIAL * SIMD_WIDTH;
        constrained c;
        wide lower[6], F[9], P[9], C, r;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        constrain_deformation(&c, lower, F);
        const wide psi = stress(F, material, P);
        tet_constraint(data, kernel->form == SINEW_FORM_ENERGY, psi, P, kernel->hard ? wide_set(0) : offset(material),
                       &c, &C, &r);
        for (int i = 0; i < constraint_count; i++)
            jacobian_write(kernel, group, i, constraint_count, 4, C, r, i == 0 ? wide_load(data) : wide_set(0), false,
                           &c);
    }
}

#endif
