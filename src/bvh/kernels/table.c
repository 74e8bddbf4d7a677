/* SPDX-License-Identifier: MIT
 *
 * table.c: the questions of one lane variant.
 */
#include "math/lanes.h"
#include "bvh/tree.h"

void SINEW_LANE_SYMBOL(sinew_tree_find_nearest)(const sinew_tree *tree, sinew_nearest_query *query);
void SINEW_LANE_SYMBOL(sinew_tree_find_hit)(const sinew_tree *tree, sinew_ray_query *query);
bool SINEW_LANE_SYMBOL(sinew_tree_find_any)(const sinew_tree *tree, sinew_ray_query *query);
double SINEW_LANE_SYMBOL(sinew_tree_find_winding)(const sinew_tree *tree, const double q[3]);

extern const sinew_tree_kernel SINEW_LANE_SYMBOL(sinew_tree_kernel);
const sinew_tree_kernel SINEW_LANE_SYMBOL(sinew_tree_kernel) = {
    .name = LANE_NAME,
    .usable = lane_usable,
    .nearest = SINEW_LANE_SYMBOL(sinew_tree_find_nearest),
    .ray = SINEW_LANE_SYMBOL(sinew_tree_find_hit),
    .ray_any = SINEW_LANE_SYMBOL(sinew_tree_find_any),
    .winding = SINEW_LANE_SYMBOL(sinew_tree_find_winding),
};
