/* SPDX-License-Identifier: MIT
 *
 * pbng_dress.c: PBNG figs 20 and 1 right: a dress on a figure that stands still (pbng/dress) and on one that runs
 * (pbng/mannequin), by PBNG and by MPBNG.
 *
 * Published: 24K vertices in layers of 0.5, 1.5, 6 and 24K, 10 kg/m2, 1e3 N/m (the paper has Pa and no thickness),
 * bending 0.01 N m; still: steps of 12 ms, 84 iterations a frame of PBNG in the time of 24 of MPBNG, which are 28 and 8
 * a step; running: steps of 3 ms, 20 iterations of MPBNG, r_pad 2. The dress and the mannequin are not published. Here
 * the dress is a tube of rings, each an ellipse, over shoulders, waist and hips; its initial shape, 15 mm above the
 * shoulders, is its rest shape. Only contact and friction hold it. The figure is made of capsules and a sphere;
 * running, it bobs and twists, and its legs swing against the skirt.
 *
 * Two measures give the distance from the solution. Visually, as in the paper: the height of the hem and the strain of
 * the cloth against a run with many iterations. By numbers: from one state in the middle of that run each solver takes
 * one step with the same contacts and multipliers, which leaves a fraction of the objective's excess over the minimum.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define THICKNESS 4e-3 /* contact thickness of the cloth, in m */
#define STRIDES   1.4  /* frequency of the running figure's strides, in 1/s */
#define PI        3.14159265358979323846

enum {
    SWEEPS,
    LEVELS,
    AGGREGATES,
    RUNS,
    LONG = RUNS, /* index of the run with enough iterations that more make no visible difference */
    STILL_RUNS,
    KEYS = 41
};
static const char *const names[] = {"pbng", "mpbng", "pbng, aggregates", "converged"};
static const char *const keys[] = {"sweeps", "layers", "aggregates", "long"};

typedef struct run {
    int which;
    bool runs; /* true: the figure runs; false: it stands still */
    int32_t rings, around, steps, iterations, vertex_count, triangle_count;
    double h, r_pad;
    touch_log log;
    double residual; /* mean residual over the steps, in N */
    /* Root mean square strain of edges at the end; mean height of the hem at the end, in m. */
    double stretch, hem;
    double worst; /* largest root mean square strain of edges over all steps */
    /* Height in m of the lowest vertex over all steps; below the knees the dress has slipped off. */
    double lowest;
    double left; /* fraction of the objective's excess over the minimum that one step leaves */
} run;

/* ---- The dress and its mesh ------------------------------------------------------------------- */

/* Cross section of the dress: half axes of an ellipse along x and z at a height; sections go from the neck to the
 * hem. */
typedef struct station {
    double y, a, b; /* height of the section, and half axes of its ellipse along x and z, in m */
} station;
static const station cut[] = {
    {1.222, 0.100, 0.090}, {1.222, 0.130, 0.105}, {1.207, 0.180, 0.120}, {1.170, 0.217, 0.135},
    {1.120, 0.230, 0.150}, {0.920, 0.190, 0.170}, {0.740, 0.210, 0.205}, {0.420, 0.310, 0.310},
};
enum {
    STATIONS = sizeof cut / sizeof cut[0]
};

static double between_stations(int k)
{
    return hypot(cut[k + 1].y - cut[k].y, (cut[k + 1].a + cut[k + 1].b - cut[k].a - cut[k].b) / 2);
}

/* Computes the dress's ellipse at a fraction of the arc length from the neck to the hem. */
static station cut_at(double fraction)
{
    double whole = 0, left;
    int k = 0;
    for (int i = 0; i + 1 < STATIONS; i++)
        whole += between_stations(i);
    for (left = fraction * whole; k + 2 < STATIONS && left > between_stations(k); k++)
        left -= between_stations(k);
    const double t = left / between_stations(k);
    return (station){cut[k].y + t * (cut[k + 1].y - cut[k].y), cut[k].a + t * (cut[k + 1].a - cut[k].a),
                     cut[k].b + t * (cut[k + 1].b - cut[k].b)};
}

