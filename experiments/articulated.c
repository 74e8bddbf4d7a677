/* SPDX-License-Identifier: MIT
 *
 * articulated.c: rigid arms on ball joints under tension, and a knee of rigid bones and stiff ligaments that only pull,
 * by stable constrained dynamics with and without geometric stiffness (Tournier, Nesme, Gilles, Faure 2015, fig 1;
 * slides).
 *
 * Ten arms of length l, mass m and moment I hang below each other; a force pulls at the middle of the last. With y at
 * the joints the motion sideways is M y'' = -K y: an arm adds m/4 + I/l^2 to the diagonal of M at both of its ends and
 * m/4 - I/l^2 between them, T/l and -T/l to K. T is the pull plus the weight below the arm's middle; the last arm has
 * half of the pull. taut.h gives the growth rates.
 *
 * The knee: a pinned thigh, and a shin that hangs below it and is pulled. Two crossed ligaments in each of two planes
 * and one at each side only pull; two struts between the bones only push. Stiff weak constraints join bones and cords.
 * An initial rotation kicks the shin.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "taut.h"

#define STEP    1e-2 /* time step of the runs, in s */
#define GRAVITY 9.81
#define ARM     0.1  /* length of an arm, in m */
#define WIDTH   0.01 /* width of an arm, in m */
#define DENSITY 1000 /* density of arms and bones, in kg/m3 */
#define PULL    1000 /* force that pulls the shin, which weighs 3.2 kg, in N */
#define TURN    15   /* initial angular velocity of the shin, in rad/s */

enum {
    ARMS = 10,
    STEPS = 400,  /* number of steps of a run of the arms */
    SWINGS = 300, /* number of steps of a run of the knee */
    LIGAMENTS = 6,
    CORDS = LIGAMENTS + 2,
    WITH = 0,
    WITHOUT,
    EXACT,
    VARIANTS
};

static const char *const names[VARIANTS] = {"scd with", "scd without", "primal-dual"};

static sinew_world *make_world_of(int way, const char *rows, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = (sinew_real)-GRAVITY;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(way == EXACT ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_SCD);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    if (sinew_solver_def_set_keyword(&def.solver, "constraints", rows, error) != SINEW_OK ||
        (way == WITHOUT && sinew_solver_def_set_keyword(&def.solver, "geometric", "off", error) != SINEW_OK))
        return NULL;
    return sinew_world_create(&def, error);
}

/* Adds a rigid box from `low` to `high` (m); `pinned` fixes the box. index -1 on failure. */
static sinew_body articulated_add_box(sinew_world *world, const double low[3], const double high[3], bool pinned,
                                      sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = 2;
        box.origin[c] = (sinew_real)low[c];
        box.size[c] = (sinew_real)(high[c] - low[c]);
    }
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = DENSITY;
    sinew_body body = mesh ? sinew_world_add_rigid(world, &def, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    if (body.index >= 0 && pinned) {
        sinew_pin_def pins = sinew_default_pin_def();
        pins.body = body;
        pins.vertices = (const int32_t[4]){0, 1, 2, 3};
        pins.vertex_count = 4;
        body = sinew_world_add_pins(world, &pins, error).index >= 0 ? body : (sinew_body){.index = -1};
    }
    return body;
}

/* ---- Arms on ball joints ---------------------------------------------------------------------- */

typedef struct arms {
    double ratio; /* force at the last arm over the weight of all arms */
    bool geometric;
    double theory, measured;
    double energy[STEPS + 1]; /* [step] energy of the sideways motion of the arms, in J */
    double worst;             /* largest energy ratio of successive steps, above the round-off floor */
    int32_t finite;           /* number of steps before the first non-finite one */
    int64_t systems;
    sinew_body bodies[ARMS + 1]; /* rigid bodies of the arms; bodies[0] is pinned */
} arms;

static double arm_mass(void)
{
    return DENSITY * ARM * WIDTH * WIDTH;
}

/* Tension in N that resists the rotation of arm i, counted from 0. */
static double arm_tension(const arms *a, int i)
{
    const double weight = arm_mass() * GRAVITY, pull = a->ratio * ARMS * weight;
    return (i == ARMS - 1 ? pull / 2 : pull) + (ARMS - i - 0.5) * weight;
}

