/* SPDX-License-Identifier: MIT
 *
 * untangle.h: frees surfaces that overlap when a step begins: bodies that intersect or lie inside each other, cloth
 * that passes through cloth, bodies below a plane.
 *
 * Each step with overlaps moves positions before its first detection pass (docs/reference/contact.md, Untangling):
 *
 *     find      crossings of edges and faces, vertices inside closed objects, vertices behind planes  untangle_find.c
 *     bodies    whole bodies are translated out of each other                                         untangle_bodies.c
 *     patches   vertices are displaced where no translation frees the surfaces                       untangle_patches.c
 *     move      the motion passes through the step filter, so that free pairs stay free               untangle.c
 *
 * q, q_tilde and the first guess move alike, so velocities do not change. Between steps only one flag is kept:
 * that all pairs are free. The step filter then keeps them free.
 */
#ifndef SINEW_SRC_CONTACT_UNTANGLE_H
#define SINEW_SRC_CONTACT_UNTANGLE_H

#include "contact/contact.h"
#include "math/vec3.h"

#define SINEW_UNTANGLE_TARGET 2e-2 /* distance of freed surfaces, as a fraction of the offset (touching.c) */
/* Fraction of the depth of an overlap that a step removes, where this exceeds the smallest displacement
 * (untangle_bodies.c, untangle_patches.c): a jump by the whole depth would be visible. Chosen, not measured. */
#define SINEW_UNTANGLE_FRACTION 0.25

/* An edge of one primitive passes through the face of another. */
typedef struct sinew_crossing {
    int32_t edge[2]; /* vertices of the edge */
    int32_t face;    /* primitive that the edge passes through */
    int32_t owner;   /* primitive that has the edge */
    int32_t other;   /* index of the crossing at the other end of the common segment of both primitives; -1: none */
    bool edge_first; /* the edge belongs to the first of the two primitives */
    double t;        /* fraction along the edge */
    double w[3];     /* barycentric weights in the face */
    double x[3];     /* position, in m */
} sinew_crossing;

/* How an overlap of two objects is resolved. */
typedef enum sinew_overlap_way {
    SINEW_OVERLAP_WHOLE = 0, /* whole bodies are translated along n */
    SINEW_OVERLAP_PATCHES,   /* the vertices near crossings are moved */
    SINEW_OVERLAP_JOINED     /* elements connect both bodies: they are left as they are */
} sinew_overlap_way;

/* Two objects that overlap, a <= b; a == b: an object that intersects itself. */
typedef struct sinew_overlap {
    int32_t a, b;
    int32_t first_crossing, crossing_count; /* range of its crossings, ordered by primitives */
    int32_t first_inside, inside_count;     /* range of the list of inside vertices */
    double n[3];                            /* unit direction in which a moves out of b */
    double depth;                           /* displacement along n that separates the two objects, in m */
    sinew_overlap_way way;
} sinew_overlap;

/* A vertex and a face of two overlapping objects that keep their distance along n in this step: a contact at which
 * an overlap bears weight. */
typedef struct sinew_bearing {
    int32_t vertex, face; /* vertex of the collision mesh; primitive of the other object */
    double w[3];          /* barycentric weights of the point of the face */
    double n[3];          /* unit direction in which the vertex is pushed */
} sinew_bearing;

/* Crossings and overlaps at one set of positions. */
typedef struct sinew_tangle {
    sinew_crossing *crossings; /* [crossing_count] ordered by objects, then by primitives */
    int32_t crossing_count;
    int32_t *inside; /* [inside_count] vertices inside the other object of their overlap, in the order of overlaps */
    int32_t inside_count;
    sinew_overlap *overlaps; /* [overlap_count] ordered by objects */
    int32_t overlap_count;
    int32_t pair_count;      /* pairs of primitives that intersect */
    sinew_bearing *bearings; /* [bearing_count] */
    int32_t bearing_count;
    size_t crossing_capacity, inside_capacity, overlap_capacity, pair_capacity, sort_capacity, bearing_capacity;
    int32_t (*pairs)[2]; /* work space: intersecting primitives */
    sinew_pair *sort;    /* work space */
} sinew_tangle;

