/* SPDX-License-Identifier: MIT
 *
 * lattice.c: builds a body-centred cubic lattice around the surface, and finds the tets of the lattice that the surface
 * intersects.
 *
 * A tet joins the centres of two cells that share a face and the ends of one edge of that face. There are twelve
 * congruent tets per cell. Two edges have the length of a cell and four have sqrt(3)/2 of it; quality 0.9295 (6 sqrt(2)
 * volume / rms edge^3). Tet 4 (3 p + d) + e lies across the face above cell p along axis d, at the face's edge e.
 *
 * The lattice is centred on the surface's box and shifted by less than a ten-thousandth of a cell along each axis, so
 * that surfaces with round coordinates do not pass through its points.
 *
 * The winding number of a closed surface changes only across the surface. It is computed at the corners of intersected
 * tets and copied along x from there. Open surfaces need it at all points.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "tetfill/fill.h"

enum {
    POINTS_AT_ONCE = 1 << 15
};

/* ---- Indices of lattice points and tets ---------------------------------------------------------- */

static int64_t lattice_stride(const fill_lattice *l, int axis)
{
    return axis == 0 ? 1 : axis == 1 ? l->n[0] + 1 : (l->n[0] + 1) * (l->n[1] + 1);
}

void sinew_fill_point(const fill_lattice *l, int64_t point, double x[3])
{
    const int64_t corner = point / 2, row = l->n[0] + 1, sheet = row * (l->n[1] + 1);
    const int64_t at[3] = {corner % row, corner % sheet / row, corner / sheet};
    for (int c = 0; c < 3; c++)
        x[c] = l->origin[c] + l->cell * ((double)at[c] + (point % 2 ? 0.5 : 0));
}

void sinew_fill_corners(const fill_lattice *l, uint64_t tet, int64_t points[4])
{
    const int64_t p = (int64_t)(tet / 12);
    const int d = (int)(tet % 12 / 4), e = (int)(tet % 4);
    const int64_t up = lattice_stride(l, d), u = lattice_stride(l, (d + 1) % 3), v = lattice_stride(l, (d + 2) % 3);
    const int64_t around[5] = {0, u, u + v, v, 0};
    points[0] = 2 * p + 1;
    points[1] = 2 * (p + up) + 1;
    points[2] = 2 * (p + up + around[e]);
    points[3] = 2 * (p + up + around[e + 1]);
}

static sinew_status place_lattice(fill *f)
{
    fill_lattice *l = &f->lattice;
    const double *box = f->surface.box;
    double longest = 0, points = 2;
    for (int c = 0; c < 3; c++)
        longest = fmax(longest, box[3 + c] - box[c]);
    l->cell = longest / f->def->cells;
    f->report.cell = l->cell;
    for (int c = 0; c < 3; c++) {
        static const double aside[3] = {0.31e-4, 0.57e-4, 0.83e-4};
        const double cells = fmax(1, ceil((box[3 + c] - box[c]) / l->cell - 1e-6)) + 2;
        l->n[c] = (int64_t)cells;
        l->origin[c] = (box[c] + box[3 + c]) / 2 - (cells / 2 + aside[c]) * l->cell;
        points *= cells + 1;
    }
    if (points > INT32_MAX)
        return sinew_fail(f->error, SINEW_ERROR_DATA,
                          "%d cells make a lattice of %.3g points, more than the %d that 32-bit numbers reach; use "
                          "fewer cells",
                          f->def->cells, points, INT32_MAX);
    l->corners = (l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1);
    return SINEW_OK;
}

/* Estimate of the peak memory of filling in bytes: lattice points, tets inside and tets along the surface. */
static double memory_needed(const fill *f)
{
    const fill_lattice *l = &f->lattice;
    const double a = l->cell, around = (double)l->n[0] * (double)l->n[1] * (double)l->n[2];
    const double inside = 12 * fmin(around, fabs(f->surface.volume) / (a * a * a));
    const double along = fmin(12 * around, 30 * f->surface.area / (a * a));
    return 32.0 * (double)l->corners + 350 * (inside + along) + 64.0 * f->surface.count;
}

