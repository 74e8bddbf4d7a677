/* SPDX-License-Identifier: MIT
 *
 * line_search.h: step lengths along a descent direction: backtracking on any function, and searches on the objective.
 */
#ifndef SINEW_SRC_SOLVE_LINE_SEARCH_H
#define SINEW_SRC_SOLVE_LINE_SEARCH_H

#include "solve/solver.h"

/* Step lengths alpha of a backtracking search. */
typedef struct sinew_backtracking {
    double first;  /* the first one */
    double factor; /* alpha <- factor alpha; 0: the minimum of the parabola through both values and the slope */
    double slope;  /* derivative at alpha = 0, negative; read only if factor is 0 */
    double min;    /* shorter steps are not tried */
    int trials;    /* largest number of trials */
} sinew_backtracking;

/* Makes the trial of length alpha in the caller's data; returns whether it is acceptable, and if not, *change: the
 * function at alpha minus that at 0. */
typedef bool sinew_backtrack_trial(void *context, double alpha, double *change);

/* Makes trials until one is acceptable; false if none is. The caller's data hold the last trial. */
bool sinew_backtrack(const sinew_backtracking *b, sinew_backtrack_trial *trial, void *context);

/* Moves s->q to q + alpha d with alpha in (0, 1] that decreases g enough, and leaves gradient, terms and residual of
 * the new point in s. `trial` and `trial_gradient` are [particle_count][4] work space. Returns alpha; 0 when no step
 * helps, and then s is as before.
 *
 * A step is good by Armijo, g(q + alpha d) <= g(q) + delta alpha slope with delta = 1e-4, or, where the values'
 * round-off hides the decrease, by the slope at the new point (Hager and Zhang 2005, approximate Wolfe): slope' <= (2
 * delta - 1) slope with the value not above g(q) by more than round-off. Too long a step shrinks by quadratic
 * interpolation.
 *
 * If the domain of an energy with a barrier ends earlier (sinew_objective_step_limit), both searches begin at 0.99 of
 * the step to that end. */
typedef double sinew_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient);
sinew_search sinew_line_search;
/* Searches in the same way, but with alpha <- beta alpha if beta > 0, and accepts the first step shorter than `min`:
 * thesis algorithm 8, with its t. */
double sinew_line_search_by(sinew_solve *s, const sinew_real *d, double beta, double min, sinew_real *trial,
                            sinew_real *trial_gradient);

/* Searches for alpha in (0, 10] that also satisfies the strong Wolfe condition |slope'| <= 0.9 |slope| (Nocedal and
 * Wright 2006, algorithms 3.5 and 3.6): L-BFGS pairs then always have positive curvature. */
sinew_search sinew_line_search_wolfe;

/* Takes the step alpha = 1 without a search, also across barriers. */
sinew_search sinew_full_step;

#endif
