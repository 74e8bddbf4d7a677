/* SPDX-License-Identifier: MIT
 *
 * supernodes.c: finds and merges the supernodes of L (supernodes.h). Widths and heights count vertices of the graph;
 * only `zeros` counts scalar entries.
 */
#include "linear/symbolic/supernodes.h"

#include "base/stop.h"

/* Work space; arrays over supernodes have a capacity of one supernode per vertex. */
typedef struct partition {
    const sinew_elimination *elimination;
    int32_t n, count, block;
    int32_t *children; /* [n] number of children of each column in the elimination tree */
    int32_t *owner;    /* [n] index of the supernode that contains each column of the Cholesky factor */
    int32_t *first;    /* [n + 1] first column of each supernode */
    int32_t *parent;   /* [n] parent of each supernode; -1 at roots */
    int32_t *width;    /* [n] number of columns of each supernode, including merged ones */
    int32_t *height;   /* [n] number of rows of each supernode */
    double *zeros;     /* [n] number of explicit zeros stored in each supernode */
    int32_t *merged;   /* [n] preceding supernode that each supernode was merged into; -1: none */
} partition;

static bool partition_create(partition *p, const sinew_allocator *a, const sinew_elimination *e, int32_t block)
{
    const size_t n = (size_t)e->graph->count;
    *p = (partition){.elimination = e, .n = e->graph->count, .block = block};
    p->children = sinew_allocate_zero(a, n, sizeof *p->children);
    p->owner = sinew_allocate(a, n, sizeof *p->owner);
    p->first = sinew_allocate(a, n + 1, sizeof *p->first);
    p->parent = sinew_allocate(a, n, sizeof *p->parent);
    p->width = sinew_allocate(a, n, sizeof *p->width);
    p->height = sinew_allocate(a, n, sizeof *p->height);
    p->zeros = sinew_allocate_zero(a, n, sizeof *p->zeros);
    p->merged = sinew_allocate(a, n, sizeof *p->merged);
    return p->children && p->owner && p->first && p->parent && p->width && p->height && p->zeros && p->merged;
}

static void partition_destroy(partition *p, const sinew_allocator *a)
{
    void *arrays[] = {p->children, p->owner, p->first, p->parent, p->width, p->height, p->zeros, p->merged};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
}

/* Finds the parent of each supernode: the supernode that contains the parent of its last column. */
static void partition_find_parents(partition *p)
{
    for (int32_t k = 0; k < p->count; k++) {
        const int32_t up = p->elimination->parent[p->first[k + 1] - 1];
        p->parent[k] = up < 0 ? -1 : p->owner[up];
    }
}

static void partition_find_fundamental(partition *p)
{
    const int32_t *parent = p->elimination->parent, *entries = p->elimination->entries;
    for (int32_t j = 0; j < p->n; j++)
        if (parent[j] >= 0)
            p->children[parent[j]]++;
    for (int32_t j = 0; j < p->n; j++) {
        if (j == 0 || parent[j - 1] != j || entries[j - 1] != entries[j] + 1 || p->children[j] > 1)
            p->first[p->count++] = j;
        p->owner[j] = p->count - 1;
    }
    p->first[p->count] = p->n;
    partition_find_parents(p);
    for (int32_t k = 0; k < p->count; k++) {
        p->width[k] = p->first[k + 1] - p->first[k];
        p->height[k] = entries[p->first[k]];
        p->merged[k] = -1;
    }
}

/* True if supernode k may be merged with its parent k + 1; *zeros: number of explicit zeros that the merged supernode
 * would store. */
static bool partition_may_merge(const partition *p, int32_t k, const sinew_amalgamation *rule, double *zeros)
{
    const int32_t block = p->block, width = block * (p->width[k] + p->width[k + 1]);
    /* rows of supernode k + 1 that are not rows of k */
    const double missing = (double)block * (p->height[k + 1] + p->width[k] - p->height[k]);
    const double more = (double)block * p->width[k] * missing;
    const double below = (double)block * (p->height[k + 1] - p->width[k + 1]);
    const double total = 0.5 * width * (width + 1.0) + (double)width * below;
    *zeros = p->zeros[k] + p->zeros[k + 1] + more;
    const double fraction = *zeros / total;
    return width <= rule->columns[0] || more == 0 || (width <= rule->columns[1] && fraction < rule->zeros[0]) ||
           (width <= rule->columns[2] && fraction < rule->zeros[1]) || fraction < rule->zeros[2];
}

