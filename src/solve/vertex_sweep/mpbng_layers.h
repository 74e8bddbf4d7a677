/* SPDX-License-Identifier: MIT
 *
 * mpbng_layers.h: the problem of multilayer PBNG (Chen et al. 2024, section 8.2): several layers of a world's surfaces,
 * bound to each other. Each layer has about a quarter of the vertices of the layer below.
 *
 * Layer 0 is the world itself. The vertices of a coarser layer are a subset of the vertices of the layer below
 * (mesh/edit/simplify.h). Its energies are those of the world on the triangles, edges and hinges of the layer, with the
 * world's parameters. "The layers equally divide stiffness and mass": a common divisor does not change the minimum.
 * Each layer therefore has the full stiffness and mass, and the energies of layer 0 are the world's own batches. A
 * coarse vertex has the mass and forces of all vertices below that it owns. Weak constraints attach each vertex to its
 * point on the layer above, with a multiple of the stiffness of the vertex.
 *
 * Energies without a surface (tets, pairs, targets) act on layer 0 alone. Transient energies also do, except contacts,
 * which act on every layer (mpbng_contacts.h).
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_LAYERS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_MPBNG_LAYERS_H

#include "objective/objective.h"
#include "solve/vertex_sweep/mpbng_contacts.h"

enum {
    SINEW_LAYERS_MAX = 8
};

typedef struct sinew_layers {
    const sinew_objective *world;        /* objective of the world, layer 0; borrowed */
    int32_t count;                       /* number of layers, including layer 0, the world itself */
    int32_t first[SINEW_LAYERS_MAX + 1]; /* index of the first particle of each layer in `objective` */
    int32_t *fine;                       /* [particles of all layers] particle of the world at the same rest position */
    /* [particles of all layers] particle of the next coarser layer that receives mass and forces of this one; -1:
     * none */
    int32_t *owner;
    /* objective over the particles of all layers; layer 0 first, with the world's particle indices */
    sinew_objective objective;
    /* [particles of all layers][4] each: rest, current and inertial positions (m), forces (N) */
    sinew_real *rest, *q, *q_tilde, *force;
    sinew_real *mass; /* [particles of all layers] mass of each particle, in kg */
    uint8_t *pinned;  /* [particles of all layers] 1: the particle is pinned */
    int32_t batch_count;
    sinew_batch **batches;         /* [batch_count] batches of the layers above 0; the last one has the bindings */
    const sinew_batch *bindings;   /* batch of weak constraints between layers; NULL: there is only one layer */
    sinew_real *x_iteration_start; /* [the world's particles][4] positions at which the solver iterations start */
    sinew_layer_contacts contacts;
    sinew_batch **transient;   /* work space: transient batches of the world, and the batch of coarse contacts */
    size_t transient_capacity; /* allocated size of `transient` in bytes */
} sinew_layers;

/* Builds at most `count` layers. Each binding between layers is `binding` times as stiff as its vertex. Masses, pins
 * and rest positions of the objective must be set. Allocates; must be destroyed after failure, too. */
sinew_status sinew_layers_create(sinew_layers *layers, const sinew_objective *world, int32_t count, double binding,
                                 sinew_error *error);
void sinew_layers_destroy(sinew_layers *layers); /* frees the arrays of all layers; accepts a zeroed struct */
/* Updates the transient energies after a change in the world. Allocates only to grow. */
sinew_status sinew_layers_refresh(sinew_layers *layers, sinew_error *error);
/* Copies the world's positions q, q_tilde and forces to all layers, and sets x_iteration_start = q and the data of
 * coarse contacts. */
void sinew_layers_begin(sinew_layers *layers, const sinew_real *q);
/* Copies the world's current positions to the finest layer, and to pinned particles of the other layers. */
void sinew_layers_follow(sinew_layers *layers, const sinew_real *q);

#endif
