/* SPDX-License-Identifier: MIT
 *
 * aggregates.c: builds connected aggregates of particles for a coarse space. See aggregates.h. Recursive bisection by
 * coordinates (Berger and Bokhari 1987).
 */
#include "objective/coarse/aggregates.h"

#include <math.h>
#include <string.h>

#include "objective/connected_components.h"

#define FRAGMENT 4 /* connected fragments of a subset with fewer than size / FRAGMENT particles join a neighbour */
/* directions whose variance of positions is below this fraction of the largest get no linear basis function */
#define FLAT 1e-3

/* ---- Connectivity of particles by elements ------------------------------------------------------- */

/* Function called for each pair of vertices of each fixed element. */
typedef void edge_visitor(void *context, int32_t first, int32_t other);

static void visit_edges(const sinew_objective *o, edge_visitor *incidence, void *context)
{
    for (int32_t t = 0; t < o->fixed_task_count; t++) {
        const sinew_batch *batch = o->tasks[t].batch;
        const sinew_chunk *chunk = o->tasks[t].chunk;
        const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
        const int32_t *particle = batch->particle + chunk->first_slot;
        const int32_t *vertex = batch->vertex + (size_t)chunk->first_group * n * W;
        for (size_t group = 0; group < (size_t)chunk->group_count; group++)
            for (size_t lane = 0; lane < W; lane++)
                for (size_t a = 0; a < n; a++)
                    for (size_t b = 0; b < a; b++)
                        incidence(context, particle[vertex[(group * n + a) * W + lane] / SINEW_POINT],
                                  particle[vertex[(group * n + b) * W + lane] / SINEW_POINT]);
    }
}

typedef struct joining {
    /* [particle_count] subset of each particle: vertices are joined only within one subset; -1: in no subset */
    const int32_t *subset;
    int32_t *parent; /* [particle_count] union-find: parent of each particle */
} joining;

static void join_within_subset(void *context, int32_t i, int32_t j)
{
    const joining *own = context;
    if (own->subset[i] < 0 || own->subset[i] != own->subset[j])
        return;
    const int32_t a = sinew_find_root(own->parent, i), b = sinew_find_root(own->parent, j);
    own->parent[a > b ? a : b] = a > b ? b : a;
}

/* Union-find: parent[i] = the lowest particle connected with particle i by elements within its subset. */
static void find_components(const sinew_objective *o, const int32_t *subset, int32_t *parent)
{
    for (int32_t i = 0; i < o->particle_count; i++)
        parent[i] = i;
    visit_edges(o, join_within_subset, &(joining){subset, parent});
    for (int32_t i = 0; i < o->particle_count; i++)
        parent[i] = sinew_find_root(parent, i);
}

/* ---- Cuts of connected components into subsets --------------------------------------------------- */

typedef struct cutting {
    const sinew_real *rest; /* [particle_count][4] rest positions of all particles, in m */
    int32_t *list;          /* [particle_count] particle indices, connected component by component; cuts reorder them */
    int32_t *subset;        /* [particle_count] index of the subset of each particle */
    int32_t subset_count;
} cutting;

static size_t longest_side(const cutting *c, int32_t first, int32_t last)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int32_t k = first; k < last; k++)
        for (size_t a = 0; a < 3; a++) {
            const double x = (double)c->rest[4 * (size_t)c->list[k] + a];
            low[a] = fmin(low[a], x);
            high[a] = fmax(high[a], x);
        }
    size_t longest = 0;
    for (size_t a = 1; a < 3; a++)
        if (high[a] - low[a] > high[longest] - low[longest])
            longest = a;
    return longest;
}

/* Compares two particles by position along the axis, ties by index: no two particles compare equal, so that subsets are
 * well defined. */
static bool comes_before_along(const cutting *c, size_t axis, int32_t i, int32_t j)
{
    const sinew_real a = c->rest[4 * (size_t)i + axis], b = c->rest[4 * (size_t)j + axis];
    return a != b ? a < b : i < j;
}

/* Reorders list[first .. last - 1] of particle indices so that along the axis no particle before index `middle` lies
 * beyond one after it (quickselect, Hoare 1961). */
