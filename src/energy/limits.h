/* SPDX-License-Identifier: MIT
 *
 * limits.h: two parameters, a lower and an upper limit, between which an energy is zero.
 */
#ifndef SINEW_SRC_ENERGY_LIMITS_H
#define SINEW_SRC_ENERGY_LIMITS_H

#include <math.h>
#include <stdio.h>

#include "energy/energy.h"

#define LIMITS_PARAMETER(text, about, value)                                                                           \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = 0, .maximum = INFINITY, .preset = value, .open_maximum = true,            \
        .meaning = about                                                                                               \
    }

/* Descriptor of the stiffness in Pa of an energy that is the squared distance of F to a set, integrated over the
 * volume. */
#define LIMITS_STIFFNESS_PARAMETER                                                                                     \
    {                                                                                                                  \
        .name = "stiffness", .unit = "Pa", .minimum = 0, .maximum = INFINITY, .preset = 1e5, .open_minimum = true,     \
        .open_maximum = true,                                                                                          \
        .meaning = "k, energy per volume and squared distance to the limits; raising it stiffens"                      \
    }

/* Returns NULL, or the reason why parameters `low` and `high` are no limits (low > high). The reason contains both
 * numbers if the element has a buffer. */
static inline const char *limits_refusal(const sinew_element *element, const sinew_parameter *parameters, int low,
                                         int high)
{
    const double min = (double)element->parameters[low], greatest = (double)element->parameters[high];
    if (min <= greatest)
        return NULL;
    if (!element->reason)
        return "a limit from below is above the one from above; lower the one or raise the other";
    snprintf(element->reason, SINEW_REASON_MAX, "%s = %g is above %s = %g; lower the one or raise the other",
             parameters[low].name, min, parameters[high].name, greatest);
    return element->reason;
}

#endif
