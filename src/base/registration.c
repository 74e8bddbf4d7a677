/* SPDX-License-Identifier: MIT
 *
 * registration.c: the lock of the registration tables, and the flag that closes them. See registration.h.
 */
#include "base/registration.h"

#include <stdatomic.h>

static atomic_flag registering = ATOMIC_FLAG_INIT;
static atomic_bool closed;

void sinew_registration_lock(void)
{
    while (atomic_flag_test_and_set(&registering))
        ;
}

void sinew_registration_unlock(void)
{
    atomic_flag_clear(&registering);
}

void sinew_registration_close(void)
{
    atomic_store(&closed, true);
}

bool sinew_registration_closed(void)
{
    return atomic_load(&closed);
}
