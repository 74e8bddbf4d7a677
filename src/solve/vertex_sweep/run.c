/* SPDX-License-Identifier: MIT
 *
 * run.c: moves nodes that are laid out (vertex_layout.c), colour after colour. See vertex_layout.h.
 */
#include <string.h>

#include "base/phases.h"
#include "solve/vertex_sweep/vertex_layout.h"

/* Groups that one task takes from sums to steps: their sums stay in the first cache. */
enum {
    TILE = 16,
    PARALLEL_TILES = 16, /* in all; below, one thread does them */
    WIDTH_MAX = 8,       /* of all lanes */
    HALVINGS = 10        /* of a step that would not lower the objective */
};

/* The kernels of all energies over groups first .. first + count - 1. */
static void run_energies(const sinew_visits *v, const sinew_visit_groups *g, int32_t first,
                         const sinew_visit_move *move, sinew_real *sum, bool change)
{
    sinew_vertex_kernel kernel = {.group_count = move->group_count,
                                  .node = move->node,
                                  .x = move->x,
                                  .exact = v->exact,
                                  .sum = sum,
                                  .step = move->step,
                                  .change = move->change};
    for (int32_t i = 0; i < g->batch_count; i++) {
        const sinew_visit_batch *b = &g->batches[i];
        kernel.first_visit = b->first_visit + first;
        kernel.others = b->others;
        kernel.data = b->data;
        if (b->first_visit[first] == b->first_visit[first + move->group_count])
            continue;
        if (change)
            b->ops->vertex_change(&kernel);
        else
            b->ops->vertex(&kernel);
    }
}

/* Nodes that are held along some directions: with A = B + m/h^2 1 and g the gradient of the objective, the sums become
 * S B S + (1 - S) tr B and what makes S g of g, so that their step is that within what is free. */
static void hold_sums(const sinew_objective *o, const sinew_visit_move *move, size_t W, sinew_real *sum)
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    for (size_t place = 0; place < (size_t)move->group_count * W; place++) {
        const size_t at = (size_t)move->node[place];
        const int32_t particle = (int32_t)(at / SINEW_POINT);
        const sinew_real *S = o->filter + 6 * (size_t)particle;
        sinew_real *own = sum + place / W * SINEW_VISIT_SUM * W + place % W;
        if (S[0] + S[1] + S[2] > (sinew_real)2.5)
            continue;
        double block[9], g[3], other[3], filtered[3];
        for (size_t c = 0; c < 3; c++) {
            g[c] = (double)own[c * W];
            other[c] = o->quasistatic ? -(double)move->target[at + c]
                                      : (double)move->mass[place] * (double)move->inertia *
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

/* One step of every node of the groups from `first` on that `move` is about. */
static void move_groups(const sinew_visits *v, const sinew_visit_groups *g, int32_t first, const sinew_visit_move *move,
                        sinew_real *sum)
{
    const size_t lanes = (size_t)move->group_count * (size_t)v->lanes->width;
    memset(sum, 0, lanes * SINEW_VISIT_SUM * sizeof *sum);
    run_energies(v, g, first, move, sum, false);
    if (v->objective->filter)
        hold_sums(v->objective, move, (size_t)v->lanes->width, sum);
    v->lanes->visits->step(move);
    for (int k = 0; g->checked && k <= HALVINGS; k++) {
        memset(move->change, 0, lanes * 2 * sizeof *move->change);
        run_energies(v, g, first, move, sum, true);
        if (!v->lanes->visits->shorten(move, k == HALVINGS))
            break;
    }
    v->lanes->visits->move(move);
}

/* Moves the nodes of groups first .. first + count - 1, at most TILE. */
static void run_groups(const sinew_visits *v, const sinew_visit_groups *g, int32_t first, int32_t count,
                       double relaxation, sinew_real *q)
{
    _Alignas(SINEW_ALIGNMENT) sinew_real sum[TILE * SINEW_VISIT_SUM * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real step[TILE * 3 * WIDTH_MAX], change[TILE * 2 * WIDTH_MAX];
    const sinew_objective *o = v->objective;
    const size_t W = (size_t)v->lanes->width;
    const sinew_visit_move move = {.group_count = count,
                                   .node = g->node + (size_t)first * W,
                                   .mass = g->mass + (size_t)first * W,
                                   .sum = sum,
                                   .step = step,
                                   .change = change,
                                   .x = q,
                                   .target = o->quasistatic ? o->force : o->q_tilde,
                                   .inertia = (sinew_real)(o->quasistatic ? 0 : 1 / (o->h * o->h)),
                                   .relaxation = (sinew_real)relaxation};
    for (int32_t k = 0; k == 0 || k < v->inner; k++)
        move_groups(v, g, first, &move, sum);
}

static bool is_idle(const sinew_visit_groups *g, int32_t group, int32_t W)
{
    for (int32_t place = group * W; place < (group + 1) * W; place++)
        if (g->mass[place] > 0)
            return false;
    return true;
}

/* Groups whose nodes have all gone to the layer are left out. */
static void run_tile(const sinew_visits *v, const sinew_visit_groups *g, int32_t first, int32_t last, double relaxation,
                     sinew_real *q)
{
    while (first < last) {
        int32_t end = first;
        while (end < last && !is_idle(g, end, v->lanes->width))
            end++;
        if (end > first)
            run_groups(v, g, first, end - first, relaxation, q);
        first = end + 1;
    }
}

/* The nodes of one colour do not see each other: its tiles are what a phase consists of. Where there is a layer each
 * colour has two phases, as idle lanes of its fixed groups may hold nodes that the layer moves. */
typedef struct visit_pass {
    const sinew_visits *visits;
    double relaxation;
    bool backward;
    int32_t phases;
    sinew_real *q;
} visit_pass;

/* The groups of a phase, *first to *last - 1. */
static const sinew_visit_groups *phase_groups(const visit_pass *pass, int32_t phase, int32_t *first, int32_t *last)
{
    const sinew_visits *v = pass->visits;
    const bool two = v->layer.group_count > 0;
    const int32_t number = pass->backward ? pass->phases - 1 - phase : phase, colour = two ? number / 2 : number;
    const sinew_visit_groups *g = two && number % 2 ? &v->layer : &v->fixed;
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
    const visit_pass *pass = context;
    int32_t first, last;
    const sinew_visit_groups *g = phase_groups(pass, phase, &first, &last);
    first += tile * TILE;
    run_tile(pass->visits, g, first, last - first < TILE ? last : first + TILE, pass->relaxation, pass->q);
}

void sinew_visits_run(const sinew_visits *v, double relaxation, bool backward, sinew_real *q)
{
    const int32_t groups = v->fixed.group_count + v->layer.group_count;
    const visit_pass pass = {v, relaxation, backward, v->layer.group_count > 0 ? 2 * v->colour_count : v->colour_count,
                             q};
    const sinew_phases work = {pass.phases, count_tiles, run_phase_tile, &pass};
    sinew_phases_run(&work, groups >= PARALLEL_TILES * TILE ? v->objective->thread_count : 1);
}
