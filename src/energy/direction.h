/* SPDX-License-Identifier: MIT
 *
 * direction.h: a material direction in the rest shape, for anisotropic energies on tets: three parameters, a vector of
 * any length except zero.
 */
#ifndef SINEW_SRC_ENERGY_DIRECTION_H
#define SINEW_SRC_ENERGY_DIRECTION_H

#include <math.h>

#include "energy/energy.h"

#define DIRECTION_PARAMETER(letter, value)                                                                             \
    {                                                                                                                  \
        .name = "direction_" letter, .unit = "", .minimum = -1e6, .maximum = 1e6, .preset = value,                     \
        .meaning = letter " of the fibres' direction in the rest shape; any length but zero"                           \
    }
#define DIRECTION_PARAMETERS DIRECTION_PARAMETER("x", 1), DIRECTION_PARAMETER("y", 0), DIRECTION_PARAMETER("z", 0)

/* a = unit vector along the element's parameters first .. first + 2. Returns NULL, or the reason why there is none. */
static inline const char *direction_of(const sinew_element *element, int first, double a[3])
{
    double length = 0;
    for (int i = 0; i < 3; i++) {
        a[i] = (double)element->parameters[first + i];
        length += a[i] * a[i];
    }
    length = sqrt(length);
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    return length > 0 ? NULL : "its fibres have no direction; set direction_x, direction_y or direction_z";
}

/* turned = Q^T a: the direction a in the axes that are the columns of Q (row-major). */
static inline void direction_turn(const double Q[9], const double a[3], double turned[3])
{
    for (int i = 0; i < 3; i++)
        turned[i] = Q[i] * a[0] + Q[3 + i] * a[1] + Q[6 + i] * a[2];
}

#endif
