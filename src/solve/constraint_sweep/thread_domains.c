/* SPDX-License-Identifier: MIT
 *
 * thread_domains.c: finds the domain of each element. See thread_domains.h.
 */
#include "solve/constraint_sweep/thread_domains.h"

#include <string.h>

/* Largest number of particles of a domain, whose points take 32 KiB in single precision. The number of domains is a
 * power of two; worlds of less than DOMAINS_MIN domains are not divided. */
#define DOMAIN_PARTICLES 2048
#define DOMAINS_MIN      4
/* smallest mean number of elements per class for a division: the largest SIMD width of all variants */
#define CLASS_ELEMENTS 8

/* A body is divided into domains only if at most 1/REST_DIVISOR of its elements are left to one thread. More are left
 * where elements connect distant particles. */
#define REST_DIVISOR 32

/* Division of the particles into domains. A side is a bit mask of two adjacent quarters of the body, one of each
 * half. */
typedef struct division {
    const sinew_domains *domains;
    int64_t particle_count, domain_count;
    int32_t low;    /* particle index of vertex index 0: vertex indices are relative to it */
    int32_t levels; /* number of levels below the two sides: log2 of domain_count */
    uint32_t sides[2];
} division;

/* Two candidates for the sides: the space-filling curve that orders particles decides which quarters are adjacent. */
static const uint32_t facing[2][2] = {{1 << 0 | 1 << 3, 1 << 1 | 1 << 2}, {1 << 0 | 1 << 2, 1 << 1 | 1 << 3}};

int32_t sinew_domain_count(const sinew_domains *domains)
{
    return domains->first[domains->level_count];
}

/* Index of the domain of one element, counted over all levels. */
static int32_t domain_of(const division *d, const sinew_elements *elements, int32_t element)
{
    const int32_t *first = d->domains->first, *vertices = elements->vertices + (size_t)element * (size_t)elements->size;
    int32_t min = (int32_t)d->domain_count, max = 0, level = 0;
    uint32_t quarters = 0;
    for (int32_t a = 0; a < elements->size; a++) {
        const int32_t domain = (int32_t)((d->low + vertices[a]) * d->domain_count / d->particle_count);
        min = domain < min ? domain : min;
        max = domain > max ? domain : max;
        quarters |= 1u << (domain >> (d->levels - 2));
    }
    while (level < d->levels && min >> level != max >> level)
        level++;
    if (level < d->levels)
        return first[level] + (min >> level);
    if (quarters == d->sides[0] || quarters == d->sides[1])
        return first[d->levels] + (quarters == d->sides[1]);
    return first[d->levels + 1];
}

/* Number of elements that cross the two halves of the body but belong to neither side. */
static int32_t count_rest_elements(const division *d, const sinew_elements *elements)
{
    int32_t rest = 0;
    for (int32_t e = 0; e < elements->count; e++)
        rest += domain_of(d, elements, e) == d->domains->first[d->levels + 1];
    return rest;
}

/* Chooses the pair of sides that leaves fewer elements to one thread. Returns the number of these elements. */
static int32_t choose_sides(division *d, const sinew_elements *elements)
{
    int32_t rest[2];
    for (int i = 0; i < 2; i++) {
        memcpy(d->sides, facing[i], sizeof d->sides);
        rest[i] = count_rest_elements(d, elements);
    }
    const int better = rest[1] < rest[0];
    memcpy(d->sides, facing[better], sizeof d->sides);
    return rest[better];
}

void sinew_domains_divide(sinew_domains *domains, int32_t particle_count, int32_t low, const sinew_elements *elements,
                          int32_t colour_count, int32_t *classes)
{
    division d = {.domains = domains, .particle_count = particle_count, .domain_count = 1, .low = low};
    *domains = (sinew_domains){0};
    for (; d.domain_count * DOMAIN_PARTICLES < d.particle_count; d.levels++)
        d.domain_count *= 2;
    if (d.domain_count < DOMAINS_MIN)
        return;
    int32_t *first = domains->first;
    for (int32_t level = 0; level < d.levels; level++)
        first[level + 1] = first[level] + (int32_t)(d.domain_count >> level);
    first[d.levels + 1] = first[d.levels] + 2;
    first[d.levels + 2] = first[d.levels] + 3;
    /* A particle with many elements causes many colours, so the classes of most domains would be nearly empty: no
     * division. */
    if ((int64_t)first[d.levels + 2] * colour_count * CLASS_ELEMENTS > elements->count ||
        (int64_t)choose_sides(&d, elements) * REST_DIVISOR > elements->count)
        return;
    domains->level_count = d.levels + 2;
    for (int32_t e = 0; e < elements->count; e++)
        classes[e] += domain_of(&d, elements, e) * colour_count;
}
