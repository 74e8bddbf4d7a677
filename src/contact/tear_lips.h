/* SPDX-License-Identifier: MIT
 *
 * tear_lips.h: parts the lips of a tear, as a part of separating surfaces that touch (touching.c).
 */
#ifndef SINEW_SRC_CONTACT_TEAR_LIPS_H
#define SINEW_SRC_CONTACT_TEAR_LIPS_H

#include "contact/contact.h"

/* Faces at each vertex, in the order of primitives. */
typedef struct sinew_vertex_faces {
    int32_t *first; /* [vertex_count + 1] index of each vertex's first entry in `faces` */
    int32_t *faces; /* [3 * face count] primitives at each vertex */
} sinew_vertex_faces;

/* True if the features of a candidate pair are so near that they touch (touching.c). */
bool sinew_contact_pair_touches(const sinew_contact_work *c, const sinew_candidate *pair);
/* Sets in shift [moved_count][3] m the displacements that part the lips of closed bodies which touch, to `fraction` of
 * the offset. parted [vertex_count]: set to 1 for the vertices of these lips. */
void sinew_tear_lips_part(const sinew_contact_view *view, const sinew_vertex_faces *incident, double fraction,
                          double *shift, uint8_t *parted);
/* True if the pair touches at vertices of lips that sinew_tear_lips_part() has parted. */
bool sinew_tear_lips_are_parted(const sinew_contact_view *view, const sinew_candidate *pair, const uint8_t *parted);

#endif
