/* SPDX-License-Identifier: MIT
 *
 * elimination.c: elimination tree, postorder and column counts of L. See elimination.h.
 */
#include "linear/symbolic/elimination.h"

/* ---- Construction of the elimination tree ---------------------------------------------------- */

/* Builds the elimination tree (Liu 1986): row j of A joins the trees of its entries k < j under j. `ancestor` [count]
 * holds shortcuts towards the current roots: every path that row j follows ends at j afterwards. */
static void elimination_find_tree(sinew_elimination *e, int32_t *ancestor)
{
    const sinew_graph *g = e->graph;
    for (int32_t j = 0; j < g->count; j++) {
        const size_t v = (size_t)e->order[j];
        e->parent[j] = ancestor[j] = -1;
        for (size_t at = g->first[v]; at < g->first[v + 1]; at++)
            for (int32_t k = e->index[g->other[at]], next; k >= 0 && k < j; k = next) {
                next = ancestor[k];
                ancestor[k] = j;
                if (next < 0)
                    e->parent[k] = j;
            }
    }
}

/* ---- Postorder of the elimination tree ------------------------------------------------------- */

/* Sorts the columns of the Cholesky factor by their number of entries, then by index (counting sort), into `sorted`.
 * ends [count + 1] is work space. */
static void elimination_sort_columns(const sinew_elimination *e, int32_t *sorted, int32_t *ends)
{
    const int32_t count = e->graph->count;
    for (int32_t size = 0; size <= count; size++)
        ends[size] = 0;
    for (int32_t j = 0; j < count; j++)
        ends[e->entries[j]]++;
    for (int32_t size = 1; size <= count; size++)
        ends[size] += ends[size - 1];
    for (int32_t j = count - 1; j >= 0; j--)
        sorted[--ends[e->entries[j]]] = j;
}

/* Builds lists of siblings in the elimination tree: the first child of each column, and the next column with the same
 * parent. Siblings are in the order of `sorted`; NULL: ascending. Roots ascend. Returns the first root. */
static int32_t elimination_list_children(const sinew_elimination *e, const int32_t *sorted, int32_t *child,
                                         int32_t *next)
{
    const int32_t count = e->graph->count;
    int32_t root = -1;
    for (int32_t j = 0; j < count; j++)
        child[j] = -1;
    for (int32_t k = count - 1; k >= 0; k--) {
        const int32_t j = sorted ? sorted[k] : k, up = e->parent[j];
        if (up >= 0) {
            next[j] = child[up];
            child[up] = j;
        }
        if (e->parent[k] < 0) {
            next[k] = root;
            root = k;
        }
    }
    return root;
}

/* Postorder of the elimination tree: post[k] is its k-th column. child and next [count] are work space. */
static void elimination_find_postorder(const sinew_elimination *e, const int32_t *sorted, int32_t *post, int32_t *child,
                                       int32_t *next)
{
    const int32_t count = e->graph->count;
    int32_t j = elimination_list_children(e, sorted, child, next);
    for (int32_t k = 0; k < count;) {
        while (child[j] >= 0)
            j = child[j];
        post[k++] = j;
        while (next[j] < 0 && e->parent[j] >= 0) {
            j = e->parent[j];
            post[k++] = j;
        }
        j = next[j];
    }
}

/* ---- Column counts of L ---------------------------------------------------------------------- */

/* Work space of the column counts; all arrays are [count]. */
typedef struct count_work {
    int32_t *post;     /* [count] columns of the Cholesky factor in postorder */
    int32_t *first;    /* [count] postorder position of the first descendant of each column */
    int32_t *last;     /* [count] postorder position of the last column with an entry in each row; -1: none */
    int32_t *leaf;     /* [count] last leaf found of each row's subtree; -1: none */
    int32_t *ancestor; /* [count] disjoint sets: a column whose subtree is done points towards the set's root */
} count_work;

static int32_t count_find_root(int32_t *ancestor, int32_t j)
{
    int32_t root = j;
    while (ancestor[root] != root)
        root = ancestor[root];
    while (ancestor[j] != root) {
        const int32_t up = ancestor[j];
        ancestor[j] = root;
        j = up;
    }
    return root;
}

/* Initial weights of the column counts: leaves of the elimination tree start with 1 for their diagonal entry. */
static void column_counts_begin(sinew_elimination *e, const count_work *w)
{
    const int32_t count = e->graph->count;
    for (int32_t j = 0; j < count; j++) {
        w->first[j] = w->last[j] = w->leaf[j] = -1;
        w->ancestor[j] = j;
    }
    for (int32_t k = 0; k < count; k++) {
        const int32_t j = w->post[k], up = e->parent[j];
        e->entries[j] = w->first[j] < 0;
        if (w->first[j] < 0)
            w->first[j] = k;
        if (up >= 0 && w->first[up] < 0)
            w->first[up] = w->first[j];
    }
}

/* Adds the weights of the column counts (Gilbert, Ng and Peyton 1994, figure 3). The weights of a subtree sum up to its
 * root's column count: column j adds 1 for each row subtree of which it is a leaf; the least common ancestor of two
 * leaves subtracts the entries that both leaves would count. */
