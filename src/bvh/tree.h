/* SPDX-License-Identifier: MIT
 *
 * tree.h: the inside of sinew_tree (include/sinew/tree.h).
 *
 *     cells -> boxes -> Morton order -> binary tree by binned surface-area heuristic (build.c)
 *           -> wide tree: nodes of 8 children, leaves of one block of cells (build_wide.c) -> boxes from below (refit.c)
 *
 * Everything inside is multiplied by a power of two, which makes the tree's half extent about 1: squares neither
 * overflow nor vanish. Boxes are floats relative to the middle of the tree, rounded outward; corners in blocks are
 * sinew_real and not moved, so that what a leaf computes depends on its cell and the question alone.
 *
 * Invariants: a parent's index is lower than its children's; a block holds 1 .. SINEW_TREE_BLOCK cells and its unused
 * places repeat the first one; no path has more than SINEW_TREE_DEPTH nodes.
 */
#ifndef SINEW_SRC_BVH_TREE_H
#define SINEW_SRC_BVH_TREE_H

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "sinew/tree.h"

#define SINEW_TREE_WIDE 8 /* children of a node */
#ifdef SINEW_SINGLE
#define SINEW_TREE_BLOCK   8 /* cells of a block: the widest lane */
#define SINEW_TREE_EPSILON 1.1920929e-7
#define SINEW_TREE_FAR     60 /* exponent of the farthest scaled origin of a ray: its square is finite */
#else
#define SINEW_TREE_BLOCK   4
#define SINEW_TREE_EPSILON 2.220446049250313e-16
#define SINEW_TREE_FAR     400
#endif

/* Splits follow the heuristic down to SINEW_TREE_HALVE; below, ranges are halved, and 2^31 cells can be halved 31 times
 * at most. A path of the wide tree is no longer than that of the binary one. */
#define SINEW_TREE_HALVE 48
#define SINEW_TREE_DEPTH (SINEW_TREE_HALVE + 31)
/* Entries of a traversal's stack: of the 8 children of each node of a path one is followed. */
#define SINEW_TREE_STACK ((SINEW_TREE_WIDE - 1) * SINEW_TREE_DEPTH + SINEW_TREE_WIDE)

#define SINEW_TREE_LEAF 0x80000000u /* bit of a child that is a block */

typedef struct sinew_tree_node {
    _Alignas(64) float bounds[6][SINEW_TREE_WIDE]; /* low x, high x, low y, high y, low z, high z; empty: inf, -inf */
    uint32_t child[SINEW_TREE_WIDE];               /* node, or block | SINEW_TREE_LEAF */
    int32_t child_count;
} sinew_tree_node;

/* Far fields of the children of a node: winding numbers of their triangles seen from afar (winding_moments.c). */
#define SINEW_TREE_BETA 2.5 /* radii from which on a child is far */
typedef struct sinew_tree_moments {
    _Alignas(32) float centre[3][SINEW_TREE_WIDE];
    float limit[SINEW_TREE_WIDE];     /* squared distance beyond which the child is far */
    float normal[3][SINEW_TREE_WIDE]; /* sum of area normals */
    float second[6][SINEW_TREE_WIDE]; /* xx yy zz xy yz zx */
    float third[10][SINEW_TREE_WIDE]; /* xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz */
} sinew_tree_moments;

/* All that a rebuild replaces. */
typedef struct sinew_tree_shape {
    int32_t node_count, block_count;
    sinew_tree_node *nodes;      /* [node_count] */
    uint32_t *node_slots;        /* [node_count] 8 * parent + place among its children */
    uint32_t *block_slots;       /* [block_count] */
    int32_t *counts;             /* [block_count] cells of each */
    int32_t *ids;                /* [block_count * SINEW_TREE_BLOCK] cells */
    sinew_real *corners;         /* [block_count][3 * width][SINEW_TREE_BLOCK] scaled */
    sinew_tree_moments *moments; /* [node_count] NULL: not wanted */
    double area;                 /* sum of the children's box areas over the root's, when built */
} sinew_tree_shape;

