/* SPDX-License-Identifier: MIT
 *
 * stop.c: selects and polls the interruption flag of a thread. See stop.h.
 */
#include "base/stop.h"

#include <stddef.h>

static _Thread_local const atomic_bool *selected;

const atomic_bool *sinew_stop_use(const atomic_bool *flag)
{
    const atomic_bool *before = selected;
    selected = flag;
    return before;
}

const atomic_bool *sinew_stop_flag(void)
{
    return selected;
}

bool sinew_stop_is_set(const atomic_bool *flag)
{
    /* Relaxed order is enough: no other data is published through the interruption flag. */
    return flag && atomic_load_explicit(flag, memory_order_relaxed);
}

bool sinew_stop_came(void)
{
    return sinew_stop_is_set(selected);
}