/* Creates the mesh of the dress: rings of vertices, every second ring rotated by half a cell. */
static sinew_mesh *dress_mesh(const run *r, sinew_error *error)
{
    const int32_t n = r->rings * r->around, cells = (r->rings - 1) * r->around;
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    int32_t *triangles = malloc(6 * (size_t)cells * sizeof *triangles);
    for (int32_t i = 0; x && i < n; i++) {
        const int32_t ring = i / r->around;
        const double angle = 2 * PI * (i % r->around + 0.5 * (ring % 2)) / r->around;
        const station at = cut_at((double)ring / (r->rings - 1));
        x[3 * i] = (sinew_real)(at.a * cos(angle));
        x[3 * i + 1] = (sinew_real)at.y;
        x[3 * i + 2] = (sinew_real)(at.b * sin(angle));
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

static bool add_dress(sinew_world *world, run *r, sinew_error *error)
{
    sinew_mesh *mesh = dress_mesh(r, error);
    const touch_solid solid = {.mesh = mesh, .density = 10};
    const sinew_body body = mesh ? touch_add_body(world, &solid, error) : (sinew_body){.index = -1};
    r->vertex_count = mesh ? sinew_mesh_vertex_count(mesh) : 0;
    r->triangle_count = mesh ? sinew_mesh_triangle_count(mesh) : 0;
    sinew_mesh_destroy(mesh);
    return touch_add_energy(world, body, SINEW_ENERGY_MEMBRANE_COROTATED, error, "young", 1e3, "poisson", 0.3,
                            "thickness", 1.0, (char *)NULL) &&
           touch_add_energy(world, body, SINEW_ENERGY_HINGE, error, "rigidity", 0.01, "weight", 1.0, (char *)NULL);
}

/* ---- The figure that wears the dress ----------------------------------------------------------- */

/* Limb of the figure: a capsule whose end centres are `length` apart, upright or level; length 0: a sphere. */
typedef struct limb {
    double radius, length, x, y;
    bool level;
    int leg; /* -1, 1: the limb is a leg that swings about the hip with this sign; 0: it is not */
} limb;
static const limb limbs[] = {
    {0.085, 0.26, 0, 1.12, true, 0},        {0.055, 0.20, 0, 1.25, false, 0}, {0.100, 0, 0, 1.48, false, 0},
    {0.140, 0.25, 0, 0.925, false, 0},      {0.180, 0, 0, 0.72, false, 0},    {0.075, 0.55, 0.09, 0.375, false, 1},
    {0.075, 0.55, -0.09, 0.375, false, -1},
};
#define HIP 0.68 /* height of the figure's hip, in m */

/* Computes the pose of the running figure: the body bobs twice and twists once per stride, the legs swing about the
 * hip. The amplitude grows over the first 0.4 s. */
static sinew_key pose_at(double t, int leg)
{
    const double on = fmin(1, 2.5 * t), phase = 2 * PI * STRIDES * t;
    sinew_key key = {.time = (sinew_real)t, .translation = {0, (sinew_real)(0.02 * on * (cos(2 * phase) - 1))}};
    key.rotation[leg ? 0 : 1] = (sinew_real)(on * sin(phase) * (leg ? 0.5 * leg : 0.15));
    return key;
}

static bool dress_add_figure(sinew_world *world, const run *r, sinew_error *error)
{
    bool good = true;
    for (size_t i = 0; good && i < sizeof limbs / sizeof limbs[0]; i++) {
        const limb *l = &limbs[i];
        sinew_key path[KEYS];
        for (int k = 0; k < KEYS; k++)
            path[k] = pose_at(0.025 * k, l->leg);
        const sinew_motion motion = {.key_count = KEYS,
                                     .keys = path,
                                     .pivot = {(sinew_real)(l->leg ? l->x : 0), (sinew_real)(l->leg ? HIP : 0)}};
        sinew_collider_def collider =
            sinew_default_collider_def(l->length > 0 ? SINEW_SHAPE_CAPSULE : SINEW_SHAPE_SPHERE);
        collider.radius = (sinew_real)l->radius;
        collider.size[1] = (sinew_real)(l->length > 0 ? l->length : 1);
        collider.position[0] = (sinew_real)l->x;
        collider.position[1] = (sinew_real)l->y;
        collider.rotation[2] = (sinew_real)(l->level ? PI / 2 : 0);
        collider.motion = r->runs ? &motion : NULL;
        good = sinew_world_add_collider(world, &collider, error).index >= 0;
    }
    return good;
}

/* ---- Worlds of dress and figure --------------------------------------------------------------- */

static bool choose_solver(const run *r, sinew_solver_def *def, sinew_error *error)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_PBNG, SINEW_SOLVER_MPBNG, SINEW_SOLVER_PBNG,
                                              SINEW_SOLVER_PBNG};
    *def = sinew_default_solver_def(kinds[r->which]);
    def->iterations = r->iterations;
    def->measure = SINEW_MEASURE_RESIDUAL;
    if (r->which == LEVELS)
        return sinew_solver_def_set(def, "levels", 4, error) == SINEW_OK &&
               sinew_solver_def_set(def, "r_pad", r->r_pad, error) == SINEW_OK;
    if (r->which == AGGREGATES || r->which == LONG)
        return sinew_solver_def_set_keyword(def, "coarse", "aggregates", error) == SINEW_OK;
    return true;
}

