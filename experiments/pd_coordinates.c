/* SPDX-License-Identifier: MIT
 *
 * pd_coordinates.c: Projective Dynamics 3.3 and 4.2: the choice of A and B, Jacobi with momentum (14), the warm start.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pd_scenes.h"

enum {
    REDUCED,
    IDENTITY,
    MEAN,
    VERTEX,
    MASS,
    KINDS,
    LONG = 100 /* number of iterations of the measured step */
};
static const char *const names[KINDS] = {"differential (edges)", "identity", "mean subtracted", "one vertex subtracted",
                                         "mass-weighted Jacobi (14)"};
static const char *const keys[KINDS] = {"reduced", "identity", "mean", "vertex", "mass"};

/* ---- Convergence by choice of A and B ---------------------------------------------------------- */

static double coordinates_error_after(const trial *t, int32_t iteration, double lowest)
{
    const int32_t i = iteration < t->record_count ? iteration : t->record_count - 1;
    return (t->records[i].objective - lowest) / (t->records[0].objective - lowest);
}

/* First iteration of a trial with a relative error of at most `level`; -1 if there is none. */
static int32_t coordinates_reached(const trial *t, double level, double lowest)
{
    for (int32_t i = 0; i < t->record_count; i++)
        if (coordinates_error_after(t, i, lowest) <= level)
            return i;
    return -1;
}

static void claim_convergence(outcome *o, const trial *t, double lowest)
{
    char text[3][COUNT_SIZE];
    const int32_t slow = coordinates_reached(&t[IDENTITY], 0.1, lowest),
                  fast = coordinates_reached(&t[MEAN], 0.1, lowest);
    claim *c = outcome_claim(o, "A = B = 1: poor convergence", "changes propagate slowly");
    claim_measured(c,
                   "a tenth of the start's excess after %s iterations, mean subtracted after %s; after %d there is "
                   "%.2g and %.2g of it left",
                   count_text(slow, text[0]), count_text(fast, text[1]), LONG,
                   coordinates_error_after(&t[IDENTITY], LONG, lowest),
                   coordinates_error_after(&t[MEAN], LONG, lowest));
    claim_holds(c, fast >= 0 && (slow < 0 || slow > 5 * fast) ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
    c = outcome_claim(o, "differential coordinates greatly improve it, whichever", "mean or one of the vertices");
    claim_measured(c, "left after 20 iterations: %.3g mean, %.3g one vertex, %.3g the energy's own; identity %.3g",
                   coordinates_error_after(&t[MEAN], 20, lowest), coordinates_error_after(&t[VERTEX], 20, lowest),
                   coordinates_error_after(&t[REDUCED], 20, lowest), coordinates_error_after(&t[IDENTITY], 20, lowest));
    const double worst =
        fmax(coordinates_error_after(&t[MEAN], 20, lowest), coordinates_error_after(&t[VERTEX], 20, lowest));
    claim_holds(c, worst < 0.1 * coordinates_error_after(&t[IDENTITY], 20, lowest) ? HOLDS_YES : HOLDS_PARTLY, "%s",
                "on edges all three are the same iteration");
    c = outcome_claim(o, "(14), Jacobi with momentum: slower than differential coordinates", "in general slower");
    claim_measured(c, "left after 20 / %d iterations: %.3g / %.3g", LONG, coordinates_error_after(&t[MASS], 20, lowest),
                   coordinates_error_after(&t[MASS], LONG, lowest));
    claim_holds(c, coordinates_error_after(&t[MASS], 20, lowest) > worst ? HOLDS_YES : HOLDS_NO, "%s", "");
}

static bool run_convergence(const setting *s, outcome *o, int32_t n)
{
    static const pd_scene swinging = {.hold = HOLD_CORNERS, .stiffness = 0.5, .level = true};
    trial t[KINDS + 1];
    for (int i = 0; i <= KINDS; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = n, .scene = &swinging, .frames = 1, .warm_up = 6};
        t[i].side_by_side = true;
        t[i].solver = i < KINDS ? trial_solver(SINEW_SOLVER_PD, LONG, "coordinates", (double)i, (char *)NULL)
                                : trial_solver(SINEW_SOLVER_NEWTON, 100, (char *)NULL);
        t[i].solver.record = SINEW_RECORD_ITERATIONS;
    }
    t[KINDS].solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-12);
    const bool good = trials_take(s, t, KINDS + 1, "coordinates", o);
    if (good) {
        const double lowest = t[KINDS].records[t[KINDS].record_count - 1].objective;
        figure *f = outcome_figure(o, "error", "Relative error of one step of the cloth (3.3, 4.2)", "iteration",
                                   "(e - e*) / (e0 - e*)");
        f->log_y = f->distinct = true;
        claim_convergence(o, t, lowest);
        for (int k = 0; k < KINDS; k++) {
            outcome_number(o, coordinates_error_after(&t[k], 20, lowest), "error_20_%s", keys[k]);
            outcome_number(o, coordinates_error_after(&t[k], LONG, lowest), "error_100_%s", keys[k]);
            if (figure_series(f, names[k], SINEW_SOLVER_PD, k, t[k].record_count))
                for (int32_t i = 0; i < t[k].record_count; i++) {
                    f->series[f->series_count - 1].x[i] = i;
                    f->series[f->series_count - 1].y[i] = fmax(coordinates_error_after(&t[k], i, lowest), 1e-16);
                }
        }
    }
    trials_release(t, KINDS + 1);
    return good;
}

