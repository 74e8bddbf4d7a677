/* SPDX-License-Identifier: MIT
 *
 * overlaps.c: bodies and colliders in a box, and intersecting surfaces.
 */
#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "sinew/tree.h"
#include "contact/contact.h"
#include "world/world.h"
#include "world/contact_api/queries.h"

/* ---- Bodies and colliders in a box ------------------------------------------------------------- */

/* True if a collider without triangles overlaps the box: spheres and capsules are tested by their bounding boxes,
 * planes by their solid side. */
static bool box_overlaps_collider(const sinew_world *world, const sinew_collider_record *r, const sinew_real box[6])
{
    if (r->kind == SINEW_SHAPE_PLANE) {
        double point[3], n[3], lowest = 0;
        sinew_shape_plane(r, world->time - r->behind, 0, point, n);
        for (int k = 0; k < 3; k++)
            lowest += n[k] * ((double)box[n[k] > 0 ? k : 3 + k] - point[k]);
        return lowest <= 0;
    }
    double ends[2][3];
    const double radius = sinew_query_round_ends(world, r, ends);
    for (int k = 0; k < 3; k++)
        if (fmin(ends[0][k], ends[1][k]) - radius > (double)box[3 + k] ||
            fmax(ends[0][k], ends[1][k]) + radius < (double)box[k])
            return false;
    return true;
}

/* Sets met [bodies, then colliders] to 1 for each object that overlaps the box: by a triangle or, for a collider
 * without triangles, by its closed form. */
static sinew_status mark_objects_in_box(sinew_world *world, const sinew_real box[6], uint8_t *met, sinew_error *error)
{
    const sinew_query_triangles all = sinew_query_triangles_of(world);
    const int64_t count = all.tree ? sinew_tree_overlaps(all.tree, box, NULL, 0) : 0;
    int32_t *cells = sinew_allocate(&world->allocator, (size_t)count, sizeof *cells);
    if (!cells)
        return sinew_fail_memory(error, "a question about the world");
    if (count > 0)
        sinew_tree_overlaps(all.tree, box, cells, count);
    for (int64_t k = 0; k < count; k++) {
        const sinew_contact_object *p = &all.objects[cells[k]];
        met[p->body.index >= 0 ? p->body.index : world->body_count + p->collider.index] = 1;
    }
    sinew_release(&world->allocator, cells);
    for (int32_t k = 0; k < world->collider_count; k++) {
        const sinew_collider_record *r = &world->colliders[k];
        if (r->there && (r->kind == SINEW_SHAPE_PLANE || r->radius > 0))
            met[world->body_count + k] = box_overlaps_collider(world, r, box);
    }
    return SINEW_OK;
}

static sinew_status list_marked_objects(const sinew_world *world, const uint8_t *met, int32_t capacity,
                                        sinew_contact_object *objects, int32_t *count, sinew_error *error)
{
    *count = 0;
    for (int32_t k = 0; k < world->body_count + world->collider_count; k++) {
        const int32_t slot = k - world->body_count;
        sinew_contact_object contact_object = {.body = {.index = -1}, .collider = {.index = -1}};
        if (!met[k])
            continue;
        if (slot < 0)
            contact_object.body = (sinew_body){k, world->bodies[k].generation};
        else
            contact_object.collider = (sinew_collider){slot, world->colliders[slot].generation};
        if (*count < capacity)
            objects[*count] = contact_object;
        ++*count;
    }
    if (*count > capacity && objects)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d in the box, and the array has %d", *count, capacity);
    return SINEW_OK;
}

sinew_status sinew_world_overlaps(sinew_world *world, const sinew_real low[3], const sinew_real high[3],
                                  int32_t capacity, sinew_contact_object *objects, int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && low && high && count && capacity >= 0 && (objects || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "overlaps need a world, a box, an array, and a count");
    for (int k = 0; k < 3; k++)
        if (!(low[k] <= high[k]))
            return sinew_fail(error, SINEW_ERROR_DATA, "a box along %c is from %g to %g m", "xyz"[k], (double)low[k],
                              (double)high[k]);
    const sinew_real box[6] = {low[0], low[1], low[2], high[0], high[1], high[2]};
    sinew_status status = sinew_query_update(world, error);
    if (status != SINEW_OK)
        return status;
    uint8_t *met = sinew_allocate_zero(&world->allocator, (size_t)world->body_count + (size_t)world->collider_count, 1);
    if (!met)
        return sinew_fail_memory(error, "a question about the world");
    status = mark_objects_in_box(world, box, met, error);
    if (status == SINEW_OK)
        status = list_marked_objects(world, met, capacity, objects, count, error);
    sinew_release(&world->allocator, met);
    return status;
}

/* ---- Intersections of surfaces --------------------------------------------------------------- */

/* Public particle of corner a of a primitive; -1: a collider. Rigid bodies list particles 0, 1 and 2 of their frame. */
static int32_t primitive_particle(const sinew_world *world, int32_t v, int a)
{
    const sinew_collision_mesh *f = &world->contact->mesh;
    if (v >= f->moved_count)
        return -1;
    const int32_t frame = f->objects[f->object[v]].first_vertex;
    return world->outside[f->particle[f->particle[v] >= 0 ? v : frame + a]];
}

static void describe_primitive(const sinew_world *world, int32_t primitive, sinew_contact_object *contact_object,
                               int32_t particles[3])
{
    const sinew_collision_mesh *f = &world->contact->mesh;
    *contact_object = sinew_contact_object_of(world->contact, f->object[f->primitives[primitive][0]]);
    for (int a = 0; a < 3; a++)
        particles[a] = primitive_particle(world, f->primitives[primitive][a], a);
}

sinew_status sinew_world_intersections(sinew_world *world, int32_t capacity, sinew_intersection *intersections,
                                       int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && count && capacity >= 0 && (intersections || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "intersections need a world, an array, and a count");
    if (!sinew_contact_is_on(world))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "the world has no contact; \"contact\": true in a scene, or sinew_world_set_contact()");
    sinew_contact_work *c = world->contact;
    sinew_tasks_use(&world->def.tasks);
    c->time = world->time;
    sinew_contact_view view;
    sinew_status status = sinew_world_contact_view(world, &view, error);
    if (status == SINEW_OK)
        status = sinew_contact_update_surfaces(&view, error);
    if (status != SINEW_OK)
        return status;
    int32_t(*primitives)[2] = sinew_allocate(&world->allocator, (size_t)capacity, sizeof *primitives);
    if (!primitives)
        return sinew_fail_memory(error, "intersections");
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        c->fraction[o] = 0;
    sinew_contact_gather(&view, world->q, c->x_pass_start);
    const int64_t found = sinew_detect_intersections(c->detector, c->x_pass_start, primitives, capacity);
    *count = found < INT32_MAX ? (int32_t)found : INT32_MAX;
    for (int32_t k = 0; k < *count && k < capacity; k++) {
        describe_primitive(world, primitives[k][0], &intersections[k].a, intersections[k].particles_a);
        describe_primitive(world, primitives[k][1], &intersections[k].b, intersections[k].particles_b);
    }
    sinew_release(&world->allocator, primitives);
    if (found < 0)
        return sinew_fail_memory(error, "intersections");
    if (*count > capacity && intersections)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d intersections, and the array has %d", *count,
                          capacity);
    return SINEW_OK;
}
