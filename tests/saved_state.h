/* SPDX-License-Identifier: MIT
 *
 * saved_state.h: saves the state of a world to a buffer that the test owns.
 */
#ifndef SINEW_SAVED_STATE_H
#define SINEW_SAVED_STATE_H

#include "make_world.h"

typedef struct saved {
    char *bytes; /* [size], the caller frees it */
    size_t size;
} saved;

static inline saved save(const sinew_world *world)
{
    saved s = {.size = sinew_world_state_size(world)};
    s.bytes = make_array(s.size, 1);
    assert_int_equal(sinew_world_state_save(world, s.bytes, s.size), SINEW_OK);
    return s;
}

#endif