static sinew_status check_memory(const fill *f)
{
    const double needed = memory_needed(f), there = sinew_memory_available();
    if (needed <= there)
        return SINEW_OK;
    return sinew_fail(f->error, SINEW_ERROR_MEMORY,
                      "%d cells ask for about %.3g MB of memory, and there are %.3g MB; use fewer cells", f->def->cells,
                      needed / 1e6, there / 1e6);
}

/* ---- Tets that the surface intersects ------------------------------------------------------------ */

/* One triangle of the surface with its bounding box and plane. */
typedef struct slab {
    double x[3][3];
    double box[6];
    double normal[3], offset; /* unit normal of the triangle's plane and the plane's offset from the origin, in m */
} slab;

static void slab_of(const fill_surface *s, int32_t t, slab *b)
{
    double e[2][3];
    for (int i = 0; i < 3; i++)
        for (size_t c = 0; c < 3; c++)
            b->x[i][c] = (double)s->positions[3 * (size_t)s->triangles[3 * (size_t)t + (size_t)i] + c];
    for (int c = 0; c < 3; c++) {
        b->box[c] = fmin(b->x[0][c], fmin(b->x[1][c], b->x[2][c]));
        b->box[3 + c] = fmax(b->x[0][c], fmax(b->x[1][c], b->x[2][c]));
        e[0][c] = b->x[1][c] - b->x[0][c];
        e[1][c] = b->x[2][c] - b->x[0][c];
    }
    for (int c = 0; c < 3; c++) {
        const int u = (c + 1) % 3, v = (c + 2) % 3;
        b->normal[c] = e[0][u] * e[1][v] - e[0][v] * e[1][u];
    }
    const double length = sqrt(b->normal[0] * b->normal[0] + b->normal[1] * b->normal[1] + b->normal[2] * b->normal[2]);
    for (int c = 0; c < 3; c++)
        b->normal[c] = length > 0 ? b->normal[c] / length : 0;
    b->offset = b->normal[0] * b->x[0][0] + b->normal[1] * b->x[0][1] + b->normal[2] * b->x[0][2];
}

static double height_above(const double normal[3], double offset, const double x[3])
{
    return vec3_dot(normal, x) - offset;
}

/* Whether all points lie on one side of a plane, farther than `slack` (m) from it. */
static bool all_on_one_side(const double normal[3], double offset, const double (*x)[3], int count, double slack)
{
    bool over = true, under = true;
    for (int i = 0; i < count; i++) {
        const double height = height_above(normal, offset, x[i]);
        over = over && height > slack;
        under = under && height < -slack;
    }
    return over || under;
}

/* Whether a triangle lies outside the plane of a face of a tet, farther than `slack` (m). */
static bool outside_of_face(const double tet[4][3], int face, const slab *b, double slack)
{
    const double *p = tet[sinew_tet_faces[face][0]], *q = tet[sinew_tet_faces[face][1]],
                 *r = tet[sinew_tet_faces[face][2]];
    double normal[3];
    for (int c = 0; c < 3; c++) {
        const int u = (c + 1) % 3, v = (c + 2) % 3;
        normal[c] = (q[u] - p[u]) * (r[v] - p[v]) - (q[v] - p[v]) * (r[u] - p[u]);
    }
    const double offset = vec3_dot(normal, p);
    const double size = vec3_norm(normal);
    bool out = true;
    for (int i = 0; i < 3; i++)
        out = out && height_above(normal, offset, b->x[i]) > slack * size;
    return out;
}

/* Whether a triangle may intersect a tet. The test rejects only tets that one of a few planes separates from the
 * triangle, so some near misses pass. */
