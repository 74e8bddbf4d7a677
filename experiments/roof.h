/* SPDX-License-Identifier: MIT
 *
 * roof.h: two shells with published solutions: the roof of Scordelis and Lo, and Cusick's drape test of fabrics.
 */
#ifndef SINEW_EXPERIMENTS_ROOF_H
#define SINEW_EXPERIMENTS_ROOF_H

#include "plate.h"

/* Roof of Scordelis and Lo (1964): a cylindrical roof, R = 25, length 50, 40 degrees to both sides, thickness 0.25,
 * E = 4.32e8, nu = 0, weight 90 per area. Diaphragms keep its ends in their planes; its sides are free. A quarter of
 * it is simulated. In linear shell theory the middle of the free side sinks by 0.3024 (MacNeal and Harder 1985). To
 * stay linear, 1/1000 of the load is applied and the result multiplied by 1000. */
typedef struct roof {
    plate_mesh_kind mesh;
    int32_t cells; /* number of cells along a side of the roof's quarter */
    uint32_t seed;
    /* ---- results of a run of the roof ---- */
    double sag;
    int32_t iterations;
    char error[256];
} roof;
bool roof_run(roof *r);

/* Drape test of Cusick (1965, BS 5058): a disc of fabric of 30 cm lies on a disc of 18 cm and hangs over its rim.
 * The drape coefficient is the fraction of the ring outside the small disc that the fabric's shadow covers. The
 * fabric is pinned on the small disc: it does not slide. */
typedef struct fabric {
    const char *name; /* name of a sheet material of the library (sinew/material.h) */
    double low, high; /* range of the drape coefficient in tables of fabrics */
} fabric;
enum {
    FABRICS = 3
};
extern const fabric fabrics[FABRICS];

typedef struct drape {
    const fabric *fabric;
    double edge; /* length of the fabric's edges, in m */
    uint32_t seed;
    /* ---- results of a drape test ---- */
    double coefficient;
    int32_t folds;      /* number of folds: rises of the shadow's radius through its mean */
    int32_t iterations; /* number of Newton iterations of the drape test; negative: not converged */
    int32_t point_count, triangle_count;
    sinew_real *q;      /* [3 * point_count] positions of the draped fabric in m, to be freed */
    int32_t *triangles; /* [3 * triangle_count] vertices of the fabric's triangles, to be freed */
    char error[256];
} drape;
bool drape_run(drape *d);
void drape_release(drape *d);

#endif
