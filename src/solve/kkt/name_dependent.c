/* SPDX-License-Identifier: MIT
 *
 * name_dependent.c: names redundant and contradictory constraints for messages.
 *
 * The factorisation (saddle_system.h) drops each hard constraint that depends on earlier ones. A dropped constraint k
 * that holds is redundant. Otherwise it contradicts the constraints that it depends on: the solution of
 *
 *     [ A  J^T; J  -alpha ] [ u; -c ] = [ -J_k^T; 0 ]        is  u = 0,  J_k = sum_i c_i J_i
 *
 * As the constraints that were kept are independent, the c_i are unique: constraint k and those with c_i != 0 depend on
 * each other, and without any one of them the others are independent. The set is minimal.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stop.h"
#include "solve/kkt/kkt_common.h"

/* Coefficients of a dependence below this fraction of the largest, scaled by |J_i|, count as zero. */
#define INVOLVED_MIN (sizeof(sinew_real) == 4 ? 1e-3 : 1e-6)

/* A text of fixed capacity: `used` of `size` bytes, and the number of constraints whose names did not fit. */
typedef struct message {
    char *text;
    size_t size, used;
    int32_t left_out;
} message;

/* Appends the name of one constraint's element. Constraints come energy by energy, so that each energy is named
 * once. */
static void name_constraint(message *n, const sinew_constraints *c, int32_t constraint,
                            const sinew_constraint_set **last)
{
    char word[96];
    int32_t element, i;
    const sinew_constraint_set *set = sinew_constraint_owner(c, constraint, &element, &i);
    int length = 0;
    if (set != *last)
        length = snprintf(word, sizeof word, "%senergy %d (%s), %s", *last ? "; " : "", set->batch->number,
                          set->batch->ops->info.name, set->global ? "all elements" : "element");
    if (!set->global)
        length += snprintf(word + length, sizeof word - (size_t)length, " %d", element);
    /* Names that do not fit are counted; 24 bytes are kept free for the count. */
    if (n->left_out > 0 || n->used + (size_t)length + 24 > n->size) {
        n->left_out++;
        return;
    }
    memcpy(n->text + n->used, word, (size_t)length + 1);
    n->used += (size_t)length;
    *last = set;
}

static void open_message(message *n, sinew_solve *s, const char *begin)
{
    *n = (message){
        .text = s->constraint_message, .size = sizeof s->constraint_message, .used = strlen(s->constraint_message)};
    const int length = snprintf(n->text + n->used, n->size - n->used, "%s%s", n->used ? "; " : "", begin);
    n->used = n->used + (size_t)length < n->size ? n->used + (size_t)length : n->size - 1;
}

static void close_message(message *n)
{
    if (n->left_out > 0)
        snprintf(n->text + n->used, n->size - n->used, " and %d more", n->left_out);
}

/* True if an earlier constraint of the same element is marked: messages name each element once. */
static bool element_is_marked_before(const sinew_constraints *c, int32_t constraint, const uint8_t *marks)
{
    int32_t element, i;
    sinew_constraint_owner(c, constraint, &element, &i);
    while (i-- > 0)
        if (marks[--constraint])
            return true;
    return false;
}

static void name_marked_constraints(message *n, const sinew_constraints *c, const uint8_t *marks)
{
    const sinew_constraint_set *last = NULL;
    for (int32_t constraint = 0; constraint < c->constraint_count; constraint++)
        if (marks[constraint] && !element_is_marked_before(c, constraint, marks))
            name_constraint(n, c, constraint, &last);
}

/* Marks the dropped constraint k and the constraints that it depends on, from the last factors. Returns C_k - sum_i c_i
 * C_i: the violation that no motion can remove to first order. */
