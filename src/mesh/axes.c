/* SPDX-License-Identifier: MIT
 *
 * axes.c: rotates and scales the points of a file from its vertical axis and unit to y up and metres.
 *
 * Each rotation takes the vertical axis to y and fixes one other axis, so nothing is mirrored.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "sinew/mesh.h"

/* Rotation by signed axes: coordinate i of the result is sign[i] times coordinate from[i] of the file. */
typedef struct turn {
    const char *up;
    int from[3];
    int sign[3];
} turn;

static const turn turns[] = {
    {"y", {0, 1, 2}, {1, 1, 1}},   {"-y", {0, 1, 2}, {1, -1, -1}}, {"z", {0, 2, 1}, {1, 1, -1}},
    {"-z", {0, 2, 1}, {1, -1, 1}}, {"x", {1, 0, 2}, {-1, 1, 1}},   {"-x", {1, 0, 2}, {1, -1, 1}},
};

sinew_status sinew_orient_points(const char *up, double scale, int32_t count, sinew_real *points, sinew_error *error)
{
    const turn *found = NULL;
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++)
        if (strcmp(up ? up : "y", turns[i].up) == 0)
            found = &turns[i];
    if (!found)
        return sinew_fail(error, SINEW_ERROR_DATA, "up is \"%.20s\", must be one of x, y, z, -x, -y, -z", up);
    if (!(isfinite(scale) && scale > 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "scale is %g m, must be finite and greater than 0", scale);
    for (int32_t i = 0; i < count; i++) {
        sinew_real *x = points + 3 * (size_t)i, old[3] = {x[0], x[1], x[2]};
        for (int c = 0; c < 3; c++) {
            x[c] = (sinew_real)(found->sign[c] * scale * (double)old[found->from[c]]);
            if (!isfinite(x[c]))
                return sinew_fail(error, SINEW_ERROR_DATA, "vertex %d is at %g m with a scale of %g m", (int)i,
                                  scale * (double)old[found->from[c]], scale);
        }
    }
    return SINEW_OK;
}
