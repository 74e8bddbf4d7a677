/* SPDX-License-Identifier: MIT
 *
 * box8.h: SIMD operations on the eight child boxes of a node, for kernel files: one register with AVX2; without AVX2
 * the compiler divides a vector of eight floats among the registers that there are.
 */
#ifndef SINEW_SRC_BVH_BOX8_H
#define SINEW_SRC_BVH_BOX8_H

#include "math/simd.h"
#include "bvh/tree.h"

typedef float box8 __attribute__((vector_size(32)));
typedef int32_t box8_mask __attribute__((vector_size(32)));

#if defined(__AVX2__)
#include <immintrin.h>
#endif

static inline box8 box8_load(const float *p)
{
    box8 r;
    memcpy(&r, __builtin_assume_aligned(p, 32), sizeof r);
    return r;
}

static inline box8 box8_set(float a)
{
    return a - (box8){0};
}

#if defined(__AVX2__)
static inline box8 box8_min(box8 a, box8 b)
{
    return (box8)_mm256_min_ps((__m256)a, (__m256)b);
}
static inline box8 box8_max(box8 a, box8 b)
{
    return (box8)_mm256_max_ps((__m256)a, (__m256)b);
}
/* Bit i of the result is set if a <= b for box i of eight. */
static inline uint32_t box8_le(box8 a, box8 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ));
}
#else
static inline box8 box8_select(box8_mask m, box8 a, box8 b)
{
    return (box8)(((box8_mask)a & m) | ((box8_mask)b & ~m));
}
static inline box8 box8_min(box8 a, box8 b)
{
    return box8_select((box8_mask)(a < b), a, b);
}
static inline box8 box8_max(box8 a, box8 b)
{
    return box8_select((box8_mask)(b < a), a, b);
}
static inline uint32_t box8_le(box8 a, box8 b)
{
    const box8_mask m = (box8_mask)(a <= b);
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint32_t)(m[i] & 1) << i;
    return bits;
}
#endif

/* ---- The stack of a traversal --------------------------------------------------------------------- */

typedef struct box8_entry {
    float key; /* squared distance, or ray parameter, at which the box of the child begins */
    uint32_t child;
} box8_entry;

/* Pushes the children whose bits are set onto the stack, the nearest on top. Returns the new height. */
static inline int box8_push(box8_entry *stack, int top, const sinew_tree_node *node, uint32_t bits, box8 keys)
{
    float key[8];
    memcpy(key, &keys, sizeof key);
    const int base = top;
    for (; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        int at = top++;
        for (; at > base && stack[at - 1].key < key[i]; at--)
            stack[at] = stack[at - 1];
        stack[at] = (box8_entry){key[i], node->child[i]};
    }
    return top;
}

/* ---- Cells of a leaf ----------------------------------------------------------------------------- */

/* Loads the corners of SIMD_WIDTH cells of a block (leaf), from cell `at` on. */
static inline void box8_corners(const sinew_tree *tree, uint32_t block, int width, int at, wide x[9])
{
    const sinew_real *corners = tree->shape.corners + (size_t)block * (size_t)(3 * width * SINEW_TREE_BLOCK) + at;
    for (int k = 0; k < 3 * width; k++)
        x[k] = wide_load(corners + k * SINEW_TREE_BLOCK);
}

/* Bit i of the result is set if the mask of SIMD element i is true. */
static inline uint32_t box8_bits(wide_mask m)
{
#if defined(WIDE_AVX2_SINGLE)
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif defined(WIDE_AVX2_DOUBLE)
    return (uint32_t)_mm256_movemask_pd((__m256d)m);
#elif SIMD_WIDTH == 1
    return (uint32_t)(m & 1);
#else
    uint32_t bits = 0;
    for (int i = 0; i < SIMD_WIDTH; i++)
        bits |= (uint32_t)(m[i] & 1) << i;
    return bits;
#endif
}

#endif
