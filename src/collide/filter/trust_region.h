/* SPDX-License-Identifier: MIT
 *
 * trust_region.h: balls that go along with where vertices are expected, so that pairs out of reach stay so.
 *
 * Each vertex has a way d and a radius r for an epoch, and an object has one number lambda, 0 <= lambda <= 1, that says
 * how far it has come on the ways of its vertices. The rule is
 *
 *     |x - begun - lambda d| <= r                                                                              (1)
 *
 * and a motion goes from (lambda, safe) to (lambda + sigma (to - lambda), safe + tau (asked - safe)), with one sigma
 * for the object and a tau for each vertex, both 0 .. 1. Along it the left side of (1) is the length of something
 * linear, so (1) holds throughout if it holds at both ends. Points of two features A and B of one object, between whose
 * vertices they lie, then approach each other by at most
 *
 *     lambda max |d_a - d_b| + max r_a + max r_b,
 *
 * and those of two objects, whose lambdas have nothing to do with each other, by max |d_a| + max |d_b| + both radii.
 * That is what detection (candidates.h) adds to thicknesses. A body that falls, or swings smoothly, is free to do so though
 * its radii are small, as only what differs from the expected way needs them.
 *
 * `to` is the lambda that suits what is asked best, by least squares. sigma = tau = 1 is what is wanted. A vertex that
 * asks for too much goes a smaller tau. One that stays behind (it was stopped) holds back sigma, and with it all others
 * of its object: they have to wait for the next epoch, which knows better what to expect. (sigma, tau) that satisfy (1)
 * form a convex set with (0, 0) in it. So where tau falls, there is a sigma, not larger, that satisfies (1), and where
 * sigma falls there is such a tau: cutting one after the other ends.
 *
 * Colliders have no pairs of their own features, and turn: their lambda is 1, their balls contain where they begin.
 */
#ifndef SINEW_SRC_COLLIDE_FILTER_TRUST_REGION_H
#define SINEW_SRC_COLLIDE_FILTER_TRUST_REGION_H

#include "collide/filter/step_filter.h"

/* Epoch: all at their begin. */
void sinew_course_begin(sinew_guard *guard, const sinew_features *features);
/* `to` and the largest `part` of all objects for what is asked. */
void sinew_course_choose(sinew_guard *guard, const sinew_features *features);
/* The largest tau of a vertex, at most `most`, with the part of its object. */
double sinew_course_tau(const sinew_guard *guard, const sinew_features *features, int32_t v, double most);
/* m: how far the vertex may come from begun + lambda d: at the end that is asked or, `wide`, whatever sigma and tau. */
double sinew_course_way(const sinew_guard *guard, const sinew_features *features, int32_t v);
/* Ways of vertices with the stamp became shorter: less of the course goes with them, and others go less too, stamped
 * likewise. */
void sinew_course_join(sinew_guard *guard, const sinew_features *features, int32_t stamp);

#endif
