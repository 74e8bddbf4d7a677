/* SPDX-License-Identifier: MIT
 *
 * sinew/tree.h: one tree of boxes over triangles, edges or points: what is nearest, near, overlapping, hit, inside.
 *
 * A tree copies what it is made of, and is read by any number of threads at once. Answers depend on the cells and the
 * question alone: not on the number of threads, not on how often the tree was refitted (but for the last digits of
 * winding numbers). Where several cells are equally good, the lowest index wins. Degenerate cells (a triangle that is a
 * line or a point) count as what they are.
 *
 * Does not: hold tetrahedra (their surface is what is hit) or change its number of cells (make another one).
 */
#ifndef SINEW_TREE_H
#define SINEW_TREE_H

#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_tree sinew_tree;

typedef struct sinew_tree_def {
    uint32_t cookie; /* set by sinew_default_tree_def() */
    sinew_allocator allocator;
    int32_t vertex_count;
    const sinew_real *positions; /* [3 * vertex_count] m, copied, finite */
    int32_t cell_count;          /* >= 1 */
    int32_t width;               /* vertices of a cell: 3 triangles (default), 2 edges, 1 points */
    const int32_t *cells;        /* [width * cell_count], copied; NULL with width 1: every vertex */
    bool winding;         /* triangles: keep what sinew_tree_winding() needs, some 50 bytes a triangle; default true */
    int32_t thread_count; /* that making, refitting and questions by the thousand may use; 0 (default): all */
} sinew_tree_def;

SINEW_API sinew_tree_def sinew_default_tree_def(void);
/* Refuses indices out of range and non-finite positions. NULL on failure. Destroy accepts NULL. */
SINEW_API sinew_tree *sinew_tree_create(const sinew_tree_def *def, sinew_error *error);
SINEW_API void sinew_tree_destroy(sinew_tree *tree);
/* The same cells with their vertices elsewhere: boxes follow, and where they have grown so much that questions would
 * take long the tree is built anew. Refuses non-finite positions, and the tree stays as it was. */
SINEW_API sinew_status sinew_tree_refit(sinew_tree *tree, const sinew_real *positions, sinew_error *error);

/* ---- Nearest ------------------------------------------------------------------------------- */

typedef struct sinew_tree_place {
    int32_t cell;          /* -1: none within the limit */
    uint32_t on;           /* one bit for each vertex of the cell that the place depends on: 7 the face, 3 5 6 an edge,
                              1 2 4 a vertex of a triangle */
    sinew_real weights[3]; /* of the cell's vertices, sum 1, >= 0; exactly 0 where `on` has no bit */
    sinew_real point[3];   /* m */
    sinew_real distance;   /* m */
} sinew_tree_place;

/* The nearest place to each of `points` [3 * count], at most limits[i] away (m; NULL: however far). */
SINEW_API void sinew_tree_nearest(const sinew_tree *tree, int64_t count, const sinew_real *points,
                                  const sinew_real *limits, sinew_tree_place *places);
/* The cells at most `distance` (m) from a point, ascending; at most `capacity` are written, how many there are is
 * returned. */
SINEW_API int64_t sinew_tree_within(const sinew_tree *tree, const sinew_real point[3], sinew_real distance,
                                    int32_t *cells, int64_t capacity);

/* ---- Overlaps ------------------------------------------------------------------------------ */

/* The cells whose boxes meet the box (min x y z, max x y z), ascending. As sinew_tree_within(). */
SINEW_API int64_t sinew_tree_overlaps(const sinew_tree *tree, const sinew_real box[6], int32_t *cells,
                                      int64_t capacity);
/* Pairs (cell of a, cell of b) whose boxes, grown by `margin` (m) together, meet, in ascending order. b == a: each pair
 * once, the lower cell first, no cell with itself. At most `capacity` are written to pairs [2 * capacity], how many
 * there are is returned; -1: out of memory. */
SINEW_API int64_t sinew_tree_pairs(const sinew_tree *a, const sinew_tree *b, sinew_real margin, int32_t *pairs,
                                   int64_t capacity);

/* ---- Rays (triangles) ---------------------------------------------------------------------- */

typedef struct sinew_ray {
    sinew_real origin[3];    /* m */
    sinew_real direction[3]; /* not 0, of any length */
    sinew_real from, to;     /* only hits with from <= t <= to, at origin + t direction */
} sinew_ray;

typedef struct sinew_ray_hit {
    int32_t cell; /* -1: nothing */
    sinew_real t;
    sinew_real u, v; /* place: (1 - u - v) a + u b + v c */
} sinew_ray_hit;

/* Both sides of a triangle are hit. Where two triangles share an edge no ray goes between them. */
SINEW_API bool sinew_tree_ray(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_hit *hit); /* the first */
SINEW_API bool sinew_tree_ray_any(const sinew_tree *tree, const sinew_ray *ray);                 /* is there one? */

/* ---- Inside (triangles) -------------------------------------------------------------------- */

/* The generalised winding number of each of `points` [3 * count]: 1 inside a closed outward surface, 0 outside, in
 * between near holes; doubled where a surface is there twice. Far parts are expanded: errors are 3e-4 on
 * average and below 3e-3 at worst (docs/tree.md). Needs def.winding. */
SINEW_API void sinew_tree_winding(const sinew_tree *tree, int64_t count, const sinew_real *points,
                                  sinew_real *windings);

/* ---- Many at once -------------------------------------------------------------------------- */

/* Runs items 0 .. count-1 in blocks of `block` (last excluded) on up to thread_count threads (0: all) of the library.
 * Items must not touch each other's data. For work with trees; worlds look after themselves. */
typedef void sinew_range_call(void *context, int32_t member, int64_t first, int64_t last);
SINEW_API void sinew_run_range(int32_t thread_count, int64_t count, int64_t block, sinew_range_call *call,
                               void *context);

#ifdef __cplusplus
}
#endif
#endif
