/* SPDX-License-Identifier: MIT
 *
 * key_frames.c: linear interpolation of key frames; rotations by Rodrigues' formula, with n = r / |r|, a = |r|:
 *
 *     R = cos a I + sin a [n]x + (1 - cos a) n n^T
 *
 * The inverse goes through the unit quaternion (w, u), u = n sin(a / 2), computed from its largest component (S. W.
 * Shepperd, J. Guidance and Control 1, 1978), so that it is accurate at angles near 0 and near pi.
 */
#include "mesh/key_frames.h"

#include "base/tagged_blob.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

sinew_status sinew_motion_check(const sinew_motion *motion, const char *owner, sinew_error *error)
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

void sinew_keys_at(const sinew_key *keys, int32_t key_count, double time, double translation[3], double rotation[3])
{
    int32_t next = 0;
    while (next < key_count && (double)keys[next].time <= time)
        next++;
    const sinew_key *a = &keys[next > 0 ? next - 1 : 0];
    const sinew_key *b = &keys[next < key_count ? next : key_count - 1];
    double span = (double)b->time - (double)a->time;
    double s = span > 0 ? (time - (double)a->time) / span : 0;
    for (int c = 0; c < 3; c++) {
        translation[c] = (1 - s) * (double)a->translation[c] + s * (double)b->translation[c];
        rotation[c] = (1 - s) * (double)a->rotation[c] + s * (double)b->rotation[c];
    }
}

uint32_t sinew_motion_digest(const sinew_motion *motion)
{
    if (!motion)
        return 0;
    uint32_t digest = sinew_checksum(0, motion->keys, (size_t)motion->key_count * sizeof *motion->keys);
    return sinew_checksum(digest, motion->pivot, sizeof motion->pivot);
}

void sinew_rotation_matrix(const double r[3], double R[9])
{
    double angle = vec3_norm(r);
    double n[3] = {0, 0, 0};
    for (int c = 0; c < 3 && angle > 0; c++)
        n[c] = r[c] / angle;
    double cosine = cos(angle), sine = sin(angle);
    const double cross[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = (i == j ? cosine : 0) + sine * cross[3 * i + j] + (1 - cosine) * n[i] * n[j];
}

/* Quaternion q = (w, x, y, z) of the rotation R, not normalised, with w >= 0. */
static void quaternion_of(const double R[9], double q[4])
{
    const double trace = R[0] + R[4] + R[8];
    int largest = 0;
    for (int c = 0; c < 3; c++)
        if (R[4 * c] > (largest ? R[4 * (largest - 1)] : trace))
            largest = c + 1;
    if (largest == 0) {
        q[0] = 1 + trace;
        for (int c = 0; c < 3; c++)
            q[c + 1] = R[3 * ((c + 2) % 3) + (c + 1) % 3] - R[3 * ((c + 1) % 3) + (c + 2) % 3];
    } else {
        const int i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = R[3 * k + j] - R[3 * j + k];
        q[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
        q[1 + j] = R[3 * i + j] + R[3 * j + i];
        q[1 + k] = R[3 * i + k] + R[3 * k + i];
    }
    for (int c = 3; c >= 0; c--)
        q[c] = q[0] < 0 ? -q[c] : q[c];
}

void sinew_rotation_vector(const double R[9], double rotation[3])
{
    double q[4];
    quaternion_of(R, q);
    const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double scale = sine > 0 ? 2 * atan2(sine, q[0]) / sine : 0;
    for (int c = 0; c < 3; c++)
        rotation[c] = scale * q[c + 1];
}

void sinew_matrix_product(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

void sinew_rotation_between(const double A[9], const double B[9], double fraction, double R[9])
{
    if (fraction <= 0 || fraction >= 1) {
        memcpy(R, fraction <= 0 ? A : B, 9 * sizeof *R);
        return;
    }
    const double A_transposed[9] = {A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]};
    double whole[9], turn[9], r[3];
    sinew_matrix_product(B, A_transposed, whole);
    sinew_rotation_vector(whole, r);
    for (int c = 0; c < 3; c++)
        r[c] *= fraction;
    sinew_rotation_matrix(r, turn);
    sinew_matrix_product(turn, A, R);
}

void sinew_rigid_apply(const double R[9], const double p[3], const double x[3], double y[3])
{
    for (int c = 0; c < 3; c++)
        y[c] = R[3 * c] * x[0] + R[3 * c + 1] * x[1] + R[3 * c + 2] * x[2] + p[c];
}
