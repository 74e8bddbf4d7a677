/* SPDX-License-Identifier: MIT
 *
 * motion.c: current = pivot + R(t) (base - pivot) + T(t), R and T from the keys (mesh/key_frames.h).
 */
#include "world/motion.h"

#include "mesh/key_frames.h"

#include <math.h>
#include <string.h>

sinew_status sinew_guide_create(sinew_guide *guide, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *base, const sinew_motion *motion, const char *owner,
                                sinew_error *error)
{
    *guide = (sinew_guide){.count = count};
    if (motion) {
        sinew_status status = sinew_motion_check(motion, owner, error);
        if (status != SINEW_OK)
            return status;
        guide->key_count = motion->key_count;
        memcpy(guide->pivot, motion->pivot, sizeof guide->pivot);
    }
    guide->base = sinew_allocate(allocator, 3 * (size_t)count, sizeof *guide->base);
    guide->current = sinew_allocate(allocator, 3 * (size_t)count, sizeof *guide->current);
    guide->keys = sinew_allocate(allocator, (size_t)guide->key_count, sizeof *guide->keys);
    if (!guide->base || !guide->current || !guide->keys) {
        sinew_guide_destroy(guide, allocator);
        return sinew_fail_memory(error, owner);
    }
    memcpy(guide->base, base, 3 * (size_t)count * sizeof *base);
    memcpy(guide->current, base, 3 * (size_t)count * sizeof *base);
    if (motion)
        memcpy(guide->keys, motion->keys, (size_t)guide->key_count * sizeof *guide->keys);
    return SINEW_OK;
}

void sinew_guide_destroy(sinew_guide *guide, const sinew_allocator *allocator)
{
    sinew_release(allocator, guide->base);
    sinew_release(allocator, guide->current);
    sinew_release(allocator, guide->keys);
    *guide = (sinew_guide){0};
}

void sinew_guide_move(sinew_guide *guide, double time)
{
    if (guide->key_count == 0)
        return;
    double T[3], r[3], R[9];
    sinew_keys_at(guide->keys, guide->key_count, time, T, r);
    sinew_rotation_matrix(r, R);
    for (int32_t i = 0; i < guide->count; i++) {
        const sinew_real *base = guide->base + 3 * (size_t)i;
        double x[3];
        for (int c = 0; c < 3; c++)
            x[c] = (double)base[c] - (double)guide->pivot[c];
        for (int c = 0; c < 3; c++)
            guide->current[3 * (size_t)i + (size_t)c] = (sinew_real)((double)guide->pivot[c] + R[3 * c] * x[0] +
                                                                     R[3 * c + 1] * x[1] + R[3 * c + 2] * x[2] + T[c]);
    }
}

void sinew_guide_set(sinew_guide *guide, const sinew_real *base)
{
    guide->key_count = 0;
    memcpy(guide->base, base, 3 * (size_t)guide->count * sizeof *base);
    memcpy(guide->current, base, 3 * (size_t)guide->count * sizeof *base);
}

sinew_status sinew_guide_replace(sinew_guide *guide, const sinew_real *base, const char *owner, sinew_error *error)
{
    for (int32_t i = 0; i < 3 * guide->count; i++)
        if (!isfinite(base[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: target %d is not finite", owner, i / 3);
    sinew_guide_set(guide, base);
    return SINEW_OK;
}
