/* SPDX-License-Identifier: MIT
 *
 * merge_duplicates.c: finds cells with the same vertices, and vertices that coincide or lie within a given distance.
 *
 * Cells with the same lowest vertex are sorted by their other vertices, which makes duplicates adjacent. Kept vertices
 * are hashed by their cell in a grid whose cells are CELL_WIDTH distances wide: all vertices within the distance of a
 * vertex are in its grid cell or an adjacent one. Kept vertices are farther apart than the distance, which bounds their
 * number in a grid cell.
 */
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"
#include "base/sort_pairs.h"

#include <math.h>
#include <string.h>

/* ---- Duplicate cells of the mesh ----------------------------------------------------------------- */

static void sorted_vertices(const int32_t *element, int32_t size, int32_t sorted[4])
{
    for (int32_t i = 0; i < size; i++) {
        int32_t at = i;
        for (; at > 0 && element[i] < sorted[at - 1]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = element[i];
    }
}

/* Writes a pair (other vertices, element index) for each element whose lowest vertex is v; returns their number. */
static size_t list_elements_at(const sinew_elements *elements, const sinew_incidence *incidence, int32_t v,
                               sinew_pair *pairs)
{
    size_t count = 0;
    for (int64_t at = incidence->first[v]; at < incidence->first[v + 1]; at++) {
        int32_t e = incidence->elements[at], s[4] = {0};
        sorted_vertices(elements->vertices + (size_t)e * (size_t)elements->size, elements->size, s);
        if (s[0] == v)
            pairs[count++] = (sinew_pair){sinew_pack(s[1], elements->size > 2 ? s[2] : 0),
                                          sinew_pack(elements->size > 3 ? s[3] : 0, e)};
    }
    return count;
}

static void set_first_of_duplicates(const sinew_pair *pairs, size_t count, int32_t *same)
{
    size_t first = 0;
    for (size_t n = 0; n < count; n++) {
        if (pairs[n].major != pairs[first].major || pairs[n].minor >> 32 != pairs[first].minor >> 32)
            first = n;
        same[pairs[n].minor & UINT32_MAX] = (int32_t)(pairs[first].minor & UINT32_MAX);
    }
}

sinew_status sinew_same_elements(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                 int32_t *same, sinew_error *error)
{
    sinew_incidence incidence;
    sinew_status status = sinew_incidence_build(&incidence, allocator, vertex_count, elements, error);
    if (status != SINEW_OK)
        return status;
    size_t capacity = (size_t)sinew_incidence_count_max(&incidence, vertex_count);
    sinew_pair *pairs = sinew_allocate(allocator, 2 * capacity, sizeof *pairs);
    if (pairs) {
        for (int32_t v = 0; v < vertex_count; v++) {
            size_t count = list_elements_at(elements, &incidence, v, pairs);
            sinew_sort_pairs(pairs, count, pairs + capacity);
            set_first_of_duplicates(pairs, count, same);
        }
    } else {
        status = sinew_fail_memory(error, "cells that are there twice");
    }
    sinew_release(allocator, pairs);
    sinew_incidence_free(&incidence, allocator);
    return status;
}

/* ---- Merging of vertices within a distance ------------------------------------------------------- */

#define CELL_WIDTH 4 /* width of a search grid cell, in merge distances: most vertices then search few grid cells */

typedef struct near_table {
    const sinew_real *positions;
    double distance;
    double width;  /* width of a cell of the search grid, in m */
    size_t mask;   /* mask of the hash: number of hash buckets - 1, a power of two minus 1 */
    int32_t *head; /* [buckets] last kept vertex of each hash bucket, or -1 */
    int32_t *next; /* [count] kept vertex before this one in the same hash bucket, or -1 */
} near_table;

/* Grid coordinates are doubles and may exceed 2^53. There each coordinate value is its own cell, which is correct: a
 * distance below the last digit means equality. With distance 0 every value is a cell. + 0.0 turns -0 into 0. */
static double merge_cell_of(const near_table *table, double x)
{
    return (table->distance > 0 ? floor(x / table->width) : x) + 0.0;
}

/* Grid coordinates along one axis that may contain a vertex near x: the cell of x, and adjacent cells within the
 * distance. */
static int cells_within_radius(const near_table *table, double x, double cells[3])
{
    cells[0] = merge_cell_of(table, x);
    if (!(table->distance > 0))
        return 1;
    int count = 1;
    double across = x / table->width - cells[0];
    /* Beyond 2^40 cells the position inside a cell is inaccurate, so both adjacent cells are searched. */
    bool coarse = fabs(cells[0]) > 0x1p40;
    if (coarse || across < 1.0 / CELL_WIDTH + 0.01)
        cells[count++] = cells[0] - 1;
    if (coarse || across > 1 - 1.0 / CELL_WIDTH - 0.01)
        cells[count++] = cells[0] + 1;
    return count;
}

static size_t bucket_of(const near_table *table, const double cell[3])
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t bits;
        memcpy(&bits, &cell[k], sizeof bits);
        /* The finaliser of MurmurHash3 (A. Appleby, public domain), applied to the three coordinates. */
        hash ^= bits;
        hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
        hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
        hash ^= hash >> 33;
    }
    return (size_t)hash & table->mask;
}

