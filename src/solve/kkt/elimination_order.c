/* SPDX-License-Identifier: MIT
 *
 * elimination_order.c: computes the two elimination orders of a saddle-point system. See elimination_order.h.
 */
#include "solve/kkt/elimination_order.h"

#include <string.h>

#include "base/sort.h"
#include "linear/factor/cholesky.h"
#include "solve/kkt/overdetermined.h"

enum {
    MAX_PAIRS =
        32 /* limit for the order with constraints last: mean number of pairs at common particles per constraint */
};

/* ---- Graphs of the unknowns ------------------------------------------------------------------ */

static int elimination_compare_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t sinew_saddle_sort_keys(int64_t *keys, size_t count)
{
    size_t used = 0;
    sinew_sort(keys, count, sizeof *keys, elimination_compare_keys);
    for (size_t i = 0; i < count; i++)
        if (used == 0 || keys[i] != keys[used - 1])
            keys[used++] = keys[i];
    return used;
}

static int64_t pair_key(int32_t i, int32_t j)
{
    return (int64_t)(i < j ? i : j) << 32 | (i < j ? j : i);
}

/* Sorts `max` keys (pairs of nodes) and computes a fill-reducing order of the graph of `count` nodes that they define;
 * order[k] is eliminated k-th. */
static sinew_status order_graph(const sinew_saddle *s, int32_t count, int64_t *keys, size_t max,
                                const sinew_real *positions, int32_t *order, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    int32_t *column = sinew_allocate_zero(a, (size_t)count + 1, sizeof *column);
    int32_t *row = sinew_allocate(a, max, sizeof *row);
    sinew_status status = column && row ? SINEW_OK : sinew_fail_memory(error, "the order of constraints");
    if (status == SINEW_OK) {
        const size_t used = sinew_saddle_sort_keys(keys, max);
        for (size_t k = 0; k < used; k++) {
            column[(keys[k] >> 32) + 1]++;
            row[k] = (int32_t)(keys[k] & 0xffffffff);
        }
        for (int32_t j = 0; j < count; j++)
            column[j + 1] += column[j];
        status = sinew_fill_reducing_order(a, count, column, row, positions, order, error);
    }
    sinew_release(a, column);
    sinew_release(a, row);
    return status;
}

/* ---- Order by particles ---------------------------------------------------------------------- */

/* Writes keys (column, row) of the lower triangle of the particle graph, unless keys is NULL. Returns their number. */
static size_t list_pairs(const sinew_saddle *s, int64_t *keys)
{
    const sinew_assembly *as = s->assembly;
    size_t count = 0;
    for (int32_t j = 0; j < as->free_count; j++)
        for (int32_t k = as->column[j]; k < as->column[j + 1]; k++, count++)
            if (keys)
                keys[count] = pair_key(j, as->row[k]);
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        if (set->global && !(s->curved && set->curved))
            continue;
        for (int32_t e = 0; e < set->element_count; e++) {
            const int32_t *particles = sinew_constraint_particles(s->constraints, set, e);
            for (int32_t a = 1; a < set->vertex_count; a++)
                for (int32_t b = 0; b < a; b++)
                    if (particles[a] >= 0 && particles[b] >= 0) {
                        if (keys)
                            keys[count] =
                                pair_key(sinew_saddle_free_of(s, particles[a]), sinew_saddle_free_of(s, particles[b]));
                        count++;
                    }
        }
    }
    return count;
}

static sinew_status order_free_particles(const sinew_saddle *s, int32_t *order, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    const size_t max = list_pairs(s, NULL);
    int64_t *keys = sinew_allocate(a, max, sizeof *keys);
    sinew_real *positions = sinew_assembly_rest_positions(s->assembly, s->rest);
    sinew_status status = keys && positions ? SINEW_OK : sinew_fail_memory(error, "the order of constraints");
    if (status == SINEW_OK) {
        list_pairs(s, keys);
        status = order_graph(s, s->free_count, keys, max, positions, order, error);
    }
    sinew_release(a, keys);
    sinew_release(a, positions);
    return status;
}

/* Number of particles eliminated before the constraints of an element: all up to the element's last particle; for early
 * constraints all before its first particle; for other global constraints all. rank: position of each free particle in
 * the elimination order. */
