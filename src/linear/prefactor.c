/* SPDX-License-Identifier: MIT
 *
 * prefactor.c: from a factor by panels (supernodal.h) to a tree of parts, and the solves over it. See prefactor.h.
 */
#include "linear/prefactor.h"

#include <stdlib.h>
#include <string.h>

#include "base/phases.h"
#include "linear/ordering.h"
#include "linear/supernodal.h"

/* A subtree of the elimination tree lighter than this share of the whole is one part. */
#define PART_SHARE    0.13
#define PARALLEL_ROWS 4096 /* below, one thread solves */

/* A part: some panels, next to each other in elimination order, and the vector they work on: own columns, then the rows
 * of its ancestors that it touches, then one row for fillers. */
typedef struct part {
    int32_t first, last; /* own columns, in elimination order */
    int32_t panel_first, panel_count;
    int32_t parent, level; /* level 0: no children */
    int32_t owed_count;
    int32_t *owed;       /* [owed_count] rows of ancestors, ascending */
    int32_t *owed_place; /* [owed_count] where they are in the parent's vector */
    sinew_real *x;       /* [last - first + owed_count + 1][4] */
} part;

/* Kept for factorisations of new values: P S P^T as a view of the arrays below it, and L. */
typedef struct kept_factor {
    sinew_supernodal factor;
    cholmod_sparse lower;
    SuiteSparse_long *column, *row; /* [n + 1], [entries] */
    double *value;                  /* [entries] */
    size_t *source;                 /* [entries] the entry of S that each one is */
} kept_factor;

struct sinew_prefactor {
    sinew_allocator allocator;
    const sinew_panel_kernels *kernels;
    int32_t thread_count, n;
    int32_t *order; /* [n] the matrix row that is eliminated k-th */
    int32_t panel_count, part_count, level_count;
    sinew_panel *panels;
    part *parts;          /* sorted by level, then by first column */
    int32_t *level_first; /* [level_count + 1] */
    int32_t *rows;        /* of all panels, local to their parts */
    sinew_real *values;   /* of all panels */
    size_t row_total, value_total;
    kept_factor *kept; /* NULL where S never changes */
};

/* ---- The factor ------------------------------------------------------------------------------ */

static cholmod_sparse *copy_matrix(int32_t n, const int64_t *column, const int32_t *row, const double *value,
                                   cholmod_common *common)
{
    cholmod_sparse *matrix =
        cholmod_l_allocate_sparse((size_t)n, (size_t)n, (size_t)column[n], 1, 1, -1, CHOLMOD_REAL, common);
    if (!matrix)
        return NULL;
    SuiteSparse_long *p = matrix->p, *i = matrix->i;
    for (int32_t j = 0; j <= n; j++)
        p[j] = column[j];
    for (int64_t k = 0; k < column[n]; k++)
        i[k] = row[k];
    memcpy(matrix->x, value, (size_t)column[n] * sizeof *value);
    return matrix;
}

/* Few zeros are stored: each one costs time in every solve. */
static const sinew_panel_rule panel_rule = {{4, 16, 48}, {0.2, 0.05, 0.02}};