static bool merge_is_near(const near_table *table, int32_t a, int32_t b)
{
    const int32_t edge[2] = {a, b};
    return sinew_shape_of_edge(table->positions, edge) <= table->distance;
}

static int32_t lowest_near_in_cell(const near_table *table, const double cell[3], int32_t v, int32_t lowest)
{
    for (int32_t w = table->head[bucket_of(table, cell)]; w >= 0; w = table->next[w])
        if (w < lowest && merge_is_near(table, w, v))
            lowest = w;
    return lowest;
}

static int32_t lowest_vertex_near(const near_table *table, int32_t v)
{
    double cells[3][3];
    int counts[3];
    int32_t lowest = v;
    for (int k = 0; k < 3; k++)
        counts[k] = cells_within_radius(table, (double)table->positions[3 * (size_t)v + (size_t)k], cells[k]);
    for (int i = 0; i < counts[0]; i++)
        for (int j = 0; j < counts[1]; j++)
            for (int k = 0; k < counts[2]; k++) {
                const double cell[3] = {cells[0][i], cells[1][j], cells[2][k]};
                lowest = lowest_near_in_cell(table, cell, v, lowest);
            }
    return lowest;
}

static void fill_same(near_table *table, int32_t count, int32_t *same)
{
    for (size_t b = 0; b <= table->mask; b++)
        table->head[b] = -1;
    for (int32_t v = 0; v < count; v++) {
        same[v] = lowest_vertex_near(table, v);
        if (same[v] != v)
            continue;
        double home[3];
        for (int k = 0; k < 3; k++)
            home[k] = merge_cell_of(table, (double)table->positions[3 * (size_t)v + (size_t)k]);
        size_t bucket = bucket_of(table, home);
        table->next[v] = table->head[bucket];
        table->head[bucket] = v;
    }
}

sinew_status sinew_same_vertices(const sinew_allocator *allocator, const sinew_real *positions, int32_t count,
                                 double distance, int32_t *same, sinew_error *error)
{
    size_t buckets = 16;
    while (buckets < (size_t)count)
        buckets *= 2;
    near_table table = {
        .positions = positions, .distance = distance, .width = CELL_WIDTH * distance, .mask = buckets - 1};
    table.head = sinew_allocate(allocator, buckets, sizeof *table.head);
    table.next = sinew_allocate(allocator, (size_t)count, sizeof *table.next);
    sinew_status status = SINEW_OK;
    if (table.head && table.next)
        fill_same(&table, count, same);
    else
        status = sinew_fail_memory(error, "vertices that are there twice");
    sinew_release(allocator, table.head);
    sinew_release(allocator, table.next);
    return status;
}
