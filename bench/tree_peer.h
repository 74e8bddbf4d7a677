/* SPDX-License-Identifier: MIT
 *
 * tree_peer.h: Embree behind a few C functions, for bench_tree. Without its package tree_peer_create() returns NULL.
 */
#ifndef SINEW_TREE_PEER_H
#define SINEW_TREE_PEER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tree_peer tree_peer;

/* Copies triangles in single precision; NULL: Embree is not installed. */
tree_peer *tree_peer_create(int32_t threads, int32_t vertex_count, const float *positions, int32_t triangle_count,
                            const int32_t *triangles);
void tree_peer_destroy(tree_peer *peer);
/* The first triangle along a ray, -1: none; *t: its ray parameter. */
int32_t tree_peer_ray(const tree_peer *peer, const float origin[3], const float direction[3], float *t);
bool tree_peer_any(const tree_peer *peer, const float origin[3], const float direction[3]);
/* The nearest triangle; *distance: its distance. */
int32_t tree_peer_nearest(const tree_peer *peer, const float point[3], float *distance);

#ifdef __cplusplus
}
#endif
#endif
