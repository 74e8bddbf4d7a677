/* SPDX-License-Identifier: MIT
 *
 * table.c: the concluding table of T. Liu, "Position Based Dynamics" (GAMES webinar 2019): kind of constraint,
 * iterations a frame and cost of an iteration of step and project (Goldenthal et al. 2007), PBD (Mueller et al. 2007),
 * stable constrained dynamics (Tournier et al. 2015) and XPBD (Macklin et al. 2016), measured on one scene.
 *
 * A net of n x n particles, 1 m wide, 0.2 kg, its warp and weft inextensible or springs of 1e5 N/m, hangs from two
 * corners. It starts bent to an arc, so that every thread has its rest length, and falls for ten steps of 10 ms by the
 * exact solver. All solvers then take the next step; stable constrained dynamics also takes the one before, because it
 * needs the multipliers of the last step. Accuracy is the largest distance of a particle from the exact step of the
 * same problem: primal-dual for hard threads, newton for springs. All four drift and do not converge to it; the common
 * target accuracy is the final accuracy of the least exact solver, plus 5 per cent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

#define STEP      0.01 /* time step of the falling net, in s */
#define STIFFNESS 1e5  /* stiffness of a thread between two particles, in N/m */
#define HELD      (sizeof(sinew_real) == 4 ? 1e-5 : 1e-6)
#define ARC       1.2 /* angle of the net's arc from side to side, in rad */

enum {
    SAP,
    PBD,
    SCD,
    XPBD,
    METHODS,
    CURVE = 13,            /* number of points of a curve */
    FALL = 10,             /* number of steps before the measured one */
    ITERATIONS_MAX = 16384 /* largest number of iterations that is tried */
};

typedef struct method {
    /* Wording of the slides: source, name, kind of constraint, iterations, cost of an iteration. */
    const char *source, *name, *constraint, *count, *cost;
    sinew_solver_kind kind;
    bool hard;
} method;

static const method methods[METHODS] = {
    [SAP] = {"Goldenthal et al. 2007", "sap", "hard", "medium", "medium", SINEW_SOLVER_SAP, true},
    [PBD] = {"Mueller et al. 2007", "pbd", "hard", "high", "low", SINEW_SOLVER_PBD, true},
    [SCD] = {"Tournier et al. 2015", "scd", "compliant", "one", "high", SINEW_SOLVER_SCD, false},
    [XPBD] = {"Macklin et al. 2016", "xpbd", "compliant", "high", "low", SINEW_SOLVER_XPBD, false},
};

/* State of the net before the measured step. */
typedef struct net_scene {
    bool hard;
    /* Number of known states of the fall, the last of which starts the step; 0: bent, at rest. */
    int32_t moments;
    /* [3 * particle_count] positions (m) and velocities (m/s) one step before the start, and at the start. */
    sinew_real *q[2], *v[2];
} net_scene;

typedef struct found {
    double floor;  /* distance of the solver from the exact step at convergence, in m */
    int32_t count; /* number of iterations to the common accuracy; -1: not reached */
    /* Number of iterations until hard threads have their length within HELD; -1: not reached. */
    int32_t held;
    double fixed, each; /* processor time in s of a step without iterations, and of an iteration */
} found;

/* ---- The scene of the net --------------------------------------------------------------------- */

static sinew_mesh *net_mesh(int32_t n, sinew_error *error)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    sinew_real *X = malloc(3 * (size_t)(n * n) * sizeof *X);
    int32_t *edges = malloc(4 * (size_t)(n * n) * sizeof *edges);
    sinew_mesh *mesh = NULL;
    for (int32_t i = 0; X && edges && i < n * n; i++) {
        const int32_t column = i % n, row = i / n;
        X[3 * i] = (sinew_real)column / (sinew_real)(n - 1);
        X[3 * i + 1] = -(sinew_real)row / (sinew_real)(n - 1);
        X[3 * i + 2] = 0;
        for (int direction = 0; direction < 2; direction++)
            if (direction ? row + 1 < n : column + 1 < n) {
                edges[2 * def.edge_count] = i;
                edges[2 * def.edge_count++ + 1] = i + (direction ? n : 1);
            }
    }
    def.positions = X;
    def.vertex_count = n * n;
    def.edges = edges;
    if (X && edges)
        mesh = sinew_mesh_create(&def, error);
    free(X);
    free(edges);
    return mesh;
}