struct sinew_tree {
    sinew_allocator allocator;
    int32_t thread_count, vertex_count, cell_count, width;
    bool winding;
    sinew_real *positions; /* [3 * vertex_count] */
    int32_t *cells;        /* [width * cell_count] */
    int exponent;          /* scaled = 2^exponent metres */
    double scale;          /* the same as a factor */
    double origin[3];      /* scaled: middle of the boxes */
    double half[3];        /* scaled: half extent around the origin */
    double largest;        /* scaled: largest extent of a cell along an axis */
    sinew_tree_shape shape;
    const struct sinew_tree_kernel *kernel;
};

/* ---- Questions, prepared for the kernels -------------------------------------------------------- */

typedef struct sinew_nearest_query {
    sinew_real p[3];       /* scaled */
    float low[3], high[3]; /* the point relative to the origin, with room for round-off */
    sinew_real d2;         /* scaled, squared: of the best so far, at first the limit */
    int32_t cell;          /* INT32_MAX: none yet */
} sinew_nearest_query;

typedef struct sinew_ray_query {
    sinew_real o[3], d[3]; /* scaled; the largest component of d lies in [0.5, 1) */
    sinew_real inverse[3]; /* of d; 0 where that is (almost) 0 */
    int32_t kx, ky, kz;    /* axes; kz: that of the largest component */
    sinew_real sx, sy, sz; /* shear (leaf_ray.h) */
    sinew_real pad;        /* scaled: round-off of sheared corners */
    sinew_real from, to;   /* scaled; `to` comes down to the best hit */
    double shift;          /* the boxes' origin is o + shift d, so that their times are positive */
    float near_origin[3], far_origin[3], near_inverse[3], far_inverse[3];
    int32_t near_row[3]; /* of sinew_tree_node.bounds */
    float begin, end;    /* times of the boxes */
    int32_t cell;        /* INT32_MAX: none yet */
    sinew_real u, v;
} sinew_ray_query;

typedef struct sinew_tree_kernel {
    const char *name;
    bool (*usable)(void);
    void (*nearest)(const sinew_tree *tree, sinew_nearest_query *query);
    void (*ray)(const sinew_tree *tree, sinew_ray_query *query);
    bool (*ray_any)(const sinew_tree *tree, sinew_ray_query *query);
    double (*winding)(const sinew_tree *tree, const double point[3]); /* scaled, relative to the origin */
} sinew_tree_kernel;

const sinew_tree_kernel *sinew_tree_kernel_chosen(void);
/* All variants of this build, best first; for tests. */
const sinew_tree_kernel *const *sinew_tree_kernels(int32_t *count);

/* Prepares a question; false: it has no answer (not finite, no direction, a negative limit). The exponent is that of
 * the question's scale, which is smaller than the tree's for points from very far away. */
bool sinew_nearest_query_set(const sinew_tree *tree, const sinew_real point[3], double limit,
                             sinew_nearest_query *query, int *exponent);
bool sinew_ray_query_set(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_query *query, int *exponent);

/* ---- Making ------------------------------------------------------------------------------------- */

/* The corner of a cell. */
static inline const sinew_real *sinew_tree_corner(const sinew_tree *tree, int32_t cell, int32_t corner)
{
    const size_t at = (size_t)cell * (size_t)tree->width + (size_t)corner;
    return tree->positions + 3 * (size_t)tree->cells[at];
}

/* x 2^exponent. */
static inline double sinew_tree_scaled(double x, int exponent)
{
    if (exponent < -1000 || exponent > 1000)
        return ldexp(x, exponent);
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

/* The nearest float that is not above, not below. */
float sinew_float_below(double x);
float sinew_float_above(double x);

/* Low x y z, high x y z of a cell, relative to the origin, rounded outward. */
void sinew_tree_cell_box(const sinew_tree *tree, int32_t cell, float box[6]);

/* Scale, origin and extents of the positions. */
void sinew_tree_frame(sinew_tree *tree);
/* The structure, without boxes; true: made. */
bool sinew_tree_build(const sinew_tree *tree, sinew_tree_shape *shape);
/* Corners, boxes and moments of the structure. */
void sinew_tree_fit(const sinew_tree *tree, sinew_tree_shape *shape);
void sinew_tree_moments_fit(const sinew_tree *tree, sinew_tree_shape *shape);
double sinew_tree_area(const sinew_tree_shape *shape);
void sinew_tree_shape_release(const sinew_allocator *allocator, sinew_tree_shape *shape);

#endif
