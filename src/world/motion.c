/* SPDX-License-Identifier: MIT
 *
 * motion.c: current = pivot + R(t) (base - pivot) + T(t), keys interpolated linearly, R by Rodrigues' formula.
 */
#include "world/motion.h"

#include <math.h>
#include <string.h>

static sinew_status check_keys(const sinew_motion *motion, const char *owner, sinew_error *error)
{
    if (motion->key_count < 1 || !motion->keys)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: a motion needs at least one key", owner);
    for (int32_t k = 0; k < motion->key_count; k++) {
        const sinew_key *key = &motion->keys[k];
        bool finite = isfinite(key->time);
        for (int c = 0; c < 3; c++)
            finite =
                finite && isfinite(key->translation[c]) && isfinite(key->rotation[c]) && isfinite(motion->pivot[c]);
        if (!finite)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: key %d of its motion is not finite", owner, k);
        if (k > 0 && !(key->time > motion->keys[k - 1].time))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s: key %d of its motion is at %g s, not after the one before it", owner, k,
                              (double)key->time);
    }
    return SINEW_OK;
}

sinew_status sinew_guide_create(sinew_guide *guide, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *base, const sinew_motion *motion, const char *owner,
                                sinew_error *error)
{
    *guide = (sinew_guide){.count = count};
    if (motion) {
        sinew_status status = check_keys(motion, owner, error);
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

/* The two keys around the time and how far it is from the first to the second. */
static void interpolate(const sinew_guide *guide, double time, double translation[3], double rotation[3])
{
    int32_t next = 0;
    while (next < guide->key_count && (double)guide->keys[next].time <= time)
        next++;
    const sinew_key *a = &guide->keys[next > 0 ? next - 1 : 0];
    const sinew_key *b = &guide->keys[next < guide->key_count ? next : guide->key_count - 1];
    double span = (double)b->time - (double)a->time;
    double s = span > 0 ? (time - (double)a->time) / span : 0;
    for (int c = 0; c < 3; c++) {
        translation[c] = (1 - s) * (double)a->translation[c] + s * (double)b->translation[c];
        rotation[c] = (1 - s) * (double)a->rotation[c] + s * (double)b->rotation[c];
    }
}

/* R = cos I + sin [n]x + (1 - cos) n n^T */
static void rotation_matrix(const double r[3], double R[9])
{
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    double n[3] = {0, 0, 0};
    for (int c = 0; c < 3 && angle > 0; c++)
        n[c] = r[c] / angle;
    double cosine = cos(angle), sine = sin(angle);
    const double cross[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = (i == j ? cosine : 0) + sine * cross[3 * i + j] + (1 - cosine) * n[i] * n[j];
}

void sinew_guide_move(sinew_guide *guide, double time)
{
    if (guide->key_count == 0)
        return;
    double T[3], r[3], R[9];
    interpolate(guide, time, T, r);
    rotation_matrix(r, R);
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
