/* SPDX-License-Identifier: MIT
 *
 * contact_peer.h: Bullet's deformable world (btDeformableMultiBodyDynamicsWorld) on the same bodies, time step and
 * stiffness as bench_contact. Without its package bench_bullet() returns NULL.
 *
 * Bullet needs four settings for bodies to move and land, and reports nothing without them. Implicit steps need
 * setUseProjection(true), since the default preconditioner is not set up for them and is zero. Colliders need a motion
 * state, since contact reads their interpolated position. Nodes collide with rigid bodies with SDF_RDN only. The cells
 * of the distance field must be small relative to the collider. Implicit steps hold one box on a floor, but throw a
 * cloth off a sphere; explicit elastic forces with implicit damping of at least h/2 hold both. The energy is that of
 * stable_neo_hookean, whose two constants are not Lame's.
 */
#ifndef SINEW_CONTACT_PEER_H
#define SINEW_CONTACT_PEER_H

#include <stdbool.h>

#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies of one mesh above a floor at y = 0 or a sphere around the origin. */
typedef struct bench_touching {
    const sinew_mesh *mesh; /* tets, or cloth whose edges are springs */
    int32_t body_count;
    const sinew_real *positions; /* m [body_count][3 * vertices] */
    double mass;                 /* kg, mass of a body, equally distributed to its vertices */
    double young, poisson;       /* Pa: tets */
    double spring;               /* N/m: edges of cloth */
    double damping; /* s, Rayleigh damping of the stiffness; 0: implicit steps, else damped explicit ones */
    double friction;
    double h;         /* s */
    double thickness; /* m */
    double radius;    /* m, radius of the sphere; 0: the floor instead; < 0: neither */
    bool hangs;       /* the vertices at the highest point of the first body are pinned */
} bench_touching;

void *bench_bullet(const bench_touching *scene);
void bench_bullet_step(void *own);
void bench_bullet_positions(void *own, double *x); /* [body_count][3 * vertices] */
void bench_bullet_destroy(void *own);

#ifdef __cplusplus
}
#endif
#endif