static double mark_dependence(sinew_kkt *r, int32_t k, uint8_t *marks)
{
    const sinew_assembly *as = r->saddle->assembly;
    const int32_t constraints = r->constraints->constraint_count;
    memset(r->right, 0, (size_t)constraints * sizeof *r->right);
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    r->right[k] = 1;
    sinew_constraints_add_force(r->constraints, r->right, -1, r->force);
    r->right[k] = 0;
    for (int32_t j = 0; j < as->free_count; j++)
        for (int32_t c = 0; c < 3; c++)
            r->particle_rhs[3 * j + c] = r->force[3 * as->particle[j] + c];
    sinew_saddle_solve(r->saddle, r->particle_rhs, r->right, r->move, r->change);
    double max = r->norm[k], left = r->constraints->C[k];
    for (int32_t i = 0; i < constraints; i++) {
        max = fmax(max, fabs(r->change[i]) * r->norm[i]);
        left -= r->change[i] * r->constraints->C[i];
    }
    for (int32_t i = 0; i < constraints; i++)
        marks[i] = i == k || fabs(r->change[i]) * r->norm[i] > INVOLVED_MIN * max;
    return left;
}

/* The redundant constraint that is violated most, in its natural scale; -1: none above the tolerance. */
static int32_t worst_redundant(const sinew_kkt *r, double tolerance)
{
    int32_t worst = -1;
    double max = tolerance;
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++) {
        const double scale = r->norm[constraint] > 0 ? r->norm[constraint] * r->size : 1;
        const double open = fabs(r->constraints->C[constraint]) / scale;
        if (!r->redundant[constraint] || !r->active[constraint] || open <= max)
            continue;
        worst = constraint;
        max = open;
    }
    return worst;
}

/* Scaled pivots below this size are uncertain: after a correct pivot of 1e-6, round-off of a zero pivot is 1e-10 or
 * less. */
#define UNCERTAIN_PIVOT 1e-9

/* Factorises at the point of the last evaluation; the existing factors may belong to an earlier point with other
 * dependences. Constraints with uncertain pivots are dropped, so that none is named by mistake. Dependences do not
 * depend on the particle block A, so masses alone, which make A definite, suffice (quasistatic: the projected
 * Hessian). Marks the dropped constraints as redundant. Returns false on failure. */
static bool factorise_at_iterate(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const sinew_saddle_fill fill = {
        .q = s->q, .hessian = s->objective->step.quasistatic, .project = true, .active = r->active};
    double shift = 0;
    r->saddle->pivot_min = UNCERTAIN_PIVOT;
    sinew_saddle_assemble(r->saddle, &fill);
    while (shift < SINEW_SHIFT_MAX && !sinew_saddle_factorise(r->saddle, shift))
        shift = sinew_stop_came() ? SINEW_SHIFT_MAX : shift > 0 ? 8 * shift : SINEW_SHIFT_MIN;
    r->saddle->pivot_min = 0;
    if (shift >= SINEW_SHIFT_MAX)
        return false;
    sinew_kkt_mark_redundant(r);
    return true;
}

void sinew_kkt_add_message(sinew_solve *s, const char *text)
{
    message n;
    open_message(&n, s, text);
}

/* Sets r->active to a contradictory set of constraints. Returns false if the violation of `worst` follows from
 * violations of the constraints that it depends on. A set that round-off has enlarged is analysed again by itself. */
static bool find_contradiction(sinew_solve *s, int32_t worst, double tolerance)
{
    sinew_kkt *r = s->memory;
    for (int32_t before = INT32_MAX, count = 0; worst >= 0; before = count) {
        if (fabs(mark_dependence(r, worst, r->active)) < 0.5 * fabs(r->constraints->C[worst]))
            return false;
        count = 0;
        for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
            count += r->active[constraint];
        worst = count < before && factorise_at_iterate(s) ? worst_redundant(r, tolerance) : -1;
    }
    return true;
}

static void name_redundant(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    message n;
    if (r->redundant_count == 0)
        return;
    open_message(&n, s, "redundant: ");
    name_marked_constraints(&n, r->constraints, r->redundant);
    close_message(&n);
}

bool sinew_kkt_describe(sinew_solve *s, double tolerance)
{
    sinew_kkt *r = s->memory;
    message n;
    int32_t worst = r->redundant_count > 0 ? worst_redundant(r, tolerance) : -1;
    if (worst >= 0 && factorise_at_iterate(s))
        worst = worst_redundant(r, tolerance);
    if (worst < 0 || !find_contradiction(s, worst, tolerance)) {
        name_redundant(s);
        return false;
    }
    open_message(&n, s, "contradictory, take one away or make it compliant: ");
    name_marked_constraints(&n, r->constraints, r->active);
    close_message(&n);
    return true;
}