static void articulated_foretell(arms *a)
{
    const double m = arm_mass(), I = m * (ARM * ARM + WIDTH * WIDTH) / 12;
    double K[ARMS] = {0}, K_1[ARMS], M[ARMS] = {0}, M_1[ARMS];
    for (int i = 0; i < ARMS; i++) {
        const double T = arm_tension(a, i);
        K[i] += T / ARM;
        M[i] += m / 4 + I / (ARM * ARM);
        if (i > 0) { /* joint i - 1 is the upper end of arm i; the upper end of arm 0 is pinned */
            K[i - 1] += T / ARM;
            M[i - 1] += m / 4 + I / (ARM * ARM);
            K_1[i - 1] = -T / ARM;
            M_1[i - 1] = m / 4 - I / (ARM * ARM);
        }
    }
    const taut_system system = {ARMS, K, K_1, M, M_1};
    a->theory = taut_factor(STEP * taut_mode(&system, a->geometric ? 0 : ARMS - 1), a->geometric);
}

static bool join_arms(sinew_world *world, sinew_body above, sinew_body below, double y, sinew_error *error)
{
    int32_t frames[8];
    for (int k = 0; k < 8; k++)
        frames[k] = sinew_body_first_particle(world, k < 4 ? above : below) + k % 4;
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_JOINT);
    def.body.index = -1;
    def.element_count = 1;
    def.elements = frames;
    def.hard = true;
    return sinew_energy_def_set_keyword(&def, "type", "ball", error) == SINEW_OK &&
           sinew_energy_def_set(&def, "point_y", y, error) == SINEW_OK &&
           sinew_world_add_energy(world, &def, error).index >= 0;
}

static bool fill_arms(arms *a, sinew_world *world, sinew_error *error)
{
    const sinew_real pull = (sinew_real)(-a->ratio * ARMS * arm_mass() * GRAVITY / 4);
    for (int i = 0; i <= ARMS; i++) {
        const double low[3] = {-WIDTH / 2, -i * ARM, -WIDTH / 2}, high[3] = {WIDTH / 2, (1 - i) * ARM, WIDTH / 2};
        a->bodies[i] = articulated_add_box(world, low, high, i == 0, error);
        if (a->bodies[i].index < 0 ||
            (i > 0 && !join_arms(world, a->bodies[i - 1], a->bodies[i], (1 - i) * ARM, error)))
            return false;
    }
    const sinew_real f[12] = {0, pull, 0, 0, pull, 0, 0, pull, 0, 0, pull, 0};
    return sinew_world_set_forces(world, sinew_body_first_particle(world, a->bodies[ARMS]), 4, f) == SINEW_OK;
}

/* Gives the joints of the arms the sideways `speed` (m/s); arms rotate with their joints. Without geometric
 * stiffness neighbouring joints move in opposite directions, which excites the fastest mode. */
static void articulated_knock(const arms *a, sinew_world *world, double speed)
{
    for (int i = 1; i <= ARMS; i++) {
        const double u[2] = {i == 1                  ? 0
                             : a->geometric || i % 2 ? speed
                                                     : -speed,
                             a->geometric || i % 2 == 0 ? speed : -speed};
        const double turn = (u[1] - u[0]) / ARM, middle = (0.5 - i) * ARM;
        const int32_t first = sinew_body_first_particle(world, a->bodies[i]);
        sinew_real q[12], v[12];
        sinew_world_get_positions(world, first, 4, q);
        for (int k = 0; k < 4; k++) {
            v[3 * k] = (sinew_real)((u[0] + u[1]) / 2 - turn * ((double)q[3 * k + 1] - middle));
            v[3 * k + 1] = (sinew_real)(turn * (double)q[3 * k]);
            v[3 * k + 2] = 0;
        }
        sinew_world_set_velocities(world, first, 4, v);
    }
}

/* Energy in J of the arms' sideways motion: kinetic energy, plus the work of tension against the slopes of the arms.
 * The slope is the least-squares fit through the four particles of an arm. */
static double articulated_sideways_energy(const arms *a, const sinew_world *world)
{
    double sum = 0;
    for (int i = 1; i <= ARMS; i++) {
        const int32_t first = sinew_body_first_particle(world, a->bodies[i]);
        sinew_real q[12], v[12];
        sinew_world_get_positions(world, first, 4, q);
        sinew_world_get_velocities(world, first, 4, v);
        for (int c = 0; c < 3; c += 2) {
            double along = 0, across = 0;
            for (int k = 0; k < 4; k++) {
                const double y = (double)q[3 * k + 1] - (0.5 - i) * ARM;
                along += y * y;
                across += y * (double)q[3 * k + c];
                sum += arm_mass() / 8 * (double)v[3 * k + c] * (double)v[3 * k + c];
            }
            sum += 0.5 * arm_tension(a, i - 1) * ARM * pow(across / along, 2);
        }
    }
    return sum;
}