static void column_counts_add_weights(sinew_elimination *e, const count_work *w)
{
    const sinew_graph *g = e->graph;
    for (int32_t k = 0; k < g->count; k++) {
        const int32_t j = w->post[k];
        const size_t v = (size_t)e->order[j];
        if (e->parent[j] >= 0)
            e->entries[e->parent[j]]--;
        for (size_t at = g->first[v]; at < g->first[v + 1]; at++) {
            const int32_t i = e->index[g->other[at]];
            if (i < j)
                continue;
            if (w->first[j] > w->last[i]) {
                e->entries[j]++;
                if (w->leaf[i] >= 0)
                    e->entries[count_find_root(w->ancestor, w->leaf[i])]--;
                w->leaf[i] = j;
            }
            w->last[i] = k;
        }
        if (e->parent[j] >= 0)
            w->ancestor[j] = e->parent[j];
    }
}

static void elimination_count_columns(sinew_elimination *e, const count_work *w)
{
    column_counts_begin(e, w);
    column_counts_add_weights(e, w);
    for (int32_t j = 0; j < e->graph->count; j++)
        if (e->parent[j] >= 0)
            e->entries[e->parent[j]] += e->entries[j];
}

/* ---- Creation and postordering of an elimination --------------------------------------------- */

static void elimination_set_order(sinew_elimination *e, const int32_t *order)
{
    for (int32_t k = 0; k < e->graph->count; k++) {
        e->order[k] = order ? order[k] : k;
        e->index[e->order[k]] = k;
    }
}

bool sinew_elimination_create(sinew_elimination *e, const sinew_allocator *allocator, const sinew_graph *graph,
                              const int32_t *order)
{
    const size_t n = (size_t)graph->count;
    *e = (sinew_elimination){.allocator = *allocator, .graph = graph};
    e->order = sinew_allocate(allocator, n, sizeof *e->order);
    e->index = sinew_allocate(allocator, n, sizeof *e->index);
    e->parent = sinew_allocate(allocator, n, sizeof *e->parent);
    e->entries = sinew_allocate(allocator, n, sizeof *e->entries);
    int32_t *work = sinew_allocate(allocator, 5 * n, sizeof *work);
    const bool good = e->order && e->index && e->parent && e->entries && work;
    if (good) {
        const count_work w = {work, work + n, work + 2 * n, work + 3 * n, work + 4 * n};
        elimination_set_order(e, order);
        elimination_find_tree(e, w.ancestor);
        elimination_find_postorder(e, NULL, w.post, w.first, w.last);
        elimination_count_columns(e, &w);
    }
    sinew_release(allocator, work);
    return good;
}

void sinew_elimination_destroy(sinew_elimination *e)
{
    sinew_release(&e->allocator, e->order);
    sinew_release(&e->allocator, e->index);
    sinew_release(&e->allocator, e->parent);
    sinew_release(&e->allocator, e->entries);
    *e = (sinew_elimination){0};
}

/* Renumbers the columns: old[k] is the former index of column k; renumbered[j] becomes the new index of the former
 * column j. work [count]. */
static void elimination_renumber(sinew_elimination *e, const int32_t *old, int32_t *renumbered, int32_t *work)
{
    const int32_t count = e->graph->count;
    for (int32_t k = 0; k < count; k++)
        renumbered[old[k]] = k;
    for (int32_t k = 0; k < count; k++)
        work[k] = e->order[old[k]];
    elimination_set_order(e, work);
    for (int32_t k = 0; k < count; k++)
        work[k] = e->parent[old[k]] < 0 ? -1 : renumbered[e->parent[old[k]]];
    for (int32_t k = 0; k < count; k++)
        e->parent[k] = work[k];
    for (int32_t k = 0; k < count; k++)
        work[k] = e->entries[old[k]];
    for (int32_t k = 0; k < count; k++)
        e->entries[k] = work[k];
}

bool sinew_elimination_postorder(sinew_elimination *e)
{
    const size_t n = (size_t)e->graph->count;
    int32_t *work = sinew_allocate(&e->allocator, 4 * n + 1, sizeof *work);
    if (!work)
        return false;
    /* work has 4 n + 1 entries: `next` needs n + 1 */
    int32_t *post = work, *sorted = work + n, *child = work + 2 * n, *next = work + 3 * n;
    elimination_sort_columns(e, sorted, next);
    elimination_find_postorder(e, sorted, post, child, next);
    elimination_renumber(e, post, child, next);
    sinew_release(&e->allocator, work);
    return true;
}

double sinew_elimination_fill(const sinew_elimination *e)
{
    double fill = 0;
    for (int32_t k = 0; k < e->graph->count; k++)
        fill += e->entries[k];
    return fill;
}

double sinew_elimination_cost(const sinew_elimination *e)
{
    double cost = 0;
    for (int32_t k = 0; k < e->graph->count; k++)
        cost += (double)e->entries[k] * e->entries[k];
    return cost;
}
