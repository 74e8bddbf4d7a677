/* SPDX-License-Identifier: MIT
 *
 * collision_mesh.h: the surfaces of bodies and colliders as one list of vertices, edges and triangles.
 *
 * Vertices of bodies represent particles; vertices of colliders follow them in the list and are prescribed. A
 * *primitive* is a leaf of the broad phase: a triangle; an edge of no triangle (ropes, capsules), with its second
 * vertex repeated; a vertex of no edge (particles, spheres), repeated twice. Each vertex and each edge is *owned* by
 * one of its primitives. So a pair of features is found once, although many pairs of primitives contain it.
 *
 * The surface of a rigid body moves with four particles: its object begins with four *frame vertices*, which represent
 * these particles and have no primitive, and each other vertex is an affine combination x = sum b_k x_k of the four.
 *
 * Spheres are vertices, and capsules are edges, with a solid *radius*: distances are measured from the surface of the
 * solid. Those of rigid bodies move with frame vertices, too.
 */
#ifndef SINEW_SRC_COLLIDE_COLLISION_MESH_H
#define SINEW_SRC_COLLIDE_COLLISION_MESH_H

#include "base/base.h"
#include "sinew/contact.h"

enum {
    /* shifted left by k = 0 .. 2: the primitive is the first that contains its vertex k, and owns it */
    SINEW_OWNS_VERTEX = 1 << 0,
    SINEW_OWNS_EDGE = 1 << 3, /* shifted left by k = 0 .. 2: the primitive owns its side 01, 12 or 20 */
    SINEW_IS_FACE = 1 << 6,   /* bit of a primitive that is a triangle, not a lone edge or a lone vertex */
    SINEW_IS_LONE_EDGE = 1 << 7
};

/* A body or a collider, as an object of collision detection. */
typedef struct sinew_collision_object {
    int32_t body, collider; /* slots in the world of the body or of the collider; one of the two is -1 */
    /* Generation of the body's or collider's slot, which tells apart successive users of the slot. */
    uint32_t generation;
    uint32_t mesh_version; /* number of times that the mesh of the body was replaced */
    int32_t first_vertex, vertex_count;
    double half_thickness; /* half the contact thickness of the object, in m */
    double radius;         /* solid radius of spheres and capsules, in m; else 0 */
    double friction, restitution;
    uint32_t group, mask;
    bool self;      /* true: parts of the object collide with each other (self-collision) */
    bool rigid;     /* true: the object is a rigid body; its first four vertices are its frame vertices */
    bool skinned;   /* true: the object has no primitives; its vertices carry an embedded surface that collides */
    bool kinematic; /* true: the object is a collider, whose motion is prescribed */
} sinew_collision_object;

typedef struct sinew_collision_mesh {
    sinew_allocator allocator;
    int32_t object_count, vertex_count, edge_count, primitive_count;
    int32_t moved_count;             /* number of collision vertices of bodies, which come before those of colliders */
    sinew_collision_object *objects; /* [object_count] objects of collision detection: bodies, then colliders */
    uint8_t *may_collide; /* [object_count * object_count] 1: the two objects may collide; diagonal: self-collision */
    /* [moved_count] object of the collider that a pinned vertex follows; -1: none. NULL: no vertex follows one.
     * Borrowed. */
    const int32_t *followed;
    int32_t *object; /* [vertex_count] index of the object that each vertex belongs to */
    /* [moved_count] particle of each body vertex, in the world's internal order, ascending within a body; -1: the
     * vertex belongs to the surface of a rigid body */
    int32_t *particle;
    /* [moved_count][4] weights b of the vertices of rigid bodies in their frame vertices; NULL: there is no rigid
     * body */
    sinew_real *frame_weights;
    sinew_real *rest;    /* [vertex_count][4] rest positions, in m; colliders: positions in their own frame */
    int32_t (*edges)[2]; /* [edge_count] two vertices of each edge, the lower number first; each edge once */
    int32_t (
        *opposite_vertices)[2]; /* [edge_count] vertices opposite to the edge in its first two triangles; -1: none */
    int32_t (*primitives)[3];   /* [primitive_count] vertices of each triangle, lone edge or lone vertex */
    int32_t (*sides)[3];        /* [primitive_count] numbers of the edges 01, 12, 20 of each primitive; -1: no edge */
    uint8_t *flags;             /* [primitive_count] bits of each primitive: SINEW_OWNS_..., SINEW_IS_... */
    int32_t *first_neighbour;   /* [vertex_count + 1] index of each vertex's first entry in neighbours */
    int32_t *neighbours;        /* [2 * edge_count] vertices that share an edge with each vertex, vertex by vertex */
} sinew_collision_mesh;

