/* SPDX-License-Identifier: MIT
 *
 * motion.c: key-framed motion of points: current = pivot + R(t) (base - pivot) + T(t), R and T from the key frames
 * (mesh/key_frames.h).
 */
#include "world/motion.h"

#include "mesh/key_frames.h"

#include <math.h>
#include <string.h>

sinew_status sinew_trajectory_create(sinew_trajectory *trajectory, const sinew_allocator *allocator, int32_t count,
                                     const sinew_real *base, const sinew_motion *motion, const char *owner,
                                     sinew_error *error)
{
    *trajectory = (sinew_trajectory){.count = count};
    if (motion) {
        sinew_status status = sinew_motion_check(motion, owner, error);
        if (status != SINEW_OK)
            return status;
        trajectory->key_count = motion->key_count;
        memcpy(trajectory->pivot, motion->pivot, sizeof trajectory->pivot);
    }
    trajectory->base = sinew_allocate(allocator, 3 * (size_t)count, sizeof *trajectory->base);
    trajectory->current = sinew_allocate(allocator, 3 * (size_t)count, sizeof *trajectory->current);
    trajectory->keys = sinew_allocate(allocator, (size_t)trajectory->key_count, sizeof *trajectory->keys);
    if (!trajectory->base || !trajectory->current || !trajectory->keys) {
        sinew_trajectory_destroy(trajectory, allocator);
        return sinew_fail_memory(error, owner);
    }
    memcpy(trajectory->base, base, 3 * (size_t)count * sizeof *base);
    memcpy(trajectory->current, base, 3 * (size_t)count * sizeof *base);
    if (motion)
        memcpy(trajectory->keys, motion->keys, (size_t)trajectory->key_count * sizeof *trajectory->keys);
    return SINEW_OK;
}

void sinew_trajectory_destroy(sinew_trajectory *trajectory, const sinew_allocator *allocator)
{
    sinew_release(allocator, trajectory->base);
    sinew_release(allocator, trajectory->current);
    sinew_release(allocator, trajectory->keys);
    sinew_release(allocator, trajectory->points);
    sinew_release(allocator, trajectory->frames);
    *trajectory = (sinew_trajectory){0};
}

bool sinew_trajectory_is_moving(const sinew_trajectory *trajectory)
{
    return trajectory->key_count > 0 || trajectory->follows;
}

void sinew_trajectory_move(sinew_trajectory *trajectory, double time)
{
    if (trajectory->key_count == 0)
        return;
    double T[3], r[3], R[9];
    sinew_keys_at(trajectory->keys, trajectory->key_count, time, T, r);
    sinew_rotation_matrix(r, R);
    for (int32_t i = 0; i < trajectory->count; i++) {
        const sinew_real *base = trajectory->base + 3 * (size_t)i;
        double x[3];
        for (int c = 0; c < 3; c++)
            x[c] = (double)base[c] - (double)trajectory->pivot[c];
        for (int c = 0; c < 3; c++)
            trajectory->current[3 * (size_t)i + (size_t)c] =
                (sinew_real)((double)trajectory->pivot[c] + R[3 * c] * x[0] + R[3 * c + 1] * x[1] +
                             R[3 * c + 2] * x[2] + T[c]);
    }
}

void sinew_trajectory_set(sinew_trajectory *trajectory, const sinew_real *base)
{
    trajectory->key_count = 0;
    trajectory->follows = false;
    memmove(trajectory->base, base, 3 * (size_t)trajectory->count * sizeof *base);
    memcpy(trajectory->current, base, 3 * (size_t)trajectory->count * sizeof *base);
}

sinew_status sinew_trajectory_replace(sinew_trajectory *trajectory, const sinew_real *base, const char *owner,
                                      sinew_error *error)
{
    for (int32_t i = 0; i < 3 * trajectory->count; i++)
        if (!isfinite(base[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: target %d is not finite", owner, i / 3);
    sinew_trajectory_set(trajectory, base);
    return SINEW_OK;
}
