/* SPDX-License-Identifier: MIT
 *
 * pbng_dress.c: PBNG figs 20 and 1 right: a garment on a body that stands still (pbng/dress) and on one that moves
 * (pbng/mannequin).
 *
 * The garment is a poncho: a ring of cloth, 10 kg/m2, 1e3 N/m, bending 0.01 N m at each edge, with a hole of 0.1 m
 * radius and an edge of 0.6 m, which falls from just above the shoulders; nothing but contact and friction holds it.
 * The body is a sphere on a capsule, and two arms. Steps of 12 ms on the still body, 3 ms with 20 iterations on the
 * moving one, which sways by 0.15 m and turns by 0.5 rad twice a second. The published dress has 24K vertices, and its
 * layers (mpbng) do not take contact here: aggregates of pbng are in their place.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define HOLE      0.1  /* m */
#define EDGE      0.6  /* m */
#define TOP       1.27 /* m: where the garment begins */
#define THICKNESS 4e-3 /* m */
#define PI        3.14159265358979323846

enum {
    PLAIN,
    AGGREGATES,
    LONG, /* so many iterations that more change nothing to look at */
    STILL,
    MOVING = STILL,
    KEYS = 41
};
static const char *const names[] = {"pbng", "pbng, aggregates", "converged", "moving"};

typedef struct run {
    int which;
    int32_t rings, around, steps, iterations, vertex_count, triangle_count;
    double h;
    touch_log log;
    double stretch, hem; /* root mean square strain of edges; mean height of the outer edge, m, at the end */
    double worst;        /* the largest root mean square strain of all steps */
    double lowest;       /* m: lowest that a vertex came: below the floor of the body it has fallen off */
} run;

