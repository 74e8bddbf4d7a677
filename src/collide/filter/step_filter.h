/* SPDX-License-Identifier: MIT
 *
 * step_filter.h: no surface crosses another, whatever a solver asks for.
 *
 * Two convex features that are apart along the same direction at both ends of a straight motion are apart throughout.
 * So each pair in reach (candidates.h) keeps the direction n between its closest points for an epoch, and a motion is
 * allowed if every pair is still apart along its n where it ends:
 *
 *     gap = min over the first feature's vertices of n.x  -  max over the second's  -  cores  >=  floor
 *
 * All vertices of a feature count, also those whose weight is zero. What moves together may move far: only approach
 * matters. Where that fails, another n may do: that of the closest points now or then. Where a pair would come too
 * near, what its vertices ask for is moved apart along n: they may slide. Where that is not enough, they go a part of
 * their way, tau; that may bring other pairs too near, whose vertices then go less, too, until none is. tau only falls,
 * and tau = 0 is where everything was allowed, so this ends. The result does not depend on the number of threads: pairs
 * are gone through in the order of the list.
 *
 * Pairs that are not listed cannot meet: a vertex keeps within a ball around where it is expected, which goes along
 * (trust_region.h), and detection lists every pair that can come near while all vertices do.
 *
 * The floor keeps a distance of 1 % of the offset, at least 64 units of the last place: going a part of the way again
 * and again would wear distances down to nothing. At the floor only retreat is free. A collider moves as a whole: all
 * of its vertices have the same tau.
 *
 * Invariant: at `safe` every pair that began apart is apart along its n by its floor, or by what it began with.
 */
#ifndef SINEW_SRC_COLLIDE_FILTER_STEP_FILTER_H
#define SINEW_SRC_COLLIDE_FILTER_STEP_FILTER_H

#include "collide/candidates.h"

/* What the guard keeps of a pair. */
typedef struct sinew_guard_pair {
    sinew_real n[3];
    sinew_real least;    /* m: gap that it may have at least; -inf: it has no guard */
    sinew_real gap;      /* m: when the epoch began */
    sinew_real approach; /* m: by which ways of one object bring its features nearer; 0: of two */
    sinew_real base;     /* m: the sum of cores; of a plane, its height along n */
    int32_t v[4];
    int16_t first; /* vertices of the first feature: v[0] .. v[first - 1]; 4: the second is a plane */
    bool same;     /* both features are of one object */
} sinew_guard_pair;

/* How far an object has come on its ways (trust_region.h). */
typedef struct sinew_course {
    double at;   /* lambda where vertices are safe */
    double to;   /* lambda that suits what is asked best */
    double part; /* of the difference that the motion at hand goes */
    bool free;   /* what is asked is within the balls there */
} sinew_course;

typedef struct sinew_guard {
    int32_t vertex_count;
    int64_t pair_count, near_count;
    sinew_guard_pair *pairs; /* [pair_count] */
    int32_t *near;           /* [near_count] pairs that might come too near in the motion at hand */
    int32_t *seen;           /* [near_count] when each was looked at, in moves; < 0: it was not apart */
    int32_t *stamp;          /* [vertex_count] the vertex's last move, or the pass in which its way became shorter */
    int32_t moves;           /* so far */
    sinew_real *far;         /* [vertex_count][2] m: work space */
    uint8_t *fixed;          /* [vertex_count] 1: goes its own way (pins, colliders), set by the caller after build */
    uint8_t *held;           /* [vertex_count] 1: cannot have what it asked for in the last motion */
    sinew_real *begun;       /* [vertex_count][4] m: where the epoch began */
    sinew_real *safe;        /* [vertex_count][4] m: where vertices are; the fourth number is tau of the last motion */
    sinew_real *asked;       /* [vertex_count][4] m: where they should go */
    sinew_real *ways;        /* [vertex_count][4] m: on which vertices are expected; fourth: radius of their ball */
    sinew_course *courses;   /* [object_count] */
    bool wide;               /* some go less than all of their way, so that the end of the motion is not known */
    size_t pair_room, near_room, seen_room, stamp_room, far_room, fixed_room, held_room, begun_room, safe_room,
        asked_room, ways_room, courses_room;
} sinew_guard;

/* Room for vertices and objects; the caller fills `ways`. False without memory. */
bool sinew_guard_begin(sinew_guard *guard, const sinew_features *features);
/* Takes over the pairs of an epoch that begins at x [vertex_count][4]. Pairs that touch or overlap (distance <= 0) have
 * no guard. False without memory. */
bool sinew_guard_build(sinew_guard *guard, const sinew_features *features, const sinew_real *x,
                       const sinew_touch_pairs *pairs);
void sinew_guard_release(sinew_guard *guard, const sinew_allocator *allocator);

/* Moves apart what is asked, and finds tau of all vertices on their ways from `safe` to `asked`, into the fourth
 * numbers of safe; returns how many vertices cannot have what they asked for. */
int32_t sinew_guard_limit(sinew_guard *guard, const sinew_features *features, int32_t thread_count);
/* Where vertex v comes with its tau. */
void sinew_guard_place(const sinew_guard *guard, int32_t v, sinew_real x[3]);
/* The motion is made: the caller has put all places into `safe`. */
void sinew_guard_settle(sinew_guard *guard, const sinew_features *features);

#endif
