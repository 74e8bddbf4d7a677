/* SPDX-License-Identifier: MIT
 *
 * stiff_spring.c: springs in place of constraints (thesis 3.2, 3.7.1; notes on dynamic simulation): an oscillator by
 * the three Euler integrators; penalty forces k/2 C^2, which violate a constraint and do not converge as k grows (Rubin
 * and Ungar 1957); and a rope whose springs are stiffened towards a constraint.
 *
 * One particle on a spring that moves along its own line has a closed form: with x = h omega a step multiplies the
 * energy by 1 + x^2 (explicit Euler) or 1 / (1 + x^2) (implicit), and symplectic Euler keeps v^2 + omega^2 q^2 - h
 * omega^2 q v, so that the energy of a start at rest stays within 1 / (1 + x/2) .. 1 / (1 - x/2) of itself while x < 2.
 * The limit of ever stiffer ropes is the rope of primal-dual, which satisfies its constraints.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"

#define SWING   0.1                                     /* product h omega of the oscillator */
#define STRETCH 1e-2                                    /* initial stretch of the oscillator's spring, in m */
#define FAINT   (sizeof(sinew_real) == 4 ? 1e-4 : 1e-8) /* initial stretch of unstable runs, in m */
#define GRAVITY 9.81

enum {
    CURVE = 300, /* number of steps of a drawn curve */
    STAGES = 7
};

static void spring_stage_done(const setting *s, int32_t done)
{
    if (s->progress)
        s->progress(s->context, done, STAGES, "stiff-spring");
}

/* ---- The oscillator on one spring ------------------------------------------------------------- */

/* One integrator on the oscillator; energies are relative to the initial energy. */
typedef struct ring {
    sinew_solver_kind kind;
    const char *name;
    double x;       /* product h omega of the oscillator */
    double stretch; /* initial stretch of the oscillator's spring, in m */
    int64_t steps;
    double low, high, last;
    double curve[CURVE + 1];
} ring;

static ring ring_of(sinew_solver_kind kind, double x, double stretch, int64_t steps)
{
    return (ring){.kind = kind, .name = sinew_get_solver_info(kind)->name, .x = x, .stretch = stretch, .steps = steps};
}

static double ring_energy(const sinew_world *world, double k)
{
    double q[3], v[3];
    chain_end(world, q, v);
    return 0.5 * (v[0] * v[0] + k * (q[0] - 1) * (q[0] - 1));
}

