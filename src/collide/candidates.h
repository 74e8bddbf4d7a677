/* SPDX-License-Identifier: MIT
 *
 * candidates.h: detection of candidate pairs (features that may come near each other) and of intersections.
 *
 * A candidate is a vertex and a face (or a lone vertex and a lone edge or lone vertex), or two edges. Pairs with a
 * common vertex, and pairs of objects that may not collide, are omitted. Each pair is listed once, sorted by kind and
 * vertices: the list depends neither on the number of threads nor on earlier detections.
 *
 * A pair has a *reach*, below which it is listed at its present distance: the sum of the inflation radii of both
 * features. The radius of a feature is the largest radius of its vertices.
 *
 * Vertices may have predicted displacements d. The step filter then keeps them within
 *
 *     |x_now - x - lambda d| <= r,      0 <= lambda <= 1, one lambda for each island of objects.                (1)
 *
 * A pair is listed unless one of four unit directions u, between the closest points or along an axis, proves that
 *
 *     u.(x_a - x_b + lambda d_a - mu d_b)                >  reach       contacts act at x and at x + d only     (2)
 *     u.(x_a - x_b + lambda d_a - mu d_b) - r_a - r_b    >  gap         wherever (1) allows the vertices        (3)
 *
 * for all vertices a of the first feature and b of the second, less the solid radii, at all lambda and mu in 0 .. 1;
 * lambda = mu within an island. Features that are apart along one u at all positions that (1) allows cannot cross, and
 * stay farther apart than the *gap*: the sum of both half thicknesses. Both sides of (2) and (3) are linear in lambda
 * and mu, so the corners of their range suffice. Approach counts only along u, and motion that features share does not
 * count: bodies that fall and cloth that swings smoothly get few pairs.
 *
 * Within one object the distance at rest bounds both: a cloth may be thicker than its edges are long, and its
 * neighbours are as near as its mesh puts them (sinew_rest_reach, sinew_rest_gap).
 */
#ifndef SINEW_SRC_COLLIDE_CANDIDATES_H
#define SINEW_SRC_COLLIDE_CANDIDATES_H

#include "collide/collision_mesh.h"

typedef enum sinew_candidate_kind {
    SINEW_CANDIDATE_VERTEX_FACE = 0, /* vertex v[0] and triangle v[1] v[2] v[3]; a lone edge: v[3] = v[2]; a lone
                                        vertex: v[1] = v[2] = v[3] */
    SINEW_CANDIDATE_EDGE_EDGE,       /* candidate pair of the edge from v[0] to v[1] and the edge from v[2] to v[3] */
    /* Candidate pair of vertex v[0] and a half-space; v[1] = v[2] = v[3] = v[0], weights 1 0 0 0. */
    SINEW_CANDIDATE_VERTEX_PLANE
} sinew_candidate_kind;

/* Kinds of candidate pairs whose sides overlap. */
typedef enum sinew_candidate_overlap {
    SINEW_CANDIDATE_INSIDE = 1, /* the vertex is inside the collider of the face, and its contact pushes it out */
    SINEW_CANDIDATE_OVERLAPS    /* the contact keeps the present distance (contact/untangle.h) */
} sinew_candidate_overlap;

typedef struct sinew_candidate {
    int32_t v[4]; /* vertices of both features; sinew_candidate_kind says which belong to which feature */
    /* Numbers of both features: vertex and primitive, two edges, or vertex and object of a plane. */
    int32_t first, second;
    /* Interpolation weights of v, negative for the second feature; the closest points are sums of |w| x. */
    sinew_real w[4];
    sinew_real n[3]; /* unit vector from the closest point of the second feature to that of the first */
    /* Distance of the closest points less both solid radii, in m; <= 0: within the solid radii. */
    sinew_real distance;
    uint8_t kind; /* kind of the pair, a value of sinew_candidate_kind */
    /* Bit a: weight w[a] is zero, so that the closest point is on a corner or a side of its feature. */
    uint8_t zero_weights;
    /* Not 0: the sides overlap, n points out, and distance is negative: a value of sinew_candidate_overlap. */
    uint8_t inside;
} sinew_candidate;

