/* SPDX-License-Identifier: MIT
 *
 * overdetermined.c: see overdetermined.h.
 */
#include "solve/kkt/overdetermined.h"

#include <math.h>
#include <string.h>

#include "solve/kkt/elimination_order.h"

/* Sets of elements with one constraint, such as rods, count as overdetermined only above this number of constraints:
 * the redundant constraints of smaller sets are named. */
#define CONSTRAINTS_MIN 256
/* Number of rigid motions, which constraints within bodies leave free. */
#define RIGID_MOTIONS 6

/* Number of distinct free particles of a set. */
static int32_t count_set_particles(const sinew_saddle *s, const sinew_constraint_set *set, uint8_t *seen)
{
    int32_t count = 0;
    memset(seen, 0, (size_t)s->free_count);
    for (int32_t k = 0; k < set->element_count * set->vertex_count; k++) {
        const int32_t particle = s->constraints->particle[set->particle_at + (size_t)k];
        if (particle < 0)
            continue;
        uint8_t *own = &seen[sinew_saddle_free_of(s, particle)];
        count += !*own;
        *own = 1;
    }
    return count;
}

bool sinew_overdetermined_set(const sinew_saddle *s, const sinew_constraint_set *set, uint8_t *seen)
{
    const bool hard = set->hard && !set->global, strain = set->per_element > 1;
    if (!hard || (!strain && set->constraint_count <= CONSTRAINTS_MIN))
        return false;
    return set->constraint_count > 3 * count_set_particles(s, set, seen) - (strain ? RIGID_MOTIONS : 0);
}

/* s->right, on entry the right-hand side of the system, becomes f of overdetermined.h. */
static void compute_force_residual(sinew_saddle *s)
{
    for (int32_t k = 0; k < s->count; k++)
        for (size_t at = s->column[k]; at < s->column[k + 1]; at++) {
            const int32_t i = s->row[at];
            if (s->is_multiplier[i] == SINEW_EARLY_OVERDETERMINED || s->is_multiplier[k] == SINEW_EARLY_OVERDETERMINED)
                continue;
            s->right[i] -= s->scaled[at] * s->solution[k];
            if (i != k)
                s->right[k] -= s->scaled[at] * s->solution[i];
        }
    for (int32_t k = 0; k < s->count; k++)
        s->right[k] = s->is_multiplier[k] ? 0 : s->right[k];
}

static double largest_right_hand_side(const sinew_saddle *s)
{
    double max = 0;
    for (int32_t k = 0; k < s->count; k++)
        max = fmax(max, fabs(s->right[k]));
    return max;
}

double sinew_overdetermined_multipliers(sinew_saddle *s, int refinements)
{
    const double size = largest_right_hand_side(s);
    compute_force_residual(s);
    const double left = largest_right_hand_side(s) * sinew_ldl_solve(s->ldl, s->right, s->least, refinements);
    for (int32_t k = 0; k < s->count; k++)
        if (s->is_multiplier[k] == SINEW_EARLY_OVERDETERMINED)
            s->solution[k] = s->least[k];
    return size > 0 ? left / size : 0;
}
