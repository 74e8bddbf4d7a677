/* SPDX-License-Identifier: MIT
 *
 * sap.c: step and project against the exact step (T. Liu, "Position Based Dynamics", GAMES webinar 2019, "Step and
 * Project", "Solution Drifting", "PBD vs. SAP"; thesis (4.22), (4.25); Goldenthal et al. 2007).
 *
 * A chain of eight rods of 1/8 m hangs from its first particle and swings: each rod has its own angle and angular
 * velocity, so that positions and velocities satisfy the constraints exactly and C(q_tilde) is the violation of one
 * step, O(h^2). The exact step is M/h^2 (q - q_tilde) = J(q)^T lambda, C(q) = 0. Step and project has J of its iterates
 * in place of J(q). Both Jacobians differ by O(h^2), in a force of O(h^2), so the result is O(h^4) from the exact step:
 * second order in the initial violation. Sums of such errors over t/h steps, each of which changes the velocity by 1/h
 * times itself, are O(h^2): less than the error of implicit Euler.
 *
 * One sweep over its linear system (J M^-1 J^T) dlambda = -C is written out here, constraint by constraint. The
 * constraints are linearised once (frozen) or again after each update. Both are compared with one iteration of pbd.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"

#define GRAVITY 9.81
#define LENGTH  (1.0 / RODS) /* length of a rod of the chain, in m */
#define EXACT   (sizeof(sinew_real) == 4 ? 1e-6 : 1e-13)

enum {
    RODS = 8,
    VERTICES = RODS + 1,
    STEPS_MAX = 5,  /* maximum number of time steps of a convergence study */
    STIFF_MAX = 8,  /* maximum number of stiffnesses of a convergence study */
    PATH_MAX = 400, /* maximum number of points of a path */
    STAGES = 5
};

/* Method for the step of the chain. `sweeps` > 0: sweeps of pbd or xpbd, in the order of the chain. */
typedef struct variant {
    const char *name;
    sinew_solver_kind kind;
    int32_t sweeps;
} variant;

enum {
    EXACT_STEP,
    SAP,
    PBD_FEW,
    PBD_SOME,
    PBD_MANY,
    VARIANTS
};

static const variant variants[VARIANTS] = {[EXACT_STEP] = {"primal-dual", SINEW_SOLVER_PRIMAL_DUAL, 0},
                                           [SAP] = {"sap", SINEW_SOLVER_SAP, 0},
                                           [PBD_FEW] = {"pbd, 1 sweep", SINEW_SOLVER_PBD, 1},
                                           [PBD_SOME] = {"pbd, 10 sweeps", SINEW_SOLVER_PBD, 10},
                                           [PBD_MANY] = {"pbd, 1000 sweeps", SINEW_SOLVER_PBD, 1000}};

typedef struct motion {
    double q[3 * VERTICES], v[3 * VERTICES]; /* positions (m) and velocities (m/s) of the chain's particles */
    double gravity;
} motion;

static void sap_stage_done(const setting *s, int32_t done)
{
    if (s->progress)
        s->progress(s->context, done, STAGES, "sap");
}

/* ---- Steps of the chain ----------------------------------------------------------------------- */

/* Initial state of a swinging chain: rod i is at -90 + 60 sin(i) degrees and rotates at 2 + 4 cos(2 i) 1/s. */
static motion caught_swinging(void)
{
    motion m = {.gravity = GRAVITY};
    for (int i = 0; i < RODS; i++) {
        const double angle = -acos(-1) / 2 + acos(-1) / 3 * sin(i), speed = 2 + 4 * cos(2 * i);
        const double along[2] = {LENGTH * cos(angle), LENGTH * sin(angle)};
        for (int c = 0; c < 2; c++) {
            m.q[3 * (i + 1) + c] = m.q[3 * i + c] + along[c];
            m.v[3 * (i + 1) + c] = m.v[3 * i + c] + speed * (c ? along[0] : -along[1]);
        }
    }
    return m;
}

/* Initial state of a chain whose particles lie and move on one line, so that the constraints are linear. */
static motion caught_on_a_line(void)
{
    motion m = {0};
    for (int i = 1; i <= RODS; i++) {
        m.q[3 * i] = i * LENGTH;
        m.v[3 * i] = sin(3 * i);
    }
    return m;
}