static bool triangle_may_intersect(const fill_lattice *l, uint64_t number, const slab *b)
{
    const double slack = 1e-7 * l->cell;
    int64_t points[4];
    double tet[4][3];
    sinew_fill_corners(l, number, points);
    for (int i = 0; i < 4; i++)
        sinew_fill_point(l, points[i], tet[i]);
    for (int c = 0; c < 3; c++) {
        const double low = fmin(fmin(tet[0][c], tet[1][c]), fmin(tet[2][c], tet[3][c]));
        const double high = fmax(fmax(tet[0][c], tet[1][c]), fmax(tet[2][c], tet[3][c]));
        if (b->box[c] > high + slack || b->box[3 + c] < low - slack)
            return false;
    }
    if (all_on_one_side(b->normal, b->offset, (const double(*)[3])tet, 4, slack))
        return false;
    for (int face = 0; face < 4; face++)
        if (outside_of_face((const double(*)[3])tet, face, b, slack))
            return false;
    return true;
}

/* Finds the lattice tets that triangle t may intersect and returns their number. `to` receives pairs (tet, triangle)
 * unless NULL. */
static int64_t find_tets_of_triangle(const fill *f, int32_t t, sinew_pair *to)
{
    const fill_lattice *l = &f->lattice;
    int64_t low[3], high[3], count = 0;
    slab b;
    slab_of(&f->surface, t, &b);
    for (int c = 0; c < 3; c++) {
        low[c] = (int64_t)floor((b.box[c] - l->origin[c]) / l->cell - 0.5) - 1;
        high[c] = (int64_t)ceil((b.box[3 + c] - l->origin[c]) / l->cell + 0.5);
        low[c] = low[c] < 0 ? 0 : low[c];
        high[c] = high[c] >= l->n[c] ? l->n[c] - 1 : high[c];
    }
    for (int64_t k = low[2]; k <= high[2]; k++)
        for (int64_t j = low[1]; j <= high[1]; j++)
            for (int64_t i = low[0]; i <= high[0]; i++) {
                const int64_t at[3] = {i, j, k}, p = i + j * lattice_stride(l, 1) + k * lattice_stride(l, 2);
                double centre[3];
                sinew_fill_point(l, 2 * p + 1, centre);
                /* The tets above a cell are at most 1.5 cells from its centre. */
                if (fabs(height_above(b.normal, b.offset, centre)) > 1.6 * l->cell)
                    continue;
                for (int n = 0; n < 12; n++) {
                    const uint64_t tet = 12 * (uint64_t)p + (uint64_t)n;
                    if (at[n / 4] + 1 >= l->n[n / 4] || !triangle_may_intersect(l, tet, &b))
                        continue;
                    if (to)
                        to[count] = (sinew_pair){tet, (uint64_t)t};
                    count++;
                }
            }
    return count;
}

typedef struct pass_work {
    const fill *f;
    int64_t *first; /* [triangle count + 1] index of the first pair (tet, triangle) of each triangle */
    sinew_pair *pairs;
} pass_work;

static void pass_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const pass_work *w = context;
    (void)member;
    for (int32_t t = first; t < last; t++) {
        if (w->pairs)
            find_tets_of_triangle(w->f, t, w->pairs + w->first[t]);
        else
            w->first[t + 1] = find_tets_of_triangle(w->f, t, NULL);
    }
}

/* Finds all pairs (tet, triangle) that may intersect: *pairs [2 * *count], sorted by tet, then by triangle; the second
 * half is a buffer for sorting. */
