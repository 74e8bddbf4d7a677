/* SPDX-License-Identifier: MIT
 *
 * pd_cloth.c: Projective Dynamics fig 4: a cloth of 81 x 81 by PBD and by PD with few and many iterations; and the
 * effect of PBD on the momenta of single points (4.1).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pd_scenes.h"

enum {
    COUNTS = 4, /* number of different iteration counts per frame */
    PBD_RUNS = 0,
    PD_RUNS = COUNTS,
    TRUTH = 2 * COUNTS, /* index of the reference run by Newton, each frame to convergence */
    RUNS
};
static const int32_t counts[COUNTS] = {5, 10, 20, 50};

/* Scene of the hanging cloth, attached at its upper edge; its weight stretches it by a few per cent. */
static const pd_scene hanging = {.hold = HOLD_EDGE, .stiffness = 0.5, .damping = 1};

/* ---- Stretch of the cloth over iterations ------------------------------------------------------ */

static double pd_cloth_stretch_of(const trial *t)
{
    return pd_cloth_strain(t->n, t->q).square;
}

static void claim_stretch(outcome *o, const trial *t, const char *what, const char *published, bool constant)
{
    double s[COUNTS];
    for (int i = 0; i < COUNTS; i++)
        s[i] = 100 * pd_cloth_stretch_of(&t[i]);
    const double ratio = s[0] / s[COUNTS - 1], change = 100 * fabs(ratio - 1);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%.3g / %.3g / %.3g / %.3g %% after 5 / 10 / 20 / 50: a factor of %.3g (%.2g %%)", s[0], s[1],
                   s[2], s[3], ratio, change);
    if (constant)
        claim_holds(c, change < 5 ? HOLDS_YES : change < 20 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
    else
        claim_holds(c, ratio > 2 ? HOLDS_YES : ratio > 1.2 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
    outcome_number(o, ratio, "%s_ratio", constant ? "pd" : "pbd");
    for (int i = 0; i < COUNTS; i++)
        outcome_number(o, s[i], "%s_stretch_%d", constant ? "pd" : "pbd", counts[i]);
}

static bool run_stretch(const setting *s, outcome *o, int32_t n)
{
    trial t[RUNS];
    for (int i = 0; i < RUNS; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = n, .scene = &hanging, .frames = s->quick ? 60 : 120};
        t[i].side_by_side = true;
        t[i].solver = trial_solver(i < PD_RUNS ? SINEW_SOLVER_PBD : SINEW_SOLVER_PD, counts[i % COUNTS], (char *)NULL);
    }
    t[TRUTH].solver = trial_solver(SINEW_SOLVER_NEWTON, 30, (char *)NULL);
    t[TRUTH].solver.tolerance = (sinew_real)1e-6;
    const bool good = trials_take(s, t, RUNS, "cloth-iterations", o);
    if (good) {
        claim_stretch(o, t + PBD_RUNS, "PBD: stretch depends on the iterations (rms strain)", "drastically changes",
                      false);
        claim_stretch(o, t + PD_RUNS, "PD: stretch is the same, 5 or 50 iterations", "behaves consistently", true);
        claim *c =
            outcome_claim(o, "and it is that of the converged step", "converges to a true implicit Euler solution");
        const double truth = 100 * pd_cloth_stretch_of(&t[TRUTH]), few = 100 * pd_cloth_stretch_of(&t[PD_RUNS]);
        claim_measured(c, "Newton %.4g %%, PD with 5 iterations %.4g %%, with 50 %.4g %%", truth, few,
                       100 * pd_cloth_stretch_of(&t[PD_RUNS + COUNTS - 1]));
        claim_holds(c, fabs(few / truth - 1) < 0.05 ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
        figure *f = outcome_figure(o, "shapes", "The cloth after four seconds (fig 4)", "", "");
        f->span = 6;
        char name[56];
        for (int i = 0; i < RUNS - 1; i += COUNTS - 1) {
            snprintf(name, sizeof name, "%s, %d", i < PD_RUNS ? "PBD" : "PD", counts[i % COUNTS]);
            if (i % COUNTS == 0 || i % COUNTS == COUNTS - 1)
                trial_shape(f, &t[i], name, t[i].q);
        }
    }
    trials_release(t, RUNS);
    return good;
}

/* ---- PD and Newton at convergence -------------------------------------------------------------------- */

static bool run_agreement(const setting *s, outcome *o, int32_t n)
{
    const double tolerance = sizeof(sinew_real) == 4 ? 1e-3 : 1e-8;
    trial t[2];
    for (int i = 0; i < 2; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = n, .scene = &hanging, .frames = 1, .warm_up = 6};
        t[i].side_by_side = true;
    }
    t[0].solver = trial_solver(SINEW_SOLVER_PD, 20000, (char *)NULL);
    t[1].solver = trial_solver(SINEW_SOLVER_NEWTON, 100, (char *)NULL);
    t[0].solver.tolerance = t[1].solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-12);
    t[0].solver.record = SINEW_RECORD_ITERATIONS;
    const bool good = trials_take(s, t, 2, "agreement", o);
    if (good) {
        const double apart = trial_distance(&t[0], &t[1]);
        claim *c = outcome_claim(o, "PD and Newton end in one place", "converges to a true implicit Euler solution");
        claim_measured(c, "one step of the falling cloth: farthest vertex %.2g m apart after %d iterations of PD",
                       apart, t[0].record_count - 1);
        claim_holds(c, apart < tolerance ? HOLDS_YES : apart < 100 * tolerance ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        outcome_number(o, apart, "pd_newton_distance");
    }
    trials_release(t, 2);
    return good;
}

