/* SPDX-License-Identifier: MIT
 *
 * table.c: the energies of one lane variant. Adding one is one line here.
 */
#include "energy/energy.h"
#include "math/lanes.h"

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
    /* more on tets */                                                                                                 \
    X(SINEW_ENERGY_STRAIN_LIMIT, strain_limit)                                                                         \
    X(SINEW_ENERGY_FIBRE_STRAIN, fibre_strain)                                                                         \
    X(SINEW_ENERGY_VOLUME, volume)                                                                                     \
    X(SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC, neo_hookean_isochoric)                                                       \
    X(SINEW_ENERGY_EXAMPLES, examples)                                                                                 \
    X(SINEW_ENERGY_REINFORCED, reinforced)                                                                             \
    /* more on edges */                                                                                                \
    X(SINEW_ENERGY_EDGE_STRAIN, edge_strain)                                                                           \
    /* on triangles */                                                                                                 \
    X(SINEW_ENERGY_TRIANGLE_STRAIN, triangle_strain)                                                                   \
    X(SINEW_ENERGY_WOVEN_STRAIN, woven_strain)                                                                         \
    X(SINEW_ENERGY_AREA, area)                                                                                         \
    X(SINEW_ENERGY_MEMBRANE_COROTATED, membrane_corotated)                                                             \
    X(SINEW_ENERGY_MEMBRANE_STVK, membrane_stvk)                                                                       \
    X(SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, membrane_neo_hookean)                                                         \
    X(SINEW_ENERGY_BARAFF_WITKIN, baraff_witkin)                                                                       \
    X(SINEW_ENERGY_ORTHOTROPIC, orthotropic)                                                                           \
    /* on hinges and rings */                                                                                          \
    X(SINEW_ENERGY_HINGE, hinge)                                                                                       \
    X(SINEW_ENERGY_ISOMETRIC, isometric)                                                                               \
    X(SINEW_ENERGY_MEAN_CURVATURE, mean_curvature)                                                                     \
    /* on shells */                                                                                                    \
    X(SINEW_ENERGY_SHELL_BENDING, shell_bending)                                                                       \
    /* on rods */                                                                                                      \
    X(SINEW_ENERGY_ROD, rod)                                                                                           \
    X(SINEW_ENERGY_DIRECTOR, director)                                                                                 \
    /* loads */                                                                                                        \
    X(SINEW_ENERGY_PRESSURE, pressure)                                                                                 \
    /* vector constraints, and those of a whole surface */                                                             \
    X(SINEW_ENERGY_GREEN_STRAIN, green_strain)                                                                         \
    X(SINEW_ENERGY_ENCLOSED_VOLUME, enclosed_volume)                                                                   \
    /* between frames */                                                                                               \
    X(SINEW_ENERGY_JOINT, joint)                                                                                       \
    X(SINEW_ENERGY_JOINT_LIMIT, joint_limit)                                                                           \
    X(SINEW_ENERGY_MOTOR, motor)

#define DECLARE(kind, name) extern const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_##name);
#define ENTRY(kind, name)   [kind] = &SINEW_LANE_SYMBOL(sinew_energy_##name),

ENERGIES(DECLARE)

static const sinew_energy_ops *const energies[SINEW_ENERGY_COUNT] = {ENERGIES(ENTRY)};

extern const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_contact);
extern const sinew_dense_kernels SINEW_LANE_SYMBOL(sinew_dense_kernels);
extern const sinew_panel_kernels SINEW_LANE_SYMBOL(sinew_panel_kernels);
extern const sinew_slot_kernels SINEW_LANE_SYMBOL(sinew_slot_kernels);
extern const sinew_visit_kernels SINEW_LANE_SYMBOL(sinew_visit_kernels);
extern const sinew_lane_variant SINEW_LANE_SYMBOL(sinew_lane_variant);
const sinew_lane_variant SINEW_LANE_SYMBOL(sinew_lane_variant) = {
    .name = LANE_NAME,
    .width = LANES,
    .energies = energies,
    .contact = &SINEW_LANE_SYMBOL(sinew_energy_contact),
    .panels = &SINEW_LANE_SYMBOL(sinew_panel_kernels),
    .dense = &SINEW_LANE_SYMBOL(sinew_dense_kernels),
    .slots = &SINEW_LANE_SYMBOL(sinew_slot_kernels),
    .visits = &SINEW_LANE_SYMBOL(sinew_visit_kernels),
    .usable = lane_usable,
};