static sinew_status find_crossed(fill *f, sinew_pair **pairs, int64_t *count)
{
    const int32_t triangles = f->surface.count;
    pass_work w = {.f = f};
    w.first = sinew_allocate_zero(&f->allocator, (size_t)triangles + 1, sizeof *w.first);
    if (!w.first)
        return sinew_fail_memory(f->error, "the tets along a surface");
    sinew_tasks_for(f->thread_count, triangles, FILL_BLOCK, pass_range, &w);
    for (int32_t t = 0; t < triangles; t++)
        w.first[t + 1] += w.first[t];
    *count = w.first[triangles];
    *pairs = w.pairs = sinew_allocate(&f->allocator, 2 * (size_t)*count, sizeof **pairs);
    if (w.pairs) {
        sinew_tasks_for(f->thread_count, triangles, FILL_BLOCK, pass_range, &w);
        sinew_sort_pairs(w.pairs, (size_t)*count, w.pairs + *count);
    }
    sinew_release(&f->allocator, w.first);
    return w.pairs ? SINEW_OK : sinew_fail_memory(f->error, "the tets along a surface");
}

/* ---- Winding numbers at lattice points ----------------------------------------------------------- */

static void mark_corners_of_crossed_tets(fill_lattice *l, const sinew_pair *pairs, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t points[4];
        if (i > 0 && pairs[i].major == pairs[i - 1].major)
            continue;
        sinew_fill_corners(l, pairs[i].major, points);
        for (int c = 0; c < 4; c++)
            l->near[points[c]] = 1;
    }
}

/* Computes winding numbers at the lattice points of intersected tets, or at all points, in blocks of POINTS_AT_ONCE. */
static sinew_status compute_windings(fill *f, bool all)
{
    fill_lattice *l = &f->lattice;
    sinew_real *x = sinew_allocate(&f->allocator, 3 * POINTS_AT_ONCE, sizeof *x);
    sinew_real *answers = sinew_allocate(&f->allocator, POINTS_AT_ONCE, sizeof *answers);
    int64_t *asked = sinew_allocate(&f->allocator, POINTS_AT_ONCE, sizeof *asked);
    const bool good = x && answers && asked;
    int64_t count = 0;
    for (int64_t point = 0; good && point < 2 * l->corners; point++) {
        if (all || l->near[point]) {
            double x_point[3];
            sinew_fill_point(l, point, x_point);
            for (int c = 0; c < 3; c++)
                x[3 * count + c] = (sinew_real)x_point[c];
            asked[count++] = point;
        }
        if (count == POINTS_AT_ONCE || point + 1 == 2 * l->corners) {
            sinew_tree_winding(f->tree, count, x, answers);
            for (int64_t i = 0; i < count; i++)
                l->winding[asked[i]] = (float)answers[i];
            count = 0;
        }
    }
    sinew_release(&f->allocator, x);
    sinew_release(&f->allocator, answers);
    sinew_release(&f->allocator, asked);
    return good ? SINEW_OK : sinew_fail_memory(f->error, "the winding numbers of a lattice");
}

/* A lattice point of no intersected tet takes the winding number of its lower neighbour along x, because the surface
 * does not pass between them; the first point of a row takes 0. */
static void copy_windings_along_rows(fill_lattice *l)
{
    const int64_t row = 2 * (l->n[0] + 1);
    for (int64_t point = 0; point < 2 * l->corners; point++)
        if (!l->near[point])
            l->winding[point] = point % row < 2 ? 0 : l->winding[point - 2];
}

static sinew_status find_windings(fill *f, const sinew_pair *pairs, int64_t count)
{
    fill_lattice *l = &f->lattice;
    l->near = sinew_allocate_zero(&f->allocator, 2 * (size_t)l->corners, sizeof *l->near);
    l->winding = sinew_allocate_zero(&f->allocator, 2 * (size_t)l->corners, sizeof *l->winding);
    if (!l->near || !l->winding)
        return sinew_fail_memory(f->error, "the winding numbers of a lattice");
    mark_corners_of_crossed_tets(l, pairs, count);
    const sinew_status status = compute_windings(f, !f->surface.closed);
    if (status == SINEW_OK && f->surface.closed)
        copy_windings_along_rows(l);
    return status;
}

/* ---- List of the tets inside or partly inside ---------------------------------------------------- */

