/* SPDX-License-Identifier: MIT
 *
 * pbng_bundles.c: the collisions of PBNG figs 1 and 15 and of the last row of table 2: muscles that press each other,
 * quasistatic, without and with connective tissue between them (pbng/muscles covers tissue without collisions).
 *
 * Two bars of 1.2 x 0.2 x 0.2 m side by side, 20 mm apart, 1e5 Pa, 1000 kg/m3, held on the left; their right ends turn
 * by 150 degrees about the axis between them, so that the bars wrap around each other. PBNG takes the published 30
 * iterations a step, with weak constraints of the published 1e8 N/m and with `augmented` contact. The reference is
 * Newton's method with Cholesky and the published stiffness, to its tolerance. Tissue: weak constraints of 1e3 N/m bind
 * facing vertices of the left third and draw the bars together until they touch there. With the published 1e8 N/m bound
 * vertices hardly move in sweeps (pbng/hanging).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define LENGTH    1.2
#define WIDTH     0.2
#define GAP       0.02
#define THICKNESS 4e-3
#define TISSUE    1e3 /* stiffness of the tissue's weak constraints, in N/m */
#define TURN      (150 * 3.14159265358979323846 / 180)

enum {
    PENALTY,
    AUGMENTED,
    NEWTON,
    BOUND,
    NEWTON_BOUND,
    METHODS,
    ITERATIONS = 30,
    LOST = 1000 /* number of intersecting triangle pairs at which a run is aborted */
};
static const char *const names[METHODS] = {"PBNG, penalty 1e8 N/m", "PBNG, augmented", "Newton, penalty 1e8 N/m",
                                           "PBNG, augmented, tissue", "Newton, augmented, tissue"};
static const char *const keys[METHODS] = {"penalty", "augmented", "newton", "tissue", "newton_tissue"};

typedef struct run {
    int method;
    int32_t n, steps, vertex_count, tet_count, bonds;
    touch_log log;
    sinew_real *q; /* [3 * vertex_count] positions at the end of the run, in m */
    double way;    /* largest displacement of a coordinate in the run, in m */
} run;

static bool add_bar(sinew_world *world, run *r, int side, sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    const double size[3] = {LENGTH, WIDTH, WIDTH},
                 low[3] = {-LENGTH / 2, side * (WIDTH + GAP) / 2 - WIDTH / 2, -WIDTH / 2};
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = c == 0 ? 4 * r->n : r->n;
        box.size[c] = (sinew_real)size[c];
        box.origin[c] = (sinew_real)low[c];
    }
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    if (!mesh)
        return false;
    const touch_solid solid = {.mesh = mesh, .young = 1e5, .density = 1000};
    const sinew_body body = touch_add_solid(world, &solid, error);
    r->tet_count += sinew_mesh_tet_count(mesh);
    sinew_mesh_destroy(mesh);
    const sinew_key path[2] = {{.time = 0}, {.time = (sinew_real)(r->steps * 0.002), .rotation = {(sinew_real)TURN}}};
    const sinew_motion motion = {.key_count = 2, .keys = path};
    return body.index >= 0 && touch_hold(world, body, 0, -LENGTH / 2, -1, NULL, error).index >= 0 &&
           touch_hold(world, body, 0, LENGTH / 2, 1, &motion, error).index >= 0;
}

static bool by_newton(int method)
{
    return method == NEWTON || method == NEWTON_BOUND;
}

/* Binds each vertex on the left third of the first bar's facing side to the opposite vertex; both bars have the same
 * mesh. */
