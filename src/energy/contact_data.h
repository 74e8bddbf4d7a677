/* SPDX-License-Identifier: MIT
 *
 * contact_data.h: layout of the data of one contact element. Detection writes the data, energy/edge/contact.c reads
 * them. data[0] is the weight, as in every energy.
 */
#ifndef SINEW_SRC_ENERGY_CONTACT_DATA_H
#define SINEW_SRC_ENERGY_CONTACT_DATA_H

#include "energy/energy.h"

enum {
    SINEW_CONTACT_VERTICES = 4, /* unused entries repeat the first vertex, with weight zero */
    SINEW_CONTACT_WEIGHTS = 1,
    SINEW_CONTACT_NORMAL = 5,       /* unit normal n */
    SINEW_CONTACT_OFFSET = 8,       /* m: offset r, the lower bound of n.z */
    SINEW_CONTACT_LAMBDA = 9,       /* N: multiplier of the normal constraint */
    SINEW_CONTACT_KN = 10,          /* N/m, > 0: normal stiffness */
    SINEW_CONTACT_KT = 11,          /* N/m, >= 0: tangential stiffness of friction */
    SINEW_CONTACT_LIMIT = 12,       /* N: friction limit */
    SINEW_CONTACT_ANCHOR = 13,      /* m: anchor of friction */
    SINEW_CONTACT_SHAPE_COUNT = 11, /* numbers from the normal to the anchor */
    SINEW_CONTACT_MU = 16,
    SINEW_CONTACT_STICK_FORCE = 17, /* N: stick force that warm-starts friction as a hard constraint */
    SINEW_CONTACT_DATA_COUNT = 20
};

#endif
