/* SPDX-License-Identifier: MIT
 *
 * mpbng_contacts.h: the world's contacts on the coarse layers of mpbng (mpbng_layers.h).
 *
 * A coarse vertex has the mass and the forces of its fine vertices, so it needs their contacts too: without contacts
 * nothing supports a coarse layer of a garment on shoulders. A contact is a function of one point z = sum_a w_a x_a. On
 * each coarse layer it becomes the same function, with the same multiplier, of
 *
 *     z' = sum_a w_a x_own(a) + d,      d = sum_a w_a (x_a - x_own(a)) at the start of the iterations
 *
 * own(a) is the vertex of the coarse layer that vertex a belongs to, through the layers between. A layer that moves
 * like the world has the world's clearance and slip, and the contact forces of the fine vertices sum to the force of
 * their coarse vertex. d enters the offset and the anchor. Vertices outside surfaces have no own(a): they stay at their
 * positions at the start of the iterations. Coarse contacts are scaled by kappa, like coarse masses, so their
 * multipliers need no change. The finest layer has the world's contacts themselves, and the step filter.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_CONTACTS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_CONTACTS_H

#include "energy/contact_data.h"
#include "objective/objective.h"

struct sinew_layers;

/* A contact of the world, transferred to one coarse layer. */
typedef struct sinew_layer_contact {
    const sinew_batch *source; /* batch of the world to which the contact belongs */
    int32_t element;           /* index of the contact among the elements of `source` */
    /* fine: particle of the world at each vertex; own: its particle on the layer, -1: none */
    int32_t fine[SINEW_CONTACT_VERTICES], own[SINEW_CONTACT_VERTICES];
} sinew_layer_contact;

typedef struct sinew_layer_contacts {
    int32_t count;
    sinew_layer_contact *list; /* [count] the world's contacts, copied to each coarse layer */
    sinew_batch *batch;        /* batch of the contacts in `list`; NULL until the first contact */
    int32_t *particles;        /* [count][SINEW_CONTACT_VERTICES] particles of each coarse contact */
    sinew_real *data;          /* [count][SINEW_CONTACT_DATA_COUNT] data of each coarse contact */
    sinew_batch_layout layout;
    sinew_batch_work work;
    size_t list_capacity, particle_bytes, data_capacity; /* allocated sizes of list, particles and data, in bytes */
} sinew_layer_contacts;

/* Copies the contacts of the world's objective to the coarse layers. Allocates only to grow; returns false if out of
 * memory. */
bool sinew_layer_contacts_make(sinew_layer_contacts *contacts, const struct sinew_layers *layers);
/* Updates the data of the coarse contacts, with the shift d of each contact from x_iteration_start [the world's
 * particles][4]. */
void sinew_layer_contacts_update_data(sinew_layer_contacts *contacts, const struct sinew_layers *layers);
/* Frees the arrays of coarse contacts; accepts a zeroed struct. */
void sinew_layer_contacts_destroy(sinew_layer_contacts *contacts, const sinew_allocator *allocator);

#endif
