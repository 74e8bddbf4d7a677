/* SPDX-License-Identifier: MIT
 *
 * embedded_sample.h: nearest vertices and interpolated values of a skin at given points.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_SAMPLE_H
#define SINEW_SRC_IO_MESH_EMBEDDED_SAMPLE_H

#include "base/base.h"
#include "sinew/skin.h"

/* vertices[count] receives the nearest vertex of the skin for each of points[3 * count]; among equally near vertices
 * the one with the lowest index. */
sinew_status sinew_skin_nearest(const sinew_skin *skin, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *points, int32_t *vertices, sinew_error *error);
/* values[count] receives painted[vertex_count of the skin], interpolated at the closest point of the skin for each of
 * points[3 * count]. */
sinew_status sinew_skin_sample(const sinew_skin *skin, const float *painted, const sinew_allocator *allocator,
                               int32_t count, const sinew_real *points, sinew_real *values, sinew_error *error);

#endif