/* Triangles and lone edges of one object, given to sinew_collision_mesh_create(); vertex 0 is the object's
 * first_vertex. */
typedef struct sinew_object_primitives {
    const int32_t *triangles; /* [3 * triangle_count] vertices of the object's triangles */
    int32_t triangle_count;
    const int32_t *edges; /* [2 * edge_count] vertices of the object's edges that belong to no triangle */
    int32_t edge_count;
} sinew_object_primitives;

/* Builds the collision mesh: edges, opposite vertices, primitives, owners and neighbours. All fields of the objects
 * are set; vertices are in the order of objects, kinematic ones last. The caller then fills `particle`, `rest`,
 * `may_collide` and, for rigid bodies, `frame_weights`, which are allocated and zero. Triangles with a repeated vertex
 * are omitted. Vertices without a primitive become lone vertices only if `lone_vertices[o]`. On failure everything is
 * freed. */
sinew_status sinew_collision_mesh_create(sinew_collision_mesh *mesh, const sinew_allocator *allocator,
                                         const sinew_collision_object *objects,
                                         const sinew_object_primitives *primitives, const bool *lone_vertices,
                                         int32_t object_count, sinew_error *error);
/* Frees all arrays of the collision mesh; accepts a zeroed struct. */
void sinew_collision_mesh_destroy(sinew_collision_mesh *mesh);

/* Computes positions x [vertex_count][4] of the surfaces of rigid bodies from those of their frame vertices. */
void sinew_collision_mesh_embed(const sinew_collision_mesh *mesh, sinew_real *x);

/* True for the frame vertices of rigid bodies and the vertices of bodies that collide with their embedded surface: they
 * belong to no surface. */
static inline bool sinew_is_frame_vertex(const sinew_collision_mesh *f, int32_t v)
{
    const sinew_collision_object *o = &f->objects[f->object[v]];
    return v < f->moved_count && f->particle[v] >= 0 && (o->rigid || o->skinned);
}

static inline bool sinew_may_collide(const sinew_collision_mesh *f, int32_t a, int32_t b)
{
    return f->may_collide[(size_t)a * (size_t)f->object_count + (size_t)b];
}

/* True if one of the `count` vertices of a feature follows the object, so that the feature does not collide with it. */
static inline bool sinew_feature_follows(const sinew_collision_mesh *f, const int32_t *vertices, int count,
                                         int32_t object)
{
    bool follows = false;
    for (int i = 0; f->followed && i < count; i++)
        follows = follows || (vertices[i] < f->moved_count && f->followed[vertices[i]] == object);
    return follows;
}

/* True if a vertex of a body may collide with an object. */
static inline bool sinew_vertex_may_collide(const sinew_collision_mesh *f, int32_t v, int32_t object)
{
    return sinew_may_collide(f, f->object[v], object) && !sinew_feature_follows(f, &v, 1, object);
}

/* True if one of two features, given by their vertices, follows the object of the other. */
static inline bool sinew_features_follow(const sinew_collision_mesh *f, const int32_t *a, int a_count, const int32_t *b,
                                         int b_count)
{
    return f->followed && (sinew_feature_follows(f, a, a_count, f->object[b[0]]) ||
                           sinew_feature_follows(f, b, b_count, f->object[a[0]]));
}

#endif
