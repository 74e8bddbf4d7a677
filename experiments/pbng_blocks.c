/* SPDX-License-Identifier: MIT
 *
 * pbng_blocks.c: PBNG fig 8 and tables 1 and 3: the block at growing resolution with the cost of an iteration and of a
 * tet; and the numbers of colours of nodes and of constraints.
 *
 * Times are processor times of one thread: the fastest frame, divided by its iterations. All three blocks go through
 * the whole motion; the finest takes some 25 minutes of one core.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

/* ---- Fig 8: resolution of the block ------------------------------------------------------------ */

enum {
    SIZES = 3,
    FRAMES = 40,
    PLAIN_ITERATIONS = 20,
    QUARTER = 2 * SIZES, /* index of the run of the coarsest block with a quarter of its iterations */
    TRIALS = QUARTER + 1,
    HEADER = 64 /* number of bytes before a block of memory that store its size; at least the library's alignment */
};
static const int32_t sizes[2][SIZES] = {{32, 64, 128}, {6, 9, 14}};
static const int32_t iterations[SIZES] = {40, 20, 40}; /* iterations per frame at each resolution, PBNG table 3 */
static const double published_ms[SIZES] = {28, 65, 1520};

static void *blocks_tally_allocate(void *context, size_t size, size_t alignment)
{
    size_t *held = context;
    char *block = alignment <= HEADER ? aligned_alloc(HEADER, (size + 2 * HEADER - 1) / HEADER * HEADER) : NULL;
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    *held += size;
    return block + HEADER;
}

static void blocks_tally_release(void *context, void *memory)
{
    size_t *held = context, size;
    char *block = (char *)memory - HEADER;
    memcpy(&size, block, sizeof size);
    *held -= size;
    free(block);
}

/* Number of bytes that a world of this trial holds once it is ready to step; 0 on failure. */
static size_t memory_of(const trial *t)
{
    trial copy = {.build = t->build, .n = t->n, .material = t->material, .solver = t->solver};
    size_t held = 0;
    copy.allocator = (sinew_allocator){blocks_tally_allocate, blocks_tally_release, &held};
    sinew_error error = {SINEW_OK, ""};
    sinew_world *world = copy.build(&copy, &error);
    const size_t ready = world && sinew_world_prepare(world, &error) == SINEW_OK ? held : 0;
    sinew_world_destroy(world);
    return ready;
}

/* Mean distance in m of the side vertices near the block's middle from its axis; measures how slender the block is. */
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

/* Time per iteration in the fastest frame of a trial, in ms. */
static double cost_of(const trial *t)
{
    double min = HUGE_VAL;
    for (int32_t i = 0; i < t->frames; i++)
        min = fmin(min, t->seconds[i]);
    return 1e3 * min / t->solver.iterations;
}

static void blocks_claim_size(outcome *o, const trial *t, const trial *plain, int size, double bytes)
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
                "%s", trial_inverted(t) == 0 ? "" : "some tets are inside out; where these are was not looked for");
    outcome_number(o, cost_of(t), "ms_%d", t->n);
    outcome_number(o, cost_of(plain), "ms_plain_%d", t->n);
    outcome_number(o, bytes / t->tet_count, "bytes_per_tet_%d", t->n);
    outcome_number(o, trial_inverted(t), "inverted_%d", t->n);
    outcome_number(o, worst, "relative_%d", t->n);
}

static void blocks_claim_growth(outcome *o, const trial *t, const trial *plain)
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
    const double waist[4] = {waist_of(&t[0]), waist_of(&t[1]), waist_of(&t[2]), waist_of(&t[QUARTER])};
    claim_measured(c,
                   "half width of the middle after the last frame: %.4f m at n = %d, %.4f m at n = %d, %.4f m at n = "
                   "%d; %.4f m at "
                   "n = %d with a quarter of the iterations",
                   waist[0], t[0].n, waist[1], t[1].n, waist[2], t[2].n, waist[3], t[0].n);
    const double thinnest = fmin(waist[0], fmin(waist[1], waist[2])), widest = fmax(waist[0], fmax(waist[1], waist[2]));
    const bool alike = widest / thinnest - 1 < 0.02, settled = fabs(waist[3] / waist[0] - 1) < 0.02;
    claim_holds(c, alike ? HOLDS_YES : HOLDS_NO, "%s",
                alike ? "within 2 %"
                : settled
                    ? "more than 2 % apart, though iterations hardly matter to the coarser one: the meshes are coarse"
                    : "more than 2 % apart: a finer block is farther from converged after so many iterations, and the "
                      "middle, the farthest from the ends, shows it");
    outcome_number(o, waist[3], "waist_quarter");
    for (int i = 0; i < SIZES; i++)
        outcome_number(o, waist[i], "waist_%d", t[i].n);
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
                       .frames = i < SIZES || i == QUARTER ? FRAMES : 1};
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
            blocks_claim_size(o, &t[i], &plain[i], i, (double)memory_of(&t[i]));
            trial_curve(g, &t[i], name, 0, t[i].relative);
        }
        blocks_claim_growth(o, t, plain);
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

/* ---- Table 1: numbers of colours --------------------------------------------------------------- */

/* Counts the colours that a solver uses on a scene. `colours` receives the colour of each particle, to be freed; NULL:
 * none. */
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

/* One row of PBNG table 1, published and measured. */
typedef struct colour_row {
    /* Name, key of its numbers, and published colours of nodes and of constraints. */
    const char *name, *key, *said;
    scene_builder *build;
    int32_t n, quick_n;
    double said_ms[2]; /* published ms per iteration of PBNG and of PBD, with 8 threads */
    /* ---- results of a row of table 1 ---- */
    int32_t size, nodes, constraints;
    double ms[2]; /* measured ms per iteration of PBNG and of PBD on one thread */
} colour_row;

