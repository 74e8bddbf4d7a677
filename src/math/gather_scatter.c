/* SPDX-License-Identifier: MIT
 *
 * gather_scatter.c: SIMD kernels that copy points to chunks and sum their slots (gather_scatter.h). The returned sums
 * over particles are computed in double in both precisions.
 */
#include "math/gather_scatter.h"

#include "math/simd.h"

typedef sinew_real point __attribute__((vector_size(4 * sizeof(sinew_real))));
/* The point type in memory, aligned to 16 bytes only, like callers' arrays. */
typedef sinew_real stored_point __attribute__((vector_size(4 * sizeof(sinew_real)), aligned(16), may_alias));

/* Kind of the particle's own term, which is added to the sum of its slots: none, inertia m (q - other), inertia m q, or
 * minus the load. */
typedef enum own {
    OWN_NOTHING,
    OWN_INERTIA,
    OWN_INERTIA_FROM_ZERO,
    OWN_LOAD
} own;

static inline point gather_scatter_load(const sinew_real *x, int32_t i)
{
    return *(const stored_point *)(x + 4 * (size_t)i);
}

static inline void gather_scatter_store(sinew_real *x, int32_t i, point value)
{
    *(stored_point *)(x + 4 * (size_t)i) = value;
}

static inline wide_double load_point_double(const sinew_real *x, int32_t i)
{
#ifdef SINEW_SINGLE
    return wide_to_double(gather_scatter_load(x, i));
#else
    return gather_scatter_load(x, i);
#endif
}

static void slot_copy(const sinew_real *x, const int32_t *particle, int32_t count, sinew_real *local, sinew_real *g)
{
#pragma GCC unroll 4
    for (int32_t i = 0; i < count; i++)
        gather_scatter_store(local, i, gather_scatter_load(x, particle[i]));
    if (g)
        memset(g, 0, 4 * (size_t)count * sizeof *g);
}

/* One loop for all kinds of sums; `what` is constant after inlining. Most particles have one or two slots, in an
 * unpredictable order: two slots are always added, without a branch; further slots are added in a second loop. */
static inline __attribute__((always_inline)) double slot_pass_run(const sinew_slot_pass *given, int32_t first,
                                                                  int32_t last, own what)
{
    const sinew_slot_pass copied = *given, *pass = &copied; /* a copy, because stores to `out` might alias *given */
    wide_double sum = {0};
    for (int32_t i = first; i < last; i++) {
        point out = {0};
        if (!pass->pinned[i]) {
            wide_double f = {0};
            if (what == OWN_INERTIA || what == OWN_INERTIA_FROM_ZERO) {
                wide_double d = load_point_double(pass->q, i);
                if (what == OWN_INERTIA)
                    d -= load_point_double(pass->other, i);
                f = (double)pass->mass[i] * d;
                sum += f * d;
                f *= pass->scale;
            } else if (what == OWN_LOAD) {
                f = -load_point_double(pass->other, i);
                sum -= f * load_point_double(pass->q, i);
            }
            if (pass->out)
                out = gather_scatter_load(pass->values, pass->slots[i][0]) +
                      gather_scatter_load(pass->values, pass->slots[i][1]) + __builtin_convertvector(f, point);
        }
        if (pass->out)
            gather_scatter_store(pass->out, i, out);
    }
    for (int32_t k = pass->first_more[first]; pass->out && k < pass->first_more[last]; k++) {
        const int32_t i = pass->more[k][0];
        if (!pass->pinned[i])
            gather_scatter_store(
                pass->out, i, gather_scatter_load(pass->out, i) + gather_scatter_load(pass->values, pass->more[k][1]));
    }
    return (sum[0] + sum[1]) + sum[2];
}

static void slot_sum(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    slot_pass_run(pass, first, last, OWN_NOTHING);
}

static double slot_inertia(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    return pass->other ? slot_pass_run(pass, first, last, OWN_INERTIA)
                       : slot_pass_run(pass, first, last, OWN_INERTIA_FROM_ZERO);
}

static double slot_load(const sinew_slot_pass *pass, int32_t first, int32_t last)
{
    return slot_pass_run(pass, first, last, OWN_LOAD);
}

extern const sinew_slot_kernels SINEW_SIMD_SYMBOL(sinew_slot_kernels);
const sinew_slot_kernels SINEW_SIMD_SYMBOL(sinew_slot_kernels) = {
    .copy = slot_copy, .sum = slot_sum, .inertia = slot_inertia, .load = slot_load};