static int count_corners_inside(const fill_lattice *l, uint64_t tet)
{
    int64_t points[4];
    int inside = 0;
    sinew_fill_corners(l, tet, points);
    for (int i = 0; i < 4; i++)
        inside += fabsf(l->winding[points[i]]) > (float)FILL_INSIDE;
    return inside;
}

/* Visits all lattice tets in order together with the sorted pairs (tet, triangle). Returns the number of tets that may
 * contain a part of the inside; stores them if `write`. */
static int64_t lattice_list_tets(fill *f, const sinew_pair *pairs, int64_t pair_count, bool write)
{
    const fill_lattice *l = &f->lattice;
    fill_tets *tets = &f->tets;
    int64_t count = 0, next = 0;
    for (int64_t p = 0; p < l->corners; p++) {
        const int64_t at[3] = {p % lattice_stride(l, 1), p % lattice_stride(l, 2) / lattice_stride(l, 1),
                               p / lattice_stride(l, 2)};
        for (int n = 0; n < 12; n++) {
            const uint64_t tet = 12 * (uint64_t)p + (uint64_t)n;
            const int d = n / 4;
            if (at[0] >= l->n[0] || at[1] >= l->n[1] || at[2] >= l->n[2] || at[d] + 1 >= l->n[d])
                continue;
            const int64_t begin = next;
            while (next < pair_count && pairs[next].major == tet)
                next++;
            const int inside = next > begin ? 4 : count_corners_inside(l, tet);
            if (inside == 0)
                continue;
            if (write) {
                tets->number[count] = tet;
                tets->first[count] = begin;
                tets->sampled[count] = next > begin || inside < 4;
            }
            count++;
        }
    }
    if (write)
        tets->first[count] = pair_count;
    return count;
}

static sinew_status make_tet_list(fill *f, const sinew_pair *pairs, int64_t pair_count)
{
    fill_tets *tets = &f->tets;
    tets->count = lattice_list_tets(f, pairs, pair_count, false);
    const size_t count = (size_t)tets->count;
    if (tets->count > INT32_MAX / 4)
        return sinew_fail(f->error, SINEW_ERROR_DATA,
                          "%d cells make %lld tets, more than the %d that a mesh holds; use fewer cells", f->def->cells,
                          (long long)tets->count, INT32_MAX / 4);
    tets->number = sinew_allocate(&f->allocator, count, sizeof *tets->number);
    tets->first = sinew_allocate(&f->allocator, count + 1, sizeof *tets->first);
    tets->sampled = sinew_allocate(&f->allocator, count, sizeof *tets->sampled);
    tets->component = sinew_allocate_zero(&f->allocator, count, sizeof *tets->component);
    tets->fraction = sinew_allocate_zero(&f->allocator, count, sizeof *tets->fraction);
    tets->component_count = sinew_allocate_zero(&f->allocator, count, sizeof *tets->component_count);
    tets->near = sinew_allocate(&f->allocator, (size_t)pair_count, sizeof *tets->near);
    if (!tets->number || !tets->first || !tets->sampled || !tets->component || !tets->fraction ||
        !tets->component_count || !tets->near)
        return sinew_fail_memory(f->error, "the tets of a lattice");
    lattice_list_tets(f, pairs, pair_count, true);
    for (int64_t i = 0; i < pair_count; i++)
        tets->near[i] = (int32_t)pairs[i].minor;
    return SINEW_OK;
}

sinew_status sinew_fill_make_lattice(fill *f)
{
    sinew_pair *pairs = NULL;
    int64_t count = 0;
    sinew_status status = place_lattice(f);
    if (status == SINEW_OK)
        status = check_memory(f);
    if (status == SINEW_OK)
        status = find_crossed(f, &pairs, &count);
    if (status == SINEW_OK)
        status = find_windings(f, pairs, count);
    if (status == SINEW_OK)
        status = make_tet_list(f, pairs, count);
    sinew_release(&f->allocator, pairs);
    return status;
}
