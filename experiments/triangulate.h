/* SPDX-License-Identifier: MIT
 *
 * triangulate.h: triangles between points of the plane, for meshes that no generator makes.
 */
#ifndef SINEW_EXPERIMENTS_TRIANGULATE_H
#define SINEW_EXPERIMENTS_TRIANGULATE_H

#include <stdbool.h>
#include <stdint.h>

/* Delaunay's triangulation of points [2 * count], anticlockwise: *triangles [3 * *triangle_count], to be freed. False
 * without memory or with fewer than three points. For a few thousand points, no two in one place; a hull with many
 * points on a line is met. */
bool triangulate(const double *points, int32_t count, int32_t **triangles, int32_t *triangle_count);

#endif
