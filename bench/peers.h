/* SPDX-License-Identifier: MIT
 *
 * peers.h: public codes on the same problem, from Debian's packages: CHOLMOD (simplicial and supernodal) and Eigen on
 * the same global matrix with three right-hand sides, Bullet's distance constraints on the same edges. A missing
 * package is reported in one line.
 */
#ifndef SINEW_PEERS_H
#define SINEW_PEERS_H

#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints one row per peer for the block of n^3 vertices. One thread; `seconds` measures the time of a call of a
 * body. */
void bench_peers(int n, double (*seconds)(void (*body)(void *context), void *context));

/* Bullet's distance constraints on the edges of a mesh: bench_links_solve() makes one pass, bench_links_bits() returns
 * the bits of its reals. NULL if Bullet is not installed. */
void *bench_links(const sinew_mesh *mesh);
void bench_links_solve(void *links);
void bench_links_destroy(void *links);
int bench_links_bits(void);

#ifdef __cplusplus
}
#endif
#endif
