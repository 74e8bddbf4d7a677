/* SPDX-License-Identifier: MIT
 *
 * pbng_blocks.c: PBNG fig 8 and tables 1 and 3: the block at growing resolution, what an iteration and a tet cost; and
 * how many colours nodes and constraints need.
 *
 * Times are processor times of one thread, the fastest frame over its iterations. The coarser two blocks go through the
 * whole motion, the finest through its first frame.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

/* ---- Fig 8: resolution ----------------------------------------------------------------------------- */

enum {
    SIZES = 3,
    FRAMES = 40,
    PLAIN_ITERATIONS = 20,
    QUARTER = 2 * SIZES, /* the coarsest block with a quarter of its iterations */
    TRIALS = QUARTER + 1,
    HEADER = 64 /* bytes before a piece of memory, to know its size: the library's alignment */
};
static const int32_t sizes[2][SIZES] = {{32, 64, 128}, {6, 9, 14}};
static const int32_t iterations[SIZES] = {40, 20, 40}; /* a frame, table 3 */
static const double published_ms[SIZES] = {28, 65, 1520};

static void *tally_allocate(void *context, size_t size, size_t alignment)
{
    size_t *held = context;
    char *block = alignment <= HEADER ? aligned_alloc(HEADER, (size + 2 * HEADER - 1) / HEADER * HEADER) : NULL;
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    *held += size;
    return block + HEADER;
}

static void tally_release(void *context, void *memory)
{
    size_t *held = context, size;
    char *block = (char *)memory - HEADER;
    memcpy(&size, block, sizeof size);
    *held -= size;
    free(block);
}

/* Bytes that a world of this trial holds once it is ready to step; 0 on failure. */
static size_t memory_of(const trial *t)
{
    trial copy = {.build = t->build, .n = t->n, .material = t->material, .solver = t->solver};
    size_t held = 0;
    copy.allocator = (sinew_allocator){tally_allocate, tally_release, &held};
    sinew_error error = {SINEW_OK, ""};
    sinew_world *world = copy.build(&copy, &error);
    const size_t ready = world && sinew_world_prepare(world, &error) == SINEW_OK ? held : 0;
    sinew_world_destroy(world);
    return ready;
}