static void partition_along(const cutting *c, size_t axis, int32_t first, int32_t last, int32_t middle)
{
    while (last - first > 1) {
        const int32_t pivot = c->list[first + (last - first) / 2];
        int32_t i = first, j = last - 1;
        while (i <= j) {
            while (comes_before_along(c, axis, c->list[i], pivot))
                i++;
            while (comes_before_along(c, axis, pivot, c->list[j]))
                j--;
            if (i <= j) {
                const int32_t swapped = c->list[i];
                c->list[i++] = c->list[j];
                c->list[j--] = swapped;
            }
        }
        if (middle <= j)
            last = j + 1;
        else if (middle >= i)
            first = i;
        else
            return;
    }
}

/* Cuts particles list[first .. last - 1] into the given number of subsets; the recursion depth is the logarithm of this
 * number. */
static void cut_into_subsets(cutting *c, int32_t first, int32_t last, int32_t subsets)
{
    if (subsets <= 1) {
        for (int32_t k = first; k < last; k++)
            c->subset[c->list[k]] = c->subset_count;
        c->subset_count += last > first;
        return;
    }
    const int32_t left = subsets / 2, middle = first + (int32_t)((int64_t)(last - first) * left / subsets);
    partition_along(c, longest_side(c, first, last), first, last, middle);
    cut_into_subsets(c, first, middle, left);
    cut_into_subsets(c, middle, last, subsets - left);
}

/* Cuts every connected component into subsets of about `size` free particles; `component` and `start` are
 * overwritten. */
static void cut_components(const sinew_objective *o, int32_t size, int32_t *component, int32_t *start, int32_t *list,
                           int32_t *subset)
{
    cutting c = {.rest = o->step.rest, .list = list, .subset = subset};
    int32_t total = 0;
    memset(start, 0, (size_t)o->particle_count * sizeof *start);
    for (int32_t i = 0; i < o->particle_count; i++)
        start[component[i]] += !o->step.pinned[i];
    for (int32_t i = 0; i < o->particle_count; i++) {
        const int32_t count = start[i];
        start[i] = total;
        total += count;
    }
    for (int32_t i = 0; i < o->particle_count; i++) {
        subset[i] = -1;
        if (!o->step.pinned[i])
            list[start[component[i]]++] = i;
    }
    for (int32_t i = 0, first = 0; i < o->particle_count; i++) {
        const int32_t last = start[i]; /* end of component i in `list`: the loop above has advanced start[i] to it */
        if (last > first)
            cut_into_subsets(&c, first, last, (last - first + size / 2) / size);
        first = last;
    }
}

/* ---- Connected fragments of subsets -------------------------------------------------------------- */

typedef struct merging {
    const int32_t *root; /* [particle_count] root of each particle's fragment, its lowest particle; -1: pinned */
    const int32_t *size; /* [particle_count] number of particles of a fragment, stored at its root */
    int32_t *preferred;  /* [particle_count] root of the larger fragment that a small fragment joins, or its own root */
    int32_t small;
} merging;

/* Orders fragments by size, ties by the lower root: a total order, so that joins cannot form a cycle. */
static bool is_larger_fragment(const merging *m, int32_t a, int32_t b)
{
    return m->size[a] != m->size[b] ? m->size[a] > m->size[b] : a < b;
}

static void prefer_larger_neighbour(void *context, int32_t i, int32_t j)
{
    const merging *m = context;
    const int32_t ends[2] = {m->root[i], m->root[j]};
    for (int k = 0; k < 2; k++) {
        const int32_t own = ends[k], other = ends[1 - k];
        if (own >= 0 && other >= 0 && own != other && m->size[own] < m->small &&
            is_larger_fragment(m, other, m->preferred[own]))
            m->preferred[own] = other;
    }
}

/* root[i] = the representative particle of the aggregate of i: subsets are split into connected fragments, and small
 * fragments join a neighbour. */
