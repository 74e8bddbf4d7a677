/* SPDX-License-Identifier: MIT
 *
 * trampoline.c: an inextensible sheet on springs that only pull, and on it two rigid blocks joined by a hinge with
 * limits, in one world (Tournier, Nesme, Gilles, Faure 2015, fig 1; slides): stable constrained dynamics with and
 * without geometric stiffness against the exact steps of primal-dual.
 *
 * The sheet is n x n particles with hard threads in both directions; its rim hangs on springs k/2 L (l/L - s)^2 without
 * energy below s L. Under tension T a thread of length a between particles of mass m vibrates sideways with up to
 * omega^2 = 8 T / (m a). Without geometric stiffness this motion is explicit and bounded only for h omega < 2
 * (geometric.c).
 *
 * Solvers of constraint systems do not support contact: stiff weak constraints attach the blocks to the particles of
 * the sheet below them, so the blocks cannot leave it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"

#define STEP  1e-2 /* time step of the trampoline, in s */
#define SIDE  2.0  /* side length of the sheet, in m */
#define REACH 0.3  /* length of a spring at the rim, in m */
#define BLOCK 0.3  /* side length of a block, in m */
#define SPEED 3.0  /* initial downward speed of the blocks, in m/s */

enum {
    N_MAX = 13,
    VERTEX_MAX = N_MAX * N_MAX + 4 * N_MAX,
    EDGE_MAX = 2 * N_MAX * (N_MAX - 1) + 4 * N_MAX,
    STEP_MAX = 1500,
    WITH = 0,
    WITHOUT,
    EXACT,
    KEPT,
    VARIANTS
};

/* Springs of the trampoline that are taut or slack when the sheet is flat. */
typedef struct springs {
    const char *name;
    /* Stiffness of a spring in N; stretch s below which it has no energy. */
    double stiffness, maximum;
} springs;

static const springs kinds[2] = {{"taut", 2000, 0.8}, {"slack", 20000, 1.02}};
static const char *const names[VARIANTS] = {"scd with", "scd without", "primal-dual", "scd exact"};
/* Keywords of the solver parameter `geometric` for the variants. */
static const char *const words[VARIANTS] = {[WITH] = "on", [WITHOUT] = "off", [KEPT] = "exact"};

typedef struct bounce {
    int way;
    const springs *kind;
    int32_t n, threads, edge_count, steps;
    int32_t edges[2 * EDGE_MAX]; /* [2 * edge_count] particles of the threads, then of the springs */
    sinew_body sheet, blocks[2];
    double height[STEP_MAX + 1];       /* [step] mean height of the blocks, in m */
    double sheet_energy[STEP_MAX + 1]; /* [step] kinetic energy of the sheet, in J */
    double max;                        /* largest kinetic energy of the sheet after the first 0.1 s, in J */
    double stretch;                    /* largest violation |C| of hard constraints over a thread's length */
    double angle[2];                   /* smallest and largest angle of the hinge, in rad */
    int32_t slack;                     /* largest number of slack springs in one step */
    int64_t systems;
    /* Number of steps with an indefinite matrix; number of steps before the first non-finite one. */
    int32_t indefinite, finite;
} bounce;

/* ---- The world of the trampoline -------------------------------------------------------------- */

static void trampoline_join(bounce *b, int32_t i, int32_t j)
{
    b->edges[2 * b->edge_count] = i;
    b->edges[2 * b->edge_count++ + 1] = j;
}

