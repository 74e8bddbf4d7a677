/* SPDX-License-Identifier: MIT
 *
 * embed_components.c: chooses the connected component that embeds a skin vertex, where several contain it.
 *
 * A lattice around a surface duplicates cells that disconnected components of the surface share (fingers). A skin
 * vertex in such a cell lies in a tetrahedron of each component. It belongs to the component of its neighbours along
 * the faces of the skin: a walk from a neighbour's tetrahedron through common faces towards the vertex ends in the
 * component of the neighbour. Vertices inside one component only are assigned first; the assignment then spreads
 * along the skin. A component of the skin without such a vertex uses the tetrahedra that embed the fewest vertices
 * so far.
 *
 * Known limits: vertices that a file repeats along seams are not neighbours. A walk that leaves the body fails, and the
 * next neighbour is tried.
 */
#include <math.h>
#include <string.h>

#include "mesh/topology/facets.h"
#include "mesh/mesh.h"
#include "world/bodies/embed_point.h"

enum {
    WALK_MAX = 1000,
    HOLDING_MAX = 64
};

/* State of the assignment of tetrahedra to skin vertices. */
typedef struct settling {
    const sinew_embeddings *embeddings;
    const sinew_real *points;
    sinew_embedding *found;
    int32_t count;   /* number of vertices of the embedded surface (skin) */
    int32_t *starts; /* [count + 1] index of each skin vertex's first entry in `neighbours` */
    /* [starts[count]] skin vertices that share a side of a face with each skin vertex, vertex by vertex */
    int32_t *neighbours;
    int32_t *beyond; /* [4 * tets] entry 4 t + i: the tet behind the face of tet t opposite to corner i; -1: none */
    int32_t *riders; /* [tets] number of skin vertices embedded in each tet */
    int32_t *queue;  /* [count] queue of skin vertices that already have a tet */
    int32_t queued;
} settling;

static void join_tets(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    int32_t *beyond = context;
    (void)vertices;
    if (use_count != 2)
        return;
    beyond[uses[0].minor] = (int32_t)(uses[1].minor / 4);
    beyond[uses[1].minor] = (int32_t)(uses[0].minor / 4);
}

/* Visits each side of each skin face in both directions: counts the neighbours of skin vertices (`neighbours` NULL) or
 * lists them. */
static void visit_sides(const sinew_skin *skin, int32_t *starts, int32_t *neighbours)
{
    const int32_t *faces = sinew_skin_face_starts(skin), *corners = sinew_skin_corners(skin);
    for (int32_t f = 0; f < sinew_skin_face_count(skin); f++)
        for (int32_t i = faces[f]; i < faces[f + 1]; i++) {
            const int32_t a = corners[i], b = corners[i + 1 < faces[f + 1] ? i + 1 : faces[f]];
            if (neighbours) {
                neighbours[starts[a]] = b;
                neighbours[starts[b]] = a;
            }
            starts[a]++;
            starts[b]++;
        }
}

static void list_neighbours(settling *s, const sinew_skin *skin)
{
    visit_sides(skin, s->starts, NULL);
    int32_t sum = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const int32_t count = s->starts[i];
        s->starts[i] = sum;
        sum += count;
    }
    visit_sides(skin, s->starts, s->neighbours);
    memmove(s->starts + 1, s->starts, (size_t)s->count * sizeof *s->starts);
    s->starts[0] = 0;
}

static sinew_status embed_components_begin(settling *s, const sinew_skin *skin, sinew_error *error)
{
    const sinew_mesh *mesh = s->embeddings->mesh;
    const sinew_allocator *allocator = &s->embeddings->allocator;
    const size_t tets = (size_t)mesh->tet_count, count = (size_t)s->count;
    const size_t corners = (size_t)sinew_skin_face_starts(skin)[sinew_skin_face_count(skin)];
    s->starts = sinew_allocate_zero(allocator, count + 1, sizeof *s->starts);
    s->neighbours = sinew_allocate(allocator, 2 * corners, sizeof *s->neighbours);
    s->beyond = sinew_allocate(allocator, 4 * tets, sizeof *s->beyond);
    s->riders = sinew_allocate_zero(allocator, tets, sizeof *s->riders);
    s->queue = sinew_allocate(allocator, count, sizeof *s->queue);
    if (!s->starts || !s->neighbours || !s->beyond || !s->riders || !s->queue)
        return sinew_fail_memory(error, "the parts under a skin");
    list_neighbours(s, skin);
    memset(s->beyond, 0xff, 4 * tets * sizeof *s->beyond);
    const sinew_elements elements = {mesh->tets, mesh->tet_count, 4};
    return sinew_visit_facets(allocator, mesh->vertex_count, &elements, join_tets, s->beyond, error);
}

