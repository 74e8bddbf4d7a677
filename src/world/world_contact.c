/* SPDX-License-Identifier: MIT
 *
 * world_contact.c: a stand-in until the stepping core of contact is there: takes defs, touches nothing.
 */
#include "world/world.h"

#include <math.h>

struct sinew_contact_state {
    sinew_contact_def def;
};

void sinew_contact_release(sinew_world *world)
{
    sinew_release(&world->allocator, world->contact);
}

void sinew_contact_changed(sinew_world *world)
{
    (void)world;
}

const char *sinew_contact_mode_name(sinew_contact_mode mode)
{
    static const char *const names[SINEW_CONTACT_MODE_COUNT] = {"augmented", "penalty", "projection", "half_space"};
    return (int)mode >= 0 && mode < SINEW_CONTACT_MODE_COUNT ? names[mode] : NULL;
}

sinew_contact_def sinew_default_contact_def(void)
{
    return (sinew_contact_def){.cookie = SINEW_COOKIE_CONTACT,
                               .on = true,
                               .self = true,
                               .guard = true,
                               .thickness = (sinew_real)1e-3,
                               .friction = (sinew_real)0.3,
                               .stiffness = 10,
                               .penalty = (sinew_real)1e8,
                               .epochs = 10};
}

sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!world->contact)
        world->contact = sinew_allocate_zero(&world->allocator, 1, sizeof *world->contact);
    if (!world->contact)
        return sinew_fail_memory(error, "contact");
    world->contact->def = *def;
    return SINEW_OK;
}

sinew_contact_def sinew_world_contact(const sinew_world *world)
{
    return world->contact ? world->contact->def : (sinew_contact_def){0};
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
    (void)contact;
    return sinew_world_find_body(world, body, error) ? SINEW_OK : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_contact_report(const sinew_world *world, sinew_contact_report *report, sinew_error *error)
{
    sinew_error_clear(error);
    *report = (sinew_contact_report){.epochs = 1};
    return world->contact ? SINEW_OK : sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "the world has no contact");
}
