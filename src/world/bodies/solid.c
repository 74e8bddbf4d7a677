/* SPDX-License-Identifier: MIT
 *
 * solid.c: the sphere or capsule of a rigid body: checks, tessellation, and its ends as combinations of the body's four
 * particles. See solid.h.
 */
#include "world/bodies/solid.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/mesh.h"
#include "world/bodies/embed_point.h"

/* Shortest capsule, in radii: below it rounding decides the direction of the axis. */
#define LENGTH_MIN 1e-3

/* Sets the vector from one end to the other, in m; returns its length. */
static double solid_axis(const sinew_solid *solid, double axis[3])
{
    for (int i = 0; i < 3; i++)
        axis[i] = (double)solid->ends[1][i] - (double)solid->ends[0][i];
    return vec3_norm(axis);
}

sinew_status sinew_solid_check(const sinew_solid *solid, sinew_error *error)
{
    double axis[3];
    if (!isfinite((double)solid->radius) || solid->radius < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "the radius of a solid is %g, must be greater than 0",
                          (double)solid->radius);
    for (int i = 0; solid->radius > 0 && i < 6; i++)
        if (!isfinite((double)solid->ends[i / 3][i % 3]))
            return sinew_fail(error, SINEW_ERROR_DATA, "an end of a solid is not finite");
    const double length = solid->radius > 0 ? solid_axis(solid, axis) : 0;
    if (length > 0 && length < LENGTH_MIN * (double)solid->radius)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the ends of a capsule are %g m apart, must be at least %g of its radius", length,
                          LENGTH_MIN);
    return SINEW_OK;
}

/* 0: no solid, 1: a sphere, 2: a capsule */
static int32_t solid_end_count(const sinew_solid *solid)
{
    return !(solid->radius > 0) ? 0 : memcmp(solid->ends[0], solid->ends[1], sizeof solid->ends[0]) == 0 ? 1 : 2;
}

/* Rotation vector that takes the y axis to a vector of this length. */
static void rotation_from_y(const double axis[3], double length, sinew_real rotation[3])
{
    const double y[3] = {0, 1, 0};
    double cross[3];
    vec3_cross(y, axis, cross);
    const double sine = vec3_norm(cross), angle = atan2(sine, axis[1]);
    for (int i = 0; i < 3; i++)
        rotation[i] = (sinew_real)(sine > 1e-12 * length ? angle * cross[i] / sine : i == 0 ? angle : 0);
}

sinew_mesh *sinew_solid_tessellate(const sinew_solid *solid, const sinew_allocator *allocator, sinew_error *error)
{
    double axis[3];
    const double length = solid_axis(solid, axis);
    sinew_real segment[6] = {0, (sinew_real)(-length / 2), 0, 0, (sinew_real)(length / 2), 0};
    const bool capsule = solid_end_count(solid) > 1;
    sinew_collider_record record = {.kind = capsule ? SINEW_SHAPE_CAPSULE : SINEW_SHAPE_SPHERE,
                                    .radius = (double)solid->radius,
                                    .vertex_count = capsule ? 2 : 1,
                                    .edge_count = capsule,
                                    .vertices = segment};
    int32_t vertex_count, triangle_count;
    for (int i = 0; i < 3; i++)
        record.position[i] = (sinew_real)(((double)solid->ends[0][i] + (double)solid->ends[1][i]) / 2);
    if (capsule)
        rotation_from_y(axis, length, record.rotation);
    sinew_shape_drawing_counts(&record, &vertex_count, &triangle_count);
    sinew_mesh *mesh = sinew_mesh_allocate(allocator, vertex_count, 0, triangle_count, 0, error);
    if (!mesh)
        return NULL;
    sinew_shape_draw_points(&record, 0, 0, mesh->positions);
    sinew_shape_draw_triangles(&record, mesh->triangles);
    return mesh;
}

void sinew_body_set_solid(sinew_body_record *body, const sinew_solid *solid)
{
    body->solid = *solid;
    body->solid_end_count = solid_end_count(solid);
    memset(body->solid_weights, 0, sizeof body->solid_weights);
    for (int32_t e = 0; e < body->solid_end_count; e++) {
        double weights[4] = {0};
        sinew_tet_weights(body->mesh->positions, body->mesh->tets, solid->ends[e], weights);
        for (int k = 0; k < 4; k++)
            body->solid_weights[e][body->mesh->tets[k]] = (sinew_real)weights[k];
    }
}
