/* SPDX-License-Identifier: MIT
 *
 * settings.c: the settings of contact, and the contact results of the last step, which contact/step.c computes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contact/modes.h"
#include "world/world.h"

#define STIFFNESS_MIN  0.1
#define STIFFNESS_MAX  1e4
#define DETECTIONS_MAX 1000

/* ---- Settings of contact --------------------------------------------------------------------- */

const char *sinew_contact_mode_name(sinew_contact_mode mode)
{
    const sinew_contact_mode_ops *ops = sinew_contact_mode_get(mode);
    return ops ? ops->name : NULL;
}

sinew_contact_def sinew_default_contact_def(void)
{
    return (sinew_contact_def){.cookie = SINEW_COOKIE_CONTACT,
                               .on = true,
                               .self = true,
                               .intersection_free = true,
                               .untangle = true,
                               .thickness = (sinew_real)1e-3,
                               .friction = (sinew_real)0.3,
                               .stiffness = 10,
                               .penalty = (sinew_real)1e8,
                               .max_detections = 10};
}

static sinew_status contact_check_range(const char *name, double value, double min, double max, sinew_error *error)
{
    if (value >= min && value <= max)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "contact: %s is %g, must be from %g to %g", name, value, min, max);
}

static sinew_status contact_check_def(const sinew_contact_def *def, sinew_error *error)
{
    sinew_status status =
        sinew_contact_coefficients_check("contact", def->thickness, def->friction, def->restitution, error);
    if (status == SINEW_OK && (isnan(def->thickness) || isnan(def->friction) || isnan(def->restitution)))
        status = sinew_fail(error, SINEW_ERROR_DATA,
                            "contact: thickness, friction and restitution of a world must be numbers");
    if (status == SINEW_OK && !sinew_contact_mode_name(def->mode))
        status = sinew_fail(error, SINEW_ERROR_DATA, "contact: mode %d does not exist", (int)def->mode);
    if (status == SINEW_OK)
        status = contact_check_range("stiffness", (double)def->stiffness, STIFFNESS_MIN, STIFFNESS_MAX, error);
    if (status == SINEW_OK)
        status = contact_check_range("penalty", (double)def->penalty, 1e-30, 1e30, error);
    if (status == SINEW_OK)
        status = contact_check_range("penalty_tangent", (double)def->penalty_tangent, 0, 1e30, error);
    if (status == SINEW_OK)
        status = contact_check_range("multiplier_interval", def->multiplier_interval, 0, 1e9, error);
    if (status == SINEW_OK)
        status = contact_check_range("max_detections", def->max_detections, 1, DETECTIONS_MAX, error);
    if (status == SINEW_OK && def->pair_limit < 0)
        status = sinew_fail(error, SINEW_ERROR_DATA, "contact: pair_limit is %lld, must be 0 or more",
                            (long long)def->pair_limit);
    return status;
}

/* Allocates the contact data of a world, with contact off, if there are none, and marks the collision surfaces stale.
 * NULL: out of memory. */
static sinew_contact_work *contact_ensure_work(sinew_world *world, sinew_error *error)
{
    if (!world->contact) {
        const sinew_contact_def off = sinew_world_contact(world);
        world->contact = sinew_allocate_zero(&world->allocator, 1, sizeof *world->contact);
        if (world->contact)
            world->contact->def = off;
    }
    if (!world->contact)
        sinew_fail_memory(error, "contact");
    else
        world->contact->stale = true;
    return world->contact;
}

sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_CONTACT))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "sinew_world_set_contact needs a world and a def from "
                          "sinew_default_contact_def()");
    const sinew_status status = contact_check_def(def, error);
    if (status != SINEW_OK)
        return status;
    if (!contact_ensure_work(world, error))
        return SINEW_ERROR_MEMORY;
    world->contact->def = *def;
    /* Contact is switched off: contacts of the last step must leave the objective. */
    if (!def->on) {
        sinew_contact_detach(world);
        world->contact->restitution.impact_count = 0;
    }
    return SINEW_OK;
}

sinew_contact_def sinew_world_contact(const sinew_world *world)
{
    sinew_contact_def def = sinew_default_contact_def();
    def.on = false;
    return SINEW_ASSERT(world) && world->contact ? world->contact->def : def;
}

bool sinew_contact_is_on(const sinew_world *world)
{
    return world->contact && world->contact->def.on;
}

void sinew_contact_changed(sinew_world *world)
{
    world->collider_version++;
    if (world->contact) {
        world->contact->stale = true;
        world->contact->free_loaded = false;
    }
}

void sinew_contact_moved(sinew_world *world)
{
    world->q_version++;
    if (world->contact)
        world->contact->intersections_known = world->contact->free_known = world->contact->free_loaded =
            world->contact->parted_known = false;
}

