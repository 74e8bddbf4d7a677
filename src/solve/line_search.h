/* SPDX-License-Identifier: MIT
 *
 * line_search.h: step lengths along a descent direction: backtracking on any function, and searches on the objective.
 */
#ifndef SINEW_SRC_SOLVE_LINE_SEARCH_H
#define SINEW_SRC_SOLVE_LINE_SEARCH_H

#include "solve/solver.h"

/* The sequence of step lengths alpha that a backtracking line search tries. */
typedef struct sinew_backtracking {
    double first; /* first step length alpha that is tried */
    /* alpha <- factor alpha; 0: the minimum of the parabola through the values at 0 and alpha and the slope at 0 */
    double factor;
    double slope; /* derivative of the function at alpha = 0, negative; read only if factor is 0 */
    double min;   /* step lengths alpha below this value are not tried */
    int trials;   /* largest number of step lengths that are tried */
} sinew_backtracking;

/* Makes the trial step of length alpha in the data that `context` points to. *change: value of the function at alpha
 * minus its value at 0. Returns true if the trial is acceptable. */
typedef bool sinew_backtrack_trial(void *context, double alpha, double *change);

/* Backtracking: makes trial steps until one is acceptable; returns false if none is. The data of `context` hold the
 * last trial. */
bool sinew_backtrack(const sinew_backtracking *b, sinew_backtrack_trial *trial, void *context);

/* Moves s->q to q + alpha d with an alpha in (0, 1] that decreases g sufficiently, and sets gradient, terms and
 * residual of the new point in s. `trial` and `trial_gradient` are [particle_count][4] work space. Returns alpha; 0,
 * with s unchanged, if no step decreases g.
 *
 * A step is accepted by the Armijo condition, g(q + alpha d) <= g(q) + delta alpha slope with delta = 1e-4. If
 * round-off of g hides the decrease, the slope at the new point decides (Hager and Zhang 2005, approximate Wolfe):
 * slope' <= (2 delta - 1) slope, with a value above g(q) by at most round-off. Steps that are too long shrink by
 * quadratic interpolation.
 *
 * If the domain of an energy with a barrier ends along d (sinew_objective_step_limit), no search tries a step beyond
 * 0.99 of the step to the end of the domain. */
typedef double sinew_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient);
sinew_search sinew_line_search;
/* Line search like sinew_line_search, but shrinks steps by alpha <- beta alpha if beta > 0, and accepts the first step
 * shorter than `min` with a finite g (thesis algorithm 8). */
double sinew_line_search_by(sinew_solve *s, const sinew_real *d, double beta, double min, sinew_real *trial,
                            sinew_real *trial_gradient);

/* Line search for an alpha in (0, 10] that also satisfies the strong Wolfe condition |slope'| <= 0.9 |slope| (Nocedal
 * and Wright 2006, algorithms 3.5 and 3.6), so that L-BFGS pairs have positive curvature. If no trial satisfies it, the
 * longest step or the lowest trial is accepted without it. */
sinew_search sinew_line_search_wolfe;

/* Takes the step alpha = 1 without a search, also across barriers. */
sinew_search sinew_full_step;

#endif
