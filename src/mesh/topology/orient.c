/* SPDX-License-Identifier: MIT
 *
 * orient.c: finds triangles oriented against their neighbours.
 *
 * Two triangles agree if they traverse their common edge in opposite directions. Components are the trees of a
 * union-find whose links store whether both ends agree; a link that closes a cycle and contradicts it is a twist. The
 * minority of each component is flipped. Edges with three or more triangles connect nothing.
 */
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"

typedef struct search {
    sinew_orientation *out;
    const int32_t *triangles;
} search;

/* Whether a triangle traverses an edge from the lower to the higher vertex. use = 3 * triangle + corner opposite to
 * the edge. */
static bool traverses_upwards(const int32_t *triangles, uint64_t use)
{
    const int32_t *v = triangles + use / 3 * 3;
    return v[(use + 1) % 3] < v[(use + 2) % 3];
}

/* Root triangle of t's component so far (union-find); *turned: t has the opposite orientation. During the search `flip`
 * holds each triangle's orientation relative to its parent, and `component` the parent. */
static int32_t orient_find_root(sinew_orientation *o, int32_t t, uint8_t *turned)
{
    *turned = 0;
    while (o->component[t] != t) {
        o->flip[t] ^= o->flip[o->component[t]];
        o->component[t] = o->component[o->component[t]];
        *turned ^= o->flip[t];
        t = o->component[t];
    }
    return t;
}

static void orient_join(sinew_orientation *o, int32_t a, int32_t b, uint8_t turned)
{
    uint8_t turned_a, turned_b;
    int32_t first = orient_find_root(o, a, &turned_a), other = orient_find_root(o, b, &turned_b);
    turned ^= turned_a ^ turned_b;
    if (first == other) {
        o->twisted_count += turned;
        o->open[a] |= turned;
    } else {
        int32_t child = first > other ? first : other;
        o->component[child] = first > other ? other : first;
        o->flip[child] = turned;
    }
}

static void join_over_edge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    search *s = context;
    s->out->once_count += use_count == 1;
    s->out->odd_count += use_count % 2;
    if (use_count == 2) {
        bool against = traverses_upwards(s->triangles, uses[0].minor) == traverses_upwards(s->triangles, uses[1].minor);
        orient_join(s->out, (int32_t)(uses[0].minor / 3), (int32_t)(uses[1].minor / 3), against);
        return;
    }
    for (size_t n = 0; n < use_count; n++)
        s->out->open[uses[n].minor / 3] = 1;
}

/* Replaces chains of union-find links by links to the component's first triangle. A parent has a lower index and is
 * resolved before. */
static void orient_resolve_links(sinew_orientation *o, int32_t count)
{
    for (int32_t t = 0; t < count; t++) {
        int32_t parent = o->component[t];
        if (parent != t) {
            o->flip[t] ^= o->flip[parent];
            o->component[t] = o->component[parent];
        }
        o->votes[o->component[t]] += o->flip[t] ? 1 : -1;
        o->open[o->component[t]] |= o->open[t];
    }
    for (int32_t t = 0; t < count; t++)
        o->flip[t] ^= o->votes[o->component[t]] > 0;
}

static void store_opposed_neighbours(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    search *s = context;
    if (use_count != 2 ||
        traverses_upwards(s->triangles, uses[0].minor) != traverses_upwards(s->triangles, uses[1].minor))
        return;
    int32_t low = (int32_t)(uses[0].minor / 3), high = (int32_t)(uses[1].minor / 3);
    bool low_flips = s->out->flip[low] > s->out->flip[high];
    int32_t one = low_flips ? low : high, other = low_flips ? high : low;
    int32_t *against = &s->out->against[one];
    if (*against < 0 || other < *against)
        *against = other;
}

static sinew_status orientation_allocate(sinew_orientation *o, const sinew_allocator *allocator, int32_t count,
                                         sinew_error *error)
{
    *o = (sinew_orientation){0};
    o->component = sinew_allocate(allocator, (size_t)count, sizeof *o->component);
    o->flip = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->flip);
    o->open = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->open);
    o->against = sinew_allocate(allocator, (size_t)count, sizeof *o->against);
    o->votes = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->votes);
    if (!o->component || !o->flip || !o->open || !o->against || !o->votes)
        return sinew_fail_memory(error, "the orientation of triangles");
    for (int32_t t = 0; t < count; t++) {
        o->component[t] = t;
        o->against[t] = -1;
    }
    return SINEW_OK;
}

sinew_status sinew_orientation_find(sinew_orientation *orientation, const sinew_allocator *allocator,
                                    int32_t vertex_count, const int32_t *triangles, int32_t triangle_count,
                                    sinew_error *error)
{
    search s = {orientation, triangles};
    sinew_elements elements = {triangles, triangle_count, 3};
    sinew_status status = orientation_allocate(orientation, allocator, triangle_count, error);
    if (status == SINEW_OK)
        status = sinew_visit_facets(allocator, vertex_count, &elements, join_over_edge, &s, error);
    if (status == SINEW_OK) {
        orient_resolve_links(orientation, triangle_count);
        status = sinew_visit_facets(allocator, vertex_count, &elements, store_opposed_neighbours, &s, error);
    }
    if (status != SINEW_OK)
        sinew_orientation_free(orientation, allocator);
    return status;
}

void sinew_orientation_free(sinew_orientation *orientation, const sinew_allocator *allocator)
{
    sinew_release(allocator, orientation->component);
    sinew_release(allocator, orientation->flip);
    sinew_release(allocator, orientation->open);
    sinew_release(allocator, orientation->against);
    sinew_release(allocator, orientation->votes);
    *orientation = (sinew_orientation){0};
}
