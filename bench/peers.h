/* SPDX-License-Identifier: MIT
 *
 * peers.h: public codes on the same problem, from Debian's packages: CHOLMOD (simplicial and supernodal) and Eigen on
 * the same global matrix with three right-hand sides, Bullet's distance constraints on the same edges. What is not
 * installed is left out with a line that says so.
 */
#ifndef SINEW_PEERS_H
#define SINEW_PEERS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a row a peer for the block of n^3 vertices. One thread; `seconds` says how long a call of a body takes. */
void bench_peers(int n, double (*seconds)(void (*body)(void *context), void *context));

#ifdef __cplusplus
}
#endif
#endif
