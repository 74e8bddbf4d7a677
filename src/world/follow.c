/* SPDX-License-Identifier: MIT
 *
 * follow.c: points that follow an animated collider or the frames of a vertex cache.
 *
 * A collider without a cache moves rigidly, x = R X + p: a point keeps its coordinates X in the collider's frame. With
 * a cache, a point x is bound to the triangle (a, b, c) that is nearest at the start:
 *
 *     x = a + s (b - a) + t (c - a) + d n,      n the unit normal of the triangle
 *
 * s and t are affine coordinates of the projection of x to the triangle's plane, so a rigid motion of the triangle
 * moves the point rigidly, also if the projection lies outside the triangle. d does not change with the triangle's
 * size. A triangle without area has n = 0.
 *
 * A point that follows a given vertex, of a collider or of a cache, takes the position of the vertex; its base point is
 * then not used.
 *
 * The target position of a step is the position at the end of the step, also if the step filter delays the collider:
 * the collider catches up later (collide/shapes/colliders.h), and the filter treats pinned particles by themselves.
 */
#include "world/follow.h"

#include <math.h>
#include <string.h>

#include "base/tagged_blob.h"
#include "math/vec3.h"
#include "sinew/tree.h"

/* Squared sine of the angle between a triangle's sides below which the coordinates s and t are not computed. */
#define FLAT 1e-24

sinew_follow sinew_default_follow(void)
{
    return (sinew_follow){.collider = {.index = -1}, .frame_time = (sinew_real)(1.0 / 24)};
}

/* ---- Binding to a collider ------------------------------------------------------------------- */

static void bind_to_frame(const sinew_world *world, const sinew_collider_record *record, sinew_trajectory *trajectory)
{
    double R[9], p[3];
    sinew_shape_frame(record, world->time - record->behind, 0, R, p);
    for (int32_t i = 0; i < trajectory->count; i++) {
        const sinew_real *x = trajectory->base + 3 * (size_t)i;
        const double d[3] = {(double)x[0] - p[0], (double)x[1] - p[1], (double)x[2] - p[2]};
        sinew_follow_point *point = &trajectory->points[i];
        *point = (sinew_follow_point){.corners = {-1, -1, -1}};
        for (int k = 0; k < 3; k++)
            point->local[k] = R[k] * d[0] + R[3 + k] * d[1] + R[6 + k] * d[2];
    }
}

/* Index of a mesh vertex among the collider's vertices, which ascend; -1: no triangle has the vertex. */
static int32_t follow_find_vertex(const sinew_collider_record *record, int32_t vertex)
{
    int32_t low = 0, high = record->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (record->mesh_vertices[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < record->vertex_count && record->mesh_vertices[low] == vertex ? low : -1;
}

static const char *follow_collider_name(const sinew_collider_record *record)
{
    return record->name ? record->name : sinew_shape_name(record->kind);
}

static sinew_status bind_to_vertices(const sinew_collider_record *record, const int32_t *vertices,
                                     sinew_trajectory *trajectory, const char *owner, sinew_error *error)
{
    if (!record->mesh_vertices)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: the collider \"%.60s\" is a %s, and only a mesh has vertices to follow; leave them out",
                          owner, follow_collider_name(record), sinew_shape_name(record->kind));
    for (int32_t i = 0; i < trajectory->count; i++) {
        const int32_t v = vertices[i];
        if (v < 0 || v >= record->mesh_vertex_count)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: there is no vertex %d to follow, \"%.60s\" has %d vertices",
                              owner, v, follow_collider_name(record), record->mesh_vertex_count);
        const int32_t found = follow_find_vertex(record, v);
        if (found < 0)
            return sinew_fail(
                error, SINEW_ERROR_DATA,
                "%s: vertex %d of \"%.60s\" cannot be followed: none of its triangles with an area has it", owner, v,
                follow_collider_name(record));
        trajectory->points[i] = (sinew_follow_point){.corners = {found, -1, -1}};
    }
    return SINEW_OK;
}

