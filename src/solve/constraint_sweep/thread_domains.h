/* SPDX-License-Identifier: MIT
 *
 * thread_domains.h: decomposition of a large body into domains for threads: elements inside one domain, and elements
 * between domains.
 *
 * Domains are ranges of particles in their spatial order. Level 0 has the elements inside each domain, level 1 the
 * elements between pairs of neighbouring domains, level 2 between pairs of pairs, and so on. Elements between the two
 * halves of the body come last: first two sides that share no particle, then the rest. Domains of one level share no
 * particle, so they can run in parallel.
 */
#ifndef SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_THREAD_DOMAINS_H
#define SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_THREAD_DOMAINS_H

#include "mesh/topology.h"

#define SINEW_DOMAIN_LEVELS 24 /* capacity for levels of domains, enough for 2^31 particles */

typedef struct sinew_domains {
    int32_t level_count; /* number of levels of domains; 0: the body is not divided */
    /* [level_count + 1] index of each level's first domain; the last entry is the number of all domains. A level has
     * half as many domains as the previous one; the last two levels, of two domains and of one, have the elements
     * between the halves. */
    int32_t first[SINEW_DOMAIN_LEVELS + 1];
} sinew_domains;

/* Number of domains, summed over all levels. */
int32_t sinew_domain_count(const sinew_domains *domains);
/* Divides a world of particle_count particles into domains if it is large and few elements are left to one thread;
 * vertex indices are relative to particle `low`. classes[e], on entry the element's colour out of colour_count, becomes
 * domain * colour_count + colour: elements of one class share no particle. Without a division, level_count is 0 and
 * classes do not change. */
void sinew_domains_divide(sinew_domains *domains, int32_t particle_count, int32_t low, const sinew_elements *elements,
                          int32_t colour_count, int32_t *classes);

#endif
