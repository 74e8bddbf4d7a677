/* SPDX-License-Identifier: MIT
 *
 * pd_scenes.h: the bodies of Bouaziz et al., "Projective Dynamics: Fusing Constraint Projections for Fast Simulation"
 * (2014), as scenes for trials (trial.h), which carry a pd_scene as their `scene`.
 *
 * docs/evidence/projective-dynamics.md describes the set-up. A frame is one step of 1/30 s, gravity 9.8 m/s2:
 *   - cloth: 1 m x 1 m, n x n vertices with one diagonal a cell (81 x 81: 19 683 degrees of freedom, 19 360 edges),
 *     0.2 kg/m2, edge_strain alone;
 *   - bar: unstructured tets of strain, 1000 kg/m3, made by pd_bar_mesh, pinned at one end or both.
 */
#ifndef SINEW_EXPERIMENTS_PD_SCENES_H
#define SINEW_EXPERIMENTS_PD_SCENES_H

#include "trial.h"

typedef enum pd_hold {
    HOLD_NOTHING,
    HOLD_CORNERS, /* pinned vertices: the two upper corners of the cloth */
    HOLD_EDGE,    /* pinned vertices: the upper edge of the cloth, or the left end of the bar */
    HOLD_BOTH     /* pinned vertices: both ends of the bar; the right one rotates */
} pd_hold;

typedef struct pd_scene {
    pd_hold hold;
    double stiffness; /* stiffness in N of the cloth's edges; in Pa of the bar's tets */
    double damping;   /* damping rate of the world, in 1/s */
    double stretch;   /* initial relative excess of the cloth's size over its rest size; 0: none */
    /* Largest random initial velocity of each vertex in m/s, per coordinate in the plane of the cloth. */
    double jolt;
    double turn; /* rotation of the bar's right end, in degrees per frame */
    bool level;  /* true: the cloth starts horizontal; false: vertical */
    bool weightless;
    bool large; /* true: the bar has 7161 degrees of freedom and 8406 tets; false: 4290 and 4099 */
} pd_scene;

scene_builder scene_pd_cloth, scene_pd_bar;

/* Creates an unstructured bar along x: a lattice of 4 x 4 (large: 5 x 6) vertices across in five tets a cell with
 * randomly moved vertices. Splits and flips of tets then give exactly the counts of the paper's bodies; quick: a
 * short bar. Deterministic. NULL on failure. */
sinew_mesh *pd_bar_mesh(bool large, bool quick, sinew_error *error);

/* Mean and root mean square of l/L - 1 over the edges of a cloth; the mesh gives the rest lengths L. */
typedef struct pd_strain {
    double mean, square;
} pd_strain;
pd_strain pd_cloth_strain(int32_t n, const sinew_real *q);

#endif
