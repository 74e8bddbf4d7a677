/* SPDX-License-Identifier: MIT
 *
 * chunk_derivatives.c: value, gradient and Hessian of one chunk or one element. See chunk_derivatives.h.
 */
#include "objective/chunk_derivatives.h"

#include <string.h>

/* ---- Value, gradient and Hessian products of a chunk --------------------------------------------- */

size_t sinew_chunk_tangent_count(const sinew_batch *batch, const sinew_chunk *chunk)
{
    return (size_t)chunk->group_count * (size_t)batch->width * (size_t)batch->ops->tangent_count;
}

void sinew_chunk_gather(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *vector, sinew_real *local)
{
    for (int32_t i = 0; i < chunk->slot_count; i++)
        memcpy(local + SINEW_POINT * (size_t)i, vector + SINEW_POINT * (size_t)batch->particle[chunk->first_slot + i],
               SINEW_POINT * sizeof *local);
}

double sinew_chunk_value(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x)
{
    return batch->ops->value(&(sinew_kernel){.groups = sinew_batch_groups(batch, chunk), .x = x});
}

double sinew_chunk_gradient(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x, sinew_real *g)
{
    return batch->ops->gradient(&(sinew_kernel){.groups = sinew_batch_groups(batch, chunk), .x = x, .g = g});
}

void sinew_chunk_linearise(const sinew_batch *batch, const sinew_chunk *chunk, const sinew_real *x, sinew_real *tangent)
{
    batch->ops->linearise(
        &(sinew_kernel){.groups = sinew_batch_groups(batch, chunk), .x = x, .tangent = tangent, .project = true});
}

void sinew_chunk_product(const sinew_batch *batch, const sinew_chunk *chunk, sinew_real *tangent, const sinew_real *p,
                         sinew_real *g)
{
    batch->ops->product(
        &(sinew_kernel){.groups = sinew_batch_groups(batch, chunk), .p = p, .g = g, .tangent = tangent});
}

/* ---- Value, gradient and Hessian of one element -------------------------------------------------- */

typedef struct element_points {
    sinew_real x[SINEW_POINT * SINEW_STENCIL_MAX], g[SINEW_POINT * SINEW_STENCIL_MAX];
} element_points;

static sinew_kernel element_kernel(const sinew_element_view *e, const double *p, element_points *points)
{
    memset(points, 0, sizeof *points);
    for (int32_t a = 0; a < e->point_count; a++)
        for (int32_t c = 0; c < 3; c++)
            points->x[SINEW_POINT * a + c] = (sinew_real)p[3 * a + c];
    return (sinew_kernel){.groups = {.count = 1, .vertex = e->vertex, .data = e->data},
                          .x = points->x,
                          .g = points->g,
                          .tangent = e->tangent,
                          .blocks = e->blocks};
}

double sinew_element_value(const sinew_element_view *e, const double *p)
{
    element_points points;
    const sinew_kernel kernel = element_kernel(e, p, &points);
    return e->ops->value(&kernel);
}

void sinew_element_gradient(const sinew_element_view *e, const double *p, double *gradient)
{
    element_points points;
    const sinew_kernel kernel = element_kernel(e, p, &points);
    e->ops->gradient(&kernel);
    for (int32_t i = 0; i < 3 * e->point_count; i++)
        gradient[i] = (double)points.g[SINEW_POINT * (i / 3) + i % 3];
}

void sinew_element_hessian(const sinew_element_view *e, const double *p, bool project, double *H)
{
    element_points points;
    const int32_t n = e->ops->info.vertex_count, size = 3 * e->point_count;
    sinew_kernel kernel = element_kernel(e, p, &points);
    kernel.project = project;
    e->ops->linearise(&kernel);
    e->ops->hessian(&kernel);
    memset(H, 0, (size_t)(size * size) * sizeof *H);
    const sinew_real *block = e->blocks;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++, block += 9) {
            const int32_t row = 3 * (e->vertex[a] / SINEW_POINT), column = 3 * (e->vertex[b] / SINEW_POINT);
            for (int32_t i = 0; i < 9; i++) {
                H[(row + i / 3) * size + column + i % 3] += (double)block[i];
                if (a != b)
                    H[(column + i % 3) * size + row + i / 3] += (double)block[i];
            }
        }
}
