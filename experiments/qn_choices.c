/* SPDX-License-Identifier: MIT
 *
 * qn_choices.c: Ledwon's thesis 4.3 and 5.5.6: effects of QN's choices: the window of pairs, the interval over which
 * stiffness is fitted, the line search, the initial Hessian; momenta without line search or pairs; and windows and line
 * searches with contact.
 *
 * Two steps of the untwisting beam: strain, h = 1e-2 s, k = 1e8, and neo-Hookean, h = 1e-1 s, E = 1e5. The measure is
 * the number of iterations after which the error (5.5) stays at or below 0.01 per cent, with the lowest objective of
 * all runs as the minimum. The stress of (3.15) along one stretch is a straight line, whose fit is the same over any
 * interval. Intervals, and again the line search, are therefore tested on a compressed block of other materials
 * (trial.h), by the iterations to a thousandth of the first residual.
 */
#include <math.h>
#include <stdio.h>

#include "contact_scene.h"
#include "trial.h"

#define ENOUGH 0.01 /* relative error in per cent that counts as converged */

enum {
    SCENES = 2,
    WINDOWS = 7,
    SEARCHES = 3,
    FIRSTS = 2,
    /* Indices of the first run of each group of runs of one scene. */
    WINDOW_AT = 0,
    SEARCH_AT = WINDOW_AT + WINDOWS,
    FIRST_AT = SEARCH_AT + SEARCHES,
    EACH = FIRST_AT + FIRSTS,
    USUAL = 3, /* index of the default run: window 5, backtracking, PD's matrix, interval 0.5 to 1.5 */
    MOMENTA = 4,
    RUNS = SCENES * EACH + MOMENTA,
    NAME = 24
};
static const double windows[WINDOWS] = {0, 1, 2, 5, 10, 20, 32};
static const char *const search_names[SEARCHES] = {"wolfe", "none", "printed"};
static const char *const first_names[FIRSTS] = {"diagonal", "identity"};
static const char *const scene_names[SCENES] = {"strain", "neo-Hookean"};
static const char *const scene_keys[SCENES] = {"strain", "neo"};

/* ---- Runs with QN's choices ------------------------------------------------------------------- */

static void qn_choices_choose(beam_run *run, int which)
{
    if (which < SEARCH_AT) {
        run->parameters[0] = "window";
        run->values[0] = windows[which - WINDOW_AT];
        /* Line search of algorithm 8 of the thesis; its beta and t are not published. */
    } else if (which == SEARCH_AT + 2) {
        run->parameters[0] = "shrink";
        run->parameters[1] = "least";
        run->values[0] = 0.5;
        run->values[1] = 1e-3;
    } else {
        run->parameters[0] = which < FIRST_AT ? "search" : "first";
        run->values[0] = 1 + which - (which < FIRST_AT ? SEARCH_AT : FIRST_AT);
    }
}

/* Creates a run of the step of section 5.5.6 with pairs and search (0), without pairs (1), without search (2), without
 * both (3). */
static beam_run momentum_run(int which, int32_t iterations)
{
    beam_run run = {.stiffness = 1e9, .h = 1e-1, .solver = SINEW_SOLVER_QN, .iterations = iterations};
    run.parameters[0] = "window";
    run.parameters[1] = "search";
    run.values[0] = which & 1 ? 0 : 5;
    run.values[1] = which & 2 ? 2 : 0;
    return run;
}

static beam_run *run_of(beam_run *runs, int scene, int which)
{
    return &runs[scene * EACH + which];
}

static int32_t qn_choices_make_runs(beam_run *runs, bool quick)
{
    const int32_t iterations = quick ? 100 : 300;
    for (int scene = 0; scene < SCENES; scene++)
        for (int which = 0; which < EACH; which++) {
            beam_run *run = run_of(runs, scene, which);
            *run = (beam_run){.neo_hookean = scene == 1,
                              .stiffness = scene ? 1e5 : 1e8,
                              .h = scene ? 1e-1 : 1e-2,
                              .solver = SINEW_SOLVER_QN,
                              .iterations = iterations};
            qn_choices_choose(run, which);
        }
    for (int i = 0; i < MOMENTA; i++)
        runs[SCENES * EACH + i] = momentum_run(i, iterations);
    return RUNS;
}

/* Number of iterations until the error of a run stays small; -1 if it does not or the run is not finite. */
static int32_t qn_choices_settled(const beam_run *run, double lowest)
{
    return run->bits & SINEW_STEP_NOT_FINITE ? -1 : run_settled(run, ENOUGH, lowest);
}

