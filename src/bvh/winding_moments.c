/* SPDX-License-Identifier: MIT
 *
 * winding_moments.c: computes moments of the triangles below a child of a BVH node, which approximate their winding
 * number at distant points (winding.c).
 *
 * With area normals n at points c + d of the triangles, c the centre of their area, and the field f(r) = r / |r|^3:
 *     N = sum of n,  M = sum of n (x) d,  T = sum of the integral of n (x) d (x) d
 * As f is the gradient of a harmonic function, only the symmetric, trace-free parts of M and T count. Sums are computed
 * around the tree's origin in double, moved to the centre, and stored as floats.
 */
#include <math.h>

#include "bvh/tree.h"
#include "math/vec3.h"

/* Components of a symmetric third-order tensor, each by its three axes. */
static const int thirds[10][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, 1}, {0, 0, 2},
                                  {1, 1, 0}, {1, 1, 2}, {2, 2, 0}, {2, 2, 1}, {0, 1, 2}};

/* Sums over triangles for the moments, relative to the tree's origin; all double, so that they are added as one
 * array. */
typedef struct gathered {
    double area, first[3]; /* sum of the triangles' areas; sum of areas times centroids */
    double normal[3], second[3][3], third[10];
} gathered;

static void moments_corners_of(const sinew_tree *tree, const sinew_tree_shape *shape, size_t block, int32_t at,
                               double x[3][3])
{
    const sinew_real *corners = shape->corners + block * 9 * SINEW_TREE_BLOCK + (size_t)at;
    for (int row = 0; row < 9; row++)
        x[row / 3][row % 3] = (double)corners[(size_t)row * SINEW_TREE_BLOCK] - tree->origin[row % 3];
}

static void area_normal(double x[3][3], double n[3])
{
    double ab[3], ac[3];
    vec3_sub(x[1], x[0], ab);
    vec3_sub(x[2], x[0], ac);
    vec3_cross(ab, ac, n);
    for (int k = 0; k < 3; k++)
        n[k] /= 2;
}

static void gather_triangle(double x[3][3], gathered *g)
{
    double n[3], sum[3], square[3][3];
    area_normal(x, n);
    const double area = vec3_norm(n);
    g->area += area;
    for (int k = 0; k < 3; k++)
        sum[k] = x[0][k] + x[1][k] + x[2][k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            /* The mean of x x^T over a triangle with corners x_0, x_1, x_2. */
            square[i][k] = (x[0][i] * x[0][k] + x[1][i] * x[1][k] + x[2][i] * x[2][k] + sum[i] * sum[k]) / 12;
            g->second[i][k] += n[i] * sum[k] / 3;
        }
    for (int k = 0; k < 3; k++) {
        g->first[k] += area * sum[k] / 3;
        g->normal[k] += n[k];
    }
    for (int t = 0; t < 10; t++) {
        const int a = thirds[t][0], b = thirds[t][1], c = thirds[t][2];
        g->third[t] += (n[a] * square[b][c] + n[b] * square[c][a] + n[c] * square[a][b]) / 3;
    }
}

static void gathered_add(const gathered *from, gathered *to)
{
    const double *f = &from->area;
    double *t = &to->area;
    for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
        t[i] += f[i];
}

/* ---- Moments around the centre of a child -------------------------------------------------------- */

/* Second moments of a child's triangles around c, made symmetric and trace-free, times their factor -3. Off-diagonal
 * components count twice. */
static void set_second(const gathered *g, const double c[3], float out[6])
{
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = g->second[i][k] - g->normal[i] * c[k];
    const double trace = (m[0][0] + m[1][1] + m[2][2]) / 3;
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3;
        out[k] = (float)(-3 * (m[k][k] - trace));
        out[3 + k] = (float)(-3 * (m[k][l] + m[l][k]));
    }
}

/* Change of a third moment when the centre moves to c, for one of the three permutations of the indices. */
static double third_shift(const gathered *g, const double c[3], int a, int b, int k)
{
    return g->normal[a] * c[b] * c[k] - (g->second[a][b] + g->second[b][a]) * c[k];
}

static void set_third(const gathered *g, const double c[3], float out[10])
{
    double t[10], trace[3] = {0, 0, 0};
    for (int i = 0; i < 10; i++) {
        const int a = thirds[i][0], b = thirds[i][1], k = thirds[i][2];
        t[i] = g->third[i] + (third_shift(g, c, a, b, k) + third_shift(g, c, b, k, a) + third_shift(g, c, k, a, b)) / 3;
        if (a == b) /* the first nine of the ten components have two equal axes */
            trace[k] += t[i];
    }
    for (int i = 0; i < 10; i++) {
        const int a = thirds[i][0], b = thirds[i][1], k = thirds[i][2];
        const double off = (a == b ? trace[k] : 0) + (b == k ? trace[a] : 0) + (a == k ? trace[b] : 0);
        const int times = i < 3 ? 1 : i < 9 ? 3 : 6;
        out[i] = (float)(7.5 * times * (t[i] - off / 5));
    }
}

/* Sets the centre of a child's moments to the centroid of its area, or without area to the centre of its box. The
 * radius reaches the farthest corner of the box. */
static void set_moments(const gathered *g, const sinew_tree_node *node, int32_t child, sinew_tree_moments *m)
{
    double c[3], radius2 = 0;
    float second[6], third[10];
    for (int k = 0; k < 3; k++) {
        const double low = (double)node->bounds[2 * k][child], high = (double)node->bounds[2 * k + 1][child];
        m->centre[k][child] = (float)(g->area > 0 ? g->first[k] / g->area : (low + high) / 2);
        c[k] = (double)m->centre[k][child];
        const double reach = fmax(high - c[k], c[k] - low);
        radius2 += reach * reach;
        m->normal[k][child] = (float)g->normal[k];
    }
    /* The lower bound 1e-30 of the squared distance excludes distances whose square underflows. */
    m->limit[child] = (float)fmax(SINEW_TREE_BETA * SINEW_TREE_BETA * radius2 * (1 + 1e-6), 1e-30);
    set_second(g, c, second);
    set_third(g, c, third);
    for (int i = 0; i < 6; i++)
        m->second[i][child] = second[i];
    for (int i = 0; i < 10; i++)
        m->third[i][child] = third[i];
}

/* Sums the moments of triangles from the leaves of the tree up. The recursion is as deep as the tree. */
static gathered gather_node(const sinew_tree *tree, sinew_tree_shape *shape, uint32_t at)
{
    gathered sum = {0};
    const sinew_tree_node *node = shape->nodes + at;
    memset(shape->moments + at, 0, sizeof *shape->moments);
    for (int32_t c = 0; c < node->child_count; c++) {
        gathered child_sum = {0};
        const uint32_t child = node->child[c];
        if (child & SINEW_TREE_LEAF) {
            const size_t block = child & ~SINEW_TREE_LEAF;
            for (int32_t i = 0; i < shape->counts[block]; i++) {
                double x[3][3];
                moments_corners_of(tree, shape, block, i, x);
                gather_triangle(x, &child_sum);
            }
        } else {
            child_sum = gather_node(tree, shape, child);
        }
        set_moments(&child_sum, node, c, shape->moments + at);
        gathered_add(&child_sum, &sum);
    }
    return sum;
}

void sinew_tree_moments_fit(const sinew_tree *tree, sinew_tree_shape *shape)
{
    gather_node(tree, shape, 0);
}
