/* SPDX-License-Identifier: MIT
 *
 * triangle_crossing.h: finds triangles that intersect.
 */
#ifndef SINEW_SRC_BVH_TRIANGLE_CROSSING_H
#define SINEW_SRC_BVH_TRIANGLE_CROSSING_H

#include "base/base.h"
#include "sinew/tree.h"

/* Whether an edge of one triangle passes through the other. Coincident corners count as the same corner: triangles
 * that share an edge do not intersect; triangles that share a corner intersect if the opposite edge of one passes
 * through the other. Touching and coplanar triangles do not intersect. */
bool sinew_triangles_cross(const sinew_real *positions, const int32_t a[3], const int32_t b[3]);

/* Function that receives each pair of intersecting triangles a < b, pairs in ascending order. */
typedef void sinew_cross_visitor(void *context, int32_t a, int32_t b);
/* Calls `visit` for each pair of intersecting triangles. `tree` is the BVH of these triangles. */
sinew_status sinew_visit_crossings(const sinew_tree *tree, const sinew_allocator *allocator,
                                   const sinew_real *positions, const int32_t *triangles, int32_t count,
                                   sinew_cross_visitor *visit, void *context, sinew_error *error);

#endif
