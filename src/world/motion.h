/* SPDX-License-Identifier: MIT
 *
 * motion.h: key-framed rigid motions of pins and targets.
 */
#ifndef SINEW_SRC_WORLD_MOTION_H
#define SINEW_SRC_WORLD_MOTION_H

#include "base/base.h"
#include "sinew/sinew.h"

/* Points of a base shape that key frames move. */
typedef struct sinew_trajectory {
    int32_t count;
    sinew_real *base;    /* [count][3] m */
    sinew_real *current; /* [count][3] m at the time of the last evaluation */
    int32_t key_count;   /* 0: no motion, current = base */
    sinew_key *keys;     /* [key_count] key frames */
    sinew_real pivot[3]; /* m: centre of the rotations */
} sinew_trajectory;

/* motion may be NULL; base [count][3]; both are copied. Fails for key frames out of order or not finite; `owner` is
 * named in the error. */
sinew_status sinew_trajectory_create(sinew_trajectory *trajectory, const sinew_allocator *allocator, int32_t count,
                                     const sinew_real *base, const sinew_motion *motion, const char *owner,
                                     sinew_error *error);
void sinew_trajectory_destroy(sinew_trajectory *trajectory, const sinew_allocator *allocator);
void sinew_trajectory_move(sinew_trajectory *trajectory, double time); /* sets `current` to the points at this time */
/* As sinew_trajectory_set(), but fails for values that are not finite; `owner` is named in the error. */
sinew_status sinew_trajectory_replace(sinew_trajectory *trajectory, const sinew_real *base, const char *owner,
                                      sinew_error *error);
void sinew_trajectory_set(sinew_trajectory *trajectory,
                          const sinew_real *base); /* replaces the points and removes the motion */

#endif