/* Sets a solver with a tight tolerance. Rods are hard, or springs treated as compliant constraints; sap has the mass
 * matrix as its metric, as published. */
static bool variant_solver(const variant *w, bool hard, sinew_solver_def *def, sinew_error *error)
{
    *def = sinew_default_solver_def(w->kind);
    def->measure = SINEW_MEASURE_RESIDUAL;
    def->tolerance = (sinew_real)(w->sweeps > 0 ? 0 : EXACT);
    def->iterations = w->sweeps > 0 ? w->sweeps : 200;
    if (w->sweeps > 0)
        return sinew_solver_def_set_keyword(def, "order", "mesh", error) == SINEW_OK;
    if (w->kind == SINEW_SOLVER_SAP && sinew_solver_def_set_keyword(def, "geometric", "off", error) != SINEW_OK)
        return false;
    return w->kind == SINEW_SOLVER_NEWTON ||
           sinew_solver_def_set_keyword(def, "constraints", hard ? "hard" : "all", error) == SINEW_OK;
}

static sinew_world *variant_world(const variant *w, const motion *m, double h, double stiffness, outcome *o)
{
    sinew_real q[3 * VERTICES], v[3 * VERTICES];
    sinew_error error = {0};
    chain_def def = chain_default();
    def.vertices = VERTICES;
    def.mass = 0.1;
    def.gravity = m->gravity;
    def.h = h;
    def.hard = stiffness == 0 && w->kind != SINEW_SOLVER_PBD;
    def.stiffness = stiffness > 0 ? stiffness : 1e4;
    for (int i = 0; i < 3 * VERTICES; i++) {
        q[i] = (sinew_real)m->q[i];
        v[i] = (sinew_real)m->v[i];
    }
    sinew_world *world = variant_solver(w, def.hard, &def.solver, &error) ? chain_make(&def, &error) : NULL;
    if (!world) {
        chain_fail(o, &error);
        return NULL;
    }
    sinew_world_set_positions(world, 0, VERTICES, q);
    sinew_world_set_velocities(world, 0, VERTICES, v);
    return world;
}

