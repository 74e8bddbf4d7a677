/* SPDX-License-Identifier: MIT
 *
 * rigid_modes_contacts.h: moves components in contact as rigid bodies to the minimum of inertia and contact energy.
 *
 *     min over shifts s and rotations R of   sum over components  M/(2 h^2) |s - s_0|^2 - tr(R^T A) / h^2
 *                                          + sum over contacts psi(z + sum_a (w_a s + (R - 1) p_a + P (R - 1) l_a))
 *
 *     p_a = w_a (x_a - c),   l_a = d_a x_a,   A = sum m (q_tilde - its centre) (x - c)^T                          (rigid_modes.h)
 *
 * d_a are the levers of rigid spheres and capsules (energy/edge/contact_kernel.h), P = 1 - n n^T.
 * c is the centre of mass of a component, s_0 the displacement from c to the centre of mass of q_tilde. A contact is a
 * function of one point z, and sums describe a component, so Newton's method needs no particles. Components in contact
 * form a cluster and move together: conjugate gradients on 6 x 6 blocks of components and of pairs in contact,
 * preconditioned by the blocks of components. A component in contact with colliders and constrained bodies alone is
 * solved by its block. A step is halved until the objective decreases. If no fraction decreases it, contacts that were
 * open closed in the step: another step takes upper bounds of their Hessians. Contact data are read from their batches
 * in every solve.
 *
 * Without these moves, vertex sweeps hardly move a stiff body on a support: a box that should slide sticks.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_CONTACTS_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_CONTACTS_H

#include "energy/contact_data.h"
#include "objective/objective.h"

enum {
    SINEW_RIGID_FREEDOMS = 6, /* degrees of freedom of a body: three of the shift, then three of the rotation vector */
    SINEW_RIGID_VECTORS = 5   /* vectors of a body in Newton's method and conjugate gradients (rigid_modes_newton.c) */
};

/* A component as a rigid body: its mass sums, its move so far, and its 6x6 block of the Newton system. */
typedef struct sinew_rigid_body {
    bool turns;          /* true: rotations change no energy of the body except contacts, so the body rotates */
    double mass;         /* mass of the body, in kg */
    double centre[3];    /* centre of mass of the body before the rigid move, in m */
    double to_target[3]; /* displacement from the centre of mass to that of q_tilde, minus the shift so far, in m */
    double A[9];         /* moment matrix A, row-major, with the rotation so far applied, in kg m^2 */
    /* rotation less one (R - 1) and shift s of the body's move so far: q + turn (q - centre) + shift */
    double turn[9], shift[3];
    double try_turn[9], try_shift[3]; /* rotation less one and shift of a trial step, in addition to the move so far */
    /* diagonal block of the Newton system, and its Cholesky factor in the lower triangle */
    double block[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS], factor[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS];
    double v[SINEW_RIGID_VECTORS][SINEW_RIGID_FREEDOMS];
} sinew_rigid_body;

/* Contribution of one body to the point z of a contact: w s + (R - 1) p + P (R - 1) lever for the body's rotation R
 * and shift s, with w, p and the lever summed over its vertices. */
typedef struct sinew_rigid_side {
    int32_t body;
    double w, p[3], lever[3];
} sinew_rigid_side;

enum {
    SINEW_RIGID_SIDES = 4,
    /* number of pairs of sides (1, 0), (2, 0), (2, 1), ... of a contact */
    SINEW_RIGID_LINKS = SINEW_RIGID_SIDES * (SINEW_RIGID_SIDES - 1) / 2
};

typedef struct sinew_rigid_contact {
    const sinew_batch *batch;
    int32_t element, side_count;
    int32_t vertex_count; /* 4, or 8 if the batch has contacts of rigid bodies */
    /* side_of: side of each vertex; -1: the vertex belongs to no body in contact */
    int32_t particle[SINEW_CONTACT_VERTICES_WIDE], side_of[SINEW_CONTACT_VERTICES_WIDE];
    int32_t link[SINEW_RIGID_LINKS];           /* index of the link (pair of bodies) for each pair of sides */
    sinew_rigid_side sides[SINEW_RIGID_SIDES]; /* [side_count] one side per body of the contact, bodies descending */
    /* Contact data: normal, offset (m), multiplier (N), normal and tangential stiffness (N/m), largest friction force
     * (N), anchor (m). */
    double n[3], r, lambda, kn, kt, limit, anchor[3];
    double z[3], K[6]; /* contact point z, m, and Hessian K of the contact energy, N/m, as 00 11 22 01 02 12 */
} sinew_rigid_contact;

/* Two bodies in contact, a < b, and the 6x6 block of the Newton system with rows of a and columns of b. */
typedef struct sinew_rigid_link {
    int32_t a, b;
    double block[SINEW_RIGID_FREEDOMS * SINEW_RIGID_FREEDOMS];
} sinew_rigid_link;

/* Indices of bodies, contacts or links, sorted by cluster. */
typedef struct sinew_rigid_order {
    /* [count] indices sorted by cluster; [cluster_count + 1] index in `item` of each cluster's first entry */
    int32_t *item, *first;
    size_t item_capacity, first_capacity;
} sinew_rigid_order;

typedef struct sinew_rigid_contacts {
    const sinew_objective *objective;
    int32_t body_count, contact_count, link_count, cluster_count;
    sinew_rigid_body *bodies;      /* [body_count] free components in contact, as rigid bodies */
    sinew_rigid_contact *contacts; /* [contact_count] contacts that involve at least one of the bodies */
    sinew_rigid_link *links;       /* [link_count] pairs of bodies that touch each other */
    int32_t *cluster;              /* [body_count] cluster of touching bodies that each body belongs to */
    sinew_rigid_order body_order, contact_order, link_order;
    int32_t *particles,
        *numbers; /* work space: particles of the elements of one batch; cluster of each body, contact or link */
    struct sinew_pair *keys; /* work space: keys of the pairs of bodies in contact */
    size_t bodies_capacity, contacts_capacity, links_capacity, cluster_capacity, particles_capacity, numbers_capacity,
        keys_capacity;
} sinew_rigid_contacts;

/* Lists the contacts of the objective that involve free components (bodies). body_of [particle_count]: the component of
 * a particle among the body_count components in contact, or -1. Returns false if out of memory. */
bool sinew_rigid_contacts_list(sinew_rigid_contacts *contacts, const sinew_objective *objective, int32_t body_count,
                               const int32_t *body_of);
/* Frees the arrays of bodies and contacts; accepts a zeroed struct. */
void sinew_rigid_contacts_destroy(sinew_rigid_contacts *contacts, const sinew_allocator *allocator);
/* Computes turn and shift of all bodies with the particles at q; mass, centre, to_target and A of the bodies must be
 * set. */
void sinew_rigid_contacts_solve(const sinew_rigid_contacts *contacts, const sinew_real *q);

/* Computes turn and shift of the bodies of one cluster; its contacts must be up to date (rigid_modes_newton.c). */
void sinew_rigid_move_cluster(const sinew_rigid_contacts *contacts, int32_t cluster);

/* turn = R - 1 for the rotation R by |w| about w. As an increment of positions, turn keeps the digits of small
 * rotations. */
void sinew_turn_less_one(const double w[3], double turn[9]);

#endif
