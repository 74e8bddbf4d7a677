/* SPDX-License-Identifier: MIT
 *
 * plate_parameters.h: common parameters of bending energies: the rigidity of the plate, the direction of a cloth's
 * warp, and the slack within which bending has no energy.
 */
#ifndef SINEW_SRC_ENERGY_PLATE_PARAMETERS_H
#define SINEW_SRC_ENERGY_PLATE_PARAMETERS_H

#include <math.h>

#include "energy/energy.h"

#define PLATE_RIGIDITY(about)                                                                                          \
    {                                                                                                                  \
        .name = "rigidity", .unit = "N m", .minimum = 0, .maximum = INFINITY, .preset = 1e-4, .open_maximum = true,    \
        .meaning = "D, moment per length and curvature, E h^3 / (12 (1 - nu^2)) of a plate" about                      \
    }

#define PLATE_WEFT_RATIO                                                                                               \
    {                                                                                                                  \
        .name = "weft_ratio", .unit = "", .minimum = 0, .maximum = 1e6, .preset = 1,                                   \
        .meaning = "rigidity along the weft over that along the warp; 1: no direction"                                 \
    }

#define PLATE_WARP(letter, value)                                                                                      \
    {                                                                                                                  \
        .name = "warp_" letter, .unit = "", .minimum = -1e6, .maximum = 1e6, .preset = value,                          \
        .meaning = letter " of the warp's direction in the rest shape; any length but zero"                            \
    }

/* Descriptor of a slack parameter. side: "below" or "above"; of: name of the measured quantity; text: its unit. */
#define PLATE_SLACK(side, text, of)                                                                                    \
    {                                                                                                                  \
        .name = "slack_" side, .unit = text, .minimum = 0, .maximum = 1e9, .preset = 0,                                \
        .meaning = of " may be so much " side " that at rest at no cost"                                               \
    }

/* Descriptors of the parameters of bending energies k/2 (|z| - L)^2: |z| is a measure without sign, L its rest
 * value. Arguments: `what` is the noun of the bent object, `of` the name of the measured quantity, `text` its unit. */
enum {
    PLATE_LENGTH_RIGIDITY,
    PLATE_LENGTH_REST,
    PLATE_LENGTH_SLACK_BELOW,
    PLATE_LENGTH_SLACK_ABOVE
};
#define PLATE_LENGTH_PARAMETERS(what, text, of)                                                                        \
    [PLATE_LENGTH_RIGIDITY] = PLATE_RIGIDITY("; raising it stiffens"),                                                 \
    [PLATE_LENGTH_REST] = {.name = "rest",                                                                             \
                           .unit = "",                                                                                 \
                           .choices = "curved|flat",                                                                   \
                           .maximum = 1,                                                                               \
                           .meaning =                                                                                  \
                               "what " what " wants to be: as bent as in the rest shape, to either side, or flat"},    \
    [PLATE_LENGTH_SLACK_BELOW] = PLATE_SLACK("below", text, of),                                                       \
    [PLATE_LENGTH_SLACK_ABOVE] = PLATE_SLACK("above", text, of)

#endif
