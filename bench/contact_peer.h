/* SPDX-License-Identifier: MIT
 *
 * contact_peer.h: Bullet's deformable world (btDeformableMultiBodyDynamicsWorld) on the same bodies, time step and
 * stiffness as bench_contact. Where its package is not installed, bench_bullet() is NULL.
 *
 * Four settings make its bodies move and land, and it does not complain without any of them: implicit steps need
 * setUseProjection(true), since the preconditioner that is taken otherwise is not made for them and is zero; colliders
 * need a motion state, since contact reads their interpolated position; nodes meet rigid bodies with SDF_RDN only; and
 * the cells of the distance field must be small beside the collider. Implicit steps hold one box on a floor, but fling
 * a cloth off a sphere; explicit elastic forces with implicit damping hold both, if that is at least h/2. The energy is
 * that of stable_neo_hookean, whose two constants are not Lame's.
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
    double mass;                 /* kg: of a body, in equal parts at its vertices */
    double young, poisson;       /* Pa: tets */
    double spring;               /* N/m: edges of cloth */
    double damping; /* s: of the stiffness, Rayleigh's; 0: Bullet's implicit steps, else its explicit ones, which it
                       makes stable */
    double friction;
    double h;         /* s */
    double thickness; /* m */
    double radius;    /* m: of the sphere; 0: there is the floor in its place; < 0: there is neither */
    bool hangs;       /* vertices at the highest place of the first body are held */
} bench_touching;

void *bench_bullet(const bench_touching *scene);
void bench_bullet_step(void *own);
void bench_bullet_positions(void *own, double *x); /* [body_count][3 * vertices] */
void bench_bullet_destroy(void *own);

#ifdef __cplusplus
}
#endif
#endif
