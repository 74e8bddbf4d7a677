/* SPDX-License-Identifier: MIT
 *
 * tree.h: the internal data of sinew_tree (include/sinew/tree.h), a bounding-volume hierarchy (BVH).
 *
 *     cells -> boxes -> Morton order (morton.c) -> binary tree by binned surface-area heuristic (build_sah.c)
 *           -> wide tree: nodes of 8 children, leaves of one block of cells (build_wide.c) -> boxes (refit.c)
 *
 * All lengths are multiplied by a power of two that makes the tree's half extent about 1, so squares of the tree's
 * extents neither overflow nor underflow. Boxes are floats relative to the middle of the tree, rounded outward. Corners
 * in blocks are sinew_real, scaled but not moved: this is exact, so the result of a leaf depends on its cell and the
 * query alone.
 *
 * Invariants: a parent's index is lower than its children's; a block holds 1 .. SINEW_TREE_BLOCK cells and its unused
 * entries repeat the first cell; no path has more than SINEW_TREE_DEPTH nodes.
 */
#ifndef SINEW_SRC_BVH_TREE_H
#define SINEW_SRC_BVH_TREE_H

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "sinew/tree.h"

#define SINEW_TREE_WIDE 8 /* number of children of a wide BVH node */
#ifdef SINEW_SINGLE
#define SINEW_TREE_BLOCK   8 /* number of cells of a block (leaf): the largest SIMD width */
#define SINEW_TREE_EPSILON 1.1920929e-7
#define SINEW_TREE_FAR     60 /* exponent of the farthest scaled origin of a ray: its square is a finite float */
#else
#define SINEW_TREE_BLOCK   4
#define SINEW_TREE_EPSILON 2.220446049250313e-16
#define SINEW_TREE_FAR     400
#endif

/* Splits follow the surface-area heuristic down to depth SINEW_TREE_HALVE. Below, ranges are halved, which is possible
 * at most 31 times for 2^31 cells. A path of the wide tree is no longer than the path of the binary tree. */
#define SINEW_TREE_HALVE 48
#define SINEW_TREE_DEPTH (SINEW_TREE_HALVE + 31)
/* Capacity of a traversal's stack: at each node of a path, one child is followed and up to 7 wait on the stack. */
#define SINEW_TREE_STACK ((SINEW_TREE_WIDE - 1) * SINEW_TREE_DEPTH + SINEW_TREE_WIDE)

#define SINEW_TREE_LEAF 0x80000000u /* bit of a child's index that marks a block (leaf) instead of a node */

typedef struct sinew_tree_node {
    /* child boxes, rows: low x, high x, low y, high y, low z, high z; unused children: inf, -inf */
    _Alignas(64) float bounds[6][SINEW_TREE_WIDE];
    uint32_t child[SINEW_TREE_WIDE]; /* index of each child node, or index of a block | SINEW_TREE_LEAF */
    int32_t child_count;
} sinew_tree_node;

/* A child counts as far from a point beyond this many of its radii: its moments then replace its triangles. */
#define SINEW_TREE_BETA 2.5
/* Moments of the triangles below each child of a node, which approximate the winding number at distant points
 * (winding_moments.c). */
typedef struct sinew_tree_moments {
    _Alignas(32) float centre[3][SINEW_TREE_WIDE];
    float limit[SINEW_TREE_WIDE];     /* squared distance from the centre beyond which the child is far */
    float normal[3][SINEW_TREE_WIDE]; /* sum of the area normals of the child's triangles, scaled */
    /* second moments of the child's triangles, times their factors: xx yy zz xy yz zx */
    float second[6][SINEW_TREE_WIDE];
    /* third moments of the child's triangles, times their factors: xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz */
    float third[10][SINEW_TREE_WIDE];
} sinew_tree_moments;

/* The nodes and blocks of a BVH, which building a tree creates and a rebuild replaces. */
typedef struct sinew_tree_shape {
    int32_t node_count, block_count;
    sinew_tree_node *nodes; /* [node_count] nodes of the BVH */
    uint32_t *node_slots;   /* [node_count] 8 * parent node + index of the node among the parent's children */
    uint32_t *block_slots;  /* [block_count] 8 * parent node + index of the block among the parent's children */
    int32_t *counts;        /* [block_count] number of cells in each block */
    /* [block_count * SINEW_TREE_BLOCK] indices of the cells of each block; unused entries repeat the first cell */
    int32_t *ids;
    sinew_real *corners; /* [block_count][3 * width][SINEW_TREE_BLOCK] scaled corner coordinates of the cells */
    /* [node_count] moments of each node's children; NULL: the tree computes no winding numbers */
    sinew_tree_moments *moments;
    /* quality of the tree after building: sum of all box areas over the area of the root's box */
    double area;
} sinew_tree_shape;

