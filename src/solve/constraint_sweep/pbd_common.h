/* SPDX-License-Identifier: MIT
 *
 * pbd_common.h: common code of solvers that project one constraint after the other; PBD is XPBD with another kernel
 * setting.
 *
 * These solvers have the parameters order, symmetric and relaxation (parameters.h). PBD and XPBD also have Chebyshev
 * acceleration of Jacobi sweeps (Wang 2015), with the weights w = 1, 2/(2 - rho^2), then 4/(4 - rho^2 w), which restart
 * with each substep. Sweeps with contacts are not accelerated. A step starts at q_tilde with all multipliers zero (or
 * guessed, sinew_pbd_extras), and an iteration is one sweep. XPBD may divide the step into substeps (Macklin et al.
 * 2019, "Small steps in physics simulation"): substep k of n goes from q_k with velocity v_k to
 *
 *     y = q_k + (h/n) v_k + (h/n)^2 M^-1 f_ext,   sweeps,   v_k+1 = (q_k+1 - q_k) / (h/n)
 *
 * with equal numbers of iterations, up to a difference of one. Pins move in a straight line; targets are those of the
 * end of the step. The velocity of the last substep becomes the velocity of the world.
 *
 * A quasistatic step has no inertia. xpbd-qs integrates in pseudo-time towards rest (Chentanez et al. 2020, as in PBNG
 * 6.1): substeps have a given length and number of sweeps, with pins at their targets and damped velocities; the first
 * starts from rest. PBD, whose constraints are hard, sweeps from the positions that the forces alone would reach within
 * h.
 */
#ifndef SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_PBD_COMMON_H
#define SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_PBD_COMMON_H

#include "solve/solver.h"
#include "solve/constraint_sweep/sweep.h"

/* Changes of the world that sinew_pbd_refresh() handles: the colours of the fixed constraints stay valid. */
#define SINEW_PBD_REFRESHES                                                                                            \
    (SINEW_CHANGED_DEF | SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS |  \
     SINEW_CHANGED_TRANSIENT)

/* Kind of substeps: none, several in real time, or substeps in pseudo-time. */
typedef struct sinew_pbd_options {
    int32_t count;  /* real time: number of substeps, which share the iterations; 1: none */
    int32_t sweeps; /* pseudo-time: number of sweeps of one substep; 0: real time */
    double h;       /* pseudo-time: length of one substep, in s */
    double keep;    /* pseudo-time: fraction 0 .. 1 of the velocities kept after a substep */
} sinew_pbd_options;

/* Options of PBD solvers that change plain sweeps. */
typedef struct sinew_pbd_extras {
    bool chebyshev; /* true: accelerate Jacobi sweeps by Chebyshev's recurrence; ignored in other orders */
    double rho;     /* estimated spectral radius of a sweep, for Chebyshev's weights */
    bool residual;  /* true: remove the momentum residual before every sweep (sinew_sweep_balance) */
    bool guess;     /* true: multipliers start at -C / alpha~ instead of zero (alpha~ = alpha / h^2) */
} sinew_pbd_extras;

typedef struct sinew_pbd sinew_pbd;

/* Operations of a kind of substeps, around the sweeps of a step (substeps.c). */
typedef struct sinew_pbd_time {
    /* Sets substep_h and allocates the vectors v and q_last; also called after changes of the world. */
    sinew_status (*prepare)(sinew_solve *s, sinew_pbd *w, sinew_error *error);
    void (*begin)(sinew_solve *s, sinew_pbd *w); /* called once at the start of a time step */
    /* Called before each sweep; w->sweep_count sweeps of the step are done. */
    void (*before_sweep)(sinew_solve *s, sinew_pbd *w);
    void (*after_sweep)(sinew_solve *s, sinew_pbd *w);
} sinew_pbd_time;

extern const sinew_pbd_time sinew_pbd_without_substeps, sinew_pbd_substeps, sinew_pbd_pseudo;

struct sinew_pbd {
    sinew_sweep sweep;
    /* kernel settings: compliance, stiffness, damping and form; damping is on when it is not zero */
    sinew_constrain_kernel how;
    bool symmetric;
    double relaxation;
    sinew_pbd_extras extras;
    double weight; /* weight of Chebyshev's recurrence in the last sweep */
    /* number of sweeps since Chebyshev's weights restarted: at new multipliers, and at each sweep with contacts */
    int32_t streak;
    sinew_pbd_options options;
    const sinew_pbd_time *time;
    double substep_h;    /* length of one substep, or of the whole step without substeps, in s */
    int32_t sweep_count; /* number of sweeps done in this step */
    bool moved;          /* true: positions moved by sweeps are not yet copied to s->q */
    /* [particle_count][4] velocities (m/s) and positions (m) at the start of the substep; NULL without substeps */
    sinew_real *v, *q_last;
};

/* Sets up s->memory for kernels with the settings of `how`; extras may be NULL. */
sinew_status sinew_pbd_prepare(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_pbd_options *options,
                               const sinew_pbd_extras *extras, sinew_error *error);
/* Applies changes of the world (SINEW_PBD_REFRESHES); `how` and `options` as for prepare. */
sinew_status sinew_pbd_refresh(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_pbd_options *options,
                               uint32_t changed, sinew_error *error);
int32_t sinew_pbd_form(int choice); /* returns the SINEW_FORM_ value for a choice of SINEW_NEO_HOOKEAN_PARAMETER */
void sinew_pbd_release(sinew_solve *s);
void sinew_pbd_begin(sinew_solve *s);
/* Starts the sweeps of a step or substep at s->q, with multipliers at zero or at their guess. */
void sinew_pbd_start(const sinew_solve *s, sinew_pbd *w);
uint32_t sinew_pbd_iterate(sinew_solve *s);
void sinew_pbd_flush(sinew_solve *s);
void sinew_pbd_contacts_changed(sinew_solve *s, uint32_t what);
int32_t sinew_pbd_colours(const sinew_solve *s, const int32_t *outside, int32_t *colours);
bool sinew_pbd_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values);

/* Entries that the operation tables of PBD, XPBD and xpbd-qs share. */
#define SINEW_PBD_OPS                                                                                                  \
    .refreshes = SINEW_PBD_REFRESHES, .release = sinew_pbd_release, .begin = sinew_pbd_begin,                          \
    .iterate = sinew_pbd_iterate, .flush = sinew_pbd_flush, .contacts_changed = sinew_pbd_contacts_changed,            \
    .filtered_late = true, .hard = SINEW_CAN_CONSTRAINT, .multipliers = sinew_pbd_multipliers,                         \
    .colours = sinew_pbd_colours, .work = {.gradients = 1.6}

#endif
