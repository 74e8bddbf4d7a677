/* SPDX-License-Identifier: MIT
 *
 * rank_check.c: see rank_check.h.
 */
#include "solve/kkt/rank_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROUND_OFF   1e-14 /* pivots up to this are none */
#define CLEAR       1e-2  /* pivots above this leave little round-off behind them */
#define REFINEMENTS 8

static bool is_hard(const sinew_saddle *s, int32_t k)
{
    return s->floors[k] > 0;
}

/* How far a second look goes. It is as good as free in small systems; in large ones it costs two factorisations and a
 * solution a row, and is taken where round-off is likely to be mistaken for a pivot. */
typedef struct effort {
    int32_t unknowns; /* up to this many */
    double small;     /* pivots below this are in doubt */
    int32_t rows;     /* that are left out, at most */
} effort;

static const effort efforts[] = {
    {256, 1e-4, SINEW_SADDLE_DOUBTS}, {4096, 1e-6, SINEW_SADDLE_DOUBTS}, {INT32_MAX, 1e-8, 8}};

static const effort *effort_of(const sinew_saddle *s)
{
    return &efforts[(s->count > efforts[0].unknowns) + (s->count > efforts[1].unknowns)];
}

/* Hard rows with pivots between round-off and `most`. */
static int32_t count_small(const sinew_saddle *s, double most)
{
    int32_t count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const double size = is_hard(s, k) ? fabs(sinew_ldl_pivot(s->ldl, k)) : 0;
        count += size > ROUND_OFF && size < most;
    }
    return count;
}

double sinew_saddle_doubt(const sinew_saddle *s)
{
    const effort *own = effort_of(s);
    if (count_small(s, own->small) == 0)
        return 0;
    double clear = CLEAR;
    while (clear > own->small && count_small(s, clear) > own->rows)
        clear /= 10;
    return clear > own->small ? clear : 0;
}

/* ---- The matrix of the second look ----------------------------------------------------------- */

/* scaled = [I J^T; J 0] of hard rows; rows with a compliance and rows that are switched off have -1 alone. */
static void take_hard_rows(sinew_saddle *s)
{
    for (int32_t k = 0; k < s->count; k++) {
        for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++) {
            const int32_t i = s->row[at];
            if (!(is_hard(s, k) && !s->is_row[i]) && !(is_hard(s, i) && !s->is_row[k]))
                s->scaled[at] = 0;
        }
        s->scaled[s->column[k + 1] - 1] = !s->is_row[k] ? 1 : is_hard(s, k) ? 0 : -1;
    }
}

static void set_floors(sinew_saddle *s, double floor)
{
    for (int32_t k = 0; k < s->count; k++)
        s->floors[k] = is_hard(s, k) ? floor : s->floors[k];
}

/* doubtful = rows that were left out with more than round-off; returns how many there are, listed or not. */
static int32_t list_doubtful(sinew_saddle *s)
{
    int32_t count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        if (!is_hard(s, k) || !sinew_ldl_dropped(s->ldl, k) || fabs(sinew_ldl_pivot(s->ldl, k)) <= ROUND_OFF)
            continue;
        if (count < SINEW_SADDLE_DOUBTS)
            s->doubtful[count] = k;
        count++;
    }
    return count;
}

/* ---- What is left of the rows in doubt ------------------------------------------------------- */

/* J_k x: a hard row follows its particles, so its column has all of it. */
static double row_product(const sinew_saddle *s, int32_t k, const double *x)
{
    double sum = 0;
    for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++)
        sum += s->scaled[at] * x[s->row[at]];
    return sum;
}

/* T = J_D u_D, [count][SINEW_SADDLE_DOUBTS] */
static void find_left(sinew_saddle *s, int32_t count)
{
    for (int32_t e = 0; e < count; e++) {
        const int32_t k = s->doubtful[e];
        memset(s->right, 0, (size_t)s->count * sizeof *s->right);
        for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++)
            s->right[s->row[at]] = s->scaled[at];
        sinew_ldl_solve(s->ldl, s->right, s->solution, REFINEMENTS);
        for (int32_t d = 0; d < count; d++)
            s->left[e * SINEW_SADDLE_DOUBTS + d] = row_product(s, s->doubtful[d], s->solution);
    }
}

/* Floors of the rows in doubt, T being factorised with its largest pivot first. */
static void keep_independent(sinew_saddle *s, int32_t count, double floor)
{
    double *T = s->left;
    for (int32_t e = 0; e < count; e++)
        s->floors[s->doubtful[e]] = HUGE_VAL;
    for (;;) {
        int32_t best = -1;
        double most = floor;
        for (int32_t e = 0; e < count; e++) {
            const double d = s->floors[s->doubtful[e]] == HUGE_VAL ? T[e * SINEW_SADDLE_DOUBTS + e] : 0;
            best = d > most ? e : best;
            most = fmax(d, most);
        }
        if (best < 0)
            return;
        const double *row = T + best * SINEW_SADDLE_DOUBTS;
        s->floors[s->doubtful[best]] = DBL_MIN;
        for (int32_t e = 0; e < count; e++)
            for (int32_t d = 0; d < count && e != best; d++)
                T[e * SINEW_SADDLE_DOUBTS + d] -= row[e] * row[d] / most;
    }
}

bool sinew_saddle_look_again(sinew_saddle *s, double clear, double floor)
{
    sinew_pivots inertia;
    take_hard_rows(s);
    set_floors(s, clear);
    const int32_t count = sinew_ldl_factorise(s->ldl, s->scaled, s->floors, &inertia) ? list_doubtful(s) : INT32_MAX;
    if (count > SINEW_SADDLE_DOUBTS) {
        set_floors(s, floor);
        return false;
    }
    find_left(s, count);
    for (int32_t k = 0; k < s->count; k++)
        if (is_hard(s, k))
            s->floors[k] = sinew_ldl_dropped(s->ldl, k) ? HUGE_VAL : DBL_MIN;
    keep_independent(s, count, floor);
    return true;
}
