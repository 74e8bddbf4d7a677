/* SPDX-License-Identifier: MIT
 *
 * hard.c: hard constraints as one KKT system, by its Schur complement, with redundant constraints, and with compliance
 * (notes, "Hard constraints", "Compliant constraints"; slides, step and project; Baraff 1996); and an inextensible
 * cloth.
 *
 * The frame: a square of four particles of 1 kg. Its sides and one diagonal are five rods, which make it rigid in its
 * plane. The second diagonal and a second rod along a side depend linearly on the other constraints. One corner has an
 * initial velocity.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "hard_cloth.h"

#define LIMIT 1e-3 /* largest accepted stretch of an inextensible cloth */

enum {
    RODS = 7,
    FREE = 5, /* number of linearly independent rods of the frame */
    STIFFNESSES = 4,
    SAP = 0,
    PRIMAL_DUAL,
    MASSES, /* method: sap as published, with the mass matrix as its metric */
    XPBD,   /* methods XPBD and two more runs of XPBD, each with four times the iterations of the last */
    METHODS = XPBD + 3,
    MAX_SWEEPS = 1 << 19
};

static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
static const int32_t rods[2 * RODS] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2, 1, 3, 0, 1};

/* ---- The KKT system, or its Schur complement --------------------------------------------------- */

static bool set_system(sinew_solver_def *def, bool schur, bool all, sinew_error *error)
{
    *def = sinew_default_solver_def(SINEW_SOLVER_KKT);
    def->measure = SINEW_MEASURE_RESIDUAL;
    return sinew_solver_def_set_keyword(def, "matrix", "mass", error) == SINEW_OK &&
           sinew_solver_def_set_keyword(def, "system", schur ? "schur" : "full", error) == SINEW_OK &&
           sinew_solver_def_set_keyword(def, "constraints", all ? "all" : "hard", error) == SINEW_OK;
}

static double largest_difference(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double max = 0;
    for (int32_t i = 0; i < count; i++)
        max = fmax(max, fabs((double)a[i] - (double)b[i]));
    return max;
}

/* Runs a chain of hard rods, released level, by the KKT system and by its Schur complement. Takes ten steps only:
 * later the chain whips, which amplifies round-off. */
static bool both_systems(outcome *o, double *apart)
{
    enum {
        VERTICES = 41
    };
    sinew_real q[2][3 * VERTICES];
    for (int schur = 0; schur < 2; schur++) {
        sinew_error error = {0};
        chain_def def = chain_default();
        def.vertices = VERTICES;
        def.hard = true;
        def.gravity = 9.81;
        def.h = 1e-2;
        sinew_world *world = set_system(&def.solver, schur, false, &error) ? chain_make(&def, &error) : NULL;
        if (!world)
            return chain_fail(o, &error);
        for (int k = 0; k < 10; k++)
            sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 0, VERTICES, q[schur]);
        sinew_world_destroy(world);
    }
    *apart = largest_difference(q[0], q[1], 3 * VERTICES);
    return true;
}

static void hard_claim_systems(outcome *o)
{
    double apart = 0;
    if (!both_systems(o, &apart))
        return;
    claim *c = outcome_claim(o, "one system, and its Schur complement", "a smaller, albeit less sparse system");
    claim_measured(c, "40 hard rods, 10 steps: the two end %.2g m apart at most", apart);
    const double same = sizeof(sinew_real) == 4 ? 1e-3 : 1e-9;
    claim_holds(c, apart <= same ? HOLDS_YES : HOLDS_NO, "%s", apart <= same ? "" : "more than round-off");
    outcome_number(o, apart, "systems_apart");
}

/* ---- The frame of rods ------------------------------------------------------------------------ */

typedef struct frame {
    int32_t rod_count;
    double stiffness; /* stiffness of the frame's rods in N/m; 0: hard */
    bool schur;
    uint32_t bits;
    sinew_real q[12];
    char words[256]; /* report of the step on its hard constraints */
} frame;

