/* SPDX-License-Identifier: MIT
 *
 * world_contact.c: a stand-in until the stepping core of contact is there: keeps nothing, touches nothing.
 */
#include "world/world.h"

void sinew_contact_changed(sinew_world *world)
{
    (void)world;
}
