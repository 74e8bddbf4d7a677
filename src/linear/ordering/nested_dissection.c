/* SPDX-License-Identifier: MIT
 *
 * nested_dissection.c: see nested_dissection.h. Each set is coarsened (graph_coarsening.h), the coarsest graph is cut
 * in several ways, and the best cut is refined from level to level (separator.h).
 */
#include "linear/ordering/nested_dissection.h"

#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "linear/ordering/graph_coarsening.h"
#include "math/vec3.h"

#define LEAF_ROWS    200 /* rows: smaller sets are not cut, because minimum degree orders them equally well */
#define COARSEST     120 /* approximate number of vertices of the coarsest graph */
#define GRAPH_STARTS 4   /* number of breadth-first orders tried for a cut */
/* Price of a row in a separator; each neighbour lowers the price by one, down to half. Of two separators of equal size,
 * the one that removes more edges leaves less to cut later. */
#define PRICE     32
#define HOPELESS  1.6 /* cuts that cost more than this multiple of the best cut so far are not refined */
#define DEPTH_MAX 64
#define KEYS      1048576 /* number of integer positions from end to end of a set along a cut direction */

typedef struct dissection {
    const sinew_graph *graph;
    const sinew_real *points;
    int32_t *set;      /* [count] result: index of the set (half or separator) that contains each row */
    int32_t set_count; /* number of sets (leaves and separators) finished so far */
    int32_t *rows;     /* [count] all rows; the current set is a range of this array */
    int32_t *local;    /* [count] index of each row within the current set, -1: not in the set */
    int32_t *scratch;  /* [count] work space: an order of rows or vertices */
    int32_t *key;      /* [count] integer positions of vertices along a cut direction */
    double scale[3];   /* 1/m, scale of each axis: equal mean edge lengths along all axes after scaling */
    uint8_t *best;     /* [count] sides of the best cut so far: 0, 1 or SINEW_BETWEEN */
    sinew_levels levels;
    sinew_separator separator;
} dissection;

/* ---- Graph of the set of rows that is cut ---------------------------------------------------- */

/* Builds the graph of the rows first .. last-1 of d->rows, numbered from 0, as the finest level. */
static void make_finest_graph(dissection *d, int32_t first, int32_t last)
{
    const sinew_graph *g = d->graph;
    size_t at = 0;
    sinew_levels_begin(&d->levels);
    sinew_weighted *fine = &d->levels.graphs[0];
    for (int32_t k = first; k < last; k++)
        d->local[d->rows[k]] = k - first;
    for (int32_t k = first; k < last; k++) {
        const int32_t row = d->rows[k], own = k - first;
        fine->first[own] = at;
        fine->weight[own] = 1;
        for (size_t c = 0; c < 3; c++)
            fine->point[3 * (size_t)own + c] = d->points ? (double)d->points[4 * (size_t)row + c] : 0;
        for (size_t e = g->first[row]; e < g->first[row + 1]; e++)
            if (d->local[g->other[e]] >= 0) {
                fine->edge[at] = 1;
                fine->other[at++] = d->local[g->other[e]];
            }
    }
    fine->count = fine->total = last - first;
    fine->first[fine->count] = at;
    for (int32_t k = first; k < last; k++) {
        const size_t degree = fine->first[k - first + 1] - fine->first[k - first];
        fine->price[k - first] = PRICE - (int32_t)(degree < PRICE / 2 ? degree : PRICE / 2);
        d->local[d->rows[k]] = -1;
    }
}

/* ---- Cuts of the coarsest graph -------------------------------------------------------------- */

static void keep_better_cut(dissection *d, sinew_weighted *g, double *min)
{
    if (sinew_stop_came())
        return;
    sinew_separator_between(&d->separator, g);
    if (!(sinew_separator_measure(&d->separator, g) < HOPELESS * *min))
        return;
    sinew_separator_refine(&d->separator, g);
    const double cost = sinew_separator_cost(&d->separator);
    if (cost < *min) {
        *min = cost;
        memcpy(d->best, g->side, (size_t)g->count);
    }
}

/* Assigns vertices to side 0 in the order of d->scratch until side 0 has half of the weight. */
static void split_in_order(const dissection *d, sinew_weighted *g)
{
    int32_t weight = 0;
    for (int32_t k = 0; k < g->count; k++) {
        const int32_t i = d->scratch[k];
        g->side[i] = 2 * (int64_t)weight >= g->total;
        weight += g->weight[i];
    }
}

/* Lists vertices in breadth-first order from `start`, one connected component after the other. Returns the last vertex
 * of the first component. */
