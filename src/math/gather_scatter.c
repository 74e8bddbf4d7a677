/* SPDX-License-Identifier: MIT
 *
 * gather_scatter.c: see gather_scatter.h. Sums over particles are taken in double in both precisions.
 */
#include "math/gather_scatter.h"

#include "math/lanes.h"

typedef sinew_real point __attribute__((vector_size(4 * sizeof(sinew_real))));
/* The same in memory, where callers' arrays may begin at any 16 bytes. */
typedef sinew_real stored_point __attribute__((vector_size(4 * sizeof(sinew_real)), aligned(16), may_alias));

/* A particle's own term beside the sum of its slots. */
typedef enum own {
    OWN_NOTHING,
    OWN_INERTIA,
    OWN_INERTIA_FROM_ZERO,
    OWN_LOAD
} own;

static inline point load(const sinew_real *x, int32_t i)
{
    return *(const stored_point *)(x + 4 * (size_t)i);
}

static inline void store(sinew_real *x, int32_t i, point value)
{
    *(stored_point *)(x + 4 * (size_t)i) = value;
}

static inline lane_wide load_wide(const sinew_real *x, int32_t i)
{
#ifdef SINEW_SINGLE
    return lane_widen(load(x, i));
#else
    return load(x, i);
#endif
}

static void copy(const sinew_real *x, const int32_t *particle, int32_t count, sinew_real *local, sinew_real *g)
{
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
        store(local, i, load(x, particle[i]));
    if (g)
        memset(g, 0, 4 * (size_t)count * sizeof *g);
}

/* One loop for all: `what` is known where it is inlined. Most particles have one slot or two, in no order that a
 * processor could guess: so two are always added, and what further slots there are is added afterwards. */
static inline __attribute__((always_inline)) double run(const sinew_slot_pass *given, int32_t first, int32_t last,
                                                        own what)
{
    const sinew_slot_pass copied = *given, *pass = &copied; /* what is stored might else change it */
    lane_wide sum = {0};
    for (int32_t i = first; i < last; i++) {
        point out = {0};
        if (!pass->pinned[i]) {
            lane_wide f = {0};
            if (what == OWN_INERTIA || what == OWN_INERTIA_FROM_ZERO) {
                lane_wide d = load_wide(pass->q, i);
                if (what == OWN_INERTIA)
                    d -= load_wide(pass->other, i);
                f = (double)pass->mass[i] * d;
                sum += f * d;
                f *= pass->scale;
            } else if (what == OWN_LOAD) {
                f = -load_wide(pass->other, i);
                sum -= f * load_wide(pass->q, i);
            }
            if (pass->out)
                out = load(pass->values, pass->slots[i][0]) + load(pass->values, pass->slots[i][1]) +
                      __builtin_convertvector(f, point);
        }
        if (pass->out)
            store(pass->out, i, out);
    }
    for (int32_t k = pass->first_more[first]; pass->out && k < pass->first_more[last]; k++) {
        const int32_t i = pass->more[k][0];
        if (!pass->pinned[i])
            store(pass->out, i, load(pass->out, i) + load(pass->values, pass->more[k][1]));
    }
    return (sum[0] + sum[1]) + sum[2];
}

static void sum(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    run(pass, first, last, OWN_NOTHING);
}

static double inertia(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    return pass->other ? run(pass, first, last, OWN_INERTIA) : run(pass, first, last, OWN_INERTIA_FROM_ZERO);
}

static double load_terms(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    return run(pass, first, last, OWN_LOAD);
}

extern const sinew_slot_kernels SINEW_LANE_SYMBOL(sinew_slot_kernels);
const sinew_slot_kernels SINEW_LANE_SYMBOL(sinew_slot_kernels) = {
    .copy = copy, .sum = sum, .inertia = inertia, .load = load_terms};
