/* SPDX-License-Identifier: MIT
 *
 * triangle.c: operations of energies on triangles that do not depend on the material: rest shape, and product and
 * Hessian blocks from the tangent (layout in triangle.h).
 */
#include <stdio.h>

#include "energy/triangle/triangle.h"
#include "math/vec3.h"

/* A triangle whose doubled rest area is at most this fraction of its longest edge squared is refused: its rest shape
 * has no accurate inverse. */
#define FLATNESS_BOUND (2 * (double)WIDE_EPSILON)
/* Smallest sine of the angle between a direction and the normal for which the projection to the plane is usable. */
#define NORMAL_BOUND 1e-6

/* In-plane axes of a triangle, the rows of q: the component of `along` in the plane with this unit normal, normalised,
 * and the direction perpendicular to it. Returns false if `along` is nearly parallel to the normal. */
static bool plane_frame(const double along[3], const double normal[3], double q[2][3])
{
    double rest[3] = {along[0], along[1], along[2]};
    /* Gram-Schmidt runs twice: the result is then orthogonal up to round-off for any two vectors */
    for (int pass = 0; pass < 2; pass++) {
        const double out_of_plane = vec3_dot(normal, rest);
        for (int i = 0; i < 3; i++)
            rest[i] -= out_of_plane * normal[i];
    }
    const double length = vec3_norm(rest);
    if (!(length > NORMAL_BOUND * vec3_norm(along)))
        return false;
    for (int i = 0; i < 3; i++)
        q[0][i] = rest[i] / length;
    vec3_cross(normal, q[0], q[1]);
    return true;
}

/* Writes the reason to refuse a warp direction that is perpendicular to the triangle. `along` is the user's direction;
 * directions along edges always lie in the plane. */
static const char *refuse_direction(const sinew_element *element, const double along[3])
{
    if (!element->reason)
        return "its warp direction is perpendicular to it; give another";
    snprintf(element->reason, SINEW_REASON_MAX,
             "the warp direction (%g, %g, %g) has no part in the triangle's plane; give another warp_x, warp_y, warp_z",
             along[0], along[1], along[2]);
    return element->reason;
}

const char *sinew_triangle_prepare(const sinew_element *element, double modulus, const double *along, sinew_real *data)
{
    double edge[2][3], third[3], normal[3], q[2][3];
    if (element->rest_known) {
        data[TRIANGLE_WEIGHT] = (sinew_real)(modulus * *element->size);
        return NULL;
    }
    for (int i = 0; i < 3; i++) {
        edge[0][i] = (double)element->rest[3 + i] - (double)element->rest[i];
        edge[1][i] = (double)element->rest[6 + i] - (double)element->rest[i];
        third[i] = edge[1][i] - edge[0][i];
    }
    vec3_cross(edge[0], edge[1], normal);
    const double longest = fmax(vec3_dot(third, third), fmax(vec3_dot(edge[0], edge[0]), vec3_dot(edge[1], edge[1])));
    const double twice = vec3_norm(normal);
    if (!(twice > FLATNESS_BOUND * longest) || !isfinite(twice))
        return "its rest shape has no area";
    for (int i = 0; i < 3; i++)
        normal[i] /= twice;
    if (!plane_frame(along ? along : edge[0], normal, q))
        return refuse_direction(element, along);
    /* T = Q^T Dm, the rest edges in the axes Q of the triangle's plane, and its inverse; det T is twice the area */
    const double t[4] = {vec3_dot(q[0], edge[0]), vec3_dot(q[0], edge[1]), vec3_dot(q[1], edge[0]),
                         vec3_dot(q[1], edge[1])};
    const double det = t[0] * t[3] - t[1] * t[2];
    const double inverse[4] = {t[3] / det, -t[1] / det, -t[2] / det, t[0] / det};
    for (int i = 0; i < 4; i++)
        data[TRIANGLE_INVERSE + i] = (sinew_real)inverse[i];
    data[TRIANGLE_WEIGHT] = (sinew_real)(modulus * twice / 2);
    if (element->size)
        *element->size = twice / 2;
    return NULL;
}

/* f = K d with a symmetric 3x3 block K stored as 00 11 22 01 02 12 */
KERNEL_INLINE void apply_symmetric(const wide K[6], const wide d[3], wide f[3])
{
    f[0] = K[0] * d[0] + K[3] * d[1] + K[4] * d[2];
    f[1] = K[3] * d[0] + K[1] * d[1] + K[5] * d[2];
    f[2] = K[4] * d[0] + K[5] * d[1] + K[2] * d[2];
}

void sinew_triangle_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        wide K[TRIANGLE_TANGENT_COUNT], edge[2][3], f[2][3];
        load_wide_array(tangent, TRIANGLE_TANGENT_COUNT, K);
        wide_gather_edges(kernel->p, vertex, triangle_other_vertices, 2, edge);
        apply_symmetric(K + TRIANGLE_NEAR, edge[0], f[0]);
        apply_symmetric(K + TRIANGLE_FAR, edge[1], f[1]);
        const wide *mixed = K + TRIANGLE_MIXED;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                f[1][i] += mixed[3 * i + j] * edge[0][j];
                f[0][j] += mixed[3 * i + j] * edge[1][i];
            }
        wide_scatter_balanced(kernel->g, vertex, triangle_other_vertices, 2, (const wide(*)[3])f);
    }
}

void sinew_triangle_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *blocks = group_blocks(kernel, group, 6);
        wide K[TRIANGLE_TANGENT_COUNT];
        load_wide_array(group_tangent(kernel, group, TRIANGLE_TANGENT_COUNT), TRIANGLE_TANGENT_COUNT, K);
        const wide *mixed = K + TRIANGLE_MIXED;
        for (int i = 0; i < 9; i++) {
            const int turned = 3 * (i % 3) + i / 3;
            const wide near = K[TRIANGLE_NEAR + entry[i]], far = K[TRIANGLE_FAR + entry[i]];
            wide_store(blocks + (block_index(0, 0) * 9 + i) * SIMD_WIDTH, (near + far) + (mixed[i] + mixed[turned]));
            wide_store(blocks + (block_index(1, 0) * 9 + i) * SIMD_WIDTH, -(near + mixed[turned]));
            wide_store(blocks + (block_index(1, 1) * 9 + i) * SIMD_WIDTH, near);
            wide_store(blocks + (block_index(2, 0) * 9 + i) * SIMD_WIDTH, -(far + mixed[i]));
            wide_store(blocks + (block_index(2, 1) * 9 + i) * SIMD_WIDTH, mixed[i]);
            wide_store(blocks + (block_index(2, 2) * 9 + i) * SIMD_WIDTH, far);
        }
    }
}