static bool ring_run(ring *r, outcome *o)
{
    sinew_error error = {0};
    chain_def def = chain_default();
    def.stiffness = r->x * r->x / (def.h * def.h);
    def.start = (const double[]){1 + r->stretch, 0, 0};
    def.solver = sinew_default_solver_def(r->kind);
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = chain_make(&def, &error);
    if (!world)
        return chain_fail(o, &error);
    const double first = ring_energy(world, def.stiffness);
    r->low = r->high = r->last = r->curve[0] = 1;
    for (int64_t i = 1; i <= r->steps; i++) {
        if (sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
            break;
        r->last = ring_energy(world, def.stiffness) / first;
        r->low = fmin(r->low, r->last);
        r->high = fmax(r->high, r->last);
        if (i <= CURVE)
            r->curve[i] = r->last;
    }
    sinew_world_destroy(world);
    return true;
}

/* Growth of the amplitude per step of an unstable oscillation, over the second half of the steps with a small
 * amplitude. */
static double ring_growth(const ring *r)
{
    int last = 2;
    while (last < CURVE && sqrt(r->curve[last + 1]) * r->stretch < 0.2)
        last++;
    return pow(r->curve[last] / r->curve[last / 2], 0.5 / (last - last / 2));
}

/* Judges an integrator: compares the energy factor per step with its theory, by the deviation of (factor - 1). */
static void claim_factor(outcome *o, const ring *r, const char *what, const char *formula, double theory)
{
    char published[120];
    const double factor = pow(r->curve[CURVE], 1.0 / CURVE), off = (factor - 1) / (theory - 1) - 1;
    snprintf(published, sizeof published, "%s = %.6f", formula, theory);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%.6f over %d steps (change a step off by %+.2g %%)", factor, CURVE, 100 * off);
    claim_holds(c, fabs(off) < 0.01 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, factor, "factor_%s", r->name);
}

static void draw_rings(outcome *o, const ring *rings, int32_t count)
{
    figure *f = outcome_figure(o, "energy", "Energy of an oscillator over its first, h omega = 0.1", "step", "E / E_0");
    f->log_y = true;
    for (int32_t k = 0; k < count; k++) {
        if (!figure_series(f, rings[k].name, rings[k].kind, 0, CURVE + 1))
            continue;
        series *s = &f->series[f->series_count - 1];
        for (int i = 0; i <= CURVE; i++) {
            s->x[i] = i;
            s->y[i] = rings[k].curve[i];
        }
    }
}

static bool run_rings(const setting *s, outcome *o)
{
    ring rings[] = {ring_of(SINEW_SOLVER_EXPLICIT_EULER, SWING, STRETCH, CURVE),
                    ring_of(SINEW_SOLVER_SYMPLECTIC_EULER, SWING, STRETCH, s->quick ? 100000 : 1000000),
                    ring_of(SINEW_SOLVER_NEWTON, SWING, STRETCH, CURVE),
                    ring_of(SINEW_SOLVER_LINEAR_IMPLICIT, SWING, STRETCH, CURVE)};
    const double x = SWING;
    char what[120], published[120];
    for (size_t i = 0; i < 4; i++)
        if (!ring_run(&rings[i], o))
            return false;
    claim_factor(o, &rings[0], "explicit Euler gains energy: factor a step", "1 + (h omega)^2", 1 + x * x);
    claim_factor(o, &rings[2], "implicit Euler (newton) loses energy: factor a step", "1 / (1 + (h omega)^2)",
                 1 / (1 + x * x));
    claim_factor(o, &rings[3], "so does linearly implicit Euler", "1 / (1 + (h omega)^2)", 1 / (1 + x * x));
    snprintf(what, sizeof what, "symplectic Euler: energy over the first, in %lld steps", (long long)rings[1].steps);
    snprintf(published, sizeof published, "bounded: %.6f .. %.6f", 1 / (1 + x / 2), 1 / (1 - x / 2));
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%.6f .. %.6f", rings[1].low, rings[1].high);
    const double slack = sizeof(sinew_real) == 4 ? 1e-2 : 1e-6;
    claim_holds(
        c, rings[1].low > 1 / (1 + x / 2) - slack && rings[1].high < 1 / (1 - x / 2) + slack ? HOLDS_YES : HOLDS_NO,
        "%s", "");
    outcome_number(o, rings[1].low, "symplectic_low");
    outcome_number(o, rings[1].high, "symplectic_high");
    draw_rings(o, rings, 4);
    return true;
}

/* ---- The limit of symplectic Euler --------------------------------------------------------------- */

/* Measures growth per step, against theory, at a fixed time step with springs whose h omega passes 2. */
static bool run_limit(const setting *s, outcome *o)
{
    static const double fractions[] = {0.25, 0.5, 0.9, 0.99, 1.01, 1.1, 1.5};
    enum {
        COUNT = 7
    };
    (void)s;
    figure *f = outcome_figure(o, "limit", "Symplectic Euler as the spring stiffens, h fixed", "h omega",
                               "growth of the swing a step");
    if (!figure_series(f, "measured", SINEW_SOLVER_SYMPLECTIC_EULER, 0, COUNT) ||
        !figure_series(f, "predicted", SINEW_SOLVER_SYMPLECTIC_EULER, 1, COUNT))
        return true;
    double below = 1, worst = 0, above = HUGE_VAL;
    for (int i = 0; i < COUNT; i++) {
        const bool bounded = fractions[i] < 1;
        ring r = ring_of(SINEW_SOLVER_SYMPLECTIC_EULER, 2 * fractions[i], bounded ? STRETCH : FAINT,
                         bounded ? 10000 : CURVE);
        if (!ring_run(&r, o))
            return false;
        const double e = r.x * r.x / 2 - 1, theory = bounded ? 1 : e + sqrt(e * e - 1);
        const double growth = bounded ? 1 : ring_growth(&r);
        for (int k = 0; k < 2; k++) {
            f->series[k].x[i] = r.x;
            f->series[k].y[i] = k ? theory : growth;
        }
        if (bounded)
            below = fmax(below, r.high * (1 - r.x / 2));
        else {
            above = fmin(above, growth);
            worst = fmax(worst, fabs(growth / theory - 1));
        }
        outcome_number(o, bounded ? r.high : growth, "limit_%g", r.x);
    }
    claim *c = outcome_claim(o, "symplectic Euler diverges with stiffness unless the time step is small",
                             "stable for h omega < 2, explodes above");
    claim_measured(
        c,
        "to 1.98: energy at most %.4f of its bound in 10000 steps; 2.02, 2.2, 3: grows by %.3f a step or more, "
        "within %.1g %% of the prediction",
        below, above, 100 * worst);
    claim_holds(c, below < 1.01 && above > 1 && worst < 0.01 ? HOLDS_YES : HOLDS_NO, "%s", "");
    return true;
}

/* ---- Penalties at rest and in motion -------------------------------------------------------------- */

/* Judges the sag: a mass on a penalty spring hangs too low by m g / k. */
static bool run_sag(outcome *o)
{
    static const double stiffness[] = {1e2, 1e3, 1e4, 1e5};
    char text[160] = "";
    double worst = 0;
    for (size_t i = 0; i < 4; i++) {
        sinew_error error = {0};
        chain_def def = chain_default();
        def.to[0] = 0;
        def.to[1] = -1;
        def.quasistatic = true;
        def.gravity = GRAVITY;
        def.stiffness = stiffness[i];
        def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        sinew_world *world = chain_make(&def, &error);
        if (!world)
            return chain_fail(o, &error);
        sinew_world_step(world, NULL);
        const double C = chain_stretch(world), size = C * stiffness[i] / GRAVITY;
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%.3g", length ? ", " : "", C);
        worst = fmax(worst, fabs(size - 1));
        sinew_world_destroy(world);
    }
    claim *c = outcome_claim(o, "penalty forces never hold a constraint exactly: 1 kg hangs, k = 1e2 .. 1e5 N/m",
                             "C = m g / k > 0 for every k");
    claim_measured(c, "C = %s m (within %.1g %% of m g / k)", text, 100 * worst);
    claim_holds(c, worst < 0.01 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, worst, "sag_off");
    return true;
}

/* Force of a penalty spring on a pendulum released at 60 degrees, over the initial force of the constraint, m g / 2. */
typedef struct tension {
    /* Smallest force after a quarter of the spring's first period; largest force within that period. */
    double low, high;
    double first; /* time of the largest force, in s */
} tension;

static bool run_tension(double k, tension *t, series *curve, outcome *o)
{
    sinew_error error = {0};
    const double omega = sqrt(k), pi = 3.14159265358979323846;
    chain_def def = chain_default();
    def.to[0] = sin(pi / 3);
    def.to[1] = -cos(pi / 3);
    def.gravity = GRAVITY;
    def.stiffness = k;
    def.h = 0.02 / omega;
    sinew_world *world = chain_make(&def, &error);
    if (!world)
        return chain_fail(o, &error);
    const int steps = (int)(4 * pi / 0.02);
    *t = (tension){.low = HUGE_VAL, .high = 0};
    for (int i = 1; i <= steps; i++) {
        double q[3], v[3];
        sinew_world_step(world, NULL);
        chain_end(world, q, v);
        const double force = k * (sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 1) / (GRAVITY / 2);
        t->first = i <= steps / 2 && force > t->high ? i * def.h : t->first;
        t->high = i <= steps / 2 ? fmax(t->high, force) : t->high;
        t->low = i > steps / 8 ? fmin(t->low, force) : t->low;
        if (curve && i <= curve->count) {
            curve->x[i - 1] = i * def.h;
            curve->y[i - 1] = force;
        }
    }
    sinew_world_destroy(world);
    return true;
}

/* Judges penalty forces: as k grows the force oscillates faster with the same amplitude and does not converge to the
 * constraint's force. */
static bool run_tensions(outcome *o)
{
    static const double stiffness[] = {1e4, 1e5, 1e6};
    tension t[3];
    figure *f =
        outcome_figure(o, "force", "Force of a penalty over that of the constraint, symplectic Euler, h = 0.02 / omega",
                       "s", "k C / (m g cos)");
    f->distinct = true;
    double low = HUGE_VAL, high = 0, min = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        char name[40];
        snprintf(name, sizeof name, "k = %.0e N/m", stiffness[i]);
        const bool drawn = figure_series(f, name, SINEW_SOLVER_SYMPLECTIC_EULER, i, 600);
        if (!run_tension(stiffness[i], &t[i], drawn ? &f->series[f->series_count - 1] : NULL, o))
            return false;
        low = fmin(low, t[i].high);
        high = fmax(high, t[i].high);
        min = fmin(min, 1 - t[i].low);
        outcome_number(o, t[i].high, "force_high_%.0e", stiffness[i]);
        outcome_number(o, t[i].low, "force_low_%.0e", stiffness[i]);
    }
    claim *c =
        outcome_claim(o, "penalty forces do not converge as k grows, they oscillate (pendulum let go at 60 degrees)",
                      "swing about the constraint's force, faster with sqrt(k), no smaller");
    claim_measured(
        c,
        "k = 1e4, 1e5, 1e6: force %.2f .. %.2f, %.2f .. %.2f, %.2f .. %.2f of the constraint's; first peak after "
        "%.2f, %.2f, %.2f ms",
        t[0].low, t[0].high, t[1].low, t[1].high, t[2].low, t[2].high, 1e3 * t[0].first, 1e3 * t[1].first,
        1e3 * t[2].first);
    const double faster = t[0].first / t[2].first;
    claim_holds(c, low > 1.8 && high < 2.5 && min > 0.8 && fabs(faster / 10 - 1) < 0.1 ? HOLDS_YES : HOLDS_NO, "%s",
                "");
    return true;
}

