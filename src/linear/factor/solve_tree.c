/* SPDX-License-Identifier: MIT
 *
 * solve_tree.c: see solve_tree.h. Divides the elimination tree into subtrees and copies the factor's numbers subtree by
 * subtree.
 */
#include "linear/factor/solve_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* A subtree of the elimination tree with at most this fraction of L's entries becomes one unit of parallel work. */
#define SUBTREE_FRACTION 0.13

/* ---- Division of the supernodes into subtrees ------------------------------------------------ */

/* Work space for the division of the supernodes into subtrees, freed when the solve tree is built. */
typedef struct division {
    int32_t *parent;       /* [supernodes] parent supernode, which contains the first row below; -1 at roots */
    int32_t *subtree_of;   /* [supernodes] index of the solve tree's subtree that contains each supernode */
    int32_t *supernode_of; /* [n] index of the supernode that contains each column of the factor L */
    double *weight;        /* [supernodes] number of entries of the factor L in the supernode and its descendants */
    int32_t *children;     /* [supernodes] number of heavy children, above SUBTREE_FRACTION of all entries */
} division;

static bool division_create(division *d, const sinew_allocator *a, const sinew_supernodal *factor)
{
    const size_t supernodes = (size_t)factor->supernodes.count;
    d->parent = sinew_allocate(a, supernodes, sizeof *d->parent);
    d->subtree_of = sinew_allocate(a, supernodes, sizeof *d->subtree_of);
    d->supernode_of = sinew_allocate(a, (size_t)factor->supernodes.n, sizeof *d->supernode_of);
    d->weight = sinew_allocate(a, supernodes, sizeof *d->weight);
    d->children = sinew_allocate(a, supernodes, sizeof *d->children);
    return d->parent && d->subtree_of && d->supernode_of && d->weight && d->children;
}

static void division_destroy(division *d, const sinew_allocator *a)
{
    void *arrays[] = {d->parent, d->subtree_of, d->supernode_of, d->weight, d->children};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
}

static void find_supernode_tree(division *d, const sinew_supernodal *factor)
{
    const int32_t *super = factor->supernodes.column, *s = factor->supernodes.rows;
    const size_t *pi = factor->supernodes.row_first;
    const int32_t count = factor->supernodes.count;
    for (int32_t k = 0; k < count; k++) {
        d->weight[k] = (double)(pi[k + 1] - pi[k]) * (super[k + 1] - super[k]);
        for (int32_t j = super[k]; j < super[k + 1]; j++)
            d->supernode_of[j] = k;
    }
    for (int32_t k = 0; k < count; k++) {
        const size_t below = pi[k] + (size_t)(super[k + 1] - super[k]);
        d->parent[k] = below < pi[k + 1] ? d->supernode_of[s[below]] : -1;
        if (d->parent[k] >= 0)
            /* weight[k] includes all descendants by now: children precede their parents */
            d->weight[d->parent[k]] += d->weight[k];
    }
}

/* Light subtrees of the elimination tree become units of work. Above them, a supernode joins the unit of its only heavy
 * child if that child is the supernode before it; otherwise it starts a new unit. Returns the number of units. The
 * columns of a unit are contiguous because the order is a postorder. */
static int32_t divide_supernodes(division *d, int32_t count)
{
    double total = 0;
    int32_t subtrees = 0;
    for (int32_t k = 0; k < count; k++)
        total += d->parent[k] < 0 ? d->weight[k] : 0;
    for (int32_t k = 0; k < count; k++)
        d->children[k] = 0;
    for (int32_t k = 0; k < count; k++)
        if (d->parent[k] >= 0 && d->weight[k] > SUBTREE_FRACTION * total)
            d->children[d->parent[k]]++;
    for (int32_t k = count - 1; k >= 0; k--) {
        int32_t up = d->parent[k];
        bool light = d->weight[k] <= SUBTREE_FRACTION * total;
        bool up_light = up >= 0 && d->weight[up] <= SUBTREE_FRACTION * total;
        bool chain = up >= 0 && !light && d->children[up] == 1 && k == up - 1;
        d->subtree_of[k] = (light && up_light) || chain ? d->subtree_of[up] : subtrees++;
    }
    return subtrees;
}

/* ---- Subtrees and their levels --------------------------------------------------------------- */

/* Sets columns, supernodes and parent of each subtree. Supernodes are visited from the last to the first, so the first
 * visited supernode of a subtree is its root. */
