/* SPDX-License-Identifier: MIT
 *
 * line_search.h: how far to go along a descent direction, judged by the objective.
 */
#ifndef SINEW_LINE_SEARCH_H
#define SINEW_LINE_SEARCH_H

#include "solve/solver.h"

/* Moves s->q to q + alpha d with alpha in (0, 1] that decreases g enough, and leaves gradient, terms and residual of
 * the new point in s. `trial` and `trial_gradient` are [particle_count][4] work space. Returns alpha; 0 when no step
 * helps, and then s is as before.
 *
 * A step is good by Armijo, g(q + alpha d) <= g(q) + delta alpha slope with delta = 1e-4, or, where the values'
 * round-off hides the decrease, by the slope at the new point (Hager and Zhang 2005, approximate Wolfe): slope' <= (2
 * delta - 1) slope with the value not above g(q) by more than round-off. Too long a step shrinks by quadratic
 * interpolation. */
double sinew_line_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient);

#endif
