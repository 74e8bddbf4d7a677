/* SPDX-License-Identifier: MIT
 *
 * jacobi.c: T. Liu, "Position Based Dynamics" (GAMES webinar 2019), Gauss-Seidel against Jacobi: one step of one cloth
 * by PBD, its constraints visited in six orders; Chebyshev's acceleration is that of Wang 2015.
 *
 * A free cloth of 1 m starts 10 per cent too large, at rest. The measure is the remaining violation, the square root of
 * the edges' energy over that at the start, against the number of visits of all constraints: a symmetric iteration
 * counts as two sweeps. The cloth and its mesh are point-symmetric; the asymmetry after ten sweeps shows how far an
 * order of visits breaks the symmetry. Chebyshev's rho is the asymptotic convergence rate of plain Jacobi, which a
 * preceding run measures, as in Wang 2015.
 */
#include <math.h>
#include <stdio.h>

#include "pd_scenes.h"

enum {
    COLOURED,
    MESH,
    SYMMETRIC,
    JACOBI,
    UNDER,
    CHEBYSHEV,
    VARIANTS,
    FEW = 10 /* number of sweeps before the asymmetry is measured */
};
static const char *const names[VARIANTS] = {"Gauss-Seidel, coloured", "Gauss-Seidel, mesh order",
                                            "symmetric Gauss-Seidel", "Jacobi",
                                            "Jacobi, under-relaxed",  "Jacobi, Chebyshev"};
static const char *const keys[VARIANTS] = {"coloured", "mesh", "symmetric", "jacobi", "under", "chebyshev"};
static const double orders[VARIANTS] = {0, 1, 1, 2, 2, 2};
static const pd_scene large_cloth = {.hold = HOLD_NOTHING, .stiffness = 1, .stretch = 0.1, .weightless = true};

static int32_t sweeps_of(int variant)
{
    return variant == SYMMETRIC ? 2 : 1;
}

static trial make_trial(int variant, int32_t n, int32_t sweeps, double rho)
{
    trial t = {.build = scene_pd_cloth, .n = n, .scene = &large_cloth, .frames = 1, .side_by_side = true};
    t.solver = trial_solver(SINEW_SOLVER_PBD, sweeps / sweeps_of(variant), "order", orders[variant], "symmetric",
                            (double)(variant == SYMMETRIC), "relaxation", variant == UNDER ? 0.5 : 1.0, "acceleration",
                            (double)(variant == CHEBYSHEV), "rho", rho, (char *)NULL);
    t.solver.record = SINEW_RECORD_ITERATIONS;
    return t;
}

static double left_at(const trial *t, int32_t row)
{
    return sqrt(t->records[row].elastic / t->records[0].elastic);
}

/* Convergence rate: fraction of the violation that a sweep leaves, averaged over the last tenth of the sweeps. */
static double rate_of(const trial *t)
{
    const int32_t last = t->record_count - 1, first = last - last / 10;
    return pow(left_at(t, last) / left_at(t, first), 1.0 / (last - first));
}

/* Returns the first number of sweeps that leaves at most `fraction` of the violation; -1 if there is none. */
static int32_t sweeps_to(const trial *t, int variant, double fraction)
{
    for (int32_t row = 0; row < t->record_count; row++)
        if (left_at(t, row) <= fraction)
            return sweeps_of(variant) * row;
    return -1;
}

/* Largest deviation in m of a coordinate of the cloth from point symmetry, relative to the rest shape. */
static double asymmetry(const trial *t)
{
    double max = 0;
    for (int32_t i = 0; i < t->particle_count; i++)
        for (int c = 0; c < 3; c++) {
            const int32_t there = 3 * (t->particle_count - 1 - i) + c;
            const double sum = (double)t->q[3 * i + c] + (double)t->q[there];
            const double twice = (double)t->rest[3 * i + c] + (double)t->rest[there];
            max = fmax(max, fabs(sum - twice));
        }
    return max;
}

static void jacobi_add_figure(outcome *o, const trial *t)
{
    figure *f = outcome_figure(o, "violation", "What is left of a cloth's violation, by PBD", "sweeps",
                               "part of that at the start");
    f->log_y = f->distinct = true;
    for (int variant = 0; variant < VARIANTS; variant++) {
        if (!figure_series(f, names[variant], SINEW_SOLVER_PBD, variant, t[variant].record_count))
            return;
        series *curve = &f->series[f->series_count - 1];
        for (int32_t row = 0; row < t[variant].record_count; row++) {
            curve->x[row] = sweeps_of(variant) * row;
            curve->y[row] = fmax(left_at(&t[variant], row), 1e-12);
        }
    }
}

