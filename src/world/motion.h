/* SPDX-License-Identifier: MIT
 *
 * motion.h: key-framed rigid motions of pins and targets.
 */
#ifndef SINEW_SRC_WORLD_MOTION_H
#define SINEW_SRC_WORLD_MOTION_H

#include "base/base.h"
#include "sinew/sinew.h"

/* A point that follows a collider (follow.c). States store the same struct, so it has no padding. */
typedef struct sinew_follow_point {
    /* Vertices of a triangle of the collider. corners[0] < 0: a point of the collider's frame; else corners[1] < 0: the
     * vertex corners[0] itself. */
    int32_t corners[3];
    int32_t unused; /* always 0; fills the struct, which has no padding */
    /* Coordinates in the collider's frame (m), or s, t and d (m) relative to a triangle, as follow.c defines them. */
    double local[3];
} sinew_follow_point;

/* Points of a base shape that key frames move, or that follow a collider or the frames of a cache. */
typedef struct sinew_trajectory {
    int32_t count;
    sinew_real *base;    /* [count][3] positions of the base shape, in m */
    sinew_real *current; /* [count][3] positions at the time of the last evaluation, in m */
    int32_t key_count;   /* number of key frames; 0: no key-framed motion */
    sinew_key *keys;     /* [key_count] key frames of the trajectory's motion */
    sinew_real pivot[3]; /* centre of the rotations of the key frames, in m */
    bool follows;        /* true: the points follow a collider (`points`) or a vertex cache (`frames`) */
    sinew_collider followed;
    /* [count] position of each point relative to the collider `followed`; NULL: the points follow no collider */
    sinew_follow_point *points;
    int32_t frame_count;
    sinew_real frame_time; /* time between two frames of the vertex cache, in s */
    sinew_real *frames; /* [frame_count][count][3] positions of the points in the vertex cache, in m; NULL: no cache */
} sinew_trajectory;

/* Creates a trajectory from a motion, which may be NULL, and base [count][3], m; both are copied. Fails for key
 * frames out of order or not finite; `owner` is named in the error. */
sinew_status sinew_trajectory_create(sinew_trajectory *trajectory, const sinew_allocator *allocator, int32_t count,
                                     const sinew_real *base, const sinew_motion *motion, const char *owner,
                                     sinew_error *error);
void sinew_trajectory_destroy(sinew_trajectory *trajectory, const sinew_allocator *allocator);
/* Sets the positions `current` to the points at this time, for trajectories that do not follow (others: follow.h). */
void sinew_trajectory_move(sinew_trajectory *trajectory, double time);
/* True if the points of the trajectory move with time. */
bool sinew_trajectory_is_moving(const sinew_trajectory *trajectory);
/* Replaces the base shape of the trajectory by base [count][3], m, and removes all motion. */
void sinew_trajectory_set(sinew_trajectory *trajectory, const sinew_real *base);
/* Like sinew_trajectory_set(), but fails for values that are not finite; `owner` is named in the error. */
sinew_status sinew_trajectory_replace(sinew_trajectory *trajectory, const sinew_real *base, const char *owner,
                                      sinew_error *error);

#endif
