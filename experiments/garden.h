/* SPDX-License-Identifier: MIT
 *
 * garden.h: the mixed world of PD fig 1 in any size: a shed and a tree of tets, washing lines, cloths pegged to them,
 * grass; all joined, one solver.
 */
#ifndef SINEW_EXPERIMENTS_GARDEN_H
#define SINEW_EXPERIMENTS_GARDEN_H

#include "experiments.h"

typedef struct garden_def {
    double size;    /* vertices along a side grow with it; 1: about 49 000 degrees of freedom */
    int32_t blades; /* of grass */
    int32_t iterations;
    double couplings; /* factors of weights: of what joins bodies */
    double sets;      /* of strain, volume and bending */
} garden_def;

typedef struct garden {
    sinew_world *world;
    sinew_body cloth;                   /* the first of the cloths */
    int32_t counts[SINEW_ENERGY_COUNT]; /* constraints of each kind */
    int32_t constraints;
} garden;

/* False with the error set; garden_release also accepts a partial garden. */
bool garden_make(garden *g, const garden_def *def, sinew_error *error);
void garden_release(garden *g);

#endif
