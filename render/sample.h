/* SPDX-License-Identifier: MIT
 *
 * sample.h: random numbers as functions of pixel, sample and dimension only, so that results do not depend on the
 * number of threads.
 *
 * Points are those of Sobol's sequence in two dimensions, scrambled as A. Owen does, by hashing (B. Burley, Practical
 * Hash-based Owen Scrambling, JCGT 2020). Pixels take consecutive points along a Z-shaped curve (A. Ahmed and P. Wonka,
 * Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of Pixels, 2020), so the
 * samples of any aligned square of 2^n x 2^n pixels are evenly spread. The filter's averages therefore have less
 * variance than with independent samples.
 */
#ifndef SINEW_RENDER_SAMPLE_H
#define SINEW_RENDER_SAMPLE_H

#include <stdint.h>

/* Scales 24 random bits to [0, 1); each result is exact in a float. */
#define SAMPLE_SCALE (1.0f / 16777216.0f)

static inline uint32_t bits_reversed(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

/* Hash of a 32-bit number whose avalanche is good enough for seeds. */
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

/* Flips each bit of x as a function of the lower bits: Owen's scrambling of a bit-reversed number. */
static inline uint32_t scrambled_reversed(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return x;
}

/* Computes the second coordinate of Sobol's sequence, bit-reversed: the index times Pascal's triangle modulo 2, a
 * product of five steps. The first coordinate, bit-reversed, is the index. */
static inline uint32_t sobol_second_reversed(uint32_t index)
{
    index ^= index >> 1 & 0x55555555u;
    index ^= index >> 2 & 0x33333333u;
    index ^= index >> 4 & 0x0f0f0f0fu;
    index ^= index >> 8 & 0x00ff00ffu;
    return index ^ index >> 16;
}

/* Index of a pixel on the Z-shaped curve: interleaves the low 16 bits of x and y. */
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

/* One scrambled sequence of points in the unit square. */
typedef struct sample_sequence {
    uint32_t shuffle, first, second; /* seeds of the order and of both coordinates */
} sample_sequence;

static inline sample_sequence sample_sequence_of(uint32_t seed)
{
    return (sample_sequence){hash_pair(seed, 0), hash_pair(seed, 1), hash_pair(seed, 2)};
}

static inline void sample_square(const sample_sequence *s, uint32_t index, float out[2])
{
    const uint32_t shuffled = bits_reversed(scrambled_reversed(bits_reversed(index), s->shuffle));
    const uint32_t a = bits_reversed(scrambled_reversed(shuffled, s->first));
    const uint32_t b = bits_reversed(scrambled_reversed(sobol_second_reversed(shuffled), s->second));
    out[0] = (float)(a >> 8) * SAMPLE_SCALE;
    out[1] = (float)(b >> 8) * SAMPLE_SCALE;
}

/* Computes sin(pi/2 x), |x| <= 1, to 4e-6; the cosine is the sine of 1 - |x|. The polynomial gives the same bits
 * with every C library. */
static inline float sine_quarter(float x)
{
    const float y = x * x;
    return x * (1.5707963f + y * (-0.6459641f + y * (0.0796926f + y * (-0.0046818f + y * 0.00016044f))));
}

/* Maps a point of the square to the unit disc. Equal areas map to equal areas, and neighbours to neighbours (P. Shirley
 * and K. Chiu, 1997). */
static inline void sample_disc(const sample_sequence *s, uint32_t index, float out[2])
{
    float square[2];
    sample_square(s, index, square);
    const float x = 2 * square[0] - 1, y = 2 * square[1] - 1, ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
    if (ax > ay) {
        const float ratio = 0.5f * y / x;
        out[0] = x * sine_quarter(1 - (ratio < 0 ? -ratio : ratio));
        out[1] = x * sine_quarter(ratio);
    } else {
        const float ratio = ay > 0 ? 0.5f * x / y : 0;
        out[0] = y * sine_quarter(ratio);
        out[1] = y * sine_quarter(1 - (ratio < 0 ? -ratio : ratio));
    }
}

#endif
