/* SPDX-License-Identifier: MIT
 *
 * hard_cloth.h: an inextensible cloth that is hung up by two corners.
 *
 * n x n vertices, 1 m wide, 0.2 kg/m2, flat and level at first; gravity pulls across it. Warp and weft are hard
 * distances: with the diagonals hard too every cell would be rigid, and the cloth could fold along straight lines only.
 * Diagonals are springs (shear), and hinges resist bending.
 *
 * The weft between the held corners is as long as they are apart, so that it can do nothing but stay straight: its rods
 * The weft between the held corners is as long as their distance, so it stays straight: its rods are linearly dependent
 * and cannot carry weight. Corners that approach each other let it sag.
 */
#ifndef SINEW_EXPERIMENTS_HARD_CLOTH_H
#define SINEW_EXPERIMENTS_HARD_CLOTH_H

#include "experiments.h"

typedef struct hard_cloth {
    int32_t n, steps;
    double nearer; /* m by which the corners approach each other within the first second */
    sinew_solver_def solver;
    const struct hard_cloth *from; /* run whose end state is the start; NULL: flat and at rest */
    /* ---- results ---- */
    double *stretch;         /* [steps] largest |l / L - 1| of warp and weft at the end of each step, malloc'ed */
    sinew_real *q, *v;       /* [3 n n] state at the end, malloc'ed */
    double max;              /* largest of stretch */
    double seconds;          /* processor time per step, without the first of several, which includes set-up */
    double iterations;       /* iterations per step */
    int32_t taken, unsolved; /* steps taken; steps among them with bits other than not_converged */
    uint32_t bits;           /* union of the status bits of all steps */
} hard_cloth;

/* Returns false, with the error set, if the case cannot run. */
bool hard_cloth_run(hard_cloth *c, sinew_error *error);
void hard_cloth_release(hard_cloth *c);

#endif
