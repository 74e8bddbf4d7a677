/* SPDX-License-Identifier: MIT
 *
 * supernodes.c: see supernodes.h.
 */
#include "linear/factor/supernodes.h"

/* Work space; arrays over panels have room for one panel a column. */
typedef struct layout {
    int32_t n, count;
    int32_t *parent;   /* [n] of a column in the elimination tree, -1 at roots */
    int32_t *ancestor; /* [n] short cuts while the tree is built; later panels of columns */
    int32_t *children; /* [n] of a column */
    int32_t *first;    /* [n + 1] first column of each panel */
    int32_t *up;       /* [n] parent of a panel, -1 at roots */
    int32_t *width;    /* [n] columns of a panel with all that were joined to it */
    int64_t *height;   /* [n] rows of a panel */
    double *zeros;     /* [n] zeros stored in a panel */
    int32_t *joined;   /* [n] the panel before that a panel was joined to, -1: none */
} layout;

static bool layout_create(layout *l, const sinew_allocator *a, size_t n)
{
    *l = (layout){.n = (int32_t)n};
    l->parent = sinew_allocate(a, n, sizeof *l->parent);
    l->ancestor = sinew_allocate(a, n, sizeof *l->ancestor);
    l->children = sinew_allocate_zero(a, n, sizeof *l->children);
    l->first = sinew_allocate(a, n + 1, sizeof *l->first);
    l->up = sinew_allocate(a, n, sizeof *l->up);
    l->width = sinew_allocate(a, n, sizeof *l->width);
    l->height = sinew_allocate(a, n, sizeof *l->height);
    l->zeros = sinew_allocate_zero(a, n, sizeof *l->zeros);
    l->joined = sinew_allocate(a, n, sizeof *l->joined);
    return l->parent && l->ancestor && l->children && l->first && l->up && l->width && l->height && l->zeros &&
           l->joined;
}

static void layout_destroy(layout *l, const sinew_allocator *a)
{
    void *arrays[] = {l->parent, l->ancestor, l->children, l->first, l->up, l->width, l->height, l->zeros, l->joined};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
}

/* The elimination tree (Liu 1986): column j is the parent of all whose subtrees row j reaches first. */
static void find_tree(layout *l, const cholmod_sparse *upper)
{
    const SuiteSparse_long *p = upper->p, *i = upper->i;
    for (int32_t j = 0; j < l->n; j++) {
        l->parent[j] = l->ancestor[j] = -1;
        for (SuiteSparse_long e = p[j]; e < p[j + 1]; e++)
            for (int32_t k = (int32_t)i[e], next; k >= 0 && k < j; k = next) {
                next = l->ancestor[k];
                l->ancestor[k] = j;
                if (next < 0)
                    l->parent[k] = j;
            }
    }
    for (int32_t j = 0; j < l->n; j++)
        if (l->parent[j] >= 0)
            l->children[l->parent[j]]++;
}

/* Columns that share their rows: each the only child of the next. */
static void find_runs(layout *l, const SuiteSparse_long *columns)
{
    for (int32_t j = 0; j < l->n; j++) {
        if (j == 0 || l->parent[j - 1] != j || columns[j - 1] != columns[j] + 1 || l->children[j] > 1)
            l->first[l->count++] = j;
        l->ancestor[j] = l->count - 1;
    }
    l->first[l->count] = l->n;
    for (int32_t k = 0; k < l->count; k++) {
        const int32_t up = l->parent[l->first[k + 1] - 1];
        l->up[k] = up < 0 ? -1 : l->ancestor[up];
        l->width[k] = l->first[k + 1] - l->first[k];
        l->height[k] = columns[l->first[k]];
        l->joined[k] = -1;
    }
}

/* Whether panel k may take in the one after it, its parent; the zeros that both would store. */
static bool may_join(const layout *l, int32_t k, const sinew_panel_rule *rule, double *zeros)
{
    const int32_t width = l->width[k] + l->width[k + 1];
    const double more = (double)l->width[k] * (double)(l->height[k + 1] + l->width[k] - l->height[k]);
    const double total = 0.5 * width * (width + 1.0) + (double)width * (double)(l->height[k + 1] - l->width[k + 1]);
    *zeros = l->zeros[k] + l->zeros[k + 1] + more;
    const double share = *zeros / total;
    return width <= rule->columns[0] || more == 0 || (width <= rule->columns[1] && share < rule->zeros[0]) ||
           (width <= rule->columns[2] && share < rule->zeros[1]) || share < rule->zeros[2];
}