static void find_subtree_extents(sinew_solve_tree *t, const sinew_supernodal *factor, const division *d)
{
    const int32_t *super = factor->supernodes.column;
    for (int32_t k = t->supernode_count - 1; k >= 0; k--) {
        sinew_solve_subtree *own = &t->subtrees[d->subtree_of[k]];
        if (own->supernode_count++ == 0) {
            own->last = super[k + 1];
            own->parent = d->parent[k] >= 0 ? d->subtree_of[d->parent[k]] : -1;
        }
        own->first = super[k];
        own->supernode_first = k;
    }
}

/* Level of a subtree = 1 + the highest level of its children, 0 for leaves. Children have higher indices than their
 * parents, so one pass suffices. */
static void find_subtree_levels(sinew_solve_tree *t)
{
    int32_t level_max = 0;
    for (int32_t p = t->subtree_count - 1; p >= 0; p--) {
        int32_t up = t->subtrees[p].parent;
        if (up >= 0 && t->subtrees[up].level <= t->subtrees[p].level)
            t->subtrees[up].level = t->subtrees[p].level + 1;
        level_max = t->subtrees[p].level > level_max ? t->subtrees[p].level : level_max;
    }
    t->level_count = level_max + 1;
}

static int compare_subtrees(const void *a, const void *b)
{
    const sinew_solve_subtree *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts the subtrees by level and renumbers parents and subtree_of. After the sort a subtree is identified by its first
 * supernode, whose subtree_of still holds the old index. renumber [subtree_count] is work space. */
static void sort_subtrees(sinew_solve_tree *t, division *d, int32_t *renumber)
{
    sinew_sort(t->subtrees, (size_t)t->subtree_count, sizeof *t->subtrees, compare_subtrees);
    for (int32_t p = 0; p < t->subtree_count; p++)
        renumber[d->subtree_of[t->subtrees[p].supernode_first]] = p;
    for (int32_t p = 0; p < t->subtree_count; p++)
        t->subtrees[p].parent = t->subtrees[p].parent < 0 ? -1 : renumber[t->subtrees[p].parent];
    for (int32_t k = 0; k < t->supernode_count; k++)
        d->subtree_of[k] = renumber[d->subtree_of[k]];
}

static bool index_levels(sinew_solve_tree *t)
{
    t->level_first = sinew_allocate_zero(&t->allocator, (size_t)t->level_count + 1, sizeof *t->level_first);
    for (int32_t p = 0; t->level_first && p < t->subtree_count; p++)
        t->level_first[t->subtrees[p].level + 1] = p + 1;
    return t->level_first;
}

/* ---- Rows of ancestors in a subtree's vector ------------------------------------------------- */

static int compare_int(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool allocate_vectors(const sinew_allocator *a, sinew_solve_subtree *own)
{
    const size_t size = 4 * ((size_t)(own->last - own->first) + (size_t)own->ancestor_count + 1);
    own->ancestors = sinew_allocate(a, (size_t)own->ancestor_count, sizeof *own->ancestors);
    own->ancestor_index = sinew_allocate(a, (size_t)own->ancestor_count, sizeof *own->ancestor_index);
    own->x = sinew_allocate_zero(a, size, sizeof *own->x);
    return own->ancestors && own->ancestor_index && own->x;
}

/* Counts (first pass), then lists (second pass) the rows of ancestors in which subtree p has entries. `seen` [n] stores
 * a mark of the subtree and pass that last visited each row. */
static bool find_ancestors(sinew_solve_tree *t, const sinew_supernodal *factor, int32_t p, int32_t *seen)
{
    const int32_t *super = factor->supernodes.column, *s = factor->supernodes.rows;
    const size_t *pi = factor->supernodes.row_first;
    sinew_solve_subtree *own = &t->subtrees[p];
    for (int pass = 0; pass < 2; pass++) {
        const int32_t mark = 2 * p + 1 + pass;
        own->ancestor_count = 0;
        for (int32_t k = own->supernode_first; k < own->supernode_first + own->supernode_count; k++)
            for (size_t i = pi[k] + (size_t)(super[k + 1] - super[k]); i < pi[k + 1]; i++) {
                if (s[i] < own->last || seen[s[i]] == mark)
                    continue;
                seen[s[i]] = mark;
                if (pass == 1)
                    own->ancestors[own->ancestor_count] = s[i];
                own->ancestor_count++;
            }
        if (pass == 0 && !allocate_vectors(&t->allocator, own))
            return false;
    }
    sinew_sort(own->ancestors, (size_t)own->ancestor_count, sizeof *own->ancestors, compare_int);
    return true;
}

/* Index of a matrix row (an own column or an ancestor's) in the work vector of the subtree. */
static int32_t local_row(const sinew_solve_subtree *own, int32_t row)
{
    if (row < own->last)
        return row - own->first;
    const int32_t *found = bsearch(&row, own->ancestors, (size_t)own->ancestor_count, sizeof row, compare_int);
    return own->last - own->first + (int32_t)(found - own->ancestors);
}

static bool find_all_ancestors(sinew_solve_tree *t, const sinew_supernodal *factor)
{
    int32_t *seen = sinew_allocate_zero(&t->allocator, (size_t)factor->supernodes.n, sizeof *seen);
    bool good = seen;
    for (int32_t p = 0; good && p < t->subtree_count; p++)
        good = find_ancestors(t, factor, p, seen);
    for (int32_t p = 0; good && p < t->subtree_count; p++) {
        const sinew_solve_subtree *own = &t->subtrees[p];
        for (int32_t i = 0; i < own->ancestor_count; i++)
            own->ancestor_index[i] = local_row(&t->subtrees[own->parent], own->ancestors[i]);
    }
    sinew_release(&t->allocator, seen);
    return good;
}

/* ---- Copy of the values of L ----------------------------------------------------------------- */

static size_t round4(size_t count)
{
    return (count + 3) / 4 * 4;
}

/* Copies the lower triangle of a supernode's diagonal block, SINEW_SUPERNODE_ROWS rows at a time: the columns before
 * these rows, then the triangle of these rows. Diagonal entries are inverted, so that solves multiply. L is stored by
 * columns of `height`. */
static void fill_diagonal_block(sinew_real *values, const double *L, size_t columns, size_t height)
{
    for (size_t r = 0; r < columns; r += SINEW_SUPERNODE_ROWS) {
        const size_t next = columns - r > SINEW_SUPERNODE_ROWS ? r + SINEW_SUPERNODE_ROWS : columns;
        for (size_t c = 0; c < r; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)L[c * height + i];
        for (size_t i = r; i < next; i++)
            for (size_t c = r; c <= i; c++)
                *values++ = (sinew_real)(i == c ? 1 / L[c * height + i] : L[c * height + i]);
    }
}

/* Copies the rows of a supernode below its diagonal block, SINEW_SUPERNODE_ROWS at a time, column by column, padded
 * with zero rows to a multiple of 4. */
static void fill_rows_below(sinew_real *values, const double *L, size_t columns, size_t height)
{
    const size_t below = height - columns, filled = round4(below);
    for (size_t r = 0; r < filled;) {
        const size_t next = filled - r >= SINEW_SUPERNODE_ROWS ? r + SINEW_SUPERNODE_ROWS : filled;
        for (size_t c = 0; c < columns; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)(i < below ? L[c * height + columns + i] : 0);
        r = next;
    }
}

/* Writes values and rows of supernode k into the arrays of the solve tree, from the indices `value` and `row` on. */
static void fill_supernode(sinew_solve_tree *t, const sinew_supernodal *factor, const sinew_solve_subtree *own,
                           int32_t k, size_t row, size_t value)
{
    const int32_t *super = factor->supernodes.column;
    const size_t *pi = factor->supernodes.row_first;
    const double *L = factor->values + factor->start[k];
    const size_t columns = (size_t)(super[k + 1] - super[k]), height = pi[k + 1] - pi[k];
    const size_t below = height - columns, filled = round4(below), triangle = round4(columns * (columns + 1) / 2);
    const int32_t *s = factor->supernodes.rows + pi[k] + columns;
    for (size_t r = 0; r < filled; r++)
        t->rows[row + r] = r < below ? local_row(own, s[r]) : own->last - own->first + own->ancestor_count;
    fill_diagonal_block(t->values + value, L, columns, height);
    fill_rows_below(t->values + value + triangle, L, columns, height);
    t->supernodes[k] = (sinew_supernode){.first = super[k] - own->first,
                                         .column_count = (int32_t)columns,
                                         .row_count = (int32_t)filled,
                                         .rows = t->rows + row,
                                         .diagonal = t->values + value,
                                         .below = t->values + value + triangle};
}

/* Counts rows and values of all supernodes; if `fill` is set, also writes them into the solve tree. */
static void lay_out_supernodes(sinew_solve_tree *t, const sinew_supernodal *factor, const division *d, bool fill)
{
    const int32_t *super = factor->supernodes.column;
    const size_t *pi = factor->supernodes.row_first;
    t->row_total = t->value_total = 0;
    for (int32_t k = 0; k < t->supernode_count; k++) {
        const size_t columns = (size_t)(super[k + 1] - super[k]);
        const size_t filled = round4(pi[k + 1] - pi[k] - columns);
        if (fill)
            fill_supernode(t, factor, &t->subtrees[d->subtree_of[k]], k, t->row_total, t->value_total);
        t->row_total += filled;
        t->value_total += round4(columns * (columns + 1) / 2) + filled * columns;
    }
}

static bool copy_factor(sinew_solve_tree *t, const sinew_supernodal *factor, const division *d)
{
    lay_out_supernodes(t, factor, d, false);
    t->rows = sinew_allocate(&t->allocator, t->row_total, sizeof *t->rows);
    t->values = sinew_allocate_zero(&t->allocator, t->value_total, sizeof *t->values);
    if (!t->rows || !t->values)
        return false;
    lay_out_supernodes(t, factor, d, true);
    return true;
}

void sinew_solve_tree_refill(sinew_solve_tree *t, const sinew_supernodal *factor)
{
    for (int32_t p = 0; p < t->subtree_count; p++) {
        const sinew_solve_subtree *own = &t->subtrees[p];
        for (int32_t k = own->supernode_first; k < own->supernode_first + own->supernode_count; k++)
            fill_supernode(t, factor, own, k, (size_t)(t->supernodes[k].rows - t->rows),
                           (size_t)(t->supernodes[k].diagonal - t->values));
    }
}

/* ---- Creation of the solve tree -------------------------------------------------------------- */

static bool build_subtrees(sinew_solve_tree *t, const sinew_supernodal *factor, division *d)
{
    find_supernode_tree(d, factor);
    t->subtree_count = divide_supernodes(d, t->supernode_count);
    t->subtrees = sinew_allocate_zero(&t->allocator, (size_t)t->subtree_count, sizeof *t->subtrees);
    int32_t *renumber = sinew_allocate(&t->allocator, (size_t)t->subtree_count, sizeof *renumber);
    const bool good = t->subtrees && renumber;
    if (good) {
        find_subtree_extents(t, factor, d);
        find_subtree_levels(t);
        sort_subtrees(t, d, renumber);
    }
    sinew_release(&t->allocator, renumber);
    return good && index_levels(t) && find_all_ancestors(t, factor);
}

bool sinew_solve_tree_create(sinew_solve_tree *t, const sinew_allocator *allocator, const sinew_supernodal *factor)
{
    division d = {0};
    *t = (sinew_solve_tree){.allocator = *allocator, .supernode_count = factor->supernodes.count};
    t->supernodes = sinew_allocate(allocator, (size_t)t->supernode_count, sizeof *t->supernodes);
    const bool good = division_create(&d, allocator, factor) && t->supernodes && build_subtrees(t, factor, &d) &&
                      copy_factor(t, factor, &d);
    division_destroy(&d, allocator);
    return good;
}

void sinew_solve_tree_destroy(sinew_solve_tree *t)
{
    const sinew_allocator a = t->allocator;
    for (int32_t p = 0; t->subtrees && p < t->subtree_count; p++) {
        sinew_release(&a, t->subtrees[p].ancestors);
        sinew_release(&a, t->subtrees[p].ancestor_index);
        sinew_release(&a, t->subtrees[p].x);
    }
    void *arrays[] = {t->supernodes, t->subtrees, t->level_first, t->rows, t->values};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&a, arrays[i]);
    *t = (sinew_solve_tree){.allocator = a};
}

int64_t sinew_solve_tree_memory(const sinew_solve_tree *t)
{
    size_t bytes = t->value_total * sizeof *t->values + t->row_total * sizeof *t->rows;
    bytes += (size_t)t->supernode_count * sizeof *t->supernodes;
    for (int32_t p = 0; p < t->subtree_count; p++) {
        const sinew_solve_subtree *own = &t->subtrees[p];
        const size_t ancestors = (size_t)own->ancestor_count, columns = (size_t)(own->last - own->first);
        bytes += sizeof *own + 2 * ancestors * sizeof *own->ancestors + 4 * (columns + ancestors + 1) * sizeof *own->x;
    }
    return (int64_t)bytes;
}
