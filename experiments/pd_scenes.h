/* SPDX-License-Identifier: MIT
 *
 * pd_scenes.h: the bodies of Bouaziz et al., "Projective Dynamics: Fusing Constraint Projections for Fast Simulation"
 * (2014), as scenes for trials (trial.h), which carry a pd_scene as their `scene`.
 *
 * docs/evidence/projective-dynamics.md describes the set-up. A frame is one step of 1/30 s, gravity 9.8 m/s2:
 *   - cloth: 1 m x 1 m, n x n vertices with one diagonal a cell (81 x 81: 19 683 degrees of freedom, 19 360 edges),
 *     0.2 kg/m2, edge_strain alone;
 *   - bar: unstructured tets of strain, 1000 kg/m3, made by pd_bar_mesh, held at one end or both.
 */
#ifndef SINEW_EXPERIMENTS_PD_SCENES_H
#define SINEW_EXPERIMENTS_PD_SCENES_H

#include "trial.h"

typedef enum pd_hold {
    HOLD_NOTHING,
    HOLD_CORNERS, /* of the cloth, the two upper ones */
    HOLD_EDGE,    /* the upper one; of the bar, the left end */
    HOLD_BOTH     /* both ends of the bar, of which the right one turns */
} pd_hold;

typedef struct pd_scene {
    pd_hold hold;
    double stiffness; /* N, of edges; Pa, of tets */
    double damping;   /* 1/s */
    double stretch;   /* the cloth begins so much larger than at rest, 0: not */
    double jolt;      /* m/s: each vertex of the cloth begins with a velocity of its own in its plane */
    double turn;      /* degrees a frame, of the bar's right end */
    bool level;       /* the cloth begins level, else hanging */
    bool weightless;
    bool large; /* the bar: 7161 degrees of freedom and 8406 tets in place of 4290 and 4099 */
} pd_scene;

scene_builder scene_pd_cloth, scene_pd_bar;

/* An unstructured bar along x: a lattice of 4 x 4 (large: 5 x 6) vertices across in five tets a cell, its vertices
 * moved at random, then as many vertices put into tets and pairs of tets made three as it takes to have exactly the
 * counts of the paper's bodies; quick: a short one. Always the same. NULL on failure. */
sinew_mesh *pd_bar_mesh(bool large, bool quick, sinew_error *error);

/* The mesh gives the rest lengths of a cloth's edges: root mean square and mean of l/L - 1 over the edges. */
typedef struct pd_strain {
    double mean, square;
} pd_strain;
pd_strain pd_cloth_strain(int32_t n, const sinew_real *q);

#endif