static void merge_fragments(const sinew_objective *o, int32_t size, const int32_t *subset, int32_t *root,
                            int32_t *count, int32_t *preferred)
{
    find_components(o, subset, root);
    memset(count, 0, (size_t)o->particle_count * sizeof *count);
    for (int32_t i = 0; i < o->particle_count; i++) {
        preferred[i] = i;
        if (subset[i] < 0)
            root[i] = -1;
        else
            count[root[i]]++;
    }
    visit_edges(o, prefer_larger_neighbour, &(merging){root, count, preferred, size / FRAGMENT});
    for (int32_t i = 0; i < o->particle_count; i++)
        if (root[i] >= 0)
            root[i] = sinew_find_root(preferred, root[i]);
}

/* ---- Coarse space of aggregates ------------------------------------------------------------------ */

/* Lists the particles of each aggregate in space->particle; work [particle_count]. */
static void aggregates_list_particles(sinew_coarse_space *space, const sinew_objective *o, int32_t *work)
{
    int32_t *first = space->first_particle;
    memset(first, 0, ((size_t)o->particle_count + 1) * sizeof *first);
    for (int32_t i = 0; i < o->particle_count; i++)
        if (space->aggregate[i] >= 0)
            first[space->aggregate[i] + 1]++;
    for (int32_t a = 0; a < space->count; a++) {
        work[a] = first[a];
        first[a + 1] += first[a];
    }
    for (int32_t i = 0; i < o->particle_count; i++)
        if (space->aggregate[i] >= 0)
            space->particle[work[space->aggregate[i]]++] = i;
}

/* Numbers the aggregates in the order of their lowest particle indices. */
static void number_aggregates(sinew_coarse_space *space, const sinew_objective *o, const int32_t *root, int32_t *number)
{
    space->count = 0;
    memset(number, 0xff, (size_t)o->particle_count * sizeof *number);
    for (int32_t i = 0; i < o->particle_count; i++) {
        if (root[i] >= 0 && number[root[i]] < 0)
            number[root[i]] = space->count++;
        space->aggregate[i] = root[i] >= 0 ? number[root[i]] : -1;
    }
}

/* Computes the mean position of an aggregate, and the sums of products of positions relative to it, [3][3], in m2. */
static void find_aggregate_moments(const sinew_coarse_space *space, const sinew_real *rest, int32_t aggregate,
                                   double middle[3], double S[9])
{
    const int32_t first = space->first_particle[aggregate], last = space->first_particle[aggregate + 1];
    memset(S, 0, 9 * sizeof *S);
    for (size_t a = 0; a < 3; a++) {
        middle[a] = 0;
        for (int32_t k = first; k < last; k++)
            middle[a] += (double)rest[4 * (size_t)space->particle[k] + a] / (last - first);
    }
    for (int32_t k = first; k < last; k++) {
        double x[3];
        for (size_t a = 0; a < 3; a++)
            x[a] = (double)rest[4 * (size_t)space->particle[k] + a] - middle[a];
        for (size_t i = 0; i < 9; i++)
            S[i] += x[i / 3] * x[i % 3];
    }
}

/* Computes orthonormal linear basis functions of positions relative to the aggregate's centre, the rows of T [3][3]:
 * the inverse of the pivoted Cholesky factor of S. Returns the number of functions. */
static int make_basis_functions(double S[9], double T[9])
{
    double scale = fmax(S[0], fmax(S[4], S[8]));
    /* rows: coefficients of the orthogonalised linear functions in x, y and z */
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int found = 0;
    for (; found < 3; found++) {
        size_t pivot = 0;
        for (size_t a = 1; a < 3; a++)
            if (S[4 * a] > S[4 * pivot])
                pivot = a;
        const double variance = S[4 * pivot];
        if (!(variance > FLAT * scale))
            break;
        for (size_t c = 0; c < 3; c++)
            T[3 * (size_t)found + c] = R[3 * pivot + c] / sqrt(variance);
        double gone[3];
        for (size_t a = 0; a < 3; a++)
            gone[a] = S[3 * a + pivot] / variance;
        for (size_t a = 0; a < 3; a++)
            for (size_t c = 0; c < 3; c++)
                if (a != pivot)
                    R[3 * a + c] -= gone[a] * R[3 * pivot + c];
        for (size_t i = 0; i < 9; i++)
            S[i] -= gone[i / 3] * gone[i % 3] * variance;
        S[4 * pivot] = 0;
    }
    return found;
}

