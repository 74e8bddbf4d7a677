/* SPDX-License-Identifier: MIT
 *
 * gap_descent.h: the descent of Newton's method on the copy of q (objective_gap.h), which the estimates of the gap and
 * of the position error share.
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_GAP_DESCENT_H
#define SINEW_SRC_SOLVE_DRIVER_GAP_DESCENT_H

#include "solve/driver/objective_gap.h"
#include "solve/driver/newton_decrement.h"

#define SINEW_GAP_BOLD_FAILURES 3 /* largest number of failed sequences of unchecked full steps of one descent */
#define SINEW_GAP_NOISE_SAMPLES 4 /* number of samples of the displacement by round-off */

/* Observed and predicted decreases of the objective in the descent so far. */
typedef struct sinew_gap_account {
    double seen;      /* observed decrease of g on the copy, in J */
    double left;      /* predicted remaining decrease of g at the iterate of the copy, in J */
    double before;    /* value of `left` one step earlier, in J */
    double uncertain; /* round-off of the predicted decrease `left`, in J */
    bool confirmed;   /* the last step's decrease agreed with the prediction within a constant factor */
    bool chord;       /* the factor of the last direction may serve for the next one */
    double denied;    /* `left` before the last call of sinew_gap_make_exact(), in J; HUGE_VAL: never called */
    int in_row;       /* number of consecutive steps whose predicted decrease was confirmed */
    bool indefinite;  /* the exact Hessian was indefinite at some iterate */
    int failures;     /* number of failed sequences of unchecked full steps */
    int escapes;      /* number of saddles that the descent has left */
} sinew_gap_account;

/* ---- Descent (objective_gap.c) ------------------------------------------------------------------- */

/* Slope of the objective along newton.d at the copy, in J. */
double sinew_gap_slope(const sinew_gap *gap);
/* Round-off of sinew_gap_slope(), in J. A particle's force is accurate to its stiffness times the spacing of
 * floating-point numbers. */
double sinew_gap_slope_noise(const sinew_gap *gap);
/* Computes newton.d and the decrease a->left that it predicts. The Hessian is that of the last factor if its direction
 * is good enough, else the one at the iterate: conjugate gradients preconditioned by the last exact factor solve its
 * system, or a factorisation. Returns false if there is no direction. */
bool sinew_gap_next_direction(sinew_gap *gap, sinew_gap_account *a);
/* Takes one step along newton.d. Returns the decrease of g, negative if there is none. Sets a->confirmed if the full
 * step gained the predicted decrease within a constant factor. Near round-off (`hidden`) only a full step is tried. If
 * the step along a chord direction (from an earlier factor) fails, a new factor gives another direction. */
double sinew_gap_take_step(sinew_gap *gap, bool hidden, sinew_gap_account *a);
/* True if the predicted remaining decrease may be round-off: it is at most its round-off, or at most a multiple of that
 * and not much below the previous prediction. */
bool sinew_gap_is_hidden(const sinew_gap_account *a);
/* Computes gradient, terms and residual at the copy. */
void sinew_gap_evaluate(sinew_gap *gap);

/* ---- Position error (position_error.c, settled_error.c) ------------------------------------------ */

/* Continues the descent until the last correction is small in distance, too, and estimates the position error. */
void sinew_gap_find_error(sinew_gap *gap, sinew_gap_account *a, sinew_gap_estimate *estimate);
/* Estimates the position error of a step with contact. The contact data of the step are restored before the return. */
void sinew_gap_find_settled_error(sinew_gap *gap, sinew_gap_account *a, sinew_gap_estimate *estimate);
/* Writes the position error vectors.error = copy.q + d - q. Returns its largest length; *correction receives the
 * largest |d|. */
double sinew_gap_write_error(sinew_gap *gap, double *correction);
/* Writes the largest position error `error` (m) and the root mean square of vectors.error to `estimate`; if the gap is
 * only bounded (SINEW_GAP_BELOW), bounds of both. */
void sinew_gap_set_known(sinew_gap *gap, double error, sinew_gap_estimate *estimate);
void sinew_gap_set_unknown(sinew_gap_estimate *estimate, const char *reason);
/* Measures the displacement that round-off in the forces causes. For a shift s of some spacings of positions the exact
 * gradient changes by H s; the rest of the computed change is round-off:
 *
 *     H^-1 (grad g(q + s) - grad g(q)) - s
 *
 * with the last factor of H. Unlike random forces, the difference has the structure of round-off in elements, whose
 * forces balance and hardly move soft modes. k: number of the sample. Raises noise[4 i] to the distance of particle i.
 * Returns false without a factor. */
bool sinew_gap_sample_noise(sinew_gap *gap, int k, sinew_real *noise);

#endif