void sinew_contact_forget_impacts(sinew_world *world, int32_t first, int32_t count)
{
    if (!world->contact)
        return;
    sinew_restitution *r = &world->contact->restitution;
    const int32_t impacts = r->impact_count;
    r->impact_count = 0;
    for (int32_t k = 0; k < impacts; k++) {
        bool moved = false;
        for (int s = 0; s < 2; s++) {
            const int32_t slot = r->impacts[k].slot[s];
            const sinew_body_record *body =
                r->impacts[k].vertex[s] >= 0 && slot < world->body_count ? &world->bodies[slot] : NULL;
            moved = moved || (body && body->first < first + count && first < body->first + body->count);
        }
        if (!moved)
            r->impacts[r->impact_count++] = r->impacts[k];
    }
}

void sinew_contact_detach(sinew_world *world)
{
    if (sinew_objective_has_contacts(&world->objective))
        sinew_world_mark_changed(world, SINEW_CHANGED_TRANSIENT);
}

sinew_body_contact sinew_default_body_contact(void)
{
    return (sinew_body_contact){.cookie = SINEW_COOKIE_BODY_CONTACT,
                                .thickness = (sinew_real)NAN,
                                .friction = (sinew_real)NAN,
                                .restitution = (sinew_real)NAN,
                                .self = true,
                                .group = 1,
                                .mask = UINT32_MAX};
}

sinew_status sinew_body_set_contact(sinew_world *world, sinew_body body, const sinew_body_contact *contact,
                                    sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && contact && contact->cookie == SINEW_COOKIE_BODY_CONTACT))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "sinew_body_set_contact needs a world and numbers from "
                          "sinew_default_body_contact()");
    sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    char owner[64];
    snprintf(owner, sizeof owner, "body %d", body.index);
    if ((int)contact->surface < 0 || contact->surface > SINEW_CONTACT_NONE)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: contact surface %d does not exist", owner,
                          (int)contact->surface);
    const sinew_status status =
        sinew_contact_coefficients_check(owner, contact->thickness, contact->friction, contact->restitution, error);
    if (status != SINEW_OK)
        return status;
    record->contact = *contact;
    sinew_contact_changed(world);
    return SINEW_OK;
}

sinew_body_contact sinew_body_get_contact(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = SINEW_ASSERT(world) ? sinew_world_find_body(world, body, NULL) : NULL;
    return record ? record->contact : sinew_default_body_contact();
}

void sinew_world_set_contact_filter(sinew_world *world, sinew_contact_filter *filter, void *context)
{
    if (!SINEW_ASSERT(world) || !sinew_world_may_change(world, __func__, &world->error))
        return;
    if (!contact_ensure_work(world, NULL))
        return;
    world->contact->filter = filter;
    world->contact->filter_context = context;
}

void sinew_contact_release(sinew_world *world)
{
    const sinew_allocator *m = &world->allocator;
    sinew_contact_work *c = world->contact;
    if (!c)
        return;
    sinew_contact_surfaces_release(c, m);
    sinew_candidates_release(&c->pairs, m);
    sinew_step_filter_release(&c->step_filter, m);
    sinew_contact_untangle_release(c, m);
    sinew_contact_list_release(&c->contacts, m);
    sinew_contact_list_release(&c->previous, m);
    sinew_batch_destroy(m, c->batch);
    sinew_batch_destroy(m, c->wide_batch);
    sinew_batch_layout_release(&c->layout, m);
    sinew_batch_layout_release(&c->wide_layout, m);
    sinew_batch_work_release(&c->batch_work, m);
    sinew_batch_work_release(&c->wide_batch_work, m);
    sinew_restitution_release(&c->restitution, m);
    void *arrays[] = {c->bodies,
                      c->followed,
                      c->vertex_followed,
                      c->mean_edge,
                      c->x_pass_start,
                      c->x_predicted,
                      c->x_inertial,
                      c->x_step_start,
                      c->kinematic,
                      c->inflation_radius,
                      c->fraction,
                      c->element_of,
                      c->contact_of,
                      c->particles,
                      c->data,
                      c->solver_multipliers,
                      c->offset_reduction,
                      c->backed,
                      c->parted,
                      c->next_support,
                      c->guess,
                      c->saved_list,
                      c->saved_data,
                      c->blocks,
                      c->block_known,
                      c->block_wanted,
                      c->x_requested,
                      c->vertex_number,
                      c->cache,
                      c->packed,
                      c->bounded,
                      c->is_inside,
                      c->step_start_contacts,
                      c->ended,
                      c->x_projected_start,
                      c->x_unprojected_start,
                      c->skins,
                      c->v_step_start,
                      c->truncated,
                      c->contact_counts,
                      c->progress};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(m, arrays[k]);
    sinew_release(m, c);
    world->contact = NULL;
}

/* ---- Contact results of the last step --------------------------------------------------------- */

