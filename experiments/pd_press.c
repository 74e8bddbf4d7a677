/* SPDX-License-Identifier: MIT
 *
 * pd_press.c: PD section 7.2: balls are pressed between two planes until their elements degenerate, then released.
 *
 * Three balls of 0.2 m across in meshes of growing resolution, strain of 1e4 Pa, 1000 kg/m3, without gravity. The upper
 * plane moves down within 1.7 s to a twentieth of their height, stays for 0.5 s, moves up within 0.5 s, and the balls
 * oscillate with damping. Steps of 1/60 s. Contact is `augmented`, or `half_space`, which is that of PD, section 6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define STEP      (1.0 / 60) /* time step of the press, in s */
#define DIAMETER  0.2        /* diameter of the balls, in m */
#define PRESSED   0.05       /* final distance of the planes relative to the diameter of the balls */
#define THICKNESS 2e-3       /* contact thickness of balls and planes, in m */
#define PI        3.14159265358979323846

enum {
    AUGMENTED,
    HALF_SPACE,
    MODES,
    BALLS = 3,
    DOWN = 100, /* number of the step at which the upper plane is down */
    HELD = 130, /* number of the step at which the upper plane starts to move up */
    UP = 160,   /* number of the step at which the upper plane is up */
    STEPS = 360
};
static const char *const names[MODES] = {"augmented", "half_space"};

typedef struct run {
    int mode;
    int32_t iterations, segments[BALLS];
    int32_t tet_count, inverted; /* number of tets; largest number of inverted tets at the end of a step */
    double det_min;              /* smallest det F over all steps of the run */
    double elastic[STEPS];       /* [step] elastic energy of the balls, in J */
    double height;               /* height of the balls at the end of the compression, in m */
    double left;                 /* largest relative length error |l - L| / L of an edge at the end of the run */
    /* Largest rise of the elastic energy over two steps after the release, relative to its maximum. */
    double rise;
    touch_log log;
} run;

static bool add_planes(sinew_world *world, sinew_error *error)
{
    sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    plane.position[1] = (sinew_real)(-DIAMETER / 2 - 2 * THICKNESS);
    if (sinew_world_add_collider(world, &plane, error).index < 0)
        return false;
    const sinew_real way = (sinew_real)(-(1 - PRESSED) * DIAMETER - 2 * THICKNESS);
    const sinew_key path[4] = {{.time = 0},
                               {.time = (sinew_real)(DOWN * STEP), .translation = {0, way}},
                               {.time = (sinew_real)(HELD * STEP), .translation = {0, way}},
                               {.time = (sinew_real)(UP * STEP)}};
    const sinew_motion motion = {.key_count = 4, .keys = path};
    plane.position[1] = -plane.position[1];
    plane.rotation[0] = (sinew_real)PI;
    plane.motion = &motion;
    return sinew_world_add_collider(world, &plane, error).index >= 0;
}

static bool add_balls(sinew_world *world, run *r, sinew_error *error)
{
    bool good = true;
    for (int k = 0; good && k < BALLS; k++) {
        sinew_round_def round = sinew_default_round_def();
        round.radius = (sinew_real)(DIAMETER / 2);
        round.segments = r->segments[k];
        sinew_mesh *mesh = sinew_mesh_ball(&round, error);
        const touch_solid solid = {.mesh = mesh, .centre = {0.35 * (k - 1), 0, 0}, .density = 1000};
        good = mesh && touch_add_energy(world, touch_add_body(world, &solid, error), SINEW_ENERGY_STRAIN, error,
                                        "stiffness", 1e4, (char *)NULL);
        r->tet_count += mesh ? sinew_mesh_tet_count(mesh) : 0;
        sinew_mesh_destroy(mesh);
    }
    return good;
}

static sinew_world *press_build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = 0;
    def.damping = 3;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PD);
    def.solver.iterations = r->iterations;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = r->mode == HALF_SPACE ? SINEW_CONTACT_HALF_SPACE : SINEW_CONTACT_AUGMENTED;
    contact.penalty = (sinew_real)1e6;
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = (sinew_real)0.3;
    contact.max_detections = 40;
    if (world && add_balls(world, r, error) && add_planes(world, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Height in m from the lowest to the highest vertex of the balls. */
static double press_height_of(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    double low = HUGE_VAL, high = -HUGE_VAL;
    if (x)
        sinew_world_get_positions(world, 0, n, x);
    for (int32_t i = 0; x && i < n; i++) {
        low = fmin(low, (double)x[3 * i + 1]);
        high = fmax(high, (double)x[3 * i + 1]);
    }
    free(x);
    return high - low;
}

/* Largest relative length error |l - L| / L of all edges of a body. */
static double worst_edge(const sinew_world *world, sinew_body body)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    sinew_mesh *edges = sinew_mesh_skeleton(mesh, NULL);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    double worst = 0;
    if (x)
        sinew_world_get_positions(world, sinew_body_first_particle(world, body), n, x);
    for (int32_t e = 0; x && edges && e < sinew_mesh_edge_count(edges); e++) {
        const int32_t *v = sinew_mesh_edges(edges) + 2 * (size_t)e;
        const sinew_real *X = sinew_mesh_positions(mesh);
        double now = 0, rest = 0;
        for (int c = 0; c < 3; c++) {
            now += pow((double)x[3 * v[0] + c] - (double)x[3 * v[1] + c], 2);
            rest += pow((double)X[3 * v[0] + c] - (double)X[3 * v[1] + c], 2);
        }
        worst = fmax(worst, fabs(sqrt(now / rest) - 1));
    }
    free(x);
    sinew_mesh_destroy(edges);
    return worst;
}

static bool press_take_step(run *r, sinew_world *world, int32_t k, sinew_error *error)
{
    sinew_measures now;
    if (!touch_step(world, &r->log, error) || sinew_world_measure(world, &now) != SINEW_OK)
        return false;
    r->elastic[k] = now.elastic;
    r->inverted = now.inverted_count > r->inverted ? now.inverted_count : r->inverted;
    r->det_min = fmin(r->det_min, now.det_min);
    return true;
}

static void read_end(run *r, const sinew_world *world)
{
    double max = 0;
    for (int32_t k = 0; k < STEPS; k++)
        max = fmax(max, r->elastic[k]);
    for (int32_t k = UP + 2; k < STEPS; k++)
        r->rise = fmax(r->rise, (r->elastic[k] - r->elastic[k - 2]) / max);
    for (int32_t b = 0; b < BALLS; b++)
        r->left = fmax(r->left, worst_edge(world, sinew_world_body_at(world, b)));
}

static bool press_take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = press_build(r, error);
    bool good = world != NULL;
    char name[56];
    for (int32_t k = 0; good && k < STEPS; k++) {
        good = press_take_step(r, world, k, error);
        if (k + 1 == HELD)
            r->height = press_height_of(world);
        snprintf(name, sizeof name, "%s, %s", names[r->mode], k + 1 == HELD ? "pressed" : "let go");
        if (good && (k + 1 == HELD || k + 1 == STEPS))
            touch_picture(shapes, name, SINEW_SOLVER_PD, world, false);
        if (s->progress)
            s->progress(s->context, r->mode * STEPS + k, MODES * STEPS, "pd/press");
    }
    if (good)
        read_end(r, world);
    sinew_world_destroy(world);
    return good;
}

