/* SPDX-License-Identifier: MIT
 *
 * region.c: selects points in a box, a ball or a half space, or the point nearest to a position.
 *
 * Box and ball are widened by a small fraction of their size, because points on the boundary may miss it by round-off.
 * A half space has no size and is not widened. Sums are in double in both precisions.
 */
#include "sinew/mesh.h"

#include "base/base.h"
#include "math/vec3.h"

#include <math.h>

#ifdef SINEW_SINGLE
#define WIDENING 1e-5
#else
#define WIDENING 1e-9
#endif

static double distance_squared(const sinew_real a[3], const sinew_real x[3])
{
    double d[3];
    vec3_edge(a, x, d);
    return vec3_dot(d, d);
}

/* Margin by which a box is widened, in m. It follows the longest edge, so that a flat box is widened across its plane,
 * too. */
static double box_margin(const sinew_region *region)
{
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, (double)region->b[k] - (double)region->a[k]);
    return WIDENING * size;
}

static bool in_box(const sinew_region *region, double margin, const sinew_real x[3])
{
    for (int k = 0; k < 3; k++)
        if (!((double)x[k] >= (double)region->a[k] - margin && (double)x[k] <= (double)region->b[k] + margin))
            return false;
    return true;
}

static bool in_half_space(const sinew_region *region, const sinew_real x[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += ((double)x[k] - (double)region->a[k]) * (double)region->b[k];
    return sum >= 0;
}

static bool region_contains(const sinew_region *region, double margin, const sinew_real x[3])
{
    double radius = (double)region->radius * (1 + WIDENING);
    switch (region->kind) {
    case SINEW_REGION_BOX:
        return in_box(region, margin, x);
    case SINEW_REGION_SPHERE:
        return region->radius >= 0 && distance_squared(region->a, x) <= radius * radius;
    case SINEW_REGION_HALF_SPACE:
        return in_half_space(region, x);
    case SINEW_REGION_NEAREST:
        break;
    }
    return false;
}

static int32_t region_nearest(const sinew_real a[3], const sinew_real *positions, int32_t count)
{
    int32_t best = -1;
    double min = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        double d = distance_squared(a, positions + 3 * (size_t)i);
        if (d < min) {
            min = d;
            best = i;
        }
    }
    return best;
}

int32_t sinew_region_select(const sinew_region *region, const sinew_real *positions, int32_t count, int32_t *indices,
                            int32_t capacity)
{
    if (!SINEW_ASSERT(region && (positions || count <= 0)))
        return 0;
    int32_t found = 0, only = -1;
    double margin = 0;
    if (region->kind == SINEW_REGION_NEAREST)
        only = region_nearest(region->a, positions, count);
    else if (region->kind == SINEW_REGION_BOX)
        margin = box_margin(region);
    for (int32_t i = 0; i < count; i++) {
        if (i != only && !region_contains(region, margin, positions + 3 * (size_t)i))
            continue;
        if (indices && found < capacity)
            indices[found] = i;
        found++;
    }
    return found;
}