static int32_t breadth_first(const sinew_weighted *g, int32_t start, int32_t *order)
{
    int32_t tail = 0, end = -1, next = 0;
    memset(g->side, 0, (size_t)g->count); /* during the search, side 1 marks vertices that are already listed */
    for (int32_t head = 0; head < g->count; head++) {
        if (head == tail) {
            while (head > 0 && g->side[next])
                next++;
            const int32_t from = head == 0 ? start : next;
            g->side[from] = 1;
            order[tail++] = from;
        }
        for (size_t e = g->first[order[head]]; e < g->first[order[head] + 1]; e++)
            if (!g->side[g->other[e]]) {
                g->side[g->other[e]] = 1;
                order[tail++] = g->other[e];
            }
        if (head + 1 == tail && end < 0)
            end = order[head];
    }
    return end;
}

/* Tries the cuts of GRAPH_STARTS breadth-first orders. An order starts at the last vertex of the previous search, which
 * is peripheral; after every second order, at the middle vertex of that order. */
static void try_breadth_first_cuts(dissection *d, sinew_weighted *g, double *min)
{
    int32_t start = breadth_first(g, 0, d->scratch);
    for (int k = 0; k < GRAPH_STARTS; k++) {
        const int32_t next = breadth_first(g, start, d->scratch);
        split_in_order(d, g);
        keep_better_cut(d, g, min);
        start = k % 2 ? d->scratch[(size_t)g->count / 2] : next;
    }
}

/* Sets d->key to the positions along a direction, rounded to integers 0 .. KEYS: vertices of one layer of a regular
 * mesh get equal integers despite round-off. */
static void make_position_keys(dissection *d, const sinew_weighted *g, const int direction[3])
{
    double low = HUGE_VAL, high = -HUGE_VAL, n[3];
    for (size_t c = 0; c < 3; c++)
        n[c] = direction[c] * d->scale[c];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < g->count; i++) {
            const double *x = g->point + 3 * (size_t)i, at = vec3_dot(n, x);
            if (pass == 1)
                d->key[i] = high > low && isfinite(high - low) ? (int32_t)((at - low) / (high - low) * KEYS + 0.5) : 0;
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
}

/* The k-th smallest of values [count]. The values are partitioned around the result (Hoare 1961). */
static int32_t select_kth(int32_t *values, int32_t count, int32_t k)
{
    int32_t first = 0, last = count - 1;
    while (first < last) {
        const int32_t pivot = values[first + (last - first) / 2];
        int32_t i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                const int32_t swap = values[i];
                values[i++] = values[j];
                values[j--] = swap;
            }
        }
        if (k <= j)
            last = j;
        else if (k >= i)
            first = i;
        else
            break;
    }
    return values[k];
}

/* Sets the sides by the integer positions d->key: cuts below or above the layer of the median vertex, whichever is
 * more balanced. */
static void split_by_key(dissection *d, sinew_weighted *g)
{
    memcpy(d->scratch, d->key, (size_t)g->count * sizeof *d->scratch);
    const int32_t middle = select_kth(d->scratch, g->count, g->count / 2);
    int64_t below = 0, above = 0;
    for (int32_t i = 0; i < g->count; i++) {
        below += d->key[i] < middle ? g->weight[i] : 0;
        above += d->key[i] > middle ? g->weight[i] : 0;
    }
    for (int32_t i = 0; i < g->count; i++)
        g->side[i] = below > above ? d->key[i] >= middle : d->key[i] > middle;
}

/* Directions of cuts: the axes, the body diagonals and the face diagonals of a cube. */
static const int directions[][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 1},  {1, 1, -1}, {1, -1, 1}, {-1, 1, 1},
                                    {1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1},  {0, 1, -1}};
enum {
    DIRECTIONS = sizeof directions / sizeof directions[0],
    MAIN_DIRECTIONS = 7
};

static void try_direction_cuts(dissection *d, sinew_weighted *g, double *min)
{
    for (int k = 0; k < DIRECTIONS; k++) {
        make_position_keys(d, g, directions[k]);
        split_by_key(d, g);
        keep_better_cut(d, g, min);
    }
}

/* The best cut of the finest graph across the axes and body diagonals: regular meshes have layers that coarser graphs
 * do not show. The graph stores the sides of the best cut; returns its cost. */
static double find_straight_cut(dissection *d, sinew_weighted *g)
{
    double min = HUGE_VAL;
    int best = -1;
    for (int k = 0; k < MAIN_DIRECTIONS && !sinew_stop_came(); k++) {
        make_position_keys(d, g, directions[k]);
        split_by_key(d, g);
        sinew_separator_between(&d->separator, g);
        const double cost = sinew_separator_measure(&d->separator, g);
        if (cost < min) {
            min = cost;
            best = k;
        }
    }
    if (best < 0)
        return HUGE_VAL;
    make_position_keys(d, g, directions[best]);
    split_by_key(d, g);
    sinew_separator_between(&d->separator, g);
    sinew_separator_refine(&d->separator, g);
    return sinew_separator_cost(&d->separator);
}

