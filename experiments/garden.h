/* SPDX-License-Identifier: MIT
 *
 * garden.h: the mixed world of PD fig 1 in any size: a shed and a tree of tets, washing lines, cloths pegged to them,
 * and grass. Attachments join all bodies, and one solver steps them.
 */
#ifndef SINEW_EXPERIMENTS_GARDEN_H
#define SINEW_EXPERIMENTS_GARDEN_H

#include "experiments.h"

typedef struct garden_def {
    double size;    /* resolution of all meshes of the garden; 1: about 49 000 degrees of freedom */
    int32_t blades; /* number of blades of grass */
    int32_t iterations;
    double couplings; /* factor on the stiffness of attachments between bodies */
    double sets;      /* factor on the stiffness of strain, volume and bending energies */
} garden_def;

typedef struct garden {
    sinew_world *world;
    sinew_body cloth;                   /* first cloth of the garden */
    int32_t counts[SINEW_ENERGY_COUNT]; /* [energy kind] number of constraints of each energy kind */
    int32_t constraints;
} garden;

/* Creates the garden. Returns false, with the error set, on failure; garden_release() also accepts a partial garden. */
bool garden_make(garden *g, const garden_def *def, sinew_error *error);
void garden_release(garden *g);

#endif