/* ---- A constraint that is violated at the start ------------------------------------------------- */

/* Number of implicit Euler steps until the violation |C| stays below 1 % of its initial value; -1 on failure. */
static int32_t steps_to_hold(double x, outcome *o)
{
    sinew_error error = {0};
    chain_def def = chain_default();
    def.stiffness = x * x / (def.h * def.h);
    def.start = (const double[]){1 + STRETCH, 0, 0};
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = chain_make(&def, &error);
    int32_t last = 0;
    for (int32_t i = 1; world && i <= 3000; i++) {
        sinew_world_step(world, NULL);
        last = chain_stretch(world) > 0.01 * STRETCH ? i : last;
    }
    const bool made = world != NULL;
    sinew_world_destroy(world);
    if (!made)
        chain_fail(o, &error);
    return made ? last + 1 : -1;
}

static bool run_violated(outcome *o)
{
    static const double x[] = {0.1, 0.3, 1, 3, 30};
    int32_t steps[5];
    for (int i = 0; i < 5; i++) {
        steps[i] = steps_to_hold(x[i], o);
        if (steps[i] < 0)
            return false;
        outcome_number(o, steps[i], "steps_to_hold_%g", x[i]);
    }
    claim *c = outcome_claim(o, "a violated constraint takes several steps to hold again, unless k overcomes inertia",
                             "often multiple time steps");
    claim_measured(c, "to 1 %% of it, implicit Euler, h omega = 0.1, 0.3, 1, 3, 30: %d, %d, %d, %d, %d steps", steps[0],
                   steps[1], steps[2], steps[3], steps[4]);
    claim_holds(c, steps[0] > steps[1] && steps[1] > steps[2] && steps[2] > 1 && steps[4] == 1 ? HOLDS_YES : HOLDS_NO,
                "%s", "");
    return true;
}

