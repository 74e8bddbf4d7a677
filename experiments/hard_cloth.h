/* SPDX-License-Identifier: MIT
 *
 * hard_cloth.h: an inextensible cloth that is hung up by two corners.
 *
 * n x n vertices, 1 m wide, 0.2 kg/m2, flat and level at first; gravity pulls across it. Warp and weft are hard
 * distances: with the diagonals hard too every cell would be rigid, and the cloth could fold along straight lines only.
 * Diagonals are springs (shear), and hinges resist bending.
 *
 * The weft between the held corners is as long as they are apart, so that it can do nothing but stay straight: its rods
 * depend on each other there and cannot carry weight. Corners that come nearer let it sag.
 */
#ifndef SINEW_EXPERIMENTS_HARD_CLOTH_H
#define SINEW_EXPERIMENTS_HARD_CLOTH_H

#include "experiments.h"

typedef struct hard_cloth {
    int32_t n, steps;
    double nearer; /* m by which the corners come together within the first second */
    sinew_solver_def solver;
    const struct hard_cloth *from; /* goes on where that one ended; NULL: flat and at rest */
    /* ---- results ---- */
    double *stretch;         /* [steps] largest |l / L - 1| of warp and weft at the end of each, malloc'ed */
    sinew_real *q, *v;       /* [3 n n] at the end, malloc'ed */
    double max;              /* largest of stretch */
    double seconds;          /* of processor time, a step; the first, which sets up, counts if it is the only one */
    double iterations;       /* a step */
    int32_t taken, unsolved; /* steps; of them with bits other than not_converged */
    uint32_t bits;           /* of all */
} hard_cloth;

/* Returns false, with the error set, if the case cannot run. */
bool hard_cloth_run(hard_cloth *c, sinew_error *error);
void hard_cloth_release(hard_cloth *c);

#endif
