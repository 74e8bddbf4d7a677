/* SPDX-License-Identifier: MIT
 *
 * trust_region.h: a moving trust region: each vertex stays within radius r of its predicted path, so pairs that are
 * not candidates cannot collide.
 *
 * Each vertex has a predicted displacement d and a radius r for one detection pass. Each island of objects has one
 * number lambda, 0 <= lambda <= 1: its progress along the predicted displacements of its vertices. `island` of the
 * filter lists them; each object is an island of its own unless the caller joins objects. The rule is
 *
 *     |x - x_pass_start - lambda d| <= r                                                                        (1)
 *
 * A motion goes from (lambda, x_accepted) to
 *
 *     (lambda + sigma (target - lambda), x_accepted + tau (x_requested - x_accepted))
 *
 * with one sigma for the island and one tau for each vertex, both in 0 .. 1. Along it the left side of (1) is the norm
 * of a linear function, so (1) holds throughout if it holds at both ends. Vertices a and b of one island then approach
 * each other along a direction u, from b to a, by at most
 *
 *     max(0, u.(d_b - d_a)) + r_a + r_b
 *
 * Two islands have independent lambdas: there the bound is max(0, -u.d_a) + max(0, u.d_b) + r_a + r_b. Detection
 * (candidates.h) lists the pairs that may come near in spite of it. A body that falls or swings smoothly moves freely
 * with small radii: only deviations from the prediction need radius.
 *
 * `target` is the lambda that fits the requested positions best, by least squares; sigma = tau = 1 is the full step.
 * A vertex that leaves its ball is truncated (smaller tau). A blocked vertex also limits sigma, which all vertices of
 * its island share; the next detection re-predicts their paths. The pairs (sigma, tau) that satisfy (1) form a convex
 * set that contains (0, 0). So for each smaller tau there is an admissible sigma that is not larger, and vice versa:
 * reducing them in turn ends.
 *
 * Rigid bodies have one tau, and sigma = tau: if the full motion satisfies (1) up to the fraction s, all smaller
 * fractions do.
 *
 * Colliders have no candidate pairs within themselves, and they rotate. Their lambda is 1, and their balls contain
 * their start.
 */
#ifndef SINEW_SRC_COLLIDE_FILTER_TRUST_REGION_H
#define SINEW_SRC_COLLIDE_FILTER_TRUST_REGION_H

#include "collide/filter/step_filter.h"

/* Starts a detection pass: sets the progress of bodies to lambda = 0 and of colliders to lambda = 1. */
void sinew_trust_region_begin(sinew_step_filter *filter, const sinew_collision_mesh *mesh);
/* Sets `target`, and the largest admissible `fraction` sigma, of the trust regions of all objects for x_requested. */
void sinew_trust_region_choose(sinew_step_filter *filter, const sinew_collision_mesh *mesh);
/* Largest step fraction tau of a vertex, at most `max`, at the fraction sigma of its object. */
double sinew_trust_region_tau(const sinew_step_filter *filter, const sinew_collision_mesh *mesh, int32_t v, double max);
/* Bound of the deviation of vertex v from its predicted path, the left side of (1) in the file head, in m: over the
 * full step or, if the filter's `partial` is set, for all admissible sigma and tau. */
double sinew_trust_region_deviation(const sinew_step_filter *filter, const sinew_collision_mesh *mesh, int32_t v);
/* Reduces the fraction sigma of each object to the reduced tau of its vertices with this stamp, then reduces tau of
 * its other vertices to this fraction and gives them the stamp. */
void sinew_trust_region_restrict(sinew_step_filter *filter, const sinew_collision_mesh *mesh, int32_t stamp);

#endif
