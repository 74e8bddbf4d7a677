/* SPDX-License-Identifier: MIT
 *
 * step_filter.h: truncates the step of a solver so that surfaces which are apart at its start do not intersect.
 *
 * Two convex features that are separated along one direction at both ends of a straight motion are separated
 * throughout. Each candidate pair (candidates.h) therefore has a direction n, at first the one between its closest
 * points. A motion is admissible if every pair is still separated along its n at the end:
 *
 *     separation = min over the first feature's vertices of n.x  -  max over the second's  -  radii  >=  floor
 *
 * All vertices of a feature count, including vertices with weight zero. Common motion is unlimited: only approach
 * matters. A pair that fails the test is handled in three stages:
 *
 *     1. the direction between the closest points at the end of the motion, then at its start, is tried as a new n: the
 *     pair passes if it is separated along the new n at both ends;
 *     2. the requested positions of its vertices are moved apart along n, so the vertices can slide;
 *     3. its vertices take a fraction tau of their step. A smaller tau may bring other pairs too near; their
 *     vertices are then also truncated. tau only falls, and tau = 0 is an admissible state, so the iteration ends.
 *
 * Pairs are processed in the order of the list, so the result does not depend on the number of threads.
 *
 * Pairs that are not candidates cannot meet: the trust region (trust_region.h) keeps each vertex in a ball around its
 * predicted path, and detection lists every pair that is not separated along one direction under that rule.
 *
 * The floor is 1 % of the offset, and at least 64 machine epsilons of the largest coordinate: repeated truncation would
 * otherwise reduce separations to zero. A pair at its floor may not come nearer. A collider moves as a whole: its
 * vertices share one tau. So do the vertices of a rigid body: they are affine combinations of four particles, so they
 * move along straight lines if the particles do, and stay the same combinations if all take the same fraction. Stage 2
 * translates rigid bodies.
 *
 * Invariant: at x_accepted every pair that was separated at the start of the pass is separated along its n by its
 * floor, or by its separation at the start if that was smaller.
 */
#ifndef SINEW_SRC_COLLIDE_FILTER_STEP_FILTER_H
#define SINEW_SRC_COLLIDE_FILTER_STEP_FILTER_H

#include "collide/candidates.h"

/* A candidate pair as the step filter stores it. */
typedef struct sinew_filter_pair {
    sinew_real n[3];       /* unit direction along which the pair is separated, from the second to the first feature */
    sinew_real min;        /* smallest admissible separation, in m; -inf: the pair is not filtered */
    sinew_real separation; /* separation of the features along n at the start of the detection pass, in m */
    /* Largest approach in m from relative predicted displacement, for pairs within one island; 0 for pairs of two
     * islands. */
    sinew_real approach;
    sinew_real base; /* sum of both radii, in m; plane: height of the plane along n */
    int32_t v[4];
    /* Number of vertices of the first feature, v[0] .. v[first - 1]; 4: the second feature is a plane. */
    int16_t first;
    bool joint; /* true: both features belong to one island, so they share lambda */
} sinew_filter_pair;

/* Trust region of an object: its progress along its predicted displacement (trust_region.h). */
typedef struct sinew_trust_region {
    double progress;   /* parameter lambda on the predicted path at x_accepted */
    double target;     /* parameter lambda on the predicted path that fits x_requested best */
    double fraction;   /* sigma: fraction of the interval from `progress` to `target` that this motion takes */
    bool unrestricted; /* true: all vertices of x_requested are within their trust regions at `target` */
    /* Work space of an island, at its first object: sums of the least squares for `target`; smallest sigma found. */
    double over, under, least;
} sinew_trust_region;

typedef struct sinew_step_filter {
    int32_t vertex_count;
    int64_t pair_count, near_count, watched_count;
    sinew_filter_pair *pairs; /* [pair_count] candidate pairs of the detection pass */
    int32_t *watched_pairs;   /* [watched_count] indices of pairs that might come too near within `reach` */
    sinew_real *reach;        /* [vertex_count][2] distances of `work` for which watched_pairs is complete, in m */
    int32_t watched_uses;     /* number of motions that used watched_pairs; 0: the list is not built */
    int32_t *near_pairs;      /* [near_count] indices of pairs that might come too near in this motion */
    /* [near_count] value of `moves` at the last test of each pair; < 0: the pair was not separated */
    int32_t *seen;
    /* [vertex_count] value of `moves` at the last correction of each vertex, or number of the pass that last reduced
     * its tau */
    int32_t *stamp;
    int32_t moves; /* 1 + number of corrections of x_requested in the current separation of pairs */
    /* [vertex_count][2] work space: bounds of two distances of each vertex in m, or in [0] a factor on its tau */
    sinew_real *work;
    uint8_t *fixed; /* [vertex_count] 1: the vertex is prescribed (pin or collider); set by the caller after build */
    uint8_t *truncated; /* [vertex_count] 1: the last motion of the vertex does not reach the caller's x_requested */
    sinew_real *x_pass_start; /* [vertex_count][4] positions at the start of the detection pass, in m */
    sinew_real *x_accepted;   /* [vertex_count][4] admissible positions, in m; the fourth number is tau of the motion */
    sinew_real *x_requested;  /* [vertex_count][4] end of the motion that the caller requests, in m */
    sinew_real *x_end;        /* [vertex_count][4] end of the truncated motion, in m; the fourth number is 0 */
    sinew_real *predicted;    /* [vertex_count][4] predicted displacement, in m; fourth: radius of the trust region */
    sinew_trust_region *trust_regions; /* [object_count] trust region of each object, equal within an island */
    int32_t *island; /* [object_count] first object of the island of each object; set by the caller after begin */
    bool partial;    /* true: some tau or sigma is below 1, so that the end of the motion is not final */
    size_t pair_capacity, near_pair_capacity, seen_capacity, stamp_capacity, work_capacity, fixed_capacity,
        truncated_capacity, x_pass_start_capacity, x_accepted_capacity, x_requested_capacity, x_end_capacity,
        predicted_capacity, trust_region_capacity, island_capacity, watched_capacity, reach_capacity;
} sinew_step_filter;

/* Starts a detection pass of the step filter: allocates the arrays of vertices and objects, and makes each object an
 * island of its own; the caller then fills `predicted`, and may join bodies that are not rigid. False: out of
 * memory. */
bool sinew_step_filter_begin(sinew_step_filter *filter, const sinew_collision_mesh *mesh);
/* Copies into the filter the candidate pairs of a detection pass that starts at x [vertex_count][4]. Pairs that
 * touch or overlap (distance <= 0) are not filtered. False: out of memory, or stopped. */
bool sinew_step_filter_build(sinew_step_filter *filter, const sinew_collision_mesh *mesh, const sinew_real *x,
                             const sinew_candidates *pairs);
void sinew_step_filter_release(sinew_step_filter *filter, const sinew_allocator *allocator);

/* Separates the requested positions, and finds the fraction tau of the motion from x_accepted to x_requested for all
 * vertices, written to the fourth numbers of x_accepted. Returns the number of truncated vertices. */
int32_t sinew_step_filter_limit(sinew_step_filter *filter, const sinew_collision_mesh *mesh, int32_t thread_count);
/* Computes the position of vertex v at the end of its truncated motion, in m. */
void sinew_step_filter_position(const sinew_step_filter *filter, int32_t v, sinew_real x[3]);
/* Ends a motion after the caller has written all new positions to x_accepted: advances the progress of all trust
 * regions. */
void sinew_step_filter_commit(sinew_step_filter *filter, const sinew_collision_mesh *mesh);

#endif