struct sinew_tree {
    sinew_allocator allocator;
    int32_t thread_count, vertex_count, cell_count, width;
    bool winding;
    sinew_real *positions; /* [3 * vertex_count] copy of the caller's positions, in m */
    int32_t *cells;        /* [width * cell_count] vertex indices of the cells */
    int exponent;          /* exponent of the tree's scale: scaled length = 2^exponent times the length in m */
    double scale;          /* 2^exponent: scale of the tree, i.e. the scaled length of 1 m */
    double origin[3];      /* middle of the bounding box of all cells, in scaled lengths */
    double half[3];        /* half extents, around the origin, of the bounding box of all cells, in scaled lengths */
    double largest;        /* largest extent of a cell along an axis, in scaled lengths */
    sinew_tree_shape shape;
    const struct sinew_tree_kernel *kernel;
};

/* ---- Queries, prepared for the SIMD kernels ------------------------------------------------------ */

typedef struct sinew_nearest_query {
    sinew_real p[3];       /* query point, in scaled lengths */
    float low[3], high[3]; /* bounds of the query point relative to the tree's origin, with a round-off margin */
    sinew_real d2;         /* scaled squared distance of the nearest cell so far; initially the query's limit */
    int32_t cell;          /* index of the nearest cell so far; INT32_MAX: none yet */
} sinew_nearest_query;

typedef struct sinew_ray_query {
    sinew_real o[3], d[3]; /* scaled origin and direction of the ray; the largest component of d lies in [0.5, 1) */
    sinew_real inverse[3]; /* 1 / d per axis of the ray's direction d; 0 for components that are (almost) 0 */
    int32_t kx, ky, kz;    /* permuted axes of the ray; kz is the axis of the largest component of d */
    sinew_real sx, sy, sz; /* shear that turns the ray along the axis kz (leaf_ray.h) */
    sinew_real pad;        /* round-off of the sheared corners of a triangle, in scaled lengths */
    sinew_real from, to;   /* range of the ray parameter t, scaled; `to` decreases to the best hit */
    /* the tests of boxes use the ray origin o + shift d, so that their ray parameters are positive */
    double shift;
    float near_origin[3], far_origin[3], near_inverse[3], far_inverse[3];
    int32_t near_row[3]; /* per axis, the row of sinew_tree_node.bounds whose planes face the ray */
    float begin, end;    /* range of the ray parameter in tests of bounding boxes */
    int32_t cell;        /* index of the cell of the best hit so far; INT32_MAX: none yet */
    sinew_real u, v;
} sinew_ray_query;

typedef struct sinew_tree_kernel {
    const char *name;
    void (*nearest)(const sinew_tree *tree, sinew_nearest_query *query);
    void (*ray)(const sinew_tree *tree, sinew_ray_query *query);
    bool (*ray_any)(const sinew_tree *tree, sinew_ray_query *query);
    /* winding number at a scaled point relative to the tree's origin */
    double (*winding)(const sinew_tree *tree, const double point[3]);
} sinew_tree_kernel;

const sinew_tree_kernel *sinew_tree_kernel_chosen(void);
/* The SIMD variants of this build that the processor supports, best first; for tests. */
const sinew_tree_kernel *const *sinew_tree_kernels(int32_t *count);

/* Prepare a query of a tree; false: the query has no answer (not finite, no direction, a negative limit, an empty
 * range, a ray from too far away). A computed distance, or ray parameter, times 2^-exponent is the distance in m, or
 * the parameter of the ray. */
bool sinew_nearest_query_set(const sinew_tree *tree, const sinew_real point[3], double limit,
                             sinew_nearest_query *query, int *exponent);
bool sinew_ray_query_set(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_query *query, int *exponent);

/* ---- Construction of a tree ---------------------------------------------------------------------- */

/* Position of a corner of one of the tree's cells, in m. */
static inline const sinew_real *sinew_tree_corner(const sinew_tree *tree, int32_t cell, int32_t corner)
{
    const size_t at = (size_t)cell * (size_t)tree->width + (size_t)corner;
    return tree->positions + 3 * (size_t)tree->cells[at];
}

/* x times 2^exponent, also for exponents beyond the range of normal numbers. */
static inline double sinew_tree_scaled(double x, int exponent)
{
    if (exponent < -1000 || exponent > 1000)
        return ldexp(x, exponent);
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

/* The nearest float that is not above x; the nearest float that is not below x. */
float sinew_float_below(double x);
float sinew_float_above(double x);

/* Bounding box of a cell, low x y z, high x y z, relative to the tree's origin, rounded outward. */
void sinew_tree_cell_box(const sinew_tree *tree, int32_t cell, float box[6]);

/* Computes the tree's scale, origin and extents from the vertex positions. */
void sinew_tree_frame(sinew_tree *tree);
/* Builds the nodes and blocks of a tree, without boxes; returns false if memory runs out. */
bool sinew_tree_build(const sinew_tree *tree, sinew_tree_shape *shape);
/* Computes corners, bounding boxes and moments of the tree's nodes and blocks. */
void sinew_tree_fit(const sinew_tree *tree, sinew_tree_shape *shape);
void sinew_tree_moments_fit(const sinew_tree *tree, sinew_tree_shape *shape);
/* Sum of the areas of all boxes over the area of the root's box; 0 for a root without area. */
double sinew_tree_area(const sinew_tree_shape *shape);
void sinew_tree_shape_release(const sinew_allocator *allocator, sinew_tree_shape *shape);

#endif
