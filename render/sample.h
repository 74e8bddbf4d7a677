/* SPDX-License-Identifier: MIT
 *
 * sample.h: random numbers of a pixel, a sample and a dimension: functions of these alone, so that no thread's work
 * depends on another's.
 *
 * Points are those of Sobol's sequence in two dimensions, scrambled as A. Owen does, by hashing (B. Burley, Practical
 * Hash-based Owen Scrambling, JCGT 2020). Pixels take consecutive points along a Z-shaped curve (A. Ahmed and P. Wonka,
 * Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of Pixels, 2020), so that
 * any square of 2^n x 2^n pixels has evenly spread samples together: what the filter averages is better than chance.
 */
#ifndef SINEW_RENDER_SAMPLE_H
#define SINEW_RENDER_SAMPLE_H

#include <stdint.h>

/* Scales 24 bits to [0, 1): all of them are exact in a float. */
#define SAMPLE_SCALE (1.0f / 16777216.0f)

static inline uint32_t bits_reversed(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

/* A hash whose avalanche is good enough for seeds. */
static inline uint32_t hash_mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static inline uint32_t hash_pair(uint32_t a, uint32_t b)
{
    return hash_mixed(a ^ hash_mixed(b + 0x9e3779b9u));
}

/* Flips each bit depending on those above it. */
static inline uint32_t owen_scrambled(uint32_t x, uint32_t seed)
{
    x = bits_reversed(x);
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return bits_reversed(x);
}

/* The second coordinate of Sobol's sequence; the first is the reversed index. */
static inline uint32_t sobol_second(uint32_t index)
{
    uint32_t result = 0;
    for (uint32_t direction = 0x80000000u; index; index >>= 1, direction ^= direction >> 1)
        if (index & 1)
            result ^= direction;
    return result;
}

/* Interleaves the low 16 bits of x and y. */
static inline uint32_t curve_index(uint32_t x, uint32_t y)
{
    uint32_t bits[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        bits[i] = (bits[i] | bits[i] << 8) & 0x00ff00ffu;
        bits[i] = (bits[i] | bits[i] << 4) & 0x0f0f0f0fu;
        bits[i] = (bits[i] | bits[i] << 2) & 0x33333333u;
        bits[i] = (bits[i] | bits[i] << 1) & 0x55555555u;
    }
    return bits[0] | bits[1] << 1;
}

/* The index-th point of a scrambled sequence in the unit square. */
static inline void sample_square(uint32_t index, uint32_t seed, float out[2])
{
    const uint32_t shuffled = owen_scrambled(index, hash_pair(seed, 0));
    const uint32_t a = owen_scrambled(bits_reversed(shuffled), hash_pair(seed, 1));
    const uint32_t b = owen_scrambled(sobol_second(shuffled), hash_pair(seed, 2));
    out[0] = (float)(a >> 8) * SAMPLE_SCALE;
    out[1] = (float)(b >> 8) * SAMPLE_SCALE;
}

#endif