static bool fill_frame(sinew_world *world, const frame *f, sinew_error *error)
{
    const sinew_real masses[4] = {1, 1, 1, 1}, velocities[12] = {[6] = 1, [7] = (sinew_real)0.5};
    sinew_real X[12];
    for (int i = 0; i < 12; i++)
        X[i] = (sinew_real)corners[i / 3][i % 3];
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = 4;
    mesh_def.positions = X;
    mesh_def.edge_count = f->rod_count;
    mesh_def.edges = rods;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    body.velocities = velocities;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = mesh ? sinew_world_add_body(world, &body, error) : (sinew_body){.index = -1};
    spring.elements = rods;
    spring.element_count = f->rod_count;
    spring.hard = f->stiffness == 0;
    if (f->stiffness > 0)
        spring.parameters[0] = (sinew_real)f->stiffness;
    sinew_mesh_destroy(mesh);
    return spring.body.index >= 0 && sinew_world_add_energy(world, &spring, error).index >= 0;
}

/* Takes one step of 10 ms with the frame. */
static bool step_frame(frame *f, outcome *o)
{
    sinew_error error = {0};
    sinew_step_result result = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    sinew_world *world =
        set_system(&def.solver, f->schur, f->stiffness > 0, &error) ? sinew_world_create(&def, &error) : NULL;
    const bool good = world && fill_frame(world, f, &error);
    if (good) {
        f->bits = sinew_world_step(world, &result);
        snprintf(f->words, sizeof f->words, "%s", result.constraints);
        sinew_world_get_positions(world, 0, 4, f->q);
    }
    sinew_world_destroy(world);
    return good || chain_fail(o, &error);
}

/* Ratio of the smallest to the largest pivot of J M^-1 J^T of the first `count` rods, by Gaussian elimination with
 * diagonal pivoting. */
static double min_pivot(int32_t count)
{
    double J[RODS][12] = {{0}}, S[RODS][RODS] = {{0}}, min = HUGE_VAL, max = 0;
    for (int32_t r = 0; r < count; r++)
        for (int c = 0; c < 3; c++) {
            const double *a = corners[rods[2 * r]], *b = corners[rods[2 * r + 1]];
            const double length = sqrt(pow(b[0] - a[0], 2) + pow(b[1] - a[1], 2));
            J[r][3 * rods[2 * r] + c] -= (b[c] - a[c]) / length;
            J[r][3 * rods[2 * r + 1] + c] += (b[c] - a[c]) / length;
        }
    for (int32_t r = 0; r < count; r++)
        for (int32_t k = 0; k < count; k++)
            for (int i = 0; i < 12; i++)
                S[r][k] += J[r][i] * J[k][i];
    bool used[RODS] = {false};
    for (int32_t k = 0; k < count; k++) {
        int32_t best = 0;
        while (used[best])
            best++;
        for (int32_t r = best + 1; r < count; r++)
            best = !used[r] && S[r][r] > S[best][best] ? r : best;
        used[best] = true;
        min = fmin(min, fabs(S[best][best]));
        max = fmax(max, fabs(S[best][best]));
        for (int32_t r = 0; r < count && S[best][best] != 0; r++)
            for (int32_t i = 0; i < count && !used[r]; i++)
                S[r][i] -= used[i] ? 0 : S[r][best] * S[best][i] / S[best][best];
    }
    return min / max;
}