static sinew_status contact_check_step(const sinew_world *world, sinew_error *error)
{
    if (!sinew_contact_is_on(world))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "the world has no contact; \"contact\": true in a scene, or sinew_world_set_contact()");
    if (world->contact->report.detections == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "no step has been made with contact yet");
    return SINEW_OK;
}

sinew_status sinew_contact_check_listed(const sinew_world *world, sinew_error *error)
{
    const sinew_status status = contact_check_step(world, error);
    if (status == SINEW_OK && (!world->contact->listed || world->contact->shape_version != world->shape_version))
        return sinew_fail(error, SINEW_ERROR_DATA, "surfaces have changed since the last step: make another");
    return status;
}

sinew_status sinew_world_contact_report(const sinew_world *world, sinew_contact_report *report, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && report))
        return sinew_fail(error, SINEW_ERROR_USAGE, "a report of contact needs a world and room for it");
    const sinew_status status = contact_check_step(world, error);
    if (status == SINEW_OK)
        *report = world->contact->report;
    return status;
}

/* Adds a vertex of weight w to the particles of a public contact, of which `next` are used; returns the new number. */
static int contact_describe_vertex(const sinew_world *world, int32_t v, sinew_real w, int next, sinew_contact *out)
{
    const sinew_collision_mesh *f = &world->contact->mesh;
    if (v >= f->moved_count || f->particle[v] >= 0) {
        out->weights[next] = w;
        out->particles[next] = v < f->moved_count && (double)w != 0 ? world->outside[f->particle[v]] : -1;
        return next + 1;
    }
    if ((double)w == 0)
        return next;
    const int32_t first = f->particle[f->objects[f->object[v]].first_vertex];
    int at = 0;
    while (at < next && out->particles[at] != world->outside[first])
        at++;
    for (int k = 0; k < 4; k++) {
        out->particles[at + k] = world->outside[first + k];
        out->weights[at + k] += w * f->frame_weights[4 * (size_t)v + (size_t)k];
    }
    return at == next ? next + 4 : next;
}

/* Fills particles, weights and contact point of a public contact, the vertices of side a first. sign: -1 if a is the
 * second side of t. */
static void contact_describe_sides(const sinew_world *world, const sinew_contact_constraint *t, int sign,
                                   sinew_contact *out)
{
    const sinew_contact_work *c = world->contact;
    int next = 0;
    for (int a = 0; a < SINEW_CONTACT_PARTICLES_MAX; a++)
        out->particles[a] = -1;
    for (int k = 0; k < 8; k++) {
        const int a = k % 4;
        const sinew_real w = (sinew_real)sign * t->w[a];
        if ((w > 0) != (k < 4))
            continue;
        const sinew_real *x = c->step_filter.x_accepted + 4 * (size_t)t->v[a];
        next = contact_describe_vertex(world, t->v[a], w, next, out);
        for (size_t i = 0; i < 3; i++)
            out->point[i] += w > 0 ? w * x[i] : 0;
    }
    const sinew_collision_object *own = &c->mesh.objects[sign > 0 ? t->first : t->second];
    for (int i = 0; own->rigid && i < 3; i++)
        out->point[i] -= (sinew_real)(sign * own->radius * t->n[i]);
}

/* Describes a contact for the caller. Its side a is a body, also where a vertex or edge of a collider touches a face or
 * edge of the body. */
static sinew_contact contact_describe(const sinew_world *world, const sinew_contact_constraint *t)
{
    const sinew_contact_work *c = world->contact;
    const bool swapped = sinew_contact_object_of(c, t->first).body.index < 0;
    const int sign = swapped ? -1 : 1;
    sinew_contact out = {.a = sinew_contact_object_of(c, swapped ? t->second : t->first),
                         .b = sinew_contact_object_of(c, swapped ? t->first : t->second)};
    out.force = t->force;
    out.clearance = (sinew_real)t->clearance;
    out.event = t->force > 0 && t->was_active ? SINEW_CONTACT_STAYED
                : t->was_active               ? SINEW_CONTACT_ENDED
                                              : SINEW_CONTACT_BEGAN;
    contact_describe_sides(world, t, sign, &out);
    for (int i = 0; i < 3; i++) {
        out.normal[i] = (sinew_real)(sign * t->n[i]);
        out.friction[i] = sign * t->friction[i];
    }
    return out;
}

sinew_status sinew_world_contacts(const sinew_world *world, int32_t capacity, sinew_contact *contacts, int32_t *count,
                                  sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && count && (contacts || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "contacts need a world, an array, and a count");
    const sinew_status status = sinew_contact_check_listed(world, error);
    if (status != SINEW_OK)
        return status;
    int32_t next = 0, ended = 0;
    *count = 0;
    for (const sinew_contact_constraint *t; (t = sinew_contact_next_listed(world->contact, &next, &ended)); ++*count)
        if (*count < capacity)
            contacts[*count] = contact_describe(world, t);
    if (*count > capacity && contacts)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d contacts, and the array has %d", *count, capacity);
    return SINEW_OK;
}
