/* SPDX-License-Identifier: MIT
 *
 * run.c: moves the nodes of a vertex layout, colour by colour. See vertex_layout.h.
 */
#include <string.h>

#include "base/phases.h"
#include "solve/vertex_sweep/vertex_layout.h"

/* TILE: number of SIMD groups of nodes that a thread processes from sums to steps, so that the sums stay in the L1
 * cache. */
enum {
    TILE = 16,
    PARALLEL_TILES = 16, /* smallest number of tiles of all colours for which several threads run */
    WIDTH_MAX = 8,       /* largest SIMD width of all compiled variants */
    HALVINGS = 10        /* largest number of halvings of a node's step while it does not lower the objective */
};

/* Runs the vertex kernels of all energies over the SIMD groups of `move`, from group `first` on. `change`: kernels
 * compute the change of the objective by the step, else gradient and block sums. */
static void run_energies(const sinew_vertex_layout *v, const sinew_incidence_groups *g, int32_t first,
                         const sinew_vertex_move *move, sinew_real *sum, bool change)
{
    sinew_vertex_kernel kernel = {.group_count = move->group_count,
                                  .node = move->node,
                                  .x = move->x,
                                  .exact = v->exact,
                                  .sum = sum,
                                  .step = move->step,
                                  .change = move->change};
    for (int32_t i = 0; i < g->batch_count; i++) {
        const sinew_incidence_batch *b = &g->batches[i];
        kernel.first_incidence = b->first_incidence + first;
        kernel.others = b->others;
        kernel.data = b->data;
        if (b->first_incidence[first] == b->first_incidence[first + move->group_count])
            continue;
        if (change)
            b->ops->vertex_change(&kernel);
        else
            b->ops->vertex(&kernel);
    }
}

/* Filters the gradient and block sums of nodes with constrained directions (filter S). The block sum B becomes
 * S B S + (1 - S) tr B / 3. The gradient sum changes so that, with the inertia term that the step adds, it becomes S g,
 * g the gradient of the objective: the step stays within the free directions. */
static void filter_sums(const sinew_objective *o, const sinew_vertex_move *move, size_t W, sinew_real *sum)
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    for (size_t padded_index = 0; padded_index < (size_t)move->group_count * W; padded_index++) {
        const size_t at = (size_t)move->node[padded_index];
        const int32_t particle = (int32_t)(at / SINEW_POINT);
        const sinew_real *S = o->step.filter + 6 * (size_t)particle;
        sinew_real *own = sum + padded_index / W * SINEW_VERTEX_SUM * W + padded_index % W;
        if (S[0] + S[1] + S[2] > (sinew_real)2.5)
            continue;
        double block[9], g[3], other[3], filtered[3];
        for (size_t c = 0; c < 3; c++) {
            g[c] = (double)own[c * W];
            other[c] = o->step.quasistatic ? -(double)move->target[at + c]
                                           : (double)move->mass[padded_index] * (double)move->inertia *
                                                 ((double)move->x[at + c] - (double)move->target[at + c]);
            filtered[c] = g[c] + other[c];
        }
        sinew_filter_point(o, particle, filtered);
        for (size_t k = 0; k < 6; k++)
            block[entry[k]] = (double)own[(3 + k) * W];
        block[3] = block[1];
        block[6] = block[2];
        block[7] = block[5];
        sinew_filter_block(o, particle, particle, block);
        for (size_t c = 0; c < 3; c++)
            own[c * W] = (sinew_real)(filtered[c] - other[c]);
        for (size_t k = 0; k < 6; k++)
            own[(3 + k) * W] = (sinew_real)block[entry[k]];
    }
}

/* Takes one step of every node of the SIMD groups of `move`, from group `first` on. */
static void step_groups(const sinew_vertex_layout *v, const sinew_incidence_groups *g, int32_t first,
                        const sinew_vertex_move *move, sinew_real *sum)
{
    const size_t padded_count = (size_t)move->group_count * (size_t)v->simd->width;
    memset(sum, 0, padded_count * SINEW_VERTEX_SUM * sizeof *sum);
    run_energies(v, g, first, move, sum, false);
    if (v->objective->step.filter)
        filter_sums(v->objective, move, (size_t)v->simd->width, sum);
    v->simd->vertex_steps->step(move);
    for (int k = 0; g->checked && k <= HALVINGS; k++) {
        memset(move->change, 0, padded_count * 2 * sizeof *move->change);
        run_energies(v, g, first, move, sum, true);
        if (!v->simd->vertex_steps->shorten(move, k == HALVINGS))
            break;
    }
    v->simd->vertex_steps->move(move);
}