/* A = P S P^T, its panels and its factor; the order goes to f->order. */
static sinew_status factorise(sinew_prefactor *f, cholmod_sparse *matrix, const sinew_real *points,
                              const sinew_dense_kernels *dense, cholmod_common *common, sinew_supernodal *factor,
                              sinew_error *error)
{
    common->supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_factor *analysis = sinew_analyse(&f->allocator, matrix, points, common);
    cholmod_sparse *upper = analysis ? cholmod_l_ptranspose(matrix, 1, analysis->Perm, NULL, 0, common) : NULL;
    cholmod_sparse *lower = upper ? cholmod_l_transpose(upper, 1, common) : NULL;
    sinew_status status = SINEW_OK;
    if (!lower || !sinew_supernodal_create(factor, &f->allocator, dense, &panel_rule, upper, analysis->ColCount))
        status = sinew_fail_memory(error, "the prefactored matrix");
    else if (sinew_supernodal_factorise(factor, lower, 0) >= 0)
        status = sinew_fail(error, SINEW_ERROR_NUMERIC, "the system matrix is not positive definite");
    for (int32_t k = 0; status == SINEW_OK && k < f->n; k++)
        f->order[k] = (int32_t)((const SuiteSparse_long *)analysis->Perm)[k];
    cholmod_l_free_sparse(&lower, common);
    cholmod_l_free_sparse(&upper, common);
    cholmod_l_free_factor(&analysis, common);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Work space of the cut: per panel its parent and part, per part what it becomes. */
typedef struct cut {
    int32_t *parent;   /* [panels] panel that holds the first row below, -1 at roots */
    int32_t *part_of;  /* [panels] */
    int32_t *panel_of; /* [n] panel of a column */
    double *weight;    /* [panels] numbers in the panel and all below it in the tree */
    int32_t *children; /* [panels] heavy children */
} cut;

static void cut_release(const sinew_allocator *a, cut *c)
{
    sinew_release(a, c->parent);
    sinew_release(a, c->part_of);
    sinew_release(a, c->panel_of);
    sinew_release(a, c->weight);
    sinew_release(a, c->children);
}

static void panel_tree(const sinew_supernodal *factor, cut *c)
{
    const int32_t *super = factor->panels.column, *s = factor->panels.rows;
    const size_t *pi = factor->panels.row_first;
    const int32_t count = factor->panels.count;
    for (int32_t k = 0; k < count; k++) {
        c->weight[k] = (double)(pi[k + 1] - pi[k]) * (super[k + 1] - super[k]);
        for (int32_t j = super[k]; j < super[k + 1]; j++)
            c->panel_of[j] = k;
    }
    for (int32_t k = 0; k < count; k++) {
        const size_t below = pi[k] + (size_t)(super[k + 1] - super[k]);
        c->parent[k] = below < pi[k + 1] ? c->panel_of[s[below]] : -1;
        if (c->parent[k] >= 0)
            c->weight[c->parent[k]] += c->weight[k]; /* children come first */
    }
}

/* Light subtrees become parts; above them, a panel joins the part of its one heavy child, or starts a part. Returns how
 * many there are. Own columns of a part are contiguous because the order is a postorder. */
static int32_t cut_tree(const sinew_supernodal *factor, cut *c)
{
    const int32_t count = factor->panels.count;
    double total = 0;
    int32_t parts = 0;
    for (int32_t k = 0; k < count; k++)
        total += c->parent[k] < 0 ? c->weight[k] : 0;
    for (int32_t k = 0; k < count; k++)
        c->children[k] = 0;
    for (int32_t k = 0; k < count; k++)
        if (c->parent[k] >= 0 && c->weight[k] > PART_SHARE * total)
            c->children[c->parent[k]]++;
    for (int32_t k = count - 1; k >= 0; k--) {
        int32_t up = c->parent[k];
        bool light = c->weight[k] <= PART_SHARE * total;
        bool up_light = up >= 0 && c->weight[up] <= PART_SHARE * total;
        bool chain = up >= 0 && !light && c->children[up] == 1 && k == up - 1;
        c->part_of[k] = (light && up_light) || chain ? c->part_of[up] : parts++;
    }
    return parts;
}

/* ---- Build ----------------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Columns, panels and parents of the parts; then the levels. c->part_of is renumbered with the sort. */
static void describe_parts(sinew_prefactor *f, const sinew_supernodal *factor, cut *c, int32_t *renumber)
{
    const int32_t *super = factor->panels.column;
    for (int32_t p = 0; p < f->part_count; p++)
        f->parts[p] = (part){.first = INT32_MAX, .panel_first = INT32_MAX, .parent = -1};
    for (int32_t k = f->panel_count - 1; k >= 0; k--) {
        part *own = &f->parts[c->part_of[k]];
        if (own->panel_count++ == 0) {
            own->last = super[k + 1];
            own->parent = c->parent[k] >= 0 ? c->part_of[c->parent[k]] : -1;
        }
        own->first = super[k];
        own->panel_first = k;
    }
    /* Children have higher numbers than their parents, so one sweep down the numbers finds the levels. */
    int32_t level_most = 0;
    for (int32_t p = f->part_count - 1; p >= 0; p--) {
        int32_t up = f->parts[p].parent;
        if (up >= 0 && f->parts[up].level <= f->parts[p].level)
            f->parts[up].level = f->parts[p].level + 1;
        level_most = f->parts[p].level > level_most ? f->parts[p].level : level_most;
    }
    f->level_count = level_most + 1;
    for (int32_t p = 0; p < f->part_count; p++)
        f->parts[p].owed_count = p; /* the old number, to follow it through the sort */
    qsort(f->parts, (size_t)f->part_count, sizeof *f->parts, compare_parts);
    for (int32_t p = 0; p < f->part_count; p++)
        renumber[f->parts[p].owed_count] = p;
    for (int32_t p = 0; p < f->part_count; p++) {
        f->parts[p].owed_count = 0;
        f->parts[p].parent = f->parts[p].parent < 0 ? -1 : renumber[f->parts[p].parent];
    }
    for (int32_t k = 0; k < f->panel_count; k++)
        c->part_of[k] = renumber[c->part_of[k]];
}

static int compare_int(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The ancestors' rows that a part touches. `seen` [n] holds part number + 1 where it does. */
static bool find_owed(sinew_prefactor *f, const sinew_supernodal *factor, int32_t p, int32_t *seen)
{
    const int32_t *super = factor->panels.column, *s = factor->panels.rows;
    const size_t *pi = factor->panels.row_first;
    part *own = &f->parts[p];
    for (int pass = 0; pass < 2; pass++) {
        own->owed_count = 0;
        for (int32_t k = own->panel_first; k < own->panel_first + own->panel_count; k++)
            for (size_t i = pi[k] + (size_t)(super[k + 1] - super[k]); i < pi[k + 1]; i++) {
                int32_t mark = 2 * p + 1 + pass;
                if (s[i] < own->last || seen[s[i]] == mark)
                    continue;
                seen[s[i]] = mark;
                if (pass == 1)
                    own->owed[own->owed_count] = s[i];
                own->owed_count++;
            }
        if (pass == 0) {
            own->owed = sinew_allocate(&f->allocator, (size_t)own->owed_count, sizeof *own->owed);
            own->owed_place = sinew_allocate(&f->allocator, (size_t)own->owed_count, sizeof *own->owed_place);
            size_t size = 4 * ((size_t)(own->last - own->first) + (size_t)own->owed_count + 1);
            own->x = sinew_allocate_zero(&f->allocator, size, sizeof *own->x);
            if (!own->owed || !own->owed_place || !own->x)
                return false;
        }
    }
    qsort(own->owed, (size_t)own->owed_count, sizeof *own->owed, compare_int);
    return true;
}

/* Where a row (an own column or an ancestor's) is in the part's vector. */
static int32_t local_row(const part *own, int32_t row)
{
    if (row < own->last)
        return row - own->first;
    const int32_t *found = bsearch(&row, own->owed, (size_t)own->owed_count, sizeof row, compare_int);
    return own->last - own->first + (int32_t)(found - own->owed);
}

static size_t round4(size_t count)
{
    return (count + 3) / 4 * 4;
}

/* Copies one supernode's numbers in the order that the solves read them. */
static void fill_panel(sinew_prefactor *f, const sinew_supernodal *factor, const part *own, int32_t k, int32_t *rows,
                       sinew_real *values)
{
    const int32_t *super = factor->panels.column, *s = factor->panels.rows;
    const size_t *pi = factor->panels.row_first;
    const double *L = factor->values + factor->start[k];
    const size_t columns = (size_t)(super[k + 1] - super[k]), height = pi[k + 1] - pi[k];
    const size_t below = height - columns, filled = round4(below);
    sinew_panel *panel = &f->panels[k];
    *panel = (sinew_panel){.first = super[k] - own->first,
                           .column_count = (int32_t)columns,
                           .row_count = (int32_t)filled,
                           .rows = rows,
                           .diagonal = values,
                           .below = values + round4(columns * (columns + 1) / 2)};
    for (size_t r = 0; r < columns; r += SINEW_PANEL_ROWS) {
        const size_t next = columns - r > SINEW_PANEL_ROWS ? r + SINEW_PANEL_ROWS : columns;
        for (size_t c = 0; c < r; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)L[c * height + i];
        for (size_t i = r; i < next; i++)
            for (size_t c = r; c <= i; c++)
                *values++ = (sinew_real)(i == c ? 1 / L[c * height + i] : L[c * height + i]);
    }
    values = f->values + (panel->below - f->values);
    for (size_t r = 0; r < filled; r++)
        rows[r] = r < below ? local_row(own, s[pi[k] + columns + r]) : own->last - own->first + own->owed_count;
    for (size_t r = 0; r < filled;) {
        const size_t next = filled - r >= SINEW_PANEL_ROWS ? r + SINEW_PANEL_ROWS : filled;
        for (size_t c = 0; c < columns; c++)
            for (size_t i = r; i < next; i++)
                *values++ = (sinew_real)(i < below ? L[c * height + columns + i] : 0);
        r = next;
    }
}

static bool fill_panels(sinew_prefactor *f, const sinew_supernodal *factor, const cut *c)
{
    const int32_t *super = factor->panels.column;
    const size_t *pi = factor->panels.row_first;
    f->row_total = f->value_total = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t rows = 0, values = 0;
        for (int32_t k = 0; k < f->panel_count; k++) {
            size_t columns = (size_t)(super[k + 1] - super[k]);
            size_t filled = round4(pi[k + 1] - pi[k] - columns);
            if (pass == 1)
                fill_panel(f, factor, &f->parts[c->part_of[k]], k, f->rows + rows, f->values + values);
            rows += filled;
            values += round4(columns * (columns + 1) / 2) + filled * columns;
        }
        if (pass == 0) {
            f->row_total = rows;
            f->value_total = values;
            f->rows = sinew_allocate(&f->allocator, rows, sizeof *f->rows);
            f->values = sinew_allocate_zero(&f->allocator, values, sizeof *f->values);
            if (!f->rows || !f->values)
                return false;
        }
    }
    return true;
}

/* New numbers where the old ones are. */
static void refill_panels(sinew_prefactor *f, const sinew_supernodal *factor)
{
    for (int32_t p = 0; p < f->part_count; p++) {
        const part *own = &f->parts[p];
        for (int32_t k = own->panel_first; k < own->panel_first + own->panel_count; k++)
            fill_panel(f, factor, own, k, f->rows + (f->panels[k].rows - f->rows),
                       f->values + (f->panels[k].diagonal - f->values));
    }
}

static bool build_parts(sinew_prefactor *f, const sinew_supernodal *factor, cut *c)
{
    panel_tree(factor, c);
    f->part_count = cut_tree(factor, c);
    f->parts = sinew_allocate_zero(&f->allocator, (size_t)f->part_count, sizeof *f->parts);
    int32_t *work =
        sinew_allocate_zero(&f->allocator, (size_t)(f->part_count > f->n ? f->part_count : f->n), sizeof *work);
    bool good = f->parts && work;
    if (good) {
        describe_parts(f, factor, c, work);
        memset(work, 0, (size_t)f->n * sizeof *work);
    }
    for (int32_t p = 0; good && p < f->part_count; p++)
        good = find_owed(f, factor, p, work);
    for (int32_t p = 0; good && p < f->part_count; p++)
        for (int32_t i = 0; i < f->parts[p].owed_count; i++)
            f->parts[p].owed_place[i] = local_row(&f->parts[f->parts[p].parent], f->parts[p].owed[i]);
    if (good)
        f->level_first = sinew_allocate_zero(&f->allocator, (size_t)f->level_count + 1, sizeof *f->level_first);
    good = good && f->level_first;
    for (int32_t p = 0; good && p < f->part_count; p++)
        f->level_first[f->parts[p].level + 1] = p + 1;
    sinew_release(&f->allocator, work);
    return good && fill_panels(f, factor, c);
}

static bool build(sinew_prefactor *f, const sinew_supernodal *factor)
{
    const sinew_allocator *a = &f->allocator;
    cut c = {0};
    f->panel_count = factor->panels.count;
    size_t panels = (size_t)f->panel_count;
    f->panels = sinew_allocate(a, panels, sizeof *f->panels);
    c.parent = sinew_allocate(a, panels, sizeof *c.parent);
    c.part_of = sinew_allocate(a, panels, sizeof *c.part_of);
    c.panel_of = sinew_allocate(a, (size_t)f->n, sizeof *c.panel_of);
    c.weight = sinew_allocate(a, panels, sizeof *c.weight);
    c.children = sinew_allocate(a, panels, sizeof *c.children);
    bool good = f->panels && c.parent && c.part_of && c.panel_of && c.weight && c.children;
    good = good && build_parts(f, factor, &c);
    cut_release(a, &c);
    return good;
}

/* ---- Factorising again ----------------------------------------------------------------------- */

/* The permutation in `f->order` takes entry k of the matrix to where it is in lower: found by permuting the numbers of
 * the entries, which doubles hold exactly. */
static bool keep_pattern(sinew_prefactor *f, cholmod_sparse *matrix, cholmod_common *common)
{
    kept_factor *kept = f->kept;
    SuiteSparse_long *order = cholmod_l_malloc((size_t)f->n, sizeof *order, common);
    const size_t entries = (size_t)((SuiteSparse_long *)matrix->p)[f->n];
    for (int32_t k = 0; order && k < f->n; k++)
        order[k] = f->order[k];
    for (size_t k = 0; k < entries; k++)
        ((double *)matrix->x)[k] = (double)k;
    cholmod_sparse *upper = order ? cholmod_l_ptranspose(matrix, 1, order, NULL, 0, common) : NULL;
    cholmod_sparse *lower = upper ? cholmod_l_transpose(upper, 1, common) : NULL;
    kept->column = sinew_allocate(&f->allocator, (size_t)f->n + 1, sizeof *kept->column);
    kept->row = sinew_allocate(&f->allocator, entries, sizeof *kept->row);
    kept->value = sinew_allocate(&f->allocator, entries, sizeof *kept->value);
    kept->source = sinew_allocate(&f->allocator, entries, sizeof *kept->source);
    const bool good = lower && kept->column && kept->row && kept->value && kept->source;
    if (good) {
        memcpy(kept->column, lower->p, ((size_t)f->n + 1) * sizeof *kept->column);
        memcpy(kept->row, lower->i, entries * sizeof *kept->row);
        for (size_t k = 0; k < entries; k++)
            kept->source[k] = (size_t)((double *)lower->x)[k];
        kept->lower = *lower;
        kept->lower.p = kept->column;
        kept->lower.i = kept->row;
        kept->lower.x = kept->value;
        kept->lower.nzmax = entries;
    }
    cholmod_l_free_sparse(&lower, common);
    cholmod_l_free_sparse(&upper, common);
    cholmod_l_free((size_t)f->n, sizeof *order, order, common);
    return good;
}

bool sinew_prefactor_refactor(sinew_prefactor *f, const double *value)
{
    kept_factor *kept = f->kept;
    for (SuiteSparse_long k = 0; k < kept->column[f->n]; k++)
        kept->value[k] = value[kept->source[k]];
    if (sinew_supernodal_factorise(&kept->factor, &kept->lower, 0) >= 0)
        return false;
    refill_panels(f, &kept->factor);
    return true;
}

static void drop_kept(const sinew_allocator *allocator, kept_factor *kept)
{
    if (!kept)
        return;
    sinew_supernodal_destroy(&kept->factor);
    void *arrays[] = {kept->column, kept->row, kept->value, kept->source, kept};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
}

/* ---- Create ---------------------------------------------------------------------------------- */

static sinew_status make(sinew_prefactor *f, cholmod_sparse *matrix, const sinew_real *points,
                         const sinew_dense_kernels *dense, cholmod_common *common, bool keep, sinew_error *error)
{
    sinew_supernodal once = {.allocator = f->allocator};
    f->order = sinew_allocate(&f->allocator, (size_t)f->n, sizeof *f->order);
    f->kept = keep ? sinew_allocate_zero(&f->allocator, 1, sizeof *f->kept) : NULL;
    if (!f->order || !matrix || (keep && !f->kept))
        return sinew_fail_memory(error, "the prefactored matrix");
    sinew_supernodal *factor = keep ? &f->kept->factor : &once;
    factor->allocator = f->allocator;
    sinew_status status = factorise(f, matrix, points, dense, common, factor, error);
    if (status == SINEW_OK && (!build(f, factor) || (keep && !keep_pattern(f, matrix, common))))
        status = sinew_fail_memory(error, "the prefactored matrix");
    sinew_supernodal_destroy(&once);
    return status;
}

static sinew_prefactor *create(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                               int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                               const double *value, const sinew_real *points, bool keep, sinew_error *error)
{
    sinew_prefactor *f = sinew_allocate_zero(allocator, 1, sizeof *f);
    if (!f) {
        sinew_fail_memory(error, "the prefactored matrix");
        return NULL;
    }
    f->allocator = *allocator;
    f->kernels = kernels->panels;
    f->thread_count = thread_count;
    f->n = n;
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    cholmod_sparse *matrix = copy_matrix(n, column, row, value, &common);
    const sinew_status status = make(f, matrix, points, kernels->dense, &common, keep, error);
    cholmod_l_free_sparse(&matrix, &common);
    cholmod_l_finish(&common);
    if (status == SINEW_OK)
        return f;
    sinew_prefactor_destroy(f);
    return NULL;
}

sinew_prefactor *sinew_prefactor_create(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                        int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                        const double *value, const sinew_real *points, sinew_error *error)
{
    return create(allocator, kernels, thread_count, n, column, row, value, points, false, error);
}

sinew_prefactor *sinew_prefactor_create_kept(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                             int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                             const double *value, const sinew_real *points, sinew_error *error)
{
    return create(allocator, kernels, thread_count, n, column, row, value, points, true, error);
}

void sinew_prefactor_destroy(sinew_prefactor *f)
{
    if (!f)
        return;
    const sinew_allocator a = f->allocator;
    for (int32_t p = 0; f->parts && p < f->part_count; p++) {
        sinew_release(&a, f->parts[p].owed);
        sinew_release(&a, f->parts[p].owed_place);
        sinew_release(&a, f->parts[p].x);
    }
    drop_kept(&a, f->kept);
    void *arrays[] = {f->order, f->panels, f->parts, f->level_first, f->rows, f->values, f};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&a, arrays[i]);
}

