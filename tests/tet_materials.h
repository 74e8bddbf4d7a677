/* SPDX-License-Identifier: MIT
 *
 * tet_materials.h: the list of all tet materials.
 */
#ifndef SINEW_TET_MATERIALS_H
#define SINEW_TET_MATERIALS_H

#include "sinew/sinew.h"

enum {
    MATERIALS = 7
};
static const sinew_energy_kind materials[MATERIALS] = {
    SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_STABLE_NEO_HOOKEAN,  SINEW_ENERGY_NEO_HOOKEAN_LOG,
    SINEW_ENERGY_COROTATED,   SINEW_ENERGY_ST_VENANT_KIRCHHOFF, SINEW_ENERGY_STRAIN,
    SINEW_ENERGY_LINEAR};

#endif
