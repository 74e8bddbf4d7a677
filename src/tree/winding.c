/* SPDX-License-Identifier: MIT
 *
 * winding.c: generalised winding numbers: the sum of the solid angles of all triangles, seen from a point, over 4 pi
 * (A. Jacobson et al., "Robust inside-outside segmentation using generalized winding numbers", 2013).
 *
 * A triangle's solid angle is exact: A. Van Oosterom, J. Strackee, "The solid angle of a plane triangle" (1983). A
 * child of the tree that is farther than BETA times its radius is expanded around its centre (G. Barill et al., "Fast
 * winding numbers for soups and clouds", 2018, eq. 14): with area normals n_i at centroids c + d_i, and r = c - q, 4 pi
 * w = r.N / |r|^3 + tr(M) / |r|^3 - 3 r.M r / |r|^5,   N = sum n_i,  M = sum of n_i (x) d_i Everything is computed in
 * double, in the tree's scale.
 *
 * Known limits: what is left out of the expansion depends on the tree, so a refitted one differs from a new one by less
 * than the expansion's error (docs/tree.md).
 */
#include <math.h>

#include "base/tasks.h"
#include "tree/tree.h"

#define BETA    3.0
#define PI      3.14159265358979323846
#define AT_ONCE 64

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Corners of a block's cell, scaled, relative to the origin. */
static void corners_of(const sinew_tree *tree, const sinew_tree_shape *shape, size_t block, int32_t at, double x[3][3])
{
    const sinew_real *corners = shape->corners + block * 9 * SINEW_TREE_BLOCK + (size_t)at;
    for (int row = 0; row < 9; row++)
        x[row / 3][row % 3] = (double)corners[(size_t)row * SINEW_TREE_BLOCK] - tree->origin[row % 3];
}

/* ---- Moments ---------------------------------------------------------------------------------- */

/* Sums over triangles relative to the tree's origin, from which moments around any centre follow. */
typedef struct gathered {
    double area, first[3];          /* of all, and times the centroids */
    double normal[3], second[3][3]; /* area normals, and (x) centroids */
} gathered;

static void gather_triangle(const double x[3][3], gathered *g)
{
    double ab[3], ac[3], n[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = x[1][k] - x[0][k];
        ac[k] = x[2][k] - x[0][k];
    }
    cross(ab, ac, n);
    const double area = sqrt(dot(n, n)) / 2;
    g->area += area;
    for (int k = 0; k < 3; k++) {
        const double centroid = (x[0][k] + x[1][k] + x[2][k]) / 3;
        g->first[k] += area * centroid;
        g->normal[k] += n[k] / 2;
        for (int i = 0; i < 3; i++)
            g->second[i][k] += n[i] / 2 * centroid;
    }
}

static void gather_sum(const gathered *from, gathered *to)
{
    const double *f = &from->area;
    double *t = &to->area;
    for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
        t[i] += f[i];
}

