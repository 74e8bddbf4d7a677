/* SPDX-License-Identifier: MIT
 *
 * solve_tree.c: the elimination tree is divided into parts, and the factor's numbers are copied part by part. See
 * solve_tree.h.
 */
#include "linear/factor/solve_tree.h"

#include <stdlib.h>
#include <string.h>

/* A subtree of the elimination tree lighter than this share of the whole is one part. */
#define PART_SHARE 0.13

/* ---- Which panel belongs to which part ------------------------------------------------------- */

/* Work space of the division, gone when the tree is made. */
typedef struct division {
    int32_t *parent;   /* [panels] panel that holds the first row below, -1 at roots */
    int32_t *part_of;  /* [panels] */
    int32_t *panel_of; /* [n] panel of a column */
    double *weight;    /* [panels] numbers in the panel and all below it in the tree */
    int32_t *children; /* [panels] heavy children */
} division;

static bool division_create(division *d, const sinew_allocator *a, const sinew_supernodal *factor)
{
    const size_t panels = (size_t)factor->panels.count;
    d->parent = sinew_allocate(a, panels, sizeof *d->parent);
    d->part_of = sinew_allocate(a, panels, sizeof *d->part_of);
    d->panel_of = sinew_allocate(a, (size_t)factor->panels.n, sizeof *d->panel_of);
    d->weight = sinew_allocate(a, panels, sizeof *d->weight);
    d->children = sinew_allocate(a, panels, sizeof *d->children);
    return d->parent && d->part_of && d->panel_of && d->weight && d->children;
}

static void division_destroy(division *d, const sinew_allocator *a)
{
    void *arrays[] = {d->parent, d->part_of, d->panel_of, d->weight, d->children};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
}

static void find_panel_tree(division *d, const sinew_supernodal *factor)
{
    const int32_t *super = factor->panels.column, *s = factor->panels.rows;
    const size_t *pi = factor->panels.row_first;
    const int32_t count = factor->panels.count;
    for (int32_t k = 0; k < count; k++) {
        d->weight[k] = (double)(pi[k + 1] - pi[k]) * (super[k + 1] - super[k]);
        for (int32_t j = super[k]; j < super[k + 1]; j++)
            d->panel_of[j] = k;
    }
    for (int32_t k = 0; k < count; k++) {
        const size_t below = pi[k] + (size_t)(super[k + 1] - super[k]);
        d->parent[k] = below < pi[k + 1] ? d->panel_of[s[below]] : -1;
        if (d->parent[k] >= 0)
            d->weight[d->parent[k]] += d->weight[k]; /* children come first */
    }
}

/* Light subtrees become parts; above them, a panel joins the part of its one heavy child, or starts a part. Returns how
 * many parts there are. Own columns of a part are contiguous because the order is a postorder. */
static int32_t divide_panels(division *d, int32_t count)
{
    double total = 0;
    int32_t parts = 0;
    for (int32_t k = 0; k < count; k++)
        total += d->parent[k] < 0 ? d->weight[k] : 0;
    for (int32_t k = 0; k < count; k++)
        d->children[k] = 0;
    for (int32_t k = 0; k < count; k++)
        if (d->parent[k] >= 0 && d->weight[k] > PART_SHARE * total)
            d->children[d->parent[k]]++;
    for (int32_t k = count - 1; k >= 0; k--) {
        int32_t up = d->parent[k];
        bool light = d->weight[k] <= PART_SHARE * total;
        bool up_light = up >= 0 && d->weight[up] <= PART_SHARE * total;
        bool chain = up >= 0 && !light && d->children[up] == 1 && k == up - 1;
        d->part_of[k] = (light && up_light) || chain ? d->part_of[up] : parts++;
    }
    return parts;
}

/* ---- Parts and levels ------------------------------------------------------------------------ */

