/* SPDX-License-Identifier: MIT
 *
 * random_cases.h: random cases of tests. `make test` runs a small sample with a fresh seed, `make nightly`
 * (SINEW_NIGHTLY=1) many cases, or SINEW_NIGHTLY_SHARE percent of them. Each run prints its seed; SINEW_SEED=N repeats
 * it.
 */
#ifndef SINEW_RANDOM_CASES_H
#define SINEW_RANDOM_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct random_cases {
    uint64_t state;
    int32_t count; /* number of cases to draw */
} random_cases;

/* splitmix64: every seed gives a good sequence. */
static inline uint64_t random_bits(random_cases *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline double random_between(random_cases *r, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(r) >> 11) / 9007199254740992.0);
}

/* A random number whose logarithm is uniform. */
static inline double random_magnitude(random_cases *r, double low, double high)
{
    return exp(random_between(r, log(low), log(high)));
}

/* A random index 0 .. count-1. */
static inline int random_index(random_cases *r, int count)
{
    return (int)(random_bits(r) % (uint64_t)count);
}

/* Draws `sample` cases in `make test`, `many` in `make nightly`. The sequence starts with the printed seed. */
static inline random_cases random_cases_begin(const char *what, int32_t sample, int32_t many)
{
    const char *seed_text = getenv("SINEW_SEED"), *nightly = getenv("SINEW_NIGHTLY");
    const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : (uint64_t)time(NULL);
    const bool all = nightly && nightly[0] == '1';
    const char *share = getenv("SINEW_NIGHTLY_SHARE");
    const int32_t part = share ? (int32_t)(many * (atof(share) / 100)) : many;
    const int32_t count = all && part > sample ? part : sample;
    printf("%s: SINEW_SEED=%llu, %d cases%s\n", what, (unsigned long long)seed, (int)count,
           all ? "" : " (SINEW_NIGHTLY=1 for all)");
    fflush(stdout);
    return (random_cases){.state = seed, .count = count};
}

#endif