/* ---- Momenta of single points (4.1) ------------------------------------------------------------------- */

/* Fraction of the squared velocities of points about their mean that is left after the step; q - rest is h times the
 * velocity. */
static double kept_motion(const trial *t, const pd_scene *scene)
{
    double mean[3] = {0}, squares = 0;
    for (int32_t i = 0; i < 3 * t->particle_count; i++)
        mean[i % 3] += ((double)t->q[i] - (double)t->rest[i]) / t->particle_count;
    for (int32_t i = 0; i < 3 * t->particle_count; i++) {
        const double v = ((double)t->q[i] - (double)t->rest[i] - mean[i % 3]) / FRAME;
        squares += v * v;
    }
    /* Divides by the initial value: two coordinates have uniformly distributed velocities, with a variance of jolt^2 /
     * 3 each. */
    return squares / (2.0 / 3 * scene->jolt * scene->jolt * t->particle_count);
}

static bool run_momenta(const setting *s, outcome *o, int32_t n)
{
    static const int32_t long_counts[3] = {5, 50, 500};
    const pd_scene jolted = {.hold = HOLD_NOTHING, .stiffness = 0.005, .jolt = 0.05, .weightless = true};
    trial t[6];
    for (int i = 0; i < 6; i++) {
        t[i] = (trial){.build = scene_pd_cloth, .n = n, .scene = &jolted, .frames = 1, .side_by_side = true};
        t[i].solver = trial_solver(i < 3 ? SINEW_SOLVER_PBD : SINEW_SOLVER_PD, long_counts[i % 3], (char *)NULL);
    }
    const bool good = trials_take(s, t, 6, "momenta", o);
    if (good) {
        double kept[6];
        for (int i = 0; i < 6; i++)
            kept[i] = kept_motion(&t[i], &jolted);
        claim *c = outcome_claim(o, "PBD washes the points' own momenta away, the longer it iterates",
                                 "washed away; PD finds a compromise");
        claim_measured(c,
                       "kinetic energy about the mean left after a step of 5 / 50 / 500: PBD %.3g / %.3g / %.3g, PD "
                       "%.3g / %.3g / %.3g",
                       kept[0], kept[1], kept[2], kept[3], kept[4], kept[5]);
        const bool washed = kept[2] < 0.7 * kept[0], stays = fabs(kept[5] / kept[4] - 1) < 0.05;
        claim_holds(c, washed && stays ? HOLDS_YES : washed || stays ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        for (int i = 0; i < 6; i++)
            outcome_number(o, kept[i], "kept_%s_%d", i < 3 ? "pbd" : "pd", long_counts[i % 3]);
    }
    trials_release(t, 6);
    return good;
}

void experiment_cloth_iterations(const setting *s, outcome *o)
{
    const int32_t n = s->quick ? 21 : 81;
    snprintf(o->setup, sizeof o->setup,
             "Cloth of 1 m, %d x %d vertices, %d edges, edge_strain %.2g N, 0.2 kg/m2, hanging by its upper edge.", n,
             n, 2 * n * (n - 1) + (n - 1) * (n - 1), hanging.stiffness);
    if (run_stretch(s, o, n) && run_agreement(s, o, n))
        run_momenta(s, o, n);
}
