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
    /* number of vertices of a contact of rigid bodies (energy/edge/contact_wide.c) */
    SINEW_CONTACT_VERTICES_WIDE = 8,
    SINEW_CONTACT_NORMAL = 1, /* unit normal n of the contact, 3 numbers */
    /* offset r in m: lower bound of the signed distance n.z; z: sum of the vertices' positions times their weights */
    SINEW_CONTACT_OFFSET = 4,
    SINEW_CONTACT_LAMBDA = 5,       /* multiplier of the normal constraint, in N */
    SINEW_CONTACT_KN = 6,           /* normal stiffness kn of the contact in N/m, > 0 */
    SINEW_CONTACT_KT = 7,           /* tangential stiffness kt of friction in N/m, >= 0 */
    SINEW_CONTACT_LIMIT = 8,        /* friction limit: largest friction force, in N */
    SINEW_CONTACT_ANCHOR = 9,       /* anchor of friction in m, 3 numbers: the relative position z without slip */
    SINEW_CONTACT_SHAPE_COUNT = 11, /* number of reals from SINEW_CONTACT_NORMAL to the end of the anchor */
    SINEW_CONTACT_MU = 12,
    SINEW_CONTACT_STICK_FORCE = 13, /* stick force in N that warm-starts friction as a hard constraint, 3 numbers */
    /* weights of the vertices, 4 or 8 numbers; of 8 vertices their levers follow (contact_kernel.h), 8 numbers */
    SINEW_CONTACT_WEIGHTS = 16,
    /* index in the tangent of the weights and levers, after the symmetric 3x3 Hessian by z, entries 00 11 22 01 02 12 */
    SINEW_CONTACT_TANGENT_WEIGHTS = 6,
    SINEW_CONTACT_DATA_COUNT = SINEW_CONTACT_WEIGHTS + SINEW_CONTACT_VERTICES,
    SINEW_CONTACT_DATA_COUNT_WIDE = SINEW_CONTACT_WEIGHTS + 2 * SINEW_CONTACT_VERTICES_WIDE
};

/* Number of data of a contact of n vertices. */
#define SINEW_CONTACT_DATA_COUNT_OF(n)                                                                                 \
    ((n) > SINEW_CONTACT_VERTICES ? SINEW_CONTACT_WEIGHTS + 2 * (n) : SINEW_CONTACT_WEIGHTS + (n))

#endif
