/* SPDX-License-Identifier: MIT
 *
 * roof.h: two shells with published solutions: the roof of Scordelis and Lo, and Cusick's drape test of fabrics.
 */
#ifndef SINEW_EXPERIMENTS_ROOF_H
#define SINEW_EXPERIMENTS_ROOF_H

#include "plate.h"

/* Scordelis and Lo (1964): a part of a cylinder, R = 25, length 50, 40 degrees to both sides, thickness 0.25, E
 * = 4.32e8, nu = 0, weight 90 per area, its ends on diaphragms that hold them in their planes, its sides free. A
 * quarter of it is simulated. The middle of the free side sinks by 0.3024 in the linear theory of shells (MacNeal and
 * Harder 1985), so the load is 1/1000 and the answer 1000 times what is found. */
typedef struct roof {
    plate_mesh_kind mesh;
    int32_t cells; /* a side of the quarter */
    uint32_t seed;
    /* ---- results ---- */
    double sag;
    int32_t iterations;
    char error[256];
} roof;
bool roof_run(roof *r);

/* Cusick (1965, BS 5058): a disc of fabric of 30 cm lies on a disc of 18 cm and hangs over its rim. The drape
 * coefficient is the part of the ring outside the small disc that its shadow from above covers. The fabric is held
 * where the small disc is: it does not slide. */
typedef struct fabric {
    const char *name; /* index of a sheet material of the library (sinew/material.h) */
    double low, high; /* drape coefficient as tables of fabrics have it */
} fabric;
enum {
    FABRICS = 3
};
extern const fabric fabrics[FABRICS];

typedef struct drape {
    const fabric *fabric;
    double edge; /* m, length of edges */
    uint32_t seed;
    /* ---- results ---- */
    double coefficient;
    int32_t folds;      /* maxima of the rim's height */
    int32_t iterations; /* negative: not converged */
    int32_t point_count, triangle_count;
    sinew_real *q;      /* [3 * point_count], to be freed */
    int32_t *triangles; /* [3 * triangle_count], to be freed */
    char error[256];
} drape;
bool drape_run(drape *d);
void drape_release(drape *d);

#endif
