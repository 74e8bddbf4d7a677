/* SPDX-License-Identifier: MIT
 *
 * view.c: fills sinew_contact_view (contact.h), the part of a world that contact handling uses.
 */
#include <string.h>

#include "contact/contact.h"
#include "world/follow.h"

bool sinew_world_allocate_v_before(sinew_world *world)
{
    if (!world->v_before)
        world->v_before =
            sinew_allocate_zero(&world->allocator, 4 * (size_t)world->particle_capacity, sizeof *world->v_before);
    return world->v_before != NULL;
}

static bool view_bodies(const sinew_world *world, sinew_contact_work *c)
{
    const size_t count = (size_t)world->body_count;
    if (!sinew_reserve_spare(&world->allocator, &c->bodies, &c->body_capacity, count, sizeof *c->bodies))
        return false;
    for (size_t b = 0; b < count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        c->bodies[b] = (sinew_contact_body){.mesh = body->mesh,
                                            .first = body->first,
                                            .count = body->count,
                                            .start = body->start,
                                            .generation = body->generation,
                                            .mesh_version = body->mesh_version,
                                            .rigid = body->rigid,
                                            .contact = body->contact,
                                            .skin = body->skin,
                                            .skin_vertices = body->skin_vertices,
                                            .skin_weights = body->skin_weights,
                                            .solid_radius = (double)body->solid.radius,
                                            .solid_end_count = body->solid_end_count};
        memcpy(c->bodies[b].solid_weights, body->solid_weights, sizeof body->solid_weights);
    }
    return true;
}

/* Lists the colliders that pinned particles follow; *followed is NULL if there are none. False: out of memory. */
static bool view_followed(const sinew_world *world, sinew_contact_work *c, const int32_t **followed)
{
    *followed = NULL;
    if (!sinew_follow_any_pin(world))
        return true;
    if (!sinew_reserve_spare(&world->allocator, &c->followed, &c->followed_capacity, (size_t)world->particle_count,
                             sizeof *c->followed))
        return false;
    sinew_follow_list_particles(world, c->followed);
    *followed = c->followed;
    return true;
}

sinew_status sinew_world_contact_view(const sinew_world *world, sinew_contact_view *view, sinew_error *error)
{
    /* The cast from a const world is safe: queries have a const world, and contact writes only to `error` and to work
     * space of the solver and the objective. */
    sinew_world *own = (sinew_world *)world;
    const int32_t *followed;
    if (!view_bodies(world, world->contact) || !view_followed(world, world->contact, &followed))
        return sinew_fail_memory(error, "contacts");
    *view = (sinew_contact_view){.contact = world->contact,
                                 .allocator = &world->allocator,
                                 .objective = &own->objective,
                                 .solve = &own->solve,
                                 .error = &own->error,
                                 .time = world->time,
                                 .time_step = (double)world->def.time_step,
                                 .quasistatic = world->def.quasistatic,
                                 .measure = world->def.solver.measure,
                                 .shape_version = world->shape_version,
                                 .particle_count = world->particle_count,
                                 .q = world->q,
                                 .v = world->v,
                                 .v_before = world->v_before,
                                 .q_tilde = world->q_tilde,
                                 .f_ext = world->f_ext,
                                 .mass = world->mass,
                                 .rest = world->rest,
                                 .pinned = world->pinned,
                                 .followed = followed,
                                 .inside = world->inside,
                                 .outside = world->outside,
                                 .bodies = world->contact->bodies,
                                 .colliders = world->colliders,
                                 .body_count = world->body_count,
                                 .collider_count = world->collider_count};
    for (int c = 0; c < 3; c++)
        view->gravity[c] = (double)world->def.gravity[c];
    return SINEW_OK;
}
