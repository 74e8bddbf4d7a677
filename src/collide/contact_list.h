/* SPDX-License-Identifier: MIT
 *
 * contact_list.h: selects the contact constraints among the candidate pairs, and warm-starts them from the previous
 * list.
 *
 * Each pair of features has at most one contact. The closest point of a face may lie on a side or a corner that
 * other faces share. The contact then belongs to this edge or vertex, is listed once, and only if no neighbouring
 * feature is nearer:
 *
 *     corner v    (x - v).(v' - v) <= 0 for all neighbours v'
 *     side e      (x - c).t <= 0 for both faces at the edge, t across e into the face
 *     two edges   the rule of a side for both edges
 *
 * Without this rule flat surfaces of many triangles would resist sliding.
 *
 * The key of a contact is its kind and both features. Multipliers are copied from one list to the next by key. If a
 * vertex has moved to another face of the same object, its multipliers are copied by vertex and object.
 */
#ifndef SINEW_SRC_COLLIDE_CONTACT_LIST_H
#define SINEW_SRC_COLLIDE_CONTACT_LIST_H

#include "collide/candidates.h"
#include "base/sort_pairs.h"

/* Kinds of contacts, by their first and second feature. */
typedef enum sinew_contact_kind {
    SINEW_CONTACT_VERTEX_FACE = 0, /* vertex and primitive */
    SINEW_CONTACT_VERTEX_EDGE,
    SINEW_CONTACT_VERTEX_VERTEX,
    SINEW_CONTACT_EDGE_EDGE,
    SINEW_CONTACT_VERTEX_PLANE,  /* vertex and object */
    SINEW_CONTACT_SKIN_COLLIDER, /* vertex of an embedded surface (not a feature), and object */
    SINEW_CONTACT_KIND_COUNT
} sinew_contact_kind;

static inline uint64_t sinew_contact_key(sinew_contact_kind kind, int32_t a, int32_t b)
{
    return (uint64_t)kind << 60 | (uint64_t)(uint32_t)a << 30 | (uint64_t)(uint32_t)b;
}

static inline sinew_contact_kind sinew_contact_key_read(uint64_t key, int32_t *a, int32_t *b)
{
    *a = (int32_t)(key >> 30 & 0x3fffffff);
    *b = (int32_t)(key & 0x3fffffff);
    return (sinew_contact_kind)(key >> 60);
}

typedef struct sinew_contact_constraint {
    uint64_t key;               /* sinew_contact_key() */
    int32_t v[4];               /* vertices of both features */
    uint8_t candidate_kind;     /* sinew_candidate_kind of the candidate pair */
    sinew_real w[4];            /* weights of v: positive for the first object, negative for the second */
    int32_t first, second;      /* the two objects */
    double n[3];                /* unit normal from the second to the first object */
    double distance;            /* m: distance at detection, less both solid radii */
    double offset;              /* m: distance r that the contact keeps, in addition to solid radii */
    double radius;              /* m: sum of both solid radii */
    double initial_penetration; /* m: depth that this step does not yet resolve, for vertices inside a collider */
    double mu;                  /* coefficient of friction */
    double lambda;              /* N: multiplier */
    double lagged_normal_force; /* N: normal force that bounds friction, from the last multiplier update */
    double tangent[3];          /* N: minus the friction on the first object at the start of the step */
    double anchor[3];           /* m: tangential part of z (contact/elements.c) at which friction is zero */
    double kn, kt;              /* N/m: normal and tangential stiffness */
    double force, friction[3];  /* N: normal force and friction on the first object at the end of the step */
    double clearance;           /* m: clearance at the end of the step */
    int32_t primitive;          /* embedded surfaces: primitive of the collider; -1: a plane */
    sinew_real barycentric[3];  /* embedded surfaces: weights of the primitive's vertices */
    double relaxation;          /* spheres and capsules: fraction of the distance to the closest points per update */
    double normal_error[3];     /* spheres and capsules: normal at the closest points less n, at the last update */
    bool was_active;            /* the contact had a force at the start of the step */
    bool matched;               /* the contact continues a contact of the start of the step that had another key */
} sinew_contact_constraint;

typedef struct sinew_contact_list {
    sinew_contact_constraint *list; /* [count] contacts, sorted by key */
    int32_t count;
    sinew_contact_constraint *found; /* work space, as the next two arrays */
    sinew_pair *work;
    uint8_t *taken;
    size_t capacity_bytes, found_capacity, work_capacity, taken_capacity;
} sinew_contact_list;

/* Pairs become contacts if their clearance, less their approach to x_predicted, is at most `margin` times the sum of
 * both half thicknesses. */
typedef struct sinew_contact_rule {
    const sinew_real *x, *x_predicted; /* [vertex_count][4] m */
    double margin;
} sinew_contact_rule;

/* Largest penetration of a list of candidate pairs. */
typedef struct sinew_penetration {
    double violation; /* m: largest offset less distance of a pair */
    double fraction;  /* violation relative to half the sum of both thicknesses */
} sinew_penetration;

/* Penetration over all candidate pairs, including pairs whose contact was merged into a neighbour's: the neighbour may
 * have a smaller offset (features close at rest). x_end NULL: uses the listed distances. Otherwise the pairs were
 * listed at x_start, and distances that the motion may have changed enough are computed again at x_end; both
 * [vertex_count][4] m. Planes and vertices inside closed colliders are omitted. */
sinew_penetration sinew_candidates_penetration(const sinew_collision_mesh *mesh, const sinew_candidates *pairs,
                                               const sinew_real *x_start, const sinew_real *x_end);
/* Finds the contacts among the pairs, in the order of keys, without multipliers; false: out of memory. */
bool sinew_contact_list_find(sinew_contact_list *contacts, const sinew_collision_mesh *mesh,
                             const sinew_candidates *pairs, const sinew_contact_rule *rule);
/* Moves a contact with a sphere or a capsule a fraction of the distance to its closest points. The closest point on a
 * face moves by the radius times the rotation of the face, and the contact force rotates the face back: a contact that
 * jumped to its closest points would oscillate. x [4][4] m: positions of its vertices. Returns the penetration (m) that
 * the current contact points miss. `move` false: the contact does not change. */
double sinew_contact_relax_closest(sinew_contact_constraint *contact, const sinew_real *x, bool move);
/* Copies multipliers, friction and was_active from the previous list to the new one. False: out of memory. */
bool sinew_contact_list_warm_start(sinew_contact_list *to, const sinew_contact_list *from,
                                   const sinew_collision_mesh *mesh);
void sinew_contact_list_release(sinew_contact_list *contacts, const sinew_allocator *allocator);

#endif