/* ---- Conservation of momentum ------------------------------------------------------------------ */

static double momentum_change(const trial *t, int32_t iteration)
{
    const sinew_iteration *first = &t->records[0],
                          *row = &t->records[iteration < t->record_count ? iteration : t->record_count - 1];
    double square = 0, size = 0;
    for (int c = 0; c < 3; c++) {
        const double d = row->linear_momentum[c] - first->linear_momentum[c];
        square += d * d;
        size += first->linear_momentum[c] * first->linear_momentum[c];
    }
    return sqrt(square / size);
}

/* Judges the momenta of a stretched cloth in free flight. */
static bool run_momentum(const setting *s, outcome *o)
{
    static const pd_scene loose = {.stiffness = 0.5, .stretch = 0.1, .jolt = 5, .weightless = true};
    trial t[KINDS];
    char text[160] = "";
    const int32_t max = s->quick ? 300 : 1000;
    double worst = 0, slowest = 0;
    for (int i = 0; i < KINDS; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = 12, .scene = &loose, .frames = 1, .side_by_side = true};
        t[i].solver = trial_solver(SINEW_SOLVER_PD, max, "coordinates", (double)i, (char *)NULL);
        t[i].solver.record = SINEW_RECORD_ITERATIONS;
    }
    const bool good = trials_take(s, t, KINDS, "momentum", o);
    for (int i = 0; good && i < KINDS; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %.1e / %.1e", i ? ", " : "", keys[i], momentum_change(&t[i], 5),
                 momentum_change(&t[i], max));
        worst = fmax(worst, momentum_change(&t[i], max));
        slowest = fmax(slowest, momentum_change(&t[i], 5));
        outcome_number(o, momentum_change(&t[i], 5), "momentum_5_%s", keys[i]);
        outcome_number(o, momentum_change(&t[i], max), "momentum_end_%s", keys[i]);
    }
    if (good) {
        const double small = sizeof(sinew_real) == 4 ? 1e-3 : 1e-8;
        claim *c = outcome_claim(o, "the choice does not affect the conservation of momentum", "does not");
        claim_measured(c, "change of the linear momentum after 5 / %d iterations: %s", max, text);
        const bool vanishes = worst < slowest / 50;
        claim_holds(c,
                    slowest < small ? HOLDS_YES
                    : vanishes      ? HOLDS_PARTLY
                                    : HOLDS_NO,
                    "%s",
                    slowest < small
                        ? ""
                        : "not that of the converged step; on the way there, where A is diagonal, points at "
                          "the rim are weighed less than those inside, and the mean moves");
    }
    trials_release(t, KINDS);
    return good;
}

/* ---- The energy that is minimised ------------------------------------------------------------- */

