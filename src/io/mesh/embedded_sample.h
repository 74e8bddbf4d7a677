/* SPDX-License-Identifier: MIT
 *
 * embedded_sample.h: what a skin says about places near it.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_SAMPLE_H
#define SINEW_SRC_IO_MESH_EMBEDDED_SAMPLE_H

#include "base/base.h"
#include "sinew/skin.h"

/* The vertex of the skin nearest to each of `points` [3 * count]; the lowest of equals. */
sinew_status sinew_skin_nearest(const sinew_skin *skin, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *points, int32_t *vertices, sinew_error *error);
/* A painted value [vertex_count of the skin] at the place of the skin nearest to each point, between its vertices by
 * the weights of the place. */
sinew_status sinew_skin_sample(const sinew_skin *skin, const float *painted, const sinew_allocator *allocator,
                               int32_t count, const sinew_real *points, sinew_real *values, sinew_error *error);

#endif
