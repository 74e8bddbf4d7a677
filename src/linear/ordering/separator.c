/* SPDX-License-Identifier: MIT
 *
 * separator.c: moves vertices in and out of a vertex separator to make it lighter. See separator.h.
 *
 * A move takes a vertex out of the separator to one side, and its neighbours on the other side into it. A pass
 * repeatedly makes the best move, even if the separator gets heavier, takes each vertex out at most once, and then
 * returns to the best state seen. Ties are broken by vertex number, so the result depends on the graph alone.
 */
#include "linear/ordering/separator.h"

#include <math.h>
#include <string.h>

#include "base/stop.h"

#define PASSES  6
#define BALANCE 0.58 /* largest fraction of the total vertex weight on one side of the separator */
/* a refinement pass ends after this many moves without a new best, plus one per eight separator vertices */
#define PATIENCE 60

bool sinew_separator_create(const sinew_allocator *allocator, sinew_separator *s, size_t count)
{
    *s = (sinew_separator){0};
    s->locked = sinew_allocate(allocator, count, 1);
    s->heap = sinew_allocate(allocator, 2 * count, sizeof *s->heap);
    s->heap_index = sinew_allocate(allocator, 2 * count, sizeof *s->heap_index);
    s->gain = sinew_allocate(allocator, 2 * count, sizeof *s->gain);
    s->log = sinew_allocate(allocator, 4 * count, sizeof *s->log);
    return s->locked && s->heap && s->heap_index && s->gain && s->log;
}

void sinew_separator_destroy(const sinew_allocator *allocator, sinew_separator *s)
{
    void *arrays[] = {s->locked, s->heap, s->heap_index, s->gain, s->log};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
}

double sinew_separator_cost(const sinew_separator *s)
{
    if (s->size[0] == 0 || s->size[1] == 0)
        return HUGE_VAL;
    const double uneven = fabs((double)s->size[0] - s->size[1]) / s->graph->total;
    return (double)s->price * (1 + uneven);
}

/* ---- Heap of moves, the largest gain on top -------------------------------------------------- */

static bool heap_comes_first(const sinew_separator *s, int32_t a, int32_t b)
{
    return s->gain[a] != s->gain[b] ? s->gain[a] > s->gain[b] : a < b;
}

static void heap_put(sinew_separator *s, int32_t at, int32_t move)
{
    s->heap[at] = move;
    s->heap_index[move] = at;
}