static bool world_step(sinew_world *world, const variant *w, double *q, sinew_step_result *result, outcome *o)
{
    sinew_real at[3 * VERTICES];
    const uint32_t bits = sinew_world_step(world, result);
    const bool good = !(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    if (!good)
        snprintf(o->failure, sizeof o->failure, "%.60s: %.150s", w->name, sinew_world_error(world));
    sinew_world_get_positions(world, 0, VERTICES, at);
    for (int i = 0; i < 3 * VERTICES; i++)
        q[i] = (double)at[i];
    return good;
}

/* Takes one step of h (s) with the chain and returns its positions in q; stiffness 0: hard rods. */
static bool step_once(const variant *w, const motion *m, double h, double stiffness, double *q,
                      sinew_step_result *result, outcome *o)
{
    sinew_world *world = variant_world(w, m, h, stiffness, o);
    const bool good = world && world_step(world, w, q, result, o);
    sinew_world_destroy(world);
    return good;
}

static double sap_distance(const double *a, const double *b)
{
    double max = 0;
    for (int i = 0; i < VERTICES; i++)
        max = fmax(max, hypot(a[3 * i] - b[3 * i], a[3 * i + 1] - b[3 * i + 1]));
    return max;
}

/* Largest constraint violation |C| of the chain's rods, in m. */
static double violation(const double *q)
{
    double max = 0;
    for (int i = 0; i < RODS; i++)
        max = fmax(max, fabs(hypot(q[3 * i + 3] - q[3 * i], q[3 * i + 4] - q[3 * i + 1]) - LENGTH));
    return max;
}

static void find_q_tilde(const motion *m, double h, double *q)
{
    for (int i = 0; i < 3 * VERTICES; i++)
        q[i] = m->q[i] + h * m->v[i] - (i % 3 == 1 && i > 2 ? h * h * m->gravity : 0);
}

/* Fitted order: slope of the straight line through log y over log x. */
static double fitted_order(const double *x, const double *y, int count)
{
    double sums[4] = {0};
    for (int i = 0; i < count; i++) {
        const double a = log(x[i]), b = log(y[i]);
        const double products[4] = {a, b, a * a, a * b};
        for (int k = 0; k < 4; k++)
            sums[k] += products[k] / count;
    }
    return (sums[3] - sums[0] * sums[1]) / (sums[2] - sums[0] * sums[0]);
}

static void add_points(figure *f, const char *name, sinew_solver_kind kind, int marker, const double *x,
                       const double *y, int count)
{
    if (!figure_series(f, name, kind, marker, count))
        return;
    series *s = &f->series[f->series_count - 1];
    memcpy(s->x, x, (size_t)count * sizeof *x);
    memcpy(s->y, y, (size_t)count * sizeof *y);
}

/* ---- One step: distance from the exact step ---------------------------------------------------- */

typedef struct drift {
    double h[STEPS_MAX], violation[STEPS_MAX]; /* time steps in s; constraint violations of q_tilde in m */
    double far[VARIANTS][STEPS_MAX]; /* distance of each variant from the exact step at each time step, in m */
    double open[VARIANTS];           /* largest constraint violation of each variant's result, in m */
    double left[STEPS_MAX];          /* stationarity residual of sap at each time step, in N */
} drift;

static bool find_drift(drift *d, outcome *o)
{
    const motion m = caught_swinging();
    *d = (drift){0};
    for (int i = 0; i < STEPS_MAX; i++) {
        double q[VARIANTS][3 * VERTICES], tilde[3 * VERTICES];
        d->h[i] = 16e-3 / (1 << i);
        find_q_tilde(&m, d->h[i], tilde);
        d->violation[i] = violation(tilde);
        for (int k = 0; k < VARIANTS; k++) {
            sinew_step_result result;
            if (!step_once(&variants[k], &m, d->h[i], 0, q[k], &result, o))
                return false;
            d->far[k][i] = fmax(sap_distance(q[k], q[EXACT_STEP]), 1e-17);
            d->open[k] = fmax(d->open[k], violation(q[k]));
            if (k == SAP)
                d->left[i] = result.stationarity;
        }
    }
    return true;
}

static void sap_claim_drift(outcome *o, const drift *d)
{
    const double met = sizeof(sinew_real) == 4 ? 1e-5 : 1e-10;
    const int last = STEPS_MAX - 1, used = sizeof(sinew_real) == 4 ? 3 : STEPS_MAX;
    const double order = fitted_order(d->h, d->far[SAP], used), by_C = fitted_order(d->violation, d->far[SAP], used);
    claim *c = outcome_claim(o, "step and project satisfies the constraints", "c(x) = 0");
    claim_measured(c, "largest |C| at h = 16 .. 1 ms: sap %.1e, primal-dual %.1e, pbd with 1000 sweeps %.1e m",
                   d->open[SAP], d->open[EXACT_STEP], d->open[PBD_MANY]);
    claim_holds(c, d->open[SAP] < met && d->open[EXACT_STEP] < met ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "SAP: solution drifting", "it ends beside the exact solution");
    claim_measured(c, "from primal-dual at h = 16, 8, 4, 2, 1 ms: %.2e, %.2e, %.2e, %.2e, %.2e m; order %.2f in h",
                   d->far[SAP][0], d->far[SAP][1], d->far[SAP][2], d->far[SAP][3], d->far[SAP][last], order);
    claim_holds(c, d->far[SAP][0] > 100 * d->open[SAP] && fabs(order - 4) < 0.3 ? HOLDS_YES : HOLDS_PARTLY,
                "fourth order of one step; %.2f in the violation of q_tilde. What forces leave over falls from %.1e "
                "to %.1e N",
                by_C, d->left[0], d->left[last]);
    outcome_number(o, order, "order_sap");
    outcome_number(o, by_C, "order_sap_violation");
    c = outcome_claim(o, "PBD: the solution drifts as well", "it ends beside the exact solution, too");
    claim_measured(c, "at 16 and 1 ms: 1 sweep %.2e, %.2e (order %.2f); 10 %.2e, %.2e; 1000 %.2e, %.2e m (order %.2f)",
                   d->far[PBD_FEW][0], d->far[PBD_FEW][last], fitted_order(d->h, d->far[PBD_FEW], used),
                   d->far[PBD_SOME][0], d->far[PBD_SOME][last], d->far[PBD_MANY][0], d->far[PBD_MANY][last],
                   fitted_order(d->h, d->far[PBD_MANY], used));
    claim_holds(c, d->far[PBD_FEW][last] > d->far[SAP][last] ? HOLDS_YES : HOLDS_NO,
                "few sweeps are second order: what they leave open; many drift as sap does, and not to the same place");
    for (int k = SAP; k < VARIANTS; k++)
        for (int i = 0; i < STEPS_MAX; i++)
            outcome_number(o, d->far[k][i], "far_%d_%d", k, i);
}

static void draw_drift(outcome *o, const drift *d)
{
    double ms[STEPS_MAX];
    figure *f = outcome_figure(o, "drift", "One step of a chain: distance from the exact step", "h, ms", "m");
    f->log_x = f->log_y = f->distinct = true;
    for (int i = 0; i < STEPS_MAX; i++)
        ms[i] = 1e3 * d->h[i];
    for (int k = SAP; k < VARIANTS; k++)
        add_points(f, variants[k].name, variants[k].kind, k, ms, d->far[k], STEPS_MAX);
}

/* ---- PBD as a sweep over the system --------------------------------------------------------------- */

/* One Gauss-Seidel sweep over (J M^-1 J^T) dlambda = -C from q. Constraints are linearised once at the start or, with
 * `relinearise`, each at the current q. Updates q. */
static void sweep_system(double *q, bool relinearise)
{
    double start[3 * VERTICES];
    memcpy(start, q, sizeof start);
    for (int i = 0; i < RODS; i++) {
        const double *at = relinearise ? q : start;
        /* Inverse masses of the rod's two particles, up to a common factor. */
        const double w[2] = {i == 0 ? 0 : 1, i == RODS - 1 ? 2 : 1};
        const double d[2] = {at[3 * i + 3] - at[3 * i], at[3 * i + 4] - at[3 * i + 1]}, l = hypot(d[0], d[1]);
        double C = l - LENGTH;
        for (int c = 0; c < 2; c++)
            C += d[c] / l * ((q[3 * i + 3 + c] - at[3 * i + 3 + c]) - (q[3 * i + c] - at[3 * i + c]));
        for (int c = 0; c < 2; c++) {
            q[3 * i + c] += w[0] / (w[0] + w[1]) * C * d[c] / l;
            q[3 * i + 3 + c] -= w[1] / (w[0] + w[1]) * C * d[c] / l;
        }
    }
}

/* Computes the distance in m of one iteration of pbd from a sweep of either kind. */
static bool compare_sweep(const motion *m, double h, double far[2], outcome *o)
{
    double q[3 * VERTICES], swept[2][3 * VERTICES];
    for (int relinearise = 0; relinearise < 2; relinearise++) {
        find_q_tilde(m, h, swept[relinearise]);
        sweep_system(swept[relinearise], relinearise == 1);
    }
    if (!step_once(&variants[PBD_FEW], m, h, 0, q, NULL, o))
        return false;
    far[0] = sap_distance(q, swept[0]);
    far[1] = sap_distance(q, swept[1]);
    return true;
}

static bool claim_sweeps(outcome *o, const drift *d)
{
    const motion line = caught_on_a_line(), swinging = caught_swinging();
    const double same = sizeof(sinew_real) == 4 ? 1e-6 : 1e-12;
    const int used = sizeof(sinew_real) == 4 ? 3 : STEPS_MAX;
    double linear[2], frozen[STEPS_MAX], relinearise = 0, q[2][3 * VERTICES];
    sinew_step_result result;
    if (!compare_sweep(&line, 10e-3, linear, o) || !step_once(&variants[SAP], &line, 10e-3, 0, q[0], &result, o) ||
        !step_once(&variants[PBD_MANY], &line, 10e-3, 0, q[1], NULL, o))
        return false;
    for (int i = 0; i < STEPS_MAX; i++) {
        double far[2];
        if (!compare_sweep(&swinging, d->h[i], far, o))
            return false;
        frozen[i] = far[0];
        relinearise = fmax(relinearise, far[1]);
    }
    const double together = sap_distance(q[0], q[1]), order = fitted_order(d->violation, frozen, used);
    claim *c = outcome_claim(o, "PBD is a Gauss-Seidel sweep over SAP's system: linear constraints",
                             "the same updates, one constraint after the other");
    claim_measured(c,
                   "a chain that moves along its own line: %.1e m apart; 1000 sweeps end %.1e m from sap (%d "
                   "iteration%s)",
                   linear[0], together, result.iterations, result.iterations == 1 ? "" : "s");
    claim_holds(c, linear[0] < same && together < 10 * same ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "the same of curved constraints", "the same updates, one constraint after the other");
    claim_measured(c, "each linearised again: %.1e m apart; all linearised once: %.2e, %.2e, %.2e m at 16, 4, 1 ms",
                   relinearise, frozen[0], frozen[2], frozen[4]);
    claim_holds(c, relinearise < same && fabs(order - 2) < 0.2 ? HOLDS_YES : HOLDS_NO,
                "with rows as they were at q_tilde the difference is of order %.2f in their violation", order);
    outcome_number(o, relinearise, "sweep_relinearised");
    outcome_number(o, order, "sweep_frozen_order");
    return true;
}

/* ---- Paths of a released chain ---------------------------------------------------------------- */

typedef struct path {
    int32_t count;
    double q[PATH_MAX][3 * VERTICES];
    double stretch; /* largest relative stretch |C| / L of a rod on the path */
} path;

/* Follows the path of a chain that is released straight and level. */
static bool follow(const variant *w, double h, int32_t count, path *p, outcome *o)
{
    motion m = {.gravity = GRAVITY};
    for (int i = 0; i <= RODS; i++)
        m.q[3 * i] = i * LENGTH;
    sinew_world *world = variant_world(w, &m, h, 0, o);
    bool good = world != NULL;
    p->count = count < PATH_MAX ? count : PATH_MAX;
    p->stretch = 0;
    for (int32_t i = 0; i < p->count && good; i++) {
        good = world_step(world, w, p->q[i], NULL, o);
        p->stretch = fmax(p->stretch, violation(p->q[i]) / LENGTH);
    }
    sinew_world_destroy(world);
    return good;
}

static double sap_farthest(const path *a, const path *b)
{
    double max = 0;
    for (int32_t i = 0; i < a->count && i < b->count; i++)
        max = fmax(max, sap_distance(a->q[i], b->q[i]));
    return max;
}

static void draw_paths(outcome *o, const path *p)
{
    double x[PATH_MAX], y[PATH_MAX];
    figure *f = outcome_figure(o, "path", "The end of a chain let go level, h = 10 ms", "x, m", "y, m");
    f->distinct = true;
    for (int k = 0; k < VARIANTS; k++) {
        for (int32_t i = 0; i < p[k].count; i++) {
            x[i] = p[k].q[i][3 * RODS];
            y[i] = p[k].q[i][3 * RODS + 1];
        }
        add_points(f, variants[k].name, variants[k].kind, k, x, y, p[k].count);
    }
}

/* Judges whether the drift of a whole path is second order in h. */
static bool claim_path_order(outcome *o, path *p, double seconds)
{
    double h[4], far[4], euler[4];
    for (int i = 0; i < 4; i++) {
        h[i] = 10e-3 / (1 << i);
        const int32_t count = (int32_t)lround(seconds / h[i]);
        if (!follow(&variants[EXACT_STEP], h[i], count, &p[0], o) || !follow(&variants[SAP], h[i], count, &p[1], o))
            return false;
        far[i] = sap_distance(p[0].q[count - 1], p[1].q[count - 1]);
        euler[i] = p[0].q[count - 1][3 * RODS + 1];
    }
    claim *c = outcome_claim(o, "what the drift of single steps does to a path",
                             "not said; O(h^4) a step makes O(h^2) of a path");
    const double order = fitted_order(h, far, 4), step = fabs(euler[2] - euler[3]);
    claim_measured(c,
                   "after %g s sap is %.2e, %.2e, %.2e, %.2e m from primal-dual at h = 10, 5, 2.5, 1.25 ms: order %.2f",
                   seconds, far[0], far[1], far[2], far[3], order);
    claim_holds(c, order > 1.5 && far[3] < 0.1 * step ? HOLDS_YES : HOLDS_PARTLY,
                "half of h = 2.5 ms moves the exact path's end by %.1e m: the time step does more than the drift",
                step);
    outcome_number(o, order, "order_path");
    return true;
}

static bool claim_paths(const setting *s, outcome *o)
{
    const double seconds = 0.3;
    path *p = calloc(VARIANTS, sizeof *p);
    bool good = p != NULL;
    for (int k = 0; k < VARIANTS && good; k++)
        good = follow(&variants[k], 10e-3, s->quick ? 60 : 100, &p[k], o);
    if (good) {
        claim *c = outcome_claim(o, "PBD, SAP and the exact solution over time",
                                 "PBD depends on its iterations; SAP drifts, and looks the same");
        claim_measured(c, "farthest from primal-dual in %g s: sap %.1e, pbd with 1, 10, 1000 sweeps %.2g, %.2g, %.1e m",
                       p[0].count * 0.01, sap_farthest(&p[SAP], p), sap_farthest(&p[PBD_FEW], p),
                       sap_farthest(&p[PBD_SOME], p), sap_farthest(&p[PBD_MANY], p));
        claim_holds(c, sap_farthest(&p[SAP], p) < 0.1 * sap_farthest(&p[PBD_FEW], p) ? HOLDS_YES : HOLDS_NO,
                    "rods are longer by up to %.2g, %.2g, %.1e of their length with 1, 10, 1000 sweeps; sap %.1e",
                    p[PBD_FEW].stretch, p[PBD_SOME].stretch, p[PBD_MANY].stretch, p[SAP].stretch);
        for (int k = SAP; k < VARIANTS; k++)
            outcome_number(o, sap_farthest(&p[k], p), "path_%d", k);
        draw_paths(o, p);
        good = claim_path_order(o, p, seconds);
    }
    free(p);
    return good;
}

/* ---- Compliance: XPBD solved at once -------------------------------------------------------------- */

typedef struct compliant {
    double alpha[STIFF_MAX];      /* compliance of the springs, in m/N */
    double sap[3][STIFF_MAX];     /* distance of sap from the minimum in m, at h = 16, 4 and 1 ms */
    double swept[3][STIFF_MAX];   /* distance of xpbd from the minimum in m, at the same time steps */
    double above[2][STIFF_MAX];   /* objective g less its minimum in J at h = 16 ms, of sap and xpbd */
    double elastic[2][STIFF_MAX]; /* elastic energy relative to that at the minimum, of sap and xpbd */
    double agree;                 /* largest distance in m of newton's result from primal-dual's */
} compliant;

static bool find_compliant(compliant *r, outcome *o)
{
    static const variant newton = {"newton", SINEW_SOLVER_NEWTON, 0};
    static const variant sweeps = {"xpbd, 1000 sweeps", SINEW_SOLVER_XPBD, 1000};
    const variant *const of[4] = {&variants[EXACT_STEP], &variants[SAP], &sweeps, &newton};
    const motion m = caught_swinging();
    *r = (compliant){0};
    for (int k = 0; k < STIFF_MAX; k++)
        for (int i = 0; i < 3; i++) {
            const double h = 16e-3 / (1 << 2 * i), stiffness = pow(10, k + 1);
            double q[4][3 * VERTICES];
            sinew_step_result result[4];
            for (int w = 0; w < 4; w++)
                if (!step_once(of[w], &m, h, stiffness, q[w], &result[w], o))
                    return false;
            r->alpha[k] = 1 / stiffness;
            r->sap[i][k] = fmax(sap_distance(q[1], q[0]), 1e-17);
            r->swept[i][k] = fmax(sap_distance(q[2], q[0]), 1e-17);
            for (int w = 0; w < 2 && i == 0; w++) {
                r->above[w][k] = result[1 + w].objective - result[0].objective;
                r->elastic[w][k] = result[1 + w].elastic / result[0].elastic;
            }
            if (k < 5)
                r->agree = fmax(r->agree, sap_distance(q[3], q[0]));
        }
    return true;
}

static void claim_compliant(outcome *o, const compliant *r, const drift *d)
{
    claim *c = outcome_claim(o, "XPBD's system solved at once (thesis (4.25)): does it end at the minimum?",
                             "it cannot be said to solve the implicit equations (4.1.6)");
    claim_measured(c,
                   "sap from primal-dual, h = 16 ms, alpha = 1e-1, -3, -5, -7 m/N: %.1e, %.1e, %.1e, %.1e m; 1 ms: "
                   "%.1e, %.1e, %.1e, %.1e",
                   r->sap[0][0], r->sap[0][2], r->sap[0][4], r->sap[0][6], r->sap[2][0], r->sap[2][2], r->sap[2][4],
                   r->sap[2][6]);
    const double limit = r->sap[0][STIFF_MAX - 1] / d->far[SAP][0];
    claim_holds(c, r->sap[0][4] > 1e-7 && fabs(limit - 1) < 0.01 ? HOLDS_YES : HOLDS_PARTLY,
                "soft rows have small forces and no error; it grows until alpha < h^2 / m, and is then %.3f of that of "
                "hard rods. Newton and primal-dual are within %.0e m for alpha >= 1e-5",
                limit, r->agree);
    c = outcome_claim(o, "would (4.22) solved globally lower the energy further than Gauss-Seidel? (5.5.1)",
                      "not clear");
    claim_measured(c,
                   "g above its minimum, h = 16 ms, alpha = 1e-3, -5, -7: sap %.1e, %.1e, %.1e J; xpbd with 1000 "
                   "sweeps %.1e, %.1e, %.1e J",
                   r->above[0][2], r->above[0][4], r->above[0][6], r->above[1][2], r->above[1][4], r->above[1][6]);
    claim_holds(c, NOT_JUDGED, "elastic energy over that of the minimum: sap %.4f, %.4f, %.4f, xpbd %.4f, %.4f, %.4f",
                r->elastic[0][2], r->elastic[0][4], r->elastic[0][6], r->elastic[1][2], r->elastic[1][4],
                r->elastic[1][6]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < STIFF_MAX; k++)
            outcome_number(o, r->sap[i][k], "compliant_%d_%d", i, k);
}

static void draw_compliant(outcome *o, const compliant *r)
{
    static const char *const steps[3] = {"16 ms", "4 ms", "1 ms"};
    char name[56];
    figure *f = outcome_figure(o, "compliance", "One step of a chain of springs: distance from the minimum",
                               "compliance, m/N", "m");
    f->log_x = f->log_y = f->distinct = true;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "sap, h = %s", steps[i]);
        add_points(f, name, SINEW_SOLVER_SAP, i, r->alpha, r->sap[i], STIFF_MAX);
        snprintf(name, sizeof name, "xpbd, 1000 sweeps, h = %s", steps[i]);
        add_points(f, name, SINEW_SOLVER_XPBD, i, r->alpha, r->swept[i], STIFF_MAX);
    }
}

void experiment_sap(const setting *s, outcome *o)
{
    drift d;
    compliant r;
    snprintf(o->setup, sizeof o->setup,
             "a chain of %d rods of 1/8 m, 0.1 kg a particle, caught in a swing (one step) or let go level (paths)",
             RODS);
    if (!find_drift(&d, o))
        return;
    sap_claim_drift(o, &d);
    draw_drift(o, &d);
    sap_stage_done(s, 1);
    if (!claim_sweeps(o, &d))
        return;
    sap_stage_done(s, 2);
    if (!claim_paths(s, o))
        return;
    sap_stage_done(s, 4);
    if (!find_compliant(&r, o))
        return;
    claim_compliant(o, &r, &d);
    draw_compliant(o, &r);
    sap_stage_done(s, STAGES);
}