static void press_judge(outcome *o, const run *r)
{
    char what[120];
    snprintf(what, sizeof what, "%s: degenerate elements do not disturb it", names[r->mode]);
    claim *c = outcome_claim(o, what, "robust (section 7.2)");
    claim_measured(c,
                   "pressed to %.3f of %.2f m: %d of %d tets inside out, least det F %.2g; every step finite; %d pairs "
                   "cross; too near by at most %.2g of %.2g m",
                   r->height, DIAMETER, r->inverted, r->tet_count, r->det_min, r->log.crossings, r->log.violation,
                   THICKNESS);
    claim_holds(c, r->height < 2 * PRESSED * DIAMETER && r->log.crossings == 0 ? HOLDS_YES : HOLDS_PARTLY, "%s",
                r->height >= 2 * PRESSED * DIAMETER
                    ? "the step filter truncated the plane, as balls gave way too slowly"
                : r->log.crossings > 0 ? "surfaces cross where they fold"
                                       : "");
    snprintf(what, sizeof what, "%s: the balls come back when they are let go", names[r->mode]);
    c = outcome_claim(o, what, "as the video shows");
    claim_measured(c,
                   "elastic energy %.3g J pressed, %.2g J at the end; edges within %.2g of their length; energy never "
                   "rises by more than %.2g of its greatest value within two steps",
                   r->elastic[HELD - 1], r->elastic[STEPS - 1], r->left, r->rise);
    const bool back = r->left < 0.02, falls = r->rise < 0.1;
    claim_holds(c,
                back && falls   ? HOLDS_YES
                : back || falls ? HOLDS_PARTLY
                                : HOLDS_NO,
                "%s",
                back && falls ? ""
                : back        ? "the balls ring"
                              : "some tets stay inside out: strain alone has minima there, too");
    outcome_number(o, r->inverted, "inverted_%s", names[r->mode]);
    outcome_number(o, r->det_min, "det_min_%s", names[r->mode]);
    outcome_number(o, r->height, "height_%s", names[r->mode]);
    outcome_number(o, r->left, "left_%s", names[r->mode]);
    outcome_number(o, r->rise, "rise_%s", names[r->mode]);
    outcome_number(o, r->log.crossings, "crossings_%s", names[r->mode]);
    outcome_number(o, 1e3 * r->log.wall / r->log.steps, "ms_%s", names[r->mode]);
}

static void press_energy_figure(outcome *o, const run *runs)
{
    figure *f = outcome_figure(o, "energy", "Elastic energy", "s", "J");
    f->distinct = true;
    for (int i = 0; i < MODES && figure_series(f, names[i], SINEW_SOLVER_PD, i, STEPS); i++)
        for (int32_t k = 0; k < STEPS; k++) {
            f->series[i].x[k] = (k + 1) * STEP;
            f->series[i].y[k] = runs[i].elastic[k];
        }
}

void experiment_pd_press(const setting *s, outcome *o)
{
    run runs[MODES];
    sinew_error error = {0};
    bool good = true;
    figure *shapes = outcome_figure(o, "shapes", "Balls between two planes (section 7.2)", "", "");
    shapes->span = 1;
    for (int i = 0; good && i < MODES; i++) {
        runs[i] = (run){.mode = i, .iterations = s->quick ? 20 : 60, .segments = {4, 6, 9}, .det_min = 1};
        if (s->quick)
            runs[i].segments[1] = runs[i].segments[2] = 3;
        good = press_take(s, &runs[i], shapes, &error);
    }
    if (!good) {
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
        return;
    }
    snprintf(o->setup, sizeof o->setup, "Three balls, %d tets, 1e4 Pa, %d iterations of PD a step.", runs[0].tet_count,
             runs[0].iterations);
    for (int i = 0; i < MODES; i++)
        press_judge(o, &runs[i]);
    press_energy_figure(o, runs);
}
