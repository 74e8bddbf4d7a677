/* SPDX-License-Identifier: MIT
 *
 * collision_mesh.c: builds edges, primitives, owners of features and vertex neighbours of the collision mesh.
 *
 * The sides of all primitives are sorted by their vertices, so equal sides are adjacent. Each run of equal sides
 * becomes an edge; the lowest primitive of the run owns the edge, and its first two triangles give the opposite
 * vertices. So edges are in the order of their vertices, and the neighbours of a vertex ascend.
 *
 * Limits: an edge of more than two triangles keeps two opposite vertices. A lone edge that repeats another edge owns
 * nothing and has no flag, so it does not produce a pair twice.
 */
#include "collide/collision_mesh.h"

#include <string.h>

#include "base/sort_pairs.h"

typedef struct feature_builder {
    sinew_collision_mesh *f;
    const sinew_object_primitives *primitives;
    const bool *lone_vertices;
    uint8_t *used; /* [vertex_count] 1: a triangle or an edge contains the vertex */
    /* [3 * primitive_count] sides of primitives: packed vertices (major), 4 * primitive + side (minor) */
    sinew_pair *sides;
    sinew_pair *spare; /* [3 * primitive_count] second buffer of the radix sort of `sides` */
    size_t side_count;
} feature_builder;

/* ---- Primitives of the collision objects -------------------------------------------------------- */

static bool primitive_is_triangle(const int32_t *t)
{
    return t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
}

static void mesh_put_primitive(feature_builder *d, int32_t a, int32_t b, int32_t c)
{
    sinew_collision_mesh *f = d->f;
    const int32_t primitive[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        d->used[primitive[i]] = 1;
    if (f->primitives)
        memcpy(f->primitives[f->primitive_count], primitive, sizeof primitive);
    f->primitive_count++;
}

/* Writes triangles, lone edges and lone vertices of an object; before the array of primitives is allocated, only counts
 * them. */
static void mesh_put_object(feature_builder *d, int32_t o)
{
    const int32_t first = d->f->objects[o].first_vertex;
    const sinew_object_primitives *own = d->primitives + o;
    for (int32_t i = 0; i < own->triangle_count; i++) {
        const int32_t *t = own->triangles + 3 * (size_t)i;
        if (primitive_is_triangle(t))
            mesh_put_primitive(d, first + t[0], first + t[1], first + t[2]);
    }
    for (int32_t i = 0; i < own->edge_count; i++) {
        const int32_t *e = own->edges + 2 * (size_t)i;
        if (e[0] != e[1])
            mesh_put_primitive(d, first + e[0], first + e[1], first + e[1]);
    }
    const int32_t frame = d->f->objects[o].rigid ? 4 : 0; /* frame vertices have no primitive */
    for (int32_t v = first + frame; d->lone_vertices[o] && v < first + d->f->objects[o].vertex_count; v++)
        if (!d->used[v])
            mesh_put_primitive(d, v, v, v);
}

static void mesh_put_primitives(feature_builder *d)
{
    d->f->primitive_count = 0;
    memset(d->used, 0, (size_t)d->f->vertex_count);
    for (int32_t o = 0; o < d->f->object_count; o++)
        mesh_put_object(d, o);
}

static bool mesh_make_primitives(feature_builder *d)
{
    sinew_collision_mesh *f = d->f;
    mesh_put_primitives(d);
    const size_t count = (size_t)f->primitive_count;
    f->primitives = sinew_allocate(&f->allocator, count, sizeof *f->primitives);
    f->sides = sinew_allocate(&f->allocator, count, sizeof *f->sides);
    f->flags = sinew_allocate_zero(&f->allocator, count, sizeof *f->flags);
    d->sides = sinew_allocate(&f->allocator, 6 * count, sizeof *d->sides);
    if (!f->primitives || !f->sides || !f->flags || !d->sides)
        return false;
    d->spare = d->sides + 3 * count;
    mesh_put_primitives(d);
    return true;
}

/* ---- Edges of the collision mesh ---------------------------------------------------------------- */

static void mesh_collect_sides(feature_builder *d)
{
    const sinew_collision_mesh *f = d->f;
    for (int32_t primitive = 0; primitive < f->primitive_count; primitive++) {
        const int32_t *v = f->primitives[primitive];
        for (int i = 0; i < 3; i++) {
            const int32_t a = v[i], b = v[(i + 1) % 3];
            f->sides[primitive][i] = -1;
            if (a == b || (i == 2 && v[1] == v[2]))
                continue;
            const uint64_t ends = sinew_pack(a < b ? a : b, a < b ? b : a);
            d->sides[d->side_count++] = (sinew_pair){ends, 4 * (uint64_t)primitive + (uint64_t)i};
        }
    }
    sinew_sort_pairs(d->sides, d->side_count, d->spare);
}

/* Index after the last side of the run of equal sides that starts at index `begin`. */
static size_t side_run_end(const feature_builder *d, size_t begin)
{
    size_t end = begin + 1;
    while (end < d->side_count && d->sides[end].major == d->sides[begin].major)
        end++;
    return end;
}

/* Fills edge e of the collision mesh from its run of equal sides; the first side of the run belongs to the owner. */
static void mesh_put_edge(sinew_collision_mesh *f, int32_t e, const sinew_pair *sides, size_t count)
{
    f->edges[e][0] = (int32_t)(sides[0].major >> 32);
    f->edges[e][1] = (int32_t)(sides[0].major & UINT32_MAX);
    f->opposite_vertices[e][0] = f->opposite_vertices[e][1] = -1;
    int opposite_count = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t primitive = (size_t)(sides[n].minor / 4), side = (size_t)(sides[n].minor % 4);
        const int32_t *v = f->primitives[primitive];
        f->sides[primitive][side] = e;
        if (n == 0)
            f->flags[primitive] |= (uint8_t)(SINEW_OWNS_EDGE << side);
        if (primitive_is_triangle(v) && opposite_count < 2)
            f->opposite_vertices[e][opposite_count++] = v[(side + 2) % 3];
    }
}

