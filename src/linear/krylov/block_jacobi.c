/* SPDX-License-Identifier: MIT
 *
 * block_jacobi.c: inverts 3x3 diagonal blocks and applies them. See block_jacobi.h.
 */
#include "linear/krylov/block_jacobi.h"

#include <math.h>

#include "base/reduce.h"

/* Smallest determinant of a 3x3 block, relative to the cube of its trace, that counts as safely positive definite. */
#define DEFINITE_FLOOR 1e-12

sinew_status sinew_block_inverse_create(const sinew_allocator *allocator, sinew_block_inverse *blocks, int32_t count,
                                        int32_t thread_count, sinew_error *error)
{
    *blocks = (sinew_block_inverse){.count = count, .thread_count = thread_count};
    blocks->inverse = sinew_allocate_zero(allocator, 9 * (size_t)count, sizeof *blocks->inverse);
    return blocks->inverse ? SINEW_OK : sinew_fail_memory(error, "the preconditioner");
}

void sinew_block_inverse_destroy(const sinew_allocator *allocator, sinew_block_inverse *blocks)
{
    sinew_release(allocator, blocks->inverse);
    *blocks = (sinew_block_inverse){0};
}

bool sinew_invert_block(const double A[9], double floor, double inverse[9])
{
    double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8], c2 = A[3] * A[7] - A[4] * A[6];
    double det = A[0] * c0 + A[1] * c1 + A[2] * c2, size = A[0] + A[4] + A[8];
    double minor = A[0] * A[4] - A[1] * A[3];
    if (!(A[0] > 0 && minor > 0 && det > floor * size * size * size))
        return false;
    const double cofactors[9] = {c0, A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                                 c1, A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                                 c2, A[1] * A[6] - A[0] * A[7], minor};
    for (int i = 0; i < 9; i++)
        inverse[i] = cofactors[i] / det;
    return true;
}

typedef struct setting {
    sinew_block_inverse *blocks;
    const double *diagonal;
} setting;

static void invert_block_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const setting *set = context;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        const double *A = set->diagonal + 9 * (size_t)i;
        double inverse[9] = {0};
        if (!sinew_invert_block(A, DEFINITE_FLOOR, inverse)) {
            double size = fmax(fabs(A[0]), fmax(fabs(A[4]), fabs(A[8])));
            inverse[0] = inverse[4] = inverse[8] = size > 0 ? 1 / size : 1;
        }
        for (size_t k = 0; k < 9; k++)
            set->blocks->inverse[9 * (size_t)i + k] = (sinew_real)inverse[k];
    }
}

void sinew_block_inverse_set(sinew_block_inverse *blocks, const double *diagonal)
{
    sinew_over_particles(blocks->thread_count, blocks->count, invert_block_range, &(setting){blocks, diagonal});
}

typedef struct application {
    const sinew_block_inverse *blocks;
    const sinew_real *r;
    sinew_real *z;
} application;

static void apply_block_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const application *a = context;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        const sinew_real *P = a->blocks->inverse + 9 * (size_t)i, *ri = a->r + 4 * (size_t)i;
        for (size_t c = 0; c < 3; c++)
            a->z[4 * (size_t)i + c] = P[3 * c] * ri[0] + P[3 * c + 1] * ri[1] + P[3 * c + 2] * ri[2];
    }
}

void sinew_block_inverse_apply(const sinew_block_inverse *blocks, const sinew_real *r, sinew_real *z)
{
    sinew_over_particles(blocks->thread_count, blocks->count, apply_block_range, &(application){blocks, r, z});
}