/* Places the columns of the net on an arc whose chords are the threads of the weft. */
static void bend_net(int32_t n, sinew_real *q)
{
    const double turn = ARC / (n - 1), radius = 1 / (2.0 * (n - 1) * sin(turn / 2));
    for (int32_t i = 0; i < n * n; i++) {
        const double angle = turn * (i % n) - ARC / 2;
        q[3 * i] = (sinew_real)(radius * sin(angle));
        q[3 * i + 1] = -(sinew_real)(i / n) / (sinew_real)(n - 1);
        q[3 * i + 2] = (sinew_real)(radius * cos(angle));
    }
}

static bool fill_net(sinew_world *world, const trial *t, const sinew_mesh *mesh, sinew_error *error)
{
    const net_scene *scene = t->scene;
    const int32_t n = t->n, corners[2] = {0, n - 1};
    sinew_body_def body = sinew_default_body_def();
    sinew_real *q = malloc(3 * (size_t)(n * n) * sizeof *q), *masses = malloc((size_t)(n * n) * sizeof *masses);
    sinew_energy_def threads = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_pin_def pins = sinew_default_pin_def();
    bool good = q && masses;
    if (good) {
        bend_net(n, q);
        for (int32_t i = 0; i < n * n; i++)
            masses[i] = (sinew_real)(0.2 / (n * n));
        body.mesh = mesh;
        body.masses = masses;
        body.positions = q;
        threads.body = pins.body = sinew_world_add_body(world, &body, error);
        threads.hard = scene->hard;
        threads.parameters[sinew_energy_parameter(SINEW_ENERGY_SPRING, "stiffness")] = (sinew_real)STIFFNESS;
        pins.vertices = corners;
        pins.vertex_count = 2;
        good = threads.body.index >= 0 && sinew_world_add_energy(world, &threads, error).index >= 0 &&
               sinew_world_add_pins(world, &pins, error).index >= 0;
    }
    free(q);
    free(masses);
    return good;
}

/* Sets the net's state before the measured step. scd first takes the preceding step, because it keeps multipliers. */
static void place_net(sinew_world *world, const trial *t)
{
    const net_scene *scene = t->scene;
    for (int32_t k = t->solver.kind == SINEW_SOLVER_SCD ? 0 : 1; k < scene->moments; k++) {
        if (k == 1 && t->solver.kind == SINEW_SOLVER_SCD)
            sinew_world_step(world, NULL);
        sinew_world_set_positions(world, 0, t->n * t->n, scene->q[k]);
        sinew_world_set_velocities(world, 0, t->n * t->n, scene->v[k]);
    }
}

static sinew_world *scene_net(trial *t, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.thread_count = 1;
    def.solver = t->solver;
    sinew_mesh *mesh = net_mesh(t->n, error);
    sinew_world *world = mesh ? sinew_world_create(&def, error) : NULL;
    if (world && !fill_net(world, t, mesh, error)) {
        sinew_world_destroy(world);
        world = NULL;
    }
    sinew_mesh_destroy(mesh);
    if (world)
        place_net(world, t);
    return world;
}

