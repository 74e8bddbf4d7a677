/* SPDX-License-Identifier: MIT
 *
 * orient.c: which triangles run against their neighbours.
 *
 * Two triangles agree when they run along their common edge in opposite directions. Pieces are the trees of a
 * union-find whose links carry whether both ends agree; a link that closes a ring and contradicts it is a twist. The
 * smaller part of each piece is the one to flip. Edges with three or more triangles join nothing.
 */
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"

typedef struct search {
    sinew_orientation *out;
    const int32_t *triangles;
} search;

/* Does use (3 * triangle + left-out corner) run along its edge from the low to the high vertex? */
static bool runs_up(const int32_t *triangles, uint64_t use)
{
    const int32_t *v = triangles + use / 3 * 3;
    return v[(use + 1) % 3] < v[(use + 2) % 3];
}

/* First triangle of t's piece so far; *turned tells whether t runs against it. While searching `flip` holds each
 * triangle's turn against its parent, and `piece` the parent. */
static int32_t find_first(sinew_orientation *o, int32_t t, uint8_t *turned)
{
    *turned = 0;
    while (o->piece[t] != t) {
        o->flip[t] ^= o->flip[o->piece[t]];
        o->piece[t] = o->piece[o->piece[t]];
        *turned ^= o->flip[t];
        t = o->piece[t];
    }
    return t;
}

static void join(sinew_orientation *o, int32_t a, int32_t b, uint8_t turned)
{
    uint8_t turned_a, turned_b;
    int32_t first = find_first(o, a, &turned_a), other = find_first(o, b, &turned_b);
    turned ^= turned_a ^ turned_b;
    if (first == other) {
        o->twisted_count += turned;
        o->open[a] |= turned;
    } else {
        int32_t child = first > other ? first : other;
        o->piece[child] = first > other ? other : first;
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
        bool against = runs_up(s->triangles, uses[0].minor) == runs_up(s->triangles, uses[1].minor);
        join(s->out, (int32_t)(uses[0].minor / 3), (int32_t)(uses[1].minor / 3), against);
        return;
    }
    for (size_t n = 0; n < use_count; n++)
        s->out->open[uses[n].minor / 3] = 1;
}

/* Links to links become links to the first triangle: a parent has a lower number and is settled before. */
static void settle(sinew_orientation *o, int32_t count)
{
    for (int32_t t = 0; t < count; t++) {
        int32_t parent = o->piece[t];
        if (parent != t) {
            o->flip[t] ^= o->flip[parent];
            o->piece[t] = o->piece[parent];
        }
        o->votes[o->piece[t]] += o->flip[t] ? 1 : -1;
        o->open[o->piece[t]] |= o->open[t];
    }
    for (int32_t t = 0; t < count; t++)
        o->flip[t] ^= o->votes[o->piece[t]] > 0;
}

static void name_opponents(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    search *s = context;
    if (use_count != 2 || runs_up(s->triangles, uses[0].minor) != runs_up(s->triangles, uses[1].minor))
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
    o->piece = sinew_allocate(allocator, (size_t)count, sizeof *o->piece);
    o->flip = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->flip);
    o->open = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->open);
    o->against = sinew_allocate(allocator, (size_t)count, sizeof *o->against);
    o->votes = sinew_allocate_zero(allocator, (size_t)count, sizeof *o->votes);
    if (!o->piece || !o->flip || !o->open || !o->against || !o->votes)
        return sinew_fail_memory(error, "the orientation of triangles");
    for (int32_t t = 0; t < count; t++) {
        o->piece[t] = t;
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
        settle(orientation, triangle_count);
        status = sinew_visit_facets(allocator, vertex_count, &elements, name_opponents, &s, error);
    }
    if (status != SINEW_OK)
        sinew_orientation_free(orientation, allocator);
    return status;
}

void sinew_orientation_free(sinew_orientation *orientation, const sinew_allocator *allocator)
{
    sinew_release(allocator, orientation->piece);
    sinew_release(allocator, orientation->flip);
    sinew_release(allocator, orientation->open);
    sinew_release(allocator, orientation->against);
    sinew_release(allocator, orientation->votes);
    *orientation = (sinew_orientation){0};
}
