/* SPDX-License-Identifier: MIT
 *
 * strain.c: the squared distance of F to the rotations.
 *
 *     psi = k/2 |F - R|^2 = k/2 sum (sigma_i - 1)^2        P = k (F - R)
 *
 * Thesis (3.13), after Bouaziz et al. 2014. R is the proper rotation nearest to F, so psi keeps growing through an
 * inversion. At rest psi is linear elasticity with mu = k/2 and lambda = 0, without separate resistance to change of
 * volume. P jumps where sigma1 + sigma2 = 0 (isotropic.h).
 */
#include "energy/tet/tet_constraint.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL
};

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "Pa",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1e5,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, energy per volume and squared stretch; raising it stiffens"},
};

static const char *tet_strain_prepare(const sinew_element *element, sinew_real *data)
{
    return sinew_tet_prepare(element, (double)element->parameters[0], data, NULL);
}

KERNEL_INLINE wide strain_rotated_stress(const wide F[9], const wide R[9], const sinew_real *material, wide P[9])
{
    (void)material;
    for (int i = 0; i < 9; i++)
        P[i] = F[i] - R[i];
    return wide_set((sinew_real)0.5) * norm3(P);
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    wide R[9];
    sinew_polar3(F, R);
    return strain_rotated_stress(F, R, material, P);
}

KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    (void)material;
    wide term[3];
    isotropic_rotation_term(sigma, term);
    for (int i = 0; i < 3; i++) {
        eigen->A[i] = wide_set(1);
        eigen->A[3 + i] = wide_set(0);
        eigen->even[i] = wide_set(1);
        eigen->odd[i] = 1 - term[i];
    }
}

#include "energy/tet/isotropic_material.h"

static double strain_value(const sinew_kernel *kernel)
{
    return tet_rotated_value(kernel, DATA_COUNT, stress, strain_rotated_stress);
}

static double strain_gradient(const sinew_kernel *kernel)
{
    return tet_rotated_gradient(kernel, DATA_COUNT, stress, strain_rotated_stress);
}

static void strain_stiffness(const sinew_reduced_kernel *kernel)
{
    tet_weight_stiffness(kernel, DATA_COUNT);
}

/* PD's projection: g += w D^T R, with the weight w, the reduction matrix D of z = D x, and the rotation R nearest to
 * F. */
static void strain_local_project(const sinew_reduced_kernel *kernel)
{
    wide F[TET_TILE][9], R[TET_TILE][9];
    tet_tile tile;
    for (int32_t first = 0; first < kernel->groups.count; first += tile.count) {
        tile = tet_tile_at(&kernel->groups, first);
        tet_gather_tile(&kernel->groups, kernel->x, &tile, DATA_COUNT, F);
        sinew_polar3_tile(tile.count, (const wide(*)[9])F, R);
        tet_scatter_tile(&kernel->groups, kernel->g, &tile, DATA_COUNT, true, (const wide(*)[9])R);
    }
}

/* Proximal map: min over Z of min over R of w/2 |Z - R|^2 + w2/2 |Z - Y|^2: for any R, Z = (w R + w2 Y) / (w + w2), and
 * the remainder, |R - Y|^2 times a constant, is minimal for the rotation nearest to Y. */
static void strain_local_prox(const sinew_reduced_kernel *kernel)
{
    wide F[TET_TILE][9], Y[TET_TILE][9], R[TET_TILE][9];
    tet_tile tile;
    for (int32_t first = 0; first < kernel->groups.count; first += tile.count) {
        tile = tet_tile_at(&kernel->groups, first);
        tet_gather_tile(&kernel->groups, kernel->x, &tile, DATA_COUNT, F);
        for (int32_t k = 0; k < tile.count; k++) {
            load_wide_array(group_dual(kernel, first + k, 9), 9, Y[k]);
            for (int i = 0; i < 9; i++)
                Y[k][i] += F[k][i];
        }
        sinew_polar3_tile(tile.count, (const wide(*)[9])Y, R);
        for (int32_t k = 0; k < tile.count; k++) {
            const sinew_real *data = group_data(&kernel->groups, first + k, DATA_COUNT);
            const wide w = wide_load(data), blend = w / (w + wide_load(kernel->weights + (first + k) * SIMD_WIDTH));
            for (int i = 0; i < 9; i++)
                R[k][i] = Y[k][i] + blend * (R[k][i] - Y[k][i]);
            tet_prox_dual(kernel, first + k, data, F[k], Y[k], R[k], F[k]);
        }
        tet_scatter_tile(&kernel->groups, kernel->g, &tile, DATA_COUNT, false, (const wide(*)[9])F);
    }
}

static void strain_constrain(const sinew_constrain_kernel *kernel)
{
    tet_rotated_constrain(kernel, DATA_COUNT, 1, stress, strain_rotated_stress, no_offset);
}

/* Adds the gradient of one vertex, which needs only R b, and the approximate block with 2 mu = k and lambda = 0. */
KERNEL_INLINE void strain_add_cheap(const incidence *v, const wide F[9], const wide R[9], const wide b[3],
                                    incidence_sum *sum)
{
    const wide weight = wide_load(v->data), diagonal = weight * dot3(b, b);
    wide fb[3], rb[3];
    apply3(F, b, fb);
    apply3(R, b, rb);
    for (int i = 0; i < 3; i++) {
        sum->g[i] += weight * (fb[i] - rb[i]);
        sum->A[i] += diagonal;
    }
}

static void strain_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        incidence_run(kernel, 3, DATA_COUNT, true, material_add_exact);
    else
        tet_rotated_vertex(kernel, DATA_COUNT, strain_add_cheap);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_strain) = {
    .info = {.name = "strain",
             .summary = "k/2 |F - R|^2 per volume",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES | SINEW_CAN_PROJECT},
    TET_MATERIAL_OPS,
    .prepare = tet_strain_prepare,
    .vertex = strain_vertex,
    .value = strain_value,
    .gradient = strain_gradient,
    .linearise = material_linearise,
    .stiffness = strain_stiffness,
    .local_project = strain_local_project,
    .local_prox = strain_local_prox,
    .constraint_count = 1,
    .constrain = strain_constrain,
    .jacobian = material_jacobian,
    .rooted = true,
    INCIDENCE_ANY_OPS,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
