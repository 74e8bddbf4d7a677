/* SPDX-License-Identifier: MIT
 *
 * restitution.h: data of restitution: impacts in progress, pieces of bodies, energy lost in the step.
 *
 *     pieces.c           connected pieces of bodies
 *     energy_budget.c    energy that each island of touching bodies loses in a step
 *     vertex_impulses.c  restitution of cloth, ropes and loose particles; friction on velocities
 *     restitution.c      restitution of solids, rigid bodies and colliders
 */
#ifndef SINEW_SRC_CONTACT_RESTITUTION_H
#define SINEW_SRC_CONTACT_RESTITUTION_H

#include "base/base.h"
#include "base/sort_pairs.h"

/* An impact in progress between two pieces, or between a piece and a collider, with indices that stay valid when the
 * collision mesh is rebuilt. States store the same struct, so it has no padding. */
typedef struct sinew_impact {
    int32_t slot[2];        /* slots in the world of both objects; a collider is the second */
    uint32_t generation[2]; /* generations of both slots */
    int32_t vertex[2];      /* lowest mesh vertex of the piece; -1: the object is a collider */
    double approach;        /* largest speed of approach along the normal, at the moment of touching, in m/s */
    double budget;          /* energy lost in the impact and not returned, in J */
    double force;           /* sum of the normal forces of all steps of the impact, in N */
    double largest_change;  /* largest change of the separation speed in a step, in m/s */
    double normal[3];       /* unit normal from the second to the first object, mean over the impact by force */
    double point[3];        /* contact point in m, mean over the impact by force; moves with the centres of mass */
    double drive[3];        /* velocity of the collider at `point`, in m/s; zero for two bodies */
} sinew_impact;

typedef struct sinew_restitution {
    bool on;               /* some object has restitution, and the step is dynamic */
    sinew_impact *impacts; /* [impact_count] impacts in progress, in the order of their objects */
    int32_t impact_count;

    /* Pieces: connected components of the meshes of bodies. */
    bool pieces_known;     /* true: the pieces are those of shape_version */
    int64_t shape_version; /* value of shape_version of the view for which pieces were found */
    int32_t *piece;        /* [particle_count] piece of each particle */
    int32_t *piece_root;   /* [particle_count] work space: union-find forest */
    int32_t *piece_body;   /* [piece_count] slot of the body of each piece */
    int32_t *piece_vertex; /* [piece_count] lowest mesh vertex of each piece */
    int32_t piece_count;

    /* Energies of the step; the index of an array over bodies is the slot of a body in the world. */
    sinew_real *q_start; /* [particle_count][4] positions at the start of the step, in m */
    double *energy;      /* [body_count] kinetic and elastic energy at the start of the step, in J */
    double *loss;        /* [body_count] energy that each island has lost in the step, at its root, in J */
    double *linear;      /* [body_count] work space */
    double *square;      /* [body_count] work space */
    int32_t *island;     /* [body_count] root of the island of each body: bodies that contacts or energies join */

    struct impact_pair *pairs; /* [pair_count] pairs of this step (restitution.c) */
    struct impact_node *nodes; /* [node_count] pieces and colliders of the pairs */
    sinew_pair *order;         /* work space for sorting contacts by pair */
    int32_t pair_count, node_count;

    size_t impact_capacity, piece_capacity, piece_root_capacity, piece_body_capacity, piece_vertex_capacity,
        q_start_capacity, energy_capacity, loss_capacity, linear_capacity, square_capacity, island_capacity,
        pair_capacity, node_capacity, order_capacity;
} sinew_restitution;

#endif
