/* SPDX-License-Identifier: MIT
 *
 * rank_check.c: finds redundant hard constraints among those with small pivots. See rank_check.h.
 */
#include "solve/kkt/rank_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/stop.h"

#define ROUND_OFF   1e-14 /* scaled pivots of hard constraints up to this value count as zero */
#define CLEAR       1e-2 /* scaled pivots of hard constraints above this value cause little round-off in later pivots */
#define REFINEMENTS 8

static bool is_hard(const sinew_saddle *s, int32_t k)
{
    return s->floors[k] > 0;
}

/* Limits of the rank check by system size. In small systems a check is cheap. In large ones it costs two factorisations
 * and one solve per constraint, and runs only if round-off is likely to look like a pivot. */
typedef struct effort {
    int32_t unknowns;    /* largest number of unknowns of systems to which these limits apply */
    double small;        /* scaled pivots of hard constraints below this value are uncertain */
    int32_t constraints; /* largest number of constraints with small pivots that the rank check may drop first */
} effort;

static const effort efforts[] = {
    {256, 1e-4, SINEW_RANK_CHECK_MAX}, {4096, 1e-6, SINEW_RANK_CHECK_MAX}, {INT32_MAX, 1e-8, 8}};

static const effort *effort_of(const sinew_saddle *s)
{
    return &efforts[(s->count > efforts[0].unknowns) + (s->count > efforts[1].unknowns)];
}

/* Number of hard constraints whose pivots are above round-off and below `max`. */
static int32_t count_small_pivots(const sinew_saddle *s, double max)
{
    int32_t count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const double size = is_hard(s, k) ? fabs(sinew_ldl_pivot(s->ldl, k)) : 0;
        count += size > ROUND_OFF && size < max;
    }
    return count;
}

double sinew_saddle_certain_pivot(const sinew_saddle *s)
{
    const effort *own = effort_of(s);
    if (count_small_pivots(s, own->small) == 0)
        return 0;
    double clear = CLEAR;
    while (clear > own->small && count_small_pivots(s, clear) > own->constraints)
        clear /= 10;
    return clear > own->small ? clear : 0;
}

/* ---- Matrix of the rank check ---------------------------------------------------------------- */

/* scaled = [I J^T; J 0], the matrix of the rank check, of hard constraints; compliant and inactive constraints have
 * only -1 on the diagonal. */
static void fill_rank_matrix(sinew_saddle *s)
{
    for (int32_t k = 0; k < s->count; k++) {
        for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++) {
            const int32_t i = s->row[at];
            if (!(is_hard(s, k) && !s->is_multiplier[i]) && !(is_hard(s, i) && !s->is_multiplier[k]))
                s->scaled[at] = 0;
        }
        s->scaled[s->column[k + 1] - 1] = !s->is_multiplier[k] ? 1 : is_hard(s, k) ? 0 : -1;
    }
}

static void set_pivot_floors(sinew_saddle *s, double floor)
{
    for (int32_t k = 0; k < s->count; k++)
        s->floors[k] = is_hard(s, k) ? floor : s->floors[k];
}

/* Lists in s->uncertain the dropped hard constraints with pivots above round-off. Returns their number, which may
 * exceed the capacity. */
static int32_t list_uncertain(sinew_saddle *s)
{
    int32_t count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        if (!is_hard(s, k) || !sinew_ldl_dropped(s->ldl, k) || fabs(sinew_ldl_pivot(s->ldl, k)) <= ROUND_OFF)
            continue;
        if (count < SINEW_RANK_CHECK_MAX)
            s->uncertain[count] = k;
        count++;
    }
    return count;
}

/* ---- Independent components of uncertain constraints ----------------------------------------- */

/* J_k x of hard constraint k. A hard constraint follows its particles, so its column of the upper triangle holds all of
 * J_k. */
static double constraint_jacobian_product(const sinew_saddle *s, int32_t k, const double *x)
{
    double sum = 0;
    for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++)
        sum += s->scaled[at] * x[s->row[at]];
    return sum;
}

/* Computes T = J_D u_D (rank_check.h) of the uncertain constraints into s->left, [count][SINEW_RANK_CHECK_MAX]. */
static void compute_independent_components(sinew_saddle *s, int32_t count)
{
    for (int32_t e = 0; e < count && !sinew_stop_came(); e++) {
        const int32_t k = s->uncertain[e];
        memset(s->right, 0, (size_t)s->count * sizeof *s->right);
        for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++)
            s->right[s->row[at]] = s->scaled[at];
        sinew_ldl_solve(s->ldl, s->right, s->solution, REFINEMENTS);
        for (int32_t d = 0; d < count; d++)
            s->left[e * SINEW_RANK_CHECK_MAX + d] = constraint_jacobian_product(s, s->uncertain[d], s->solution);
    }
}

/* Chooses independent constraints among the uncertain ones by pivoted factorisation of their matrix T
 * (rank_check.h), largest diagonal entry first. Constraints with pivots above `floor` get the floor DBL_MIN (kept),
 * others HUGE_VAL (dropped). */
static void choose_independent(sinew_saddle *s, int32_t count, double floor)
{
    double *T = s->left;
    for (int32_t e = 0; e < count; e++)
        s->floors[s->uncertain[e]] = HUGE_VAL;
    for (;;) {
        int32_t best = -1;
        double max = floor;
        for (int32_t e = 0; e < count; e++) {
            const double d = s->floors[s->uncertain[e]] == HUGE_VAL ? T[e * SINEW_RANK_CHECK_MAX + e] : 0;
            best = d > max ? e : best;
            max = fmax(d, max);
        }
        if (best < 0)
            return;
        const double *row = T + best * SINEW_RANK_CHECK_MAX;
        s->floors[s->uncertain[best]] = DBL_MIN;
        for (int32_t e = 0; e < count; e++)
            for (int32_t d = 0; d < count && e != best; d++)
                T[e * SINEW_RANK_CHECK_MAX + d] -= row[e] * row[d] / max;
    }
}

bool sinew_saddle_check_rank(sinew_saddle *s, double clear, double floor)
{
    sinew_pivots inertia;
    fill_rank_matrix(s);
    set_pivot_floors(s, clear);
    const int32_t count = sinew_ldl_factorise(s->ldl, s->scaled, s->floors, &inertia) ? list_uncertain(s) : INT32_MAX;
    if (count > SINEW_RANK_CHECK_MAX) {
        set_pivot_floors(s, floor);
        return false;
    }
    compute_independent_components(s, count);
    for (int32_t k = 0; k < s->count; k++)
        if (is_hard(s, k))
            s->floors[k] = sinew_ldl_dropped(s->ldl, k) ? HUGE_VAL : DBL_MIN;
    choose_independent(s, count, floor);
    return true;
}
