/* SPDX-License-Identifier: MIT
 *
 * intersection.c: tests whether two primitives intersect: an edge of one passes through the face of the other, or
 * their distance is below the sum of their radii.
 *
 * The sign of a volume counts only if the volume exceeds the bound of its round-off: (7 + 56 eps) eps times the sum
 * of absolute products (J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
 * predicates", 1997). A smaller volume counts as touching, so no false intersection is reported. Limits: triangles
 * that overlap in one plane do not intersect, nor does an edge that passes exactly through the border of a triangle.
 */
#include <float.h>

#include "collide/narrow_phase.h"
#include "math/vec3.h"

static const double bound = (7 + 56 * DBL_EPSILON / 2) * DBL_EPSILON / 2;

/* Side of the plane through p, q, r on which x lies: -1 or 1; 0: undecided within round-off. */
static int plane_side(const double p[3], const double q[3], const double r[3], const double x[3])
{
    double a[3], b[3], c[3], volume = 0, size = 0;
    vec3_sub(p, x, a);
    vec3_sub(q, x, b);
    vec3_sub(r, x, c);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double ij = b[i] * c[j], ji = b[j] * c[i];
        volume += a[k] * (ij - ji);
        size += fabs(a[k]) * (fabs(ij) + fabs(ji));
    }
    return volume > bound * size ? 1 : volume < -bound * size ? -1 : 0;
}

/* True if the segment p q, which crosses the plane of triangle t, passes through t. */
static bool segment_passes_triangle(const double p[3], const double q[3], double t[3][3])
{
    const int first = plane_side(p, q, t[0], t[1]);
    return first != 0 && plane_side(p, q, t[1], t[2]) == first && plane_side(p, q, t[2], t[0]) == first;
}

/* Copies the vertex positions of a primitive to `corners`; returns the number of corners: 1, 2 or 3. */
static int primitive_corners(const sinew_collision_mesh *f, const sinew_real *x, int32_t primitive,
                             double corners[3][3])
{
    const int32_t *v = f->primitives[primitive];
    const int count = v[0] == v[1] ? 1 : v[1] == v[2] ? 2 : 3;
    for (int i = 0; i < count; i++)
        narrow_point(x, v[i], corners[i]);
    return count;
}

/* Finds the sides of triangle t's plane on which the corners of a primitive lie. False: all corners are certainly on
 * one side. */
static bool primitive_may_pass(double corners[3][3], int count, double t[3][3], int sides[3])
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sides[i] = plane_side(t[0], t[1], t[2], corners[i]);
        sum += sides[i];
    }
    return sum != count && sum != -count;
}

/* True if an edge of a primitive passes through triangle t; `sides`: sides of t's plane on which the corners lie. */
static bool primitive_side_passes(double corners[3][3], int count, const int sides[3], double t[3][3])
{
    for (int i = 0; i < (count == 3 ? 3 : count - 1); i++) {
        const int j = (i + 1) % 3;
        if (sides[i] * sides[j] < 0 && segment_passes_triangle(corners[i], corners[j], t))
            return true;
    }
    return false;
}

/* True if two primitives pass through each other. Two intersecting triangles each have corners on both sides of the
 * other's plane. */
static bool primitives_pass(double p[3][3], int p_count, double q[3][3], int q_count)
{
    int p_sides[3], q_sides[3];
    if ((p_count < 3 && q_count < 3) || (q_count == 3 && !primitive_may_pass(p, p_count, q, p_sides)) ||
        (p_count == 3 && !primitive_may_pass(q, q_count, p, q_sides)))
        return false;
    return (q_count == 3 && primitive_side_passes(p, p_count, p_sides, q)) ||
           (p_count == 3 && primitive_side_passes(q, q_count, q_sides, p));
}

static double point_primitive_distance2(const double p[3], double b[3][3], int count)
{
    sinew_closest best;
    double from[2][3], along[3], z[3], d2;
    if (count == 3) {
        closest_triangle(p, b, &best);
        return best.d2;
    }
    vec3_sub(p, b[0], from[0]);
    vec3_sub(p, b[count - 1], from[1]);
    vec3_sub(b[count - 1], b[0], along);
    closest_on_segment(from[0], from[1], along, z, &d2);
    return d2;
}

/* Squared distance of two primitives that do not pass through each other: corner to primitive, and edge to edge. */
static double primitive_distance2(double a[3][3], int a_count, double b[3][3], int b_count)
{
    double min = INFINITY;
    sinew_closest best;
    for (int i = 0; i < a_count; i++)
        min = fmin(min, point_primitive_distance2(a[i], b, b_count));
    for (int j = 0; j < b_count; j++)
        min = fmin(min, point_primitive_distance2(b[j], a, a_count));
    for (int i = 0; i < (a_count == 3 ? 3 : a_count - 1); i++)
        for (int j = 0; j < (b_count == 3 ? 3 : b_count - 1); j++) {
            double p[2][3] = {{a[i][0], a[i][1], a[i][2]}, {a[(i + 1) % 3][0], a[(i + 1) % 3][1], a[(i + 1) % 3][2]}};
            double q[2][3] = {{b[j][0], b[j][1], b[j][2]}, {b[(j + 1) % 3][0], b[(j + 1) % 3][1], b[(j + 1) % 3][2]}};
            closest_segments(p, q, &best);
            min = fmin(min, best.d2);
        }
    return min;
}

bool sinew_primitives_intersect(const sinew_collision_mesh *mesh, const sinew_real *x, int32_t a, int32_t b)
{
    double p[3][3], q[3][3];
    const int p_count = primitive_corners(mesh, x, a, p), q_count = primitive_corners(mesh, x, b, q);
    if (primitives_pass(p, p_count, q, q_count))
        return true;
    const double radii = narrow_radii(mesh, mesh->primitives[a][0], mesh->primitives[b][0]);
    return radii > 0 && sqrt(primitive_distance2(p, p_count, q, q_count)) < radii;
}