/* Lets the hard net fall by the exact solver and stores the last two states. */
static bool let_fall(int32_t n, net_scene *scene, outcome *o)
{
    trial t = {.n = n, .scene = &(net_scene){.hard = true}};
    sinew_error error = {0};
    t.solver = sinew_default_solver_def(SINEW_SOLVER_PRIMAL_DUAL);
    t.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = scene_net(&t, &error);
    bool good = world != NULL;
    for (int k = 0; k < 2; k++) {
        scene->q[k] = malloc(3 * (size_t)(n * n) * sizeof(sinew_real));
        scene->v[k] = malloc(3 * (size_t)(n * n) * sizeof(sinew_real));
        good = good && scene->q[k] && scene->v[k];
    }
    for (int i = 1; i <= FALL && good; i++) {
        good = (sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE)) == 0;
        sinew_world_get_positions(world, 0, n * n, scene->q[i == FALL]);
        sinew_world_get_velocities(world, 0, n * n, scene->v[i == FALL]);
    }
    if (!good)
        snprintf(o->failure, sizeof o->failure, "%.250s", world ? sinew_world_error(world) : error.text);
    scene->hard = true;
    scene->moments = 2;
    sinew_world_destroy(world);
    return good;
}

/* ---- Accuracy of the solvers ------------------------------------------------------------------ */

typedef struct bout {
    const setting *s;
    outcome *o;
    int32_t n;
    net_scene scenes[2]; /* scenes of the net: [0] with springs, [1] with hard threads */
    trial truth[2];      /* exact steps of the net: [0] with springs, [1] with hard threads */
    found found[METHODS];
    /* Distance in m of sap with springs and of scd with hard threads from their exact steps. */
    double other_kind[2];
} bout;

static trial method_trial(const bout *b, int m, bool hard, int32_t iterations)
{
    trial t = {.build = scene_net, .n = b->n, .scene = &b->scenes[hard], .frames = 1};
    const double rows = hard ? 1 : 0;
    if (m == SAP) /* sap with the mass matrix as its metric, as published */
        t.solver = trial_solver(SINEW_SOLVER_SAP, iterations, "constraints", rows, "geometric", 1.0, (char *)NULL);
    else if (m == SCD)
        t.solver = trial_solver(SINEW_SOLVER_SCD, iterations, "constraints", rows, (char *)NULL);
    else
        t.solver = trial_solver(methods[m].kind, iterations, (char *)NULL);
    t.solver.measure = SINEW_MEASURE_NOTHING;
    return t;
}

/* Largest relative deviation of a thread of the net from its length. */
static double open_threads(const trial *t)
{
    const int32_t n = t->n;
    double max = 0;
    for (int32_t i = 0; i < n * n; i++)
        for (int direction = 0; direction < 2; direction++) {
            const int32_t other = i + (direction ? n : 1);
            double square = 0;
            if (direction ? i / n + 1 == n : i % n + 1 == n)
                continue;
            for (int c = 0; c < 3; c++)
                square += pow((double)t->q[3 * other + c] - (double)t->q[3 * i + c], 2);
            max = fmax(max, fabs(sqrt(square) * (n - 1) - 1));
        }
    return max;
}

/* Computes the error of a solver after `iterations`: distance from the exact step (m), or with `threads` the
 * violation of the threads. NAN on failure. */
static double left_after(bout *b, int m, bool hard, int32_t iterations, bool threads)
{
    setting quiet = *b->s;
    quiet.progress = NULL;
    trial t = method_trial(b, m, hard, iterations);
    const bool good = trials_take(&quiet, &t, 1, "", b->o);
    const double left = !good ? NAN : threads ? open_threads(&t) : trial_distance(&t, &b->truth[hard]);
    trials_release(&t, 1);
    return left;
}

/* Finds the fewest iterations that leave an error of at most `accuracy`; -1 if ITERATIONS_MAX are not enough. */
static int32_t table_iterations_to(bout *b, int m, double accuracy, bool threads)
{
    int32_t high = 1, low = 0;
    while (high <= ITERATIONS_MAX && left_after(b, m, methods[m].hard, high, threads) > accuracy) {
        low = high;
        high *= 2;
    }
    if (high > ITERATIONS_MAX)
        return -1;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (left_after(b, m, methods[m].hard, middle, threads) > accuracy)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static bool find_truth(bout *b)
{
    for (int hard = 0; hard < 2; hard++) {
        trial *t = &b->truth[hard];
        *t = (trial){.build = scene_net, .n = b->n, .scene = &b->scenes[hard], .frames = 1};
        t->solver = sinew_default_solver_def(hard ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_NEWTON);
        t->solver.measure = SINEW_MEASURE_RESIDUAL;
        t->solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-11);
        t->solver.iterations = 100;
        if (!trials_take(b->s, t, 1, "table", b->o))
            return false;
    }
    return true;
}

