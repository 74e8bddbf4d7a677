/* SPDX-License-Identifier: MIT
 *
 * colliders.c: colliders of a world: adding, removing, moving and querying them.
 *
 * The current position of a collider is its position at the world's time. A collider with a pose is at the end of
 * its last motion.
 */
#include <math.h>
#include <string.h>

#include "world/follow.h"
#include "world/world.h"

sinew_collider sinew_world_add_collider(sinew_world *world, const sinew_collider_def *def, sinew_error *error)
{
    const sinew_collider none = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return none;
    if (!SINEW_ASSERT(world)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_add_collider needs a world");
        return none;
    }
    sinew_collider_record record;
    if (sinew_shape_create(&record, &world->allocator, def, error) != SINEW_OK)
        return none;
    const int32_t slot = sinew_world_collider_slot(world);
    if (!sinew_grow(&world->allocator, (void **)&world->colliders, slot, &world->collider_capacity,
                    sizeof *world->colliders)) {
        sinew_fail_memory(error, "a collider");
        sinew_shape_destroy(&record, &world->allocator);
        return none;
    }
    const sinew_collider collider = sinew_world_put_collider(world, slot, record);
    sinew_contact_changed(world);
    return collider;
}

sinew_status sinew_world_remove_collider(sinew_world *world, sinew_collider collider, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_collider_record *record = sinew_world_find_collider(world, collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const sinew_status unused = sinew_follow_check_unused(world, collider.index, error);
    if (unused != SINEW_OK)
        return unused;
    sinew_shape_destroy(record, &world->allocator);
    sinew_world_release_slot(&world->collider_hint, collider.index);
    sinew_contact_changed(world);
    return SINEW_OK;
}

int32_t sinew_world_collider_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->collider_count : 0;
}

sinew_collider sinew_world_collider_at(const sinew_world *world, int32_t slot)
{
    if (!SINEW_ASSERT(world) || slot < 0 || slot >= world->collider_count || !world->colliders[slot].there)
        return (sinew_collider){.index = -1};
    return (sinew_collider){slot, world->colliders[slot].generation};
}

/* Computes the current frame of a collider, as position (m) and rotation vector (rad). */
static void current_pose(const sinew_world *world, const sinew_collider_record *record, sinew_real pose[6])
{
    double R[9], p[3], r[3];
    sinew_shape_frame(record, world->time - record->behind, 0, R, p);
    sinew_rotation_vector(R, r);
    for (int c = 0; c < 3; c++) {
        pose[c] = (sinew_real)p[c];
        pose[3 + c] = (sinew_real)r[c];
    }
}

sinew_status sinew_collider_set_pose(sinew_world *world, sinew_collider collider, const sinew_real position[3],
                                     const sinew_real rotation[3], sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_collider_record *record = sinew_world_find_collider(world, collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(position && rotation))
        return sinew_fail(error, SINEW_ERROR_USAGE, "collider %d: a pose is a position and a rotation", collider.index);
    for (int c = 0; c < 3; c++)
        if (!isfinite(position[c]) || !isfinite(rotation[c]))
            return sinew_fail(error, SINEW_ERROR_DATA, "collider %d: %s along %c of its pose is %g, must be finite",
                              collider.index, isfinite(position[c]) ? "rotation" : "position", "xyz"[c],
                              (double)(isfinite(position[c]) ? rotation[c] : position[c]));
    if (!record->posed) {
        current_pose(world, record, record->pose[0]);
        /* Contact surfaces are rebuilt: the collider may have been static before its first pose. */
        sinew_contact_changed(world);
    }
    record->posed = true;
    memcpy(record->pose[1], position, 3 * sizeof *position);
    memcpy(record->pose[1] + 3, rotation, 3 * sizeof *rotation);
    return SINEW_OK;
}

static sinew_status write_collider_surface(const sinew_collider_record *record, int32_t index, double time,
                                           sinew_real extent, int32_t *vertex_count, sinew_real *positions,
                                           int32_t *triangle_count, int32_t *triangles, sinew_error *error)
{
    if (!SINEW_ASSERT(vertex_count && triangle_count))
        return sinew_fail(error, SINEW_ERROR_USAGE, "collider %d: its surface needs room for both counts", index);
    if (!isfinite(time))
        return sinew_fail(error, SINEW_ERROR_DATA, "collider %d: the time is %g s, must be finite", index, time);
    if (record->kind == SINEW_SHAPE_PLANE && !(extent > 0 && isfinite(extent)))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "collider %d: the extent of a plane is %g m, must be finite and greater than 0", index,
                          (double)extent);
    sinew_shape_drawing_counts(record, vertex_count, triangle_count);
    if (positions)
        sinew_shape_draw_points(record, time, (double)extent, positions);
    if (triangles)
        sinew_shape_draw_triangles(record, triangles);
    return SINEW_OK;
}

sinew_status sinew_collider_surface(const sinew_world *world, sinew_collider collider, sinew_real extent,
                                    int32_t *vertex_count, sinew_real *positions, int32_t *triangle_count,
                                    int32_t *triangles, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    return write_collider_surface(record, collider.index, world->time - record->behind, extent, vertex_count, positions,
                                  triangle_count, triangles, error);
}

sinew_status sinew_collider_surface_at(const sinew_world *world, sinew_collider collider, double time,
                                       sinew_real extent, int32_t *vertex_count, sinew_real *positions,
                                       int32_t *triangle_count, int32_t *triangles, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    return write_collider_surface(record, collider.index, time, extent, vertex_count, positions, triangle_count,
                                  triangles, error);
}

sinew_shape_kind sinew_collider_kind(const sinew_world *world, sinew_collider collider)
{
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, NULL);
    return record ? record->kind : SINEW_SHAPE_COUNT;
}

const char *sinew_collider_name(const sinew_world *world, sinew_collider collider)
{
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, NULL);
    return record && record->name ? record->name : "";
}

bool sinew_collider_closed(const sinew_world *world, sinew_collider collider)
{
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, NULL);
    return record && record->closed;
}

int32_t sinew_collider_vertex_count(const sinew_world *world, sinew_collider collider)
{
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, NULL);
    return record ? record->mesh_vertex_count : 0;
}

sinew_status sinew_collider_force(const sinew_world *world, sinew_collider collider, double force[3], double torque[3],
                                  sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_collider_record *record = sinew_world_find_collider(world, collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (force)
        memcpy(force, record->force, sizeof record->force);
    if (torque)
        memcpy(torque, record->torque, sizeof record->torque);
    return SINEW_OK;
}
