/* SPDX-License-Identifier: MIT
 *
 * usda_prims.c: builds the prims of a USD cache, in the order of the shape: one Mesh per body with faces, one
 * BasisCurves per body of edges.
 *
 * Vertices of a Mesh are all points of a skin, in order, or the points that a body's faces use. USD curves share no
 * points: edges form chains that end at points with one or more than two edges, closed rings repeat their first
 * point, and each chain has its own vertices.
 */
#include "io/cache/usda.h"

#include <math.h>
#include <string.h>

/* ---- Names of prims ------------------------------------------------------------------------------ */

int32_t sinew_usda_add_name(const sinew_cache *cache, sinew_name_list *list, const char *wanted, const char *otherwise)
{
    char name[160];
    size_t length = 0;
    if (!*wanted)
        wanted = otherwise;
    if (*wanted >= '0' && *wanted <= '9')
        name[length++] = '_';
    for (; *wanted && length < 120; wanted++) {
        const char c = *wanted;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[length++] = plain ? c : '_';
    }
    const int32_t before = list->count;
    int32_t found = sinew_names_add(&cache->allocator, list, name, length);
    /* A USD name in use gets a number as suffix. The search starts at the count of names, which is nearly always
     * free. */
    for (int32_t number = before; found >= 0 && found < before; number++) {
        const int more = snprintf(name + length, sizeof name - length, "_%d", (int)number);
        found = sinew_names_add(&cache->allocator, list, name, length + (size_t)more);
    }
    return found;
}

static bool name_prims(const sinew_cache *cache, sinew_usda *own, const int32_t *bodies)
{
    /* The materials scope is a sibling of the bodies, so its name is reserved. */
    if (sinew_usda_add_name(cache, &own->names, SINEW_USDA_SCOPE, "") < 0)
        return false;
    for (int32_t i = 0; i < own->prim_count; i++) {
        char number[32];
        snprintf(number, sizeof number, "body_%d", (int)bodies[i]);
        own->prims[i].name = sinew_usda_add_name(cache, &own->names,
                                                 sinew_body_name(cache->world, cache->bodies[bodies[i]].body), number);
        if (own->prims[i].name < 0)
            return false;
    }
    const sinew_name_list *materials = &own->shape.names[SINEW_SKIN_MATERIAL];
    own->materials = sinew_allocate(&cache->allocator, (size_t)materials->count, sizeof *own->materials);
    for (int32_t i = 0; own->materials && i < materials->count; i++) {
        own->materials[i] = sinew_usda_add_name(cache, &own->material_names, sinew_names_get(materials, i), "material");
        if (own->materials[i] < 0)
            return false;
    }
    return own->materials != NULL;
}

/* ---- Mesh prims of bodies with faces ------------------------------------------------------------- */

/* Numbers the drawn points of a body from zero as vertices of the prim: vertex[point - first_point], -1: not drawn.
 * Appends the points to own->points and changes the shape's corners to these numbers. */
static void usda_prims_number_points(const sinew_cache_body *of, sinew_usda *own, sinew_usda_prim *prim,
                                     int32_t *vertex)
{
    memset(vertex, of->skin ? 0 : -1, (size_t)of->point_count * sizeof *vertex);
    for (int64_t i = own->shape.starts[prim->first_face]; i < own->shape.starts[prim->first_face + prim->face_count];
         i++)
        vertex[own->shape.corners[i] - of->first_point] = 0;
    prim->first_vertex = (int32_t)own->vertex_count;
    for (int32_t i = 0; i < of->point_count; i++) {
        if (vertex[i] < 0)
            continue;
        vertex[i] = prim->vertex_count++;
        own->points[own->vertex_count++] = of->first_point + i;
    }
    for (int64_t i = own->shape.starts[prim->first_face]; i < own->shape.starts[prim->first_face + prim->face_count];
         i++)
        own->shape.corners[i] = vertex[own->shape.corners[i] - of->first_point];
}