static void join_panels(layout *l, const sinew_panel_rule *rule)
{
    for (int32_t k = l->count - 2; k >= 0; k--) {
        int32_t up = l->up[k];
        while (up >= 0 && l->joined[up] >= 0)
            up = l->joined[up];
        l->up[k] = up;
        double zeros;
        if (up != k + 1 || !may_join(l, k, rule, &zeros))
            continue;
        l->joined[k + 1] = k;
        l->up[k] = l->up[k + 1];
        l->zeros[k] = zeros;
        l->height[k] = l->width[k] + l->height[k + 1];
        l->width[k] += l->width[k + 1];
    }
}

/* Numbers what is left of the panels; ancestor gets the panel of each column, up its parent. */
static void number_panels(layout *l)
{
    int32_t count = 0;
    for (int32_t k = 0; k < l->count; k++) {
        if (l->joined[k] >= 0)
            continue;
        for (int32_t j = l->first[k]; j < l->first[k] + l->width[k]; j++)
            l->ancestor[j] = count;
        l->first[count] = l->first[k];
        l->width[count] = l->width[k];
        l->height[count++] = l->height[k];
    }
    l->count = count;
    l->first[count] = l->n;
    for (int32_t k = 0; k < count; k++) {
        const int32_t up = l->parent[l->first[k + 1] - 1];
        l->up[k] = up < 0 ? -1 : l->ancestor[up];
    }
}

/* Row i belongs to the panels of its entries and to all on the way from there to its own (Gilbert 1994). mark and end
 * over panels; rows come ascending by themselves. */
static void fill_rows(const layout *l, const cholmod_sparse *upper, sinew_panels *out, int32_t *mark, size_t *end)
{
    const SuiteSparse_long *p = upper->p, *i = upper->i;
    for (int32_t k = 0; k < l->count; k++) {
        mark[k] = -1;
        end[k] = out->row_first[k];
        for (int32_t j = l->first[k]; j < l->first[k + 1]; j++)
            out->rows[end[k]++] = j;
    }
    for (int32_t row = 0; row < l->n; row++) {
        const int32_t own = l->ancestor[row];
        for (SuiteSparse_long e = p[row]; e < p[row + 1]; e++)
            for (int32_t k = l->ancestor[i[e]]; k >= 0 && k < own && mark[k] != row; k = l->up[k]) {
                mark[k] = row;
                out->rows[end[k]++] = row;
            }
    }
}

static bool copy_layout(const layout *l, const cholmod_sparse *upper, sinew_panels *out, const sinew_allocator *a)
{
    const size_t count = (size_t)l->count;
    out->n = l->n;
    out->count = l->count;
    out->column = sinew_allocate(a, count + 1, sizeof *out->column);
    out->row_first = sinew_allocate(a, count + 1, sizeof *out->row_first);
    int32_t *mark = sinew_allocate(a, count, sizeof *mark);
    size_t *end = sinew_allocate(a, count, sizeof *end), total = 0;
    bool good = out->column && out->row_first && mark && end;
    for (size_t k = 0; good && k <= count; k++) {
        out->column[k] = l->first[k];
        out->row_first[k] = total;
        total += k < count ? (size_t)l->height[k] : 0;
    }
    if (good)
        out->rows = sinew_allocate(a, total, sizeof *out->rows);
    good = good && out->rows;
    if (good)
        fill_rows(l, upper, out, mark, end);
    sinew_release(a, mark);
    sinew_release(a, end);
    return good;
}

bool sinew_panels_create(sinew_panels *panels, const sinew_allocator *allocator, const sinew_panel_rule *rule,
                         const cholmod_sparse *upper, const SuiteSparse_long *columns)
{
    layout l;
    *panels = (sinew_panels){0};
    bool good = layout_create(&l, allocator, upper->nrow);
    if (good) {
        find_tree(&l, upper);
        find_runs(&l, columns);
        join_panels(&l, rule);
        number_panels(&l);
        good = copy_layout(&l, upper, panels, allocator);
    }
    layout_destroy(&l, allocator);
    return good;
}

void sinew_panels_destroy(sinew_panels *panels, const sinew_allocator *allocator)
{
    sinew_release(allocator, panels->column);
    sinew_release(allocator, panels->row_first);
    sinew_release(allocator, panels->rows);
    *panels = (sinew_panels){0};
}