/* Merges supernodes with their parents, from the roots down, so the parent may already be a merged supernode. */
static void partition_merge(partition *p, const sinew_amalgamation *rule)
{
    for (int32_t k = p->count - 2; k >= 0; k--) {
        int32_t up = p->parent[k];
        while (up >= 0 && p->merged[up] >= 0)
            up = p->merged[up];
        p->parent[k] = up;
        double zeros;
        if (up != k + 1 || !partition_may_merge(p, k, rule, &zeros))
            continue;
        p->merged[k + 1] = k;
        p->parent[k] = p->parent[k + 1];
        p->zeros[k] = zeros;
        p->height[k] = p->width[k] + p->height[k + 1];
        p->width[k] += p->width[k + 1];
    }
}

/* Renumbers the supernodes that remain after merging. */
static void partition_renumber(partition *p)
{
    int32_t count = 0;
    for (int32_t k = 0; k < p->count; k++) {
        if (p->merged[k] >= 0)
            continue;
        for (int32_t j = p->first[k]; j < p->first[k] + p->width[k]; j++)
            p->owner[j] = count;
        p->first[count] = p->first[k];
        p->width[count] = p->width[k];
        p->height[count++] = p->height[k];
    }
    p->count = count;
    p->first[count] = p->n;
    partition_find_parents(p);
}

/* ---- Rows of the supernodes ------------------------------------------------------------------ */

/* Row i belongs to the supernodes of its entries and to all supernodes on the paths to its own: its row subtree (Liu
 * 1990, section 3.3). Rows are visited in ascending order, so the rows of each supernode ascend. mark and end are work
 * space over supernodes. Returns false if the step is interrupted.
 */
static bool partition_fill_rows(const partition *p, sinew_supernodes *out, int32_t *mark, size_t *end)
{
    const sinew_elimination *e = p->elimination;
    const sinew_graph *g = e->graph;
    for (int32_t k = 0; k < p->count; k++) {
        mark[k] = -1;
        end[k] = out->row_first[k];
        for (int32_t j = out->column[k]; j < out->column[k + 1]; j++)
            out->rows[end[k]++] = j;
    }
    for (int32_t row = 0; row < p->n && !sinew_stop_came_in(row); row++) {
        const int32_t own = p->owner[row];
        const size_t v = (size_t)e->order[row];
        for (size_t at = g->first[v]; at < g->first[v + 1]; at++) {
            const int32_t j = e->index[g->other[at]];
            for (int32_t k = j < row ? p->owner[j] : own; k >= 0 && k < own && mark[k] != row; k = p->parent[k]) {
                mark[k] = row;
                for (int32_t s = 0; s < p->block; s++)
                    out->rows[end[k]++] = p->block * row + s;
            }
        }
    }
    return !sinew_stop_came();
}

static bool partition_copy(const partition *p, sinew_supernodes *out, const sinew_allocator *a)
{
    const size_t count = (size_t)p->count;
    out->n = p->block * p->n;
    out->count = p->count;
    out->column = sinew_allocate(a, count + 1, sizeof *out->column);
    out->row_first = sinew_allocate(a, count + 1, sizeof *out->row_first);
    int32_t *mark = sinew_allocate(a, count, sizeof *mark);
    size_t *end = sinew_allocate(a, count, sizeof *end), total = 0;
    bool good = out->column && out->row_first && mark && end;
    for (size_t k = 0; good && k <= count; k++) {
        out->column[k] = p->block * p->first[k];
        out->row_first[k] = total;
        total += k < count ? (size_t)p->block * (size_t)p->height[k] : 0;
    }
    if (good)
        out->rows = sinew_allocate(a, total, sizeof *out->rows);
    good = good && out->rows;
    good = good && partition_fill_rows(p, out, mark, end);
    sinew_release(a, mark);
    sinew_release(a, end);
    return good;
}

/* ---- Creation of the list of supernodes ------------------------------------------------------ */

bool sinew_supernodes_create(sinew_supernodes *supernodes, const sinew_allocator *allocator,
                             const sinew_amalgamation *rule, const sinew_elimination *elimination, int32_t block)
{
    partition p;
    *supernodes = (sinew_supernodes){0};
    bool good = partition_create(&p, allocator, elimination, block);
    if (good) {
        partition_find_fundamental(&p);
        partition_merge(&p, rule);
        partition_renumber(&p);
        good = partition_copy(&p, supernodes, allocator);
    }
    partition_destroy(&p, allocator);
    return good;
}

void sinew_supernodes_destroy(sinew_supernodes *supernodes, const sinew_allocator *allocator)
{
    sinew_release(allocator, supernodes->column);
    sinew_release(allocator, supernodes->row_first);
    sinew_release(allocator, supernodes->rows);
    *supernodes = (sinew_supernodes){0};
}
