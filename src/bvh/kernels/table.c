/* SPDX-License-Identifier: MIT
 *
 * table.c: the BVH query kernels of one SIMD variant.
 */
#include "math/simd.h"
#include "bvh/tree.h"

void SINEW_SIMD_SYMBOL(sinew_tree_find_nearest)(const sinew_tree *tree, sinew_nearest_query *query);
void SINEW_SIMD_SYMBOL(sinew_tree_find_hit)(const sinew_tree *tree, sinew_ray_query *query);
bool SINEW_SIMD_SYMBOL(sinew_tree_find_any)(const sinew_tree *tree, sinew_ray_query *query);
double SINEW_SIMD_SYMBOL(sinew_tree_find_winding)(const sinew_tree *tree, const double q[3]);

extern const sinew_tree_kernel SINEW_SIMD_SYMBOL(sinew_tree_kernel);
const sinew_tree_kernel SINEW_SIMD_SYMBOL(sinew_tree_kernel) = {
    .name = SIMD_NAME,
    .nearest = SINEW_SIMD_SYMBOL(sinew_tree_find_nearest),
    .ray = SINEW_SIMD_SYMBOL(sinew_tree_find_hit),
    .ray_any = SINEW_SIMD_SYMBOL(sinew_tree_find_any),
    .winding = SINEW_SIMD_SYMBOL(sinew_tree_find_winding),
};
