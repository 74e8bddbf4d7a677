/* SPDX-License-Identifier: MIT
 *
 * drift.c: a pendulum whose length is kept by constraints on accelerations, velocities or positions, or by a penalty
 * (thesis 3.7.2, (3.20), (3.21); notes, hard constraints and phi+; Baumgarte 1972).
 *
 * A constraint that is differentiated twice, J a = c(q, v), keeps every error of a step in C and in dC/dt: C'' = O(h)
 * makes C grow as h t^2. Differentiated once, J v = 0, only the error in C stays: a step along the tangent makes the
 * pendulum longer by h^2 v^2 / (2 l), so that C grows by h/2 times the integral of v^2 / l. Satisfied in positions, C
 * is the solver's remaining error. A penalty has no drift, but oscillates.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"

#define GRAVITY 9.81
#define STEP    2e-3 /* time step of the pendulum, in s */

enum {
    POINTS = 200, /* number of points of a curve */
    ACCELERATION = 0,
    BAUMGARTE,
    PROJECTION,
    VELOCITY,
    SAP,
    PRIMAL_DUAL,
    XPBD,
    PENALTY,
    SERVIN,
    MIDPOINT,
    END,
    VARIANTS
};

/* A method that keeps the pendulum's length. */
typedef struct variant {
    const char *name;
    sinew_solver_kind solver;
    /* Solver parameter and the keyword that it gets; parameter NULL: defaults. */
    const char *parameter, *word;
    bool hard;
    double stiffness; /* stiffness of the penalty spring, in N/m */
    int32_t iterations;
} variant;

static const variant variants[VARIANTS] = {
    [ACCELERATION] = {"accelerations", SINEW_SOLVER_DAE, "stabilisation", "none", true, 1e4, 0},
    [BAUMGARTE] = {"accelerations, Baumgarte", SINEW_SOLVER_DAE, "stabilisation", "baumgarte", true, 1e4, 0},
    [PROJECTION] = {"accelerations, projected", SINEW_SOLVER_DAE, "stabilisation", "projection", true, 1e4, 0},
    [VELOCITY] = {"velocities", SINEW_SOLVER_KKT, NULL, NULL, true, 1e4, 0},
    [SAP] = {"positions, sap", SINEW_SOLVER_SAP, NULL, NULL, true, 1e4, 0},
    [PRIMAL_DUAL] = {"positions, primal-dual", SINEW_SOLVER_PRIMAL_DUAL, NULL, NULL, true, 1e4, 0},
    [XPBD] = {"positions, xpbd", SINEW_SOLVER_XPBD, NULL, NULL, true, 1e4, 50},
    [SERVIN] = {"velocities, Servin", SINEW_SOLVER_KKT, "stepper", "servin", true, 1e4, 0},
    [MIDPOINT] = {"velocities, J of the middle", SINEW_SOLVER_KKT, "expansion", "midpoint", true, 1e4, 0},
    [END] = {"velocities, J of the end", SINEW_SOLVER_KKT, "expansion", "end", true, 1e4, 0},
    [PENALTY] = {"penalty", SINEW_SOLVER_SYMPLECTIC_EULER, NULL, NULL, false, 1e4, 0},
};

/* Statistics of the pendulum's length error C = l - L, in m, over a run. */
typedef struct swing {
    double max;        /* largest length error |C| of the run */
    double at[3];      /* values of |C| after a tenth, a half and the whole of the run */
    double end;        /* value of C at the end of the run */
    double tangent;    /* predicted drift in m of tangential steps, h/2 times the integral of v^2 / l */
    double beyond;     /* largest deviation of C from its running mean over 0.1 s */
    int32_t crossings; /* number of sign changes of C less its running mean */
    double curve[POINTS];
} swing;

static bool swing_def(const variant *w, double h, chain_def *def, sinew_error *error)
{
    *def = chain_default();
    def->solver = sinew_default_solver_def(w->solver);
    def->solver.measure = SINEW_MEASURE_RESIDUAL;
    def->gravity = GRAVITY;
    /* Starts 60 degrees from the vertical, so that the weight acts along the rod from the start. */
    def->to[0] = sqrt(0.75);
    def->to[1] = -0.5;
    def->hard = w->hard;
    def->stiffness = w->stiffness;
    def->h = h;
    if (w->iterations > 0)
        def->solver.iterations = w->iterations;
    return !w->parameter || sinew_solver_def_set_keyword(&def->solver, w->parameter, w->word, error) == SINEW_OK;
}

/* Returns the pendulum's length error C; updates its maximum and the predicted drift of tangential steps. */
static double pendulum_C(const sinew_world *world, double h, swing *r)
{
    double q[3], v[3];
    chain_end(world, q, v);
    const double l = sqrt(q[0] * q[0] + q[1] * q[1]), C = l - 1;
    r->tangent += h * h * (v[0] * v[0] + v[1] * v[1]) / (2 * l);
    r->max = fmax(r->max, fabs(C));
    return C;
}

