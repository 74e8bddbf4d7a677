/* SPDX-License-Identifier: MIT
 *
 * hard_cloth.h: an inextensible cloth that is hung up by two corners.
 *
 * n x n vertices, 1 m wide, 0.2 kg/m2, flat and level at first; gravity pulls across it. Warp and weft are hard
 * distances: with the diagonals hard too every cell would be rigid, and the cloth could fold along straight lines only.
 * Diagonals are springs (shear), and hinges resist bending.
 *
 * The weft between the pinned corners is as long as their distance, so it stays straight: its rods are linearly
 * dependent and cannot carry weight. Corners that approach each other let it sag.
 */
#ifndef SINEW_EXPERIMENTS_HARD_CLOTH_H
#define SINEW_EXPERIMENTS_HARD_CLOTH_H

#include "experiments.h"

typedef struct hard_cloth {
    int32_t n, steps;
    double nearer; /* distance in m by which the corners approach each other within the first second */
    sinew_solver_def solver;
    const struct hard_cloth *from; /* run whose end state is the start of this run; NULL: flat and at rest */
    /* ---- results of a run of the cloth ---- */
    /* [steps] largest |l / L - 1| of warp and weft at the end of each step; allocated by malloc. */
    double *stretch;
    sinew_real *q, *v; /* [3 n n] positions (m) and velocities (m/s) at the end of the run; allocated by malloc */
    double max;        /* largest stretch of all steps */
    /* Processor time per step in s, without the first of several steps, which includes set-up. */
    double seconds;
    double iterations; /* mean number of iterations per step */
    /* Number of steps taken; number of steps among them with bits other than not_converged. */
    int32_t taken, unsolved;
    uint32_t bits; /* union of the status bits of all steps of the cloth */
} hard_cloth;

/* Runs a case of the cloth. Returns false, with the error set, if the case cannot run. */
bool hard_cloth_run(hard_cloth *c, sinew_error *error);
void hard_cloth_release(hard_cloth *c);

#endif