/* The centre is that of the area; without area the box's. The radius is to the far corner of the box. */
static void set_moments(const gathered *g, const sinew_tree_node *node, int32_t child, sinew_tree_moments *m)
{
    m->radius2 = 0;
    for (int k = 0; k < 3; k++) {
        const double low = (double)node->bounds[2 * k][child], high = (double)node->bounds[2 * k + 1][child];
        const double centre = g->area > 0 ? g->first[k] / g->area : (low + high) / 2;
        const double reach = fmax(high - centre, centre - low);
        m->centre[k] = centre;
        m->normal[k] = g->normal[k];
        m->radius2 += reach * reach;
    }
    double second[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            second[i][k] = g->second[i][k] - g->normal[i] * m->centre[k];
    m->trace = second[0][0] + second[1][1] + second[2][2];
    for (int k = 0; k < 3; k++) {
        m->second[k] = second[k][k];
        m->second[3 + k] = (second[k][(k + 1) % 3] + second[(k + 1) % 3][k]) / 2;
    }
}

/* From the leaves up; recursion is as deep as the tree. */
static gathered gather_node(const sinew_tree *tree, sinew_tree_shape *shape, uint32_t at)
{
    gathered sum = {0};
    const sinew_tree_node *node = shape->nodes + at;
    for (int32_t c = 0; c < node->child_count; c++) {
        gathered part = {0};
        const uint32_t child = node->child[c];
        if (child & SINEW_TREE_LEAF) {
            const size_t block = child & ~SINEW_TREE_LEAF;
            for (int32_t i = 0; i < shape->counts[block]; i++) {
                double x[3][3];
                corners_of(tree, shape, block, i, x);
                gather_triangle((const double(*)[3])x, &part);
            }
        } else {
            part = gather_node(tree, shape, child);
        }
        set_moments(&part, node, c, shape->moments + SINEW_TREE_WIDE * (size_t)at + (size_t)c);
        gather_sum(&part, &sum);
    }
    return sum;
}

void sinew_tree_moments_fit(const sinew_tree *tree, sinew_tree_shape *shape)
{
    gather_node(tree, shape, 0);
}

/* ---- Winding numbers -------------------------------------------------------------------------- */

/* Half the solid angle. */
static double solid_angle(const double x[3][3], const double q[3])
{
    double a[3], b[3], c[3], n[3];
    for (int k = 0; k < 3; k++) {
        a[k] = x[0][k] - q[k];
        b[k] = x[1][k] - q[k];
        c[k] = x[2][k] - q[k];
    }
    const double la = sqrt(dot(a, a)), lb = sqrt(dot(b, b)), lc = sqrt(dot(c, c));
    cross(b, c, n);
    const double y = dot(a, n), x0 = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    return y == 0 ? 0 : atan2(y, x0);
}

static double block_angle(const sinew_tree *tree, size_t block, const double q[3])
{
    double sum = 0;
    for (int32_t i = 0; i < tree->shape.counts[block]; i++) {
        double x[3][3];
        corners_of(tree, &tree->shape, block, i, x);
        sum += 2 * solid_angle((const double(*)[3])x, q);
    }
    return sum;
}

static double far_angle(const sinew_tree_moments *m, const double r[3], double r2)
{
    const double inverse = 1 / r2, cube = inverse * sqrt(inverse);
    const double *s = m->second;
    const double quadratic = s[0] * r[0] * r[0] + s[1] * r[1] * r[1] + s[2] * r[2] * r[2] +
                             2 * (s[3] * r[0] * r[1] + s[4] * r[1] * r[2] + s[5] * r[2] * r[0]);
    return cube * (dot(m->normal, r) + m->trace - 3 * quadratic * inverse);
}

static double winding_of(const sinew_tree *tree, const double q[3])
{
    uint32_t stack[SINEW_TREE_STACK];
    int top = 1;
    stack[0] = 0;
    double sum = 0;
    while (top > 0) {
        const uint32_t at = stack[--top];
        if (at & SINEW_TREE_LEAF) {
            sum += block_angle(tree, at & ~SINEW_TREE_LEAF, q);
            continue;
        }
        const sinew_tree_node *node = tree->shape.nodes + at;
        const sinew_tree_moments *m = tree->shape.moments + SINEW_TREE_WIDE * (size_t)at;
        for (int32_t c = 0; c < node->child_count; c++) {
            const double r[3] = {m[c].centre[0] - q[0], m[c].centre[1] - q[1], m[c].centre[2] - q[2]};
            const double r2 = dot(r, r);
            if (r2 > BETA * BETA * m[c].radius2)
                sum += far_angle(m + c, r, r2);
            else
                stack[top++] = node->child[c];
        }
    }
    return sum / (4 * PI);
}

typedef struct winding_call {
    const sinew_tree *tree;
    const sinew_real *points;
    sinew_real *windings;
} winding_call;

static void run_windings(void *context, int32_t member, int64_t first, int64_t last)
{
    (void)member;
    const winding_call *call = context;
    const sinew_tree *tree = call->tree;
    for (int64_t i = first; i < last; i++) {
        double q[3];
        for (int k = 0; k < 3; k++)
            q[k] = (double)call->points[3 * i + k] * tree->scale - tree->origin[k];
        const double size = fabs(q[0]) + fabs(q[1]) + fabs(q[2]);
        /* Nothing winds around a point so far away that its square is no number. */
        call->windings[i] = size < 0x1p300 ? (sinew_real)winding_of(tree, q) : 0;
    }
}

void sinew_tree_winding(const sinew_tree *tree, int64_t count, const sinew_real *points, sinew_real *windings)
{
    if (!SINEW_ASSERT(tree && tree->shape.moments && (points || count == 0) && (windings || count == 0)))
        return;
    winding_call call = {tree, points, windings};
    sinew_run_range(tree->thread_count, count, AT_ONCE, run_windings, &call);
}