static void triangle_sides_and_normal(double (*x)[3], double sides[2][3], double normal[3])
{
    vec3_sub(x[1], x[0], sides[0]);
    vec3_sub(x[2], x[0], sides[1]);
    vec3_cross(sides[0], sides[1], normal);
    const double length = vec3_norm(normal);
    for (int k = 0; k < 3; k++)
        normal[k] = length > 0 ? normal[k] / length : 0;
}

/* Computes local = (s, t, d) of the point relative to a triangle; for a flat triangle, s and t are those of the nearest
 * point, with weights `nearest`. */
static void bind_to_triangle(double (*x)[3], const sinew_real *point, const sinew_real nearest[3], double local[3])
{
    double e[2][3], n[3], to[3];
    const double at[3] = {(double)point[0], (double)point[1], (double)point[2]};
    triangle_sides_and_normal(x, e, n);
    vec3_sub(at, x[0], to);
    const double aa = vec3_dot(e[0], e[0]), ab = vec3_dot(e[0], e[1]), bb = vec3_dot(e[1], e[1]);
    const double determinant = aa * bb - ab * ab, a = vec3_dot(e[0], to), b = vec3_dot(e[1], to);
    const bool flat = !(determinant > FLAT * aa * bb);
    local[0] = flat ? (double)nearest[1] : (a * bb - b * ab) / determinant;
    local[1] = flat ? (double)nearest[2] : (b * aa - a * ab) / determinant;
    local[2] = vec3_dot(n, to);
}

static sinew_status bind_to_surface(const sinew_world *world, const sinew_collider_record *record,
                                    sinew_trajectory *trajectory, sinew_error *error)
{
    const double time = world->time - record->behind;
    sinew_real *x = sinew_allocate(&world->allocator, 3 * (size_t)record->vertex_count, sizeof *x);
    if (!x)
        return sinew_fail_memory(error, "followed colliders");
    sinew_shape_positions_packed(record, time, 0, x);
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = world->allocator;
    def.vertex_count = record->vertex_count;
    def.positions = x;
    def.cell_count = record->triangle_count;
    def.cells = record->triangles;
    def.winding = false;
    def.thread_count = 1;
    sinew_tree *tree = sinew_tree_create(&def, error);
    for (int32_t i = 0; tree && i < trajectory->count; i++) {
        const sinew_real *base = trajectory->base + 3 * (size_t)i;
        sinew_tree_point nearest;
        sinew_follow_point *point = &trajectory->points[i];
        double corners[3][3];
        sinew_tree_nearest(tree, 1, base, NULL, &nearest);
        *point = (sinew_follow_point){0};
        memcpy(point->corners, record->triangles + 3 * (size_t)nearest.cell, sizeof point->corners);
        sinew_shape_some_positions(record, time, 0, 3, point->corners, corners);
        bind_to_triangle(corners, base, nearest.weights, point->local);
    }
    sinew_release(&world->allocator, x);
    if (!tree)
        return SINEW_ERROR_MEMORY;
    sinew_tree_destroy(tree);
    return SINEW_OK;
}

