/* SPDX-License-Identifier: MIT
 *
 * table.c: the table of energies of one SIMD variant. A new energy adds one line.
 */
#include "energy/energy.h"
#include "math/simd.h"

#define ENERGIES(X)                                                                                                    \
    X(SINEW_ENERGY_STRAIN, strain)                                                                                     \
    X(SINEW_ENERGY_COROTATED, corotated)                                                                               \
    X(SINEW_ENERGY_NEO_HOOKEAN, neo_hookean)                                                                           \
    X(SINEW_ENERGY_NEO_HOOKEAN_LOG, neo_hookean_log)                                                                   \
    X(SINEW_ENERGY_STABLE_NEO_HOOKEAN, stable_neo_hookean)                                                             \
    X(SINEW_ENERGY_ST_VENANT_KIRCHHOFF, st_venant_kirchhoff)                                                           \
    X(SINEW_ENERGY_LINEAR, linear)                                                                                     \
    X(SINEW_ENERGY_SPRING, spring)                                                                                     \
    X(SINEW_ENERGY_POSITION, position)                                                                                 \
    X(SINEW_ENERGY_WEAK, weak)                                                                                         \
    /* further energies on tets */                                                                                     \
    X(SINEW_ENERGY_STRAIN_LIMIT, strain_limit)                                                                         \
    X(SINEW_ENERGY_FIBRE_STRAIN, fibre_strain)                                                                         \
    X(SINEW_ENERGY_VOLUME, volume)                                                                                     \
    X(SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC, neo_hookean_isochoric)                                                       \
    X(SINEW_ENERGY_EXAMPLES, examples)                                                                                 \
    X(SINEW_ENERGY_REINFORCED, reinforced)                                                                             \
    /* further energies on edges */                                                                                    \
    X(SINEW_ENERGY_EDGE_STRAIN, edge_strain)                                                                           \
    /* energies on triangles */                                                                                        \
    X(SINEW_ENERGY_TRIANGLE_STRAIN, triangle_strain)                                                                   \
    X(SINEW_ENERGY_WOVEN_STRAIN, woven_strain)                                                                         \
    X(SINEW_ENERGY_AREA, area)                                                                                         \
    X(SINEW_ENERGY_MEMBRANE_COROTATED, membrane_corotated)                                                             \
    X(SINEW_ENERGY_MEMBRANE_STVK, membrane_stvk)                                                                       \
    X(SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, membrane_neo_hookean)                                                         \
    X(SINEW_ENERGY_BARAFF_WITKIN, baraff_witkin)                                                                       \
    X(SINEW_ENERGY_ORTHOTROPIC, orthotropic)                                                                           \
    /* energies on hinges and rings */                                                                                 \
    X(SINEW_ENERGY_HINGE, hinge)                                                                                       \
    X(SINEW_ENERGY_ISOMETRIC, isometric)                                                                               \
    X(SINEW_ENERGY_MEAN_CURVATURE, mean_curvature)                                                                     \
    /* energies on shells */                                                                                           \
    X(SINEW_ENERGY_SHELL_BENDING, shell_bending)                                                                       \
    /* energies on rods */                                                                                             \
    X(SINEW_ENERGY_ROD, rod)                                                                                           \
    X(SINEW_ENERGY_DIRECTOR, director)                                                                                 \
    /* energies that are potentials of loads */                                                                        \
    X(SINEW_ENERGY_PRESSURE, pressure)                                                                                 \
    /* energies with several constraints per element, and constraints on a whole closed surface */                     \
    X(SINEW_ENERGY_GREEN_STRAIN, green_strain)                                                                         \
    X(SINEW_ENERGY_ENCLOSED_VOLUME, enclosed_volume)                                                                   \
    /* energies of joints between frames */                                                                            \
    X(SINEW_ENERGY_JOINT, joint)                                                                                       \
    X(SINEW_ENERGY_JOINT_LIMIT, joint_limit)                                                                           \
    X(SINEW_ENERGY_MOTOR, motor)                                                                                       \
    /* energies on pairs of triangles, used beside shell_bending */                                                    \
    X(SINEW_ENERGY_SHELL_JUMP, shell_jump)

#define DECLARE(kind, name) extern const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_##name);
#define ENTRY(kind, name)   [kind] = &SINEW_SIMD_SYMBOL(sinew_energy_##name),

ENERGIES(DECLARE)

static const sinew_energy_ops *const energies[SINEW_ENERGY_COUNT] = {ENERGIES(ENTRY)};

extern const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact);
extern const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact_wide);
extern const sinew_dense_kernels SINEW_SIMD_SYMBOL(sinew_dense_kernels);
extern const sinew_supernode_kernels SINEW_SIMD_SYMBOL(sinew_supernode_kernels);
extern const sinew_slot_kernels SINEW_SIMD_SYMBOL(sinew_slot_kernels);
extern const sinew_vertex_step_kernels SINEW_SIMD_SYMBOL(sinew_vertex_step_kernels);
extern const sinew_simd_variant SINEW_SIMD_SYMBOL(sinew_simd_variant);
const sinew_simd_variant SINEW_SIMD_SYMBOL(sinew_simd_variant) = {
    .name = SIMD_NAME,
    .width = SIMD_WIDTH,
    .energies = energies,
    .contact = &SINEW_SIMD_SYMBOL(sinew_energy_contact),
    .contact_wide = &SINEW_SIMD_SYMBOL(sinew_energy_contact_wide),
    .supernodes = &SINEW_SIMD_SYMBOL(sinew_supernode_kernels),
    .dense = &SINEW_SIMD_SYMBOL(sinew_dense_kernels),
    .slots = &SINEW_SIMD_SYMBOL(sinew_slot_kernels),
    .vertex_steps = &SINEW_SIMD_SYMBOL(sinew_vertex_step_kernels),
};
