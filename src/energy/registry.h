/* SPDX-License-Identifier: MIT
 *
 * registry.h: the energies by number and by name: those of the library, and those that a program has registered.
 *
 * Numbers up to SINEW_ENERGY_COUNT - 1 are the library's (table.c). Those above SINEW_ENERGY_COUNT, which itself
 * means "none", are registered, in the order in which they came.
 */
#ifndef SINEW_SRC_ENERGY_REGISTRY_H
#define SINEW_SRC_ENERGY_REGISTRY_H

#include "energy/energy.h"

#define SINEW_ENERGIES_FOREIGN 32 /* that may be registered */

/* The operations of one energy that the library does not know. */
typedef struct sinew_foreign_energy {
    const sinew_energy_ops *ops;    /* of the width that sinew_lanes() has */
    const sinew_energy_ops *scalar; /* the same of width one, for sweeps in the order of the mesh; may be `ops` where
                                       sinew_lanes() is of width one */
} sinew_foreign_energy;

/* Makes an energy known until the process ends; it must live as long. The same one again has the same number.
 * SINEW_ENERGY_COUNT and an error when a slot is missing, a capability does not match its slots, the name is taken or
 * there is no place left. Any thread may call it. */
sinew_energy_kind sinew_energy_register(const sinew_foreign_energy *energy, sinew_error *error);

/* The same energy of width one; NULL for operations that are of no known energy. */
const sinew_energy_ops *sinew_energy_scalar(const sinew_energy_ops *ops);

/* SINEW_CAN_... as the slots have it, which is what solvers go by. */
uint32_t sinew_energy_capabilities(const sinew_energy_ops *ops);
/* NULL, or why the table breaks the contract of energy.h. */
const char *sinew_energy_flaw(const sinew_energy_ops *ops);

#endif