/* ---- Claims about orders of sweeps ------------------------------------------------------------- */

static void claim_speed(outcome *o, const trial *t)
{
    char capacity[VARIANTS][COUNT_SIZE];
    const char *text[VARIANTS];
    int32_t counts[VARIANTS];
    for (int variant = 0; variant < VARIANTS; variant++) {
        counts[variant] = sweeps_to(&t[variant], variant, 0.1);
        text[variant] = count_text(counts[variant], capacity[variant]);
        outcome_number(o, counts[variant], "sweeps_%s", keys[variant]);
        outcome_number(o, left_at(&t[variant], t[variant].record_count - 1), "left_%s", keys[variant]);
    }
    const double jacobi = counts[JACOBI] < 0 ? 1e9 : counts[JACOBI], chebyshev = counts[CHEBYSHEV];
    claim *c = outcome_claim(o, "Gauss-Seidel against Jacobi", "Gauss-Seidel converges faster");
    claim_measured(c, "sweeps to a tenth: Gauss-Seidel %s by colours, %s in mesh order, %s symmetric; Jacobi %s",
                   text[COLOURED], text[MESH], text[SYMMETRIC], text[JACOBI]);
    const bool faster = counts[COLOURED] > 0 && counts[COLOURED] < jacobi && counts[MESH] > 0 && counts[MESH] < jacobi;
    claim_holds(c, faster ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "Chebyshev's acceleration", "mends that Jacobi converges slower");
    claim_measured(c, "sweeps to a tenth: %s, plain Jacobi %s, Gauss-Seidel by colours %s", text[CHEBYSHEV],
                   text[JACOBI], text[COLOURED]);
    claim_holds(c,
                chebyshev > 0 && chebyshev < 0.5 * jacobi ? HOLDS_YES
                : chebyshev < jacobi                      ? HOLDS_PARTLY
                                                          : HOLDS_NO,
                "%s", "");
    c = outcome_claim(o, "under-relaxation", "mends that Jacobi is less stable");
    claim_measured(c, "sweeps to a tenth: %s with half of each change, %s with all of it", text[UNDER], text[JACOBI]);
    claim_holds(
        c, HOLDS_PARTLY,
        "there is nothing left to mend: every change is one of n at its busiest particle, of which it makes 1/n "
        "from the start, and that is stable for every factor below 2. Half of it again only takes longer");
}

static void claim_symmetry(outcome *o, const trial *t)
{
    double off[VARIANTS];
    for (int variant = 0; variant < VARIANTS; variant++) {
        off[variant] = asymmetry(&t[variant]);
        outcome_number(o, off[variant], "asymmetry_%s", keys[variant]);
    }
    const double exact = sizeof(sinew_real) == 4 ? 1e-5 : 1e-12;
    claim *c = outcome_claim(o, "Gauss-Seidel may break the symmetry", "it may; symmetric sweeps mend it");
    claim_measured(c, "after %d sweeps: coloured %.1e m, mesh order %.1e m, symmetric %.1e m, Jacobi %.0e m", FEW,
                   off[COLOURED], off[MESH], off[SYMMETRIC], off[JACOBI]);
    const bool breaks = off[MESH] > exact && off[JACOBI] < exact, mends = off[SYMMETRIC] < 0.1 * off[MESH];
    claim_holds(c,
                breaks && mends ? HOLDS_YES
                : breaks        ? HOLDS_PARTLY
                                : HOLDS_NO,
                "broken it is; going forward and back leaves %.2g of what mesh order does", off[SYMMETRIC] / off[MESH]);
}

void experiment_jacobi(const setting *s, outcome *o)
{
    const int32_t n = s->quick ? 15 : 31, sweeps = s->quick ? 1000 : 4000;
    trial t[2 * VARIANTS], first = make_trial(JACOBI, n, sweeps, 0);
    snprintf(o->setup, sizeof o->setup,
             "A free cloth of 1 m, %d x %d vertices, that begins 10 %% too large, at rest; one step of PBD, %d sweeps.",
             n, n, sweeps);
    if (trials_take(s, &first, 1, "jacobi", o)) {
        const double rho = rate_of(&first);
        outcome_number(o, rho, "rho");
        for (int variant = 0; variant < VARIANTS; variant++) {
            t[variant] = make_trial(variant, n, sweeps, rho);
            t[VARIANTS + variant] = make_trial(variant, n, FEW, rho);
        }
        if (trials_take(s, t, 2 * VARIANTS, "jacobi", o)) {
            claim_speed(o, t);
            claim_symmetry(o, t + VARIANTS);
            jacobi_add_figure(o, t);
        }
        trials_release(t, 2 * VARIANTS);
    }
    trials_release(&first, 1);
}
