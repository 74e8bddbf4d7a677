/* SPDX-License-Identifier: MIT
 *
 * sinew/tree.h: a bounding-volume hierarchy (BVH) over triangles, edges or points: nearest points, cells within a
 * distance, overlaps, rays and winding numbers.
 *
 * A tree copies its input and may be read by any number of threads at once. Results depend on the cells and the query
 * alone: not on the number of threads and not on the number of refits (except for the last digits of winding numbers).
 * Among equally good cells the lowest index is returned. A degenerate cell (a triangle that is a line or a point) is
 * treated as this line or point.
 *
 * Does not: hold tetrahedra (use their surface) or change its number of cells (create another tree).
 */
#ifndef SINEW_TREE_H
#define SINEW_TREE_H

#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_tree sinew_tree;

typedef struct sinew_tree_def {
    uint32_t cookie; /* identifies the struct; set by sinew_default_tree_def() */
    sinew_allocator allocator;
    int32_t vertex_count;
    const sinew_real *positions; /* [3 * vertex_count] coordinates of the tree's vertices in m, copied, finite */
    int32_t cell_count;          /* number of cells of the tree, >= 1 */
    int32_t width;               /* number of vertices per cell: 3 triangles (default), 2 edges, 1 points */
    const int32_t *cells;        /* [width * cell_count] vertices of cells, copied; NULL with width 1: every vertex */
    bool winding;                /* triangles: store moments for sinew_tree_winding(), 50 bytes per triangle; default
                                    true */
    /* Number of threads for building, refitting and large batches of queries; 0 (default): all. */
    int32_t thread_count;
} sinew_tree_def;

SINEW_API sinew_tree_def sinew_default_tree_def(void);
/* Creates a tree over cells. Fails for indices out of range and non-finite positions. NULL on failure. Destroy accepts
 * NULL. */
SINEW_API sinew_tree *sinew_tree_create(const sinew_tree_def *def, sinew_error *error);
SINEW_API void sinew_tree_destroy(sinew_tree *tree);
/* Moves the vertices and refits the boxes; rebuilds the tree if refitted boxes would make queries slow. Fails for
 * non-finite positions and then leaves the tree unchanged. */
SINEW_API sinew_status sinew_tree_refit(sinew_tree *tree, const sinew_real *positions, sinew_error *error);

/* ---- Nearest-point queries ------------------------------------------------------------------- */

typedef struct sinew_tree_point {
    int32_t cell; /* index of the nearest cell; -1: no cell within the limit */
    uint32_t on;  /* bit k: weights[k] is not 0. 7: inside a triangle; 3, 5, 6: edge; 1, 2, 4: vertex */
    /* Weights of the cell's vertices at the nearest point, sum 1, >= 0; exactly 0 if the bit of `on` is 0. */
    sinew_real weights[3];
    sinew_real point[3]; /* nearest point on the cell, in m */
    sinew_real distance; /* distance of the query point to the nearest point, in m */
} sinew_tree_point;

/* Finds the nearest point on the cells to each of `points` [3 * count], at most limits[i] away (m; NULL: no limit). */
SINEW_API void sinew_tree_nearest(const sinew_tree *tree, int64_t count, const sinew_real *points,
                                  const sinew_real *limits, sinew_tree_point *nearest);
/* Lists the cells at most `distance` (m) from a point, ascending. Writes at most `capacity` cells and returns their
 * total number. */
SINEW_API int64_t sinew_tree_within(const sinew_tree *tree, const sinew_real point[3], sinew_real distance,
                                    int32_t *cells, int64_t capacity);

/* ---- Overlaps of boxes ------------------------------------------------------------------------- */

/* Lists the cells whose boxes overlap the box (min x y z, max x y z), ascending. Capacity and result as in
 * sinew_tree_within(). */
SINEW_API int64_t sinew_tree_overlaps(const sinew_tree *tree, const sinew_real box[6], int32_t *cells,
                                      int64_t capacity);
/* Lists pairs (cell of a, cell of b) whose boxes are at most `margin` (m) apart along every axis, in ascending order. b
 * == a: each pair once, the lower cell first, no cell with itself. Writes at most `capacity` pairs to pairs [2 *
 * capacity] and returns their total number; -1: out of memory. */
SINEW_API int64_t sinew_tree_pairs(const sinew_tree *a, const sinew_tree *b, sinew_real margin, int32_t *pairs,
                                   int64_t capacity);

/* ---- Rays (triangles) ---------------------------------------------------------------------- */

typedef struct sinew_ray {
    sinew_real origin[3];    /* start of the ray, in m */
    sinew_real direction[3]; /* direction of the ray: not 0, of any length */
    sinew_real from, to;     /* range of the ray parameter t; the hit point is origin + t direction */
} sinew_ray;

typedef struct sinew_ray_hit {
    int32_t cell; /* index of the triangle that was hit; -1: no hit */
    sinew_real t;
    sinew_real u, v; /* barycentric coordinates of the hit: its point is (1 - u - v) a + u b + v c */
} sinew_ray_hit;

/* Finds the hit with the smallest t; false: none. Rays hit both sides of a triangle. No ray passes between two
 * triangles that share an edge. */
SINEW_API bool sinew_tree_ray(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_hit *hit);
SINEW_API bool sinew_tree_ray_any(const sinew_tree *tree, const sinew_ray *ray); /* true: the ray hits a triangle */

/* ---- Winding numbers (triangles) ------------------------------------------------------------- */

/* Computes the generalised winding number of each of `points` [3 * count]: 1 inside a closed outward surface, 0
 * outside, values in between near holes, 2 inside a doubled surface. Distant subtrees are approximated by moments:
 * the measured error is 3e-4 on average and at most 3e-3 (docs/evidence/bvh.md). Needs def.winding. */
SINEW_API void sinew_tree_winding(const sinew_tree *tree, int64_t count, const sinew_real *points,
                                  sinew_real *windings);

/* ---- Batches of queries on several threads --------------------------------------------------- */

/* Calls call(context, member, first, last) for items first .. last - 1: blocks of `block` of the items 0 .. count - 1,
 * on up to thread_count threads (0: all) of the library. `member` is the number of the thread. Items must not write to
 * each other's data. Intended for batches of tree queries; worlds parallelise their own steps. */
typedef void sinew_range_call(void *context, int32_t member, int64_t first, int64_t last);
SINEW_API void sinew_run_range(int32_t thread_count, int64_t count, int64_t block, sinew_range_call *call,
                               void *context);

#ifdef __cplusplus
}
#endif
#endif
