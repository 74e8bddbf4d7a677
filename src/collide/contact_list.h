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
 *     two edges   the rule of a side for both edges, unless they are nearer than their offset
 *
 * x is the closest point of the other feature, c that of the edge. Without this rule flat surfaces of many triangles
 * would resist sliding.
 *
 * The key of a contact is its kind and both features. Multipliers are copied from one list to the next by key. If a
 * vertex has moved to another face of the same object, its multipliers are copied by vertex and object.
 */
#ifndef SINEW_SRC_COLLIDE_CONTACT_LIST_H
#define SINEW_SRC_COLLIDE_CONTACT_LIST_H

#include "collide/candidates.h"
#include "base/sort_pairs.h"

/* Kinds of contacts, named by the first and the second feature of the pair. */
typedef enum sinew_contact_kind {
    SINEW_CONTACT_VERTEX_FACE = 0, /* contact of a vertex (first feature) and a primitive (second feature) */
    SINEW_CONTACT_VERTEX_EDGE,
    SINEW_CONTACT_VERTEX_VERTEX,
    SINEW_CONTACT_EDGE_EDGE,
    /* Contact of a vertex (first feature) and a plane collider (second, given as an object). */
    SINEW_CONTACT_VERTEX_PLANE,
    /* Contact of a vertex of an embedded surface (not a feature) and a collider, given as an object. */
    SINEW_CONTACT_SKIN_COLLIDER,
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

/* Yielding of a contact whose offset has no room (contact/offset_limits.c). States store the struct, so it has no
 * padding. */
typedef struct sinew_contact_yield {
    double offset;    /* offset that the contact has yielded to, in m; 0: it has not yielded */
    double violation; /* violation in m when the present count of updates began */
    double lambda;    /* multiplier in N when it began */
    double updates;   /* number of multiplier updates since, in which the violation did not fall */
} sinew_contact_yield;

typedef struct sinew_contact_constraint {
    uint64_t key;           /* key of kind and both features, from sinew_contact_key() */
    int32_t v[4];           /* vertices of the first feature, then of the second */
    uint8_t candidate_kind; /* sinew_candidate_kind of the candidate pair that became this contact */
    sinew_real w[4];        /* weights of v: positive for the first object, negative for the second */
    int32_t first, second;  /* indices of the two objects in the collision mesh */
    /* Levers of the first and the second object (contact/levers.c): weights of their frame vertices whose sum is the
     * vector from the axis of a rigid sphere or capsule to the point that touches; all zero for other objects. */
    sinew_real lever[2][4];
    double n[3];     /* unit normal from the second to the first object */
    double distance; /* distance of the features at detection, less both solid radii, in m */
    double offset;   /* distance r that the contact keeps, in addition to solid radii, in m */
    double asked;    /* `offset` before limits (contact/offset_limits.c), in m */
    sinew_contact_yield yield;
    double radius; /* sum of the solid radii of both objects (spheres, capsules), in m */
    double rising; /* the sides touched, and the offset still grows: its limit in this step, in m; else 0 */
    double initial_penetration; /* depth that this step does not yet resolve, for vertices inside a collider, in m */
    double mu;                  /* coefficient of Coulomb friction of the pair of objects */
    double lambda;              /* multiplier of the normal contact force, in N */
    double lagged_normal_force; /* normal force that bounds friction, from the last multiplier update, in N */
    double tangent[3];          /* minus the friction on the first object at the start of the step, in N */
    double anchor[3];           /* tangential part of z (contact/elements.c) at which friction is zero, in m */
    double kn, kt;              /* stiffness of the contact along the normal and along the tangents, in N/m */
    double force, friction[3];  /* normal force and friction on the first object at the end of the step, in N */
    double clearance;           /* clearance (distance minus offset and solid radii) at the end of the step, in m */
    int32_t primitive;          /* contacts of embedded surfaces: primitive of the collider; -1: a plane */
    sinew_real barycentric[3];  /* contacts of embedded surfaces: barycentric weights of the primitive's vertices */
    double relaxation;          /* spheres and capsules: fraction of the distance to the closest points per update */
    double normal_error[3];     /* spheres and capsules: normal at the closest points less n, at the last update */
    bool was_active;            /* true: the contact had a force at the start of the step */
    bool matched; /* true: the contact continues a contact of the start of the step that had another key */
} sinew_contact_constraint;

typedef struct sinew_contact_list {
    sinew_contact_constraint *list; /* [count] contacts, sorted by contact key */
    int32_t count;
    sinew_contact_constraint *found; /* work space for building the list of contacts */
    sinew_pair *work;
    uint8_t *taken;
    size_t capacity_bytes, found_capacity, work_capacity, taken_capacity;
} sinew_contact_list;

/* Rule that selects contacts: candidate pairs become contacts if their clearance, less their approach to
 * x_predicted, is at most `margin` times the sum of both half thicknesses. */
typedef struct sinew_contact_rule {
    const sinew_real *x, *x_predicted; /* [vertex_count][4] current and predicted positions in m */
    double margin;
} sinew_contact_rule;

/* Largest penetration over a list of candidate pairs. */
typedef struct sinew_penetration {
    double violation; /* largest value of offset minus distance over all candidate pairs, in m */
    double fraction;  /* largest violation of a pair relative to the sum of its two half thicknesses */
} sinew_penetration;

/* Computes the largest penetration over all candidate pairs, including pairs whose contact was merged into a
 * neighbour's: the neighbour may have a smaller offset (features close at rest). x_end NULL: uses the listed
 * distances. Otherwise the pairs were listed at x_start, and distances that the motion may have changed enough are
 * computed again at x_end; both [vertex_count][4] m. Planes and vertices inside closed colliders are omitted. reduction
 * [vertex_count] m: pairs keep their offset less the smaller of the largest reductions of both sides; NULL: none. */
sinew_penetration sinew_candidates_penetration(const sinew_collision_mesh *mesh, const sinew_candidates *pairs,
                                               const sinew_real *x_start, const sinew_real *x_end,
                                               const sinew_real *reduction);
/* The contact with this key in the list, NULL: none. */
const sinew_contact_constraint *sinew_contact_list_get(const sinew_contact_list *contacts, uint64_t key);
/* Finds the contacts among the candidate pairs, in the order of contact keys, without multipliers; false: out of
 * memory. */
bool sinew_contact_list_find(sinew_contact_list *contacts, const sinew_collision_mesh *mesh,
                             const sinew_candidates *pairs, const sinew_contact_rule *rule);
/* Moves the points of a contact with a sphere or a capsule a fraction of the distance to its closest points. The
 * closest point on a face moves by the radius times the rotation of the face, and the contact force rotates the face
 * back: a contact that jumped to its closest points would oscillate. x [4][4] m: positions of its vertices. Returns
 * the penetration (m) that the current contact points miss. `move` false: the contact does not change. */
double sinew_contact_relax_closest(sinew_contact_constraint *contact, const sinew_real *x, bool move);
/* Copies multipliers, friction, was_active, `rising` and `yield` from the previous list to the new one. New contacts of
 * two objects with a rising contact rise too. False: out of memory. */
bool sinew_contact_list_warm_start(sinew_contact_list *to, const sinew_contact_list *from,
                                   const sinew_collision_mesh *mesh);
void sinew_contact_list_release(sinew_contact_list *contacts, const sinew_allocator *allocator);

#endif
