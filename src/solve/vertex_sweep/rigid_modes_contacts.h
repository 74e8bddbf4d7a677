/* SPDX-License-Identifier: MIT
 *
 * rigid_modes_contacts.h: pieces that touch something, moved as wholes to the minimum of inertia and contact over their rigid
 * motions.
 *
 *     min over shifts s and rotations R of   sum over pieces  M/(2 h^2) |s - s_0|^2 - tr(R^T A) / h^2
 *                                          + sum over contacts psi(z + sum_a (w_a s + (R - 1) p_a)),  p_a = w_a (x_a -
 * c)
 *
 * c is a piece's centre of mass, s_0 the way to that of q_tilde, A = sum m (q_tilde - its centre) (x - c)^T (rigid_modes.h).
 * A contact is a function of the one point z, and pieces are known by their sums, so that Newton's method sees no
 * particles. Pieces that touch each other form a cluster and move together: conjugate gradients on 6 x 6 blocks of
 * pieces and of pairs that touch, preconditioned by the former; a piece that touches colliders and held bodies alone is
 * solved by its block. A step is halved until the objective falls, so a move never raises it. Numbers of contacts are
 * those of their batch at the time.
 *
 * Without this, sweeps over nodes hardly move a stiff body that lies on something: a box that should slide stays.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_CONTACTS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_CONTACTS_H

#include "objective/objective.h"

enum {
    SINEW_RIGID_FREEDOMS = 6, /* three of the shift, then three of the rotation vector */
    SINEW_RIGID_VECTORS = 5
};

/* A piece as its sums, its move so far, and its part of a system. */
typedef struct sinew_rigid_body {
    bool turns;
    double mass;              /* kg */
    double centre[3];         /* m */
    double to_target[3];      /* m: s_0 less the shift so far */
    double A[9];              /* kg m^2, row-major, turned so far */
    double turn[9], shift[3]; /* R - 1 and s of the move so far: q + turn (q - centre) + shift */
    double try_turn[9], try_shift[3];
    double block[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS], factor[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS];
    double v[SINEW_RIGID_VECTORS][SINEW_RIGID_FREEDOMS];
} sinew_rigid_body;

/* What one body does to z of a contact: w s + (R - 1) p, summed over its vertices. */
typedef struct sinew_rigid_side {
    int32_t body;
    double w, p[3];
} sinew_rigid_side;

enum {
    SINEW_RIGID_SIDES = 4,
    SINEW_RIGID_LINKS = SINEW_RIGID_SIDES * (SINEW_RIGID_SIDES - 1) / 2 /* sides (1, 0), (2, 0), (2, 1), ... */
};

typedef struct sinew_rigid_touch {
    const sinew_batch *batch;
    int32_t element, side_count;
    int32_t particle[4], side_of[4]; /* side_of -1: the vertex is of none of these bodies */
    int32_t link[SINEW_RIGID_LINKS];
    sinew_rigid_side sides[SINEW_RIGID_SIDES]; /* [side_count] of bodies in descending order */
    double n[3], r, lambda, kn, kt, limit, anchor[3];
    double z[3], K[6]; /* K: 00 11 22 01 02 12 */
} sinew_rigid_touch;

/* Two bodies that touch each other, a < b, and the rows of a and columns of b in their system. */
typedef struct sinew_rigid_link {
    int32_t a, b;
    double block[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS];
} sinew_rigid_link;

/* Items of one cluster after the other. */
typedef struct sinew_rigid_order {
    int32_t *item, *first; /* [items], [cluster_count + 1] */
    size_t item_room, first_room;
} sinew_rigid_order;

typedef struct sinew_rigid_touches {
    const sinew_objective *objective;
    int32_t body_count, touch_count, link_count, cluster_count;
    sinew_rigid_body *bodies;   /* [body_count] */
    sinew_rigid_touch *touches; /* [touch_count] */
    sinew_rigid_link *links;    /* [link_count] */
    int32_t *cluster;           /* [body_count] */
    sinew_rigid_order body_order, touch_order, link_order;
    int32_t *particles,
        *numbers;            /* work space: of the elements of one batch; a number for each body, contact or link */
    struct sinew_pair *keys; /* work space */
    size_t bodies_room, touches_room, links_room, cluster_room, particles_room, numbers_room, keys_room;
} sinew_rigid_touches;

/* Lists the contacts of the objective's layer at bodies. body_of [particle_count]: the piece of a particle among
 * body_count ones that touch, or -1. False without memory. */
bool sinew_rigid_touches_list(sinew_rigid_touches *touches, const sinew_objective *objective, int32_t body_count,
                              const int32_t *body_of);
void sinew_rigid_touches_destroy(sinew_rigid_touches *touches, const sinew_allocator *allocator); /* zeroed is fine */
/* Finds turn and shift of all bodies, whose sums are known, with the particles at q. */
void sinew_rigid_touches_solve(const sinew_rigid_touches *touches, const sinew_real *q);

/* The same for one cluster, whose contacts know where they are (rigid_modes_newton.c). */
void sinew_rigid_move_cluster(const sinew_rigid_touches *touches, int32_t cluster);

/* R - 1 of the rotation by |w| about w: what is added to a position is small and keeps its digits. */
void sinew_turn_less_one(const double w[3], double turn[9]);

#endif
