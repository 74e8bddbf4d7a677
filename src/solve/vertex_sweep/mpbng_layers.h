/* SPDX-License-Identifier: MIT
 *
 * mpbng_layers.h: a world whose surfaces lie in several layers, each coarser by about four, bound to each other: the problem
 * that multilayer PBNG works on (Chen et al. 2024, section 8.2).
 *
 * Layer 0 is the world itself. The vertices of a coarser layer are some of those of the one below (mesh/edit/simplify.h);
 * its energies are those of the world on its own triangles, edges and hinges, with the world's parameters. "The layers
 * equally divide stiffness and mass": dividing all of them by the same number changes nothing about where a minimum is,
 * so each has the whole of both here, and the energies of layer 0 are the world's own batches. A vertex's mass and
 * forces are those of the vertices below that join it. Weak constraints hold each vertex at its place on the layer
 * above, with a stiffness that is a multiple of the vertex's own.
 *
 * Energies that are on no surface (tets, pairs, targets) are on layer 0 alone, and so are transient ones, but for
 * contacts, which every layer feels (mpbng_contacts.h).
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_LAYERS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_LAYERS_H

#include "objective/objective.h"
#include "solve/vertex_sweep/mpbng_contacts.h"

enum {
    SINEW_LAYERS_MAX = 8
};

typedef struct sinew_layers {
    const sinew_objective *world;        /* borrowed */
    int32_t count;                       /* layers, that of the world included */
    int32_t first[SINEW_LAYERS_MAX + 1]; /* particles of each layer in the objective below */
    int32_t *fine;                       /* [particles] the world's particle at the same place */
    int32_t *owner;                      /* [particles] the particle of the layer above that a vertex joins, -1: none */
    sinew_objective objective;           /* over the particles of all layers; layer 0 first, with the world's numbers */
    sinew_real *rest, *q, *q_tilde, *force; /* [particles][4] */
    sinew_real *mass;                       /* [particles] */
    uint8_t *pinned;                        /* [particles] */
    int32_t batch_count;
    sinew_batch **batches;       /* of the layers above 0; the last one is that of the bindings */
    const sinew_batch *bindings; /* NULL: none */
    sinew_real *begun;           /* [the world's particles][4] where the iterations began */
    sinew_layer_touches touches;
    sinew_batch **transient; /* work space: those of the world, and that of the touches */
    size_t transient_room;   /* bytes */
} sinew_layers;

/* At most `count` layers; each binding is `binding` times as stiff as its vertex. The objective's masses, pins and rest
 * places are set. Allocates; on failure too it is to be destroyed. */
sinew_status sinew_layers_create(sinew_layers *layers, const sinew_objective *world, int32_t count, double binding,
                                 sinew_error *error);
void sinew_layers_destroy(sinew_layers *layers); /* zeroed is fine */
/* Takes over other transient energies of the world. Allocates only where there are more than there ever were. */
sinew_status sinew_layers_refresh(sinew_layers *layers, sinew_error *error);
/* Takes positions q, and what the world's step aims at, over to all layers. */
void sinew_layers_begin(sinew_layers *layers, const sinew_real *q);
/* Takes over where the world's particles are now: the finest layer, and what is pinned of the others. */
void sinew_layers_follow(sinew_layers *layers, const sinew_real *q);

#endif