/* ---- A rope of stiff springs ------------------------------------------------------------------ */

/* State of the rope of the scene swinging_rope, 0.4 s after its release from the horizontal. */
typedef struct rope {
    double tail, stretch; /* height of the rope's tail in m; relative stretch of the rope */
    double condition;     /* condition number of H = M - h^2 K at the start of the rope's motion */
    uint32_t bits;
} rope;

static bool swing_rope(sinew_solver_def solver, double k, bool hard, rope *r, outcome *o)
{
    sinew_error error = {0};
    chain_def def = chain_default();
    def.vertices = 32;
    def.mass = 0.1 / 31;
    def.gravity = GRAVITY;
    def.h = 5e-3;
    def.stiffness = k;
    def.hard = hard;
    def.solver = solver;
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_world *world = chain_make(&def, &error);
    sinew_stability s;
    if (!world || sinew_world_stability(world, &s, &error) != SINEW_OK) {
        sinew_world_destroy(world);
        return chain_fail(o, &error);
    }
    double q[3], v[3];
    *r = (rope){.condition = 1 + def.h * s.omega_max * def.h * s.omega_max};
    for (int i = 0; i < 80; i++)
        r->bits |= sinew_world_step(world, NULL);
    chain_end(world, q, v);
    r->tail = q[1];
    r->stretch = chain_stretch(world);
    sinew_world_destroy(world);
    return true;
}

/* Solvers of hard constraints on the rope: one constraint after another, or as a system. */
enum {
    HARD_XPBD,
    HARD_SAP,
    HARD_PRIMAL_DUAL,
    HARD_VARIANTS
};

static bool swing_hard(rope ropes[HARD_VARIANTS], outcome *o)
{
    static const sinew_solver_kind kinds[HARD_VARIANTS] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_SAP,
                                                           SINEW_SOLVER_PRIMAL_DUAL};
    for (int i = 0; i < HARD_VARIANTS; i++) {
        sinew_solver_def solver = sinew_default_solver_def(kinds[i]);
        solver.iterations = i == HARD_XPBD ? 2000 : solver.iterations;
        if (!swing_rope(solver, 1e6, true, &ropes[i], o))
            return false;
        outcome_number(o, ropes[i].tail, "tail_%s", sinew_get_solver_info(kinds[i])->name);
        outcome_number(o, ropes[i].stretch, "stretch_%s", sinew_get_solver_info(kinds[i])->name);
    }
    return true;
}

