/* SPDX-License-Identifier: MIT
 *
 * lame.h: Young's modulus and Poisson's ratio, the two numbers of an isotropic material, and the Lame constants.
 *
 *     mu = E / (2 (1 + nu))      lambda = E nu / ((1 + nu) (1 - 2 nu))                             PBNG (9)
 *
 * Kernels of tets use only lambda / mu = 2 nu / (1 - 2 nu) and the weight mu V, with the rest volume V.
 */
#ifndef SINEW_SRC_ENERGY_LAME_H
#define SINEW_SRC_ENERGY_LAME_H

#include <math.h>

#include "energy/energy.h"

enum {
    LAME_YOUNG = 0,
    LAME_POISSON = 1,
    LAME_PARAMETER_COUNT = 2
};

#define LAME_YOUNG_PARAMETER                                                                                           \
    {                                                                                                                  \
        .name = "young", .unit = "Pa", .minimum = 0, .maximum = INFINITY, .preset = 1e5, .open_minimum = true,         \
        .open_maximum = true, .meaning = "Young's modulus: stress per strain of a pulled bar; raising it stiffens"     \
    }

#define LAME_POISSON_MEANING "Poisson's ratio: how much a pulled bar thins; near 0.5 it keeps its volume"

/* Descriptor of Poisson's ratio in (-1, 0.5), for energies that have a lower bound also with a negative lambda. */
#define LAME_POISSON_PARAMETER                                                                                         \
    {                                                                                                                  \
        .name = "poisson", .unit = "", .minimum = -1, .maximum = 0.5, .preset = 0.45, .open_minimum = true,            \
        .open_maximum = true, .meaning = LAME_POISSON_MEANING                                                          \
    }

/* Descriptor of Poisson's ratio in [0, 0.5), for energies that have no lower bound with a negative lambda. */
#define LAME_POISSON_POSITIVE_PARAMETER                                                                                \
    {                                                                                                                  \
        .name = "poisson", .unit = "", .minimum = 0, .maximum = 0.5, .preset = 0.45, .open_maximum = true,             \
        .meaning = LAME_POISSON_MEANING                                                                                \
    }

static inline double lame_mu(const sinew_real *parameters)
{
    return (double)parameters[LAME_YOUNG] / (2 * (1 + (double)parameters[LAME_POISSON]));
}

/* The ratio lambda / mu of the Lame constants of a solid. */
static inline double lame_ratio(const sinew_real *parameters)
{
    const double nu = (double)parameters[LAME_POISSON];
    return 2 * nu / (1 - 2 * nu);
}

#endif