static bool claim_redundant(outcome *o, const frame *five)
{
    frame naive = {.rod_count = RODS, .schur = true}, full = {.rod_count = RODS};
    if (!step_frame(&naive, o) || !step_frame(&full, o))
        return false;
    claim *c = outcome_claim(o, "a constraint too many", "not redundant: J M^-1 J^T is positive definite");
    claim_measured(c, "least pivot over the largest: %.2g with %d rods, %.2g with %d; its Cholesky then %s",
                   min_pivot(FREE), FREE, min_pivot(RODS), RODS, naive.bits & SINEW_STEP_STALLED ? "stops" : "goes on");
    const bool singular = min_pivot(FREE) > 1e-3 && min_pivot(RODS) < 1e-12;
    claim_holds(c, singular && naive.bits & SINEW_STEP_STALLED ? HOLDS_YES : HOLDS_NO, "%s", "");
    const double apart = largest_difference(full.q, five->q, 12);
    c = outcome_claim(o, "the one that is too many is named", "-");
    claim_measured(c, "\"%s\"; the step is %.2g m from that of five rods", full.words, apart);
    const bool named = strstr(full.words, "redundant") && apart <= (sizeof(sinew_real) == 4 ? 1e-6 : 1e-12);
    claim_holds(c, named ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, min_pivot(RODS), "least_pivot_redundant");
    outcome_number(o, apart, "redundant_apart");
    return true;
}

static bool claim_compliance(outcome *o, const frame *five)
{
    double apart[STIFFNESSES];
    bool solved = true;
    for (int i = 0; i < STIFFNESSES; i++) {
        frame f = {.rod_count = RODS, .stiffness = pow(10, 5 + i), .schur = true};
        if (!step_frame(&f, o))
            return false;
        solved &= !(f.bits & (SINEW_STEP_STALLED | SINEW_STEP_NOT_FINITE));
        apart[i] = largest_difference(f.q, five->q, 12);
        outcome_number(o, apart[i], "compliant_apart_1e%d", 5 + i);
    }
    claim *c = outcome_claim(o, "compliance in its place", "counteracts over defined or degenerate constraints");
    claim_measured(c,
                   "the same %d rods with 1e5, 1e6, 1e7, 1e8 N/m: solved, %.2g, %.2g, %.2g, %.2g m from five hard ones",
                   RODS, apart[0], apart[1], apart[2], apart[3]);
    const bool falls = sizeof(sinew_real) == 4 ? apart[1] < 0.2 * apart[0] : apart[3] < 2e-3 * apart[0];
    claim_holds(c, solved && falls ? HOLDS_YES : HOLDS_NO, "%s", "");
    return true;
}

/* ---- The inextensible cloth -------------------------------------------------------------------- */

static hard_cloth cloth_of(int method, bool quick)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP,
                                              SINEW_SOLVER_XPBD};
    hard_cloth c = {.n = quick ? 21 : 81, .steps = quick ? 30 : 60, .nearer = 0.1};
    c.solver = sinew_default_solver_def(kinds[method < XPBD ? method : XPBD]);
    if (method == MASSES)
        sinew_solver_def_set_keyword(&c.solver, "geometric", "off", NULL);
    c.solver.measure = SINEW_MEASURE_RESIDUAL;
    /* Tolerance of solvers of systems. The stopping test is |C| <= tolerance |J| l with |J| and l both sqrt(2): the
     * stretch stays below 0.8 of the limit. */
    c.solver.tolerance = (sinew_real)(method < XPBD ? 0.4 * LIMIT / (c.n - 1) : 0);
    c.solver.iterations = method < XPBD ? 300 : (quick ? 25 : 100) << 2 * (method - XPBD);
    return c;
}

static const char *cloth_name(int method, const hard_cloth *c, char text[32])
{
    snprintf(text, 32, "%s, %d", sinew_get_solver_info(c->solver.kind)->name, c->solver.iterations);
    return method == MASSES ? "sap, masses alone" : method < XPBD ? sinew_get_solver_info(c->solver.kind)->name : text;
}

