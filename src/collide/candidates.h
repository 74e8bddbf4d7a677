/* SPDX-License-Identifier: MIT
 *
 * candidates.h: detection of candidate pairs (features that may come near each other) and of intersections.
 *
 * A candidate is a vertex and a face (or a lone vertex and a lone edge or lone vertex), or two edges. Pairs with a
 * common vertex, and pairs of objects that may not collide, are omitted. Detection lists every pair whose distance is
 * at most the sum of the inflation radii of both features; the radius of a feature is the largest radius of its
 * vertices. Each pair is listed once, sorted by kind and vertices: the list depends neither on the number of threads
 * nor on earlier detections.
 *
 * Vertices may have predicted displacements d. The step filter then keeps them within
 *
 *     |x_now - x - lambda d| <= r,      0 <= lambda <= 1, one lambda for each object,
 *
 * where r is the part of the inflation radius beyond the thickness, and detection lists every pair that can come near
 * under this rule. Features of one object share lambda, so they approach each other by at most the largest |d_a - d_b|
 * over their vertices: bodies that fall and cloth that swings smoothly get few pairs within themselves. Two objects
 * have independent lambdas: they approach by at most the sum of the largest |d| of both. Detection adds these bounds to
 * the inflation radii of the pair.
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
    sinew_candidate *list; /* [count] candidate pairs, sorted by kind and vertices */
    int64_t count;
    int64_t dropped;       /* number of pairs beyond the limit, which are dropped from the end of the sorted list */
    size_t capacity_bytes; /* allocated size of the candidate list in bytes */
} sinew_candidates;

typedef struct sinew_detector sinew_detector;

/* Creates a collision detector. It borrows the collision mesh, which must outlive it. */
sinew_status sinew_detector_create(sinew_detector **detector, const sinew_collision_mesh *mesh, int32_t thread_count,
                                   sinew_error *error);
void sinew_detector_destroy(sinew_detector *detector); /* frees the detector, which may be NULL */
/* Input of collision detection: positions, inflation radii and predicted displacements of vertices. */
typedef struct sinew_detect_input {
    const sinew_real *x;                /* [vertex_count][4] positions of collision vertices, in m */
    const sinew_real *inflation_radius; /* [vertex_count] inflation radius of each vertex in m, >= 0 */
    /* [vertex_count][4] predicted displacements, m; the fourth number is not read; NULL: no displacement */
    const sinew_real *predicted;
} sinew_detect_input;

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