/* Moves the nodes of SIMD groups first .. first + count - 1, at most TILE groups. */
static void vertex_sweep_run_groups(const sinew_vertex_layout *v, const sinew_incidence_groups *g, int32_t first,
                                    int32_t count, double relaxation, sinew_real *q)
{
    _Alignas(SINEW_ALIGNMENT) sinew_real sum[TILE * SINEW_VERTEX_SUM * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real step[TILE * 3 * WIDTH_MAX], change[TILE * 2 * WIDTH_MAX];
    const sinew_objective *o = v->objective;
    const size_t W = (size_t)v->simd->width;
    const sinew_vertex_move move = {.group_count = count,
                                    .node = g->node + (size_t)first * W,
                                    .mass = g->mass + (size_t)first * W,
                                    .sum = sum,
                                    .step = step,
                                    .change = change,
                                    .x = q,
                                    .target = o->step.quasistatic ? o->step.force : o->step.q_tilde,
                                    .inertia = (sinew_real)(o->step.quasistatic ? 0 : 1 / (o->step.h * o->step.h)),
                                    .relaxation = (sinew_real)relaxation};
    for (int32_t k = 0; k == 0 || k < v->inner; k++)
        step_groups(v, g, first, &move, sum);
}

static bool group_is_idle(const sinew_incidence_groups *g, int32_t group, int32_t W)
{
    for (int32_t padded_index = group * W; padded_index < (group + 1) * W; padded_index++)
        if (g->mass[padded_index] > 0)
            return false;
    return true;
}

/* Runs SIMD groups first .. last - 1, except idle groups, all of whose nodes are in transient groups. */
static void run_tile(const sinew_vertex_layout *v, const sinew_incidence_groups *g, int32_t first, int32_t last,
                     double relaxation, sinew_real *q)
{
    while (first < last) {
        int32_t end = first;
        while (end < last && !group_is_idle(g, end, v->simd->width))
            end++;
        if (end > first)
            vertex_sweep_run_groups(v, g, first, end - first, relaxation, q);
        first = end + 1;
    }
}

/* Arguments of a vertex sweep. Nodes of one colour are independent: a phase consists of the tiles of a colour. With
 * transient groups each colour has two phases, as idle lanes of fixed groups may contain nodes of transient groups. */
typedef struct incidence_pass {
    const sinew_vertex_layout *layout;
    double relaxation;
    bool backward;
    int32_t phases;
    sinew_real *q;
} incidence_pass;

/* Returns the groups (fixed or transient) that a phase processes: SIMD groups *first to *last - 1. */
static const sinew_incidence_groups *phase_groups(const incidence_pass *pass, int32_t phase, int32_t *first,
                                                  int32_t *last)
{
    const sinew_vertex_layout *v = pass->layout;
    const bool two = v->transient.group_count > 0;
    const int32_t number = pass->backward ? pass->phases - 1 - phase : phase, colour = two ? number / 2 : number;
    const sinew_incidence_groups *g = two && number % 2 ? &v->transient : &v->fixed;
    *first = colour < g->colour_count ? g->first_group[colour] : 0;
    *last = colour < g->colour_count ? g->first_group[colour + 1] : 0;
    return g;
}

static int32_t count_tiles(const void *context, int32_t phase)
{
    int32_t first, last;
    phase_groups(context, phase, &first, &last);
    return (last - first + TILE - 1) / TILE;
}

static void run_phase_tile(const void *context, int32_t phase, int32_t tile)
{
    const incidence_pass *pass = context;
    int32_t first, last;
    const sinew_incidence_groups *g = phase_groups(pass, phase, &first, &last);
    first += tile * TILE;
    run_tile(pass->layout, g, first, last - first < TILE ? last : first + TILE, pass->relaxation, pass->q);
}

void sinew_vertex_layout_run(const sinew_vertex_layout *v, double relaxation, bool backward, sinew_real *q)
{
    const int32_t groups = v->fixed.group_count + v->transient.group_count;
    const incidence_pass pass = {v, relaxation, backward,
                                 v->transient.group_count > 0 ? 2 * v->colour_count : v->colour_count, q};
    const sinew_phases work = {pass.phases, count_tiles, run_phase_tile, &pass};
    sinew_phases_run(&work, groups >= PARALLEL_TILES * TILE ? v->objective->thread_count : 1);
}
