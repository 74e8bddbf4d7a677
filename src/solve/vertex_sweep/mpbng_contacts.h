/* SPDX-License-Identifier: MIT
 *
 * mpbng_contacts.h: the world's contacts as the coarse layers of mpbng (mpbng_layers.h) feel them.
 *
 * A coarse vertex has the mass and the forces of the fine vertices that join it, so it has to bear their contacts, too:
 * without them nothing holds a coarse layer of a garment that lies on shoulders. A contact is a function of one point z
 * = sum_a w_a x_a. On each coarse layer it becomes the same function, with the same multiplier, of
 *
 *     z' = sum_a w_a x_own(a) + d,      d = sum_a w_a (x_a - x_own(a)) where the iterations began
 *
 * own(a) is the vertex of that layer which vertex a has joined, by way of the layers between. A layer that moves as the
 * world does has the world's clearance and slip, and what the vertices of a patch bear adds up to what their coarse
 * vertex bears. d goes into the offset and the anchor. Vertices that are on no surface have no own: they count as
 * standing where the iterations began. Scaled by kappa, as coarse masses are, a coarse contact bears what it has to
 * with its multiplier as it is. The world's own contacts stay on the finest layer, where the guard is.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_CONTACTS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_CONTACTS_H

#include "energy/contact_data.h"
#include "objective/objective.h"

struct sinew_layers;

/* One contact on one coarse layer. */
typedef struct sinew_layer_touch {
    const sinew_batch *source; /* of the world */
    int32_t element;
    int32_t fine[SINEW_CONTACT_VERTICES], own[SINEW_CONTACT_VERTICES]; /* own -1: none */
} sinew_layer_touch;

typedef struct sinew_layer_touches {
    int32_t count;
    sinew_layer_touch *list; /* [count] */
    sinew_batch *batch;      /* of all coarse layers; NULL until something touched */
    int32_t *particles;      /* [count][SINEW_CONTACT_VERTICES] */
    sinew_real *data;        /* [count][SINEW_CONTACT_DATA_COUNT] */
    sinew_plan plan;
    sinew_batch_work work;
    size_t list_room, particle_room, data_room; /* bytes */
} sinew_layer_touches;

/* Takes over the contacts of the world's objective. Allocates only where there are more than there ever were; false
 * without memory. */
bool sinew_layer_touches_make(sinew_layer_touches *touches, const struct sinew_layers *layers);
/* Takes over their numbers, and d from `begun` [the world's particles][4]. */
void sinew_layer_touches_number(sinew_layer_touches *touches, const struct sinew_layers *layers);
void sinew_layer_touches_destroy(sinew_layer_touches *touches, const sinew_allocator *allocator); /* zeroed is fine */

#endif