/* Computes each solver's final accuracy, then the iterations and costs to the common accuracy. */
static bool find_counts(bout *b, double *accuracy)
{
    *accuracy = 0;
    for (int m = 0; m < METHODS; m++) {
        b->found[m].floor = left_after(b, m, methods[m].hard, m == SCD ? 1 : m == SAP ? 30 : ITERATIONS_MAX, false);
        *accuracy = fmax(*accuracy, 1.05 * b->found[m].floor);
    }
    b->other_kind[0] = left_after(b, SAP, false, 30, false);
    b->other_kind[1] = left_after(b, SCD, true, 1, false);
    for (int m = 0; m < METHODS; m++) {
        found *f = &b->found[m];
        trial t = method_trial(b, m, methods[m].hard, 1);
        f->count = table_iterations_to(b, m, *accuracy, false);
        f->held = methods[m].hard ? table_iterations_to(b, m, HELD, true) : -1;
        if (!trial_cost(b->s, &t, &f->fixed, &f->each, b->o))
            return false;
        if (m == SCD) {
            f->each = f->fixed + 2 * f->each; /* cost of scd, which takes one iteration: the whole step */
            f->fixed = 0;
        }
    }
    return !b->o->failure[0];
}

/* ---- Claims about the table ------------------------------------------------------------------- */

static void table_claim_row(outcome *o, int m, const found *f, double accuracy)
{
    char words[120], title[120], capacity[COUNT_SIZE];
    const method *d = &methods[m];
    snprintf(words, sizeof words, "%s; iterations a frame: %s; cost of one: %s", d->constraint, d->count, d->cost);
    snprintf(title, sizeof title, "%s (%s)", d->name, d->source);
    claim *c = outcome_claim(o, title, words);
    claim_measured(c, "%s iteration%s of %.1f us to %.1e m, the step %.2f ms; nearest in the end: %.1e m",
                   count_text(f->count, capacity), f->count == 1 ? "" : "s", 1e6 * f->each, accuracy,
                   1e3 * (f->fixed + f->count * f->each), f->floor);
    claim_timed(c, "");
    outcome_number(o, f->count, "iterations_%s", d->name);
    outcome_number(o, f->held, "iterations_held_%s", d->name);
    outcome_number(o, f->each, "seconds_each_%s", d->name);
    outcome_number(o, f->fixed, "seconds_fixed_%s", d->name);
    outcome_number(o, f->floor, "floor_%s", d->name);
}

static void claim_kinds(outcome *o, const bout *b)
{
    const double sap = b->other_kind[0] / b->found[SAP].floor, scd = b->other_kind[1] / b->found[SCD].floor;
    claim *c = outcome_claim(o, "kinds of constraints", "SAP, PBD hard; stable constrained dynamics, XPBD compliant");
    claim_measured(c, "from the exact step: sap hard %.1e, compliant %.1e m; scd compliant %.1e, hard %.1e m",
                   b->found[SAP].floor, b->other_kind[0], b->found[SCD].floor, b->other_kind[1]);
    claim_holds(
        c, sap < 1.5 && scd < 1.5 ? HOLDS_PARTLY : HOLDS_YES,
        "what the papers chose: with alpha or without it both systems take the other kind about as exactly, and "
        "PBD and XPBD are the same sweep");
}

