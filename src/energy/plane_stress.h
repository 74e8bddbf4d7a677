/* SPDX-License-Identifier: MIT
 *
 * plane_stress.h: Young's modulus, Poisson's ratio and thickness of a sheet, and its plane Lame constants.
 *
 *     mu = E / (2 (1 + nu))      plane stress: lambda = E nu / (1 - nu^2)      plane strain: lambda of lame.h
 *
 * Plane stress: the sheet may become thinner; E and nu are those of a strip in tension. Plane strain: the sheet keeps
 * its thickness and has the constants of a solid, PBNG (9). Kernels use only lambda / mu and the weight mu h A, with
 * the thickness h and the rest area A.
 */
#ifndef SINEW_SRC_ENERGY_PLANE_STRESS_H
#define SINEW_SRC_ENERGY_PLANE_STRESS_H

#include "energy/lame.h"

enum {
    PLANE_THICKNESS = LAME_PARAMETER_COUNT,
    PLANE_CHOICE,
    PLANE_PARAMETER_COUNT
};

#define PLANE_THICKNESS_PARAMETER                                                                                      \
    {                                                                                                                  \
        .name = "thickness", .unit = "m", .minimum = 0, .maximum = INFINITY, .preset = 1e-3, .open_minimum = true,     \
        .open_maximum = true, .meaning = "thickness of the sheet at rest; raising it stiffens in proportion"           \
    }

#define PLANE_CHOICE_PARAMETER                                                                                         \
    {                                                                                                                  \
        .name = "plane", .unit = "", .choices = "stress|strain", .minimum = 0, .maximum = 1, .preset = 0,              \
        .meaning = "stress: the sheet may get thinner as it is pulled; strain: it keeps its thickness"                 \
    }

/* mu h of a membrane in N/m: shear modulus times thickness */
static inline double plane_mu(const sinew_real *parameters)
{
    return lame_mu(parameters) * (double)parameters[PLANE_THICKNESS];
}

/* The ratio lambda / mu of the plane Lame constants. */
static inline double plane_ratio(const sinew_real *parameters)
{
    const double nu = (double)parameters[LAME_POISSON];
    return parameters[PLANE_CHOICE] > 0 ? lame_ratio(parameters) : 2 * nu / (1 - nu);
}

#endif
