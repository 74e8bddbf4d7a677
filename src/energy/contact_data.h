/* SPDX-License-Identifier: MIT
 *
 * contact_data.h: layout of the data of one contact element. Detection writes the data, energy/edge/contact.c reads
 * them. data[0] is the weight, as in every energy.
 */
#ifndef SINEW_SRC_ENERGY_CONTACT_DATA_H
#define SINEW_SRC_ENERGY_CONTACT_DATA_H

#include "energy/energy.h"

enum {
    /* number of vertices of a contact; unused ones repeat the first vertex, with weight zero */
    SINEW_CONTACT_VERTICES = 4,
    SINEW_CONTACT_WEIGHTS = 1,
    SINEW_CONTACT_NORMAL = 5,       /* unit normal n of the contact, 3 numbers */
    SINEW_CONTACT_OFFSET = 8,       /* offset r in m: lower bound of the signed distance n.z */
    SINEW_CONTACT_LAMBDA = 9,       /* multiplier of the normal constraint, in N */
    SINEW_CONTACT_KN = 10,          /* normal stiffness kn of the contact in N/m, > 0 */
    SINEW_CONTACT_KT = 11,          /* tangential stiffness kt of friction in N/m, >= 0 */
    SINEW_CONTACT_LIMIT = 12,       /* friction limit: largest friction force, in N */
    SINEW_CONTACT_ANCHOR = 13,      /* anchor of friction in m, 3 numbers: the relative position z without slip */
    SINEW_CONTACT_SHAPE_COUNT = 11, /* number of reals from SINEW_CONTACT_NORMAL to the end of the anchor */
    SINEW_CONTACT_MU = 16,
    SINEW_CONTACT_STICK_FORCE = 17, /* stick force in N that warm-starts friction as a hard constraint */
    SINEW_CONTACT_DATA_COUNT = 20
};

#endif
