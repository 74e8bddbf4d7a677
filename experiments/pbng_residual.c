/* SPDX-License-Identifier: MIT
 *
 * pbng_residual.c: PBNG figs 3 and 12: the residual over the iterations of one step: of a falling block by PBNG and
 * XPBD, and of the stretched block with and without acceleration.
 */
#include <math.h>
#include <stdio.h>

#include "trial.h"

static double first_residual(const trial *t)
{
    return t->records[0].residual;
}

static double residual_after(const trial *t, int32_t iteration)
{
    return t->records[iteration < t->record_count ? iteration : t->record_count - 1].residual;
}

/* ---- Fig 3: XPBD does not reduce the residual ------------------------------------------------------ */

enum {
    PBNG,
    XPBD,
    SOLVERS,
    SWINGING = 8, /* number of frames before the measured one; the block is then half-way down */
    LONG = 200    /* number of iterations of the measured step */
};

void experiment_xpbd_residual(const setting *s, outcome *o)
{
    static const sinew_solver_kind kinds[SOLVERS] = {SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD};
    static const char *const names[SOLVERS] = {"PBNG", "XPBD"};
    trial t[SOLVERS];
    for (int i = 0; i < SOLVERS; i++) {
        t[i] = (trial){.build = scene_falling,
                       .n = s->quick ? 8 : 16,
                       .frames = 1,
                       .warm_up = SWINGING,
                       .side_by_side = true,
                       .solver = trial_solver(kinds[i], LONG, (char *)NULL)};
        t[i].solver.record = SINEW_RECORD_ITERATIONS;
    }
    if (trials_take(s, t, SOLVERS, "xpbd-residual", o)) {
        snprintf(o->setup, sizeof o->setup,
                 "Block of %d tets, 1000 Pa, 10 kg/m3, clamped on the left, the step after %d.", t[0].tet_count,
                 SWINGING);
        const double start = first_residual(&t[PBNG]), pbng = residual_after(&t[PBNG], LONG) / start,
                     xpbd = residual_after(&t[XPBD], LONG) / start, half = residual_after(&t[XPBD], LONG / 2) / start;
        claim *c = outcome_claim(o, "PBNG reduces the residual of the step", "superior convergence");
        claim_measured(c, "to %.1e of the start after 10 iterations, %.1e after %d",
                       residual_after(&t[PBNG], 10) / start, pbng, LONG);
        claim_holds(c, pbng < 1e-3 ? HOLDS_YES : pbng < 0.1 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        c = outcome_claim(o, "XPBD cannot reduce it", "stagnates");
        claim_measured(c, "%.2g of the start after %d iterations, %.2g after %d", half, LONG / 2, xpbd, LONG);
        const bool stays = fabs(log(xpbd / half))<log(1.5), above = xpbd> 100 * pbng;
        claim_holds(c,
                    stays && above ? HOLDS_YES
                    : above        ? HOLDS_PARTLY
                                   : HOLDS_NO,
                    "%s", stays ? "" : "it is still changing");
        outcome_number(o, pbng, "pbng_relative");
        outcome_number(o, xpbd, "xpbd_relative");
        outcome_number(o, half, "xpbd_relative_half");
        figure *f =
            outcome_figure(o, "residual", "Residual of one step of the falling block (fig 3)", "iteration", "N");
        figure *g = outcome_figure(o, "shapes", "The block after that step (fig 3)", "", "");
        f->log_y = true;
        g->span = 4;
        for (int i = 0; i < SOLVERS; i++) {
            trial_records(f, &t[i], names[i], 0, record_residual);
            trial_shape(g, &t[i], names[i], t[i].q);
        }
    }
    trials_release(t, SOLVERS);
}

/* ---- Fig 12: acceleration of PBNG ------------------------------------------------------------- */

enum {
    PLAIN,
    SOR,
    SOR_NODE,
    CHEBYSHEV,
    KINDS,
    /* First of the runs: plain with two and with four Newton steps per node; SOR and Chebyshev without safeguard. */
    TWICE = 2 * KINDS,
    FOUR_TIMES,
    SOR_PRINTED,
    CHEBYSHEV_PRINTED,
    TRIALS,
    BUDGET = 10, /* number of iterations per frame */
    CURVE = 100  /* number of iterations of the first frame that are drawn */
};
static const char *const kind_names[KINDS] = {"plain", "SOR (two-term)", "SOR in the sweep", "Chebyshev"};
static const char *const kind_keys[KINDS] = {"plain", "sor", "sor_node", "chebyshev"};

static void claim_first_step(outcome *o, const trial *t)
{
    double at[KINDS], later[KINDS];
    for (int i = 0; i < KINDS; i++) {
        at[i] = residual_after(&t[i], BUDGET) / first_residual(&t[i]);
        later[i] = residual_after(&t[i], CURVE) / first_residual(&t[i]);
        outcome_number(o, at[i], "first_%s_10", kind_keys[i]);
        outcome_number(o, later[i], "first_%s_100", kind_keys[i]);
    }
    claim *c = outcome_claim(o, "first step: both boost the convergence rate", "below plain; alike");
    claim_measured(c, "relative residual after 10 / 100: plain %.2g / %.2g, SOR %.2g / %.2g, Chebyshev %.2g / %.2g",
                   at[PLAIN], later[PLAIN], at[SOR], later[SOR], at[CHEBYSHEV], later[CHEBYSHEV]);
    const int early = (at[SOR] < at[PLAIN]) + (at[CHEBYSHEV] < at[PLAIN]),
              late = (later[SOR] < later[PLAIN]) + (later[CHEBYSHEV] < later[PLAIN]);
    claim_holds(c,
                early == 2 && late == 2 ? HOLDS_YES
                : late > 0              ? HOLDS_PARTLY
                                        : HOLDS_NO,
                "%s", early == 2 ? "" : "over-relaxation lowers the objective first, and the residual only later");
    c = outcome_claim(o, "classic over-relaxation of each node inside the sweep, same factor", "not in the source");
    claim_measured(c, "%.2g / %.2g, at the cost of a plain sweep: it needs no gradient", at[SOR_NODE], later[SOR_NODE]);
    claim_holds(c, HOLDS_YES, "for comparison%s", "");
}

static void claim_frames(outcome *o, const trial *t)
{
    double residual[KINDS];
    for (int i = 0; i < KINDS; i++) {
        residual[i] = trial_residual(&t[i]);
        outcome_number(o, residual[i], "frames_%s", kind_keys[i]);
    }
    claim *c = outcome_claim(o, "10 iterations a frame: plain is less converged than accelerated", "less");
    claim_measured(c,
                   "residual, mean of %d frames: plain %.3g N, SOR %.3g N, Chebyshev %.3g N, SOR in the sweep %.3g N",
                   t->frames, residual[PLAIN], residual[SOR], residual[CHEBYSHEV], residual[SOR_NODE]);
    const int better = (residual[SOR] < residual[PLAIN]) + (residual[CHEBYSHEV] < residual[PLAIN]);
    claim_holds(c, better == 2 ? HOLDS_YES : better == 1 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
}

/* Judges PBNG section 7: one Newton step per node is enough. */
static void claim_inner(outcome *o, const trial *t)
{
    double at[3], later[3];
    static const int which[3] = {PLAIN, TWICE, FOUR_TIMES};
    for (int i = 0; i < 3; i++) {
        at[i] = residual_after(&t[which[i]], BUDGET) / first_residual(&t[PLAIN]);
        later[i] = residual_after(&t[which[i]], CURVE) / first_residual(&t[PLAIN]);
        outcome_number(o, at[i], "inner_%d_10", 1 << i);
        outcome_number(o, later[i], "inner_%d_100", 1 << i);
    }
    int32_t sweeps = 0;
    while (sweeps < CURVE && residual_after(&t[FOUR_TIMES], sweeps) > residual_after(&t[PLAIN], CURVE))
        sweeps++;
    claim *c =
        outcome_claim(o, "section 7: several Newton steps of a node before the next one", "no significant improvement");
    claim_measured(c,
                   "plain sweeps, relative residual after 10 / 100 with 1, 2, 4 steps: %.2g, %.2g, %.2g / %.2g, %.2g, "
                   "%.2g: four make %d sweeps of %d",
                   at[0], at[1], at[2], later[0], later[1], later[2], sweeps, CURVE);
    claim_holds(c,
                sweeps > 75   ? HOLDS_YES
                : sweeps > 25 ? HOLDS_PARTLY
                              : HOLDS_NO,
                "a sweep with four steps costs about four: they are worth it below %d", CURVE / 4);
    outcome_number(o, sweeps, "inner_4_sweeps");
}

/* Judges the recurrences of PBNG section 7.3 exactly as printed. */
static void claim_printed(outcome *o, const trial *t)
{
    const double sor = residual_after(&t[SOR_PRINTED], CURVE) / first_residual(&t[PLAIN]),
                 chebyshev = residual_after(&t[CHEBYSHEV_PRINTED], CURVE) / first_residual(&t[PLAIN]),
                 kept_sor = residual_after(&t[SOR], CURVE) / first_residual(&t[SOR]),
                 kept = residual_after(&t[CHEBYSHEV], CURVE) / first_residual(&t[CHEBYSHEV]);
    claim *c = outcome_claim(o, "the recurrences as printed, without our safeguard", "effective");
    claim_measured(c, "relative residual after 100: SOR %.2g (safeguarded %.2g), Chebyshev %.2g (%.2g)", sor, kept_sor,
                   chebyshev, kept);
    const double plain = residual_after(&t[PLAIN], CURVE) / first_residual(&t[PLAIN]);
    claim_holds(c,
                sor < plain && chebyshev < plain   ? HOLDS_YES
                : sor < plain || chebyshev < plain ? HOLDS_PARTLY
                                                   : HOLDS_NO,
                "%s", "");
    outcome_number(o, sor, "printed_sor_100");
    outcome_number(o, chebyshev, "printed_chebyshev_100");
}

static sinew_solver_def acceleration_solver(int i)
{
    const bool first = i < KINDS || i >= TWICE;
    const double kind = i < TWICE ? i % KINDS : i == SOR_PRINTED ? SOR : i == CHEBYSHEV_PRINTED ? CHEBYSHEV : PLAIN;
    sinew_solver_def def = trial_solver(SINEW_SOLVER_PBNG, first ? CURVE : BUDGET, "acceleration", kind, "inner",
                                        i == TWICE        ? 2.0
                                        : i == FOUR_TIMES ? 4.0
                                                          : 1.0,
                                        "safeguard", i < SOR_PRINTED ? 1.0 : 0.0, (char *)NULL);
    if (first)
        def.record = SINEW_RECORD_ITERATIONS;
    return def;
}

void experiment_acceleration(const setting *s, outcome *o)
{
    trial t[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        t[i] = (trial){.build = scene_block,
                       .n = s->quick ? 8 : 32,
                       .material = SINEW_ENERGY_COROTATED,
                       .frames = i < KINDS || i >= TWICE ? 1 : 40,
                       .side_by_side = true};
        t[i].solver = acceleration_solver(i);
    }
    if (trials_take(s, t, TRIALS, "acceleration", o)) {
        snprintf(o->setup, sizeof o->setup, "Block of %d tets, 1e5 Pa, stretched and twisted, quasistatic.",
                 t[0].tet_count);
        claim_first_step(o, t);
        claim_frames(o, t + KINDS);
        claim_inner(o, t);
        claim_printed(o, t);
        figure *f = outcome_figure(o, "residual", "Residual of the first frame (fig 12)", "iteration", "N");
        figure *g = outcome_figure(o, "frames", "Residual at the end of each frame, 10 iterations", "frame", "N");
        f->log_y = g->log_y = true;
        for (int i = 0; i < KINDS; i++) {
            trial_records(f, &t[i], kind_names[i], 0, record_residual);
            trial_curve(g, &t[KINDS + i], kind_names[i], 0, t[KINDS + i].residual);
        }
    }
    trials_release(t, TRIALS);
}