/* Converts an iteration count to a cost for comparisons; 1e9 if there is no count. */
static double cost(int32_t count)
{
    return count < 0 ? 1e9 : count;
}

typedef struct found {
    int32_t counts[SCENES][EACH];
} found;

/* ---- Claims about QN's choices ---------------------------------------------------------------- */

/* Formats `count` iteration counts as "a / b / c". */
static void list_counts(const int32_t *counts, int count, char *text, size_t size)
{
    char one[COUNT_SIZE];
    size_t length = 0;
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? " / " : "", count_text(counts[i], one));
}

static void claim_window(outcome *o, const found *f)
{
    char text[SCENES][80];
    int near = 0, hurts = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        const int32_t *counts = f->counts[scene] + WINDOW_AT;
        double best = HUGE_VAL;
        for (int i = 0; i < WINDOWS; i++)
            best = fmin(best, cost(counts[i]));
        near += cost(counts[USUAL]) <= 1.1 * best;
        hurts += cost(counts[WINDOWS - 1]) > 1.1 * cost(counts[USUAL]);
        list_counts(counts, WINDOWS, text[scene], sizeof text[scene]);
    }
    claim *c = outcome_claim(o, "the window (4.3.3)", "5 is recommended; distant iterates may hurt");
    claim_measured(c, "iterations with 0 / 1 / 2 / 5 / 10 / 20 / 32 pairs: strain %s; neo-Hookean %s", text[0],
                   text[1]);
    claim_holds(c,
                near == SCENES && hurts > 0 ? HOLDS_YES
                : near > 0 || hurts > 0     ? HOLDS_PARTLY
                                            : HOLDS_NO,
                "5 is within a tenth of the best in %d of 2 steps, and 32 pairs are a tenth worse in %d", near, hurts);
}

static void claim_full_steps(outcome *o, const found *f)
{
    char capacity[SCENES][COUNT_SIZE];
    const char *text[SCENES];
    int poor = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        const int32_t none = f->counts[scene][SEARCH_AT + 1];
        poor += cost(none) > 1.5 * cost(f->counts[scene][USUAL]);
        text[scene] = count_text(none, capacity[scene]);
    }
    claim *c = outcome_claim(o, "pairs with full steps, alpha = 1 (4.3.3)", "poor results");
    claim_measured(c, "iterations: strain %s, with backtracking %d; neo-Hookean %s, with backtracking %d", text[0],
                   f->counts[0][USUAL], text[1], f->counts[1][USUAL]);
    claim_holds(c,
                poor == SCENES ? HOLDS_YES
                : poor         ? HOLDS_PARTLY
                               : HOLDS_NO,
                "full steps take half as many iterations again, or do not get there, in %d of these 2 steps", poor);
}

static void claim_wolfe(outcome *o, const found *f)
{
    char capacity[SCENES][3][COUNT_SIZE];
    const char *text[SCENES][3];
    int enough = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        const int32_t wolfe = f->counts[scene][SEARCH_AT], printed = f->counts[scene][SEARCH_AT + 2];
        enough += cost(f->counts[scene][USUAL]) <= 1.1 * cost(wolfe);
        text[scene][0] = count_text(wolfe, capacity[scene][0]);
        text[scene][1] = count_text(printed, capacity[scene][1]);
        text[scene][2] = count_text(f->counts[scene][USUAL], capacity[scene][2]);
    }
    claim *c = outcome_claim(o, "backtracking in place of the Wolfe conditions (4.3.3)", "works well in practice");
    claim_measured(
        c,
        "iterations with backtracking, Wolfe, algorithm 8 (beta 1/2, t 1e-3): strain %s, %s, %s; neo-Hookean "
        "%s, %s, %s",
        text[0][2], text[0][0], text[0][1], text[1][2], text[1][0], text[1][1]);
    claim_holds(c, enough == SCENES ? HOLDS_YES : enough ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
}

static void claim_first(outcome *o, const found *f)
{
    char text[SCENES][60];
    int strong = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        const int32_t *counts = f->counts[scene] + FIRST_AT;
        strong += fmin(cost(counts[0]), cost(counts[1])) > 2 * cost(f->counts[scene][USUAL]);
        list_counts(counts, FIRSTS, text[scene], sizeof text[scene]);
    }
    claim *c = outcome_claim(o, "the first Hessian (4.3): usually a multiple of the identity", "a strong impact");
    claim_measured(c,
                   "iterations with PD's matrix, and with a diagonal / a multiple of the identity: strain %d, %s; "
                   "neo-Hookean %d, %s",
                   f->counts[0][USUAL], text[0], f->counts[1][USUAL], text[1]);
    claim_holds(c, strong == SCENES ? HOLDS_YES : strong ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
}