/* ---- Solve ----------------------------------------------------------------------------------- */

/* Own rows of b come in; what the children owe is added in their order; L^-1. */
static void part_forward(const sinew_prefactor *f, int32_t p, const int32_t *place, const sinew_real *b)
{
    const part *own = &f->parts[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(own->x + 4 * k, b + 4 * (size_t)(place ? place[row] : row), 4 * sizeof *b);
    }
    memset(own->x + 4 * columns, 0, 4 * ((size_t)own->owed_count + 1) * sizeof *own->x);
    for (int32_t child = 0; own->level > 0 && child < f->level_first[own->level]; child++) {
        const part *below = &f->parts[child];
        const sinew_real *from = below->x + 4 * (size_t)(below->last - below->first);
        for (int32_t i = 0; below->parent == p && i < below->owed_count; i++)
            for (size_t c = 0; c < 4; c++)
                own->x[4 * (size_t)below->owed_place[i] + c] += from[4 * (size_t)i + c];
    }
    f->kernels->forward(f->panels + own->panel_first, own->panel_count, own->x);
}

/* The ancestors' rows come from the parent, which is done; L^-T; own rows go out. */
static void part_backward(const sinew_prefactor *f, int32_t p, const int32_t *place, sinew_real *x)
{
    const part *own = &f->parts[p];
    const size_t columns = (size_t)(own->last - own->first);
    for (int32_t i = 0; i < own->owed_count; i++)
        memcpy(own->x + 4 * (columns + (size_t)i), f->parts[own->parent].x + 4 * (size_t)own->owed_place[i],
               4 * sizeof *x);
    memset(own->x + 4 * (columns + (size_t)own->owed_count), 0, 4 * sizeof *x);
    f->kernels->backward(f->panels + own->panel_first, own->panel_count, own->x);
    for (size_t k = 0; k < columns; k++) {
        int32_t row = f->order[(size_t)own->first + k];
        memcpy(x + 4 * (size_t)(place ? place[row] : row), own->x + 4 * k, 4 * sizeof *x);
    }
}