static bool swing_run(const variant *w, double h, double seconds, swing *r, outcome *o)
{
    sinew_error error = {0};
    chain_def def;
    sinew_world *world = swing_def(w, h, &def, &error) ? chain_make(&def, &error) : NULL;
    if (!world)
        return chain_fail(o, &error);
    const int32_t steps = (int32_t)lround(seconds / h);
    double mean = 0, last = 0;
    *r = (swing){0};
    for (int32_t i = 1; i <= steps; i++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE)) {
            snprintf(o->failure, sizeof o->failure, "%.100s: step %d: %.120s", w->name, i, sinew_world_error(world));
            sinew_world_destroy(world);
            return false;
        }
        const double C = pendulum_C(world, h, r), weight = fmin(1, h / 0.1);
        mean += weight * (C - mean);
        r->crossings += i > steps / 10 && (C - mean) * last < 0;
        last = C - mean;
        r->end = C;
        r->beyond = i > steps / 10 ? fmax(r->beyond, fabs(C - mean)) : 0;
        for (int k = 0; k < 3; k++)
            r->at[k] = i == (int32_t)(steps * (k == 0 ? 0.1 : k == 1 ? 0.5 : 1)) ? fabs(C) : r->at[k];
        const int32_t point = (int32_t)((int64_t)(i - 1) * POINTS / steps);
        r->curve[point] = fmax(r->curve[point], fabs(C));
    }
    sinew_world_destroy(world);
    return true;
}

static void drift_draw(outcome *o, const swing *r, double seconds)
{
    figure *f = outcome_figure(o, "drift", "How far a pendulum of 1 m is from its length, h = 2 ms", "s", "|C|, m");
    f->log_y = f->distinct = true;
    for (int k = 0; k < VARIANTS; k++) {
        if (!figure_series(f, variants[k].name, variants[k].solver, k % 3, POINTS))
            continue;
        series *s = &f->series[f->series_count - 1];
        for (int i = 0; i < POINTS; i++) {
            s->x[i] = (i + 0.5) * seconds / POINTS;
            s->y[i] = fmax(r[k].curve[i], 1e-17);
        }
    }
}

static void drift_claim(outcome *o, const swing *r, double seconds)
{
    const swing *a = &r[ACCELERATION], *v = &r[VELOCITY];
    claim *c = outcome_claim(o, "constraints on accelerations drift", "errors of C and dC/dt stay and grow");
    claim_measured(c, "|C| after %g, %g, %g s: %.2e, %.2e, %.2e m", seconds / 10, seconds / 2, seconds, a->at[0],
                   a->at[1], a->at[2]);
    claim_holds(c, a->at[2] > 1.5 * a->at[1] && a->at[1] > 2 * a->at[0] ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "constraints on velocities drift less",
                      "an error of C alone stays: h/2 times the integral of v^2 / l");
    claim_measured(c, "|C| after %g, %g, %g s: %.2e, %.2e, %.2e m (the integral: %.2e m)", seconds / 10, seconds / 2,
                   seconds, v->at[0], v->at[1], v->at[2], v->tangent);
    claim_holds(c, v->at[2] < a->at[2] && fabs(v->at[2] / v->tangent - 1) < 0.02 ? HOLDS_YES : HOLDS_NO, "%s",
                v->at[2] < a->at[2] ? "" : "they drift as much as those on accelerations");
    outcome_number(o, a->at[2], "drift_accelerations");
    outcome_number(o, v->at[2], "drift_velocities");
}

static void drift_claim_positions(outcome *o, const swing *r)
{
    const double close = sizeof(sinew_real) == 4 ? 1e-5 : 1e-7;
    claim *c = outcome_claim(o, "constraints on positions do not drift", "C = 0");
    claim_measured(c, "largest |C|: sap %.1e, primal-dual %.1e, xpbd (50 sweeps) %.1e m", r[SAP].max,
                   r[PRIMAL_DUAL].max, r[XPBD].max);
    claim_holds(c, r[SAP].max < close && r[PRIMAL_DUAL].max < close && r[XPBD].max < close ? HOLDS_YES : HOLDS_NO, "%s",
                "");
    c = outcome_claim(o, "stabilisation of accelerations: Baumgarte's terms, or a projection after each step",
                      "violations decay; C = 0");
    claim_measured(c, "largest |C| %.1e and %.1e m, without %.1e m", r[BAUMGARTE].max, r[PROJECTION].max,
                   r[ACCELERATION].max);
    claim_holds(c, r[BAUMGARTE].max < 0.1 * r[ACCELERATION].max && r[PROJECTION].max < close ? HOLDS_YES : HOLDS_NO,
                "%s", "");
}