/* Judges the momenta by the displacement of the centre of mass, which should be zero. */
static void qn_choices_claim_momenta(const setting *s, outcome *o, const beam_run *runs)
{
    static const char *const keys[MOMENTA] = {"qn", "no_pairs", "no_search", "neither"};
    double drift[MOMENTA], max = 0;
    for (int i = 0; i < MOMENTA; i++) {
        const sinew_iteration *last = &runs[i].records[runs[i].record_count - 1];
        drift[i] = record_linear(last) * runs[i].h / (s->beam->density * 5);
        max = fmax(max, drift[i]);
        outcome_number(o, drift[i], "drift_%s", keys[i]);
    }
    const bool kept = max < (sizeof(sinew_real) == 4 ? 1e-4 : 1e-9);
    claim *c = outcome_claim(o, "5.5.6: without line search or pairs QN would lose its linear momentum as PD does",
                             "suspected: \"it might be interesting to remove\" them");
    claim_measured(c,
                   "centre of mass, h = 1e-1 s, k = 1e9: QN %.0e m, without pairs %.0e, without search %.0e, without "
                   "both %.0e",
                   drift[0], drift[1], drift[2], drift[3]);
    claim_holds(c, kept ? HOLDS_NO : HOLDS_YES,
                kept ? "none of them loses it, in " SINEW_PRECISION " precision: without both it is PD, solved for the "
                       "increment. What loses it is round-off in 32 bits (thesis/untwist-stiff)%s"
                     : "%s",
                "");
}

/* ---- QN on other materials -------------------------------------------------------------------- */

enum {
    MATERIALS = 3,
    INTERVALS = 5,
    WOLFE = INTERVALS,
    FULL,
    CHOICES,
    DEFAULT = 2 /* index of the default interval of the stiffness fit */
};
static const sinew_energy_kind materials[MATERIALS] = {SINEW_ENERGY_ST_VENANT_KIRCHHOFF, SINEW_ENERGY_NEO_HOOKEAN_LOG,
                                                       SINEW_ENERGY_COROTATED};
static const double intervals[INTERVALS][2] = {{0.95, 1.05}, {0.75, 1.25}, {0.5, 1.5}, {0.1, 3}, {0.01, 10}};

static int32_t qn_choices_iterations_to(const trial *t, double fraction)
{
    for (int32_t row = 0; t->lost == 0 && row < t->record_count; row++)
        if (t->records[row].residual <= fraction * t->records[0].residual)
            return row;
    return -1;
}

static trial material_trial(const setting *s, int material, int choice)
{
    const double *interval = intervals[choice < INTERVALS ? choice : DEFAULT];
    trial t = {.build = scene_block, .n = s->quick ? 5 : 9, .material = materials[material], .frames = 4};
    t.side_by_side = true;
    t.speed = 8; /* speed factor of the block's ends, for a large deformation per frame */
    t.solver = trial_solver(SINEW_SOLVER_QN, s->quick ? 150 : 300, "stretch_low", interval[0], "stretch_high",
                            interval[1], "search",
                            choice == WOLFE  ? 1.0
                            : choice == FULL ? 2.0
                                             : 0.0,
                            (char *)NULL);
    t.solver.record = SINEW_RECORD_ITERATIONS;
    return t;
}

static void claim_interval(outcome *o, int32_t counts[MATERIALS][CHOICES])
{
    char text[MATERIALS][64];
    double worst = 1;
    int insensitive = 0;
    for (int m = 0; m < MATERIALS; m++) {
        double min = HUGE_VAL, max = 0;
        for (int i = 0; i < INTERVALS; i++) {
            min = fmin(min, cost(counts[m][i]));
            max = fmax(max, cost(counts[m][i]));
        }
        worst = fmax(worst, max / min);
        insensitive += max <= 1.3 * min;
        list_counts(counts[m], INTERVALS, text[m], sizeof text[m]);
    }
    claim *c = outcome_claim(o, "the interval of stretches (4.3.2)", "insensitive to its size");
    claim_measured(c,
                   "iterations, 0.95..1.05 / 0.75..1.25 / 0.5..1.5 / 0.1..3 / 0.01..10: StVK %s; log neo-Hookean %s; "
                   "corotated %s",
                   text[0], text[1], text[2]);
    claim_holds(c,
                insensitive == MATERIALS ? HOLDS_YES
                : insensitive > 0        ? HOLDS_PARTLY
                                         : HOLDS_NO,
                "within 1.3 times with %d of 3 materials%s", insensitive,
                insensitive < MATERIALS ? "; a fit over wide intervals is as stiff as stretches that this body never "
                                          "sees, and its steps are as short"
                                        : "");
    outcome_number(o, worst, "interval_spread");
}