static int32_t particles_before(const sinew_saddle *s, const sinew_constraint_set *set, int32_t e, const int32_t *rank)
{
    const int32_t *particles = sinew_constraint_particles(s->constraints, set, e);
    const bool early = s->early[sinew_constraint_index(set, e, 0)];
    int32_t first = s->free_count, last = 0;
    for (int32_t a = 0; a < set->vertex_count; a++) {
        const int32_t at = particles[a] >= 0 ? rank[sinew_saddle_free_of(s, particles[a])] : -1;
        first = at >= 0 && at < first ? at : first;
        last = at + 1 > last ? at + 1 : last;
    }
    return early ? first : set->global ? s->free_count : last;
}

/* after [constraint_count] = number of particles eliminated before each constraint; rank: position of each free
 * particle in the elimination order */
static void rank_constraints(const sinew_saddle *s, const int32_t *rank, int32_t *after)
{
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->per_element; i++)
                after[sinew_constraint_index(set, e, i)] = particles_before(s, set, e, rank);
    }
}

/* Numbers all unknowns of the saddle-point system: particles in their order, constraint r inserted after after[r]
 * particles. first [free_count + 2]: work space. */
static void number_unknowns(sinew_saddle *s, const int32_t *order, const int32_t *after, int32_t *first)
{
    const int32_t constraints = s->constraints->constraint_count;
    memset(first, 0, ((size_t)s->free_count + 2) * sizeof *first);
    for (int32_t r = 0; r < constraints; r++)
        first[after[r] + 1]++;
    /* first[k] = number of constraints that are inserted after fewer than k particles */
    for (int32_t k = 0; k <= s->free_count; k++)
        first[k + 1] += first[k];
    for (int32_t k = 0; k < s->free_count; k++)
        s->particle_unknown[order[k]] = 3 * k + first[k + 1];
    for (int32_t r = 0; r < constraints; r++)
        s->multiplier_unknown[r] = 3 * after[r] + first[after[r]]++;
}

sinew_status sinew_saddle_order_particles(sinew_saddle *s, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    const size_t n = (size_t)s->free_count;
    int32_t *order = sinew_allocate(a, n, sizeof *order), *rank = sinew_allocate(a, n, sizeof *rank);
    int32_t *after = sinew_allocate_zero(a, (size_t)s->constraints->constraint_count, sizeof *after);
    int32_t *first = sinew_allocate(a, n + 2, sizeof *first);
    sinew_status status =
        order && rank && after && first ? SINEW_OK : sinew_fail_memory(error, "the order of constraints");
    if (status == SINEW_OK && n > 0)
        status = order_free_particles(s, order, error);
    if (status == SINEW_OK) {
        for (size_t k = 0; k < n; k++)
            rank[order[k]] = (int32_t)k;
        rank_constraints(s, rank, after);
        number_unknowns(s, order, after, first);
    }
    sinew_release(a, order);
    sinew_release(a, rank);
    sinew_release(a, after);
    sinew_release(a, first);
    return status;
}

/* ---- Order with constraints last -------------------------------------------------------------------- */

/* Lists the constraints at free particle j from incidence[first[j]++] on; if `incidence` is NULL, counts them in
 * first[j + 1]. */
static void list_incidence(const sinew_saddle *s, int32_t *first, int32_t *incidence)
{
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        for (int32_t k = 0; k < set->element_count * set->vertex_count; k++) {
            const int32_t e = k / set->vertex_count, particle = s->constraints->particle[set->particle_at + (size_t)k];
            for (int32_t i = 0; particle >= 0 && i < set->per_element; i++) {
                const int32_t j = sinew_saddle_free_of(s, particle);
                if (incidence)
                    incidence[first[j]++] = sinew_constraint_index(set, e, i);
                else
                    first[j + 1]++;
            }
        }
    }
}

/* Lists the constraints at free particle j in incidence[first[j]] .. incidence[first[j + 1] - 1]. The caller releases
 * *incidence. Returns false if out of memory. */
static bool make_incidence(const sinew_saddle *s, int32_t *first, int32_t **incidence)
{
    const size_t n = (size_t)s->free_count;
    memset(first, 0, (n + 1) * sizeof *first);
    list_incidence(s, first, NULL);
    for (size_t j = 0; j < n; j++)
        first[j + 1] += first[j];
    *incidence = sinew_allocate(&s->allocator, (size_t)first[n], sizeof **incidence);
    if (!*incidence)
        return false;
    list_incidence(s, first, *incidence);
    /* list_incidence() has advanced each particle's start to that of the next particle; the shift restores the
     * starts. */
    memmove(first + 1, first, n * sizeof *first);
    first[0] = 0;
    return true;
}

