/* SPDX-License-Identifier: MIT
 *
 * name_dependent.c: which rows are redundant, and which exclude each other, in words.
 *
 * The factorisation (saddle_system.h) leaves out each hard row that depends on those before it. Where such a row k holds all
 * the same, it is redundant. Where it does not, the rows that it depends on exclude it: the solution of
 *
 *     [ A  J^T; J  -alpha ] [ u; -c ] = [ -J_k^T; 0 ]        is  u = 0,  J_k = sum_i c_i J_i
 *
 * As the rows that were kept are independent, the c_i are unique: row k and those with c_i != 0 depend on each other,
 * and without any one of them the others are independent. The set is minimal.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solve/kkt/kkt_common.h"

/* Rows whose part in a dependence is below this share of the largest, each per its own length, have none. */
#define TAKES_PART (sizeof(sinew_real) == 4 ? 1e-3 : 1e-6)

/* Text that is cut where the note ends. */
typedef struct note {
    char *text;
    size_t size, used;
    int32_t left_out;
} note;

/* Adds one row; energies follow each other, so that each is named once. */
static void name_row(note *n, const sinew_constraints *c, int32_t row, const sinew_row_set **last)
{
    char word[96];
    int32_t element, i;
    const sinew_row_set *set = sinew_row_owner(c, row, &element, &i);
    int length = 0;
    if (set != *last)
        length = snprintf(word, sizeof word, "%senergy %d (%s), %s", *last ? "; " : "", set->batch->number,
                          set->batch->ops->info.name, set->whole ? "all elements" : "element");
    if (!set->whole)
        length += snprintf(word + length, sizeof word - (size_t)length, " %d", element);
    /* What does not fit is counted, with room for the count. */
    if (n->left_out > 0 || n->used + (size_t)length + 24 > n->size) {
        n->left_out++;
        return;
    }
    memcpy(n->text + n->used, word, (size_t)length + 1);
    n->used += (size_t)length;
    *last = set;
}

static void open_note(note *n, sinew_solve *s, const char *begin)
{
    *n = (note){.text = s->note, .size = sizeof s->note, .used = strlen(s->note)};
    const int length = snprintf(n->text + n->used, n->size - n->used, "%s%s", n->used ? "; " : "", begin);
    n->used = n->used + (size_t)length < n->size ? n->used + (size_t)length : n->size - 1;
}

static void close_note(note *n)
{
    if (n->left_out > 0)
        snprintf(n->text + n->used, n->size - n->used, " and %d more", n->left_out);
}

/* Rows of an element have several constraints, which are named once. */
static bool is_repeated(const sinew_constraints *c, int32_t row, const uint8_t *marks)
{
    int32_t element, i;
    sinew_row_owner(c, row, &element, &i);
    while (i-- > 0)
        if (marks[--row])
            return true;
    return false;
}

static void name_marked(note *n, const sinew_constraints *c, const uint8_t *marks)
{
    const sinew_row_set *last = NULL;
    for (int32_t row = 0; row < c->row_count; row++)
        if (marks[row] && !is_repeated(c, row, marks))
            name_row(n, c, row, &last);
}

/* marks = row k and the rows that it depends on, with the last factors. Returns C_k - sum_i c_i C_i: what no move can
 * take away to first order. */
static double find_circuit(sinew_row_solve *r, int32_t k, uint8_t *marks)
{
    const sinew_assembly *as = r->saddle->assembly;
    const int32_t rows = r->rows->row_count;
    memset(r->right, 0, (size_t)rows * sizeof *r->right);
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    r->right[k] = 1;
    sinew_constraints_add_force(r->rows, r->right, -1, r->force);
    r->right[k] = 0;
    for (int32_t j = 0; j < as->free_count; j++)
        for (int32_t c = 0; c < 3; c++)
            r->pull[3 * j + c] = r->force[3 * as->particle[j] + c];
    sinew_saddle_solve(r->saddle, r->pull, r->right, r->move, r->change);
    double most = r->norm[k], left = r->rows->C[k];
    for (int32_t i = 0; i < rows; i++) {
        most = fmax(most, fabs(r->change[i]) * r->norm[i]);
        left -= r->change[i] * r->rows->C[i];
    }
    for (int32_t i = 0; i < rows; i++)
        marks[i] = i == k || fabs(r->change[i]) * r->norm[i] > TAKES_PART * most;
    return left;
}

/* The redundant row that is violated most, in its natural scale; -1: none above the tolerance. */
static int32_t worst_redundant(const sinew_row_solve *r, double tolerance)
{
    int32_t worst = -1;
    double most = tolerance;
    for (int32_t row = 0; row < r->rows->row_count; row++) {
        const double scale = r->norm[row] > 0 ? r->norm[row] * r->size : 1;
        const double open = fabs(r->rows->C[row]) / scale;
        if (!r->redundant[row] || !r->active[row] || open <= most)
            continue;
        worst = row;
        most = open;
    }
    return worst;
}

/* Pivots below this are in doubt: behind one of 1e-6 that is right, what should be zero comes out as 1e-10 or less. */
#define DOUBT 1e-9

/* Factors of the rows where they were last evaluated. The last ones may be of an earlier point, where rows depend on
 * each other in other ways; rows in doubt are left out, so that none is named in their place. Of A only its inertia
 * matters; with masses alone it is definite. False: could not. */
static bool factorise_here(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const sinew_saddle_fill fill = {
        .q = s->q, .hessian = s->objective->quasistatic, .project = true, .active = r->active};
    double shift = 0;
    r->saddle->doubt = DOUBT;
    sinew_saddle_assemble(r->saddle, &fill);
    while (shift < SINEW_SHIFT_MAX && !sinew_saddle_factorise(r->saddle, shift))
        shift = shift > 0 ? 8 * shift : SINEW_SHIFT_MIN;
    r->saddle->doubt = 0;
    if (shift >= SINEW_SHIFT_MAX)
        return false;
    sinew_row_note_redundant(r);
    return true;
}

void sinew_row_say(sinew_solve *s, const char *text)
{
    note n;
    open_note(&n, s, text);
}

/* active = a set of rows that exclude each other, of which `worst` is one; false: what is open is only what others have
 * left open. A set that round-off has made too large is looked at again by itself. */
static bool find_contradiction(sinew_solve *s, int32_t worst, double tolerance)
{
    sinew_row_solve *r = s->memory;
    for (int32_t before = INT32_MAX, count = 0; worst >= 0; before = count) {
        if (fabs(find_circuit(r, worst, r->active)) < 0.5 * fabs(r->rows->C[worst]))
            return false;
        count = 0;
        for (int32_t row = 0; row < r->rows->row_count; row++)
            count += r->active[row];
        worst = count < before && factorise_here(s) ? worst_redundant(r, tolerance) : -1;
    }
    return true;
}

static void name_redundant(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    note n;
    if (r->redundant_count == 0)
        return;
    open_note(&n, s, "redundant: ");
    name_marked(&n, r->rows, r->redundant);
    close_note(&n);
}

bool sinew_row_describe(sinew_solve *s, double tolerance)
{
    sinew_row_solve *r = s->memory;
    note n;
    int32_t worst = r->redundant_count > 0 ? worst_redundant(r, tolerance) : -1;
    if (worst >= 0 && factorise_here(s))
        worst = worst_redundant(r, tolerance);
    if (worst < 0 || !find_contradiction(s, worst, tolerance)) {
        name_redundant(s);
        return false;
    }
    open_note(&n, s, "contradictory, take one away or make it compliant: ");
    name_marked(&n, r->rows, r->active);
    close_note(&n);
    return true;
}
