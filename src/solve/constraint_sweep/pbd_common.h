/* SPDX-License-Identifier: MIT
 *
 * pbd_common.h: what the solvers that go from constraint to constraint share: PBD is XPBD with another kernel setting.
 *
 * They offer the parameters order, symmetric and relaxation (parameters.h); PBD and XPBD also Chebyshev's
 * acceleration of Jacobi sweeps (Wang 2015), with the weights w = 1, 2/(2 - rho^2), then 4/(4 - rho^2 w), which begin
 * anew with each part of a step. While something touches, sweeps are plain. A step begins at q_tilde with all
 * multipliers zero, and an iteration is one sweep. XPBD may divide the step into substeps (Macklin et al. 2019, "Small
 * steps in physics simulation"): substep k of n goes from q_k with velocity v_k to
 *
 *     y = q_k + (h/n) v_k + (h/n)^2 M^-1 f_ext,   sweeps,   v_k+1 = (q_k+1 - q_k) / (h/n)
 *
 * and takes its part of the iterations; pins go in a straight line, targets wait where the step ends. The velocity of
 * the last substep is the world's.
 *
 * A quasistatic step has no inertia to divide by. XPBD then goes through a pseudo-time of its own until nothing moves
 * any more (Chentanez et al. 2020, as PBNG 6.1 has it): substeps of a given length with a given number of sweeps each,
 * from rest, with pins at their places from the start, and with velocities of which a part is lost each time. PBD,
 * whose constraints are hard, sweeps from where the forces alone would lead within h; they have no other effect.
 */
#ifndef SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_PBD_COMMON_H
#define SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_PBD_COMMON_H

#include "solve/solver.h"
#include "solve/constraint_sweep/sweep.h"

/* Changes after which a sweep need not be prepared anew: data and switches are seen by every step. */
#define SINEW_SWEEPING_REFRESHES                                                                                       \
    (SINEW_CHANGED_DEF | SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS |  \
     SINEW_CHANGED_TRANSIENT)

/* The parts of a step: one whole, substeps of real time, or parts of a pseudo-time. */
typedef struct sinew_sweeping_parts {
    int32_t count;  /* real time: substeps that the iterations are dealt out to; 1: the step as one whole */
    int32_t sweeps; /* pseudo-time, which has no end: sweeps of one part; 0: it is real time */
    double h;       /* pseudo-time: s, of one part */
    double keep;    /* pseudo-time: what is left of velocities after a part, 0 .. 1 */
} sinew_sweeping_parts;

/* What may be asked for beside plain sweeps. */
typedef struct sinew_sweeping_extras {
    bool chebyshev; /* in order Jacobi */
    double rho;     /* of its weights */
    bool residual;  /* every sweep begins without residual of the momentum equation (sinew_sweep_balance) */
    bool guess;     /* multipliers begin as -C / alpha~ */
} sinew_sweeping_extras;

typedef struct sinew_sweeping sinew_sweeping;

/* How time passes around the sweeps of a step (substeps.c). */
typedef struct sinew_sweeping_time {
    sinew_status (*prepare)(sinew_solve *s, sinew_sweeping *w, sinew_error *error); /* and after changes */
    void (*begin)(sinew_solve *s, sinew_sweeping *w);                               /* of a step */
    void (*before_sweep)(sinew_solve *s, sinew_sweeping *w); /* w->done sweeps of the step are over */
    void (*after_sweep)(sinew_solve *s, sinew_sweeping *w);
} sinew_sweeping_time;

extern const sinew_sweeping_time sinew_sweeping_whole, sinew_sweeping_substeps, sinew_sweeping_pseudo;

struct sinew_sweeping {
    sinew_sweep sweep;
    sinew_constrain_kernel how; /* compliance, stiffness, damping and form; damping is on when it is not zero */
    bool symmetric;
    double relaxation;
    sinew_sweeping_extras extras;
    double weight;  /* of Chebyshev, of the last sweep */
    int32_t streak; /* sweeps since multipliers were set, or contacts changed */
    sinew_sweeping_parts parts;
    const sinew_sweeping_time *time;
    double part_h;          /* s, of one part, or of the step as a whole */
    int32_t done;           /* sweeps of this step */
    bool moved;             /* by sweeps that q does not have yet */
    sinew_real *v, *q_last; /* [particle_count][4] at the start of the part; NULL where there are none */
};

/* Sets s->memory up for kernels as `how` says; extras may be NULL. */
sinew_status sinew_sweeping_prepare(sinew_solve *s, const sinew_constrain_kernel *how,
                                    const sinew_sweeping_parts *parts, const sinew_sweeping_extras *extras,
                                    sinew_error *error);
/* Takes over changes (SINEW_SWEEPING_REFRESHES); `how` and `parts` as prepare would get them now. */
sinew_status sinew_sweeping_refresh(sinew_solve *s, const sinew_constrain_kernel *how,
                                    const sinew_sweeping_parts *parts, uint32_t changed, sinew_error *error);
int32_t sinew_sweeping_form(int choice); /* of SINEW_NEO_HOOKEAN_PARAMETER: a SINEW_FORM_ */
void sinew_sweeping_release(sinew_solve *s);
void sinew_sweeping_begin(sinew_solve *s);
/* Multipliers and positions of the sweeps that follow: of a step, or of a part of it. */
void sinew_sweeping_start(const sinew_solve *s, sinew_sweeping *w);
uint32_t sinew_sweeping_iterate(sinew_solve *s);
void sinew_sweeping_settle(sinew_solve *s);
void sinew_sweeping_resume(sinew_solve *s, uint32_t what);
int32_t sinew_sweeping_colours(const sinew_solve *s, const int32_t *outside, int32_t *colours);
bool sinew_sweeping_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);

#endif