/* ---- Recursive dissection into sets and separators ------------------------------------------- */

/* Finds the best cut and stores its sides in the finest graph. Returns false if every cut leaves one side empty, or the
 * search was interrupted. */
static bool find_cut(dissection *d)
{
    sinew_levels *l = &d->levels;
    double min = HUGE_VAL;
    sinew_levels_coarsen(l, COARSEST);
    sinew_weighted *g = &l->graphs[l->count - 1];
    if (d->points)
        try_direction_cuts(d, g, &min);
    try_breadth_first_cuts(d, g, &min);
    if (min == HUGE_VAL)
        return false;
    memcpy(g->side, d->best, (size_t)g->count);
    while (g-- > l->graphs && !sinew_stop_came()) {
        for (int32_t i = 0; i < g->count; i++)
            g->side[i] = g[1].side[g->coarse[i]];
        sinew_separator_refine(&d->separator, g);
    }
    if (sinew_stop_came())
        return false;
    g = l->graphs;
    if (!d->points || l->count == 1)
        return true;
    memcpy(d->best, g->side, (size_t)g->count);
    min = sinew_separator_cost(&d->separator);
    if (!(find_straight_cut(d, g) < min))
        memcpy(g->side, d->best, (size_t)g->count);
    return true;
}

/* Sorts a range of rows by side: both halves, then the separator; end [2] receives the end of each half. */
static void sort_by_side(dissection *d, int32_t first, int32_t last, int32_t end[2])
{
    const uint8_t *sides = d->levels.graphs[0].side;
    int32_t at = first;
    for (int side = 0; side < 3; side++) {
        for (int32_t k = first; k < last; k++)
            if (sides[k - first] == side)
                d->scratch[at++] = d->rows[k];
        if (side < 2)
            end[side] = at;
    }
    memcpy(d->rows + first, d->scratch + first, (size_t)(last - first) * sizeof *d->rows);
}

static void rank_set(dissection *d, int32_t first, int32_t last)
{
    for (int32_t k = first; k < last; k++)
        d->set[d->rows[k]] = d->set_count;
    d->set_count += last > first;
}

static void dissect(dissection *d, int32_t first, int32_t last, int depth)
{
    bool cut = last - first > LEAF_ROWS && depth < DEPTH_MAX && !sinew_stop_came();
    if (cut) {
        make_finest_graph(d, first, last);
        cut = find_cut(d);
    }
    if (!cut) {
        rank_set(d, first, last);
        return;
    }
    int32_t end[2];
    sort_by_side(d, first, last, end);
    dissect(d, first, end[0], depth + 1);
    dissect(d, end[0], end[1], depth + 1);
    rank_set(d, end[1], last);
}

static void measure_axis_scales(dissection *d)
{
    const sinew_graph *g = d->graph;
    double length[3] = {0};
    for (int32_t i = 0; i < g->count; i++)
        for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
            for (size_t c = 0; c < 3; c++)
                length[c] +=
                    fabs((double)d->points[4 * (size_t)i + c] - (double)d->points[4 * (size_t)g->other[e] + c]);
    for (size_t c = 0; c < 3; c++)
        d->scale[c] = length[c] > 0 && isfinite(length[c]) ? 1 / length[c] : 0;
}

sinew_status sinew_dissect(const sinew_allocator *allocator, const sinew_graph *graph, const sinew_real *points,
                           int32_t *set)
{
    const size_t n = (size_t)graph->count;
    dissection d = {.graph = graph, .points = points, .set = set};
    d.rows = sinew_allocate(allocator, n, sizeof *d.rows);
    d.local = sinew_allocate(allocator, n, sizeof *d.local);
    d.scratch = sinew_allocate(allocator, n, sizeof *d.scratch);
    d.key = sinew_allocate(allocator, n, sizeof *d.key);
    d.best = sinew_allocate(allocator, n, 1);
    const bool good = d.rows && d.local && d.scratch && d.key && d.best &&
                      sinew_levels_create(allocator, &d.levels, n, graph->first[n]) &&
                      sinew_separator_create(allocator, &d.separator, n);
    for (int32_t i = 0; good && i < graph->count; i++) {
        d.rows[i] = i;
        d.local[i] = -1;
    }
    if (good && points)
        measure_axis_scales(&d);
    if (good)
        dissect(&d, 0, graph->count, 0);
    sinew_levels_destroy(allocator, &d.levels);
    sinew_separator_destroy(allocator, &d.separator);
    void *arrays[] = {d.rows, d.local, d.scratch, d.key, d.best};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    return good && !sinew_stop_came() ? SINEW_OK : SINEW_ERROR_MEMORY;
}
