/* SPDX-License-Identifier: MIT
 *
 * triangulate.h: triangulation of points of the plane, for meshes that no generator makes.
 */
#ifndef SINEW_EXPERIMENTS_TRIANGULATE_H
#define SINEW_EXPERIMENTS_TRIANGULATE_H

#include <stdbool.h>
#include <stdint.h>

/* Delaunay triangulation of distinct points [2 * count], anticlockwise: *triangles [3 * *triangle_count], to be freed.
 * Suitable for a few thousand points, and for hulls with many collinear points. Returns false if out of memory or with
 * fewer than three points. */
bool triangulate(const double *points, int32_t count, int32_t **triangles, int32_t *triangle_count);

#endif
