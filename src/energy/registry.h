/* SPDX-License-Identifier: MIT
 *
 * registry.h: lookup of energies by index and by name: energies of the library, and energies that a program has
 * registered.
 *
 * Indices up to SINEW_ENERGY_COUNT - 1 are the library's (table.c). Indices above SINEW_ENERGY_COUNT, which itself
 * means "none", are registered energies in the order of registration.
 */
#ifndef SINEW_SRC_ENERGY_REGISTRY_H
#define SINEW_SRC_ENERGY_REGISTRY_H

#include "energy/energy.h"

#define SINEW_ENERGIES_FOREIGN 32 /* largest number of energies that programs may register */

/* The operations of one energy that a program registers. */
typedef struct sinew_foreign_energy {
    const sinew_energy_ops *ops; /* operations for batches of the SIMD width of sinew_simd() */
    /* operations for batches of width one, for sweeps in mesh order; may equal `ops` if sinew_simd() has width one */
    const sinew_energy_ops *scalar;
} sinew_foreign_energy;

/* Registers an energy, which must live until the process ends. Registering the same energy again returns the same
 * index. Returns SINEW_ENERGY_COUNT and sets an error if an operation is missing, a capability does not match the
 * operations, the name is taken or the table is full. Thread-safe. */
sinew_energy_kind sinew_energy_register(const sinew_foreign_energy *energy, sinew_error *error);

/* Returns the operations of the same energy for batches of width one; NULL if `ops` belongs to no known energy. */
const sinew_energy_ops *sinew_energy_scalar(const sinew_energy_ops *ops);

/* SINEW_CAN_... capability bits, derived from the operations that are set; solvers use these bits. */
uint32_t sinew_energy_capabilities(const sinew_energy_ops *ops);
/* Returns NULL, or the reason why an energy's table violates the rules of energy.h. */
const char *sinew_energy_flaw(const sinew_energy_ops *ops);

#endif
