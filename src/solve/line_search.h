/* SPDX-License-Identifier: MIT
 *
 * line_search.h: how far to go along a descent direction, judged by the objective.
 */
#ifndef SINEW_SRC_SOLVE_LINE_SEARCH_H
#define SINEW_SRC_SOLVE_LINE_SEARCH_H

#include "solve/solver.h"

/* Moves s->q to q + alpha d with alpha in (0, 1] that decreases g enough, and leaves gradient, terms and residual of
 * the new point in s. `trial` and `trial_gradient` are [particle_count][4] work space. Returns alpha; 0 when no step
 * helps, and then s is as before.
 *
 * A step is good by Armijo, g(q + alpha d) <= g(q) + delta alpha slope with delta = 1e-4, or, where the values'
 * round-off hides the decrease, by the slope at the new point (Hager and Zhang 2005, approximate Wolfe): slope' <= (2
 * delta - 1) slope with the value not above g(q) by more than round-off. Too long a step shrinks by quadratic
 * interpolation.
 *
 * Where an energy with a barrier ends before (sinew_objective_step_limit), both searches begin at 0.99 of the way to
 * there. */
typedef double sinew_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient);
sinew_search sinew_line_search;
/* The same with alpha <- beta alpha where beta > 0, and with the first step shorter than `least` taken as it is: thesis
 * algorithm 8, whose t that is. */
double sinew_line_search_by(sinew_solve *s, const sinew_real *d, double beta, double least, sinew_real *trial,
                            sinew_real *trial_gradient);

/* The same bargain, with alpha in (0, 10] that also satisfies the strong Wolfe condition |slope'| <= 0.9 |slope|
 * (Nocedal and Wright 2006, algorithms 3.5 and 3.6): L-BFGS pairs then always show positive curvature. */
sinew_search sinew_line_search_wolfe;

/* alpha = 1, whatever g does: no search, also where an energy ends before. */
sinew_search sinew_full_step;

#endif
