/* SPDX-License-Identifier: MIT
 *
 * intersection.c: whether two cells cross: an edge of one passes through the face of the other, or they are within a core.
 *
 * Signs of volumes are trusted beyond the bound of their round-off (J. R. Shewchuk, "Adaptive precision floating-point
 * arithmetic and fast robust geometric predicates", 1997: (7 + 56 eps) eps times the sum of absolute products); what is
 * nearer to zero touches and does not pass. So no crossing is found where there is none. Limits: triangles that overlap
 * in one plane do not cross, nor does an edge that passes through the very border of a triangle.
 */
#include <float.h>

#include "collide/reach_test.h"

static const double bound = (7 + 56 * DBL_EPSILON / 2) * DBL_EPSILON / 2;

/* -1, 0 or 1: the side of the plane through p, q, r on which x lies. */
static int side_of(const double p[3], const double q[3], const double r[3], const double x[3])
{
    double a[3], b[3], c[3], volume = 0, size = 0;
    closest_minus(p, x, a);
    closest_minus(q, x, b);
    closest_minus(r, x, c);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double ij = b[i] * c[j], ji = b[j] * c[i];
        volume += a[k] * (ij - ji);
        size += fabs(a[k]) * (fabs(ij) + fabs(ji));
    }
    return volume > bound * size ? 1 : volume < -bound * size ? -1 : 0;
}

/* Whether the segment p q passes through the triangle t, whose plane it does. */
static bool edge_passes(const double p[3], const double q[3], double t[3][3])
{
    const int first = side_of(p, q, t[0], t[1]);
    return first != 0 && side_of(p, q, t[1], t[2]) == first && side_of(p, q, t[2], t[0]) == first;
}

/* Corners of a cell; returns how many there are. */
static int corners_of(const sinew_features *f, const sinew_real *x, int32_t cell, double corners[3][3])
{
    const int32_t *v = f->cells[cell];
    const int count = v[0] == v[1] ? 1 : v[1] == v[2] ? 2 : 3;
    for (int i = 0; i < count; i++)
        near_point(x, v[i], corners[i]);
    return count;
}

/* The sides of the plane of the triangle t on which a cell's corners lie. False: all surely on one. */
static bool may_pass(double corners[3][3], int count, double t[3][3], int sides[3])
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sides[i] = side_of(t[0], t[1], t[2], corners[i]);
        sum += sides[i];
    }
    return sum != count && sum != -count;
}

/* Whether a side of a cell, whose corners lie on these sides of its plane, passes through the triangle t. */
static bool side_passes(double corners[3][3], int count, const int sides[3], double t[3][3])
{
    for (int i = 0; i < (count == 3 ? 3 : count - 1); i++) {
        const int j = (i + 1) % 3;
        if (sides[i] * sides[j] < 0 && edge_passes(corners[i], corners[j], t))
            return true;
    }
    return false;
}

/* Of two triangles that pass through each other none lies on one side of the other's plane. */
static bool cells_pass(double p[3][3], int p_count, double q[3][3], int q_count)
{
    int p_sides[3], q_sides[3];
    if ((p_count < 3 && q_count < 3) || (q_count == 3 && !may_pass(p, p_count, q, p_sides)) ||
        (p_count == 3 && !may_pass(q, q_count, p, q_sides)))
        return false;
    return (q_count == 3 && side_passes(p, p_count, p_sides, q)) ||
           (p_count == 3 && side_passes(q, q_count, q_sides, p));
}

static double point_distance2(const double p[3], double b[3][3], int count)
{
    sinew_closest best;
    double from[2][3], along[3], z[3], d2;
    if (count == 3) {
        closest_triangle(p, b, &best);
        return best.d2;
    }
    closest_minus(p, b[0], from[0]);
    closest_minus(p, b[count - 1], from[1]);
    closest_minus(b[count - 1], b[0], along);
    closest_on_segment(from[0], from[1], along, z, &d2);
    return d2;
}

/* Squared distance of two cells that do not pass through each other: corners to the other cell, and sides. */
static double cell_distance2(double a[3][3], int a_count, double b[3][3], int b_count)
{
    double least = INFINITY;
    sinew_closest best;
    for (int i = 0; i < a_count; i++)
        least = fmin(least, point_distance2(a[i], b, b_count));
    for (int j = 0; j < b_count; j++)
        least = fmin(least, point_distance2(b[j], a, a_count));
    for (int i = 0; i < (a_count == 3 ? 3 : a_count - 1); i++)
        for (int j = 0; j < (b_count == 3 ? 3 : b_count - 1); j++) {
            double p[2][3] = {{a[i][0], a[i][1], a[i][2]}, {a[(i + 1) % 3][0], a[(i + 1) % 3][1], a[(i + 1) % 3][2]}};
            double q[2][3] = {{b[j][0], b[j][1], b[j][2]}, {b[(j + 1) % 3][0], b[(j + 1) % 3][1], b[(j + 1) % 3][2]}};
            closest_segments(p, q, &best);
            least = fmin(least, best.d2);
        }
    return least;
}

bool sinew_cells_cross(const sinew_features *features, const sinew_real *x, int32_t a, int32_t b)
{
    double p[3][3], q[3][3];
    const int p_count = corners_of(features, x, a, p), q_count = corners_of(features, x, b, q);
    if (cells_pass(p, p_count, q, q_count))
        return true;
    const double cores = near_cores(features, features->cells[a][0], features->cells[b][0]);
    return cores > 0 && sqrt(cell_distance2(p, p_count, q, q_count)) < cores;
}