static bool measure_row(const setting *s, colour_row *r, outcome *o)
{
    trial t = {.build = r->build, .n = s->quick ? r->quick_n : r->n, .material = SINEW_ENERGY_COROTATED};
    double fixed, each;
    for (int k = 0; k < 2; k++) {
        t.solver = k ? trial_solver(SINEW_SOLVER_PBD, 1, (char *)NULL)
                     : trial_solver(SINEW_SOLVER_PBNG, 1, "acceleration", 0.0, (char *)NULL);
        *(k ? &r->constraints : &r->nodes) = count_colours(&t, NULL, o);
        trials_release(&t, 1);
        t.bond_count = 0;
        if (*o->failure || !trial_cost(s, &t, &fixed, &each, o))
            return false;
        r->ms[k] = 1e3 * each;
    }
    r->size = t.n;
    outcome_number(o, r->nodes, "nodes_%s", r->key);
    outcome_number(o, r->constraints, "constraints_%s", r->key);
    outcome_number(o, r->ms[0], "ms_pbng_%s", r->key);
    outcome_number(o, r->ms[1], "ms_pbd_%s", r->key);
    return true;
}

static void blocks_claim_row(outcome *o, const colour_row *r)
{
    char what[120];
    snprintf(what, sizeof what, "%s, n = %d: colours of nodes, of constraints", r->name, r->size);
    claim *c = outcome_claim(o, what, r->said);
    claim_measured(c, "%d, %d", r->nodes, r->constraints);
    const bool muscles = r->build == scene_muscles;
    const bool fewer = r->nodes > 0 && r->nodes <= (muscles ? 13 : 5) && r->constraints > 5 * r->nodes;
    claim_holds(c,
                fewer                       ? HOLDS_YES
                : r->nodes < r->constraints ? HOLDS_PARTLY
                                            : HOLDS_NO,
                "%s",
                muscles ? "bars of boxes, whose vertices have fewer neighbours than those of a mesh of muscles"
                : r->nodes == 4
                    ? "one less than published: the node with the most colours around it comes next, where first "
                      "fit along the grid needs five"
                    : "");
}

/* Compares the colours of a scene with and without its weak constraints. */
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

/* Judges table 1: time per iteration of PBNG and PBD, in every row. */
static void blocks_claim_times(outcome *o, const colour_row *rows, int count)
{
    char said[120], text[200];
    int said_used = 0, used = 0;
    for (int i = 0; i < count; i++) {
        said_used += snprintf(said + said_used, sizeof said - (size_t)said_used, "%s%s %.4g/%.4g", i ? ", " : "",
                              rows[i].key, rows[i].said_ms[0], rows[i].said_ms[1]);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %.3g/%.3g (%.1f)", i ? ", " : "", rows[i].key,
                         rows[i].ms[0], rows[i].ms[1], rows[i].ms[0] / rows[i].ms[1]);
    }
    claim *c =
        outcome_claim(o, "table 1: ms of an iteration of PBNG / PBD (8 threads; here one, and their ratio)", said);
    claim_measured(c, "%s", text);
    claim_timed(c,
                "PBNG computes each tet four times, once for each of its nodes, and on one thread fewer colours gain "
                "nothing");
    outcome_number(o, rows[1].ms[0] / rows[1].ms[1], "pbng_over_pbd");
}

void experiment_colours(const setting *s, outcome *o)
{
    colour_row rows[] = {
        {"falling block", "16", "5, 39", scene_falling, 16, 6, {3.6, 4.1}, 0, 0, 0, {0, 0}},
        {"block", "32", "5, 39", scene_block, 32, 8, {28, 26.8}, 0, 0, 0, {0, 0}},
        {"block", "64", "5, 39", scene_block, 64, 10, {65, 137}, 0, 0, 0, {0, 0}},
        {"block", "128", "5, 40", scene_block, 128, 12, {1520, 1080}, 0, 0, 0, {0, 0}},
        {"four muscles", "muscles", "13, 82 (284K vertices)", scene_muscles, 9, 5, {131, 140}, 0, 0, 0, {0, 0}},
    };
    const int count = (int)(sizeof rows / sizeof rows[0]);
    snprintf(o->setup, sizeof o->setup,
             "Blocks of five tets a cell; two blocks and four bars bound by weak constraints.");
    for (int i = 0; i < count; i++) {
        if (!measure_row(s, &rows[i], o))
            return;
        blocks_claim_row(o, &rows[i]);
        if (s->progress)
            s->progress(s->context, i + 1, count, rows[i].name);
    }
    blocks_claim_times(o, rows, count);
    claim_recolouring(s, o, scene_hanging, "two hanging blocks: recolouring touches only what changed (section 10.1)");
    claim_recolouring(s, o, scene_muscles, "four muscles: the same");
    figure *f = outcome_figure(o, "colours", "Colours that a sweep over a block goes through", "n", "colours");
    for (int k = 0; k < 2; k++) {
        if (!figure_series(f, k ? "constraints" : "nodes", k ? SINEW_SOLVER_PBD : SINEW_SOLVER_PBNG, 0, count - 1))
            return;
        for (int i = 0; i < count - 1; i++) {
            f->series[k].x[i] = rows[i].size;
            f->series[k].y[i] = k ? rows[i].constraints : rows[i].nodes;
        }
    }
}