static void embed_components_end(settling *s)
{
    const sinew_allocator *allocator = &s->embeddings->allocator;
    sinew_release(allocator, s->starts);
    sinew_release(allocator, s->neighbours);
    sinew_release(allocator, s->beyond);
    sinew_release(allocator, s->riders);
    sinew_release(allocator, s->queue);
}

/* Next tetrahedron of a walk towards a point: the one behind the face with the most negative weight, except `from`; -1:
 * none. */
static int32_t next_tet(const settling *s, int32_t tet, int32_t from, const double weights[4])
{
    int32_t best = -1;
    double lowest = -1e-7;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t next = s->beyond[4 * (size_t)tet + (size_t)i];
        if (next >= 0 && next != from && weights[i] < lowest) {
            lowest = weights[i];
            best = next;
        }
    }
    return best;
}

/* Walks from a tetrahedron through common faces to the tetrahedron that contains a point; -1: the walk leaves the body,
 * exceeds WALK_MAX steps or meets a flat tetrahedron. */
static int32_t walk_to_point(const settling *s, int32_t tet, const sinew_real point[3], double weights[4])
{
    const sinew_mesh *mesh = s->embeddings->mesh;
    int32_t from = -1;
    for (int step = 0; step < WALK_MAX && tet >= 0; step++) {
        if (!sinew_tet_weights(mesh->positions, mesh->tets + 4 * (size_t)tet, point, weights))
            return -1;
        if (fmin(fmin(weights[0], weights[1]), fmin(weights[2], weights[3])) >= -1e-7)
            return tet;
        const int32_t next = next_tet(s, tet, from, weights);
        from = tet;
        tet = next;
    }
    return -1;
}

static void embed_components_assign(settling *s, int32_t vertex, int32_t tet)
{
    sinew_embedding *found = &s->found[vertex];
    const int32_t *corners = s->embeddings->mesh->tets + 4 * (size_t)tet;
    if (!sinew_tet_weights(s->embeddings->mesh->positions, corners, s->points + 3 * (size_t)vertex, found->weights))
        return;
    memcpy(found->vertices, corners, sizeof found->vertices);
    found->tet = tet;
    found->several = false;
    s->riders[tet]++;
    s->queue[s->queued++] = vertex;
}

/* Assigns tets to undecided skin vertices that are connected to vertices with a tet. */
static void embed_components_spread(settling *s, int32_t *at)
{
    for (; *at < s->queued; ++*at) {
        const int32_t vertex = s->queue[*at];
        for (int32_t i = s->starts[vertex]; i < s->starts[vertex + 1]; i++) {
            const int32_t other = s->neighbours[i];
            double weights[4];
            if (!s->found[other].several)
                continue;
            const int32_t tet = walk_to_point(s, s->found[vertex].tet, s->points + 3 * (size_t)other, weights);
            if (tet >= 0)
                embed_components_assign(s, other, tet);
        }
    }
}

/* Tetrahedron that contains a skin vertex and embeds the fewest other skin vertices; among equals, the lowest index. */
static int32_t emptiest_tet(const settling *s, int32_t vertex)
{
    int32_t tets[HOLDING_MAX];
    int32_t count = sinew_embeddings_holding(s->embeddings, s->points + 3 * (size_t)vertex, tets, HOLDING_MAX);
    int32_t best = s->found[vertex].tet;
    count = count < HOLDING_MAX ? count : HOLDING_MAX;
    for (int32_t i = 0; i < count; i++)
        if (s->riders[tets[i]] < s->riders[best])
            best = tets[i];
    return best;
}

sinew_status sinew_embeddings_resolve(const sinew_embeddings *embeddings, const sinew_skin *skin,
                                      const sinew_real *points, sinew_embedding *found, sinew_error *error)
{
    settling s = {embeddings, points, found, .count = sinew_skin_vertex_count(skin)};
    bool any = false;
    for (int32_t i = 0; i < s.count; i++)
        any = any || found[i].several;
    if (!any)
        return SINEW_OK;
    sinew_status status = embed_components_begin(&s, skin, error);
    int32_t at = 0;
    for (int32_t i = 0; status == SINEW_OK && i < s.count; i++)
        if (!found[i].several && found[i].tet >= 0) {
            s.riders[found[i].tet]++;
            s.queue[s.queued++] = i;
        }
    for (int32_t i = 0; status == SINEW_OK && i < s.count; i++) {
        embed_components_spread(&s, &at);
        if (found[i].several)
            embed_components_assign(&s, i, emptiest_tet(&s, i));
    }
    embed_components_end(&s);
    return status;
}
