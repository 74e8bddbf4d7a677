/* SPDX-License-Identifier: MIT
 *
 * layout_checks.h: brute-force checks of the layouts of sweeps and incidences, transient elements included: elements
 * that are processed concurrently share no particle, and every element occurs once.
 */
#ifndef SINEW_LAYOUT_CHECKS_H
#define SINEW_LAYOUT_CHECKS_H

#include "make_world.h"

#include "solve/constraint_sweep/sweep.h"
#include "solve/vertex_sweep/vertex_layout.h"

/* colour [particle_count] of every node, which occurs once in the fixed groups or the layer; -1 at pins. */
static inline void find_node_colours(const sinew_vertex_layout *v, int32_t *colour)
{
    const sinew_objective *o = v->objective;
    const sinew_incidence_groups *both[] = {&v->fixed, &v->transient};
    const int32_t W = v->simd->width;
    int32_t nodes = 0;
    for (int32_t i = 0; i < o->particle_count; i++) {
        colour[i] = -1;
        nodes += o->step.pinned[i] > 0;
    }
    for (int k = 0; k < 2; k++)
        for (int32_t c = 0; c < both[k]->colour_count; c++)
            for (int32_t p = both[k]->first_group[c] * W; p < both[k]->first_group[c + 1] * W; p++) {
                const int32_t node = both[k]->node[p] / SINEW_POINT;
                if (both[k]->mass[p] == 0)
                    continue;
                assert_true(colour[node] < 0 && !o->step.pinned[node] && c < v->colour_count);
                assert_true(both[k]->mass[p] == o->step.mass[node]);
                colour[node] = c;
                nodes++;
            }
    assert_int_equal(nodes, o->particle_count);
}

/* Nodes of one colour share no element; returns the number of incidences of free nodes that a batch must have. */
static inline int64_t check_colours_of(const sinew_batch *batch, const int32_t *colour)
{
    const int32_t n = batch->ops->info.vertex_count;
    int32_t *list = make_array((size_t)batch->element_count * (size_t)n, sizeof *list);
    int64_t expected = 0;
    sinew_batch_list_particles(batch, list);
    for (int32_t e = 0; e < batch->element_count; e++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t *vertices = list + e * n;
            bool first = true;
            for (int32_t j = 0; j < i; j++) {
                first &= vertices[j] != vertices[i];
                assert_true(vertices[j] == vertices[i] || colour[vertices[j]] < 0 ||
                            colour[vertices[j]] != colour[vertices[i]]);
            }
            expected += first && colour[vertices[i]] >= 0;
        }
    free(list);
    return expected;
}

/* The number of incidences without padding, of one source of a batch. */
static inline int64_t count_incidences(const sinew_vertex_layout *v, const sinew_incidence_groups *g,
                                       const sinew_incidence_batch *b, int32_t source)
{
    const int32_t W = v->simd->width;
    int64_t found = 0;
    for (int32_t group = 0; group < g->group_count; group++)
        for (int32_t k = b->first_incidence[group]; k < b->first_incidence[group + 1]; k++)
            for (int32_t lane = 0; lane < W; lane++) {
                const int32_t element = b->element[k * W + lane];
                found += g->mass[group * W + lane] > 0 && element >= b->first_element[source] &&
                         element < b->first_element[source + 1];
            }
    return found;
}

static inline void assert_incidences(const sinew_vertex_layout *v)
{
    const sinew_objective *o = v->objective;
    const int32_t fixed = v->fixed.batch_count, all = v->transient.group_count > 0 ? v->transient.batch_count : fixed;
    int32_t *colour = make_array((size_t)o->particle_count, sizeof *colour), sources = 0, batches = 0;
    find_node_colours(v, colour);
    for (int32_t b = 0; b < all; b++) {
        const sinew_incidence_batch *batch = b < fixed ? &v->fixed.batches[b] : &v->transient.batches[b];
        for (int32_t k = 0; k < batch->source_count; k++, sources++) {
            int64_t found = b < fixed ? count_incidences(v, &v->fixed, batch, k) : 0;
            found += all > fixed ? count_incidences(v, &v->transient, &v->transient.batches[b], k) : 0;
            assert_int_equal(found, check_colours_of(batch->sources[k], colour));
        }
    }
    for (int32_t t = 0; t < o->task_count; t++)
        batches += t == 0 || o->tasks[t].batch != o->tasks[t - 1].batch;
    if (v->transient.group_count > 0 || o->task_count == o->fixed_task_count)
        assert_int_equal(sources, batches);
    free(colour);
}

/* Every element of every batch occurs once; elements of one colour share no particle. */
static inline void assert_sweep(const sinew_sweep *sweep)
{
    int32_t *marks = make_array((size_t)sweep->objective->particle_count, sizeof *marks), mark = 0;
    for (int32_t i = 0; i < sweep->batch_count; i++) {
        const sinew_sweep_batch *b = &sweep->batches[i];
        const int32_t domains = b->domains.level_count > 0 ? sinew_domain_count(&b->domains) : 1;
        const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
        int32_t *seen = make_array((size_t)b->source->element_count, sizeof *seen);
        for (int32_t c = 0; c < domains * b->colour_count; c++)
            for (size_t p = (size_t)b->first_group[c] * W; p < (size_t)b->first_group[c + 1] * W; p++) {
                mark++;
                for (size_t a = 0; b->element[p] >= 0 && a < n; a++) {
                    int32_t *own = &marks[b->vertex[(p / W * n + a) * W + p % W] / SINEW_POINT];
                    assert_true(sweep->order != SINEW_SWEEP_COLOURED || *own == mark ||
                                *own <= mark - 1 - (int32_t)(p - (size_t)b->first_group[c] * W));
                    *own = mark;
                }
                if (b->element[p] >= 0)
                    seen[b->element[p]]++;
            }
        for (int32_t e = 0; e < b->source->element_count; e++)
            assert_int_equal(seen[e], 1);
        free(seen);
    }
    free(marks);
}

#endif
