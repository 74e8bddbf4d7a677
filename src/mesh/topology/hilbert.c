/* SPDX-License-Identifier: MIT
 *
 * hilbert.c: points in the order of a Hilbert curve, so that points near in space are mostly near in memory.
 *
 * Each axis of the bounding cube has 2^21 intervals. The cell's index on the curve is a 63-bit number, made from the
 * three coordinates bit by bit after J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004): from the
 * top bit down, undo the reflection or exchange of axes that the coarser cells impose, then decode the Gray code.
 * Limits: points closer than 2^-21 of the largest extent may fall in one cell; they keep their index order.
 */
#include "base/sort_pairs.h"
#include "mesh/topology.h"

#include <math.h>

#define BITS 21

/* One step of Skilling's algorithm: reflects the low bits of coordinate 0 or swaps them with those of coordinate i,
 * depending on the given bit of coordinate i. */
static void hilbert_undo_turn(uint32_t x[3], int i, uint32_t bit)
{
    uint32_t low = bit - 1;
    if (x[i] & bit) {
        x[0] ^= low;
    } else {
        uint32_t swap = (x[0] ^ x[i]) & low;
        x[0] ^= swap;
        x[i] ^= swap;
    }
}

static uint64_t hilbert_key(uint32_t x[3])
{
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        for (int i = 0; i < 3; i++)
            hilbert_undo_turn(x, i, bit);

    /* Converts the Gray code of the point's cell to its index on the curve. */
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t flip = 0;
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        if (x[2] & bit)
            flip ^= bit - 1;

    /* Interleaves the bits of the three coordinates: coordinate 0 has the highest of each three bits. */
    uint64_t key = 0;
    for (int b = BITS - 1; b >= 0; b--)
        for (int i = 0; i < 3; i++)
            key = key << 1 | ((x[i] ^ flip) >> b & 1);
    return key;
}

/* Lower corner and extent of the points' bounding cube, both halved, because max - min may overflow. */
static double bounding_cube(const sinew_real *positions, int32_t count, double half_corner[3])
{
    double half_extent = 0;
    for (int k = 0; k < 3; k++) {
        double low = (double)positions[k], high = low;
        for (int32_t i = 1; i < count; i++) {
            double x = (double)positions[3 * (size_t)i + (size_t)k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        half_corner[k] = low / 2;
        half_extent = fmax(half_extent, high / 2 - low / 2);
    }
    return half_extent;
}

static uint32_t hilbert_cell_of(double x, double half_corner, double half_extent)
{
    double t = half_extent > 0 ? (x / 2 - half_corner) / half_extent : 0;
    /* The comparison maps a coordinate NaN to cell 0. */
    return t > 0 ? (uint32_t)(fmin(t, 1) * ((1u << BITS) - 1)) : 0;
}

void sinew_hilbert_pairs(const sinew_real *positions, int32_t count, sinew_pair *pairs)
{
    if (count <= 0)
        return;
    double corner[3];
    double extent = bounding_cube(positions, count, corner);
    for (int32_t i = 0; i < count; i++) {
        uint32_t cell[3];
        for (int k = 0; k < 3; k++)
            cell[k] = hilbert_cell_of((double)positions[3 * (size_t)i + (size_t)k], corner[k], extent);
        pairs[i] = (sinew_pair){hilbert_key(cell), (uint64_t)i};
    }
    sinew_sort_pairs(pairs, (size_t)count, pairs + count);
}

sinew_status sinew_hilbert_order(const sinew_allocator *allocator, const sinew_real *positions, int32_t count,
                                 int32_t *order, sinew_error *error)
{
    if (count <= 0)
        return SINEW_OK;
    sinew_pair *pairs = sinew_allocate(allocator, 2 * (size_t)count, sizeof *pairs);
    if (!pairs)
        return sinew_fail_memory(error, "the order of points");
    sinew_hilbert_pairs(positions, count, pairs);
    for (int32_t i = 0; i < count; i++)
        order[i] = (int32_t)pairs[i].minor;
    sinew_release(allocator, pairs);
    return SINEW_OK;
}