static void fill_basis(sinew_coarse_space *space, const sinew_real *rest, int32_t aggregate)
{
    const int32_t first = space->first_particle[aggregate], last = space->first_particle[aggregate + 1];
    double middle[3], S[9], T[9];
    find_aggregate_moments(space, rest, aggregate, middle, S);
    const int functions = make_basis_functions(S, T);
    space->mode_count[aggregate] = (uint8_t)(1 + functions);
    for (int32_t k = first; k < last; k++) {
        const sinew_real *x = rest + 4 * (size_t)space->particle[k];
        sinew_real *phi = space->basis + SINEW_MODES * (size_t)space->particle[k];
        phi[0] = (sinew_real)(1 / sqrt(last - first));
        for (int f = 0; f < functions; f++) {
            double sum = 0;
            for (size_t c = 0; c < 3; c++)
                sum += T[3 * f + (int)c] * ((double)x[c] - middle[c]);
            phi[1 + f] = (sinew_real)sum;
        }
    }
}

static bool aggregates_reserve_buffers(sinew_coarse_space *space, const sinew_objective *o)
{
    const sinew_allocator *allocator = &o->allocator;
    const size_t count = (size_t)o->particle_count;
    *space = (sinew_coarse_space){0};
    space->aggregate = sinew_allocate(allocator, count, sizeof *space->aggregate);
    space->basis = sinew_allocate_zero(allocator, SINEW_MODES * count, sizeof *space->basis);
    space->mode_count = sinew_allocate_zero(allocator, count, sizeof *space->mode_count);
    space->first_particle = sinew_allocate(allocator, count + 1, sizeof *space->first_particle);
    space->particle = sinew_allocate(allocator, count, sizeof *space->particle);
    return space->aggregate && space->basis && space->mode_count && space->first_particle && space->particle;
}

sinew_status sinew_aggregates_create(sinew_coarse_space *space, const sinew_objective *o, int32_t size,
                                     sinew_error *error)
{
    const size_t count = (size_t)o->particle_count;
    int32_t *work = sinew_allocate_zero(&o->allocator, 4 * count, sizeof *work);
    const bool good = aggregates_reserve_buffers(space, o) && work;
    if (good) {
        int32_t *component = work, *start = work + count, *list = work + 2 * count, *subset = work + 3 * count;
        /* Before the first cut all particles, pinned ones included, are in one subset. */
        find_components(o, subset, component);
        cut_components(o, size, component, start, list, subset);
        merge_fragments(o, size, subset, component, start, list);
        number_aggregates(space, o, component, start);
        aggregates_list_particles(space, o, start);
        for (int32_t a = 0; a < space->count; a++)
            fill_basis(space, o->step.rest, a);
    }
    sinew_release(&o->allocator, work);
    return good ? SINEW_OK : sinew_fail_memory(error, "the aggregates");
}

sinew_status sinew_aggregates_join(sinew_coarse_space *space, const sinew_objective *o, const sinew_coarse_space *lower,
                                   const int32_t *group, int32_t group_count, sinew_error *error)
{
    int32_t *work = sinew_allocate(&o->allocator, (size_t)o->particle_count, sizeof *work);
    const bool good = aggregates_reserve_buffers(space, o) && work;
    if (good) {
        space->count = group_count;
        for (int32_t i = 0; i < o->particle_count; i++)
            space->aggregate[i] = lower->aggregate[i] >= 0 ? group[lower->aggregate[i]] : -1;
        aggregates_list_particles(space, o, work);
        for (int32_t a = 0; a < space->count; a++)
            fill_basis(space, o->step.rest, a);
    }
    sinew_release(&o->allocator, work);
    return good ? SINEW_OK : sinew_fail_memory(error, "the aggregates");
}

void sinew_aggregates_destroy(sinew_coarse_space *space, const sinew_objective *o)
{
    void *arrays[] = {space->aggregate, space->basis, space->mode_count, space->first_particle, space->particle};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    *space = (sinew_coarse_space){0};
}