/* Up the levels of the tree and down again. */
typedef struct solve_pass {
    sinew_prefactor *f;
    const int32_t *place;
    const sinew_real *b;
    sinew_real *x;
} solve_pass;

static int32_t phase_level(const sinew_prefactor *f, int32_t phase)
{
    return phase < f->level_count ? phase : 2 * f->level_count - 1 - phase;
}

static int32_t count_parts(const void *context, int32_t phase)
{
    const sinew_prefactor *f = ((const solve_pass *)context)->f;
    const int32_t level = phase_level(f, phase);
    return f->level_first[level + 1] - f->level_first[level];
}

static void run_part(const void *context, int32_t phase, int32_t piece)
{
    const solve_pass *pass = context;
    const int32_t p = pass->f->level_first[phase_level(pass->f, phase)] + piece;
    if (phase < pass->f->level_count)
        part_forward(pass->f, p, pass->place, pass->b);
    else
        part_backward(pass->f, p, pass->place, pass->x);
}

void sinew_prefactor_solve(sinew_prefactor *f, const int32_t *place, const sinew_real *b, sinew_real *x)
{
    const solve_pass pass = {f, place, b, x};
    const sinew_phases work = {2 * f->level_count, count_parts, run_part, &pass};
    sinew_phases_run(&work, f->n >= PARALLEL_ROWS ? f->thread_count : 1);
}

int64_t sinew_prefactor_size(const sinew_prefactor *f)
{
    return (int64_t)f->value_total;
}

int64_t sinew_prefactor_memory(const sinew_prefactor *f)
{
    int64_t bytes = (int64_t)(f->value_total * sizeof *f->values + f->row_total * sizeof *f->rows);
    bytes += (int64_t)(sizeof *f + (size_t)f->n * sizeof *f->order + (size_t)f->panel_count * sizeof *f->panels);
    if (f->kept)
        bytes += sinew_supernodal_size(&f->kept->factor) * (int64_t)sizeof(double) +
                 f->kept->column[f->n] * (int64_t)(sizeof *f->kept->row + sizeof *f->kept->value + sizeof(size_t));
    for (int32_t p = 0; p < f->part_count; p++) {
        const part *own = &f->parts[p];
        size_t owed = (size_t)own->owed_count;
        bytes += (int64_t)(sizeof *own + 2 * owed * sizeof *own->owed +
                           4 * ((size_t)(own->last - own->first) + owed + 1) * sizeof *own->x);
    }
    return bytes;
}
