/* SPDX-License-Identifier: MIT
 *
 * thread_domains.h: a large body divided for threads: which elements lie inside one domain, and which between two.
 *
 * Domains are runs of particles in their order, which is one in space. Level 0 has an element for each domain that
 * holds it whole; level 1 pairs of neighbouring domains with the elements between the two, level 2 pairs of pairs, and
 * so on. Elements between the two halves of the body come last: on two sides that share no particle, then the rest,
 * which is on neither. Domains of one level share no particle, so each may be in another thread's hands.
 */
#ifndef SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_THREAD_DOMAINS_H
#define SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_THREAD_DOMAINS_H

#include "mesh/topology.h"

#define SINEW_DOMAIN_LEVELS 24 /* at most: there are fewer than 2^31 particles */

typedef struct sinew_domains {
    int32_t level_count; /* 0: not divided */
    /* The first domain of each level, and the end. A level has half as many as the one before; after the halves there
     * are two levels for elements between them, one of two domains and one of one. */
    int32_t first[SINEW_DOMAIN_LEVELS + 1];
} sinew_domains;

/* Domains of all levels. */
int32_t sinew_domain_count(const sinew_domains *domains);
/* Divides a world of particle_count particles, where that pays for these elements; their vertices are counted from
 * particle `low`. classes[e], so far the element's colour out of colour_count, becomes domain * colour_count + colour:
 * elements of one class share no particle. */
void sinew_domains_divide(sinew_domains *domains, int32_t particle_count, int32_t low, const sinew_elements *elements,
                          int32_t colour_count, int32_t *classes);

#endif