static bool mesh_make_edges(feature_builder *d)
{
    sinew_collision_mesh *f = d->f;
    mesh_collect_sides(d);
    size_t count = 0;
    for (size_t at = 0; at < d->side_count; at = side_run_end(d, at))
        count++;
    f->edge_count = (int32_t)count;
    f->edges = sinew_allocate(&f->allocator, count, sizeof *f->edges);
    f->opposite_vertices = sinew_allocate(&f->allocator, count, sizeof *f->opposite_vertices);
    if (!f->edges || !f->opposite_vertices)
        return false;
    int32_t e = 0;
    for (size_t at = 0, end; at < d->side_count; at = end) {
        end = side_run_end(d, at);
        mesh_put_edge(f, e++, d->sides + at, end - at);
    }
    return true;
}

/* ---- Owners of features and neighbours of vertices ---------------------------------------------- */

static void mesh_mark_primitives(feature_builder *d)
{
    sinew_collision_mesh *f = d->f;
    memset(d->used, 0, (size_t)f->vertex_count);
    for (int32_t primitive = 0; primitive < f->primitive_count; primitive++) {
        const int32_t *v = f->primitives[primitive];
        for (int i = 0; i < 3; i++) {
            if (!d->used[v[i]])
                f->flags[primitive] |= (uint8_t)(SINEW_OWNS_VERTEX << i);
            d->used[v[i]] = 1;
        }
        if (primitive_is_triangle(v))
            f->flags[primitive] |= SINEW_IS_FACE;
        else if (v[0] != v[1] && f->flags[primitive] & SINEW_OWNS_EDGE)
            f->flags[primitive] |= SINEW_IS_LONE_EDGE;
    }
}

static bool mesh_make_neighbours(sinew_collision_mesh *f)
{
    const size_t vertices = (size_t)f->vertex_count;
    f->first_neighbour = sinew_allocate_zero(&f->allocator, vertices + 2, sizeof *f->first_neighbour);
    f->neighbours = sinew_allocate(&f->allocator, 2 * (size_t)f->edge_count, sizeof *f->neighbours);
    if (!f->first_neighbour || !f->neighbours)
        return false;
    /* Neighbour counts are stored two entries ahead, and filling advances the entries one ahead, which leaves the final
     * offsets in first_neighbour. */
    int32_t *next = f->first_neighbour + 1;
    for (int32_t e = 0; e < f->edge_count; e++)
        for (int i = 0; i < 2; i++)
            next[f->edges[e][i] + 1]++;
    for (size_t v = 0; v < vertices; v++)
        next[v + 1] += next[v];
    for (int32_t e = 0; e < f->edge_count; e++)
        for (int i = 0; i < 2; i++)
            f->neighbours[next[f->edges[e][i]]++] = f->edges[e][1 - i];
    return true;
}