static sinew_world *dress_build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)r->h;
    def.gravity[1] = (sinew_real)-9.8;
    def.damping = r->runs ? 0 : 2;
    if (!choose_solver(r, &def.solver, error))
        return NULL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = (sinew_real)0.5;
    if (world && add_dress(world, r, error) && dress_add_figure(world, r, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Measures the strain of the dress's edges, the height of the hem and the lowest vertex. */
static void dress_measure(run *r, const sinew_world *world, sinew_real *x)
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

/* A saved state from the middle of a run, from which each solver takes one step. */
typedef struct moment {
    int32_t step; /* number of steps taken before the state is saved */
    void *bytes;
    size_t size;
} moment;

static bool keep_moment(moment *m, const sinew_world *world)
{
    m->size = sinew_world_state_size(world);
    m->bytes = malloc(m->size);
    return m->bytes && sinew_world_state_save(world, m->bytes, m->size) == SINEW_OK;
}

static bool dress_take(const setting *s, run *r, figure *shapes, moment *m, sinew_error *error)
{
    sinew_world *world = dress_build(r, error);
    sinew_real *x = malloc(3 * (size_t)(r->vertex_count + 1) * sizeof *x);
    bool good = world && x;
    r->lowest = cut[0].y;
    for (int32_t k = 0; good && k < r->steps; k++) {
        good = touch_step(world, &r->log, error);
        r->residual += good ? r->log.result.residual / r->steps : 0;
        if (good)
            dress_measure(r, world, x);
        if (good && m && k + 1 == m->step)
            good = keep_moment(m, world);
        if (s->progress)
            s->progress(s->context, k, r->steps, names[r->which]);
        char name[56];
        snprintf(name, sizeof name, "%s, %.2f s", names[r->which], (k + 1) * r->h);
        if (good && (k + 1 == r->steps || (r->runs && r->which == LEVELS && (k + 1) % (r->steps / 4) == 0)))
            touch_picture(shapes, name, r->which == LEVELS ? SINEW_SOLVER_MPBNG : SINEW_SOLVER_PBNG, world, true);
    }
    free(x);
    sinew_world_destroy(world);
    return good;
}

/* ---- One step of each solver ---------------------------------------------------------------------- */

/* Computes the objective after one step from the saved state, with its contacts and multipliers kept fixed. */
static bool objective_after(run r, int32_t iterations, const moment *m, double *objective, sinew_error *error)
{
    sinew_step_result result;
    r.iterations = iterations;
    sinew_world *world = dress_build(&r, error);
    if (!world)
        return false;
    sinew_contact_def contact = sinew_world_contact(world);
    contact.intersection_free = false;
    contact.max_detections = 1;
    contact.multiplier_interval = 1 << 20;
    const bool good = sinew_world_set_contact(world, &contact, error) == SINEW_OK &&
                      sinew_world_state_load(world, m->bytes, m->size, error) == SINEW_OK &&
                      !(sinew_world_step(world, &result) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    *objective = good ? result.objective : NAN;
    if (!good && !error->text[0])
        snprintf(error->text, sizeof error->text, "%s", sinew_world_error(world));
    sinew_world_destroy(world);
    return good;
}

/* Computes the remaining error (g - g*) / (g_0 - g*) of each solver. g_0 is the objective without an iteration, g*
 * the lowest of all solvers and of a run with many iterations. Contacts with curved colliders follow their closest
 * points, which changes g by some per cent of this difference. Newton cannot supply g*: it updates multipliers after
 * it has solved the step, and so minimises another function. */
static bool dress_judge(run *r, const moment *m, sinew_error *error)
{
    double lowest, start, own[RUNS];
    bool good = m->bytes && objective_after(r[LONG], 4 * r[LONG].iterations, m, &lowest, error) &&
                objective_after(r[SWEEPS], 0, m, &start, error);
    for (int i = 0; good && i < RUNS; i++) {
        good = objective_after(r[i], r[i].iterations, m, &own[i], error);
        lowest = fmin(lowest, own[i]);
    }
    for (int i = 0; good && i < RUNS; i++)
        r[i].left = (own[i] - lowest) / (start - lowest);
    return good;
}

/* ---- Claims about the dress ------------------------------------------------------------------- */

static double step_ms(const run *r)
{
    return 1e3 * r->log.wall / r->log.steps;
}

static void claim_held(outcome *o, const run *r)
{
    char what[120];
    snprintf(what, sizeof what, "%s, %d iterations: the dress stays on the body", names[r->which], r->iterations);
    claim *c = outcome_claim(o, what, "as the figures show");
    claim_measured(
        c,
        "%d steps: at most %d contacts of %d vertices, too near by at most %.2g of %.2g m, %d pairs of "
        "triangles cross; strain at most %.2g; lowest vertex at %.2f m; mean residual %.2g N; %.3g ms a step",
        r->log.steps, r->log.contacts, r->log.particles, r->log.violation, THICKNESS, r->log.crossings, r->worst,
        r->lowest, r->residual, step_ms(r));
    claim_holds(c,
                r->log.crossings > 0 ? HOLDS_NO
                : r->lowest > 0.1    ? HOLDS_YES
                                     : HOLDS_PARTLY,
                "%s",
                r->log.crossings > 0 ? "surfaces cross"
                : r->lowest > 0.1    ? ""
                                     : "it was stretched or slid below the knees");
    outcome_number(o, r->log.crossings, "crossings_%s", keys[r->which]);
    outcome_number(o, r->log.contacts, "contacts_%s", keys[r->which]);
    outcome_number(o, r->hem, "hem_%s", keys[r->which]);
    outcome_number(o, r->worst, "strain_%s", keys[r->which]);
    outcome_number(o, r->residual, "residual_%s", keys[r->which]);
    outcome_number(o, step_ms(r), "ms_%s", keys[r->which]);
}

static void claim_looks(outcome *o, const run *r)
{
    double off[RUNS];
    for (int i = 0; i < RUNS; i++) {
        off[i] = r[i].hem - r[LONG].hem;
        outcome_number(o, off[i], "hem_off_%s", keys[i]);
    }
    claim *c = outcome_claim(o, "layers make a dress less stretchy at equal time (fig 20)",
                             "84 iterations a frame against 24 of MPBNG, 840 ms");
    claim_measured(
        c,
        "hem off by %+.2g mm (pbng, %d), %+.2g mm (mpbng, %d), %+.2g mm (aggregates, %d) from %.3f m; strain "
        "%.3g, %.3g, %.3g, converged %.3g; %.3g, %.3g, %.3g ms a step",
        1e3 * off[SWEEPS], r[SWEEPS].iterations, 1e3 * off[LEVELS], r[LEVELS].iterations, 1e3 * off[AGGREGATES],
        r[AGGREGATES].iterations, r[LONG].hem, r[SWEEPS].stretch, r[LEVELS].stretch, r[AGGREGATES].stretch,
        r[LONG].stretch, step_ms(&r[SWEEPS]), step_ms(&r[LEVELS]), step_ms(&r[AGGREGATES]));
    const bool nearer = fabs(off[LEVELS]) < fabs(off[SWEEPS]);
    claim_holds(c, nearer ? HOLDS_YES : HOLDS_NO, "%s", nearer ? "" : "sweeps alone are as near");
}

static void dress_claim_objective(outcome *o, const run *r)
{
    claim *c = outcome_claim(o, "layers come nearer to the minimum of the world's own objective", "-");
    claim_measured(c,
                   "one step from one state leaves %.2g (pbng, %d), %.2g (mpbng, %d), %.2g (aggregates, %d) of the "
                   "excess over the minimum",
                   r[SWEEPS].left, r[SWEEPS].iterations, r[LEVELS].left, r[LEVELS].iterations, r[AGGREGATES].left,
                   r[AGGREGATES].iterations);
    const bool nearer = r[LEVELS].left < r[SWEEPS].left;
    claim_holds(c, nearer ? HOLDS_YES : HOLDS_NO, "%s",
                nearer ? "" : "bindings between layers are no part of it, and are still felt at the end of a step");
    for (int i = 0; i < RUNS; i++)
        outcome_number(o, r[i].left, "left_%s", keys[i]);
}

/* ---- The experiments dress and mannequin ------------------------------------------------------- */

static bool take_all(const setting *s, outcome *o, run *r, int count, const char *title, moment *m)
{
    sinew_error error = {0};
    figure *shapes = outcome_figure(o, "shapes", title, "", "");
    shapes->span = 1.7;
    for (int i = 0; i < count; i++) {
        r[i].rings = s->quick ? 15 : 132;
        r[i].around = s->quick ? 24 : 182;
        if (!dress_take(s, &r[i], shapes, i == LONG ? m : NULL, &error)) {
            snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
            return false;
        }
    }
    snprintf(o->setup, sizeof o->setup, "A dress of %d vertices and %d triangles on a figure of capsules.",
             r[0].vertex_count, r[0].triangle_count);
    return true;
}

void experiment_dress(const setting *s, outcome *o)
{
    sinew_error error = {0};
    run r[STILL_RUNS] = {{.which = SWEEPS, .iterations = 28},
                         {.which = LEVELS, .iterations = 8, .r_pad = 0.05},
                         {.which = AGGREGATES, .iterations = 8},
                         {.which = LONG, .iterations = s->quick ? 60 : 200}};
    for (int i = 0; i < STILL_RUNS; i++) {
        r[i].h = 0.012;
        r[i].steps = s->quick ? 36 : 84;
    }
    moment m = {.step = r[0].steps / 4};
    if (take_all(s, o, r, STILL_RUNS, "A dress on a still figure (fig 20)", &m)) {
        for (int i = 0; i < STILL_RUNS; i++)
            claim_held(o, &r[i]);
        claim_looks(o, r);
        if (dress_judge(r, &m, &error))
            dress_claim_objective(o, r);
        else
            snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    }
    free(m.bytes);
}

void experiment_mannequin(const setting *s, outcome *o)
{
    run r[RUNS] = {{.which = SWEEPS, .iterations = 70},
                   {.which = LEVELS, .iterations = 20, .r_pad = 2},
                   {.which = AGGREGATES, .iterations = 20}};
    for (int i = 0; i < RUNS; i++) {
        r[i].runs = true;
        r[i].h = 0.003;
        r[i].steps = s->quick ? 100 : 240;
    }
    if (take_all(s, o, r, RUNS, "A dress on a running figure (fig 1)", NULL))
        for (int i = 0; i < RUNS; i++)
            claim_held(o, &r[i]);
}
