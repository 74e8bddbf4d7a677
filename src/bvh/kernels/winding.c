/* SPDX-License-Identifier: MIT
 *
 * winding.c: generalised winding numbers: the sum of the solid angles of all triangles, seen from a point, over
 * 4 pi (A. Jacobson et al., "Robust inside-outside segmentation using generalized winding numbers", 2013).
 *
 * A triangle's solid angle is exact: A. Van Oosterom, J. Strackee, "The solid angle of a plane triangle" (1983). A
 * child of the tree that is farther than SINEW_TREE_BETA times its radius is expanded around its centre (G. Barill et
 * al., "Fast winding numbers for soups and clouds", 2018) up to the third term, with r from the point to the centre:
 *     4 pi w = N.r / |r|^3 - 3 r.M r / |r|^5 + 7.5 T:rrr / |r|^7
 * winding_moments.c includes the factors -3 and 7.5 in the stored M and T. Eight children are expanded at once, in
 * float; their sum and the exact angles are accumulated in double.
 */
#include "bvh/box8.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

static inline box8 box8_sqrt(box8 a)
{
#if defined(__AVX2__)
    return (box8)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < 8; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* 4 pi w, w the winding number, of the far field of each child. Powers are computed from the unit vector, because
 * powers of r may overflow. */
static inline box8 far_angles(const sinew_tree_moments *m, const box8 r[3], box8 r2)
{
    const box8 inverse = 1 / box8_sqrt(r2), x = r[0] * inverse, y = r[1] * inverse, z = r[2] * inverse;
    const box8 first = box8_load(m->normal[0]) * x + box8_load(m->normal[1]) * y + box8_load(m->normal[2]) * z;
    box8 second = x * (box8_load(m->second[0]) * x + box8_load(m->second[3]) * y);
    second += y * (box8_load(m->second[1]) * y + box8_load(m->second[4]) * z);
    second += z * (box8_load(m->second[2]) * z + box8_load(m->second[5]) * x);
    box8 third = x * x * (box8_load(m->third[0]) * x + box8_load(m->third[3]) * y + box8_load(m->third[4]) * z);
    third += y * y * (box8_load(m->third[1]) * y + box8_load(m->third[5]) * x + box8_load(m->third[6]) * z);
    third += z * z * (box8_load(m->third[2]) * z + box8_load(m->third[7]) * x + box8_load(m->third[8]) * y);
    third += box8_load(m->third[9]) * (x * y * z);
    return inverse * inverse * (first + inverse * (second + inverse * third));
}

static double solid_angle(double x[3][3])
{
    const double *a = x[0], *b = x[1], *c = x[2];
    const double la = vec3_norm(a), lb = vec3_norm(b), lc = vec3_norm(c), y = vec3_triple(a, b, c);
    return y == 0 ? 0 : 2 * atan2(y, la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb);
}

/* The solid angle of all triangles of a block (leaf), seen from q, which is relative to the tree's origin. */
static double block_angle(const sinew_tree *tree, uint32_t block, const double q[3])
{
    double sum = 0;
    const sinew_real *corners = tree->shape.corners + (size_t)block * 9 * SINEW_TREE_BLOCK;
    for (int32_t i = 0; i < tree->shape.counts[block]; i++) {
        double x[3][3];
        for (int row = 0; row < 9; row++)
            x[row / 3][row % 3] = ((double)corners[row * SINEW_TREE_BLOCK + i] - tree->origin[row % 3]) - q[row % 3];
        sum += solid_angle(x);
    }
    return sum;
}

double SINEW_SIMD_SYMBOL(sinew_tree_find_winding)(const sinew_tree *tree, const double q[3]);
double SINEW_SIMD_SYMBOL(sinew_tree_find_winding)(const sinew_tree *tree, const double q[3])
{
    uint32_t stack[SINEW_TREE_STACK];
    int top = 1;
    stack[0] = 0;
    double sum = 0;
    while (top > 0) {
        const uint32_t at = stack[--top];
        if (at & SINEW_TREE_LEAF) {
            sum += block_angle(tree, at & ~SINEW_TREE_LEAF, q);
            continue;
        }
        const sinew_tree_node *node = tree->shape.nodes + at;
        const sinew_tree_moments *m = tree->shape.moments + at;
        box8 r[3], r2 = box8_set(0);
        for (int k = 0; k < 3; k++) {
            r[k] = box8_load(m->centre[k]) - box8_set((float)q[k]);
            r2 += r[k] * r[k];
        }
        const uint32_t children = (1u << node->child_count) - 1, near = box8_le(r2, box8_load(m->limit)) & children;
        for (uint32_t bits = near; bits; bits &= bits - 1)
            stack[top++] = node->child[__builtin_ctz(bits)];
        if (near == children)
            continue;
        const box8 angles = far_angles(m, r, r2);
        for (uint32_t bits = children & ~near; bits; bits &= bits - 1)
            sum += (double)angles[__builtin_ctz(bits)];
    }
    return sum / (4 * PI);
}