static sinew_status bind_to_collider(const sinew_world *world, sinew_trajectory *trajectory, const sinew_follow *follow,
                                     const char *owner, sinew_error *error)
{
    const sinew_collider_record *record = sinew_world_find_collider(world, follow->collider, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    trajectory->points = sinew_allocate(&world->allocator, (size_t)trajectory->count, sizeof *trajectory->points);
    if (!trajectory->points)
        return sinew_fail_memory(error, owner);
    trajectory->followed = follow->collider;
    sinew_status status = SINEW_OK;
    if (follow->vertices)
        status = bind_to_vertices(record, follow->vertices, trajectory, owner, error);
    else if (record->frame_count > 0)
        status = bind_to_surface(world, record, trajectory, error);
    else
        bind_to_frame(world, record, trajectory);
    return status;
}

/* ---- Points that follow the frames of a vertex cache ------------------------------------------- */

static sinew_status check_frames(const sinew_follow *follow, const char *owner, sinew_error *error)
{
    if (follow->frame_count < 2 || !follow->frames || follow->frame_vertex_count < 1)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: %d frames of %d vertices to follow; name a collider, or give at least 2 frames", owner,
                          follow->frame_count, follow->frame_vertex_count);
    if (!isfinite(follow->frame_time) || !(follow->frame_time > 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: frame_time is %g s, must be finite and greater than 0", owner,
                          (double)follow->frame_time);
    return SINEW_OK;
}

/* Copies the frames of the vertex cache for the vertices that the points follow. */
static sinew_status bind_to_frames(const sinew_world *world, sinew_trajectory *trajectory, const sinew_follow *follow,
                                   const char *owner, sinew_error *error)
{
    const size_t count = (size_t)trajectory->count, all = (size_t)follow->frame_vertex_count;
    const sinew_status status = check_frames(follow, owner, error);
    if (status != SINEW_OK)
        return status;
    trajectory->frames =
        sinew_allocate(&world->allocator, (size_t)follow->frame_count * 3 * count, sizeof *trajectory->frames);
    if (!trajectory->frames)
        return sinew_fail_memory(error, owner);
    for (size_t i = 0; i < count; i++) {
        const int32_t v = follow->vertices ? follow->vertices[i] : (int32_t)i;
        if (v < 0 || v >= follow->frame_vertex_count)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: there is no vertex %d to follow, the cache has %d vertices",
                              owner, v, follow->frame_vertex_count);
        for (size_t f = 0; f < (size_t)follow->frame_count; f++)
            memcpy(trajectory->frames + 3 * (f * count + i), follow->frames + 3 * (f * all + (size_t)v),
                   3 * sizeof *trajectory->frames);
    }
    for (size_t i = 0; i < (size_t)follow->frame_count * 3 * count; i++)
        if (!isfinite(trajectory->frames[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: a followed vertex is not finite in frame %zu", owner,
                              i / (3 * count));
    trajectory->frame_count = follow->frame_count;
    trajectory->frame_time = follow->frame_time;
    return SINEW_OK;
}

static void move_with_frames(sinew_trajectory *trajectory, double time)
{
    const size_t size = 3 * (size_t)trajectory->count;
    const double at = fmin(fmax(time / (double)trajectory->frame_time, 0), trajectory->frame_count - 1);
    const int32_t frame = (int32_t)fmin(floor(at), trajectory->frame_count - 2);
    const sinew_real *from = trajectory->frames + (size_t)frame * size, *to = from + size;
    const double fraction = at - frame;
    for (size_t i = 0; i < size; i++)
        trajectory->current[i] = (sinew_real)((1 - fraction) * (double)from[i] + fraction * (double)to[i]);
}

/* ---- Motion of following points ---------------------------------------------------------------- */

static void move_with_collider(const sinew_world *world, sinew_trajectory *trajectory, double time)
{
    const sinew_collider_record *record = &world->colliders[trajectory->followed.index];
    /* Poses that a program sets are at the start and at the end of the step. */
    const double fraction = (time - world->time) / (double)world->def.time_step;
    double R[9], p[3];
    sinew_shape_frame(record, time, fraction, R, p);
    for (int32_t i = 0; i < trajectory->count; i++) {
        const sinew_follow_point *point = &trajectory->points[i];
        const int corners = point->corners[0] < 0 ? 0 : point->corners[1] < 0 ? 1 : 3;
        double c[3][3], e[2][3], n[3], x[3];
        sinew_shape_some_positions(record, time, fraction, corners, point->corners, c);
        if (corners == 0)
            sinew_rigid_apply(R, p, point->local, x);
        else
            memcpy(x, c[0], sizeof x);
        if (corners == 3) {
            triangle_sides_and_normal(c, e, n);
            for (int k = 0; k < 3; k++)
                x[k] += point->local[0] * e[0][k] + point->local[1] * e[1][k] + point->local[2] * n[k];
        }
        for (size_t k = 0; k < 3; k++)
            trajectory->current[3 * (size_t)i + k] = (sinew_real)x[k];
    }
}

void sinew_world_move_trajectory(const sinew_world *world, sinew_trajectory *trajectory, double time)
{
    if (!trajectory->follows)
        sinew_trajectory_move(trajectory, time);
    else if (trajectory->points)
        move_with_collider(world, trajectory, time);
    else
        move_with_frames(trajectory, time);
}

sinew_status sinew_follow_bind(const sinew_world *world, sinew_trajectory *trajectory, const sinew_follow *follow,
                               const char *owner, sinew_error *error)
{
    if (!follow)
        return SINEW_OK;
    if (trajectory->key_count > 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: has a motion and follows; give one of them", owner);
    const sinew_status status =
        (follow->collider.index >= 0 ? bind_to_collider : bind_to_frames)(world, trajectory, follow, owner, error);
    if (status != SINEW_OK)
        return status;
    trajectory->follows = true;
    sinew_world_move_trajectory(world, trajectory, world->time);
    return SINEW_OK;
}

/* ---- Following points in states, collider removal and contact ---------------------------------- */

uint32_t sinew_follow_digest(uint32_t digest, const sinew_follow *follow, int32_t count)
{
    if (!follow)
        return digest;
    const int32_t whole[4] = {follow->collider.index, follow->frame_count, follow->frame_vertex_count,
                              follow->vertices != NULL};
    digest = sinew_checksum(digest, whole, sizeof whole);
    if (follow->vertices)
        digest = sinew_checksum(digest, follow->vertices, (size_t)count * sizeof *follow->vertices);
    if (follow->collider.index >= 0)
        return digest;
    digest = sinew_checksum(digest, &follow->frame_time, sizeof follow->frame_time);
    return sinew_checksum(digest, follow->frames,
                          3 * (size_t)follow->frame_count * (size_t)follow->frame_vertex_count *
                              sizeof *follow->frames);
}

bool sinew_follow_points_fit(const sinew_world *world, const sinew_trajectory *trajectory,
                             const sinew_follow_point *points)
{
    const sinew_collider_record *record = &world->colliders[trajectory->followed.index];
    for (int32_t i = 0; i < trajectory->count; i++) {
        const int32_t *corners = points[i].corners;
        const bool one = corners[0] >= 0 && corners[1] < 0;
        for (int k = 0; k < 3; k++)
            if (!isfinite(points[i].local[k]) || corners[k] >= record->vertex_count ||
                (corners[0] >= 0 && !one && corners[k] < 0))
                return false;
    }
    return true;
}

static bool trajectory_follows(const sinew_trajectory *trajectory, int32_t collider)
{
    return trajectory->follows && trajectory->points && trajectory->followed.index == collider;
}

sinew_status sinew_follow_check_unused(const sinew_world *world, int32_t collider, sinew_error *error)
{
    static const char format[] = "collider %d is followed by %s %d: remove them, or set their targets, first";
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0 && trajectory_follows(&world->pins[i].trajectory, collider))
            return sinew_fail(error, SINEW_ERROR_DATA, format, collider, "pins", i);
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].batch && trajectory_follows(&world->energies[i].targets, collider))
            return sinew_fail(error, SINEW_ERROR_DATA, format, collider, "the targets of energy", i);
    return SINEW_OK;
}

/* True if a set of pins constrains all directions and follows a collider. */
static bool pin_follows_collider(const sinew_pin_record *pin)
{
    return pin->count > 0 && !sinew_pin_is_partial(pin) && pin->trajectory.follows && pin->trajectory.points;
}

bool sinew_follow_any_pin(const sinew_world *world)
{
    bool any = false;
    for (int32_t p = 0; p < world->pin_count; p++)
        any = any || pin_follows_collider(&world->pins[p]);
    return any;
}

void sinew_follow_list_particles(const sinew_world *world, int32_t *followed)
{
    for (int32_t i = 0; i < world->particle_count; i++)
        followed[i] = -1;
    for (int32_t p = 0; p < world->pin_count; p++)
        for (int32_t i = 0; pin_follows_collider(&world->pins[p]) && i < world->pins[p].count; i++)
            followed[world->pins[p].particles[i]] = world->pins[p].trajectory.followed.index;
}