static bool run_tets(const setting *s, outcome *o)
{
    static const pd_scene bent = {.hold = HOLD_EDGE, .stiffness = 1e5};
    trial t[KINDS];
    for (int i = 0; i < KINDS; i++) {
        t[i] = (trial){.build = scene_pd_bar, .n = 1, .scene = &bent, .frames = 1, .warm_up = 5, .side_by_side = true};
        t[i].solver = trial_solver(SINEW_SOLVER_PD, s->quick ? 30 : 400, "coordinates", (double)i, (char *)NULL);
        t[i].solver.record = SINEW_RECORD_ITERATIONS;
    }
    const bool good = trials_take(s, t, KINDS, "tets", o);
    if (good) {
        const double mean = trial_distance(&t[MEAN], &t[REDUCED]), one = trial_distance(&t[VERTEX], &t[MEAN]);
        claim *c = outcome_claim(o, "the choice only impacts the numerical solution procedure", "only that");
        claim_measured(c, "bar of irregular tets: mean and the energy's own end %.2g m apart, mean and vertex %.2g m",
                       mean, one);
        claim_holds(c, HOLDS_PARTLY,
                    "true for edges, and for identity against mean, whose nearest points are the same; else A is also "
                    "the measure of the distance, and the minimum is another one");
        outcome_number(o, mean, "tets_mean_reduced");
        outcome_number(o, one, "tets_vertex_mean");
        bool falls = true;
        for (int i = 0; i < KINDS; i++)
            for (int32_t k = 1; k < t[i].record_count; k++)
                falls = falls && t[i].records[k].own_objective <=
                                     t[i].records[k - 1].own_objective +
                                         (sizeof(sinew_real) == 4 ? 1e-4 : 1e-10) * fabs(t[i].records[0].own_objective);
        c = outcome_claim(o, "each iteration weakly decreases (8), for non-convex sets too (7.2)", "guaranteed");
        claim_measured(c, "%s in all %d iterations of all five", falls ? "it does" : "it does not",
                       t[0].record_count - 1);
        claim_holds(c, falls ? HOLDS_YES : HOLDS_NO, "%s", "");
    }
    trials_release(t, KINDS);
    return good;
}

/* ---- Warm start of PD ------------------------------------------------------------------------- */

static double mean_height(const trial *t)
{
    double sum = 0;
    for (int32_t i = 0; i < t->particle_count; i++)
        sum += (double)t->q[3 * i + 1] / t->particle_count;
    return sum;
}

static bool run_start(const setting *s, outcome *o, int32_t n)
{
    enum {
        STARTS = 3 /* number of different iteration counts of the warm-start test */
    };
    static const int32_t counts[STARTS] = {1, 2, 5};
    static const pd_scene swinging = {.hold = HOLD_EDGE, .stiffness = 50, .level = true};
    trial t[2 * STARTS + 1];
    for (int i = 0; i <= 2 * STARTS; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = n, .scene = &swinging, .frames = 10, .side_by_side = true};
        t[i].solver = i < 2 * STARTS ? trial_solver(SINEW_SOLVER_PD, counts[i % STARTS], "start", (double)(i / STARTS),
                                                    (char *)NULL)
                                     : trial_solver(SINEW_SOLVER_NEWTON, 30, (char *)NULL);
    }
    t[2 * STARTS].solver.tolerance = (sinew_real)1e-6;
    const bool good = trials_take(s, t, 2 * STARTS + 1, "start", o);
    if (good) {
        double fall[2 * STARTS];
        bool less = true;
        for (int i = 0; i < 2 * STARTS; i++) {
            fall[i] = mean_height(&t[i]) / mean_height(&t[2 * STARTS]);
            outcome_number(o, fall[i], "fall_%s_%d", i < STARTS ? "inertia" : "previous", counts[i % STARTS]);
        }
        for (int i = 0; i < STARTS; i++)
            less = less && fall[i] > fall[STARTS + i];
        claim *c = outcome_claim(o, "warm start s_n: less damped than q_n when iterations are few", "less damped");
        claim_measured(c,
                       "fall within 10 frames over the converged one, 1 / 2 / 5 iterations: from s_n %.3g / %.3g / "
                       "%.3g, from q_n %.3g / %.3g / %.3g",
                       fall[0], fall[1], fall[2], fall[3], fall[4], fall[5]);
        claim_holds(c, less ? HOLDS_YES : HOLDS_NO, "%s", "");
    }
    trials_release(t, 2 * STARTS + 1);
    return good;
}

void experiment_coordinates(const setting *s, outcome *o)
{
    const int32_t n = s->quick ? 12 : 81;
    snprintf(o->setup, sizeof o->setup,
             "Cloth of %d x %d vertices held by two corners, the step after 6; free cloth of 12 x 12; bar of 215 tets.",
             n, n);
    if (run_convergence(s, o, n) && run_momentum(s, o) && run_tets(s, o))
        run_start(s, o, n);
}