typedef struct sinew_candidates {
    sinew_candidate *list; /* [count] candidate pairs; after sinew_detect() sorted by kind and vertices */
    int64_t count;
    int64_t dropped;       /* number of pairs beyond the limit, which are dropped from the end of the sorted list */
    size_t capacity_bytes; /* allocated size of the candidate list in bytes */
} sinew_candidates;

typedef struct sinew_detector sinew_detector;

/* Creates a collision detector. It borrows the collision mesh, which must outlive it. */
sinew_status sinew_detector_create(sinew_detector **detector, const sinew_collision_mesh *mesh, int32_t thread_count,
                                   sinew_error *error);
void sinew_detector_destroy(sinew_detector *detector); /* frees the detector, which may be NULL */
/* Gives the hit buffers of a former detector, which may be NULL, to a new one: a search in a rebuilt collision mesh then
 * needs no more memory than before. */
void sinew_detector_take_buffers(sinew_detector *detector, sinew_detector *former);
/* Input of collision detection: positions, inflation radii and predicted displacements of vertices. */
typedef struct sinew_detect_input {
    const sinew_real *x;                /* [vertex_count][4] positions of collision vertices, in m */
    const sinew_real *inflation_radius; /* [vertex_count] inflation radius of each vertex in m, >= 0 */
    /* [vertex_count][4] predicted displacements in m, and radii r of (1) in m, >= 0, infinite for vertices of objects
     * that collide with nothing; NULL: neither displacements nor radii, so only (2) counts */
    const sinew_real *predicted;
    /* [object_count] island of each object: objects of one island share lambda; NULL: each object is an island */
    const int32_t *island;
} sinew_detect_input;

/* Pairs within one object whose distance at rest is rest > 0 (m) keep an offset of at most this fraction of it. */
#define SINEW_REST_OFFSET 0.9
/* Pairs within one object become contacts below this fraction of their distance at rest. Down to SINEW_REST_OFFSET the
 * contact is inactive: solvers meet it before the pair has reached its offset. */
#define SINEW_REST_NEAR 0.95
/* Unlisted pairs within one object keep the fraction SINEW_REST_GAP of their distance at rest, but at least
 * SINEW_GAP_MIN of the full gap and at most the full gap: a full gap would list neighbours of a sheet at rest. Any
 * positive gap prevents crossing. Both fractions are chosen, not measured. */
#define SINEW_REST_GAP 0.1
#define SINEW_GAP_MIN  1e-2

/* Largest reach of a pair within one object, in m; features that coincide at rest (rest = 0) are the lips of a tear. */
static inline double sinew_rest_reach(double rest, double reach)
{
    return rest > 0 && SINEW_REST_NEAR * rest < reach ? SINEW_REST_NEAR * rest : reach;
}

/* Gap of an unlisted pair within one object, in m, where the sum of both half thicknesses is `gap`. */
static inline double sinew_rest_gap(double rest, double gap)
{
    const double bounded = SINEW_REST_GAP * rest > SINEW_GAP_MIN * gap ? SINEW_REST_GAP * rest : SINEW_GAP_MIN * gap;
    return rest > 0 && bounded < gap ? bounded : gap;
}

/* Lists at most `limit` candidate pairs; limit 0: no limit. Buffers are kept, so that only growth allocates. */
sinew_status sinew_detect(sinew_detector *detector, const sinew_detect_input *input, int64_t limit,
                          sinew_candidates *pairs, sinew_error *error);
void sinew_candidates_release(sinew_candidates *pairs, const sinew_allocator *allocator);

/* Lists pairs of primitives (triangles; lone edges against triangles) that intersect and have no common vertex, the
 * lower primitive first, in ascending order; objects that may not collide are omitted. Writes at most `capacity`
 * pairs. Returns the number of all such pairs, -1: out of memory or stopped. Triangles, lone edges and lone vertices
 * within the radius of a sphere or capsule intersect it. */
int64_t sinew_detect_intersections(sinew_detector *detector, const sinew_real *x, int32_t (*primitives)[2],
                                   int64_t capacity);

/* Computes the closest points of the pair at x: sets w, n, distance (radii not subtracted) and zero_weights from v and
 * kind. If both points coincide, n is a unit vector perpendicular to the features. */
void sinew_candidate_closest(sinew_candidate *pair, const sinew_real *x);

#endif