static bool arms_run(arms *a, outcome *o)
{
    sinew_error error = {0};
    sinew_step_result result;
    sinew_world *world = make_world_of(a->geometric ? WITH : WITHOUT, "hard", &error);
    if (!world || !fill_arms(a, world, &error)) {
        sinew_world_destroy(world);
        return chain_fail(o, &error);
    }
    articulated_foretell(a);
    sinew_world_step(world, NULL);
    const bool single = sizeof(sinew_real) == 4;
    articulated_knock(a, world, a->geometric ? 1e-3 : single ? 1e-6 : 1e-12);
    a->energy[0] = articulated_sideways_energy(a, world);
    /* Round-off floor of the energy: the sideways positions and velocities of particles off the axis are rounded. */
    const double noise = (single ? 1e-11 : 1e-26) * a->ratio;
    for (int i = 1; i <= STEPS; i++) {
        if (sinew_world_step(world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
            break;
        a->finite = i;
        a->systems += result.linear_iterations;
        a->energy[i] = articulated_sideways_energy(a, world);
        if (a->energy[i - 1] > noise)
            a->worst = fmax(a->worst, a->energy[i] / a->energy[i - 1]);
    }
    a->measured = taut_fit(a->energy, a->finite, a->geometric ? noise : 0, 1e-4 * arm_tension(a, 0) * ARM);
    sinew_world_destroy(world);
    return true;
}

static bool claim_arms(outcome *o)
{
    static const double ratios[3] = {10, 100, 1e4};
    /* Number of excitations; in single precision the last one would be round-off. */
    const int count = sizeof(sinew_real) == 4 ? 2 : 3;
    for (int k = 0; k < count; k++) {
        arms with = {.ratio = ratios[k], .geometric = true}, without = {.ratio = ratios[k]};
        if (!arms_run(&with, o) || !arms_run(&without, o))
            return false;
        char what[120], published[120];
        snprintf(what, sizeof what, "ten rigid arms under %g times their weight, knocked sideways", ratios[k]);
        snprintf(published, sizeof published, "calm with, grows without: theory %.5f and %.4g x a step", with.theory,
                 without.theory);
        claim *c = outcome_claim(o, what, published);
        claim_measured(c, "%.5f (energy at most x %.3f in a step) and %.4g x a step; %.2f systems a step",
                       with.measured, with.worst, without.measured, (double)with.systems / with.finite);
        const double off[2] = {fabs(with.measured / with.theory - 1), fabs(without.measured / without.theory - 1)};
        claim_holds(c, with.worst < 1 && off[0] < 0.01 && off[1] < 0.2 ? HOLDS_YES : HOLDS_NO, "%s",
                    off[1] < 0.02 ? "" : "from round-off to large slopes there are few steps to tell a rate from");
        outcome_number(o, off[0], "arms_with_%g", ratios[k]);
        outcome_number(o, off[1], "arms_without_%g", ratios[k]);
        outcome_number(o, with.worst, "arms_worst_%g", ratios[k]);
    }
    return true;
}

/* ---- The knee of bones and ligaments ---------------------------------------------------------- */

/* End points of the cords on the thigh and on the shin below it, in m: six ligaments, then two struts. */
static const double cords[CORDS][2][3] = {
    {{0.03, 0.02, 0.03}, {-0.03, -0.02, 0.03}},   {{-0.03, 0.02, 0.03}, {0.03, -0.02, 0.03}},
    {{0.03, 0.02, -0.03}, {-0.03, -0.02, -0.03}}, {{-0.03, 0.02, -0.03}, {0.03, -0.02, -0.03}},
    {{0, 0.06, 0.05}, {0, -0.06, 0.05}},          {{0, 0.06, -0.05}, {0, -0.06, -0.05}},
    {{0, 0.02, 0.02}, {0, -0.02, 0.02}},          {{0, 0.02, -0.02}, {0, -0.02, -0.02}},
};

typedef struct knee {
    int way;
    sinew_body shin;
    double angle[SWINGS + 1];  /* [step] angle of the shin from the thigh's axis, in rad */
    double motion[SWINGS + 1]; /* [step] kinetic energy of the knee, in J */
    int32_t slack;             /* largest number of slack ligaments in one step */
    int32_t finite;            /* number of steps of the knee before the first non-finite one */
    int64_t systems;
} knee;

/* Adds cords: edges that resist stretch beyond `maximum` and compression below `minimum` of their length. */
static bool add_cords(sinew_world *world, sinew_body body, int first, int count, double minimum, double maximum,
                      sinew_error *error)
{
    int32_t edges[2 * CORDS];
    for (int i = 0; i < 2 * count; i++)
        edges[i] = 2 * first + i;
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    def.body = body;
    def.element_count = count;
    def.elements = edges;
    return sinew_energy_def_set(&def, "stiffness", 2e6, error) == SINEW_OK &&
           sinew_energy_def_set(&def, "maximum", maximum, error) == SINEW_OK &&
           sinew_energy_def_set(&def, "minimum", minimum, error) == SINEW_OK &&
           sinew_world_add_energy(world, &def, error).index >= 0;
}

static bool hold_cords(sinew_world *world, sinew_body from, sinew_body to, sinew_error *error)
{
    sinew_attach_def def = sinew_default_attach_def();
    def.from = from;
    def.to = to;
    def.distance = 1e-3;
    return sinew_energy_def_set(&def.energy, "normal_stiffness", 1e8, error) == SINEW_OK &&
           sinew_energy_def_set(&def.energy, "tangent_stiffness", 1e8, error) == SINEW_OK &&
           sinew_world_attach_within(world, &def, error).index >= 0;
}

static bool fill_knee(knee *k, sinew_world *world, sinew_error *error)
{
    sinew_real X[6 * CORDS], masses[2 * CORDS];
    int32_t edges[2 * CORDS];
    for (int i = 0; i < 2 * CORDS; i++) {
        masses[i] = (sinew_real)0.005;
        edges[i] = i;
        for (int c = 0; c < 3; c++)
            X[3 * i + c] = (sinew_real)cords[i / 2][i % 2][c];
    }
    sinew_mesh_def shape = sinew_default_mesh_def();
    shape.vertex_count = 2 * CORDS;
    shape.positions = X;
    shape.edge_count = CORDS;
    shape.edges = edges;
    sinew_mesh *mesh = sinew_mesh_create(&shape, error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.masses = masses;
    const sinew_body body = mesh ? sinew_world_add_body(world, &def, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    const double low[2][3] = {{-0.05, 0.02, -0.05}, {-0.04, -0.42, -0.05}},
                 high[2][3] = {{0.05, 0.4, 0.05}, {0.04, -0.02, 0.05}};
    const sinew_body thigh = body.index >= 0 ? articulated_add_box(world, low[0], high[0], true, error) : body;
    k->shin = thigh.index >= 0 ? articulated_add_box(world, low[1], high[1], false, error) : thigh;
    return k->shin.index >= 0 && add_cords(world, body, 0, LIGAMENTS, 0, 1, error) &&
           add_cords(world, body, LIGAMENTS, CORDS - LIGAMENTS, 1, 1e6, error) &&
           hold_cords(world, body, thigh, error) && hold_cords(world, body, k->shin, error);
}

static void measure_knee(knee *k, int32_t step, sinew_world *world)
{
    sinew_real q[12], x[6 * CORDS];
    double middle[2] = {0, 0};
    int32_t slack = 0;
    sinew_measures m;
    sinew_world_get_positions(world, sinew_body_first_particle(world, k->shin), 4, q);
    for (int i = 0; i < 12; i++)
        if (i % 3 < 2)
            middle[i % 3] += (double)q[i] / 4;
    sinew_world_get_positions(world, 0, 2 * CORDS, x);
    for (int i = 0; i < LIGAMENTS; i++) {
        double now = 0, rest = 0;
        for (int c = 0; c < 3; c++) {
            now += pow((double)x[6 * i + 3 + c] - (double)x[6 * i + c], 2);
            rest += pow(cords[i][1][c] - cords[i][0][c], 2);
        }
        slack += now < rest;
    }
    sinew_world_measure(world, &m);
    k->slack = slack > k->slack ? slack : k->slack;
    k->angle[step] = atan2(middle[0], -middle[1]);
    k->motion[step] = m.kinetic;
}

/* Applies the force on the shin for two steps, which stretches the ligaments, then rotates the shin about the knee. */
static void pull_shin(const knee *k, sinew_world *world)
{
    const int32_t first = sinew_body_first_particle(world, k->shin);
    sinew_real q[12], f[12] = {0}, v[12] = {0};
    sinew_world_get_positions(world, first, 4, q);
    for (int a = 0; a < 4; a++)
        f[3 * a + 1] = (sinew_real)(-PULL / 4);
    sinew_world_set_forces(world, first, 4, f);
    sinew_world_step(world, NULL);
    sinew_world_step(world, NULL);
    for (int a = 0; a < 4; a++) {
        v[3 * a] = (sinew_real)(-TURN * (double)q[3 * a + 1]);
        v[3 * a + 1] = (sinew_real)(TURN * (double)q[3 * a]);
    }
    sinew_world_set_velocities(world, first, 4, v);
}

static bool knee_run(knee *k, outcome *o)
{
    sinew_error error = {0};
    sinew_step_result result;
    sinew_world *world = make_world_of(k->way, "hard", &error);
    if (!world || !fill_knee(k, world, &error)) {
        sinew_world_destroy(world);
        return chain_fail(o, &error);
    }
    pull_shin(k, world);
    measure_knee(k, 0, world);
    for (int32_t i = 1; i <= SWINGS; i++) {
        if (sinew_world_step(world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
            break;
        k->finite = i;
        k->systems += result.linear_iterations;
        measure_knee(k, i, world);
    }
    sinew_world_destroy(world);
    return true;
}

static bool claim_knee(outcome *o, knee *k)
{
    double off[2] = {0, 0}, max = 0;
    for (int i = 0; i < VARIANTS; i++) {
        k[i].way = i;
        if (!knee_run(&k[i], o))
            return false;
    }
    for (int32_t i = 0; i <= SWINGS; i++) {
        off[0] = fmax(off[0], fabs(k[WITH].angle[i] - k[EXACT].angle[i]));
        off[1] = fmax(off[1], fabs(k[WITHOUT].angle[i] - k[EXACT].angle[i]));
        max = fmax(max, fabs(k[EXACT].angle[i]));
    }
    claim *c = outcome_claim(o, "a knee of rigid bones and stiff ligaments that only pull, kicked under 1 kN",
                             "calm with geometric stiffness, one system a step");
    claim_measured(c,
                   "motion after 3 s: %.0e J with, %.0e J without, %.0e J primal-dual, which swings by %.2f rad; "
                   "others %.2f, %.2f rad "
                   "off; %d ligaments slack; %.2f, %.2f systems",
                   k[WITH].motion[SWINGS], k[WITHOUT].motion[SWINGS], k[EXACT].motion[SWINGS], max, off[0], off[1],
                   k[WITH].slack, (double)k[WITH].systems / SWINGS, (double)k[EXACT].systems / SWINGS);
    const bool calm = k[WITH].motion[SWINGS]<1e-6, apart = k[WITHOUT].motion[SWINGS]> 100 * k[WITH].motion[SWINGS];
    claim_holds(c, calm && apart && k[WITH].slack > 0 ? HOLDS_YES : HOLDS_PARTLY, "%s",
                "without, it rings on, but does not explode: ligaments are energies here, whose second derivatives "
                "hold their geometric stiffness; only bones are constraints");
    outcome_number(o, k[WITH].motion[SWINGS], "knee_with");
    outcome_number(o, k[WITHOUT].motion[SWINGS], "knee_without");
    outcome_number(o, k[WITH].slack, "knee_slack");
    return true;
}

static void draw_knee(outcome *o, const knee *k)
{
    figure *f = outcome_figure(o, "knee", "A knee, kicked while it is pulled; h = 10 ms", "s", "rad");
    f->distinct = true;
    for (int i = 0; i < VARIANTS; i++) {
        if (!figure_series(f, names[i], i == EXACT ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_SCD, i, 151))
            continue;
        series *s = &f->series[f->series_count - 1];
        for (int j = 0; j < 151; j++) {
            s->x[j] = j * STEP;
            s->y[j] = k[i].angle[j];
        }
    }
}

void experiment_articulated(const setting *s, outcome *o)
{
    knee *k = calloc(VARIANTS, sizeof *k);
    snprintf(o->setup, sizeof o->setup,
             "ten rigid arms of 10 cm on ball joints, pulled; a shin of 3.2 kg on six ligaments; h = 10 ms");
    if (k && claim_arms(o)) {
        if (s->progress)
            s->progress(s->context, 1, 2, "articulated");
        if (claim_knee(o, k))
            draw_knee(o, k);
    }
    free(k);
}
