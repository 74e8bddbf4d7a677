/* SPDX-License-Identifier: MIT
 *
 * dense_float.c: dense kernels rounded to 32 bits (dense_float.h), as plain loops over columns, without tiles: speed
 * does not matter here.
 */
#include "linear/factor/dense_float.h"

#include <math.h>

/* y[r] -= f x[r] for r = first .. count - 1, each operation rounded to 32 bits. */
static void subtract_multiple(int32_t first, int32_t count, float f, const double *x, double *y)
{
    for (int32_t r = first; r < count; r++) {
        const float part = f * (float)x[r];
        y[r] = (double)((float)y[r] - part);
    }
}

static void single_product(int32_t rows, int32_t columns, int32_t depth, const double *A, size_t stride,
                           const double *sign, double *C, double *work, sinew_dense_poll *poll)
{
    const size_t height = sinew_dense_round((size_t)rows);
    (void)sign;
    (void)work;
    for (int32_t j = 0; j < columns && !(poll && poll()); j++) {
        double *c = C + (size_t)j * height;
        for (int32_t r = j; r < rows; r++)
            c[r] = 0;
        for (int32_t k = 0; k < depth; k++)
            subtract_multiple(j, rows, -(float)A[(size_t)k * stride + (size_t)j], A + (size_t)k * stride, c);
    }
}

static int32_t single_factorise(int32_t rows, int32_t columns, double *supernode, const sinew_dense_signs *signs,
                                double *C, double *work, sinew_dense_poll *poll)
{
    (void)signs;
    (void)C;
    (void)work;
    for (int32_t j = 0; j < columns; j++) {
        double *own = supernode + (size_t)j * (size_t)rows;
        if (j > 0 && poll && poll())
            return j;
        for (int32_t k = 0; k < j; k++) {
            const double *before = supernode + (size_t)k * (size_t)rows;
            subtract_multiple(j, rows, (float)before[j], before, own);
        }
        if (!(own[j] > 0))
            return j;
        const float root = sqrtf((float)own[j]);
        own[j] = (double)root;
        for (int32_t r = j + 1; r < rows; r++)
            own[r] = (double)((float)own[r] / root);
    }
    return -1;
}

const sinew_dense_kernels sinew_dense_single = {.product = single_product, .factorise = single_factorise};