static void heap_rise(sinew_separator *s, int32_t at)
{
    const int32_t move = s->heap[at];
    for (; at > 0 && heap_comes_first(s, move, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(s, at, s->heap[(at - 1) / 2]);
    heap_put(s, at, move);
}

static void heap_sink(sinew_separator *s, int32_t at)
{
    const int32_t move = s->heap[at];
    for (int32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        child += child + 1 < s->heap_count && heap_comes_first(s, s->heap[child + 1], s->heap[child]);
        if (!heap_comes_first(s, s->heap[child], move))
            break;
        heap_put(s, at, s->heap[child]);
    }
    heap_put(s, at, move);
}

static void heap_remove(sinew_separator *s, int32_t move)
{
    const int32_t at = s->heap_index[move];
    if (at < 0)
        return;
    s->heap_index[move] = -1;
    const int32_t last = s->heap[--s->heap_count];
    if (at == s->heap_count)
        return;
    heap_put(s, at, last);
    heap_rise(s, at);
    heap_sink(s, s->heap_index[last]);
}

/* Updates the gains and heap entries of moving a separator vertex to side 0 or 1. Vertices that are locked or outside
 * the separator have no moves. */
static void update_moves(sinew_separator *s, int32_t vertex)
{
    const sinew_weighted *g = s->graph;
    int32_t neighbours[3] = {0};
    const bool movable = g->side[vertex] == SINEW_BETWEEN && !s->locked[vertex];
    for (size_t e = g->first[vertex]; movable && e < g->first[vertex + 1]; e++)
        neighbours[g->side[g->other[e]]] += g->price[g->other[e]];
    for (int side = 0; side < 2; side++) {
        const int32_t move = vertex << 1 | side;
        if (!movable) {
            heap_remove(s, move);
            continue;
        }
        s->gain[move] = g->price[vertex] - neighbours[1 - side];
        if (s->heap_index[move] < 0)
            heap_put(s, s->heap_count++, move);
        heap_rise(s, s->heap_index[move]);
        heap_sink(s, s->heap_index[move]);
    }
}

/* ---- Passes that refine a separator ---------------------------------------------------------- */

static void separator_move(sinew_separator *s, int32_t vertex, uint8_t side)
{
    sinew_weighted *g = s->graph;
    s->size[g->side[vertex]] -= g->weight[vertex];
    s->size[side] += g->weight[vertex];
    s->price += ((side == SINEW_BETWEEN) - (g->side[vertex] == SINEW_BETWEEN)) * (int64_t)g->price[vertex];
    g->side[vertex] = side;
}

static void separator_move_and_log(sinew_separator *s, int32_t vertex, uint8_t side)
{
    s->log[s->log_count++] = vertex << 2 | s->graph->side[vertex];
    separator_move(s, vertex, side);
}

static void adjust_gain(sinew_separator *s, int32_t move, int32_t by)
{
    if (s->heap_index[move] < 0)
        return;
    s->gain[move] += by;
    if (by > 0)
        heap_rise(s, s->heap_index[move]);
    else
        heap_sink(s, s->heap_index[move]);
}

/* Updates the gains of moves of the separator vertices around a vertex whose side changed from `before`. */
static void adjust_around(sinew_separator *s, int32_t vertex, uint8_t before)
{
    const sinew_weighted *g = s->graph;
    const uint8_t after = g->side[vertex];
    for (size_t e = g->first[vertex]; e < g->first[vertex + 1]; e++) {
        const int32_t other = g->other[e];
        if (g->side[other] != SINEW_BETWEEN)
            continue;
        if (before != SINEW_BETWEEN)
            adjust_gain(s, other << 1 | (1 - before), g->price[vertex]);
        if (after != SINEW_BETWEEN)
            adjust_gain(s, other << 1 | (1 - after), -g->price[vertex]);
    }
}

static void make_move(sinew_separator *s, int32_t move)
{
    const sinew_weighted *g = s->graph;
    const int32_t vertex = move >> 1, from = s->log_count;
    const uint8_t side = move & 1;
    s->locked[vertex] = 1;
    separator_move_and_log(s, vertex, side);
    for (size_t e = g->first[vertex]; e < g->first[vertex + 1]; e++)
        if (g->side[g->other[e]] == 1 - side)
            separator_move_and_log(s, g->other[e], SINEW_BETWEEN);
    for (int32_t k = from; k < s->log_count; k++)
        adjust_around(s, s->log[k] >> 2, s->log[k] & 3);
    for (int32_t k = from; k < s->log_count; k++)
        update_moves(s, s->log[k] >> 2);
}

/* The best move that keeps the balance of the sides, or improves it; other moves are dropped from the heap. -1:
 * none. */
static int32_t best_move(sinew_separator *s)
{
    while (s->heap_count > 0) {
        const int32_t move = s->heap[0], side = move & 1;
        if (s->size[side] + s->graph->weight[move >> 1] <= s->limit || s->size[side] < s->size[1 - side])
            return move;
        heap_remove(s, move);
    }
    return -1;
}

/* Makes one refinement pass of moves. Returns true if the separator improved. */
static bool refine_pass(sinew_separator *s)
{
    const double begin = sinew_separator_cost(s);
    double best = begin;
    int32_t best_log = 0, move, waited = 0, patience = PATIENCE;
    memset(s->locked, 0, (size_t)s->graph->count);
    s->log_count = 0;
    for (int32_t i = 0; i < s->graph->count; i++)
        if (s->graph->side[i] == SINEW_BETWEEN)
            update_moves(s, i);
    patience += s->heap_count / 16;
    while (waited++ < patience && (move = best_move(s)) >= 0) {
        make_move(s, move);
        const double cost = sinew_separator_cost(s);
        if (cost < best) {
            best = cost;
            best_log = s->log_count;
            waited = 0;
        }
    }
    while (s->heap_count > 0)
        heap_remove(s, s->heap[s->heap_count - 1]);
    while (s->log_count > best_log) {
        s->log_count--;
        separator_move(s, s->log[s->log_count] >> 2, s->log[s->log_count] & 3);
    }
    return best < begin;
}

double sinew_separator_measure(sinew_separator *s, sinew_weighted *graph)
{
    s->graph = graph;
    s->limit = (int32_t)(BALANCE * graph->total);
    memset(s->size, 0, sizeof s->size);
    s->price = 0;
    for (int32_t i = 0; i < graph->count; i++) {
        s->price += graph->side[i] == SINEW_BETWEEN ? graph->price[i] : 0;
        s->size[graph->side[i]] += graph->weight[i];
    }
    return sinew_separator_cost(s);
}

void sinew_separator_refine(sinew_separator *s, sinew_weighted *graph)
{
    sinew_separator_measure(s, graph);
    s->heap_count = 0;
    for (size_t move = 0; move < 2 * (size_t)graph->count; move++)
        s->heap_index[move] = -1;
    for (int pass = 0; pass < PASSES && !sinew_stop_came() && refine_pass(s); pass++)
        continue;
}

/* ---- First separator between two sides -------------------------------------------------------- */

/* Marks the vertices with a neighbour on the other side; price [2]: the sum of the marked vertices' prices on each
 * side. */
static void find_border(const sinew_weighted *g, uint8_t *marks, int64_t price[2])
{
    price[0] = price[1] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        const uint8_t side = g->side[i];
        size_t e = g->first[i];
        while (e < g->first[i + 1] && g->side[g->other[e]] == side)
            e++;
        marks[i] = e < g->first[i + 1];
        price[side] += marks[i] ? g->price[i] : 0;
    }
}

void sinew_separator_between(sinew_separator *s, sinew_weighted *graph)
{
    int64_t price[2];
    find_border(graph, s->locked, price);
    const uint8_t cheaper = price[0] > price[1];
    for (int32_t i = 0; i < graph->count; i++)
        if (s->locked[i] && graph->side[i] == cheaper)
            graph->side[i] = SINEW_BETWEEN;
}