/* Work space of untangling, which a world keeps between steps. */
struct sinew_untangle {
    sinew_tangle tangle;
    /* [object_count^2] how candidate pairs of two overlapping objects are dropped: a value APART_ of untangle.c; 0:
     * not */
    uint8_t *apart;
    /* [vertex_count] bits of vertices of overlaps that patches free: MARKED and MARK_INSIDE of untangle.c */
    uint8_t *marked;
    int32_t *group;      /* [object_count] lowest object that elements connect with this one */
    double *mass;        /* [object_count] mass of each group, in kg; infinite: it has a pin, or is a collider */
    double *shift;       /* [moved_count][3] displacement of vertices, in m */
    double *translation; /* [object_count][3] displacement of each group, in m */
    size_t apart_capacity, marked_capacity, group_capacity, mass_capacity, shift_capacity, translation_capacity;
};

/* ---- Objects and primitives -------------------------------------------------------------------- */

static inline bool sinew_object_is_plane(const sinew_collision_object *o)
{
    return o->kinematic && o->vertex_count == 0;
}

/* Contact offset of the two objects of an overlap, in m. */
static inline double sinew_overlap_offset(const sinew_collision_mesh *f, const sinew_overlap *o)
{
    return f->objects[o->a].half_thickness + f->objects[o->b].half_thickness;
}

/* Normal of a triangle at the start of the pass, of length twice its area. */
static inline void sinew_primitive_normal(const sinew_contact_work *c, int32_t primitive, double n[3])
{
    const int32_t *v = c->mesh.primitives[primitive];
    double a[3], b[3];
    vec3_edge(c->x_pass_start + 4 * (size_t)v[0], c->x_pass_start + 4 * (size_t)v[1], a);
    vec3_edge(c->x_pass_start + 4 * (size_t)v[0], c->x_pass_start + 4 * (size_t)v[2], b);
    vec3_cross(a, b, n);
}

/* ---- Find (untangle_find.c) ------------------------------------------------------------------- */

/* Finds all overlaps at x_pass_start, and their directions and depths. */
sinew_status sinew_tangle_find(const sinew_contact_view *view, sinew_error *error);
void sinew_tangle_release(sinew_tangle *tangle, const sinew_allocator *allocator);

/* ---- Ways out (untangle_bodies.c, untangle_patches.c) ------------------------------------------ */

/* True if an object is a closed surface of triangles; false for spheres, capsules and planes. */
bool sinew_object_is_closed(const sinew_contact_view *view, int32_t o);
/* Finds the groups of bodies that elements connect, and their masses. */
sinew_status sinew_untangle_group(const sinew_contact_view *view, sinew_error *error);
/* Sets way, n and depth of an overlap. */
void sinew_overlap_choose_way(const sinew_contact_view *view, sinew_overlap *overlap);
/* Finds the way of vertex v, which is inside the other object of the overlap, out of it: the nearest face along n,
 * or the nearest point. Returns the depth in m, < 0: there is none. */
double sinew_overlap_exit(const sinew_contact_view *view, const sinew_overlap *overlap, int32_t v,
                          sinew_bearing *bearing);
/* Finds the direction n in which a whole sheet a leaves another sheet b, among the axes and `tried` [count][3].
 * Returns the depth in m. */
double sinew_sheets_direction(const sinew_contact_view *view, int32_t a, int32_t b, const double *tried, int32_t count,
                              double n[3]);
/* Displacement that an overlap of this depth takes in one step, in m. */
double sinew_overlap_stride(const sinew_contact_view *view, const sinew_overlap *overlap, double depth);
/* Computes the displacements of groups that reduce their overlaps in this step, into `translation`. With `keep`,
 * candidate pairs of the current pass that are free do not approach below their offset. Returns true if translations
 * resolve some overlap. */
bool sinew_untangle_translations(const sinew_contact_view *view, bool keep);
/* Computes displacements of the vertices of overlaps that patches free, into `shift`; *moves: there are such
 * overlaps. */
sinew_status sinew_untangle_patches(const sinew_contact_view *view, bool *moves, sinew_error *error);

#endif