/* ---- Objects of the collision mesh -------------------------------------------------------------- */

static bool mesh_make_objects(sinew_collision_mesh *f, const sinew_collision_object *objects, int32_t count)
{
    f->object_count = count;
    bool rigid = false;
    for (int32_t o = 0; o < count; o++) {
        rigid = rigid || objects[o].rigid;
        f->vertex_count += objects[o].vertex_count;
        f->moved_count += objects[o].kinematic ? 0 : objects[o].vertex_count;
    }
    const size_t vertices = (size_t)f->vertex_count;
    f->objects = sinew_allocate(&f->allocator, (size_t)count, sizeof *f->objects);
    f->may_collide = sinew_allocate_zero(&f->allocator, (size_t)count * (size_t)count, sizeof *f->may_collide);
    f->object = sinew_allocate(&f->allocator, vertices, sizeof *f->object);
    f->particle = sinew_allocate_zero(&f->allocator, (size_t)f->moved_count, sizeof *f->particle);
    f->rest = sinew_allocate_zero(&f->allocator, 4 * vertices, sizeof *f->rest);
    if (rigid)
        f->frame_weights = sinew_allocate_zero(&f->allocator, 4 * (size_t)f->moved_count, sizeof *f->frame_weights);
    if (!f->objects || !f->may_collide || !f->object || !f->particle || !f->rest || (rigid && !f->frame_weights))
        return false;
    for (int32_t o = 0; o < count; o++) {
        f->objects[o] = objects[o];
        for (int32_t v = 0; v < objects[o].vertex_count; v++)
            f->object[objects[o].first_vertex + v] = o;
    }
    return true;
}

/* The sums are in double: the rounding of positions stays far below the floor of the step filter. */
void sinew_collision_mesh_embed(const sinew_collision_mesh *f, sinew_real *x)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_collision_object *object = &f->objects[o];
        const sinew_real *frame = x + 4 * (size_t)object->first_vertex;
        for (int32_t v = object->first_vertex + 4; object->rigid && v < object->first_vertex + object->vertex_count;
             v++) {
            const sinew_real *b = f->frame_weights + 4 * (size_t)v;
            for (size_t i = 0; i < 3; i++) {
                double sum = 0;
                for (size_t k = 0; k < 4; k++)
                    sum += (double)b[k] * (double)frame[4 * k + i];
                x[4 * (size_t)v + i] = (sinew_real)sum;
            }
            x[4 * (size_t)v + 3] = 0;
        }
    }
}

sinew_status sinew_collision_mesh_create(sinew_collision_mesh *mesh, const sinew_allocator *allocator,
                                         const sinew_collision_object *objects,
                                         const sinew_object_primitives *primitives, const bool *lone_vertices,
                                         int32_t object_count, sinew_error *error)
{
    *mesh = (sinew_collision_mesh){.allocator = sinew_allocator_or_system(allocator)};
    feature_builder d = {.f = mesh, .primitives = primitives, .lone_vertices = lone_vertices};
    bool made = mesh_make_objects(mesh, objects, object_count);
    if (made) {
        d.used = sinew_allocate(&mesh->allocator, (size_t)mesh->vertex_count, sizeof *d.used);
        made = d.used && mesh_make_primitives(&d) && mesh_make_edges(&d) && mesh_make_neighbours(mesh);
    }
    if (made)
        mesh_mark_primitives(&d);
    sinew_release(&mesh->allocator, d.used);
    sinew_release(&mesh->allocator, d.sides);
    if (made)
        return SINEW_OK;
    sinew_collision_mesh_destroy(mesh);
    return sinew_fail_memory(error, "the collision mesh");
}

void sinew_collision_mesh_destroy(sinew_collision_mesh *mesh)
{
    void *const blocks[] = {
        mesh->objects,         mesh->may_collide,       mesh->object,       mesh->particle, mesh->rest,
        mesh->edges,           mesh->opposite_vertices, mesh->primitives,   mesh->sides,    mesh->flags,
        mesh->first_neighbour, mesh->neighbours,        mesh->frame_weights};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        sinew_release(&mesh->allocator, blocks[i]);
    memset(mesh, 0, sizeof *mesh);
}
