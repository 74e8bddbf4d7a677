/* SPDX-License-Identifier: MIT
 *
 * contact_list.h: contacts: which of the pairs in reach get a contact element, and what they remember of the last list.
 *
 * One contact per feature. A face's closest point may lie on a side or a corner that other faces have too: the contact
 * then is with that edge or vertex, counts once, and only if no neighbouring feature is nearer:
 *
 *     corner v    (x - v).(v' - v) <= 0 for all neighbours v'
 *     side e      (x - c).t <= 0 for both faces at the edge, t across e into the face
 *     two edges   both of them, each seen from the other
 *
 * Otherwise flat surfaces of many triangles would hold what slides along them.
 *
 * A contact is known by its key, kind and both features. What it bears goes from one list to the next: by its key, or,
 * where a vertex has gone from one face to the next of the same object, by vertex and object.
 */
#ifndef SINEW_SRC_COLLIDE_CONTACT_LIST_H
#define SINEW_SRC_COLLIDE_CONTACT_LIST_H

#include "collide/candidates.h"
#include "mesh/sort_pairs.h"

/* Kinds of features, two of which make a key: the first feature, then the second. */
typedef enum sinew_touch_kind {
    SINEW_TOUCH_FACE = 0, /* vertex and cell */
    SINEW_TOUCH_SIDE,     /* vertex and edge */
    SINEW_TOUCH_CORNER,   /* vertex and vertex */
    SINEW_TOUCH_EDGES,
    SINEW_TOUCH_PLANE, /* vertex and object */
    SINEW_TOUCH_SKIN,  /* vertex of a skin, which is no feature, and object */
    SINEW_TOUCH_KINDS
} sinew_touch_kind;

static inline uint64_t sinew_touch_key(sinew_touch_kind kind, int32_t a, int32_t b)
{
    return (uint64_t)kind << 60 | (uint64_t)(uint32_t)a << 30 | (uint64_t)(uint32_t)b;
}

static inline sinew_touch_kind sinew_touch_read_key(uint64_t key, int32_t *a, int32_t *b)
{
    *a = (int32_t)(key >> 30 & 0x3fffffff);
    *b = (int32_t)(key & 0x3fffffff);
    return (sinew_touch_kind)(key >> 60);
}

typedef struct sinew_touch {
    uint64_t key;
    int32_t v[4];          /* features' vertices */
    uint8_t pair;          /* sinew_pair_kind that it was made of */
    sinew_real w[4];       /* signed weights */
    int32_t first, second; /* objects */
    double n[3];           /* from the second to the first */
    double distance;       /* m, when it was detected, between cores */
    double offset;         /* m: r, cores not included */
    double core;           /* m: sum of both cores */
    double sunk;           /* m: how much less than the whole offset this step asks for, of one that is inside */
    double mu;
    double lambda;             /* N: multiplier */
    double bears;              /* N: normal force as friction was last told */
    double tangent[3];         /* N: friction when the step began, on the first; what its spring still holds */
    double anchor[3];          /* m: where z would be without friction */
    double kn, kt;             /* N/m */
    double force, friction[3]; /* N: on the first, where the step ended */
    double clearance;          /* m: where the step ended */
    int32_t cell;              /* of skins: the cell of the collider; -1: a plane */
    sinew_real place[3];       /* of skins: weights of its vertices */
    double follow, missed[3];  /* of round things: share of their way to their closest points, and how n differed */
    bool old;                  /* bore a force when the step began */
    bool heir;                 /* took over what one bore that is no more in the list */
} sinew_touch;

typedef struct sinew_touches {
    sinew_touch *list; /* [count] by key */
    int32_t count;
    sinew_touch *found; /* work space */
    sinew_pair *work;
    uint8_t *taken;
    size_t room, found_room, work_room, taken_room;
} sinew_touches;

/* How near counts as touching: pairs whose clearance, less what they are coming nearer by, is at most `margin` times
 * their offset. */
typedef struct sinew_touch_rule {
    const sinew_real *x, *wanted; /* [vertex_count][4] m */
    double margin;
} sinew_touch_rule;

/* How near the features of a list of pairs are. */
typedef struct sinew_nearness {
    double violation; /* m: the most that a pair is nearer than its offset */
    double part;      /* the same over the thickness of the pair: half of both */
} sinew_nearness;

/* The nearness of all pairs, whoever owns their contacts: a neighbour that is nearer may be one from which less is
 * asked, as of features that are near each other at rest. moved NULL: distances are as listed; else pairs were listed
 * at `begun`, and are looked at again at `moved` where that may matter, both [vertex_count][4] m. Planes and vertices
 * inside of something are left out. */
sinew_nearness sinew_touches_nearness(const sinew_features *features, const sinew_touch_pairs *pairs,
                                      const sinew_real *begun, const sinew_real *moved);
/* The contacts among the pairs, in the order of keys, bearing nothing yet; false without memory. */
bool sinew_touches_find(sinew_touches *touches, const sinew_features *features, const sinew_touch_pairs *pairs,
                        const sinew_touch_rule *rule);
/* A contact with a sphere or a capsule goes a share of the way to its closest points: that on a face goes as far as the
 * radius times the angle that the face turns by, and the force that acts there turns the face back, so that contacts
 * which followed at once would swing to and fro. x [4][4] m: where its vertices are. Returns by how much features are
 * too near and the contact does not know, m; `go` false: that only. */
double sinew_touch_follow(sinew_touch *touch, const sinew_real *x, bool go);
/* What the old list bears goes to the new one. False without memory. */
bool sinew_touches_inherit(sinew_touches *to, const sinew_touches *from, const sinew_features *features);
void sinew_touches_release(sinew_touches *touches, const sinew_allocator *allocator);

#endif