/* Adds one Mesh prim per run of faces of the same body; bodies[i] receives the index in cache->bodies of the body of
 * prim i. */
static void add_meshes(const sinew_cache *cache, sinew_usda *own, int32_t *bodies, int32_t *vertex)
{
    for (int64_t f = 0; f < own->shape.face_count;) {
        const int32_t body = own->shape.face_bodies[f];
        sinew_usda_prim *prim = &own->prims[own->prim_count];
        *prim = (sinew_usda_prim){.first_face = f};
        while (f < own->shape.face_count && own->shape.face_bodies[f] == body)
            f++;
        prim->face_count = f - prim->first_face;
        bodies[own->prim_count++] = body;
        usda_prims_number_points(&cache->bodies[body], own, prim, vertex);
    }
}

/* ---- BasisCurves prims of bodies of edges -------------------------------------------------------- */

/* Edges at each point of a cache, with flags for edges that already belong to a chain. */
typedef struct edge_net {
    const int32_t *edges;
    /* [point_count + 2] index in `list` of each point's first edge; the last entry is used only during filling */
    int32_t *starts;
    int32_t *list; /* [2 * edge_count] indices of the edges at each point, sorted by point */
    uint8_t *used; /* [edge_count] 1: the edge already belongs to a chain */
} edge_net;

static void list_edges_of_points(const sinew_cache *cache, const sinew_cache_shape *shape, edge_net *net)
{
    net->edges = shape->edges;
    memset(net->starts, 0, ((size_t)cache->point_count + 2) * sizeof *net->starts);
    memset(net->used, 0, (size_t)shape->edge_count);
    for (int64_t i = 0; i < 2 * shape->edge_count; i++)
        net->starts[shape->edges[i] + 2]++;
    for (int32_t p = 0; p < cache->point_count; p++)
        net->starts[p + 2] += net->starts[p + 1];
    for (int64_t i = 0; i < 2 * shape->edge_count; i++)
        net->list[net->starts[shape->edges[i] + 1]++] = (int32_t)(i / 2);
}

static int32_t edge_count_at_point(const edge_net *net, int32_t point)
{
    return net->starts[point + 1] - net->starts[point];
}

/* Follows the chain of edges from `point` along `edge` until an end, a branch, or a closed ring, and adds it as a
 * curve. */
static void add_chain_from(edge_net *net, sinew_usda *own, int32_t point, int32_t edge)
{
    int32_t count = 1;
    own->points[own->vertex_count++] = point;
    while (edge >= 0) {
        net->used[edge] = 1;
        point =
            net->edges[2 * (int64_t)edge] == point ? net->edges[2 * (int64_t)edge + 1] : net->edges[2 * (int64_t)edge];
        own->points[own->vertex_count++] = point;
        count++;
        edge = -1;
        for (int32_t i = net->starts[point]; edge_count_at_point(net, point) == 2 && i < net->starts[point + 1]; i++)
            edge = net->used[net->list[i]] ? edge : net->list[i];
    }
    own->curve_counts[own->curve_count++] = count;
}

/* Builds the chains of one body's edges from .. to - 1: first chains from ends and branches, then rings. */
static void add_chains(edge_net *net, sinew_usda *own, int64_t from, int64_t to)
{
    for (int ring = 0; ring < 2; ring++)
        for (int64_t e = from; e < to; e++)
            for (int end = 0; end < 2; end++) {
                const int32_t point = net->edges[2 * e + end];
                if (!net->used[e] && (ring || edge_count_at_point(net, point) != 2))
                    add_chain_from(net, own, point, (int32_t)e);
            }
}

/* Index of the body that a point belongs to; the search starts at body `from` because edges are in the order of
 * bodies. */
static int32_t body_of_point(const sinew_cache *cache, int32_t point, int32_t from)
{
    for (int32_t i = 0; i < cache->body_count; i++) {
        const int32_t body = (int32_t)(((int64_t)from + i) % cache->body_count);
        const int32_t first = cache->bodies[body].first_point;
        if (point >= first && point < first + cache->bodies[body].point_count)
            return body;
    }
    return from;
}

