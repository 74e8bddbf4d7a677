/* SPDX-License-Identifier: MIT
 *
 * triangle_crossing.h: triangles that pass through each other.
 */
#ifndef SINEW_SRC_BVH_TRIANGLE_CROSSING_H
#define SINEW_SRC_BVH_TRIANGLE_CROSSING_H

#include "base/base.h"
#include "sinew/tree.h"

/* Does an edge of one triangle pass through the other? Corners in one place are one: triangles that share an edge do
 * not cross, those that share a corner do where the edge opposite to it passes. Touching is not crossing, and neither
 * is lying in one plane. */
bool sinew_triangles_cross(const sinew_real *positions, const int32_t a[3], const int32_t b[3]);

/* Pairs (a, b), a < b, of triangles that cross, ascending. */
typedef void sinew_cross_visitor(void *context, int32_t a, int32_t b);
/* The tree is of these triangles. */
sinew_status sinew_visit_crossings(const sinew_tree *tree, const sinew_allocator *allocator,
                                   const sinew_real *positions, const int32_t *triangles, int32_t count,
                                   sinew_cross_visitor *visit, void *context, sinew_error *error);

#endif
