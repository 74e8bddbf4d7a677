/* SPDX-License-Identifier: MIT
 *
 * bench_decompose.c: time per matrix of each decomposition in each SIMD variant, and its ratio to the scalar variant.
 *
 * Two sets of matrices: "near rest", (I + 0.3 noise) times a random rotation, as in most simulations; and "random",
 * uniform entries. They stay in the second-level cache; one thread. Values are medians of REPEATS runs, in processor
 * time of the thread, which other processes disturb little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "math/small/decompose_batch.h"

enum {
    MATRIX_COUNT = 2048,
    ROUNDS = 4,
    REPEATS = 101,
    KERNEL_COUNT = 4
};

typedef struct buffers {
    _Alignas(SINEW_ALIGNMENT) sinew_real F[MATRIX_COUNT * 9], a[MATRIX_COUNT * 9], b[MATRIX_COUNT * 9],
        c[MATRIX_COUNT * 9];
} buffers;

static const char *const kernel_names[KERNEL_COUNT] = {"svd3", "polar3", "polar32", "eigen3"};

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1.0;
}

/* F, row-major: a random rotation times I + 0.3 noise, or times noise alone. */
static void make_matrix(bool near_rest, double F[9])
{
    double w = uniform(), x = uniform(), y = uniform(), z = uniform(), s = 2 / (w * w + x * x + y * y + z * z), G[9];
    const double R[9] = {1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
                         s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
                         s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
    for (int i = 0; i < 9; i++)
        G[i] = near_rest ? (i % 4 == 0) + 0.3 * uniform() : uniform();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            F[3 * i + j] = R[3 * i] * G[j] + R[3 * i + 1] * G[3 + j] + R[3 * i + 2] * G[6 + j];
}

/* Fills in the same matrices for every SIMD width. Kernels of six entries read the first six; their values do not
 * matter. */
static void fill(buffers *arrays, int width, bool near_rest)
{
    srand(1);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        double F[9];
        make_matrix(near_rest, F);
        for (int i = 0; i < 9; i++)
            arrays->F[(m / width * 9 + i) * width + m % width] = (sinew_real)F[i];
    }
}

static void run(const sinew_decompose_batch *variant, int kernel, buffers *arrays)
{
    const size_t groups = MATRIX_COUNT / (size_t)variant->width;
    for (int round = 0; round < ROUNDS; round++) {
        if (kernel == 0)
            variant->svd3(groups, arrays->F, arrays->a, arrays->b, arrays->c);
        else if (kernel == 1)
            variant->polar3(groups, arrays->F, arrays->a);
        else if (kernel == 2)
            variant->polar32(groups, arrays->F, arrays->a);
        else
            variant->eigen3(groups, arrays->F, arrays->a, arrays->b);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds per matrix. */
static double measure(const sinew_decompose_batch *variant, int kernel, buffers *arrays)
{
    double seconds[REPEATS];
    run(variant, kernel, arrays);
    for (int i = 0; i < REPEATS; i++) {
        double start = processor_seconds();
        run(variant, kernel, arrays);
        seconds[i] = processor_seconds() - start;
    }
    qsort(seconds, REPEATS, sizeof seconds[0], compare);
    return 1e9 * seconds[REPEATS / 2] / ((double)MATRIX_COUNT * ROUNDS);
}

int main(void)
{
    int32_t count;
    const sinew_decompose_batch *const *variants = sinew_decompose_variants(&count);
    buffers *arrays = aligned_alloc(SINEW_ALIGNMENT, sizeof *arrays);
    if (!arrays) {
        fprintf(stderr, "bench_decompose: out of memory\n");
        return 1;
    }
    memset(arrays, 0, sizeof *arrays);
    printf("precision,matrices,kernel,variant,width,ns_per_matrix,speed_over_scalar\n");
    for (int near_rest = 1; near_rest >= 0; near_rest--)
        for (int kernel = 0; kernel < KERNEL_COUNT; kernel++) {
            double scalar = 0;
            for (int32_t i = count - 1; i >= 0; i--) { /* prints the scalar variant, the last one, first */
                fill(arrays, variants[i]->width, near_rest);
                double ns = measure(variants[i], kernel, arrays);
                scalar = scalar > 0 ? scalar : ns;
                printf("%s,%s,%s,%s,%d,%.1f,%.2f\n", SINEW_PRECISION, near_rest ? "near rest" : "random",
                       kernel_names[kernel], variants[i]->name, variants[i]->width, ns, scalar / ns);
            }
        }
    free(arrays);
    return 0;
}
