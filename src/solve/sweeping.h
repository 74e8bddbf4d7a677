/* SPDX-License-Identifier: MIT
 *
 * sweeping.h: what the solvers that go from constraint to constraint share: PBD is XPBD with another kernel setting.
 *
 * They offer the parameters order, symmetric and relaxation (shared_parameters.h). A step begins at q_tilde with all
 * multipliers zero, and an iteration is one sweep. XPBD may cut the step into substeps (Macklin et al. 2019, "Small
 * steps in physics simulation"): substep k of n goes from q_k with velocity v_k to
 *
 *     y = q_k + (h/n) v_k + (h/n)^2 M^-1 f_ext,   sweeps,   v_k+1 = (q_k+1 - q_k) / (h/n)
 *
 * and takes its part of the iterations; pins go in a straight line, targets wait where the step ends. The velocity of
 * the last substep is the world's.
 */
#ifndef SINEW_SWEEPING_H
#define SINEW_SWEEPING_H

#include "solve/solver.h"
#include "solve/sweep.h"

typedef struct sinew_sweeping {
    sinew_sweep sweep;
    sinew_kernel how; /* compliance, stiffness, damping and form; damping is on when it is not zero */
    bool symmetric;
    double relaxation;
    int32_t substeps;       /* 1: none */
    int32_t done;           /* sweeps of this step */
    sinew_real *v, *q_last; /* [particle_count][4] at the start of the substep; NULL without substeps */
} sinew_sweeping;

/* Sets s->memory up for kernels as `how` says. */
sinew_status sinew_sweeping_prepare(sinew_solve *s, const sinew_kernel *how, int32_t substeps, sinew_error *error);
void sinew_sweeping_release(sinew_solve *s);
void sinew_sweeping_begin(sinew_solve *s);
uint32_t sinew_sweeping_iterate(sinew_solve *s);
bool sinew_sweeping_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);

#endif