static void table_claim_iterations(outcome *o, const found *f)
{
    char capacity[5][COUNT_SIZE];
    const bool many = f[PBD].count > 10 * f[SAP].count && f[XPBD].count > 10 * f[SAP].count;
    claim *c = outcome_claim(o, "iterations a frame", "one, medium (SAP), high (PBD, XPBD)");
    claim_measured(c, "scd %s, sap %s, pbd %s, xpbd %s; until threads hold to %.0e of their length: sap %d, pbd %s",
                   count_text(f[SCD].count, capacity[0]), count_text(f[SAP].count, capacity[1]),
                   count_text(f[PBD].count, capacity[2]), count_text(f[XPBD].count, capacity[3]), HELD, f[SAP].held,
                   f[PBD].held < 0 ? "more than 16384" : count_text(f[PBD].held, capacity[4]));
    claim_holds(c, many && f[SCD].count == 1 ? HOLDS_YES : HOLDS_PARTLY, "medium is few here");
}

static void table_claim_costs(outcome *o, const found *f)
{
    const double sap = f[SAP].each / f[PBD].each, scd = f[SCD].each / f[SAP].each;
    char remark[200];
    claim *c = outcome_claim(o, "cost of an iteration", "low (PBD, XPBD), medium (SAP), high (scd)");
    claim_measured(c, "pbd 1, xpbd %.2f, sap %.0f, scd %.0f", f[XPBD].each / f[PBD].each, sap, scd * sap);
    snprintf(remark, sizeof remark,
             "%s with the words. scd's matrix has the blocks of geometric stiffness, sap's the masses alone",
             sap > 3 && scd > 1.2 ? "agrees" : "does not agree");
    claim_timed(c, remark);
}

/* Reports the cost of a step to the common accuracy. The slides do not give the product of iterations and cost. */
static void claim_steps(outcome *o, const found *f)
{
    claim *c = outcome_claim(o, "cost of the step to that accuracy", "not said");
    double seconds[METHODS];
    for (int m = 0; m < METHODS; m++)
        seconds[m] = 1e3 * (f[m].fixed + f[m].count * f[m].each);
    claim_measured(c, "sap %.2f, pbd %.2f, scd %.2f, xpbd %.2f ms", seconds[SAP], seconds[PBD], seconds[SCD],
                   seconds[XPBD]);
    claim_timed(c, "");
}

/* Draws the distances from the exact step over doubled iterations; curves of solvers of linear systems end early. */
static void table_draw(bout *b)
{
    figure *f = outcome_figure(b->o, "distance", "One step of a net: distance from the exact one", "iterations", "m");
    f->log_x = f->log_y = f->distinct = true;
    for (int m = 0; m < METHODS; m++) {
        const int count = m == SCD ? 1 : m == SAP ? 4 : CURVE;
        if (!figure_series(f, methods[m].name, methods[m].kind, m, count))
            continue;
        series *curve = &f->series[f->series_count - 1];
        for (int i = 0; i < count; i++) {
            curve->x[i] = 1 << i;
            curve->y[i] = left_after(b, m, methods[m].hard, 1 << i, false);
        }
    }
}

void experiment_table(const setting *s, outcome *o)
{
    bout b = {.s = s, .o = o, .n = s->quick ? 9 : 21};
    double accuracy = NAN;
    snprintf(o->setup, sizeof o->setup, "a net of %d x %d particles hung from two corners, one step of 10 ms", b.n,
             b.n);
    bool good = let_fall(b.n, &b.scenes[1], o);
    b.scenes[0] = b.scenes[1];
    b.scenes[0].hard = false;
    good = good && find_truth(&b) && find_counts(&b, &accuracy);
    if (good) {
        for (int m = 0; m < METHODS; m++)
            table_claim_row(o, m, &b.found[m], accuracy);
        claim_kinds(o, &b);
        table_claim_iterations(o, b.found);
        table_claim_costs(o, b.found);
        claim_steps(o, b.found);
        table_draw(&b);
    }
    trials_release(b.truth, 2);
    for (int k = 0; k < 2; k++) {
        free(b.scenes[1].q[k]);
        free(b.scenes[1].v[k]);
    }
}