static bool add_tissue(sinew_world *world, run *r, sinew_error *error)
{
    const sinew_body bars[2] = {sinew_world_body_at(world, 0), sinew_world_body_at(world, 1)};
    const int32_t first[2] = {sinew_body_first_particle(world, bars[0]), sinew_body_first_particle(world, bars[1])};
    const int32_t rows = 4 * r->n, layers = r->n;
    int32_t *pairs = calloc(8 * (size_t)(rows * layers), sizeof *pairs);
    sinew_real *weights = calloc(8 * (size_t)(rows * layers), sizeof *weights);
    for (int32_t k = 0; pairs && weights && k < layers; k++)
        for (int32_t i = 1; i <= rows / 3; i++, r->bonds++) {
            /* The first bar is the upper one: its lowest layer of vertices faces the highest layer of the lower bar. */
            const int32_t upper = first[0] + i + rows * r->n * k, lower = first[1] + i + rows * (r->n - 1 + r->n * k);
            for (int c = 0; c < 4; c++) {
                pairs[8 * r->bonds + c] = upper;
                pairs[8 * r->bonds + 4 + c] = lower;
            }
            weights[8 * r->bonds] = weights[8 * r->bonds + 4] = 1;
        }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.weights = weights;
    weak.element_count = r->bonds;
    weak.parameters[sinew_energy_parameter(SINEW_ENERGY_WEAK, "normal_stiffness")] = (sinew_real)TISSUE;
    weak.parameters[sinew_energy_parameter(SINEW_ENERGY_WEAK, "tangent_stiffness")] = (sinew_real)TISSUE;
    const bool good = pairs && weights && sinew_world_add_energy(world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    return good;
}

static sinew_world *bundles_build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.002;
    def.quasistatic = true;
    def.thread_count = 1;
    def.gravity[1] = (sinew_real)-9.8;
    def.solver = sinew_default_solver_def(by_newton(r->method) ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PBNG);
    if (!by_newton(r->method))
        def.solver.iterations = ITERATIONS;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = r->method == PENALTY || r->method == NEWTON ? SINEW_CONTACT_PENALTY : SINEW_CONTACT_AUGMENTED;
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = 0;
    contact.self = false;
    if (world && add_bar(world, r, 1, error) && add_bar(world, r, -1, error) &&
        (r->method < BOUND || add_tissue(world, r, error)) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

static bool bundles_take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = bundles_build(r, error);
    r->vertex_count = world ? sinew_world_particle_count(world) : 0;
    sinew_real *rest = malloc(3 * (size_t)(r->vertex_count + 1) * sizeof *rest);
    r->q = malloc(3 * (size_t)(r->vertex_count + 1) * sizeof *r->q);
    bool good = world && rest && r->q;
    if (good)
        sinew_world_get_positions(world, 0, r->vertex_count, rest);
    for (int32_t k = 0; good && k < r->steps && r->log.crossings < LOST; k++) {
        good = touch_step(world, &r->log, error);
        if (s->progress)
            s->progress(s->context, r->method * r->steps + k, METHODS * r->steps, names[r->method]);
    }
    if (good) {
        sinew_world_get_positions(world, 0, r->vertex_count, r->q);
        for (int32_t i = 0; i < 3 * r->vertex_count; i++)
            r->way = fmax(r->way, fabs((double)r->q[i] - (double)rest[i]));
        touch_picture(shapes, names[r->method], by_newton(r->method) ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PBNG, world,
                      false);
    }
    free(rest);
    sinew_world_destroy(world);
    return good;
}

/* Largest distance of a coordinate from the reference run, over the reference's largest displacement. */
static double bundles_distance_share(const run *r, const run *truth)
{
    double far = 0;
    for (int32_t i = 0; i < 3 * r->vertex_count; i++)
        far = fmax(far, fabs((double)r->q[i] - (double)truth->q[i]));
    return far / truth->way;
}

static void claim_each(outcome *o, const run *r, const run *truth)
{
    const touch_log *l = &r->log;
    const double far = bundles_distance_share(r, truth);
    char what[120];
    snprintf(what, sizeof what, "%s: visually the same as Newton", names[r->method]);
    claim *c = outcome_claim(o, what, r->method == AUGMENTED ? "not in the source" : "visually the same (figs 1, 15)");
    claim_measured(
        c,
        "%.2g of the way from Newton's equilibrium after %d of %d steps; %d contacts of %d vertices at most, "
        "%d pairs cross, %d steps with tets inside out",
        far, l->steps, r->steps, l->contacts, l->particles, l->crossings, l->inverted);
    const bool apart = l->crossings == 0;
    claim_holds(c,
                apart && far < 0.05 ? HOLDS_YES
                : apart             ? HOLDS_PARTLY
                                    : HOLDS_NO,
                "%s",
                apart && far < 0.05 ? ""
                : apart             ? "nothing crosses, but 30 sweeps a step do not bring it to rest"
                                    : "surfaces go through each other");
    outcome_number(o, far, "distance_%s", keys[r->method]);
    outcome_number(o, l->crossings, "crossings_%s", keys[r->method]);
    outcome_number(o, l->contacts, "contacts_%s", keys[r->method]);
    outcome_number(o, 1e3 * l->wall / l->steps, "ms_%s", keys[r->method]);
}

static void bundles_claim_cost(outcome *o, const run *r)
{
    double each[METHODS];
    for (int i = 0; i < METHODS; i++)
        each[i] = r[i].log.wall / r[i].log.steps;
    claim *c =
        outcome_claim(o, "PBNG is faster than Newton with collisions (table 2)", "67 s against 430 s: 6.4 times");
    claim_measured(c, "a step: %.3g ms penalty, %.3g ms augmented, Newton with Cholesky %.3g ms: %.2f and %.2f times",
                   1e3 * each[PENALTY], 1e3 * each[AUGMENTED], 1e3 * each[NEWTON], each[NEWTON] / each[PENALTY],
                   each[NEWTON] / each[AUGMENTED]);
    claim_timed(c, "the published Newton has 200 iterations of conjugate gradients");
    c = outcome_claim(o, "recolouring takes little (section 10.1)", "less than 0.68 s of 67 s");
    claim_measured(c, "%.1f %% of a step penalty, %.1f %% augmented", 100 * touch_recolour_share(&r[PENALTY].log),
                   100 * touch_recolour_share(&r[AUGMENTED].log));
    claim_timed(c, "colours, visits and layers of new contacts");
}

void experiment_bundles(const setting *s, outcome *o)
{
    run r[METHODS] = {{0}};
    sinew_error error = {0};
    bool good = true;
    figure *shapes = outcome_figure(o, "shapes", "Two bars wrapped around each other", "", "");
    shapes->span = 2;
    for (int i = 0; good && i < METHODS; i++) {
        r[i].method = i;
        r[i].n = s->quick ? 4 : 7;
        r[i].steps = s->quick ? 40 : 85;
        good = bundles_take(s, &r[i], shapes, &error);
    }
    if (good) {
        snprintf(o->setup, sizeof o->setup, "Two bars, %d tets, 1e5 Pa, 1000 kg/m3, quasistatic, %d steps.",
                 r[0].tet_count, r[0].steps);
        for (int i = 0; i < NEWTON; i++)
            claim_each(o, &r[i], &r[NEWTON]);
        claim_each(o, &r[BOUND], &r[NEWTON_BOUND]);
        bundles_claim_cost(o, r);
        outcome_number(o, r[NEWTON].log.crossings, "crossings_newton");
        outcome_number(o, r[NEWTON_BOUND].log.crossings, "crossings_newton_tissue");
        outcome_number(o, r[BOUND].bonds, "bonds");
    } else
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
    for (int i = 0; i < METHODS; i++)
        free(r[i].q);
}