/* m: mean distance from the axis of the side faces' vertices next to the middle: how slim the block has become. */
static double waist_of(const trial *t)
{
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < t->particle_count; i++) {
        const sinew_real *x = t->rest + 3 * (size_t)i, *q = t->q + 3 * (size_t)i;
        const bool side = fmax(fabs((double)x[1]), fabs((double)x[2])) > 0.4999;
        if (!side || fabs((double)x[0]) > 0.51 / (t->n - 1))
            continue;
        sum += hypot((double)q[1], (double)q[2]);
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

/* ms of an iteration: the fastest frame. */
static double cost_of(const trial *t)
{
    double least = HUGE_VAL;
    for (int32_t i = 0; i < t->frames; i++)
        least = fmin(least, t->seconds[i]);
    return 1e3 * least / t->solver.iterations;
}

static void claim_size(outcome *o, const trial *t, const trial *plain, int size, double bytes)
{
    char what[120], said[120];
    double worst = 0;
    for (int32_t i = 0; i < t->frames; i++)
        worst = fmax(worst, t->relative[i]);
    snprintf(what, sizeof what, "n = %d, %d vertices, %d tets, %d iterations a frame", t->n, t->particle_count,
             t->tet_count, t->solver.iterations);
    snprintf(said, sizeof said, "visually plausible; %.0f ms an iteration (8 threads)", published_ms[size]);
    claim *c = outcome_claim(o, what, said);
    claim_measured(
        c,
        "%d frames: at most %d tets inverted, residual at most %.2g of a frame's start; %.3g ms an iteration "
        "(plain sweep %.3g ms), %.0f bytes a tet",
        t->frames, trial_inverted(t), worst, cost_of(t), cost_of(plain), bytes / t->tet_count);
    claim_holds(c,
                trial_inverted(t) == 0 && worst < 1 ? HOLDS_YES
                : worst < 1                         ? HOLDS_PARTLY
                                                    : HOLDS_NO,
                "%s",
                trial_inverted(t) == 0
                    ? ""
                    : "some tets at the clamped ends are inside out: the ends move by more than a cell");
    outcome_number(o, cost_of(t), "ms_%d", t->n);
    outcome_number(o, cost_of(plain), "ms_plain_%d", t->n);
    outcome_number(o, bytes / t->tet_count, "bytes_per_tet_%d", t->n);
    outcome_number(o, trial_inverted(t), "inverted_%d", t->n);
    outcome_number(o, worst, "relative_%d", t->n);
}

static void claim_growth(outcome *o, const trial *t, const trial *plain)
{
    const double tets[2] = {(double)t[1].tet_count / t[0].tet_count, (double)t[2].tet_count / t[1].tet_count};
    const double grown[2] = {cost_of(&plain[1]) / cost_of(&plain[0]), cost_of(&plain[2]) / cost_of(&plain[1])};
    const double all = grown[0] * grown[1], more = tets[0] * tets[1];
    claim *c = outcome_claim(o, "growth of the time of an iteration over the three blocks, table 1",
                             "54 times (2.3, then 23) for 69 times the tets (8.4, then 8.2)");
    claim_measured(c, "%.3g times (%.2f, then %.2f) for %.3g times the tets (%.1f, then %.1f); plain sweep, one thread",
                   all, grown[0], grown[1], more, tets[0], tets[1]);
    claim_timed(c, all < 1.5 * more ? "with the tets, evenly; the published times jump, first below, then above that"
                                    : "it grows faster than the tets");
    c = outcome_claim(o, "consistent results when the mesh is refined", "consistent");
    const double waist[3] = {waist_of(&t[0]), waist_of(&t[1]), waist_of(&t[QUARTER])};
    claim_measured(
        c,
        "half width of the middle after the last frame: %.4f m at n = %d, %.4f m at n = %d; %.4f m at n = %d with a "
        "quarter of the iterations",
        waist[0], t[0].n, waist[1], t[1].n, waist[2], t[0].n);
    const bool alike = fabs(waist[0] / waist[1] - 1) < 0.02, settled = fabs(waist[2] / waist[0] - 1) < 0.02;
    claim_holds(c, alike ? HOLDS_YES : HOLDS_NO, "%s",
                alike ? "within 2 %"
                : settled
                    ? "more than 2 % apart, though iterations hardly matter to the coarser one: the meshes are coarse"
                    : "more than 2 % apart: a finer block is farther from converged after so many iterations, and the "
                      "middle, the farthest from the ends, shows it");
    outcome_number(o, waist[2], "waist_quarter");
    outcome_number(o, waist[0], "waist_%d", t[0].n);
    outcome_number(o, waist[1], "waist_%d", t[1].n);
}

void experiment_resolution(const setting *s, outcome *o)
{
    trial t[TRIALS] = {0};
    trial *plain = t + SIZES;
    for (int i = 0; i < TRIALS; i++) {
        const int size = i % SIZES;
        t[i] = (trial){.build = scene_block,
                       .n = sizes[s->quick][size],
                       .material = SINEW_ENERGY_COROTATED,
                       .frames = (i < SIZES && size < SIZES - 1) || i == QUARTER ? FRAMES : 1};
        const int32_t count = i < SIZES ? iterations[size] : i == QUARTER ? iterations[0] / 4 : PLAIN_ITERATIONS;
        t[i].solver = i < SIZES || i == QUARTER
                          ? trial_solver(SINEW_SOLVER_PBNG, count, (char *)NULL)
                          : trial_solver(SINEW_SOLVER_PBNG, count, "acceleration", 0.0, (char *)NULL);
    }
    if (trials_take(s, t, TRIALS, "resolution", o)) {
        snprintf(o->setup, sizeof o->setup, "Blocks of %d, %d and %d tets, 1e5 Pa.", t[0].tet_count, t[1].tet_count,
                 t[2].tet_count);
        figure *f = outcome_figure(o, "cost", "Time of a plain iteration, one thread (table 1)", "tets", "ms");
        f->log_x = f->log_y = true;
        figure *g = outcome_figure(o, "residual", "Residual, part of a frame's start", "frame", "");
        g->log_y = true;
        for (int i = 0; i < SIZES; i++) {
            char name[32];
            snprintf(name, sizeof name, "n = %d", t[i].n);
            claim_size(o, &t[i], &plain[i], i, (double)memory_of(&t[i]));
            trial_curve(g, &t[i], name, 0, t[i].relative);
        }
        claim_growth(o, t, plain);
        if (figure_series(f, "PBNG", SINEW_SOLVER_PBNG, 0, SIZES))
            for (int i = 0; i < SIZES; i++) {
                f->series[0].x[i] = t[i].tet_count;
                f->series[0].y[i] = cost_of(&plain[i]);
            }
        if (!s->quick && figure_series(f, "published, 8 threads", SINEW_SOLVER_NEWTON, 1, SIZES))
            for (int i = 0; i < SIZES; i++) {
                f->series[1].x[i] = t[i].tet_count;
                f->series[1].y[i] = published_ms[i];
            }
    }
    trials_release(t, TRIALS);
}

/* ---- Table 1: colours ------------------------------------------------------------------------------- */

/* How many colours a scene has by a solver; each particle's in `colours` (NULL: not wanted), to be freed. */
static int32_t count_colours(trial *t, int32_t **colours, outcome *o)
{
    sinew_error error = {SINEW_OK, "out of memory"};
    sinew_world *world = t->build(t, &error);
    int32_t count = 0, *of = NULL;
    t->particle_count = world ? sinew_world_particle_count(world) : 0;
    if (colours)
        of = *colours = malloc(((size_t)t->particle_count + 1) * sizeof *of);
    if (!world || (colours && !of) || sinew_world_prepare(world, &error) != SINEW_OK ||
        sinew_world_colours(world, &count, of) != SINEW_OK)
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    sinew_world_destroy(world);
    return count;
}

static void claim_block(outcome *o, int32_t n, const char *said)
{
    char what[120];
    trial t = {.build = scene_block, .n = n, .material = SINEW_ENERGY_COROTATED};
    t.solver = trial_solver(SINEW_SOLVER_PBNG, 1, (char *)NULL);
    const int32_t nodes = count_colours(&t, NULL, o);
    t.solver = trial_solver(SINEW_SOLVER_PBD, 1, (char *)NULL);
    const int32_t constraints = count_colours(&t, NULL, o);
    snprintf(what, sizeof what, "block of n = %d: colours of nodes, of constraints", n);
    claim *c = outcome_claim(o, what, said);
    claim_measured(c, "%d, %d", nodes, constraints);
    const bool fewer = nodes > 0 && nodes <= 5 && constraints > 5 * nodes;
    claim_holds(c,
                fewer                 ? HOLDS_YES
                : nodes < constraints ? HOLDS_PARTLY
                                      : HOLDS_NO,
                "%s",
                nodes == 4
                    ? "one less than published: the node with the most colours around it comes next, where first "
                      "fit along the grid needs five"
                    : "");
    outcome_number(o, nodes, "nodes_%d", n);
    outcome_number(o, constraints, "constraints_%d", n);
}

/* Recolouring: a scene with and without its weak constraints. */
static void claim_recolouring(const setting *s, outcome *o, scene_builder *build, const char *what)
{
    int32_t *before = NULL, *after = NULL, changed = 0, outside = 0, bound = 0;
    trial loose = {.build = build, .n = s->quick ? 5 : 9, .loose = true}, tied = loose;
    loose.solver = tied.solver = trial_solver(SINEW_SOLVER_PBNG, 1, (char *)NULL);
    tied.loose = false;
    const int32_t without = count_colours(&loose, &before, o), with = count_colours(&tied, &after, o);
    uint8_t *touched = calloc((size_t)tied.particle_count + 1, 1);
    if (touched && before && after && !*o->failure) {
        for (int32_t i = 0; i < 2 * tied.bond_count; i++)
            touched[tied.bonds[i]] = 1;
        for (int32_t i = 0; i < tied.particle_count; i++) {
            bound += touched[i];
            changed += before[i] != after[i];
            outside += before[i] != after[i] && !touched[i];
        }
        claim *c = outcome_claim(o, what, "only nodes of newly added weak constraints");
        claim_measured(c,
                       "%d nodes, %d of them bound: %d change colour, %d of these are not bound; %d colours, then %d",
                       tied.particle_count, bound, changed, outside, without, with);
        claim_holds(c, outside == 0 ? HOLDS_YES : HOLDS_NO, "%s", "");
        outcome_number(o, changed, "changed_%s", build == scene_muscles ? "muscles" : "hanging");
        outcome_number(o, outside, "changed_outside_%s", build == scene_muscles ? "muscles" : "hanging");
        outcome_number(o, bound, "bound_%s", build == scene_muscles ? "muscles" : "hanging");
    }
    free(touched);
    free(before);
    free(after);
    trials_release(&tied, 1);
}

/* Table 1: an iteration of both. */
static void claim_speed(const setting *s, outcome *o)
{
    double fixed, nodes, constraints;
    trial t = {.build = scene_block, .n = s->quick ? 8 : 32, .material = SINEW_ENERGY_COROTATED};
    t.solver = trial_solver(SINEW_SOLVER_PBNG, 1, "acceleration", 0.0, (char *)NULL);
    if (!trial_cost(s, &t, &fixed, &nodes, o))
        return;
    t.solver = trial_solver(SINEW_SOLVER_PBD, 1, (char *)NULL);
    if (!trial_cost(s, &t, &fixed, &constraints, o))
        return;
    claim *c = outcome_claim(o, "time of an iteration of PBNG and of PBD, n = 32", "28 and 26.8 ms (8 threads)");
    claim_measured(c, "%.3g and %.3g ms at n = %d, one thread: %.2f times", 1e3 * nodes, 1e3 * constraints, t.n,
                   nodes / constraints);
    claim_timed(c,
                "PBNG computes each tet four times, once for each of its nodes, and on one thread fewer colours gain "
                "nothing");
    outcome_number(o, nodes / constraints, "pbng_over_pbd");
}

void experiment_colours(const setting *s, outcome *o)
{
    snprintf(o->setup, sizeof o->setup,
             "Blocks of five tets a cell; two blocks and four bars bound by weak constraints.");
    claim_block(o, s->quick ? 8 : 16, "5, 39");
    claim_block(o, s->quick ? 12 : 32, "5, 39");
    claim_recolouring(s, o, scene_hanging, "two hanging blocks: recolouring touches only what changed (section 10.1)");
    claim_recolouring(s, o, scene_muscles, "four muscles: the same");
    claim_speed(s, o);
    figure *f = outcome_figure(o, "colours", "Colours that a sweep goes through", "n", "colours");
    double nodes, constraints;
    for (int k = 0; k < 2; k++) {
        const int32_t n[2] = {s->quick ? 8 : 16, s->quick ? 12 : 32};
        char name[32];
        if (!figure_series(f, k ? "constraints" : "nodes", k ? SINEW_SOLVER_PBD : SINEW_SOLVER_PBNG, 0, 2))
            return;
        for (int i = 0; i < 2; i++) {
            snprintf(name, sizeof name, "nodes_%d", n[i]);
            outcome_find(o, name, &nodes);
            snprintf(name, sizeof name, "constraints_%d", n[i]);
            outcome_find(o, name, &constraints);
            f->series[k].x[i] = n[i];
            f->series[k].y[i] = k ? constraints : nodes;
        }
    }
}