/* Rings of vertices around the hole, level. */
static sinew_mesh *poncho_mesh(const run *r, sinew_error *error)
{
    const int32_t n = r->rings * r->around, cells = (r->rings - 1) * r->around;
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    int32_t *triangles = malloc(6 * (size_t)cells * sizeof *triangles);
    for (int32_t i = 0; x && i < n; i++) {
        const int32_t ring = i / r->around;
        const double angle = 2 * PI * (i % r->around + 0.5 * (ring % 2)) / r->around,
                     radius = HOLE + (EDGE - HOLE) * ring / (r->rings - 1);
        x[3 * i] = (sinew_real)(radius * cos(angle));
        x[3 * i + 1] = (sinew_real)TOP;
        x[3 * i + 2] = (sinew_real)(radius * sin(angle));
    }
    for (int32_t c = 0; triangles && c < cells; c++) {
        const int32_t ring = c / r->around, k = c % r->around, next = (k + 1) % r->around;
        const int32_t a = ring * r->around + k, b = ring * r->around + next, d = a + r->around, e = b + r->around;
        const int32_t even[6] = {a, b, d, b, e, d}, odd[6] = {a, b, e, a, e, d};
        for (int j = 0; j < 6; j++)
            triangles[6 * c + j] = ring % 2 ? odd[j] : even[j];
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = n;
    def.positions = x;
    def.triangle_count = 2 * cells;
    def.triangles = triangles;
    sinew_mesh *mesh = x && triangles ? sinew_mesh_create(&def, error) : NULL;
    free(x);
    free(triangles);
    return mesh;
}

static bool add_poncho(sinew_world *world, run *r, sinew_error *error)
{
    sinew_mesh *mesh = poncho_mesh(r, error);
    const touch_solid place = {.mesh = mesh, .density = 10};
    const sinew_body body = mesh ? touch_add_body(world, &place, error) : (sinew_body){.index = -1};
    r->vertex_count = mesh ? sinew_mesh_vertex_count(mesh) : 0;
    r->triangle_count = mesh ? sinew_mesh_triangle_count(mesh) : 0;
    sinew_mesh_destroy(mesh);
    return touch_add_energy(world, body, SINEW_ENERGY_MEMBRANE_COROTATED, error, "young", 1e3, "poisson", 0.3,
                            "thickness", 1.0, (char *)NULL) &&
           touch_add_energy(world, body, SINEW_ENERGY_HINGE, error, "rigidity", 0.01, "weight", 1.0, (char *)NULL);
}

/* Shoulders, trunk and two arms, all with one motion about the body's axis. */
static bool add_figure(sinew_world *world, const run *r, sinew_error *error)
{
    sinew_key path[KEYS];
    for (int k = 0; k < KEYS; k++) {
        const double t = 0.05 * k, phase = 2 * PI * 2 * t, on = fmin(1, 2 * t);
        path[k] = (sinew_key){.time = (sinew_real)t,
                              .translation = {(sinew_real)(0.15 * on * sin(phase / 2))},
                              .rotation = {0, (sinew_real)(0.5 * on * sin(phase / 2))}};
    }
    const sinew_motion motion = {.key_count = KEYS, .keys = path};
    bool good = true;
    for (int k = 0; good && k < 4; k++) {
        sinew_collider_def part = sinew_default_collider_def(k ? SINEW_SHAPE_CAPSULE : SINEW_SHAPE_SPHERE);
        part.radius = (sinew_real)(k == 0 ? 0.2 : k == 1 ? 0.16 : 0.06);
        part.position[1] = (sinew_real)(k == 0 ? 1.05 : k == 1 ? 0.7 : 0.85);
        part.position[0] = (sinew_real)(k == 2 ? 0.28 : k == 3 ? -0.28 : 0);
        part.size[1] = (sinew_real)(k == 1 ? 0.6 : 0.4);
        part.motion = r->which == MOVING ? &motion : NULL;
        good = sinew_world_add_collider(world, &part, error).index >= 0;
    }
    return good;
}

static sinew_world *build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)r->h;
    def.gravity[1] = (sinew_real)-9.8;
    def.damping = r->which == MOVING ? 0 : 2;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.solver.iterations = r->iterations;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    if (world && r->which != PLAIN &&
        (sinew_solver_def_set_word(&def.solver, "coarse", "aggregates", error) != SINEW_OK ||
         sinew_world_set_solver(world, &def.solver, error) != SINEW_OK)) {
        sinew_world_destroy(world);
        return NULL;
    }
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = (sinew_real)0.5;
    if (world && add_poncho(world, r, error) && add_figure(world, r, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Strain of the edges of triangles, the hem, the lowest vertex. */
static void look(run *r, const sinew_world *world, sinew_real *x)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, sinew_world_body_at(world, 0));
    const sinew_real *X = sinew_mesh_positions(mesh);
    double sum = 0;
    sinew_world_get_positions(world, 0, r->vertex_count, x);
    for (int32_t i = 0; i < 3 * r->triangle_count; i++) {
        const int32_t *t = sinew_mesh_triangles(mesh) + i / 3 * 3, u = t[i % 3], v = t[(i + 1) % 3];
        double now = 0, rest = 0;
        for (int c = 0; c < 3; c++) {
            now += pow((double)x[3 * u + c] - (double)x[3 * v + c], 2);
            rest += pow((double)X[3 * u + c] - (double)X[3 * v + c], 2);
        }
        sum += pow(sqrt(now / rest) - 1, 2);
    }
    r->stretch = sqrt(sum / (3 * r->triangle_count));
    r->worst = fmax(r->worst, r->stretch);
    r->hem = 0;
    for (int32_t i = 0; i < r->vertex_count; i++) {
        r->lowest = fmin(r->lowest, (double)x[3 * i + 1]);
        r->hem += i >= r->vertex_count - r->around ? (double)x[3 * i + 1] / r->around : 0;
    }
}

static bool take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = build(r, error);
    sinew_real *x = malloc(3 * (size_t)(r->vertex_count + 1) * sizeof *x);
    bool good = world && x;
    r->lowest = TOP;
    for (int32_t k = 0; good && k < r->steps; k++) {
        good = touch_step(world, &r->log, error);
        if (good)
            look(r, world, x);
        if (s->progress)
            s->progress(s->context, k, r->steps, names[r->which]);
        char name[56];
        snprintf(name, sizeof name, "%s, %.2f s", names[r->which], (k + 1) * r->h);
        if (good && (k + 1 == r->steps || (r->which == MOVING && (k + 1) % (r->steps / 4) == 0)))
            touch_picture(shapes, name, SINEW_SOLVER_PBNG, world, true);
    }
    free(x);
    sinew_world_destroy(world);
    return good;
}