/* Sum of the rest lengths of a body's edges from .. to - 1, in m. */
static double rest_length(const sinew_cache *cache, const sinew_cache_body *of, const int32_t *edges, int64_t from,
                          int64_t to)
{
    const sinew_real *rest = sinew_mesh_positions(sinew_body_mesh(cache->world, of->body));
    double sum = 0;
    for (int64_t e = from; e < to; e++) {
        const sinew_real *a = rest + 3 * (size_t)(edges[2 * e] - of->first_point);
        const sinew_real *b = rest + 3 * (size_t)(edges[2 * e + 1] - of->first_point);
        sum += hypot(hypot((double)(a[0] - b[0]), (double)(a[1] - b[1])), (double)(a[2] - b[2]));
    }
    return sum;
}

static void usda_prims_add_curves(const sinew_cache *cache, sinew_usda *own, int32_t *bodies, edge_net *net)
{
    const sinew_cache_shape *shape = &own->shape;
    int32_t body = 0;
    for (int64_t e = 0; e < shape->edge_count;) {
        body = body_of_point(cache, shape->edges[2 * e], body);
        const sinew_cache_body *of = &cache->bodies[body];
        const int64_t from = e;
        while (e < shape->edge_count && shape->edges[2 * e] >= of->first_point &&
               shape->edges[2 * e] < of->first_point + of->point_count)
            e++;
        sinew_usda_prim *prim = &own->prims[own->prim_count];
        *prim = (sinew_usda_prim){
            .curves = true, .first_vertex = (int32_t)own->vertex_count, .first_face = own->curve_count};
        add_chains(net, own, from, e);
        prim->vertex_count = (int32_t)own->vertex_count - prim->first_vertex;
        prim->face_count = own->curve_count - prim->first_face;
        /* Curve width: a fifth of the mean edge length, so that a rope is visible. */
        prim->width = 0.2 * rest_length(cache, of, shape->edges, from, e) / (double)(e - from);
        bodies[own->prim_count++] = body;
    }
}

/* ---- All prims of the cache ---------------------------------------------------------------------- */

sinew_status sinew_usda_build_prims(const sinew_cache *cache, sinew_usda *own, sinew_error *error)
{
    const sinew_allocator *allocator = &cache->allocator;
    const size_t edges = (size_t)own->shape.edge_count, points = (size_t)cache->point_count;
    const size_t bodies_max = (size_t)cache->body_count;
    edge_net net = {.starts = sinew_allocate(allocator, points + 2, sizeof(int32_t)),
                    .list = sinew_allocate(allocator, edges, 2 * sizeof(int32_t)),
                    .used = sinew_allocate(allocator, edges, 1)};
    int32_t *vertex = sinew_allocate(allocator, points, sizeof *vertex);
    int32_t *bodies = sinew_allocate(allocator, bodies_max, sizeof *bodies);
    own->prims = sinew_allocate(allocator, bodies_max, sizeof *own->prims);
    own->points = sinew_allocate(allocator, points + 2 * edges, sizeof *own->points);
    own->curve_counts = sinew_allocate(allocator, edges, sizeof *own->curve_counts);
    bool good =
        net.starts && net.list && net.used && vertex && bodies && own->prims && own->points && own->curve_counts;
    if (good) {
        own->root = sinew_usda_add_name(cache, &own->material_names, cache->name, "sinew");
        add_meshes(cache, own, bodies, vertex);
        list_edges_of_points(cache, &own->shape, &net);
        usda_prims_add_curves(cache, own, bodies, &net);
        good = own->root >= 0 && name_prims(cache, own, bodies);
    }
    sinew_release(allocator, net.starts);
    sinew_release(allocator, net.list);
    sinew_release(allocator, net.used);
    sinew_release(allocator, vertex);
    sinew_release(allocator, bodies);
    return good ? SINEW_OK : sinew_fail_memory(error, "the prims of a USD cache");
}