static void claim_servin(outcome *o, const swing *r)
{
    claim *c = outcome_claim(o, "Servin's stepper: regularised constraints, one system a step, no second derivatives",
                             "violations decay");
    claim_measured(c, "largest |C| %.1e m, after all of the time %.1e m; velocities without it %.1e m", r[SERVIN].max,
                   r[SERVIN].at[2], r[VELOCITY].max);
    claim_holds(c, r[SERVIN].max < 0.1 * r[VELOCITY].max ? HOLDS_YES : HOLDS_NO, "%s", "");
}

/* Judges the notes' expansion. The expansion phi+ = phi + h (J + h dJ/dx v) v+ has twice the second-order term of
 * Taylor's series. */
static bool claim_expansion(outcome *o, const swing *r, double seconds)
{
    swing half;
    if (!swing_run(&variants[MIDPOINT], STEP / 2, seconds, &half, o))
        return false;
    const double order = r[MIDPOINT].max / half.max;
    const bool better = r[END].at[2] < 0.5 * r[VELOCITY].at[2], other_side = r[END].end * r[VELOCITY].end < 0;
    claim *c = outcome_claim(o, "phi+ by second derivatives, phi + h (J + h dJ/dx v) v+ (notes)", "no figure");
    claim_measured(c,
                   "C after %g s: %+.2e m with J, %+.2e m with J + h dJ/dx v, %+.2e m with J + h/2 dJ/dx v; half of h "
                   "makes the largest of the last smaller by %.2f",
                   seconds, r[VELOCITY].end, r[END].end, r[MIDPOINT].end, order);
    claim_holds(c, better ? HOLDS_YES : HOLDS_PARTLY, "%s",
                better       ? ""
                : other_side ? "as printed the term is twice Taylor's, and phi+ as far off as without, to the other "
                               "side; with half of it the drift is of second order"
                             : "no better than J alone");
    outcome_number(o, r[END].at[2], "drift_end");
    outcome_number(o, r[MIDPOINT].at[2], "drift_midpoint");
    outcome_number(o, order, "order_midpoint");
    return true;
}

static void claim_penalty(outcome *o, const swing *p, double seconds)
{
    const double frequency = p->crossings / (2 * 0.9 * seconds), omega = sqrt(variants[PENALTY].stiffness);
    claim *c = outcome_claim(o, "a penalty does not drift but oscillates (k = 1e4 N/m, symplectic Euler)",
                             "with sqrt(k/m) = 15.9 a second about a stretch of m g / k");
    claim_measured(c, "%.1f swings a second of up to %.1e m about it; |C| at most %.1e m", frequency, p->beyond,
                   p->max);
    claim_holds(c, fabs(frequency * 2 * 3.14159265358979 / omega - 1) < 0.1 ? HOLDS_YES : HOLDS_NO, "%s", "");
}

/* Judges the order of both drifts: halving the time step halves a drift of first order. */
static bool drift_claim_order(const setting *s, outcome *o, const swing *r, double seconds)
{
    swing half[2];
    if (!swing_run(&variants[ACCELERATION], STEP / 2, seconds, &half[0], o) ||
        !swing_run(&variants[VELOCITY], STEP / 2, seconds, &half[1], o))
        return false;
    (void)s;
    const double a = r[ACCELERATION].at[2] / half[0].at[2], v = r[VELOCITY].at[2] / half[1].at[2];
    claim *c = outcome_claim(o, "drift falls with the time step", "first order: half of h, half of it");
    claim_measured(c, "with half of h the drift is smaller by %.2f (accelerations), %.2f (velocities)", a, v);
    claim_holds(c, fabs(a - 2) < 0.5 && fabs(v - 2) < 0.5 ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
    outcome_number(o, a, "order_accelerations");
    outcome_number(o, v, "order_velocities");
    return true;
}

void experiment_drift(const setting *s, outcome *o)
{
    const double seconds = s->quick ? 4 : 20;
    swing *r = malloc(VARIANTS * sizeof *r);
    snprintf(o->setup, sizeof o->setup, "a pendulum of 1 kg and 1 m, let go at 60 degrees, h = 2 ms, %g s", seconds);
    bool good = r != NULL;
    for (int k = 0; k < VARIANTS && good; k++) {
        good = swing_run(&variants[k], STEP, seconds, &r[k], o);
        if (good)
            outcome_number(o, r[k].max, "most_%d", k);
        if (s->progress)
            s->progress(s->context, k + 1, VARIANTS + 1, "drift");
    }
    if (good) {
        drift_claim(o, r, seconds);
        drift_claim_positions(o, r);
        claim_servin(o, r);
        claim_penalty(o, &r[PENALTY], seconds);
        drift_draw(o, r, seconds);
        good = drift_claim_order(s, o, r, seconds) && claim_expansion(o, r, seconds);
    }
    free(r);
}