static void claim_cloth(outcome *o, const hard_cloth *all)
{
    const hard_cloth *sap = &all[SAP], *exact = &all[PRIMAL_DUAL], *last = &all[METHODS - 1];
    claim *c = outcome_claim(o, "an inextensible cloth", "strain below 0.1 % (asked here)");
    claim_measured(c, "%d x %d, %d steps of 1/60 s: sap %.2g with %.1f iterations a step, primal-dual %.2g with %.1f",
                   sap->n, sap->n, sap->steps, sap->max, sap->iterations, exact->max, exact->iterations);
    const bool held = sap->max <= LIMIT && exact->max <= LIMIT && sap->unsolved + exact->unsolved == 0;
    if (held)
        claim_holds(c, HOLDS_YES, "%s", "");
    else
        claim_holds(c, HOLDS_NO, "steps whose constraints were not met: sap %d, primal-dual %d", sap->unsolved,
                    exact->unsolved);
    c = outcome_claim(o, "sap as published: the metric of the masses alone", "constraints are met");
    claim_measured(c, "stretch up to %.2g, %d of %d steps not met, with %.1f iterations a step and %.2f s",
                   all[MASSES].max, all[MASSES].unsolved, all[MASSES].taken, all[MASSES].iterations,
                   all[MASSES].seconds);
    claim_holds(c, all[MASSES].max <= LIMIT ? HOLDS_YES : HOLDS_PARTLY, "%s",
                all[MASSES].max <= LIMIT ? ""
                                         : "edges that are nearly straight between the corners zigzag without the "
                                           "geometric stiffness of their tension");
    c = outcome_claim(o, "the same by XPBD, sweep by sweep", "iterations: high");
    claim_measured(c, "%d, %d, %d iterations a step: stretch up to %.2g, %.2g, %.2g", all[XPBD].solver.iterations,
                   all[XPBD + 1].solver.iterations, last->solver.iterations, all[XPBD].max, all[XPBD + 1].max,
                   last->max);
    claim_holds(c, last->max > LIMIT ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
    c = outcome_claim(o, "what a step costs", "SAP: medium; XPBD: low, with many iterations");
    claim_measured(c, "processor time: sap %.3f s, primal-dual %.3f s, xpbd with %d iterations %.3f s", sap->seconds,
                   exact->seconds, last->solver.iterations, last->seconds);
    claim_timed(c, "one thread");
}

/* Takes one step of the cloth from the end state of the run `from`, with another solver. */
static bool one_step(hard_cloth *c, const hard_cloth *from, const sinew_solver_def *solver, outcome *o)
{
    sinew_error error = {0};
    hard_cloth_release(c);
    *c = (hard_cloth){.n = from->n, .steps = 1, .nearer = from->nearer, .solver = *solver, .from = from};
    return hard_cloth_run(c, &error) || chain_fail(o, &error);
}

/* Doubles the number of XPBD's sweeps until its step reaches the stretch limit. */
static void claim_same_stretch(outcome *o, const hard_cloth *sap)
{
    hard_cloth next = {0}, swept = {0};
    sinew_solver_def xpbd = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    xpbd.measure = SINEW_MEASURE_NOTHING;
    xpbd.tolerance = 0;
    xpbd.iterations = 256;
    bool good = one_step(&next, sap, &sap->solver, o) && one_step(&swept, sap, &xpbd, o);
    while (good && !(swept.max <= LIMIT) && xpbd.iterations < MAX_SWEEPS) {
        xpbd.iterations *= 2;
        good = one_step(&swept, sap, &xpbd, o);
    }
    if (good) {
        claim *c = outcome_claim(o, "a step by XPBD to the same stretch", "-");
        claim_measured(c, "from where sap ended: sap %.2g with %.0f iterations, %.2f s; xpbd %.2g with %d, %.2f s",
                       next.max, next.iterations, next.seconds, swept.max, xpbd.iterations, swept.seconds);
        claim_timed(c, swept.max <= LIMIT ? "one thread; sweeps are doubled until it is there"
                                          : "one thread; more sweeps were not tried");
        outcome_number(o, xpbd.iterations, "same_stretch_xpbd_sweeps");
        outcome_number(o, swept.seconds, "same_stretch_xpbd_seconds");
        outcome_number(o, next.seconds, "same_stretch_sap_seconds");
    }
    hard_cloth_release(&next);
    hard_cloth_release(&swept);
}

static void draw_cloth(outcome *o, const hard_cloth *all)
{
    figure *f = outcome_figure(o, "stretch", "inextensible cloth: largest stretch of warp and weft", "s", "|l/L - 1|");
    f->log_y = true;
    f->distinct = true;
    for (int m = 0; m < METHODS; m++) {
        char text[32];
        if (!figure_series(f, cloth_name(m, &all[m], text), all[m].solver.kind, m, all[m].taken))
            return;
        series *line = &f->series[f->series_count - 1];
        for (int32_t k = 0; k < all[m].taken; k++) {
            line->x[k] = (k + 1) / 60.0;
            line->y[k] = fmax(all[m].stretch[k], 1e-9);
        }
    }
}

static void run_cloth(const setting *s, outcome *o)
{
    hard_cloth all[METHODS];
    bool good = true;
    for (int m = 0; m < METHODS; m++) {
        sinew_error error = {0};
        all[m] = cloth_of(m, s->quick);
        if (good && s->progress)
            s->progress(s->context, m + 1, METHODS + 1, "inextensible cloth");
        good = good && (hard_cloth_run(&all[m], &error) || chain_fail(o, &error));
        const char *name = m == MASSES ? "sap_masses" : sinew_get_solver_info(all[m].solver.kind)->name;
        outcome_number(o, all[m].max, "stretch_%s_%d", name, all[m].solver.iterations);
        outcome_number(o, all[m].seconds, "seconds_%s_%d", name, all[m].solver.iterations);
        outcome_number(o, all[m].iterations, "iterations_%s_%d", name, all[m].solver.iterations);
    }
    if (good) {
        claim_cloth(o, all);
        draw_cloth(o, all);
        claim_same_stretch(o, &all[SAP]);
    }
    for (int m = 0; m < METHODS; m++)
        hard_cloth_release(&all[m]);
}

/* Judges a cloth with fixed corners: the weft between them is straight and taut, and its rods are linearly
 * dependent. */
static void claim_taut(outcome *o)
{
    hard_cloth all[2];
    bool good = true;
    for (int m = 0; m < 2; m++) {
        sinew_error error = {0};
        all[m] = cloth_of(m, true);
        all[m].nearer = 0;
        all[m].solver.iterations = 1000;
        good = good && (hard_cloth_run(&all[m], &error) || chain_fail(o, &error));
    }
    const bool held = good && all[0].max <= LIMIT && all[1].max <= LIMIT;
    if (good) {
        claim *c = outcome_claim(o, "corners that stay: a straight weft cannot carry weight", "-");
        claim_measured(c, "21 x 21, 30 steps: sap %.2g with %.0f iterations a step, primal-dual %.2g with %.0f",
                       all[0].max, all[0].iterations, all[1].max, all[1].iterations);
        claim_holds(c, held ? HOLDS_YES : HOLDS_PARTLY, "%s",
                    held ? "" : "where rods lie on a line between pins their forces have no bound");
    }
    for (int m = 0; m < 2; m++)
        hard_cloth_release(&all[m]);
}

void experiment_hard(const setting *s, outcome *o)
{
    frame five = {.rod_count = FREE};
    snprintf(o->setup, sizeof o->setup,
             "a chain, a square frame of rods, and a cloth of %s vertices with hard warp and weft on two corners",
             s->quick ? "21 x 21" : "81 x 81");
    hard_claim_systems(o);
    if (o->failure[0] == '\0' && step_frame(&five, o) && claim_redundant(o, &five) && claim_compliance(o, &five))
        run_cloth(s, o);
    if (o->failure[0] == '\0' && !s->quick)
        claim_taut(o);
}