/* Columns, panels and parent of each part, from the last panel to the first: a part's last panel is its root. */
static void find_extents(sinew_part_tree *t, const sinew_supernodal *factor, const division *d)
{
    const int32_t *super = factor->panels.column;
    for (int32_t k = t->panel_count - 1; k >= 0; k--) {
        sinew_part *own = &t->parts[d->part_of[k]];
        if (own->panel_count++ == 0) {
            own->last = super[k + 1];
            own->parent = d->parent[k] >= 0 ? d->part_of[d->parent[k]] : -1;
        }
        own->first = super[k];
        own->panel_first = k;
    }
}

/* A level above all children's. Children have higher numbers than their parents, so one sweep down the numbers does. */
static void find_levels(sinew_part_tree *t)
{
    int32_t level_most = 0;
    for (int32_t p = t->part_count - 1; p >= 0; p--) {
        int32_t up = t->parts[p].parent;
        if (up >= 0 && t->parts[up].level <= t->parts[p].level)
            t->parts[up].level = t->parts[p].level + 1;
        level_most = t->parts[p].level > level_most ? t->parts[p].level : level_most;
    }
    t->level_count = level_most + 1;
}

static int compare_parts(const void *a, const void *b)
{
    const sinew_part *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Brings the parts into their final order and lets parents and part_of follow. Panels find a part again after the sort
 * by its first panel, whose part_of still holds the old number. renumber [part_count] is work space. */
static void sort_parts(sinew_part_tree *t, division *d, int32_t *renumber)
{
    qsort(t->parts, (size_t)t->part_count, sizeof *t->parts, compare_parts);
    for (int32_t p = 0; p < t->part_count; p++)
        renumber[d->part_of[t->parts[p].panel_first]] = p;
    for (int32_t p = 0; p < t->part_count; p++)
        t->parts[p].parent = t->parts[p].parent < 0 ? -1 : renumber[t->parts[p].parent];
    for (int32_t k = 0; k < t->panel_count; k++)
        d->part_of[k] = renumber[d->part_of[k]];
}

static bool index_levels(sinew_part_tree *t)
{
    t->level_first = sinew_allocate_zero(&t->allocator, (size_t)t->level_count + 1, sizeof *t->level_first);
    for (int32_t p = 0; t->level_first && p < t->part_count; p++)
        t->level_first[t->parts[p].level + 1] = p + 1;
    return t->level_first;
}

/* ---- Rows owed to ancestors ------------------------------------------------------------------ */

static int compare_int(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool allocate_vectors(const sinew_allocator *a, sinew_part *own)
{
    const size_t size = 4 * ((size_t)(own->last - own->first) + (size_t)own->owed_count + 1);
    own->owed = sinew_allocate(a, (size_t)own->owed_count, sizeof *own->owed);
    own->owed_place = sinew_allocate(a, (size_t)own->owed_count, sizeof *own->owed_place);
    own->x = sinew_allocate_zero(a, size, sizeof *own->x);
    return own->owed && own->owed_place && own->x;
}

/* Counts, then lists, the ancestors' rows that a part touches. `seen` [n] holds a mark of part and pass where it
 * does. */
static bool find_owed(sinew_part_tree *t, const sinew_supernodal *factor, int32_t p, int32_t *seen)
{
    const int32_t *super = factor->panels.column, *s = factor->panels.rows;
    const size_t *pi = factor->panels.row_first;
    sinew_part *own = &t->parts[p];
    for (int pass = 0; pass < 2; pass++) {
        const int32_t mark = 2 * p + 1 + pass;
        own->owed_count = 0;
        for (int32_t k = own->panel_first; k < own->panel_first + own->panel_count; k++)
            for (size_t i = pi[k] + (size_t)(super[k + 1] - super[k]); i < pi[k + 1]; i++) {
                if (s[i] < own->last || seen[s[i]] == mark)
                    continue;
                seen[s[i]] = mark;
                if (pass == 1)
                    own->owed[own->owed_count] = s[i];
                own->owed_count++;
            }
        if (pass == 0 && !allocate_vectors(&t->allocator, own))
            return false;
    }
    qsort(own->owed, (size_t)own->owed_count, sizeof *own->owed, compare_int);
    return true;
}

/* Where a row (an own column or an ancestor's) is in the part's vector. */
static int32_t local_row(const sinew_part *own, int32_t row)
{
    if (row < own->last)
        return row - own->first;
    const int32_t *found = bsearch(&row, own->owed, (size_t)own->owed_count, sizeof row, compare_int);
    return own->last - own->first + (int32_t)(found - own->owed);
}

static bool find_all_owed(sinew_part_tree *t, const sinew_supernodal *factor)
{
    int32_t *seen = sinew_allocate_zero(&t->allocator, (size_t)factor->panels.n, sizeof *seen);
    bool good = seen;
    for (int32_t p = 0; good && p < t->part_count; p++)
        good = find_owed(t, factor, p, seen);
    for (int32_t p = 0; good && p < t->part_count; p++) {
        const sinew_part *own = &t->parts[p];
        for (int32_t i = 0; i < own->owed_count; i++)
            own->owed_place[i] = local_row(&t->parts[own->parent], own->owed[i]);
    }
    sinew_release(&t->allocator, seen);
    return good;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static size_t round4(size_t count)
{
    return (count + 3) / 4 * 4;
}

/* The triangle of a panel, SINEW_PANEL_ROWS rows at a time: the columns before them, then their own triangle, whose
 * diagonal is inverted so that solves multiply. L is stored by columns of `height`. */
static void fill_diagonal(sinew_real *values, const double *L, size_t columns, size_t height)
{
    for (size_t r = 0; r < columns; r += SINEW_PANEL_ROWS) {
        const size_t next = columns - r > SINEW_PANEL_ROWS ? r + SINEW_PANEL_ROWS : columns;
        for (size_t c = 0; c < r; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)L[c * height + i];
        for (size_t i = r; i < next; i++)
            for (size_t c = r; c <= i; c++)
                *values++ = (sinew_real)(i == c ? 1 / L[c * height + i] : L[c * height + i]);
    }
}

/* The rows below the triangle, SINEW_PANEL_ROWS at a time, column by column; zeros in the fillers. */
static void fill_below(sinew_real *values, const double *L, size_t columns, size_t height)
{
    const size_t below = height - columns, filled = round4(below);
    for (size_t r = 0; r < filled;) {
        const size_t next = filled - r >= SINEW_PANEL_ROWS ? r + SINEW_PANEL_ROWS : filled;
        for (size_t c = 0; c < columns; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)(i < below ? L[c * height + columns + i] : 0);
        r = next;
    }
}

/* Numbers and rows of one panel, from row `row` and value `value` of the tree's arrays on. */
static void fill_panel(sinew_part_tree *t, const sinew_supernodal *factor, const sinew_part *own, int32_t k, size_t row,
                       size_t value)
{
    const int32_t *super = factor->panels.column;
    const size_t *pi = factor->panels.row_first;
    const double *L = factor->values + factor->start[k];
    const size_t columns = (size_t)(super[k + 1] - super[k]), height = pi[k + 1] - pi[k];
    const size_t below = height - columns, filled = round4(below), triangle = round4(columns * (columns + 1) / 2);
    const int32_t *s = factor->panels.rows + pi[k] + columns;
    for (size_t r = 0; r < filled; r++)
        t->rows[row + r] = r < below ? local_row(own, s[r]) : own->last - own->first + own->owed_count;
    fill_diagonal(t->values + value, L, columns, height);
    fill_below(t->values + value + triangle, L, columns, height);
    t->panels[k] = (sinew_panel){.first = super[k] - own->first,
                                 .column_count = (int32_t)columns,
                                 .row_count = (int32_t)filled,
                                 .rows = t->rows + row,
                                 .diagonal = t->values + value,
                                 .below = t->values + value + triangle};
}

/* Rows and values of all panels; `fill`: also writes them. */
static void lay_out_panels(sinew_part_tree *t, const sinew_supernodal *factor, const division *d, bool fill)
{
    const int32_t *super = factor->panels.column;
    const size_t *pi = factor->panels.row_first;
    t->row_total = t->value_total = 0;
    for (int32_t k = 0; k < t->panel_count; k++) {
        const size_t columns = (size_t)(super[k + 1] - super[k]);
        const size_t filled = round4(pi[k + 1] - pi[k] - columns);
        if (fill)
            fill_panel(t, factor, &t->parts[d->part_of[k]], k, t->row_total, t->value_total);
        t->row_total += filled;
        t->value_total += round4(columns * (columns + 1) / 2) + filled * columns;
    }
}

static bool copy_factor(sinew_part_tree *t, const sinew_supernodal *factor, const division *d)
{
    lay_out_panels(t, factor, d, false);
    t->rows = sinew_allocate(&t->allocator, t->row_total, sizeof *t->rows);
    t->values = sinew_allocate_zero(&t->allocator, t->value_total, sizeof *t->values);
    if (!t->rows || !t->values)
        return false;
    lay_out_panels(t, factor, d, true);
    return true;
}

void sinew_part_tree_refill(sinew_part_tree *t, const sinew_supernodal *factor)
{
    for (int32_t p = 0; p < t->part_count; p++) {
        const sinew_part *own = &t->parts[p];
        for (int32_t k = own->panel_first; k < own->panel_first + own->panel_count; k++)
            fill_panel(t, factor, own, k, (size_t)(t->panels[k].rows - t->rows),
                       (size_t)(t->panels[k].diagonal - t->values));
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool build_parts(sinew_part_tree *t, const sinew_supernodal *factor, division *d)
{
    find_panel_tree(d, factor);
    t->part_count = divide_panels(d, t->panel_count);
    t->parts = sinew_allocate_zero(&t->allocator, (size_t)t->part_count, sizeof *t->parts);
    int32_t *renumber = sinew_allocate(&t->allocator, (size_t)t->part_count, sizeof *renumber);
    const bool good = t->parts && renumber;
    if (good) {
        find_extents(t, factor, d);
        find_levels(t);
        sort_parts(t, d, renumber);
    }
    sinew_release(&t->allocator, renumber);
    return good && index_levels(t) && find_all_owed(t, factor);
}

bool sinew_part_tree_create(sinew_part_tree *t, const sinew_allocator *allocator, const sinew_supernodal *factor)
{
    division d = {0};
    *t = (sinew_part_tree){.allocator = *allocator, .panel_count = factor->panels.count};
    t->panels = sinew_allocate(allocator, (size_t)t->panel_count, sizeof *t->panels);
    const bool good =
        division_create(&d, allocator, factor) && t->panels && build_parts(t, factor, &d) && copy_factor(t, factor, &d);
    division_destroy(&d, allocator);
    return good;
}

void sinew_part_tree_destroy(sinew_part_tree *t)
{
    const sinew_allocator a = t->allocator;
    for (int32_t p = 0; t->parts && p < t->part_count; p++) {
        sinew_release(&a, t->parts[p].owed);
        sinew_release(&a, t->parts[p].owed_place);
        sinew_release(&a, t->parts[p].x);
    }
    void *arrays[] = {t->panels, t->parts, t->level_first, t->rows, t->values};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&a, arrays[i]);
    *t = (sinew_part_tree){.allocator = a};
}

int64_t sinew_part_tree_memory(const sinew_part_tree *t)
{
    size_t bytes = t->value_total * sizeof *t->values + t->row_total * sizeof *t->rows;
    bytes += (size_t)t->panel_count * sizeof *t->panels;
    for (int32_t p = 0; p < t->part_count; p++) {
        const sinew_part *own = &t->parts[p];
        const size_t owed = (size_t)own->owed_count, columns = (size_t)(own->last - own->first);
        bytes += sizeof *own + 2 * owed * sizeof *own->owed + 4 * (columns + owed + 1) * sizeof *own->x;
    }
    return (int64_t)bytes;
}