static void claim_searches(outcome *o, int32_t counts[MATERIALS][CHOICES])
{
    char text[MATERIALS][64];
    int poor = 0, needless = 0;
    for (int m = 0; m < MATERIALS; m++) {
        const int32_t three[3] = {counts[m][DEFAULT], counts[m][WOLFE], counts[m][FULL]};
        poor += cost(counts[m][FULL]) > 1.5 * cost(counts[m][DEFAULT]);
        needless += cost(counts[m][DEFAULT]) <= 1.1 * cost(counts[m][WOLFE]);
        list_counts(three, 3, text[m], sizeof text[m]);
    }
    claim *c = outcome_claim(o, "full steps, and the Wolfe conditions, on the pressed block",
                             "full steps: poor; Wolfe: not needed");
    claim_measured(c, "iterations with backtracking / Wolfe / full steps: StVK %s; log neo-Hookean %s; corotated %s",
                   text[0], text[1], text[2]);
    claim_holds(c,
                poor == MATERIALS && needless == MATERIALS ? HOLDS_YES
                : poor + needless > 0                      ? HOLDS_PARTLY
                                                           : HOLDS_NO,
                "full steps are half as slow again, or fail, with %d of 3 materials; backtracking is as good as Wolfe "
                "with %d",
                poor, needless);
    outcome_number(o, poor, "materials_where_full_steps_are_poor");
    outcome_number(o, needless, "materials_where_wolfe_is_needless");
}

static void run_materials(const setting *s, outcome *o)
{
    trial t[MATERIALS * CHOICES];
    for (int i = 0; i < MATERIALS * CHOICES; i++)
        t[i] = material_trial(s, i / CHOICES, i % CHOICES);
    if (trials_take(s, t, MATERIALS * CHOICES, "materials", o)) {
        int32_t counts[MATERIALS][CHOICES];
        for (int i = 0; i < MATERIALS * CHOICES; i++)
            counts[i / CHOICES][i % CHOICES] = qn_choices_iterations_to(&t[i], 1e-3);
        claim_interval(o, counts);
        claim_searches(o, counts);
    }
    trials_release(t, MATERIALS * CHOICES);
}

/* ---- QN with contact -------------------------------------------------------------------------- */

enum {
    TOUCHING = 5,
    LIMIT = 200 /* maximum number of iterations of a step */
};
static const double touch_windows[TOUCHING] = {1, 2, 5, 10, 5};

/* Steps a soft cube that falls on its edge and rolls over within 60 steps (quick: 20). Returns the number of
 * iterations of all steps; -1 on failure. */
static int32_t touch_iterations(int which, bool quick, sinew_error *error)
{
    const contact_world_def def = {.kind = SINEW_SOLVER_QN, .h = 1.0 / 60, .friction = 0.5, .thickness = 5e-3};
    const contact_box box = {
        .cells = {4, 4, 4}, .size = {0.4, 0.4, 0.4}, .centre = {0, 0.32, 0}, .turn = {0.6, 0.3}, .young = 5e4};
    sinew_world *world = contact_world(&def, error);
    int32_t sum = -1;
    if (world && contact_add_box(world, &box, error).index >= 0 && contact_add_floor(world, error).index >= 0) {
        sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_QN);
        solver.measure = SINEW_MEASURE_RESIDUAL;
        solver.iterations = LIMIT;
        solver.tolerance = (sinew_real)1e-4;
        solver.parameters[sinew_solver_parameter(SINEW_SOLVER_QN, "window")] = (sinew_real)touch_windows[which];
        solver.parameters[sinew_solver_parameter(SINEW_SOLVER_QN, "search")] = which == TOUCHING - 1 ? 1 : 0;
        sum = sinew_world_set_solver(world, &solver, error) == SINEW_OK ? 0 : -1;
    }
    for (int step = 0; sum >= 0 && step < (quick ? 20 : 60); step++) {
        sinew_step_result result;
        if (sinew_world_step(world, &result) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE)) {
            snprintf(error->text, sizeof error->text, "a step of the falling cube failed");
            sum = -1;
        } else {
            sum += result.iterations;
        }
    }
    sinew_world_destroy(world);
    return sum;
}