static void claim_held(outcome *o, const run *r)
{
    char what[120];
    snprintf(what, sizeof what, "%s: the garment stays on the body", names[r->which]);
    claim *c = outcome_claim(o, what, "as the figures show");
    claim_measured(c,
                   "%d steps: at most %d contacts of %d vertices, too near by at most %.2g of %.2g m, %d pairs of "
                   "triangles cross; strain at most %.2g; lowest vertex at %.2f m",
                   r->log.steps, r->log.contacts, r->log.particles, r->log.violation, THICKNESS, r->log.crossings,
                   r->worst, r->lowest);
    claim_holds(c,
                r->log.crossings > 0 ? HOLDS_NO
                : r->lowest > 0      ? HOLDS_YES
                                     : HOLDS_PARTLY,
                "%s",
                r->log.crossings > 0 ? "surfaces cross"
                : r->lowest > 0      ? ""
                                     : "it was stretched or slid below the body's feet");
    outcome_number(o, r->log.crossings, "crossings_%d", r->which);
    outcome_number(o, r->log.contacts, "contacts_%d", r->which);
    outcome_number(o, r->hem, "hem_%d", r->which);
    outcome_number(o, r->worst, "strain_%d", r->which);
}

static void claim_near(outcome *o, const run *r)
{
    const double far[2] = {fabs(r[PLAIN].hem - r[LONG].hem), fabs(r[AGGREGATES].hem - r[LONG].hem)};
    claim *c = outcome_claim(o, "layers bring a garment nearer to the solution at equal time (fig 20)",
                             "84 iterations a frame against 24 of MPBNG, 840 ms");
    claim_measured(
        c,
        "hem off by %.2g m with %d sweeps a step, %.2g m with %d and aggregates; strain %.3g, %.3g, converged "
        "%.3g; %.3g and %.3g ms a step",
        far[0], r[PLAIN].iterations, far[1], r[AGGREGATES].iterations, r[PLAIN].stretch, r[AGGREGATES].stretch,
        r[LONG].stretch, 1e3 * r[PLAIN].log.wall / r[PLAIN].log.steps,
        1e3 * r[AGGREGATES].log.wall / r[AGGREGATES].log.steps);
    claim_holds(c, far[1] < far[0] ? HOLDS_YES : HOLDS_NO, "%s",
                far[1] < far[0] ? "with aggregates in place of layers, which do not take contact"
                                : "not here, with aggregates in place of layers, which do not take contact");
    outcome_number(o, far[0], "hem_off_plain");
    outcome_number(o, far[1], "hem_off_aggregates");
}

static bool take_all(const setting *s, outcome *o, run *r, int count, const char *title)
{
    sinew_error error = {0};
    figure *shapes = outcome_figure(o, "shapes", title, "", "");
    shapes->span = 3;
    for (int i = 0; i < count; i++) {
        r[i].rings = s->quick ? 8 : 21;
        r[i].around = s->quick ? 24 : 90;
        if (!take(s, &r[i], shapes, &error)) {
            snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
            return false;
        }
    }
    snprintf(o->setup, sizeof o->setup, "A poncho of %d vertices and %d triangles on a sphere and capsules.",
             r[0].vertex_count, r[0].triangle_count);
    return true;
}

void experiment_dress(const setting *s, outcome *o)
{
    run r[STILL] = {{.which = PLAIN, .iterations = 28}, {.which = AGGREGATES, .iterations = 8}, {.which = LONG}};
    for (int i = 0; i < STILL; i++) {
        r[i].h = 0.012;
        r[i].steps = s->quick ? 45 : 125;
    }
    r[LONG].iterations = s->quick ? 60 : 200;
    if (!take_all(s, o, r, STILL, "A garment on a still body (fig 20)"))
        return;
    for (int i = 0; i < STILL; i++)
        claim_held(o, &r[i]);
    claim_near(o, r);
}

void experiment_mannequin(const setting *s, outcome *o)
{
    run r = {.which = MOVING, .iterations = 20, .h = 0.003, .steps = s->quick ? 160 : 660};
    if (take_all(s, o, &r, 1, "A garment on a moving body (fig 1)"))
        claim_held(o, &r);
}
