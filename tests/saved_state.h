/* SPDX-License-Identifier: MIT
 *
 * saved_state.h: saves the state of a world to a buffer that the test owns, and forges sections of it.
 */
#ifndef SINEW_SAVED_STATE_H
#define SINEW_SAVED_STATE_H

#include "base/tagged_blob.h"
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

/* Writes bytes into a section and restores all checksums; returns false if there is no such section. */
static inline bool forge(saved *s, const char *tag, size_t at, const void *bytes, size_t size)
{
    uint32_t count, zero = 0;
    memcpy(&count, s->bytes + 20, sizeof count);
    for (uint32_t k = 0; k < count; k++) {
        sinew_section section;
        char *row = s->bytes + 40 + 32 * (size_t)k;
        memcpy(&section, row, sizeof section);
        if (memcmp(section.tag, tag, 4) != 0 || at + size > section.size)
            continue;
        memcpy(s->bytes + section.offset + at, bytes, size);
        section.checksum = sinew_checksum(0, s->bytes + section.offset, (size_t)section.size);
        memcpy(row, &section, sizeof section);
        memcpy(s->bytes + 32, &zero, sizeof zero);
        const uint32_t whole = sinew_checksum(0, s->bytes, 40 + 32 * (size_t)count);
        memcpy(s->bytes + 32, &whole, sizeof whole);
        return true;
    }
    return false;
}

#endif
