/* SPDX-License-Identifier: MIT
 *
 * key_frames.h: rigid motions by key frames, x = pivot + R(t) (X - pivot) + T(t), and rotations as vectors and
 * matrices. Matrices are row-major: y[i] = sum_j R[3 i + j] x[j].
 */
#ifndef SINEW_SRC_MESH_KEY_FRAMES_H
#define SINEW_SRC_MESH_KEY_FRAMES_H

#include "base/base.h"
#include "sinew/sinew.h"

/* Refuses a motion without key frames, with key frames out of order, or with numbers that are not finite. The error
 * names `owner`. */
sinew_status sinew_motion_check(const sinew_motion *motion, const char *owner, sinew_error *error);
/* Translation and rotation vector of a motion at a time: linear between key frames, constant before the first and after
 * the last. */
void sinew_keys_at(const sinew_key *keys, int32_t key_count, double time, double translation[3], double rotation[3]);
/* CRC-32 of the key frames and the pivot of a motion; 0 for NULL. */
uint32_t sinew_motion_digest(const sinew_motion *motion);

void sinew_rotation_matrix(const double rotation[3], double R[9]);
/* sets `rotation` to the shortest rotation vector of the matrix R, |r| <= pi */
void sinew_rotation_vector(const double R[9], double rotation[3]);
/* The rotation at fraction 0 .. 1 of the shortest path from rotation A to rotation B; exactly A and B at the ends. */
void sinew_rotation_between(const double A[9], const double B[9], double fraction, double R[9]);
/* 3x3 matrix product C = A B; C must not overlap A or B */
void sinew_matrix_product(const double A[9], const double B[9], double C[9]);
/* Rigid transform y = R x + p with rotation R and shift p; y must not be x. */
void sinew_rigid_apply(const double R[9], const double p[3], const double x[3], double y[3]);

#endif
