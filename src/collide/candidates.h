/* SPDX-License-Identifier: MIT
 *
 * candidates.h: which features are near each other, and which surfaces cross.
 *
 * Pairs are a vertex and a face (which may be a lone edge where the other is a lone vertex), or two edges. Pairs that
 * share a vertex, and those of objects that may not touch, are left out. Every pair whose distance is at most the sum
 * of the reaches of both features (a feature's reach is the largest of its vertices') is listed, once, sorted by kind
 * and vertices: the list does not depend on the number of threads, nor on what was detected before.
 *
 * Vertices may have ways d on which they are expected to go. Then vertices are to keep within
 *
 *     |x_now - x - lambda d| <= reach - what features are to be found in,      0 <= lambda <= 1, one of each object
 *
 * and pairs are listed that can come near under this rule. As lambda is common, two features of one object approach
 * each other by no more than the largest |d_a - d_b| over their vertices: a body that falls, and cloth that swings
 * smoothly, bring few of their own features near each other. Different objects have their own lambda: there it is the
 * sum of the largest |d| of both. These are added to the reaches of the pair.
 */
#ifndef SINEW_SRC_COLLIDE_CANDIDATES_H
#define SINEW_SRC_COLLIDE_CANDIDATES_H

#include "collide/collision_mesh.h"

typedef enum sinew_pair_kind {
    SINEW_PAIR_FACE = 0, /* vertex v[0] and triangle v[1] v[2] v[3]; a lone edge: v[3] = v[2]; a lone vertex: all */
    SINEW_PAIR_EDGES,    /* edges v[0] v[1] and v[2] v[3] */
    SINEW_PAIR_PLANE     /* vertex v[0] and a half-space; v[1] = v[2] = v[3] = v[0], weights 1 0 0 0 */
} sinew_pair_kind;

typedef struct sinew_touch_pair {
    int32_t v[4];
    int32_t first, second; /* the features themselves: vertex and cell, two edges, vertex and object */
    sinew_real w[4];       /* closest points are sum w x over the positive and over the negative ones; zeros included */
    sinew_real n[3];       /* unit vector from the second to the first closest point */
    sinew_real distance;   /* m: between the closest points, less the cores of both; <= 0: inside a core */
    uint8_t kind;          /* sinew_pair_kind */
    uint8_t place;         /* bits a: weight a is zero, the closest point is on a corner or a side */
    uint8_t inside;        /* 1: the vertex is inside what the face bounds; n leads out, and distance is negative */
} sinew_touch_pair;

typedef struct sinew_touch_pairs {
    sinew_touch_pair *list; /* [count] */
    int64_t count;
    int64_t dropped; /* pairs over the limit: those at the end of the order */
    size_t room;     /* bytes */
} sinew_touch_pairs;

typedef struct sinew_detector sinew_detector;

/* The features are borrowed and must outlive it. */
sinew_status sinew_detector_create(sinew_detector **detector, const sinew_features *features, int32_t thread_count,
                                   sinew_error *error);
void sinew_detector_destroy(sinew_detector *detector); /* NULL is fine */
/* Where vertices are, and how far they look. */
typedef struct sinew_detect_places {
    const sinew_real *x;     /* [vertex_count][4] m */
    const sinew_real *reach; /* [vertex_count] m, >= 0 */
    const sinew_real *ways;  /* [vertex_count][4] m, the fourth number is not read; NULL: they go nowhere */
} sinew_detect_places;

/* limit 0: none. Allocates only where it has outgrown all before. */
sinew_status sinew_detect(sinew_detector *detector, const sinew_detect_places *places, int64_t limit,
                          sinew_touch_pairs *pairs, sinew_error *error);
void sinew_touch_pairs_release(sinew_touch_pairs *pairs, const sinew_allocator *allocator);

/* Pairs of cells (triangles; lone edges against triangles) that cross and share no vertex, the lower cell first, in
 * ascending order; objects that may not touch are left out. At most `capacity` are written; returns how many there are,
 * -1 without memory. Whatever is within a sphere's or capsule's core crosses it: triangles, lone edges, lone vertices.
 */
int64_t sinew_detect_crossings(sinew_detector *detector, const sinew_real *x, int32_t (*cells)[2], int64_t capacity);

/* The closest points of the pair at x: fills w, n, distance (without cores) and place, from v and kind. Where both
 * points coincide n is some unit vector across the features. */
void sinew_pair_closest(sinew_touch_pair *pair, const sinew_real *x);

#endif
