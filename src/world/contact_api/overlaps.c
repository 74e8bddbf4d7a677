/* SPDX-License-Identifier: MIT
 *
 * overlaps.c: who is in a box, and which surfaces cross.
 */
#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "sinew/tree.h"
#include "world/contact/contact.h"
#include "world/contact_api/queries.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Whether a collider without triangles meets the box: round ones by the box around them, planes with their solid side.
 */
static bool meets_by_formula(const sinew_world *world, const sinew_collider_record *r, const sinew_real box[6])
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

/* Parties with a triangle in the box, marked: [bodies, then colliders]. */
static sinew_status mark_met(sinew_world *world, const sinew_real box[6], uint8_t *met, sinew_error *error)
{
    const sinew_query_triangles all = sinew_query_triangles_of(world);
    const int64_t count = all.tree ? sinew_tree_overlaps(all.tree, box, NULL, 0) : 0;
    int32_t *cells = sinew_allocate(&world->allocator, (size_t)count, sizeof *cells);
    if (!cells)
        return sinew_fail_memory(error, "a question about the world");
    if (count > 0)
        sinew_tree_overlaps(all.tree, box, cells, count);
    for (int64_t k = 0; k < count; k++) {
        const sinew_contact_party *p = &all.parties[cells[k]];
        met[p->body.index >= 0 ? p->body.index : world->body_count + p->collider.index] = 1;
    }
    sinew_release(&world->allocator, cells);
    for (int32_t k = 0; k < world->collider_count; k++) {
        const sinew_collider_record *r = &world->colliders[k];
        if (r->there && (r->kind == SINEW_SHAPE_PLANE || r->core > 0))
            met[world->body_count + k] = meets_by_formula(world, r, box);
    }
    return SINEW_OK;
}

static sinew_status list_met(const sinew_world *world, const uint8_t *met, int32_t capacity,
                             sinew_contact_party *parties, int32_t *count, sinew_error *error)
{
    *count = 0;
    for (int32_t k = 0; k < world->body_count + world->collider_count; k++) {
        const int32_t place = k - world->body_count;
        sinew_contact_party party = {.body = {.index = -1}, .collider = {.index = -1}};
        if (!met[k])
            continue;
        if (place < 0)
            party.body = (sinew_body){k, world->bodies[k].generation};
        else
            party.collider = (sinew_collider){place, world->colliders[place].generation};
        if (*count < capacity)
            parties[*count] = party;
        ++*count;
    }
    if (*count > capacity && parties)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d in the box, and room for %d", *count, capacity);
    return SINEW_OK;
}

sinew_status sinew_world_overlaps(sinew_world *world, const sinew_real low[3], const sinew_real high[3],
                                  int32_t capacity, sinew_contact_party *parties, int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && low && high && count && capacity >= 0 && (parties || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "who is in a box needs a world, a box, room, and a count");
    for (int k = 0; k < 3; k++)
        if (!(low[k] <= high[k]))
            return sinew_fail(error, SINEW_ERROR_DATA, "a box along %c is from %g to %g m", "xyz"[k], (double)low[k],
                              (double)high[k]);
    const sinew_real box[6] = {low[0], low[1], low[2], high[0], high[1], high[2]};
    sinew_status status = sinew_query_tend(world, error);
    if (status != SINEW_OK)
        return status;
    uint8_t *met = sinew_allocate_zero(&world->allocator, (size_t)world->body_count + (size_t)world->collider_count, 1);
    if (!met)
        return sinew_fail_memory(error, "a question about the world");
    status = mark_met(world, box, met, error);
    if (status == SINEW_OK)
        status = list_met(world, met, capacity, parties, count, error);
    sinew_release(&world->allocator, met);
    return status;
}

/* ---- Crossings ------------------------------------------------------------------------------- */

static void name_cell(const sinew_world *world, int32_t cell, sinew_contact_party *party, int32_t particles[3])
{
    const sinew_features *f = &world->contact->features;
    *party = sinew_contact_party_of(world, f->object[f->cells[cell][0]]);
    for (int a = 0; a < 3; a++)
        particles[a] = f->cells[cell][a] < f->moved_count ? world->outside[f->particle[f->cells[cell][a]]] : -1;
}

sinew_status sinew_world_crossings(sinew_world *world, int32_t capacity, sinew_crossing *crossings, int32_t *count,
                                   sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && count && capacity >= 0 && (crossings || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "crossings need a world, room, and a count");
    if (!sinew_contact_is_on(world))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "the world has no contact; \"contact\": true in a scene, or sinew_world_set_contact()");
    sinew_contact_work *c = world->contact;
    sinew_tasks_use(&world->def.tasks);
    c->time = world->time;
    sinew_status status = sinew_contact_surfaces(world, error);
    if (status != SINEW_OK)
        return status;
    int32_t(*cells)[2] = sinew_allocate(&world->allocator, (size_t)capacity, sizeof *cells);
    if (!cells)
        return sinew_fail_memory(error, "crossings");
    for (int32_t o = 0; o < c->features.object_count; o++)
        c->part[o] = 0;
    sinew_contact_gather(world, world->q, c->x);
    const int64_t found = sinew_detect_crossings(c->detector, c->x, cells, capacity);
    *count = found < INT32_MAX ? (int32_t)found : INT32_MAX;
    for (int32_t k = 0; k < *count && k < capacity; k++) {
        name_cell(world, cells[k][0], &crossings[k].a, crossings[k].particles_a);
        name_cell(world, cells[k][1], &crossings[k].b, crossings[k].particles_b);
    }
    sinew_release(&world->allocator, cells);
    if (found < 0)
        return sinew_fail_memory(error, "crossings");
    if (*count > capacity && crossings)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d crossings, and room for %d", *count, capacity);
    return SINEW_OK;
}