static void claim_touching(const setting *s, outcome *o)
{
    int32_t counts[TOUCHING];
    sinew_error error = {SINEW_OK, "out of memory"};
    for (int i = 0; i < TOUCHING; i++) {
        counts[i] = touch_iterations(i, s->quick, &error);
        if (counts[i] < 0) {
            snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
            return;
        }
        outcome_number(o, counts[i], i < TOUCHING - 1 ? "touching_window_%g" : "touching_wolfe_%g", touch_windows[i]);
    }
    const bool smaller = counts[0] < 0.95 * counts[2] || counts[1] < 0.95 * counts[2];
    claim *c = outcome_claim(o, "a smaller window where collisions are frequent (4.3.3)", "may be useful");
    claim_measured(
        c,
        "a cube that tumbles on a floor, iterations to 1e-4 of all steps with 1 / 2 / 5 / 10 pairs: %d / %d / "
        "%d / %d",
        counts[0], counts[1], counts[2], counts[3]);
    claim_holds(c, smaller ? HOLDS_YES : HOLDS_NO,
                smaller
                    ? "%s"
                    : "pairs are kept free of contacts here, which have blocks of their own beside the matrix: they "
                      "do not mislead, and fewer are only fewer%s",
                "");
    c = outcome_claim(o, "Wolfe conditions where collisions are frequent (4.3.3)", "might be helpful");
    claim_measured(c, "the same, 5 pairs: %d iterations with Wolfe, %d with backtracking", counts[4], counts[2]);
    claim_holds(c, counts[4] < 0.95 * counts[2] ? HOLDS_YES : HOLDS_NO, "%s", "");
}

/* ---- The whole experiment --------------------------------------------------------------------- */

static void qn_choices_add_figure(outcome *o, beam_run *runs)
{
    static const int shown[] = {0, 1, USUAL, WINDOWS - 1, SEARCH_AT, SEARCH_AT + 1, FIRST_AT, FIRST_AT + 1};
    static const char *const names[] = {"no pairs", "1 pair",     "5 pairs",  "32 pairs",
                                        "Wolfe",    "full steps", "diagonal", "identity"};
    for (int scene = 0; scene < SCENES; scene++) {
        char name[NAME], title[96];
        snprintf(name, sizeof name, "objective-%s", scene_keys[scene]);
        snprintf(title, sizeof title, "QN's choices, %s: objective over the iterations of one step",
                 scene_names[scene]);
        figure *f = outcome_figure(o, name, title, "iteration", "g, J");
        f->log_x = f->log_y = f->distinct = true;
        for (int i = 0; i < (int)(sizeof shown / sizeof shown[0]); i++)
            if (!(run_of(runs, scene, shown[i])->bits & SINEW_STEP_NOT_FINITE))
                run_curve(f, run_of(runs, scene, shown[i]), names[i], i, record_objective, 0);
    }
}

static void qn_choices_add_numbers(outcome *o, const found *f)
{
    for (int scene = 0; scene < SCENES; scene++) {
        const char *key = scene_keys[scene];
        for (int i = 0; i < WINDOWS; i++)
            outcome_number(o, f->counts[scene][WINDOW_AT + i], "%s_window_%g", key, windows[i]);
        for (int i = 0; i < SEARCHES; i++)
            outcome_number(o, f->counts[scene][SEARCH_AT + i], "%s_search_%s", key, search_names[i]);
        for (int i = 0; i < FIRSTS; i++)
            outcome_number(o, f->counts[scene][FIRST_AT + i], "%s_first_%s", key, first_names[i]);
    }
}

void experiment_qn_choices(const setting *s, outcome *o)
{
    beam_run runs[RUNS];
    const int32_t count = qn_choices_make_runs(runs, s->quick);
    if (runs_take(s, runs, count, "qn-choices", o)) {
        found f;
        for (int scene = 0; scene < SCENES; scene++) {
            const double lowest = runs_lowest(run_of(runs, scene, 0), EACH);
            for (int i = 0; i < EACH; i++)
                f.counts[scene][i] = qn_choices_settled(run_of(runs, scene, i), lowest);
        }
        claim_window(o, &f);
        claim_full_steps(o, &f);
        claim_wolfe(o, &f);
        claim_first(o, &f);
        qn_choices_claim_momenta(s, o, runs + SCENES * EACH);
        qn_choices_add_numbers(o, &f);
        qn_choices_add_figure(o, runs);
        run_materials(s, o);
        claim_touching(s, o);
    }
    runs_release(runs, count);
}