/* Compares inextensible ropes with the stiffest springs that newton solves. */
static void claim_hard(outcome *o, const rope ropes[HARD_VARIANTS], const rope *stiff)
{
    const double truth = ropes[HARD_PRIMAL_DUAL].tail;
    double apart = fabs(truth / stiff->tail - 1), stretch = 0;
    for (int i = 0; i < HARD_VARIANTS; i++) {
        apart = fmax(apart, fabs(ropes[i].tail / truth - 1));
        stretch = fmax(stretch, ropes[i].stretch);
    }
    claim *c =
        outcome_claim(o, "a hard constraint holds where stiff springs fail, k infinite", "the limit of stiff springs");
    claim_measured(
        c,
        "tail: primal-dual %.4f, sap %.4f, xpbd %.4f m (newton, k = 1e9: %.4f m); pieces within %.0e, %.0e, %.0e "
        "of their length",
        truth, ropes[HARD_SAP].tail, ropes[HARD_XPBD].tail, stiff->tail, ropes[HARD_PRIMAL_DUAL].stretch,
        ropes[HARD_SAP].stretch, ropes[HARD_XPBD].stretch);
    claim_holds(c, apart < 0.01 && stretch < 1e-4 ? HOLDS_YES : HOLDS_NO, "%s", "");
}

static bool run_ropes(outcome *o)
{
    static const double stiffness[] = {1e6, 1e9, 1e12, 1e16, 1e24, 1e30};
    enum {
        COUNT = 6
    };
    rope hard[HARD_VARIANTS], soft[COUNT];
    char text[240] = "";
    if (!swing_hard(hard, o))
        return false;
    bool honest = true, fails = false;
    for (int i = 0; i < COUNT; i++) {
        if (!swing_rope(sinew_default_solver_def(SINEW_SOLVER_NEWTON), stiffness[i], false, &soft[i], o))
            return false;
        const bool right = fabs(soft[i].tail - hard[HARD_PRIMAL_DUAL].tail) < 0.01;
        const uint32_t open =
            SINEW_STEP_NOT_CONVERGED | SINEW_STEP_ROUND_OFF | SINEW_STEP_NOT_FINITE | SINEW_STEP_UNMEASURED;
        honest = honest && (right || soft[i].bits & open);
        fails = fails || !right;
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%.0e: %.3f %s", length ? ", " : "", stiffness[i], soft[i].tail,
                 chain_status(soft[i].bits));
        outcome_number(o, soft[i].tail, "tail_%.0e", stiffness[i]);
        outcome_number(o, soft[i].condition, "condition_%.0e", stiffness[i]);
    }
    claim *c =
        outcome_claim(o, "H = M - h^2 K is nearly singular beside its largest entries as k grows: condition number",
                      "numerical issues, poor convergence");
    claim_measured(c, "k = 1e6, 1e9, 1e12, 1e16: %.1e, %.1e, %.1e, %.1e; 1 / round-off is %.0e", soft[0].condition,
                   soft[1].condition, soft[2].condition, soft[3].condition, sizeof(sinew_real) == 4 ? 8e6 : 4.5e15);
    claim_holds(c, soft[3].condition > 1e9 * soft[0].condition ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "stiff springs fail to be a constraint: height of a rope's tail by newton, k in N/m",
                      "the limit is the constraint; numerical issues on the way");
    claim_measured(c, "%s", text);
    claim_holds(c, honest && fails ? HOLDS_YES : HOLDS_NO, "%s",
                honest ? "" : "a tail that is off by more than 1 cm calls itself solved");
    claim_hard(o, hard, &soft[1]);
    return true;
}

void experiment_stiff_spring(const setting *s, outcome *o)
{
    snprintf(
        o->setup, sizeof o->setup,
        "one particle of 1 kg on a spring of 1 m; a rope of 32 particles, 0.1 kg and 1 m, h = 5 ms, let go from the "
        "horizontal");
    if (!run_rings(s, o))
        return;
    spring_stage_done(s, 1);
    if (!run_limit(s, o))
        return;
    spring_stage_done(s, 2);
    if (!run_sag(o))
        return;
    spring_stage_done(s, 3);
    if (!run_tensions(o))
        return;
    spring_stage_done(s, 4);
    if (!run_violated(o))
        return;
    spring_stage_done(s, 5);
    if (!run_ropes(o))
        return;
    spring_stage_done(s, STAGES);
}