/* Writes keys of pairs of constraints that share a particle (and of each constraint with itself), unless keys is NULL.
 * Returns their number. */
static size_t list_constraint_pairs(const sinew_saddle *s, const int32_t *first, const int32_t *incidence,
                                    int64_t *keys)
{
    size_t count = 0;
    for (int32_t r = 0; r < s->constraints->constraint_count; r++, count++)
        if (keys)
            keys[count] = pair_key(r, r);
    for (int32_t j = 0; j < s->free_count; j++)
        for (int32_t x = first[j]; x < first[j + 1]; x++)
            for (int32_t y = first[j]; y < x; y++, count++)
                if (keys)
                    keys[count] = pair_key(incidence[x], incidence[y]);
    return count;
}

bool sinew_saddle_constraints_can_be_last(const sinew_saddle *s)
{
    if (s->curved || s->constraints->constraint_count == 0 || s->assembly->column[s->free_count] != s->free_count)
        return false;
    int32_t *first = sinew_allocate_zero(&s->allocator, (size_t)s->free_count + 1, sizeof *first);
    double pairs = 0;
    if (first)
        list_incidence(s, first, NULL);
    for (int32_t j = 1; first && j <= s->free_count; j++)
        pairs += 0.5 * (double)first[j] * ((double)first[j] + 1);
    sinew_release(&s->allocator, first);
    return first && pairs <= MAX_PAIRS * (double)s->constraints->constraint_count;
}

static sinew_status order_constraint_graph(const sinew_saddle *s, int32_t *first, int32_t *order, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    int32_t *incidence = NULL;
    int64_t *keys = NULL;
    size_t max = 0;
    bool good = make_incidence(s, first, &incidence);
    if (good) {
        max = list_constraint_pairs(s, first, incidence, NULL);
        good = (keys = sinew_allocate(a, max, sizeof *keys));
    }
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the order of constraints");
    if (good) {
        list_constraint_pairs(s, first, incidence, keys);
        status = order_graph(s, s->constraints->constraint_count, keys, max, NULL, order, error);
    }
    sinew_release(a, keys);
    sinew_release(a, incidence);
    return status;
}

sinew_status sinew_saddle_order_constraints(sinew_saddle *s, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    int32_t *first = sinew_allocate(a, (size_t)s->free_count + 1, sizeof *first);
    int32_t *order = sinew_allocate(a, (size_t)s->constraints->constraint_count, sizeof *order);
    sinew_status status = first && order ? order_constraint_graph(s, first, order, error)
                                         : sinew_fail_memory(error, "the order of constraints");
    if (status == SINEW_OK) {
        for (int32_t j = 0; j < s->free_count; j++)
            s->particle_unknown[j] = 3 * j;
        for (int32_t k = 0; k < s->constraints->constraint_count; k++)
            s->multiplier_unknown[order[k]] = 3 * s->free_count + k;
    }
    sinew_release(a, first);
    sinew_release(a, order);
    return status;
}

/* ---- Early constraints, eliminated before their particles: compliant or overdetermined ones ------ */

/* True if all constraints of an element have a nonzero compliance. */
static bool is_compliant(const sinew_saddle *s, const sinew_constraint_set *set, int32_t e)
{
    bool compliant = !set->hard && !set->global;
    for (int32_t i = 0; i < set->per_element; i++)
        compliant &= sinew_constraint_compliance(s->constraints, set, e, i, i) > 0;
    return compliant;
}

bool sinew_saddle_choose_early(sinew_saddle *s)
{
    uint8_t *seen = sinew_allocate(&s->allocator, (size_t)s->free_count + 1, 1);
    for (int32_t t = 0; seen && t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        const bool overdetermined = sinew_overdetermined_set(s, set, seen);
        s->overdetermined |= overdetermined;
        for (int32_t e = 0; e < set->element_count; e++) {
            const uint8_t early = overdetermined            ? SINEW_EARLY_OVERDETERMINED
                                  : is_compliant(s, set, e) ? SINEW_EARLY_COMPLIANT
                                                            : 0;
            for (int32_t i = 0; i < set->per_element; i++)
                s->early[sinew_constraint_index(set, e, i)] = early;
        }
    }
    sinew_release(&s->allocator, seen);
    return seen;
}