static sinew_mesh *sheet_mesh(bounce *b, sinew_error *error)
{
    static const int out[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    sinew_real X[3 * VERTEX_MAX] = {0};
    const int32_t n = b->n;
    for (int32_t i = 0; i < n * n; i++) {
        X[3 * i] = (sinew_real)(SIDE * (i % n) / (n - 1) - SIDE / 2);
        X[3 * i + 2] = (sinew_real)(SIDE * (i / n) / (n - 1) - SIDE / 2);
        if (i % n + 1 < n)
            trampoline_join(b, i, i + 1);
        if (i / n + 1 < n)
            trampoline_join(b, i, i + n);
    }
    b->threads = b->edge_count;
    for (int32_t k = 0; k < 4 * n; k++) {
        const int32_t j = k / 4, rim[4] = {j, n * (n - 1) + j, j * n, j * n + n - 1}, at = n * n + k;
        X[3 * at] = X[3 * rim[k % 4]] + (sinew_real)(REACH * out[k % 4][0]);
        X[3 * at + 2] = X[3 * rim[k % 4] + 2] + (sinew_real)(REACH * out[k % 4][1]);
        trampoline_join(b, rim[k % 4], at);
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = n * n + 4 * n;
    def.positions = X;
    def.edge_count = b->edge_count;
    def.edges = b->edges;
    return sinew_mesh_create(&def, error);
}

static bool trampoline_add_sheet(bounce *b, sinew_world *world, sinew_error *error)
{
    sinew_real masses[VERTEX_MAX];
    int32_t held[4 * N_MAX];
    for (int32_t i = 0; i < VERTEX_MAX; i++)
        masses[i] = (sinew_real)(2.0 / (b->n * b->n));
    for (int32_t i = 0; i < 4 * b->n; i++)
        held[i] = b->n * b->n + i;
    sinew_mesh *mesh = sheet_mesh(b, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    b->sheet = mesh ? sinew_world_add_body(world, &body, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    sinew_energy_def thread = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    sinew_pin_def pins = sinew_default_pin_def();
    thread.body = spring.body = pins.body = b->sheet;
    thread.hard = true;
    thread.elements = b->edges;
    thread.element_count = b->threads;
    spring.elements = b->edges + 2 * b->threads;
    spring.element_count = b->edge_count - b->threads;
    pins.vertices = held;
    pins.vertex_count = 4 * b->n;
    return b->sheet.index >= 0 && sinew_energy_def_set(&spring, "stiffness", b->kind->stiffness, error) == SINEW_OK &&
           sinew_energy_def_set(&spring, "minimum", 0, error) == SINEW_OK &&
           sinew_energy_def_set(&spring, "maximum", b->kind->maximum, error) == SINEW_OK &&
           sinew_world_add_energy(world, &thread, error).index >= 0 &&
           sinew_world_add_energy(world, &spring, error).index >= 0 &&
           sinew_world_add_pins(world, &pins, error).index >= 0;
}

/* Creates the mesh of a cube that stands on the sheet, centred at x (m). */
static sinew_mesh *block_mesh(double x, sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = 2;
        box.size[c] = (sinew_real)BLOCK;
        box.origin[c] = (sinew_real)(c == 0 ? x - BLOCK / 2 : c == 1 ? 0 : -BLOCK / 2);
    }
    return sinew_mesh_box(&box, error);
}

static bool trampoline_add_block(bounce *b, int k, sinew_world *world, sinew_error *error)
{
    sinew_body_def body = sinew_default_body_def();
    sinew_mesh *mesh = block_mesh(k == 0 ? -0.2 : 0.2, error);
    body.mesh = mesh;
    body.density = (sinew_real)((k == 0 ? 20 : 10) / (BLOCK * BLOCK * BLOCK));
    b->blocks[k] = mesh ? sinew_world_add_rigid(world, &body, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    if (b->blocks[k].index < 0)
        return false;
    sinew_real v[12] = {0};
    for (int a = 0; a < 4; a++)
        v[3 * a + 1] = (sinew_real)-SPEED;
    sinew_world_set_velocities(world, sinew_body_first_particle(world, b->blocks[k]), 4, v);
    sinew_attach_def feet = sinew_default_attach_def();
    feet.from = b->sheet;
    feet.to = b->blocks[k];
    feet.distance = 1e-3;
    return sinew_energy_def_set(&feet.energy, "normal_stiffness", 2e4, error) == SINEW_OK &&
           sinew_energy_def_set(&feet.energy, "tangent_stiffness", 2e4, error) == SINEW_OK &&
           sinew_world_attach_within(world, &feet, error).index >= 0;
}

/* Adds a hinge about z between the two blocks, or the limits of the hinge. */
static bool add_hinge(const bounce *b, sinew_world *world, sinew_energy_kind kind, sinew_error *error)
{
    int32_t frames[8];
    for (int a = 0; a < 8; a++)
        frames[a] = sinew_body_first_particle(world, b->blocks[a / 4]) + a % 4;
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body.index = -1;
    def.element_count = 1;
    def.elements = frames;
    def.hard = true;
    const bool limits = kind == SINEW_ENERGY_JOINT_LIMIT;
    return sinew_energy_def_set(&def, "point_y", BLOCK / 2, error) == SINEW_OK &&
           sinew_energy_def_set_keyword(&def, "type", limits ? "angle" : "hinge", error) == SINEW_OK &&
           (!limits || (sinew_energy_def_set(&def, "low", -0.1, error) == SINEW_OK &&
                        sinew_energy_def_set(&def, "high", 0.1, error) == SINEW_OK)) &&
           sinew_world_add_energy(world, &def, error).index >= 0;
}

static sinew_world *make_trampoline(bounce *b, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(b->way == EXACT ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_SCD);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    if (sinew_solver_def_set_keyword(&def.solver, "constraints", "hard", error) != SINEW_OK ||
        (words[b->way] && sinew_solver_def_set_keyword(&def.solver, "geometric", words[b->way], error) != SINEW_OK))
        return NULL;
    sinew_world *world = sinew_world_create(&def, error);
    if (world && (!trampoline_add_sheet(b, world, error) || !trampoline_add_block(b, 0, world, error) ||
                  !trampoline_add_block(b, 1, world, error) || !add_hinge(b, world, SINEW_ENERGY_JOINT, error) ||
                  !add_hinge(b, world, SINEW_ENERGY_JOINT_LIMIT, error))) {
        sinew_world_destroy(world);
        world = NULL;
    }
    return world;
}

/* ---- Measures of the trampoline --------------------------------------------------------------- */

static double trampoline_distance(const sinew_real *q, const int32_t *edge)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)q[3 * edge[1] + c] - (double)q[3 * edge[0] + c];
        sum += d * d;
    }
    return sqrt(sum);
}

static int32_t slack_springs(const bounce *b, const sinew_real *q)
{
    int32_t count = 0;
    for (int32_t e = b->threads; e < b->edge_count; e++)
        count += trampoline_distance(q, b->edges + 2 * e) < REACH * b->kind->maximum;
    return count;
}

/* Computes an axis fixed to block k; adds the block's contribution of the mean height, weighted by mass, to *height. */
static void block_axis(const bounce *b, int k, const sinew_world *world, double axis[3], double *height)
{
    sinew_real q[12];
    sinew_world_get_positions(world, sinew_body_first_particle(world, b->blocks[k]), 4, q);
    for (int i = 0; i < 3; i++)
        axis[i] = (double)q[i] + (double)q[3 + i] - (double)q[6 + i] - (double)q[9 + i];
    for (int a = 0; a < 4; a++)
        *height += (k == 0 ? 2.0 : 1.0) / 3 * ((double)q[3 * a + 1] - BLOCK / 2) / 4;
}

/* Angle of the hinge in rad from the configuration side by side; both blocks have the same shape. */
static double hinge_turn(const bounce *b, const sinew_world *world, double *height)
{
    double a[3], d[3], dot = 0, cross[3], square = 0;
    block_axis(b, 0, world, a, height);
    block_axis(b, 1, world, d, height);
    for (int i = 0; i < 3; i++) {
        cross[i] = a[(i + 1) % 3] * d[(i + 2) % 3] - a[(i + 2) % 3] * d[(i + 1) % 3];
        dot += a[i] * d[i];
        square += cross[i] * cross[i];
    }
    return copysign(atan2(sqrt(square), dot), cross[2]);
}

static void trampoline_measure(bounce *b, int32_t step, const sinew_world *world)
{
    sinew_real q[3 * VERTEX_MAX], v[3 * VERTEX_MAX];
    const int32_t count = b->n * b->n + 4 * b->n;
    double height = 0, energy = 0;
    sinew_world_get_positions(world, 0, count, q);
    sinew_world_get_velocities(world, 0, count, v);
    for (int32_t i = 0; i < 3 * b->n * b->n; i++)
        energy += (double)v[i] * (double)v[i] / (b->n * b->n);
    const double turn = hinge_turn(b, world, &height);
    const int32_t slack = slack_springs(b, q);
    b->slack = slack > b->slack ? slack : b->slack;
    b->angle[0] = fmin(b->angle[0], turn);
    b->angle[1] = fmax(b->angle[1], turn);
    b->height[step] = height;
    b->sheet_energy[step] = energy;
    if (step * STEP > 0.1)
        b->max = fmax(b->max, energy);
}

static bool bounce_run(bounce *b, outcome *o)
{
    sinew_error error = {0};
    sinew_step_result result;
    sinew_world *world = make_trampoline(b, &error);
    if (!world)
        return chain_fail(o, &error);
    trampoline_measure(b, 0, world);
    for (int32_t i = 1; i <= b->steps; i++) {
        const uint32_t bits = sinew_world_step(world, &result);
        if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            break;
        b->finite = i;
        b->systems += result.linear_iterations;
        b->indefinite += (bits & SINEW_STEP_INDEFINITE) != 0;
        b->stretch = fmax(b->stretch, result.violation * (b->n - 1) / SIDE);
        trampoline_measure(b, i, world);
    }
    sinew_world_destroy(world);
    return true;
}

/* ---- Claims about the trampoline -------------------------------------------------------------- */

/* Largest difference in m between the block heights of two runs. */
static double trampoline_apart(const bounce *a, const bounce *b)
{
    double max = 0;
    for (int32_t i = 0; i <= a->steps; i++)
        max = fmax(max, fabs(a->height[i] - b->height[i]));
    return max;
}

static void trampoline_claim_bounce(outcome *o, const bounce *runs)
{
    const bounce *with = &runs[WITH], *without = &runs[WITHOUT], *exact = &runs[EXACT];
    char what[120];
    const int32_t last = with->steps;
    snprintf(what, sizeof what, "springs %s: calm with geometric stiffness", with->kind->name);
    claim *c = outcome_claim(o, what, "stable at large steps, one linear system each");
    claim_measured(c,
                   "sheet moves with at most %.2g J, %.1e J after %g s; %.1f mm from primal-dual (%.2g, %.1e J); %.2f, "
                   "%.2f systems",
                   with->max, with->sheet_energy[last], last * STEP, 1e3 * trampoline_apart(with, exact), exact->max,
                   exact->sheet_energy[last], (double)with->systems / last, (double)exact->systems / last);
    claim_holds(c, with->max < 3 * exact->max && with->sheet_energy[last] < 0.5 * with->max ? HOLDS_YES : HOLDS_NO,
                "threads within %.1g of their length, primal-dual's within %.0e", with->stretch, exact->stretch);
    snprintf(what, sizeof what, "springs %s: without it the sheet flutters", with->kind->name);
    c = outcome_claim(o, what, "transverse vibrations");
    claim_measured(c,
                   "sheet moves with up to %.3g J, %.1e J after %g s; threads off by up to %.2g of their length; "
                   "blocks %.0f mm off",
                   without->max, without->sheet_energy[without->finite], without->finite * STEP, without->stretch,
                   1e3 * trampoline_apart(without, exact));
    claim_holds(c, without->max > 10 * exact->max ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, with->max / exact->max, "with_%s", with->kind->name);
    outcome_number(o, without->max / exact->max, "without_%s", with->kind->name);
    outcome_number(o, trampoline_apart(with, exact), "apart_%s", with->kind->name);
}

/* Judges threads under compression, whose geometric stiffness is negative. */
static void claim_compression(outcome *o, const bounce *runs)
{
    const bounce *on = &runs[VARIANTS + WITH], *kept = &runs[VARIANTS + KEPT], *exact = &runs[VARIANTS + EXACT];
    claim *c = outcome_claim(o, "with the stiffness of threads under compression, too (geometric = exact)",
                             "the sum over all constraints, whatever their sign");
    claim_measured(
        c,
        "taut: %.2f mm from primal-dual, as without it (%.2f mm); slack: %.0f mm (%.0f mm), shifted in %d steps (%d)",
        1e3 * trampoline_apart(&runs[KEPT], &runs[EXACT]), 1e3 * trampoline_apart(&runs[WITH], &runs[EXACT]),
        1e3 * trampoline_apart(kept, exact), 1e3 * trampoline_apart(on, exact), kept->indefinite, on->indefinite);
    const bool good = kept->indefinite == 0 && trampoline_apart(kept, exact) <= 1.05 * trampoline_apart(on, exact);
    claim_holds(c, good ? HOLDS_YES : HOLDS_NO, "%s",
                good ? ""
                     : "stiffness across threads that push is negative; where the matrix is then not definite it is "
                       "shifted, which leads farther off than to leave that stiffness out");
    outcome_number(o, trampoline_apart(kept, exact), "apart_kept");
    outcome_number(o, kept->indefinite, "kept_indefinite");
    outcome_number(o, on->indefinite, "indefinite");
}

static void claim_components(outcome *o, const bounce *runs)
{
    const bounce *scd = &runs[VARIANTS + WITH], *exact = &runs[VARIANTS + EXACT];
    claim *c = outcome_claim(o, "springs only pull, and the blocks' hinge has limits of 0.1 rad",
                             "unilateral springs and rigid bodies beside the sheet");
    claim_measured(
        c, "at most %d of %d springs are slack; hinge from %.4f to %.4f rad, primal-dual's from %.4f to %.4f",
        scd->slack, scd->edge_count - scd->threads, scd->angle[0], scd->angle[1], exact->angle[0], exact->angle[1]);
    const double max = fmax(-scd->angle[0], scd->angle[1]), min = fmax(-exact->angle[0], exact->angle[1]);
    claim_holds(c, scd->slack > 0 && min < 0.1001 ? max < 0.1001 ? HOLDS_YES : HOLDS_PARTLY : HOLDS_NO, "%s",
                max < 0.1001 ? ""
                             : "scd decides which limits act by the motion without constraints, as kkt, and corrects a "
                               "limit that was passed in the steps after it");
    outcome_number(o, scd->slack, "slack");
    outcome_number(o, min, "hinge_exact");
    outcome_number(o, max, "hinge_scd");
}

static void trampoline_draw(outcome *o, const char *name, const bounce *runs, bool energy)
{
    figure *f = outcome_figure(
        o, name, energy ? "Motion of a trampoline's sheet, springs taut, h = 10 ms" : "Height of the blocks on it", "s",
        energy ? "J" : "m");
    f->distinct = true;
    f->log_y = energy;
    for (int k = 0; k < VARIANTS; k++) {
        const bounce *b = &runs[k];
        const int32_t count = b->finite < 300 ? b->finite : 300;
        if (!figure_series(f, names[k], k == EXACT ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_SCD, k, count))
            continue;
        series *s = &f->series[f->series_count - 1];
        for (int32_t i = 0; i < count; i++) {
            s->x[i] = (i + 1) * STEP;
            s->y[i] = energy ? fmax(b->sheet_energy[i + 1], 1e-6) : b->height[i + 1];
        }
    }
}

void experiment_trampoline(const setting *s, outcome *o)
{
    bounce *runs = calloc(2 * VARIANTS, sizeof *runs);
    bool good = runs != NULL;
    const int32_t n = s->quick ? 9 : N_MAX;
    snprintf(o->setup, sizeof o->setup,
             "a sheet of %d x %d particles, 2 kg, on %d springs; blocks of 20 and 10 kg hit it with 3 m/s; h = 10 ms",
             n, n, 4 * n);
    for (int k = 0; k < 2 * VARIANTS && good; k++) {
        runs[k] =
            (bounce){.way = k % VARIANTS, .kind = &kinds[k / VARIANTS], .n = n, .steps = s->quick ? 150 : STEP_MAX};
        good = bounce_run(&runs[k], o);
        if (s->progress)
            s->progress(s->context, k + 1, 2 * VARIANTS, "trampoline");
    }
    if (good) {
        trampoline_claim_bounce(o, runs);
        trampoline_claim_bounce(o, runs + VARIANTS);
        claim_compression(o, runs);
        claim_components(o, runs);
        trampoline_draw(o, "sheet", runs, true);
        trampoline_draw(o, "height", runs, false);
    }
    free(runs);
}
