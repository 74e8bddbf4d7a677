/* SPDX-License-Identifier: MIT
 *
 * motion.h: key-framed rigid motions of pins and targets.
 */
#ifndef SINEW_SRC_WORLD_MOTION_H
#define SINEW_SRC_WORLD_MOTION_H

#include "base/base.h"
#include "sinew/sinew.h"

/* Points that are where a base shape, moved by key frames, is at a time. */
typedef struct sinew_guide {
    int32_t count;
    sinew_real *base;    /* [count][3] m */
    sinew_real *current; /* [count][3] m at the time last asked for */
    int32_t key_count;   /* 0: no motion, current = base */
    sinew_key *keys;
    sinew_real pivot[3];
} sinew_guide;

/* motion may be NULL; base [count][3]; both copied. Refuses keys out of order or not finite, naming `owner`. */
sinew_status sinew_guide_create(sinew_guide *guide, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *base, const sinew_motion *motion, const char *owner,
                                sinew_error *error);
void sinew_guide_destroy(sinew_guide *guide, const sinew_allocator *allocator);
void sinew_guide_move(sinew_guide *guide, double time); /* current = the points at that time */
/* The same for numbers that may not be finite, which it refuses, naming `owner`. */
sinew_status sinew_guide_replace(sinew_guide *guide, const sinew_real *base, const char *owner, sinew_error *error);
void sinew_guide_set(sinew_guide *guide, const sinew_real *base); /* new points, without motion from now on */

#endif
